// Scores and policies. A policy prepares a score for each round, and the space maximises this score over its points.
#ifndef GPB_SCORE_H
#define GPB_SCORE_H

#include "base/local_search_by_values.h"
#include "base/ties.h"
#include "events/running_intervals.h"
#include "posteriors/posterior.h"
#include "widths/width.h"

namespace gpb {

class Score {
 public:
  virtual ~Score() = default;
  // Values at the round's candidates.
  virtual void values(const Candidates& candidates, VectorXd& out) const = 0;
  // The same for the search of good candidates: those that are clearly not among the best may have lower values.
  virtual void screen(const Candidates& candidates, VectorXd& out) const { values(candidates, out); }
  // Values at the rows of X, and at one point with its gradient if `gradient` is not null.
  virtual VectorXd at(const Points& X) const = 0;
  virtual double at(const VectorXd& x, VectorXd* gradient) const = 0;
  // The latter, faster and accurate enough for local searches, if there is such an approximation.
  virtual bool can_sketch() const { return false; }
  virtual double sketch(const VectorXd& x, VectorXd* gradient) const { return at(x, gradient); }
  virtual VectorXd sketches(const Points& X) const { return at(X); }
  // If the score is a function of mean and sd of one posterior that never decreases in either: that posterior, and the
  // function.
  virtual const Posterior* rises_with() const { return nullptr; }
  virtual double of_moments(double /*mean*/, double /*sd*/) const { return kNaN; }
  // The weight if the score is mean + weight * sd; otherwise NaN.
  virtual double sd_weight() const { return kNaN; }
  // Scores this far below the best are still tied with it; also the unit of differences between scores.
  virtual double unit() const = 0;
  // Is it defined at the candidates only, so that no other point can be played?
  virtual bool only_candidates() const { return false; }
  // The reason for playing a point, numbered as the policy's phases in the log; 0: no reason is given.
  virtual int phase(const Point&) const { return 0; }
  // Is it the logarithm of a nonnegative function?
  virtual bool logarithmic() const { return false; }
  // The first of the best among all candidates.
  virtual Index best(const Candidates& candidates) const;
  // Does a limit exclude points, so that a local search has no slope to follow there? Then within_limit() is the score
  // without the limit, and the amount by which the limit is exceeded.
  virtual bool limited() const { return false; }
  virtual LimitedValue within_limit(const VectorXd& x) const;
};

// Means from one posterior and variances from another one, which may be the same.
struct MeanAndVariance {
  using Predict = void (Posterior::*)(const Points&, VectorXd&, VectorXd&) const;
  using Local = void (Posterior::*)(const VectorXd&, double&, double&, VectorXd&, VectorXd&) const;

  const Posterior& mean;
  const Posterior& variance;

  bool same() const { return &mean == &variance; }
  Moments moments(const Candidates& candidates) const;
  void predict(const Points& X, VectorXd& means, VectorXd& variances, Predict by = &Posterior::predict) const;
  // Mean and sd at a point, with gradients.
  void local(const VectorXd& x, double& at_x, double& sd, VectorXd& dmean, VectorXd& dsd,
             Local by = &Posterior::local) const;
};

// The role of an outcome: to be maximised, to stay within limits, or neither. Limits are in the model's units.
struct Role {
  bool objective = true;
  double lower = -kInf, upper = kInf;
  bool limited() const { return lower > -kInf || upper < kInf; }
};

// One outcome in a round.
struct OutcomeView {
  const Posterior* mean;
  const Posterior* variance;
  Role role;
  double prior_scale, noise_var;
  double width = kNaN;  // as Round::width

