# GP-UCB under long-term constraints, and the baselines CKB, RPOL and EPBO. Layer: algorithms.

# CKB and RPOL are scripts in R (bandit-script.R). CKB computes its multipliers from the lower bounds at the time of
# each choice, RPOL from the constraint values when they are observed, and later amendments do not change them. This is
# a state in addition to the log, which policies of the core do not have. EPBO is a policy of the core, and the
# constraint columns are outcomes.

# `frame`: the environment with the settings of the script `rule`.
weighed_bandit <- function(rule, frame, domain, kernel, noise_var, width, count, ..., mean = 0,
                           constraint_kernels = NULL, constraint_noise_var = NULL, constraint_width = NULL,
                           constraint_mean = 0, contexts = NULL, journal = NULL, trust = FALSE) {
  check_script_dots(..., allowed = setdiff(names(formals(weighed_bandit)), c("rule", "frame")))
  parts <- gp_script_parts(domain, kernel, noise_var, check_script_width(width), count, mean, constraint_kernels,
                           constraint_noise_var, constraint_width, constraint_mean)
  new_script_bandit(rule, parts$domain, parts$count, contexts, parts$models, frame, journal, trust = trust)
}

# RPOL. Without censoring and restarts its models condition on each value once, when it is observed. `chosen`: TRUE if
# the user gave `width`.
rpol_bandit <- function(frame, ..., width, chosen, pending = pending_ignore(), changes = NULL) {
  frame$censor <- if (!identical(pending, pending_ignore())) check_censor(pending)
  frame$every <- if (!is.null(changes)) restart_interval(changes)
  rule <- if (is.null(frame$censor) && is.null(frame$every)) "rpol" else "rpol_made"
  if (!is.null(frame$censor) && !chosen) width <- width_sdf(width)
  weighed_bandit(rule, frame, ..., width = width)
}

check_censor <- function(censor) {
  if (is.null(censor)) return(NULL)
  check_class(censor, "bandit_pending", "pending")
  if (!trait(censor, "replaces")) {
    stop_argument("pending", describe(censor), "pending_censor() or pending_ignore()")
  }
  censor
}

# H of change_oracle(every = H).
restart_interval <- function(changes) {
  check_class(changes, "bandit_changes", "changes")
  if (changes$kind != "every" || changes$explore > 0) {
    stop_argument("changes", describe(changes), "NULL or change_oracle(every = ), without exploration")
  }
  changes$rounds
}

# `counted`: TRUE if the user gave `count`.
epbo_bandit <- function(domain, kernel, noise_var, penalty, width, count, counted, ..., mean = 0,
                        constraint_kernels = NULL, constraint_noise_var = NULL, constraint_mean = 0, outcomes = NULL) {
  if (is.null(outcomes)) {
    models <- gp_script_parts(domain, kernel, noise_var, NULL, count, mean, constraint_kernels, constraint_noise_var,
                              NULL, constraint_mean)$models
    outcomes <- outcomes_of_columns(models, list(function(...) at_most(0, ...)))
  } else {
    known <- c(if (counted) "count", "constraint_kernels", "constraint_noise_var", "constraint_mean")
    twice <- intersect(known, names(match.call()))
    if (length(twice)) {
      stop_unused(twice[1], "with `outcomes`, each outcome has its own setting")
    }
  }
  policy <- new_policy("exact_penalty")
  preset(list(policy = policy, mean = mean, outcomes = outcomes), domain, kernel, noise_var, ...)
}

# ---- the script ----------------------------------------------------------------

# Widths with signs, for the upper bound of f and the lower bounds of the g_j.
optimistic_widths <- function(bandit) {
  widths <- vapply(models_of(bandit), model_width, 0)
  c(widths[1], -widths[-1])
}

