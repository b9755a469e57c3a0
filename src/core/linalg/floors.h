// Every floor, tolerance and jitter of the package's factorisations, and why it is what it is.
//
// All of them are parts of a covariance K + noise. In exact arithmetic each squared pivot of its
// Cholesky factor is a conditional variance plus that point's noise, so at least the noise: that
// is the floor, and it is no jitter, for nothing is added that is not there. Rounding moves K by
// about 1e-16 of the prior variance v, and whatever solves with K + noise by v / noise times as
// much: that is what the limits below are about. Nothing else in the package decides on one.
#ifndef GPB_FLOORS_H
#define GPB_FLOORS_H

#include <algorithm>

#include "base/types.h"

namespace gpb {

constexpr double kRounding = 2.2e-16;

// Squares of larger numbers overflow. Rewards, variances and prior means stay within.
constexpr double kLargest = 1e150;

// Noise below this part of the prior variance is refused: a posterior would be rounding, not data.
constexpr double kLeastNoise = 1e-12;

// Repeats of a point pool into one observation of less noise. Pooled noise below this part of the
// prior variance counts as that much: less would drown in what rounding makes of the matrix, and
// it moves no sd by more than 3e-7 prior sd at the points themselves.
constexpr double kLeastPooledNoise = 1e-13;

// Digits that a formula may lose against the prior: kRounding times the ratio by which the
// numbers that it adds up exceed its result.
constexpr double kLostDigits = 1e-9;

// What a pivoted Cholesky factor may leave of a variance, relative to the noise and to the
// largest variance. What it leaves moves a posterior sd by half of the former at most; pivots
// below kRoundedPivot cannot be told from rounding.
constexpr double kResidualOfNoise = 1e-8;
constexpr double kResidualOfVariance = 1e-10;
constexpr double kRoundedPivot = 1e-15;

// A basis of points (LowRankBasis) has no noise beside its pivots: below this part of the prior
// variance their rounding errors grow from row to row. Residuals below it are rounding, too.
constexpr double kBasisPivot = 1e-13;

// A conditional variance below minus this part of the largest one is not rounding: the
// covariance is indefinite.
constexpr double kIndefinite = 1e-6;

inline bool loses_digits(double ratio) { return kRounding * ratio > kLostDigits; }

inline void check_noise(double noise, double variance) {
  const bool scaled = variance == 0.0 || (variance >= 1.0 / kLargest && variance <= kLargest);
  if (!scaled) {
    throw std::invalid_argument(
        "the prior variance at the domain's points must be between 1e-150 and 1e150: squares of "
        "larger or smaller numbers overflow");
  }
  if (noise >= (1.0 - 1e-6) * kLeastNoise * variance) return;  // (the limit itself is allowed)
  throw std::invalid_argument(
      "`noise_var` must be at least 1e-12 of the prior variance: with less the posterior would be "
      "rounding, not data");
}

inline double effective_noise(double noise, double variance) {
  return std::max(noise, kLeastPooledNoise * variance);
}

// Where a pivoted Cholesky factorisation of K stops.
inline double pivot_tolerance(double max_diagonal, double noise_var) {
  const double wanted =
      std::min(kResidualOfVariance * max_diagonal, kResidualOfNoise * noise_var);
  return std::max(wanted, kRoundedPivot * max_diagonal);
}

// The squared pivot of a point: its conditional variance, which rounding may have made
// negative, plus its noise.
inline double noisy_pivot(double conditional_variance, double noise) {
  return std::max(conditional_variance, 0.0) + noise;
}

}  // namespace gpb

#endif
