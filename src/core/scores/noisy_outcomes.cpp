// Functions of noisy_outcomes.h: scores averaged over joint draws of the outcomes at the evaluated points. Uses
// posteriors/.
#include "scores/noisy_outcomes.h"

#include "scores/noisy_improvement.h"
#include "scores/outcome_terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpb {

namespace {

constexpr std::size_t kMostDrawn = 64;  // points; of more, those that may improve most

// ---- draws of an outcome --------------------------------------------------------------------------

// Joint draws of an outcome at some points, and its moments elsewhere given each draw (see NoisyImprovementScore). If
// the posterior is an average of models, each has its share of the draws.
class OutcomeDraws {
 public:
  OutcomeDraws(const OutcomeView& outcome, const std::vector<const Point*>& points, Index draws, Index number) {
    const MatrixXd normal = latin_normals(static_cast<Index>(points.size()), draws, number);
    const std::vector<Index> model = models_of_draws(*outcome.mean, draws, number);
    values_.resize(normal.rows(), draws);
    for (Index m = 0; m < outcome.mean->models(); ++m) {
      Part part(outcome.mean->model(m));
      for (Index k = 0; k < draws; ++k) {
        if (model[static_cast<std::size_t>(k)] == m) part.draws.push_back(k);
      }
      if (part.draws.empty()) continue;
      part.draw(points, outcome.prior_scale, normal, values_);
      parts_.push_back(std::move(part));
    }
  }
  // At the points: a row each, and a column for each draw.
  const MatrixXd& values() const { return values_; }

  // Given each draw (a column): means and sds at candidates or other points.
  void given(const Candidates& candidates, MatrixXd& mean, MatrixXd& sd) const {
    for (const Part& part : parts_) {
      const Moments now = part.known->moments(candidates);
      part.given(Eigen::Map<const VectorXd>(now.mean, candidates.size()),
                 Eigen::Map<const VectorXd>(now.variance, candidates.size()), part.with->of(candidates), mean, sd);
    }
  }
  void given(const Points& X, MatrixXd& mean, MatrixXd& sd) const {
    VectorXd known_mean, variance;
    for (const Part& part : parts_) {
      part.known->predict(X, known_mean, variance);
      part.given(known_mean, variance, part.with->at(X), mean, sd);
    }
  }

  // The same at a point, with what its gradient needs.
  struct Local {
    double sd, left;
    VectorXd dmean, dsd, u;
    MatrixXd slopes;
  };
  std::vector<Local> at(const VectorXd& x, VectorXd& mean, VectorXd& sd) const {
    std::vector<Local> out;
    for (const Part& part : parts_) {
      Local here;
      double known_mean;
      part.known->local(x, known_mean, here.sd, here.dmean, here.dsd);
      here.u = part.with->at(x, here.slopes);
      solve_lower(part.lower, here.u);
      solve_lower_columns(part.lower, here.slopes);
      here.left = std::sqrt(std::max(0.0, here.sd * here.sd - here.u.squaredNorm()));
      const VectorXd moved = multiply_transposed(part.normal, here.u);
      for (std::size_t k = 0; k < part.draws.size(); ++k) {
        mean[part.draws[k]] = known_mean + moved[static_cast<Index>(k)];
        sd[part.draws[k]] = here.left;
      }
      out.push_back(std::move(here));
    }
    return out;
  }
  // Adds the gradient of a function with these slopes by the means and sds of the draws.
  void add_gradient(const std::vector<Local>& at, const VectorXd& by_mean, const VectorXd& by_sd,
                    VectorXd& gradient) const {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      const Local& here = at[p];
      VectorXd own(static_cast<Index>(part.draws.size()));
      double by_left = 0.0;
      for (std::size_t k = 0; k < part.draws.size(); ++k) {
        own[static_cast<Index>(k)] = by_mean[part.draws[k]];
        by_left += by_sd[part.draws[k]];
      }
      // d left = (sd dsd - slopes'u) / left.
      by_left = here.left > 0.0 ? by_left / here.left : 0.0;
      gradient += own.sum() * here.dmean + (by_left * here.sd) * here.dsd;
      add_multiple_transposed(gradient, 1.0, here.slopes, multiply(part.normal, own) - by_left * here.u);
    }
  }

