// Predictions of a bandit's rewards, each from those before it, under several rules of forgetting. Uses bandit/.
#ifndef GPB_FORECASTS_H
#define GPB_FORECASTS_H

#include "bandit/bandit.h"

namespace gpb {

// Log predictive densities (or probabilities) of the latest `most` rewards of the first outcome, a row each, in the
// order of their queries; a column for each rule. The model is the one in force. If it is large, up to kForecastBlock
// successive rewards are predicted from those before the first of them.
MatrixXd log_forecasts(const Bandit& bandit, const std::vector<Forgetting>& rules, Index most);

inline constexpr Index kForecastBlock = 50;

}  // namespace gpb

#endif
