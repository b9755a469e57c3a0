# GP-UCB, IGP-UCB, GP-TS and expected improvement as named algorithms. Layer: algorithms.

#' GP-UCB and EI
#'
#' Presets of [gp_bandit()]: the policies of Srinivas et al. (2010).
#'
#' `gp_ucb()` plays \eqn{\arg\max_x \mu_{t-1}(x) + w_t\sigma_{t-1}(x)}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x)}. The
#' default width is the paper's practice on finitely many arms: Theorem 1's \eqn{\beta_t}{beta_t} divided by five.
#' `gp_ei()` plays the arm of largest expected improvement, or of largest expected improvement per cost (Snoek,
#' Larochelle and Adams 2012), see [policies].
#'
#' Where queries cost differently and nobody knows how much (`cost = "learned"`), the cost of every query is told with
#' its reward, as `$observe(id, reward, constraints = cost)`, its logarithm has a posterior of its own, and the largest
#' expected improvement divided by \eqn{\exp(\mu_{\log c}(x))}{exp(mean of log cost)} is played; `$posterior()` then has
#' `g1_mean` and `g1_sd`, of the logarithm. Compare by what was spent, not by rounds.
#'
#' Relatives are one line each:
#' * probability of improvement: `gp_bandit(domain, kernel, noise_var, policy_pi())`;
#' * KernelUCB (Valko et al. 2013), with the ridge `noise_var` and the multiplier \eqn{\eta}{eta}:
#'   `gp_ucb(domain, kernel, noise_var, width = width_constant(eta / sqrt(noise_var)))`, whose text takes
#'   \eqn{\eta = \sqrt{2\log(2TN/\delta)}}{eta = sqrt(2 log(2 T N / delta))} for \eqn{T} rounds, \eqn{N} arms and
#'   rewards within \eqn{[0, 1]}; its theorem is about SupKernelUCB, which plays it on sets of rounds whose rewards are
#'   independent of their choice.
#'
#' @section Guarantee: with `width = width_srinivas_finite(delta)` and \eqn{f \sim GP(0, k)}{f ~ GP(0, k)} observed with
#'   Gaussian noise of variance `noise_var`, \eqn{R_T \le \sqrt{C_1 T\beta_T\gamma_T}}{R_T <= sqrt(C1 T beta_T gamma_T)}
#'   for all \eqn{T} with probability at least \eqn{1-\delta}{1 - delta},
#'   \eqn{C_1 = 8/\log(1+\lambda^{-1})}{C1 = 8 / log(1 + 1/lambda)} (Theorem 1, kernels with
#'   \eqn{k(x,x)\le 1}{k(x, x) <= 1}, finitely many arms, the true kernel and noise variance). The division by five is
#'   outside the theorem. EI has none here, per cost or not: it is what practitioners use. Other combinations: see
#'   [gp_bandit()].
#' @inheritParams gp_bandit
#' @param width a [width][widths]; `NULL`: `width_srinivas_finite(delta, scale = 1/5)`.
#' @param delta failure probability of the default width, in (0, 1).
#' @param xi improvement that must be exceeded, a number >= 0.
#' @param cost `NULL`; a function of the inputs that gives known costs, as for [policy_ei()]; or `"learned"`.
#' @param cost_kernel,cost_noise_var,cost_mean with `cost = "learned"` prior covariance, noise variance (> 0) and prior
#'   mean of the logarithm of the cost.
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()]; also where a cost that is told is not > 0.
#' @references Srinivas, Krause, Kakade and Seeger (2010), Gaussian process optimization in the bandit
#'   setting, ICML <https://arxiv.org/abs/0912.3995>; Snoek, Larochelle and Adams (2012), Practical Bayesian
#'   optimization of machine learning algorithms <https://arxiv.org/abs/1206.2944>; Valko, Korda, Munos, Flaounas and
#'   Cristianini (2013), Finite-time analysis of kernelised contextual bandits, UAI <https://arxiv.org/abs/1309.6869>.
#' @aliases gp_pi kernel_ucb gp_ei_cost
#' @seealso [igp_ucb()], [gp_ts()], [regret_bound()].
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' run <- run_bandit(gp_ucb(x, kernel_se(0.2), noise_var = 0.01), problem, rounds = 50)
#' summary(run)
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
  if (is.null(width)) {
    if (!can_count(domain)) {
      stop_argument("width", "NULL", sprintf("given on %s, for example width_constant(2) or width_amm(B, R)",
                                             describe_domain(domain)))
    }
    width <- width_srinivas_finite(delta, scale = 1 / 5)
  }
  preset(list(policy = policy_ucb(width)), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb
#' @export
gp_ei <- function(domain, kernel, noise_var, ..., xi = 0, cost = NULL, cost_kernel = kernel, cost_noise_var = 0.01,
                  cost_mean = 0) {
  if (identical(cost, "learned")) {
    if (!identical(xi, 0)) stop_argument("xi", describe(xi), "0 where the cost is learned")
    return(gp_ei_learned_cost(domain, kernel, noise_var, cost_kernel, cost_noise_var, cost_mean, ...))
  }
  if (is.character(cost)) stop_argument("cost", describe(cost), "NULL, a function of the inputs, or \"learned\"")
  preset(list(policy = policy_ei(xi, cost)), domain, kernel, noise_var, ...)
}

#' IGP-UCB and GP-TS
#'
#' Presets of [gp_bandit()]: the algorithms of Chowdhury and Gopalan (2017) for functions of bounded RKHS norm.
#'
#' `igp_ucb()` plays \eqn{\arg\max_x \mu_{t-1}(x) + w_t\sigma_{t-1}(x)}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x)} with
#' \eqn{w_t = B + R\sqrt{2(\gamma_{t-1}+1+\log(1/\delta))}}{w_t = B + R sqrt(2 (gamma_{t-1} + 1 + log(1/delta)))};
#' `gp_ts()` plays the maximiser of one exact joint draw from
#' \eqn{GP(\mu_{t-1}, w_t^2 k_{t-1})}{GP(mu_{t-1}, w_t^2 k_{t-1})}, with \eqn{\log(2/\delta)}{log(2/delta)}.
#'
#' @section Guarantee: with probability at least \eqn{1-\delta}{1 - delta},
#'   \eqn{R_T = O(\sqrt{T}(B\sqrt{\gamma_T}+\gamma_T))}{R_T = O(sqrt(T) (B sqrt(gamma_T) + gamma_T))} for IGP-UCB
#'   (Theorem 3) and
#'   \eqn{O(\sqrt{T d \log(BdT)}(B\sqrt{\gamma_T} + \gamma_T))}{O(sqrt(T d log(B d T)) (B sqrt(gamma_T) + gamma_T))} for
#'   GP-TS (Theorem 4), if the RKHS norm of \eqn{f} (minus the prior mean) is at most `B`, and over a compact convex set
#'   the draws are maximised over a finite \eqn{D_t} alone, of \eqn{(BLrdt^2)^d} points in \eqn{[0, r]^d}: over arms
#'   that is what is done here, with \eqn{\log n} for \eqn{d\log(BdT)}{d log(B d T)} (`arms` in [regret_bound()]); on a
#'   box draws are maximised over all of it, outside the theorem. Further, the noise is `R`-sub-Gaussian,
#'   \eqn{k(x,x)\le 1}{k(x, x) <= 1} and \eqn{\lambda = 1 + 2/T}{lambda = 1 + 2/T}, T the horizon. With any other
#'   \eqn{\lambda \ge 1}{lambda >= 1} the intervals hold as well, because this width is then never narrower than
#'   [width_realized()]; IGP-UCB's regret is that of `"ucb"` in [regret_bound()]. With \eqn{\lambda < 1}{lambda < 1}
#'   this width has no proof; [width_realized()] and [width_amm()] have one for every \eqn{\lambda > 0}{lambda > 0}. The
#'   paper's experiments use \eqn{\lambda = R^2}{lambda = R^2}. Other combinations: see [gp_bandit()].
#' @inheritParams gp_ucb
#' @param B bound on the RKHS norm, >= 0.
#' @param R the noise is R-sub-Gaussian, >= 0.
#' @param delta failure probability, in (0, 1).
#' @param gain information gain: `"realized"`, `"greedy"`, `"spectral"`, a number, a function or [gain_rate()]; see
#'   [gains].
#' @param width overrides the width made of `B`, `R`, `delta` and `gain`.
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()].
#' @references Chowdhury and Gopalan (2017), On kernelized multi-armed bandits, ICML <https://arxiv.org/abs/1704.00445>.
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' b <- igp_ucb(x, kernel_se(0.2), noise_var = 0.01, B = 1, R = 0.1)
#' b$suggest(3)
#' set.seed(1)
#' gp_ts(x, kernel_se(0.2), noise_var = 0.01, B = 1, R = 0.1)$suggest()
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

# gp_bandit() with the parts that the preset itself chooses: a policy, and maybe other rules.
preset <- function(chosen, ...) {
  taken <- intersect(names(chosen), ...names())
  if (length(taken)) {
    stop_argument(taken[1], "given", "absent (this preset chooses it, gp_bandit() takes any)")
  }
  # As a call with `...` in it, so that a missing argument stays missing. (What a user gives is a value, even an
  # expression.)
  values <- lapply(chosen, function(value) if (is.language(value)) enquote(value) else value)
  eval(as.call(c(list(gp_bandit, quote(...)), values)))
}
