// Construction of spaces from settings.
#ifndef GPB_MAKE_SPACE_H
#define GPB_MAKE_SPACE_H

#include "base/settings.h"
#include "spaces/box_space.h"

namespace gpb {

// Makes a space from a bandit's settings: `space` (kind "table", "open" or "box", with their settings), `kernel`,
// `noise_var`, `engine` and `accuracy`.
// * `models`, if present: each has such settings and a `weight`.
// * `transfer`, if present: the rows of earlier campaigns (`inputs`, `values`, `noise_var`), the `mean`s of these
//   campaigns, and the `covariance` of all campaigns.
// The traits of the policy decide between engines over arms.
struct PolicyTraits {
  bool draws;  // exact joint draws over arms
  bool rises;  // scores that increase with mean and sd
};

std::unique_ptr<Space> make_space(const Settings& bandit, const PolicyTraits& policy,
                                  const Minimizers& minimizers);

}  // namespace gpb

#endif
