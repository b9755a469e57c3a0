// Which arms can be played, and how the log writes it: "1-3,7" counts from 1.
#ifndef GPB_ARM_SET_H
#define GPB_ARM_SET_H

#include "base/types.h"

namespace gpb {

// A flag per arm; null: all of them.
using ArmSet = std::shared_ptr<const std::vector<char>>;

std::string arm_set_text(const std::vector<char>& arms);
// Throws unless the text names some of so many arms, in order.
ArmSet arm_set_of(const std::string& text, Index arms);

}  // namespace gpb

#endif
