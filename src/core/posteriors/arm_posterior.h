// The exact posterior of finitely many arms: the base class of its engines.
//
// Each arm has a current mean and variance. An observation of arm i changes all of them along c = cov(f_i, f), with s =
// noise + c_i:
//   mean += c (y - mean_i) / s,   variance -= c^2 / s.
// The engines differ in how they compute c:
//   WeightPosterior: c = Phi S phi_i, with Phi the pivoted Cholesky factor of all arms.
//   RootPosterior:   c = B B_i, with B = Phi S^(1/2). It is used if the factor is nearly square.
//   PlayedPosterior: c = k(i, .) - V V_i, with a row of V per observation. It is compressed to one row per distinct
//   played arm as soon as repetitions prevail.
#ifndef GPB_ARM_POSTERIOR_H
#define GPB_ARM_POSTERIOR_H

#include "kernels/pivoted_cholesky.h"

namespace gpb {

// The arms and their prior. It is shared by all posteriors of a bandit.
struct ArmTable {
  ArmTable(KernelPtr kernel, std::shared_ptr<const Points> points);
  Index size() const { return points->rows(); }

  KernelPtr kernel;
  std::shared_ptr<const Points> points;
  VectorXd prior_variance;
  double prior_scale;  // largest prior standard deviation
};

using ArmTablePtr = std::shared_ptr<const ArmTable>;

class ArmPosterior {
 public:
  ArmPosterior(ArmTablePtr table, double noise_var, VectorXd prior_mean);
  virtual ~ArmPosterior() = default;

  // Adds one observation y of an arm; its noise variance is noise_var / weight.
  void add(Index arm, double y, double weight = 1.0);
  // Changes the value of a past observation of this arm and weight.
  void replace(Index arm, double old_y, double new_y, double weight = 1.0);
  // Removes an observation y of this weight, by conditioning with noise -noise_var / weight.
  void drop(Index arm, double y, double weight = 1.0);
  // Conditions on weighted data: per arm the sum of weights and of weight * (y - prior mean), and over all arms the sum
  // of weight * (y - prior mean)^2.
  void set_statistics(const VectorXd& weight, const VectorXd& weighted, double squares);
  // Replaces the values of the same observations. The weights stay, and with them the variance.
  void set_values(const VectorXd& weighted, double squares);
  void clear();
  // The covariance of all arms with one arm.
  virtual VectorXd covariance_with(Index arm) const = 0;
  // Features of the arms, a row each, if the engine uses them.
  virtual const MatrixXd* features() const { return nullptr; }
  // Conditions on observations of functionals of f, given by their features, a row each: weights, and weight * (y -
  // prior mean).
  virtual void set_functionals(const MatrixXd& features, const VectorXd& weight,
                               const VectorXd& weighted);

  const VectorXd& mean() const { return mean_; }
  const VectorXd& variance() const { return variance_; }
  const VectorXd& prior_mean() const { return prior_mean_; }
  const ArmTable& table() const { return *table_; }
  double noise_var() const { return noise_var_; }
  double log_det() const { return log_det_; }  // log det(I + K W / lambda)
  double quadratic() const;                    // y' (K + lambda I)^-1 y, y centred

  virtual Index rank() const = 0;
  // Fills every column of `out` with base + scale * (joint zero-mean draw from the posterior) for the arms first ..
  // first + out.rows() - 1. Several columns use the same random numbers, in the same order, as separate calls for one
  // column each.
  virtual void draw(Rng& rng, double scale, const VectorXd& base, Index first,
                    Eigen::Ref<MatrixXd> out) const = 0;
  // Joint posterior covariance of some arms.
  virtual MatrixXd covariance(const std::vector<Index>& arms) const = 0;
  // Kalman step of a prior that drifts, f <- sqrt(1 - rate) f + sqrt(rate) g, with a new g from the prior. The kernel
  // becomes k(x, x') (1 - rate)^(|t - t'| / 2). Afterwards, until clear(), observations can only be added, in temporal
  // order.
  virtual void drift(double rate) = 0;

 protected:
  // Updates mean_ and variance_ along c; returns s = noise + c_arm.
  virtual double condition(Index arm, double innovation, double noise) = 0;
  // mean_ += step * c.
  virtual void respond(Index arm, double step) = 0;
  // Recomputes mean_, variance_ and log_det_ from the statistics.
  virtual void refit() = 0;
  // Recomputes mean_ from the statistics; the variance is up to date.
  virtual void refit_mean() { refit(); }
  virtual void forget() = 0;
  virtual bool refit_due() const = 0;

  std::vector<Index> observed_arms() const;

  ArmTablePtr table_;
  double noise_var_;
  VectorXd prior_mean_, mean_, variance_;
  VectorXd weight_, weighted_;
  double squares_ = 0.0;
  double log_det_ = 0.0;
  Index updates_ = 0;  // since the last refit
  Index drops_ = 0;    // since the last refit
  // A drifted posterior is not a function of the statistics; its quadratic form is the sum of squared innovations.
  bool drifted_ = false;
  double innovations_ = 0.0;

 private:
  double prior_scale_squared() const { return table_->prior_scale * table_->prior_scale; }
  void refit_now();
  bool can_drop(Index arm, double noise) const;
};

}  // namespace gpb

#endif
