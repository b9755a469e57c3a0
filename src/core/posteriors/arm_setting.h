// Finitely many arms that are all known in advance, and the engine for them.
#ifndef GPB_ARM_SETTING_H
#define GPB_ARM_SETTING_H

#include "posteriors/weight_posterior.h"

namespace gpb {

struct ArmSetting {
  enum class Engine { weights, played };
  ArmTablePtr table;
  Engine engine;
  LowRankPtr basis;  // weight space only
  // `drifts`: does the prior drift from round to round?
  std::unique_ptr<ArmPosterior> make_engine(double noise_var, VectorXd prior_mean,
                                            bool drifts = false) const;
  std::string name() const { return engine == Engine::weights ? "weights" : "played"; }
};

// Chooses the engine by cost ("auto") or by name ("weights", "played"). Exact joint draws need the complete factor.
// Otherwise a factor is computed as long as it is cheap, and the engine "played" is used if it cannot be completed.
ArmSetting make_arm_setting(ArmTablePtr table, double noise_var, const std::string& engine,
                            bool needs_draws);

}  // namespace gpb

#endif
