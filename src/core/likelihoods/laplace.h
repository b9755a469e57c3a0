// Laplace's approximation from a cold start: what rewards say of some functionals of f (a point, or
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
  // Expected under independent N(f_i, variance_i), and the sites that these expectations of l' and -l'' are.
  virtual double expected_sites(const VectorXd& f, const VectorXd& variance, VectorXd& weight,
                                VectorXd& weighted) const;
  // Sum over j of v_j dW_j / df.
  virtual VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const = 0;
  virtual bool concave() const { return true; }
  // See Likelihood::weight_growth(): the most over all functionals.
  virtual double weight_growth(const VectorXd& f) const = 0;
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
  double expected_sites(const VectorXd& f, const VectorXd& variance, VectorXd& weight,
                        VectorXd& weighted) const override;
  VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const override;
  bool concave() const override { return likelihood_.concave(); }
  double weight_growth(const VectorXd& f) const override;
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
  VectorXd left_out;  // variances that the features do not have; empty: none
  bool has_features() const { return features.rows() == mean.size() && features.cols() > 0; }
  VectorXd variance() const;
};

// Gaussian sites over a prior. O(t^3), or O(t r^2 + r^3) by r features.
class SiteSystem {
 public:
  explicit SiteSystem(SitePrior prior);
  Index size() const { return prior_.mean.size(); }
  const VectorXd& prior_mean() const { return prior_.mean; }
  double scale() const;  // largest prior standard deviation
  // The posterior mean, f = m + K alpha.
  void solve(const VectorXd& weight, const VectorXd& weighted, VectorXd& f, VectorXd& alpha);
  // Of variances, what the features leave out.
  double left_out(Index i) const { return prior_.left_out.size() > 0 ? prior_.left_out[i] : 0.0; }
  // Of the sites that were solved last: log det(I + K W), and the functionals' variances without that.
  double log_det() const;
  VectorXd variances() const;
  // (K + W^-1)^-1; not by features.
  MatrixXd precision() const;

 private:
  void factorise(const VectorXd& weight);

  SitePrior prior_;
  bool by_features_;
  VectorXd root_weight_;
  MatrixXd factor_;
};

struct SiteFit {
  VectorXd weight, weighted;  // W and b
  VectorXd f, alpha;          // at the functionals, f = m + K alpha
  double log_likelihood = 0.0;
  double log_evidence = 0.0;  // Laplace's log Z; kNaN where the likelihood is not concave
  double penalty = 0.0;       // J = -sum l(f) + |f - m|^2 / 2
  double weight_growth = 0.0;  // see Likelihood
  // Where it is a fit within a ball: the prior's penalty is this much larger at the ball's edge, see fit_within().
  double shrinkage = 1.0;
  int steps = 0;
};

// What an engine that is not exact leaves out of sites: the length of the gradient, at their mean, of the
// functional which that mean is to make smallest, and by what factor less 1 sds differ.
struct SiteGap {
  double gradient = 0.0, sd = 0.0;
};

SiteFit fit_sites(SiteSystem& system, const SiteTerms& terms);
// The same where |f - m| is at most `radius` in the norm of the prior's space: J's smallest point in that ball, with
// J's curvature there. At its edge that is the mode under a prior 1 / (1 + mu) times as large, mu >= 0, and with
// alpha = l' / (1 + mu), f = m + K alpha, sites b = W f + alpha have that mean under the prior as it is.
// Likelihoods that are log-concave.
SiteFit fit_within(const SitePrior& prior, SiteSystem& system, const SiteTerms& terms, double radius);
// The Gaussian that is nearest to the posterior in KL(q, posterior), its sites those of the expectations under
// it: steps as Newton's from Laplace's, damped where the bound of the evidence (its `log_evidence`) falls.
// Log-concave ones.
SiteFit fit_variational(SiteSystem& system, const SiteTerms& terms);
// E log likelihood under the fit less KL from the prior: never above the log evidence.
double evidence_bound(const SiteSystem& system, const SiteFit& fit, const SiteTerms& terms);

}  // namespace gpb

#endif
