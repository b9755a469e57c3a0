// Functions of laplace.h: Laplace's approximation of the posterior under a likelihood, from a cold start. Uses linalg/.
#include "likelihoods/laplace.h"

#include "linalg/decompositions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpb {

// ---- Laplace's approximation --------------------------------------------------------------------

namespace {

constexpr double kSettled = 1e-10;       // of the fit, in prior standard deviations
constexpr int kNewtonSteps = 100;
constexpr double kLeastNewtonStep = 1e-30;
constexpr int kMajorisingSteps = 20000;
constexpr double kBallEdge = 1e-9;       // relative distance from the radius at which a norm counts as at the edge
constexpr int kBallSteps = 60;
constexpr int kVariationalSteps = 500;
constexpr double kLeastStep = 1e-6;
constexpr double kLeastRadius = 1e-9;
constexpr double kMostShrinkage = 300.0;  // a logarithm

}  // namespace

// ---- Gaussian sites -----------------------------------------------------------------------------

VectorXd SitePrior::variance() const {
  VectorXd out = has_features() ? VectorXd(features.rowwise().squaredNorm()) : VectorXd(gram.diagonal());
  if (left_out.size() > 0) out += left_out;
  return out;
}

SiteSystem::SiteSystem(SitePrior prior) : prior_(std::move(prior)) {
  if (prior_.has_features() && prior_.features.cols() >= size()) {
    prior_.gram = tcrossprod(prior_.features, prior_.features);
    prior_.features.resize(0, 0);
  }
  by_features_ = prior_.has_features();
}

double SiteSystem::scale() const {
  return size() > 0 ? std::sqrt(std::max(0.0, prior_.variance().maxCoeff())) : 0.0;
}

// The factor of I + Phi'W Phi, or of I + W^1/2 G W^1/2.
void SiteSystem::factorise(const VectorXd& weight) {
  root_weight_ = roots(weight);
  MatrixXd A;
  if (by_features_) {
    A = MatrixXd::Identity(prior_.features.cols(), prior_.features.cols());
    add_crossprod_below(A, 1.0, scaled_rows(root_weight_, prior_.features));
  } else {
    A = scaled_both(root_weight_, prior_.gram);
    add_to_diagonal(A, 1.0);
  }
  factor_ = FlooredCholesky(A, 1.0).lower();
}

void SiteSystem::solve(const VectorXd& weight, const VectorXd& weighted, VectorXd& f,
                       VectorXd& alpha) {
  factorise(weight);
  const VectorXd r = weighted - times(weight, prior_.mean);
  VectorXd moved;
  if (by_features_) {
    VectorXd w = multiply_transposed(prior_.features, r);
    solve_lower(factor_, w);
    solve_lower_transposed(factor_, w);
    moved = multiply(prior_.features, w);
    alpha = r - times(weight, moved);
  } else {
    VectorXd v = times(root_weight_, multiply(prior_.gram, r));
    solve_lower(factor_, v);
    solve_lower_transposed(factor_, v);
    alpha = r - times(root_weight_, v);
    moved = multiply(prior_.gram, alpha);
  }
  f = prior_.mean + moved;
}

double SiteSystem::log_det() const { return 2.0 * factor_.diagonal().array().log().sum(); }

VectorXd SiteSystem::variances() const {
  MatrixXd half;
  if (by_features_) {
    half = prior_.features.transpose();
    solve_lower_columns(factor_, half);
    return half.colwise().squaredNorm().transpose();
  }
  half = scaled_rows(root_weight_, prior_.gram);
  solve_lower_columns(factor_, half);
  return (prior_.gram.diagonal() - half.colwise().squaredNorm().transpose()).cwiseMax(0.0);
}

MatrixXd SiteSystem::precision() const {
  if (by_features_) throw_logic("features have no such matrix");
  MatrixXd half = root_weight_.asDiagonal();
  solve_lower_columns(factor_, half);
  return crossprod(half, half);
}

// ---- likelihood terms ---------------------------------------------------------------------------

