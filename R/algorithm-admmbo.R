# The baseline ADMMBO. Layer: algorithms.

# ADMMBO is a rule in R (bandit-script.R), not a policy of the core: its steps, budgets and dual variables extend over
# many queries, and its targets contain quadratic terms that no posterior has.

#' ADMMBO: constrained Bayesian optimisation by ADMM
#'
#' ADMMBO maximises \eqn{f} under unknown constraints by the alternating direction method of multipliers (ADMM). It is
#' method `"admmbo"` of [baseline_constrained()] and serves as a baseline, after Ariafar et al. (2019). The problem is
#' \deqn{\min F(x),\ F = -f,\quad\mbox{subject to } c_j(z_j)\le 0,\ x = z_j,\ j = 1, \dots, m.}{min F(x), F = -f,
#' subject to c_j(z_j) <= 0 and x = z_j, for j = 1, ..., m.}
#'
#' There is one Gaussian process for \eqn{F} and one for each constraint. An outer round has three steps.
#'
#' 1. The *objective step* has a fixed number of queries. They are selected by expected improvement on
#'    \deqn{F(x)+\frac{m\rho}{2}\|x-\bar z+\bar y/\rho\|^2.}{F(x) + (m rho / 2) |x - zbar + ybar/rho|^2.}
#'
#'    Then \eqn{x} becomes the best of the queried points.
#' 2. The *feasibility step* for each \eqn{j} has a fixed number of queries. They are selected by expected improvement
#'    on
#'    \deqn{1[c_j(z)>0]+q(z),\quad q(z) = \frac{\rho}{2M}\|x-z+y_j/\rho\|^2.}{1[c_j(z) > 0] + q(z),  q(z) = (rho / (2
#'    M)) |x - z + y_j/rho|^2.}
#'
#'    Let \eqn{v} be the best value so far minus \eqn{q(z)}, and
#'    \eqn{P = P(c_j(z)\le 0)}{P = P(c_j(z) <= 0)}. The expected improvement is 0 if \eqn{v<0}{v < 0}, \eqn{vP}{v P} if
#'    \eqn{0\le v<1}{0 <= v < 1}, and \eqn{v-(1-P)}{v - (1 - P)} if \eqn{v\ge 1}{v >= 1}. Then \eqn{z_j} becomes the
#'    best of the queried points.
#' 3. The multipliers are updated by \eqn{y_j\leftarrow y_j+\rho(x-z_j)}{y_j <- y_j + rho (x - z_j)}. The method stops
#'    after `outer` rounds, or if both of these hold over all \eqn{j} together:
#'    \deqn{\|x-z\|<0.05\sqrt{md}+0.075\max(\|x\|,\|z\|),}{|x - z| < 0.05 sqrt(m d) + 0.075 max(|x|, |z|),}
#'    \deqn{\rho\|\Delta z\|<0.05\sqrt{md}+0.075\rho\|y\|.}{rho |change of z| < 0.05 sqrt(m d) + 0.075 rho |y|.}
#'
#'    Otherwise \eqn{\rho}{rho} is doubled if the first norm exceeds ten times the second, and halved if the second
#'    exceeds ten times the first.
#'
#' Each query is a round of the run, and its reward and constraint values both count in the results. As published, the
#' process of \eqn{F} is conditioned only on the queries of objective steps, and that of \eqn{c_j} only on those of its
#' feasibility steps. `share = TRUE` conditions all processes on all queries.
#'
#' "Best" is by the posterior mean at the queried points. If no point has positive expected improvement, the point with
#' the smallest expected target is selected. The first `initial` queries of each process are uniformly random. They are
#' part of the queries of its first step.
#'
#' The authors' published code differs in two ways. It fits the kernels during the run (`refit`). Its two initial
#' points, from a file, are observed before the run and do not count in the budget (`initial = 0` and `$add()`).
#'
#' After stopping, ADMMBO selects its answer for the rest of the run. This is the point of largest posterior mean of
#' \eqn{f} whose posterior constraint means are at most 0. (In the paper of Shi and Eryilmaz its curves end there.) In
#' the history, `phase` is `"objective"`, `"constraint1"`, ... or `"answer"`.
#'
#' @section Settings: Arguments of [baseline_constrained()] for this method.
#'
#'   * `objective_evaluations`, `constraint_evaluations`: the numbers of queries of an objective step and of a
#'     feasibility step, in the first and in every later outer round. `c(10, 5)` and `c(50, 5)` by default.
#'   * `rho`, `weight`: the first \eqn{\rho}{rho}, and \eqn{M}, numbers > 0. 0.1 and 50 by default.
#'   * `outer`: the largest number of outer rounds, 15 by default.
#'   * `initial`: the number of initial random queries of each process, an integer >= 0. 2 by default.
#'   * `tolerance`: the two numbers of the stopping rule, `c(0.05, 0.075)` by default.
#'   * `share`: `TRUE` conditions every process on every query; `FALSE`, the default, as published.
#'   * `refit`: `NULL` (the default), or [refit_every()], by which each process refits its kernel and noise.
#' @section Guarantee: None for regret or violation. ADMM's own convergence needs convexity.
#' @section Methods: Those of [baseline_constrained()]. There are no contexts. A withdrawn query is asked again, a
#'   failed one is not.
#' @references Ariafar, Coll-Font, Brooks and Dy (2019), ADMMBO: Bayesian optimization with unknown constraints using
#'   ADMM, Journal of Machine Learning Research 20(123).
#' @concept constrained Bayesian optimization
#' @concept expected improvement
#' @concept alternating direction method of multipliers
#' @seealso [baseline_constrained()], [bandit_oco].
#' @examples
#' problem <- benchmark_problem("small_feasible", grid = 21)
#' set.seed(1)
#' b <- baseline_constrained("admmbo", problem$domain, kernel_matern(2.5, 1), 0.01,
#'                           constraint_evaluations = c(20, 5))
#' run_bandit(b, problem, 40)
#' table(b$history()$phase)
#' @name admmbo
NULL

