#' Which of two?
#'
#' `rewards_duels()` is a rule for `gp_bandit(rewards = )` where nobody can say how good something is, but which of two is better: pictures,
#' recipes, translations. `policy_duel()` asks for the pairs.
#'
#' The first of two wins with probability \eqn{s(f(x_1) - f(x_2))}{s(f(x1) - f(x2))}, \eqn{s} logistic (Bradley and Terry). With `ties` the outcome
#' can be a tie: the first wins with probability \eqn{s(f(x_1) - f(x_2) - \tau)}{s(f(x1) - f(x2) - tau)}, loses with \eqn{s(f(x_2) - f(x_1) - \tau)}{s(f(x2) - f(x1) - tau)}.
#'
#' ```
#' q <- b$suggest(2)                     # two queries
#' b$observe(q$id, prefer = q$id[1])     # the first was better; prefer = NA: a tie
#' ```
#'
#' Any two queries in the same context can be compared, of which one at least is pending. Both then have status `"known"`; history's `reward` is 1 for
#' the one that won, 0 for the other, 1/2 in a tie, and columns `arm.2`, `x1.2`, ... say whom it met. A comparison teaches once.
#' `$amend(q$id, prefer = )` corrects it. Points of one's own: `$add(arm = c(3, 7))` without rewards, then `$observe()`.
#'
#' Comparisons know \eqn{f} up to a constant, which the prior alone fixes. `$posterior(scale = "latent")` has `mean` and `sd` of \eqn{f}, with
#' `lower` and `upper`; `$posterior()` the probability of being preferred to what `$best()` recommends: `mean`, `sd`, and `lower` and `upper` from
#' \eqn{\mu \pm z\sigma}{mu +- z sd} of the difference. Everything else is as in [rewards].
#'
#' `policy_duel(width, rule)` asks in pairs; a pair's first query has no `width` in the history, by which the pair is known.
#' * `"last"`: the first is what was chosen in the pair before, \eqn{x_{t-1}}{x_{t-1}}, the second \eqn{\arg\max_x \mu(x) - \mu(x_{t-1}) +
#'   w\,\sigma(f(x) - f(x_{t-1}))}{argmax mu(x) - mu(x_{t-1}) + w sd(f(x) - f(x_{t-1}))}: the choice of POP-BO (Xu et al. 2024), from this posterior. Any space.
#' * `"game"`: of the arms that may be the best (none is above them for sure) the first has the largest least lower bound
#'   \eqn{\min_{x'} \mu(x) - \mu(x') - w\,\sigma(f(x) - f(x'))}{min over x' of mu(x) - mu(x') - w sd(f(x) - f(x'))}, the second is the \eqn{x'} that attains it:
#'   MaxMinLCB (Pasztor et al. 2024). At most 2000 arms.
#' @section Not with these: as [rewards]; pending rules but [pending_ignore()]; Thompson sampling on a box; over arms the engine `"played"`.
#' @section Guarantee: published: POP-BO's bound of order \eqn{T^{3/4}}{T^(3/4)} (its own convex program in place of this posterior) and MaxMinLCB's
#'   (its own estimate); neither is for this posterior and a width of yours. Derived here: with [width_glm()] and comparisons without ties its bounds hold, `"last"` has a regret bound
#'   ([regret_bound()]'s `"duel"`; `"game"` has none), and `$certificate()` says how far \eqn{f} at the recommended place can be below the best:
#'   \eqn{\max_x \mu(x) - \mu(\hat x) + w\,\sigma(f(x) - f(\hat x))}{max over x of mu(x) - mu(xhat) + w sd(f(x) - f(xhat))}.
#' @param ties can a comparison end in a tie?
#' @param approximation `"laplace"` or `"variational"`, see [rewards].
#' @param tau \eqn{\tau}{tau}, where there are ties, a number > 0 in units of \eqn{f}.
#' @param width an object made by one of the [widths]: [width_constant()], [width_function()] or [width_glm()].
#' @param rule `"last"` or `"game"`.
#' @return `rewards_duels()`: an object of class `bandit_rewards`. `policy_duel()`: one of class `bandit_policy`.
#' @section Errors: a `gpbandits_error` that names the argument.
#' @references Xu, Wang, Jones and Sun (2024), Principled preferential Bayesian optimization <https://arxiv.org/abs/2402.05367>; Pasztor, Kassraie and Krause (2024), Bandits with
#'   preference feedback: a Stackelberg game perspective <https://arxiv.org/abs/2406.16745>; Chu and Ghahramani (2005), Preference learning with Gaussian processes.
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

