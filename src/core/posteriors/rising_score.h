// A score that never decreases when the mean or the sd increases, such as an upper bound or expected improvement.
// Scores within `tie` of the best are tied. If the score is mean + w sd, `weight` is w; otherwise it is NaN.
#ifndef GPB_RISING_SCORE_H
#define GPB_RISING_SCORE_H

#include "base/types.h"

namespace gpb {

struct RisingScore {
  std::function<double(double mean, double sd)> of;
  double tie;
  double weight = kNaN;
};

}  // namespace gpb

#endif
