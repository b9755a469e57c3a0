// Very many arms without contexts. Scores that increase with mean and sd are maximised without evaluating all arms
// (LazyArms). Other scores are evaluated for all arms, block by block.
#ifndef GPB_MANY_ARM_SPACE_H
#define GPB_MANY_ARM_SPACE_H

#include "posteriors/lazy_arms.h"
#include "posteriors/open_posterior.h"
#include "posteriors/arm_setting.h"
#include "spaces/space.h"

namespace gpb {

// From this number of arms on, LazyArms is faster even in the first rounds than engines that update all arms.
constexpr Index kManyArms = 100000;

class ManyArmSpace final : public Space {
 public:
  ManyArmSpace(ArmTablePtr table, VectorXd prior_mean, const OpenEngine& engine);
  std::unique_ptr<Posterior> make_posterior(double noise_var,
                                            const Forgetting& forgetting) const override;
  const Candidates& candidates(const Context&) override { return candidates_; }
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override;
  Point uniform(const Context& context, Rng& rng) const override;
  Point point(Index arm, Index context, const VectorXd& inputs) const override;
  bool in_context(const Point&, const Context&) const override { return true; }
  VectorXd inputs(const Point& point) const override { return point.x; }
  double prior_mean(const Point& point) const override { return prior_mean_.of_arm(point.arm); }
  double largest_prior_mean(const Context& context) const override;
  double prior_scale() const override { return setting_.table->prior_scale; }
  double arms() const override { return static_cast<double>(numbered_arms()); }
  Index numbered_arms() const override { return setting_.table->size(); }
  const ArmSetting* arm_setting() const override { return &setting_; }

 private:
  Point point_of(Index arm) const;

  ArmSetting setting_;
  PriorMean prior_mean_;
  OpenEngine engine_;
  Candidates candidates_;
  std::unique_ptr<LazyArms> lazy_;
};

}  // namespace gpb

#endif
