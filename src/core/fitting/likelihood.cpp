// Functions of likelihood.h: the marginal likelihood of Gaussian-process regression and its gradient. Uses linalg/ and
// kernels/.
#include "fitting/likelihood.h"

#include "linalg/floors.h"
#include "linalg/mirror.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gpb {

namespace {

constexpr Index kStrip = 32;  // columns of the Gram matrix that share one copy of the points

}  // namespace

std::vector<Index> point_numbers(const Points& X) {
  const auto before = [&](Index a, Index b) {
    for (Index c = 0; c < X.cols(); ++c) {
      if (X(a, c) != X(b, c)) return X(a, c) < X(b, c);
    }
    return false;
  };
  std::map<Index, Index, decltype(before)> seen(before);
  std::vector<Index> numbers;
  for (Index i = 0; i < X.rows(); ++i) {
    numbers.push_back(seen.emplace(i, static_cast<Index>(seen.size())).first->second);
  }
  return numbers;
}

PooledMeasurements::PooledMeasurements(const Measurements& measurements) {
  const Points& X = measurements.X;
  const std::vector<Index> numbers = point_numbers(X);
  const Index points = 1 + *std::max_element(numbers.begin(), numbers.end());
  X_.resize(points, X.cols());
  for (VectorXd* sums : {&shared_, &counts_, &own_, &precision_}) sums->setZero(points);
  for (Index i = 0; i < X.rows(); ++i) {
    const Index point = numbers[static_cast<std::size_t>(i)];
    copy_row(X_, point, X, i);
    const double noise = measurements.own_noise.size() > 0 ? measurements.own_noise[i] : kNaN;
    const bool owned = !std::isnan(noise);
    const double count = measurements.count(i), weight = owned ? count / noise : count;
    observations_ += count;
    double& average = owned ? own_[point] : shared_[point];
    double& sum = owned ? precision_[point] : counts_[point];
    const double step = measurements.y[i] - average;
    sum += weight;
    average += step * weight / sum;
    (owned ? own_spread_ : spread_) += weight * step * (measurements.y[i] - average);
    if (owned) own_log_noise_ += count * std::log(noise);
    scales_ = scales_ && !owned;
  }
}

// Let c observations have noise lambda and average a, and others precision w and average b. With t = c + lambda w, all
// of them have average a + (b - a) lambda w / t and noise lambda / t.
void PooledMeasurements::weigh(double noise, double least) {
  const Index n = size();
  noise_ = noise;
  VectorXd spread(n);
  for (VectorXd* made : {&effective_, &y_, &pooled_}) made->resize(n);
  for (Index i = 0; i < n; ++i) {
    const double lambda_w = noise_ * precision_[i], gap = own_[i] - shared_[i];
    effective_[i] = counts_[i] + lambda_w;
    y_[i] = shared_[i] + gap * (lambda_w / effective_[i]);
    pooled_[i] = std::max(noise_ / effective_[i], least);
    spread[i] = gap * gap * counts_[i] * precision_[i] / effective_[i];
  }
  spread_over_noise_ = spread_ / noise_ + own_spread_ + spread.sum();
}

double PooledMeasurements::log_det(double of_averages) const {
  return of_averages + repeats() * std::log(noise_) + effective_.array().log().sum() + own_log_noise_;
}

double PooledMeasurements::slope_by_noise(const VectorXd& diagonal, const VectorXd& alpha, double scale) const {
  const Index n = size();
  VectorXd pull(n), apart(n), rest(n);
  double by_shared = 0.0;
  for (Index i = 0; i < n; ++i) {
    const double share = counts_[i] / effective_[i];  // proportion of the observations with the likelihood's noise
    const double gap = (own_[i] - shared_[i]) * precision_[i] / effective_[i];
    by_shared += share * pooled_[i] * diagonal[i];
    pull[i] = share * (y_[i] - shared_[i]);
    apart[i] = gap * gap * counts_[i];
    rest[i] = counts_[i] - share;
  }
  return by_shared - 2.0 * scale * pull.dot(alpha) +
         scale * (spread_ / noise_ + noise_ * apart.sum()) - rest.sum();
}

