# `$expected_improvement()`: what the next experiments are expected to add. Layer: bandit.

#' The expected gain of the next experiments
#'
#' `$expected_improvement(n)` of a [GPBandit] returns how much the next `n` experiments are expected to improve the
#' recommended point.
#'
#' Use it to decide when to stop: compare the expected gain, in units of the reward, with the cost of `n` experiments.
#' [auto_bandit()] prints it for the next 4 experiments, `plot(bandit, "progress")` draws it, and the page of a
#' [bandit_service()] shows it.
#'
#' @section Usage: `$expected_improvement(n = 1, at_least = 0, context = NULL)`
#'
#' * `n`: number of experiments, an integer from 1 to 1000. Default 1.
#' * `at_least`: a gain in units of the reward, a number >= 0. Default 0.
#' * `context`: the context, if the bandit has contexts. Default `NULL`: none.
#'
#' @section Value: A data.frame with one row:
#'
#' * `mean`: the expected gain, in units of the reward. For `direction = "minimize"` it is the expected decrease.
#' * `sd`: the standard deviation of the gain.
#' * `probability`: the probability that the gain exceeds `at_least`.
#' * `hypervolume`, only with several objectives: that of the front now, see below.
#'
#' They are `NA` before the model is fitted, and with limits ([outcomes]) while no point is known where they hold.
#' @section Definition: The gain is the expected reward at the point that will be recommended after `n` more results,
#'   minus that at the point recommended without them:
#'   \deqn{G = f(\hat x_{t+n}) - f(\hat x_t).}{G = f(x_{t+n}) - f(x_t).}
#'   * The next points are a batch: those that `$suggest(n)` would return with the current model.
#'   * Joint draws of \eqn{f} at these points and at the recommended one, with noise, give 4096 draws of the results, of
#'     the point with the largest posterior mean after them, and of \eqn{G}. A noisy result may mislead, so \eqn{G} can
#'     be negative. With an average over models each draw is from one of them, chosen by its weight.
#'   * A gain counts as at most \eqn{n/(2n + 4t)}{n / (2 n + 4 t)} of the range of the \eqn{t}{t} rewards. Models that
#'     were fitted to few rewards expect larger gains, which real experiments do not have (see *Calibration*).
#'   * Fitted models also miss gains. Every second draw therefore does not use the model, but treats results as if they
#'     came in random order. The best one is then among the \eqn{m} new points with probability \eqn{m/(m + t)}{m / (m +
#'     t)}, and is better by an exponential variable. Its mean is the distance of the median from the nearer end of the
#'     posterior means at the evaluated points. Repeated points do not count in \eqn{m}.
#'   * A given model, and rewards with a likelihood, have neither. With contexts only the model is used.
#'   * Results of pending experiments are drawn too. They count for both recommended points: \eqn{G} is what the next
#'     experiments add to them.
#'   * With a `goal` ([goals]) \eqn{f} is the goal, and the best goal of the posterior means is recommended.
#'   * With several objectives \eqn{f(\hat x)}{f(x)} is the hypervolume of \eqn{f} at the points of the front, above the
#'     reference point of the policy. Without one, it is the worst value of each objective, less a tenth of the range.
#'     The front is that of the posterior means at the evaluated points. The unit is the product of the objectives'
#'     units, so divide by `hypervolume`. There are 512 draws, and a gain has no upper bound.
#'   * With limits, a point can be recommended if the posterior means after the results satisfy them.
#'   * The draws are fixed. The answer is the same each time, and later random numbers do not change.
#'
#'   In one step, the expected gain without noise is the expected improvement that [policy_ei()] maximises; with noise
#'   it is that of the knowledge gradient (Frazier, Powell and Dayanik 2009).
#' @section Calibration: In searches of nine tables of real experiments, four experiments were expected to add 0.085
#'   standard deviations of the table's values on average. They added 0.093, with a standard error of 0.011. By tenths
#'   of the expectation:
#'
#'   | tenth | 1-2 | 3-4 | 5-6 | 7 | 8 | 9 | 10 |
#'   |---|---:|---:|---:|---:|---:|---:|---:|
#'   | expected | 0.019 | 0.039 | 0.062 | 0.089 | 0.112 | 0.156 | 0.257 |
#'   | gained | 0.060 | 0.041 | 0.102 | 0.110 | 0.116 | 0.127 | 0.166 |
#'
#'   The largest tenth is too large by 0.09, with a standard error of 0.04: the spread of few rewards is a rough unit.
#'   The probability of a gain was 0.06 to 0.54 by tenths; 0.05 to 0.55 of the statements had one. The rule was chosen
#'   on eight other tables, but the results of these nine were known meanwhile. `bench/results/expected_gain.md` in the
#'   sources has all groups. Hypervolumes were not measured.
#' @section Errors: Bandits with comparisons, or with an algorithm without a single posterior, have no such number.
#' @references Frazier, Powell and Dayanik (2009), The knowledge-gradient policy for correlated normal beliefs, INFORMS
#'   Journal on Computing 21(4).
#' @seealso [stopping] for rules that stop a search; [calibration].
#' @concept number of experiments
#' @concept stopping criterion
#' @concept when to stop
#' @concept expected improvement
#' @concept knowledge gradient
#' @concept value of information
#' @examples
#' set.seed(1)
#' b <- auto_bandit(list(temp = c(40, 100)))
#' for (k in 1:8) {
#'   q <- b$suggest()
#'   b$observe(q$id, 80 - (q$temp - 70)^2 / 50 + rnorm(1))
#' }
#' b$expected_improvement(4, at_least = 0.5)
#' @name expected-improvement
NULL

