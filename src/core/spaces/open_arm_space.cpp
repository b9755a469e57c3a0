// Functions of open_arm_space.h: arms in contexts that are not known in advance. Uses posteriors/.
#include "spaces/open_arm_space.h"

#include "kernels/splits.h"
#include "spaces/arm_space.h"

#include <algorithm>
#include <cmath>

namespace gpb {

OpenArmSpace::OpenArmSpace(KernelPtr kernel, MatrixXd arms, Index contexts, VectorXd prior_mean,
                           const OpenEngine& engine)
    : kernel_(std::move(kernel)),
      arms_(std::move(arms)),
      contexts_(contexts),
      prior_mean_(std::move(prior_mean)),
      engine_(engine),
      crosses_(arms_.cols()) {
  engine_.search = OpenEngine::Search::new_points;
  engine_.bounded_rank = has_bounded_rank(*kernel_, arms_.cols(), contexts_);
  Context origin;
  origin.values = VectorXd::Zero(contexts_);
  VectorXd variance(arms_.rows());
  kernel_->diagonal(candidates(origin).X, variance);
  prior_scale_ = std::sqrt(std::max(0.0, variance.maxCoeff()));
}

std::unique_ptr<Posterior> OpenArmSpace::make_posterior(double noise_var,
                                                        const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(kernel_, noise_var, prior_mean_, forgetting, engine_);
}

const Candidates& OpenArmSpace::candidates(const Context& context) {
  const Index n = arms_.rows(), d = arms_.cols();
  Points& X = candidates_.X;
  X.resize(n, d + contexts_ + 1);
  X.leftCols(d) = arms_;
  for (Index c = 0; c < contexts_; ++c) X.col(d + c).setConstant(context.values[c]);
  for (Index arm = 0; arm < n; ++arm) X(arm, d + contexts_) = static_cast<double>(arm);
  return candidates_;
}

Point OpenArmSpace::point_of(const Context& context, Index arm) const {
  VectorXd x = joined(joined(row_of(arms_, arm), context.values), static_cast<double>(arm));
  return Point::numbered(arm, std::move(x));
}

double OpenArmSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, arms_.rows());
}

Point OpenArmSpace::maximise(const Score& score, const Context& context, const Beginnings&) {
  // The candidates are those of the round for which the score was prepared.
  const LowRankPosterior* low = low_rank_of(score);
  if (!low) return point_of(context, best_arm(score, candidates_, context));
  const ArmCrosses* crosses = crosses_.follow(low->basis(), candidates_.X) ? &crosses_ : nullptr;
  return point_of(context, best_point(rising_score(score), *low, candidates_.X, prior_mean_.values(),
                                      context.eligible.get(), crosses));
}

Point OpenArmSpace::uniform(const Context& context, Rng& rng) const {
  return point_of(context, draw_arm(context, arms_.rows(), rng));
}

Point OpenArmSpace::point(Index arm, Index, const VectorXd& inputs) const {
  const Index d = arms_.cols();
  if (arm < 0 || arm >= arms_.rows() || inputs.size() != d + contexts_ || !inputs.allFinite()) {
    throw_invalid("there is no arm " + std::to_string(arm + 1) + " with such inputs");
  }
  Context context;
  context.values = segment_of(inputs, inputs.size() - contexts_, contexts_);
  return point_of(context, arm);
}

bool OpenArmSpace::in_context(const Point& point, const Context& context) const {
  return contexts_ == 0 || segment_of(point.x, arms_.cols(), contexts_) == context.values;
}

}  // namespace gpb
