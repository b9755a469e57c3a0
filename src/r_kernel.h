// From the list that resolve_kernel() makes in R to a Kernel.
#ifndef GPB_R_KERNEL_H
#define GPB_R_KERNEL_H

#include "r_values.h"

#include "kernels/kernel.h"
#include "r_function.h"

namespace gpb {

// `handle`: of the object that will call a kernel that is an R function, or null.
KernelPtr kernel_from_list(const Rcpp::List& kernel, HandleFunctions* handle = nullptr);

}  // namespace gpb

#endif
