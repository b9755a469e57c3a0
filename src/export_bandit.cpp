// R's entry points for bandits: creation, queries and reports, posteriors, runs. Uses the core and the adapters r_*.

#include "r_bandit.h"

#include "bandit/forecasts.h"
#include "bandit/run.h"
#include "base/stream_random.h"
#include "base/ties.h"
#include "events/changes.h"
#include "events/output_moments.h"
#include "kernels/make_kernel.h"
#include "linalg/floors.h"
#include "r_interrupt.h"
#include "r_lbfgsb.h"
#include "r_rng.h"
#include "r_settings.h"
#include "scores/goal.h"
#include "scores/outcomes.h"
#include "scores/pareto_front.h"
#include "scores/policies.h"
#include "scores/safe.h"
#include "spaces/make_space.h"
#include "widths/make_width.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

// ---- a bandit's settings ------------------------------------------------------------------------

namespace gpb {

namespace {

Role role_from(const Settings& role) {
  Role out;
  out.objective = role.flag("objective");
  out.lower = role.number("lower");
  out.upper = role.number("upper");
  if (std::isnan(out.lower) || !(out.lower <= out.upper)) gpb::throw_invalid("limits that no value satisfies");
  return out;
}

// `settings`: the settings of one outcome: `space`, `kernel`, `noise_var`, `engine`, ...
OutcomeModelState outcome_from(const Settings& settings, const PolicyTraits& policy) {
  OutcomeModelState out;
  out.noise_var = settings.number("noise_var");
  out.space = make_space(settings, policy, lbfgsb_minimizer());
  if (settings.has("noise_field")) {
    const auto field = settings.part("noise_field");
    out.noise_field = std::make_shared<const NoiseField>(
        make_kernel(*field->part("kernel")), field->matrix("points"), field->numbers("weights"),
        field->number("level"), field->number("least"), field->number("most"));
  }
  if (settings.has("outputs")) out.outputs = make_outcome_transform(*settings.part("outputs"));
  if (settings.has("role")) out.role = role_from(*settings.part("role"));
  if (settings.has("likelihood")) {
    const auto likelihood = settings.part("likelihood");
    out.likelihood = make_likelihood(*likelihood, out.noise_var);
    out.compares = likelihood->flag("compares");
    out.variational = likelihood->flag("variational");
  }
  return out;
}

}  // namespace

// The settings themselves also describe the first outcome; `outcomes` has those of the others.
ModelState model_state_from_config(const Rcpp::List& config, HandleFunctions* handle) {
  const RSettings settings(config, handle);
  const auto policy = settings.part("policy");
  const PolicyTraits traits{policy->flag("draws"), policy->flag("rises")};
  ModelState out;
  out.outcomes.push_back(outcome_from(settings, traits));
  std::vector<Role> roles{out.outcomes[0].role};
  if (settings.has("outcomes")) {
    for (const auto& one : settings.parts("outcomes")) {
      out.outcomes.push_back(outcome_from(*one, traits));
      roles.push_back(out.outcomes.back().role);
    }
  }
  if (policy->has("repeats")) out.repeats = policy->number("repeats");
  if (settings.has("forgetting")) out.forgetting = make_forgetting(*settings.part("forgetting"));
  out.fresh = settings.has("fresh");
  out.exact = settings.has("exact");
  out.once = settings.has("once");
  if (settings.has("coded")) {
    const VectorXd coded = settings.numbers("coded");
    for (Index k = 0; k < coded.size(); ++k) out.coded.push_back(static_cast<Index>(coded[k]));
  }
  out.noise_fitted = settings.has("noise_fitted");
  out.noiseless = settings.has("noiseless");
  WidthPtr width;
  if (policy->has("width")) {
    width = make_width(*policy->part("width"), out.outcomes[0].space->arm_setting(), out.outcomes[0].noise_var);
  }
  if (settings.has("goal")) {
    const auto goal = settings.part("goal");
    std::vector<GoalOutcome> outcomes;
    for (const OutcomeModelState& one : out.outcomes) outcomes.push_back({one.outputs, one.likelihood});
    const Formula formula(goal->numbers("op"), goal->numbers("value"), goal->count("variables"));
    out.policy = make_goal_policy(*policy, {formula, std::move(outcomes)});
    return out;
  }
  const bool trades = std::count_if(roles.begin(), roles.end(), [](const Role& r) { return r.objective; }) > 1;
  const bool limited = std::any_of(roles.begin(), roles.end(), [](const Role& r) { return r.limited(); });
  const bool takes_all = roles.size() > 1 && policy->flag("takes_all");
  if (trades || limited || takes_all) {
    out.policy = make_outcomes_policy(*policy, std::move(width), roles);
  } else {
    out.policy = make_policy(*policy, std::move(width));
  }
  return out;
}

StateRules rules_from_config(const Rcpp::List& config, HandleFunctions* handle) {
  const RSettings settings(config, handle);
  StateRules out;
  out.pending = make_pending(*settings.part("pending"));
  if (settings.has("changes")) out.changes = make_changes(*settings.part("changes"));
  if (settings.has("constraints")) {
    out.constraints = make_constraints(*settings.part("constraints"));
  }
  if (settings.has("clip")) out.clip = settings.number("clip");
  if (settings.has("likelihood")) {
    out.ranks = make_likelihood(*settings.part("likelihood"), settings.number("noise_var"))->ranks();
  }
  out.doubted = settings.has("doubted");
  if (settings.has("failures")) {
    const VectorXd signs = settings.numbers("failures");
    out.failures.clear();
    for (Index k = 0; k < signs.size(); ++k) out.failures.push_back(signs[k] > 0.0 ? 1 : signs[k] < 0.0 ? -1 : 0);
  } else if (settings.has("outcomes")) {
    out.failures.assign(1 + settings.parts("outcomes").size(), 0);
  }
  return out;
}

namespace {

FixedInputs fixed_from_list(const Rcpp::List& list) {
  auto out = std::make_shared<Fixed>();
  for (const int input : Rcpp::as<std::vector<int>>(gpb::required(list, "at"))) out->at.push_back(input);
  out->values = Rcpp::as<Eigen::VectorXd>(gpb::required(list, "values"));
  check_length(out->values.size(), static_cast<R_xlen_t>(out->at.size()));
  if (list.containsElementNamed("candidates")) {
    out->candidates = Rcpp::as<Eigen::MatrixXd>(gpb::required(list, "candidates"));
  }
  return out;
}

}  // namespace

std::vector<Context> contexts_from_list(const Rcpp::List& contexts) {
  const Rcpp::IntegerVector row(element(contexts, "row"));
  const Rcpp::NumericMatrix values(element(contexts, "values"));
  if (values.nrow() != row.size()) gpb::throw_invalid("contexts differ in number");
  ArmSet eligible;
  const SEXP arms = element(contexts, "eligible"), held = element(contexts, "fixed");
  if (!Rf_isNull(arms)) {
    const auto flags = Rcpp::as<std::vector<int>>(arms);
    eligible = std::make_shared<const std::vector<char>>(flags.begin(), flags.end());
  }
  const FixedInputs fixed = Rf_isNull(held) ? nullptr : fixed_from_list(Rcpp::List(held));
  std::vector<Context> out(static_cast<std::size_t>(row.size()));
  for (int k = 0; k < row.size(); ++k) {
    Context& context = out[static_cast<std::size_t>(k)];
    context.row = row[k];
    context.eligible = eligible;
    context.fixed = fixed;
    context.values.resize(values.ncol());
    for (int c = 0; c < values.ncol(); ++c) context.values[c] = values(k, c);
  }
  return out;
}

}  // namespace gpb

