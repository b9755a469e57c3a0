#include "scores/policy.h"

#include <algorithm>
#include <cmath>

#include "linalg/hot.h"

namespace gpb {

namespace {

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInvSqrt2Pi = 0.39894228040143267794;

// An upper bound of the expected improvement without transcendental functions. It is s h(z);
// for z < 0, h(z) <= phi(z) / (1 + z^2) by Mills' ratio, and e^y >= (1 + y / 16)^16.
double improvement_bound(double mean, double sd, double target) {
  const double gap = mean - target;
  if (!(sd > 0.0) || gap >= 0.0) return std::max(gap, 0.0) + kInvSqrt2Pi * sd;
  const double zz = (gap / sd) * (gap / sd);
  double power = 1.0 + zz / 32.0;
  for (int squaring = 0; squaring < 4; ++squaring) power *= power;
  return sd * kInvSqrt2Pi / ((1.0 + zz) * power);
}

// Expected improvement of the arms that may be best or tied, -Inf for the rest; returns the
// largest. Most arms are told to be hopeless by their bounds.
double improvements(const double* mean, const double* variance, Index n, double target,
                    VectorXd& score) {
  for (Index j = 0; j < n; ++j) {
    score[j] = improvement_bound(mean[j], std::sqrt(variance[j]), target);
  }
  Index likely;
  score.head(n).maxCoeff(&likely);
  double best = expected_improvement(mean[likely], std::sqrt(variance[likely]), target);
  for (Index j = 0; j < n; ++j) {
    if (score[j] < best * (1.0 - 1e-6)) {
      score[j] = -kInf;
      continue;
    }
    score[j] = expected_improvement(mean[j], std::sqrt(variance[j]), target);
    best = std::max(best, score[j]);
  }
  return best;
}

Index choose_by_improvement(const Acquisition& a, const double* mean, const double* variance,
                            Index n, VectorXd& score) {
  const double target = a.incumbent + a.xi;
  const double best = improvements(mean, variance, n, target, score);
  if (best > 1e-290) return first_best(score.data(), n, kTie * best);
  // Every value underflows: the logarithm still orders them.
  for (Index j = 0; j < n; ++j) {
    score[j] = log_expected_improvement(mean[j], std::sqrt(variance[j]), target);
  }
  return first_best(score.data(), n, kTie);
}

}  // namespace

Index first_best(const double* score, Index n, double tolerance) {
  double best = -kInf;
  for (Index j = 0; j < n; ++j) best = std::max(best, score[j]);
  const double enough = best - tolerance;
  for (Index j = 0; j < n; ++j) {
    if (score[j] >= enough || score[j] == best) return j;
  }
  return 0;
}

double expected_improvement(double mean, double sd, double target) {
  const double gap = mean - target;
  if (!(sd > 0.0)) return std::max(gap, 0.0);
  const double z = gap / sd;
  const double tail = 0.5 * std::erfc(-z * kSqrtHalf);
  const double density = kInvSqrt2Pi * std::exp(-0.5 * z * z);
  return std::max(0.0, sd * (z * tail + density));
}

double log_expected_improvement(double mean, double sd, double target) {
  const double gap = mean - target;
  if (!(sd > 0.0)) return gap > 0.0 ? std::log(gap) : -kInf;
  const double z = gap / sd;
  if (z > -25.0) return std::log(expected_improvement(mean, sd, target));
  // z Phi(z) + phi(z) = phi(z) (1/z^2 - 3/z^4 + O(z^-6)).
  const double zz = z * z;
  return std::log(sd * kInvSqrt2Pi) - 0.5 * zz - std::log(zz) + std::log1p(-3.0 / zz);
}

double improvement_z(double mean, double sd, double target) {
  const double gap = mean - target;
  if (sd > 0.0) return gap / sd;
  return gap > 0.0 ? kInf : -kInf;
}

Index choose_arm(const Acquisition& a, const double* mean, const double* variance, Index n,
                 VectorXd& scratch) {
  if (scratch.size() < upper_bound_scratch(n)) scratch.resize(upper_bound_scratch(n));
  const double tie = kTie * a.prior_scale;
  switch (a.kind) {
    case PolicyKind::ucb:
      return first_upper_bound(mean, variance, n, a.width, tie, scratch.data());
    case PolicyKind::mean:
      return first_best(mean, n, tie);
    case PolicyKind::variance:
      for (Index j = 0; j < n; ++j) scratch[j] = std::sqrt(variance[j]);
      return first_best(scratch.data(), n, tie);
    case PolicyKind::pi:
      for (Index j = 0; j < n; ++j) {
        scratch[j] = improvement_z(mean[j], std::sqrt(variance[j]), a.incumbent + a.xi);
      }
      return first_best(scratch.data(), n, kTie);
    case PolicyKind::ei:
      return choose_by_improvement(a, mean, variance, n, scratch);
    default:
      throw std::logic_error("this policy does not score arms one by one");
  }
}

}  // namespace gpb
