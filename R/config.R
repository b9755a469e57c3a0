# Readers of a bandit's settings and of the state of its queries. Layer: model.

is_growth <- function(fit) is.list(fit) && !is.null(fit$arms)

is_stored <- function(bandit) !is.null(bandit$journal) && inherits(bandit$journal, "bandit_store_log")

constraint_count <- function(config) if (is.null(config$constraints)) 0L else config$constraints$count

constraint_names <- function(config, letter) {
  count <- constraint_count(config)
  paste0(rep(letter, count), seq_len(count))
}

explores <- function(config) !is.null(config$changes) && isTRUE(config$changes$explore > 0)

refitted_config <- function(config, fit) {
  if (!is.null(fit$rewards)) config <- with_response(config, fit$rewards)
  config$kernel <- fit$kernel
  config$noise_var <- fit$noise_var
  config$mean <- fit$mean
  config$output_map <- fit$output_map
  config$models <- fit$models
  config$noise_field <- fit$noise_field
  if (!is.null(fit$forgetting)) config$forgetting <- fit$forgetting
  for (name in names(fit$outcomes)) {
    one <- fit$outcomes[[name]]
    if (!is.null(one$rewards)) config$outcomes[[name]] <- with_response(config$outcomes[[name]], one$rewards)
    config$outcomes[[name]][names(one)] <- one
  }
  config
}

# The settings of an outcome whose response type a refit has chosen, see yes_no_rewards(). Its kernel has another unit
# than that of the scaled numbers. The variance was chosen by `bench/yes_no.R`.
with_response <- function(one, rewards) {
  if (is.null(one$rewards)) {
    one["outputs"] <- list(NULL)
    parameters <- kernel_parameters(one$kernel)
    variances <- grep("variance$", names(parameters), value = TRUE)
    parameters[utils::head(variances, 1)] <- yes_no_variance
    one$kernel <- kernel_with_parameters(one$kernel, parameters)
    if (!is.null(one$refit)) one$refit <- latent_refit(one$refit, but = variances)
  }
  one$rewards <- rewards
  one
}

yes_no_variance <- 10

# The refits of a latent function: by one model, whose noise follows from the likelihood. `but`: parameters whose bounds
# and priors do not apply.
latent_refit <- function(refit, but = NULL) {
  if (identical(refit$noise, "varying")) {
    stop_argument("refit", "refit_every(noise = \"varying\") for an outcome with `rewards`", "one with constant noise")
  }
  refit[c("average", "smoothness", "smoothness_prior")] <- list(1, NULL, NULL)
  for (arg in intersect(c("lower", "upper", "priors"), names(refit$settings))) {
    setting <- refit$settings[[arg]]
    refit$settings[[arg]] <- setting[!names(setting) %in% c("noise_var", but)]
  }
  refit$settings <- Filter(length, refit$settings[names(refit$settings) != "fix_noise"])
  refit
}

# The configuration under each of its models, with their weights; the configuration itself if there is only one model.
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

# A summary of the averaged models, a row per parameter: its value in the best model, and the range that contains the
# models' weight except for 5% at each end.
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

# The expected noise variance of a reward under the models.
expected_noise <- function(config) {
  if (is.null(config$models)) return(config$noise_var)
  sum(model_weights(config) * vapply(config$models, function(model) model$noise_var, 0))
}

# The configuration in force: that of the last refit.
current_config <- function(bandit) {
  fits <- bandit$refits
  if (length(fits)) refitted_config(bandit$config, fits[[length(fits)]]) else bandit$config
}

has_posterior <- function(bandit) is.null(rule_of(bandit)) || length(bandit$config$model_settings) > 0

# The kernel's names of its inputs.
input_names <- function(config) c(model_names(config$domain), config$context_names)

# Does the core keep a table of every point in every context? Then numbers alone identify a point.
is_tabulated_space <- function(config) core_space_kind(config$domain, config) == "table"

status_of <- function(bandit, id) status_names[bandit$queries$status[id]]

has_transfer <- function(config) !is.null(config$transfer)

# The share of this campaign's prior variance that the other campaigns would explain if they were known everywhere.
# Together they make a covariance matrix if it is below 1. For a vector of correlations, or several as rows.
share_of <- function(transfer, rho) {
  rho <- matrix(rho, ncol = ncol(transfer$correlation))
  rowSums((rho %*% solve(transfer$correlation)) * rho)
}

# share_of(), averaged over the models.
share_reported <- function(config) {
  each <- vapply(config$models, function(model) share_of(config$transfer, model$campaigns$correlation), 0)
  sum(model_weights(config) * each)
}

output_sign <- function(config) if (identical(config$outputs$direction, "minimize") || is_reflected(config)) -1 else 1

is_minimising <- function(config) output_sign(config) < 0

direction_of <- function(config) {
  if (!is.null(config$goal)) config$goal$direction else if (is_minimising(config)) "minimize" else "maximize"
}

outcome_count <- function(config) max(1L, length(config$outcomes))