// ---- a bandit -----------------------------------------------------------------------------------
// The R side of a bandit: every function has the handle and plain R data as arguments.

using gpb::Action;
using gpb::Context;
using gpb::Event;
using gpb::EventKind;
using gpb::Index;
using gpb::Query;

namespace {

constexpr Index kPredictRows = 512;  // between two checks for an interrupt

// The outcome (0-based) of each of some events, from R's numbers or NULL.
class Outcomes {
 public:
  Outcomes(SEXP outcome, R_xlen_t count) : none_(Rf_isNull(outcome)) {
    if (none_) return;
    outcome_ = Rcpp::as<std::vector<int>>(outcome);
    check_length(static_cast<R_xlen_t>(outcome_.size()), count);
  }
  Index operator[](R_xlen_t k) const {
    if (none_ || outcome_[static_cast<std::size_t>(k)] == NA_INTEGER) return gpb::kAllOutcomes;
    return outcome_[static_cast<std::size_t>(k)] - 1;
  }

 private:
  bool none_;
  std::vector<int> outcome_;
};

// Points in the form for R, `inputs` without the arm's number.
Rcpp::NumericMatrix inputs_of(const std::vector<const gpb::Point*>& points) {
  const int rows = static_cast<int>(points.size());
  if (rows == 0) return Rcpp::NumericMatrix(0, 0);
  if (points[0]->kind == gpb::Point::Kind::tabled) return Rcpp::NumericMatrix(rows, 0);
  const bool numbered = points[0]->kind == gpb::Point::Kind::numbered;
  const int columns = static_cast<int>(points[0]->x.size()) - (numbered ? 1 : 0);
  Rcpp::NumericMatrix out(rows, columns);
  for (int k = 0; k < rows; ++k) {
    for (int c = 0; c < columns; ++c) out(k, c) = points[static_cast<std::size_t>(k)]->x[c];
  }
  return out;
}

}  // namespace

// The handle keeps the R functions of the initial settings and of the last refit.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_new(const Rcpp::List& config) {
  gpb::HandleFunctions functions;
  auto held = std::make_unique<HeldBandit>(config, &functions);
  const Rcpp::Shield<SEXP> kept(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(kept, 0, functions.list());
  const Rcpp::XPtr<HeldBandit> handle(held.get(), true, bandit_tag(), kept);
  held.release();
  functions.let_go();
  return handle;
}

// "none": there is no usable object, possibly because a change failed. "changing": a change is in progress further up
// the call stack. "ready": neither.
// [[Rcpp::export(rng = false)]]
std::string cpp_bandit_state(SEXP handle) {
  if (!is_held_bandit(handle)) return "none";
  const auto* held = static_cast<const HeldBandit*>(R_ExternalPtrAddr(handle));
  if (held->changing) return "changing";
  return held->in_step ? "ready" : "none";
}

// [[Rcpp::export(rng = false)]]
bool cpp_bandit_is_ready(SEXP handle) { return is_ready(handle); }

// Plays the points of a design, one after the other.
// [[Rcpp::export(rng = false)]]
void cpp_bandit_explore(SEXP handle, const Rcpp::List& points, const Rcpp::List& contexts,
                        double time) {
  const PointsFromR point(points);
  const auto context = gpb::contexts_from_list(contexts);
  BanditDelta bandit(handle);
  bandit->set_clock(time);
  for (R_xlen_t k = 0; k < point.size(); ++k) {
    bandit->explore(point.at(bandit->space(), k), context.at(static_cast<std::size_t>(k)));
  }
}

// Rewards to values by an outcome transform, or (back) values to rewards.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_map_outputs(const Rcpp::List& map, const Rcpp::NumericVector& x,
                                    bool back) {
  const gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  Rcpp::NumericVector out(x.size());
  for (R_xlen_t k = 0; k < x.size(); ++k) {
    out[k] = back ? outputs.reward(x[k]) : outputs.value(x[k]);
  }
  return out;
}

// Means and sds of the expected reward of a measurement with this noise variance. The mean of measurements is normal on
// the scale of the outcome transform.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_output_moments(const Rcpp::List& map, const Rcpp::NumericVector& mean, const Rcpp::NumericVector& sd,
                              double noise_var) {
  const gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  gpb::OutputMoments moments(outputs, noise_var);
  const R_xlen_t n = mean.size();
  Rcpp::NumericVector centre(n), spread(n);
  double evaluations = 0.0, lower = gpb::kInf, upper = -gpb::kInf;
  for (R_xlen_t k = 0; k < n; ++k) {
    if (!moments.asks_measurements(mean[k], sd[k])) continue;
    evaluations += moments.is_sure(mean[k], sd[k]) ? 1.0 : 100.0;
    lower = std::min(lower, mean[k] - moments.kReach * sd[k]);
    upper = std::max(upper, mean[k] + moments.kReach * sd[k]);
  }
  // A table is worthwhile if it has fewer entries than the number of evaluations.
  if (evaluations > 0.0 && moments.entries(lower, upper) < evaluations) moments.tabulate(lower, upper);
  for (R_xlen_t k = 0; k < n; ++k) {
    const double middle = moments.expected_measurement(mean[k], sd[k]);
    spread[k] = moments.spread(mean[k], sd[k], middle);
    centre[k] = outputs.centre + middle;
    if (k % 256 == 0) gpb::check_interrupt();
  }
  return gpb::named_list("mean", centre, "sd", spread);
}

// The derivative of values by rewards under an outcome transform.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_output_slopes(const Rcpp::List& map, const Rcpp::NumericVector& reward) {
  const gpb::OutcomeTransform outputs = gpb::make_outcome_transform(gpb::RSettings(map));
  Rcpp::NumericVector out(reward.size());
  for (R_xlen_t k = 0; k < reward.size(); ++k) out[k] = outputs.slope(reward[k]);
  return out;
}

namespace {

Rcpp::List points_to_r(const std::vector<gpb::Point>& points) {
  Rcpp::IntegerVector arm(static_cast<R_xlen_t>(points.size()));
  std::vector<const gpb::Point*> pointers;
  for (std::size_t k = 0; k < points.size(); ++k) {
    arm[static_cast<R_xlen_t>(k)] = or_na(points[k].arm);
    pointers.push_back(&points[k]);
  }
  return gpb::named_list("arm", arm, "inputs", inputs_of(pointers));
}

}  // namespace

// The point that the posterior mean recommends in each context, among those at which the limits hold with probability
// `feasible`.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_best(SEXP handle, const Rcpp::List& contexts, double feasible) {
  BanditHandle bandit(handle);
  std::vector<gpb::Point> points;
  for (const Context& context : gpb::contexts_from_list(contexts)) {
    points.push_back(bandit->recommend(context, feasible));
  }
  return points_to_r(points);
}

// The number of points that were not played, and are not pending, in each context.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_bandit_left(SEXP handle, const Rcpp::List& contexts) {
  BanditHandle bandit(handle);
  Rcpp::NumericVector out;
  for (const Context& context : gpb::contexts_from_list(contexts)) out.push_back(bandit->points_left(context));
  return out;
}

// Is a point left in one context? (See Bandit::has_points_left().)
// [[Rcpp::export(rng = false)]]
bool cpp_bandit_has_left(SEXP handle, const Rcpp::List& context) {
  BanditHandle bandit(handle);
  return bandit->has_points_left(gpb::contexts_from_list(context).at(0));
}