namespace {

// Nodes and weights for E g(Z), Z standard normal, exact for polynomials of degree 63.
struct NormalRule {
  static constexpr int kNodes = 32;
  std::array<double, kNodes> node, weight;
  // Newton's iteration on the orthonormal Hermite polynomial, with starting values from the nodes found before.
  NormalRule() {
    const double scale = std::sqrt(2.0);
    double z = 0.0;
    for (int i = 0; i < kNodes / 2; ++i) {
      if (i == 0) z = std::sqrt(2.0 * kNodes + 1) - 1.85575 * std::pow(2.0 * kNodes + 1, -1.0 / 6.0);
      else if (i == 1) z -= 1.14 * std::pow(1.0 * kNodes, 0.426) / z;
      else if (i == 2) z = 1.86 * z - 0.86 * node[0] / scale;
      else if (i == 3) z = 1.91 * z - 0.91 * node[1] / scale;
      else z = 2.0 * z - node[static_cast<std::size_t>(i - 2)] / scale;
      double slope = 1.0;
      for (int step = 0; step < 100; ++step) {
        double before = 0.0, p = 0.7511255444649425;  // pi^(-1/4)
        for (int j = 0; j < kNodes; ++j) {
          const double next = z * std::sqrt(2.0 / (j + 1)) * p - std::sqrt(1.0 * j / (j + 1)) * before;
          before = p;
          p = next;
        }
        slope = std::sqrt(2.0 * kNodes) * before;
        const double by = p / slope;
        z -= by;
        if (std::abs(by) < 1e-15 * std::max(1.0, std::abs(z))) break;
      }
      const auto k = static_cast<std::size_t>(i), mirrored = static_cast<std::size_t>(kNodes - 1 - i);
      node[k] = scale * z;
      node[mirrored] = -node[k];
      weight[k] = weight[mirrored] = 2.0 / (slope * slope) / 1.7724538509055160273;
    }
  }
};

}  // namespace

double SiteTerms::expected_sites(const VectorXd&, const VectorXd&, VectorXd&, VectorXd&) const {
  throw_logic("no expectations of these rewards");
}

void SiteTerms::majorise(const VectorXd&, bool, VectorXd&, VectorXd&) const {
  throw_logic("a concave likelihood needs no majorant");
}

double PooledTerms::log_likelihood(const VectorXd& f) const {
  double sum = 0.0;
  for (Index i = 0; i < f.size(); ++i) sum += likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]).value;
  return sum;
}

double PooledTerms::sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const {
  double sum = 0.0;
  weight.resize(f.size());
  weighted.resize(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    const Slope slope = likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]);
    weight[i] = std::max(-slope.second, kLeastWeight);
    weighted[i] = weight[i] * f[i] + slope.first;
    sum += slope.value;
  }
  return sum;
}

double PooledTerms::expected_sites(const VectorXd& f, const VectorXd& variance, VectorXd& weight,
                                   VectorXd& weighted) const {
  static const NormalRule rule;
  double sum = 0.0;
  weight.resize(f.size());
  weighted.resize(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    double first = 0.0, second = 0.0;
    for (std::size_t k = 0; k < rule.node.size(); ++k) {
      const Slope slope = likelihood_.at(f[i] + sd * rule.node[k], data_[static_cast<std::size_t>(i)]);
      sum += rule.weight[k] * slope.value;
      first += rule.weight[k] * slope.first;
      second += rule.weight[k] * slope.second;
    }
    weight[i] = std::max(-second, kLeastWeight);
    weighted[i] = weight[i] * f[i] + first;
  }
  return sum;
}

VectorXd PooledTerms::weight_slope(const VectorXd& f, const VectorXd& v) const {
  VectorXd out(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    out[i] = -v[i] * likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]).third;
  }
  return out;
}

double PooledTerms::weight_growth(const VectorXd& f) const {
  double most = 0.0;
  for (Index i = 0; i < f.size(); ++i) most = std::max(most, likelihood_.weight_growth(f[i]));
  return most;
}

void PooledTerms::majorise(const VectorXd& f, bool begins, VectorXd& weight, VectorXd& weighted) const {
  weight.resize(f.size());
  weighted.resize(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    likelihood_.majorise(f[i], data_[static_cast<std::size_t>(i)], begins, weight[i], weighted[i]);
  }
}

// ---- fits ---------------------------------------------------------------------------------------

