// The complete list of policies.
#ifndef GPB_POLICIES_H
#define GPB_POLICIES_H

#include "base/settings.h"
#include "scores/score.h"

namespace gpb {

// Makes a policy from its settings. `width`: made from the settings' part of that name; null without one.
std::unique_ptr<Policy> make_policy(const Settings& policy, WidthPtr width);

}  // namespace gpb

#endif
