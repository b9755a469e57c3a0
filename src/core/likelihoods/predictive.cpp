// Predictive probabilities and evidences. Uses likelihoods/laplace.h.
#include "likelihoods/predictive.h"

#include "likelihoods/laplace.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr double kReach = 12.0;       // of the integral, in units of its scale
constexpr int kModeSteps = 60;
constexpr double kFinest = 1.0 / 32;  // step for likelihoods that are not log-concave, in sd

// The logarithm of the integrand, up to the normal density's constant.
double log_term(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double sd, double f) {
  const double z = (f - mean) / sd;
  return likelihood.at(f, data).value - 0.5 * z * z;
}

// The mode of the integrand and its curvature's scale, for a log-concave likelihood: damped Newton steps.
void seek_mode(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double sd, double& f,
               double& scale) {
  const double precision = 1.0 / (sd * sd);
  f = mean;
  double now = log_term(likelihood, data, mean, sd, f);
  for (int step = 0; step < kModeSteps; ++step) {
    const Slope slope = likelihood.at(f, data);
    scale = 1.0 / std::sqrt(precision + std::max(0.0, -slope.second));
    double by = (slope.first - (f - mean) * precision) * scale * scale;
    double then = log_term(likelihood, data, mean, sd, f + by);
    while (!(then >= now - 1e-12 * std::abs(now)) && std::abs(by) > 1e-10 * scale) {
      by /= 2.0;
      then = log_term(likelihood, data, mean, sd, f + by);
    }
    f += by;
    now = then;
    if (std::abs(by) <= 1e-6 * scale) return;
  }
}

}  // namespace

double log_predictive(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double sd) {
  double centre = mean, scale = sd, step = kFinest * sd;
  if (!(sd > 0.0)) return likelihood.at(mean, data).value;
  if (likelihood.concave()) {
    seek_mode(likelihood, data, mean, sd, centre, scale);
    step = scale / 4.0;
  }
  const int count = static_cast<int>(std::ceil(kReach * scale / step));
  std::vector<double> terms;
  for (int k = -count; k <= count; ++k) terms.push_back(log_term(likelihood, data, mean, sd, centre + k * step));
  const double largest = *std::max_element(terms.begin(), terms.end());
  double sum = 0.0;
  for (const double term : terms) sum += std::exp(term - largest);
  return largest + std::log(sum * step / (sd * std::sqrt(2.0 * 3.14159265358979323846)));
}

double laplace_evidence(const Likelihood& likelihood, const std::vector<Likelihood::Data>& data, VectorXd mean,
                        MatrixXd covariance) {
  SiteSystem system(SitePrior{std::move(mean), MatrixXd(), std::move(covariance), VectorXd()});
  return fit_sites(system, PooledTerms(likelihood, data)).log_evidence;
}

}  // namespace gpb