#' @rdname duels
#' @export
policy_duel <- function(width, rule = c("last", "game")) new_policy("duel")

# ---- in a bandit ----------------------------------------------------------------

# Pairs are asked for and told as such.
check_duels <- function(config, refuse) {
  compares <- has_likelihood(config) && trait(config$rewards, "compares")
  if (trait(config$policy, "pairs") && !compares) {
    stop_argument("policy", "policy_duel() without rewards_duels()",
                  "another policy, or `rewards = rewards_duels()` (or rankings)")
  }
  if (!compares) return(invisible())
  if (trait(config$pending, "noticed")) refuse("pending", describe_pending(config$pending), "pending_ignore()")
  if (config$engine == "played") refuse("engine", "\"played\"", "\"auto\" or \"weights\"")
  if (trait(config$policy, "draws") && !can_count(config$domain)) {
    refuse("policy", paste(trait(config$policy, "title"), "on", describe_domain(config$domain)), "policy_duel()")
  }
  if (trait(config$policy, "of_arms") && !can_count(config$domain)) {
    refuse("policy", paste("policy_duel(rule = \"game\") on", describe_domain(config$domain)), "rule = \"last\"")
  }
}

# The two queries of a comparison and what came of it: 1, the first won, 0, or 1/2.
check_comparison <- function(bandit, id, reward, prefer) {
  if (is.data.frame(id)) stop_argument("id", describe(id), "the ids of two queries")
  id <- check_ids(bandit, id)
  if (length(id) != 2) stop_argument("id", describe(id), "the ids of two queries")
  check_one_context(bandit, id)
  ties <- bandit$config$rewards$ties
  if (!is.null(prefer)) {
    if (!is.null(reward)) stop_argument("prefer", "given besides `reward`", "given alone")
    known <- length(prefer) == 1 && (is_number(prefer) && prefer %in% id || is.atomic(prefer) && is.na(prefer))
    if (!known) {
      stop_argument("prefer", describe(prefer),
                    paste0("one of the two ids ", id[1], " and ", id[2], if (ties) " (NA for a tie)"))
    }
    reward <- if (is.na(prefer)) 0.5 else as.double(prefer == id[1])
    if (!ties && reward == 0.5) stop_argument("prefer", "NA",
                                              "one of the two ids (rewards_duels(ties = TRUE) has ties)")
  }
  if (is.logical(reward)) reward <- as.double(reward)
  reward <- check_numbers(reward, if (is.null(reward)) "prefer" else "reward")
  allowed <- if (ties) c(0, 0.5, 1) else c(0, 1)
  if (!length(reward) %in% 1:2 || !all(reward %in% allowed) || (length(reward) == 2 && sum(reward) != 1)) {
    stop_argument("reward", describe(reward), paste("1 where the first is preferred, 0 where the second is",
                                                    if (ties) "or 0.5 in a tie"))
  }
  list(id = id, reward = c(reward[1], 1 - reward[1]), other = as.integer(rev(id)))
}

check_one_context <- function(bandit, id) {
  row <- bandit$queries$context[id]
  values <- logged_places(bandit, id)$contexts
  same <- all(row == row[1]) && (is.null(values) || all(t(values) == values[1, ]))
  if (!same) stop_argument("id", paste(format(id), collapse = ", "), "queries in the same context")
}

observe_duel <- function(bandit, id, reward, prefer, time) {
  told <- check_comparison(bandit, id, reward, prefer)
  id <- told$id
  check_status(bandit, id, c("pending", "failed", "known"), "a pending query")
  open <- status_of(bandit, id) != "known"
  if (!any(open)) {
    met <- last_beside(bandit, id)$other
    if (identical(met, told$other) && all(bandit$queries$reward[id] == told$reward)) return(invisible(bandit))
    stop_argument("id", paste(format(id), collapse = " and "),
                  "two queries of which at least one is pending (`$amend()` corrects a comparison)")
  }
  time <- clock_times(bandit, time, length(id), query_times(bandit, id), "the time of the query")
  tell(bandit, "reward", id[open], told$reward[open], no_columns(sum(open)), time[open],
       told_beside(sum(open), size = 1, other = told$other[open]))
}

