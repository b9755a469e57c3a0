# Probabilities of the choices of randomised policies. Layer: bandit.

# How likely the choices of a randomised bandit were.

# Is there anything random in how a bandit chooses its places (but for ties)?
is_randomised <- function(config) {
  chooses_at_random(config$policy) || explores(config)
}

# By itself, or by a width that is drawn.
chooses_at_random <- function(policy) {
  trait(policy, "random") || (!is.null(policy$width) && trait(policy$width, "drawn"))
}

# A history, or a run, as users see it. (Where the bandit has begun anew since, no choice can be drawn again.)
with_propensity <- function(history, bandit, draws = NULL) {
  force(history)                                          # which looks at the bandit as a whole
  if (!is.null(draws)) draws <- check_count(draws, lower = 0, upper = 1e5)
  if (has_rule(bandit) || !is_randomised(bandit$config)) return(history)
  ids <- history$id - ids_before(bandit)
  there <- !can_count(bandit$config$domain) || identical(table_column(bandit$queries, "arm")[ids] + 1L, history$arm)
  history[[beside("propensity", given_names(bandit$config))]] <- if (there) propensities(bandit, ids,
                                                                                         draws) else rep(NA_real_,
                                                                                                         nrow(history))
  history
}

# Uniform play has a formula, and so has a choice that nothing random goes into; what else is random is drawn again, as
# it was then, where arms can be counted and `draws` are asked for: each of these queries needs the posterior of its
# time.
propensities <- function(bandit, ids, draws = NULL) {
  config <- bandit$config
  action <- action_names[bandit$queries$action[ids]]
  out <- rep(NA_real_, length(action))
  if (!can_count(config$domain)) return(out)
  chosen <- which(action != "given")
  eligible <- vector("list", length(action))
  eligible[chosen] <- eligible_at(bandit, ids[chosen])
  uniform <- action == "explore" | (action == "policy" & trait(config$policy, "uniform"))
  out[uniform] <- 1 / lengths(eligible[uniform])
  open <- which(action == "policy" & !uniform)
  sure <- !chooses_at_random(config$policy) | lengths(eligible[open]) == 1
  out[open[sure]] <- 1
  open <- open[!sure & !before_checkpoint(bandit, ids[open])]
  if (!is.null(draws) && draws > 0 && length(open)) out[open] <- drawn_again(bandit, ids[open], draws)
  out
}

# The arms (1-based) that could be played at some queries.
eligible_at <- function(bandit, ids) {
  events <- table_columns(bandit$events)
  asked <- which(events$kind %in% event_kind[c("query", "given")])
  at <- asked[match(ids, events$id[asked])]
  count <- arms_in_time(bandit)[at]
  Map(function(text, count) {
    if (is.na(text)) return(seq_len(count))
    ranges <- lapply(strsplit(strsplit(text, ",", fixed = TRUE)[[1]], "-", fixed = TRUE), as.integer)
    unlist(lapply(ranges, function(range) seq.int(range[1], range[length(range)])))
  }, events$arms[at], count, USE.NAMES = FALSE)
}

# For some queries the share of `draws` fresh choices, and of the choice itself, that fell on its arm. The log is
# played again up to each of them.
drawn_again <- function(bandit, ids, draws) {
  handle <- core(cpp_bandit_new(core_config(starting_config(bandit))))
  log <- played_log(bandit)
  asked <- which(log$events$kind == event_kind[["query"]])
  at <- asked[match(ids, log$events$id[asked])]
  from <- c(1L, at[-length(at)])                          # the events since the query before
  eligible <- eligible_at(bandit, ids)
  preserve_rng({
    vapply(seq_along(ids), function(k) {
      set.seed(ids[k] + ids_before(bandit))                                    # whichever queries are asked about
      replay_part(handle, log, seq.int(from[k], length.out = at[k] - from[k]))
      context <- subset_contexts(log$contexts, ids[k])
      arms <- fresh_choices(handle, bandit$config, context, draws, bandit$queries$width[ids[k]], eligible[[k]])
      (sum(arms == bandit$queries$arm[ids[k]] + 1L) + 1) / (draws + 1)
    }, 0)
  })
}

# Arms that would be chosen now among those that are eligible. Thompson draws of all arms at once are one matrix.
fresh_choices <- function(handle, config, context, draws, width, eligible) {
  if (trait(config$policy, "draws_choice") && !is.na(width)) {
    values <- core(cpp_bandit_draw(handle, draws, width, context))[eligible, , drop = FALSE]
    return(eligible[max.col(t(values), ties.method = "first")])
  }
  n <- point_count(config$domain)
  if (length(eligible) < n) context$eligible <- seq_len(n) %in% eligible
  core(cpp_bandit_proposals(handle, context, draws)) + 1L
}
