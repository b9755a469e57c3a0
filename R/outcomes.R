# Objectives and outcome constraints, and the settings of each outcome's model. Layer: model.

# Several outcomes of one experiment: the goal of each, its model, and its names in the settings and in the log. The
# first objective is the bandit's main reward: `kernel`, `noise_var`, `mean` and `outputs` of the bandit and the log's
# column `reward` belong to it. The other outcomes are in config$outcomes with their settings. `outcome_config()`
# returns, for any outcome, the settings of a bandit that has this outcome only.

#' Several objectives and outcome constraints
#'
#' These functions declare each outcome of an experiment as an objective, a constraint, or a tracked metric.
#'
#' `outcomes` is a named list with one element for each number that an experiment gives, such as `list(yield =
#' to_maximize(), impurity = at_most(2), ph = at_least(5))`. It is an argument of [gp_bandit()], its presets,
#' [auto_bandit()], [maximize_bandit()] and [bandit_problem()]. Each outcome has its own Gaussian process, independent
#' of the others. Its values may arrive later than those of the others, or never.
#'
#' * `to_maximize()`, `to_minimize()`: objectives. With one, the bandit searches for its best value where the limits
#'   hold. With several, it searches for the Pareto front, `$front()`: the points that no other point dominates in all
#'   objectives.
#' * `at_most()`, `at_least()`, `in_range()`: outcome constraints (limits). A point is infeasible if its *expected*
#'   outcome is beyond the limit.
#' * `tracked()`: a tracked metric. It is modelled and has no effect on the search.
#'
#' Limits (outcome constraints of Ax and BoTorch) are on what must be measured. For what the inputs determine there is
#' `where` of [search_space()], for averages over rounds [constraints].
#'
#' A known function of outcomes and inputs, such as `goal = ~ price * buys`, is a [goal][goals].
#'
#' A string is a constructor with its defaults: `list(yield = "maximize", ph = "tracked")`.
#'
#' @param kernel,noise_var,mean prior covariance, noise variance and prior mean of the outcome's Gaussian process, in
#'   units of the outcome (if it is scaled, of the scaled one). `NULL`, the default: those of the bandit.
#' @param transform output transform of the outcome, `"auto"`, `"none"` or `"power"`, see [scale_outputs()]. Poor
#'   values (large ones of an outcome to be minimised) are clipped. `NULL`, the default: as in `outputs` of the bandit.
#' @param refit [refit_every()]; its `rounds` has no effect, because all outcomes are refitted together. `NULL`, the
#'   default: that of the bandit. In a search, an outcome with its own `kernel` has the refits of [gp_model()] with this
#'   kernel.
#' @param rewards response type of the outcome, [rewards_binary()] or [rewards_counts()]. `NULL`, the default: a number
#'   with Gaussian noise, see the section *Yes or no, and counts*.
#' @param limit,lower,upper finite numbers in units of the outcome.
#' @return An object of class `bandit_outcome`.
#' @section Yes or no, and counts:
#' `ok = at_least(0.8, rewards = rewards_binary())` models an outcome by its likelihood ([rewards]).
#'
#' * The limit is about the expected outcome. Here the probability of success must be at least 0.8, and `feasible` is
#'   the posterior probability that it is.
#' * `kernel` and `mean` (`NULL`: 0) are those of the latent function. Refits use one model, without `average`.
#' * Report 0 or 1, `TRUE` or `FALSE`, or \eqn{k} successes of \eqn{n} trials: `$observe(id, c(ok = 3), size = c(ok =
#'   4))`. In tables `size` is the column `ok_size`. Values from an `objective` have size 1.
#' * `to_maximize()` and `to_minimize()` support it as the only objective.
#'
#' In [auto_bandit()] and [maximize_bandit()] nothing needs to be declared. The likelihood of yes and no,
#' `rewards_binary(approximation = "variational")`, is used if
#' * the limit is between 0 and 1, such as `limits = ~ ok >= 0.5`,
#' * at least five values were observed, all are 0 or 1, and both occur.
#'
#' Another value, or a `size`, makes the outcome a number again. Its own `transform` or `noise_var` keeps it one. With a
#' limit of 0.5 results count as certain, see [recommended-point]; other limits are about their probability. Declare
#' `rewards` if results are random.
#'
#' `bench/results/yes_no.md` in the sources compares the likelihood with a Gaussian model of 0 and 1.
#' @section Reporting outcomes:
#' * `$observe(data)`: `data` has `id` and a column for each outcome. A missing column or `NA` is a value that is still
#'   pending. `status` is `"partial"` until all values are observed.
#' * `$observe(id, c(yield = 61))`: some outcomes of one query.
#' * `$amend(id, c(yield = 62))`: correct a value.
#' * `$withdraw(id, outcome = "ph")`: this value will never arrive.
#' * `$fail(id)` with `failures = "avoid"` or `"doubt"` ([bandit-queries]): each missing outcome counts as its worst
#'   value so far. That is the smallest for `to_maximize()` and `at_least()`, the largest for `to_minimize()` and
#'   `at_most()`. For `in_range()`, `tracked()` and outcomes with a likelihood no value is used.
#'
#' A pending value of an outcome is hallucinated ([pending_hallucinate()]): it reduces the variance, without a change
#' of the mean.
#' @section Results:
#' * `$posterior()` has `yield_mean`, `yield_sd`, and so on. `feasible` is the probability that all limits hold.
#' * `$best(feasible = 0.95)` is the point with the largest mean of the objective where all limits hold with at least
#'   that probability. If there is none, it is the point with the largest probability, with a warning of class
#'   `gpbandits_infeasible`.
#' * `$front()` is the Pareto front. Column `evaluated`: was the point evaluated? [auto_bandit()] has other points only
#'   if each is better by two sd, in some objective, than every evaluated one.
#' @section Errors: At least one outcome must be an objective. `outcomes` cannot be combined with `changes`,
#'   `constraints`, `rewards` of the bandit, [pending_censor()], or policies for one outcome. Outcomes with a likelihood
#'   need [width_constant()] or [width_function()], if the policy has a width.
#' @seealso [outcome-policies] for formulas and guarantees, [policy_ehvi()]; [safe_opt()] if unsafe points must not be
#'   evaluated; [constraints] for limits on average; `where` of [search_space()] for constraints on inputs.
#' @concept multi-objective optimization
#' @concept Pareto front
#' @concept constrained Bayesian optimization
#' @concept outcome constraints
#' @concept tracked metric
#' @concept hypervolume
#' @concept binary outcomes
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' b <- gp_ei(x, kernel_se(0.2), noise_var = 1e-3,
#'            outcomes = list(yield = to_maximize(), impurity = at_most(0.5)))
#' for (t in 1:8) {
#'   q <- b$suggest()
#'   b$observe(data.frame(id = q$id, yield = sin(5 * q$x1), impurity = q$x1))
#' }
#' b$best()
#'
#' # A limit on the probability of success:
#' b <- gp_ei(x, kernel_se(0.2), noise_var = 1e-3,
#'            outcomes = list(yield = to_maximize(), ok = at_least(0.6, rewards = rewards_binary())))
#' b$add(arm = c(1, 20, 40, 60), reward = data.frame(yield = 1:4, ok = c(TRUE, TRUE, TRUE, FALSE)))
#' b$best(feasible = 0.5)
#' @name outcomes
NULL

