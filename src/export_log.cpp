// The log in R: the core's state as rows of the log's tables, and changes of these tables (R/utils-table.R). Uses the
// core and the adapters r_*.
//
// A change is made completely or not at all. Everything that can fail or admit an interrupt precedes the first write.

#include <algorithm>
#include <cstring>
#include <optional>

#include "linalg/floors.h"
#include "r_bandit.h"
#include "r_frame.h"
#include "r_interrupt.h"
#include "r_reply.h"
#include "r_rng.h"

using gpb::element;
using gpb::Event;
using gpb::EventKind;
using gpb::Query;

namespace {

// Protects values from R's garbage collector as long as this object exists. (A preserved object would count as shared
// forever, and would be copied at every change.)
class Protection {
 public:
  Protection() = default;
  ~Protection() { UNPROTECT(count_); }
  Protection(const Protection&) = delete;
  Protection& operator=(const Protection&) = delete;
  SEXP operator()(SEXP x) {
    PROTECT(x);
    ++count_;
    return x;
  }

 private:
  int count_ = 0;
};

SEXP binding(SEXP frame, SEXP name) {
  if (TYPEOF(frame) != ENVSXP) gpb::throw_invalid("a log is not an environment");
  const SEXP value = gpb::bound_value(frame, name);
  if (value == R_UnboundValue) {
    gpb::throw_invalid(std::string("a log has no ") + CHAR(PRINTNAME(name)));
  }
  return value;
}

R_xlen_t size_of(SEXP table) { return Rf_asInteger(binding(table, Rf_install(".size"))); }

// Copies `count` values of a column from `first` on; integers and logicals share a representation.
void copy_values(SEXP from, R_xlen_t first, SEXP to, R_xlen_t at, R_xlen_t count) {
  switch (TYPEOF(to)) {
    case INTSXP: std::copy_n(INTEGER(from) + first, count, INTEGER(to) + at); break;
    case REALSXP: std::copy_n(REAL(from) + first, count, REAL(to) + at); break;
    default:
      for (R_xlen_t k = 0; k < count; ++k) SET_STRING_ELT(to, at + k, STRING_ELT(from, first + k));
  }
}

void fill_na(SEXP column, R_xlen_t from) {
  const R_xlen_t size = Rf_xlength(column);
  switch (TYPEOF(column)) {
    case INTSXP: std::fill(INTEGER(column) + from, INTEGER(column) + size, NA_INTEGER); break;
    case REALSXP: std::fill(REAL(column) + from, REAL(column) + size, NA_REAL); break;
    default:
      for (R_xlen_t k = from; k < size; ++k) SET_STRING_ELT(column, k, NA_STRING);
  }
}

bool is_na(SEXP column, R_xlen_t at) {
  switch (TYPEOF(column)) {
    case INTSXP:
    case LGLSXP: return INTEGER(column)[at] == NA_INTEGER;
    case REALSXP: return R_IsNA(REAL(column)[at]) != 0;
    case STRSXP: return STRING_ELT(column, at) == NA_STRING;
    default: return false;
  }
}

bool all_na(SEXP column) {
  for (R_xlen_t k = 0; k < Rf_xlength(column); ++k) {
    if (!is_na(column, k)) return false;
  }
  return true;
}

// The columns of a table that contain only NA, and are therefore not stored (`.blank` in R/utils-table.R), and those of
// them that a change fills.
class Blanks {
 public:
  explicit Blanks(SEXP table) : table_(table), names_(gpb::bound_value(table, symbol())) {}
  bool have(SEXP name) const {
    if (TYPEOF(names_) != STRSXP) return false;
    for (R_xlen_t k = 0; k < Rf_xlength(names_); ++k) {
      if (is_name(k, name)) return true;
    }
    return false;
  }
  void fill(SEXP name) { filled_.push_back(name); }
  // Called after all fill().
  void prepare(Protection& keep) {
    if (filled_.empty()) return;
    const R_xlen_t left = Rf_xlength(names_) - static_cast<R_xlen_t>(filled_.size());
    const SEXP names = keep(Rf_allocVector(STRSXP, left));
    R_xlen_t at = 0;
    for (R_xlen_t k = 0; k < Rf_xlength(names_); ++k) {
      const bool stays = std::none_of(filled_.begin(), filled_.end(), [&](SEXP name) { return is_name(k, name); });
      if (!stays) continue;
      if (at == left) gpb::throw_invalid("a log names a column twice");
      SET_STRING_ELT(names, at++, STRING_ELT(names_, k));
    }
    names_ = names;
  }
  // Allocates nothing.
  void write() const {
    if (!filled_.empty()) Rf_defineVar(symbol(), names_, table_);
  }

