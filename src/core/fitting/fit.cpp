#include "fitting/likelihood.h"
#include "fitting/fit.h"

#include "base/golden_points.h"
#include "linalg/floors.h"
#include "linalg/mirror.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gpb {

// ---- the marginal likelihood --------------------------------------------------------------------

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
    mean_precision_ = ones;
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

// ---- its maximum --------------------------------------------------------------------------------

namespace {
constexpr double kFirstStep = 0.5;    // of the search, in logarithms
constexpr double kLargestWeight = 0.01;  // of the likelihood in what is minimised
constexpr double kTolerance = 1e-5;   // a gain in log-likelihood that is not worth going on for
constexpr Index kFewest = 100;        // points that the exploration sees at least,
constexpr Index kMost = 300;          // and at most; half of them in between

// Rows for the exploration: those whose number times the golden ratio has a small
// fractional part, which are spread evenly and in step with no grid.
std::vector<Index> some_rows(Index n) {
  const Index wanted = std::min(std::max(n / 2, kFewest), kMost);
  const double part = static_cast<double>(wanted) / static_cast<double>(n);
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i) {
    const double u = 0.6180339887498949 * static_cast<double>(i);
    if (u - std::floor(u) < part) rows.push_back(i);
  }
  return rows;
}

}  // namespace

double ParameterPrior::log_density(double u, double* slope) const {
  if (shape1 > 0.0) {  // of u, not of exp(u)
    const double rest = -std::expm1(u);
    if (slope) *slope = shape1 - (shape2 - 1.0) * std::exp(u) / rest;
    if (!(rest > 0.0)) return shape2 > 1.0 ? -kInf : shape1 * u;
    return shape1 * u + (shape2 - 1.0) * std::log(rest);
  }
  const double z = (u - mean) / sd;
  if (slope) *slope = -z / sd;
  if (!(other_sd > 0.0)) return -0.5 * z * z;
  const double w = (u - other_mean) / other_sd;
  const double one = -0.5 * z * z - std::log(sd), other = -0.5 * w * w - std::log(other_sd);
  const double top = std::max(one, other);
  const double sum = std::exp(one - top) + std::exp(other - top);
  if (slope) *slope = (std::exp(one - top) * *slope - std::exp(other - top) * w / other_sd) / sum;
  return top + std::log(sum);
}

Fit::Fit(Evidence& likelihood, FitProblem problem, Minimizers minimizers,
         Index max_iterations)
    : likelihood_(likelihood),
      minimizers_(std::move(minimizers)),
      max_iterations_(max_iterations),
      problem_(std::move(problem)),
      noise_(problem_.start.size() - 1),
      profiled_(false),
      lower_(problem_.lower),
      upper_(problem_.upper),
      likely_lower_(problem_.likely_lower),
      likely_upper_(problem_.likely_upper) {
  problem_.start = problem_.start.cwiseMax(lower_).cwiseMin(upper_);
  // (A noise that is an observation's own does not scale.)
  if (!likelihood_.scales()) problem_.scale.clear();
  if (likelihood_.scales() && problem_.single_variance) profile_variance();
  for (Index p = 0; p <= noise_; ++p) {
    if (lower_[p] < upper_[p]) free_.push_back(p);
  }
}

// Possible when variance and noise both move and no prior holds them: then the
// best variance for given noise / variance is r'(K + noise I)^-1 r / n.
void Fit::profile_variance() {
  const Index v = problem_.scale[0];
  for (Index p : {v, noise_}) {
    if (lower_[p] >= upper_[p] || problem_.priors[static_cast<std::size_t>(p)].holds()) return;
  }
  profiled_ = true;
  lower_[noise_] = problem_.lower[noise_] - problem_.upper[v];
  upper_[noise_] = problem_.upper[noise_] - problem_.lower[v];
  const double middle = 0.5 * (likely_lower_[v] + likely_upper_[v]);
  likely_lower_[noise_] -= middle;
  likely_upper_[noise_] -= middle;
  for (VectorXd* bound : {&lower_, &upper_, &likely_lower_, &likely_upper_}) (*bound)[v] = 0.0;
}

VectorXd Fit::into_likely(const VectorXd& at) const {
  return at.cwiseMax(likely_lower_).cwiseMin(likely_upper_).cwiseMax(lower_).cwiseMin(upper_);
}

