#include "spaces/arm_setting.h"
#include "spaces/arm_space.h"
#include "spaces/many_arm_space.h"
#include "spaces/open_arm_space.h"

#include "posteriors/best_point.h"
#include "posteriors/played_posterior.h"
#include "posteriors/root_posterior.h"
#include "posteriors/table_posterior.h"

#include <algorithm>
#include <cmath>

namespace gpb {

// ---- the table of arms and its engine -----------------------------------------------------------

namespace {
constexpr Index kSmall = 64;         // full rank up to here, whatever the kernel
constexpr Index kLargestRank = 5000; // no n x n matrix beyond
constexpr double kTrialCost = 1e8;   // n r^2 that may be spent on looking for a short factor
}  // namespace

std::unique_ptr<ArmPosterior> ArmSetting::make_engine(double noise_var, VectorXd prior_mean,
                                                      bool drifts) const {
  if (engine == Engine::played) {
    return std::make_unique<PlayedPosterior>(table, noise_var, std::move(prior_mean));
  }
  // (A drift is a step of the weights' own covariance, r^3.)
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
      throw std::invalid_argument("the kernel's rank over these arms exceeds " +
                                  std::to_string(limit) + ": Thompson sampling and the " +
                                  "weight-space engine need a factor that large in memory");
    }
  }
  return {table, ArmSetting::Engine::played, nullptr};
}

// ---- arms ---------------------------------------------------------------------------------------

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
  throw std::invalid_argument("no arm is eligible");
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
    throw std::invalid_argument("the table of arms, its contexts and its prior mean differ in size");
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

Place ArmSpace::maximise(const Score& score, const Context& context, const Observations&) {
  return place_of(context, best_arm(score, candidates(context), context));
}

Place ArmSpace::uniform(const Context& context, Rng& rng) const {
  return place_of(context, draw_arm(context, arms_, rng));
}

Place ArmSpace::place(Index arm, Index context, const VectorXd& inputs) const {
  const Index contexts = setting_.table->size() / arms_;
  if (arm < 0 || arm >= arms_ || context < 0 || context >= contexts || inputs.size() > 0) {
    throw std::invalid_argument("there is no arm " + std::to_string(arm + 1) + " in context " +
                                std::to_string(context + 1));
  }
  return Place::tabled(arm, context * arms_ + arm);
}

bool ArmSpace::in_context(const Place& place, const Context& context) const {
  return place.row - place.arm == context.row * arms_;
}

VectorXd ArmSpace::inputs(const Place& place) const {
  return setting_.table->points->row(place.row).transpose();
}

double ArmSpace::largest_prior_mean(const Context& context) const {
  const auto mean = prior_mean_.segment(context.row * arms_, arms_);
  if (!context.eligible) return mean.maxCoeff();
  double largest = -kInf;
  for (Index arm = 0; arm < arms_; ++arm) {
    if (context.allows(arm)) largest = std::max(largest, mean[arm]);
  }
  return largest;
}

// ---- very many arms -----------------------------------------------------------------------------

namespace {

// All engines over arms play the same ones: so near to the exact posterior that it is only ties
// that may differ, if rounding allows it. What is certified has to be within the accuracy only.
constexpr double kAim = 1e-7;

VectorXd one_or_all(VectorXd values) {
  if ((values.array() == values[0]).all()) values.conservativeResize(1);
  return values;
}

}  // namespace

ManyArmSpace::ManyArmSpace(ArmTablePtr table, VectorXd prior_mean, const OpenEngine& engine)
    : setting_{std::move(table), ArmSetting::Engine::played, nullptr},
      prior_mean_(prior_mean),
      engine_(engine) {
  const Points& points = *setting_.table->points;
  if (prior_mean.size() != points.rows()) {
    throw std::invalid_argument("the table of arms and its prior mean differ in size");
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

Place ManyArmSpace::place_of(Index arm) const {
  Place out = Place::tabled(arm, arm);
  out.x = setting_.table->points->row(arm).transpose();
  return out;
}

Place ManyArmSpace::maximise(const Score& score, const Context& context, const Observations&) {
  const LowRankPosterior* low = low_rank_of(score);
  if (!low) return place_of(best_arm(score, candidates_, context));
  return place_of(lazy_->choose(rising_score(score), *low, context.eligible.get()));
}

Place ManyArmSpace::uniform(const Context& context, Rng& rng) const {
  return place_of(draw_arm(context, setting_.table->size(), rng));
}

Place ManyArmSpace::place(Index arm, Index context, const VectorXd& inputs) const {
  if (arm < 0 || arm >= setting_.table->size() || context != 0 || inputs.size() > 0) {
    throw std::invalid_argument("there is no arm " + std::to_string(arm + 1));
  }
  return place_of(arm);
}

double ManyArmSpace::largest_prior_mean(const Context& context) const {
  return largest_of_arms(prior_mean_, context, numbered_arms());
}

// ---- arms in open contexts ----------------------------------------------------------------------

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
