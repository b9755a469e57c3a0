// Arms in contexts that are not known in advance. Inputs: those of the arm, those of the context, the arm's number.
#ifndef GPB_OPEN_ARM_SPACE_H
#define GPB_OPEN_ARM_SPACE_H

#include "posteriors/best_point.h"
#include "posteriors/open_posterior.h"
#include "spaces/space.h"

namespace gpb {

class OpenArmSpace final : public Space {
 public:
  // `arms`: one row per arm, without context and number.
  OpenArmSpace(KernelPtr kernel, MatrixXd arms, Index contexts, VectorXd prior_mean,
               const OpenEngine& engine);
  std::unique_ptr<Posterior> make_posterior(double noise_var,
                                            const Forgetting& forgetting) const override;
  const Candidates& candidates(const Context& context) override;
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override;
  Point uniform(const Context& context, Rng& rng) const override;
  Point point(Index arm, Index context, const VectorXd& inputs) const override;
  bool in_context(const Point& point, const Context& context) const override;
  VectorXd inputs(const Point& point) const override { return point.x; }
  double prior_mean(const Point& point) const override { return prior_mean_.of_arm(point.arm); }
  double largest_prior_mean(const Context& context) const override;
  double prior_scale() const override { return prior_scale_; }
  double arms() const override { return static_cast<double>(arms_.rows()); }
  Index numbered_arms() const override { return arms_.rows(); }

 private:
  Point point_of(const Context& context, Index arm) const;

  KernelPtr kernel_;
  MatrixXd arms_;
  Index contexts_;
  PriorMean prior_mean_;
  OpenEngine engine_;
  double prior_scale_ = 1.0;
  Candidates candidates_;
  ArmCrosses crosses_;
};

}  // namespace gpb

#endif
