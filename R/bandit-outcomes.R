# What a bandit with several outcomes is told, and what it answers.

# ---- values --------------------------------------------------------------------------------

# Values of some queries' outcomes as a data.frame gives them (a column per outcome), a named vector (one query), or
# numbers where there is one outcome: a matrix, a row per query and a column per outcome, NA for what is not known yet.
outcome_values <- function(config, values, count, arg = "reward") {
  names <- outcome_names(config)
  allowed <- sprintf("%s: %s", if (count == 1) "a number for some of the outcomes, by name"
                     else sprintf("a data.frame of %d rows with a column for some of the outcomes", count),
                     paste(names, collapse = ", "))
  if (is.data.frame(values)) check_data_frame(values, arg)
  if (is.data.frame(values) || is.list(values) && !is.object(values)) {
    given <- as.list(values)
  } else if (is.matrix(values)) {
    given <- if (!is.null(colnames(values))) stats::setNames(lapply(seq_len(ncol(values)), function(j) values[, j]),
                                                             colnames(values))
  } else if (count == 1 && is.atomic(values) && !is.null(names(values))) {
    given <- as.list(values)
  } else {
    given <- if (length(names) == 1) stats::setNames(list(values), names)
  }
  strange <- setdiff(names(given), c(names, ""))
  if (length(strange)) {
    quoted_names <- dQuote(readable(utils::head(strange, 4)), FALSE)
    stop_argument(arg, paste("one with", paste(quoted_names, collapse = ", ")), allowed)
  }
  known <- length(given) > 0 && !is.null(names(given)) && all(names(given) %in% names) && !anyDuplicated(names(given))
  if (!known) stop_argument(arg, describe(values), allowed)
  out <- matrix(NA_real_, count, length(names), dimnames = list(NULL, names))
  for (name in names(given)) out[, name] <- outcome_column(given[[name]], name, count, arg)
  out
}

outcome_column <- function(values, name, count, arg) {
  where <- sprintf("%s$%s", arg, name)
  known <- !is.na(values)
  if (length(values) != count || !(is_number(values) || is.logical(values) && !any(known))) {
    stop_argument(where, describe(values), sprintf("%d number(s), NA for what is not known yet", count))
  }
  values <- as.double(values)
  values[known] <- check_numbers(values[known], where, lower = -largest_number, upper = largest_number)
  values
}

# Noise variances likewise, of the values that are told.
outcome_noise <- function(config, noise_var, values) {
  if (is.null(noise_var)) return(array(NA_real_, dim(values)))
  told <- colSums(!is.na(values)) > 0
  if (is_number(noise_var) && is.null(names(noise_var)) && length(noise_var) == 1 && sum(told) == 1) {
    noise_var <- stats::setNames(list(rep(noise_var, nrow(values))), colnames(values)[told])
  }
  own <- outcome_values(config, noise_var, nrow(values), "noise_var")
  if (any(own <= 0, na.rm = TRUE)) stop_argument("noise_var", "a number that is not > 0",
                                                 "numbers > 0, NA for the outcome's own")
  own[is.na(values)] <- NA_real_
  own
}

# `id`: ids with `reward`, or a data.frame with the outcomes' columns.
observe_several <- function(bandit, id, reward, time, noise_var) {
  config <- bandit$config
  if (is.data.frame(id)) {
    check_data_frame(id, "id")
    if (!is.null(reward)) stop_argument("reward", "given besides a data.frame",
                                        "columns of the data.frame, one per outcome")
    frame <- id
    columns <- intersect(names(frame), outcome_names(config))
    if (!"id" %in% names(frame) || length(columns) == 0) {
      stop_argument("id", lacking_columns(frame, if ("id" %in% names(frame)) outcome_names(config) else "id"),
                    paste("ids, or a data.frame with id and some of the columns",
                          paste(outcome_names(config), collapse = ", ")))
    }
    if ("reward" %in% names(frame) && !"reward" %in% columns) {
      stop_argument("reward", "a column beside those of outcomes",
                    paste("a column for each outcome:", paste(outcome_names(config), collapse = ", ")))
    }
    id <- check_ids(bandit, frame$id)
    check_conditions_told(bandit, id, frame[setdiff(names(frame), columns)])
    values <- outcome_values(config, frame[columns], length(id))
  } else {
    id <- check_ids(bandit, id)
    values <- outcome_values(config, reward, length(id))
  }
  own <- outcome_noise(config, noise_var, values)
  new <- untold_outcomes(bandit, id, values)
  if (nrow(new) == 0) return(invisible(bandit))
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  tell(bandit, "reward", id[new[, 1]], values[new], time = time[new[, 1]],
       beside = told_beside(nrow(new), own[new], outcome = new[, 2]))
}

