// R's entry points for choices: recommended points, bounds, safe sets, differences, maxima of draws; formulas and
// fronts of outcomes. Uses the core and the adapters r_*.

#include <algorithm>
#include <vector>

#include "base/stream_random.h"
#include "r_bandit.h"
#include "r_interrupt.h"
#include "r_rng.h"
#include "scores/goal.h"
#include "scores/outcomes.h"
#include "scores/pareto_front.h"
#include "scores/safe.h"

using gpb::Context;
using gpb::Index;

namespace {

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

// The acquisition function of the next query at points in the kernel's form, or at the candidates if these have no
// columns. Steps that are due change the bandit.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_acquisition(SEXP handle, const Rcpp::List& context, const Eigen::MatrixXd& points) {
  BanditHandle bandit(handle);
  gpb::RRng rng;
  const auto found = bandit->acquisition(gpb::contexts_from_list(context).at(0), points, rng);
  return gpb::named_list("values", found.values, "logarithmic", found.logarithmic);
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
