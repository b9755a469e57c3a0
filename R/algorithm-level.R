# Level-set estimation. Layer: algorithms.

#' Level-set estimation (LSE): where is f above a level?
#'
#' `gp_lse()` classifies points by whether \eqn{f(x) > h}, with \eqn{h} = `level` (Gotovos et al. 2013). Use it to find
#' the region above a level rather than the maximum. It is a preset of [gp_bandit()], and `plot()` draws the labels.
#'
#' Each candidate point has an interval \eqn{C_t}: the intersection over all rounds so far of
#' \deqn{\mu(x) \pm w_t\sigma(x),}{mu(x) +- w_t sd(x),}
#' where \eqn{w_t} is the confidence width ([widths]), the multiplier of the posterior standard deviation (sd). With
#' \eqn{\epsilon}{epsilon} = `accuracy`, the label of a point is
#'
#' * `"above"` once \eqn{\min C_t + \epsilon > h}{min C_t + accuracy > h},
#' * `"below"` once \eqn{\max C_t - \epsilon \le h}{max C_t - accuracy <= h},
#' * `"unknown"` until then.
#'
#' The next query is the most ambiguous of the unknown points:
#' \deqn{\arg\max_x\min(\max C_t(x) - h,\ h - \min C_t(x)).}{argmax min(max C_t - h, h - min C_t).}
#'
#' With `implicit = TRUE` the level is a proportion of the unknown maximum of \eqn{f}, for \eqn{f \ge 0}{f >= 0}:
#'
#' * `"above"` once \eqn{\min C_t + \epsilon \ge h\max_x\max C_t}{min C_t + accuracy >= level * max max C_t},
#' * `"below"` once \eqn{\max C_t - \epsilon \le h\max_x\min C_t}{max C_t - accuracy <= level * max min C_t}.
#'
#' The next query then has the widest interval. It is chosen among the unknown points and those that may be the
#' maximiser (\eqn{\max C_t \ge \max_x\min C_t}{max C_t >= max min C_t}).
#'
#' On a box all this applies to its candidate points, the only ones that are queried. `stop_when = "levels"` ends a run
#' when no point is unknown. Pending queries (whose rewards have not been observed), if included in the variance, affect
#' the choice and narrow no interval. An empty \eqn{C_t} contradicts the model. It is counted (`print()`), `$levels()`
#' warns about it, and the intersection starts again. Refits and restarts also start it again.
#'
#' @section Refits: With `refit` ([refit_every()]) and Gaussian noise, the intervals are those of ten models if its
#'   `average` is 1. The noise variance has a log-normal prior with median `noise_var` and `sdlog` 1.5, unless `priors`
#'   of `refit` has another one. In 200 simulated runs each, these proportions of the truths were inside of intervals of
#'   2 sd after 8, 16 and 32 rewards:
#'
#'   * 0.92, 0.92 and 0.93 by default, and 0.46, 0.84 and 0.90 with a single model;
#'   * 0.86, 0.91 and 0.93 if the kernel's given variance was 1 instead of 400;
#'   * 0.86, 0.83 and 0.81 with the right hyperparameters and no refits.
#'
#'   The last line shows that 2 sd are too few for all rounds together: use a width that holds in all of them
#'   (`bench/promises_stopping.R` in the sources).
#' @section Units: With `rewards =` (see [rewards]), `level`, `accuracy` and the bounds in `$levels()` are expected
#'   rewards. For successes they are probabilities, for counts mean counts, for ordered levels the mean number of a
#'   level. They are converted exactly, because the expected reward increases with the latent \eqn{f}{f}. A point is
#'   `"above"` once its expected reward exceeds `level - accuracy` throughout \eqn{C_t}. The ambiguity and `width`
#'   remain in units of \eqn{f}{f}. `direction = "minimize"` changes no label. An implicit level and `outputs` are not
#'   supported.
#' @section Guarantee: Assume that the width holds in all rounds together with probability \eqn{1-\delta}{1 - delta}
#'   (see [widths]). Then with that probability every label is right to within `accuracy`:
#'   \eqn{f > h - \epsilon}{f > level - accuracy} for `"above"`, and \eqn{f \le h + \epsilon}{f <= level + accuracy} for
#'   `"below"`.
#'
#'   With an explicit level and \eqn{k(x,x) \le 1}{k(x, x) <= 1}, all points are labelled after round \eqn{T} if
#'   \deqn{T/(w_T^2\gamma_T) > 2/(\log(1 + 1/\lambda)\epsilon^2).}{T / (w_T^2 gamma_T) > 2 / (log(1 + 1/lambda)
#'   accuracy^2).}
#'
#'   The reason is that the ambiguity of a query is at most \eqn{w_t\sigma}{w_t sd}, and no less than that of any point
#'   that remains unknown. Fitted hyperparameters void both statements. On a box they cover the candidates that
#'   `$levels()` lists, and nothing between them.
#' @inheritParams gp_ucb
#' @param level \eqn{h}, a number in units of the (expected) reward; with `implicit = TRUE` a proportion in (0, 1).
#' @param accuracy \eqn{\epsilon}{epsilon}, a number >= 0 in units of the (expected) reward.
#' @param implicit `TRUE` if the level is a proportion of the maximum; `FALSE` by default.
#' @param width the confidence width, see [widths], not a randomised one. `NULL`, the default, is
#'   `width_srinivas_finite(delta)` with the number of arms or, on a box, of its candidates.
#' @param refit [refit_every()], see the section Refits. `NULL`, the default: hyperparameters are fixed.
#' @return A [GPBandit]. Its method `$levels(context = NULL)` returns a data.frame
#'   with a row for each arm or candidate:
#'
#'   * `arm`, the number of the arm; on a box the inputs of the candidate instead,
#'   * `label`, one of `"above"`, `"below"` and `"unknown"`,
#'   * `lower`, `upper`, the ends of \eqn{C_t}.
#' @section Errors: Contexts are not supported on a box or a product, nor are contexts that are not known in advance.
#' @references Gotovos, Casati, Hitz and Krause (2013), Active learning for level set estimation, IJCAI.
#' @concept level-set estimation
#' @concept active learning
#' @concept threshold
#' @concept excursion set
#' @seealso [policy_straddle()], which has no tuning parameters.
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' b <- gp_lse(x, kernel_se(0.2), noise_var = 0.01, level = 0.5, accuracy = 0.2)
#' set.seed(1)
#' run_bandit(b, problem, 100, stop_when = "levels")$rounds
#' table(b$levels()$label, sin(6 * x) > 0.5)
#' @export
gp_lse <- function(domain, kernel, noise_var, level, accuracy, ..., implicit = FALSE, width = NULL, delta = 0.1,
                   refit = NULL) {
  domain <- as_domain(domain)
  check_delta(delta)
  if (is.null(width)) width <- width_srinivas_finite(delta)
  if (is.null(...names()) || !"rewards" %in% ...names()) refit <- averaged_refit(refit, noise_var)
  preset(list(policy = new_policy("level_set")), domain, kernel, noise_var, ..., refit = refit)
}

