# `check_model()`: predictions against observed rewards. Layer: bandit.

#' Check a Gaussian process by leave-one-out predictions
#'
#' `check_model()` compares the observed rewards with the model's leave-one-out and one-step-ahead predictions.
#'
#' All predictions and guarantees of a Gaussian-process bandit depend on its kernel, noise variance and prior mean. The
#' check finds models that contradict the rewards. It cannot prove a model right: it uses only points that were
#' evaluated, and cannot detect a maximum that was missed. Under [scale_outputs()], the check is about the scaled
#' rewards. The formulas are on the page [check-model-tests].
#'
#' @param object a bandit, a [gp_regression()] or [gp_fit()], or a result of [maximize_bandit()].
#' @param by the unit that is left out: `"place"`, the default, all rewards of a point; `"reward"`, one reward;
#'   `"context"`, all rewards of a context.
#' @param outcome name of the outcome whose model is checked, for a bandit with several [outcomes]. `NULL`, the
#'   default: the first objective.
#' @param ... not used.
#' @section Tests:
#' * `scale`: are the one-step-ahead residuals as large as predicted? Two-sided.
#' * `largest`: is the largest one-step-ahead residual too large?
#' * `noise`: does the size of the one-step-ahead residuals change with the predicted mean? This indicates
#'   heteroscedastic noise.
#' * `order`: are larger rewards observed at points with larger leave-one-out means? A weak test. A negative value
#'   means that the model orders points no better than chance.
#'
#' The one-step-ahead residual of a reward is the difference from its prediction given all earlier rewards. The tests
#' assume that the time at which a reward arrives does not depend on its value.
#'
#' Hyperparameters that were fitted to the same rewards make all residuals small. With [refit_every()], the tests
#' therefore use the predictions that were made when each point was chosen. They use those after the first refit,
#' without pending evaluations, and need at least five; with fewer, `scale` is `NA`. For [gp_fit()], `noise` uses the
#' fitted hyperparameters.
#' @section Verdict:
#' * *Against the model*: a p-value of `scale` or `largest` below 0.001.
#' * *Note*: one of these below 0.01, a `noise` test below 0.01, or an `order` below 0 from 20 rewards on. With fitted
#'   hyperparameters also a leave-one-out residual \eqn{|z|} above 3.3.
#' * *Nothing against the model*: otherwise.
#'
#' Verdicts come with advice. `summary()` and `$certificate()` print the line of the check. If the verdict is against
#' the model, they also raise a warning of class `gpbandits_model`, once for each bandit. Because checks are repeated,
#' the \eqn{j}-th check warns only if the p-value is below \eqn{0.001/(j(j+1))}{0.001 / (j (j + 1))}.
#' @return A list of class `bandit_check`:
#'
#' * `rewards`: number of rewards checked; `total`: number of all rewards (see *Cost*).
#' * `held`: number of rewards within their 95% interval.
#' * `largest`: largest \eqn{|z|} of the leave-one-out residuals.
#' * `tests`: a data.frame with `test`, `statistic` and `p`.
#' * `log_score`: mean log density (or log probability) of the rewards left out.
#' * `constant_score`: the same for a normal distribution fitted to the other rewards. It is `NA` with one or two
#'   points, because this has no spread.
#' * `verdict`, `advice`: in words.
#' * `data`: a data.frame with a row for each group left out (by context, for each of its rewards), also returned by
#'   `as.data.frame()`. Its columns are `id` (of the first reward), the point, `reward`, `mean`, `sd`, `z` and `pit`.
#'
#' `mean` and `sd` are leave-one-out predictions of the function in units of the rewards. `z` is the standardised
#' residual and `pit` is \eqn{\Phi(z)}{Phi(z)}. `plot()` invisibly returns a data.frame of the data drawn.
#' @section Errors: At least 3 rewards are needed, and with `by = "context"` a bandit with contexts. There is no check
#'   for comparisons and rankings, for [change_oracle()] by weights, or for policies without a posterior. `by =
#'   "context"` needs rewards with Gaussian noise.
#' @section Cost: The check needs one posterior at the evaluated points. For \eqn{n} rewards at \eqn{d} distinct
#'   points, the residuals take \eqn{nd^2}{n d^2} operations, at most \eqn{n^3/3}{n^3 / 3}. Beyond 3,000 rewards the
#'   predictions made at the choice are used, as with refits. A bandit with more than 1,000 distinct points has only the
#'   rewards at about 1,000 of them left out, which are spread evenly; the printed line says how many.
#' @seealso [calibration] for the meaning of predictions; [refit_every()] and [gp_model()] to change the model.
#' @concept model diagnostics
#' @concept leave-one-out cross-validation
#' @concept calibration
#' @concept goodness of fit
#' @concept residuals
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' right <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01)
#' set.seed(1)
#' run_bandit(right, problem, 30)
#' check_model(right)
#' # A noise variance that is too small by a factor of 100:
#' wrong <- gp_ucb(x, kernel_se(0.2), noise_var = 1e-4)
#' run_bandit(wrong, problem, 30)
#' check_model(wrong)
#' plot(check_model(wrong))
#' @export
check_model <- function(object, by = c("place", "reward", "context"), outcome = NULL, ...) {
  check_dots_empty(..., allowed = c("by", "outcome"))
  by <- check_choice(by, c("place", "reward", "context"))
  if (missing(object)) stop_missing("object", checkable)
  model_check(checked_data(object, outcome), by)
}