# The point where the upper bound of f less the lower bounds of the g_j, weighted by `phi`, is largest. `floored`: only
# positive lower bounds count.
propose_weighed <- function(bandit, context, phi, floored = FALSE) {
  models <- models_of(bandit)
  widths <- optimistic_widths(bandit)
  point <- point_of_sum(bandit, models, context, c(1, -phi), widths, c(FALSE, rep(floored, length(phi))))
  list(point = point, phase = "policy", width = widths[1], kappa = phi)
}

propose_ckb <- function(bandit, context) {
  phi <- bandit$memory$phi
  choice <- propose_weighed(bandit, context, phi)
  models <- models_of(bandit)
  widths <- optimistic_widths(bandit)
  lower <- vapply(seq_along(phi) + 1L, function(k) {
    p <- model_posterior(models[[k]], choice$point, context)
    p$mean + widths[k] * p$sd
  }, 0)
  c(choice, list(memory = list(phi = pmin(pmax(phi + bandit$config$step * lower, 0), bandit$config$bound))))
}

# Q_{t+1} = max(Q_t + max(c_t, 0), penalty(t + 1)) with the observed c_t. Those that are pending count when they arrive.
propose_rpol <- function(bandit, context) {
  count <- table_size(bandit$queries)
  open <- bandit$memory$open
  waiting <- status_names[bandit$queries$status[open]] == "pending"
  phi <- bandit$memory$phi + vapply(constraint_names(bandit$config, "g"), function(name) {
    sum(pmax(get(name, envir = bandit$queries)[open[!waiting]], 0), na.rm = TRUE)
  }, 0, USE.NAMES = FALSE)
  phi <- pmax(phi, penalty_now(bandit$config$penalty, count + 1))
  memory <- list(phi = phi, open = c(open[waiting], count + 1))
  c(propose_weighed(bandit, context, phi, floored = TRUE), list(memory = memory))
}

# Models of RPOL that depend on the round: what a censored value counts for, and where the last restart was. Each is
# made from the log by the core's replay, in which the queries are given and the rewards are the values of f or a g_j.
models_rpol <- function(bandit) {
  config <- bandit$config
  size <- table_size(bandit$queries)
  ids <- seq_len(size)
  if (!is.null(config$every)) ids <- ids[ids > size - size %% config$every]
  queries <- lapply(table_columns(bandit$queries), `[`, ids)
  queries$inputs <- cpp_logged_inputs(bandit$queries, ids)
  queries$g <- matrix(0, length(ids), 0)
  events <- table_columns(bandit$events)
  events <- lapply(events, `[`, events$id %in% ids)
  columns <- c("reward", constraint_names(config, "g"))
  Map(function(one, column) {
    model <- bandit_kinds$core$make(config$domain, one$kernel, one$noise_var, policy_ucb(one$width), mean = one$mean,
                                    pending = or_else(config$censor, pending_ignore()),
                                    contexts = contexts_argument(config))
    events$reward <- ifelse(is.na(events$reward), NA, get(column, envir = bandit$queries)[events$id])
    events$id <- events$id - (size - length(ids))
    if (length(ids)) {
      cpp_bandit_replay(model$handle, queries, logged_contexts(bandit, queries), events, list(), 0L, NULL, integer())
    }
    model
  }, config$model_settings, columns)
}

check_penalty_of_rounds <- function(penalty) {
  if (!missing(penalty) && is.function(penalty)) return(check_function(penalty))
  check_number(penalty, lower = 0, open_lower = TRUE)
}

