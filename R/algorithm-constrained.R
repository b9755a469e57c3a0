# GP-UCB under long-term constraints, and the baselines CKB and EPBO. Layer: algorithms.

# Rules in R (bandit-script.R): CKB's multipliers go by the lower bounds as they were at each choice, which no reward that is
# amended later changes: a memory beside the log, where a policy of the core has none. EPBO with `outcomes` is a policy;
# with constraint columns, which bandits with outcomes have not, it stays a rule. The scores are the core's
# (place_of_sum()).

#' Rivals under long-term constraints
#'
#' Other ways to maximise \eqn{f} under \eqn{g_j(x)\le 0}{g_j(x) <= 0}, to compare with
#' [gp_ucb_noiseless_constraints()] and [gp_ucb_noisy_constraints()]. They are played by the same [run_bandit()] and
#' [compare_bandits()] and fill the same ledger.
#'
#' `rival_ckb()` and `rival_epbo()` keep separate posteriors of \eqn{f} and of each \eqn{g_j}. With
#' \eqn{u_t = \mu_f + w_t\sigma_f}{u_t = mean_f + w_t sd_f} and \eqn{l_{j,t} = \mu_{g_j} - w_{j,t}\sigma_{g_j}}{l_jt = mean_gj - w_jt sd_gj}:
#' * `rival_ckb()` (truncated primal-dual UCB, after Zhou and Ji 2022) plays \eqn{x_t = \arg\max u_t(x) - \sum_j\phi_jl_{j,t}(x)}{x_t = argmax u_t(x) - sum_j phi_j l_jt(x)}, then
#'   \eqn{\phi_j\leftarrow\min(\max(\phi_j+\eta\,l_{j,t}(x_t), 0), \phi_{\max})}{phi_j <- min(max(phi_j + step * l_jt(x_t), 0), bound)}, from \eqn{\phi_j = 0}{phi_j = 0}.
#' * `rival_epbo()` (exact penalty, Lu and Paulson 2022) plays \eqn{\arg\max u_t(x) - \rho\sum_j\max(l_{j,t}(x), 0)}{argmax u_t(x) - penalty * sum_j max(l_jt(x), 0)},
#'   \eqn{\rho}{penalty} a number or a function of the round, \eqn{\rho_t}{penalty(t)}.
#'
#' On arms the maxima are exact, ties go to the first arm; elsewhere the search is that of any [GPBandit][gp_bandit], with gradients.
#'
#' @section Methods: all those of a [GPBandit][gp_bandit] but `$draw()`, with the same checks, log, `journal` and [open_bandit()], copies and
#'   files; `print()`, `summary()`, `predict()`, `plot()`. `$posterior()` has `g1_mean`, `g1_sd`, ... besides (it, `plot()` and `predict()` are
#'   errors for [rival_oco()]); `$best()` is the point of largest posterior mean of \eqn{f} among those whose posterior constraint means
#'   are at most 0. `history()` has a column `phase`, and in `kappa1..` the multipliers at the choice. Rewards that have not arrived are
#'   ignored; other pending rules, changes and (for these two) refits are not supported. `$amend()` changes the posteriors, not the multipliers
#'   or steps of the past. A `noise_var` given with an observation is that of its reward.
#' @section Outcomes: with `outcomes` ([outcomes]) `rival_epbo()` is a [GPBandit][gp_bandit]: pending rules, refits, low rank, stores, limits on either side and all else that
#'   `gp_bandit()` has go together (`...` is its), and values are told by name. What a limit misses is weighed in units of its outcome as it is modelled (scaled, where that is
#'   scaled); one width serves all, whose `delta` they share; `$best()` goes by `feasible`. Otherwise the choices are the same.
#' @section Contexts: with `contexts` the posteriors are over actions and contexts, and the maximum is over actions in the context given. The
#'   multipliers of `rival_ckb()` are common to all contexts. The published guarantees are for problems without contexts.
#' @section Guarantee: two violations are told apart. The **hard** one, \eqn{V^+=\sum_t\sum_j\max(g_j(x_t), 0)}{V+ = sum_t sum_j max(g_j(x_t), 0)}, is that of each round: what is violated once is not
#'   made good later. In the **soft** one, \eqn{\max(\sum_tg_j(x_t), 0)}{max(sum_t g_j(x_t), 0)}, rounds cancel. All runs and tables have both (`hard_violation`, `cumulative_violation`).
#'
#'   `rival_epbo()`, derived here: let the widths hold for all functions in all rounds together (\eqn{\delta/(m+1)}{delta / (m + 1)} each, for example [width_amm()]), \eqn{x^*} be feasible and \eqn{D = \max f - f(x^*)}{D = max f - f(x*)}.
#'   Then in **every** round \eqn{f(x^*)-f(x_t)\le2w_f\sigma_f(x_t)}{f(x*) - f(x_t) <= 2 w_f sd_f(x_t)}, and
#'   \deqn{V^+\le\sum_t\sum_j2w_{g_j}\sigma_{g_j}(x_t)+\sum_t(2w_f\sigma_f(x_t)+D)/\rho_t}{V+ <= sum_t sum_j 2 w_gj sd_gj(x_t) + sum_t (2 w_f sd_f(x_t) + D) / penalty(t)}
#'   (\eqn{u_t(x_t)-\rho_t\sum[l_{j,t}(x_t)]_+\ge u_t(x^*)\ge f(x^*)}{u_t(x_t) - penalty(t) sum [l_jt(x_t)]_+ >= u_t(x*) >= f(x*)}, as \eqn{l_{j,t}(x^*)\le0}{l_jt(x*) <= 0}). The sums are of order \eqn{w\sqrt{T\gamma_T}}{w sqrt(T gamma_T)}
#'   ([regret_bound()], `"penalty"`):
#'   * `penalty = function(t) sqrt(t)`: \eqn{V^+} has \eqn{2D\sqrt T}{2 D sqrt(T)} more. No Slater's condition, and no place need look feasible.
#'   * a constant above \eqn{\rho^*}{rho*}, the least with \eqn{f(x)-\rho^*\sum_j[g_j(x)]_+\le f(x^*)}{f(x) - rho* sum_j [g_j(x)]_+ <= f(x*)} for **all** \eqn{x} (an exact penalty; Lu and Paulson compare it with Lagrange
#'     multipliers): \eqn{V^+\le\sum_t(2w_f\sigma_f+2\rho\sum_jw_{g_j}\sigma_{g_j})/(\rho-\rho^*)}{V+ <= sum_t (2 w_f sd_f + 2 rho sum_j w_gj sd_gj) / (rho - rho*)}. Below it \eqn{V^+} may grow like \eqn{T}.
#'   * \eqn{\rho=\infty}{an infinite one} is CONFIG (Xu et al. 2023), [gp_ucb()] with `outcomes` that have limits ([outcomes]), whose \eqn{V^+} has the first sum alone, no step and no Slater's condition; that \eqn{l_{j,t}>0}{l_jt > 0} everywhere proves, with probability
#'     \eqn{1-\delta}{1 - delta}, that nothing is feasible.
#'
#'   `rival_ckb()`: under Slater's condition, with step of order \eqn{1/\sqrt{T}}{1/sqrt(T)} and `bound` large enough, the **soft** violation and the regret are sublinear (Zhou and Ji), as in Shi and
#'   Eryilmaz's theorems; its hard one is not bounded. On ten problems of 50 arms, 120 rounds, regret, hard and soft violation were 3.4, 5.8, .8 for CONFIG, 2.2, 6.5, 1.4 for the root of \eqn{t}, and -13, 31, 22 for
#'   CKB. The default width is outside the theorems.
#' @inheritParams gp_bandit
#' @param width the width of \eqn{f}'s bound, see [widths].
#' @param step step \eqn{\eta}{eta} of the multipliers, a number > 0.
#' @param bound largest multiplier \eqn{\phi_{\max}}{phi_max}, a number > 0.
#' @param penalty \eqn{\rho}{rho}: a number > 0, or a function of the round that returns one, such as `function(t) sqrt(t)`.
#' @param count number of constraints.
#' @param constraint_kernels,constraint_noise_var,constraint_width,constraint_mean prior, noise and width of the \eqn{g_j}: one for
#'   all, or a list (numbers: a vector) of one per constraint. `NULL`: those of \eqn{f}.
#' @param outcomes what each outcome is for, one of them to be made large or small, others with limits; see [outcomes].
#' @return An object of reference class `BanditRival`; of `rival_epbo(outcomes = )` a [GPBandit][gp_bandit].
#' @aliases BanditRival BanditRival-class config_ucb ckb epbo
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Zhou and Ji (2022), On kernelized multi-armed bandits with constraints, NeurIPS; Xu, Jiang, Svetozarevic and
#'   Jones (2023), Constrained efficient global optimization of expensive black-box functions, ICML; Lu and Paulson
#'   (2022), No-regret Bayesian optimization with unknown equality and inequality constraints using exact penalty
#'   functions, IFAC-PapersOnLine.
#' @seealso [rival_oco()], [rival_admmbo()], [benchmark_problem()].
#' @examples
#' problem <- benchmark_problem("small_feasible", grid = 21)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' run_bandit(rival_ckb(problem$domain, kernel, 0.01, step = 0.5, bound = 10), problem, 30)
#' optimist <- gp_ucb(problem$domain, kernel, 0.01, width = 2,
#'                    outcomes = list(reward = to_maximize(), g1 = at_most(0)))
#' run_bandit(optimist, problem, 30)
#' optimist$best()
#' root <- rival_epbo(problem$domain, kernel, 0.01, penalty = function(t) sqrt(t))
#' run_bandit(root, problem, 30)
#' rival_epbo(problem$domain, kernel, 0.01, penalty = 3, pending = pending_hallucinate(),
#'            outcomes = list(reward = to_maximize(), g1 = at_most(0)))$suggest(2)
#' @export
rival_ckb <- function(domain, kernel, noise_var, step, bound, ..., width = width_constant(2), count = 1, mean = 0,
                constraint_kernels = NULL, constraint_noise_var = NULL, constraint_width = NULL,
                constraint_mean = 0, contexts = NULL, journal = NULL, trust = FALSE) {
  check_rival_dots(..., allowed = names(formals(rival_ckb)))
  parts <- gp_rival_parts(domain, kernel, noise_var, check_rival_width(width), count, mean, constraint_kernels,
                          constraint_noise_var, constraint_width, constraint_mean)
  new_rival("ckb", parts$domain, parts$count, contexts, parts$models, journal = journal, trust = trust)
}

