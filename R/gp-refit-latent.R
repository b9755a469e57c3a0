# Refits where rewards are no Gaussian readings: Laplace's log marginal likelihood (fitting/latent_evidence.h) over the
# kernel's parameters, a constant prior mean, the cuts between levels and the width of ties.

# What refit_every() cannot do with such rewards.
check_latent_refit <- function(config, refuse) {
  refit <- config$refit
  if (is.null(refit)) return(invisible())
  if (!trait(config$rewards, "refits")) refuse("refit", "given", "NULL")
  if (identical(refit$noise, "varying")) refuse("refit", "refit_every(noise = \"varying\")", "one with constant noise")
  if (or_else(refit$average, 1) > 1) {
    refuse("refit", sprintf("refit_every(average = %d)", refit$average), "refit_every() with `average = 1`")
  }
  if (refit$mean == "fit" && !trait(config$rewards, "refits_mean")) {
    refuse("refit", "refit_every(mean = \"fit\")",
           "refit_every(mean = \"keep\"): a constant is not known, or the cuts say it")
  }
}

fitted_latent <- function(bandit, current) {
  config <- bandit$config
  fits_mean <- config$refit$mean == "fit"
  ids <- which(status_of(bandit, seq_len(table_size(bandit$queries))) == "known")
  catch_error({
    asked <- do.call(latent_question, c(list(bandit, known_inputs(bandit, ids), current, fits_mean),
                                        config$refit$settings), quote = TRUE)
    found <- preserve_rng(core(cpp_fit_latent(bandit$handle, regression_kernel(asked$object), fits_mean, asked$problem,
                                              asked$iterations)))
    if (!all(is.finite(c(found$parameters, found$objective)))) stop("the likelihood is not finite")
    latent_beliefs(config, current, asked$problem$start, found$parameters, fits_mean)
  }, function(e) {
    warn_refit(bandit, e)
    current
  })
}

# As fit_question() has it, with what the kernel's parameters are followed by.
latent_question <- function(bandit, x, current, fits_mean, fix_noise = TRUE, ...) {
  asked <- fit_question(x, rep(0, nrow(x)), current$kernel, noise_var = 1, mean = 0, fix_noise = TRUE, ...)
  first <- log(kernel_parameters(bandit$config$kernel))
  asked$problem <- hold_variances(asked$problem, first)
  extras <- rbind(if (fits_mean) range_of_mean(current$mean[1], bandit$config),
                  likelihood_ranges(current_config(bandit)$rewards, bandit$config$rewards))
  if (!is.null(extras)) asked$problem <- with_extras(asked$problem, extras)
  asked
}

# Rewards of few values say next to nothing against ever larger variances: where the user has no prior there is one,
# about
# the variance that the bandit began with.
hold_variances <- function(problem, first) {
  for (k in problem$scale + 1L) {
    prior <- problem$priors[, k]
    if (is.infinite(prior[["sd"]])) problem$priors[c("mean", "sd"), k] <- c(first[[k]], 1)
  }
  problem
}

# Rows of start, bounds, likely bounds, and the normal prior's mean and sd.
extra_range <- function(start, lower, upper, likely_lower, likely_upper, mean, sd) {
  cbind(start = start, lower = pmin(lower, start), upper = pmax(upper, start), likely_lower = likely_lower,
        likely_upper = likely_upper, mean = mean, sd = sd)
}

# (The core's, which has what is minimised upside down.)
range_of_mean <- function(mean, config) {
  sign <- if (is_reflected(config)) -1 else 1
  out <- extra_range(sign * mean, -20, 20, -2, 2, sign * config$mean[1], 5)
  rownames(out) <- "mean"
  out
}

likelihood_ranges <- function(rewards, first) {
  parameters <- trait(rewards, "parameters")
  if (!is.null(parameters)) parameters$ranges(rewards, first)
}

# Cuts between levels: the first one, and the logarithms of the steps to the others.
ranges_of_cuts <- function(rewards, first) {
  steps <- function(cuts) c(cuts[1], log(diff(cuts)))
  more <- length(rewards$cuts) - 1
  extra_range(steps(rewards$cuts), c(-20, rep(log(1e-3), more)), c(20, rep(log(20), more)),
              c(-3, rep(log(0.3), more)), c(3, rep(log(3), more)), steps(first$cuts), c(3, rep(1, more)))
}

set_cuts <- function(rewards, values) {
  rewards$cuts <- cumsum(c(values[1], exp(values[-1])))
  rewards
}

# How far apart two places must be that are no tie, in logarithms.
ranges_of_tau <- function(rewards, first) {
  extra_range(log(rewards$tau), log(1e-3), log(20), log(0.1), log(3), log(first$tau), 1)
}

set_tau <- function(rewards, values) {
  rewards$tau <- exp(values)
  rewards
}

# They stand before the last parameter, the noise that there is none of.
with_extras <- function(problem, extras) {
  last <- length(problem$start)
  for (name in c("start", "lower", "upper", "likely_lower", "likely_upper")) {
    problem[[name]] <- c(problem[[name]][-last], extras[, name], problem[[name]][last])
  }
  own <- problem$priors[, rep(last, nrow(extras)), drop = FALSE]
  own["mean", ] <- extras[, "mean"]
  own["sd", ] <- extras[, "sd"]
  problem$priors <- cbind(problem$priors[, -last, drop = FALSE], own, problem$priors[, last])
  problem
}

# Parameters as a refit has them; what has not moved keeps its bits.
latent_beliefs <- function(config, current, start, found, fits_mean) {
  old <- kernel_parameters(current$kernel)
  kernels <- seq_along(old)
  values <- exp(found[kernels])
  kept <- found[kernels] == start[kernels]
  values[kept] <- old[kept]
  out <- current
  out$kernel <- kernel_with_parameters(current$kernel, stats::setNames(values, names(old)))
  rest <- utils::head(found[-kernels], -1)
  if (fits_mean) {
    out$mean <- if (is_reflected(config)) -rest[1] else rest[1]
    rest <- rest[-1]
  }
  if (length(rest)) out$rewards <- trait(config$rewards, "parameters")$set(config$rewards, rest)
  out
}

# Rewards that came with a refit are the bandit's, but for what refits change.
check_refitted_rewards <- function(refitted, rewards) {
  if (is.null(refitted)) return(invisible())
  check_class(refitted, "bandit_rewards")
  fixed <- function(x) unclass(x)[setdiff(names(x), trait(x, "parameters")$names)]
  if (is.null(rewards) || !identical(fixed(refitted),
                                     fixed(rewards))) damaged("a refit has other rewards than the bandit")
}
