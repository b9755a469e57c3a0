// The interface of a posterior: an engine that conditions on a list of observations and predicts at any point.
// Observations are numbered by slots in the order in which they were added; the slot of a dropped observation is not
// used again.
#ifndef GPB_POSTERIOR_H
#define GPB_POSTERIOR_H

#include "base/point.h"
#include "likelihoods/laplace.h"

namespace gpb {

class LowRankPosterior;

struct Observation {
  Point point;
  double value = 0.0;
  double weight = 1.0;  // its noise variance is that of the posterior divided by this
  Index round = 0;      // of the query
  bool owns_noise = false;  // the weight expresses a noise variance that belongs to the observation
};

// The linear functional of f that a site concerns: f at a point, or the difference between two points.
struct Functional {
  Point point;
  Point other;
  bool compares = false;
};

// Points that are scored together: a block of the table of arms, or explicit points.
struct Candidates {
  Index first = 0, count = 0;  // rows of the table
  Points X;                    // points, one per row; no columns if rows of the table are meant
  bool complete = true;        // no other point can be played
  // Identifies this set of points; null for a set that is used only once.
  std::shared_ptr<const char> token;

  bool tabled() const { return X.cols() == 0; }
  Index size() const { return tabled() ? count : X.rows(); }
  // The number of a point among them, or -1.
  Index find(const Point& point) const {
    if (tabled()) return point.row >= first && point.row < first + count ? point.row - first : -1;
    for (Index i = 0; i < X.rows(); ++i) {
      if (is_row(X, i, point.x)) return i;
    }
    return -1;
  }
};

// Means and variances of candidates. The memory belongs to the posterior and is valid until the posterior changes or
// computes the moments of other candidates.
struct Moments {
  const double* mean;
  const double* variance;
};

// One function drawn from a posterior.
class SampledFunction {
 public:
  virtual ~SampledFunction() = default;
  virtual void values(const Candidates& candidates, VectorXd& out) const = 0;
  // Values at other points; not available for a function drawn for a complete set.
  virtual VectorXd at(const Points& X) const;
  virtual double at(const VectorXd& x, VectorXd* gradient) const;
};

// A drawn function with values for one set of candidates only.
class SetDraw final : public SampledFunction {
 public:
  explicit SetDraw(VectorXd values) : values_(std::move(values)) {}
  void values(const Candidates&, VectorXd& out) const override { out = values_; }

 private:
  VectorXd values_;
};

// Posterior covariances of f at any points (rows) with f at some fixed points (columns).
class CrossCovariance {
 public:
  virtual ~CrossCovariance() = default;
  virtual MatrixXd among_fixed() const = 0;
  virtual MatrixXd of(const Candidates& candidates) const = 0;
  // At other points, and at one point with the gradient (a row per fixed point); not available over a table.
  virtual MatrixXd at(const Points& X) const;
  virtual VectorXd at(const VectorXd& x, MatrixXd& gradient) const;
};

// The prior mean: one number, or one per arm, and a function of the inputs if there is one. The arm's number is the
// last input of a point.
class PriorMean {
 public:
  // The function at points, and its gradient at a point (one row). Several models ask for the same points one after the
  // other: the last values and the last gradient are kept.
  class Shape {
   public:
    using Function = std::function<VectorXd(const Points&)>;
    Shape(Function values, Function slope) : values_{std::move(values), {}, {}}, slope_{std::move(slope), {}, {}} {}
    const VectorXd& values(const Points& X) const { return last(values_, X); }
    const VectorXd& slope(const Points& x) const { return last(slope_, x); }

   private:
    struct Kept {
      Function f;
      Points at;
      VectorXd found;
    };
    static const VectorXd& last(Kept& kept, const Points& X);
    mutable Kept values_, slope_;
  };
  // (Not explicit: spaces take numbers.)
  PriorMean(VectorXd values, std::shared_ptr<const Shape> shape = nullptr);
  double of_arm(Index arm) const { return values_[values_.size() == 1 ? 0 : arm]; }
  double at(const VectorXd& x) const;
  VectorXd at(const Points& X) const;
  void add_slope(const VectorXd& x, VectorXd& gradient) const;
  bool varies() const { return values_.size() > 1 || shape_; }
  double largest() const { return values_.maxCoeff(); }
  const VectorXd& values() const { return values_; }

