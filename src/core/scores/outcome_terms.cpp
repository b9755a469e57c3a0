// Functions of outcome_terms.h: limits, improvement and the Pareto front. Uses posteriors/.
#include "scores/outcome_terms.h"

#include "scores/log_normal.h"

#include <cmath>

namespace gpb {

double log_within(const Role& role, double mean, double sd) {
  if (!role.limited()) return 0.0;
  if (!(sd > 0.0)) return role.lower <= mean && mean <= role.upper ? 0.0 : -kInf;
  return log_normal_between((role.lower - mean) / sd, (role.upper - mean) / sd);
}

namespace {

// The slopes of log_within().
Slopes slopes_within(const Role& role, double mean, double sd, double log_probability) {
  Slopes out;
  if (!role.limited() || !(sd > 0.0) || log_probability == -kInf) return out;
  const auto edge = [&](double limit, double sign) {
    if (std::isinf(limit)) return;
    const double z = (limit - mean) / sd;
    const double density = sign * std::exp(normal_log_density(z) - log_probability);
    out.by_mean -= density / sd;
    out.by_sd -= density * z / sd;
  };
  edge(role.upper, 1.0);
  edge(role.lower, -1.0);
  return out;
}

}  // namespace

double log_feasible(const std::vector<OutcomeView>& outcomes, const double* mean, const double* sd, Slopes* slopes) {
  double sum = 0.0;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    const double one = log_within(outcomes[k].role, mean[k], sd[k]);
    sum += one;
    if (!slopes) continue;
    const Slopes of_one = slopes_within(outcomes[k].role, mean[k], sd[k], one);
    slopes[k].by_mean += of_one.by_mean;
    slopes[k].by_sd += of_one.by_sd;
  }
  return sum;
}

std::vector<Index> likely_rows(const Round& round, const PointsMoments& played) {
  std::vector<Index> out;
  for (Index i = 0; i < played.mean.rows(); ++i) {
    const VectorXd mean = row_of(played.mean, i), sd = row_of(played.sd, i);
    if (log_feasible(round.outcomes, mean.data(), sd.data(), nullptr) >= std::log(0.5)) out.push_back(i);
  }
  return out;
}

Index objective_of(const Round& round) {
  for (std::size_t k = 0; k < round.outcomes.size(); ++k) {
    if (round.outcomes[k].role.objective) return static_cast<Index>(k);
  }
  throw_invalid("no outcome is an objective");
}

double log_improvement_above(double target, double mean, double sd, Slopes* slopes) {
  if (!(sd > 0.0)) return mean > target ? std::log(mean - target) : -kInf;
  const double u = (mean - target) / sd;
  if (slopes) {
    const double by_u = log_improvement_slope(u);
    slopes->by_mean += by_u / sd;
    slopes->by_sd += (1.0 - u * by_u) / sd;
  }
  return std::log(sd) + log_improvement(u);
}

std::vector<Index> objectives_of(const std::vector<OutcomeView>& outcomes) {
  std::vector<Index> out;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    if (outcomes[k].role.objective) out.push_back(static_cast<Index>(k));
  }
  return out;
}

Front::Front(const Round& round, const VectorXd& given) : objectives(objectives_of(round.outcomes)) {
  const PointsMoments played = round.played();
  const std::vector<Index> rows = likely_rows(round, played);
  const auto count = static_cast<Index>(objectives.size());
  MatrixXd Y(static_cast<Index>(rows.size()), count);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (Index k = 0; k < count; ++k) {
      Y(static_cast<Index>(i), k) = played.mean(rows[i], objectives[static_cast<std::size_t>(k)]);
    }
  }
  reference = given.size() > 0 ? given : below(round, Y);
  points = front_above(Y, reference);
}

// The default reference: the worst value of the front minus a tenth of its range (or of the prior sd, if the range is
// 0).
VectorXd Front::below(const Round& round, const MatrixXd& Y) const {
  const MatrixXd front = nondominated(Y);
  VectorXd out(static_cast<Index>(objectives.size()));
  for (Index k = 0; k < out.size(); ++k) {
    const OutcomeView& outcome = round.outcomes[static_cast<std::size_t>(objectives[static_cast<std::size_t>(k)])];
    if (front.rows() == 0) {
      out[k] = -outcome.prior_scale;
      continue;
    }
    const double worst = front.col(k).minCoeff(), range = front.col(k).maxCoeff() - worst;
    out[k] = worst - 0.1 * (range > 0.0 ? range : outcome.prior_scale);
  }
  return out;
}

double LogHypervolumeGain::operator()(const double* mean, const double* sd, Slopes* slopes) const {
  std::vector<double> m, s, by_mean(objectives_.size()), by_sd(objectives_.size());
  for (const Index k : objectives_) {
    m.push_back(mean[k]);
    s.push_back(sd[k]);
  }
  if (!slopes) return boxes_.log_expected_gain(m.data(), s.data());
  const double out = boxes_.log_expected_gain(m.data(), s.data(), by_mean.data(), by_sd.data());
  for (std::size_t i = 0; i < objectives_.size(); ++i) {
    slopes[objectives_[i]].by_mean += by_mean[i];
    slopes[objectives_[i]].by_sd += by_sd[i];
  }
  return out;
}

}  // namespace gpb
