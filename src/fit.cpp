#include "fit.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {
constexpr double kFirstStep = 0.5;    // of the search, in logarithms
constexpr double kLargestWeight = 0.01;  // of the likelihood in what is minimised
}  // namespace

Fit::Fit(MarginalLikelihood& likelihood, FitProblem problem)
    : likelihood_(likelihood),
      problem_(std::move(problem)),
      noise_(problem_.start.size() - 1),
      profiled_(false),
      lower_(problem_.lower),
      upper_(problem_.upper) {
  problem_.start = problem_.start.cwiseMax(lower_).cwiseMin(upper_);
  if (problem_.single_variance) profile_variance();
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
  lower_[v] = upper_[v] = 0.0;
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
    best_ = {parameters, likelihood_.mean(), likelihood, objective, best_.converged};
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

// The start and low-discrepancy points where good parameters are likely, best first.
std::vector<Fit::Candidate> Fit::candidates() {
  VectorXd start = problem_.start;
  VectorXd low = problem_.likely_lower, high = problem_.likely_upper;
  if (profiled_) {
    const Index v = problem_.scale[0];
    const double middle = 0.5 * (low[v] + high[v]);
    low[noise_] -= middle;
    high[noise_] -= middle;
    start[noise_] -= start[v];
    start[v] = low[v] = high[v] = 0.0;
  }
  std::vector<Candidate> out = {screen(start)};
  if (!profiled_) evaluate(start, nullptr);
  const Index dimension = static_cast<Index>(free_.size());
  const Index count = problem_.starts > 1 && dimension > 0 ? 8 + 4 * dimension : 0;
  const MatrixXd points = golden_points(count, std::max<Index>(dimension, 1));
  for (Index i = 0; i < count; ++i) {
    VectorXd at = start;
    for (Index c = 0; c < dimension; ++c) {
      const Index p = free_[static_cast<std::size_t>(c)];
      at[p] = low[p] + points(i, c) * (high[p] - low[p]);
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
void Fit::climb(const VectorXd& start, const BoxMinimizer& minimise, Index max_iterations) {
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
  if (!std::isfinite(base) || !(steepest > 0.0)) return;
  const double weight = std::min(kLargestWeight, kFirstStep / steepest);
  Index calls = 0;
  const double before = best_.objective;
  const Objective objective = [&](const VectorXd& x, VectorXd& gradient) {
    ++calls;
    VectorXd at = start;
    for (Index c = 0; c < d; ++c) {
      const Index p = free_[static_cast<std::size_t>(c)];
      at[p] = std::min(lower_[p] + x[c] * width[c], upper_[p]);
    }
    const double value = evaluate(at, &slope);
    gradient.resize(d);
    for (Index c = 0; c < d; ++c) {
      gradient[c] = -weight * slope[free_[static_cast<std::size_t>(c)]] * width[c];
    }
    return weight * (base - value);
  };
  minimise(u, objective);
  // As many iterations as allowed need more calls than that.
  if (best_.objective > before) best_.converged = calls <= max_iterations;
}

FitResult Fit::maximise(const BoxMinimizer& minimise, Index max_iterations) {
  const std::vector<Candidate> found = candidates();
  best_.converged = true;
  if (free_.empty()) return best_;
  const std::size_t starts = std::min(found.size(), static_cast<std::size_t>(problem_.starts));
  for (std::size_t i = 0; i < starts; ++i) climb(found[i].at, minimise, max_iterations);
  return best_;
}

}  // namespace gpb
