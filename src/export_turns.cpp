// R's entry points for asking and reporting: checked, executed and logged in one call. Uses the core and the adapters
// r_*.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "r_interrupt.h"
#include "r_log.h"
#include "r_reply.h"
#include "r_rng.h"

using gpb::binding;
using gpb::element;
using gpb::frame_of;
using gpb::is_in_memory;

namespace {

void follow_in_memory(SEXP handle, SEXP frame, SEXP fields) {
  if (!is_in_memory(frame)) return;
  BanditHandle bandit(handle);
  gpb::follow(bandit, frame, fields, R_NilValue, true, false);
}

// Are there settings that may require an action before a query: design points, a refit, an outcome transform, an
// automatic choice of how to forget?
bool has_preludes(SEXP config) {
  for (const char* name : {"refit", "outputs", "design"}) {
    if (!Rf_isNull(element(config, name))) return true;
  }
  const SEXP changes = element(element(config, "changes"), "kind");
  if (TYPEOF(changes) == STRSXP && Rf_xlength(changes) == 1 && std::string(CHAR(STRING_ELT(changes, 0))) == "auto") {
    return true;
  }
  const SEXP outcomes = element(config, "outcomes");
  for (R_xlen_t k = 0; k < Rf_xlength(outcomes); ++k) {
    if (!Rf_isNull(element(VECTOR_ELT(outcomes, k), "outputs"))) return true;
  }
  return false;
}

// The arguments of observe() in the form from R.
struct RewardsFromR {
  SEXP id, reward, constraints, time, reported;
  R_xlen_t size() const { return Rf_xlength(id); }
  double number(R_xlen_t k) const { return at(id, k); }
  double value(R_xlen_t k) const { return at(reward, k); }

 private:
  static double at(SEXP x, R_xlen_t k) {
    if (TYPEOF(x) == REALSXP) return REAL(x)[k];
    return INTEGER(x)[k] == NA_INTEGER ? NA_REAL : INTEGER(x)[k];
  }
};

bool is_plain(SEXP x) { return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && !Rf_isObject(x); }

// NULL, or a variance for each reward, NA for the bandit's noise variance.
bool are_noise_variances(SEXP x, R_xlen_t count) {
  if (Rf_isNull(x)) return true;
  if (TYPEOF(x) != REALSXP || Rf_isObject(x) || Rf_xlength(x) != count) return false;
  return std::all_of(REAL(x), REAL(x) + count,
                     [](double one) { return R_IsNA(one) || (one > 0.0 && one <= gpb::kLargest); });
}

// For a given model that is neither fitted nor scaled: is a reward so far from the prior mean that R should give a
// warning?
bool surprises(SEXP config, const gpb::Bandit& bandit, const RewardsFromR& rewards, double before, double reach) {
  if (!Rf_isNull(element(config, "refit")) || !Rf_isNull(element(config, "outputs"))) return false;
  const SEXP mean = element(config, "mean"), noise_var = element(config, "noise_var");
  if (TYPEOF(mean) != REALSXP || TYPEOF(noise_var) != REALSXP || Rf_xlength(noise_var) != 1) return true;
  const double most = reach * prior_spread(bandit, REAL(noise_var)[0]);
  for (R_xlen_t k = 0; k < rewards.size(); ++k) {
    const auto id = static_cast<gpb::Index>(rewards.number(k) - before);
    const R_xlen_t at = Rf_xlength(mean) == 1 ? 0 : bandit.state().query(id).point.arm;
    if (at < 0 || at >= Rf_xlength(mean) || !(std::abs(rewards.value(k) - REAL(mean)[at]) <= most)) return true;
  }
  return false;
}

// Are these valid rewards of distinct queries that await them, in the order of their ids, so that R has nothing to do?
// `before`: the difference between the log's numbers and the ids.
bool in_order(SEXP config, const gpb::Bandit& bandit, const RewardsFromR& rewards, double before, double reach) {
  const R_xlen_t count = rewards.size();
  if (!is_plain(rewards.id) || !is_plain(rewards.reward)) return false;
  if (Rf_xlength(rewards.reward) != count || count == 0) return false;
  const gpb::BanditState& state = bandit.state();
  if (!Rf_isNull(element(config, "outcomes"))) return false;
  if (bandit.has_likelihood() && !Rf_isNull(rewards.reported)) return false;
  if (state.constraints() || !Rf_isNull(rewards.constraints)) return false;
  if (state.pending().by_clock() || !Rf_isNull(rewards.time)) return false;
  if (!are_noise_variances(rewards.reported, count)) return false;
  double last = 0.0;
  for (R_xlen_t k = 0; k < count; ++k) {
    const double id = rewards.number(k) - before;
    if (!(id > last && id <= static_cast<double>(state.rounds()) && id == std::floor(id))) return false;
    const gpb::Status status = state.query(static_cast<gpb::Index>(id)).status;
    if (status != gpb::Status::pending && status != gpb::Status::failed) return false;
    if (!bandit.is_reward(rewards.value(k))) return false;
    last = id;
  }
  return bandit.has_likelihood() || !surprises(config, bandit, rewards, before, reach);
}

void record(SEXP handle, const RewardsFromR& rewards, double before) {
  const bool alone = TYPEOF(rewards.reported) == REALSXP;  // noise variances only
  std::optional<ReportFromR> beside;
  if (!Rf_isNull(rewards.reported) && !alone) beside.emplace(rewards.reported, rewards.size());
  std::optional<Eigen::MatrixXd> g;
  if (!Rf_isNull(rewards.constraints)) g = Rcpp::as<Eigen::MatrixXd>(rewards.constraints);
  BanditDelta bandit(handle);
  for (R_xlen_t k = 0; k < rewards.size(); ++k) {
    bandit->set_clock(Rf_isNull(rewards.time) ? gpb::kNaN : REAL(rewards.time)[k]);
    gpb::Report one = beside ? beside->at(k) : gpb::Report();
    if (!beside && bandit->has_likelihood()) one.size = 1.0;
    if (alone) one.noise_var = REAL(rewards.reported)[k];
    bandit->observe(static_cast<gpb::Index>(rewards.number(k) - before), rewards.value(k),
                    g ? gpb::row_of(*g, static_cast<gpb::Index>(k)) : Eigen::VectorXd(), one);
  }
}

// The contexts of queries. If R gives none: `n` queries without contexts.
std::vector<gpb::Context> contexts_from(SEXP contexts, SEXP n) {
  if (!Rf_isNull(contexts)) return gpb::contexts_from_list(Rcpp::List(contexts));
  return std::vector<gpb::Context>(static_cast<std::size_t>(Rf_asReal(n)));
}

// Can the core make the queries at once: is there nothing that must precede them, or that only R can compute?
bool is_plain_request(SEXP frame, SEXP handle, SEXP contexts, SEXP time) {
  if (!is_ready(handle) || !Rf_isNull(time)) return false;
  const SEXP config = binding(frame, Rf_install("config"));
  if (has_preludes(config)) return false;
  if (Rf_isNull(contexts) && Rf_xlength(element(config, "context_names")) > 0) return false;
  const BanditHandle bandit(handle);
  return !bandit->state().pending().by_clock();
}

void ask(SEXP handle, const std::vector<gpb::Context>& contexts, double time, int* rows) {
  gpb::RRng rng;
  BanditDelta bandit(handle);
  bandit->set_clock(time);
  for (std::size_t k = 0; k < contexts.size(); ++k) {
    rows[k] = static_cast<int>(bandit->commit(bandit->propose(contexts[k], rng)));
    if (k % 64 == 63) gpb::check_interrupt();
  }
}

}  // namespace

