// Functions of fit.h: maximum marginal likelihood, or maximum a posteriori, within bounds. Uses base/.
#include "fitting/fit.h"

#include "base/golden_points.h"
#include "base/ordering.h"
#include "fitting/neighbour_likelihood.h"
#include "linalg/floors.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpb {

namespace {

constexpr double kFirstStep = 0.5;    // of the search, in logarithms
constexpr double kLargestWeight = 0.01;  // largest factor of the likelihood in the minimised function
constexpr double kBelowOne = 1e-4;    // distance of correlations with a prior from 1
constexpr Index kFewest = 100;        // the least number of points of the exploration,
constexpr Index kMost = 300;          // and the largest number; between them it is half of the points

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
  if (parts.size() == 1) {
    const double z = (u - parts[0].mean) / parts[0].sd;
    if (slope) *slope = -z / parts[0].sd;
    return -0.5 * z * z;
  }
  double sum = 0.0, slopes = 0.0, top = -kInf;
  const auto log_part = [u](const Part& part) {
    const double z = (u - part.mean) / part.sd;
    return std::log(part.weight / part.sd) - 0.5 * z * z;
  };
  for (const Part& part : parts) top = std::max(top, log_part(part));
  for (const Part& part : parts) {
    const double density = std::exp(log_part(part) - top);
    sum += density;
    slopes -= density * (u - part.mean) / (part.sd * part.sd);
  }
  if (slope) *slope = slopes / sum;
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
  const Candidate found = screened(clamped(point, lower_, upper_));
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

// One coordinate of a local search: from 0 to 1 between the bounds of a parameter, which is a logarithm. A correlation
// with a prior has its logit instead, over which the prior's density is smooth. At 1 that density may be 0 or infinite,
// and values that are not finite end a search.
class Fit::Side {
 public:
  Side(const ParameterPrior& prior, double lower, double upper)
      : is_logit_(prior.shape1 > 0.0), upper_(is_logit_ ? std::min(upper, -kBelowOne) : upper), from_(z_of(lower)),
        width_(z_of(upper_) - from_) {}
  double width() const { return width_; }
  double at(double u) const { return (z_of(u) - from_) / width_; }
  double parameter(double x) const {
    const double z = from_ + x * width_;
    return std::min(is_logit_ ? -std::log1p(std::exp(-z)) : z, upper_);
  }
  double slope(double by_parameter, double u) const {
    return by_parameter * width_ * (is_logit_ ? -std::expm1(u) : 1.0);
  }

 private:
  double z_of(double u) const {
    if (!is_logit_) return u;
    const double inside = std::min(u, -kBelowOne);
    return inside - std::log(-std::expm1(inside));
  }

