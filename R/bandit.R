# `gp_bandit()`. Layer: bandit.

#' Gaussian-process bandits (Bayesian optimisation)
#'
#' `gp_bandit()` makes a Gaussian-process bandit: a Bayesian optimiser for noisy rewards.
#' It combines a domain, a Gaussian-process prior and a policy (the acquisition function) with rules for pending
#' evaluations, changes and constraints.
#'
#' A bandit is used by its methods, see [GPBandit]. `$suggest()` chooses the next points, `$observe()` records
#' rewards, and `$best()` returns the recommended point. Named algorithms such as [gp_ucb()] are presets of this
#' function. [auto_bandit()] also fits kernel and noise variance.
#'
#' @section Posterior:
#' Let \eqn{K}{K} be the kernel matrix of the evaluated points, \eqn{\lambda}{lambda} = `noise_var`, and
#' \eqn{m}{m} the prior mean. Posterior mean and variance at \eqn{x}{x} are
#'
#' \deqn{\mu(x) = m(x) + k(x)'(K+\lambda I)^{-1}(y - m),}{mu(x) = m(x) + k(x)'(K + lambda I)^-1 (y - m),}
#' \deqn{\sigma^2(x) = k(x,x) - k(x)'(K+\lambda I)^{-1}k(x).}{sd^2(x) = k(x, x) - k(x)'(K + lambda I)^-1 k(x).}
#'
#' Both are those of the latent function; the noise is not included. How they are computed, and how exactly, is on the
#' page [bandit-engines].
#'
#' @param domain the points that can be chosen: a [finite_domain()] (or numbers, one row per arm), a [box_domain()], a
#'   [product_domain()] of the two, or a [search_space()].
#' @param kernel prior covariance, see [kernels]: an object such as `kernel_matern()`, or a string such as `"matern"`.
#' @param noise_var the noise variance (or regulariser) \eqn{\lambda}{lambda}: a number > 0 in squared units of the
#'   reward, at least 1e-12 of the largest prior variance. Leave it out if `rewards` have none.
#' @param policy the acquisition function, one of the [policies]: an object such as `policy_ei()`, or a string such as
#'   `"ei"`.
#' @param mean prior mean, in units of the reward: a number (default 0), or one per arm (of a product: per row), in
#'   their order or with their names. Or a function of the inputs, see
#'   *Prior mean function* in [gp_bandit()].
#' @param pending how queries without rewards are treated, one of the [pending] rules or a string such as
#'   `"hallucinate"`. The default ignores them.
#' @param changes a rule for non-stationary rewards, which discards or down-weights old ones, see [changes];
#'   `"auto"` chooses how fast. `NULL` (default): a stationary problem.
#' @param constraints a rule for long-term constraints, see [constraints]. `NULL` (default): none.
#' @param contexts a matrix or data.frame, one row per possible context. If they are not known in advance: their names,
#'   or ranges and levels such as `list(group = c("a", "b"), age = c(18, 80))`, see [auto_bandit()]. Every query then
#'   needs a `context`. The kernel's inputs are the action's, then the context's (levels by their numbers). `NULL`
#'   (default): no contexts.
#' @param refit [refit_every()], which estimates the kernel's parameters during the run. `NULL` (default): a fixed
#'   kernel.
#' @param rewards the response type, if rewards are not numbers with Gaussian noise: [rewards_binary()],
#'   [rewards_counts()], [rewards_ordinal()], [rewards_preferences()] (comparisons), [rewards_robust()] (outliers, heavy
#'   tails). `NULL` (default): Gaussian noise.
#' @param engine how the posterior is computed, see [bandit-engines]: `"auto"` (default); over arms also `"weights"` or
#'   `"played"`; without known contexts `"lowrank"` or `"dense"`.
#' @param outputs [scale_outputs()], a transform of the rewards. `NULL` (default): rewards are used unchanged, and
#'   maximised.
#' @param outcomes a named list of the objectives and constraints among the outcomes of an experiment, see [outcomes].
#'   `NULL` (default): one reward, which is maximised.
#' @param limits limits of further outcomes as a formula, `~ impurity <= 2 & ph >= 5`. This is the same as `outcomes`
#'   with an additional objective named `reward`. `NULL` (default): none.
#' @param prior_optimum a prior over the optimum's location: [prior_normal()], or a function that returns log densities
#'   of points. `NULL` (default): none.
#' @param initial_design points that are suggested first, in this order, before the policy chooses. They are queries
#'   like all others: their rewards may be late or lost. `NULL` (default): none. Points with known rewards go to
#'   `$add()`.
#' @param journal path of a new SQLite file (needs package RSQLite) to which every event is written, on the disk, before
#'   anything else happens. [open_bandit()] resumes from it after a crash. `NULL` (default): none.
#' @param store a [bandit_store()] in which the bandit is created, so that several processes can work on it. `NULL`
#'   (default): none.
#' @param ... further settings, by their full names. Others are an error.
#'   * `accuracy`: the largest certified error \eqn{a} of the low-rank engine, in units of the posterior sd, in (0, 1];
#'     by default 1e-3.
#'   * `failures`: how a query that ended with `$fail()` counts, `"forget"` (default), `"avoid"` or `"doubt"`, see
#'     [bandit-queries].
#'   * `goal`: a formula of outcomes and inputs that is maximised, see [goals].
#'   * `trust`: `TRUE` if the journal may hold functions among the settings (a width's, a threshold's), which
#'     [open_bandit()] then runs; `FALSE` by default. For a store see [bandit_store()].
#' @section Prior mean function: `mean` may be a function of a data.frame of points that returns a number for each row,
#'   or a formula of the inputs, such as `~ 80 - (temp - 70)^2 / 50`, which is kept as data. The Gaussian process then
#'   describes the rewards' difference from it. See [gp_model()] for searches.
#' @return An object of the reference class [GPBandit]. Its methods modify the object itself.
#' @section Names: Inputs and contexts may have any name except `id`, `arm` and `reward`. If an input is called like
#'   another column of a history or other data.frame, that other column has a dot in front (`.width`).
#' @section Errors: A `gpbandits_error` names the argument, the value given and the values allowed. The object is left
#'   unchanged.
#' @section Guarantee: That of the policy's confidence width (the multiplier of the posterior sd, see [widths]) under
#'   the conditions on its page; [guarantees] has one table of all. No theorem covers a combination that no paper
#'   studies.
#' @section Combinations: Every part can be combined with every other, with few exceptions; regret bounds cover some of
#'   the combinations. Both are listed in [bandit-combinations].
#' @references Srinivas, Krause, Kakade and Seeger (2010) <https://arxiv.org/abs/0912.3995>.
#' @seealso [GPBandit] for the methods; [bandit-engines], [bandit-queries], [bandit-combinations]; [gp_ucb()],
#'   [run_bandit()], [compare_bandits()].
#' @concept Bayesian optimization
#' @concept acquisition function
#' @concept Gaussian process
#' @concept ask and tell
#' @concept contextual bandit
#' @concept sequential design
#' @examples
#' x <- seq(0, 1, length.out = 101)
#' f <- sin(6 * x)
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01,
#'                policy = policy_ucb(width_srinivas_finite(0.1, scale = 1 / 5)))
#' set.seed(1)
#' for (t in 1:20) {
#'   q <- b$suggest()
#'   b$observe(q$id, f[q$arm] + rnorm(1, sd = 0.1))
#' }
#' b$best()
#' b
#' @export
gp_bandit <- function(domain, kernel, noise_var, policy, mean = 0, pending = pending_ignore(),
                      changes = NULL, constraints = NULL, contexts = NULL, refit = NULL, rewards = NULL,
                      engine = c("auto", "weights", "played", "lowrank", "dense"), outputs = NULL,
                      outcomes = NULL, limits = NULL, prior_optimum = NULL, initial_design = NULL, journal = NULL,
                      store = NULL, ...) {
  further <- further_settings(...)
  domain <- as_domain(domain)
  if (!is.null(rewards)) rewards <- as_part(rewards, "bandit_rewards", hint = "rewards_robust(), rewards_binary(), ...")
  if (missing(kernel)) {
    stop_missing("kernel", try = "`kernel = kernel_matern(2.5)`, or `auto_bandit()`, which estimates kernel and noise")
  }
  if (is.null(rewards) && missing(noise_var)) {
    stop_missing("noise_var", "the variance of the noise, a number > 0",
                 "`noise_var = 0.01`, or `auto_bandit()`, which estimates it")
  }
  config <- list(
    domain = domain,
    kernel = in_order_of_arms(as_kernel(kernel), domain),
    noise_var = check_noise_for(rewards, noise_var),
    policy = as_part(policy, "bandit_policy", hint = "policy_ucb(), policy_ts(), ..."),
    mean = mean,
    pending = as_part(pending, "bandit_pending", hint = "pending_ignore(), ..."),
    engine = check_choice(engine, c("auto", "weights", "played", "lowrank", "dense")),
    accuracy = further$accuracy,
    format = bandit_format
  )
  contexts <- check_contexts(contexts, domain)
  parts <- given_goal(further$goal, outcomes, limits, "maximize", c(domain$names, contexts$names))
  config$goal <- parts$goal
  outcomes <- parts$outcomes
  if (!is.null(prior_optimum)) {
    check_prior_optimum_alone(prior_optimum, outcomes)
    config$policy <- with_prior_optimum(config$policy, prepared_prior_optimum(prior_optimum, domain), 10)
  }
  config <- with_rules(config, constraints, changes)
  config$outputs <- check_outputs(outputs, config)
  config$failures <- check_failures(further$failures, config)
  if (!is.null(rewards)) config$rewards <- rewards_alone(rewards, outputs)
  check_free_names(names_in_domain(config$domain), "domain")
  config$refit <- check_refit(refit, config)
  config$contexts <- contexts$table
  config$context_names <- contexts$names
  config$context_space <- contexts$space
  config$domain <- distinct_labels(config$domain, contexts$names)
  config$mean_function <- as_mean_function(mean, config$domain)
  config$mean <- if (is.null(config$mean_function)) check_prior_mean(mean, config$domain) else 0
  if (!is.null(initial_design)) config$design <- start_points(initial_design, config)
  config <- with_outcomes(config, outcomes)
  if (!is.null(config$goal)) check_goal(config$goal, config)
  check_engine(config)
  check_together(config)
  check_mean_function(config)
  check_custom_kernel(config)
  check_linear_model(config)
  check_cost_setting(config)
  if (!trait(config$policy, "scripted")) config[names(further$.search)] <- further$.search
  bandit <- new_bandit(config)
  make_ready(as.environment(bandit))
  keep_from_now_on(bandit, journal, store, further$trust)
}

