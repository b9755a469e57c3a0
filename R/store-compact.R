# `compact_log()`: a shorter log with the same posterior. Layer: storage.

#' Make a long log shorter
#'
#' A bandit's log has two events or more for each query: that it was asked, that its reward came, that the reward was
#' amended, that parameters were fitted anew. `compact_log()` replaces these old events by a checkpoint: one event for
#' each query that is over (its place, its reward and what was told beside it, or that it failed), and the last refit.
#' The same choices follow from it.
#'
#' **What stays**: every query with its id, place, reward, status and what the history says of the moment of its choice;
#' queries that are pending, with their leases and tokens; the parameters in force and when the next refit is due;
#' random numbers (a journal's generator, a store's streams); notes of a search or of a race.
#'
#' **What is lost**: when each reward came and in which order, values that an amendment has replaced, parameters of
#' refits before the last one (where `outputs` are scaled they stay: the history's `mean` and `sd` are in units of their
#' time), and with all this the knowledge that a past choice was made with. So `$history(draws = )` has no propensities
#' of random choices before the checkpoint (`NA`), [check_model()] sees no predictions made at choices before it, and
#' certificates take it that rewards came when they liked.
#'
#' **How exact**: the checkpoint is events like any other. Whoever has it, in whatever way (the bandit that was
#' compacted, a replica that was behind, a file opened years later), has played the same events, and goes on with the
#' same bits. Beside a bandit whose log was not compacted the posterior is of the same data with the same parameters,
#' summed up in another order: equal to rounding on dense engines and to `accuracy` on the low-rank one, so that choices
#' can differ where two places are equally good by as little. Before anything is replaced the checkpoint is played and
#' compared with the bandit: all that the mean knows must be the same, to the bit.
#'
#' **In a store** it is one transaction: others work on meanwhile, and either see the old log or the new one. Replicas
#' that know some of the old events begin anew from the checkpoint when they next look; leases and tokens hold. A
#' process that dies in the middle has changed nothing. The database keeps the room for later rows (`VACUUM` gives it
#' back to the disk). **A journal** is written anew beside the file, which it then replaces in one step; no other bandit
#' may hold it meanwhile.
#'
#' **Shorter still** is a log whose old rounds are forgotten: `keep`, see "Rounds forgotten".
#'
#' **What rounds cost.** A query with its reward (100 arms, 1,000 rounds; measured): 1.1 KB of memory, 45 bytes in a
#' file of [saveRDS()], 230 in a journal (155 after `compact_log()`), 420 in a SQLite store asked in batches by a worker
#' (340 after). Inputs of open domains and contexts are 8 bytes each in memory and about 20 as text. Refits are what
#' makes a log long: each is a line of text (kilobytes where models are averaged), and a new posterior from all the
#' rewards when the log is opened; the checkpoint has one.
#'
#' @section Rounds forgotten: without `keep` every query stays, and a bandit grows with each. `compact_log(x, keep = n)`
#'   forgets all but the last `n` of them (and all from the first pending one on), so that a life that calls it now and
#'   then has flat memory and a log of one length. In their place stand the sums of each place (arm and context) that
#'   has rewards among them: their number \eqn{n_k}{n_k}, their mean \eqn{\bar y_k}{ybar_k} and
#'   \eqn{\sum (y - \bar y_k)^2}{sum (y - ybar_k)^2}. With Gaussian noise of one variance \eqn{\lambda}{lambda} that is
#'   all that a posterior depends on: \eqn{n_k} rewards at a place are one of the noise
#'   \eqn{\lambda / n_k}{lambda / n_k},
#'   \deqn{\mu = m + K_{*}(K + \Lambda)^{-1}(\bar y - m), \quad \Lambda = \mathrm{diag}(\lambda / n_k), \quad
#'     \log\det(I + K_t/\lambda) = \log\det(I + N^{1/2} K N^{1/2}/\lambda), \quad N = \mathrm{diag}(n_k),}{mu = m + K*
#'     (K + Lambda)^-1 (ybar - m), Lambda = diag(lambda / n_k), log det(I + K_t / lambda) = log det(I + N^(1/2) K
#'     N^(1/2) / lambda), N = diag(n_k),} the right-hand sides over the places alone; the likelihood that
#'     [refit_every()] maximises needs the third sum, too. Numbers of rounds (ids, \eqn{t} in widths and policies, what
#'     is left of a design, when the next refit is due) go on as before.
#'
#'   *The same choices follow*, up to rounding: means and standard deviations of the bandit that kept all, to some 1e-14
#'   (on the low-rank engine to `accuracy`). Refits climb the same likelihood, and end as near to its top as fits end
#'   (of many rewards their starts are tried on some, which are others then). Thompson sampling and what else draws f
#'   draws from the same posterior, but the same random numbers give another draw, since its root is another one. Before
#'   anything is replaced the shorter log is played and compared: rounds, number of rewards, information, mean and sd
#'   where it played.
#'
#'   *Lost*, besides what is named above: the queries themselves. `$history()` begins with the first that is kept (its
#'   attribute `forgotten` says how many came before; `print()` and `summary()` say so, too). `$observe()`, `$amend()`,
#'   `$withdraw()` and `$fail()` of a forgotten id are errors. There is no [check_model()] any more, and no
#'   [stop_stalled()]; certificates take it that rewards came when they liked; `$history(draws = )` has `NA` for queries
#'   that were asked before all that is forgotten was known.
#'
#'   *Kept besides*: what came after the last refit, which says when the next is due (everything, where [refit_every()]
#'   has not had its first).
#'
#'   *Refused*, with the reason: all that is refused without `keep`; stores, where others know queries by their numbers;
#'   journals of searches; boxes, products and open contexts; `rewards`, `outputs` and `failures`, where rewards count
#'   one by one; [pending_censor()] and [width_sdf()]; [policy_repeats()] and policies that go by what they did before
#'   ([safe_opt()]'s phases); rewards to be forgotten that were told with a noise of their own, or several for one id.
#'
#' @param x a [bandit_store()], the path of a journal, or a bandit (a [GPBandit][gp_bandit]; where it has a journal or
#'   is in a store, that is compacted too).
#' @param trust of a journal, as for [open_bandit()].
#' @param keep how many of the last queries stay; `Inf`: all. See "Rounds forgotten".
#' @return Numbers of events, invisibly: `before` and `after`; with a finite `keep` also how many rounds are `forgotten`
#'   in all.
#' @section Errors: a `gpbandits_error` that names the argument; nothing has changed then. Refused, with the reason,
#'   where events say more than what was known in the end: with `changes`, `constraints`, several `outcomes`,
#'   comparisons ([rewards_preferences()]), added arms, policies that keep running intervals, and algorithms whose rule
#'   is written in R.
#' @seealso [bandit_store()], [open_bandit()].
#' @examples
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01)
#' for (t in 1:10) b$observe(b$suggest()$id, sin(t))
#' print(compact_log(b))
#' nrow(b$history())
#' compact_log(b, keep = 3)
#' b$history()
#' b
#' @export
compact_log <- function(x, trust = FALSE, keep = Inf) {
  check_flag(trust)
  keep <- check_count(keep, lower = 0, infinite = TRUE)
  if (missing(x)) stop_argument("x", "missing", compactable)
  if (is_bandit(x)) return(invisible(compact_bandit(frame_of(x), keep)))
  if (inherits(x, "bandit_store")) return(invisible(compact_bandit(frame_of(open_stored(x)), keep)))
  if (!is.character(x)) stop_argument("x", describe(x), compactable)
  invisible(compact_bandit(frame_of(open_journal(x, NULL, FALSE, trust)), keep))
}

