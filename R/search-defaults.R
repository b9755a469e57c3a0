# Default settings of searches. Layer: search.

# The default choices of maximize_bandit() and auto_bandit().

# Chosen by bench/results/optimisation.md. With several objectives: by simulations on known problems.
default_policy <- function(outcomes = NULL) {
  wanted <- if (is.null(outcomes)) 1 else sum(vapply(outcomes, trait, NA, "objective"))
  # (With more than two and a given reference point policy_ehvi() is better, without one it is worse:
  # bench/noisy_outcomes.R.)
  if (wanted == 2) policy_ehvi() else if (wanted > 2) policy_hypervolume(width_constant(2)) else policy_ei()
}

# The interval was chosen by bench/optimisation.R on instances 1 and 2 of the BBOB functions, averages and priors by
# `bench/promise.R`, averages over smoothness by bench/variants.R. `kernel`: the default kernel; NULL for another one,
# whose smoothness is kept.
default_refit <- function(domain = NULL, kernel = NULL) {
  if (!has_many_inputs(domain)) {
    varies <- !is.null(kernel) && !is.null(smoothness_of(kernel))
    return(refit_every(2, mean = "fit", average = 10, growth = 2 / 300, smoothness = if (varies) default_smoothness,
                       smoothness_prior = if (varies) default_smoothness_prior))
  }
  # (A single model finds equally good points in a third of the time, but its predictions are overconfident. With half
  # the number of refits, the search finds worse points.)
  rounds <- min(10, ceiling(length(domain$names) / 4))
  refit_every(rounds, mean = "fit", average = 4, starts = 1, growth = rounds / 300)
}

# Functions with cliffs and narrow valleys need rough models, which are less likely a priori: most functions are smooth.
default_smoothness <- c(2.5, 1.5, 0.5)
default_smoothness_prior <- c(1, 0.1, 0.1)

# From this number of inputs, the search has separate defaults, chosen by bench/many_inputs.R on instances 1 and 2.
many_inputs <- 15

has_many_inputs <- function(domain) length(domain$names) >= many_inputs

# The number of initial points, if nothing limits it.
default_design <- function(domain) {
  inputs <- length(domain$names)
  # (Tables of real experiments: bench/results/experiments.md.)
  if (is_discrete(domain)) 3 else if (has_many_inputs(domain)) 2 * inputs else max(4, 5 * inputs)
}

# A few evaluations are better spent on suggestions (bench/programs.R).
most_design <- function(domain, evaluations) {
  half <- ceiling(evaluations / 2)
  if (has_many_inputs(domain)) half else max(ceiling(evaluations / 4), min(4, half))
}

# Chosen by bench/variants.R in up to 10 inputs, for one objective. (With contexts the best reward so far may belong to
# another context. Without refits a logarithm is never used.)
default_transform <- function(domain, refit, contexts, outcomes) {
  if (is.null(refit) || !is.null(contexts) || !is.null(outcomes) || has_many_inputs(domain)) "auto" else "log"
}

# With earlier campaigns, a few rewards are sufficient to estimate how the campaigns are related.
transfer_refit <- function() refit_every(1, minimum = 2, mean = "fit", average = 10)

# The noise is little, perhaps none, or almost all of the variance. A single log-normal prior cannot represent both
# cases. With c(log(1e-5), 2.5) as the first part, a noise sd of 1% to 5% is in a gap between the parts: models with
# almost no noise then treat the luckiest measurement as the truth (`bench/promise_causes.R`). It is kept with several
# outcomes, where it found better points under limits (`bench/outcomes.R`), and with many inputs, where only it was
# measured. A third part without noise was measured too: it finds no better points, and predictions are worse where
# there is noise (`bench/results/experiments.md`).
default_noise_prior <- function(domain, outcomes) {
  little <- if (has_many_inputs(domain) || length(outcomes) > 1) c(log(1e-5), 2.5) else c(log(2e-3), 3)
  rbind(little, c(log(0.3), 1.2), deparse.level = 0)
}
default_prior_variance <- c(meanlog = log(2), sdlog = 1)
default_prior_own <- c(meanlog = log(0.1), sdlog = 1)
# A prior on correlations below 1: levels are not assumed to be equal.
default_prior_correlation <- c(shape1 = 4, shape2 = 2)

