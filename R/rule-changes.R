# Rules for changes over time: detectors, windows, weights, fading. Layer: strategy.

#' Rules for nonstationary rewards: change detection, restarts, windows, fading
#'
#' @description
#' Rules by which a bandit discards or discounts old rewards if the function changes over time. Use them as
#' `changes =` of [gp_bandit()], or through the presets [gp_ucb_cpd()] and [gp_ucb_drift()]. If the function does not
#' change, no rule is needed. Otherwise:
#'
#' * You do not know how it changes: `changes = "auto"`. It chooses during the run how much to forget.
#' * It drifts slowly, at a known pace: `change_oracle(window = )`, the last results only, or `change_oracle(rate = )`,
#'   fading.
#' * It jumps, at unknown times: `change_detect(delta = )`, a detector that needs only its error probability.
#'   `cover =` is a version for any policy. `change_detect(threshold, ridge)` is the paper's, with a proof.
#' * It jumps at known times, such as a new season: `change_oracle(times)`.
#' * You have a custom rule: `change_function()`.
#'
#' (For a series of data without a bandit there is [detect_change()].)
#'
#' @details
#' # Rules that restart
#'
#' A restart discards all data. Posterior, confidence width (with \eqn{t = 1} again) and detector start again. Rewards
#' of earlier queries that arrive later are kept in the history and not used. These rules restart:
#'
#' * `change_detect(threshold, ridge)` (Algorithm 2 of Avanesov) detects changes in the uniform samples. After each
#'   reward of a uniform query, [change_statistic()] compares the newest \eqn{q} uniform pairs with the \eqn{q} before
#'   them, for \eqn{q = 1, 2, \dots, \lfloor|U|/2\rfloor}{q = 1, 2, ..., floor(|U|/2)}. The first statistic above
#'   `threshold(q)` restarts the bandit. See *Thresholds* in [change-details].
#' * `change_detect(delta = )` is the event trigger of Brunzema et al. It restarts when a reward is too far from the
#'   posterior mean at its choice. See the same section.
#' * `change_detect(delta = , cover = N)` is detection augmented learning (DAL), for any policy: forced rounds play
#'   \eqn{N} points in turn, and a changed mean at one of them restarts. See *A cover* in [change-details].
#' * `change_oracle(times)` restarts after these rounds (the true changes, for comparison), and
#'   `change_oracle(every = )` at regular intervals.
#' * `change_never()` explores uniformly and does not restart.
#' * `change_function()` restarts when `f(history)` returns `TRUE`. `history` has the rows of `$history()`
#'   ([bandit-history]) since the last restart (or new epoch), with `NA` for rewards that have not arrived.
#'
#' # Rules that discount
#'
#' If the pace of the changes is known, `change_oracle()` can discount old rewards within the posterior instead of
#' restarting, in one of three ways. Here \eqn{t} is the round of the next query and \eqn{s} that of an observation:
#'
#' * `change_oracle(window = )`: the posterior is that of the last `window` observations, those of the latest rounds
#'   among all observed ones.
#' * `change_oracle(rate = , by = "weights")`: with \eqn{\epsilon}{epsilon} = `rate`, an observation has noise variance
#'   \deqn{\lambda(1-\epsilon)^{-(t-s)}.}{lambda (1 - epsilon)^-(t - s).}
#' * `change_oracle(rate = )`: the prior is that of a drifting function, with \eqn{\epsilon}{epsilon} = `rate` and the
#'   kernel
#'   \deqn{k(x,x')(1-\epsilon)^{|t-t'|/2}.}{k(x, x') (1 - epsilon)^(|t - t'| / 2).}
#'
#' `changes = "auto"` chooses between no forgetting and windows of 50, 100, 200, 400 and 800 observations.
#' `change_oracle()` with several windows, or several rates and `by = "weights"`, chooses between these and none. See
#' *Choice of a window or rate* in [change-details].
#'
#' @section Exploration: With any rule the bandit explores uniformly while
#'   \deqn{|U| \le \xi\sqrt{|H|},}{|U| <= xi sqrt(|H|),}
#'   and otherwise uses its policy (acquisition function). \eqn{U} are the uniform queries and \eqn{H} all queries since
#'   the last restart, and \eqn{\xi}{xi} = `explore`. The history's `action` is then `"explore"`.
#' @section Strings: A string is a constructor with its defaults: `changes = "never"` is `change_never()`.
#' @section Guarantee: See [gp_ucb_cpd()] for `change_detect(threshold, ridge)`, and [gp_ucb_drift()] for the event
#'   trigger, restarts, windows, weights and drift, and [change-details] for `cover`. `change_function()` and automatic
#'   choices have none.
#' @param threshold a function of the half-length \eqn{q} that returns one number > 0: the largest statistic (squared,
#'   in units of the reward squared) that raises no alarm. For rewards with a likelihood it is in nats.
#' @param ridge a function of \eqn{q} that returns one number > 0: the regulariser \eqn{q\rho_q}{q rho_q} of each half's
#'   fit. `NULL` (default): evidences are compared, for rewards with a likelihood.
#' @param f a function of a data.frame that returns `TRUE` to restart and `FALSE` to continue. It must not draw random
#'   numbers.
#' @param explore \eqn{\xi}{xi}, a number >= 0. By default \eqn{\sqrt3}{sqrt(3)} for `change_detect(threshold, ridge)`,
#'   with `cover`, for `change_never()` and `change_oracle(times)`, and 0 for the others.
#' @param kernel the kernel of the detector. `NULL`, the default, is the bandit's kernel.
#' @param dyadic if `TRUE`, only \eqn{q = 1, 2, 4, 8, \dots}{q = 1, 2, 4, 8, ...} are tested, which is cheaper and
#'   slower to detect a change. `FALSE`, the default, tests all.
#' @param times,every rounds after which to restart: integers >= 1, or one integer >= 1 for regular intervals. Exactly
#'   one of `times`, `every`, `window` and `rate` is given; the others are `NULL` (default).
#' @param rate \eqn{\epsilon}{epsilon}, the proportion that is discounted in a round: a number in \[0, 1), where 0
#'   discounts nothing. `NULL` (default): see `times`. Several rates in (0, 1), with `by = "weights"`: see Details.
#' @param by the part that is discounted: `"drift"` (default), the prior; or `"weights"`, the precision of the
#'   observations.
#' @param window the number of observations kept, an integer >= 1. `NULL` (default): see `times`. Several distinct
#'   integers: see Details.
#' @param delta the failure probability of the event trigger, a number in (0, 1). `NULL` (default): `threshold` and
#'   `ridge` are given.
#' @param cover the number \eqn{N} of points that are played in turn, an integer >= 2, with `delta`. `NULL` (default):
#'   none. Not with contexts or other [rewards].
#' @return An object of class `bandit_changes`.
#' @section Errors: A wrong value of `threshold`, `ridge` or `f` is an error, and the bandit remains as it was.
#' @references Avanesov (2019), How to gamble with non-stationary X-armed bandits and have no regrets
#'   <https://arxiv.org/abs/1908.07636>; Brunzema, von Rohr, Solowjow and Trimpe (2025)
#'   <https://arxiv.org/abs/2208.10790> for the event trigger; Gerogiannis, Huang, Bose and Veeravalli (2025)
#'   <https://arxiv.org/abs/2501.19401> for DAL; Bogunovic, Scarlett and Cevher (2016)
#'   <https://arxiv.org/abs/1601.06650> for regular restarts and for the drifting prior; Zhou and Shroff (2021),
#'   No-regret algorithms for time-varying Bayesian optimization, for windows; Deng et al. (2022)
#'   <https://arxiv.org/abs/2107.02371> for weights.
#' @concept nonstationary bandits
#' @concept change-point detection
#' @concept time-varying Bayesian optimization
#' @concept sliding window
#' @concept forgetting
#' @seealso [change-details]; [gp_ucb_cpd()], [gp_ucb_drift()], [detect_change()].
#' @examples
#' x <- seq(0, 5, length.out = 200)
#' kernel <- kernel_matern(2.5, 1)
#' set.seed(1)
#' f <- sample_gp(kernel, x, n = 2)
#' problem <- bandit_problem(x, f, noise = 0.05, change_points = 150)
#' b <- gp_bandit(x, kernel, noise_var = 0.015, policy_ucb(width_constant(2)),
#'                changes = change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7)))
#' run_bandit(b, problem, 300)
#' @aliases changes_function
#' @name changes
NULL

