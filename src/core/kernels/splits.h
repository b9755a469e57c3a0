// Detects kernels that are products over their inputs, and those of bounded rank. Uses kernels/kernel.h.
#ifndef GPB_SPLITS_H
#define GPB_SPLITS_H

#include "kernels/kernel.h"

namespace gpb {

// Is k(x, y) the product of a function of the inputs [first, first + count) of x and y, and of one of the other inputs?
bool splits(const Kernel& kernel, Index first, Index count);

// Do all k(x, .) span a space of finite dimension, if the inputs [first, first + count) take any values and the others
// finitely many?
bool has_bounded_rank(const Kernel& kernel, Index first, Index count);

}  // namespace gpb

#endif
