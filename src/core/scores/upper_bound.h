// The largest upper confidence bound: one width, or the smallest of several bounds.
#ifndef GPB_UPPER_BOUND_H
#define GPB_UPPER_BOUND_H

#include <algorithm>
#include <cmath>

#include "base/settings.h"
#include "linalg/pruned_argmax.h"
#include "scores/score.h"

namespace gpb {

// mean + width * sd; a lower bound if the width is negative.
class BoundScore : public MomentScore {
 public:
  explicit BoundScore(const Round& round) : MomentScore(round), width_(round.width) {}
  double sd_weight() const override { return width_; }

 protected:
  bool rises() const override { return width_ >= 0.0; }
  double of(double mean, double sd, Slopes* slopes) const override {
    if (slopes) *slopes = {1.0, width_};
    return mean + width_ * sd;
  }

  double width_;
};

class UpperBoundScore final : public BoundScore {
 public:
  using BoundScore::BoundScore;
  // Most arms are ruled out in groups by their largest mean and variance.
  Index best(const Candidates& candidates) const override {
    const Moments m = model_state_.moments(candidates);
    const Index n = candidates.size();
    scratch_.resize(upper_bound_scratch(n));
    return first_upper_bound(m.mean, m.variance, n, width_, kTie * unit(), scratch_.data());
  }

 private:
  mutable VectorXd scratch_;
};

class UpperBoundPolicy final : public Policy {
 public:
  explicit UpperBoundPolicy(WidthPtr width) : width_(std::move(width)) {}
  double norm_bound() const override { return width_->norm_bound(); }
  double width(const Round& round) override { return finite_width(*width_, round); }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<UpperBoundScore>(round);
  }

 private:
  WidthPtr width_;
};

// min_k mean_k + multiplier_k sd_k over posteriors that differ in their regulariser
// (width_dmm).
class SmallestBoundScore final : public Score {
 public:
  SmallestBoundScore(const Round& round, std::vector<double> multipliers)
      : terms_(round.auxiliaries.begin(), round.auxiliaries.begin() + multipliers.size()),
        multipliers_(std::move(multipliers)),
        prior_scale_(round.prior_scale) {}

  void values(const Candidates& candidates, VectorXd& out) const override {
    out = VectorXd::Constant(candidates.size(), kInf);
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      const Moments m = terms_[k]->moments(candidates);
      for (Index i = 0; i < out.size(); ++i) {
        out[i] = std::min(out[i], m.mean[i] + multipliers_[k] * std::sqrt(m.variance[i]));
      }
    }
  }
  VectorXd at(const Points& X) const override {
    VectorXd out = VectorXd::Constant(X.rows(), kInf), mean, variance;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      terms_[k]->predict(X, mean, variance);
      const VectorXd bound = mean + multipliers_[k] * roots(variance);
      for (Index i = 0; i < out.size(); ++i) out[i] = std::min(out[i], bound[i]);
    }
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    double best = kInf, mean, sd;
    VectorXd dmean, dsd;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      terms_[k]->local(x, mean, sd, dmean, dsd);
      const double bound = mean + multipliers_[k] * sd;
      if (bound >= best) continue;
      best = bound;
      if (gradient) *gradient = dmean + multipliers_[k] * dsd;
    }
    return best;
  }
  double unit() const override { return prior_scale_; }

 private:
  std::vector<const Posterior*> terms_;
  std::vector<double> multipliers_;
  double prior_scale_;
};

class SmallestBoundPolicy final : public Policy {
 public:
  explicit SmallestBoundPolicy(DmmBound bound) : bound_(std::move(bound)), all_(bound_.alpha) {
    for (const double alpha0 : bound_.alpha0) {
      const auto found = std::find(all_.begin(), all_.end(), alpha0);
      prior_scales_.push_back(static_cast<std::size_t>(found - all_.begin()));
      if (found == all_.end()) all_.push_back(alpha0);
    }
  }
  std::vector<double> auxiliaries() const override { return all_; }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<SmallestBoundScore>(round, multipliers(round));
  }
  // The multiplier of sd at which the smallest bound is attained.
  double width_at(const Round& round, const Point& point, double mean, double sd) const override {
    const std::vector<double> multiplier = multipliers(round);
    double bound = kInf, m, s;
    for (std::size_t k = 0; k < multiplier.size(); ++k) {
      round.auxiliaries[k]->at(point, m, s);
      bound = std::min(bound, m + multiplier[k] * s);
    }
    return sd > 0.0 ? (bound - mean) / sd : 0.0;
  }

 private:
  DmmTerm term(const Round& round, std::size_t k) const {
    return {all_[k], round.auxiliaries[k]->quadratic(), round.auxiliaries[k]->log_det()};
  }
  std::vector<double> multipliers(const Round& round) const {
    std::vector<DmmTerm> prior_scales;
    for (const std::size_t k : prior_scales_) prior_scales.push_back(term(round, k));
    const double radius = bound_.radius(prior_scales, round.state);
    std::vector<double> out;
    for (std::size_t k = 0; k < bound_.alpha.size(); ++k) {
      out.push_back(bound_.multiplier(term(round, k), radius));
    }
    return out;
  }

  DmmBound bound_;
  std::vector<double> all_;                // regularisers: those of the bound first, then the others
  std::vector<std::size_t> prior_scales_;  // positions of the martingales' regularisers among them
};

}  // namespace gpb

#endif
