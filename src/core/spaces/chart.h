// Charts: the map between the coordinates of a search and the kernel's inputs. Coordinates run from 0 to 1, one for
// each input that can move; a fixed input has none.
#ifndef GPB_CHART_H
#define GPB_CHART_H

#include "base/point.h"

namespace gpb {

// The box of the actions as the kernel's inputs: logarithmic inputs are given by their logarithms.
struct Box {
  VectorXd lower, upper;
  std::vector<char> integer;      // integers only (before the logarithm)
  std::vector<char> logarithmic;
  Index inputs() const { return lower.size(); }
  VectorXd side() const { return upper - lower; }
  bool moves(Index input) const { return upper[input] > lower[input]; }
  VectorXd clamp(const VectorXd& x) const { return clamped(x, lower, upper); }
  // Is it within the bounds, except for rounding?
  bool holds(const VectorXd& x) const {
    const VectorXd slack = 1e-9 * side();
    return ((lower - slack).array() <= x.array()).all() && (x.array() <= (upper + slack).array()).all();
  }
  // The nearest allowed point of the box.
  VectorXd snap(VectorXd x) const;
  // The quantile function of an input's uniform distribution. Integers and levels have equal parts. On a logarithmic
  // scale, k has the part of [k, k + 1).
  double quantile(Index input, double u) const;
  VectorXd uniform(Rng& rng) const;
  // All points of the box, a row each. Empty if there are infinitely many, or more than `most`.
  MatrixXd points(double most) const;
  // The same box with some inputs fixed. `fixed` counts the kernel's inputs; those of the box begin with `first`.
  Box slice(const Fixed& fixed, Index first) const;
};

class Chart {
 public:
  explicit Chart(Box box);
  const Box& box() const { return box_; }
  Index coordinates() const { return static_cast<Index>(moving_.size()); }
  VectorXd inputs(const VectorXd& u) const;
  // A point for candidates: integers have equal parts of the cube.
  VectorXd quantiles(const VectorXd& u) const;
  VectorXd coordinates_of(const VectorXd& x) const;
  // The derivative by the coordinates, from the one by the box's inputs.
  VectorXd slope(const VectorXd& by_inputs) const;
  // The distance of two points, in sides of the box.
  double distance(const VectorXd& x, const VectorXd& y) const;

 private:
  Box box_;
  std::vector<Index> moving_;  // inputs that can move
};

}  // namespace gpb

#endif
