// The marginal likelihood of Gaussian-process regression and its gradient.
#ifndef GPB_LIKELIHOOD_H
#define GPB_LIKELIHOOD_H

#include "kernels/kernel.h"
#include "linalg/symmetric_sweep.h"

namespace gpb {

// log p(y) = -r'A^-1 r / 2 - log det(A) / 2 - n log(2 pi) / 2 with
// A = scale (K(theta) + noise I) and r = y - mean, at parameters that change.
// The mean is 0, or the one that maximises it (generalised least squares).
// Observations of one point are pooled, which changes nothing but the work: c of them say what
// their average says with noise / c, and their spread about it is another factor of the density,
// of the noise alone.
class MarginalLikelihood {
 public:
  MarginalLikelihood(const Kernel& kernel, const Points& X, const VectorXd& y, bool fit_mean);

  // Everything below holds for the parameters given here last; the gradient only
  // if it was wanted. `parameters`: the kernel's logarithms, then log(noise).
  void factorise(const VectorXd& parameters, bool want_gradient);

  double mean() const { return mean_; }
  double log_scale() const;  // log of the best scale: r'(K + noise I)^-1 r / n
  double value(double log_scale = 0.0) const;
  double scale_slope(double log_scale) const;            // by log(scale)
  VectorXd gradient(double log_scale = 0.0) const;  // by `parameters`
  Index evaluations() const { return evaluations_; }

 private:
  Index size() const { return X_.rows(); }  // points
  double observations() const { return counts_.sum(); }
  double repeats() const { return observations() - static_cast<double>(size()); }
  void pool(const Points& X, const VectorXd& y);
  void fill_covariance();
  void solve_mean();

  std::unique_ptr<Kernel> kernel_;
  Points X_;                 // every point once, in the order of their first observations
  VectorXd y_, counts_;      // averages of the observations there, and how many these are
  double spread_ = 0.0;      // sum of squares of the observations about their averages
  bool fit_mean_;
  SymmetricSweep sweep_;
  VectorXd pooled_;          // the averages' noise
  double noise_ = 0.0, mean_ = 0.0, quadratic_ = 0.0;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