#' How the tests of check_model() are computed
#'
#' How [check_model()] computes its residuals and p-values, for readers who want to use or check them. There are two
#' kinds of predictions: leave-one-out and one-step-ahead.
#'
#' In the formulas \eqn{y} are the \eqn{n} rewards in order of arrival, \eqn{m} their prior means, and \eqn{A} their
#' covariance matrix, which includes the noise. sd is the posterior standard deviation.
#'
#' @section Leave-one-out predictions:
#' The rewards at a point (or one of them) are left out, and predicted from the others. The model is not fitted again:
#' the result follows from the posterior mean \eqn{\mu}{mu} and sd \eqn{\sigma}{sigma} at this point. Let
#' \eqn{\bar y}{ybar} be the weighted mean of the rewards left out, and \eqn{\lambda_{\bar y}}{lambda_ybar} its noise
#' variance. The leverage is
#' \deqn{h = \sigma^2/\lambda_{\bar y}.}{h = sigma^2 / lambda_ybar.}
#'
#' The leave-one-out mean, variance and standardised residual are
#'
#' \deqn{\mu_- = \frac{\mu - h\bar y}{1 - h},\qquad \sigma_-^2 = \frac{\sigma^2}{1-h},\qquad z = \frac{\bar y -
#' \mu_-}{\sqrt{\lambda_{\bar y}/(1-h)}}.}{mean = (mu - h ybar) / (1 - h), sd^2 = sigma^2 / (1 - h), z = (ybar - mean)
#' / sqrt(lambda_ybar / (1 - h)).}
#'
#' Three cases are computed differently:
#'
#' * If \eqn{1-h} is below 1e-8 (with at most 200 points: 0.1), or below 20 times the accuracy of a low-rank engine, the
#'   row is solved from \eqn{A}. This is done for at most 3,000 rewards.
#' * With `by = "context"`, a group \eqn{B} of rewards is left out. Its covariance and mean are
#'   \deqn{V = ([A^{-1}]_{BB})^{-1}, \qquad y_B - V(A^{-1}(y - m))_B.}{V = ([A^-1]_BB)^-1, y_B - V (A^-1 (y - m))_B.}
#' * With several models ([refit_every()]), rewards are left out of each one, and the models keep their weights. `mean`
#'   and `sd` are those of the mixture. `pit`, the probability integral transform, is the mixture's distribution
#'   function at the reward, and `z` is the normal quantile of `pit`.
#' @section One-step-ahead residuals:
#' Each reward is predicted from the rewards that arrived before it. With the Cholesky factor
#' \eqn{LL^\top = A}{L L' = A}, the standardised residuals are
#' \deqn{\epsilon = L^{-1}(y - m).}{eps = L^-1 (y - m).}
#'
#' Leave-one-out residuals depend on each other. These do not: under the model they are independent standard normal.
#' This also holds if a bandit chose the points, because each choice is fixed given the past (original result, not
#' peer-reviewed).
#' @section Test statistics:
#' * `scale`: \eqn{\sum\epsilon^2}{sum of eps^2}, compared with \eqn{\chi^2_n}{chi-squared with n degrees of freedom};
#' * `largest`: the p-value is \eqn{1 - (2\Phi(\max|\epsilon|) - 1)^n}{1 - (2 Phi(max |eps|) - 1)^n};
#' * `noise`: Spearman's correlation of \eqn{|\epsilon|}{|eps|} with the one-step-ahead mean. (Leave-one-out residuals
#'   of neighbours depend on each other. With them the test rejected 9 to 17% of correct models at the level of 5%.)
#' * `order`: Spearman's correlation of the leave-one-out mean with the rewards.
#'
#' In 200 simulations of each of four correct models, with noise sd 0.01 to 1 and 12 to 60 rewards, p-values of `noise`
#' were below 0.05 in 2 to 4% of the runs (`bench/promises_stopping.R`).
#'
#' The limit 3.3 for the largest \eqn{|z|} is from simulations of a correct model. 1 in 100 exceeded 3.48 with given
#' hyperparameters, and 2.93 to 3.26 with hyperparameters fitted to 20 and 40 rewards.
#' @section Binary, count, ordinal and robust rewards:
#' For [rewards_binary()], [rewards_counts()], [rewards_ordinal()] and [rewards_robust()], the posterior is approximate.
#' The log likelihood of a reward has the slope \eqn{\ell'}{l'} and the weight \eqn{w} at the posterior mean. Without
#' this reward the prediction (cavity distribution) is
#' \deqn{1/\sigma_-^2 = 1/\sigma^2 - w, \qquad \mu_- = \mu - \sigma_-^2\ell'.}{1 / sd_^2 = 1 / sd^2 - w, mean_ = mu -
#' sd_^2 l'.}
#'
#' This is as accurate as the approximation of the likelihood, and needs no other fit. Further differences:
#'
#' * `by = "place"` leaves out all rewards of a point, and has a row for each of them.
#' * `mean` and `sd` are those of the expected reward of one trial.
#' * `pit` is random within the step of a discrete distribution function, with the same random number in each call. `z`
#'   is its normal quantile.
#' * `constant_score` uses a constant model of the same kind of rewards.
#' * Tests use predictions made at the choice of a point, without pending evaluations (at least five).
#' * `order` never causes a note.
#'
#' These tests seldom reject a correct model. In simulations of 50 rewards (300 runs of each kind), p-values of `scale`
#' and `largest` were below 0.01 in 0 to 0.7% of the runs. They were below 0.001 in none, except for `largest` with
#' outliers (0.7%). Rewards that are single trials or levels have little power against a wrong model.
#' @seealso [check_model()].
#' @concept leave-one-out cross-validation
#' @concept probability integral transform
#' @references Rasmussen and Williams (2006), *Gaussian Processes for Machine Learning*, equations 5.12 (leave-one-out)
#'   and 3.56 (cavity distribution).
#' @examples
#' x <- c(0.1, 0.4, 0.5, 0.9)
#' y <- c(0.3, 1, 0.8, -0.2)
#' b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01)
#' for (k in 1:4) b$add(arm = k, reward = y[k])
#' # The one-step-ahead residuals by their formula, and their mean square:
#' L <- t(chol(kernel_gram(kernel_se(0.2), x) + 0.01 * diag(4)))
#' mean(solve(L, y)^2)
#' check_model(b)$tests[1, ]
#' @name check-model-tests
NULL