#' @rdname rival_ckb
#' @export
rival_epbo <- function(domain, kernel, noise_var, penalty, ..., width = width_constant(2), count = 1, mean = 0,
                 constraint_kernels = NULL, constraint_noise_var = NULL, constraint_width = NULL,
                 constraint_mean = 0, contexts = NULL, journal = NULL, outcomes = NULL, trust = FALSE) {
  if (!is.null(outcomes)) {
    known <- c("count", "constraint_kernels", "constraint_noise_var", "constraint_width", "constraint_mean")
    twice <- intersect(known, names(match.call()))
    if (length(twice)) {
      stop_argument(twice[1], "given together with `outcomes`", "absent: each outcome says it of itself")
    }
    policy <- new_policy("exact_penalty")
    return(preset(list(policy = policy, mean = mean, contexts = contexts, journal = journal, outcomes = outcomes,
                       trust = trust), domain, kernel, noise_var, ...))
  }
  check_rival_dots(..., allowed = names(formals(rival_epbo)))
  parts <- gp_rival_parts(domain, kernel, noise_var, check_rival_width(width), count, mean, constraint_kernels,
                          constraint_noise_var, constraint_width, constraint_mean)
  new_rival("epbo", parts$domain, parts$count, contexts, parts$models, journal = journal, trust = trust)
}

