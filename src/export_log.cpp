// The log in R: the core's state as rows of the log's tables, and changes of these tables (R/utils-table.R). Uses the
// core and the adapters r_*.

#include <algorithm>

#include "r_log.h"

using gpb::binding;
using gpb::Columns;
using gpb::element;
using gpb::Event;
using gpb::EventKind;
using gpb::PreparedChange;
using gpb::Protection;
using gpb::Query;
using gpb::size_of;
using gpb::TableRows;

// Applies `changes` to tables and assigns `fields` in the environment `owner`. `durable`: NULL, or a function that
// stores the change elsewhere once everything is prepared. It must not keep references to the tables, and returns
// further fields. If it fails, nothing has changed. After it returns nothing can fail and no interrupt is admitted.
// [[Rcpp::export(rng = false)]]
void cpp_log_commit(const Rcpp::List& changes, const Rcpp::Environment& owner,
                    const Rcpp::List& fields, SEXP durable) {
  PreparedChange change(owner);
  for (R_xlen_t k = 0; k < changes.size(); ++k) change.table(VECTOR_ELT(changes, k));
  change.fields(fields);
  if (!Rf_isNull(durable)) change.fields(Rcpp::Function(durable)());
  change.make();
}

// ---- the core's state as rows of the log ------------------------------------------------------------

