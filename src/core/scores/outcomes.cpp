// Scores of several outcomes (limits, several objectives, draws, user functions) and their policies. Uses posteriors/
// and widths/.
#include "scores/outcomes.h"

#include "linalg/floors.h"
#include "scores/improvement.h"
#include "scores/noisy_improvement.h"
#include "scores/noisy_outcomes.h"
#include "scores/own_function.h"
#include "scores/pareto_front.h"
#include "scores/safe.h"
#include "widths/make_width.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

// ---- scores of all outcomes at a point ------------------------------------------------------------

constexpr double kAllowed = 1e-6;   // of a shortfall, in its unit: the remainder after a local search along a limit
constexpr double kBarred = 1e6;     // units of score by which a point beyond this is below all others
constexpr double kPenalty = 1e3;    // ... that a unit of shortfall costs in a local search
constexpr double kLeastLog = -1e10; // of a probability in a local search

// If the shortfall is within the tolerance, the merit decides; otherwise the shortfall.
double barred(double merit, double shortfall, double unit) {
  return shortfall > kAllowed ? -kBarred * unit * (1.0 + shortfall) : merit;
}

// Merit and shortfall of a point. Slopes are by the outcomes' values there (moments or draws).
struct Appraisal {
  double merit = 0.0, shortfall = 0.0;
};

// Moments of each outcome at the round's candidates.
std::vector<Moments> candidate_moments(const std::vector<OutcomeView>& outcomes, const Candidates& candidates) {
  std::vector<Moments> out;
  for (const OutcomeView& outcome : outcomes) out.push_back(outcome.model_state().moments(candidates));
  return out;
}

// Predictions of each outcome at the rows of X.
struct PredictedOutcomes {
  PredictedOutcomes(const std::vector<OutcomeView>& outcomes, const Points& X)
      : means(outcomes.size()), variances(outcomes.size()) {
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      outcomes[k].model_state().predict(X, means[k], variances[k]);
      all.push_back({means[k].data(), variances[k].data()});
    }
  }
  std::vector<VectorXd> means, variances;
  std::vector<Moments> all;
};

// Predictions of each outcome at a point, with gradients.
struct LocalOutcomes {
  LocalOutcomes(const std::vector<OutcomeView>& outcomes, const VectorXd& x)
      : mean(static_cast<Index>(outcomes.size())), sd(mean.size()), dmean(outcomes.size()), dsd(outcomes.size()) {
    for (std::size_t k = 0; k < outcomes.size(); ++k) {
      const auto row = static_cast<Index>(k);
      outcomes[k].model_state().local(x, mean[row], sd[row], dmean[k], dsd[k]);
    }
  }
  VectorXd mean, sd;
  std::vector<VectorXd> dmean, dsd;
};

// A score that is a function of means and sds of all outcomes at the point.
class OutcomeScore : public Score {
 public:
  explicit OutcomeScore(const Round& round)
      : outcomes_(round.outcomes), unit_(round.prior_scale) {}

  void values(const Candidates& candidates, VectorXd& out) const override {
    decide(moments(candidates), candidates.size(), out);
  }
  VectorXd at(const Points& X) const override {
    const PredictedOutcomes predicted(outcomes_, X);
    VectorXd out;
    decide(predicted.all, X.rows(), out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    const std::size_t count = outcomes_.size();
    const LocalOutcomes local(outcomes_, x);
    std::vector<Slopes> merit(count), shortfall(count);
    const Appraisal here = of(local.mean.data(), local.sd.data(), merit.data(), shortfall.data());
    const double price = here.shortfall > 0.0 ? kPenalty * unit() : 0.0;
    *gradient = VectorXd::Zero(x.size());
    for (std::size_t k = 0; k < count; ++k) {
      const double by_mean = merit[k].by_mean - price * shortfall[k].by_mean;
      const double by_sd = merit[k].by_sd - price * shortfall[k].by_sd;
      if (by_mean != 0.0) *gradient += by_mean * local.dmean[k];
      if (by_sd != 0.0) *gradient += by_sd * local.dsd[k];
    }
    return here.merit - price * here.shortfall;
  }
  double unit() const override { return unit_; }

 protected:
  // Slopes are zero on entry; a null pointer means that they are not needed.
  virtual Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes* shortfall) const = 0;

