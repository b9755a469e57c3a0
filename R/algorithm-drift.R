# GP-UCB under drift: windows, weights, fading, restarts. Layer: algorithms.

#' GP-UCB for time-varying rewards: restarts, sliding windows, weights, fading
#'
#' `gp_ucb_drift()` is GP-UCB for functions that change slowly, or at unknown times. The rule `forget` discards old
#' rewards, or gives them less weight. It is a preset of [gp_bandit()].
#'
#' It maximises the acquisition function
#' \deqn{\mu(x) + w_t\sigma(x),}{mu(x) + w_t sd(x),}
#' where \eqn{w_t} is the confidence width ([widths]), the multiplier of the posterior standard deviation (sd). Mean and
#' sd are those of round \eqn{t}. The rule `forget` sets the data on which they are conditioned:
#'
#' * [change_oracle(every = )][change_oracle()] (R-GP-UCB): the rewards since the last restart, with a restart every
#'   \eqn{H} rounds.
#' * [change_oracle()] with `window` (SW-GP-UCB): the last \eqn{W} observations.
#' * [change_oracle()] with `rate` and `by = "weights"` (WGP-UCB): all observations. That of round \eqn{s} has noise
#'   variance \eqn{\lambda\eta^{-(t-s)}}{lambda eta^-(t - s)}, with \eqn{\eta}{eta} = 1 - `rate`.
#' * [change_oracle()] with `rate` (TV-GP-UCB): all observations, under a model of drift with \eqn{\epsilon}{epsilon} =
#'   `rate` and \eqn{g} a new draw from the prior in each round,
#'   \deqn{f_{t+1} = \sqrt{1-\epsilon}f_t + \sqrt\epsilon g.}{f_(t+1) = sqrt(1 - epsilon) f_t + sqrt(epsilon) g.}
#'
#'   The kernel of this model is \eqn{k(x,x')(1-\epsilon)^{|t-t'|/2}}{k(x, x') (1 - epsilon)^(|t - t'| / 2)}.
#' * [change_detect()] with `delta` (ET-GP-UCB): the rewards since the last restart, with a restart when a reward is too
#'   far from the posterior mean.
#'
#' `forget = "restarts"`, `"window"` or `"weights"` computes \eqn{H}, \eqn{W} or \eqn{\eta}{eta} by a formula. It uses
#' the total variation \eqn{P_T} = `variation`, the horizon \eqn{T} = `horizon` and the information gain
#' \eqn{\gamma_T}{gamma_T} = `gain`:
#' \deqn{H = W = \lceil\gamma_T^{1/4}\sqrt{T/P_T}\rceil,\quad \eta = 1 - \gamma_T^{-1/4}\sqrt{P_T/T}.}{H = W =
#' ceiling(gamma_T^(1/4) sqrt(T / P_T)),  eta = 1 - gamma_T^(-1/4) sqrt(P_T / T).}
#'
#' For the costs of a round see [change-details].
#'
#' @section Guarantee: *Restarts, windows and weights* with these settings have dynamic regret
#'   \deqn{\tilde O(\gamma_T^{7/8}P_T^{1/4}T^{3/4}),}{O(gamma_T^(7/8) P_T^(1/4) T^(3/4)),}
#'   up to logarithms. The functions must have bounded RKHS norm and
#'   \eqn{\sum_t \|f_{t+1}-f_t\| \le P_T}{sum of |f_(t+1) - f_t| <= P_T} in that norm. The width must be one such as
#'   [width_realized()], increased by the drift within the window.
#'
#'   *Fading* (an original result, not peer-reviewed; `"fade"` of [regret_bound()]): the function drifts as the kernel
#'   states, on arms, and the width is `width_srinivas_finite(delta)`, not the default. With probability
#'   \eqn{1-\delta}{1 - delta} the intervals hold in all rounds, and the dynamic regret is at most
#'   \deqn{\sqrt{C_1T\beta_TI_T},\quad C_1 = 8/\log(1+1/\lambda),}{sqrt(C1 T beta_T I_T), C1 = 8 / log(1 + 1 / lambda),}
#'   with \eqn{I_T} the realised `$information_gain()`. This is linear in \eqn{T}, with a slope that vanishes with
#'   \eqn{\epsilon}{epsilon}.
#'
#'   *Event triggers* (an original result, not peer-reviewed; a union bound over rounds): assume that \eqn{f} is drawn
#'   from the prior and never changes, \eqn{\lambda}{lambda} is right, and queries are asked one at a time. Then the
#'   probability of **any** restart is at most `delta`. A change that moves \eqn{f} at the next point by more than twice
#'   the threshold is detected there with probability \eqn{1-\delta}{1 - delta}; changes elsewhere may not be. The
#'   paper has regret bounds for these resets (Brunzema et al., TMLR 2025). We could read its abstract only, so that
#'   neither their form nor their constants are given here.
#'
#'   Not covered: the constant default width, and combinations with other policies, pending rewards, contexts,
#'   constraints or boxes. These combinations run with each rule, and their posterior is exact. If the variation is
#'   bounded and designs can be planned, see [bpe()] with `variation`, and `width_fixed(drift = )` ([widths]).
#' @inheritParams gp_bandit
#' @param forget a rule: [change_oracle()], [change_detect()] or another of [changes]. Or `"restarts"`,
#'   `"window"` or `"weights"`: one of the first three rules, with its setting by the formula in Details.
#' @param width the confidence width, see [widths]. 2 by default.
#' @param variation \eqn{P_T}, the total variation in the RKHS norm, a number > 0. Needed for the formulas; otherwise
#'   `NULL`.
#' @param horizon \eqn{T}, the number of rounds, an integer >= 1. Needed for the formulas; otherwise `NULL`.
#' @param gain \eqn{\gamma_T}{gamma_T} of the formulas, a number > 0 in nats. `NULL`, the default, is on arms the greedy
#'   value of [information_gain()] for `horizon` rounds; a box needs a number.
#' @param ... further arguments of [gp_bandit()].
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @section Errors: `forget = "weights"` needs a total variation for which \eqn{\eta > 0}{eta > 0}, and all formulas
#'   need `variation` and `horizon`.
#' @references Bogunovic, Scarlett and Cevher (2016), Time-varying Gaussian process bandit optimization, AISTATS
#'   <https://arxiv.org/abs/1601.06650>; Brunzema, von Rohr, Solowjow and Trimpe (2025), Event-triggered time-varying
#'   Bayesian optimization, TMLR <https://arxiv.org/abs/2208.10790>; Zhou and Shroff (2021), No-regret algorithms for
#'   time-varying Bayesian optimization; Deng, Zhou, Kim, Tewari, Gupta and Shroff (2022), Weighted Gaussian process
#'   bandits for non-stationary environments, AISTATS <https://arxiv.org/abs/2107.02371>.
#' @aliases sw_gp_ucb r_gp_ucb wgp_ucb tv_gp_ucb et_gp_ucb
#' @concept time-varying Bayesian optimization
#' @concept nonstationary bandits
#' @concept sliding window
#' @concept discounting
#' @concept concept drift
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
#' summary(run_bandit(gp_ucb_drift(x, kernel, 0.01, change_oracle(rate = 0.03)), problem, 50))
#' @export
gp_ucb_drift <- function(domain, kernel, noise_var, forget, ..., width = width_constant(2), variation = NULL,
                         horizon = NULL, gain = NULL) {
  if (missing(forget)) stop_missing("forget", drift_choices)
  if (is.character(forget)) {
    rule <- drift_rules[[check_choice(forget, names(drift_rules))]]
    forget <- rule(drift_memory(domain, kernel, noise_var, variation, horizon, gain), variation)
  } else {
    check_class(forget, "bandit_changes", hint = drift_choices)
    given <- c("variation", "horizon", "gain")[!c(is.null(variation), is.null(horizon), is.null(gain))]
    if (length(given)) {
      stop_unused(given[1], "it is used only if `forget` is the name of a formula")
    }
  }
  preset(list(policy = policy_ucb(width), changes = forget), domain, kernel, noise_var, ...)
}

