// Marginal likelihoods, their maxima, averages over fits. Uses base/, kernels/, likelihoods/ and linalg/.
// The likelihoods are for Gaussian noise, for rewards with a likelihood, and for heteroscedastic noise.
#include "fitting/likelihood.h"
#include "fitting/neighbour_likelihood.h"
#include "fitting/fit.h"
#include "fitting/average.h"
#include "fitting/latent_evidence.h"
#include "fitting/varying_noise.h"

#include "base/golden_points.h"
#include "base/ordering.h"
#include "linalg/decompositions.h"
#include "linalg/floors.h"
#include "linalg/mirror.h"
#include "linalg/products.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace gpb {

// ---- the marginal likelihood --------------------------------------------------------------------

namespace {

constexpr double kLog2Pi = 1.8378770664093454836;
constexpr Index kStrip = 32;  // columns of the Gram matrix that share one copy of the points

// For each row the number of its point, in the order of first appearance.
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

PooledMeasurements::PooledMeasurements(const Measurements& measurements) {
  const Points& X = measurements.X;
  const std::vector<Index> numbers = point_numbers(X);
  const Index points = 1 + *std::max_element(numbers.begin(), numbers.end());
  X_.resize(points, X.cols());
  for (VectorXd* sums : {&shared_, &counts_, &own_, &precision_}) sums->setZero(points);
  observations_ = static_cast<double>(X.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    const Index point = numbers[static_cast<std::size_t>(i)];
    copy_row(X_, point, X, i);
    const double noise = measurements.own_noise.size() > 0 ? measurements.own_noise[i] : kNaN;
    const bool owned = !std::isnan(noise);
    const double weight = owned ? 1.0 / noise : 1.0;
    double& average = owned ? own_[point] : shared_[point];
    double& sum = owned ? precision_[point] : counts_[point];
    const double step = measurements.y[i] - average;
    sum += weight;
    average += step * weight / sum;
    (owned ? own_spread_ : spread_) += weight * step * (measurements.y[i] - average);
    if (owned) own_log_noise_ += std::log(noise);
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
  data_.weigh(std::max(std::exp(parameters[count]), kLeastNoise * largest), kLeastPooledNoise * largest);
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

MarginalLikelihood::MarginalLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean)
    : GaussianEvidence(kernel, measurements, fit_mean), sweep_(data().size(), fit_mean ? 2 : 1) {}

// The rows below the matrix are y and, to find the mean, a row of ones.
void MarginalLikelihood::fill_covariance() {
  const Index n = data().size();
  VectorXd column(n);
  for (Index first = 0; first < n; first += kStrip) {
    const Points below = data().X().bottomRows(n - first);
    for (Index j = first; j < std::min(first + kStrip, n); ++j) {
      kernel().cross(row_of(below, j - first), below, column.head(n - first));
      auto target = sweep_.lower_column(j);
      target.head(n - j) = column.segment(j - first, n - j);
      target[0] += data().noise()[j];
      target[n - j] = data().y()[j];
      if (fits_mean()) target[n - j + 1] = 1.0;
    }
  }
  for (Index j = n; j < n + (fits_mean() ? 2 : 1); ++j) sweep_.lower_column(j).setZero();
}

// The corner of the swept matrix becomes -[y'A^-1 y; 1'A^-1 y  1'A^-1 1].
GaussianEvidence::Solved MarginalLikelihood::solve(bool want_gradient) {
  const Index n = data().size();
  fill_covariance();
  sweep_.run(data().noise().minCoeff(), want_gradient);
  if (!fits_mean()) return {sweep_.log_det(), -sweep_(n, n), 0.0, 0.0};
  return {sweep_.log_det(), -sweep_(n, n), -sweep_(n + 1, n), -sweep_(n + 1, n + 1)};
}

GaussianEvidence::Slopes MarginalLikelihood::slopes(double scale) const {
  const Index n = data().size();
  VectorXd alpha(n);
  for (Index i = 0; i < n; ++i) {
    alpha[i] = sweep_(n, i) - (fits_mean() ? mean() * sweep_(n + 1, i) : 0.0);
  }
  MatrixXd W(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) W(i, j) = scale * alpha[j] * alpha[i] + sweep_(i, j);
  }
  mirror_lower(W);
  return {kernel().parameter_gradient(data().X(), W), W.diagonal(), alpha};
}

// ---- maximisation of the marginal likelihood ----------------------------------------------------

namespace {
constexpr double kFirstStep = 0.5;    // of the search, in logarithms
constexpr double kLargestWeight = 0.01;  // largest factor of the likelihood in the minimised function
constexpr double kManyTolerance = 1e-2;  // of local searches with many points,
constexpr double kNeighbourTolerance = 0.1;  // and by neighbours, whose own error is larger
constexpr Index kFewest = 100;        // the least number of points of the exploration,
constexpr Index kMost = 300;          // and the largest number; between them it is half of the points

double tolerance_of(Index points) { return points > kMostExact ? kNeighbourTolerance : kManyTolerance; }

// Rows for the exploration.
std::vector<Index> some_rows(Index n) { return spread_rows(n, std::min(std::max(n / 2, kFewest), kMost)); }

}  // namespace

std::vector<Index> spread_rows(Index n, Index wanted) {
  const double part = static_cast<double>(wanted) / static_cast<double>(n);
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i) {
    const double u = 0.6180339887498949 * static_cast<double>(i);
    if (u - std::floor(u) < part) rows.push_back(i);
  }
  return rows;
}

