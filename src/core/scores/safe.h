// Safe exploration: SafeOpt (Sui et al. 2015, Berkenkamp et al. 2016) and StageOpt (Sui et al. 2018). What is safe, and
// what an observation would make safe, is a matter of pairs of places: it is known at the candidates only.
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
  double lipschitz = kNaN;  // per unit of the actions; NaN: the bounds say what is safe
};

struct SafetyRule {
  std::vector<SafetyLimit> limits;
  std::size_t objective = 0;
  Index actions = 0;  // inputs that distances are of, the first ones
};

// Of all candidates.
struct SafeSets {
  std::vector<VectorXd> lower, upper;  // by outcome: mean -+ width * sd, of what is known
  std::vector<char> safe, maximiser, expander;
};

// `seed`: the candidates that are known to be safe; `by_bounds` FALSE: and no others are; `inputs`: those of the
// candidates (looked at only where there are Lipschitz constants).
SafeSets safe_sets(const std::vector<OutcomeView>& outcomes, const Candidates& candidates, const SafetyRule& rule,
                   const std::vector<char>& seed, bool by_bounds, bool expand, const std::function<Points()>& inputs);

// Settings: `seed` (numbers of candidates), `actions`, `stages` with `accuracy`, and either `threshold`, the one
// outcome's, or the roles' limits; `lipschitz`, one per outcome with limits, if there are such constants.
std::unique_ptr<Policy> make_safe_policy(const Settings& policy, WidthPtr width, const std::vector<Role>& roles);

}  // namespace gpb

#endif