#' Policies with limits and several objectives
#'
#' How acquisition functions treat limits and several objectives, to choose one for a bandit with [outcomes]:
#' constrained expected improvement, CONFIG and Thompson sampling.
#'
#' @section Policies with one objective and limits:
#' Let \eqn{f} be the objective, with limits \eqn{l_j \le g_j \le u_j}{l_j <= g_j <= u_j} on the other outcomes.
#'
#' * [policy_ei()] (constrained expected improvement; Schonlau et al. 1998, Gardner et al. 2014) maximises
#'   \deqn{\log EI(x) + \sum_j \log P(l_j \le g_j(x) \le u_j).}{log EI(x) + sum_j log P(l_j <= g_j(x) <= u_j).}
#'   The incumbent is the largest posterior mean among the evaluated points where the limits hold with probability at
#'   least 1/2. If there is none, the point with the largest probability of feasibility is selected.
#' * `policy_ei(incumbent = "draws")` (noisy EI; Letham et al. 2019) takes the incumbent from 128 joint draws of all
#'   outcomes at the evaluated points \eqn{Z}: in each draw, the largest \eqn{f(z)} where the draw satisfies the limits.
#'   It maximises the log of the mean of EI times the probability of feasibility, both given the draw. In draws without
#'   a feasible point, EI is replaced by the prior sd of \eqn{f}.
#' * [policy_ucb()] (CONFIG; Xu et al. 2023) maximises \eqn{\mu_f + w\sigma_f}{mu_f + w sd_f} over the points where
#'   every limit *may* hold:
#'   \deqn{\mu_j - w_j\sigma_j \le u_j, \qquad \mu_j + w_j\sigma_j \ge l_j.}{mu_j - w_j sd_j <= u_j, mu_j + w_j sd_j >=
#'   l_j.}
#'   If there are none, it minimises the total violation in prior standard deviations. \eqn{w} is the confidence width,
#'   the multiplier of the posterior sd. Its `delta` is divided by the number of outcomes that are objectives or have
#'   limits. So all bounds hold together with probability \eqn{1 - \delta}{1 - delta}.
#' * [policy_ts()] (Thompson sampling) draws all outcomes jointly, and maximises the objective's draw where the other
#'   draws satisfy their limits. If they do nowhere, it minimises the total violation.
#' * [policy_uniform()], and [policy_function()] with means and sds of all outcomes.
#'
#' Other policies are errors with limits.
#' @section Policies with several objectives:
#' [policy_ehvi()] (two to four objectives), [policy_hypervolume()], [policy_uniform()] and [policy_function()].
#' @section Guarantee:
#' For CONFIG with the confidence widths of a theorem, with probability \eqn{1 - \delta}{1 - delta}, for all \eqn{T}:
#' \deqn{\sum_{t \le T} [f(x^*) - f(x_t)]_+ \le 2 w_T \sqrt{c_\lambda T \gamma_T}, \qquad c_\lambda = 2 / \log(1 +
#' 1/\lambda).}{sum of [f(x*) - f(x_t)]+ over t <= T is at most 2 w_T sqrt(c T gamma_T), with c = 2 / log(1 +
#' 1/lambda).}
#' For each limit the sum of its violations has the same bound, with its own \eqn{w} and \eqn{\gamma}{gamma}. Later
#' feasible points do not compensate for earlier violations. If no point may satisfy the limits, the problem is
#' infeasible with the same probability, and `summary()` reports this. Original result, not peer-reviewed: the feasible
#' set is contained in the points that may satisfy the limits. All values must arrive. On a box, limits are satisfied
#' up to 1e-6 prior standard deviations. There is no guarantee for other policies or with fitted hyperparameters.
#' @references Gardner, Kusner, Xu, Weinberger and Cunningham (2014), Bayesian optimization with inequality constraints,
#'   ICML; Letham, Karrer, Ottoni and Bakshy (2019) <https://arxiv.org/abs/1706.07094>;
#'   Schonlau, Welch and Jones (1998) \doi{10.1214/lnms/1215456182}; Xu, Jiang, Svetozarevic and Jones (2023)
#'   <https://arxiv.org/abs/2211.00162>.
#' @seealso [outcomes], [policies], [policy_ehvi()].
#' @concept constrained Bayesian optimization
#' @concept outcome constraints
#' @concept multi-objective optimization
#' @examples
#' set.seed(1)
#' b <- gp_bandit(1:30 / 30, kernel_se(0.2), noise_var = 0.01, policy_ei(),
#'                outcomes = list(yield = to_maximize(), acid = at_most(0.5)))
#' for (t in 1:8) {
#'   q <- b$suggest()
#'   b$observe(data.frame(id = q$id, yield = sin(3 * q$x1), acid = q$x1))
#' }
#' b$best() # the largest yield that keeps the limit
#' @name outcome-policies
NULL

