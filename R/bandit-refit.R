# Refits of hyperparameters and outcome transforms. Layer: bandit.

#' Refit hyperparameters by maximum marginal likelihood
#'
#' `refit_every()` makes a bandit estimate its hyperparameters again at regular intervals, by maximum marginal
#' likelihood or maximum a posteriori.
#'
#' It is used for `refit` of [gp_bandit()], [gp_model()] and the presets. A refit estimates the kernel's parameters, the
#' noise variance and, with `mean = "fit"`, a constant prior mean. With `average` > 1 it approximates the posterior
#' distribution of the hyperparameters by several models ([refit-averaging]). With `noise = "varying"` it fits
#' heteroscedastic noise ([refit-noise]).
#'
#' @param rounds number of queries between two refits, an integer >= 1.
#' @param minimum smallest number of observed rewards for a refit, an integer >= 2; 5 by default.
#' @param mean `"keep"`, the default, leaves the prior mean unchanged; `"fit"` estimates a constant one.
#' @param average largest number of models to average over, an integer from 1 to 100. 1, the default: only the best
#'   model.
#' @param noise `"constant"`, the default, or `"varying"` for heteroscedastic noise, see [refit-noise].
#' @param smoothness distinct numbers > 0: values of `nu` of the kernel's [kernel_matern()] parts to average over (with
#'   `average` > 1). `NULL`, the default: `nu` is fixed.
#' @param smoothness_prior prior weights of the values of `smoothness`, numbers > 0 of which only the ratios count.
#'   `NULL`, the default: equal weights.
#' @param growth a number >= 0: the smallest proportion of all queries that must be new since the last refit. With
#'   `1 / 150` and 3000 queries, 20 must be new. `NULL`, the default: 0, so that only `rounds` counts.
#' @param ... further arguments of [gp_fit()], for example bounds, `priors` or `starts`.
#' @section When a refit takes place:
#' A refit precedes a query if at least `rounds` queries were made since the last refit and at least `minimum` rewards
#' are observed. With `growth`, the queries since the last refit must also be that proportion of all queries. In
#' [maximize_bandit()] and [auto_bandit()] an observation must be new, too, so a batch has at most one refit. A refit
#' starts from the current parameters. They are kept if the fit fails (with a warning), or if its likelihood is not
#' better. Refits are recorded in the event log (the bandit's record of all changes), so copies and
#' saved bandits include them.
#' @section Data of a refit:
#' A refit uses the same data as the posterior mean:
#'
#' * After a restart (see [changes]): only the new segment. A change detector keeps its initial kernel.
#' * With a window or a rate (see [changes]): all rewards since the last restart, with equal weights.
#' * Under [constraints]: the rewards minus their penalties, with the current multipliers.
#' * With contexts: a function of actions and contexts.
#' * Under [pending_censor()]: the censored rewards.
#' * A reward that was reported with a `noise_var`: that variance is used.
#' * A mean of several measurements: every measurement counts.
#' * Non-Gaussian rewards ([rewards], [rewards_preferences()]): Laplace's approximation of the marginal likelihood.
#' @section Many rewards:
#' The cost of a refit is bounded, see "Many observations" in [gp_fit()]. If most rewards were there at the last refit,
#' the search starts at its result. With more than 300 distinct points, fewer models are averaged over: the product of
#' their number and the number of points is about 300 times `average`. The transform of rewards is decided by at
#' most 500 of them.
#' @return An object of class `bandit_refit`.
#' @section Errors: [gp_bandit()] raises an error for bounds and priors of parameters that its kernel does not have. The
#'   initial parameters must be within the bounds.
#' @section Guarantee: A refit never lowers the marginal likelihood of the observed rewards (with priors, the posterior
#'   density). None of the papers' regret bounds covers fitted hyperparameters.
#' @seealso [gp_fit()] for a single fit; [gp_model()] for the defaults of searches; [refit-averaging], [refit-noise] for
#'   details.
#' @concept hyperparameters
#' @concept maximum likelihood
#' @concept marginal likelihood
#' @concept Bayesian model averaging
#' @concept heteroscedastic noise
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_ucb(x, kernel_se(0.5), noise_var = 0.1, refit = refit_every(10))
#' set.seed(1)
#' run_bandit(b, bandit_problem(x, sin(8 * x), noise = 0.1), 25)
#' b
#' @export
refit_every <- function(rounds, minimum = 5, mean = c("keep", "fit"), ..., average = 1,
                        noise = c("constant", "varying"), smoothness = NULL, smoothness_prior = NULL, growth = NULL) {
  settings <- list(...)
  new_part("bandit_refit")
}

