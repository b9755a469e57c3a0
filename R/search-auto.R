# `auto_bandit()`. Layer: interface.

#' Bayesian optimisation of experiments by hand (ask and tell)
#'
#' `auto_bandit()` creates a Bayesian optimiser that suggests experiments and uses the results that you report.
#'
#' It is for experiments whose results come hours or days later. The object is a [gp_bandit()] with the defaults of
#' [maximize_bandit()]. Rewards are scaled robustly and, if it improves the model's likelihood, transformed by a
#' power or a logarithm ([scale_outputs()]). The Gaussian process has a Matern 5/2 kernel with a lengthscale per input,
#' priors, and refits of its hyperparameters. Arguments and results are in the reward's own units and sign.
#'
#' The usual cycle is:
#'
#' * `$suggest()` returns the next experiment, with an `id`. `$suggest(4)` returns a batch of four.
#' * `$observe(id, reward)` reports its result. `$fail(id)` reports an experiment without a result.
#' * `$best()` returns the recommended point.
#'
#' The first suggestions are points of a space-filling design (action `"explore"` in the history), drawn when the bandit
#' is created. Each row of `data` replaces one. Then the policy (acquisition function) selects the points.
#'
#' @section When not to use it:
#' * If all settings can be tried in one batch, try them all.
#' * If the effect of each input must be estimated and tested: a factorial or response surface design.
#' * If you need a proven bound on the regret: see [guarantees].
#' * Without structure that a model could use, a random order is as good. It was better in 2 of 17 tables of published
#'   experiments (article
#'   [Real experiments](https://a-seed-a2ba8241.example/gpbandits/articles/real-experiments.html)).
#'
#' @inheritParams maximize_bandit
#' @param data earlier experiments, a data.frame (such as a spreadsheet) with a column per input (and context) and
#'   `reward`, in the order of their ids. Further columns are kept. `NULL`, the default: none. See
#'   [earlier-experiments].
#' @param ... further arguments of [gp_bandit()].
#' @param n_initial number of points of the initial design, an integer >= 0; each row of `data` replaces one. `NULL`:
#'   3 in a space of arms, levels, integers or steps only, or as many as the first batch has, otherwise
#'   `max(4, 5 * inputs)`, or `2 * inputs` from 15 inputs on. With `transfer` 3, and more if earlier campaigns explain
#'   little.
#' @param initial_design points to be suggested first, in the form of `domain`'s inputs, instead of a drawn design.
#'   `NULL`, the default: `n_initial` points are drawn.
#' @param prior_optimum a prior over the location of the optimum: [prior_normal()], or a function that returns log
#'   densities of points. `NULL`, the default: none.
#' @param failures `"doubt"`, `"avoid"` or `"forget"`: how the model uses failed experiments, see [bandit-queries]. With
#'   `"doubt"` a failure counts as the worst reward so far, with a large noise variance. Its `reward` in the history
#'   stays `NA`. `NULL`, the default: `"doubt"`, with `rewards` `"forget"`.
#' @param contexts names, ranges or levels of variables that are given with each request and not chosen, such as
#'   `list(group = c("new", "old"), age = c(18, 80))`. `NULL`, the default: none. See *Contexts*.
#' @param control [search_control()], of which `pending` and `trust` have an effect. By default pending points
#'   reduce the variance (hallucination), and functions cannot be written to a journal.
#' @param journal,store as in [gp_bandit()]; `NULL`, the default: none.
#' @param reward the name of the outcome, such as `"Yield (%)"`: its column in `data` and in results, and its name on
#'   plots and pages. `NULL`, the default: `"reward"`.
#' @param goal a formula that is optimised, such as `~ price * buys`, see [goals]. `NULL`, the default: none.
#' @param outcomes,limits objectives and outcome constraints, as in [maximize_bandit()]. `data` has a column for each
#'   outcome instead of `reward`; with `limits`, in addition to it. `NULL`, the default: a single reward.
#' @param rewards [rewards_binary()] for yes or no, [rewards_counts()], or [rewards_ordinal()]; a string such as
#'   `"binary"` is the same. `NULL`, the default: measurements. See [ask-and-tell-details].
#' @return A [GPBandit], with methods such as `$suggest()` and `$observe()`.
#' @section Contexts:
#' `contexts` takes the short forms of `domain`: ranges, levels, `param_*()`, a list of these, a [search_space()]
#' (without `when`, `where` and shares), or a data.frame of the contexts that can occur. Contexts are given as
#' `$suggest(context = list(group = "new", age = 30))`, or as a data.frame with a row for each query. Levels without
#' order have a kernel of levels ([kernel_categorical()]): results of one group count for others as far as they are
#' alike.
#'
#' Numbers may lie outside their range. Lengthscales of contexts start at the ranges, else at those in `data`, else at
#' the number 1. With names only, use units in which contexts differ by about 1.
#' @section Before the first refit:
#' Hyperparameters are estimated before a query (see [refit_every()]), and not before the initial design was suggested.
#' Until then `$best()`, `$posterior()` and results based on them use a temporary fit, if there are enough rewards (5 by
#' default). With fewer rewards they use the initial hyperparameters and are not informative. Results with one reward or
#' none are described in [scale_outputs()].
#' @section Guarantee: None with fitted hyperparameters.
#' @seealso [ask-and-tell-details] for repeated points and types of results; [maximize_bandit()] if the computer
#'   evaluates the points, with the source of the method; [policies] for the formula of expected improvement;
#'   [recommended-point] for the rule of `$best()`; [calibration] for the meaning of its numbers.
#' @concept optimal design
#' @concept response surface
#' @concept yield
#' @concept Bayesian optimization
#' @concept ask and tell
#' @concept design of experiments
#' @concept active learning
#' @examples
#' set.seed(1)
#' known <- data.frame(temp = c(50, 70, 90), acid = c(1, 3, 2), reward = c(61, 78, 70))   # yields
#' b <- auto_bandit(list(temp = c(40, 100), acid = c(0, 5)), known)
#' four <- b$suggest(4)
#' four
#' b$observe(data.frame(id = four$id, reward = c(75, 64, 81, 58)))
#' b$best()
#'
#' # Visitors who buy, at prices from 5 to 20, in two groups:
#' shop <- auto_bandit(list(price = c(5, 20)), rewards = rewards_binary(),
#'                     contexts = list(group = c("new", "old")))
#' q <- shop$suggest(context = list(group = "new"))
#' q
#' shop$observe(q$id, 3, size = 40)
#' @export
auto_bandit <- function(domain, data = NULL, direction = c("maximize", "minimize"), ..., n_initial = NULL,
                        initial_design = NULL, model = gp_model(), policy = default_policy(outcomes),
                        failures = NULL, contexts = NULL, outcomes = NULL, limits = NULL, rewards = NULL,
                        prior_optimum = NULL, transfer = NULL, control = search_control(), journal = NULL,
                        store = NULL, reward = NULL, goal = NULL) {
  check_not_moved(...names())
  domain <- as_domain(domain)
  control <- check_control(control, c("pending", "trust"), "auto_bandit()")
  given <- check_contexts(contexts, domain)
  if (!missing(direction) && is.null(goal)) check_single_direction(outcomes)
  reward <- check_reward_name(reward, domain, given$names, or_else(outcomes, goal))
  rewards <- check_searched_rewards(rewards, list(outcomes = or_else(outcomes, goal), transfer = transfer))
  parts <- outcomes_of_search(outcomes, limits, direction, reward, goal, c(domain$names, given$names), rewards)
  outcomes <- parts$outcomes
  known <- check_experiments(data, domain, unknown = TRUE, contexts = given, outcomes = outcomes, reward = reward,
                             rewards = parts$rewards)
  prior <- prepared_prior_optimum(prior_optimum, domain)
  check_prior_optimum_alone(prior_optimum, outcomes)
  if (!is.null(prior)) policy <- with_prior_optimum(policy, prior, 10)
  campaigns <- check_transfer(transfer, domain, given, or_else(reward, "reward"))
  check_transfer_alone(transfer, list(limits = limits, outcomes = outcomes))
  rows <- length(known$failed) - sum(known$outside)
  first <- given_design(initial_design, n_initial, domain)
  certain <- max(0, if (is.null(n_initial)) transfer_design_size - rows else Inf)
  count <- if (is.null(n_initial)) default_design(domain) else check_count(n_initial, lower = 0)
  count <- if (is.null(first)) max(0, count - rows) else 0
  check_alone_with_store(store, list(journal = journal))
  bandit <- scaled_bandit(domain, direction, model, policy, control$pending, ...,
                          failures = failures, contexts = contexts, outcomes = outcomes, rewards = parts$rewards,
                          goal = parts$goal,
                          transfer = !is.null(transfer),
                          context_sides = if (!is.null(contexts)) context_sides(given, known$contexts))
  inside <- as.environment(bandit)
  if (is.null(outcomes)) name_reward(inside, reward)
  check_outside_is_data(inside, known)
  if (!is.null(campaigns)) start_transfer(inside, campaigns)
  # (Rules that play rounds at random count them like points of a design.)
  if (count > 0 && !explores(inside$config)) {
    first <- design_from_prior(domain, count, prior, transfer_first(inside),
                               known = if (is.null(contexts)) inputs_known(domain, known))
  }
  inside$config$design <- first
  by_default <- all(vapply(list(n_initial, initial_design, prior, campaigns, contexts), is.null, NA))
  if (by_default && !is.null(first) && is_discrete(domain)) inside$config$design_grows <- TRUE
  if (!is.null(campaigns)) inside$config$transfer$optional <- as.integer(max(0, count - certain))
  if (!is.null(journal)) start_journal(inside, journal, control$trust)
  if (!is.null(store)) start_store(inside, store)
  add_in_order(bandit, known)
  bandit
}

