// Safe exploration: SafeOpt (Sui et al. 2015, Berkenkamp et al. 2016) and StageOpt (Sui et al. 2018). Safety, and the
// effect of an observation on it, depend on pairs of points. They are computed at the candidates only.
#ifndef GPB_SAFE_H
#define GPB_SAFE_H

#include "base/settings.h"
#include "scores/score.h"

namespace gpb {

// A function that must not fall below a threshold: an outcome or (sign -1) its negative.
struct SafetyLimit {
  std::size_t outcome = 0;
  double sign = 1.0;
  double threshold = 0.0;
  double lipschitz = kNaN;  // per unit of the actions; NaN: safety is decided by the bounds
};

struct SafetyRule {
  std::vector<SafetyLimit> limits;
  std::size_t objective = 0;
  Index actions = 0;  // the first inputs, which define distances
};

// For all candidates.
struct SafeSets {
  std::vector<VectorXd> lower, upper;  // by outcome: mean -+ width * sd, pending queries not included
  std::vector<char> safe, maximiser, expander;
};

// `seed`: the candidates that are safe a priori. `by_bounds` false: no other candidate is. `inputs`: the inputs of the
// candidates; only used with Lipschitz constants.
SafeSets safe_sets(const std::vector<OutcomeView>& outcomes, const Candidates& candidates, const SafetyRule& rule,
                   const std::vector<char>& seed, bool by_bounds, bool expand, const std::function<Points()>& inputs);

// StageOpt's: first expansion until no expander's interval is wider than `accuracy` (NaN: half of the prior scale).
struct SafeStages {
  bool given = false;  // false: SafeOpt, which has no stages
  double accuracy = kNaN;
};

// What a choice depends on in addition to the sets.
struct SafeRound {
  std::vector<VectorXd> spans;              // widths of the outcomes' intervals, pending queries included
  std::function<VectorXd(Index)> prior_sd;  // of an outcome
  double prior_scale = 1.0;                 // of the objective
  bool second = false;                      // has the second stage begun?
};

// Values of the candidates, the largest of which is chosen (ties: kTie * unit); -Inf: cannot be chosen.
struct SafeChoice {
  VectorXd score;
  double unit;
  bool second;  // is it in the second stage?
};

// The one place that decides what SafeOpt and StageOpt choose. `may`: the safe candidates that can be played.
SafeChoice safe_choice(const SafetyRule& rule, const SafeStages& stages, const SafeSets& sets,
                       const std::vector<char>& may, const SafeRound& round);

// Settings: `seed` (numbers of candidates), `actions`, `stages` with `accuracy`. The limits are either `threshold`, for
// a single outcome, or those of the roles. `lipschitz`, if given, has a constant for each outcome with limits.
std::unique_ptr<Policy> make_safe_policy(const Settings& policy, WidthPtr width, const std::vector<Role>& roles);

}  // namespace gpb

#endif