# Which of the values are news, a row each (query, outcome), query by query: the same value again changes nothing,
# another one is refused.
untold_outcomes <- function(bandit, id, values) {
  cells <- outcome_cells(bandit, id)
  given <- which(!is.na(t(values)), arr.ind = TRUE)[, 2:1, drop = FALSE]
  status <- cells[given]
  had <- logged_values(bandit, id)[given]
  refuse <- function(k, what, allowed) {
    stop_argument("id", sprintf("%g, whose %s is %s", id[given[k, 1]], outcome_names(bandit$config)[given[k, 2]], what),
                  allowed)
  }
  withdrawn <- which(status == "withdrawn")
  if (length(withdrawn)) refuse(withdrawn[1], "withdrawn",
                                "a query that awaits it (`$add()` tells what came of another)")
  told <- status %in% c("known", "lost")
  other <- which(told & had != values[given])
  if (length(other)) {
    refuse(other[1], sprintf("already known (to be %s; `$amend()` changes it)", format(had[other[1]])),
           "the id of a query that awaits it")
  }
  given[!told, , drop = FALSE]
}

# What has become of each outcome of some queries: a matrix of status_names.
outcome_cells <- function(bandit, id) {
  heal(bandit)
  cells <- cpp_bandit_cells(bandit$handle, as.integer(id))
  matrix(status_names[cells], nrow(cells), ncol(cells))
}

logged_values <- function(bandit, id) {
  columns <- value_columns(bandit$config)
  matrix(unlist(lapply(columns, function(name) get(name, envir = bandit$queries)[id])), length(id), length(columns))
}

amend_several <- function(bandit, id, reward) {
  id <- check_ids(bandit, id)
  values <- outcome_values(bandit$config, reward, length(id))
  cells <- outcome_cells(bandit, id)
  given <- which(!is.na(values), arr.ind = TRUE)
  unknown <- which(!cells[given] %in% c("known", "lost"))
  if (length(unknown)) {
    at <- given[unknown[1], ]
    stop_argument("id",
                  sprintf("%g, whose %s is %s", id[at[1]], outcome_names(bandit$config)[at[2]], cells[at[1], at[2]]),
                  "the id of a query whose outcome is known")
  }
  new <- given[values[given] != logged_values(bandit, id)[given], , drop = FALSE]
  if (nrow(new) == 0) return(invisible(bandit))
  tell(bandit, "amend", id[new[, 1]], values[new], beside = told_beside(nrow(new), outcome = new[, 2]))
}

# `outcome`: names of some, NULL for all that are awaited.
withdraw_several <- function(bandit, id, outcome, failed, reason = NULL) {
  id <- check_ids(bandit, id)
  names <- outcome_names(bandit$config)
  cells <- outcome_cells(bandit, id)
  if (is.null(outcome)) {
    settled <- rowSums(cells == "pending") == 0
    if (any(settled)) stop_argument("id", sprintf("%g, of which nothing is awaited", id[settled][1]),
                                    "the id of a query that awaits an outcome")
    return(tell(bandit, if (failed) "fail" else "withdraw", id, reason = reason))
  }
  outcome <- check_choices(outcome, names, "outcome")
  for (k in match(outcome, names)) {
    settled <- cells[, k] != "pending"
    if (any(settled)) stop_argument("id", sprintf("%g, whose %s is %s", id[settled][1], names[k], cells[settled, k][1]),
                                    "the id of a query that awaits it")
  }
  tell(bandit, if (failed) "fail" else "withdraw", rep(id, length(outcome)),
       beside = told_beside(length(id) * length(outcome), outcome = rep(match(outcome, names), each = length(id))),
       reason = reason)
}

check_choices <- function(x, choices, arg) {
  if (!is.character(x) || is.object(x) || length(x) == 0 || !all(x %in% choices) || anyDuplicated(x)) {
    stop_argument(arg, describe(x), paste("NULL, or some of", paste(dQuote(choices, FALSE), collapse = ", ")))
  }
  x
}

