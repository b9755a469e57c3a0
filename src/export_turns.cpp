// R's entry points for asking and reporting: checked, executed and logged in one call. Uses the core and the adapters
// r_*.

#include <algorithm>
#include <cmath>
#include <cstring>
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

SEXP cpp_query_frame(SEXP owner, const Rcpp::IntegerVector& rows);  // export_queries.cpp

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

// The value of an outcome of a query (a row of the log).
struct Observation {
  gpb::Index id;
  double value, time = gpb::kNaN;
  gpb::Report reported = gpb::Report();
  Eigen::VectorXd g = Eigen::VectorXd();
};
using Observed = std::vector<Observation>;

// Numbers in R, from one of them on.
struct NumbersFromR {
  SEXP x = R_NilValue;
  R_xlen_t from = 0;
  bool are_given() const { return !Rf_isNull(x); }
  double at(R_xlen_t k) const {
    if (TYPEOF(x) == REALSXP) return REAL(x)[from + k];
    return INTEGER(x)[from + k] == NA_INTEGER ? NA_REAL : INTEGER(x)[from + k];
  }
};

bool is_plain(SEXP x) { return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && !Rf_isObject(x); }
bool is_plain(SEXP x, R_xlen_t length) { return is_plain(x) && Rf_xlength(x) == length; }

// NULL, or a variance for each reward, NA for the bandit's noise variance.
bool are_noise_variances(SEXP x, R_xlen_t count) {
  if (Rf_isNull(x)) return true;
  if (TYPEOF(x) != REALSXP || !is_plain(x, count)) return false;
  return std::all_of(REAL(x), REAL(x) + count,
                     [](double one) { return R_IsNA(one) || (one > 0.0 && one <= gpb::kLargest); });
}

// For a given model that is neither fitted nor scaled: is a reward so far from the prior mean that R should give a
// warning?
bool surprises(SEXP config, const gpb::Bandit& bandit, const Observed& observed, double reach) {
  if (!Rf_isNull(element(config, "refit")) || !Rf_isNull(element(config, "outputs"))) return false;
  const SEXP mean = element(config, "mean"), noise_var = element(config, "noise_var");
  if (TYPEOF(mean) != REALSXP || TYPEOF(noise_var) != REALSXP || Rf_xlength(noise_var) != 1) return true;
  const double most = reach * prior_spread(bandit, REAL(noise_var)[0]);
  return std::any_of(observed.begin(), observed.end(), [&](const Observation& one) {
    const R_xlen_t at = Rf_xlength(mean) == 1 ? 0 : bandit.state().query(one.id).point.arm;
    return at < 0 || at >= Rf_xlength(mean) || !(std::abs(one.value - REAL(mean)[at]) <= most);
  });
}

// Are two columns the same to the bit?
bool are_same(SEXP x, SEXP y) {
  const R_xlen_t n = Rf_xlength(x);
  if (TYPEOF(x) != TYPEOF(y) || Rf_isObject(x) || n != Rf_xlength(y)) return false;
  if (TYPEOF(x) == REALSXP) return std::equal(REAL(x), REAL(x) + n, REAL(y));
  if (TYPEOF(x) == INTSXP) return std::equal(INTEGER(x), INTEGER(x) + n, INTEGER(y));
  return TYPEOF(x) == STRSXP && std::equal(STRING_PTR_RO(x), STRING_PTR_RO(x) + n, STRING_PTR_RO(y));
}