 private:
  Index arm_of(double number) const;
  VectorXd values_;
  std::shared_ptr<const Shape> shape_;
};

class Posterior;

// ---- what a posterior may support in addition ---------------------------------------------------
// An engine inherits the interfaces that it supports. Callers use the functions of Posterior of the same names, which
// have a default or throw if the engine lacks the interface.

// Rewards whose noise is not Gaussian, see likelihoods/laplace.h.
class SitePosterior {
 public:
  // Prepares for sites, before the first one. `compares`: sites of differences. Sites that are `modes` are at the
  // maximum of a log-concave density; a low rank is certified only for these.
  virtual void expect_sites(bool compares, bool modes) = 0;
  // The prior of the functionals as the engine represents it; `terms` give the weights. `again`: set_sites() has
  // returned false before.
  virtual SitePrior site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again) = 0;
  // Conditions on these sites only: precisions, weighted values, and the resulting means. Returns false if the prior
  // was not accurate enough for them; then site_prior() has to be called again.
  virtual bool set_sites(const std::vector<Functional>& functionals, const SiteFit& fit) = 0;
  // The same, followed by sites of awaited rewards, which do not change any mean. Only the variance of this posterior
  // is used.
  virtual void set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit) = 0;
  virtual SiteGap site_gap() const { return {}; }
  // May sites be added as observations, after set_sites()? They are then not moved by later ones.
  virtual bool takes_further_sites() const { return true; }

 protected:
  ~SitePosterior() = default;
};

// The models of which it is an average (see mixture_posterior.h). Without this, a posterior is its single model.
class AveragePosterior {
 public:
  virtual Index models() const = 0;
  virtual const Posterior& model(Index k) const = 0;
  virtual double model_weight(Index k) const = 0;
  // The observed values only represent unknown rewards: each model's mean is taken from the other posterior.
  virtual void take_means_of(const Posterior& other) = 0;

 protected:
  ~AveragePosterior() = default;
};

// Gradients, for points that are not rows of a table.
class LocalPosterior {
 public:
  // The mean alone: at the rows of X, and at one point with its gradient.
  virtual VectorXd mean_of(const Points& X) const = 0;
  virtual double mean_of(const VectorXd& x, VectorXd& gradient) const = 0;
  // Mean and sd with their gradients at one point.
  virtual void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean, VectorXd& dsd) const = 0;
  // The same, faster and accurate enough for local searches, if the engine has such an approximation.
  virtual bool can_sketch() const = 0;
  virtual void sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean, VectorXd& dsd) const = 0;
  // At the rows of X, without gradients.
  virtual void sketches(const Points& X, VectorXd& mean, VectorXd& variance) const = 0;

 protected:
  ~LocalPosterior() = default;
};

class JointPosterior {
 public:
  // Joint covariance of f at some candidates, by their numbers.
  virtual MatrixXd covariance(const Candidates& candidates, const std::vector<Index>& some) const = 0;
  // As Posterior::sample() over a complete set, one draw for each column of `out`.
  virtual void sample_all(const Posterior& centre, const Candidates& candidates, double scale, Rng& rng,
                          Eigen::Ref<MatrixXd> out) const = 0;

 protected:
  ~JointPosterior() = default;
};

class CrossPosterior {
 public:
  // Valid until the posterior changes.
  virtual std::unique_ptr<CrossCovariance> covariances_with(const std::vector<const Point*>& fixed) const = 0;

 protected:
  ~CrossPosterior() = default;
};

class ComparingPosterior {
 public:
  // Means and variances of f at candidates minus f at a point.
  virtual void differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                           VectorXd& variance) const = 0;

 protected:
  ~ComparingPosterior() = default;
};

// Engines that may be approximate.
class ApproximatePosterior {
 public:
  // The low-rank posterior that is equal to this one except for the prior mean; null if there is none.
  virtual const LowRankPosterior* low_rank() const = 0;
  // The largest of means_at(); needs at least one point.
  virtual double largest_mean_at(const std::vector<const Point*>& points, const std::vector<Index>& slots) const = 0;

 protected:
  ~ApproximatePosterior() = default;
};

// Engines that add many observations together.
class PostponingPosterior {
 public:
  // Are observations being added together, so that a prediction in between would need all the postponed work? This
  // depends on the events alone.
  virtual bool postpones() const = 0;

