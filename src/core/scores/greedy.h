// Greedy policies in the mean and in the variance, and a policy without preference.
#ifndef GPB_GREEDY_H
#define GPB_GREEDY_H

#include "scores/score.h"

namespace gpb {

class MeanScore final : public MomentScore {
 public:
  using MomentScore::MomentScore;

 protected:
  bool rises() const override { return true; }
  double of(double mean, double, Slopes* slopes) const override {
    if (slopes) *slopes = {1.0, 0.0};
    return mean;
  }
};

class DeviationScore final : public MomentScore {
 public:
  using MomentScore::MomentScore;

 protected:
  bool rises() const override { return true; }
  double of(double, double sd, Slopes* slopes) const override {
    if (slopes) *slopes = {0.0, 1.0};
    return sd;
  }
};

template <class GreedyScore>
class GreedyPolicy final : public Policy {
 public:
  std::unique_ptr<Score> prepare(const Round& round, Rng&) const override {
    return std::make_unique<GreedyScore>(round);
  }
};

class UniformPolicy final : public Policy {
 public:
  std::unique_ptr<Score> prepare(const Round&, Rng&) const override { return nullptr; }
};

}  // namespace gpb

#endif