  std::vector<Moments> moments(const Candidates& candidates) const { return candidate_moments(outcomes_, candidates); }
  // The moments at one candidate.
  static void pick(const std::vector<Moments>& all, Index i, VectorXd& mean, VectorXd& sd) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      mean[static_cast<Index>(k)] = all[k].mean[i];
      sd[static_cast<Index>(k)] = std::sqrt(all[k].variance[i]);
    }
  }

  std::vector<OutcomeView> outcomes_;
  double unit_;

 private:
  void decide(const std::vector<Moments>& all, Index n, VectorXd& out) const {
    VectorXd mean(static_cast<Index>(all.size())), sd(mean.size());
    out.resize(n);
    for (Index i = 0; i < n; ++i) {
      pick(all, i, mean, sd);
      const Appraisal here = of(mean.data(), sd.data(), nullptr, nullptr);
      out[i] = barred(here.merit, here.shortfall, unit());
    }
  }
};

// An upper bound of P(limits hold) without transcendental functions: Phi(u) <= exp(-u^2 / 2) / 2 for
// u < 0, and e^y >= (1 + y / 16)^16.
double feasible_bound(const Role& role, double mean, double sd) {
  const double beyond = std::max(mean - role.upper, role.lower - mean);
  if (!(beyond > 0.0)) return 1.0;
  const double u = beyond / std::max(sd, 1e-150);
  double power = 1.0 + u * u / 32.0;
  for (int squaring = 0; squaring < 4; ++squaring) power *= power;
  return 0.5 / power;
}

// Slopes of a function of means and sds by central differences, for functions whose derivatives are too long.
template <class Function>
void add_differences(Function f, const double* mean, const double* sd, std::size_t count, Slopes* slopes) {
  std::vector<double> m(mean, mean + count), s(sd, sd + count);
  const auto slope = [&](double& at, double step) {
    const double before = at;
    at = before + step;
    const double above = f(m.data(), s.data());
    at = before - step;
    const double below = f(m.data(), s.data());
    at = before;
    const double out = (above - below) / (2.0 * step);
    return std::isfinite(out) ? out : 0.0;
  };
  for (std::size_t k = 0; k < count; ++k) {
    const double step = 1e-6 * std::max(sd[k], 1e-12);
    slopes[k].by_mean += slope(m[k], step);
    slopes[k].by_sd += slope(s[k], step);
  }
}

// log EI + sum of log P(limits hold); only the latter if no feasible point is known.
class FeasibleImprovementScore final : public OutcomeScore {
 public:
  FeasibleImprovementScore(const Round& round, double target)
      : OutcomeScore(round), objective_(objective_of(round)), target_(target) {}
  double unit() const override { return 1.0; }
  bool logarithmic() const override { return true; }
  // Bounds rule out most arms.
  Index best(const Candidates& candidates) const override {
    const std::vector<Moments> all = moments(candidates);
    const Index n = candidates.size();
    VectorXd score(n), mean(static_cast<Index>(all.size())), sd(mean.size());
    for (Index i = 0; i < n; ++i) {
      pick(all, i, mean, sd);
      score[i] = std::isnan(target_) ? 1.0 : improvement_bound(mean[objective_], sd[objective_], target_);
      for (std::size_t k = 0; k < all.size(); ++k) {
        const auto row = static_cast<Index>(k);
        if (outcomes_[k].role.limited()) score[i] *= feasible_bound(outcomes_[k].role, mean[row], sd[row]);
      }
    }
    Index likely;
    score.maxCoeff(&likely);
    const auto exact = [&](Index i) {
      pick(all, i, mean, sd);
      return std::exp(of(mean.data(), sd.data(), nullptr, nullptr).merit);
    };
    double largest = exact(likely);
    for (Index i = 0; i < n; ++i) {
      if (score[i] < largest * (1.0 - 1e-6)) {
        score[i] = -kInf;
        continue;
      }
      score[i] = exact(i);
      largest = std::max(largest, score[i]);
    }
    // If every value underflows, the logarithms decide.
    return largest > 1e-290 ? first_best(score.data(), n, kTie * largest) : OutcomeScore::best(candidates);
  }

 protected:
  Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes*) const override {
    double value = log_feasible(outcomes_, mean, sd, merit);
    if (std::isnan(target_)) return {value, 0.0};
    value += log_improvement_above(target_, mean[objective_], sd[objective_], merit ? merit + objective_ : nullptr);
    return {value, 0.0};
  }

 private:
  Index objective_;
  double target_;  // NaN: none
};

