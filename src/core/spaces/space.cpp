#include "spaces/space.h"

#include <algorithm>
#include <cmath>

#include "posteriors/played_posterior.h"
#include "posteriors/root_posterior.h"

namespace gpb {

namespace {
constexpr Index kSmall = 64;         // full rank up to here, whatever the kernel
constexpr Index kLargestRank = 5000; // no n x n matrix beyond
constexpr double kTrialCost = 1e8;   // n r^2 that may be spent on looking for a short factor

const ArmPosterior& posterior_of(const Model* model) {
  return static_cast<const ArmModel*>(model)->posterior();
}
}  // namespace

std::unique_ptr<ArmPosterior> ArmSetting::make_posterior(double noise_var,
                                                         VectorXd prior_mean,
                                                         bool drifts) const {
  if (engine == Engine::played) {
    return std::make_unique<PlayedPosterior>(table, noise_var, std::move(prior_mean));
  }
  // (A drift is a step of the weights' own covariance, r^3.)
  if (prefers_arm_root(*basis) && !drifts) {
    return std::make_unique<RootPosterior>(table, basis, noise_var, std::move(prior_mean));
  }
  return std::make_unique<WeightPosterior>(table, basis, noise_var, std::move(prior_mean));
}

ArmSetting make_arm_setting(ArmTablePtr table, double noise_var, const std::string& engine,
                            bool needs_draws) {
  const Index n = table->size();
  const double tolerance =
      pivot_tolerance(table->prior_scale * table->prior_scale, noise_var);
  const bool demanded = engine == "weights" || needs_draws;
  Index limit = 0;
  if (demanded || n <= kSmall) {
    limit = std::min(n, kLargestRank);
  } else {
    limit = static_cast<Index>(std::sqrt(kTrialCost / static_cast<double>(n)));
    limit = std::max(kSmall, std::min(n / 8, limit));
  }
  if (demanded || engine == "auto") {
    LowRank basis = pivoted_cholesky(*table->kernel, *table->points, tolerance, limit);
    if (basis.complete) {
      return {table, Engine::weights, std::make_shared<const LowRank>(std::move(basis))};
    }
    if (demanded) {
      throw std::invalid_argument("the kernel's rank over these arms exceeds " +
                                  std::to_string(limit) + ": Thompson sampling and the " +
                                  "weight-space engine need a factor that large in memory");
    }
  }
  return {table, Engine::played, nullptr};
}

ArmSpace::ArmSpace(ArmSetting setting, VectorXd prior_mean, Index arms_per_context)
    : setting_(std::move(setting)), prior_mean_(std::move(prior_mean)), arms_(arms_per_context) {}

std::unique_ptr<Model> ArmSpace::make_model(double noise_var,
                                            const Forgetting& forgetting) const {
  using Kind = Forgetting::Kind;
  auto posterior =
      setting_.make_posterior(noise_var, prior_mean_, forgetting.kind == Kind::fade);
  switch (forgetting.kind) {
    case Kind::window:
      return std::make_unique<WindowArmModel>(std::move(posterior), forgetting.window);
    case Kind::weights:
      return std::make_unique<WeightedArmModel>(std::move(posterior), forgetting.rate);
    case Kind::fade:
      return std::make_unique<FadingArmModel>(std::move(posterior), forgetting.rate);
    default:
      return std::make_unique<ArmModel>(std::move(posterior));
  }
}

std::string ArmSpace::engine() const {
  return setting_.engine == Engine::weights ? "weights" : "played";
}

Place ArmSpace::uniform(const Context& context, Rng& rng) const {
  return {context.row * arms_ + rng.index(arms_), VectorXd()};
}

Place ArmSpace::choose(const Acquisition& a, const Models& models, const Context& context,
                       Rng& rng) {
  if (a.kind == PolicyKind::uniform) return uniform(context, rng);
  const Index first = context.row * arms_;
  const double* mean = posterior_of(models.mean).mean().data() + first;
  const double* variance = posterior_of(models.variance).variance().data() + first;
  Index best;
  if (a.kind == PolicyKind::ts) {
    draw_.resize(arms_);
    posterior_of(models.variance)
        .draw(rng, a.width, posterior_of(models.mean).mean(), first, draw_);
    best = first_best(draw_.data(), arms_, kTie * a.prior_scale);
  } else if (a.kind == PolicyKind::ucb && !models.bounds.empty()) {
    best = choose_by_bounds(a, models, first);
  } else {
    best = choose_arm(a, mean, variance, arms_, scratch_);
  }
  return {first + best, VectorXd()};
}

// width_dmm: the smallest of several upper bounds, arm by arm.
Index ArmSpace::choose_by_bounds(const Acquisition& a, const Models& models, Index first) {
  VectorXd bound = VectorXd::Constant(arms_, kInf);
  for (const BoundTerm& term : models.bounds) {
    const ArmPosterior& p = posterior_of(term.model);
    bound = bound.cwiseMin(p.mean().segment(first, arms_) +
                           term.multiplier * p.variance().segment(first, arms_).cwiseSqrt());
  }
  return first_best(bound.data(), arms_, kTie * a.prior_scale);
}

double ArmSpace::incumbent(const Model& mean, const std::vector<Place>& played,
                           const Context& context) {
  const Index first = context.row * arms_;
  const VectorXd& m = posterior_of(&mean).mean();
  double best = -kInf;
  for (const Place& place : played) {
    if (place.arm >= first && place.arm < first + arms_) best = std::max(best, m[place.arm]);
  }
  return best > -kInf ? best : prior_mean_.segment(first, arms_).maxCoeff();
}

}  // namespace gpb