 private:
  static SEXP symbol() { return Rf_install(".blank"); }
  bool is_name(R_xlen_t k, SEXP name) const { return STRING_ELT(names_, k) == PRINTNAME(name); }  // R has one copy

  SEXP table_, names_;
  std::vector<SEXP> filled_;
};

SEXPTYPE type_of(SEXP column) {
  const int type = TYPEOF(column);
  if (type == INTSXP || type == REALSXP || type == STRSXP) return static_cast<SEXPTYPE>(type);
  gpb::throw_invalid("a log has a column of an unknown type");
}

// Returns the column after checking that it has at least `size` values.
SEXP whole(SEXP column, R_xlen_t size) {
  if (size < 0 || Rf_xlength(column) < size) {
    gpb::throw_invalid("a log's column is shorter than its table");
  }
  return column;
}

// The new length of a column that must hold `needed` values. Growth by a quarter copies each row about four times, and
// doubling about once. But only a quarter of the room is unused, and R has to fill it, so that it counts as memory.
R_xlen_t grown(R_xlen_t length, R_xlen_t needed) {
  return std::max<R_xlen_t>({length < 4096 ? 2 * length : length + length / 4, needed, 16});
}

// The column itself if it is not shared and has room for `count` more rows. Otherwise a copy of its first `size`
// values.
SEXP writable(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
  const SEXPTYPE type = type_of(column);
  const R_xlen_t length = Rf_xlength(column), needed = size + count;
  if (length >= needed && !MAYBE_SHARED(column)) return column;
  const SEXP copy = keep(Rf_allocVector(type, length >= needed ? length : grown(length, needed)));
  copy_values(column, 0, copy, 0, size);
  fill_na(copy, size);
  return copy;
}

// Replaces a column that is not stored: `size` values NA, and room for `count` more rows.
SEXP filled_out(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
  const SEXP out = keep(Rf_allocVector(type_of(column), grown(size, size + count)));
  fill_na(out, 0);
  return out;
}

// One column of a table, with room for the new rows.
class ColumnChange {
 public:
  ColumnChange(SEXP table, SEXP name, R_xlen_t size, R_xlen_t count, Blanks& blanks, Protection& keep)
      : table_(table), name_(name), column_(binding(table, name)), size_(size), count_(count),
        blank_(blanks.have(name)) {
    if (!blank_) column_ = writable(whole(column_, size), size, count, keep);
  }
  void append(SEXP values, Blanks& blanks, Protection& keep) {
    appended_ = as_column(values, keep);
    if (Rf_xlength(appended_) != count_) gpb::throw_invalid("a log's new columns differ in length");
    fill_for(appended_, blanks, keep);
  }
  void set(SEXP rows, SEXP values, Blanks& blanks, Protection& keep) {
    if (TYPEOF(rows) != INTSXP) gpb::throw_invalid("a log's row numbers are not integers");
    const int* row = INTEGER(rows);
    for (R_xlen_t k = 0; k < Rf_xlength(rows); ++k) {
      if (row[k] < 1 || row[k] > size_ + count_) {
        gpb::throw_invalid("a log has no such row");
      }
    }
    rows_ = rows;
    cells_ = as_column(values, keep);
    if (Rf_xlength(cells_) != Rf_xlength(rows)) {
      gpb::throw_invalid("the rows and the values of a log's changed cells differ in number");
    }
    fill_for(cells_, blanks, keep);
  }
  // Allocates nothing.
  void write() const {
    if (blank_) return;
    if (!Rf_isNull(appended_)) copy_values(appended_, 0, column_, size_, count_);
    for (R_xlen_t k = 0; k < Rf_xlength(rows_); ++k) {
      copy_values(cells_, k, column_, INTEGER(rows_)[k] - 1, 1);
    }
    Rf_defineVar(name_, column_, table_);
  }

