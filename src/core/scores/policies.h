// The list of policies: the one place that knows them all.
#ifndef GPB_POLICIES_H
#define GPB_POLICIES_H

#include "base/settings.h"
#include "scores/score.h"

namespace gpb {

// From a policy's settings. `width`: made of its part of that name; null without one.
std::unique_ptr<Policy> make_policy(const Settings& policy, WidthPtr width);

}  // namespace gpb

#endif
