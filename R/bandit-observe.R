# `$observe()`, `$add()`, `$amend()`, `$withdraw()`, `$fail()`, `$rank()`. Layer: bandit.

# The core records valid results at once; other cases are handled here, or are errors with an explanation.
bandit_observe <- function(bandit, id, reward, constraints, time, noise_var, size = NULL, prefer = NULL, sd = NULL,
                           note = NULL, ...) {
  if (needs_transaction(bandit)) {
    return(observe_in(bandit, id, reward, constraints, time, noise_var, size = size, prefer = prefer, sd = sd,
                      note = note, ...))
  }
  plain <- ...length() == 0 && !missing(id) && is.null(size) && is.null(prefer) && is.null(sd) && is.null(note)
  if (plain) {
    force(id)                              # `$observe(b$suggest()$id, f(b$history()))`
    given <- if (!missing(reward)) reward
    if (record_rewards(bandit, id, given, constraints, time, noise_var, at_the_edge)) return(invisible(bandit))
  }
  if (...length() || missing(id) || is.list(id) && !is.data.frame(id)) check_is_report(bandit = bandit, id = id, ...)
  if (missing(reward)) {
    if (!is.data.frame(id) && is.null(prefer)) stop_missing("reward", "a number for each id")
    reward <- NULL
  }
  noted <- NULL
  if (is.data.frame(id) && (!identical(names(id), c("id", "reward")) || anyDuplicated(id$id))) {
    reported <- read_report(bandit, check_data_frame(id, "id"), is.null(reward))
    id <- reported$frame
    noted <- reported$noted
  }
  ids <- if (is.data.frame(id)) id$id else id
  if (is.null(noted)) noted <- check_note(note, length(ids))
  else if (!is.null(note)) stop_unused("note", "the data.frame has further columns, which are kept")
  rows <- if (is.numeric(ids)) ids - ids_before(bandit) else rep(NA, length(noted))
  with_notes(bandit, rows, noted, {
    of_form(bandit$config, "observe")(bandit, id, reward, constraints, time, noise_var, size, prefer, sd)
  })
}

# Arguments of a call that cannot report a result.
check_is_report <- function(bandit, id, ...) {
  inputs <- c(names_in_domain(bandit$config$domain), "x", "arm")
  if (any(...names() %in% inputs) || !missing(id) && is.list(id) && any(names(id) %in% inputs)) {
    stop_gpbandits("argument", "`$observe()` reports results by the `id` of a suggestion. Use `$add(x = , reward = )` ",
                   "for a point that was not suggested.", argument = "id")
  }
  of_outcome <- intersect(...names(), outcome_names(bandit$config))
  if (length(of_outcome)) stop_unknown(of_outcome[1], use = sprintf("`reward = c(%s = )`", of_outcome[1]))
  check_dots_empty(..., allowed = c("id", "reward", "constraints", "time", "noise_var", "size", "prefer", "sd", "note"))
  if (missing(id)) stop_missing("id", "the id of an earlier query, as `$suggest()` returned it")
}

# A table of results: `frame`, in which each query has one row, and the notes of its rows (NULL if there are none).
# `alone`: is the reward one of its columns?
read_report <- function(bandit, frame, alone) {
  config <- bandit$config
  frame <- with_reward_column(frame, config)
  # (The error about a table without results lists all its columns.)
  if (!any(c("reward", outcome_names(config)) %in% names(frame))) return(list(frame = frame, noted = NULL))
  own <- beside(c("noise_var", "sd", "size", "spread", constraint_names(config, "g")), given_names(config))
  several <- outer(outcome_names(config), c("", "_noise_var", "_sd"), paste0)
  known <- c("id", "arm", "reward", given_names(config), own, several, "token", "attempt", columns_of_history(frame),
             history_columns)
  further <- frame[!names(frame) %in% known]
  frame <- frame[names(frame) %in% known]
  id <- frame$id
  if (alone && is.numeric(id) && !anyNA(id) && anyDuplicated(id) && !of_form(config, "compares")) {
    frame <- with_replicates(bandit, frame)
    further <- joined_rows(further, id)
  }
  if (length(further)) further <- further[!vapply(further, function(column) all(is.na(column)), NA)]
  list(frame = frame, noted = if (length(further)) notes_of_rows(further))
}

