// Exact Gaussian-process posterior over arbitrary inputs: a Cholesky factor of
// K + noise that grows by a row per observation. The prior mean is zero; whoever
// has another one passes residuals as targets and adds it back.
#ifndef GPB_DENSE_POSTERIOR_H
#define GPB_DENSE_POSTERIOR_H

#include "posteriors/forgetting.h"
#include "posteriors/posterior_id.h"
#include "linalg/growing_cholesky.h"
#include "kernels/kernel.h"

namespace gpb {

class DensePosterior {
 public:
  // The kernel's parameters must not change afterwards: other ones, another posterior.
  DensePosterior(KernelPtr kernel, double noise_var);

  // One observation with noise variance noise_var * noise_scale; O(t^2). Points
  // may repeat. `round` matters to a posterior that fades; any order will do.
  void add(const VectorXd& x, double y, double noise_scale = 1.0, Index round = 0);
  // Many at once: the same factor up to rounding, by matrix products. (If the
  // kernel throws, some of them may be in.)
  void add(const Points& X, const VectorXd& y);
  void add(const Points& X, const VectorXd& y, const VectorXd& noise_scale);

  // The covariance of observations of rounds s and s' is k(x, x') (1 - rate)^(|s - s'| / 2), and
  // everything asked for is f at the round `now`. To be set before the first observation.
  void set_fading(double rate);
  void set_now(Index now);
  bool fades() const { return fading_.rate > 0.0; }
  Index now() const { return now_; }
  // Correlation of f between observation i's round and now.
  double present(Index i) const { return present_[static_cast<std::size_t>(i)]; }
  double correlation(double rounds) const { return fading_.correlation(rounds); }
  // A draw of what the observations hold beside present(i) f(x_i), f as it is now: noise, and
  // what f was and no longer is.
  VectorXd draw_residuals(Rng& rng) const;

  // Targets change without refactoring: O(1) now, O(t^2) when next asked for.
  void set_target(Index i, double y);
  void set_targets(const VectorXd& y);

  void reserve(Index size);
  void clear();
  // Forgets all but the first `size` observations.
  void truncate(Index size);

  Index size() const { return factor_.size(); }
  // Points may be differences of two (DifferenceKernel), which have more inputs.
  void take_differences() { compares_ = true; }
  Index inputs() const { return inputs_; }  // -1 before the first point
  double noise_var() const { return noise_var_; }
  double noise_scale(Index i) const { return noise_scale_[static_cast<std::size_t>(i)]; }
  const Kernel& kernel() const { return *kernel_; }
  const GrowingCholesky& factor() const { return factor_; }
  Points points() const;
  VectorXd point(Index i) const;
  VectorXd targets() const;
  double target(Index i) const { return targets_[static_cast<std::size_t>(i)]; }

  // Mean and variance of f at every row of X, the noise not included.
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const;
  // The mean alone, without a triangular solve: O(n t).
  VectorXd predict_mean(const Points& X) const;
  void predict_at(const VectorXd& x, double& mean, double& variance) const;
  // Joint posterior covariance of f at the rows of X.
  MatrixXd covariance(const Points& X) const;
  // `count` exact joint draws, one per column: mean + scale * (posterior)^(1/2) z.
  MatrixXd draw(const Points& X, Rng& rng, Index count = 1, double scale = 1.0) const;
  // The mean at one point and its gradient, O(t).
  double mean_and_gradient(const VectorXd& x, VectorXd& dmean) const;
  // Mean and sd at one point and their gradients (the sd's is 0 where sd is 0), O(t^2).
  void predict_gradient(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                        VectorXd& dsd) const;

  // (K + noise)^-1 v and, for v the targets, the weights of the posterior mean.
  VectorXd solve(const VectorXd& v) const;
  const VectorXd& weights() const;
  // L^-1 y, which every mean is an inner product with.
  const VectorXd& whitened() const;

  // Covariance of f(x) now with the observations; the first size() entries count.
  void cross(const VectorXd& x, VectorXd& out) const;
  // log det(I + K/lambda): twice the information gain.
  double log_det() const;
  // y' (K + noise)^-1 y.
  double quadratic() const;
  double log_likelihood() const;

  // What a cache needs to know: observations appended since leave `posterior_id`
  // alone, a changed target raises `revision`, anything else makes a new lineage.
  const std::shared_ptr<const char>& posterior_id() const { return posterior_id_.token; }
  std::size_t revision() const { return revision_; }

 private:
  // covariance() and the mean from one solve.
  MatrixXd joint(const Points& X, VectorXd& mean) const;
  void kernel_cross(const VectorXd& x, VectorXd& out) const;
  void store_point(const VectorXd& x);
  void store_target(double y, double noise_scale);
  void add_block(const Points& X, const VectorXd& y, const VectorXd& noise_scale);
  void check_point(Index inputs) const;
  template <class Use>
  void each_slope(const VectorXd& x, Use use) const;

  bool compares_ = false;

  KernelPtr kernel_;
  double noise_var_;
  Index inputs_ = -1;
  // Points stand in blocks of fixed size (unused rows repeat a played point), so
  // that none moves and the kernel sees whole matrices.
  std::vector<Points> blocks_;
  std::vector<double> targets_;
  std::vector<double> noise_scale_;
  Forgetting fading_;                // of kind fade, or none
  std::vector<Index> rounds_;
  std::vector<double> present_;      // correlation with f now
  Index now_ = 0;
  GrowingCholesky factor_;
  PosteriorId posterior_id_;
  std::size_t revision_ = 0;
  mutable VectorXd whitened_;       // its first solved_ entries are valid
  mutable Index solved_ = 0;
  mutable VectorXd weights_;
  mutable bool weights_valid_ = false;
};

// Mean and variance at fixed points that are asked for again and again while
// observations come in: keeps V = L^-1 K(played, X), which grows by a row per
// observation, O(n t) each.
class PredictionCache {
 public:
  explicit PredictionCache(Points X);

  const Points& points() const { return X_; }
  // Brings the cache up to `posterior`, another one than before if need be.
  void follow(const DensePosterior& posterior);
  const VectorXd& mean() const { return mean_; }
  const VectorXd& variance() const { return variance_; }

 private:
  void restart(const DensePosterior& posterior);
  void fade(double factor);

  Points X_;
  Panels solved_;
  Index rows_ = 0;
  std::shared_ptr<const char> posterior_id_;
  std::size_t revision_ = 0;
  Index now_ = 0;
  VectorXd prior_, sum_, squares_;  // sum_ and squares_ are padded to whole panels
  VectorXd mean_, variance_;
};

}  // namespace gpb

#endif