VectorXd Fit::scaled_by(VectorXd at, double log_scale) const {
  for (Index p : problem_.scale) at[p] += log_scale;
  at[noise_] += log_scale;
  return at;
}

// The best scale that keeps variance and noise within their bounds.
double Fit::log_scale_at(const VectorXd& at, bool* at_noise_bound) const {
  const Index v = problem_.scale[0];
  const double wanted = likelihood_.log_scale();
  const double least = std::max(problem_.lower[v], problem_.lower[noise_] - at[noise_]);
  const double most = std::min(problem_.upper[v], problem_.upper[noise_] - at[noise_]);
  const double found = std::max(least, std::min(most, wanted));
  *at_noise_bound = (found > wanted && found > problem_.lower[v]) ||
                    (found < wanted && found < problem_.upper[v]);
  return found;
}

double Fit::log_prior(const VectorXd& parameters, VectorXd* gradient) const {
  double sum = 0.0;
  if (gradient) gradient->setZero(parameters.size());
  for (Index p = 0; p <= noise_; ++p) {
    const ParameterPrior& prior = problem_.priors[static_cast<std::size_t>(p)];
    if (prior.holds()) sum += prior.log_density(parameters[p], gradient ? &(*gradient)[p] : nullptr);
  }
  return sum;
}

double Fit::density(const VectorXd& parameters, VectorXd* gradient) {
  likelihood_.factorise(parameters, gradient != nullptr);
  VectorXd prior_gradient;
  double value = likelihood_.value() + log_prior(parameters, gradient ? &prior_gradient : nullptr);
  if (likelihood_.mean_precision() > 0.0) value -= 0.5 * std::log(likelihood_.mean_precision());
  if (gradient) *gradient = likelihood_.gradient() + prior_gradient;
  return value;
}

double Fit::evaluate(const VectorXd& at, VectorXd* gradient) {
  likelihood_.factorise(at, gradient != nullptr);
  bool at_noise_bound = false;
  const double log_scale = profiled_ ? log_scale_at(at, &at_noise_bound) : 0.0;
  const VectorXd parameters = profiled_ ? scaled_by(at, log_scale) : at;
  VectorXd prior_gradient;
  const double likelihood = likelihood_.value(log_scale);
  const double objective = likelihood + log_prior(parameters, gradient ? &prior_gradient : nullptr);
  if (gradient) {
    *gradient = likelihood_.gradient(log_scale) + prior_gradient;
    // There the scale moves against noise / variance.
    if (at_noise_bound) (*gradient)[noise_] -= likelihood_.scale_slope(log_scale);
  }
  if (objective > best_.objective) {
    best_ = {parameters, likelihood_.mean(), likelihood, objective, best_.converged, 0};
  }
  return objective;
}

// A point's worth at its best scale, and the point moved to that scale.
Fit::Candidate Fit::screen(const VectorXd& at) {
  if (profiled_) return {at, evaluate(at, nullptr)};
  likelihood_.factorise(at, false);
  const bool scales = !problem_.scale.empty() && lower_[noise_] < upper_[noise_];
  const double log_scale = scales ? likelihood_.log_scale() : 0.0;
  const VectorXd moved = scaled_by(at, log_scale).cwiseMax(lower_).cwiseMin(upper_);
  return {moved, likelihood_.value(log_scale) + log_prior(moved, nullptr)};
}

// The start: as it is given it counts for the best, at its best scale for the search.
Fit::Candidate Fit::screen_start() {
  VectorXd start = problem_.start;
  if (!profiled_) {
    evaluate(start, nullptr);
    return screen(start);
  }
  const Index v = problem_.scale[0];
  start[noise_] -= start[v];
  start[v] = 0.0;
  return screen(start);
}

// The start and low-discrepancy points where good parameters are likely, best first.
std::vector<Fit::Candidate> Fit::candidates() {
  std::vector<Candidate> out = {screen_start()};
  const Index dimension = static_cast<Index>(free_.size());
  const Index count = problem_.starts > 1 && dimension > 0 ? 8 + 4 * dimension : 0;
  const MatrixXd points = golden_points(count, std::max<Index>(dimension, 1));
  for (Index i = 0; i < count; ++i) {
    VectorXd at = out[0].at;
    for (Index c = 0; c < dimension; ++c) {
      const Index p = free_[static_cast<std::size_t>(c)];
      at[p] = likely_lower_[p] + points(i, c) * (likely_upper_[p] - likely_lower_[p]);
    }
    out.push_back(screen(at.cwiseMax(lower_).cwiseMin(upper_)));
  }
  std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
    return a.objective > b.objective;
  });
  return out;
}

