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

// Independent paths at the rows of x, one per column.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_kernel_prior_paths(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                       int features, int paths) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  gpb::RRng rng;
  Eigen::MatrixXd out(x.rows(), paths);
  for (int p = 0; p < paths; ++p) {
    k->draw_prior_path(rng, x.cols(), features).values(x, out.col(p));
    gpb::check_interrupt();
  }
  return out;
}

// One path: a row per row of x with the value by each of the two routes, then the gradient.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_kernel_prior_gradient(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                                          int features) {
  gpb::RRng rng;
  const gpb::PriorPath path =
      gpb::kernel_from_list(kernel)->draw_prior_path(rng, x.cols(), features);
  Eigen::MatrixXd out(x.rows(), x.cols() + 2);
  Eigen::VectorXd gradient;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Eigen::VectorXd point = x.row(i).transpose();
    out(i, 0) = path.value(point);
    out(i, 1) = path.value_and_gradient(point, gradient);
    out.row(i).tail(x.cols()) = gradient.transpose();
  }
  return out;
}
