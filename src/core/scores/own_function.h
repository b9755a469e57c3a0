// The user's acquisition function: a function of mean, sd and round.
#ifndef GPB_OWN_FUNCTION_H
#define GPB_OWN_FUNCTION_H

#include <algorithm>
#include <cmath>

#include "base/settings.h"
#include "scores/candidate_score.h"

namespace gpb {

// The spread of an unknown function's values, as a power of two. Local searches use this unit, and must not depend on
// rounding: values updated from round to round and those of a rebuilt bandit differ in the last digit.
inline double unit_of_spread(const VectorXd& values) {
  double low = kInf, high = -kInf;
  for (Index i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  return high > low && std::isfinite(high - low) ? std::ldexp(1.0, std::ilogb(high - low)) : 1.0;
}

// The first of the largest values; for an unknown function only equal scores are tied.
inline Index best_untied(const Score& score, const Candidates& candidates) {
  VectorXd values;
  score.values(candidates, values);
  return first_best(values.data(), values.size(), 0.0);
}

inline VectorXd checked_scores(VectorXd score, Index count) {
  if (score.size() != count || score.array().isNaN().any()) {
    throw_invalid("`f` of policy_function() must return one number per point (" +
                  std::to_string(count) + "), none of them NaN");
  }
  return score;
}

class OwnScore final : public MomentScore {
 public:
  OwnScore(const Round& round, Settings::Acquisition f)
      : MomentScore(round), f_(std::move(f)), round_(round.number) {}
  double unit() const override { return unit_; }
  Index best(const Candidates& candidates) const override { return best_untied(*this, candidates); }
  void values(const Candidates& candidates, VectorXd& out) const override {
    MomentScore::values(candidates, out);
    unit_ = unit_of_spread(out);
  }

 protected:
  void of_all(const double* mean, const double* variance, Index n, double* out) const override {
    const VectorXd score =
        ask(Eigen::Map<const VectorXd>(mean, n), roots(Eigen::Map<const VectorXd>(variance, n)));
    std::copy(score.data(), score.data() + n, out);
  }

  // Derivatives by central differences, one-sided at sd = 0.
  double of(double mean, double sd, Slopes* slopes) const override {
    const double h = 1e-5 * prior_scale_, below = std::min(h, sd);
    VectorXd means(5), sds(5);
    means << mean, mean - h, mean + h, mean, mean;
    sds << sd, sd, sd, sd - below, sd + h;
    const Index needed = slopes ? 5 : 1;
    const VectorXd score = ask(segment_of(means, 0, needed), segment_of(sds, 0, needed));
    if (slopes) *slopes = {(score[2] - score[1]) / (2.0 * h), (score[4] - score[3]) / (below + h)};
    return score[0];
  }

 private:
  VectorXd ask(const VectorXd& mean, const VectorXd& sd) const {
    return checked_scores(f_(mean, sd, round_), mean.size());
  }

  Settings::Acquisition f_;
  double round_;
  mutable double unit_ = 1.0;
};

// The same for a function that also receives the points.
class LocatedOwnScore final : public Score {
 public:
  LocatedOwnScore(const Round& round, Settings::LocatedAcquisition f)
      : f_(std::move(f)),
        model_state_(round.model_state()),
        round_(round.number),
        prior_scale_(round.prior_scale),
        inputs_(round.inputs()) {}
  double unit() const override { return unit_; }
  Index best(const Candidates& candidates) const override { return best_untied(*this, candidates); }
  void values(const Candidates& candidates, VectorXd& out) const override {
    const CandidateMoments now(model_state_, candidates);
    out = ask(now.mean, now.sd, inputs_);
    unit_ = unit_of_spread(out);
  }
  VectorXd at(const Points& X) const override {
    VectorXd mean, variance;
    model_state_.predict(X, mean, variance);
    return ask(mean, roots(variance), X);
  }
  // Derivatives by central differences in mean, sd (one-sided at 0) and inputs.
  double at(const VectorXd& x, VectorXd* gradient) const override {
    if (!gradient) return at(as_rows(x))[0];
    double mean = 0.0, sd = 0.0;
    VectorXd dmean, dsd;
    model_state_.local(x, mean, sd, dmean, dsd);
    const Index d = x.size();
    const double h = 1e-5 * prior_scale_, below = std::min(h, sd);
    Points X = as_rows(x, 5 + 2 * d);
    VectorXd means = VectorXd::Constant(X.rows(), mean), sds = VectorXd::Constant(X.rows(), sd);
    means[1] -= h;
    means[2] += h;
    sds[3] -= below;
    sds[4] += h;
    VectorXd step(d);
    for (Index c = 0; c < d; ++c) {
      step[c] = 1e-6 * std::max(1.0, std::abs(x[c]));
      X(5 + 2 * c, c) -= step[c];
      X(6 + 2 * c, c) += step[c];
    }
    const VectorXd score = ask(means, sds, X);
    *gradient = (score[2] - score[1]) / (2.0 * h) * dmean + (score[4] - score[3]) / (below + h) * dsd;
    for (Index c = 0; c < d; ++c) (*gradient)[c] += (score[6 + 2 * c] - score[5 + 2 * c]) / (2.0 * step[c]);
    return score[0];
  }

 private:
  VectorXd ask(const VectorXd& mean, const VectorXd& sd, const Points& X) const {
    return checked_scores(f_(mean, sd, round_, X), mean.size());
  }

  Settings::LocatedAcquisition f_;
  MeanAndVariance model_state_;
  double round_, prior_scale_;
  Points inputs_;
  mutable double unit_ = 1.0;
};

// The policy of a score that is made from a function and the round.
template <class FunctionScore, class Function>
class FunctionPolicy final : public Policy {
 public:
  explicit FunctionPolicy(Function f) : f_(std::move(f)) {}
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<FunctionScore>(round, f_);
  }

 private:
  Function f_;
};

using OwnPolicy = FunctionPolicy<OwnScore, Settings::Acquisition>;
using LocatedOwnPolicy = FunctionPolicy<LocatedOwnScore, Settings::LocatedAcquisition>;

}  // namespace gpb

#endif
