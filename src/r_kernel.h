// From the list that resolve_kernel() makes in R to a Kernel.
#ifndef GPB_R_KERNEL_H
#define GPB_R_KERNEL_H

#include <RcppEigen.h>

#include "kernels/kernel.h"

namespace gpb {

KernelPtr kernel_from_list(const Rcpp::List& kernel);

}  // namespace gpb

#endif
