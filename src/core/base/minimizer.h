// The type of a minimiser on the unit cube, which comes from outside. Uses base/ alone.
#ifndef GPB_MINIMIZER_H
#define GPB_MINIMIZER_H

#include "base/types.h"

namespace gpb {

// Minimises f over [0, 1]^d from x (replaced by the minimiser); returns the minimum. It comes
// from outside (R's L-BFGS-B in the package).
using Objective = std::function<double(const VectorXd& x, VectorXd& gradient)>;
using BoxMinimizer = std::function<double(VectorXd& x, const Objective& f)>;

}  // namespace gpb

#endif
