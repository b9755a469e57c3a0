# Objectives and outcome constraints, and the settings of each outcome's model. Layer: model.

# Several outcomes of one experiment: what they are for, how each is modelled, and how they are told apart in the
# settings and in the log. The first objective is the bandit's own reward (kernel, noise_var, mean, outputs and the
# log's column `reward` are its); the others stand in config$outcomes with theirs. `outcome_config()` makes of any of
# them the settings of a bandit that had it alone.

#' What the outcomes of an experiment are for
#'
#' For `outcomes` of [gp_bandit()], its presets, [auto_bandit()], [maximize_bandit()] and [bandit_problem()]: a named
#' list with one of these for each number that an experiment gives,
#' `list(yield = to_maximize(), impurity = at_most(2), ph = at_least(5))`. Each outcome has a Gaussian process of its
#' own, independent of the others; its values may come later than those of the others, or never.
#'
#' @section Objectives: `to_maximize()`, `to_minimize()`. With one of them the bandit looks for its best value where the
#'   limits hold; with several for places that no other place beats in all of them: `$front()`.
#' @section Limits: `at_most()`, `at_least()`, `in_range()`: where the *expected* outcome is beyond, a place is not
#'   feasible. `tracked()`: modelled, and otherwise of no consequence.
#'
#' @section What is played under limits, with one objective \eqn{f} and limits \eqn{l_j \le g_j \le u_j}:
#'   * [policy_ei()]: the largest
#'     \eqn{\log EI(x) + \sum_j \log P(l_j \le g_j(x) \le u_j)}{log EI(x) + sum_j log P(l_j <= g_j(x) <= u_j)}, computed
#'     in logarithms throughout (Schonlau et al. 1998; Gardner et al. 2014). The incumbent is the largest posterior mean
#'     among the places played where the limits hold with probability at least 1/2; as long as there is none, the most
#'     probably feasible place is played.
#'   * [policy_ucb()]: CONFIG (Xu et al. 2023): the largest \eqn{\mu_f + w\sigma_f} among the places where every limit
#'     *may* hold, \eqn{\mu_j - w_j\sigma_j \le u_j} and \eqn{\mu_j + w_j\sigma_j \ge l_j}; where there are none, the
#'     least sum of what is missing, in prior standard deviations. A width's `delta` is divided by the number of
#'     outcomes that are bounded, so that all bounds hold together with probability \eqn{1 - \delta}{1 - delta}.
#'   * [policy_ts()]: a joint draw of each outcome; the best of the objective's where all others keep their limits; if
#'     nowhere, the least sum of what is missing.
#'   * [policy_uniform()], and [policy_function()], which is given means and sds of all outcomes. Other policies are
#'     refused beside limits.
#'
#' Several objectives: [policy_ehvi()] (two), [policy_hypervolume()], [policy_uniform()], [policy_function()].
#'
#' @section Values: `$observe(data)`: a column per outcome beside `id`; a column that is missing and `NA` say that the
#'   value is not known yet (`status` is `"partial"` until all are). `$observe(id, c(yield = 61))`: some outcomes of one
#'   query. `$amend(id, c(yield = 62))`. `$withdraw(id, outcome = "ph")`: this value will never come. `$fail(id)` under
#'   `failures = "avoid"` or `"doubt"`: every outcome that is not known counts as its worst value so far: the least of
#'   what is to be large, the largest of what is to be small or at most something; of `in_range()` and `tracked()`
#'   nothing is learned. Each outcome is hallucinated ([pending_hallucinate()]) as long as it is pending itself.
#' @section Answers: `$posterior()` has `yield_mean`, `yield_sd`, ..., and `feasible`, the probability that all limits
#'   hold. `$best(feasible = 0.95)`: the largest mean of the objective where that is at least so much; where it nowhere
#'   is, the most probable place, with a warning of class `gpbandits_infeasible`.
#'
#' @param kernel,noise_var,mean the outcome's prior covariance, noise variance and prior mean, in its units (of outcomes
#'   that are scaled: of the scaled ones); `NULL`: the bandit's.
#' @param transform `NULL`: as the bandit's `outputs` say; or `"auto"`, `"none"`, `"power"`: the outcome is seen scaled,
#'   see [scale_outputs()]. Bad values (large ones of what is to be small) are drawn in.
#' @param refit `NULL`: the bandit's; or [refit_every()], whose `rounds` are not looked at: all outcomes are refitted
#'   together.
#' @param limit,lower,upper finite numbers, in units of the outcome.
#' @return An object of class `bandit_outcome`.
#' @section Errors: a `gpbandits_error` where no outcome is an objective, names are missing or taken, limits are no
#'   finite numbers; together with `changes`, `constraints`, `rewards`, [pending_censor()], or a policy that knows one
#'   outcome only.
#' @section Guarantee: CONFIG, where widths are those of a theorem: with probability \eqn{1 - \delta}{1 - delta}, for
#'   all \eqn{T}, \eqn{\sum_t [f(x^*) - f(x_t)]_+ \le 2 w_T \sqrt{c_\lambda T \gamma_T}}{sum of [f(x*) - f(x_t)]+ <= 2
#'   w_T sqrt(c T gamma_T)}, and for each limit the same of the sum of what it is exceeded by, with its own \eqn{w} and
#'   \eqn{\gamma}{gamma}, \eqn{c_\lambda = 2 / \log(1 + 1/\lambda)}{c = 2 / log(1 + 1/lambda)}: what is violated once is
#'   not made good later. If nowhere a limit may hold, no place is feasible, with the same probability: `summary()` says
#'   so. (Derived here: the feasible set lies among the places where limits may hold. All values must arrive. On a box
#'   the search leaves up to 1e-6 prior standard deviations of a limit.) None for the others, nor with fitted
#'   hyperparameters.
#' @references Gardner et al. (2014) ICML; Schonlau, Welch and Jones (1998) \doi{10.1214/lnms/1215456182}; Xu et al.
#'   (2023) <https://arxiv.org/abs/2211.00162>.
#' @seealso [policy_ehvi()], [safe_opt()] where nothing unsafe may be tried, [constraints] for limits that hold on
#'   average.
#' @section Strings: a string stands for the constructor with its defaults wherever an outcome is expected:
#'   `list(yield = "maximize")` is `list(yield = to_maximize())`. An unknown string is an error that lists the
#'   choices.
#' @examples
#' x <- seq(0, 1, length.out = 60)
#' b <- gp_ei(x, kernel_se(0.2), noise_var = 1e-3,
#'            outcomes = list(yield = to_maximize(), impurity = at_most(0.5)))
#' for (t in 1:8) {
#'   q <- b$suggest()
#'   b$observe(data.frame(id = q$id, yield = sin(5 * q$x1), impurity = q$x1))
#' }
#' b$best()
#' @name outcomes
NULL

