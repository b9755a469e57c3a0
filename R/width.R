# Confidence widths: the multipliers of the posterior standard deviation. Layer: strategy.

#' Confidence widths: how many posterior standard deviations to add
#'
#' A confidence width is the multiplier \eqn{w_t} of the posterior standard deviation in a confidence bound. It sets how
#' much an algorithm explores.
#'
#' UCB (upper confidence bound) selects the point with the largest
#' \deqn{\mu_{t-1}(x) + w_t\,\sigma_{t-1}(x).}{mu_{t-1}(x) + w_t sd_{t-1}(x).}
#' Thompson sampling draws a function from \eqn{GP(\mu_{t-1}, w_t^2 k_{t-1})}{GP(mu_{t-1}, w_t^2 k_{t-1})}. Papers write
#' \eqn{\sqrt{\beta_t}}{sqrt(beta_t)} or \eqn{\beta_t}{beta_t} for the width. In this package it is always the
#' multiplier itself.
#'
#' @section Which width: Choose by the assumption on the function \eqn{f} and the noise.
#'
#' * None: a number or a function, without a guarantee. `width_constant()` and `width_function()`, on this page.
#' * \eqn{f} is drawn from the prior, and the noise is Gaussian: [width_srinivas_finite()], [width_srinivas_compact()],
#'   [width_srinivas_box()], [width_irgp()]. See [widths_prior].
#' * The RKHS norm of \eqn{f} is bounded, and the noise is sub-Gaussian: [width_amm()], [width_realized()],
#'   [width_dmm()], [width_fixed()], [width_igp()], [width_gp_ts()], [width_srinivas_rkhs()]. See [widths_rkhs].
#' * The RKHS norm is bounded, and rewards are successes, counts or comparisons: [width_glm()].
#' * Rewards are heavy-tailed, and clipped: [width_realized()].
#' * Rewards are late or corrupted, the model is wrong, or \eqn{f} changes: [width_sdf()],
#'   [width_corrupt()], [width_ec()], [width_cpd()]. See [widths_adjusted].
#'
#' If bounds \eqn{B} on the norm and \eqn{R} on the noise are known, use [width_amm()].
#'
#' @section Widths without a guarantee: For the number or function of your choice.
#'
#' * `width_constant(value)`: the same width in every round. Wherever a width is expected, a number means this.
#' * `width_function(f)`: the width is `f(t)` or `f(t, state)`. `state` is a list of `log_det` (\eqn{L} below),
#'   `noise_var` (\eqn{\lambda}{lambda}), `arms` (the number of candidates, `NA` on a box) and `rounds` (the number of
#'   queries so far, including those before a restart).
#'
#' @section Notation: On all pages about widths
#'
#' * \eqn{t} is one plus the number of queries since the last restart or fresh epoch;
#' * \eqn{n} is the number of arms (candidates of a finite domain), and \eqn{\delta}{delta} the failure probability;
#' * \eqn{\lambda}{lambda} is the bandit's `noise_var`;
#' * \eqn{\gamma_s}{gamma_s} is the largest information gain of \eqn{s} observations, see [gains];
#' * \eqn{K_{t-1}} is the Gram matrix of the points played so far, and
#'   \deqn{L = \log\det(I + K_{t-1}/\lambda).}{L = log det(I + K_{t-1} / lambda).}
#'
#' @section Units: A width is about \eqn{f} as the model has it. `B`, `R`, `slack`, `total` and `epsilon` are in units
#'   of the reward. With [scale_outputs()] they are in units of the scaled rewards, and nothing is converted. With a
#'   likelihood ([rewards]) the `B` of [width_glm()] is about the latent \eqn{f}.
#'
#' @section Guarantee: Each page states the theorem and its assumptions. Two limits hold for all widths. No theorem
#'   covers hyperparameters fitted to the same data. Statements about all rounds together assume that the arrival,
#'   failure or withdrawal of a reward does not depend on its value. `width_constant()` and `width_function()` have no
#'   guarantee.
#'
#'   If the kernel is right, the widths are wider than necessary. In 200 runs each, with \eqn{\delta = 0.1}{delta =
#'   0.1}, \eqn{f} left the bounds in at most 0.5% of the runs. If the kernel is wrong, they do not hold. With the width
#'   of [width_srinivas_finite()] and a lengthscale that is 2 (3) times too long, \eqn{f} left them in 29% (77%) of 100
#'   runs. The article "Theoretical guarantees" has both tables.
#'
#' @param value a number >= 0, the width of every round.
#' @param f a function of the round number `t`, or of `t` and `state`. It returns one finite number >= 0.
#' @return An object of class `bandit_width`, for the argument `width` of [policy_ucb()], [gp_ucb()] and others.
#' @section Errors: A `gpbandits_error` names the argument. A width that is not finite in some round stops that round,
#'   and the bandit stays unchanged.
#' @references Srinivas et al. (2010) <https://arxiv.org/abs/0912.3995>; Chowdhury and Gopalan (2017)
#'   <https://arxiv.org/abs/1704.00445>.
#' @seealso [gains] for the information gain; [ridge_rate()]; [guarantees].
#' @concept confidence bound
#' @concept exploration
#' @concept beta_t
#' @concept UCB
#' @examples
#' width_constant(2)
#' width_function(function(t) sqrt(2 * log(1 + t)))
#' own <- width_function(function(t, state) 1 + sqrt(state$log_det + 2 * log(10)))
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, width = own)
#' for (t in 1:3) b$observe((q <- b$suggest())$id, sin(3 * q$x1))
#' b$history()[c("x1", "reward", "width")]
#' @name widths
NULL

