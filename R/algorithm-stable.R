# StableOpt for perturbed inputs. Layer: algorithms.

#' Perturbed inputs: StableOpt
#'
#' Preset of [gp_bandit()] for a maximum that stays good when its input is off by a little (Bogunovic et al. 2018). With
#' \eqn{N(x)} the places within `radius` of \eqn{x}, and \eqn{u, l = \mu\pm w\sigma}{u, l = mu +- w sd},
#' \deqn{\tilde x_t = \arg\max_x\min_{x'\in N(x)}u(x'),\quad x_t = \arg\min_{x'\in N(\tilde x_t)}l(x'):}{x~_t = argmax_x
#' min over N(x) of u,  x_t = argmin over N(x~_t) of l:} it plays the neighbour that can hurt most. `$best()` is the
#' place where \eqn{\min_{N(x)}l}{min over N(x) of l} is largest. On a box both are sought among its candidates.
#'
#' @section Guarantee: with a width that holds in all rounds together with probability \eqn{1-\delta}{1 - delta}, the
#'   \eqn{\tilde x_t}{x~_t} with the largest \eqn{\min_{N(x)} l}{min over N(x) of l} at its time is within
#'   \eqn{\eta}{eta} of the best worst case once
#'   \eqn{T/(w_T^2\gamma_T) \ge 8/(\log(1+1/\lambda)\eta^2)}{T / (w_T^2 gamma_T) >= 8 / (log(1 + 1/lambda) eta^2)},
#'   \eqn{k\le 1}{k <= 1}. What counts is \eqn{\min_{N(x)}f}{min over N(x) of f}, not \eqn{f} where it plays.
#' @inheritParams gp_ucb
#' @param radius how far an input can be off: a number > 0, or one per input (half axes of an ellipsoid), in units of
#'   the inputs (their logarithms, where these are logarithmic).
#' @param width a [width][widths] that is one multiplier.
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()].
#' @references Bogunovic, Scarlett, Jegelka and Cevher (2018), Adversarially robust optimization with Gaussian processes
#'   <https://arxiv.org/abs/1810.10775>.
#' @examples
#' x <- seq(0, 1, length.out = 80)
#' f <- exp(-(x - 0.2)^2 / 0.001) + 0.8 * exp(-(x - 0.7)^2 / 0.02) # a peak and a hill
#' b <- stable_opt(x, kernel_matern(2.5, 0.1), noise_var = 1e-3, radius = 0.05)
#' set.seed(1)
#' invisible(run_bandit(b, bandit_problem(x, f, noise = 0.03), 60))
#' b$best()$x1
#' @export
stable_opt <- function(domain, kernel, noise_var, radius, ..., width = width_constant(2)) {
  domain <- as_domain(domain)
  check_radius(radius, domain)
  check_few_places(domain, 20000)
  preset(list(policy = new_policy("stable")), domain, kernel, noise_var, ...)
}
