// Functions of many_arm_space.h: very many arms without contexts. Uses posteriors/.
#include "spaces/many_arm_space.h"

#include "spaces/arm_space.h"

namespace gpb {

namespace {

// All engines over arms should play the same arms. So this aim is close enough to the exact posterior that only ties
// may differ, if rounding permits it. Only the certificate has to be within the accuracy.
constexpr double kAim = 1e-7;

VectorXd one_or_all(VectorXd values) {
  if (all_equal(values, values[0])) values.conservativeResize(1);
  return values;
}

}  // namespace

ManyArmSpace::ManyArmSpace(ArmTablePtr table, VectorXd prior_mean, const OpenEngine& engine)
    : setting_{std::move(table), ArmSetting::Engine::played, nullptr},
      prior_mean_(prior_mean),
      engine_(engine) {
  const Points& points = *setting_.table->points;
  if (prior_mean.size() != points.rows()) {
    throw_invalid("the table of arms and its prior mean differ in size");
  }
  engine_.aim = kAim;
  engine_.search = OpenEngine::Search::same_points;
  candidates_.X = points;
  lazy_ = std::make_unique<LazyArms>(*setting_.table->kernel, points, points.cols() - 1,
                                     one_or_all(std::move(prior_mean)));
}

std::unique_ptr<Posterior> ManyArmSpace::make_posterior(double noise_var,
                                                        const Forgetting& forgetting) const {
  return std::make_unique<OpenPosterior>(setting_.table->kernel, noise_var, prior_mean_,
                                         forgetting, engine_);
}

Point ManyArmSpace::point_of(Index arm) const {
  Point out = Point::tabled(arm, arm);
  out.x = row_of(*setting_.table->points, arm);
  return out;
}

Point ManyArmSpace::maximise(const Score& score, const Context& context, const Beginnings&) {
  const LowRankPosterior* low = low_rank_of(score);
  if (!low) return point_of(best_arm(score, candidates_, context));
  return point_of(lazy_->choose(rising_score(score), *low, context.eligible.get()));
}

Point ManyArmSpace::uniform(const Context& context, Rng& rng) const {
  return point_of(draw_arm(context, setting_.table->size(), rng));
}

Point ManyArmSpace::point(Index arm, Index context, const VectorXd& inputs) const {
  if (arm < 0 || arm >= setting_.table->size() || context != 0 || inputs.size() > 0) {
    throw_invalid("there is no arm " + std::to_string(arm + 1));
  }
  return point_of(arm);
}

double ManyArmSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, numbered_arms());
}

}  // namespace gpb