#' Confidence widths for functions drawn from a Gaussian process
#'
#' These widths assume that the function \eqn{f} is a draw from the bandit's Gaussian-process prior. A confidence width
#' \eqn{w_t} is the multiplier of the posterior standard deviation. For the notation see [widths].
#'
#' For a list of arms use `width_srinivas_finite()`, for a box `width_srinivas_box()`. If nothing random can be assumed
#' about the function, but a bound of its norm, see [widths_rkhs].
#'
#' @section Finitely many arms: `width_srinivas_finite(delta, scale)` is Theorem 1 of Srinivas et al. at `scale` = 1:
#'   \deqn{w_t = \sqrt{s\cdot 2\log(n t^2\pi^2/(6\delta))},}{w_t = sqrt(scale * 2 log(n t^2 pi^2 / (6 delta))),}
#'   where \eqn{s} is `scale`. The paper divides by five in practice (`scale = 1 / 5`).
#'
#' @section Finitely many arms, randomised: `width_irgp()` is IRGP-UCB (Takeno et al. 2023):
#'   \deqn{w_t^2 = 2\log(n/2) + E_t,}{w_t^2 = 2 log(n / 2) + E_t,}
#'   where \eqn{E_t} is exponential with mean 2 and drawn again in each round. It has nothing to tune and does not grow
#'   with \eqn{t}. The draw is from R's generator, at `$suggest()`. The expected regret is at most
#'   \deqn{\sqrt{C_1(2 + 2\log(n/2))T\gamma_T},\quad C_1 = 2/\log(1 + 1/\lambda),}{sqrt(C1 (2 + 2 log(n / 2)) T
#'   gamma_T), C1 = 2 / log(1 + 1/lambda),}
#'   if \eqn{k(x,x)\le 1}{k(x, x) <= 1}. Nothing else is proven: \eqn{\mu \pm w_t\sigma}{mu +- w_t sd} is not a
#'   confidence interval.
#'
#' @section Boxes, for regret: `width_srinivas_compact(delta, a, b, r, d, scale)` is Theorem 2 of Srinivas et al.:
#'
#'   \deqn{w_t = \sqrt{s\beta_t},}{w_t = sqrt(scale * beta_t),}
#'
#'   \deqn{\beta_t = 2\log(2t^2\pi^2/(3\delta)) + 2d\log(t^2 d b r \sqrt{\log(4da/\delta)}).}{beta_t = 2 log(2 t^2
#'   pi^2 / (3 delta)) + 2 d log(t^2 d b r sqrt(log(4 d a / delta))).}
#'
#'   The domain lies in \eqn{[0, r]^d}. The partial derivatives of \eqn{f} satisfy
#'   \deqn{P(\sup|\partial f/\partial x_j| > L) \le a e^{-(L/b)^2}.}{P(sup |df/dx_j| > L) <= a exp(-(L/b)^2).}
#'   The second logarithm, that of the discretisation's size, is at least 0. (With a small \eqn{b} the
#'   printed formula is narrower than the width for a single point.) The bounds hold at the points played and on a net
#'   that differs from round to round, not everywhere. So this width is for regret only.
#'
#' @section Boxes, for stopping: `width_srinivas_box(delta, a, b, r, d, slack)` is for [stop_gap()] on a box, under the
#'   same assumption on derivatives. Here \eqn{t} is one plus the number of *observed* rewards, and
#'
#'   \deqn{w_t = \sqrt{2\log((m^d+1)\pi^2t^2/(3\delta))},}{w_t = sqrt(2 log((m^d + 1) pi^2 t^2 / (3 delta))),}
#'
#'   \deqn{m = \max(1, \lceil b\sqrt{\log_+(2da/\delta)}\,d r t^2/(2S)\rceil),\quad e_t = S/t^2,}{m = max(1,
#'   ceiling(b sqrt(max(0, log(2 d a / delta))) d r t^2 / (2 S))), e_t = S / t^2,}
#'
#'   where \eqn{S} is `slack`. With probability \eqn{1-\delta}{1 - delta}, for all \eqn{t},
#'   \deqn{\max f \le \max(\mu+w\sigma) + e_t,}{max f <= max(mu + w sd) + e_t,}
#'   and \eqn{f \ge \mu - w\sigma}{f >= mu - w sd} at one point, which the data select.
#'
#'   Proof idea: the box is cut into \eqn{m^d} cells. With probability \eqn{1 - \delta/2}{1 - delta / 2} \eqn{f} changes
#'   by at most \eqn{e_t} between a point and the centre of its cell. With probability \eqn{1-\delta/2}{1 - delta / 2}
#'   the intervals hold at these centres and at the chosen point.
#'
#' @section Constants a and b in one input: Rice's formula gives
#'   \deqn{a = 1 + r s_2/(\pi s_1),\quad b = \sqrt2\,s_1,}{a = 1 + r s2 / (pi s1), b = sqrt(2) s1,}
#'   for kernels of variance 1 and lengthscale \eqn{l}:
#'
#'   * [kernel_se()]: \eqn{s_1 = 1/l}{s1 = 1 / l} and \eqn{s_2/s_1 = \sqrt3/l}{s2 / s1 = sqrt(3) / l};
#'   * [kernel_matern()] with smoothness 5/2: \eqn{s_1 = \sqrt{5/3}/l}{s1 = sqrt(5 / 3) / l} and
#'     \eqn{s_2/s_1 = \sqrt{15}/l}{s2 / s1 = sqrt(15) / l}.
#'
#'   For variance \eqn{v}, \eqn{b} is \eqn{\sqrt v}{sqrt(v)} times that.
#'
#' @section Guarantee: \eqn{f} is drawn from the prior, and the noise is Gaussian with variance \eqn{\lambda}{lambda}.
#'   `width_srinivas_finite()` is covered at `scale = 1` (Theorem 1), `width_srinivas_compact()` for regret only
#'   (Theorem 2). `width_srinivas_box()`, for stopping, is an original result, not peer-reviewed. The theorems' regret
#'   bounds also need \eqn{k(x,x) \le 1}{k(x, x) <= 1}. For statements about all rounds together see the limits in
#'   [widths].
#'
#' @param delta failure probability, a number in (0, 1). The default is 0.1; `width_srinivas_compact()` has none.
#' @param scale a number > 0 that multiplies \eqn{\beta_t}{beta_t} (under the root). The default 1 is the theorem's.
#' @param a,b constants of the bound on the derivatives, numbers > 0: see *Boxes, for regret*, and *Constants a and b in
#'   one input*. `b` is in units of the reward per unit of an input.
#' @param r side of the cube \eqn{[0, r]^d} that contains the domain, a number > 0.
#' @param d number of inputs, an integer >= 1.
#' @param slack by how much \eqn{f} may differ within a cell in the first round, a number > 0 in units of the reward,
#'   fixed in advance. `NULL` (default): the prior's standard deviation.
#' @return An object of class `bandit_width`.
#' @references Srinivas, Krause, Kakade and Seeger (2010) <https://arxiv.org/abs/0912.3995>; Takeno, Inatsu and
#'   Karasuyama (2023) <https://arxiv.org/abs/2302.01511>.
#' @seealso [widths] for all widths; [regret_bound()] for the regret bounds.
#' @concept confidence bound
#' @concept GP-UCB
#' @concept Bayesian regret
#' @examples
#' width_srinivas_finite(delta = 0.1, scale = 1 / 5)
#' width_irgp()
#' # kernel_se(0.2) on [0, 1]: s1 = 5, s2 / s1 = 5 * sqrt(3)
#' width_srinivas_box(delta = 0.1, a = 1 + 5 * sqrt(3) / pi, b = sqrt(2) * 5, r = 1, d = 1)
#' # The width grows with the round, and is an upper bound of f at all arms:
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, width = width_srinivas_finite(delta = 0.1))
#' for (t in 1:5) b$observe((q <- b$suggest())$id, sin(3 * q$x1))
#' b$history()[c("x1", "reward", "width")]
#' @name widths_prior
NULL

