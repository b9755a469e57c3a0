# Rankings as a response type. Layer: model.

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
#' place as often as there are queries; places of your own go by `$add()`) and what does not go with such rewards are as
#' in [rewards_duels()].
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