#' @rdname outcomes
#' @export
to_maximize <- function(kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL) {
  new_part("bandit_outcome", "maximize")
}

#' @rdname outcomes
#' @export
to_minimize <- function(kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL) {
  new_part("bandit_outcome", "minimize")
}

#' @rdname outcomes
#' @export
at_most <- function(limit, kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL) {
  new_part("bandit_outcome", "at_most")
}

#' @rdname outcomes
#' @export
at_least <- function(limit, kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL) {
  new_part("bandit_outcome", "at_least")
}

#' @rdname outcomes
#' @export
in_range <- function(lower, upper, kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL) {
  new_part("bandit_outcome", "in_range")
}

#' @rdname outcomes
#' @export
tracked <- function(kernel = NULL, noise_var = NULL, mean = NULL, transform = NULL, refit = NULL) {
  new_part("bandit_outcome", "tracked")
}

outcome_model <- alist(
  kernel = if (!is.null(kernel)) as_kernel(kernel),
  noise_var = if (!is.null(noise_var)) check_positive(noise_var, "noise_var"),
  mean = if (!is.null(mean)) check_numbers(mean, "mean", lower = -largest_number, upper = largest_number),
  transform = if (!is.null(transform)) check_choice(transform, c("auto", "none", "power"), "transform"),
  refit = if (!is.null(refit)) check_class(refit, "bandit_refit", "refit", hint = "refit_every()")
)

check_limit <- function(x, arg) check_number(x, arg, lower = -largest_number, upper = largest_number)

