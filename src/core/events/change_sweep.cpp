// Functions of change_sweep.h: change-point detection by kernel ridge regression on the halves of every tail
// (Avanesov). Uses linalg/ and kernels/.
#include "events/change_sweep.h"

#include "linalg/decompositions.h"
#include "linalg/floors.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// The factor of K + ridge I.
FlooredCholesky ridged_factor(MatrixXd K, double ridge) {
  const double noise = effective_noise(ridge, K.diagonal().maxCoeff());
  for (Index i = 0; i < K.rows(); ++i) K(i, i) += noise;
  return FlooredCholesky(K, noise);
}

// L L' <- L L' + v v' on the lower triangle (plane rotations); overwrites v.
void rank_one_update(MatrixXd& L, VectorXd& v) {
  const Index n = L.rows();
  for (Index k = 0; k < n; ++k) {
    const double r = std::hypot(L(k, k), v[k]);
    const double c = r / L(k, k), s = v[k] / L(k, k);
    L(k, k) = r;
    for (Index i = k + 1; i < n; ++i) {
      L(i, k) = (L(i, k) + s * v[i]) / c;
      v[i] = c * v[i] - s * L(i, k);
    }
  }
}

// Sets row and column number values.size() - 1 of a symmetric matrix.
void border(MatrixXd& m, const VectorXd& values) {
  const Index last = values.size() - 1;
  for (Index i = 0; i <= last; ++i) m(last, i) = m(i, last) = values[i];
}

void grow(MatrixXd& m, Index size) {
  if (m.rows() >= size) return;
  const Index wanted = std::max<Index>(16, 2 * size);
  MatrixXd larger = MatrixXd::Zero(wanted, wanted);
  larger.topLeftCorner(m.rows(), m.cols()) = m;
  m.swap(larger);
}

}  // namespace

void PointAverage::append(const std::vector<VectorXd>& points, const MatrixXd&,
                          MatrixXd& products) {
  const Index t = static_cast<Index>(points.size()) - 1, n = domain_->rows();
  if (over_domain_.cols() <= t) {
    over_domain_.conservativeResize(n, std::max<Index>(16, 2 * (t + 1)));
  }
  VectorXd row(n);
  kernel_->cross(points.back(), *domain_, row);
  over_domain_.col(t) = row;
  const VectorXd averages =
      multiply_transposed(over_domain_.leftCols(t + 1), row) / static_cast<double>(n);
  border(products, averages);
}

// The new point adds a term to each entry; the new row is a sum over all points.
void SampledAverage::append(const std::vector<VectorXd>& points, const MatrixXd& gram,
                            MatrixXd& products) {
  pairs_ = static_cast<Index>(points.size());
  const Index t = pairs_ - 1;
  const VectorXd row = gram.col(t).head(t);
  for (Index j = 0; j < t; ++j) {
    for (Index i = 0; i < t; ++i) products(i, j) += row[i] * row[j];
  }
  const VectorXd sums = multiply(gram.topLeftCorner(t + 1, t + 1), gram.col(t).head(t + 1));
  border(products, sums);
}

double SquaredExponentialAverage::value(const VectorXd& a, const VectorXd& b) const {
  double out = variance_ * variance_;
  for (Index c = 0; c < lower_.size(); ++c) {
    const double l = lengthscale_[c];
    if (!std::isfinite(l)) continue;
    const double gap = (a[c] - b[c]) / (2.0 * l), m = 0.5 * (a[c] + b[c]);
    out *= std::exp(-gap * gap) * 0.5 * std::sqrt(kPi) * l / (upper_[c] - lower_[c]) *
           (std::erf((upper_[c] - m) / l) - std::erf((lower_[c] - m) / l));
  }
  return out;
}

void SquaredExponentialAverage::append(const std::vector<VectorXd>& points, const MatrixXd&,
                                       MatrixXd& products) {
  const Index t = static_cast<Index>(points.size()) - 1;
  for (Index a = 0; a <= t; ++a) {
    products(t, a) = value(points[static_cast<std::size_t>(a)], points.back());
    products(a, t) = products(t, a);
  }
}

ChangeSweep::ChangeSweep(KernelPtr kernel, std::unique_ptr<Averaging> average, Rate threshold,
                         Rate ridge, bool dyadic)
    : kernel_(std::move(kernel)),
      average_(std::move(average)),
      threshold_(std::move(threshold)),
      ridge_(std::move(ridge)),
      dyadic_(dyadic) {}

void ChangeSweep::clear() {
  x_.clear();
  y_.clear();
  windows_.clear();
  average_->clear();
}