# Given points, whose outcomes may be known in part.
give_several <- function(bandit, places, contexts, values, own, time) {
  given <- places_in_log(bandit$config, places, contexts)
  count <- place_total(places)
  first <- table_size(bandit$queries)
  nothing <- matrix(0, count, 0)
  told <- if (is.null(values)) matrix(0L, 0, 2) else which(!is.na(t(values)), arr.ind = TRUE)[, 2:1, drop = FALSE]
  transact(bandit, function(handle) {
    cpp_bandit_give(handle, given, contexts, rep(NA_real_, count), nothing, time, told_beside(count))
    if (nrow(told)) {
      cpp_bandit_observe(handle, as.integer(first + told[, 1]), values[told], matrix(0, nrow(told), 0),
                         rep(time, nrow(told)),
                         told_beside(nrow(told), own[told], outcome = told[, 2]))
    }
  })
  rescale_if_due(bandit, told = TRUE)
}

# ---- answers -------------------------------------------------------------------------------

# Means and sds of all outcomes in the model's units, a column each.
scaled_outcomes_at <- function(bandit, places, context) {
  config <- bandit$config
  count <- place_total(places)
  none <- matrix(0, count, outcome_count(config))
  if (count == 0) return(list(mean = none, sd = none))
  seen <- contexts_of_places(bandit, context, count)
  if (is_tabulated_space(config) &&
      !anyNA(places$arm)) return(core(cpp_bandit_arm_outcomes(bandit$handle, places$arm, seen$row)))
  strangers <- has_numbers(config$domain) && anyNA(places$arm)
  if (strangers && any(vapply(config$outcomes, function(one) has_matrix(one$kernel) || length(unique(one$mean)) > 1,
                              NA))) {
    stop_argument("x", "a point that is no arm",
                  "arms only, where a kernel is given as a matrix or a prior mean differs by arm")
  }
  core(cpp_bandit_predict_outcomes(bandit$handle, kernel_points(config$domain, places, seen$values)))
}

# A data.frame of `NAME_mean`, `NAME_sd` and `feasible`, in the user's units.
outcomes_at <- function(bandit, places, context) {
  scaled <- scaled_outcomes_at(bandit, places, context)
  config <- current_config(bandit)
  names <- outcome_names(config)
  columns <- list()
  for (k in seq_along(names)) {
    one <- in_user_units(data.frame(mean = scaled$mean[, k], sd = scaled$sd[, k]), outcome_config(config, k))
    columns[[paste0(names[k], "_mean")]] <- one$mean
    columns[[paste0(names[k], "_sd")]] <- one$sd
  }
  columns$feasible <- feasibility(config, scaled)
  cpp_frame(columns)
}

# The probability that all limits hold; 1 without limits, NA where a limited outcome has not been seen.
feasibility <- function(config, scaled) {
  roles <- outcome_roles(config)
  limited <- which(vapply(roles, is_limited, NA))
  seen <- lapply(limited, function(k) core_role(roles[[k]], outcome_config(config, k)))
  unknown <- !vapply(limited, function(k) is_level_known(outcome_config(config, k)), NA)
  if (any(unknown)) return(rep(NA_real_, nrow(scaled$mean)))
  exp(cpp_log_feasible(scaled$mean[, limited, drop = FALSE], scaled$sd[, limited, drop = FALSE],
                       vapply(seen, `[[`, 0, "lower"), vapply(seen, `[[`, 0, "upper")))
}

check_probability <- function(feasible) check_number(feasible, "feasible", lower = 0, upper = 1, open_lower = TRUE,
                                                     open_upper = TRUE)

# The recommended place of a bandit with several outcomes.
best_of_outcomes <- function(bandit, contexts, context, feasible, weights, fixed) {
  config <- bandit$config
  wanted <- objectives(config)
  if (!is.null(weights)) return(best_of_front(bandit, context, feasible, weights))
  if (length(wanted) > 1) {
    stop_gpbandits("This bandit has several objectives (", paste(wanted, collapse = ", "),
                   "): no place is the best. `$front()` has those that no other beats; ",
                   "`$best(weights = )` weighs them.", argument = "weights")
  }
  found <- core(cpp_bandit_best(bandit$handle, contexts, feasible))
  if (is_beside_failure(bandit, found, contexts, fixed)) {
    found <- best_that_succeeded(bandit, contexts, context, feasible)
  }
  frame <- place_frame(bandit, found$arm, contexts$row, found$inputs)
  out <- cbind(frame, outcomes_at(bandit, places_found(config, found),
                                  if (length(config$context_names)) frame[config$context_names]))
  if (!is_level_known(current_config(bandit))) return(out[0, ])
  if (!trait(config$policy, "safe")) warn_infeasible(out$feasible, feasible)
  out
}