# ---- rewards and predictions ------------------------------------------------------
# The data of a check are a list:
#   `id`, `point`   of the rewards; `point` is a data.frame, NULL for regressions.
#   `reward`        in the user's units. The following elements are in the model's units.
#   `y`, `prior`    rewards minus the prior mean, and that mean.
#   `noise`         noise variances.
#   `mean`, `sd`    of f at the point, minus the prior mean; `accuracy`: of both.
#   `x`             inputs in the kernel's format.
#   `context`       numbers of groups, or NULL.
#   `counts`        FALSE for values that only replace a reward.
#   `gram_at()`     the covariance at the points of some rewards.
#   `dense`         TRUE if only this covariance yields the left-out predictions.
#   `arrival`       the order in which rewards arrived.
#   `said`          `z` and `mean` of the predictions at the choice, if innovations cannot be computed.
#   `slope`         of the outcome transform.
#   `user(mean, sd)`  a function that converts both to the user's units.

checkable <- "a bandit, gp_regression(), gp_fit(), maximize_bandit()"

checked_data <- function(object, outcome = NULL) {
  if (inherits(object, "gp_regression")) check_absent(outcome, "outcome", "a regression has one")
  if (inherits(object, "gp_regression")) return(regression_checked(check_class(object, "gp_regression")))
  if (inherits(object, "bandit_maximum")) object <- check_class(object, "bandit_maximum")$bandit
  check_bandit(object, allowed = checkable)
  check_bandit_outcome(outcome, object$config)
  number <- if (is.null(outcome)) 1L else match(outcome, outcome_names(object$config))
  bandit_checked(looked_at(frame_of(object)), number)
}

regression_checked <- function(object) {
  n <- length(object$y)
  at <- predict(object)
  list(id = seq_len(n), point = as.data.frame(object$x), reward = object$y, y = object$y - object$mean,
       prior = rep(object$mean, n),
       noise = noise_scales(object) * object$noise_var, mean = at$mean - object$mean, sd = at$sd, x = object$x,
       counts = rep(TRUE, n), gram_at = grams(object$kernel, object$x), accuracy = 0,
       arrival = seq_len(n), said = if (object$estimated > 0) no_residuals, slope = rep(1, n),
       user = function(mean, sd) list(mean = mean, sd = sd))
}

# `k`: the number of the outcome.
bandit_checked <- function(bandit, k = 1L) kind_of(bandit)$checked(bandit, k)

core_checked <- function(bandit, k) {
  check_remembers(bandit, "object", "`check_model()`")
  rebuild(bandit)
  config <- outcome_config(current_config(bandit), k)
  changes <- rule_in_force(config)
  if (trait(changes, "reweighs")) {
    stop_state("`check_model()` does not support change_oracle(by = \"weights\"): the weights are no model of the ",
               "rewards.", argument = "object")
  }
  of_form(config, "checked")(bandit, config, changes, k)
}

measurements_checked <- function(bandit, config, changes, k) {
  known <- cpp_bandit_known(bandit$handle, k)
  check_enough(sum(is_reported(bandit, known$id, k)))
  if (is.finite(trait(changes, "lasting"))) known <- lapply(known, utils::tail, trait(changes, "lasting"))
  counts <- is_reported(bandit, known$id, k)
  scaled <- through_map(output_map(config), known, config$noise_var)
  x <- known_inputs(bandit, known$id)
  noise_under <- function(config) noise_of(known, config, scaled$noise_var, x)
  noise <- noise_under(config)
  prior <- known_prior_mean(bandit, known$id, config$mean)
  decay <- trait(changes, "decay")
  chosen <- rows_to_check(x)
  at <- if (is.null(decay)) at_rows(chosen, posterior_where_played(bandit, known$id[chosen], k))
  point <- query_frame(bandit, known$id)[-1]
  contexts <- config$context_names
  list(id = known$id, point = point, reward = known$value, y = scaled$value - prior, noise = noise, prior = prior,
       mean = at$mean - prior, sd = at$sd, x = x,
       context = if (length(contexts)) match_frames(point[contexts], unique(point[contexts])),
       counts = counts, chosen = chosen,
       gram_at = grams(config$kernel, x, known$id, decay), dense = !is.null(decay),
       models = if (k == 1 && !is.null(config$models)) models_checked(bandit, known$id, config, scaled$value, x,
                                                                      noise_under, decay, chosen),
       accuracy = error_bound_or_0(bandit), arrival = order_of_arrival(bandit, known$id, k),
       said = said_of_outcome(bandit, known, k), slope = scaled$slope,
       user = function(mean, sd) in_user_units(data.frame(mean = mean, sd = sd), config))
}