 private:
  struct Part {
    explicit Part(const Posterior& model) : known(&model) {}
    void draw(const std::vector<const Point*>& points, double prior_scale, const MatrixXd& all, MatrixXd& values) {
      with = known->covariances_with(points);
      lower = factor_of_draws(*with, prior_scale);
      normal.resize(all.rows(), static_cast<Index>(draws.size()));
      for (std::size_t k = 0; k < draws.size(); ++k) normal.col(static_cast<Index>(k)) = all.col(draws[k]);
      const MatrixXd drawn = product(lower, normal);
      const VectorXd centre = known->means_at(points, std::vector<Index>(points.size(), -1));
      for (std::size_t k = 0; k < draws.size(); ++k) {
        values.col(draws[k]) = drawn.col(static_cast<Index>(k));
        values.col(draws[k]) += centre;
      }
    }
    void given(const VectorXd& known_mean, const VectorXd& variance, MatrixXd covariance, MatrixXd& mean,
               MatrixXd& sd) const {
      solve_lower_transposed_rows(lower, covariance);
      const MatrixXd moved = product(covariance, normal);
      for (Index i = 0; i < known_mean.size(); ++i) {
        const double left = std::sqrt(std::max(0.0, variance[i] - covariance.row(i).squaredNorm()));
        for (std::size_t k = 0; k < draws.size(); ++k) {
          mean(i, draws[k]) = known_mean[i] + moved(i, static_cast<Index>(k));
          sd(i, draws[k]) = left;
        }
      }
    }
    const Posterior* known;
    std::vector<Index> draws;
    std::unique_ptr<CrossCovariance> with;
    MatrixXd lower, normal;
  };

  // In a separate random order for each outcome.
  static std::vector<Index> models_of_draws(const Posterior& posterior, Index draws, Index number) {
    std::vector<Index> out;
    double until = posterior.model_weight(0);
    for (Index k = 0, model = 0; k < draws; ++k) {
      while (model + 1 < posterior.models() && (static_cast<double>(k) + 0.5) / static_cast<double>(draws) > until) {
        until += posterior.model_weight(++model);
      }
      out.push_back(model);
    }
    auto state = static_cast<std::uint64_t>(number) + 1;
    for (std::size_t k = out.size(); k > 1; --k) std::swap(out[k - 1], out[next_scrambled(state) % k]);
    return out;
  }

  MatrixXd values_;
  std::vector<Part> parts_;
};

// ---- scores -----------------------------------------------------------------------------------------

// The evaluated points to draw at. Repeated points count once. `merit`: the logarithm of a point's possible
// improvement, by the means and sds of the outcomes.
template <class Merit>
std::vector<const Point*> points_to_draw(const Round& round, const PlayedPoints& evaluated, Merit merit) {
  std::vector<const Point*> points;
  for (const Point* point : evaluated.points) {
    if (!is_among(points, point)) points.push_back(point);
  }
  if (points.size() <= kMostDrawn) return points;
  VectorXd mean(static_cast<Index>(round.outcomes.size())), sd(mean.size());
  std::vector<double> merits;
  for (const Point* point : points) {
    for (Index k = 0; k < mean.size(); ++k) {
      round.outcomes[static_cast<std::size_t>(k)].mean->at(*point, mean[k], sd[k]);
    }
    merits.push_back(merit(mean, sd));
  }
  std::vector<const Point*> out;
  const auto better = [&](Index i, Index j) {
    return merits[static_cast<std::size_t>(i)] > merits[static_cast<std::size_t>(j)];
  };
  for (const Index i : stable_order(static_cast<Index>(points.size()), better)) {
    if (out.size() < kMostDrawn) out.push_back(points[static_cast<std::size_t>(i)]);
  }
  return out;
}

// The logarithm of the mean of a function of the outcomes' moments given each draw.
class NoisyOutcomesScore : public Score {
 public:
  NoisyOutcomesScore(const Round& round, const PlayedPoints& evaluated, const std::vector<const Point*>& points,
                     Index draws)
      : outcomes_(round.outcomes), barred_(evaluated, round.candidates->tabled()), count_(draws) {
    const auto outcomes = static_cast<Index>(outcomes_.size());
    for (Index k = 0; k < outcomes; ++k) {
      const OutcomeView& outcome = outcomes_[static_cast<std::size_t>(k)];
      if (!outcome.role.objective && !outcome.role.limited()) continue;
      used_.push_back(static_cast<std::size_t>(k));
      draws_.emplace_back(outcome, points, draws, static_cast<Index>(round.number) * outcomes + k);
    }
  }

