// The marginal likelihood of Gaussian-process regression and its gradient. Uses kernels/ and linalg/.
#ifndef GPB_LIKELIHOOD_H
#define GPB_LIKELIHOOD_H

#include "kernels/kernel.h"
#include "linalg/symmetric_sweep.h"

namespace gpb {

// Values at points, a row each, and their separate noise variances. NaN means the likelihood's noise; an empty
// own_noise means the likelihood's noise for all.
struct Measurements {
  Points X;
  VectorXd y, own_noise;
};

// The log density of the observations given the hyperparameters.
class Evidence {
 public:
  virtual ~Evidence() = default;
  // The functions below refer to the last parameters given here; the gradient only if it was requested. `parameters`:
  // the kernel's logarithms, further ones, then log(noise).
  virtual void factorise(const VectorXd& parameters, bool want_gradient) = 0;
  virtual double value(double log_scale = 0.0) const = 0;
  virtual VectorXd gradient(double log_scale = 0.0) const = 0;  // with respect to `parameters`
  virtual Index evaluations() const = 0;
  // The mean, if it is found in closed form, and its precision.
  virtual double mean() const { return 0.0; }
  virtual double mean_precision() const { return 0.0; }
  // Is there an optimal factor of kernel and noise, so that values at other scales are available?
  virtual bool scales() const { return false; }
  virtual double log_scale() const { return 0.0; }
  virtual double scale_slope(double) const { return 0.0; }
};

// The log density of y ~ N(mean, A) as a function of the parameters:
//   log p(y) = -r'A^-1 r / 2 - log det(A) / 2 - n log(2 pi) / 2,  A = scale (K(theta) + D),  r = y - mean.
// D is diagonal: the likelihood's noise, or an observation's separate noise variance. The mean is 0, or the one that
// maximises the density (generalised least squares).
// Observations of one point are pooled, which only saves time. They are equivalent to their average, weighted by 1 / D,
// with noise 1 / sum(1 / D). Their spread about it is another factor of the density, which depends on D only.
class MarginalLikelihood final : public Evidence {
 public:
  MarginalLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean);

  void factorise(const VectorXd& parameters, bool want_gradient) override;

  double mean() const override { return mean_; }
  // 1' A^-1 1 at scale 1, if the mean is fitted: its precision given the parameters.
  double mean_precision() const override { return mean_precision_; }
  double log_scale() const override;  // log of the best scale: r'(K + noise I)^-1 r / n
  double value(double log_scale = 0.0) const override;
  double scale_slope(double log_scale) const override;  // with respect to log(scale)
  VectorXd gradient(double log_scale = 0.0) const override;
  Index evaluations() const override { return evaluations_; }
  // True if no observation has a separate noise variance. Then values scale with kernel and noise together.
  bool scales() const override { return scales_; }

 private:
  Index size() const { return X_.rows(); }  // points
  // The number of observations with the likelihood's noise, minus the number of points.
  double repeats() const { return counts_.sum() - static_cast<double>(size()); }
  void pool(const Measurements& measurements);
  // Computes the averages of all observations of each point, their noise and their spread, at this noise.
  void weigh(double least);
  void fill_covariance();
  void solve_mean();

  std::unique_ptr<Kernel> kernel_;
  Points X_;                   // every point once, in the order of their first observations
  VectorXd shared_, counts_;   // averages and numbers of the observations with the likelihood's noise
  VectorXd own_, precision_;   // averages of those with separate noise, weighted by 1 / noise, and sums of weights
  double spread_ = 0.0;        // sum of squares of the former about their averages
  double own_spread_ = 0.0;    // the same for the latter, each divided by its noise
  double own_log_noise_ = 0.0;  // sum of the logarithms of the separate noise variances
  double observations_ = 0.0;
  bool scales_ = true;
  bool fit_mean_;
  SymmetricSweep sweep_;
  VectorXd y_;                 // averages of all
  VectorXd effective_;         // equivalent number of observations with the likelihood's noise
  VectorXd pooled_;            // noise of the averages
  double spread_over_noise_ = 0.0;  // of all observations about their averages
  double noise_ = 0.0, mean_ = 0.0, mean_precision_ = 0.0, quadratic_ = 0.0;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