# The intervals of a single fitted model, or of a noise variance without a prior, are far too narrow after few rewards
# (`bench/promises_stopping.R`). The given noise variance is the median of its prior, with this `sdlog`.
level_noise_sdlog <- 1.5

averaged_refit <- function(refit, noise_var) {
  if (!inherits(refit, "bandit_refit") || identical(refit$noise, "varying")) return(refit)
  if (or_else(refit$average, 1) == 1) refit$average <- 10
  if (missing(noise_var) || !is_number(noise_var) || !isTRUE(noise_var > 0)) return(refit)
  refit$settings$priors <- utils::modifyList(list(noise_var = c(log(noise_var), level_noise_sdlog)),
                                             as.list(refit$settings$priors))
  refit
}

bandit_levels <- function(bandit, context, x = NULL, ...) {
  check_dots_empty(..., allowed = c("context", "x"))
  policy <- bandit$config$policy
  if (trait(policy, "labels") && !trait(policy, "intervals")) return(levels_by_posterior(bandit, x, context))
  if (!is.null(x)) stop_unused("x", "`gp_lse()` labels all points of its domain")
  found <- labelled_intervals(bandit, context)
  points <- interval_points(bandit$config$domain, found)
  cpp_frame(c(points, distinct_columns(found[c("label", "lower", "upper")], names(points))))
}

# Labels by the posterior's 95% interval of each point, for policy_straddle().
levels_by_posterior <- function(bandit, x, context) {
  bandit <- looked_at(bandit)
  domain <- bandit$config$domain
  if (is.null(x) && !can_count(domain)) {
    example <- paste(domain$names, "= ...", collapse = ", ")
    stop_missing("x", "the points to be labelled, a data.frame or a matrix",
                 sprintf("`$levels(x = expand.grid(%s))`, or `plot()` for a picture", example))
  }
  arms <- if (is.null(x)) seq_len(point_count(domain)) - 1L
  at <- if (is.null(x)) point_labels(domain, arms, arm_points(domain, arms)$inputs) else as.data.frame(x)
  found <- bandit_posterior(bandit, x, context, NULL)
  level <- bandit$config$policy$level
  lower <- or_else(found$lower, found$mean - stats::qnorm(0.975) * found$sd)
  upper <- or_else(found$upper, found$mean + stats::qnorm(0.975) * found$sd)
  # (Before the first rewards there may be no scale, and no interval.)
  label <- ifelse(lower > level, "above", ifelse(upper < level, "below", "unknown"))
  label[is.na(label)] <- "unknown"
  own <- distinct_columns(list(label = label, lower = lower, upper = upper), names(at))
  cbind(as.data.frame(at, optional = TRUE), as.data.frame(own, optional = TRUE))
}

# Columns that identify the points of the intervals.
interval_points <- function(domain, found) {
  if (ncol(found$inputs) == 0) return(list(arm = seq_along(found$lower)))
  points <- candidates_of(domain, found$inputs)
  point_labels(domain, points$arm, points$inputs)
}
