// Thompson sampling: one function drawn from the posterior, its spread scaled by the width.
#ifndef GPB_THOMPSON_H
#define GPB_THOMPSON_H

#include "scores/score.h"

namespace gpb {

class DrawnScore final : public Score {
 public:
  DrawnScore(const Round& round, Rng& rng)
      : draw_(round.variance->sample(*round.mean, *round.candidates, round.width, rng)),
        prior_scale_(round.prior_scale) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    draw_->values(candidates, out);
  }
  VectorXd at(const Points& X) const override { return draw_->at(X); }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    return draw_->at(x, gradient);
  }
  double unit() const override { return prior_scale_; }

 private:
  std::unique_ptr<SampledFunction> draw_;
  double prior_scale_;
};

class ThompsonPolicy final : public Policy {
 public:
  explicit ThompsonPolicy(WidthPtr width) : width_(std::move(width)) {}
  double width(const Round& round) override { return finite_width(*width_, round); }
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    return std::make_unique<DrawnScore>(round, rng);
  }

 private:
  WidthPtr width_;
};

}  // namespace gpb

#endif
