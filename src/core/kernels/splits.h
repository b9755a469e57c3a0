// Kernels that are products over their inputs.
#ifndef GPB_SPLITS_H
#define GPB_SPLITS_H

#include "kernels/kernel.h"

namespace gpb {

// Is k(x, y) a product of a function of the inputs [first, first + count) of x and y, and one of the others?
bool splits(const Kernel& kernel, Index first, Index count);

}  // namespace gpb

#endif
