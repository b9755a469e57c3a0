# Checks of which settings can be combined. Layer: bandit.

check_can_keep_intervals <- function(config) {
  if (!is.null(config$outputs)) {
    stop_unused("outputs", "the level is in units of the reward, so rewards are not scaled")
  }
  if (length(config$context_names) && !is_tabulated_space(config)) {
    stop_argument("contexts", "contexts that are not tabulated",
                  "a table of contexts over arms, or left out, because intervals are kept")
  }
}

# Settings of refit_every() that are not supported for such rewards.
check_latent_refit <- function(config, refuse) {
  refit <- config$refit
  if (is.null(refit)) return(invisible())
  if (!trait(config$rewards, "refits")) stop_unused("refit", not_for_rewards(config))
  if (identical(refit$noise, "varying")) refuse("refit", "refit_every(noise = \"varying\")", "one with constant noise")
  if (or_else(refit$average, 1) > 1) {
    refuse("refit", sprintf("refit_every(average = %d)", refit$average), "refit_every() with `average = 1`")
  }
  if (refit$mean == "fit" && !trait(config$rewards, "refits_mean")) {
    refuse("refit", "refit_every(mean = \"fit\")",
           "refit_every(mean = \"keep\")")
  }
}

# Rewards stored with a refit must be the bandit's, except for the parameters that refits change.
check_refitted_rewards <- function(refitted, rewards) {
  if (is.null(refitted)) return(invisible())
  check_class(refitted, "bandit_rewards")
  fixed <- function(x) unclass(x)[setdiff(names(x), trait(x, "parameters")$names)]
  same <- !is.null(rewards) && identical(fixed(refitted), fixed(rewards))
  if (!same) damaged("a refit has other rewards than the bandit")
}

# Settings that refit_every(noise = "varying") does not support.
check_varying_noise <- function(refit, kernel, beside = list()) {
  if (!identical(refit$noise, "varying")) return(invisible())
  refuse <- function(given, allowed) {
    stop_argument("refit", paste("refit_every(noise = \"varying\") with", given), paste("one with", allowed))
  }
  if (is_composite(kernel) || !all(c("lengthscale", "variance") %in% trait(kernel, "fitted"))) {
    refuse("a kernel without one lengthscale per input, or one for all", "kernel_se(), kernel_matern() or kernel_rq()")
  }
  if (or_else(refit$average, 1) > 1) refuse(sprintf("`average = %d`", refit$average), "`average = 1`")
  for (name in names(beside)) if (!is.null(beside[[name]])) refuse(sprintf("`%s`", name), sprintf("no `%s`", name))
}

check_kernel_of_file <- function(kernel, config) {
  check_class(kernel, "bandit_kernel", "kernel")
  resolve_kernel(kernel, input_names(config), arms = arm_count(config$domain))
}

# Checks the noise field of a refit from any source.
check_noise_field <- function(field, config) {
  if (is.null(field)) return(invisible())
  if (!is.list(field) || !identical(config$refit$noise, "varying")) {
    damaged("a refit has a noise that the bandit does not")
  }
  check_kernel_of_file(field$kernel, config)
  points <- check_matrix(field$points, "points", columns = length(input_names(config)))
  check_numbers(field$weights, "weights", lengths = nrow(points))
  check_number(field$level, "level", lower = -700, upper = 700)
  check_positive(field$least, "least")
  check_number(field$most, "most", lower = field$least, upper = largest_number)
}

check_refit <- function(refit, config) {
  if (is.null(refit)) return(NULL)
  check_class(refit, "bandit_refit", hint = "refit_every()")
  start <- c(kernel_parameters(config$kernel), noise_var = config$noise_var)
  if (length(start) == 1) {
    stop_unused("refit", "this kernel has no parameters to fit")
  }
  for (arg in c("lower", "upper", "priors")) {
    bad <- setdiff(names(refit$settings[[arg]]), names(start))
    if (length(bad)) {
      stop_argument("refit", sprintf("refit_every() with `%s` for %s", arg, dQuote(bad[1], FALSE)),
                    paste("one whose bounds and priors are for", paste(dQuote(names(start), FALSE), collapse = ", ")))
    }
  }
  check_start_within(start, refit$settings)
  if (!is.null(refit$smoothness) && is.null(smoothness_of(config$kernel))) {
    stop_argument("refit", "refit_every() with `smoothness` and a kernel that has none",
                  "one without `smoothness`, or used with kernel_matern()")
  }
  check_varying_noise(refit, config$kernel, config[intersect(names(config), c("outputs", "outcomes"))])
  refit
}

