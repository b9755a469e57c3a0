// R's entry points for kernels, regressions and designs; conversion of R's vectors, matrices and settings for the core;
// the minimiser. Uses the core and the adapters r_*.

#include "base/local_search_by_values.h"
#include "base/golden_points.h"
#include "base/stream_random.h"
#include "bandit/known_measurements.h"
#include "events/changes.h"
#include "fitting/average.h"
#include "fitting/fit_plan.h"
#include "fitting/latent_evidence.h"
#include "fitting/likelihood.h"
#include "fitting/varying_noise.h"
#include "gpbandits_types.h"
#include "kernels/make_kernel.h"
#include "kernels/pivoted_cholesky.h"
#include "linalg/decompositions.h"
#include "r_bandit.h"
#include "r_evidence.h"
#include "r_function.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"
#include "r_regression.h"
#include "r_rng.h"
#include "r_settings.h"
#include "r_values.h"
#include "posteriors/arm_setting.h"
#include "spaces/polytope.h"
#include "spaces/shares.h"
#include "widths/information.h"
#include "widths/optimal_design.h"

#include <R.h>
#include <R_ext/Applic.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

// ---- kernels ------------------------------------------------------------------------------------

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

// ---- factors ------------------------------------------------------------------------------------

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

// ---- regression ---------------------------------------------------------------------------------
// For R's gp_regression. The R object contains the data; the pointer made here is a cache that R rebuilds if it is
// lost.

namespace {

using gpb::Regression;

// Entries of V = L^-1 K(played, X) that are kept for the next call: 32 MB.
constexpr double kCacheEntries = 4e6;
constexpr gpb::Index kRowsPerCheck = 512;  // between two checks for an interrupt

bool same_points(const gpb::Points& a, const gpb::Points& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
}

void predict_in_parts(const gpb::DensePosterior& posterior, const gpb::Points& X,
                      gpb::VectorXd& mean, gpb::VectorXd& variance) {
  mean.resize(X.rows());
  variance.resize(X.rows());
  gpb::VectorXd part_mean, part_variance;
  for (gpb::Index first = 0; first < X.rows(); first += kRowsPerCheck) {
    gpb::check_interrupt();
    const gpb::Index count = std::min(kRowsPerCheck, X.rows() - first);
    posterior.predict(X.middleRows(first, count), part_mean, part_variance);
    mean.segment(first, count) = part_mean;
    variance.segment(first, count) = part_variance;
  }
}

Rcpp::List mean_and_sd(const gpb::VectorXd& mean, const gpb::VectorXd& variance) {
  return gpb::named_list("mean", mean, "sd", gpb::roots(variance));
}

// Mean and variance, with the cache if it is small enough to be kept.
void predict_cached(Regression& r, const gpb::Points& X, gpb::VectorXd& mean,
                    gpb::VectorXd& variance) {
  const double entries = static_cast<double>(X.rows()) * static_cast<double>(r.posterior.size());
  if (entries > kCacheEntries) {
    r.cache.reset();
    predict_in_parts(r.posterior, X, mean, variance);
    return;
  }
  if (!r.cache || !same_points(r.cache->points(), X)) {
    r.cache = std::make_unique<gpb::PredictionCache>(X);
  }
  r.cache->follow(r.posterior);
  mean = r.cache->mean();
  variance = r.cache->variance();
}

RegressionPtr pointer_to(std::unique_ptr<Regression> made, SEXP kept) {
  const Rcpp::Shield<SEXP> functions(kept);
  RegressionPtr out(made.get(), true, R_NilValue, functions);
  made.release();
  return out;
}

}  // namespace

// The pointer keeps the kernel's functions. noise_scale: each observation's noise variance over noise_var.
// [[Rcpp::export(rng = false)]]
SEXP cpp_regression_new(const Rcpp::List& kernel, double noise_var, const Eigen::MatrixXd& x,
                        const Eigen::VectorXd& y, const Eigen::VectorXd& noise_scale) {
  gpb::HandleFunctions functions;
  auto made = std::make_unique<Regression>(
      Regression{gpb::DensePosterior(gpb::kernel_from_list(kernel, &functions), noise_var), nullptr});
  const RegressionPtr out = pointer_to(std::move(made), functions.list());
  functions.let_go();
  out->posterior.reserve(x.rows());
  for (gpb::Index first = 0; first < x.rows(); first += kRowsPerCheck) {
    gpb::check_interrupt();
    const gpb::Index count = std::min(kRowsPerCheck, x.rows() - first);
    out->posterior.add(x.middleRows(first, count), y.segment(first, count),
                       noise_scale.segment(first, count));
  }
  return out;
}

// The number of observations; -1 if the pointer did not survive (readRDS, another process).
// [[Rcpp::export(rng = false)]]
double cpp_regression_size(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == nullptr) return -1.0;
  return static_cast<double>(RegressionPtr(pointer)->posterior.size());
}

// A copy with only the first `size` observations.
// [[Rcpp::export(rng = false)]]
SEXP cpp_regression_head(SEXP pointer, double size) {
  const RegressionPtr from(pointer);
  auto made = std::make_unique<Regression>(Regression{from->posterior, nullptr});
  made->posterior.truncate(static_cast<gpb::Index>(size));
  return pointer_to(std::move(made), R_ExternalPtrProtected(pointer));
}