GaussianEvidence::GaussianEvidence(const Kernel& kernel, const Measurements& measurements, bool fit_mean)
    : kernel_(kernel.clone()), data_(measurements), fit_mean_(fit_mean) {}

void GaussianEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  const Index count = kernel_->parameter_count();
  kernel_->set_log_parameters(segment_of(parameters, 0, count));
  VectorXd diagonal(data_.size());
  kernel_->diagonal(data_.X(), diagonal);
  const double largest = diagonal.maxCoeff();
  data_.weigh(std::max(std::exp(parameters[count]), least_noise(largest)), kLeastPooledNoise * largest);
  const Solved found = solve(want_gradient);
  log_det_ = found.log_det;
  mean_ = 0.0;
  quadratic_ = found.yy;
  if (fit_mean_) {
    mean_ = found.y1 / found.ones;
    mean_precision_ = found.ones;
    quadratic_ = found.yy - found.y1 * mean_;
  }
  quadratic_ = std::max(quadratic_, 0.0) + data_.spread_over_noise();
}

double GaussianEvidence::log_scale() const { return std::log(quadratic_ / data_.observations()); }

double GaussianEvidence::value(double log_scale) const {
  const double n = data_.observations();
  return -0.5 * (quadratic_ * std::exp(-log_scale) + n * log_scale + data_.log_det(log_det_) + n * kLog2Pi);
}

double GaussianEvidence::scale_slope(double log_scale) const {
  return 0.5 * (quadratic_ * std::exp(-log_scale) - data_.observations());
}

// With alpha = A^-1 r and W = alpha alpha' - A^-1 the gradient is sum_ij W_ij dA_ij / 2. The derivative by the mean is
// 0 if the mean is optimal.
VectorXd GaussianEvidence::gradient(double log_scale) const {
  const double scale = std::exp(-log_scale);
  const Slopes found = slopes(scale);
  return 0.5 * joined(found.by_kernel, data_.slope_by_noise(found.diagonal, found.alpha, scale));
}

void GaussianEvidence::fill(SymmetricSweep& sweep, const Points& X, const VectorXd& y, const VectorXd& noise) const {
  const Index n = X.rows();
  VectorXd column(n);
  for (Index first = 0; first < n; first += kStrip) {
    const Points below = X.bottomRows(n - first);
    for (Index j = first; j < std::min(first + kStrip, n); ++j) {
      kernel().cross(row_of(below, j - first), below, column.head(n - first));
      auto target = sweep.lower_column(j);
      target.head(n - j) = column.segment(j - first, n - j);
      target[0] += noise[j];
      target[n - j] = y[j];
      if (fits_mean()) target[n - j + 1] = 1.0;
    }
  }
  for (Index j = n; j < n + border(); ++j) sweep.lower_column(j).setZero();
}

VectorXd GaussianEvidence::solution(const SymmetricSweep& sweep, Index count) const {
  const Index n = sweep.order();
  VectorXd out(count);
  for (Index i = 0; i < count; ++i) out[i] = sweep(n, i) - (fits_mean() ? mean() * sweep(n + 1, i) : 0.0);
  return out;
}

MarginalLikelihood::MarginalLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean)
    : GaussianEvidence(kernel, measurements, fit_mean), sweep_(data().size(), border()) {}

// The corner of the swept matrix becomes -[y'A^-1 y; 1'A^-1 y  1'A^-1 1].
GaussianEvidence::Solved MarginalLikelihood::solve(bool want_gradient) {
  const Index n = data().size();
  fill(sweep_, data().X(), data().y(), data().noise());
  sweep_.run(data().noise().minCoeff(), want_gradient);
  if (!fits_mean()) return {sweep_.log_det(), -sweep_(n, n), 0.0, 0.0};
  return {sweep_.log_det(), -sweep_(n, n), -sweep_(n + 1, n), -sweep_(n + 1, n + 1)};
}

GaussianEvidence::Slopes MarginalLikelihood::slopes(double scale) const {
  const Index n = data().size();
  const VectorXd alpha = solution(sweep_, n);
  MatrixXd W(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) W(i, j) = scale * alpha[j] * alpha[i] + sweep_(i, j);
  }
  mirror_lower(W);
  return {kernel().parameter_gradient(data().X(), W), W.diagonal(), alpha};
}

}  // namespace gpb