double ParameterPrior::log_density(double u, double* slope) const {
  if (shape1 > 0.0) {  // the density of u, not of exp(u)
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

Fit::Fit(Evidence& likelihood, FitProblem problem, Minimizers minimizers, Index max_iterations, double tolerance)
    : likelihood_(likelihood),
      minimizers_(std::move(minimizers)),
      max_iterations_(max_iterations),
      tolerance_(tolerance),
      problem_(std::move(problem)),
      noise_(problem_.start.size() - 1),
      profiled_(false),
      lower_(problem_.lower),
      upper_(problem_.upper),
      likely_lower_(problem_.likely_lower),
      likely_upper_(problem_.likely_upper) {
  problem_.start = clamped(problem_.start, lower_, upper_);
  // (The separate noise of an observation does not scale.)
  if (!likelihood_.scales()) problem_.scale.clear();
  if (likelihood_.scales() && problem_.single_variance) profile_variance();
  for (Index p = 0; p <= noise_; ++p) {
    if (lower_[p] < upper_[p]) free_.push_back(p);
  }
}

// This is possible if variance and noise both are free and have no prior. Then the best variance for given
// noise / variance is r'(K + noise I)^-1 r / n.
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
  return clamped(clamped(at, likely_lower_, likely_upper_), lower_, upper_);
}

VectorXd Fit::scaled_by(VectorXd at, double log_scale) const {
  for (Index p : problem_.scale) at[p] += log_scale;
  at[noise_] += log_scale;
  return at;
}

// The best scale for which variance and noise stay within their bounds.
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
    // At the bound of the noise, the scale depends on noise / variance.
    if (at_noise_bound) (*gradient)[noise_] -= likelihood_.scale_slope(log_scale);
  }
  if (objective > best_.objective) {
    best_ = {parameters, likelihood_.mean(), likelihood, objective, best_.converged, 0};
  }
  return objective;
}

// The objective at the point's best scale, and the point at that scale.
Fit::Candidate Fit::screened(const VectorXd& at) {
  if (profiled_) return {at, evaluate(at, nullptr)};
  likelihood_.factorise(at, false);
  const bool scales = !problem_.scale.empty() && lower_[noise_] < upper_[noise_];
  const double log_scale = scales ? likelihood_.log_scale() : 0.0;
  const VectorXd moved = clamped(scaled_by(at, log_scale), lower_, upper_);
  return {moved, likelihood_.value(log_scale) + log_prior(moved, nullptr)};
}

// The start. It counts for the best as given, and for the search at its best scale.
Fit::Candidate Fit::screen_start() {
  VectorXd start = problem_.start;
  if (!profiled_) {
    evaluate(start, nullptr);
    return screened(start);
  }
  const Index v = problem_.scale[0];
  start[noise_] -= start[v];
  start[v] = 0.0;
  return screened(start);
}

double Fit::screen(VectorXd& point) {
  const Candidate found = screened(point);
  point = found.at;
  return found.objective;
}

// The start and low-discrepancy points of the likely range, best first.
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
    out.push_back(screened(clamped(at, lower_, upper_)));
  }
  put_in_order(out, [](const Candidate& a, const Candidate& b) { return a.objective > b.objective; });
  return out;
}

// The search runs over [0, 1]^d. The minimised function is scaled for a first step of moderate length. It is shifted so
// that the tolerance does not depend on the data's units.
VectorXd Fit::local_search(const VectorXd& start) {
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
  minimizers_(tolerance_ * weight)(u, objective);
  // The allowed number of iterations needs more calls than that.
  if (best_.objective > before) best_.converged = calls <= max_iterations_;
  move_to(u);
  return at;
}

std::vector<VectorXd> Fit::explore() {
  const std::vector<Candidate> found = candidates();
  std::vector<VectorXd> ends;
  for (const Candidate& candidate : found) {
    if (static_cast<Index>(ends.size()) == problem_.starts) break;
    ends.push_back(local_search(candidate.at));
  }
  return ends;
}

void Fit::resume() { local_search(screen_start().at); }

// Parameters about which the subset of points has little information may end at their bounds, where the likelihood of
// all points is flat. The local search therefore starts within the likely range.
void Fit::finish(const std::vector<VectorXd>& points) {
  Candidate best = screen_start();
  for (const VectorXd& point : points) {
    const Candidate candidate = screened(point);
    if (candidate.objective > best.objective) best = candidate;
  }
  local_search(into_likely(best.at));
}

Measurements some_of(const Measurements& measurements, const std::vector<Index>& rows) {
  const auto count = static_cast<Index>(rows.size());
  const bool owned = measurements.own_noise.size() > 0;
  Measurements out{Points(count, measurements.X.cols()), VectorXd(count), VectorXd(owned ? count : 0)};
  for (Index i = 0; i < count; ++i) {
    const Index row = rows[static_cast<std::size_t>(i)];
    copy_row(out.X, i, measurements.X, row);
    out.y[i] = measurements.y[row];
    if (owned) out.own_noise[i] = measurements.own_noise[row];
  }
  return out;
}

Measurements part_of(const Measurements& measurements) {
  return some_of(measurements, some_rows(measurements.X.rows()));
}

Index count_points(const Points& X) {
  const std::vector<Index> numbers = point_numbers(X);
  return numbers.empty() ? 0 : 1 + *std::max_element(numbers.begin(), numbers.end());
}

std::unique_ptr<GaussianEvidence> likelihood_of_all(const Kernel& kernel, const Measurements& measurements,
                                                    bool fit_mean, const VectorXd& at) {
  if (count_points(measurements.X) <= kMostExact) {
    return std::make_unique<MarginalLikelihood>(kernel, measurements, fit_mean);
  }
  return std::make_unique<NeighbourLikelihood>(kernel, measurements, fit_mean, at,
                                               NeighbourhoodSize::of(measurements.X.cols()));
}

