// What a reward says of f where it is not f with Gaussian noise: yes or no, a count, a level, a
// comparison, a reading with outliers. Rewards of one place (or of one ordered pair of places) are
// pooled first; what is left of them is a function of f there.
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
  // Pooled rewards: sums where these say it all.
  using Data = std::vector<double>;
  virtual ~Likelihood() = default;
  // One reward more, its likelihood to the power `weight`.
  virtual void pool(double value, double size, double weight, Data& data) const = 0;
  virtual Slope at(double f, const Data& data) const = 0;
  // Minus the second derivative that is expected of one reward of size 1.
  virtual double expected_weight(double f) const = 0;
  // |d log W / df| and |d log E W / df| are no more than this at f: -l'' and what is expected of it change by
  // no more than such a factor on the way to another value.
  virtual double weight_growth(double) const { return 2.0; }
  // The least precision that 2 D(u) / (u - f)^2 shows over [lower, upper], D Bregman's divergence of
  // minus the log likelihood between u and f. NaN where nothing is proved.
  virtual double least_curvature(double f, double lower, double upper, const Data& data) const;
  // What of it is fitted, any real numbers; the same likelihood with others.
  virtual VectorXd parameters() const { return VectorXd(); }
  virtual std::shared_ptr<const Likelihood> with(const VectorXd& parameters) const;
  // By these, a column each: of the log likelihood at f, of its slope, of minus its second derivative.
  virtual MatrixXd parameter_slopes(double f, const Data& data) const;
  // Are rewards points in rankings, whose likelihood is no sum over functionals? See ranking.h.
  virtual bool ranks() const { return false; }
  // Is it log-concave? Where not, fits begin at the maximum of one that is.
  virtual bool concave() const { return true; }
  // Sites (precision, weighted value) of such fits at f: `begins` of the log-concave one.
  virtual void majorise(double f, const Data& data, bool begins, double& weight,
                        double& weighted) const;
};

using LikelihoodPtr = std::shared_ptr<const Likelihood>;

// `noise_var`: of readings with outliers.
LikelihoodPtr make_likelihood(const Settings& settings, double noise_var);

}  // namespace gpb

#endif
