// R's entry points for untrusted objects: an R object from a file or another process has an environment that may
// contain anything. These functions inspect it without evaluation by R. Uses the adapter r_frame.h.

#include <string>

#include <Rcpp/Lightest>

#include "r_frame.h"

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
void cpp_mark_own(SEXP frame) {
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