check_engine <- function(config) {
  if (config$engine %in% c("lowrank", "dense") && is_tabulated_space(config) && length(config$context_names)) {
    stop_argument("engine", dQuote(config$engine, FALSE),
                  "\"auto\", \"weights\" or \"played\" for arms in tabulated contexts")
  }
}

#' Methods of a Gaussian-process bandit
#'
#' A `GPBandit`, made by [gp_bandit()] or one of its presets, suggests points and records rewards.
#' Its methods modify the object itself (it is a reference class).
#'
#' @section Suggest and observe (ask and tell):
#' * `$suggest()` chooses the next `n` points. It returns a data.frame with one row per query: `id` (the round), `arm`
#'   (finite domains, rows of products) and the inputs. `n > 1` is the same as `n` calls with nothing observed between
#'   them. `arms`, `fixed` and `shared` restrict the choice, see [bandit-queries].
#' * `$observe()` records rewards of earlier queries by their `id`, in any order and at any time. One call takes
#'   vectors, or a data.frame with columns `id` and `reward`. A different value later is an error.
#' * `$observe(7, c(60, 62))`, or several rows with one `id`, records replicates of one query. They count as their mean
#'   with noise variance \eqn{\lambda/m}{lambda / m}, where \eqn{m} is their number. Refits also use their spread.
#' * `$add()` adds data that the bandit did not suggest, by inputs `x` or by `arm`. An added point takes the next id,
#'   counts as a round, and has the action `"given"`. Without `reward` it is pending.
#'   Results may be from outside the space, see [earlier-experiments].
#' * `$amend()` replaces an observed reward, or all replicates of one `id`: `$amend(7, c(60, 62, 61))`.
#' * Arguments of `$observe()`, `$add()` and `$amend()`, one value or one each: `sd` is the error bar if it is not
#'   the bandit's noise, and `noise_var` its square. `size` is the number of readings of which a reward is the
#'   mean; `sd` and `noise_var` are then those of one reading. `$history()` returns a `note`.
#' * `$withdraw()` and `$fail()` end pending queries that will have no reward. They keep their ids, and are otherwise as
#'   if not made (failed ones: unless `failures` is `"avoid"` or `"doubt"`). `reason` is one string. With several
#'   outcomes, `outcome` names those to end. `$observe()` still accepts a reward of a failed query.
#' * `$rank()` orders queries, the best first, see [rewards_preferences()].
#'
#' `time` is the clock time of the event if the pending rule needs one, see [pending_censor()] with `unit = "time"`;
#' `NULL` means now.
#'
#' @section Model and recommendation:
#' * `$best()` returns the recommended point: where the posterior mean is largest. Among points with equal means (a
#'   difference below 1e-9 prior sd) one with an observed reward is preferred. For `feasible`, `weights` and the Pareto
#'   front `$front()` see [outcomes].
#' * `$posterior()` returns a data.frame with columns `mean` and `sd`, one row per row of `x` or per arm (`NULL`: all
#'   arms). `x` may be rows of `$suggest()`, `$best()` or `$history()`: inputs, `arm` and contexts are used, other
#'   columns ignored. For [rewards_binary()] and the other response types it also has `lower` and `upper`, and the
#'   arguments `scale` and `level`.
#' * `$draw()` returns exact joint posterior draws over all arms, one per column.
#' * `$certificate()` returns a bound on a point's regret, its probability and its assumptions, see [stopping] and
#'   [calibration].
#' * `$information_gain()` returns \eqn{\tfrac12\log\det(I + K/\lambda)}{1/2 log det(I + K/lambda)}, in nats, of the
#'   points that the variance includes in the current segment.
#' * `$safe()` returns the classification of [safe_opt()], see [safe-methods].
#' * `$levels()` returns the labels of [gp_lse()].
#' * `$history()` has one row per query, `$propensity()` the probability of each arm, see [bandit-history].
#'
#' @section State:
#' For `$copy()`, `saveRDS()` and other processes see [bandit-state], for `$catch_up()` and `$renew()` [bandit_store()]
#' and [bandit-leases], for `$compact()` [bandit-compact].
#'
#' @section Names: Points and contexts are found by the names of the inputs if they have names, see [finite_domain()].
#'   Arms are found by their numbers, or by their names if the domain has names.
#' @seealso [gp_bandit()], [bandit-history], [bandit-methods] for `print()`, `summary()` and `predict()`, [bandit-model]
#'   for `coef()`, `logLik()` and `update()`, [expected-improvement].
#' @concept ask and tell
#' @concept ask-tell interface
#' @concept Bayesian optimization
#' @concept replicates
#' @examples
#' b <- gp_ucb(seq(0, 1, by = 0.1), kernel_se(0.3), noise_var = 0.01, pending = "hallucinate")
#' q <- b$suggest(2)
#' b$observe(q$id, c(0.3, 0.5))
#' b$add(arm = 6, reward = 0.9)
#' b$amend(1, 0.4)
#' b$posterior(c(0.5, 0.6))
#' b$history()
#' b$best()
#' @name GPBandit
#' @rdname GPBandit
NULL

