# A bandit's settings in the form that the core takes, and contexts of queries. Layer: bandit.

# The settings as the core takes them. `fixed`: fixed_settings() of them, which stay the same at refits, as do the names
# of the inputs.
core_config <- function(config, fixed = fixed_settings(config), inputs = input_names(config)) {
  common <- fixed
  if (!is.null(config$rewards)) {
    if (is_reflected(config)) config$mean <- -config$mean
    common$likelihood <- core_likelihood(config)
  }
  common$kernel <- resolve_kernel(config$kernel, inputs, arms = arm_count(config$domain))
  common$noise_var <- config$noise_var
  common$space$prior_mean <- rep_len(config$mean, length(fixed$space$prior_mean))
  common$space <- with_mean_function(common$space, config)
  common$policy <- resolve_policy(config$policy, config, fixed$policy)
  if (!is.null(config$forgetting)) common$forgetting <- resolve_changes(config$forgetting, config)
  if (!is.null(config$noise_field)) common$noise_field <- core_noise_field(config)
  if (isTRUE(config$fresh)) {
    if (is_noise_negligible(config)) common$exact <- TRUE
    else if (is_noise_doubtful(config)) common$noise_fitted <- TRUE
  }
  if (!is.null(config$outputs)) common$outputs <- output_map(config)
  if (!is.null(config$models)) common <- with_models(config, common)
  of_form(config, "for_core")(config, common)
}

# What the core takes of them that no refit changes.
fixed_settings <- function(config) {
  first <- trait(config$policy, "first")
  out <- list(
    space = core_space(config$domain, config), policy = traits_for_core(config$policy, config),
    pending = c(resolve_pending(config$pending, config), list(actions = length(config$domain$names))),
    engine = config$engine,
    accuracy = if (is.null(config$accuracy)) 1e-3 else config$accuracy,
    changes = resolve_changes(config$changes, config),
    constraints = if (!is.null(config$constraints)) unclass(config$constraints)
  )
  if (!is.null(first) && out$space$kind == "box") out$space$first <- unname(first$inputs)
  if (!is.null(config$rewards)) {
    out$clip <- config$rewards$b
    out[c("plateau", "decay")] <- config$rewards[c("plateau", "decay")]
  }
  if (isTRUE(config$fresh)) {
    out$fresh <- TRUE
    out$coded <- which(coded_columns(config$domain)) - 1
    if (repeats_come_last(config)) out$once <- TRUE
  }
  if (isTRUE(config$noiseless)) out$noiseless <- TRUE
  if (!is.null(config$failures)) out$failures <- output_sign(config)
  if (identical(config$failures, "doubt")) out$doubted <- TRUE
  if (may_be_sparse(config)) out$sparse <- TRUE
  out
}

# In a search over points that can be counted, no point is suggested again as long as there are others, and no repeat
# has shown noise. (Rewards with a likelihood are noisy, and rewards that change over time have to be measured again. Of
# contexts, each decision counts: the best arm of a context is the right one each time.)
repeats_come_last <- function(config) {
  isTRUE(config$fresh) && is.null(config$changes) && of_form(config, "gaussian") && is_discrete(config$domain) &&
    (length(config$context_names) == 0 || isTRUE(config$noiseless))
}

# May the posterior of very many observations use a sparse basis? Only in searches, where kernels are fitted or rewards
# are scaled: no theorem then needs an exact posterior.
may_be_sparse <- function(config) {
  identical(config$engine, "auto") && identical(config$accuracy, 1e-3) &&
    (!is.null(config$refit) || !is.null(config$outputs))
}

# Is the noise variance under the current models almost zero relative to rewards of variance 1? (Not with contexts: a
# value observed in one context is not known in the others.)
negligible_noise <- 1e-3

is_noise_negligible <- function(config) {
  if (length(config$context_names) || !is.null(config$noise_field)) return(FALSE)
  each <- lapply(seq_len(outcome_count(config)), outcome_config, config = config)
  each <- each[!are_yes_no(config)]
  all(vapply(each, expected_noise, 0) <= negligible_noise)
}

# Is the noise variance an estimate? A fit also treats structure of f that its models cannot represent as noise.
is_noise_fitted <- function(config) {
  !is.null(config$refit) && uses_noise_var(config) && !isTRUE(config$refit$settings$fix_noise) &&
    is.null(config$constraints)
}

is_noise_doubtful <- function(config) {
  is_noise_fitted(config) && prefers_evaluated(config) && is.null(config$noise_field) && of_form(config, "gaussian")
}

# Is a point that was not evaluated recommended only if it is surely better than the evaluated ones?
prefers_evaluated <- function(config) {
  isTRUE(config$fresh) && !length(config$context_names) && is.null(config$changes)
}

