# `$compact()`: a shorter log with the same posterior. Layer: storage.

#' Shorten a bandit's event log
#'
#' For runs of many thousand rounds, or files that grow: `$compact()` of a [GPBandit] replaces old events of its log by
#' a checkpoint, from which the same choices follow. Its journal or store is compacted with it. For a journal or store
#' at hand, open it first: `open_bandit(x)$compact()`.
#'
#' The event log records each suggestion, reward, amendment and refit, two events or more for each query. The checkpoint
#' has one event for each query that is over, and the last refit. That event holds the query's point, its reward with
#' the noise or number of measurements reported with it, or its failure.
#'
#' With `keep`, old queries are removed too; see [forget-rounds].
#'
#' @section What stays: The following is unchanged.
#'
#' * Every query, with its id, point, reward and status, and with the history's columns about its choice.
#' * Pending queries, with their leases and tokens.
#' * The present parameters, and when the next refit is due.
#' * The states of random generators (of a journal, or of a store's streams).
#' * Notes of a search or a race.
#'
#' @section What is lost: The checkpoint does not hold
#'
#' * when each reward came, and in which order;
#' * values that an amendment has replaced;
#' * parameters of refits before the last one. They are kept if `outputs` are scaled, because the history's `mean` and
#'   `sd` are in the units of their time.
#'
#' The data on which a past choice was based are therefore unknown. This has three consequences. `$history(draws = )`
#' has no propensities (`NA`) for random choices before the checkpoint. [check_model()] has no predictions made at
#' choices before it. Certificates assume that rewards came at arbitrary times.
#'
#' @section Exactness: Every process that uses the checkpoint has the same state, to the bit: the bandit that was
#' compacted, a replica that was behind, and a file opened years later.
#'
#' Compared with a bandit whose log was not compacted, the posterior has the same data and parameters, but sums are in
#' another order. It is equal up to rounding on dense engines, and up to `accuracy` on the low-rank one. Choices can
#' therefore differ if two points are equally good within that error. Before the log is replaced, the checkpoint is
#' applied and compared with the bandit: all data of the posterior mean must be identical, to the bit.
#'
#' @section Stores and journals: In a store, `$compact()` is one transaction. Other processes continue to work, and
#' have either the old log or the new one. Replicas that have applied some of the old events begin again from the
#' checkpoint at their next call. Leases and tokens stay valid. A process that dies during the call has changed nothing.
#' The database keeps the space for later rows; `VACUUM` returns it to the disk.
#'
#' A journal is shortened in one transaction, and the space is returned to the disk. Another bandit that has it open
#' gets an error at its next change.
#'
#' @section Memory and file size: One query with its reward takes about
#'
#' * 0.4 KB of memory;
#' * 36 bytes in a file of [saveRDS()];
#' * 280 bytes in a journal (200 after `$compact()`);
#' * 420 bytes in a SQLite store, asked in batches by a worker (340 after `$compact()`).
#'
#'   These were measured on arms (`bench/results/long_life.md` in the sources).
#'
#' Each input of an open domain, and each context, takes 8 bytes in memory and about 20 as text. Refits make a log long.
#' Each is a line of text (kilobytes if models are averaged), and a new posterior from all rewards when the log is
#' opened. A checkpoint has only one.
#'
#' @section Argument and value: The method is `$compact(keep = Inf)`. `keep` is the number of latest queries that stay,
#' an integer >= 0, or `Inf` for all; see [forget-rounds]. It returns, invisibly, a named vector of counts:
#'
#' * `before`, `after`: numbers of events;
#' * `forgotten`: the total number of forgotten rounds, with a finite `keep` only.
#'
#' @section Errors: A `gpbandits_error` that names the argument; nothing has changed then. Some bandits cannot be
#'   compacted, because their state depends on when events happened; the message gives the reason:
#'
#' * bandits with `changes`, `constraints` or several `outcomes`;
#' * bandits with comparisons ([rewards_preferences()]) or added arms;
#' * policies that keep running intervals, and algorithms with a rule written in R.
#' @seealso [forget-rounds], [bandit_store()], [open_bandit()].
#' @concept checkpoint
#' @concept log compaction
#' @concept memory use
#' @examples
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01)
#' for (t in 1:10) b$observe(b$suggest()$id, sin(t))
#' print(b$compact())
#' nrow(b$history())
#' b$compact(keep = 3)
#' b$history()
#' b
#' @name bandit-compact
NULL

bandit_compact <- function(bandit, keep = Inf) {
  keep <- check_count(keep, lower = 0, infinite = TRUE)
  check_idle(bandit)
  if (is.finite(keep)) return(forget_rounds(bandit, keep))
  if (is_stored(bandit)) return(in_store(bandit, function() compact_log(bandit)))
  compact_log(bandit)
}

compactable <- "whose state depends only on its present rewards and parameters"

