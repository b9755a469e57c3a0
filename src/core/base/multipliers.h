// Multipliers of constraints in an augmented Lagrangian. Uses base/ only.
#ifndef GPB_MULTIPLIERS_H
#define GPB_MULTIPLIERS_H

#include "base/types.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// Multipliers of an augmented Lagrangian. Up to a constant, each constraint g <= 0 costs
//   (max(0, lambda + rho g)^2 - lambda^2) / (2 rho).
class Multipliers {
 public:
  explicit Multipliers(Index limits = 0) : lambda_(VectorXd::Zero(limits)) {}
  Index size() const { return lambda_.size(); }
  // The derivative of the cost by a constraint's value.
  double pressure(Index j, double g) const { return std::max(lambda_[j] + rho_ * g, 0.0); }
  template <class Value>
  double cost(Value g) const {
    double squares = 0.0;
    for (Index j = 0; j < size(); ++j) squares += pressure(j, g(j)) * pressure(j, g(j));
    return squares / (2.0 * rho_);
  }
  // Updates the multipliers for these values of the constraints. True if the optimality conditions hold up to `slack`.
  bool settle(const VectorXd& g, double slack = 1e-10) {
    double worst = -kInf;
    for (Index j = 0; j < size(); ++j) {
      lambda_[j] = pressure(j, g[j]);
      worst = std::max({worst, g[j], std::min(lambda_[j], std::abs(g[j]))});
    }
    rho_ = std::min(3.0 * rho_, 1e5);
    return worst < slack;
  }

 private:
  VectorXd lambda_;
  double rho_ = 10.0;
};

}  // namespace gpb

#endif