compactable <- "a bandit, a store (bandit_store()), or the path of a journal"

compact_bandit <- function(bandit, keep = Inf) {
  check_idle(bandit)
  if (is.finite(keep)) return(forget_rounds(bandit, keep))
  if (is_stored(bandit)) return(in_store(bandit, compact_here(bandit)))
  compact_here(bandit)
}

compact_here <- function(bandit) {
  heal(bandit)
  why <- why_not_compact(bandit)
  if (!is.null(why)) stop_argument("x", paste("a bandit", why), "one whose log says no more than what is known now")
  before <- table_size(bandit$events)
  new <- checkpoint_of(bandit)
  check_checkpoint(bandit, new)
  after <- length(new$events$kind)
  if (after < before) replace_log(bandit, new)
  c(before = before, after = min(before, after))
}

# Why its events say more than what is known in the end; NULL if they do not.
why_not_compact <- function(bandit) {
  config <- bandit$config
  if (has_rule(bandit)) return("whose rule keeps a memory of its own")
  if (!is.null(config$changes)) return("with `changes`, which depend on when each reward came")
  if (!is.null(config$constraints)) return("with `constraints`, whose multipliers move at the ends of epochs")
  if (has_outcomes(config)) return("with several outcomes, of which each has its own events")
  if (trait(config$policy, "intervals")) return("whose policy keeps the intervals of all rounds")
  if (any(vapply(bandit$refits, is_growth, NA))) return("that was given further arms")
  other <- table_column(bandit$events, "other")[table_column(bandit$events, "kind") != event_kind[["checkpoint"]]]
  if (any(!is.na(other))) return("whose rewards are comparisons with other queries")
  NULL
}

