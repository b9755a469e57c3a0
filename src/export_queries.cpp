// R's entry points for queries of the log: their inputs, and data frames of arms and plain boxes. Uses the core and the
// adapters r_*.

#include <algorithm>
#include <cstring>
#include <vector>

#include "r_log.h"

using gpb::binding;
using gpb::Columns;
using gpb::element;
using gpb::EventKind;
using gpb::frame_of;
using gpb::Protection;
using gpb::size_of;

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
  const gpb::Blanks blanks(queries);
  std::vector<const double*> columns;
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    const SEXP name = STRING_ELT(names, k);
    if (std::strncmp(CHAR(name), "in.", 3) != 0) continue;
    const SEXP symbol = Rf_installChar(name), column = binding(queries, symbol);
    if (TYPEOF(column) != REALSXP) gpb::throw_invalid("a log's inputs are not numbers");
    columns.push_back(blanks.have(symbol) ? nullptr : REAL(gpb::whole(column, size)));
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

namespace gpb {

SEXP shown_queries(SEXP frame, const Rcpp::IntegerVector& rows) {
  if (!is_in_memory(frame)) return rows;
  const SEXP made = cpp_query_frame(frame, rows);
  return Rf_isNull(made) ? static_cast<SEXP>(rows) : made;
}

}  // namespace gpb