namespace {

constexpr int kMostOutcomes = 1000;

std::string with_number(const char* name, gpb::Index number) {
  return name + std::to_string(number);
}

// The log's column for values of an outcome (0-based).
std::string value_column(gpb::Index outcome) {
  return outcome == 0 ? "reward" : with_number("y", outcome + 1);
}

// The number of a point's inputs in the log: none for points in a table, and never the arm's number.
gpb::Index logged_inputs(const gpb::Point& point) {
  if (point.kind == gpb::Point::Kind::tabled) return 0;
  return point.x.size() - (point.kind == gpb::Point::Kind::numbered ? 1 : 0);
}

int phase_in_log(const Query& q) {
  if (q.action == gpb::Action::given) return 1;
  return q.phase > 0 ? q.phase : NA_INTEGER;
}

// Fills the log's columns for `n` queries from `first` on, without rewards and constraint values. `rows` has room for
// them, by the columns' names: Columns, or TableRows.
template <class Rows>
void fill_queries(const gpb::Bandit& bandit, const Query* first, R_xlen_t n, Rows& rows) {
  const gpb::Index inputs = n > 0 ? logged_inputs(first->point) : 0;
  const gpb::Index constraints = bandit.state().multipliers().size();
  const auto integers = [&](const char* name, auto value) {
    int* column = rows.integers(name);
    for (R_xlen_t k = 0; k < n; ++k) column[k] = value(first[k]);
  };
  const auto numbers = [&](const char* name, auto value) {
    double* column = rows.numbers(name);
    for (R_xlen_t k = 0; k < n; ++k) column[k] = value(first[k]);
  };
  integers("arm", [](const Query& q) { return or_na(q.point.arm); });
  integers("context", [](const Query& q) { return static_cast<int>(q.context->row); });
  integers("action", [](const Query& q) { return static_cast<int>(q.action); });
  integers("segment", [](const Query& q) { return static_cast<int>(q.segment); });
  integers("status", [](const Query& q) { return static_cast<int>(q.overall_status()); });
  numbers("mean", [](const Query& q) { return q.mean; });
  numbers("sd", [](const Query& q) { return q.sd; });
  numbers("width", [](const Query& q) { return or_na(q.width); });
  if (bandit.phases() > 0) integers("phase", phase_in_log);
  const auto unknown = [](const Query&) { return NA_REAL; };
  for (gpb::Index k = 0; k < bandit.state().outcomes(); ++k) numbers(value_column(k).c_str(), unknown);
  for (gpb::Index j = 0; j < inputs; ++j) {
    numbers(with_number("in.", j + 1).c_str(), [j](const Query& q) { return q.point.x[j]; });
  }
  for (gpb::Index j = 0; j < constraints; ++j) {
    numbers(with_number("g", j + 1).c_str(), unknown);
    numbers(with_number("kappa", j + 1).c_str(), [j](const Query& q) { return q.beside->kappa[j]; });
  }
}

// The number of queries, or events, of the core's object after the log's first `from`.
R_xlen_t beyond(std::size_t size, R_xlen_t from) {
  const R_xlen_t n = static_cast<R_xlen_t>(size) - from;
  if (n < 0) gpb::throw_invalid("the log has queries that the bandit does not have");
  return n;
}

// Queries from this one (0-based) on.
SEXP queries_from(const gpb::Bandit& bandit, R_xlen_t from, Protection& keep) {
  const R_xlen_t n = beyond(bandit.state().queries().size(), from);
  const Query* const first = bandit.state().queries().data() + from;
  const gpb::Index inputs = n > 0 ? logged_inputs(first->point) : 0;
  Columns columns(n, 9 + bandit.state().outcomes() + inputs + 2 * bandit.state().multipliers().size(), keep);
  fill_queries(bandit, first, n, columns);
  return columns.list();
}

// The options at an event in the log's notation (arms that could be played, fixed inputs). NA for no restriction, and
// for events that are no query.
SEXP offer_at(const Event& event, const gpb::Bandit& bandit) {
  if (event.kind != EventKind::query && event.kind != EventKind::given) return NA_STRING;
  const gpb::Context& context = bandit.state().query(event.id).context;
  if (!context.eligible && !context.fixed) return NA_STRING;
  return Rf_mkChar(gpb::offer_text(context).c_str());
}

// The events that are not yet in the log, which contains `had` events.
struct NewEvents {
  NewEvents(const gpb::Bandit& bandit, R_xlen_t had) {
    had -= static_cast<R_xlen_t>(bandit.first_event());
    if (had < 0) gpb::throw_invalid("the log has events that the bandit does not have");
    count = beyond(bandit.events().size(), had);
    first = bandit.events().data() + had;
  }
  const Event* first;
  R_xlen_t count;
};

// Fills the log's columns for them; see fill_queries().
template <class Rows>
void fill_events(const gpb::Bandit& bandit, const NewEvents& events, Rows& rows) {
  int* const kind = rows.integers("kind");
  int* const id = rows.integers("id");
  double* const reward = rows.numbers("reward");
  double* const time = rows.numbers("time");
  double* const noise_var = rows.numbers("noise_var");
  double* const size = rows.numbers("size");
  double* const spread = rows.numbers("spread");
  int* const other = rows.integers("other");
  int* const outcome = rows.integers("outcome");
  const auto arms = rows.texts("arms");
  for (R_xlen_t k = 0; k < events.count; ++k) {
    const Event& event = events.first[k];
    kind[k] = static_cast<int>(event.kind);
    id[k] = static_cast<int>(event.id);
    reward[k] = or_na(event.reward);
    time[k] = or_na(event.time);
    noise_var[k] = or_na(event.reported.noise_var);
    size[k] = or_na(event.reported.size);
    spread[k] = or_na(event.reported.spread);
    other[k] = event.reported.other > 0 ? static_cast<int>(event.reported.other) : NA_INTEGER;
    outcome[k] =
        event.reported.outcome == gpb::kAllOutcomes ? NA_INTEGER : static_cast<int>(event.reported.outcome) + 1;
    SET_STRING_ELT(arms.first, arms.second + k, offer_at(event, bandit));
  }
}

int status_after(const Event& event, const gpb::Bandit& bandit) {
  return event.id > 0 ? static_cast<int>(bandit.state().query(event.id).overall_status()) : NA_INTEGER;
}

// Events from this one (0-based) on; `status`: the status of their queries.
SEXP events_from(const gpb::Bandit& bandit, R_xlen_t from, Protection& keep) {
  const NewEvents events(bandit, from);
  const R_xlen_t n = events.count;
  Columns columns(n, 12, keep);
  fill_events(bandit, events, columns);
  int* const status = columns.integers("status");
  const int constraints = static_cast<int>(bandit.state().multipliers().size());
  double* const g =
      REAL(columns.add("g", Rf_allocMatrix(REALSXP, static_cast<int>(n), constraints)));
  for (R_xlen_t k = 0; k < n; ++k) {
    const Event& event = events.first[k];
    status[k] = status_after(event, bandit);
    for (int j = 0; j < constraints; ++j) {
      g[k + j * n] = event.g.size() > 0 ? event.g[j] : NA_REAL;
    }
  }
  return columns.list();
}

// Does an event of this kind change the data of a query?
bool records(int kind) {
  switch (static_cast<EventKind>(kind)) {
    case EventKind::reward:
    case EventKind::given:
    case EventKind::amend:
    case EventKind::withdraw:
    case EventKind::fail: return true;
    default: return false;
  }
}

// Some values of a column: `rows`, counted from `from`.
SEXP picked(SEXP column, R_xlen_t from, const std::vector<R_xlen_t>& rows) {
  const SEXP out = Rf_allocVector(static_cast<SEXPTYPE>(TYPEOF(column)),
                                  static_cast<R_xlen_t>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    gpb::copy_values(column, from + rows[k], out, static_cast<R_xlen_t>(k), 1);
  }
  return out;
}

// Changes of queries by events, in the form for table_change() in R.
SEXP reported_cells(SEXP events, Protection& keep) {
  const SEXP kind = element(events, "kind"), id = element(events, "id"),
             reward = element(events, "reward"), status = element(events, "status"),
             outcome = element(events, "outcome"), g = element(events, "g");
  const R_xlen_t n = Rf_xlength(kind);
  std::vector<R_xlen_t> reported, valued;
  std::vector<std::vector<R_xlen_t>> known(1);  // by outcome
  for (R_xlen_t k = 0; k < n; ++k) {
    if (!records(INTEGER(kind)[k])) continue;
    reported.push_back(k);
    if (std::isnan(REAL(reward)[k])) continue;
    const int number = INTEGER(outcome)[k];
    const auto of = static_cast<std::size_t>(number == NA_INTEGER ? 0 : number - 1);
    if (number != NA_INTEGER && (number < 1 || number > kMostOutcomes)) {
      gpb::throw_invalid("an event has an invalid outcome number");
    }
    if (known.size() <= of) known.resize(of + 1);
    known[of].push_back(k);
    if (static_cast<EventKind>(INTEGER(kind)[k]) != EventKind::amend) valued.push_back(k);
  }
  if (reported.empty()) return R_NilValue;
  const int constraints = Rf_ncols(g);
  const auto others = std::count_if(known.begin() + 1, known.end(),
                                    [](const std::vector<R_xlen_t>& rows) { return !rows.empty(); });
  Columns out(0, 2 + others + constraints, keep);
  const auto add = [&](const char* name, const std::vector<R_xlen_t>& rows, SEXP values,
                       R_xlen_t from) {
    const SEXP cells = out.add(name, Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(cells, 0, picked(id, 0, rows));
    SET_VECTOR_ELT(cells, 1, picked(values, from, rows));
  };
  add("status", reported, status, 0);
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (k == 0 || !known[k].empty()) add(value_column(static_cast<gpb::Index>(k)).c_str(), known[k], reward, 0);
  }
  for (int j = 0; j < constraints; ++j) {
    add(with_number("g", j + 1).c_str(), valued, g, j * n);
  }
  return out.list();
}

// Changes of queries by events, as in reported_cells() but without a list. Prepared first, then written.
class ReportRows {
 public:
  ReportRows(const gpb::Bandit& bandit, const NewEvents& events, TableRows& queries)
      : bandit_(bandit), events_(events), constraints_(bandit.state().multipliers().size()) {
    bool reported = false;
    gpb::Index outcomes = 0;
    for (R_xlen_t k = 0; k < events.count; ++k) {
      if (!records(static_cast<int>(events.first[k].kind))) continue;
      reported = true;
      outcomes = std::max(outcomes, events.first[k].reported.about() + 1);
    }
    if (!reported) return;
    status_ = INTEGER(queries.column("status", INTSXP));
    for (gpb::Index k = 0; k < outcomes; ++k) values_.push_back(REAL(queries.column(value_column(k).c_str(), REALSXP)));
    for (gpb::Index j = 0; j < constraints_; ++j) {
      g_.push_back(REAL(queries.column(with_number("g", j + 1).c_str(), REALSXP)));
    }
  }
  // Allocates nothing.
  void write() const {
    for (R_xlen_t k = 0; k < events_.count; ++k) {
      const Event& event = events_.first[k];
      if (!records(static_cast<int>(event.kind))) continue;
      const R_xlen_t at = static_cast<R_xlen_t>(event.id) - 1;
      status_[at] = status_after(event, bandit_);
      if (std::isnan(event.reward)) continue;
      values_[static_cast<std::size_t>(event.reported.about())][at] = event.reward;
      if (event.kind == EventKind::amend) continue;
      for (std::size_t j = 0; j < g_.size(); ++j) {
        g_[j][at] = event.g.size() > 0 ? event.g[static_cast<gpb::Index>(j)] : NA_REAL;
      }
    }
  }

