// The straddle: where it is least clear on which side of a level f is.
#ifndef GPB_LEVEL_SET_H
#define GPB_LEVEL_SET_H

#include <algorithm>
#include <cmath>

#include "scores/score.h"

namespace gpb {

// width * sd - |mean - level|, and no less than `least`.
class StraddleScore final : public MomentScore {
 public:
  StraddleScore(const Round& round, double level, double least)
      : MomentScore(round), width_(round.width), level_(level), least_(least) {}

 protected:
  double of(double mean, double sd, Slopes* slopes) const override {
    const double score = width_ * sd - std::abs(mean - level_);
    if (score < least_) {
      if (slopes) *slopes = {0.0, 0.0};
      return least_;
    }
    if (slopes) *slopes = {mean > level_ ? -1.0 : 1.0, width_};
    return score;
  }

 private:
  double width_, level_, least_;
};

// The width is 1.96 or, drawn anew each round, sqrt(-2 log U), U uniform
// (Inatsu et al. 2024), where ambiguities below 0 count as 0.
class StraddlePolicy final : public Policy {
 public:
  StraddlePolicy(double level, bool random) : level_(level), random_(random) {}
  double width(const Round& round) override {
    if (!random_) return 1.96;
    return round.state.rng ? std::sqrt(-2.0 * std::log(round.state.rng->uniform())) : kNaN;
  }
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<StraddleScore>(round, level_, random_ ? 0.0 : -kInf);
  }

 private:
  double level_;
  bool random_;
};

}  // namespace gpb

#endif