#' @rdname outcomes
#' @export
to_maximize <- function(kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL, rewards = NULL) {
  new_part("bandit_outcome", "maximize")
}

#' @rdname outcomes
#' @export
to_minimize <- function(kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL, rewards = NULL) {
  new_part("bandit_outcome", "minimize")
}

#' @rdname outcomes
#' @export
at_most <- function(limit, kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL,
                    rewards = NULL) {
  new_part("bandit_outcome", "at_most")
}

#' @rdname outcomes
#' @export
at_least <- function(limit, kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL,
                     rewards = NULL) {
  new_part("bandit_outcome", "at_least")
}

#' @rdname outcomes
#' @export
in_range <- function(lower, upper, kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL,
                     rewards = NULL) {
  new_part("bandit_outcome", "in_range")
}

#' @rdname outcomes
#' @export
tracked <- function(kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL, rewards = NULL) {
  new_part("bandit_outcome", "tracked")
}

outcome_model <- alist(
  kernel = if (!is.null(kernel)) as_kernel(kernel),
  noise_var = if (!is.null(noise_var)) check_positive(noise_var, "noise_var"),
  mean = if (!is.null(mean)) check_numbers(mean, "mean", lower = -largest_number, upper = largest_number),
  transform = if (!is.null(transform)) check_choice(transform, c("auto", "none", "power"), "transform"),
  refit = if (!is.null(refit)) check_class(refit, "bandit_refit", "refit", hint = "refit_every()"),
  rewards = check_outcome_rewards(rewards, noise_var, transform)
)

