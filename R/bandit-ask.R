# `$suggest()`. Layer: bandit.

bandit_suggest <- function(bandit, n, context, time, arms, fixed = NULL, shared = NULL, ...) {
  if (!is.null(shared)) return(suggest_shared(bandit, n, context, time, arms, fixed, shared, ...))
  if (needs_transaction(bandit)) return(suggest_in(bandit, n, context, time, arms, fixed, ...))
  if (...length()) check_dots_empty(...)
  if (!identical(n, 1)) n <- check_count(n, upper = 1e6)
  contexts <- if (!is.null(context) || !is.null(arms) || !is.null(fixed)) {
    with_fixed(with_arms(contexts_for(bandit, context, n), bandit, arms), bandit, fixed)
  }
  if (n > 1) warn_of_repeats(bandit, n)
  if (isTRUE(bandit$config$noiseless)) {
    if (is.null(contexts)) contexts <- contexts_for(bandit, context, n)
    contexts <- subset_contexts(contexts, rows_with_points_left(bandit, contexts))
    n <- length(contexts$row)
  }
  reply <- cpp_bandit_suggest(bandit, n, contexts, time, NULL)
  if (reply$status == "open") {
    if (is.null(contexts)) contexts <- contexts_for(bandit, context, n)
    # (Hardly any rule has units of time.)
    if (!is.null(time) || !is.null(.subset2(bandit$config$pending, "unit"))) {
      time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
    }
    asked <- ask_queries(bandit, n, contexts, if (is.null(time)) NA_real_ else time)
  } else {
    asked <- asked_in_core(bandit, reply$values)
  }
  if (is.list(asked)) asked else query_frame(bandit, asked)
}

# Queries that have one value of some inputs: the first one chooses it.
suggest_shared <- function(bandit, n, context, time, arms, fixed, shared, ...) {
  config <- bandit$config
  n <- check_count(n, upper = 1e6)
  conditional <- config$domain$names[config$domain$conditional]
  shared <- check_choices(shared, setdiff(fixable_inputs(config$domain), conditional), "shared")
  check_not_scripted(bandit, function(title) stop_unused("shared", paste(title, "does not support fixed inputs")))
  shared <- setdiff(shared, names(fixed))
  contexts_for(bandit, context, n)
  context <- if (!is.null(context)) context_matrix(config, context)
  rows <- function(at) if (!is.null(context)) as_codes(context[if (nrow(context) > 1) at else 1, , drop = FALSE])
  first <- bandit_suggest(bandit, 1, rows(1), time, arms, fixed, ...)
  if (n == 1 || nrow(first) == 0) return(first)
  fixed <- c(as.list(fixed), as.list(first[shared]))
  # (In a store, a call of a worker returns that worker's open queries, too.)
  if (!is.null(list(...)$worker)) return(bandit_suggest(bandit, n, rows(seq_len(n)), time, arms, fixed, ...))
  rbind(first, bandit_suggest(bandit, n - 1, rows(-1), time, arms, fixed, ...))
}

# The queries as a data.frame, or the rows of the log that they have.
ask_queries <- function(bandit, n, contexts, time) {
  if (n > 1) grow_design(bandit, n, contexts)
  has_design <- !is.null(bandit$config$design) && unplayed_of_design(bandit, contexts) > 0
  if (has_design || n > 1 && is_refit_due(bandit, n)) {
    return(ask_in_turn(bandit, n, contexts, time))
  }
  due <- if (n == 1) due_refit(bandit)
  if (is.null(due)) ask(bandit, contexts, time) else ask_core(bandit, contexts, time, due)
}

# `due`: new parameters that are taken before, see due_refit(); as with apply_refit() the current ones stay where the
# core cannot take them.
ask_core <- function(bandit, contexts, time, due = NULL) {
  refit <- if (!is.null(due)) refit_in_core(bandit, due)
  reply <- cpp_bandit_suggest(bandit, NULL, contexts, time, refit)
  if (reply$status == "stale") reply <- cpp_bandit_suggest(make_whole(bandit), NULL, contexts, time, refit)
  if (reply$status == "rejected") {
    if (identical(due$fit, due$current)) stop_state(as_sentence(reply$values))
    warn_refit(bandit, simpleError(reply$values))
    return(ask_core(bandit, contexts, time, list(fit = due$current, current = due$current)))
  }
  asked_in_core(bandit, reply$values, refit$fits)
}

