# `gp_bandit()`. Layer: bandit.

#' Gaussian-process bandits
#'
#' `gp_bandit()` puts the parts together: a decision set, a prior, a policy, and the rules for
#' pending rewards, for change and for constraints. The result is an object of the reference
#' class `GPBandit`: its methods change it in place. Named algorithms such as [gp_ucb()] are
#' presets of this function.
#'
#' @section Posterior:
#' With \eqn{K}{K} the kernel over the points played, \eqn{\lambda}{lambda} = `noise_var` and \eqn{m}{m}
#' the prior mean, \deqn{\mu(x) = m(x) + k(x)'(K+\lambda I)^{-1}(y - m),\quad
#' \sigma^2(x) = k(x,x) - k(x)'(K+\lambda
#' I)^{-1}k(x).}{mu(x) = m(x) + k(x)'(K + lambda I)^-1 (y - m),  sd^2(x) = k(x, x) - k(x)'(K + lambda I)^-1 k(x).} Mean
#' and sd are always those of the latent function; the noise is not included.
#'
#' @section Engines:
#' Over arms the posterior is exact up to rounding, and a round's cost is bounded by the number of distinct arms played,
#' not by the number of rounds: `"weights"` keeps a pivoted Cholesky factor of the kernel over all arms (its rank is in
#' `summary()`), `"played"` a factor over the distinct arms played so far, which is cheaper where the kernel is rough.
#' `"auto"` chooses by cost; Thompson sampling always uses `"weights"`. All give the same choices. From 100,000 arms on
#' (UCB, EI, mean, variance; no contexts, changes or hallucination) `"auto"` takes the low-rank engine, as near to exact
#' as rounding allows, and finds the best arm without looking at all: neighbours form blocks with upper bounds on what
#' they can hold. A full factor over all arms is never made. On a box or a product, and in contexts that are not known
#' beforehand, two engines serve. `"dense"` is exact: a Cholesky factor that grows by a row per observation,
#' \eqn{O(t^2)} a round. `"lowrank"` keeps a basis of \eqn{r} of the points played, as many as it takes to stay within
#' `accuracy` of the dense posterior, everywhere: \eqn{O(r^2)} a round, and \eqn{r} hardly grows where the kernel is
#' smooth or of finite rank. Its error is certified, not estimated (`error_bound` in `summary()`):
#' \eqn{|\Delta\mu(x)| \le a\,\sigma(x)}{|error of mu(x)| <= a sd(x)}, and sd is within a factor \eqn{1 + a}. A bound
#' \eqn{|f - \mu| \le w\sigma}{|f - mu| <= w sd} so becomes
#' \eqn{|f - \mu| \le (w + a)(1 + a)\sigma}{|f - mu| <= (w + a)(1 + a) sd}. For UCB, EI, the mean and the variance
#' \eqn{r} is smaller yet: what such a basis says is good enough where much has been played, and is corrected elsewhere,
#' \eqn{O(t r)} for each point that is asked for there (`$posterior()` of very many points takes its time). Where that
#' cannot be kept (little noise, rough kernels in many inputs, [change_fade()]) the dense engine serves. `"auto"` takes
#' the cheaper one and changes over, in both directions, as rewards come in; what is played depends on the events alone,
#' never on who looks when.
#'
#' On a box (a product: in every row) the acquisition is scored at a fixed low-discrepancy set and at neighbours of
#' the best observation and climbed from the best few with analytic gradients (L-BFGS-B); Thompson sampling
#' draws a path by Matheron's rule (1024 random features for the prior, exact for the update).
#'
#' @section Accuracy:
#' Every engine but `"lowrank"` (see there) gives mean and sd to within 1e-6 prior sd where the points played surround
#' the point asked for, down to `noise_var` 1e-12 of the prior variance; less noise is refused. Far from the points
#' played rounding of the kernel's own values shows when the noise is tiny, whatever the method: the error of the mean
#' is then a small part of that point's own sd, at noise 1e-12 up to about 1e-3 of it, at 1e-8 up to 1e-7. Rewards that
#' the prior cannot explain (a jump between neighbours of a smooth kernel, many noise sd large) lose more. Repeats of
#' one point together have the noise `noise_var` / repeats; below 1e-13 of the prior variance it counts as that much.
#'
#' @section Methods:
#' * `$suggest(n = 1, context = NULL, time = NULL, arms = NULL, fixed = NULL)`: plays the next `n` queries and returns a
#'   data.frame, one row each: `id` (the round), `arm` (finite domains, rows of products) and the inputs. `n > 1` is the
#'   same as asking `n` times in a row with nothing observed between. `arms`: numbers or names of the arms (of a
#'   product: rows) that can be played now; the others do not exist for these queries (nor does their best mean, for EI
#'   and PI). It stands in the log. `fixed`: a named list of inputs that are not to be chosen,
#'   `list(solvent = "water")`: see Fixed inputs.
#' * `$observe(id, reward, constraints = NULL, time = NULL, noise_var = NULL)`: rewards of earlier queries, any order,
#'   any time, vectorised; or `$observe(data)`, a data.frame with columns `id` and `reward` (`g1`.. and `noise_var` if
#'   there are such). Inputs, arms and contexts in it must be those of the queries (within 1e-8 of an input's range);
#'   other columns, and `NA`, say nothing. Numbers of a box or a search space may have been rounded by hand, by at most
#'   5% of an input's range on its own scale. The reward is then recorded at the settings that were used, as a new row,
#'   and its query is withdrawn; a message says so. Larger differences are an error. `noise_var`: the noise variance of
#'   these rewards, where it is not the bandit's (one number, or one each). The same value again changes nothing,
#'   another one is refused. One `id` and several rewards, `$observe(7, c(60, 62))`, are readings of one query: they
#'   teach what their mean does with the noise variance \eqn{\lambda/m}{lambda / m} (a scale of noise \eqn{R} becomes
#'   \eqn{R/\sqrt m}{R / sqrt(m)}), and refits see how far they are apart. Further readings: `$amend(7, c(60, 62, 61))`.
#' * `$add_arms(x, mean = NULL)`: further arms, numbered on from those that there are; `x` as for [finite_domain()],
#'   with names where the
#'   arms have such, `mean` their prior means where the bandit has one per arm. An event like any other: see New arms.
#' * `$rank(ids)`: queries in order, the best first, see [rewards_preferences()].
#' * `$amend(id, reward)`: a known reward was wrong (or, of one `id`, there are more readings). What a change rule has
#'   concluded from the old one stays.
#' * `$withdraw(id, reason = NULL)`, `$fail(id, reason = NULL)`: pending queries that will never be answered; they keep
#'   their ids, and are otherwise as if they had not been made (those that failed: unless `failures` is `"avoid"` or
#'   `"doubt"`). `reason` is one string, kept with the queries. What has failed may have a result after all:
#'   `$observe()` takes it.
#' * `$add(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL, noise_var = NULL)`: data the
#'   bandit did not ask for; an added point takes the next id and counts as a round (action `"given"`). Without `reward`
#'   it is pending: somebody else is trying it.
#' * `$posterior(x = NULL, context = NULL, arm = NULL)`: data.frame `mean`, `sd`, one row per row of `x` (all arms if
#'   `NULL`), or at arms by their numbers. Rows of `$suggest()`, `$best()` and `$history()` serve as `x`: their inputs,
#'   `arm` and contexts are used, other columns ignored. With [rewards_binary()] and its kind also `lower`, `upper`, and
#'   the arguments `scale`, `level`.
#' * `$draw(n = 1, context = NULL)`: exact joint draws from the posterior over all arms, one per column.
#' * `$best(context = NULL, fixed = NULL)`: the recommended point, where the posterior mean is largest. Among points
#'   with equal means (a difference below 1e-9 prior sd) one with an observed reward is preferred.
#' * `$certificate(rule = NULL, context = NULL)`: how large the regret of a point can still be, with what probability,
#'   on what assumptions: a list, see [stopping] and [calibration]. Without a rule: the gap of the policy's own bounds
#'   or, where it has none, a quantile of draws.
#' * `$safe(context = NULL)`: what [safe_opt()] says of every place: data.frame of the place, `safe`, `maximiser`,
#'   `expander`, `lower`, `upper`.
#' * `$levels(context = NULL)`: what [gp_lse()] says of every place: data.frame `arm`, `label`, `lower`, `upper`.
#' * `$history()`: data.frame, one row per query: `id`, `arm`, inputs, contexts, `reward` (NA while pending), `mean`,
#'   `sd`, `width` (at the choice, at the chosen point), `action` (`"policy"`, `"explore"`, `"given"`), `segment`, and
#'   `status`, what has become of the query by now: `"pending"`, `"observed"`, `"lost"` (its reward came too late, see
#'   [pending_censor()]), `"withdrawn"` or `"failed"`. What was told beside rewards, where anything was: `noise_var` (of
#'   several outcomes `NAME_noise_var`), and `size` and `spread` of means of several readings (their number, and the sum
#'   of their squares about the mean). If any query was given up with a reason, there is a column `reason`. Where
#'   choices are randomised over arms also `propensity`, the probability of the choice at its time: by formula for
#'   uniform play and where nothing random went into it; else `NA`, unless `$history(draws = 200)` asks for it: then the
#'   share of so many fresh choices and the choice itself. (Each of these queries takes the posterior of its time again,
#'   and `draws` choices: seconds under [policy_mes()].)
#' * `$information_gain()`: \eqn{\tfrac12\log\det(I + K/\lambda)}{1/2 log det(I + K/lambda)} of the current segment's
#'   points that the variance knows, in nats.
#' * `time`, in these three, is the clock time of what happens, see [pending_censor()] with `unit = "time"`;
#'   `NULL` is now.
#' * `$catch_up()`: plays what other processes did, where the bandit is in a [bandit_store()].
#' * `$reset()`: forgets every event. `$copy()`: an independent bandit in the same state
#'   (without a journal). `$show()`: prints.
#'
#' Points and contexts are found by the names of the inputs where they have names, see [finite_domain()]; arms by their
#' numbers, or by their names where the domain has such (`$history()` then has them, too).
#'
#' A bandit's state is its settings and its event log, both plain R data: `saveRDS()`, `$copy()` and sending it
#' to another process all give a bandit that goes on exactly as the original would. What comes back is checked as a
#' whole before it is used; objects of earlier formats are upgraded, of later ones refused. It has the package's
#' methods, whatever methods were in the file, and no journal (see [open_bandit()]); a setting that is no value but
#' would be computed when it is looked at is refused. What remains: functions among the settings are code and run when
#' they are used, and `readRDS()` is R's own, which before R 4.4 can run what a file tells it to. From people whom you
#' do not trust take text: [as_json()], a journal, or a bandit in a store.
#'
#' @section Fixed inputs: `$suggest(fixed = list(solvent = "water"))` chooses the other inputs only: candidates and
#'   climbs lie on the slice where the named inputs have these values, and where inputs that need not exist are named
#'   they do. EI and PI compare with the largest posterior mean at the points played, moved into the slice (those that
#'   cannot be played there do not count); over arms those with the values are eligible. Points of `initial_design` are
#'   moved into the slice, too. Values are a number, a level or a logical for each input; arms may be named by their
#'   labels. What was fixed stands in the log, with journals, stores and copies. Errors: unknown inputs, values outside
#'   of their bounds or levels, or with which no point satisfies `where`; rules of their own ([bpe()] and the like), and
#'   on boxes policies that keep intervals. A slice that is chosen by what is known (past rewards too, not the noise to
#'   come) is a context: with [policy_ucb()] the regret against the slice's best is at most twice width times sd in each
#'   round in which the width's interval holds (derived here; under prior widths the slice must not depend on f but
#'   through rewards).
#'
#' @section New arms: after `$add_arms()` the bandit knows what one would that had all arms from its beginning and
#'   could play only the
#'   old ones until then (`$suggest(arms = )`): the same posterior, the same choices but for rounding, at the cost of a
#'   refit. The
#'   event is in the log, so that journals, stores, files and copies have it; `$reset()` forgets it. What depends on
#'   the number of arms
#'   follows it. [width_srinivas_finite()] takes the number \eqn{n_t}{n_t} of arms at round \eqn{t}: the union bound of
#'   its theorem is over
#'   the arms of each round, given what was observed before, so it holds as long as who adds arms knows no more of
#'   \eqn{f} than the bandit does; regret is then
#'   against the best of the arms that there are. Bounds in a function's norm hold on all of \eqn{R^d} anyway; gains
#'   over the arms
#'   (`gain = "greedy"` and `"spectral"`) are those of the present arms. Refused: where the kernel is a
#'   [kernel_matrix()] (nobody knows the
#'   covariances of new arms), by [gp_lse()] (its intervals are kept from the first round on), [change_detect()] and
#'   [change_function()] (which keep the domain they began with), algorithms that are rules over several posteriors,
#'   and where a table of arms in known
#'   contexts would exceed 50,000 rows.
#' @param domain a [finite_domain()] (or numbers, one row per arm), a [box_domain()], a [product_domain()] of the two,
#'   or a [search_space()]. Inputs (and contexts) may have any name but `id`, `arm` and `reward`: a column of a history,
#'   or of another data.frame, that is called like an input has a dot in front (`.width`).
#' @param kernel prior covariance, see [kernels]: an object such as `kernel_matern()`, or a string such as `"matern"`.
#' @param noise_var \eqn{\lambda}{lambda}: the noise variance, or the regulariser, a number > 0 (units of reward
#'   squared) and at least 1e-12 of the largest prior variance, see Accuracy. Left out where `rewards` have none.
#' @param policy one of the [policies]: an object such as `policy_ei()`, or a string such as `"ei"`.
#' @param mean prior mean: a number, or one per arm (of a product: per row), in their order or with their names.
#' @param pending one of the [pending] rules, or a string such as `"hallucinate"`.
#' @param changes `NULL` for a stationary problem, or a rule that tells when to forget, see [changes].
#' @param constraints `NULL`, or a rule for long-term constraints, see [constraints].
#' @param rewards `NULL`; [rewards_clip()] where noise has heavy tails; or what rewards are where they are no readings
#'   with Gaussian noise: [rewards_binary()], [rewards_counts()], [rewards_ordinal()], [rewards_robust()].
#' @param refit `NULL` for a fixed kernel, or [refit_every()].
#' @param contexts a matrix with one row per context that can occur; or, where they are not known
#'   beforehand, their number of values or their names. Then every query needs a `context`, and the kernel
#'   sees the actions followed by the context.
#' @param engine `"auto"`; over arms also `"weights"` or `"played"`; where there are no known contexts `"lowrank"` or
#'   `"dense"`, see Engines.
#' @param outputs `NULL`: rewards are seen as they are, and maximised; or [scale_outputs()].
#' @param journal `NULL`, or the path of a new file to which every event is appended, and flushed to the disk, before
#'   anything else happens; [open_bandit()] goes on from it after a crash.
#' @param store `NULL`, or a [bandit_store()] in which the bandit is begun: many processes then work on it.
#' @param initial_design points that are asked first, in this order, before the policy is: queries like all others,
#'   whose rewards may be late or lost. `NULL`: none. (`$add()` is for points with known rewards.)
#' @param outcomes `NULL`: one reward, which is maximised; or a named list that says what each outcome of an experiment
#'   is for, see [outcomes].
#' @param limits `NULL`, or limits of further outcomes as a formula, `~ impurity <= 2 & ph >= 5`: the same as `outcomes`
#'   with an objective named `reward` besides.
#' @param prior_optimum prior over the optimum's location: [prior_normal()], or a function that returns log densities of
#'   points. `NULL`: none.
#' @param ... further settings, by their full names. Others are an error.
#'   * `accuracy`: the largest certified error \eqn{a} of the low-rank engine, in units of the posterior sd, in (0, 1];
#'     by default 1e-3.
#'   * `failures`: how `$fail()` counts, `"forget"` (the default), `"avoid"` or `"doubt"`, see *Failures*.
#'   * `trust`: `TRUE` if the journal may hold functions among the settings (a width's, a threshold's), which
#'     [open_bandit()] then runs; by default `FALSE`. For a store see [bandit_store()].
#' @return An object of class `GPBandit`.
#' @section Failures: `failures` says what a query teaches that `$fail()` has ended.
#'   * `"forget"`: nothing; the same point may be asked again.
#'   * `"avoid"`: it counts as the worst observed reward, whatever that becomes, in the posterior and in refits. Without
#'     observed rewards it has no effect on mean and variance.
#'   * `"doubt"`: the same, with the noise variance of a value that may lie anywhere between the worst and the best
#'     observed reward, \eqn{\lambda + (v_{max} - v_{min})^2 / 12}{lambda + (v_max - v_min)^2 / 12}, with \eqn{v} the
#'     scaled rewards, see [scale_outputs()]. One failure among good neighbours has little effect, several together mark
#'     a bad region. `$best()` (without `fixed`) excludes points that the kernel correlates more with a failure than
#'     with all observed rewards, if others are left.
#'
#'   No theorem covers the last two, and they are an error with `constraints`.
#' @section Errors: a `gpbandits_error` that names the argument, what was given and what is allowed; the
#'   object is left as it was.
#' @section Guarantee: that of the policy's width; see [widths] and the presets. No theorem covers a
#'   combination that no paper studies.
#' @section Combinations: every combination of policy, pending rule, change rule, constraints, contexts and domain runs
#'   ([gp_lse()], which keeps intervals, in contexts only where these are known, over arms; algorithms that are rules
#'   over several posteriors take what their pages list). Regret bounds cover these, with fixed hyperparameters and
#'   nothing else combined:
#'   * UCB or Thompson sampling alone, on arms or a box: [gp_ucb()], [igp_ucb()], [gp_ts()].
#'   * UCB or Thompson sampling with [pending_censor()] and [width_sdf()], with or without contexts: [gp_ucb_sdf()],
#'     [gp_ts_sdf()].
#'   * UCB with [pending_hallucinate()], batches or bounded delays, if the width is raised by a constant that depends on
#'     the batch (Desautels, Krause and Burdick 2014): [gp_bucb()] with `width`.
#'   * UCB with [change_detect()]: [gp_ucb_cpd()]; with a window, weights or restarts under a bounded variation budget:
#'     the presets there.
#'   * UCB with [constraints_noiseless()] or [constraints_noisy()], `reuse = FALSE`; Thompson sampling with the former:
#'     [gp_ucb_noiseless_constraints()], [gp_ucb_noisy_constraints()].
#'   * UCB with [width_irgp()] and [policy_pims()] in expectation; [gp_ucb_pe()] in batches, [bpe()] in batches and with
#'     delays; UCB with `pending_hallucinate(guard = )`.
#'   * UCB with [width_ec()] (a wrong model), with [rewards_clip()] and [width_clip()] (heavy tails), repeated by
#'     [policy_repeats()]; [gp_ucb_lengthscale()] (unknown lengthscales); [stable_opt()] (perturbed inputs).
#'   * No regret but right labels: [gp_lse()], `policy_straddle(random = TRUE)`; no unsafe play: [safe_opt()].
#'     [guarantees] has one table of all.
#'
#'   EI, PI, KG, MES, local penalisation, mean, variance and uniform play have no regret bound here (variance: only of
#'   the information gained). With contexts and no delays UCB keeps its bound against the best action of each context
#'   (Krause and Ong 2011). Where several rules meet: rewards reach a change detector in the order in which they arrive;
#'   a reward of a query from before the restart, or from before an epoch that started afresh, teaches nothing and
#'   triggers nothing.
#' @references Srinivas, Krause, Kakade and Seeger (2010) <https://arxiv.org/abs/0912.3995>.
#' @seealso [gp_ucb()], [run_bandit()], [compare_bandits()].
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
  if (!is.null(rewards)) rewards <- as_part(rewards, "bandit_rewards", hint = "rewards_clip(), rewards_binary(), ...")
  if (missing(kernel)) {
    stop_argument("kernel", "missing", "a kernel: kernel_se(), kernel_matern(), ...",
                  try = "auto_bandit() with the same domain, which fits kernel and noise")
  }
  if (is.null(rewards) && missing(noise_var)) {
    stop_argument("noise_var", "missing", "the variance of the rewards' noise, a number > 0",
                  try = "auto_bandit() with the same domain, which fits kernel and noise")
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
  outcomes <- given_outcomes(outcomes, limits)
  check_prior_optimum_alone(prior_optimum, outcomes)
  config$policy <- with_prior_optimum(config$policy, prepared_prior_optimum(prior_optimum, domain), 10)
  config <- with_rules(config, constraints, changes)
  config$outputs <- check_outputs(outputs, config)
  config$failures <- check_failures(further$failures, config)
  if (!is.null(rewards)) config$rewards <- rewards_alone(rewards, outputs)
  check_free_names(names_in_domain(config$domain), "domain")
  config$refit <- check_refit(refit, config)
  contexts <- check_contexts(contexts, config$domain)
  config$contexts <- contexts$table
  config$context_names <- contexts$names
  config$domain <- labels_beside(config$domain, contexts$names)
  config$mean <- check_prior_mean(mean, config$domain)
  config$design <- start_places(initial_design, config)
  config <- with_outcomes(config, outcomes)
  if (config$engine %in% c("lowrank", "dense") && is_tabulated_space(config) && length(config$context_names)) {
    stop_argument("engine", dQuote(config$engine, FALSE),
                  "\"auto\", \"weights\" or \"played\" for arms in contexts that are known beforehand")
  }
  check_together(config)
  check_own_kernel_here(config)
  check_linear_here(config)
  check_cost_here(config)
  bandit <- new_bandit(config)
  make_ready(as.environment(bandit))
  keep_from_now_on(bandit, journal, store, further$trust)
}