#' Repeated points and types of results in searches
#'
#' Details of [auto_bandit()] and [maximize_bandit()]: when a point is suggested again, and searches with results that
#' are yes or no, or counts.
#'
#' @section Repeated points:
#' * A point whose reward is pending is not suggested again while the space has other points. If possible, no point is
#'   within 1% of all inputs' ranges of a pending one. Neither holds with [pending_ignore()].
#' * If no input is continuous (arms, levels, integers, steps), a point with an observed reward is not suggested again
#'   while others are left, until two rewards of one point have differed. A failed point counts as observed, except
#'   with `failures = "forget"`. Contexts, rewards with a likelihood, and rules for `changes`, are excepted; so are
#'   [gp_bandit()] and the named algorithms.
#' * With contexts the best arm of a context is suggested each time. Only with `gp_model(noise = "none")` the rule for
#'   arms holds, in each context separately.
#' * Otherwise, points with observed rewards are suggested again only if the noise is not negligible (defined in
#'   [recommended-point]). With `contexts` it never is.
#' * If all points have been used, points are repeated. With `gp_model(noise = "none")` they never are: `$suggest()`
#'   then returns the points that are left, with a message, and is an error if there are none.
#' @section Yes or no, and counts:
#' With `rewards = rewards_binary()`, results are 1 or 0, `TRUE` or `FALSE` (in `data` also "yes" or "no"), or
#' \eqn{k} successes in \eqn{n} trials: `$observe(id, k, size = n)`. For counts, `size` is the exposure. In `data` both
#' are columns, and the objective of [maximize_bandit()] may return `c(reward = k, size = n)`.
#'
#' The kernel, its priors and the prior mean are chosen as for measurements, on the scale of the link. Every refit
#' estimates them from at most 400 points, and the rewards since the last one must be a sixth of all. Results are
#' probabilities or expected counts, see [rewards]. A rule for `changes` is possible. Not supported are `transfer`,
#' `race`, `fidelity`, and of [gp_model()] `transform` and `noise = "none"`. With `limits`, `rewards` are those of the
#' objective. With `outcomes`, each one has its own `rewards`, see [outcomes].
#' @seealso [auto_bandit()], [rewards].
#' @concept ask and tell
#' @concept binary outcomes
#' @examples
#' set.seed(1)
#' # Yes or no: trials of one setting may differ, so a setting may be suggested again.
#' b <- auto_bandit(list(dose = c(0, 10)), rewards = rewards_binary())
#' for (k in 1:8) {
#'   q <- b$suggest()
#'   b$observe(q$id, rbinom(1, 1, plogis(q$dose - 5)))
#' }
#' b$best() # `mean` is the probability of a success
#' @name ask-and-tell-details
NULL

