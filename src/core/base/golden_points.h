// A low-discrepancy sequence. Uses base/ only.
#ifndef GPB_GOLDEN_POINTS_H
#define GPB_GOLDEN_POINTS_H

#include "base/types.h"

namespace gpb {

// The first n points, a row each, of the additive recurrence of the generalised golden ratio in [0, 1)^d. This
// low-discrepancy sequence needs no random numbers.
MatrixXd golden_points(Index n, Index d);

}  // namespace gpb

#endif
