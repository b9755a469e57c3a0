// R's own L-BFGS-B behind the core's BoxMinimizer.
#ifndef GPB_R_LBFGSB_H
#define GPB_R_LBFGSB_H

#include "box_space.h"

namespace gpb {

BoxMinimizer lbfgsb_minimizer(int max_iterations = 50);

}  // namespace gpb

#endif
