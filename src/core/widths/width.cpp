// Functions of width.h: confidence widths: the multipliers sqrt(beta_t) of the posterior standard deviation. Uses
// likelihoods/.
#include "widths/width.h"

#include <algorithm>
#include <cmath>

namespace gpb {

double FunctionWidth::at(const WidthState& state) {
  MatrixXd seen(1, 5);
  seen << state.t, state.log_det, state.noise_var, state.arms, state.rounds;
  const double value = f_(seen);
  if (!std::isfinite(value) || value < 0.0) {
    throw_invalid("`width` must return one finite number >= 0, not " +
                  std::to_string(value) + " (at t = " + std::to_string(state.t) + ")");
  }
  return value;
}

double SrinivasFiniteWidth::at(const WidthState& state) {
  const double delta = delta_ * state.failure_factor;
  const double beta = 2.0 * std::log(state.arms * state.t * state.t * kPi * kPi / (6.0 * delta));
  return std::sqrt(scale_ * std::max(0.0, beta));
}

double RandomisedWidth::at(const WidthState& state) {
  if (!state.rng) return kNaN;
  const double exponential = -2.0 * std::log(state.rng->uniform());
  return std::sqrt(std::max(0.0, 2.0 * std::log(0.5 * state.arms) + exponential));
}

double SrinivasCompactWidth::at(const WidthState& state) {
  const double delta = delta_ * state.failure_factor, tt = state.t * state.t;
  const double per_axis = tt * d_ * b_ * r_ * std::sqrt(std::log(4.0 * d_ * a_ / delta));
  const double beta = 2.0 * std::log(tt * 2.0 * kPi * kPi / (3.0 * delta)) +
                      2.0 * d_ * std::log(std::max(1.0, per_axis));
  return std::sqrt(scale_ * std::max(0.0, beta));
}

double SrinivasBoxWidth::at(const WidthState& state) {
  const double delta = delta_ * state.failure_factor, t = state.known + 1.0;
  const double steepest = b_ * std::sqrt(std::max(0.0, std::log(2.0 * d_ * a_ / delta)));
  const double m = std::max(1.0, std::ceil(steepest * d_ * r_ * t * t / (2.0 * slack_)));
  const double log_cells = d_ * std::log(m);
  const double log_count = log_cells + std::log1p(std::exp(-log_cells));
  return std::sqrt(2.0 * (log_count + std::log(kPi * kPi * t * t / (3.0 * delta))));
}

double SrinivasRkhsWidth::at(const WidthState& state) {
  const double gamma = gain_->at(state.t - (printed_ ? 0.0 : 1.0), state.log_det);
  const double log_term = std::log(state.t / (delta_ * state.failure_factor));
  return std::sqrt(scale_ * (2.0 * B_ * B_ + 300.0 * gamma * std::pow(log_term, 3.0)));
}

double IgpWidth::at(const WidthState& state) {
  const double gamma = gain_->at(state.t - 1.0, state.log_det);
  const double log_term = std::log(numerator_ / (delta_ * state.failure_factor));
  return B_ + R_ * state.noise_factor * std::sqrt(2.0 * (gamma + 1.0 + log_term));
}

double NoiseScale::at(const WidthState& state) const {
  const double own = bounded ? std::sqrt(state.own_noise().largest_ratio) : 1.0;
  return R * own * state.noise_factor;
}

double RealisedWidth::at(const WidthState& state) {
  const double log_term = 2.0 * std::log(1.0 / (delta_ * state.failure_factor));
  return B_ + noise_.at(state) / std::sqrt(state.noise_var) * std::sqrt(log_term + state.log_det);
}

double FixedWidth::at(const WidthState& state) {
  const double log_term = std::log(2.0 * state.arms * looks_ / (delta_ * state.failure_factor));
  const double noise = R_ * state.noise_factor;
  return std::sqrt(B_ * B_ + 2.0 * noise * noise / state.noise_var * log_term);
}

double AmmWidth::at(const WidthState& state) {
  const double log_term = 2.0 * std::log(1.0 / (delta_ * state.failure_factor));
  const double noise = noise_.at(state);
  return std::sqrt(B_ * B_ + noise * noise / state.noise_var * (state.log_det + log_term));
}

double GlmWidth::at(const WidthState& state) {
  const double information = state.information ? state.information() : 0.0;
  const double log_term = 2.0 * std::log(1.0 / (delta_ * state.failure_factor));
  const double squared = std::max(0.0, B_ * B_ + log_term + information);
  const SiteGap gap = state.site_gap ? state.site_gap() : SiteGap();
  return (gap.gradient + std::sqrt(squared + gap.gradient * gap.gradient)) * (1.0 + gap.sd);
}

double SdfWidth::at(const WidthState& state) {
  return base_->at(state) + B_y_ * state.recent_sd(pending_only_);
}

double MisspecifiedWidth::at(const WidthState& state) {
  const double precision = (state.t - 1.0) / state.noise_var + state.own_noise().precision;
  return base_->at(state) + epsilon_ * std::sqrt(std::max(0.0, precision));
}

double CorruptedWidth::at(const WidthState& state) {
  const double ratio = state.own_noise().largest_ratio;
  return base_->at(state) + total_ * std::sqrt(ratio / state.noise_var);
}

double CpdWidth::at(const WidthState& state) {
  const double dd = d_ * (d_ + 1.0);
  const double log_horizon = std::log(horizon_);
  return std::sqrt(D_ * std::pow(state.t, dd / (2.0 * nu_ + dd))) * log_horizon * log_horizon;
}

// R_t^2 = -2 R^2 log mean exp(-A_j / (2 R^2)) + 2 R^2 log(1 / delta). Here
//   A_j = alpha_j y' (K + alpha_j I)^-1 y + R^2 log det(I + K / alpha_j).
// Without noise R_t^2 is the least A_j.
double DmmBound::radius(const std::vector<DmmTerm>& prior_scales, const WidthState& state) const {
  const double noise = R * state.noise_factor, spread = 2.0 * noise * noise;
  std::vector<double> cost;
  for (const DmmTerm& term : prior_scales) {
    cost.push_back(term.alpha * term.quadratic + 0.5 * spread * term.log_det);
  }
  const double least = *std::min_element(cost.begin(), cost.end());
  if (!(spread > 0.0)) return least;
  double sum = 0.0;
  for (const double one : cost) sum += std::exp((least - one) / spread);
  return least - spread * std::log(sum / static_cast<double>(cost.size())) +
         spread * std::log(1.0 / (delta * state.failure_factor));
}

double DmmBound::multiplier(const DmmTerm& term, double radius) const {
  const double left = radius + term.alpha * B * B - term.alpha * term.quadratic;
  return std::sqrt(std::max(0.0, left) / term.alpha);
}

}  // namespace gpb