# ---- the rules ----------------------------------------------------------------

# Widths as they make the upper bound of f and the lower ones of the g_j.
optimistic_widths <- function(rival) {
  widths <- vapply(models_of(rival), model_width, 0)
  c(widths[1], -widths[-1])
}

propose_ckb <- function(rival, context) {
  models <- models_of(rival)
  phi <- rival$memory$phi
  widths <- optimistic_widths(rival)
  place <- place_of_sum(rival, models, context, c(1, -phi), widths)
  lower <- vapply(seq_along(phi) + 1L, function(k) {
    p <- model_posterior(models[[k]], place, context)
    p$mean + widths[k] * p$sd
  }, 0)
  moved <- phi + rival$config$step * lower
  list(place = place, memory = list(phi = pmin(pmax(moved, 0), rival$config$bound)), phase = "policy",
       width = widths[1], kappa = phi)
}

propose_epbo <- function(rival, context) {
  rho <- rep(penalty_now(rival$config$penalty, table_size(rival$queries) + 1), constraint_count(rival$config))
  widths <- optimistic_widths(rival)
  place <- place_of_sum(rival, models_of(rival), context, c(1, -rho), widths,
                        floored = c(FALSE, rep(TRUE, length(rho))))
  list(place = place, memory = list(), phase = "policy", width = widths[1], kappa = rho)
}

