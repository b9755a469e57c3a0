# The loop of a search: suggest, evaluate, observe. Layer: search.

# ---- state of a search -----------------------------------------------------------
# A search evaluates points, or folds of points (R/search-race-loop.R). This is its `strategy`, a list of functions of
# the search:
#   `begin`, `end`   called at the beginning and at the end.
#   `resume`         restores the evaluations in the notes of a journal.
#   `begun`          the number of evaluations that have started.
#   `repeated`       the tasks that still have to be repeated.
#   `next_task`      the next task; NULL if there is none (yet). `busy`: the number of running ones.
#   `take`           records the outcome of a task, as read.
#   `amend`          corrects what the bandit has received.
#   `report`         a part of the result, or NULL.
# and `second`, a description of the objective's second argument, if it has one.
#
# `history` has one row per known point and per finished evaluation, in their order. `origin` identifies each row: 0 for
# a known point, -k for point k of the design, otherwise the number of the bandit's query. A comparison of the two shows
# which rows the bandit has not received yet. `todo`: the remaining points of the design. `redo`: tasks to be repeated.

# `design`: the number of points, or the points.
open_search <- function(bandit, known, design, journal, race = NULL, prior = NULL, trust = FALSE) {
  found <- list(notes = list())
  if (!is.null(journal)) {
    kept <- resume_from(check_string(journal), "journal", trust = trust || has_code(bandit$config))
    if (is.null(kept)) {
      start_journal(bandit, journal, trust = has_code(bandit$config))
    } else {
      check_same_search(kept$config, bandit$config, journal, "journal")
      found <- kept
      bandit <- kept$bandit
    }
  }
  if (length(found$notes)) {
    restore_rng(found$rng)
    return(resumed_search(bandit, known, found$notes, race))
  }
  if (table_size(bandit$queries)) {
    stop_argument("journal", sprintf("%s, of a bandit that was made elsewhere", dQuote(journal, FALSE)),
                  "a journal of maximize_bandit()", try = "`open_bandit()`, which continues other journals")
  }
  points <- if (!is.null(dim(design))) design else {
    drawn_design(bandit$config$domain, design, prior, inputs_known(bandit$config$domain, known))
  }
  journal_note(bandit, "start", c(list(design = points, known = known), if (!is.null(race)) list(race = race)))
  new_search(bandit, known, points, race)
}

# A resumed search keeps its design, even if the design would now be different or `evaluations` has changed.
check_same_search <- function(theirs, own, file, arg) {
  without_design <- function(config) {
    config$design <- NULL
    if (has_transfer(config)) config$transfer$optional <- NULL
    config
  }
  check_same_settings(without_design(theirs), without_design(own), file, arg)
}

new_search <- function(bandit, known, points, race) {
  history <- known_history(known, bandit$config$domain, bandit$config)
  search <- list2env(list(bandit = bandit, design = points, todo = seq_len(nrow(points)), redo = list(),
                          history = history, origin = integer(nrow(history)), interrupted = FALSE, stopped = FALSE,
                          exhausted = FALSE, out_of_time = FALSE, verbose = FALSE,
                          # Recording starts when the design has finished: a failure is recorded with the worst reward,
                          # which is not available before.
                          recording = table_size(bandit$queries) > 0, race = race,
                          strategy = if (is.null(race)) point_strategy else race_strategy,
                          begun = Sys.time(), resumed = nrow(history)), parent = emptyenv())
  search$strategy$begin(search)
  search
}

resumed_search <- function(bandit, known, notes, race) {
  start <- notes_named(notes, "start")[[1]]
  if (!identical(start$known, known)) {
    stop_state("`data` has other points than those in the journal. Give it as it was when the journal was begun, ",
               "or use a new `journal`.", argument = "data")
  }
  if (!identical(start$race, race)) {
    stop_state("`race` differs from that in the journal. Give it as it was when the journal was begun, or use a ",
               "new `journal`.", argument = "race")
  }
  search <- new_search(bandit, known, start$design, race)
  # Evaluations that were running when the process ended are repeated.
  search$strategy$resume(search, notes)
  search$resumed <- nrow(search$history)
  settle(search)
  search
}

notes_named <- function(notes, name) lapply(Filter(function(note) note$name == name, notes), `[[`, "value")

resume_points <- function(search, notes) {
  for (row in notes_named(notes, "evaluation")) add_row(search, row)
  search$todo <- setdiff(search$todo, -search$origin)
  search$redo <- lapply(setdiff(asked_queries(search$bandit), search$origin), query_task, bandit = search$bandit)
}

points_begun <- function(search) {
  nrow(search$design) - length(search$todo) + length(asked_queries(search$bandit))
}

# The reason to stop a search whose objective always fails, or NULL. (Known points, and evaluations before a crash, do
# not count.)
why_hopeless <- function(search) {
  now <- utils::tail(search$history, nrow(search$history) - search$resumed)
  config <- search$bandit$config
  if (all(says_nothing(now, config))) reason_of_failures(now[[status_name(config)]], nrow(search$design))
}

# The next evaluation; NULL if there is none (yet).
next_task <- function(search, busy) {
  if (!is.null(why_hopeless(search))) return(NULL)
  search$redo <- search$strategy$repeated(search)
  if (length(search$redo) && !is_out_of_time(search)) {
    task <- search$redo[[1]]
    search$redo <- search$redo[-1]
    return(task)
  }
  if (search$strategy$begun(search) >= search$evaluations || is_out_of_time(search)) return(NULL)
  search$strategy$next_task(search, busy)
}