// Plays queries, one after the other. `values` of the reply (r_reply.h): the queries as a data.frame, or their rows in
// the log if R must format them, or must write the log first. `n`: their number; NULL if R has made all checks.
// `with_refit`: NULL, or new `settings` that take effect before, and `fields` of the log that change with them.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_suggest(SEXP owner, SEXP n, SEXP contexts, SEXP time, SEXP with_refit) {
  const SEXP frame = frame_of(owner), handle = binding(frame, Rf_install("handle"));
  if (!Rf_isNull(n) && !is_plain_request(frame, handle, contexts, time)) return gpb::reply(gpb::Answer::open);
  if (!is_ready(handle)) return gpb::reply(gpb::Answer::stale);
  const auto asked = contexts_from(contexts, n);
  const Rcpp::IntegerVector rows(Rf_allocVector(INTSXP, static_cast<R_xlen_t>(asked.size())));
  if (!Rf_isNull(with_refit)) {
    try {
      refit(handle, Rcpp::List(element(with_refit, "settings")));
    } catch (const std::exception&) {
      return gpb::reply(gpb::Answer::rejected, Rcpp::wrap(gpb::cause_caught().words));
    }
  }
  ask(handle, asked, Rf_isNull(time) ? gpb::kNaN : Rf_asReal(time), INTEGER(rows));
  follow_in_memory(handle, frame, element(with_refit, "fields"));
  return gpb::reply(gpb::Answer::done, gpb::shown_queries(frame, rows));
}

// Records rewards of queries.
// * `reach`: the largest distance from the prior mean without a warning, in prior standard deviations. The reply is
//   `open` if the core cannot check the rewards. If it is NA, R has checked them and `id` are rows of the log.
// * `reported`: data other than rewards, with columns as in the log; or noise variances only; or NULL.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_observe(SEXP owner, SEXP id, SEXP reward, SEXP constraints, SEXP time, SEXP reported, double reach) {
  const SEXP frame = frame_of(owner), handle = binding(frame, Rf_install("handle"));
  const bool checked = std::isnan(reach);
  if (!is_ready(handle)) return gpb::reply(checked ? gpb::Answer::stale : gpb::Answer::open);
  const RewardsFromR rewards{id, reward, constraints, time, reported};
  double before = 0.0;
  if (!checked) {
    BanditHandle bandit(handle);
    before = static_cast<double>(bandit->state().forgotten().before());
    const SEXP config = binding(frame, Rf_install("config"));
    if (!in_order(config, *bandit, rewards, before, reach)) return gpb::reply(gpb::Answer::open);
  }
  record(handle, rewards, before);
  follow_in_memory(handle, frame, R_NilValue);
  return gpb::reply(gpb::Answer::done);
}
