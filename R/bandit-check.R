# Validation of bandits that come from files, stores and other processes. Layer: bandit.

# Data from a file, an object or a store are checked in two steps. Types, lengths and ranges of settings and tables are
# checked here, before the core reads them. Points, ids, order and values of events are checked by the replay in
# BanditState. Finally the results in the tables are compared with those of the replay.

# The format of a bandit's settings and log. Those without a format number count as format 0.
bandit_format <- 3L

engine_names <- c("auto", "weights", "played", "lowrank", "dense")

check_whole <- function(bandit) {
  as_damaged({
    check_config(bandit$config)
    if (is.list(bandit$refits)) bandit$config <- grown_config(bandit$config, bandit$refits)
    upgrade_format(bandit)
    check_table(bandit$queries, query_columns(bandit$config), "queries")
    check_table(bandit$events, event_columns(), "events")
    check_checkpoint_event(bandit)
    check_logged_inputs(bandit$config, cpp_logged_inputs(bandit$queries, seq_len(table_size(bandit$queries))))
    check_refits(bandit)
    kind_of(bandit)$check_log(bandit)
    check_reasons(bandit)
    check_notes(bandit)
  })
}

# ---- settings -----------------------------------------------------------------

check_config <- function(config) {
  if (!is.list(config)) damaged("its settings are no list")
  format <- config$format
  if (!is.null(format) && (!is.integer(format) || length(format) != 1 || is.na(format) || format < 1)) {
    damaged("its format has no number")
  }
  if (!is.null(format) && format > bandit_format) {
    stop_data(sprintf("This bandit has format %d, a later version's; this version reads formats up to %d. ", format,
                      bandit_format), "Update the package.")
  }
  check_weights_format(config, format)
  if (!inherits(config$domain, "bandit_domain")) damaged("it has no domain")
  check_own_objects(config)
  check_contexts_again(config)
  check_reward_name(config$reward_name, config$domain, config$context_names, config$outcomes)
  for (part in c("policy", "pending")) check_class(config[[part]], paste0("bandit_", part), part)
  if (is.null(config$rule)) {
    check_model_state(config, config)
    check_choice(config$engine, engine_names, "engine")
    if (!is.null(config$accuracy)) check_number(config$accuracy, "accuracy", lower = 0, open_lower = TRUE, upper = 1)
    for (part in intersect(c("changes", "constraints", "rewards"), names(config))) {
      if (!is.null(config[[part]])) check_class(config[[part]], paste0("bandit_", part), part)
    }
    check_refit(config$refit, config)
    if (!uses_noise_var(config) && !identical(config$noise_var, 1)) {
      damaged("its rewards have no noise variance")
    }
    check_together(config)
    if (!is.null(config$mean_function) && !identical(as_mean_function(config$mean_function, config$domain),
                                                     config$mean_function)) {
      damaged("its prior mean is no function of the inputs")
    }
    check_mean_function(config)
    check_outputs(config$outputs, config)
    if (!is.null(config$failures)) check_failures(config$failures, config)
    for (name in c("fresh", "noiseless", "design_grows")) if (!is.null(config[[name]])) check_flag(config[[name]], name)
    check_outcomes_again(config)
    check_transfer_again(config)
    check_design(config$design)
  } else {
    check_script_config(config)
  }
}

# Until format 2, which no release has written, `rate` was the factor by which weights are multiplied in each round.
check_weights_format <- function(config, format) {
  if (or_else(format, 0L) >= 3L || !is.list(config$changes)) return(invisible())
  if (identical(unclass(config$changes)[["kind"]], "weights")) {
    stop_data("This bandit was written by an unreleased version, whose `rate` of weights had another meaning. ",
              "Begin a new bandit, and add its history with `$add()`.")
  }
}

# For a bandit with a script: its rule with its declared settings, and the settings of its models, the first of which
# are the bandit's. Only the rule can check its memory, see by_rule().
check_script_config <- function(config) {
  rule <- config$rule
  if (!is.character(rule) || length(rule) != 1 || is.null(script_of(rule))) damaged("its rule is unknown")
  of_policy <- if (trait(config$policy, "scripted")) config$policy$kind
  if (!identical(of_policy, rule)) damaged("its policy is not its rule's")
  check_entry(config, script_of(rule))
  count <- check_count(config$constraints$count, "count", lower = 0)
  models <- config$model_settings
  if (!is.list(models) || length(models) %in% seq_len(count)) damaged("it has too few models")
  for (one in models) check_model_state(one, config)
  if (length(models)) check_model_state(config, config)
}

# Points to be played first.
check_design <- function(design) {
  if (is.null(design)) return(invisible())
  whole <- is.list(design) && is.integer(design$arm) && is.matrix(design$inputs) && is.double(design$inputs) &&
    nrow(design$inputs) == length(design$arm)
  if (!whole) damaged("its design is not a list of points")
}

check_contexts_again <- function(config) {
  if (!is.character(config$context_names)) damaged("its contexts have no names")
  check_contexts(contexts_argument(config), config$domain)
}

