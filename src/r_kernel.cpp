// Kernels from the lists that resolve_kernel() makes in R. Uses the core and the adapters r_*.

#include "r_kernel.h"

#include "kernels/make_kernel.h"
#include "r_settings.h"

namespace gpb {

KernelPtr kernel_from_list(const Rcpp::List& kernel, HandleFunctions* handle) {
  return make_kernel(RSettings(kernel, handle));
}

}  // namespace gpb
