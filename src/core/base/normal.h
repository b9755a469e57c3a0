// The standard normal distribution.
#ifndef GPB_NORMAL_H
#define GPB_NORMAL_H

#include <cmath>

namespace gpb {

inline constexpr double kSqrtHalf = 0.70710678118654752440;
inline constexpr double kInvSqrt2Pi = 0.39894228040143267794;

inline double normal_density(double z) { return kInvSqrt2Pi * std::exp(-0.5 * z * z); }
inline double normal_cdf(double z) { return 0.5 * std::erfc(-z * kSqrtHalf); }

// log Phi(z), also if Phi(z) underflows: Phi(z) = phi(z) / |z| (1 - 1/z^2 + 3/z^4 - ...).
inline double normal_log_cdf(double z) {
  if (z > -20.0) return std::log(normal_cdf(z));
  const double zz = z * z;
  return -0.5 * zz + std::log(kInvSqrt2Pi) - std::log(-z) +
         std::log1p(-1.0 / zz + 3.0 / (zz * zz) - 15.0 / (zz * zz * zz));
}

// phi(z) / Phi(z).
inline double normal_hazard(double z) {
  return std::exp(-0.5 * z * z + std::log(kInvSqrt2Pi) - normal_log_cdf(z));
}

}  // namespace gpb

#endif