// [[Rcpp::export(rng = false)]]
void cpp_regression_add(SEXP pointer, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                        const Eigen::VectorXd& noise_scale) {
  gpb::DensePosterior& posterior = RegressionPtr(pointer)->posterior;
  if (x.rows() == 1) {
    posterior.add(gpb::row_of(x, 0), y[0], noise_scale[0]);
  } else {
    posterior.add(x, y, noise_scale);
  }
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_regression_predict(SEXP pointer, const Eigen::MatrixXd& x) {
  gpb::VectorXd mean, variance;
  predict_cached(*RegressionPtr(pointer), x, mean, variance);
  return mean_and_sd(mean, variance);
}

// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_regression_mean(SEXP pointer, const Eigen::MatrixXd& x) {
  return RegressionPtr(pointer)->posterior.predict_mean(x);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_regression_covariance(SEXP pointer, const Eigen::MatrixXd& x) {
  return RegressionPtr(pointer)->posterior.covariance(x);
}

// Joint draws of f with zero prior mean, one per column.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_regression_draw(SEXP pointer, const Eigen::MatrixXd& x, double count) {
  gpb::RRng rng;
  return RegressionPtr(pointer)->posterior.draw(x, rng, static_cast<gpb::Index>(count));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_regression_evidence(SEXP pointer) {
  const gpb::DensePosterior& posterior = RegressionPtr(pointer)->posterior;
  return gpb::named_list("log_likelihood", posterior.log_likelihood(), "log_det", posterior.log_det(),
                         "quadratic", posterior.quadratic());
}

// ---- hyperparameters ----------------------------------------------------------------------------
// For R's gp_fit().

namespace {

gpb::VectorXd numbers(const Rcpp::List& list, const char* name) {
  return Rcpp::as<gpb::VectorXd>(list[name]);
}

// For each parameter: the shapes of a Beta distribution, then weight, mean and sd of each part of a mixture.
std::vector<gpb::ParameterPrior> priors_from(const Rcpp::List& list) {
  std::vector<gpb::ParameterPrior> out;
  for (SEXP one : Rcpp::as<Rcpp::List>(gpb::required(list, "priors"))) {
    const gpb::VectorXd numbers = Rcpp::as<gpb::VectorXd>(one);
    gpb::ParameterPrior prior;
    prior.shape1 = numbers[0];
    prior.shape2 = numbers[1];
    for (gpb::Index k = 2; k + 2 < numbers.size(); k += 3) {
      prior.parts.push_back({numbers[k], numbers[k + 1], numbers[k + 2]});
    }
    out.push_back(std::move(prior));
  }
  return out;
}

std::vector<gpb::Index> indices_from(SEXP x) {
  const auto numbers = Rcpp::as<std::vector<int>>(x);
  return {numbers.begin(), numbers.end()};
}

gpb::FitProblem problem_from_list(const Rcpp::List& list) {
  gpb::FitProblem problem;
  problem.start = numbers(list, "start");
  problem.lower = numbers(list, "lower");
  problem.upper = numbers(list, "upper");
  problem.likely_lower = numbers(list, "likely_lower");
  problem.likely_upper = numbers(list, "likely_upper");
  problem.priors = priors_from(list);
  problem.scale = indices_from(gpb::required(list, "scale"));
  problem.single_variance = Rcpp::as<bool>(gpb::required(list, "single_variance"));
  problem.starts = Rcpp::as<int>(gpb::required(list, "starts"));
  problem.resumes = Rcpp::as<bool>(gpb::required(list, "resumes"));
  return problem;
}

// From the list of fit_plan() in R.
gpb::FitPlan plan_from_list(const Rcpp::List& list) {
  gpb::FitPlan plan;
  const auto units = Rcpp::as<std::vector<int>>(gpb::required(list, "unit"));
  const Rcpp::List inputs = gpb::required(list, "inputs");
  const Eigen::MatrixXd factors = Rcpp::as<Eigen::MatrixXd>(gpb::required(list, "factors"));
  for (std::size_t p = 0; p < units.size(); ++p) {
    const auto at = static_cast<Eigen::Index>(p);
    plan.ranges.push_back({static_cast<gpb::ParameterRange::Unit>(units[p]),
                           indices_from(inputs[static_cast<R_xlen_t>(p)]),
                           {factors(0, at), factors(1, at), factors(2, at), factors(3, at)}});
  }
  plan.lower = numbers(list, "lower");
  plan.upper = numbers(list, "upper");
  const auto at_most_one = Rcpp::as<std::vector<int>>(gpb::required(list, "at_most_one"));
  for (const int flag : at_most_one) plan.at_most_one.push_back(flag != 0);
  plan.priors = priors_from(list);
  plan.scale = indices_from(gpb::required(list, "scale"));
  plan.single_variance = Rcpp::as<bool>(gpb::required(list, "single_variance"));
  plan.fix_noise = Rcpp::as<bool>(gpb::required(list, "fix_noise"));
  plan.starts = Rcpp::as<int>(gpb::required(list, "starts"));
  return plan;
}

// The same minimiser with a call of `before()` before each evaluation.
template <typename Before>
gpb::BoxMinimizer announced(const gpb::BoxMinimizer& minimise, const Before& before) {
  return [minimise, before](gpb::VectorXd& x, const gpb::Objective& f) {
    return minimise(x, [&](const gpb::VectorXd& at, gpb::VectorXd& gradient) {
      before();
      return f(at, gradient);
    });
  };
}

gpb::Fit::Minimizers minimizers_of(int iterations) {
  return [iterations](double tolerance) {
    return announced(gpb::lbfgsb_minimizer(iterations, tolerance), &gpb::check_interrupt);
  };
}

// The same for at most `searches` local searches, which report to an R function how far they are: `progress` of `asked`
// (NULL: none) is called with a number from 0 to 1. (A search that takes fewer evaluations than its limit advances the
// number at its end.)
gpb::Fit::Minimizers reporting_minimizers(int iterations, gpb::Index searches, const Rcpp::List& asked) {
  const SEXP progress = gpb::element(asked, "progress");
  if (Rf_isNull(progress)) return minimizers_of(iterations);
  const gpb::RFunction report(Rcpp::Function(progress), nullptr);
  const auto begun = std::make_shared<gpb::Index>(0);
  const double limit = iterations, all = static_cast<double>(searches);
  return [=](double tolerance) {
    const double before = static_cast<double>((*begun)++);
    const auto calls = std::make_shared<double>(0.0);
    return announced(gpb::lbfgsb_minimizer(iterations, tolerance), [=] {
      gpb::check_interrupt();
      report(std::min(1.0, (before + std::min(1.0, *calls / limit)) / all));
      *calls += 1.0;
    });
  };
}

}  // namespace

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

namespace {

// `kernel` (their numbers, from 1), `parameters` (a column per model), `mean`, `weight`; `best`: the mode's parameters,
// mean and kernel.
Rcpp::List average_to_list(const gpb::ModelAverage& found) {
  const auto count = static_cast<Eigen::Index>(found.models.size());
  Eigen::MatrixXd parameters(found.best.parameters.size(), count);
  Eigen::VectorXd mean(count), weight(count);
  Rcpp::IntegerVector kernel(static_cast<int>(count));
  for (Eigen::Index k = 0; k < count; ++k) {
    const gpb::WeighedModel& one = found.models[static_cast<std::size_t>(k)];
    parameters.col(k) = one.parameters;
    mean[k] = one.mean;
    weight[k] = one.weight;
    kernel[k] = static_cast<int>(one.kernel) + 1;
  }
  return gpb::named_list("kernel", kernel, "parameters", parameters, "mean", mean, "weight", weight,
                         "best", found.best.parameters, "best_mean", found.best.mean,
                         "best_kernel", static_cast<int>(found.best_kernel) + 1,
                         "modes", static_cast<double>(found.modes), "effective", found.effective,
                         "evaluations", static_cast<double>(found.best.evaluations),
                         "points", static_cast<double>(found.best.points), "exact", found.best.exact);
}

// Additional starts of one kernel's local searches: earlier models (`before`, a row each), and the middle of the likely
// range with much noise and with almost none. The density has two modes if few measurements could be noise only, or a
// rough function. (With many rewards a search is slow: a kernel with `goes_on` starts from the earlier models only. A
// problem that `resumes` has no further starts.)
Eigen::MatrixXd additional_starts(const gpb::FitProblem& problem, const Eigen::MatrixXd& before, bool goes_on,
                               gpb::Index measurements, double spread) {
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

// `average`: `count`, `unit` (flags of the parameters that lie between 0 and 1), and for each kernel `log_prior`,
// `before` and `goes_on` (additional_starts()). `asked` may have `progress`.
gpb::ModelAverage average_of(const Rcpp::List& kernels, const gpb::Measurements& measurements, bool fit_mean,
                             const gpb::FitProblem& problem, int iterations, const Rcpp::List& average,
                             double spread, const Rcpp::List& asked) {
  const Eigen::VectorXd log_prior = numbers(average, "log_prior");
  const Rcpp::List before = gpb::required(average, "before");
  const auto goes_on = Rcpp::as<std::vector<int>>(gpb::required(average, "goes_on"));
  std::vector<gpb::AveragedKernel> averaged;
  for (R_xlen_t k = 0; k < kernels.size(); ++k) {
    averaged.push_back({gpb::kernel_from_list(kernels[k]),
                        additional_starts(problem, Rcpp::as<Eigen::MatrixXd>(before[k]),
                                       goes_on[static_cast<std::size_t>(k)] != 0, measurements.y.size(), spread),
                        log_prior[k]});
  }
  const gpb::Index searches =
      kernels.size() * gpb::most_searches_of_all(gpb::count_points(measurements.X), problem.resumes);
  return gpb::average_models(averaged, measurements, fit_mean,
                             {problem, numbers(average, "unit"), Rcpp::as<int>(gpb::required(average, "count"))},
                             {minimizers_of(iterations), reporting_minimizers(iterations, searches, asked)},
                             iterations);
}

}  // namespace

// See average_to_list() and average_of().
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_fit_models(const Rcpp::List& kernels, const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                          const Eigen::VectorXd& own_noise, bool fit_mean, const Rcpp::List& problem,
                          int iterations, const Rcpp::List& average, double spread) {
  return average_to_list(average_of(kernels, {x, y, own_noise}, fit_mean, problem_from_list(problem), iterations,
                                    average, spread, problem));
}

// ---- refits -------------------------------------------------------------------------------------
// Fits to what a bandit has observed, which R does not collect first.

namespace {

std::optional<gpb::OutcomeTransform> transform_from(SEXP map) {
  if (Rf_isNull(map)) return std::nullopt;
  return gpb::make_outcome_transform(gpb::RSettings(Rcpp::List(map)));
}

double number_of(const Rcpp::List& list, const char* name) { return Rcpp::as<double>(list[name]); }

// The readings of a fit: values less the prior mean, which is one for all, one per arm, or (no entries) to be fitted:
// then less their own, `centre`.
struct RefitData {
  gpb::Measurements measurements;
  double centre = 0.0, spread = 0.0;
  std::vector<double> log_slopes;  // of the transform, for each measurement
  double log_slope = 0.0;          // their sum
  bool fits_mean = false;
};

RefitData refit_data(const gpb::Bandit& bandit, const gpb::KnownMeasurements& known, const Rcpp::List& plan,
                     const Eigen::VectorXd& prior_mean) {
  const auto n = static_cast<Eigen::Index>(known.id.size());
  if (n < 1 || (n == 1 && known.count[0] < 2.0)) gpb::throw_invalid("there are fewer than two observations");
  RefitData out;
  out.measurements.X =
      gpb::points_of(bandit, known.id, Rcpp::as<int>(gpb::required(plan, "columns")),
                     Rcpp::as<bool>(gpb::required(plan, "numbered")));
  Eigen::VectorXd& y = out.measurements.y;
  y.resize(n);
  bool owned = false;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double mean = prior_mean.size() == 0 ? 0.0
                        : prior_mean.size() == 1 ? prior_mean[0]
                                                 : prior_mean[bandit.state().query(known.id[k]).point.arm];
    y[i] = known.value[k] - mean;
    if (!(std::abs(y[i]) <= gpb::kLargest)) gpb::throw_invalid("a value is too large to be fitted");
    owned = owned || !std::isnan(known.noise_var[k]);
  }
  if (owned) out.measurements.own_noise = Eigen::Map<const Eigen::VectorXd>(known.noise_var.data(), n);
  const bool once = std::all_of(known.count.begin(), known.count.end(), [](double count) { return count == 1.0; });
  if (!once) out.measurements.counts = Eigen::Map<const Eigen::VectorXd>(known.count.data(), n);
  const auto count = [&](gpb::Index i) { return out.measurements.count(i); };
  out.fits_mean = prior_mean.size() == 0;
  if (out.fits_mean) out.centre = gpb::exact_mean(n, [&](gpb::Index i) { return y[i]; }, count);
  out.spread = gpb::exact_mean(n, [&](gpb::Index i) { return (y[i] - out.centre) * (y[i] - out.centre); }, count);
  // (Variances are looked for from 1e-8 to 1e7 times this, and must be numbers that a kernel may have.)
  if (out.spread != 0.0 && !(out.spread >= 1e8 / gpb::kLargest && out.spread <= gpb::kLargest / 1e7)) {
    gpb::throw_invalid("the rewards' spread is too large, or too small, to be fitted");
  }
  out.log_slope = known.log_slope;
  out.log_slopes = known.log_slopes;
  return out;
}

// A parameter that has not moved keeps its bits: exp(log(x)) need not be x.
Eigen::VectorXd values_at(const Eigen::VectorXd& parameters, const gpb::FitProblem& problem,
                          const Eigen::VectorXd& start) {
  Eigen::VectorXd out(parameters.size());
  for (Eigen::Index p = 0; p < out.size(); ++p) {
    out[p] = parameters[p] == problem.start[p] ? start[p] : std::exp(parameters[p]);
  }
  return out;
}

bool is_finite(const gpb::FitResult& found) {
  for (Eigen::Index p = 0; p < found.parameters.size(); ++p) {
    if (!std::isfinite(found.parameters[p])) return false;
  }
  return std::isfinite(found.mean) && std::isfinite(found.objective);
}

// Are all noise variances the observations' own? The data say nothing of another.
bool has_own_noise_only(const Eigen::VectorXd& own_noise) {
  if (own_noise.size() == 0) return false;
  for (Eigen::Index i = 0; i < own_noise.size(); ++i) {
    if (std::isnan(own_noise[i])) return false;
  }
  return true;
}

// Output transforms are compared by this number of measurements if there are more.
constexpr gpb::Index kMostCompared = 500;

RefitData compared_part(const RefitData& data) {
  const std::vector<gpb::Index> rows = gpb::spread_rows(data.measurements.y.size(), kMostCompared);
  RefitData out = data;
  out.measurements = gpb::some_of(data.measurements, rows);
  out.log_slope = 0.0;
  for (const gpb::Index i : rows) {
    out.log_slope += data.measurements.count(i) * data.log_slopes[static_cast<std::size_t>(i)];
  }
  return out;
}

gpb::Measurements centred(const RefitData& data) {
  gpb::Measurements out = data.measurements;
  for (gpb::Index i = 0; i < out.y.size(); ++i) out.y[i] -= data.centre;
  return out;
}

// The log density of the rewards themselves, by which two output transforms are compared: of all rewards, as the fit
// has found it, or of some of many.
double compared_density(const RefitData& data, const gpb::Kernel& kernel, const gpb::FitResult& found) {
  if (data.measurements.y.size() <= kMostCompared) return found.log_likelihood + data.log_slope;
  const RefitData some = compared_part(data);
  gpb::MarginalLikelihood likelihood(kernel, centred(some), data.fits_mean);
  likelihood.factorise(found.parameters, false);
  return likelihood.value() + some.log_slope;
}

// Were most of many points there at the last fit? Its result is then near the best parameters.
bool resumes(const gpb::Measurements& measurements, double since_refit) {
  return since_refit <= 0.5 * static_cast<double>(measurements.y.size()) &&
         gpb::count_points(measurements.X) > gpb::kFewPoints;
}

Rcpp::List fit_to_list(const RefitData& data, const Rcpp::List& plan, const Rcpp::List& asked) {
  const Eigen::VectorXd start = numbers(asked, "start");
  const int iterations = Rcpp::as<int>(gpb::required(plan, "iterations"));
  if (gpb::is_constant(data.measurements.y, data.spread)) {
    return gpb::named_list("values", start, "mean", data.centre, "constant", true);
  }
  gpb::FitPlan fit = plan_from_list(plan);
  const bool compares = Rcpp::as<bool>(gpb::required(asked, "local_searches"));
  if (compares) fit.starts = 1;
  gpb::FitProblem problem = gpb::problem_of(fit, start, data.measurements.X, data.spread,
                                                  has_own_noise_only(data.measurements.own_noise));
  const gpb::Measurements measurements = centred(data);
  problem.resumes = resumes(measurements, number_of(asked, "since_refit"));
  if (compares) problem.tolerance = gpb::kManyTolerance;
  const Rcpp::List kernels = gpb::required(plan, "kernels");
  const SEXP average = gpb::element(asked, "average");
  if (!Rf_isNull(average)) {
    const gpb::ModelAverage averaged = average_of(kernels, measurements, data.fits_mean, problem, iterations,
                                                  Rcpp::List(average), data.spread, asked);
    Rcpp::List out = average_to_list(averaged);
    out["centre"] = data.centre;
    out["compared"] = compared_density(data, *gpb::kernel_from_list(kernels[averaged.best_kernel]), averaged.best);
    out["many"] = averaged.best.points > gpb::kFewPoints;
    return out;
  }
  const int kernel = Rcpp::as<int>(gpb::required(asked, "kernel")) - 1;
  const gpb::KernelPtr model = gpb::kernel_from_list(kernels[kernel]);
  const gpb::FitResult found =
      gpb::fit_parameters(*model, measurements, data.fits_mean, problem,
                          {minimizers_of(iterations), reporting_minimizers(iterations, 1, asked)}, iterations);
  if (!is_finite(found)) gpb::throw_runtime("the likelihood is not finite");
  return gpb::named_list("values", values_at(found.parameters, problem, start), "mean", data.centre + found.mean,
                         "compared", compared_density(data, *model, found), "constant", false,
                         "points", static_cast<double>(found.points), "exact", found.exact,
                         "many", found.points > gpb::kFewPoints);
}

}  // namespace

// Fits an outcome's model to what is known of it. `plan`: refit_plan() in R; `asked`: from which parameters, under
// which output transform. NULL where the core's object is not whole, FALSE where fewer rewards are known than asked
// for.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_fit(SEXP handle, const Rcpp::List& plan, const Rcpp::List& asked) {
  if (!is_ready(handle)) return R_NilValue;
  const BanditHandle bandit(handle);
  const Eigen::VectorXd start = numbers(asked, "start");
  const gpb::KnownMeasurements known = gpb::known_measurements_of(
      *bandit, Rcpp::as<int>(gpb::required(plan, "outcome")) - 1, transform_from(gpb::element(asked, "map")),
      start[start.size() - 1]);
  if (!(known.rewards >= number_of(plan, "minimum"))) return Rf_ScalarLogical(FALSE);
  const RefitData data = refit_data(*bandit, known, plan, numbers(asked, "mean"));
  const bool some = Rcpp::as<bool>(gpb::required(asked, "compares")) && data.measurements.y.size() > kMostCompared;
  return fit_to_list(some ? compared_part(data) : data, plan, asked);
}

