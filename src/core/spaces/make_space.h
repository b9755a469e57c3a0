#ifndef GPB_MAKE_SPACE_H
#define GPB_MAKE_SPACE_H

#include "base/settings.h"
#include "spaces/box_space.h"

namespace gpb {

// From a bandit's settings: `space` (kind "table", "open" or "box", with what each needs),
// `kernel`, `noise_var`, `engine`, `accuracy`. `draws`: exact joint draws over arms will be asked
// for.
std::unique_ptr<Space> make_space(const Settings& bandit, bool draws, BoxMinimizer minimize);

}  // namespace gpb

#endif
