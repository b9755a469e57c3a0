# `regret_bound()`. Layer: simulation.

#' Regret bounds of the papers, round by round
#'
#' The right-hand side of a paper's theorem at every round \eqn{1, \dots, T}, to lay over a
#' plot of cumulative regret. Where a paper gives an order only, the constants are those of
#' its proof; where the proof has none, they are arguments.
#'
#' Notation: \eqn{\gamma_t}{gamma_t} is `gain` (with \eqn{\gamma_0 = 0}{gamma_0 = 0}),
#' \eqn{\lambda}{lambda} is `noise_var`, \eqn{\log}{log} the natural logarithm. All theorems take
#' \eqn{k(x,x) \le 1}{k(x,x) <= 1}; where `variance` \eqn{v} is an argument, the constant is
#' written for \eqn{k(x,x) \le v}{k(x,x) <= v} and is the paper's at \eqn{v = 1}. Further
#' arguments go by name through `...`; those with a value below may be left out.
#'
#' **Srinivas et al. 2010**, \eqn{C_1 = 8v/\log(1 + v/\lambda)}{C1 = 8 v / log(1 + v / lambda)},
#' each with probability at least \eqn{1 - \delta}{1 - delta}, for all rounds at once:
#' * `"srinivas1"` (`noise_var, arms, delta = 0.1, variance = 1`): Theorem 1, `arms`
#'   arms, \eqn{f} drawn from the prior:
#'   \eqn{\sqrt{C_1 T \beta_T \gamma_T}}{sqrt(C1 T beta_T gamma_T)},
#'   \eqn{\beta_T = 2\log(|D| T^2 \pi^2/(6\delta))}{beta_T = 2 log(|D| T^2 pi^2 / (6 delta))}.
#' * `"srinivas2"` (`noise_var, a, b, side, d, delta = 0.1, variance = 1`): Theorem 2, the
#'   cube \eqn{[0, r]^d} with \eqn{r} = `side`, sample paths with
#'   \eqn{P(\sup |\partial f/\partial x_j| > L) \le a e^{-(L/b)^2}}{P(sup |df/dx_j| > L) <= a exp(-(L/b)^2)}:
#'   \eqn{\sqrt{C_1 T \beta_T \gamma_T} + 2}{sqrt(C1 T beta_T gamma_T) + 2},
#'   \eqn{\beta_T = 2\log(2 T^2\pi^2/(3\delta)) + 2d\log(T^2 d b r \sqrt{\log(4da/\delta)})}{beta_T = 2
#'   log(2 T^2 pi^2 / (3 delta)) + 2 d log(T^2 d b r sqrt(log(4 d a / delta)))}, the last logarithm 0 at least.
#' * `"srinivas3"` (`noise_var, B, delta = 0.1, variance = 1, printed = FALSE`): Theorem 3, RKHS norm at
#'   most `B`, noise bounded by \eqn{\sqrt\lambda}{sqrt(lambda)}:
#'   \eqn{\sqrt{C_1 T \beta_T \gamma_T}}{sqrt(C1 T beta_T gamma_T)},
#'   \eqn{\beta_T = 2B^2 + 300\gamma_{T-1}\log^3(T/\delta)}{beta_T = 2 B^2 + 300 gamma_{T-1} log(T /
#'   delta)^3}. The paper prints \eqn{\gamma_T}{gamma_T} in \eqn{\beta_T}{beta_T} (`printed = TRUE`); its Theorem 6
#'   needs \eqn{\gamma_{T-1}}{gamma_{T-1}} only, as Chowdhury and Gopalan quote it.
#'
#' **Chowdhury and Gopalan 2017**, RKHS norm at most `B`, `R`-sub-Gaussian noise,
#' \eqn{\lambda = 1 + 2/T}{lambda = 1 + 2/T} for the horizon \eqn{T} (also in `gain`); `noise_var`, where it is given,
#' is compared with it:
#' * `"igp_ucb"` (`B, R, delta = 0.1, noise_var = NULL`): Theorem 3, constants from its proof and Lemma 4:
#'   \eqn{2\beta_T\sqrt{4(T+2)\gamma_T}}{2 beta_T sqrt(4 (T + 2) gamma_T)},
#'   \eqn{\beta_T = B + R\sqrt{2(\gamma_{T-1} + 1 + \log(1/\delta))}}{beta_T = B + R sqrt(2 (gamma_{T-1}
#'   + 1 + log(1/delta)))}.
#' * `"gp_ts"` (`B, R, arms` or `B, R, d, side, L`, `delta = 0.1, noise_var = NULL`): Theorem 4, constants of Lemma 13:
#'   \deqn{\frac{11 c_T}{p}\sqrt{4(T+2)\gamma_T} + \frac{(2B+1)\pi^2}{6} +
#'   \frac{(4B+11)c_T}{p}\sqrt{2T\log(2/\delta)}}{(11 c_T / p) sqrt(4 (T + 2) gamma_T) + (2 B + 1) pi^2 /
#'   6 + ((4 B + 11) c_T / p) sqrt(2 T log(2/delta))}
#'   with \eqn{p = 1/(4e\sqrt\pi)}{p = 1/(4 e sqrt(pi))}, \eqn{c_T = v_T(1 + \tilde c_T)}{c_T = v_T (1 +
#'   c'_T)},
#'   \eqn{v_T = B + R\sqrt{2(\gamma_{T-1} + 1 + \log(2/\delta))}}{v_T = B + R sqrt(2 (gamma_{T-1} + 1 +
#'   log(2/delta)))} and, by
#'   Lemma 5, \eqn{\tilde c_T = \sqrt{2\log(|D_T| T^2)}}{c'_T = sqrt(2 log(|D_T| T^2))}: \eqn{|D_T|} is
#'   `arms`, or
#'   \eqn{(BLrdT^2)^d}{(B L r d T^2)^d} on \eqn{[0, r]^d} where draws are maximised over these points alone (which
#'   [gp_ts()] on a box does not do), `L` the largest
#'   \eqn{(\partial^2 k/\partial p_j \partial q_j)^{1/2}}{sqrt(d2k/dp_j dq_j)} at \eqn{p = q}.
#'
#' With \eqn{\lambda}{lambda} of the horizon `rounds` these bounds hold at every earlier round too, the first
#' for all rounds at once, the second for each.
#'
#' **Verma, Dai, Low 2022**, delays: \eqn{\rho_m}{rho_m} (`rho`) the probability of a delay of at most
#' `m` rounds, rewards bounded by `B_y`, \eqn{C_1 = \sqrt{2v/\log(1 + v/\lambda)}}{C1 = sqrt(2 v / log(1
#' + v / lambda))}. Where delays depend on the input, `rho` is the smallest such probability. The proofs need
#' \eqn{\lambda > 1}{lambda > 1} and \eqn{k(x,x) \le 1}{k(x,x) <= 1}; outside, the formulas as printed are computed with
#' a warning. With `any_noise_var = TRUE` they hold for every \eqn{\lambda > 0}{lambda > 0}, by what the proof drops:
#' \eqn{R + B_y} is divided by \eqn{\sqrt\lambda}{sqrt(lambda)} and the sum's \eqn{B_y} by \eqn{\lambda}{lambda} (as a
#' width: `width_sdf(width_realized(B, R + B_y, delta / 2), B_y / noise_var)`).
#' * `"sdf"` (`noise_var, B, R, B_y, m, rho, delta = 0.1, variance = 1, any_noise_var = FALSE`): Theorem 2,
#'   \eqn{\frac{2}{\rho_m}(C_1\beta_T\sqrt{T\gamma_T} + m B_y C_1^2\gamma_T)}{(2 / rho_m) (C1 beta_T
#'   sqrt(T gamma_T) + m B_y C1^2 gamma_T)},
#'   \eqn{\beta_T = B + (R + B_y)\sqrt{2(\gamma_{T-1} + 1 + \log(2/\delta))}}{beta_T = B + (R + B_y)
#'   sqrt(2 (gamma_{T-1} + 1 + log(2/delta)))}.
#' * `"ts_sdf"` (as `"sdf"`, and `arms`): Theorem 3 with the constants of its proof (Equation 23;
#'   \eqn{c_T}{c_T} with
#'   \eqn{\nu_T \le m B_y \sqrt v + \beta_T}{nu_T <= m B_y sqrt(v) + beta_T}),
#'   \eqn{\log(4/\delta)}{log(4/delta)} in \eqn{\beta_T}{beta_T}.
#' * `"sdf_context"` (as `"sdf"`), `"ts_sdf_context"` (as `"ts_sdf"`, and `contexts`, their number): Theorem 4 and
#'   Appendix B, where a context comes before every query and regret is against the best point for it. The formulas are
#'   the same over pairs of context and point: `gain` and `B` are those of pairs, and the draws'
#'   \eqn{\log(|Q|t^2)}{log(|Q| t^2)} becomes \eqn{\log(|Z||Q|t^2)}{log(|Z| |Q| t^2)}.
#'
#' **Avanesov**, environments that change:
#' * `"cpd"` (`nu, d, Delta, change_points = NULL, constant = 1`): Theorem 3.1, a rate for the expected
#'   regret,
#'   \eqn{C \Delta^{-(2 + 2/(2\nu+d))} \sum_i T_i^{(2\nu + 3d(d+1))/(4\nu + 2d(d+1))} \log^3 T}{C
#'   Delta^-(2 + 2/(2 nu + d)) sum_i T_i^((2 nu + 3 d (d + 1)) / (4 nu + 2 d (d + 1))) log(T)^3},
#'   \eqn{T_i} the lengths of the stationary periods so far, `change_points` the last round of each but the
#'   last, `Delta` the smallest L2 distance of successive functions. `constant` \eqn{C} is unknown. With \eqn{K} equal
#'   periods it is \eqn{K^{(2\nu - d(d+1))/(4\nu + 2d(d+1))} T^{(2\nu + 3d(d+1))/(4\nu + 2d(d+1))}}{K^((2 nu - d (d +
#'   1)) / (4 nu + 2 d (d + 1))) T^((2 nu + 3 d (d + 1)) / (4 nu + 2 d (d + 1)))} up to the logarithm:
#'   \eqn{K^{.214}T^{.786}}{K^.214 T^.786} for \eqn{\nu = 5/2, d = 1}{nu = 5/2, d = 1}. `gain` is not used.
#' * `"cpd_finite"` (`nu, d, Delta, B, R, explore = sqrt(3), D = 1, constant = NULL, change_points = NULL, variance = 1,
#'   noise_var = NULL`): Lemma A.1, for finite \eqn{T}, norms at most `B` \eqn{= F}, noise sub-Gaussian with `R`
#'   \eqn{= g}, \eqn{\sigma^2 = 6g^2\log T}{s2 = 6 g^2 log T}, \eqn{\xi}{xi} = `explore`, `D` \eqn{\ge 1}{>= 1} of its
#'   (A.3). \eqn{n^*}{n*} is that of [detection_size()] at failure probability \eqn{4/T^3}{4/T^3}, whose \eqn{C} =
#'   `constant` depends on the kernel and the ridge and is unknown. Without it (then 1) the lemma as printed, a **rate
#'   and no bound**, for growth in \eqn{T}, \eqn{K} and \eqn{\Delta}{Delta}; `gain` is not used:
#'   \deqn{\sqrt{\frac{8D\log^3T}{\log(1+\sigma^{-2})}}\sum_i T_i^{(2\nu+3d(d+1))/(4\nu+2d(d+1))} +
#'   \sqrt v F\Bigl(\xi + 2n^*\bigl(\tfrac2\xi + \tfrac1{\xi^2}\bigr)\Bigr)\sum_i\sqrt{T_i}}{sqrt(8 D log(T)^3 / log(1 +
#'   1/s2)) sum_i T_i^((2 nu + 3 d (d + 1)) / (4 nu + 2 d (d + 1))) + sqrt(v) F (xi + 2 n* (2/xi + 1/xi^2)) sum_i
#'   sqrt(T_i)} With `constant` (one that holds) and `gain`, an upper bound of the gain at noise \eqn{\sigma^2}{s2},
#'   what the proof gives with probability \eqn{1 - 7/T}{1 - 7/T}, kernels whose eigenfunctions are bounded (its
#'   Assumption D.1): (A.13) drops \eqn{\beta_T}{beta_T}, which is no constant, (B.14) a factor 2 (hence 7, not 6), and
#'   a round may cost \eqn{2\sqrt vF}{2 sqrt(v) F}:
#'   \deqn{\sum_i\sqrt{\frac{8T_i\beta\gamma_{T_i}}{\log(1+\sigma^{-2})}} + 2\sqrt v F\Bigl[K + \Bigl(\xi +
#'   2n^*\bigl(\tfrac2\xi + \tfrac1{\xi^2}\bigr)\Bigr)\sum_i\sqrt{T_i}\Bigr],\quad\beta = D(2F^2 +
#'   300\gamma_{T_i}\log^3T^3)}{sum_i sqrt(8 T_i beta gamma_{T_i} / log(1 + 1/s2)) + 2 sqrt(v) F (K + (xi + 2 n* (2/xi +
#'   1/xi^2)) sum_i sqrt(T_i)), beta = D (2 F^2 + 300 gamma_{T_i} log(T^3)^3)} \eqn{K} the periods so far. With
#'   `noise_var` too (and the `gain` at it) the first sum is that of [width_amm()] at
#'   \eqn{\delta = T^{-2}}{delta = T^-2} instead,
#'   \eqn{\sum_i2w_i\sqrt{cT_i\gamma_{T_i}}}{sum_i 2 w_i sqrt(c T_i gamma_{T_i})}, for any \eqn{\lambda}{lambda} and
#'   with probability \eqn{1 - 5/T}{1 - 5/T} (derived here), smaller by orders of magnitude; the delays stay. The former
#'   is above \eqn{2\sqrt vFT}{2 sqrt(v) F T}, and says nothing, at any horizon that one would run. Warns where the
#'   periods are too short (A.6):
#'   \eqn{n^*(2/\xi + 1/\xi^2)\sqrt{2\max T_i} \le \min T_i}{n* (2/xi + 1/xi^2) sqrt(2 max T_i) <= min T_i}.
#'
#' **Shi and Eryilmaz 2022**, long-term constraints, epochs of `epoch` \eqn{= S} rounds, `epochs` \eqn{= L} of
#' them (default: as many as `rounds` needs). With `quantity = "violation"` the bound is that of
#' \eqn{\|[\sum_t g(x_t)]_+\|}{the norm of the positive part of sum_t g(x_t)}. Constants from the proofs
#' (Lemmas 1 and 3 there), with \eqn{\lambda = 1 + 2/S}{lambda = 1 + 2/S}, with which `noise_var`, where it is given, is
#' compared, and a fresh posterior in every epoch (`reuse = FALSE`):
#' * `"constraints_noiseless"` (`B, R, epoch, delta = 0.1, epochs, quantity = "regret", noise_var = NULL`, and for the
#'   violation `gap, count = 1, penalty_inverse = log`): Theorem 1. An epoch costs \eqn{E(s) = 4(B + R\sqrt{2(\gamma_s +
#'   1 + \log(L/\delta))})\sqrt{(s+2)\gamma_s}}{E(s) = 4 (B + R sqrt(2 (gamma_s + 1 + log(L/delta)))) sqrt((s + 2)
#'   gamma_s)} after \eqn{s} rounds; regret after \eqn{l} epochs and \eqn{s} rounds: \eqn{l E(S) + E(s)}{l E(S) + E(s)};
#'   violation: \eqn{\sqrt{m}\,[S\psi_+^{-1}(1 + l\Delta + lE(S)/S) + s\psi_+^{-1}(1 + \Delta + E(s)/s)]}{sqrt(m) (S
#'   psi^-1(1 + l gap + l E(S)/S) + s psi^-1(1 + gap + E(s)/s))}, `gap` \eqn{\Delta}{} =
#'   \eqn{\max f - f(x^*)}{max f - f(x*)}, \eqn{m} = `count` constraints, `penalty_inverse` the inverse of
#'   \eqn{\psi}{psi} on \eqn{[1, \infty)}{[1, Inf)} (`log` for `penalty = "exponential"` with `penalty_scale = 1`).
#' * `"constraints_noisy"` (`B, R, epoch, step, Q, M, slater, count = 1, delta = 0.1, epochs,
#'   quantity = "regret", noise_var =
#'   NULL`): Theorem 2, \eqn{|f| \le Q}{|f| <= Q}, \eqn{|g_j| \le M}{|g_j| <= M}, `slater` \eqn{= \epsilon}{= eps}: some
#'   point has all \eqn{g_j \le -\epsilon}{g_j <= -eps}. With
#'   \eqn{a = \sqrt{4m} + \sqrt{\log(2L/\delta)}}{a = sqrt(4 m) + sqrt(log(2 L / delta))},
#'   \eqn{W = \sqrt{2(\gamma_S + 1 + \log(2L/\delta))}}{W = sqrt(2 (gamma_S + 1 + log(2 L / delta)))},
#'   \eqn{G = \sqrt{(S+2)\gamma_S}}{G = sqrt((S + 2) gamma_S)}, step \eqn{\mu}{mu}, the multipliers stay below
#'   (Equation 33)
#'   \deqn{\kappa = \mu(\sqrt m M + 2Ra/\sqrt S) + \frac{2Q + 4(B + RW)G/S + m\mu M^2 + 4\mu
#'   R^2a^2/S}{\epsilon - 4RWG/S - 2Ra/\sqrt S}}{kappa = mu (sqrt(m) M + 2 R a / sqrt(S)) + (2 Q + 4 (B +
#'   R W) G / S + m mu M^2 + 4 mu R^2 a^2 / S) / (eps - 4 R W G / S - 2 R a / sqrt(S))}
#'   (the first term as its derivation gives it; the print divides by \eqn{S} where \eqn{\sqrt
#'   S}{sqrt(S)} follows).
#'   Regret after \eqn{l} epochs: \eqn{l\,[4(B + \sqrt{1+\kappa^2}RW)G + mS\mu M^2 + 4\mu R^2a^2 +
#'   2R\kappa a\sqrt S]}{l (4 (B + sqrt(1 + kappa^2) R W) G + m S mu M^2 + 4 mu R^2 a^2 + 2 R kappa a
#'   sqrt(S))};
#'   violation: \eqn{S\kappa/\mu + 2Rla\sqrt S}{S kappa / mu + 2 R l a sqrt(S)}; inside an epoch at most
#'   \eqn{2Q} and
#'   \eqn{\sqrt m M}{sqrt(m) M} more per round. `Inf` where the theorem's condition on
#'   \eqn{\epsilon}{eps} (the
#'   denominator is positive) fails: it then says nothing.
#'
#' **Any width** \eqn{w_t} that holds in all rounds together with some probability (see [widths]; `width`: a number, one
#' per round, or a function of \eqn{t}), \eqn{c = 2v/\log(1+v/\lambda)}{c = 2 v / log(1 + v / lambda)}; with that
#' probability, by \eqn{r_t\le 2w_t\sigma_{t-1}(x_t)}{r_t <= 2 w_t sd_{t-1}(x_t)} and
#' \eqn{\sum\sigma^2\le c\gamma_T}{sum of sd^2 <= c gamma_T}:
#' * `"ucb"` (`noise_var, width, guard = 0, repeats = 1, epsilon = 0, variance = 1, B = NULL, total = 0`):
#'   \eqn{2 e^GCw_T\sqrt{cT\gamma_T}}{2 exp(G) C w_T sqrt(c T gamma_T)}, \eqn{G} = `guard` of [pending_hallucinate()],
#'   \eqn{C} = `repeats` of [policy_repeats()] (where one play of a place shrinks its sd at most so); `total` \eqn{= C}
#'   of [width_corrupt()] adds \eqn{C/\sqrt\lambda}{C / sqrt(lambda)} to the width, `epsilon`
#'   \eqn{= \epsilon}{= epsilon} of [width_ec()] adds \eqn{\epsilon\sqrt{(t-1)/\lambda}}{epsilon sqrt((t - 1) / lambda)}
#'   to the width and \eqn{2\epsilon T}{2 epsilon T} to the bound. With `B`, a bound of \eqn{f}'s norm, the smaller of
#'   this and \eqn{2B\sqrt v\,n_1 + 2w_T\sqrt{2\lambda T\gamma_T/\log 2}}{2 B sqrt(v) n1 + 2 w_T sqrt(2 lambda T gamma_T
#'   / log(2))}, \eqn{n_1 = 2\gamma_T/\log 2}{n1 = 2 gamma_T / log(2)}: no more than \eqn{n_1} rounds have
#'   \eqn{\sigma^2 > \lambda}{sd^2 > lambda}, and the others' variances sum to
#'   \eqn{2\lambda\gamma_T/\log 2}{2 lambda gamma_T / log(2)} at most (derived here, the idea after Iwazaki and Takeno
#'   2025). It is the smaller one where \eqn{\lambda}{lambda} is small.
#' * `"glm"` (`noise_var, B, width, link = "logit", mean = 0, variance = 1`): UCB with [width_glm()], \eqn{w_t} its
#'   width \eqn{r_t}: the regret of the latent \eqn{f}, with `gain` and \eqn{\lambda}{lambda} = `noise_var` at
#'   \eqn{\kappa}{kappa} (or above), one over the least \eqn{-\ell''} of a reward of size 1 for values in
#'   \eqn{m\pm B\sqrt v}{m +- B sqrt(v)} (`link`: `"logit"`, `"probit"`, `"counts"`; `mean` \eqn{= m}). `"duel"`
#'   (`noise_var, B, width, variance = 1, both = FALSE, first = 0`): [policy_duel()] with `rule = "last"`, one duel at a
#'   time, the sum of \eqn{f(x^*) - f(x_t)}{f(x*) - f(x_t)} over the second places: the same with \eqn{4v} for \eqn{v},
#'   \eqn{m = 0} and a `gain` of differences; `both` players: twice that and `first`
#'   \eqn{= f(x^*) - f(x_0)}{= f(x*) - f(x_0)}. Derived here (POP-BO's own bound, Xu et al. 2024, is of order
#'   \eqn{T^{3/4}}{T^(3/4)}), for exact engines. (The estimate is kept within the ball of norm `B`: so each
#'   \eqn{c_i\ge1/\kappa}{c_i >= 1 / kappa}.)
#' * `"penalty"` (`noise_var, width, constraint_width = width, penalty = Inf, D = NULL, exact = NULL, count = 1,
#'   variance = 1, quantity = "regret"`): [baseline_constrained()] and, with an infinite penalty, CONFIG, UCB under
#'   limits ([policy_ucb()] with [outcomes]; `"config"` is another name of this):
#'   \eqn{\sum_t [f(x^*) - f(x_t)]_+}{sum of [f(x*) - f(x_t)]+} against the best feasible place
#'   \eqn{2w_T\sqrt{cT\gamma_T}}{2 w_T sqrt(c T gamma_T)}. `quantity = "violation"`, the hard one: with \eqn{m} =
#'   `count` constraints (`gain` is an upper bound of all gains)
#'   \eqn{2mw_{g,T}\sqrt{cT\gamma_T}}{2 m w_g sqrt(c T gamma_T)} and, where the penalty is finite,
#'   \eqn{2w_T\sqrt{c\gamma_T\sum_t\rho_t^{-2}} + D\sum_t\rho_t^{-1}}{2 w_T sqrt(c gamma_T sum_t penalty(t)^-2) + D
#'   sum_t 1 / penalty(t)} more, \eqn{D = \max f - f(x^*)}{D = max f - f(x*)}; for a constant \eqn{\rho}{penalty} above
#'   the least exact one, `exact` \eqn{= \rho^*}{= rho*}, rather \eqn{2(w_T + \rho
#'   mw_{g,T})\sqrt{cT\gamma_T}/(\rho-\rho^*)}{2 (w_T + penalty m w_g) sqrt(c T gamma_T) / (penalty - rho*)}. All with
#'   probability \eqn{1-\delta}{1 - delta} if each of the \eqn{m+1} widths holds with
#'   \eqn{1-\delta/(m+1)}{1 - delta / (m + 1)}; a limit's own sum, with the `gain`, `noise_var`, `width` and `variance`
#'   of its outcome, is the regret's formula. Derived here.
#' * `"fade"` (`noise_var, arms, delta = 0.1, variance = 1`): the dynamic regret of [change_fade()] with
#'   `width_srinivas_finite(delta)` on arms, if \eqn{f} drifts as the kernel says: the formula of `"srinivas1"` with the
#'   **realised** information \eqn{I_T} for `gain` (`$information_gain()` after each round), with probability
#'   \eqn{1-\delta}{1 - delta} (derived here: given the past \eqn{f_t(x)} is normal with the posterior's mean and sd,
#'   whatever drifts). Linear in \eqn{T}, as \eqn{I_T} is.
#' * `"clip"` (`noise_var, B, moment, alpha = 1, delta = 0.1, variance = 1`): that of [width_clip()] with
#'   `rewards_clip(moment = , rounds = T)`.
#' * `"irgp"` (`noise_var, arms, variance = 1`): expected regret of [width_irgp()] and [policy_pims()],
#'   \eqn{\sqrt{c(2+2\log(n/2))T\gamma_T}}{sqrt(c (2 + 2 log(n / 2)) T gamma_T)} (Takeno et al. 2023, 2024).
#' * `"eims"` (`noise_var, arms, variance = 1, least = variance`): expected regret of [policy_eims()],
#'   \eqn{\sqrt{cT\gamma_T(D + 2\log(D+3) + \log(\frac{v}{v_0}(1+(T-1)v/\lambda)))}}{sqrt(c T gamma_T (D + 2 log(D + 3)
#'   + log((v / v0) (1 + (T - 1) v / lambda))))}, \eqn{D = 2+2\log(n/2)}{D = 2 + 2 log(n / 2)}, for
#'   \eqn{v_0\le k(x,x)\le v}{v0 <= k(x, x) <= v}, \eqn{v_0} = `least` (derived here, see [policies]).
#' * `"bpe"` (`noise_var, B, R, arms, delta = 0.1, variance = 1, wait = 0, variation = NULL, spacing = 0`): [bpe()],
#'   \eqn{2B\sqrt v}{2 B sqrt(v)} a round in the first batch, then \eqn{4w\bar\sigma}{4 w s}, \eqn{w} its
#'   [width_fixed()] and \eqn{\bar\sigma^2}{s^2} the smaller of \eqn{c\gamma_N/N}{c gamma_N / N} and
#'   \eqn{(2\lambda\gamma_N/\log 2)/(N-n_1)}{(2 lambda gamma_N / log(2)) / (N - n1)}, \eqn{N} the size of the batch
#'   before. The regret is against the best of the `arms` candidates. On a box or a search space the maximum may lie
#'   between them: `spacing` \eqn{= \eta}{= eta} is the largest kernel distance of a point of the domain from its
#'   nearest candidate, \eqn{\eta^2 = k(x,x) - 2k(x,x') + k(x',x')}{eta^2 = k(x, x) - 2 k(x, x') + k(x', x')}. It adds
#'   \eqn{BT\eta}{B T eta}, and the bound is then against the maximum over the domain, because
#'   \eqn{|f(x)-f(x')|\le B\eta}{|f(x) - f(x')| <= B eta}. With `spacing = 0` nothing is stated about points between the
#'   candidates. Late rewards: every batch lasts `wait` rounds longer (a number, or one per batch), which are the
#'   largest of its delays. With `variation` \eqn{= V_T}{= V_T}: the dynamic regret of its restarts, every \eqn{H}
#'   points, \eqn{2(b-1)HV_T}{2 (b - 1) H V_T} more (original result, not peer-reviewed).
#' * `"mvr"` (`noise_var, B, R, arms, delta = 0.1, looks = 1, variance = 1`): the **simple** regret of the largest
#'   posterior mean after \eqn{N} rounds of [policy_variance()], with probability \eqn{1-\delta}{1 - delta} at `looks`
#'   rounds fixed beforehand: \eqn{2w\max_x\sigma_N(x)}{2 w max sd_N}, \eqn{w} of [width_fixed()], and
#'   \eqn{\max\sigma_N^2}{max sd_N^2} at most \eqn{c\gamma_N/N}{c gamma_N / N} (Vakili et al. 2021) or
#'   \eqn{(2\lambda\gamma_N/\log 2)/(N-n_1)}{(2 lambda gamma_N / log(2)) / (N - n1)}, \eqn{n_1} as above, whichever is
#'   smaller. What a given domain really needs: [plan_experiments()].
#' * `"lse"` (`noise_var, width, variance = 1`): the accuracy to which [gp_lse()] has labelled everything by round
#'   \eqn{T}, \eqn{w_T\sqrt{c\gamma_T/T}}{w_T sqrt(c gamma_T / T)}; `"stable"` (the same): how far [stable_opt()] is
#'   from the best worst case, twice that. `"straddle"` (`noise_var, variance = 1`): the expected loss of labels,
#'   averaged over rounds, \eqn{\sqrt{2c\gamma_T/T}}{sqrt(2 c gamma_T / T)}.
#' * `"gp_ucb_pe"` (`noise_var, width, guard, variance = 1`): all queries of [gp_ucb_pe()], in batches or with delays,
#'   \eqn{5e^Gw_T\sqrt{cT\gamma_T}}{5 exp(G) w_T sqrt(c T gamma_T)}, where pending queries never hold more than `guard`
#'   \eqn{= G} nats (batches of \eqn{K}: \eqn{\gamma_{K-1}}{gamma_(K-1)}). An explored place has
#'   \eqn{f(x^*) - f(x)\le 2w\sigma(x^*) + 3w\sigma(x)}{f(x*) - f(x) <= 2 w sd(x*) + 3 w sd(x)}, and \eqn{x^*} was there
#'   to be explored. (For the paper's, of the best of each batch, a step could not be checked.)
#' * `"balanced_lengthscale"` (`B, R, d, growth, delta = 0.1, constant = 1, noise_var = NULL`) and
#'   `"adaptive_lengthscale"` (and `norm_growth = function(t) 1`): orders of [gp_ucb_lengthscale()] with an unknown
#'   `constant`, \eqn{\max(1, d\log g(t))}{max(1, d log g(t))} and \eqn{b(t)g(t)^d}{b(t) g(t)^d} times `"igp_ucb"` with
#'   the true lengthscale's `gain` and norm `B`.
#'
#' Names of presets do where they have one theorem of another name (`"gp_ucb_sdf"`); for those without a bound here,
#' [rahbo()] and [safe_opt()] among them, the error says why.
#'
#' Bounds are loose by orders of magnitude: what they show is the growth.
#'
#' @param theorem which theorem, see Details.
#' @param rounds \eqn{T}, at most 1e7: the bound is given at rounds `1..rounds`.
#' @param gain \eqn{\gamma_1, \dots, \gamma_T}{gamma_1, ..., gamma_T}: a nondecreasing vector of at least
#' `rounds`
#'   numbers, such as an upper bound of [information_gain()] gives (for `"constraints_..."`, `epoch`
#'   numbers are enough); one
#'   number for all; or a function of \eqn{s \ge 1}{s >= 1}. Take \eqn{\gamma}{gamma} for the theorem's
#'   \eqn{\lambda}{lambda}.
#' @param ... the theorem's own arguments by name, see Details. `delta` is always the probability of
#' failure, `B` a bound of
#'   the RKHS norm, `R` the sub-Gaussian scale of the noise (its standard deviation if Gaussian).
#' @return A numeric vector of length `rounds`, in units of the reward (of the constraint, for a violation).
#' @section Errors: a `gpbandits_error` for an argument that is missing, out of range, or unknown to the
#' theorem.
#' @section Warnings: of class `gpbandits_outside_theorem` where the arguments are outside the theorem's conditions:
#'   `suppressWarnings(..., classes = "gpbandits_outside_theorem")` silences them.
#' @references Srinivas, Krause, Kakade, Seeger (2010); Chowdhury and Gopalan (2017); Verma, Dai, Low (2022);
#'   Avanesov; Shi and Eryilmaz (2022).
#' @seealso [information_gain()], [run_bandit()].
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' gain <- information_gain(kernel_se(0.2), x, noise_var = 0.1, rounds = 100, method = "spectral")
#' bound <- regret_bound("srinivas1", 100, gain, noise_var = 0.1, arms = 50)
#' plot(bound, type = "l", xlab = "round", ylab = "regret at most")
#' lines(regret_bound("igp_ucb", 100, gain, B = 1, R = 0.1), lty = 2)
#' regret_bound("cpd", 5, nu = 2.5, d = 1, Delta = 1, change_points = 2)
#' # outside the theorem, which needs lambda > 1: a warning
#' try(regret_bound("sdf", 100, gain, noise_var = 0.1, B = 1, R = 0.1, B_y = 1, m = 6, rho = 0.9)[100])
#' @export
regret_bound <- function(theorem = c("srinivas1", "srinivas2", "srinivas3", "igp_ucb", "gp_ts",
                                     "sdf", "ts_sdf", "sdf_context", "ts_sdf_context", "cpd",
                                     "cpd_finite", "constraints_noiseless", "constraints_noisy", "ucb", "glm",
                                     "duel", "penalty", "fade", "clip", "irgp", "eims", "straddle", "lse",
                                     "stable", "bpe", "mvr", "gp_ucb_pe",
                                     "balanced_lengthscale", "adaptive_lengthscale"),
                         rounds, gain, ...) {
  theorem <- check_choice(theorem_of_preset(theorem), names(regret_theorems()), "theorem")
  rounds <- check_count(rounds, upper = most_bounded)
  formula <- regret_theorems()[[theorem]]
  given <- list(...)
  known <- setdiff(names(formals(formula)), c("rounds", "gain"))
  check_theorem_arguments(given, known, theorem)
  # (A rate without its constant takes no gain.)
  is_rate <- theorem == "cpd_finite" && missing(gain) && is.null(given$constant)
  if (is_rate || !"gain" %in% names(formals(formula))) {
    return(do.call(formula, c(list(rounds = rounds), given), quote = TRUE))
  }
  needed <- rounds
  if (startsWith(theorem, "constraints")) needed <- min(rounds, check_count(given$epoch, "epoch"))
  gain <- gain_values(if (missing(gain)) NULL else gain, needed)
  do.call(formula, c(list(rounds = rounds, gain = gain), given), quote = TRUE)
}

