// Rcpp's light headers, and conversion of Eigen's vectors and matrices from and to R (as() and wrap(), compiled once).
// With sugar, modules and RcppEigen.h each file would take seconds longer to compile.
#ifndef GPB_R_VALUES_H
#define GPB_R_VALUES_H

#include <Rcpp/Lightest>

#include "base/types.h"

namespace Rcpp {

template <>
Eigen::VectorXd as(SEXP x);
template <>
Eigen::MatrixXd as(SEXP x);
template <>
SEXP wrap(const Eigen::VectorXd& x);
template <>
SEXP wrap(const Eigen::MatrixXd& x);

}  // namespace Rcpp

namespace gpb {

// The list's element of that name, or NULL. It is ten times as fast as Rcpp's lookup, because R stores each name once.
inline SEXP element(SEXP list, SEXP name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    if (STRING_ELT(names, k) == name) return VECTOR_ELT(list, k);
  }
  return R_NilValue;
}

inline SEXP element(SEXP list, const char* name) { return element(list, PRINTNAME(Rf_install(name))); }

}  // namespace gpb

#endif
