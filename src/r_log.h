// What the entry points for the log share: columns for R, and the core's state as rows of the log.
#ifndef GPB_R_LOG_H
#define GPB_R_LOG_H

#include "r_bandit.h"
#include "r_table.h"

namespace gpb {

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

// The environment of an object of a reference class, or the environment itself.
inline SEXP frame_of(SEXP owner) { return Rf_isS4(owner) ? Rf_getAttrib(owner, Rf_install(".xData")) : owner; }

// Is the log in memory only? (If it is also stored elsewhere, it is updated after R has written the change there, see
// sync_log().)
inline bool is_in_memory(SEXP frame) {
  const SEXP journal = bound_value(frame, Rf_install("journal"));
  return journal == R_UnboundValue || Rf_isNull(journal);
}

// See cpp_log_follow() (export_log.cpp). The lists of new queries and events are made only if they are used.
SEXP follow(BanditHandle& bandit, SEXP owner, SEXP fields, SEXP durable, bool in_step, bool wanted);

// Rows of the log as a data.frame, or the rows if R must format them (export_queries.cpp).
SEXP shown_queries(SEXP frame, const Rcpp::IntegerVector& rows);

}  // namespace gpb

#endif