 private:
  SEXP as_column(SEXP values, Protection& keep) const {
    if (TYPEOF(values) == TYPEOF(column_)) return values;
    return keep(Rf_coerceVector(values, static_cast<SEXPTYPE>(TYPEOF(column_))));
  }
  void fill_for(SEXP values, Blanks& blanks, Protection& keep) {
    if (!blank_ || all_na(values)) return;
    column_ = filled_out(column_, size_, count_, keep);
    blank_ = false;
    blanks.fill(name_);
  }

  SEXP table_, name_, column_;
  SEXP appended_ = R_NilValue, rows_ = R_NilValue, cells_ = R_NilValue;
  R_xlen_t size_, count_;
  bool blank_;
};

// A change in the form that table_change() in R returns.
class TableChange {
 public:
  TableChange(SEXP table, SEXP append, SEXP cells, Protection& keep)
      : table_(table), keep_(keep), blanks_(table) {
    const R_xlen_t size = size_of(table_);
    const R_xlen_t count = Rf_xlength(append) > 0 ? Rf_xlength(VECTOR_ELT(append, 0)) : 0;
    if (count > 0) {
      const SEXP wanted = binding(table_, Rf_install(".columns"));
      columns_.reserve(static_cast<std::size_t>(Rf_xlength(wanted)));
      for (R_xlen_t k = 0; k < Rf_xlength(wanted); ++k) {
        const SEXP name = STRING_ELT(wanted, k);
        add(name, size, count).append(element(append, name), blanks_, keep);
      }
    }
    const SEXP names = Rf_getAttrib(cells, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(cells); ++k) {
      const SEXP one = VECTOR_ELT(cells, k);
      find(STRING_ELT(names, k), size, count).set(VECTOR_ELT(one, 0), VECTOR_ELT(one, 1), blanks_, keep);
    }
    blanks_.prepare(keep);
    size_ = keep(Rf_ScalarInteger(static_cast<int>(size + count)));
  }
  void write() const {
    for (const ColumnChange& column : columns_) column.write();
    blanks_.write();
    Rf_defineVar(Rf_install(".size"), size_, table_);
  }

 private:
  ColumnChange& add(SEXP name, R_xlen_t size, R_xlen_t count) {
    names_.push_back(name);
    columns_.emplace_back(table_, Rf_installChar(name), size, count, blanks_, keep_);
    return columns_.back();
  }
  ColumnChange& find(SEXP name, R_xlen_t size, R_xlen_t count) {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k] == name) return columns_[k];  // R stores each name once
    }
    return add(name, size, count);
  }

  SEXP table_;
  Protection& keep_;
  Blanks blanks_;
  std::vector<SEXP> names_;
  std::vector<ColumnChange> columns_;
  SEXP size_;
};

// Prepared changes of tables and new values of fields. make() applies them all; nothing in it can fail.
class PreparedChange {
 public:
  explicit PreparedChange(SEXP owner) : owner_(owner) { tables_.reserve(2); }
  void table(SEXP change) {
    tables_.emplace_back(element(change, "table"), element(change, "append"), element(change, "cells"), keep_);
  }
  void fields(SEXP list) {
    const SEXP names = Rf_getAttrib(keep_(list), R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(list); ++k) {
      fields_.emplace_back(Rf_installChar(STRING_ELT(names, k)), VECTOR_ELT(list, k));
    }
  }
  // `held`: the core's object that agrees with the log afterwards, or null.
  void make(HeldBandit* held) const {
    for (const TableChange& change : tables_) change.write();
    for (const auto& field : fields_) Rf_defineVar(field.first, field.second, owner_);
    if (held) held->in_step = true;
  }

