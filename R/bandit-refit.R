# Refits of hyperparameters and output transforms. Layer: bandit.

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
#' @param ... further arguments of [gp_fit()], for example bounds, `priors` or `starts`.
#' @section When a refit takes place:
#' A refit precedes a query if at least `rounds` queries were made since the last refit and at least `minimum` rewards
#' are observed. It starts from the current parameters. They are kept if the fit fails (with a warning), or if its
#' likelihood is not better. Refits are recorded in the event log (the bandit's record of all changes), so copies and
#' saved bandits include them.
#' @section Data of a refit:
#' A refit uses the same data as the posterior mean:
#'
#' * After a restart (see [changes]): only the new segment. A change detector keeps its initial kernel.
#' * Under [constraints]: the rewards minus their penalties, with the current multipliers.
#' * With contexts: a function of actions and contexts.
#' * Under [pending_censor()]: the censored rewards.
#' * A reward that was reported with a `noise_var`: that variance is used.
#' * A mean of several measurements: every measurement counts.
#' * Non-Gaussian rewards ([rewards], [rewards_preferences()]): Laplace's approximation of the marginal likelihood.
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
                        noise = c("constant", "varying"), smoothness = NULL, smoothness_prior = NULL) {
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
#' valley is modelled as noise. Searches do not use `smoothness` by default. With `c(2.5, 1.5, 0.5)` and the prior `c(1,
#' 0.1, 0.1)`, noiseless BBOB functions ended with a lower log10 gap. The difference was 0.28 (standard error 0.17) for
#' 48 functions in 2 inputs, and 0.15 (0.13) for 24 in 5 inputs. But new measurements of smooth functions were predicted
#' with a lower likelihood (`bench/results/promise.md` in the sources).
#' @seealso [refit_every()], [gp_model()], [calibration].
#' @concept Bayesian model averaging
#' @concept hyperparameters
#' @concept integrated acquisition function
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
#' @name refit-noise
NULL

refit_entry <- list(settings = alist(rounds = check_count(rounds), minimum = check_count(minimum, lower = 2),
                                     mean = check_choice(mean, c("keep", "fit")),
                                     average = check_count(average, upper = 100),
                                     settings = check_refit_settings(settings),
                                     noise = if (!is.null(noise)) check_choice(noise, c("constant", "varying")),
                                     smoothness = check_smoothnesses(smoothness, average),
                                     smoothness_prior = check_smoothness_prior(smoothness_prior, smoothness)),
                    later = c("noise", "smoothness", "smoothness_prior"))

#' @export
print.bandit_refit <- function(x, ...) {
  check_class(x, "bandit_refit")
  print_part(x, sprintf("refit every %g round(s)", x$rounds), unclass(x)[names(x) != "rounds"])
}

# Of Matern kernels; to choose one alone is not the marginal likelihood's (see gp_fit()).
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

# What gp_fit() would refuse at the first refit is refused here, or with the kernel known.
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

# Queries that may be played before the next refit falls due.
rounds_to_refit <- function(bandit) {
  rule <- bandit$config$refit
  if (!all_maps_settled(bandit)) return(1)
  if (is.null(rule)) return(.Machine$integer.max)
  max(1, rule$rounds - rounds_since_refit(bandit))
}

# Is a map of outputs made from rewards?
may_rescale <- function(config) {
  if (!is.null(config$outcomes)) return(any(vapply(config$outcomes, has_fitted_map, NA)))
  !is.null(config$outputs) && has_fitted_map(config)
}

# Before any of the next `n` queries.
is_refit_due <- function(bandit, n) {
  rule <- bandit$config$refit
  (!is.null(rule) && rounds_since_refit(bandit) + n > rule$rounds) || is_rescale_due(bandit)
}

rounds_since_refit <- function(bandit) {
  fits <- which(table_column(bandit$events, "kind") %in% believing)
  fits <- fits[vapply(bandit$refits, is_real_refit, NA)]
  last <- if (length(fits)) bandit$events$id[fits[length(fits)]] else 0L
  table_size(bandit$queries) - last
}

# Not a map of outputs alone, nor arms that came.
is_real_refit <- function(fit) !isTRUE(fit$rescaled) && !is_growth(fit)

refit_if_due <- function(bandit) {
  rule <- bandit$config$refit
  if (is.null(rule) || rounds_since_refit(bandit) < rule$rounds) return(rescale_if_due(bandit))
  rebuild(bandit)
  known <- lapply(seq_len(outcome_count(bandit$config)), function(k) core(cpp_bandit_known(bandit$handle, k)))
  sums <- forgotten_of(bandit)$sums
  rewards <- function(one) length(one$id) + sum(one$size[one$id <= sums] - 1)
  enough <- vapply(known, function(one) rewards(one) >= rule$minimum, NA)
  if (!any(enough)) return(rescale_if_due(bandit))
  current <- refitted_parameters(bandit)
  fit <- if (enough[1]) fitted_parameters(bandit, known[[1]], current) else current
  for (k in which(enough)[which(enough) > 1]) {
    name <- names(bandit$config$outcomes)[k]
    fit$outcomes[[name]] <- fitted_parameters(bandit, known[[k]], current$outcomes[[name]], k)
  }
  if (!is.null(current$outcomes) && is.null(fit$outcomes)) fit$outcomes <- current$outcomes
  apply_refit(bandit, fit, current)
}

# What refits have changed last.
refitted_parameters <- function(bandit) {
  config <- current_config(bandit)
  of <- function(one) one[intersect(c("kernel", "noise_var", "mean", "output_map", "models", "noise_field"),
                                    names(one))]
  own <- if (length(bandit$refits)) utils::tail(bandit$refits, 1)[[1]]["rewards"]
  c(of(config), Filter(Negate(is.null), own),
    if (has_outcomes(config)) list(outcomes = lapply(config$outcomes[-1], of)))
}

# The current parameters of an outcome, or better ones.
fitted_parameters <- function(bandit, known, current, outcome = 1) {
  if (has_likelihood(bandit$config)) return(fitted_latent(bandit, current))
  config <- outcome_config(bandit$config, outcome)
  prior <- if (config$refit$mean == "fit") "fit" else 0
  x <- known_inputs(bandit, known$id)
  outputs <- config$outputs
  # (What stands for a reward that is not known has no say in what a reward is to the model.)
  maps <- maps_to_compare(outputs, known_rewards(bandit, outcome), rewards_far_apart(bandit, outcome),
                          current$output_map, has_transfer(config))
  known <- each_measurement(known)
  x <- x[known$row, , drop = FALSE]
  prior_mean <- if (!identical(prior, "fit")) known_prior_mean(bandit, known$id, current$mean)
  seen <- lapply(maps, function(one) {
    map <- one$map
    scaled <- through_map(map, known, current$noise_var)
    y <- scaled$value - or_else(prior_mean, 0)
    question <- c(list(x = x, y = y, kernel = current$kernel, noise_var = current$noise_var, mean = prior,
                       own_noise = scaled$noise_var), config$refit$settings)
    list(map = map, is_usual = one$is_usual, question = question,
         log_slope = sum(log(abs(whole_slopes(map, scaled, known)))))
  })
  catch_error({
    fits_mean <- is.null(prior_mean)
    fit_to <- function(data) {
      y <- data$question$y
      own <- data$question$own_noise
      found <- if (has_transfer(config)) transfer_fit(config, current, x, y, own, if (!fits_mean) 0,
                                                   middle_slope(data$map, known$value))
               else preserve_rng(refitted(data$question, config$refit, current, fits_mean))
      if (identical(config$refit$noise, "varying")) {
        found <- preserve_rng(with_varying_noise(found, x, y, own, fits_mean, config$refit$settings))
      }
      c(found, if (!is.null(data$map)) list(output_map = data$map))
    }
    found <- fit_to(seen[[1]])
    if (length(seen) == 2 && is_other_better(seen, found, fits_mean)) found <- fit_to(seen[[2]])
    found
  }, function(e) {
    warn_refit(bandit, e)
    current
  })
}

# Of the two kinds of maps, should it be the second? Where the model (`fit`, found with the first) sees noise, the
# rewards' likelihood says so. Where it sees none no noise can be bent: then their distribution alone does, under which
# searches find more.
is_other_better <- function(seen, fit, fits_mean) {
  if (fit$noise_var < least_bent_noise) return(seen[[2]]$is_usual)
  is_likelier(seen[[2]], seen[[1]], fit, fits_mean)
}

# Are the rewards likelier under the other map than under the one with which `fit` was found? Both as densities of the
# rewards themselves; the other model is climbed to from that fit, a tenth of a refit's time.
is_likelier <- function(other, data, fit, fits_mean) {
  question <- other$question
  question[c("kernel", "noise_var", "starts")] <- list(fit$kernel, fit$noise_var, 1)
  searched_from <- attempt(preserve_rng(do.call(gp_fit, question, quote = TRUE)))
  if (is.null(searched_from)) return(FALSE)
  q <- data$question
  regression <- gp_regression(q$x, q$y, fit$kernel, fit$noise_var, if (fits_mean) fit$mean else 0,
                              if (!all(is.na(q$own_noise))) q$own_noise)
  bent <- function(data) data$map$lambda != 1
  gained <- searched_from$log_likelihood + other$log_slope - as.numeric(stats::logLik(regression)) - data$log_slope
  isTRUE(gained > if (bent(other)) bending_pays else -bending_pays)
}

# Each mean of several readings as so many values of the same mean and spread: to the likelihood they are the readings
# themselves. `row`: whose they are.
each_measurement <- function(known) {
  row <- rep(seq_along(known$id), known$size)
  if (length(row) == length(known$id)) return(c(known, list(row = row)))
  number <- sequence(known$size)
  m <- known$size[row]
  # Two of them are off the mean, the others on it.
  off <- ifelse(m > 1 & number <= 2, c(1, -1)[pmin(number, 2)] * sqrt(known$spread[row] / 2), 0)
  list(id = known$id[row], value = known$value[row] + off, noise_var = known$noise_var[row],
       doubted_to = known$doubted_to[row], row = row)
}

# If the core cannot take new parameters, the refit that the log gets is one to the old ones.
apply_refit <- function(bandit, fit, current) {
  taken <- fit
  put <- function(handle, parameters) {
    cpp_bandit_refit(handle, core_config(refitted_config(bandit$config, parameters)))
  }
  transact(bandit, function(handle) {
    keep_current <- function(e) {
      pass_on_stop(e)
      warn_refit(bandit, e)
      taken <<- current
      put(handle, current)
    }
    tryCatch(put(handle, fit), "C++Error" = keep_current, gpbandits_error = keep_current)
  }, refit = function() taken)
  invisible(TRUE)
}

# What a look goes by. Until the first refit the parameters of a bandit that scales its rewards are guesses that
# nobody gave: as good as no noise, say. What such a bandit knows enough for, a copy has done: the refit that it would
# begin its next query with. The bandit itself stays as it is, and so do its choices. A name in its environment, no
# field, keeps the copy until there is news.
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
    refit_if_due(as.environment(twin))
    frame$.look <- list(state = state, twin = twin)
  }
  twin <- frame$.look$twin
  if (isS4(bandit)) twin else as.environment(twin)
}