warn_infeasible <- function(found, wanted) {
  if (is.na(found) || found >= wanted - 1e-6) return(invisible())
  warning(structure(class = c("gpbandits_infeasible", "gpbandits_warning", "warning", "condition"),
                    list(message = paste0("No place is known where the limits hold with probability ", format(wanted),
                                          ": this is the most probable (", format(found, digits = 3), ")."),
                         call = NULL)))
}

# The largest weighted sum of the objectives' means among the front.
best_of_front <- function(bandit, context, feasible, weights) {
  wanted <- objectives(bandit$config)
  allowed <- paste("a number >= 0 for each objective:", paste(wanted, collapse = ", "))
  weights <- check_numbers(weights, "weights", lengths = length(wanted), lower = 0)
  strange <- !is.null(names(weights)) && !setequal(names(weights), wanted)
  if (strange || all(weights == 0)) stop_argument("weights", describe(weights), allowed)
  if (!is.null(names(weights))) weights <- weights[wanted]
  front <- bandit_front(bandit, context, feasible)
  if (nrow(front) == 0) return(front)
  best <- front[which.max(as.matrix(front[paste0(wanted, "_mean")]) %*% (weights * objective_signs(bandit$config))), ]
  row.names(best) <- NULL
  best
}

objective_signs <- function(config) {
  vapply(outcome_roles(config)[objectives(config)], trait, 0, "sense")
}

# Places that are looked at for the front: all arms, or points spread over the domain and those played.
front_candidates <- function(bandit, contexts) {
  config <- bandit$config
  domain <- config$domain
  if (can_count(domain)) return(all_places(domain))
  played <- which(!status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("withdrawn", "failed"))
  spread <- spread_places(domain, 2000)
  if (length(played) == 0) return(spread)
  own <- logged_places(bandit, played)
  own <- subset_places(own, which(!lies_outside(domain, own)))
  list(arm = c(spread$arm, own$arm), inputs = rbind(unname(spread$inputs), unname(own$inputs)))
}

# The candidates that no other beats in all objectives, by their posterior means.
bandit_front <- function(bandit, context, feasible = 0.5, ...) {
  check_dots_empty(..., allowed = c("context", "feasible"))
  heal(bandit)
  kept_answer(bandit, list("front", context, feasible), front_now(bandit, context, feasible))
}

front_now <- function(bandit, context, feasible) {
  config <- bandit$config
  feasible <- check_probability(feasible)
  wanted <- objectives(config)
  if (length(wanted) < 2) {
    stop_gpbandits("This bandit has one objective: `$best()` has its best place.", argument = "outcomes")
  }
  contexts <- contexts_for(bandit, context, 1L)
  places <- front_candidates(bandit, contexts)
  frame <- cbind(place_frame_of(bandit, places, contexts), outcomes_at(bandit, places, context))
  if (!all(vapply(match(wanted, outcome_names(config)),
                  function(k) is_level_known(outcome_config(current_config(bandit), k)), NA))) {
    return(frame[0, ])
  }
  frame <- frame[frame$feasible >= feasible & !is.na(frame$feasible), ]
  values <- as.matrix(frame[paste0(wanted, "_mean")]) * rep(objective_signs(config), each = nrow(frame))
  frame <- frame[is_nondominated(values), ]
  frame <- frame[order(frame[[paste0(wanted[1], "_mean")]]), ]
  row.names(frame) <- NULL
  frame
}

place_frame_of <- function(bandit, places, contexts) {
  count <- place_total(places)
  one <- list(row = rep_len(contexts$row, count), values = contexts$values[rep_len(1L, count), , drop = FALSE])
  seen <- places_in_log(bandit$config, places, one)
  place_frame(bandit, seen$arm, seen$context, seen$inputs)
}

# Rows that no other row equals or exceeds everywhere (of equal rows the first).
is_nondominated <- function(values) {
  n <- nrow(values)
  if (n == 0) return(logical())
  order <- do.call(order, c(lapply(seq_len(ncol(values)), function(j) -values[, j]), list(seq_len(n))))
  kept <- integer()
  for (i in order) {
    beaten <- length(kept) > 0 && any(colSums(t(values[kept, , drop = FALSE]) >= values[i, ]) == ncol(values))
    if (!beaten) kept <- c(kept, i)
  }
  seq_len(n) %in% kept
}

