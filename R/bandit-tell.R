# `id` may be a data.frame with columns `id` and `reward` (and `g1`.., `noise_var`).
bandit_observe <- function(bandit, id, reward, constraints, time, noise_var, size = NULL, prefer = NULL, ...) {
  plain <- !missing(id) && !missing(reward) && is.null(constraints) && is.null(time) && is.null(noise_var) &&
    is.null(size) && is.null(prefer) && ...length() == 0
  if (plain && tell_ordinary(bandit, id, reward)) return(invisible(bandit))
  if (needs_transaction(bandit)) {
    return(observe_in(bandit, id, reward, constraints, time, noise_var, size = size, prefer = prefer, ...))
  }
  check_dots_empty(..., allowed = c("id", "reward", "constraints", "time", "noise_var", "size", "prefer"))
  if (missing(id)) stop_argument("id", "missing", "the id of an earlier query")
  if (missing(reward) && !is.data.frame(id) && is.null(prefer)) stop_argument("reward", "missing",
                                                                              "a number for each id")
  if (compares_queries(bandit$config)) {
    check_no_noise(noise_var, constraints)
    check_no_size_here(size)
    told <- if (ranks_queries(bandit$config)) observe_ranking else observe_duel
    return(told(bandit, id, if (!missing(reward)) reward, prefer, time))
  }
  if (!is.null(prefer)) {
    stop_argument("prefer", describe(prefer),
                  "left out, where rewards are no comparisons (rewards_duels(), rewards_rankings())")
  }
  if (is.data.frame(id) && (missing(reward) || is.null(reward))) {
    id <- observe_rounded(bandit, id, constraints, time, noise_var, size)
    if (nrow(id) == 0) return(invisible(bandit))
  }
  if (has_likelihood(bandit$config)) {
    check_no_noise(noise_var, constraints)
    return(observe_outcomes(bandit, id, if (!missing(reward)) reward, size, time))
  }
  check_no_size_here(size)
  if (!is.null(bandit$config$outcomes)) {
    check_absent(constraints, "constraints")
    return(observe_several(bandit, id, if (!missing(reward)) reward, time, noise_var))
  }
  if (is.null(constraints) && is.null(noise_var) && constraint_count(bandit$config) == 0 &&
        !is.data.frame(id) && cpp_plain_rewards(bandit$queries, id, reward, ids_before(bandit))) {
    count <- length(id)
    id <- id - ids_before(bandit)
    time <- clock_times(bandit, time, count, query_times(bandit, id), "the time of the query")
    warn_of_prior(bandit, reward, bandit$queries$arm[id])
    return(tell(bandit, "reward", id, reward, no_columns(count), time, told_beside(count)))
  }
  if (is.data.frame(id)) {
    told <- rewards_of_frame(bandit, id, if (!missing(reward)) reward, constraints, noise_var)
  } else {
    told <- list(id = id, reward = reward, constraints = constraints, noise_var = noise_var)
  }
  frame <- if (is.data.frame(id)) id
  id <- check_ids(bandit, told$id)
  if (!is.null(frame)) check_conditions_told(bandit, id, frame)
  readings <- check_readings(bandit, told$reward, length(id))
  reward <- readings$reward
  constraints <- check_constraint_values(told$constraints, bandit, length(id))
  beside <- told_beside(length(id), check_noise_vars(told$noise_var, length(id)),
                        or_else(readings$size, NA_real_), or_else(readings$spread, NA_real_))
  new <- check_untold(bandit, id, reward, constraints, beside)
  if (!any(new)) return(invisible(bandit))
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  warn_of_prior(bandit, reward[new], bandit$queries$arm[id[new]])
  tell(bandit, "reward", id[new], reward[new], constraints[new, , drop = FALSE], time[new],
       lapply(beside, `[`, new))
}