# A table in which a single outcome with a name is called reward.
with_reward_column <- function(frame, config) {
  if (of_form(config, "several") || "reward" %in% names(frame)) return(frame)
  names(frame)[names(frame) == outcome_names(config)] <- "reward"
  frame
}

# One row for each id: different text is joined.
joined_rows <- function(frame, id) {
  first <- !duplicated(id)
  if (length(frame) == 0) return(frame[first, , drop = FALSE])
  as.data.frame(lapply(frame, function(column) {
    text <- tapply(as.character(column), factor(id, unique(id)), function(x) paste(unique(x[!is.na(x) & nzchar(x)]),
                                                                                    collapse = "; "))
    if (all(text[match(id, names(text))] == as.character(column) | is.na(column))) column[first] else unname(text)
  }), optional = TRUE)
}

# `report`: observe_ranking() or observe_duel().
observe_comparison <- function(report) {
  function(bandit, id, reward, constraints, time, noise_var, size, prefer, sd) {
    check_no_noise(noise_var, constraints, sd)
    check_size_unused(size)
    report(bandit, id, reward, prefer, time)
  }
}

observe_numbers <- function(bandit, id, reward, constraints, time, noise_var, size, prefer, sd) {
  check_no_preference(prefer)
  if (is.data.frame(id) && is.null(reward)) {
    id <- observe_rounded(bandit, id, constraints, time, noise_var, size, sd)
    if (nrow(id) == 0) return(invisible(bandit))
  }
  of_form(bandit$config, "report")(bandit, id, reward, constraints, time, noise_var, size, sd)
}

report_responses <- function(bandit, id, reward, constraints, time, noise_var, size, sd) {
  check_no_noise(noise_var, constraints, sd)
  observe_outcomes(bandit, id, reward, size, time)
}

report_numbers <- function(bandit, id, reward, constraints, time, noise_var, size, sd) {
  if (of_form(bandit$config, "several")) {
    own <- with_constraints(bandit$config, reward, constraints, length(id), noise_var)
    return(observe_several(bandit, id, own$reward, time, own$noise_var, size, sd))
  }
  observe_measurements(bandit, id, reward, constraints, time, noise_var, size, sd)
}

# `id`: ids, or a data.frame.
observe_measurements <- function(bandit, id, reward, constraints, time, noise_var, size, sd) {
  frame <- if (is.data.frame(id)) id
  given <- list(id = id, reward = plain_reward(bandit$config, reward, length(id)), constraints = constraints,
                noise_var = noise_var, size = size, sd = sd)
  if (!is.null(frame)) given <- rewards_of_frame(bandit, frame, given)
  id <- check_ids(bandit, given$id)
  if (!is.null(frame)) check_conditions_reported(bandit, id, frame)
  reported <- check_measurements(bandit, given, length(id))
  reward <- reported$reward
  constraints <- check_constraint_values(given$constraints, bandit, length(id))
  beside <- observation_extras(length(id), reported$noise_var, reported$size, reported$spread)
  new <- check_unreported(bandit, id, reward, constraints, beside)
  if (any(new)) time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  add_notes(bandit, id[!new])
  if (!any(new)) return(invisible(bandit))
  warn_of_prior(bandit, reward[new], bandit$queries$arm[id[new]])
  record(bandit, "reward", id[new], reward[new], constraints[new, , drop = FALSE], time[new],
       lapply(beside, `[`, new))
}