#' Averaging over hyperparameters
#'
#' With `average` > 1, [refit_every()] keeps several models that represent the posterior distribution of the
#' hyperparameters.
#'
#' Few rewards are often equally likely under very different hyperparameters, such as only noise, or a rough function
#' without noise. Predictions of the best model alone are then overconfident. See [calibration] for measurements.
#'
#' @section Method:
#' The models \eqn{k} and their weights \eqn{w_k} are found in three steps. No random numbers are used.
#'
#' * Local optimisation finds the modes of the posterior density, from several starts. One start has much noise and one
#'   almost none.
#' * A normal distribution is placed at each mode, by the curvature of the density. Low-discrepancy points of these
#'   distributions are weighted by the density over that of the mixture. A fitted mean is integrated out.
#' * Up to `average` of these points are kept, evenly by weight.
#'
#' The posterior mean and variance are those of the mixture:
#' \deqn{\mu = \sum_k w_k\mu_k, \qquad \sigma^2 = \sum_k w_k\{\sigma_k^2 + (\mu_k - \mu)^2\}.}{mu = sum w_k mu_k,
#' sigma^2 = sum w_k (sigma_k^2 + (mu_k - mu)^2).}
#' Expected improvement is averaged over the models. Thompson sampling draws a model first. Other policies use these two
#' moments. The noise variance that was reported with a reward is the same in all models. Parameters without a prior
#' have a flat one in their logarithm, within the default bounds.
#' @section Smoothness:
#' With `smoothness`, the kernel's \eqn{\nu}{nu} is averaged over, too. The method above is applied for each value,
#' which all Matern parts of the kernel share. Each value is weighted by `smoothness_prior` times its evidence. From 150
#' rewards on, a value that half of the rewards contradict is excluded at once.
#'
#' Functions with cliffs or narrow valleys are not smooth. With \eqn{\nu = 5/2}{nu = 5/2} alone, the floor of a narrow
#' valley is modelled as noise. Searches with the default kernel use `c(2.5, 1.5, 0.5)` and the prior `c(1, 0.1, 0.1)`.
#' On 24 BBOB functions without noise, the true value at the recommended point was then within 2 `sd` in all searches,
#' and in 18 with \eqn{\nu = 5/2}{nu = 5/2} alone. In 159 searches in 2 inputs the log10 gap of the recommended point
#' was lower by 0.16 (standard error 0.10), in 96 searches in 5 inputs by 0.02 (0.05). A search takes 1.1 times the
#' time (`bench/results/promise.md` and `optimisation.md` in the sources).
#' @seealso [refit_every()], [gp_model()], [calibration].
#' @concept Bayesian model averaging
#' @concept hyperparameters
#' @concept integrated acquisition function
#' @examples
#' set.seed(1)
#' x <- seq(0, 1, length.out = 30)
#' b <- gp_ucb(x, kernel_matern(2.5, 0.3), noise_var = 0.1, outputs = scale_outputs(),
#'             refit = refit_every(10, mean = "fit", average = 5))
#' b$add(arm = 1:10 * 3, reward = sin(6 * x[1:10 * 3]) + rnorm(10, sd = 0.2))
#' b$suggest()
#' summary(b)
#' @name refit-averaging
NULL

#' Heteroscedastic noise
#'
#' With `noise = "varying"`, [refit_every()] fits a noise variance \eqn{\lambda(x)}{lambda(x)} that depends on the
#' point.
#'
#' @section Model:
#' The method is hetGP's penalised likelihood (Binois, Gramacy and Ludkovski 2018). Point \eqn{i} has \eqn{a_i}
#' measurements and a latent value \eqn{\Delta_i}{Delta_i}; \eqn{A} is the diagonal matrix of the \eqn{a_i}. The log
#' variance is the smooth function
#' \deqn{\log\lambda = \bar n + C_g(C_g + gA^{-1})^{-1}(\Delta - \bar n).}{log lambda = n + C_g (C_g + g A^-1)^-1
#' (Delta - n).}
#' \eqn{C_g} is the kernel's correlation with all lengthscales multiplied by a common factor, at least 1. \eqn{\bar
#' n}{n} is the level by least squares.
#'
#' The likelihood is maximised over \eqn{\Delta}{Delta}, \eqn{g}, both lengthscales and the kernel's variance, with
#' exact gradients. The penalty is the density of \eqn{\Delta}{Delta} at its best scale; it is not used if that density
#' is above 1.
#' @section Use:
#' * Until the next refit, the noise variance of each measurement is \eqn{\lambda(x)}{lambda(x)}, within its range at
#'   the points of the fit. `noise_var` is then \eqn{e^{\bar n}}{exp(n)}.
#' * The noise stays constant with fewer than 30 points, unless at least 10 points have several measurements.
#' * It also stays constant if the likelihood, without the penalty, improves by less than 4.
#' * It stays constant if rewards were reported with a `noise_var`.
#' * The event log (the bandit's record of all changes) contains the parameters of \eqn{\lambda(x)}{lambda(x)}.
#' @section Errors: Varying noise cannot be combined with `average`, several outcomes or `outputs`. The kernel must be a
#'   [kernel_se()], [kernel_matern()] or [kernel_rq()].
#' @section Guarantee: No theorem covers fitted noise variances.
#' @references Binois, Gramacy and Ludkovski (2018) \doi{10.48550/arXiv.1611.05902}.
#' @seealso [refit_every()]; [gp_bandit()] for `noise_var` of single rewards.
#' @concept heteroscedastic noise
#' @concept input-dependent noise
#' @concept replicates
#' @examples
#' set.seed(1)
#' x <- seq(0, 1, length.out = 20)
#' b <- gp_ucb(x, kernel_matern(2.5, 0.3), noise_var = 0.05, refit = refit_every(1, noise = "varying"))
#' b$add(arm = rep(1:20, 3), reward = sin(6 * rep(x, 3)) + rnorm(60, sd = 0.05 + 0.5 * rep(x, 3)))
#' b$suggest()
#' @name refit-noise
NULL

