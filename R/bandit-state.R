# The core's object as a cache of the log: rebuilding, transactions, copies. Layer: bandit.

# The core's object is a cache of the event log. If it is missing (after readRDS, in another
# process, in a copy, after a failed change), the log is checked as a whole and replayed.
rebuild <- function(bandit) {
  if (cpp_bandit_is_ready(bandit$handle)) return(invisible(bandit))
  if (!is.list(bandit$config)) damaged("its settings are no list")
  kind_of(bandit)$rebuild(bandit)
  invisible(bandit)
}

# The first object of a new bandit, whose constructor has checked the settings. Remaining errors are the user's, not
# signs of a damaged file.
make_ready <- function(bandit) {
  useless <- function(...) stop_gpbandits("argument", "These settings cannot be combined: ", ..., ".")
  kind_of(bandit)$begin(bandit, useless)
}

replayed <- function(bandit) {
  check_whole(bandit)
  handle <- cpp_bandit_new(as_damaged(core_config(starting_config(bandit))))
  if (table_size(bandit$queries) + table_size(bandit$events) == 0) return(handle)
  log <- as_damaged(played_log(bandit))
  as_damaged({
    cpp_bandit_replay(handle, log$queries, log$contexts, log$events, log$refits, 0L, NULL, integer())
    check_outcome(bandit, cpp_bandit_log(handle, 0L, 0L))
  })
  handle
}

# The log in the core's format.
played_log <- function(bandit) {
  queries <- table_columns(bandit$queries)
  queries$inputs <- cpp_logged_inputs(bandit$queries, seq_along(queries$arm))
  queries$g <- matrix(as.double(unlist(queries[constraint_names(bandit$config, "g")])), length(queries$arm),
                      constraint_count(bandit$config))
  list(queries = queries, contexts = logged_contexts(bandit, queries), events = table_columns(bandit$events),
       refits = lapply(configs_in_time(bandit$config, bandit$refits), core_config))
}

# A width or gain function, or a progress handler, must not change the bandit that calls it.
check_idle <- function(bandit) {
  if (is.null(bandit$config$rule) && cpp_bandit_state(bandit$handle) == "changing") {
    stop_state("This bandit is being changed: a function that it calls cannot change it. Call the method after it ",
               "has returned.")
  }
}

# Prepares a change. Returns the bandit.
make_whole <- function(bandit) {
  check_idle(bandit)
  rebuild(bandit)
}

# A change of the core's object, then of the log. If it fails or is interrupted, the log remains unchanged,
# and the core's object, which is marked as inconsistent, is rebuilt from the log when it is
# needed. `refit` returns the parameters in force after a change that is a refit. `reason`, `fields`: see sync_log().
transact <- function(bandit, change, refit = NULL, reason = NULL, fields = list()) {
  if (!cpp_bandit_is_ready(bandit$handle)) make_whole(bandit)
  handle <- bandit$handle
  change(handle)
  sync_log(bandit, handle, if (!is.null(refit)) list(refit()), fields = fields, reason = reason)
}

bandit_facts <- function(bandit) {
  rebuild(bandit)
  kind_of(bandit)$facts(bandit)
}

# The error of the engine, and of sites that were added to a fit.
error_bound_of <- function(bandit) {
  bound <- bandit_facts(bandit)$error_bound
  if (of_form(bandit$config, "gaussian") || trait(bandit$config$policy, "scripted")) return(bound)
  max(bound, cpp_bandit_site_error(bandit$handle))
}

bandit_reset <- function(bandit) {
  check_idle(bandit)
  commit(bandit, list(),
         fields = c(list(queries = new_table(query_columns(bandit$config)), events = new_table(event_columns()),
                         refits = list(), reasons = NULL, notes = NULL, handle = NULL,
                         config = starting_config(bandit)),
                    if (!is.null(bandit$memory)) list(memory = first_memory(bandit$config))),
         durable = if (!is.null(bandit$journal)) function() keep_reset(bandit$journal, bandit))
}

bandit_copy <- function(bandit) {
  new_bandit(bandit$config, table_copy(bandit$queries), table_copy(bandit$events), bandit$refits,
             bandit$memory, bandit$reasons, bandit$notes)
}

