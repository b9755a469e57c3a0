#include <RcppEigen.h>

#include "r_kernel.h"

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

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_diagonal(const Rcpp::List& kernel, const Eigen::MatrixXd& x) {
  Eigen::VectorXd out(x.rows());
  gpb::kernel_from_list(kernel)->diagonal(x, out);
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_input_gradient(const Rcpp::List& kernel, const Eigen::VectorXd& x,
                                          const Eigen::MatrixXd& y) {
  Eigen::MatrixXd out;
  gpb::kernel_from_list(kernel)->input_gradient(x, y, out);
  return out;
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_diagonal_gradient(const Rcpp::List& kernel, const Eigen::VectorXd& x) {
  return gpb::kernel_from_list(kernel)->diagonal_gradient(x);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_log_parameters(const Rcpp::List& kernel) {
  return gpb::kernel_from_list(kernel)->log_parameters();
}

// The Gram matrix under other parameters than those of the list.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_kernel_gram_at(const Rcpp::List& kernel, const Eigen::VectorXd& theta,
                                   const Eigen::MatrixXd& x) {
  const gpb::KernelPtr original = gpb::kernel_from_list(kernel);
  const std::unique_ptr<gpb::Kernel> changed = original->clone();
  changed->set_log_parameters(theta);
  return changed->gram(x);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_kernel_parameter_gradient(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                              const Eigen::MatrixXd& w) {
  return gpb::kernel_from_list(kernel)->parameter_gradient(x, w);
}
