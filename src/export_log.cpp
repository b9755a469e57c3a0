// Changes of the log's tables (R/table.R): all of a change or nothing of it. Whatever can fail, and
// whatever lets an interrupt in, comes before the first value is written.
#include "r_bandit.h"

namespace {

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

// The column itself where nobody else holds it and there is room for `count` more rows; else a copy
// of its first `size` values. Columns grow by doubling.
SEXP writable(SEXP column, R_xlen_t size, R_xlen_t count) {
  const int type = TYPEOF(column);
  if (type != INTSXP && type != REALSXP && type != STRSXP) {
    throw std::invalid_argument("a log has a column of an unknown type");
  }
  const R_xlen_t length = Rf_xlength(column), needed = size + count;
  if (length >= needed && !MAYBE_SHARED(column)) return column;
  const SEXP copy = Rf_allocVector(static_cast<SEXPTYPE>(type),
                                   length >= needed ? length
                                                    : std::max<R_xlen_t>({2 * length, needed, 16}));
  copy_values(column, 0, copy, 0, size);
  fill_na(copy, size);
  return copy;
}

// One column of a table, with room for the rows that come.
class ColumnChange {
 public:
  ColumnChange(SEXP table, SEXP name, R_xlen_t size, R_xlen_t count)
      : table_(table), name_(name), column_(writable(binding(table, name), size, count)),
        size_(size), count_(count) {}
  void append(SEXP values) {
    appended_ = as_column(values);
    if (Rf_xlength(appended_) != count_) throw std::invalid_argument("a log's rows of two lengths");
  }
  void set(SEXP rows, SEXP values) {
    if (TYPEOF(rows) != INTSXP) throw std::invalid_argument("a log's row numbers are no integers");
    const int* row = INTEGER(rows);
    for (R_xlen_t k = 0; k < Rf_xlength(rows); ++k) {
      if (row[k] < 1 || row[k] > size_ + count_) {
        throw std::invalid_argument("a log has no such row");
      }
    }
    rows_ = rows;
    cells_ = as_column(values);
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
  Rcpp::RObject as_column(SEXP values) const {
    const auto type = static_cast<SEXPTYPE>(TYPEOF(column_));
    return TYPEOF(values) == TYPEOF(column_) ? values : Rf_coerceVector(values, type);
  }

  SEXP table_, name_;
  Rcpp::RObject column_, appended_, rows_, cells_;
  R_xlen_t size_, count_;
};

SEXP element(const Rcpp::List& list, const char* name) {
  return list.containsElementNamed(name) ? static_cast<SEXP>(list[name]) : R_NilValue;
}

// What table_change() in R describes.
class TableChange {
 public:
  explicit TableChange(const Rcpp::List& change) : table_(change["table"]) {
    const R_xlen_t size = size_of(table_);
    const SEXP append = element(change, "append");
    const R_xlen_t count = Rf_xlength(append) > 0 ? Rf_xlength(VECTOR_ELT(append, 0)) : 0;
    if (count > 0) {
      const Rcpp::CharacterVector names(binding(table_, Rf_install(".columns")));
      const Rcpp::List rows(append);
      columns_.reserve(static_cast<std::size_t>(names.size()));
      for (R_xlen_t k = 0; k < names.size(); ++k) {
        const SEXP name = STRING_ELT(names, k);
        add(name, size, count).append(rows[std::string(CHAR(name))]);
      }
    }
    const Rcpp::List cells(element(change, "cells"));
    const SEXP names = Rf_getAttrib(cells, R_NamesSymbol);
    for (R_xlen_t k = 0; k < cells.size(); ++k) {
      const Rcpp::List one(VECTOR_ELT(cells, k));
      find(STRING_ELT(names, k), size, count).set(one[0], one[1]);
    }
    size_ = Rf_ScalarInteger(static_cast<int>(size + count));
  }
  void write() const {
    for (const ColumnChange& column : columns_) column.write();
    Rf_defineVar(Rf_install(".size"), size_, table_);
  }

 private:
  ColumnChange& add(SEXP name, R_xlen_t size, R_xlen_t count) {
    names_.push_back(name);
    columns_.emplace_back(table_, Rf_installChar(name), size, count);
    return columns_.back();
  }
  ColumnChange& find(SEXP name, R_xlen_t size, R_xlen_t count) {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k] == name) return columns_[k];  // R keeps one copy of each name
    }
    return add(name, size, count);
  }

  Rcpp::Environment table_;
  std::vector<SEXP> names_;
  std::vector<ColumnChange> columns_;
  Rcpp::RObject size_;
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
  std::vector<TableChange> prepared;
  prepared.reserve(static_cast<std::size_t>(changes.size()));
  for (R_xlen_t k = 0; k < changes.size(); ++k) prepared.emplace_back(Rcpp::List(changes[k]));
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
