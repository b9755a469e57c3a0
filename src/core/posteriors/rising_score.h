// A score that never falls when the mean or the sd rises (an upper bound, expected improvement);
// scores within `tie` of the best are tied. Where it is mean + w sd, `weight` is w; else NaN.
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