# An event of some queries: a reward, an amendment, a withdrawal or a failure (with a `reason`). `beside`: see
# told_beside().
tell <- function(bandit, kind, id, reward = NA_real_, constraints = NULL, time = NA_real_,
                 beside = told_beside(length(id)), reason = NULL) {
  kind_of(bandit)$tell(bandit, kind, id, reward, constraints, time, beside, reason)
}

tell_core <- function(bandit, kind, id, reward, constraints, time, beside, reason) {
  # (Where there is one outcome its number says nothing.)
  if (!has_outcomes(bandit$config) && !all(is.na(beside$outcome))) beside$outcome[] <- NA_integer_
  if (is.null(constraints)) constraints <- no_columns(length(id))
  transact(bandit, function(handle) switch(kind,
    reward = cpp_bandit_observe(handle, id, reward, constraints, time, beside),
    amend = cpp_bandit_amend(handle, id, reward, beside),
    cpp_bandit_withdraw(handle, id, kind == "fail", beside$outcome)
  ), reason = reason, fields = if (!is.null(reason)) list(reasons = reasons_with(bandit, id, reason)))
  rescale_if_due(bandit, told = TRUE)
}

# What may be told beside `count` rewards, as the log has it.
told_beside <- function(count, noise_var = NA_real_, size = NA_real_, spread = NA_real_, other = NA_integer_,
                        outcome = NA_integer_) {
  if (nargs() == 1 && count == 1) return(nothing_beside)
  list(noise_var = rep_len(noise_var, count), size = rep_len(size, count), spread = rep_len(spread, count),
       other = rep_len(other, count), outcome = rep_len(as.integer(outcome), count))
}

# (Made once: see one_without.)
nothing_beside <- list(noise_var = NA_real_, size = NA_real_, spread = NA_real_, other = NA_integer_,
                       outcome = NA_integer_)

# Rewards, one each; or, of one query, several readings, which teach what their mean does with a noise that is so many
# times less. `spread`: the sum of their squares about it, which refits need.
check_readings <- function(bandit, reward, count) {
  if (count != 1 || !is.numeric(reward) || length(reward) < 2) return(list(reward = check_rewards(reward, count)))
  if (has_rule(bandit)) {
    stop_argument("reward", describe(reward), paste("one number for one id, by", rule_of(bandit)$title))
  }
  if (!is.null(bandit$config$outputs)) {
    stop_argument("reward", describe(reward), "one number for one id, where `outputs` scales rewards")
  }
  reward <- check_rewards(reward, length(reward))
  mean <- base::mean(reward)
  list(reward = mean, size = as.double(length(reward)), spread = sum((reward - mean)^2))
}

# What was told last beside the rewards of some queries.
last_beside <- function(bandit, ids) {
  tells <- table_column(bandit$events, "kind") %in% event_kind[c("reward", "given", "amend")] &
    !is.na(table_column(bandit$events, "reward"))
  events <- which(tells)
  last <- events[length(events) + 1L - match(ids, rev(table_column(bandit$events, "id")[events]))]
  lapply(stats::setNames(told_columns, told_columns), function(name) table_column(bandit$events, name)[last])
}

same_numbers <- function(a, b) (is.na(a) & is.na(b)) | (a == b) %in% TRUE

rewards_of_frame <- function(bandit, data, reward, constraints, noise_var) {
  check_data_frame(data, "id")
  ours <- function(names) beside(names, given_names(bandit$config))
  g <- ours(constraint_names(bandit$config, "g"))
  if (!is.null(reward)) {
    if (!is.null(data$reward)) stop_argument("reward", "given besides the data.frame's column", "given once")
    if ("id" %in% names(data)) data$reward <- check_rewards(reward, nrow(data))
  }
  wanted <- c("id", "reward", if (is.null(constraints)) g)
  if (!all(wanted %in% names(data))) {
    stop_argument("id", lacking_columns(data, wanted),
                  paste("ids, or a data.frame with columns", paste(wanted, collapse = ", ")))
  }
  list(id = data$id, reward = data$reward,
       constraints = if (is.null(constraints) && length(g)) unname(as.matrix(data[g])) else constraints,
       noise_var = if (is.null(noise_var)) data[[ours("noise_var")]] else noise_var)
}