// The search runs over [0, 1]^d; what it minimises is scaled for a first step of
// moderate length and shifted for a tolerance that does not depend on the data's units.
VectorXd Fit::climb(const VectorXd& start) {
  const Index d = static_cast<Index>(free_.size());
  VectorXd u(d), width(d), slope;
  const double base = evaluate(start, &slope);
  double steepest = 0.0;
  for (Index c = 0; c < d; ++c) {
    const Index p = free_[static_cast<std::size_t>(c)];
    width[c] = upper_[p] - lower_[p];
    u[c] = (start[p] - lower_[p]) / width[c];
    steepest = std::max(steepest, std::abs(slope[p]) * width[c] * width[c]);
  }
  if (!std::isfinite(base) || !(steepest > 0.0)) return start;
  const double weight = std::min(kLargestWeight, kFirstStep / steepest);
  Index calls = 0;
  const double before = best_.objective;
  VectorXd at = start;
  const auto move_to = [&](const VectorXd& x) {
    for (Index c = 0; c < d; ++c) {
      const Index p = free_[static_cast<std::size_t>(c)];
      at[p] = std::min(lower_[p] + x[c] * width[c], upper_[p]);
    }
  };
  const Objective objective = [&](const VectorXd& x, VectorXd& gradient) {
    ++calls;
    move_to(x);
    const double value = evaluate(at, &slope);
    gradient.resize(d);
    for (Index c = 0; c < d; ++c) {
      gradient[c] = -weight * slope[free_[static_cast<std::size_t>(c)]] * width[c];
    }
    return weight * (base - value);
  };
  minimizers_(kTolerance * weight)(u, objective);
  // As many iterations as allowed need more calls than that.
  if (best_.objective > before) best_.converged = calls <= max_iterations_;
  move_to(u);
  return at;
}

std::vector<VectorXd> Fit::explore() {
  const std::vector<Candidate> found = candidates();
  std::vector<VectorXd> ends;
  for (const Candidate& candidate : found) {
    if (static_cast<Index>(ends.size()) == problem_.starts) break;
    ends.push_back(climb(candidate.at));
  }
  return ends;
}

// What some points know too little about ends at its bounds, where the likelihood of
// all points is flat: the climb begins nearer.
void Fit::finish(const std::vector<VectorXd>& points) {
  Candidate best = screen_start();
  for (const VectorXd& point : points) {
    const Candidate candidate = screen(point);
    if (candidate.objective > best.objective) best = candidate;
  }
  climb(into_likely(best.at));
}

namespace {

Readings some_of(const Readings& readings, const std::vector<Index>& rows) {
  const auto count = static_cast<Index>(rows.size());
  const bool owned = readings.own_noise.size() > 0;
  Readings out{Points(count, readings.X.cols()), VectorXd(count), VectorXd(owned ? count : 0)};
  for (Index i = 0; i < count; ++i) {
    const Index row = rows[static_cast<std::size_t>(i)];
    out.X.row(i) = readings.X.row(row);
    out.y[i] = readings.y[row];
    if (owned) out.own_noise[i] = readings.own_noise[row];
  }
  return out;
}

}  // namespace

Readings part_of(const Readings& readings) {
  return some_of(readings, some_rows(readings.X.rows()));
}

FitResult fit_parameters(const Kernel& kernel, const Readings& readings, bool fit_mean,
                         const FitProblem& problem, const Fit::Minimizers& minimizers,
                         Index max_iterations) {
  MarginalLikelihood likelihood(kernel, readings, fit_mean);
  Fit fit(likelihood, problem, minimizers, max_iterations);
  const std::vector<Index> rows = some_rows(readings.X.rows());
  if (static_cast<Index>(rows.size()) == readings.X.rows()) {
    fit.explore();
  } else {
    MarginalLikelihood part(kernel, some_of(readings, rows), fit_mean);
    fit.finish(Fit(part, problem, minimizers, max_iterations).explore());
  }
  FitResult result = fit.best();
  result.evaluations = likelihood.evaluations();
  return result;
}

}  // namespace gpb
