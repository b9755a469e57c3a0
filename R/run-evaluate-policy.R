# Off-policy evaluation from a log. Layer: simulation.

#' Off-policy evaluation: estimate a policy's reward from a log
#'
#' `evaluate_policy()` estimates the mean reward \eqn{v} of a policy from the logged choices of another policy.
#'
#' The log comes from another policy, which must have chosen at
#' random. Row \eqn{i} has a context \eqn{x_i}, an arm \eqn{a_i}, a reward \eqn{r_i}, and a propensity \eqn{p_i}: the
#' probability with which the logging policy chose this arm. Let \eqn{\pi(a\mid x)}{pi(a | x)} be the probability with
#' which the new policy chooses arm \eqn{a} in context \eqn{x}. The importance weights are
#'
#' \deqn{w_i = \pi(a_i\mid x_i)/p_i.}{w_i = pi(a_i | x_i) / p_i.}
#'
#' If few logged choices are those of the new policy, the log has little information, for any number of rows. The result
#' has the effective number of rewards. If it is below 30, there is a warning of class `gpbandits_small_sample`.
#'
#' @section Methods:
#' * `"ips"`, inverse propensity scores:
#'   \deqn{\hat v = \frac1n\sum_i w_i r_i.}{v = mean(w_i r_i).}
#' * `"snips"`, self-normalised. The estimate is always within the range of the rewards:
#'   \deqn{\hat v = \sum_i w_i r_i/\sum_i w_i.}{v = sum(w_i r_i) / sum(w_i).}
#' * `"dm"`, the direct method, predicts the rewards. It needs a correct model, but no correct propensities:
#'   \deqn{\hat v = \frac1n\sum_i\sum_a\pi(a\mid x_i)\hat r(x_i, a).}{v = mean(sum_a pi(a | x_i) rhat(x_i, a)).}
#'
#'   \eqn{\hat r}{rhat} is the prediction of a Gaussian-process regression on the log (at most 1000 rows of it), with
#'   the bandit's kernel. If the bandit averages over several models ([refit_every()]), the moments of the mixture are
#'   used.
#' * `"dr"`, doubly robust, combines both:
#'   \deqn{\hat v = \frac1n\sum_i \left(\sum_a\pi(a\mid x_i)\hat r(x_i, a) + w_i(r_i - \hat r(x_i, a_i))\right).}{v =
#'   mean(sum_a pi(a | x_i) rhat(x_i, a) + w_i (r_i - rhat(x_i, a_i))).}
#'
#'   Here \eqn{\hat r}{rhat} is such a regression on the other half of the log, so that it does not depend on \eqn{r_i}.
#' * `"replay"` is for policies that adapt to rewards. A copy of the bandit goes through the log. If its choice is the
#'   logged one, it observes the reward; otherwise the query is withdrawn. The estimate is the mean over the matches. If
#'   the \eqn{p_i} differ, a match counts with probability \eqn{\min_j p_j/p_i}{min(p) / p_i}.
#'
#' `"ips"` and `"snips"` need only the probabilities of the new policy; `policy` may be a matrix or a function. The
#' other methods need a bandit.
#'
#' In all methods except `"replay"`, \eqn{\pi} is the present policy of the bandit, without further observations. The
#' probabilities of a randomised bandit are the proportions among `draws` choices. Neither the bandit nor R's random
#' generator is changed.
#'
#' @section Intervals: `lower` and `upper` are valid without normal approximations, and lie within `range`. They are
#'   confidence intervals by betting (Waudby-Smith and Ramdas 2024). The article "Contextual bandits" describes the
#'   bets. If an estimate of
#'   `"ips"` is outside the interval, the log contradicts it. The normal interval from `se`, if correct, is narrower,
#'   but does not include `se_draws`. For Thompson sampling with 200 draws \eqn{\pm 1.96}{+/- 1.96} `se` held the truth
#'   for 90 to 92% of 400 logs of 300 rows, and both errors together for 94%.
#'
#'   For `"dm"` the interval is mean \eqn{\pm z}{+/- z} `se`. That `se` adds the model's sd over the points, as if all
#'   its errors had one sign, and the variation over contexts. If `range` is given, the model's means and this interval
#'   are clipped to it. The range of the log is not used.
#' @section Guarantee: `"ips"` and `"dr"` are unbiased if the \eqn{p_i} are correct, and positive wherever \eqn{\pi} is.
#'   `"snips"` is unbiased up to order 1/`effective`. Their intervals then hold with probability `level` for any
#'   \eqn{n}, if contexts are independent and rewards are within `range` (Ville's inequality; adaptive logging policies
#'   are allowed). If `range` is taken from the log, the coverage depends on how close the log's extremes are to the
#'   true ones.
#'
#'   `"replay"` estimates the policy's mean reward over a number of rounds equal to the number of matches, if contexts
#'   are independent. Its interval assumes independent rewards. `"dm"` has no guarantee without the model.
#' @param log a data.frame with columns for the contexts' inputs, `arm` (or the arms' inputs), `reward` and
#'   `propensity`, such as `$history(draws = 200)`; or a randomised bandit, or its [run][run_bandit]. Rows without
#'   reward, and points added by hand, are omitted.
#' @param policy the new policy: a bandit over the log's arms and contexts; or a matrix of probabilities with a row for
#'   each row of `log` and a column for each arm, in their order or with their names; or a function of the log's rows (a
#'   data.frame) that returns such a matrix.
#' @param method the estimator: `"ips"` (default), `"snips"`, `"dm"`, `"dr"` or `"replay"`.
#' @param level the level of the interval, a number in (0, 1). Default 0.95.
#' @param draws number of choices that are drawn from a randomised bandit in each context, and for the propensities of a
#'   `log` that is a bandit or a run: an integer. Default 200.
#' @param range `c(lower, upper)`, the smallest and the largest possible reward. `NULL` (default): those of the log.
#' @param ... must be empty.
#' @return A data.frame of one row:
#'
#' * `method`;
#' * `estimate`: the estimate of \eqn{v}; `NA` for `"snips"` without a match;
#' * `se`: the usual standard error;
#' * `se_draws`: the part of the error that is due to `draws`, as a standard error: 0 for a policy without randomness,
#'   whose probabilities are exact, and `NA` for `"replay"`;
#' * `lower`, `upper`: the interval. It is `NA`, with a warning, if all rewards are equal and `range` is `NULL`;
#' * `n`: number of rows used;
#' * `matched`: number of rows with a positive weight, or of matches that counted;
#' * `effective`: the effective number of rewards, \eqn{(\sum w_i)^2/\sum w_i^2}{sum(w)^2 / sum(w^2)}.
#' @section Errors: A `gpbandits_error` for a domain without arms, missing columns, propensities outside (0, 1], rewards
#'   outside `range`, unknown arms or contexts, and a replay with fewer than two matches.
#' @references Li, Chu, Langford and Wang (2011) <https://arxiv.org/abs/1003.5956>; Dudik, Langford and Li (2011)
#'   <https://arxiv.org/abs/1103.4601>; Swaminathan and Joachims (2015), The self-normalized estimator for
#'   counterfactual learning, NIPS 28. Bets: Waudby-Smith and Ramdas (2024) <https://arxiv.org/abs/2010.09686>;
#'   Karampatziakis, Mineiro and Ramdas (2021) <https://arxiv.org/abs/2102.09540>.
#' @seealso [bandit-history] for the propensities.
#' @concept off-policy evaluation
#' @concept counterfactual evaluation
#' @concept inverse propensity score
#' @concept doubly robust
#' @concept contextual bandit
#' @examples
#' x <- seq(0, 1, length.out = 10)
#' problem <- bandit_problem(x, sin(3 * x), noise = 0.1)
#' set.seed(1)
#' log <- run_bandit(gp_bandit(x, kernel_se(0.3), 0.01, policy_uniform()), problem, 400)
#' b <- gp_ucb(x, kernel_se(0.3), 0.01)
#' evaluate_policy(log, b, "replay")    # a learner from its beginning; the best arm has 0.995
#' @export
evaluate_policy <- function(log, policy, method = c("ips", "snips", "dm", "dr", "replay"), level = 0.95, draws = 200,
                            range = NULL, ...) {
  check_dots_empty(..., allowed = names(formals(evaluate_policy)))
  method <- check_choice(method, c("ips", "snips", "dm", "dr", "replay"))
  level <- check_number(level, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  draws <- check_count(draws, upper = 1e5)
  if (missing(policy)) stop_missing("policy", "a bandit over arms, a matrix of probabilities, or a function")
  if (is.matrix(policy) || is.function(policy)) {
    rows <- rows_under(log, policy, method, draws)
    given <- !is.null(range)
    range <- reward_range(range, rows$reward)
    found <- weighted_rewards(NULL, rows, method, Inf, range, given)
  } else {
    check_evaluated(policy)
    rows <- logged_choices(log, policy, draws)
    given <- !is.null(range)
    range <- reward_range(range, rows$reward)
    copy <- as.environment(bandit_copy(policy))
    found <- preserve_rng({
      set.seed(1)
      if (method == "replay") replayed_rewards(copy, rows, range)
      else weighted_rewards(copy, rows, method, draws, range, given)
    })
  }
  interval <- if (method == "dm") model_interval(found, level, if (given) range)
              else bets_interval(found$bets, found$n, range, level)
  weights <- found$weights
  effective <- if (any(weights > 0)) sum(weights)^2 / sum(weights^2) else 0
  if (method != "dm" && effective < few_rewards) warn_of_few_rewards(effective, length(rows$reward))
  data.frame(method = method, estimate = found$estimate, se = found$se, se_draws = found$se_draws,
             lower = interval[1], upper = interval[2], n = length(rows$reward), matched = sum(weights > 0),
             effective = effective)
}

few_rewards <- 30

check_evaluated <- function(policy) {
  allowed <- "a bandit over arms, made by gp_bandit() or a preset of it, a matrix of probabilities, or a function"
  refuse <- function(given) stop_argument("policy", given, allowed)
  if (!is_bandit(policy)) refuse(describe(policy))
  check_bandit(policy)
  config <- policy$config
  check_one_outcome(config, "Evaluation from a log")
  check_not_scripted(policy, refuse)
  if (!can_count(config$domain)) refuse(paste("a bandit on", describe_domain(config$domain)))
}

warn_of_few_rewards <- function(effective, n) {
  warn_small_sample(sprintf("This estimate rests on %.3g effective rewards of %d: ", effective, n),
                    "few logged choices are those of the policy. The interval takes this into account.")
}

warn_small_sample <- function(...) {
  warn_gpbandits("data", "small_sample", ..., call = user_call())
}

reward_range <- function(range, reward) {
  if (is.null(range)) {
    range <- base::range(reward)
    if (range[1] == range[2]) {
      warn_small_sample("All rewards of the log are ", format(range[1]), ", so the range of possible rewards is ",
                        "unknown. The interval needs `range`.")
    }
    return(range)
  }
  range <- check_numbers(range, "range", lengths = 2)
  outside <- reward[reward < range[1] | reward > range[2]]
  if (range[1] >= range[2] || length(outside)) {
    stop_argument("range", describe(range), sprintf("c(lower, upper), lower < upper, with all rewards in it%s",
                                                    if (length(outside)) sprintf(" (not %g)", outside[1]) else ""))
  }
  as.double(range)
}

# ---- intervals ----------------------------------------------------------------

# Bets against a value v (confidence intervals by betting). Each is a function of v and a sign, and returns the gain of
# a bet with the largest stake in every row. A gain is at least -1, and its mean is 0 if v is the true value. The mean
# is positive if the true value is above v (sign 1) or below it (sign -1).

# Bets from the sum of two means: w (r - lower) has mean v - lower, and w (upper - r) has mean upper - v. No row is
# negative.
weighted_bets <- function(weights, reward, range) {
  function(v, sign) {
    if (sign > 0) weights * (reward - range[1]) / (v - range[1]) - 1
    else weights * (range[2] - reward) / (range[2] - v) - 1
  }
}

# Bets from terms value - weight * v of mean zero, with bounds `least` and `largest`.
zero_mean_bets <- function(value, weight, least, largest) {
  function(v, sign) sign * (value - weight * v) / (if (sign > 0) -least(v) else largest(v))
}

mean_bets <- function(values, lower, upper) zero_mean_bets(values, 1, function(v) lower - v, function(v) upper - v)

# The interval of all v for which bets of neither sign have multiplied their capital by 2 / (1 - level). The capital is
# divided equally among all kinds of bets and several stakes.
bets_interval <- function(bets, n, range, level) {
  if (range[1] >= range[2]) return(c(NA_real_, NA_real_))
  # (The stakes are spaced by about a third on the log scale, which loses very little.)
  shares <- exp(seq(-log(max(4, n)) / 2, 0, by = 0.35))
  excess <- function(v, sign) {
    capital <- unlist(lapply(bets, function(bet) {
      gain <- pmax(bet(v, sign), -1)
      colSums(log1p(outer(gain, shares)))
    }))
    top <- max(capital)
    top + log(mean(exp(capital - top))) - log(2 / (1 - level))
  }
  span <- range[2] - range[1]
  inside <- range + c(1e-9, -1e-9) * span
  # The capital decreases (sign 1) or increases (sign -1) with v.
  end <- function(near, far, sign) {
    if (excess(inside[near], sign) < 0) return(range[near])
    if (excess(inside[far], sign) > 0) return(range[far])
    stats::uniroot(excess, inside, sign, tol = 1e-7 * span)$root
  }
  sort(c(end(1, 2, 1), end(2, 1, -1)))
}

# The normal interval of a model's estimate, limited to the range of the rewards (`range` NULL: not limited).
model_interval <- function(found, level, range) {
  interval <- found$estimate + c(-1, 1) * stats::qnorm((1 + level) / 2) * found$se
  if (is.null(range)) interval else within_range(interval, range)
}

within_range <- function(x, range) pmin(pmax(x, range[1]), range[2])

# ---- the log ------------------------------------------------------------------

# A list: `arm` (0-based), `contexts` in the core's form, `given` (these as numbers), `reward`, `propensity`.
logged_choices <- function(log, bandit, draws) {
  config <- bandit$config
  log <- checked_log(log, config, draws)
  points <- if ("arm" %in% names(log)) find_points(config$domain, NULL, log$arm, "log")
            else find_points(config$domain, as.matrix(log[config$domain$names]), arg = "log")
  context <- if (length(config$context_names)) context_matrix(config, log[config$context_names], "log")
  list(arm = points$arm,
       contexts = contexts_for(as.environment(bandit), if (!is.null(context)) as_codes(context), nrow(log)),
       given = context, reward = as.double(log$reward), propensity = own_columns(log, given_names(config))$propensity)
}

# The same of a log and the probabilities of a policy, which are its part `shares`.
rows_under <- function(log, policy, method, draws) {
  if (!method %in% c("ips", "snips")) {
    stop_argument("method", dQuote(method, FALSE), "\"ips\" or \"snips\" for a matrix or a function",
                  try = "a bandit as `policy`, whose kernel predicts rewards")
  }
  found <- checked_log(log, NULL, draws)
  used <- attr(found, "rows")
  shares <- policy
  if (is.function(policy)) {
    shares <- policy(found)
    used <- seq_len(nrow(found))
  } else if (nrow(policy) != length(attr(found, "all"))) {
    stop_argument("policy", sprintf("one of %d rows", nrow(policy)),
                  sprintf("a matrix with a row for each of the %d rows of `log`", length(attr(found, "all"))))
  }
  whole <- is.matrix(shares) && is_number(shares) && nrow(shares) >= max(used) && !anyNA(shares) && all(shares >= 0) &&
    all(abs(rowSums(shares) - 1) < 1e-6)
  allowed <- "a matrix of probabilities, a row for each row of the log, whose rows have the sum 1"
  if (!whole && is.function(policy)) stop_returned("policy", shares, allowed)
  if (!whole) stop_argument("policy", describe(shares), allowed)
  arm <- if (is.numeric(found$arm)) found$arm else match(as.character(found$arm), colnames(shares))
  if (!all(arm %in% seq_len(ncol(shares)))) {
    stop_argument("policy", paste("one without a column for arm", found$arm[!arm %in% seq_len(ncol(shares))][1]),
                  "a matrix with a column for each arm, in their order or with their names")
  }
  list(arm = arm - 1L, reward = as.double(found$reward), propensity = found$propensity,
       shares = unname(shares)[used, , drop = FALSE])
}

# `config` NULL: of a log with arms only. Attributes: `rows`, those that are used, of `all`.
checked_log <- function(log, config, draws) {
  if (inherits(log, "bandit_run")) log <- check_class(log, "bandit_run")$bandit
  if (is_bandit(log)) log <- log$history(draws = draws)
  if (!is.data.frame(log)) stop_argument("log", describe(log), "a data.frame, a randomised bandit or a run of one")
  check_data_frame(log)
  given <- if (!is.null(config)) given_names(config)
  wanted <- c(if ("arm" %in% names(log) || is.null(config)) "arm" else config$domain$names, config$context_names,
              "reward",
              beside("propensity", given))
  if (!all(wanted %in% names(log))) {
    stop_argument("log", paste("one without", paste0("`", setdiff(wanted, names(log)), "`", collapse = ", ")),
                  paste("a data.frame with the columns", paste0("`", wanted, "`", collapse = ", ")),
                  try = "`$history(draws = 200)` of a randomised bandit, which has propensities")
  }
  action <- own_columns(log, given)[["action"]]
  by_hand <- if (!is.null(action)) action %in% "given" else FALSE
  all <- seq_len(nrow(log))
  used <- which(!is.na(log$reward) & !by_hand)
  log <- log[used, , drop = FALSE]
  if (nrow(log) < 2) {
    stop_data(sprintf("This log has %s; an estimate needs at least two.", amount_of(nrow(log), "observed reward")),
              argument = "log")
  }
  p <- own_columns(log, given)$propensity
  if (!is_number(p) || anyNA(p) || any(p <= 0 | p > 1)) {
    stop_data("This log has a propensity that is NA or outside (0, 1]. Each row needs the probability of its ",
              "choice: `$history(draws = 200)` of a randomised bandit has it.", argument = "log")
  }
  structure(log, rows = used, all = all)
}

# ---- fixed policies -----------------------------------------------------------

# The estimate, its standard error, the weights, and the bets of its interval. The interval does not depend on the
# method of estimation, because it is for the same value. `given`: has the user specified the range?
weighted_rewards <- function(bandit, rows, method, draws, range, given) {
  group <- if (!is.null(rows$shares)) seq_along(rows$arm)
           else if (is.null(rows$given)) rep(1L, length(rows$arm)) else row_numbers(rows$given)
  first <- match(seq_len(max(group)), group)
  policy <- or_else(rows$shares, chosen_shares(bandit, subset_contexts(rows$contexts, first), draws))
  if (is.null(rows$shares) && !is_randomised(bandit$config)) draws <- 1
  weights <- policy[cbind(group, rows$arm + 1L)] / rows$propensity
  largest <- max(apply(policy, 1, max)[group] / rows$propensity)
  found <- switch(method,
    ips = c(mean_of(weights * rows$reward), list(centre = 0, total = length(weights))),
    snips = self_normalised(weights, rows$reward),
    dm = direct_method(bandit, rows, group, first, policy, if (given) range),
    dr = doubly_robust(bandit, rows, group, first, policy, weights, largest, range)
  )
  if (is.null(found$bets)) {
    found$bets <- zero_mean_bets(weights * rows$reward, weights, function(v) largest * (range[1] - v),
                                 function(v) largest * (range[2] - v))
  }
  found$bets <- list(weighted_bets(weights, rows$reward, range), found$bets)
  pull <- or_else(found$pull, sums_by_cell((rows$reward - found$centre) / rows$propensity, group, rows$arm, policy))
  se_draws <- if (found$total > 0) se_of_draws(policy, pull / found$total, draws) else NA_real_
  c(found, list(weights = weights, n = length(weights), se_draws = se_draws))
}

mean_of <- function(values) list(estimate = mean(values), se = stats::sd(values) / sqrt(length(values)))

# (`centre` and `total`: the estimate's derivative by a weight is (reward - centre) / total.)
self_normalised <- function(weights, reward) {
  total <- sum(weights)
  estimate <- if (total > 0) sum(weights * reward) / total else NA_real_
  list(estimate = estimate, se = sqrt(sum(weights^2 * (reward - estimate)^2)) / total, centre = estimate,
       total = total)
}

# The standard error, from the random choices alone, of an estimate that is a constant plus the sum of `pull` times the
# probabilities `policy` (a row per context, a column per arm), which are proportions of `draws` choices.
se_of_draws <- function(policy, pull, draws) {
  sqrt(sum(pmax(rowSums(policy * pull^2) - rowSums(policy * pull)^2, 0)) / draws)
}

# Sums of values by context and arm: a matrix of the form of chosen_shares().
sums_by_cell <- function(values, group, arm, policy) {
  out <- 0 * policy
  sums <- rowsum(values, arm * nrow(policy) + group)
  out[as.integer(rownames(sums))] <- sums
  out
}

# (A model's mean may be outside the range of the rewards; the nearest value in the range is closer to the truth.)
direct_method <- function(bandit, rows, group, first, policy, range) {
  expected <- predicted_rewards(bandit, rows, seq_along(rows$arm), first)
  if (!is.null(range)) expected$mean[] <- within_range(expected$mean, range)
  values <- rowSums(policy * expected$mean)[group]
  # The sum of posterior sds, as if all errors had the same sign, and the sampling error of the contexts.
  model <- mean(rowSums(policy * expected$sd)[group])
  list(estimate = mean(values), se = sqrt(model^2 + stats::var(values) / length(values)),
       pull = tabulate(group, nrow(policy)) * expected$mean, total = length(values))
}

# The rewards of each half are predicted from the other half.
doubly_robust <- function(bandit, rows, group, first, policy, weights, largest, range) {
  half <- rep_len(1:2, length(rows$arm))
  values <- numeric(length(rows$arm))
  pull <- 0
  for (side in 1:2) {
    here <- half == side
    expected <- predicted_rewards(bandit, rows, which(!here), first, sds = FALSE)$mean
    left <- rows$reward - expected[cbind(group, rows$arm + 1L)]
    values[here] <- (rowSums(policy * expected)[group] + weights * left)[here]
    pull <- pull + tabulate(group[here], nrow(policy)) * expected +
      sums_by_cell((here * left) / rows$propensity, group, rows$arm, policy)
    range <- base::range(range, expected)
  }
  spread <- largest * (range[2] - range[1])
  c(mean_of(values), list(bets = mean_bets(values, range[1] - spread, range[2] + spread), pull = pull,
                          total = length(values)))
}

# Matrices of the same form as chosen_shares(): mean and sd of the reward of every arm in every context. The model uses
# some of the rows and the bandit's hyperparameters. If the bandit averages over several models, so do the predictions.
# Without `sds`, which take most of the time, they are 0 where the means do not depend on them.
predicted_rewards <- function(bandit, rows, learn, first, sds = TRUE) {
  config <- current_config(bandit)
  sds <- sds || !is.null(config$outputs)
  if (length(learn) > 1000) learn <- learn[round(seq(1, length(learn), length.out = 1000))]
  if (!is_scale_known(config)) config$output_map <- fit_outcome_transform(config$outputs, rows$reward[learn])
  reward <- in_model_units(list(value = rows$reward[learn], noise_var = rep(NA_real_, length(learn))), config)$value
  found <- lapply(configs_of_models(config), predicted_by_model, rows, learn, reward, first, sds)
  weight <- model_weights(config)
  over <- function(part) Reduce(`+`, Map(function(one, w) w * part(one), found, weight))
  mean <- over(function(one) one$mean)
  sd <- sqrt(over(function(one) one$sd^2 + (one$mean - mean)^2))
  expected <- data.frame(mean = as.vector(mean), sd = as.vector(sd))
  if (of_form(config, "gaussian")) expected <- in_user_units(expected, config)
  lapply(as.list(expected), function(column) matrix(column, nrow(mean)))
}

# `reward`: the rewards of the rows `learn` in the model's units.
predicted_by_model <- function(config, rows, learn, reward, first, sds) {
  domain <- config$domain
  inputs <- function(arm, at) {
    x <- cbind(arm_points(domain, arm)$inputs, if (!is.null(rows$given)) rows$given[at, , drop = FALSE],
               if (has_matrix(config$kernel)) arm + 1)
    colnames(x) <- c(input_names(config), if (has_matrix(config$kernel)) "arm")
    x
  }
  prior <- rep_len(config$mean, point_count(domain))
  fit <- gp_regression(inputs(rows$arm[learn], learn), reward - prior[rows$arm[learn] + 1L], config$kernel,
                       config$noise_var)
  arms <- seq_len(point_count(domain)) - 1L
  # (Many contexts at a time.)
  found <- lapply(split(first, (seq_along(first) - 1) %/% 100), function(some) {
    at <- inputs(rep(arms, length(some)), rep(some, each = length(arms)))
    if (sds) stats::predict(fit, at) else list(mean = stats::predict(fit, at, se.fit = FALSE), sd = numeric(nrow(at)))
  })
  by_row <- function(part) matrix(unlist(lapply(found, part)), length(first), length(arms), byrow = TRUE)
  list(mean = rep(prior, each = length(first)) + by_row(function(one) one$mean), sd = by_row(function(one) one$sd))
}

# ---- learners -----------------------------------------------------------------

replayed_rewards <- function(bandit, rows, range) {
  accept <- stats::runif(length(rows$arm)) < min(rows$propensity) / rows$propensity
  seen <- logical(length(rows$arm))
  for (i in seq_along(rows$arm)) {
    query <- bandit_suggest(bandit, 1, if (!is.null(rows$given)) as_codes(rows$given[i, , drop = FALSE]), NULL, NULL)
    seen[i] <- accept[i] && query$arm == rows$arm[i] + 1L
    if (seen[i]) bandit_observe(bandit, query$id, rows$reward[i], NULL, NULL, NULL)
    else bandit_withdraw(bandit, query$id, FALSE)
  }
  if (sum(seen) < 2) {
    stop_data(sprintf("The policy's choices in this log: %d. An estimate needs two or more. ", sum(seen)),
              "Use a longer log, or `method = \"dr\"`.", argument = "log")
  }
  reward <- rows$reward[seen]
  c(mean_of(reward), list(weights = as.numeric(seen), n = sum(seen), se_draws = NA_real_,
                          bets = list(mean_bets(reward, range[1], range[2]))))
}
