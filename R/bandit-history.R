# `$history()`: the log as a data frame. Layer: bandit.

# `ids`: rows of the log, here and below.
query_frame <- function(bandit, ids) {
  frame <- cpp_query_frame(bandit, ids)
  if (!is.null(frame)) return(frame)
  queries <- bandit$queries
  columns <- point_columns(bandit, queries$arm[ids], queries$context[ids], cpp_logged_inputs(queries, ids))
  cpp_frame(c(list(id = as.integer(ids) + ids_before(bandit)), columns))
}

# Columns that identify points for users: `arm` (1-based), inputs and contexts. `inputs` as in the log: without columns
# if all points are tabulated.
point_columns <- function(bandit, arm, context, inputs) {
  config <- bandit$config
  size <- length(config$context_names)
  if (dim(inputs)[2] == 0) {
    columns <- point_labels(config$domain, arm)
    if (size == 0) return(columns)
    return(c(columns, context_columns(config, config$contexts[context + 1L, , drop = FALSE])))
  }
  if (size == 0) return(point_labels(config$domain, arm, inputs))
  own <- seq_len(ncol(inputs) - size)
  c(point_labels(config$domain, arm, inputs[, own, drop = FALSE]),
    context_columns(config, inputs[, -own, drop = FALSE]))
}

point_frame <- function(bandit, arm, context, inputs) {
  cpp_frame(point_columns(bandit, arm, context, inputs))
}

# `mean` and `sd` of some queries at the time of the choice, under the outcome transform that was in force then.
model_state_at_choice <- function(bandit, ids) {
  model_state <- cpp_frame(list(mean = bandit$queries$mean[ids], sd = bandit$queries$sd[ids]))
  first <- outcome_config(bandit$config, 1)
  if (is.null(first$outputs) && of_form(first, "gaussian")) return(model_state)
  fits <- if (length(bandit$refits)) {
    table_column(bandit$events, "id")[table_column(bandit$events, "kind") %in% believing]
  }
  before <- findInterval(ids - 1, fits)
  for (k in unique(before)) {
    rows <- before == k
    config <- if (k == 0) bandit$config else refitted_config(bandit$config, bandit$refits[[k]])
    model_state[rows, ] <- in_user_units(model_state[rows, , drop = FALSE], outcome_config(config, 1))
  }
  model_state
}

# Values reported together with the rewards of some queries, for each outcome: noise variances and the numbers of
# replicates (or trials). Only columns with a value are returned.
extras_of_rewards <- function(bandit, ids) {
  reported <- kind_of(bandit)$reported(bandit, ids)
  # (A size of 1 is the default, and not shown.)
  if (all(reported$size %in% c(NA, 1))) reported$size[] <- NA
  names <- outcome_names(bandit$config)
  said <- lapply(c("noise_var", "size", "spread"), function(column) {
    out <- lapply(seq_along(names), function(k) reported[[column]][, k])
    stats::setNames(out, columns_for_outcomes(bandit$config, column))
  })
  Filter(function(column) !all(is.na(column)), unlist(said, recursive = FALSE))
}

# The history of some queries. Columns of the log are subset; the whole log is never converted.
bandit_history <- function(bandit, ids = NULL) {
  rebuild(bandit)
  if (is.null(ids)) {
    forgotten <- forgotten_of(bandit)
    ids <- seq_len(table_size(bandit$queries) - forgotten$sums) + forgotten$sums
    if (forgotten$rounds > 0) return(structure(bandit_history(bandit, ids), forgotten = forgotten$rounds))
  }
  of <- function(name) get(name, envir = bandit$queries)[ids]
  extra <- c(constraint_names(bandit$config, "g"), constraint_names(bandit$config, "kappa"))
  values <- value_columns(bandit$config)
  own <- c(stats::setNames(lapply(values, of), outcome_names(bandit$config)), model_state_at_choice(bandit, ids),
            list(width = of("width"), action = action_names[of("action")], segment = of("segment"),
                 status = status_names[of("status")]),
            if (length(bandit$reasons)) list(reason = reasons_of(bandit, ids)),
            of_form(bandit$config, "beside")(bandit, ids),
            if (length(phase_names(bandit$config))) list(phase = phases_of(bandit, ids)),
            stats::setNames(lapply(extra, of), extra))
  if (!is.null(bandit$config$goal)) own <- append(own, list(goal = goals_of_queries(bandit, ids)), length(values))
  notes <- if (length(bandit$notes)) note_columns(bandit, ids)
  columns <- c(query_frame(bandit, ids), distinct_columns(own, given_names(bandit$config)))
  if (length(notes)) columns <- c(columns, stats::setNames(notes, apart_from(names(notes), names(columns))))
  structure(columns, class = "data.frame", row.names = .set_row_names(length(ids)))
}