# Of many rewards, those at this number of points are left out and predicted.
most_checked <- 1000

# Rows at points that are spread evenly over the order of the points: their number times the golden ratio has a small
# fractional part.
rows_to_check <- function(x) {
  point <- row_numbers(x)
  share <- most_checked / max(point, 1)
  (0.6180339887498949 * (point - 1)) %% 1 < share
}

# Predictions at some rows; NA at the others.
at_rows <- function(rows, values) {
  at <- match(seq_along(rows), which(rows))
  if (is.data.frame(values)) values[at, , drop = FALSE] else as.matrix(values)[at, , drop = FALSE]
}

# (A sparse basis has no bound: it is a model of its own.)
error_bound_or_0 <- function(bandit) {
  bound <- error_bound_of(bandit)
  if (is.na(bound)) 0 else bound
}

# The values that differ between the models, and the models' weights, if the posterior is an average (see
# refit_every()).
models_checked <- function(bandit, ids, config, scaled, x, noise_under, decay, chosen) {
  at <- lapply(cpp_bandit_models_at(bandit$handle, ids[chosen]), at_rows, rows = chosen)
  Map(function(config, k) {
    prior <- known_prior_mean(bandit, ids, config$mean)
    list(weight = config$weight, y = scaled - prior, prior = prior, noise = noise_under(config),
         mean = at$mean[, k] - prior,
         sd = at$sd[, k], gram_at = grams(config$kernel, x, ids, decay),
         # (Some models have almost zero noise: their rows are solved.)
         accuracy = max(error_bound_or_0(bandit), 5e-6))
  }, configs_of_models(config), seq_along(config$models))
}

# The first of a rule's models is that of f.
script_checked <- function(bandit, k) {
  if (!has_posterior(bandit)) {
    stop_state("`check_model()` needs a bandit with a posterior; ", describe_policy(bandit$config$policy),
               " has none.", argument = "object")
  }
  rebuild(bandit)
  bandit_checked(as.environment(models_of(bandit)[[1]]))
}

# (The log has the model state at the choice for the first outcome only.)
said_of_outcome <- function(bandit, known, k) {
  if (!is_fitted(bandit) && length(known$id) <= most_dense) return(NULL)
  if (k == 1) said_at_choice(bandit, known) else no_residuals
}

check_bandit_outcome <- function(outcome, config) {
  if (is.null(outcome)) return(invisible())
  check_choices(outcome, outcome_names(config), "outcome")
  if (length(outcome) > 1) stop_argument("outcome", describe(outcome), "one of the outcomes")
}

# Rewards may arrive in another order than their queries.
order_of_arrival <- function(bandit, ids, k = 1L) {
  kind <- table_column(bandit$events, "kind")
  # (A given point may receive its reward later.)
  reported <- kind %in% event_kind[c("reward", "given")] & !is.na(table_column(bandit$events, "reward"))
  if (of_form(bandit$config, "several")) reported <- reported & table_column(bandit$events, "outcome") %in% k
  order(match(ids, table_column(bandit$events, "id")[reported]))
}

# Residuals of rewards by the mean and sd in the log, each with the parameters of its choice. Only after the first refit
# (if there are refits), and only if all earlier rewards had arrived. `known`: ids, rewards and their own noise.
said_at_choice <- function(bandit, known) {
  reported <- rows_said_of(bandit, known)
  before <- reported$before
  queries <- bandit$queries
  out <- residuals_of(rep(NA_real_, length(before)), NA_real_)
  for (k in unique(before)) {
    at <- reported$rows[before == k]
    config <- if (k == 0) bandit$config else refitted_config(bandit$config, bandit$refits[[k]])
    here <- lapply(known, `[`, at)
    scaled <- through_map(output_map(config), here, config$noise_var)
    noise <- noise_of(here, replace(config, "noise_var", expected_noise(config)), scaled$noise_var,
                      known_inputs(bandit, here$id))
    at_choice <- data.frame(mean = queries$mean[known$id[at]], sd = queries$sd[known$id[at]])
    out[before == k, ] <- residuals_of((scaled$value - at_choice$mean) / sqrt(at_choice$sd^2 + noise),
                                       in_user_units(at_choice, config)$mean)
  }
  out[is.finite(out[, "z"]), , drop = FALSE]
}

# ---- leaving out -----------------------------------------------------------------------

model_check <- function(data, by) {
  total <- check_enough(sum(data$counts))
  count <- if (by == "context" || is.null(data$chosen)) total else sum(data$counts & data$chosen)
  if (by == "context" && is.null(data$context)) {
    stop_argument("by", "\"context\", because this bandit has no contexts", "\"place\" or \"reward\"")
  }
  if (by == "context" && !is.null(data$left_out)) {
    stop_argument("by", "\"context\", because its results have no Gaussian noise", "\"place\" or \"reward\"")
  }
  left <- if (!is.null(data$left_out)) data$left_out(by) else left_out_by(data, by)
  frame <- left_out_frame(data, left)
  own <- own_columns(frame, names(data$point))
  if (!is.null(data$rate)) own$reward <- data$rate[data$counts]
  out <- list(rewards = count, total = total, by = by, fitted = or_else(data$fitted, !is.null(data$said)),
              groups = nrow(frame), held = sum(abs(own$z) <= stats::qnorm(0.975), na.rm = TRUE),
              largest = max(abs(own$z), na.rm = TRUE), tests = model_tests(data, own), data = frame,
              inputs = as.character(names(data$point)))
  scores <- log_scores(data, left)
  structure(c(out, scores, judge_model(out, data)), class = "bandit_check")
}

