// Functions of policies.h: the complete list of policies. Uses base/ and widths/.
#include "scores/policies.h"

#include "scores/duel.h"
#include "scores/entropy.h"
#include "scores/greedy.h"
#include "scores/improvement.h"
#include "scores/knowledge.h"
#include "scores/level_set.h"
#include "scores/noisy_improvement.h"
#include "scores/own_function.h"
#include "scores/region.h"
#include "scores/robust.h"
#include "scores/safe.h"
#include "scores/sampled_maximum.h"
#include "scores/thompson.h"
#include "scores/upper_bound.h"
#include "scores/weighted.h"
#include "widths/make_width.h"

namespace gpb {

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
  return std::make_unique<ImprovementPolicy<ImprovementScore>>(ImprovementTarget(policy));
}

template <class GreedyScore>
PolicyPtr make_greedy(const Settings&, WidthPtr) {
  return std::make_unique<GreedyPolicy<GreedyScore>>();
}

PolicyPtr make_mes(const Settings& policy, WidthPtr) {
  return std::make_unique<MaxValueEntropyPolicy>(policy.count("samples"));
}

PolicyPtr make_own(const Settings& policy, WidthPtr) {
  if (policy.flag("located")) {
    return std::make_unique<LocatedOwnPolicy>(policy.located_acquisition("f"));
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
  const VectorXd accuracy = policy.numbers("accuracy");
  if (accuracy.size() != 2) throw_invalid("a level needs two accuracies, above and below it");
  return std::make_unique<LevelSetPolicy>(one_multiplier(std::move(width)), policy.number("level"), accuracy[0],
                                          accuracy[1], policy.flag("implicit"));
}

PolicyPtr make_safe(const Settings& policy, WidthPtr width) {
  return make_safe_policy(policy, one_multiplier(std::move(width)), {});
}

PolicyPtr make_stable(const Settings& policy, WidthPtr width) {
  RiskMeasure risk;
  if (policy.has("risk")) {
    risk.kind = policy.text("risk") == "var" ? Risk::at_risk : Risk::conditional;
    risk.share = policy.number("share");
  }
  return std::make_unique<StablePolicy>(one_multiplier(std::move(width)), policy.numbers("radius"), risk);
}

PolicyPtr make_knowledge(const Settings&, WidthPtr) {
  return std::make_unique<KnowledgeGradientPolicy>();
}

PolicyPtr make_expected_improvement(const Settings& policy, WidthPtr width) {
  PolicyPtr improvement = policy.has("incumbent")  // (only "draws": the means are the default)
                              ? std::make_unique<NoisyImprovementPolicy>(ImprovementTarget(policy))
                              : make_improvement<ExpectedImprovementScore>(policy, std::move(width));
  if (!policy.has("cost")) return improvement;
  return std::make_unique<PerCostPolicy>(std::move(improvement), policy.point_function("cost"),
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
    {"exact_penalty", make_ucb},  // without known limits the two are the same
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
    if (!policy.has("prior_optimum")) return made;
    const auto prior = policy.part("prior_optimum");
    return std::make_unique<PriorWeightedPolicy>(std::move(made), prior->point_function("at"),
                                                 prior->count("actions"), prior->number("strength"));
  }
  throw_invalid("unknown policy " + kind);
}

}  // namespace gpb
