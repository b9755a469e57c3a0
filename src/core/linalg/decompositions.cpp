#include "linalg/decompositions.h"

#include "base/eigen_decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- products -----------------------------------------------------------------------------------

VectorXd multiply(const MatrixView& A, const VectorView& x) { return A * x; }

VectorXd multiply_transposed(const MatrixView& A, const VectorView& x) { return A.transpose() * x; }

void add_multiple(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x) {
  out.noalias() += scale * A * x;
}

void add_multiple_transposed(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x) {
  out.noalias() += scale * A.transpose() * x;
}

MatrixXd product(const MatrixView& A, const MatrixView& B, double scale) { return scale * A * B; }

MatrixXd crossprod(const MatrixView& A, const MatrixView& B) { return A.transpose() * B; }

MatrixXd tcrossprod(const MatrixView& A, const MatrixView& B) { return A * B.transpose(); }

void product_into(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B) { out.noalias() = A * B; }

void subtract_product(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B) {
  out.noalias() -= A * B;
}

void subtract_crossprod(Eigen::Ref<MatrixXd> out, const MatrixView& A, const MatrixView& B) {
  out.noalias() -= A.transpose() * B;
}

// (Eigen's blocking divides by the inner dimension.)
void add_tcrossprod_below(MatrixXd& C, double scale, const MatrixView& A) {
  if (A.cols() > 0) C.selfadjointView<Eigen::Lower>().rankUpdate(A, scale);
}

void add_crossprod_below(MatrixXd& C, double scale, const MatrixView& A) {
  if (A.rows() > 0) C.selfadjointView<Eigen::Lower>().rankUpdate(A.transpose(), scale);
}

// ---- triangular systems -------------------------------------------------------------------------

namespace {
auto below(const MatrixView& L) { return L.triangularView<Eigen::Lower>(); }
auto above(const MatrixView& L) { return L.transpose().triangularView<Eigen::Upper>(); }  // L'
}  // namespace

void solve_lower(const MatrixView& L, Eigen::Ref<VectorXd> x) { below(L).solveInPlace(x); }

void solve_lower_transposed(const MatrixView& L, Eigen::Ref<VectorXd> x) { above(L).solveInPlace(x); }

void solve_lower_columns(const MatrixView& L, MatrixXd& X) { below(L).solveInPlace(X); }

void solve_lower_transposed_columns(const MatrixView& L, MatrixXd& X) { above(L).solveInPlace(X); }

void solve_lower_transposed_rows(const MatrixView& L, Eigen::Ref<MatrixXd> X) {
  above(L).solveInPlace<Eigen::OnTheRight>(X);
}

// ---- decompositions -----------------------------------------------------------------------------

VectorXd symmetric_eigenvalues(const MatrixXd& A) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(A, Eigen::EigenvaluesOnly).eigenvalues();
}

bool cholesky(MatrixXd& A) {
  return Eigen::LLT<Eigen::Ref<MatrixXd>>(A).info() == Eigen::Success;
}

MatrixXd rooted(const MatrixXd& K, const MatrixXd& z) {
  const Eigen::LDLT<MatrixXd> factor(K);
  const VectorXd root = factor.vectorD().cwiseMax(0.0).cwiseSqrt();
  MatrixXd out = factor.matrixL() * (root.asDiagonal() * z);
  out = factor.transpositionsP().transpose() * out;
  return out;
}

MatrixXd semidefinite_root(const MatrixXd& K) {
  const Eigen::LDLT<MatrixXd> factor(K);
  MatrixXd root = factor.matrixL();
  root *= factor.vectorD().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return factor.transpositionsP().transpose() * root;
}

// ---- with floors under the pivots ---------------------------------------------------------------

namespace {

// Column by column, each squared pivot at least its floor.
MatrixXd factor_above(const MatrixXd& A, const VectorXd& floor) {
  const Index n = A.rows();
  MatrixXd L = MatrixXd::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    VectorXd column = A.col(j).tail(n - j);
    if (j > 0) {
      const VectorXd before = L.row(j).head(j).transpose();
      add_multiple(column, -1.0, L.block(j, 0, n - j, j), before);
    }
    L(j, j) = std::sqrt(std::max(column[0], floor[j]));
    L.col(j).tail(n - j - 1) = column.tail(n - j - 1) / L(j, j);
  }
  return L;
}

}  // namespace

// Eigen's blocked factorisation serves wherever rounding has not reached the floors.
FlooredCholesky::FlooredCholesky(MatrixXd A, const VectorXd& floor) : lower_(A) {
  const bool sound = cholesky(lower_) && (lower_.diagonal().array().square() >= 0.5 * floor.array()).all();
  if (!sound) lower_ = factor_above(A, floor);
}

MatrixXd FlooredCholesky::matrix() const { return below(lower_); }

VectorXd FlooredCholesky::multiply(const VectorXd& z) const { return below(lower_) * z; }

VectorXd FlooredCholesky::solve(VectorXd b) const {
  solve_lower(lower_, b);
  solve_lower_transposed(lower_, b);
  return b;
}

MatrixXd FlooredCholesky::inverse_transposed() const {
  MatrixXd out = MatrixXd::Identity(lower_.rows(), lower_.cols());
  solve_lower_transposed_columns(lower_, out);
  return out;
}

double FlooredCholesky::log_det() const { return 2.0 * lower_.diagonal().array().log().sum(); }

}  // namespace gpb