// The largest mean of the objective among points at which the limits hold with the required probability. If there is no
// such point, the point with the largest probability.
class FeasibleMeanScore final : public OutcomeScore {
 public:
  explicit FeasibleMeanScore(const Round& round)
      : OutcomeScore(round), objective_(objective_of(round)), wanted_(std::log(round.feasible)) {}
  bool limited() const override { return true; }
  // The logarithm of a small probability p decreases quadratically, so the local search uses (1 - 2 log p)^(1/2).
  LimitedValue within_limit(const VectorXd& x) const override {
    const LocalOutcomes local(outcomes_, x);
    std::vector<Slopes> slopes(outcomes_.size());
    const double log_probability =
        std::max(log_feasible(outcomes_, local.mean.data(), local.sd.data(), slopes.data()), kLeastLog);
    const double size = std::sqrt(1.0 - 2.0 * log_probability);
    LimitedValue out{local.mean[objective_], size - std::sqrt(1.0 - 2.0 * wanted_),
                     local.dmean[static_cast<std::size_t>(objective_)], VectorXd::Zero(x.size())};
    for (std::size_t k = 0; k < slopes.size(); ++k) {
      if (!outcomes_[k].role.limited()) continue;
      out.by_excess += (-slopes[k].by_mean / size) * local.dmean[k] + (-slopes[k].by_sd / size) * local.dsd[k];
    }
    return out;
  }

 protected:
  Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes* shortfall) const override {
    if (merit) merit[objective_].by_mean += 1.0;
    const double log_probability = log_feasible(outcomes_, mean, sd, nullptr);
    const double lacking = std::max(0.0, wanted_ - log_probability);
    if (shortfall && lacking > 0.0) {
      log_feasible(outcomes_, mean, sd, shortfall);
      for (std::size_t k = 0; k < outcomes_.size(); ++k) {
        shortfall[k] = {-shortfall[k].by_mean, -shortfall[k].by_sd};
      }
    }
    return {mean[objective_], std::min(lacking, 1e6)};
  }

 private:
  Index objective_;
  double wanted_;
};

// How far the interval from `lowest` to `largest` lies beyond the outcome's limits, in prior standard deviations.
double excess(const OutcomeView& outcome, double lowest, double largest) {
  const double beyond = std::max(lowest - outcome.role.upper, outcome.role.lower - largest);
  return std::max(0.0, beyond) / outcome.prior_scale;
}

// CONFIG (Xu et al. 2023): the largest upper bound of the objective among points at which every limit may hold by the
// bounds of its outcome. If there is no such point, the smallest sum of the shortfalls. EPBO (Lu and Paulson 2022):
// with a finite penalty per unit of an outcome, shortfalls are weighted instead.
class OptimisticScore final : public OutcomeScore {
 public:
  OptimisticScore(const Round& round, double penalty)
      : OutcomeScore(round), objective_(objective_of(round)), penalty_(penalty) {}

 protected:
  Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes* shortfall) const override {
    const double width = outcomes_[static_cast<std::size_t>(objective_)].width;
    Appraisal out;
    out.merit = mean[objective_] + width * sd[objective_];
    if (merit) merit[objective_] = {1.0, width};
    for (std::size_t k = 0; k < outcomes_.size(); ++k) {
      const OutcomeView& outcome = outcomes_[k];
      if (!outcome.role.limited()) continue;
      const double reach = outcome.width * sd[k];
      const double missing = excess(outcome, mean[k] - reach, mean[k] + reach);
      if (missing == 0.0) continue;
      const double side = mean[k] - reach > outcome.role.upper ? 1.0 : -1.0;
      if (std::isinf(penalty_)) {
        out.shortfall += missing;
        if (shortfall) shortfall[k] = {side / outcome.prior_scale, -outcome.width / outcome.prior_scale};
      } else {
        out.merit -= penalty_ * missing * outcome.prior_scale;
        if (merit) merit[k] = {-penalty_ * side, penalty_ * outcome.width};
      }
    }
    return out;
  }

 private:
  Index objective_;
  double penalty_;
};

// The score of CKB, EPBO, RAHBO, EI per learned cost and UCB, see make_sum_of_bounds().
class SumOfBounds final : public OutcomeScore {
 public:
  SumOfBounds(const Round& round, std::vector<BoundTerm> terms, double target)
      : OutcomeScore(round), terms_(std::move(terms)), target_(target) {
    if (terms_.size() != outcomes_.size()) throw_invalid("a sum needs a term for each outcome");
  }
  double unit() const override { return improves() ? 1.0 : OutcomeScore::unit(); }
  bool logarithmic() const override { return improves(); }

