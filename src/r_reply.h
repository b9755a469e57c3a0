// What R's entry points answer: a reply with its status and values, or an R error by the type of the exception. Uses
// Rcpp's light headers and the core's exceptions.
#ifndef GPB_R_REPLY_H
#define GPB_R_REPLY_H

#include <Rcpp/Lightest>

#include <string>

namespace gpb {

// A reply of an entry that may have to leave the work to R, read by its `status`:
// * done: it is in force; `values` are the result.
// * open: nothing has changed. R has to act first, for example to check arguments or to estimate parameters.
// * stale: nothing has changed. The object must be made again from the log.
// * rejected: nothing has changed, because new settings raised an error. `values`: its message.
enum class Answer { done, open, stale, rejected };
SEXP reply(Answer status, SEXP values = R_NilValue);

// The cause of an exception, by its type, and words for the user.
struct Cause {
  enum class Kind { argument, state, memory };
  Kind kind;
  std::string words;
};
// The cause of the exception that is being handled.
Cause cause_caught();

// The end of an entry point after a C++ exception: an interrupt, an error in R, or a jump of R in progress.
struct Failure {
  enum class Kind { interrupt, error, jump };
  Kind kind;
  SEXP condition;  // the call of stop_core() (R/utils-core.R) for an error, the token of a jump
};
// The failure for the exception that is being handled.
Failure failure_caught();
// Called when all objects of the entry point are destroyed; does not return.
[[noreturn]] void report(const Failure& failure);

}  // namespace gpb

#endif
