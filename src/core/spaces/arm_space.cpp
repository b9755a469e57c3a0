// Functions of arm_space.h: finitely many arms, alone or in finitely many contexts that are known in advance. Uses
// posteriors/.
#include "spaces/arm_space.h"

#include "posteriors/table_posterior.h"
#include "spaces/box_space.h"

#include <algorithm>

namespace gpb {

Index draw_arm(const Context& context, Index arms, Rng& rng) {
  if (!context.eligible) return rng.index(arms);
  std::vector<Index> allowed;
  for (Index arm = 0; arm < arms; ++arm) {
    if (context.allows(arm)) allowed.push_back(arm);
  }
  return allowed[static_cast<std::size_t>(rng.index(static_cast<Index>(allowed.size())))];
}

double largest_of_arms(const PriorMean& mean, const Context& context, Index arms) {
  if (!context.eligible) return mean.largest();
  double largest = -kInf;
  for (Index arm = 0; arm < arms; ++arm) {
    if (context.allows(arm)) largest = std::max(largest, mean.of_arm(arm));
  }
  return largest;
}

Index best_arm(const Score& score, const Candidates& candidates, const Context& context) {
  if (!context.eligible) return score.best(candidates);
  VectorXd values;
  score.values(candidates, values);
  for (Index arm = 0; arm < values.size(); ++arm) {
    if (!context.allows(arm)) values[arm] = -kInf;
  }
  const Index best = first_best(values.data(), values.size(), kTie * score.unit());
  if (context.allows(best)) return best;
  // All eligible arms have a score of -Inf.
  for (Index arm = 0; arm < values.size(); ++arm) {
    if (context.allows(arm)) return arm;
  }
  throw_invalid("no arm is eligible");
}

const LowRankPosterior* low_rank_of(const Score& score) {
  const Posterior* posterior = score.rises_with();
  return posterior ? posterior->low_rank() : nullptr;
}

RisingScore rising_score(const Score& score) {
  return {[&score](double mean, double sd) { return score.of_moments(mean, sd); },
          kTie * score.unit(), score.sd_weight()};
}

ArmSpace::ArmSpace(ArmSetting setting, VectorXd prior_mean, Index arms_per_context)
    : setting_(std::move(setting)), prior_mean_(std::move(prior_mean)), arms_(arms_per_context) {
  const Index rows = setting_.table->size();
  if (arms_ < 1 || rows % arms_ != 0 || prior_mean_.size() != rows) {
    throw_invalid("the table of arms, its contexts and its prior mean differ in size");
  }
  candidates_.count = arms_;
}

std::unique_ptr<Posterior> ArmSpace::make_posterior(double noise_var,
                                                    const Forgetting& forgetting) const {
  return std::make_unique<TablePosterior>(
      setting_.make_engine(noise_var, prior_mean_, forgetting.fades()), setting_.name(),
      forgetting);
}

const Candidates& ArmSpace::candidates(const Context& context) {
  candidates_.first = context.row * arms_;
  return candidates_;
}

Point ArmSpace::maximise(const Score& score, const Context& context, const Beginnings&) {
  return point_of(context, best_arm(score, candidates(context), context));
}

Point ArmSpace::uniform(const Context& context, Rng& rng) const {
  return point_of(context, draw_arm(context, arms_, rng));
}

Point ArmSpace::point(Index arm, Index context, const VectorXd& inputs) const {
  const Index contexts = setting_.table->size() / arms_;
  if (arm < 0 || arm >= arms_ || context < 0 || context >= contexts || inputs.size() > 0) {
    throw_invalid("there is no arm " + std::to_string(arm + 1) + " in context " + std::to_string(context + 1));
  }
  return Point::tabled(arm, context * arms_ + arm);
}

bool ArmSpace::in_context(const Point& point, const Context& context) const {
  return point.row - point.arm == context.row * arms_;
}

VectorXd ArmSpace::inputs(const Point& point) const {
  return row_of(*setting_.table->points, point.row);
}

double ArmSpace::largest_prior_mean(const Context& context) const {
  const VectorXd mean = segment_of(prior_mean_, context.row * arms_, arms_);
  if (!context.eligible) return mean.maxCoeff();
  double largest = -kInf;
  for (Index arm = 0; arm < arms_; ++arm) {
    if (context.allows(arm)) largest = std::max(largest, mean[arm]);
  }
  return largest;
}

}  // namespace gpb