// Are the points of these queries so many that a fit begins with a subset? `plan`: as for cpp_bandit_fit(). NULL where
// the core's object is not whole.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_has_many_points(SEXP handle, const std::vector<gpb::Index>& ids, const Rcpp::List& plan) {
  if (!is_ready(handle)) return R_NilValue;
  const BanditHandle bandit(handle);
  const gpb::Points points =
      gpb::points_of(*bandit, ids, Rcpp::as<int>(gpb::required(plan, "columns")),
                     Rcpp::as<bool>(gpb::required(plan, "numbered")));
  return Rf_ScalarLogical(gpb::count_points(points) > gpb::kFewPoints);
}

// What the mean of an outcome (1-based) is conditioned on, under an output transform (NULL: as it is): ids of the
// queries, rewards, their values in the model's units, noise variances there (NA for the model's), numbers of equal
// readings, and
// how much the transform stretches all of them. `usual`: see known_measurements_of().
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_measurements(SEXP handle, int outcome, SEXP map, double usual) {
  BanditHandle bandit(handle);
  gpb::KnownMeasurements known = gpb::known_measurements_of(*bandit, outcome - 1, transform_from(map), usual);
  for (double& one : known.noise_var) one = or_na(one);
  return gpb::named_list("id", std::vector<int>(known.id.begin(), known.id.end()), "reward", known.reward,
                         "value", known.value, "noise_var", known.noise_var, "slope", known.slope, "count", known.count,
                         "log_slope", known.log_slope, "rewards", known.rewards);
}