# `sense`: 1 where large values are good, -1 where small ones are, 0 where neither.
outcome_entries <- list(
  maximize = list(settings = outcome_model, traits = list(objective = TRUE, sense = 1, title = "maximised")),
  minimize = list(settings = outcome_model, traits = list(objective = TRUE, sense = -1, title = "minimised")),
  at_most = list(settings = c(alist(limit = check_limit(limit, "limit")), outcome_model),
                 traits = list(sense = -1, upper = function(x) x$limit,
                               title = function(x) sprintf("at most %.6g", x$limit))),
  at_least = list(settings = c(alist(limit = check_limit(limit, "limit")), outcome_model),
                  traits = list(sense = 1, lower = function(x) x$limit,
                                title = function(x) sprintf("at least %.6g", x$limit))),
  in_range = list(settings = c(alist(lower = check_limit(lower, "lower"),
                                     upper = check_number(upper, "upper", lower = lower, upper = largest_number)),
                               outcome_model),
                  traits = list(lower = function(x) x$lower, upper = function(x) x$upper,
                                title = function(x) sprintf("between %.6g and %.6g", x$lower, x$upper))),
  tracked = list(settings = outcome_model, traits = list(title = "tracked"))
)

outcome_traits <- list(objective = FALSE, sense = 0, lower = -Inf, upper = Inf)

#' @export
print.bandit_outcome <- function(x, ...) {
  check_class(x, "bandit_outcome")
  cat(sprintf("<outcome: %s>\n", trait(x, "title")))
  invisible(x)
}

is_limited <- function(outcome) trait(outcome, "lower") > -Inf || trait(outcome, "upper") < Inf

# ---- limits in a formula ---------------------------------------------------------------

# `~ impurity <= 2 & ph >= 5`: the outcomes that it names, with one objective, called `reward`, besides.
outcomes_of_limits <- function(limits, direction = "maximize") {
  if (!inherits(limits, "formula") || length(limits) != 2) {
    stop_argument("limits", describe(limits), "a one-sided formula such as ~ impurity <= 2 & ph >= 5")
  }
  home <- environment(limits)
  found <- lapply(conjuncts(limits[[2]]), limit_of, home = if (is.environment(home)) home else globalenv())
  names <- vapply(found, `[[`, "", "name")
  outcomes <- list(reward = if (direction == "minimize") to_minimize() else to_maximize())
  for (name in unique(names)) {
    of_name <- found[names == name]
    lower <- max(vapply(of_name, `[[`, 0, "lower"))
    upper <- min(vapply(of_name, `[[`, 0, "upper"))
    if (lower > upper) stop_argument("limits", sprintf("limits that no %s keeps", name),
                                     "limits that can hold together")
    outcomes[[name]] <- if (lower == -Inf) at_most(upper)
                        else if (upper == Inf) at_least(lower) else in_range(lower, upper)
  }
  outcomes
}

# `name <= number` and its relatives, either way round.
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

# Outcomes as one of two arguments gives them; NULL for neither.
given_outcomes <- function(outcomes, limits, direction = "maximize") {
  if (is.null(limits)) return(outcomes)
  if (!is.null(outcomes)) stop_argument("limits", "given together with `outcomes`",
                                        "NULL where `outcomes` says what they are for")
  outcomes_of_limits(limits, direction)
}

# ---- settings --------------------------------------------------------------------------

# The outcomes as the settings have them: the first objective first, each complete. `config`: the bandit's settings.
complete_outcomes <- function(outcomes, config) {
  if (is.null(outcomes)) return(NULL)
  outcomes <- check_outcome_list(outcomes, config)
  if (length(outcomes) > 1) check_alone_with_outcomes(config)
  lapply(outcomes, complete_outcome, config)
}

# Names, classes, and that something is to be made large or small.
check_outcome_list <- function(outcomes, config = NULL) {
  allowed <- "a named list of to_maximize(), to_minimize(), at_most(), at_least(), in_range(), tracked()"
  if (!is.list(outcomes) || is.object(outcomes) || length(outcomes) == 0) stop_argument("outcomes", describe(outcomes),
                                                                                        allowed)
  names <- names(outcomes)
  if (!are_names(names)) {
    stop_argument("outcomes", "a list whose elements have no names of their own", allowed)
  }
  for (name in names) {
    outcomes[[name]] <- as_part(outcomes[[name]], "bandit_outcome", sprintf("outcomes$%s", name),
                                hint = "to_maximize(), at_most(), ...")
  }
  for (name in names) check_outcome_name(name, config)
  first <- which(vapply(outcomes, trait, NA, "objective"))
  if (length(first) == 0) stop_argument("outcomes", "a list without an objective",
                                        "a list with to_maximize() or to_minimize() among them")
  outcomes[c(first[1], setdiff(seq_along(outcomes), first[1]))]
}