stop_not_compact <- function(needed, found) {
  stop_state("`$compact()` needs a bandit ", needed, ", not one ", found, ".", argument = "bandit")
}

compact_log <- function(bandit) {
  rebuild(bandit)
  why <- why_not_compact(bandit)
  if (!is.null(why)) stop_not_compact(compactable, why)
  before <- table_size(bandit$events)
  new <- checkpoint_of(bandit)
  check_checkpoint(bandit, new)
  after <- length(new$events$kind)
  if (after < before) replace_log(bandit, new)
  c(before = before, after = min(before, after))
}

# The reason why the bandit's state depends on more than its present observations; NULL if it does not.
why_not_compact <- function(bandit) {
  config <- bandit$config
  if (trait(config$policy, "scripted")) return("whose rule in R keeps a separate memory")
  if (!is.null(config$changes)) return("with `changes`, which depend on when each reward came")
  if (!is.null(config$constraints)) return("with `constraints`, whose multipliers move at the ends of epochs")
  if (of_form(config, "several")) return("with several outcomes, of which each has its own events")
  if (trait(config$policy, "intervals")) return("whose policy keeps the intervals of all rounds")
  if (any(vapply(bandit$refits, is_growth, NA))) return("that was given further arms")
  other <- table_column(bandit$events, "other")[table_column(bandit$events, "kind") != event_kind[["checkpoint"]]]
  if (any(!is.na(other))) return("whose rewards are comparisons with other queries")
  NULL
}

# ---- the checkpoint -------------------------------------------------------------------

# The shorter log: `events`, with the columns of the log, and `refits`.
checkpoint_of <- function(bandit) {
  events <- table_columns(bandit$events)
  count <- table_size(bandit$queries)
  status <- status_of(bandit, seq_len(count))
  asked <- which(events$kind %in% event_kind[c("query", "given")])     # in the order of the ids
  rows <- lapply(events, `[`, asked)
  known <- which(status == "observed")
  rows$kind[known] <- event_kind[["given"]]
  rows$reward[known] <- bandit$queries$reward[known]
  rows[reported_columns] <- final_extras(events, rows[reported_columns], known)
  # A reward that arrived too late remains too late if all queries come before it.
  lost <- which(events$kind %in% event_kind[c("reward", "amend")] & events$id %in% which(status == "lost"))
  given_up <- which(status %in% c("withdrawn", "failed"))
  left <- last_rows(events, event_kind[c("withdraw", "fail")], given_up)
  fits <- kept_refits(bandit, which(events$kind %in% believing))
  later <- c(left, fits$events, lost)
  order_in <- c(rows$id, events$id[left], events$id[fits$events], rep(count + 1, length(lost)))
  within <- rep(0:3, c(length(asked), length(left), length(fits$events), length(lost)))
  order <- order(order_in, within, method = "radix")
  list(events = Map(function(own, all) c(own, all[later])[order], rows, events), refits = bandit$refits[fits$which])
}

# The size, spread and noise variance that were reported last. An amendment without a noise variance does not change it;
# 0 means the bandit's variance.
final_extras <- function(events, beside, known) {
  valued <- which(!is.na(events$reward) & events$kind %in% event_kind[c("reward", "given", "amend")])
  noisy <- rev(valued[!(events$kind[valued] == event_kind[["amend"]] & is.na(events$noise_var[valued]))])
  last <- rev(valued)[match(known, rev(events$id[valued]))]
  reported <- events$noise_var[noisy[match(known, events$id[noisy])]]
  beside$noise_var[known] <- ifelse(reported %in% 0, NA, reported)
  for (name in c("size", "spread")) beside[[name]][known] <- events[[name]][last]
  beside
}

# The last event of the given kinds for each query.
last_rows <- function(events, kinds, ids) {
  rows <- rev(which(events$kind %in% kinds))
  rows[match(ids, events$id[rows])]
}

# The last refit with the outcome transforms after it. All refits are kept if earlier predictions are shown under the
# transforms of their time. `at`: the rows of the refits.
kept_refits <- function(bandit, at) {
  real <- which(vapply(bandit$refits, is_real_refit, NA))
  from <- if (!is.null(bandit$config$outputs) || length(real) == 0) 1 else max(real)
  which <- seq_along(at)[seq_along(at) >= from]
  list(events = at[which], which = which)
}

# The checkpoint alone must reproduce the bandit's state. (rebuild() checks that the tables match the events.)
check_checkpoint <- function(bandit, new) {
  twin <- frame_of(new_bandit(bandit$config, table_copy(bandit$queries), table_of(new$events), new$refits))
  same <- tryCatch({
    rebuild(twin)
    same_facts <- c("rounds", "segment")
    identical(cpp_bandit_known(twin$handle), cpp_bandit_known(bandit$handle)) &&
      identical(cpp_bandit_facts(twin$handle)[same_facts], cpp_bandit_facts(bandit$handle)[same_facts])
  }, gpbandits_error = function(e) FALSE)
  if (!same) {
    stop_not_compact(compactable, "whose state a shorter log does not reproduce")
  }
}

