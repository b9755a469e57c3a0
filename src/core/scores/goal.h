// A goal that is a formula of the outcomes and inputs: improvement by joint draws of the outcomes.
#ifndef GPB_GOAL_H
#define GPB_GOAL_H

#include "events/outcome_transform.h"
#include "likelihoods/likelihood.h"
#include "scores/formula.h"
#include "scores/score.h"

namespace gpb {

// An outcome in its own units: the inverse of its transform, or the expected value under its likelihood.
struct GoalOutcome {
  OutcomeTransform outputs;
  LikelihoodPtr likelihood;  // null: Gaussian noise

  double value(double f, double& slope) const {
    if (likelihood) return likelihood->expected(f, slope);
    const double out = outputs.reward(f);
    slope = 1.0 / outputs.slope(out);
    return out;
  }
  double value(double f) const {
    double ignored;
    return likelihood ? likelihood->expected(f, ignored) : outputs.reward(f);
  }
};

struct Goal {
  Formula formula;  // of all outcomes in their own units, then of the kernel's inputs; to be maximised
  std::vector<GoalOutcome> outcomes;
};

// Kinds of policies: "ei", "uniform".
std::unique_ptr<Policy> make_goal_policy(const Settings& policy, Goal goal);

}  // namespace gpb

#endif
