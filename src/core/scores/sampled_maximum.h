// The most probable to exceed the largest value of a function drawn from the posterior (Takeno
// et al. 2024).
#ifndef GPB_SAMPLED_MAXIMUM_H
#define GPB_SAMPLED_MAXIMUM_H

#include "scores/improvement.h"
#include "scores/thompson.h"

namespace gpb {

class SampledMaximumPolicy final : public Policy {
 public:
  // The draw is from what the mean knows; pending queries that the variance knows lower sd alone.
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    Round known = round;
    known.variance = known.mean;
    known.width = 1.0;
    const double maximum = round.largest(DrawnScore(known, rng));
    return std::make_unique<ImprovementProbabilityScore>(round, maximum);
  }
};

}  // namespace gpb

#endif
