// Changes of the log's tables (R/table.R): all of a change or nothing of it. Whatever can fail, and
// whatever lets an interrupt in, comes before the first value is written.
#include "linalg/floors.h"
#include "r_bandit.h"

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
  const SEXP value = Rf_findVarInFrame(frame, name);
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

// A column with at least so many values.
SEXP whole(SEXP column, R_xlen_t size) {
  if (size < 0 || Rf_xlength(column) < size) {
    throw std::invalid_argument("a log's column is shorter than its table");
  }
  return column;
}

// The column itself where nobody else holds it and there is room for `count` more rows; else a copy
// of its first `size` values. Columns grow by doubling.
SEXP writable(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
  const int type = TYPEOF(column);
  if (type != INTSXP && type != REALSXP && type != STRSXP) {
    throw std::invalid_argument("a log has a column of an unknown type");
  }
  const R_xlen_t length = Rf_xlength(column), needed = size + count;
  if (length >= needed && !MAYBE_SHARED(column)) return column;
  const SEXP copy = keep(
      Rf_allocVector(static_cast<SEXPTYPE>(type),
                     length >= needed ? length : std::max<R_xlen_t>({2 * length, needed, 16})));
  copy_values(column, 0, copy, 0, size);
  fill_na(copy, size);
  return copy;
}

// One column of a table, with room for the rows that come.
class ColumnChange {
 public:
  ColumnChange(SEXP table, SEXP name, R_xlen_t size, R_xlen_t count, Protection& keep)
      : table_(table), name_(name), column_(writable(whole(binding(table, name), size), size, count, keep)),
        size_(size), count_(count) {}
  void append(SEXP values, Protection& keep) {
    appended_ = as_column(values, keep);
    if (Rf_xlength(appended_) != count_) throw std::invalid_argument("a log's rows of two lengths");
  }
  void set(SEXP rows, SEXP values, Protection& keep) {
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
  }
  // Allocates nothing.
  void write() const {
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

  SEXP table_, name_, column_;
  SEXP appended_ = R_NilValue, rows_ = R_NilValue, cells_ = R_NilValue;
  R_xlen_t size_, count_;
};

SEXP element(const Rcpp::List& list, const char* name) {
  return list.containsElementNamed(name) ? static_cast<SEXP>(list[name]) : R_NilValue;
}

// What table_change() in R describes.
class TableChange {
 public:
  TableChange(const Rcpp::List& change, Protection& keep) : table_(change["table"]), keep_(keep) {
    const R_xlen_t size = size_of(table_);
    const SEXP append = element(change, "append");
    const R_xlen_t count = Rf_xlength(append) > 0 ? Rf_xlength(VECTOR_ELT(append, 0)) : 0;
    if (count > 0) {
      const SEXP wanted = binding(table_, Rf_install(".columns"));
      const Rcpp::List rows(append);
      columns_.reserve(static_cast<std::size_t>(Rf_xlength(wanted)));
      for (R_xlen_t k = 0; k < Rf_xlength(wanted); ++k) {
        const SEXP name = STRING_ELT(wanted, k);
        add(name, size, count).append(rows[std::string(CHAR(name))], keep);
      }
    }
    const Rcpp::List cells(element(change, "cells"));
    const SEXP names = Rf_getAttrib(cells, R_NamesSymbol);
    for (R_xlen_t k = 0; k < cells.size(); ++k) {
      const SEXP one = VECTOR_ELT(cells, k);
      find(STRING_ELT(names, k), size, count).set(VECTOR_ELT(one, 0), VECTOR_ELT(one, 1), keep);
    }
    size_ = keep(Rf_ScalarInteger(static_cast<int>(size + count)));
  }
  void write() const {
    for (const ColumnChange& column : columns_) column.write();
    Rf_defineVar(Rf_install(".size"), size_, table_);
  }

 private:
  ColumnChange& add(SEXP name, R_xlen_t size, R_xlen_t count) {
    names_.push_back(name);
    columns_.emplace_back(table_, Rf_installChar(name), size, count, keep_);
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
  std::vector<SEXP> names_;
  std::vector<ColumnChange> columns_;
  SEXP size_;
};

}  // namespace

// Makes `changes` of tables and gives `fields` of the environment `owner` new values. `durable`: NULL,
// or a function that writes the change down elsewhere when everything is prepared, keeps nothing of
// the tables, and returns further fields; if it fails nothing has changed. From its return on nothing
// fails and no interrupt comes in. `handle`: NULL, or that of the core's object with which the log is
// in step afterwards.
// [[Rcpp::export(rng = false)]]
void cpp_log_commit(const Rcpp::List& changes, const Rcpp::Environment& owner,
                    const Rcpp::List& fields, SEXP durable, SEXP handle) {
  Protection keep;
  std::vector<TableChange> prepared;
  prepared.reserve(static_cast<std::size_t>(changes.size()));
  for (R_xlen_t k = 0; k < changes.size(); ++k) {
    prepared.emplace_back(Rcpp::List(VECTOR_ELT(changes, k)), keep);
  }
  Rcpp::List more;
  if (!Rf_isNull(durable)) more = Rcpp::Function(durable)();
  std::vector<std::pair<SEXP, SEXP>> values;
  for (const Rcpp::List& list : {fields, more}) {
    if (list.size() == 0) continue;
    const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t k = 0; k < list.size(); ++k) {
      values.emplace_back(Rf_installChar(STRING_ELT(names, k)), VECTOR_ELT(list, k));
    }
  }
  HeldBandit* held = Rf_isNull(handle) ? nullptr : Rcpp::XPtr<HeldBandit>(handle).get();
  for (const TableChange& change : prepared) change.write();
  for (const auto& value : values) Rf_defineVar(value.first, value.second, owner);
  if (held) held->in_step = true;
}

namespace {

// A reward of a pending query, told once: numbers that R's checks need not look at again.
bool plain_reward(double id, double reward, const int* status, R_xlen_t rounds) {
  return std::abs(reward) <= gpb::kLargest && id >= 1 && id <= static_cast<double>(rounds) &&
         id == std::floor(id) &&
         status[static_cast<R_xlen_t>(id) - 1] == static_cast<int>(gpb::Status::pending);
}

}  // namespace

// Are these rewards of distinct pending queries, in the order of their ids, with nothing amiss?
// Where not, the checks in R find out what it is.
// [[Rcpp::export(rng = false)]]
bool cpp_plain_rewards(SEXP queries, SEXP id, SEXP reward) {
  const auto plain = [](SEXP x) {
    return (TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP) && !Rf_isObject(x);
  };
  if (!plain(id) || !plain(reward) || Rf_xlength(id) != Rf_xlength(reward)) return false;
  const SEXP status = binding(queries, Rf_install("status"));
  const R_xlen_t rounds = size_of(queries);
  if (TYPEOF(status) != INTSXP || Rf_xlength(status) < rounds) return false;
  const Rcpp::NumericVector ids(id), rewards(reward);
  for (R_xlen_t k = 0; k < ids.size(); ++k) {
    if (!plain_reward(ids[k], rewards[k], INTEGER(status), rounds)) return false;
    if (k > 0 && ids[k] <= ids[k - 1]) return false;
  }
  return ids.size() > 0;
}