#' Confidence widths for functions of bounded RKHS norm
#'
#' Confidence widths for UCB and for intervals, if a bound `B` of the function's RKHS norm and the noise level `R` (the
#' noise is `R`-sub-Gaussian) are known. Use `width_amm()`; the others are those of published algorithms. A confidence
#' width \eqn{w_t} is the multiplier of the posterior standard deviation. The
#' notation is that of [widths]: \eqn{\lambda}{lambda} is the bandit's `noise_var`, and
#' \eqn{L = \log\det(I + K_{t-1}/\lambda)}{L = log det(I + K_{t-1} / lambda)} of the points played. Two further widths
#' under these assumptions have their own pages: [width_fixed()] and [width_dmm()].
#'
#' @section From the points played: `width_amm(B, R, delta, noise)` (Flynn and Reeb 2025) is
#'   \deqn{w_t = \sqrt{B^2 + (R^2/\lambda)(L + 2\log(1/\delta))}.}{w_t = sqrt(B^2 + (R^2/lambda) (L + 2 log(1/delta))).}
#'   `width_realized(B, R, delta, noise)` (Abbasi-Yadkori 2013) has the same guarantee and is never narrower:
#'   \deqn{w_t = B + (R/\sqrt\lambda)\sqrt{2\log(1/\delta) + L}.}{w_t = B + R / sqrt(lambda) * sqrt(2 log(1/delta) +
#'   L).}
#'   Both hold for every \eqn{\lambda > 0}{lambda > 0}.
#'
#' @section Rewards without noise: With `R = 0` both widths are \eqn{B}, and the bounds hold with certainty. Use a small
#'   \eqn{\lambda}{lambda}, such as \eqn{10^{-8}}{1e-8} times the prior variance. While sds exceed its root, the regret
#'   is bounded by a constant for smooth kernels (Iwazaki 2025), see `"noise_free"` in [regret_bound()].
#'
#' @section Noise variances of single rewards: Rewards may have separate noise variances \eqn{\lambda_s}{lambda_s}
#'   (`$observe(noise_var = )`), which must be fixed before the reward. Then \eqn{L} is that of the weighted points. The
#'   argument `noise` states what `R` means:
#'
#'   * `"scales"`: the noise of reward \eqn{s} is
#'     \eqn{R\sqrt{\lambda_s/\lambda}}{R sqrt(lambda_s / lambda)}-sub-Gaussian. A wrong \eqn{\lambda_s}{lambda_s} that
#'     is too small makes the guarantee void.
#'   * `"bounded"`: the noise is \eqn{R}-sub-Gaussian for every \eqn{\lambda_s}{lambda_s}. In both widths
#'     \eqn{R\sqrt{\max(1, \lambda/\min\lambda_s)}}{R sqrt(max(1, lambda / min lambda_s))} replaces \eqn{R}.
#'
#' @section Heavy tails: `width_realized(B, R, delta)` with a rule of [rewards_robust()] as `R` is for rewards that the
#'   rule has clipped to \eqn{\pm b}{+- b}, with moment \eqn{v} (see [rewards-clipped]):
#'
#'   \deqn{B + v b^{-\alpha}\sqrt{(t-1)/\lambda} + (b/\sqrt\lambda)\sqrt{2\log(1/\delta) + L}.}{B + v b^-alpha sqrt((t -
#'   1) / lambda) + b / sqrt(lambda) sqrt(2 log(1/delta) + L).}
#'
#'   The second term is the bias of clipping. In the third, clipped noise is \eqn{b}-sub-Gaussian, whatever the noise
#'   variance of a single reward (as with `noise = "bounded"`).
#'
#' @section From the information gain: `width_igp(B, R, delta, gain)` is that of IGP-UCB (Chowdhury and Gopalan 2017,
#'   Theorem 2):
#'
#'   \deqn{w_t = B + R\sqrt{2(\gamma_{t-1} + 1 + \log(1/\delta))}.}{w_t = B + R sqrt(2 (gamma_{t-1} + 1 +
#'   log(1/delta))).}
#'
#'   `width_gp_ts(B, R, delta, gain)`, the scale of GP-TS's draws, has \eqn{\log(2/\delta)}{log(2/delta)} instead.
#'
#'   `width_srinivas_rkhs(B, delta, gain, scale, printed)` is Theorem 3 of Srinivas et al. at `scale` = 1, with \eqn{s}
#'   = `scale`:
#'
#'   \deqn{w_t = \sqrt{s(2B^2 + 300\gamma_{t-1}\log^3(t/\delta))}.}{w_t = sqrt(scale * (2 B^2 + 300 gamma_{t-1} log^3(t
#'   / delta))).}
#'
#'   \eqn{B} bounds the norm itself, not its square. The paper prints \eqn{\gamma_t}{gamma_t} (`printed = TRUE`, for
#'   gains that do not depend on the next point). Its proof (Theorem 6) and the quotation by Chowdhury and Gopalan have
#'   \eqn{\gamma_{t-1}}{gamma_{t-1}}.
#'
#' @section Rewards in an interval: Rewards in \[0, 1\] (yes or no, a proportion, a rating) are 1/2-sub-Gaussian about
#'   their expectation \eqn{p(x)}, for every distribution. So a bandit with `noise_var = 0.25`, `mean = 0.5` and `policy
#'   = policy_ucb(width_amm(B, R = 0.5, delta))` has the confidence bounds of `width_amm()`, if the RKHS norm of
#'   \eqn{p - 0.5} is at most `B`. Likewise `width_igp()` has its regret bound, with its \eqn{\lambda}{lambda} (see
#'   Guarantee).
#'
#'   For \eqn{k} successes in \eqn{n} trials, report \eqn{k/n} with `noise_var` \eqn{0.25/n}{0.25 / n}. Nothing else is
#'   assumed, not even that trials are independent of each other given \eqn{f}. Rare events (probabilities below 0.05)
#'   need many rewards; [rewards_binary()] does better there.
#'
#' @section Guarantee: With probability at least \eqn{1-\delta}{1 - delta}, for all \eqn{x} and all \eqn{t},
#'   \deqn{|\mu_{t-1}(x) - f(x)| \le w_t\sigma_{t-1}(x).}{|mu_{t-1}(x) - f(x)| <= w_t sd_{t-1}(x).}
#'   Assumptions: \eqn{\|f\|_k \le B}{|f|_k <= B} (of \eqn{f} minus the prior mean) and `R`-sub-Gaussian noise, and
#'
#'   * `width_realized()`, `width_amm()`: every \eqn{\lambda > 0}{lambda > 0};
#'   * `width_igp()`, `width_gp_ts()`: \eqn{\lambda = 1 + 2/T}{lambda = 1 + 2/T} or any other
#'     \eqn{\lambda \ge 1}{lambda >= 1} (they are then never narrower than `width_realized()`), and a `gain` that bounds
#'     \eqn{\gamma_{t-1}}{gamma_{t-1}}, or the realised one.
#'
#'   `width_srinivas_rkhs()` has the regret bound of Theorem 3, if \eqn{\|f\|_k \le B}{|f|_k <= B} and the noise is
#'   bounded by \eqn{\sqrt\lambda}{sqrt(lambda)}. Hyperparameters fitted to the same data are not covered; see also the
#'   limits in [widths].
#'
#' @param B bound on the RKHS norm of the function (minus the prior mean), a number >= 0.
#' @param R the noise is R-sub-Gaussian, a number >= 0 in units of the reward. For Gaussian noise it is the standard
#'   deviation. `width_realized()` also takes a rule of [rewards_robust()] with its `moment`, see Heavy tails.
#' @param delta failure probability, a number in (0, 1), by default 0.1.
#' @param noise meaning of `R` if rewards have separate noise variances: `"scales"` (default) or `"bounded"`, see
#'   *Noise variances of single rewards*.
#' @param gain information gain: `"realized"` (default), `"greedy"`, `"spectral"`, a number, a function of
#'   \eqn{s = t-1}, or [gain_rate()]; see [gains].
#' @param scale a number > 0 that multiplies \eqn{\beta_t}{beta_t} (under the root). The default 1 is the theorem's.
#' @param printed `TRUE`: use \eqn{\gamma_t}{gamma_t} as the paper prints it. `FALSE` (default): use
#'   \eqn{\gamma_{t-1}}{gamma_{t-1}}.
#' @return An object of class `bandit_width`.
#' @references Flynn and Reeb (2025), Tighter confidence bounds for sequential kernel regression; Abbasi-Yadkori (2013),
#'   PhD thesis, University of Alberta; Chowdhury and Gopalan (2017) <https://arxiv.org/abs/1704.00445>; Iwazaki (2025)
#'   <https://arxiv.org/abs/2502.19006>; Srinivas et al. (2010) <https://arxiv.org/abs/0912.3995>.
#' @seealso [widths] for all widths; [norm_check()] for a lower bound of the norm; [ridge_rate()].
#' @concept confidence bound
#' @concept reproducing kernel Hilbert space
#' @concept sub-Gaussian noise
#' @examples
#' width_amm(B = 1, R = 0.1, delta = 0.05)
#' # Seven successes of ten trials, as a reward in [0, 1]:
#' b <- gp_bandit(1:5, kernel_se(2, 0.25), noise_var = 0.25, mean = 0.5,
#'                policy = policy_ucb(width_amm(B = 1, R = 0.5)))
#' b$observe(b$suggest()$id, 7 / 10, noise_var = 0.25 / 10)
#' b$posterior(arm = 1)
#' @name widths_rkhs
NULL