#' Change rules in detail: thresholds, response types, choice of a window, cost
#'
#' For users of the rules of [changes]: how thresholds are computed, non-Gaussian rewards treated, windows or rates
#' chosen, and what each rule costs.
#'
#' @section Thresholds: For smoothness \eqn{\alpha}{alpha} and dimension \eqn{d} Avanesov (equations 3.5 and 3.6) uses
#'   the threshold and the ridge
#'   \deqn{C q^{-(2\alpha+d)/(2\alpha+d+1)},\quad q\rho_q = c q^{1/(2\alpha+d+1)}.}{C q^(-(2 alpha + d)/(2 alpha + d +
#'   1)),  q rho_q = c q^(1/(2 alpha + d + 1)).}
#'
#'   [calibrate_detector()] finds the constants \eqn{C} and \eqn{c}. If the contexts are known in advance, the statistic
#'   is an average over all pairs of an arm and a context; in a box, low-discrepancy points replace the arms. If they
#'   are not, it is an average over the uniform samples since the last restart.
#'
#'   The event trigger restarts when a reward differs from the posterior mean at its choice by more than
#'   \deqn{\sqrt{\rho_t}\sigma(x) + w_t.}{sqrt(rho_t) sd(x) + w_t.}
#'
#'   With \eqn{t} the number of rounds since the restart,
#'   \deqn{\rho_t = 2\log(2\pi_t/\delta),\quad w_t = \sqrt{2\lambda\log(2\pi_t/\delta)},\quad \pi_t = \pi^2t^2/6.}{rho_t
#'   = 2 log(2 pi_t / delta), w_t = sqrt(2 lambda log(2 pi_t / delta)), pi_t = pi^2 t^2 / 6.}
#' @section A cover: `change_detect(delta = , cover = N)` is for any policy, after DAL (Gerogiannis et al. 2025). The
#'   uniform queries are replaced by \eqn{N} points in turn, spread over the domain. It restarts when the mean reward of
#'   one of them has changed, by a test of all splits of its rewards (those that the policy chose included). For
#'   \eqn{s} older and \eqn{m} newer rewards, \eqn{n = s + m}, the means may differ by
#'   \deqn{x(s, m) = \sqrt{2\lambda\left(\frac1s + \frac1m\right)\log\frac{2Nn(n-1)^2}\delta}.}{x(s, m) = sqrt(2
#'   lambda (1 / s + 1 / m) log(2 N n (n - 1)^2 / delta)).}
#'
#'   Let \eqn{\lambda}{lambda} be a variance proxy of the noise, without any assumption about \eqn{f}. From the start,
#'   or from a restart, until the next change the probability of a restart is at most `delta`. With probability
#'   \eqn{1-\delta}{1 - delta} a lasting change by more than \eqn{2x(s, m)} at a covered point with \eqn{s} rewards is
#'   detected by its \eqn{m}-th reward after the change. Changes elsewhere may remain unnoticed. This is an original
#'   result, not peer-reviewed, see the article "Derivations". Of the paper we had the abstract and reviews: its
#'   detector, its schedule of exploration and its regret of order \eqn{\sqrt{KT}}{sqrt(K T)} for \eqn{K} changes are
#'   not those of this rule.
#' @section Rewards with a likelihood: With [rewards] the rules are as follows.
#'
#'   * `change_detect(threshold)`, without `ridge`: the statistic is the log Bayes factor
#'     \deqn{\log Z_{\mathrm{older}} + \log Z_{\mathrm{newer}} - \log Z_{\mathrm{both}},}{log Z_older + log Z_newer -
#'     log Z_both,}
#'     where \eqn{Z} is Laplace's evidence of half or of all of the samples. Without a change each comparison exceeds
#'     `threshold(q)` with probability at most \eqn{e^{-\mathrm{threshold}(q)}}{exp(-threshold(q))}, up to the
#'     approximation's error.
#'   * `change_detect(delta = )` tests all predictions since the restart. It restarts in the first round in which
#'     \deqn{\frac16\sum_c\sum_{s\le t} w_s\prod_{i=s}^t\frac{p_{i,c}(y_i)}{p_i(y_i)} \ge \frac1\delta,\quad
#'     w_s = \frac1{\log_2(s+1)} - \frac1{\log_2(s+2)}.}{mean over c of sum_s w_s prod_(i = s..t) p_i,c(y_i) / p_i(y_i)
#'     >= 1 / delta, w_s = 1 / log2(s + 1) - 1 / log2(s + 2).}
#'     \eqn{p_i} is the predictive probability of the reward of query \eqn{i}, and \eqn{p_{i,c}}{p_i,c} the same after a
#'     shift of \eqn{f} by \eqn{c}, which is \eqn{\pm\frac12}{+-1/2}, \eqn{\pm1}{+-1} or \eqn{\pm2}{+-2} prior standard
#'     deviations. Under the model, the probability of any restart is at most `delta` (Ville's inequality), if queries
#'     are asked one at a time.
#'   * `change_oracle(rate = , by = "weights")`: the log likelihood of an observation is multiplied by
#'     \eqn{(1-\epsilon)^{t-s}}{(1 - epsilon)^(t - s)}.
#' @section Choice of a window or rate: This is for `changes = "auto"`, and for several windows or rates. Every 25
#'   queries, and at refits, each choice \eqn{k} predicts the latest 500 rewards, each from those before it. (Models
#'   with more than 64 different points predict up to 50 successive rewards at once.) With the predictive probabilities
#'   \eqn{p_{i,k}}{p_i,k} the weights of the choices are updated by
#'   \deqn{w_k \leftarrow (1-\alpha)\frac{w_kp_{i,k}(y_i)}{\sum_jw_jp_{i,j}(y_i)} + \alpha\pi_k,\quad\alpha =
#'   1/1000,}{w_k <- (1 - alpha) w_k p_i,k(y_i) / sum_j w_j p_i,j(y_i) + alpha pi_k, alpha = 1/1000,}
#'   where the prior weight \eqn{\pi_k}{pi_k} is 1/2 for no forgetting, and equal for the others. This is the fixed
#'   share method of Herbster and Warmuth. The choice with the largest weight is used. It is part of the event log, and
#'   `print()` shows it.
#' @section Refits: [refit_every()] uses all rewards since the last restart with equal weights, also under a `window` or
#'   a `rate`. The `f` of [change_function()] is called before each query, once a reward has been observed since the
#'   restart.
#' @section Cost: All rules are exact: in every round the posterior equals a fit from scratch to the rewards that are
#'   kept. The cost of a round, over \eqn{n} arms with a kernel of rank \eqn{r}, is
#'
#'   * window: \eqn{2nr}{2 n r}, as without one;
#'   * weights: \eqn{nr^2}{n r^2};
#'   * drift: \eqn{nr + r^3}{n r + r^3}, and \eqn{t} times that number in a round that uses rewards which arrived late
#'     (out of the order of their queries).
#'
#'   With \eqn{m} kept observations in a box it is \eqn{m^3/6} for window and weights, and \eqn{t^2} for drift. The
#'   engine `"played"` needs \eqn{2nm}{2 n m}, \eqn{nm^2}{n m^2} and \eqn{nt}{n t}.
#' @references Avanesov (2019) <https://arxiv.org/abs/1908.07636>; Gerogiannis, Huang, Bose and Veeravalli (2025)
#'   <https://arxiv.org/abs/2501.19401>; Herbster and Warmuth (1998), Tracking the best expert, Machine Learning 32.
#' @concept nonstationary bandits
#' @concept change-point detection
#' @concept fixed share
#' @concept Bayes factor
#' @seealso [changes], [gp_ucb_drift()].
#' @examples
#' # An A/B/n test whose best arm changes: the bandit finds out how fast to forget.
#' set.seed(1)
#' ab <- gp_bandit(1:3, kernel_se(0.1, 2), policy = policy_ts(), rewards = rewards_binary(),
#'                 changes = "auto")
#' for (t in 1:200) {
#'   q <- ab$suggest()
#'   ab$observe(q$id, rbinom(1, 1, if (t <= 100) c(0.1, 0.3, 0.6)[q$arm] else 0.2))
#' }
#' ab
#' @name change-details
NULL