# (One of the two may have met others since, or before: its own reward is of that.)
amend_duel <- function(bandit, id, reward, prefer) {
  told <- check_comparison(bandit, id, reward, prefer)
  id <- told$id
  check_status(bandit, id, "known", "a query that was compared")
  own <- last_beside(bandit, id)$other == told$other
  if (!any(own)) stop_argument("id", paste(format(id), collapse = " and "),
                               "two queries that were compared with each other")
  new <- own & bandit$queries$reward[id] != told$reward
  if (!any(new)) return(invisible(bandit))
  tell(bandit, "amend", id[new], told$reward[new], beside = told_beside(sum(new), size = 1, other = told$other[new]))
}

# ---- what comparisons say -------------------------------------------------------

# Chances of being preferred to what is recommended.
chances_against_best <- function(bandit, places, context, level) {
  config <- bandit$config
  contexts <- contexts_for(bandit, context, 1L)
  best <- core(cpp_bandit_best(bandit$handle, contexts, NA_real_))
  from <- list(arm = best$arm, context = contexts$row, inputs = best$inputs)
  points <- if (is_tabulated_space(config)) matrix(0, 0, 0)
            else kernel_points(config$domain, places, contexts$values[rep(1, place_total(places)), , drop = FALSE])
  found <- core(cpp_bandit_differences(bandit$handle, from, contexts, points))
  frame <- data.frame(mean = found$mean, sd = found$sd)
  if (is_tabulated_space(config)) {
    if (anyNA(places$arm)) stop_argument("x", "a point that is no arm", "arms only: comparisons say nothing of others")
    frame <- frame[places$arm + 1L, , drop = FALSE]
    rownames(frame) <- NULL
  }
  on_response(frame, trait(current_config(bandit)$rewards, "response"), level)
}

# Whom each of some queries met; NA where it has met nobody.
opponent_ids <- function(bandit, ids) {
  met <- rep(NA_integer_, length(ids))
  known <- status_of(bandit, ids) == "known"
  if (any(known)) met[known] <- last_beside(bandit, ids[known])$other
  met
}

# Columns of them.
opponents <- function(bandit, ids) {
  met <- opponent_ids(bandit, ids)
  some <- ifelse(is.na(met), 1L, met)
  columns <- query_frame(bandit, some)
  columns <- columns[setdiff(names(columns), c("id", bandit$config$context_names))]
  columns[is.na(met), ] <- NA
  stats::setNames(as.list(columns), paste0(names(columns), ".2"))
}

certify_duel <- function(rule, bandit, context) {
  contexts <- contexts_for(bandit, context, 1L)
  width <- bandit$config$policy$width
  w <- stop_width(bandit, rule$width)
  best <- core(cpp_bandit_best(bandit$handle, contexts, NA_real_))
  from <- list(arm = best$arm, context = contexts$row, inputs = best$inputs)
  gap <- max(0, core(cpp_bandit_advantage(bandit$handle, from, contexts, w))$value)
  claim <- width_claim(width, bandit)
  if (!can_count(bandit$config$domain) && !is.na(claim$probability)) {
    claim$assumptions <- c(claim$assumptions, "the search has found the largest upper bound")
  }
  new_certificate(gap, claim$probability, claim$assumptions, gap <= rule$tolerance,
                  place_frame(bandit, best$arm, contexts$row, best$inputs), width = w)
}

# That of rewards with a likelihood, see GlmWidth in the core.
claim_glm <- function(width, bandit) {
  proved(width, bandit, sprintf("the RKHS norm of f (minus the prior mean) is at most %g", width$B),
         sprintf("rewards are %s, independent of each other given f and what was asked",
                 trait(bandit$config$rewards, "title")))
}

check_glm_width <- function(config) {
  width <- config$policy$width
  if (is.null(width) || !trait(width, "curved")) return(invisible())
  refuse <- function(given, allowed) stop_argument("width", paste("width_glm()", given), allowed)
  if (!has_likelihood(config) || !trait(config$rewards, "has_norm_bound")) {
    refuse(paste("with rewards that are",
                 if (is.null(config$rewards)) "readings with Gaussian noise" else trait(config$rewards, "title")),
           "with rewards_binary(), rewards_counts() or rewards_duels() without ties; width_amm() is for readings")
  }
  if (is_variational(config$rewards)) {
    refuse("with approximation = \"variational\"", "with \"laplace\": its proof is about the mode")
  }
  if (!trait(config$policy, "curved")) {
    refuse(paste("for", trait(config$policy, "title")), "for policy_ucb() or policy_duel()")
  }
  if (trait(config$pending, "variance_knows")) {
    refuse("with pending_hallucinate()", "with pending_ignore(): what is pending proves nothing")
  }
}
