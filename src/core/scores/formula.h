// A formula of the outcomes and inputs of a point: a program for a stack, with its gradient. Uses base/ only.
#ifndef GPB_FORMULA_H
#define GPB_FORMULA_H

#include <cmath>

#include "base/settings.h"

namespace gpb {

// Steps are run in order. Logical values are 1 and 0, and have no slope.
class Formula {
 public:
  // The numbers of the operations are those of `formula_operations` in R.
  enum class Op {
    constant, variable, add, subtract, multiply, divide, power, negate, abs, sqrt, exp, log, log2, log10, sin, cos,
    round, floor, ceiling, smaller, larger, choose, equal, differs, less, at_most, more, at_least, both, either, no,
    modulo,
    quotient, one_of_two
  };
  static constexpr Index kMostDeep = 64, kOperations = 34;

  // `value`: the constant or the number of the variable.
  Formula(const VectorXd& op, const VectorXd& value, Index variables) : variables_(variables) {
    if (op.size() != value.size() || op.size() == 0) throw_invalid("a formula has no steps");
    Index depth = 0;
    for (Index k = 0; k < op.size(); ++k) {
      const auto number = static_cast<Index>(op[k]);
      if (!(op[k] >= 0.0) || number >= kOperations) throw_invalid("a formula has an unknown operation");
      const Step step{static_cast<Op>(number), value[k]};
      if (step.op == Op::variable && !(step.value >= 0.0 && step.value < static_cast<double>(variables))) {
        throw_invalid("a formula has an unknown variable");
      }
      if (depth < taken(step.op)) throw_invalid("a step of a formula lacks values");
      depth += 1 - taken(step.op);
      if (depth > kMostDeep) throw_invalid("a formula is too deep");
      steps_.push_back(step);
    }
    if (depth != 1) throw_invalid("a formula has several values");
  }

  // Does it use a variable of this number or above?
  bool uses_from(Index variable) const {
    for (const Step& step : steps_) {
      if (step.op == Op::variable && step.value >= static_cast<double>(variable)) return true;
    }
    return false;
  }

  double operator()(const double* variable) const {
    double stack[kMostDeep];
    Index size = 0;
    for (const Step& step : steps_) {
      const Index count = taken(step.op);
      size += 1 - count;
      stack[size - 1] = count == 0 ? leaf(step, variable) : of(step.op, stack + size - 1).value;
    }
    return stack[0];
  }

  // `gradient`: by each variable.
  double operator()(const double* variable, VectorXd& gradient) const {
    double stack[kMostDeep];
    MatrixXd slopes(variables_, kMostDeep);
    Index at = -1;
    for (const Step& step : steps_) {
      const Index count = taken(step.op);
      at -= count - 1;
      if (count == 0) {
        stack[at] = leaf(step, variable);
        slopes.col(at).setZero();
        if (step.op == Op::variable) slopes(static_cast<Index>(step.value), at) = 1.0;
        continue;
      }
      const Value found = of(step.op, stack + at);
      stack[at] = found.value;
      VectorXd sum = VectorXd::Zero(variables_);
      for (Index k = 0; k < count; ++k) {
        if (found.slope[k] != 0.0) sum += found.slope[k] * slopes.col(at + k);
      }
      slopes.col(at) = sum;
    }
    gradient = slopes.col(0);
    return stack[0];
  }

 private:
  struct Step {
    Op op;
    double value;
  };
  struct Value {
    double value;
    double slope[3];
  };

