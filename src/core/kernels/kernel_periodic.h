// Periodic kernel: variance * exp(-2 sum_c sin^2(pi (x_c - y_c) / p_c) / l_c^2). Uses kernels/.
#ifndef GPB_KERNEL_PERIODIC_H
#define GPB_KERNEL_PERIODIC_H

#include "kernels/kernel.h"
#include "kernels/kernel_scaling.h"

namespace gpb {

// Parameters, as logarithms: period(s), lengthscale(s), variance.
class Periodic final : public Kernel {
 public:
  Periodic(Scaling scaling, VectorXd period, bool one_period, double variance);
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  Index parameter_count() const override;
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  std::unique_ptr<Kernel> clone() const override;

 private:
  Index period_count() const { return one_period_ ? 1 : scaling_.size(); }
  void correlation(const VectorXd& x, const Points& Y, Index start, ArrayRef out) const;
  void angle(Index c, const VectorXd& x, const Points& Y, Index start, ArrayRef out) const;
  void add_gradient(const VectorXd& x, const Points& Y, Index start, Block weight,
                    VectorXd& gradient) const;

  Scaling scaling_;
  VectorXd period_;  // one for each of the dims
  bool one_period_;
  double variance_;
};

}  // namespace gpb

#endif
