// Access to variables of R environments without evaluation. A file or another process may have bound a variable to a
// promise or a function, which run as soon as R reads the variable.
#ifndef GPB_R_FRAME_H
#define GPB_R_FRAME_H

#include <Rcpp/Lightest>
#include <Rversion.h>

namespace gpb {

enum class Bound { to_nothing, to_promise, to_function, to_value };

#if R_VERSION >= R_Version(4, 6, 0)

inline Bound bound(SEXP frame, SEXP name) {
  if (TYPEOF(frame) != ENVSXP) return Bound::to_nothing;
  switch (R_GetBindingType(name, frame)) {
    case R_BindingTypeValue: return Bound::to_value;
    case R_BindingTypeActive: return Bound::to_function;
    case R_BindingTypeDelayed:
    case R_BindingTypeForced: return Bound::to_promise;
    default: return Bound::to_nothing;
  }
}

// R_UnboundValue if the variable is not bound to a value.
inline SEXP bound_value(SEXP frame, SEXP name) {
  // R_getVarEx() would evaluate promises and active bindings.
  return bound(frame, name) == Bound::to_value ? R_getVarEx(name, frame, FALSE, R_UnboundValue) : R_UnboundValue;
}

#else

inline Bound bound(SEXP frame, SEXP name) {
  if (TYPEOF(frame) != ENVSXP || !R_existsVarInFrame(frame, name)) return Bound::to_nothing;
  if (R_BindingIsActive(name, frame)) return Bound::to_function;
  const SEXP value = Rf_findVarInFrame(frame, name);
  if (value == R_MissingArg) return Bound::to_nothing;
  return TYPEOF(value) == PROMSXP ? Bound::to_promise : Bound::to_value;
}

inline SEXP bound_value(SEXP frame, SEXP name) {
  return bound(frame, name) == Bound::to_value ? Rf_findVarInFrame(frame, name) : R_UnboundValue;
}

#endif

}  // namespace gpb

#endif
