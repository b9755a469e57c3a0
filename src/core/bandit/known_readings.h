// What the mean of an outcome is conditioned on, as single readings in the model's units. Uses the bandit.
#ifndef GPB_KNOWN_READINGS_H
#define GPB_KNOWN_READINGS_H

#include <optional>

#include "bandit/bandit.h"

namespace gpb {

// An entry per reading. A mean of several is that number of values with the same mean and spread: to the likelihood
// they are the readings themselves.
struct KnownReadings {
  std::vector<Index> id;                   // of their queries (1-based)
  std::vector<double> reward, value;       // as observed, and under the output transform
  std::vector<double> slope;               // of the transform there
  std::vector<double> noise_var;           // of the value; NaN for the model's
  double log_slope = 0.0;                  // how much all values are stretched
  double rewards = 0.0;                    // how many there are, those of forgotten rounds too
};

namespace known_readings {

inline void add(KnownReadings& to, Index id, double reward, const Told& told, const std::optional<OutputMap>& map,
                double usual) {
  const auto seen = [&](double y) { return map ? map->value(y) : y; };
  const double value = seen(reward), slope = map ? map->slope(reward) : 1.0;
  double noise_var = told.noise_var * (slope * slope), stretch = slope;
  // (Where a reward may be anywhere between its value and another: the mean slope from there to here.)
  if (!std::isnan(told.doubted_to)) {
    const double gap = seen(told.doubted_to) - value;
    noise_var = usual + gap * gap / 12.0;
    if (map && told.doubted_to != reward) stretch = gap / (told.doubted_to - reward);
  }
  to.id.push_back(id);
  to.reward.push_back(reward);
  to.value.push_back(value);
  to.slope.push_back(slope);
  to.noise_var.push_back(noise_var);
  to.log_slope += std::log(std::abs(stretch));
}

}  // namespace known_readings

// `usual`: the noise variance of a reading whose value is in doubt but for that.
inline KnownReadings known_readings_of(const Bandit& bandit, Index outcome, const std::optional<OutputMap>& map,
                                       double usual) {
  const Fold& fold = bandit.fold();
  if (outcome < 0 || outcome >= fold.outcomes()) throw std::invalid_argument("there is no such outcome");
  KnownReadings out;
  for (const Query& query : fold.queries()) {
    if (!fold.is_known(query, outcome)) continue;
    const Index id = static_cast<Index>(&query - fold.queries().data()) + 1;
    const double value = fold.known_value(query, outcome);
    const Told told = fold.known_told(query, outcome);
    const auto times = static_cast<Index>(told.times());
    out.rewards += fold.is_sum(id) ? told.times() : 1.0;
    // Two of several are off the mean, the others on it.
    const double off = times > 1 && !std::isnan(told.spread) ? std::sqrt(told.spread / 2.0) : 0.0;
    for (Index k = 0; k < times; ++k) {
      known_readings::add(out, id, k > 1 || off == 0.0 ? value : k == 0 ? value + off : value - off, told, map, usual);
    }
  }
  return out;
}

// Their points as the kernel sees them: the first `inputs` numbers of a place, and (`numbered`) the arm's after them.
inline Points points_of(const Bandit& bandit, const std::vector<Index>& ids, Index inputs, bool numbered) {
  Points out(static_cast<Index>(ids.size()), inputs + (numbered ? 1 : 0));
  for (Index i = 0; i < out.rows(); ++i) {
    const Place& place = bandit.fold().query(ids[static_cast<std::size_t>(i)]).place;
    const VectorXd x = bandit.space().inputs(place);
    for (Index j = 0; j < inputs; ++j) out(i, j) = x[j];
    if (numbered) out(i, inputs) = static_cast<double>(place.arm);
  }
  return out;
}

}  // namespace gpb

#endif
