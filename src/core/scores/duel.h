// Comparisons: policies that ask for pairs (dueling bandits). A pair is an opening query, which has no width, and the
// next query, which is compared with it. So the log shows which of the two a query is.
#ifndef GPB_DUEL_H
#define GPB_DUEL_H

#include <cmath>

#include "scores/candidate_score.h"
#include "scores/greedy.h"

namespace gpb {

// The bound mean + width * sd of f(x) - f(opponent).
class AdvantageScore final : public Score {
 public:
  AdvantageScore(const Posterior& mean, const Posterior& variance, const Candidates& candidates,
                 Point opponent, double width, double prior_scale)
      : mean_(mean), variance_(variance), opponent_(std::move(opponent)), width_(width),
        prior_scale_(prior_scale) {
    if (candidates.tabled() || candidates.X.rows() == 0) return;
    step_.resize(candidates.X.cols());
    for (Index c = 0; c < step_.size(); ++c) {
      step_[c] = 1e-6 * (candidates.X.col(c).maxCoeff() - candidates.X.col(c).minCoeff());
    }
  }
  void values(const Candidates& candidates, VectorXd& out) const override {
    VectorXd variance, ignored;
    mean_.differences(candidates, opponent_, out, variance);
    if (&mean_ != &variance_) variance_.differences(candidates, opponent_, ignored, variance);
    out += width_ * roots(std::move(variance));
  }
  VectorXd at(const Points& X) const override {
    Candidates some;
    some.X = X;
    VectorXd out;
    values(some, out);
    return out;
  }
  // By central differences, all evaluated in one call.
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    const Index d = x.size();
    Points X = as_rows(x, 2 * d + 1);
    for (Index c = 0; c < d; ++c) {
      X(1 + 2 * c, c) += step_[c];
      X(2 + 2 * c, c) -= step_[c];
    }
    const VectorXd value = at(X);
    *gradient = VectorXd::Zero(d);
    for (Index c = 0; c < d; ++c) {
      if (step_[c] > 0.0) (*gradient)[c] = (value[1 + 2 * c] - value[2 + 2 * c]) / (2.0 * step_[c]);
    }
    return value[0];
  }
  double unit() const override { return prior_scale_; }

 private:
  const Posterior& mean_;
  const Posterior& variance_;
  Point opponent_;
  double width_, prior_scale_;
  VectorXd step_;
};

class DuelPolicy : public Policy {
 public:
  explicit DuelPolicy(WidthPtr width) : width_(std::move(width)) {}
  bool pairs() const override { return true; }
  double norm_bound() const override { return width_->norm_bound(); }
  double width(const Round& round) override { return finite_width(*width_, round); }
  double width_at(const Round& round, const Point&, double, double) const override {
    return round.opponent ? round.width : kNaN;
  }

 private:
  WidthPtr width_;
};

// x_t = argmax mean + width * sd of f(x) - f(x_{t-1}), compared with x_{t-1}. This is the choice of POP-BO (Xu et al.
// 2024), with a Gaussian posterior.
class LastDuelPolicy final : public DuelPolicy {
 public:
  using DuelPolicy::DuelPolicy;
  bool opens_with_the_last() const override { return true; }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    // The very first pair is opened by the largest mean.
    if (!round.opponent) return std::make_unique<MeanScore>(round);
    return std::make_unique<AdvantageScore>(*round.mean, *round.variance, *round.candidates,
                                            *round.opponent, round.width, round.prior_scale);
  }
};

// MaxMinLCB (Pasztor et al. 2024). Among the arms that may be the best, the leader has the largest worst-case lower
// bound against another arm. The follower attains that worst case.
class GameDuelPolicy final : public DuelPolicy {
 public:
  using DuelPolicy::DuelPolicy;
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const Candidates& all = *round.candidates;
    const Index n = all.size();
    if (!all.complete || n > kMostArms) {
      throw_invalid("the rule \"game\" supports at most 2000 arms");
    }
    std::vector<Index> every(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < every.size(); ++k) every[k] = static_cast<Index>(k);
    const MatrixXd covariance = round.variance->covariance(all, every);
    const VectorXd mean = Eigen::Map<const VectorXd>(round.mean->moments(all).mean, n);
    const auto sd = [&](Index i, Index j) {
      return std::sqrt(std::max(0.0, covariance(i, i) + covariance(j, j) - 2.0 * covariance(i, j)));
    };
    const std::vector<char> plausible = plausible_arms(round, mean, sd);
    VectorXd score = VectorXd::Constant(n, -kInf);
    Index count = 0;
    for (const char one : plausible) count += one;
    const Index leader = round.opponent ? round.opponent->arm : -1;
    for (Index i = 0; i < n; ++i) {
      if (!plausible[static_cast<std::size_t>(i)]) continue;
      if (count < 2) {
        score[i] = 0.0;
      } else if (leader < 0) {
        double least = kInf;
        for (Index j = 0; j < n; ++j) {
          if (j == i || !plausible[static_cast<std::size_t>(j)]) continue;
          least = std::min(least, mean[i] - mean[j] - round.width * sd(i, j));
        }
        score[i] = least;
      } else if (i != leader) {
        score[i] = -(mean[leader] - mean[i] - round.width * sd(leader, i));
      }
    }
    return std::make_unique<CandidateScore>(round, std::move(score));
  }

 private:
  static constexpr Index kMostArms = 2000;

  // The arms to which no other arm is certainly superior. If there are fewer than two, only the arm with the largest
  // mean.
  template <class Sd>
  static std::vector<char> plausible_arms(const Round& round, const VectorXd& mean, Sd sd) {
    const Index n = mean.size();
    std::vector<char> out(static_cast<std::size_t>(n), 1);
    const auto allowed = [&](Index i) {
      return !round.eligible || (*round.eligible)[static_cast<std::size_t>(i)];
    };
    Index count = 0, best = -1;
    for (Index i = 0; i < n; ++i) {
      char& one = out[static_cast<std::size_t>(i)];
      one = allowed(i);
      for (Index j = 0; one && j < n; ++j) {
        if (j != i && allowed(j)) one = mean[i] - mean[j] + round.width * sd(i, j) >= 0.0;
      }
      count += one;
      if (allowed(i) && (best < 0 || mean[i] > mean[best] + kTie * round.prior_scale)) best = i;
    }
    if (count >= 2) return out;
    std::fill(out.begin(), out.end(), 0);
    out[static_cast<std::size_t>(best)] = 1;
    return out;
  }
};

}  // namespace gpb

#endif
