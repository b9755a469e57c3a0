# Refits for responses that are not Gaussian. Layer: bandit.

# Refits for rewards without Gaussian noise: Laplace's approximation of the log marginal likelihood
# (fitting/latent_evidence.h) over the kernel's parameters, a constant prior mean, the cuts between levels and the width
# of ties.

# `current`: the outcome's parameters in force.
fitted_latent <- function(bandit, current, outcome) {
  first <- outcome_config(bandit$config, outcome)
  config <- outcome_config(current_config(bandit), outcome)
  if (is.null(first$rewards)) first <- with_response(first, config$rewards)
  known <- cpp_bandit_known(make_whole(bandit)$handle, outcome)
  sums <- known$id <= forgotten_of(bandit)$sums
  if (length(known$id) + sum(known$size[sums] - 1) < config$refit$minimum) return(NULL)
  if (never_holds(bandit$config$outcomes[[outcome]]$role, known$value / known$size)) {
    return(utils::modifyList(current, list(kernel = shortened_kernel(first$kernel, length(known$id), bandit$config))))
  }
  fits_mean <- config$refit$mean == "fit"
  ids <- of_form(bandit$config, "rewarded_ids")(bandit, outcome)
  catch_error({
    asked <- do.call(latent_question, c(list(config, first, known_inputs(bandit, ids), current, fits_mean),
                                        config$refit$settings), quote = TRUE)
    found <- with_share(length(ids) > few_points, function(progress) {
      preserve_rng(cpp_fit_latent(bandit$handle, regression_kernel(asked$object), fits_mean,
                                  c(asked$problem, list(progress = progress)), asked$iterations, outcome - 1L))
    })
    if (!all(is.finite(c(found$parameters, found$objective)))) stop_fault("the likelihood is not finite")
    latent_model_state(config, current, asked$problem$start, found$parameters, fits_mean)
  }, function(e) {
    warn_refit(bandit, e)
    current
  })
}

# Are all results equal, and beyond the limit? A fit would find a function without structure, which has its extremes in
# the corners, again and again.
never_holds <- function(role, value) {
  !is.null(role) && is_limited(role) && length(value) > 0 && all(value == value[1]) &&
    (value[1] < trait(role, "lower") || value[1] > trait(role, "upper"))
}

# A kernel with lengthscales like the distances between points spread over the space: the limit is most likely to hold
# where none of them is near.
shortened_kernel <- function(kernel, points, config) {
  values <- kernel_parameters(kernel)
  scales <- grep("lengthscale", names(values), fixed = TRUE)
  values[scales] <- values[scales] * points^(-1 / length(input_names(config)))
  kernel_with_parameters(kernel, values)
}

# The problem of fit_question(), with the parameters that follow those of the kernel. `config`: the outcome's settings
# in force, `first`: those before any refit.
latent_question <- function(config, first, x, current, fits_mean, fix_noise = TRUE, ...) {
  asked <- fit_question(x, rep(0, nrow(x)), current$kernel, noise_var = 1, mean = 0, fix_noise = TRUE, ...)
  asked$problem <- hold_variances(asked$problem, log(kernel_parameters(first$kernel)))
  extras <- rbind(if (fits_mean) range_of_mean(current$mean[1], first$mean[1], is_reflected(config)),
                  likelihood_ranges(config$rewards, first$rewards))
  if (!is.null(extras)) asked$problem <- with_extras(asked$problem, extras)
  asked
}

# Rewards with few distinct values hardly bound the variances from above. If the user gives no prior, one is used that
# is centred at the variance with which the bandit began.
hold_variances <- function(problem, first) {
  for (k in problem$scale + 1L) {
    if (has_no_prior(problem$priors[[k]])) problem$priors[[k]] <- normal_prior(first[[k]], 1)
  }
  problem
}

# (The range in the core, which negates outcomes that are minimised.)
range_of_mean <- function(mean, first, is_reflected) {
  sign <- if (is_reflected) -1 else 1
  out <- extra_range(sign * mean, -20, 20, -2, 2, sign * first, 5)
  rownames(out) <- "mean"
  out
}

likelihood_ranges <- function(rewards, first) {
  parameters <- trait(rewards, "parameters")
  if (!is.null(parameters)) parameters$ranges(rewards, first)
}

# Parameters in the format of a refit. Unchanged parameters keep their exact values.
latent_model_state <- function(config, current, start, found, fits_mean) {
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
