// The log in R: what the core's object knows as rows of the log's tables, and changes of these
// (R/utils-table.R), all of a change or nothing of it. Whatever can fail, and whatever lets an interrupt in,
// comes before the first value is written.
#include <algorithm>
#include <cstring>

#include "linalg/floors.h"
#include "r_bandit.h"
#include "r_frame.h"
#include "r_rng.h"

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

// The list's element of that name, or NULL. (R keeps one copy of each name.)
SEXP element(SEXP list, SEXP name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    if (STRING_ELT(names, k) == name) return VECTOR_ELT(list, k);
  }
  return R_NilValue;
}

SEXP element(SEXP list, const char* name) { return element(list, PRINTNAME(Rf_install(name))); }

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

// How many inputs of a place the log has: none where numbers say it all, and not the arm's number.
gpb::Index logged_inputs(const gpb::Place& place) {
  if (place.kind == gpb::Place::Kind::tabled) return 0;
  return place.x.size() - (place.kind == gpb::Place::Kind::numbered ? 1 : 0);
}

int phase_in_log(const Query& q) {
  if (q.action == gpb::Action::given) return 1;
  return q.phase > 0 ? q.phase : NA_INTEGER;
}

// The log's columns of the `n` queries from `first` on, whose rewards and constraint values are still to come.
// `rows` has room for them by the columns' names: Columns, or TableRows.
template <class Rows>
void fill_queries(const gpb::Bandit& bandit, const Query* first, R_xlen_t n, Rows& rows) {
  const gpb::Index inputs = n > 0 ? logged_inputs(first->place) : 0;
  const gpb::Index constraints = bandit.fold().multipliers().size();
  const auto integers = [&](const char* name, auto value) {
    int* column = rows.integers(name);
    for (R_xlen_t k = 0; k < n; ++k) column[k] = value(first[k]);
  };
  const auto numbers = [&](const char* name, auto value) {
    double* column = rows.numbers(name);
    for (R_xlen_t k = 0; k < n; ++k) column[k] = value(first[k]);
  };
  integers("arm", [](const Query& q) { return or_na(q.place.arm); });
  integers("context", [](const Query& q) { return static_cast<int>(q.context->row); });
  integers("action", [](const Query& q) { return static_cast<int>(q.action); });
  integers("segment", [](const Query& q) { return static_cast<int>(q.segment); });
  integers("status", [](const Query& q) { return static_cast<int>(q.whole_status()); });
  numbers("mean", [](const Query& q) { return q.mean; });
  numbers("sd", [](const Query& q) { return q.sd; });
  numbers("width", [](const Query& q) { return or_na(q.width); });
  if (bandit.phases() > 0) integers("phase", phase_in_log);
  const auto unknown = [](const Query&) { return NA_REAL; };
  for (gpb::Index k = 0; k < bandit.fold().outcomes(); ++k) numbers(value_column(k).c_str(), unknown);
  for (gpb::Index j = 0; j < inputs; ++j) {
    numbers(with_number("in.", j + 1).c_str(), [j](const Query& q) { return q.place.x[j]; });
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
  const R_xlen_t n = beyond(bandit.fold().queries().size(), from);
  const Query* const first = bandit.fold().queries().data() + from;
  const gpb::Index inputs = n > 0 ? logged_inputs(first->place) : 0;
  Columns columns(n, 9 + bandit.fold().outcomes() + inputs + 2 * bandit.fold().multipliers().size(), keep);
  fill_queries(bandit, first, n, columns);
  return columns.list();
}

// What could be played at an event, as the log writes it; NA for everything, or where it is no
// query.
SEXP offer_at(const Event& event, const gpb::Bandit& bandit) {
  if (event.kind != EventKind::query && event.kind != EventKind::given) return NA_STRING;
  const gpb::Context& context = bandit.fold().query(event.id).context;
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
    noise_var[k] = or_na(event.told.noise_var);
    size[k] = or_na(event.told.size);
    spread[k] = or_na(event.told.spread);
    other[k] = event.told.other > 0 ? static_cast<int>(event.told.other) : NA_INTEGER;
    outcome[k] =
        event.told.outcome == gpb::kAllOutcomes ? NA_INTEGER : static_cast<int>(event.told.outcome) + 1;
    SET_STRING_ELT(arms.first, arms.second + k, offer_at(event, bandit));
  }
}

