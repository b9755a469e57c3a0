# Lower bounds of a function's RKHS norm from data. Layer: algorithms.

# Data imply a lower bound of a function's RKHS norm, but no upper bound.

#' Lower bound of a function's RKHS norm
#'
#' `norm_check()` tests whether the norm bound `B` of a bandit is too small.
#'
#' It computes a lower confidence bound of the RKHS norm of \eqn{f} (minus the prior mean) from the observed rewards.
#' With \eqn{y} the rewards minus the prior mean, \eqn{K} the kernel matrix of their points, \eqn{R} the `R` and
#' \eqn{\delta}{delta} the `delta`, it is
#' \deqn{B_{low}^2 = \max_\alpha\left[y'(K+\alpha I)^{-1}y - R_t^2/\alpha\right]_+,}{B_low^2 = max over alpha of [y' (K
#' + alpha I)^-1 y - R_t^2 / alpha]_+,}
#'
#' \deqn{R_t^2 = \alpha_0y'(K+\alpha_0I)^{-1}y + R^2\log\det(I+K/\alpha_0) + 2R^2\log(1/\delta).}{R_t^2 = alpha0 y' (K +
#' alpha0 I)^-1 y + R^2 log det(I + K / alpha0) + 2 R^2 log(1 / delta).}
#'
#' A `B` below this bound is refuted. So is every guarantee of a confidence width (the multiplier of the posterior
#' standard deviation) that uses it.
#'
#' The check does not certify a `B`, because **no data bound a norm from above**. For example, between six points there
#' is room for a bump of height 1 that affects none of them; with lengthscale 0.15 its norm is 4.2. A `B` that is too
#' small is often detected late, or never. If this matters, as in [safe_opt()], use `by = "data"` instead.
#'
#' A norm belongs to one kernel. A bandit that averages over several models ([refit_every()]) is tested under the most
#' likely of them, because an average of kernels has another norm than each. With `refit` the `probability` is `NA`
#' anyway.
#'
#' @section Guarantee: With probability at least \eqn{1-\delta}{1 - delta}, in all rounds together, the lower bound is
#'   not above the norm (of any of the functions, if there are several). Assumptions:
#'
#'   * the noise is `R`-sub-Gaussian;
#'   * the kernel, the mean, `alpha0` and \eqn{\lambda}{lambda} are fixed in advance;
#'   * the arrival of rewards does not depend on their value. The points may depend on past rewards.
#'
#'   Original result, not peer-reviewed, from the martingale of [width_dmm()] (Flynn and Reeb). In all rounds together
#'   \deqn{\sum_s(f(x_s)-y_s)^2\le R_t^2,}{sum (f(x_s) - y_s)^2 <= R_t^2,}
#'   and the least value of a penalised sum of squares is known:
#'
#'   \deqn{\min_g\left[\sum_s(g(x_s)-y_s)^2+\alpha\|g\|^2\right] = \alpha y'(K+\alpha I)^{-1}y.}{min over g of [sum
#'   (g(x_s) - y_s)^2 + alpha |g|^2] = alpha y' (K + alpha I)^-1 y.}
#' @param bandit a bandit with a posterior. For bandits with several (several outcomes, rules such as [safe_opt()])
#'   every function is tested with an equal part of `delta`.
#' @param ... must be empty.
#' @param B the bound to be tested, a number >= 0. `NULL` (default): that of the bandit's width, if it has one.
#' @param R sub-Gaussian scale of the noise, a number >= 0 in units of the reward. `NULL` (default): that of the width
#'   or, without one, \eqn{\sqrt\lambda}{sqrt(lambda)}.
#' @param delta failure probability, a number in (0, 1), by default 0.1.
#' @param alpha regularisers of which the best is used, numbers > 0. `NULL` (default):
#'   \eqn{\lambda4^{-3..6}}{lambda * 4^(-3:6)}, with \eqn{\lambda}{lambda} the `noise_var`.
#' @param alpha0 prior scale of the martingale, or several to average over, numbers > 0. `NULL` (default):
#'   \eqn{\lambda}{lambda}.
#' @return An object of class `bandit_norm_check`, a list:
#'
#'   * `lower`: the lower bounds, named by function.
#'   * `B`: the tested bounds (`NA` without one), named by function.
#'   * `refuted`: whether `B` < `lower`, named by function.
#'   * `probability` and `assumptions`: as in `$certificate()` ([stopping]).
#' @references Flynn and Reeb (2025), Tighter confidence bounds for sequential kernel regression; Tokmak et al. (2024)
#'   <https://arxiv.org/abs/2409.01163> over-estimate norms from random functions, which is right if \eqn{f} resembles
#'   these.
#' @seealso [safe_opt()] (`stop_if_refuted`), [check_model()].
#' @concept reproducing kernel Hilbert space
#' @concept model criticism
#' @examples
#' x <- seq(0, 1, length.out = 40)
#' b <- gp_ucb(x, kernel_se(0.15), noise_var = 0.01, width = width_amm(B = 1, R = 0.1))
#' b$add(arm = c(1:40, 1:20), reward = 3 * sin(12 * x[c(1:40, 1:20)]))
#' norm_check(b)
#' @export
norm_check <- function(bandit, ..., B = NULL, R = NULL, delta = 0.1, alpha = NULL, alpha0 = NULL) {
  check_dots_empty(..., allowed = names(formals(norm_check)))
  check_bandit(bandit)
  delta <- check_delta(delta)
  if (!is.null(B)) B <- check_number(B, lower = 0)
  if (!is.null(R)) R <- check_number(R, lower = 0)
  alpha <- check_regularisers(alpha, "alpha")
  alpha0 <- check_regularisers(alpha0, "alpha0")
  check_has_posterior(bandit)
  rebuild(bandit)
  functions <- kind_of(bandit)$functions(bandit)
  tests <- lapply(functions, function(one) test_norm(one, B, R, delta / length(functions), alpha, alpha0))
  pick <- function(name) vapply(tests, function(test) as.numeric(test[[name]]), 0)
  void <- unique(unlist(lapply(functions, function(one) {
    bandit <- one$bandit
    c(voided_by(bandit), voided_by_fits(outcome_config(bandit$config, one$outcome)),
      if (isTRUE(norm_width(bandit$config$policy$width)$drift > 0)) "f drifts: no theorem")
  })))
  assumed <- c(sprintf("the noise is %s-sub-Gaussian",
                       paste(unique(format(pick("R"), digits = 4)), collapse = " and ")),
               "kernel and prior mean were fixed in advance", arrival_story(bandit))
  structure(list(lower = pick("lower"), B = pick("B"), refuted = pick("B") < pick("lower"),
                 probability = if (length(void)) NA_real_ else 1 - delta,
                 assumptions = if (length(void)) void else assumed), class = "bandit_norm_check")
}

