// R's entry points for fits of hyperparameters. Uses the core and the adapters r_*.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "bandit/known_measurements.h"
#include "base/local_search_by_values.h"
#include "fitting/average.h"
#include "fitting/fit_plan.h"
#include "fitting/latent_evidence.h"
#include "fitting/likelihood.h"
#include "fitting/varying_noise.h"
#include "r_bandit.h"
#include "r_evidence.h"
#include "r_fit.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"
#include "r_settings.h"
#include "r_values.h"

using gpb::average_of;
using gpb::average_to_list;
using gpb::minimizers_of;
using gpb::numbers;
using gpb::plan_from_list;
using gpb::problem_from_list;
using gpb::reporting_minimizers;

// For R's gp_fit().

// Logarithms of the start, the bounds, and the range of other starts. `spread`: the mean square of the values minus
// their mean.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit_ranges(const Rcpp::List& plan, const Eigen::VectorXd& start, const Eigen::MatrixXd& x,
                          double spread, bool fix_noise) {
  const gpb::FitProblem found = gpb::problem_of(plan_from_list(plan), start, x, spread, fix_noise);
  return gpb::named_list("start", found.start, "lower", found.lower, "upper", found.upper,
                         "likely_lower", found.likely_lower, "likely_upper", found.likely_upper);
}

// own_noise: the separate noise variance of each observation, NA for none; of length 0 if there are none.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit(const Rcpp::List& kernel, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                   const Eigen::VectorXd& own_noise, bool fit_mean, const Rcpp::List& problem,
                   int iterations) {
  const gpb::FitResult found =
      gpb::fit_parameters(*gpb::kernel_from_list(kernel), {x, y, own_noise}, fit_mean, problem_from_list(problem),
                          {minimizers_of(iterations), reporting_minimizers(iterations, 1, problem)}, iterations);
  return gpb::named_list("parameters", found.parameters, "mean", found.mean, "log_likelihood", found.log_likelihood,
                         "objective", found.objective, "converged", found.converged,
                         "evaluations", static_cast<double>(found.evaluations),
                         "points", static_cast<double>(found.points), "exact", found.exact);
}

namespace {

// Of more points, a fit uses this number, evenly spread over the order in which they were first observed: the cost is
// cubic in it, and the parameters are few.
constexpr std::size_t kMostLatentPoints = 400;

void thin_out(gpb::Observations::Pool& pool) {
  const std::size_t count = pool.functionals.size();
  if (count <= kMostLatentPoints || !pool.rankings.empty() || pool.functionals[0].compares) return;
  for (std::size_t k = 0; k < kMostLatentPoints; ++k) {
    const std::size_t from = k * (count - 1) / (kMostLatentPoints - 1);
    pool.functionals[k] = pool.functionals[from];
    pool.data[k] = pool.data[from];
  }
  pool.functionals.resize(kMostLatentPoints);
  pool.data.resize(kMostLatentPoints);
}

// The observed values of an outcome (0-based) whose likelihood is not Gaussian.
gpb::LatentMeasurements latent_measurements(const gpb::Bandit& bandit, int outcome) {
  gpb::Observations::Pool pool = bandit.outcome_models().at(static_cast<std::size_t>(outcome)).known().pool();
  const gpb::Space& space = *bandit.model_state(outcome).space;
  thin_out(pool);
  gpb::LatentMeasurements out;
  std::map<std::vector<double>, Eigen::Index> where;
  std::vector<gpb::VectorXd> points;
  const auto number = [&](const gpb::Point& point) {
    const gpb::VectorXd x = space.inputs(point);
    const auto found = where.emplace(std::vector<double>(x.data(), x.data() + x.size()),
                                     static_cast<Eigen::Index>(points.size()));
    if (found.second) points.push_back(x);
    return found.first->second;
  };
  out.mean.resize(static_cast<Eigen::Index>(pool.functionals.size()));
  for (const gpb::Functional& one : pool.functionals) {
    out.mean[static_cast<Eigen::Index>(out.point.size())] =
        space.prior_mean(one.point) - (one.compares ? space.prior_mean(one.other) : 0.0);
    out.point.push_back(number(one.point));
    out.other.push_back(one.compares ? number(one.other) : -1);
  }
  out.data = pool.data;
  out.rankings = pool.rankings;
  for (const gpb::VectorXd& x : points) {
    if (out.X.rows() == 0) out.X.resize(static_cast<Eigen::Index>(points.size()), x.size());
    gpb::set_row(out.X, where.at(std::vector<double>(x.data(), x.data() + x.size())), x);
  }
  return out;
}

}  // namespace

