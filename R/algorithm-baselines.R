# Baselines under long-term constraints, by one function. Layer: algorithms.

#' Baselines under long-term constraints: CKB, EPBO, bandit OCO, ADMMBO
#'
#' Other ways to maximise \eqn{f} under \eqn{g_j(x)\le 0}{g_j(x) <= 0}, to compare with
#' [gp_ucb_noiseless_constraints()] and [gp_ucb_noisy_constraints()]. They are played by the same [run_bandit()] and
#' [compare_bandits()] and fill the same ledger.
#'
#' `"oco"` is a gradient method without a model, see [bandit_oco]. `"admmbo"` alternates between objective and
#' constraints, see [admmbo]. `"ckb"` and `"epbo"` keep separate posteriors of \eqn{f} and of each \eqn{g_j}. With
#' \eqn{u_t = \mu_f + w_t\sigma_f}{u_t = mean_f + w_t sd_f} and
#' \eqn{l_{j,t} = \mu_{g_j} - w_{j,t}\sigma_{g_j}}{l_jt = mean_gj - w_jt sd_gj}:
#' * `"ckb"` (truncated primal-dual UCB, after Zhou and Ji 2022) plays
#'   \eqn{x_t = \arg\max u_t(x) - \sum_j\phi_jl_{j,t}(x)}{x_t = argmax u_t(x) - sum_j phi_j l_jt(x)}, then
#'   \eqn{\phi_j\leftarrow\min(\max(\phi_j+\eta\,l_{j,t}(x_t), 0), \phi_{\max})}{phi_j <- min(max(phi_j + step *
#'   l_jt(x_t), 0), bound)}, from \eqn{\phi_j = 0}{phi_j = 0}.
#' * `"epbo"` (exact penalty, Lu and Paulson 2022) plays
#'   \eqn{\arg\max u_t(x) - \rho\sum_j\max(l_{j,t}(x), 0)}{argmax u_t(x) - penalty * sum_j max(l_jt(x), 0)},
#'   \eqn{\rho}{penalty} a number or a function of the round, \eqn{\rho_t}{penalty(t)}.
#'
#' On arms the maxima are exact, ties go to the first arm; elsewhere the search is that of any [GPBandit][gp_bandit],
#' with gradients.
#'
#' @section Methods: all those of a [GPBandit][gp_bandit] but `$draw()`, with the same checks, log, `journal` and
#'   [open_bandit()], copies and files; `print()`, `summary()`, `predict()`, `plot()`. `$posterior()` has `g1_mean`,
#'   `g1_sd`, ... besides (it, `plot()` and `predict()` are errors for [bandit_oco]); `$best()` is the point of largest
#'   posterior mean of \eqn{f} among those whose posterior constraint means are at most 0. `history()` has a column
#'   `phase`, and in `kappa1..` the multipliers at the choice. Rewards that have not arrived are ignored; other pending
#'   rules, changes and (for these two) refits are not supported. `$amend()` changes the posteriors, not the multipliers
#'   or steps of the past. A `noise_var` given with an observation is that of its reward.
#' @section Outcomes: with `outcomes` ([outcomes]) `"epbo"` is a [GPBandit][gp_bandit]: pending rules, refits, low rank,
#'   stores, limits on either side and all else that `gp_bandit()` has go together (`...` is its), and values are told
#'   by name. What a limit misses is weighed in units of its outcome as it is modelled (scaled, where that is scaled);
#'   one width serves all, whose `delta` they share; `$best()` goes by `feasible`. Otherwise the choices are the same.
#' @section Contexts: with `contexts` the posteriors are over actions and contexts, and the maximum is over actions in
#'   the context given. The multipliers of `"ckb"` are common to all contexts. The published guarantees are for problems
#'   without contexts.
#' @section Guarantee: two violations are told apart. The **hard** one,
#'   \eqn{V^+=\sum_t\sum_j\max(g_j(x_t), 0)}{V+ = sum_t sum_j max(g_j(x_t), 0)}, is that of each round: what is violated
#'   once is not made good later. In the **soft** one, \eqn{\max(\sum_tg_j(x_t), 0)}{max(sum_t g_j(x_t), 0)}, rounds
#'   cancel. All runs and tables have both (`hard_violation`, `cumulative_violation`).
#'
#'   `"epbo"`, derived here: let the widths hold for all functions in all rounds together
#'   (\eqn{\delta/(m+1)}{delta / (m + 1)} each, for example [width_amm()]), \eqn{x^*} be feasible and
#'   \eqn{D = \max f - f(x^*)}{D = max f - f(x*)}. Then in **every** round
#'   \eqn{f(x^*)-f(x_t)\le2w_f\sigma_f(x_t)}{f(x*) - f(x_t) <= 2 w_f sd_f(x_t)}, and
#'   \deqn{V^+\le\sum_t\sum_j2w_{g_j}\sigma_{g_j}(x_t)+\sum_t(2w_f\sigma_f(x_t)+D)/\rho_t}{V+ <= sum_t sum_j 2 w_gj
#'   sd_gj(x_t) + sum_t (2 w_f sd_f(x_t) + D) / penalty(t)} (\eqn{u_t(x_t)-\rho_t\sum[l_{j,t}(x_t)]_+\ge u_t(x^*)\ge
#'   f(x^*)}{u_t(x_t) - penalty(t) sum [l_jt(x_t)]_+ >= u_t(x*) >= f(x*)}, as \eqn{l_{j,t}(x^*)\le0}{l_jt(x*) <= 0}).
#'   The sums are of order \eqn{w\sqrt{T\gamma_T}}{w sqrt(T gamma_T)} ([regret_bound()], `"penalty"`):
#'   * `penalty = function(t) sqrt(t)`: \eqn{V^+} has \eqn{2D\sqrt T}{2 D sqrt(T)} more. No Slater's condition, and no
#'     place need look feasible.
#'   * a constant above \eqn{\rho^*}{rho*}, the least with
#'     \eqn{f(x)-\rho^*\sum_j[g_j(x)]_+\le f(x^*)}{f(x) - rho* sum_j [g_j(x)]_+ <= f(x*)} for **all** \eqn{x} (an exact
#'     penalty; Lu and Paulson compare it with Lagrange multipliers):
#'     \eqn{V^+\le\sum_t(2w_f\sigma_f+2\rho\sum_jw_{g_j}\sigma_{g_j})/(\rho-\rho^*)}{V+ <= sum_t (2 w_f sd_f + 2 rho
#'     sum_j w_gj sd_gj) / (rho - rho*)}. Below it \eqn{V^+} may grow like \eqn{T}.
#'   * \eqn{\rho=\infty}{an infinite one} is CONFIG (Xu et al. 2023), [gp_ucb()] with `outcomes` that have limits
#'     ([outcomes]), whose \eqn{V^+} has the first sum alone, no step and no Slater's condition; that
#'     \eqn{l_{j,t}>0}{l_jt > 0} everywhere proves, with probability \eqn{1-\delta}{1 - delta}, that nothing is
#'     feasible.
#'
#'   `"ckb"`: under Slater's condition, with step of order \eqn{1/\sqrt{T}}{1/sqrt(T)} and `bound` large enough, the
#'   **soft** violation and the regret are sublinear (Zhou and Ji), as in Shi and Eryilmaz's theorems; its hard one is
#'   not bounded. On ten problems of 50 arms, 120 rounds, regret, hard and soft violation were 3.4, 5.8, .8 for CONFIG,
#'   2.2, 6.5, 1.4 for the root of \eqn{t}, and -13, 31, 22 for CKB. The default width is outside the theorems.
#' @param method the method: `"ckb"` (the default), `"epbo"`, `"oco"` or `"admmbo"`.
#' @param domain,kernel,noise_var see [gp_bandit()]. `"oco"` has no posterior: it takes a box or arms, and does not use
#'   `kernel` and `noise_var`.
#' @param count number of constraints, an integer >= 1; 1 by default.
#' @param width `"ckb"`, `"epbo"`: the width of \eqn{f}'s bound, see [widths]. The default is 2 posterior standard
#'   deviations.
#' @param step `"ckb"`: step \eqn{\eta}{eta} of the multipliers, a number > 0, without a default. `"oco"`: step of the
#'   gradient method, a number > 0; 0.05 by default.
#' @param bound `"ckb"`: largest multiplier \eqn{\phi_{\max}}{phi_max}, a number > 0.
#' @param penalty `"epbo"`: \eqn{\rho}{rho}, a number > 0, or a function of the round that returns one, such as
#'   `function(t) sqrt(t)`.
#' @param epsilon `"oco"`: distance \eqn{\varepsilon}{eps} of the queries from the current point, a number > 0, below
#'   half of the box's shortest side; 0.1 by default.
#' @param shrinkage `"oco"`: \eqn{\delta}{delta}, a number >= 0; 1 by default.
#' @param ... further settings, by name. An unknown name, or one of another method, is an error.
#'   * `objective_evaluations`, `constraint_evaluations` (`"admmbo"`): queries of an objective step and of a feasibility
#'     step: at first, and in every later outer round; `c(10, 5)` and `c(50, 5)` by default;
#'   * `rho`, `weight` (`"admmbo"`): the first \eqn{\rho}{rho} and \eqn{M}, numbers > 0; 0.1 and 50 by default;
#'   * `outer` (`"admmbo"`): largest number of outer rounds, by default 15;
#'   * `initial` (`"admmbo"`): random queries of each process at first, an integer >= 0; 2 by default;
#'   * `tolerance` (`"admmbo"`): the two numbers of the stopping rule, by default `c(0.05, 0.075)`;
#'   * `share` (`"admmbo"`): `TRUE` conditions every process on every query; `FALSE`, the default, as published;
#'   * `constraint_kernels`, `constraint_noise_var`, `constraint_width`, `constraint_mean` (all but `"oco"`): prior,
#'     noise and width of the \eqn{g_j}, one for all, or a list (numbers: a vector) of one per constraint. Those of
#'     \eqn{f} by default, and the mean 0;
#'   * `mean`, `journal` and `trust` of [gp_bandit()] (`"oco"`: `journal` only), `contexts` (`"ckb"`, `"epbo"`);
#'   * `refit` (`"admmbo"`): `NULL`, or [refit_every()], by which each process refits its kernel and noise;
#'   * `outcomes` (`"epbo"`): what each outcome is for, one of them to be made large or small, others with limits, see
#'     [outcomes]; then all other arguments of [gp_bandit()] too.
#' @return An object of reference class `ScriptedBandit`; of `"epbo"` with `outcomes` a [GPBandit][gp_bandit].
#' @aliases ScriptedBandit ScriptedBandit-class config_ucb ckb epbo
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Zhou and Ji (2022), On kernelized multi-armed bandits with constraints, NeurIPS; Xu, Jiang, Svetozarevic
#'   and Jones (2023), Constrained efficient global optimization of expensive black-box functions, ICML; Lu and Paulson
#'   (2022), No-regret Bayesian optimization with unknown equality and inequality constraints using exact penalty
#'   functions, IFAC-PapersOnLine.
#' @seealso [bandit_oco], [admmbo], [benchmark_problem()].
#' @examples
#' problem <- benchmark_problem("small_feasible", grid = 21)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' ckb <- baseline_constrained("ckb", problem$domain, kernel, 0.01, step = 0.5, bound = 10)
#' run_bandit(ckb, problem, 30)
#' optimist <- gp_ucb(problem$domain, kernel, 0.01, width = 2,
#'                    outcomes = list(reward = to_maximize(), g1 = at_most(0)))
#' run_bandit(optimist, problem, 30)
#' optimist$best()
#' root <- baseline_constrained("epbo", problem$domain, kernel, 0.01, penalty = function(t) sqrt(t))
#' run_bandit(root, problem, 30)
#' batch <- baseline_constrained("epbo", problem$domain, kernel, 0.01, penalty = 3,
#'                               pending = pending_hallucinate(),
#'                               outcomes = list(reward = to_maximize(), g1 = at_most(0)))
#' batch$suggest(2)
#' oco <- baseline_constrained("oco", list(u = c(0, 6), v = c(0, 6)), epsilon = 0.1, step = 0.05)
#' run_bandit(oco, benchmark_problem("small_feasible", grid = NULL), 60)
#' admmbo <- baseline_constrained("admmbo", problem$domain, kernel, 0.01,
#'                                constraint_evaluations = c(20, 5))
#' run_bandit(admmbo, problem, 40)
#' table(admmbo$history()$phase)
#' @export
baseline_constrained <- function(method = c("ckb", "epbo", "oco", "admmbo"), domain, kernel, noise_var, ..., count = 1,
                                 width = width_constant(2), step = if (method == "oco") 0.05, bound, penalty,
                                 epsilon = 0.1, shrinkage = 1) {
  method <- check_choice(method, names(baseline_settings))
  check_own_settings(method, names(match.call()))
  switch(
    method,
    ckb = ckb_bandit(domain = domain, kernel = kernel, noise_var = noise_var, step = step, bound = bound, width = width,
                     count = count, ...),
    epbo = epbo_bandit(domain = domain, kernel = kernel, noise_var = noise_var, penalty = penalty, width = width,
                       count = count, counted = !missing(count), ...),
    oco = oco_bandit(domain = domain, epsilon = epsilon, step = step, shrinkage = shrinkage, count = count, ...),
    admmbo = admmbo_bandit(domain = domain, kernel = kernel, noise_var = noise_var, count = count, ...)
  )
}

# Arguments of baseline_constrained() that some methods have.
baseline_settings <- list(
  ckb = c("width", "step", "bound"),
  epbo = c("width", "penalty"),
  oco = c("step", "epsilon", "shrinkage"),
  admmbo = c("objective_evaluations", "constraint_evaluations", "rho", "weight", "outer", "initial", "tolerance", "share")
)

# `given`: names of the arguments that the user gave.
check_own_settings <- function(method, given) {
  foreign <- setdiff(intersect(given, unlist(baseline_settings)), baseline_settings[[method]])
  if (length(foreign) == 0) return(invisible())
  owners <- names(Filter(function(own) foreign[1] %in% own, baseline_settings))
  stop_argument(foreign[1], "given", paste("left out: it is for", paste(dQuote(owners, FALSE), collapse = " and ")))
}