check_theorem_arguments <- function(given, known, theorem) {
  names <- names(given)
  if (length(given) && (is.null(names) || !all(nzchar(names)))) {
    stop_argument("...", "a value without a name", paste("named:", paste(known, collapse = ", ")))
  }
  unknown <- setdiff(names, known)
  if (length(unknown)) {
    stop_argument(unknown[1], sprintf("an argument of theorem \"%s\"", theorem),
                  paste("one of", paste0("`", known, "`", collapse = ", ")))
  }
  if (anyDuplicated(names)) stop_argument(names[anyDuplicated(names)], "given twice", "given once")
}

# gamma_0..gamma_rounds.
gain_values <- function(gain, rounds) {
  allowed <- sprintf("%g nondecreasing numbers >= 0, one such number, or a function of s", rounds)
  if (is.null(gain)) stop_argument("gain", "missing", allowed)
  if (is.function(gain)) {
    f <- gain
    gain <- vapply(seq_len(rounds), function(s) {
      value <- call_user(f(s), "gain", sprintf("at s = %d", s))
      if (!is_number(value) || length(value) != 1) {
        stop_argument("gain", sprintf("a function that returned %s at %d", describe(value), s), allowed)
      }
      as.double(value)
    }, 0)
  }
  if (!is_number(gain)) stop_argument("gain", describe(gain), allowed)
  if (length(gain) == 1) gain <- rep(as.double(gain), rounds)
  gain <- as.double(gain)
  if (length(gain) < rounds || !all(is.finite(gain)) || any(gain < 0) ||
      any(diff(gain) < -1e-8 * max(gain))) {
    stop_argument("gain", describe(gain), allowed)
  }
  c(0, gain[seq_len(rounds)])
}

