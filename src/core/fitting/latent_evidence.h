// Laplace's log marginal likelihood for rewards with a likelihood, and its gradient. Uses fitting/ and likelihoods/.
// By Rasmussen and Williams (2006, section 5.5.1), with the mode f,
//   log Z = sum l(f) - |f - m|^2 / 2 - log det(I + K W) / 2.
// The parameters are the kernel's, a constant prior mean, and those of the likelihood that are fitted.
#ifndef GPB_LATENT_EVIDENCE_H
#define GPB_LATENT_EVIDENCE_H

#include "fitting/likelihood.h"
#include "likelihoods/ranking.h"

namespace gpb {

// The rewards and their functionals: f at a point (a row of X), or the difference of f at two points.
struct LatentMeasurements {
  Points X;
  std::vector<Index> point, other;  // of each functional; `other` is -1 if it is no difference
  VectorXd mean;                    // the functionals' prior mean
  std::vector<Likelihood::Data> data;
  std::vector<RankingSites> rankings;
};

class LatentEvidence final : public Evidence {
 public:
  // Parameters: the kernel's, the prior mean if it is fitted, the likelihood's, and an unused one (instead of
  // log(noise) for Gaussian measurements).
  LatentEvidence(const Kernel& kernel, LatentMeasurements measurements, LikelihoodPtr likelihood, bool fit_mean);
  void factorise(const VectorXd& parameters, bool want_gradient) override;
  double value(double = 0.0) const override { return value_; }
  VectorXd gradient(double = 0.0) const override { return gradient_; }
  Index evaluations() const override { return evaluations_; }

 private:
  Index size() const { return static_cast<Index>(measurements_.point.size()); }
  MatrixXd differences(MatrixXd by_point) const;
  MatrixXd by_points(const MatrixXd& M) const;

  std::unique_ptr<Kernel> kernel_;
  LatentMeasurements measurements_;
  LikelihoodPtr likelihood_;
  VectorXd constant_;  // the functionals of the constant 1: 1, or 0 for differences
  bool fit_mean_;
  double value_ = 0.0;
  VectorXd gradient_;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
