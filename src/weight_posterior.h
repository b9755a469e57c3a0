// Engine 1, weight space: K ~ Phi Phi' by pivoted Cholesky over all arms, and the
// posterior of Phi's weights as a square root S = A A' (Potter). A round costs one
// product with Phi, whatever the number of rounds; joint draws are exact.
#ifndef GPB_WEIGHT_POSTERIOR_H
#define GPB_WEIGHT_POSTERIOR_H

#include "arm_posterior.h"

namespace gpb {

using LowRankPtr = std::shared_ptr<const LowRank>;

class WeightPosterior : public ArmPosterior {
 public:
  WeightPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var, VectorXd prior_mean);
  Index rank() const override { return basis_->factor.cols(); }
  void draw(Rng& rng, double scale, const VectorXd& base, Index first,
            Eigen::Ref<MatrixXd> out) const override;
  MatrixXd covariance(const std::vector<Index>& arms) const override;
  void drift(double rate) override;

 protected:
  double condition(Index arm, double innovation, double noise) override;
  void respond(Index arm, double step) override;
  void refit() override;
  void forget() override;
  bool refit_due() const override;

 private:
  VectorXd rooted(const VectorXd& v) const;  // A v

  LowRankPtr basis_;
  VectorXd zero_;
  MatrixXd root_;  // A, r x r
  bool drifted_ = false;
};

}  // namespace gpb

#endif