# ---- the theorems: rounds, gain = gamma_0..gamma_rounds ----------------------

regret_srinivas <- function(rounds, gain, beta, noise_var, variance) {
  noise_var <- check_positive(noise_var, "noise_var")
  variance <- check_positive(variance, "variance")
  c1 <- 8 * variance / log1p(variance / noise_var)
  sqrt(c1 * seq_len(rounds) * beta * gain[-1])
}

regret_srinivas1 <- function(rounds, gain, noise_var, arms, delta = 0.1, variance = 1) {
  arms <- check_count(arms)
  delta <- check_delta(delta)
  t <- seq_len(rounds)
  regret_srinivas(rounds, gain, 2 * log(arms * t^2 * pi^2 / (6 * delta)), noise_var, variance)
}

regret_srinivas2 <- function(rounds, gain, noise_var, a, b, side, d, delta = 0.1, variance = 1) {
  a <- check_positive(a)
  b <- check_positive(b)
  side <- check_positive(side)
  d <- check_count(d)
  delta <- check_delta(delta)
  if (4 * d * a <= delta) stop_argument("a", describe(a), "more than delta / (4 d)")
  t <- seq_len(rounds)
  beta <- 2 * log(2 * t^2 * pi^2 / (3 * delta)) +
    2 * d * log(pmax(1, t^2 * d * b * side * sqrt(log(4 * d * a / delta))))
  regret_srinivas(rounds, gain, beta, noise_var, variance) + 2
}