# An input's name gives way to a column of the history (it gets a dot there); an outcome's, by which values are told,
# does not.
check_outcome_name <- function(name, config) {
  taker <- name_taken_by(name, config)
  if (is.null(taker)) return(invisible())
  stop_argument("outcomes", sprintf("an outcome named %s, which is %s", dQuote(name, FALSE), taker),
                paste("outcomes with names other than those of inputs, contexts and the history's columns, and not",
                      "ending in _mean, _sd or _noise_var"))
}

# In words; NULL where an outcome may be called so.
name_taken_by <- function(name, config) {
  if (name %in% config$domain$names) "an input's name, too"
  else if (name %in% config$context_names) "a context's name, too"
  else if (name %in% c("id", "arm", setdiff(history_columns, "reward"))) "a column that `$history()` has anyway"
  else if (grepl("_(mean|sd)$", name)) "the form of a column of `$posterior()`"
  else if (grepl("_noise_var$", name)) "the form of a column of `$history()`"
}

history_columns <- c("reward", "mean", "sd", "width", "action", "segment", "status", "feasible", "noise_var")

check_alone_with_outcomes <- function(config) {
  for (rule in c("changes", "constraints", "rewards")) {
    if (!is.null(config[[rule]])) {
      stop_argument("outcomes", sprintf("several, together with `%s`", rule),
                    sprintf("one outcome where `%s` is given", rule))
    }
  }
  if (trait(config$pending, "stands_in")) {
    stop_argument("pending", "pending_censor() with several outcomes",
                  "another rule: what stands for a late reward stands for one outcome")
  }
  if (!is.null(config$outputs) && is_fixed(config$outputs)) {
    stop_argument("outputs", "scale_outputs() with a given centre and scale, for several outcomes",
                  "NULL, or scale_outputs() that is fitted to each of them")
  }
}

# What an outcome does not say of its model is the bandit's.
complete_outcome <- function(outcome, config) {
  outputs <- outcome_outputs(outcome, config)
  mean <- if (is.null(outcome$mean)) config$mean else check_prior_mean(outcome$mean, config$domain)
  # (A prior mean is in the outcome's units where nothing is scaled.)
  if (!is.null(outputs) && is_fixed(outputs)) mean <- -mean
  list(role = outcome,
       kernel = if (is.null(outcome$kernel)) config$kernel else in_order_of_arms(outcome$kernel, config$domain),
       noise_var = or_else(outcome$noise_var, config$noise_var),
       mean = mean, outputs = outputs,
       refit = if (is.null(config$refit)) NULL else or_else(outcome$refit, config$refit))
}

outcome_outputs <- function(outcome, config) {
  direction <- if (trait(outcome, "sense") < 0) "minimize" else "maximize"
  transform <- or_else(outcome$transform, config$outputs$transform)
  if (!is.null(transform)) return(scale_outputs(direction, transform))
  # Without a scale of its own what is to be small changes its sign.
  if (trait(outcome, "objective") && direction == "minimize") scale_outputs(direction, centre = 0, scale = 1)
}

outcome_roles <- function(config) {
  if (is.null(config$outcomes)) list(reward = to_maximize()) else lapply(config$outcomes, `[[`, "role")
}

has_limits <- function(config) any(vapply(outcome_roles(config), is_limited, NA))

objectives <- function(config) names(Filter(function(role) trait(role, "objective"), outcome_roles(config)))

# A width's probability is shared by all outcomes that are bounded.
shared_width <- function(width, config) {
  bounded <- if (has_outcomes(config)) sum(vapply(outcome_roles(config), function(role) is_limited(role) ||
                                                  trait(role, "objective"), NA)) else 1
  if (is.null(width) || bounded == 1) return(width)
  if (!is.null(width$delta)) width$delta <- width$delta / bounded
  if (!is.null(width$base)) width$base <- shared_width(width$base, config)
  width
}

# ---- in the settings -----------------------------------------------------------------------

describe_outcomes <- function(config) {
  roles <- outcome_roles(config)
  paste(sprintf("%s %s", names(roles), vapply(roles, trait, "", "title")), collapse = ", ")
}

# A number for each objective, by name.
reference_of <- function(reference, wanted) {
  if (length(reference) != length(wanted) || !is.null(names(reference)) && !setequal(names(reference), wanted)) {
    stop_argument("reference", describe(reference),
                  paste("a number for each objective:", paste(wanted, collapse = ", ")))
  }
  if (is.null(names(reference))) stats::setNames(reference, wanted) else reference[wanted]
}

register_family("bandit_outcome", outcome_entries, tag = "kind", traits = outcome_traits, prefix = "to_")