// The worth of the points of queries in which an outcome is known, in the model's units. `exact`: it has almost no
// noise.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector cpp_bandit_worth(SEXP handle, const std::vector<int>& ids, int outcome, bool exact) {
  BanditHandle bandit(handle);
  for (const int id : ids) {
    if (!bandit->state().is_known(bandit->state().query(id), outcome - 1)) gpb::throw_invalid("an unknown outcome");
  }
  return Rcpp::wrap(bandit->worth_of_evaluated(std::vector<Index>(ids.begin(), ids.end()), outcome - 1, exact));
}

// [[Rcpp::export(rng = false)]]
bool cpp_bandit_shows_noise(SEXP handle) {
  BanditHandle bandit(handle);
  return bandit->has_shown_noise();
}

namespace {

Rcpp::LogicalVector flags_to_r(const std::vector<char>& flags) {
  Rcpp::LogicalVector out(static_cast<R_xlen_t>(flags.size()));
  for (R_xlen_t k = 0; k < out.size(); ++k) out[k] = flags[static_cast<std::size_t>(k)] != 0;
  return out;
}

}  // namespace

// The point of a context with the largest mean + width * sd, and this value (width < 0: a lower bound).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_bound(SEXP handle, const Rcpp::List& context, double width) {
  BanditHandle bandit(handle);
  const auto found = bandit->largest_bound(width, gpb::contexts_from_list(context).at(0));
  Rcpp::List out = points_to_r({found.first});
  out["value"] = found.second;
  return out;
}

// The point of a context with the largest sum of several bandits' bounds, see BoundTerm; `target`: NaN for none.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandits_largest_sum(const Rcpp::List& handles, const Rcpp::List& context,
                                   const Rcpp::NumericVector& weight, const Rcpp::NumericVector& width,
                                   const Rcpp::LogicalVector& floored, double target) {
  std::vector<gpb::BoundTerm> terms;
  std::vector<const gpb::Bandit*> others;
  BanditHandle first(handles[0]);
  for (R_xlen_t k = 0; k < handles.size(); ++k) {
    if (k > 0) others.push_back(&*BanditHandle(handles[k]));
    terms.push_back({weight[k], width[k], floored[k] != 0});
  }
  return points_to_r({first->largest_sum(others, std::move(terms), target, gpb::contexts_from_list(context).at(0))});
}

// Safe sets (see SafeSets) of the points by the posteriors of several bandits (the first one is the objective's), and
// the point that SafeOpt or StageOpt chooses. The points are all arms in a context, or `points`, whose `inputs` define
// distances. `safety`: `outcome` (0-based), `threshold` and `lipschitz` (NaN: none). `stages`: NULL for SafeOpt, or
// `accuracy` (NaN: the default) and `second`. Returns the sets, the numbers of the point chosen and of the one with the
// largest lower bound (1-based), and `second`.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandits_safe(const Rcpp::List& handles, const Rcpp::NumericVector& width, const Rcpp::List& context,
                            const Rcpp::List& safety, const Rcpp::LogicalVector& seed, bool by_bounds, bool expand,
                            const Eigen::MatrixXd& points, const Eigen::MatrixXd& inputs,
                            const Rcpp::Nullable<Rcpp::List>& stages) {
  std::vector<gpb::OutcomeView> outcomes;
  for (R_xlen_t k = 0; k < handles.size(); ++k) {
    outcomes.push_back(BanditHandle(handles[k])->known_view());
    outcomes.back().width = width[k];
  }
  gpb::SafetyRule rule;
  rule.actions = inputs.cols();
  const Rcpp::IntegerVector outcome = gpb::required(safety, "outcome");
  const Rcpp::NumericVector threshold = gpb::required(safety, "threshold");
  const Rcpp::NumericVector lipschitz = gpb::required(safety, "lipschitz");
  for (R_xlen_t j = 0; j < outcome.size(); ++j) {
    rule.limits.push_back({static_cast<std::size_t>(outcome[j]), 1.0, threshold[j], lipschitz[j]});
  }
  BanditHandle first(handles[0]);
  gpb::Candidates all = first->space().candidates(gpb::contexts_from_list(context).at(0));
  if (!all.tabled()) {
    all = gpb::Candidates();
    all.X = points;
  }
  const gpb::SafeSets sets = gpb::safe_sets(outcomes, all, rule, std::vector<char>(seed.begin(), seed.end()), by_bounds,
                                            expand, [&inputs] { return gpb::Points(inputs); });
  gpb::SafeRound round;
  for (std::size_t k = 0; k < outcomes.size(); ++k) round.spans.push_back(sets.upper[k] - sets.lower[k]);
  round.prior_sd = [&](gpb::Index k) { return BanditHandle(handles[k])->prior_sd(0, all); };
  round.prior_scale = outcomes[0].prior_scale;
  gpb::SafeStages how;
  if (stages.isNotNull()) {
    const Rcpp::List given(stages);
    how = {true, Rcpp::as<double>(gpb::required(given, "accuracy"))};
    round.second = Rcpp::as<bool>(gpb::required(given, "second"));
  }
  const gpb::SafeChoice choice = gpb::safe_choice(rule, how, sets, sets.safe, round);
  Eigen::VectorXd lower = sets.lower[0];
  for (gpb::Index i = 0; i < lower.size(); ++i) {
    if (!sets.safe[static_cast<std::size_t>(i)]) lower[i] = -gpb::kInf;
  }
  const auto first_of = [](const Eigen::VectorXd& score, double unit) {
    return static_cast<int>(gpb::first_best(score.data(), score.size(), gpb::kTie * unit)) + 1;
  };
  return gpb::named_list("lower", sets.lower[0], "upper", sets.upper[0], "safe", flags_to_r(sets.safe),
                         "maximiser", flags_to_r(sets.maximiser), "expander", flags_to_r(sets.expander),
                         "chosen", first_of(choice.score, choice.unit),
                         "best", first_of(lower, outcomes[0].prior_scale), "second", choice.second);
}

// The same for a bandit with a safe policy: the labels of its candidates in a context, and the bounds of the objective.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_safe(SEXP handle, const Rcpp::List& context) {
  BanditHandle bandit(handle);
  const Context here = gpb::contexts_from_list(context).at(0);
  const gpb::PointLabels found = bandit->labels(here);
  return gpb::named_list("safe", flags_to_r(found.safe), "maximiser", flags_to_r(found.maximiser),
                         "expander", flags_to_r(found.expander), "lower", found.lower, "upper", found.upper,
                         "inputs", bandit->space().candidates(here).X);
}

// The point of a context with the largest mean + width * sd of f - f(from), and this value; `from`: one point.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_advantage(SEXP handle, const Rcpp::List& from, const Rcpp::List& context,
                                double width) {
  BanditHandle bandit(handle);
  const gpb::Point point = PointsFromR(from).at(bandit->space(), 0);
  const auto found =
      bandit->largest_advantage(point, width, gpb::contexts_from_list(context).at(0));
  Rcpp::List out = points_to_r({found.first});
  out["value"] = found.second;
  return out;
}

// Means and sds of f minus f at a point, at all arms in a known context, or at points.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_differences(SEXP handle, const Rcpp::List& from, const Rcpp::List& context,
                                  const Eigen::MatrixXd& points) {
  BanditHandle bandit(handle);
  const gpb::Point point = PointsFromR(from).at(bandit->space(), 0);
  gpb::Candidates some = bandit->space().candidates(gpb::contexts_from_list(context).at(0));
  if (!some.tabled()) some.X = points;
  Eigen::VectorXd mean, variance;
  bandit->mean().differences(some, point, mean, variance);
  return gpb::named_list("mean", mean, "sd", gpb::roots(variance));
}

