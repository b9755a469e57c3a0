// Finitely many arms, alone or in finitely many contexts that are known in advance. With contexts, the table has a
// block of all arms for each context.
#ifndef GPB_ARM_SPACE_H
#define GPB_ARM_SPACE_H

#include "posteriors/rising_score.h"
#include "posteriors/arm_setting.h"
#include "spaces/space.h"

namespace gpb {

class ArmSpace final : public Space {
 public:
  ArmSpace(ArmSetting setting, VectorXd prior_mean, Index arms_per_context);
  std::unique_ptr<Posterior> make_posterior(double noise_var,
                                            const Forgetting& forgetting) const override;
  const Candidates& candidates(const Context& context) override;
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override;
  Point uniform(const Context& context, Rng& rng) const override;
  Point point(Index arm, Index context, const VectorXd& inputs) const override;
  bool in_context(const Point& point, const Context& context) const override;
  VectorXd inputs(const Point& point) const override;
  double prior_mean(const Point& point) const override { return prior_mean_[point.row]; }
  double largest_prior_mean(const Context& context) const override;
  double prior_scale() const override { return setting_.table->prior_scale; }
  double arms() const override { return static_cast<double>(arms_); }
  Index numbered_arms() const override { return arms_; }
  const ArmSetting* arm_setting() const override { return &setting_; }

 private:
  Point point_of(const Context& context, Index arm) const {
    return Point::tabled(arm, context.row * arms_ + arm);
  }

  ArmSetting setting_;
  VectorXd prior_mean_;
  Index arms_;  // arms per context
  Candidates candidates_;
};

// The number of a uniformly drawn eligible arm.
Index draw_arm(const Context& context, Index arms, Rng& rng);
// The largest prior mean of the eligible arms.
double largest_of_arms(const PriorMean& mean, const Context& context, Index arms);
// The first of the best eligible candidates; the candidates are the context's arms in order.
Index best_arm(const Score& score, const Candidates& candidates, const Context& context);
// For scores whose rises_with() is not null.
RisingScore rising_score(const Score& score);
// The low-rank posterior of which the score is an increasing function; null if there is none.
const LowRankPosterior* low_rank_of(const Score& score);

}  // namespace gpb

#endif