# There must be one for each event that changes the model state.
check_refits <- function(bandit) {
  refits <- bandit$refits
  if (!is.list(refits)) damaged("its refits are no list")
  kind <- table_column(bandit$events, "kind")
  known <- table_column(bandit$events, "id")[kind %in% believing]
  kind <- kind[kind %in% believing]
  if (anyNA(known) || is.unsorted(known) || any(known < 0 | known > table_size(bandit$queries))) {
    damaged("its refits are not in the order of its queries")
  }
  grows <- vapply(refits, is_growth, NA)
  if (length(refits) != length(kind) || any(grows != (kind == event_kind[["arms"]]))) {
    damaged("its refits differ from those in its events")
  }
  Map(check_fit, refits, configs_in_time(bandit$config, refits))
}

check_fit <- function(fit, config) {
  check_model_state(fit, config)
  check_refitted_rewards(fit$rewards, config$rewards)
  for (k in if (of_form(config, "several")) seq_len(outcome_count(config))) {
    rewards <- if (k == 1) fit$rewards else fit$outcomes[[outcome_names(config)[k]]]$rewards
    if (is.null(rewards)) next
    check_class(rewards, "bandit_rewards", "rewards")
    if (!may_be_yes_no(config, k) || !identical(rewards, yes_no_rewards())) {
      damaged("a refit has another kind of outcome than the bandit")
    }
  }
  check_noise_field(fit$noise_field, config)
  if (!is.null(fit$rescaled)) check_flag(fit$rescaled, "rescaled")
  check_forgetting(fit$forgetting, config)
}

# Kernel, noise and prior mean: of the settings or of a refit, for the other outcomes too.
check_model_state <- function(model_state, config) {
  others <- names(config$outcomes)[-1]
  if (!all(others %in% names(model_state$outcomes))) damaged("its model state has other outcomes")
  for (name in others) {
    one <- model_state$outcomes[[name]]
    if (!is.list(one)) damaged("an outcome has no parameters")
    check_model_state(one, config[names(config) != "outcomes"])
  }
  if (!is.list(model_state)) damaged("a refit has no parameters")
  check_kernel_of_file(model_state$kernel, config)
  check_positive(model_state$noise_var, "noise_var")
  check_prior_mean(model_state$mean, config$domain)
  check_outcome_transform(model_state$output_map)
  if (!is.null(model_state$models)) check_models(model_state$models, config)
}

# (`worst` is NaN if outliers are not clipped.)
check_outcome_transform <- function(map) {
  if (is.null(map)) return(invisible())
  if (!is.list(map) || !all(c("centre", "scale", "distinct", "count") %in% names(map))) {
    damaged("its output transform is invalid")
  }
  numbers <- map[intersect(names(new_outcome_transform(0, 1)), names(map))]
  single <- vapply(numbers, function(value) is.numeric(value) && length(value) == 1, NA)
  if (!all(single) || anyNA(unlist(numbers[names(numbers) != "worst"]))) damaged("its output transform has no numbers")
}

check_models <- function(models, config) {
  if (!is.list(models) || !length(models) || length(models) > 100) damaged("a refit has no list of models")
  weight <- vapply(models, function(model) if (is.list(model)) check_positive(model$weight, "weight") else NA_real_, 0)
  if (anyNA(weight) || abs(sum(weight) - 1) > 1e-9) damaged("the weights of a refit's models do not sum to 1")
  config$outcomes <- NULL
  for (model in models) {
    if (is.null(model$mean)) model$mean <- config$mean
    check_model_state(model[names(model) != "models"], config)
    check_model_of_campaigns(model$campaigns, config)
  }
}

# ---- tables -------------------------------------------------------------------

# Values of a column beyond the table's size are reserved space, not rows: they are removed. (Files from before columns
# could be blank have full columns.)
check_table <- function(table, columns, what) {
  if (!is.environment(table)) damaged("it has no table of ", what)
  size <- get0(".size", envir = table, inherits = FALSE)
  if (!is.integer(size) || length(size) != 1 || is.na(size) || size < 0) {
    damaged("the size of its table of ", what, " is no number")
  }
  listed <- get0(".columns", envir = table, inherits = FALSE)
  if (!is.character(listed) || !setequal(listed, names(columns)) || anyDuplicated(listed)) {
    damaged("its table of ", what, " has other columns than ", quoted(names(columns)))
  }
  blank <- get0(".blank", envir = table, inherits = FALSE, ifnotfound = character())
  if (!is.character(blank) || !all(blank %in% listed) || anyDuplicated(blank)) {
    damaged("its table of ", what, " has no such columns that hold nothing")
  }
  for (name in names(columns)) {
    column <- get0(name, envir = table, inherits = FALSE)
    if (!identical(typeof(column), typeof(columns[[name]])) || is.object(column)) {
      damaged("the column ", name, " of its ", what, " has the wrong type")
    }
    if (!name %in% blank) {
      if (length(column) < size) damaged("the column ", name, " of its ", what, " is shorter than the table")
      column <- column[seq_len(size)]
      if (is_blank(column)) blank <- c(blank, name)
    } else if (length(column) > 0) {
      damaged("the column ", name, " of its ", what, " holds values and is said to hold none")
    }
    assign(name, if (name %in% blank) column[0] else column, envir = table)
  }
  table$.blank <- blank
}