# ---- replacement of the old events ------------------------------------------------------

replace_log <- function(bandit, new) {
  durable <- if (!is.null(bandit$journal)) function() rewrite_log(bandit, new)
  fields <- list(events = table_of(new$events), refits = new$refits, handle = NULL)
  if (!is.null(new$queries)) fields$queries <- table_of(new$queries)
  for (name in c("reasons", "notes")) fields[name] <- list(text_after(bandit[[name]], new))
  commit(bandit, list(), fields = fields, durable = durable)
}

#' Forget old rounds of a long-running bandit
#'
#' `$compact(keep = n)` removes all but the last `n` queries and keeps their sufficient statistics.
#'
#' Without `keep` every query stays, and a bandit grows with each. With `keep`, a bandit that is compacted regularly
#' needs constant memory and a log of constant length. All queries from the first pending one on stay, even if they are
#' more than `n`.
#'
#' For each combination of arm and context with removed rewards, three numbers stay: the number of rewards
#' \eqn{n_k}{n_k}, their mean \eqn{\bar y_k}{ybar_k}, and \eqn{\sum (y - \bar y_k)^2}{sum (y - ybar_k)^2}. If the noise
#' is Gaussian with one variance \eqn{\lambda}{lambda}, the posterior depends on nothing else. The \eqn{n_k} rewards
#' count as one reward with noise variance \eqn{\lambda / n_k}{lambda / n_k}:
#'
#' \deqn{\mu = m + K_{*}(K + \Lambda)^{-1}(\bar y - m), \quad \Lambda = \mathrm{diag}(\lambda / n_k)}{mu = m + K* (K +
#'   Lambda)^-1 (ybar - m), Lambda = diag(lambda / n_k)}
#'
#' \deqn{\log\det(I + K_t/\lambda) = \log\det(I + N^{1/2} K N^{1/2}/\lambda), \quad N = \mathrm{diag}(n_k)}{log det(I +
#'   K_t / lambda) = log det(I + N^(1/2) K N^(1/2) / lambda), N = diag(n_k)}
#'
#' The right-hand sides have one row for each combination. The likelihood that [refit_every()] maximises also needs the
#' third number.
#'
#' @section What stays the same: The following continues as before.
#'
#'   * Numbers of rounds: ids, \eqn{t} in widths and policies, the rest of an initial design, and the next refit.
#'   * Choices, up to rounding. Means and standard deviations agree with those of the full bandit to about 1e-14 (on the
#'     low-rank engine to `accuracy`).
#'   * Refits maximise the same likelihood, and end as close to its maximum as fits usually do. With many rewards, the
#'     starting values are compared on a subset of them, which is then another subset.
#'   * Thompson sampling, and other rules that draw f, draw from the same posterior. The same random numbers give
#'     another draw, because the covariance has another root.
#'
#'   The queries since the last refit are kept too, because they determine when the next one is due. If a bandit with
#'   [refit_every()] has had no refit yet, everything is kept.
#'
#'   Before the log is replaced, the shorter log is applied and compared with the bandit: the number of rounds and of
#'   rewards, the information, and mean and sd at the points played.
#'
#' @section What is lost: In addition to the losses of [`$compact()`][bandit-compact], the removed queries.
#'
#'   * `$history()` begins with the first query that is kept. Its attribute `forgotten` is the number of earlier ones,
#'     which `print()` and `summary()` also show.
#'   * `$observe()`, `$amend()`, `$withdraw()` and `$fail()` of a removed id are errors.
#'   * [check_model()] and [stop_stalled()] are not available.
#'   * Certificates assume that rewards came at arbitrary times.
#'   * `$history(draws = )` has `NA` for queries that were suggested before all removed rewards were observed.
#'
#' @section Errors: A finite `keep` is an error, with the reason, in the following cases.
#'
#'   * All cases in which `$compact()` is an error without `keep`, see [bandit-compact].
#'   * Stores (other processes use the queries' numbers), and journals of searches.
#'   * Boxes, products and open contexts.
#'   * `rewards`, `outputs` and `failures`, for which rewards count individually.
#'   * [pending_censor()], [width_sdf()], [policy_repeats()], and policies that depend on their earlier choices (phases
#'     of [safe_opt()]).
#'   * Removed rewards that were reported with their own noise variance, or several for one id.
#' @seealso [bandit-compact].
#' @examples
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01)
#' for (t in 1:10) b$observe(b$suggest()$id, sin(t))
#' b$compact(keep = 3)
#' b$history()
#' @name forget-rounds
#' @concept sufficient statistics
#' @concept constant memory
#' @concept long-running bandit
NULL
