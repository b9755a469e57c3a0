# GP-UCB, IGP-UCB, GP-TS and expected improvement as named algorithms. Layer: algorithms.

#' GP-UCB and expected improvement (EI)
#'
#' `gp_ucb()` and `gp_ei()` make bandits with the upper confidence bound and with expected improvement as acquisition
#' function. Both are presets of [gp_bandit()], the policies of Srinivas et al. (2010).
#'
#' `gp_ucb()` selects the point with the largest upper confidence bound (equation 6 of Srinivas et al.):
#' \deqn{\arg\max_x\ \mu_{t-1}(x) + w_t\sigma_{t-1}(x).}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x).}
#' \eqn{w_t} is the confidence width (papers write \eqn{\sqrt{\beta_t}}{sqrt(beta_t)}). The default width is the paper's
#' practice on finitely many arms: \eqn{\beta_t}{beta_t} of Theorem 1, divided by five.
#'
#' `gp_ei()` selects the point with the largest expected improvement, or with the largest expected improvement per cost
#' (Snoek, Larochelle and Adams 2012), see [policies].
#'
#' @section Unknown costs: With `cost = "learned"` the cost of every query is observed with its reward, as `$observe(id,
#'   reward, constraints = cost)`. The logarithm of the cost has a separate posterior. `gp_ei()` then selects the point
#'   with the largest expected improvement divided by \eqn{\exp(\mu_{\log c}(x))}{exp(mean of log cost)}. `$posterior()`
#'   has `g1_mean` and `g1_sd`, of the logarithm. Compare algorithms by the total cost, not by rounds.
#'
#' @section Related algorithms:
#'
#'   * Probability of improvement: `gp_bandit(domain, kernel, noise_var, policy_pi())`.
#'   * KernelUCB (Valko et al. 2013), with the ridge `noise_var` and the multiplier \eqn{\eta}{eta}: `gp_ucb(domain,
#'     kernel, noise_var, width = width_constant(eta / sqrt(noise_var)))`. For \eqn{T} rounds, \eqn{N} arms and rewards
#'     within \eqn{[0, 1]}{[0, 1]} its text uses
#'     \eqn{\eta = \sqrt{2\log(2TN/\delta)}}{eta = sqrt(2 log(2 T N / delta))}. Its theorem is about SupKernelUCB, which
#'     plays KernelUCB on sets of rounds whose rewards are independent of their choice.
#'
#' @section Guarantee: `gp_ucb()` with `width = width_srinivas_finite(delta)` has, with probability at least
#'   \eqn{1-\delta}{1 - delta}, for all \eqn{T} (Theorem 1)
#'
#'   \deqn{R_T \le \sqrt{C_1 T\beta_T\gamma_T},\quad C_1 = 8/\log(1+\lambda^{-1}).}{R_T <= sqrt(C1 T beta_T gamma_T), C1
#'   = 8 / log(1 + 1/lambda).}
#'
#'   Assumptions: finitely many arms; \eqn{f \sim GP(0, k)}{f ~ GP(0, k)} with the true kernel,
#'   \eqn{k(x,x)\le 1}{k(x, x) <= 1}; Gaussian noise of the true variance `noise_var`.
#'
#'   The division by five is outside the theorem. On a box, [width_srinivas_compact()] and [width_amm()] have theorems
#'   for an upper bound that is maximised exactly; the package searches for its maximum numerically. There, under the
#'   prior, the regret is of order \eqn{\sqrt T}{sqrt(T)} up to logarithms for [kernel_se()] and smooth enough
#'   [kernel_matern()] (Iwazaki 2025). Its constants depend on the function drawn, so [regret_bound()] does not have it.
#'
#'   For EI the average regret tends to 0 if \eqn{f} is drawn from the prior with [kernel_se()] or [kernel_matern()]
#'   (Wang, Wang, Ng and Petra 2025). Conditions: the kernel and the Gaussian noise are known and fixed; `xi = 0`; no
#'   costs; and the incumbent is the best posterior mean, at the evaluated points (as here) or everywhere. Its constants
#'   are not in [regret_bound()], because they have not been checked. For other combinations see [bandit-combinations].
#' @inheritParams gp_bandit
#' @param width a [width][widths], or a number for a constant width. `NULL` (default): `width_srinivas_finite(delta,
#'   scale = 1/5)`, on finitely many arms; on a box a width must be given.
#' @param delta failure probability of the default width, a number in (0, 1), by default 0.1.
#' @param xi improvement that must be exceeded, a number >= 0 in units of the reward, by default 0.
#' @param cost costs of queries. `NULL` (default): all equal; a function of the inputs that returns known costs, as for
#'   [policy_ei()]; or `"learned"`, see Unknown costs.
#' @param cost_kernel,cost_noise_var,cost_mean prior covariance, noise variance (> 0) and prior mean of the logarithm of
#'   the cost, for `cost = "learned"`. By default `kernel`, 0.01 and 0.
#' @param ... further arguments of [gp_bandit()].
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @section Errors: As [gp_bandit()]. With `cost = "learned"` an observed cost must be > 0.
#' @references Srinivas, Krause, Kakade and Seeger (2010), Gaussian process optimization in the bandit
#'   setting, ICML <https://arxiv.org/abs/0912.3995>; Snoek, Larochelle and Adams (2012), Practical Bayesian
#'   optimization of machine learning algorithms <https://arxiv.org/abs/1206.2944>; Valko, Korda, Munos, Flaounas and
#'   Cristianini (2013), Finite-time analysis of kernelised contextual bandits, UAI <https://arxiv.org/abs/1309.6869>;
#'   Wang, Wang, Ng and Petra (2025), Bayesian optimization with expected improvement: no regret and the choice of
#'   incumbent <https://arxiv.org/abs/2508.15674>; Iwazaki (2025), Improved regret bounds for Gaussian process upper
#'   confidence bound in Bayesian optimization <https://arxiv.org/abs/2506.01393> (abstract).
#' @aliases gp_pi kernel_ucb gp_ei_cost
#' @concept multi-armed bandit
#' @concept Bayesian optimization
#' @concept acquisition function
#' @concept upper confidence bound
#' @concept expected improvement
#' @seealso [igp_ucb()], [gp_ts()], [regret_bound()].
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' run <- run_bandit(gp_ucb(x, kernel_se(0.2), noise_var = 0.01), problem, rounds = 50)
#' summary(run)
#' # A deterministic simulator: f is B = 1.1 in norm, and the certificate holds with certainty
#' f <- exp(-(x - 0.7)^2 / 0.08) - 0.5 * exp(-(x - 0.2)^2 / 0.08)
#' exact <- gp_ucb(x, kernel_se(0.2), noise_var = 1e-8, width = width_amm(B = 1.1, R = 0))
#' for (t in 1:7) {
#'   q <- exact$suggest()
#'   exact$observe(q$id, f[q$arm])
#' }
#' exact$certificate()[c("gap", "probability")]
#' dear <- gp_ei(x, kernel_se(0.2), noise_var = 0.01, cost = "learned")
#' for (t in 1:8) {
#'   q <- dear$suggest()
#'   dear$observe(q$id, sin(6 * q$x1), constraints = exp(2 * q$x1))
#' }
#' sum(dear$history()$g1)
#' @export
gp_ucb <- function(domain, kernel, noise_var, ..., width = NULL, delta = 0.1) {
  domain <- as_domain(domain)
  check_delta(delta)
  if (is.null(width)) width <- width_of_finite(domain, delta, scale = 1 / 5)
  preset(list(policy = policy_ucb(width)), domain, kernel, noise_var, ...)
}

