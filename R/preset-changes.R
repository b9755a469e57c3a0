#' GP-UCB in an environment that changes
#'
#' Presets of [gp_bandit()]. `gp_ucb_cpd()` is Algorithm 2 of Avanesov: GP-UCB that explores uniformly at a decreasing rate and
#' forgets everything when the uniform samples betray a change. `et_gp_ucb()` restarts when a reward is too far from what the
#' posterior allows, without forced exploration. Those that forget by the calendar: [sw_gp_ucb()].
#'
#' @section Guarantee: for `gp_ucb_cpd()`, expected regret \eqn{O(\sqrt{K}}{O(sqrt(K)} times a sublinear function of \eqn{T)}{T)}, K changes that
#'   are far enough apart and large enough (Avanesov, Theorem 2), with thresholds of the stated form and `noise_var` of order
#'   \eqn{g^2\log T}{g^2 log T}, \eqn{g} the noise's sub-Gaussian constant. Our `width_cpd()` takes its constants as the paper's experiments do.
#' @inheritParams gp_bandit
#' @param changes a rule, see [change_detect()], [change_oracle()], [change_never()].
#' @param width a [width][widths].
#' @param delta failure probability, in (0, 1).
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`.
#' @section Errors: as [gp_bandit()].
#' @references Avanesov, Nonstationary Gaussian process bandits by change-point detection; Brunzema, von Rohr, Solowjow and
#'   Trimpe, event-triggered time-varying Bayesian optimization.
#' @examples
#' x <- seq(0, 5, length.out = 100)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' problem <- bandit_problem(x, sample_gp(kernel, x, n = 2), noise = noise_gaussian(0.05),
#'                           change_points = 100)
#' rule <- change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7))
#' width <- width_cpd(D = 0.02, nu = 2.5, d = 1, horizon = 200)
#' summary(run_bandit(gp_ucb_cpd(x, kernel, 0.0132, changes = rule, width = width), problem, 200))
#' @export
gp_ucb_cpd <- function(domain, kernel, noise_var, changes, width, ...) {
  check_class(changes, "bandit_changes", hint = "change_detect(), change_oracle(), change_never()")
  preset(list(policy = policy_ucb(width), changes = changes), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_cpd
#' @export
et_gp_ucb <- function(domain, kernel, noise_var, delta = 0.1, width = width_constant(2), ...) {
  preset(list(policy = policy_ucb(width), changes = change_event(delta)), domain, kernel, noise_var, ...)
}