new_changes <- function(kind) new_part("bandit_changes", kind, parent.frame())

# The traits of a change rule:
#   `resolved`         a function that completes its settings for the core.
#   `of_domain`        must the domain remain the initial one?
#   `instead`          a function of the response type (NULL: Gaussian noise). It returns NULL, or a text that says what
#                      to use instead of this rule.
#   `lasting`          the number of latest queries that are used (a window).
#   `reweighs`         do old rewards have smaller weights?
#   `decay`            the rate at which f changes; NULL: f does not change.
#   `title`            a name for users.
#   `chooses`          does it choose between rules by their predictions?
#   `choices`          the rules between which it chooses.
change_traits <- list(title = NULL, of_domain = FALSE, instead = function(changes) function(rewards) NULL,
                      lasting = Inf, reweighs = FALSE, decay = NULL, chooses = FALSE, choices = NULL,
                      resolved = function(changes) function(settings, config) settings)

# The number of queries between two automatic choices.
choice_rounds <- 25

change_entries <- list(
  detect = list(
    settings = alist(threshold = check_function(threshold), ridge = if (!is.null(ridge)) check_function(ridge),
                     explore = check_explore(explore),
                     kernel = if (!is.null(kernel)) as_kernel(kernel),
                     dyadic = check_flag(dyadic)),
    traits = list(title = "restart when a detector finds a change", of_domain = TRUE,
                  instead = function(changes) function(rewards) instead_of_detector(changes, rewards),
                  resolved = function(changes) function(settings, config) {
      kernel <- if (is.null(changes$kernel)) config$kernel else changes$kernel
      settings$kernel <- resolve_kernel(kernel, input_names(config), arms = arm_count(config$domain))
      if (!is.null(changes$ridge)) settings$domain <- detector_average(config, settings$kernel)
      settings
    })
  ),
  oracle = list(settings = alist(times = check_rounds(times, "times"), explore = check_explore(explore)),
                traits = list(title = "restart after given rounds")),
  never = list(settings = alist(explore = check_explore(explore)),
               traits = list(title = "uniform exploration without restarts")),
  every = list(settings = alist(rounds = check_count(rounds), explore = check_explore(explore)),
               traits = list(title = "restart at regular intervals")),
  event = list(settings = alist(delta = check_delta(delta), explore = check_explore(explore)),
               traits = list(title = "restart after unexpected rewards",
                             instead = function(changes) instead_of_predictions)),
  cover = list(settings = alist(delta = check_delta(delta), cover = check_count(cover, lower = 2),
                                explore = check_explore(explore)),
               traits = list(title = "restart when the mean at a point of a cover changes", of_domain = TRUE,
                             instead = function(changes) function(rewards) {
                               if (has_sites(rewards)) "change_detect(delta = ) without `cover`"
                             },
                             resolved = function(changes) resolve_cover)),
  "function" = list(
    settings = alist(f = check_function(f), explore = check_explore(explore)),
    traits = list(title = "restart decided by a function", of_domain = TRUE,
                  instead = function(changes) instead_of_predictions,
                  resolved = function(changes) function(settings, config) {
      settings$f <- checked_restart(changes$f, config)
      settings
    })
  ),
  window = list(settings = alist(window = check_count(window), explore = check_explore(explore)),
                traits = list(title = "condition on the newest rewards only",
                              lasting = function(changes) changes$window)),
  weights = list(settings = alist(rate = check_rate(rate), explore = check_explore(explore)),
                 traits = list(title = "older rewards weigh less", reweighs = TRUE,
                               # (The core uses the factor by which a weight is multiplied in each round.)
                               resolved = function(changes) function(settings, config) {
                   settings$rate <- 1 - changes$rate
                   settings
                 })),
  auto = list(settings = alist(rounds = check_count(rounds),
                               windows = if (!is.null(windows)) check_rounds(windows, "window", distinct = TRUE),
                               rates = check_rates(rates, windows), explore = check_explore(explore)),
              usual = list(rounds = choice_rounds, windows = c(50, 100, 200, 400, 800), rates = NULL, explore = 0),
              traits = list(title = "a window or rate chosen by its predictions", chooses = TRUE,
                            choices = function(changes) {
                              c(list(change_never(0)), lapply(changes$windows, function(w) change_oracle(window = w)),
                                lapply(changes$rates, function(r) change_oracle(rate = r, by = "weights")))
                            })),
  fade = list(settings = alist(rate = check_rate(rate), explore = check_explore(explore)),
              traits = list(title = "the function drifts",
                            instead = function(changes) function(rewards) {
                              if (has_sites(rewards)) "change_oracle(rate = , by = \"weights\")"
                            },
                            decay = function(changes) changes$rate))
)

