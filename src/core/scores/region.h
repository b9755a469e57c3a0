// A score within a region of points; and pure exploration among the points that may be the best (Contal et al. 2013).
#ifndef GPB_REGION_H
#define GPB_REGION_H

#include "scores/greedy.h"
#include "scores/upper_bound.h"

namespace gpb {

// A nonnegative score if the margin is >= 0, otherwise the margin. So every point of the region is above every other
// point, and a local search from outside leads into the region.
class RegionScore final : public Score {
 public:
  RegionScore(std::unique_ptr<Score> inside, std::unique_ptr<Score> margin, double floor)
      : inside_(std::move(inside)), margin_(std::move(margin)), floor_(floor) {}
  void values(const Candidates& candidates, VectorXd& out) const override {
    VectorXd margin;
    margin_->values(candidates, margin);
    inside_->values(candidates, out);
    combine(margin, out);
  }
  VectorXd at(const Points& X) const override {
    VectorXd out = inside_->at(X);
    combine(margin_->at(X), out);
    return out;
  }
  double at(const VectorXd& x, VectorXd* gradient) const override {
    VectorXd slope;
    const double margin = margin_->at(x, gradient ? &slope : nullptr) - floor_;
    if (margin >= -slack()) return inside_->at(x, gradient);
    if (gradient) *gradient = slope;
    return margin;
  }
  double unit() const override { return inside_->unit(); }

 private:
  double slack() const { return kTie * unit(); }
  void combine(const VectorXd& margin, VectorXd& out) const {
    for (Index i = 0; i < out.size(); ++i) {
      if (margin[i] - floor_ < -slack()) out[i] = margin[i] - floor_;
    }
  }
  std::unique_ptr<Score> inside_, margin_;
  double floor_;
};

// The largest upper bound if no reward is awaited. Otherwise the largest sd, which includes pending queries, among
// points that may be the best. At these points mean + 2 width sd, from the observed rewards, reaches the largest lower
// bound.
class PureExplorationPolicy final : public Policy {
 public:
  explicit PureExplorationPolicy(WidthPtr width) : width_(std::move(width)) {}
  double width(const Round& round) override { return finite_width(*width_, round); }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    if (!round.awaits_rewards()) return std::make_unique<UpperBoundScore>(round);
    Round known = round;
    known.variance = known.mean;
    known.width = -round.width;
    const double floor = round.largest(BoundScore(known));
    known.width = 2.0 * round.width;
    return std::make_unique<RegionScore>(std::make_unique<DeviationScore>(round),
                                         std::make_unique<BoundScore>(known), floor);
  }

 private:
  WidthPtr width_;
};

}  // namespace gpb

#endif
