// A chart: what a search moves, and what the kernel sees of it. Coordinates run from 0 to 1 and belong to
// the inputs that can move; an input that is fixed has none.
#ifndef GPB_CHART_H
#define GPB_CHART_H

#include "base/point.h"

namespace gpb {

// The actions' box as the kernel sees it: logarithmic inputs are given by their logarithms.
struct Box {
  VectorXd lower, upper;
  std::vector<char> integer;      // whole numbers only (before the logarithm)
  std::vector<char> logarithmic;
  Index inputs() const { return lower.size(); }
  VectorXd side() const { return upper - lower; }
  bool moves(Index input) const { return upper[input] > lower[input]; }
  VectorXd clamp(const VectorXd& x) const { return clamped(x, lower, upper); }
  // Is it within the bounds, but for rounding?
  bool holds(const VectorXd& x) const {
    const VectorXd slack = 1e-9 * side();
    return ((lower - slack).array() <= x.array()).all() && (x.array() <= (upper + slack).array()).all();
  }
  // The nearest point of the box that is allowed.
  VectorXd snap(VectorXd x) const;
  // The input where this part of it lies below: whole numbers and levels have equal parts, on a logarithmic scale k has
  // that of [k, k + 1).
  double quantile(Index input, double u) const;
  VectorXd uniform(Rng& rng) const;
  // Its points, a row each, where there are endlessly many none, and none where there are more than `most`.
  MatrixXd points(double most) const;
  // The same box where some inputs (of the kernel; the box's begin with `first`) are fixed.
  Box slice(const Fixed& fixed, Index first) const;
};

class Chart {
 public:
  explicit Chart(Box box);
  const Box& box() const { return box_; }
  Index coordinates() const { return static_cast<Index>(moving_.size()); }
  VectorXd inputs(const VectorXd& u) const;
  // A point for candidates: whole numbers have equal parts of the cube.
  VectorXd quantiles(const VectorXd& u) const;
  VectorXd coordinates_of(const VectorXd& x) const;
  // From the derivative by the box's inputs that by the coordinates.
  VectorXd slope(const VectorXd& by_inputs) const;
  // How far apart two points are, in sides of the box.
  double distance(const VectorXd& x, const VectorXd& y) const;

 private:
  Box box_;
  std::vector<Index> moving_;  // inputs that can move
};

}  // namespace gpb

#endif
