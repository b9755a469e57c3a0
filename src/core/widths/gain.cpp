// Functions of gain.h: information gains gamma_s for widths.
#include "widths/gain.h"

#include <cmath>

namespace gpb {

double FunctionGain::at(double s, double) {
  const double value = f_(s);
  if (!std::isfinite(value) || value < 0.0) {
    throw_invalid("`gain` must return one finite number >= 0, not " +
                  std::to_string(value) + " (at s = " + std::to_string(s) + ")");
  }
  return value;
}

double RateGain::at(double s, double) {
  if (s <= 1.0) return 0.0;
  return scale_ * std::pow(std::log(s), log_power_) * std::pow(s, power_);
}

double GreedyGain::at(double s, double) {
  constexpr double factor = 1.5819767068693264;  // e / (e - 1)
  return factor * greedy_.at(static_cast<Index>(s));
}

}  // namespace gpb