  MeanAndVariance model_state() const { return {*mean, *variance}; }
};

// Means and standard deviations, a row for each point and a column for each outcome.
struct PointsMoments {
  MatrixXd mean, sd;
};

// Points with the slots of their observations in the posterior, or -1.
struct PlayedPoints {
  std::vector<const Point*> points;
  std::vector<Index> slots;
};

// The information about a round that a policy may use.
struct Round {
  double number = 1.0;          // 1 + queries made
  int largest_phase = 0;        // of these queries, see Score::phase
  const Posterior* mean = nullptr;
  const Posterior* variance = nullptr;       // a different one if it includes pending queries
  std::vector<const Posterior*> auxiliaries;  // with the noise variances that the policy asked for
  const Candidates* candidates = nullptr;
  ArmSet eligible;              // null: all arms
  double prior_scale = 1.0;     // largest prior standard deviation: the unit of ties
  double noise_var = 1.0;
  double model_weight = 1.0;    // of the model, if the score is averaged over several
  WidthState state;
  std::function<bool()> awaits_rewards;  // some query's; the variance includes it
  std::function<double()> incumbent;  // largest posterior mean among points played
  std::function<double(const Score&)> largest;  // of a score over all points that can be played
  std::function<Points()> inputs;  // of the candidates, as passed to the kernel
  const RunningIntervals* intervals = nullptr;  // if the policy keeps them
  std::function<VectorXd(Index)> prior_sd;  // of an outcome, at the candidates
  std::function<double(Index)> width_of;    // the policy's, for an outcome, if no query is being chosen
  double width = kNaN;          // the policy's own, see Policy::width
  std::vector<OutcomeView> outcomes;  // of bandits with several, the first among them
  std::function<PointsMoments()> played;  // outcomes at the points played
  // The points played in this context, without pending ones if these are ignored. None if inputs are fixed.
  std::function<PlayedPoints()> evaluated;
  double feasible = kNaN;  // required probability of the limits at a recommended point
  const Point* opponent = nullptr;  // the point with which this query is compared, or null

  MeanAndVariance model_state() const { return {*mean, *variance}; }
};

// Labels of each candidate, for policies that classify candidates by safety.
struct PointLabels {
  std::vector<char> safe, maximiser, expander;
  VectorXd lower, upper;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Noise variances of further posteriors over the same observations that the policy needs.
  virtual std::vector<double> auxiliaries() const { return {}; }
  // The norm bound on f that its width allows, if the sd is that of sites with the curvature under this bound.
  virtual double norm_bound() const { return kNaN; }
  // The multiplier of sd in this round; NaN for policies without one.
  virtual double width(const Round&) { return kNaN; }
  // Null: all points are equally good.
  virtual std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const = 0;
  // Does it need the intersection of all rounds' confidence intervals?
  virtual bool keeps_intervals() const { return false; }
  // Does it ask for pairs of an opening and an answering query? Is the opening point the last answering point?
  virtual bool pairs() const { return false; }
  virtual bool opens_with_the_last() const { return false; }
  // Does it need Round::outcomes if there is a single outcome, too?
  virtual bool views_outcomes() const { return false; }
  // The largest number of a phase, see Score::phase; 0: queries have none.
  virtual int phases() const { return 0; }
  virtual PointLabels labels(const Round&) { throw_invalid("this policy labels no points"); }
  // The score that a recommended point maximises; null for the mean.
  virtual std::unique_ptr<Score> recommendation(const Round&) { return nullptr; }
  // The multiplier as reported in the history, at the point that was chosen.
  virtual double width_at(const Round& round, const Point&, double /*mean*/, double /*sd*/) const {
    return round.width;
  }
};

// The width in this round; throws if it is not a finite number. (NaN is allowed if no query is being chosen.)
double finite_width(Width& width, const Round& round);

// A score that is a function of mean and sd at the point.
class MomentScore : public Score {
 public:
  explicit MomentScore(const Round& round) : model_state_(round.model_state()), prior_scale_(round.prior_scale) {}
  void values(const Candidates& candidates, VectorXd& out) const override;
  VectorXd at(const Points& X) const override;
  double at(const VectorXd& x, VectorXd* gradient) const override;
  bool can_sketch() const override { return model_state_.mean.can_sketch() || model_state_.variance.can_sketch(); }
  double sketch(const VectorXd& x, VectorXd* gradient) const override;
  VectorXd sketches(const Points& X) const override;
  double unit() const override { return prior_scale_; }
  const Posterior* rises_with() const override {
    return rises() && model_state_.same() ? &model_state_.mean : nullptr;
  }
  double of_moments(double mean, double sd) const override { return of(mean, sd, nullptr); }

 protected:
  // Does it never decrease in mean and sd?
  virtual bool rises() const { return false; }
  struct Slopes {
    double by_mean, by_sd;
  };
  // The score, and its derivatives if `slopes` is not null.
  virtual double of(double mean, double sd, Slopes* slopes) const = 0;
  // The same for many points.
  virtual void of_all(const double* mean, const double* variance, Index n, double* out) const;
  VectorXd at(const Points& X, MeanAndVariance::Predict by) const;
  double at(const VectorXd& x, VectorXd* gradient, MeanAndVariance::Local by) const;

  MeanAndVariance model_state_;
  double prior_scale_;
};

}  // namespace gpb

#endif
