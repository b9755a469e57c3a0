// R's entry points for posteriors: predictions, draws, moments, widths, and facts about the engine. Uses the core and
// the adapters r_*.

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/stream_random.h"
#include "base/ties.h"
#include "r_bandit.h"
#include "r_interrupt.h"
#include "r_lbfgsb.h"
#include "r_rng.h"
#include "r_settings.h"
#include "widths/make_width.h"

using gpb::Context;
using gpb::Index;
using gpb::Query;

namespace {

constexpr Index kPredictRows = 512;  // between two checks for an interrupt

}  // namespace

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

// The joint distribution of an outcome (0-based) at some points, then at the points of some queries, given the observed
// rewards only: for each model its weight, means, covariance and noise variances.
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_bandit_joint_moments(SEXP handle, int outcome, const Rcpp::List& points,
                                    const std::vector<gpb::Index>& ids) {
  BanditHandle bandit(handle);
  const gpb::OutcomeModel& outcome_model = bandit->outcome_models().at(static_cast<std::size_t>(outcome));
  const PointsFromR given(points);
  std::vector<gpb::Point> all;
  for (R_xlen_t k = 0; k < given.size(); ++k) all.push_back(given.at(bandit->space(), k));
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