# Settings from which a space and a posterior are made, with those of each of several models.
with_models <- function(config, common) {
  if (is.null(config$models)) return(common)
  # Earlier campaigns that no model uses are left out: the bandit is the same as without them, bit by bit.
  if (has_transfer(config) && share_reported(config) == 0) config$transfer <- NULL
  common$models <- lapply(configs_of_models(config), core_model, common)
  common
}

# The settings of one of several models, in the same format.
core_model <- function(config, common) {
  common$kernel <- resolve_kernel(config$kernel, input_names(config), arms = arm_count(config$domain))
  common$noise_var <- config$noise_var
  common$weight <- config$weight
  means <- common$space$prior_mean
  if (length(config$mean) == 1) {
    common$space$prior_mean <- rep(config$mean, length(means)) + or_else(common$space$shape, 0)
  }
  common$transfer <- core_transfer(config)
  common
}

# Rows of earlier campaigns in the core's format: the kernel's inputs, the arm's number if the space has numbers (it has
# no meaning here), and the campaign's number.
core_transfer <- function(config) {
  transfer <- config$transfer
  if (is.null(transfer)) return(NULL)
  list(inputs = unname(cbind(transfer$inputs, if (has_numbers(config$domain)) 0, transfer$campaign)),
       values = transfer$values, noise_var = transfer$noise_var, mean = config$campaigns$mean,
       covariance = campaigns_covariance(transfer, config$campaigns))
}

check_keeps_intervals <- function(bandit, arg, what) {
  if (!trait(bandit$config$policy, "intervals")) {
    stop_state(sprintf("%s needs a bandit made by `gp_lse()`; this one has the policy \"%s\".", what,
                       trait(bandit$config$policy, "title")), argument = arg)
  }
}

# The settings with the arms that some refits added; arms that the domain already has are not added twice.
grown_config <- function(config, refits) {
  for (fit in Filter(is_growth, refits)) {
    arms <- checked_arms(fit$arms, config)
    have <- arm_count(config$domain)
    new <- arms$from + seq_len(nrow(arms$x))
    if (have == arms$from) {
      config$domain <- joined_arms(config$domain, arms)
      if (length(config$mean) > 1) config$mean <- c(config$mean, arms$mean)
    } else if (have < max(new) || !identical(unname(config$domain$x[new, , drop = FALSE]), arms$x)) {
      damaged("its arms differ from those in its events")
    }
  }
  config
}

joined_arms <- function(domain, arms) {
  colnames(arms$x) <- domain$names
  domain$x <- rbind(domain$x, arms$x)
  if (!is.null(domain$labels)) domain$labels <- c(domain$labels, arms$labels)
  domain
}

# Arms from a file or a store may be invalid.
checked_arms <- function(arms, config) {
  domain <- config$domain
  whole <- is_set_of_arms(domain) && is.list(arms) && is.matrix(arms$x) && is.double(arms$x) &&
    nrow(arms$x) > 0 && ncol(arms$x) == length(domain$names) && all(is.finite(arms$x)) && is.null(dimnames(arms$x)) &&
    are_codes(domain$params, domain$names, arms$x) &&
    is.double(arms$from) && length(arms$from) == 1 && isTRUE(arms$from >= 1 && arms$from == round(arms$from))
  if (!whole) damaged("an event has no arms")
  count <- nrow(arms$x)
  labelled <- is.null(domain$labels) && is.null(arms$labels) ||
    are_names(arms$labels) && length(arms$labels) == count && !is.null(domain$labels)
  means <- if (length(config$mean) == 1) is.null(arms$mean)
           else is.double(arms$mean) && length(arms$mean) == count && all(abs(arms$mean) <= largest_number)
  if (!labelled || !isTRUE(means)) damaged("an event has arms without the names or means of the others")
  arms
}

# The settings at the time when there were `count` arms.
first_arms <- function(config, count) {
  if (count == arm_count(config$domain)) return(config)
  rows <- seq_len(count)
  config$domain$x <- config$domain$x[rows, , drop = FALSE]
  config$domain$labels <- config$domain$labels[rows]
  if (length(config$mean) > 1) config$mean <- config$mean[rows]
  config
}

# The settings before any event.
starting_config <- function(bandit) {
  first <- Find(is_growth, bandit$refits)
  if (is.null(first)) bandit$config else first_arms(bandit$config, first$arms$from)
}

# The settings in force after each refit.
configs_in_time <- function(config, refits) {
  first <- Find(is_growth, refits)
  count <- first$arms$from
  lapply(refits, function(fit) {
    if (is_growth(fit)) count <<- count + nrow(fit$arms$x)
    refitted_config(if (is.null(count)) config else first_arms(config, count), fit)
  })
}

