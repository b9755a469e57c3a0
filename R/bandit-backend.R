# Generics for where a log is kept: memory, a journal, a store. Layer: bandit.

# A bandit's log can be kept outside of its memory. `bandit$journal` is NULL, a journal file (store-journal.R) or the
# bandit's entry in a store (store-log.R). A backend writes a change in commit(), before the change is made in memory;
# if it cannot be written, it does not happen. The first three generics return the values that commit() assigns to the
# bandit's fields.

# New rows of the log in the format of sync_log(), the parameters of the refits among them (a list), and the memory of a
# script's rule, if it has changed.
keep_change <- function(log, bandit, queries, events, refits, memory = NULL) UseMethod("keep_change")

# A note of maximize_bandit(): a name and a value.
keep_note <- function(log, bandit, name, value) UseMethod("keep_note")

# Empties the log.
keep_reset <- function(log, bandit) UseMethod("keep_reset")

# A line for print().
describe_log <- function(log) UseMethod("describe_log")

# ---- a journal that was left behind --------------------------------------------------

# A bandit that was read from a file or comes from another process is a copy, and the journal remains the original's.
# The copy keeps the journal's path for print(), and its first change gives a warning.
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

# Is the log of this bandit written to a journal or a store?
is_kept <- function(bandit) !is.null(bandit$journal) && !inherits(bandit$journal, "bandit_left_journal")

keep_change.bandit_left_journal <- function(log, bandit, queries, events, refits, memory = NULL) {
  warn_once(bandit, "left_journal", "This bandit was read from a file, or comes from another process. Its changes are ",
            "not written to the journal ", log$path, ", which belongs to the original. open_bandit() of that path ",
            "continues with it.")
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

# The part of a draft's log that the bandit does not have yet.
keep_difference <- function(bandit, draft) {
  beyond <- function(name) {
    lapply(table_columns(draft[[name]]), utils::tail, table_size(draft[[name]]) - table_size(bandit[[name]]))
  }
  events <- beyond("events")
  reported <- ifelse(events$kind %in% event_kind[c("reward", "given")], events$id, NA_integer_)
  g <- lapply(constraint_names(bandit$config, "g"), function(name) get(name, envir = draft$queries)[reported])
  events$g <- matrix(as.double(unlist(g)), length(reported), length(g))
  refits <- utils::tail(draft$refits, length(draft$refits) - length(bandit$refits))
  keep_change(bandit$journal, bandit, beyond("queries"), with_text(bandit, events, NULL), refits, draft$memory)
}

# ---- changes that a store makes within a transaction ---------------------------------

# Is this a call that has to become a transaction first?
needs_transaction <- function(bandit) !is.null(bandit$journal) && is_stored(bandit) && !bandit$journal$active

# Generics that dispatch on the log. They take the bandit, then the arguments of the bandit's method of the same name.
suggest_in <- function(bandit, ...) UseMethod("suggest_in", bandit$journal)
observe_in <- function(bandit, ...) UseMethod("observe_in", bandit$journal)
amend_in <- function(bandit, ...) UseMethod("amend_in", bandit$journal)
withdraw_in <- function(bandit, ...) UseMethod("withdraw_in", bandit$journal)
add_in <- function(bandit, ...) UseMethod("add_in", bandit$journal)
add_arms_in <- function(bandit, ...) UseMethod("add_arms_in", bandit$journal)

# A whole run, with one transaction per round.
play_in <- function(bandit, problem, rounds, draws, report, stops) UseMethod("play_in", bandit$journal)

# Replaces the log by a shorter one.
rewrite_log <- function(bandit, new) UseMethod("rewrite_log", bandit$journal)

# Begins a new bandit's log in a store, or in a journal.
begin_in <- function(store, bandit, ...) UseMethod("begin_in")

begin_in.default <- function(store, bandit, ...) stop_argument("store", describe(store), "bandit_store(con, name)")

start_journal <- function(bandit, file, trust = FALSE) {
  begin_in(structure(list(file = check_string(file, "journal")), class = "bandit_new_journal"), bandit, trust)
}

# The `bandit` that a journal holds, its settings at the beginning (`config`), the `notes` of a search, and the state
# `rng` of R's random generator; NULL if there is no journal.
resume_from <- function(x, arg, trust) UseMethod("resume_from")

# `file`: the journal's path, or the bandit's name in a store (`arg`).
check_same_settings <- function(theirs, own, file, arg) {
  names <- union(names(theirs), names(own))
  names <- setdiff(names, "format")
  same <- vapply(names, function(name) {
    identical(comparable(theirs[[name]]), comparable(own[[name]]))
  }, NA)
  if (all(same)) return(invisible())
  # (Kernels and refits are chosen for the domain: another domain is the cause.)
  if (!same[["domain"]]) same[names %in% c("kernel", "refit")] <- TRUE
  other <- paste0("`", sub("context_names", "contexts", names[!same]), "`", collapse = ", ")
  stop_data(if (arg == "store") sprintf("The store's bandit %s has another %s. Use its settings, or another `name`.",
                                        quoted(file), other)
            else sprintf("The journal %s belongs to a bandit with another %s%s. Use a journal of this bandit.",
                         quoted(file), other,
                         if (same[["domain"]]) ""
                         else sprintf(" (%s; here %s)", domain_story(theirs$domain), domain_story(own$domain))),
            argument = arg)
}

# `.said` is a variable of the object's environment, not a field: it holds the kinds of warnings given so far.
warn_once <- function(bandit, kind, ...) {
  if (kind %in% bandit$.said) return(invisible())
  bandit$.said <- c(bandit$.said, kind)
  warn_gpbandits("state", kind, ..., call = user_call())
}