# What was said once is not said again, and a check of the model counts the looks before it.
hand_on_warnings <- function(from, to) for (name in c(".said", ".looks")) to[[name]] <- from[[name]]

is_unfitted <- function(bandit) {
  config <- bandit$config
  if (is.null(config$refit) || is.null(config$outputs) || !is.null(config$models) || has_rule(bandit)) return(FALSE)
  if (any(vapply(bandit$refits, is_real_refit, NA))) return(FALSE)
  known <- sum(status_of(bandit, seq_len(table_size(bandit$queries))) %in% c("observed", "partial"))
  known >= config$refit$minimum && is_refit_due(bandit, 1)
}

# Of which outcomes is the map to be made again from the values that are known? `reported`: they may be others, not only
# more.
rescales_due <- function(bandit, reported = FALSE) {
  if (!may_rescale(bandit$config)) return(integer())
  current <- current_config(bandit)
  Filter(function(k) {
    outputs <- outcome_config(bandit$config, k)$outputs
    if (is.null(outputs) || is_fixed(outputs)) return(FALSE)
    map <- output_map(outcome_config(current, k))
    if (is_settled(map)) return(FALSE)
    known <- known_rewards(bandit, k)
    # (More equal ones tell no more.)
    if (map$count >= settled_outputs && length(unique(known)) < 2) return(FALSE)
    if (reported) length(known) > 0 && !identical(fitted_transform(bandit, k), map)
    else length(known) > map$count
  }, seq_len(outcome_count(bandit$config)))
}