check_penalty_of_rounds <- function(penalty) {
  if (!missing(penalty) && is.function(penalty)) return(check_function(penalty))
  check_number(penalty, lower = 0, open_lower = TRUE)
}

#' GP-UCB under long-term constraints
#'
#' Presets of [gp_bandit()]: Algorithms 2 and 3 of Shi and Eryilmaz (2022), IGP-UCB on a target that weighs the constraints, see
#' [constraints]. The default, `reuse = TRUE`, keeps the data of earlier epochs: it serves better and **is outside the
#' theorems**, which need a fresh posterior in each epoch (`reuse = FALSE`, the paper's letter).
#'
#' @section Guarantee: with \eqn{L} epochs of \eqn{S} rounds, \eqn{T = LS}, bounds of regret and violation hold with probability at
#'   least \eqn{1-\delta}{1 - delta} (Theorems 1 and 2, with constants in [regret_bound()]). Conditions of both: fresh epochs (`reuse = FALSE`), `noise_var`
#'   \eqn{= \lambda = 1 + 2/S}{= lambda = 1 + 2/S}, \eqn{k(x,x) \le 1}{k(x, x) <= 1}, RKHS norm of the target at most \eqn{B} in each epoch,
#'   \eqn{R}-sub-Gaussian noise. For noisy constraints also: Slater's condition ([slater_condition()]),
#'   \eqn{|f|} and \eqn{|g_j|} bounded, a step of order \eqn{1/\sqrt L}{1/sqrt(L)}.
#'
#'   **The bounds are sublinear in \eqn{T} only if both \eqn{L} and \eqn{S} grow** and
#'   \deqn{\gamma_S + \log(L/\delta) = o(\sqrt S).}{gamma_S + log(L / delta) = o(sqrt(S)).}
#'   With \eqn{S} fixed the average regret does not fall, because every epoch starts with a fresh posterior. With \eqn{L} fixed the
#'   average violation does not fall, because the multipliers change only \eqn{L} times. The paper takes \eqn{L = S}.
#'   The condition on \eqn{\gamma_S}{gamma_S} holds for [kernel_se()], and for [kernel_matern()] only if it is smooth enough for its number of inputs.
#'
#'   Each epoch gets the failure probability \eqn{\delta/L}{delta/L}, or \eqn{\delta/(2L)}{delta/(2L)} with noise. Thompson sampling inside is covered without noise on the
#'   constraints (Remark 1), not with it (Remark 2). No theorem covers `reuse = TRUE`, nor the experiments' \eqn{\lambda = R^2}{lambda = R^2}.
#'   Other combinations: see [gp_bandit()].
#' @inheritParams igp_ucb
#' @param count,epoch,penalty,step,reuse,epochs see [constraints].
#' @param inner what plays the epochs: `"igp_ucb"`, or `"gp_ts"` (one joint draw a round, scaled by `width_gp_ts()`).
#' @param width overrides the width made of `B`, `R`, `delta`, `gain` and `epochs`.
#' @return An object of class `GPBandit`.
#' @section Errors: as [gp_bandit()]; a missing `epochs` is asked for where the width needs it.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS.
#' @examples
#' x <- seq(0, 6, length.out = 41)
#' grid <- as.matrix(expand.grid(x1 = x, x2 = x))
#' problem <- bandit_problem(grid, -sin(grid[, 1]) - grid[, 2], noise = noise_gaussian(0.1),
#'                           constraints = cbind(sin(grid[, 1]) * sin(grid[, 2]) + 0.95))
#' b <- gp_ucb_noiseless_constraints(grid, kernel_matern(2.5, 1), noise_var = 0.01, epoch = 20,
#'                                   width = width_constant(2))
#' set.seed(1)
#' summary(run_bandit(b, problem, 60))
#' @export
gp_ucb_noiseless_constraints <- function(domain, kernel, noise_var, B, R, delta = 0.1,
                                         gain = gain_realised(), count = 1, epoch,
                                         penalty = penalty_exponential(1), reuse = TRUE,
                                         epochs = NULL, inner = c("igp_ucb", "gp_ts"), ...,
                                         width = NULL) {
  rule <- constraints_noiseless(count, epoch, penalty, reuse, epochs)
  inner <- check_choice(inner, c("igp_ucb", "gp_ts"))
  if (is.null(width)) width <- epoch_width(inner, B, R, delta, gain, epochs)
  preset(list(policy = inner_policy(inner, width), constraints = rule), domain, kernel, noise_var, ...)
}

