# GP-UCB-CPD for changing environments. Layer: algorithms.

#' GP-UCB with change-point detection (GP-UCB-CPD)
#'
#' GP-UCB with uniform exploration and a change-point detector, for rewards whose function changes abruptly. This is
#' Algorithm 2 of Avanesov, as a preset of [gp_bandit()].
#'
#' In most rounds `gp_ucb_cpd()` maximises the upper confidence bound (equation 2.5)
#' \deqn{\mu(x) + w_t\sigma(x),}{mu(x) + w_t sd(x),}
#' where \eqn{w_t} is the confidence width ([widths]), the multiplier of the posterior standard deviation (sd). At a
#' decreasing rate it samples uniformly instead. If the uniform samples indicate a change, it restarts and discards all
#' data ([change_detect()]).
#'
#' [gp_ucb_drift()] has algorithms without forced exploration: they restart at regular intervals or after a surprising
#' reward, or discount old rewards.
#'
#' @section Guarantee: Theorem 3.1 of Avanesov bounds the expected regret of `gp_ucb_cpd()`. It holds for \eqn{K}
#'   stationary periods of lengths \eqn{T_i}, and a Matern kernel of smoothness \eqn{\alpha > 1}{alpha > 1} in \eqn{d}
#'   inputs. \eqn{\Delta}{Delta} is the smallest \eqn{L_2}{L2} distance of successive functions. The regret is
#'   \deqn{O\left(\Delta^{-(2+\frac2{2\alpha+d})}\sum_i T_i^p\log^3T\right) =
#'   O\left(\Delta^{-(2+\frac2{2\alpha+d})}K^{1-p}T^p\log^3T\right),}{O(Delta^-(2 + 2 / (2 alpha + d)) sum_i T_i^p
#'   log(T)^3), which is of order Delta^-(2 + 2 / (2 alpha + d)) K^(1 - p) T^p log(T)^3,}
#'   \deqn{p = \frac{2\alpha+3d(d+1)}{4\alpha+2d(d+1)}.}{p = (2 alpha + 3 d (d + 1)) / (4 alpha + 2 d (d + 1)).}
#'   With \eqn{\alpha = 5/2}{alpha = 5/2} and \eqn{d = 1} this is \eqn{K^{0.214}T^{0.786}}{K^0.214 T^0.786} up to
#'   logarithms.
#'
#'   The conditions are:
#'
#'   * The RKHS norms are bounded by \eqn{F}, and the noise is \eqn{g}-sub-Gaussian.
#'   * `noise_var` is \eqn{\sigma^2 = 6g^2\log T}{6 g^2 log T} (equation 3.4).
#'   * The ridge is \eqn{cq^{1/(2\alpha+d+1)}}{c q^(1 / (2 alpha + d + 1))} (equation 3.5).
#'   * The threshold is of order
#'     \eqn{(F^2 + g^2\log^2T)q^{-(2\alpha+d)/(2\alpha+d+1)}}{(F^2 + g^2 log(T)^2) q^(-(2 alpha + d) / (2 alpha + d +
#'     1))}.
#'   * The width is [width_cpd()] with a constant that depends on \eqn{F} and the kernel.
#'   * The periods are so long that changes can be detected in time (condition 3.8).
#'
#'   For the finite form and the number of samples that a change needs, see [regret_bound()] (`"cpd_finite"`) and
#'   [regret_bound()] with `quantity = "pairs"`. The constants of the experiments, in the paper and in our article, were
#'   chosen by trial and are outside the theorem.
#' @inheritParams gp_bandit
#' @param changes a rule for changes, see [change_detect()], [change_oracle()] and [change_never()].
#' @param width the confidence width, see [widths].
#' @param ... further arguments of [gp_bandit()].
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @references Avanesov (2019), How to gamble with non-stationary X-armed bandits and have no regrets
#'   <https://arxiv.org/abs/1908.07636>.
#' @concept change point
#' @concept nonstationary bandits
#' @concept change-point detection
#' @concept time-varying Bayesian optimization
#' @concept upper confidence bound
#' @seealso [changes], [gp_ucb_drift()].
#' @examples
#' x <- seq(0, 5, length.out = 100)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' problem <- bandit_problem(x, sample_gp(kernel, x, n = 2), noise = 0.05,
#'                           change_points = 100)
#' rule <- change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7))
#' width <- width_cpd(D = 0.02, nu = 2.5, d = 1, horizon = 200)
#' summary(run_bandit(gp_ucb_cpd(x, kernel, 0.0132, changes = rule, width = width), problem, 200))
#' @export
gp_ucb_cpd <- function(domain, kernel, noise_var, changes, width, ...) {
  changes <- as_part(changes, "bandit_changes", hint = "change_detect(), change_oracle(), change_never()")
  preset(list(policy = policy_ucb(width), changes = changes), domain, kernel, noise_var, ...)
}
