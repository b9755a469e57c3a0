// Noisy expected improvement (Letham et al. 2019): expected improvement over the largest value of f at the evaluated
// points, which the rewards leave uncertain. Its logarithm is computed as by Ament et al. (2023).
#ifndef GPB_NOISY_IMPROVEMENT_H
#define GPB_NOISY_IMPROVEMENT_H

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/log_sums.h"
#include "base/normal.h"
#include "base/ordering.h"
#include "base/split_mix.h"
#include "linalg/decompositions.h"
#include "linalg/floors.h"
#include "scores/candidate_score.h"
#include "scores/improvement.h"

namespace gpb {

// Standard normal draws, a column each, by a Latin hypercube sample: every row has the same values, of variance 1, in a
// separate order. The orders depend on `number` only.
inline MatrixXd latin_normals(Index rows, Index draws, Index number) {
  VectorXd values(draws);
  for (Index k = 0; k < draws; ++k) {
    values[k] = normal_quantile((static_cast<double>(k) + 0.5) / static_cast<double>(draws));
  }
  if (draws > 1) values /= std::sqrt(values.squaredNorm() / static_cast<double>(draws));
  std::uint64_t state = static_cast<std::uint64_t>(number);
  const auto below = [&state](Index n) {
    return static_cast<Index>(next_scrambled(state) % static_cast<std::uint64_t>(n));
  };
  MatrixXd out(rows, draws);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = draws - 1; k > 0; --k) std::swap(values[k], values[below(k + 1)]);
    set_row(out, i, values);
  }
  return out;
}

// Added to the covariance of drawn points, as a fraction of its largest entry: points that almost repeat make it
// singular. It is the variance of an error in the draws.
constexpr double kDrawFloor = 1e-10;

// L with L L' the posterior covariance of the points that are drawn.
inline MatrixXd factor_of_draws(const CrossCovariance& with, double prior_scale) {
  MatrixXd covariance = with.among_fixed();
  const double scale = prior_scale * prior_scale;
  const double floor = kDrawFloor * covariance.diagonal().maxCoeff() + kLeastPooledNoise * scale;
  add_to_diagonal(covariance, floor);
  return FlooredCholesky(covariance, floor).matrix();
}

inline bool is_among(const std::vector<const Point*>& points, const Point* point) {
  return std::any_of(points.begin(), points.end(), [&](const Point* other) {
    return point->kind == Point::Kind::tabled ? point->row == other->row : same(point->x, other->x);
  });
}

// Evaluated points, whose score is -Inf: they cannot exceed themselves. Without this, rounding errors would be their
// value.
class BarredPoints {
 public:
  BarredPoints(const PlayedPoints& evaluated, bool tabled) : tabled_(tabled) {
    for (const Point* point : evaluated.points) points_.push_back(*point);
  }
  void bar(const Candidates& candidates, VectorXd& out) const {
    if (!tabled_) return bar(candidates.X, out);
    for (const Point& point : points_) {
      const Index found = candidates.find(point);
      if (found >= 0) out[found] = -kInf;
    }
  }
  void bar(const Points& X, VectorXd& out) const {
    for (Index i = 0; i < X.rows(); ++i) {
      for (const Point& point : points_) {
        if (is_row(X, i, point.x)) out[i] = -kInf;
      }
    }
  }

 private:
  bool tabled_;
  std::vector<Point> points_;
};

// Points that may be the best: of the kMostRead with the largest means, the kMost with the largest expected improvement
// over the largest mean, as if values were independent. Repeated points count once. Let D be the points left out and b
// the point with the largest mean. The result is too large by at most the sum of E (f_j - f_b)+ over D.
class LikelyBest {
 public:
  static constexpr Index kMost = 64, kMostRead = 256;

