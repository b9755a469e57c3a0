# Confidence widths: the multipliers of the posterior standard deviation. Layer: strategy.

#' Widths: how many posterior standard deviations the bound is wide
#'
#' A width is what multiplies the posterior standard deviation of the latent
#' function: UCB plays \eqn{\arg\max_x \mu_{t-1}(x) + w_t \sigma_{t-1}(x)}{argmax mu_{t-1}(x) + w_t sd_{t-1}(x)},
#' Thompson sampling draws from \eqn{GP(\mu_{t-1}, w_t^2 k_{t-1})}{GP(mu_{t-1}, w_t^2 k_{t-1})}. Papers
#' write \eqn{\sqrt{\beta_t}}{sqrt(beta_t)} or \eqn{\beta_t}{beta_t} for it; here it is always the
#' multiplier itself. In every formula \eqn{t} is one plus the number of queries since the
#' last restart or fresh epoch, \eqn{\lambda}{lambda} the bandit's `noise_var`, and
#' \eqn{L = \log\det(I + K_{t-1}/\lambda)}{L = log det(I + K_{t-1} / lambda)} over the points played.
#'
#' * `width_constant(value)`: the same in every round. Wherever a width is taken, a number means this.
#' * `width_function(f)`: `f(t)`, one finite number >= 0; or `f(t, state)`, with `state` a list of `log_det` (\eqn{L}),
#'   `noise_var` (\eqn{\lambda}{lambda}), `arms` (how many, NA in a box) and `rounds` (queries so far, restarts or not).
#' * `width_srinivas_finite`:
#'   \eqn{\sqrt{s \cdot 2\log(n t^2\pi^2/(6\delta))}}{sqrt(scale * 2 log(n t^2 pi^2 / (6 delta)))}, \eqn{n} arms.
#'   Theorem 1 of Srinivas et al. (a function drawn from the prior) at `scale = 1`; the paper divides by five in
#'   practice.
#' * `width_irgp()`: \eqn{w_t^2 = 2\log(n/2) + E_t}{w_t^2 = 2 log(n / 2) + E_t}, \eqn{E_t} drawn anew each round,
#'   exponential with mean 2 (\eqn{n} arms, no box): IRGP-UCB (Takeno et al. 2023). Nothing to tune and no growth with
#'   \eqn{t}. For \eqn{f} drawn from the prior the expected regret is at most
#'   \eqn{\sqrt{C_1(2 + 2\log(n/2))T\gamma_T}}{sqrt(C1 (2 + 2 log(n / 2)) T gamma_T)},
#'   \eqn{C_1 = 2/\log(1 + 1/\lambda)}{C1 = 2 / log(1 + 1/lambda)}, \eqn{k(x,x)\le 1}{k(x, x) <= 1}. That is all it
#'   says: \eqn{\mu \pm w_t\sigma}{mu +- w_t sd} is no confidence interval. The draw is from R's generator, at
#'   `$suggest()`.
#' * `width_srinivas_compact`: \eqn{\beta_t = 2\log(t^2 2\pi^2/(3\delta)) + 2d\log(t^2 d b r
#'   \sqrt{\log(4da/\delta)})}{beta_t = 2 log(t^2 2 pi^2 / (3 delta)) + 2 d log(t^2 d b r sqrt(log(4 d a / delta)))},
#'   width \eqn{\sqrt{s \beta_t}}{sqrt(scale * beta_t)}: Theorem 2, a box in \eqn{[0, r]^d}, where the partial
#'   derivatives satisfy
#'   \eqn{P(\sup|\partial f/\partial x_j| > L) \le a e^{-(L/b)^2}}{P(sup |df/dx_j| > L) <= a exp(-(L/b)^2)}; the second
#'   logarithm, that of the discretisation's size, is 0 at least (with a small \eqn{b} the formula as printed is
#'   narrower than one point needs). For regret only: it holds at what is played and on a net, which differs from round
#'   to round, not everywhere.
#' * `width_srinivas_box`: for [stop_gap()] on a box, under the same assumption (derived here). With \eqn{t} one plus
#'   the number of rewards that are *known*, \eqn{m = \max(1, \lceil b\sqrt{\log_+(2da/\delta)}\,d r
#'   t^2/(2\,\mathtt{slack})\rceil)}{m = max(1, ceiling(b sqrt(max(0, log(2 d a / delta))) d r t^2 / (2 slack)))} and
#'   \eqn{e_t = \mathtt{slack}/t^2}{e_t = slack / t^2}, the width is
#'   \eqn{\sqrt{2\log((m^d+1)\pi^2t^2/(3\delta))}}{sqrt(2 log((m^d + 1) pi^2 t^2 / (3 delta)))}. With probability
#'   \eqn{1-\delta}{1 - delta}, for all \eqn{t}:
#'   \eqn{\max f \le \max(\mu+w\sigma) + e_t}{max f <= max(mu + w sd) + e_t}, and
#'   \eqn{f \ge \mu - w\sigma}{f >= mu - w sd} at one point that the data have chosen. With probability
#'   \eqn{1 - \delta/2}{1 - delta / 2} \eqn{f} changes by \eqn{e_t} at most between a point and the centre of its one of
#'   \eqn{m^d} cells; with \eqn{1-\delta/2}{1 - delta / 2} the intervals hold at these centres and at the point. In one
#'   input, by Rice's formula, \eqn{a = 1 + r s_2/(\pi s_1)}{a = 1 + r s2 / (pi s1)} and
#'   \eqn{b = \sqrt2 s_1}{b = sqrt(2) s1}: for [kernel_se()] of variance 1 \eqn{s_1 = 1/l}{s1 = 1 / l},
#'   \eqn{s_2/s_1 = \sqrt3/l}{s2 / s1 = sqrt(3) / l}; for Matern 5/2 \eqn{\sqrt{5/3}/l}{sqrt(5 / 3) / l} and
#'   \eqn{\sqrt{15}/l}{sqrt(15) / l}; of variance \eqn{v}, \eqn{b} is \eqn{\sqrt v}{sqrt(v)} times that.
#' * `width_srinivas_rkhs`:
#'   \eqn{\sqrt{s(2B^2 + 300\gamma_{t-1}\log^3(t/\delta))}}{sqrt(scale * (2 B^2 + 300 gamma_{t-1} log^3(t / delta)))}:
#'   Theorem 3, a function of RKHS norm at most \eqn{B} (the norm itself, not its square). The paper prints
#'   \eqn{\gamma_t}{gamma_t} (`printed = TRUE`, for gains that do not need the point about to be played); its proof
#'   (Theorem 6) and Chowdhury and Gopalan's quotation have \eqn{\gamma_{t-1}}{gamma_{t-1}}.
#' * `width_igp`:
#'   \eqn{B + R\sqrt{2(\gamma_{t-1} + 1 + \log(1/\delta))}}{B + R sqrt(2 (gamma_{t-1} + 1 + log(1/delta)))}: IGP-UCB.
#'   With probability at least \eqn{1-\delta}{1 - delta},
#'   \eqn{|\mu_{t-1}(x) - f(x)| \le w_t\sigma_{t-1}(x)}{|mu - f| <= w_t sd} for all \eqn{x} and \eqn{t}, if the noise is
#'   R-sub-Gaussian.
#' * `width_gp_ts`: the same with \eqn{\log(2/\delta)}{log(2/delta)}: the scale of GP-TS's draws.
#' * `width_realized`:
#'   \eqn{B + (R/\sqrt\lambda)\sqrt{2\log(1/\delta) + L}}{B + R / sqrt(lambda) * sqrt(2 log(1/delta) + L)}, any
#'   \eqn{\lambda > 0}{lambda > 0} (Abbasi-Yadkori 2013). From the points really played.
#' * `width_amm`: \eqn{\sqrt{B^2 + (R^2/\lambda)(L + 2\log(1/\delta))}}{sqrt(B^2 + (R^2/lambda) (L + 2 log(1/delta)))}
#'   (Flynn and Reeb 2025): the same guarantee, never wider than `width_realized`. The one to use when `B` and `R` are
#'   known. Where rewards have noise variances \eqn{\lambda_s}{lambda_s} of their own (`$observe(noise_var = )`), known
#'   before the reward, \eqn{L} is of the weighted points and a reward's noise is taken to be
#'   \eqn{R\sqrt{\lambda_s/\lambda}}{R sqrt(lambda_s / lambda)}-sub-Gaussian (`noise = "scales"`); with
#'   `noise = "bounded"` it is \eqn{R}-sub-Gaussian whatever \eqn{\lambda_s}{lambda_s}, and
#'   \eqn{R\sqrt{\max(1, \lambda/\min\lambda_s)}}{R sqrt(max(1, lambda / min lambda_s))} stands for \eqn{R} in both
#'   widths: a small \eqn{\lambda_s}{lambda_s} that is wrong makes the first void.
#' * `width_fixed`: \eqn{\sqrt{B^2 + (2R^2/\lambda)\log(2n\,\mathtt{looks}/\delta)}}{sqrt(B^2 + (2 R^2 / lambda) log(2 n
#'   looks / delta))}, \eqn{n} arms, for designs that **do not look at rewards** ([policy_variance()],
#'   [policy_uniform()], the points of `design`, [bpe()]'s batches), looked at `looks` times that are fixed beforehand.
#'   No information gain, so much narrower than `width_amm` later on. Derived here: with
#'   \eqn{z = (K+\lambda I)^{-1}k(x)}{z = (K + lambda I)^-1 k(x)} the mean errs by at most
#'   \eqn{B\sqrt{\sigma^2-\lambda\|z\|^2}}{B sqrt(sd^2 - lambda |z|^2)}, the noise by
#'   \eqn{R\|z\|\sqrt{2\log(2n\,\mathtt{looks}/\delta)}}{R |z| sqrt(2 log(2 n looks / delta))}, and Cauchy-Schwarz does
#'   the rest (Vakili et al. 2021 add the two, which is never narrower). With `drift` \eqn{= V > 0}{= V > 0},
#'   \eqn{R^2 + 4V^2} stands for \eqn{R^2}, for a **design that is played in uniformly random order** while \eqn{f}
#'   drifts, \eqn{|f_s-\bar f|\le V}{|f_s - mean f| <= V} everywhere: the intervals are those of \eqn{\bar f}{mean f},
#'   the mean over exactly the design's rounds, of norm at most `B`. Drift is noise then, not bias (derived here, an
#'   idea of Iwazaki and Takeno 2024; places revealed by decreasing \eqn{|z|} have ranges of \eqn{4V|z_k|}). It must be
#'   fixed before the first play, and not be caused by the plays.
#' * `width_glm`: for [rewards_binary()], [rewards_counts()] and [rewards_preferences()] of pairs without ties,
#'   \eqn{|f(x) - \hat f(x)| \le r_t\sigma_c(x)}{|f(x) - fhat(x)| <= r_t sd_c(x)}, \eqn{\hat f}{fhat} the mode among
#'   functions with \eqn{\|f - m\|_k \le B}{|f - m|_k <= B} (the posterior's mode where that is one; with this width it
#'   is the bandit's posterior mean) and
#'   \eqn{r_t^2 = B^2 + 2\log(1/\delta) - 2(\mathrm{ELBO} + J)}{r_t^2 = B^2 + 2 log(1/delta) - 2 (ELBO + J)}, \eqn{J}
#'   the penalised loss \eqn{-\log p(y\mid\hat f) + \|\hat f - m\|^2/2}{-log p(y | fhat) + |fhat - m|^2 / 2}, ELBO the
#'   bound of the evidence by Laplace's Gaussian. \eqn{\sigma_c}{sd_c} is the sd of a second posterior, in which reward
#'   \eqn{i} has the weight \eqn{c_i}: the smallest average of \eqn{-\ell_i''}, weighted towards \eqn{\hat f_i}{fhat_i},
#'   on the way from \eqn{\hat f_i}{fhat_i} to a value that \eqn{f} may have there, \eqn{c_i = \min\{W_i,
#'   2D_i(u)/(u-\hat f_i)^2: u = m_i \pm B\sqrt{k_{ii}}\}}{c_i = min(W_i, 2 D_i(u) / (u - fhat_i)^2: u = m_i +- B
#'   sqrt(k_ii))}, \eqn{D_i} Bregman's divergence of \eqn{-\log p}. With Gaussian noise it would be `width_amm`.
#'   [policy_ucb()] and [policy_duel()] only; history's `sd` is \eqn{\sigma_c}{sd_c}.
#' * `width_dmm`: the same martingale, kept point by point, and averaged over the numbers \eqn{\alpha_j}{alpha_j} of
#'   `alpha0`. With \eqn{A_j = \alpha_j y'(K+\alpha_j I)^{-1}y + R^2\log\det(I+K/\alpha_j)}{A_j = alpha_j y'(K + alpha_j
#'   I)^-1 y + R^2 log det(I + K / alpha_j)} and \eqn{R_t^2 = -2R^2\log\,\mathrm{mean}_j\,e^{-A_j/(2R^2)} +
#'   2R^2\log(1/\delta)}{R_t^2 = -2 R^2 log(mean of exp(-A_j / (2 R^2))) + 2 R^2 log(1/delta)}, the upper bound at
#'   \eqn{x} is the smallest over \eqn{\alpha}{alpha} of \eqn{\mu_\alpha(x) +
#'   (\sigma_\alpha(x)/\sqrt\alpha)\sqrt{\max(0, R_t^2 + \alpha B^2 - \alpha y'(K+\alpha I)^{-1}y)}}{mu_alpha(x) +
#'   (sd_alpha(x) / sqrt(alpha)) sqrt(max(0, R_t^2 + alpha B^2 - alpha y'(K + alpha I)^-1 y))}. UCB only; history's
#'   `width` is (upper bound - mean) / sd at the chosen point. Costs one posterior per \eqn{\alpha}{alpha} and
#'   \eqn{\alpha_j}{alpha_j}. One \eqn{\alpha_j = \lambda}{alpha_j = lambda} is Flynn and Reeb's bound (with `alpha` =
#'   \eqn{\lambda}{lambda} too it is AMM); the mean of martingales is a martingale, so that no choice needs to be right
#'   (derived here). `alpha0` must be fixed before the data: not by a `noise_var` that is refitted. The bounds hold in
#'   all rounds together, and so does their intersection.
#' * `width_sdf`:
#'   \eqn{w_t + B_y \sum_{s=t-m}^{t-1}\sigma_{t-1}(x_s)}{base_t + B_y * sum over the last m queries s of sd_{t-1}(x_s)},
#'   `base` any width (Verma et al.); \eqn{m} is the pending rule's; `over = "pending"` sums over queries whose reward
#'   has not arrived. The theorem takes \eqn{\lambda > 1}{lambda > 1} and \eqn{k \le 1}{k <= 1}; for every
#'   \eqn{\lambda > 0}{lambda > 0} and rewards within `B_y` its proof gives
#'   `width_sdf(width_realized(B, R + B_y, delta / 2), B_y / noise_var)`.
#' * `width_ec`: \eqn{w_t + \epsilon\sqrt{(t-1)/\lambda}}{base_t + epsilon sqrt((t - 1) / lambda)}, for a model that is
#'   wrong by up to \eqn{\epsilon}{epsilon}: \eqn{|f - \tilde f| \le \epsilon}{|f - g| <= epsilon} everywhere, where
#'   `base` is a bound for \eqn{\tilde f}{g} (EC-GP-UCB, Bogunovic and Krause 2021). The upper bound of \eqn{f} is
#'   \eqn{\epsilon}{epsilon} above \eqn{\mu + w_t\sigma}{mu + w_t sd}, which does not change what is played. With noise
#'   variances of their own the sum of \eqn{1/\lambda_s}{1 / lambda_s} stands for \eqn{(t-1)/\lambda}{(t - 1) / lambda}.
#'   Only with an \eqn{\epsilon}{epsilon} that is known, such as a surrogate's error.
#' * `width_corrupt`: \eqn{w_t + C/\sqrt\lambda}{base_t + C / sqrt(lambda)}, for rewards
#'   \eqn{y_t = f(x_t) + \epsilon_t + c_t}{y_t = f(x_t) + e_t + c_t} of which some are wrong,
#'   \eqn{\sum_t|c_t| \le C}{sum |c_t| <= C} = `total`, a number that is known beforehand; with noise variances of their
#'   own the smallest \eqn{\lambda_s}{lambda_s} for \eqn{\lambda}{lambda}, if it is smaller. `base` is a width for the
#'   rewards as they should be: the mean moves by \eqn{\sum_sc_sz_s(x)}{sum c_s z_s(x)},
#'   \eqn{z(x) = (K+\lambda I)^{-1}k(x)}{z(x) = (K + lambda I)^-1 k(x)}, which is at most
#'   \eqn{C\max_s|z_s| \le C\sigma/\sqrt\lambda}{C max |z_s| <= C sd / sqrt(lambda)}.
#' * `width_clip`: \eqn{B + v b^{-\alpha}\sqrt{(t-1)/\lambda} + (b/\sqrt\lambda)\sqrt{2\log(1/\delta) + L}}{B + v
#'   b^-alpha sqrt((t - 1) / lambda) + b / sqrt(lambda) sqrt(2 log(1/delta) + L)}, for rewards with heavy tails that
#'   [rewards_clip()] has clipped to \eqn{\pm b}{+- b}: the second term is their bias, and clipped noise is
#'   \eqn{b}-sub-Gaussian.
#' * `width_cpd`: \eqn{\sqrt{D\,t^{d(d+1)/(2\nu+d(d+1))}\log^4 T}}{sqrt(D t^(d(d+1) / (2 nu + d(d+1))) log^4(horizon))}
#'   (Avanesov, whose \eqn{t} is \eqn{|H|}, the number of rounds since the restart; here it is one more, as in every
#'   width).
#'
#' @section Units: a width is about \eqn{f}{f} as the model has it. `B`, `R`, `slack`, `total` and `epsilon` are in
#'   units of the reward; with [scale_outputs()] in those of the scaled rewards, and nothing is converted. With a
#'   likelihood ([rewards]) the `B` of [width_glm()] is about the latent \eqn{f}{f}.
#'
#' @section Guarantee: `width_srinivas_finite()` at `scale = 1` (Theorem 1), `width_srinivas_compact()` (Theorem 2,
#'   regret only), `width_srinivas_box()` (stopping): \eqn{f} drawn from the prior, Gaussian noise of variance
#'   \eqn{\lambda}{lambda}; for the theorems' regret \eqn{k(x,x) \le 1}{k(x, x) <= 1}. `width_srinivas_rkhs()` (Theorem
#'   3): \eqn{\|f\|_k \le B}{|f|_k <= B}, noise bounded by \eqn{\sqrt\lambda}{sqrt(lambda)}. `width_igp()`,
#'   `width_gp_ts()`: \eqn{\|f\|_k \le B}{|f|_k <= B}, R-sub-Gaussian noise, \eqn{\lambda = 1 + 2/T}{lambda = 1 + 2/T}
#'   or any other \eqn{\lambda \ge 1}{lambda >= 1} (they are then never narrower than `width_realized()`), a `gain` that
#'   bounds \eqn{\gamma_{t-1}}{gamma_{t-1}} (or the realised one). `width_realized()`, `width_amm()`, `width_dmm()`: the
#'   same, for every \eqn{\lambda > 0}{lambda > 0}. `width_sdf()`: see [gp_ucb_sdf()]. `width_glm()` (derived here,
#'   proof in the core's widths/width.h): for all \eqn{x} and \eqn{t} with probability \eqn{1-\delta}{1 - delta}, if
#'   \eqn{\|f - m\|_k \le B}{|f - m|_k <= B}, the kernel, \eqn{m} and `B` are fixed beforehand and rewards are
#'   independent given \eqn{f} with the distribution that is assumed (of independent trials, say). With the engine
#'   `"lowrank"`, too: the width is then larger by what the basis leaves out (same proof). Where only the expectation
#'   can be trusted see Rewards in an interval. `width_fixed()`: the same assumptions, for points and looks that do not
#'   depend on rewards. `width_corrupt()` (derived here): as its base, if the total is right. What is wrong with a
#'   reward may depend on \eqn{f}, the points and all noise so far, not on later noise; with `width_fixed()` it must not
#'   steer the design, with `width_srinivas_finite()` it must know \eqn{f} through the rewards alone. UCB then has
#'   \eqn{R_T \le 2(w_T + C/\sqrt\lambda)\sqrt{cT\gamma_T}}{R_T <= 2 (w_T + C / sqrt(lambda)) sqrt(c T gamma_T)},
#'   [regret_bound()]'s `"ucb"` with `total`. `width_dmm()` is no base: wrong rewards move its likelihood itself, as
#'   they do [width_clip()]'s range. `width_cpd()`: a rate with an unknown constant, see [gp_ucb_cpd()]. No theorem
#'   covers hyperparameters fitted to the same data, and all that is said of all rounds together takes for granted that
#'   when a reward arrives, fails or is withdrawn does not depend on its value.
#'
#' @param value a number >= 0.
#' @param f a function of the round number `t`, or of `t` and `state`, that returns one number >= 0.
#' @param delta failure probability, in (0, 1).
#' @param scale a number > 0 that multiplies \eqn{\beta_t}{beta_t} (under the root).
#' @param printed `TRUE`: \eqn{\gamma_t}{gamma_t} as the paper prints it, not \eqn{\gamma_{t-1}}{gamma_{t-1}}.
#' @param a,b,r,d constants of Theorem 2 (see above), > 0; `d` the number of inputs.
#' @param B bound on the RKHS norm of the function (minus the prior mean), >= 0.
#' @param R the noise is R-sub-Gaussian (for Gaussian noise: its standard deviation), >= 0.
#' @param noise what `R` says of rewards with a noise variance of their own: `"scales"` or `"bounded"`, see above.
#'   (`width_dmm()` knows `"scales"` only.)
#' @param looks how often the intervals are looked at, at times fixed beforehand, a whole number >= 1.
#' @param drift \eqn{V}, by how much \eqn{f} may differ from its mean over the design's rounds, a number >= 0; see
#'   above.
#' @param slack by how much \eqn{f} may differ between a cell's points in the first round, a number > 0 in units of the
#'   reward, chosen beforehand; `NULL`: the prior's sd.
#' @param gain information gain: `"realized"`, `"greedy"`, `"spectral"`, a number, a function of \eqn{s = t-1}, or
#'   [gain_rate()]; see [gains].
#' @param alpha regularisers to take the smallest bound over; `NULL`: seven values
#'   \eqn{\lambda 4^{-3..3}}{lambda * 4^(-3..3)}.
#' @param alpha0 prior scales of the martingale, over which it is averaged; `NULL`:
#'   \eqn{\lambda 4^{0..6}}{lambda * 4^(0:6)}.
#' @param base a width.
#' @param total \eqn{C}, the sum of the sizes of all that is wrong with the rewards, a number >= 0 in units of the
#'   reward; see the section Units.
#' @param epsilon largest error of the model, in units of the reward, >= 0; see the section Units.
#' @param clip the rule made by [rewards_clip()], with its moment.
#' @param B_y bound on the range of the rewards, >= 0.
#' @param over sum over the last `m` queries (the paper's) or over pending ones only.
#' @param D,nu,horizon constants of Avanesov's width: scale, the kernel's smoothness, rounds in all.
#' @section Rewards in an interval: rewards in \[0, 1\] (yes or no, a share, a rating) are 1/2-sub-Gaussian about their
#'   expectation \eqn{p(x)}, whatever their distribution. So
#'   `gp_bandit(noise_var = 0.25, mean = 0.5, policy = policy_ucb(width_amm(B, R = 0.5, delta)))` has the band of
#'   `width_amm()`, and `width_igp()` its regret, if the RKHS norm of \eqn{p - 0.5} is at most `B`. Of \eqn{k} successes
#'   in \eqn{n} trials tell the share \eqn{k/n} with `noise_var` \eqn{0.25/n}{0.25 / n}. Nothing else is assumed, not
#'   even that trials are independent of each other given \eqn{f}; rare events (chances below .05) are learnt slowly:
#'   [rewards_binary()] does better there.
#' @return An object of class `bandit_width`.
#' @section Errors: a `gpbandits_error` that names the argument. A width that turns out not
#'   finite in some round stops that round and leaves the bandit as it was.
#' @references Srinivas et al. (2010) <https://arxiv.org/abs/0912.3995>; Takeno, Inatsu and Karasuyama (2023)
#'   <https://arxiv.org/abs/2302.01511>; Bogunovic and Krause (2021) <https://arxiv.org/abs/2111.05008>; Iwazaki and
#'   Takeno (2024) <https://arxiv.org/abs/2410.16052>; Chowdhury and Gopalan (2017) <https://arxiv.org/abs/1704.00445>;
#'   Abbasi-Yadkori (2013), PhD thesis, University of Alberta; Flynn and Reeb (2025), tighter confidence bounds for
#'   sequential kernel regression; Verma, Dai and Low (2022); Avanesov, nonstationary GP bandits.
#' @examples
#' width_srinivas_finite(delta = 0.1, scale = 1 / 5)
#' width_amm(B = 1, R = 0.1, delta = 0.05)
#' # Seven successes of ten trials, as a reward in [0, 1]:
#' b <- gp_bandit(1:5, kernel_se(2, 0.25), noise_var = 0.25, mean = 0.5,
#'                policy = policy_ucb(width_amm(B = 1, R = 0.5)))
#' b$observe(b$suggest()$id, 7 / 10, noise_var = 0.25 / 10)
#' b$posterior(arm = 1)
#'
#' width_function(function(t) sqrt(2 * log(1 + t)))
#' width_function(function(t, state) 1 + sqrt(state$log_det + 2 * log(10)))
#' @name widths
NULL

