# `$observe()`, `$add()`, `$amend()`, `$withdraw()`, `$fail()`, `$rank()`. Layer: bandit.

# The core records valid rewards at once; other cases are handled here, or are errors with an explanation.
bandit_observe <- function(bandit, id, reward, constraints, time, noise_var, size = NULL, prefer = NULL, ...) {
  if (needs_transaction(bandit)) {
    return(observe_in(bandit, id, reward, constraints, time, noise_var, size = size, prefer = prefer, ...))
  }
  if (...length()) {
    check_dots_empty(..., allowed = c("id", "reward", "constraints", "time", "noise_var", "size", "prefer"))
  }
  if (missing(id)) stop_missing("id", "the id of an earlier query, as `$suggest()` returned it")
  if (missing(reward)) {
    if (!is.data.frame(id) && is.null(prefer)) stop_missing("reward", "a number for each id")
    reward <- NULL
  }
  if (is.null(size) && is.null(prefer) &&
        record_rewards(bandit, id, reward, constraints, time, noise_var, at_the_edge)) return(invisible(bandit))
  of_form(bandit$config, "observe")(bandit, id, reward, constraints, time, noise_var, size, prefer)
}

# `report`: observe_ranking() or observe_duel().
observe_comparison <- function(report) {
  function(bandit, id, reward, constraints, time, noise_var, size, prefer) {
    check_no_noise(noise_var, constraints)
    check_no_size_here(size)
    report(bandit, id, reward, prefer, time)
  }
}

observe_numbers <- function(bandit, id, reward, constraints, time, noise_var, size, prefer) {
  check_no_preference(prefer)
  if (is.data.frame(id) && is.null(reward)) {
    id <- observe_rounded(bandit, id, constraints, time, noise_var, size)
    if (nrow(id) == 0) return(invisible(bandit))
  }
  of_form(bandit$config, "report")(bandit, id, reward, constraints, time, noise_var, size)
}

report_responses <- function(bandit, id, reward, constraints, time, noise_var, size) {
  check_no_noise(noise_var, constraints)
  observe_outcomes(bandit, id, reward, size, time)
}

report_numbers <- function(bandit, id, reward, constraints, time, noise_var, size) {
  check_no_size_here(size)
  if (!is.null(bandit$config$outcomes)) {
    own <- with_constraints(bandit$config, reward, constraints, length(id), noise_var)
    return(observe_several(bandit, id, own$reward, time, own$noise_var))
  }
  observe_measurements(bandit, id, reward, constraints, time, noise_var)
}

# `id`: ids, or a data.frame.
observe_measurements <- function(bandit, id, reward, constraints, time, noise_var) {
  reported <- if (is.data.frame(id)) rewards_of_frame(bandit, id, reward, constraints, noise_var)
          else list(id = id, reward = reward, constraints = constraints, noise_var = noise_var)
  frame <- if (is.data.frame(id)) id
  id <- check_ids(bandit, reported$id)
  if (!is.null(frame)) check_conditions_reported(bandit, id, frame)
  measurements <- check_measurements(bandit, reported$reward, length(id))
  reward <- measurements$reward
  constraints <- check_constraint_values(reported$constraints, bandit, length(id))
  beside <- observation_extras(length(id), check_noise_vars(reported$noise_var, length(id)),
                        or_else(measurements$size, NA_real_), or_else(measurements$spread, NA_real_))
  new <- check_unreported(bandit, id, reward, constraints, beside)
  if (!any(new)) return(invisible(bandit))
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  warn_of_prior(bandit, reward[new], bandit$queries$arm[id[new]])
  record(bandit, "reward", id[new], reward[new], constraints[new, , drop = FALSE], time[new],
       lapply(beside, `[`, new))
}

# Rows of pending queries whose settings were rounded by hand. They become new points with the settings that were used,
# and the queries are withdrawn: for all such rows or for none. Returns the other rows, without those reported before.
observe_rounded <- function(bandit, data, constraints, time, noise_var, size) {
  check_data_frame(data, "id")
  config <- bandit$config
  inputs <- intersect(config$domain$names, names(data))
  alone <- is.null(constraints) && length(time) <= 1 && is.null(noise_var) && is.null(size)
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
  known <- bandit_history(bandit)
  known <- known[seq_len(nrow(known)) > id & known$status == "observed", , drop = FALSE]
  inputs <- intersect(names(used), setdiff(names(known), "id"))
  same <- rep(TRUE, nrow(known))
  for (name in inputs) {
    same <- same & agrees_with_query(bandit$config, name, rep(used[[name]], nrow(known)), known[[name]])
  }
  known <- known[same, , drop = FALSE]
  if (nrow(known) == 0) return(FALSE)
  values <- intersect(setdiff(names(row), c("id", names(used))), names(known))
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
  find_points(domain, used[domain$names], arg = "id")  # (an error before anything has changed)
  ours <- function(names) beside(names, given_names(config))
  wanted <- if (is.null(config$outcomes)) "reward" else outcome_names(config)
  if (!all(wanted %in% names(row))) {
    stop_argument("id", lacking_columns(row, wanted),
                  "a data.frame with all values of a row whose settings were rounded")
  }
  reward <- if (is.null(config$outcomes)) row$reward else row[wanted]
  g <- ours(constraint_names(config, "g"))
  shown <- id + ids_before(bandit)
  add_given(bandit, used[domain$names], NULL, reward, if (length(g)) unname(as.matrix(row[g])),
            if (length(config$context_names)) used[config$context_names], time,
            if (is.null(config$outcomes)) row[[ours("noise_var")]], if (!of_form(config, "gaussian")) row$size)
  bandit_withdraw(bandit, shown, FALSE)
  words <- sprintf("Query %.0f was evaluated at %s: recorded as query %.0f, with these settings.\n", shown,
                   point_words(as.list(used[domain$names]), 5), all_rounds(bandit))
  message(structure(class = c("gpbandits_rounded", "gpbandits_message", "message", "condition"),
                    list(message = words, call = NULL)))
}

