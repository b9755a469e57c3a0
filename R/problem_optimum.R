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

# Exact row identities, to every bit.
row_keys <- function(x) do.call(paste, lapply(seq_len(ncol(x)), function(j) sprintf("%a", x[, j])))

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
search_box <- function(f, lower, upper, g = NULL, starts = 10) {
  d <- length(lower)
  scale_up <- function(u) rep(lower, each = nrow(u)) + u * rep(upper - lower, each = nrow(u))
  target <- list(f = function(u) f(scale_up(u)), g = if (!is.null(g)) function(u) g(scale_up(u)))
  u <- kronecker_points(min(1000 * d, 10000), d)
  value <- target$f(u)
  # One unit of every function: what it does over the candidates.
  target$f_scale <- unit_of(diff(range(value)))
  violation <- numeric(nrow(u))
  if (!is.null(g)) {
    constraint <- target$g(u)
    target$g_scale <- vapply(apply(abs(constraint), 2, max), unit_of, 0)
    violation <- rowSums(pmax(constraint, 0) / rep(target$g_scale, each = nrow(u)))
  }
  from <- spread_starts(u, value / target$f_scale - 5 * violation, starts)
  polish <- if (is.null(g)) polish_free else polish_constrained
  ends <- rbind(u[from, , drop = FALSE],
                u[violation == 0, , drop = FALSE][which.max(value[violation == 0]), , drop = FALSE],
                matrix(vapply(from, function(i) polish(u[i, ], target), numeric(d)), ncol = d, byrow = TRUE))
  best_feasible(ends, target, scale_up)
}

# A divisor even where a function is constant.
unit_of <- function(spread) if (spread > 0) spread else 1

best_feasible <- function(u, target, scale_up) {
  value <- target$f(u)
  if (!is.null(target$g)) {
    # What "<= 0" can mean to a numerical search: 1e-8 of the constraint's scale.
    met <- rowSums(target$g(u) > rep(1e-8 * target$g_scale, each = nrow(u))) == 0
    if (!any(met)) return(NULL)
    value[!met] <- -Inf
  }
  best <- which.max(value)
  list(value = value[best], x = drop(scale_up(u[best, , drop = FALSE])))
}

# A low-discrepancy sequence without random numbers: multiples of the powers of
# 1/phi, phi^(d + 1) = phi + 1 (the generalised golden ratio), modulo 1.
kronecker_points <- function(n, d) {
  phi <- stats::uniroot(function(p) p^(d + 1) - p - 1, c(1, 2), tol = 1e-15)$root
  (0.5 + outer(seq_len(n), phi^-seq_len(d))) %% 1
}

# Rows of the best scores that keep a distance from each other, at most `count`.
spread_starts <- function(u, score, count) {
  order <- utils::head(order(score, decreasing = TRUE), 1000)
  chosen <- integer()
  for (i in order) {
    if (length(chosen) == count) break
    gap <- sweep(u[chosen, , drop = FALSE], 2, u[i, ])
    if (all(rowSums(gap^2) > 0.05^2 * ncol(u))) chosen <- c(chosen, i)
  }
  chosen
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

polish_free <- function(u, target) minimise_in_cube(u, function(v) -target$f(v) / target$f_scale)

# Augmented Lagrangian for inequalities (Rockafellar 1974): minimise
# -f + sum_j (max(0, lambda_j + rho g_j)^2 - lambda_j^2) / (2 rho), then
# lambda_j <- max(0, lambda_j + rho g_j).
polish_constrained <- function(u, target) {
  scaled_g <- function(v) target$g(v) / rep(target$g_scale, each = nrow(v))
  lambda <- numeric(length(target$g_scale))
  rho <- 10
  for (outer in 1:15) {
    u <- minimise_in_cube(u, function(v) {
      shifted <- pmax(rep(lambda, each = nrow(v)) + rho * scaled_g(v), 0)
      -target$f(v) / target$f_scale + rowSums(shifted^2) / (2 * rho)
    })
    g <- drop(scaled_g(matrix(u, 1)))
    lambda <- pmax(lambda + rho * g, 0)
    if (max(pmin(lambda, abs(g)), g) < 1e-10) break
    rho <- min(3 * rho, 1e5)
  }
  u
}