new_width <- function(type) new_part("bandit_width", type, parent.frame())

# What a width states of itself:
#   one_multiplier  of sd, the same at every place;
#   drawn           at random, anew each round;
#   counts_arms     it goes by the number of places that bounds are about;
#   model_error     bounds are its base's, for a function from which f may differ by so much;
#   looks           bounds hold at so many times that are fixed beforehand (NULL: in all rounds);
#   on_net          bounds hold on a net, and between its points with some slack, see slack_of();
#   corruptible     its bounds bear rewards that are wrong by a known total, once that is added: a function of the
#                   sizes of weights, not of the rewards themselves (NA: it claims nothing anyway);
#   curved          it multiplies the sd of a posterior of its own, see GlmWidth in the core;
#   any_rewards     it makes sense of rewards whose noise is not Gaussian;
#   looks_back      at the last queries, one by one;
#   claim           a function of the width and a bandit: with what probability bounds hold in all rounds;
#   allows          the settings of a bandit that its theorem is about, and others' are not;
#   resolved        a function that makes the core's settings of its own, where these depend on the bandit.
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
                    paste("known before the point is chosen: a number, a function of s, \"greedy\", \"spectral\" or",
                          "gain_rate()"))
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
  corrupt = list(settings = alist(base = check_corruptible(base), total = check_bound(total)),
                 traits = list(counts_arms = function(width) trait(width$base, "counts_arms"),
                               looks = function(width) trait(width$base, "looks"),
                               looks_back = function(width) trait(width$base, "looks_back"),
                               claim = function(width) claim_corrupt)),
  clip = list(settings = alist(B = check_bound(B), b = check_positive(b),
                               bias = check_bound(bias), delta = check_delta(delta)),
              traits = list(claim = function(width) claim_clip, allows = "rewards",
                            resolved = function(width) function(width, config) {
                # What is clipped is bounded, whatever its own noise variance.
                list(type = "ec", base = unclass(width_realized(width$B, width$b, width$delta, "bounded")),
                     epsilon = width$bias)
              })),
  cpd = list(settings = alist(D = check_bound(D), nu = check_positive(nu),
                              d = check_count(d), horizon = check_number(horizon, lower = 1, upper = largest_number)))
)