 protected:
  Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes* shortfall) const override {
    Appraisal out;
    std::size_t k = 0;
    if (improves()) out.merit = log_improvement_above(target_, mean[k], sd[k], merit), ++k;
    for (; k < terms_.size(); ++k) {
      const BoundTerm& term = terms_[k];
      const bool barring = std::isinf(term.weight);
      const double bound = mean[k] + term.width * sd[k];
      if ((term.floored || barring) && !(bound > 0.0)) continue;
      const double weight = barring ? 1.0 : term.weight;
      (barring ? out.shortfall : out.merit) += weight * bound;
      if (Slopes* slopes = barring ? shortfall : merit) slopes[k] = {weight, weight * term.width};
    }
    return out;
  }

 private:
  bool improves() const { return !std::isnan(target_); }

  std::vector<BoundTerm> terms_;
  double target_;
};

// ---- draws of all outcomes ------------------------------------------------------------------------

// A score that is a function of one draw of every outcome.
class DrawnOutcomesScore : public Score {
 public:
  DrawnOutcomesScore(const Round& round, Rng& rng) : outcomes_(round.outcomes), unit_(round.prior_scale) {
    for (const OutcomeView& outcome : outcomes_) {
      draws_.push_back(outcome.variance->sample(*outcome.mean, *round.candidates, outcome.width, rng));
    }
  }
  void values(const Candidates& candidates, VectorXd& out) const override {
    MatrixXd drawn(static_cast<Index>(draws_.size()), candidates.size());
    VectorXd one;
    for (std::size_t k = 0; k < draws_.size(); ++k) {
      draws_[k]->values(candidates, one);
      set_row(drawn, static_cast<Index>(k), one);
    }
    decide(drawn, out);
  }
  VectorXd at(const Points& X) const override {
    MatrixXd drawn(static_cast<Index>(draws_.size()), X.rows());
    for (std::size_t k = 0; k < draws_.size(); ++k) set_row(drawn, static_cast<Index>(k), draws_[k]->at(X));
    VectorXd out;
    decide(drawn, out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    const std::size_t count = draws_.size();
    VectorXd drawn(static_cast<Index>(count)), merit(static_cast<Index>(count)), shortfall(static_cast<Index>(count));
    std::vector<VectorXd> slope(count);
    for (std::size_t k = 0; k < count; ++k) drawn[static_cast<Index>(k)] = draws_[k]->at(x, &slope[k]);
    merit.setZero();
    shortfall.setZero();
    const Appraisal here = of(drawn.data(), merit.data(), shortfall.data());
    const double price = here.shortfall > 0.0 ? kPenalty * unit() : 0.0;
    *gradient = VectorXd::Zero(x.size());
    for (std::size_t k = 0; k < count; ++k) {
      *gradient += (merit[static_cast<Index>(k)] - price * shortfall[static_cast<Index>(k)]) * slope[k];
    }
    return here.merit - price * here.shortfall;
  }
  double unit() const override { return unit_; }

 protected:
  // `merit`, `shortfall`: slopes by each draw. They are zero on entry, and null if they are not needed.
  virtual Appraisal of(const double* drawn, double* merit, double* shortfall) const = 0;
  // Adds the shortfall of the limits to the appraisal.
  void add_shortfall(const double* drawn, double* slopes, Appraisal& out) const {
    for (std::size_t k = 0; k < outcomes_.size(); ++k) {
      const double missing = excess(outcomes_[k], drawn[k], drawn[k]);
      out.shortfall += missing;
      if (!slopes || missing == 0.0) continue;
      slopes[k] += (drawn[k] > outcomes_[k].role.upper ? 1.0 : -1.0) / outcomes_[k].prior_scale;
    }
  }

  std::vector<OutcomeView> outcomes_;

 private:
  void decide(const MatrixXd& drawn, VectorXd& out) const {
    out.resize(drawn.cols());
    for (Index i = 0; i < out.size(); ++i) {
      const Appraisal here = of(drawn.col(i).data(), nullptr, nullptr);
      out[i] = barred(here.merit, here.shortfall, unit_);
    }
  }

  std::vector<std::unique_ptr<SampledFunction>> draws_;
  double unit_;
};

// Thompson sampling: the maximum of a draw among points where its limits hold; otherwise the smallest shortfall.
class FeasibleDrawScore final : public DrawnOutcomesScore {
 public:
  FeasibleDrawScore(const Round& round, Rng& rng)
      : DrawnOutcomesScore(round, rng), objective_(objective_of(round)) {}

