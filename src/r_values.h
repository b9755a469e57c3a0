// Rcpp's light headers, and conversion of Eigen's vectors and matrices from and to R (as() and wrap(), compiled once).
// With sugar, modules and RcppEigen.h each file would take seconds longer to compile.
#ifndef GPB_R_VALUES_H
#define GPB_R_VALUES_H

#include <Rcpp/Lightest>

#include "base/types.h"
#include "r_lists.h"

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

#endif
