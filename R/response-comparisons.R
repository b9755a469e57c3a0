# Pairwise comparisons (dueling bandits) as a response type. Layer: model.

#' Which of two?
#'
#' `rewards_duels()` is a rule for `gp_bandit(rewards = )` where nobody can say how good something is, but which of two
#' is better: pictures, recipes, translations. `policy_duel()` asks for the pairs.
#'
#' The first of two wins with probability \eqn{s(f(x_1) - f(x_2))}{s(f(x1) - f(x2))}, \eqn{s} logistic (Bradley and
#' Terry). With `ties` the outcome can be a tie: the first wins with probability
#' \eqn{s(f(x_1) - f(x_2) - \tau)}{s(f(x1) - f(x2) - tau)}, loses with
#' \eqn{s(f(x_2) - f(x_1) - \tau)}{s(f(x2) - f(x1) - tau)}.
#'
#' ```
#' q <- b$suggest(2)                     # two queries
#' b$observe(q$id, prefer = q$id[1])     # the first was better; prefer = NA: a tie
#' ```
#'
#' Any two queries in the same context can be compared, of which one at least is pending. Both then have status
#' `"known"`; history's `reward` is 1 for the one that won, 0 for the other, 1/2 in a tie, and columns `arm.2`, `x1.2`,
#' ... say whom it met. A comparison teaches once. `$amend(q$id, prefer = )` corrects it. Points of one's own:
#' `$add(arm = c(3, 7))` without rewards, then `$observe()`.
#'
#' Comparisons know \eqn{f} up to a constant, which the prior alone fixes. `$posterior(scale = "latent")` has `mean` and
#' `sd` of \eqn{f}, with `lower` and `upper`; `$posterior()` the probability of being preferred to what `$best()`
#' recommends: `mean`, `sd`, and `lower` and `upper` from \eqn{\mu \pm z\sigma}{mu +- z sd} of the difference.
#' Everything else is as in [rewards].
#'
#' `policy_duel(width, rule)` asks in pairs; a pair's first query has no `width` in the history, by which the pair is
#' known.
#' * `"last"`: the first is what was chosen in the pair before, \eqn{x_{t-1}}{x_{t-1}}, the second \eqn{\arg\max_x
#'   \mu(x) - \mu(x_{t-1}) + w\,\sigma(f(x) - f(x_{t-1}))}{argmax mu(x) - mu(x_{t-1}) + w sd(f(x) - f(x_{t-1}))}: the
#'   choice of POP-BO (Xu et al. 2024), from this posterior. Any space.
#' * `"game"`: of the arms that may be the best (none is above them for sure) the first has the largest least lower
#'   bound
#'   \eqn{\min_{x'} \mu(x) - \mu(x') - w\,\sigma(f(x) - f(x'))}{min over x' of mu(x) - mu(x') - w sd(f(x) - f(x'))}, the
#'   second is the \eqn{x'} that attains it: MaxMinLCB (Pasztor et al. 2024). At most 2000 arms.
#' @section Not with these: as [rewards]; pending rules but [pending_ignore()]; Thompson sampling on a box; over arms
#'   the engine `"played"`.
#' @section Guarantee: published: POP-BO's bound of order \eqn{T^{3/4}}{T^(3/4)} (its own convex program in place of
#'   this posterior) and MaxMinLCB's (its own estimate); neither is for this posterior and a width of yours. Derived
#'   here: with [width_glm()] and comparisons without ties its bounds hold, `"last"` has a regret bound
#'   ([regret_bound()]'s `"duel"`; `"game"` has none), and `$certificate()` says how far \eqn{f} at the recommended
#'   place can be below the best: \eqn{\max_x \mu(x) - \mu(\hat x) + w\,\sigma(f(x) - f(\hat x))}{max over x of mu(x) -
#'   mu(xhat) + w sd(f(x) - f(xhat))}.
#' @param ties can a comparison end in a tie?
#' @param approximation `"laplace"` or `"variational"`, see [rewards].
#' @param tau \eqn{\tau}{tau}, where there are ties, a number > 0 in units of \eqn{f}.
#' @param width an object made by one of the [widths]: [width_constant()], [width_function()] or [width_glm()].
#' @param rule `"last"` or `"game"`.
#' @return `rewards_duels()`: an object of class `bandit_rewards`. `policy_duel()`: one of class `bandit_policy`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Xu, Wang, Jones and Sun (2024), Principled preferential Bayesian optimization
#'   <https://arxiv.org/abs/2402.05367>; Pasztor, Kassraie and Krause (2024), Bandits with preference feedback: a
#'   Stackelberg game perspective <https://arxiv.org/abs/2406.16745>; Chu and Ghahramani (2005), Preference learning
#'   with Gaussian processes.
#' @examples
#' x <- seq(0, 1, length.out = 12)
#' b <- gp_bandit(x, kernel_se(0.25, 4), policy = policy_duel(2), rewards = rewards_duels())
#' taste <- function(x) 3 * sin(5 * x)
#' set.seed(1)
#' for (t in 1:10) {
#'   q <- b$suggest(2)
#'   first <- runif(1) < plogis(taste(q$x1[1]) - taste(q$x1[2]))
#'   b$observe(q$id, prefer = q$id[if (first) 1 else 2])
#' }
#' b$best()
#' b$posterior(arm = 1:3) # chances against the best
#' @name duels
NULL

#' @rdname duels
#' @export
rewards_duels <- function(ties = FALSE, tau = 0.5, approximation = c("laplace", "variational")) {
  new_part("bandit_rewards", "duels")
}
