// The marginal likelihood of Gaussian-process regression and its gradient.
#ifndef GPB_LIKELIHOOD_H
#define GPB_LIKELIHOOD_H

#include "kernels/kernel.h"
#include "linalg/symmetric_sweep.h"

namespace gpb {

// log p(y) = -r'A^-1 r / 2 - log det(A) / 2 - n log(2 pi) / 2 with
// A = scale (K(theta) + noise I) and r = y - mean, at parameters that change.
// The mean is 0, or the one that maximises it (generalised least squares).
class MarginalLikelihood {
 public:
  MarginalLikelihood(const Kernel& kernel, Points X, VectorXd y, bool fit_mean);

  // Everything below holds for the parameters given here last; the gradient only
  // if it was wanted. `parameters`: the kernel's logarithms, then log(noise).
  void factorise(const VectorXd& parameters, bool want_gradient);

  Index size() const { return X_.rows(); }
  double mean() const { return mean_; }
  double log_scale() const;  // log of the best scale: r'(K + noise I)^-1 r / n
  double value(double log_scale = 0.0) const;
  double scale_slope(double log_scale) const;            // by log(scale)
  VectorXd gradient(double log_scale = 0.0) const;  // by `parameters`
  Index evaluations() const { return evaluations_; }

 private:
  void fill_covariance();
  void solve_mean();

  std::unique_ptr<Kernel> kernel_;
  Points X_;
  VectorXd y_;
  bool fit_mean_;
  SymmetricSweep sweep_;
  double noise_ = 0.0, mean_ = 0.0, quadratic_ = 0.0;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