#' @rdname gp_ucb_noiseless_constraints
#' @export
gp_ucb_noisy_constraints <- function(domain, kernel, noise_var, B, R, delta = 0.1,
                                     gain = gain_realised(), count = 1, epoch, step, reuse = TRUE,
                                     epochs = NULL, inner = c("igp_ucb", "gp_ts"), ...,
                                     width = NULL) {
  rule <- constraints_noisy(count, epoch, step, reuse, epochs)
  inner <- check_choice(inner, c("igp_ucb", "gp_ts"))
  if (is.null(width)) width <- epoch_width(inner, B, R, delta, gain, epochs)
  preset(list(policy = inner_policy(inner, width), constraints = rule), domain, kernel, noise_var, ...)
}

register_script("ckb", list(
  title = "CKB (truncated primal-dual UCB)",
  settings = alist(step = check_number(step, lower = 0, open_lower = TRUE),
                   bound = check_number(bound, lower = 0, open_lower = TRUE)),
  phases = function(count) "policy",
  begin = function(config) list(phi = numeric(config$constraints$count)),
  propose = function(rival, context) propose_ckb(rival, context),
  recommend = recommend_by_means,
  random = FALSE
))

register_script("epbo", list(
  title = "EPBO (exact penalty)",
  settings = alist(penalty = check_penalty_of_rounds(penalty)),
  phases = function(count) "policy",
  begin = function(config) list(),
  propose = function(rival, context) propose_epbo(rival, context),
  recommend = recommend_by_means,
  random = FALSE
))
