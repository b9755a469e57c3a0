# GP-UCB-CPD for changing environments. Layer: algorithms.

#' GP-UCB in an environment that changes
#'
#' Preset of [gp_bandit()]. `gp_ucb_cpd()` is Algorithm 2 of Avanesov: GP-UCB that explores uniformly at a decreasing
#' rate and forgets everything when the uniform samples betray a change. Those that forget by the calendar, or when a
#' reward is too far from what the posterior allows, without forced exploration: [gp_ucb_drift()].
#'
#' @section Guarantee: for `gp_ucb_cpd()`, \eqn{K} stationary periods of lengths \eqn{T_i}, Matern kernel of smoothness
#'   \eqn{\alpha > 1}{alpha > 1} in \eqn{d} inputs, expected regret (Avanesov, Theorem 3.1)
#'   \deqn{O\Bigl(\Delta^{-(2+\frac2{2\alpha+d})}\sum_i T_i^{\frac{2\alpha+3d(d+1)}{4\alpha+2d(d+1)}}\log^3T\Bigr)
#'   =
#'   O\Bigl(\Delta^{-(2+\frac2{2\alpha+d})}K^{\frac{2\alpha-d(d+1)}{4\alpha+2d(d+1)}}T^{\frac{2\alpha+3d(d+1)}{4\alpha+2d(d+1)}}\log^3T\Bigr)}{O(Delta^-(2 + 2 / (2 alpha + d)) sum_i T_i^p log(T)^3), which is of order K^((2 alpha - d (d + 1)) / (4 alpha + 2 d (d + 1))) T^p log(T)^3, p = (2 alpha + 3 d (d
#'   + 1)) / (4 alpha + 2 d (d + 1))}
#'   (\eqn{K^{.214}T^{.786}}{K^.214 T^.786} for \eqn{\alpha = 5/2, d = 1}{alpha = 5/2, d = 1}), \eqn{\Delta}{Delta} the
#'   smallest L2 distance of successive functions. Conditions: RKHS norms bounded by \eqn{F}, noise sub-Gaussian with
#'   \eqn{g}, \eqn{\sigma^2}{s2} = `noise_var` \eqn{= 6g^2\log T}{= 6 g^2 log T}, ridge
#'   \eqn{cq^{1/(2\alpha+d+1)}}{c q^(1 / (2 alpha + d + 1))}, threshold of order \eqn{(F^2 +
#'   g^2\log^2T)q^{-(2\alpha+d)/(2\alpha+d+1)}}{(F^2 + g^2 log(T)^2) q^(-(2 alpha + d) / (2 alpha + d + 1))}, width as
#'   [width_cpd()] with a constant that depends on \eqn{F} and the kernel, and periods so long that changes can be seen
#'   in time (3.8). The finite form and the samples that a change needs: [regret_bound()] (`"cpd_finite"`),
#'   [detection_size()]. The experiments' constants (there and in our article) are chosen by trial, outside the theorem.
#' @inheritParams gp_bandit
#' @param changes a rule, see [change_detect()], [change_oracle()], [change_never()].
#' @param width a [width][widths].
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`.
#' @section Errors: as [gp_bandit()].
#' @references Avanesov, Nonstationary Gaussian process bandits by change-point detection.
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