#' Continue with earlier experiments, or in another search space
#'
#' Argument `data` of [auto_bandit()] contains experiments that were made before, or elsewhere.
#'
#' @section Columns:
#' `data` may be a spreadsheet, or the `$history()` of another bandit or of a search.
#'
#' * **Inputs and contexts**: one column each. A column of numbers may be text, as long as every cell is a number or
#'   empty. Dates become days since 1970. A cell is empty (`NA` or `""`) only if the input does not exist in that row
#'   (`when`, see [search_space()]).
#' * **The outcome**: `reward`, or the column named by the argument `reward` of [auto_bandit()] and [maximize_bandit()],
#'   such as `reward = "Yield (%)"`. That name is then used in the history, on plots, on the page of a
#'   [bandit_service()] and in messages. With several [outcomes] it is a column for each.
#' * **Status**, optional: `status`, with `"ok"`, `"failed"`, `"pending"` or `"withdrawn"`, or the text of a history.
#' * **Error bars**, optional: `sd` of single results or its square `noise_var`, with `NA` for the estimated noise.
#'   `size` is the number of readings of which the result is the mean. `sd` is then that of one reading.
#'   With several outcomes the columns are `NAME_sd`, `NAME_noise_var` and `NAME_size`.
#' * **Further columns**, such as notes, dates or numbers of runs, are kept. They are columns of `$history()`, also in
#'   journals, stores, JSON and exported tables. One that is called like a column of the history gets the prefix
#'   `data.`.
#'
#' Names may be those that [read.csv()] makes: `Yield....` for `Yield (%)`. Rows without any input and result are left
#' out.
#' @section Status of a row:
#' * If the result is `NA` or empty, the experiment is pending (running). Report its result with `$observe()`.
#' * If the result is `NaN`, the experiment failed.
#' * Rows whose status is `"withdrawn"`, `"failed"`, or begins with `"error"` or `"timed out"` are treated like that,
#'   whatever their result. A message lists them.
#' * From a history, pending and failed experiments keep their status. Withdrawn ones are left out.
#' * With several outcomes, a value that is `NA` or has no column is pending. If you add an outcome later, old rows have
#'   the status `"partial"` until `$observe()` or `$withdraw()` settles the new value. Failed and withdrawn experiments
#'   have no further values.
#' @section Results from outside the space:
#' An experiment that was made is an observation, even if the algorithm could not have chosen it: beyond the bounds of a
#' box or [search_space()], against `where`, or with more mixture components than `most`. The same holds for `$add()`,
#' for settings that `$observe()` reports, and for [transfer]. (In a [gp_bandit()] results beyond the bounds are errors,
#' because its theorems are about the space.) A message lists such rows. They are used by the posterior, by refits and
#' for the scale of the rewards. They do not count for `n_initial`, they are not the incumbent of expected improvement,
#' and `$best()`, `$front()` and `$suggest()` never return them.
#'
#' Mixture components may be rounded, such as 33.3 three times. If their sum is within 0.5% of the total, they are
#' scaled to it, and a message says so. The same holds for other linear equalities, such as `where = ~ 2 * a + b == 1`.
#' @section Changing the space:
#' `auto_bandit(new_space, data = old$history())` continues with other bounds or with an additional input. For an
#' additional input, add a column with the value that it had: `cbind(old$history(), stir = 3)`. Columns of inputs that
#' no longer exist are kept as further columns.
#' @section Errors:
#' Messages name the row, the column and the value. These rows are errors:
#'
#' * Levels that the space does not have, fractions of integers, and numbers <= 0 of a logarithmic input.
#' * Mixture components whose sum differs from the total by more than 0.5%.
#' * Rows that are not among the arms of a finite domain or the rows of a product.
#' * Any row outside the space, if the policy or rewards choose among the points that were evaluated, such as
#'   [policy_duel()].
#' @seealso [auto_bandit()]; [transfer] for experiments of other campaigns.
#' @concept Excel
#' @concept import data
#' @concept missing values
#' @concept warm start
#' @concept pending experiments
#' @concept change bounds
#' @concept spreadsheet
#' @concept CSV file
#' @concept notes
#' @examples
#' set.seed(1)
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("day,temp,Yield (%),operator", "2026-03-01,50,61,Ann", "2026-03-02,70,,Bo"), file)
#' b <- auto_bandit(list(temp = c(40, 100)), read.csv(file), reward = "Yield (%)")
#' b$observe(2, 78, note = "stirred by hand")
#' b$history()[c("id", "temp", "Yield (%)", "status", "day", "operator", "note")]
#' unlink(file)
#'
#' known <- data.frame(temp = c(50, 70, 90), reward = c(61, 78, 70))
#' old <- auto_bandit(list(temp = c(40, 100)), data = known)
#' q <- old$suggest(2)
#' old$observe(q$id[1], 75)
#' # The range of temperatures becomes smaller, and the speed is a new input, 3 until now.
#' new <- auto_bandit(list(temp = c(60, 100), stir = c(1, 5)), cbind(old$history(), stir = 3))
#' new$history()[c("temp", "stir", "reward", "status")]
#' new$suggest()
#' @name earlier-experiments
NULL

