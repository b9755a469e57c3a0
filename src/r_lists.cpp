// R's lists: elements by their names. Uses Rcpp's light headers.

#include "r_lists.h"

#include <string>

#include "base/failures.h"

namespace gpb {

// The place of a name in a list, -1 without it.
static R_xlen_t where(SEXP list, SEXP name) {
  const SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t k = 0; k < Rf_xlength(names); ++k) {
    if (STRING_ELT(names, k) == name) return k;
  }
  return -1;
}

SEXP element(SEXP list, SEXP name) {
  const R_xlen_t at = where(list, name);
  return at < 0 ? R_NilValue : VECTOR_ELT(list, at);
}

SEXP element(SEXP list, const char* name) { return element(list, PRINTNAME(Rf_install(name))); }

SEXP required(SEXP list, const char* name) {
  const R_xlen_t at = where(list, PRINTNAME(Rf_install(name)));
  if (at < 0) throw_invalid(std::string("a list has no ") + name);
  return VECTOR_ELT(list, at);
}

Rcpp::List empty_list(R_xlen_t n) {
  Rcpp::List out(n);
  out.attr("names") = Rcpp::CharacterVector(n);
  return out;
}

void put(const Rcpp::List& list, R_xlen_t at, const char* name, SEXP value) {
  SET_VECTOR_ELT(list, at, value);
  SET_STRING_ELT(Rf_getAttrib(list, R_NamesSymbol), at, Rf_mkChar(name));
}

}  // namespace gpb
