// Functions of information.h: information gain 1/2 log det(I + K_A / noise_var): of greedy choices, and a spectral
// upper bound. Uses base/, linalg/ and posteriors/.
#include "widths/information.h"

#include "base/ties.h"
#include "linalg/decompositions.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// Ties, in prior standard deviations. Far smaller than the tie of the policies, which would change the gain itself: the
// prior variances of distant points differ by less than that.
constexpr double kGreedyTie = 1e-12;

}  // namespace

GreedyInformation::GreedyInformation(std::unique_ptr<ArmPosterior> posterior)
    : posterior_(std::move(posterior)) {}

double GreedyInformation::at(Index s) {
  const double tie = kGreedyTie * posterior_->table().prior_scale;
  while (static_cast<Index>(gain_.size()) <= s) {
    sd_ = posterior_->variance().cwiseSqrt();
    posterior_->add(first_best(sd_.data(), sd_.size(), tie), 0.0);
    gain_.push_back(0.5 * posterior_->log_det());
  }
  return gain_[static_cast<std::size_t>(std::max<Index>(0, s))];
}

SpectralInformation::SpectralInformation(const VectorXd& eigenvalues, double noise_var)
    : cost_sum_(1, 0.0), log_cost_sum_(1, 0.0) {
  std::vector<double> sorted(eigenvalues.data(), eigenvalues.data() + eigenvalues.size());
  std::sort(sorted.begin(), sorted.end());
  std::reverse(sorted.begin(), sorted.end());
  for (double lambda : sorted) {
    if (!(lambda > 0.0) || !std::isfinite(noise_var / lambda)) break;
    const double cost = noise_var / lambda;
    entry_.push_back(cost * static_cast<double>(entry_.size()) - cost_sum_.back());
    cost_sum_.push_back(cost_sum_.back() + cost);
    log_cost_sum_.push_back(log_cost_sum_.back() + std::log(cost));
  }
}

double SpectralInformation::at(double s) const {
  if (!(s > 0.0) || entry_.empty()) return 0.0;
  const auto active = static_cast<std::size_t>(
      std::lower_bound(entry_.begin(), entry_.end(), s) - entry_.begin());
  const double q = static_cast<double>(active);
  const double level = (s + cost_sum_[active]) / q;
  return 0.5 * (q * std::log(level) - log_cost_sum_[active]);
}

VectorXd gram_eigenvalues(const MatrixXd& factor) {
  if (factor.cols() == 0) return VectorXd();
  return symmetric_eigenvalues(crossprod(factor, factor)).reverse().cwiseMax(0.0);
}

}  // namespace gpb
