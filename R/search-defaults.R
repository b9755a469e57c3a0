# Default settings of searches. Layer: search.

# What maximize_bandit() and auto_bandit() choose by themselves.

# By bench/results/optimisation.md; of several objectives by the specification's simulation (spec/outcomes.md B).
default_policy <- function(outcomes = NULL) {
  wanted <- if (is.null(outcomes)) 1 else sum(vapply(outcomes, trait, NA, "objective"))
  if (wanted == 2) policy_ehvi() else if (wanted > 2) policy_hypervolume(width_constant(2)) else policy_ei()
}

# Every so often by bench/optimisation.R on instances 1 and 2 of the BBOB functions; averages and priors by
# bench/promise.R.
default_refit <- function(domain = NULL, rounds = NULL) {
  if (!has_many_inputs(domain)) return(refit_every(or_else(rounds, 2), mean = "fit", average = 10))
  # (One model alone finds as much in a third of the time, and promises what it does not keep; refits twice as rare find
  # less.)
  refit_every(or_else(rounds, min(10, ceiling(length(domain$names) / 4))), mean = "fit", average = 4, starts = 1)
}

# From here on the search has defaults of its own, by bench/many_inputs.R on instances 1 and 2.
many_inputs <- 15

has_many_inputs <- function(domain) length(domain$names) >= many_inputs

# Points before the model is asked, where nothing limits them.
default_design <- function(domain) {
  inputs <- length(domain$names)
  if (has_many_inputs(domain)) 2 * inputs else max(4, 5 * inputs)
}

# With earlier campaigns a few rewards say already how they are related.
related_refit <- function() refit_every(1, minimum = 2, mean = "fit", average = 10)

# Next to none, or nearly all: one log-normal prior cannot be both.
default_prior_noise <- rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2))
default_prior_variance <- c(meanlog = log(2), sdlog = 1)
default_prior_own <- c(meanlog = log(0.1), sdlog = 1)
# Below 1: equal levels are not taken for granted.
default_prior_correlation <- c(shape1 = 4, shape2 = 2)

# `refit` with priors for what it has none for: those of our own kernel, and those that the user wants.
with_priors <- function(refit, domain, kernel, prior_noise, prior_lengthscale, contexts = NULL) {
  prior_noise <- check_prior(prior_noise, "prior_noise")
  ours <- is.null(kernel)
  if (ours) kernel <- default_kernel(domain, contexts)
  parameters <- if (ours) names(kernel_parameters(kernel))
  if (identical(prior_lengthscale, "auto")) {
    count <- sum(grepl("lengthscale", parameters))
    prior_lengthscale <- if (ours && count > 0) c(meanlog = log(0.4 * sqrt(count)), sdlog = 1)
  }
  prior_lengthscale <- check_prior(prior_lengthscale, "prior_lengthscale")
  if (is.null(refit)) return(NULL)
  check_class(refit, "bandit_refit", hint = "refit_every()")
  of_ours <- function(field, prior) {
    names <- if (ours) grep(field, parameters, value = TRUE)
    stats::setNames(rep(list(prior), length(names)), names)
  }
  priors <- c(lengthscale_priors(kernel, domain, prior_lengthscale, contexts),
              of_ours("variance$", default_prior_variance),
              of_ours("correlation", default_prior_correlation),
              of_ours("own$", default_prior_own),
              if (!is.null(prior_noise)) list(noise_var = prior_noise))
  refit$settings$priors <- utils::modifyList(priors, as.list(refit$settings$priors))
  if (length(refit$settings$priors) == 0) refit$settings$priors <- NULL
  refit
}

check_prior <- function(prior, arg) {
  if (is.null(prior)) return(NULL)
  if (identical(prior, "auto")) stop_argument(arg, "\"auto\"", "NULL or c(meanlog, sdlog)")
  made <- check_parameter_prior(prior, arg)
  if (is.matrix(prior)) unname(prior) else c(meanlog = made[["mean"]], sdlog = made[["sd"]])
}

# A prior for every lengthscale of a kernel, given in units of the range of its input (of several: the
# geometric mean of theirs).
lengthscale_priors <- function(kernel, domain, prior, contexts = NULL, prefix = "") {
  if (is.null(prior)) return(list())
  if (is_composite(kernel)) {
    parts <- Map(function(part, k) lengthscale_priors(part, domain, prior, contexts, sprintf("%s%d.", prefix, k)),
                 kernel$parts, seq_along(kernel$parts))
    return(do.call(c, parts))
  }
  count <- length(kernel$lengthscale)
  if (count == 0) return(list())
  # A periodic kernel's lengthscale is a share of its period.
  side <- if (trait(kernel, "unitless")) 1 else lengthscale_sides(kernel, domain, contexts)
  names <- paste0(prefix, kernel$type, ".lengthscale", if (count > 1) seq_len(count) else "")
  in_units <- function(unit) if (is.matrix(prior)) prior + cbind(c(unit, unit), 0) else prior + c(unit, 0)
  stats::setNames(lapply(log(rep_len(side, count)), in_units), names)
}