// What `$observe()` was given, where it needs no conversion: ids with a number each; ids with columns of outcomes, or
// one query's values with the outcomes' names; or a table with `id`, outcomes, constraints and columns of `$suggest()`.
class PlainReport {
 public:
  PlainReport(SEXP frame, const gpb::Bandit& bandit)
      : frame_(frame), config_(binding(frame, Rf_install("config"))), bandit_(bandit) {
    const gpb::ConstraintRule* rule = bandit.state().constraints();
    values_.resize(static_cast<std::size_t>(bandit.state().outcomes()));
    g_.resize(rule ? static_cast<std::size_t>(rule->count()) : 0);
  }
  // Can all be read, and are the ids in order?
  bool read(SEXP id, SEXP reward, SEXP constraints) {
    const bool is_table = Rf_inherits(id, "data.frame");
    id_ = is_table ? element(id, "id") : id;
    if (!is_plain(id_) || (is_table && !Rf_isNull(reward)) || !find_rows()) return false;
    const bool by_name = is_table || values_.size() > 1;
    if (by_name ? !read_columns(is_table ? id : reward, is_table) : !is_plain(reward, size())) return false;
    if (!by_name) values_[0].x = reward;
    return read_constraints(constraints);
  }
  R_xlen_t size() const { return Rf_xlength(id_); }
  // The values, query by query; none if some are invalid or of queries that do not await them.
  Observed observations(SEXP noise_var) const {
    Observed out;
    for (R_xlen_t k = 0; k < size(); ++k) {
      for (std::size_t j = 0; j < values_.size(); ++j) {
        const auto outcome = static_cast<gpb::Index>(j);
        const double value = values_[j].are_given() ? values_[j].at(k) : gpb::kNaN;
        if (values_.size() > 1 && std::isnan(value)) continue;
        Observation one{rows_[static_cast<std::size_t>(k)], value};
        const gpb::Status status = bandit_.state().query(one.id).cell(outcome).status;
        if (status != gpb::Status::pending && status != gpb::Status::failed) return {};
        if (!bandit_.is_reward(value, outcome)) return {};
        if (values_.size() > 1) one.reported.outcome = outcome;
        else if (bandit_.has_likelihood()) one.reported.size = 1.0;
        if (!Rf_isNull(noise_var)) one.reported.noise_var = REAL(noise_var)[k];
        one.g.resize(static_cast<gpb::Index>(g_.size()));
        for (gpb::Index c = 0; c < one.g.size(); ++c) {
          one.g[c] = g_[static_cast<std::size_t>(c)].at(k);
          if (!(std::abs(one.g[c]) <= gpb::kLargest)) return {};
        }
        out.push_back(std::move(one));
      }
    }
    return out;
  }

 private:
  bool find_rows() {
    const double before = static_cast<double>(bandit_.state().forgotten().before());
    double last = 0.0;
    for (R_xlen_t k = 0; k < size(); ++k) {
      const double row = NumbersFromR{id_}.at(k) - before;
      if (!(row > last && row <= static_cast<double>(bandit_.state().rounds()) && row == std::floor(row))) return false;
      rows_.push_back(static_cast<gpb::Index>(row));
      last = row;
    }
    return true;
  }
  // The outcome with this name, or null.
  NumbersFromR* outcome_of(const char* name) {
    const SEXP outcomes = element(config_, "outcomes");
    if (Rf_isNull(outcomes) && std::strcmp(name, "reward") == 0) return &values_[0];
    const SEXP names = Rf_isNull(outcomes) ? element(config_, "reward_name") : Rf_getAttrib(outcomes, R_NamesSymbol);
    for (R_xlen_t j = 0; j < Rf_xlength(names); ++j) {
      if (std::strcmp(name, CHAR(STRING_ELT(names, j))) == 0) return &values_[static_cast<std::size_t>(j)];
    }
    return nullptr;
  }
  NumbersFromR* constraint_of(const std::string& name) {
    for (std::size_t c = 0; c < g_.size(); ++c) {
      if (name == "g" + std::to_string(c + 1)) return &g_[c];
    }
    return nullptr;
  }
  bool read_columns(SEXP given, bool is_table) {
    const SEXP names = Rf_getAttrib(given, R_NamesSymbol);
    const bool is_list = TYPEOF(given) == VECSXP && (!Rf_isObject(given) || Rf_inherits(given, "data.frame"));
    if (!is_list && (!is_plain(given) || size() != 1)) return false;
    if (TYPEOF(names) != STRSXP || Rf_any_duplicated(names, FALSE)) return false;
    Rcpp::RObject shown;
    for (R_xlen_t j = 0; j < Rf_xlength(names); ++j) {
      const SEXP name = STRING_ELT(names, j), column = is_list ? VECTOR_ELT(given, j) : given;
      if (is_table && std::strcmp(CHAR(name), "id") == 0) continue;
      NumbersFromR* to = outcome_of(CHAR(name));
      if (is_table && !to) {
        if (shown.isNULL()) shown = cpp_query_frame(frame_, Rcpp::IntegerVector(rows_.begin(), rows_.end()));
        const SEXP suggested = element(shown, name);
        if (are_same(column, suggested)) continue;
        if (!shown.isNULL() && Rf_isNull(suggested)) to = constraint_of(CHAR(name));
      }
      if (!to || to->are_given() || (is_list && !is_plain(column, size()))) return false;
      *to = {column, is_list ? 0 : j};
    }
    return true;
  }
  bool read_constraints(SEXP given) {
    const auto count = static_cast<R_xlen_t>(g_.size());
    const auto known = std::count_if(g_.begin(), g_.end(), [](const NumbersFromR& one) { return one.are_given(); });
    if (Rf_isNull(given)) return known == count;
    if (known > 0 || count == 0 || !is_plain(given, size() * count)) return false;
    const bool in_rows = Rf_isMatrix(given) ? Rf_ncols(given) == count : count == 1 || size() == 1;
    const SEXP names = Rf_getAttrib(given, Rf_isMatrix(given) ? R_DimNamesSymbol : R_NamesSymbol);
    if (!in_rows || !Rf_isNull(names)) return false;
    for (R_xlen_t c = 0; c < count; ++c) g_[static_cast<std::size_t>(c)] = {given, c * size()};
    return true;
  }

