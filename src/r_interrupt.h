// R's interrupts and time limits. Rcpp::checkUserInterrupt() would turn the error of setTimeLimit() into an interrupt,
// which tryCatch(error = ) does not catch.
#ifndef GPB_R_INTERRUPT_H
#define GPB_R_INTERRUPT_H

#include "r_rng.h"

namespace gpb {

// Throws a C++ exception, so that destructors run. Afterwards R's condition is resumed.
inline void check_interrupt() {
  RRng::give_back();
  Rcpp::unwindProtect([] {
    R_CheckUserInterrupt();
    return R_NilValue;
  });
}

}  // namespace gpb

#endif