# Is the posterior approximated by sites, one for each functional of f?
has_sites <- function(rewards) !of_form(list(rewards = rewards), "gaussian")

rules_of_comparisons <- "change_oracle() with `times`, `every`, `window`, or `rate` and by = \"weights\""

# (The prediction of a comparison is not recorded with its queries.)
instead_of_predictions <- function(rewards) {
  if (of_form(list(rewards = rewards), "compares")) rules_of_comparisons
}

instead_of_detector <- function(changes, rewards) {
  if (!has_sites(rewards)) {
    return(if (is.null(changes$ridge)) "change_detect() with a `ridge`: without one it compares evidences of `rewards`")
  }
  if (of_form(list(rewards = rewards), "compares")) return(rules_of_comparisons)
  if (!trait(rewards, "concave")) return("change_detect(delta = ), because outliers have no Laplace evidence")
  if (!is.null(changes$ridge)) "change_detect(threshold) without `ridge`, which compares evidences"
}

# Numbers of rounds.
check_rounds <- function(rounds, arg, distinct = FALSE) {
  rounds <- as.double(check_numbers(rounds, arg, lower = 1))
  if (any(rounds != round(rounds)) || distinct && anyDuplicated(rounds)) {
    stop_argument(arg, describe(rounds), if (distinct) "distinct integers >= 1" else "integers >= 1")
  }
  rounds
}

