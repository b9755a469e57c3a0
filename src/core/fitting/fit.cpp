#include "fitting/fit.h"

#include <algorithm>
#include <cmath>

#include "base/golden_points.h"

namespace gpb {

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

Fit::Fit(MarginalLikelihood& likelihood, FitProblem problem, Minimizers minimizers,
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
    if (lower_[p] >= upper_[p] || std::isfinite(problem_.prior_sd[p])) return;
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
    if (!std::isfinite(problem_.prior_sd[p])) continue;
    const double z = (parameters[p] - problem_.prior_mean[p]) / problem_.prior_sd[p];
    sum -= 0.5 * z * z;
    if (gradient) (*gradient)[p] = -z / problem_.prior_sd[p];
  }
  return sum;
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