width_of_finite <- function(domain, delta, scale = 1) {
  if (!can_count(domain)) {
    stop_missing("width", paste("a width, as no default exists on", describe_domain(domain)),
                 "`width = width_constant(2)` or `width = width_amm(B, R)`")
  }
  width_srinivas_finite(delta, scale = scale)
}

#' @rdname gp_ucb
#' @export
gp_ei <- function(domain, kernel, noise_var, ..., xi = 0, cost = NULL, cost_kernel = kernel, cost_noise_var = 0.01,
                  cost_mean = 0) {
  if (identical(cost, "learned")) {
    if (!identical(xi, 0)) stop_argument("xi", describe(xi), "0 if the cost is learned")
    return(gp_ei_learned_cost(domain, kernel, noise_var, cost_kernel, cost_noise_var, cost_mean, ...))
  }
  if (is.character(cost)) stop_argument("cost", describe(cost), "NULL, a function of the inputs, or \"learned\"")
  preset(list(policy = policy_ei(xi, cost)), domain, kernel, noise_var, ...)
}

#' IGP-UCB and Gaussian-process Thompson sampling (GP-TS)
#'
#' `igp_ucb()` and `gp_ts()` make bandits with an improved upper confidence bound and with Thompson sampling. They are
#' presets of [gp_bandit()], the algorithms of Chowdhury and Gopalan (2017) for functions of bounded RKHS norm. Use them
#' if you can bound this norm, and need a regret bound.
#'
#' `igp_ucb()` selects the point with the largest upper confidence bound (equation 5 of the paper):
#' \deqn{\arg\max_x\ \mu_{t-1}(x) + w_t\sigma_{t-1}(x),}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x),}
#' where the confidence width (the multiplier of the posterior standard deviation) is
#'
#' \deqn{w_t = B + R\sqrt{2(\gamma_{t-1}+1+\log(1/\delta))},}{w_t = B + R sqrt(2 (gamma_{t-1} + 1 + log(1/delta))),}
#'
#' with the information gain \eqn{\gamma_{t-1}}{gamma_{t-1}} (argument `gain`).
#'
#' `gp_ts()` selects the maximiser of one exact joint draw from
#' \eqn{GP(\mu_{t-1}, w_t^2 k_{t-1})}{GP(mu_{t-1}, w_t^2 k_{t-1})}. Its width has \eqn{\log(2/\delta)}{log(2/delta)}
#' instead.
#'
#' @section Guarantee: With probability at least \eqn{1-\delta}{1 - delta} the regret of `igp_ucb()` is (Theorem 3)
#'   \deqn{R_T = O(\sqrt{T}(B\sqrt{\gamma_T}+\gamma_T)),}{R_T = O(sqrt(T) (B sqrt(gamma_T) + gamma_T)),}
#'   and that of `gp_ts()` is (Theorem 4)
#'   \deqn{R_T = O(\sqrt{T d \log(BdT)}(B\sqrt{\gamma_T} + \gamma_T)).}{R_T = O(sqrt(T d log(B d T)) (B sqrt(gamma_T) +
#'   gamma_T)).}
#'   Assumptions:
#'
#'   * the RKHS norm of \eqn{f} (minus the prior mean) is at most `B`, and \eqn{k(x,x)\le 1}{k(x, x) <= 1};
#'   * the noise is `R`-sub-Gaussian;
#'   * \eqn{\lambda = 1 + 2/T}{lambda = 1 + 2/T} for the horizon \eqn{T}, where \eqn{\lambda}{lambda} is `noise_var`;
#'   * for `igp_ucb()` on a box: the upper bound is maximised exactly. The package searches for the maximum numerically;
#'   * for `gp_ts()` over a compact convex set: the draws are maximised over a finite \eqn{D_t}{D_t} alone, of
#'     \eqn{(BLrdt^2)^d}{(B L r d t^2)^d} points in \eqn{[0, r]^d}{[0, r]^d}.
#'
#'   Over \eqn{n} arms `gp_ts()` does that. Its bound then has \eqn{\log n}{log n} instead of
#'   \eqn{d\log(BdT)}{d log(B d T)} (`arms` in [regret_bound()]). On a box it maximises draws over the whole box, which
#'   is outside the theorem.
#'
#'   With any other \eqn{\lambda \ge 1}{lambda >= 1} the confidence intervals hold as well, because this width is then
#'   never narrower than [width_realized()]. The regret of `igp_ucb()` is then that of `"ucb"` in [regret_bound()]. With
#'   \eqn{\lambda < 1}{lambda < 1} this width has no proof; use [width_realized()] or [width_amm()], which have one for
#'   every \eqn{\lambda > 0}{lambda > 0}. The paper's experiments use \eqn{\lambda = R^2}{lambda = R^2}. For
#'   other combinations see [bandit-combinations].
#' @inheritParams gp_ucb
#' @param B bound on the RKHS norm of the function (minus the prior mean), a number >= 0.
#' @param R the noise is R-sub-Gaussian, a number >= 0 in units of the reward. For Gaussian noise it is the standard
#'   deviation.
#' @param delta failure probability, a number in (0, 1), by default 0.1.
#' @param gain information gain: `"realized"` (default), `"greedy"`, `"spectral"`, a number, a function or
#'   [gain_rate()]; see [gains].
#' @param width a [width][widths] that replaces the width made of `B`, `R`, `delta` and `gain`. `NULL` (default): no
#'   replacement.
#' @param ... further arguments of [gp_bandit()].
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @references Chowdhury and Gopalan (2017), On kernelized multi-armed bandits, ICML <https://arxiv.org/abs/1704.00445>.
#' @seealso [gp_ucb()], [widths_rkhs], [regret_bounds_ucb].
#' @concept Thompson sampling
#' @concept IGP-UCB
#' @concept posterior sampling
#' @concept Bayesian optimization
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' f <- 0.8 * exp(-(x - 0.7)^2 / (2 * 0.2^2)) # of norm 0.8
#' b <- igp_ucb(x, kernel_se(0.2), noise_var = 1 + 2 / 50, B = 1, R = 0.1) # for 50 rounds
#' set.seed(1)
#' for (t in 1:3) {
#'   q <- b$suggest()
#'   b$observe(q$id, f[q$arm] + rnorm(1, sd = 0.1))
#' }
#' b$history()
#' gp_ts(x, kernel_se(0.2), noise_var = 1 + 2 / 50, B = 1, R = 0.1)$suggest()
#' @export
igp_ucb <- function(domain, kernel, noise_var, B, R, delta = 0.1, gain = "realized", ...,
                    width = NULL) {
  if (is.null(width)) width <- width_igp(B, R, delta, gain)
  preset(list(policy = policy_ucb(width)), domain, kernel, noise_var, ...)
}

#' @rdname igp_ucb
#' @export
gp_ts <- function(domain, kernel, noise_var, B, R, delta = 0.1, gain = "realized", ...,
                  width = NULL) {
  if (is.null(width)) width <- width_gp_ts(B, R, delta, gain)
  preset(list(policy = policy_ts(width)), domain, kernel, noise_var, ...)
}

# gp_bandit() with the components that the preset chooses: a policy, and possibly other rules.
preset <- function(chosen, ...) {
  taken <- intersect(names(chosen), ...names())
  if (length(taken)) {
    stop_unused(taken[1], "this preset chooses it. Use `gp_bandit()`, which takes any")
  }
  # As a call with `...` in it, so that a missing argument stays missing. (A user's argument is a value, even if it is
  # an expression.)
  values <- lapply(chosen, function(value) if (is.language(value)) enquote(value) else value)
  eval(as.call(c(list(gp_bandit, quote(...)), values)))
}
