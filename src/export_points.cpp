// Points, tables of them as columns and data.frames.
#include <RcppEigen.h>

#include "base/golden_points.h"

// [[Rcpp::export(rng = false)]]
Eigen::MatrixXd cpp_golden_points(int n, int d) { return gpb::golden_points(n, d); }

// A matrix's columns as a list, each without names: all its rows, or those with these numbers
// (1-based, or NA).
// [[Rcpp::export(rng = false)]]
Rcpp::List cpp_columns(const Rcpp::NumericMatrix& x, const Rcpp::CharacterVector& names,
                       SEXP rows) {
  if (names.size() != x.ncol()) throw std::invalid_argument("as many names as columns");
  const bool all = Rf_isNull(rows);
  const Rcpp::IntegerVector wanted(all ? Rf_allocVector(INTSXP, 0) : rows);
  const R_xlen_t n = all ? x.nrow() : wanted.size();
  for (const int row : wanted) {
    if (row == NA_INTEGER || (row >= 1 && row <= x.nrow())) continue;
    throw std::invalid_argument("a matrix has no such row");
  }
  Rcpp::List out(x.ncol());
  for (int j = 0; j < x.ncol(); ++j) {
    const SEXP column = Rf_allocVector(REALSXP, n);
    out[j] = column;
    const double* from = x.begin() + static_cast<R_xlen_t>(j) * x.nrow();
    for (R_xlen_t k = 0; k < n; ++k) {
      REAL(column)[k] = all ? from[k] : wanted[k] == NA_INTEGER ? NA_REAL : from[wanted[k] - 1];
    }
  }
  out.names() = names;
  return out;
}

// A data.frame of columns that are known to be in order: data.frame() takes longer than a round.
// [[Rcpp::export(rng = false)]]
SEXP cpp_frame(SEXP columns) {
  const SEXP frame = PROTECT(MAYBE_REFERENCED(columns) ? Rf_shallow_duplicate(columns) : columns);
  const SEXP rows = PROTECT(Rf_allocVector(INTSXP, 2));  // R's compact form of 1, 2, ..
  INTEGER(rows)[0] = NA_INTEGER;
  INTEGER(rows)[1] = Rf_length(frame) > 0 ? -Rf_length(VECTOR_ELT(frame, 0)) : 0;
  Rf_setAttrib(frame, R_RowNamesSymbol, rows);
  Rf_setAttrib(frame, R_ClassSymbol, Rf_mkString("data.frame"));
  UNPROTECT(2);
  return frame;
}
