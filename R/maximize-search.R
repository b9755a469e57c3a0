# ---- a search: what has been evaluated, and what is to be ------------------------
# `history` has a row per evaluation that has ended, in that order (and per known point); `origin`
# tells what each was: 0 known, -k point k of the design, otherwise the bandit's query. What the bandit
# has not been told yet is seen by comparing the two. `todo`: points of the design; `redo`: tasks given back.

# `design`: how many points, or (with earlier campaigns) which.
open_search <- function(bandit, known, design, journal, race = NULL, believed = NULL) {
  found <- list(notes = list())
  if (!is.null(journal)) {
    path <- journal_path(journal)
    if (file.exists(path) && file.size(path) > 0) {
      found <- read_journal(journal, "journal", trust = has_code(bandit$config))
      check_same_search(found$bandit$config, bandit$config, journal, "journal")
      bandit <- found$bandit
    } else {
      start_journal(bandit, journal, trust = has_code(bandit$config))
    }
  }
  if (length(found$notes)) {
    restore_rng(found$rng)
    return(resumed_search(bandit, known, found$notes, race))
  }
  if (table_size(bandit$queries)) {
    stop_argument("journal", sprintf("%s, of a bandit that was not made here", dQuote(journal, FALSE)),
                  "a journal of maximize_bandit()")
  }
  points <- if (!is.null(dim(design))) design else initial_design(bandit$config$domain, design, believed)
  journal_note(bandit, "start", c(list(design = points, known = known), if (!is.null(race)) list(race = race)))
  new_search(bandit, known, points, race)
}

# A search that goes on keeps its design, whatever would be drawn now, or for other `evaluations`.
check_same_search <- function(theirs, ours, file, arg) {
  without_design <- function(config) {
    config$design <- NULL
    if (is_related(config)) config$related$optional <- NULL
    config
  }
  check_same_settings(without_design(theirs), without_design(ours), file, arg)
}

new_search <- function(bandit, known, points, race) {
  history <- known_history(known, bandit$config$domain, bandit$config)
  search <- list2env(list(bandit = bandit, design = points, todo = seq_len(nrow(points)), redo = list(),
                          history = history, origin = integer(nrow(history)), interrupted = FALSE, stopped = FALSE,
                          out_of_time = FALSE, verbose = FALSE,
                          # Not before the design has ended: what is bad, and failures count as, is known only then.
                          telling = table_size(bandit$queries) > 0,
                          begun = Sys.time(), resumed = nrow(history)), parent = emptyenv())
  if (!is.null(race)) begin_race(search, race)
  search
}

resumed_search <- function(bandit, known, notes, race) {
  named <- function(name) lapply(Filter(function(note) note$name == name, notes), `[[`, "value")
  start <- named("start")[[1]]
  if (!identical(start$known, known)) {
    stop_argument("initial", "other points than those in the journal", "as it was when the journal was begun")
  }
  if (!identical(start$race, race)) {
    stop_argument("race", "another one than in the journal", "as it was when the journal was begun")
  }
  search <- new_search(bandit, known, start$design, race)
  # What was under way when the process ended is evaluated again.
  if (is_race(search)) {
    resume_race(search, notes)
  } else {
    for (row in named("evaluation")) add_row(search, row)
    search$todo <- setdiff(search$todo, -search$origin)
    search$redo <- lapply(setdiff(asked_queries(bandit), search$origin), query_task, bandit = bandit)
  }
  search$resumed <- nrow(search$history)
  settle(search)
  search
}

asked_queries <- function(bandit) which(table_column(bandit$queries, "action") != match("given", action_names))

evaluated <- function(search) if (is_race(search)) length(search$looks) else sum(search$origin != 0)

# Evaluations that have begun.
begun <- function(search) {
  if (is_race(search)) return(folds_begun(search))
  nrow(search$design) - length(search$todo) + length(asked_queries(search$bandit))
}

