// Improvement over the largest value of a function drawn from the posterior: its probability (PIMS, Takeno et al. 2024)
// or its expectation (GP-EIMS, Takeno et al. 2025).
#ifndef GPB_SAMPLED_MAXIMUM_H
#define GPB_SAMPLED_MAXIMUM_H

#include "scores/improvement.h"
#include "scores/thompson.h"

namespace gpb {

template <class ImprovementScore>
class SampledMaximumPolicy final : public Policy {
 public:
  // The draw is from the posterior of the observed rewards. Pending queries, which the variance includes, only reduce
  // the sd.
  std::unique_ptr<Score> prepare(const Round& round, Rng& rng) const override {
    Round known = round;
    known.variance = known.mean;
    known.width = 1.0;
    const double maximum = round.largest(DrawnScore(known, rng));
    return std::make_unique<ImprovementScore>(round, maximum);
  }
};

}  // namespace gpb

#endif
