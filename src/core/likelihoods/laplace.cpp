#include "likelihoods/laplace.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "linalg/decompositions.h"

namespace gpb {

namespace {
constexpr double kSettled = 1e-10;       // in prior standard deviations
constexpr int kNewtonSteps = 100;
constexpr int kMajorisingSteps = 20000;
}  // namespace

// ---- Gaussian sites -----------------------------------------------------------------------------

SiteSystem::SiteSystem(SitePrior prior) : prior_(std::move(prior)) {
  const Index t = size();
  if (prior_.features.cols() >= t && t > 0 && prior_.features.rows() == t) {
    prior_.gram = tcrossprod(prior_.features, prior_.features);
    prior_.features.resize(0, 0);
  }
  by_features_ = prior_.features.rows() == t && prior_.features.cols() > 0;
  prior_variance_ = by_features_ ? VectorXd(prior_.features.rowwise().squaredNorm())
                                 : VectorXd(prior_.gram.diagonal());
}

double SiteSystem::scale() const {
  return size() > 0 ? std::sqrt(std::max(0.0, prior_variance_.maxCoeff())) : 0.0;
}

// I + Phi'W Phi, or I + W^1/2 G W^1/2.
void SiteSystem::factorise(const VectorXd& weight) {
  root_weight_ = weight.cwiseSqrt();
  MatrixXd A;
  if (by_features_) {
    A = MatrixXd::Identity(prior_.features.cols(), prior_.features.cols());
    add_crossprod_below(A, 1.0, root_weight_.asDiagonal() * prior_.features);
  } else {
    A = root_weight_.asDiagonal() * prior_.gram * root_weight_.asDiagonal();
    A.diagonal().array() += 1.0;
  }
  factor_ = FlooredCholesky(A, 1.0).lower();
}

void SiteSystem::solve(const VectorXd& weight, const VectorXd& weighted, VectorXd& f,
                       VectorXd& alpha) {
  factorise(weight);
  const VectorXd r = weighted - weight.cwiseProduct(prior_.mean);
  VectorXd moved;
  if (by_features_) {
    VectorXd w = multiply_transposed(prior_.features, r);
    solve_lower(factor_, w);
    solve_lower_transposed(factor_, w);
    moved = multiply(prior_.features, w);
    alpha = r - weight.cwiseProduct(moved);
  } else {
    VectorXd v = root_weight_.cwiseProduct(multiply(prior_.gram, r));
    solve_lower(factor_, v);
    solve_lower_transposed(factor_, v);
    alpha = r - root_weight_.cwiseProduct(v);
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
  half = root_weight_.asDiagonal() * prior_.gram;
  solve_lower_columns(factor_, half);
  return (prior_variance_ - half.colwise().squaredNorm().transpose()).cwiseMax(0.0);
}

MatrixXd SiteSystem::precision() const {
  if (by_features_) throw std::logic_error("features have no such matrix");
  MatrixXd half = root_weight_.asDiagonal();
  solve_lower_columns(factor_, half);
  return crossprod(half, half);
}

// ---- what rewards say ---------------------------------------------------------------------------

void SiteTerms::majorise(const VectorXd&, bool, VectorXd&, VectorXd&) const {
  throw std::logic_error("a concave likelihood needs no majorant");
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

VectorXd PooledTerms::weight_slope(const VectorXd& f, const VectorXd& v) const {
  VectorXd out(f.size());
  for (Index i = 0; i < f.size(); ++i) {
    out[i] = -v[i] * likelihood_.at(f[i], data_[static_cast<std::size_t>(i)]).third;
  }
  return out;
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

using DataSet = std::vector<Likelihood::Data>;

void newton(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  const VectorXd& prior = system.prior_mean();
  const auto objective = [&](const VectorXd& f, const VectorXd& alpha) {
    return terms.log_likelihood(f) - 0.5 * alpha.dot(f - prior);
  };
  double now = objective(fit.f, fit.alpha);
  const double enough = kSettled * system.scale();
  VectorXd f, alpha;
  for (fit.steps = 1; fit.steps <= kNewtonSteps; ++fit.steps) {
    terms.sites(fit.f, fit.weight, fit.weighted);
    system.solve(fit.weight, fit.weighted, f, alpha);
    const VectorXd by = f - fit.f, alpha_by = alpha - fit.alpha;
    double step = 1.0, then = objective(f, alpha);
    // (What is no number has fallen, too.)
    while (!(then >= now - 1e-12 * std::abs(now)) && step > 1e-9) {
      step /= 2.0;
      f = fit.f + step * by;
      alpha = fit.alpha + step * alpha_by;
      then = objective(f, alpha);
    }
    const double moved = (f - fit.f).cwiseAbs().maxCoeff();
    fit.f = f;
    fit.alpha = alpha;
    now = then;
    if (moved <= enough) return;
  }
  throw std::runtime_error("Laplace's approximation has not converged within 100 steps");
}

// Steps of the majorants, each a Gaussian posterior: the objective never falls.
void majorise(SiteSystem& system, const SiteTerms& terms, SiteFit& fit) {
  const double enough = kSettled * system.scale();
  VectorXd f;
  for (const bool begins : {true, false}) {
    for (int k = 1;; ++k, ++fit.steps) {
      terms.majorise(fit.f, begins, fit.weight, fit.weighted);
      system.solve(fit.weight, fit.weighted, f, fit.alpha);
      const double moved = (f - fit.f).cwiseAbs().maxCoeff();
      fit.f = f;
      if (moved <= enough) break;
      if (k == kMajorisingSteps) throw std::runtime_error("the robust fit has not converged");
    }
  }
}

// Nodes and weights for E g(Z), Z standard normal, exact for polynomials of degree 63.
struct NormalRule {
  static constexpr int kNodes = 32;
  std::array<double, kNodes> node, weight;
  // Newton's iteration on the orthonormal Hermite polynomial, between the nodes found before.
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

double evidence_bound(const SiteSystem& system, const SiteFit& fit, const Likelihood& likelihood,
                      const DataSet& data) {
  static const NormalRule rule;
  const VectorXd variance = system.variances();
  double expected = 0.0;
  for (Index i = 0; i < fit.f.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    for (std::size_t k = 0; k < rule.node.size(); ++k) {
      expected += rule.weight[k] * likelihood.at(fit.f[i] + sd * rule.node[k],
                                                 data[static_cast<std::size_t>(i)]).value;
    }
  }
  const double quadratic = fit.alpha.dot(fit.f - system.prior_mean());
  return expected - 0.5 * (quadratic - fit.weight.dot(variance) + system.log_det());
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
  system.solve(fit.weight, fit.weighted, fit.f, fit.alpha);
  fit.log_likelihood = terms.log_likelihood(fit.f);
  fit.penalty = 0.5 * fit.alpha.dot(fit.f - system.prior_mean()) - fit.log_likelihood;
  fit.log_evidence = terms.concave() ? -fit.penalty - 0.5 * system.log_det() : kNaN;
  return fit;
}

}  // namespace gpb