bandit_expected_improvement <- function(bandit, n, at_least, context, ...) {
  check_dots_empty(..., allowed = c("n", "at_least", "context"))
  n <- check_count(n, upper = 1000)
  at_least <- check_number(at_least, "at_least", lower = 0)
  rebuild(bandit)
  check_gains(bandit$config)
  contexts <- contexts_for(bandit, context, 1L)
  gain <- kept_answer(bandit, list("gains", n, context), drawn_gains(bandit, n, contexts, context))
  # (The mean is not negative; that of the draws can be, if points are almost equal.)
  found <- data.frame(mean = max(0, mean(gain)), sd = stats::sd(gain), probability = mean(gain > at_least))
  if (length(objectives(bandit$config)) > 1) found$hypervolume <- or_else(attr(gain, "hypervolume"), NA_real_)
  found
}

# Why a bandit has no such gain; NULL if it has.
without_gains <- function(config) {
  if (!is.null(config$rule)) "an algorithm with its own rule"
  else if (of_form(config, "compares")) "comparisons"
}

check_gains <- function(config) {
  why <- without_gains(config)
  if (is.null(why)) return(invisible())
  stop_state("`$expected_improvement()` needs rewards and one posterior; this bandit has ", why, ".", argument = "n")
}

# (The hypervolume of each draw takes time.)
draws_of_gain <- function(config) if (length(objectives(config)) > 1) 512L else 4096L

# Draws of the gain in units of the reward; NA if it is not known.
drawn_gains <- function(bandit, n, contexts, context) {
  config <- current_config(bandit)
  if (!is_scale_known(config) || awaits_first_fit(bandit)) return(NA_real_)
  best <- if (length(objectives(config)) > 1) evaluated_front(bandit, context)
          else points_in_frame(config, likely_best(bandit, context), "x")
  if (point_total(best) == 0) return(NA_real_)
  best <- points_in_log(config, best, subset_contexts(contexts, rep(1L, point_total(best))))
  ahead <- asked_ahead(bandit, n, contexts)
  drawn <- preserve_rng({
    set_stream_seed(1)
    lapply(seq_len(outcome_count(config)), function(k) {
      draw_results(ahead$bandit, k, best, ahead$pending, length(ahead$new))
    })
  })
  if (length(objectives(config)) > 1) return(gains_of_front(bandit, drawn, length(ahead$new)))
  value <- values_in_draws(ahead, best, contexts, config)
  before <- recommended_in_draws(drawn, value, config, "before")
  after <- recommended_in_draws(drawn, value, config, "after")
  if (all(is.na(before))) return(NA_real_)
  # (Results of pending or new experiments may contradict the limits everywhere: then nothing else is recommended.)
  before[is.na(before)] <- 1L
  after[is.na(after)] <- before[is.na(after)]
  worth <- value(drawn, "f")
  at <- seq_along(before)
  gain <- as_rewards_gained(worth[cbind(before, at)], worth[cbind(after, at)], config)
  if (has_response(bandit$config) || is.null(bandit$config$refit)) return(gain)
  known <- if (is.null(config$goal)) cpp_bandit_known(bandit$handle, 1L)$value
           else stats::na.omit(goals_of_queries(bandit, seq_len(table_size(bandit$queries))))
  gain <- pmin(gain, diff(range(known)) * n / (2 * (n + 2 * length(known))))
  if (length(config$context_names)) return(gain)
  count <- new_points(ahead)
  with_records(gain, means_at_evaluated(bandit), count / (length(known) + length(ahead$pending) + count))
}

