// Long-term constraints (Shi & Eryilmaz): the target that replaces the reward. Uses base/ only.
// Multipliers weight the constraints in the target. They change at the end of each epoch.
#ifndef GPB_CONSTRAINTS_H
#define GPB_CONSTRAINTS_H

#include "base/settings.h"

namespace gpb {

class ConstraintRule {
 public:
  struct Shape {
    Index count = 1;
    Index epoch = 1;       // S rounds
    bool reuse = true;     // keep data across epochs
    double epochs = kNaN;  // L, if the widths are to account for it
  };
  explicit ConstraintRule(const Shape& shape) : shape_(shape) {}
  virtual ~ConstraintRule() = default;

  Index count() const { return shape_.count; }
  Index epoch() const { return shape_.epoch; }
  bool reuse() const { return shape_.reuse; }
  virtual VectorXd first_multipliers() const = 0;
  // The value that the posterior conditions on instead of the reward.
  double target(double reward, const VectorXd& g, const VectorXd& kappa) const;
  // The multipliers after an epoch with average observed constraint values g.
  VectorXd next_multipliers(const VectorXd& kappa, const VectorXd& g) const;
  // The noise of the target, relative to the reward's.
  virtual double noise_factor(const VectorXd&) const { return 1.0; }
  // An epoch's part of the failure probability: 1 / L, or 1 / (2 L) if the other half is for the constraints' noise. 1
  // if L is not given.
  double failure_factor() const;

 protected:
  virtual double price(double g) const = 0;  // subtracted from the target for each unit of the multiplier
  virtual double moved(double kappa, double g) const = 0;
  virtual double failure_parts() const { return 1.0; }

 private:
  Shape shape_;
};

// Algorithm 2: reward - sum_j kappa_j (psi(g_j) - 1), kappa_j <- kappa_j psi(average g_j).
class NoiselessConstraints final : public ConstraintRule {
 public:
  // psi: 1 for x <= 0, else exp(c x), or (c x + 1)^power.
  NoiselessConstraints(const Shape& shape, bool exponential, double c, double power)
      : ConstraintRule(shape), exponential_(exponential), c_(c), power_(power) {}
  VectorXd first_multipliers() const override { return VectorXd::Ones(count()); }

 protected:
  double price(double g) const override { return psi(g) - 1.0; }
  double moved(double kappa, double g) const override { return kappa * psi(g); }

 private:
  double psi(double x) const;
  bool exponential_;
  double c_, power_;
};

// Algorithm 3: reward - sum_j kappa_j g_j, kappa_j <- max(0, kappa_j + step * average g_j).
class NoisyConstraints final : public ConstraintRule {
 public:
  NoisyConstraints(const Shape& shape, double step) : ConstraintRule(shape), step_(step) {}
  VectorXd first_multipliers() const override { return VectorXd::Zero(count()); }
  double noise_factor(const VectorXd& kappa) const override;

 protected:
  double price(double g) const override { return g; }
  double moved(double kappa, double g) const override;
  double failure_parts() const override { return 2.0; }

 private:
  double step_;
};

std::unique_ptr<ConstraintRule> make_constraints(const Settings& constraints);

}  // namespace gpb

#endif