new_task <- function(origin, domain, row) list(origin = origin, attempts = 0, point = one_point(domain, row))

query_task <- function(id, bandit) {
  new_task(id, bandit$config$domain, query_frame(bandit, id)[bandit$config$domain$names])
}

# Once the time is up no evaluation is begun.
is_out_of_time <- function(search) {
  search$out_of_time <- seconds_since(search$begun) >= search$time_limit
  search$out_of_time
}

# An objective that never succeeds ends its search: why, or NULL. (Known points and what was done before a crash say
# nothing about it.)
why_hopeless <- function(search) {
  now <- utils::tail(search$history, nrow(search$history) - search$resumed)
  config <- search$bandit$config
  if (all(says_nothing(now, config))) reason_of_failures(now[[status_name(config)]], nrow(search$design))
}

# Why the evaluations of a history failed, in their order; NULL if one of them succeeded, or none has ended.
failures_in <- function(history, config) {
  own <- history[history[[status_name(config)]] != "given", , drop = FALSE]
  if (nrow(own) && all(says_nothing(own, config))) own[[status_name(config)]]
}

status_name <- function(config) beside("status", config$domain$names)

# Ten for one reason are enough, for several as many as the design has, at least.
reason_of_failures <- function(reasons, design) {
  if (length(reasons) < 10 || (length(unique(reasons)) > 1 && length(reasons) < design)) return(NULL)
  failure_words(reasons)
}

failure_words <- function(reasons) {
  if (length(reasons) == 1) return(paste("the only evaluation failed:", reasons))
  sprintf("none of %d evaluations succeeded, %s: %s", length(reasons),
          if (length(unique(reasons)) == 1) "all for one reason" else "the first", reasons[1])
}

# The next evaluation, NULL if there is none (yet).
next_task <- function(search, busy) {
  if (!is.null(why_hopeless(search))) return(NULL)
  if (is_race(search)) {
    search$redo <- Filter(function(task) setting_of(search, task$origin)$state == "racing", search$redo)
  }
  if (length(search$redo) && !is_out_of_time(search)) {
    task <- search$redo[[1]]
    search$redo <- search$redo[-1]
    return(task)
  }
  if (begun(search) >= search$evaluations || is_out_of_time(search)) return(NULL)
  if (is_race(search)) next_fold(search, busy) else next_point(search, busy)
}

# The next point that has not been tried: of the design, then of the bandit; NULL if there is none (yet).
next_point <- function(search, busy) {
  if (length(search$todo)) {
    k <- search$todo[1]
    search$todo <- search$todo[-1]
    return(new_task(-k, search$bandit$config$domain, search$design[k, , drop = FALSE]))
  }
  # With no reward known, wait for those under way.
  if (busy > 0 && nrow(search$history) == 0) return(NULL)
  search$telling <- TRUE
  settle(search)
  if (search_stops(search)) return(NULL)
  if (busy > 0 && must_wait(as.environment(search$bandit))) return(NULL)
  query_task(search$bandit$suggest()$id, search$bandit)
}

# Once a rule has said so, no more is asked.
search_stops <- function(search) {
  if (is.null(search$stop_when) || search$stopped) return(search$stopped)
  bandit <- as.environment(search$bandit)
  # The bandit is refitted when it is asked for the next point: the rule sees what it will see then.
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
    # Ctrl-C reaches the workers of the same terminal too: what it ended there stays pending.
    if (search$interrupted) return(invisible())
    task$attempts <- task$attempts + 1
    if (task$attempts < search$attempts) {
      search$redo <- c(search$redo, list(task))
      return(invisible())
    }
  }
  found <- read_outcome(outcome, task$attempts, search$bandit$config)
  if (is_race(search)) {
    take_fold(search, c(list(origin = task$origin, fold = task$fold), found))
  } else {
    row <- c(list(origin = task$origin, point = task$point), found)
    journal_note(search$bandit, "evaluation", row)
    add_row(search, row)
    if (search$verbose) message(evaluation_line(search))
  }
  check_signature(search$objective, outcome$error, if (is_race(search)) "the number of a fold")
  if (!is.null(bar)) bar()
}