// The running intervals of a context's candidates, and the number of times they were empty.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_intervals(SEXP handle, const Rcpp::List& context) {
  BanditHandle bandit(handle);
  const Context here = gpb::contexts_from_list(context).at(0);
  const gpb::RunningIntervals found = bandit->intervals(here);
  const gpb::Candidates& all = bandit->space().candidates(here);
  return gpb::named_list("lower", gpb::segment_of(found.lower(), all.first, all.size()),
                         "upper", gpb::segment_of(found.upper(), all.first, all.size()), "inputs", all.X,
                         "refutations", static_cast<int>(found.refutations()));
}

// Joint draws of the maximum and the value at the recommended point: a row each.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_bandit_drawn_maxima(SEXP handle, const Rcpp::List& context, int draws) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const Context here = gpb::contexts_from_list(context).at(0);
  const gpb::Point point = bandit->recommend(here);
  Eigen::MatrixXd out(draws, 2);
  constexpr int block = 16;
  for (int k = 0; k < draws; k += block) {
    const int some = std::min(block, draws - k);
    out.middleRows(k, some) = bandit->drawn_maxima(point, some, here, rng);
    gpb::check_interrupt();
  }
  return out;
}

// Factorises the covariance once for such draws. Returns a handle for cpp_joint_maxima(), or NULL if there is none.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_joint_maxima(SEXP handle, const Rcpp::List& context) {
  BanditHandle bandit(handle);
  auto found = bandit->joint_maxima(gpb::contexts_from_list(context).at(0));
  if (!found) return R_NilValue;
  return Rcpp::XPtr<gpb::JointMaxima>(found.release(), true);
}

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_joint_maxima(SEXP joint, int draws) {
  const Rcpp::XPtr<gpb::JointMaxima> maxima(joint);
  gpb::RRng seeds;
  gpb::StreamRng rng(seeds);
  return maxima->draw(draws, rng);
}

// A reward that is NA is not known yet. `outcomes`: NULL or, with several outcomes, their values with noise variances,
// sizes and spreads (`value`, `noise_var`, `size`, `spread`, a row per point). Values that are not NA are reported after
// all points have been given.
// [[Rcpp::export(rng = false)]]
void cpp_bandit_give(SEXP handle, const Rcpp::List& points, const Rcpp::List& contexts,
                     const Rcpp::NumericVector& reward, const Eigen::MatrixXd& constraints,
                     double time, const Rcpp::List& reported, const Rcpp::Nullable<Rcpp::List>& outcomes) {
  const ReportFromR beside(reported, reward.size());
  const PointsFromR point(points);
  const auto context = gpb::contexts_from_list(contexts);
  BanditDelta bandit(handle);
  const Index before = bandit->state().rounds();
  bandit->set_clock(time);
  for (R_xlen_t k = 0; k < point.size(); ++k) {
    bandit->give(point.at(bandit->space(), k), context[static_cast<std::size_t>(k)], reward[k],
                 gpb::row_of(constraints, static_cast<Index>(k)), beside.at(k));
    if (k % 64 == 63) gpb::check_interrupt();
  }
  if (outcomes.isNull()) return;
  const Rcpp::List all(outcomes.get());
  const auto value = Rcpp::as<Eigen::MatrixXd>(gpb::required(all, "value"));
  const auto matrix = [&](const char* name) { return Rcpp::as<Eigen::MatrixXd>(gpb::required(all, name)); };
  const Eigen::MatrixXd noise_var = matrix("noise_var"), size = matrix("size"), spread = matrix("spread");
  check_length(value.rows(), point.size());
  for (Index k = 0; k < value.rows(); ++k) {
    for (Index j = 0; j < value.cols(); ++j) {
      if (std::isnan(value(k, j))) continue;
      gpb::Report one;
      one.noise_var = noise_var(k, j);
      one.size = size(k, j);
      one.spread = spread(k, j);
      one.outcome = j;
      bandit->observe(before + k + 1, value(k, j), Eigen::VectorXd(), one);
    }
  }
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_amend(SEXP handle, const Rcpp::IntegerVector& id,
                      const Rcpp::NumericVector& reward, const Rcpp::List& reported) {
  const ReportFromR beside(reported, id.size());
  BanditDelta bandit(handle);
  for (R_xlen_t k = 0; k < id.size(); ++k) bandit->amend(id[k], reward[k], beside.at(k));
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_withdraw(SEXP handle, const Rcpp::IntegerVector& id, bool failed, SEXP outcome) {
  const Outcomes outcomes(outcome, id.size());
  BanditDelta bandit(handle);
  for (R_xlen_t k = 0; k < id.size(); ++k) {
    bandit->withdraw(id[k], failed ? gpb::Status::failed : gpb::Status::withdrawn, outcomes[k]);
  }
}

// The status of each outcome of some queries: a row each.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix cpp_bandit_cells(SEXP handle, const Rcpp::IntegerVector& id) {
  BanditHandle bandit(handle);
  const gpb::BanditState& state = bandit->state();
  Rcpp::IntegerMatrix out(static_cast<int>(id.size()), static_cast<int>(state.outcomes()));
  for (int i = 0; i < out.nrow(); ++i) {
    for (int k = 0; k < out.ncol(); ++k) out(i, k) = static_cast<int>(state.query(id[i]).cell(k).status);
  }
  return out;
}

// Reported data of some queries other than the values: a row each and a column per outcome, NA for none.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_reported(SEXP handle, const Rcpp::IntegerVector& id) {
  BanditHandle bandit(handle);
  const gpb::BanditState& state = bandit->state();
  Rcpp::NumericMatrix noise_var(static_cast<int>(id.size()), static_cast<int>(state.outcomes()));
  Rcpp::NumericMatrix size(noise_var.nrow(), noise_var.ncol()), spread(noise_var.nrow(), noise_var.ncol());
  for (int i = 0; i < noise_var.nrow(); ++i) {
    for (int k = 0; k < noise_var.ncol(); ++k) {
      const gpb::Cell& cell = state.query(id[i]).cell(k);
      const bool known = cell.status == gpb::Status::known || cell.status == gpb::Status::lost;
      gpb::Report reported;
      if (known) reported = cell.reported.get();
      noise_var(i, k) = or_na(reported.noise_var);
      size(i, k) = or_na(reported.size);
      spread(i, k) = or_na(reported.spread);
    }
  }
  return gpb::named_list("noise_var", noise_var, "size", size, "spread", spread);
}

// Means and sds of all outcomes at any points, in the form of cpp_bandit_predict() with a column per outcome.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_predict_outcomes(SEXP handle, const Eigen::MatrixXd& points) {
  BanditHandle bandit(handle);
  const auto outcomes = bandit->state().outcomes();
  Eigen::MatrixXd mean(points.rows(), outcomes), sd(points.rows(), outcomes);
  for (Index first = 0; first < points.rows(); first += kPredictRows) {
    if (first > 0) gpb::check_interrupt();
    const Index count = std::min(kPredictRows, points.rows() - first);
    const gpb::PointsMoments some = bandit->outcomes_at(points.middleRows(first, count));
    mean.middleRows(first, count) = some.mean;
    sd.middleRows(first, count) = some.sd;
  }
  return gpb::named_list("mean", mean, "sd", sd);
}