is_rescale_due <- function(bandit, reported = FALSE) length(rescales_due(bandit, reported)) > 0

all_maps_settled <- function(bandit) {
  current <- current_config(bandit)
  all(vapply(seq_len(outcome_count(current)), function(k) {
    one <- outcome_config(current, k)
    !has_fitted_map(one) || is_settled(output_map(one))
  }, NA))
}

# Values of an outcome, lost and failed ones not among them.
known_rewards <- function(bandit, outcome = 1) values_of_queries(bandit, outcome)[rewarded_ids(bandit, outcome)]

rewarded_ids <- function(bandit, outcome) {
  if (has_outcomes(bandit$config)) return(which(!is.na(values_of_queries(bandit, outcome))))
  known_ids(bandit)
}

# Which of these are of points far apart; NULL where they are too few to say.
rewards_far_apart <- function(bandit, outcome) {
  ids <- rewarded_ids(bandit, outcome)
  if (length(ids) > bent_outputs) far_apart(known_inputs(bandit, ids))
}

fitted_transform <- function(bandit, outcome) {
  fit_outcome_transform(outcome_config(bandit$config, outcome)$outputs, known_rewards(bandit, outcome),
                 rewards_far_apart(bandit, outcome))
}

# After rewards were told (`reported`), and before a query.
rescale_if_due <- function(bandit, reported = FALSE) {
  due <- rescales_due(bandit, reported)
  if (length(due) == 0) return(invisible(FALSE))
  rebuild(bandit)
  current <- refitted_parameters(bandit)
  fit <- current
  for (k in due) {
    map <- fitted_transform(bandit, k)
    if (k == 1) fit$output_map <- map else fit$outcomes[[names(bandit$config$outcomes)[k]]]$output_map <- map
  }
  # No refit in the sense of refit_every().
  fit$rescaled <- TRUE
  apply_refit(bandit, fit, current)
}

register_family("bandit_refit", refit_entry)
