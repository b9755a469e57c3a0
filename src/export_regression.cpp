// R's entry points for Gaussian process regressions, and for checks of a model. Uses the core and the adapters r_*.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "linalg/decompositions.h"
#include "r_bandit.h"
#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"
#include "r_regression.h"
#include "r_rng.h"
#include "r_values.h"

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
