// Predictions of rewards under several rules of forgetting. Uses bandit/ and likelihoods/.
#include "bandit/forecasts.h"

#include "likelihoods/predictive.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr double kSmallModel = 64.0;  // observations or functionals up to which each reward is predicted separately

// The number of observations that the cost of a posterior depends on; 0 if it depends on the arms alone.
double model_size(const Bandit& bandit, Index known) {
  if (bandit.has_likelihood()) return static_cast<double>(bandit.known().pool().functionals.size());
  return bandit.space().arm_setting() ? 0.0 : static_cast<double>(known);
}

Index block_of(const Bandit& bandit, Index known) {
  const double ratio = model_size(bandit, known) / kSmallModel;
  return std::min(kForecastBlock, std::max<Index>(1, static_cast<Index>(std::floor(ratio * ratio))));
}

// The log predictive density of one reward.
double log_density(const OutcomeModelState& state, const OutcomeModel& model, const Point& point, double reward,
                   const Report& reported) {
  double mean, sd;
  model.mean().at(point, mean, sd);
  if (state.likelihood) {
    Likelihood::Data data;
    state.likelihood->pool(reward, reported.times(), 1.0, data);
    return log_predictive(*state.likelihood, data, mean, sd);
  }
  const double variance = sd * sd + state.noise_var / model.weight(reward, reported, point);
  const double gap = state.outputs.value(reward) - mean;
  return -0.5 * (gap * gap / variance + std::log(2.0 * 3.14159265358979323846 * variance));
}

}  // namespace

MatrixXd log_forecasts(const Bandit& bandit, const std::vector<Forgetting>& rules, Index most) {
  const BanditState& state = bandit.state();
  const OutcomeModelState& model_state = bandit.first_model_state();
  std::vector<Index> ids;
  for (Index id = state.first_known() + 1; id <= state.rounds(); ++id) {
    if (state.is_known(state.query(id)) && state.query(id).status == Status::known) ids.push_back(id);
  }
  const auto known = static_cast<Index>(ids.size()), scored = std::min(most, known), before = known - scored;
  const Index block = block_of(bandit, known);
  MatrixXd out(scored, static_cast<Index>(rules.size()));
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    OutcomeModel model(model_state, rules[rule], false, {});
    model.clear(state.first_known() + 1);
    const auto learn = [&](Index k) {
      const Index id = ids[static_cast<std::size_t>(k)];
      const Query& q = state.query(id);
      model.learned(id, q.point, state.known_value(q), state.known_reported(q), nullptr, nullptr);
    };
    for (Index k = 0; k < before; ++k) {
      model.advance(ids[static_cast<std::size_t>(k)]);
      learn(k);
    }
    for (Index from = before; from < known; from += block) {
      const Index end = std::min(known, from + block);
      model.advance(ids[static_cast<std::size_t>(from)]);
      for (Index k = from; k < end; ++k) {
        const Query& q = state.query(ids[static_cast<std::size_t>(k)]);
        out(k - before, static_cast<Index>(rule)) =
            log_density(model_state, model, q.point, state.known_value(q), state.known_reported(q));
      }
      for (Index k = from; k < end; ++k) {
        model.advance(ids[static_cast<std::size_t>(k)]);
        learn(k);
      }
    }
  }
  return out;
}

}  // namespace gpb
