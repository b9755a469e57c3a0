// Fits of hyperparameters: conversion of R's lists, minimisers, averages over models. Uses the core and the adapters
// r_*.

#include "r_fit.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "r_function.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"

namespace gpb {

namespace {

// For each parameter: the shapes of a Beta distribution, then weight, mean and sd of each part of a mixture.
std::vector<ParameterPrior> priors_from(const Rcpp::List& list) {
  std::vector<ParameterPrior> out;
  for (SEXP one : Rcpp::as<Rcpp::List>(required(list, "priors"))) {
    const VectorXd numbers = Rcpp::as<VectorXd>(one);
    ParameterPrior prior;
    prior.shape1 = numbers[0];
    prior.shape2 = numbers[1];
    for (Index k = 2; k + 2 < numbers.size(); k += 3) {
      prior.parts.push_back({numbers[k], numbers[k + 1], numbers[k + 2]});
    }
    out.push_back(std::move(prior));
  }
  return out;
}

std::vector<Index> indices_from(SEXP x) {
  const auto numbers = Rcpp::as<std::vector<int>>(x);
  return {numbers.begin(), numbers.end()};
}

// The same minimiser with a call of `before()` before each evaluation.
template <typename Before>
BoxMinimizer announced(const BoxMinimizer& minimise, const Before& before) {
  return [minimise, before](VectorXd& x, const Objective& f) {
    return minimise(x, [&](const VectorXd& at, VectorXd& gradient) {
      before();
      return f(at, gradient);
    });
  };
}

// Additional starts of one kernel's local searches: earlier models (`before`, a row each), and the middle of the likely
// range with much noise and with almost none. The density has two modes if few measurements could be noise only, or a
// rough function. (With many rewards a search is slow: a kernel with `goes_on` starts from the earlier models only. A
// problem that `resumes` has no further starts.)
Eigen::MatrixXd additional_starts(const FitProblem& problem, const Eigen::MatrixXd& before, bool goes_on,
                                  Index measurements, double spread) {
  const bool is_known = problem.resumes || (before.rows() > 0 && goes_on && measurements > 150);
  const Eigen::Index count = problem.start.size(), added = is_known ? 0 : 2;
  Eigen::MatrixXd out(added + before.rows(), count);
  for (Eigen::Index p = 0; p < count; ++p) {
    for (Eigen::Index k = 0; k < out.rows(); ++k) {
      double at = 0.5 * (problem.likely_lower[p] + problem.likely_upper[p]);
      if (k >= added) at = before(k - added, p);
      else if (p == count - 1) at = std::log(spread * (k == 0 ? 0.7 : 1e-4));
      out(k, p) = std::min(std::max(at, problem.lower[p]), problem.upper[p]);
    }
  }
  return out;
}

// What a problem and a plan have in common.
template <typename Asked>
void read_common(const Rcpp::List& list, Asked& asked) {
  asked.lower = numbers(list, "lower");
  asked.upper = numbers(list, "upper");
  asked.priors = priors_from(list);
  asked.scale = indices_from(required(list, "scale"));
  asked.single_variance = Rcpp::as<bool>(required(list, "single_variance"));
  asked.starts = Rcpp::as<int>(required(list, "starts"));
}

}  // namespace

VectorXd numbers(const Rcpp::List& list, const char* name) {
  return Rcpp::as<VectorXd>(list[name]);
}

FitProblem problem_from_list(const Rcpp::List& list) {
  FitProblem problem;
  read_common(list, problem);
  problem.start = numbers(list, "start");
  problem.likely_lower = numbers(list, "likely_lower");
  problem.likely_upper = numbers(list, "likely_upper");
  problem.resumes = Rcpp::as<bool>(required(list, "resumes"));
  return problem;
}

FitPlan plan_from_list(const Rcpp::List& list) {
  FitPlan plan;
  read_common(list, plan);
  const auto units = Rcpp::as<std::vector<int>>(required(list, "unit"));
  const Rcpp::List inputs = required(list, "inputs");
  const Eigen::MatrixXd factors = Rcpp::as<Eigen::MatrixXd>(required(list, "factors"));
  for (std::size_t p = 0; p < units.size(); ++p) {
    const auto at = static_cast<Eigen::Index>(p);
    plan.ranges.push_back({static_cast<ParameterRange::Unit>(units[p]),
                           indices_from(inputs[static_cast<R_xlen_t>(p)]),
                           {factors(0, at), factors(1, at), factors(2, at), factors(3, at)}});
  }
  const auto at_most_one = Rcpp::as<std::vector<int>>(required(list, "at_most_one"));
  for (const int flag : at_most_one) plan.at_most_one.push_back(flag != 0);
  plan.fix_noise = Rcpp::as<bool>(required(list, "fix_noise"));
  return plan;
}

Minimizers minimizers_of(int iterations) {
  return [iterations](double tolerance) {
    return announced(lbfgsb_minimizer(iterations, tolerance), &check_interrupt);
  };
}

Minimizers reporting_minimizers(int iterations, Index searches, const Rcpp::List& asked) {
  const SEXP progress = element(asked, "progress");
  if (Rf_isNull(progress)) return minimizers_of(iterations);
  const RFunction report(Rcpp::Function(progress), nullptr);
  const auto begun = std::make_shared<Index>(0);
  const double limit = iterations, all = static_cast<double>(searches);
  return [=](double tolerance) {
    const double before = static_cast<double>((*begun)++);
    const auto calls = std::make_shared<double>(0.0);
    return announced(lbfgsb_minimizer(iterations, tolerance), [=] {
      check_interrupt();
      report(std::min(1.0, (before + std::min(1.0, *calls / limit)) / all));
      *calls += 1.0;
    });
  };
}

Rcpp::List average_to_list(const ModelAverage& found) {
  const auto count = static_cast<Eigen::Index>(found.models.size());
  Eigen::MatrixXd parameters(found.best.parameters.size(), count);
  Eigen::VectorXd mean(count), weight(count);
  Rcpp::IntegerVector kernel(static_cast<int>(count));
  for (Eigen::Index k = 0; k < count; ++k) {
    const WeighedModel& one = found.models[static_cast<std::size_t>(k)];
    parameters.col(k) = one.parameters;
    mean[k] = one.mean;
    weight[k] = one.weight;
    kernel[k] = static_cast<int>(one.kernel) + 1;
  }
  return named_list("kernel", kernel, "parameters", parameters, "mean", mean, "weight", weight,
                    "best", found.best.parameters, "best_mean", found.best.mean,
                    "best_kernel", static_cast<int>(found.best_kernel) + 1,
                    "modes", static_cast<double>(found.modes), "effective", found.effective,
                    "evaluations", static_cast<double>(found.best.evaluations),
                    "points", static_cast<double>(found.best.points), "exact", found.best.exact);
}

ModelAverage average_of(const Rcpp::List& kernels, const Measurements& measurements, bool fit_mean,
                        const FitProblem& problem, int iterations, const Rcpp::List& average,
                        double spread, const Rcpp::List& asked) {
  const Eigen::VectorXd log_prior = numbers(average, "log_prior");
  const Rcpp::List before = required(average, "before");
  const auto goes_on = Rcpp::as<std::vector<int>>(required(average, "goes_on"));
  AverageProblem asks{problem, numbers(average, "unit"), Rcpp::as<int>(required(average, "count"))};
  // (The earlier models are better starts than low-discrepancy points.)
  if (measurements.y.size() > kQuick && Rcpp::as<Eigen::MatrixXd>(before[0]).rows() > 0) asks.fit.starts = 1;
  std::vector<AveragedKernel> averaged;
  for (R_xlen_t k = 0; k < kernels.size(); ++k) {
    averaged.push_back({kernel_from_list(kernels[k]),
                        additional_starts(problem, Rcpp::as<Eigen::MatrixXd>(before[k]),
                                          goes_on[static_cast<std::size_t>(k)] != 0, measurements.y.size(), spread),
                        log_prior[k]});
  }
  const Index searches =
      kernels.size() * most_searches_of_all(count_points(measurements.X), problem.resumes);
  return average_models(averaged, measurements, fit_mean, asks,
                        {minimizers_of(iterations), reporting_minimizers(iterations, searches, asked)},
                        iterations);
}

}  // namespace gpb
