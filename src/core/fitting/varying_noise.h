// The penalised likelihood of measurements with heteroscedastic noise. Uses fitting/likelihood.h.
// As in hetGP (Binois, Gramacy and Ludkovski 2018), log noise at the points is the mean of a Gaussian process over
// latent values, smoothed by a nugget.
#ifndef GPB_VARYING_NOISE_H
#define GPB_VARYING_NOISE_H

#include "fitting/likelihood.h"

namespace gpb {

// Measurements by point, a row of X each: their number, their average, and the sum of squares about it.
struct PointMeasurements {
  Points X;
  VectorXd count, average, spread;
};

// The noise model at some parameters.
struct VaryingNoise {
  VectorXd weights;  // log noise at x is level + k(x)'weights
  double level = 0.0;
  VectorXd log_noise;  // at the points
  double mean = 0.0;
  double likelihood = -kInf;  // without the penalty
};

// Parameters: the kernel's, the log ratio of the noise's lengthscales to the kernel's, log of the nugget, the latent
// values, and an unused one.
class VaryingEvidence final : public Evidence {
 public:
  // `noise_kernel` has variance 1 and parameters in the kernel's order; `variance` is the number of the variance
  // parameter.
  VaryingEvidence(const Kernel& kernel, const Kernel& noise_kernel, Index variance, PointMeasurements measurements,
                  bool fit_mean);
  void factorise(const VectorXd& parameters, bool want_gradient) override;
  double value(double = 0.0) const override { return value_; }
  VectorXd gradient(double = 0.0) const override { return gradient_; }
  Index evaluations() const override { return evaluations_; }
  double mean() const override { return found_.mean; }
  const VaryingNoise& found() const { return found_; }

 private:
  struct Factors;
  // The steps of factorise(): noise at the points, likelihood, gradient.
  Factors smooth(const VectorXd& parameters);
  void measure(Factors& at);
  void differentiate(const Factors& at, Index parameters);

  std::unique_ptr<Kernel> kernel_, noise_kernel_;
  Index variance_;
  PointMeasurements measurements_;
  bool fit_mean_;
  VaryingNoise found_;
  double value_ = 0.0;
  VectorXd gradient_;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
