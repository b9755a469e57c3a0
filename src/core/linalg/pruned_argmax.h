// The arm of the largest upper confidence bound, without computing every arm's root. Uses base/ only.
#ifndef GPB_PRUNED_ARGMAX_H
#define GPB_PRUNED_ARGMAX_H

#include "base/types.h"

namespace gpb {

// The first j whose mean_j + width * sqrt(variance_j) is within `tie` of the largest. Groups of arms are skipped if
// their largest mean and variance exclude them. scratch: space for upper_bound_scratch(n) numbers.
Index first_upper_bound(const double* mean, const double* variance, Index n, double width,
                        double tie, double* scratch);
inline Index upper_bound_scratch(Index n) { return n + n / 32 + 1; }

}  // namespace gpb

#endif