with_noise_prior <- function(model, domain, outcomes) {
  check_class(model, "gp_model", "model", hint = "gp_model()")
  if (identical(model$noise_prior, "auto")) model$noise_prior <- default_noise_prior(domain, outcomes)
  model
}

# The model with the settings that depend on the domain and on earlier campaigns (`transfer`: are there any?).
resolved_model <- function(model, domain, contexts = NULL, transfer = FALSE) {
  kernel <- if (is.null(model$kernel)) default_kernel(domain, contexts)
  if (identical(model$refit, "auto")) {
    model["refit"] <- list(if (transfer) transfer_refit() else default_refit(domain, kernel))
  }
  if (model$noise == "none") model <- without_noise(model)
  model["refit"] <- list(with_priors(model, domain, contexts))
  if (!is.null(kernel)) model$kernel <- kernel
  model
}

# An outcome with its own kernel has the refits that `model` has with this kernel: priors are for parameters of one
# kernel, and averages over smoothness for the default kernel.
with_own_refit <- function(outcome, model, domain, contexts) {
  if (is.null(outcome$kernel) || !is.null(outcome$refit)) return(outcome)
  model$kernel <- outcome$kernel
  outcome["refit"] <- list(resolved_model(model, domain, contexts)$refit)
  outcome
}

# A fixed noise variance, and no prior of it.
without_noise <- function(model) {
  model$noise_var <- least_noise
  model["noise_prior"] <- list(NULL)
  if (!is.null(model$refit)) model$refit$settings$fix_noise <- TRUE
  model
}

# The model's refits with priors for parameters that have none: the priors of the default kernel, and those that the
# user has given.
with_priors <- function(model, domain, contexts) {
  refit <- model$refit
  kernel <- model$kernel
  lengthscale_prior <- model$lengthscale_prior
  own <- is.null(kernel)
  if (own) kernel <- default_kernel(domain, contexts)
  parameters <- if (own) names(kernel_parameters(kernel))
  if (identical(lengthscale_prior, "auto")) {
    count <- sum(grepl("lengthscale", parameters))
    lengthscale_prior <- if (own && count > 0) c(meanlog = log(0.4 * sqrt(count)), sdlog = 1)
  }
  if (is.null(refit)) return(NULL)
  of_default <- function(field, prior) {
    names <- if (own) grep(field, parameters, value = TRUE)
    stats::setNames(rep(list(prior), length(names)), names)
  }
  priors <- c(lengthscale_priors(kernel, domain, lengthscale_prior, contexts),
              of_default("variance$", default_prior_variance),
              of_default("correlation", default_prior_correlation),
              of_default("own$", default_prior_own),
              if (!is.null(model$noise_prior)) list(noise_var = model$noise_prior))
  refit$settings$priors <- utils::modifyList(priors, as.list(refit$settings$priors))
  if (length(refit$settings$priors) == 0) refit$settings$priors <- NULL
  refit
}