# R's own words, in its language, for an objective that wants more than one argument: no point will do.
# `beside`: what it is given besides a point.
check_signature <- function(objective, error, beside = NULL) {
  if (is.null(error)) return(invisible())
  wants <- formals(args(objective))
  required <- names(wants)[vapply(wants, function(w) is.symbol(w) && !nzchar(as.character(w)), NA)]
  required <- setdiff(utils::tail(required, if (is.null(beside)) -1 else -2), "...")
  missing_words <- function(name) gettextf("argument \"%s\" is missing, with no default", name, domain = "R")
  said <- vapply(required, missing_words, "")
  unused <- sub("%s.*", "", gettext("unused argument %s", domain = "R"))
  takes_too_few <- !is.null(beside) && startsWith(error, unused)
  if (error %in% said || startsWith(error, unused)) {
    stop_argument("objective", if (takes_too_few) "one that takes no second argument"
                               else sprintf("one that stops at its first call with: %s", error),
                  sprintf("a function of one point (a vector or list with the names of the inputs)%s",
                          if (is.null(beside)) "" else paste(" and of", beside)),
                  try = if (is.null(beside)) paste("function(point) f(point[[1]], point[[2]]),",
                                                   "with as many as there are inputs"))
  }
}

evaluation_line <- function(search, at = nrow(search$history), number = evaluated(search)) {
  config <- search$bandit$config
  row <- search$history[at, ]
  if (has_outcomes(config)) return(outcomes_line(search, row, number))
  best <- search$history$reward[best_row(search$history$reward, config)]
  sprintf("%s: %s%s  at %s", evaluation_number(search, number),
          if (is.na(row$reward)) row[[status_name(config)]] else format(row$reward, digits = 6),
          if (length(best)) sprintf("  (best %s)", format(best, digits = 6)) else "",
          describe_point(row[config$domain$names]))
}

evaluation_number <- function(search, number) {
  if (is.infinite(search$evaluations)) return(sprintf("%d", as.integer(number)))
  sprintf("%*d of %d", nchar(search$evaluations), as.integer(number), as.integer(search$evaluations))
}

# Whatever came of an evaluation: its reward, or NA and why. (With several outcomes `values`.)
read_outcome <- function(outcome, attempts, config = NULL) {
  if (has_outcomes(config)) return(read_outcomes(outcome, attempts, config))
  status <- if (!is.null(outcome$lost)) sprintf("%s (%d attempts)", outcome$lost, as.integer(attempts))
            else if (!is.null(outcome$error)) paste("error:", one_text(outcome$error))
  value <- outcome$value
  if (is.null(status) && is_number(value) && length(value) == 1 && is.finite(value)) {
    return(list(reward = as.double(value), status = "ok"))
  }
  list(reward = NA_real_, status = if (is.null(status)) paste("returned", describe(value)) else status)
}

add_row <- function(search, row) {
  frame <- data.frame(as.list(row$point), check.names = FALSE)
  if (is.null(row$values)) frame$reward <- row$reward else frame[names(row$values)] <- as.list(row$values)
  ours <- c(list(status = row$status), row$more)
  frame[beside(names(ours), names(frame))] <- ours
  # (Only points with given rewards have a noise variance of their own.)
  frame[setdiff(names(search$history), names(frame))] <- NA_real_
  search$history <- rbind(search$history, frame)
  search$origin <- c(search$origin, as.integer(row$origin))
}

