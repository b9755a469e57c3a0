// A low-discrepancy sequence. Uses base/ alone.
#ifndef GPB_GOLDEN_POINTS_H
#define GPB_GOLDEN_POINTS_H

#include "base/types.h"

namespace gpb {

// Row i of the first n points of the additive recurrence of the generalised golden
// ratio in [0, 1)^d: a low-discrepancy sequence that needs no random numbers.
MatrixXd golden_points(Index n, Index d);

}  // namespace gpb

#endif