admmbo_bandit <- function(domain, kernel, noise_var, count, ..., objective_evaluations = c(10, 5),
                          constraint_evaluations = c(50, 5), rho = 0.1, weight = 50, outer = 15, initial = 2,
                          tolerance = c(0.05, 0.075), share = FALSE, mean = 0, constraint_kernels = NULL,
                          constraint_noise_var = NULL, constraint_mean = 0, refit = NULL, journal = NULL,
                          trust = FALSE) {
  check_dots_empty(..., allowed = names(formals(admmbo_bandit)))
  if (!is.null(refit)) check_class(refit, "bandit_refit", hint = "refit_every()")
  parts <- gp_script_parts(domain, kernel, noise_var, NULL, count, mean, constraint_kernels, constraint_noise_var,
                          NULL, constraint_mean)
  models <- lapply(parts$models, function(one) c(one, list(refit = refit)))
  evaluations <- rbind(objective = check_evaluations(objective_evaluations, "objective_evaluations"),
                       constraint = check_evaluations(constraint_evaluations, "constraint_evaluations"))
  new_script_bandit("admmbo", parts$domain, parts$count, models = models, journal = journal, trust = trust)
}

check_evaluations <- function(x, arg) {
  allowed <- "two integers >= 1: in the first outer round, and in each later one"
  if (!is_number(x) || length(x) != 2 || any(!is.finite(x)) || any(x < 1 | x != round(x))) {
    stop_argument(arg, describe(x), allowed)
  }
  as.double(x)
}

check_evaluation_table <- function(evaluations) {
  if (!is.matrix(evaluations) || !identical(rownames(evaluations), c("objective", "constraint"))) {
    stop_argument("evaluations", describe(evaluations), "a matrix with the rows objective and constraint")
  }
  for (row in rownames(evaluations)) check_evaluations(evaluations[row, ], "evaluations")
  evaluations
}

# `step`: 0 for the objective step, j for the feasibility step of constraint j. `since`: the last query before it.
begin_admmbo <- function(config) {
  m <- config$constraints$count
  upper <- unname(input_ranges(config$domain)[2, ])
  list(outer = 1, step = 0, since = 0L, x = NULL,
       z = matrix(upper, m, length(upper), byrow = TRUE), before = NULL, y = matrix(0, m, length(upper)),
       rho = config$rho, answer = NULL)
}

admmbo_phase <- function(step) ifelse(step == 0, "objective", paste0("constraint", step))

# Model j is 1 for the objective, 1 + j for constraint j.
takes_admmbo <- function(config, phase, j) {
  config$share | phase == "given" | phase == admmbo_phase(j - 1)
}

propose_admmbo <- function(bandit) {
  memory <- bandit$memory
  known <- admmbo_known(bandit, memory$step)
  # A step whose rewards are all pending continues until one of them is observed.
  spent <- admmbo_asked(bandit, memory$step, since = memory$since) >= admmbo_budget(bandit$config, memory)
  if (is.null(memory$answer) && spent && length(known)) memory <- admmbo_advance(bandit, memory)
  if (!is.null(memory$answer)) return(list(point = memory$answer, memory = memory, phase = "answer"))
  random <- admmbo_asked(bandit, memory$step) < bandit$config$initial || length(admmbo_known(bandit, memory$step)) == 0
  list(point = if (random) sample_points(bandit$config$domain, 1) else admmbo_choice(bandit, memory),
       memory = memory, phase = admmbo_phase(memory$step), action = if (random) "explore" else "policy")
}

# The number of queries in this step of an outer round.
admmbo_budget <- function(config, memory) {
  config$evaluations[if (memory$step == 0) "objective" else "constraint", min(memory$outer, 2)]
}

# The number of the step's queries after `since` that were not withdrawn.
admmbo_asked <- function(bandit, step, since = 0L) {
  ids <- seq_len(table_size(bandit$queries) - since) + since
  sum(phases_of(bandit, ids) == admmbo_phase(step) & status_of(bandit, ids) != "withdrawn")
}

# Ids of the queries whose values the model of this step conditions on.
admmbo_known <- function(bandit, step) bandit$events$id[teaching(bandit, step + 1)]