// ---- information --------------------------------------------------------------------------------

namespace {

using gpb::Index;

// gamma_T of the whole Gram matrix is at most that of its factor plus T times this.
double residual_slack(const gpb::LowRank& basis, double noise_var) {
  return basis.residual.maxCoeff() / (2.0 * noise_var);
}

// A factor of at most 800 MB; its residual is included in the slack.
gpb::LowRank factor_of(const gpb::ArmTable& table, double tolerance) {
  const Index limit = std::min<Index>(4000, static_cast<Index>(1e8) / table.size());
  return gpb::pivoted_cholesky(*table.kernel, *table.points, tolerance, std::max<Index>(1, limit));
}

gpb::GreedyInformation greedy_over(const gpb::ArmTablePtr& table, double noise_var) {
  const gpb::ArmSetting setting = gpb::make_arm_setting(table, noise_var, "auto", false);
  return gpb::GreedyInformation(
      setting.make_engine(noise_var, Eigen::VectorXd::Zero(table->size())));
}

gpb::ArmTablePtr table_of(const Rcpp::List& kernel, const Eigen::MatrixXd& points) {
  return std::make_shared<const gpb::ArmTable>(gpb::kernel_from_list(kernel),
                                               std::make_shared<const gpb::Points>(points));
}

double tolerance_of(const gpb::ArmTable& table, double noise_var) {
  return gpb::pivot_tolerance(table.prior_scale * table.prior_scale, noise_var);
}

}  // namespace