 protected:
  ~PostponingPosterior() = default;
};

// ---- what every posterior supports --------------------------------------------------------------

struct EngineSummary {
  std::string name;
  Index rank;  // of the engine's factor
  // Certified error of mean and sd at every point: |error of the mean| <= this * sd, and sd is within a factor 1 +
  // this. It is 0 for exact engines.
  double error_bound = 0.0;
};

class Posterior {
 public:
  virtual ~Posterior() = default;

  // ---- updates by observations
  virtual void add(const Observation& observation) = 0;
  virtual void set_value(Index slot, double y) = 0;
  virtual void set_values(const std::vector<double>& y) = 0;  // a value per slot
  virtual void drop(Index slot) = 0;
  virtual void rescale(double factor) = 0;  // of all weights so far
  virtual void clear() = 0;
  // Predictions from now on are of f in this round (if the prior drifts).
  virtual void advance(Index) {}
  // Called for each query: `chosen` by the current predictions, or given.
  virtual void asked(bool /* chosen */) {}
  // Called before the posterior is read. Does the work that was postponed; the result depends on the events alone.
  virtual void settle() {}

  // ---- predictions
  virtual double noise_var() const = 0;
  virtual double log_det() const = 0;    // log det(I + K W / lambda)
  virtual double quadratic() const = 0;  // y' (K + lambda / W)^-1 y, y centred
  virtual EngineSummary summary() const = 0;
  virtual void at(const Point& point, double& mean, double& sd) const = 0;
  virtual Moments moments(const Candidates& candidates) const = 0;
  // Predictions at any points, one per row.
  virtual void predict(const Points& X, VectorXd& mean, VectorXd& variance) const = 0;
  // Means at points; slots[i] is the slot of an observation made at point i, or -1.
  virtual VectorXd means_at(const std::vector<const Point*>& points, const std::vector<Index>& slots) const = 0;
  // The slot of the observation with the largest posterior mean; -1 if there is none.
  virtual Index best_slot() const = 0;
  // A function with the mean of `centre` and scale^2 times this posterior's covariance. Over a complete set of
  // candidates it is an exact joint draw; otherwise it is a path that can be evaluated at any point.
  virtual std::unique_ptr<SampledFunction> sample(const Posterior& centre, const Candidates& candidates, double scale,
                                                  Rng& rng) const = 0;

  // ---- optional interfaces
  // Local searches ask for this one at every step, so it is a function of the engine; null without it. The others are
  // found by dynamic_cast (posterior.cpp), at most once a round.
  virtual const LocalPosterior* as_local() const { return nullptr; }

  // Throw if the engine takes rewards with Gaussian noise only; the gap is then 0.
  void expect_sites(bool compares, bool modes);
  SitePrior site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again);
  bool set_sites(const std::vector<Functional>& functionals, const SiteFit& fit);
  void set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit);
  SiteGap site_gap() const;
  bool takes_further_sites() const;
  // By default the only model is the posterior itself, with its own mean.
  Index models() const;
  const Posterior& model(Index k) const;
  double model_weight(Index k) const;
  void take_means_of(const Posterior& other);
  // By default by predict(). Without gradients, the functions that need one throw.
  VectorXd mean_of(const Points& X) const;
  double mean_of(const VectorXd& x, VectorXd& gradient) const;
  void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean, VectorXd& dsd) const;
  bool can_sketch() const;
  void sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean, VectorXd& dsd) const;
  void sketches(const Points& X, VectorXd& mean, VectorXd& variance) const;
  // Throw if the engine does not support them.
  MatrixXd covariance(const Candidates& candidates, const std::vector<Index>& some) const;
  void sample_all(const Posterior& centre, const Candidates& candidates, double scale, Rng& rng,
                  Eigen::Ref<MatrixXd> out) const;
  std::unique_ptr<CrossCovariance> covariances_with(const std::vector<const Point*>& fixed) const;
  void differences(const Candidates& candidates, const Point& from, VectorXd& mean, VectorXd& variance) const;
  // By default there is no low-rank posterior, and the largest mean is that of means_at().
  const LowRankPosterior* low_rank() const;
  double largest_mean_at(const std::vector<const Point*>& points, const std::vector<Index>& slots) const;
  // By default every observation is added at once.
  bool postpones() const;
};

}  // namespace gpb

#endif