# Tells the bandit what it does not know yet: points that it did not ask for, in their order, and
# rewards of its queries.
settle <- function(search) {
  if (has_outcomes(search$bandit$config)) return(settle_outcomes(search))
  reward <- search$history$reward
  if (!search$telling || all(is.na(reward))) return(invisible())
  bandit <- search$bandit
  added <- setdiff(seq_len(table_size(bandit$queries)), asked_queries(bandit))
  given <- which(search$origin <= 0)
  new <- given[seq_along(given) > length(added)]
  if (length(new)) {
    add_evaluated(bandit, search$history[new, bandit$config$domain$names, drop = FALSE], reward[new],
                  told_noise(search, new))
  }
  # (A search may have been ended between its point and that it failed.)
  open <- added[status_of(as.environment(bandit), added) == "pending"]
  if (length(open)) bandit$fail(open)
  asked <- which(search$origin > 0)
  asked <- asked[status_of(as.environment(bandit), search$origin[asked]) == "pending"]
  observe_evaluated(bandit, search$origin[asked], reward[asked], told_noise(search, asked))
  amend_settings(search)
}

# Tells a bandit of evaluations: what is no number has failed. `noise_var`: NULL, or one for each.
observe_evaluated <- function(bandit, id, reward, noise_var = NULL) {
  known <- is.finite(reward)
  if (any(known)) bandit$observe(id[known], reward[known], noise_var = noise_var[known])
  if (any(!known)) bandit$fail(id[!known])
}

# The same of points that it did not ask for, in their order.
add_evaluated <- function(bandit, x, reward, noise_var = NULL, contexts = NULL) {
  known <- is.finite(reward)
  add_in_order(bandit, list(x = x, reward = ifelse(known, reward, NA), failed = !known, noise_var = noise_var,
                            contexts = contexts))
}

# What has ended by now is kept, whatever ended the search.
close_search <- function(search, pool, bar) {
  if (search$interrupted) {
    pool$look()
    take_outcomes(search, pool, bar)
  }
  search$telling <- TRUE
  if (is_kept(search$bandit)) {
    settle(search)
    end_race(search)
  } else {
    end_race(search)
    settle(search)
  }
  rescale_if_due(as.environment(search$bandit))
  if (!(search$interrupted || search$stopped || search$out_of_time || evaluated(search) >= search$evaluations)) {
    search$hopeless <- why_hopeless(search)
    if (is.null(search$hopeless)) {
      warning("no worker of the future plan is left: the search has ended early", call. = FALSE)
      search$interrupted <- TRUE
    }
  }
  warn_without_success(search$history, search$bandit$config, search$hopeless)
}

# `hopeless`: why a search was given up, or NULL.
warn_without_success <- function(history, config, hopeless = NULL) {
  if (!is.null(hopeless)) return(warn_of_failures(hopeless, "search"))
  reasons <- failures_in(history, config)
  if (!is.null(reasons)) warn_of_failures(failure_words(reasons))
}

# `early`: what ended before its budget was spent, or NULL.
warn_of_failures <- function(words, early = NULL) {
  text <- if (is.null(early)) paste0(toupper(substr(words, 1, 1)), substring(words, 2))
          else sprintf("The %s ended early: %s", early, words)
  warning(structure(class = c("gpbandits_no_success", "gpbandits_warning", "warning", "condition"),
                    list(message = text, call = user_call())))
}

