// Linear kernel: variance * sum_c x_c y_c, without a constant. Uses kernels/kernel.h.
#ifndef GPB_KERNEL_LINEAR_H
#define GPB_KERNEL_LINEAR_H

#include "kernels/kernel.h"

namespace gpb {

// Parameter, as a logarithm: variance.
class Linear final : public Kernel {
 public:
  Linear(std::vector<Index> dims, double variance);
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override { return 1; }
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  PriorPath draw_prior_path(Rng& rng, Index inputs, Index features) const override;
  std::unique_ptr<Kernel> clone() const override;

 private:
  std::vector<Index> dims_;
  double variance_;
};

}  // namespace gpb

#endif
