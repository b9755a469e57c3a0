#include "scores/score.h"
#include "scores/policies.h"

#include "scores/duel.h"
#include "scores/entropy.h"
#include "scores/greedy.h"
#include "scores/improvement.h"
#include "scores/knowledge.h"
#include "scores/level_set.h"
#include "scores/own_function.h"
#include "scores/region.h"
#include "scores/robust.h"
#include "scores/safe.h"
#include "scores/sampled_maximum.h"
#include "scores/thompson.h"
#include "scores/upper_bound.h"
#include "scores/weighted.h"
#include "widths/make_width.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- scores -------------------------------------------------------------------------------------

Index Score::best(const Candidates& candidates) const {
  VectorXd score;
  values(candidates, score);
  return first_best(score.data(), score.size(), kTie * unit());
}

double finite_width(Width& width, const Round& round) {
  const double value = width.at(round.state);
  const bool only_looked_at = !round.state.rng && std::isnan(value);
  if (!std::isfinite(value) && !only_looked_at) {
    throw std::invalid_argument("the width is not a finite number in round " +
                                std::to_string(static_cast<Index>(round.number)));
  }
  return value;
}

Moments MeanAndVariance::moments(const Candidates& candidates) const {
  const Moments of_mean = mean.moments(candidates);
  return same() ? of_mean : Moments{of_mean.mean, variance.moments(candidates).variance};
}

void MeanAndVariance::predict(const Points& X, VectorXd& means, VectorXd& variances, Predict by) const {
  (mean.*by)(X, means, variances);
  if (same()) return;
  VectorXd ignored;
  (variance.*by)(X, ignored, variances);
}

void MeanAndVariance::local(const VectorXd& x, double& at_x, double& sd, VectorXd& dmean, VectorXd& dsd,
                            Local by) const {
  (mean.*by)(x, at_x, sd, dmean, dsd);
  if (same()) return;
  double ignored = 0.0;
  VectorXd no_gradient;
  (variance.*by)(x, ignored, sd, no_gradient, dsd);
}

void MomentScore::of_all(const double* mean, const double* variance, Index n,
                         double* out) const {
  for (Index i = 0; i < n; ++i) out[i] = of(mean[i], std::sqrt(variance[i]), nullptr);
}

void MomentScore::values(const Candidates& candidates, VectorXd& out) const {
  const Moments m = beliefs_.moments(candidates);
  out.resize(candidates.size());
  of_all(m.mean, m.variance, out.size(), out.data());
}

VectorXd MomentScore::at(const Points& X) const { return at(X, &Posterior::predict); }

VectorXd MomentScore::sketches(const Points& X) const { return at(X, &Posterior::sketches); }

VectorXd MomentScore::at(const Points& X, MeanAndVariance::Predict by) const {
  VectorXd mean, variance;
  beliefs_.predict(X, mean, variance, by);
  VectorXd out(X.rows());
  of_all(mean.data(), variance.data(), out.size(), out.data());
  return out;
}

double MomentScore::at(const VectorXd& x, VectorXd* gradient) const {
  if (!gradient) return at(Points(x.transpose()))[0];
  return at(x, gradient, &Posterior::local);
}

double MomentScore::sketch(const VectorXd& x, VectorXd* gradient) const {
  return at(x, gradient, &Posterior::sketch);
}

double MomentScore::at(const VectorXd& x, VectorXd* gradient, MeanAndVariance::Local by) const {
  double mean = 0.0, sd = 0.0;
  VectorXd dmean, dsd;
  beliefs_.local(x, mean, sd, dmean, dsd, by);
  Slopes slopes;
  const double value = of(mean, sd, &slopes);
  *gradient = slopes.by_mean * dmean + slopes.by_sd * dsd;
  return value;
}

// ---- policies by name ---------------------------------------------------------------------------