#' The history of a bandit: queries, statuses and propensities
#'
#' `$history()` of a [GPBandit] returns a data.frame with one row per query, in the order of their ids.
#'
#' @section Columns:
#' * `id`, `arm`, inputs, contexts, and `reward` (`NA` while pending).
#' * `mean`, `sd`, and the confidence `width` (the multiplier of the sd, see [widths]): those at the time of the choice.
#'   `mean` and `sd` of given rows are the predictions before the row. Beyond 300 observations they are those of the
#'   prior, if more than 64 rows were given without a query in between (and no rule of `changes` uses them).
#' * `action`: `"policy"`, `"explore"` or `"given"`; `segment`: the number of the stationary segment.
#' * `status`: `"pending"`, `"observed"`, `"lost"` (the reward came too late, see [pending_censor()]), `"withdrawn"` or
#'   `"failed"`. With several [outcomes] also `"partial"`, until all values are observed.
#' * if any was given: `noise_var` (of several outcomes `NAME_noise_var`); `size` and `spread` of replicates (their
#'   number, and their sum of squares about the mean); `reason`; `note` and the other columns that were reported with
#'   results.
#' * if choices are randomised over arms: `propensity`, the probability of the choice when it was made. It is computed
#'   by formula for uniform choices and for choices without randomness, else `NA`.
#'
#' @section Propensities: `$history(draws = 200)` also estimates the propensities that no formula gives, for
#'   [evaluate_policy()]. The estimate is the proportion of equal choices among `draws` fresh ones and the choice
#'   itself; the column `propensity_se` is its standard error, 0 where a formula was used. Each such query needs the
#'   posterior of its time and `draws` choices (seconds under [policy_mes()]).
#'   `$propensity(context = NULL, draws = 1000, arms = NULL)` returns these probabilities for all arms before a choice,
#'   one row per arm (and context): exactly if there is a formula or no randomness, else from `draws` choices and an
#'   equal chance of one more. A choice that your own code draws from them has the propensity of its row.
#' @section Names: If arms have names, the history shows them too. Next to an input called like another column (such as
#'   `width`), that other column has a dot in front (`.width`).
#' @concept propensity
#' @concept experiment log
#' @concept replicates
#' @seealso [GPBandit] for the methods that make rows; [evaluate_policy()]; [earlier-experiments] to continue from a
#'   history.
#' @examples
#' b <- gp_ucb(seq(0, 1, by = 0.1), kernel_se(0.3), noise_var = 0.01)
#' q <- b$suggest(2)
#' b$observe(q$id[1], c(0.3, 0.5))                # two measurements of the first query
#' b$fail(q$id[2], reason = "power cut")
#' b$add(arm = 6, reward = 0.9)
#' b$history()
#' @name bandit-history
NULL

