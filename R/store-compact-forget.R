# The replacement of earlier rounds of a log by their sums. Layer: storage.

# Earlier rounds replaced by their sums: `$compact(keep = )`.
#
# A log may begin with a checkpoint: an event followed by `sums` queries, one for each point with replaced rewards. Each
# of these holds the mean, the number and the spread of the rewards of its point. In the log, in R and in the core, the
# number of a query is its row. The id that users see is larger by `before`. check_ids() converts ids to rows, and
# query_frame() converts rows to ids.

summable <- "that depends only on the sums of each point, if `keep` is given"

# ---- rounds that can be replaced ------------------------------------------------------

forget_rounds <- function(bandit, keep) {
  rebuild(bandit)
  why <- or_else(why_not_compact(bandit), why_not_forget(bandit))
  if (!is.null(why)) stop_not_compact(summable, why)
  events <- table_columns(bandit$events)
  old <- forgotten_of(bandit)
  last <- last_to_forget(bandit, events, keep)
  own <- which(!is.na(events$noise_var) | !is.na(events$size))
  if (any(events$id[own] > old$sums & events$id[own] <= last)) {
    stop_not_compact("whose rewards have the same noise, if `keep` is given (widths use that of each)",
                     "with a separate noise variance for some rewards, or several rewards for one id")
  }
  before <- length(events$kind)
  if (last <= old$sums) return(c(before = before, after = before, forgotten = old$rounds))
  new <- forgetful_log(bandit, events, old, last)
  check_forgetful(bandit, new)
  replace_log(bandit, new)
  c(before = before, after = length(new$events$kind), forgotten = forgotten_of(bandit)$rounds)
}

# The reason why sums over points do not determine all future suggestions; NULL if they do.
why_not_forget <- function(bandit) {
  config <- bandit$config
  policy <- config$policy
  if (is_stored(bandit)) return("in a store, where other processes identify its queries by their rows")
  if (!is_tabulated_space(config)) return("without a finite set of points (a box, a product or open contexts)")
  if (!is.null(config$rewards)) return("with `rewards`, which count one by one")
  if (!is.null(config$outputs)) return("with `outputs`, where each reward is scaled separately")
  if (!is.null(config$failures)) return("with `failures`, which count as the worst reward that is known")
  if (trait(config$pending, "replaces")) return("with pending_censor(), where lost rewards count one by one")
  if (!is.null(policy$repeats)) return("with policy_repeats(), which uses the first of its repeats")
  if (trait(policy, "pairs")) return("whose policy asks for pairs of queries")
  if (length(phase_names(config))) return("whose policy depends on its earlier phases")
  if (!is.null(policy$width) && trait(policy$width, "looks_back")) {
    return(sprintf("with %s, which uses each of the last queries", trait(policy$width, "title")))
  }
  if (inherits(bandit$journal, "bandit_file_journal") && has_notes(bandit)) {
    return("of a search (its journal has notes of maximize_bandit()), which identifies its evaluations by their ids")
  }
  NULL
}

# The last row that can be replaced: no earlier query is pending, `keep` rows remain, and the time of the next refit
# does not change.
last_to_forget <- function(bandit, events, keep) {
  count <- table_size(bandit$queries)
  pending <- match("pending", status_of(bandit, seq_len(count)), nomatch = count + 1L)
  last <- min(count - keep, pending - 1)
  fits <- events$id[events$kind %in% believing]
  if (length(fits)) return(min(last, max(fits)))
  if (is.null(bandit$config$refit)) last else 0
}

# ---- the shorter log ------------------------------------------------------------------

