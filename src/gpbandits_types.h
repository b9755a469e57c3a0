// What RcppExports.cpp begins with. All it needs of RcppEigen.h, which it asks for next, is in
// r_values.h: it finds that header read.
#ifndef GPBANDITS_TYPES_H
#define GPBANDITS_TYPES_H

#include "r_values.h"

#define RcppEigen__RcppEigen__h

namespace gpb {

// What an entry ends with when C++ throws: an interrupt, an error in R, or R's own jump on its way.
struct Failure {
  enum class Kind { interrupt, error, jump };
  Kind kind;
  SEXP condition;
};
// Of the exception that is being handled.
Failure failure_caught();
// When all of the entry's objects are gone; does not return.
[[noreturn]] void report(const Failure& failure);

}  // namespace gpb

// Rcpp's macros write the same five handlers into each of a hundred entries: seconds of compiling, and 100 KB.
#undef BEGIN_RCPP
#undef END_RCPP
#define BEGIN_RCPP     \
  gpb::Failure failed; \
  try {
#define END_RCPP                    \
  }                                 \
  catch (...) {                     \
    failed = gpb::failure_caught(); \
  }                                 \
  gpb::report(failed);

#endif