# A search that starts outside its bounds could end at a worse likelihood.
check_start_within <- function(start, settings) {
  for (arg in c("lower", "upper")) {
    bounds <- unlist(settings[[arg]])
    own <- start[names(bounds)]
    outside <- if (arg == "lower") own < bounds * (1 - 1e-12) else own > bounds * (1 + 1e-12)
    if (any(outside)) {
      bad <- which(outside)[1]
      stop_argument("refit",
                    sprintf("one with the bound %s = %g for %s, which is %g", arg, bounds[[bad]], names(bounds)[bad],
                            own[[bad]]), "refit_every() with bounds that contain the kernel's present parameters")
    }
  }
}

# Settings that the models of earlier campaigns need.
check_can_transfer <- function(config) {
  if (has_matrix(config$kernel) || has_function(config$kernel)) {
    stop_unused("transfer", "it needs a kernel that is a function of the inputs")
  }
  if (is.null(config$refit)) {
    stop_unused("transfer",
                "without `refit` nothing estimates how the campaigns are related. Or use `refit = refit_every(10)`")
  }
  if (identical(config$refit$noise, "varying")) {
    stop_unused("transfer", "it needs a constant noise, not refit_every(noise = \"varying\")")
  }
  if (length(config$mean) != 1) {
    stop_unused("transfer", "it needs one prior mean for all arms")
  }
}

check_transfer_again <- function(config) {
  transfer <- config$transfer
  if (is.null(transfer)) return(invisible())
  fields <- c("name", "rows", "inputs", "campaign", "values", "noise_var", "kernel", "noise", "slope",
              "correlation")
  # (Earlier formats did not have optional points.)
  if (!is.list(transfer) || !identical(setdiff(names(transfer), "optional"), fields)) {
    damaged("its earlier campaigns are none")
  }
  if (!is.null(transfer$optional) && !is_optional_count(transfer$optional, config$design)) {
    damaged("its earlier campaigns leave another design")
  }
  for (part in c("outcomes", "changes", "constraints", "rewards")) {
    if (!is.null(config[[part]])) damaged("it has earlier campaigns in addition to `", part, "`")
  }
  check_can_transfer(config)
  count <- length(check_names(transfer$name, "transfer"))
  n <- length(transfer$values)
  check_numbers(transfer$values, "transfer", lengths = n)
  noise_var <- check_numbers(transfer$noise_var, "transfer", lengths = n)
  if (n == 0 || any(noise_var <= 0)) damaged("an earlier campaign has no noise")
  check_matrix(transfer$inputs, "transfer", columns = length(input_names(config)), rows = n)
  if (!identical(colnames(transfer$inputs), input_names(config))) damaged("its earlier campaigns have other inputs")
  if (!is.integer(transfer$campaign) || length(transfer$campaign) != n || !all(transfer$campaign %in% seq_len(count))) {
    damaged("its earlier campaigns have no numbers")
  }
  check_matrix(transfer$correlation, "transfer", columns = count, rows = count)
  if (is.null(config$models)) damaged("it has earlier campaigns and no models of them")
}

check_model_of_campaigns <- function(campaigns, config) {
  if (is.null(config$transfer) != is.null(campaigns)) damaged("a model has other campaigns than its bandit")
  if (is.null(campaigns)) return(invisible())
  count <- length(config$transfer$name)
  check_numbers(campaigns$correlation, "transfer", lengths = count)
  check_numbers(campaigns$mean, "transfer", lengths = count)
  check_positive(campaigns$scale, "scale")
  C <- campaigns_covariance(config$transfer, campaigns)
  check_semidefinite(C, "transfer", 1e-10)
}

