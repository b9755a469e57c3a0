# `$suggest()`. Layer: bandit.

bandit_suggest <- function(bandit, n, context, time, arms, fixed = NULL, ...) {
  if (!is.null(bandit$journal) && needs_transaction(bandit)) {
    return(suggest_in(bandit, n, context, time, arms, fixed, ...))
  }
  if (...length()) check_dots_empty(...)
  if (!identical(n, 1)) n <- check_count(n, upper = 1e6)
  contexts <- contexts_for(bandit, context, n)
  if (!is.null(arms)) contexts <- with_arms(contexts, bandit, arms)
  if (!is.null(fixed)) contexts <- with_fixed(contexts, bandit, fixed)
  if (n > 1) warn_of_repeats(bandit, n)
  # (Hardly any rule has units of time: most queries need not be asked about a clock.)
  time <- if (is.null(time) && is.null(.subset2(bandit$config$pending, "unit"))) NA_real_
          else clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  rows <- ask_core(bandit, contexts, time, at_once = TRUE)
  if (is.logical(rows)) rows <- ask_queries(bandit, n, contexts, time)
  query_frame(bandit, rows)
}

# Rows of the log that the queries have.
ask_queries <- function(bandit, n, contexts, time) {
  if (design_left(bandit, contexts) > 0 || is_refit_due(bandit, n)) ask_and_refit(bandit, n, contexts, time)
  else ask(bandit, contexts, time)
}

# `at_once`: nothing else has been looked at; FALSE where something may have to come first (see cpp_bandit_suggest()).
ask_core <- function(bandit, contexts, time, at_once = FALSE) {
  rows <- cpp_bandit_suggest(bandit, contexts, time, at_once)
  if (is.logical(rows)) return(rows)
  if (is.null(rows)) rows <- cpp_bandit_suggest(make_whole(bandit), contexts, time, FALSE)
  if (is.character(rows)) stop_core(simpleError(rows))
  if (!is.null(bandit$journal)) core(sync_log(bandit, bandit$handle))
  rows
}

register_bandit_kind("core", ask = function(bandit, contexts, time) ask_core(bandit, contexts, time))

# A refit falls due before some of the queries, or a design comes first, as if they were asked one by one: all that is
# one change.
ask_and_refit <- function(bandit, n, contexts, time) {
  check_idle(bandit)
  first <- table_size(bandit$queries)
  as_one_change(bandit, "refits", list(handle = NULL), function(draft) {
    at <- 1
    while (at <= n) {
      if (design_left(draft, contexts, certain = TRUE) == 0) refit_if_due(draft)
      left <- design_left(draft, contexts)
      stretch <- seq(at, min(n, at + (if (left > 0) left else rounds_to_refit(draft)) - 1))
      here <- subset_contexts(contexts, stretch)
      if (left > 0) ask_design(draft, here, time) else ask(draft, here, time)
      at <- at + length(stretch)
    }
  }, durable = if (!is.null(bandit$journal)) function(draft) keep_difference(bandit, draft))
  first + seq_len(n)
}

# Places of the settings' design that are still to be played before the policy is asked; none where only some arms are
# eligible. `certain`: those that do not depend on what rewards say.
design_left <- function(bandit, contexts, certain = FALSE) {
  design <- bandit$config$design
  if (is.null(design) || !is.null(contexts$eligible)) return(0)
  left <- max(0, point_total(design) - explored_queries(bandit))
  if (left > 0 && has_transfer(bandit$config)) transfer_design_left(bandit, left, certain) else left
}

explored_queries <- function(bandit) {
  forgotten_of(bandit)$explored + sum(table_column(bandit$queries, "action") == match("explore", action_names))
}

ask_design <- function(bandit, contexts, time) {
  points <- next_of_design(bandit, contexts, seq_along(contexts$row))
  transact(bandit, function(handle) cpp_bandit_explore(handle, points, contexts, time))
}

# The design's next points, in some of the contexts, as the core takes them.
next_of_design <- function(bandit, contexts, rows) {
  points <- subset_points(bandit$config$design, explored_queries(bandit) + seq_along(rows))
  points_in_log(bandit$config, moved_points(bandit, points, contexts), subset_contexts(contexts, rows))
}

# Contexts with the arms (or rows of a product) that can be played in them, as the core takes them.
with_arms <- function(contexts, bandit, arms) {
  if (is.null(arms)) return(contexts)
  domain <- bandit$config$domain
  if (!has_numbers(domain)) stop_unused("arms", paste("no arms exist on", describe_domain(domain)))
  if (has_rule(bandit)) stop_unused("arms", paste(rule_of(bandit)$title, "chooses among all arms"))
  chosen <- check_arms(arms, domain, "arms")
  if (length(chosen) == 0) stop_argument("arms", describe(arms), "at least one arm")
  eligible <- logical(arm_count(domain))
  eligible[chosen + 1L] <- TRUE
  if (all(eligible)) contexts else c(contexts, list(eligible = eligible))
}
