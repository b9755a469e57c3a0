# Generics for where a log is kept: memory, a journal, a store. Layer: bandit.

# Where a bandit's log is kept besides its memory: `bandit$journal` is NULL, a journal file (bandit-journal.R)
# or a bandit's point in a store (store-log.R). A backend writes a change down before the bandit's memory
# has it, in commit(); what it cannot write has not happened. The first three return what commit() puts into the
# bandit's fields.

# New rows of the log as sync_log() has them, the parameters of the refits among them (a list), and what a script's rule
# remembers, where that has changed.
keep_change <- function(log, bandit, queries, events, refits, memory = NULL) UseMethod("keep_change")

# A note of maximize_bandit(): a name and a value.
keep_note <- function(log, bandit, name, value) UseMethod("keep_note")

# The log is emptied.
keep_reset <- function(log, bandit) UseMethod("keep_reset")

# A line for print().
describe_log <- function(log) UseMethod("describe_log")

# ---- a journal that was left behind --------------------------------------------------

# A bandit that was read from a file, or came from another process, is a copy: the journal stays the original's. The
# copy
# knows whose it was, for print(), and its first change says so.
leave_journal <- function(bandit) {
  log <- bandit$journal
  if (is.null(log) || inherits(log, "bandit_left_journal") || is.environment(log)) return(invisible())
  path <- if (is.list(log)) log$path
  if (!inherits(log, "bandit_file_journal") || !is.character(path) || length(path) != 1 || is.na(path)) {
    damaged("its journal is none")
  }
  bandit$journal <- structure(list(path = path), class = "bandit_left_journal")
  bandit$.said <- setdiff(bandit$.said, "left_journal")
}

# Is what happens to this bandit written down anywhere?
is_kept <- function(bandit) !is.null(bandit$journal) && !inherits(bandit$journal, "bandit_left_journal")

keep_change.bandit_left_journal <- function(log, bandit, queries, events, refits, memory = NULL) {
  warn_once(bandit, "left_journal", "This bandit was read from a file, or comes from another process: what it does is ",
            "not written to the journal ", log$path, ", which is the original's. open_bandit() of that path goes on ",
            "with it.")
  list()
}

keep_note.bandit_left_journal <- function(log, bandit, name, value) list()

keep_reset.bandit_left_journal <- function(log, bandit) keep_change(log, bandit)

rewrite_log.bandit_left_journal <- function(bandit, new) keep_change(bandit$journal, bandit)

describe_log.bandit_left_journal <- function(log) sprintf("  journal    none (a copy; the original's is %s)", log$path)

journal_note <- function(bandit, name, value) {
  if (is.null(bandit$journal)) return(invisible())
  commit(as.environment(bandit), list(), durable = function() keep_note(bandit$journal, bandit, name, value))
}

# What a draft has beyond the bandit.
keep_difference <- function(bandit, draft) {
  beyond <- function(name) {
    lapply(table_columns(draft[[name]]), utils::tail, table_size(draft[[name]]) - table_size(bandit[[name]]))
  }
  events <- beyond("events")
  reported <- ifelse(events$kind %in% event_kind[c("reward", "given")], events$id, NA_integer_)
  g <- lapply(constraint_names(bandit$config, "g"), function(name) get(name, envir = draft$queries)[reported])
  events$g <- matrix(as.double(unlist(g)), length(reported), length(g))
  refits <- utils::tail(draft$refits, length(draft$refits) - length(bandit$refits))
  keep_change(bandit$journal, bandit, beyond("queries"), events, refits, draft$memory)
}

# ---- changes that a store makes within a transaction ---------------------------------

# Is this a call that has to become a transaction first?
needs_transaction <- function(bandit) is_stored(bandit) && !bandit$journal$active

# Methods of the log take the bandit, and then what the bandit's own method takes.
suggest_in <- function(bandit, ...) UseMethod("suggest_in", bandit$journal)
observe_in <- function(bandit, ...) UseMethod("observe_in", bandit$journal)
amend_in <- function(bandit, ...) UseMethod("amend_in", bandit$journal)
withdraw_in <- function(bandit, ...) UseMethod("withdraw_in", bandit$journal)
add_in <- function(bandit, ...) UseMethod("add_in", bandit$journal)
add_arms_in <- function(bandit, ...) UseMethod("add_arms_in", bandit$journal)

# A whole run, with a transaction for each round.
play_in <- function(bandit, problem, rounds, draws, report, stops) UseMethod("play_in", bandit$journal)

# A shorter log in place of the old one.
rewrite_log <- function(bandit, new) UseMethod("rewrite_log", bandit$journal)

# A new bandit's log begins in a store.
begin_in <- function(store, bandit) UseMethod("begin_in")

begin_in.default <- function(store, bandit) stop_argument("store", describe(store), "bandit_store(con, name)")

# A name in the object's environment, which is no field, remembers what was said.
warn_once <- function(bandit, kind, ...) {
  if (kind %in% bandit$.said) return(invisible())
  bandit$.said <- c(bandit$.said, kind)
  warn_gpbandits("state", kind, ..., call = user_call())
}
