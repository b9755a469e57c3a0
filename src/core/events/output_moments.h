// Moments of rewards whose transformed value is normal, by numerical integration. Uses events/outcome_transform.h.
// The inverse transform is nonlinear: steep in its tail and constant beyond its worst reward. The quadrature is
// Gauss-Legendre on panels of width at most 2.5 sd. Panels end at the kinks of the inverse transform. In the tail the
// variable of integration is the reward.
#ifndef GPB_OUTPUT_MOMENTS_H
#define GPB_OUTPUT_MOMENTS_H

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "events/outcome_transform.h"

namespace gpb {

class OutputMoments {
 public:
  // `noise_var`: of measurements, on the transformed scale.
  OutputMoments(const OutcomeTransform& map, double noise_var) : transform_(map), noise_(std::sqrt(noise_var)) {
    constant_below_ = std::isnan(map.worst) ? -kInf : map.value(map.worst);
    bent_below_ = std::isfinite(map.tail) ? (-map.tail - map.shift) / map.spread : -kInf;
    breaks_ = {constant_below_, bent_below_};
    if (map.lambda != 1.0) breaks_.push_back(-map.shift / map.spread);
    // (u(), smoothed by the noise, still changes quickly within four sd of the noise about a kink.)
    wide_breaks_ = breaks_;
    for (const double at : breaks_) {
      wide_breaks_.push_back(at - 4.0 * noise_);
      wide_breaks_.push_back(at + 4.0 * noise_);
    }
    std::sort(breaks_.begin(), breaks_.end());
    std::sort(wide_breaks_.begin(), wide_breaks_.end());
  }

  // E reward(N(mean, sd^2)), minus the centre.
  double expected(double mean, double sd) const {
    if (is_sure(mean, sd) || is_linear(mean, sd) || is_constant(mean, sd)) return transform_.deviation(mean);
    double sum = 0.0;
    for (const Node& node : nodes(mean, sd, breaks_)) sum += node.weight * transform_.deviation(node.at);
    return sum;
  }
  // u(f), the expected reward of a measurement with mean f, minus the centre.
  double of_measurement(double f) const { return expected(f, noise_); }
  double expected_measurement(double mean, double sd) const {
    if (!value_.empty() && is_sure(mean, sd) && asks_measurements(mean, sd)) return tabulated(mean);
    return expected(mean, std::hypot(sd, noise_));
  }
  bool is_linear(double mean, double sd) const {
    return transform_.lambda == 1.0 && mean - kReach * sd >= std::max(constant_below_, bent_below_);
  }
  // (The nodes would coincide in floating point.)
  static bool is_sure(double mean, double sd) { return !(sd > 1e-12 * (1.0 + std::abs(mean))); }
  bool is_constant(double mean, double sd) const { return mean + kReach * sd <= constant_below_; }

  // Does u() differ from the inverse transform, relative to an sd of N(., sd^2), in the first six digits?
  bool is_noisy(double sd) const { return noise_ > 1e-3 * sd; }
  // Does spread() evaluate u()?
  bool asks_measurements(double mean, double sd) const {
    return is_noisy(sd) && !is_linear(mean, std::hypot(sd, noise_));
  }

  // Tabulates u() from `lower` to `upper`: cubic Hermite interpolation with a step of one eighth of the noise's sd.
  // Errors are 1e-6 of the changes of u().
  void tabulate(double lower, double upper) {
    from_ = lower;
    step_ = noise_ / kCells;
    const auto n = static_cast<std::size_t>(entries(lower, upper));
    value_.resize(n);
    slope_.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double f = lower + step_ * static_cast<double>(k);
      if (is_linear(f, noise_)) {
        value_[k] = transform_.deviation(f);
        slope_[k] = step_ * transform_.scale * transform_.bulk * transform_.spread;
        continue;
      }
      double sum = 0.0, by_noise = 0.0;
      for (const Node& node : nodes(f, noise_, breaks_)) {
        const double term = node.weight * transform_.deviation(node.at);
        sum += term;
        by_noise += term * (node.at - f);
      }
      value_[k] = sum;
      slope_[k] = step_ * by_noise / (noise_ * noise_);   // d E r(f + e) / df = E r(f + e) e / sd^2 (Stein)
    }
  }
  // Of that table.
  double entries(double lower, double upper) const {
    return noise_ > 0.0 ? std::ceil((upper - lower) / noise_ * kCells) + 2.0 : kInf;
  }

