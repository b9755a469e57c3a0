# Rewards with heavy tails: clipped rewards. Layer: model.

#' Rewards with heavy tails
#'
#' A rule for `gp_bandit(rewards = )`: rewards beyond \eqn{\pm b}{+- b} count as \eqn{\pm b}{+- b} in the posterior (and
#' in refits). History keeps the rewards as they were observed.
#'
#' Without `b` it is \eqn{b = v^{1/(1+\alpha)}T^{1/(2(1+\alpha))}}{b = v^(1 / (1 + alpha)) T^(1 / (2 (1 + alpha)))}, for
#' rewards with \eqn{E|y|^{1+\alpha} \le v}{E|y|^(1 + alpha) <= v} and \eqn{T} rounds. The moment \eqn{v} is a raw one:
#' subtract a constant that is fixed beforehand.
#'
#' @section Guarantee: with [width_clip()] and \eqn{\lambda = 1}{lambda = 1} the intervals hold in all \eqn{T} rounds
#'   with probability \eqn{1-\delta}{1 - delta} for functions of RKHS norm at most `B` (every clipped reward is biased
#'   by at most \eqn{v b^{-\alpha}}{v b^-alpha}, and bounded by \eqn{b}); GP-UCB then has regret of order
#'   \eqn{T^{(2+\alpha)/(2(1+\alpha))}}{T^((2 + alpha) / (2 (1 + alpha)))} up to \eqn{\gamma_T}{gamma_T} and logarithms
#'   (after Ray Chowdhury and Gopalan 2019; the width is derived here). At \eqn{\alpha = 1}{alpha = 1} that is
#'   \eqn{T^{3/4}}: where a set-up can be repeated, medians of repeats are better.
#' @param b a number > 0 in units of the reward, or `NULL`.
#' @param moment \eqn{v}, a number > 0.
#' @param alpha \eqn{\alpha}{alpha}, in (0, 1\].
#' @param rounds \eqn{T}, a whole number >= 1, where `b` is `NULL`.
#' @return An object of class `bandit_rewards`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Ray Chowdhury and Gopalan (2019), Bayesian optimization under heavy-tailed payoffs
#'   <https://arxiv.org/abs/1909.07040>.
#' @examples
#' clip <- rewards_clip(moment = 1, rounds = 100)
#' b <- gp_bandit(seq(0, 1, length.out = 50), kernel_se(0.2), noise_var = 1,
#'                policy_ucb(width_clip(B = 1, clip)), rewards = clip)
#' b$add(arm = 3, reward = 50) # counts as 100^(1/4)
#' b$posterior(arm = 3)
#' @export
rewards_clip <- function(b = NULL, moment = NULL, alpha = 1, rounds = NULL) {
  alpha <- check_tail(alpha)
  moment <- check_moment(moment)
  if (is.null(b)) {
    if (is.null(moment)) stop_argument("moment", "NULL", "a number > 0, where `b` is not given")
    b <- moment^(1 / (1 + alpha)) * check_count(rounds)^(1 / (2 * (1 + alpha)))
  }
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
