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
#' @section Value at risk: If a rare bad case is acceptable, `risk` replaces the minimum over \eqn{N(x)} by a measure of
#'   the lower tail. The points of \eqn{N(x)} are equally likely perturbed inputs: arms, or candidate points of a box,
#'   which are spread evenly. Let \eqn{\alpha} be `share`.
#'
#'   * `risk = "var"`: the value at risk, which is the \eqn{\alpha}-quantile of the rewards in \eqn{N(x)}.
#'   * `risk = "cvar"`: the conditional value at risk, which is the mean of the worst share \eqn{\alpha} of these
#'     rewards. With `share = 1` it is the mean over the tolerance.
#'
#'   \eqn{\tilde x_t}{x~_t} maximises the measure of \eqn{u}, and `$best()` that of \eqn{l}. The selected point of
#'   \eqn{N(\tilde x_t)}{N(x~_t)} is the one with the largest sd whose interval contains the quantiles of \eqn{l} and
#'   \eqn{u} (Nguyen et al. 2021a). For `"cvar"` these are the quantiles, up to \eqn{\alpha}, that are farthest from
#'   each other (Nguyen et al. 2021b). A small share of few points is the worst case.
#'
#' @section Guarantee: Assume that the width holds in all rounds together with probability \eqn{1-\delta}{1 - delta},
#'   and \eqn{k(x,x) \le 1}{k(x, x) <= 1}. Then the \eqn{\tilde x_t}{x~_t} with the largest
#'   \eqn{\min_{N(x)} l}{min over N(x) of l} at its time is within \eqn{\eta}{eta} of the best worst case once
#'   \deqn{T/(w_T^2\gamma_T) \ge 8/(\log(1+1/\lambda)\eta^2).}{T / (w_T^2 gamma_T) >= 8 / (log(1 + 1/lambda) eta^2).}
#'   The theorem is about \eqn{\min_{N(x)}f}{min over N(x) of f}, not about \eqn{f} at the selected points. It holds in
#'   the same form for both measures of risk, because each differs between \eqn{u} and \eqn{l} by at most
#'   \eqn{2w\sigma(x_t)}{2 w sd(x_t)}.
#' @inheritParams gp_ucb
#' @param radius the largest perturbation of an input, in units of the inputs (their logarithms for logarithmic inputs):
#'   a number > 0, or one for each input (half-axes of an ellipsoid).
#' @param width the confidence width, see [widths]: a single multiplier. 2 by default.
#' @param risk what is maximised over the perturbed inputs: their worst reward (`"worst"`, default), its value at risk
#'   (`"var"`) or its conditional value at risk (`"cvar"`).
#' @param share the share of worst perturbations of `"var"` and `"cvar"`, a number in (0, 1]. Default 0.1.
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @references Bogunovic, Scarlett, Jegelka and Cevher (2018), Adversarially robust optimization with Gaussian processes
#'   <https://arxiv.org/abs/1810.10775>.
#'
#'   Nguyen, Dai, Low and Jaillet (2021a), Value-at-risk optimization with Gaussian processes, ICML
#'   <https://arxiv.org/abs/2105.06126>.
#'
#'   Nguyen, Dai, Low and Jaillet (2021b), Optimizing conditional value-at-risk of black-box functions, NeurIPS.
#' @concept worst case
#' @concept value at risk
#' @concept conditional value at risk
#' @concept tolerance
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
#'
#' # The best mean of the worst fifth of all perturbed inputs:
#' stable_opt(x, kernel_matern(2.5, 0.1), 1e-3, radius = 0.05, risk = "cvar", share = 0.2)
#' @export
stable_opt <- function(domain, kernel, noise_var, radius, ..., width = width_constant(2),
                       risk = c("worst", "var", "cvar"), share = 0.1) {
  domain <- as_domain(domain)
  check_radius(radius, domain)
  check_few_points(domain, 20000)
  risk <- check_choice(risk, c("worst", "var", "cvar"))
  check_number(share, lower = 0, upper = 1, open_lower = TRUE)
  if (risk == "worst") risk <- share <- NULL
  preset(list(policy = new_policy("stable")), domain, kernel, noise_var, ...)
}
