// The identity of a posterior for whoever keeps something beside it: changes that a cache can
// follow leave it alone, everything else makes a new one, and a copy goes its own way.
#ifndef GPB_LINEAGE_H
#define GPB_LINEAGE_H

#include <memory>

namespace gpb {

struct Lineage {
  std::shared_ptr<const char> token = std::make_shared<const char>('\0');
  Lineage() = default;
  Lineage(const Lineage&) : Lineage() {}
  Lineage& operator=(const Lineage&) {
    token = std::make_shared<const char>('\0');
    return *this;
  }
};

}  // namespace gpb

#endif
