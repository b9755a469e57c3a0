// A user's covariance function of two sets of points. Uses kernels/kernel.h.
#ifndef GPB_KERNEL_FUNCTION_H
#define GPB_KERNEL_FUNCTION_H

#include "kernels/kernel.h"

namespace gpb {

// variance * f(x, y) on the columns `dims`; its parameter is the variance. Gradients in the inputs are central
// differences. Paths cannot be drawn, because the spectrum of f is unknown.
class FunctionKernel final : public Kernel {
 public:
  using Gram = std::function<MatrixXd(const MatrixXd&, const MatrixXd&)>;

  FunctionKernel(Gram f, std::vector<Index> dims, double variance)
      : f_(std::move(f)), dims_(std::move(dims)), variance_(variance) {}
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override { return 1; }
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  std::unique_ptr<Kernel> clone() const override;

 private:
  template <typename Rows>
  MatrixXd inputs_of(const Rows& X) const;

  Gram f_;
  std::vector<Index> dims_;
  double variance_;
};

}  // namespace gpb

#endif