# The kernel's inputs of points, which may be numbers of arms only, in contexts.
kernel_inputs_of <- function(config, points, contexts) {
  if (is.null(points$inputs)) points <- arm_points(config$domain, points$arm)
  values <- contexts$values
  listed <- is_tabulated_space(config) && length(config$context_names)
  if (listed) values <- config$contexts[contexts$row + 1L, , drop = FALSE]
  kernel_points(config$domain, points, values)
}

# The goal of some queries by their observed outcomes, NA until all are observed.
goals_of_queries <- function(bandit, ids) {
  config <- bandit$config
  values <- vapply(value_columns(config), function(name) get(name, envir = bandit$queries)[ids], numeric(length(ids)))
  values <- matrix(values, length(ids))
  counted <- which(lengths(outcome_rewards(config)) > 0)
  if (length(counted)) {
    size <- kind_of(bandit)$reported(bandit, ids)$size[, counted]
    values[, counted] <- values[, counted] / ifelse(is.na(size), 1, size)
  }
  goal_values(config, values,
              kernel_inputs_of(config, logged_points(bandit, ids), contexts_of_queries(bandit, ids)))
}

contexts_of_queries <- function(bandit, ids) {
  logged_contexts(bandit, list(context = bandit$queries$context[ids],
                               inputs = cpp_logged_inputs(bandit$queries, as.integer(ids))))
}

# The status of each outcome of some queries: a matrix of status_names.
outcome_cells <- function(bandit, id) {
  rebuild(bandit)
  cells <- cpp_bandit_cells(bandit$handle, as.integer(id))
  matrix(status_names[cells], nrow(cells), ncol(cells))
}

# The values last reported together with the rewards of some queries.
last_extras <- function(bandit, ids) {
  records <- table_column(bandit$events, "kind") %in% event_kind[c("reward", "given", "amend")] &
    !is.na(table_column(bandit$events, "reward"))
  events <- which(records)
  last <- events[length(events) + 1L - match(ids, rev(table_column(bandit$events, "id")[events]))]
  lapply(stats::setNames(reported_columns, reported_columns), function(name) table_column(bandit$events, name)[last])
}

# The opponent of each query in its comparison, NA if it has none.
opponent_ids <- function(bandit, ids) {
  met <- rep(NA_integer_, length(ids))
  known <- status_of(bandit, ids) == "observed"
  if (any(known)) met[known] <- last_extras(bandit, ids[known])$other
  met
}

# Columns that describe the opponents.
opponents <- function(bandit, ids) {
  met <- opponent_ids(bandit, ids)
  some <- ifelse(is.na(met), 1L, met)
  columns <- query_frame(bandit, some)
  columns <- columns[setdiff(names(columns), c("id", bandit$config$context_names))]
  columns[is.na(met), ] <- NA
  stats::setNames(as.list(columns), paste0(names(columns), ".2"))
}

is_ranking <- function(bandit, reported) identical(last_extras(bandit, reported$id)$other, reported$other)

# The smallest id in each query's ranking.
rankings_of <- function(bandit, ids) {
  all <- seq_len(table_size(bandit$queries))
  known <- all[status_of(bandit, all) == "observed"]
  following <- rep(NA_integer_, length(all))
  following[known] <- last_extras(bandit, known)$other
  out <- at <- following[ids]
  # (One pass around the cycle of each ranking; the longest ranking has this length.)
  for (step in seq_len(most_ranked)) out <- pmin(out, at <- following[at])
  out
}

status_name <- function(config) beside("status", config$domain$names)

# Is this the history of a bandit or of a search? It has the status of each experiment.
is_history <- function(data) all(c("id", "action", "segment", "status") %in% names(data))

# Columns of a history other than inputs, contexts and rewards.
columns_of_history <- function(data) {
  c("id", "arm", "mean", "sd", "width", "action", "segment", "status", "reason", "phase", "propensity",
    "propensity_se", "size", "spread", goal_column, grep("^(g|kappa)[0-9]+$", names(data), value = TRUE))
}

# (Users may write "Failed".)
status_column <- function(data) {
  if (is.null(data[["status"]])) return(rep(NA_character_, nrow(data)))
  given <- trimws(as.character(data[["status"]]))
  ifelse(tolower(given) %in% status_names, tolower(given), given)
}

# The same for a bandit's history.
own_history <- function(bandit, ids = NULL) own_columns(bandit_history(bandit, ids), given_names(bandit$config))

register_bandit_kind("core", reported = function(bandit, ids) {
  cpp_bandit_reported(bandit$handle, as.integer(ids))
})
register_bandit_kind("script", reported = function(bandit, ids) lapply(last_extras(bandit, ids), as.matrix))
register_form("reward", beside = extras_of_rewards)
register_form("comparison", beside = opponents)
register_form("ranking", beside = function(bandit, ids) list(ranking = rankings_of(bandit, ids)))
