# GP-UCB-SDF, GP-TS-SDF and GP-BUCB for delayed rewards. Layer: algorithms.

#' Bandits for delayed rewards, batches and parallel work
#'
#' Presets of [gp_bandit()] for rewards that arrive late or not at all (Verma, Dai and Low 2022), and the
#' baselines the paper compares with. All take the delay from what they see: [gp_bandit()]'s `$suggest()` and
#' `$observe()` may be called in any order.
#'
#' * `gp_ucb_sdf()`, `gp_ts_sdf()`: censored feedback. Every query enters mean and variance at once, with `value` in
#'   place of its reward; the reward replaces it if it arrives within `m` rounds. UCB (or a Thompson draw) with
#'   \eqn{\nu_t = \beta_t + B_y\sum_{s=t-m}^{t-1}\sigma_{t-1}(x_s)}{nu_t = beta_t + B_y * sum over the last m queries of
#'   sd_{t-1}(x_s)}, see [width_sdf()]. `gp_ts_sdf()` has two draws: `draw = "scaled"` is the text's, from
#'   \eqn{GP(\mu_{t-1}, \nu_t^2\sigma_{t-1}^2)}{GP(mu_{t-1}, nu_t^2 sd_{t-1}^2)} (Equation 3); `draw = "posterior"` is
#'   what the authors' published code does, from the posterior itself.
#' * `gp_bucb()`: hallucination. The variance knows pending queries, the mean does not change. Thompson sampling so
#'   (GP-BTS) is `gp_bandit(domain, kernel, noise_var, policy_ts(1), pending = pending_hallucinate())`.
#' * Thompson sampling on the rewards that have arrived (asy-TS), whose randomness keeps parallel queries apart, is
#'   `gp_bandit(domain, kernel, noise_var, policy_ts(1))`.
#'
#' The text's rules have no start points. In the authors' code they do, and these are delayed and censored like all
#' queries: that is `design`, an argument of [gp_bandit()]. Start points whose rewards are known before the first round
#' (the other reading of their experiments) are told by `$add()`.
#'
#' A batch of `Q` queries asked together and answered before the next one (`$suggest(n = Q)`) needs `m >= Q`: its first
#' query waits while \eqn{Q - 1} others are asked, and the rule \eqn{d_s \le t - s}{d_s <= t - s} counts the round after
#' it. (The paper says \eqn{m = Q - 1}, counting only the queries in between.)
#'
#' @section Guarantee: with \eqn{\beta_t = B_f + (R + B_y)\sqrt{2(\gamma_{t-1} + 1 + \log(2/\delta))}}{beta_t = B_f + (R
#'   + B_y) sqrt(2 (gamma_{t-1} + 1 + log(2/delta)))} (`width_sdf(width_gp_ts(B_f, R + B_y, delta), B_y)`), \eqn{R_T \le
#'   (2/\rho_m)(C_1\beta_T\sqrt{T\gamma_T} + m B_y C_1^2\gamma_T)}{R_T <= (2/rho_m) (C1 beta_T sqrt(T gamma_T) + m B_y
#'   C1^2 gamma_T)} with probability at least \eqn{1-\delta}{1 - delta},
#'   \eqn{C_1 = \sqrt{2/\log(1 + 1/\lambda)}}{C1 = sqrt(2 / log(1 + 1/lambda))},
#'   \eqn{\rho_m = P(d \le m)}{rho_m = P(d <= m)} (Theorem 2; [regret_bound()]), under these conditions: RKHS norm at
#'   most \eqn{B_f}, \eqn{R}-sub-Gaussian noise, \eqn{k(x,x) \le 1}{k(x, x) <= 1}, **`noise_var` > 1**, rewards in
#'   \eqn{[v, v + B_y]}{[value, value + B_y]}, delays independent of everything else (where they depend on the input,
#'   \eqn{\rho_m}{rho_m} is the smallest probability over the inputs), prior mean `value`. With a smaller `noise_var`
#'   the proof loses factors: it then holds with `width_sdf(width_realized(B_f, R + B_y, delta / 2), B_y / noise_var)`.
#'   With contexts the same holds over pairs of context and point (Theorem 4). Thompson sampling needs
#'   \eqn{\log(4/\delta)}{log(4/delta)} and `draw = "scaled"` (Theorem 3). The default width
#'   (\eqn{\beta_t = 1}{beta_t = 1}, any `noise_var`) is the paper's practice and outside the theorems, and so are
#'   `draw = "posterior"` and refitted hyperparameters. `gp_bucb()` and Thompson sampling with either rule have none
#'   here. Other combinations: see [gp_bandit()].
#' @inheritParams gp_bandit
#' @param m rounds after which a reward counts as lost (whole number >= 0, or `Inf`), or a length of time, see
#'   [pending_censor()]; the paper uses twice the mean delay.
#' @param unit what `m` counts: `"rounds"` or clock `"time"`.
#' @param value what stands in place of an unknown reward: the smallest possible one.
#' @param width overrides the default width.
#' @param guard nats of information that pending queries may carry when another is asked, see [pending_hallucinate()];
#'   `Inf`: no limit.
#' @param draw `"scaled"`: draws with standard deviation \eqn{\nu_t\sigma}{nu_t sd}, the text's; `"posterior"`: draws
#'   from the posterior, the authors' code (`width` must then be left out).
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()].
#' @references Verma, Dai and Low (2022), Bayesian optimization under stochastic delayed feedback, ICML;
#'   Desautels, Krause and Burdick (2014); Kandasamy et al. (2018) for asynchronous Thompson sampling.
#' @aliases gp_bts asy_ts
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
    if (!missing(width)) stop_argument("width", "given with `draw = \"posterior\"`", "left out: such a draw has none")
    width <- width_constant(1)
  }
  preset(list(policy = policy_ts(width), pending = pending_censor(m, value, unit)), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_sdf
#' @export
gp_bucb <- function(domain, kernel, noise_var, ..., width = width_constant(1), guard = Inf) {
  preset(list(policy = policy_ucb(width), pending = pending_hallucinate(guard)), domain, kernel, noise_var, ...)
}