# NULL for "forget".
check_failures <- function(failures, config) {
  taught <- check_choice(failures, c("forget", "avoid", "doubt"))
  if (taught == "forget") return(NULL)
  if (!is.null(config$constraints)) {
    stop_argument("failures", sprintf("\"%s\" together with `constraints`", taught),
                  "\"forget\" if `constraints` is given")
  }
  taught
}

# Settings that depend on each other.
check_together <- function(config) {
  check_supported_changes(config)
  check_likelihood(config)
  policy <- config$policy
  if (trait(policy, "draws")) {
    if (config$engine == "played") {
      stop_argument("engine", "\"played\"",
                    sprintf("\"auto\" or \"weights\" for %s, because joint draws need the complete factor",
                            trait(policy, "title")))
    }
    if (!trait(config$kernel, "prior_paths") && !can_count(config$domain)) {
      stop_argument("kernel",
                    sprintf("kernel_function() for %s on %s", trait(policy, "title"), describe_domain(config$domain)),
                    "another kernel if functions are drawn from the prior")
    }
  }
  if (trait(policy, "intervals")) check_can_keep_intervals(config)
}

# Has the change rule a meaning for these rewards?
check_supported_changes <- function(config) {
  if (is.null(config$changes)) return(invisible())
  instead <- trait(config$changes, "instead")(config$rewards)
  if (is.null(instead)) return(invisible())
  stop_argument("changes", sprintf("%s, with rewards that are %s", dQuote(trait(config$changes, "title"), FALSE),
                                   if (is.null(config$rewards)) "measurements" else trait(config$rewards, "title")),
                instead)
}

# Is kernel_function() a covariance on this domain?
check_custom_kernel <- function(config) {
  if (!has_function(config$kernel)) return(invisible())
  if (length(config$context_names) && is.null(config$contexts)) return(invisible())
  kernel <- resolve_kernel(config$kernel, input_names(config), arm_count(config$domain))
  contexts <- if (!is.null(config$contexts)) utils::head(config$contexts, 3)
  check_own_kernel(kernel, points_in_contexts(config$domain, spread_points(config$domain, 20), contexts))
}

check_linear_model <- function(config) {
  domain <- config$domain
  largest <- function(x) apply(abs(x), 2, max)
  # (Evaluated for linear kernels only.)
  delayedAssign("size", {
    c(if (can_count(domain)) largest(all_points(domain)$inputs) else rep(NA, length(model_names(domain))),
      if (is.null(config$contexts)) rep(NA, length(config$context_names)) else largest(config$contexts))
  })
  check_linear_scale(config$kernel, size, input_names(config))
}

# Can this policy be used with these outcomes?
check_policy_for_outcomes <- function(config) {
  policy <- config$policy
  if (!is.null(config$goal)) return(check_policy_for_goal(policy))
  if (trait(policy, "takes_all")) return(invisible())
  count <- length(objectives(config))
  trades <- count > 1
  of_several <- trait(policy, "objectives")
  if (of_several > 0 && (!trades || count > of_several)) {
    stop_argument("policy", paste(trait(policy, "title"), "with", amount_of(count, "objective")),
                  sprintf("another policy, or `outcomes` with %s objectives",
                          if (is.finite(of_several)) paste("2 to", of_several) else "several"))
  }
  if (trades && of_several == 0 && !trait(policy, "uniform")) {
    stop_argument("policy",
                  sprintf("%s, which is for one objective, with %d of them", trait(policy, "title"), count),
                  "policy_ehvi() (2 to 4), policy_hypervolume(), policy_uniform() or policy_function()")
  }
  if (has_limits(config) && !trades && !trait(policy, "limits")) {
    stop_argument("policy", paste0(trait(policy, "title"), ", which does not support limits"),
                  paste("policy_ei() without cost, policy_ucb() with one multiplier, policy_ts(), policy_uniform() or",
                        "policy_function() with limits"))
  }
}

check_policy_for_goal <- function(policy) {
  plain <- identical(policy$kind, "ei") && is.null(policy$incumbent) && is.null(policy$cost)
  if (plain || trait(policy, "uniform")) return(invisible())
  stop_argument("policy", sprintf("%s, which does not support a `goal`", trait(policy, "title")),
                "policy_ei() without cost and with incumbent = \"mean\", or policy_uniform()")
}