gpb::LatentEvidence latent_evidence(SEXP handle, const Rcpp::List& kernel, bool fit_mean, int outcome) {
  BanditHandle bandit(handle);
  const gpb::LikelihoodPtr likelihood = bandit->model_state(outcome).likelihood;
  if (!likelihood) gpb::throw_invalid("the rewards have Gaussian noise");
  return gpb::LatentEvidence(*gpb::kernel_from_list(kernel), latent_measurements(*bandit, outcome), likelihood,
                             fit_mean);
}

// The maximum of Laplace's log marginal likelihood: parameters of the kernel, the prior mean if it is fitted, the
// parameters of the likelihood, and a zero. `outcome`: 0-based.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit_latent(SEXP handle, const Rcpp::List& kernel, bool fit_mean, const Rcpp::List& problem,
                          int iterations, int outcome) {
  gpb::LatentEvidence evidence = latent_evidence(handle, kernel, fit_mean, outcome);
  const gpb::FitProblem asked = problem_from_list(problem);
  gpb::Fit fit(evidence, asked, reporting_minimizers(iterations, asked.starts, problem), iterations);
  fit.explore();
  return gpb::named_list("parameters", fit.best().parameters, "log_likelihood", fit.best().log_likelihood,
                         "objective", fit.best().objective, "converged", fit.best().converged);
}

gpb::VaryingEvidence varying_evidence(const Rcpp::List& kernel, const Rcpp::List& noise_kernel, int variance,
                                      const Rcpp::List& measurements, bool fit_mean) {
  return gpb::VaryingEvidence(*gpb::kernel_from_list(kernel), *gpb::kernel_from_list(noise_kernel), variance - 1,
                              {Rcpp::as<Eigen::MatrixXd>(gpb::required(measurements, "x")),
                               numbers(measurements, "count"), numbers(measurements, "average"),
                               numbers(measurements, "spread")},
                              fit_mean);
}

Rcpp::List varying_list(const gpb::VaryingNoise& found, double value) {
  return gpb::named_list("weights", found.weights, "level", found.level, "log_noise", found.log_noise,
                         "mean", found.mean, "likelihood", found.likelihood, "value", value);
}

// The maximum of the penalised likelihood of heteroscedastic noise (VaryingEvidence), from the start of `problem`.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit_varying(const Rcpp::List& kernel, const Rcpp::List& noise_kernel, int variance,
                           const Rcpp::List& measurements, bool fit_mean, const Rcpp::List& problem, int iterations) {
  gpb::VaryingEvidence evidence = varying_evidence(kernel, noise_kernel, variance, measurements, fit_mean);
  const gpb::FitProblem asked = problem_from_list(problem);
  gpb::Fit fit(evidence, asked, reporting_minimizers(iterations, asked.starts, problem), iterations);
  fit.explore();
  const gpb::FitResult best = fit.best();
  evidence.factorise(best.parameters, false);
  Rcpp::List out = varying_list(evidence.found(), best.objective);
  out["parameters"] = best.parameters;
  return out;
}

// See average_to_list() and average_of().
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit_models(const Rcpp::List& kernels, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                          const Eigen::VectorXd& own_noise, bool fit_mean, const Rcpp::List& problem,
                          int iterations, const Rcpp::List& average, double spread) {
  return average_to_list(average_of(kernels, {x, y, own_noise}, fit_mean, problem_from_list(problem), iterations,
                                    average, spread, problem));
}
