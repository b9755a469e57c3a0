#' Refit hyperparameters every so many rounds
#'
#' `refit_every()` tells [gp_bandit()] to maximise the marginal likelihood over the kernel's parameters, the
#' noise variance and (if asked) a constant prior mean, on what the posterior mean knows at that time (under
#' [pending_censor()]: the censored rewards). A refit takes place before a query, when at least `rounds`
#' queries have come since the last one and at least `minimum` rewards are known. It starts from the current
#' parameters; if a fit fails, or its likelihood is not better than that of the current parameters, these stay (a failure warns).
#' Refits are events of the bandit's log: a copy or a bandit that was read from a file has them too.
#'
#' What is fitted is what the posterior mean knows: after a restart (see [changes]) the new segment alone, under
#' [constraints] the rewards less their penalties with the multipliers in force, with contexts a function of actions and
#' contexts. A reward that was told with a `noise_var` of its own counts with that; of a mean of several readings every reading counts. A change detector keeps the kernel
#' that it began with.
#'
#' Rewards that are no Gaussian readings ([rewards], [rewards_duels()]) are fitted by Laplace's approximation of their marginal likelihood.
#'
#' @param rounds a whole number >= 1: queries between two refits.
#' @param minimum smallest number of known rewards to fit on, a whole number >= 2.
#' @param mean `"keep"` leaves the prior mean, `"fit"` fits a constant one.
#' @param average how many models to average over, a whole number from 1 to 100; 1: the best one alone.
#' @param noise `"constant"`, or `"varying"`: see *Noise that varies*.
#' @param smoothness distinct numbers > 0: what `nu` of the kernel's [kernel_matern()] parts may be in the models that are averaged over; `NULL`: what it is.
#' @param smoothness_prior how likely each of them is beforehand, numbers > 0 (only their ratios count); `NULL`: equally.
#' @param ... further arguments of [gp_fit()], for example bounds, priors or `starts`.
#' @section Averaging: a few rewards are as likely under quite different hyperparameters (all noise; a rough function and none),
#'   and what is promised under the best ones alone is promised too surely. With `average` above 1 a refit keeps up to so many
#'   models \eqn{k} with weights \eqn{w_k} that stand for the posterior distribution of the hyperparameters (and of the mean, if
#'   that is fitted): climbs to the modes of the density, one from much noise and one from next to none among them, a normal distribution about
#'   each by the density's curvature, low-discrepancy points of these, each weighed by the density (a fitted mean integrated out) over that of the mixture of these
#'   normal distributions; of these points up to `average` evenly by weight. No random numbers are drawn. From then on
#'   \deqn{\mu = \sum_k w_k\mu_k, \qquad \sigma^2 = \sum_k w_k\{\sigma_k^2 + (\mu_k - \mu)^2\}}{mu = sum w_k mu_k, sigma^2 = sum w_k (sigma_k^2 + (mu_k - mu)^2)}
#'   are the posterior's mean and variance; expected improvement is averaged over the models, Thompson sampling draws a
#'   model first, other policies go by the two moments. Each reward's own noise is the same in all models.
#'   Where there are no priors, those that the default bounds are stand for them: flat in the logarithms.
#'
#'   With `smoothness` the kernel's \eqn{\nu}{nu} is averaged over, too: the above for each of these numbers (all Matern parts have the same), and each
#'   counts by `smoothness_prior` times its evidence. A function with cliffs or narrow valleys is smooth nowhere: under \eqn{\nu = 5/2}{nu = 5/2} alone its valley's floor is
#'   taken for noise. Searches do not do so by default: with `c(2.5, 1.5, 0.5)` and the prior `c(1, 0.1, 0.1)` 48 noiseless BBOB functions in 2 inputs ended .28 lower in log10 (standard error .17), 24 in 5 inputs
#'   .15 (.13), but fresh readings of smooth functions were less likely (`bench/results/promise.md` in the sources). From 150 rewards on a smoothness that half of them speak
#'   against is left out at once.
#' @section Noise that varies: with `noise = "varying"` a refit also fits a noise variance \eqn{\lambda(x)}{lambda(x)} that differs from place to place, by
#'   hetGP's penalised likelihood (Binois, Gramacy and Ludkovski 2018): with latent values \eqn{\Delta_i}{Delta_i} at the places, \eqn{a_i} readings each,
#'   \deqn{\log\lambda = \bar n + C_g(C_g + gA^{-1})^{-1}(\Delta - \bar n),}{log lambda = n + C_g (C_g + g A^-1)^-1 (Delta - n),}
#'   \eqn{C_g} the kernel's correlation with all lengthscales as many times as long (once at least), \eqn{\bar n} the level by least squares; maximised over
#'   \eqn{\Delta}{Delta}, \eqn{g}, both lengthscales and the kernel's variance, with exact gradients, the penalty being the density of \eqn{\Delta}{Delta} at its best scale (none where
#'   that is above 1). The event holds what \eqn{\lambda(x)}{lambda(x)} is made of, and until the next refit each reading's noise is \eqn{\lambda(x)}{lambda(x)}, within what it is at the places of
#'   the fit; `noise_var` is then \eqn{e^{\bar n}}{exp(n)}. It stays constant unless 10 places have several readings or there are 30 places, and the likelihood (not penalised) gains
#'   4 at least. Where rewards came with a `noise_var` of their own it is constant, too. Not with `average`, several outcomes, `outputs`, or kernels that are no [kernel_se()],
#'   [kernel_matern()] or [kernel_rq()]. No theorem covers it.
#' @return An object of class `bandit_refit`.
#' @section Errors: a `gpbandits_error` that names the argument. [gp_bandit()] refuses bounds and priors for parameters that its
#'   kernel does not have, and bounds that do not contain the parameters it starts from.
#' @section Guarantee: a refit never lowers the marginal likelihood (with priors: the posterior density) of the known rewards.
#'   None of the papers' regret bounds covers fitted hyperparameters.
#' @seealso [gp_fit()].
#' @examples
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_ucb(x, kernel_se(0.5), noise_var = 0.1, refit = refit_every(10))
#' set.seed(1)
#' run_bandit(b, bandit_problem(x, sin(8 * x), noise = noise_gaussian(0.1)), 25)
#' b
#' @export
refit_every <- function(rounds, minimum = 5, mean = c("keep", "fit"), ..., average = 1,
                        noise = c("constant", "varying"), smoothness = NULL, smoothness_prior = NULL) {
  settings <- list(...)
  new_part("bandit_refit")
}