 private:
  SEXP owner_;
  Protection keep_;
  std::vector<TableChange> tables_;
  std::vector<std::pair<SEXP, SEXP>> fields_;
};

}  // namespace

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
  change.make(nullptr);
}

// ---- the core's state as rows of the log ------------------------------------------------------------

namespace {

constexpr int kMostOutcomes = 1000;

// Named columns of one length, and further elements.
class Columns {
 public:
  Columns(R_xlen_t rows, R_xlen_t most, Protection& keep)
      : rows_(rows),
        list_(keep(Rf_allocVector(VECSXP, most))),
        names_(keep(Rf_allocVector(STRSXP, most))) {
    Rf_setAttrib(list_, R_NamesSymbol, names_);
  }
  int* integers(const char* name) { return INTEGER(add(name, Rf_allocVector(INTSXP, rows_))); }
  double* numbers(const char* name) { return REAL(add(name, Rf_allocVector(REALSXP, rows_))); }
  std::pair<SEXP, R_xlen_t> texts(const char* name) { return {add(name, Rf_allocVector(STRSXP, rows_)), 0}; }
  SEXP add(const char* name, SEXP value) {
    SET_VECTOR_ELT(list_, size_, value);
    SET_STRING_ELT(names_, size_++, Rf_mkChar(name));
    return value;
  }
  SEXP add(SEXP name, SEXP value) {
    SET_VECTOR_ELT(list_, size_, value);
    SET_STRING_ELT(names_, size_++, name);
    return value;
  }
  SEXP list() const { return list_; }

 private:
  R_xlen_t rows_, size_ = 0;
  SEXP list_, names_;
};

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
  integers("status", [](const Query& q) { return static_cast<int>(q.whole_status()); });
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
  return event.id > 0 ? static_cast<int>(bandit.state().query(event.id).whole_status()) : NA_INTEGER;
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
    copy_values(column, from + rows[k], out, static_cast<R_xlen_t>(k), 1);
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

// Writes rows directly into a table's columns, without intermediate lists. The columns are prepared first. Until
// write() the table is unchanged, because values beyond its size are ignored. The order of calls: new rows, settle(),
// whole columns, prepare(), write().
class TableRows {
 public:
  TableRows(SEXP table, R_xlen_t count, Protection& keep)
      : table_(table), size_(size_of(table)), count_(count), keep_(keep), blanks_(table) {
    if (count == 0) return;
    const SEXP names = binding(table, Rf_install(".columns"));
    columns_.reserve(static_cast<std::size_t>(Rf_xlength(names)));
    for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) add(Rf_installChar(STRING_ELT(names, k)));
    new_size_ = keep(Rf_ScalarInteger(static_cast<int>(size_ + count)));
  }
  // The beginning of a column's new rows.
  int* integers(const char* name) {
    const auto rows = new_rows(name, INTSXP);
    return INTEGER(rows.first) + rows.second;
  }
  double* numbers(const char* name) {
    const auto rows = new_rows(name, REALSXP);
    return REAL(rows.first) + rows.second;
  }
  std::pair<SEXP, R_xlen_t> texts(const char* name) { return new_rows(name, STRSXP); }
  // Called when every column has its new rows. Columns that were not stored are created if they have values now.
  void settle() {
    if (count_ > 0 && filled_ != columns_.size()) gpb::throw_invalid("a log's new columns differ in length");
    for (Column& one : columns_) {
      if (!one.blank || all_na(one.values)) continue;
      const SEXP rows = one.values;
      fill(one);
      copy_values(rows, 0, one.values, size_, count_);
    }
  }
  // A whole column for writing, including new rows.
  SEXP column(const char* name, int type) {
    Column& one = count_ > 0 ? find(name) : loaded(Rf_install(name));
    if (one.blank) fill(one);
    return checked(one, type);
  }
  void prepare() { blanks_.prepare(keep_); }
  // Allocates nothing.
  void write() const {
    for (const Column& one : columns_) {
      if (one.is_new && !one.blank) Rf_defineVar(one.name, one.values, table_);
    }
    blanks_.write();
    if (count_ > 0) Rf_defineVar(Rf_install(".size"), new_size_, table_);
  }