lengthscale_sides <- function(kernel, domain, contexts) {
  known <- c(input_sides(domain), contexts)
  at <- if (is.null(kernel$dims)) seq_along(known)
        else if (is.character(kernel$dims)) match(kernel$dims, c(model_names(domain), names(contexts)))
        else kernel$dims
  side <- known[at]
  side[is.na(side)] <- 1
  if (length(kernel$lengthscale) > 1) unname(side) else exp(mean(log(side)))
}

# How wide contexts are, each with its name: where they are known, the table's ranges; else those of the experiments
# that
# there are, or 1. `given`: as check_contexts() has them.
context_sides <- function(given, seen = NULL) {
  table <- or_else(given$table, seen)
  width <- vapply(given$names, function(name) if (NROW(table)) diff(range(table[, name])) else 0, 0)
  ifelse(width > 0, width, 1)
}

# Points to evaluate first, a column per input.
initial_design <- function(domain, count, believed = NULL) user_inputs(domain, believed_design(domain, count, believed))

#' @export
default_kernel.search_domain <- function(domain, contexts = NULL) {
  numbers <- domain$names[!domain$categorical]
  described <- domain$names[vapply(domain$params, function(param) !is.null(param$features), NA)]
  levels <- setdiff(model_names(domain), c(numbers, described))
  parts <- c(lapply(described, function(name) kernel_of_features(domain$params[[name]]$features, name)),
             if (length(levels)) list(kernel_categorical(rep(0.5, length(levels)), dims = levels)))
  categorical <- if (length(parts)) Reduce(`*`, parts)
  if (length(numbers) + length(contexts) == 0) return(categorical)
  sides <- input_sides(domain$box)
  for (one in domain$shares) {
    at <- share_columns(domain, one)
    range <- diff(share_bounds(one))
    sides[at] <- if (is_equality(one)) ifelse(range != 0, abs(range), sides[at])
                 else if (max(range) > 0) max(range) else one$total
  }
  sides <- c(sides[!domain$categorical], contexts)
  smooth <- kernel_matern(2.5, lengthscale = lengthscales_of(sides), dims = c(numbers, names(contexts)))
  if (is.null(categorical)) smooth else smooth * categorical
}

#' @export
default_kernel.default <- function(domain, contexts = NULL) {
  kernel_matern(2.5, lengthscale = lengthscales_of(c(input_sides(domain), contexts)))
}

check_alone_with_store <- function(store, others) {
  if (is.null(store)) return(invisible())
  given <- names(Filter(Negate(is.null), others))
  if (length(given)) {
    stop_argument(given[1], "given together with `store`", "left out where `store` is given")
  }
}

# The bandit behind maximize_bandit() and auto_bandit().
scaled_bandit <- function(domain, direction, kernel, noise_var, policy, pending, refit, prior_noise, prior_lengthscale,
                          transform, ..., failures = "doubt", outcomes = NULL,
                          context_sides = NULL) {
  if ("outputs" %in% ...names()) {
    stop_argument("outputs", "given to maximize_bandit() or auto_bandit()",
                  "left out: `direction` and `transform` say it")
  }
  if ("constraints" %in% ...names()) {
    stop_argument("constraints", "given to maximize_bandit() or auto_bandit()",
                  "left out: `limits = ~ impurity <= 2`, or `outcomes`, say what must hold besides")
  }
  rewards <- list(...)$rewards
  if (!is.null(rewards)) rewards <- as_part(rewards, "bandit_rewards", "rewards")
  if (!is.null(kernel)) kernel <- as_kernel(kernel)
  if (has_likelihood(list(rewards = rewards))) {
    stop_argument("rewards", sprintf("rewards that are %s, given to maximize_bandit() or auto_bandit()",
                                     trait(rewards, "title")),
                  "left out, or rewards_clip(): gp_bandit() and its presets take others")
  }
  if (is.null(context_sides) && !is.null(list(...)$contexts)) {
    stop_argument("contexts", "given to maximize_bandit()", "left out: an objective has none (see auto_bandit())")
  }
  refit <- with_priors(refit, domain, kernel, prior_noise, prior_lengthscale, context_sides)
  outputs <- scale_outputs(check_choice(direction, c("maximize", "minimize")),
                           check_choice(transform, c("auto", "none", "power")))
  if (is.null(kernel)) kernel <- default_kernel(domain, context_sides)
  bandit <- gp_bandit(domain, kernel, noise_var, policy, pending = pending, refit = refit, outputs = outputs,
                      failures = failures, outcomes = outcomes, ...)
  inside <- as.environment(bandit)
  if (has_rule(inside)) return(bandit)
  inside$config$fresh <- TRUE
  make_ready(inside)
  bandit
}
