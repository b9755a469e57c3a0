#include "posteriors/dense_model.h"

#include <algorithm>
#include <cmath>

namespace gpb {

void DenseModel::add(const Place& place, double y, Index round) {
  const double prior = prior_mean_(place);
  posterior_.add(place.x, y - prior, 1.0, round);
  observed_prior_.push_back(prior);
}

void DenseModel::replace(Index observation, double y) {
  posterior_.set_target(observation, y - observed_prior_[static_cast<std::size_t>(observation)]);
}

void DenseModel::replace_all(const std::vector<double>& y) {
  VectorXd centred(static_cast<Index>(y.size()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    centred[static_cast<Index>(i)] = y[i] - observed_prior_[i];
  }
  posterior_.set_targets(centred);
}

void DenseModel::clear() {
  posterior_.clear();
  observed_prior_.clear();
}

void DenseModel::at(const Place& place, double& mean, double& sd) const {
  double variance;
  posterior().predict_at(place.x, mean, variance);
  mean += prior_mean_(place);
  sd = std::sqrt(std::max(0.0, variance));
}

void DenseModel::predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
                         VectorXd& sd) const {
  VectorXd variance;
  posterior().predict(X, mean, variance);
  mean += prior_mean;
  sd = variance.cwiseMax(0.0).cwiseSqrt();
}

VectorXd DenseModel::means_at(const std::vector<Place>& places) const {
  const Index n = static_cast<Index>(places.size());
  if (n == 0) return VectorXd();
  Points X(n, places[0].x.size());
  VectorXd prior(n);
  for (Index i = 0; i < n; ++i) {
    X.row(i) = places[static_cast<std::size_t>(i)].x.transpose();
    prior[i] = prior_mean_(places[static_cast<std::size_t>(i)]);
  }
  // (Sums over the weights would be quicker, but lose digits where the noise is small.)
  VectorXd mean, ignored;
  posterior().predict(X, mean, ignored);
  return prior + mean;
}

// Without fading y_i - lambda_i alpha_i: no kernel needed.
VectorXd DenseModel::means_at_observations() const {
  const DensePosterior& known = posterior();
  VectorXd out(known.size());
  if (known.fades() && known.size() > 0) {
    VectorXd ignored;
    known.predict(known.points(), out, ignored);
  }
  for (Index i = 0; i < known.size(); ++i) {
    if (!known.fades()) {
      const double noise = known.noise_var() * known.noise_scale(i);
      out[i] = known.target(i) - noise * known.weights()[i];
    }
    out[i] += prior_at(i);
  }
  return out;
}

void SelectiveDenseModel::add(const Place& place, double y, Index round) {
  const double prior = prior_mean_(place);
  const Index slot = size();
  points_.push_back(place.x);
  centred_.push_back(y - prior);
  observed_prior_.push_back(prior);
  rounds_.push_back(round);
  if (weighs()) {
    settled_ = false;
    return;
  }
  const Index gone = window_.admit(round, slot);
  if (gone == slot) return;
  if (gone >= 0 || !settled_) {
    settled_ = false;
    return;
  }
  posterior_.add(place.x, y - prior);
  slots_.push_back(slot);
}

void SelectiveDenseModel::replace(Index observation, double y) {
  const auto k = static_cast<std::size_t>(observation);
  centred_[k] = y - observed_prior_[k];
  const auto at = std::find(slots_.begin(), slots_.end(), observation);
  if (at != slots_.end()) posterior_.set_target(at - slots_.begin(), centred_[k]);
}

void SelectiveDenseModel::replace_all(const std::vector<double>& y) {
  for (std::size_t k = 0; k < y.size(); ++k) centred_[k] = y[k] - observed_prior_[k];
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    posterior_.set_target(static_cast<Index>(i), centred_[static_cast<std::size_t>(slots_[i])]);
  }
}

void SelectiveDenseModel::clear() {
  DenseModel::clear();
  window_.clear();
  points_.clear();
  centred_.clear();
  rounds_.clear();
  slots_.clear();
  settled_ = true;
}

void SelectiveDenseModel::advance(Index round) {
  if (weighs() && round != now_ && size() > 0) settled_ = false;
  now_ = round;
}

void SelectiveDenseModel::settle() const {
  if (settled_) return;
  std::vector<double> scale;
  slots_.clear();
  if (weighs()) {
    for (Index k = 0; k < size(); ++k) {
      const double age = static_cast<double>(now_ - rounds_[static_cast<std::size_t>(k)]);
      const double weight = forgetting_.weight(age);
      if (weight <= kNoWeight) continue;
      slots_.push_back(k);
      scale.push_back(1.0 / weight);
    }
  } else {
    for (const auto& entry : window_.kept()) slots_.push_back(entry.second);
    scale.assign(slots_.size(), 1.0);
  }
  posterior_.clear();
  const Index m = static_cast<Index>(slots_.size());
  if (m > 0) {
    Points X(m, points_[static_cast<std::size_t>(slots_[0])].size());
    VectorXd y(m);
    for (Index i = 0; i < m; ++i) {
      const auto k = static_cast<std::size_t>(slots_[static_cast<std::size_t>(i)]);
      X.row(i) = points_[k].transpose();
      y[i] = centred_[k];
    }
    posterior_.add(X, y, Eigen::Map<const VectorXd>(scale.data(), m));
  }
  settled_ = true;
}

FadingDenseModel::FadingDenseModel(KernelPtr kernel, double noise_var, PriorMean prior_mean,
                                   double rate)
    : DenseModel(std::move(kernel), noise_var, std::move(prior_mean)) {
  posterior_.set_fading(rate);
}

}  // namespace gpb
