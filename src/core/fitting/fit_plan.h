// What is fitted of a kernel and the noise, before any data are there; with data it becomes a FitProblem.
#ifndef GPB_FIT_PLAN_H
#define GPB_FIT_PLAN_H

#include <algorithm>
#include <array>
#include <limits>

#include "fitting/fit.h"

namespace gpb {

// Sums as R's mean() takes them: twice, in extended precision.
template <typename Value, typename Count>
double exact_mean(Index n, const Value& value, const Count& count) {
  long double sum = 0.0, rest = 0.0, all = 0.0;
  for (Index i = 0; i < n; ++i) {
    sum += count(i) * value(i);
    all += count(i);
  }
  sum /= all;
  for (Index i = 0; i < n; ++i) rest += count(i) * (value(i) - sum);
  return static_cast<double>(sum + rest / all);
}

// As above, each value once.
template <class Value>
double exact_mean(Index n, const Value& value) {
  return exact_mean(n, value, [](Index) { return 1.0; });
}

// Where a parameter is looked for: its least and greatest values and the ends of its likely range, in units of the
// ranges of some inputs, of the values' spread, or in none; `by_square`: over the mean square of the inputs.
struct ParameterRange {
  enum class Unit { none, width, spread, spread_by_square, one_by_square };
  Unit unit;
  std::vector<Index> inputs;  // that it belongs to
  std::array<double, 4> factors;
};

// Vectors hold one entry per parameter: the kernel's, then the noise variance.
struct FitPlan {
  std::vector<ParameterRange> ranges;
  VectorXd lower, upper;           // that were given, NaN where none was
  std::vector<char> at_most_one;   // correlations
  std::vector<ParameterPrior> priors;
  std::vector<Index> scale;        // see FitProblem
  bool single_variance = false, fix_noise = false;
  Index starts = 1;
};

namespace fit_plan {

// Of inputs that share a parameter the narrowest and the widest; an input that is constant counts as one of range 1.
inline std::pair<double, double> widths(const Points& X, const std::vector<Index>& inputs) {
  double least = kInf, most = -kInf;
  for (const Index j : inputs) {
    const double range = X.col(j).maxCoeff() - X.col(j).minCoeff();
    const double width = range == 0.0 ? 1.0 : range;
    least = std::min(least, width);
    most = std::max(most, width);
  }
  return {least, most};
}

inline double mean_square(const Points& X, const std::vector<Index>& inputs) {
  const Index n = X.rows();
  return exact_mean(n * static_cast<Index>(inputs.size()), [&](Index k) {
    const double x = X(k % n, inputs[static_cast<std::size_t>(k / n)]);
    return x * x;
  });
}

// The four ends; `spread`: the mean square of the values less their mean.
inline std::array<double, 4> ends(const ParameterRange& range, const Points& X, double spread) {
  std::array<double, 4> out = range.factors;
  const auto times = [&](double low, double high) {
    for (std::size_t k = 0; k < 4; ++k) out[k] *= k % 2 == 0 ? low : high;
  };
  switch (range.unit) {
    case ParameterRange::Unit::none: break;
    case ParameterRange::Unit::width: {
      const auto width = widths(X, range.inputs);
      times(width.first, width.second);
      break;
    }
    case ParameterRange::Unit::spread: times(spread, spread); break;
    case ParameterRange::Unit::spread_by_square:
    case ParameterRange::Unit::one_by_square: {
      const double above = range.unit == ParameterRange::Unit::spread_by_square ? spread : 1.0;
      const double unit = above / std::max(mean_square(X, range.inputs), std::numeric_limits<double>::min());
      times(unit, unit);
      break;
    }
  }
  return out;
}

}  // namespace fit_plan

// `start`: values of all parameters, which are within the bounds that nobody gave. `fix_noise`: see FitPlan.
inline FitProblem problem_of(const FitPlan& plan, const VectorXd& start, const Points& X, double spread,
                             bool fix_noise) {
  const double unit = spread > 0.0 ? spread : 1.0;
  const Index count = start.size(), noise = count - 1;
  FitProblem out;
  for (VectorXd* one : {&out.start, &out.lower, &out.upper, &out.likely_lower, &out.likely_upper}) one->resize(count);
  for (Index p = 0; p < count; ++p) {
    const std::array<double, 4> ends = fit_plan::ends(plan.ranges[static_cast<std::size_t>(p)], X, unit);
    const bool has_lower = !std::isnan(plan.lower[p]), has_upper = !std::isnan(plan.upper[p]);
    double lower = std::min(ends[0], start[p]), upper = std::max(ends[1], start[p]);
    if (has_upper) lower = std::min(lower, plan.upper[p]);
    if (has_lower) upper = std::max(upper, plan.lower[p]);
    out.start[p] = std::log(start[p]);
    out.lower[p] = std::log(has_lower ? plan.lower[p] : lower);
    out.upper[p] = std::log(has_upper ? plan.upper[p] : upper);
    if (plan.at_most_one[static_cast<std::size_t>(p)]) out.upper[p] = std::min(out.upper[p], 0.0);
    if (p == noise && (fix_noise || plan.fix_noise)) out.lower[p] = out.upper[p] = out.start[p];
    const auto within = [&](double end) { return std::min(std::max(std::log(end), out.lower[p]), out.upper[p]); };
    out.likely_lower[p] = within(ends[2]);
    out.likely_upper[p] = within(ends[3]);
  }
  out.priors = plan.priors;
  out.scale = plan.scale;
  out.single_variance = plan.single_variance;
  out.starts = plan.starts;
  return out;
}

// Is nothing but rounding left of values when their mean is taken away?
inline bool is_constant(const VectorXd& y, double spread) {
  const double largest = y.size() > 0 ? y.cwiseAbs().maxCoeff() : 0.0;
  return std::sqrt(spread) <= 4.0 * std::numeric_limits<double>::epsilon() * largest;
}

}  // namespace gpb

#endif
