// Functions of decompositions.h: decompositions and solutions of triangular systems, compiled once (see products.h).
#include "linalg/decompositions.h"

#include "base/eigen_decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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

// (As SelfAdjointEigenSolver(A), whose code for eigenvectors takes seconds to compile.)
VectorXd symmetric_eigenvalues(const MatrixXd& A) {
  const Index n = A.rows();
  if (n == 1) return VectorXd::Constant(1, A(0, 0));
  double scale = 0.0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) scale = std::max(scale, std::abs(A(i, j)));
  }
  if (scale == 0.0) scale = 1.0;
  MatrixXd scaled = A;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) scaled(i, j) /= scale;
  }
  const Eigen::Tridiagonalization<MatrixXd> tridiagonal(scaled);
  VectorXd diagonal(n), below(n - 1);
  for (Index i = 0; i < n; ++i) diagonal[i] = tridiagonal.packedMatrix()(i, i);
  for (Index i = 0; i + 1 < n; ++i) below[i] = tridiagonal.packedMatrix()(i + 1, i);
  Eigen::SelfAdjointEigenSolver<MatrixXd> solver(n);
  solver.computeFromTridiagonal(diagonal, below, Eigen::EigenvaluesOnly);
  VectorXd values = solver.eigenvalues();
  for (Index i = 0; i < n; ++i) values[i] *= scale;
  return values;
}

bool cholesky(MatrixXd& A) {
  return Eigen::LLT<Eigen::Ref<MatrixXd>>(A).info() == Eigen::Success;
}

namespace {

// sqrt(D) of K = P'L D L'P; entries of D that are negative by rounding count as 0.
VectorXd root_of_diagonal(const Eigen::LDLT<MatrixXd>& factor) {
  VectorXd root(factor.rows());
  for (Index i = 0; i < root.size(); ++i) root[i] = std::sqrt(std::max(factor.matrixLDLT()(i, i), 0.0));
  return root;
}

// X <- P'X.
void put_back(const Eigen::LDLT<MatrixXd>& factor, MatrixXd& X) {
  const auto& moved = factor.transpositionsP();
  for (Index i = X.rows() - 1; i >= 0; --i) {
    for (Index j = 0; j < X.cols(); ++j) std::swap(X(i, j), X(moved.coeff(i), j));
  }
}

}  // namespace

MatrixXd rooted(const MatrixXd& K, const MatrixXd& z) {
  const Eigen::LDLT<MatrixXd> factor(K);
  MatrixXd out = factor.matrixL() * scaled_rows(root_of_diagonal(factor), z);
  put_back(factor, out);
  return out;
}

MatrixXd semidefinite_root(const MatrixXd& K) {
  const Eigen::LDLT<MatrixXd> factor(K);
  const VectorXd root = root_of_diagonal(factor);
  MatrixXd out = MatrixXd::Zero(K.rows(), K.cols());
  for (Index j = 0; j < K.cols(); ++j) {
    out(j, j) = root[j];
    for (Index i = j + 1; i < K.rows(); ++i) out(i, j) = factor.matrixLDLT()(i, j) * root[j];
  }
  put_back(factor, out);
  return out;
}

// ---- with floors under the pivots ---------------------------------------------------------------

namespace {

// Factorises column by column, with each squared pivot at least its floor.
MatrixXd factor_above(const MatrixXd& A, const VectorXd& floor) {
  const Index n = A.rows();
  MatrixXd L = MatrixXd::Zero(n, n);
  for (Index j = 0; j < n; ++j) {
    VectorXd column(n - j), before(j);
    for (Index i = j; i < n; ++i) column[i - j] = A(i, j);
    for (Index k = 0; k < j; ++k) before[k] = L(j, k);
    if (j > 0) add_multiple(column, -1.0, L.block(j, 0, n - j, j), before);
    L(j, j) = std::sqrt(std::max(column[0], floor[j]));
    for (Index i = j + 1; i < n; ++i) L(i, j) = column[i - j] / L(j, j);
  }
  return L;
}

}  // namespace

// Eigen's blocked factorisation is used unless rounding leads to pivots below the floors.
FlooredCholesky::FlooredCholesky(MatrixXd A, const VectorXd& floor) : lower_(A) {
  bool sound = cholesky(lower_);
  for (Index i = 0; sound && i < floor.size(); ++i) sound = lower_(i, i) * lower_(i, i) >= 0.5 * floor[i];
  if (!sound) lower_ = factor_above(A, floor);
}

MatrixXd FlooredCholesky::matrix() const {
  MatrixXd out = MatrixXd::Zero(lower_.rows(), lower_.cols());
  for (Index j = 0; j < out.cols(); ++j) {
    for (Index i = j; i < out.rows(); ++i) out(i, j) = lower_(i, j);
  }
  return out;
}

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

double FlooredCholesky::log_det() const {
  double sum = 0.0;
  for (Index i = 0; i < lower_.rows(); ++i) sum += std::log(lower_(i, i));
  return 2.0 * sum;
}

}  // namespace gpb
