#include "spaces/open_arm_space.h"

#include <algorithm>
#include <cmath>

#include "posteriors/best_point.h"
#include "spaces/arm_space.h"

namespace gpb {

OpenArmSpace::OpenArmSpace(KernelPtr kernel, MatrixXd arms, Index contexts, VectorXd prior_mean,
                           const OpenEngine& engine)
    : kernel_(std::move(kernel)),
      arms_(std::move(arms)),
      contexts_(contexts),
      prior_mean_(std::move(prior_mean)),
      engine_(engine) {
  engine_.search = OpenEngine::Search::new_points;
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
  X.middleCols(d, contexts_).rowwise() = context.values.transpose();
  X.col(d + contexts_) = VectorXd::LinSpaced(n, 0.0, static_cast<double>(n - 1));
  return candidates_;
}

Place OpenArmSpace::place_of(const Context& context, Index arm) const {
  VectorXd x(arms_.cols() + contexts_ + 1);
  x << arms_.row(arm).transpose(), context.values, static_cast<double>(arm);
  return Place::numbered(arm, std::move(x));
}

double OpenArmSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, arms_.rows());
}

Place OpenArmSpace::maximise(const Score& score, const Context& context, const Observations&) {
  // The candidates are those of the round, which the score was prepared for.
  const LowRankPosterior* low = low_rank_of(score);
  if (!low) return place_of(context, best_arm(score, candidates_, context));
  return place_of(context, best_point(rising_score(score), *low, candidates_.X, prior_mean_.values(),
                                      context.eligible.get()));
}

Place OpenArmSpace::uniform(const Context& context, Rng& rng) const {
  return place_of(context, draw_arm(context, arms_.rows(), rng));
}

Place OpenArmSpace::place(Index arm, Index, const VectorXd& inputs) const {
  const Index d = arms_.cols();
  if (arm < 0 || arm >= arms_.rows() || inputs.size() != d + contexts_ || !inputs.allFinite()) {
    throw std::invalid_argument("there is no arm " + std::to_string(arm + 1) +
                                " with such inputs");
  }
  Context context;
  context.values = inputs.tail(contexts_);
  return place_of(context, arm);
}

bool OpenArmSpace::in_context(const Place& place, const Context& context) const {
  return contexts_ == 0 || place.x.segment(arms_.cols(), contexts_) == context.values;
}

}  // namespace gpb