# Rows of pending queries whose settings were rounded by hand. They become new points with the settings that were used,
# and the queries are withdrawn: for all such rows or for none. Returns the other rows, without those reported before.
observe_rounded <- function(bandit, data, constraints, time, noise_var, size, sd) {
  check_data_frame(data, "id")
  config <- bandit$config
  inputs <- intersect(config$domain$names, names(data))
  alone <- is.null(constraints) && length(time) <= 1 && is.null(noise_var) && is.null(size) && is.null(sd)
  if (has_numbers(config$domain) || length(inputs) == 0 || !"id" %in% names(data) || nrow(data) == 0) return(data)
  id <- check_ids(bandit, data$id)
  used <- query_frame(bandit, id)
  other <- is_rounded(bandit, id, data[inputs], used)
  rounded <- other & status_of(bandit, id) == "pending"
  again <- other & status_of(bandit, id) == "withdrawn"
  if (!any(rounded | again)) return(data)
  if (!alone) {
    stop_argument("id", "a data.frame with rounded settings, together with other arguments",
                  "a data.frame with all values in its columns")
  }
  for (name in inputs) {
    reported <- other & !is.na(data[[name]])
    used[[name]][reported] <- data[[name]][reported]
  }
  part <- function(frame, k) frame[k, , drop = FALSE]
  for (k in which(again)) again[k] <- is_reported_again(bandit, id[k], part(used, k), part(data, k))
  if (nrow(data) > 1 && any(rounded) && !is_stored(bandit)) check_all_rows(bandit, data, time)
  for (k in which(rounded)) use_settings(bandit, id[k], part(used, k), part(data, k), time)
  data[!(rounded | again), , drop = FALSE]
}

# An error in one of several rows is raised before any row changes the bandit. (A store undoes its changes.)
check_all_rows <- function(bandit, data, time) {
  rehearsal <- as.environment(bandit_copy(bandit))
  suppressWarnings(suppressMessages({
    for (k in seq_len(nrow(data))) {
      bandit_observe(rehearsal, data[k, , drop = FALSE], constraints = NULL, time = time, noise_var = NULL)
    }
  }))
}

# Was the query withdrawn in favour of this row, with the same values? (Other values are an error; no such row: FALSE.)
is_reported_again <- function(bandit, id, used, row) {
  known <- with_reward_column(bandit_history(bandit), bandit$config)
  known <- known[seq_len(nrow(known)) > id & known$status == "observed", , drop = FALSE]
  inputs <- intersect(names(used), setdiff(names(known), "id"))
  same <- rep(TRUE, nrow(known))
  for (name in inputs) {
    same <- same & agrees_with_query(bandit$config, name, rep(used[[name]], nrow(known)), known[[name]])
  }
  known <- known[same, , drop = FALSE]
  if (nrow(known) == 0) return(FALSE)
  values <- intersect(setdiff(names(row), c("id", names(used), history_columns[-1])), names(known))
  agrees <- vapply(values, function(name) known[[name]] %in% row[[name]], logical(nrow(known)))
  if (any(rowSums(!matrix(agrees, nrow(known))) == 0)) return(TRUE)
  shown <- id + ids_before(bandit)
  stop_state(sprintf("Query %.0f was recorded before, at these settings and with other values. ", shown),
             sprintf("Use `$amend()` to change the values of query %.0f.", known$id[1]), argument = "id")
}

# The reward of one query belongs to other settings: a point with these is added, and the query is withdrawn.
use_settings <- function(bandit, id, used, row, time = NULL) {
  config <- bandit$config
  domain <- config$domain
  suppressMessages(facts_found(config, used[domain$names], arg = "id"))  # (an error before anything has changed)
  own <- function(names) beside(names, given_names(config))
  several <- of_form(config, "several")
  wanted <- if (several) outcome_names(config) else "reward"
  if (!all(wanted %in% names(row))) {
    stop_argument("id", lacking_columns(row, wanted),
                  "a data.frame with all values of a row whose settings were rounded")
  }
  reward <- if (several) row[wanted] else row$reward
  g <- own(constraint_names(config, "g"))
  shown <- id + ids_before(bandit)
  names <- c("noise_var", "size", "sd", "spread")
  beside <- if (!several) lapply(stats::setNames(nm = names), function(name) row[[own(name)]])
  text <- bandit$.noted$text[match(id, bandit$.noted$id)]
  with_notes(bandit, table_size(bandit$queries) + 1, or_else(text, NA), {
    add_given(bandit, used[domain$names], NULL, reward, if (length(g)) unname(as.matrix(row[g])),
              if (length(config$context_names)) used[config$context_names], time, beside$noise_var, beside$size,
              sd = beside$sd, spread = beside$spread, find = facts_found)
  })
  bandit_withdraw(bandit, shown, FALSE)
  wording <- sprintf("Query %.0f was evaluated at %s: recorded as query %.0f, with these settings.", shown,
                   point_text(as.list(used[domain$names]), 5), all_rounds(bandit))
  tell("rounded", wording)
}

