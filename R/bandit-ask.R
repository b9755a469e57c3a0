# `$suggest()`. Layer: bandit.

bandit_suggest <- function(bandit, n, context, time, arms, fixed = NULL, ...) {
  if (identical(n, 1) && is.null(time) && is.null(arms) && is.null(fixed) && ...length() == 0) {
    asked <- ask_ordinary(bandit, context)
    if (!is.null(asked)) return(asked)
  }
  if (needs_transaction(bandit)) return(suggest_in(bandit, n, context, time, arms, fixed, ...))
  check_dots_empty(...)
  if (!identical(n, 1)) n <- check_count(n, upper = 1e6)   # (the check is a twentieth of a query)
  contexts <- with_fixed(with_arms(contexts_for(bandit, context, n), bandit, arms), bandit, fixed)
  if (n > 1) warn_of_repeats(bandit, n)
  time <- clock_times(bandit, time, 1, latest_time(bandit), "the latest time so far")
  first <- table_size(bandit$queries)
  ask_queries(bandit, n, contexts, time)
  query_frame(bandit, first + seq_len(n))
}

# One query by one call of the core, where nothing else is to be looked at: see is_ordinary(). NULL where there is.
ask_ordinary <- function(bandit, context) {
  asked <- cpp_ask_ordinary(bandit, context)
  if (is.list(asked)) return(asked)
  if (is.integer(asked)) return(query_frame(bandit, asked))
  not_ordinary(bandit, asked)
}

# Rewards, as ask_ordinary(). Were they told?
tell_ordinary <- function(bandit, id, reward) {
  told <- cpp_tell_ordinary(bandit, id, reward)
  if (!isTRUE(told)) not_ordinary(bandit, told)
  isTRUE(told)
}

# `why`: as cpp_ask_ordinary() says it.
not_ordinary <- function(bandit, why) {
  if (is.character(why)) stop_core(simpleError(why))
  if (is.null(why)) note_ordinary(bandit)
  NULL
}

# Are a bandit's queries and rewards, by its settings, such that the core can do all that there is to do? (What is due
# after so many rounds, several outcomes, clocks and rules are R's matter; so are queries in contexts of a table.)
is_ordinary <- function(config) {
  parts <- c("rule", "refit", "outputs", "design", "outcomes", "rewards", "constraints", "transfer")
  all(vapply(parts, function(part) is.null(config[[part]]), NA)) && !goes_by_clock(config) &&
    is.double(config$mean) && is.double(config$noise_var)
}

# Found once, and noted beside the handle.
note_ordinary <- function(bandit) {
  config <- bandit$config
  if (is.null(bandit$handle)) return(invisible())
  cpp_note_ordinary(bandit$handle, config, if (is_ordinary(config)) {
    list(shown_arms(config), config$mean, config$noise_var, at_the_edge,
         if (is.null(config$contexts)) length(config$context_names) else -1L)
  })
}

# What query_frame() shows of arms: names of the columns, inputs, labels; NULL where it shows something else.
shown_arms <- function(config) {
  domain <- config$domain
  if (!is_plain_set_of_arms(domain)) return(NULL)
  domain <- unclass(domain)
  if (!is.double(domain$x) || !(is.null(domain$labels) || is.character(domain$labels))) return(NULL)
  list(c("id", "arm", if (!is.null(domain$labels)) domain$label_name, domain$names, config$context_names), domain$x,
       domain$labels)
}

ask_queries <- function(bandit, n, contexts, time) {
  if (is_refit_due(bandit, n) || design_left(bandit, contexts) > 0) ask_and_refit(bandit, n, contexts, time)
  else ask(bandit, contexts, time)
}

register_bandit_kind("core", ask = function(bandit, contexts, time) {
  transact(bandit, function(handle) cpp_bandit_suggest(handle, contexts, time))
})

# A refit falls due before some of the queries, or a design comes first, as if they were asked one by one: all that is
# one change.
ask_and_refit <- function(bandit, n, contexts, time) {
  check_idle(bandit)
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
}

# Places of the settings' design that are still to be played before the policy is asked; none where only some arms are
# eligible. `certain`: those that do not depend on what rewards say.
design_left <- function(bandit, contexts, certain = FALSE) {
  design <- bandit$config$design
  if (is.null(design) || !is.null(contexts$eligible)) return(0)
  left <- max(0, place_total(design) - explored_queries(bandit))
  if (left > 0 && has_transfer(bandit$config)) transfer_design_left(bandit, left, certain) else left
}

explored_queries <- function(bandit) {
  forgotten_of(bandit)$explored + sum(table_column(bandit$queries, "action") == match("explore", action_names))
}

ask_design <- function(bandit, contexts, time) {
  places <- next_of_design(bandit, contexts, seq_along(contexts$row))
  transact(bandit, function(handle) cpp_bandit_explore(handle, places, contexts, time))
}

# The design's next places, in some of the contexts, as the core takes them.
next_of_design <- function(bandit, contexts, rows) {
  places <- subset_places(bandit$config$design, explored_queries(bandit) + seq_along(rows))
  places_in_log(bandit$config, moved_places(bandit, places, contexts), subset_contexts(contexts, rows))
}

# Contexts with the arms (or rows of a product) that can be played in them, as the core takes them.
with_arms <- function(contexts, bandit, arms) {
  if (is.null(arms)) return(contexts)
  domain <- bandit$config$domain
  if (!has_numbers(domain)) stop_argument("arms", describe(arms), paste("NULL on", describe_domain(domain)))
  if (has_rule(bandit)) stop_argument("arms", describe(arms), paste("NULL for", rule_of(bandit)$title))
  chosen <- check_arms(arms, domain, "arms")
  if (length(chosen) == 0) stop_argument("arms", describe(arms), "at least one arm")
  eligible <- logical(arm_count(domain))
  eligible[chosen + 1L] <- TRUE
  if (all(eligible)) contexts else c(contexts, list(eligible = eligible))
}
