# The optimum of a problem. Layer: simulation.

# The best true value of a problem, from which regret is computed.

# One number per round. `contexts`: the matrix returned by problem_draws().
problem_optimum <- function(problem, rounds, contexts = NULL) {
  period <- problem_period(problem, rounds)
  if (is.numeric(problem$optimum)) return(problem$optimum[period])
  best <- numeric(rounds)
  for (k in unique(period)) {
    at <- which(period == k)
    z <- contexts[at, , drop = FALSE]
    if (is.list(problem$optimum)) {
      best[at] <- evaluate_reward(problem$optimum[[k]], users_contexts(problem, z), "optimum")
    } else {
      key <- row_numbers(z)
      first <- !duplicated(key)
      best[at] <- best_values_in_contexts(problem, k, z[first, , drop = FALSE])[key]
    }
  }
  best
}

best_values_in_contexts <- function(problem, k, contexts) {
  vapply(seq_len(nrow(contexts)), function(i) best_value(problem, k, contexts[i, , drop = FALSE]), 0)
}

# `context`: one row, or NULL.
best_value <- function(problem, k, context) {
  last_round <- c(problem$change_points, Inf)[k]
  f <- function(points) problem_truth(problem, points, last_round, context)
  g <- if (problem$constraint_count > 0) function(points) problem_constraints(problem, points, context)
  best <- maximise_over(problem$domain, f, g)
  if (!best$feasible) stop_infeasible(problem, context)
  best$value
}

stop_infeasible <- function(problem, context = NULL) {
  where <- if (!is.null(context)) {
    sprintf(" in the context %s", paste(problem$context_names, "=", format(context, trim = TRUE), collapse = ", "))
  } else ""
  what <- if (can_count(problem$domain)) "no arm satisfies" else "the search found no point that satisfies"
  stop_gpbandits("argument", "`constraints` leave nothing to play: ", what, " all of them", where,
                 ". Give `optimum` if regret should be measured against another value.", argument = "constraints")
}

# Sets `optimum` to K numbers, to a list of K functions of the contexts, or to NULL (with contexts: the optimum is
# searched for when the contexts are given).
set_optimum <- function(problem, optimum) {
  K <- problem$periods
  if (is.null(optimum)) {
    if (!has_contexts(problem)) {
      problem$optimum <- vapply(seq_len(problem$periods), function(k) best_value(problem, k, NULL), 0)
    }
    return(problem)
  }
  if (is.function(optimum)) optimum <- list(optimum)
  if (is.list(optimum)) {
    if (!has_contexts(problem) || length(optimum) != K ||
        !all(vapply(optimum, is.function, logical(1)))) {
      stop_argument("optimum", describe(optimum), sprintf(
        "a number, %s, or, with contexts, a function of them for each period", amount_of(K, "number")))
    }
    problem$optimum <- optimum
  } else {
    problem$optimum <- check_each(optimum, K)
  }
  problem
}
