// Named values from outside the core (an R list in the package), from which parts are made. Uses base/ only.
#ifndef GPB_SETTINGS_H
#define GPB_SETTINGS_H

#include "base/types.h"

namespace gpb {

class Settings {
 public:
  // A user's acquisition function: a value for each point from means, standard deviations and the round.
  using Acquisition = std::function<VectorXd(const VectorXd&, const VectorXd&, double)>;
  // The same, also from the points, a row each.
  using LocatedAcquisition =
      std::function<VectorXd(const VectorXd&, const VectorXd&, double, const Points&)>;
  // A number for each point, one point a row.
  using PointFunction = std::function<VectorXd(const Points&)>;
  // Applies the rules of a search space to points, a row each: see Settled in spaces/mixed_space.h.
  using Settle = std::function<std::pair<MatrixXd, MatrixXd>(const MatrixXd&)>;

  // A covariance between two tables of points.
  using GramFunction = std::function<MatrixXd(const MatrixXd&, const MatrixXd&)>;
  // Functions that kernels need from outside: K_order(x) e^x, and a check for interrupts.
  struct Outside {
    double (*bessel_k)(double order, double x);
    void (*pause)();
  };

  virtual ~Settings() = default;
  virtual bool has(const char* name) const = 0;  // present, and not null
  virtual double number(const char* name) const = 0;
  virtual std::string text(const char* name) const = 0;
  virtual VectorXd numbers(const char* name) const = 0;
  virtual MatrixXd matrix(const char* name) const = 0;
  virtual std::function<double(double)> function(const char* name) const = 0;
  virtual std::function<double(const MatrixXd&)> table_function(const char* name) const = 0;
  virtual Acquisition acquisition(const char* name) const = 0;
  virtual LocatedAcquisition located_acquisition(const char* name) const = 0;
  virtual PointFunction point_function(const char* name) const = 0;
  virtual Settle settle(const char* name) const = 0;
  virtual GramFunction gram_function(const char* name) const = 0;
  virtual std::unique_ptr<Settings> part(const char* name) const = 0;
  virtual std::vector<std::unique_ptr<Settings>> parts(const char* name) const = 0;
  virtual Outside outside() const = 0;

  bool flag(const char* name) const { return number(name) != 0.0; }
  Index count(const char* name) const { return static_cast<Index>(number(name)); }
  std::vector<char> flags(const char* name) const {
    const VectorXd values = numbers(name);
    std::vector<char> out;
    for (Index i = 0; i < values.size(); ++i) out.push_back(values[i] != 0.0);
    return out;
  }
};

}  // namespace gpb

#endif
