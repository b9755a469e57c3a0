// Engine 1 in another form, for a factor Phi that is nearly square: it keeps the root B = Phi A of the arms'
// covariance, not A. A round takes two passes over n x r numbers and a joint draw takes one. WeightPosterior needs the
// same number of passes over both Phi and A.
#ifndef GPB_ROOT_POSTERIOR_H
#define GPB_ROOT_POSTERIOR_H

#include "posteriors/weight_posterior.h"

namespace gpb {

class RootPosterior : public ArmPosterior {
 public:
  RootPosterior(ArmTablePtr table, LowRankPtr basis, double noise_var, VectorXd prior_mean);
  Index rank() const override { return root_.cols(); }
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
  VectorXd response(const VectorXd& at_arm) const;  // c = B B_i'

  void take(const WeightFit& fit);

  LowRankPtr basis_;
  MatrixXd root_;  // B, n x r
};

}  // namespace gpb

#endif