check_rate <- function(rate) check_number(rate, "rate", lower = 0, upper = 1, open_upper = TRUE)

check_rates <- function(rates, windows) {
  if (length(rates) + length(windows) == 0) {
    stop_argument("window", "empty", "at least one window, if no rate is given")
  }
  if (is.null(rates)) return(NULL)
  rates <- as.double(check_numbers(rates, "rate", lower = 0, upper = 1, open_lower = TRUE))
  if (any(rates == 1) || anyDuplicated(rates)) stop_argument("rate", describe(rates), "distinct numbers in (0, 1)")
  rates
}

check_explore <- function(explore) check_number(explore, "explore", lower = 0)

#' @rdname changes
#' @export
change_detect <- function(threshold, ridge = NULL, explore = if (is.null(delta) || !is.null(cover)) sqrt(3) else 0,
                          kernel = NULL, dyadic = FALSE, delta = NULL, cover = NULL) {
  if (!is.null(cover) && is.null(delta)) stop_argument("delta", "NULL", "a number in (0, 1), if `cover` is given")
  if (!is.null(delta)) {
    others <- c(threshold = !missing(threshold), ridge = !is.null(ridge), kernel = !is.null(kernel),
                dyadic = !isFALSE(dyadic))
    if (any(others)) {
      stop_argument(names(which(others))[1], "given together with `delta`",
                    "left out: the event trigger has no detector")
    }
    if (!is.null(cover)) return(new_changes("cover"))
    return(new_changes("event"))
  }
  threshold <- positive_function(threshold, "threshold")
  if (!is.null(ridge)) ridge <- positive_function(ridge, "ridge")
  new_changes("detect")
}