namespace {

// The starts of local searches with all of many points: the ends of the searches with a subset, best first.
std::vector<VectorXd> ends_by_some(const Kernel& kernel, const Measurements& some, bool fit_mean,
                                   const FitProblem& problem, const Fit::Minimizers& minimizers,
                                   Index max_iterations) {
  MarginalLikelihood part(kernel, some, fit_mean);
  Fit fit(part, problem, minimizers, max_iterations);
  std::vector<VectorXd> ends = fit.explore();
  ends.insert(ends.begin(), fit.best().parameters);
  return ends;
}

FitResult fit_many(const Kernel& kernel, const Measurements& measurements, bool fit_mean, const FitProblem& problem,
                   const Fit::Minimizers& minimizers, Index max_iterations) {
  std::vector<VectorXd> ends = {problem.start};
  if (!problem.resumes) {
    ends = ends_by_some(kernel, part_of(measurements), fit_mean, problem, minimizers, max_iterations);
  }
  const auto likelihood = likelihood_of_all(kernel, measurements, fit_mean, ends[0]);
  Fit fit(*likelihood, problem, minimizers, max_iterations, tolerance_of(count_points(measurements.X)));
  if (problem.resumes) fit.resume();
  else fit.finish({ends.begin() + 1, ends.end()});
  FitResult result = fit.best();
  result.evaluations = likelihood->evaluations();
  result.points = count_points(measurements.X);
  result.exact = result.points <= kMostExact;
  return result;
}

}  // namespace

FitResult fit_parameters(const Kernel& kernel, const Measurements& measurements, bool fit_mean,
                         const FitProblem& problem, const Fit::Minimizers& minimizers,
                         Index max_iterations) {
  const Index points = count_points(measurements.X);
  if (points > kFewPoints) return fit_many(kernel, measurements, fit_mean, problem, minimizers, max_iterations);
  MarginalLikelihood likelihood(kernel, measurements, fit_mean);
  Fit fit(likelihood, problem, minimizers, max_iterations);
  const std::vector<Index> rows = some_rows(measurements.X.rows());
  if (static_cast<Index>(rows.size()) == measurements.X.rows()) {
    fit.explore();
  } else {
    MarginalLikelihood part(kernel, some_of(measurements, rows), fit_mean);
    fit.finish(Fit(part, problem, minimizers, max_iterations).explore());
  }
  FitResult result = fit.best();
  result.evaluations = likelihood.evaluations();
  result.points = points;
  return result;
}

// ---- averages over fits -------------------------------------------------------------------------

namespace {

constexpr double kStep = 0.05;       // for differences of gradients, in logarithms
constexpr double kWidest = 2.5;      // largest sd about a mode, before the inflation
constexpr double kInflation = 1.25;  // ratio of a proposal's sd to that of the density
constexpr double kSame = 0.1;        // modes that differ by less in all coordinates are the same
constexpr double kHopeless = 12.0;   // modes whose log density is lower than the best by more than this are ignored
constexpr Index kMostModes = 4;
constexpr Index kMostExplored = 150;  // with at most this number of points the search for modes uses all
constexpr double kFar = 0.5;          // ends of searches with a subset that differ by less are the same
constexpr double kFlops = 6e8;       // approximate limit of operations for weights
constexpr Index kFewestDraws = 48, kMostDraws = 240;
constexpr Index kDrawsEach = 8;     // with many points: draws for each model of the average,
constexpr Index kMostClimbed = 2;   // and local searches that use all points; by neighbours there is one

// The inverse of the standard normal distribution function (Acklam's rational approximation, to 1e-9).
double normal_quantile(double p) {
  static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                             1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00};
  static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                             6.680131188771972e+01, -1.328068155288572e+01};
  static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                             -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00};
  static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                             3.754408661907416e+00};
  const double tail = std::min(p, 1.0 - p);
  if (tail < 0.02425) {
    const double q = std::sqrt(-2.0 * std::log(tail));
    const double x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                     ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    return p < 0.5 ? x : -x;
  }
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
}

// The coordinates of the average: logarithms, or logits of numbers between 0 and 1.
class Coordinates {
 public:
  Coordinates(const FitProblem& problem, const VectorXd& unit)
      : lower_(problem.lower), upper_(problem.upper), base_(problem.start), unit_(unit) {
    for (Index p = 0; p < lower_.size(); ++p) {
      if (lower_[p] < upper_[p]) free_.push_back(p);
    }
  }
  Index size() const { return static_cast<Index>(free_.size()); }
  VectorXd of(const VectorXd& parameters) const {
    VectorXd z(size());
    for (Index i = 0; i < size(); ++i) {
      const double u = std::min(parameters[at(i)], is_unit(i) ? -1e-6 : kInf);
      z[i] = is_unit(i) ? u - std::log(-std::expm1(u)) : u;
    }
    return z;
  }
  VectorXd parameters(const VectorXd& z) const {
    VectorXd out = clamped(base_, lower_, upper_);
    for (Index i = 0; i < size(); ++i) out[at(i)] = is_unit(i) ? -std::log1p(std::exp(-z[i])) : z[i];
    return out;
  }
  bool inside(const VectorXd& parameters) const {
    for (const Index p : free_) {
      if (!(parameters[p] >= lower_[p] && parameters[p] <= upper_[p])) return false;
    }
    return true;
  }
  VectorXd within(const VectorXd& parameters) const {
    return clamped(parameters, lower_, upper_);
  }
  // log |d parameters / d z|, and the gradient by z from that by parameters (including the gradient of the former).
  double log_jacobian(const VectorXd& parameters) const {
    double sum = 0.0;
    for (Index i = 0; i < size(); ++i) {
      if (is_unit(i)) sum += std::log(-std::expm1(parameters[at(i)]));
    }
    return sum;
  }
  VectorXd slopes(const VectorXd& by_parameter, const VectorXd& parameters) const {
    VectorXd out(size());
    for (Index i = 0; i < size(); ++i) {
      const double rest = is_unit(i) ? -std::expm1(parameters[at(i)]) : 1.0;
      out[i] = by_parameter[at(i)] * rest - (is_unit(i) ? 1.0 - rest : 0.0);
    }
    return out;
  }