# What cpp_bandit_suggest() takes: the settings in force, and the log's refits with this one.
refit_in_core <- function(bandit, due) {
  settings <- catch_error(settings_after(bandit, due$fit), function(e) {
    warn_refit(bandit, e)
    due$fit <<- due$current
    settings_after(bandit, due$fit)
  })
  fits <- list(due$fit)
  list(settings = settings, fits = fits, fields = list(refits = c(bandit$refits, fits)))
}

asked_in_core <- function(bandit, asked, fits = NULL) {
  if (!is.null(bandit$journal)) sync_log(bandit, bandit$handle, fits)
  asked
}

register_bandit_kind("core", ask = function(bandit, contexts, time) ask_core(bandit, contexts, time))

# A refit falls due before some of the queries, or a design comes first, as if they were asked one by one: all that is
# one change.
ask_in_turn <- function(bandit, n, contexts, time) {
  check_idle(bandit)
  first <- table_size(bandit$queries)
  as_one_change(bandit, "refits", list(handle = NULL), function(draft) {
    share_prepared(bandit, draft)
    at <- 1
    while (at <= n) {
      if (design_left(draft, contexts, certain = TRUE) == 0) refit_if_due(draft)
      left <- design_left(draft, contexts)
      stretch <- seq(at, min(n, at + (if (left > 0) left else rounds_to_refit(draft)) - 1))
      here <- subset_contexts(contexts, stretch)
      if (left > 0) ask_design(draft, here, time) else ask(draft, here, time)
      at <- at + length(stretch)
    }
    share_prepared(draft, bandit)
  }, durable = if (!is.null(bandit$journal)) function(draft) keep_difference(bandit, draft))
  first + seq_len(n)
}

# Points of the settings' design that are not played yet; none where only some arms are eligible.
unplayed_of_design <- function(bandit, contexts) {
  design <- bandit$config$design
  if (is.null(design) || !is.null(contexts$eligible)) 0 else max(0, point_total(design) - explored_queries(bandit))
}

# A default design of few points becomes as large as a first batch: points of a batch have no results to learn from.
largest_grown_design <- 1000

grow_design <- function(bandit, n, contexts) {
  if (!isTRUE(bandit$config$design_grows) || table_size(bandit$queries) > 0) return(invisible())
  n <- min(n, largest_grown_design)
  if (n > unplayed_of_design(bandit, contexts) && is.null(contexts$eligible) && is.null(contexts$fixed)) {
    bandit$config$design <- design_points(bandit$config$domain, n)
  }
}

# Those that come before the policy is asked. `certain`: those that do not depend on what rewards say.
design_left <- function(bandit, contexts, certain = FALSE) {
  left <- unplayed_of_design(bandit, contexts)
  if (left > 0 && has_transfer(bandit$config)) transfer_design_left(bandit, left, certain) else left
}

explored_queries <- function(bandit) {
  forgotten_of(bandit)$explored + sum(table_column(bandit$queries, "action") == match("explore", action_names))
}

ask_design <- function(bandit, contexts, time) {
  points <- next_of_design(bandit, contexts, seq_along(contexts$row))
  transact(bandit, function(handle) cpp_bandit_explore(handle, points, contexts, time))
}

# The design's next points, in some of the contexts, in the core's format.
next_of_design <- function(bandit, contexts, rows) {
  points <- subset_points(bandit$config$design, explored_queries(bandit) + seq_along(rows))
  points <- if (is.null(contexts$fixed)) unplayed_instead(bandit, points) else moved_points(bandit, points, contexts)
  points_in_log(bandit$config, points, subset_contexts(contexts, rows))
}

# Contexts with the arms (or rows of a product) that are eligible in them, in the core's format.
with_arms <- function(contexts, bandit, arms) {
  if (is.null(arms)) return(contexts)
  domain <- bandit$config$domain
  if (!has_numbers(domain)) stop_unused("arms", paste("no arms exist on", describe_domain(domain)))
  check_not_scripted(bandit, function(title) stop_unused("arms", paste(title, "chooses among all arms")))
  chosen <- check_arms(arms, domain, "arms")
  if (length(chosen) == 0) stop_argument("arms", describe(arms), "at least one arm")
  eligible <- logical(arm_count(domain))
  eligible[chosen + 1L] <- TRUE
  if (all(eligible)) contexts else c(contexts, list(eligible = eligible))
}