refit_entry <- list(settings = alist(rounds = check_count(rounds), minimum = check_count(minimum, lower = 2),
                                     mean = check_choice(mean, c("keep", "fit")),
                                     average = check_count(average, upper = 100),
                                     settings = check_refit_settings(settings),
                                     noise = if (!is.null(noise)) check_choice(noise, c("constant", "varying")),
                                     smoothness = check_smoothnesses(smoothness, average),
                                     smoothness_prior = check_smoothness_prior(smoothness_prior, smoothness)),
                    later = c("noise", "smoothness", "smoothness_prior"))

# Of Matern kernels; to choose one alone is not the marginal likelihood's (see gp_fit()).
check_smoothnesses <- function(smoothness, average) {
  if (is.null(smoothness)) return(NULL)
  smoothness <- check_numbers(smoothness, "smoothness", lower = 0, open_lower = TRUE)
  if (length(smoothness) == 0 || anyDuplicated(smoothness)) {
    stop_argument("smoothness", describe(smoothness), "distinct numbers > 0")
  }
  if (average == 1) stop_argument("smoothness", "given with `average = 1`", "NULL where no models are averaged over")
  smoothness
}

check_smoothness_prior <- function(smoothness_prior, smoothness) {
  if (is.null(smoothness_prior)) return(NULL)
  if (is.null(smoothness)) stop_argument("smoothness_prior", "given without `smoothness`", "NULL without it")
  check_numbers(smoothness_prior, "smoothness_prior", lengths = length(smoothness), lower = 0, open_lower = TRUE)
}