regret_srinivas3 <- function(rounds, gain, noise_var, B, delta = 0.1, variance = 1, printed = FALSE) {
  B <- check_number(B, lower = 0)
  delta <- check_delta(delta)
  gamma <- gain[seq_len(rounds) + check_flag(printed)]
  beta <- 2 * B^2 + 300 * gamma * log(seq_len(rounds) / delta)^3
  regret_srinivas(rounds, gain, beta, noise_var, variance)
}

anti_concentration <- 1 / (4 * exp(1) * sqrt(pi))

regret_gp_ts <- function(rounds, gain, B, R, arms = NULL, d = NULL, side = NULL, L = NULL,
                         delta = 0.1, noise_var = NULL) {
  check_fixed_regulariser(noise_var, rounds, "Theorem 4 of Chowdhury and Gopalan", "T")
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  delta <- check_delta(delta)
  t <- seq_len(rounds)
  log_size <- log_discretisation(t, B, arms, d, side, L)
  c_t <- improved_width(rounds, gain, B, R, delta / 2) * (1 + sqrt(2 * (log_size + 2 * log(t))))
  11 * c_t / anti_concentration * sum_of_sd(t, gain[-1]) + (2 * B + 1) * pi^2 / 6 +
    (4 * B + 11) * c_t / anti_concentration * sqrt(2 * t * log(2 / delta))
}