  LikelyBest(const Posterior& known, const PlayedPoints& evaluated) {
    const VectorXd means = known.means_at(evaluated.points, evaluated.slots);
    const auto order = stable_order(means.size(), [&](Index i, Index j) { return means[i] > means[j]; });
    std::vector<double> sds, centres;
    std::vector<const Point*> read;
    for (const Index i : order) {
      if (static_cast<Index>(read.size()) == kMostRead) break;
      const Point* point = evaluated.points[static_cast<std::size_t>(i)];
      double mean, sd;
      known.at(*point, mean, sd);
      if (is_among(read, point)) continue;
      read.push_back(point);
      centres.push_back(mean);
      sds.push_back(sd);
    }
    choose(read, centres, sds);
  }

  std::vector<const Point*> points;
  VectorXd centre;  // posterior means

 private:
  void choose(const std::vector<const Point*>& read, const std::vector<double>& centres,
              const std::vector<double>& sds) {
    const auto best = static_cast<std::size_t>(std::max_element(centres.begin(), centres.end()) - centres.begin());
    std::vector<double> likely;
    for (std::size_t i = 0; i < read.size(); ++i) {
      likely.push_back(log_expected_improvement(centres[i], std::hypot(sds[i], sds[best]), centres[best]));
    }
    likely[best] = kInf;
    auto order = stable_order(static_cast<Index>(read.size()), [&](Index i, Index j) {
      return likely[static_cast<std::size_t>(i)] > likely[static_cast<std::size_t>(j)];
    });
    if (static_cast<Index>(order.size()) > kMost) order.resize(static_cast<std::size_t>(kMost));
    centre.resize(static_cast<Index>(order.size()));
    for (const Index i : order) {
      centre[static_cast<Index>(points.size())] = centres[static_cast<std::size_t>(i)];
      points.push_back(read[static_cast<std::size_t>(i)]);
    }
  }
};

// Let g = mean + L e be draws of f at some evaluated points Z, with L L' their posterior covariance. Given f(Z) = g,
// f(x) has the mean mean(x) + u'e and the variance sd(x)^2 - |u|^2, with u = L^-1 cov(f(Z), f(x)). So the draws share
// one sd, and their means are linear in e. By the law of total expectation, the average over g of the expected
// improvement is E (f(x) - max f(Z))+, whatever other rewards the posterior conditions on.
class NoisyImprovementScore final : public Score {
 public:
  // With several models, each has its share of the draws.
  static constexpr Index kDraws = 128, kFewestDraws = 16;

  NoisyImprovementScore(const Round& round, const PlayedPoints& evaluated, const ImprovementTarget& target)
      : known_(round.mean->model(0)),  // (a mixture of a single model has no such covariances)
        barred_(evaluated, round.candidates->tabled()),
        targets_(std::max(kFewestDraws, static_cast<Index>(std::ceil(round.model_weight * kDraws)))) {
    const LikelyBest likely(known_, evaluated);
    with_ = known_.covariances_with(likely.points);
    lower_ = factor_of_draws(*with_, round.prior_scale);
    draws_ = latin_normals(lower_.rows(), count(), static_cast<Index>(round.number));
    const MatrixXd drawn = product(lower_, draws_);
    for (Index k = 0; k < count(); ++k) targets_[k] = target.over((likely.centre + drawn.col(k)).maxCoeff());
  }

