#include "fitting/likelihood.h"

#include "linalg/floors.h"
#include "linalg/mirror.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gpb {

namespace {

constexpr double kLog2Pi = 1.8378770664093454836;
constexpr Index kStrip = 32;  // columns of the Gram matrix that share one copy of the points

// For every row the number of its point, counted in the order of first appearance.
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

}  // namespace

MarginalLikelihood::MarginalLikelihood(const Kernel& kernel, const Readings& readings,
                                       bool fit_mean)
    : kernel_(kernel.clone()), fit_mean_(fit_mean), sweep_(0, 0) {
  pool(readings);
  sweep_ = SymmetricSweep(size(), fit_mean ? 2 : 1);
}

void MarginalLikelihood::pool(const Readings& readings) {
  const Points& X = readings.X;
  const std::vector<Index> numbers = point_numbers(X);
  const Index points = 1 + *std::max_element(numbers.begin(), numbers.end());
  X_.resize(points, X.cols());
  for (VectorXd* sums : {&shared_, &counts_, &own_, &precision_}) sums->setZero(points);
  observations_ = static_cast<double>(X.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    const Index point = numbers[static_cast<std::size_t>(i)];
    X_.row(point) = X.row(i);
    const double noise = readings.own_noise.size() > 0 ? readings.own_noise[i] : kNaN;
    const bool owned = !std::isnan(noise);
    const double weight = owned ? 1.0 / noise : 1.0;
    double& average = owned ? own_[point] : shared_[point];
    double& sum = owned ? precision_[point] : counts_[point];
    const double step = readings.y[i] - average;
    sum += weight;
    average += step * weight / sum;
    (owned ? own_spread_ : spread_) += weight * step * (readings.y[i] - average);
    if (owned) own_log_noise_ += std::log(noise);
    scales_ = scales_ && !owned;
  }
}

// With c observations of noise lambda and average a, and others of precision w and average b:
// t = c + lambda w, average a + (b - a) lambda w / t, noise lambda / t.
void MarginalLikelihood::weigh(double least) {
  const auto lambda_w = noise_ * precision_.array();
  const auto gap = own_.array() - shared_.array();
  effective_ = counts_.array() + lambda_w;
  y_ = shared_.array() + gap * (lambda_w / effective_.array());
  pooled_ = (noise_ / effective_.array()).max(least);
  spread_over_noise_ = spread_ / noise_ + own_spread_ +
                       (gap.square() * counts_.array() * precision_.array() / effective_.array()).sum();
}

// Below the matrix stand y and, to find the mean, a row of ones.
void MarginalLikelihood::fill_covariance() {
  const Index n = size();
  VectorXd column(n);
  for (Index first = 0; first < n; first += kStrip) {
    const Points below = X_.bottomRows(n - first);
    for (Index j = first; j < std::min(first + kStrip, n); ++j) {
      kernel_->cross(below.row(j - first).transpose(), below, column.head(n - first));
      auto target = sweep_.lower_column(j);
      target.head(n - j) = column.segment(j - first, n - j);
      target[0] += pooled_[j];
      target[n - j] = y_[j];
      if (fit_mean_) target[n - j + 1] = 1.0;
    }
  }
  for (Index j = n; j < n + (fit_mean_ ? 2 : 1); ++j) sweep_.lower_column(j).setZero();
}

void MarginalLikelihood::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  const Index count = kernel_->parameter_count();
  kernel_->set_log_parameters(parameters.head(count));
  VectorXd diagonal(size());
  kernel_->diagonal(X_, diagonal);
  noise_ = std::max(std::exp(parameters[count]), kLeastNoise * diagonal.maxCoeff());
  weigh(kLeastPooledNoise * diagonal.maxCoeff());
  fill_covariance();
  sweep_.run(pooled_.minCoeff(), want_gradient);
  solve_mean();
}

// The corner is now -[y'A^-1 y; 1'A^-1 y  1'A^-1 1].
void MarginalLikelihood::solve_mean() {
  const Index n = size();
  const double yy = -sweep_(n, n);
  mean_ = 0.0;
  quadratic_ = yy;
  if (fit_mean_) {
    const double y1 = -sweep_(n + 1, n), ones = -sweep_(n + 1, n + 1);
    mean_ = y1 / ones;
    quadratic_ = yy - y1 * mean_;
  }
  quadratic_ = std::max(quadratic_, 0.0) + spread_over_noise_;
}

double MarginalLikelihood::log_scale() const {
  return std::log(quadratic_ / observations_);
}

double MarginalLikelihood::value(double log_scale) const {
  const double n = observations_;
  const double log_det = sweep_.log_det() + repeats() * std::log(noise_) +
                         effective_.array().log().sum() + own_log_noise_;
  return -0.5 * (quadratic_ * std::exp(-log_scale) + n * log_scale + log_det + n * kLog2Pi);
}

double MarginalLikelihood::scale_slope(double log_scale) const {
  return 0.5 * (quadratic_ * std::exp(-log_scale) - observations_);
}

// With alpha = A^-1 r and W = alpha alpha' - A^-1: sum_ij W_ij dA_ij / 2. The noise also moves the
// averages (towards those with noise of their own, the larger it is) and the spread about them. The
// mean's own derivative is 0 where it is the best one.
VectorXd MarginalLikelihood::gradient(double log_scale) const {
  const Index n = size();
  VectorXd alpha(n);
  for (Index i = 0; i < n; ++i) {
    alpha[i] = sweep_(n, i) - (fit_mean_ ? mean_ * sweep_(n + 1, i) : 0.0);
  }
  const double scale = std::exp(-log_scale);
  MatrixXd W(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) W(i, j) = scale * alpha[j] * alpha[i] + sweep_(i, j);
  }
  mirror_lower(W);
  VectorXd out(kernel_->parameter_count() + 1);
  const auto share = counts_.array() / effective_.array();  // of the likelihood's noise in an average
  const auto pull = share * (y_ - shared_).array();
  const auto apart = (own_ - shared_).cwiseProduct(precision_).cwiseQuotient(effective_).array();
  const double by_noise = (share.matrix().cwiseProduct(pooled_)).dot(W.diagonal()) -
                          2.0 * scale * pull.matrix().dot(alpha) +
                          scale * (spread_ / noise_ + noise_ * (apart.square() * counts_.array()).sum()) -
                          (counts_.array() - share).sum();
  out << kernel_->parameter_gradient(X_, W), by_noise;
  return 0.5 * out;
}

}  // namespace gpb