# log |D_t|: the arms, or the discretisation of [0, side]^d (at least one point).
log_discretisation <- function(t, B, arms, d, side, L) {
  if (!is.null(arms)) {
    if (!is.null(c(d, side, L))) stop_argument("arms", "given with d, side or L", "given alone")
    return(rep_len(log(check_count(arms, "arms")), length(t)))
  }
  if (is.null(d) && is.null(side) && is.null(L)) stop_argument("arms", "missing", "given, or all of d, side, L")
  d <- check_count(d, "d")
  side <- check_positive(side, "side")
  L <- check_positive(L, "L")
  pmax(0, d * log(B * L * side * d * t^2))
}

# What the theorems of Verma et al. bound: sum of nu_t sd_{t-1}(x_t).
delayed_sum <- function(rounds, gain, p, beta) {
  c1 <- sqrt(2 * p$variance / log1p(p$variance / p$noise_var))
  c1 * beta * sqrt(seq_len(rounds) * gain[-1]) + p$m * p$B_y / p$sum_factor * c1^2 * gain[-1]
}

check_delays <- function(noise_var, B, R, B_y, m, rho, delta, variance, any_noise_var) {
  p <- list(noise_var = check_positive(noise_var, "noise_var"), B = check_number(B, "B", lower = 0),
            R = check_number(R, "R", lower = 0), B_y = check_number(B_y, "B_y", lower = 0),
            m = check_count(m, "m", lower = 0),
            rho = check_number(rho, "rho", lower = 0, upper = 1, open_lower = TRUE),
            delta = check_delta(delta), variance = check_positive(variance, "variance"))
  # Twice the proof of Theorem 1 drops 1 / sqrt(lambda).
  p$sum_factor <- if (check_flag(any_noise_var)) p$noise_var else 1
  p$noise_scale <- (p$R + p$B_y) / sqrt(p$sum_factor)
  if (!any_noise_var && (p$noise_var <= 1 || p$variance > 1)) {
    warn_outside_theorem("Theorem 1 of Verma et al.", "`noise_var` > 1 and k(x, x) <= 1 (or `any_noise_var = TRUE`)",
                         sprintf("noise_var = %.4g, variance = %.4g", p$noise_var, p$variance))
  }
  p
}