 protected:
  Appraisal of(const double* drawn, double* merit, double* shortfall) const override {
    Appraisal out;
    out.merit = drawn[objective_];
    if (merit) merit[objective_] = 1.0;
    add_shortfall(drawn, shortfall, out);
    return out;
  }

 private:
  Index objective_;
};

}  // namespace

namespace {

// ---- several objectives -----------------------------------------------------------------------------

// log EHVI + sum of log P(limits hold).
class ExpectedHypervolumeScore final : public OutcomeScore {
 public:
  ExpectedHypervolumeScore(const Round& round, const Front& front)
      : OutcomeScore(round), gain_(front.objectives, front.points, front.reference) {}
  double unit() const override { return 1.0; }
  bool logarithmic() const override { return true; }

 protected:
  Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes*) const override {
    return {log_feasible(outcomes_, mean, sd, merit) + gain_(mean, sd, merit), 0.0};
  }

 private:
  LogHypervolumeGain gain_;
};

// Random directions in which objectives are weighted: absolute values of a normal vector, scaled to length 1. No
// component is below kLeastWeight.
constexpr double kLeastWeight = 0.05;

VectorXd direction(Index objectives, Rng& rng) {
  VectorXd out(objectives);
  do {
    for (Index k = 0; k < objectives; ++k) out[k] = std::abs(rng.normal());
    out.normalize();
  } while (out.minCoeff() < kLeastWeight);
  return out;
}

// The value of a point of the objectives: its increase of the front's hypervolume or, without an increase, minus the
// distance to one. Alternatively the average gain in some random directions.
class PointValue {
 public:
  // `draws`: number of random directions; 0 for the hypervolume itself.
  PointValue(const Round& round, Front front, double draws, Rng& rng) : front_(std::move(front)) {
    for (const Index k : front_.objectives) {
      scale_.push_back(round.outcomes[static_cast<std::size_t>(k)].prior_scale);
    }
    for (double k = 0.0; k < draws; ++k) {
      directions_.push_back(direction(static_cast<Index>(scale_.size()), rng));
      double best = -kInf;
      for (Index i = 0; i < front_.points.rows(); ++i) {
        best = std::max(best, length(directions_.back(), row_of(front_.points, i)));
      }
      lengths_.push_back(best);
    }
  }
  // From the outcomes' values at a point.
  double operator()(const double* value) const {
    VectorXd y(static_cast<Index>(scale_.size()));
    for (Index k = 0; k < y.size(); ++k) y[k] = value[front_.objectives[static_cast<std::size_t>(k)]];
    if (directions_.empty()) {
      const double gain = hypervolume_gain(front_.points, front_.reference, y);
      return gain > 0.0 ? gain : -missing(y);
    }
    if (directions_.size() == 1) return length(directions_[0], y);
    double sum = 0.0;
    for (std::size_t k = 0; k < directions_.size(); ++k) {
      const double reach = std::max(0.0, length(directions_[k], y));
      const double best = std::max(0.0, lengths_[k]);
      sum += std::max(0.0, power(reach) - power(best));
    }
    return sum > 0.0 ? sum / static_cast<double>(directions_.size()) : -missing(y);
  }
  // The unit of differences.
  double unit() const {
    double out = 1.0;
    if (!directions_.empty()) return scale_[0];
    for (const double scale : scale_) out *= scale;
    return out;
  }

 private:
  // The distance along a direction from the reference to the limit that the point dominates.
  double length(const VectorXd& weights, const VectorXd& y) const {
    return over(y - front_.reference, weights).minCoeff();
  }
  double power(double length) const { return std::pow(length, static_cast<double>(scale_.size())); }
  // The amount, in prior standard deviations, that must be added until the point is above the reference and not
  // dominated by the front. It is returned in the unit of the score.
  double missing(const VectorXd& y) const {
    const VectorXd scale = Eigen::Map<const VectorXd>(scale_.data(), y.size());
    double out = over(front_.reference - y, scale).maxCoeff();
    for (Index i = 0; i < front_.points.rows(); ++i) {
      out = std::max(out, over(row_of(front_.points, i) - y, scale).minCoeff());
    }
    return std::max(0.0, out) * unit();
  }

