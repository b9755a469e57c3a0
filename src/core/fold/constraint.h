// Long-term constraints: what the target is now. Multipliers weigh the constraints in
// the target and move at the end of each epoch.
#ifndef GPB_CONSTRAINT_H
#define GPB_CONSTRAINT_H

#include "base/types.h"

namespace gpb {

enum class Penalty { exponential, polynomial };

struct ConstraintRule {
  bool noisy = false;         // Algorithm 3, else Algorithm 2 (Shi & Eryilmaz)
  Index count = 1;
  Index epoch = 1;            // S rounds
  bool reuse = true;          // keep data across epochs
  double step = 0.0;          // noisy: of the multipliers
  Penalty penalty = Penalty::exponential;
  double c = 1.0, power = 1.0;

  // psi: 1 for x <= 0, else exp(c x) or (c x + 1)^power.
  double psi(double x) const;
  VectorXd first_multipliers() const;
  // reward - sum_j kappa_j (psi(g_j) - 1), or reward - sum_j kappa_j g_j with noise.
  double target(double reward, const VectorXd& g, const VectorXd& kappa) const;
  // After an epoch whose observed constraint values average to g. Throws overflow_error
  // where a multiplier leaves the range of numbers.
  VectorXd next_multipliers(const VectorXd& kappa, const VectorXd& g) const;
  // The noise of the target, relative to the reward's: sqrt(1 + sum kappa^2) with noise.
  double noise_factor(const VectorXd& kappa) const;
};

}  // namespace gpb

#endif
