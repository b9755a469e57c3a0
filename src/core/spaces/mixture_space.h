// One space under several models: points and searches are those of the first model, and posteriors are mixtures over
// all models.
#ifndef GPB_MIXTURE_SPACE_H
#define GPB_MIXTURE_SPACE_H

#include <algorithm>
#include <cmath>

#include "posteriors/mixture_posterior.h"
#include "spaces/space.h"

namespace gpb {

class MixtureSpace final : public Space {
 public:
  struct Model {
    std::unique_ptr<Space> space;
    double noise_var, weight;
  };
  // `noise_var`: the reference for all other noise variances.
  MixtureSpace(std::vector<Model> models, double noise_var)
      : models_(std::move(models)), noise_var_(noise_var) {}

  std::unique_ptr<Posterior> make_posterior(double noise_var,
                                            const Forgetting& forgetting) const override {
    const double ratio = noise_var / noise_var_;
    std::vector<MixturePosterior::Model> parts;
    for (const Model& one : models_) {
      parts.push_back({one.space->make_posterior(ratio * one.noise_var, forgetting), one.weight});
    }
    return std::make_unique<MixturePosterior>(std::move(parts), noise_var);
  }
  const Candidates& candidates(const Context& context) override { return first().candidates(context); }
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override {
    return first().maximise(score, context, from);
  }
  Point uniform(const Context& context, Rng& rng) const override {
    return first().uniform(context, rng);
  }
  Point point(Index arm, Index context, const VectorXd& inputs) const override {
    return first().point(arm, context, inputs);
  }
  std::vector<Point> all_points(const Context& context, double most) const override {
    return first().all_points(context, most);
  }
  bool in_context(const Point& point, const Context& context) const override {
    return first().in_context(point, context);
  }
  bool holds(const Point& point) const override { return first().holds(point); }
  Points moved(const std::vector<const Point*>& points, const Context& context) const override {
    return first().moved(points, context);
  }
  VectorXd inputs(const Point& point) const override { return first().inputs(point); }
  double prior_mean(const Point& point) const override {
    return average([&point](const Space& space) { return space.prior_mean(point); });
  }
  double largest_prior_mean(const Context& context) const override {
    return average([&context](const Space& space) { return space.largest_prior_mean(context); });
  }
  double prior_scale() const override {
    return std::sqrt(average([](const Space& space) {
      return space.prior_scale() * space.prior_scale();
    }));
  }
  // With it the noise of each model, whose ratio to this one is fixed, is within its bound.
  double least_noise() const override {
    double least = 0.0;
    for (const Model& one : models_) least = std::max(least, noise_var_ / one.noise_var * one.space->least_noise());
    return least;
  }
  double arms() const override { return first().arms(); }
  Index numbered_arms() const override { return first().numbered_arms(); }
  const ArmSetting* arm_setting() const override { return first().arm_setting(); }

 private:
  Space& first() const { return *models_[0].space; }
  template <class F>
  double average(F f) const {
    double sum = 0.0;
    for (const Model& one : models_) sum += one.weight * f(*one.space);
    return sum;
  }

  std::vector<Model> models_;
  double noise_var_;
};

}  // namespace gpb

#endif
