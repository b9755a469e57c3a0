// The marginal likelihood of Gaussian-process regression and its gradient.
#ifndef GPB_LIKELIHOOD_H
#define GPB_LIKELIHOOD_H

#include "kernels/kernel.h"
#include "linalg/symmetric_sweep.h"

namespace gpb {

// Values at points, a row each, and their noise variances where these are their own: NaN where the
// likelihood's noise holds, no entries where it holds for all.
struct Measurements {
  Points X;
  VectorXd y, own_noise;
};

// What hyperparameters are worth: the logarithm of the density of what was observed, given them.
class Evidence {
 public:
  virtual ~Evidence() = default;
  // Everything below holds for the parameters given here last; the gradient only
  // if it was wanted. `parameters`: the kernel's logarithms, what else there is, then log(noise).
  virtual void factorise(const VectorXd& parameters, bool want_gradient) = 0;
  virtual double value(double log_scale = 0.0) const = 0;
  virtual VectorXd gradient(double log_scale = 0.0) const = 0;  // by `parameters`
  virtual Index evaluations() const = 0;
  // Of a mean that is found in closed form.
  virtual double mean() const { return 0.0; }
  virtual double mean_precision() const { return 0.0; }
  // Is there a best number to multiply kernel and noise by, and what are values at others?
  virtual bool scales() const { return false; }
  virtual double log_scale() const { return 0.0; }
  virtual double scale_slope(double) const { return 0.0; }
};

// log p(y) = -r'A^-1 r / 2 - log det(A) / 2 - n log(2 pi) / 2 with
// A = scale (K(theta) + D) and r = y - mean, at parameters that change; D is diagonal: the noise, or
// an observation's own.
// The mean is 0, or the one that maximises it (generalised least squares).
// Observations of one point are pooled, which changes nothing but the work: they say what their
// average, weighed by 1 / D, says with noise 1 / sum(1 / D), and their spread about it is another
// factor of the density, of D alone.
class MarginalLikelihood final : public Evidence {
 public:
  MarginalLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean);

  void factorise(const VectorXd& parameters, bool want_gradient) override;

  double mean() const override { return mean_; }
  // 1' A^-1 1 at scale 1, where the mean is fitted: its precision given the parameters.
  double mean_precision() const override { return mean_precision_; }
  double log_scale() const override;  // log of the best scale: r'(K + noise I)^-1 r / n
  double value(double log_scale = 0.0) const override;
  double scale_slope(double log_scale) const override;  // by log(scale)
  VectorXd gradient(double log_scale = 0.0) const override;
  Index evaluations() const override { return evaluations_; }
  // Has no observation a noise of its own? Then values scale with kernel and noise together.
  bool scales() const override { return scales_; }

 private:
  Index size() const { return X_.rows(); }  // points
  // Those that have the likelihood's noise, less the points.
  double repeats() const { return counts_.sum() - static_cast<double>(size()); }
  void pool(const Measurements& measurements);
  // The averages of all observations of each point, their noise and their spread, at this noise.
  void weigh(double least);
  void fill_covariance();
  void solve_mean();

  std::unique_ptr<Kernel> kernel_;
  Points X_;                   // every point once, in the order of their first observations
  VectorXd shared_, counts_;   // averages of the observations with the likelihood's noise, and how many
  VectorXd own_, precision_;   // averages of those with their own, weighed by 1 / noise, and the sum of that
  double spread_ = 0.0;        // sum of squares of the former about their averages,
  double own_spread_ = 0.0;    // and of the latter, each over its noise
  double own_log_noise_ = 0.0;  // sum of the logarithms of their noise
  double observations_ = 0.0;
  bool scales_ = true;
  bool fit_mean_;
  SymmetricSweep sweep_;
  VectorXd y_;                 // averages of all
  VectorXd effective_;         // how many observations with the likelihood's noise say as much
  VectorXd pooled_;            // the averages' noise
  double spread_over_noise_ = 0.0;  // of all about their averages
  double noise_ = 0.0, mean_ = 0.0, mean_precision_ = 0.0, quadratic_ = 0.0;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
