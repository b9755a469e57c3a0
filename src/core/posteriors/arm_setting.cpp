// Functions of arm_setting.h: finitely many arms that are all known in advance, and the engine for them.
#include "posteriors/arm_setting.h"

#include "posteriors/played_posterior.h"
#include "posteriors/root_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

namespace {

constexpr Index kSmall = 64;         // full rank up to this size, for every kernel
constexpr Index kLargestRank = 5000; // no n x n matrix above this size
constexpr double kTrialCost = 1e8;   // n r^2 that may be spent on the search for a short factor

}  // namespace

std::unique_ptr<ArmPosterior> ArmSetting::make_engine(double noise_var, VectorXd prior_mean,
                                                      bool drifts) const {
  if (engine == Engine::played) {
    return std::make_unique<PlayedPosterior>(table, noise_var, std::move(prior_mean));
  }
  // A drift step updates the covariance of the weights, at r^3.
  if (prefers_arm_root(*basis) && !drifts) {
    return std::make_unique<RootPosterior>(table, basis, noise_var, std::move(prior_mean));
  }
  return std::make_unique<WeightPosterior>(table, basis, noise_var, std::move(prior_mean));
}

ArmSetting make_arm_setting(ArmTablePtr table, double noise_var, const std::string& engine,
                            bool needs_draws) {
  const Index n = table->size();
  const double tolerance =
      pivot_tolerance(table->prior_scale * table->prior_scale, noise_var);
  const bool demanded = engine == "weights" || needs_draws;
  Index limit = 0;
  if (demanded || n <= kSmall) {
    limit = std::min(n, kLargestRank);
  } else {
    limit = static_cast<Index>(std::sqrt(kTrialCost / static_cast<double>(n)));
    limit = std::max(kSmall, std::min(n / 8, limit));
  }
  if (demanded || engine == "auto") {
    LowRank basis = pivoted_cholesky(*table->kernel, *table->points, tolerance, limit);
    if (basis.complete) {
      return {table, ArmSetting::Engine::weights, std::make_shared<const LowRank>(std::move(basis))};
    }
    if (demanded) {
      throw_invalid("`kernel` must have a rank of at most " + std::to_string(limit) +
                    " over the arms of `domain`, for Thompson sampling and the weight-space " +
                    "engine, which keep a factor of that rank: a smoother one, or fewer arms");
    }
  }
  return {table, ArmSetting::Engine::played, nullptr};
}

}  // namespace gpb