# A size of which squares and products with standard deviations are still numbers.
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

# What goes by one multiplier of sd takes no minimum of several bounds; what must know it before a round is played
# (`drawn` FALSE), none that is drawn at random.
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
  # One row: t, log det, noise variance, arms, rounds.
  f <- function(seen) {
    arms <- if (is.nan(seen[4])) NA_real_ else seen[4]
    asked(seen[1], list(log_det = seen[2], noise_var = seen[3], arms = arms, rounds = seen[5]))
  }
  new_width("function")
}

# Second arguments that have a default are the user's own.
takes_state <- function(f) {
  arguments <- formals(args(f))
  "state" %in% names(arguments) ||
    (length(arguments) > 1 && names(arguments)[2] != "..." && identical(arguments[[2]], quote(expr = )))
}

#' @rdname widths
#' @export
width_srinivas_finite <- function(delta = 0.1, scale = 1) new_width("srinivas_finite")

#' @rdname widths
#' @export
width_irgp <- function() new_width("irgp")

#' @rdname widths
#' @export
width_srinivas_compact <- function(delta, a, b, r, d, scale = 1) new_width("srinivas_compact")

#' @rdname widths
#' @export
width_srinivas_box <- function(delta = 0.1, a, b, r, d, slack = NULL) new_width("srinivas_box")

