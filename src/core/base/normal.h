// The standard normal distribution.
#ifndef GPB_NORMAL_H
#define GPB_NORMAL_H

#include <algorithm>
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

// The inverse of the standard normal distribution function (Acklam's rational approximation, to 1e-9).
inline double normal_quantile(double p) {
  static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                             1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
  static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                             6.680131188771972e+01, -1.328068155288572e+01};
  static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                             -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
  static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                             3.754408661907416e+00};
  const double tail = std::min(p, 1.0 - p);
  if (tail < 0.02425) {
    const double q = std::sqrt(-2.0 * std::log(tail));
    const double x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                     ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    return p < 0.5 ? x : -x;
  }
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

}  // namespace gpb

#endif
