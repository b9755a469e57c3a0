# Rewards with heavy tails: clipped rewards. Layer: model.

#' Clipped rewards for heavy-tailed noise
#'
#' `rewards_robust(clip = b)` is a rule for `gp_bandit(rewards = )` that limits the effect of extreme rewards. Rewards
#' beyond \eqn{\pm b}{+- b} count as \eqn{\pm b}{+- b} in the posterior (and in refits). The history has the rewards as
#' they were observed. The model's noise is Gaussian, with the bandit's `noise_var`.
#'
#' With `moment` and `rounds` instead of `clip` it is, for rewards with
#' \eqn{E|y|^{1+\alpha} \le v}{E|y|^(1 + alpha) <= v} and \eqn{T} rounds,
#' \deqn{b = v^{1/(1+\alpha)}T^{1/(2(1+\alpha))}.}{b = v^(1 / (1 + alpha)) T^(1 / (2 (1 + alpha))).}
#' The moment \eqn{v} is a raw one, not a central one. So subtract from the rewards a constant that is fixed in advance.
#'
#' @section Guarantee: Use the confidence width `width_realized(B, R = rule)` (the multiplier of the posterior standard
#'   deviation, see [widths_rkhs]) with this rule, and \eqn{\lambda = 1}{lambda = 1}. For functions of RKHS norm at most
#'   `B` the confidence intervals then hold in all \eqn{T} rounds with probability \eqn{1-\delta}{1 - delta}. The
#'   reason: every clipped reward has a bias of at most \eqn{v b^{-\alpha}}{v b^-alpha} and is bounded by \eqn{b}.
#'   GP-UCB then has regret of order
#'   \deqn{T^{(2+\alpha)/(2(1+\alpha))},}{T^((2 + alpha) / (2 (1 + alpha))),}
#'   up to \eqn{\gamma_T}{gamma_T} and logarithms. At \eqn{\alpha = 1}{alpha = 1} that is \eqn{T^{3/4}}{T^(3/4)}: if a
#'   set-up can be repeated, medians of repeats are better. The regret is after Ray Chowdhury and Gopalan (2019); the
#'   width is an original result, not peer-reviewed.
#' @references Ray Chowdhury and Gopalan (2019), Bayesian optimization under heavy-tailed payoffs
#'   <https://arxiv.org/abs/1909.07040>.
#' @seealso [rewards_robust()], [width_realized()].
#' @concept robust Bayesian optimization
#' @concept outliers
#' @concept winsorising
#' @examples
#' clip <- rewards_robust(moment = 1, rounds = 100)
#' b <- gp_bandit(seq(0, 1, length.out = 50), kernel_se(0.2), noise_var = 1,
#'                policy_ucb(width_realized(B = 1, R = clip)), rewards = clip)
#' b$add(arm = 3, reward = 50) # counts as 100^(1/4)
#' b$posterior(arm = 3)
#' @name rewards-clipped
NULL

#' @rdname rewards
#' @export
rewards_robust <- function(df = 4, clip = NULL, moment = NULL, alpha = 1, rounds = NULL) {
  if (is.null(clip) && is.null(moment)) {
    if (!is.null(rounds)) stop_argument("moment", "NULL", "a number > 0, if `rounds` is given")
    if (!missing(alpha)) stop_argument("alpha", "given without `moment`", "left out, or given with `moment`")
    return(new_part("bandit_rewards", "robust"))
  }
  if (!missing(df)) {
    stop_argument("df", sprintf("given together with `%s`", if (is.null(clip)) "moment" else "clip"),
                  "left out: the noise of clipped rewards is Gaussian in the model")
  }
  alpha <- check_tail(alpha)
  moment <- check_moment(moment)
  b <- if (is.null(clip)) moment^(1 / (1 + alpha)) * check_count(rounds)^(1 / (2 * (1 + alpha)))
       else check_number(clip, lower = 0, open_lower = TRUE)
  new_part("bandit_rewards", "clip")
}

check_tail <- function(alpha) check_number(alpha, "alpha", lower = 0, upper = 1, open_lower = TRUE)

check_moment <- function(moment) if (!is.null(moment)) check_number(moment, "moment", lower = 0, open_lower = TRUE)

#' @export
print.bandit_rewards <- function(x, ...) {
  check_class(x, "bandit_rewards")
  cat(sprintf("<rewards: %s>\n", trait(x, "title")))
  invisible(x)
}
