# GP-UCB under drift: windows, weights, fading, restarts. Layer: algorithms.

#' GP-UCB under drift: restarts, windows, weights, fading
#'
#' Preset of [gp_bandit()] for rewards that change slowly, or at times nobody tells: it forgets the past at its own
#' pace.
#'
#' It plays \eqn{\arg\max_x \mu(x) + w_t\sigma(x)}{argmax mu(x) + w_t sd(x)}; \eqn{\mu} and \eqn{\sigma} are the
#' posterior in round \eqn{t}, by `forget`, of
#' * [change_oracle(every = )][change_oracle()] (R-GP-UCB): what was observed since the last restart, one every \eqn{H}
#'   rounds.
#' * [change_fade()] with `window` (SW-GP-UCB): the last \eqn{W} observations.
#' * [change_fade()] `by = "weights"` (WGP-UCB): all observations, that of round \eqn{s} with noise variance
#'   \eqn{\lambda\eta^{-(t-s)}}{lambda eta^-(t - s)}, \eqn{\eta}{eta} = 1 - `rate`.
#' * [change_fade()] (TV-GP-UCB): all observations under the kernel
#'   \eqn{k(x,x')(1-\epsilon)^{|t-t'|/2}}{k(x, x') (1 - epsilon)^(|t - t'| / 2)}: the function is taken to be
#'   \eqn{f_{t+1} = \sqrt{1-\epsilon}f_t + \sqrt\epsilon g}{f_(t+1) = sqrt(1 - epsilon) f_t + sqrt(epsilon) g}, \eqn{g}
#'   a fresh draw from the prior.
#' * [change_event()] (ET-GP-UCB): what was observed since a reward was last too far from what the posterior allows.
#'
#' `forget = "restarts"`, `"window"` or `"weights"` sets the pace by the total variation: with \eqn{P_T} = `variation`,
#' \eqn{T} = `horizon` and \eqn{\gamma_T} = `gain`,
#' \deqn{H = W = \lceil\gamma_T^{1/4}\sqrt{T/P_T}\rceil,\quad \eta = 1 - \gamma_T^{-1/4}\sqrt{P_T/T}.}{H = W =
#' ceiling(gamma_T^(1/4) sqrt(T / P_T)),  eta = 1 - gamma_T^(-1/4) sqrt(P_T / T).}
#'
#' @section Guarantee: for restarts, windows and weights with those settings, dynamic regret
#'   \eqn{\tilde O(\gamma_T^{7/8}P_T^{1/4}T^{3/4})}{O(gamma_T^(7/8) P_T^(1/4) T^(3/4))} up to logarithms, for functions
#'   of bounded RKHS norm with \eqn{\sum_t \|f_{t+1}-f_t\| \le P_T}{sum of |f_(t+1) - f_t| <= P_T} in that norm, and a
#'   width such as [width_realized()] raised by the drift within the window. For fading, if the function drifts as the
#'   kernel says, on arms and with `width_srinivas_finite(delta)`, not the default width: with probability
#'   \eqn{1-\delta}{1 - delta} the intervals hold in all rounds and the dynamic regret is at most
#'   \eqn{\sqrt{C_1T\beta_TI_T}}{sqrt(C1 T beta_T I_T)}, \eqn{C_1 = 8/\log(1+1/\lambda)}{C1 = 8 / log(1 + 1 / lambda)},
#'   \eqn{I_T} the realised `$information_gain()` (derived here; `"fade"` of [regret_bound()]): linear in \eqn{T}, with
#'   a slope that vanishes with \eqn{\epsilon}{epsilon}. For event triggers one thing: if \eqn{f} is drawn from the
#'   prior and never changes, \eqn{\lambda}{lambda} is right and queries are asked one at a time, the probability of
#'   **any** restart is at most `delta` (derived here, a union bound over rounds); that a change is noticed nobody
#'   proves. The constant default width is practice, outside the theorems. Where the variation is bounded and designs
#'   may be planned: [bpe()] with `variation`, `width_fixed(drift = )` ([widths]). Everything else of `gp_bandit()`
#'   (policies through it, pending rewards, contexts, constraints, boxes) runs with each of them and is exact; no
#'   theorem covers those combinations.
#' @inheritParams gp_bandit
#' @param forget a rule: [change_oracle()], [change_fade()], [change_event()] or
#'   another of [changes]; or `"restarts"`, `"window"`, `"weights"`: the first three at the pace of the formulas.
#' @param width a [width][widths].
#' @param variation \eqn{P_T}, the total variation, a number > 0.
#' @param horizon \eqn{T}, the number of rounds, a whole number >= 1.
#' @param gain \eqn{\gamma_T}, a number > 0; `NULL`: on arms the greedy value of [information_gain()] for that number of
#'   rounds.
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`.
#' @section Errors: as [gp_bandit()]; if a formula is asked for without what it needs, or if the formula gives no
#'   \eqn{\eta > 0}{eta > 0}.
#' @section Cost: see [changes].
#' @references Bogunovic, Scarlett and Cevher (2016), Time-varying Gaussian process bandit optimization, AISTATS;
#'   Brunzema, von Rohr, Solowjow and Trimpe, event-triggered time-varying Bayesian optimization; Zhou and Shroff
#'   (2021), No-regret algorithms for time-varying Bayesian optimization; Deng, Zhou, Kim, Tewari, Gupta and Shroff
#'   (2022), Weighted Gaussian process bandits for non-stationary environments, AISTATS.
#' @aliases sw_gp_ucb r_gp_ucb wgp_ucb tv_gp_ucb et_gp_ucb
#' @seealso [gp_ucb_cpd()], [changes].
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' kernel <- kernel_se(0.2)
#' b <- gp_ucb_drift(x, kernel, 0.01, "window", variation = 5, horizon = 100)
#' b$config$changes$window
#' drifting <- lapply(1:50, function(t) sin(6 * x + 0.05 * t))
#' problem <- bandit_problem(x, do.call(cbind, drifting), noise = 0.1,
#'                           change_points = 1:49)
#' set.seed(1)
#' summary(run_bandit(gp_ucb_drift(x, kernel, 0.01, change_fade(0.03)), problem, 50))
#' @export
gp_ucb_drift <- function(domain, kernel, noise_var, forget, ..., width = width_constant(2), variation = NULL,
                         horizon = NULL, gain = NULL) {
  if (missing(forget)) stop_argument("forget", "missing", drift_choices)
  if (is.character(forget)) {
    forget <- drift_rule(check_choice(forget, names(drift_rules)), domain, kernel, noise_var, variation, horizon, gain)
  } else {
    check_class(forget, "bandit_changes", hint = drift_choices)
    given <- c("variation", "horizon", "gain")[!c(is.null(variation), is.null(horizon), is.null(gain))]
    if (length(given)) {
      stop_argument(given[1], "given beside a rule that has its own pace",
                    "NULL, or `forget` one of the formulas' names")
    }
  }
  preset(list(policy = policy_ucb(width), changes = forget), domain, kernel, noise_var, ...)
}

drift_choices <- paste("change_oracle(every = ), change_fade(), change_event(), ...,",
                       "or \"restarts\", \"window\", \"weights\"")

# Rules whose pace a formula gives, from gamma_T^(1/4) sqrt(T / P_T).
drift_rules <- list(
  restarts = function(memory, variation) change_oracle(every = ceiling(memory)),
  window = function(memory, variation) change_fade(window = ceiling(memory)),
  weights = function(memory, variation) {
    if (memory <= 1) {
      stop_argument("variation", describe(variation),
                    "less than horizon * sqrt(gain): with so much of it no past observation counts")
    }
    change_fade(1 / memory, by = "weights")
  }
)

drift_rule <- function(name, domain, kernel, noise_var, variation, horizon, gain) {
  drift_rules[[name]](drift_memory(domain, kernel, noise_var, variation, horizon, gain), variation)
}

# gamma_T^(1/4) sqrt(T / P_T).
drift_memory <- function(domain, kernel, noise_var, variation, horizon, gain) {
  if (is.null(variation)) stop_argument("variation", "NULL", "given, where a formula sets the pace")
  if (is.null(horizon)) stop_argument("horizon", "NULL", "given, where a formula sets the pace")
  variation <- check_number(variation, lower = 0, open_lower = TRUE)
  horizon <- check_count(horizon)
  gain <- if (is.null(gain)) largest_gain(as_domain(domain), kernel, horizon, noise_var)
          else check_number(gain, lower = 0, open_lower = TRUE)
  gain^(1 / 4) * sqrt(horizon / variation)
}

largest_gain <- function(domain, kernel, horizon, noise_var) {
  if (!can_count(domain)) stop_argument("gain", "NULL", paste("a number > 0 on", describe_domain(domain)))
  kernel <- as_kernel(kernel)
  check_number(noise_var, "noise_var", lower = 0, open_lower = TRUE)
  information_gain(kernel, domain, noise_var, rounds = horizon)[horizon]
}
