// Functions of growing_cholesky.h: the Cholesky factor of a covariance matrix that grows by rows and columns.
#include "linalg/growing_cholesky.h"

#include "linalg/floors.h"
#include "linalg/processors.h"
#include "linalg/products.h"

#include <algorithm>
#include <cmath>

namespace gpb {

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
    if (!(next > 0.0)) throw_runtime("a covariance lost positive definiteness");
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
