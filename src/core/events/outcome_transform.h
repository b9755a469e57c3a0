// The outcome transform: a smooth monotone function from rewards to the posterior's values. Uses base/ only.
// It increases, or decreases if rewards are minimised. Its parameters are chosen with the hyperparameters. The log
// keeps the original rewards.
#ifndef GPB_OUTCOME_TRANSFORM_H
#define GPB_OUTCOME_TRANSFORM_H

#include <algorithm>
#include <cmath>

#include "base/settings.h"

namespace gpb {

// The steps of the transform:
//   (1) z = (reward - centre) / scale;
//   (2) the power transform of Yeo and Johnson (2000, equation 2.1) with lambda in [0, 2], divided by `bulk`;
//   (3) values below -tail are clipped smoothly, with limit -tail - kTailRoom;
//   (4) subtraction of `shift`, division by `spread`.
// The inverse is bounded by the reward `worst`.
struct OutcomeTransform {
  static constexpr double kTailRoom = 2.0;
  double centre = 0.0, scale = 1.0, lambda = 1.0, bulk = 1.0, tail = kInf, shift = 0.0,
         spread = 1.0, worst = kNaN;

  double value(double reward) const {
    return (saturated(power((reward - centre) / scale) / bulk) - shift) / spread;
  }
  double reward(double value) const { return no_worse(centre + off_centre(value), worst); }
  // The reward minus the centre. It is precise even if the centre is far from zero.
  double deviation(double value) const { return no_worse(off_centre(value), worst - centre); }
  // d value / d reward without the clipping, which would make the noise vanish.
  double slope(double reward) const {
    const double z = (reward - centre) / scale;
    const double rise = std::pow(1.0 + std::abs(z), z < 0.0 ? 1.0 - lambda : lambda - 1.0);
    return rise / (scale * bulk * spread);
  }
  void check() const {
    const bool right = std::isfinite(centre) && std::isfinite(scale) && scale != 0.0 &&
                       lambda >= 0.0 && lambda <= 2.0 && std::isfinite(bulk) && bulk > 0.0 &&
                       tail >= 0.0 && std::isfinite(shift) && std::isfinite(spread) &&
                       spread > 0.0 && !std::isinf(worst);
    if (!right) throw_invalid("the parameters of an outcome transform are invalid");
  }
  double saturated(double r) const {
    return r < -tail ? -tail + kTailRoom * std::expm1((tail + r) / kTailRoom) : r;
  }
  double desaturated(double x) const {
    if (!(x < -tail)) return x;
    return -tail + kTailRoom * std::log1p(std::max((x + tail) / kTailRoom, -1.0));
  }

 private:
  double off_centre(double value) const { return scale * inverse_power(bulk * desaturated(shift + spread * value)); }
  double no_worse(double reward, double end) const {
    if (std::isnan(end)) return reward;
    return scale > 0.0 ? std::max(reward, end) : std::min(reward, end);
  }
  static double box_cox(double x, double power) {
    return power == 0.0 ? std::log1p(x) : std::expm1(power * std::log1p(x)) / power;
  }
  static double inverse_box_cox(double x, double power) {
    return power == 0.0 ? std::expm1(x) : std::expm1(std::log1p(power * x) / power);
  }
  double power(double z) const {
    if (lambda == 1.0) return z;
    return z < 0.0 ? -box_cox(-z, 2.0 - lambda) : box_cox(z, lambda);
  }
  double inverse_power(double w) const {
    if (lambda == 1.0) return w;
    return w < 0.0 ? -inverse_box_cox(-w, 2.0 - lambda) : inverse_box_cox(w, lambda);
  }
};

inline OutcomeTransform make_outcome_transform(const Settings& settings) {
  OutcomeTransform out;
  out.centre = settings.number("centre");
  out.scale = settings.number("scale");
  out.lambda = settings.number("lambda");
  out.bulk = settings.number("bulk");
  out.tail = settings.number("tail");
  out.shift = settings.number("shift");
  out.spread = settings.number("spread");
  out.worst = settings.number("worst");
  out.check();
  return out;
}

}  // namespace gpb

#endif
