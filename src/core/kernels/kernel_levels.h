// Kernel of levels that have numeric features. Uses kernels/kernel.h.
// It is v ((1 - own) k(phi_x, phi_y) + own [x = y]), with k a Matern correlation (nu = 5/2) of the levels' features
// phi. The kernel depends only on a table of the covariances of the levels.
#ifndef GPB_KERNEL_LEVELS_H
#define GPB_KERNEL_LEVELS_H

#include "kernels/kernel.h"

namespace gpb {

// Parameters, as logarithms: the lengthscale(s) of the features, own, variance.
class LevelKernel final : public Kernel {
 public:
  // input: the column of the level's number (from 1); of_features: a correlation whose last parameter is its variance.
  LevelKernel(Index input, MatrixXd features, std::unique_ptr<Kernel> of_features, double own, double variance);
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override { return of_features_->parameter_count() + 1; }
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  std::unique_ptr<Kernel> clone() const override;

 private:
  Index level(double number) const;
  void tabulate();

  Index input_;
  MatrixXd features_;
  std::unique_ptr<Kernel> of_features_;
  double own_, variance_;
  MatrixXd table_;  // correlations of the levels
};

}  // namespace gpb

#endif