# ---- settings rounded by hand ---------------------------------------------------

# So far may they be from what was suggested, of the input's range on its own scale.
rounded_by_hand <- 0.05

# Rows of pending queries whose numbers were rounded by hand become points of their own, with the settings that were
# used, in the place of these queries. The other rows are returned.
observe_rounded <- function(bandit, data, constraints, time, noise_var, size) {
  check_data_frame(data, "id")
  config <- bandit$config
  inputs <- intersect(config$domain$names, names(data))
  alone <- is.null(constraints) && is.null(time) && is.null(noise_var) && is.null(size)
  if (has_numbers(config$domain) || length(inputs) == 0 || !"id" %in% names(data) || nrow(data) == 0) return(data)
  id <- check_ids(bandit, data$id)
  used <- query_frame(bandit, id)
  rounded <- is_rounded(bandit, id, data[inputs], used) & status_of(bandit, id) == "pending"
  if (!any(rounded)) return(data)
  if (!alone) stop_argument("id", "rounded settings, with values beside the data.frame", "values in its columns")
  for (name in inputs) {
    told <- rounded & !is.na(data[[name]])
    used[[name]][told] <- data[[name]][told]
  }
  for (k in which(rounded)) use_settings(bandit, id[k], used[k, , drop = FALSE], data[k, , drop = FALSE])
  data[!rounded, , drop = FALSE]
}

# A logical per row: are its numbers near those suggested, and not the same?
is_rounded <- function(bandit, id, given, asked) {
  domain <- bandit$config$domain
  ranges <- unname(input_ranges(domain))
  near <- rep(TRUE, length(id))
  other <- !near
  for (name in names(given)) {
    values <- given[[name]]
    if (!is.atomic(values) || length(values) != length(id)) return(!near)
    agrees <- agrees_with_query(bandit$config, name, values, asked[[name]])
    j <- match(name, domain$names)
    if (is.numeric(values) && is.numeric(asked[[name]]) && diff(ranges[, j]) > 0) {
      own <- function(x) if (log_inputs(domain)[j]) suppressWarnings(log(x)) else x
      close <- abs(own(values) - own(asked[[name]])) <= rounded_by_hand * diff(ranges[, j])
      near <- near & (agrees | close %in% TRUE)
    } else {
      near <- near & agrees
    }
    other <- other | !agrees
  }
  near & other
}

# One query's reward belongs to other settings: these are added, and the query is withdrawn.
use_settings <- function(bandit, id, used, row) {
  config <- bandit$config
  domain <- config$domain
  find_places(domain, used[domain$names], arg = "id")  # (an error before anything has changed)
  ours <- function(names) beside(names, given_names(config))
  wanted <- if (is.null(config$outcomes)) "reward" else outcome_names(config)
  if (!all(wanted %in% names(row))) {
    stop_argument("id", lacking_columns(row, wanted), "all values of a row whose settings were rounded")
  }
  reward <- if (is.null(config$outcomes)) row$reward else row[wanted]
  g <- ours(constraint_names(config, "g"))
  shown <- id + ids_before(bandit)
  add_given(bandit, used[domain$names], NULL, reward, if (length(g)) unname(as.matrix(row[g])),
            if (length(config$context_names)) used[config$context_names], NULL,
            if (is.null(config$outcomes)) row[[ours("noise_var")]], if (has_likelihood(config)) row$size)
  bandit_withdraw(bandit, shown, FALSE)
  words <- sprintf("Query %.0f was evaluated at %s: recorded as query %.0f, with these settings.\n", shown,
                   point_words(as.list(used[domain$names]), 5), all_rounds(bandit))
  message(structure(class = c("gpbandits_rounded", "gpbandits_message", "message", "condition"),
                    list(message = words, call = NULL)))
}

