// The user's own acquisition: a function of mean, sd and round.
#ifndef GPB_OWN_FUNCTION_H
#define GPB_OWN_FUNCTION_H

#include <algorithm>
#include <cmath>

#include "base/settings.h"
#include "scores/score.h"

namespace gpb {

class OwnScore final : public MomentScore {
 public:
  OwnScore(const Round& round, Settings::Acquisition f)
      : MomentScore(round), f_(std::move(f)), round_(round.number) {}
  // The unit of an unknown function: how far its values at the candidates are apart, as a power of
  // two. (Climbs go by it, and must not by its rounding: values that were followed from round to
  // round differ in the last digit from those of a bandit that was just made again.)
  double unit() const override { return unit_; }
  // The first of the largest: only equal scores are tied.
  Index best(const Candidates& candidates) const override {
    VectorXd score;
    values(candidates, score);
    return first_best(score.data(), score.size(), 0.0);
  }
  void values(const Candidates& candidates, VectorXd& out) const override {
    MomentScore::values(candidates, out);
    double low = kInf, high = -kInf;
    for (Index i = 0; i < out.size(); ++i) {
      if (!std::isfinite(out[i])) continue;
      low = std::min(low, out[i]);
      high = std::max(high, out[i]);
    }
    unit_ = high > low && std::isfinite(high - low) ? std::ldexp(1.0, std::ilogb(high - low)) : 1.0;
  }

 protected:
  void of_all(const double* mean, const double* variance, Index n, double* out) const override {
    const Eigen::Map<const VectorXd> v(variance, n);
    const VectorXd score = ask(Eigen::Map<const VectorXd>(mean, n), v.cwiseSqrt());
    std::copy(score.data(), score.data() + n, out);
  }

  // Derivatives by central differences, one-sided at sd = 0.
  double of(double mean, double sd, Slopes* slopes) const override {
    const double h = 1e-5 * prior_scale_, below = std::min(h, sd);
    VectorXd means(5), sds(5);
    means << mean, mean - h, mean + h, mean, mean;
    sds << sd, sd, sd, sd - below, sd + h;
    const Index needed = slopes ? 5 : 1;
    const VectorXd score = ask(means.head(needed), sds.head(needed));
    if (slopes) *slopes = {(score[2] - score[1]) / (2.0 * h), (score[4] - score[3]) / (below + h)};
    return score[0];
  }

 private:
  VectorXd ask(const VectorXd& mean, const VectorXd& sd) const {
    const VectorXd score = f_(mean, sd, round_);
    if (score.size() != mean.size() || score.array().isNaN().any()) {
      throw std::invalid_argument("`f` of policy_function() must return one number per point (" +
                                  std::to_string(mean.size()) + "), none of them NaN");
    }
    return score;
  }

  Settings::Acquisition f_;
  double round_;
  mutable double unit_ = 1.0;
};

class OwnPolicy final : public Policy {
 public:
  explicit OwnPolicy(Settings::Acquisition f) : f_(std::move(f)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<OwnScore>(round, f_);
  }

 private:
  Settings::Acquisition f_;
};

}  // namespace gpb

#endif
