// What R's gp_fit() calls.
#include <RcppEigen.h>

#include "fitting/fit.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"

namespace {

gpb::VectorXd numbers(const Rcpp::List& list, const char* name) {
  return Rcpp::as<gpb::VectorXd>(list[name]);
}

gpb::FitProblem problem_from_list(const Rcpp::List& list) {
  gpb::FitProblem problem;
  problem.start = numbers(list, "start");
  problem.lower = numbers(list, "lower");
  problem.upper = numbers(list, "upper");
  problem.likely_lower = numbers(list, "likely_lower");
  problem.likely_upper = numbers(list, "likely_upper");
  problem.prior_mean = numbers(list, "prior_mean");
  problem.prior_sd = numbers(list, "prior_sd");
  for (int p : Rcpp::as<std::vector<int>>(list["scale"])) problem.scale.push_back(p);
  problem.single_variance = Rcpp::as<bool>(list["single_variance"]);
  problem.starts = Rcpp::as<int>(list["starts"]);
  return problem;
}

// The same minimiser with a look for an interrupt before each evaluation.
gpb::BoxMinimizer interruptible(const gpb::BoxMinimizer& minimise) {
  return [minimise](gpb::VectorXd& x, const gpb::Objective& f) {
    return minimise(x, [&f](const gpb::VectorXd& at, gpb::VectorXd& gradient) {
      gpb::check_interrupt();
      return f(at, gradient);
    });
  };
}

}  // namespace

// own_noise: each observation's own noise variance, NA where there is none; no entries: nowhere.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit(const Rcpp::List& kernel, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                   const Eigen::VectorXd& own_noise, bool fit_mean, const Rcpp::List& problem,
                   int iterations) {
  const auto minimizers = [iterations](double tolerance) {
    return interruptible(gpb::lbfgsb_minimizer(iterations, tolerance));
  };
  const gpb::FitResult found =
      gpb::fit_parameters(*gpb::kernel_from_list(kernel), {x, y, own_noise}, fit_mean,
                          problem_from_list(problem), minimizers, iterations);
  return Rcpp::List::create(
      Rcpp::Named("parameters") = found.parameters, Rcpp::Named("mean") = found.mean,
      Rcpp::Named("log_likelihood") = found.log_likelihood,
      Rcpp::Named("objective") = found.objective, Rcpp::Named("converged") = found.converged,
      Rcpp::Named("evaluations") = static_cast<double>(found.evaluations));
}