drift_choices <- paste("change_oracle(every = ), change_oracle(window = ), change_detect(delta = ), ...,",
                       "or \"restarts\", \"window\", \"weights\"")

# Rules whose rate of forgetting follows from the formula gamma_T^(1/4) sqrt(T / P_T).
drift_rules <- list(
  restarts = function(memory, variation) change_oracle(every = ceiling(memory)),
  window = function(memory, variation) change_oracle(window = ceiling(memory)),
  weights = function(memory, variation) {
    if (memory <= 1) {
      stop_argument("variation", describe(variation),
                    "less than horizon * sqrt(gain): with a larger variation no past observation counts")
    }
    change_oracle(rate = 1 / memory, by = "weights")
  }
)

# gamma_T^(1/4) sqrt(T / P_T).
drift_memory <- function(domain, kernel, noise_var, variation, horizon, gain) {
  if (is.null(variation)) {
    stop_missing("variation", "the total variation, a number > 0, if `forget` is the name of a formula")
  }
  if (is.null(horizon)) stop_missing("horizon", "the number of rounds, if `forget` is the name of a formula")
  variation <- check_number(variation, lower = 0, open_lower = TRUE)
  horizon <- check_count(horizon)
  gain <- if (is.null(gain)) largest_gain(as_domain(domain), kernel, horizon, noise_var)
          else check_number(gain, lower = 0, open_lower = TRUE)
  gain^(1 / 4) * sqrt(horizon / variation)
}

largest_gain <- function(domain, kernel, horizon, noise_var) {
  if (!can_count(domain)) {
    stop_missing("gain", paste("the information gain, a number > 0, on", describe_domain(domain)))
  }
  kernel <- as_kernel(kernel)
  check_number(noise_var, "noise_var", lower = 0, open_lower = TRUE)
  information_gain(kernel, domain, noise_var, rounds = horizon)[horizon]
}
