# The best true value of a problem, which regret is measured against.

# One number per round. `contexts` is the matrix that problem_draws() returned.
problem_optimum <- function(problem, rounds, contexts = NULL) {
  period <- problem_period(problem, rounds)
  if (is.numeric(problem$optimum)) return(problem$optimum[period])
  best <- numeric(rounds)
  for (k in unique(period)) {
    at <- which(period == k)
    z <- contexts[at, , drop = FALSE]
    if (is.list(problem$optimum)) {
      best[at] <- evaluate_reward(problem$optimum[[k]], z, "optimum")
    } else {
      key <- match(row_keys(z), unique(row_keys(z)))
      first <- !duplicated(key)
      best[at] <- best_values_in_contexts(problem, k, z[first, , drop = FALSE])[key]
    }
  }
  best
}

# Without contexts: the best value of each period.
best_values <- function(problem) {
  if (is.null(problem$reward_values)) {
    return(vapply(seq_len(problem$periods), function(k) best_in_box(problem, k, NULL), 0))
  }
  feasible <- feasible_rows(problem$constraint_values, nrow(problem$reward_values))
  if (!any(feasible)) stop_infeasible(problem)
  apply(problem$reward_values[feasible, , drop = FALSE], 2, max)
}

best_values_in_contexts <- function(problem, k, contexts) {
  best <- if (is_finite_domain(problem$domain)) best_among_arms else best_in_box
  vapply(seq_len(nrow(contexts)), function(i) best(problem, k, contexts[i, , drop = FALSE]), 0)
}

# `context`: one row.
best_among_arms <- function(problem, k, context) {
  n <- nrow(problem$domain$x)
  z <- context[rep(1, n), , drop = FALSE]
  arms <- seq_len(n)
  feasible <- feasible_rows(problem_constraints(problem, arm = arms, contexts = z), n)
  if (!any(feasible)) stop_infeasible(problem, context)
  inputs <- problem_inputs(problem, arm = arms, contexts = z)
  max(evaluate_reward(problem$reward_functions[[k]], inputs)[feasible])
}

feasible_rows <- function(g, n) {
  if (is.null(g) || ncol(g) == 0) rep(TRUE, n) else rowSums(g > 0) == 0
}

stop_infeasible <- function(problem, context = NULL) {
  where <- if (!is.null(context)) {
    sprintf(" in the context %s", paste(problem$context_names, "=", format(context, trim = TRUE), collapse = ", "))
  } else ""
  what <- if (is_finite_domain(problem$domain)) "no arm satisfies" else "the search found no point that satisfies"
  stop_gpbandits("`constraints` leave nothing to play: ", what, " all of them", where,
                 "; give `optimum` if regret should be measured against another value.",
                 argument = "constraints")
}

best_in_box <- function(problem, k, context) {
  inputs_at <- function(x) {
    problem_inputs(problem, x = x, contexts = context[rep(1, nrow(x)), , drop = FALSE])
  }
  f <- function(x) evaluate_reward(problem$reward_functions[[k]], inputs_at(x))
  m <- problem$constraint_count
  g <- if (m > 0) function(x) evaluate_constraints(problem$constraint_function, inputs_at(x), m)
  found <- search_box(f, problem$domain$lower, problem$domain$upper, g)
  if (is.null(found)) stop_infeasible(problem, context)
  found$value
}

# --- Numerical search on a box ---------------------------------------------------

# The largest f(x) found with g(x) <= 0, or NULL if no such x was found. f and g
# are vectorised over rows. Works in the unit cube.
search_box <- function(f, lower, upper, g = NULL, starts = 20) {
  d <- length(lower)
  scale_up <- function(u) rep(lower, each = nrow(u)) + u * rep(upper - lower, each = nrow(u))
  u <- kronecker_points(min(1000 * d, 10000), d)
  target <- scaled_target(function(u) f(scale_up(u)), if (!is.null(g)) function(u) g(scale_up(u)), u)
  from <- linkage_starts(u, target$score(u), starts)
  ends <- vapply(from, function(i) target$polish(u[i, ]), numeric(d))
  best <- best_feasible(rbind(u, matrix(ends, ncol = d, byrow = TRUE)), target)
  if (is.null(best)) return(NULL)
  for (half_width in c(0.1, 0.02)) best <- search_around(best, half_width, target)
  list(value = best$value, x = drop(scale_up(matrix(best$u, 1))))
}