  static Index taken(Op op) {
    switch (op) {
      case Op::constant: case Op::variable: return 0;
      case Op::negate: case Op::abs: case Op::sqrt: case Op::exp: case Op::log: case Op::log2: case Op::log10:
      case Op::sin: case Op::cos: case Op::round: case Op::floor: case Op::ceiling: case Op::no: return 1;
      case Op::choose: return 3;
      default: return 2;
    }
  }
  static double leaf(const Step& step, const double* variable) {
    return step.op == Op::constant ? step.value : variable[static_cast<Index>(step.value)];
  }
  static double flag(bool holds) { return holds ? 1.0 : 0.0; }
  static Value by_power(double a, double b) {
    const double value = std::pow(a, b);
    return {value, {b == 0.0 ? 0.0 : b * std::pow(a, b - 1.0), a > 0.0 ? value * std::log(a) : 0.0, 0.0}};
  }
  static Value of(Op op, const double* x) {
    const double a = x[0];
    switch (op) {
      case Op::add: return {a + x[1], {1.0, 1.0, 0.0}};
      case Op::subtract: return {a - x[1], {1.0, -1.0, 0.0}};
      case Op::multiply: return {a * x[1], {x[1], a, 0.0}};
      case Op::divide: return {a / x[1], {1.0 / x[1], -a / (x[1] * x[1]), 0.0}};
      case Op::power: return by_power(a, x[1]);
      case Op::negate: return {-a, {-1.0, 0.0, 0.0}};
      case Op::abs: return {std::abs(a), {a < 0.0 ? -1.0 : 1.0, 0.0, 0.0}};
      case Op::sqrt: return {std::sqrt(a), {0.5 / std::sqrt(a), 0.0, 0.0}};
      case Op::exp: return {std::exp(a), {std::exp(a), 0.0, 0.0}};
      case Op::log: return {std::log(a), {1.0 / a, 0.0, 0.0}};
      case Op::log2: return {std::log2(a), {1.0 / (a * std::log(2.0)), 0.0, 0.0}};
      case Op::log10: return {std::log10(a), {1.0 / (a * std::log(10.0)), 0.0, 0.0}};
      case Op::sin: return {std::sin(a), {std::cos(a), 0.0, 0.0}};
      case Op::cos: return {std::cos(a), {-std::sin(a), 0.0, 0.0}};
      case Op::round: return {std::nearbyint(a), {0.0, 0.0, 0.0}};
      case Op::floor: return {std::floor(a), {0.0, 0.0, 0.0}};
      case Op::ceiling: return {std::ceil(a), {0.0, 0.0, 0.0}};
      case Op::smaller: return {std::min(a, x[1]), {flag(a <= x[1]), flag(a > x[1]), 0.0}};
      case Op::larger: return {std::max(a, x[1]), {flag(a >= x[1]), flag(a < x[1]), 0.0}};
      case Op::choose: return {a != 0.0 ? x[1] : x[2], {0.0, flag(a != 0.0), flag(a == 0.0)}};
      case Op::equal: return {flag(a == x[1]), {0.0, 0.0, 0.0}};
      case Op::differs: return {flag(a != x[1]), {0.0, 0.0, 0.0}};
      case Op::less: return {flag(a < x[1]), {0.0, 0.0, 0.0}};
      case Op::at_most: return {flag(a <= x[1]), {0.0, 0.0, 0.0}};
      case Op::more: return {flag(a > x[1]), {0.0, 0.0, 0.0}};
      case Op::at_least: return {flag(a >= x[1]), {0.0, 0.0, 0.0}};
      case Op::both: return {flag(a != 0.0 && x[1] != 0.0), {0.0, 0.0, 0.0}};
      case Op::either: return {flag(a != 0.0 || x[1] != 0.0), {0.0, 0.0, 0.0}};
      case Op::no: return {flag(a == 0.0), {0.0, 0.0, 0.0}};
      case Op::modulo: return {a - std::floor(a / x[1]) * x[1], {1.0, -std::floor(a / x[1]), 0.0}};
      case Op::quotient: return {std::floor(a / x[1]), {0.0, 0.0, 0.0}};
      case Op::one_of_two: return {flag((a != 0.0) != (x[1] != 0.0)), {0.0, 0.0, 0.0}};
      default: throw_logic("this step has no operation");
    }
  }

  std::vector<Step> steps_;
  Index variables_;
};

}  // namespace gpb

#endif