# Experiments that were made: `x`, `reward`, `failed` (a logical each), `contexts` (a matrix with the columns
# `contexts`,
# NULL without), `outside` (a logical each). `unknown`: may experiments be under way? `find`: which places there are.
check_initial <- function(initial, domain, arg = "initial", unknown = FALSE, contexts = character(), outcomes = NULL,
                          find = find_places) {
  if (length(outcomes) > 1) {
    return(check_initial_outcomes(initial, domain, arg, unknown, contexts, names(outcomes), find))
  }
  if (is.null(initial)) {
    return(list(x = user_inputs(domain, no_places(domain)), reward = numeric(), failed = logical()))
  }
  if (is.data.frame(initial)) check_data_frame(initial, arg)
  if (length(outcomes) == 1 && is.data.frame(initial)) names(initial)[names(initial) == names(outcomes)] <- "reward"
  wanted <- c(domain$names, contexts, "reward")
  if (!is.data.frame(initial) || !all(wanted %in% names(initial))) {
    stop_argument(arg, lacking_columns(initial, wanted),
                  paste("a data.frame with columns", paste(wanted, collapse = ", ")))
  }
  given <- c(names_in_domain(domain), contexts)
  ours <- own_columns(initial, given)
  kept <- says_something(ours, unknown)
  initial <- initial[kept, , drop = FALSE]
  ours <- ours[kept, , drop = FALSE]
  strange <- setdiff(names(ours), c("reward", "status", "noise_var", if (is_history(ours)) columns_of_history(ours)))
  strange <- c(strange, if (!is_history(ours)) intersect(setdiff(given, wanted), names(initial)))
  if (length(strange)) {
    stop_argument(arg, sprintf("one with a column %s", dQuote(strange[1], FALSE)),
                  paste("a data.frame with columns", paste(wanted, collapse = ", ")))
  }
  if (nrow(initial) == 0) return(check_initial(NULL, domain))
  x <- read_inputs(domain, initial[domain$names], arg)
  outside <- lies_outside(domain, find(domain, x, arg = arg))
  reward <- initial$reward
  if (all(is.na(reward))) reward <- as.double(reward)
  failed <- is.na(reward) & has_failed(ours)
  reward[!failed] <- check_numbers(reward[!failed], arg, na = unknown)
  out <- list(x = x, reward = as.double(reward), failed = failed, outside = outside)
  out <- c(out, noise_of_data(ours, arg), if (is_history(ours)) readings_of_data(ours, arg))
  if (length(contexts)) out$contexts <- check_points(initial[contexts], contexts, arg)
  out
}

# The history of a bandit, or of a search, tells what became of each experiment.
is_history <- function(data) all(c("id", "action", "segment", "status") %in% names(data))

# What stands there beside inputs, contexts and rewards.
columns_of_history <- function(data) {
  c("id", "arm", "mean", "sd", "width", "action", "segment", "status", "reason", "phase", "propensity", "size", "spread",
    grep("^(g|kappa)[0-9]+$", names(data), value = TRUE))
}

# Rewards' own noise variances, where there are any; NA for the bandit's.
noise_of_data <- function(data, arg) {
  if (is.null(data[["noise_var"]])) return(NULL)
  list(noise_var = check_noise_vars(data[["noise_var"]], nrow(data), paste0(arg, "$noise_var")))
}

# Rewards that are the means of several readings.
readings_of_data <- function(data, arg) {
  if (is.null(data[["spread"]])) return(NULL)
  of <- function(name, lower) {
    check_numbers(data[[name]], paste0(arg, "$", name), lengths = nrow(data), lower = lower, upper = largest_number,
                  na = TRUE)
  }
  list(size = of("size", 1), spread = of("spread", 0))
}

# Rows say nothing of what was withdrawn or lost, and (but for `unknown`) of what is under way.
says_something <- function(data, unknown) {
  nothing <- c("withdrawn", "lost", if (!unknown) "pending")
  !(is.na(data$reward) & status_column(data) %in% nothing)
}

status_column <- function(data) {
  if (is.null(data[["status"]])) rep(NA_character_, nrow(data)) else as.character(data[["status"]])
}

has_failed <- function(data) {
  status <- status_column(data)
  !is.na(status) & !status %in% c("pending", "known", "ok")
}

known_history <- function(known, domain, config = NULL) {
  if (has_outcomes(config)) return(known_outcomes(known, domain))
  frame <- as.data.frame(known$x)
  names(frame) <- domain$names
  ours <- c(list(reward = known$reward, status = rep("given", length(known$reward))), known["noise_var"])
  cbind(frame, as.data.frame(columns_beside(ours, domain$names), optional = TRUE))
}
