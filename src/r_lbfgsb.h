// R's own L-BFGS-B as a BoxMinimizer of the core.
#ifndef GPB_R_LBFGSB_H
#define GPB_R_LBFGSB_H

#include "base/minimizer.h"

namespace gpb {

// Ends when an iteration improves by less than `tolerance` times max(1, |value|).
BoxMinimizer lbfgsb_minimizer(int max_iterations = 50, double tolerance = 2e-9);

}  // namespace gpb

#endif