bandit_amend <- function(bandit, id, reward, size = NULL, prefer = NULL, ...) {
  if (needs_transaction(bandit)) return(amend_in(bandit, id, reward, size = size, prefer = prefer, ...))
  check_dots_empty(..., allowed = c("id", "reward", "size", "prefer"))
  if (missing(reward)) {
    if (!of_form(bandit$config, "compares")) {
      check_ids(bandit, id)
      stop_missing("reward", "the corrected reward")
    }
    reward <- NULL
  }
  of_form(bandit$config, "amend")(bandit, id, reward, size, prefer)
}

check_no_preference <- function(prefer) {
  if (!is.null(prefer)) {
    stop_unused("prefer", "it is for comparisons (`rewards = rewards_preferences()`). Use `reward`")
  }
}

amend_responses <- function(bandit, id, reward, size, prefer) {
  check_no_preference(prefer)
  amend_outcomes(bandit, id, reward, size)
}

amend_numbers <- function(bandit, id, reward, size, prefer) {
  check_no_preference(prefer)
  check_no_size_here(size)
  if (!is.null(bandit$config$outcomes)) {
    return(amend_several(bandit, id, as_column(bandit$config, reward)))
  }
  id <- check_ids(bandit, id)
  measurements <- check_measurements(bandit, reward, length(id))
  reward <- measurements$reward
  check_status(bandit, id, c("observed", "lost"), "a query whose reward is known")
  beside <- observation_extras(length(id), size = or_else(measurements$size, NA_real_),
                        spread = or_else(measurements$spread, NA_real_))
  before <- last_beside(bandit, id)
  new <- bandit$queries$reward[id] != reward | !same_numbers(before$size, beside$size) |
    !same_numbers(before$spread, beside$spread)
  if (!any(new)) return(invisible(bandit))
  record(bandit, "amend", id[new], reward[new], beside = lapply(beside, `[`, new))
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
bandit_add <- function(bandit, x, arm, reward, constraints, context, time, noise_var, size = NULL, ...) {
  check_dots_empty(..., allowed = c("x", "arm", "reward", "constraints", "context", "time", "noise_var", "size"))
  add_given(bandit, x, arm, reward, constraints, context, time, noise_var, size)
}

# `find`: a function that finds the points; `measurements`: the sizes and spreads of rewards that are means of
# replicates.
add_given <- function(bandit, x, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL, noise_var = NULL,
                      size = NULL, measurements = NULL, find = find_points) {
  if (needs_transaction(bandit)) {
    return(add_in(bandit, x, arm, reward, constraints, context, time, noise_var, size, measurements, find))
  }
  points <- find(bandit$config$domain, x, arm = arm)
  count <- point_total(points)
  contexts <- contexts_for(bandit, context, count)
  if (!is.null(bandit$config$outcomes)) {
    reported <- with_constraints(bandit$config, if (!missing(reward)) reward, constraints, count, noise_var)
    values <- if (!is.null(reported$reward)) outcome_values(bandit$config, reported$reward, count)
    own <- if (!is.null(values)) outcome_noise(bandit$config, reported$noise_var, values)
    if (count == 0) return(invisible(bandit))
    return(give_several(bandit, points, contexts, values, own,
                         clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")))
  }
  if (missing(reward)) {
    check_absent(constraints, "constraints", "a pending point has none before its reward")
    reward <- rep(NA_real_, count)
    constraints <- matrix(NA_real_, count, constraint_count(bandit$config))
  } else {
    constraints <- check_constraint_values(constraints, bandit, count)
    reported <- of_form(bandit$config, "given")(bandit, reward, size, count)
    reward <- reported$reward
    size <- reported$size
  }
  of_form(bandit$config, "check_extras")(noise_var, size)
  beside <- observation_extras(count, check_noise_vars(noise_var, count),
                               or_else(or_else(size, measurements$size), NA_real_),
                        or_else(measurements$spread, NA_real_))
  if (count == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  if (!anyNA(reward)) warn_of_prior(bandit, reward, points$arm)
  kind_of(bandit)$give(bandit, points, contexts, reward, constraints, time, beside)
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
              given = function(bandit, reward, size, count) list(reward = check_rewards(reward, count), size = size),
              check_extras = function(noise_var, size) check_no_size_here(size))
register_form("outcomes", withdraw = withdraw_several)
register_form("response", report = report_responses, amend = amend_responses,
              given = check_reported_outcomes,
              check_extras = function(noise_var, size) check_no_noise(noise_var, NULL))
register_form("comparison", observe = observe_comparison(observe_duel), most_compared = 2L,
              amend = function(bandit, id, reward, size, prefer) amend_duel(bandit, id, reward, prefer),
              given = function(bandit, reward, size, count) {
                stop_unused("reward", "points are added without one, and `$observe()` compares them")
              })
register_form("ranking", observe = observe_comparison(observe_ranking), most_compared = most_ranked,
              amend = function(bandit, id, reward, size, prefer) amend_ranking(bandit, id, reward, prefer))
