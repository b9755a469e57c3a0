// The marginal likelihood of Gaussian-process regression and its gradient. Uses kernels/ and linalg/.
#ifndef GPB_LIKELIHOOD_H
#define GPB_LIKELIHOOD_H

#include "kernels/kernel.h"
#include "linalg/symmetric_sweep.h"

namespace gpb {

// Values at points, a row each, and their separate noise variances. NaN means the likelihood's noise; an empty
// own_noise means the likelihood's noise for all. `counts`: how many equal measurements a row is; empty: one each.
struct Measurements {
  Points X;
  VectorXd y, own_noise, counts = VectorXd();
  double count(Index row) const { return counts.size() > 0 ? counts[row] : 1.0; }
};

// For each row the number of its point, in the order of first appearance.
std::vector<Index> point_numbers(const Points& X);

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

// Observations of one point are pooled, which only saves time. They are equivalent to their average, weighted by 1 / D,
// with noise 1 / sum(1 / D). Their spread about it is another factor of the density, which depends on D only.
class PooledMeasurements {
 public:
  explicit PooledMeasurements(const Measurements& measurements);

  Index size() const { return X_.rows(); }  // points
  double observations() const { return observations_; }
  // True if no observation has a separate noise variance. Then values scale with kernel and noise together.
  bool scales() const { return scales_; }
  const Points& X() const { return X_; }

  // Computes the averages of all observations of each point, their noise and their spread. Observations without a
  // separate noise variance have `noise`.
  void weigh(double noise, double least);
  const VectorXd& y() const { return y_; }
  const VectorXd& noise() const { return pooled_; }
  double spread_over_noise() const { return spread_over_noise_; }
  // The log determinant of the covariance of all observations, from that of the averages.
  double log_det(double of_averages) const;
  // Twice the derivative by log(noise). The noise also changes the averages, because a larger noise gives observations
  // with separate noise more weight, and the spread about them. A and r belong to the averages, alpha = A^-1 r, and
  // `diagonal` is that of W = scale alpha alpha' - A^-1.
  double slope_by_noise(const VectorXd& diagonal, const VectorXd& alpha, double scale) const;

 private:
  // The number of observations with the likelihood's noise, minus the number of points.
  double repeats() const { return counts_.sum() - static_cast<double>(size()); }

  Points X_;                   // every point once, in the order of their first observations
  VectorXd shared_, counts_;   // averages and numbers of the observations with the likelihood's noise
  VectorXd own_, precision_;   // averages of those with separate noise, weighted by 1 / noise, and sums of weights
  double spread_ = 0.0;        // sum of squares of the former about their averages
  double own_spread_ = 0.0;    // the same for the latter, each divided by its noise
  double own_log_noise_ = 0.0;  // sum of the logarithms of the separate noise variances
  double observations_ = 0.0;
  bool scales_ = true;
  double noise_ = 0.0;
  VectorXd y_;                 // averages of all
  VectorXd effective_;         // equivalent number of observations with the likelihood's noise
  VectorXd pooled_;            // noise of the averages
  double spread_over_noise_ = 0.0;  // of all observations about their averages
};

// The log density of y ~ N(mean, A) as a function of the parameters:
//   log p(y) = -r'A^-1 r / 2 - log det(A) / 2 - n log(2 pi) / 2,  A = scale (K(theta) + D),  r = y - mean.
// D is diagonal: the likelihood's noise, or an observation's separate noise variance. The mean is 0, or the one that
// maximises the density (generalised least squares).
class GaussianEvidence : public Evidence {
 public:
  GaussianEvidence(const Kernel& kernel, const Measurements& measurements, bool fit_mean);

  void factorise(const VectorXd& parameters, bool want_gradient) final;
  double mean() const override { return mean_; }
  // 1' A^-1 1 at scale 1, if the mean is fitted: its precision given the parameters.
  double mean_precision() const override { return mean_precision_; }
  double log_scale() const override;  // log of the best scale: r'(K + noise I)^-1 r / n
  double value(double log_scale = 0.0) const override;
  double scale_slope(double log_scale) const override;  // with respect to log(scale)
  VectorXd gradient(double log_scale = 0.0) const override;
  Index evaluations() const override { return evaluations_; }
  bool scales() const override { return data_.scales(); }

 protected:
  // Of the averages: log det A, and y'A^-1 y, y'A^-1 1, 1'A^-1 1 (the last two only if the mean is fitted).
  struct Solved {
    double log_det, yy, y1, ones;
  };
  // With W = scale alpha alpha' - A^-1: sum_ij W_ij dK_ij, the diagonal of W, and alpha = A^-1 r.
  struct Slopes {
    VectorXd by_kernel, diagonal, alpha;
  };
  virtual Solved solve(bool want_gradient) = 0;
  virtual Slopes slopes(double scale) const = 0;

  const Kernel& kernel() const { return *kernel_; }
  const PooledMeasurements& data() const { return data_; }
  bool fits_mean() const { return fit_mean_; }
  // The covariance of measurements at points X. The rows below it are y and, to find the mean, a row of ones.
  Index border() const { return fit_mean_ ? 2 : 1; }
  void fill(SymmetricSweep& sweep, const Points& X, const VectorXd& y, const VectorXd& noise) const;
  // The rows below are swept: A^-1 (y - mean) at the first points, by which they are swept.
  VectorXd solution(const SymmetricSweep& sweep, Index count) const;

 private:
  std::unique_ptr<Kernel> kernel_;
  PooledMeasurements data_;
  bool fit_mean_;
  double mean_ = 0.0, mean_precision_ = 0.0, quadratic_ = 0.0, log_det_ = 0.0;
  Index evaluations_ = 0;
};

// The exact likelihood, from a factor of A; O(n^3).
class MarginalLikelihood final : public GaussianEvidence {
 public:
  MarginalLikelihood(const Kernel& kernel, const Measurements& measurements, bool fit_mean);

 protected:
  Solved solve(bool want_gradient) override;
  Slopes slopes(double scale) const override;

 private:
  SymmetricSweep sweep_;
};

}  // namespace gpb

#endif