bandit_amend <- function(bandit, id, reward, size = NULL, prefer = NULL, noise_var = NULL, sd = NULL, note = NULL,
                         ...) {
  if (needs_transaction(bandit)) {
    return(amend_in(bandit, id, reward, size = size, prefer = prefer, noise_var = noise_var, sd = sd, note = note, ...))
  }
  check_dots_empty(..., allowed = c("id", "reward", "size", "prefer", "noise_var", "sd", "note"))
  if (missing(reward)) {
    if (!of_form(bandit$config, "compares")) {
      check_ids(bandit, id)
      stop_missing("reward", "the corrected result")
    }
    reward <- NULL
  }
  rows <- if (is.numeric(id)) id - ids_before(bandit) else rep(NA, length(id))
  with_notes(bandit, rows, check_note(note, length(id)), {
    of_form(bandit$config, "amend")(bandit, id, reward, size, prefer, noise_var, sd)
  })
}

check_no_preference <- function(prefer) {
  if (!is.null(prefer)) {
    stop_unused("prefer", "it is for comparisons (`rewards = rewards_preferences()`). Use `reward`")
  }
}

amend_responses <- function(bandit, id, reward, size, prefer, noise_var, sd) {
  check_no_preference(prefer)
  check_no_noise(noise_var, NULL, sd)
  amend_outcomes(bandit, id, reward, size)
}

amend_numbers <- function(bandit, id, reward, size, prefer, noise_var, sd) {
  check_no_preference(prefer)
  if (of_form(bandit$config, "several")) {
    return(amend_several(bandit, id, as_column(bandit$config, reward), size, noise_var, sd))
  }
  id <- check_ids(bandit, id)
  reward <- plain_reward(bandit$config, reward, length(id))
  reported <- check_measurements(bandit, list(reward = reward, size = size, noise_var = noise_var, sd = sd), length(id))
  check_status(bandit, id, c("observed", "lost"), "a query whose result is known")
  beside <- observation_extras(length(id), reported$noise_var, reported$size, reported$spread)
  before <- last_extras(bandit, id)
  new <- bandit$queries$reward[id] != reported$reward | !same_numbers(before$size, beside$size) |
    !same_numbers(before$spread, beside$spread) | !is.na(beside$noise_var) | is_noted(bandit, id)
  if (!any(new)) return(invisible(bandit))
  record(bandit, "amend", id[new], reported$reward[new], beside = lapply(beside, `[`, new))
}

# `failed`: TRUE if the point was evaluated without a result.
bandit_withdraw <- function(bandit, id, failed, outcome = NULL, reason = NULL, ...) {
  if (!is.null(reason)) reason <- enc2utf8(check_string(reason))
  if (needs_transaction(bandit)) return(withdraw_in(bandit, id, failed, outcome, reason, ...))
  check_dots_empty(..., allowed = c("id", "outcome", "reason"))
  of_form(bandit$config, "withdraw")(bandit, id, outcome, failed, reason)
}

withdraw_rewards <- function(bandit, id, outcome, failed, reason) {
  if (!is.null(outcome)) check_choices(outcome, outcome_names(bandit$config), "outcome")
  id <- check_ids(bandit, id)
  void <- if (failed) "failed" else "withdrawn"
  check_status(bandit, id, c("pending", void), "a pending query")
  id <- id[status_of(bandit, id) == "pending"]
  if (length(id) == 0) return(invisible(bandit))
  record(bandit, if (failed) "fail" else "withdraw", id, reason = reason)
}

