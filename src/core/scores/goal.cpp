// Functions of goal.h: scores of a formula of several outcomes. Uses posteriors/.
#include "scores/goal.h"

#include "scores/noisy_improvement.h"
#include "scores/outcomes.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kImprovementDraws = 64, kMeanDraws = 256;
constexpr double kSmoothing = 0.02;  // of the goal's spread: the width of the corner of an improvement
constexpr double kGoalAllowed = 1e-6, kGoalBarred = 1e6, kGoalPenalty = 1e3;  // as in outcomes.cpp

// log(1 + e^u) and its slope, precise for u far below 0.
double log_softplus(double u) { return u > -30.0 ? std::log(u > 30.0 ? u : std::log1p(std::exp(u))) : u; }
double softplus_slope(double u) { return u > 30.0 ? 1.0 : 1.0 / (1.0 + std::exp(-u)); }

// The goal in the draws of the outcomes at a point. Outcomes are independent, and a draw has the same standard normal
// numbers at all points, so that the score is smooth.
class GoalDraws {
 public:
  GoalDraws(const Goal& goal, const Round& round, Index draws, Index number)
      : goal_(goal), outcomes_(round.outcomes),
        normal_(latin_normals(static_cast<Index>(round.outcomes.size()), draws, number)) {}

  Index count() const { return normal_.cols(); }
  const std::vector<OutcomeView>& outcomes() const { return outcomes_; }
  bool uses_inputs() const { return goal_.formula.uses_from(normal_.rows()); }

  // `x`: the inputs, or null if the formula does not use them.
  void values(const double* mean, const double* sd, const double* x, Index inputs, VectorXd& out) const {
    VectorXd variable = variables(x, inputs);
    out.resize(count());
    for (Index j = 0; j < count(); ++j) {
      set_outcomes(mean, sd, j, variable);
      out[j] = finite(goal_.formula(variable.data()));
    }
  }
  // With the slopes of each draw (a column each) by the means, the sds and the inputs.
  void values(const double* mean, const double* sd, const VectorXd& x, VectorXd& out, MatrixXd& slopes) const {
    const Index outcomes = normal_.rows();
    VectorXd variable = variables(x.data(), x.size()), slope, rise(outcomes);
    out.resize(count());
    slopes.setZero(2 * outcomes + x.size(), count());
    for (Index j = 0; j < count(); ++j) {
      for (Index k = 0; k < outcomes; ++k) {
        variable[k] = goal_.outcomes[static_cast<std::size_t>(k)].value(mean[k] + sd[k] * normal_(k, j), rise[k]);
      }
      const double value = goal_.formula(variable.data(), slope);
      out[j] = finite(value);
      if (!std::isfinite(value) || !slope.allFinite()) continue;
      for (Index k = 0; k < outcomes; ++k) {
        const double by_value = slope[k] * rise[k];
        slopes(k, j) = by_value;
        slopes(outcomes + k, j) = by_value * normal_(k, j);
      }
      slopes.col(j).tail(x.size()) = slope.tail(x.size());
    }
  }
  double mean_at(const VectorXd& mean, const VectorXd& sd, const VectorXd& x) const {
    VectorXd drawn;
    values(mean.data(), sd.data(), x.data(), x.size(), drawn);
    return drawn.mean();
  }

 private:
  // A goal that has no value is worse than any other.
  static double finite(double value) { return std::isfinite(value) ? value : value > 0.0 ? 1e100 : -1e100; }
  VectorXd variables(const double* x, Index inputs) const {
    VectorXd out = VectorXd::Zero(normal_.rows() + inputs);
    for (Index i = 0; x && i < inputs; ++i) out[normal_.rows() + i] = x[i];
    return out;
  }
  void set_outcomes(const double* mean, const double* sd, Index j, VectorXd& variable) const {
    for (Index k = 0; k < normal_.rows(); ++k) {
      variable[k] = goal_.outcomes[static_cast<std::size_t>(k)].value(mean[k] + sd[k] * normal_(k, j));
    }
  }

  const Goal& goal_;
  std::vector<OutcomeView> outcomes_;
  MatrixXd normal_;
};

// Moments of each outcome at one point.
void outcome_moments_at(const std::vector<OutcomeView>& outcomes, const Point& point, VectorXd& mean, VectorXd& sd) {
  double ignored;
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    const auto row = static_cast<Index>(k);
    outcomes[k].mean->at(point, mean[row], sd[row]);
    if (outcomes[k].variance != outcomes[k].mean) outcomes[k].variance->at(point, ignored, sd[row]);
  }
}

// The probability that the limits hold, and its slopes by the means and sds. (Central differences: the limits of a goal
// are few.)
double log_all_within(const std::vector<OutcomeView>& outcomes, const double* mean, const double* sd) {
  double sum = 0.0;
  for (std::size_t k = 0; k < outcomes.size(); ++k) sum += log_within(outcomes[k].role, mean[k], sd[k]);
  return sum;
}

