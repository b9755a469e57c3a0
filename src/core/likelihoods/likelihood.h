// Likelihoods of rewards that are not f plus Gaussian noise. Uses base/ only.
// Rewards may be successes, counts, levels, comparisons, or measurements with outliers. Rewards of one point (or of one
// ordered pair of points) are pooled first; the pooled data define a function of f at that point.
#ifndef GPB_LIKELIHOODS_LIKELIHOOD_H
#define GPB_LIKELIHOODS_LIKELIHOOD_H

#include "base/settings.h"

namespace gpb {

// A log likelihood and its derivatives.
struct Slope {
  double value = 0.0, first = 0.0, second = 0.0, third = 0.0;
  Slope& operator+=(const Slope& other) {
    value += other.value;
    first += other.first;
    second += other.second;
    third += other.third;
    return *this;
  }
};

class Likelihood {
 public:
  // Pooled rewards: sums if these are sufficient.
  using Data = std::vector<double>;
  virtual ~Likelihood() = default;
  // Is this number a reward of size 1? (False if only the caller can decide.)
  virtual bool is_reward(double) const { return false; }
  // Adds one reward; its likelihood is raised to the power `weight`.
  virtual void pool(double value, double size, double weight, Data& data) const = 0;
  virtual Slope at(double f, const Data& data) const = 0;
  // Minus the expected second derivative for one reward of size 1.
  virtual double expected_weight(double f) const = 0;
  // The expected reward of size 1, and its slope by f. (Not of comparisons and rankings.)
  virtual double expected(double f, double& slope) const;
  // A bound of |d log W / df| and |d log E W / df| at f. Here W is -l'' and E W its expectation: the bound limits the
  // factor by which they change between two values of f.
  virtual double weight_growth(double) const { return 2.0; }
  // The least value of 2 D(u) / (u - f)^2 for u in [lower, upper]. D is the Bregman divergence of minus the log
  // likelihood between u and f. NaN if there is no proof.
  virtual double least_curvature(double f, double lower, double upper, const Data& data) const;
  // The fitted parameters of the likelihood, any real numbers; and the same likelihood with other parameters.
  virtual VectorXd parameters() const { return VectorXd(); }
  virtual std::unique_ptr<const Likelihood> with(const VectorXd& parameters) const;
  // Derivatives by the parameters, a column each: of the log likelihood at f, of its slope, of minus its second
  // derivative.
  virtual MatrixXd parameter_slopes(double f, const Data& data) const;
  // Are rewards positions in rankings, whose likelihood is no sum over functionals? See ranking.h.
  virtual bool ranks() const { return false; }
  // Is it log-concave? Otherwise fits begin at the maximum of a log-concave likelihood.
  virtual bool concave() const { return true; }
  // Sites (precision, weighted value) of a majorant at f; `begins`: of the log-concave likelihood that fits begin with.
  virtual void majorise(double f, const Data& data, bool begins, double& weight,
                        double& weighted) const;
};

using LikelihoodPtr = std::shared_ptr<const Likelihood>;

// `noise_var`: of measurements with outliers.
LikelihoodPtr make_likelihood(const Settings& settings, double noise_var);

}  // namespace gpb

#endif
