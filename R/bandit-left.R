# Points that a search over a countable domain has left. Layer: bandit.

# The number of points that were not evaluated and are not pending, in each context; Inf if they are not counted.
points_left <- function(bandit, contexts) {
  rebuild(bandit)
  cpp_bandit_left(bandit$handle, contexts)
}

# Without noise, a known point is never suggested. Returns the rows of `contexts` for which a point is left; there is an
# error if there is none (unless `needed` is FALSE), and a message if there are fewer.
rows_with_points_left <- function(bandit, contexts, needed = TRUE) {
  rows <- seq_along(contexts$row)
  if (!isTRUE(bandit$config$noiseless) || !is_discrete(bandit$config$domain)) return(rows)
  call <- row_numbers(cbind(contexts$row, contexts$values))
  first <- which(!duplicated(call))
  left <- points_left(bandit, subset_contexts(contexts, first))
  kept <- rows[stats::ave(rows, call, FUN = seq_along) <= left[match(call, call[first])]]
  if (length(kept) == 0 && needed) {
    stop_state("Every point is known or pending, and the results have no noise (`gp_model(noise = \"none\")`). ",
               "Use `$best()`.", argument = "n")
  }
  if (length(kept) > 0 && length(kept) < length(rows)) {
    message(sprintf("Only %d points are left that are neither known nor pending.", length(kept)))
  }
  kept
}

# Is everything known, so that a search ends? Without noise when every point has been evaluated, otherwise when repeats
# have in addition given the same rewards: one, or three if points share rewards, as those of a few classes do.
is_exhausted <- function(bandit, context = NULL) {
  config <- bandit$config
  if (!repeats_come_last(config) || trait(config$policy, "scripted")) return(FALSE)
  rebuild(bandit)
  if (cpp_bandit_has_left(bandit$handle, contexts_for(bandit, context, 1L))) return(FALSE)
  if (isTRUE(config$noiseless)) return(TRUE)
  if (cpp_bandit_shows_noise(bandit$handle)) return(FALSE)
  rows <- bandit_history(bandit)
  rows <- rows[rows[[status_name(config)]] == "observed", ]
  again <- duplicated(rows[c(config$domain$names, config$context_names)])
  sum(again) >= if (anyDuplicated(rows[!again, outcome_names(config)])) 3 else 1
}

# Design points that were meanwhile evaluated, or are pending, are replaced by others, if there are any. (A given design
# may have replicates.)
unplayed_instead <- function(bandit, points) {
  config <- bandit$config
  if (!repeats_come_last(config) || length(config$context_names)) return(points)
  if (anyDuplicated(config$design$inputs)) return(points)
  ids <- which(!status_of(bandit, seq_len(table_size(bandit$queries))) %in% "withdrawn")
  if (length(ids) == 0) return(points)
  played <- if (is_tabulated_space(config)) config$domain$x[bandit$queries$arm[ids] + 1L, , drop = FALSE]
            else cpp_logged_inputs(bandit$queries, ids)
  distinct_points(config$domain, points, played)
}