refit_entry <- list(settings = alist(rounds = check_count(rounds), minimum = check_count(minimum, lower = 2),
                                     mean = check_choice(mean, c("keep", "fit")),
                                     average = check_count(average, upper = 100),
                                     settings = check_refit_settings(settings),
                                     noise = if (!is.null(noise)) check_choice(noise, c("constant", "varying")),
                                     smoothness = check_smoothnesses(smoothness, average),
                                     smoothness_prior = check_smoothness_prior(smoothness_prior, smoothness),
                                     growth = if (!is.null(growth)) check_number(growth, lower = 0)),
                    later = c("noise", "smoothness", "smoothness_prior", "growth"))

#' @export
print.bandit_refit <- function(x, ...) {
  check_class(x, "bandit_refit")
  print_part(x, if (x$rounds == 1) "refit every round" else sprintf("refit every %g rounds", x$rounds),
             unclass(x)[names(x) != "rounds"])
}

# For Matern kernels. The models average over them: marginal likelihood is no criterion to select one (see gp_fit()).
check_smoothnesses <- function(smoothness, average) {
  if (is.null(smoothness)) return(NULL)
  smoothness <- check_numbers(smoothness, "smoothness", lower = 0, open_lower = TRUE)
  if (length(smoothness) == 0 || anyDuplicated(smoothness)) {
    stop_argument("smoothness", describe(smoothness), "distinct numbers > 0")
  }
  if (average == 1) stop_unused("smoothness", "it is used only with `average` > 1")
  smoothness
}

check_smoothness_prior <- function(smoothness_prior, smoothness) {
  if (is.null(smoothness_prior)) return(NULL)
  if (is.null(smoothness)) stop_unused("smoothness_prior", "it is used with `smoothness` only")
  check_numbers(smoothness_prior, "smoothness_prior", lengths = length(smoothness), lower = 0, open_lower = TRUE)
}

# Settings that gp_fit() would not accept at the first refit are errors here, or once the kernel is known.
check_refit_settings <- function(settings) {
  if (!is.list(settings)) stop_argument("settings", describe(settings), "a list of gp_fit()'s arguments")
  known <- setdiff(names(formals(gp_fit)), c("x", "y", "kernel", "noise_var", "mean", "own_noise", "..."))
  given <- names(settings)
  if (length(settings) && (is.null(given) || !all(given %in% known))) {
    bad <- setdiff(given, known)
    stop_unknown(if (length(bad)) bad[1] else "...", known)
  }
  check_bounds(settings$lower, "lower")
  check_bounds(settings$upper, "upper")
  fit_priors(settings$priors, names(settings$priors))
  if ("starts" %in% given) check_count(settings$starts, "starts")
  if ("iterations" %in% given) check_count(settings$iterations, "iterations")
  if ("fix_noise" %in% given) check_flag(settings$fix_noise, "fix_noise")
  settings
}

# The number of queries that may be made before the next refit is due.
rounds_to_refit <- function(bandit) {
  rule <- bandit$config$refit
  if (!all_maps_settled(bandit)) return(1)
  choice <- rounds_to_choice(bandit)
  if (is.null(rule)) return(choice)
  max(1, min(choice, rounds_between_refits(bandit) - rounds_since_refit(bandit)))
}

# The number of queries between two refits, by the rule and the present number of queries.
rounds_between_refits <- function(bandit) {
  rule <- bandit$config$refit
  max(rule$rounds, floor(max(0, rule$growth) * table_size(bandit$queries)))
}

# Is an outcome transform fitted to rewards?
may_rescale <- function(config) {
  if (!is.null(config$outcomes)) return(any(vapply(config$outcomes, has_fitted_map, NA)))
  !is.null(config$outputs) && has_fitted_map(config)
}

# Is a refit due before any of the next `n` queries?
is_refit_due <- function(bandit, n) {
  rule <- bandit$config$refit
  (!is.null(rule) && rounds_since_refit(bandit) + n > rounds_between_refits(bandit) && has_news(bandit)) ||
    length(rescales_due(bandit)) > 0 || is_choice_due(bandit) || rounds_to_choice(bandit) < n
}

rounds_since_refit <- function(bandit, last = last_refit(bandit)) {
  if (is.na(last)) return(table_size(bandit$queries))
  table_size(bandit$queries) - bandit$events$id[refit_event(bandit$events, length(bandit$refits) - last)]
}

