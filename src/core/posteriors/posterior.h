// The posterior as everything above it sees it: an engine that follows a list of
// observations, and answers for any point. Observations are numbered by slots in the order
// in which they were added; a slot that was dropped is not used again.
#ifndef GPB_POSTERIOR_H
#define GPB_POSTERIOR_H

#include "base/point.h"
#include "likelihoods/laplace.h"

namespace gpb {

class LowRankPosterior;

struct Observation {
  Point point;
  double value = 0.0;
  double weight = 1.0;  // its noise variance is the posterior's over this
  Index round = 0;      // of the query
  bool owns_noise = false;  // the weight tells of a noise variance that is the observation's own
};

// What a site is about: f at a point, or the difference between it and another one.
struct Functional {
  Point point;
  Point other;
  bool compares = false;
};

// Points that are scored together: a block of the table of arms, or points.
struct Candidates {
  Index first = 0, count = 0;  // rows of the table
  Points X;                    // points, one per row; no columns where the table says it all
  bool complete = true;        // nothing else can be played
  // Differs from one set of points to the next; null for a set that is asked for once.
  std::shared_ptr<const char> token;

  bool tabled() const { return X.cols() == 0; }
  Index size() const { return tabled() ? count : X.rows(); }
  // The number of a point among them; -1 where it is none of them.
  Index find(const Point& point) const {
    if (tabled()) return point.row >= first && point.row < first + count ? point.row - first : -1;
    for (Index i = 0; i < X.rows(); ++i) {
      if (is_row(X, i, point.x)) return i;
    }
    return -1;
  }
};

// Means and variances of candidates, the posterior's own: valid until it changes or is asked
// for others.
struct Moments {
  const double* mean;
  const double* variance;
};

// One function drawn from a posterior.
class SampledFunction {
 public:
  virtual ~SampledFunction() = default;
  virtual void values(const Candidates& candidates, VectorXd& out) const = 0;
  // Anywhere else; only of one that was not drawn for a complete set.
  virtual VectorXd at(const Points& X) const;
  virtual double at(const VectorXd& x, VectorXd* gradient) const;
};

// One that is known over one set of candidates.
class SetDraw final : public SampledFunction {
 public:
  explicit SetDraw(VectorXd values) : values_(std::move(values)) {}
  void values(const Candidates&, VectorXd& out) const override { out = values_; }

 private:
  VectorXd values_;
};

// The prior mean: one number, or one per arm, whose number stands last in a point.
class PriorMean {
 public:
  explicit PriorMean(VectorXd values);
  double of_arm(Index arm) const { return values_[values_.size() == 1 ? 0 : arm]; }
  double at(const VectorXd& x) const { return of_arm(arm_of(x[x.size() - 1])); }
  VectorXd at(const Points& X) const;
  double largest() const { return values_.maxCoeff(); }
  const VectorXd& values() const { return values_; }

 private:
  Index arm_of(double number) const;
  VectorXd values_;
};

class Posterior {
 public:
  virtual ~Posterior() = default;

  // ---- following the observations
  virtual void add(const Observation& observation) = 0;
  virtual void set_value(Index slot, double y) = 0;
  virtual void set_values(const std::vector<double>& y) = 0;  // a value per slot
  virtual void drop(Index slot) = 0;
  virtual void rescale(double factor) = 0;  // of all weights so far
  virtual void clear() = 0;
  // What is asked from now on is f as it is in this round (where the prior drifts).
  virtual void advance(Index) {}
  // A query is asked by what this one says now.
  virtual void asked() {}