#' GP-UCB with long-term constraints
#'
#' These bandits run GP-UCB under constraints that must hold on average over all rounds (Algorithms 2 and 3 of Shi and
#' Eryilmaz 2022). Use
#' `gp_ucb_noiseless_constraints()` if constraint values are observed exactly, and `gp_ucb_noisy_constraints()` if they
#' are noisy. They are presets of [gp_bandit()]. For constraints that should hold at each point see [outcomes].
#'
#' In each epoch of \eqn{S} = `epoch` rounds the algorithm is IGP-UCB (see [igp_ucb()]) on a target
#' that combines reward and constraints:
#' \deqn{f(x) - \sum_j\kappa_j(\psi(g_j(x)) - 1)\mbox{ (noiseless),}\quad
#'   f(x) - \sum_j\kappa_jg_j(x)\mbox{ (noisy).}}{f(x) - sum_j kappa_j (psi(g_j(x)) - 1) (noiseless),
#' f(x) - sum_j kappa_j g_j(x) (noisy).}
#'
#' The multipliers \eqn{\kappa_j}{kappa_j} are updated after each epoch. See [constraints] for the updates and the
#' penalty \eqn{\psi}{psi}.
#'
#' The default, `reuse = TRUE`, keeps the data of earlier epochs. It performed better in our experiments, and **is
#' outside the theorems**, which need a new posterior in each epoch (`reuse = FALSE`, as in the paper).
#'
#' @section Guarantee: With \eqn{L} epochs of \eqn{S} rounds, \eqn{T = LS}, regret and violation are bounded with
#'   probability at least \eqn{1-\delta}{1 - delta} (Theorems 1 and 2, with constants in [regret_bound()]). Conditions
#'   of both theorems:
#'
#'   * new posteriors in each epoch (`reuse = FALSE`);
#'   * `noise_var` \eqn{= \lambda = 1 + 2/S}{= lambda = 1 + 2/S}, and \eqn{k(x,x) \le 1}{k(x, x) <= 1};
#'   * an RKHS norm of the target of at most \eqn{B} in each epoch;
#'   * \eqn{R}-sub-Gaussian noise.
#'
#'   For noisy constraints also: Slater's condition (see [regret_bounds_constraints]), bounded \eqn{|f|} and
#'   \eqn{|g_j|}, and a step of order \eqn{1/\sqrt L}{1/sqrt(L)}.
#'
#'   **The bounds are sublinear in \eqn{T} only if both \eqn{L} and \eqn{S} grow** and
#'   \deqn{\gamma_S + \log(L/\delta) = o(\sqrt S).}{gamma_S + log(L / delta) = o(sqrt(S)).}
#'
#'   With \eqn{S} fixed the average regret does not fall, because every epoch starts with a new posterior. With
#'   \eqn{L} fixed the average violation does not fall, because the multipliers change only \eqn{L} times. The paper
#'   has \eqn{L = S}. The condition on \eqn{\gamma_S}{gamma_S} holds for [kernel_se()], and for [kernel_matern()] only
#'   if it is smooth enough for its number of inputs.
#'
#'   Each epoch gets the failure probability \eqn{\delta/L}{delta/L}, or \eqn{\delta/(2L)}{delta/(2L)} with noise.
#'   Thompson sampling (`inner = "gp_ts"`) is covered for noiseless constraints (Remark 1), not for noisy ones (Remark
#'   2). No theorem covers `reuse = TRUE`, nor the experiments' \eqn{\lambda = R^2}{lambda = R^2}. For other
#'   combinations see [bandit-combinations].
#' @inheritParams igp_ucb
#' @param count,epoch,penalty,step,epochs see [constraints].
#' @param inner the algorithm within an epoch: `"igp_ucb"` (the default), or `"gp_ts"` (Thompson sampling: one joint
#'   draw per round, scaled by `width_gp_ts()`).
#' @param width the confidence width (the multiplier of the posterior standard deviation), see [widths]. `NULL`, the
#'   default, computes it from `B`, `R`, `delta`, `gain` and `epochs`.
#' @param ... by name: `reuse` and, for noiseless constraints, `penalty_scale` and `penalty_power` of [constraints]; and
#'   the other arguments of [gp_bandit()]. An unknown name is an error.
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @section Errors: `epochs` is needed unless `width` is given.
#' @references Shi and Eryilmaz (2022), A Bayesian approach for stochastic continuum-armed bandit with long-term
#'   constraints, AISTATS.
#' @concept constrained Bayesian optimization
#' @concept long-term constraints
#' @concept upper confidence bound
#' @seealso [constraints], [regret_bounds_constraints], [baseline_constrained()].
#' @examples
#' x <- seq(0, 6, length.out = 41)
#' grid <- as.matrix(expand.grid(x1 = x, x2 = x))
#' problem <- bandit_problem(grid, -sin(grid[, 1]) - grid[, 2], noise = 0.1,
#'                           constraints = cbind(sin(grid[, 1]) * sin(grid[, 2]) + 0.95))
#' b <- gp_ucb_noiseless_constraints(grid, kernel_matern(2.5, 1), noise_var = 0.01, epoch = 20,
#'                                   width = width_constant(2))
#' set.seed(1)
#' summary(run_bandit(b, problem, 60))
#' @export
gp_ucb_noiseless_constraints <- function(domain, kernel, noise_var, B, R, delta = 0.1,
                                         gain = "realized", count = 1, epoch,
                                         penalty = c("exponential", "polynomial"), epochs = NULL,
                                         inner = c("igp_ucb", "gp_ts"), ..., width = NULL) {
  rule <- noiseless_rule(count, epoch, penalty, epochs, ...)
  inner <- check_choice(inner, c("igp_ucb", "gp_ts"))
  if (is.null(width)) width <- epoch_width(inner, B, R, delta, gain, epochs)
  without_penalty(list(policy = inner_policy(inner, width), constraints = rule), domain, kernel, noise_var, ...)
}