with_outcomes <- function(config, outcomes) {
  outcomes <- complete_outcomes(outcomes, config)
  if (!is.null(outcomes)) {
    of_model <- c("kernel", "noise_var", "mean", "outputs", "refit", "rewards")
    for (name in of_model) config[name] <- list(outcomes[[1]][[name]])
    config <- config[!vapply(config, is.null, NA)]
    config$outcomes <- outcomes
    for (k in seq_along(outcomes)) {
      one <- outcome_config(config, k)
      check_refit(one$refit, one)
    }
    check_responses_of_outcomes(config)
  }
  check_policy_for_outcomes(config)
  if (length(config$policy$reference)) reference_of(config$policy$reference, objectives(config))
  config
}

# Checks settings from a file or a store.
check_outcomes_again <- function(config) {
  outcomes <- config$outcomes
  if (!is.null(outcomes)) {
    whole <- is.list(outcomes) && all(vapply(outcomes, function(one) {
      is.list(one) && setequal(setdiff(names(one), c("output_map", "models", "rewards")),
                               c("role", "kernel", "noise_var", "mean", "outputs", "refit"))
    }, NA))
    if (!whole) damaged("its outcomes are none")
    check_outcome_list(lapply(outcomes, `[[`, "role"), config)
    if (!is.null(config$goal)) check_goal(config$goal, config)
    else if (!trait(outcomes[[1]]$role, "objective")) damaged("its first outcome is no objective")
    if (of_form(config, "several")) check_alone_with_outcomes(config[!names(config) %in% c("outputs", "rewards")])
    if (!identical(config$rewards, outcomes[[1]]$rewards)) damaged("its first outcome has other rewards")
    for (k in seq_along(outcomes)) {
      one <- outcome_config(config, k)
      check_outputs(outcomes[[k]]$outputs, one[setdiff(names(one), c("outputs", "changes", "constraints"))])
      check_refit(outcomes[[k]]$refit, one)
    }
  }
  check_responses_of_outcomes(config)
  check_policy_for_outcomes(config)
}

# Settings that outcomes with a likelihood do not support.
check_responses_of_outcomes <- function(config) {
  if (!of_form(config, "several")) return(invisible())
  with_likelihood <- lengths(outcome_rewards(config)) > 0
  if (!any(with_likelihood)) return(invisible())
  roles <- outcome_roles(config)
  for (rewards in outcome_rewards(config)[with_likelihood]) check_class(rewards, "bandit_rewards", "rewards")
  width <- config$policy$width
  if (!is.null(width) && (!trait(width, "any_rewards") || trait(width, "curved"))) {
    stop_argument("width", sprintf("%s, for outcomes with `rewards`", trait(width, "title")),
                  "width_constant() or width_function(), because other widths assume Gaussian noise")
  }
  of_objective <- names(Filter(function(role) trait(role, "objective"), roles[with_likelihood]))
  if (length(objectives(config)) > 1 && length(of_objective)) {
    stop_argument("outcomes", sprintf("several objectives, of which %s has `rewards`", dQuote(of_objective[1], FALSE)),
                  "objectives that are measurements, or one objective")
  }
  if (!is.null(config$pending$lipschitz) && length(of_objective)) {
    stop_argument("pending", "pending_penalize() with a Lipschitz constant, for an objective with `rewards`",
                  "pending_penalize(), which estimates the latent function's")
  }
  if (config$engine == "lowrank" && any(vapply(outcome_rewards(config)[with_likelihood], is_variational, NA))) {
    stop_argument("engine", "\"lowrank\", with approximation = \"variational\"", "\"auto\" or \"dense\"")
  }
}

# Methods for a single reward are errors for several outcomes.
check_one_outcome <- function(config, what) {
  if (of_form(config, "several")) {
    stop_state(what, " is defined for one reward; this bandit has the outcomes ",
               paste(outcome_names(config), collapse = ", "), ", for which no theorem holds.", argument = "outcomes")
  }
}

