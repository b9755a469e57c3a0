#include "kernels/kernel_function.h"

#include <cmath>

#include "kernels/kernel_scaling.h"

namespace gpb {

namespace {
// Rows of a Gram matrix of which only the diagonal is wanted.
constexpr Index kDiagonalRows = 32;
}  // namespace

template <typename Rows>
MatrixXd FunctionKernel::inputs_of(const Rows& X) const {
  MatrixXd out(X.rows(), static_cast<Index>(dims_.size()));
  for (Index c = 0; c < out.cols(); ++c) out.col(c) = X.col(dims_[static_cast<std::size_t>(c)]);
  return out;
}

void FunctionKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  if (Y.rows() == 0) return;
  out = variance_ * f_(inputs_of(x.transpose()), inputs_of(Y)).row(0).transpose();
}

void FunctionKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  for (Index from = 0; from < X.rows(); from += kDiagonalRows) {
    const Index size = std::min(kDiagonalRows, X.rows() - from);
    const MatrixXd block = inputs_of(X.middleRows(from, size));
    out.segment(from, size) = variance_ * f_(block, block).diagonal();
  }
}

// All shifted points in one call; the step is best for second-order differences.
void FunctionKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  const Index d = static_cast<Index>(dims_.size());
  if (Y.rows() == 0 || d == 0) return;
  const MatrixXd here = inputs_of(x.transpose());
  MatrixXd shifted = here.replicate(2 * d, 1);
  VectorXd step(d);
  for (Index c = 0; c < d; ++c) {
    const double wanted = 6e-6 * std::max(1.0, std::abs(here(0, c)));
    shifted(2 * c, c) += wanted;
    shifted(2 * c + 1, c) -= wanted;
    step[c] = shifted(2 * c, c) - shifted(2 * c + 1, c);  // what rounding has left of it
  }
  const MatrixXd K = f_(shifted, inputs_of(Y));
  for (Index c = 0; c < d; ++c) {
    out.col(dims_[static_cast<std::size_t>(c)]) +=
        (variance_ / step[c]) * (K.row(2 * c) - K.row(2 * c + 1)).transpose();
  }
}

VectorXd FunctionKernel::log_parameters() const {
  return VectorXd::Constant(1, std::log(variance_));
}

void FunctionKernel::set_log_parameters(const VectorXd& theta) {
  check_parameter_count(theta, 1);
  variance_ = std::exp(theta[0]);
}

VectorXd FunctionKernel::parameter_gradient(const Points& X, const MatrixXd& W) const {
  const MatrixXd inputs = inputs_of(X);
  return VectorXd::Constant(1, variance_ * f_(inputs, inputs).cwiseProduct(W).sum());
}

void FunctionKernel::draw_feature(Rng&, Feature&) const {
  throw std::invalid_argument(
      "paths cannot be drawn from kernel_function(): joint draws need a finite domain");
}

std::unique_ptr<Kernel> FunctionKernel::clone() const {
  return std::make_unique<FunctionKernel>(*this);
}

}  // namespace gpb
