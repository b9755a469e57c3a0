// R's own L-BFGS-B behind the core's BoxMinimizer.
#ifndef GPB_R_LBFGSB_H
#define GPB_R_LBFGSB_H

#include "base/minimizer.h"

namespace gpb {

// Ends when an iteration gains less than `tolerance` times the larger of 1 and the value.
BoxMinimizer lbfgsb_minimizer(int max_iterations = 50, double tolerance = 2e-9);

}  // namespace gpb

#endif