#' Fixed inputs, rounded settings, new arms and failed evaluations
#'
#' A [GPBandit] can restrict a suggestion, accept rounded settings, extend a finite domain, and use failed evaluations.
#'
#' @section Eligible arms: `$suggest(arms = )` has the numbers or names of the arms (of a product: rows) that can be
#'   chosen now. The others do not exist for these queries, nor does their best mean for EI and PI. The restriction is
#'   in the event log (the record from which a bandit is restored).
#'
#' @section Fixed inputs: `$suggest(fixed = list(solvent = "water"))` chooses the other inputs only. A value is a
#'   number, a level or a logical for each input; arms may be named by their labels. The values are in the event log,
#'   with journals, stores and copies.
#'   * Candidates and local optimisation stay in the slice where the named inputs have these values. Conditional inputs
#'     that are named exist there.
#'   * Over arms, those with these values are eligible.
#'   * EI and PI compare with the largest posterior mean at the evaluated points, moved into the slice. Points that
#'     cannot be chosen there do not count.
#'   * Points of `initial_design` are moved into the slice, too.
#'
#'   Errors: unknown inputs; values outside their bounds or levels; values with which no point satisfies `where`;
#'   algorithms with a separate rule ([bpe()] and the like); on boxes, policies that keep intervals.
#'
#'   `$suggest(8, shared = "temperature")` is a batch with one temperature, as for an oven or a plate. The first query
#'   chooses the value, and the others are in its slice. Inputs that do not always exist (`when`) cannot be shared. A
#'   limit on the sum over a batch is not supported: divide it by the size of the batch, as the input's upper bound.
#'
#'   A slice that depends on earlier observations (past rewards too, but not future noise) is a context. With
#'   [policy_ucb()] the regret against the slice's best is at most twice width times sd in each round in which the
#'   width's interval holds. This is an original result, not peer-reviewed. Under widths for a prior, the slice must
#'   depend on \eqn{f} only through rewards.
#'
#' @section Rounded settings and data frames: Next to `id` and `reward`, the columns `g1`, `g2`, ... (constraints) and
#' `noise_var` (or `sd`, `size`) are used if present. Inputs, arms and contexts must be those of the queries, within
#' 1e-8 of an input's range. `NA` is ignored. Other columns are kept, see [bandit-history].
#'
#' Numbers of a box or a search space may have been rounded by hand, by at most 5% of an input's range on its own scale.
#' The reward is then recorded at the settings that were used, as a new row, and its query is withdrawn; a message says
#' so. Larger differences are an error.
#'
#' @section New arms: `$add_arms(x, mean = )` adds arms, numbered after the present ones. `x` is as for
#'   [finite_domain()], with names if the arms have names. `mean` has their prior means if the bandit has one per arm.
#'
#'   The bandit then has the posterior, and up to rounding the choices, of one that had all arms from the start but
#'   could choose only the old ones (`$suggest(arms = )`). The cost is that of a refit. The event is in the log, and so
#'   in journals, stores, files and copies; `$reset()` deletes it.
#'
#'   * [width_srinivas_finite()] uses the number \eqn{n_t}{n_t} of arms at round \eqn{t}. The union bound of its theorem
#'     is over the arms of each round, given earlier observations. It holds if the addition of arms uses no more
#'     information about \eqn{f} than the bandit has.
#'   * Regret is against the best of the present arms.
#'   * Bounds in a function's norm hold on all of \eqn{R^d}. Information gains over the arms (`gain = "greedy"` and
#'     `"spectral"`) are those of the present arms.
#'
#'   `$add_arms()` is an error for
#'   * a [kernel_matrix()], which has no covariances of new arms;
#'   * [gp_lse()], whose intervals are kept from the first round on;
#'   * [change_detect()] and [change_function()], which keep the domain they began with;
#'   * algorithms that are rules over several posteriors;
#'   * a table of arms in known contexts with more than 50,000 rows.
#'
#' @section Failures: The argument `failures` of [gp_bandit()] determines how a query that ended with `$fail()` counts.
#'   * `"forget"` (default): not at all; the same point may be suggested again.
#'   * `"avoid"`: as the worst observed reward, whatever that becomes, in the posterior and in refits. Without observed
#'     rewards it has no effect on mean and variance.
#'   * `"doubt"`: as the worst observed reward, with the noise variance of a value between the worst and the best one.
#'     With \eqn{v} the scaled rewards (see [scale_outputs()]) it is
#'     \deqn{\lambda + (v_{max} - v_{min})^2 / 12.}{lambda + (v_max - v_min)^2 / 12.}
#'     One failure among good neighbours has little effect; several together mark a bad region. `$best()` (without
#'     `fixed`) excludes points that the kernel correlates more with a failure than with all observed rewards, if others
#'     are left.
#'
#'   No theorem covers the last two, and they are an error with `constraints`.
#' @seealso [GPBandit], [gp_bandit()].
#' @concept failed evaluations
#' @concept crashed evaluations
#' @concept contextual bandit
#' @examples
#' b <- gp_ucb(seq(0, 1, by = 0.1), kernel_se(0.3), noise_var = 0.01)
#' b$suggest(arms = 1:3)
#' b$add_arms(c(1.1, 1.2))
#' b$fail(1, reason = "power cut")
#' b$history()[c("id", "arm", "status", "reason")]
#' b <- gp_bandit(list(temp = c(20, 80), time = c(1, 5)), kernel_se(c(20, 1)), 0.01, policy_ucb())
#' b$suggest(fixed = list(temp = 60))
#' b$suggest(3, shared = "temp")
#' @name bandit-queries
NULL