ask <- function(bandit, contexts, time) {
  kind_of(bandit)$ask(bandit, contexts, time)
}

# A data.frame of `mean` and `sd` at points, in one context or one each.
posterior_at <- function(bandit, points, context) {
  kind_of(bandit)$posterior(bandit, points, context)
}

# Identifies the tables and their lengths: while it is the same, the log has not changed. (A log that was reset or
# rewritten may have the same number of events as the one before.)
log_state <- function(bandit, tables = c("queries", "events")) {
  lapply(mget(tables, envir = bandit), function(table) list(table, table_size(table)))
}

# Caches a result until the log changes: the ten latest of each kind. `question`: the kind (`"best"`), and everything on
# which the result depends in addition to the log. Its warnings are repeated each time. Copies and saved bandits do not
# have it (see sanitise()).
kept_answer <- function(bandit, question, code) {
  bandit <- as.environment(bandit)
  state <- log_state(bandit)
  if (!identical(bandit$.kept$state, state)) bandit$.kept <- list(state = state)
  kind <- question[[1]]
  for (one in bandit$.kept$answers[[kind]]) {
    if (identical(one$question, question)) {
      for (warned in one$warnings) warning(warned)
      return(one$answer)
    }
  }
  warnings <- list()
  answer <- withCallingHandlers(code, gpbandits_warning = function(w) warnings <<- c(warnings, list(w)))
  if (NROW(answer) > most_kept_rows) return(answer)
  one <- list(question = question, answer = answer, warnings = warnings)
  # (The answer may have come from a call that began a new state.)
  if (!identical(bandit$.kept$state, log_state(bandit))) return(answer)
  bandit$.kept$answers[[kind]] <- c(utils::tail(bandit$.kept$answers[[kind]], 9), list(one))
  answer
}

# A larger answer is not kept: it would take memory for long.
most_kept_rows <- 1e5

# An event of some queries: a reward, an amendment, a withdrawal or a failure (with a `reason`). `beside`: see
# observation_extras().
record <- function(bandit, kind, id, reward = NA_real_, constraints = NULL, time = NA_real_,
                 beside = observation_extras(length(id)), reason = NULL) {
  kind_of(bandit)$record(bandit, kind, id, reward, constraints, time, beside, reason)
}

# Is the information of the pending queries above the guard, so that the next query must wait for a reward?
must_wait <- function(bandit) {
  pending <- bandit$config$pending
  is_guarded(pending) && bandit_facts(bandit)$pending_information > pending$guard
}

# The latest time so far, -Inf if there was none.
latest_time <- function(bandit) {
  if (table_size(bandit$queries) == 0) return(-Inf)
  latest <- bandit_facts(bandit)$clock
  if (is.na(latest)) -Inf else latest
}

# Times of the next events: given, one for all or one each, and not before `after`; or the current time
# if the pending rule uses the clock. If the clock was set back, the latest time is used.
clock_times <- function(bandit, time, count, after, what) {
  if (is.null(time)) {
    if (!goes_by_clock(bandit$config)) return(rep(NA_real_, count))
    return(rep(max(as.numeric(Sys.time()), latest_time(bandit)), count))
  }
  if (inherits(time, "POSIXlt")) {
    time <- catch_error(as.POSIXct(time), function(e) stop_argument("time", "an invalid POSIXlt", "times"))
  }
  if (inherits(time, c("POSIXct", "Date")) && typeof(time) %in% c("integer", "double")) {
    time <- as.numeric(as.POSIXct(time))
  }
  time <- check_each(time, count)
  early <- which(time < after)
  if (length(early)) {
    stop_argument("time", format(time[early[1]], digits = 15),
                  sprintf("at or after %s (%s)", what, format(rep_len(after, count)[early[1]], digits = 15)))
  }
  time
}

register_bandit_kind(
  "core",
  rebuild = function(bandit) if (cpp_bandit_state(bandit$handle) == "none") bandit$handle <- replayed(bandit),
  begin = function(bandit, useless) {
    bandit$handle <- cpp_bandit_new(as_package_errors(core_config(bandit$config), useless))
  },
  facts = function(bandit) cpp_bandit_facts(bandit$handle)
)