# Arms, inputs and contexts that stand beside a reward must be those of its query: what was tried elsewhere teaches
# nothing about it. (NA, and columns that are not there, say nothing.)
check_conditions_told <- function(bandit, id, data) {
  queries <- query_frame(bandit, id)
  for (name in intersect(setdiff(names(queries), "id"), names(data))) {
    if (!is.atomic(data[[name]]) || length(data[[name]]) != length(id)) {
      stop_argument("id", sprintf("a data.frame with %s in the column %s", describe(data[[name]]), name),
                    "a data.frame with a value per row in each column")
    }
    agrees <- agrees_with_query(bandit$config, name, data[[name]], queries[[name]])
    if (all(agrees)) next
    bad <- which(!agrees)[1]
    stop_argument("id", sprintf("a data.frame with %s = %s for query %g, which was asked at %s", name,
                                told_words(data[[name]][bad]), id[bad] + ids_before(bandit),
                                told_words(queries[[name]][bad])),
                  paste("a data.frame whose inputs, arms and contexts are those of its queries (what was tried",
                        "elsewhere is told by `$add()`, and the query given up by `$withdraw()`)"))
  }
}

told_words <- function(value) {
  if (is.numeric(value) && !is.na(value)) exact_words(unname(value)) else readable(as.character(value))
}

# A logical per row. Numbers agree as arms do: up to 1e-8 of the input's range, on its own scale.
agrees_with_query <- function(config, name, given, asked) {
  if (is.factor(given)) given <- factor_text(given, name)
  if (is.character(given)) given <- as_text(given)
  silent <- is.na(given)
  if (is.logical(asked)) given <- as.logical(given)
  if (name == "arm") {
    agrees <- !silent
    agrees[!silent] <- check_arms(given[!silent], config$domain, "arm") == asked[!silent] - 1L
  } else if (is.numeric(asked) && is.numeric(given)) {
    agrees <- abs(given - asked) <= 1e-8 * condition_scale(config, name, given, asked)
  } else {
    agrees <- level_words(given) == level_words(asked)
  }
  silent | agrees %in% TRUE
}

# What differences of an input are measured in: its range; where it is logarithmic, or has none, its size.
condition_scale <- function(config, name, given, asked) {
  domain <- config$domain
  j <- match(name, domain$names)
  size <- pmax(abs(given), abs(asked))
  if (!is.na(j) && log_inputs(domain)[j]) return(size)
  known <- if (!is.na(j)) input_ranges(domain)[, j] else if (!is.null(config$contexts)) config$contexts[, name]
  if (length(unique(known)) > 1) diff(range(known)) else size
}

check_rewards <- function(reward, count) {
  check_numbers(reward, "reward", lengths = count, lower = -largest_number, upper = largest_number)
}

# Ids of distinct queries; returned are the rows that the log has them in.
check_ids <- function(bandit, id) {
  id <- check_numbers(id, "id")
  rounds <- all_rounds(bandit)
  bad <- id != round(id) | id < 1 | id > rounds
  if (any(bad)) {
    stop_argument("id", sprintf("%g", id[bad][1]),
                  paste("the id of an earlier query",
                        if (rounds) sprintf("(1 to %d)", rounds) else "(there is none yet)"))
  }
  if (length(id) > 1 && anyDuplicated(id)) {
    stop_argument("id", sprintf("%g twice", id[anyDuplicated(id)]), "distinct ids")
  }
  forgotten <- forgotten_of(bandit)
  gone <- id <= forgotten$rounds
  if (any(gone)) {
    stop_argument("id", sprintf("%.0f, which was forgotten", id[gone][1]),
                  sprintf("the id of a query after %d (compact_log(keep = ) has forgotten the others)",
                          forgotten$rounds))
  }
  id - forgotten$before
}

