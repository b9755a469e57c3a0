# Other learners in comparisons. Layer: simulation.

# Agents: other learners with `$suggest()` and `$observe()`, which can be compared with bandits.

is_agent <- function(x) {
  has <- function(name) catch_error(is.function(x[[name]]), function(e) FALSE)
  (is.list(x) || is.environment(x)) && has("suggest") && has("observe")
}

# Those columns of a run's regret log that do not need a bandit.
play_agent <- function(agent, problem, rounds, draws, name) {
  ids <- vector("list", rounds)
  reward <- rep(NA_real_, rounds)
  arm <- rep(NA_integer_, rounds)
  where <- function(t) sprintf("(`%s`, round %d)", name, as.integer(t))
  ask <- function(t) {
    context <- if (has_contexts(problem)) users_contexts(problem, draws$contexts[t, , drop = FALSE])
    query <- call_user(if (is.null(context)) agent$suggest() else agent$suggest(context = context), "suggest", where(t))
    point <- agent_point(query, problem$domain, where(t))
    ids[[t]] <<- if (is.null(query[["id"]])) t else query[["id"]]
    arm[t] <<- point$arm + 1L
    c(point, list(contexts = context))
  }
  record <- function(which, values, g) for (k in seq_along(which)) {
    if (!is.null(problem$outcomes)) {
      call_user(agent$observe(ids[[which[k]]], values[k, ]), "observe", where(which[k]))
      next
    }
    reward[which[k]] <<- values[k]
    call_user(if (ncol(g)) agent$observe(ids[[which[k]]], values[k], constraints = g[k, ])
              else agent$observe(ids[[which[k]]], values[k]), "observe", where(which[k]))
  }
  outcome <- play_in_rounds(problem, rounds, draws, ask, record)
  optimum <- problem_optimum(problem, rounds, draws$contexts)
  ledger <- if (is.null(problem$outcomes)) run_ledger(outcome, optimum)
            else ledger_of_outcomes(outcome, problem, optimum)
  columns <- c(if (can_count(problem$domain)) list(arm = arm), list(reward = reward),
               ledger[c("f", "regret", "cumulative_regret", "simple_regret", "optimum")],
               list(period = problem_period(problem, rounds)))
  for (j in seq_len(ncol(ledger$violation))) columns[[paste0("violation", j)]] <- ledger$violation[, j]
  more <- c("cumulative_violation", "hard_violation", "hypervolume_regret")
  columns[more] <- ledger[more]
  columns
}

# The point that an agent suggested: by `arm`, by `x`, or by the names of the inputs.
agent_point <- function(query, domain, where) {
  allowed <- paste("a list or data.frame with", if (can_count(domain)) "`arm` (its number) or",
                   "`x` (the point), or the inputs",
                   paste(domain$names, collapse = ", "))
  given <- NULL
  if (is.list(query)) {
    given <- if (all(domain$names %in% names(query))) unlist(query[domain$names]) else query[["x"]]
  }
  arm <- if (is.list(query) && can_count(domain)) query[["arm"]]
  if (is.null(given) && is.null(arm)) stop_argument("suggest", paste(describe(query), where), allowed)
  point <- if (!is.null(arm)) find_points(domain, NULL, arm, "suggest")
           else find_points(domain, matrix(as.double(given), nrow = 1), arg = "suggest")
  if (point_total(point) != 1) {
    stop_argument("suggest", sprintf("%d points %s", point_total(point), where), "one point a round")
  }
  point
}