  void values(const Candidates& candidates, VectorXd& out) const override {
    const Moments now = known_.moments(candidates);
    out = of_all(Eigen::Map<const VectorXd>(now.mean, candidates.size()),
                 Eigen::Map<const VectorXd>(now.variance, candidates.size()), with_->of(candidates));
    barred_.bar(candidates, out);
  }
  VectorXd at(const Points& X) const override {
    VectorXd mean, variance;
    known_.predict(X, mean, variance);
    VectorXd out = of_all(mean, variance, with_->at(X));
    barred_.bar(X, out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    double mean, sd;
    VectorXd dmean, dsd;
    known_.local(x, mean, sd, dmean, dsd);
    MatrixXd slopes;
    VectorXd u = with_->at(x, slopes);
    solve_lower(lower_, u);
    solve_lower_columns(lower_, slopes);
    const double left = std::sqrt(std::max(0.0, sd * sd - u.squaredNorm()));
    const VectorXd moved = multiply_transposed(draws_, u);
    VectorXd logs(count()), by_mean(count()), by_sd(count());
    for (Index k = 0; k < count(); ++k) {
      ImprovementSlopes own;
      logs[k] = log_expected_improvement(mean + moved[k], left, targets_[k], own);
      by_mean[k] = own.by_mean;
      by_sd[k] = own.by_sd;
    }
    const double top = logs.maxCoeff();
    gradient->setZero(x.size());
    if (!(top > -kInf)) return top;
    const VectorXd share = (logs.array() - top).exp();
    const double sum = share.sum();
    by_mean = times(by_mean, share) / sum;
    // d left = (sd dsd - slopes'u) / left.
    const double by_left = left > 0.0 ? by_sd.dot(share) / (sum * left) : 0.0;
    *gradient = by_mean.sum() * dmean + by_left * sd * dsd;
    add_multiple_transposed(*gradient, 1.0, slopes, multiply(draws_, by_mean) - by_left * u);
    return top + std::log(sum / static_cast<double>(count()));
  }
  double unit() const override { return 1.0; }
  bool logarithmic() const override { return true; }

 private:
  static constexpr double kUnderflow = 1e-250;

  Index count() const { return targets_.size(); }
  VectorXd of_all(const VectorXd& mean, const VectorXd& variance, MatrixXd covariance) const {
    solve_lower_transposed_rows(lower_, covariance);
    const MatrixXd moved = product(covariance, draws_);
    VectorXd out(mean.size());
    for (Index i = 0; i < out.size(); ++i) {
      const double left = std::sqrt(std::max(0.0, variance[i] - covariance.row(i).squaredNorm()));
      double sum = 0.0;
      for (Index k = 0; k < count(); ++k) sum += expected_improvement(mean[i] + moved(i, k), left, targets_[k]);
      out[i] = sum > kUnderflow ? std::log(sum / static_cast<double>(count())) : log_of(mean[i], moved, i, left);
    }
    return out;
  }
  double log_of(double mean, const MatrixXd& moved, Index i, double left) const {
    VectorXd logs(count());
    for (Index k = 0; k < count(); ++k) logs[k] = log_expected_improvement(mean + moved(i, k), left, targets_[k]);
    return log_mean(logs);
  }

  const Posterior& known_;
  BarredPoints barred_;
  std::unique_ptr<CrossCovariance> with_;
  VectorXd targets_;
  MatrixXd lower_, draws_;
};

// Were all candidates evaluated?
inline bool exhausts(const PlayedPoints& evaluated, const Round& round) {
  const Candidates& all = *round.candidates;
  VectorXd open = VectorXd::Zero(all.size());
  rule_out_ineligible(round, open);
  if (all.tabled()) {
    for (const Point* point : evaluated.points) {
      const Index found = all.find(*point);
      if (found >= 0) open[found] = -kInf;
    }
    return !(open.maxCoeff() > -kInf);
  }
  for (Index i = 0; i < all.size(); ++i) {
    if (open[i] == -kInf) continue;
    const bool seen = std::any_of(evaluated.points.begin(), evaluated.points.end(),
                                  [&](const Point* point) { return is_row(all.X, i, point->x); });
    if (!seen) return false;
  }
  return true;
}

// Plain expected improvement if no point was evaluated, or all candidates were: improvement over all of them is 0.
class NoisyImprovementPolicy final : public Policy {
 public:
  explicit NoisyImprovementPolicy(ImprovementTarget target) : target_(target), plain_(std::move(target)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    const PlayedPoints evaluated = round.evaluated();
    if (evaluated.points.empty() || exhausts(evaluated, round)) return plain_.prepare(round, rng);
    Round known = round;
    known.variance = known.mean;  // pending points are among the evaluated ones
    return averaged_over_models(known, [&](const Round& one) -> std::unique_ptr<Score> {
      return std::make_unique<NoisyImprovementScore>(one, evaluated, target_);
    });
  }

 private:
  ImprovementTarget target_;
  ImprovementPolicy<ExpectedImprovementScore> plain_;
};

}  // namespace gpb

#endif
