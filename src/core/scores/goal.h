// A goal that is a formula of the outcomes and inputs: improvement by joint draws of the outcomes.
#ifndef GPB_GOAL_H
#define GPB_GOAL_H

#include "events/outcome_transform.h"
#include "scores/formula.h"
#include "scores/score.h"

namespace gpb {

struct Goal {
  Formula formula;  // of all outcomes in their own units, then of the kernel's inputs; to be maximised
  std::vector<OutcomeTransform> outputs;
};

// Kinds of policies: "ei", "uniform".
std::unique_ptr<Policy> make_goal_policy(const Settings& policy, Goal goal);

}  // namespace gpb

#endif
