// Every floor, tolerance and jitter of the package's factorisations, with its reason. Uses base/ only.
// All of them concern a covariance K + noise. In exact arithmetic each squared pivot of its Cholesky factor is a
// conditional variance plus that point's noise. The noise is therefore a lower bound of the squared pivots. Such a
// floor is no jitter, because nothing is added to the matrix. Rounding changes K by about 1e-16 of the prior variance
// v. A solution of a system with K + noise changes by v / noise times that. The limits below account for this; no other
// file of the package defines such a limit.
#ifndef GPB_FLOORS_H
#define GPB_FLOORS_H

#include <algorithm>

#include "base/types.h"

namespace gpb {

constexpr double kRounding = 2.2e-16;

// Squares of larger numbers overflow. Rewards, variances and prior means must not exceed it.
constexpr double kLargest = 1e150;

// Noise below this fraction of the prior variance is an error: the posterior would consist of rounding errors.
constexpr double kLeastNoise = 1e-12;

// Repeats of a point are pooled into one observation with less noise. Pooled noise is at least this fraction of the
// prior variance: less would be below the matrix's rounding errors. The change of an sd, at the points themselves, is
// at most 3e-7 prior sd.
constexpr double kLeastPooledNoise = 1e-13;

// The largest relative error of a formula against the prior. The error is kRounding times the ratio of the summands to
// their sum.
constexpr double kLostDigits = 1e-9;

// The residual variance of a pivoted Cholesky factor, relative to the noise and to the largest variance. The residual
// changes a posterior sd by at most half of the former. Pivots below kRoundedPivot are rounding errors.
constexpr double kResidualOfNoise = 1e-8;
constexpr double kResidualOfVariance = 1e-10;
constexpr double kRoundedPivot = 1e-15;

// A basis of points (LowRankBasis) has no noise on its pivots. Below this fraction of the prior variance, rounding
// errors of pivots grow from row to row. Residuals below it are rounding errors, too.
constexpr double kBasisPivot = 1e-13;

// A conditional variance below minus this fraction of the largest one is no rounding error: the covariance is
// indefinite.
constexpr double kIndefinite = 1e-6;

inline bool loses_digits(double ratio) { return kRounding * ratio > kLostDigits; }

// The bound of the noise, for users' values (check_noise()), for fits, and for the models of refits.
inline double least_noise(double variance) { return kLeastNoise * variance; }

inline void check_noise(double noise, double variance, double least) {
  const bool scaled = variance == 0.0 || (variance >= 1.0 / kLargest && variance <= kLargest);
  if (!scaled) {
    throw_invalid("the prior variance at the domain's points must be between 1e-150 and 1e150: squares of "
                  "larger or smaller numbers overflow");
  }
  if (noise >= (1.0 - 1e-6) * least) return;  // (the limit itself is valid)
  throw_invalid("`noise_var` must be at least 1e-12 of the prior variance: with less the posterior would be "
                "rounding, not data");
}

inline void check_noise(double noise, double variance) { check_noise(noise, variance, least_noise(variance)); }

inline double effective_noise(double noise, double variance) {
  return std::max(noise, kLeastPooledNoise * variance);
}

// The tolerance at which a pivoted Cholesky factorisation of K stops.
inline double pivot_tolerance(double max_diagonal, double noise_var) {
  const double wanted =
      std::min(kResidualOfVariance * max_diagonal, kResidualOfNoise * noise_var);
  return std::max(wanted, kRoundedPivot * max_diagonal);
}

// The squared pivot of a point: its conditional variance plus its noise. Rounding may have made the former negative.
inline double noisy_pivot(double conditional_variance, double noise) {
  return std::max(conditional_variance, 0.0) + noise;
}

}  // namespace gpb

#endif
