// Functions of vectors.h: sums, differences and multiples of vectors, and rows of matrices, compiled once.
#include "base/vectors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

void add(const VectorXd& a, const VectorXd& b, VectorXd& out) {
  const double *from = a.data(), *more = b.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = from[i] + more[i];
}

void subtract(const VectorXd& a, const VectorXd& b, VectorXd& out) {
  const double *from = a.data(), *less = b.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = from[i] - less[i];
}

void scale(const VectorXd& x, double factor, VectorXd& out) {
  const double* from = x.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = factor * from[i];
}

void divide(const VectorXd& x, double divisor, VectorXd& out) {
  const double* from = x.data();
  double* to = out.data();
  for (Index i = 0; i < out.size(); ++i) to[i] = from[i] / divisor;
}

bool same(const VectorXd& a, const VectorXd& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

VectorXd times(const VectorXd& a, const VectorXd& b) {
  VectorXd out(a.size());
  for (Index i = 0; i < a.size(); ++i) out[i] = a[i] * b[i];
  return out;
}

VectorXd over(const VectorXd& a, const VectorXd& b) {
  VectorXd out(a.size());
  for (Index i = 0; i < a.size(); ++i) out[i] = a[i] / b[i];
  return out;
}

double largest_size(const VectorXd& x) { return x.cwiseAbs().maxCoeff(); }

VectorXd roots(VectorXd x) {
  for (Index i = 0; i < x.size(); ++i) x[i] = std::sqrt(x[i]);
  return x;
}

VectorXd logarithms(const VectorXd& x) { return x.array().log(); }

bool all_equal(const VectorXd& x, double value) {
  return std::all_of(x.data(), x.data() + x.size(), [value](double one) { return one == value; });
}

VectorXd clamped(VectorXd x, const VectorXd& lower, const VectorXd& upper) {
  for (Index i = 0; i < x.size(); ++i) x[i] = std::min(std::max(x[i], lower[i]), upper[i]);
  return x;
}

VectorXd segment_of(const VectorXd& x, Index from, Index count) {
  VectorXd out(count);
  std::copy(x.data() + from, x.data() + from + count, out.data());
  return out;
}

VectorXd joined(const VectorXd& a, const VectorXd& b) {
  VectorXd out(a.size() + b.size());
  std::copy(b.data(), b.data() + b.size(), std::copy(a.data(), a.data() + a.size(), out.data()));
  return out;
}

VectorXd joined(const VectorXd& a, double last) {
  VectorXd out(a.size() + 1);
  *std::copy(a.data(), a.data() + a.size(), out.data()) = last;
  return out;
}

VectorXd row_of(const MatrixXd& X, Index i, Index from, Index count) {
  VectorXd out(count);
  for (Index c = 0; c < count; ++c) out[c] = X(i, from + c);
  return out;
}

VectorXd row_of(const MatrixXd& X, Index i) { return row_of(X, i, 0, X.cols()); }

void set_row(MatrixXd& X, Index i, const VectorXd& x) {
  for (Index c = 0; c < X.cols(); ++c) X(i, c) = x[c];
}

MatrixXd as_rows(const VectorXd& x, Index times) {
  MatrixXd out(times, x.size());
  for (Index i = 0; i < times; ++i) set_row(out, i, x);
  return out;
}

void copy_row(MatrixXd& X, Index i, const MatrixXd& other, Index j) {
  for (Index c = 0; c < X.cols(); ++c) X(i, c) = other(j, c);
}

bool is_row(const MatrixXd& X, Index i, const VectorXd& x) {
  for (Index c = 0; c < X.cols(); ++c) {
    if (X(i, c) != x[c]) return false;
  }
  return true;
}

}  // namespace gpb
