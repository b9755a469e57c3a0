// The type of a minimiser on the unit cube, which the caller provides. Uses base/ only.
#ifndef GPB_MINIMIZER_H
#define GPB_MINIMIZER_H

#include "base/types.h"

namespace gpb {

// Minimises f over [0, 1]^d from x (replaced by the minimiser); returns the minimum. The caller provides it (the
// package uses R's L-BFGS-B).
using Objective = std::function<double(const VectorXd& x, VectorXd& gradient)>;
using BoxMinimizer = std::function<double(VectorXd& x, const Objective& f)>;
// Makes a minimiser that stops when an iteration gains less than the tolerance.
using Minimizers = std::function<BoxMinimizer(double tolerance)>;

}  // namespace gpb

#endif