  void values(const Candidates& candidates, VectorXd& out) const override {
    out = of_all(candidates.size(), candidates);
    barred_.bar(candidates, out);
  }
  VectorXd at(const Points& X) const override {
    VectorXd out = of_all(X.rows(), X);
    barred_.bar(X, out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    std::vector<std::vector<OutcomeDraws::Local>> local;
    MatrixXd mean(count_, static_cast<Index>(draws_.size())), sd(mean.rows(), mean.cols());
    VectorXd one(count_), spread(count_);
    for (std::size_t j = 0; j < draws_.size(); ++j) {
      local.push_back(draws_[j].at(x, one, spread));
      mean.col(static_cast<Index>(j)) = one;
      sd.col(static_cast<Index>(j)) = spread;
    }
    VectorXd logs(count_);
    MatrixXd by_mean(mean.rows(), mean.cols()), by_sd(mean.rows(), mean.cols());
    VectorXd m = VectorXd::Zero(static_cast<Index>(outcomes_.size())), s = m;
    for (Index k = 0; k < count_; ++k) {
      std::vector<Slopes> slopes(outcomes_.size());
      for (std::size_t j = 0; j < used_.size(); ++j) {
        m[static_cast<Index>(used_[j])] = mean(k, static_cast<Index>(j));
        s[static_cast<Index>(used_[j])] = sd(k, static_cast<Index>(j));
      }
      logs[k] = log_value(k, m.data(), s.data(), slopes.data());
      for (std::size_t j = 0; j < used_.size(); ++j) {
        by_mean(k, static_cast<Index>(j)) = slopes[used_[j]].by_mean;
        by_sd(k, static_cast<Index>(j)) = slopes[used_[j]].by_sd;
      }
    }
    gradient->setZero(x.size());
    const double top = logs.maxCoeff();
    if (!(top > -kInf)) return top;
    VectorXd share = (logs.array() - top).exp();
    share /= share.sum();
    for (std::size_t j = 0; j < draws_.size(); ++j) {
      for (Index k = 0; k < count_; ++k) {
        one[k] = share[k] > 0.0 ? share[k] * by_mean(k, static_cast<Index>(j)) : 0.0;
        spread[k] = share[k] > 0.0 ? share[k] * by_sd(k, static_cast<Index>(j)) : 0.0;
      }
      draws_[j].add_gradient(local[j], one, spread, *gradient);
    }
    return log_mean(logs);
  }
  double unit() const override { return 1.0; }
  bool logarithmic() const override { return true; }

 protected:
  // Of a draw; adds to the slopes, which are not needed if null. Outcomes without a role have the moments 0.
  virtual double log_value(Index draw, const double* mean, const double* sd, Slopes* slopes) const = 0;

  Index count() const { return count_; }
  const std::vector<OutcomeView>& outcomes() const { return outcomes_; }
  // The drawn values of an outcome that has a role.
  const MatrixXd& drawn(Index outcome) const {
    const auto found = std::find(used_.begin(), used_.end(), static_cast<std::size_t>(outcome));
    return draws_[static_cast<std::size_t>(found - used_.begin())].values();
  }
  // The points at which a draw's limits hold.
  std::vector<Index> feasible_points(Index draw) const {
    std::vector<Index> out;
    for (Index i = 0; i < draws_[0].values().rows(); ++i) {
      bool holds = true;
      for (std::size_t j = 0; j < used_.size(); ++j) {
        const double value = draws_[j].values()(i, draw);
        holds = holds && outcomes_[used_[j]].role.lower <= value && value <= outcomes_[used_[j]].role.upper;
      }
      if (holds) out.push_back(i);
    }
    return out;
  }

 private:
  template <class Where>
  VectorXd of_all(Index n, const Where& where) const {
    std::vector<MatrixXd> mean(draws_.size(), MatrixXd(n, count_)), sd = mean;
    for (std::size_t j = 0; j < draws_.size(); ++j) draws_[j].given(where, mean[j], sd[j]);
    VectorXd out(n), logs(count_);
    VectorXd m = VectorXd::Zero(static_cast<Index>(outcomes_.size())), s = m;
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < count_; ++k) {
        for (std::size_t j = 0; j < used_.size(); ++j) {
          m[static_cast<Index>(used_[j])] = mean[j](i, k);
          s[static_cast<Index>(used_[j])] = sd[j](i, k);
        }
        logs[k] = log_value(k, m.data(), s.data(), nullptr);
      }
      out[i] = log_mean(logs);
    }
    return out;
  }

  std::vector<OutcomeView> outcomes_;
  BarredPoints barred_;
  Index count_;
  std::vector<std::size_t> used_;  // outcomes with a role
  std::vector<OutcomeDraws> draws_;
};

