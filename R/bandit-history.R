query_frame <- function(bandit, ids) {
  queries <- bandit$queries
  columns <- place_columns(bandit, queries$arm[ids], queries$context[ids], logged_matrix(bandit, ids))
  frame_of(c(list(id = as.integer(ids)), columns))
}

# A data.frame of columns that are known to be in order: data.frame() takes longer than a round.
frame_of <- function(columns) {
  attr(columns, "row.names") <- .set_row_names(length(columns[[1]]))
  class(columns) <- "data.frame"
  columns
}

# Columns that say to people which places these are: `arm` (1-based), inputs and contexts. `inputs` as in the log.
place_columns <- function(bandit, arm, context, inputs) {
  config <- bandit$config
  d <- length(model_names(config$domain))
  tabulated <- is_tabulated_space(config)
  columns <- place_labels(config$domain, arm, if (!tabulated) inputs[, seq_len(d), drop = FALSE])
  if (length(config$context_names) == 0) return(columns)
  z <- if (tabulated) config$contexts[context + 1L, , drop = FALSE] else inputs[, -seq_len(d), drop = FALSE]
  c(columns, columns_of(z, config$context_names))
}

# A matrix's columns as a list. (A single row's numbers would be named after their columns.)
columns_of <- function(x, names) {
  dimnames(x) <- NULL
  columns <- lapply(seq_along(names), function(j) x[, j])
  names(columns) <- names
  columns
}

place_frame <- function(bandit, arm, context, inputs) {
  frame_of(place_columns(bandit, arm, context, inputs))
}

# `mean` and `sd` of some queries, as they were at the choice: under the map of outputs that was in force then.
beliefs_at_choice <- function(bandit, ids) {
  beliefs <- frame_of(list(mean = bandit$queries$mean[ids], sd = bandit$queries$sd[ids]))
  if (is.null(bandit$config$outputs)) return(beliefs)
  fits <- table_column(bandit$events, "id")[table_column(bandit$events, "kind") == event_kind[["refit"]]]
  before <- findInterval(ids - 1, fits)
  for (k in unique(before)) {
    rows <- before == k
    config <- if (k == 0) bandit$config else refitted_config(bandit$config, bandit$refits[[k]])
    beliefs[rows, ] <- in_user_units(beliefs[rows, , drop = FALSE], config)
  }
  beliefs
}

# The history of some queries; columns of the log are picked, never the whole log converted.
bandit_history <- function(bandit, ids = NULL) {
  heal(bandit)
  if (is.null(ids)) ids <- seq_len(table_size(bandit$queries))
  of <- function(name) get(name, envir = bandit$queries)[ids]
  extra <- c(constraint_names(bandit$config, "g"), constraint_names(bandit$config, "kappa"))
  columns <- c(query_frame(bandit, ids),
               list(reward = of("reward")), beliefs_at_choice(bandit, ids),
               list(width = of("width"), action = action_names[of("action")], segment = of("segment"),
                    status = status_names[of("status")]),
               if (has_rule(bandit)) list(phase = phases_of(bandit, ids)),
               stats::setNames(lapply(extra, of), extra))
  structure(columns, class = "data.frame", row.names = .set_row_names(length(ids)))
}
