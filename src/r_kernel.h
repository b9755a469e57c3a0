// Conversion of a list made by resolve_kernel() in R to a Kernel.
#ifndef GPB_R_KERNEL_H
#define GPB_R_KERNEL_H

#include "r_values.h"

#include "kernels/kernel.h"
#include "r_function.h"

namespace gpb {

// `handle`: the handle of the object that will call a kernel given as an R function, or null.
KernelPtr kernel_from_list(const Rcpp::List& kernel, HandleFunctions* handle = nullptr);

}  // namespace gpb

#endif
