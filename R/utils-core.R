# Errors and replies of the C++ core. Layer: base.

damaged <- function(...) stop_data("This bandit is damaged: ", ..., ".")

# Converts internal errors, whose text does not help users, to an error about a damaged bandit.
as_damaged <- function(code) as_package_errors(code, damaged)

# Errors of ours pass, except what the core says of its settings and data: the caller knows whose these are.
as_package_errors <- function(code, say) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error") && !inherits(e, "gpbandits_core")) stop(e)
    say(message_of(e))
  })
}

# The core calls this for an exception: `cause` by its type, `words` for the user, `parent` the condition that Rcpp
# would signal (src/r_reply.h).
stop_core <- function(cause, text, parent) {
  pass_on_stop(parent)
  if (cause == "memory") stop_state(as_sentence(text), parent = parent)
  stop_gpbandits(cause, as_sentence(text), parent = parent, kind = "core")
}

as_sentence <- function(text) {
  paste0(toupper(substr(text, 1, 1)), substring(text, 2), if (!grepl("[.?!]$", text)) ".")
}