namespace {

using PolicyPtr = std::unique_ptr<Policy>;
using MakePolicy = PolicyPtr (*)(const Settings&, WidthPtr);

PolicyPtr make_ucb(const Settings& policy, WidthPtr width) {
  if (width) return std::make_unique<UpperBoundPolicy>(std::move(width));
  const auto dmm = policy.part("width");
  const auto regularisers = [&dmm](const char* name) {
    const VectorXd values = dmm->numbers(name);
    return std::vector<double>(values.data(), values.data() + values.size());
  };
  return std::make_unique<SmallestBoundPolicy>(
      DmmBound{dmm->number("B"), dmm->number("R"), dmm->number("delta"), regularisers("alpha"),
               regularisers("alpha0")});
}

PolicyPtr make_ts(const Settings&, WidthPtr width) {
  return std::make_unique<ThompsonPolicy>(one_multiplier(std::move(width)));
}

template <class ImprovementScore>
PolicyPtr make_improvement(const Settings& policy, WidthPtr) {
  return std::make_unique<ImprovementPolicy<ImprovementScore>>(policy.number("xi"));
}

template <class GreedyScore>
PolicyPtr make_greedy(const Settings&, WidthPtr) {
  return std::make_unique<GreedyPolicy<GreedyScore>>();
}

PolicyPtr make_mes(const Settings& policy, WidthPtr) {
  return std::make_unique<MaxValueEntropyPolicy>(policy.count("samples"));
}

PolicyPtr make_own(const Settings& policy, WidthPtr) {
  if (policy.flag("placed")) {
    return std::make_unique<PlacedOwnPolicy>(policy.placed_acquisition("f"));
  }
  return std::make_unique<OwnPolicy>(policy.acquisition("f"));
}

template <class ImprovementScore>
PolicyPtr make_sampled_maximum(const Settings&, WidthPtr) {
  return std::make_unique<SampledMaximumPolicy<ImprovementScore>>();
}

PolicyPtr make_pure_exploration(const Settings&, WidthPtr width) {
  return std::make_unique<PureExplorationPolicy>(one_multiplier(std::move(width)));
}

PolicyPtr make_straddle(const Settings& policy, WidthPtr) {
  return std::make_unique<StraddlePolicy>(policy.number("level"), policy.flag("random"));
}

PolicyPtr make_level_set(const Settings& policy, WidthPtr width) {
  return std::make_unique<LevelSetPolicy>(one_multiplier(std::move(width)),
                                          policy.number("level"), policy.number("accuracy"),
                                          policy.flag("implicit"));
}

PolicyPtr make_safe(const Settings& policy, WidthPtr width) {
  return make_safe_policy(policy, one_multiplier(std::move(width)), {});
}

PolicyPtr make_stable(const Settings& policy, WidthPtr width) {
  return std::make_unique<StablePolicy>(one_multiplier(std::move(width)),
                                        policy.numbers("radius"));
}

PolicyPtr make_knowledge(const Settings&, WidthPtr) {
  return std::make_unique<KnowledgeGradientPolicy>();
}

PolicyPtr make_expected_improvement(const Settings& policy, WidthPtr width) {
  PolicyPtr plain = make_improvement<ExpectedImprovementScore>(policy, std::move(width));
  if (!policy.has("cost")) return plain;
  return std::make_unique<PerCostPolicy>(std::move(plain), policy.point_function("cost"),
                                         policy.count("actions"));
}

PolicyPtr make_duel(const Settings& policy, WidthPtr width) {
  width = one_multiplier(std::move(width));
  if (policy.text("rule") == "game") return std::make_unique<GameDuelPolicy>(std::move(width));
  return std::make_unique<LastDuelPolicy>(std::move(width));
}

PolicyPtr make_uniform(const Settings&, WidthPtr) { return std::make_unique<UniformPolicy>(); }

struct Entry {
  const char* kind;
  MakePolicy make;
};

constexpr Entry kPolicies[] = {
    {"ucb", make_ucb},
    {"exact_penalty", make_ucb},  // as long as no limit is known
    {"ts", make_ts},
    {"ei", make_expected_improvement},
    {"pi", make_improvement<ImprovementProbabilityScore>},
    {"mean", make_greedy<MeanScore>},
    {"variance", make_greedy<DeviationScore>},
    {"mes", make_mes},
    {"function", make_own},
    {"pims", make_sampled_maximum<ImprovementProbabilityScore>},
    {"eims", make_sampled_maximum<ExpectedImprovementScore>},
    {"ucb_pe", make_pure_exploration},
    {"straddle", make_straddle},
    {"level_set", make_level_set},
    {"safe", make_safe},
    {"stable", make_stable},
    {"kg", make_knowledge},
    {"duel", make_duel},
    {"uniform", make_uniform},
};

}  // namespace

PolicyPtr make_policy(const Settings& policy, WidthPtr width) {
  const std::string kind = policy.text("kind");
  for (const Entry& entry : kPolicies) {
    if (kind != entry.kind) continue;
    PolicyPtr made = entry.make(policy, std::move(width));
    if (!policy.has("belief")) return made;
    const auto belief = policy.part("belief");
    return std::make_unique<BelievingPolicy>(std::move(made), belief->point_function("at"),
                                             belief->count("actions"), belief->number("strength"));
  }
  throw std::invalid_argument("unknown policy " + kind);
}

}  // namespace gpb