# f and g in units of what they do over the candidates `u`; `score` is large where
# f is and falls with the violation, `polish` runs a local search from a point.
scaled_target <- function(f, g, u) {
  f_unit <- unit_of(diff(range(f(u))))
  scaled_f <- function(u) f(u) / f_unit
  target <- list(f = f, score = scaled_f,
                 polish = function(u) minimise_in_cube(u, function(v) -scaled_f(v)))
  if (is.null(g)) return(target)
  g_unit <- vapply(apply(abs(g(u)), 2, max), unit_of, 0)
  scaled_g <- function(u) g(u) / rep(g_unit, each = nrow(u))
  target$g <- scaled_g
  target$score <- function(u) scaled_f(u) - 5 * rowSums(pmax(scaled_g(u), 0))
  target$polish <- function(u) polish_constrained(u, scaled_f, scaled_g, length(g_unit))
  target
}

# A divisor even where a function is constant.
unit_of <- function(spread) if (spread > 0) spread else 1

# The best row of u; "<= 0" can mean no more to a numerical search than 1e-8 of
# the constraint's unit. NULL if no row is feasible.
best_feasible <- function(u, target) {
  if (!is.null(target$g)) u <- u[rowSums(target$g(u) > 1e-8) == 0, , drop = FALSE]
  if (nrow(u) == 0) return(NULL)
  value <- target$f(u)
  list(value = max(value), u = u[which.max(value), ])
}

# A funnel's many small hills hide its top from the first search: look again
# around the best point for as long as that helps.
search_around <- function(best, half_width, target) {
  d <- length(best$u)
  box <- half_width * (2 * kronecker_points(100 * d, d) - 1)
  for (step in 1:10) {
    near <- pmin(pmax(box + rep(best$u, each = nrow(box)), 0), 1)
    found <- best_feasible(rbind(best$u, target$polish(near[which.max(target$score(near)), ])), target)
    gain <- found$value - best$value
    if (gain > 0) best <- found
    if (gain <= 1e-9 * abs(best$value)) break
  }
  best
}

# Where to start: candidates in the best fifth with no better one within the
# critical distance of multi-level single linkage (Rinnooy Kan and Timmer 1987),
# so that a hill gets about one start. At most `count`, best first.
linkage_starts <- function(u, score, count) {
  n <- nrow(u)
  d <- ncol(u)
  critical <- (gamma(1 + d / 2) * 4 * log(n) / n)^(1 / d) / sqrt(pi)
  top <- utils::head(order(score, decreasing = TRUE), max(n / 5, 1))
  starts <- integer()
  for (k in seq_along(top)) {
    better <- u[top[seq_len(k - 1)], , drop = FALSE]
    far <- rowSums((better - rep(u[top[k], ], each = k - 1))^2) > critical^2
    if (all(far)) starts <- c(starts, top[k])
    if (length(starts) == count) break
  }
  starts
}

# Central differences in the unit cube (one-sided steps are shortened at its
# faces), all 2d points in one call of the vectorised function.
cube_gradient <- function(fn, u, step = 1e-5) {
  d <- length(u)
  high <- pmin(u + step, 1)
  low <- pmax(u - step, 0)
  points <- matrix(u, 2 * d, d, byrow = TRUE)
  points[cbind(seq_len(d), seq_len(d))] <- high
  points[cbind(d + seq_len(d), seq_len(d))] <- low
  value <- fn(points)
  (value[seq_len(d)] - value[d + seq_len(d)]) / (high - low)
}

# L-BFGS-B in the unit cube on a function that is vectorised over rows; minimises.
minimise_in_cube <- function(u, fn) {
  stats::optim(u, function(v) fn(matrix(v, 1)), function(v) cube_gradient(fn, v),
               method = "L-BFGS-B", lower = 0, upper = 1,
               control = list(factr = 10, maxit = 500))$par
}

# Augmented Lagrangian for m inequalities (Rockafellar 1974): minimise
# -f + sum_j (max(0, lambda_j + rho g_j)^2 - lambda_j^2) / (2 rho), then
# lambda_j <- max(0, lambda_j + rho g_j).
polish_constrained <- function(u, f, g, m) {
  lambda <- numeric(m)
  rho <- 10
  for (outer in 1:15) {
    u <- minimise_in_cube(u, function(v) {
      shifted <- pmax(rep(lambda, each = nrow(v)) + rho * g(v), 0)
      -f(v) + rowSums(shifted^2) / (2 * rho)
    })
    at_u <- drop(g(matrix(u, 1)))
    lambda <- pmax(lambda + rho * at_u, 0)
    if (max(pmin(lambda, abs(at_u)), at_u) < 1e-10) break
    rho <- min(3 * rho, 1e5)
  }
  u
}