  // ---- sites: rewards whose noise is not Gaussian, see likelihoods/laplace.h
  // Throws where the engine takes none (`compares`: of differences). Asked before the first. Sites that
  // are `modes` are those where a log-concave density is largest: only of these is a low rank certified.
  virtual void expect_sites(bool compares, bool modes);
  // As the engine has it; `terms` say what will weigh how much. `again`: after set_sites() has refused.
  virtual SitePrior site_prior(const std::vector<Functional>& functionals, const SiteTerms& terms, bool again);
  // These sites and nothing else: precisions, weighted values, and the mean that they make. False where the
  // prior has to be asked for again: it was not near enough for these.
  virtual bool set_sites(const std::vector<Functional>& functionals, const SiteFit& fit);
  // The same and, after them, those of rewards that are awaited, which move no mean. Of this posterior the variance
  // alone is asked.
  virtual void set_awaited(const std::vector<Functional>& functionals, const SiteFit& fit);
  virtual SiteGap site_gap() const { return {}; }

  // ---- the models that it is an average of (see mixture_posterior.h); one: itself
  virtual Index models() const { return 1; }
  virtual const Posterior& model(Index) const { return *this; }
  virtual double model_weight(Index) const { return 1.0; }
  // Its values only stand for rewards that are not known yet: each model's mean is the other's.
  virtual void take_means_of(const Posterior&) {}

  // ---- what it says
  virtual double noise_var() const = 0;
  virtual double log_det() const = 0;    // log det(I + K W / lambda)
  virtual double quadratic() const = 0;  // y' (K + lambda / W)^-1 y, y centred
  virtual Index rank() const = 0;        // of the engine's factor
  virtual std::string engine() const = 0;
  // Of mean and sd against exact ones, certified: |error of the mean| <= this * sd, sd within a
  // factor 1 + this, everywhere. 0 for exact engines.
  virtual double error_bound() const { return 0.0; }
  virtual void at(const Point& point, double& mean, double& sd) const = 0;
  virtual Moments moments(const Candidates& candidates) const = 0;
  // Any points, one per row.
  virtual void predict(const Points& X, VectorXd& mean, VectorXd& variance) const = 0;
  // The mean alone: at the rows of X, and at one point with its gradient.
  virtual VectorXd mean_of(const Points& X) const;
  virtual double mean_of(const VectorXd& x, VectorXd& gradient) const;
  // Mean and sd with their gradients at one point; not where a table says it all.
  virtual void local(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                     VectorXd& dsd) const;
  // The same, quicker and near enough to climb by, if there is such a thing.
  virtual bool can_sketch() const { return false; }
  virtual void sketch(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                      VectorXd& dsd) const {
    local(x, mean, sd, dmean, dsd);
  }
  // At the rows of X, without gradients.
  virtual void sketches(const Points& X, VectorXd& mean, VectorXd& variance) const {
    predict(X, mean, variance);
  }
  // Joint covariance of f at some candidates, by their numbers; not every engine has it.
  virtual MatrixXd covariance(const Candidates& candidates, const std::vector<Index>& some) const;
  // f at candidates less f at a point: means and variances.
  virtual void differences(const Candidates& candidates, const Point& from, VectorXd& mean,
                           VectorXd& variance) const;
  // The low-rank posterior that this one is but for the prior mean; null if there is none.
  virtual const LowRankPosterior* low_rank() const { return nullptr; }
  // Means at points, slots[i] the slot of an observation made at point i, -1 if there is none.
  virtual VectorXd means_at(const std::vector<const Point*>& points,
                            const std::vector<Index>& slots) const = 0;
  // The largest of these; not of no points.
  virtual double largest_mean_at(const std::vector<const Point*>& points,
                                 const std::vector<Index>& slots) const {
    return means_at(points, slots).maxCoeff();
  }
  // The slot of the observation with the largest posterior mean; -1 if there is none.
  virtual Index best_slot() const = 0;
  // A function with the mean of `centre` and scale^2 times this posterior's covariance: exact
  // and joint over a complete set of candidates, else a path that can be asked for anywhere.
  virtual std::unique_ptr<SampledFunction> sample(const Posterior& centre,
                                                  const Candidates& candidates, double scale,
                                                  Rng& rng) const = 0;
  // The same over a complete set, as many times as `out` has columns.
  virtual void sample_all(const Posterior& centre, const Candidates& candidates, double scale,
                          Rng& rng, Eigen::Ref<MatrixXd> out) const = 0;
};

}  // namespace gpb

#endif