void add_feasible_slopes(const std::vector<OutcomeView>& outcomes, const VectorXd& mean, const VectorXd& sd,
                         double weight, VectorXd& slopes) {
  const Index count = mean.size();
  for (Index k = 0; k < count; ++k) {
    const Role& role = outcomes[static_cast<std::size_t>(k)].role;
    if (!role.limited()) continue;
    const double step = 1e-5 * std::max(sd[k], 1e-12);
    const auto difference = [&](double by_mean, double by_sd) {
      const double slope = (log_within(role, mean[k] + by_mean, sd[k] + by_sd) -
                            log_within(role, mean[k] - by_mean, sd[k] - by_sd)) / (2.0 * step);
      return std::isfinite(slope) ? slope : 0.0;
    };
    slopes[k] += weight * difference(step, 0.0);
    slopes[count + k] += weight * difference(0.0, step);
  }
}

// What is maximised, as a function of the draws of the goal at a point and of the limits there.
class GoalScore : public Score {
 public:
  GoalScore(const Goal& goal, const Round& round, Index draws, Index number)
      : draws_(goal, round, draws, number) {
    if (draws_.uses_inputs()) inputs_ = round.inputs();
  }
  void values(const Candidates& candidates, VectorXd& out) const override {
    std::vector<Moments> all;
    for (const OutcomeView& outcome : draws_.outcomes()) all.push_back(outcome.model_state().moments(candidates));
    of_all(all, candidates.size(), inputs_, out);
  }
  VectorXd at(const Points& X) const override {
    const std::size_t count = draws_.outcomes().size();
    std::vector<VectorXd> means(count), variances(count);
    std::vector<Moments> all;
    for (std::size_t k = 0; k < count; ++k) {
      draws_.outcomes()[k].model_state().predict(X, means[k], variances[k]);
      all.push_back({means[k].data(), variances[k].data()});
    }
    VectorXd out;
    of_all(all, X.rows(), X, out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    const std::size_t count = draws_.outcomes().size();
    VectorXd mean(static_cast<Index>(count)), sd(mean.size());
    std::vector<VectorXd> dmean(count), dsd(count);
    for (std::size_t k = 0; k < count; ++k) {
      const auto row = static_cast<Index>(k);
      draws_.outcomes()[k].model_state().local(x, mean[row], sd[row], dmean[k], dsd[k]);
    }
    VectorXd drawn;
    MatrixXd by_draw;
    draws_.values(mean.data(), sd.data(), x, drawn, by_draw);
    VectorXd weights;
    const double merit = of_draws(drawn, &weights);
    const double feasible = log_all_within(draws_.outcomes(), mean.data(), sd.data());
    VectorXd slopes = multiply(by_draw, weights);
    const double value = with_limits(merit, feasible, false);
    add_feasible_slopes(draws_.outcomes(), mean, sd, limit_slope(feasible), slopes);
    *gradient = slopes.tail(x.size());
    for (std::size_t k = 0; k < count; ++k) {
      const auto row = static_cast<Index>(k);
      *gradient += slopes[row] * dmean[k] + slopes[static_cast<Index>(count) + row] * dsd[k];
    }
    return value;
  }

 protected:
  // The merit of some draws, and its slope by each if `weights` is not null.
  virtual double of_draws(const VectorXd& drawn, VectorXd* weights) const = 0;
  // The score from the merit and log P(limits hold). `final`: not within a local search.
  virtual double with_limits(double merit, double feasible, bool final) const = 0;
  virtual double limit_slope(double feasible) const = 0;

 private:
  void of_all(const std::vector<Moments>& all, Index n, const Points& X, VectorXd& out) const {
    VectorXd mean(static_cast<Index>(all.size())), sd(mean.size()), drawn, x;
    out.resize(n);
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < mean.size(); ++k) {
        mean[k] = all[static_cast<std::size_t>(k)].mean[i];
        sd[k] = std::sqrt(std::max(0.0, all[static_cast<std::size_t>(k)].variance[i]));
      }
      if (draws_.uses_inputs()) x = row_of(X, i);
      draws_.values(mean.data(), sd.data(), x.data(), x.size(), drawn);
      out[i] = with_limits(of_draws(drawn, nullptr), log_all_within(draws_.outcomes(), mean.data(), sd.data()), true);
    }
  }

  GoalDraws draws_;
  Points inputs_;
};

// The log of the smoothed expected improvement over the best goal so far, and of the probability that the limits hold.
class GoalImprovementScore final : public GoalScore {
 public:
  // A target that is NaN: no point is known at which the limits hold.
  GoalImprovementScore(const Goal& goal, const Round& round, double target, double spread)
      : GoalScore(goal, round, kImprovementDraws, static_cast<Index>(round.number)),
        target_(target), width_(std::max(kSmoothing * spread, 1e-300)) {}
  double unit() const override { return 1.0; }
  bool logarithmic() const override { return true; }