 private:
  const gpb::Bandit& bandit_;
  NewEvents events_;
  gpb::Index constraints_;
  int* status_ = nullptr;
  std::vector<double*> values_, g_;
};

}  // namespace

namespace gpb {

SEXP follow(BanditHandle& bandit, SEXP owner, SEXP fields, SEXP durable, bool in_step, bool wanted) {
  Protection keep;
  const SEXP queries = binding(owner, Rf_install("queries")), events = binding(owner, Rf_install("events"));
  const R_xlen_t had = size_of(queries), heard = size_of(events);
  const R_xlen_t asked = beyond(bandit->state().queries().size(), had);
  const NewEvents happened(*bandit, heard);
  TableRows query_rows(queries, asked, keep), event_rows(events, happened.count, keep);
  if (asked > 0) fill_queries(*bandit, bandit->state().queries().data() + had, asked, query_rows);
  if (happened.count > 0) fill_events(*bandit, happened, event_rows);
  query_rows.settle();
  event_rows.settle();
  const ReportRows reported(*bandit, happened, query_rows);
  query_rows.prepare();
  event_rows.prepare();
  PreparedChange change(owner);
  change.fields(fields);
  const bool is_durable = !Rf_isNull(durable);
  const SEXP listed = is_durable || wanted ? events_from(*bandit, heard, keep) : R_NilValue;
  if (is_durable) change.fields(Rcpp::Function(durable)(queries_from(*bandit, had, keep), listed));
  reported.write();
  query_rows.write();
  event_rows.write();
  change.make();
  if (in_step) bandit.held()->in_step = true;
  bandit->hand_over_events();
  return listed;
}

}  // namespace gpb


