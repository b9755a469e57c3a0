// The covariance of differences of f, and of these with f itself. Uses kernels/kernel.h.
// A row with twice the number of inputs of f is a difference: f at the first half minus f at the second half.
#ifndef GPB_KERNEL_DIFFERENCES_H
#define GPB_KERNEL_DIFFERENCES_H

#include "kernels/kernel.h"

namespace gpb {

class DifferenceKernel final : public Kernel {
 public:
  explicit DifferenceKernel(KernelPtr base) : base_(std::move(base)) {}
  // Sets the number of inputs of f. Until then no row is a difference.
  void set_inputs(Index inputs) { inputs_ = inputs; }

  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override {
    cross_with(x.head(of(x.size())), Y, out);
    if (!is_difference(x.size())) return;
    VectorXd less(Y.rows());
    cross_with(x.tail(inputs_), Y, less);
    out -= less;
  }
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override {
    if (!is_difference(X.cols())) return base_->diagonal(X, out);
    for (Index i = 0; i < X.rows(); ++i) {
      VectorXd one(1);
      cross(X.row(i).transpose(), X.row(i), one);
      out[i] = one[0];
    }
  }
  // For values of f only, not for differences.
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override {
    if (!is_difference(Y.cols())) return base_->input_gradient(x, Y, out);
    MatrixXd less;
    base_->input_gradient(x, Y.leftCols(inputs_), out);
    base_->input_gradient(x, Y.rightCols(inputs_), less);
    out -= less;
  }
  Index parameter_count() const override { return base_->parameter_count(); }
  VectorXd log_parameters() const override { return base_->log_parameters(); }
  void set_log_parameters(const VectorXd& theta) override { base_->set_log_parameters(theta); }
  VectorXd parameter_gradient(const Points&, const MatrixXd&) const override {
    throw_logic("differences are not fitted");
  }
  void draw_feature(Rng&, Feature&) const override {
    throw_invalid("no paths are drawn from comparisons");
  }
  std::unique_ptr<Kernel> clone() const override {
    auto out = std::make_unique<DifferenceKernel>(base_->clone());
    out->set_inputs(inputs_);
    return out;
  }

 private:
  bool is_difference(Index columns) const { return inputs_ > 0 && columns == 2 * inputs_; }
  Index of(Index columns) const { return is_difference(columns) ? inputs_ : columns; }
  void cross_with(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
    if (!is_difference(Y.cols())) return base_->cross(x, Y, out);
    VectorXd less(Y.rows());
    base_->cross(x, Y.leftCols(inputs_), out);
    base_->cross(x, Y.rightCols(inputs_), less);
    out -= less;
  }

  KernelPtr base_;
  Index inputs_ = 0;
};

}  // namespace gpb

#endif
