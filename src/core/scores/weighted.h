// Scores that are weighted on the log scale: by the cost of a query, by a prior over the optimum, or by the distance
// from pending queries.
#ifndef GPB_WEIGHTED_H
#define GPB_WEIGHTED_H

#include <algorithm>
#include <set>

#include "scores/improvement.h"

namespace gpb {

// A point followed by a step up and a step down along each of its first inputs, for central differences.
struct Steps {
  Steps(const VectorXd& x, Index inputs) : around(as_rows(x, 2 * inputs + 1)), step(inputs) {
    for (Index c = 0; c < inputs; ++c) {
      step[c] = 1e-6 * std::max(1.0, std::abs(x[c]));
      around(1 + 2 * c, c) += step[c];
      around(2 + 2 * c, c) -= step[c];
    }
  }
  // The change of a function's values along an input, and the length of the step.
  double rise(const VectorXd& values, Index c) const { return values[1 + 2 * c] - values[2 + 2 * c]; }
  double length(Index c) const { return 2.0 * step[c]; }

  Points around;
  VectorXd step;
};

// Improvement per cost: the difference of the logarithms.
class PerCostScore final : public Score {
 public:
  // `costs`: at the candidates. `cost`: the cost of other points, which depends on their first `actions` inputs.
  PerCostScore(std::unique_ptr<Score> inner, const VectorXd& costs, Settings::PointFunction cost,
               Index actions)
      : inner_(std::move(inner)),
        log_costs_(logarithms(costs)),
        cost_(std::move(cost)),
        actions_(actions) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    inner_->values(candidates, out);
    out -= log_costs_;
  }
  VectorXd at(const Points& X) const override {
    return inner_->at(X) - logarithms(cost_(X));
  }
  // The slope of the cost is computed by central differences.
  double at(const VectorXd& x, VectorXd* gradient) const override {
    const double value = inner_->at(x, gradient);
    if (!gradient) return value - std::log(cost_(as_rows(x))[0]);
    const Steps steps(x, actions_);
    const VectorXd log_cost = logarithms(cost_(steps.around));
    for (Index c = 0; c < actions_; ++c) (*gradient)[c] -= steps.rise(log_cost, c) / steps.length(c);
    return value - log_cost[0];
  }
  double unit() const override { return inner_->unit(); }
  bool logarithmic() const override { return true; }

 private:
  std::unique_ptr<Score> inner_;
  VectorXd log_costs_;
  Settings::PointFunction cost_;
  Index actions_;
};

// Expected improvement per cost; the cost function is evaluated in every round.
class PerCostPolicy final : public Policy {
 public:
  PerCostPolicy(std::unique_ptr<Policy> inner, Settings::PointFunction cost, Index actions)
      : inner_(std::move(inner)), cost_(std::move(cost)), actions_(actions) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    return std::make_unique<PerCostScore>(inner_->prepare(round, rng), cost_(round.candidates->X),
                                          cost_, actions_);
  }

 private:
  std::unique_ptr<Policy> inner_;
  Settings::PointFunction cost_;
  Index actions_;
};

// A score plus `weight` times the logarithm of a prior density relative to its largest value (piBO, Hvarfner et al.
// 2022).
class PriorWeightedScore final : public Score {
 public:
  // `inputs`: those of the candidates. `log_prior`: a function of points that uses their first `actions` inputs.
  PriorWeightedScore(std::unique_ptr<Score> inner, const Points& inputs, Settings::PointFunction log_prior,
                     Index actions, double weight)
      : inner_(std::move(inner)),
        of_candidates_(log_prior(inputs)),
        log_prior_(std::move(log_prior)),
        actions_(actions),
        weight_(weight) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    inner_->values(candidates, out);
    out += weight_ * of_candidates_;
  }
  VectorXd at(const Points& X) const override { return inner_->at(X) + weight_ * log_prior_(X); }
  // The slope of the prior is computed by central differences.
  double at(const VectorXd& x, VectorXd* gradient) const override {
    const double value = inner_->at(x, gradient);
    if (!gradient) return value + weight_ * log_prior_(as_rows(x))[0];
    const Steps steps(x, actions_);
    const VectorXd log_density = log_prior_(steps.around);
    for (Index c = 0; c < actions_; ++c) (*gradient)[c] += weight_ * steps.rise(log_density, c) / steps.length(c);
    return value + weight_ * log_density[0];
  }
  double unit() const override { return inner_->unit(); }
  bool only_candidates() const override { return inner_->only_candidates(); }
  bool logarithmic() const override { return inner_->logarithmic(); }

 private:
  std::unique_ptr<Score> inner_;
  VectorXd of_candidates_;
  Settings::PointFunction log_prior_;
  Index actions_;
  double weight_;
};