 protected:
  double of_draws(const VectorXd& drawn, VectorXd* weights) const override {
    if (weights) weights->setZero(drawn.size());
    if (std::isnan(target_)) return 0.0;
    VectorXd logs(drawn.size());
    for (Index j = 0; j < drawn.size(); ++j) logs[j] = log_softplus((drawn[j] - target_) / width_);
    const double top = logs.maxCoeff();
    const VectorXd share = (logs.array() - top).exp();
    const double sum = share.sum();
    if (weights) {
      // d log softplus(u) = slope(u) / softplus(u) du.
      for (Index j = 0; j < drawn.size(); ++j) {
        const double u = (drawn[j] - target_) / width_;
        (*weights)[j] = share[j] / sum * softplus_slope(u) / std::exp(logs[j]) / width_;
        if (!(logs[j] > -30.0)) (*weights)[j] = share[j] / sum / width_;
      }
    }
    return top + std::log(sum / static_cast<double>(drawn.size())) + std::log(width_);
  }
  double with_limits(double merit, double feasible, bool) const override { return merit + feasible; }
  double limit_slope(double) const override { return 1.0; }

 private:
  double target_, width_;
};

// The expected goal, where the limits hold with the required probability.
class GoalMeanScore final : public GoalScore {
 public:
  GoalMeanScore(const Goal& goal, const Round& round, double unit)
      : GoalScore(goal, round, kMeanDraws, 1), wanted_(std::log(round.feasible)), unit_(unit) {}
  double unit() const override { return unit_; }

 protected:
  double of_draws(const VectorXd& drawn, VectorXd* weights) const override {
    if (weights) weights->setConstant(drawn.size(), 1.0 / static_cast<double>(drawn.size()));
    return drawn.mean();
  }
  double with_limits(double merit, double feasible, bool final) const override {
    const double lacking = lacks(feasible) ? std::min(wanted_ - feasible, 1e6) : 0.0;
    if (!(lacking > kGoalAllowed)) return merit;
    return final ? -kGoalBarred * unit_ * (1.0 + lacking) : merit - kGoalPenalty * unit_ * lacking;
  }
  double limit_slope(double feasible) const override { return lacks(feasible) ? kGoalPenalty * unit_ : 0.0; }

 private:
  bool lacks(double feasible) const { return !std::isnan(wanted_) && feasible < wanted_; }
  double wanted_, unit_;
};

class GoalPolicy final : public Policy {
 public:
  GoalPolicy(Goal goal, bool uniform, double xi) : goal_(std::move(goal)), uniform_(uniform), xi_(xi) {}
  bool views_outcomes() const override { return true; }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    if (uniform_) return nullptr;
    const Known known(*this, round);
    return std::make_unique<GoalImprovementScore>(goal_, round, known.best + xi_, known.spread);
  }
  std::unique_ptr<Score> recommendation(const Round& round) override {
    return std::make_unique<GoalMeanScore>(goal_, round, Known(*this, round).spread);
  }

 private:
  // The largest expected goal at the evaluated points where the limits hold with probability 1/2 or more, or NaN. If
  // nothing was evaluated: of all points. `spread`: of the goal at the evaluated points.
  struct Known {
    Known(const GoalPolicy& policy, const Round& round) {
      const GoalDraws draws(policy.goal_, round, kImprovementDraws, 1);
      const PlayedPoints evaluated = round.evaluated();
      std::vector<double> goals;
      VectorXd mean(static_cast<Index>(round.outcomes.size())), sd(mean.size()), drawn, x;
      Points inputs;
      if (draws.uses_inputs() && round.candidates->tabled()) inputs = round.inputs();
      double within = 0.0;
      for (const Point* point : evaluated.points) {
        outcome_moments_at(round.outcomes, *point, mean, sd);
        if (point->kind != Point::Kind::tabled) x = point->x;
        else if (inputs.rows() > 0) x = row_of(inputs, round.candidates->find(*point));
        draws.values(mean.data(), sd.data(), x.data(), x.size(), drawn);
        const double expected = drawn.mean();
        goals.push_back(expected);
        within += (drawn.array() - expected).square().mean();
        if (log_all_within(round.outcomes, mean.data(), sd.data()) < std::log(0.5)) continue;
        if (std::isnan(best) || expected > best) best = expected;
      }
      if (goals.empty()) {
        spread = 1.0;
        Round first = round;
        first.feasible = kNaN;
        if (round.largest) best = round.largest(GoalMeanScore(policy.goal_, first, spread));
        return;
      }
      const Eigen::Map<const VectorXd> all(goals.data(), static_cast<Index>(goals.size()));
      const double between = (all.array() - all.mean()).square().mean();
      spread = std::sqrt(between + within / static_cast<double>(goals.size()));
      if (!(spread > 0.0) || !std::isfinite(spread)) spread = 1.0;
      spread = std::ldexp(1.0, std::ilogb(spread));  // rounding must not matter, see unit_of_spread()
    }
    double best = kNaN, spread = 1.0;
  };

  Goal goal_;
  bool uniform_;
  double xi_;
};

}  // namespace

std::unique_ptr<Policy> make_goal_policy(const Settings& policy, Goal goal) {
  const std::string kind = policy.text("kind");
  if (kind == "uniform") return std::make_unique<GoalPolicy>(std::move(goal), true, 0.0);
  if (kind != "ei" || policy.has("incumbent")) throw_invalid("the policy " + kind + " does not support a goal");
  return std::make_unique<GoalPolicy>(std::move(goal), false, policy.number("xi"));
}

}  // namespace gpb
