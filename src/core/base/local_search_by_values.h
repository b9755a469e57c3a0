// Local maximisation with constraints of a function without gradients. Uses base/ only.
#ifndef GPB_LOCAL_SEARCH_BY_VALUES_H
#define GPB_LOCAL_SEARCH_BY_VALUES_H

#include "base/minimizer.h"

namespace gpb {

// Evaluates points of the unit cube, a row each. The first column is the objective; each further column is a
// constraint, satisfied if it is at most 0. All columns should be on the scale of their variation.
using ValuesAndLimits = std::function<MatrixXd(const MatrixXd& points)>;

// Maximises from u. Gradients are central differences; one call evaluates them and the value. Constraints are handled
// by an augmented Lagrangian (Rockafellar 1974). At the end they may be violated by about 1e-10.
VectorXd local_search_by_values(VectorXd u, const ValuesAndLimits& ask, const BoxMinimizer& minimize);

// The objective and one constraint at a point (satisfied if `excess` is at most 0), with their gradients.
struct LimitedValue {
  double value = 0.0, excess = 0.0;
  VectorXd by_value, by_excess;
};
using LimitedFunction = std::function<LimitedValue(const VectorXd& u)>;

// Maximises from u within the constraint. If the search finds no feasible point, minimises the violation.
VectorXd search_within(VectorXd u, const LimitedFunction& at, const BoxMinimizer& minimize);

}  // namespace gpb

#endif