# The response type of an outcome; NULL for numbers with Gaussian noise.
check_outcome_rewards <- function(rewards, noise_var, transform) {
  if (is.null(rewards)) return(NULL)
  rewards <- as_part(rewards, "bandit_rewards", "rewards", hint = "rewards_binary(), rewards_counts()")
  if (!trait(rewards, "adds")) {
    stop_argument("rewards", sprintf("rewards that are %s", trait(rewards, "title")),
                  "rewards_binary(), rewards_counts() or NULL for an outcome")
  }
  if (rewards$direction != "maximize") {
    stop_argument("rewards", "one with its own `direction`", "one without it",
                  try = "`to_minimize()`, which is the direction of an outcome")
  }
  for (arg in c("noise_var", "transform")) {
    check_absent(get(arg), arg, sprintf("results that are %s have no such setting", trait(rewards, "title")))
  }
  rewards
}

# A limit is about the expected outcome, so it must be possible as such.
check_possible_limit <- function(limit, arg, rewards) {
  if (!is.null(rewards) && !is.finite(trait(rewards, "latent")(limit))) {
    stop_argument(arg, describe(limit), paste("for this outcome", trait(rewards, "expected")),
                  try = if (rewards$kind == "binary") "`at_least(0.5, rewards = rewards_binary())`")
  }
}

check_limit <- function(x, arg) check_number(x, arg, lower = -largest_number, upper = largest_number)

# `sense`: 1 if large values are good, -1 if small values are good, 0 otherwise.
outcome_entries <- list(
  maximize = list(settings = outcome_model, later = "rewards",
                  traits = list(objective = TRUE, sense = 1, title = function(x) with_kind(x, "maximised"))),
  minimize = list(settings = outcome_model, later = "rewards",
                  traits = list(objective = TRUE, sense = -1, title = function(x) with_kind(x, "minimised"))),
  at_most = list(settings = c(alist(limit = check_limit(limit, "limit")), outcome_model), later = "rewards",
                 together = quote(check_possible_limit(limit, "limit", rewards)),
                 traits = list(sense = -1, upper = function(x) x$limit,
                               title = function(x) with_kind(x, sprintf("at most %.6g", x$limit)))),
  at_least = list(settings = c(alist(limit = check_limit(limit, "limit")), outcome_model), later = "rewards",
                  together = quote(check_possible_limit(limit, "limit", rewards)),
                  traits = list(sense = 1, lower = function(x) x$limit,
                                title = function(x) with_kind(x, sprintf("at least %.6g", x$limit)))),
  in_range = list(settings = c(alist(lower = check_limit(lower, "lower"),
                                     upper = check_number(upper, "upper", lower = lower, upper = largest_number)),
                               outcome_model),
                  later = "rewards",
                  together = quote({
                    check_possible_limit(lower, "lower", rewards)
                    check_possible_limit(upper, "upper", rewards)
                  }),
                  traits = list(lower = function(x) x$lower, upper = function(x) x$upper,
                                title = function(x) with_kind(x, sprintf("between %.6g and %.6g", x$lower, x$upper)))),
  tracked = list(settings = outcome_model, later = "rewards",
                 traits = list(title = function(x) with_kind(x, "tracked")))
)

# An outcome's goal in words, with its response type.
with_kind <- function(outcome, text) {
  if (is.null(outcome$rewards)) text
  else sprintf("%s (%s)", text, sub(" \\(.*", "", trait(outcome$rewards, "title")))
}

outcome_traits <- list(objective = FALSE, sense = 0, lower = -Inf, upper = Inf)

#' @export
print.bandit_outcome <- function(x, ...) {
  check_class(x, "bandit_outcome")
  cat(sprintf("<outcome: %s>\n", trait(x, "title")))
  invisible(x)
}

is_limited <- function(outcome) trait(outcome, "lower") > -Inf || trait(outcome, "upper") < Inf

