#include "posteriors/forgetting_model.h"

#include <algorithm>
#include <numeric>

#include "posteriors/dense_posterior.h"

namespace gpb {

// ---- window -----------------------------------------------------------------

void WindowArmModel::add(const Place& place, double y, Index round) {
  const Index slot = size();
  arms_.push_back(place.arm);
  values_.push_back(y);
  const Index gone = window_.admit(round, slot);
  kept_.push_back(gone != slot);
  if (gone == slot) return;
  posterior_->add(place.arm, y);
  if (gone < 0) return;
  const auto k = static_cast<std::size_t>(gone);
  posterior_->drop(arms_[k], values_[k]);
  kept_[k] = 0;
}

void WindowArmModel::replace(Index observation, double y) {
  const auto k = static_cast<std::size_t>(observation);
  if (kept_[k]) ArmModel::replace(observation, y);
  else values_[k] = y;
}

void WindowArmModel::replace_all(const std::vector<double>& y) {
  values_ = y;
  VectorXd weight, weighted;
  double squares;
  statistics(weight, weighted, squares);
  posterior_->set_values(weighted, squares);
}

void WindowArmModel::clear() {
  ArmModel::clear();
  window_.clear();
  kept_.clear();
}

void WindowArmModel::statistics(VectorXd& weight, VectorXd& weighted, double& squares) const {
  const VectorXd& prior = posterior_->prior_mean();
  weight = VectorXd::Zero(prior.size());
  weighted = VectorXd::Zero(prior.size());
  squares = 0.0;
  for (const auto& entry : window_.kept()) {
    const auto k = static_cast<std::size_t>(entry.second);
    const double centred = values_[k] - prior[arms_[k]];
    weight[arms_[k]] += 1.0;
    weighted[arms_[k]] += centred;
    squares += centred * centred;
  }
}

// ---- weights ----------------------------------------------------------------

WeightedArmModel::WeightedArmModel(std::unique_ptr<ArmPosterior> posterior, double rate)
    : ArmModel(std::move(posterior)),
      rate_(rate),
      weight_(VectorXd::Zero(posterior_->prior_mean().size())),
      weighted_(weight_) {}

double WeightedArmModel::weight_now(Index round) const {
  const double weight = std::pow(rate_, static_cast<double>(now_ - round));
  return weight > kNoWeight ? weight : 0.0;
}

void WeightedArmModel::add(const Place& place, double y, Index round) {
  const double weight = weight_now(round), centred = y - posterior_->prior_mean()[place.arm];
  arms_.push_back(place.arm);
  values_.push_back(y);
  rounds_.push_back(round);
  weight_[place.arm] += weight;
  weighted_[place.arm] += weight * centred;
  squares_ += weight * centred * centred;
  settled_ = false;
}

void WeightedArmModel::replace(Index observation, double y) {
  const auto k = static_cast<std::size_t>(observation);
  const double weight = weight_now(rounds_[k]), prior = posterior_->prior_mean()[arms_[k]];
  const double old = values_[k] - prior, centred = y - prior;
  weighted_[arms_[k]] += weight * (centred - old);
  squares_ += weight * (centred * centred - old * old);
  values_[k] = y;
  settled_ = false;
}

void WeightedArmModel::replace_all(const std::vector<double>& y) {
  values_ = y;
  weighted_.setZero();
  squares_ = 0.0;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    const double weight = weight_now(rounds_[k]);
    const double centred = values_[k] - posterior_->prior_mean()[arms_[k]];
    weighted_[arms_[k]] += weight * centred;
    squares_ += weight * centred * centred;
  }
  settled_ = false;
}

void WeightedArmModel::clear() {
  ArmModel::clear();
  rounds_.clear();
  weight_.setZero();
  weighted_.setZero();
  squares_ = 0.0;
  settled_ = true;
}

void WeightedArmModel::advance(Index round) {
  const double factor = std::pow(rate_, static_cast<double>(round - now_));
  now_ = round;
  if (factor == 1.0 || values_.empty()) return;
  weight_ *= factor;
  weighted_ *= factor;
  squares_ *= factor;
  for (Index i = 0; i < weight_.size(); ++i) {
    if (weight_[i] < kNoWeight) weight_[i] = weighted_[i] = 0.0;
  }
  settled_ = false;
}

void WeightedArmModel::settle() const {
  if (settled_) return;
  if (weight_.maxCoeff() > 0.0) posterior_->set_statistics(weight_, weighted_, squares_);
  else posterior_->clear();
  settled_ = true;
}

void WeightedArmModel::statistics(VectorXd& weight, VectorXd& weighted, double& squares) const {
  weight = weight_;
  weighted = weighted_;
  squares = squares_;
}

// ---- fading -----------------------------------------------------------------

void FadingArmModel::drift_to(Index round) const {
  if (round > reached_ && taken_in_ > 0) {
    posterior_->drift(1.0 - std::pow(1.0 - rate_, static_cast<double>(round - reached_)));
  }
  reached_ = round;
}

void FadingArmModel::add(const Place& place, double y, Index round) {
  arms_.push_back(place.arm);
  values_.push_back(y);
  rounds_.push_back(round);
}

void FadingArmModel::replace(Index observation, double y) {
  const auto k = static_cast<std::size_t>(observation);
  if (values_[k] == y) return;
  values_[k] = y;
  if (k < taken_in_) in_order_ = false;
}

void FadingArmModel::replace_all(const std::vector<double>& y) {
  values_ = y;
  if (taken_in_ > 0) in_order_ = false;
}

void FadingArmModel::clear() {
  ArmModel::clear();
  rounds_.clear();
  taken_in_ = 0;
  in_order_ = true;
}

// The observations that the posterior has not taken in yet, in the order of their rounds.
void FadingArmModel::take_in() const {
  std::vector<std::size_t> order(arms_.size() - taken_in_);
  std::iota(order.begin(), order.end(), taken_in_);
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return rounds_[a] < rounds_[b]; });
  if (!order.empty() && taken_in_ > 0 && rounds_[order.front()] < reached_) in_order_ = false;
  if (!in_order_) {
    posterior_->clear();
    taken_in_ = 0;
    in_order_ = true;
    return take_in();
  }
  for (const std::size_t k : order) {
    drift_to(rounds_[k]);
    posterior_->add(arms_[k], values_[k]);
    ++taken_in_;
  }
}

void FadingArmModel::settle() const {
  take_in();
  drift_to(now_);
}

void FadingArmModel::predict(const Points& X, const VectorXd& prior_mean, VectorXd& mean,
                             VectorXd& sd) const {
  const ArmTable& table = posterior_->table();
  DensePosterior dense(table.kernel, posterior_->noise_var());
  dense.set_fading(rate_);
  for (std::size_t k = 0; k < arms_.size(); ++k) {
    dense.add(table.points->row(arms_[k]).transpose(),
              values_[k] - posterior_->prior_mean()[arms_[k]], 1.0, rounds_[k]);
  }
  dense.set_now(now_);
  VectorXd variance;
  dense.predict(X, mean, variance);
  mean += prior_mean;
  sd = variance.cwiseMax(0.0).cwiseSqrt();
}

}  // namespace gpb