# The functions with separate posteriors, by name. For each: its `bandit`, and the number of its `outcome`.
functions_of_outcomes <- function(bandit) {
  names <- if (of_form(bandit$config, "several")) outcome_names(bandit$config) else "f"
  lapply(stats::setNames(seq_along(names), names), function(k) list(bandit = as.environment(bandit), outcome = k))
}

functions_of_models <- function(bandit) {
  models <- models_of(bandit)
  # (Several posteriors of one function count as one function.)
  if (length(models) != 1 + constraint_count(bandit$config)) models <- list(shown_model(bandit))
  stats::setNames(lapply(models, function(model) list(bandit = as.environment(model), outcome = 1L)),
                  c("f", sprintf("g%d", seq_along(models)[-1] - 1)))
}

# The bound for one function. If `B` and `R` are not given, those of the width are used.
test_norm <- function(one, B, R, delta, alpha, alpha0) {
  width <- norm_width(one$bandit$config$policy$width)
  config <- outcome_config(current_config(one$bandit), one$outcome)
  lambda <- config$noise_var
  if (is.null(B)) B <- if (is.null(width)) NA_real_ else width$B
  if (is.null(R)) R <- if (is.null(width$R)) sqrt(lambda) else width$R
  data <- norm_data(one$bandit, config, one$outcome)
  scale <- R * if (identical(width$noise, "bounded")) sqrt(max(1, data$weight)) else 1
  list(B = B, R = R, lower = norm_lower(data, scale, delta, if (is.null(alpha)) lambda * 4^(-3:6) else alpha,
                                        if (is.null(alpha0)) lambda else alpha0))
}