int status_after(const Event& event, const gpb::Bandit& bandit) {
  return event.id > 0 ? static_cast<int>(bandit.fold().query(event.id).whole_status()) : NA_INTEGER;
}

// Events from this one (0-based) on; `status`: what has become of their queries.
SEXP events_from(const gpb::Bandit& bandit, R_xlen_t from, Protection& keep) {
  const NewEvents events(bandit, from);
  const R_xlen_t n = events.count;
  Columns columns(n, 12, keep);
  fill_events(bandit, events, columns);
  int* const status = columns.integers("status");
  const int constraints = static_cast<int>(bandit.fold().multipliers().size());
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
bool tells(int kind) {
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
SEXP told_cells(SEXP events, Protection& keep) {
  const SEXP kind = element(events, "kind"), id = element(events, "id"),
             reward = element(events, "reward"), status = element(events, "status"),
             outcome = element(events, "outcome"), g = element(events, "g");
  const R_xlen_t n = Rf_xlength(kind);
  std::vector<R_xlen_t> told, valued;
  std::vector<std::vector<R_xlen_t>> known(1);  // by outcome
  for (R_xlen_t k = 0; k < n; ++k) {
    if (!tells(INTEGER(kind)[k])) continue;
    told.push_back(k);
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
  if (told.empty()) return R_NilValue;
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
  add("status", told, status, 0);
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

// What events tell of queries, beside these: told_cells() without a list. Made ready first, then written.
class ToldRows {
 public:
  ToldRows(const gpb::Bandit& bandit, const NewEvents& events, TableRows& queries)
      : bandit_(bandit), events_(events), constraints_(bandit.fold().multipliers().size()) {
    bool told = false;
    gpb::Index outcomes = 0;
    for (R_xlen_t k = 0; k < events.count; ++k) {
      if (!tells(static_cast<int>(events.first[k].kind))) continue;
      told = true;
      outcomes = std::max(outcomes, events.first[k].told.about() + 1);
    }
    if (!told) return;
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
      if (!tells(static_cast<int>(event.kind))) continue;
      const R_xlen_t at = static_cast<R_xlen_t>(event.id) - 1;
      status_[at] = status_after(event, bandit_);
      if (std::isnan(event.reward)) continue;
      values_[static_cast<std::size_t>(event.told.about())][at] = event.reward;
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
  const R_xlen_t asked = beyond(bandit->fold().queries().size(), had);
  const NewEvents happened(*bandit, heard);
  TableRows query_rows(queries, asked, keep), event_rows(events, happened.count, keep);
  if (asked > 0) fill_queries(*bandit, bandit->fold().queries().data() + had, asked, query_rows);
  if (happened.count > 0) fill_events(*bandit, happened, event_rows);
  query_rows.settle();
  event_rows.settle();
  const ToldRows told(*bandit, happened, query_rows);
  query_rows.prepare();
  event_rows.prepare();
  PreparedChange change(owner);
  change.fields(fields);
  const bool is_durable = !Rf_isNull(durable);
  const SEXP listed = is_durable || wanted ? events_from(*bandit, heard, keep) : R_NilValue;
  if (is_durable) change.fields(Rcpp::Function(durable)(queries_from(*bandit, had, keep), listed));
  told.write();
  query_rows.write();
  event_rows.write();
  change.make(in_step ? bandit.held() : nullptr);
  bandit->hand_over_events();
  return listed;
}

}  // namespace

// What events (columns as those of cpp_bandit_log()) tell of queries.
// [[Rcpp::export(rng = false)]]
SEXP cpp_told_cells(SEXP events) {
  const auto check = [&](const char* name, int type) {
    if (TYPEOF(element(events, name)) == type) return;
    throw std::invalid_argument("an event's column has the wrong type");
  };
  for (const char* name : {"kind", "id", "status", "outcome"}) check(name, INTSXP);
  for (const char* name : {"reward", "g"}) check(name, REALSXP);
  Protection keep;
  return told_cells(events, keep);
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

// The inputs of some queries (1-based) in a table of them, a row each; no columns where the log has
// none.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix cpp_logged_inputs(SEXP queries, const Rcpp::IntegerVector& ids) {
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
  Rcpp::NumericMatrix out(static_cast<int>(ids.size()), static_cast<int>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double* const to = out.begin() + static_cast<R_xlen_t>(c) * ids.size();
    for (R_xlen_t k = 0; k < ids.size(); ++k) to[k] = columns[c] ? columns[c][ids[k] - 1] : NA_REAL;
  }
  return out;
}

namespace {

// A reward of a pending query (`id`: its number in the log), told once: numbers that R need not look at again.
bool plain_reward(double id, double reward, const int* status, R_xlen_t rounds) {
  return std::abs(reward) <= gpb::kLargest && id >= 1 && id <= static_cast<double>(rounds) &&
         id == std::floor(id) &&
         status[static_cast<R_xlen_t>(id) - 1] == static_cast<int>(gpb::Status::pending);
}

}  // namespace

// Are these rewards of distinct pending queries, in the order of their ids, with nothing amiss?
// Where not, the checks in R find out what it is. `before`: what the log's numbers lack to the ids.
// [[Rcpp::export(rng = false)]]
bool cpp_plain_rewards(SEXP queries, SEXP id, SEXP reward, double before) {
  const auto plain = [](SEXP x) {
    return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && !Rf_isObject(x);
  };
  if (!plain(id) || !plain(reward) || Rf_xlength(id) != Rf_xlength(reward)) return false;
  const SEXP status = binding(queries, Rf_install("status"));
  const R_xlen_t rounds = size_of(queries);
  if (TYPEOF(status) != INTSXP || Rf_xlength(status) < rounds) return false;
  const Rcpp::NumericVector ids(id), rewards(reward);
  for (R_xlen_t k = 0; k < ids.size(); ++k) {
    if (!plain_reward(ids[k] - before, rewards[k], INTEGER(status), rounds)) return false;
    if (k > 0 && ids[k] <= ids[k - 1]) return false;
  }
  return ids.size() > 0;
}

// ---- ordinary queries and rewards, in one call ---------------------------------------------------
// What R's functions of asking and telling find out anew at each call does not change from call to call: it stands
// beside the handle (note_ordinary() in R), with the settings that it was found of.

namespace {

// The handle of a bandit whose next query or reward is an ordinary one, and what was noted of it.
struct Ordinary {
  enum class Is { unknown, no, yes };
  explicit Ordinary(SEXP frame) {
    if (!Rf_isNull(binding(frame, Rf_install("journal")))) {
      is = Is::no;
      return;
    }
    handle = binding(frame, Rf_install("handle"));
    if (!is_held_bandit(handle)) return;
    const auto* held = static_cast<const HeldBandit*>(R_ExternalPtrAddr(handle));
    const SEXP noted = held->note.get();
    if (!held->in_step || held->changing || Rf_isNull(noted) ||
        VECTOR_ELT(noted, 0) != binding(frame, Rf_install("config"))) {
      return;
    }
    note = VECTOR_ELT(noted, 1);
    is = Rf_isNull(note) ? Is::no : Is::yes;
  }
  SEXP answer() const { return is == Is::no ? Rf_ScalarLogical(FALSE) : R_NilValue; }
  Is is = Is::unknown;
  SEXP handle = R_NilValue, note = R_NilValue;
};

// A context as R gives it where `size` values make one, and as it is taken without another look; none of no size.
bool plain_context(SEXP context, int size, gpb::Context& out) {
  if (Rf_isNull(context)) return size == 0;
  if (size < 1 || TYPEOF(context) != REALSXP || Rf_isObject(context) || Rf_xlength(context) != size) return false;
  if (!Rf_isNull(Rf_getAttrib(context, R_NamesSymbol)) || !Rf_isNull(Rf_getAttrib(context, R_DimSymbol))) return false;
  out.values = Eigen::Map<const Eigen::VectorXd>(REAL(context), size);
  return out.values.allFinite();
}

// A row of a table of arms (1-based), and the context, as query_frame() in R has them.
SEXP framed_arm(SEXP shown, gpb::Index id, int arm, const Eigen::VectorXd& context) {
  const SEXP x = VECTOR_ELT(shown, 1), labels = VECTOR_ELT(shown, 2);
  const int columns = Rf_ncols(x), rows = Rf_nrows(x), own = Rf_isNull(labels) ? 2 : 3;
  const int contexts = static_cast<int>(context.size());
  if (arm < 1 || arm > rows) throw std::logic_error("an arm that is none");
  const Rcpp::Shield<SEXP> frame(Rf_allocVector(VECSXP, own + columns + contexts));
  for (int j = 0; j < contexts; ++j) SET_VECTOR_ELT(frame, own + columns + j, Rf_ScalarReal(context[j]));
  SET_VECTOR_ELT(frame, 0, Rf_ScalarInteger(static_cast<int>(id)));
  SET_VECTOR_ELT(frame, 1, Rf_ScalarInteger(arm));
  if (own == 3) SET_VECTOR_ELT(frame, 2, Rf_ScalarString(STRING_ELT(labels, arm - 1)));
  for (int j = 0; j < columns; ++j) {
    SET_VECTOR_ELT(frame, own + j,
                   Rf_ScalarReal(REAL(x)[arm - 1 + static_cast<R_xlen_t>(j) * rows]));
  }
  Rf_setAttrib(frame, R_NamesSymbol, VECTOR_ELT(shown, 0));
  const Rcpp::Shield<SEXP> numbers(Rf_allocVector(INTSXP, 2));  // R's compact form of 1, 2, ..
  INTEGER(numbers)[0] = NA_INTEGER;
  INTEGER(numbers)[1] = -1;
  Rf_setAttrib(frame, R_RowNamesSymbol, numbers);
  const Rcpp::Shield<SEXP> name(Rf_mkString("data.frame"));
  Rf_setAttrib(frame, R_ClassSymbol, name);
  return frame;
}

// Rewards that the prior hardly allows are warned of, by R.
bool prior_allows(SEXP note, gpb::Bandit& bandit, int arm, double reward) {
  const SEXP mean = VECTOR_ELT(note, 1);
  const double scale = bandit.space().prior_scale();
  const double most = REAL(VECTOR_ELT(note, 3))[0] * std::sqrt(scale * scale + REAL(VECTOR_ELT(note, 2))[0]);
  const R_xlen_t at = Rf_xlength(mean) == 1 ? 0 : arm;
  return at >= 0 && at < Rf_xlength(mean) && std::abs(reward - REAL(mean)[at]) <= most;
}

}  // namespace

// What note_ordinary() in R found of the settings of this handle's bandit: NULL where its queries are not
// ordinary.
// [[Rcpp::export(rng = false)]]
void cpp_note_ordinary(SEXP handle, SEXP config, SEXP note) {
  if (!is_held_bandit(handle)) return;
  const SEXP kept = R_ExternalPtrProtected(handle);
  for (int k = 0; k < 2; ++k) {  // functions of the user's: their errors are R's matter
    if (!Rf_isNull(VECTOR_ELT(kept, k)) && Rf_xlength(VECTOR_ELT(kept, k)) > 0) note = R_NilValue;
  }
  const Rcpp::Shield<SEXP> noted(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(noted, 0, config);
  SET_VECTOR_ELT(noted, 1, note);
  static_cast<HeldBandit*>(R_ExternalPtrAddr(handle))->note.set(handle, noted);
}

// One query, if it is an ordinary one: its row as a data.frame, or its number in the log where R knows how to show
// places. Else FALSE, or NULL where nobody has noted whether it is one; the words of an error where the core fails.
// [[Rcpp::export(rng = false)]]
SEXP cpp_ask_ordinary(SEXP frame, SEXP context) {
  const Ordinary ordinary(frame);
  if (ordinary.is != Ordinary::Is::yes) return ordinary.answer();
  gpb::Context asked;
  if (!plain_context(context, Rf_asInteger(VECTOR_ELT(ordinary.note, 4)), asked)) return Rf_ScalarLogical(FALSE);
  BanditHandle bandit(ordinary.handle);
  try {
    {
      gpb::RRng rng;
      BanditChange change(ordinary.handle);
      change->set_clock(gpb::kNaN);
      change->commit(change->propose(asked, rng));
    }
    follow(bandit, frame, R_NilValue, R_NilValue, true, false);
  } catch (const std::exception& e) {
    return Rf_mkString(e.what());
  }
  const SEXP shown = VECTOR_ELT(ordinary.note, 0);
  const gpb::Fold& fold = bandit->fold();
  const gpb::Index row = fold.rounds();
  if (Rf_isNull(shown)) return Rf_ScalarInteger(static_cast<int>(row));
  return framed_arm(shown, fold.all_rounds(), static_cast<int>(fold.query(row).place.arm) + 1, asked.values);
}

// Rewards of pending queries, if that is all there is to them and the prior allows them: TRUE. Else as
// cpp_ask_ordinary().
// [[Rcpp::export(rng = false)]]
SEXP cpp_tell_ordinary(SEXP frame, SEXP id, SEXP reward) {
  const Ordinary ordinary(frame);
  if (ordinary.is != Ordinary::Is::yes) return ordinary.answer();
  const SEXP queries = binding(frame, Rf_install("queries"));
  BanditHandle bandit(ordinary.handle);
  const auto before = static_cast<double>(bandit->fold().forgotten().before());
  if (!cpp_plain_rewards(queries, id, reward, before)) return Rf_ScalarLogical(FALSE);
  std::vector<double> ids = Rcpp::as<std::vector<double>>(id);
  for (double& one : ids) one -= before;
  const Rcpp::NumericVector rewards(reward);
  const bool numbered = !Blanks(queries).have(Rf_install("arm"));
  const SEXP arm = numbered ? whole(binding(queries, Rf_install("arm")), size_of(queries)) : R_NilValue;
  for (R_xlen_t k = 0; k < rewards.size(); ++k) {
    const auto row = static_cast<R_xlen_t>(ids[static_cast<std::size_t>(k)]) - 1;
    const int played = numbered ? INTEGER(arm)[row] : NA_INTEGER;
    if (!prior_allows(ordinary.note, *bandit, played, rewards[k])) return Rf_ScalarLogical(FALSE);
  }
  try {
    {
      BanditChange change(ordinary.handle);
      for (R_xlen_t k = 0; k < rewards.size(); ++k) {
        change->set_clock(gpb::kNaN);
        change->observe(static_cast<gpb::Index>(ids[static_cast<std::size_t>(k)]), rewards[k]);
      }
    }
    follow(bandit, frame, R_NilValue, R_NilValue, true, false);
  } catch (const std::exception& e) {
    return Rf_mkString(e.what());
  }
  return Rf_ScalarLogical(TRUE);
}

// ---- objects that come from outside -------------------------------------------------------------
// An R object from a file or from another process brings an environment in which anything may stand:
// these look at it without R evaluating it.

namespace {

// Pointers do not survive a file: no other process can say that an environment is ours.
const char kThisProcess = 0;

SEXP mark() { return Rf_install("gpbandits.process"); }

// What stands where data should be and runs as soon as R looks at it; an empty string if nothing does.
std::string strange_value(SEXP x, int depth);

std::string strange_item(SEXP list, int depth) {
  for (R_xlen_t k = 0; k < Rf_xlength(list); ++k) {
    const std::string found = strange_value(VECTOR_ELT(list, k), depth);
    if (!found.empty()) return found;
  }
  return "";
}

std::string strange_value(SEXP x, int depth) {
  if (depth > 200) return "a nest without end";
  switch (TYPEOF(x)) {
    case PROMSXP: return "a promise";
    case DOTSXP: return "arguments (...)";
    case BCODESXP: return "bytecode";
    case VECSXP: {
      const std::string found = strange_item(x, depth + 1);
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
  return strange_item(attributes, depth + 1);
}

}  // namespace

// Has this environment been looked through in this process, or made here?
// [[Rcpp::export(rng = false)]]
bool cpp_is_ours(SEXP frame) {
  if (TYPEOF(frame) != ENVSXP) return false;
  const SEXP found = Rf_getAttrib(frame, mark());
  return TYPEOF(found) == EXTPTRSXP && R_ExternalPtrAddr(found) == &kThisProcess;
}

// What stands under this name in the environment of an object of ours; NULL where R has to look.
// [[Rcpp::export(rng = false)]]
SEXP cpp_member(SEXP object, SEXP name) {
  if (TYPEOF(name) != STRSXP || Rf_xlength(name) != 1) return R_NilValue;
  const SEXP frame = Rf_getAttrib(object, Rf_install(".xData"));
  if (!cpp_is_ours(frame)) return R_NilValue;
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
std::string cpp_strange_in_frame(const Rcpp::Environment& frame, const Rcpp::CharacterVector& names) {
  for (R_xlen_t k = 0; k < names.size(); ++k) {
    const SEXP name = Rf_installChar(STRING_ELT(names, k));
    const std::string shown = "its `" + std::string(CHAR(PRINTNAME(name))) + "` ";
    switch (gpb::bound(frame, name)) {
      case gpb::Bound::to_nothing: return shown + "is missing";
      case gpb::Bound::to_function: return shown + "is computed by a function";
      case gpb::Bound::to_promise: return shown + "holds a promise";
      case gpb::Bound::to_value: break;
    }
    const std::string found = strange_value(gpb::bound_value(frame, name), 0);
    if (!found.empty()) return shown + "holds " + found;
  }
  return "";
}