subset_contexts <- function(contexts, rows) {
  if (identical(as.integer(rows), seq_along(contexts$row))) return(contexts)
  c(list(row = contexts$row[rows], values = contexts$values[rows, , drop = FALSE]),
    contexts[intersect(c("eligible", "fixed"), names(contexts))])
}

# One context, in the user's format; NULL if there are none.
context_row <- function(config, contexts) {
  if (length(config$context_names) == 0) return(NULL)
  if (is_tabulated_space(config)) config$contexts[contexts$row + 1L, , drop = FALSE] else contexts$values
}

# Contexts, or constraint values, of bandits without any. (The object for one query is made only once, because making it
# takes half of the time of preparing a query.)
no_columns <- function(count) if (count == 1) one_without$values else matrix(0, count, 0)

one_without <- list(row = 0L, values = matrix(0, 1, 0))

# `count` contexts in the core's format (a single context is used for all): `row` numbers
# (0-based) of known contexts, `values` if they are not tabulated.
contexts_for <- function(bandit, context, count = NULL) {
  config <- bandit$config
  size <- length(config$context_names)
  if (size == 0) {
    if (!is.null(context)) stop_unused("context", "this bandit has no contexts")
    if (is.null(count) || count == 1) return(one_without)
    return(list(row = integer(count), values = no_columns(count)))
  }
  # One context, a plain vector, needs no further checks: they would take a quarter of the time of a query.
  plain <- is.null(config$contexts) && is.null(config$context_space) && is.numeric(context) &&
    is.null(attributes(context)) && length(context) == size
  if (plain && (is.null(count) || count == 1) && all(is.finite(context))) {
    return(list(row = 0L, values = matrix(as.double(context), 1)))
  }
  # (Formatted only for an error.)
  delayedAssign("allowed", sprintf("a context of %s (%s)%s", amount_of(size, "value"),
                                   paste(config$context_names, collapse = ", "),
                                   if (!is.null(count) && count > 1) sprintf(", or %d rows of them", count) else ""))
  if (is.null(context)) {
    stop_missing("context", allowed, context_example(config))
  }
  given <- context_matrix(config, context)
  if (!is.null(count) && !nrow(given) %in% c(1, count)) stop_argument("context", describe(context), allowed)
  if (!is.null(count)) given <- given[rep_len(seq_len(nrow(given)), count), , drop = FALSE]
  row <- integer(nrow(given))
  if (!is.null(config$contexts)) {
    row <- match_rows(given, config$contexts) - 1L
    if (anyNA(row)) {
      shown <- function(codes) {
        if (is.null(config$context_space)) return(codes)
        do.call(cbind, lapply(context_frame(config$context_space, codes), as.character))
      }
      wrong <- shown(given[which(is.na(row))[1], , drop = FALSE])
      text <- if (is.numeric(wrong)) exact_numbers(unname(wrong[1, ])) else wrong[1, ]
      stop_argument("context", paste(text, collapse = ", "),
                    sprintf("one of the bandit's %d contexts (%s)", nrow(config$contexts),
                            described_rows(shown(config$contexts))))
    }
  }
  if (is_tabulated_space(config)) given <- matrix(0, nrow(given), 0)
  list(row = row, values = unname(given))
}

# A context as one would type it.
context_example <- function(config) {
  if (is.null(config$context_space)) {
    return(sprintf("`context = c(%s)`", paste(config$context_names, "= 1", collapse = ", ")))
  }
  values <- vapply(config$context_space$params, function(param) {
    if (identical(param$type, "factor")) dQuote(levels_as_text(param)[1], FALSE)
    else or_else(levels_as_text(param)[1], format(param$lower))
  }, "")
  sprintf("`context = list(%s)`", paste(config$context_names, values, sep = " = ", collapse = ", "))
}

describe_prior_mean <- function(mean) {
  if (length(mean) == 1) format(mean) else sprintf("one per arm (%g to %g)", min(mean), max(mean))
}

# "a = 1.5, b = gini": numbers to some digits.
point_text <- function(point, digits, units = NULL) {
  values <- vapply(point, function(value) {
    if (is.numeric(value)) format(value, digits = digits, trim = TRUE) else as.character(value)
  }, "")
  unit <- if (!is.null(units)) units[names(point)]
  paste(names(point), "=", paste0(values, ifelse(nzchar(unit) %in% TRUE, paste0(" ", unit), "")), collapse = ", ")
}

