# Help page: proven guarantees of all algorithms. Layer: bandit.

#' What is proven, of all algorithms in the package
#'
#' One line for each: the setting, what is proven there, where it is in the package, and whose it is. Help pages have conditions and formulas, [regret_bound()] has the
#' bounds. \eqn{T} rounds, \eqn{\gamma}{gamma} the information gain, `prior`: \eqn{f} drawn from the prior; `norm`: RKHS norm of \eqn{f} bounded, noise sub-Gaussian. None
#' covers hyperparameters that are fitted to the same data.
#'
#' **The maximum, one query at a time**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | GP-UCB | prior, arms or a box | regret \eqn{\sqrt{T\beta_T\gamma_T}}{sqrt(T beta_T gamma_T)}, w.p. \eqn{1-\delta}{1 - delta} | [gp_ucb()] | Srinivas 2010 |
#' | EI, PI | | none | [gp_ei()], [policy_pi()] | |
#' | KernelUCB | norm | of its Sup version only | [gp_ucb()] | Valko 2013 |
#' | IGP-UCB, GP-TS | norm | \eqn{\sqrt T(B\sqrt{\gamma_T} + \gamma_T)}{sqrt(T) (B sqrt(gamma_T) + gamma_T)}, with logarithms for TS | [igp_ucb()], [gp_ts()] | Chowdhury 2017 |
#' | sharper widths | norm | the same, any \eqn{\lambda}{lambda}, from the points played | [width_realized()], [width_amm()], [width_dmm()] | Abbasi-Yadkori 2013, Flynn 2025; averaging derived |
#' | growing ridge | norm, Matern | sublinear for every smoothness | [ridge_rate()] | Whitehouse 2023 |
#' | IRGP-UCB, PIMS | prior, arms | expected regret, nothing to tune | [width_irgp()], [policy_pims()] | Takeno 2023, 2024 |
#' | GP-EIMS | prior, arms | expected regret, nothing to tune | [policy_eims()] | Takeno 2025; bound derived |
#' | maximum variance reduction | norm, points blind to rewards | simple regret \eqn{\sqrt{\gamma_T/T}}{sqrt(gamma_T / T)}, and how many experiments suffice | [policy_variance()], [width_fixed()], [plan_experiments()] | Vakili 2021; width derived |
#' | MINI | as UCB | factor \eqn{C}, fewer switches | [policy_repeats()] | Calandriello 2022 |
#' | max-value entropy, knowledge gradient | | none | [policy_mes()], [policy_kg()] | Wang 2017, Frazier 2009 |
#' | a search in one call | hyperparameters fitted | none | [maximize_bandit()], [auto_bandit()] | |
#' | EI per cost | | none | [policy_ei()], [gp_ei()] | Snoek 2012 |
#'
#' **Wrong or unknown models**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | LB-GP-UCB | norm, lengthscale unknown | \eqn{d\log g(T)} times that of the true one | [gp_ucb_lengthscale()] | Ziomek 2024 |
#' | A-GP-UCB | norm, lengthscale and norm unknown | \eqn{b(T)g(T)^d} times | [gp_ucb_lengthscale()] | Berkenkamp 2019 |
#' | EC-GP-UCB | model wrong by \eqn{\epsilon}{epsilon} | regret plus \eqn{\epsilon T\sqrt{\gamma_T}}{epsilon T sqrt(gamma_T)} | [width_ec()] | Bogunovic 2021 |
#' | corrupted rewards | as its base, total corruption \eqn{C} known | intervals wider by \eqn{C/\sqrt\lambda}{C / sqrt(lambda)} | [width_corrupt()] | derived; order of Bogunovic 2020 |
#' | clipped rewards | norm, heavy tails | \eqn{T^{(2+\alpha)/(2(1+\alpha))}}{T^((2 + alpha) / (2 (1 + alpha)))} | [rewards_clip()] | after Ray Chowdhury 2019 |
#' | StableOpt | inputs perturbed | near the best worst case | [stable_opt()] | Bogunovic 2018 |
#' | RAHBO | noise unknown, risk-averse | see the paper | [rahbo()] | Makarova 2021 |
#'
#' **Rewards that are no Gaussian readings**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | rewards in an interval | norm | as any sub-Gaussian noise | [width_amm()] | Flynn 2025 |
#' | UCB on successes, counts | norm of the latent \eqn{f} | intervals at all times; regret | [width_glm()], [regret_bound()] | derived |
#' | duels, against the last winner | norm, logistic, no ties | the same, and how far the recommended place is below the best | [policy_duel()] | choice Xu 2024; derived |
#' | duels as a game | logistic | none for this posterior | [policy_duel()] | Pasztor 2024 |
#' | levels, ties, rankings, outliers by Student's t | | none | [rewards], [rewards_rankings()] | |
#' | noise that varies, fitted | | none | [refit_every()] | Binois 2018 |
#'
#' **Late rewards and batches**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | GP-UCB-SDF, GP-TS-SDF | norm, stochastic delays, contexts | regret over \eqn{\rho_m}{rho_m} | [gp_ucb_sdf()], [gp_ts_sdf()] | Verma 2022 |
#' | Asy-TS | | none | [gp_ucb_sdf()] | |
#' | GP-BUCB, GP-BTS | prior, batches | after an initialisation, or with a wider width | [gp_bucb()] | Desautels 2014 |
#' | GP-AUCB's guard | as UCB | factor \eqn{e^C}{exp(C)} | [pending_hallucinate()] | Desautels 2014 |
#' | GP-UCB-PE | prior, batches, arms | best of batch; all queries, delays too: factor \eqn{5e^G/2}{5 exp(G) / 2} | [gp_ucb_pe()] | Contal 2013; derived |
#' | TS-RSR | prior, batches | see the paper; PIMS one by one | [ts_rsr()] | Ren 2024 |
#' | BPE | norm, batches, arms | \eqn{\sqrt{T\gamma_T\log n}}{sqrt(T gamma_T log n)}; on a box only against the best of \eqn{n} candidates | [bpe()] | Li 2022 |
#' | BPE, delays that may depend on rewards | norm, arms | the same, plus the wait of each batch | [bpe()] | after Vakili 2023; derived |
#' | local penalisation | batches | none | [pending_penalize()] | Gonzalez 2016 |
#'
#' **Change**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | GP-UCB-CPD | abrupt changes | a rate with unknown constants | [gp_ucb_cpd()] | Avanesov |
#' | restarts, windows, weights | bounded variation | dynamic regret | [gp_ucb_drift()] | Zhou 2021, Deng 2022 |
#' | TV-GP-UCB | a prior that drifts, arms | regret \eqn{\sqrt{T\beta_TI_T}}{sqrt(T beta_T I_T)}, realised information, linear with a small slope | [gp_ucb_drift()] | Bogunovic 2016; derived |
#' | event triggers | prior, no change | no restart, w.p. \eqn{1-\delta}{1 - delta}; nothing of changes | [change_event()] | rule Brunzema; derived |
#' | R-PERP's schedule | norm, arms, total variation known | dynamic regret \eqn{\gamma_T^{1/3}V_T^{1/3}T^{2/3}}{gamma_T^(1/3) V_T^(1/3) T^(2/3)} | [bpe()] with `variation` | Iwazaki 2024 (abstract); derived |
#' | designs in random order | norm, drift bounded | intervals for the mean of \eqn{f} over the design | [width_fixed()] | after Iwazaki 2024; derived |
#'
#' **Constraints and safety**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | GP-UCB, constraints without noise | norm, fresh epochs (`reuse = FALSE`) | average regret and violation fall if \eqn{L} and \eqn{S} grow and \eqn{\gamma_S+\log(L/\delta)=o(\sqrt S)}{gamma_S + log(L / delta) = o(sqrt(S))} | [gp_ucb_noiseless_constraints()] | Shi 2022 |
#' | GP-UCB, constraints with noise | the same, Slater's condition, \eqn{f} and \eqn{g} bounded | the same | [gp_ucb_noisy_constraints()] | Shi 2022 |
#' | CKB | norm, Slater's condition | regret and soft violation sublinear: rounds may cancel | [baseline_constrained()] | Zhou 2022 |
#' | CONFIG, penalties like \eqn{\sqrt t}{sqrt(t)} or exact ones | widths that hold | every round's regret below its width; hard violation sublinear | [gp_ucb()] with `outcomes`, [baseline_constrained()] | Xu 2023, Lu 2022; derived |
#' | bandit OCO, ADMMBO | | see their pages | [bandit_oco], [admmbo] | |
#' | SafeOpt by data (LoSBO) | seed, Lipschitz and noise bounds | no unsafe play, ever; sub-Gaussian noise: w.p. \eqn{1-\delta}{1 - delta} | [safe_opt()] | rule Fiedler 2024; derived |
#' | a norm's lower bound | norm | refutes a bound, certifies none | [norm_check()] | derived from Flynn 2025 |
#' | SafeOpt, StageOpt | norm, seed known to be safe | no unsafe play, w.p. \eqn{1-\delta}{1 - delta} | [safe_opt()] | Sui 2015, 2018 |
#'
#' **Level sets and stopping**
#'
#' | algorithm | setting | proven | where | source |
#' |---|---|---|---|---|
#' | LSE | a width that holds | every label right to within the accuracy | [gp_lse()] | Gotovos 2013 |
#' | randomised straddle | prior | average loss of labels | [policy_straddle()] | Inatsu 2024 |
#' | gap | a width that holds | regret of the point, at any time | [stop_gap()] | Makarova 2022 |
#' | probabilistic regret bound | prior | regret of the point, given the data | [stop_prb()] | Wilson 2024 |
#' | change of minimum simple regret | | a change only | [stop_emsr()] | Ishibashi 2023 |
#'
#' @seealso Combinations in [gp_bandit()]; [regret_bound()].
#' @examples
#' # What a width is good for, in words:
#' b <- igp_ucb(1:5, kernel_se(1), noise_var = 1.1, B = 1, R = 0.1)
#' b$certificate()$assumptions
#' @name guarantees
NULL