 private:
  // `blank`: the column is not stored, and `values` has only its new rows.
  struct Column {
    SEXP name, values;
    bool is_new, blank;
  };
  void add(SEXP name) {
    const SEXP held = binding(table_, name);
    if (blanks_.have(name)) {
      columns_.push_back({name, keep_(Rf_allocVector(type_of(held), count_)), false, true});
      return;
    }
    const SEXP ready = writable(whole(held, size_), size_, count_, keep_);
    columns_.push_back({name, ready, ready != held, false});
  }
  void fill(Column& one) {
    one = {one.name, filled_out(one.values, size_, count_, keep_), true, false};
    blanks_.fill(one.name);
  }
  Column& loaded(SEXP symbol) {
    for (Column& one : columns_) {
      if (one.name == symbol) return one;
    }
    add(symbol);
    return columns_.back();
  }
  static SEXP checked(const Column& column, int type) {
    if (TYPEOF(column.values) == type) return column.values;
    gpb::throw_invalid("a log has a column of an unknown type");
  }
  // Columns are requested in nearly the order in which they are stored.
  Column& find(const char* name) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (next_ >= columns_.size()) next_ = 0;
      Column& one = columns_[next_++];
      if (std::strcmp(CHAR(PRINTNAME(one.name)), name) == 0) return one;
    }
    gpb::throw_invalid(std::string("a log has no ") + name);
  }
  // A vector, and the position in it at which the new rows of a column begin.
  std::pair<SEXP, R_xlen_t> new_rows(const char* name, int type) {
    ++filled_;
    const Column& one = find(name);
    return {checked(one, type), one.blank ? 0 : size_};
  }

  SEXP table_;
  R_xlen_t size_, count_;
  Protection& keep_;
  Blanks blanks_;
  std::vector<Column> columns_;
  std::size_t next_ = 0, filled_ = 0;
  SEXP new_size_ = R_NilValue;
};

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

// See cpp_log_follow(). The lists of new queries and events are made only if they are used.
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
  change.make(in_step ? bandit.held() : nullptr);
  bandit->hand_over_events();
  return listed;
}

}  // namespace

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
  return follow(bandit, owner, fields, durable, in_step, wanted);
}

namespace {

// The columns of a table of queries that have inputs, null for one that is not stored; `ids` must be rows of it.
std::vector<const double*> input_columns(SEXP queries, const Rcpp::IntegerVector& ids) {
  const SEXP names = binding(queries, Rf_install(".columns"));
  const R_xlen_t size = size_of(queries);
  for (const int id : ids) {
    if (id == NA_INTEGER || id < 1 || id > size) {
      gpb::throw_invalid("a log has no such query");
    }
  }
  const Blanks blanks(queries);
  std::vector<const double*> columns;
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    const SEXP name = STRING_ELT(names, k);
    if (std::strncmp(CHAR(name), "in.", 3) != 0) continue;
    const SEXP symbol = Rf_installChar(name), column = binding(queries, symbol);
    if (TYPEOF(column) != REALSXP) gpb::throw_invalid("a log's inputs are not numbers");
    columns.push_back(blanks.have(symbol) ? nullptr : REAL(whole(column, size)));
  }
  return columns;
}

}  // namespace

// The inputs of some queries (1-based) in a table of queries, a row each; no columns if the log has no inputs.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix cpp_logged_inputs(SEXP queries, const Rcpp::IntegerVector& ids) {
  const std::vector<const double*> columns = input_columns(queries, ids);
  Rcpp::NumericMatrix out(static_cast<int>(ids.size()), static_cast<int>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double* const to = out.begin() + static_cast<R_xlen_t>(c) * ids.size();
    for (R_xlen_t k = 0; k < ids.size(); ++k) to[k] = columns[c] ? columns[c][ids[k] - 1] : NA_REAL;
  }
  return out;
}

