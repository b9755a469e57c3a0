// Laplace's approximation from a cold start: what rewards say of some functionals of f (a place, or
// one minus another) becomes a site each, of precision W = -l'' and weighted value b = W f + l' (never
// b / W: W underflows), with which an engine's Gaussian posterior is a Newton step. So posteriors are
// functions of data and parameters alone, whoever looked when.
#ifndef GPB_LAPLACE_H
#define GPB_LAPLACE_H

#include "likelihoods/likelihood.h"

namespace gpb {

constexpr double kLeastWeight = 1e-100;  // of a site: less is as good as none

// What all rewards say together, as a function of the functionals.
class SiteTerms {
 public:
  virtual ~SiteTerms() = default;
  virtual double log_likelihood(const VectorXd& f) const = 0;
  // The same, with the sites of Newton's step.
  virtual double sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const = 0;
  // Sum over j of v_j dW_j / df.
  virtual VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const = 0;
  virtual bool concave() const { return true; }
  // See Likelihood::majorise().
  virtual void majorise(const VectorXd& f, bool begins, VectorXd& weight, VectorXd& weighted) const;
};

// Rewards pooled by their functionals.
class PooledTerms final : public SiteTerms {
 public:
  // Both outlive it.
  PooledTerms(const Likelihood& likelihood, const std::vector<Likelihood::Data>& data)
      : likelihood_(likelihood), data_(data) {}
  double log_likelihood(const VectorXd& f) const override;
  double sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const override;
  VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const override;
  bool concave() const override { return likelihood_.concave(); }
  void majorise(const VectorXd& f, bool begins, VectorXd& weight, VectorXd& weighted) const override;

 private:
  const Likelihood& likelihood_;
  const std::vector<Likelihood::Data>& data_;
};

// The prior of the functionals: their mean, and their covariance or its features (a row each).
struct SitePrior {
  VectorXd mean;
  MatrixXd features;  // no columns where the covariance is given
  MatrixXd gram;
};

// Gaussian sites over a prior. O(t^3), or O(t r^2 + r^3) by r features.
class SiteSystem {
 public:
  explicit SiteSystem(SitePrior prior);
  Index size() const { return prior_.mean.size(); }
  const VectorXd& prior_mean() const { return prior_.mean; }
  const VectorXd& prior_variance() const { return prior_variance_; }
  double scale() const;  // largest prior standard deviation
  // The posterior mean, f = m + K alpha.
  void solve(const VectorXd& weight, const VectorXd& weighted, VectorXd& f, VectorXd& alpha);
  // Of the sites that were solved last: log det(I + K W), and the functionals' variances.
  double log_det() const;
  VectorXd variances() const;
  // (K + W^-1)^-1; not by features.
  MatrixXd precision() const;

 private:
  void factorise(const VectorXd& weight);

  SitePrior prior_;
  bool by_features_;
  VectorXd prior_variance_, root_weight_;
  MatrixXd factor_;
};

struct SiteFit {
  VectorXd weight, weighted;  // W and b
  VectorXd f, alpha;          // at the functionals, f = m + K alpha
  double log_likelihood = 0.0;
  double log_evidence = 0.0;  // Laplace's log Z; kNaN where the likelihood is not concave
  double penalty = 0.0;       // J = -sum l(f) + |f - m|^2 / 2
  double elbo = 0.0;          // with the Gaussian that the sites make
  int steps = 0;
};

SiteFit fit_sites(SiteSystem& system, const SiteTerms& terms);
// E log likelihood under the fit less KL from the prior: never above the log evidence.
double evidence_bound(const SiteSystem& system, const SiteFit& fit, const Likelihood& likelihood,
                      const std::vector<Likelihood::Data>& data);

}  // namespace gpb

#endif
