// Max-value entropy search (Wang & Jegelka 2017): the expected information of an observation about the largest value of
// f, given samples of that value.
#ifndef GPB_ENTROPY_H
#define GPB_ENTROPY_H

#include <algorithm>
#include <cmath>

#include "base/normal.h"
#include "base/settings.h"
#include "scores/candidate_score.h"

namespace gpb {

// The mean over samples y* of g phi(g) / (2 Phi(g)) - log Phi(g), g = (y* - mean) / sd.
class MaxValueEntropyScore final : public MomentScore {
 public:
  MaxValueEntropyScore(const Round& round, VectorXd maxima)
      : MomentScore(round), maxima_(std::move(maxima)) {}
  double unit() const override { return 1.0; }  // nats

 protected:
  double of(double mean, double sd, Slopes* slopes) const override {
    if (slopes) *slopes = {0.0, 0.0};
    if (!(sd > 0.0)) return 0.0;
    const double share = 1.0 / static_cast<double>(maxima_.size());
    double sum = 0.0;
    for (Index k = 0; k < maxima_.size(); ++k) {
      const double g = (maxima_[k] - mean) / sd, hazard = normal_hazard(g);
      sum += 0.5 * g * hazard - normal_log_cdf(g);
      if (!slopes) continue;
      // phi / Phi has the derivative -(phi / Phi) (g + phi / Phi).
      const double by_g = -0.5 * hazard * (1.0 + g * (g + hazard));
      slopes->by_mean -= share * by_g / sd;
      slopes->by_sd -= share * by_g * g / sd;
    }
    return share * sum;
  }

 private:
  VectorXd maxima_;
};

class MaxValueEntropyPolicy final : public Policy {
 public:
  explicit MaxValueEntropyPolicy(Index samples) : samples_(samples) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    return std::make_unique<MaxValueEntropyScore>(round, maxima(round, rng));
  }

 private:
  // Samples y* = a - b log(-log U) from a Gumbel distribution with the quartiles of prod_i Phi((y - mean_i) / sd_i)
  // over the candidates. Samples are raised to the best mean among the played points, because the maximum is not
  // expected to be smaller.
  VectorXd maxima(const Round& round, Rng& rng) const {
    CandidateMoments now(round);
    rule_out_ineligible(round, now.mean);
    const double low = quantile(now.mean, now.sd, 0.25), middle = quantile(now.mean, now.sd, 0.5),
                 high = quantile(now.mean, now.sd, 0.75);
    const double b = (low - high) / (std::log(std::log(4.0 / 3.0)) - std::log(std::log(4.0)));
    const double a = middle + b * std::log(std::log(2.0)), least = round.incumbent();
    VectorXd out(samples_);
    for (Index k = 0; k < samples_; ++k) {
      out[k] = std::max(least, a - b * std::log(-std::log(rng.uniform())));
    }
    return out;
  }

  static double log_probability(const VectorXd& mean, const VectorXd& sd, double y) {
    double sum = 0.0;
    for (Index i = 0; i < mean.size(); ++i) {
      if (sd[i] > 0.0) sum += normal_log_cdf((y - mean[i]) / sd[i]);
      else if (y < mean[i]) return -kInf;
    }
    return sum;
  }

  // The y at which the distribution function of the maximum, with independent values, reaches p; by bisection, to seven
  // digits. More digits would make choices depend on rounding: moments updated from round to round and those of a
  // rebuilt bandit differ in the last digits.
  static double quantile(const VectorXd& mean, const VectorXd& sd, double p) {
    double low = (mean - 6.0 * sd).maxCoeff(), high = (mean + 6.0 * sd).maxCoeff();
    const double reach = std::max(high - low, 1e-300);
    while (log_probability(mean, sd, high) < std::log(p)) high += reach;
    for (int i = 0; i < 60; ++i) {
      const double y = 0.5 * (low + high);
      (log_probability(mean, sd, y) < std::log(p) ? low : high) = y;
    }
    int exponent;
    const double digits = std::frexp(0.5 * (low + high), &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(digits, 24)), exponent - 24);
  }

  Index samples_;
};

}  // namespace gpb

#endif
