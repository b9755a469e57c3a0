# Posteriors, Pareto fronts and feasibility of several outcomes. Layer: bandit.

# Observed values and predictions of bandits with several outcomes.

# ---- values --------------------------------------------------------------------------------

check_choices <- function(x, choices, arg) {
  if (!is.character(x) || is.object(x) || length(x) == 0 || !all(x %in% choices) || anyDuplicated(x)) {
    stop_argument(arg, describe(x), paste("NULL, or some of", paste(dQuote(choices, FALSE), collapse = ", ")))
  }
  x
}

# ---- predictions ---------------------------------------------------------------------------

# Means and sds of all outcomes in the model's units, a column each.
scaled_outcomes_at <- function(bandit, points, context) {
  config <- bandit$config
  count <- point_total(points)
  none <- matrix(0, count, outcome_count(config))
  if (count == 0) return(list(mean = none, sd = none))
  seen <- contexts_of_points(bandit, context, count)
  if (is_tabulated_space(config) && !anyNA(points$arm)) {
    return(cpp_bandit_arm_outcomes(bandit$handle, points$arm, seen$row))
  }
  no_arm <- has_numbers(config$domain) && anyNA(points$arm)
  of_arms <- function(one) has_matrix(one$kernel) || length(unique(one$mean)) > 1
  if (no_arm && any(vapply(config$outcomes, of_arms, NA))) {
    stop_argument("x", "a point that is not an arm",
                  "arms only, if a kernel is given as a matrix or a prior mean differs by arm")
  }
  cpp_bandit_predict_outcomes(bandit$handle, kernel_points(config$domain, points, seen$values))
}

# A data.frame of `NAME_mean`, `NAME_sd` and `feasible`, in the user's units.
outcomes_at <- function(bandit, points, context) {
  scaled <- scaled_outcomes_at(bandit, points, context)
  config <- current_config(bandit)
  names <- outcome_names(config)
  columns <- list()
  for (k in seq_along(names)) {
    one <- in_user_units(data.frame(mean = scaled$mean[, k], sd = scaled$sd[, k]), outcome_config(config, k))
    columns[[paste0(names[k], "_mean")]] <- one$mean
    columns[[paste0(names[k], "_sd")]] <- one$sd
  }
  if (!is.null(config$goal)) {
    seen <- contexts_of_points(bandit, context, point_total(points))
    goal <- goal_moments(config, scaled, kernel_inputs_of(config, points, seen))
    if (!is_level_known(config)) goal[] <- NA_real_
    columns[c("goal_mean", "goal_sd")] <- goal
  }
  columns$feasible <- feasibility(config, scaled)
  cpp_frame(columns)
}

# The probability that all limits hold; 1 without limits, NA if a limited outcome has no observations.
feasibility <- function(config, scaled) {
  roles <- outcome_roles(config)
  limited <- which(vapply(roles, is_limited, NA))
  seen <- lapply(limited, function(k) core_role(roles[[k]], outcome_config(config, k)))
  unknown <- !vapply(limited, function(k) is_level_known(outcome_config(config, k)), NA)
  if (any(unknown)) return(rep(NA_real_, nrow(scaled$mean)))
  exp(cpp_log_feasible(scaled$mean[, limited, drop = FALSE], scaled$sd[, limited, drop = FALSE],
                       vapply(seen, `[[`, 0, "lower"), vapply(seen, `[[`, 0, "upper")))
}

warn_infeasible <- function(found, wanted) {
  if (is.na(found) || found >= wanted - 1e-6) return(invisible())
  warn_gpbandits("state", "infeasible", "No point is known at which the limits hold with probability ", format(wanted),
                 ". This is the most probable one (", format(found, digits = 3), ").")
}

