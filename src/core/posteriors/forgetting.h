// How a posterior forgets under drift: which observations it keeps, at what noise, and
// how their covariance with the present fades. s is an observation's round, t the next one.
#ifndef GPB_FORGETTING_H
#define GPB_FORGETTING_H

#include <cmath>
#include <deque>
#include <iterator>
#include <utility>

#include "base/types.h"

namespace gpb {

struct Forgetting {
  enum class Kind {
    none,
    window,   // the last `window` observations only
    weights,  // noise lambda * rate^-(t - s)
    fade      // kernel k(x, x') * (1 - rate)^(|t - t'| / 2)
  };
  Kind kind = Kind::none;
  Index window = 0;
  double rate = 0.0;

  // Correlation of f with itself so many rounds apart.
  double correlation(double rounds) const {
    return kind == Kind::fade ? std::pow(1.0 - rate, std::abs(rounds) / 2.0) : 1.0;
  }
  // Weight of an observation of this age: its noise variance is lambda / weight.
  double weight(double age) const { return kind == Kind::weights ? std::pow(rate, age) : 1.0; }
};

// Less weight than this is none: the posterior cannot tell.
constexpr double kNoWeight = 1e-15;

// Rounds of the observations that a model was told, and which of them a window keeps:
// the latest ones, whatever the order in which they came.
class WindowOfRounds {
 public:
  explicit WindowOfRounds(Index length) : length_(length) {}
  void clear() { kept_.clear(); }
  // Takes the observation number `slot` of this round. Returns the slot that has to go:
  // -1 for none, `slot` itself if it is older than all that is kept.
  Index admit(Index round, Index slot) {
    auto at = kept_.end();
    while (at != kept_.begin() && std::prev(at)->first > round) --at;
    if (static_cast<Index>(kept_.size()) == length_ && at == kept_.begin()) return slot;
    kept_.insert(at, {round, slot});
    if (static_cast<Index>(kept_.size()) <= length_) return -1;
    const Index gone = kept_.front().second;
    kept_.pop_front();
    return gone;
  }
  // (round, slot), oldest first.
  const std::deque<std::pair<Index, Index>>& kept() const { return kept_; }

 private:
  Index length_;
  std::deque<std::pair<Index, Index>> kept_;
};

}  // namespace gpb

#endif