# The constraint rule from its own arguments; the other arguments in `...` are for gp_bandit().
noiseless_rule <- function(count, epoch, penalty, epochs, ..., reuse = TRUE, penalty_scale = 1, penalty_power = 2) {
  constraints_noiseless(count, epoch, penalty, reuse, epochs, penalty_scale, penalty_power)
}

noisy_rule <- function(count, epoch, step, epochs, ..., reuse = TRUE) {
  constraints_noisy(count, epoch, step, reuse, epochs)
}

without_penalty <- function(chosen, ..., penalty_scale, penalty_power) without_reuse(chosen, ...)

without_reuse <- function(chosen, ..., reuse) preset(chosen, ...)

#' @rdname gp_ucb_noiseless_constraints
#' @export
gp_ucb_noisy_constraints <- function(domain, kernel, noise_var, B, R, delta = 0.1,
                                     gain = "realized", count = 1, epoch, step, epochs = NULL,
                                     inner = c("igp_ucb", "gp_ts"), ..., width = NULL) {
  rule <- noisy_rule(count, epoch, step, epochs, ...)
  inner <- check_choice(inner, c("igp_ucb", "gp_ts"))
  if (is.null(width)) width <- epoch_width(inner, B, R, delta, gain, epochs)
  without_reuse(list(policy = inner_policy(inner, width), constraints = rule), domain, kernel, noise_var, ...)
}

register_script("ckb", list(
  title = "CKB (truncated primal-dual UCB)",
  settings = alist(step = check_number(step, lower = 0, open_lower = TRUE),
                   bound = check_number(bound, lower = 0, open_lower = TRUE)),
  phases = function(count) "policy",
  state = function(config) list(phi = numeric(config$constraints$count)),
  suggest = function(bandit, context) propose_ckb(bandit, context),
  recommend = recommend_by_means,
  random = FALSE
))

script_rpol <- list(
  title = "RPOL (rectified pessimistic-optimistic learning)",
  settings = alist(penalty = check_penalty_of_rounds(penalty)),
  phases = function(count) "policy",
  state = function(config) list(phi = rep(penalty_now(config$penalty, 1), config$constraints$count), open = numeric()),
  suggest = function(bandit, context) propose_rpol(bandit, context),
  recommend = recommend_by_means,
  random = FALSE
)
register_script("rpol", script_rpol)
register_script("rpol_made", utils::modifyList(script_rpol, list(
  title = "RPOL for late or changing values",
  settings = c(script_rpol$settings, alist(censor = check_censor(censor),
                                           every = if (!is.null(every)) check_count(every))),
  models = function(bandit) models_rpol(bandit)
)))
