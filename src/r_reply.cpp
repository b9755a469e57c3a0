// Replies of R's entry points, and R errors by the types of exceptions. Uses Rcpp's light headers.
#include "r_reply.h"

#include <new>
#include <stdexcept>
#include <string>

namespace gpb {

namespace {

const char* name_of(Answer status) {
  switch (status) {
    case Answer::done: return "done";
    case Answer::open: return "open";
    case Answer::stale: return "stale";
    case Answer::rejected: break;
  }
  return "rejected";
}

const char* name_of(Cause::Kind kind) {
  switch (kind) {
    case Cause::Kind::argument: return "argument";
    case Cause::Kind::state: return "state";
    case Cause::Kind::memory: break;
  }
  return "memory";
}

Cause size_is_impossible(const std::exception& error) {
  return {Cause::Kind::argument, std::string("a size is impossible (") + error.what() + ")"};
}

Cause type_is_wrong(const std::exception& error) {
  return {Cause::Kind::argument, std::string("a setting has the wrong type (") + error.what() + ")"};
}

// The condition that Rcpp would signal: the error's `parent`.
SEXP condition_caught() {
  try {
    throw;
  } catch (const Rcpp::exception& error) {
    return rcpp_exception_to_r_condition(error);
  } catch (const std::exception& error) {
    return exception_to_r_condition(error);
  } catch (...) {
    return string_to_try_error("c++ exception (unknown reason)");
  }
}

// The function itself is called, not its name, so that user_frame() (R/errors.R) finds the one that the user called.
SEXP call_of_error() {
  const Cause cause = cause_caught();
  const Rcpp::Shield<SEXP> parent(condition_caught());
  const Rcpp::Shield<SEXP> kind(Rf_mkString(name_of(cause.kind))), words(Rcpp::wrap(cause.words));
  const Rcpp::Shield<SEXP> name(Rf_mkString("gpbandits"));
  const Rcpp::Shield<SEXP> stop_core(Rf_eval(Rf_install("stop_core"), R_FindNamespace(name)));
  return Rf_lang4(stop_core, kind, words, parent);
}

}  // namespace

// (Raw calls of R: twice in each round of a bandit.)
SEXP reply(Answer status, SEXP values) {
  const Rcpp::Shield<SEXP> kept(values), name(Rf_mkString(name_of(status)));
  const Rcpp::Shield<SEXP> names(Rf_allocVector(STRSXP, 2));
  SET_STRING_ELT(names, 0, Rf_mkChar("status"));
  SET_STRING_ELT(names, 1, Rf_mkChar("values"));
  const Rcpp::Shield<SEXP> out(Rf_allocVector(VECSXP, 2));
  SET_VECTOR_ELT(out, 0, name);
  SET_VECTOR_ELT(out, 1, values);
  Rf_setAttrib(out, R_NamesSymbol, names);
  return out;
}

Cause cause_caught() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Cause::Kind::memory, "there is not enough memory for this"};
  } catch (const std::length_error& error) {
    return size_is_impossible(error);
  } catch (const std::out_of_range& error) {
    return size_is_impossible(error);
  } catch (const Rcpp::not_compatible& error) {
    return type_is_wrong(error);
  } catch (const Rcpp::index_out_of_bounds& error) {
    return type_is_wrong(error);
  } catch (const std::runtime_error& error) {
    return {Cause::Kind::state, error.what()};
  } catch (const std::exception& error) {
    return {Cause::Kind::argument, error.what()};
  } catch (...) {
    return {Cause::Kind::state, "an unknown error"};
  }
}

// Otherwise the same handlers as in Rcpp's END_RCPP. The call stays protected until R's error unwinds the stack.
Failure failure_caught() {
  try {
    throw;
  } catch (Rcpp::internal::InterruptedException&) {
    return {Failure::Kind::interrupt, R_NilValue};
  } catch (Rcpp::LongjumpException& jump) {
    return {Failure::Kind::jump, jump.token};
  } catch (...) {
    return {Failure::Kind::error, PROTECT(call_of_error())};
  }
}

void report(const Failure& failure) {
  if (failure.kind == Failure::Kind::interrupt) Rf_onintr();
  if (failure.kind == Failure::Kind::jump) Rcpp::internal::resumeJump(failure.condition);
  Rf_eval(failure.condition, R_BaseEnv);
  Rf_error("an entry has failed");
}

}  // namespace gpb
