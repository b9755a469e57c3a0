// Local maximisation of a function that is known by its values alone, within limits. Uses base/ alone.
#ifndef GPB_LOCAL_SEARCH_BY_VALUES_H
#define GPB_LOCAL_SEARCH_BY_VALUES_H

#include "base/minimizer.h"

namespace gpb {

// What is known at some points of the unit cube, a row each: the value of what is climbed, then a column for each
// limit, which holds where it is at most 0. All of them in units of what they do.
using ValuesAndLimits = std::function<MatrixXd(const MatrixXd& points)>;

// Uphill from u. Slopes are central differences; for them and the value one question is asked. Limits come in by an
// augmented Lagrangian (Rockafellar 1974): where it ends they may be exceeded by some 1e-10.
VectorXd local_search_by_values(VectorXd u, const ValuesAndLimits& ask, const BoxMinimizer& minimize);

// At a point: what is climbed, and a limit, which holds where it is at most 0; with their slopes.
struct LimitedValue {
  double value = 0.0, excess = 0.0;
  VectorXd by_value, by_excess;
};
using LimitedFunction = std::function<LimitedValue(const VectorXd& u)>;

// Uphill from u within the limit; to where it is exceeded least if no way leads within it.
VectorXd search_within(VectorXd u, const LimitedFunction& at, const BoxMinimizer& minimize);

}  // namespace gpb

#endif
