// Rules for old observations under drift: which of them a posterior keeps, with which noise, and how their covariance
// with the present decays. Here s is the round of an observation and t the next round.
#ifndef GPB_FORGETTING_H
#define GPB_FORGETTING_H

#include <cmath>

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

  bool fades() const { return kind == Kind::fade; }
  // Correlation of f with itself this number of rounds apart.
  double correlation(double rounds) const {
    return fades() ? std::pow(1.0 - rate, std::abs(rounds) / 2.0) : 1.0;
  }
  // Weight of an observation of this age: its noise variance is lambda / weight.
  double weight(double age) const { return kind == Kind::weights ? std::pow(rate, age) : 1.0; }
};

// A weight below this is treated as 0: it does not change the posterior.
constexpr double kNoWeight = 1e-15;

}  // namespace gpb

#endif
