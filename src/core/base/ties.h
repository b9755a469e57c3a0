// Ties between acquisition values, and the first of the best. Uses base/ only.
#ifndef GPB_TIES_H
#define GPB_TIES_H

#include "base/types.h"

namespace gpb {

// Values this close to the best, in prior standard deviations, are tied.
inline constexpr double kTie = 1e-9;

// The first index whose value is within `tolerance` of the largest.
inline Index first_best(const double* score, Index n, double tolerance) {
  double best = -kInf;
  for (Index j = 0; j < n; ++j) best = score[j] > best ? score[j] : best;
  const double enough = best - tolerance;
  for (Index j = 0; j < n; ++j) {
    if (score[j] >= enough || score[j] == best) return j;
  }
  return 0;
}

}  // namespace gpb

#endif