# Without a reward the point is pending, for example because another process evaluates it.
bandit_add <- function(bandit, x, arm, reward, constraints, context, time, noise_var, size = NULL, sd = NULL,
                       note = NULL, ...) {
  check_dots_empty(..., allowed = c("x", "arm", "reward", "constraints", "context", "time", "noise_var", "size", "sd",
                                    "note"))
  add_given(bandit, x, arm, reward, constraints, context, time, noise_var, size, sd = sd, note = note,
            find = if (missing(reward)) found_in_space else facts_found)
}

# The points of evaluations, which may be outside the space if the bandit can use them; a message says which are. (The
# assumptions of theorems are about a space with its bounds: only bandits with default settings use points beyond them.)
facts_found <- function(config, x, arm = NULL, arg = "x") {
  domain <- config$domain
  if (!takes_outside(config)) return(find_points(domain, x, arm, arg))
  points <- points_anywhere(domain, x, arm, arg)
  if (!isTRUE(config$fresh) && any(beyond_bounds(domain, points))) return(find_points(domain, x, arm, arg))
  tell_of_outside(lies_outside(domain, points), domain, x, arg)
  points
}

beyond_bounds <- function(domain, points) {
  if (inherits(domain, "search_domain")) beyond_ranges(domain, points) else lies_outside(domain, points)
}

# (Rules and rewards that compare queries choose among the points that were played.)
takes_outside <- function(config) !trait(config$policy, "scripted") && !of_form(config, "compares")

# `x`: the points, as users give them.
tell_of_outside <- function(outside, domain, x, arg) {
  rows <- which(as.logical(outside))
  if (length(rows) == 0) return(invisible())
  several <- length(rows) > 1
  tell("outside", rows_in_message(arg, rows, length(outside)), if (several) " are" else " is",
       " outside the search space", why_outside(domain, x, rows[1], length(outside)), ": ",
       if (several) "they are" else "it is", " used for fitting but will not be suggested.")
}

# " (a + b <= 1)" or " (x = 2)" of one of `count` points.
why_outside <- function(domain, x, row, count) {
  one <- if (count == 1) x else if (length(dim(x)) == 2) x[row, , drop = FALSE] else return("")
  text <- tryCatch({
    find_points(domain, one)
    ""
  }, gpbandits_error = function(e) {
    if (grepl("`where`: ", e$allowed)) sub(".*`where`: ", "", e$allowed) else sub("[(](.*)[)]", "\\1", e$given)
  })
  if (nzchar(text) && nchar(text) <= 60) sprintf(" (%s)", text) else ""
}

found_in_space <- function(config, x, arm = NULL, arg = "x") find_points(config$domain, x, arm, arg)

found_anywhere <- function(config, x, arm = NULL, arg = "x") points_anywhere(config$domain, x, arm, arg)

# `find`: a function of the settings that finds the points. `spread`: see check_measurements(). `noted`: notes as JSON.
add_given <- function(bandit, x, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL, noise_var = NULL,
                      size = NULL, spread = NULL, sd = NULL, note = NULL, noted = NULL, find = found_in_space) {
  if (needs_transaction(bandit)) {
    return(add_in(bandit, x, arm, reward, constraints, context, time, noise_var = noise_var, size = size,
                  spread = spread, sd = sd, note = note, noted = noted, find = find))
  }
  if (!missing(reward) && is.null(reward)) stop_argument("reward", "NULL", "a number for each point, or left out")
  points <- find(bandit$config, x, arm = arm)
  count <- point_total(points)
  contexts <- contexts_for(bandit, context, count)
  # (A process may have ended after it recorded rewards, and before their scale.)
  rescale_if_due(bandit)
  given <- list(reward = if (!missing(reward)) reward, constraints = constraints, noise_var = noise_var, size = size,
                spread = spread, sd = sd)
  add_points <- if (of_form(bandit$config, "several")) add_several else add_measured
  with_notes(bandit, table_size(bandit$queries) + seq_len(count), or_else(noted, check_note(note, count)),
             add_points(bandit, points, count, contexts, given, time))
  invisible(bandit)
}

