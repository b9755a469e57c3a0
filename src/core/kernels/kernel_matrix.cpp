// Functions of kernel_matrix.h: a covariance matrix over the arms of a finite domain. Uses linalg/.
#include "kernels/kernel_matrix.h"

#include "kernels/kernel_scaling.h"
#include "linalg/decompositions.h"

namespace gpb {

MatrixKernel::MatrixKernel(MatrixXd K, Index arm_column)
    : K_(std::make_shared<const MatrixXd>(std::move(K))), arm_column_(arm_column) {
  if (K_->rows() != K_->cols()) throw_invalid("a covariance matrix must be square");
}

Index MatrixKernel::arm(double number) const {
  if (!(number >= 0.0 && number < static_cast<double>(K_->rows()))) {
    throw_invalid("arm " + std::to_string(number) + " is not among the " +
                  std::to_string(K_->rows()) + " of the covariance matrix");
  }
  return static_cast<Index>(number);
}

void MatrixKernel::cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const {
  const auto column = K_->col(arm(x[arm_column_]));
  for (Index j = 0; j < Y.rows(); ++j) out[j] = column[arm(Y(j, arm_column_))];
}

void MatrixKernel::diagonal(const Points& X, Eigen::Ref<VectorXd> out) const {
  for (Index j = 0; j < X.rows(); ++j) {
    const Index i = arm(X(j, arm_column_));
    out[j] = (*K_)(i, i);
  }
}

void MatrixKernel::input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const {
  out.setZero(Y.rows(), x.size());
}

void MatrixKernel::set_log_parameters(const VectorXd& theta) { check_parameter_count(theta, 0); }

VectorXd MatrixKernel::parameter_gradient(const Points&, const MatrixXd&) const {
  return VectorXd(0);
}

// A draw of all arms at once, root z with root root' = K: exact.
void MatrixKernel::draw_feature(Rng& rng, Feature& feature) const {
  if (!root_) {
    root_ = std::make_shared<const MatrixXd>(semidefinite_root(*K_));
  }
  const VectorXd values = multiply(*root_, rng.normals(K_->rows()));
  if (feature.by_arm.size() > 0) feature.by_arm.array() *= values.array();
  else feature.by_arm = values;
  feature.arm_column = arm_column_;
}

std::unique_ptr<Kernel> MatrixKernel::clone() const { return std::make_unique<MatrixKernel>(*this); }

}  // namespace gpb