left_out_by <- function(data, by) {
  if (is.null(data$models)) return(if (by == "context") left_out_blocks(data) else left_out_points(data, by))
  left_out_of_models(data, by)
}

# Each model without the left-out values, and the average with the models' weights: `z` is the normal quantile of
# the mixture's distribution function.
left_out_of_models <- function(data, by) {
  parts <- lapply(data$models, function(model) left_out_by(utils::modifyList(data, c(model, list(models = NULL))), by))
  weight <- vapply(data$models, function(model) model$weight, 0)
  over <- function(field) vapply(parts, function(part) part[[field]], numeric(length(parts[[1]]$mean)))
  out <- parts[[1]][c("group", "first")]
  prior <- vapply(data$models, function(model) model$prior[out$first], numeric(length(out$first)))
  by_model <- function(values) matrix(values, ncol = length(parts))
  mean <- by_model(over("mean")) + by_model(prior) - data$prior[out$first]
  value <- by_model(over("value")) + by_model(prior) - data$prior[out$first]
  variance <- by_model(over("variance"))
  z <- (value - mean) / sqrt(variance + by_model(over("noise")))
  out$value <- drop(value %*% weight)
  out$noise <- drop(by_model(over("noise")) %*% weight)
  out$mean <- drop(mean %*% weight)
  out$variance <- drop((variance + (mean - out$mean)^2) %*% weight)
  out$z <- mixture_quantile(z, weight)
  out$density <- log_sum(stats::dnorm(z, log = TRUE) - log(variance + by_model(over("noise"))) / 2, weight)
  out
}

# The normal quantile of sum w Phi(z), by the smaller tail; a row per point.
mixture_quantile <- function(z, weight) {
  lower <- log_sum(stats::pnorm(z, log.p = TRUE), weight)
  upper <- log_sum(stats::pnorm(z, lower.tail = FALSE, log.p = TRUE), weight)
  ifelse(lower < upper, stats::qnorm(lower, log.p = TRUE), stats::qnorm(upper, lower.tail = FALSE, log.p = TRUE))
}

# For each group: its value, the inverse of its weight, mean and variance of f without it.
left_out_points <- function(data, by) {
  if (isTRUE(data$dense)) return(left_out_dense(data, by))
  group_of <- if (by == "reward") seq_along(data$y) else point_groups(data)
  pooled <- pooled_measurements(data, group_of)
  weight <- pooled$weight
  value <- pooled$value
  first <- pooled$first
  mean <- data$mean[first]
  variance <- data$sd[first]^2
  rest <- 1 - variance * weight
  out <- list(group = group_of, first = first, value = value, noise = 1 / weight,
              mean = (mean - (1 - rest) * value) / rest, variance = variance / rest)
  # (An error of the variance is divided by `rest`. The covariance of few rewards takes no time.)
  doubtful <- which(rest < max(if (length(rest) <= few_solved) 0.1 else 1e-8, 20 * data$accuracy))
  if (length(doubtful)) {
    exact <- left_out_dense(data, by, doubtful)
    for (part in c("mean", "variance")) out[[part]][doubtful] <- exact[[part]]
  }
  out
}

few_solved <- 200

# Leaves out all rewards of a context at once; one row for each of them.
left_out_blocks <- function(data) {
  n <- length(data$y)
  if (n > most_dense) {
    stop_state(sprintf("`check_model(by = \"context\")` supports at most %d results; this bandit has %d. ", most_dense,
                       n), "Use `by = \"place\"`.", argument = "object")
  }
  precision <- chol2inv(chol(data$gram_at(seq_len(n)) + diag(data$noise, n)))
  weighted <- drop(precision %*% data$y)
  mean <- variance <- numeric(n)
  for (rows in split(seq_len(n), data$context)) {
    covariance <- solve(precision[rows, rows, drop = FALSE])
    mean[rows] <- data$y[rows] - drop(covariance %*% weighted[rows])
    variance[rows] <- pmax(diag(covariance) - data$noise[rows], 0)
  }
  list(group = seq_len(n), first = seq_len(n), value = data$y, noise = data$noise, mean = mean, variance = variance)
}

left_out_frame <- function(data, left) {
  at <- left$first
  model_state <- data$user(left$mean + data$prior[at], sqrt(left$variance))
  z <- or_else(left$z, (left$value - left$mean) / sqrt(left$variance + left$noise))
  # (Several measurements are replaced by the one with the same weight as all together.)
  reward <- drop(rowsum(data$reward / data$noise, left$group)) / drop(rowsum(1 / data$noise, left$group))
  own <- list(id = data$id[at], reward = unname(reward), mean = unname(model_state$mean), sd = unname(model_state$sd),
               z = unname(z), pit = stats::pnorm(unname(z)))
  own <- distinct_columns(own, names(data$point))
  frame <- cpp_frame(c(own[1], as.list(data$point[at, , drop = FALSE]), own[-1]))
  skipped <- if (is.null(data$chosen)) FALSE else !data$chosen[at] & is.na(left$mean)
  frame[drop(rowsum(as.integer(data$counts), left$group)) > 0 & !skipped, , drop = FALSE]
}