namespace {

void newton(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  const VectorXd& prior = system.prior_mean();
  const auto objective = [&](const VectorXd& f, const VectorXd& alpha) {
    return terms.log_likelihood(f) - 0.5 * alpha.dot(f - prior);
  };
  double now = objective(fit.f, fit.alpha);
  const double enough = kSettled * system.scale();
  double before = kInf;
  for (fit.steps = 1; fit.steps <= kNewtonSteps; ++fit.steps) {
    terms.sites(fit.f, fit.weight, fit.weighted);
    // The step is computed from the gradient: differences of values would be rounding errors if weights are large.
    const VectorXd gradient = fit.weighted - times(fit.weight, fit.f) - fit.alpha;
    VectorXd by, alpha_by;
    system.solve(fit.weight, gradient + times(fit.weight, prior), by, alpha_by);
    by -= prior;
    VectorXd f = fit.f + by, alpha = fit.alpha + alpha_by;
    double step = 1.0, then = objective(f, alpha);
    // (NaN counts as a decrease.)
    const double unchanged = 1e-12 * std::abs(now);
    while (!(then >= now - unchanged) && step > kLeastNewtonStep) {
      step /= 2.0;
      f = fit.f + step * by;
      alpha = fit.alpha + step * alpha_by;
      then = objective(f, alpha);
    }
    const double moved = largest_size(f - fit.f);
    // (With very large weights, steps without any gain are rounding errors.)
    const bool rounding = moved > 0.5 * before && std::abs(then - now) <= unchanged;
    fit.f = f;
    fit.alpha = alpha;
    now = then;
    before = moved;
    if (moved <= enough || rounding) return;
  }
  throw_runtime("Laplace's approximation has not converged within 100 steps");
}

// Steps of the majorants, each a Gaussian posterior; the objective never decreases.
void majorise(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  const double enough = kSettled * system.scale();
  VectorXd f;
  for (const bool begins : {true, false}) {
    for (int k = 1;; ++k, ++fit.steps) {
      terms.majorise(fit.f, begins, fit.weight, fit.weighted);
      system.solve(fit.weight, fit.weighted, f, fit.alpha);
      const double moved = largest_size(f - fit.f);
      fit.f = f;
      if (moved <= enough) break;
      if (k == kMajorisingSteps) throw_runtime("the robust fit has not converged");
    }
  }
}

}  // namespace

double evidence_bound(const SiteSystem& system, const SiteFit& fit, const SiteTerms& terms) {
  VectorXd variance = system.variances(), ignored, also_ignored;
  const double trace = fit.weight.dot(variance);
  for (Index i = 0; i < variance.size(); ++i) variance[i] += system.left_out(i);
  const double expected = terms.expected_sites(fit.f, variance, ignored, also_ignored);
  const double quadratic = fit.alpha.dot(fit.f - system.prior_mean());
  return expected - 0.5 * (quadratic - trace + system.log_det());
}

namespace {

// Computes the other numbers of a fit from its f, weights and weighted values.
void finish(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  system.solve(fit.weight, fit.weighted, fit.f, fit.alpha);
  fit.weight_growth = terms.weight_growth(fit.f);
  fit.log_likelihood = terms.log_likelihood(fit.f);
  fit.penalty = 0.5 * fit.alpha.dot(fit.f - system.prior_mean()) - fit.log_likelihood;
  fit.log_evidence = terms.concave() ? -fit.penalty - 0.5 * system.log_det() : kNaN;
}

SitePrior shrunk(const SitePrior& prior, double factor) {
  SitePrior out = prior;
  out.features /= std::sqrt(factor);
  out.gram /= factor;
  out.left_out /= factor;
  return out;
}

}  // namespace

// The mode is the zero of h(f) = mean - f + variance l'(f). Its slope is at most -1, so the zero is between `mean` and
// mean + h(mean). Newton's steps that leave the bracket are replaced by bisections.
Site site_of(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double variance) {
  double f = mean;
  Slope slope = likelihood.at(f, data);
  double left = std::min(f, f + variance * slope.first), right = std::max(f, f + variance * slope.first);
  const double enough = kSettled * std::sqrt(variance);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const double h = mean - f + variance * slope.first;
    (h > 0.0 ? left : right) = f;
    double next = f + h / (1.0 - variance * slope.second);
    if (!(next >= left && next <= right)) next = 0.5 * (left + right);
    const double moved = std::abs(next - f);
    f = next;
    slope = likelihood.at(f, data);
    if (moved <= enough) break;
  }
  const double weight = std::max(-slope.second, kLeastWeight);
  return {weight, f + slope.first / weight};
}

