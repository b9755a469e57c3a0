// The measurements that an outcome's mean is conditioned on, one by one and in the model's units. Uses the bandit.
#ifndef GPB_KNOWN_MEASUREMENTS_H
#define GPB_KNOWN_MEASUREMENTS_H

#include <cmath>
#include <optional>

#include "bandit/bandit.h"

namespace gpb {

// A row stands for `count` measurements of one value. A mean of several becomes up to three rows with the same number,
// mean and spread, which have the same likelihood as the measurements.
struct KnownMeasurements {
  std::vector<Index> id;                   // of their queries (1-based)
  std::vector<double> reward, value;       // as observed, and under the output transform
  std::vector<double> slope;               // of the transform there
  std::vector<double> noise_var;           // of the value; NaN for the model's
  std::vector<double> count;
  std::vector<double> log_slopes;          // how much each value is stretched
  double log_slope = 0.0;                  // the sum of these, over all measurements
  double rewards = 0.0;                    // how many there are, those of forgotten rounds too
};

namespace known_measurements {

inline void add(KnownMeasurements& to, Index id, double reward, const Report& reported,
                const std::optional<OutcomeTransform>& map, double usual, double count) {
  const auto seen = [&](double y) { return map ? map->value(y) : y; };
  const double value = seen(reward), slope = map ? map->slope(reward) : 1.0;
  double noise_var = reported.noise_var * (slope * slope), stretch = slope;
  // (Where a reward may be anywhere between its value and another: the mean slope from there to here.)
  if (!std::isnan(reported.doubted_to)) {
    const double gap = seen(reported.doubted_to) - value;
    noise_var = usual + gap * gap / 12.0;
    if (map && reported.doubted_to != reward) stretch = gap / (reported.doubted_to - reward);
  }
  to.id.push_back(id);
  to.reward.push_back(reward);
  to.value.push_back(value);
  to.slope.push_back(slope);
  to.noise_var.push_back(noise_var);
  to.log_slopes.push_back(std::log(std::abs(stretch)));
  to.count.push_back(count);
  to.log_slope += count * to.log_slopes.back();
}

}  // namespace known_measurements

// `usual`: the noise variance of a measurement whose value is an interval, without the part of the interval.
inline KnownMeasurements known_measurements_of(const Bandit& bandit, Index outcome,
                                               const std::optional<OutcomeTransform>& map, double usual) {
  const BanditState& state = bandit.state();
  if (outcome < 0 || outcome >= state.outcomes()) throw_invalid("there is no such outcome");
  KnownMeasurements out;
  for (const Query& query : state.queries()) {
    if (!state.is_known(query, outcome)) continue;
    const Index id = static_cast<Index>(&query - state.queries().data()) + 1;
    const double value = state.known_value(query, outcome);
    const Report reported = state.known_reported(query, outcome);
    const double times = std::floor(reported.times());
    out.rewards += state.is_sum(id) ? reported.times() : 1.0;
    // Two of several are off the mean, the others on it. A spread that is not known is the one expected under the
    // model, so that repeated fits maximise the likelihood of the mean alone (EM).
    const double slope = map ? map->slope(value) : 1.0;
    const double spread = !std::isnan(reported.spread) ? reported.spread
                          : std::isnan(reported.noise_var) ? (reported.times() - 1.0) * usual / (slope * slope) : 0.0;
    const double off = times > 1 ? std::sqrt(spread / 2.0) : 0.0;
    if (off > 0.0) {
      for (const double side : {off, -off}) known_measurements::add(out, id, value + side, reported, map, usual, 1.0);
    }
    const double rest = off > 0.0 ? times - 2.0 : times;
    if (rest > 0.0) known_measurements::add(out, id, value, reported, map, usual, rest);
  }
  return out;
}

// Their points as the kernel sees them: the first `inputs` numbers of a point, and (`numbered`) the arm's after them.
inline Points points_of(const Bandit& bandit, const std::vector<Index>& ids, Index inputs, bool numbered) {
  Points out(static_cast<Index>(ids.size()), inputs + (numbered ? 1 : 0));
  for (Index i = 0; i < out.rows(); ++i) {
    const Point& point = bandit.state().query(ids[static_cast<std::size_t>(i)]).point;
    const VectorXd x = bandit.space().inputs(point);
    for (Index j = 0; j < inputs; ++j) out(i, j) = x[j];
    if (numbered) out(i, inputs) = static_cast<double>(point.arm);
  }
  return out;
}

}  // namespace gpb

#endif