# The mean log density of the left-out values, in the rewards' units, and that of a normal distribution fitted to the
# others. (With very many rewards some cannot be left out accurately enough; both scores then use the remaining ones.)
log_scores <- function(data, left) {
  if (!is.null(left$constant)) {
    return(list(log_score = mean(left$density[data$counts]), constant_score = mean(left$constant[data$counts])))
  }
  density <- or_else(left$density, stats::dnorm(left$value, left$mean, sqrt(left$variance + left$noise), log = TRUE))
  jacobian <- mean(log(abs(data$slope[left$first])))
  value <- left$value + data$prior[left$first]
  n <- length(value)
  others <- (sum(value) - value) / (n - 1)
  squares <- sum((value - mean(value))^2) - n / (n - 1) * (value - mean(value))^2
  spread <- if (n > 2) sqrt(pmax(squares, 0) / (n - 2)) else NA_real_
  if (is_flat(value)) spread <- NA_real_
  constant <- stats::dnorm(value, others, spread, log = TRUE)
  known <- !is.na(density)
  list(log_score = mean(density[known]) + jacobian, constant_score = mean(constant[known]) + jacobian)
}

# ---- tests -------------------------------------------------------------------------------

# The difference of each reward from its prediction at the time of its arrival, in standard deviations, and that
# prediction. Under the model the differences are independent and standard normal.
innovations <- function(data) {
  rows <- data$arrival[data$counts[data$arrival]]
  n <- length(rows)
  groups <- if (isTRUE(data$dense)) rows else point_groups(data)[rows]
  y <- data$y[rows]
  noise <- data$noise[rows]
  # Groups whose last reward arrives late come first: the other groups are updated for a shorter time.
  distinct <- unique(rev(groups))
  ahead <- cumsum(!duplicated(rev(groups)))
  if (!isTRUE(data$dense) && 3 * sum(as.numeric(ahead)^2) < n^3) {
    first <- rows[match(distinct, groups)]
    found <- cpp_innovations(data$gram_at(first), match(groups, distinct) - 1L, y, noise)
    return(residuals_of(found$z, found$mean + data$prior[rows]))
  }
  factor <- chol(data$gram_at(rows) + diag(noise, n))
  z <- drop(backsolve(factor, y, transpose = TRUE))
  residuals_of(z, y - z * diag(factor) + data$prior[rows])
}

model_tests <- function(data, frame) {
  ahead <- or_else(data$said, innovations(data))
  e <- ahead[, "z"]
  n <- length(e)
  enough <- n >= if (is.null(data$said)) 3 else 5
  total <- sum(e^2)
  scale <- 2 * min(stats::pchisq(total, n), stats::pchisq(total, n, lower.tail = FALSE), 0.5)
  top <- if (n) max(abs(e)) else NA_real_
  largest <- -expm1(n * log1p(-2 * stats::pnorm(-top)))
  # (A regression with fitted hyperparameters has no predictions of its own, but their order hardly depends on the fit.)
  if (n == 0 && !is.null(data$gram_at) && is.null(data$chosen)) ahead <- innovations(data)
  growing <- rank_test(abs(ahead[, "z"]), ahead[, "mean"])
  ordered <- rank_test(frame$mean, frame$reward)
  cpp_frame(list(test = c("scale", "largest", "noise", "order"),
                 statistic = c(if (enough) total / n else NA, if (enough) top else NA, growing[1], ordered[1]),
                 p = c(if (enough) scale else NA, if (enough) largest else NA, growing[2], ordered[2])))
}

# Spearman's correlation and its p-value, NA where one of them does not vary.
rank_test <- function(a, b) {
  fine <- is.finite(a) & is.finite(b)
  if (sum(fine) < 4 || stats::sd(a[fine]) == 0 || stats::sd(b[fine]) == 0) return(c(NA_real_, NA_real_))
  found <- stats::cor.test(a[fine], b[fine], method = "spearman", exact = FALSE)
  c(unname(found$estimate), found$p.value)
}

# ---- verdicts ------------------------------------------------------------------------------

against_model <- 1e-3
note_of_model <- 1e-2
# With fitted hyperparameters, the largest |z| of a left-out reward exceeds this with probability 0.01.
far_left_out <- 3.3

judge_model <- function(check, data) {
  test <- function(name, column) check$tests[[column]][check$tests$test == name]
  p <- min(test("scale", "p"), test("largest", "p"), 1, na.rm = TRUE)
  grows <- isTRUE(test("noise", "p") < note_of_model)
  # (Single trials and counts contain little information about the order of their points.)
  unordered <- isTRUE(test("order", "statistic") < 0) && check$rewards >= 20 && is.null(data$left_out)
  far <- check$fitted && check$largest > far_left_out
  notes <- c(if (p < note_of_model) sprintf("unlikely under the model (p %s)", short_number(p)),
             if (far && p >= note_of_model) sprintf("one |z| is %.1f", check$largest),
             if (grows) "residuals grow or shrink with the mean",
             if (unordered) "points are ordered no better than by chance")
  verdict <- if (p < against_model) sprintf("this speaks against the model (p %s)", short_number(p))
             else if (length(notes)) paste("note:", paste(notes, collapse = "; "))
             else "nothing against the model"
  list(p = p, verdict = verdict, advice = model_advice(check, data, p < note_of_model || far, grows, unordered))
}