// 1/2 log det(I + W^1/2 K W^1/2 / noise_var), where W has the number of observations of each row of K.
// [[Rcpp::export(rng = false)]]
double cpp_information_gain(const Eigen::MatrixXd& K, const Eigen::VectorXd& times,
                            double noise_var) {
  Eigen::MatrixXd system = gpb::scaled_both((times / noise_var).cwiseSqrt(), K);
  gpb::add_to_diagonal(system, 1.0);
  if (!gpb::cholesky(system)) {
    gpb::throw_invalid("I + K / noise_var is not positive definite: the covariance is indefinite");
  }
  return system.diagonal().array().log().sum();
}

// All functions below return gamma_1..gamma_rounds over the rows of `points`.

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_greedy_information(const Rcpp::List& kernel,
                                           const Eigen::MatrixXd& points, int rounds,
                                           double noise_var) {
  gpb::GreedyInformation greedy = greedy_over(table_of(kernel, points), noise_var);
  Rcpp::NumericVector gain(rounds);
  for (int s = 1; s <= rounds; ++s) {
    if (s % 32 == 0) gpb::check_interrupt();
    gain[s - 1] = greedy.at(s);
  }
  return gain;
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_spectral_information(const Rcpp::List& kernel,
                                             const Eigen::MatrixXd& points, int rounds,
                                             double noise_var) {
  const gpb::ArmTablePtr table = table_of(kernel, points);
  const gpb::LowRank basis = factor_of(*table, tolerance_of(*table, noise_var));
  const double slack = residual_slack(basis, noise_var);
  const gpb::SpectralInformation spectral(gpb::gram_eigenvalues(basis.factor), noise_var);
  Rcpp::NumericVector gain(rounds);
  for (int s = 1; s <= rounds; ++s) gain[s - 1] = spectral.at(s) + s * slack;
  return gain;
}

// `tolerance` is relative. The factor's error may take a tenth of it, relative to the greedy gain (gamma_T / T
// decreases in T).
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_doptimal_information(const Rcpp::List& kernel, const Eigen::MatrixXd& points,
                                         int rounds, double noise_var, double tolerance) {
  const gpb::ArmTablePtr table = table_of(kernel, points);
  const double rate = greedy_over(table, noise_var).at(rounds) / rounds;
  const gpb::LowRank basis = factor_of(
      *table, std::max(tolerance_of(*table, noise_var), 0.2 * tolerance * noise_var * rate));
  const double slack = residual_slack(basis, noise_var);
  std::vector<Index> start = basis.pivots;
  if (start.size() > 60) start.resize(60);
  gpb::DesignSolver solver(basis.factor, noise_var, tolerance);
  return solver.bounds(rounds, start, [] { gpb::check_interrupt(); }) +
         slack * Eigen::VectorXd::LinSpaced(rounds, 1.0, rounds);
}

// ---- changes ------------------------------------------------------------------------------------
// Change-point detection for any regression data.

// The statistic of Algorithm 1 (Avanesov) for the two halves of the pairs, averaged over the domain.
// [[Rcpp::export(rng = false)]]
double cpp_change_statistic(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                            const Eigen::VectorXd& y, double ridge,
                            const Rcpp::List& domain) {
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  if (Rcpp::as<std::string>(gpb::required(domain, "kind")) == "points") {
    return gpb::change_statistic(*k, x, y, ridge, Rcpp::as<Eigen::MatrixXd>(gpb::required(domain, "points")));
  }
  return gpb::change_statistic(*k, x, y, ridge, *gpb::make_averaging(gpb::RSettings(domain), k));
}

namespace {

gpb::ChangeSweep sweep_from(const Rcpp::List& kernel, const Rcpp::Function& threshold, const Rcpp::Function& ridge,
                            const Rcpp::List& domain, bool dyadic) {
  const auto rate = [](const Rcpp::Function& f) {
    return [f](double q) { return Rcpp::as<double>(f(q)); };
  };
  const gpb::KernelPtr k = gpb::kernel_from_list(kernel);
  return {k, gpb::make_averaging(gpb::RSettings(domain), k), rate(threshold), rate(ridge), dyadic};
}

}  // namespace

// The number of the pair (1-based) at which a tail of the pairs so far first raises the alarm, 0 if none does.
// [[Rcpp::export(rng = false)]]
int cpp_detect_change(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                      const Eigen::VectorXd& y, const Rcpp::Function& threshold,
                      const Rcpp::Function& ridge, const Rcpp::List& domain, bool dyadic) {
  gpb::ChangeSweep sweep = sweep_from(kernel, threshold, ridge, domain, dyadic);
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (sweep.add(gpb::row_of(x, i), y[i])) return static_cast<int>(i + 1);
    if (i % 16 == 15) gpb::check_interrupt();
  }
  return 0;
}

