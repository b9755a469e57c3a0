// A space whose posteriors use earlier campaigns; points and searches are those of the inner space.
#ifndef GPB_RELATED_SPACE_H
#define GPB_RELATED_SPACE_H

#include "kernels/kernel_compose.h"
#include "kernels/kernel_matrix.h"
#include "posteriors/transfer_posterior.h"
#include "posteriors/arm_setting.h"
#include "spaces/space.h"

namespace gpb {

class TransferSpace final : public Space {
 public:
  // `covariance`: of the campaigns, the current one first, in units of the kernel's variance.
  TransferSpace(std::unique_ptr<Space> space, const Kernel& kernel, MatrixXd covariance, double prior_mean,
               TransferRowsPtr rows, const OpenEngine& engine)
      : space_(std::move(space)), prior_mean_(prior_mean), rows_(std::move(rows)), engine_(engine) {
    std::vector<std::unique_ptr<Kernel>> parts;
    parts.push_back(kernel.clone());
    parts.push_back(std::make_unique<MatrixKernel>(std::move(covariance), rows_->inputs.cols() - 1));
    kernel_ = std::make_shared<ProductKernel>(std::move(parts));
  }

  std::unique_ptr<Posterior> make_posterior(double noise_var, const Forgetting& forgetting) const override {
    auto engine = std::make_unique<OpenPosterior>(kernel_, noise_var, PriorMean(VectorXd::Constant(1, prior_mean_)),
                                                  forgetting, engine_);
    const ArmSetting* arms = space_->arm_setting();
    return std::make_unique<TransferPosterior>(std::move(engine), prior_mean_, rows_,
                                              arms ? arms->table->points : nullptr);
  }
  const Candidates& candidates(const Context& context) override { return space_->candidates(context); }
  Point maximise(const Score& score, const Context& context, const Beginnings& from) override {
    return space_->maximise(score, context, from);
  }
  Point uniform(const Context& context, Rng& rng) const override { return space_->uniform(context, rng); }
  Point point(Index arm, Index context, const VectorXd& inputs) const override {
    return space_->point(arm, context, inputs);
  }
  std::vector<Point> all_points(const Context& context, double most) const override {
    return space_->all_points(context, most);
  }
  bool in_context(const Point& point, const Context& context) const override {
    return space_->in_context(point, context);
  }
  bool holds(const Point& point) const override { return space_->holds(point); }
  Points moved(const std::vector<const Point*>& points, const Context& context) const override {
    return space_->moved(points, context);
  }
  VectorXd inputs(const Point& point) const override { return space_->inputs(point); }
  double prior_mean(const Point& point) const override { return space_->prior_mean(point); }
  double largest_prior_mean(const Context& context) const override { return space_->largest_prior_mean(context); }
  double prior_scale() const override { return space_->prior_scale(); }
  double arms() const override { return space_->arms(); }
  Index numbered_arms() const override { return space_->numbered_arms(); }
  const ArmSetting* arm_setting() const override { return space_->arm_setting(); }

 private:
  std::unique_ptr<Space> space_;
  KernelPtr kernel_;
  double prior_mean_;
  TransferRowsPtr rows_;
  OpenEngine engine_;
};

}  // namespace gpb

#endif
