// An R list as Settings of the core.
#ifndef GPB_R_SETTINGS_H
#define GPB_R_SETTINGS_H

#include "r_values.h"

#include "base/settings.h"
#include "r_function.h"

namespace gpb {

class RSettings final : public Settings {
 public:
  // `handle`: the handle of the object that will call the functions among them, or null.
  explicit RSettings(Rcpp::List list, HandleFunctions* handle = nullptr)
      : list_(std::move(list)), handle_(handle) {}
  bool has(const char* name) const override;
  double number(const char* name) const override;
  std::string text(const char* name) const override;
  VectorXd numbers(const char* name) const override;
  MatrixXd matrix(const char* name) const override;
  std::function<double(double)> function(const char* name) const override;
  std::function<double(const MatrixXd&)> table_function(const char* name) const override;
  Acquisition acquisition(const char* name) const override;
  LocatedAcquisition located_acquisition(const char* name) const override;
  PointFunction point_function(const char* name) const override;
  Settle settle(const char* name) const override;
  GramFunction gram_function(const char* name) const override;
  std::unique_ptr<Settings> part(const char* name) const override;
  std::vector<std::unique_ptr<Settings>> parts(const char* name) const override;
  Outside outside() const override;

 private:
  SEXP value(const char* name) const;
  RFunction r_function(const char* name) const;
  Rcpp::List list_;
  HandleFunctions* handle_;
};

}  // namespace gpb

#endif