# Which of the rewards are news: the same value again changes nothing, another one is refused. (What was given up as
# failed may have a result after all.)
check_untold <- function(bandit, id, reward, constraints, beside = NULL) {
  check_status(bandit, id, c("pending", "failed", "known", "lost"),
               "a pending query (`$add()` tells what came of another)")
  told <- !status_of(bandit, id) %in% c("pending", "failed")
  same <- bandit$queries$reward[id] == reward
  for (j in seq_len(ncol(constraints))) {
    same <- same & get(paste0("g", j), envir = bandit$queries)[id] == constraints[, j]
  }
  if (any(told) && !is.null(beside)) same <- same & same_numbers(last_beside(bandit, id)$size, beside$size)
  other <- which(told & !same)
  if (length(other)) {
    stop_argument("id", sprintf("%.0f, whose reward is already known (to be %s; `$amend()` changes it)",
                                id[other[1]] + ids_before(bandit),
                                format(bandit$queries$reward[id[other[1]]])),
                  "the id of a pending query")
  }
  !told
}

status_of <- function(bandit, id) status_names[bandit$queries$status[id]]

check_status <- function(bandit, id, allowed, words) {
  status <- status_of(bandit, id)
  bad <- !status %in% allowed
  if (any(bad)) {
    stop_argument("id", sprintf("%.0f, which is %s", id[bad][1] + ids_before(bandit), status[bad][1]),
                  paste("the id of", words))
  }
}

check_no_size_here <- function(size) {
  if (!is.null(size)) stop_argument("size", describe(size), "left out, where rewards are readings of f")
}

# One per reward, NA for the bandit's own.
check_noise_vars <- function(noise_var, count, arg = "noise_var") {
  if (is.null(noise_var)) return(rep(NA_real_, count))
  # (NA alone is no number, and says that nothing is known.)
  numbers <- is_number(noise_var) || (is.logical(noise_var) && !is.object(noise_var) && all(is.na(noise_var)))
  if (!numbers || !length(noise_var) %in% c(1, count)) {
    stop_argument(arg, describe(noise_var),
                  sprintf("NULL, one number > 0, or one for each of %d reward(s)", count))
  }
  own <- check_numbers(as.double(noise_var), arg, lower = 0, open_lower = TRUE, upper = largest_number, na = TRUE)
  rep_len(own, count)
}

bandit_amend <- function(bandit, id, reward, size = NULL, prefer = NULL, ...) {
  if (needs_transaction(bandit)) return(amend_in(bandit, id, reward, size = size, prefer = prefer, ...))
  check_dots_empty(..., allowed = c("id", "reward", "size", "prefer"))
  if (compares_queries(bandit$config)) {
    amended <- if (ranks_queries(bandit$config)) amend_ranking else amend_duel
    return(amended(bandit, id, if (!missing(reward)) reward, prefer))
  }
  if (missing(reward)) {
    check_ids(bandit, id)
    stop_argument("reward", "missing", "the corrected reward")
  }
  if (!is.null(prefer)) {
    stop_argument("prefer", describe(prefer),
                  "left out, where rewards are no comparisons (rewards_duels(), rewards_rankings())")
  }
  if (has_likelihood(bandit$config)) return(amend_outcomes(bandit, id, reward, size))
  check_no_size_here(size)
  if (!is.null(bandit$config$outcomes)) return(amend_several(bandit, id, reward))
  id <- check_ids(bandit, id)
  readings <- check_readings(bandit, reward, length(id))
  reward <- readings$reward
  check_status(bandit, id, c("known", "lost"), "a query whose reward is known")
  beside <- told_beside(length(id), size = or_else(readings$size, NA_real_),
                        spread = or_else(readings$spread, NA_real_))
  before <- last_beside(bandit, id)
  new <- bandit$queries$reward[id] != reward | !same_numbers(before$size, beside$size) |
    !same_numbers(before$spread, beside$spread)
  if (!any(new)) return(invisible(bandit))
  tell(bandit, "amend", id[new], reward[new], beside = lapply(beside, `[`, new))
}

