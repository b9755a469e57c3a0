// The model of one outcome: its posteriors of the mean and of the variance. Uses events/ and spaces/.
// The mean excludes pending queries; the variance may include them. A policy may request posteriors with other noise
// variances.
#ifndef GPB_OUTCOME_MODEL_H
#define GPB_OUTCOME_MODEL_H

#include "events/bandit_state.h"
#include "events/outcome_transform.h"
#include "spaces/space.h"

namespace gpb {

// A noise variance that differs from point to point: its logarithm is the mean of a Gaussian process.
class NoiseField {
 public:
  NoiseField(KernelPtr kernel, Points points, VectorXd weights, double level, double least, double most)
      : kernel_(std::move(kernel)), points_(std::move(points)), weights_(std::move(weights)), level_(level),
        least_(least), most_(most) {
    if (points_.rows() != weights_.size()) throw_invalid("points and weights of noise differ in number");
  }
  double at(const VectorXd& x) const {
    VectorXd cross(points_.rows());
    kernel_->cross(x, points_, cross);
    return std::min(std::max(std::exp(level_ + cross.dot(weights_)), least_), most_);
  }

 private:
  KernelPtr kernel_;
  Points points_;
  VectorXd weights_;
  double level_, least_, most_;
};

// The part of the model of one outcome that depends on hyperparameters.
struct OutcomeModelState {
  std::unique_ptr<Space> space;  // the bandit's, with this outcome's kernel and prior mean
  double noise_var = 1.0;
  std::shared_ptr<const NoiseField> noise_field;  // null: noise_var everywhere
  OutcomeTransform outputs;
  Role role;
  LikelihoodPtr likelihood;  // null: Gaussian noise
  bool compares = false;     // values compare one point with another
  bool variational = false;  // variational sites, see fit_variational()

  // Noise variances of values on the transformed scale: of one that was reported with a noise variance,
  double mapped_noise(double value, double own) const {
    const double slope = outputs.slope(value);
    return own * slope * slope;
  }
  // and of one that is uniform between two rewards.
  double noise_of_range(double one, double other) const {
    const double range = outputs.value(other) - outputs.value(one);
    return noise_var + range * range / 12.0;
  }
  double noise_of(double value, const Report& reported, const Point& point) const {
    if (!std::isnan(reported.doubted_to)) return noise_of_range(value, reported.doubted_to);
    return std::isnan(reported.noise_var) ? noise_at(point) : mapped_noise(value, reported.noise_var);
  }
  double noise_at(const Point& point) const {
    return noise_field ? noise_field->at(space->inputs(point)) : noise_var;
  }
};

class OutcomeModel {
 public:
  // `model_state` must outlive this object. `auxiliaries`: noise variances of further posteriors. `norm_bound`: bound
  // of the mean's RKHS norm (NaN: none). With it a further posterior has sites with the least curvature within the
  // bound; see GlmWidth.
  OutcomeModel(const OutcomeModelState& model_state, const Forgetting& forgetting, bool variance_knows,
           const std::vector<double>& auxiliaries, double norm_bound = kNaN)
      : model_state_(&model_state) {
    const auto made = [&](double noise_var, const Posterior* means_of = nullptr) {
      auto posterior = model_state.space->make_posterior(noise_var, forgetting);
      if (means_of) posterior->take_means_of(*means_of);
      return std::make_unique<Observations>(std::move(posterior), forgetting, model_state.likelihood,
                                            model_state.compares, model_state.variational);
    };
    known_ = made(model_state.noise_var);
    if (variance_knows) all_ = made(model_state.noise_var, &known_->posterior());
    for (const double noise_var : auxiliaries) auxiliaries_.push_back(made(noise_var));
    if (std::isnan(norm_bound)) return;
    curved_ = made(model_state.noise_var);
    known_->bound_norm(norm_bound);
    curved_->bound_norm(norm_bound);
    curved_->bound_curvature(*known_);
  }

