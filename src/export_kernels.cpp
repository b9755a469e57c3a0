// R's entry points for kernels: Gram matrices, factors, paths. Uses the core and the adapters r_*.

#include <vector>

#include "kernels/make_kernel.h"
#include "kernels/pivoted_cholesky.h"
#include "linalg/decompositions.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_rng.h"
#include "r_values.h"

// `kernel` is a list made by resolve_kernel(); points are rows.

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_gram(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                const Eigen::MatrixXd& y) {
  return gpb::kernel_from_list(kernel)->gram(x, y);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_gram_symmetric(const Rcpp::List& kernel, const Eigen::MatrixXd& x) {
  return gpb::kernel_from_list(kernel)->gram(x);
}

// A factor F with F F' = K over the rows of x. Each diagonal entry has an error of at most `tolerance` times the
// largest variance. `kernel` is a list made by resolve_kernel().
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_factor(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                  double tolerance) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  Eigen::VectorXd variance(x.rows());
  k->diagonal(x, variance);
  const double scale = x.rows() > 0 ? variance.maxCoeff() : 0.0;
  return gpb::pivoted_cholesky(*k, x, tolerance * scale, x.rows()).factor;
}