# The next point to evaluate: first those of the design, then the bandit's suggestions. NULL if there is none (yet).
next_point <- function(search, busy) {
  if (length(search$todo)) {
    k <- search$todo[1]
    search$todo <- search$todo[-1]
    return(new_task(-k, search$bandit$config$domain, search$design[k, , drop = FALSE]))
  }
  # While no reward is observed, wait for the running evaluations.
  if (busy > 0 && nrow(search$history) == 0) return(NULL)
  search$recording <- TRUE
  settle(search)
  if (search_stops(search)) return(NULL)
  if (busy > 0 && must_wait(as.environment(search$bandit))) return(NULL)
  if (is_exhausted(as.environment(search$bandit))) {
    search$exhausted <- busy == 0
    return(NULL)
  }
  query_task(search$bandit$suggest()$id, search$bandit)
}

all_known_message <- function(count) sprintf("All points are known: the search ends after %d evaluations.", count)

# When a stopping rule is satisfied, no more points are suggested.
search_stops <- function(search) {
  if (is.null(search$stop_when) || search$stopped) return(search$stopped)
  bandit <- as.environment(search$bandit)
  # The bandit would be refitted for the next suggestion. The rule uses the same model, so the refit comes first.
  refit_if_due(bandit)
  subject <- list(history = search$history, bandit = search$bandit)
  search$stopped <- time_to_stop(search$stop_when, bandit, subject)
  search$stopped
}

work_through <- function(search, pool, bar) {
  repeat {
    while (pool$free() && !is.null(task <- next_task(search, pool$busy()))) pool$submit(task)
    if (pool$busy() == 0) break
    pool$wait()
    take_outcomes(search, pool, bar)
  }
}

take_outcomes <- function(search, pool, bar) {
  suspendInterrupts(for (one in pool$take()) take_outcome(search, one$task, one$outcome, bar))
  settle(search)
}

take_outcome <- function(search, task, outcome, bar) {
  if (!is.null(outcome$unsent)) {
    search$redo <- c(list(task), search$redo)
    return(invisible())
  }
  if (!is.null(outcome$lost)) {
    # Ctrl-C also reaches the workers of the same terminal. Evaluations that it ended there remain pending.
    if (search$interrupted) return(invisible())
    task$attempts <- task$attempts + 1
    if (task$attempts < search$attempts) {
      search$redo <- c(search$redo, list(task))
      return(invisible())
    }
  }
  found <- read_outcome(outcome, task$attempts, search$bandit$config)
  search$strategy$take(search, task, found)
  check_signature(search$objective, outcome$error, search$strategy$second)
  if (!is.null(failures_in(search$history, search$bandit$config))) check_returned(outcome$value, search$bandit$config)
  if (!is.null(bar)) bar()
}

take_point <- function(search, task, found) {
  row <- c(list(origin = task$origin, point = task$point), found)
  journal_note(search$bandit, "evaluation", row)
  add_row(search, row)
  if (search$verbose) message(evaluation_line(search))
}

point_strategy <- list(begin = function(search) NULL, resume = resume_points, begun = points_begun,
                       repeated = function(search) search$redo, next_task = next_point, take = take_point,
                       amend = function(search) NULL, end = function(search) NULL, report = function(search) NULL)

settle_rewards <- function(search) {
  reward <- search$history$reward
  if (!search$recording || all(is.na(reward))) return(invisible())
  bandit <- search$bandit
  added <- setdiff(seq_len(table_size(bandit$queries)), asked_queries(bandit))
  given <- which(search$origin <= 0)
  new <- given[seq_along(given) > length(added)]
  # (A search may have been interrupted after its point was added and before the failure was recorded.)
  open <- added[status_of(as.environment(bandit), added) == "pending"]
  if (length(open)) bandit$fail(open)
  if (length(new)) {
    add_evaluated(bandit, search$history[new, bandit$config$domain$names, drop = FALSE], reward[new],
                  reported_noise(search, new), size = reported_sizes(search)[new])
  }
  asked <- which(search$origin > 0)
  asked <- asked[status_of(as.environment(bandit), search$origin[asked]) == "pending"]
  observe_evaluated(bandit, search$origin[asked], reward[asked], reported_noise(search, asked),
                    reported_sizes(search)[asked])
  search$strategy$amend(search)
}

# The numbers of trials of rewards with a likelihood; NULL for others.
reported_sizes <- function(search) {
  if (!of_form(search$bandit$config, "gaussian")) own_columns(search$history, search$bandit$config$domain$names)$size
}

# Evaluations that have finished are kept, whatever the reason for the end of the search.
close_search <- function(search, pool, bar) {
  if (search$interrupted) {
    pool$look()
    take_outcomes(search, pool, bar)
  }
  search$recording <- TRUE
  if (is_kept(search$bandit)) {
    settle(search)
    search$strategy$end(search)
  } else {
    search$strategy$end(search)
    settle(search)
  }
  rescale_if_due(as.environment(search$bandit))
  if (search$exhausted) message(all_known_message(evaluated(search)))
  if (!(search$interrupted || search$stopped || search$exhausted || search$out_of_time ||
          evaluated(search) >= search$evaluations)) {
    search$hopeless <- why_hopeless(search)
    if (is.null(search$hopeless)) {
      warn_gpbandits("evaluation", "no_worker", "The search ended early: no worker of the future plan is left.")
      search$interrupted <- TRUE
    }
  }
  warn_without_success(search$history, search$bandit$config, search$hopeless)
}

register_form("reward", settle = settle_rewards)
register_form("outcomes", settle = settle_outcomes)
