# Errors that only the core can see become errors of ours.
# (A calling handler costs a fifth of what tryCatch() does.)
core <- function(expr) withCallingHandlers(expr, "C++Error" = stop_core)

stop_core <- function(e) {
  pass_on_stop(e)
  stop_gpbandits(core_words(message_of(e)), parent = e)
}

# What the C++ library says means nothing to a user.
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

# The core's object is a cache of the event log: when it is gone (after readRDS, in another
# process, in a copy, after a failed change) the log is checked as a whole and played again.
heal <- function(bandit) {
  if (cpp_bandit_is_ready(bandit$handle)) return(invisible(bandit))
  if (!is.list(bandit$config)) damaged("its settings are no list")
  kind_of(bandit)$rebuild(bandit)
  invisible(bandit)
}

# The first of a new bandit, whose constructor has checked the settings: what is still wrong is the user's mistake, no
# damage.
make_ready <- function(bandit) {
  useless <- function(...) stop_gpbandits("These settings make no bandit: ", ..., ".")
  kind_of(bandit)$begin(bandit, useless)
}

replayed <- function(bandit) {
  check_whole(bandit)
  handle <- core(cpp_bandit_new(as_damaged(core_config(starting_config(bandit)))))
  if (table_size(bandit$queries) + table_size(bandit$events) == 0) return(handle)
  log <- as_damaged(played_log(bandit))
  as_damaged({
    replay_part(handle, log, seq_along(log$events$kind))
    check_outcome(bandit, cpp_bandit_log(handle, 0L, 0L))
  })
  handle
}

# The log as the core takes it.
played_log <- function(bandit) {
  queries <- table_columns(bandit$queries)
  queries$inputs <- cpp_logged_inputs(bandit$queries, seq_along(queries$arm))
  queries$g <- matrix(as.double(unlist(queries[constraint_names(bandit$config, "g")])), length(queries$arm),
                      constraint_count(bandit$config))
  list(queries = queries, contexts = logged_contexts(bandit, queries), events = table_columns(bandit$events),
       refits = lapply(configs_in_time(bandit$config, bandit$refits), core_config))
}

# Plays some of its events, one after the other.
replay_part <- function(handle, log, rows) {
  if (!length(rows)) return(invisible())
  before <- sum(log$events$kind[seq_len(rows[1] - 1L)] %in% believing)
  refits <- log$refits[before + seq_len(sum(log$events$kind[rows] %in% believing))]
  core(cpp_bandit_replay(handle, log$queries, log$contexts, lapply(log$events, `[`, rows), refits, 0L))
}

# A width or gain function, or a progress handler, must not change the bandit that calls it.
check_idle <- function(bandit) {
  if (!has_rule(bandit) && cpp_bandit_state(bandit$handle) == "changing") {
    stop_gpbandits("This bandit is in the middle of a change: a function that it calls cannot change it.")
  }
}

# A change of the core's object, then of the log. Wherever it fails or is interrupted the log is as it was,
# and the core's object, which knows that it is out of step, is made again from the log when it is
# needed. `refit` returns the parameters in force after a change that is a refit. `reason`, `fields`: see sync_log().
transact <- function(bandit, change, refit = NULL, reason = NULL, fields = list()) {
  if (!cpp_bandit_is_ready(bandit$handle)) {
    check_idle(bandit)
    heal(bandit)
  }
  handle <- bandit$handle
  # (The log's new rows may ask the core's object for a fit, which may fail, too.)
  core({
    change(handle)
    sync_log(bandit, handle, if (!is.null(refit)) list(refit()), fields = fields, reason = reason)
  })
}

bandit_facts <- function(bandit) {
  heal(bandit)
  kind_of(bandit)$facts(bandit)
}

bandit_reset <- function(bandit) {
  check_idle(bandit)
  commit(bandit, list(),
         fields = c(list(queries = new_table(query_columns(bandit$config)), events = new_table(event_columns()),
                         refits = list(), reasons = NULL, handle = NULL, config = starting_config(bandit)),
                    if (has_rule(bandit)) list(memory = first_memory(bandit$config))),
         durable = if (!is.null(bandit$journal)) function() keep_reset(bandit$journal, bandit))
}

bandit_copy <- function(bandit) {
  new_bandit(bandit$config, table_copy(bandit$queries), table_copy(bandit$events), bandit$refits,
             if (has_rule(bandit)) bandit$memory, bandit$reasons)
}

register_bandit_kind(
  "core",
  rebuild = function(bandit) if (cpp_bandit_state(bandit$handle) == "none") bandit$handle <- replayed(bandit),
  begin = function(bandit, useless) {
    bandit$handle <- core(cpp_bandit_new(as_ours(core_config(bandit$config), useless)))
  },
  facts = function(bandit) core(cpp_bandit_facts(bandit$handle))
)