# The row of the last event but `later` that has parameters. (It is near the end of a log of any length.)
refit_event <- function(events, later) {
  size <- table_size(events)
  for (rows in c(1000, size)) {
    first <- max(1, size - rows + 1)
    found <- which(events$kind[first:size] %in% believing)
    if (length(found) > later) return(first - 1 + found[length(found) - later])
  }
}

# In a search, the same data are not fitted again: a batch has at most one refit.
has_news <- function(bandit, last = last_refit(bandit)) {
  if (is.na(last) || !isTRUE(bandit$config$fresh)) return(TRUE)
  size <- table_size(bandit$events)
  at <- refit_event(bandit$events, length(bandit$refits) - last)
  at < size && any(bandit$events$kind[(at + 1):size] %in% recording)
}

# The number of the last refit of the parameters; NA if there was none.
last_refit <- function(bandit) Position(is_real_refit, bandit$refits, right = TRUE)

# Neither a change of the outcome transform or of the forgetting alone, nor added arms.
is_real_refit <- function(fit) !isTRUE(fit$rescaled) && is.null(fit$arms)

# Before a query: the parameters that a refit, or a new output transform, uses instead of the `current` ones, as
# `fit`; NULL where neither is due.
due_refit <- function(bandit) {
  found <- if (!is.null(bandit$config$refit)) due_fit(bandit)
  if (chooses_forgetting(bandit$config)) return(with_choice(bandit, found))
  if (is.null(found)) due_rescale(bandit) else found
}

due_fit <- function(bandit) {
  last <- last_refit(bandit)
  rounds <- rounds_since_refit(bandit, last)
  if (rounds >= rounds_between_refits(bandit) && has_news(bandit, last)) {
    fitted_outcomes(bandit, if (is.na(last)) NA_real_ else rounds)
  }
}

# ---- the automatic choice of how to forget: see change_auto() ---------------------------------

# Is a choice due before the next query, and after how many queries is the next one?
is_choice_due <- function(bandit) {
  size <- table_size(bandit$queries)
  chooses_forgetting(bandit$config) && size > 0 && size %% bandit$config$changes$rounds == 0
}

rounds_to_choice <- function(bandit) {
  if (!chooses_forgetting(bandit$config)) return(.Machine$integer.max)
  rounds <- bandit$config$changes$rounds
  rounds - table_size(bandit$queries) %% rounds
}

# A refit `found` (or NULL) with the choice of how to forget. A choice alone is logged only if it is another one.
with_choice <- function(bandit, found) {
  if (is.null(found) && !is_choice_due(bandit)) return(NULL)
  chosen <- best_forgetting(bandit)
  if (!is.null(found)) {
    found$fit$forgetting <- chosen
    return(found)
  }
  current <- refitted_parameters(bandit)
  if (identical(chosen, or_else(current$forgetting, change_never(0)))) return(NULL)
  # (Not a refit in the sense of refit_every().)
  fit <- current
  fit$forgetting <- chosen
  fit$rescaled <- TRUE
  list(fit = fit, current = current)
}

# See log_forecasts() in C++. Those of small models are kept, by a name in the bandit's environment that is no field:
# they stay the same while the model and the rewards before them do.
forecasts_of <- function(bandit, rules) {
  frame <- as.environment(bandit)
  computed <- function(most) cpp_bandit_forecasts(make_whole(bandit)$handle, rules, most)
  if (!is_small_model(bandit$config)) return(computed(forecast_rewards))
  known <- as.data.frame(cpp_bandit_known(make_whole(bandit)$handle, 1L))
  model <- refitted_parameters(bandit)
  model$forgetting <- NULL
  kept <- frame$.forecasts
  before <- NROW(kept$known)
  same <- before > 0 && nrow(known) >= before && identical(kept$model, model) &&
    identical(known[seq_len(before), ], kept$known)
  new <- min(forecast_rewards, if (same) nrow(known) - before else Inf)
  forecasts <- utils::tail(rbind(if (same) kept$forecasts, if (new > 0) computed(new)), forecast_rewards)
  frame$.forecasts <- list(known = known, model = model, forecasts = forecasts)
  forecasts
}

is_small_model <- function(config) {
  can_count(config$domain) && length(config$context_names) == 0 && arm_count(config$domain) <= 64
}

best_forgetting <- function(bandit) {
  choices <- trait(bandit$config$changes, "choices")
  forecasts <- forecasts_of(bandit, lapply(choices, resolve_changes, bandit$config))
  if (nrow(forecasts) < forecast_least) return(rule_in_force(current_config(bandit)))
  choices[[which.max(weights_of_choices(forecasts))]]
}

refit_if_due <- function(bandit) apply_if_due(bandit, due_refit(bandit))

apply_if_due <- function(bandit, due) {
  if (is.null(due)) return(invisible(FALSE))
  apply_refit(bandit, due$fit, due$current)
}