#' @rdname changes
#' @export
change_oracle <- function(times = NULL, explore = if (is.null(times)) 0 else sqrt(3), every = NULL, window = NULL,
                          rate = NULL, by = c("drift", "weights")) {
  given <- c("times", "every", "window", "rate")[!c(is.null(times), is.null(every), is.null(window), is.null(rate))]
  if (length(given) != 1) {
    stop_argument(if (length(given)) given[1] else "times",
                  if (length(given)) sprintf("given together with `%s`", given[2]) else "NULL",
                  "the only one of `times`, `every`, `window` and `rate` that is given")
  }
  if (given != "rate" && !missing(by)) {
    stop_argument("by", sprintf("given together with `%s`", given), "left out: it goes with `rate`")
  }
  by <- check_choice(by, c("drift", "weights"))
  if (length(window) > 1) return(change_auto(windows = window, explore = explore))
  if (length(rate) > 1 && by == "weights") return(change_auto(rates = rate, explore = explore))
  rounds <- if (given == "every") check_count(every)
  new_changes(switch(given, times = "oracle", rate = if (by == "drift") "fade" else "weights", given))
}

#' @rdname changes
#' @export
change_never <- function(explore = sqrt(3)) new_changes("never")

#' @rdname changes
#' @export
change_function <- function(f, explore = 0) new_changes("function")

change_auto <- function(rounds = choice_rounds, windows = NULL, rates = NULL, explore = 0) new_changes("auto")

#' @export
print.bandit_changes <- function(x, ...) {
  check_class(x, "bandit_changes")
  print_part(x, paste("changes:", trait(x, "title")), unclass(x)[names(x) != "kind"])
}