# Settings that few bandits need: in `...`, by their full names.
further_settings <- function(..., accuracy = 1e-3, failures = c("forget", "avoid", "doubt"), trust = FALSE) {
  check_dots_empty(..., allowed = gp_bandit_arguments())
  list(accuracy = check_number(accuracy, lower = 0, open_lower = TRUE, upper = 1), failures = failures,
       trust = check_flag(trust))
}

gp_bandit_arguments <- function() {
  setdiff(c(names(formals(gp_bandit)), names(formals(further_settings))), "...")
}

rewards_alone <- function(rewards, outputs) {
  if (!is.null(outputs)) {
    stop_argument("rewards", "given together with `outputs`", "NULL where `outputs` scales rewards")
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
    stop_argument("journal", "given together with `store`", "NULL where `store` is given")
  }
  if (!is.null(journal)) start_journal(bandit, journal, trust)
  if (!is.null(store)) begin_in(store, bandit)
  bandit
}

# The points to begin with, as places. Rounds at random are counted as the design's are: a rule that plays some has
# none.
start_places <- function(initial_design, config) {
  if (is.null(initial_design)) return(NULL)
  if (!is.null(config$changes)) {
    stop_argument("initial_design", "given together with `changes`", "NULL where `changes` plays rounds at random")
  }
  places <- find_places(config$domain, initial_design, NULL, "initial_design")
  if (place_total(places)) places
}

# (For scripts, whose models are bandits: their file comes before this one.)
register_bandit_kind("core", make = gp_bandit)
