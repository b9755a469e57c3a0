// Estimation of an outcome transform's shape. Means, medians and quantiles are computed as in R, so that one reward
// more or less in R's own code makes no difference.
#include "events/outcome_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpb {

namespace {

constexpr Index kFewestForPower = 8, kFewestDistinct = 4;

// The mean in two passes.
double mean_of(const VectorXd& x) {
  const auto n = static_cast<long double>(x.size());
  long double mean = 0.0L, rest = 0.0L;
  for (Index k = 0; k < x.size(); ++k) mean += x[k];
  mean /= n;
  if (!std::isfinite(static_cast<double>(mean))) return static_cast<double>(mean);
  for (Index k = 0; k < x.size(); ++k) rest += x[k] - mean;
  return static_cast<double>(mean + rest / n);
}

double sd_of(const VectorXd& x) {
  const long double mean = mean_of(x);
  long double sum = 0.0L;
  for (Index k = 0; k < x.size(); ++k) sum += (x[k] - mean) * (x[k] - mean);
  return std::sqrt(static_cast<double>(sum / static_cast<long double>(x.size() - 1)));
}

VectorXd sorted(VectorXd x) {
  std::sort(x.data(), x.data() + x.size());
  return x;
}

double median_of(const VectorXd& values) {
  const VectorXd x = sorted(values);
  const Index half = (x.size() + 1) / 2;
  return x.size() % 2 == 1 ? x[half - 1] : mean_of(x.segment(half - 1, 2));
}

// R's quantile of type 7.
double quantile_of(const VectorXd& values, double share) {
  const VectorXd x = sorted(values);
  const double index = 1.0 + static_cast<double>(x.size() - 1) * share;
  const double below = std::floor(index), h = index - below;
  const double low = x[static_cast<Index>(below) - 1], high = x[static_cast<Index>(std::ceil(index)) - 1];
  return h > 0.0 && high != low ? (1.0 - h) * low + h * high : low;
}

VectorXd deviations(const VectorXd& x) { return (x.array() - median_of(x)).abs(); }

// The spread of values that cover the space: few may be outliers, and many may be near the optimum.
double covering_spread(const VectorXd& x) {
  constexpr double kNormal = 1.2815515655446008;  // the normal quantile of 0.9
  return quantile_of(deviations(x), 0.8) / kNormal;
}

// See robust_spread() in R/outcomes-transform.R. `like`: the values before a power transform.
double robust_spread(const VectorXd& x, const VectorXd& like) {
  constexpr double kNormal = 1.4826;
  const VectorXd before = deviations(like), now = deviations(x);
  if (kNormal * median_of(before) > 1e-3 * quantile_of(before, 0.8)) return kNormal * median_of(now);
  const double others = quantile_of(now, 0.8);
  if (others > 0.0) return others;
  if (mean_of(now) > 0.0) return mean_of(now);
  return std::abs(x[0]) > 0.0 ? std::abs(x[0]) : 1.0;
}

VectorXd values_of(const OutcomeTransform& transform, const VectorXd& rewards) {
  return rewards.unaryExpr([&](double reward) { return transform.value(reward); });
}

Index distinct(const VectorXd& values) {
  VectorXd x = sorted(values);
  return std::unique(x.data(), x.data() + x.size()) - x.data();
}

// The log likelihood of values that a power makes normal.
class PowerLikelihood {
 public:
  explicit PowerLikelihood(const VectorXd& z) : z_(z) {
    long double sum = 0.0L;
    for (Index k = 0; k < z.size(); ++k) sum += std::copysign(std::log1p(std::abs(z[k])), z[k]);
    slopes_ = static_cast<double>(sum);
  }
  double operator()(double lambda) const {
    OutcomeTransform power;
    power.lambda = lambda;
    const VectorXd w = values_of(power, z_);
    const double mean = mean_of(w);
    const double n = static_cast<double>(z_.size());
    const double value = -n / 2.0 * std::log(mean_of((w.array() - mean).square())) + (lambda - 1.0) * slopes_;
    // (A power under which a value of 1e140 overflows counts as the worst.)
    return std::isfinite(value) ? value : -std::numeric_limits<double>::max();
  }

