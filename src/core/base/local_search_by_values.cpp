// Functions of local_search_by_values.h: local maximisation with constraints of a function without gradients.
#include "base/local_search_by_values.h"

#include "base/multipliers.h"

#include <algorithm>

namespace gpb {

namespace {

constexpr double kDifference = 1e-5;  // step of differences in the unit cube
constexpr int kOuter = 15;

constexpr double kWithin = 0.05;      // distance inside the limit that infeasible starts aim for
constexpr int kHalvings = 40;         // bisection steps from an infeasible end back to the limit

// The minimised function: minus the objective, plus the costs of the constraints.
class Lagrangian {
 public:
  explicit Lagrangian(const ValuesAndLimits& ask) : ask_(ask) {}

  // Differences by a step forward and a step back in each input, shorter at the cube's faces.
  double at(const VectorXd& u, VectorXd& gradient) {
    const Index d = u.size();
    MatrixXd points = as_rows(u, 2 * d + 1);
    for (Index i = 0; i < d; ++i) {
      points(1 + i, i) = std::min(u[i] + kDifference, 1.0);
      points(1 + d + i, i) = std::max(u[i] - kDifference, 0.0);
    }
    const MatrixXd reported = asked(points);
    if (!limited()) multipliers_ = Multipliers(reported.cols() - 1);
    gradient.resize(d);
    for (Index i = 0; i < d; ++i) {
      gradient[i] = (fall(reported, 1 + i) - fall(reported, 1 + d + i)) / (points(1 + i, i) - points(1 + d + i, i));
    }
    return fall(reported, 0);
  }

  bool limited() const { return multipliers_.size() > 0; }

  // Updates the multipliers; true if the constraints hold.
  bool settles(const VectorXd& u) {
    const MatrixXd reported = asked(as_rows(u));
    return multipliers_.settle(row_of(reported, 0, 1, multipliers_.size()));
  }

 private:
  MatrixXd asked(const MatrixXd& points) const {
    MatrixXd reported = ask_(points);
    if (reported.rows() != points.rows() || reported.cols() < 1) {
      throw_invalid("the function of a local search returned values of the wrong size");
    }
    return reported;
  }
  double fall(const MatrixXd& reported, Index i) const {
    return multipliers_.cost([&](Index j) { return reported(i, 1 + j); }) - reported(i, 0);
  }

  const ValuesAndLimits& ask_;
  Multipliers multipliers_;
};

// The last feasible point before an infeasible end, on the straight line from a feasible point; by bisection.
VectorXd last_within(const VectorXd& inside, const VectorXd& end, const LimitedFunction& at) {
  if (!(at(end).excess > 0.0)) return end;
  double good = 0.0, bad = 1.0;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double middle = 0.5 * (good + bad);
    (at(inside + middle * (end - inside)).excess > 0.0 ? bad : good) = middle;
  }
  return inside + good * (end - inside);
}

}  // namespace

VectorXd local_search_by_values(VectorXd u, const ValuesAndLimits& ask, const BoxMinimizer& minimize) {
  Lagrangian lagrangian(ask);
  const Objective f = [&](const VectorXd& x, VectorXd& gradient) { return lagrangian.at(x, gradient); };
  for (int outer = 0; outer < kOuter; ++outer) {
    minimize(u, f);
    if (!lagrangian.limited() || lagrangian.settles(u)) break;
  }
  return u;
}

VectorXd search_within(VectorXd u, const LimitedFunction& at, const BoxMinimizer& minimize) {
  if (at(u).excess > 0.0) {
    minimize(u, [&](const VectorXd& x, VectorXd& gradient) {
      const LimitedValue here = at(x);
      const double over = std::max(here.excess + kWithin, 0.0);
      gradient = 2.0 * over * here.by_excess;
      return over * over;
    });
    if (at(u).excess > 0.0) return u;
  }
  const VectorXd inside = u;
  Multipliers multipliers(1);
  for (int outer = 0; outer < kOuter; ++outer) {
    minimize(u, [&](const VectorXd& x, VectorXd& gradient) {
      const LimitedValue here = at(x);
      gradient = multipliers.pressure(0, here.excess) * here.by_excess - here.by_value;
      return multipliers.cost([&](Index) { return here.excess; }) - here.value;
    });
    if (multipliers.settle(VectorXd::Constant(1, at(u).excess))) break;
  }
  return last_within(inside, u, at);
}

}  // namespace gpb
