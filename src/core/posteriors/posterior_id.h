// The identity of a posterior, for caches of its results. Changes that a cache can follow keep it. Every other change
// makes a new one, and a copy gets a separate one.
#ifndef GPB_POSTERIOR_ID_H
#define GPB_POSTERIOR_ID_H

#include <memory>

namespace gpb {

struct PosteriorId {
  std::shared_ptr<const char> token = std::make_shared<const char>('\0');
  PosteriorId() = default;
  PosteriorId(const PosteriorId&) : PosteriorId() {}
  PosteriorId& operator=(const PosteriorId&) {
    token = std::make_shared<const char>('\0');
    return *this;
  }
};

}  // namespace gpb

#endif