 private:
  const VectorXd& z_;
  double slopes_;
};

// The power of Yeo and Johnson that maximises the likelihood; 1 if the gain is too small.
double likely_power(const VectorXd& z, const ShapeRules& rules) {
  if (rules.power == ShapeRules::Power::none || z.size() < kFewestForPower || distinct(z) < kFewestDistinct) return 1.0;
  const PowerLikelihood likelihood(z);
  const double tolerance = std::pow(std::numeric_limits<double>::epsilon(), 0.25);
  const double found = brent_minimum([&](double lambda) { return -likelihood(lambda); }, 0.0, 2.0, tolerance);
  if (rules.power == ShapeRules::Power::always) return found;
  return likelihood(found) > likelihood(1.0) + rules.least_gain ? found : 1.0;
}

}  // namespace

void estimate_shape(OutcomeTransform& transform, const VectorXd& rewards, const VectorXd& usual,
                    const ShapeRules& rules) {
  OutcomeTransform plain;
  plain.centre = transform.centre;
  plain.scale = transform.scale;
  const bool is_log = rules.power == ShapeRules::Power::logarithm;
  plain.lambda = is_log ? 2.0 : likely_power(values_of(plain, rewards), rules);
  transform.lambda = plain.lambda;
  if (is_log) {
    transform.bulk = values_of(plain, rewards).cwiseAbs().maxCoeff() / transform.tail;
  } else if (plain.lambda != 1.0) {
    const VectorXd w = values_of(plain, usual);
    transform.bulk = rules.covers ? covering_spread(w) : robust_spread(w, usual);
  }
  const VectorXd v = values_of(transform, usual);
  const double spread = sd_of(v);
  if (!(std::isfinite(spread) && spread > 0.0)) return;
  transform.shift = mean_of(v);
  transform.spread = spread;
}

double brent_minimum(const std::function<double(double)>& f, double lower, double upper, double tolerance) {
  const double golden = (3.0 - std::sqrt(5.0)) * 0.5, eps = std::sqrt(std::numeric_limits<double>::epsilon());
  double a = lower, b = upper;
  // The best point, the second best, and the second best before.
  double x = a + golden * (b - a), w = x, v = x;
  double fx = f(x), fw = fx, fv = fx;
  double step = 0.0, before = 0.0;
  while (true) {
    const double middle = (a + b) * 0.5, near = eps * std::abs(x) + tolerance / 3.0;
    if (std::abs(x - middle) <= near * 2.0 - (b - a) * 0.5) return x;
    // A parabola through the three points.
    double p = 0.0, q = 0.0, r = 0.0;
    if (std::abs(before) > near) {
      r = (x - w) * (fx - fv);
      q = (x - v) * (fx - fw);
      p = (x - v) * q - (x - w) * r;
      q = (q - r) * 2.0;
      if (q > 0.0) p = -p;
      else q = -q;
      r = before;
      before = step;
    }
    double u = 0.0;
    if (std::abs(p) >= std::abs(q * 0.5 * r) || p <= q * (a - x) || p >= q * (b - x)) {
      before = x < middle ? b - x : a - x;
      step = golden * before;
    } else {
      step = p / q;
      u = x + step;
      if (u - a < near * 2.0 || b - u < near * 2.0) step = x >= middle ? -near : near;
    }
    u = std::abs(step) >= near ? x + step : step > 0.0 ? x + near : x - near;
    const double fu = f(u);
    if (fu <= fx) {
      (u < x ? b : a) = x;
      v = w, fv = fw;
      w = x, fw = fx;
      x = u, fx = fu;
    } else {
      (u < x ? a : b) = u;
      if (fu <= fw || w == x) {
        v = w, fv = fw;
        w = u, fw = fu;
      } else if (fu <= fv || v == x || v == w) {
        v = u, fv = fu;
      }
    }
  }
}

}  // namespace gpb