regret_sdf <- function(rounds, gain, noise_var, B, R, B_y, m, rho, delta = 0.1, variance = 1, any_noise_var = FALSE) {
  p <- check_delays(noise_var, B, R, B_y, m, rho, delta, variance, any_noise_var)
  beta <- delayed_width(rounds, gain, p, p$delta / 2)
  2 / p$rho * delayed_sum(rounds, gain, p, beta)
}

delayed_width <- function(rounds, gain, p, failure) {
  improved_width(rounds, gain, p$B, p$noise_scale, failure)
}

regret_ts_sdf <- function(rounds, gain, noise_var, B, R, B_y, m, rho, arms, delta = 0.1, variance = 1,
                          any_noise_var = FALSE) {
  regret_ts_sdf_context(rounds, gain, noise_var, B, R, B_y, m, rho, arms, 1, delta, variance, any_noise_var)
}

regret_ts_sdf_context <- function(rounds, gain, noise_var, B, R, B_y, m, rho, arms, contexts, delta = 0.1,
                                  variance = 1, any_noise_var = FALSE) {
  p <- check_delays(noise_var, B, R, B_y, m, rho, delta, variance, any_noise_var)
  pairs <- check_count(arms) * check_count(contexts)
  t <- seq_len(rounds)
  beta <- delayed_width(rounds, gain, p, p$delta / 4)
  spread <- 1 + sqrt(2 * log(pairs * t^2))
  c_t <- (p$m * p$B_y / p$sum_factor * sqrt(p$variance) + beta) * spread
  share <- 1 / (p$rho * anti_concentration)
  11 * share * spread * delayed_sum(rounds, gain, p, beta) +
    share * (4 * p$B + 11 * c_t) * sqrt(2 * t * log(2 / p$delta)) + p$B * pi^2 / 3
}