# Adds the columns of later versions, with the values that they would have had in earlier ones.
upgrade_format <- function(bandit) {
  format <- or_else(bandit$config$format, 0L)
  if (format == bandit_format) return(invisible())
  for (name in c("size", "spread", "other", "noise_var", "arms", "outcome")) {
    add_blank(bandit$events, name, event_columns()[[name]])
  }
  add_blank(bandit$queries, "status", integer())
  bandit$config$format <- bandit_format
}

add_blank <- function(table, name, like) {
  if (!is.environment(table) || name %in% table$.columns) return(invisible())
  assign(name, like, envir = table)
  table$.columns <- c(table$.columns, name)
  table$.blank <- union(table$.blank, name)
}

# Do the results in the table of queries follow from the events? `fold`: cpp_bandit_log() from the beginning.
check_outcome <- function(bandit, fold) {
  queries <- table_columns(bandit$queries)
  if (length(fold$queries$arm) != length(queries$arm)) damaged("it has queries without events")
  if (all(is.na(queries$status))) queries$status <- note_status(bandit, fold$queries$status)
  for (name in c("segment", "status")) {
    if (!identical(fold$queries[[name]], queries[[name]])) {
      damaged("the column ", name, " of its queries does not follow from its events")
    }
  }
  kappa <- constraint_names(bandit$config, "kappa")
  if (!isTRUE(all.equal(as.double(unlist(queries[kappa])), as.double(unlist(fold$queries[kappa])), tolerance = 1e-9))) {
    damaged("its multipliers do not follow from its events")
  }
  check_rewards_reported(bandit, fold$events)
}

# Stores the statuses of queries if only the replay can determine them: in journals and in objects of the first format.
note_status <- function(bandit, status) {
  commit(bandit$queries, list(table_change(bandit$queries, cells = list(status = list(seq_along(status), status)))))
  status
}

# Rewards and constraint values in the table of queries must be those of the events.
check_rewards_reported <- function(bandit, events) {
  config <- bandit$config
  reported <- add_rewards(list(arm = table_column(bandit$queries, "arm")),
                      c(events[c("kind", "id", "reward", "outcome")], g_columns(config, events$g)), config)
  for (name in c(value_columns(config), constraint_names(config, "g"))) {
    if (!identical(reported[[name]], table_column(bandit$queries, name))) {
      damaged("the column ", name, " of its queries does not follow from its events")
    }
  }
}

# Inputs must be points of the domain. The replay does not check this.
check_logged_inputs <- function(config, inputs) {
  if (is_tabulated_space(config) || !nrow(inputs)) return(invisible())
  own <- seq_along(model_names(config$domain))
  if (!can_be_reported(config$domain, inputs[, own, drop = FALSE])) {
    damaged("it has a query at a point outside its domain")
  }
}

check_log_points <- function(config, queries) {
  arms <- arm_count(config$domain)
  contexts <- if (is.null(config$contexts)) 1L else nrow(config$contexts)
  known <- if (is.null(arms)) is.na(queries$arm) else queries$arm >= 0 & queries$arm < arms
  inside <- queries$context >= 0 & queries$context < contexts & known
  finite <- vapply(queries[logged_inputs(config)], function(x) all(is.finite(x)), NA)
  if (!all(inside %in% TRUE) || !all(finite)) damaged("it has a query at a point outside its domain")
}

# Its values are checked here, and by the core in the replay.
check_checkpoint_event <- function(bandit) {
  at <- which(table_column(bandit$events, "kind") == event_kind[["checkpoint"]])
  if (!length(at)) return(invisible())
  if (!identical(at, 1L)) damaged("a checkpoint stands among its events")
  first <- lapply(table_columns(bandit$events), `[`, 1)
  whole <- function(x, least, most) is.na(x) || (x == round(x) && x >= least && x <= most)
  most <- .Machine$integer.max
  right <- !is.na(first$size) && whole(first$size, 1, most) && whole(first$other, 0, first$size) &&
    whole(first$spread, 0, first$size) && whole(first$reward, first$size, most) &&
    table_size(bandit$queries) <= most - (first$size - or_zero(first$other))
  if (!right) damaged("its checkpoint has no numbers of rounds")
  played <- table_size(bandit$queries)
  if (or_zero(first$other) > played || (!is.na(first$reward) && first$reward > played + first$size)) {
    damaged("its checkpoint has queries that do not exist")
  }
}

# (The replay in BanditState checks the rest.)
register_bandit_kind("core", check_log = function(bandit) NULL)
