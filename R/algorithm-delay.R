# GP-UCB-SDF, GP-TS-SDF and GP-BUCB for delayed rewards. Layer: algorithms.

#' Bayesian optimisation with delayed feedback: GP-UCB-SDF, GP-TS-SDF, GP-BUCB
#'
#' These bandits select queries while the rewards of earlier queries are still pending, late or lost. (SDF: stochastic
#' delayed feedback; BUCB: batch upper confidence bound.) Use them for parallel evaluations, batches and delayed
#' feedback. They are presets of [gp_bandit()], after Verma, Dai and Low (2022) and the baselines of that paper.
#' `$suggest()` and `$observe()` may be called in any order; delays are measured from these calls.
#'
#' A *pending query* is a query whose reward has not been observed. A *pending rule* ([pending]) defines how such
#' queries enter the posterior. The *confidence width* ([widths]) is the multiplier of the posterior standard deviation
#' (sd) in an upper confidence bound (UCB).
#'
#' * `gp_ucb_sdf()` and `gp_ts_sdf()` use censored feedback. Each query enters posterior mean and variance at once, with
#'   `value` instead of its reward. The reward replaces `value` if it arrives within `m` rounds.
#' * `gp_bucb()` uses hallucination: pending queries reduce the posterior variance, and the mean does not change.
#'   For Thompson sampling with this rule (GP-BTS), use
#'   `gp_bandit(domain, kernel, noise_var, policy_ts(1), pending = pending_hallucinate())`.
#' * Asynchronous Thompson sampling (asy-TS) uses only the rewards that have arrived; its randomness keeps parallel
#'   queries apart. Use `gp_bandit(domain, kernel, noise_var, policy_ts(1))`.
#'
#' `gp_ucb_sdf()` maximises the acquisition function (equation 2) \eqn{\mu_{t-1} + \nu_t\sigma_{t-1}}{mu_{t-1} + nu_t
#' sd_{t-1}} with the width ([width_sdf()])
#' \deqn{\nu_t = \beta_t + B_y\sum_{s=t-m}^{t-1}\sigma_{t-1}(x_s).}{nu_t = beta_t + B_y * sum over the last m queries of
#' sd_{t-1}(x_s).}
#'
#' `gp_ts_sdf()` has two kinds of draw. `draw = "scaled"` is Equation 3 of the paper, a draw from
#' \deqn{GP(\mu_{t-1}, \nu_t^2\sigma_{t-1}^2).}{GP(mu_{t-1}, nu_t^2 sd_{t-1}^2).}
#' `draw = "posterior"` follows the authors' published code, which draws from the posterior itself.
#'
#' The algorithms in the paper have no initial points. The authors' code has them, delayed and censored like all
#' queries: use `initial_design` of [gp_bandit()]. In another reading of their experiments, the rewards of the
#' initial points are observed before the first round: use `$add()`.
#'
#' A batch of `Q` queries (`$suggest(n = Q)`) whose rewards arrive before the next batch needs `m >= Q`. Its first query
#' waits while \eqn{Q - 1} others are asked, and the rule \eqn{d_s \le t - s}{d_s <= t - s} also counts the round after
#' it. (The paper has \eqn{m = Q - 1} because it counts only the queries in between.)
#'
#' @section Guarantee: Theorem 2 bounds the regret of `gp_ucb_sdf()` with the width
#'   `width_sdf(width_gp_ts(B_f, R + B_y, delta), B_y)`, which is
#'   \deqn{\beta_t = B_f + (R + B_y)\sqrt{2(\gamma_{t-1} + 1 + \log(2/\delta))}.}{beta_t = B_f + (R + B_y) sqrt(2
#'   (gamma_{t-1} + 1 + log(2/delta))).}
#'
#'   With probability at least \eqn{1-\delta}{1 - delta},
#'   \deqn{R_T \le (2/\rho_m)(C_1\beta_T\sqrt{T\gamma_T} + m B_y C_1^2\gamma_T),}{R_T <= (2/rho_m) (C1 beta_T sqrt(T
#'   gamma_T) + m B_y C1^2 gamma_T),}
#'   \deqn{C_1 = \sqrt{2/\log(1 + 1/\lambda)},\quad \rho_m = P(d \le m).}{C1 = sqrt(2 / log(1 + 1/lambda)),
#'   rho_m = P(d <= m).}
#'   [regret_bound()] computes it. The conditions are:
#'
#'   * The RKHS norm is at most \eqn{B_f}, and \eqn{k(x,x) \le 1}{k(x, x) <= 1}.
#'   * The noise is \eqn{R}-sub-Gaussian, and rewards are in \eqn{[v, v + B_y]}{[value, value + B_y]}.
#'   * \eqn{\lambda}{lambda} = **`noise_var` > 1**, and the prior mean is `value`.
#'   * Delays are independent of everything else. If they depend on the input, \eqn{\rho_m}{rho_m} is the smallest
#'     probability over the inputs.
#'
#'   With a smaller `noise_var` the proof loses factors. It then holds with
#'   `width_sdf(width_realized(B_f, R + B_y, delta / 2), B_y / noise_var)`.
#'
#'   With contexts the same holds over pairs of context and point (Theorem 4). Thompson sampling (Theorem 3) needs
#'   \eqn{\log(4/\delta)}{log(4/delta)} instead of \eqn{\log(2/\delta)}{log(2/delta)}, and `draw = "scaled"`.
#'
#'   Not covered: the default width (\eqn{\beta_t = 1}{beta_t = 1} with any `noise_var`, as in the paper's experiments),
#'   `draw = "posterior"`, and refitted hyperparameters. There is no theorem here for `gp_bucb()` or for Thompson
#'   sampling with either of the other rules. For other combinations see [bandit-combinations].
#' @inheritParams gp_bandit
#' @param m the number of rounds after which a reward counts as lost: an integer >= 0, or `Inf`. With `unit = "time"` it
#'   is a length of time, see [pending_censor()]. The paper uses twice the mean delay.
#' @param unit the unit of `m`: `"rounds"` (the default) or clock `"time"`.
#' @param value a number in units of the reward that replaces an unobserved reward: the smallest possible reward. 0 by
#'   default.
#' @param width the confidence width, see [widths]. By default the constant 1, which for SDF is increased by
#'   [width_sdf()].
#' @param guard the largest information, in nats, that pending queries may carry when another is asked. `Inf`, the
#'   default, sets no limit. See [pending_hallucinate()].
#' @param draw `"scaled"` (the default): draws with standard deviation \eqn{\nu_t\sigma}{nu_t sd}, as in the paper.
#'   `"posterior"`: draws from the posterior, as in the authors' code; `width` must then be left out.
#' @param ... further arguments of [gp_bandit()].
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @references Verma, Dai and Low (2022), Bayesian optimization under stochastic delayed feedback, ICML;
#'   Desautels, Krause and Burdick (2014), Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit
#'   optimization, JMLR 15; Kandasamy, Krishnamurthy, Schneider and Poczos (2018), Parallelised Bayesian optimisation
#'   via Thompson sampling, AISTATS.
#' @aliases gp_bts asy_ts
#' @concept delayed feedback
#' @concept batch Bayesian optimization
#' @concept parallel Bayesian optimization
#' @concept asynchronous
#' @concept Thompson sampling
#' @concept pending evaluations
#' @seealso [pending], [width_sdf()].
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' f <- sin(6 * x) / 2 + 0.5
#' problem <- bandit_problem(x, f, noise = 0.02, delay = function(n) rpois(n, 5))
#' set.seed(1)
#' summary(run_bandit(gp_ucb_sdf(x, kernel_se(0.2), noise_var = 0.01, m = 10), problem, rounds = 60))
#' gp_bucb(x, kernel_se(0.2), noise_var = 0.01)$suggest(4)
#' @export
gp_ucb_sdf <- function(domain, kernel, noise_var, m, value = 0, ...,
                       width = width_sdf(width_constant(1)), unit = c("rounds", "time")) {
  preset(list(policy = policy_ucb(width), pending = pending_censor(m, value, unit)), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_sdf
#' @export
gp_ts_sdf <- function(domain, kernel, noise_var, m, value = 0, ...,
                      width = width_sdf(width_constant(1)), unit = c("rounds", "time"),
                      draw = c("scaled", "posterior")) {
  if (check_choice(draw, c("scaled", "posterior")) == "posterior") {
    if (!missing(width)) stop_unused("width", "`draw = \"posterior\"` uses no width")
    width <- width_constant(1)
  }
  preset(list(policy = policy_ts(width), pending = pending_censor(m, value, unit)), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_sdf
#' @export
gp_bucb <- function(domain, kernel, noise_var, ..., width = width_constant(1), guard = Inf) {
  preset(list(policy = policy_ucb(width), pending = pending_hallucinate(guard)), domain, kernel, noise_var, ...)
}