# NULL where too few rewards are known of each outcome. `since_refit`: the number of queries since the fit of the
# current parameters, NA if there was none. With many points, a fit can then start at its result.
fitted_outcomes <- function(bandit, since_refit) {
  current <- refitted_parameters(bandit)
  first <- fitted_parameters(bandit, current, 1L, since_refit)
  others <- lapply(seq_along(current$outcomes), function(k) {
    fitted_parameters(bandit, current$outcomes[[k]], k + 1L, since_refit)
  })
  if (is.null(first) && all(vapply(others, is.null, NA))) return(NULL)
  fit <- if (is.null(first)) current else first
  fit$outcomes <- current$outcomes
  for (k in which(lengths(others) > 0)) fit$outcomes[[k]] <- others[[k]]
  list(fit = fit, current = current)
}

# The parameters that refits change, with their current values.
refitted_parameters <- function(bandit) {
  config <- current_config(bandit)
  of <- function(one) one[intersect(c("kernel", "noise_var", "mean", "output_map", "models", "noise_field",
                                      "forgetting"), names(one))]
  last <- if (length(bandit$refits)) utils::tail(bandit$refits, 1)[[1]]
  own <- function(fit) Filter(Negate(is.null), fit["rewards"])
  others <- lapply(stats::setNames(nm = names(config$outcomes)[-1]), function(name) {
    c(of(config$outcomes[[name]]), own(last$outcomes[[name]]))
  })
  c(of(config), own(last), if (length(others)) list(outcomes = others))
}

# ---- settings that refits leave unchanged ----------------------------------------------------------------
# The resolved settings, and the fitted parameters of each outcome, are kept while a bandit's settings are the same,
# under a name in its environment that is not a field.

prepared_refits <- function(bandit) {
  frame <- as.environment(bandit)
  config <- bandit$config
  if (!identical(frame$.prepared$config, config)) {
    frame$.prepared <- list(config = config, fixed = fixed_settings(config), inputs = input_names(config),
                            plans = lapply(seq_len(outcome_count(config)), refit_plan, config = config))
  }
  frame$.prepared
}

share_prepared <- function(from, to) assign(".prepared", as.environment(from)$.prepared, as.environment(to))

# See plan_from_list() and cpp_bandit_fit() in C++. `objects`: the kernels that the models may have. NULL where R
# collects the data, for another likelihood or for earlier campaigns.
refit_plan <- function(outcome, config) {
  config <- outcome_config(config, outcome)
  rule <- config$refit
  if (is.null(rule) || !of_form(config, "gaussian") || has_transfer(config)) return(NULL)
  numbered <- has_matrix(config$kernel)
  inputs <- input_names(config)
  objects <- kernels_of(config$kernel, rule$smoothness)
  c(list(outcome = outcome, minimum = rule$minimum, columns = length(inputs), numbered = numbered, objects = objects,
         kernels = lapply(objects, resolve_kernel, inputs, arm_count(config$domain)), fits_mean = rule$mean == "fit",
         average = or_else(rule$average, 1), smoothness_prior = rule$smoothness_prior,
         draws = has_function(config$kernel)),
    do.call(fit_plan, c(list(config$kernel, c(inputs, if (numbered) "arm")), rule$settings), quote = TRUE))
}

# ---- an outcome's parameters -----------------------------------------------------------------

# Better parameters of an outcome than the current ones, or these; NULL where too few rewards are known.
fitted_parameters <- function(bandit, current, outcome, since_refit) {
  if (has_transfer(bandit$config)) return(fitted_transfer(bandit, current))
  if (!of_form(outcome_config(current_config(bandit), outcome), "gaussian")) {
    return(fitted_latent(bandit, current, outcome))
  }
  plan <- prepared_refits(bandit)$plans[[outcome]]
  config <- outcome_config(bandit$config, outcome)
  # (Values that replace unknown rewards do not influence the outcome transform.)
  maps <- if (is.null(config$outputs)) list(list(map = NULL))
          else maps_to_compare(config$outputs, known_rewards(bandit, outcome), rewards_far_apart(bandit, outcome),
                               current$output_map, logs = is.null(bandit$config$outcomes),
                               linear = !is.null(config$mean_function))
  catch_error({
    many <- length(maps) > 1 && has_many_points(bandit, plan)
    best <- if (many) fit_of_many(bandit, plan, current, maps, since_refit)
            else fit_under(bandit, plan, current, maps[[1]]$map, since_refit)
    better <- if (isTRUE(best$found$many)) 1 else best_map(bandit, plan, maps, best)
    if (better > 1) {
      other <- fit_under(bandit, plan, current, maps[[better]]$map, since_refit)
      # (The local search that compares may have missed the noise.)
      if (is_above_noise(maps[[better]]$map, other$fit)) best <- other
    }
    varies <- identical(config$refit$noise, "varying") && !is.null(best$fit)
    if (varies) {
      preserve_rng(with_varying_noise(measurements_of(bandit, current, NULL, plan$fits_mean), best$fit, config$refit))
    } else {
      best$fit
    }
  }, function(e) {
    warn_refit(bandit, e)
    current
  })
}