#' Combinations of a bandit's parts, and their regret bounds
#'
#' The parts of a [gp_bandit()] can be combined freely, but only some combinations have a regret bound. This page lists
#' them.
#'
#' @section What can be combined:
#' Every combination of policy (acquisition function), pending rule, change rule, constraints, contexts and domain runs,
#' with two exceptions:
#'
#' * [gp_lse()] keeps its confidence intervals. It supports contexts only if they are known and the domain is finite.
#' * Algorithms that are rules over several posteriors support only the combinations that their pages list.
#'
#' @section Regret bounds:
#' Regret bounds cover the following, with fixed hyperparameters and nothing else combined. (UCB is the upper confidence
#' bound, [policy_ucb()].)
#'
#' * UCB alone, on arms or a box, and Thompson sampling alone on arms: [gp_ucb()], [igp_ucb()], [gp_ts()].
#' * UCB or Thompson sampling with [pending_censor()] and [width_sdf()], with or without contexts: [gp_ucb_sdf()],
#'   [gp_ts_sdf()].
#' * UCB with [pending_hallucinate()], batches or bounded delays, if the width is raised by a constant that depends on
#'   the batch (Desautels, Krause and Burdick 2014): [gp_bucb()] with `width`.
#' * UCB with [change_detect()]: [gp_ucb_cpd()].
#' * UCB with a window, weights or restarts, if the total variation is bounded: [gp_ucb_drift()].
#' * UCB with [constraints_noiseless()] or [constraints_noisy()], `reuse = FALSE`, and Thompson sampling with the
#'   former: [gp_ucb_noiseless_constraints()], [gp_ucb_noisy_constraints()].
#' * UCB with [width_irgp()] and [policy_pims()], in expectation; expected improvement with its defaults, as a rate:
#'   [gp_ei()].
#' * [gp_ucb_pe()] in batches, [bpe()] in batches and with delays, UCB with `pending_hallucinate(guard = )`.
#' * UCB with [width_ec()] (a wrong model); with rewards clipped by [rewards_robust()] and their [width_realized()]
#'   (heavy tails); repeated by [policy_repeats()].
#' * [gp_ucb_lengthscale()] (unknown lengthscales); [stable_opt()] (perturbed inputs).
#'
#' With contexts and no delays UCB keeps its bound against the best action of each context (Krause and Ong 2011).
#'
#' @section No regret bound:
#' * [gp_lse()] and `policy_straddle(random = TRUE)` have a guarantee of their labels instead.
#' * [safe_opt()] has a guarantee of safety instead.
#' * Probability of improvement, knowledge gradient, max-value entropy search, local penalisation, and expected
#'   improvement with a margin, with costs or with `incumbent = "draws"` have none here.
#' * Nor have choices by mean, by variance or at random. For variance the simple regret of a design is bounded:
#'   see [plan_experiments()].
#'
#' @section Late rewards and changes:
#' Rewards reach a change detector in the order in which they arrive. A reward of a query from before a restart, or
#' before an epoch that started with a new posterior, is not used and triggers no restart.
#' @references Desautels, Krause and Burdick (2014), Parallelizing exploration-exploitation tradeoffs in Gaussian
#'   process bandit optimization, JMLR 15; Krause and Ong (2011), Contextual Gaussian process bandit optimization,
#'   NeurIPS.
#' @seealso [guarantees] has one table of all results; [regret_bound()] computes bounds.
#' @concept regret bound
#' @concept contextual bandit
#' @examples
#' # Late rewards and outliers together: accepted, without a regret bound.
#' b <- gp_bandit(1:9 / 9, kernel_se(0.3), noise_var = 0.1, policy_ucb(2), pending = pending_censor(5),
#'                rewards = rewards_robust(clip = 3))
#' b
#' @name bandit-combinations
NULL