 private:
  Index at(Index i) const { return free_[static_cast<std::size_t>(i)]; }
  bool is_unit(Index i) const { return unit_[at(i)] != 0.0; }
  VectorXd lower_, upper_, base_, unit_;
  std::vector<Index> free_;
};

// A normal distribution about a mode, with a covariance larger than that of the density.
struct Mode {
  VectorXd top;
  MatrixXd precision_factor;  // lower Cholesky factor of the inverse covariance
  double log_det = 0.0;       // of that factor
  double density = -kInf;     // log posterior density at `top`

  // Up to a constant.
  double log_evidence() const { return density - log_det; }
  VectorXd point(VectorXd normal) const {
    solve_lower_transposed(precision_factor, normal);
    return top + normal;
  }
  double log_density(const VectorXd& z) const {
    double sum = log_det;
    const VectorXd gap = z - top;
    for (Index j = 0; j < gap.size(); ++j) {
      double along = 0.0;
      for (Index i = j; i < gap.size(); ++i) along += precision_factor(i, j) * gap[i];
      sum -= 0.5 * along * along;
    }
    return sum;
  }
};

// The part of one kernel in an average.
class Averager {
 public:
  struct Draw {
    Index kernel;
    VectorXd parameters;
    double mean, mean_sd, log_weight;
  };

  Averager(std::unique_ptr<GaussianEvidence> likelihood, double log_prior, bool fit_mean,
           const AverageProblem& problem, const Fit::Minimizers& minimizers, Index max_iterations, double tolerance)
      : likelihood_(std::move(likelihood)),
        fit_mean_(fit_mean),
        log_prior_(log_prior),
        fit_(*likelihood_, problem.fit, minimizers, max_iterations, tolerance),
        coordinates_(fit_.problem(), problem.unit) {}

  void local_search(const std::vector<VectorXd>& points) {
    for (const VectorXd& point : points) ends_.push_back(coordinates_.of(fit_.local_search(point)));
  }
  Fit& fit() { return fit_; }
  // At the best mode.
  double objective() { return fit_.best().objective + log_prior_; }
  Index evaluations() const { return likelihood_->evaluations(); }
  // The distinct modes at the ends of local searches, by evidence: density times volume. Modes whose density is below
  // `least` are left out.
  std::vector<Mode> modes(double least);
  // The same number of draws about each mode. A draw's weight is its posterior density over that of the mixture of all
  // modes of this kernel.
  std::vector<Draw> draws(Index kernel, const std::vector<Mode>& modes, Index each);

 private:
  double density(const VectorXd& z, VectorXd* slopes);
  bool make_mode(const VectorXd& top, double least, Mode& mode);

  std::unique_ptr<GaussianEvidence> likelihood_;
  bool fit_mean_;
  double log_prior_;
  Fit fit_;
  Coordinates coordinates_;
  std::vector<VectorXd> ends_;
};

double Averager::density(const VectorXd& z, VectorXd* slopes) {
  const VectorXd parameters = coordinates_.parameters(z);
  if (!coordinates_.inside(parameters)) return -kInf;
  VectorXd by_parameter;
  const double value = fit_.density(parameters, slopes ? &by_parameter : nullptr) +
                       coordinates_.log_jacobian(parameters) + log_prior_;
  if (slopes) *slopes = coordinates_.slopes(by_parameter, parameters);
  return std::isfinite(value) ? value : -kInf;
}

// The curvature, from forward differences of the gradient (backward at an upper bound).
bool Averager::make_mode(const VectorXd& top, double least, Mode& mode) {
  const Index d = top.size();
  VectorXd here, there;
  mode.top = top;
  mode.density = density(top, &here);
  if (!(mode.density > least)) return false;
  MatrixXd curvature(d, d);
  for (Index i = 0; i < d; ++i) {
    double step = kStep;
    VectorXd beside = top;
    beside[i] += step;
    if (!(density(beside, &there) > -kInf)) {
      step = -kStep;
      beside[i] = top[i] + step;
      if (!(density(beside, &there) > -kInf)) return false;
    }
    curvature.col(i) = (here - there) / step;
  }
  const bool finite = std::all_of(curvature.data(), curvature.data() + curvature.size(),
                                  [](double one) { return std::isfinite(one); });
  if (!finite) return false;
  MatrixXd symmetric = curvature;
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) symmetric(i, j) = 0.5 * (curvature(i, j) + curvature(j, i));
  }
  const double flattest = 1.0 / (kWidest * kWidest), lowest = symmetric_eigenvalues(symmetric)[0];
  if (lowest < flattest) add_to_diagonal(symmetric, flattest - lowest);
  symmetric /= kInflation * kInflation;
  if (!cholesky(symmetric)) return false;
  mode.precision_factor = symmetric;
  mode.log_det = 0.0;
  for (Index i = 0; i < d; ++i) mode.log_det += std::log(symmetric(i, i));
  return true;
}

