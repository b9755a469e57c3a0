# Probabilities of the choices of randomised policies. Layer: bandit.

# The probabilities with which a randomised bandit made its choices.

# Does a bandit choose its points at random (except for ties)?
is_randomised <- function(config) {
  chooses_at_random(config$policy) || explores(config)
}

# Either the policy is random, or its width is drawn at random.
chooses_at_random <- function(policy) {
  trait(policy, "random") || (!is.null(policy$width) && trait(policy$width, "drawn"))
}

# A history, or a run, in the form for users. (If the bandit was reset in the meantime, no choice can be drawn again.)
with_propensity <- function(history, bandit, draws = NULL) {
  force(history)                                          # evaluating it checks the whole bandit
  if (!is.null(draws)) draws <- check_count(draws, lower = 0, upper = 1e5)
  if (trait(bandit$config$policy, "scripted") || !is_randomised(bandit$config)) return(history)
  ids <- history$id - ids_before(bandit)
  there <- !can_count(bandit$config$domain) || identical(table_column(bandit$queries, "arm")[ids] + 1L, history$arm)
  found <- if (there) propensities(bandit, ids, draws)
           else list(propensity = rep(NA_real_, nrow(history)), propensity_se = rep(NA_real_, nrow(history)))
  columns <- c("propensity", if (!is.null(draws) && draws > 0) "propensity_se")
  for (name in columns) history[[beside(name, given_names(bandit$config))]] <- found[[name]]
  history
}

# The probability of a uniform choice, or of one without randomness, has a formula. Other choices are drawn again from
# the posterior at their time, if arms can be counted and `draws` is given. This needs the posterior at each of these
# queries. `propensity_se` is the standard error of an estimate from draws, 0 for a formula.
propensities <- function(bandit, ids, draws = NULL) {
  config <- bandit$config
  action <- action_names[bandit$queries$action[ids]]
  out <- se <- rep(NA_real_, length(action))
  if (!can_count(config$domain)) return(list(propensity = out, propensity_se = se))
  chosen <- which(action != "given")
  eligible <- vector("list", length(action))
  eligible[chosen] <- eligible_at(bandit, ids[chosen])
  uniform <- action == "explore" | (action == "policy" & trait(config$policy, "uniform"))
  out[uniform] <- 1 / lengths(eligible[uniform])
  open <- which(action == "policy" & !uniform)
  sure <- !chooses_at_random(config$policy) | lengths(eligible[open]) == 1
  out[open[sure]] <- 1
  se[!is.na(out)] <- 0
  if (is.null(draws) || draws == 0) return(list(propensity = out, propensity_se = se))
  open <- open[!sure & !before_checkpoint(bandit, ids[open])]
  if (length(open)) {
    out[open] <- drawn_again(bandit, ids[open], draws)
    se[open] <- sqrt(out[open] * (1 - out[open]) / (draws + 1))
  }
  list(propensity = out, propensity_se = se)
}

# The arms (1-based) that were eligible at some queries.
eligible_at <- function(bandit, ids) {
  # (Usually all arms are eligible: then the log is not searched.)
  if ("arms" %in% bandit$events$.blank && !any(vapply(bandit$refits, is_growth, NA))) {
    return(rep(list(seq_len(point_count(bandit$config$domain))), length(ids)))
  }
  events <- lapply(c(kind = "kind", id = "id", arms = "arms"), function(name) table_column(bandit$events, name))
  asked <- which(events$kind %in% event_kind[c("query", "given")])
  at <- asked[match(ids, events$id[asked])]
  count <- arms_in_time(bandit)[at]
  Map(function(text, count) {
    if (is.na(text)) return(seq_len(count))
    ranges <- lapply(strsplit(strsplit(text, ",", fixed = TRUE)[[1]], "-", fixed = TRUE), as.integer)
    unlist(lapply(ranges, function(range) seq.int(range[1], range[length(range)])))
  }, events$arms[at], count, USE.NAMES = FALSE)
}

# For some queries: the proportion of `draws` new choices, and of the choice itself, that selected its arm. The log is
# replayed, and stops before each of them.
drawn_again <- function(bandit, ids, draws) {
  handle <- cpp_bandit_new(core_config(starting_config(bandit)))
  log <- played_log(bandit)
  asked <- which(log$events$kind == event_kind[["query"]])
  at <- asked[match(ids, log$events$id[asked])]
  eligible <- eligible_at(bandit, ids)
  arm <- bandit$queries$arm[ids] + 1L
  width <- bandit$queries$width[ids]
  seed <- ids + ids_before(bandit)
  out <- numeric(length(ids))
  preserve_rng(with_bar(NULL, length(ids), function(bar) {
    look <- counted(function(k) {
      set.seed(seed[k])                                                        # independent of the other queries
      context <- with_eligible(subset_contexts(log$contexts, ids[k]), eligible[[k]], bandit$config)
      out[k] <<- (choice_counts(handle, bandit$config, context, draws, width[k])[arm[k]] + 1) / (draws + 1)
    }, bar)
    cpp_bandit_replay(handle, log$queries, log$contexts, log$events, log$refits, 0L, look, at)
  }))
  out
}