# What gp_fit() would refuse at the first refit is refused here, or with the kernel known.
check_refit_settings <- function(settings) {
  if (!is.list(settings)) stop_argument("settings", describe(settings), "a list of gp_fit()'s arguments")
  known <- setdiff(names(formals(gp_fit)), c("x", "y", "kernel", "noise_var", "mean", "own_noise", "..."))
  given <- names(settings)
  if (length(settings) && (is.null(given) || !all(given %in% known))) {
    bad <- setdiff(given, known)
    stop_argument(if (length(bad)) bad[1] else "...", "an argument gp_fit() does not take here",
                  paste("one of", paste0("`", known, "`", collapse = ", ")))
  }
  check_bounds(settings$lower, "lower")
  check_bounds(settings$upper, "upper")
  fit_priors(settings$priors, names(settings$priors))
  if ("starts" %in% given) check_count(settings$starts, "starts")
  if ("iterations" %in% given) check_count(settings$iterations, "iterations")
  if ("fix_noise" %in% given) check_flag(settings$fix_noise, "fix_noise")
  settings
}

check_refit <- function(refit, config) {
  if (is.null(refit)) return(NULL)
  check_class(refit, "bandit_refit", hint = "refit_every()")
  start <- c(kernel_parameters(config$kernel), noise_var = config$noise_var)
  if (length(start) == 1) {
    stop_argument("refit", "refit_every() with a kernel that has no parameters", "NULL for such a kernel")
  }
  for (arg in c("lower", "upper", "priors")) {
    bad <- setdiff(names(refit$settings[[arg]]), names(start))
    if (length(bad)) {
      stop_argument("refit", sprintf("refit_every() with `%s` for %s", arg, dQuote(bad[1], FALSE)),
                    paste("about the parameters", paste(dQuote(names(start), FALSE), collapse = ", ")))
    }
  }
  check_start_within(start, refit$settings)
  if (!is.null(refit$smoothness) && is.null(smoothness_of(config$kernel))) {
    stop_argument("refit", "refit_every() with `smoothness` and a kernel that has none", "for kernel_matern()")
  }
  check_varying_noise(refit, config$kernel, config[intersect(names(config), c("outputs", "outcomes"))])
  refit
}

# A search that begins outside its bounds could end at a worse likelihood.
check_start_within <- function(start, settings) {
  for (arg in c("lower", "upper")) {
    bounds <- unlist(settings[[arg]])
    own <- start[names(bounds)]
    outside <- if (arg == "lower") own < bounds * (1 - 1e-12) else own > bounds * (1 + 1e-12)
    if (any(outside)) {
      bad <- which(outside)[1]
      stop_argument("refit", sprintf("refit_every() with a bound `%s` of %g for %s, which is %g", arg, bounds[[bad]],
                                     names(bounds)[bad], own[[bad]]),
                    "with bounds that contain the parameters the bandit starts from")
    }
  }
}

# Queries that may be played before the next refit falls due.
rounds_to_refit <- function(bandit) {
  rule <- bandit$config$refit
  if (!all_maps_settled(bandit)) return(1)
  if (is.null(rule)) return(.Machine$integer.max)
  max(1, rule$rounds - rounds_since_refit(bandit))
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
  heal(bandit)
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
                          current$output_map, is_related(config))
  known <- each_reading(known)
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
      found <- if (is_related(config)) related_fit(config, current, x, y, own, if (!fits_mean) 0,
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
  climbed <- attempt(preserve_rng(do.call(gp_fit, question, quote = TRUE)))
  if (is.null(climbed)) return(FALSE)
  q <- data$question
  regression <- gp_regression(q$x, q$y, fit$kernel, fit$noise_var, if (fits_mean) fit$mean else 0,
                              if (!all(is.na(q$own_noise))) q$own_noise)
  bent <- function(data) data$map$lambda != 1
  gained <- climbed$log_likelihood + other$log_slope - as.numeric(stats::logLik(regression)) - data$log_slope
  isTRUE(gained > if (bent(other)) bending_pays else -bending_pays)
}

# Each mean of several readings as so many values of the same mean and spread: to the likelihood they are the readings
# themselves. `row`: whose they are.
each_reading <- function(known) {
  row <- rep(seq_along(known$id), known$size)
  if (length(row) == length(known$id)) return(c(known, list(row = row)))
  number <- sequence(known$size)
  m <- known$size[row]
  # Two of them are off the mean, the others on it.
  off <- ifelse(m > 1 & number <= 2, c(1, -1)[pmin(number, 2)] * sqrt(known$spread[row] / 2), 0)
  list(id = known$id[row], value = known$value[row] + off, noise_var = known$noise_var[row],
       doubted_to = known$doubted_to[row], row = row)
}