// The prior's weight decreases with the number n of earlier queries: strength / n for logarithmic scores, and prior sd
// * strength / n for others.
class PriorWeightedPolicy final : public Policy {
 public:
  PriorWeightedPolicy(std::unique_ptr<Policy> inner, Settings::PointFunction log_prior, Index actions,
                      double strength)
      : inner_(std::move(inner)), log_prior_(std::move(log_prior)), actions_(actions), strength_(strength) {}
  std::vector<double> auxiliaries() const override { return inner_->auxiliaries(); }
  double width(const Round& round) override { return inner_->width(round); }
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    auto score = inner_->prepare(round, rng);
    const double scale = score->logarithmic() ? 1.0 : round.prior_scale;
    return std::make_unique<PriorWeightedScore>(std::move(score), round.inputs(), log_prior_, actions_,
                                                scale * strength_ / std::max(1.0, round.number - 1.0));
  }
  std::unique_ptr<Score> recommendation(const Round& round) override {
    return inner_->recommendation(round);
  }
  double width_at(const Round& round, const Point& point, double mean, double sd) const override {
    return inner_->width_at(round, point, mean, sd);
  }

 private:
  std::unique_ptr<Policy> inner_;
  Settings::PointFunction log_prior_;
  Index actions_;
  double strength_;
};

// Points that must not be played again: inputs, a row each. A point counts as the same if each input differs by at most
// its point's `reach` times the input's `range`.
class KnownPoints {
 public:
  KnownPoints(Points inputs, VectorXd reach, VectorXd range)
      : inputs_(std::move(inputs)), reach_(std::move(reach)), range_(std::move(range)) {
    std::size_t most = 0;
    for (Index c = 0; c < inputs_.cols(); ++c) {
      const VectorXd column = inputs_.col(c);
      const auto distinct = std::set<double>(column.data(), column.data() + column.size()).size();
      if (distinct > most) {
        most = distinct;
        column_ = c;
      }
    }
    for (Index i = 0; i < inputs_.rows(); ++i) sorted_.emplace_back(inputs_(i, column_), i);
    std::sort(sorted_.begin(), sorted_.end());
  }
  bool empty() const { return sorted_.empty(); }
  bool bars(const VectorXd& x) const {
    if (empty()) return false;
    const double slack = reach_.maxCoeff() * range_[column_];
    auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::make_pair(x[column_] - slack, Index{0}));
    for (; at != sorted_.end() && at->first <= x[column_] + slack; ++at) {
      if (near(at->second, x)) return true;
    }
    return false;
  }
  std::vector<char> rows_barred(const Points& X) const {
    std::vector<char> out;
    for (Index i = 0; i < X.rows(); ++i) out.push_back(bars(row_of(X, i)));
    return out;
  }

 private:
  bool near(Index i, const VectorXd& x) const {
    for (Index c = 0; c < x.size(); ++c) {
      if (!(std::abs(x[c] - inputs_(i, c)) <= reach_[i] * range_[c])) return false;
    }
    return true;
  }

  Points inputs_;
  VectorXd reach_, range_;
  Index column_ = 0;  // that with the most values, by which the points are sorted
  std::vector<std::pair<double, Index>> sorted_;
};

// Another score, with -Inf for points that count as known. Slopes are those of the other score, so a local search that
// ends at a known point is discarded.
class FreshScore final : public Score {
 public:
  // `inputs`: those of the candidates.
  FreshScore(const Score& inner, KnownPoints known, const Points& inputs)
      : inner_(inner), known_(std::move(known)), bars_(known_.rows_barred(inputs)) {}
  bool bars(const VectorXd& x) const { return known_.bars(x); }
  void values(const Candidates& candidates, VectorXd& out) const override {
    inner_.values(candidates, out);
    rule_out(bars_, out);
  }
  VectorXd at(const Points& X) const override { return fresh(X, inner_.at(X)); }
  double at(const VectorXd& x, VectorXd* gradient) const override { return inner_.at(x, gradient); }
  bool can_sketch() const override { return inner_.can_sketch(); }
  double sketch(const VectorXd& x, VectorXd* gradient) const override { return inner_.sketch(x, gradient); }
  VectorXd sketches(const Points& X) const override { return fresh(X, inner_.sketches(X)); }
  double unit() const override { return inner_.unit(); }
  bool only_candidates() const override { return inner_.only_candidates(); }
  int phase(const Point& point) const override { return inner_.phase(point); }
  bool logarithmic() const override { return inner_.logarithmic(); }

