// Scores over several outcomes: constraints on outcomes, and several objectives.
#ifndef GPB_OUTCOMES_H
#define GPB_OUTCOMES_H

#include "base/settings.h"
#include "scores/outcome_terms.h"

#include <vector>

namespace gpb {

// Kinds: "ei", "ucb", "ts" with limits; "ehvi", "hypervolume" for several objectives; "uniform", "function" for all.
std::unique_ptr<Policy> make_outcomes_policy(const Settings& policy, WidthPtr width, const std::vector<Role>& roles);

// An outcome's term in a sum of the outcomes' bounds: weight * (mean + width * sd).
struct BoundTerm {
  double weight = 1.0;   // -Inf: a bound above 0 outweighs all other terms
  double width = 0.0;    // < 0: a lower bound
  bool floored = false;  // a bound below 0 counts as 0
};

// The sum over the round's outcomes. If there is a target (not NaN), the first outcome's term is its log EI above the
// target.
std::unique_ptr<Score> make_sum_of_bounds(const Round& round, std::vector<BoundTerm> terms, double target);

}  // namespace gpb

#endif