# A model of few rewards expects too much of some points, and does not expect the gains that come where it expects none
# (`bench/results/expected_gain.md`). Every second draw is therefore of results in random order: the best of them is a
# new one with this probability. Then it exceeds the others by an exponential variable, whose mean is the distance of
# the median from the nearer end of the evaluated points' means.
with_records <- function(gain, means, probability) {
  if (length(means) < 2 || anyNA(means)) return(gain)
  middle <- stats::median(means)
  spread <- min(max(means) - middle, middle - min(means))
  at <- seq(2, length(gain), by = 2)
  above <- 1 - (seq_along(at) - 0.5) / length(at)
  gain[at] <- ifelse(above < probability, spread * log(probability / above), 0)
  gain
}

# The posterior means of what is maximised or minimised at the distinct evaluated points.
means_at_evaluated <- function(bandit) {
  config <- bandit$config
  points <- evaluated_outcomes(bandit)$points
  points <- subset_points(points, !duplicated(row_numbers(points$inputs)))
  if (!of_form(config, "several")) return(posterior_at(bandit, points, NULL)$mean)
  outcomes_at(bandit, points, NULL)[[if (is.null(config$goal)) paste0(objectives(config), "_mean") else "goal_mean"]]
}

# The number of new queries at points that no earlier query has.
new_points <- function(ahead) {
  inputs <- logged_points(ahead$bandit, seq_len(table_size(ahead$bandit$queries)))$inputs
  sum(!duplicated(row_numbers(inputs))[ahead$new])
}

# The evaluated points that no other one dominates by its means.
evaluated_front <- function(bandit, context) {
  points <- evaluated_outcomes(bandit)
  if (!length(points$ids)) return(points$points)
  at <- outcomes_at(bandit, points$points, context)
  allowed <- which(at$feasible >= 0.5)
  values <- signed_objectives(as.matrix(at[paste0(objectives(bandit$config), "_mean")]), bandit$config)
  subset_points(points$points, allowed[is_nondominated(values[allowed, , drop = FALSE])])
}

# Draws of the gain of hypervolume. In `drawn` the rows are the points of the front, pending and `new` ones.
gains_of_front <- function(bandit, drawn, new) {
  config <- current_config(bandit)
  reference <- reference_point(evaluated_objectives(bandit), config)
  wanted <- match(objectives(config), outcome_names(config))
  worth <- lapply(wanted, function(k) {
    one <- outcome_config(config, k)
    output_sign(one) * as_rewards(drawn[[k]]$f, one)
  })
  volumes <- function(when, rows) {
    front <- is_front_in_draws(lapply(drawn, function(one) one[[when]][rows, , drop = FALSE]), wanted, config)
    vapply(seq_len(ncol(front)), function(d) {
      kept <- rows[front[, d]]
      values <- unlist(lapply(worth, function(f) f[kept, d]))
      if (length(kept)) cpp_hypervolume(matrix(values, length(kept)), reference) else 0
    }, 0)
  }
  count <- nrow(worth[[1]])
  before <- volumes("before", seq_len(count - new))
  structure(volumes("after", seq_len(count)) - before, hypervolume = mean(before))
}