#' Confidence widths for late or corrupted rewards and wrong models
#'
#' @description
#' These widths widen the confidence bounds when an assumption of the usual widths fails. A confidence width \eqn{w_t}
#' is the multiplier of the posterior standard deviation. For the notation see [widths]. `base` is a width that would be
#' right without the problem.
#'
#' * Rewards arrive late: `width_sdf()`.
#' * The model is wrong by at most `epsilon` everywhere: `width_ec()`.
#' * Some rewards are corrupted: `width_corrupt()`.
#' * The function changes at unknown times: `width_cpd()`.
#'
#' @section Late rewards: `width_sdf(base, B_y, over)` is that of GP-UCB-SDF (Verma et al. 2022):
#'   \deqn{w_t + B_y \sum_{s=t-m}^{t-1}\sigma_{t-1}(x_s),}{w_t + B_y * sum over the last m queries s of sd_{t-1}(x_s),}
#'
#'   where \eqn{w_t} is the base and \eqn{m} is that of the pending rule (the rule for queries without a reward). With
#'   `over = "pending"` the sum is over the queries without a reward. The theorem needs \eqn{\lambda > 1}{lambda > 1}
#'   and \eqn{k \le 1}{k <= 1}. For every \eqn{\lambda > 0}{lambda > 0} and rewards within `B_y` its proof gives
#'   `width_sdf(width_realized(B, R + B_y, delta / 2), B_y / noise_var)`. See [gp_ucb_sdf()].
#'
#' @section Wrong models: `width_ec(base, epsilon)` is that of EC-GP-UCB (Bogunovic and Krause 2021):
#'   \deqn{w_t + \epsilon\sqrt{(t-1)/\lambda}.}{w_t + epsilon sqrt((t - 1) / lambda).}
#'   It is for a function \eqn{f} with \eqn{|f - \tilde f| \le \epsilon}{|f - g| <= epsilon} everywhere, and a base that
#'   is right for \eqn{\tilde f}{g}. The upper bound of \eqn{f} is \eqn{\epsilon}{epsilon} above
#'   \eqn{\mu + w_t\sigma}{mu + w_t sd}; this does not change which point is selected. If rewards have separate noise
#'   variances \eqn{\lambda_s}{lambda_s}, the sum of \eqn{1/\lambda_s}{1 / lambda_s} replaces
#'   \eqn{(t-1)/\lambda}{(t - 1) / lambda}. Use it only with a known \eqn{\epsilon}{epsilon}, such as the error of a
#'   surrogate.
#'
#' @section Corrupted rewards: `width_corrupt(base, total)` is
#'   \deqn{w_t + C/\sqrt\lambda,}{w_t + C / sqrt(lambda),}
#'   for rewards \eqn{y_t = f(x_t) + \epsilon_t + c_t}{y_t = f(x_t) + e_t + c_t} of which some are wrong, with
#'   \eqn{\sum_t|c_t| \le C}{sum |c_t| <= C}. \eqn{C} = `total` must be known in advance. The base is right for the
#'   uncorrupted rewards. If rewards have separate noise variances, the smallest \eqn{\lambda_s}{lambda_s} replaces
#'   \eqn{\lambda}{lambda}, if it is smaller.
#'
#'   Why: with \eqn{z(x) = (K+\lambda I)^{-1}k(x)}{z(x) = (K + lambda I)^-1 k(x)} the mean moves by
#'   \deqn{\sum_sc_sz_s(x) \le C\max_s|z_s(x)| \le C\sigma(x)/\sqrt\lambda.}{sum c_s z_s(x) <= C max |z_s(x)| <= C sd(x)
#'   / sqrt(lambda).}
#'
#'   `width_corrupt(base, count)` is for at most \eqn{n} = `count` wrong rewards of any size, and needs
#'   `rewards_robust(plateau = )` or `rewards_robust(clip = )`. It is
#'   \deqn{w_t + M\sqrt n,}{w_t + M sqrt(n),}
#'   with \eqn{M} of [rewards-plateau], because one wrong reward moves the mean by at most \eqn{M} standard deviations.
#'
#' @section Functions that change: `width_cpd(D, nu, d, horizon)` is that of GP-UCB-CPD (Avanesov, equation 3.7):
#'   \deqn{\sqrt{D\,t^{d(d+1)/(2\nu+d(d+1))}\log^4 T}.}{sqrt(D t^(d(d+1) / (2 nu + d(d+1))) log^4(horizon)).}
#'   Avanesov's \eqn{t} is \eqn{|H|}, the number of rounds since the restart. Here it is one more, as in every width.
#'
#' @section Guarantee: `width_sdf()`: see [gp_ucb_sdf()]. `width_ec()`: that of its base, for \eqn{\tilde f}{g}.
#'   `width_cpd()`: a rate with an unknown constant, see [gp_ucb_cpd()]. The limits in [widths] apply.
#'
#'   `width_corrupt()`: that of its base, if the total is right (original result, not peer-reviewed). The corruption of
#'   a reward may depend on \eqn{f}, the points and all noise so far, but not on later noise. With `width_fixed()` it
#'   must not influence the design. With `width_srinivas_finite()` it may depend on \eqn{f} through the rewards alone.
#'   The regret of UCB is then at most
#'   \deqn{R_T \le 2(w_T + C/\sqrt\lambda)\sqrt{cT\gamma_T},}{R_T <= 2 (w_T + C / sqrt(lambda)) sqrt(c T gamma_T),}
#'   which is `"ucb"` of [regret_bound()] with `total`. `width_dmm()` cannot be the base: wrong rewards move its
#'   likelihood itself. For the same reason `width_realized()` of clipped rewards cannot: they move its range. With
#'   `count`, whose conditions are in [rewards-plateau], the base is `width_amm()`, `width_realized()` or `width_igp()`.
#'
#' @param base a width, or a number for a constant width.
#' @param B_y bound on the range of the rewards, a number >= 0 in units of the reward, by default 1.
#' @param over `"window"` (default): sum over the last `m` queries, as in the paper. `"pending"`: sum over pending
#'   queries only.
#' @param epsilon largest error of the model, a number >= 0 in units of the reward (see Units in [widths]).
#' @param total \eqn{C}, the sum of the absolute corruptions of all rewards, a number >= 0 in units of the reward (see
#'   Units in [widths]). `NULL` (default): `count` is given.
#' @param count the largest number of wrong rewards, an integer >= 0. `NULL` (default): `total` is given.
#' @param D scale of Avanesov's width, a number >= 0. Its value is unknown, and chosen by trial.
#' @param nu smoothness of the kernel, a number > 0.
#' @param d number of inputs, an integer >= 1.
#' @param horizon \eqn{T}, the total number of rounds, a number >= 1.
#' @return An object of class `bandit_width`.
#' @references Verma, Dai and Low (2022), Bayesian optimization under stochastic delayed feedback; Bogunovic and Krause
#'   (2021) <https://arxiv.org/abs/2111.05008>; Avanesov (2019), How to gamble with non-stationary X-armed bandits and
#'   have no regrets <https://arxiv.org/abs/1908.07636>.
#' @seealso [widths] for all widths.
#' @concept robust Bayesian optimization
#' @concept delayed feedback
#' @concept adversarial corruption
#' @concept misspecified model
#' @examples
#' width_corrupt(width_amm(B = 1, R = 0.1), total = 2)
#' width_corrupt(width_amm(B = 1, R = 0.1), count = 3)
#' width_ec(width_amm(B = 1, R = 0.1), epsilon = 0.05)
#' width_sdf(width_realized(B = 1, R = 1.1, delta = 0.05), B_y = 1)
#' # The price of three wrong rewards, in a bandit's first rounds:
#' first <- function(width) {
#'   b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, width = width)
#'   for (t in 1:4) b$observe((q <- b$suggest())$id, sin(3 * q$x1))
#'   b$history()$width
#' }
#' first(width_amm(B = 1, R = 0.1))
#' first(width_corrupt(width_amm(B = 1, R = 0.1), total = 0.3))
#' @name widths_adjusted
NULL

new_width <- function(type) new_part("bandit_width", type, parent.frame())

# The traits of a width:
#   `one_multiplier`  is it a multiplier of the sd that is the same at every point?
#   `drawn`           is it drawn at random in each round?
#   `counts_arms`     does it depend on the number of points for which the bounds hold?
#   `model_error`     the bound by which f may differ from a function for which the base's bounds hold.
#   `looks`           the number of times, fixed in advance, at which the bounds hold (NULL: in all rounds).
#   `on_net`          do bounds hold on a net, and between its points with some slack, see slack_of()?
#   `corruptible`     do its bounds remain valid for rewards with a known total error, if this is added? They do if they
#                   depend on the sizes of weights, but not on the rewards themselves (NA: it makes no claim).
#   `curved`          does it multiply the sd of a separate posterior, see GlmWidth in the core?
#   `any_rewards`     is it defined for rewards whose noise is not Gaussian?
#   `looks_back`      does it use each of the latest queries separately?
#   `claim`           a function of the width and a bandit: the probability with which bounds hold in all rounds.
#   `allows`          the settings of a bandit that only its theorem covers.
#   `resolved`        a function that makes the core's settings, if these depend on the bandit.
width_traits <- list(one_multiplier = TRUE, drawn = FALSE, counts_arms = FALSE, model_error = NULL, looks = NULL,
                     on_net = FALSE, corruptible = FALSE, any_rewards = FALSE, curved = FALSE, looks_back = FALSE,
                     claim = function(width) claim_nothing, allows = NULL,
                     title = function(width) sprintf("width_%s()", width$type),
                     resolved = function(width) function(width, config) width)