# With many points a fit is slow. The transforms are compared by a single model of some of the rewards, and the fit
# under the better one continues from its parameters.
fit_of_many <- function(bandit, plan, current, maps, since_refit) {
  best <- fit_under(bandit, c(plan, list(models = 1)), current, maps[[1]]$map, since_refit, compares = TRUE)
  if (is.null(best$fit)) return(best)
  better <- best_map(bandit, plan, maps, best)
  fit_under(bandit, plan, best$fit, maps[[better]]$map, 0)
}

has_many_points <- function(bandit, plan) {
  ids <- rewarded_ids(bandit, plan$outcome)
  many <- cpp_bandit_has_many_points(bandit$handle, ids, plan)
  if (is.null(many)) cpp_bandit_has_many_points(make_whole(bandit)$handle, ids, plan) else many
}

# The `fit` under an output transform, and its data, `found`; both are NULL if there are too few rewards.
fit_under <- function(bandit, plan, current, map, since_refit, compares = FALSE) {
  found <- bandit_fit(bandit, plan, fit_from(plan, current, map, since_refit, compares))
  if (isFALSE(found)) return(list())
  list(fit = c(fit_of(plan, current, found), if (!is.null(map)) list(output_map = map)), found = found)
}

# What the prior mean's function adds at each query, under an output transform; nothing if there is none.
shape_under <- function(bandit, map) {
  if (is.null(bandit$config$mean_function)) numeric() else added_under(map, mean_of_queries(bandit))
}

bandit_fit <- function(bandit, plan, asked) {
  with_share(table_size(bandit$events) > few_points, function(progress) {
    asked$progress <- progress
    asked$shape <- shape_under(bandit, asked$map)
    if (plan$draws) return(preserve_rng(cpp_bandit_fit(make_whole(bandit)$handle, plan, asked)))
    found <- cpp_bandit_fit(bandit$handle, plan, asked)
    if (is.null(found)) cpp_bandit_fit(make_whole(bandit)$handle, plan, asked) else found
  })
}

# What a fit begins with. `compares`: its result is only compared with that under another output transform.
fit_from <- function(plan, current, map, since_refit = NA_real_, compares = FALSE) {
  list(start = c(kernel_parameters(current$kernel), current$noise_var), map = map, local_searches = FALSE,
       compares = compares, kernel = 1L, since_refit = since_refit,
       mean = if (plan$fits_mean) numeric() else current$mean,
       average = if (plan$average > 1) {
         average_question(plan$objects, or_else(plan$models, plan$average), plan$smoothness_prior, current$models)
       })
}

# Kernel, noise variance and mean; with several models these too. (A mean that is not fitted may be one number per arm.)
fit_of <- function(plan, current, found) {
  if (plan$average == 1) {
    last <- length(found$values)
    return(c(list(kernel = replace_parameters(current$kernel, found$values[-last]), noise_var = found$values[[last]],
                  mean = if (plan$fits_mean) found$mean else current$mean), likelihood_of_many(found)))
  }
  if (isTRUE(found$constant)) return(current[c("kernel", "noise_var", "mean", intersect("models", names(current)))])
  averaged <- models_found(found, plan$objects, found$centre)
  best <- averaged$best[c("kernel", "noise_var", "mean")]
  if (!plan$fits_mean) {
    best$mean <- current$mean
    averaged$models <- lapply(averaged$models, function(model) model[names(model) != "mean"])
  }
  c(best, list(models = averaged$models), likelihood_of_many(found))
}

# The likelihood that was maximised, which a refit records only if there were many points.
likelihood_of_many <- function(found) if (isTRUE(found$many)) list(likelihood = likelihood_used(found))

# The likelihood of the last refit, if it had many points.
likelihood_of_fit <- function(bandit) {
  fits <- Filter(is_real_refit, bandit$refits)
  if (length(fits)) utils::tail(fits, 1)[[1]]$likelihood
}

# The number of the best of these output transforms, by the log likelihood of the rewards. The model `first` is fitted
# with the first one. But between a power transform and none, if the model estimates no noise, the distribution of the
# rewards alone decides, because searches then find more.
best_map <- function(bandit, plan, maps, first) {
  if (length(maps) == 1 || is.null(first$fit)) return(1)
  kinds <- vapply(maps, function(one) map_kind(one$map), "")
  possible <- kinds == "log" | vapply(maps, `[[`, NA, "is_usual") | first$fit$noise_var >= least_comparing_noise
  gains <- vapply(seq_along(maps), function(k) {
    map <- maps[[k]]$map
    if (!possible[k]) -Inf
    else if (k > 1) log_likelihood_gain(bandit, plan, map, first)
    else if (is_above_noise(map, first$fit)) 0 else -Inf
  }, 0)
  which.max(gains - least_gains[kinds])
}