  Front front_;
  std::vector<double> scale_;
  std::vector<VectorXd> directions_;
  std::vector<double> lengths_;
};

// The value of the vector of upper bounds, if every limit may hold.
class UpperHypervolumeScore final : public OutcomeScore {
 public:
  UpperHypervolumeScore(const Round& round, PointValue value)
      : OutcomeScore(round), value_(std::move(value)) {
    unit_ = value_.unit();
  }

 protected:
  Appraisal of(const double* mean, const double* sd, Slopes* merit, Slopes* shortfall) const override {
    Appraisal out;
    const auto upper = [this](const double* m, const double* s) {
      std::vector<double> bound(outcomes_.size());
      for (std::size_t k = 0; k < bound.size(); ++k) bound[k] = m[k] + outcomes_[k].width * s[k];
      return value_(bound.data());
    };
    out.merit = upper(mean, sd);
    if (merit) add_differences(upper, mean, sd, outcomes_.size(), merit);
    for (std::size_t k = 0; k < outcomes_.size(); ++k) {
      const OutcomeView& outcome = outcomes_[k];
      const double reach = outcome.width * sd[k];
      const double missing = excess(outcome, mean[k] - reach, mean[k] + reach);
      out.shortfall += missing;
      if (!shortfall || missing == 0.0) continue;
      const double side = mean[k] - reach > outcome.role.upper ? 1.0 : -1.0;
      shortfall[k] = {side / outcome.prior_scale, -outcome.width / outcome.prior_scale};
    }
    return out;
  }

 private:
  PointValue value_;
};

// The value of one draw of all objectives.
class DrawnHypervolumeScore final : public DrawnOutcomesScore {
 public:
  DrawnHypervolumeScore(const Round& round, Rng& rng, PointValue value)
      : DrawnOutcomesScore(round, rng), value_(std::move(value)) {}
  double unit() const override { return value_.unit(); }

 protected:
  Appraisal of(const double* drawn, double* merit, double* shortfall) const override {
    Appraisal out;
    out.merit = value_(drawn);
    add_shortfall(drawn, shortfall, out);
    if (!merit) return out;
    std::vector<double> at(drawn, drawn + outcomes_.size());
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double step = 1e-7 * outcomes_[k].prior_scale;
      at[k] = drawn[k] + step;
      const double above = value_(at.data());
      at[k] = drawn[k] - step;
      merit[k] = (above - value_(at.data())) / (2.0 * step);
      at[k] = drawn[k];
    }
    return out;
  }

 private:
  PointValue value_;
};

// ---- the user's function --------------------------------------------------------------------------

// The function receives means and sds as vectors, one outcome after the other, and on request the points.
class OwnOutcomesScore final : public Score {
 public:
  OwnOutcomesScore(const Round& round, Settings::LocatedAcquisition f, bool located)
      : outcomes_(round.outcomes), f_(std::move(f)), located_(located), round_(round.number) {
    if (located_) inputs_ = round.inputs();
  }
  double unit() const override { return unit_; }
  Index best(const Candidates& candidates) const override { return best_untied(*this, candidates); }
  void values(const Candidates& candidates, VectorXd& out) const override {
    out = of_all(candidate_moments(outcomes_, candidates), candidates.size(), inputs_);
    unit_ = unit_of_spread(out);
  }
  VectorXd at(const Points& X) const override { return of_all(PredictedOutcomes(outcomes_, X).all, X.rows(), X); }
  // Derivatives by central differences in means, sds (one-sided at 0) and, if the function receives points, in inputs.
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    const LocalOutcomes local(outcomes_, x);
    const Index count = local.mean.size(), d = located_ ? x.size() : 0, first = 1 + 4 * count;
    const Index rows = first + 2 * d;
    MatrixXd mean = as_rows(local.mean, rows), sd = as_rows(local.sd, rows);
    Points X = as_rows(x, rows);
    VectorXd step(count), below(count), move(d);
    for (Index k = 0; k < count; ++k) {
      step[k] = 1e-5 * outcomes_[static_cast<std::size_t>(k)].prior_scale;
      below[k] = std::min(step[k], local.sd[k]);
      mean(1 + 4 * k, k) -= step[k];
      mean(2 + 4 * k, k) += step[k];
      sd(3 + 4 * k, k) -= below[k];
      sd(4 + 4 * k, k) += step[k];
    }
    for (Index c = 0; c < d; ++c) {
      move[c] = 1e-6 * std::max(1.0, std::abs(x[c]));
      X(first + 2 * c, c) -= move[c];
      X(first + 2 * c + 1, c) += move[c];
    }
    const VectorXd score = ask(mean, sd, X);
    *gradient = VectorXd::Zero(x.size());
    for (Index k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(k);
      *gradient += (score[2 + 4 * k] - score[1 + 4 * k]) / (2.0 * step[k]) * local.dmean[at] +
                   (score[4 + 4 * k] - score[3 + 4 * k]) / (below[k] + step[k]) * local.dsd[at];
    }
    for (Index c = 0; c < d; ++c) {
      (*gradient)[c] += (score[first + 2 * c + 1] - score[first + 2 * c]) / (2.0 * move[c]);
    }
    return score[0];
  }

 private:
  VectorXd of_all(const std::vector<Moments>& all, Index n, const Points& X) const {
    MatrixXd mean(n, static_cast<Index>(all.size())), sd(n, mean.cols());
    for (Index k = 0; k < mean.cols(); ++k) {
      const Moments& one = all[static_cast<std::size_t>(k)];
      mean.col(k) = Eigen::Map<const VectorXd>(one.mean, n);
      sd.col(k) = roots(Eigen::Map<const VectorXd>(one.variance, n));
    }
    return ask(mean, sd, X);
  }
  VectorXd ask(const MatrixXd& mean, const MatrixXd& sd, const Points& X) const {
    const Eigen::Map<const VectorXd> means(mean.data(), mean.size()), sds(sd.data(), sd.size());
    return checked_scores(f_(means, sds, round_, located_ ? X : Points()), mean.rows());
  }

  std::vector<OutcomeView> outcomes_;
  Settings::LocatedAcquisition f_;
  bool located_;
  double round_;
  Points inputs_;
  mutable double unit_ = 1.0;
};

