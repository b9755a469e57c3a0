// Expected improvement and the probability of improvement over the incumbent.
#ifndef GPB_IMPROVEMENT_H
#define GPB_IMPROVEMENT_H

#include <algorithm>
#include <cmath>

#include "base/settings.h"
#include "scores/averaged.h"
#include "scores/log_normal.h"
#include "scores/score.h"

namespace gpb {

// Expected improvement s (z Phi(z) + phi(z)), z = (mean - target) / s.
inline double expected_improvement(double mean, double sd, double target) {
  const double gap = mean - target;
  if (!(sd > 0.0)) return std::max(gap, 0.0);
  const double z = gap / sd;
  return std::max(0.0, sd * (z * normal_cdf(z) + normal_density(z)));
}

// Its logarithm, finite even if the value itself underflows.
inline double log_expected_improvement(double mean, double sd, double target) {
  const double gap = mean - target;
  if (!(sd > 0.0)) return gap > 0.0 ? std::log(gap) : -kInf;
  const double z = gap / sd;
  if (z > -25.0) return std::log(expected_improvement(mean, sd, target));
  return std::log(sd) + log_improvement(z);
}

// The same with its derivatives: d EI = Phi(z) d mean + phi(z) d sd.
struct ImprovementSlopes {
  double by_mean = 0.0, by_sd = 0.0;
};
inline double log_expected_improvement(double mean, double sd, double target, ImprovementSlopes& slopes) {
  slopes = {};
  if (!(sd > 0.0)) return log_expected_improvement(mean, sd, target);
  const double z = (mean - target) / sd;
  if (z > -25.0) {
    const double tail = normal_cdf(z), density = normal_density(z);
    const double whole = sd * (z * tail + density);
    slopes = {tail / whole, density / whole};
  } else {
    const double by_z = log_improvement_slope(z);
    slopes = {by_z / sd, (1.0 - z * by_z) / sd};
  }
  return log_expected_improvement(mean, sd, target);
}

// Uses the logarithm as the score, which orders points even if the value underflows; ties are relative.
class ExpectedImprovementScore final : public MomentScore {
 public:
  static constexpr bool kAverages = true;
  ExpectedImprovementScore(const Round& round, double target)
      : MomentScore(round), target_(target) {}
  double unit() const override { return 1.0; }
  bool logarithmic() const override { return true; }
  Index best(const Candidates& candidates) const override;

 protected:
  bool rises() const override { return true; }
  double of(double mean, double sd, Slopes* slopes) const override {
    if (!slopes) return log_expected_improvement(mean, sd, target_);
    ImprovementSlopes own;
    const double value = log_expected_improvement(mean, sd, target_, own);
    *slopes = {own.by_mean, own.by_sd};
    return value;
  }

 private:
  double improvements(const Moments& m, Index n, VectorXd& score) const;
  double target_;
};

// An upper bound of the expected improvement without transcendental functions. It is s h(z);
// for z < 0, h(z) <= phi(z) / (1 + z^2) by Mills' ratio, and e^y >= (1 + y / 16)^16.
inline double improvement_bound(double mean, double sd, double target) {
  const double gap = mean - target;
  if (!(sd > 0.0) || gap >= 0.0) return std::max(gap, 0.0) + kInvSqrt2Pi * sd;
  const double zz = (gap / sd) * (gap / sd);
  double power = 1.0 + zz / 32.0;
  for (int squaring = 0; squaring < 4; ++squaring) power *= power;
  return sd * kInvSqrt2Pi / ((1.0 + zz) * power);
}

// Expected improvement of the arms that may be best or tied, -Inf for the others; returns the largest. Bounds rule out
// most arms.
inline double ExpectedImprovementScore::improvements(const Moments& m, Index n,
                                                     VectorXd& score) const {
  score.resize(n);
  for (Index j = 0; j < n; ++j) {
    score[j] = improvement_bound(m.mean[j], std::sqrt(m.variance[j]), target_);
  }
  Index likely;
  score.maxCoeff(&likely);
  double best = expected_improvement(m.mean[likely], std::sqrt(m.variance[likely]), target_);
  for (Index j = 0; j < n; ++j) {
    if (score[j] < best * (1.0 - 1e-6)) {
      score[j] = -kInf;
      continue;
    }
    score[j] = expected_improvement(m.mean[j], std::sqrt(m.variance[j]), target_);
    best = std::max(best, score[j]);
  }
  return best;
}

inline Index ExpectedImprovementScore::best(const Candidates& candidates) const {
  VectorXd score;
  const double best = improvements(model_state_.moments(candidates), candidates.size(), score);
  if (best > 1e-290) return first_best(score.data(), score.size(), kTie * best);
  return MomentScore::best(candidates);  // every value underflows
}

// Uses z as the score, because Phi increases with z. It is -Inf or +Inf if sd = 0.
class ImprovementProbabilityScore final : public MomentScore {
 public:
  static constexpr bool kAverages = false;
  ImprovementProbabilityScore(const Round& round, double target)
      : MomentScore(round), target_(target) {}
  double unit() const override { return 1.0; }

 protected:
  double of(double mean, double sd, Slopes* slopes) const override {
    const double gap = mean - target_;
    if (!slopes) return sd > 0.0 ? gap / sd : gap > 0.0 ? kInf : -kInf;
    const double divisor = std::max(sd, 1e-12 * prior_scale_);
    const double z = gap / divisor;
    *slopes = {1.0 / divisor, -z / divisor};
    return z;
  }

 private:
  double target_;
};

// The target of improvement: the incumbent + xi, or a function of the incumbent.
class ImprovementTarget {
 public:
  explicit ImprovementTarget(const Settings& policy) : xi_(policy.number("xi")) {
    if (policy.has("target")) of_ = policy.function("target");
  }
  // NaN if there is no incumbent.
  double over(double incumbent) const { return of_ && !std::isnan(incumbent) ? of_(incumbent) : incumbent + xi_; }

 private:
  double xi_;
  std::function<double(double)> of_;
};

// The policy of either improvement score, with this target.
template <class ImprovementScore>
class ImprovementPolicy final : public Policy {
 public:
  explicit ImprovementPolicy(ImprovementTarget target) : target_(std::move(target)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    const double target = target_.over(round.incumbent());
    const auto over = [target](const Round& models) -> std::unique_ptr<Score> {
      return std::make_unique<ImprovementScore>(models, target);
    };
    // A probability is scored by its z, which cannot be averaged.
    if constexpr (ImprovementScore::kAverages) return averaged_over_models(round, over);
    return over(round);
  }

 private:
  ImprovementTarget target_;
};

}  // namespace gpb

#endif
