#' GP-UCB, EI and PI
#'
#' Presets of [gp_bandit()]: the policies of Srinivas et al. (2010).
#'
#' `gp_ucb()` plays \eqn{\arg\max_x \mu_{t-1}(x) + w_t\sigma_{t-1}(x)}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x)}. The default width is the paper's
#' practice on finitely many arms: Theorem 1's \eqn{\beta_t}{beta_t} divided by five. `gp_ei()` and `gp_pi()` play the arm of
#' largest expected improvement or probability of improvement, see [policies].
#'
#' @section Guarantee: with `width = width_srinivas_finite(delta)` and \eqn{f \sim GP(0, k)}{f ~ GP(0, k)} observed with
#'   Gaussian noise of variance `noise_var`, \eqn{R_T \le \sqrt{C_1 T\beta_T\gamma_T}}{R_T <= sqrt(C1 T beta_T gamma_T)} for all \eqn{T} with
#'   probability at least \eqn{1-\delta}{1 - delta}, \eqn{C_1 = 8/\log(1+\lambda^{-1})}{C1 = 8 / log(1 + 1/lambda)} (Theorem 1, kernels with
#'   \eqn{k(x,x)\le 1}{k(x, x) <= 1}, finitely many arms, the true kernel and noise variance). The division by five is outside the theorem. EI and PI have none here.
#'   Other combinations: see [gp_bandit()].
#' @inheritParams gp_bandit
#' @param width a [width][widths]; `NULL`: `width_srinivas_finite(delta, scale = 1/5)`.
#' @param delta failure probability of the default width, in (0, 1).
#' @param xi improvement that must be exceeded, a number >= 0.
#' @param ... further arguments of [gp_bandit()].
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()].
#' @references Srinivas, Krause, Kakade and Seeger (2010), Gaussian process optimization in the bandit
#'   setting, ICML <https://arxiv.org/abs/0912.3995>.
#' @seealso [igp_ucb()], [gp_ts()], [regret_bound()].
#' @examples
#' x <- seq(0, 1, length.out = 200)
#' problem <- bandit_problem(x, sin(6 * x), noise = noise_gaussian(0.1))
#' run <- run_bandit(gp_ucb(x, kernel_se(0.2), noise_var = 0.01), problem, rounds = 50)
#' summary(run)
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
gp_ei <- function(domain, kernel, noise_var, ..., xi = 0) {
  preset(list(policy = policy_ei(xi)), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb
#' @export
gp_pi <- function(domain, kernel, noise_var, ..., xi = 0) {
  preset(list(policy = policy_pi(xi)), domain, kernel, noise_var, ...)
}

#' IGP-UCB and GP-TS
#'
#' Presets of [gp_bandit()]: the algorithms of Chowdhury and Gopalan (2017) for functions of bounded RKHS norm.
#'
#' `igp_ucb()` plays \eqn{\arg\max_x \mu_{t-1}(x) + w_t\sigma_{t-1}(x)}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x)} with
#' \eqn{w_t = B + R\sqrt{2(\gamma_{t-1}+1+\log(1/\delta))}}{w_t = B + R sqrt(2 (gamma_{t-1} + 1 + log(1/delta)))}; `gp_ts()` plays the maximiser of one exact
#' joint draw from \eqn{GP(\mu_{t-1}, w_t^2 k_{t-1})}{GP(mu_{t-1}, w_t^2 k_{t-1})}, with \eqn{\log(2/\delta)}{log(2/delta)}.
#'
#' @section Guarantee: with probability at least \eqn{1-\delta}{1 - delta}, \eqn{R_T = O(\sqrt{T}(B\sqrt{\gamma_T}+\gamma_T))}{R_T = O(sqrt(T) (B sqrt(gamma_T) + gamma_T))}
#'   for IGP-UCB (Theorem 3) and \eqn{O(\sqrt{T d \log(BdT)}(B\sqrt{\gamma_T} + \gamma_T))}{O(sqrt(T d log(B d T)) (B sqrt(gamma_T) + gamma_T))} for GP-TS (Theorem 4), if the RKHS norm of
#'   \eqn{f} (minus the prior mean) is at most `B`, the noise is `R`-sub-Gaussian, \eqn{k(x,x)\le 1}{k(x, x) <= 1} and
#'   \eqn{\lambda = 1 + 2/T}{lambda = 1 + 2/T}, T the horizon; with another `noise_var` this width carries no proof (and
#'   [regret_bound()] warns if it is told), [width_realised()] and [width_amm()] do. The paper's experiments use \eqn{\lambda = R^2}{lambda = R^2}.
#'   Other combinations: see [gp_bandit()].
#' @inheritParams gp_ucb
#' @param B bound on the RKHS norm, >= 0.
#' @param R the noise is R-sub-Gaussian, >= 0.
#' @param delta failure probability, in (0, 1).
#' @param gain information gain: a number, a function, or one of [gains].
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
igp_ucb <- function(domain, kernel, noise_var, B, R, delta = 0.1, gain = gain_realised(), ...,
                    width = NULL) {
  if (is.null(width)) width <- width_igp(B, R, delta, gain)
  preset(list(policy = policy_ucb(width)), domain, kernel, noise_var, ...)
}

#' @rdname igp_ucb
#' @export
gp_ts <- function(domain, kernel, noise_var, B, R, delta = 0.1, gain = gain_realised(), ...,
                  width = NULL) {
  if (is.null(width)) width <- width_gp_ts(B, R, delta, gain)
  preset(list(policy = policy_ts(width)), domain, kernel, noise_var, ...)
}

#' KernelUCB
#'
#' Preset of [gp_bandit()]: KernelUCB of Valko et al. (2013), kernel ridge regression with a fixed multiplier,
#' \deqn{x_t = \arg\max_x \mu_{t-1}(x) + \frac{\eta}{\sqrt\lambda}\sigma_{t-1}(x),}{x_t = argmax mu_{t-1}(x) + eta / sqrt(lambda) sd_{t-1}(x),}
#' \eqn{\lambda}{lambda} = `noise_var` the ridge. It is GP-UCB with the width `width_constant(eta / sqrt(noise_var))`.
#'
#' Without `eta` it is \eqn{\sqrt{2\log(2TN/\delta)}}{sqrt(2 log(2 T N / delta))} times `R`, \eqn{T} = `horizon` rounds and \eqn{N} arms: which at `R = 1`,
#' the default, is the value in the text's theorem for rewards within \eqn{[0, 1]}; another `R` is ours, for rewards in other units.
#'
#' @section Guarantee: none for KernelUCB itself. The paper proves \eqn{\tilde O(\sqrt{\tilde d T})}{O(sqrt(d T)) up to logarithms},
#'   \eqn{\tilde d}{d} the effective dimension, for SupKernelUCB, which plays it on sets of rounds whose rewards are independent of their
#'   choice, with rewards in \eqn{[0, 1]} and \eqn{k(x,x) \le 1}{k(x, x) <= 1}.
#' @inheritParams gp_ucb
#' @param eta \eqn{\eta}{eta}, a number >= 0, or `NULL`.
#' @param horizon \eqn{T}, the number of rounds, where `eta` is `NULL`.
#' @param R scale of the noise, > 0, where `eta` is `NULL`.
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: as [gp_bandit()]; without `eta`, if there are no arms to count or no `horizon`.
#' @references Valko, Korda, Munos, Flaounas and Cristianini (2013), Finite-time analysis of kernelised contextual bandits, UAI
#'   <https://arxiv.org/abs/1309.6869>.
#' @seealso [gp_ucb()], [igp_ucb()].
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' kernel_ucb(x, kernel_se(0.2), noise_var = 0.01, eta = 0.2)$suggest()
#' kernel_ucb(x, kernel_se(0.2), noise_var = 0.01, horizon = 1000, R = 0.1)
#' @export
kernel_ucb <- function(domain, kernel, noise_var, eta = NULL, horizon, delta = 0.1, R = 1, ...) {
  domain <- as_domain(domain)
  noise_var <- check_positive(noise_var)
  if (is.null(eta)) {
    arms <- all_places(domain)
    if (is.null(arms)) stop_argument("eta", "NULL", "given on a box (the formula counts arms)")
    eta <- check_positive(R) * sqrt(2 * log(2 * check_count(horizon) * place_total(arms) / check_delta(delta)))
  }
  width <- width_constant(check_number(eta, lower = 0) / sqrt(noise_var))
  preset(list(policy = policy_ucb(width)), domain, kernel, noise_var, ...)
}

# gp_bandit() with the parts that the preset itself chooses: a policy, and maybe other rules.
preset <- function(chosen, ...) {
  taken <- intersect(names(chosen), ...names())
  if (length(taken)) {
    stop_argument(taken[1], "given", "absent (this preset chooses it, gp_bandit() takes any)")
  }
  # As a call with `...` in it, so that a missing argument stays missing.
  eval(as.call(c(list(gp_bandit, quote(...)), chosen)))
}