# A prior for every lengthscale of a kernel, in units of the range of its input (for several inputs: the geometric mean
# of their ranges).
lengthscale_priors <- function(kernel, domain, prior, contexts = NULL, prefix = "") {
  if (is.null(prior)) return(list())
  if (is_composite(kernel)) {
    parts <- Map(function(part, k) lengthscale_priors(part, domain, prior, contexts, sprintf("%s%d.", prefix, k)),
                 kernel$parts, seq_along(kernel$parts))
    return(do.call(c, parts))
  }
  count <- length(kernel$lengthscale)
  if (count == 0) return(list())
  # The lengthscale of a periodic kernel is relative to its period.
  side <- if (trait(kernel, "unitless")) 1 else lengthscale_sides(kernel, domain, contexts)
  names <- paste0(prefix, kernel$type, ".lengthscale", if (count > 1) seq_len(count) else "")
  in_units <- function(unit) {
    if (is.matrix(prior)) prior[, 1] <- prior[, 1] + unit else prior[1] <- prior[1] + unit
    prior
  }
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

# The range of each context, by name, NA if it has levels: from the table or the types of contexts if there are any,
# otherwise from the given experiments, otherwise 1. `given`: a result of check_contexts(). The attribute `features` has
# those of levels.
context_sides <- function(given, seen = NULL) {
  table <- or_else(given$table, if (is.null(given$space)) seen)
  width <- if (is.null(table) && !is.null(given$space)) input_sides(given$space$box)
           else vapply(given$names, function(name) if (NROW(table)) diff(range(table[, name])) else 0, 0)
  sides <- stats::setNames(ifelse(width > 0, width, 1), given$names)
  sides[given$names %in% given$names[given$space$categorical]] <- NA
  features <- Filter(Negate(is.null), lapply(given$space$params, `[[`, "features"))
  if (length(features)) structure(sides, features = features) else sides
}

# The points to evaluate first, one column per input.
drawn_design <- function(domain, count, prior = NULL, known = NULL) {
  user_inputs(domain, design_from_prior(domain, count, prior, known = known))
}

# Model inputs of given experiments; NULL if there are none.
inputs_known <- function(domain, known) if (NROW(known$x)) inputs_anywhere(domain, known$x, "data")

# The points of `initial_design`; NULL if it is not given. `most`: the number of evaluations, which limits them.
given_design <- function(initial_design, n_initial, domain, most = Inf) {
  if (is.null(initial_design)) return(NULL)
  if (!is.null(n_initial)) {
    stop_unused("n_initial", "the points of `initial_design` are the initial design")
  }
  points <- find_points(domain, initial_design, NULL, "initial_design")
  count <- point_total(points)
  if (count > most) {
    stop_argument("initial_design", sprintf("one of %d points", as.integer(count)),
                  sprintf("at most the number of evaluations (%s)", exact_numbers(most)))
  }
  if (count == 0) {
    stop_argument("initial_design", "one without points", "at least one point",
                  try = "`n_initial = 0` for no initial design")
  }
  points
}

#' @export
default_kernel.search_domain <- function(domain, contexts = NULL) {
  sides <- input_sides(domain$box)
  for (one in domain$shares) {
    at <- share_columns(domain, one)
    range <- diff(share_bounds(one))
    sides[at] <- if (is_scaled(one)) ifelse(range != 0, abs(range), sides[at])
                 else if (max(range) > 0) max(range) else one$total
  }
  kernel_with_levels(domain, stats::setNames(sides, domain$names)[!domain$categorical], contexts)
}

#' @export
default_kernel.default <- function(domain, contexts = NULL) {
  sides <- input_sides(domain)
  if (is.null(domain$params) && !anyNA(contexts)) {
    return(kernel_matern(2.5, lengthscale = lengthscales_of(c(sides, contexts))))
  }
  kernel_with_levels(domain, stats::setNames(sides, domain$names)[!coded_columns(domain)], contexts)
}

# `sides`: the ranges of all inputs that are numbers, by name; `contexts`: see context_sides(). If the points can be
# counted, the main effects of numbers and of each factor are added to their product: results of experiments are often
# near the sum of such effects. Decided by bench/results/experiments.md.
kernel_with_levels <- function(domain, sides, contexts = NULL) {
  features <- c(Filter(Negate(is.null), lapply(domain$params, `[[`, "features")), attr(contexts, "features"))
  described <- names(features)
  sides <- c(sides, contexts[!is.na(contexts)])
  levels <- setdiff(c(model_names(domain), names(contexts)), c(names(sides), described))
  numbers <- function(variance) {
    kernel_matern(2.5, lengthscale = lengthscales_of(sides), variance = variance, dims = names(sides))
  }
  parts <- c(if (length(sides)) list(numbers(1)),
             lapply(described, function(name) kernel_of_features(features[[name]], name)),
             if (length(levels)) list(kernel_categorical(rep(0.5, length(levels)), dims = levels)))
  product <- Reduce(`*`, parts)
  effects <- (length(sides) > 0) + length(described) + length(levels)
  if (effects < 2 || length(contexts) || !is_discrete(domain)) return(product)
  mains <- c(if (length(sides)) list(numbers(main_effect)),
             lapply(described, function(name) kernel_of_features(features[[name]], name, main_effect)),
             lapply(levels, function(name) kernel_categorical(0.5, dims = name, variance = main_effect)))
  Reduce(`+`, mains, product)
}

# The variance of a main effect before the first fit; that of the product is 1.
main_effect <- 0.3

check_alone_with_store <- function(store, others) {
  if (is.null(store)) return(invisible())
  given <- names(Filter(Negate(is.null), others))
  if (length(given)) {
    stop_unused(given[1], "it is not supported with `store`")
  }
}

# Response types with which a search chooses the model: rewards that are no measurements.
check_searched_rewards <- function(rewards, given) {
  if (is.null(rewards)) return(NULL)
  rewards <- as_part(rewards, "bandit_rewards", "rewards", hint = "rewards_binary(), rewards_counts(), ...")
  if (is.null(trait(rewards, "outcome")) || trait(rewards, "noise")) {
    stop_argument("rewards", sprintf("rewards that are %s", trait(rewards, "title")),
                  "rewards_binary(), rewards_counts(), rewards_ordinal(), or left out",
                  try = "`gp_bandit()` or its presets, which take others")
  }
  given <- names(Filter(Negate(is.null), given))
  if ("outcomes" %in% given) {
    stop_unused("rewards", "each outcome has its own, such as `to_maximize(rewards = rewards_binary())`")
  }
  if (length(given)) stop_unused(given[1], "it is not supported with `rewards`")
  rewards
}

# (The direction may be an argument of the search or of the rewards.)
directed_rewards <- function(rewards, direction) {
  if (direction == "minimize") rewards$direction <- direction
  rewards
}

# The latent function of rewards with a likelihood has the default kernel and its priors: a standard deviation of about
# 1.4 on the scale of the link. Some hundred rewards are enough for its parameters, so that later refits are rare
# (`bench/decisions.R`).
latent_model <- function(model, domain, contexts, rewards) {
  check_class(model, "gp_model", "model", hint = "gp_model()")
  if (model$noise == "none") stop_unused("noise", "`rewards` have a likelihood, which has the noise")
  if (!model$transform %in% c("auto", "none")) stop_unused("transform", "`rewards` have a likelihood instead")
  model[c("noise_var", "noise_prior")] <- list(NULL, NULL)
  if (identical(model$refit, "auto")) {
    model$refit <- refit_every(2, mean = if (trait(rewards, "refits_mean")) "fit" else "keep", growth = 0.2)
  }
  resolved_model(model, domain, contexts)
}

transform_with_mean <- function(model, transfer, outcomes) {
  if (transfer || are_several(outcomes)) {
    stop_unused("model$mean", paste("it is not supported with", if (transfer) "`transfer`" else "several outcomes"))
  }
  if (model$transform %in% c("power", "log")) stop_unused("model$mean", "a transform of the rewards changes it")
  "none"
}

# The bandit of maximize_bandit() and auto_bandit().
scaled_bandit <- function(domain, direction, model, policy, pending, ..., rewards = NULL, failures = NULL,
                          outcomes = NULL, context_sides = NULL, transfer = FALSE) {
  if ("outputs" %in% ...names()) {
    stop_unused("outputs", "`direction` and `model = gp_model(transform = )` replace it")
  }
  if ("constraints" %in% ...names()) {
    stop_unused("constraints", "use `limits = ~ impurity <= 2`, or `outcomes`")
  }
  direction <- check_choice(direction, c("maximize", "minimize"))
  if (is.null(context_sides) && !is.null(list(...)$contexts)) {
    stop_unused("contexts", "an objective has none. Use `auto_bandit()`")
  }
  if (is.null(rewards)) {
    if ("changes" %in% ...names()) {
      stop_unused("changes", paste("rewards that are measurements are scaled, which is not supported with `changes`.",
                                   "Use `gp_bandit()`, or `rewards_binary()` or `rewards_counts()` if they apply"))
    }
    model <- with_noise_prior(model, domain, outcomes)
    if (!is.null(outcomes)) outcomes <- lapply(outcomes, with_own_refit, model, domain, context_sides)
    model <- resolved_model(model, domain, context_sides, transfer)
    transform <- if (model$transform == "auto") default_transform(domain, model$refit, context_sides, outcomes)
                 else model$transform
    if (!is.null(model$mean)) transform <- transform_with_mean(model, transfer, outcomes)
    outputs <- scale_outputs(direction, transform)
  } else {
    if (!is.null(model$mean)) stop_unused("model$mean", "`rewards` have a likelihood")
    rewards <- directed_rewards(rewards, direction)
    model <- latent_model(model, domain, context_sides, rewards)
    outputs <- NULL
  }
  gp_bandit(domain, model$kernel, model$noise_var, policy, mean = or_else(model$mean, 0), pending = pending,
            refit = model$refit, outputs = outputs,
            failures = or_else(failures, if (is.null(rewards)) "doubt" else "forget"), outcomes = outcomes,
            rewards = rewards, ...,
            .search = c(list(fresh = TRUE), if (model$noise == "none") list(noiseless = TRUE)))
}