# ---- limits in a formula ---------------------------------------------------------------

# `~ impurity <= 2 & ph >= 5`: the outcomes named in a formula, and one objective with the name `reward`.
outcomes_of_limits <- function(limits, direction = "maximize", reward = "reward") {
  if (!inherits(limits, "formula") || length(limits) != 2) {
    stop_argument("limits", describe(limits), "a one-sided formula such as ~ impurity <= 2 & ph >= 5")
  }
  home <- environment(limits)
  found <- lapply(conjuncts(limits[[2]]), limit_of, home = if (is.environment(home)) home else globalenv())
  names <- vapply(found, `[[`, "", "name")
  outcomes <- stats::setNames(list(if (direction == "minimize") to_minimize() else to_maximize()), reward)
  for (name in unique(names)) {
    of_name <- found[names == name]
    lower <- max(vapply(of_name, `[[`, 0, "lower"))
    upper <- min(vapply(of_name, `[[`, 0, "upper"))
    if (lower > upper) {
      stop_argument("limits", sprintf("limits that no %s can satisfy", name), "limits that can hold together")
    }
    outcomes[[name]] <- if (lower == -Inf) at_most(upper)
                        else if (upper == Inf) at_least(lower) else in_range(lower, upper)
  }
  outcomes
}

# Parses `name <= number` and similar comparisons, in either order.
limit_of <- function(expression, home) {
  allowed <- "comparisons of an outcome's name with a number (<=, >=, <, >), joined by &"
  refuse <- function() stop_argument("limits", paste(deparse(expression), collapse = " "), allowed)
  operator <- if (is.call(expression)) as.character(expression[[1]])[1]
  if (is.null(operator) || !operator %in% c("<=", "<", ">=", ">") || length(expression) != 3) refuse()
  below <- operator %in% c("<=", "<")
  sides <- as.list(expression[-1])
  if (!is.name(sides[[1]]) || is_value_there(sides[[1]], home) && is.name(sides[[2]])) {
    sides <- rev(sides)
    below <- !below
  }
  if (!is.name(sides[[1]])) refuse()
  value <- catch_error(eval(sides[[2]], home), function(e) refuse())
  if (!is_number(value) || length(value) != 1 || !is.finite(value)) refuse()
  list(name = as.character(sides[[1]]), lower = if (below) -Inf else as.double(value),
       upper = if (below) as.double(value) else Inf)
}

is_value_there <- function(name, home) is_number(get0(as.character(name), envir = home, mode = "numeric"))

# The outcomes given by one of two arguments; NULL if neither is given.
given_outcomes <- function(outcomes, limits, direction = "maximize", reward = "reward") {
  if (is.null(limits)) return(outcomes)
  if (!is.null(outcomes)) stop_unused("limits", "`outcomes` is given too. Use `at_most()` and `at_least()` there")
  outcomes_of_limits(limits, direction, reward)
}

# The same with a goal: the goal in the settings (NULL: none) and the outcomes. A goal that is prepared already is
# returned.
given_goal <- function(goal, outcomes, limits, direction, inputs, reward = "reward") {
  if (is.null(goal)) return(list(goal = NULL, outcomes = given_outcomes(outcomes, limits, direction, reward)))
  if (is.list(goal)) return(list(goal = goal, outcomes = outcomes))
  limited <- if (!is.null(limits)) outcomes_of_limits(limits)[-1]
  parts <- goal_from_formula(goal, outcomes, direction, c(inputs, setdiff(names(limited), names(outcomes))))
  parts$outcomes[names(limited)] <- limited
  parts
}

# The name of a single outcome, from the argument `reward`; NULL for "reward".
check_reward_name <- function(reward, domain, contexts, outcomes) {
  if (is.null(reward)) return(NULL)
  if (is_text(reward) && length(reward) == 1 && !is.na(reward) && nzchar(reward)) reward <- enc2utf8(reward)
  else stop_argument("reward", describe(reward), "the name of the outcome, such as \"Yield (%)\"")
  if (!is.null(outcomes)) stop_unused("reward", "`outcomes` has the name of each outcome")
  taker <- name_taken_by(reward, list(domain = domain, context_names = contexts))
  if (!is.null(taker)) stop_argument("reward", sprintf("%s, which is %s", dQuote(reward, FALSE), taker), "another name")
  if (reward != "reward") reward
}

# ---- settings --------------------------------------------------------------------------