#' The recommended point of a Bayesian optimisation
#'
#' `$best()` of a bandit, and `par` of [maximize_bandit()], are a point that was evaluated, unless another one is surely
#' better. This page has the exact rule. Means and rewards are those of maximisation; for minimisation their signs are
#' reversed.
#'
#' @section The rule:
#' * If the noise matters, it is the evaluated point with the largest *worth*. Another point is recommended only if its
#'   mean exceeds this worth by more than two posterior standard deviations.
#' * If the noise is negligible, it is the observed point with the best reward, unless the largest mean exceeds that
#'   reward by more than two posterior standard deviations. For a rough function, an optimum between the points is
#'   often an artefact of the model, and the largest of many means is too optimistic.
#' * With `gp_model(noise = "none")` and without `contexts`, it is always the observed point with the best reward.
#' * Under limits ([outcomes]), it is the evaluated point with the largest worth of the objective among those where the
#'   limits hold with the requested probability. A point that was not evaluated must be surely better, and the limits
#'   must hold there with probability 0.977. If no evaluated point qualifies, it is the point with the largest mean.
#' * If only two values of a limited outcome were observed, such as 0 and 1, and never both at one point, that limit
#'   holds where it was observed to hold. A warning says so, unless the outcome has the likelihood of yes and no
#'   ([outcomes]). Outcomes with declared `rewards`, or with a limit other than 0.5, are random: their limits hold with
#'   the posterior probability.
#' @section Negligible noise:
#' Noise is negligible if its variance, averaged over the fitted models, is at most 0.001. This refers to rewards scaled
#' to a variance of 1. Bandits with `contexts` are always treated as noisy.
#' @section Worth of an evaluated point:
#' A fit treats structure that its models cannot represent, such as narrow ripples, as noise. The worth of an evaluated
#' point therefore accounts for the reward \eqn{y} that was observed there:
#' \deqn{(1-s)\,\mu + s\,y,}{(1 - s) mean + s y,}
#' with the posterior mean \eqn{\mu}{mean}, both in units of the model. \eqn{s} is the weight of the assumption that the
#' fitted noise is structure:
#' * 0 if rewards at one point differ, at any point. The noise is real, and a lucky reward does not count.
#' * 1 if points were evaluated again, always with equal rewards.
#' * 1/2 if no point was evaluated again.
#'
#' Rewards that were reported with more noise than the others count only if there are no others, and then \eqn{s} is 0.
#' If there are none, the posterior mean at the recommended point is no less than at the point with the best reward.
#' With `contexts`, `changes`, or a noise variance that is not fitted, the point with the largest posterior mean is
#' recommended.
#' @section Several objectives:
#' `$front()` and `$best(weights = )` compare evaluated points by the worth of each objective. Another point belongs to
#' the front only if, for each evaluated point, its mean of some objective exceeds the worth there by more than two
#' posterior standard deviations. The columns of the result are means.
#' @section Measured:
#' The true values at three points were compared after 192 searches of 60 evaluations on BBOB functions: the recommended
#' one, the one with the best reward, and the one with the largest mean. The table has the mean differences in log10 of
#' the gap, with standard errors. Below 0 the recommended point is better.
#'
#' | inputs | noise | searches | against the best reward | against the largest mean |
#' |---:|---:|---:|---:|---:|
#' | 2 | none | 48 | +0.02 (0.02) | -0.44 (0.14) |
#' | 2 | 1% | 48 | -0.14 (0.07) | +0.16 (0.14) |
#' | 2 | 10% | 48 | -0.15 (0.07) | -0.03 (0.08) |
#' | 5 | none | 24 | +0.00 (0.00) | -0.17 (0.10) |
#' | 5 | 10% | 24 | -0.04 (0.04) | +0.15 (0.10) |
#'
#' Without noise, the recommended point was worse than the best reward in 2 of 72 searches, and better in none. With
#' noise it was worse in 5 of 120, and better in 28. Details are in `bench/results/recommend.md` of the sources.
#' @section Structure in the noise:
#' `value` is the posterior mean at the recommended point. If structure was fitted as noise, the truth may be closer to
#' the reward. `sd` of [maximize_bandit()] accounts for this if it averages over several models. To the posterior
#' variance are added:
#' * a tenth of the fitted noise variance,
#' * the squared difference between the worth and the mean, if the noise matters.
#'
#' In the searches above, `sd` without the second part was too small if no point was repeated and there was no noise: 4
#' of 11 true values were beyond 3 `sd`. With both parts none is, nor in the 58 such searches with noise. `$best()` and
#' `predict()` have the posterior sd. So has `sd` if refits do not change the noise, with `fidelity`, under constraints,
#' and after a certificate of a stop rule.
#' @seealso [maximize_bandit()], [auto_bandit()]; [calibration] for the accuracy of `value` and `sd`.
#' @concept recommendation
#' @concept Bayesian optimization
#' @concept incumbent
#' @examples
#' set.seed(1)
#' noisy <- minimize_bandit(function(p) (p$x - 2)^2 + rnorm(1, sd = 0.1), list(x = c(1, 3)), 12)
#' c(recommended = noisy$par$x, best_observed = noisy$observed$x)
#' @name recommended-point
NULL

check_outside_is_data <- function(bandit, known) {
  outside <- known$outside
  if (any(outside) && !takes_outside(bandit$config)) {
    stop_argument("data", "one with rows outside the space", "points of the space, for this policy or these rewards")
  }
  tell_of_outside(outside, bandit$config$domain, known$x, "data")
}