# Rounds as whole epochs and the rest.
split_epochs <- function(rounds, epoch, epochs) {
  epoch <- check_count(epoch, "epoch")
  needed <- ceiling(rounds / epoch)
  epochs <- if (is.null(epochs)) needed else check_count(epochs, "epochs", lower = needed)
  t <- seq_len(rounds)
  list(size = epoch, count = epochs, whole = t %/% epoch, rest = t %% epoch)
}

regret_constraints_noiseless <- function(rounds, gain, B, R, epoch, delta = 0.1, epochs = NULL,
                                         quantity = "regret", gap, count = 1,
                                         penalty_inverse = log, noise_var = NULL) {
  check_fixed_regulariser(noise_var, check_count(epoch), "Theorem 1 of Shi and Eryilmaz", "S")
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  delta <- check_delta(delta)
  quantity <- check_choice(quantity, c("regret", "violation"))
  epoch <- split_epochs(rounds, epoch, epochs)
  s <- seq_along(gain) - 1
  # Lemma 1 there: what an epoch has cost after s = 0..S rounds.
  cost <- 4 * (B + R * sqrt(2 * (gain + 1 + log(epoch$count / delta)))) * sqrt((s + 2) * gain)
  full <- if (epoch$size < length(cost)) cost[epoch$size + 1] else 0
  if (quantity == "regret") return(epoch$whole * full + cost[epoch$rest + 1])
  gap <- check_number(gap, lower = 0)
  count <- check_count(count)
  inverse <- function(y) vapply(y, check_function(penalty_inverse, "penalty_inverse"), 0)
  rest <- ifelse(epoch$rest > 0, cost[epoch$rest + 1] / pmax(1, epoch$rest) + gap, 0)
  sqrt(count) * (epoch$size * inverse(1 + epoch$whole * (gap + full / epoch$size)) +
                   epoch$rest * inverse(1 + rest))
}

