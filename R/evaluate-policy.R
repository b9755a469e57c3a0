#' What would another policy have earned? A logged run says
#'
#' Estimates the mean reward of a bandit's policy from choices that another, randomised policy made and logged: contexts \eqn{x_i}, arms
#' \eqn{a_i}, rewards \eqn{r_i} and the probabilities \eqn{p_i} with which the arms were chosen.
#'
#' * `"ips"` (inverse propensity scores): \eqn{\frac1n\sum_i w_i r_i}{mean(w_i r_i)}, \eqn{w_i = \pi(a_i\mid x_i)/p_i}{w_i = pi(a_i | x_i) / p_i}.
#' * `"dr"` (doubly robust): \eqn{\frac1n\sum_i \big(\sum_a\pi(a\mid x_i)\hat r(x_i, a) + w_i(r_i - \hat r(x_i, a_i))\big)}{mean(sum_a pi(a | x_i) rhat(x_i, a) + w_i (r_i - rhat(x_i, a_i)))}.
#'   \eqn{\hat r}{rhat} is a Gaussian-process regression with the bandit's kernel on the other half of the log (at most 1000 rows), so that it
#'   has not seen \eqn{r_i}.
#' * `"replay"`: a copy of the bandit learns as it goes through the log. Where its choice is the logged one it sees the reward, else the
#'   query is withdrawn; the mean over the matches. Where the \eqn{p_i} differ, a match counts with probability \eqn{\min_j p_j/p_i}{min(p) / p_i}.
#'
#' In `"ips"` and `"dr"` \eqn{\pi} is what the bandit would choose now, in each context, and it learns nothing; a randomised bandit's
#' probabilities are the shares of `draws` choices. The bandit is not changed, nor is R's random generator.
#' @section Guarantee: `"ips"` and `"dr"` are unbiased if the \eqn{p_i} are right, and positive wherever \eqn{\pi} is. `"replay"` is what the
#'   policy would have earned in as many rounds as there were matches, if contexts are independent. The intervals are normal
#'   approximations from the variance of the terms: poor where few weights make the sum (`effective` is small).
#' @param log a data.frame with a column per input of the contexts, `arm` (or a column per input of the arms), `reward` and
#'   `propensity`: such as `$history()` of a randomised bandit; or such a bandit, or a [run][run_bandit] of one. Rows without a reward are
#'   left out, as are points that were given by hand.
#' @param bandit a bandit over the log's arms and contexts.
#' @param method `"ips"`, `"dr"` or `"replay"`.
#' @param level the interval's level, in (0, 1).
#' @param draws how many choices of a randomised bandit are drawn in each context.
#' @param ... must be empty.
#' @return A data.frame of one row: `method`, `estimate`, `se`, `lower`, `upper`, `n` (rows used), `matched` (rows with a weight above 0;
#'   matches that counted) and `effective`, \eqn{(\sum w_i)^2/\sum w_i^2}{sum(w)^2 / sum(w^2)}.
#' @section Errors: a `gpbandits_error` for a domain without arms, columns that are missing, propensities outside (0, 1], arms or contexts
#'   that the bandit does not have, and a replay without two matches.
#' @references Li, Chu, Langford and Wang (2011) <https://arxiv.org/abs/1003.5956>; Dudik, Langford and Li (2011) <https://arxiv.org/abs/1103.4601>.
#' @seealso `$history()` in [gp_bandit()] for the propensities.
#' @examples
#' x <- seq(0, 1, length.out = 10)
#' problem <- bandit_problem(x, sin(3 * x), noise = noise_gaussian(0.1))
#' set.seed(1)
#' log <- run_bandit(gp_bandit(x, kernel_se(0.3), 0.01, policy_uniform()), problem, 200)
#' b <- gp_ucb(x, kernel_se(0.3), 0.01)
#' evaluate_policy(log, b, "replay")    # a learner from its beginning; the best arm has 0.995
#' @export
evaluate_policy <- function(log, bandit, method = c("ips", "dr", "replay"), level = 0.95, draws = 200, ...) {
  check_dots_empty(..., allowed = names(formals(evaluate_policy)))
  check_bandit(bandit)
  method <- check_choice(method, c("ips", "dr", "replay"))
  level <- check_number(level, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  draws <- check_count(draws, upper = 1e5)
  config <- bandit$config
  if (!can_count(config$domain) || has_rule(bandit)) {
    stop_argument("bandit",
                  if (has_rule(bandit)) rule_of(bandit)$title else paste("a bandit on", describe_domain(config$domain)),
                  "a bandit over arms, made by gp_bandit() or a preset of it")
  }
  rows <- logged_choices(log, bandit)
  copy <- as.environment(bandit_copy(bandit))
  found <- preserve_rng({
    set.seed(1)
    if (method == "replay") replayed_rewards(copy, rows) else weighted_rewards(copy, rows, method, draws)
  })
  estimate_with_interval(found, method, level, length(rows$reward))
}

estimate_with_interval <- function(found, method, level, n) {
  values <- found$values
  se <- stats::sd(values) / sqrt(length(values))
  half <- stats::qnorm((1 + level) / 2) * se
  weights <- found$weights
  data.frame(method = method, estimate = mean(values), se = se, lower = mean(values) - half,
             upper = mean(values) + half,
             n = n, matched = sum(weights > 0),
             effective = if (any(weights > 0)) sum(weights)^2 / sum(weights^2) else 0)
}

# ---- the log ------------------------------------------------------------------

# A list: `arm` (0-based), `contexts` as the core takes them, `given` as the user does, `reward`, `propensity`.
logged_choices <- function(log, bandit) {
  config <- bandit$config
  log <- checked_log(log, config)
  places <- if ("arm" %in% names(log)) find_places(config$domain, NULL, log$arm, "log")
            else find_places(config$domain, as.matrix(log[config$domain$names]), arg = "log")
  context <- if (length(config$context_names)) as.matrix(log[config$context_names])
  list(arm = places$arm, contexts = contexts_for(as.environment(bandit), context, nrow(log)),
       given = context, reward = as.double(log$reward), propensity = log$propensity)
}

checked_log <- function(log, config) {
  if (inherits(log, "bandit_run")) log <- log$bandit
  if (is_bandit(log)) log <- log$history()
  if (!is.data.frame(log)) stop_argument("log", describe(log), "a data.frame, a randomised bandit or a run of one")
  wanted <- c(if ("arm" %in% names(log)) "arm" else config$domain$names, config$context_names, "reward", "propensity")
  if (!all(wanted %in% names(log))) {
    stop_argument("log", paste("one without", paste0("`", setdiff(wanted, names(log)), "`", collapse = ", ")),
                  paste("a data.frame with the columns", paste0("`", wanted, "`", collapse = ", ")))
  }
  by_hand <- if ("action" %in% names(log)) log$action %in% "given" else FALSE
  log <- log[!is.na(log$reward) & !by_hand, , drop = FALSE]
  if (nrow(log) < 2) stop_argument("log", sprintf("one with %d known reward(s)", nrow(log)), "a log with at least two")
  p <- log$propensity
  if (!is.numeric(p) || anyNA(p) || any(p <= 0 | p > 1)) {
    stop_argument("log", "one with a propensity that is NA or outside (0, 1]",
                  "a log with the probability of each choice")
  }
  log
}

# ---- fixed policies -----------------------------------------------------------

weighted_rewards <- function(bandit, rows, method, draws) {
  group <- if (is.null(rows$given)) rep(1L, length(rows$arm)) else same_rows(rows$given)
  first <- match(seq_len(max(group)), group)
  policy <- chosen_shares(bandit, subset_contexts(rows$contexts, first), draws)
  weights <- policy[cbind(group, rows$arm + 1L)] / rows$propensity
  values <- if (method == "dr") doubly_robust(bandit, rows, group, first, policy, weights) else weights * rows$reward
  list(values = values, weights = weights)
}

# Numbers of the distinct rows, in the order of their first appearance.
same_rows <- function(x) {
  key <- do.call(paste, c(lapply(seq_len(ncol(x)), function(j) sprintf("%a", as.double(x[, j]))), sep = "|"))
  match(key, unique(key))
}

# Row: a context, column: an arm; how often it would be chosen.
chosen_shares <- function(bandit, contexts, draws) {
  heal(bandit)
  n <- place_count(bandit$config$domain)
  if (!is_randomised(bandit$config)) draws <- 1
  t(vapply(seq_along(contexts$row), function(k) {
    arms <- core(cpp_bandit_proposals(bandit$handle, subset_contexts(contexts, k), draws))
    tabulate(arms + 1L, n) / draws
  }, numeric(n)))
}

# Each half's rewards are foretold from the other half.
doubly_robust <- function(bandit, rows, group, first, policy, weights) {
  half <- rep_len(1:2, length(rows$arm))
  values <- numeric(length(rows$arm))
  for (side in 1:2) {
    here <- half == side
    expected <- foretold_rewards(bandit, rows, which(!here), first)
    own <- expected[cbind(group, rows$arm + 1L)]
    values[here] <- (rowSums(policy * expected)[group] + weights * (rows$reward - own))[here]
  }
  values
}

# A matrix like chosen_shares(): the reward of every arm in every context, learnt from some rows.
foretold_rewards <- function(bandit, rows, learn, first) {
  config <- current_config(bandit)
  domain <- config$domain
  if (length(learn) > 1000) learn <- learn[round(seq(1, length(learn), length.out = 1000))]
  inputs <- function(arm, at) {
    x <- cbind(arm_places(domain, arm)$inputs, if (!is.null(rows$given)) rows$given[at, , drop = FALSE],
               if (has_matrix(config$kernel)) arm + 1)
    colnames(x) <- c(input_names(config), if (has_matrix(config$kernel)) "arm")
    x
  }
  prior <- rep_len(config$mean, place_count(domain))
  fit <- gp_regression(inputs(rows$arm[learn], learn), rows$reward[learn] - prior[rows$arm[learn] + 1L], config$kernel,
                       config$noise_var)
  arms <- seq_len(place_count(domain)) - 1L
  t(vapply(first, function(k) prior + stats::predict(fit, inputs(arms, rep(k, length(arms))), se.fit = FALSE),
           numeric(length(arms))))
}

# ---- learners -----------------------------------------------------------------

replayed_rewards <- function(bandit, rows) {
  accept <- stats::runif(length(rows$arm)) < min(rows$propensity) / rows$propensity
  seen <- logical(length(rows$arm))
  for (i in seq_along(rows$arm)) {
    query <- bandit_suggest(bandit, 1, if (!is.null(rows$given)) rows$given[i, , drop = FALSE], NULL, NULL)
    seen[i] <- accept[i] && query$arm == rows$arm[i] + 1L
    if (seen[i]) bandit_observe(bandit, query$id, rows$reward[i], NULL, NULL, NULL)
    else bandit_withdraw(bandit, query$id, FALSE)
  }
  if (sum(seen) < 2) {
    stop_argument("log", sprintf("one with %d match(es)", sum(seen)),
                  "a log in which the policy meets at least two of its choices")
  }
  list(values = rows$reward[seen], weights = as.numeric(seen))
}