# A context's number for each of `count` points, and its values if points are given by their inputs.
contexts_of_points <- function(bandit, context, count) {
  config <- bandit$config
  one_each <- length(config$context_names) && NROW(context) > 1 && !is.null(dim(context))
  contexts <- contexts_for(bandit, context, if (one_each) count else 1L)
  row <- rep_len(contexts$row, count)
  values <- contexts$values
  if (is_tabulated_space(config) && length(config$context_names)) values <- config$contexts[row + 1L, , drop = FALSE]
  list(row = row, values = values[rep_len(seq_len(nrow(values)), count), , drop = FALSE])
}

# Points as the core returns them, with the context's values after their inputs.
points_found <- function(config, found) {
  if (is_tabulated_space(config)) return(list(arm = found$arm))
  list(arm = found$arm, inputs = found$inputs[, seq_along(model_names(config$domain)), drop = FALSE])
}

# The noise field in the core's format.
core_noise_field <- function(config) {
  field <- config$noise_field
  kernel <- resolve_kernel(field$kernel, input_names(config), arms = arm_count(config$domain))
  c(list(kernel = kernel), field[c("points", "weights", "level", "least", "most")])
}

# The covariance of all campaigns, this one first.
campaigns_covariance <- function(transfer, campaigns) {
  s <- campaigns$scale
  r <- campaigns$correlation
  rbind(c(s^2, s * r), cbind(s * r, transfer$correlation))
}

# Limits of an outcome in the model's units, under the current outcome transform. `config`: outcome_config().
core_role <- function(role, config) {
  limits <- c(trait(role, "lower"), trait(role, "upper"))
  if (!is_level_known(config)) limits <- c(-Inf, Inf)
  # (If the model negates an outcome that is minimised, the upper limit becomes the lower one.)
  turned <- isTRUE(output_map(config)$scale < 0)
  if (turned) limits <- rev(limits)
  in_model <- function(limit) {
    if (!is.finite(limit)) return(if (turned) -limit else limit)
    if (has_response(config)) trait(config$rewards, "latent")(limit) else limit_seen(limit, config)
  }
  seen <- vapply(limits, in_model, 0)
  list(objective = trait(role, "objective"), lower = seen[1], upper = seen[2])
}

# The value of f at which the expected outcome is at its limit.
limit_seen <- function(limit, config) {
  map <- output_map(config)
  if (is.null(map) || is_linear_map(map)) return(if (is.null(map)) limit else transform_outputs(map, limit))
  expected <- function(f) expected_rewards(map, f, config$noise_var) - limit
  ends <- transform_outputs(map, limit) + c(-1, 1)
  for (k in 1:40) {
    at <- vapply(ends, expected, 0)
    if (!all(is.finite(at)) || at[1] * at[2] <= 0) break
    ends <- ends + c(-1, 1) * 2^min(k, 10)
  }
  # Beyond the range of the transform, the limit holds everywhere or nowhere.
  if (!all(is.finite(at)) || at[1] * at[2] > 0) {
    return(if ((at[2] > 0) == (map$scale > 0)) -largest_number else largest_number)
  }
  stats::uniroot(expected, ends, tol = 1e-12)$root
}

core_outcomes <- function(config, common) {
  roles <- outcome_roles(config)
  common$role <- core_role(roles[[1]], outcome_config(config, 1))
  common$outcomes <- lapply(seq_along(roles)[-1], function(k) {
    one <- outcome_config(config, k)
    space <- common$space
    space$first <- NULL
    space$prior_mean <- rep_len(one$mean, length(space$prior_mean))
    likelihood <- if (!is.null(one$rewards)) list(likelihood = core_likelihood(one))
    with_models(one, c(
      list(space = space, kernel = resolve_kernel(one$kernel, input_names(one), arms = arm_count(one$domain)),
           noise_var = one$noise_var),
      common[intersect(c("engine", "accuracy", "pending", "sparse"), names(common))],
      list(outputs = output_map(one), role = core_role(roles[[k]], one)), likelihood))
  })
  senses <- unname(vapply(roles, function(role) as.double(trait(role, "sense")), 0))
  common["failures"] <- list(if (!is.null(config$failures)) senses)
  if (!is.null(config$goal)) {
    common$goal <- goal_program(config)
    if (goal_sign(config$goal) < 0) {
      common$goal[c("op", "value")] <- list(c(common$goal$op, one_step("negate")[, "op"]), c(common$goal$value, 0))
    }
  }
  common
}

# `what`: describes the source of the text, for an error.
settings_from_text <- function(text, trust, what) {
  catch_error(check_own_objects(value_from_text(text, trust)), function(e) {
    stop_data("Cannot read ", what, ": ", message_of(e), argument = "store", parent = e)
  })
}

register_form("reward", for_core = function(config, common) common)
register_form("outcomes", for_core = core_outcomes)