#' @rdname widths
#' @export
width_srinivas_rkhs <- function(B, delta = 0.1, gain = "realized", scale = 1, printed = FALSE) {
  new_width("srinivas_rkhs")
}

#' @rdname widths
#' @export
width_igp <- function(B, R, delta = 0.1, gain = "realized") new_width("igp")

#' @rdname widths
#' @export
width_gp_ts <- function(B, R, delta = 0.1, gain = "realized") new_width("gp_ts")

#' @rdname widths
#' @export
width_realized <- function(B, R, delta = 0.1, noise = c("scales", "bounded")) new_width("realized")

#' @rdname widths
#' @export
width_amm <- function(B, R, delta = 0.1, noise = c("scales", "bounded")) new_width("amm")

#' @rdname widths
#' @export
width_fixed <- function(B, R, delta = 0.1, looks = 1, drift = 0) new_width("fixed")

# Drift within a design that is played in random order is noise, not bias.
noise_with_drift <- function(R, drift) sqrt(R^2 + 4 * drift^2)

# Its multiplier over so many places.
fixed_multiplier <- function(B, R, noise_var, places, delta, looks = 1) {
  sqrt(B^2 + 2 * R^2 / noise_var * log(2 * places * looks / delta))
}

#' @rdname widths
#' @export
width_dmm <- function(B, R, delta = 0.1, alpha = NULL, alpha0 = NULL) new_width("dmm")

