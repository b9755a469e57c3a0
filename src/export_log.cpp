// The log in R: what the core's object knows as rows of the log's tables, and changes of these
// (R/utils-table.R), all of a change or nothing of it. Whatever can fail, and whatever lets an interrupt in,
// comes before the first value is written.
#include <algorithm>
#include <cstring>
#include <optional>

#include "linalg/floors.h"
#include "r_bandit.h"
#include "r_frame.h"
#include "r_interrupt.h"
#include "r_rng.h"

using gpb::element;
using gpb::Event;
using gpb::EventKind;
using gpb::Query;

namespace {

// What R's garbage collector leaves alone while this object lives. (A preserved object would count
// as shared for good, and be copied at every change.)
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
  if (TYPEOF(frame) != ENVSXP) throw std::invalid_argument("a log is no environment");
  const SEXP value = gpb::bound_value(frame, name);
  if (value == R_UnboundValue) {
    throw std::invalid_argument(std::string("a log has no ") + CHAR(PRINTNAME(name)));
  }
  return value;
}

R_xlen_t size_of(SEXP table) { return Rf_asInteger(binding(table, Rf_install(".size"))); }

// Values [from, from + count) of a column; integers and logicals share a representation.
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

// Which of a table's columns hold NA alone, and thus nothing (`.blank` in R/utils-table.R), and which of them are
// filled by a change.
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
  // When all of them are known.
  void prepare(Protection& keep) {
    if (filled_.empty()) return;
    const R_xlen_t left = Rf_xlength(names_) - static_cast<R_xlen_t>(filled_.size());
    const SEXP names = keep(Rf_allocVector(STRSXP, left));
    R_xlen_t at = 0;
    for (R_xlen_t k = 0; k < Rf_xlength(names_); ++k) {
      const bool stays = std::none_of(filled_.begin(), filled_.end(), [&](SEXP name) { return is_name(k, name); });
      if (!stays) continue;
      if (at == left) throw std::invalid_argument("a log names a column twice");
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
  bool is_name(R_xlen_t k, SEXP name) const { return STRING_ELT(names_, k) == PRINTNAME(name); }  // R keeps one copy

  SEXP table_, names_;
  std::vector<SEXP> filled_;
};

SEXPTYPE type_of(SEXP column) {
  const int type = TYPEOF(column);
  if (type == INTSXP || type == REALSXP || type == STRSXP) return static_cast<SEXPTYPE>(type);
  throw std::invalid_argument("a log has a column of an unknown type");
}

// A column with at least so many values.
SEXP whole(SEXP column, R_xlen_t size) {
  if (size < 0 || Rf_xlength(column) < size) {
    throw std::invalid_argument("a log's column is shorter than its table");
  }
  return column;
}

// How long a column is made that has to hold `needed` values. (Four copies of a row where doubling has one, and a
// quarter of the room that is not used: R has to fill it, so that it is memory.)
R_xlen_t grown(R_xlen_t length, R_xlen_t needed) {
  return std::max<R_xlen_t>({length < 4096 ? 2 * length : length + length / 4, needed, 16});
}

// The column itself where nobody else holds it and there is room for `count` more rows; else a copy
// of its first `size` values.
SEXP writable(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
  const SEXPTYPE type = type_of(column);
  const R_xlen_t length = Rf_xlength(column), needed = size + count;
  if (length >= needed && !MAYBE_SHARED(column)) return column;
  const SEXP copy = keep(Rf_allocVector(type, length >= needed ? length : grown(length, needed)));
  copy_values(column, 0, copy, 0, size);
  fill_na(copy, size);
  return copy;
}

// In place of a column that holds nothing: `size` values NA, and room for `count` more rows.
SEXP filled_out(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
  const SEXP out = keep(Rf_allocVector(type_of(column), grown(size, size + count)));
  fill_na(out, 0);
  return out;
}

// One column of a table, with room for the rows that come.
class ColumnChange {
 public:
  ColumnChange(SEXP table, SEXP name, R_xlen_t size, R_xlen_t count, Blanks& blanks, Protection& keep)
      : table_(table), name_(name), column_(binding(table, name)), size_(size), count_(count),
        blank_(blanks.have(name)) {
    if (!blank_) column_ = writable(whole(column_, size), size, count, keep);
  }
  void append(SEXP values, Blanks& blanks, Protection& keep) {
    appended_ = as_column(values, keep);
    if (Rf_xlength(appended_) != count_) throw std::invalid_argument("a log's rows of two lengths");
    fill_for(appended_, blanks, keep);
  }
  void set(SEXP rows, SEXP values, Blanks& blanks, Protection& keep) {
    if (TYPEOF(rows) != INTSXP) throw std::invalid_argument("a log's row numbers are no integers");
    const int* row = INTEGER(rows);
    for (R_xlen_t k = 0; k < Rf_xlength(rows); ++k) {
      if (row[k] < 1 || row[k] > size_ + count_) {
        throw std::invalid_argument("a log has no such row");
      }
    }
    rows_ = rows;
    cells_ = as_column(values, keep);
    if (Rf_xlength(cells_) != Rf_xlength(rows)) {
      throw std::invalid_argument("a log's cells of two lengths");
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

// What table_change() in R describes.
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
      if (names_[k] == name) return columns_[k];  // R keeps one copy of each name
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

// Changes of tables and new values of fields, prepared: make() gives them all, and nothing in it
// fails.
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
  // `held`: the core's object with which the log is in step afterwards, or null.
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

// Makes `changes` of tables and gives `fields` of the environment `owner` new values. `durable`: NULL,
// or a function that writes the change down elsewhere when everything is prepared, keeps nothing of
// the tables, and returns further fields; if it fails nothing has changed. From its return on nothing
// fails and no interrupt comes in.
// [[Rcpp::export(rng = false)]]
void cpp_log_commit(const Rcpp::List& changes, const Rcpp::Environment& owner,
                    const Rcpp::List& fields, SEXP durable) {
  PreparedChange change(owner);
  for (R_xlen_t k = 0; k < changes.size(); ++k) change.table(VECTOR_ELT(changes, k));
  change.fields(fields);
  if (!Rf_isNull(durable)) change.fields(Rcpp::Function(durable)());
  change.make(nullptr);
}

// ---- what the core's object knows, as the log's rows ------------------------------------------------

namespace {

constexpr int kMostOutcomes = 1000;

// Columns of one length, by name, and what else is beside them.
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

// Where the log has the values of an outcome (0-based).
std::string value_column(gpb::Index outcome) {
  return outcome == 0 ? "reward" : with_number("y", outcome + 1);
}

// How many inputs of a point the log has: none where numbers say it all, and not the arm's number.
gpb::Index logged_inputs(const gpb::Point& point) {
  if (point.kind == gpb::Point::Kind::tabled) return 0;
  return point.x.size() - (point.kind == gpb::Point::Kind::numbered ? 1 : 0);
}

int phase_in_log(const Query& q) {
  if (q.action == gpb::Action::given) return 1;
  return q.phase > 0 ? q.phase : NA_INTEGER;
}

// The log's columns of the `n` queries from `first` on, whose rewards and constraint values are still to come.
// `rows` has room for them by the columns' names: Columns, or TableRows.
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

// How many queries, or events, the core's object has after the log's first `from`.
R_xlen_t beyond(std::size_t size, R_xlen_t from) {
  const R_xlen_t n = static_cast<R_xlen_t>(size) - from;
  if (n < 0) throw std::invalid_argument("the log is ahead of the bandit");
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

// What could be played at an event, as the log writes it; NA for everything, or where it is no
// query.
SEXP offer_at(const Event& event, const gpb::Bandit& bandit) {
  if (event.kind != EventKind::query && event.kind != EventKind::given) return NA_STRING;
  const gpb::Context& context = bandit.state().query(event.id).context;
  if (!context.eligible && !context.fixed) return NA_STRING;
  return Rf_mkChar(gpb::offer_text(context).c_str());
}

// The events that the log does not have yet, of which it has `had`.
struct NewEvents {
  NewEvents(const gpb::Bandit& bandit, R_xlen_t had) {
    had -= static_cast<R_xlen_t>(bandit.first_event());
    if (had < 0) throw std::invalid_argument("these events are in the log alone");
    count = beyond(bandit.events().size(), had);
    first = bandit.events().data() + had;
  }
  const Event* first;
  R_xlen_t count;
};

// The log's columns of them; see fill_queries().
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

// Events from this one (0-based) on; `status`: what has become of their queries.
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

// Events that change what is known of a query.
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

// Some values of a column, `rows` from `from` on.
SEXP picked(SEXP column, R_xlen_t from, const std::vector<R_xlen_t>& rows) {
  const SEXP out = Rf_allocVector(static_cast<SEXPTYPE>(TYPEOF(column)),
                                  static_cast<R_xlen_t>(rows.size()));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    copy_values(column, from + rows[k], out, static_cast<R_xlen_t>(k), 1);
  }
  return out;
}

// What events tell of queries, as table_change() in R takes it.
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
      throw std::invalid_argument("an event of an outcome that cannot be");
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

// Rows that go straight into a table's columns: no list of them is made first. The columns are made ready in the
// beginning; until write() the table is as it was, as values beyond its size are none. First the new rows, then
// settle(), then columns as a whole, then prepare() and write().
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
  // Where the new rows of a column begin.
  int* integers(const char* name) {
    const auto rows = new_rows(name, INTSXP);
    return INTEGER(rows.first) + rows.second;
  }
  double* numbers(const char* name) {
    const auto rows = new_rows(name, REALSXP);
    return REAL(rows.first) + rows.second;
  }
  std::pair<SEXP, R_xlen_t> texts(const char* name) { return new_rows(name, STRSXP); }
  // Every column must have got its new rows; of those that held nothing some do now.
  void settle() {
    if (count_ > 0 && filled_ != columns_.size()) throw std::invalid_argument("a log's rows of two lengths");
    for (Column& one : columns_) {
      if (!one.blank || all_na(one.values)) continue;
      const SEXP rows = one.values;
      fill(one);
      copy_values(rows, 0, one.values, size_, count_);
    }
  }
  // A whole column, new rows too, to write into.
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
  // `blank`: the column holds nothing, `values` are its new rows alone.
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
    throw std::invalid_argument("a log has a column of an unknown type");
  }
  // (They are asked for in nearly the order in which they stand.)
  Column& find(const char* name) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (next_ >= columns_.size()) next_ = 0;
      Column& one = columns_[next_++];
      if (std::strcmp(CHAR(PRINTNAME(one.name)), name) == 0) return one;
    }
    throw std::invalid_argument(std::string("a log has no ") + name);
  }
  // A vector, and where in it the new rows of a column begin.
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

// What events tell of queries, beside these: reported_cells() without a list. Made ready first, then written.
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

// See cpp_log_follow(). The lists of new queries and events are made only for who reads them.
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

// What events (columns as those of cpp_bandit_log()) tell of queries.
// [[Rcpp::export(rng = false)]]
SEXP cpp_reported_cells(SEXP events) {
  const auto check = [&](const char* name, int type) {
    if (TYPEOF(element(events, name)) == type) return;
    throw std::invalid_argument("an event's column has the wrong type");
  };
  for (const char* name : {"kind", "id", "status", "outcome"}) check(name, INTSXP);
  for (const char* name : {"reward", "g"}) check(name, REALSXP);
  Protection keep;
  return reported_cells(events, keep);
}

// What the log does not have yet: rows of its queries and events from these numbers (0-based) on.
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_log(SEXP handle, int from_query, int from_event) {
  BanditHandle bandit(handle);
  Protection keep;
  Columns out(0, 2, keep);
  out.add("queries", queries_from(*bandit, from_query, keep));
  out.add("events", events_from(*bandit, from_event, keep));
  return out.list();
}

// The log of `owner` gets what the core's object knows and it does not, and `fields` new values; returned are the new
// events where they are `wanted`. `durable`: as in cpp_log_commit(), a function of the new queries and
// events. Where `in_step` is false the object stays out of step.
// [[Rcpp::export(rng = false)]]
SEXP cpp_log_follow(SEXP handle, SEXP owner, SEXP fields, SEXP durable, bool in_step, bool wanted) {
  BanditHandle bandit(handle);
  if (Rf_isS4(owner)) owner = Rf_getAttrib(owner, Rf_install(".xData"));
  return follow(bandit, owner, fields, durable, in_step, wanted);
}

namespace {

// The columns of a table of queries that have inputs, null for one that holds nothing; `ids` must be rows of it.
std::vector<const double*> input_columns(SEXP queries, const Rcpp::IntegerVector& ids) {
  const SEXP names = binding(queries, Rf_install(".columns"));
  const R_xlen_t size = size_of(queries);
  for (const int id : ids) {
    if (id == NA_INTEGER || id < 1 || id > size) {
      throw std::invalid_argument("a log has no such query");
    }
  }
  const Blanks blanks(queries);
  std::vector<const double*> columns;
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    const SEXP name = STRING_ELT(names, k);
    if (std::strncmp(CHAR(name), "in.", 3) != 0) continue;
    const SEXP symbol = Rf_installChar(name), column = binding(queries, symbol);
    if (TYPEOF(column) != REALSXP) throw std::invalid_argument("a log's inputs are no numbers");
    columns.push_back(blanks.have(symbol) ? nullptr : REAL(whole(column, size)));
  }
  return columns;
}

}  // namespace

// The inputs of some queries (1-based) in a table of them, a row each; no columns where the log has
// none.
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

// ---- asking and telling: checked, done and written into the log in one call ---------------------

namespace {

SEXP frame_of(SEXP owner) { return Rf_isS4(owner) ? Rf_getAttrib(owner, Rf_install(".xData")) : owner; }

// The log follows a change at once; one that is kept elsewhere, too, follows when R has written it down there
// (sync_log()).
void follow_in_memory(SEXP handle, SEXP frame) {
  const SEXP journal = gpb::bound_value(frame, Rf_install("journal"));
  if (journal != R_UnboundValue && !Rf_isNull(journal)) return;
  BanditHandle bandit(handle);
  follow(bandit, frame, R_NilValue, R_NilValue, true, false);
}

// Settings by which something may come before a query: points of a design, a refit, a map of outputs.
bool has_preludes(SEXP config) {
  for (const char* name : {"refit", "outputs", "design"}) {
    if (!Rf_isNull(element(config, name))) return true;
  }
  const SEXP outcomes = element(config, "outcomes");
  for (R_xlen_t k = 0; k < Rf_xlength(outcomes); ++k) {
    if (!Rf_isNull(element(VECTOR_ELT(outcomes, k), "outputs"))) return true;
  }
  return false;
}

// What observe() takes as R gives it.
struct RewardsFromR {
  SEXP id, reward, constraints, time, reported;
  R_xlen_t size() const { return Rf_xlength(id); }
  double number(R_xlen_t k) const { return TYPEOF(id) == INTSXP ? INTEGER(id)[k] : REAL(id)[k]; }
  double value(R_xlen_t k) const { return TYPEOF(reward) == INTSXP ? INTEGER(reward)[k] : REAL(reward)[k]; }
};

bool is_plain(SEXP x) { return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && !Rf_isObject(x); }

// NULL, or a variance for each reward, NA where it is the bandit's.
bool are_noise_variances(SEXP x, R_xlen_t count) {
  if (Rf_isNull(x)) return true;
  if (TYPEOF(x) != REALSXP || Rf_isObject(x) || Rf_xlength(x) != count) return false;
  return std::all_of(REAL(x), REAL(x) + count,
                     [](double one) { return R_IsNA(one) || (one > 0.0 && one <= gpb::kLargest); });
}

// Is the model given, neither fitted nor scaled, and some rewards so far from its prior mean as to say so?
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

// Are these rewards of distinct queries that await them, in the order of their ids, with nothing amiss and nothing
// that R has to work out? `before`: what the log's numbers lack to the ids.
bool in_order(SEXP config, const gpb::Bandit& bandit, const RewardsFromR& rewards, double before, double reach) {
  const R_xlen_t count = rewards.size();
  if (!is_plain(rewards.id) || !is_plain(rewards.reward)) return false;
  if (Rf_xlength(rewards.reward) != count || count == 0) return false;
  const gpb::BanditState& state = bandit.state();
  if (bandit.has_likelihood() || !Rf_isNull(element(config, "outcomes"))) return false;
  if (state.constraints() || !Rf_isNull(rewards.constraints)) return false;
  if (state.pending().by_clock() || !Rf_isNull(rewards.time)) return false;
  if (!are_noise_variances(rewards.reported, count)) return false;
  double last = 0.0;
  for (R_xlen_t k = 0; k < count; ++k) {
    const double id = rewards.number(k) - before;
    if (!(id > last && id <= static_cast<double>(state.rounds()) && id == std::floor(id))) return false;
    const gpb::Status status = state.query(static_cast<gpb::Index>(id)).status;
    if (status != gpb::Status::pending && status != gpb::Status::failed) return false;
    if (!(std::abs(rewards.value(k)) <= gpb::kLargest)) return false;
    last = id;
  }
  return !surprises(config, bandit, rewards, before, reach);
}

void record(SEXP handle, const RewardsFromR& rewards, double before) {
  const bool alone = TYPEOF(rewards.reported) == REALSXP;  // noise variances
  std::optional<ReportFromR> beside;
  if (!Rf_isNull(rewards.reported) && !alone) beside.emplace(rewards.reported, rewards.size());
  std::optional<Eigen::MatrixXd> g;
  if (!Rf_isNull(rewards.constraints)) g = Rcpp::as<Eigen::MatrixXd>(rewards.constraints);
  BanditDelta bandit(handle);
  for (R_xlen_t k = 0; k < rewards.size(); ++k) {
    bandit->set_clock(Rf_isNull(rewards.time) ? gpb::kNaN : REAL(rewards.time)[k]);
    gpb::Report one = beside ? beside->at(k) : gpb::Report();
    if (alone) one.noise_var = REAL(rewards.reported)[k];
    bandit->observe(static_cast<gpb::Index>(rewards.number(k) - before), rewards.value(k),
                    g ? gpb::row_of(*g, static_cast<gpb::Index>(k)) : Eigen::VectorXd(), one);
  }
}

}  // namespace

// Plays one query after the other, one per context; their rows in the log. `at_once`: nothing has been done before;
// FALSE where R may have to do something, make the object whole, say, or a refit. Else NULL where it is not whole; the
// words of an error (a handler of errors would take as long as all else).
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_suggest(SEXP owner, const Rcpp::List& contexts, double time, bool at_once) {
  const SEXP frame = frame_of(owner), handle = binding(frame, Rf_install("handle"));
  if (at_once && (!is_ready(handle) || has_preludes(binding(frame, Rf_install("config"))))) {
    return Rf_ScalarLogical(FALSE);
  }
  if (!is_ready(handle)) return R_NilValue;
  const auto asked = gpb::contexts_from_list(contexts);
  const Rcpp::Shield<SEXP> rows(Rf_allocVector(INTSXP, static_cast<R_xlen_t>(asked.size())));
  try {
    {
      gpb::RRng rng;
      BanditDelta bandit(handle);
      bandit->set_clock(time);
      for (std::size_t k = 0; k < asked.size(); ++k) {
        INTEGER(rows)[k] = static_cast<int>(bandit->commit(bandit->propose(asked[k], rng)));
        if (k % 64 == 63) gpb::check_interrupt();
      }
    }
    follow_in_memory(handle, frame);
  } catch (const std::exception& e) {
    return Rf_mkString(e.what());
  }
  return rows;
}

// Rewards of queries: TRUE. `reach`: of rewards as users give them, how many prior standard deviations from the prior
// mean they may lie without a word; FALSE where there is more to them than the core can judge: nothing has happened
// then. NA: R has checked all, and `id` are rows of the log. `reported`: what stands beside the rewards, columns as in
// the
// log; or noise variances alone; or NULL. Else as cpp_bandit_suggest().
// [[Rcpp::export(rng = false)]]
SEXP cpp_bandit_observe(SEXP owner, SEXP id, SEXP reward, SEXP constraints, SEXP time, SEXP reported, double reach) {
  const SEXP frame = frame_of(owner), handle = binding(frame, Rf_install("handle"));
  const bool checked = std::isnan(reach);
  if (!is_ready(handle)) return checked ? R_NilValue : Rf_ScalarLogical(FALSE);
  const RewardsFromR rewards{id, reward, constraints, time, reported};
  double before = 0.0;
  if (!checked) {
    BanditHandle bandit(handle);
    before = static_cast<double>(bandit->state().forgotten().before());
    const SEXP config = binding(frame, Rf_install("config"));
    if (!in_order(config, *bandit, rewards, before, reach)) return Rf_ScalarLogical(FALSE);
  }
  try {
    record(handle, rewards, before);
    follow_in_memory(handle, frame);
  } catch (const std::exception& e) {
    return Rf_mkString(e.what());
  }
  return Rf_ScalarLogical(TRUE);
}

// ---- queries as people see them -----------------------------------------------------------------

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
  // A column of whole numbers, counted from 1.
  std::vector<R_xlen_t> numbers(const char* name) const {
    const SEXP column = binding(queries_, Rf_install(name));
    if (TYPEOF(column) != INTSXP) throw std::invalid_argument("a log has a column of an unknown type");
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

// Some queries (rows of the log) of arms, or of a box whose inputs are the kernel's, as a data.frame; NULL where R
// knows how to show them: other points, and where rounds are forgotten, so that the log's numbers are not the ids.
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

// ---- objects that come from outside -------------------------------------------------------------
// An R object from a file or from another process brings an environment in which anything may stand:
// these look at it without R evaluating it.

namespace {

// Pointers do not survive a file: no other process can say that an environment is ours.
const char kThisProcess = 0;

SEXP mark() { return Rf_install("gpbandits.process"); }

// What stands where data should be and runs as soon as R looks at it; an empty string if nothing does.
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
    default: return "";  // functions are code anyway
  }
  // (Evaluates to itself.)
  const Rcpp::Shield<SEXP> call(Rf_lang2(Rf_install("attributes"), x));
  const Rcpp::Shield<SEXP> attributes(Rcpp::Rcpp_fast_eval(call, R_BaseEnv));
  if (TYPEOF(attributes) != VECSXP) return "";
  return invalid_item(attributes, depth + 1);
}

}  // namespace

// Has this environment been looked through in this process, or made here?
// [[Rcpp::export(rng = false)]]
bool cpp_is_trusted(SEXP frame) {
  if (TYPEOF(frame) != ENVSXP) return false;
  const SEXP found = Rf_getAttrib(frame, mark());
  return TYPEOF(found) == EXTPTRSXP && R_ExternalPtrAddr(found) == &kThisProcess;
}

// What stands under this name in the environment of an object of ours; NULL where R has to look.
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

// What of these names in an environment is no plain value, in words; an empty string if all are.
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
