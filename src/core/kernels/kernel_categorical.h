// Kernel of inputs without an order: variance * prod_c correlation_c^[x_c != y_c]. Uses kernels/kernel.h.
#ifndef GPB_KERNEL_CATEGORICAL_H
#define GPB_KERNEL_CATEGORICAL_H

#include "kernels/kernel.h"

namespace gpb {

// Parameters, as logarithms: correlation(s), variance.
class Categorical final : public Kernel {
 public:
  // correlation: one for each of `dims`; `shared`: all of them are one parameter.
  Categorical(std::vector<Index> dims, VectorXd correlation, bool shared, double variance);
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override { return (shared_ ? 1 : correlation_.size()) + 1; }
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  std::unique_ptr<Kernel> clone() const override;

 private:
  void check_correlation() const;

  std::vector<Index> dims_;
  VectorXd correlation_;
  bool shared_;
  double variance_;
};

}  // namespace gpb

#endif
