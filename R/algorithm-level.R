# Level-set estimation. Layer: algorithms.

#' Level sets: where is f above a level?
#'
#' Preset of [gp_bandit()] that finds where \eqn{f > h}, \eqn{h} = `level` (LSE, Gotovos et al. 2013). Every place has a
#' running interval \eqn{C_t}, the intersection of \eqn{\mu\pm w\sigma}{mu +- w sd} over all rounds so far. It is
#' `"above"` once \eqn{\min C_t + \epsilon > h}{min C_t + accuracy > h}, `"below"` once
#' \eqn{\max C_t - \epsilon \le h}{max C_t - accuracy <= h}, and `"unknown"` until then. Played is the most ambiguous of
#' the unknown, \eqn{\arg\max\min(\max C_t - h, h - \min C_t)}{argmax min(max C_t
#' - h, h - min C_t)}.
#'
#' With `implicit = TRUE` the level is a share of the unknown maximum (of \eqn{f \ge 0}{f >= 0}): above once
#' \eqn{\min C_t + \epsilon \ge h\max_x\max C_t}{min C_t + accuracy >= level * max max C_t}, below once
#' \eqn{\max C_t - \epsilon \le h\max_x\min C_t}{max C_t - accuracy <= level * max min C_t}; played is the widest
#' interval among the unknown and the places with \eqn{\max C_t \ge \max_x\min C_t}{max C_t >= max min C_t}, which may
#' be the maximiser.
#'
#' `$levels()` gives a data.frame with a row per arm: `arm`, `label`, `lower`, `upper` (the ends of \eqn{C_t}). On a box
#' it is about the box's candidates, which alone are played, and has their inputs instead of `arm`. [stop_levels()] ends
#' a run when nothing is unknown. Pending queries that the variance knows steer the choice and narrow no interval. An
#' empty \eqn{C_t} refutes the model: that is counted (`print()`), warned of by `$levels()`, and the intersection begins
#' again. Refits and restarts begin it again too.
#'
#' @section Units: with `rewards =` (see [rewards]) `level`, `accuracy` and the ends in `$levels()` are expected
#'   rewards. For successes they are probabilities, for counts mean counts, for levels the mean number of a level. They
#'   are converted exactly, as the expected reward rises with the latent \eqn{f}{f}: an arm is `"above"` once its
#'   expected reward exceeds `level - accuracy` throughout \eqn{C_t}. The ambiguity and `width` stay those of
#'   \eqn{f}{f}. `direction = "minimize"` changes no label. An implicit level and `outputs` are errors.
#' @section Guarantee: with a width that holds in all rounds together with probability \eqn{1-\delta}{1 - delta} (see
#'   [widths]), every label is right to within `accuracy` with that probability:
#'   \eqn{f > h - \epsilon}{f > level - accuracy} where it says above, \eqn{f \le h + \epsilon}{f <= level + accuracy}
#'   where below. With an explicit level all have one after round \eqn{T} if \eqn{T/(w_T^2\gamma_T) > 2/(\log(1 +
#'   1/\lambda)\epsilon^2)}{T / (w_T^2 gamma_T) > 2 / (log(1 + 1/lambda) accuracy^2)}, \eqn{k \le 1}{k <= 1}: the
#'   ambiguity of what is played is at most \eqn{w_t\sigma}{w_t sd}, and no less than that of any place that stays
#'   unknown. Fitted hyperparameters void both. On a box this is about its candidates, which `$levels()` lists, and
#'   nothing between them.
#' @inheritParams gp_ucb
#' @param level \eqn{h}, a number in units of the (expected) reward; a share in (0, 1) where `implicit`.
#' @param accuracy \eqn{\epsilon}{epsilon}, a number >= 0 in units of the (expected) reward.
#' @param implicit is the level a share of the maximum?
#' @param width a [width][widths], not a randomised one; `NULL`: `width_srinivas_finite(delta)`, with the number of arms
#'   or, on a box, of its candidates.
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()]; on a box or a product with contexts, and in contexts that are not known
#'   beforehand.
#' @references Gotovos, Casati, Hitz and Krause (2013), Active learning for level set estimation, IJCAI.
#' @seealso [policy_straddle()], which has nothing to tune.
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' b <- gp_lse(x, kernel_se(0.2), noise_var = 0.01, level = 0.5, accuracy = 0.2)
#' set.seed(1)
#' run_bandit(b, problem, 100, stop_when = stop_levels())$rounds
#' table(b$levels()$label, sin(6 * x) > 0.5)
#' @export
gp_lse <- function(domain, kernel, noise_var, level, accuracy, ..., implicit = FALSE, width = NULL, delta = 0.1) {
  domain <- as_domain(domain)
  check_delta(delta)
  if (is.null(width)) width <- width_srinivas_finite(delta)
  preset(list(policy = new_policy("level_set")), domain, kernel, noise_var, ...)
}

bandit_levels <- function(bandit, context, ...) {
  check_dots_empty(..., allowed = "context")
  found <- labelled_intervals(bandit, context)
  places <- interval_places(bandit$config$domain, found)
  cpp_frame(c(places, columns_beside(found[c("label", "lower", "upper")], names(places))))
}

# Columns that say which places the intervals are about.
interval_places <- function(domain, found) {
  if (ncol(found$inputs) == 0) return(list(arm = seq_along(found$lower)))
  places <- places_of_points(domain, found$inputs)
  place_labels(domain, places$arm, places$inputs)
}
