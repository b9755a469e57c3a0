// What R's gp_regression calls. The R object holds the data; the pointer made
// here is a cache that R rebuilds when it is lost.
#include "r_regression.h"

#include "r_interrupt.h"
#include "r_kernel.h"
#include "r_rng.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace {

using gpb::Regression;

// Entries of V = L^-1 K(played, X) kept for the next time: 32 MB.
constexpr double kCacheEntries = 4e6;
constexpr gpb::Index kRowsPerCheck = 512;  // between two looks for an interrupt

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
  return Rcpp::List::create(Rcpp::Named("mean") = mean,
                            Rcpp::Named("sd") = gpb::VectorXd(variance.cwiseSqrt()));
}

// Mean and variance, through the cache where it is small enough to keep.
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

// The pointer keeps the kernel's functions. noise_scale: each observation's noise over noise_var.
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

// Observations held; -1 when the pointer did not survive (readRDS, another process).
// [[Rcpp::export(rng = false)]]
double cpp_regression_size(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == nullptr) return -1.0;
  return static_cast<double>(RegressionPtr(pointer)->posterior.size());
}

// A copy that knows the first `size` observations only.
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
    posterior.add(gpb::VectorXd(x.row(0).transpose()), y[0], noise_scale[0]);
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

// Zero-mean prior: joint draws of f, one per column.
// [[Rcpp::export]]
Eigen::MatrixXd cpp_regression_draw(SEXP pointer, const Eigen::MatrixXd& x, double count) {
  gpb::RRng rng;
  return RegressionPtr(pointer)->posterior.draw(x, rng, static_cast<gpb::Index>(count));
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_regression_evidence(SEXP pointer) {
  const gpb::DensePosterior& posterior = RegressionPtr(pointer)->posterior;
  return Rcpp::List::create(Rcpp::Named("log_likelihood") = posterior.log_likelihood(),
                            Rcpp::Named("log_det") = posterior.log_det(),
                            Rcpp::Named("quadratic") = posterior.quadratic());
}
