#include "growing_cholesky.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {
using ConstMap = Eigen::Map<const VectorXd>;

// Less noise than this part of the prior variance drowns in rounding: the matrix
// is then indefinite in floating point, and errors grow from row to row.
constexpr double kRounding = 1e-13;

double least_noise(double noise, double variance) { return std::max(noise, kRounding * variance); }

}  // namespace

void GrowingCholesky::reserve(Index size) {
  if (static_cast<std::size_t>(packed_start(size)) <= packed_.capacity()) return;
  // Some room to spare: whoever asks for many rows at once often appends a few more.
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
  for (Index i = 0; i < size_; ++i) {
    const double* before = this->row(i);
    row[i] = (row[i] - ConstMap(before, i).dot(ConstMap(row, i))) / before[i];
  }
  finish_row(row, variance - ConstMap(row, size_).squaredNorm(), least_noise(noise, variance));
}

void GrowingCholesky::finish_row(double* row, double conditional_variance, double noise) {
  row[size_] = std::sqrt(std::max(conditional_variance, 0.0) + noise);
  ++size_;
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
  // (Eigen's blocking divides by the inner dimension.)
  if (before > 0) left.selfadjointView<Eigen::Lower>().rankUpdate(solved.transpose(), -1.0);
  for (Index j = 0; j < added; ++j) {
    double* row = new_row();
    std::copy(solved.col(j).data(), solved.col(j).data() + before, row);
    for (Index k = 0; k < j; ++k) {
      const double* other = this->row(before + k) + before;
      row[before + k] =
          (left(j, k) - ConstMap(other, k).dot(ConstMap(row + before, k))) / other[k];
    }
    finish_row(row, left(j, j) - ConstMap(row + before, j).squaredNorm(),
               least_noise(noise[j], covariance(j, j)));
  }
}

void GrowingCholesky::forward(VectorXd& x, Index from) const {
  for (Index i = from; i < x.size(); ++i) {
    const double* r = row(i);
    x[i] = (x[i] - ConstMap(r, i).dot(x.head(i))) / r[i];
  }
}

void GrowingCholesky::backward(VectorXd& x) const {
  for (Index i = x.size() - 1; i >= 0; --i) {
    const double* r = row(i);
    x[i] /= r[i];
    x.head(i).noalias() -= x[i] * ConstMap(r, i);
  }
}

double GrowingCholesky::log_det() const {
  double sum = 0.0;
  for (Index i = 0; i < size_; ++i) sum += std::log(diagonal(i));
  return 2.0 * sum;
}

}  // namespace gpb
