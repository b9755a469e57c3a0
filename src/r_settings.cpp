#include "r_settings.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"

#include "kernels/make_kernel.h"
#include "r_interrupt.h"

#include <R.h>
#include <R_ext/Applic.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

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

// ---- settings -----------------------------------------------------------------------------------

bool RSettings::has(const char* name) const {
  return list_.containsElementNamed(name) && !Rf_isNull(list_[name]);
}

SEXP RSettings::value(const char* name) const {
  if (!has(name)) throw std::invalid_argument(std::string("a setting is missing: ") + name);
  return list_[name];
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

Settings::PlacedAcquisition RSettings::placed_acquisition(const char* name) const {
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
    const Rcpp::List told(f(points));
    return std::make_pair(Rcpp::as<MatrixXd>(told["inputs"]), Rcpp::as<MatrixXd>(told["excess"]));
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

// R's own function with its work space on the stack: orders stay below 200.
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

// One minimisation. The C routine asks for value and gradient apart, at the same
// point: both are computed once. No exception may pass through it.
struct Call {
  const Objective* f;
  VectorXd x, gradient;
  double value = kInf;
  std::exception_ptr failure;

  void evaluate(int n, const double* at) {
    const Eigen::Map<const VectorXd> asked(at, n);
    if (x.size() == n && x == asked) return;
    x = asked;
    try {
      value = (*f)(x, gradient);
    } catch (...) {
      failure = std::current_exception();
    }
    // What is not finite ends the search where it is.
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
