#ifndef GPB_CLIMB_BY_VALUES_H
#define GPB_CLIMB_BY_VALUES_H

#include "base/minimizer.h"

namespace gpb {

// What is known at some points of the unit cube, a row each: the value of what is climbed, then a column for each
// limit, which holds where it is at most 0. All of them in units of what they do.
using ValuesAndLimits = std::function<MatrixXd(const MatrixXd& points)>;

// Uphill from u. Slopes are central differences; for them and the value one question is asked. Limits come in by an
// augmented Lagrangian (Rockafellar 1974): where it ends they may be exceeded by some 1e-10.
VectorXd climb_by_values(VectorXd u, const ValuesAndLimits& ask, const BoxMinimizer& minimize);

}  // namespace gpb

#endif