# `old`: the part that was replaced before; `last`: the last row to be replaced.
forgetful_log <- function(bandit, events, old, last) {
  sums <- sums_of_points(bandit, events, old, last)
  count <- length(sums$arm)
  queries <- table_columns(bandit$queries)
  kept <- seq_along(queries$arm) > last
  blank <- function(columns, length) lapply(columns, function(column) rep(column[NA_integer_], length))
  heads <- utils::modifyList(blank(queries, count), list(
    arm = sums$arm, context = sums$context, action = rep(match("given", action_names), count), segment = rep(1L, count),
    mean = sums$mean, sd = double(count), status = rep(match("observed", status_names), count), reward = sums$mean))
  later <- which(!events$kind %in% c(believing, event_kind[["checkpoint"]]) & events$id > last)
  fits <- utils::tail(which(events$kind %in% believing), 1)
  later <- sort(c(later, fits))
  tail <- lapply(events, `[`, later)
  tail$id <- tail$id - as.integer(last - count)
  given <- utils::modifyList(blank(events, count), list(
    kind = rep(event_kind[["given"]], count), id = seq_len(count), reward = sums$mean, size = sums$size,
    spread = sums$spread))
  first <- checkpoint_event(bandit, events, old, last, count)
  refits <- utils::tail(bandit$refits, length(fits))
  list(queries = Map(function(head, all) c(head, all[kept]), heads[names(queries)], queries),
       events = Map(c, first[names(events)], given[names(events)], tail), refits = refits)
}

checkpoint_event <- function(bandit, events, old, last, count) {
  first <- lapply(events, function(column) column[NA_integer_])
  first$kind <- event_kind[["checkpoint"]]
  first$id <- 0L
  first$size <- as.double(last + old$before)
  first$other <- if (count > 0) count else NA_integer_
  action <- table_column(bandit$queries, "action")[seq_len(last)]
  first$spread <- as.double(old$explored + sum(action == match("explore", action_names)))
  # For queries made before the last replaced reward arrived, the new log no longer shows which rewards had been
  # observed at that time.
  about <- events$id > old$sums & events$id <= last & events$kind %in% recording
  asked <- events$kind %in% event_kind[c("query", "given")] & seq_along(about) < max(0, which(about))
  late <- max(old$late, events$id[asked] + old$before)
  first$reward <- if (late > first$size) as.double(late) else NA_real_
  gone <- events$time[events$id <= last]
  first$time <- if (all(is.na(gone))) NA_real_ else max(gone, na.rm = TRUE)
  first
}

# For each point the mean of its rewards, their number, and the sum of squares about the mean, in the order in which the
# points were played first.
sums_of_points <- function(bandit, events, old, last) {
  known <- which(status_of(bandit, seq_len(last)) == "observed")
  queries <- bandit$queries
  arm <- queries$arm[known]
  context <- queries$context[known]
  reward <- queries$reward[known]
  summed <- which(known <= old$sums)
  size <- rep(1, length(known))
  spread <- double(length(known))
  size[summed] <- events$size[1L + known[summed]]
  spread[summed] <- events$spread[1L + known[summed]]
  point <- match(arm, unique(arm)) + length(unique(arm)) * as.double(context)
  first <- which(!duplicated(point))
  group <- match(point, point[first])
  total <- function(x) as.vector(rowsum(x, group, reorder = FALSE))
  n <- total(size)
  mean <- total(size * reward) / n
  list(arm = arm[first], context = context[first], size = n, mean = mean,
       spread = total(spread + size * (reward - mean[group])^2))
}

# The new log must reproduce the posterior, the rounds and the information gain, up to rounding.
check_forgetful <- function(bandit, new) {
  twin <- frame_of(new_bandit(bandit$config, table_of(new$queries), table_of(new$events), new$refits))
  same <- tryCatch({
    rebuild(twin)
    ours <- cpp_bandit_facts(bandit$handle)
    theirs <- cpp_bandit_facts(twin$handle)
    known <- lapply(list(ours = bandit, theirs = twin), function(of) cpp_bandit_known(of$handle))
    point <- function(of) paste(table_column(of$queries, "arm"), table_column(of$queries, "context"))
    at <- known$theirs$id
    model_state <- function(of, ids) unlist(cpp_bandit_models_at(of$handle, ids)) / ours$prior_scale
    identical(ours[c("rounds", "segment")], theirs[c("rounds", "segment")]) && same_numbers(ours$clock, theirs$clock) &&
      sum(known$ours$size) == sum(known$theirs$size) &&
      abs(ours$log_det - theirs$log_det) <= 1e-6 * max(1, ours$log_det) &&
      all(abs(model_state(bandit, match(point(twin)[at], point(bandit))) - model_state(twin, at)) <= 1e-6)
  }, gpbandits_error = function(e) FALSE)
  if (!same) stop_not_compact(summable, "whose history a shorter log does not reproduce")
}
