#include <RcppEigen.h>

#include "r_kernel.h"
#include "r_interrupt.h"
#include "r_rng.h"

// `kernel` is always a list made by resolve_kernel(); points are rows.

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_gram(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                const Eigen::MatrixXd& y) {
  return gpb::kernel_from_list(kernel)->gram(x, y);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_gram_symmetric(const Rcpp::List& kernel, const Eigen::MatrixXd& x) {
  return gpb::kernel_from_list(kernel)->gram(x);
}
