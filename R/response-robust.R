# Rewards with heavy tails or outliers: clipped rewards, rewards that lose weight beyond a plateau. Layer: model.

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
#' @seealso [rewards_robust()], [width_realized()]; [rewards-plateau] for outliers of any size.
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

#' Rewards that lose weight beyond a plateau
#'
#' Against broken sensors and typing errors: `rewards_robust(plateau = L)` is a rule for `gp_bandit(rewards = )` with
#' which outliers of any size have little weight (a robust conjugate Gaussian process, RCGP). Rewards within \eqn{\pm
#' L}{+- L} of the prior mean \eqn{m} are ordinary measurements. A reward beyond has less weight, and the more so the
#' further it is: one of 1e9 has none. The posterior has a closed form, and the history has the rewards as they were
#' observed.
#'
#' Let the residual \eqn{r = y - m(x)} exceed the plateau by \eqn{u = |r| - L > 0}, with \eqn{c} = `decay` and the
#' reward's noise variance \eqn{\lambda}{lambda}. The reward counts as
#' \deqn{m(x) + \mathrm{sign}(r)\left(L + u + \frac{2\lambda u}{c^2+u^2}\right)\quad\mbox{with noise variance}\quad
#' \lambda\left(1 + \frac{u^2}{c^2}\right).}{m(x) + sign(r) (L + u + 2 lambda u / (c^2 + u^2)) with noise variance
#' lambda (1 + u^2 / c^2).}
#' This is the posterior of Altamirano et al. (2024) with the weights of Ezzerg et al. (2025). If \eqn{u} is above
#' \eqn{10^8c}{1e8 c}, it counts as that number.
#'
#' At \eqn{u = c} the weight is halved. Choose \eqn{L} as a bound of \eqn{|f - m|} plus the largest noise. If it is
#' smaller, correct rewards lose weight. A wrong reward within the plateau has its full weight: the rule does not detect
#' outliers. If most rewards are beyond, the prior mean or \eqn{L} is wrong.
#'
#' @section Guarantee: If at most \eqn{n} rewards are wrong, by any amounts, use
#'   `width_corrupt(width_amm(B, R, delta), count = n)`. With probability \eqn{1-\delta}{1 - delta} its intervals hold
#'   at all points and in all rounds, for functions of RKHS norm at most `B`. The conditions are:
#'
#'   * \eqn{|f - m| \le L}{|f - m| <= L}, and correct rewards are within \eqn{\pm L}{+- L} of \eqn{m};
#'   * whether a reward is wrong may depend on the past and its point, but not on its own noise. By how much it is wrong
#'     may depend on everything so far, that noise included.
#'
#'   If the noise is unbounded, the probability that a correct reward is beyond the plateau adds to
#'   \eqn{\delta}{delta}. For \eqn{R}-sub-Gaussian noise in \eqn{T} rounds it is at most
#'   \eqn{2T\exp(-q^2/(2R^2))}{2 T exp(-q^2 / (2 R^2))}, where \eqn{q} is the part of \eqn{L} for the noise.
#'
#'   The regret of UCB is then at most
#'   \deqn{2\left(w_T + M\sqrt n\right)\sqrt{cT\gamma_T} + 2Ln,\quad M = \left(\sqrt{4L^2+c_d^2} +
#'   0.77\lambda/c_d\right)/\sqrt\lambda,}{2 (w_T + M sqrt(n)) sqrt(c T gamma_T) + 2 L n, M = (sqrt(4 L^2 + c_d^2) +
#'   0.77 lambda / c_d) / sqrt(lambda),}
#'   where \eqn{w_T} is the base, \eqn{c_d} = `decay`, and \eqn{c} and \eqn{\gamma_T}{gamma_T} are those of
#'   [regret_bound()] (`"ucb"` with `total` \eqn{= M\sqrt{n\lambda}}{= M sqrt(n lambda)} is the first term). The
#'   average regret tends to 0 if \eqn{n\gamma_T/T}{n gamma_T / T} does. The same holds for
#'   `rewards_robust(clip = b)` with a prior mean of 0, \eqn{L = b} and \eqn{M = 2b/\sqrt\lambda}{M = 2 b /
#'   sqrt(lambda)}. These are original results, not peer-reviewed, see the article "Derivations".
#'
#'   Published is a bound for RCGP-UCB, which multiplies its width by a further factor of order \eqn{n}. Its regret is
#'   sublinear for \eqn{n} below \eqn{T^{1/4}}{T^(1/4)} (Ezzerg et al. 2025, of which we had the abstract and notes by
#'   readers). That width is not in this package.
#' @section Not supported: `refit`, `outputs`, `constraints` and `failures`. Change detectors test the rewards as they
#'   were observed.
#' @references Altamirano, Briol and Knoblauch (2024), Robust and conjugate Gaussian process regression
#'   <https://arxiv.org/abs/2311.00463>; Ezzerg, Bogunovic and Knoblauch (2025), Robust Bayesian optimisation with
#'   unbounded corruptions <https://arxiv.org/abs/2511.15315>.
#' @seealso [rewards_robust()], [rewards-clipped], [width_corrupt()].
#' @concept robust Bayesian optimization
#' @concept outliers
#' @concept broken sensor
#' @concept adversarial corruption
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01,
#'                policy_ucb(width_corrupt(width_amm(B = 2, R = 0.1), count = 1)),
#'                rewards = rewards_robust(plateau = 2.5))
#' b$add(arm = c(1, 25, 50), reward = c(0.2, 1e9, 0.7)) # a broken sensor at arm 25
#' b$posterior(arm = c(1, 25, 50))
#' @name rewards-plateau
NULL

#' @rdname rewards
#' @export
rewards_robust <- function(df = 4, clip = NULL, moment = NULL, alpha = 1, rounds = NULL, plateau = NULL,
                           decay = plateau / 2) {
  given <- c("clip", "moment", "plateau")[!c(is.null(clip), is.null(moment), is.null(plateau))]
  if (!length(given)) {
    if (!is.null(rounds)) stop_argument("moment", "NULL", "a number > 0, if `rounds` is given")
    if (!missing(alpha)) stop_argument("alpha", "given without `moment`", "left out, or given with `moment`")
    if (!missing(decay)) stop_argument("decay", "given without `plateau`", "left out, or given with `plateau`")
    return(new_part("bandit_rewards", "robust"))
  }
  if (!missing(df)) {
    stop_argument("df", sprintf("given together with `%s`", given[1]),
                  "left out: the noise of these rewards is Gaussian in the model")
  }
  if (!is.null(plateau)) {
    if (length(given) > 1) stop_argument("plateau", sprintf("given together with `%s`", given[1]), "given alone")
    return(new_part("bandit_rewards", "plateau"))
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