#' State of a bandit: files, copies and safety
#'
#' A [GPBandit] can be saved with `saveRDS()`, copied, and sent to another process.
#' Each of these gives a bandit that continues exactly as the original would.
#'
#' @section State:
#' The state is the settings and the event log (the record of all queries and rewards). Both are plain R data.
#' `$copy()` gives an independent bandit in the same state, without a journal.
#'
#' @section Seeds: After `set.seed()` the same calls give the same choices on every machine. Designs and random policies
#' draw from R's random number stream.
#'
#' @section Files:
#' A bandit from a file is checked as a whole before it is used.
#' * Objects of earlier formats are upgraded; those of later formats are an error.
#' * It uses the package's methods, whatever methods were in the file.
#' * It has no journal, see [open_bandit()].
#' * Settings that are not values but would be computed when they are read are an error.
#'
#' @section Files from others: Two risks remain. Functions among the settings are code, and run when they are used.
#' `readRDS()` itself can run code from a file before R 4.4. From people whom you do not trust accept text only:
#' [as_json()], a journal, or a bandit in a store.
#' @seealso [compatibility], [open_bandit()], [bandit_store()], [as_json()].
#' @concept reproducible
#' @concept seed
#' @concept serialization
#' @concept save and restore
#' @concept security
#' @examples
#' b <- gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.1)
#' b$observe(b$suggest()$id, 0.5)
#' file <- tempfile(fileext = ".rds")
#' saveRDS(b, file)
#' identical(readRDS(file)$suggest(), b$copy()$suggest())
#' @name bandit-state
NULL