std::vector<Mode> Averager::modes(double least) {
  std::vector<Mode> out;
  if (coordinates_.size() == 0) return out;
  for (const VectorXd& end : ends_) {
    const auto same = [&](const Mode& other) { return largest_size(other.top - end) < kSame; };
    if (std::any_of(out.begin(), out.end(), same)) continue;
    Mode mode;
    if (make_mode(end, least, mode)) out.push_back(std::move(mode));
  }
  put_in_order(out, [](const Mode& a, const Mode& b) { return a.log_evidence() > b.log_evidence(); });
  return out;
}

std::vector<Averager::Draw> Averager::draws(Index kernel, const std::vector<Mode>& modes, Index each) {
  std::vector<Draw> out;
  const Index d = coordinates_.size();
  const MatrixXd cube = golden_points(each, std::max<Index>(d, 1));
  for (const Mode& from : modes) {
    for (Index i = 0; i < each; ++i) {
      VectorXd normal(d);
      for (Index c = 0; c < d; ++c) {
        normal[c] = normal_quantile(std::min(std::max(cube(i, c), 1e-6), 1.0 - 1e-6));
      }
      const VectorXd z = from.point(normal);
      const double posterior = density(z, nullptr);
      if (!(posterior > -kInf)) continue;
      double top = -kInf;
      for (const Mode& mode : modes) top = std::max(top, mode.log_density(z));
      double sum = 0.0;
      for (const Mode& mode : modes) sum += std::exp(mode.log_density(z) - top);
      const double spread = fit_mean_ ? 1.0 / std::sqrt(likelihood_->mean_precision()) : 0.0;
      out.push_back({kernel, coordinates_.parameters(z), likelihood_->mean(), spread,
                     posterior - top - std::log(sum)});
    }
  }
  return out;
}

using ModesOfKernels = std::vector<std::vector<Mode>>;

// Keeps the modes with the most evidence over all kernels; returns their number.
Index keep_likely(ModesOfKernels& modes) {
  std::vector<double> evidence;
  for (const auto& some : modes) {
    for (const Mode& mode : some) evidence.push_back(mode.log_evidence());
  }
  if (evidence.empty()) return 0;
  std::sort(evidence.begin(), evidence.end(), std::greater<double>());
  Index kept = 0;
  for (auto& some : modes) {
    const auto counts = [&](const Mode& mode) { return mode.log_evidence() > evidence[0] - kHopeless; };
    auto end = std::stable_partition(some.begin(), some.end(), counts);
    if (end - some.begin() > kMostModes) end = some.begin() + kMostModes;
    some.erase(end, some.end());
    kept += static_cast<Index>(some.size());
  }
  return kept;
}

// Orders the draws by kernel and noise, and chooses one at the middle of each of `wanted` equal parts of the weight
// `sum`.
std::vector<WeighedModel> evenly(std::vector<Averager::Draw>& drawn, double sum, Index wanted) {
  std::vector<WeighedModel> out;
  put_in_order(drawn, [](const Averager::Draw& a, const Averager::Draw& b) {
    if (a.kernel != b.kernel) return a.kernel < b.kernel;
    return a.parameters[a.parameters.size() - 1] < b.parameters[b.parameters.size() - 1];
  });
  const double part = sum / static_cast<double>(wanted);
  double passed = 0.0, next = 0.5 * part;
  Index taken = 0;
  for (const Averager::Draw& draw : drawn) {
    passed += draw.log_weight;
    Index times = 0;
    while (next < passed && taken < wanted) {
      next += part;
      ++times;
      ++taken;
    }
    if (times == 0) continue;
    out.push_back({draw.kernel, draw.parameters, draw.mean, static_cast<double>(times)});
    // The mean is uncertain, too: each model gets another of evenly spaced quantiles.
    const double u = 0.6180339887498949 * static_cast<double>(out.size());
    if (draw.mean_sd > 0.0) {
      out.back().mean += draw.mean_sd * normal_quantile(0.02 + 0.96 * (u - std::floor(u)));
    }
  }
  for (WeighedModel& one : out) one.weight /= static_cast<double>(taken);
  return out;
}

using Averagers = std::vector<std::unique_ptr<Averager>>;

// The number of draws of all modes together: by the cost of one; with many points, kDrawsEach for each model.
Index draws_in_all(Index observations, Index points, Index wanted) {
  if (points > kFewPoints) return kDrawsEach * wanted;
  const double cost = std::pow(static_cast<double>(observations), 3.0);
  const auto affordable = static_cast<Index>(std::min(kFlops / cost, 1e6));
  return std::max(kFewestDraws, std::min(kMostDraws, affordable));
}

// `count`: the number of draws of all modes together. If `wanted` is 1, the model is the mode. With many points a
// curvature is expensive: it is computed only for modes whose density is within 2 kHopeless of the best objective.
ModelAverage average(const Averagers& kernels, Index count, Index wanted, bool many) {
  ModelAverage out;
  ModesOfKernels modes;
  double most = -kInf;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (k > 0 && !(kernels[k]->objective() > most)) continue;
    most = kernels[k]->objective();
    out.best = kernels[k]->fit().best();
    out.best_kernel = static_cast<Index>(k);
  }
  const double least = many ? most - 2.0 * kHopeless : -kInf;
  for (const auto& one : kernels) {
    const bool counts = wanted > 1 && !(one->objective() < least);
    modes.push_back(counts ? one->modes(least) : std::vector<Mode>());
  }
  out.modes = keep_likely(modes);
  const Index each = std::max<Index>(1, count / std::max<Index>(1, out.modes));
  std::vector<Averager::Draw> drawn;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    for (Averager::Draw& draw : kernels[k]->draws(static_cast<Index>(k), modes[k], each)) {
      drawn.push_back(std::move(draw));
    }
  }
  if (drawn.empty()) {
    out.models.push_back({out.best_kernel, out.best.parameters, out.best.mean, 1.0});
    return out;
  }
  double top = -kInf, sum = 0.0, squares = 0.0;
  for (const Averager::Draw& draw : drawn) top = std::max(top, draw.log_weight);
  for (Averager::Draw& draw : drawn) {
    draw.log_weight = std::exp(draw.log_weight - top);
    sum += draw.log_weight;
    squares += draw.log_weight * draw.log_weight;
  }
  out.effective = sum * sum / squares;
  out.models = evenly(drawn, sum, wanted);
  return out;
}