# The left-out predictions, a row each, without the columns of their points.
left_out <- function(check) own_columns(check$data, check$inputs)

# Possible remedies, depending on how the residuals deviate.
model_advice <- function(check, data, unlikely, grows, unordered) {
  z <- left_out(check)$z
  advice <- character()
  if (unlikely) {
    scale <- check$tests$statistic[1]
    few <- outlying(data)
    advice <- if (length(few)) {
      sprintf(paste("a few results lie far out (id %s): are they right? `$amend()` corrects them, rewards_robust() and",
                    "scale_outputs() clip them"), paste(data$id[sort(few)], collapse = ", "))
    } else if (late_only(z)) "only the later results do not fit: has the function changed? see ?changes, or start again"
    else if (isTRUE(scale < 1)) "results differ by less than the model predicts: less noise or prior variance, a refit"
    else "results differ by more than the model predicts: more noise or prior variance, shorter lengthscales, a refit"
  }
  c(advice,
    if (grows) "noise that varies with the mean: scale_outputs(transform = \"power\"), or `noise_var` of each result",
    if (unordered) "another kernel, or more data")
}

# Rewards (at most a tenth) without which all others agree with the model, found one by one; none if there is no such
# set. Leaving one out permanently subtracts a matrix of rank one from the precision of the others.
outlying <- function(data) {
  n <- length(data$y)
  if (!is.null(data$left_out) || n > 1000) return(integer())
  known <- precision_of_rewards(data)
  weighted <- known$weighted
  own <- known$own
  left <- rep(TRUE, n)
  columns <- matrix(0, n, 0)
  for (k in seq_len(max(1, n %/% 10) + 1)) {
    z <- ifelse(left, weighted / sqrt(own), 0)
    worst <- which.max(abs(z))
    if (abs(z[worst]) < far_left_out) break
    column <- drop(known$column(worst) - columns %*% columns[worst, ]) / sqrt(own[worst])
    left[worst] <- FALSE
    weighted <- weighted - column * z[worst]
    own <- ifelse(left, own - column^2, own)
    columns <- cbind(columns, column)
  }
  out <- which(!left)
  if (length(out) > max(1, n %/% 10)) integer() else out
}

# `weighted`: P y for the precision P of the rewards, `own`: its diagonal, and `column(i)`. Measurements at one point
# have the same covariance with all others, so only a matrix of the points is inverted: M = K + 1 / w, where w are the
# points' weights. With f_i = 1 / (noise_i w), the share of measurement i in its point,
#   P_ij = f_i f_j [M^-1]_points + ([i = j] - [same point] f_j) / noise_i.
precision_of_rewards <- function(data) {
  point <- if (isTRUE(data$dense)) seq_along(data$y) else point_groups(data)
  pooled <- pooled_measurements(data, point)
  weight <- pooled$weight
  value <- pooled$value
  share <- unname(1 / (data$noise * weight[point]))
  inverse <- chol2inv(chol(data$gram_at(pooled$first) + diag(1 / weight, length(weight))))
  column <- function(i) {
    within <- ifelse(point == point[i], -share * share[i] * weight[[point[i]]], 0)
    within[i] <- within[i] + 1 / data$noise[i]
    share * inverse[point, point[i]] * share[i] + within
  }
  list(weighted = share * drop(inverse %*% value)[point] + unname(data$y - value[point]) / data$noise,
       own = share^2 * diag(inverse)[point] + (1 - share) / data$noise, column = column)
}

# Do only the residuals of the second half deviate?
late_only <- function(z) {
  n <- length(z)
  if (n < 12) return(FALSE)
  first <- seq_len(n %/% 2)
  p <- function(z) stats::pchisq(sum(z^2), length(z), lower.tail = FALSE)
  p(z[first]) > 0.1 && p(z[-first]) < note_of_model
}

short_number <- function(x) {
  if (is.na(x)) return("NA")
  plain <- x == 0 || abs(x) >= 1e-4
  if (plain) format(signif(x, 2), scientific = FALSE) else formatC(x, format = "e", digits = 0)
}

# The check in one line.
describe_check <- function(check) {
  largest <- check$tests[check$tests$test == "largest", ]
  order <- check$tests$statistic[check$tests$test == "order"]
  # (With two points, one remains when the other is left out. It has no spread, as equal values, and no constant score.)
  constant <- if (is.na(check$constant_score)) "" else sprintf(" (constant %s)", short_number(check$constant_score))
  sprintf("check: %d%s results, 95%% intervals hold %d%s, largest |z| %.1f%s%s, log score %s%s: %s",
          check$rewards, if (check$total > check$rewards) sprintf(" of %d", check$total) else "",
          check$held, if (check$groups == check$rewards) "" else sprintf(" of %d points", check$groups),
          if (is.na(largest$p)) check$largest else largest$statistic,
          if (is.na(largest$p)) "" else sprintf(" (p %s)", short_number(largest$p)),
          if (is.na(order)) "" else sprintf(", order %s", short_number(order)), short_number(check$log_score),
          constant, check$verdict)
}

check_entry_of_model <- list(settings = alist(
  rewards = check_count(rewards, lower = 0), total = check_count(total, lower = 0),
  groups = check_count(groups, lower = 0), held = check_count(held, lower = 0),
  by = check_string(by), fitted = check_flag(fitted), tests = check_data_frame(tests), data = check_data_frame(data),
  inputs = if (!is_text(inputs)) stop_argument("inputs", describe(inputs), "names")
))