# The component of a nested width that has a bound on the norm.
norm_width <- function(width) {
  while (!is.null(width) && is.null(width$B)) width <- width$base
  width
}

# Residuals of the observed rewards and their covariance, in the basis of its eigenvectors. Replicates at one point are
# pooled. `weight`: lambda divided by each reward's own noise variance.
norm_data <- function(bandit, config, k) {
  rebuild(bandit)
  lambda <- config$noise_var
  known <- cpp_bandit_known(bandit$handle, k)
  counts <- is_reported(bandit, known$id, k)
  known <- in_model_units(lapply(known, function(column) column[counts]), config)
  if (!length(known$id)) return(list(values = numeric(), squares = numeric(), within = 0, weight = numeric()))
  y <- known$value - known_prior_mean(bandit, known$id, config$mean)
  weight <- ifelse(is.na(known$noise_var), 1, lambda / known$noise_var)
  x <- known_inputs(bandit, known$id)
  point <- row_numbers(x)
  total <- drop(rowsum(weight, point))
  value <- drop(rowsum(weight * y, point)) / total
  gram <- kernel_gram(config$kernel, x[match(seq_along(total), point), , drop = FALSE])
  spectrum <- eigen(gram * sqrt(outer(total, total)), symmetric = TRUE)
  list(values = pmax(spectrum$values, 0), squares = drop(crossprod(spectrum$vectors, sqrt(total) * value))^2,
       within = sum(weight * (y - value[point])^2), weight = weight)
}

norm_lower <- function(data, R, delta, alpha, alpha0) {
  quadratic <- function(a) data$within / a + sum(data$squares / (data$values + a))
  cost <- vapply(alpha0, function(a) a * quadratic(a) + R^2 * sum(log1p(data$values / a)), 0)
  radius <- min(cost)
  if (R > 0) radius <- radius - 2 * R^2 * log(delta * mean(exp((min(cost) - cost) / (2 * R^2))))
  sqrt(max(0, vapply(alpha, function(a) quadratic(a) - radius / a, 0)))
}

#' @export
print.bandit_norm_check <- function(x, ...) {
  check_class(x, "bandit_norm_check")
  check_dots_empty(...)
  known <- is.finite(x$B)
  cat(sprintf("the norm of %s is at least %.4g%s\n", names(x$lower), x$lower,
              ifelse(!known, "", ifelse(x$refuted, sprintf(": the given bound %.4g is refuted", x$B),
                                        sprintf(": it does not refute the bound %.4g", x$B)))), sep = "")
  cat(if (is.na(x$probability)) "no theorem: " else sprintf("with probability %g, if ", x$probability),
      paste(x$assumptions, collapse = "; "), "\n", sep = "")
  invisible(x)
}

norm_entry <- list(settings = alist(
  lower = if (!is.numeric(lower) || is.null(names(lower))) stop_argument("lower", describe(lower), "named numbers"),
  B = if (!is.numeric(B) || !length(B)) stop_argument("B", describe(B), "numbers"),
  refuted = if (!is.logical(refuted) || !length(refuted)) stop_argument("refuted", describe(refuted), "flags"),
  probability = if (!identical(probability, NA_real_)) check_number(probability),
  assumptions = if (!is_text(assumptions)) stop_argument("assumptions", describe(assumptions), "sentences")
))

register_family("bandit_norm_check", norm_entry, open = TRUE)

register_bandit_kind("core", functions = functions_of_outcomes)
register_bandit_kind("script", functions = functions_of_models)