// The largest statistic of all tails after all pairs, as a multiple of its threshold.
// [[Rcpp::export(rng = false)]]
double cpp_largest_change(const Rcpp::List& kernel, const Eigen::MatrixXd& x,
                          const Eigen::VectorXd& y, const Rcpp::Function& threshold,
                          const Rcpp::Function& ridge, const Rcpp::List& domain, bool dyadic) {
  gpb::ChangeSweep sweep = sweep_from(kernel, threshold, ridge, domain, dyadic);
  double out = 0.0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    out = std::max(out, sweep.largest(gpb::row_of(x, i), y[i]));
    if (i % 16 == 15) gpb::check_interrupt();
  }
  return out;
}

// ---- points -------------------------------------------------------------------------------------
// Sets of points, and tables as columns and data frames.

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_golden_points(int n, int d) { return gpb::golden_points(n, d); }

// The end point of a local search from a point of the unit cube, see local_search_by_values(). `reported`: a function
// of points, a row each.
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_local_search(const Eigen::VectorXd& u, const Rcpp::Function& reported) {
  const gpb::RFunction f(reported, nullptr);
  const auto ask = [&f](const gpb::MatrixXd& points) { return f.numbers<gpb::MatrixXd>(points); };
  return gpb::local_search_by_values(u, ask, gpb::lbfgsb_minimizer(500, 2e-15));
}

// A matrix's columns as a list, each without names: all rows, or those with these numbers (1-based, or NA).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_columns(const Rcpp::NumericMatrix& x, const Rcpp::CharacterVector& names,
                       SEXP rows) {
  if (names.size() != x.ncol()) gpb::throw_invalid("the number of names must be the number of columns");
  const bool all = Rf_isNull(rows);
  const Rcpp::IntegerVector wanted(all ? Rf_allocVector(INTSXP, 0) : rows);
  const R_xlen_t n = all ? x.nrow() : wanted.size();
  for (const int row : wanted) {
    if (row == NA_INTEGER || (row >= 1 && row <= x.nrow())) continue;
    gpb::throw_invalid("a matrix has no such row");
  }
  Rcpp::List out(x.ncol());
  for (int j = 0; j < x.ncol(); ++j) {
    const SEXP column = Rf_allocVector(REALSXP, n);
    out[j] = column;
    const double* from = x.begin() + static_cast<R_xlen_t>(j) * x.nrow();
    for (R_xlen_t k = 0; k < n; ++k) {
      REAL(column)[k] = all ? from[k] : wanted[k] == NA_INTEGER ? NA_REAL : from[wanted[k] - 1];
    }
  }
  out.names() = names;
  return out;
}

// A data.frame from columns that are known to be valid, because data.frame() takes longer than a round.
// [[Rcpp::export(rng = false)]]
SEXP cpp_frame(SEXP columns) {
  const SEXP frame = PROTECT(MAYBE_REFERENCED(columns) ? Rf_shallow_duplicate(columns) : columns);
  const SEXP rows = PROTECT(Rf_allocVector(INTSXP, 2));  // R's compact form of 1, 2, ..
  INTEGER(rows)[0] = NA_INTEGER;
  INTEGER(rows)[1] = Rf_length(frame) > 0 ? -Rf_length(VECTOR_ELT(frame, 0)) : 0;
  Rf_setAttrib(frame, R_RowNamesSymbol, rows);
  Rf_setAttrib(frame, R_ClassSymbol, Rf_mkString("data.frame"));
  UNPROTECT(2);
  return frame;
}

// ---- random numbers -----------------------------------------------------------------------------
// Restores R's random generator by a destructor, which no interrupt can prevent.

