// R's interrupts and time limits. Rcpp::checkUserInterrupt() would turn the error of
// setTimeLimit() into an interrupt, which no tryCatch(error = ) sees.
#ifndef GPB_R_INTERRUPT_H
#define GPB_R_INTERRUPT_H

#include "r_rng.h"

namespace gpb {

// Leaves by a C++ exception, so destructors run; R's own condition goes on from there.
inline void check_interrupt() {
  RRng::give_back();
  Rcpp::unwindProtect([] {
    R_CheckUserInterrupt();
    return R_NilValue;
  });
}

}  // namespace gpb

#endif
