// A covariance matrix over the arms of a finite domain. Uses kernels/kernel.h.
#ifndef GPB_KERNEL_MATRIX_H
#define GPB_KERNEL_MATRIX_H

#include "kernels/kernel.h"

namespace gpb {

// k(x, y) = K(arm of x, arm of y); column `arm_column` of a point is its arm's number.
// Has no parameters and no gradient. Clones share K, which never changes.
class MatrixKernel final : public Kernel {
 public:
  MatrixKernel(MatrixXd K, Index arm_column);
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override { return 0; }
  VectorXd log_parameters() const override { return VectorXd(0); }
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  std::unique_ptr<Kernel> clone() const override;

 private:
  Index arm(double number) const;

  std::shared_ptr<const MatrixXd> K_;
  mutable std::shared_ptr<const MatrixXd> root_;  // computed at the first draw
  Index arm_column_;
};

}  // namespace gpb

#endif