  // ---- following the bandit's state
  void asked(Index id, const Point& point) {
    // The variance does not depend on the value.
    if (!all_) return;
    all_->put(id, point, {model_state_->space->prior_mean(point), weight(kNaN, Report(), point), 1.0, nullptr, true});
  }
  // `other`: the point that this one was compared with, or null. `ranked`: the points that it was ranked with, or null.
  void learned(Index id, const Point& point, double reward, const Report& reported, const Point* other,
               std::shared_ptr<const RankedPoints> ranked) {
    Measurement measurement = this->measurement(point, reward, reported, other);
    measurement.ranked = std::move(ranked);
    known_->put(id, point, measurement);
    for (auto& auxiliary : auxiliaries_) auxiliary->put(id, point, measurement);
    if (curved_) curved_->put(id, point, measurement);
    if (!all_) return;
    if (!model_state_->likelihood) measurement.value = model_state_->space->prior_mean(point);
    all_->put(id, point, measurement);
  }
  void dropped(Index id) {
    each([id](Observations& observations) { observations.drop(id); });
  }
  // Removes all data; the next ids are `first` and above.
  void clear(Index first) {
    each([first](Observations& observations) { observations.clear(first); });
  }
  void advance(Index round) {
    each([round](Observations& observations) { observations.advance(round); });
  }
  template <class RewardOf>
  void revalue(RewardOf reward_of) {
    const auto value_of = [&](Index id) { return model_state_->outputs.value(reward_of(id)); };
    known_->revalue(value_of);
    for (auto& auxiliary : auxiliaries_) auxiliary->revalue(value_of);
  }

  // Called for each query: chosen with the present data, or given. (A choice with equal posteriors reads one of them.)
  void asked(bool chosen) {
    const bool equal = all_ && are_equal();
    each([&](Observations& observations) { observations.asked(chosen && !(equal && &observations == all_.get())); });
  }

  // ---- posteriors
  const Posterior& mean() const { return known_->posterior(); }
  bool postpones() const { return known_->postpones(); }
  // (If none of many observations is pending, both posteriors are equal, and a second factor would only cost time.)
  const Posterior& variance() const {
    const Posterior& centre = mean();
    return !all_ || are_equal() ? centre : all_->posterior();
  }
  bool is_curved() const { return curved_ != nullptr; }
  const Posterior& curved() const { return curved_ ? curved_->posterior() : mean(); }
  bool knows_pending() const { return all_ != nullptr; }
  const Observations& known() const { return *known_; }
  std::vector<const Posterior*> auxiliaries() const {
    std::vector<const Posterior*> out;
    for (const auto& auxiliary : auxiliaries_) out.push_back(&auxiliary->posterior());
    return out;
  }
  // The weight of a value in the posterior.
  double weight(double reward, const Report& reported, const Point& point) const {
    if (model_state_->likelihood) return 1.0;
    return model_state_->noise_var / model_state_->noise_of(reward, reported, point) * reported.times();
  }
  // Mean and sd at a point.
  void at(const Point& point, double& point_mean, double& sd) const {
    mean().at(point, point_mean, sd);
    double ignored;
    if (all_) variance().at(point, ignored, sd);
    if (curved_) curved_->posterior().at(point, ignored, sd);
  }

 private:
  static constexpr Index kFewObservations = 300;
  bool are_equal() const { return all_->known() == known_->known() && known_->known() > kFewObservations; }
  Measurement measurement(const Point& point, double reward, const Report& reported, const Point* other) const {
    if (!model_state_->likelihood) {
      const bool owns_noise =
          model_state_->noise_field || !std::isnan(reported.noise_var) || !std::isnan(reported.doubted_to);
      return {model_state_->outputs.value(reward), weight(reward, reported, point), 1.0, nullptr, false, owns_noise};
    }
    return {reward, 1.0, reported.times(), other, false};
  }
  template <class Delta>
  void each(Delta change) {
    change(*known_);
    for (auto& auxiliary : auxiliaries_) change(*auxiliary);
    if (all_) change(*all_);
    if (curved_) change(*curved_);
  }

  const OutcomeModelState* model_state_;
  std::unique_ptr<Observations> known_;  // the data of the mean
  std::unique_ptr<Observations> all_;    // with pending queries, if the variance includes them
  std::vector<std::unique_ptr<Observations>> auxiliaries_;
  std::unique_ptr<Observations> curved_;  // see the constructor
};

}  // namespace gpb

#endif