# How much likelier the rewards are under this output transform than under that of `first`; -Inf if it has no fit, or if
# it is a logarithm and there is too much noise. Both likelihoods are densities of the rewards themselves. A local
# search from that fit takes a tenth of a refit's time. With many rewards the core compares some of them.
log_likelihood_gain <- function(bandit, plan, map, first) {
  asked <- utils::modifyList(fit_from(plan, first$fit, map, since_refit = 0, compares = TRUE),
                             list(local_searches = TRUE, average = NULL))
  asked$kernel <- or_else(first$found$best_kernel, 1L)
  searched_from <- attempt(bandit_fit(bandit, plan, asked))
  gained <- searched_from$compared - first$found$compared
  at <- list(noise_var = utils::tail(searched_from$values, 1))
  if (length(gained) == 1 && !is.na(gained) && is_above_noise(map, at)) gained else -Inf
}

# ---- data that R collects ----------------------------------------------------------

# Measurements less their prior mean (0 if that is fitted), in the model's units, at R's points; NULL if
# fewer rewards are known than a refit takes.
measurements_of <- function(bandit, current, map, fits_mean) {
  known <- cpp_bandit_measurements(make_whole(bandit)$handle, 1L, map, current$noise_var)
  if (known$rewards < bandit$config$refit$minimum) return(NULL)
  c(known, list(x = known_inputs(bandit, known$id),
                y = known$value - if (fits_mean) 0 else known_prior_mean(bandit, known$id, current$mean)))
}

fitted_transfer <- function(bandit, current) {
  config <- bandit$config
  # (Earlier campaigns have separate output transforms, chosen by their distribution. So have the present rewards here.)
  map <- if (!is.null(config$outputs)) fitted_transform(bandit, 1)
  fits_mean <- config$refit$mean == "fit"
  known <- measurements_of(bandit, current, map, fits_mean)
  if (is.null(known)) return(NULL)
  catch_error({
    found <- transfer_fit(config, current, known$x, known$y, known$noise_var, if (!fits_mean) 0,
                          middle_slope(map, known$reward))
    c(found, if (!is.null(map)) list(output_map = map))
  }, function(e) {
    warn_refit(bandit, e)
    current
  })
}

# ---- taking new parameters ------------------------------------------------------------------

# If the core cannot take new parameters, the refit that the log gets is one to the old ones.
apply_refit <- function(bandit, fit, current) {
  taken <- fit
  put <- function(handle, parameters) cpp_bandit_refit(handle, settings_after(bandit, parameters))
  transact(bandit, function(handle) {
    keep_current <- function(e) {
      pass_on_stop(e)
      warn_refit(bandit, e)
      taken <<- current
      put(handle, current)
    }
    tryCatch(put(handle, fit), gpbandits_error = keep_current)
  }, refit = function() taken)
  invisible(TRUE)
}

# The settings with these parameters, as the core takes them.
settings_after <- function(bandit, fit) {
  prepared <- prepared_refits(bandit)
  core_config(refitted_config(bandit$config, fit), prepared$fixed, prepared$inputs)
}

# The bandit that predictions, checks and plots use. Until the first refit, the parameters of a bandit that scales its
# rewards are defaults that no data support, for example almost no noise. If the refit before the next query is due, a
# copy is refitted and used instead. The bandit itself and its choices stay the same. The copy is kept until the log
# changes, under a name in the bandit's environment that is not a field.
looked_at <- function(bandit) {
  frame <- frame_of(bandit)
  if (!is_unfitted(frame)) {
    if (!is.null(frame$.look)) hand_on_warnings(as.environment(frame$.look$twin), frame)
    frame$.look <- NULL
    return(bandit)
  }
  state <- log_state(frame, "events")
  if (!identical(frame$.look$state, state)) {
    twin <- bandit_copy(frame)
    hand_on_warnings(if (is.null(frame$.look)) frame else as.environment(frame$.look$twin), as.environment(twin))
    inside <- as.environment(twin)
    share_prepared(frame, inside)
    refit_if_due(inside)
    share_prepared(inside, frame)
    frame$.look <- list(state = state, twin = twin)
  }
  twin <- frame$.look$twin
  if (isS4(bandit)) twin else as.environment(twin)
}

# A warning is not repeated, and a check of the model counts the earlier evaluations.
hand_on_warnings <- function(from, to) for (name in c(".said", ".looks")) to[[name]] <- from[[name]]

is_unfitted <- function(bandit) {
  if (!awaits_first_fit(bandit)) return(FALSE)
  known <- sum(status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("observed", "partial"))
  known >= bandit$config$refit$minimum && is_refit_due(bandit, 1)
}

awaits_first_fit <- function(bandit) {
  config <- bandit$config
  !is.null(config$refit) && (!is.null(config$outputs) || isTRUE(config$fresh)) && is.null(config$models) &&
    !trait(config$policy, "scripted") &&
    is.na(last_refit(bandit))
}