# The outcomes in the form used by the settings: the first objective first, each with all its settings. `config`: the
# bandit's settings.
complete_outcomes <- function(outcomes, config) {
  if (is.null(outcomes)) return(NULL)
  outcomes <- check_outcome_list(outcomes, config)
  if (length(outcomes) > 1 || !is.null(config$goal)) check_alone_with_outcomes(config)
  lapply(outcomes, complete_outcome, config)
}

# Are results given by the outcomes' names? (Not with a single objective.)
are_several <- function(outcomes) length(outcomes) > 1 || length(outcomes) == 1 && !trait(outcomes[[1]], "objective")

# Checks names and classes, and that there is at least one objective.
check_outcome_list <- function(outcomes, config = NULL, goal = !is.null(config$goal)) {
  allowed <- "a named list of to_maximize(), to_minimize(), at_most(), at_least(), in_range(), tracked()"
  if (!is.list(outcomes) || is.object(outcomes) || length(outcomes) == 0) {
    stop_argument("outcomes", describe(outcomes), allowed)
  }
  names <- names(outcomes)
  if (!are_names(names)) {
    stop_argument("outcomes", "a list without a separate name for each element", allowed)
  }
  for (name in names) {
    outcomes[[name]] <- as_part(outcomes[[name]], "bandit_outcome", sprintf("outcomes$%s", name),
                                hint = "to_maximize(), at_most(), ...")
  }
  for (name in names) check_outcome_name(name, config)
  if (goal) return(outcomes)
  first <- which(vapply(outcomes, trait, NA, "objective"))
  if (length(first) == 0) {
    stop_argument("outcomes", "a list without an objective",
                  "a list with to_maximize() or to_minimize() among its elements")
  }
  outcomes[c(first[1], setdiff(seq_along(outcomes), first[1]))]
}

# If an input has the name of a column of the history, that input gets a leading dot there. An outcome cannot be renamed
# so: users report values by its name.
check_outcome_name <- function(name, config) {
  taker <- name_taken_by(name, config)
  if (is.null(taker)) return(invisible())
  stop_argument("outcomes", sprintf("an outcome named %s, which is %s", dQuote(name, FALSE), taker),
                paste("outcomes with names other than those of inputs, contexts and the history's columns, and not",
                      "ending in _mean, _sd or _noise_var"))
}

# The reason in words if a name is already used; NULL if an outcome may have this name.
name_taken_by <- function(name, config) {
  if (name %in% config$domain$names) "an input's name, too"
  else if (name %in% config$context_names) "a context's name, too"
  else if (name %in% c("id", "arm", setdiff(history_columns, "reward"))) "a column of `$history()`"
  else if (grepl("_(mean|sd)$", name)) "the form of a column of `$posterior()`"
  else if (grepl("_noise_var$", name)) "the form of a column of `$history()`"
}

history_columns <- c("reward", "mean", "sd", "width", "action", "segment", "status", "feasible", "noise_var")

check_alone_with_outcomes <- function(config) {
  for (rule in c("changes", "constraints", "rewards")) {
    if (!is.null(config[[rule]])) {
      stop_argument("outcomes", sprintf("several, together with `%s`", rule),
                    sprintf("one outcome if `%s` is given", rule),
                    try = if (rule == "rewards") "`rewards` of an outcome, such as `at_least(0.5, rewards = )`")
    }
  }
  if (!is.null(config$goal) && !is.null(config$pending$lipschitz)) {
    stop_argument("pending", "pending_penalize() with a Lipschitz constant, for a `goal`", "another rule")
  }
  if (trait(config$pending, "stands_in")) {
    stop_argument("pending", "pending_censor() with several outcomes",
                  "another rule, because censored rewards are defined for one outcome only")
  }
  if (!is.null(config$outputs) && is_fixed(config$outputs)) {
    stop_argument("outputs", "scale_outputs() with a given centre and scale, for several outcomes",
                  "NULL, or scale_outputs() without a centre and scale")
  }
}

