// What a policy wants of a round: a score for every point, prepared once, which a space
// makes as large as it can. And policies, which prepare scores.
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
  // At the round's candidates.
  virtual void values(const Candidates& candidates, VectorXd& out) const = 0;
  // At the rows of X, and at one point with its gradient where one is wanted.
  virtual VectorXd at(const Points& X) const = 0;
  virtual double at(const VectorXd& x, VectorXd* gradient) const = 0;
  // The latter, quicker and near enough to climb by, if there is such a thing.
  virtual bool can_sketch() const { return false; }
  virtual double sketch(const VectorXd& x, VectorXd* gradient) const { return at(x, gradient); }
  virtual VectorXd sketches(const Points& X) const { return at(X); }
  // Where the score is a function of mean and sd of one posterior, and never falls when either
  // rises: that posterior, and the function.
  virtual const Posterior* rises_with() const { return nullptr; }
  virtual double of_moments(double /*mean*/, double /*sd*/) const { return kNaN; }
  // Where the score is mean + weight * sd, the weight; NaN elsewhere.
  virtual double sd_weight() const { return kNaN; }
  // How far below the best a score is still tied with it; also what a difference is measured in.
  virtual double unit() const = 0;
  // Is it known at the candidates only, so that nothing else can be played?
  virtual bool only_candidates() const { return false; }
  // Why a point would be played, as the log numbers the policy's phases; 0: no reason is given.
  virtual int phase(const Point&) const { return 0; }
  // Is it the logarithm of what is to be made large, which is no less than 0?
  virtual bool logarithmic() const { return false; }
  // The first of the best among all candidates.
  virtual Index best(const Candidates& candidates) const;
  // Does a limit bar points, which leaves no slopes to climb? Then the score as it would be without it, and how far the
  // limit is exceeded.
  virtual bool limited() const { return false; }
  virtual LimitedValue within_limit(const VectorXd& x) const;
};

// What one posterior says of means and another one, perhaps the same, of variances.
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

// What an outcome is for: to be made large, to stay within limits, or neither. In the model's units.
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

// What a policy may know of a round.
struct Round {
  double number = 1.0;          // 1 + queries made
  int largest_phase = 0;        // of these, see Score::phase
  const Posterior* mean = nullptr;
  const Posterior* variance = nullptr;       // another one where pending queries are known to it
  std::vector<const Posterior*> auxiliaries;  // with the noise variances that the policy asked for
  const Candidates* candidates = nullptr;
  ArmSet eligible;              // null: all arms
  double prior_scale = 1.0;     // largest prior standard deviation: the unit of ties
  double noise_var = 1.0;
  WidthState state;
  std::function<bool()> awaits_rewards;  // some query's, and the variance knows it
  std::function<double()> incumbent;  // largest posterior mean among points played
  std::function<double(const Score&)> largest;  // value of a score among all that can be played
  std::function<Points()> inputs;  // of the candidates, as the kernel sees them
  const RunningIntervals* intervals = nullptr;  // where the policy keeps them
  std::function<VectorXd(Index)> prior_sd;  // of an outcome, at the candidates
  std::function<double(Index)> width_of;    // the policy's, for an outcome, where no query is made
  double width = kNaN;          // the policy's own, see Policy::width
  std::vector<OutcomeView> outcomes;  // of bandits with several, the first among them
  std::function<PointsMoments()> played;  // outcomes at the points played
  double feasible = kNaN;  // how probable the limits must be where a point is recommended
  const Point* opponent = nullptr;  // what this query is to be compared with, if anything

  MeanAndVariance model_state() const { return {*mean, *variance}; }
};

// What is said of each candidate by policies that know what is safe.
struct PointLabels {
  std::vector<char> safe, maximiser, expander;
  VectorXd lower, upper;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // Posteriors over the same observations that it needs besides, by their noise variances.
  virtual std::vector<double> auxiliaries() const { return {}; }
  // The norm that its width allows f, where its sd is that of sites with the curvature which this leaves.
  virtual double norm_bound() const { return kNaN; }
  // The multiplier of sd in this round; NaN for policies without one.
  virtual double width(const Round&) { return kNaN; }
  // Null: every point is as good as any other.
  virtual std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const = 0;
  // Does it need the intersection of all rounds' confidence intervals?
  virtual bool keeps_intervals() const { return false; }
  // Does it ask for pairs, one opening and one answering? Is the former the point that answered last?
  virtual bool pairs() const { return false; }
  virtual bool opens_with_the_last() const { return false; }
  // The largest number of a phase, see Score::phase; 0: queries have none.
  virtual int phases() const { return 0; }
  virtual PointLabels labels(const Round&) { throw std::invalid_argument("this policy labels no places"); }
  // What a recommended point makes large; null for the mean.
  virtual std::unique_ptr<Score> recommendation(const Round&) { return nullptr; }
  // The multiplier as the history has it, at the point that was chosen.
  virtual double width_at(const Round& round, const Point&, double /*mean*/, double /*sd*/) const {
    return round.width;
  }
};

// The width in this round; throws where it is not a finite number.
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
  // Does it never fall when mean or sd rises?
  virtual bool rises() const { return false; }
  struct Slopes {
    double by_mean, by_sd;
  };
  // The score, and its derivatives where they are wanted.
  virtual double of(double mean, double sd, Slopes* slopes) const = 0;
  // The same for many.
  virtual void of_all(const double* mean, const double* variance, Index n, double* out) const;
  VectorXd at(const Points& X, MeanAndVariance::Predict by) const;
  double at(const VectorXd& x, VectorXd* gradient, MeanAndVariance::Local by) const;

  MeanAndVariance model_state_;
  double prior_scale_;
};

}  // namespace gpb

#endif
