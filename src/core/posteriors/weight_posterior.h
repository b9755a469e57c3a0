// Engine 1, weight space: K ~ Phi Phi' by pivoted Cholesky over all arms, and the posterior covariance of Phi's weights
// as a square root S = A A' (Potter). A round costs one product with Phi, independently of the number of rounds. Joint
// draws are exact.
#ifndef GPB_WEIGHT_POSTERIOR_H
#define GPB_WEIGHT_POSTERIOR_H

#include "posteriors/arm_posterior.h"

namespace gpb {

// Each rank-one update loses about a rounding error. After this number of updates the posterior is recomputed from its
// statistics (cost n r^2, spread over them).
constexpr Index kRefreshEvery = 4096;

using LowRankPtr = std::shared_ptr<const LowRank>;

// The posterior of Phi's weights, S = root root', from weighted data on some arms.
struct WeightFit {
  MatrixXd root;     // r x r
  VectorXd mean;     // of the weights
  double log_det;    // log det(I + K W / lambda)
};

WeightFit fit_weights(const MatrixXd& phi, const std::vector<Index>& seen, const VectorXd& weight,
                      const VectorXd& weighted, double noise_var);
// The same for functionals, which take the role of arms in the order of their rows.
WeightFit fit_functionals(const MatrixXd& features, const VectorXd& weight, const VectorXd& weighted,
                          double noise_var);

// The divisor of Potter's update, with s = noise + the observation's variance. If an observation is removed, both are
// negative.
double potter_divisor(double s, double noise);

// Is it cheaper to update the root over the arms (RootPosterior, 2 n r a round) than over the weights (WeightPosterior,
// n r + 3 r^2)?
bool prefers_arm_root(const LowRank& basis);

class WeightPosterior : public ArmPosterior {
 public:
  WeightPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var, VectorXd prior_mean);
  Index rank() const override { return basis_->factor.cols(); }
  void draw(Rng& rng, double scale, const VectorXd& base, Index first,
            Eigen::Ref<MatrixXd> out) const override;
  MatrixXd covariance(const std::vector<Index>& arms) const override;
  void drift(double rate) override;
  VectorXd covariance_with(Index arm) const override;
  const MatrixXd* features() const override { return &basis_->factor; }
  void set_functionals(const MatrixXd& features, const VectorXd& weight,
                       const VectorXd& weighted) override;

 protected:
  double condition(Index arm, double innovation, double noise) override;
  void respond(Index arm, double step) override;
  void refit() override;
  void refit_mean() override;
  void forget() override;
  bool refit_due() const override;

 private:
  VectorXd rooted(const VectorXd& v) const;  // A v

  void take(WeightFit fit);

  LowRankPtr basis_;
  VectorXd zero_;
  MatrixXd root_;  // A, r x r
};

}  // namespace gpb

#endif
