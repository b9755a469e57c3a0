#include "r_settings.h"
#include "r_kernel.h"
#include "r_lbfgsb.h"

#include "kernels/kernel_categorical.h"
#include "kernels/kernel_compose.h"
#include "kernels/kernel_function.h"
#include "kernels/kernel_linear.h"
#include "kernels/kernel_matrix.h"
#include "kernels/kernel_periodic.h"
#include "kernels/kernel_stationary.h"
#include "r_interrupt.h"

#include <R.h>
#include <R_ext/Applic.h>

#include <algorithm>
#include <chrono>
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

KernelPtr RSettings::kernel(const char* name) const {
  return kernel_from_list(value(name), handle_);
}

std::unique_ptr<Settings> RSettings::part(const char* name) const {
  return std::make_unique<RSettings>(Rcpp::List(value(name)), handle_);
}

// ---- kernels ------------------------------------------------------------------------------------

namespace {

// R's own function with its work space on the stack: orders stay below 200.
double r_bessel_k(double order, double x) {
  double work[256];
  return R::bessel_k_ex(x, order, 2.0, work);
}

template <typename T>
T field(const Rcpp::List& kernel, const char* name) {
  return Rcpp::as<T>(kernel[name]);
}

std::vector<Index> dims_of(const Rcpp::List& kernel) {
  const Rcpp::IntegerVector dims = kernel["dims"];
  return std::vector<Index>(dims.begin(), dims.end());
}

Scaling scaling_of(const Rcpp::List& kernel) {
  return Scaling(dims_of(kernel), field<VectorXd>(kernel, "lengthscale"),
                 field<bool>(kernel, "isotropic"));
}

FunctionKernel::Gram gram_function(const Rcpp::List& kernel, HandleFunctions* handle) {
  const Rcpp::Function given = kernel["f"];
  const RFunction f(given, handle);
  return [f](const MatrixXd& X, const MatrixXd& Y) { return f.numbers<MatrixXd>(X, Y); };
}

// A kernel that lets R's interrupts in between its rows: the core, which knows nothing of R, asks
// kernels for rows wherever it works for long.
class Interruptible : public Kernel {
 public:
  explicit Interruptible(std::unique_ptr<Kernel> kernel) : kernel_(std::move(kernel)) {}
  void cross(const VectorXd& x, const Points& Y, Eigen::Ref<VectorXd> out) const override {
    pause(Y.rows());
    kernel_->cross(x, Y, out);
  }
  void diagonal(const Points& X, Eigen::Ref<VectorXd> out) const override {
    kernel_->diagonal(X, out);
  }
  void input_gradient(const VectorXd& x, const Points& Y, MatrixXd& out) const override {
    pause(Y.rows());
    kernel_->input_gradient(x, Y, out);
  }
  Index parameter_count() const override { return kernel_->parameter_count(); }
  VectorXd log_parameters() const override { return kernel_->log_parameters(); }
  void set_log_parameters(const VectorXd& theta) override { kernel_->set_log_parameters(theta); }
  VectorXd parameter_gradient(const Points& X, const MatrixXd& W) const override {
    pause(X.rows() * X.rows());
    return kernel_->parameter_gradient(X, W);
  }
  void draw_feature(Rng& rng, Feature& feature) const override {
    kernel_->draw_feature(rng, feature);
  }
  PriorPath draw_prior_path(Rng& rng, Index inputs, Index features) const override {
    return kernel_->draw_prior_path(rng, inputs, features);
  }
  std::unique_ptr<Kernel> clone() const override {
    return std::make_unique<Interruptible>(kernel_->clone());
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Looks at the clock after some thousand values, for interrupts after a twentieth of a second.
  void pause(Index values) const {
    values_ += values;
    if (values_ < 4096) return;
    values_ = 0;
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    check_interrupt();
  }

  std::unique_ptr<Kernel> kernel_;
  mutable Index values_ = 0;
  mutable Clock::time_point last_ = Clock::now();
};

std::unique_ptr<Kernel> parse(const Rcpp::List& kernel, HandleFunctions* handle);

std::vector<std::unique_ptr<Kernel>> parts_of(const Rcpp::List& kernel,
                                              HandleFunctions* handle) {
  const Rcpp::List parts = kernel["parts"];
  std::vector<std::unique_ptr<Kernel>> out;
  for (R_xlen_t p = 0; p < parts.size(); ++p) {
    out.push_back(std::make_unique<Interruptible>(parse(parts[p], handle)));
  }
  return out;
}

std::unique_ptr<Kernel> parse(const Rcpp::List& kernel, HandleFunctions* handle) {
  const std::string type = field<std::string>(kernel, "type");
  if (type == "sum") return std::make_unique<SumKernel>(parts_of(kernel, handle));
  if (type == "product") return std::make_unique<ProductKernel>(parts_of(kernel, handle));
  if (type == "matrix") {
    return std::make_unique<MatrixKernel>(field<MatrixXd>(kernel, "K"),
                                          field<int>(kernel, "arm_column"));
  }
  const double variance = field<double>(kernel, "variance");
  if (type == "function") {
    return std::make_unique<FunctionKernel>(gram_function(kernel, handle), dims_of(kernel),
                                            variance);
  }
  if (type == "linear") return std::make_unique<Linear>(dims_of(kernel), variance);
  if (type == "se") return std::make_unique<SquaredExponential>(scaling_of(kernel), variance);
  if (type == "matern") {
    return std::make_unique<Matern>(scaling_of(kernel), variance, field<double>(kernel, "nu"),
                                    &r_bessel_k);
  }
  if (type == "rq") {
    return std::make_unique<RationalQuadratic>(scaling_of(kernel), variance,
                                               field<double>(kernel, "alpha"));
  }
  if (type == "periodic") {
    return std::make_unique<Periodic>(scaling_of(kernel), field<VectorXd>(kernel, "period"),
                                      field<bool>(kernel, "one_period"), variance);
  }
  if (type == "categorical") {
    return std::make_unique<Categorical>(dims_of(kernel), field<VectorXd>(kernel, "correlation"),
                                         field<bool>(kernel, "one_correlation"), variance);
  }
  throw std::invalid_argument("unknown kernel type: " + type);
}

}  // namespace

KernelPtr kernel_from_list(const Rcpp::List& kernel, HandleFunctions* handle) {
  return std::make_shared<Interruptible>(parse(kernel, handle));
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
