// A quantity: one outcome as it is modelled. What its observations say, with and without what is
// pending, and under other noise variances where the policy asks for these.
#ifndef GPB_QUANTITY_H
#define GPB_QUANTITY_H

#include "events/fold.h"
#include "events/output_map.h"
#include "spaces/space.h"

namespace gpb {

// A noise variance that differs from place to place: its logarithm is the mean of a Gaussian process.
class NoiseField {
 public:
  NoiseField(KernelPtr kernel, Points places, VectorXd weights, double level, double least, double most)
      : kernel_(std::move(kernel)), places_(std::move(places)), weights_(std::move(weights)), level_(level),
        least_(least), most_(most) {
    if (places_.rows() != weights_.size()) throw std::invalid_argument("a noise of other places");
  }
  double at(const VectorXd& x) const {
    VectorXd cross(places_.rows());
    kernel_->cross(x, places_, cross);
    return std::min(std::max(std::exp(level_ + cross.dot(weights_)), least_), most_);
  }

 private:
  KernelPtr kernel_;
  Points places_;
  VectorXd weights_;
  double level_, least_, most_;
};

// What hyperparameters decide about one outcome.
struct OutcomeBeliefs {
  std::unique_ptr<Space> space;  // the bandit's, with this outcome's kernel and prior mean
  double noise_var = 1.0;
  std::shared_ptr<const NoiseField> noise_field;  // null: noise_var everywhere
  OutputMap outputs;
  Role role;
  LikelihoodPtr likelihood;  // null: Gaussian noise
  bool compares = false;     // values are of one place compared with another
  bool variational = false;  // sites are those of expectations, see fit_variational()

  // Noise variances of values, as the model has these: of one that was told with it,
  double mapped_noise(double value, double own) const {
    const double slope = outputs.slope(value);
    return own * slope * slope;
  }
  // of one that may be any between two,
  double noise_of_range(double one, double other) const {
    const double range = outputs.value(other) - outputs.value(one);
    return noise_var + range * range / 12.0;
  }
  double noise_of(double value, const Told& told, const Place& place) const {
    if (!std::isnan(told.doubted_to)) return noise_of_range(value, told.doubted_to);
    return std::isnan(told.noise_var) ? noise_at(place) : mapped_noise(value, told.noise_var);
  }
  double noise_at(const Place& place) const {
    return noise_field ? noise_field->at(space->inputs(place)) : noise_var;
  }
};

class Quantity {
 public:
  // `beliefs` outlive the quantity. `companions`: noise variances of further posteriors; `norm_bound`: of the
  // mean, with a posterior besides whose sites have the curvature that this leaves (NaN: none), see GlmWidth.
  Quantity(const OutcomeBeliefs& beliefs, const Forgetting& forgetting, bool variance_knows,
           const std::vector<double>& companions, double norm_bound = kNaN)
      : beliefs_(&beliefs) {
    const auto made = [&](double noise_var, const Posterior* means_of = nullptr) {
      auto posterior = beliefs.space->make_posterior(noise_var, forgetting);
      if (means_of) posterior->take_means_of(*means_of);
      return std::make_unique<Observations>(std::move(posterior), forgetting, beliefs.likelihood,
                                            beliefs.compares, beliefs.variational);
    };
    known_ = made(beliefs.noise_var);
    if (variance_knows) all_ = made(beliefs.noise_var, &known_->posterior());
    for (const double noise_var : companions) companions_.push_back(made(noise_var));
    if (std::isnan(norm_bound)) return;
    curved_ = made(beliefs.noise_var);
    known_->bound_norm(norm_bound);
    curved_->bound_norm(norm_bound);
    curved_->bound_curvature(*known_);
  }

  // ---- following the fold
  void asked(Index id, const Place& place) {
    // Its value does not touch the variance, which is all that is asked of this posterior.
    if (!all_) return;
    all_->put(id, place, {beliefs_->space->prior_mean(place), weight(kNaN, Told(), place), 1.0, nullptr, true});
  }
  // `other`: the place that this one was compared with, `ranked`: those that it was ranked with, if it was.
  void learned(Index id, const Place& place, double reward, const Told& told, const Place* other,
               std::shared_ptr<const RankedPlaces> ranked) {
    Reading reading = this->reading(place, reward, told, other);
    reading.ranked = std::move(ranked);
    known_->put(id, place, reading);
    for (auto& companion : companions_) companion->put(id, place, reading);
    if (curved_) curved_->put(id, place, reading);
    if (!all_) return;
    if (!beliefs_->likelihood) reading.value = beliefs_->space->prior_mean(place);
    all_->put(id, place, reading);
  }
  void dropped(Index id) {
    each([id](Observations& observations) { observations.drop(id); });
  }
  // Nothing is known; the next ids are `first` and above.
  void clear(Index first) {
    each([first](Observations& observations) { observations.clear(first); });
  }
  void advance(Index round) {
    each([round](Observations& observations) { observations.advance(round); });
  }
  template <class RewardOf>
  void revalue(RewardOf reward_of) {
    const auto value_of = [&](Index id) { return beliefs_->outputs.value(reward_of(id)); };
    known_->revalue(value_of);
    for (auto& companion : companions_) companion->revalue(value_of);
  }

  // A query is asked by what is known now.
  void asked() {
    each([](Observations& observations) { observations.asked(); });
  }

  // ---- what it says
  const Posterior& mean() const { return known_->posterior(); }
  const Posterior& variance() const { return all_ ? all_->posterior() : mean(); }
  bool is_curved() const { return curved_ != nullptr; }
  const Posterior& curved() const { return curved_ ? curved_->posterior() : mean(); }
  bool knows_pending() const { return all_ != nullptr; }
  const Observations& known() const { return *known_; }
  std::vector<const Posterior*> companions() const {
    std::vector<const Posterior*> out;
    for (const auto& companion : companions_) out.push_back(&companion->posterior());
    return out;
  }
  // Of a value among the posterior's observations.
  double weight(double reward, const Told& told, const Place& place) const {
    if (beliefs_->likelihood) return 1.0;
    return beliefs_->noise_var / beliefs_->noise_of(reward, told, place) * told.times();
  }
  // Mean and sd at a place.
  void at(const Place& place, double& mean_here, double& sd) const {
    mean().at(place, mean_here, sd);
    double ignored;
    if (all_) all_->posterior().at(place, ignored, sd);
    if (curved_) curved_->posterior().at(place, ignored, sd);
  }

 private:
  Reading reading(const Place& place, double reward, const Told& told, const Place* other) const {
    if (!beliefs_->likelihood) {
      const bool owns_noise =
          beliefs_->noise_field || !std::isnan(told.noise_var) || !std::isnan(told.doubted_to);
      return {beliefs_->outputs.value(reward), weight(reward, told, place), 1.0, nullptr, false, owns_noise};
    }
    return {reward, 1.0, told.times(), other, false};
  }
  template <class Change>
  void each(Change change) {
    change(*known_);
    for (auto& companion : companions_) change(*companion);
    if (all_) change(*all_);
    if (curved_) change(*curved_);
  }

  const OutcomeBeliefs* beliefs_;
  std::unique_ptr<Observations> known_;  // what the mean knows
  std::unique_ptr<Observations> all_;    // pending queries too, where the variance knows them
  std::vector<std::unique_ptr<Observations>> companions_;
  std::unique_ptr<Observations> curved_;  // see the constructor
};

}  // namespace gpb

#endif