namespace {

class KeptState {
 public:
  explicit KeptState(SEXP state) : name_(Rf_install(".Random.seed")), state_(state) {}
  ~KeptState() { Rf_defineVar(name_, state_, R_GlobalEnv); }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

 private:
  SEXP name_;
  Rcpp::RObject state_;
};

}  // namespace

// Calls code(). Afterwards R's generator is in this state (.Random.seed), even after an error or interrupt.
// [[Rcpp::export(rng = false)]]
SEXP cpp_preserve_rng(const Rcpp::Function& code, SEXP state) {
  const KeptState kept(state);
  return code();
}

// ---- checking a model ---------------------------------------------------------------

// One-step-ahead residuals over their sds. The rewards `y` (minus the prior mean), with their noise variances, arrive
// one after the other. `point` has their numbers (0-based) in a finite set with the covariance `gram`. Conditioning on
// one measurement is a rank-one update of the upper triangle. It leaves out the points at the end of the set that have
// no later rewards.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_innovations(Rcpp::NumericMatrix gram, Rcpp::IntegerVector point, Rcpp::NumericVector y,
                           Rcpp::NumericVector noise) {
  const Eigen::Index d = gram.nrow();
  Eigen::MatrixXd covariance = Eigen::Map<const Eigen::MatrixXd>(gram.begin(), d, d);
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(d);
  std::vector<R_xlen_t> last(static_cast<std::size_t>(d), -1);
  for (R_xlen_t k = 0; k < y.size(); ++k) {
    if (point[k] < 0 || point[k] >= d) gpb::throw_invalid("a point that does not exist");
    last[static_cast<std::size_t>(point[k])] = k;
  }
  Eigen::Index ahead = d;
  Rcpp::NumericVector z(y.size()), predicted(y.size());
  Eigen::VectorXd row(d);
  for (R_xlen_t k = 0; k < y.size(); ++k) {
    const Eigen::Index p = point[k];
    const double spread = std::max(covariance(p, p), 0.0) + noise[k];
    const double surprise = y[k] - mean[p];
    predicted[k] = mean[p];
    z[k] = surprise / std::sqrt(spread);
    while (ahead > 0 && last[static_cast<std::size_t>(ahead - 1)] <= k) --ahead;
    for (Eigen::Index j = 0; j < ahead; ++j) row[j] = j <= p ? covariance(j, p) : covariance(p, j);
    for (Eigen::Index j = 0; j < ahead; ++j) {
      const double gain = row[j] / spread;
      mean[j] += gain * surprise;
      covariance.col(j).head(j + 1) -= gain * row.head(j + 1);
    }
    if (k % 64 == 0) gpb::check_interrupt();
  }
  return gpb::named_list("z", z, "mean", predicted);
}

// ---- mixtures -----------------------------------------------------------------------------------

// Points, a row each. `spread`: points of the unit cube are transformed to uniform mixtures; otherwise points are moved
// to the nearest allowed mixtures.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_shares(const Rcpp::List& setting, Eigen::MatrixXd x, bool spread) {
  const gpb::Shares shares = gpb::make_shares(gpb::RSettings(setting));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (i % 256 == 255) gpb::check_interrupt();
    Eigen::VectorXd point = gpb::row_of(x, i);
    if (spread) shares.spread(point);
    else shares.snap(point);
    gpb::set_row(x, i, point);
  }
  return x;
}

// Points with exchanged mixture components, a row each, see Shares::exchanges(); none if the number of components is
// not limited.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_share_exchanges(const Rcpp::List& setting, const Eigen::VectorXd& x) {
  return gpb::make_shares(gpb::RSettings(setting)).exchanges(x);
}

// ---- linear constraints -------------------------------------------------------------------------

namespace {

// Numbers from R, in order, which seed a stream.
class GivenNumbers final : public gpb::Rng {
 public:
  explicit GivenNumbers(const Eigen::VectorXd& numbers) : numbers_(numbers) {}
  double uniform() override { return numbers_[next_++ % numbers_.size()]; }
  double normal() override { gpb::throw_logic("seeds are uniform"); }
  Eigen::Index index(Eigen::Index) override { gpb::throw_logic("seeds are uniform"); }

 private:
  Eigen::VectorXd numbers_;
  Eigen::Index next_ = 0;
};

gpb::Box box_from_list(const Rcpp::List& box) {
  const gpb::RSettings sides(box);
  return {sides.numbers("lower"), sides.numbers("upper"), sides.flags("integer"), sides.flags("log")};
}

}  // namespace

// The region of linear constraints (see Polytope): is it proved to be empty, is a point known, its corners, and `count`
// uniform points. Their random numbers are derived from eight uniform ones.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_polytope(const Rcpp::List& rules, const Rcpp::List& box, int count, const Eigen::VectorXd& seed) {
  const gpb::Polytope region(gpb::make_linear_rules(gpb::RSettings(rules)), box_from_list(box));
  GivenNumbers seeds(seed);
  gpb::StreamRng stream(seeds);
  const bool draw = count > 0 && region.found();
  return gpb::named_list("empty", region.empty(), "found", region.found(), "corners", region.corners(),
                         "points", draw ? region.points(count, stream) : Eigen::MatrixXd());
}

// Changes of integers that keep one of the sums, a row each.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_lattice_moves(const Rcpp::List& rules, const Rcpp::List& box) {
  return gpb::lattice_moves(gpb::make_linear_rules(gpb::RSettings(rules)), box_from_list(box));
}

// ---- Eigen's vectors and matrices ---------------------------------------------------------------

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

namespace gpb {

// ---- R's lists ----------------------------------------------------------------------------------

// The place of a name in a list, -1 without it.
static R_xlen_t where(SEXP list, SEXP name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    if (STRING_ELT(names, k) == name) return k;
  }
  return -1;
}

SEXP element(SEXP list, SEXP name) {
  const R_xlen_t at = where(list, name);
  return at < 0 ? R_NilValue : VECTOR_ELT(list, at);
}

SEXP element(SEXP list, const char* name) { return element(list, PRINTNAME(Rf_install(name))); }