#' Engines of a bandit's posterior: cost and accuracy
#'
#' The `engine` of a [gp_bandit()] is the method that computes its Gaussian-process posterior.
#' The default, `"auto"`, chooses the cheapest one. `summary()` of a bandit shows the choice.
#'
#' @section Arms (finite domains): The posterior is exact up to rounding. The cost of a round is bounded by the number
#' of distinct arms evaluated, not by the number of rounds. All engines give the same choices.
#' * `"weights"` keeps a pivoted Cholesky factor of the kernel over all arms (its rank is in `summary()`). Thompson
#'   sampling always uses it.
#' * `"played"` keeps a factor over the distinct arms evaluated so far, which is cheaper if the kernel is rough.
#' * `"auto"` chooses by cost. From 100,000 arms on (UCB, EI, mean, variance; no contexts, changes or hallucination) it
#'   uses the low-rank engine, as near to exact as rounding allows. It finds the best arm without evaluating all:
#'   neighbours form blocks with upper bounds of their values.
#'
#' A full factor over all arms is never made.
#'
#' @section Boxes, products, and contexts that are not known in advance:
#' * `"dense"` is exact: a Cholesky factor that grows by a row per observation, \eqn{O(t^2)} a round.
#' * `"lowrank"` keeps a basis of \eqn{r} of the evaluated points, enough to stay within `accuracy` of the dense
#'   posterior everywhere, \eqn{O(r^2)} a round. For smooth kernels, and those of finite rank, \eqn{r} hardly grows.
#' * `"auto"` uses the cheaper one and may change, in both directions, as rewards arrive. Choices depend on the events
#'   alone, never on when results are read.
#'
#' The error of `"lowrank"` is certified, not estimated (`error_bound` in `summary()`). With
#' \eqn{a} the bound and \eqn{\sigma}{sd} the posterior sd,
#' \deqn{|\Delta\mu(x)| \le a\,\sigma(x),}{|error of mu(x)| <= a sd(x),} and sd is within a factor \eqn{1 + a}. A bound
#' \eqn{|f - \mu| \le w\sigma}{|f - mu| <= w sd} therefore becomes
#' \deqn{|f - \mu| \le (w + a)(1 + a)\sigma.}{|f - mu| <= (w + a)(1 + a) sd.}
#'
#' For UCB, EI, the mean and the variance \eqn{r} is smaller still. That basis suffices where many points were
#' evaluated. Elsewhere it is corrected, at \eqn{O(t r)} for each point, so `$posterior()` of very many points takes
#' time. If the accuracy cannot be kept (little noise, rough kernels in many inputs, a drifting prior of
#' [change_oracle()]), the dense engine is used.
#'
#' @section Processors: The core uses one thread, and no GPU. Parallel evaluations are R processes, see
#' [parallel-search].
#'
#' @section Very many observations:
#' Where no theorem asks for an exact posterior, `"auto"` limits the cost from 2500 observations on. This holds for
#' bandits with `refit` or scaled rewards, with the default `accuracy`. If `"lowrank"` would need more than 1000 points,
#' the engine is `"sparse"`: the fully independent training conditional (FITC) with 1000 points, chosen by their prior
#' variance given those before, and 125 points of the largest rewards. Later points join.
#'
#' A point that is not among them has additional noise: the part of its prior variance that they do not explain. So sds
#' are larger rather than smaller than the exact ones. There is no error bound (`error_bound` is `NaN`);
#' `bench/results/many_rows.md` in the sources compares predictions and coverage with the dense engine. With
#' `engine = "dense"` the posterior is always exact.
#'
#' @section Many rewards with a likelihood:
#' [Rewards][rewards] that are not Gaussian have a Gaussian approximation for each point, of which the joint fit is
#' Laplace's approximation. From 512 distinct points on, this fit is made again after every 128th part of the rewards.
#' Rewards in between are added one by one (assumed density filtering): the new approximation is fitted, the others
#' stay. The difference from a new fit, in posterior sds at the latest 128 points, is measured and included in
#' `error_bound`. Choices depend on the events alone.
#'
#' Every reward has a new fit for comparisons, `approximation = "variational"`, [width_glm()], `changes` that forget,
#' [pending_hallucinate()], and on open inputs with `engine = "dense"`.
#'
#' @section Search for the next point on a box:
#' The acquisition function is evaluated at a fixed low-discrepancy set and at neighbours of the best observation.
#' From the best few of these, L-BFGS-B maximises it with analytic gradients. On a product this is done in every row.
#' Thompson sampling draws a path by Matheron's rule (1024 random features for the prior, exact for the update).
#'
#' @section Accuracy:
#' All engines but `"lowrank"` give mean and sd to within 1e-6 prior sd where evaluated points surround the point in
#' question, down to `noise_var` 1e-12 of the prior variance. Less noise is an error.
#' * Far from the evaluated points, rounding of the kernel's own values matters if the noise is tiny, with any method.
#'   The error of the mean is then a small part of that point's sd: up to about 1e-3 of it at noise 1e-12, up to 1e-7 at
#'   1e-8.
#' * Rewards that the prior cannot explain (a jump between neighbours of a smooth kernel, many noise sd large) lose
#'   more.
#' * Repeats of one point together have the noise `noise_var` / repeats. Below 1e-13 of the prior variance it counts as
#'   that much.
#' @seealso [gp_bandit()], [bandit-methods].
#' @concept GPU
#' @concept sparse Gaussian process
#' @concept low-rank approximation
#' @concept computational cost
#' @concept numerical accuracy
#' @examples
#' set.seed(1)
#' b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.2), 0.01, policy_ucb(2), engine = "lowrank")
#' x <- runif(50)
#' b$add(x = x, reward = sin(6 * x) + rnorm(50, sd = 0.1))
#' summary(b)[c("engine", "rank", "error_bound")]
#' @name bandit-engines
NULL