// ---- policies -----------------------------------------------------------------------------------

class OutcomesPolicy : public Policy {
 public:
  explicit OutcomesPolicy(WidthPtr width) : width_(std::move(width)) {}
  double width(const Round& round) override { return width_ ? finite_width(*width_, round) : kNaN; }
  std::unique_ptr<Score> recommendation(const Round& round) override {
    return std::make_unique<FeasibleMeanScore>(round);
  }

 private:
  WidthPtr width_;
};

class FeasibleImprovementPolicy final : public OutcomesPolicy {
 public:
  explicit FeasibleImprovementPolicy(ImprovementTarget target) : OutcomesPolicy(nullptr), target_(std::move(target)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const PointsMoments played = round.played();
    const Index objective = objective_of(round);
    double incumbent = kNaN;
    for (const Index row : likely_rows(round, played)) {
      const double mean = played.mean(row, objective);
      if (std::isnan(incumbent) || mean > incumbent) incumbent = mean;
    }
    return std::make_unique<FeasibleImprovementScore>(round, target_.over(incumbent));
  }

 private:
  ImprovementTarget target_;
};

class OptimisticPolicy final : public OutcomesPolicy {
 public:
  using Penalty = std::function<double(double)>;  // as a function of the round
  explicit OptimisticPolicy(WidthPtr width, Penalty penalty = nullptr)
      : OutcomesPolicy(std::move(width)), penalty_(std::move(penalty)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<OptimisticScore>(round, penalty_ ? penalty_(round.number) : kInf);
  }

 private:
  Penalty penalty_;
};

class FeasibleDrawPolicy final : public OutcomesPolicy {
 public:
  using OutcomesPolicy::OutcomesPolicy;
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    return std::make_unique<FeasibleDrawScore>(round, rng);
  }
};

class ExpectedHypervolumePolicy final : public OutcomesPolicy {
 public:
  explicit ExpectedHypervolumePolicy(VectorXd reference)
      : OutcomesPolicy(nullptr), reference_(std::move(reference)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<ExpectedHypervolumeScore>(round, Front(round, reference_));
  }

 private:
  VectorXd reference_;
};

// A score over joint draws, or that of the means if no point was evaluated, or all candidates were.
template <class Make>
class NoisyPolicy final : public OutcomesPolicy {
 public:
  NoisyPolicy(Make make, std::unique_ptr<Policy> plain)
      : OutcomesPolicy(nullptr), make_(std::move(make)), plain_(std::move(plain)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    const PlayedPoints evaluated = round.evaluated();
    if (evaluated.points.empty() || exhausts(evaluated, round)) return plain_->prepare(round, rng);
    return make_(round, evaluated);
  }