  // The sd of u(N(mean, sd^2)), whose mean is `centre` (relative to the transform's centre).
  double spread(double mean, double sd, double centre) const {
    if (is_linear(mean, std::hypot(sd, noise_))) {
      return std::abs(transform_.scale) * transform_.bulk * transform_.spread * sd;
    }
    if (is_sure(mean, sd) || is_constant(mean, std::hypot(sd, noise_))) return 0.0;
    double sum = 0.0;
    for (const Node& node : nodes(mean, sd, wide_breaks_)) {
      const double u = !is_noisy(sd)    ? transform_.deviation(node.at)
                       : value_.empty() ? of_measurement(node.at)
                                        : tabulated(node.at);
      const double off = u - centre;
      sum += node.weight * off * off;
    }
    return std::sqrt(sum);
  }

  static constexpr double kReach = 9.0;

 private:
  static constexpr double kCells = 8.0;  // cells of the table per sd of the noise

  double tabulated(double f) const {
    const double at = std::clamp((f - from_) / step_, 0.0, static_cast<double>(value_.size()) - 1.001);
    const std::size_t k = static_cast<std::size_t>(at);
    const double t = at - static_cast<double>(k), s = 1.0 - t;
    return s * s * ((1.0 + 2.0 * t) * value_[k] + t * slope_[k]) +
           t * t * ((1.0 + 2.0 * s) * value_[k + 1] - s * slope_[k + 1]);
  }

  struct Node {
    double at, weight;
  };

  // Nodes and weights of the integral against N(mean, sd^2).
  std::vector<Node> nodes(double mean, double sd, const std::vector<double>& breaks) const {
    Rule rule{mean, sd, {}};
    rule.nodes.reserve(128);
    double left = mean - kReach * sd;
    const double right = mean + kReach * sd;
    for (std::size_t k = 0; k <= breaks.size() && left < right; ++k) {
      const double end = k < breaks.size() ? std::min(breaks[k], right) : right;
      if (end <= left) continue;
      if (left >= constant_below_ && end <= bent_below_) in_tail(rule, undrawn(left), undrawn(end));
      else on_line(rule, left, end);
      left = end;
    }
    return std::move(rule.nodes);
  }

  struct Rule {
    double mean, sd;
    std::vector<Node> nodes;
    double widest() const { return 2.5 * sd; }
    void take(double at, double weight) {
      const double z = (at - mean) / sd;
      nodes.push_back({at, weight * std::exp(-0.5 * z * z) / (sd * 2.506628274631000502)});
    }
  };

  static void on_line(Rule& rule, double a, double b) {
    const double parts = std::ceil((b - a) / rule.widest());
    const double half = (b - a) / parts / 2.0;
    for (double k = 0.0; k < parts; ++k) {
      const double middle = a + (2.0 * k + 1.0) * half;
      for (std::size_t g = 0; g < kGauss.size(); ++g) rule.take(middle + half * kGauss[g], half * kGaussWeight[g]);
    }
  }

  // From reward ra to rb, both on the scale of step (2) of the transform and below -tail.
  void in_tail(Rule& rule, double ra, double rb) const {
    const double middle = ra + (rb - ra) / 2.0;
    const bool is_wide = rb - ra > 2.0 * OutcomeTransform::kTailRoom || drawn(rb) - drawn(ra) > rule.widest();
    if (is_wide && ra < middle && middle < rb) {
      in_tail(rule, ra, middle);
      in_tail(rule, middle, rb);
      return;
    }
    const double half = (rb - ra) / 2.0;
    for (std::size_t g = 0; g < kGauss.size(); ++g) {
      const double r = ra + half * (1.0 + kGauss[g]);
      const double slope = std::exp((transform_.tail + r) / OutcomeTransform::kTailRoom) / transform_.spread;
      rule.take(drawn(r), half * kGaussWeight[g] * slope);
    }
  }

  // The transformed value of a reward on the scale of step (2), and its inverse. (The limit of the clipping, which no
  // reward reaches, is treated as 35 kTailRoom below -tail.)
  double drawn(double r) const { return (transform_.saturated(r) - transform_.shift) / transform_.spread; }
  double undrawn(double v) const {
    return std::max(transform_.desaturated(transform_.shift + transform_.spread * v), -transform_.tail - 35.0 *
                    OutcomeTransform::kTailRoom);
  }

  // The eight nodes of the Gauss-Legendre rule.
  static constexpr std::array<double, 8> kGauss = {-0.9602898564975363, -0.7966664774136267, -0.5255324099163290,
                                                   -0.1834346424956498, 0.1834346424956498,  0.5255324099163290,
                                                   0.7966664774136267,  0.9602898564975363};
  static constexpr std::array<double, 8> kGaussWeight = {0.1012285362903763, 0.2223810344533745, 0.3137066458778873,
                                                         0.3626837833783620, 0.3626837833783620, 0.3137066458778873,
                                                         0.2223810344533745, 0.1012285362903763};

  OutcomeTransform transform_;
  double noise_, constant_below_, bent_below_;
  std::vector<double> breaks_, wide_breaks_, value_, slope_;
  double from_ = 0.0, step_ = 1.0;
};

}  // namespace gpb

#endif
