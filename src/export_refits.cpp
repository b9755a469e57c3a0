// R's entry points for the refits of a bandit. Uses the core and the adapters r_*.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "bandit/known_measurements.h"
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
using gpb::reporting_minimizers;

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
                     const Eigen::VectorXd& prior_mean, const Eigen::VectorXd& shape) {
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
    y[i] = known.value[k] - mean - (shape.size() > 0 ? shape[known.id[k] - 1] : 0.0);
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
  const RefitData data = refit_data(*bandit, known, plan, numbers(asked, "mean"), numbers(asked, "shape"));
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
