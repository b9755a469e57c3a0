// Functions of bessel_correlation.h: the Matern family's correlation for any smoothness. Uses base/.
#include "kernels/bessel_correlation.h"

#include <cmath>

namespace gpb {

namespace {

constexpr double kLog2 = 0.69314718055994530942;
constexpr double kDebyeFrom = 200.0;    // the expansion's relative error is below 1e-11 from here
constexpr double kTiny = 1e-150;        // smaller distances are treated as zero
constexpr double kBesselZero = 3000.0;  // r^nu K_nu(r) underflows from here for nu < 200

// sum_k (-1)^k u_k(t) / nu^k, k <= 4 (Abramowitz & Stegun 9.3.9).
double debye_sum(double nu, double t) {
  const double q = t * t;
  const double v = -t / nu;
  const double u1 = (3.0 - 5.0 * q) / 24.0;
  const double u2 = (81.0 + q * (-462.0 + q * 385.0)) / 1152.0;
  const double u3 = (30375.0 + q * (-369603.0 + q * (765765.0 - q * 425425.0))) / 414720.0;
  const double u4 = (4465125.0 + q * (-94121676.0 + q * (349922430.0 +
                     q * (-446185740.0 + q * 185910725.0)))) / 39813120.0;
  return 1.0 + v * (u1 + v * (u2 + v * (u3 + v * u4)));
}

// Large order: the uniform expansion of K_nu(nu z) (A&S 9.3.8) over Stirling's series for Gamma(nu), which is the same
// sum at t = 1. It tends to exp(-s/2), r^2 = 2 nu s, and avoids differences of large terms.
double large_order(double nu, double r) {
  const double z = r / nu;
  const double root = std::hypot(1.0, z);
  const double w = z > 1.0 ? root - 1.0 : z * z / (1.0 + root);
  const double exponent = nu * (std::log1p(w / 2.0) - w) - 0.5 * std::log1p(w);
  return std::exp(exponent) * debye_sum(nu, 1.0 / root) / debye_sum(nu, 1.0);
}

// Small r: sum_k (r^2/4)^k / (k! (1-nu)(2-nu)...(k-nu)), the contribution of I_{-nu}. The contribution of I_nu, of size
// r^(2 nu), is below rounding at the r of this function's caller.
double small_distance(double nu, double r) {
  const double q = r * r / 4.0;
  double sum = 1.0;
  double term = 1.0;
  for (double k = 1.0; k < nu && std::abs(term) > 1e-17; ++k) {
    term *= q / (k * (k - nu));
    sum += term;
  }
  return sum;
}

}  // namespace

double bessel_correlation(double nu, double r, BesselK bessel_k) {
  if (r < kTiny) return 1.0;
  if (r == kInf) return 0.0;
  if (nu >= kDebyeFrom) return large_order(nu, r);
  if (r > kBesselZero) return 0.0;
  const double log_scale = (1.0 - nu) * kLog2 - std::lgamma(nu) + nu * std::log(r);
  if (log_scale < -600.0) return small_distance(nu, r);  // K_nu(r) ~ exp(-log_scale) overflows
  return std::exp(log_scale + std::log(bessel_k(nu, r)) - r);
}

// With c_nu = 2^(1-nu) / Gamma(nu): rho'/r = -c_nu r^(nu-1) K_{nu-1}(r). For nu > 1 this is
// -rho_{nu-1}(r) / (2 (nu-1)). For other nu, K_{nu-1} = K_{1-nu}.
double bessel_slope(double nu, double r, BesselK bessel_k) {
  if (nu > 1.0) return -bessel_correlation(nu - 1.0, r, bessel_k) / (2.0 * (nu - 1.0));
  if (r < kTiny || r > kBesselZero) return 0.0;
  const double log_scale = (1.0 - nu) * kLog2 - std::lgamma(nu) + (nu - 1.0) * std::log(r);
  return -std::exp(log_scale + std::log(bessel_k(1.0 - nu, r)) - r);
}

}  // namespace gpb
