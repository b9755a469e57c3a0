// Functions of products.h: products of matrices, compiled once. Uses base/.
#include "linalg/products.h"

namespace gpb {

// Each operation uses a single function of Eigen, to compile less: new results are set to 0 and added to.
// An empty matrix has no memory, to which Eigen would bind a reference.

VectorXd multiply(const MatrixView& A, const VectorView& x) {
  VectorXd out = VectorXd::Zero(A.rows());
  add_multiple(out, 1.0, A, x);
  return out;
}

VectorXd multiply_transposed(const MatrixView& A, const VectorView& x) {
  VectorXd out = VectorXd::Zero(A.cols());
  add_multiple_transposed(out, 1.0, A, x);
  return out;
}

void add_multiple(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x) {
  if (A.size() > 0) out.noalias() += scale * A * x;
}

void add_multiple_transposed(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x) {
  if (A.size() > 0) out.noalias() += scale * A.transpose() * x;
}

namespace {

void add_product(Eigen::Ref<MatrixXd> out, double scale, const MatrixView& A, const MatrixView& B) {
  out.noalias() += scale * A * B;
}

void add_crossprod(Eigen::Ref<MatrixXd> out, double scale, const MatrixView& A, const MatrixView& B) {
  out.noalias() += scale * A.transpose() * B;
}

}  // namespace

MatrixXd product(const MatrixView& A, const MatrixView& B, double scale) {
  MatrixXd out = MatrixXd::Zero(A.rows(), B.cols());
  add_product(out, scale, A, B);
  return out;
}

MatrixXd crossprod(const MatrixView& A, const MatrixView& B) {
  MatrixXd out = MatrixXd::Zero(A.cols(), B.cols());
  add_crossprod(out, 1.0, A, B);
  return out;
}

MatrixXd tcrossprod(const MatrixView& A, const MatrixView& B) { return A * B.transpose(); }

void product_into(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B) {
  out.setZero();
  add_product(out, 1.0, A, B);
}

void subtract_product(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B) {
  add_product(out, -1.0, A, B);
}

void subtract_crossprod(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B) {
  add_crossprod(out, -1.0, A, B);
}

MatrixXd scaled_rows(const VectorXd& d, const MatrixXd& A) {
  MatrixXd out = A;
  for (Index j = 0; j < A.cols(); ++j) {
    for (Index i = 0; i < A.rows(); ++i) out(i, j) *= d[i];
  }
  return out;
}

MatrixXd scaled_both(const VectorXd& d, const MatrixXd& A) {
  MatrixXd out = A;
  for (Index j = 0; j < A.cols(); ++j) {
    for (Index i = 0; i < A.rows(); ++i) out(i, j) = d[i] * A(i, j) * d[j];
  }
  return out;
}

void add_to_diagonal(MatrixXd& A, const VectorXd& x) {
  for (Index i = 0; i < x.size(); ++i) A(i, i) += x[i];
}

void add_to_diagonal(MatrixXd& A, double x) {
  for (Index i = 0; i < A.rows(); ++i) A(i, i) += x;
}

// (Eigen's blocking divides by the inner dimension, which must not be 0.)
void add_tcrossprod_below(MatrixXd& C, double scale, const MatrixView& A) {
  if (A.cols() > 0) C.selfadjointView<Eigen::Lower>().rankUpdate(A, scale);
}

void add_crossprod_below(MatrixXd& C, double scale, const MatrixView& A) {
  if (A.rows() > 0) C.selfadjointView<Eigen::Lower>().rankUpdate(A.transpose(), scale);
}

}  // namespace gpb