 private:
  static void rule_out(const std::vector<char>& barred, VectorXd& values) {
    for (std::size_t i = 0; i < barred.size(); ++i) {
      if (barred[i]) values[static_cast<Index>(i)] = -kInf;
    }
  }
  VectorXd fresh(const Points& X, VectorXd values) const {
    rule_out(known_.rows_barred(X), values);
    return values;
  }

  const Score& inner_;
  KnownPoints known_;
  std::vector<char> bars_;
};

// Balls around pending queries in which the maximum probably does not lie (Gonzalez et al. 2016). Their radius follows
// from f at the centre j, the value `top` and a Lipschitz constant.
struct Penalties {
  Points centres;    // a row each, inputs of the actions
  VectorXd mean, sd;
  double lipschitz, top;
  Index size() const { return centres.rows(); }

  // The sum of log Phi((lipschitz |x - x_j| - top + mean_j) / sd_j), and its gradient in x.
  double at(const VectorXd& x, VectorXd* slope) const {
    double sum = 0.0;
    if (slope) slope->setZero(x.size());
    for (Index j = 0; j < size(); ++j) {
      const VectorXd away = x - row_of(centres, j);
      const double distance = away.norm();
      const double z = (lipschitz * distance - top + mean[j]) / sd[j];
      sum += normal_log_cdf(z);
      if (slope && distance > 0.0) {
        *slope += normal_hazard(z) * lipschitz / (sd[j] * distance) * away;
      }
    }
    return sum;
  }
};

// The largest slope of the posterior mean: among the candidates' gradients, or between arms. X: the candidates' inputs,
// those of the actions first.
inline double steepest_mean(const Round& round, const Points& X, Index actions) {
  constexpr Index kEnough = 400;
  const Index n = X.rows(), stride = (n + kEnough - 1) / kEnough;
  const double* mean = round.mean->moments(*round.candidates).mean;
  double largest = 0.0;
  for (Index i = 0; i < n; i += stride) {
    if (!round.candidates->complete) {
      VectorXd gradient;
      round.mean->mean_of(row_of(X, i), gradient);
      largest = std::max(largest, segment_of(gradient, 0, actions).norm());
      continue;
    }
    for (Index j = 0; j < i; j += stride) {
      double square = 0.0;
      for (Index c = 0; c < actions; ++c) square += (X(i, c) - X(j, c)) * (X(i, c) - X(j, c));
      const double distance = std::sqrt(square);
      if (distance > 0.0) largest = std::max(largest, std::abs(mean[i] - mean[j]) / distance);
    }
  }
  return largest < 1e-5 ? 10.0 : largest;  // the authors' value for a flat mean
}

// The penalised logarithm of a score, or of log(1 + e^score) if the score may be negative.
class PenalisedScore final : public Score {
 public:
  // `inputs`: those of the candidates.
  PenalisedScore(std::unique_ptr<Score> inner, Penalties penalties, Points inputs)
      : inner_(std::move(inner)), penalties_(std::move(penalties)), inputs_(std::move(inputs)) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    inner_->values(candidates, out);
    weigh(inputs_, out);
  }
  VectorXd at(const Points& X) const override {
    VectorXd out = inner_->at(X);
    weigh(X, out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    const double value = inner_->at(x, gradient);
    VectorXd slope;
    const double penalty =
        penalties_.at(segment_of(x, 0, penalties_.centres.cols()), gradient ? &slope : nullptr);
    if (gradient) {
      *gradient *= slope_of_logarithm(value);
      for (Index c = 0; c < slope.size(); ++c) (*gradient)[c] += slope[c];
    }
    return logarithm(value) + penalty;
  }
  double unit() const override { return 1.0; }
  bool only_candidates() const override { return inner_->only_candidates(); }
  int phase(const Point& point) const override { return inner_->phase(point); }
  bool logarithmic() const override { return true; }

 private:
  void weigh(const Points& X, VectorXd& out) const {
    const Index d = penalties_.centres.cols();
    for (Index i = 0; i < out.size(); ++i) {
      out[i] = logarithm(out[i]) + penalties_.at(row_of(X, i, 0, d), nullptr);
    }
  }
  double logarithm(double value) const {
    if (inner_->logarithmic()) return value;
    const double s = value / inner_->unit();
    return s < -30.0 ? s : std::log(s > 30.0 ? s : std::log1p(std::exp(s)));
  }
  double slope_of_logarithm(double value) const {
    if (inner_->logarithmic()) return 1.0;
    const double s = value / inner_->unit();
    if (s < -30.0) return 1.0 / inner_->unit();
    const double soft = s > 30.0 ? s : std::log1p(std::exp(s));
    return 1.0 / (soft * (1.0 + std::exp(-s)) * inner_->unit());
  }

  std::unique_ptr<Score> inner_;
  Penalties penalties_;
  Points inputs_;
};

}  // namespace gpb

#endif