# The outcomes whose transform must be fitted again to the observed values, or whose response type they contradict.
# `reported`: values may have changed, not only been added.
rescales_due <- function(bandit, reported = FALSE) {
  if (!may_rescale(bandit$config)) return(integer())
  current <- current_config(bandit)
  Filter(function(k) {
    chosen <- outcome_config(current, k)$rewards
    if (may_be_yes_no(bandit$config, k) && is_yes_no(bandit, k) == is.null(chosen)) return(TRUE)
    if (!is.null(chosen)) return(FALSE)
    outputs <- outcome_config(bandit$config, k)$outputs
    if (is.null(outputs) || is_fixed(outputs)) return(FALSE)
    map <- output_map(outcome_config(current, k))
    if (is_settled(map)) return(FALSE)
    known <- known_rewards(bandit, k)
    # (More equal values add no information.)
    if (map$count >= settled_outputs && length(unique(known)) < 2) return(FALSE)
    if (reported) length(known) > 0 && !identical(fitted_transform(bandit, k), map)
    else length(known) > map$count
  }, seq_len(outcome_count(bandit$config)))
}

all_maps_settled <- function(bandit) {
  current <- current_config(bandit)
  all(vapply(seq_len(outcome_count(current)), function(k) {
    one <- outcome_config(current, k)
    !has_fitted_map(one) || is_settled(output_map(one))
  }, NA))
}

# Observed values of an outcome, without lost and failed ones; less the prior mean's function, if there is one.
known_rewards <- function(bandit, outcome = 1) {
  ids <- rewarded_ids(bandit, outcome)
  values_of_queries(bandit, outcome)[ids] - mean_of_queries(bandit, ids)
}

rewarded_ids <- function(bandit, outcome) {
  of_form(bandit$config, "rewarded_ids")(bandit, outcome)
}

# Which of these rewards belong to points far apart? NULL if there are too few.
rewards_far_apart <- function(bandit, outcome) {
  ids <- rewarded_ids(bandit, outcome)
  if (length(ids) > nonlinear_outputs) far_apart(known_inputs(bandit, ids))
}

fitted_transform <- function(bandit, outcome) {
  fit_outcome_transform(outcome_config(bandit$config, outcome)$outputs, known_rewards(bandit, outcome),
                 rewards_far_apart(bandit, outcome), linear = !is.null(bandit$config$mean_function))
}

# After rewards were reported (`reported`), and before a query.
rescale_if_due <- function(bandit, reported = FALSE) {
  if (reported) warn_of_noise(bandit)
  apply_if_due(bandit, due_rescale(bandit, reported))
}

# As due_refit(): only output transforms are made again.
due_rescale <- function(bandit, reported = FALSE) {
  due <- rescales_due(bandit, reported)
  if (length(due) == 0) return(NULL)
  rescaled(bandit, due, function(k) if (may_be_yes_no(bandit$config, k) && is_yes_no(bandit, k)) yes_no_rewards())
}

# New output transforms of some outcomes, or other response types. `chosen`: a function of the outcome that returns its
# response type, NULL for a number.
rescaled <- function(bandit, due, chosen) {
  now <- current_config(bandit)
  current <- refitted_parameters(bandit)
  fit <- current
  for (k in due) {
    first <- outcome_config(bandit$config, k)
    rewards <- chosen(k)
    changed <- is.null(rewards) != is.null(outcome_config(now, k)$rewards)
    before <- if (k == 1) current[names(current) != "outcomes"] else current$outcomes[[k - 1]]
    if (changed && !is.null(rewards)) first <- with_response(first, rewards)
    own <- if (changed) first[c("kernel", "noise_var", "mean")] else before
    if (is.null(rewards)) own$output_map <- fitted_transform(bandit, k)
    else own[c("noise_var", "rewards")] <- list(1, rewards)
    if (k == 1) fit <- c(own, fit["outcomes"]) else fit$outcomes[[k - 1]] <- own
  }
  # Not a refit in the sense of refit_every().
  fit$rescaled <- TRUE
  list(fit = Filter(Negate(is.null), fit), current = current)
}

# ---- outcomes that are only yes or no ---------------------------------------------------------------

# Are there enough values of an outcome for a fit, all of them single results that are 0 or 1? (Of one kind of results
# the likelihood says little: searches then repeat points at the boundary.)
is_yes_no <- function(bandit, k) {
  value <- known_rewards(bandit, k)
  if (length(value) < bandit$config$refit$minimum || !setequal(value, 0:1)) return(FALSE)
  known <- cpp_bandit_known(bandit$handle, k)
  all(known$size == 1) && all(is.na(known$noise_var))
}

# Before values are recorded: outcomes whose likelihood does not have one of them become numbers. `values`: a column for
# each outcome, NA for values not reported.
leave_yes_no <- function(bandit, values, own) {
  current <- current_config(bandit)
  now <- Filter(function(k) {
    known <- !is.na(values[, k])
    other <- !values[, k] %in% 0:1 | !is.na(own$noise_var[, k]) | !own$size[, k] %in% c(NA, 1)
    any(known & other)
  }, which(are_yes_no(current)))
  if (length(now)) apply_if_due(bandit, rescaled(bandit, now, function(k) NULL))
}

register_family("bandit_refit", refit_entry)

register_form("reward", rewarded_ids = function(bandit, outcome) known_ids(bandit))
register_form("outcomes", rewarded_ids = function(bandit, outcome) which(!is.na(values_of_queries(bandit, outcome))))