// Changes of queries by events (columns as those of cpp_bandit_log()).
// [[Rcpp::export(rng = false)]]
SEXP cpp_reported_cells(SEXP events) {
  const auto check = [&](const char* name, int type) {
    if (TYPEOF(element(events, name)) == type) return;
    gpb::throw_invalid("an event's column has the wrong type");
  };
  for (const char* name : {"kind", "id", "status", "outcome"}) check(name, INTSXP);
  for (const char* name : {"reward", "g"}) check(name, REALSXP);
  Protection keep;
  return reported_cells(events, keep);
}

// Rows that are not yet in the log: queries and events from these numbers (0-based) on.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_log(SEXP handle, int from_query, int from_event) {
  BanditHandle bandit(handle);
  Protection keep;
  Columns out(0, 2, keep);
  out.add("queries", queries_from(*bandit, from_query, keep));
  out.add("events", events_from(*bandit, from_event, keep));
  return out.list();
}

// Adds the core's new queries and events to the log of `owner`, and assigns `fields`. Returns the new events if they
// are `wanted`. `durable`: as in cpp_log_commit(), a function of the new queries and events. If `in_step` is false the
// object remains out of step.
// [[Rcpp::export(rng = false)]]
SEXP cpp_log_follow(SEXP handle, SEXP owner, SEXP fields, SEXP durable, bool in_step, bool wanted) {
  BanditHandle bandit(handle);
  if (Rf_isS4(owner)) owner = Rf_getAttrib(owner, Rf_install(".xData"));
  return gpb::follow(bandit, owner, fields, durable, in_step, wanted);
}