# Settings that an outcome does not specify are taken from the bandit.
complete_outcome <- function(outcome, config) {
  if (!is.null(outcome$rewards)) return(complete_response(outcome, config))
  outputs <- outcome_outputs(outcome, config)
  mean <- if (is.null(outcome$mean)) config$mean else check_prior_mean(outcome$mean, config$domain)
  # (Without scaling, a prior mean is in the outcome's units.)
  if (!is.null(outputs) && is_fixed(outputs)) mean <- -mean
  out <- list(role = outcome,
              kernel = if (is.null(outcome$kernel)) config$kernel else in_order_of_arms(outcome$kernel, config$domain),
              noise_var = or_else(outcome$noise_var, config$noise_var),
              mean = mean, outputs = outputs,
              refit = if (is.null(config$refit)) NULL else or_else(outcome$refit, config$refit))
  c(out, if (!is.null(config$rewards)) list(rewards = config$rewards))
}

# The same for an outcome with a likelihood. Its kernel and mean are those of the latent function.
complete_response <- function(outcome, config) {
  rewards <- outcome$rewards
  if (trait(outcome, "objective") && trait(outcome, "sense") < 0) rewards$direction <- "minimize"
  list(role = outcome,
       kernel = if (is.null(outcome$kernel)) config$kernel else in_order_of_arms(outcome$kernel, config$domain),
       noise_var = 1, mean = if (is.null(outcome$mean)) 0 else check_prior_mean(outcome$mean, config$domain),
       outputs = NULL,
       refit = if (!is.null(config$refit)) latent_refit(or_else(outcome$refit, config$refit)), rewards = rewards)
}

outcome_outputs <- function(outcome, config) {
  direction <- if (trait(outcome, "sense") < 0) "minimize" else "maximize"
  transform <- or_else(outcome$transform, config$outputs$transform)
  # (Poor values are clipped, and a goal has its own idea of what is poor.)
  if (!is.null(config$goal) && !is.null(transform)) transform <- or_else(outcome$transform, "none")
  if (!is.null(transform)) return(scale_outputs(direction, transform))
  # Without an outcome transform, an objective that is minimised changes its sign.
  if (trait(outcome, "objective") && direction == "minimize") scale_outputs(direction, centre = 0, scale = 1)
}

outcome_roles <- function(config) {
  if (is.null(config$outcomes)) stats::setNames(list(to_maximize()), outcome_names(config))
  else lapply(config$outcomes, `[[`, "role")
}

has_limits <- function(config) !is.null(config$outcomes) && any(vapply(outcome_roles(config), is_limited, NA))

objectives <- function(config) {
  if (!is.null(config$goal)) goal_column
  else if (is.null(config$outcomes)) outcome_names(config)
  else names(Filter(function(role) trait(role, "objective"), outcome_roles(config)))
}

# Names of outcomes, or of columns, in prints and on axes. A minimised outcome without a name is no reward: it is called
# "objective".
shown_names <- function(names, config) {
  reward <- outcome_roles(config)[["reward"]]
  is_minimised <- if (is.null(config$outcomes)) is_minimising(config)
                  else !is.null(reward) && trait(reward, "sense") < 0
  if (is_minimised) sub("^reward(_mean|_sd)?$", "objective\\1", names) else names
}

shown_objectives <- function(config) shown_names(objectives(config), config)

objective_label <- function(config) shown_objectives(config)[1]

# The error probability of a width is divided among all bounded outcomes.
shared_width <- function(width, config) {
  bounded <- sum(vapply(outcome_roles(config), function(role) is_limited(role) || trait(role, "objective"), NA))
  if (is.null(width) || bounded == 1) return(width)
  if (!is.null(width$delta)) width$delta <- width$delta / bounded
  if (!is.null(width$base)) width$base <- shared_width(width$base, config)
  width
}

# ---- in the settings -----------------------------------------------------------------------

describe_outcomes <- function(config) {
  roles <- outcome_roles(config)
  goal <- if (!is.null(config$goal)) paste0("goal ", goal_text(config$goal), "; ")
  each <- sprintf("%s %s", shown_names(names(roles), config), vapply(roles, trait, "", "title"))
  paste0(goal, paste(each, collapse = ", "))
}

# Checks a reference point: a number for each objective, by name.
reference_of <- function(reference, wanted) {
  if (length(reference) != length(wanted) || !is.null(names(reference)) && !setequal(names(reference), wanted)) {
    stop_argument("reference", describe(reference),
                  paste("a number for each objective:", paste(wanted, collapse = ", ")))
  }
  if (is.null(names(reference))) stats::setNames(reference, wanted) else reference[wanted]
}

register_family("bandit_outcome", outcome_entries, tag = "kind", traits = outcome_traits, prefix = "to_",
                bare = c("at_most", "at_least", "in_range", "tracked"))
