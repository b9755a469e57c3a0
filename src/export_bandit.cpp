// R's entry points for bandits: creation, reports and other changes, replays. Every function has the handle and plain R
// data as arguments. Uses the core and the adapters r_*.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bandit/forecasts.h"
#include "linalg/floors.h"
#include "r_bandit.h"
#include "r_interrupt.h"
#include "r_settings.h"

using gpb::Action;
using gpb::Context;
using gpb::Event;
using gpb::EventKind;
using gpb::Index;
using gpb::Query;

namespace {

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

// A reward that is NA is not known yet. `outcomes`: NULL or, with several outcomes, their values with noise variances,
// sizes and spreads (`value`, `noise_var`, `size`, `spread`, a row per point). Values other than NA are reported after
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