evaluated_objectives <- function(bandit) {
  signed_objectives(evaluated_outcomes(bandit)$values[, objectives(bandit$config), drop = FALSE], bandit$config)
}

# Which points (rows) are in the front of posterior means, in each draw? `means`: a matrix for each outcome.
is_front_in_draws <- function(means, wanted, config) {
  allowed <- allowed_in_draws(means, config)
  out <- allowed
  for (i in seq_len(nrow(out))) for (j in seq_len(nrow(out))[-i]) {
    as_good <- Reduce(`&`, lapply(means[wanted], function(m) m[j, ] >= m[i, ]))
    better <- j < i | Reduce(`|`, lapply(means[wanted], function(m) m[j, ] > m[i, ]))
    out[i, ] <- out[i, ] & !(allowed[j, ] & as_good & better)
  }
  out
}

# Do the posterior means satisfy the limits?
allowed_in_draws <- function(means, config) {
  roles <- outcome_roles(config)
  allowed <- matrix(TRUE, nrow(means[[1]]), ncol(means[[1]]))
  for (k in which(vapply(roles, is_limited, NA))) {
    role <- core_role(roles[[k]], outcome_config(config, k))
    allowed <- allowed & means[[k]] >= role$lower & means[[k]] <= role$upper
  }
  allowed
}

# A function of draws that returns what is maximised at each point (rows) in each draw: the objective in the model's
# units, or the goal.
values_in_draws <- function(ahead, best, contexts, config) {
  if (is.null(config$goal)) return(function(drawn, what) drawn[[1]][[what]])
  ids <- c(ahead$pending, ahead$new)
  first <- kernel_inputs_of(config, points_found(config, best), contexts)
  others <- kernel_inputs_of(config, logged_points(ahead$bandit, ids), contexts_of_queries(ahead$bandit, ids))
  inputs <- rbind(first, others)
  function(drawn, what) {
    size <- dim(drawn[[1]][[what]])
    values <- vapply(seq_along(drawn), function(k) {
      expected_outcomes(outcome_config(config, k), as.double(drawn[[k]][[what]]))
    }, numeric(prod(size)))
    goal <- goal_values(config, matrix(values, prod(size)), inputs[rep(seq_len(size[1]), size[2]), , drop = FALSE])
    goal_sign(config$goal) * matrix(ifelse(is.na(goal), -largest_number, goal), size[1])
  }
}

as_rewards_gained <- function(before, after, config) {
  if (!is.null(config$goal)) return(after - before)
  one <- outcome_config(config, 1)
  output_sign(one) * (as_rewards(after, one) - as_rewards(before, one))
}

# A copy with the parameters in force from the start: without the events of refits its replay is much faster.
twin_without_refits <- function(bandit) {
  events <- table_columns(bandit$events)
  kept <- !events$kind %in% believing
  twin <- as.environment(new_bandit(current_config(bandit), table_copy(bandit$queries),
                                    table_of(lapply(events, `[`, kept)), memory = NULL))
  handle <- cpp_bandit_new(core_config(twin$config))
  log <- played_log(twin)
  cpp_bandit_replay(handle, log$queries, log$contexts, log$events, log$refits, 0L, NULL, integer())
  twin$handle <- handle
  twin
}

# A copy in which the next points have been suggested by the current model: ids of the pending queries and of the new
# ones.
asked_ahead <- function(bandit, n, contexts) {
  twin <- twin_without_refits(bandit)
  pending <- which(status_of(twin, seq_len(table_size(twin$queries))) %in% c("pending", "partial"))
  of <- function(count) subset_contexts(contexts, rep(1L, count))
  left <- if (isTRUE(twin$config$noiseless)) suppressMessages(length(rows_with_points_left(twin, of(n), FALSE))) else n
  preserve_rng({
    designed <- min(left, unplayed_of_design(twin, of(1)))
    if (designed > 0) ask_design(twin, of(designed), NA_real_)
    if (left > designed) ask(twin, of(left - designed), NA_real_)
  })
  before <- table_size(bandit$queries)
  list(bandit = twin, pending = pending, new = before + seq_len(table_size(twin$queries) - before))
}