# The rule in the form that the core expects.
resolve_changes <- function(changes, config) {
  if (!is.null(changes)) trait(changes, "resolved")(unclass(changes), config)
}

# ---- the automatic choice -----------------------------------------------------------------------

chooses_forgetting <- function(config) !is.null(config$changes) && trait(config$changes, "chooses")

# The rule by which the posterior forgets: the one that an automatic rule has chosen last.
rule_in_force <- function(config) {
  if (chooses_forgetting(config)) return(or_else(config$forgetting, change_never(0)))
  or_else(config$changes, change_never())
}

describe_forgetting <- function(config) {
  rule <- rule_in_force(config)
  chosen <- if (rule$kind == "window") sprintf("the latest %g rewards", rule$window)
            else if (rule$kind == "weights") sprintf("weights that decrease by %g per round", rule$rate)
            else "no forgetting"
  sprintf("%s (chosen by predictions, every %g rounds)", chosen, config$changes$rounds)
}

forecast_rewards <- 500
forecast_least <- 10
forecast_share <- 1 / 1000

# Weights of the choices by fixed share. `forecasts`: log predictive probabilities, a row per reward, a column per
# choice, the first of which forgets nothing.
weights_of_choices <- function(forecasts) {
  others <- ncol(forecasts) - 1
  prior <- c(1, rep(1 / others, others)) / 2
  weights <- prior
  for (i in seq_len(nrow(forecasts))) {
    weights <- weights * exp(forecasts[i, ] - max(forecasts[i, ]))
    weights <- (1 - forecast_share) * weights / sum(weights) + forecast_share * prior
  }
  weights
}

check_forgetting <- function(forgetting, config) {
  if (is.null(forgetting)) return(invisible())
  one <- chooses_forgetting(config) && any(vapply(trait(config$changes, "choices"), identical, NA, forgetting))
  if (!one) damaged("a choice of how to forget is none of its choices")
}

# The points that forced exploration plays in turn. (A core's object is made again at times: they must not be random.)
resolve_cover <- function(settings, config) {
  tabled <- is_tabulated_space(config)
  if (length(config$context_names) || !tabled && !is.null(arm_count(config$domain))) {
    stop_argument("changes", "change_detect(cover = ) with contexts or on a product of arms and a box",
                  "a rule without `cover`")
  }
  points <- spread_points(config$domain, settings$cover)
  settings$arm <- if (tabled) as.double(points$arm) else rep(-1, point_total(points))
  settings$inputs <- if (tabled) matrix(0, point_total(points), 0) else unname(points$inputs)
  settings
}

# The set over which a bandit's detector averages the squared difference. It is the domain, with all contexts if these
# are given in advance, and otherwise the detector's own samples.
detector_average <- function(config, kernel) {
  if (length(config$context_names) && is.null(config$contexts)) return(list(kind = "sampled"))
  domain_average(config$domain, kernel, config$contexts)
}

# A user's f(history) in the form in which the core calls it, with the table of BanditState::history_table().
checked_restart <- function(f, config) {
  force(f)  # callers store the result where f came from
  force(config)
  function(table) {
    answer <- call_user(f(segment_history(table, config)), "f", "(in change_function())")
    if (!is.logical(answer) || length(answer) != 1 || is.na(answer)) {
      stop_returned("f", answer, "TRUE or FALSE (in change_function())")
    }
    as.double(answer)
  }
}

# The same columns as `$history()`, for the queries since the last restart.
segment_history <- function(table, config) {
  number <- function(column) replace(table[, column], is.nan(table[, column]), NA)
  inputs <- table[, 9 + seq_along(input_names(config)), drop = FALSE]
  colnames(inputs) <- input_names(config)
  arm <- if (can_count(config$domain)) list(arm = as.integer(table[, 2]) + 1L)
  at_choice <- in_user_units(data.frame(mean = number(4), sd = number(5)), config)
  own <- list(reward = number(3), mean = at_choice$mean, sd = at_choice$sd, width = number(6),
               action = action_names[table[, 7]], status = status_names[table[, 8]])
  cpp_frame(c(list(id = as.integer(table[, 1])), arm, as.list(as.data.frame(inputs)),
              distinct_columns(own, input_names(config))))
}

register_family("bandit_changes", change_entries, tag = "kind", traits = change_traits, prefix = "change_",
                plain = "auto")