  SEXP frame_, config_, id_ = R_NilValue;
  const gpb::Bandit& bandit_;
  std::vector<gpb::Index> rows_;
  std::vector<NumbersFromR> values_, g_;
};

// Valid rewards of distinct queries that await them, in the order of their ids. None if R has something to do.
Observed plain_observations(SEXP frame, const gpb::Bandit& bandit, SEXP id, SEXP reward, SEXP constraints, SEXP time,
                            SEXP noise_var, double reach) {
  const SEXP config = binding(frame, Rf_install("config"));
  PlainReport report(frame, bandit);
  const bool several = bandit.state().outcomes() > 1;
  if (!several && Rf_xlength(element(config, "outcomes")) > 0) return {};
  if (bandit.state().pending().by_clock() || !Rf_isNull(time)) return {};
  if (!Rf_isNull(noise_var) && (several || bandit.has_likelihood())) return {};
  if (!report.read(id, reward, constraints) || !are_noise_variances(noise_var, report.size())) return {};
  Observed out = report.observations(noise_var);
  if (!several && !bandit.has_likelihood() && surprises(config, bandit, out, reach)) return {};
  return out;
}

// Rewards that R has checked, with columns of the log.
Observed checked_observations(const Rcpp::NumericVector& id, const Rcpp::NumericVector& reward, SEXP constraints,
                              SEXP time, SEXP reported) {
  const ReportFromR beside(reported, id.size());
  std::optional<Eigen::MatrixXd> g;
  if (!Rf_isNull(constraints)) g = Rcpp::as<Eigen::MatrixXd>(constraints);
  Observed out;
  for (R_xlen_t k = 0; k < id.size(); ++k) {
    out.push_back({static_cast<gpb::Index>(id[k]), reward[k], Rf_isNull(time) ? gpb::kNaN : REAL(time)[k], beside.at(k),
                   g ? gpb::row_of(*g, static_cast<gpb::Index>(k)) : Eigen::VectorXd()});
  }
  return out;
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

// Records observed values.
// * `reach`: the largest distance from the prior mean without a warning, in prior standard deviations. The reply is
//   `open` if the core cannot check the rewards. If it is NA, R has checked them and `id` are rows of the log.
// * `id` without checks: ids or a table (see PlainReport).
// * `reported`: noise variances, or NULL. If R has checked the rewards: data other than rewards, with columns as in the
//   log.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_observe(SEXP owner, SEXP id, SEXP reward, SEXP constraints, SEXP time, SEXP reported, double reach) {
  const SEXP frame = frame_of(owner), handle = binding(frame, Rf_install("handle"));
  const bool checked = std::isnan(reach);
  if (!is_ready(handle)) return gpb::reply(checked ? gpb::Answer::stale : gpb::Answer::open);
  const Observed observed =
      checked ? checked_observations(id, reward, constraints, time, reported)
              : plain_observations(frame, *BanditHandle(handle), id, reward, constraints, time, reported, reach);
  if (observed.empty() && !checked) return gpb::reply(gpb::Answer::open);
  BanditDelta bandit(handle);
  for (const Observation& one : observed) {
    bandit->set_clock(one.time);
    bandit->observe(one.id, one.value, one.g, one.reported);
  }
  follow_in_memory(handle, frame, R_NilValue);
  return gpb::reply(gpb::Answer::done);
}