# Joint draws of an outcome at the recommended points, the pending ones and the new ones (rows): `f`, and its posterior
# mean given the results of the pending ones (`before`) or of all (`after`), in the model's units.
draw_results <- function(twin, k, best, pending, new) {
  ids <- c(pending, table_size(twin$queries) - new + seq_len(new))
  models <- cpp_bandit_joint_moments(twin$handle, k - 1L, best, as.integer(ids))
  weight <- vapply(models, `[[`, 0, "weight")
  draws <- draws_of_gain(current_config(twin))
  # (Systematic sampling: each model has its share of the draws.)
  model <- findInterval((seq_len(draws) - 0.5) / draws, cumsum(weight / sum(weight)), left.open = TRUE) + 1L
  if (k > 1) model <- sample(model)
  first <- length(best$arm)
  out <- lapply(c(f = 1, before = 2, after = 3), function(what) matrix(0, first + length(ids), draws))
  for (m in unique(model)) {
    at <- which(model == m)
    part <- draw_under_model(models[[m]], first, length(pending), length(at), outcome_config(current_config(twin), k))
    for (name in names(out)) out[[name]][, at] <- part[[name]]
  }
  out
}

draw_under_model <- function(model, first, pending, draws, config) {
  count <- length(model$mean)
  noise_var <- of_form(config, "noise_of_results")(model, config)
  e <- eigen(model$covariance, symmetric = TRUE)
  root <- e$vectors * rep(sqrt(pmax(e$values, 0)), each = count)
  f <- model$mean + root %*% matrix(stats::rnorm(count * draws), count)
  y <- f + sqrt(noise_var) * matrix(stats::rnorm(count * draws), count)
  given <- function(rows) {
    if (length(rows) == 0) return(matrix(model$mean, count, draws))
    s <- model$covariance[rows, rows, drop = FALSE]
    noise <- pmax(noise_var[rows], 1e-9 * max(diag(s), 1e-300))
    model$mean + model$covariance[, rows, drop = FALSE] %*%
      solve(s + diag(noise, length(rows)), y[rows, , drop = FALSE] - model$mean[rows])
  }
  list(f = f, before = given(first + seq_len(pending)), after = given(first + seq_len(count - first)))
}

# The row of the recommended point in each draw; NA if the limits hold nowhere.
recommended_in_draws <- function(drawn, value, config, when) {
  value <- value(drawn, when)
  value[!allowed_in_draws(lapply(drawn, `[[`, when), config)] <- -Inf
  row <- max.col(t(value), "first")
  ifelse(is.finite(value[cbind(row, seq_along(row))]), row, NA_integer_)
}

# For rewards with a likelihood: the inverse of the Fisher information of one result about f, at f's mean.
noise_of_responses <- function(model, config) {
  sampling <- sampling_of(config)
  if (!sampling$discrete) return(model$noise_var)
  vapply(if (is_reflected(config)) -model$mean else model$mean, function(f) {
    y <- trait(config$rewards, "support")(f)
    1 / max(sum(exp(sampling$log_p(y, 1, f)) * slope_of_reward(sampling, y, 1, f)^2), 1e-12)
  }, 0)
}

# What the next experiments add, for prints and plots: NULL if the model was not fitted, or if there is no such number.
gain_of_next <- function(bandit) {
  config <- current_config(bandit)
  if (is.null(config$models) || length(config$context_names) || !is.null(without_gains(config))) return(NULL)
  gain <- bandit_expected_improvement(bandit, shown_experiments, 0, NULL)
  if (!is.na(gain$mean)) gain
}

gain_as_text <- function(bandit) {
  gain <- gain_of_next(bandit)
  if (is.null(gain)) return(NULL)
  to <- if (!is.null(gain$hypervolume)) sprintf(" to the hypervolume of %.3g", gain$hypervolume)
  sprintf("the next %d are expected to add %.2g%s, sd %.2g (more than 0 with probability %.2g)", shown_experiments,
          gain$mean, or_else(to, ""), gain$sd, gain$probability)
}

shown_experiments <- 4

register_form("reward", noise_of_results = function(model, config) model$noise_var)
register_form("response", noise_of_results = noise_of_responses)