# The evaluated point with the largest worth of the objective among those where the limits hold with probability
# `feasible`; NULL if there is none, or if `found` is surely better and surely feasible.
evaluated_under_limits <- function(bandit, found, contexts, feasible) {
  config <- current_config(bandit)
  points <- evaluated_outcomes(bandit)
  if (!point_total(points$points) || !is_level_known(config)) return(NULL)
  at <- outcomes_at(bandit, points$points, NULL)
  yes_no <- yes_or_no_limits(config, points)
  hold <- feasible_by_values(bandit, points, yes_no, at$feasible)
  allowed <- !is.na(hold) & hold >= feasible
  if (!any(allowed)) return(NULL)
  side <- objective_signs(config)
  columns <- paste0(objectives(config), c("_mean", "_sd"))
  value <- ifelse(allowed, side * worth_of_evaluated(bandit, points), -Inf)
  best <- which.max(value)
  if (!length(yes_no)) {
    there <- outcomes_at(bandit, points_found(config, found), NULL)
    lower <- side * there[[columns[1]]] - surely * there[[columns[2]]]
    if (isTRUE(there$feasible >= max(feasible, stats::pnorm(surely)) && lower > value[best])) return(NULL)
  } else if (length(badly <- setdiff(yes_no, outcome_names(config)[are_yes_no(config)]))) {
    warn_once(bandit, "yes_no", "Only two values of ", quoted(badly), " were observed, which a Gaussian process ",
              "predicts badly. Points count as feasible only where the limit was observed to hold. If possible, use ",
              "the number that is compared with the limit as the outcome; otherwise 0 and 1, with a limit of 0.5.")
  }
  c(points_in_log(config, subset_points(points$points, best), contexts)[c("arm", "inputs")],
    by_values = length(yes_no) > 0)
}

# The worth of the objectives at evaluated points, in the user's units, a column each. If the noise is fitted, it is
# that of Bandit::worth_of_evaluated() in the core, otherwise the mean.
worth_of_evaluated <- function(bandit, points) {
  config <- current_config(bandit)
  if (!is.null(config$goal)) return(as.matrix(outcomes_at(bandit, points$points, NULL)["goal_mean"]))
  scaled <- scaled_outcomes_at(bandit, points$points, NULL)
  worth <- vapply(match(objectives(config), outcome_names(config)), function(k) {
    one <- outcome_config(config, k)
    value <- scaled$mean[, k]
    if (is_noise_fitted(one)) {
      value <- cpp_bandit_worth(bandit$handle, points$ids, k, expected_noise(one) <= negligible_noise)
    }
    in_user_units(data.frame(mean = value, sd = scaled$sd[, k]), one)$mean
  }, numeric(length(points$ids)))
  matrix(worth, length(points$ids))
}

# The sd by which a point must be better to be surely better.
surely <- 2

# The evaluated points inside of the domain, with the observed values of all outcomes, a column each.
evaluated_outcomes <- function(bandit) {
  config <- bandit$config
  ids <- which(status_of(bandit, seq_len(table_size(bandit$queries))) == "observed")
  points <- logged_points(bandit, ids)
  inside <- if (length(ids)) !lies_outside(config$domain, points) else logical()
  ids <- ids[inside]
  values <- vapply(seq_len(outcome_count(config)), function(k) {
    known <- cpp_bandit_known(bandit$handle, k)
    known$value[match(ids, known$id)]
  }, numeric(length(ids)))
  list(ids = ids, points = subset_points(points, inside), frame = query_frame(bandit, ids)[-1],
       values = matrix(values, length(ids), outcome_count(config), dimnames = list(NULL, outcome_names(config))))
}

# The limited outcomes of which only two values were observed, and never both at one point. (Those that were declared as
# successes are random, and so are those with a limit of their probability.)
yes_or_no_limits <- function(config, points) {
  of_probability <- function(role) !all(c(trait(role, "lower"), trait(role, "upper")) %in% c(-Inf, 0.5, Inf))
  random <- vapply(outcome_roles(config), function(role) !is.null(role$rewards), NA) |
    are_yes_no(config) & vapply(outcome_roles(config), of_probability, NA)
  limited <- names(Filter(is_limited, outcome_roles(config)[!random]))
  group <- match_frames(points$frame, points$frame)
  Filter(function(name) {
    value <- points$values[, name]
    length(unique(value)) == 2 && all(value == value[group])
  }, limited)
}

