#include <RcppEigen.h>

#include "linalg/pivoted_cholesky.h"
#include "r_kernel.h"

// A factor F with F F' = K over the rows of x, up to `tolerance` times the largest
// variance in every diagonal entry. `kernel` is a list made by resolve_kernel().
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_factor(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                  double tolerance) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  Eigen::VectorXd variance(x.rows());
  k->diagonal(x, variance);
  const double scale = x.rows() > 0 ? variance.maxCoeff() : 0.0;
  return gpb::pivoted_cholesky(*k, x, tolerance * scale, x.rows()).factor;
}