#' @rdname widths
#' @export
width_glm <- function(B, delta = 0.1) new_width("glm")

#' @rdname widths
#' @export
width_sdf <- function(base, B_y = 1, over = c("window", "pending")) new_width("sdf")

#' @rdname widths
#' @export
width_ec <- function(base, epsilon) new_width("ec")

#' @rdname widths
#' @export
width_clip <- function(B, clip, delta = 0.1) {
  check_class(clip, "bandit_rewards", hint = "rewards_clip(moment = , rounds = )")
  if (is.null(clip$moment)) stop_argument("clip", "rewards_clip() without a moment",
                                          "rewards_clip(moment = ), which bounds the bias")
  b <- clip$b
  bias <- clip$moment * b^-clip$alpha
  new_width("clip")
}

# A width that one of another kind is made of.
check_base <- function(base, same) {
  base <- check_one_multiplier(base, "base")
  if (trait(base, "curved")) stop_argument("base", trait(base, "title"),
                                           "a width that multiplies the posterior's own sd")
  if (base$type == same) {
    stop_argument("base", trait(base, "title"), sprintf("a width other than width_%s()", same))
  }
  base
}

#' @rdname widths
#' @export
width_corrupt <- function(base, total) new_width("corrupt")

# Bounds that go by the rewards' own likelihood (width_dmm()) are moved by what is wrong with them, not only widened.
check_corruptible <- function(base) {
  base <- as_width(base, "base")
  if (isFALSE(trait(base, "corruptible"))) {
    stop_argument("base", trait(base, "title"),
                  "width_amm(), width_realized(), width_igp() or width_fixed(); width_srinivas_finite() or a number")
  }
  base
}