// The same at arms (0-based numbers) in known contexts (one for all, or one each), if all of them are in a table.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_arm_outcomes(SEXP handle, const Rcpp::IntegerVector& arm, const Rcpp::IntegerVector& context) {
  BanditHandle bandit(handle);
  const auto outcomes = bandit->state().outcomes();
  Eigen::MatrixXd mean(arm.size(), outcomes), sd(arm.size(), outcomes);
  for (R_xlen_t i = 0; i < arm.size(); ++i) {
    const gpb::Point point = bandit->space().point(arm[i], context[context.size() == 1 ? 0 : i], Eigen::VectorXd());
    for (Index k = 0; k < outcomes; ++k) {
      bandit->outcome_models()[static_cast<std::size_t>(k)].at(point, mean(i, k), sd(i, k));
    }
  }
  return gpb::named_list("mean", mean, "sd", sd);
}

// A formula at points: its value (`value`) and its gradient by each variable. A row of `variables` per point.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_formula(const Eigen::VectorXd& op, const Eigen::VectorXd& value, const Eigen::MatrixXd& variables) {
  const gpb::Formula formula(op, value, variables.cols());
  Eigen::VectorXd out(variables.rows()), slope;
  Eigen::MatrixXd gradient(variables.rows(), variables.cols());
  for (Index i = 0; i < variables.rows(); ++i) {
    const Eigen::VectorXd row = variables.row(i).transpose();
    out[i] = formula(row.data(), slope);
    gpb::set_row(gradient, i, slope);
  }
  return gpb::named_list("value", out, "gradient", gradient);
}

// log P(limits hold), elementwise, for outcomes with these limits (one pair for each column).
// [[Rcpp::export(rng = false)]]
Eigen::VectorXd cpp_log_feasible(const Eigen::MatrixXd& mean, const Eigen::MatrixXd& sd, const Eigen::VectorXd& lower,
                                 const Eigen::VectorXd& upper) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(mean.rows());
  for (Index k = 0; k < mean.cols(); ++k) {
    const gpb::Role role{false, lower[k], upper[k]};
    for (Index i = 0; i < mean.rows(); ++i) out[i] += gpb::log_within(role, mean(i, k), sd(i, k));
  }
  return out;
}

// The hypervolume of a Pareto front (a row per point) above a reference, with all columns maximised.
// [[Rcpp::export(rng = false)]]
double cpp_hypervolume(const Eigen::MatrixXd& front, const Eigen::VectorXd& reference) {
  return gpb::hypervolume(gpb::front_above(front, reference), reference);
}

namespace {

// A log in the form from R; its columns are checked to have equal lengths.
struct LogFromR {
  LogFromR(const Rcpp::List& queries, const Rcpp::List& contexts_in, const Rcpp::List& events,
           int first_query)
      : first(first_query),
        points(queries),
        contexts(gpb::contexts_from_list(contexts_in)),
        action(gpb::required(queries, "action")),
        mean(gpb::required(queries, "mean")),
        sd(gpb::required(queries, "sd")),
        width(gpb::required(queries, "width")),
        phase(queries.containsElementNamed("phase") ? Rcpp::IntegerVector(gpb::required(queries, "phase"))
                                                    : Rcpp::IntegerVector()),
        g(Rcpp::as<Eigen::MatrixXd>(gpb::required(queries, "g"))),
        kind(gpb::required(events, "kind")),
        id(gpb::required(events, "id")),
        reward(gpb::required(events, "reward")),
        time(gpb::required(events, "time")),
        reported(events, id.size()),
        arms(gpb::required(events, "arms")) {
    const R_xlen_t n = points.size(), m = kind.size();
    for (const R_xlen_t length : {static_cast<R_xlen_t>(contexts.size()), action.size(),
                                  mean.size(), sd.size(), width.size(),
                                  static_cast<R_xlen_t>(g.rows())}) {
      check_length(length, n);
    }
    if (phase.size() > 0) check_length(phase.size(), n);
    for (const R_xlen_t length :
         {id.size(), reward.size(), time.size(), arms.size()}) {
      check_length(length, m);
    }
  }

  // The query of an event; its number must be in the log.
  R_xlen_t query_of(R_xlen_t event) const {
    const R_xlen_t k = static_cast<R_xlen_t>(id[event]) - 1 - first;
    if (id[event] == NA_INTEGER || k < 0 || k >= points.size()) {
      gpb::throw_invalid("an event is about a query that the log does not have");
    }
    return k;
  }

  Event event(R_xlen_t e) const {
    const auto what = static_cast<EventKind>(kind[e]);
    Event out{what, id[e], time[e], reward[e], reported.at(e), Eigen::VectorXd()};
    if (what == EventKind::reward || what == EventKind::given) {
      out.g = gpb::row_of(g, query_of(e));
    }
    return out;
  }

  // `phases`: the number of phases of the policy.
  Query query(const gpb::Space& space, R_xlen_t e, int phases) const {
    const R_xlen_t k = query_of(e);
    Query out;
    // A given event can be a query and its reward in one, in a log that was compacted.
    const bool given = static_cast<EventKind>(kind[e]) == EventKind::given;
    if (action[k] < 1 || action[k] > 3 || (action[k] == static_cast<int>(Action::given) && !given)) {
      gpb::throw_invalid("unknown action of a query");
    }
    if (!std::isfinite(mean[k]) || !(sd[k] >= 0.0 && std::isfinite(sd[k]))) {
      gpb::throw_invalid("a query without a mean and a standard deviation");
    }
    out.point = points.at(space, k);
    Context context = contexts[static_cast<std::size_t>(k)];
    out.action = static_cast<Action>(action[k]);
    out.mean = mean[k];
    out.sd = sd[k];
    out.width = width[k];
    if (phases > 0 && action[k] != static_cast<int>(Action::given)) {
      out.phase = phase.size() > 0 && phase[k] != NA_INTEGER ? phase[k] : 0;
      if (out.phase < 0 || out.phase > phases) gpb::throw_invalid("unknown phase of a query");
    }
    if (STRING_ELT(arms, e) != NA_STRING) {
      gpb::read_offer(Rcpp::as<std::string>(arms[e]), space.numbered_arms(), context);
      if (context.fixed && !context.fixed->holds(out.point.x)) {
        gpb::throw_invalid("a query does not have the inputs that were fixed");
      }
    }
    out.context = std::move(context);
    return out;
  }

  int first;  // number of earlier queries
  PointsFromR points;
  std::vector<Context> contexts;
  Rcpp::IntegerVector action;
  Rcpp::NumericVector mean, sd, width;
  Rcpp::IntegerVector phase;  // of length 0 if queries have no phases
  Eigen::MatrixXd g;
  Rcpp::IntegerVector kind, id;
  Rcpp::NumericVector reward, time;
  ReportFromR reported;
  Rcpp::CharacterVector arms;  // the eligible arms, NA for all
};

}  // namespace