// In a draw without a feasible point the gain is the objective's prior sd times the probability that the limits hold.
class NoisyFeasibleImprovementScore final : public NoisyOutcomesScore {
 public:
  static constexpr Index kDraws = 128;
  NoisyFeasibleImprovementScore(const Round& round, const PlayedPoints& evaluated,
                                const std::vector<const Point*>& points, const ImprovementTarget& target)
      : NoisyOutcomesScore(round, evaluated, points, kDraws), objective_(objective_of(round)),
        log_scale_(std::log(round.outcomes[static_cast<std::size_t>(objective_)].prior_scale)), targets_(count()) {
    const MatrixXd& values = drawn(objective_);
    for (Index k = 0; k < count(); ++k) {
      double best = kNaN;
      for (const Index i : feasible_points(k)) {
        if (!(values(i, k) <= best)) best = values(i, k);
      }
      targets_[k] = target.over(best);
    }
  }

 protected:
  double log_value(Index draw, const double* mean, const double* sd, Slopes* slopes) const override {
    const double feasible = log_feasible(outcomes(), mean, sd, slopes), above = targets_[draw];
    if (std::isnan(above)) return feasible + log_scale_;
    Slopes* own = slopes ? slopes + objective_ : nullptr;
    return feasible + log_improvement_above(above, mean[objective_], sd[objective_], own);
  }

 private:
  Index objective_;
  double log_scale_;
  VectorXd targets_;  // NaN: no point is feasible
};

class NoisyHypervolumeScore final : public NoisyOutcomesScore {
 public:
  // (More objectives have more boxes.)
  static Index draws_for(std::size_t objectives) { return objectives == 2 ? 64 : objectives == 3 ? 32 : 16; }
  NoisyHypervolumeScore(const Round& round, const PlayedPoints& evaluated, const std::vector<const Point*>& points,
                        const Front& front)
      : NoisyOutcomesScore(round, evaluated, points, draws_for(front.objectives.size())) {
    for (Index k = 0; k < count(); ++k) {
      const std::vector<Index> rows = feasible_points(k);
      MatrixXd Y(static_cast<Index>(rows.size()), front.reference.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (Index j = 0; j < Y.cols(); ++j) {
          Y(static_cast<Index>(i), j) = drawn(front.objectives[static_cast<std::size_t>(j)])(rows[i], k);
        }
      }
      gains_.emplace_back(front.objectives, Y, front.reference);
    }
  }

 protected:
  double log_value(Index draw, const double* mean, const double* sd, Slopes* slopes) const override {
    return log_feasible(outcomes(), mean, sd, slopes) + gains_[static_cast<std::size_t>(draw)](mean, sd, slopes);
  }

 private:
  std::vector<LogHypervolumeGain> gains_;
};

// Pending points are among the evaluated ones, so that every posterior is that of the observed values.
Round without_stand_ins(Round round) {
  for (OutcomeView& outcome : round.outcomes) outcome.variance = outcome.mean;
  return round;
}

}  // namespace

std::unique_ptr<Score> make_noisy_improvement(const Round& round, const PlayedPoints& evaluated,
                                              const ImprovementTarget& target) {
  const Index objective = objective_of(round);
  const PointsMoments played = round.played();
  double best = kNaN;
  for (const Index row : likely_rows(round, played)) {
    if (!(played.mean(row, objective) <= best)) best = played.mean(row, objective);
  }
  const auto merit = [&](const VectorXd& mean, const VectorXd& sd) {
    const double feasible = log_feasible(round.outcomes, mean.data(), sd.data(), nullptr);
    if (std::isnan(best)) return feasible;
    if (mean[objective] == best) return kInf;  // (the best point itself is first)
    return feasible + log_improvement_above(best, mean[objective], sd[objective], nullptr);
  };
  return std::make_unique<NoisyFeasibleImprovementScore>(without_stand_ins(round), evaluated,
                                                         points_to_draw(round, evaluated, merit), target);
}

std::unique_ptr<Score> make_noisy_hypervolume(const Round& round, const PlayedPoints& evaluated,
                                              const VectorXd& reference) {
  const Front front(round, reference);
  const LogHypervolumeGain gain(front.objectives, front.points, front.reference);
  const auto merit = [&](const VectorXd& mean, const VectorXd& sd) {
    VectorXd y(front.reference.size());
    for (Index j = 0; j < y.size(); ++j) y[j] = mean[front.objectives[static_cast<std::size_t>(j)]];
    for (Index i = 0; i < front.points.rows(); ++i) {
      if (is_row(front.points, i, y)) return kInf;  // (the front itself is first)
    }
    return log_feasible(round.outcomes, mean.data(), sd.data(), nullptr) + gain(mean.data(), sd.data(), nullptr);
  };
  return std::make_unique<NoisyHypervolumeScore>(without_stand_ins(round), evaluated,
                                                 points_to_draw(round, evaluated, merit), front);
}

}  // namespace gpb