width_entries <- list(
  constant = list(settings = alist(value = check_bound(value)),
                  traits = list(corruptible = NA, any_rewards = TRUE)),
  "function" = list(settings = alist(f = check_function(f)), traits = list(corruptible = NA, any_rewards = TRUE)),
  srinivas_finite = list(settings = alist(delta = check_delta(delta), scale = check_scale(scale)),
                         traits = list(counts_arms = TRUE, corruptible = TRUE, claim = function(width) claim_finite)),
  irgp = list(traits = list(counts_arms = TRUE, drawn = TRUE)),
  srinivas_compact = list(
    settings = alist(delta = check_delta(delta), a = check_positive(a), b = check_positive(b), r = check_positive(r),
                     d = check_count(d), scale = check_scale(scale)),
    traits = list(claim = function(width) claim_compact),
    together = quote(if (4 * d * a <= delta) {
      stop_argument("a", describe(a), "so large that 4 * d * a > delta (the logarithm is positive)")
    })
  ),
  srinivas_box = list(
    settings = alist(delta = check_delta(delta), a = check_positive(a), b = check_positive(b), r = check_positive(r),
                     d = check_count(d), slack = if (!is.null(slack)) check_positive(slack)),
    traits = list(on_net = TRUE, claim = function(width) claim_box, resolved = function(width) resolve_on_net)
  ),
  srinivas_rkhs = list(
    settings = alist(B = check_bound(B), delta = check_delta(delta), gain = as_gain(gain),
                     scale = check_scale(scale), printed = check_flag(printed)),
    together = quote(if (printed && trait(gain, "of_points_played")) {
      stop_argument("gain", "\"realized\" with `printed = TRUE`",
                    "available before the choice: a number, a function of s, \"greedy\", \"spectral\", gain_rate()")
    })
  ),
  igp = list(settings = alist(B = check_bound(B), R = check_bound(R),
                              delta = check_delta(delta), gain = as_gain(gain)),
             traits = list(corruptible = TRUE, claim = function(width) claim_gain)),
  gp_ts = list(settings = alist(B = check_bound(B), R = check_bound(R),
                                delta = check_delta(delta), gain = as_gain(gain)),
               traits = list(claim = function(width) claim_gain)),
  realized = list(settings = alist(B = check_bound(B), R = check_bound(R),
                                   delta = check_delta(delta), noise = check_choice(noise, c("scales", "bounded"))),
                  traits = list(corruptible = TRUE, claim = function(width) claim_norm)),
  amm = list(settings = alist(B = check_bound(B), R = check_bound(R),
                              delta = check_delta(delta), noise = check_choice(noise, c("scales", "bounded"))),
             traits = list(corruptible = TRUE, claim = function(width) claim_norm)),
  fixed = list(settings = alist(B = check_bound(B), R = check_bound(R),
                                delta = check_delta(delta), looks = check_count(looks),
                                drift = check_bound(drift)),
               traits = list(counts_arms = TRUE, corruptible = TRUE, looks = function(width) width$looks,
                             claim = function(width) claim_blind,
                             resolved = function(width) function(width, config) {
                               width$R <- noise_with_drift(width$R, width$drift)
                               width[names(width) != "drift"]
                             })),
  dmm = list(settings = alist(B = check_bound(B), R = check_bound(R),
                              delta = check_delta(delta), alpha = check_regularisers(alpha, "alpha"),
                              alpha0 = check_regularisers(alpha0, "alpha0")),
             traits = list(one_multiplier = FALSE, resolved = function(width) function(width, config) {
               if (is.null(width$alpha)) width$alpha <- config$noise_var * 4^(-3:3)
               if (is.null(width$alpha0)) width$alpha0 <- config$noise_var * 4^(0:6)
               width
             })),
  glm = list(settings = alist(B = check_bound(B), delta = check_delta(delta)),
             traits = list(any_rewards = TRUE, curved = TRUE, claim = function(width) claim_glm)),
  sdf = list(settings = alist(base = check_base(base, "sdf"), B_y = check_bound(B_y),
                              over = check_choice(over, c("window", "pending"))),
             traits = list(drawn = function(width) trait(width$base, "drawn"), looks_back = TRUE,
                           counts_arms = function(width) trait(width$base, "counts_arms"))),
  ec = list(settings = alist(base = check_base(base, "ec"), epsilon = check_bound(epsilon)),
            traits = list(drawn = function(width) trait(width$base, "drawn"),
                          counts_arms = function(width) trait(width$base, "counts_arms"),
                          looks_back = function(width) trait(width$base, "looks_back"),
                          model_error = function(width) width$epsilon)),
  corrupt = list(settings = alist(base = check_corruptible(base), total = if (!is.null(total)) check_bound(total),
                                  count = if (!is.null(count)) check_count(count, lower = 0)),
                 together = quote(check_corruption(base, total, count)),
                 traits = list(allows = function(width) if (!is.null(width$count)) "rewards",
                               resolved = function(width) resolve_corrupt,
                               counts_arms = function(width) trait(width$base, "counts_arms"),
                               looks = function(width) trait(width$base, "looks"),
                               looks_back = function(width) trait(width$base, "looks_back"),
                               claim = function(width) claim_corrupt)),
  clip = list(settings = alist(B = check_bound(B), b = check_positive(b),
                               bias = check_bound(bias), delta = check_delta(delta)),
              traits = list(title = "width_realized() of clipped rewards", claim = function(width) claim_clip,
                            allows = "rewards",
                            resolved = function(width) function(width, config) {
                # Clipped rewards are bounded, whatever their noise variances.
                list(type = "ec", base = unclass(width_realized(width$B, width$b, width$delta, "bounded")),
                     epsilon = width$bias)
              })),
  cpd = list(settings = alist(D = check_bound(D), nu = check_positive(nu),
                              d = check_count(d), horizon = check_number(horizon, lower = 1, upper = largest_number)))
)

# The limit ensures that squares, and products with standard deviations, are finite.
check_bound <- function(x, arg = deparse(substitute(x))) check_number(x, arg, lower = 0, upper = largest_number)

