// From settings (those that R's resolve_kernel() makes) to a kernel.
#ifndef GPB_MAKE_KERNEL_H
#define GPB_MAKE_KERNEL_H

#include "base/settings.h"
#include "kernels/kernel.h"

namespace gpb {

KernelPtr make_kernel(const Settings& kernel);

}  // namespace gpb

#endif