// Replays the events of a log. `queries` and `contexts` are those after the first `first` queries; the events concern
// only these. `look`: NULL, or a function that is called with k before the event number at[k] (both from 1, `at`
// ascending); the replay ends with the last of these events.
// [[Rcpp::export(rng = false)]]
void cpp_bandit_replay(SEXP handle, const Rcpp::List& queries, const Rcpp::List& contexts,
                       const Rcpp::List& events, const Rcpp::List& refits, int first, SEXP look,
                       const Rcpp::IntegerVector& at) {
  BanditHandle bandit(handle);
  const LogFromR log(queries, contexts, events, first);
  R_xlen_t refitted = 0, looked = 0;
  for (R_xlen_t e = 0; e < log.kind.size(); ++e) {
    if (e % 1024 == 1023) gpb::check_interrupt();
    for (; looked < at.size() && at[looked] == e + 1; ++looked) {
      const Rcpp::Function call(look);
      call(static_cast<double>(looked + 1));
    }
    if (at.size() > 0 && looked == at.size()) return;
    const Event event = log.event(e);
    bandit->set_clock(event.time);
    if (event.kind == EventKind::refit || event.kind == EventKind::arms) {
      if (refitted >= refits.size()) gpb::throw_invalid("a refit has no parameters");
      change_model_state(handle, refits[refitted++], [&](gpb::ModelState model_state) {
        if (event.kind == EventKind::arms) bandit->replay_arms(std::move(model_state));
        else bandit->replay_refit(std::move(model_state));
      });
      continue;
    }
    const bool asks = event.kind == EventKind::query || event.kind == EventKind::given;
    bandit->replay(event, asks ? log.query(bandit->space(), e, bandit->phases()) : Query());
  }
  if (bandit->state().lacks_sums()) gpb::throw_invalid("an incomplete checkpoint");
}

// Log predictive densities of the latest `most` rewards under each of several change rules, see log_forecasts().
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_bandit_forecasts(SEXP handle, const Rcpp::List& rules, int most) {
  BanditHandle bandit(handle);
  std::vector<gpb::Forgetting> forgettings;
  for (const SEXP rule : rules) forgettings.push_back(gpb::make_forgetting(gpb::RSettings(Rcpp::List(rule))));
  return gpb::log_forecasts(*bandit, forgettings, most);
}

// [[Rcpp::export(rng = false)]]
void cpp_bandit_refit(SEXP handle, const Rcpp::List& config) { refit(handle, config); }

// The settings contain the present arms, followed by the new ones.
// [[Rcpp::export(rng = false)]]
void cpp_bandit_add_arms(SEXP handle, const Rcpp::List& config) {
  change_model_state(handle, config, [&](gpb::ModelState model_state) {
    BanditDelta bandit(handle);
    bandit->add_arms(std::move(model_state));
  });
}

// The data of the posterior mean of an outcome (1-based):
// * `id` of the queries, and `value`: rewards, or the values that replace them.
// * `noise_var`: NA for the bandit's noise variance.
// * `size` and `spread`: the number and spread of the measurements of which a value is the mean.
// * `doubted_to`: the other end of the range of an uncertain value, otherwise NA (see Report).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_known(SEXP handle, int outcome = 1) {
  BanditHandle bandit(handle);
  const gpb::BanditState& state = bandit->state();
  const Index k = outcome - 1;
  if (k < 0 || k >= state.outcomes()) gpb::throw_invalid("there is no such outcome");
  std::vector<int> id;
  std::vector<double> value, noise_var, size, spread, doubted_to;
  for (const Query& query : state.queries()) {
    if (!state.is_known(query, k)) continue;
    id.push_back(static_cast<int>(&query - state.queries().data()) + 1);
    value.push_back(state.known_value(query, k));
    const gpb::Report reported = state.known_reported(query, k);
    noise_var.push_back(or_na(reported.noise_var));
    size.push_back(reported.times());
    spread.push_back(std::isnan(reported.spread) ? 0.0 : reported.spread);
    doubted_to.push_back(or_na(reported.doubted_to));
  }
  return gpb::named_list("id", id, "value", value, "noise_var", noise_var, "size", size, "spread", spread,
                         "doubted_to", doubted_to);
}

// Mean and sd of arms (0-based numbers) in known contexts (one for all, or one each), if all of them are in a table.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_arm_posterior(SEXP handle, const Rcpp::IntegerVector& arm,
                                    const Rcpp::IntegerVector& context) {
  BanditHandle bandit(handle);
  Rcpp::NumericVector mean(arm.size()), sd(arm.size());
  const Eigen::VectorXd none;
  double ignored;
  for (R_xlen_t k = 0; k < arm.size(); ++k) {
    const gpb::Point point =
        bandit->space().point(arm[k], context[context.size() == 1 ? 0 : k], none);
    bandit->mean().at(point, mean[k], sd[k]);
    if (&bandit->mean() != &bandit->variance()) bandit->variance().at(point, ignored, sd[k]);
  }
  return gpb::named_list("mean", mean, "sd", sd);
}

// Mean and sd at any points, given by the kernel's inputs. If there are arms, the arm's number is last (negative for a
// point that is no arm).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_predict(SEXP handle, const Eigen::MatrixXd& points) {
  BanditHandle bandit(handle);
  Eigen::VectorXd mean(points.rows()), sd(points.rows()), part, variance;
  const gpb::MeanAndVariance model_state{bandit->mean(), bandit->variance()};
  for (Index first = 0; first < points.rows(); first += kPredictRows) {
    if (first > 0) gpb::check_interrupt();
    const Index count = std::min(kPredictRows, points.rows() - first);
    const Eigen::MatrixXd some = points.middleRows(first, count);
    model_state.predict(some, part, variance);
    mean.segment(first, count) = part;
    sd.segment(first, count) = gpb::roots(variance);
  }
  return gpb::named_list("mean", mean, "sd", sd);
}

// Functions drawn from the posterior of an outcome (0-based), at any points as above: a column each.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_bandit_drawn_values(SEXP handle, int outcome, const Eigen::MatrixXd& points, int draws) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const gpb::OutcomeModel& outcome_model = bandit->outcome_models().at(static_cast<std::size_t>(outcome));
  gpb::Candidates anywhere;
  anywhere.X = points;
  anywhere.complete = false;
  Eigen::MatrixXd out(points.rows(), draws);
  for (int k = 0; k < draws; ++k) {
    out.col(k) = outcome_model.variance().sample(outcome_model.mean(), anywhere, 1.0, rng)->at(points);
    gpb::check_interrupt();
  }
  return out;
}

// For consecutive blocks of `size` points: the sd of an outcome's average over the block, and (`single`) the average of
// the points' variances.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_block_averages(SEXP handle, int outcome, const Eigen::MatrixXd& points, int size) {
  BanditHandle bandit(handle);
  const gpb::OutcomeModel& outcome_model = bandit->outcome_models().at(static_cast<std::size_t>(outcome));
  std::vector<Index> all(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) all[static_cast<std::size_t>(i)] = i;
  const Index blocks = points.rows() / size;
  Eigen::VectorXd sd(blocks), single(blocks);
  for (Index k = 0; k < blocks; ++k) {
    gpb::Candidates block;
    block.X = points.middleRows(k * size, size);
    block.complete = false;
    const Eigen::MatrixXd joint = outcome_model.variance().covariance(block, all);
    sd[k] = std::sqrt(std::max(0.0, joint.mean()));
    single[k] = joint.diagonal().mean();
    gpb::check_interrupt();
  }
  return gpb::named_list("sd", sd, "single", single);
}

