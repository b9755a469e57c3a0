# Help page: proven guarantees of all algorithms. Layer: bandit.

#' Theoretical guarantees of all algorithms
#'
#' These tables list, for every algorithm in the package, which regret bound or other guarantee is proven. Conditions
#' and formulas are on the help pages, and the bounds in [regret_bound()].
#'
#' No guarantee covers hyperparameters that are fitted to the same data. On a box the theorems assume that every
#' acquisition function is maximised exactly; the package searches for its maximum numerically. In the tables
#'
#' * \eqn{T} is the number of rounds, and \eqn{\gamma_T}{gamma_T} the maximum information gain;
#' * "prior": \eqn{f} is drawn from the Gaussian-process prior;
#' * "norm": the RKHS norm of \eqn{f} is bounded, and the noise is sub-Gaussian;
#' * w.p. is "with probability", and \eqn{\delta}{delta} the failure probability;
#' * "original": an original result of this package, not peer-reviewed. The article "Derivations" has its statement,
#'   assumptions and proof;
#' * a width is a confidence width, the multiplier of the posterior standard deviation ([widths]).
#'
#' **The maximum, one query at a time**
#'
#' \tabular{lllll}{
#'   algorithm \tab setting \tab proven \tab help page \tab source \cr
#'   GP-UCB \tab prior, arms or a box \tab regret \eqn{\sqrt{T\beta_T\gamma_T}}{sqrt(T beta_T gamma_T)}, w.p.
#'     \eqn{1-\delta}{1 - delta} \tab [gp_ucb()] \tab Srinivas 2010 \cr
#'   GP-UCB \tab prior, a box, SE or smooth Matern kernel \tab regret \eqn{\sqrt T}{sqrt(T)} up to logarithms, w.p.
#'     \eqn{1-\delta}{1 - delta}; its constants depend on the function drawn \tab [gp_ucb()] \tab Iwazaki 2025
#'     (2506.01393, abstract) \cr
#'   EI, incumbent the best posterior mean \tab prior, SE or Matern kernel \tab average regret tends to 0 \tab [gp_ei()]
#'     \tab Wang 2025 \cr
#'   PI \tab \tab none \tab [policy_pi()] \tab \cr
#'   KernelUCB \tab norm \tab of its Sup version only \tab [gp_ucb()] \tab Valko 2013 \cr
#'   IGP-UCB, GP-TS \tab norm \tab \eqn{\sqrt T(B\sqrt{\gamma_T} + \gamma_T)}{sqrt(T) (B sqrt(gamma_T) + gamma_T)}, with
#'     logarithms for TS \tab [igp_ucb()], [gp_ts()] \tab Chowdhury 2017 \cr
#'   sharper widths \tab norm \tab the same, for every \eqn{\lambda}{lambda}, from the points played \tab
#'   [width_realized()],
#'     [width_amm()], [width_dmm()] \tab Abbasi-Yadkori 2013, Flynn 2025; averaging original \cr
#'   GP-UCB, rewards without noise \tab norm \tab bounded regret for SE and for Matern with
#'     \eqn{\nu > d}{nu > d} \tab `width_amm(B, R = 0)`: [widths_rkhs] \tab Iwazaki 2025; constants original \cr
#'   growing ridge \tab norm, Matern \tab sublinear for every smoothness \tab [ridge_rate()] \tab Whitehouse 2023 \cr
#'   IRGP-UCB, PIMS \tab prior, arms \tab expected regret, nothing to tune \tab [width_irgp()], [policy_pims()] \tab
#'     Takeno 2023, 2024 \cr
#'   GP-EIMS \tab prior, arms \tab expected regret, nothing to tune \tab [policy_eims()] \tab Takeno 2025; bound
#'     original \cr
#'   maximum variance reduction \tab norm, points independent of rewards \tab simple regret
#'     \eqn{\sqrt{\gamma_T/T}}{sqrt(gamma_T / T)}, and the sufficient number of experiments \tab [policy_variance()],
#'     [width_fixed()], [plan_experiments()] \tab Vakili 2021; width original \cr
#'   the same, rewards without noise \tab norm \tab simple regret \eqn{2Bs_T}{2 B s_T} of `"noise_free"`, of the optimal
#'     order up to logarithms \tab [policy_variance()], [regret_bounds_widths] \tab Iwazaki and Takeno 2025 (abstract);
#'     constants original \cr
#'   the same, known noise variances by round \tab norm \tab a rate that shrinks with the variances; no bound here \tab
#'     [policy_variance()] \tab Iwazaki and Takeno 2025 (abstract) \cr
#'   MINI \tab as UCB \tab factor \eqn{C}, fewer switches \tab [policy_repeats()] \tab Calandriello 2022 \cr
#'   max-value entropy, knowledge gradient \tab \tab none \tab [policy_mes()], [policy_kg()] \tab Wang 2017, Frazier
#'     2009 \cr
#'   search in one call \tab hyperparameters fitted \tab none \tab [maximize_bandit()], [auto_bandit()] \tab \cr
#'   EI per cost \tab \tab none \tab [policy_ei()], [gp_ei()] \tab Snoek 2012 \cr
#' }
#'
#' **Wrong or unknown models**
#'
#' \tabular{lllll}{
#'   algorithm \tab setting \tab proven \tab help page \tab source \cr
#'   LB-GP-UCB \tab norm, lengthscale unknown \tab \eqn{d\log g(T)}{d log g(T)} times that of the true one \tab
#'     [gp_ucb_lengthscale()] \tab Ziomek 2024 \cr
#'   A-GP-UCB \tab norm, lengthscale and norm unknown \tab \eqn{b(T)g(T)^d} times \tab [gp_ucb_lengthscale()] \tab
#'     Berkenkamp 2019 \cr
#'   EC-GP-UCB \tab model wrong by \eqn{\epsilon}{epsilon} \tab regret plus
#'     \eqn{\epsilon T\sqrt{\gamma_T}}{epsilon T sqrt(gamma_T)} \tab [width_ec()] \tab Bogunovic 2021 \cr
#'   corrupted rewards \tab as its base, total corruption \eqn{C} known \tab intervals wider by
#'     \eqn{C/\sqrt\lambda}{C / sqrt(lambda)} \tab [width_corrupt()] \tab original; order of Bogunovic 2020 \cr
#'   wrong rewards of any size \tab norm, at most \eqn{n} of them, rewards within a plateau \tab intervals wider by
#'     \eqn{M\sqrt n}{M sqrt(n)}, regret \tab [rewards-plateau] \tab original; weights of Altamirano 2024, Ezzerg 2025
#'     \cr
#'   clipped rewards \tab norm, heavy tails \tab \eqn{T^{(2+\alpha)/(2(1+\alpha))}}{T^((2 + alpha) / (2 (1 + alpha)))}
#'     \tab [rewards-clipped] \tab after Ray Chowdhury 2019 \cr
#'   StableOpt \tab inputs perturbed \tab near the best worst case \tab [stable_opt()] \tab Bogunovic 2018 \cr
#'   RAHBO \tab noise unknown, risk-averse \tab see the paper \tab [rahbo()] \tab Makarova 2021 \cr
#' }
#'
#' **Non-Gaussian rewards**
#'
#' \tabular{lllll}{
#'   algorithm \tab setting \tab proven \tab help page \tab source \cr
#'   rewards in an interval \tab norm \tab as any sub-Gaussian noise \tab [width_amm()] \tab Flynn 2025 \cr
#'   UCB on successes, counts \tab norm of the latent \eqn{f} \tab intervals at all times; regret \tab [width_glm()],
#'     [regret_bound()] \tab original \cr
#'   pairwise comparisons, against the last point \tab norm, logistic, no ties \tab the same, and a bound of the
#'     recommended point's loss \tab [policy_duel()] \tab choice Xu 2024; original \cr
#'   pairwise comparisons as a game \tab logistic \tab none for this posterior \tab [policy_duel()] \tab Pasztor 2024
#'   \cr
#'   levels, ties, rankings, outliers by Student's t \tab \tab none \tab [rewards], [rewards_preferences()] \tab \cr
#'   heteroscedastic noise, fitted \tab \tab none \tab [refit_every()] \tab Binois 2018 \cr
#' }
#'
#' **Late rewards and batches**
#'
#' \tabular{lllll}{
#'   algorithm \tab setting \tab proven \tab help page \tab source \cr
#'   GP-UCB-SDF, GP-TS-SDF \tab norm, stochastic delays, contexts \tab regret over \eqn{\rho_m}{rho_m} \tab
#'     [gp_ucb_sdf()], [gp_ts_sdf()] \tab Verma 2022 \cr
#'   Asy-TS \tab \tab none \tab [gp_ucb_sdf()] \tab \cr
#'   GP-BUCB, GP-BTS \tab prior, batches \tab after an initialisation, or with a wider width \tab [gp_bucb()] \tab
#'     Desautels 2014 \cr
#'   GP-AUCB's guard \tab as UCB \tab factor \eqn{e^C}{exp(C)} \tab [pending_hallucinate()] \tab Desautels 2014 \cr
#'   GP-UCB-PE \tab prior, batches, arms \tab best of batch; all queries, delays too: factor \eqn{5e^G/2}{5 exp(G) / 2}
#'     \tab [gp_ucb_pe()] \tab Contal 2013; original \cr
#'   TS-RSR \tab prior, batches \tab see the paper; PIMS for single queries \tab [ts_rsr()] \tab Ren 2024 \cr
#'   BPE \tab norm, batches, arms \tab \eqn{\sqrt{T\gamma_T\log n}}{sqrt(T gamma_T log n)}; on a box only against the
#'     best of \eqn{n} candidates \tab [bpe()] \tab Li 2022 \cr
#'   BPE, delays that may depend on rewards \tab norm, arms \tab the same, plus the wait of each batch \tab [bpe()] \tab
#'     after Vakili 2023; original \cr
#'   local penalisation \tab batches \tab none \tab [pending_penalize()] \tab Gonzalez 2016 \cr
#' }
#'
#' **Functions that change**
#'
#' \tabular{lllll}{
#'   algorithm \tab setting \tab proven \tab help page \tab source \cr
#'   GP-UCB-CPD \tab abrupt changes \tab a rate with unknown constants \tab [gp_ucb_cpd()] \tab Avanesov \cr
#'   restarts, windows, weights \tab bounded variation \tab dynamic regret \tab [gp_ucb_drift()] \tab Zhou 2021, Deng
#'     2022 \cr
#'   TV-GP-UCB \tab a prior that drifts, arms \tab regret \eqn{\sqrt{T\beta_TI_T}}{sqrt(T beta_T I_T)}, realised
#'     information, linear with a small slope \tab [gp_ucb_drift()] \tab Bogunovic 2016; original \cr
#'   event triggers \tab prior \tab without a change no restart, w.p. \eqn{1-\delta}{1 - delta}; a large change at the
#'     next point is found \tab [change_detect()] \tab rule Brunzema 2025, whose regret bounds we could not read;
#'     original \cr
#'   a cover (DAL) \tab sub-Gaussian noise, any policy \tab restarts w.p. \eqn{\delta}{delta} without a change; delay of
#'     detection at covered points \tab [change_detect()] with `cover` \tab after Gerogiannis 2025; original \cr
#'   R-PERP's schedule \tab norm, arms, total variation known \tab dynamic regret
#'     \eqn{\gamma_T^{1/3}V_T^{1/3}T^{2/3}}{gamma_T^(1/3) V_T^(1/3) T^(2/3)} \tab [bpe()] with `variation` \tab Iwazaki
#'     2025 (abstract); original \cr
#'   designs in random order \tab norm, drift bounded \tab intervals for the mean of \eqn{f} over the design \tab
#'     [width_fixed()] \tab after Iwazaki 2025; original \cr
#' }
#'
#' **Constraints and safety**
#'
#' \tabular{lllll}{
#'   algorithm \tab setting \tab proven \tab help page \tab source \cr
#'   GP-UCB, constraints without noise \tab norm, fresh epochs (`reuse = FALSE`) \tab average regret and violation fall
#'     if \eqn{L} and \eqn{S} grow and \eqn{\gamma_S+\log(L/\delta)=o(\sqrt S)}{gamma_S + log(L / delta) = o(sqrt(S))}
#'     \tab [gp_ucb_noiseless_constraints()] \tab Shi 2022 \cr
#'   GP-UCB, constraints with noise \tab the same, Slater's condition, \eqn{f} and \eqn{g} bounded \tab the same \tab
#'     [gp_ucb_noisy_constraints()] \tab Shi 2022 \cr
#'   CKB \tab norm, Slater's condition \tab regret and soft violation sublinear: rounds may cancel \tab
#'     [baseline_constrained()] \tab Zhou 2022 \cr
#'   CONFIG, penalties like \eqn{\sqrt t}{sqrt(t)} or exact ones \tab widths that hold \tab every round's regret below
#'     its width; hard violation sublinear \tab [gp_ucb()] with `outcomes`, [baseline_constrained()] \tab Xu 2023, Lu
#'     2022; original \cr
#'   RPOL, penalties that grow with the violations \tab the same \tab the same \tab [baseline_constrained()] \tab Guo
#'     2023 \cr
#'   RPOL with late or changing values \tab delays within \eqn{m} rounds w.p. \eqn{\rho_m}{rho_m}; bounded variation
#'     \tab the same, over \eqn{\rho_m}{rho_m}; dynamic regret with restarts \tab [baseline_constrained()] \tab Guo
#'     2023; original \cr
#'   bandit OCO, ADMMBO \tab \tab see their pages \tab [bandit_oco], [admmbo] \tab \cr
#'   SafeOpt without a model (LoSBO, `by = "data"`) \tab seed, Lipschitz and noise bounds \tab no unsafe play, ever;
#'   sub-Gaussian noise: w.p.
#'     \eqn{1-\delta}{1 - delta} \tab [safe_opt()] \tab rule Fiedler 2024; original \cr
#'   lower bound of a norm \tab norm \tab refutes a bound, certifies none \tab [norm_check()] \tab original, from Flynn
#'     2025 \cr
#'   SafeOpt, StageOpt \tab norm, seed that is safe \tab no unsafe play, w.p. \eqn{1-\delta}{1 - delta} \tab
#'     [safe_opt()] \tab Sui 2015, 2018 \cr
#' }
#'
#' **Level sets and stopping**
#'
#' | algorithm | setting | proven | help page | source |
#' |---|---|---|---|---|
#' | LSE | a width that holds | every label correct to within the accuracy | [gp_lse()] | Gotovos 2013 |
#' | randomised straddle | prior | average loss of labels | [policy_straddle()] | Inatsu 2024 |
#' | gap | a width that holds | regret of the point, at any time | [stop_gap()] | Makarova 2022 |
#' | probabilistic regret bound | prior | regret of the point, given the data | [stop_prb()] | Wilson 2024 |
#' | change of minimum simple regret | | a change only | [stop_emsr()] | Ishibashi 2023 |
#'
#' @seealso [bandit-combinations] for combinations of parts; [regret_bound()]; [widths].
#' @concept regret bound
#' @concept theory
#' @concept convergence
#' @concept no-regret
#' @examples
#' # The assumptions of a width's guarantee, in words:
#' b <- igp_ucb(1:5, kernel_se(1), noise_var = 1.1, B = 1, R = 0.1)
#' b$certificate()$assumptions
#' @name guarantees
NULL