std::vector<VectorXd> distinct(const std::vector<VectorXd>& points) {
  std::vector<VectorXd> out;
  for (const VectorXd& point : points) {
    const auto near = [&point](const VectorXd& other) {
      return largest_size(point - other) < kFar;
    };
    if (std::none_of(out.begin(), out.end(), near)) out.push_back(point);
  }
  return out;
}

// The most likely of `ends` given all of many points, and others within `reach` of it, `count` in all. An end that a
// subset makes much less likely stays so with all points.
std::vector<VectorXd> likeliest(Fit& fit, std::vector<VectorXd> ends, double reach, Index count) {
  std::vector<std::pair<double, VectorXd>> ranked;
  for (VectorXd& end : ends) {
    const double objective = fit.screen(end);
    ranked.emplace_back(objective, end);
  }
  put_in_order(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<VectorXd> out;
  for (const auto& one : ranked) {
    if (static_cast<Index>(out.size()) < count && one.first > ranked[0].first - reach) out.push_back(one.second);
  }
  return out;
}

// Local searches with a subset of the points, for one kernel after another. The searches with all points start at their
// ends.
class PartClimbs {
 public:
  PartClimbs(const Measurements& some, bool fit_mean, const FitProblem& problem, const Fit::Minimizers& minimizers,
             Index max_iterations)
      : some_(some), fit_mean_(fit_mean), problem_(problem), minimizers_(minimizers), max_iterations_(max_iterations) {}

  // The first kernel also has local searches from likely parameters. Empty if the kernel is much less likely than the
  // best of the earlier ones.
  std::vector<VectorXd> ends(const Kernel& kernel, bool is_first, const std::vector<VectorXd>& starts) {
    MarginalLikelihood part(kernel, some_, fit_mean_);
    Fit fit(part, problem_, minimizers_, max_iterations_);
    std::vector<VectorXd> ends;
    if (is_first) ends = fit.explore();
    for (const VectorXd& start : starts) {
      ends.push_back(fit.local_search(start));
      // (Parameters that are unlikely given a subset of the points are even more unlikely given all of them.)
      if (fit.best().objective < best_ - kHopeless) break;
    }
    if (is_first) ends.push_back(fit.problem().start);
    at_ = fit.best().parameters;
    if (fit.best().objective < best_ - kHopeless) return {};
    best_ = std::max(best_, fit.best().objective);
    return distinct(ends);
  }
  // The best parameters of the last kernel.
  const VectorXd& at() const { return at_; }

 private:
  const Measurements& some_;
  bool fit_mean_;
  const FitProblem& problem_;
  const Fit::Minimizers& minimizers_;
  Index max_iterations_;
  double best_ = -kInf;
  VectorXd at_;
};

}  // namespace

ModelAverage average_models(const std::vector<AveragedKernel>& kernels, const Measurements& measurements,
                            bool fit_mean, const AverageProblem& problem, const Fit::Minimizers& minimizers,
                            Index max_iterations) {
  AverageProblem own = problem;
  // (The average includes the scale, which is therefore not profiled.)
  own.fit.single_variance = false;
  const Index points = count_points(measurements.X);
  const bool many = points > kFewPoints, all = !many && measurements.X.rows() <= kMostExplored;
  if (many) own.models = (own.models * kFewPoints + points - 1) / points;
  // If there are many points, a subset is enough to find the modes.
  const Measurements some = all ? Measurements{} : part_of(measurements);
  PartClimbs part(some, fit_mean, own.fit, minimizers, max_iterations);
  Averagers averagers;
  VectorXd first_end;
  Index evaluations = 0;
  for (const AveragedKernel& one : kernels) {
    const bool is_first = averagers.empty();
    std::vector<VectorXd> starts, ends;
    // (The modes of other kernels are near those of the first kernel.)
    if (!is_first) starts.push_back(first_end);
    for (Index i = 0; i < one.starts.rows(); ++i) starts.push_back(row_of(one.starts, i));
    const bool resumes = many && own.fit.resumes;
    if (!all && !resumes) ends = part.ends(*one.kernel, is_first, starts);
    // (If there is only one kernel, the start is the best earlier model.)
    const bool from_start = all || starts.empty() || (resumes && kernels.size() == 1);
    const VectorXd at = from_start ? own.fit.start : resumes ? starts.back() : part.at();
    averagers.push_back(std::make_unique<Averager>(likelihood_of_all(*one.kernel, measurements, fit_mean, at),
                                                   one.log_prior, fit_mean, own, minimizers, max_iterations,
                                                   many ? tolerance_of(points) : kTolerance));
    Averager& averager = *averagers.back();
    if (all) {
      if (is_first) averager.local_search(averager.fit().explore());
      averager.local_search(starts);
    } else if (resumes) {
      averager.local_search({at});
    } else if (!ends.empty()) {
      const double reach = kHopeless * static_cast<double>(points) / static_cast<double>(kFewPoints);
      const Index count = points > kMostExact ? 1 : kMostClimbed;
      averager.local_search(many ? likeliest(averager.fit(), ends, reach, count) : ends);
    }
    if (is_first) first_end = averager.fit().best().parameters;
  }
  ModelAverage out = average(averagers, draws_in_all(measurements.X.rows(), points, own.models), own.models,
                             many);
  for (const auto& one : averagers) evaluations += one->evaluations();
  out.best.evaluations = evaluations;
  out.best.points = points;
  out.best.exact = points <= kMostExact;
  return out;
}