# policy_duel() and rewards_preferences() belong together, and exclude some other settings.
check_duels <- function(config, refuse) {
  compares <- of_form(config, "compares")
  if (trait(config$policy, "pairs") && !compares) {
    stop_argument("policy", "policy_duel() without `rewards = rewards_preferences()`",
                  "another policy, or used with `rewards = rewards_preferences()`")
  }
  if (!compares) return(invisible())
  if (trait(config$pending, "noticed")) refuse("pending", describe_pending(config$pending), "pending_ignore()")
  if (config$engine == "played") refuse("engine", "\"played\"", "\"auto\" or \"weights\"")
  if (draws_incumbent(config$policy)) refuse("policy", "policy_ei() with incumbent = \"draws\"", "incumbent = \"mean\"")
  if (trait(config$policy, "draws") && !can_count(config$domain)) {
    refuse("policy", paste(trait(config$policy, "title"), "on", describe_domain(config$domain)), "policy_duel()")
  }
  if (trait(config$policy, "of_arms") && !can_count(config$domain)) {
    refuse("policy", paste("policy_duel(rule = \"game\") on", describe_domain(config$domain)), "rule = \"last\"")
  }
}

check_glm_width <- function(config) {
  width <- config$policy$width
  if (is.null(width) || !trait(width, "curved")) return(invisible())
  refuse <- function(given, allowed) stop_argument("width", paste("width_glm()", given), allowed)
  if (is.null(config$rewards) || !trait(config$rewards, "has_norm_bound")) {
    refuse(paste("with rewards that are",
                 if (is.null(config$rewards)) "measurements with Gaussian noise" else trait(config$rewards, "title")),
           paste("with rewards_binary(), rewards_counts() or rewards_preferences() of pairs without ties;",
                 "width_amm() is for measurements"))
  }
  if (is_variational(config$rewards)) {
    refuse("with approximation = \"variational\"", "with \"laplace\": its proof is about the mode")
  }
  if (!trait(config$policy, "curved")) {
    refuse(paste("for", trait(config$policy, "title")), "for policy_ucb() or policy_duel()")
  }
  if (trait(config$pending, "variance_knows")) {
    refuse("with pending_hallucinate()", "with pending_ignore(): pending queries are not part of the guarantee")
  }
}

not_for_rewards <- function(config) {
  sprintf("it is not supported with rewards that are %s", trait(config$rewards, "title"))
}

# Weights that depend on the rewards are fixed by the prior mean and the noise variance.
check_plateau <- function(config) {
  if (is.null(config$rewards$plateau)) return(invisible())
  for (arg in c("constraints", "failures", "refit")) {
    if (!is.null(config[[arg]])) stop_unused(arg, not_for_rewards(config))
  }
}

# Settings that are not supported for such rewards.
check_likelihood <- function(config) {
  check_glm_width(config)
  if (of_form(config, "gaussian")) {
    check_plateau(config)
    return(check_duels(config))
  }
  title <- trait(config$rewards, "title")
  refuse <- function(arg, given, allowed) stop_argument(arg, paste0(given, ", with rewards that are ", title), allowed)
  check_latent_refit(config, refuse)
  for (arg in c("constraints", "failures")) {
    if (!is.null(config[[arg]])) stop_unused(arg, not_for_rewards(config))
  }
  width <- config$policy$width
  if (!is.null(width) && !trait(width, "any_rewards")) {
    refuse("width", trait(width, "title"),
           "width_constant(), width_function() or width_glm(), because other widths assume Gaussian noise")
  }
  if (trait(config$policy, "of_noise") || !is.null(config$policy$repeats)) {
    refuse("policy", describe_policy(config$policy), "one that does not use the noise variance")
  }
  if (config$engine == "lowrank" && is_variational(config$rewards)) {
    stop_argument("engine", "\"lowrank\", with approximation = \"variational\"",
                  "\"auto\" or \"dense\", or used with approximation = \"laplace\"")
  }
  if (config$engine == "lowrank" && !trait(config$rewards, "concave")) {
    refuse("engine", "\"lowrank\"", "\"auto\" or \"dense\" (over arms \"weights\" or \"played\")")
  }
  check_duels(config, refuse)
  check_units(config, refuse)
  pending <- config$pending
  if (trait(pending, "replaces")) as_stand_in(config$rewards, pending$value, refuse)
}