// ---- asking and reporting: checked, executed and logged in one call -----------------------------

namespace {

SEXP frame_of(SEXP owner) { return Rf_isS4(owner) ? Rf_getAttrib(owner, Rf_install(".xData")) : owner; }

// Is the log in memory only? (If it is also stored elsewhere, it is updated after R has written the change there, see
// sync_log().)
bool is_in_memory(SEXP frame) {
  const SEXP journal = gpb::bound_value(frame, Rf_install("journal"));
  return journal == R_UnboundValue || Rf_isNull(journal);
}

void follow_in_memory(SEXP handle, SEXP frame, SEXP fields) {
  if (!is_in_memory(frame)) return;
  BanditHandle bandit(handle);
  follow(bandit, frame, fields, R_NilValue, true, false);
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

}  // namespace

namespace {

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

SEXP shown(SEXP frame, const Rcpp::IntegerVector& rows);

}  // namespace

// Plays queries, one after the other. `values` of the reply (r_reply.h): the queries as a data.frame, or their rows in
// the log if R must format them, or must write the log first. `n`: the number of queries; NULL if R has made all checks.
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
  return gpb::reply(gpb::Answer::done, shown(frame, rows));
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

// ---- queries as data frames ---------------------------------------------------------------------

SEXP cpp_frame(SEXP columns);  // export_model.cpp

namespace {

bool is_domain(SEXP x, const char* kind) {
  const SEXP names = Rf_getAttrib(x, R_ClassSymbol);
  return Rf_xlength(names) == 2 && std::strcmp(CHAR(STRING_ELT(names, 0)), kind) == 0 &&
         std::strcmp(CHAR(STRING_ELT(names, 1)), "bandit_domain") == 0;
}

bool none_true(SEXP flags) {
  return TYPEOF(flags) == LGLSXP &&
         std::all_of(LOGICAL(flags), LOGICAL(flags) + Rf_xlength(flags), [](int one) { return one == 0; });
}

bool begins_with_checkpoint(SEXP events) {
  const SEXP kind = binding(events, Rf_install("kind"));
  return size_of(events) > 0 && TYPEOF(kind) == INTSXP &&
         INTEGER(kind)[0] == static_cast<int>(EventKind::checkpoint);
}

bool is_table(SEXP x) { return TYPEOF(x) == REALSXP && Rf_isMatrix(x); }

// Rows of the log as columns of a data.frame.
class QueryFrame {
 public:
  QueryFrame(SEXP queries, const Rcpp::IntegerVector& rows, R_xlen_t columns, Protection& keep)
      : queries_(queries), rows_(rows), columns_(rows.size(), columns, keep) {}
  void ids() { std::copy(rows_.begin(), rows_.end(), columns_.integers("id")); }
  // A column of integers, counted from 1.
  std::vector<R_xlen_t> numbers(const char* name) const {
    const SEXP column = binding(queries_, Rf_install(name));
    if (TYPEOF(column) != INTSXP) gpb::throw_invalid("a log has a column of an unknown type");
    std::vector<R_xlen_t> out(static_cast<std::size_t>(rows_.size()));
    for (R_xlen_t k = 0; k < rows_.size(); ++k) out[static_cast<std::size_t>(k)] = INTEGER(column)[rows_[k] - 1] + 1;
    return out;
  }
  void arms(const std::vector<R_xlen_t>& arm) {
    std::copy(arm.begin(), arm.end(), columns_.integers("arm"));
  }
  void labels(SEXP name, SEXP labels, const std::vector<R_xlen_t>& arm) {
    const SEXP to = columns_.add(name, Rf_allocVector(STRSXP, rows_.size()));
    for (std::size_t k = 0; k < arm.size(); ++k) {
      SET_STRING_ELT(to, static_cast<R_xlen_t>(k), STRING_ELT(labels, arm[k] - 1));
    }
  }
  // Rows of a table, by their numbers.
  void table(SEXP names, SEXP table, const std::vector<R_xlen_t>& at) {
    const R_xlen_t height = Rf_nrows(table);
    for (R_xlen_t j = 0; j < Rf_xlength(names); ++j) {
      double* const to = REAL(columns_.add(STRING_ELT(names, j), Rf_allocVector(REALSXP, rows_.size())));
      for (std::size_t k = 0; k < at.size(); ++k) to[k] = REAL(table)[at[k] - 1 + j * height];
    }
  }
  void logged(SEXP names, const double* const* columns) {
    for (R_xlen_t j = 0; j < Rf_xlength(names); ++j) {
      double* const to = REAL(columns_.add(STRING_ELT(names, j), Rf_allocVector(REALSXP, rows_.size())));
      for (R_xlen_t k = 0; k < rows_.size(); ++k) to[k] = columns[j] ? columns[j][rows_[k] - 1] : NA_REAL;
    }
  }
  SEXP list() const { return columns_.list(); }

