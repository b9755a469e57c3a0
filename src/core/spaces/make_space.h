// Spaces from settings.
#ifndef GPB_MAKE_SPACE_H
#define GPB_MAKE_SPACE_H

#include "base/settings.h"
#include "spaces/box_space.h"

namespace gpb {

// From a bandit's settings: `space` (kind "table", "open" or "box", with what each needs),
// `kernel`, `noise_var`, `engine`, `accuracy`; where there are `models` besides, each of them is such settings with
// a `weight`; `transfer` are the rows of earlier campaigns (`inputs`, `values`, `noise_var`), these campaigns' `mean`s,
// and the `covariance` of all campaigns. What the policy asks for decides between engines over arms.
struct PolicyTraits {
  bool draws;  // exact joint draws over arms
  bool rises;  // scores that rise with mean and sd
};

std::unique_ptr<Space> make_space(const Settings& bandit, const PolicyTraits& policy, BoxMinimizer minimize);

}  // namespace gpb

#endif