# The step's target as functions of points: the model's part, the quadratic term, and their value at the posterior
# mean, which determines the best point so far.
admmbo_target <- function(bandit, memory) {
  model <- models_of(bandit)[[memory$step + 1]]
  rho <- memory$rho
  distance2 <- function(points, centre) {
    rowSums((points$inputs - rep(centre, each = nrow(points$inputs)))^2)
  }
  if (memory$step == 0) {
    centre <- colMeans(memory$z) - colMeans(memory$y) / rho
    scale <- nrow(memory$z) * rho / 2
    quadratic <- function(points) scale * distance2(points, centre)
    at_mean <- function(points) quadratic(points) - model_posterior(model, points, NULL)$mean
  } else {
    centre <- memory$x + memory$y[memory$step, ] / rho
    scale <- rho / (2 * bandit$config$weight)
    quadratic <- function(points) scale * distance2(points, centre)
    at_mean <- function(points) quadratic(points) + (model_posterior(model, points, NULL)$mean > 0)
  }
  list(model = model, quadratic = quadratic, at_mean = at_mean)
}

admmbo_choice <- function(bandit, memory) {
  target <- admmbo_target(bandit, memory)
  best <- min(target$at_mean(known_points(bandit, memory$step)))
  improvement <- if (memory$step == 0) objective_improvement else feasibility_improvement
  gain <- function(points) {
    improvement(best - target$quadratic(points), model_posterior(target$model, points, NULL))
  }
  found <- best_candidate(bandit, gain, scale = 0)
  if (found$value > 0) return(found$points)
  best_candidate(bandit, function(points) {
    p <- model_posterior(target$model, points, NULL)
    -target$quadratic(points) - if (memory$step == 0) -p$mean else 1 - feasible_probability(p)
  })$points
}

# E max(v + f, 0) for normal f: the expected improvement of F = -f plus a quadratic, with v = best - quadratic.
objective_improvement <- function(v, p) {
  gap <- v + p$mean
  z <- ifelse(p$sd > 0, gap / p$sd, 0)
  ifelse(p$sd > 0, gap * stats::pnorm(z) + p$sd * stats::dnorm(z), pmax(gap, 0))
}

# The expected improvement of a feasibility step: E max(v - 1[c > 0], 0).
feasibility_improvement <- function(v, p) {
  P <- feasible_probability(p)
  ifelse(v < 0, 0, ifelse(v < 1, v * P, v - (1 - P)))
}

feasible_probability <- function(p) ifelse(p$sd > 0, stats::pnorm(0, p$mean, p$sd), as.double(p$mean <= 0))

known_points <- function(bandit, step) logged_points(bandit, admmbo_known(bandit, step))

# The end of a step: x or z_j becomes the best point queried; then the next step or the next outer round begins.
admmbo_advance <- function(bandit, memory) {
  points <- known_points(bandit, memory$step)
  top <- which.min(admmbo_target(bandit, memory)$at_mean(points))
  inputs <- unname(points$inputs[top, ])
  memory$since <- table_size(bandit$queries)
  if (memory$step == 0) {
    memory$x <- inputs
    memory$before <- memory$z
  } else {
    memory$z[memory$step, ] <- inputs
  }
  if (memory$step == nrow(memory$z)) return(admmbo_next_outer(bandit, memory))
  memory$step <- memory$step + 1
  memory
}

admmbo_next_outer <- function(bandit, memory) {
  config <- bandit$config
  x <- rep(memory$x, each = nrow(memory$z))
  memory$y <- memory$y + memory$rho * (x - memory$z)
  size <- function(v) sqrt(sum(v^2))
  primal <- size(x - memory$z)
  dual <- memory$rho * size(memory$z - memory$before)
  least <- config$tolerance[1] * sqrt(length(memory$z))
  settled <- primal < least + config$tolerance[2] * max(size(x), size(memory$z)) &&
    dual < least + config$tolerance[2] * memory$rho * size(memory$y)
  if (settled || memory$outer == config$outer) {
    memory$answer <- recommend_by_means(bandit, NULL)
    return(memory)
  }
  if (primal > 10 * dual) memory$rho <- 2 * memory$rho
  else if (dual > 10 * primal) memory$rho <- memory$rho / 2
  memory$outer <- memory$outer + 1
  memory$step <- 0
  memory
}

register_script("admmbo", list(
  title = "ADMMBO",
  settings = alist(evaluations = check_evaluation_table(evaluations),
                   rho = check_number(rho, lower = 0, open_lower = TRUE),
                   weight = check_number(weight, lower = 0, open_lower = TRUE), outer = check_count(outer),
                   initial = check_count(initial, lower = 0),
                   tolerance = check_numbers(tolerance, lengths = 2, lower = 0), share = check_flag(share)),
  phases = function(count) c("objective", admmbo_phase(seq_len(count)), "answer"),
  state = function(config) begin_admmbo(config),
  suggest = function(bandit, context) propose_admmbo(bandit),
  recommend = recommend_by_means,
  takes = function(config, phase, j) takes_admmbo(config, phase, j)
))
