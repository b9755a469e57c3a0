// Laplace's approximation of the posterior under a likelihood, from a cold start. Uses likelihoods/likelihood.h.
// The rewards of each functional of f (f at a point, or a difference of two) are replaced by a Gaussian site. A site
// has precision W = -l'' and weighted value b = W f + l'. (b / W is not stored, because W can underflow.) The posterior
// given the sites is then a Newton step. Posteriors are functions of data and parameters alone, not of earlier fits.
#ifndef GPB_LAPLACE_H
#define GPB_LAPLACE_H

#include "likelihoods/likelihood.h"

namespace gpb {

constexpr double kLeastWeight = 1e-100;  // of a site: smaller ones count as none

// The log likelihood of all rewards as a function of the functionals.
class SiteTerms {
 public:
  virtual ~SiteTerms() = default;
  virtual double log_likelihood(const VectorXd& f) const = 0;
  // The same, with the sites of a Newton step.
  virtual double sites(const VectorXd& f, VectorXd& weight, VectorXd& weighted) const = 0;
  // Expectations under independent N(f_i, variance_i): of the log likelihood, and the sites from those of l' and -l''.
  virtual double expected_sites(const VectorXd& f, const VectorXd& variance, VectorXd& weight,
                                VectorXd& weighted) const;
  // Sum over j of v_j dW_j / df.
  virtual VectorXd weight_slope(const VectorXd& f, const VectorXd& v) const = 0;
  virtual bool concave() const { return true; }
  // See Likelihood::weight_growth(): the maximum over all functionals.
  virtual double weight_growth(const VectorXd& f) const = 0;
  // See Likelihood::majorise().
  virtual void majorise(const VectorXd& f, bool begins, VectorXd& weight, VectorXd& weighted) const;
};

// Rewards pooled by their functionals.
class PooledTerms final : public SiteTerms {
 public:
  // Both must outlive this object.
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
  MatrixXd features;  // no columns if the covariance is given
  MatrixXd gram;
  VectorXd left_out;  // variances that the features lack; empty: none
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
  // The part of a functional's variance that the features lack.
  double left_out(Index i) const { return prior_.left_out.size() > 0 ? prior_.left_out[i] : 0.0; }
  // For the sites of the last solve(): log det(I + K W), and the functionals' variances without left_out().
  double log_det() const;
  VectorXd variances() const;
  // (K + W^-1)^-1; not available with features.
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
  double log_evidence = 0.0;  // Laplace's log Z; kNaN for likelihoods that are not concave
  double penalty = 0.0;       // J = -sum l(f) + |f - m|^2 / 2
  double weight_growth = 0.0;  // see Likelihood
  // For fits within a ball: the factor 1 + mu of the prior's penalty, see fit_within().
  double shrinkage = 1.0;
  int steps = 0;
};

// The error of sites under an approximate engine: the norm of the gradient of the minimised functional at the engine's
// mean, and the relative error of the sds.
struct SiteGap {
  double gradient = 0.0, sd = 0.0;
};

// The Gaussian site of one reward, as a measurement `value` of f with precision `weight`.
struct Site {
  double weight, value;
};
// Laplace's site of a further reward with a log-concave likelihood, if f at its point is N(mean, variance) without it.
Site site_of(const Likelihood& likelihood, const Likelihood::Data& data, double mean, double variance);

SiteFit fit_sites(SiteSystem& system, const SiteTerms& terms);
// The minimiser of J in the ball |f - m| <= radius (norm of the prior's space), with J's curvature there; for
// log-concave likelihoods. At the ball's edge it is the mode under a prior divided by 1 + mu, mu >= 0. With
// alpha = l' / (1 + mu) and f = m + K alpha, the sites b = W f + alpha have this mean under the original prior.
SiteFit fit_within(const SitePrior& prior, SiteSystem& system, const SiteTerms& terms, double radius);
// The Gaussian q that minimises KL(q, posterior); for log-concave likelihoods. Its sites are those of the expectations
// under q. The iteration starts from Laplace's fit; steps are damped if the bound of the evidence (`log_evidence`)
// decreases.
SiteFit fit_variational(SiteSystem& system, const SiteTerms& terms);
// E log likelihood under the fit minus KL from the prior: at most the log evidence.
double evidence_bound(const SiteSystem& system, const SiteFit& fit, const SiteTerms& terms);

}  // namespace gpb

#endif
