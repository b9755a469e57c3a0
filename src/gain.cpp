#include "gain.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "policy.h"

namespace gpb {

double FunctionGain::at(double s, double) {
  const double value = f_(s);
  if (!std::isfinite(value) || value < 0.0) {
    throw std::invalid_argument("`gain` must return one finite number >= 0, not " +
                                std::to_string(value) + " (at s = " + std::to_string(s) + ")");
  }
  return value;
}

double RateGain::at(double s, double) {
  if (s <= 1.0) return 0.0;
  return scale_ * std::pow(std::log(s), log_power_) * std::pow(s, power_);
}

GreedyGain::GreedyGain(std::unique_ptr<ArmPosterior> posterior)
    : posterior_(std::move(posterior)) {}

double GreedyGain::at(double s, double) {
  const auto wanted = static_cast<std::size_t>(std::max(0.0, s));
  const double tie = kTie * posterior_->table().prior_scale;
  VectorXd sd;
  while (gains_.size() <= wanted) {
    sd = posterior_->variance().cwiseSqrt();
    posterior_->add(first_best(sd.data(), sd.size(), tie), 0.0);
    gains_.push_back(0.5 * posterior_->log_det());
  }
  constexpr double factor = 1.5819767068693264;  // e / (e - 1)
  return factor * gains_[wanted];
}

SpectralGain::SpectralGain(VectorXd eigenvalues, double noise_var) {
  std::sort(eigenvalues.data(), eigenvalues.data() + eigenvalues.size(), std::greater<double>());
  double sum = 0.0, logs = 0.0;
  for (Index i = 0; i < eigenvalues.size(); ++i) {
    const double lambda = eigenvalues[i];
    if (!(lambda > 1e-14 * eigenvalues[0])) break;
    inverse_.push_back(noise_var / lambda);
    inverse_sum_.push_back(sum += inverse_.back());
    log_sum_.push_back(logs += std::log(inverse_.back()));
  }
}

double SpectralGain::at(double s, double) {
  if (s <= 0.0 || inverse_.empty()) return 0.0;
  // Water level nu with k active: k nu - sum_{i<k} inverse_i = s, and inverse_k-1 < nu.
  std::size_t low = 1, high = inverse_.size();
  while (low < high) {
    const std::size_t k = (low + high + 1) / 2;
    const double level = (s + inverse_sum_[k - 1]) / static_cast<double>(k);
    if (level > inverse_[k - 1]) low = k; else high = k - 1;
  }
  const double k = static_cast<double>(low);
  const double level = (s + inverse_sum_[low - 1]) / k;
  return 0.5 * (k * std::log(level) - log_sum_[low - 1]);
}

}  // namespace gpb
