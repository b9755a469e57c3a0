// Finitely many arms, all known beforehand, and the engine that serves them.
#ifndef GPB_ARM_SETTING_H
#define GPB_ARM_SETTING_H

#include "posteriors/weight_posterior.h"

namespace gpb {

struct ArmSetting {
  enum class Engine { weights, played };
  ArmTablePtr table;
  Engine engine;
  LowRankPtr basis;  // weight space only
  // `drifts`: of a prior that drifts from round to round.
  std::unique_ptr<ArmPosterior> make_engine(double noise_var, VectorXd prior_mean,
                                            bool drifts = false) const;
  std::string name() const { return engine == Engine::weights ? "weights" : "played"; }
};

// Chooses the engine by cost ("auto") or as told ("weights", "played"). Exact joint draws
// need the complete factor; otherwise a factor is tried as long as it is cheap, and played
// points serve if it does not come to an end.
ArmSetting make_arm_setting(ArmTablePtr table, double noise_var, const std::string& engine,
                            bool needs_draws);

}  // namespace gpb

#endif
