#' GP-UCB under drift: restarts, windows, weights, fading
#'
#' Presets of [gp_bandit()] for rewards that change slowly, or at times nobody tells: each forgets the past at its own pace, without looking
#' at the rewards.
#'
#' All play \eqn{\arg\max_x \mu(x) + w_t\sigma(x)}{argmax mu(x) + w_t sd(x)}; \eqn{\mu} and \eqn{\sigma} are the posterior in round \eqn{t} of
#' * `r_gp_ucb()`: what was observed since the last restart, one every \eqn{H} rounds ([change_every()]).
#' * `sw_gp_ucb()`: the last \eqn{W} observations ([change_window()]).
#' * `wgp_ucb()`: all observations, that of round \eqn{s} with noise variance \eqn{\lambda\eta^{-(t-s)}}{lambda eta^-(t - s)} ([change_weights()]).
#' * `tv_gp_ucb()`: all observations under the kernel \eqn{k(x,x')(1-\epsilon)^{|t-t'|/2}}{k(x, x') (1 - epsilon)^(|t - t'| / 2)}: the function is
#'   taken to be \eqn{f_{t+1} = \sqrt{1-\epsilon}f_t + \sqrt\epsilon g}{f_(t+1) = sqrt(1 - epsilon) f_t + sqrt(epsilon) g}, \eqn{g} a fresh draw
#'   from the prior ([change_fade()]).
#'
#' Where they are not given, with \eqn{P_T} = `variation`, \eqn{T} = `horizon` and \eqn{\gamma_T} = `gain`,
#' \deqn{H = W = \lceil\gamma_T^{1/4}\sqrt{T/P_T}\rceil,\quad \eta = 1 - \gamma_T^{-1/4}\sqrt{P_T/T}.}{H = W = ceiling(gamma_T^(1/4) sqrt(T / P_T)),  eta = 1 - gamma_T^(-1/4) sqrt(P_T / T).}
#'
#' @section Guarantee: for restarts, windows and weights with those settings, dynamic regret
#'   \eqn{\tilde O(\gamma_T^{7/8}P_T^{1/4}T^{3/4})}{O(gamma_T^(7/8) P_T^(1/4) T^(3/4))} up to logarithms, for functions of bounded RKHS norm with
#'   \eqn{\sum_t \|f_{t+1}-f_t\| \le P_T}{sum of |f_(t+1) - f_t| <= P_T} in that norm, and a width such as [width_realised()] raised by the drift within the window. For `tv_gp_ucb()`,
#'   if the function drifts as the kernel says, expected regret linear in \eqn{T} with a slope that vanishes with \eqn{\epsilon}{epsilon}. The constant
#'   default width is practice, outside the theorems. Everything else of `gp_bandit()` (policies through it, pending rewards, contexts, constraints,
#'   boxes) runs with each of them and is exact; no theorem covers those combinations.
#' @inheritParams gp_bandit
#' @param rounds \eqn{H}, rounds between restarts, a whole number >= 1; `NULL`: by the formula.
#' @param window \eqn{W}, a whole number >= 1; `NULL`: by the formula.
#' @param rate \eqn{\eta}{eta}, in (0, 1], `NULL`: by the formula; for `tv_gp_ucb()` \eqn{\epsilon}{epsilon}, in \[0, 1).
#' @param width a [width][widths].
#' @param variation \eqn{P_T}, the total variation, a number > 0.
#' @param horizon \eqn{T}, the number of rounds, a whole number >= 1.
#' @param gain \eqn{\gamma_T}, a number > 0; `NULL`: on arms the greedy value of [max_information_gain()].
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`.
#' @section Errors: as [gp_bandit()]; if neither the pace nor what the formula needs is given, or if the formula gives no \eqn{\eta > 0}{eta > 0}.
#' @section Cost: see [changes].
#' @references Bogunovic, Scarlett and Cevher (2016), Time-varying Gaussian process bandit optimization, AISTATS; Zhou and
#'   Shroff (2021), No-regret algorithms for time-varying Bayesian optimization; Deng, Zhou, Kim, Tewari, Gupta and Shroff (2022), Weighted Gaussian
#'   process bandits for non-stationary environments, AISTATS.
#' @seealso [gp_ucb_cpd()], [et_gp_ucb()], [changes].
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' kernel <- kernel_se(0.2)
#' b <- sw_gp_ucb(x, kernel, 0.01, variation = 5, horizon = 100)
#' b$config$changes$window
#' drifting <- lapply(1:50, function(t) sin(6 * x + 0.05 * t))
#' problem <- bandit_problem(x, do.call(cbind, drifting), noise = noise_gaussian(0.1),
#'                           change_points = 1:49)
#' set.seed(1)
#' summary(run_bandit(tv_gp_ucb(x, kernel, 0.01, rate = 0.03), problem, 50))
#' @export
sw_gp_ucb <- function(domain, kernel, noise_var, window = NULL, width = width_constant(2), ..., variation = NULL,
                      horizon = NULL, gain = NULL) {
  if (is.null(window)) window <- drift_window(domain, kernel, noise_var, "window", variation, horizon, gain)
  preset(list(policy = policy_ucb(width), changes = change_window(window)), domain, kernel, noise_var, ...)
}

#' @rdname sw_gp_ucb
#' @export
r_gp_ucb <- function(domain, kernel, noise_var, rounds = NULL, width = width_constant(2), ..., variation = NULL,
                     horizon = NULL, gain = NULL) {
  if (is.null(rounds)) rounds <- drift_window(domain, kernel, noise_var, "rounds", variation, horizon, gain)
  preset(list(policy = policy_ucb(width), changes = change_every(rounds)), domain, kernel, noise_var, ...)
}

#' @rdname sw_gp_ucb
#' @export
wgp_ucb <- function(domain, kernel, noise_var, rate = NULL, width = width_constant(2), ..., variation = NULL,
                    horizon = NULL, gain = NULL) {
  if (is.null(rate)) {
    rate <- 1 - 1 / drift_memory(domain, kernel, noise_var, "rate", variation, horizon, gain)
    if (rate <= 0) {
      stop_argument("variation", describe(variation),
                    "less than horizon * sqrt(gain): with so much of it no past observation counts")
    }
  }
  preset(list(policy = policy_ucb(width), changes = change_weights(rate)), domain, kernel, noise_var, ...)
}

#' @rdname sw_gp_ucb
#' @export
tv_gp_ucb <- function(domain, kernel, noise_var, rate, width = width_constant(2), ...) {
  preset(list(policy = policy_ucb(width), changes = change_fade(rate)), domain, kernel, noise_var, ...)
}

drift_window <- function(...) ceiling(drift_memory(...))

# gamma_T^(1/4) sqrt(T / P_T), where the pace named `arg` was not given.
drift_memory <- function(domain, kernel, noise_var, arg, variation, horizon, gain) {
  if (is.null(variation) || is.null(horizon)) {
    stop_argument(arg, "NULL", "given, or `variation` and `horizon` to compute it from")
  }
  variation <- check_number(variation, lower = 0, open_lower = TRUE)
  horizon <- check_count(horizon)
  gain <- if (is.null(gain)) largest_gain(as_domain(domain), kernel, horizon, noise_var)
          else check_number(gain, lower = 0, open_lower = TRUE)
  gain^(1 / 4) * sqrt(horizon / variation)
}

largest_gain <- function(domain, kernel, horizon, noise_var) {
  if (!can_count(domain)) stop_argument("gain", "NULL", paste("a number > 0 on", describe_domain(domain)))
  check_class(kernel, "bandit_kernel", "kernel", hint = "kernel_se(), ...")
  check_number(noise_var, "noise_var", lower = 0, open_lower = TRUE)
  max_information_gain(kernel, domain, horizon, noise_var)[horizon]
}
