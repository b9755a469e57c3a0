// Sums and means of numbers that are given by their logarithms, so that none underflows. Uses Eigen only.
#ifndef GPB_LOG_SUMS_H
#define GPB_LOG_SUMS_H

#include "base/types.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// log(e^a + e^b).
inline double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

// The logarithm of the mean of e^x.
inline double log_mean(const VectorXd& x) {
  const double top = x.maxCoeff();
  return top > -kInf ? top + std::log((x.array() - top).exp().mean()) : top;
}

}  // namespace gpb

#endif