// ---- the evidence of rewards with a likelihood --------------------------------------------------

LatentEvidence::LatentEvidence(const Kernel& kernel, LatentMeasurements measurements, LikelihoodPtr likelihood,
                               bool fit_mean)
    : kernel_(kernel.clone()), measurements_(std::move(measurements)), likelihood_(std::move(likelihood)),
      fit_mean_(fit_mean) {
  constant_ = VectorXd::Ones(size());
  for (Index i = 0; i < size(); ++i) {
    if (measurements_.other[static_cast<std::size_t>(i)] >= 0) constant_[i] = 0.0;
  }
}

// H A, for functionals H f.
MatrixXd LatentEvidence::differences(MatrixXd by_point) const {
  MatrixXd out(size(), by_point.cols());
  for (Index i = 0; i < size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    copy_row(out, i, by_point, measurements_.point[k]);
    for (Index c = 0; measurements_.other[k] >= 0 && c < out.cols(); ++c) out(i, c) -= by_point(measurements_.other[k],
                                                                                                c);
  }
  return out;
}

// H'M H.
MatrixXd LatentEvidence::by_points(const MatrixXd& M) const {
  MatrixXd out = MatrixXd::Zero(measurements_.X.rows(), measurements_.X.rows());
  for (Index j = 0; j < size(); ++j) {
    const auto b = static_cast<std::size_t>(j);
    for (Index i = 0; i < size(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const Index from = measurements_.other[a], less = measurements_.other[b];
      out(measurements_.point[a], measurements_.point[b]) += M(i, j);
      if (from >= 0) out(from, measurements_.point[b]) -= M(i, j);
      if (less >= 0) out(measurements_.point[a], less) -= M(i, j);
      if (from >= 0 && less >= 0) out(from, less) += M(i, j);
    }
  }
  return out;
}

// Let R = (K + W^-1)^-1, v the functionals' posterior variances, and s = -sum_j v_j dW_j/df / 2. The mode changes log
// det, which enters by w = (I + W K)^-1 s. The gradient is
//   by the kernel: sum_ij M_ij dK_ij, M = (alpha alpha' - R + w alpha' + alpha w') / 2;
//   by a mean: (alpha + w)'dm;
//   by the likelihood's parameters: sum dl - v'dW / 2 + (K w)'dl'.
void LatentEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  gradient_ = VectorXd::Zero(parameters.size());
  if (size() == 0) return;  // only comparisons of points with themselves
  const Index kernels = kernel_->parameter_count(), means = fit_mean_ ? 1 : 0;
  const Index own = likelihood_->parameters().size();
  kernel_->set_log_parameters(segment_of(parameters, 0, kernels));
  const LikelihoodPtr likelihood =
      own > 0 ? likelihood_->with(segment_of(parameters, kernels + means, own)) : likelihood_;
  VectorXd mean = measurements_.mean;
  if (fit_mean_) mean = parameters[kernels] * constant_;
  const MatrixXd gram = differences(differences(kernel_->gram(measurements_.X)).transpose());
  SiteSystem system({mean, MatrixXd(), gram, VectorXd()});
  std::unique_ptr<SiteTerms> terms;
  if (likelihood->ranks()) terms = std::make_unique<RankingTerms>(measurements_.rankings);
  else terms = std::make_unique<PooledTerms>(*likelihood, measurements_.data);
  const SiteFit fit = fit_sites(system, *terms);
  value_ = fit.log_evidence;
  if (!want_gradient) return;
  const VectorXd v = system.variances();
  const VectorXd s = -0.5 * terms->weight_slope(fit.f, v);
  MatrixXd M = system.precision();
  const VectorXd w = s - multiply(M, multiply(gram, s));
  for (Index j = 0; j < size(); ++j) {
    for (Index i = 0; i < size(); ++i) {
      M(i, j) = 0.5 * (fit.alpha[j] * (fit.alpha[i] + w[i]) + w[j] * fit.alpha[i] - M(i, j));
    }
  }
  gradient_.head(kernels) = kernel_->parameter_gradient(measurements_.X, by_points(M));
  if (fit_mean_) gradient_[kernels] = (fit.alpha + w).dot(constant_);
  if (own == 0) return;
  const VectorXd moved = multiply(gram, w);
  for (Index i = 0; i < size(); ++i) {
    const MatrixXd slopes = likelihood->parameter_slopes(fit.f[i], measurements_.data[static_cast<std::size_t>(i)]);
    for (Index p = 0; p < own; ++p) {
      gradient_[kernels + means + p] += slopes(0, p) + moved[i] * slopes(1, p) - 0.5 * v[i] * slopes(2, p);
    }
  }
}

// ---- heteroscedastic noise ----------------------------------------------------------------------

namespace {

// Computes A^-1 and log det A.
MatrixXd inverse_of(const MatrixXd& A, double floor, double& log_det) {
  const FlooredCholesky factor(A, floor);
  log_det = factor.log_det();
  const MatrixXd half = factor.inverse_transposed();
  return tcrossprod(half, half);
}

}  // namespace