# The probability that all limits hold at evaluated points. Those in `yes_no` hold or do not.
feasible_by_values <- function(bandit, points, yes_no, feasible) {
  if (!length(yes_no)) return(feasible)
  config <- current_config(bandit)
  roles <- outcome_roles(config)
  holds <- Reduce(`&`, lapply(yes_no, function(name) {
    value <- points$values[, name]
    value >= trait(roles[[name]], "lower") & value <= trait(roles[[name]], "upper")
  }))
  for (name in yes_no) config$outcomes[[name]]$role <- tracked()
  ifelse(holds, feasibility(config, scaled_outcomes_at(bandit, points$points, NULL)), 0)
}

# The point of the front with the largest weighted sum of the objectives.
best_of_front <- function(bandit, context, feasible, weights) {
  wanted <- objectives(bandit$config)
  allowed <- paste("a number >= 0 for each objective:", paste(wanted, collapse = ", "))
  weights <- check_numbers(weights, "weights", lengths = length(wanted), lower = 0)
  invalid <- !is.null(names(weights)) && !setequal(names(weights), wanted)
  if (invalid || all(weights == 0)) stop_argument("weights", describe(weights), allowed)
  if (!is.null(names(weights))) weights <- weights[wanted]
  front <- bandit_front(bandit, context, feasible)
  if (nrow(front) == 0) return(front)
  best <- front[which.max(objective_values(bandit, front) %*% weights), ]
  row.names(best) <- NULL
  best
}

# A point that is worse than the values of the objectives (rows; large is good): in each one the worst of them, less a
# tenth of their range. A policy's reference point has precedence.
reference_point <- function(values, config) {
  own <- config$policy$reference
  if (length(own)) return(reference_of(own, objectives(config)) * objective_signs(config))
  if (all(is.na(values))) return(rep(NA_real_, ncol(values)))
  apply(values, 2, function(v) {
    v <- v[!is.na(v)]
    min(v) - 0.1 * max(diff(range(v)), 1e-9 * max(abs(v)))
  })
}

objective_signs <- function(config) {
  if (!is.null(config$goal)) return(c(goal = goal_sign(config$goal)))
  vapply(outcome_roles(config)[objectives(config)], trait, 0, "sense")
}

# Values of the objectives (columns), with signs such that large is good.
signed_objectives <- function(values, config) values * rep(objective_signs(config), each = nrow(values))

# Candidates for the front: all arms, or points spread over the domain and those played.
front_candidates <- function(bandit, contexts) {
  config <- bandit$config
  domain <- config$domain
  if (can_count(domain)) return(all_points(domain))
  played <- which(!status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("withdrawn", "failed"))
  spread <- spread_points(domain, 2000)
  if (length(played) == 0) return(spread)
  own <- logged_points(bandit, played)
  own <- subset_points(own, which(!lies_outside(domain, own)))
  list(arm = c(spread$arm, own$arm), inputs = rbind(unname(spread$inputs), unname(own$inputs)))
}

# The candidates that no other candidate dominates, by the values of all objectives.
bandit_front <- function(bandit, context, feasible = 0.5, ...) {
  check_dots_empty(..., allowed = c("context", "feasible"))
  rebuild(bandit)
  kept_answer(bandit, list("front", context, feasible), front_now(bandit, context, feasible))
}

# `$front()`: with a warning if no point is feasible.
asked_front <- function(bandit, context, feasible = 0.5, ...) {
  found <- bandit_front(bandit, context, feasible, ...)
  if (nrow(found) == 0 && any(!is.na(bandit$queries$reward))) {
    warn_gpbandits("state", "infeasible", "`$front()` has no rows: no point is known at which the limits hold with ",
                   "probability ", format(feasible), ". Try a smaller `feasible`.")
  }
  found
}

