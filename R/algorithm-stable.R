# StableOpt for perturbed inputs. Layer: algorithms.

#' Robust optimisation under input perturbations: StableOpt
#'
#' `stable_opt()` searches for a maximum that stays good in the worst case of perturbed inputs (Bogunovic et al. 2018).
#' Use it if the chosen inputs cannot be implemented exactly. It is a preset of [gp_bandit()].
#'
#' \eqn{N(x)} is the set of points within `radius` of \eqn{x}. With \eqn{w} the confidence width ([widths]), the
#' multiplier of the posterior standard deviation (sd), the confidence bounds are
#' \deqn{u(x), l(x) = \mu(x) \pm w\sigma(x).}{u(x), l(x) = mu(x) +- w sd(x).}
#'
#' StableOpt selects the neighbour with the lowest lower bound, of the point with the best worst case:
#' \deqn{\tilde x_t = \arg\max_x\min_{x'\in N(x)}u(x'),\quad x_t = \arg\min_{x'\in N(\tilde x_t)}l(x').}{x~_t = argmax_x
#' min over N(x) of u,  x_t = argmin over N(x~_t) of l.}
#'
#' `$best()` is the point with the largest \eqn{\min_{N(x)}l}{min over N(x) of l}. On a box both are searched among its
#' candidate points.
#'
#' @section Guarantee: Assume that the width holds in all rounds together with probability \eqn{1-\delta}{1 - delta},
#'   and \eqn{k(x,x) \le 1}{k(x, x) <= 1}. Then the \eqn{\tilde x_t}{x~_t} with the largest
#'   \eqn{\min_{N(x)} l}{min over N(x) of l} at its time is within \eqn{\eta}{eta} of the best worst case once
#'   \deqn{T/(w_T^2\gamma_T) \ge 8/(\log(1+1/\lambda)\eta^2).}{T / (w_T^2 gamma_T) >= 8 / (log(1 + 1/lambda) eta^2).}
#'   The theorem is about \eqn{\min_{N(x)}f}{min over N(x) of f}, not about \eqn{f} at the selected points.
#' @inheritParams gp_ucb
#' @param radius the largest perturbation of an input, in units of the inputs (their logarithms for logarithmic inputs):
#'   a number > 0, or one for each input (half-axes of an ellipsoid).
#' @param width the confidence width, see [widths]: a single multiplier. 2 by default.
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @references Bogunovic, Scarlett, Jegelka and Cevher (2018), Adversarially robust optimization with Gaussian processes
#'   <https://arxiv.org/abs/1810.10775>.
#' @concept worst case
#' @concept robust Bayesian optimization
#' @concept input noise
#' @concept adversarial perturbation
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
  check_few_points(domain, 20000)
  preset(list(policy = new_policy("stable")), domain, kernel, noise_var, ...)
}