with_eligible <- function(contexts, eligible, config) {
  n <- point_count(config$domain)
  if (length(eligible) < n) contexts$eligible <- seq_len(n) %in% eligible
  contexts
}

# How often each arm (a column) would be chosen now in each context (a row). Thompson draws at all arms are computed as
# one matrix, unless the width is NA.
choice_counts <- function(handle, config, contexts, draws, width) {
  if (!trait(config$policy, "draws_choice")) width <- NA_real_
  cpp_bandit_choice_counts(handle, contexts, point_count(config$domain), draws, width)
}

# The proportion with which each arm (column) would be chosen in each context (row). Without randomness it is exact.
chosen_shares <- function(bandit, contexts, draws) {
  rebuild(bandit)
  config <- bandit$config
  count <- length(contexts$row)
  if (!is_randomised(config)) draws <- 1
  drawn_width <- !is.null(config$policy$width) && trait(config$policy$width, "drawn")
  joint <- trait(config$policy, "draws_choice") && !explores(config) && !drawn_width &&
    !trait(config$pending, "noticed")
  width <- if (joint) cpp_bandit_width(bandit$handle) else NA_real_
  some <- split(seq_len(count), (seq_len(count) - 1) %/% 50)
  with_bar(NULL, count, function(bar) do.call(rbind, unname(lapply(some, function(rows) {
    found <- choice_counts(bandit$handle, config, subset_contexts(contexts, rows), draws, width) / draws
    if (!is.null(bar)) bar(length(rows))
    found
  }))))
}

# The probabilities of all arms at the next choice in each context, before it is made.
bandit_propensity <- function(bandit, context, draws, arms, ...) {
  check_dots_empty(..., allowed = c("context", "draws", "arms"))
  draws <- check_count(draws, upper = 1e5)
  config <- bandit$config
  check_propensity(bandit)
  given <- if (!is.null(context) && length(config$context_names)) context_matrix(config, context)
  rows <- max(1L, nrow(given))
  contexts <- with_arms(contexts_for(bandit, if (is.null(given)) context else as_codes(given), rows), bandit, arms)
  if (unplayed_of_design(bandit, contexts) > 0) {
    stop_state("`$propensity()` has no answer yet, because the next points are those of the initial design. Make ",
               "these queries first.", argument = "context")
  }
  eligible <- or_else(contexts$eligible, rep(TRUE, point_count(config$domain)))
  uniform <- trait(config$policy, "uniform")
  found <- if (uniform) matrix(eligible / sum(eligible), rows, length(eligible), byrow = TRUE)
           else preserve_rng({
             set.seed(1)
             chosen_shares(bandit, contexts, draws)
           })
  exact <- uniform || !is_randomised(config)
  # (A random policy may choose any eligible arm: one more choice is divided equally among them.)
  if (!exact && chooses_at_random(config$policy)) {
    found <- (draws * found + rep(eligible / sum(eligible), each = rows)) / (draws + 1)
  }
  value <- as.vector(t(found[, eligible, drop = FALSE]))
  points <- subset_points(all_points(config$domain), rep(which(eligible), rows))
  columns <- point_labels(config$domain, points$arm, points$inputs)
  if (!is.null(given)) {
    columns <- c(columns, context_columns(config, given[rep(seq_len(rows), each = sum(eligible)), , drop = FALSE]))
  }
  names <- vapply(c("propensity", "propensity_se"), beside, "", given_names(config))
  columns[names] <- list(value, if (exact) 0 * value else sqrt(value * (1 - value) / (draws + 1)))
  cpp_frame(columns)
}

check_propensity <- function(bandit) {
  config <- bandit$config
  why <- if (!is.null(rule_of(bandit))) rule_of(bandit)$title
         else if (of_form(config, "compares")) "comparisons"
         else if (!can_count(config$domain)) describe_domain(config$domain)
  if (is.null(why)) return(invisible())
  stop_state("`$propensity()` needs a policy that chooses among arms; this bandit has ", why,
             ". A table of all combinations, `expand.grid()`, is a domain with arms.", argument = "context")
}
