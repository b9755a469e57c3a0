// Sets of arms, and their text in the log: "1-3,7" counts from 1. Uses base/ only.
#ifndef GPB_ARM_SET_H
#define GPB_ARM_SET_H

#include "base/types.h"

namespace gpb {

// A flag for each arm; null: all of them.
using ArmSet = std::shared_ptr<const std::vector<char>>;

std::string arm_set_text(const std::vector<char>& arms);
// Throws unless the text lists some of the numbers 1 to `arms`, in order.
ArmSet arm_set_of(const std::string& text, Index arms);
// Reads an integer at `at`, which moves behind it; throws if there is none.
Index number_at(const std::string& text, std::size_t& at);

}  // namespace gpb

#endif
