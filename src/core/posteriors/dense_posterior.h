// Exact Gaussian-process posterior over arbitrary inputs: a Cholesky factor of K + noise that grows by a row per
// observation. The prior mean is zero. For another prior mean, pass residuals as targets and add the mean to the
// predictions.
#ifndef GPB_DENSE_POSTERIOR_H
#define GPB_DENSE_POSTERIOR_H

#include "posteriors/forgetting.h"
#include "posteriors/posterior_id.h"
#include "linalg/growing_cholesky.h"
#include "kernels/kernel.h"

namespace gpb {

class DensePosterior {
 public:
  // The kernel's parameters must not change afterwards; make a new posterior instead.
  DensePosterior(KernelPtr kernel, double noise_var);

  // Adds one observation with noise variance noise_var * noise_scale; O(t^2). Points may repeat. `round` matters only
  // if the posterior fades; rounds may be in any order.
  void add(const VectorXd& x, double y, double noise_scale = 1.0, Index round = 0);
  // Adds many observations at once: the same factor except for rounding, by matrix products. If the kernel throws, some
  // of them may have been added.
  void add(const Points& X, const VectorXd& y);
  void add(const Points& X, const VectorXd& y, const VectorXd& noise_scale);

  // Sets the covariance of observations of rounds s and s' to k(x, x') (1 - rate)^(|s - s'| / 2). All predictions are
  // for f in the round `now`. Must be called before the first observation.
  void set_fading(double rate);
  void set_now(Index now);
  bool fades() const { return fading_.rate > 0.0; }
  Index now() const { return now_; }
  // Correlation of f between observation i's round and now.
  double present(Index i) const { return present_[static_cast<std::size_t>(i)]; }
  double correlation(double rounds) const { return fading_.correlation(rounds); }
  // Draws the observations minus present(i) f(x_i), with f the current function: noise, and the parts of past functions
  // that have decayed.
  VectorXd draw_residuals(Rng& rng) const;

  // Changes targets without a new factorisation: O(1) now, O(t^2) at the next prediction.
  void set_target(Index i, double y);
  void set_targets(const VectorXd& y);

  void reserve(Index size);
  void clear();
  // Removes all but the first `size` observations.
  void truncate(Index size);

  Index size() const { return factor_.size(); }
  // Points may be differences of two points (DifferenceKernel), which have more inputs.
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

  // Mean and variance of f at every row of X, without noise.
  void predict(const Points& X, VectorXd& mean, VectorXd& variance) const;
  // The mean alone, without a triangular solve: O(n t).
  VectorXd predict_mean(const Points& X) const;
  void predict_at(const VectorXd& x, double& mean, double& variance) const;
  // Joint posterior covariance of f at the rows of X.
  MatrixXd covariance(const Points& X) const;
  // The posterior covariance of f(x) with f at the rows of Z is k(x, Z) - k(x, points())' times these weights.
  MatrixXd cross_weights(const Points& Z) const;
  // `count` exact joint draws, one per column: mean + scale * (posterior)^(1/2) z.
  MatrixXd draw(const Points& X, Rng& rng, Index count = 1, double scale = 1.0) const;
  // The mean at one point and its gradient, O(t).
  double mean_and_gradient(const VectorXd& x, VectorXd& dmean) const;
  // Mean and sd at one point and their gradients (the sd's is 0 where sd is 0), O(t^2).
  void predict_gradient(const VectorXd& x, double& mean, double& sd, VectorXd& dmean,
                        VectorXd& dsd) const;

  // (K + noise)^-1 v. If v are the targets, these are the weights of the posterior mean.
  VectorXd solve(const VectorXd& v) const;
  const VectorXd& weights() const;
  // L^-1 y; every mean is an inner product with it.
  const VectorXd& whitened() const;

  // Covariance of f(x) now with the observations; only the first size() entries are used.
  void cross(const VectorXd& x, VectorXd& out) const;
  // log det(I + K/lambda): twice the information gain.
  double log_det() const;
  // y' (K + noise)^-1 y.
  double quadratic() const;
  double log_likelihood() const;

  // Identity for caches: appended observations keep `posterior_id`, a changed target increases `revision`, and every
  // other change makes a new id.
  const std::shared_ptr<const char>& posterior_id() const { return posterior_id_.token; }
  std::size_t revision() const { return revision_; }

 private:
  // covariance() and the mean, from one triangular solve.
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
  // Points are stored in blocks of fixed size; unused rows repeat a played point. So no point is ever moved, and the
  // kernel is called with whole matrices.
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

// Mean and variance at fixed points that are evaluated repeatedly while observations arrive. Keeps V = L^-1 K(played,
// X), which grows by a row per observation, at O(n t) each.
class PredictionCache {
 public:
  explicit PredictionCache(Points X);

  const Points& points() const { return X_; }
  // Updates the cache to `posterior`, which may be another one than before.
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