// The joint distribution of an outcome (0-based) at the first of some points and at the points of some queries, given
// the observed rewards only: for each model its weight, means, covariance and noise variances.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_joint_moments(SEXP handle, int outcome, const Rcpp::List& points,
                                    const std::vector<gpb::Index>& ids) {
  BanditHandle bandit(handle);
  const gpb::OutcomeModel& outcome_model = bandit->outcome_models().at(static_cast<std::size_t>(outcome));
  std::vector<gpb::Point> all{PointsFromR(points).at(bandit->space(), 0)};
  for (const Index id : ids) all.push_back(bandit->state().query(id).point);
  const auto count = static_cast<Index>(all.size());
  const bool tabled = all[0].kind == gpb::Point::Kind::tabled;
  gpb::Candidates candidates;
  candidates.complete = false;
  if (!tabled) candidates.X.resize(count, all[0].x.size());
  std::vector<Index> some;
  Eigen::VectorXd weights(count);
  for (Index k = 0; k < count; ++k) {
    const gpb::Point& point = all[static_cast<std::size_t>(k)];
    if (tabled) candidates.count = std::max<Index>(candidates.count, point.row + 1);
    else gpb::set_row(candidates.X, k, point.x);
    some.push_back(tabled ? point.row : k);
    weights[k] = outcome_model.weight(gpb::kNaN, gpb::Report(), point);
  }
  const gpb::Posterior& known = outcome_model.mean();
  Rcpp::List out(static_cast<R_xlen_t>(known.models()));
  for (Index m = 0; m < known.models(); ++m) {
    Eigen::VectorXd mean(count);
    double ignored;
    for (Index k = 0; k < count; ++k) known.model(m).at(all[static_cast<std::size_t>(k)], mean[k], ignored);
    const Eigen::VectorXd noise_var = known.model(m).noise_var() / weights.array();
    out[m] = gpb::named_list("weight", known.model_weight(m), "mean", mean, "covariance",
                             known.model(m).covariance(candidates, some), "noise_var", noise_var);
  }
  return out;
}

// Joint draws over all arms in a context, one per column, from the posterior with covariance scaled by scale^2.
// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_bandit_draw(SEXP handle, int draws, double scale, const Rcpp::List& context) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const gpb::Candidates& all =
      bandit->space().candidates(gpb::contexts_from_list(context).at(0));
  if (!all.complete) gpb::throw_invalid("joint draws need finitely many arms");
  Eigen::MatrixXd out(all.size(), draws);
  constexpr int block = 64;  // columns per matrix product
  for (int k = 0; k < draws; k += block) {
    bandit->variance().sample_all(bandit->mean(), all, scale, rng,
                                  out.middleCols(k, std::min(block, draws - k)));
    gpb::check_interrupt();
  }
  return out;
}

namespace {

// The policy's proposals in a context, counted by arm.
void count_proposals(gpb::Bandit& bandit, const Context& here, int draws, gpb::RRng& rng,
                     Eigen::VectorXi& counts) {
  for (int k = 0; k < draws; ++k) {
    ++counts[bandit.propose(here, rng).point.arm];
    if (k % 16 == 15) gpb::check_interrupt();
  }
}

// The maximisers, among eligible arms, of joint draws whose covariance is scaled by width^2, counted by arm.
void count_maximisers(gpb::Bandit& bandit, const Context& here, int draws, double width, gpb::RRng& rng,
                      Eigen::VectorXi& counts) {
  const gpb::Candidates& candidates = bandit.space().candidates(here);
  const double tie = gpb::kTie * bandit.space().prior_scale();
  const Index arms = counts.size();
  const int block = static_cast<int>(std::max<Index>(64, 100000 / arms));  // columns at a time
  Eigen::MatrixXd values;
  for (int k = 0; k < draws; k += block) {
    gpb::check_interrupt();
    values.resize(arms, std::min(block, draws - k));
    bandit.variance().sample_all(bandit.mean(), candidates, width, rng, values);
    for (Index arm = 0; here.eligible && arm < arms; ++arm) {
      if (!here.allows(arm)) values.row(arm).setConstant(-gpb::kInf);
    }
    for (Index c = 0; c < values.cols(); ++c) ++counts[gpb::first_best(values.col(c).data(), arms, tie)];
  }
}

}  // namespace

// How often each arm (a column) is chosen in each context (a row) among `draws` possible choices in the current state.
// `width`: choices maximise joint draws whose covariance is scaled by width^2. If it is NA, they are the policy's
// proposals. No query is recorded.
// [[Rcpp::export(rng = false)]]
Rcpp::IntegerMatrix cpp_bandit_choice_counts(SEXP handle, const Rcpp::List& contexts, int arms, int draws,
                                             double width) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const std::vector<Context> all = gpb::contexts_from_list(contexts);
  Rcpp::IntegerMatrix out(static_cast<int>(all.size()), arms);
  for (int c = 0; c < out.nrow(); ++c) {
    gpb::check_interrupt();
    const Context& here = all[static_cast<std::size_t>(c)];
    Eigen::VectorXi counts = Eigen::VectorXi::Zero(arms);
    if (std::isnan(width)) count_proposals(*bandit, here, draws, rng, counts);
    else count_maximisers(*bandit, here, draws, width, rng, counts);
    std::copy(counts.data(), counts.data() + arms, out.row(c).begin());
  }
  return out;
}

// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_facts(SEXP handle) {
  BanditHandle bandit(handle);
  const gpb::EngineSummary mean = bandit->mean().summary();
  return gpb::named_list("engine", mean.name, "rank", static_cast<int>(mean.rank),
                         "error_bound", std::max(mean.error_bound, bandit->variance().summary().error_bound),
                         "prior_scale", bandit->space().prior_scale(), "log_det", bandit->variance().log_det(),
                         "pending_information", bandit->pending_information(),
                         "rounds", static_cast<int>(bandit->state().all_rounds()), "segment", bandit->state().segment(),
                         "clock", bandit->state().latest_time(),
                         "refutations", static_cast<int>(bandit->refutations()));
}

// See Observations::site_error(): the largest over the outcomes.
// [[Rcpp::export(rng = false)]]
double cpp_bandit_site_error(SEXP handle) {
  BanditHandle bandit(handle);
  double out = 0.0;
  for (const gpb::OutcomeModel& model : bandit->outcome_models()) out = std::max(out, model.known().site_error());
  return out;
}

// Each model's predictions at the points of these queries: `mean` and `sd`, a column per model.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_models_at(SEXP handle, const Rcpp::IntegerVector& id) {
  BanditHandle bandit(handle);
  const gpb::Posterior& all = bandit->mean();
  Rcpp::NumericMatrix mean(static_cast<int>(id.size()), static_cast<int>(all.models()));
  Rcpp::NumericMatrix sd(mean.nrow(), mean.ncol());
  for (int i = 0; i < mean.nrow(); ++i) {
    const gpb::Point& point = bandit->state().query(id[i]).point;
    for (int k = 0; k < mean.ncol(); ++k) all.model(k).at(point, mean(i, k), sd(i, k));
  }
  return gpb::named_list("mean", mean, "sd", sd);
}

// The largest prior standard deviation.
// [[Rcpp::export(rng = false)]]
double cpp_bandit_prior_scale(SEXP handle) {
  BanditHandle bandit(handle);
  return bandit->space().prior_scale();
}

