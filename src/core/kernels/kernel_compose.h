// Sums and products of kernels. Their parameters are those of the parts, in order. Uses kernels/kernel.h.
#ifndef GPB_KERNEL_COMPOSE_H
#define GPB_KERNEL_COMPOSE_H

#include "kernels/kernel.h"

namespace gpb {

class CompositeKernel : public Kernel {
 public:
  explicit CompositeKernel(std::vector<std::unique_ptr<Kernel>> parts);
  CompositeKernel(const CompositeKernel& other);
  CompositeKernel& operator=(const CompositeKernel&) = delete;
  Index parameter_count() const override;
  VectorXd log_parameters() const override;
  void set_log_parameters(const VectorXd& theta) override;
  const std::vector<std::unique_ptr<Kernel>>& parts() const { return parts_; }

 protected:
  std::vector<std::unique_ptr<Kernel>> parts_;
};

class SumKernel final : public CompositeKernel {
 public:
  using CompositeKernel::CompositeKernel;
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  PriorPath draw_prior_path(Rng& rng, Index inputs, Index features) const override;
  std::unique_ptr<Kernel> clone() const override;
};

class ProductKernel final : public CompositeKernel {
 public:
  using CompositeKernel::CompositeKernel;
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override;
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override;
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override;
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override;
  void draw_feature(Rng& rng, Feature& feature) const override;
  std::unique_ptr<Kernel> clone() const override;
};

}  // namespace gpb

#endif