front_now <- function(bandit, context, feasible) {
  config <- bandit$config
  feasible <- check_probability(feasible)
  wanted <- objectives(config)
  if (length(wanted) < 2) {
    stop_state("`$front()` needs several objectives; this bandit has one. Use `$best()`.", argument = "outcomes")
  }
  contexts <- contexts_for(bandit, context, 1L)
  points <- front_candidates(bandit, contexts)
  frame <- cbind(point_frame_of(bandit, points, contexts), outcomes_at(bandit, points, context))
  if (!all(vapply(match(wanted, outcome_names(config)),
                  function(k) is_level_known(outcome_config(current_config(bandit), k)), NA))) {
    return(frame[0, ])
  }
  played <- evaluated_outcomes(bandit)
  frame$evaluated <- !is.na(match_frames(frame[names(played$frame)], played$frame))
  frame <- frame[frame$feasible >= feasible & !is.na(frame$feasible), ]
  value <- objective_values(bandit, frame, played)
  kept <- if (prefers_evaluated(config)) frame$evaluated | is_surely_new(frame, value, config) else TRUE
  frame <- frame[kept, ][is_nondominated(value[kept, , drop = FALSE]), ]
  frame <- frame[order(frame[[paste0(wanted[1], "_mean")]]), ]
  row.names(frame) <- NULL
  frame
}

# The objectives at points, larger is better: their means, and at evaluated points their worth.
objective_values <- function(bandit, frame, played = evaluated_outcomes(bandit)) {
  config <- bandit$config
  values <- unname(as.matrix(frame[paste0(objectives(config), "_mean")]))
  if (prefers_evaluated(config) && length(played$ids)) {
    at <- match_frames(frame[names(played$frame)], played$frame)
    values[!is.na(at), ] <- worth_of_evaluated(bandit, played)[at[!is.na(at)], ]
  }
  values * rep(objective_signs(config), each = nrow(frame))
}

# Is each point surely better than every evaluated one in some objective?
is_surely_new <- function(frame, value, config) {
  lower <- value - surely * as.matrix(frame[paste0(objectives(config), "_sd")])
  known <- t(value[frame$evaluated, , drop = FALSE])
  vapply(seq_len(nrow(frame)), function(i) isTRUE(all(colSums(known >= lower[i, ]) < nrow(known))), NA)
}

point_frame_of <- function(bandit, points, contexts) {
  count <- point_total(points)
  one <- list(row = rep_len(contexts$row, count), values = contexts$values[rep_len(1L, count), , drop = FALSE])
  seen <- points_in_log(bandit$config, points, one)
  point_frame(bandit, seen$arm, seen$context, seen$inputs)
}

# Rows that no other row equals or exceeds in all columns (of equal rows the first).
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

# ---- descriptions --------------------------------------------------------------------------

outcomes_as_text <- function(best, config) {
  each <- vapply(c(if (!is.null(config$goal)) goal_column, outcome_names(config)), function(name) {
    sprintf("%s %.4g +- %.2g", shown_names(name, config), best[[paste0(name, "_mean")]], best[[paste0(name, "_sd")]])
  }, "")
  paste0(": ", paste(each, collapse = ", "),
         if (has_limits(config)) sprintf("; feasible with probability %.3g", best$feasible))
}

# Does this limit bind? That is: without it, would a point be allowed that no row of `best` (the recommended point, or
# the front) dominates? (With several objectives it must be better by a hundredth of their ranges, because the front
# consists of candidates only.)
limits_that_bind <- function(bandit, config, best, probability) {
  points <- front_candidates(bandit, contexts_for(bandit, NULL, 1L))
  scaled <- scaled_outcomes_at(bandit, points, NULL)
  columns <- paste0(objectives(config), "_mean")
  values <- as.matrix(outcomes_at(bandit, points, NULL)[columns])
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

infeasible_text <- "no point is feasible by the policy's bounds: the limits cannot all hold"

# Is the optimistic feasible set of UCB under limits empty, among all arms or the candidates?
declares_infeasible <- function(bandit) {
  config <- current_config(bandit)
  if (!trait(config$policy, "declares") || !has_limits(config)) return(FALSE)
  w <- cpp_bandit_width(bandit$handle)
  if (!is.finite(w)) return(FALSE)
  points <- front_candidates(bandit, contexts_for(bandit, NULL, 1L))
  scaled <- scaled_outcomes_at(bandit, points, NULL)
  roles <- outcome_roles(config)
  holds <- rep(TRUE, nrow(scaled$mean))
  for (k in which(vapply(roles, is_limited, NA))) {
    role <- core_role(roles[[k]], outcome_config(config, k))
    reach <- w * scaled$sd[, k]
    holds <- holds & scaled$mean[, k] - reach <= role$upper & scaled$mean[, k] + reach >= role$lower
  }
  !any(holds)
}
