# Preferences (pairwise comparisons and rankings) as a response type. Layer: model.

#' Preferences: pairwise comparisons and rankings
#'
#' `rewards_preferences()` is a response type for preferential Bayesian optimisation: observations compare points. A
#' picture, a recipe or a translation needs no numerical rating. `policy_duel()` selects pairs to compare.
#'
#' * `kind = "pairs"`: one of two points is preferred. The first wins with probability
#'   \eqn{s(f(x_1) - f(x_2))}{s(f(x1) - f(x2))}, \eqn{s} the logistic function (Bradley and Terry). With `ties` the
#'   first wins with probability \eqn{s(f(x_1) - f(x_2) - \tau)}{s(f(x1) - f(x2) - tau)} and loses with probability
#'   \eqn{s(f(x_2) - f(x_1) - \tau)}{s(f(x2) - f(x1) - tau)}. The rest is the probability of a tie.
#' * `kind = "rankings"`: 2 to 50 points are ranked, the best first. The first is chosen from all \eqn{K} points with
#'   probability \eqn{e^{f_i} / \sum_j e^{f_j}}{exp(f_i) / sum_j exp(f_j)}, the next from the remaining points, and so
#'   on (Plackett and Luce). A ranking of two is a comparison. A ranking has less information than \eqn{K(K-1)/2}
#'   independent comparisons.
#'
#' ```
#' q <- b$suggest(2)                          # two queries
#' b$observe(q$id, prefer = q$id[1])          # the first was better; prefer = NA: a tie
#'
#' q <- b$suggest(4)                          # four, with kind = "rankings"
#' b$rank(q$id[c(3, 1, 4, 2)])                # the third is best, the second worst
#' b$observe(q$id, prefer = q$id[3])          # or: the third is best, nothing else is known
#' b$observe(q$id, prefer = q$id[c(3, 1)])    # or: the third is best, then the first
#' ```
#'
#' All queries of a comparison or a ranking are in the same context. Custom points: `$add(arm = c(3, 7))` without
#' rewards, then `$observe()`. `$amend(q$id, prefer = )` corrects an observation.
#' * Pairs: at least one of the two queries is pending, so that a point can be compared with several others. The
#'   history's `reward` is 1 for the winner, 0 for the loser, 1/2 in a tie. Its columns `arm.2`, `x1.2`, ... are the
#'   other point. `$rank(ids)` works too.
#' * Rankings: all queries are pending, because a query is in one ranking. `$add()` the point again to rank it again.
#'   The history's `reward` is the proportion of the other points that are ranked lower: 1 for the best, 0 for the last
#'   and for all points whose order is not known. Its column `ranking` is the smallest id of the ranking. Observing the
#'   same ranking again changes nothing.
#'
#' Then the queries have status `"observed"`.
#'
#' Preferences determine \eqn{f} up to a constant, which the prior fixes. `$posterior(scale = "latent")` has `mean`,
#' `sd`, `lower` and `upper` of \eqn{f}. `$posterior()` has the probability of being preferred to the point that
#' `$best()` recommends: `mean`, `sd`, and `lower` and `upper` from \eqn{\mu \pm z\sigma}{mu +- z sd} of the difference.
#' Everything else is as in [rewards].
#'
#' `policy_duel(width, rule)` selects in pairs. The first query of a pair has no `width` in the history.
#' * `"last"`: the first point is the one selected in the pair before, \eqn{x_{t-1}}{x_{t-1}}. The second maximises
#'
#'   \deqn{\mu(x) - \mu(x_{t-1}) + w\,\sigma(f(x) - f(x_{t-1})).}{mu(x) - mu(x_{t-1}) + w sd(f(x) - f(x_{t-1})).}
#'
#'   This is the choice of POP-BO (Xu et al. 2024) with this posterior. It works on any domain.
#' * `"game"`: the first arm has the largest minimum, over opponents \eqn{x'}, of the lower bound
#'   \deqn{\mu(x) - \mu(x') - w\,\sigma(f(x) - f(x')).}{mu(x) - mu(x') - w sd(f(x) - f(x')).}
#'   The second arm is the minimising \eqn{x'}: MaxMinLCB (Pasztor et al. 2024). Only arms that may be the best are
#'   compared. At most 2000 arms.
#'
#' Other policies select points one by one. For a batch to rank use [policy_ts()], whose draws mostly differ. EI and UCB
#' select the same point repeatedly.
#' @section Not supported: What [rewards] lists, pending rules (rules for queries without a reward) except
#'   [pending_ignore()], Thompson sampling on a box, and over arms the engine `"played"`.
#' @section Guarantee: Published bounds are those of POP-BO, of order \eqn{T^{3/4}}{T^(3/4)}, and of MaxMinLCB. Neither
#'   is for this posterior and a user's width. Original result, not peer-reviewed: with [width_glm()] and pairs without
#'   ties its bounds hold, and `"last"` has a regret bound ([regret_bound()]'s `"duel"`; `"game"` has none).
#'   `$certificate()` then bounds the loss at the recommended point by
#'
#'   \deqn{\max_x\ \mu(x) - \mu(\hat x) + w\,\sigma(f(x) - f(\hat x)).}{max over x of mu(x) - mu(xhat) + w sd(f(x) -
#'   f(xhat)).}
#'
#'   No guarantee is known for ties or rankings of more than two; [width_glm()] is an error there.
#' @param kind `"pairs"` (default): comparisons of two queries; `"rankings"`: rankings of 2 to 50 queries.
#' @param ties `TRUE` or `FALSE` (default): can a comparison end in a tie? Pairs only.
#' @param tau \eqn{\tau}{tau}, if there are ties: a number > 0 in units of \eqn{f}; 0.5 by default. It is the initial
#'   value if the bandit refits.
#' @param approximation `"laplace"` (default) or `"variational"`, see [rewards]. Rankings take `"laplace"` only.
#' @param width a confidence width, the multiplier of the posterior standard deviation: a number, [width_constant()],
#'   [width_function()] or [width_glm()]; see [widths].
#' @param rule `"last"` (default) or `"game"`.
#' @return `rewards_preferences()`: an object of class `bandit_rewards`. `policy_duel()`: one of class `bandit_policy`.
#' @references Xu, Wang, Jones and Sun (2024), Principled preferential Bayesian optimization
#'   <https://arxiv.org/abs/2402.05367>; Pasztor, Kassraie and Krause (2024), Bandits with preference feedback: a
#'   Stackelberg game perspective <https://arxiv.org/abs/2406.16745>; Chu and Ghahramani (2005), Preference learning
#'   with Gaussian processes; Plackett (1975), The analysis of permutations, Applied Statistics 24; Luce (1959),
#'   Individual choice behavior.
#' @seealso [rewards] for other response types.
#' @concept dueling bandits
#' @concept preference learning
#' @concept preferential Bayesian optimization
#' @concept pairwise comparisons
#' @examples
#' x <- seq(0, 1, length.out = 12)
#' taste <- function(x) 3 * sin(5 * x)
#' b <- gp_bandit(x, kernel_se(0.25, 4), policy = policy_duel(2), rewards = rewards_preferences())
#' set.seed(1)
#' for (t in 1:10) {
#'   q <- b$suggest(2)
#'   first <- runif(1) < plogis(taste(q$x1[1]) - taste(q$x1[2]))
#'   b$observe(q$id, prefer = q$id[if (first) 1 else 2])
#' }
#' b$best()
#' b$posterior(arm = 1:3) # probability of being preferred to the best
#'
#' r <- gp_bandit(x, kernel_se(0.25, 4), policy = policy_ts(),
#'                rewards = rewards_preferences("rankings"))
#' for (t in 1:5) {
#'   q <- r$suggest(4)
#'   r$rank(q$id[order(-taste(q$x1) + log(rexp(4)))])
#' }
#' r$best()
#' @export
rewards_preferences <- function(kind = c("pairs", "rankings"), ties = FALSE, tau = 0.5,
                                approximation = c("laplace", "variational")) {
  kind <- check_choice(kind, c("pairs", "rankings"))
  if (kind == "rankings") {
    check_pairs_only(check_flag(ties), FALSE, "ties")
    check_pairs_only(check_approximation(approximation), "laplace", "approximation")
  }
  new_part("bandit_rewards", kind)
}

check_pairs_only <- function(value, allowed, arg) {
  if (!identical(value, allowed)) {
    stop_argument(arg, describe(value), sprintf("%s with kind = \"rankings\"", describe(allowed)))
  }
}

most_ranked <- 50L
