// Laplace's log marginal likelihood of rewards that are no Gaussian readings, and its gradient (Rasmussen and
// Williams 2006, section 5.5.1): log Z = sum l(f) - |f - m|^2 / 2 - log det(I + K W) / 2 at the mode f, by the
// kernel's parameters, a constant prior mean and what of the likelihood itself is fitted.
#ifndef GPB_LATENT_EVIDENCE_H
#define GPB_LATENT_EVIDENCE_H

#include "fitting/likelihood.h"
#include "likelihoods/ranking.h"

namespace gpb {

// What rewards are about: f at points, a row each, or at one of them less at another.
struct LatentMeasurements {
  Points X;
  std::vector<Index> point, other;  // of each functional, the latter -1 where it is no difference
  VectorXd mean;                    // the functionals' prior mean
  std::vector<Likelihood::Data> data;
  std::vector<RankingSites> rankings;
};

class LatentEvidence final : public Evidence {
 public:
  // Parameters: the kernel's, the prior mean if it is fitted, the likelihood's, and one that means nothing (where
  // readings have log(noise)).
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
  VectorXd constant_;  // a constant's functionals: 1, or 0 of differences
  bool fit_mean_;
  double value_ = 0.0;
  VectorXd gradient_;
  Index evaluations_ = 0;
};

}  // namespace gpb

#endif