check_delta <- function(delta) {
  check_number(delta, "delta", lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
}

check_scale <- function(scale) check_positive(scale, "scale")

check_regularisers <- function(alpha, arg) {
  if (is.null(alpha)) return(NULL)
  alpha <- check_numbers(alpha, arg, lower = 0, open_lower = TRUE, upper = largest_number)
  if (length(alpha) == 0) stop_argument(arg, describe(alpha), "at least one number > 0, or NULL")
  as.double(alpha)
}

# A part that uses a single multiplier of the sd does not support a minimum of several bounds. If it needs the
# multiplier before a round (`drawn` FALSE), it does not support random widths either.
check_one_multiplier <- function(width, arg = "width", drawn = TRUE) {
  width <- as_width(width, arg)
  if (!trait(width, "one_multiplier") || (!drawn && trait(width, "drawn"))) {
    stop_argument(arg, trait(width, "title"),
                  paste0("a width that is one multiplier of sd", if (!drawn) " and not drawn at random"))
  }
  width
}

#' @rdname widths
#' @export
width_constant <- function(value) new_width("constant")

#' @rdname widths
#' @export
width_function <- function(f) {
  own <- check_function(f)
  asked <- checked_function(function(t, state) if (takes_state(own)) own(t, state) else own(t), "width")
  # `seen` is one row: t, log det, noise variance, arms, rounds.
  f <- function(seen) {
    arms <- if (is.nan(seen[4])) NA_real_ else seen[4]
    asked(seen[1], list(log_det = seen[2], noise_var = seen[3], arms = arms, rounds = seen[5]))
  }
  new_width("function")
}

# Does a function have a second argument for the state? Second arguments with a default belong to the user.
takes_state <- function(f) {
  arguments <- formals(args(f))
  "state" %in% names(arguments) ||
    (length(arguments) > 1 && names(arguments)[2] != "..." && identical(arguments[[2]], quote(expr = )))
}

#' @rdname widths_prior
#' @export
width_srinivas_finite <- function(delta = 0.1, scale = 1) new_width("srinivas_finite")

#' @rdname widths_prior
#' @export
width_irgp <- function() new_width("irgp")

#' @rdname widths_prior
#' @export
width_srinivas_compact <- function(delta, a, b, r, d, scale = 1) new_width("srinivas_compact")

#' @rdname widths_prior
#' @export
width_srinivas_box <- function(delta = 0.1, a, b, r, d, slack = NULL) new_width("srinivas_box")

#' @rdname widths_rkhs
#' @export
width_srinivas_rkhs <- function(B, delta = 0.1, gain = "realized", scale = 1, printed = FALSE) {
  new_width("srinivas_rkhs")
}

#' @rdname widths_rkhs
#' @export
width_igp <- function(B, R, delta = 0.1, gain = "realized") new_width("igp")

#' @rdname widths_rkhs
#' @export
width_gp_ts <- function(B, R, delta = 0.1, gain = "realized") new_width("gp_ts")

#' @rdname widths_rkhs
#' @export
width_realized <- function(B, R, delta = 0.1, noise = c("scales", "bounded")) {
  if (missing(R) || !inherits(R, "bandit_rewards")) return(new_width("realized"))
  if (!missing(noise) && !identical(noise, "bounded")) {
    stop_argument("noise", describe(noise), "left out if `R` is a rule that clips rewards: they are bounded")
  }
  width_of_clipped(B, check_class(R, "bandit_rewards", "R"), delta)
}

#' @rdname widths_rkhs
#' @export
width_amm <- function(B, R, delta = 0.1, noise = c("scales", "bounded")) new_width("amm")

#' Confidence width for designs that do not depend on rewards
#'
#' `width_fixed()` is the confidence width for designs whose points are fixed without regard to rewards. (For a number
#' that stays constant use [width_constant()].) Examples are [policy_variance()],
#' [policy_uniform()], the points of `initial_design`, and the batches of [bpe()]. A confidence width \eqn{w} is the
#' multiplier of the posterior standard deviation. For the notation see [widths].
#'
#' With \eqn{q} = `looks` evaluations, whose rounds are fixed in advance,
#' \deqn{w = \sqrt{B^2 + (2R^2/\lambda)\log(2nq/\delta)}.}{w = sqrt(B^2 + (2 R^2 / lambda) log(2 n q / delta)).}
#' It has no information gain and is much narrower than `width_amm()` later on. It is an original result, not
#' peer-reviewed. With \eqn{z = (K+\lambda I)^{-1}k(x)}{z = (K + lambda I)^-1 k(x)} the error of the mean has two parts:
#'
#' * a bias of at most \eqn{B\sqrt{\sigma^2-\lambda\|z\|^2}}{B sqrt(sd^2 - lambda |z|^2)};
#' * noise of at most \eqn{R\|z\|\sqrt{2\log(2nq/\delta)}}{R |z| sqrt(2 log(2 n q / delta))}.
#'
#' The Cauchy-Schwarz inequality combines them. (Vakili et al. 2021 add the two, which is never narrower.)
#'
#' @section Drift: With `drift` \eqn{= V > 0}{= V > 0}, \eqn{R^2 + 4V^2} replaces \eqn{R^2}. This is for a **design
#'   played in uniformly random order** while \eqn{f} drifts, with \eqn{|f_s-\bar f|\le V}{|f_s - mean f| <= V}
#'   everywhere. The intervals are those of \eqn{\bar f}{mean f}, the mean over exactly the design's rounds, whose norm
#'   is at most `B`. The drift must be fixed before the first play and must not be caused by the plays. Random order
#'   turns the drift from a bias into noise. (Original result, not peer-reviewed, after an idea of Iwazaki and Takeno
#'   2024: the proof reveals the points by decreasing \eqn{|z_k|}, with ranges of \eqn{4V|z_k|}.)
#'
#' @section Guarantee: With probability at least \eqn{1-\delta}{1 - delta}, the confidence intervals hold for all arms
#'   at the `looks` evaluations. Assumptions: \eqn{\|f\|_k \le B}{|f|_k <= B} (of \eqn{f} minus the prior mean),
#'   `R`-sub-Gaussian noise, every \eqn{\lambda > 0}{lambda > 0}, and points and evaluations that do not depend on
#'   rewards. Original result, not peer-reviewed. Hyperparameters fitted to the same data are not covered; see also the
#'   limits in [widths].
#' @param B bound on the RKHS norm of the function (minus the prior mean), a number >= 0.
#' @param R the noise is R-sub-Gaussian, a number >= 0 in units of the reward. For Gaussian noise it is the standard
#'   deviation.
#' @param delta failure probability, a number in (0, 1), by default 0.1.
#' @param looks number of evaluations of the intervals, at rounds fixed in advance, an integer >= 1, by default 1.
#' @param drift \eqn{V}, by how much \eqn{f} may differ from its mean over the design's rounds, a number >= 0 in units
#'   of the reward, by default 0; see *Drift*.
#' @return An object of class `bandit_width`.
#' @references Vakili, Bouziani, Jalali, Bernacchia and Shiu (2021), Optimal order simple regret for Gaussian process
#'   bandits; Iwazaki and Takeno (2025) <https://arxiv.org/abs/2410.16052>.
#' @seealso [widths] for all widths; [plan_experiments()], [bpe()].
#' @concept confidence bound
#' @concept experimental design
#' @concept non-adaptive design
#' @examples
#' width_fixed(B = 1, R = 0.1)
#' # A plan of 20 points, chosen in advance, and intervals after it:
#' b <- gp_bandit(1:50 / 50, kernel_se(0.3), noise_var = 0.01, policy_variance(),
#'                pending = "hallucinate")
#' q <- b$suggest(20)
#' set.seed(1)
#' b$observe(q$id, sin(3 * q$x1) + rnorm(20, sd = 0.1))
#' # The best point is within this gap of the maximum:
#' b$certificate(stop_gap(0.1, width = width_fixed(B = 1, R = 0.1)))[c("gap", "probability")]
#' @export
width_fixed <- function(B, R, delta = 0.1, looks = 1, drift = 0) new_width("fixed")

# If a fixed design is played in random order, drift acts as additional noise and not as bias.
noise_with_drift <- function(R, drift) sqrt(R^2 + 4 * drift^2)

# The multiplier of width_fixed() for a number of points.
fixed_multiplier <- function(B, R, noise_var, points, delta, looks = 1) {
  sqrt(B^2 + 2 * R^2 / noise_var * log(2 * points * looks / delta))
}

#' Confidence width from a mixture of martingales
#'
#' `width_dmm()` is usually the narrowest width for functions of RKHS norm at most `B` with `R`-sub-Gaussian noise. Its
#' suggestions take longer. It uses the martingale of [width_amm()] point by point, and averages it over the numbers
#' \eqn{\alpha_j}{alpha_j} of `alpha0`. A confidence width is the multiplier of the posterior standard deviation. For
#' the notation see [widths].
#'
#' Let
#'
#' \deqn{Q(\alpha) = \alpha y'(K+\alpha I)^{-1}y,\quad A_j = Q(\alpha_j) + R^2\log\det(I+K/\alpha_j),}{Q(alpha) =
#' alpha y'(K + alpha I)^-1 y, A_j = Q(alpha_j) + R^2 log det(I + K / alpha_j),}
#'
#' \deqn{R_t^2 = -2R^2\log\,\mathrm{mean}_j\,e^{-A_j/(2R^2)} + 2R^2\log(1/\delta).}{R_t^2 = -2 R^2 log(mean of
#' exp(-A_j / (2 R^2))) + 2 R^2 log(1/delta).}
#'
#' The upper bound at \eqn{x} is the smallest over \eqn{\alpha}{alpha} (of `alpha`) of
#' \deqn{\mu_\alpha(x) + (\sigma_\alpha(x)/\sqrt\alpha)\sqrt{\max(0, R_t^2 + \alpha B^2 - Q(\alpha))}.}{mu_alpha(x) +
#' (sd_alpha(x) / sqrt(alpha)) sqrt(max(0, R_t^2 + alpha B^2 - Q(alpha))).}
#' It is for UCB only. It costs one posterior per \eqn{\alpha}{alpha} and \eqn{\alpha_j}{alpha_j}. The `width` in the
#' history is (upper bound - mean) / sd at the selected point. The bounds hold in all rounds together, and so does their
#' intersection.
#'
#' With one \eqn{\alpha_j = \lambda}{alpha_j = lambda} it is the bound of Flynn and Reeb; with `alpha`
#' \eqn{= \lambda}{= lambda} too it is [width_amm()]. The mean of martingales is a martingale, so no single choice has
#' to be right (original result, not peer-reviewed). `alpha0` must be fixed before the data, not by a `noise_var` that
#' is refitted.
#'
#' @section Guarantee: As for [width_amm()], for every \eqn{\lambda > 0}{lambda > 0}, with `noise = "scales"` for
#'   rewards with separate noise variances. Hyperparameters fitted to the same data are not covered; see also the limits
#'   in [widths].
#' @param B bound on the RKHS norm of the function (minus the prior mean), a number >= 0.
#' @param R the noise is R-sub-Gaussian, a number >= 0 in units of the reward. For Gaussian noise it is the standard
#'   deviation.
#' @param delta failure probability, a number in (0, 1), by default 0.1.
#' @param alpha regularisers of which the smallest bound is taken, numbers > 0. `NULL` (default): seven values
#'   \eqn{\lambda 4^{-3..3}}{lambda * 4^(-3:3)}.
#' @param alpha0 prior scales of the martingale, over which it is averaged, numbers > 0. `NULL` (default):
#'   \eqn{\lambda 4^{0..6}}{lambda * 4^(0:6)}.
#' @return An object of class `bandit_width`.
#' @references Flynn and Reeb (2025), Tighter confidence bounds for sequential kernel regression.
#' @seealso [widths] for all widths; [width_amm()], [norm_check()].
#' @concept confidence bound
#' @concept confidence sequence
#' @examples
#' x <- seq(0, 1, length.out = 40)
#' widths <- function(width) {
#'   b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01, width = width)
#'   for (t in 1:8) b$observe((q <- b$suggest())$id, sin(3 * q$x1))
#'   b$history()$width
#' }
#' # The same guarantee; here the mixture is narrower from the first round on:
#' rbind(dmm = widths(width_dmm(B = 1, R = 0.1)), amm = widths(width_amm(B = 1, R = 0.1)))
#' @export
width_dmm <- function(B, R, delta = 0.1, alpha = NULL, alpha0 = NULL) new_width("dmm")

#' Confidence width for successes, counts and comparisons
#'
#' `width_glm()` gives confidence bounds for the latent function of rewards that are not Gaussian. It is for
#' [rewards_binary()], [rewards_counts()], and [rewards_preferences()] of pairs without ties. A confidence width
#' \eqn{r_t} is the multiplier of a posterior standard deviation. Use it if bounds must hold with a stated probability;
#' [width_constant()] is enough to find a good point.
#'
#' The bounds are
#' \deqn{|f(x) - \hat f(x)| \le r_t\sigma_c(x).}{|f(x) - fhat(x)| <= r_t sd_c(x).}
#' \eqn{\hat f}{fhat} is the mode among the functions with \eqn{\|f - m\|_k \le B}{|f - m|_k <= B}, where \eqn{m} is the
#' prior mean. It is the posterior's mode if that is one of them. With this width it is the bandit's posterior mean.
#'
#' The multiplier is
#' \deqn{r_t^2 = B^2 + 2\log(1/\delta) - 2(\mathrm{ELBO} + J),}{r_t^2 = B^2 + 2 log(1/delta) - 2 (ELBO + J),}
#' \deqn{J = -\log p(y\mid\hat f) + \|\hat f - m\|^2/2.}{J = -log p(y | fhat) + |fhat - m|^2 / 2.}
#' \eqn{J} is the penalised loss, and ELBO the lower bound of the evidence by Laplace's Gaussian.
#'
#' \eqn{\sigma_c}{sd_c} is the standard deviation of a second posterior, in which reward \eqn{i} has the weight
#' \eqn{c_i}. The log-likelihood of reward \eqn{i} is \eqn{\ell_i}{l_i}, and
#' \eqn{W_i = -\ell_i''(\hat f_i)}{W_i = -l_i''(fhat_i)} its curvature. \eqn{c_i} is the smallest average of
#' \eqn{-\ell_i''}{-l_i''}, weighted towards \eqn{\hat f_i}{fhat_i}, on the way from \eqn{\hat f_i}{fhat_i} to a value
#' that \eqn{f} may have there:
#'
#' \deqn{c_i = \min\{W_i,\; 2D_i(u)/(u-\hat f_i)^2 : u = m_i \pm B\sqrt{k_{ii}}\},}{c_i = min(W_i, 2 D_i(u) / (u -
#' fhat_i)^2 for u = m_i +- B sqrt(k_ii)),}
#'
#' where \eqn{D_i} is the Bregman divergence of \eqn{-\ell_i}{-l_i}. With Gaussian noise the width would be
#' [width_amm()].
#'
#' Only [policy_ucb()] and [policy_duel()] take this width. The `width` of the history is \eqn{r_t}.
#' \eqn{\sigma_c}{sd_c} is used inside only: the `sd` of the history and of `$posterior()` is that of the usual
#' posterior, for the expected reward (`scale = "latent"`: of \eqn{f}).
#'
#' @section Guarantee: The bounds hold for all \eqn{x} and \eqn{t} with probability \eqn{1-\delta}{1 - delta}, if
#'
#'   * \eqn{\|f - m\|_k \le B}{|f - m|_k <= B};
#'   * the kernel, \eqn{m} and `B` are fixed in advance;
#'   * rewards are independent given \eqn{f}, with the assumed distribution (for successes: independent trials);
#'   * the arrival, failure or withdrawal of a reward does not depend on its value.
#'
#'   Original result, not peer-reviewed; the proof is in the source file `widths/width.h`. With the engine `"lowrank"`
#'   the width is larger by the error of the basis, and the same proof applies. Hyperparameters fitted to the same data
#'   are not covered. If only the expectation of the rewards can be trusted, use [width_amm()] as its section "Rewards
#'   in an interval" describes. Regret bounds: `"glm"` and `"duel"` of [regret_bound()].
#'
#' @param B bound on the RKHS norm of the latent function (minus the prior mean), a number >= 0.
#' @param delta failure probability, a number in (0, 1), by default 0.1.
#' @return An object of class `bandit_width`.
#' @seealso [widths] for all widths; [rewards]; [rewards_preferences()].
#' @concept generalised linear bandit
#' @concept logistic bandit
#' @concept confidence bound
#' @examples
#' b <- gp_bandit(1:5, kernel_se(2), policy = policy_ucb(width_glm(B = 1)),
#'                rewards = rewards_binary())
#' b$observe(b$suggest()$id, 7, size = 10)
#' b$posterior(scale = "latent")
#' @export
width_glm <- function(B, delta = 0.1) new_width("glm")

#' @rdname widths_adjusted
#' @export
width_sdf <- function(base, B_y = 1, over = c("window", "pending")) new_width("sdf")

#' @rdname widths_adjusted
#' @export
width_ec <- function(base, epsilon) new_width("ec")

# The width for rewards that a rule clips to +- b: their noise is bounded, and the moment bounds the bias.
width_of_clipped <- function(B, rule, delta) {
  if (is.null(rule$moment)) {
    stop_argument("R", sprintf("a rule (%s) without a moment", trait(rule, "title")),
                  "a number, or a rule of rewards_robust(moment = ), which bounds the bias")
  }
  b <- rule$b
  bias <- rule$moment * b^-rule$alpha
  new_width("clip")
}

# A base width, which must be of another kind.
check_base <- function(base, same) {
  base <- check_one_multiplier(base, "base")
  if (trait(base, "curved")) {
    stop_argument("base", trait(base, "title"), "a width that multiplies the posterior's own sd")
  }
  if (base$type == same) {
    stop_argument("base", trait(base, "title"), sprintf("a width other than width_%s()", same))
  }
  base
}

#' @rdname widths_adjusted
#' @export
width_corrupt <- function(base, total = NULL, count = NULL) new_width("corrupt")

check_corruption <- function(base, total, count) {
  if (is.null(total) && is.null(count)) stop_missing("total", "a number >= 0, or left out if `count` is given")
  if (is.null(count)) return(invisible())
  if (!is.null(total)) stop_argument("count", "given together with `total`", "one of the two")
  # (The weights of wrong rewards depend on them, which these bases do not allow.)
  if (trait(base, "counts_arms")) {
    stop_argument("base", paste(trait(base, "title"), "with `count`"), "width_amm(), width_realized() or width_igp()")
  }
}

# n wrong rewards of any size move the mean by at most M sqrt(n) standard deviations: like a total of that number. See
# Result 21 in the article "Derivations".
resolve_corrupt <- function(width, config) {
  if (!is.null(width$count)) {
    error <- if (!is.null(config$rewards)) trait(config$rewards, "largest_error")
    if (is.null(error)) {
      stop_argument("count", "given for rewards of any weight",
                    "used with `rewards = rewards_robust(plateau = )` or `rewards_robust(clip = )`")
    }
    width$total <- error(config$noise_var) * sqrt(width$count)
  }
  width[names(width) != "count"]
}

# Bounds based on the likelihood of the rewards (width_dmm()) are shifted by wrong rewards, so it is not sufficient to
# widen them.
check_corruptible <- function(base) {
  base <- as_width(base, "base")
  if (isFALSE(trait(base, "corruptible"))) {
    stop_argument("base", trait(base, "title"),
                  "width_amm(), width_realized(), width_igp() or width_fixed(); width_srinivas_finite() or a number")
  }
  base
}

#' @rdname widths_adjusted
#' @export
width_cpd <- function(D, nu, d, horizon) new_width("cpd")

# A number is converted to a constant width.
as_width <- function(width, arg = "width") {
  if (!missing(width) && inherits(width, "bandit_width")) return(check_class(width, "bandit_width", arg))
  if (!missing(width) && is.character(width)) return(as_part(width, "bandit_width", arg, "width_constant(), ..."))
  allowed <- "a number >= 0, or a width (made by width_constant(), width_srinivas_finite(), ...)"
  if (missing(width)) stop_missing(arg, allowed, "`width_constant(2)`")
  if (!is_number(width) || length(width) != 1 || !is.finite(width) || width < 0) {
    stop_argument(arg, describe(width), allowed)
  }
  width_constant(width)
}

# For boxes only.
resolve_on_net <- function(width, config) {
  if (core_space_kind(config$domain, config) != "box" || has_numbers(config$domain)) {
    stop_argument("width", sprintf("width_srinivas_box() on %s", describe_domain(config$domain)),
                  "another width, because width_srinivas_box() is for a box")
  }
  width$slack <- slack_of(width, config)
  width
}

# A width in the form that the core expects: with information gains, and defaults that depend on the bandit.
resolve_width <- function(width, config) {
  if (is.null(width)) return(NULL)
  if (trait(width, "counts_arms") && !trait(config$policy, "intervals") && !can_count(config$domain)) {
    stop_argument("width", sprintf("%s on %s", trait(width, "title"), describe_domain(config$domain)),
                  "a width that does not count arms, such as width_srinivas_compact() or width_amm()")
  }
  if (!is.null(width$gain)) {
    width$gain <- resolve_gain(width$gain, config)
  }
  if (!is.null(width$base)) width$base <- resolve_width(width$base, config)
  trait(width, "resolved")(unclass(width), config)
}

# The given slack, or by default the prior's sd: its maximum over the corners and the centre, where kernels have their
# largest variance.
slack_of <- function(width, config) {
  if (!is.null(width$slack)) return(width$slack)
  ends <- input_ranges(config$domain)
  x <- rbind(ends, colMeans(ends))
  contexts <- matrix(0, 3, length(config$context_names))
  sqrt(max(diag(kernel_gram(config$kernel, `colnames<-`(cbind(x, contexts), input_names(config))))))
}

#' @export
print.bandit_width <- function(x, ...) {
  check_class(x, "bandit_width")
  cat(sprintf("<width: %s>\n", describe_width(x)))
  invisible(x)
}

describe_width <- function(width) {
  parts <- unclass(width)[setdiff(names(width), "type")]
  wording <- vapply(names(parts), function(name) {
    value <- parts[[name]]
    text <- if (inherits(value, "bandit_gain")) describe_gain(value)
            else if (inherits(value, "bandit_width")) describe_width(value)
            else if (is.function(value)) "user function"
            else if (is.null(value)) "default"
            else paste(format(value, digits = 4), collapse = ", ")
    paste(name, "=", text)
  }, "")
  if (!length(wording)) return(width$type)
  sprintf("%s (%s)", width$type, paste(wording, collapse = ", "))
}

#' Noise variance with sublinear regret for a Matern kernel
#'
#' `ridge_rate()` returns a regulariser (`noise_var`) that grows with the horizon \eqn{T}. For a Matern kernel of
#' smoothness \eqn{\nu}{nu} in \eqn{d} inputs it is
#' \deqn{\lambda = T^{d/(2\nu + 2d)}.}{lambda = T^(d / (2 nu + 2 d)).}
#' For the squared-exponential kernel, the limit \eqn{\nu\to\infty}{nu -> Inf}, it is 1.
#'
#' @section Guarantee: For functions of bounded RKHS norm, GP-UCB with [width_realized()] and this `noise_var` has
#'   regret
#'   \deqn{\tilde O(T^{(\nu+2d)/(2\nu+2d)}),}{O~(T^((nu + 2 d) / (2 nu + 2 d))),}
#'   which is sublinear for every \eqn{\nu > 0}{nu > 0} (Whitehouse, Ramdas and Wu 2023). \eqn{\lambda}{lambda} is then
#'   not the noise variance: the width's `R` is given separately, and no refit may change \eqn{\lambda}{lambda}. The
#'   theorem is about growth. For a few hundred rounds \eqn{\lambda = R^2}{lambda = R^2} is better.
#' @param kernel [kernel_matern()] or [kernel_se()].
#' @param rounds the horizon \eqn{T}, an integer >= 1.
#' @param inputs the number of inputs \eqn{d}, an integer >= 1. `NULL` (default): the number of the kernel's `dims` or
#'   lengthscales, whichever is larger.
#' @return A number >= 1.
#' @section Errors: Another kernel is a `gpbandits_error`.
#' @references Whitehouse, Ramdas and Wu (2023) <https://arxiv.org/abs/2307.07539>.
#' @seealso [width_realized()].
#' @concept regularisation
#' @concept Matern kernel
#' @examples
#' ridge_rate(kernel_matern(2.5, 0.3), rounds = 1000) # 1000^(1/7)
#' @export
ridge_rate <- function(kernel, rounds, inputs = NULL) {
  kernel <- as_kernel(kernel)
  nu <- kernel_smoothness(kernel)
  rounds <- check_count(rounds)
  d <- if (is.null(inputs)) max(length(kernel$dims), length(kernel$lengthscale)) else check_count(inputs)
  rounds^(d / (2 * nu + 2 * d))
}

check_script_width <- function(width, arg = "width") {
  check_one_multiplier(width, arg, drawn = FALSE)
}

register_family("bandit_width", width_entries, tag = "type", traits = width_traits, prefix = "width_")