# `failed`: it was tried.
bandit_withdraw <- function(bandit, id, failed, outcome = NULL, reason = NULL, ...) {
  reason <- check_reason(reason)
  if (needs_transaction(bandit)) return(withdraw_in(bandit, id, failed, outcome, reason, ...))
  check_dots_empty(..., allowed = c("id", "outcome", "reason"))
  if (has_outcomes(bandit$config)) return(withdraw_several(bandit, id, outcome, failed, reason))
  if (!is.null(outcome)) check_choices(outcome, outcome_names(bandit$config), "outcome")
  id <- check_ids(bandit, id)
  void <- if (failed) "failed" else "withdrawn"
  check_status(bandit, id, c("pending", void), "a pending query")
  id <- id[status_of(bandit, id) == "pending"]
  if (length(id) == 0) return(invisible(bandit))
  tell(bandit, if (failed) "fail" else "withdraw", id, reason = reason)
}

# Without a reward the point is pending: somebody else is trying it.
bandit_add <- function(bandit, x, arm, reward, constraints, context, time, noise_var, size = NULL, ...) {
  check_dots_empty(..., allowed = c("x", "arm", "reward", "constraints", "context", "time", "noise_var", "size"))
  add_given(bandit, x, arm, reward, constraints, context, time, noise_var, size)
}

# `find`: which places there are; `readings`: the sizes and spreads of rewards that are means of readings.
add_given <- function(bandit, x, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL, noise_var = NULL,
                      size = NULL, readings = NULL, find = find_places) {
  if (needs_transaction(bandit)) {
    return(add_in(bandit, x, arm, reward, constraints, context, time, noise_var, size, readings, find))
  }
  places <- find(bandit$config$domain, x, arm = arm)
  count <- place_total(places)
  contexts <- contexts_for(bandit, context, count)
  if (!is.null(bandit$config$outcomes)) {
    check_absent(constraints, "constraints")
    values <- if (!missing(reward) && !is.null(reward)) outcome_values(bandit$config, reward, count)
    own <- if (!is.null(values)) outcome_noise(bandit$config, noise_var, values)
    if (count == 0) return(invisible(bandit))
    return(give_several(bandit, places, contexts, values, own,
                         clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")))
  }
  if (missing(reward)) {
    check_absent(constraints, "constraints")
    reward <- rep(NA_real_, count)
    constraints <- matrix(NA_real_, count, constraint_count(bandit$config))
  } else {
    constraints <- check_constraint_values(constraints, bandit, count)
    if (compares_queries(bandit$config)) {
      stop_argument("reward", describe(reward), "left out: what was added is compared by `$observe()`")
    }
    if (has_likelihood(bandit$config)) {
      told <- check_told_outcomes(bandit, reward, size, count)
      reward <- told$reward
      size <- told$size
    } else {
      reward <- check_rewards(reward, count)
    }
  }
  if (has_likelihood(bandit$config)) check_no_noise(noise_var, NULL) else check_no_size_here(size)
  beside <- told_beside(count, check_noise_vars(noise_var, count), or_else(or_else(size, readings$size), NA_real_),
                        or_else(readings$spread, NA_real_))
  if (count == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  if (!anyNA(reward)) warn_of_prior(bandit, reward, places$arm)
  kind_of(bandit)$give(bandit, places, contexts, reward, constraints, time, beside)
}

give_core <- function(bandit, places, contexts, reward, constraints, time, beside) {
  given <- places_in_log(bandit$config, places, contexts)
  transact(bandit, function(handle) cpp_bandit_give(handle, given, contexts, reward, constraints, time, beside))
  rescale_if_due(bandit, told = TRUE)
}

register_bandit_kind("core", tell = tell_core, give = give_core)