SiteFit fit_sites(SiteSystem& system, const SiteTerms& terms) {
  SiteFit fit;
  fit.f = system.prior_mean();
  fit.alpha = VectorXd::Zero(fit.f.size());
  if (fit.f.size() == 0) return fit;
  if (terms.concave()) {
    newton(system, terms, fit);
    terms.sites(fit.f, fit.weight, fit.weighted);
  } else {
    majorise(system, terms, fit);
  }
  finish(system, terms, fit);
  return fit;
}

// For sites (W, b) the bound's natural gradient is the sites of the expectations minus (W, b).
SiteFit fit_variational(SiteSystem& system, const SiteTerms& terms) {
  SiteFit fit = fit_sites(system, terms);
  if (fit.f.size() == 0) return fit;
  const double scale = system.scale();
  VectorXd variance = system.variances(), weight, weighted;
  double bound = evidence_bound(system, fit, terms), step = 1.0;
  for (int k = 0; k < kVariationalSteps; ++k) {
    terms.expected_sites(fit.f, variance, weight, weighted);
    SiteFit next = fit;
    const VectorXd weight_by = weight - fit.weight, weighted_by = weighted - fit.weighted;
    double then = -kInf;
    for (step = std::min(1.0, 2.0 * step); step > kLeastStep; step /= 2.0) {
      next.weight = fit.weight + step * weight_by;
      next.weighted = fit.weighted + step * weighted_by;
      system.solve(next.weight, next.weighted, next.f, next.alpha);
      then = evidence_bound(system, next, terms);
      if (then >= bound - 1e-12 * std::abs(bound)) break;
    }
    if (step <= kLeastStep) break;
    const VectorXd before = variance;
    variance = system.variances();
    const double moved = std::max(largest_size(next.f - fit.f) / scale,
                                  largest_size(variance - before) / (scale * scale));
    next.steps = fit.steps + 1;
    fit = next;
    bound = then;
    if (moved <= kSettled * step) break;
  }
  finish(system, terms, fit);
  fit.log_evidence = evidence_bound(system, fit, terms);
  return fit;
}

// The norm decreases in 1 + mu. Solved by regula falsi on logarithms with the Illinois rule: the function value of an
// end that is kept twice is halved.
SiteFit fit_within(const SitePrior& prior, SiteSystem& system, const SiteTerms& terms, double radius) {
  SiteFit found = fit_sites(system, terms);
  const auto excess = [&](const SiteFit& one) {
    const double squared = one.alpha.dot(one.f - system.prior_mean()) / one.shrinkage;
    return 0.5 * std::log(std::max(squared, 1e-300)) - std::log(std::max(radius, kLeastRadius));
  };
  if (found.f.size() == 0 || excess(found) <= 0.0) return found;
  const auto at = [&](double log_shrinkage) {
    SiteSystem smaller(shrunk(prior, std::exp(log_shrinkage)));
    SiteFit out = fit_sites(smaller, terms);
    out.shrinkage = std::exp(log_shrinkage);
    return out;
  };
  double low = 0.0, above = excess(found), high = 0.5, below = 0.0;
  for (;; low = high, above = below, high *= 2.0) {
    found = at(high);
    below = excess(found);
    if (below <= 0.0 || high > kMostShrinkage) break;
  }
  for (int step = 0, side = 0; step < kBallSteps && excess(found) < -kBallEdge; ++step) {
    const double middle = low + (high - low) * above / (above - below);
    SiteFit one = at(middle);
    const double here = excess(one);
    if (here > 0.0) {
      low = middle;
      above = here;
      if (side > 0) below /= 2.0;
      side = 1;
    } else {
      high = middle;
      below = here;
      found = std::move(one);
      if (side < 0) above /= 2.0;
      side = -1;
    }
  }
  const double shrinkage = found.shrinkage;
  found.alpha /= shrinkage;
  terms.sites(found.f, found.weight, found.weighted);
  found.weighted = times(found.weight, found.f) + found.alpha;
  finish(system, terms, found);
  found.log_evidence = kNaN;
  return found;
}

}  // namespace gpb
