// Makes kernels from settings (those of resolve_kernel() in R). Uses base/ and kernels/kernel.h.
#ifndef GPB_MAKE_KERNEL_H
#define GPB_MAKE_KERNEL_H

#include "base/settings.h"
#include "kernels/kernel.h"

namespace gpb {

KernelPtr make_kernel(const Settings& kernel);

}  // namespace gpb

#endif
