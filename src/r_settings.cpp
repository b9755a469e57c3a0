#include "r_settings.h"

#include "r_kernel.h"

namespace gpb {

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

}  // namespace gpb