# Kernel, noise, mean; with several models these too.
refitted <- function(question, rule, current, fits_mean) {
  average <- or_else(rule$average, 1)
  if (average == 1) {
    fit <- do.call(gp_fit, question, quote = TRUE)
    if (!all(is.finite(c(fit$parameters, fit$mean, fit$objective)))) stop("the likelihood is not finite")
    return(list(kernel = fit$kernel, noise_var = fit$noise_var, mean = if (fits_mean) fit$mean else current$mean))
  }
  found <- do.call(fit_models, c(question, list(count = average, earlier = current$models,
                                                smoothness = rule$smoothness,
                                                smoothness_prior = rule$smoothness_prior)), quote = TRUE)
  if (is.null(found)) return(current[c("kernel", "noise_var", "mean", intersect("models", names(current)))])
  # (A mean that is not fitted may be one number per arm: it is the bandit's.)
  if (!fits_mean) found$best$mean <- current$mean
  models <- if (fits_mean) found$models else lapply(found$models, function(model) model[names(model) != "mean"])
  c(found$best[c("kernel", "noise_var", "mean")], list(models = models))
}

warn_refit <- function(bandit, error) {
  warning("refit after round ", all_rounds(bandit), " failed, the parameters stay: ",
          message_of(error), call. = FALSE)
}

# Inputs of some queries as the kernel sees them (a matrix counts arms from 1).
known_inputs <- function(bandit, ids) {
  places <- logged_places(bandit, ids)
  inputs_of_kernel(bandit$config, cbind(places$inputs, places$contexts), places$arm)
}

inputs_of_kernel <- function(config, inputs, arm) {
  number <- if (has_matrix(config$kernel)) arm + 1L
  x <- cbind(inputs, number)
  colnames(x) <- c(input_names(config), if (!is.null(number)) "arm")
  x
}

known_prior_mean <- function(bandit, ids, mean) {
  if (length(mean) == 1) rep(mean, length(ids)) else mean[bandit$queries$arm[ids] + 1L]
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

refitted_config <- function(config, fit) {
  config$kernel <- fit$kernel
  config$noise_var <- fit$noise_var
  config$mean <- fit$mean
  config$output_map <- fit$output_map
  config$models <- fit$models
  config$noise_field <- fit$noise_field
  if (!is.null(fit$rewards)) config$rewards <- fit$rewards
  for (name in names(fit$outcomes)) {
    config$outcomes[[name]][names(fit$outcomes[[name]])] <- fit$outcomes[[name]]
  }
  config
}

# The configuration under each of its models, with their weights: the one that there is, where there are no several.
configs_of_models <- function(config) {
  if (is.null(config$models)) return(list(config))
  lapply(config$models, function(model) {
    config[names(model)] <- model
    config$models <- NULL
    config
  })
}

model_weights <- function(config) {
  if (is.null(config$models)) 1 else vapply(config$models, function(model) model$weight, 0)
}

# What an average is of, a row per parameter: its value in the best model and the range that holds the models' weight
# but for 5% at each end.
parameters_of_models <- function(config) {
  of <- function(one) {
    c(kernel_parameters(one$kernel), noise_var = one$noise_var,
      if (!is.null(config$refit$smoothness)) c(smoothness = smoothness_of(one$kernel)[1]))
  }
  each <- matrix(vapply(configs_of_models(config), of, of(config)), ncol = length(config$models))
  weight <- model_weights(config)
  limits <- apply(each, 1, function(values) {
    order <- order(values)
    below <- cumsum(weight[order])
    values[order][c(which(below > 0.05 - 1e-9)[1], which(below > 0.95 - 1e-9)[1])]
  })
  data.frame(parameter = names(of(config)), mode = unname(of(config)), lower = limits[1, ], upper = limits[2, ])
}

# Of a reward, as far as the models know.
expected_noise <- function(config) {
  if (is.null(config$models)) return(config$noise_var)
  sum(model_weights(config) * vapply(config$models, function(model) model$noise_var, 0))
}

# The configuration in force: that of the last refit.
current_config <- function(bandit) {
  fits <- bandit$refits
  if (length(fits)) refitted_config(bandit$config, fits[[length(fits)]]) else bandit$config
}

register_family("bandit_refit", refit_entry)
