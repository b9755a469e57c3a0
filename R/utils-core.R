# Calls of the C++ core, whose errors become conditions of the package. Layer: base.

damaged <- function(...) stop_data("This bandit is damaged: ", ..., ".")

# Converts internal errors, whose text does not help users, to an error about a damaged bandit.
as_damaged <- function(code) as_ours(code, damaged)

# Errors of ours pass, except what the core says of its settings: the caller knows whose these are.
as_ours <- function(code, say) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_core") && inherits(e, "gpbandits_argument_error")) return(say(message_of(e$parent)))
    if (inherits(e, "gpbandits_error")) stop(e) else say(message_of(e))
  })
}

core <- function(expr) withCallingHandlers(expr, "C++Error" = stop_core)

stop_core <- function(e) {
  pass_on_stop(e)
  stop_gpbandits(core_cause(e), as_sentence(core_words(message_of(e))), parent = e, kind = "core")
}

as_sentence <- function(words) {
  paste0(toupper(substr(words, 1, 1)), substring(words, 2), if (!grepl("[.?!]$", words)) ".")
}

# The core checks what it is given. It fails later if the log does not allow a call, a covariance is singular, or memory
# is short. (C++ exceptions come here without their types.)
core_cause <- function(e) {
  later <- "no longer|no reward to amend|positive definiteness|bad_alloc|ahead of the bandit"
  if (grepl(later, message_of(e))) "state" else "argument"
}

# Replaces messages of the C++ library that do not help users.
core_words <- function(message) {
  if (grepl("bad_alloc", message, fixed = TRUE)) return("There is not enough memory for this.")
  if (grepl("^(Expecting|Not compatible|Could not|Index out)", message)) {
    return(paste0("A setting has the wrong type (", message, ")."))
  }
  if (grepl("^std::|^vector|^basic_string|_M_|length_error", message)) {
    return(paste0("A size is impossible (", message, ")."))
  }
  message
}
