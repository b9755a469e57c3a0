# `ids`: rows of the log, here and below.
query_frame <- function(bandit, ids) {
  queries <- bandit$queries
  columns <- place_columns(bandit, queries$arm[ids], queries$context[ids], cpp_logged_inputs(queries, ids))
  cpp_frame(c(list(id = as.integer(ids) + ids_before(bandit)), columns))
}

# Columns that say to people which places these are: `arm` (1-based), inputs and contexts. `inputs` as in the log:
# without columns where all places are tabulated.
place_columns <- function(bandit, arm, context, inputs) {
  config <- bandit$config
  size <- length(config$context_names)
  if (dim(inputs)[2] == 0) {
    columns <- place_labels(config$domain, arm)
    return(if (size == 0) columns else c(columns, cpp_columns(config$contexts, config$context_names, context + 1L)))
  }
  if (size == 0) return(place_labels(config$domain, arm, inputs))
  own <- seq_len(ncol(inputs) - size)
  c(place_labels(config$domain, arm, inputs[, own, drop = FALSE]),
    cpp_columns(inputs[, -own, drop = FALSE], config$context_names, NULL))
}

place_frame <- function(bandit, arm, context, inputs) {
  cpp_frame(place_columns(bandit, arm, context, inputs))
}

# `mean` and `sd` of some queries, as they were at the choice: under the map of outputs that was in force then.
beliefs_at_choice <- function(bandit, ids) {
  beliefs <- cpp_frame(list(mean = bandit$queries$mean[ids], sd = bandit$queries$sd[ids]))
  if (is.null(bandit$config$outputs) && !has_likelihood(bandit$config)) return(beliefs)
  fits <- table_column(bandit$events, "id")[table_column(bandit$events, "kind") %in% believing]
  before <- findInterval(ids - 1, fits)
  for (k in unique(before)) {
    rows <- before == k
    config <- if (k == 0) bandit$config else refitted_config(bandit$config, bandit$refits[[k]])
    beliefs[rows, ] <- in_user_units(beliefs[rows, , drop = FALSE], config)
  }
  beliefs
}

# What was told beside the rewards of some queries, of each outcome: noise variances, and of how many readings (or
# trials) they are. A column for what any of them has.
beside_rewards <- function(bandit, ids) {
  told <- if (has_rule(bandit)) lapply(last_beside(bandit, ids), as.matrix)
          else core(cpp_bandit_told(bandit$handle, as.integer(ids)))
  # (One reading is what a reward is anyway.)
  if (all(told$size %in% c(NA, 1))) told$size[] <- NA
  names <- outcome_names(bandit$config)
  said <- lapply(c("noise_var", "size", "spread"), function(column) {
    out <- lapply(seq_along(names), function(k) told[[column]][, k])
    stats::setNames(out, if (has_outcomes(bandit$config)) paste0(names, "_", column) else column)
  })
  Filter(function(column) !all(is.na(column)), unlist(said, recursive = FALSE))
}

# The history of some queries; columns of the log are picked, never the whole log converted.
bandit_history <- function(bandit, ids = NULL) {
  heal(bandit)
  if (is.null(ids)) {
    forgotten <- forgotten_of(bandit)
    ids <- seq_len(table_size(bandit$queries) - forgotten$sums) + forgotten$sums
    if (forgotten$rounds > 0) return(structure(bandit_history(bandit, ids), forgotten = forgotten$rounds))
  }
  of <- function(name) get(name, envir = bandit$queries)[ids]
  extra <- c(constraint_names(bandit$config, "g"), constraint_names(bandit$config, "kappa"))
  values <- value_columns(bandit$config)
  ours <- c(stats::setNames(lapply(values, of), outcome_names(bandit$config)), beliefs_at_choice(bandit, ids),
            list(width = of("width"), action = action_names[of("action")], segment = of("segment"),
                 status = status_names[of("status")]),
            if (length(bandit$reasons)) list(reason = reasons_of(bandit, ids)),
            if (ranks_queries(bandit$config)) list(ranking = rankings_of(bandit, ids))
            else if (compares_queries(bandit$config)) opponents(bandit, ids)
            else beside_rewards(bandit, ids),
            if (length(phase_names(bandit$config))) list(phase = phases_of(bandit, ids)),
            stats::setNames(lapply(extra, of), extra))
  columns <- c(query_frame(bandit, ids), columns_beside(ours, given_names(bandit$config)))
  structure(columns, class = "data.frame", row.names = .set_row_names(length(ids)))
}