// Are all rewards within `reach` prior standard deviations of the prior mean? `mean`: one, or one per arm; `arm`:
// 0-based, for each reward. FALSE if this cannot be decided.
// [[Rcpp::export(rng = false)]]
bool cpp_bandit_allows(SEXP handle, SEXP reward, SEXP mean, SEXP arm, SEXP noise_var,
                       double reach) {
  if (!is_held_bandit(handle) || TYPEOF(reward) != REALSXP || TYPEOF(mean) != REALSXP ||
      TYPEOF(noise_var) != REALSXP || Rf_xlength(noise_var) != 1) {
    return false;
  }
  const double most = reach * prior_spread(*BanditHandle(handle), REAL(noise_var)[0]);
  const R_xlen_t means = Rf_xlength(mean);
  for (R_xlen_t k = 0; k < Rf_xlength(reward); ++k) {
    R_xlen_t at = 0;
    if (means != 1) {
      if (TYPEOF(arm) != INTSXP || k >= Rf_xlength(arm)) return false;
      at = INTEGER(arm)[k];
    }
    if (at < 0 || at >= means) return false;
    if (!(std::abs(REAL(reward)[k] - REAL(mean)[at]) <= most)) return false;
  }
  return true;
}

// Another width in this bandit's next round; NaN if it is random.
// [[Rcpp::export(rng = false)]]
double cpp_bandit_width_of(SEXP handle, const Rcpp::List& width) {
  BanditHandle bandit(handle);
  const gpb::WidthPtr made = gpb::make_width(gpb::RSettings(width), bandit->space().arm_setting(),
                                             bandit->mean().noise_var());
  return made ? bandit->width(*made) : gpb::kNaN;
}

// [[Rcpp::export(rng = false)]]
double cpp_bandit_width(SEXP handle) {
  BanditHandle bandit(handle);
  return bandit->width();
}

// ---- runs ---------------------------------------------------------------------------------------
// For run_bandit(): the whole run is one loop here.

namespace {

// Calls R at most every 50 ms, for interrupts and the progress bar.
class HeartbeatTimer {
 public:
  explicit HeartbeatTimer(const Rcpp::Nullable<Rcpp::Function>& progress) {
    if (progress.isNotNull()) progress_.emplace(Rcpp::Function(progress.get()), nullptr);
  }
  void beat(double done) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(40)) return;
    last_ = now;
    gpb::check_interrupt();
    if (progress_) (*progress_)(done);
  }

 private:
  std::optional<gpb::RFunction> progress_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

gpb::RunDraws draws_from_list(const Rcpp::List& list, gpb::HandleFunctions* handle) {
  gpb::RunDraws draws;
  draws.noise = Rcpp::as<Eigen::VectorXd>(gpb::required(list, "noise"));
  draws.constraint_noise = Rcpp::as<Eigen::MatrixXd>(gpb::required(list, "constraint_noise"));
  draws.delay = Rcpp::as<std::vector<double>>(gpb::required(list, "delay"));
  draws.contexts = gpb::contexts_from_list(gpb::required(list, "contexts"));
  if (!Rf_isNull(gpb::required(list, "delay_at"))) {
    const gpb::RFunction f{Rcpp::Function(gpb::required(list, "delay_at")), handle};
    draws.delay_at = [f](const gpb::Query& query, gpb::Index round) {
      return Rcpp::as<double>(f(static_cast<int>(query.point.arm), query.point.x, static_cast<double>(round + 1)));
    };
  }
  return draws;
}

// The true function: a table of means, or an R function of the point's arm (0-based, NA without one), its inputs and
// the round (1-based).
std::unique_ptr<gpb::Environment> environment_from_list(const Rcpp::List& truth, gpb::HandleFunctions* handle) {
  if (truth.containsElementNamed("table")) {
    return std::make_unique<gpb::TableEnvironment>(Rcpp::as<Eigen::MatrixXd>(gpb::required(truth, "table")),
                                                   Rcpp::as<std::vector<int>>(gpb::required(truth, "period")),
                                                   Rcpp::as<Eigen::MatrixXd>(gpb::required(truth, "constraints")));
  }
  const gpb::RFunction f{Rcpp::Function(gpb::required(truth, "f")), handle};
  const auto arm_of = [](const gpb::Point& point) {
    return point.arm < 0 ? NA_INTEGER : static_cast<int>(point.arm);
  };
  gpb::FunctionEnvironment::Constraints constraints;
  if (!Rf_isNull(gpb::required(truth, "g"))) {
    const gpb::RFunction g{Rcpp::Function(gpb::required(truth, "g")), handle};
    constraints = [g, arm_of](const gpb::Point& point) {
      return Rcpp::as<Eigen::VectorXd>(g(arm_of(point), point.x));
    };
  }
  return std::make_unique<gpb::FunctionEnvironment>(
      [f, arm_of](const gpb::Point& point, gpb::Index round) {
        return Rcpp::as<double>(f(arm_of(point), point.x,
                                  static_cast<double>(round + 1)));
      },
      constraints);
}

}  // namespace

// A run in progress. R keeps it between calls that play some of its rounds.
struct RunInProgress {
  RunInProgress(SEXP bandit, const Rcpp::List& truth, const Rcpp::List& draws, gpb::HandleFunctions* functions)
      : handle(bandit),
        environment(environment_from_list(truth, functions)),
        run(*BanditHandle(bandit), *environment, draws_from_list(draws, functions)) {}
  SEXP handle;
  std::unique_ptr<gpb::Environment> environment;
  gpb::Run run;
};

// The pointer itself keeps the bandit's handle and the functions of the truth, because these may refer to the frame
// that contains the pointer. If the core kept them, the bandit would never be freed.
// [[Rcpp::export(rng = false)]]
SEXP cpp_run_new(SEXP handle, const Rcpp::List& truth, const Rcpp::List& draws) {
  gpb::HandleFunctions functions;
  auto run = std::make_unique<RunInProgress>(handle, truth, draws, &functions);
  const Rcpp::Shield<SEXP> kept(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(kept, 0, handle);
  SET_VECTOR_ELT(kept, 1, functions.list());
  const Rcpp::XPtr<RunInProgress> out(run.get(), true, R_NilValue, kept);
  run.release();
  functions.let_go();
  return out;
}

// [[Rcpp::export(rng = false)]]
void cpp_run_receive(SEXP run_handle) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  BanditDelta change(in_progress->handle);
  in_progress->run.receive();
}

// [[Rcpp::export(rng = false)]]
void cpp_run_play(SEXP run_handle, int rounds, Rcpp::Nullable<Rcpp::Function> progress) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  gpb::RRng rng;
  HeartbeatTimer heartbeat_timer(progress);
  BanditDelta change(in_progress->handle);
  for (int t = 0; t < rounds; ++t) {
    in_progress->run.step(rng);
    heartbeat_timer.beat(static_cast<double>(in_progress->run.played()));
  }
}

// Plays these points, one in each round.
// [[Rcpp::export(rng = false)]]
void cpp_run_play_at(SEXP run_handle, const Rcpp::List& points) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  const PointsFromR point(points);
  BanditDelta change(in_progress->handle);
  for (R_xlen_t k = 0; k < point.size(); ++k) in_progress->run.step_at(point.at(change->space(), k));
}

// Results of the rounds played so far: true means, true constraint values (a row per round), and the rounds from which
// rewards were known.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_run_outcome(SEXP run_handle) {
  Rcpp::XPtr<RunInProgress> in_progress(run_handle);
  const gpb::Outcome& outcome = in_progress->run.outcome();
  const auto rows = static_cast<Eigen::Index>(outcome.constraints.size());
  Eigen::MatrixXd constraints(rows, rows > 0 ? outcome.constraints[0].size() : 0);
  for (Eigen::Index t = 0; t < rows; ++t) {
    gpb::set_row(constraints, t, outcome.constraints[static_cast<std::size_t>(t)]);
  }
  return gpb::named_list("f", outcome.truth, "violation", constraints, "known", outcome.known);
}