 private:
  SEXP queries_;
  const Rcpp::IntegerVector& rows_;
  Columns columns_;
};

}  // namespace

// Some queries (rows of the log) as a data.frame, if they are arms or points of a box whose inputs are the kernel's.
// NULL if R has to make it: for other points, and if rounds were dropped from the log, so that its numbers differ from
// the ids.
// [[Rcpp::export(rng = false)]]
SEXP cpp_query_frame(SEXP owner, const Rcpp::IntegerVector& rows) {
  const SEXP frame = frame_of(owner), queries = binding(frame, Rf_install("queries"));
  const SEXP config = binding(frame, Rf_install("config")), domain = element(config, "domain");
  const SEXP names = element(domain, "names"), contexts = element(config, "context_names");
  const bool of_arms = is_domain(domain, "finite_domain");
  const bool of_box = is_domain(domain, "box_domain") && none_true(element(domain, "log")) &&
                      none_true(element(domain, "integer"));
  const std::vector<const double*> inputs = input_columns(queries, rows);
  const auto own = static_cast<R_xlen_t>(inputs.size()) - Rf_xlength(contexts);
  const SEXP x = element(domain, "x"), labels = element(domain, "labels"), table = element(config, "contexts");
  const bool in_table = inputs.empty() && Rf_xlength(contexts) > 0;
  // (Levels are formatted in R.)
  if (!Rf_isNull(element(domain, "params")) || !Rf_isNull(element(config, "context_space"))) return R_NilValue;
  if (of_arms ? !is_table(x) : !(of_box && own == Rf_xlength(names))) return R_NilValue;
  if (in_table && !is_table(table)) return R_NilValue;
  if (begins_with_checkpoint(binding(frame, Rf_install("events")))) return R_NilValue;
  Protection keep;
  QueryFrame out(queries, rows,
                 1 + (of_arms ? 1 : 0) + (of_arms && !Rf_isNull(labels) ? 1 : 0) + Rf_xlength(names) +
                     Rf_xlength(contexts), keep);
  out.ids();
  if (of_arms) {
    const auto arm = out.numbers("arm");
    out.arms(arm);
    if (!Rf_isNull(labels)) out.labels(STRING_ELT(element(domain, "label_name"), 0), labels, arm);
    out.table(names, x, arm);
  } else {
    out.logged(names, inputs.data());
  }
  if (in_table) out.table(contexts, table, out.numbers("context"));
  else if (Rf_xlength(contexts) > 0) out.logged(contexts, inputs.data() + own);
  return cpp_frame(out.list());
}

namespace {

// The data.frame, or the rows if R must format them.
SEXP shown(SEXP frame, const Rcpp::IntegerVector& rows) {
  if (!is_in_memory(frame)) return rows;
  const SEXP made = cpp_query_frame(frame, rows);
  return Rf_isNull(made) ? static_cast<SEXP>(rows) : made;
}

}  // namespace

// ---- untrusted objects --------------------------------------------------------------------------
// An R object from a file or another process has an environment that may contain anything. These functions inspect it
// without evaluation by R.

namespace {

// Pointers do not survive a file, so no other process can mark an environment as trusted.
const char kThisProcess = 0;

SEXP mark() { return Rf_install("gpbandits.process"); }

// Describes a value that is not data and that R would run when it reads it; an empty string if there is none.
std::string invalid_value(SEXP x, int depth);

std::string invalid_item(SEXP list, int depth) {
  for (R_xlen_t k = 0; k < Rf_xlength(list); ++k) {
    const std::string found = invalid_value(VECTOR_ELT(list, k), depth);
    if (!found.empty()) return found;
  }
  return "";
}

std::string invalid_value(SEXP x, int depth) {
  if (depth > 200) return "a nest without end";
  switch (TYPEOF(x)) {
    case PROMSXP: return "a promise";
    case DOTSXP: return "arguments (...)";
    case BCODESXP: return "bytecode";
    case VECSXP: {
      const std::string found = invalid_item(x, depth + 1);
      if (!found.empty()) return found;
      break;
    }
    case LGLSXP:
    case INTSXP:
    case REALSXP:
    case STRSXP: break;
    default: return "";  // functions are code in any case
  }
  // This expression evaluates to itself.
  const Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("attributes"), x));
  const Rcpp::Shield<SEXP> attributes(Rcpp::Rcpp_fast_eval(call, R_BaseEnv));
  if (TYPEOF(attributes) != VECSXP) return "";
  return invalid_item(attributes, depth + 1);
}

}  // namespace

