// Tables of the log in R (R/utils-table.R): their columns, new rows and changed cells. Uses the core and r_frame.h.
//
// A change is made completely or not at all. Everything that can fail or admit an interrupt precedes the first write.
#ifndef GPB_R_TABLE_H
#define GPB_R_TABLE_H

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/failures.h"
#include "r_frame.h"
#include "r_lists.h"

namespace gpb {

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

inline SEXP binding(SEXP frame, SEXP name) {
  if (TYPEOF(frame) != ENVSXP) throw_invalid("a log is not an environment");
  const SEXP value = bound_value(frame, name);
  if (value == R_UnboundValue) {
    throw_invalid(std::string("a log has no ") + CHAR(PRINTNAME(name)));
  }
  return value;
}

inline R_xlen_t size_of(SEXP table) { return Rf_asInteger(binding(table, Rf_install(".size"))); }

// Copies `count` values of a column from `first` on; integers and logicals share a representation.
inline void copy_values(SEXP from, R_xlen_t first, SEXP to, R_xlen_t at, R_xlen_t count) {
  switch (TYPEOF(to)) {
    case INTSXP: std::copy_n(INTEGER(from) + first, count, INTEGER(to) + at); break;
    case REALSXP: std::copy_n(REAL(from) + first, count, REAL(to) + at); break;
    default:
      for (R_xlen_t k = 0; k < count; ++k) SET_STRING_ELT(to, at + k, STRING_ELT(from, first + k));
  }
}

inline void fill_na(SEXP column, R_xlen_t from) {
  const R_xlen_t size = Rf_xlength(column);
  switch (TYPEOF(column)) {
    case INTSXP: std::fill(INTEGER(column) + from, INTEGER(column) + size, NA_INTEGER); break;
    case REALSXP: std::fill(REAL(column) + from, REAL(column) + size, NA_REAL); break;
    default:
      for (R_xlen_t k = from; k < size; ++k) SET_STRING_ELT(column, k, NA_STRING);
  }
}

inline bool is_na(SEXP column, R_xlen_t at) {
  switch (TYPEOF(column)) {
    case INTSXP:
    case LGLSXP: return INTEGER(column)[at] == NA_INTEGER;
    case REALSXP: return R_IsNA(REAL(column)[at]) != 0;
    case STRSXP: return STRING_ELT(column, at) == NA_STRING;
    default: return false;
  }
}

inline bool all_na(SEXP column) {
  for (R_xlen_t k = 0; k < Rf_xlength(column); ++k) {
    if (!is_na(column, k)) return false;
  }
  return true;
}

// The columns of a table that contain only NA, and are therefore not stored (`.blank` in R/utils-table.R), and those of
// them that a change fills.
class Blanks {
 public:
  explicit Blanks(SEXP table) : table_(table), names_(bound_value(table, symbol())) {}
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
      if (at == left) throw_invalid("a log names a column twice");
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

inline SEXPTYPE type_of(SEXP column) {
  const int type = TYPEOF(column);
  if (type == INTSXP || type == REALSXP || type == STRSXP) return static_cast<SEXPTYPE>(type);
  throw_invalid("a log has a column of an unknown type");
}

// Returns the column after checking that it has at least `size` values.
inline SEXP whole(SEXP column, R_xlen_t size) {
  if (size < 0 || Rf_xlength(column) < size) {
    throw_invalid("a log's column is shorter than its table");
  }
  return column;
}

// The new length of a column that must hold `needed` values. Growth by a quarter copies each row about four times, and
// doubling about once. But only a quarter of the room is unused, and R has to fill it, so that it counts as memory.
inline R_xlen_t grown(R_xlen_t length, R_xlen_t needed) {
  return std::max<R_xlen_t>({length < 4096 ? 2 * length : length + length / 4, needed, 16});
}

// The column itself if it is not shared and has room for `count` more rows. Otherwise a copy of its first `size`
// values.
inline SEXP writable(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
  const SEXPTYPE type = type_of(column);
  const R_xlen_t length = Rf_xlength(column), needed = size + count;
  if (length >= needed && !MAYBE_SHARED(column)) return column;
  const SEXP copy = keep(Rf_allocVector(type, length >= needed ? length : grown(length, needed)));
  copy_values(column, 0, copy, 0, size);
  fill_na(copy, size);
  return copy;
}

// Replaces a column that is not stored: `size` values NA, and room for `count` more rows.
inline SEXP filled_out(SEXP column, R_xlen_t size, R_xlen_t count, Protection& keep) {
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
    if (Rf_xlength(appended_) != count_) throw_invalid("a log's new columns differ in length");
    fill_for(appended_, blanks, keep);
  }
  void set(SEXP rows, SEXP values, Blanks& blanks, Protection& keep) {
    if (TYPEOF(rows) != INTSXP) throw_invalid("a log's row numbers are not integers");
    const int* row = INTEGER(rows);
    for (R_xlen_t k = 0; k < Rf_xlength(rows); ++k) {
      if (row[k] < 1 || row[k] > size_ + count_) {
        throw_invalid("a log has no such row");
      }
    }
    rows_ = rows;
    cells_ = as_column(values, keep);
    if (Rf_xlength(cells_) != Rf_xlength(rows)) {
      throw_invalid("the rows and the values of a log's changed cells differ in number");
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
  void make() const {
    for (const TableChange& change : tables_) change.write();
    for (const auto& field : fields_) Rf_defineVar(field.first, field.second, owner_);
  }

 private:
  SEXP owner_;
  Protection keep_;
  std::vector<TableChange> tables_;
  std::vector<std::pair<SEXP, SEXP>> fields_;
};

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
    if (count_ > 0 && filled_ != columns_.size()) throw_invalid("a log's new columns differ in length");
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
    throw_invalid("a log has a column of an unknown type");
  }
  // Columns are requested in nearly the order in which they are stored.
  Column& find(const char* name) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      if (next_ >= columns_.size()) next_ = 0;
      Column& one = columns_[next_++];
      if (std::strcmp(CHAR(PRINTNAME(one.name)), name) == 0) return one;
    }
    throw_invalid(std::string("a log has no ") + name);
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

}  // namespace gpb

#endif
