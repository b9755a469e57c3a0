# Calls of the C++ core, whose errors become conditions of the package. Layer: base.

damaged <- function(...) stop_data("This bandit is damaged: ", ..., ".")

# Errors that mean nothing to a user say what is wrong.
as_damaged <- function(code) as_ours(code, damaged)

as_ours <- function(code, say) {
  catch_error(code, function(e) if (inherits(e, "gpbandits_error")) stop(e) else say(message_of(e)))
}

core <- function(expr) withCallingHandlers(expr, "C++Error" = stop_core)

stop_core <- function(e) {
  pass_on_stop(e)
  stop_gpbandits(core_cause(e), core_words(message_of(e)), parent = e)
}

# What the C++ library says means nothing to a user.
# The core's own checks are about what was given. Anything else it meets while it computes.
core_cause <- function(e) if (any(grepl("invalid_argument|out_of_range", class(e)))) "argument" else "state"

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
