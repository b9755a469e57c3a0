// The shape of an outcome transform, estimated from rewards: the power, and what scales its result. Uses base/ and
// outcome_transform.h.
#ifndef GPB_OUTCOME_SHAPE_H
#define GPB_OUTCOME_SHAPE_H

#include <functional>

#include "base/types.h"
#include "events/outcome_transform.h"

namespace gpb {

struct ShapeRules {
  enum class Power { none, if_likely, always, logarithm };
  Power power = Power::none;
  double least_gain = 0.0;  // of the log likelihood, for a power transform if it is likely
  bool covers = false;      // is the spread that of points that cover the space, few of them outliers?
};

// Estimates lambda from all rewards; bulk, shift and spread from the usual ones. Centre, scale and tail are given.
void estimate_shape(OutcomeTransform& transform, const VectorXd& rewards, const VectorXd& usual,
                    const ShapeRules& rules);

// The minimum of f between two numbers, as R's optimize() computes it: Brent's method (Algorithms for Minimization
// without Derivatives, 1973).
double brent_minimum(const std::function<double(double)>& f, double lower, double upper, double tolerance);

}  // namespace gpb

#endif
