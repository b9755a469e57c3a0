#' Rankings
#'
#' `rewards_rankings()` is a rule for `gp_bandit(rewards = )` where several things are put in order at once: five
#' pictures, the best first.
#'
#' The first of a ranking is chosen from all its \eqn{K} places with chances
#' \eqn{e^{f_i} / \sum_j e^{f_j}}{exp(f_i) / sum_j exp(f_j)}, the next one from
#' those that are left, and so on (Plackett and Luce). Of two places that is a comparison as in [rewards_duels()]. A
#' ranking tells less than
#' \eqn{K(K-1)/2} independent comparisons would, and is not taken for them.
#'
#' ```
#' q <- b$suggest(4)
#' b$rank(q$id[c(3, 1, 4, 2)])                   # the third is best, the second worst
#' b$observe(q$id, prefer = q$id[3])             # or: the third is best, of the others nothing is known
#' b$observe(q$id, prefer = q$id[c(3, 1)])       # the third is best, then the first
#' ```
#'
#' The queries, 2 to 50 of them, are in one context and pending (points of one's own: `$add(arm = c(3, 7, 8))` without
#' rewards). Each then has status
#' `"known"`, and a `reward`: the share of the others that it stands before, 1 for the best and 0 for the last one and
#' for all of which the order is
#' not known. History's column `ranking` is the least id of its ranking. A query is in one ranking: to rank a place
#' again, `$add()` it.
#' The same ranking again changes nothing; `$amend(q$id, prefer = )` corrects its order.
#'
#' `$rank(ids)` also tells [rewards_duels()] of two queries.
#'
#' \eqn{f} is known up to a constant, which the prior alone fixes; `$posterior()`, `$best()`, policies ([policy_duel()]
#' asks in pairs, others one by one: on a tray the draws of [policy_ts()] mostly differ, where EI and UCB ask for one
#' place as often as there are queries; places of your own go by `$add()`) and what does not go with such rewards are as in [rewards_duels()].
#' @section Guarantee: none is known for this posterior with rankings of more than two; [width_glm()] refuses them.
#' @return An object of class `bandit_rewards`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Plackett (1975), The analysis of permutations, Applied Statistics 24; Luce (1959), Individual choice
#'   behavior.
#' @seealso [rewards_duels()], [rewards].
#' @examples
#' x <- seq(0, 1, length.out = 12)
#' b <- gp_bandit(x, kernel_se(0.25, 4), policy = policy_ts(width_constant(1)),
#'                rewards = rewards_rankings())
#' set.seed(1)
#' for (t in 1:5) {
#'   q <- b$suggest(4)
#'   b$rank(q$id[order(-3 * sin(5 * q$x1) + log(rexp(4)))])
#' }
#' b$best()
#' b$posterior(arm = 1:3) # chances against the best
#' @name rankings
NULL

#' @rdname rankings
#' @export
rewards_rankings <- function() new_part("bandit_rewards", "rankings")

most_ranked <- 50L

ranks_queries <- function(config) has_likelihood(config) && trait(config$rewards, "ranks")

# $rank()
bandit_rank <- function(bandit, ids, time = NULL, ...) {
  if (missing(ids)) stop_argument("ids", "missing", "ids of queries, the best first")
  config <- bandit$config
  if (!compares_queries(config)) {
    stop_gpbandits("`$rank()` is for bandits with `rewards = rewards_rankings()` or `rewards_duels()`.",
                   argument = "ids")
  }
  ids <- check_numbers(ids, "ids")
  most <- if (ranks_queries(config)) most_ranked else 2L
  if (length(ids) < 2 || length(ids) > most) {
    stop_argument("ids", describe(ids), if (most > 2) sprintf("the ids of 2 to %d queries, the best first", most)
                                        else "the ids of two queries, the better first (rewards_rankings() takes more)")
  }
  bandit_observe(bandit, ids, constraints = NULL, time = time, noise_var = NULL,
                 prefer = if (most > 2) ids else ids[1], ...)
}

# The queries of a ranking by id, their rewards, and who comes next by id, the first after the last.
check_ranking <- function(bandit, id, reward, prefer) {
  if (is.data.frame(id)) stop_argument("id", describe(id), "ids of queries")
  id <- check_ids(bandit, id)
  count <- length(id)
  if (count < 2 || count > most_ranked) {
    stop_argument("id", describe(id), sprintf("the ids of 2 to %d queries", most_ranked))
  }
  check_one_context(bandit, id)
  if (!is.null(reward)) stop_argument("reward", describe(reward), "left out: `prefer` has ids, the best first")
  prefer <- check_numbers(prefer, "prefer")
  strange <- prefer[!prefer %in% id | duplicated(prefer)]
  if (length(prefer) == 0 || length(strange)) {
    stop_argument("prefer", describe(if (length(strange)) strange[1] else prefer),
                  "ids among `id`, each once, the best first")
  }
  id <- sort(id)
  behind <- count - match(id, prefer)
  list(id = id, reward = ifelse(is.na(behind), 0, behind / (count - 1)), other = as.integer(c(id[-1], id[1])))
}

observe_ranking <- function(bandit, id, reward, prefer, time) {
  told <- check_ranking(bandit, id, reward, prefer)
  id <- told$id
  check_status(bandit, id, c("pending", "failed", "known"), "a pending query")
  known <- status_of(bandit, id) == "known"
  if (all(known) && is_ranking(bandit, told)) {
    if (all(bandit$queries$reward[id] == told$reward)) return(invisible(bandit))
    stop_argument("id", paste(paste(format(id), collapse = ", "), "that are ranked otherwise (`$amend()` changes it)"),
                  "pending queries")
  }
  if (any(known)) {
    stop_argument("id", sprintf("%g, which has been ranked", id[known][1]),
                  "pending queries (`$add()` puts a place into another ranking)")
  }
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  tell(bandit, "reward", id, told$reward, no_columns(length(id)), time, told_beside(length(id), other = told$other))
}

amend_ranking <- function(bandit, id, reward, prefer) {
  told <- check_ranking(bandit, id, reward, prefer)
  id <- told$id
  check_status(bandit, id, "known", "a query that was ranked")
  if (!is_ranking(bandit, told)) stop_argument("id", paste(format(id), collapse = ", "), "all queries of one ranking")
  new <- bandit$queries$reward[id] != told$reward
  if (!any(new)) return(invisible(bandit))
  tell(bandit, "amend", id[new], told$reward[new], beside = told_beside(sum(new), other = told$other[new]))
}

is_ranking <- function(bandit, told) identical(last_beside(bandit, told$id)$other, told$other)

# The least id of each query's ranking.
rankings_of <- function(bandit, ids) {
  all <- seq_len(table_size(bandit$queries))
  known <- all[status_of(bandit, all) == "known"]
  following <- rep(NA_integer_, length(all))
  following[known] <- last_beside(bandit, known)$other
  out <- at <- following[ids]
  # (Once around each of them: the longest has so many.)
  for (step in seq_len(most_ranked)) out <- pmin(out, at <- following[at])
  out
}
