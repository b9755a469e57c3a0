// Functions of kernel_function.h: a user's covariance function of two sets of points.
#include "kernels/kernel_function.h"

#include "kernels/kernel_scaling.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// Rows of a block of the Gram matrix, of which only the diagonal is used.
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
  out = variance_ * row_of(f_(inputs_of(as_rows(x)), inputs_of(Y)), 0);
}

void FunctionKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  for (Index from = 0; from < X.rows(); from += kDiagonalRows) {
    const Index size = std::min(kDiagonalRows, X.rows() - from);
    const MatrixXd block = inputs_of(X.middleRows(from, size));
    out.segment(from, size) = variance_ * f_(block, block).diagonal();
  }
}

// All shifted points in one call; the step is optimal for second-order differences.
void FunctionKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
  const Index d = static_cast<Index>(dims_.size());
  if (Y.rows() == 0 || d == 0) return;
  const MatrixXd here = inputs_of(as_rows(x));
  MatrixXd shifted = as_rows(row_of(here, 0), 2 * d);
  VectorXd step(d);
  for (Index c = 0; c < d; ++c) {
    const double wanted = 6e-6 * std::max(1.0, std::abs(here(0, c)));
    shifted(2 * c, c) += wanted;
    shifted(2 * c + 1, c) -= wanted;
    step[c] = shifted(2 * c, c) - shifted(2 * c + 1, c);  // the step after rounding
  }
  const MatrixXd K = f_(shifted, inputs_of(Y));
  for (Index c = 0; c < d; ++c) {
    out.col(dims_[static_cast<std::size_t>(c)]) +=
        (variance_ / step[c]) * (row_of(K, 2 * c) - row_of(K, 2 * c + 1));
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
  throw_invalid("paths cannot be drawn from kernel_function(): joint draws need a finite domain");
}

std::unique_ptr<Kernel> FunctionKernel::clone() const {
  return std::make_unique<FunctionKernel>(*this);
}

}  // namespace gpb
