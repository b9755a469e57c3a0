// Functions of constraints.h: long-term constraints (Shi & Eryilmaz): the target that replaces the reward. Uses base/.
#include "events/constraints.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

void check_range(bool finite, const char* what) {
  if (finite) return;
  throw std::overflow_error(std::string("the constraints' penalty made ") + what +
                            " that is too large for a number; scale the constraints down, use a "
                            "smaller `penalty_scale`, or `penalty = \"polynomial\"`");
}

}  // namespace

double ConstraintRule::target(double reward, const VectorXd& g, const VectorXd& kappa) const {
  double out = reward;
  for (Index j = 0; j < count(); ++j) out -= kappa[j] * price(g[j]);
  check_range(std::isfinite(out), "a target");
  return out;
}

VectorXd ConstraintRule::next_multipliers(const VectorXd& kappa, const VectorXd& g) const {
  VectorXd next(count());
  for (Index j = 0; j < count(); ++j) next[j] = moved(kappa[j], g[j]);
  check_range(next.allFinite(), "a multiplier");
  return next;
}

double ConstraintRule::failure_factor() const {
  return std::isnan(shape_.epochs) ? 1.0 : 1.0 / (failure_parts() * shape_.epochs);
}

double NoiselessConstraints::psi(double x) const {
  if (!(x > 0.0)) return 1.0;
  return exponential_ ? std::exp(c_ * x) : std::pow(c_ * x + 1.0, power_);
}

double NoisyConstraints::moved(double kappa, double g) const {
  return std::max(0.0, kappa + step_ * g);
}

double NoisyConstraints::noise_factor(const VectorXd& kappa) const {
  return std::sqrt(1.0 + kappa.squaredNorm());
}

std::unique_ptr<ConstraintRule> make_constraints(const Settings& constraints) {
  ConstraintRule::Shape shape;
  shape.count = constraints.count("count");
  shape.epoch = constraints.count("epoch");
  shape.reuse = constraints.flag("reuse");
  if (constraints.has("epochs")) shape.epochs = constraints.number("epochs");
  if (constraints.text("kind") == "noisy") {
    return std::make_unique<NoisyConstraints>(shape, constraints.number("step"));
  }
  const bool exponential = constraints.text("penalty") != "polynomial";
  return std::make_unique<NoiselessConstraints>(shape, exponential, constraints.number("penalty_scale"),
                                                exponential ? 1.0 : constraints.number("penalty_power"));
}

}  // namespace gpb