 private:
  Make make_;
  std::unique_ptr<Policy> plain_;
};

template <class Make>
std::unique_ptr<Policy> make_noisy(Make make, std::unique_ptr<Policy> plain) {
  return std::make_unique<NoisyPolicy<Make>>(std::move(make), std::move(plain));
}

class HypervolumePolicy final : public OutcomesPolicy {
 public:
  HypervolumePolicy(WidthPtr width, VectorXd reference, double draws, bool sampled)
      : OutcomesPolicy(std::move(width)), reference_(std::move(reference)), draws_(draws), sampled_(sampled) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    PointValue value(round, Front(round, reference_), draws_, rng);
    if (sampled_) return std::make_unique<DrawnHypervolumeScore>(round, rng, std::move(value));
    return std::make_unique<UpperHypervolumeScore>(round, std::move(value));
  }

 private:
  VectorXd reference_;
  double draws_;
  bool sampled_;
};

class OwnOutcomesPolicy final : public OutcomesPolicy {
 public:
  OwnOutcomesPolicy(Settings::LocatedAcquisition f, bool located)
      : OutcomesPolicy(nullptr), f_(std::move(f)), located_(located) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<OwnOutcomesScore>(round, f_, located_);
  }

 private:
  Settings::LocatedAcquisition f_;
  bool located_;
};

class UniformOutcomesPolicy final : public OutcomesPolicy {
 public:
  UniformOutcomesPolicy() : OutcomesPolicy(nullptr) {}
  std::unique_ptr<Score> prepare(const Round&, Rng&) const override { return nullptr; }
};

VectorXd reference_of(const Settings& policy, Index objectives) {
  if (!policy.has("reference")) return VectorXd();
  VectorXd out = policy.numbers("reference");
  if (out.size() != objectives) throw_invalid("a reference needs a number for each objective");
  return out;
}

}  // namespace

std::unique_ptr<Score> make_sum_of_bounds(const Round& round, std::vector<BoundTerm> terms, double target) {
  return std::make_unique<SumOfBounds>(round, std::move(terms), target);
}

std::unique_ptr<Policy> make_outcomes_policy(const Settings& policy, WidthPtr width, const std::vector<Role>& roles) {
  const std::string kind = policy.text("kind");
  Index objectives = 0;
  for (const Role& role : roles) objectives += role.objective ? 1 : 0;
  const auto need = [&](bool holds, const char* what) {
    if (!holds) throw_invalid("the policy " + kind + " needs " + what);
  };
  if (kind == "uniform") return std::make_unique<UniformOutcomesPolicy>();
  if (kind == "function") {
    return std::make_unique<OwnOutcomesPolicy>(policy.located_acquisition("f"), policy.flag("located"));
  }
  if (kind == "ehvi") {
    need(objectives >= 2 && objectives <= 4, "two to four objectives");
    VectorXd reference = reference_of(policy, objectives);
    auto plain = std::make_unique<ExpectedHypervolumePolicy>(reference);
    if (!policy.has("incumbent")) return plain;
    return make_noisy([reference](const Round& round, const PlayedPoints& evaluated) {
      return make_noisy_hypervolume(round, evaluated, reference);
    }, std::move(plain));
  }
  if (kind == "hypervolume") {
    need(objectives > 1 && width, "a width and two or more objectives");
    return std::make_unique<HypervolumePolicy>(std::move(width), reference_of(policy, objectives),
                                               policy.number("draws"), policy.flag("sampled"));
  }
  need(objectives == 1, "one objective");
  if (kind == "ei") {
    const ImprovementTarget target(policy);
    auto plain = std::make_unique<FeasibleImprovementPolicy>(target);
    if (!policy.has("incumbent")) return plain;
    return make_noisy([target](const Round& round, const PlayedPoints& evaluated) {
      return make_noisy_improvement(round, evaluated, target);
    }, std::move(plain));
  }
  need(width != nullptr, "a width");
  if (kind == "ucb") return std::make_unique<OptimisticPolicy>(std::move(width));
  if (kind == "safe") return make_safe_policy(policy, std::move(width), roles);
  if (kind == "exact_penalty") {
    return std::make_unique<OptimisticPolicy>(std::move(width), policy.function("penalty"));
  }
  if (kind == "ts") return std::make_unique<FeasibleDrawPolicy>(std::move(width));
  throw_invalid("the policy " + kind + " supports one outcome only");
}

}  // namespace gpb