SEXP required(SEXP list, const char* name) {
  const R_xlen_t at = where(list, PRINTNAME(Rf_install(name)));
  if (at < 0) throw_invalid(std::string("a list has no ") + name);
  return VECTOR_ELT(list, at);
}

Rcpp::List empty_list(R_xlen_t n) {
  Rcpp::List out(n);
  out.attr("names") = Rcpp::CharacterVector(n);
  return out;
}

void put(const Rcpp::List& list, R_xlen_t at, const char* name, SEXP value) {
  SET_VECTOR_ELT(list, at, value);
  SET_STRING_ELT(Rf_getAttrib(list, R_NamesSymbol), at, Rf_mkChar(name));
}

// ---- settings -----------------------------------------------------------------------------------

bool RSettings::has(const char* name) const {
  return !Rf_isNull(element(list_, name));
}

SEXP RSettings::value(const char* name) const {
  const SEXP out = element(list_, name);
  if (Rf_isNull(out)) throw_invalid(std::string("a setting is missing: ") + name);
  return out;
}

double RSettings::number(const char* name) const { return Rcpp::as<double>(value(name)); }

std::string RSettings::text(const char* name) const {
  return Rcpp::as<std::string>(value(name));
}

VectorXd RSettings::numbers(const char* name) const {
  const Rcpp::NumericVector values(value(name));
  VectorXd out(values.size());
  for (R_xlen_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return out;
}

MatrixXd RSettings::matrix(const char* name) const { return Rcpp::as<MatrixXd>(value(name)); }

RFunction RSettings::r_function(const char* name) const {
  return RFunction(Rcpp::Function(value(name)), handle_);
}

std::function<double(double)> RSettings::function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](double t) { return f.numbers<double>(t); };
}

std::function<double(const MatrixXd&)> RSettings::table_function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const MatrixXd& table) { return f.numbers<double>(table); };
}

Settings::LocatedAcquisition RSettings::located_acquisition(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const VectorXd& mean, const VectorXd& sd, double round, const Points& X) {
    return f.numbers<VectorXd>(mean, sd, round, X);
  };
}

Settings::Acquisition RSettings::acquisition(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const VectorXd& mean, const VectorXd& sd, double round) {
    return f.numbers<VectorXd>(mean, sd, round);
  };
}

Settings::PointFunction RSettings::point_function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const Points& X) { return f.numbers<VectorXd>(X); };
}

Settings::Settle RSettings::settle(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const MatrixXd& points) {
    const Rcpp::List reported(f(points));
    return std::make_pair(Rcpp::as<MatrixXd>(required(reported, "inputs")),
                          Rcpp::as<MatrixXd>(required(reported, "excess")));
  };
}

Settings::GramFunction RSettings::gram_function(const char* name) const {
  const RFunction f = r_function(name);
  return [f](const MatrixXd& X, const MatrixXd& Y) { return f.numbers<MatrixXd>(X, Y); };
}

std::unique_ptr<Settings> RSettings::part(const char* name) const {
  return std::make_unique<RSettings>(Rcpp::List(value(name)), handle_);
}

std::vector<std::unique_ptr<Settings>> RSettings::parts(const char* name) const {
  std::vector<std::unique_ptr<Settings>> out;
  for (const SEXP one : Rcpp::List(value(name))) out.push_back(std::make_unique<RSettings>(Rcpp::List(one), handle_));
  return out;
}

// ---- kernels ------------------------------------------------------------------------------------

namespace {

// R's own function with its workspace on the stack; orders are below 200.
double r_bessel_k(double order, double x) {
  double work[256];
  return R::bessel_k_ex(x, order, 2.0, work);
}

}  // namespace

Settings::Outside RSettings::outside() const { return {&r_bessel_k, &check_interrupt}; }

KernelPtr kernel_from_list(const Rcpp::List& kernel, HandleFunctions* handle) {
  return make_kernel(RSettings(kernel, handle));
}

// ---- the minimiser ------------------------------------------------------------------------------

namespace {

// One minimisation. The C routine requests value and gradient separately, at the same point, so both are computed once.
// Exceptions must not pass through it.
struct Call {
  const Objective* f;
  VectorXd x, gradient;
  double value = kInf;
  std::exception_ptr failure;

  void evaluate(int n, const double* at) {
    if (failure) return;
    const Eigen::Map<const VectorXd> asked(at, n);
    if (x.size() == n && x == asked) return;
    x = asked;
    try {
      value = (*f)(x, gradient);
    } catch (...) {
      failure = std::current_exception();
    }
    // A value that is not finite ends the search.
    if (failure || !std::isfinite(value) || !gradient.allFinite()) {
      value = 1e300;
      gradient = VectorXd::Zero(n);
    }
  }
};

double value_at(int n, double* at, void* data) {
  auto* call = static_cast<Call*>(data);
  call->evaluate(n, at);
  return call->value;
}

void gradient_at(int n, double* at, double* out, void* data) {
  auto* call = static_cast<Call*>(data);
  call->evaluate(n, at);
  for (int i = 0; i < n; ++i) out[i] = call->gradient[i];
}

}  // namespace

BoxMinimizer lbfgsb_minimizer(int max_iterations, double tolerance) {
  const double factor = tolerance / std::numeric_limits<double>::epsilon();
  return [max_iterations, factor](VectorXd& x, const Objective& f) {
    const int n = static_cast<int>(x.size());
    Call call{&f, VectorXd(), VectorXd(), kInf, nullptr};
    VectorXd lower = VectorXd::Zero(n), upper = VectorXd::Ones(n);
    std::vector<int> bounded(static_cast<std::size_t>(n), 2);
    double minimum = 0.0;
    int fail = 0, value_calls = 0, gradient_calls = 0;
    char message[60];
    lbfgsb(n, 5, x.data(), lower.data(), upper.data(), bounded.data(), &minimum, value_at,
           gradient_at, &fail, &call, factor, 0.0, &value_calls, &gradient_calls, max_iterations,
           message, 0, 10);
    if (call.failure) std::rethrow_exception(call.failure);
    return minimum;
  };
}

}  // namespace gpb
