// Products, triangular systems, decompositions and growing factors, compiled once. Uses base/ only.
#include "linalg/decompositions.h"
#include "linalg/growing_cholesky.h"

#include "base/eigen_decompositions.h"
#include "linalg/floors.h"
#include "linalg/processors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- products -----------------------------------------------------------------------------------
// Each operation uses a single function of Eigen, to compile less: new results are set to 0 and added to.

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
  out.noalias() += scale * A * x;
}

void add_multiple_transposed(Eigen::Ref<VectorXd> out, double scale, const MatrixView& A, const VectorView& x) {
  out.noalias() += scale * A.transpose() * x;
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

// ---- factors that grow --------------------------------------------------------------------------

namespace {
using ConstMap = Eigen::Map<const VectorXd>;

constexpr int kTile = 4;  // rows at a time: x is read once for all of them

// Solves for kRows unknowns of L x = b; those before are solved already.
template <class Isa, int kRows>
GPB_INLINE void forward_rows(const double* packed, Index row, double* x) {
  using Register = typename Isa::Register;
  const double* r[kRows] = {};
  Register sum[kRows] = {};
#pragma GCC unroll 4
  for (int k = 0; k < kRows; ++k) r[k] = packed + packed_start(row + k);
  Index j = 0;
  for (; j + Isa::lanes <= row; j += Isa::lanes) {
    const Register known = at<Isa>(x + j).value;
#pragma GCC unroll 4
    for (int k = 0; k < kRows; ++k) sum[k] += at<Isa>(r[k] + j).value * known;
  }
  for (int k = 0; k < kRows; ++k) {
    double total = 0.0;
    for (int lane = 0; lane < Isa::lanes; ++lane) total += sum[k][lane];
    for (Index q = j; q < row + k; ++q) total += r[k][q] * x[q];
    x[row + k] = (x[row + k] - total) / r[k][row + k];
  }
}

template <class Isa>
GPB_INLINE void forward_for(const double* packed, Index from, Index size, double* x) {
  Index row = from;
  for (; row + kTile <= size; row += kTile) forward_rows<Isa, kTile>(packed, row, x);
  for (; row < size; ++row) forward_rows<Isa, 1>(packed, row, x);
}

// Solves for the last kRows unknowns of L'x = b, and subtracts their terms from the ones before.
template <class Isa, int kRows>
GPB_INLINE void backward_rows(const double* packed, Index row, double* x) {
  using Register = typename Isa::Register;
  const double* r[kRows] = {};
  for (int k = kRows - 1; k >= 0; --k) {
    r[k] = packed + packed_start(row + k);
    x[row + k] /= r[k][row + k];
    for (int q = 0; q < k; ++q) x[row + q] -= r[k][row + q] * x[row + k];
  }
  Index j = 0;
  for (; j + Isa::lanes <= row; j += Isa::lanes) {
    Register left = at<Isa>(x + j).value;
#pragma GCC unroll 4
    for (int k = 0; k < kRows; ++k) left -= at<Isa>(r[k] + j).value * x[row + k];
    at<Isa>(x + j).value = left;
  }
  for (; j < row; ++j) {
    for (int k = 0; k < kRows; ++k) x[j] -= r[k][j] * x[row + k];
  }
}

template <class Isa>
GPB_INLINE void backward_for(const double* packed, Index size, double* x) {
  Index end = size;
  for (; end >= kTile; end -= kTile) backward_rows<Isa, kTile>(packed, end - kTile, x);
  for (; end > 0; --end) backward_rows<Isa, 1>(packed, end - 1, x);
}

// Row i of L M, L_ij a_j + b_j (L_i,j+1 v_j+1 + ... + L_ii v_i), computed from the right to the left. Several rows are
// interleaved, because each sum depends on the entry before.
template <int kRows>
void multiply_row_tile(double* packed, Index row, const double* v, const double* a,
                       const double* b) {
  double* r[kRows];
  double sum[kRows] = {};
  const auto step = [&](int k, Index j) {
    const double entry = r[k][j];
    r[k][j] = entry * a[j] + b[j] * sum[k];
    sum[k] += entry * v[j];
  };
  for (int k = 0; k < kRows; ++k) {
    r[k] = packed + packed_start(row + k);
    for (Index j = row + k; j >= row; --j) step(k, j);
  }
  for (Index j = row - 1; j >= 0; --j) {
    for (int k = 0; k < kRows; ++k) step(k, j);
  }
}

void multiply_rows(double* packed, Index size, const double* v, const double* a,
                   const double* b) {
  Index row = 0;
  for (; row + kTile <= size; row += kTile) multiply_row_tile<kTile>(packed, row, v, a, b);
  for (; row < size; ++row) multiply_row_tile<1>(packed, row, v, a, b);
}

GPB_FOR_EACH_PROCESSOR(forward, (const double* packed, Index from, Index size, double* x),
                       (packed, from, size, x))
GPB_FOR_EACH_PROCESSOR(backward, (const double* packed, Index size, double* x), (packed, size, x))

}  // namespace

void GrowingCholesky::reserve(Index size) {
  if (static_cast<std::size_t>(packed_start(size)) <= packed_.capacity()) return;
  // Some extra room: after a reservation a few more rows are often appended.
  const std::size_t wanted = static_cast<std::size_t>(packed_start(size + size / 8 + 16));
  packed_.reserve(std::max(wanted, 2 * packed_.capacity()));
}

void GrowingCholesky::truncate(Index size) {
  size_ = std::min(size_, size);
  packed_.resize(static_cast<std::size_t>(packed_start(size_)));
}

double* GrowingCholesky::new_row() {
  reserve(size_ + 1);
  packed_.resize(static_cast<std::size_t>(packed_start(size_ + 1)));
  return packed_.data() + packed_start(size_);
}

void GrowingCholesky::append(const double* cross, double variance, double noise) {
  double* row = new_row();
  std::copy(cross, cross + size_, row);
  gpb::forward(packed(), 0, size_, row);
  finish_row(row, variance - ConstMap(row, size_).squaredNorm(), effective_noise(noise, variance));
}

void GrowingCholesky::finish_row(double* row, double conditional_variance, double noise) {
  row[size_] = std::sqrt(noisy_pivot(conditional_variance, noise));
  ++size_;
}

void GrowingCholesky::append_row(const double* entries, double pivot) {
  double* row = new_row();
  std::copy(entries, entries + size_, row);
  row[size_] = pivot;
  ++size_;
}

// Let d_j = 1 + sign (v_0^2 + ... + v_{j-1}^2). Then I + sign v v' = M M' for M_jj = a_j and M_kj = v_k b_j (k > j).
// Here a_j = sqrt(d_{j+1} / d_j) and b_j = sign v_j / sqrt(d_j d_{j+1}).
void GrowingCholesky::update(const VectorXd& v, double sign) {
  VectorXd a(size_), b(size_);
  double d = 1.0;
  for (Index j = 0; j < size_; ++j) {
    const double next = d + sign * v[j] * v[j];
    if (!(next > 0.0)) throw std::runtime_error("a covariance lost positive definiteness");
    a[j] = std::sqrt(next / d);
    b[j] = sign * v[j] / std::sqrt(d * next);
    d = next;
  }
  multiply_rows(packed_.data(), size_, v.data(), a.data(), b.data());
}

void GrowingCholesky::append(Panels& cross, const MatrixXd& covariance, const VectorXd& noise) {
  const Index before = size_;
  const Index added = cross.columns();
  reserve(before + added);
  forward_solve(packed(), 0, before, cross);
  MatrixXd solved(before, added);
  for (Index j = 0; j < added; ++j) {
    for (Index i = 0; i < before; ++i) solved(i, j) = cross(i, j);
  }
  MatrixXd left = covariance;
  add_crossprod_below(left, -1.0, solved);
  for (Index j = 0; j < added; ++j) {
    double* row = new_row();
    std::copy(solved.col(j).data(), solved.col(j).data() + before, row);
    for (Index k = 0; k < j; ++k) {
      const double* other = this->row(before + k) + before;
      row[before + k] =
          (left(j, k) - ConstMap(other, k).dot(ConstMap(row + before, k))) / other[k];
    }
    finish_row(row, left(j, j) - ConstMap(row + before, j).squaredNorm(),
               effective_noise(noise[j], covariance(j, j)));
  }
}

void GrowingCholesky::forward(VectorXd& x, Index from) const {
  gpb::forward(packed(), from, x.size(), x.data());
}

void GrowingCholesky::backward(VectorXd& x) const { gpb::backward(packed(), x.size(), x.data()); }

double GrowingCholesky::log_det() const {
  double sum = 0.0;
  for (Index i = 0; i < size_; ++i) sum += std::log(diagonal(i));
  return 2.0 * sum;
}

}  // namespace gpb