regret_constraints_noisy <- function(rounds, gain, B, R, epoch, step, Q, M, slater, count = 1,
                                     delta = 0.1, epochs = NULL, quantity = "regret", noise_var = NULL) {
  check_fixed_regulariser(noise_var, check_count(epoch), "Theorem 2 of Shi and Eryilmaz", "S")
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  step <- check_positive(step)
  Q <- check_number(Q, lower = 0)
  M <- check_number(M, lower = 0)
  slater <- check_positive(slater)
  count <- check_count(count)
  delta <- check_delta(delta)
  quantity <- check_choice(quantity, c("regret", "violation"))
  epoch <- split_epochs(rounds, epoch, epochs)
  S <- epoch$size
  gamma <- gain[min(S, rounds) + 1]
  a <- sqrt(4 * count) + sqrt(log(2 * epoch$count / delta))
  width <- R * sqrt(2 * (gamma + 1 + log(2 * epoch$count / delta)))
  spread <- sqrt((S + 2) * gamma)
  kappa <- multiplier_bound(S, B, R, a, width, spread, step, Q, M, slater, count)
  if (quantity == "violation") {
    return(ifelse(epoch$whole > 0, S * kappa / step, 0) + 2 * R * a * sqrt(S) * epoch$whole +
             sqrt(count) * M * epoch$rest)
  }
  if (is.infinite(kappa)) return(ifelse(epoch$whole > 0, Inf, 2 * Q * epoch$rest))
  per_epoch <- 4 * (B + sqrt(1 + kappa^2) * width) * spread + count * S * step * M^2 +
    4 * step * R^2 * a^2 + 2 * R * kappa * a * sqrt(S)
  epoch$whole * per_epoch + 2 * Q * epoch$rest
}

# Equation 33; Inf if Slater's condition is too weak for the theorem.
multiplier_bound <- function(S, B, R, a, width, spread, step, Q, M, slater, count) {
  room <- slater - 4 * width * spread / S - 2 * R * a / sqrt(S)
  if (room <= 0) return(Inf)
  step * (sqrt(count) * M + 2 * R * a / sqrt(S)) +
    (2 * Q + 4 * (B + width) * spread / S + count * step * M^2 + 4 * step * R^2 * a^2 / S) / room
}

regret_theorems <- function() list(
  srinivas1 = regret_srinivas1, srinivas2 = regret_srinivas2, srinivas3 = regret_srinivas3,
  igp_ucb = regret_igp_ucb, gp_ts = regret_gp_ts, sdf = regret_sdf, ts_sdf = regret_ts_sdf,
  sdf_context = regret_sdf, ts_sdf_context = regret_ts_sdf_context, cpd = regret_cpd,
  cpd_finite = regret_cpd_finite, constraints_noiseless = regret_constraints_noiseless, glm = regret_glm,
  duel = regret_duel,
  constraints_noisy = regret_constraints_noisy, ucb = regret_ucb, penalty = regret_penalty,
  fade = regret_srinivas1,
  clip = regret_clip, irgp = regret_irgp, eims = regret_eims, straddle = regret_straddle, lse = regret_lse,
  stable = regret_stable, bpe = regret_bpe, mvr = regret_mvr, gp_ucb_pe = regret_ucb_pe,
  balanced_lengthscale = regret_balanced,
  adaptive_lengthscale = regret_adaptive
)