# The names of a query's outcomes; of a single one the name that the user gave, by default "reward".
outcome_names <- function(config) {
  if (!is.null(config$outcomes)) names(config$outcomes)
  else if (is.null(config$reward_name)) "reward"
  else config$reward_name
}

# The names of columns with a value for each outcome: `what` alone if there is one reward.
columns_for_outcomes <- function(config, what) {
  if (of_form(config, "several")) paste0(outcome_names(config), "_", what) else what
}

# The columns of the log with their values.
value_columns <- function(config) c("reward", sprintf("y%d", seq_len(outcome_count(config))[-1]))

# The settings of a bandit with this outcome alone; `config` may be the one in force. (With a likelihood they have the
# form of a single response.)
outcome_config <- function(config, k) {
  if (k > 1) {
    one <- config$outcomes[[k]]
    config[c("kernel", "noise_var", "mean")] <- one[c("kernel", "noise_var", "mean")]
    for (name in c("outputs", "output_map", "refit", "rewards")) config[name] <- list(one[[name]])
    config$models <- one$models
  }
  if (!is.null(config$rewards) && of_form(config, "several")) config[c("outcomes", "goal")] <- NULL
  config
}

# In a search, may a limited outcome get the likelihood of yes and no, if its values suggest it? (A probability has no
# limit of 0 or 1.)
may_be_yes_no <- function(config, k) {
  role <- if (isTRUE(config$fresh) && of_form(config, "several")) config$outcomes[[k]]$role
  if (is.null(role) || is.null(config$refit) || !all(lengths(role[c("rewards", "noise_var", "transform")]) == 0)) {
    return(FALSE)
  }
  limits <- c(trait(role, "lower"), trait(role, "upper"))
  limits <- limits[is.finite(limits)]
  width <- config$policy$width
  length(limits) > 0 && all(limits > 0 & limits < 1) && (is.null(width) || trait(width, "any_rewards"))
}

# (With Laplace's approximation searches find worse points, see `bench/results/yes_no.md`.)
yes_no_rewards <- function() {
  rewards <- as_part("binary", "bandit_rewards")
  rewards$approximation <- "variational"
  rewards
}

# Outcomes with such a likelihood that the user has not declared.
are_yes_no <- function(config) {
  vapply(seq_len(outcome_count(config)), function(k) {
    !is.null(outcome_config(config, k)$rewards) && may_be_yes_no(config, k)
  }, NA)
}

# The response types of the outcomes, NULL for numbers.
outcome_rewards <- function(config) {
  lapply(seq_len(outcome_count(config)), function(k) outcome_config(config, k)$rewards)
}

# Is the bandit's noise_var a setting of its model?
uses_noise_var <- function(config) is.null(config$rewards) || trait(config$rewards, "noise")

is_reflected <- function(config) identical(config$rewards$direction, "minimize")

# Does an observed reward have its own noise variance?
has_own_noise <- function(bandit) {
  events <- bandit$events
  own <- !is.na(table_column(events, "noise_var")) | !is.na(table_column(events, "size"))
  own <- own & table_column(events, "id") > forgotten_of(bandit)$sums
  any(status_of(bandit, table_column(events, "id")[own]) == "observed")
}

nothing_forgotten <- list(rounds = 0L, sums = 0L, before = 0L, explored = 0L, late = 0L)

# The forgotten part of a bandit's log. `rounds`: their number. `sums`: the number of queries that summarise them.
# `before`: the difference between the users' ids and the rows of the log. `explored`: the number of rounds that were
# uniform or of a design. `late`: the last query (an id) made before all forgotten rewards were observed.
forgotten_of <- function(bandit) {
  events <- bandit$events
  if (events$.size == 0L || !identical(events$kind[1], event_kind[["checkpoint"]])) return(nothing_forgotten)
  of <- function(name) {
    value <- as.integer(events[[name]][1])
    if (is.na(value)) 0L else value
  }
  rounds <- of("size")
  sums <- of("other")
  list(rounds = rounds, sums = sums, before = rounds - sums, explored = of("spread"), late = of("reward"))
}

ids_before <- function(bandit) forgotten_of(bandit)$before

# The number of rounds, including forgotten ones.
all_rounds <- function(bandit) table_size(bandit$queries) + ids_before(bandit)

check_remembers <- function(bandit, arg, what) {
  rounds <- forgotten_of(bandit)$rounds
  if (rounds > 0) {
    stop_state(sprintf("%s needs the complete log; this bandit has forgotten its first %d rounds.", what, rounds),
               argument = arg)
  }
}

# Were these queries made before the checkpoint, or before a query that compaction merged with its reward into one
# event? The log does not have the observations at the time of their choice.
before_checkpoint <- function(bandit, ids) {
  events <- lapply(c(kind = "kind", id = "id"), function(name) table_column(bandit$events, name))
  given <- events$id[events$kind == event_kind[["given"]]]
  made <- given[bandit$queries$action[given] != match("given", action_names)]
  forgotten <- forgotten_of(bandit)
  ids <= max(forgotten$sums, forgotten$late - forgotten$before, made)
}