# ---- the checkpoint -------------------------------------------------------------------

# The shorter log: `events`, columns as those of the log, and `refits`.
checkpoint_of <- function(bandit) {
  events <- table_columns(bandit$events)
  count <- table_size(bandit$queries)
  status <- status_of(bandit, seq_len(count))
  asked <- which(events$kind %in% event_kind[c("query", "given")])     # in the order of the ids
  rows <- lapply(events, `[`, asked)
  known <- which(status == "observed")
  rows$kind[known] <- event_kind[["given"]]
  rows$reward[known] <- bandit$queries$reward[known]
  rows[told_columns] <- beside_in_the_end(events, rows[told_columns], known)
  # A reward that came too late stays so where all queries come before it.
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

# Size and spread as they were told last, and noise as it was told last: an amendment that has none leaves it alone, 0
# is the usual one.
beside_in_the_end <- function(events, beside, known) {
  valued <- which(!is.na(events$reward) & events$kind %in% event_kind[c("reward", "given", "amend")])
  noisy <- rev(valued[!(events$kind[valued] == event_kind[["amend"]] & is.na(events$noise_var[valued]))])
  last <- rev(valued)[match(known, rev(events$id[valued]))]
  told <- events$noise_var[noisy[match(known, events$id[noisy])]]
  beside$noise_var[known] <- ifelse(told %in% 0, NA, told)
  for (name in c("size", "spread")) beside[[name]][known] <- events[[name]][last]
  beside
}

# For some queries the last event of these kinds.
last_rows <- function(events, kinds, ids) {
  rows <- rev(which(events$kind %in% kinds))
  rows[match(ids, events$id[rows])]
}

# The last one, with the maps of outputs that came since; all where beliefs of the past are shown under the maps of
# their time. `at`: the events.
kept_refits <- function(bandit, at) {
  real <- which(vapply(bandit$refits, is_real_refit, NA))
  from <- if (!is.null(bandit$config$outputs) || length(real) == 0) 1 else max(real)
  which <- seq_along(at)[seq_along(at) >= from]
  list(events = at[which], which = which)
}

# Played alone, the checkpoint must come to what the bandit knows. (That the tables fit the events, heal() looks.)
check_checkpoint <- function(bandit, new) {
  twin <- frame_of(new_bandit(bandit$config, table_copy(bandit$queries), table_of(new$events), new$refits))
  same <- tryCatch({
    heal(twin)
    same_facts <- c("rounds", "segment")
    identical(cpp_bandit_known(twin$handle), cpp_bandit_known(bandit$handle)) &&
      identical(cpp_bandit_facts(twin$handle)[same_facts], cpp_bandit_facts(bandit$handle)[same_facts])
  }, gpbandits_error = function(e) FALSE)
  if (!same) {
    stop_argument("x", "a bandit whose life a shorter log does not tell",
                  "one whose log says no more than what is known now")
  }
}

# ---- in place of the old events ---------------------------------------------------------

replace_log <- function(bandit, new) {
  durable <- if (!is.null(bandit$journal)) function() rewrite_log(bandit, new)
  fields <- list(events = table_of(new$events), refits = new$refits, handle = NULL)
  if (!is.null(new$queries)) fields$queries <- table_of(new$queries)
  fields["reasons"] <- list(reasons_after(bandit, new))
  commit(bandit, list(), fields = fields, durable = durable)
}
