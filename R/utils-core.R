# Errors and replies of the C++ core. Layer: base.

damaged <- function(...) stop_data("This bandit is damaged: ", ..., ".")

# Converts internal errors, whose text does not help users, to an error about a damaged bandit.
as_damaged <- function(code) as_ours(code, damaged)

# Errors of ours pass, except what the core says of its settings and data: the caller knows whose these are.
as_ours <- function(code, say) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error") && !inherits(e, "gpbandits_core")) stop(e)
    say(message_of(e))
  })
}

# The core calls this for an exception: `cause` by its type, `words` for the user, `parent` the condition that Rcpp
# would signal (src/r_reply.h).
stop_core <- function(cause, words, parent) {
  pass_on_stop(parent)
  if (cause == "memory") stop_state(as_sentence(words), parent = parent)
  stop_gpbandits(cause, as_sentence(words), parent = parent, kind = "core")
}

as_sentence <- function(words) {
  paste0(toupper(substr(words, 1, 1)), substring(words, 2), if (!grepl("[.?!]$", words)) ".")
}
