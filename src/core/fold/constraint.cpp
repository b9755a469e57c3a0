#include "fold/constraint.h"

#include <cmath>

namespace gpb {

namespace {

void check_range(bool finite, const char* what) {
  if (finite) return;
  throw std::overflow_error(std::string("the constraints' penalty made ") + what +
                            " that is too large for a number; scale the constraints down, use a "
                            "smaller `c`, or penalty_polynomial()");
}

}  // namespace

double ConstraintRule::psi(double x) const {
  if (!(x > 0.0)) return 1.0;
  return penalty == Penalty::exponential ? std::exp(c * x) : std::pow(c * x + 1.0, power);
}

VectorXd ConstraintRule::first_multipliers() const {
  return VectorXd::Constant(count, noisy ? 0.0 : 1.0);
}

double ConstraintRule::target(double reward, const VectorXd& g, const VectorXd& kappa) const {
  double out = reward;
  for (Index j = 0; j < count; ++j) out -= kappa[j] * (noisy ? g[j] : psi(g[j]) - 1.0);
  check_range(std::isfinite(out), "a target");
  return out;
}

VectorXd ConstraintRule::next_multipliers(const VectorXd& kappa, const VectorXd& g) const {
  VectorXd next(count);
  for (Index j = 0; j < count; ++j) {
    next[j] = noisy ? std::max(0.0, kappa[j] + step * g[j]) : kappa[j] * psi(g[j]);
  }
  check_range(next.allFinite(), "a multiplier");
  return next;
}

double ConstraintRule::noise_factor(const VectorXd& kappa) const {
  return noisy ? std::sqrt(1.0 + kappa.squaredNorm()) : 1.0;
}

}  // namespace gpb