# Settings that few bandits need: in `...`, by their full names.
# `.search`: settings that only searches have (scaled_bandit()).
further_settings <- function(..., accuracy = 1e-3, failures = c("forget", "avoid", "doubt"), trust = FALSE,
                             goal = NULL, .search = NULL) {
  check_dots_empty(..., allowed = gp_bandit_arguments())
  list(accuracy = check_number(accuracy, lower = 0, open_lower = TRUE, upper = 1), failures = failures,
       trust = check_flag(trust), goal = goal, .search = .search)
}

gp_bandit_arguments <- function() {
  setdiff(c(names(formals(gp_bandit)), names(formals(further_settings))), c("...", ".search"))
}

rewards_alone <- function(rewards, outputs) {
  if (!is.null(outputs)) {
    stop_unused("rewards", "`outputs` scales rewards that are measurements. Give one of the two")
  }
  rewards
}

with_rules <- function(config, constraints, changes) {
  if (!is.null(constraints)) {
    config$constraints <- as_part(constraints, "bandit_constraints",
                                  hint = "constraints_noiseless(), constraints_noisy()")
  }
  if (!is.null(changes)) {
    config$changes <- as_part(changes, "bandit_changes", hint = "change_detect(), change_oracle(), ...")
  }
  config
}

keep_from_now_on <- function(bandit, journal, store, trust) {
  if (!is.null(journal) && !is.null(store)) {
    stop_unused("journal", "`store` is given, and one of the two is enough")
  }
  if (!is.null(journal)) start_journal(bandit, journal, trust)
  if (!is.null(store)) begin_in(store, bandit)
  bandit
}

# The points of the initial design. Random rounds are counted like design points, so a rule that plays random rounds
# supports no design.
start_points <- function(initial_design, config) {
  if (!is.null(config$changes)) {
    stop_unused("initial_design", "`changes` plays rounds at random")
  }
  points <- find_points(config$domain, initial_design, NULL, "initial_design")
  if (point_total(points)) points
}

# (For scripts, whose models are bandits, but whose file is loaded before this one.)
register_bandit_kind("core", make = gp_bandit)
