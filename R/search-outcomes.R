# Searches over several outcomes: arguments and evaluations. Layer: search.

# Searches and bandits with default settings for several outcomes: their arguments, the values of an evaluation, the
# records in the bandit, and the result.

# ---- arguments ----------------------------------------------------------------------------

# The outcomes given by `outcomes` or `limits`, with the first objective first; NULL if neither is given. With
# `limits`, `rewards` is the response type of the objective.
outcomes_of_search <- function(outcomes, limits, direction, reward = NULL, goal = NULL, inputs = NULL, rewards = NULL) {
  check_formula_code(limits, "limits")
  if (!is.null(goal)) {
    check_formula_code(goal, "goal")
    return(given_goal(goal, outcomes, limits, check_choice(direction, c("maximize", "minimize"), "direction"), inputs))
  }
  if (!is.null(limits)) direction <- check_choice(direction, c("maximize", "minimize"), "direction")
  outcomes <- given_outcomes(outcomes, limits, direction, or_else(reward, "reward"))
  if (!is.null(limits) && !is.null(rewards)) outcomes[[1]]$rewards <- check_outcome_rewards(rewards, NULL, NULL)
  list(goal = NULL, outcomes = if (!is.null(outcomes)) check_outcome_list(outcomes),
       rewards = if (is.null(limits)) rewards)
}

name_reward <- function(bandit, reward) bandit$config$reward_name <- reward

check_single_direction <- function(outcomes) {
  if (!is.null(outcomes)) {
    stop_unused("direction", "`outcomes` has the direction of each: `to_maximize()` or `to_minimize()`")
  }
}

# Arguments that support one outcome only.
check_one_outcome_for <- function(given) {
  given <- names(Filter(Negate(is.null), given))
  if (length(given) == 0) return(invisible())
  stop_unused(given[1], paste0("it is not supported with `outcomes` or `limits`",
                               if (given[1] == "stop_when") ", unless it is a function of the search"))
}

check_all_minimised <- function(outcomes) {
  objectives <- Filter(function(one) trait(one, "objective"), check_outcome_list(outcomes))
  if (!all(vapply(objectives, trait, 0, "sense") < 0)) {
    stop_argument("outcomes", "to_maximize() in minimize_bandit()", "to_minimize() and limits",
                  try = "`maximize_bandit()`, which takes both")
  }
}

# ---- given experiments ---------------------------------------------------------------------

# `reason`: a text or NA for each, or NULL.
fail_with_reasons <- function(bandit, ids, reason) {
  reason <- if (is.null(reason)) rep(NA, length(ids)) else replace(reason, reason %in% "", NA)
  for (one in unique(reason)) bandit$fail(ids[reason %in% one], reason = if (!is.na(one)) one)
}

add_outcomes_in_order <- function(bandit, known) {
  count <- nrow(known$values)
  if (count == 0) return(invisible())
  inside <- as.environment(bandit)
  add_given(inside, known$x, reward = as.data.frame(known$values), context = known$contexts,
            noise_var = known$noise_var, size = known$size, spread = known$spread,
            noted = notes_of_experiments(known), find = found_anywhere)
  first <- table_size(inside$queries) - count
  if (any(known$failed)) fail_with_reasons(bandit, first + which(known$failed), known$reason[known$failed])
  over <- is.na(known$values) & !known$under_way & !known$failed
  settle_cells <- function(cells, failed) {
    for (name in colnames(cells)) {
      rows <- which(cells[, name])
      if (length(rows)) withdraw_several(inside, first + rows, name, failed)
    }
  }
  settle_cells(over & known$broken, failed = TRUE)
  settle_cells(over & !known$broken, failed = FALSE)
}

known_outcomes <- function(known, domain) {
  frame <- as.data.frame(known$x)
  names(frame) <- domain$names
  with_further(cbind(frame, as.data.frame(known$values),
                     distinct_columns(list(status = rep("given", length(known$failed))), domain$names)), known)
}

# ---- evaluations ---------------------------------------------------------------------------

# The columns of a search's history with the values of its evaluations.
said_columns <- function(config) of_form(config, "columns")(config)

says_nothing <- function(history, config) {
  rowSums(!is.na(as.matrix(history[said_columns(config)]))) == 0
}

# A named vector with a number for each outcome (NA: this outcome failed, or its value is impossible). With `limits`,
# the value that no limit names is the reward.
read_outcomes <- function(outcome, attempts, config) {
  names <- outcome_names(config)
  nothing <- stats::setNames(rep(NA_real_, length(names)), names)
  status <- if (!is.null(outcome$lost)) sprintf("%s (%d attempts)", outcome$lost, as.integer(attempts))
            else if (!is.null(outcome$error)) paste("error:", one_text(outcome$error))
  if (!is.null(status)) return(list(values = nothing, status = status))
  found <- named_values(outcome$value, names, config$domain$names)
  if (is.null(found)) {
    return(list(values = nothing, status = sprintf("returned %s, not numbers named %s", describe(outcome$value),
                                                   paste(names, collapse = ", "))))
  }
  found[!is.finite(found) | are_impossible(found, outcome_roles(config))] <- NA_real_
  known <- sum(!is.na(found))
  list(values = found, status = if (known == length(names)) "observed" else if (known > 0) "partial" else "returned NA")
}