#' @rdname check_model
#' @param x a `bandit_check`.
#' @export
print.bandit_check <- function(x, ...) {
  check_class(x, "bandit_check")
  cat(strwrap(describe_check(x), exdent = 2, width = 0.95 * getOption("width")), sep = "\n")
  tests <- x$tests
  text <- c(scale = "mean square of the one-step-ahead residuals", largest = "the largest one-step-ahead residual",
             noise = "its size and the mean, rank correlation", order = "mean left out and result, rank correlation")
  for (i in which(!is.na(tests$statistic))) {
    cat(sprintf("  %-8s %6s  p %-6s %s\n", tests$test[i], short_number(tests$statistic[i]), short_number(tests$p[i]),
                text[[tests$test[i]]]))
  }
  if (x$fitted) cat("  (fitted parameters: residuals of the predictions made at each choice since the first refit)\n")
  if (length(x$advice)) cat(strwrap(paste("possible remedies:", x$advice), indent = 2, exdent = 4), sep = "\n")
  invisible(x)
}

#' @rdname check_model
#' @param row.names,optional not used.
#' @export
as.data.frame.bandit_check <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_class(x, "bandit_check")$data
}

#' @rdname check_model
#' @param type `"calibration"`, the default: the proportion of results below each predicted quantile, with a band that
#'   contains 95% of correct models (\eqn{\pm 1.36/\sqrt n}{+- 1.36 / sqrt(n)}). `"residuals"`: \eqn{z} against the
#'   leave-one-out mean, with 95% lines.
#' @param main,xlab,ylab as in [graphics::plot.default()].
#' @export
plot.bandit_check <- function(x, type = c("calibration", "residuals"), main = NULL, xlab = NULL, ylab = NULL, ...) {
  check_class(x, "bandit_check")
  check_dots_empty(..., allowed = c("type", "main", "xlab", "ylab"))
  type <- check_choice(type, c("calibration", "residuals"))
  drawn <- if (type == "calibration") plot_calibration else plot_residuals
  invisible(drawn(x, main, xlab, ylab))
}

plot_calibration <- function(check, main, xlab, ylab) {
  pit <- sort(left_out(check)$pit)
  n <- length(pit)
  band <- 1.36 / sqrt(n)
  key <- rbind(key_entry("results", "#0072B2", lty = 1, lwd = 2),
               key_entry("95% of correct models", "grey85", pch = 15, size = 1.6))
  frame <- check_frame(TRUE, c(0, 1), NULL, or_else(xlab, "predicted quantile"),
                       or_else(ylab, "proportion of results below"),
                       or_else(main, "Calibration of leave-one-out predictions"))
  open_picture(frame, c(0, 1), c(0, 1), key)
  u <- seq(0, 1, length.out = 101)
  graphics::polygon(c(u, rev(u)), c(pmin(u + band, 1), rev(pmax(u - band, 0))), col = "grey90", border = NA)
  graphics::abline(0, 1, col = "grey60", lty = 2)
  graphics::lines(stats::stepfun(pit, seq(0, n) / n), col = "#0072B2", lwd = 2, do.points = FALSE, xlim = c(0, 1))
  data.frame(quantile = pit, share = seq_len(n) / n)
}

plot_residuals <- function(check, main, xlab, ylab) {
  at <- left_out(check)
  limit <- stats::qnorm(0.975)
  key <- rbind(key_entry("inside 95%", "#0072B2", pch = 19), key_entry("outside", "#D55E00", pch = 19))
  frame <- check_frame(TRUE, NULL, NULL, or_else(xlab, "leave-one-out mean"), or_else(ylab, "standardised residual z"),
                       or_else(main, "Leave-one-out residuals"))
  open_picture(frame, at$mean, c(at$z, -limit, limit), key)
  graphics::abline(h = c(-limit, 0, limit), col = "grey60", lty = c(2, 1, 2))
  graphics::points(at$mean, at$z, pch = 19, col = ifelse(abs(at$z) > limit, "#D55E00", "#0072B2"))
  at[c("id", "mean", "z")]
}

# ---- the line of summary() and $certificate() ------------------------------------------------

# NULL if there is nothing to check. The j-th check in a bandit's run warns at level .001 / (j (j + 1)), .001 in total.
# (If the log has not changed since the last check, it is neither repeated nor counted.)
check_line <- function(bandit) {
  state <- log_state(bandit, "events")
  if (identical(bandit$.checked$state, state)) return(bandit$.checked$check)
  check <- tryCatch(model_check(bandit_checked(bandit), "reward"), gpbandits_error = function(e) {
    pass_on_stop(e)
    NULL
  })
  bandit$.checked <- list(state = state, check = check)
  if (is.null(check)) return(NULL)
  looks <- or_else(bandit$.looks, 0) + 1
  bandit$.looks <- looks
  if (check$p < against_model / (looks * (looks + 1))) {
    warn_once(bandit, "model", "The results contradict the model: ", describe_check(check), ".",
              if (length(check$advice)) paste0(" What may help: ", check$advice[1], "."), " See ?check_model.")
  }
  check
}

register_family("bandit_check", check_entry_of_model, open = TRUE)

register_bandit_kind("core", checked = core_checked)
register_bandit_kind("script", checked = script_checked)
register_form("reward", checked = measurements_checked)
