// R's lists as settings of the core. Uses the core and the adapters r_*.

#include "r_settings.h"

#include <memory>
#include <string>
#include <vector>

#include "base/failures.h"
#include "r_interrupt.h"
#include "r_values.h"

namespace gpb {

namespace {

// R's own function with its workspace on the stack; orders are below 200.
double r_bessel_k(double order, double x) {
  double work[256];
  return R::bessel_k_ex(x, order, 2.0, work);
}

}  // namespace

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

Settings::Outside RSettings::outside() const { return {&r_bessel_k, &check_interrupt}; }

}  // namespace gpb
