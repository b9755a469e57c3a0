# `baseline_constrained()`: the baselines for long-term constraints. Layer: algorithms.

#' Baselines for constrained Bayesian optimisation: CKB, EPBO, RPOL, bandit OCO, ADMMBO
#'
#' `baseline_constrained()` makes one of five methods that maximise \eqn{f} under unknown constraints
#' \eqn{g_j(x)\le 0}{g_j(x) <= 0}. Use them as baselines for [gp_ucb_noiseless_constraints()] and
#' [gp_ucb_noisy_constraints()], in [run_bandit()].
#'
#' * `"ckb"` (truncated primal-dual UCB, after Zhou and Ji 2022) weighs the constraints by multipliers.
#' * `"epbo"` (exact penalty Bayesian optimisation, Lu and Paulson 2022) penalises violations.
#' * `"rpol"` (rectified pessimistic-optimistic learning, Guo, Zhu and Liu 2023) penalises violations more and
#'   more.
#' * `"oco"` is a gradient method without a model, see [bandit_oco].
#' * `"admmbo"` alternates between the objective and the constraints, see [admmbo].
#'
#' @section CKB, EPBO and RPOL: These three have separate posteriors of \eqn{f} and of each \eqn{g_j}, an upper
#'   bound of \eqn{f} and lower bounds of the \eqn{g_j}, with a width \eqn{w} ([widths]):
#'   \deqn{u_t = \mu_f + w_t\sigma_f,\quad l_{j,t} = \mu_{g_j} - w_{j,t}\sigma_{g_j}.}{u_t = mean_f + w_t sd_f,
#'   l_jt = mean_gj - w_jt sd_gj.}
#'
#'   `"ckb"` selects
#'   \deqn{x_t = \arg\max_x u_t(x) - \sum_j\phi_jl_{j,t}(x).}{x_t = argmax u_t(x) - sum_j phi_j l_jt(x).}
#'
#'   The multipliers begin at \eqn{\phi_j = 0}{phi_j = 0} and are then updated by
#'   \deqn{\phi_j\leftarrow\min(\max(\phi_j+\eta\,l_{j,t}(x_t), 0), \phi_{\max}).}{phi_j <- min(max(phi_j + step *
#'   l_jt(x_t), 0), bound).}
#'
#'   `"epbo"` selects
#'   \deqn{x_t = \arg\max_x u_t(x) - \rho_t\sum_j\max(l_{j,t}(x), 0),}{x_t = argmax u_t(x) - penalty(t) * sum_j
#'   max(l_jt(x), 0),}
#'   with a penalty \eqn{\rho_t}{penalty(t)}. An infinite one is CONFIG (Xu et al. 2023):
#'   [gp_ucb()] with `outcomes` that have limits.
#'
#'   `"rpol"` selects the same with a penalty \eqn{Q_j}{Q_j} for each constraint. These begin at
#'   \eqn{\rho_1}{penalty(1)} and grow by the observed violations \eqn{c_{j,t}}{c_jt}:
#'   \deqn{Q_j \leftarrow \max(Q_j + \max(c_{j,t}, 0), \rho_{t+1}).}{Q_j <- max(Q_j + max(c_jt, 0), penalty(t + 1)).}
#'   With the default, \eqn{\rho_1 = 1}{penalty(1) = 1} and \eqn{\rho_{t+1} = \sqrt t}{penalty(t + 1) = sqrt(t)}, this
#'   is the algorithm of the paper. Late values count from then on.
#'
#'   For delays (`pending = pending_censor(m)`) and changing functions (`changes = change_oracle(every = H)`) see
#'   [regret_bounds_outcomes].
#'
#' @section Methods: Those of a [GPBandit] except (for all but `"epbo"`) `$draw()`, also [open_bandit()] for a
#'   `journal`, copies and files, and `print()`, `summary()`, `predict()` and `plot()`. Differences:
#'
#'   * `$posterior()` also has columns `g1_mean`, `g1_sd`, ... (For [bandit_oco] it is an error, as are `plot()` and
#'     `predict()`.)
#'   * `$best()` is the point of largest posterior mean of \eqn{f} whose posterior constraint means are at most 0.
#'   * `$history()` has a column `phase`, and in `kappa1..` the multipliers at the choice (not for `"epbo"`).
#'   * `$amend()` changes posteriors, not earlier multipliers.
#'   * Pending rewards are ignored. Other rules (except those of `"rpol"`) and refits (`"ckb"`, `"rpol"`) are not
#'     supported.
#'
#'   With `contexts` (`"ckb"`, `"epbo"`, `"rpol"`) the maximum is over actions in the given context. Multipliers are
#'   common to all contexts.
#' @section EPBO: `"epbo"` is a [GPBandit] with [outcomes]. Without `outcomes`, `count` constraints are outcomes `g1`,
#'   `g2`, ... that must be at most 0, and the objective is `reward`. Their values are given by these names, or as
#'   `$observe(id, reward, constraints = )`. A violation is in units of its outcome as it is modelled. All
#'   outcomes use one width and share its `delta`.
#' @section Guarantee: Runs and tables have two kinds of violation. In the *hard* violation (`hard_violation`) the
#'   violations of all rounds add up. In the *soft* violation (`cumulative_violation`),
#'   \eqn{\max(\sum_tg_j(x_t), 0)}{max(sum_t g_j(x_t), 0)}, rounds can cancel.
#'
#'   * `"epbo"` and CONFIG: if a point is feasible, and the confidence widths of all functions hold in all rounds
#'     together, the regret and the hard violation are of order \eqn{w_T\sqrt{T\gamma_T}}{w_T sqrt(T gamma_T)}. The
#'     penalty must be infinite, `function(t) sqrt(t)`, or a constant above the least exact one. See
#'     [regret_bounds_outcomes] (original result, not peer-reviewed).
#'   * `"rpol"`: the same with its default, because its penalties are never below \eqn{\sqrt{t-1}}{sqrt(t - 1)}. This is
#'     Theorem 1 of Guo, Zhu and Liu (2023). For delays and changes see [regret_bounds_outcomes].
#'   * `"ckb"`: under Slater's condition the regret and the soft violation are sublinear (Zhou and Ji). `step` must be
#'     of order \eqn{1/\sqrt{T}}{1/sqrt(T)}, and `bound` large enough. The hard violation is not bounded.
#'
#'   Not covered: the default width, and problems with contexts.
#' @param method the method: `"ckb"` (the default), `"epbo"`, `"rpol"`, `"oco"` or `"admmbo"`.
#' @param domain,kernel,noise_var see [gp_bandit()]. `"oco"` has no posterior: it needs a box or arms, and does not use
#'   `kernel` and `noise_var`.
#' @param count the number of constraints, an integer >= 1; 1 by default.
#' @param width the confidence width of \eqn{f}'s bound, see [widths] (`"ckb"`, `"epbo"`, `"rpol"`). The default is 2.
#' @param step a number > 0. For `"ckb"` the step \eqn{\eta}{eta} of the multipliers, without a default. For `"oco"` the
#'   step of the gradient method; 0.05 by default.
#' @param bound the largest multiplier \eqn{\phi_{\max}}{phi_max}, a number > 0 (`"ckb"` only).
#' @param penalty \eqn{\rho_t}{penalty(t)}, a number > 0, or a function of the round that returns one, such as
#'   `function(t) sqrt(t)` (`"epbo"`, and `"rpol"`, whose default is `function(t) sqrt(max(t - 1, 1))`).
#' @param epsilon the distance \eqn{\varepsilon}{eps} of the queries from the current point (`"oco"` only), a number >
#'   0, below half of the box's shortest side; 0.1 by default.
#' @param shrinkage \eqn{\delta}{delta}, the regularisation of the multipliers (`"oco"` only), a number >= 0; 1 by
#'   default.
#' @param ... further settings, by name. An unknown name, or one of another method, is an error.
#'   * the settings of `"admmbo"`: see [admmbo];
#'   * `constraint_kernels`, `constraint_noise_var`, `constraint_mean` (all but `"oco"`), `constraint_width` (`"ckb"`,
#'     `"rpol"`, `"admmbo"`): kernel, noise variance, prior mean and width of the \eqn{g_j}. Each is one for all, or a
#'     list (of numbers a vector) with one per constraint. The defaults are those of \eqn{f}, and the mean 0;
#'   * `mean`, `journal` and `trust` of [gp_bandit()] (`"oco"`: `journal` only), `contexts` (`"ckb"`, `"epbo"`,
#'     `"rpol"`);
#'   * `pending`: [pending_ignore()] (the default) or [pending_censor()]; `changes`: `NULL` or
#'     `change_oracle(every = )` (`"rpol"`);
#'   * `outcomes` (`"epbo"`): the role of each outcome, one as the objective and others with limits, see [outcomes], in
#'     place of `count`;
#'   * all other arguments of [gp_bandit()] (`"epbo"`).
#' @return A [GPBandit] (`"epbo"`) or a `ScriptedBandit`.
#' @aliases ScriptedBandit ScriptedBandit-class config_ucb ckb epbo rpol
#' @concept constrained Bayesian optimization
#' @concept exact penalty
#' @concept primal-dual
#' @concept constraint violation
#' @references Zhou and Ji (2022), On kernelized multi-armed bandits with constraints, NeurIPS; Xu, Jiang, Svetozarevic
#'   and Jones (2023), Constrained efficient global optimization of expensive black-box functions, ICML; Lu and Paulson
#'   (2022), No-regret Bayesian optimization with unknown equality and inequality constraints using exact penalty
#'   functions, IFAC-PapersOnLine; Guo, Zhu and Liu (2023), Rectified pessimistic-optimistic learning for stochastic
#'   continuum-armed bandit with constraints, L4DC <https://arxiv.org/abs/2211.14720>.
#' @seealso [bandit_oco], [admmbo], [benchmark_problem()].
#' @examples
#' problem <- benchmark_problem("small_feasible", grid = 21)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' ckb <- baseline_constrained("ckb", problem$domain, kernel, 0.01, step = 0.5, bound = 10)
#' run_bandit(ckb, problem, 30)
#' epbo <- baseline_constrained("epbo", problem$domain, kernel, 0.01, penalty = function(t) sqrt(t))
#' run_bandit(epbo, problem, 30)
#' @export
baseline_constrained <- function(method = c("ckb", "epbo", "rpol", "oco", "admmbo"), domain, kernel, noise_var, ...,
                                 count = 1, width = width_constant(2), step = if (method == "oco") 0.05, bound,
                                 penalty, epsilon = 0.1, shrinkage = 1) {
  method <- check_choice(method, names(baseline_settings))
  check_own_settings(method, names(match.call()))
  if (method == "rpol" && missing(penalty)) penalty <- function(t) sqrt(max(t - 1, 1))
  switch(
    method,
    ckb = weighed_bandit(method, environment(), domain = domain, kernel = kernel, noise_var = noise_var,
                         width = width, count = count, ...),
    rpol = rpol_bandit(environment(), domain = domain, kernel = kernel, noise_var = noise_var, width = width,
                       count = count, chosen = !missing(width), ...),
    epbo = epbo_bandit(domain = domain, kernel = kernel, noise_var = noise_var, penalty = penalty, width = width,
                       count = count, counted = !missing(count), ...),
    oco = oco_bandit(domain = domain, epsilon = epsilon, step = step, shrinkage = shrinkage, count = count, ...),
    admmbo = admmbo_bandit(domain = domain, kernel = kernel, noise_var = noise_var, count = count, ...)
  )
}

# Arguments of baseline_constrained() that only some methods have.
baseline_settings <- list(
  ckb = c("width", "step", "bound"),
  epbo = c("width", "penalty"),
  rpol = c("width", "penalty"),
  oco = c("step", "epsilon", "shrinkage"),
  admmbo = c("objective_evaluations", "constraint_evaluations", "rho", "weight", "outer", "initial", "tolerance",
             "share")
)

# `given`: names of the arguments that the user gave.
check_own_settings <- function(method, given) {
  foreign <- setdiff(intersect(given, unlist(baseline_settings)), baseline_settings[[method]])
  if (length(foreign) == 0) return(invisible())
  owners <- names(Filter(function(own) foreign[1] %in% own, baseline_settings))
  stop_unused(foreign[1], paste("it is for", paste(dQuote(owners, FALSE), collapse = " and ")))
}