#' @rdname widths
#' @export
width_cpd <- function(D, nu, d, horizon) new_width("cpd")

# A number is a width that is always the same.
as_width <- function(width, arg = "width") {
  if (!missing(width) && inherits(width, "bandit_width")) return(check_class(width, "bandit_width", arg))
  if (!missing(width) && is.character(width)) return(as_part(width, "bandit_width", arg, "width_constant(), ..."))
  allowed <- "a number >= 0, or a width (made by width_constant(), width_srinivas_finite(), ...)"
  if (missing(width)) stop_argument(arg, "missing", allowed)
  if (!is_number(width) || length(width) != 1 || !is.finite(width) || width < 0) {
    stop_argument(arg, describe(width), allowed)
  }
  width_constant(width)
}

# Of a box only.
resolve_on_net <- function(width, config) {
  if (core_space_kind(config$domain, config) != "box" || has_numbers(config$domain)) {
    stop_argument("width", sprintf("width_srinivas_box() on %s", describe_domain(config$domain)),
                  "a width for such a domain: width_srinivas_box() is for a box")
  }
  width$slack <- slack_of(width, config)
  width
}

# A width as the core takes it: gains resolved, defaults that depend on the bandit filled in.
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

# The prior's sd unless it is given: at a corner or in the middle, where kernels have their largest variance.
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
  words <- vapply(names(parts), function(name) {
    value <- parts[[name]]
    text <- if (inherits(value, "bandit_gain")) describe_gain(value)
            else if (inherits(value, "bandit_width")) describe_width(value)
            else if (is.function(value)) "user function"
            else if (is.null(value)) "default"
            else paste(format(value, digits = 4), collapse = ", ")
    paste(name, "=", text)
  }, "")
  if (!length(words)) return(width$type)
  sprintf("%s (%s)", width$type, paste(words, collapse = ", "))
}