  bool is_logit_;
  double upper_, from_, width_;
};

// The search runs over [0, 1]^d. The minimised function is scaled for a first step of moderate length. It is shifted so
// that the tolerance does not depend on the data's units.
VectorXd Fit::local_search(const VectorXd& from) {
  const Index d = static_cast<Index>(free_.size());
  std::vector<Side> sides;
  for (const Index p : free_) sides.emplace_back(problem_.priors[static_cast<std::size_t>(p)], lower_[p], upper_[p]);
  VectorXd at = clamped(from, lower_, upper_), u(d), slope;
  const auto move_to = [&](const VectorXd& x) {
    for (Index c = 0; c < d; ++c) {
      at[free_[static_cast<std::size_t>(c)]] = sides[static_cast<std::size_t>(c)].parameter(x[c]);
    }
  };
  const auto slopes = [&] {
    VectorXd out(d);
    for (Index c = 0; c < d; ++c) {
      const Index p = free_[static_cast<std::size_t>(c)];
      out[c] = sides[static_cast<std::size_t>(c)].slope(slope[p], at[p]);
    }
    return out;
  };
  for (Index c = 0; c < d; ++c) {
    u[c] = std::min(1.0, sides[static_cast<std::size_t>(c)].at(at[free_[static_cast<std::size_t>(c)]]));
  }
  const VectorXd start = at;
  const double base = evaluate(at, &slope);
  const VectorXd first = slopes();
  double steepest = 0.0;
  for (Index c = 0; c < d; ++c) {
    steepest = std::max(steepest, std::abs(first[c]) * sides[static_cast<std::size_t>(c)].width());
  }
  if (!std::isfinite(base) || !(steepest > 0.0)) return start;
  const double weight = std::min(kLargestWeight, kFirstStep / steepest);
  Index calls = 0;
  const double before = best_.objective;
  const Objective objective = [&](const VectorXd& x, VectorXd& gradient) {
    ++calls;
    move_to(x);
    // (With many points the first evaluation, at the start, is not repeated.)
    const double value = calls == 1 && tolerance_ > kTolerance ? base : evaluate(at, &slope);
    gradient = -weight * slopes();
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
VectorXd Fit::finish(const std::vector<VectorXd>& points) {
  Candidate best = screen_start();
  for (const VectorXd& point : points) {
    const Candidate candidate = screened(point);
    if (candidate.objective > best.objective) best = candidate;
  }
  return local_search(into_likely(best.at));
}

Measurements some_of(const Measurements& measurements, const std::vector<Index>& rows) {
  const auto count = static_cast<Index>(rows.size());
  const bool owned = measurements.own_noise.size() > 0;
  const bool counted = measurements.counts.size() > 0;
  Measurements out{Points(count, measurements.X.cols()), VectorXd(count), VectorXd(owned ? count : 0),
                   VectorXd(counted ? count : 0)};
  for (Index i = 0; i < count; ++i) {
    const Index row = rows[static_cast<std::size_t>(i)];
    copy_row(out.X, i, measurements.X, row);
    out.y[i] = measurements.y[row];
    if (owned) out.own_noise[i] = measurements.own_noise[row];
    if (counted) out.counts[i] = measurements.counts[row];
  }
  return out;
}

Measurements part_of(const Measurements& measurements) {
  return some_of(measurements, some_rows(measurements.X.rows()));
}

Measurements middle_of(const Measurements& measurements) {
  return some_of(measurements, spread_rows(measurements.X.rows(), kMiddle));
}

Index count_points(const Points& X) {
  const std::vector<Index> numbers = point_numbers(X);
  return numbers.empty() ? 0 : 1 + *std::max_element(numbers.begin(), numbers.end());
}

void raise_noise(const Kernel& kernel, const Points& X, VectorXd& parameters) {
  const KernelPtr fitted = kernel.clone();
  const Index noise = fitted->parameter_count();
  fitted->set_log_parameters(segment_of(parameters, 0, noise));
  VectorXd variance(X.rows());
  fitted->diagonal(X, variance);
  const double least = least_noise(variance.maxCoeff());
  if (std::exp(parameters[noise]) < least) parameters[noise] = std::log(least);
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
                                   const FitProblem& problem, const Minimizers& minimizers,
                                   Index max_iterations) {
  MarginalLikelihood part(kernel, some, fit_mean);
  Fit fit(part, problem, minimizers, max_iterations);
  std::vector<VectorXd> ends = fit.explore();
  ends.insert(ends.begin(), fit.best().parameters);
  return ends;
}

// The end of a search with more of the points, from the best of the starts; before it the parameters there.
std::vector<VectorXd> end_by_middle(const Kernel& kernel, const Measurements& middle, bool fit_mean,
                                    const FitProblem& problem, const Minimizers& minimizers, Index max_iterations,
                                    const std::vector<VectorXd>& starts) {
  const auto likelihood = likelihood_of_all(kernel, middle, fit_mean, starts[0]);
  Fit fit(*likelihood, problem, minimizers, max_iterations, tolerance_of_many(count_points(middle.X)));
  const VectorXd end = fit.finish({starts.begin() + 1, starts.end()});
  return {fit.best().parameters, end};
}

FitResult fit_many(const Kernel& kernel, const Measurements& measurements, bool fit_mean, const FitProblem& problem,
                   const FitMinimizers& minimizers, Index max_iterations) {
  const Index points = count_points(measurements.X);
  std::vector<VectorXd> ends = {problem.start};
  if (!problem.resumes) {
    ends = ends_by_some(kernel, part_of(measurements), fit_mean, problem, minimizers.usual, max_iterations);
    if (has_middle(points)) {
      ends = end_by_middle(kernel, middle_of(measurements), fit_mean, problem, minimizers.usual, max_iterations, ends);
    }
  }
  const auto likelihood = likelihood_of_all(kernel, measurements, fit_mean, ends[0]);
  Fit fit(*likelihood, problem, minimizers.of_all, max_iterations, tolerance_of_many(points));
  if (problem.resumes) fit.resume();
  else fit.finish({ends.begin() + 1, ends.end()});
  FitResult result = fit.best();
  result.evaluations = likelihood->evaluations();
  result.exact = points <= kMostExact;
  return result;
}

FitResult fit_few(const Kernel& kernel, const Measurements& measurements, bool fit_mean, const FitProblem& problem,
                  const Minimizers& minimizers, Index max_iterations) {
  MarginalLikelihood likelihood(kernel, measurements, fit_mean);
  Fit fit(likelihood, problem, minimizers, max_iterations, problem.tolerance);
  const std::vector<Index> rows = some_rows(measurements.X.rows());
  if (static_cast<Index>(rows.size()) == measurements.X.rows()) {
    fit.explore();
  } else {
    MarginalLikelihood part(kernel, some_of(measurements, rows), fit_mean);
    fit.finish(Fit(part, problem, minimizers, max_iterations, kManyTolerance).explore());
  }
  FitResult result = fit.best();
  result.evaluations = likelihood.evaluations();
  return result;
}

}  // namespace

FitResult fit_parameters(const Kernel& kernel, const Measurements& measurements, bool fit_mean,
                         const FitProblem& problem, const FitMinimizers& minimizers,
                         Index max_iterations) {
  const Index points = count_points(measurements.X);
  FitResult result =
      points > kFewPoints ? fit_many(kernel, measurements, fit_mean, problem, minimizers, max_iterations)
                          : fit_few(kernel, measurements, fit_mean, problem, minimizers.usual, max_iterations);
  raise_noise(kernel, measurements.X, result.parameters);
  result.points = points;
  return result;
}

}  // namespace gpb