VaryingEvidence::VaryingEvidence(const Kernel& kernel, const Kernel& noise_kernel, Index variance,
                                 PointMeasurements measurements, bool fit_mean)
    : kernel_(kernel.clone()), noise_kernel_(noise_kernel.clone()), variance_(variance),
      measurements_(std::move(measurements)), fit_mean_(fit_mean) {}

// Let S = (C_g + g/a)^-1 and q = S (Delta - n), with n the least-squares level of Delta. Log noise is n + C_g q. The
// log likelihood of the measurements is, with K = C + lambda/a,
//   -(y'K^-1 y + sum s_i/lambda_i + log det K + sum ((a_i - 1) log lambda_i + log a_i) + N log 2pi) / 2.
// The penalty is, with nu = (Delta - n)'q / n_p,
//   -(n_p (log(2pi nu) + 1) + log det S^-1) / 2,
// or 0 if that is positive.
void VaryingEvidence::factorise(const VectorXd& parameters, bool want_gradient) {
  ++evaluations_;
  const Index n = measurements_.X.rows(), kernels = kernel_->parameter_count();
  const double points = static_cast<double>(n), total = measurements_.count.sum();
  const VectorXd ones = VectorXd::Ones(n), inverse_count = over(ones, measurements_.count);
  kernel_->set_log_parameters(segment_of(parameters, 0, kernels));
  VectorXd noise_parameters(kernels);
  for (Index p = 0; p < kernels; ++p) noise_parameters[p] = parameters[p] + parameters[kernels];
  noise_parameters[variance_] = 0.0;
  noise_kernel_->set_log_parameters(noise_parameters);
  const double nugget = std::exp(parameters[kernels + 1]);
  const VectorXd latent = segment_of(parameters, kernels + 2, n);

  const MatrixXd Cg = noise_kernel_->gram(measurements_.X);
  MatrixXd A = Cg;
  add_to_diagonal(A, nugget * inverse_count);
  double log_det_noise = 0.0;
  const MatrixXd S = inverse_of(A, nugget * inverse_count.minCoeff(), log_det_noise);
  const VectorXd s1 = multiply(S, ones);
  const double precision = s1.sum();
  found_.level = s1.dot(latent) / precision;
  const VectorXd q = multiply(S, latent - found_.level * ones);
  found_.weights = q;
  found_.log_noise = multiply(Cg, q) + found_.level * ones;
  const VectorXd noise = found_.log_noise.array().exp();

  MatrixXd K = kernel_->gram(measurements_.X);
  const VectorXd pooled = times(noise, inverse_count);
  add_to_diagonal(K, pooled);
  double log_det = 0.0;
  const MatrixXd inverse = inverse_of(K, pooled.minCoeff(), log_det);
  found_.mean = 0.0;
  if (fit_mean_) {
    const VectorXd by_one = multiply(inverse, ones);
    found_.mean = by_one.dot(measurements_.average) / by_one.sum();
  }
  const VectorXd y = measurements_.average - found_.mean * ones;
  const VectorXd alpha = multiply(inverse, y);
  found_.likelihood =
      -0.5 * (y.dot(alpha) + over(measurements_.spread, noise).sum() + log_det +
              ((measurements_.count.array() - 1.0) * found_.log_noise.array() +
               measurements_.count.array().log()).sum() +
              total * kLog2Pi);
  const double scale = (latent - found_.level * ones).dot(q) / points;
  const double penalty = -0.5 * (points * (std::log(std::max(scale, 1e-300)) + kLog2Pi + 1.0) + log_det_noise);
  const bool penalised = penalty < 0.0;
  value_ = found_.likelihood + (penalised ? penalty : 0.0);
  if (!want_gradient) return;

  // The derivative by log noise; then by its parameters, dlog noise = dn + C_g dq + dC_g q.
  VectorXd h(n);
  for (Index i = 0; i < n; ++i) {
    h[i] = 0.5 * ((alpha[i] * alpha[i] - inverse(i, i)) * pooled[i] + measurements_.spread[i] / noise[i] -
                  (measurements_.count[i] - 1.0));
  }
  const VectorXd pulled = multiply(S, multiply(Cg, h));
  const VectorXd share = s1 / precision;
  const double kappa = h.sum() - pulled.sum();
  gradient_ = VectorXd::Zero(parameters.size());
  MatrixXd M = tcrossprod(MatrixXd(alpha), MatrixXd(alpha));
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) M(i, j) = 0.5 * (M(i, j) - inverse(i, j));
  }
  gradient_.head(kernels) = kernel_->parameter_gradient(measurements_.X, M);

  const VectorXd by_nugget = -1.0 * pulled - kappa * share, by_kernel = h + by_nugget;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      M(i, j) = 0.5 * (q[j] * by_kernel[i] + by_kernel[j] * q[i]);
      if (penalised) M(i, j) += 0.5 * (q[j] / scale * q[i] - S(i, j));
    }
  }
  VectorXd by_noise_kernel = noise_kernel_->parameter_gradient(measurements_.X, M);
  by_noise_kernel[variance_] = 0.0;
  for (Index p = 0; p < kernels; ++p) gradient_[p] += by_noise_kernel[p];
  gradient_[kernels] = by_noise_kernel.sum();
  double slope = times(by_nugget, inverse_count).dot(q);
  if (penalised) {
    slope += 0.5 * (times(q, q).dot(inverse_count) / scale - S.diagonal().dot(inverse_count));
  }
  gradient_[kernels + 1] = nugget * slope;
  VectorXd by_latent = pulled + (h.sum() - pulled.sum()) * share;
  if (penalised) by_latent -= q / scale;
  gradient_.segment(kernels + 2, n) = by_latent;
}

}  // namespace gpb
