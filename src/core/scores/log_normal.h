// Logarithms of normal probabilities and improvements that stay finite and accurate far in the tails.
#ifndef GPB_LOG_NORMAL_H
#define GPB_LOG_NORMAL_H

#include <algorithm>
#include <cmath>

#include "base/normal.h"
#include "base/types.h"

namespace gpb {

inline constexpr double kLogSqrt2Pi = 0.91893853320467274178;

inline double normal_log_density(double z) { return -0.5 * z * z - kLogSqrt2Pi; }

// log(1 - e^w), w <= 0.
inline double log1m_exp(double w) {
  return w > -0.69314718055994530942 ? std::log(-std::expm1(w)) : std::log1p(-std::exp(w));
}

// log(phi(u) + u Phi(u)). Below -25 the two terms cancel; the series is phi / u^2 (1 - 3/u^2 + 15/u^4 - ...).
inline double log_improvement(double u) {
  if (u > -25.0) return std::log(normal_density(u) + u * normal_cdf(u));
  const double v = 1.0 / (u * u);
  const double series = -v * (3.0 - v * (15.0 - v * (105.0 - v * (945.0 - v * 10395.0))));
  return normal_log_density(u) + std::log(v) + std::log1p(series);
}

// Its derivative, Phi / (phi + u Phi).
inline double log_improvement_slope(double u) {
  if (u > -25.0) return normal_cdf(u) / (normal_density(u) + u * normal_cdf(u));
  const double v = 1.0 / (u * u);
  const double above = 1.0 - v * (1.0 - v * (3.0 - v * (15.0 - v * (105.0 - v * 945.0))));
  const double below = 1.0 - v * (3.0 - v * (15.0 - v * (105.0 - v * (945.0 - v * 10395.0))));
  return -u * above / below;
}

// log P(a < Z < b). If both are above 0, symmetry is used.
inline double log_normal_between(double a, double b) {
  if (a == -kInf) return normal_log_cdf(b);
  if (b == kInf) return normal_log_cdf(-a);
  if (a > 0.0) return log_normal_between(-b, -a);
  const double above = normal_log_cdf(b);
  return above + log1m_exp(std::min(0.0, normal_log_cdf(a) - above));
}

}  // namespace gpb

#endif
