// The types and macros at the beginning of RcppExports.cpp. That file includes RcppEigen.h next. The parts that it
// needs are in r_values.h, so RcppEigen.h is marked as included here.
#ifndef GPBANDITS_TYPES_H
#define GPBANDITS_TYPES_H

#include "r_reply.h"
#include "r_values.h"

#define RcppEigen__RcppEigen__h

// Rcpp's macros expand the same five handlers in each of a hundred entry points, which costs seconds of compilation and
// 100 KB.
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