void ChangeSweep::grow_matrices(const VectorXd& x) {
  const Index t = static_cast<Index>(x_.size());
  grow(gram_, t + 1);
  grow(products_, t + 1);
  x_.push_back(x);
  for (Index a = 0; a <= t; ++a) {
    gram_(t, a) = kernel_->value(x_[static_cast<std::size_t>(a)], x);
    gram_(a, t) = gram_(t, a);
  }
  average_->append(x_, gram_, products_);
}

// Moves the window to the last q pairs: removes its oldest pair and adds the newest.
void ChangeSweep::slide(Window& window, Index q) {
  const Index end = size(), first = end - q;
  MatrixXd& L = window.factor;
  if (L.rows() != q) {
    L = ridged_factor(gram_.block(first, first, q, q), window.ridge).matrix();
  } else {
    if (q > 1) {
      VectorXd dropped = L.col(0).tail(q - 1);
      MatrixXd rest = L.bottomRightCorner(q - 1, q - 1);
      rank_one_update(rest, dropped);
      VectorXd row = row_of(gram_, end - 1, first, q - 1);
      solve_lower(rest, row);
      L.topLeftCorner(q - 1, q - 1) = rest;
      for (Index c = 0; c + 1 < q; ++c) L(q - 1, c) = row[c];
    }
    const double variance = gram_(end - 1, end - 1);
    double explained = 0.0;
    for (Index c = 0; c + 1 < q; ++c) explained += L(q - 1, c) * L(q - 1, c);
    const double left = variance - explained;
    L(q - 1, q - 1) = std::sqrt(noisy_pivot(left, effective_noise(window.ridge, variance)));
  }
  VectorXd weights = Eigen::Map<const VectorXd>(y_.data() + first, q);
  solve_lower(L, weights);
  solve_lower_transposed(L, weights);
  window.weights.push_back(std::move(weights));
}

double ChangeSweep::statistic(const VectorXd& older, const VectorXd& newer) const {
  const Index q = older.size();
  VectorXd w(2 * q);
  for (Index i = 0; i < q; ++i) {
    w[i] = older[i];
    w[q + i] = -newer[i];
  }
  const Index first = size() - 2 * q;
  return w.dot(multiply(products_.block(first, first, 2 * q, 2 * q), w)) / average_->divisor();
}

double ChangeSweep::largest(const VectorXd& x, double y) {
  grow_matrices(x);
  y_.push_back(y);
  double out = 0.0;
  for (Index q = 1; q <= size(); ++q) {
    // Windows that no tail can use yet as its older half are needed later.
    if (static_cast<Index>(windows_.size()) < q) windows_.emplace_back();
    if (dyadic_ && (q & (q - 1)) != 0) continue;
    Window& window = windows_[static_cast<std::size_t>(q - 1)];
    if (window.ridge == 0.0) {
      window.ridge = ridge_(static_cast<double>(q));
      window.threshold = threshold_(static_cast<double>(q));
    }
    slide(window, q);
    const auto kept = static_cast<Index>(window.weights.size());
    if (kept <= q) continue;
    const double difference =
        statistic(window.weights[static_cast<std::size_t>(kept - 1 - q)], window.weights.back());
    out = std::max(out, difference / window.threshold);
    window.weights.erase(window.weights.begin());
  }
  return out;
}

double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        const Points& domain) {
  const Index q = y.size() / 2;
  VectorXd difference = VectorXd::Zero(domain.rows());
  for (Index half = 0; half < 2; ++half) {
    const Points part = x.middleRows(half * q, q);
    const VectorXd weights =
        ridged_factor(kernel.gram(part), ridge).solve(segment_of(y, half * q, q));
    difference += (half == 0 ? 1.0 : -1.0) * multiply(kernel.gram(domain, part), weights);
  }
  return difference.squaredNorm() / static_cast<double>(domain.rows());
}

double change_statistic(const Kernel& kernel, const Points& x, const VectorXd& y, double ridge,
                        Averaging& average) {
  const Index q = y.size() / 2;
  const MatrixXd gram = kernel.gram(x);
  MatrixXd products = MatrixXd::Zero(2 * q, 2 * q);
  std::vector<VectorXd> points;
  VectorXd w(2 * q);
  for (Index i = 0; i < 2 * q; ++i) {
    points.push_back(row_of(x, i));
    average.append(points, gram, products);
  }
  for (Index half = 0; half < 2; ++half) {
    const FlooredCholesky factor =
        ridged_factor(gram.block(half * q, half * q, q, q), ridge);
    const VectorXd solved = factor.solve(segment_of(y, half * q, q));
    for (Index i = 0; i < q; ++i) w[half * q + i] = half == 0 ? solved[i] : -solved[i];
  }
  return w.dot(multiply(products, w)) / average.divisor();
}

}  // namespace gpb