# Which values cannot be results of their outcome's response type?
are_impossible <- function(values, roles) {
  vapply(names(values), function(name) {
    rewards <- roles[[name]]$rewards
    !is.null(rewards) && is.finite(values[[name]]) &&
      catch_error(is.null(trait(rewards, "outcome")(values[[name]], 1)), function(e) TRUE)
  }, NA)
}

# Numbers by other names than those of the outcomes: no later evaluation will be different.
check_returned <- function(value, config) {
  given <- names(value)
  if (length(value) < 2 || !(is_number(value) || is.list(value)) || is.null(given)) return(invisible())
  given_text <- paste("numbers named", paste0("`", given, "`", collapse = ", "))
  if (of_form(config, "several")) {
    wanted <- outcome_names(config)
    lacking <- setdiff(wanted, given)
    if (!is.null(named_values(value, wanted, config$domain$names)) || length(lacking) == 0) return(invisible())
    stop_argument("objective", sprintf("one that returns %s", given_text),
                  paste("a function that returns numbers named", paste0("`", wanted, "`", collapse = ", ")),
                  try = sprintf("the same names in `objective` and in `outcomes` or `limits` (%s)", lacking[1]))
  }
  if (is.null(config$rewards)) {
    stop_argument("objective", sprintf("one that returns %s", given_text), "a function that returns one number",
                  try = sprintf("`outcomes = list(%s = to_maximize(), %s = to_maximize())`, or `tracked()`", given[1],
                                given[2]))
  }
}

# A point of one number has its input's name, so that `c(a = x)` is named `a.x`.
without_input <- function(given, names, inputs) {
  if (length(inputs) != 1 || all(given %in% names)) return(given)
  ending <- paste0(".", inputs)
  ifelse(endsWith(given, ending), substr(given, 1, nchar(given) - nchar(ending)), given)
}

# NULL if the names differ.
named_values <- function(value, names, inputs = NULL) {
  if (is.data.frame(value) && is.list(value) && nrow(value) == 1 || is.list(value) && !is.object(value)) {
    whole <- all(vapply(value, function(one) (is_number(one) || is.logical(one)) && length(one) == 1, NA))
    if (!whole) return(NULL)
    value <- unlist(lapply(value, as.double))
  }
  if (is.logical(value) && all(is.na(value))) value[] <- NA_real_
  if (!(is_number(value) || is.logical(value)) || is.null(names(value)) || anyDuplicated(names(value))) return(NULL)
  value <- stats::setNames(as.double(value), without_input(names(value), names, inputs))
  if ("reward" %in% names && !"reward" %in% names(value)) {
    other <- which(!names(value) %in% names)
    if (length(other) == 1) names(value)[other] <- "reward"
  }
  if (!all(names(value) %in% names)) return(NULL)
  stats::setNames(value[names], names)
}

# ---- records in the bandit -----------------------------------------------------------------

# Records the pending values of a query; NA values are recorded as failures.
record_values <- function(bandit, id, values, time = NULL, reason = NULL) {
  awaited <- values[outcome_cells(bandit, id)[1, ] == "pending"]
  known <- !is.na(awaited)
  if (any(known)) bandit_observe(bandit, id, awaited[known], NULL, time, NULL)
  if (any(!known)) withdraw_several(bandit, id, names(awaited)[!known], failed = TRUE, reason = reason)
}

# ---- result --------------------------------------------------------------------------------

# The evaluations that satisfied all limits by their observed values (NA if a value is missing).
kept_limits <- function(history, config) {
  roles <- outcome_roles(config)
  kept <- rep(TRUE, nrow(history))
  for (name in names(Filter(is_limited, roles))) {
    value <- history[[name]]
    kept <- kept & value >= trait(roles[[name]], "lower") & value <= trait(roles[[name]], "upper")
  }
  kept
}

# The objectives of the evaluations that satisfied the limits, with signs such that large is good; NA otherwise.
fair_objectives <- function(history, config) {
  wanted <- objectives(config)
  values <- signed_objectives(as.matrix(history[wanted]), config)
  values[!kept_limits(history, config) %in% TRUE | rows_outside(history, config$domain), ] <- NA_real_
  values
}

# The reference point of the evaluations, with signs such that large is good.
reference_seen <- function(x) {
  config <- x$bandit$config
  reference_point(signed_objectives(as.matrix(x$history[objectives(config)]), config), config)
}

hypervolume_so_far <- function(values, reference) {
  known <- stats::complete.cases(values)
  vapply(seq_len(nrow(values)), function(t) {
    now <- values[seq_len(t), , drop = FALSE][known[seq_len(t)], , drop = FALSE]
    if (nrow(now) == 0) 0 else cpp_hypervolume(now[is_nondominated(now), , drop = FALSE], reference)
  }, 0)
}

register_form("reward", columns = function(config) "reward")
register_form("outcomes", columns = outcome_names)