// Was this environment checked in this process, or made here?
// [[Rcpp::export(rng = false)]]
bool cpp_is_trusted(SEXP frame) {
  if (TYPEOF(frame) != ENVSXP) return false;
  const SEXP found = Rf_getAttrib(frame, mark());
  return TYPEOF(found) == EXTPTRSXP && R_ExternalPtrAddr(found) == &kThisProcess;
}

// The value of this name in the environment of a trusted object; NULL if R has to check.
// [[Rcpp::export(rng = false)]]
SEXP cpp_member(SEXP object, SEXP name) {
  if (TYPEOF(name) != STRSXP || Rf_xlength(name) != 1) return R_NilValue;
  const SEXP frame = Rf_getAttrib(object, Rf_install(".xData"));
  if (!cpp_is_trusted(frame)) return R_NilValue;
  const SEXP symbol = Rf_installChar(STRING_ELT(name, 0));
  const SEXP found = gpb::bound_value(frame, symbol);
  return found == R_UnboundValue ? R_NilValue : found;
}

// [[Rcpp::export(rng = false)]]
void cpp_make_ours(SEXP frame) {
  const Rcpp::Shield<SEXP> pointer(
      R_MakeExternalPtr(const_cast<char*>(&kThisProcess), R_NilValue, R_NilValue));
  Rf_setAttrib(frame, mark(), pointer);
}

// Describes the first of these variables of an environment that is not a plain value; an empty string if there is none.
// [[Rcpp::export(rng = false)]]
std::string cpp_invalid_in_frame(const Rcpp::Environment& frame, const Rcpp::CharacterVector& names) {
  for (R_xlen_t k = 0; k < names.size(); ++k) {
    const SEXP name = Rf_installChar(STRING_ELT(names, k));
    const std::string shown = "its `" + std::string(CHAR(PRINTNAME(name))) + "` ";
    switch (gpb::bound(frame, name)) {
      case gpb::Bound::to_nothing: return shown + "is missing";
      case gpb::Bound::to_function: return shown + "is computed by a function";
      case gpb::Bound::to_promise: return shown + "holds a promise";
      case gpb::Bound::to_value: break;
    }
    const std::string found = invalid_value(gpb::bound_value(frame, name), 0);
    if (!found.empty()) return shown + "holds " + found;
  }
  return "";
}