#' The ridge that makes a Matern kernel's regret sublinear
#'
#' \eqn{\lambda = T^{d/(2\nu + 2d)}}{lambda = T^(d / (2 nu + 2 d))} for a Matern kernel of smoothness \eqn{\nu}{nu} in
#' \eqn{d} inputs, a regulariser that grows with the horizon \eqn{T}; 1 for the squared-exponential kernel, which is the
#' limit \eqn{\nu\to\infty}{nu -> Inf}.
#'
#' @section Guarantee: GP-UCB with [width_realized()] and this `noise_var` has regret
#'   \eqn{\tilde O(T^{(\nu+2d)/(2\nu+2d)})}{O~(T^((nu + 2 d) / (2 nu + 2 d)))} for functions of bounded RKHS norm,
#'   sublinear for every \eqn{\nu > 0}{nu > 0} (Whitehouse, Ramdas and Wu 2023). It is no noise variance then: the
#'   width's `R` is given apart, and no refit may change it. At a few hundred rounds \eqn{\lambda = R^2}{lambda = R^2}
#'   is better; the theorem is about growth.
#' @param kernel [kernel_matern()] or [kernel_se()].
#' @param rounds the horizon \eqn{T}, a whole number >= 1.
#' @param inputs \eqn{d}; `NULL`: as many as the kernel's `dims` or its lengthscales.
#' @return A number >= 1.
#' @section Errors: a `gpbandits_error` for another kernel, or arguments that are no such numbers.
#' @references Whitehouse, Ramdas and Wu (2023) <https://arxiv.org/abs/2307.07539>.
#' @seealso [width_realized()].
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
