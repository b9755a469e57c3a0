// Conversion of Eigen's vectors and matrices from and to R. Uses Rcpp's light headers.

#include "r_values.h"

#include <algorithm>

namespace Rcpp {

template <>
Eigen::VectorXd as(SEXP x) {
  const NumericVector values(x);
  return Eigen::Map<const Eigen::VectorXd>(values.begin(), values.size());
}

template <>
Eigen::MatrixXd as(SEXP x) {
  const NumericMatrix values(x);
  return Eigen::Map<const Eigen::MatrixXd>(values.begin(), values.nrow(), values.ncol());
}

template <>
SEXP wrap(const Eigen::VectorXd& x) {
  const Shield<SEXP> out(Rf_allocVector(REALSXP, x.size()));
  std::copy(x.data(), x.data() + x.size(), REAL(out));
  return out;
}

template <>
SEXP wrap(const Eigen::MatrixXd& x) {
  const Shield<SEXP> out(Rf_allocMatrix(REALSXP, static_cast<int>(x.rows()), static_cast<int>(x.cols())));
  std::copy(x.data(), x.data() + x.size(), REAL(out));
  return out;
}

}  // namespace Rcpp