# ---- in words ------------------------------------------------------------------------------

# What summaries show: the recommended place, or the front; who looks is not warned.
likely_best <- function(bandit) {
  if (length(objectives(bandit$config)) > 1) return(bandit_front(bandit, NULL))
  withCallingHandlers(bandit_best(bandit, NULL), gpbandits_infeasible = function(w) invokeRestart("muffleWarning"))
}

outcomes_in_words <- function(best, config) {
  each <- vapply(outcome_names(config), function(name) {
    sprintf("%s %.4g +- %.2g", name, best[[paste0(name, "_mean")]], best[[paste0(name, "_sd")]])
  }, "")
  paste0(": ", paste(each, collapse = ", "),
         if (has_limits(config)) sprintf("; feasible with probability %.3g", best$feasible))
}

# Does each limit bind, and, at the recommended place, how far is it away; and whether nowhere any may hold. NULL where
# nothing can be said.
limits_in_words <- function(bandit) {
  config <- current_config(bandit)
  if (!has_limits(config) || length(config$context_names)) return(NULL)
  several <- length(objectives(config)) > 1
  best <- likely_best(bandit)
  if (nrow(best) == 0) return(NULL)
  roles <- Filter(is_limited, outcome_roles(config))
  binds <- limits_that_bind(bandit, config, best, if (several) 0.5 else 0.95)
  lines <- vapply(names(roles), function(name) {
    said <- if (is.na(binds[[name]])) "not known yet" else if (binds[[name]]) "binds" else "does not bind"
    title <- sprintf("%s %s: %s", name, trait(roles[[name]], "title"), said)
    if (several) return(title)
    mean <- best[[paste0(name, "_mean")]]
    room <- min(trait(roles[[name]], "upper") - mean, mean - trait(roles[[name]], "lower"))
    sprintf("%s (%.4g at the best point, %.2g sd within)", title, mean, room / best[[paste0(name, "_sd")]])
  }, "")
  c(unname(lines), if (declares_infeasible(bandit)) infeasible_words)
}

# Would a place that none of `best` (the recommended one, or the front) beats be allowed if only this limit were not?
# (Of several objectives: beats but for a hundredth of their ranges, for a front is made of candidates.)
limits_that_bind <- function(bandit, config, best, probability) {
  places <- front_candidates(bandit, contexts_for(bandit, NULL, 1L))
  scaled <- scaled_outcomes_at(bandit, places, NULL)
  columns <- paste0(objectives(config), "_mean")
  values <- as.matrix(outcomes_at(bandit, places, NULL)[columns])
  signs <- objective_signs(config)
  slack <- if (length(signs) > 1) 0.01 * apply(values, 2, function(v) diff(range(v, na.rm = TRUE))) else 0
  better <- !is.na(rowSums(values))
  for (k in seq_len(nrow(best))) {
    ahead <- sweep(sweep(values, 2, unlist(best[k, columns])), 2, signs, "*")
    better <- better & rowSums(sweep(ahead, 2, slack, ">")) > 0
  }
  hold <- feasibility(config, scaled) >= probability
  limited <- names(Filter(is_limited, outcome_roles(config)))
  vapply(stats::setNames(nm = limited), function(name) {
    config$outcomes[[name]]$role <- tracked()
    any(better & feasibility(config, scaled) >= probability & !hold)
  }, NA)
}

infeasible_words <- "nowhere may all limits hold, by the policy's own bounds: no place is feasible"

# Is the optimistic set of UCB under limits empty, among arms or the places that are looked at?
declares_infeasible <- function(bandit) {
  config <- current_config(bandit)
  if (!trait(config$policy, "declares") || !has_limits(config)) return(FALSE)
  w <- core(cpp_bandit_width(bandit$handle))
  if (!is.finite(w)) return(FALSE)
  places <- front_candidates(bandit, contexts_for(bandit, NULL, 1L))
  scaled <- scaled_outcomes_at(bandit, places, NULL)
  roles <- outcome_roles(config)
  holds <- rep(TRUE, nrow(scaled$mean))
  for (k in which(vapply(roles, is_limited, NA))) {
    role <- core_role(roles[[k]], outcome_config(config, k))
    reach <- w * scaled$sd[, k]
    holds <- holds & scaled$mean[, k] - reach <= role$upper & scaled$mean[, k] + reach >= role$lower
  }
  !any(holds)
}
