// Noisy expected improvement with limits, and noisy expected hypervolume improvement: averages over joint draws of the
// outcomes at the evaluated points.
#ifndef GPB_NOISY_OUTCOMES_H
#define GPB_NOISY_OUTCOMES_H

#include "scores/improvement.h"

namespace gpb {

// Improvement over the largest objective among the evaluated points at which a draw's limits hold (Letham et al. 2019).
std::unique_ptr<Score> make_noisy_improvement(const Round& round, const PlayedPoints& evaluated,
                                              const ImprovementTarget& target);
// Gain over the Pareto front of these points (Daulton et al. 2021). `reference`: empty if it is chosen by the means.
std::unique_ptr<Score> make_noisy_hypervolume(const Round& round, const PlayedPoints& evaluated,
                                              const VectorXd& reference);

}  // namespace gpb

#endif
