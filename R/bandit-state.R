# Errors that only the core can see become errors of ours.
core <- function(expr) {
  tryCatch(expr, "C++Error" = function(e) stop_gpbandits(conditionMessage(e)))
}

# The core's object is a cache of the event log: when it is gone (after readRDS, in another
# process, in a copy, after a failed change) the log is played again.
heal <- function(bandit) {
  if (!is.null(bandit$handle) && cpp_bandit_alive(bandit$handle)) return(invisible(bandit))
  handle <- core(cpp_bandit_new(core_config(bandit$config)))
  queries <- table_columns(bandit$queries)
  queries$inputs <- logged_matrix(bandit, seq_along(queries$arm))
  queries$g <- matrix(as.double(unlist(queries[constraint_names(bandit$config, "g")])),
                      length(queries$arm), constraint_count(bandit$config))
  core(cpp_bandit_replay(handle, queries, logged_contexts(bandit, queries), table_columns(bandit$events),
                         lapply(bandit$refits, function(fit) core_config(refitted_config(bandit$config, fit)))))
  assign(".changing", FALSE, envir = bandit$events)
  bandit$handle <- handle
  invisible(bandit)
}

# A width or gain function, or a progress handler, must not change the bandit that calls it.
# (A copy or a file that was made meanwhile carries the flag too, but has no live core object.)
check_idle <- function(bandit) {
  if (isTRUE(bandit$events$.changing) && cpp_bandit_alive(bandit$handle)) {
    stop_gpbandits("This bandit is in the middle of a change: a function that it calls cannot change it.")
  }
}

# Runs a change of the core's object and copies the new events to the log. If it fails
# or is interrupted, the core's object is dropped and the log stays as it was. `refit` returns the
# parameters in force after a change that is a refit.
transact <- function(bandit, change, refit = NULL) {
  check_idle(bandit)
  heal(bandit)
  assign(".changing", TRUE, envir = bandit$events)
  done <- FALSE
  on.exit({
    assign(".changing", FALSE, envir = bandit$events)
    if (!done) bandit$handle <- NULL
  })
  core(change(bandit$handle))
  sync_log(bandit, if (!is.null(refit)) refit())
  done <- TRUE
  invisible(bandit)
}

bandit_facts <- function(bandit) {
  heal(bandit)
  cpp_bandit_facts(bandit$handle)
}

bandit_reset <- function(bandit) {
  check_idle(bandit)
  journal_write(bandit, "x")
  bandit$queries <- new_table(query_columns(bandit$config))
  bandit$events <- new_table(event_columns())
  bandit$refits <- list()
  bandit$handle <- NULL
  invisible(bandit)
}

bandit_copy <- function(bandit) {
  GPBandit$new(config = bandit$config, queries = table_copy(bandit$queries),
               events = table_copy(bandit$events), refits = bandit$refits, handle = NULL, journal = NULL)
}