add_several <- function(bandit, points, count, contexts, given, time) {
  reported <- with_constraints(bandit$config, given$reward, given$constraints, count, given$noise_var)
  values <- if (!is.null(reported$reward)) outcome_values(bandit$config, reported$reward, count)
  own <- if (!is.null(values)) {
    outcome_noise(bandit$config, reported$noise_var, values, given$sd, given$size, given$spread)
  }
  if (count == 0) return(invisible(bandit))
  give_several(bandit, points, contexts, values, own,
               clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far"))
}

add_measured <- function(bandit, points, count, contexts, given, time) {
  config <- bandit$config
  if (is.null(given$reward)) {
    check_absent(given$constraints, "constraints", "a pending point has none before its result")
    for (name in c("noise_var", "size", "sd")) check_absent(given[[name]], name, "a pending point has no result yet")
    reported <- list(reward = rep(NA_real_, count), noise_var = NA_real_, size = NA_real_, spread = NA_real_)
    constraints <- matrix(NA_real_, count, constraint_count(config))
  } else {
    constraints <- check_constraint_values(given$constraints, bandit, count)
    given$reward <- plain_reward(config, given$reward, count)
    reported <- of_form(config, "given")(bandit, given, count)
  }
  if (count == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  if (!anyNA(reported$reward)) warn_of_prior(bandit, reported$reward, points$arm)
  kind_of(bandit)$give(bandit, points, contexts, reported$reward, constraints, time,
                       observation_extras(count, reported$noise_var, reported$size, reported$spread))
}

# $rank()
bandit_rank <- function(bandit, ids, time = NULL, ...) {
  if (missing(ids)) stop_missing("ids", "ids of queries, the best first")
  config <- bandit$config
  most <- of_form(config, "most_compared")
  if (most == 0) {
    stop_state("`$rank()` needs a bandit with `rewards = rewards_preferences()`. Use `$observe()` for other ",
               "rewards.", argument = "ids")
  }
  ids <- check_numbers(ids, "ids")
  if (length(ids) < 2 || length(ids) > most) {
    pair <- "the ids of two queries, the better first (`rewards_preferences(\"rankings\")` takes more)"
    stop_argument("ids", describe(ids),
                  if (most > 2) sprintf("the ids of 2 to %d queries, the best first", most) else pair)
  }
  bandit_observe(bandit, ids, constraints = NULL, time = time, noise_var = NULL,
                 prefer = if (most > 2) ids else ids[1], ...)
}

register_form("reward", observe = observe_numbers, report = report_numbers, amend = amend_numbers,
              withdraw = withdraw_rewards, most_compared = 0L,
              given = function(bandit, given, count) check_measurements(bandit, given, count))
register_form("outcomes", withdraw = withdraw_several)
register_form("response", report = report_responses, amend = amend_responses,
              given = function(bandit, given, count) {
                check_no_noise(given$noise_var, NULL, given$sd)
                c(check_reported_outcomes(bandit, given$reward, given$size, count),
                  list(noise_var = NA_real_, spread = NA_real_))
              })
register_form("comparison", observe = observe_comparison(observe_duel), most_compared = 2L,
              amend = function(bandit, id, reward, size, prefer, noise_var, sd) amend_duel(bandit, id, reward, prefer),
              given = function(bandit, given, count) {
                stop_unused("reward", "points are added without one, and `$observe()` compares them")
              })
register_form("ranking", observe = observe_comparison(observe_ranking), most_compared = most_ranked,
              amend = function(bandit, id, reward, size, prefer, noise_var, sd) {
                amend_ranking(bandit, id, reward, prefer)
              })
