# Stopping rules and their certificates of the recommended point. Layer: bandit.

#' Assumptions of a certificate of regret
#'
#' When a certificate of [stop_gap()] or [stop_prb()] holds: the assumptions on model and noise behind the probability
#' that the regret is at most its `gap`, see [stopping].
#'
#' @section Gap of the bounds: For `stop_gap()` the probability is \eqn{1 - \delta}{1 - delta} of a confidence width
#'   (the multiplier of the posterior sd) that holds in all rounds together. These widths do:
#'   * \eqn{f} drawn from the prior, Gaussian noise: [width_srinivas_finite()] on arms at `scale = 1`, and
#'     [width_srinivas_box()] on a box, whose gap is \eqn{e_t} more.
#'   * RKHS norm at most `B`, `R`-sub-Gaussian noise: [width_realized()] and [width_amm()]. Also [width_igp()] and
#'     [width_gp_ts()] with the gain `"realized"` or `"spectral"`, if `noise_var` is at least 1 and no reward has a
#'     separate noise variance.
#'   * The same, for points that do not depend on rewards: [width_fixed()], at `looks` rounds that are fixed in advance.
#'     A run needs `at` for it. By hand, call `$certificate()` at these rounds only: if it is called after every round,
#'     the probability does not hold.
#'   * Rewards with a likelihood, RKHS norm of the latent \eqn{f} at most `B`: [width_glm()], as the policy's width. The
#'     bounds of \eqn{f} are converted, so that the gap is in units of the reward (see Units in [stopping]).
#'   * Rewards clipped by [rewards_robust()]: [width_realized()] with that rule as `R`.
#'   * A wrong model or wrong rewards: [width_ec()] and [width_corrupt()], if their base is one of the above. The gap of
#'     [width_ec()] is \eqn{2\epsilon}{2 epsilon} more.
#'
#'   [width_dmm()] has intervals that hold in all rounds. They are not a multiple of the sd, and `stop_gap()` does not
#'   accept it. On a box the largest upper bound is found by numerical search.
#'
#' @section No probability: The probability of `stop_prb()` is `NA` with a single fitted model. That of `stop_gap()` is
#'   `NA` with
#'   * widths that are constants or functions, and [width_srinivas_compact()];
#'   * hyperparameters that were fitted, and rewards scaled by a transform that was fitted to them ([scale_outputs()]);
#'   * censored rewards, failures that count (`failures = "avoid"`, `"doubt"`, see [bandit-queries]), change rules and
#'     constraints.
#'
#' @section Probabilistic regret bound: `stop_prb()` is Bayesian: \eqn{f} is drawn from the prior, and noise is Gaussian
#'   with variance `noise_var`. With several models ([refit_every()], `average`), \eqn{f} is drawn from one of them,
#'   chosen by its weight. Fitted scales are then treated as if they were given.
#'
#'   With a single fitted model (`average = 1`), or given hyperparameters and a fitted scale ([scale_outputs()]), the
#'   probability is `NA`, because such a model is too certain. In 200 simulated runs
#'   each, `stop_prb(0.1, 0.1)` states a probability of 0.9, so that at most 20 certificates should be wrong. (Functions
#'   from a Matern prior on 100 arms, noise sd 0.1.) The number of wrong ones was
#'   * 3 with the true hyperparameters;
#'   * 39 with `refit_every(5)`, and 39 with `scale_outputs()`: no probability is stated;
#'   * 16 with `refit_every(5, average = 10)`;
#'   * 11 with [auto_bandit()].
#'
#' @section Several models: With several models all rules use the average. Gaps use its two moments. `stop_emsr()` uses
#'   the average of each model's gain and divergence, which is no less than the average's own with unchanged weights.
#'
#' @section Late, failed and withdrawn rewards: Statements about all rounds allow them only if that does not depend on
#'   the values of the rewards. If there are any, `assumptions` says so.
#' @seealso [stopping], [widths], [calibration].
#' @concept certificate
#' @concept simple regret
#' @concept confidence bounds
#' @concept anytime-valid
#' @examples
#' x <- seq(0, 1, length.out = 30)
#' certificate <- function(width) {
#'   b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01, width = width)
#'   for (t in 1:10) b$observe((q <- b$suggest())$id, sin(3 * q$x1))
#'   b$certificate()[c("gap", "probability", "assumptions")]
#' }
#' certificate(width_srinivas_finite(delta = 0.1)) # f drawn from the prior
#' certificate(2)                                  # a constant: no probability
#' @name certificate-assumptions
NULL

#' Stopping criteria and certificates of regret
#'
#' When to stop: if the expected gain of further experiments is less than they cost.
#'
#' For experiments by hand, `$expected_improvement(4)` returns what the next 4 experiments are expected to add, its sd,
#' and the probability of a gain ([expected-improvement]). It is also in `print()`, in `plot(bandit, "progress")` and on
#' the page of a [bandit_service()].
#'
#' For searches by computer, a stopping criterion ends a search when the regret is small, or when progress has stalled.
#' The rules below are for
#' `stop_when` of [run_bandit()] and [maximize_bandit()], where they are checked after every round. `$certificate()` of
#' a [GPBandit] applies one at any time. Let \eqn{\mu}{mu} and \eqn{\sigma}{sd} be the posterior mean and sd given the
#' observed rewards (pending queries do not reduce the sd), and \eqn{w} the confidence width (the multiplier of the
#' posterior sd, see [widths]).
#'
#' @section Gap of the bounds: `stop_gap(tolerance, width)` stops when
#'   \deqn{\max_x(\mu + w\sigma) - \max_x(\mu - w\sigma) \le \epsilon,}{max(mu + w sd) - max(mu - w sd) <= e,} with
#'   \eqn{\epsilon}{e} the `tolerance`. The point with the largest lower bound (`point` of the certificate) then has at
#'   most that regret if the intervals hold: with the width's probability, whenever one stops. [width_fixed()] is the
#'   exception: it needs `at`, with at most `looks` rounds.
#'
#'   GP-UCB reaches every tolerance, at the latest when
#'   \deqn{4 w_T^2 c\gamma_T/T \le \epsilon^2,\quad c = 2/\log(1 + 1/\lambda).}{4 w_T^2 c gamma_T / T <= e^2,  c = 2 /
#'   log(1 + 1/lambda).}
#'
#' @section Probabilistic regret bound: `stop_prb(tolerance, delta)`, the practical default, stops when the recommended
#'   point (`$best()`) has, given the data, regret at most `tolerance` with probability \eqn{1 - \delta}{1 - delta}
#'   (Wilson 2024). The probability is estimated by joint draws of \eqn{f}.
#'   * Over arms draws are exact. Up to 1,000 of them come from one factor of the covariance of those arms that can be
#'     best with a probability of \eqn{10^{-9}}{1e-9} or more, by normals of a stream that R's generator begins.
#'   * On a box draws are paths whose values are maximised.
#'   * Samples of \eqn{16 \cdot 1.5^{j-1}}{16 * 1.5^(j - 1)} draws are added until a Clopper-Pearson interval of the
#'     proportion of failures is on one side of \eqn{\delta/2}{delta / 2}.
#'   * All intervals of all rounds hold together with probability \eqn{1 - \delta/2}{1 - delta / 2}. The one of sample
#'     \eqn{j} in round \eqn{t} may fail with probability
#'     \deqn{\frac\delta2 \frac{(tj)^{-1.1}}{11^2}.}{(delta / 2) (t j)^-1.1 / 11^2.}
#'
#' @section Change of the expected minimum simple regret: `stop_emsr(tolerance, width)` stops when the last observation
#'   has changed the expected minimum simple regret by at most `tolerance` (Ishibashi et al. 2023). The change is
#'   \deqn{|\Delta\max\mu| + E(f(\hat x_t) - f(\hat x_{t-1}))_+ + \mathrm{gap}_{t-1}\sqrt{\mathrm{KL}/2}}{|change of max
#'   mu| + E max(f(x^_t) - f(x^_{t-1}), 0) + gap_{t-1} sqrt(KL / 2)} with the recommended points \eqn{\hat x}{x^}, the
#'   gap as above, \eqn{v = \sigma^2_{t-1}(x_t)}{v = sd_{t-1}(x_t)^2}, and
#'   \deqn{\mathrm{KL} = \frac12(\log(1+v/\lambda) - v/(v+\lambda) + v(y-\mu)^2/(v+\lambda)^2).}{KL = (log(1 + v /
#'   lambda) - v / (v + lambda) + v (y - mu)^2 / (v + lambda)^2) / 2.} It bounds a change, not the regret: there is no
#'   certificate. The cost is \eqn{O(t^3)}.
#'
#' @section Other rules:
#'   * The string `"levels"` stops when [gp_lse()] has labelled every point. The certificate's `gap` is the `accuracy`.
#'   * `stop_stalled(n)` stops when the largest reward has not grown for `n` rewards. There is no certificate.
#'
#' @section Certificates: `$certificate()` returns a list with
#'   * `gap`: the bound on the regret, in units of the reward;
#'   * `probability`: the regret of `point` is at most `gap` with at least this probability; `NA` if no theorem covers
#'     it;
#'   * `assumptions`: in words;
#'   * `certified`: does the rule stop here?
#'   * `point`.
#'
#'   Which assumptions give `stop_gap()` and `stop_prb()` a probability is on the page [certificate-assumptions].
#'
#'   Without a rule, `gap` is that of the policy's confidence width. If the policy has none, it comes from draws of
#'   \eqn{f}: on a box it is the largest regret in 19 draws, which \eqn{f} exceeds with probability 1/20. In a
#'   [search_space()], where draws are slow, it is that of intervals of 1.96 sd instead, and `probability` is `NA`.
#' @section Units: Gaps, tolerances and regrets are in units of the reward.
#'   * With `outputs` ([scale_outputs()], [auto_bandit()], [maximize_bandit()]) they are differences of expected
#'     rewards, as in `$posterior()`. Before the first fit of the model there is no probability, and no rule with a
#'     `tolerance` stops.
#'   * With `rewards` ([rewards]) they are differences of probabilities, of mean counts or of mean numbers of levels.
#'     Bounds and draws of the latent \eqn{f}{f} are converted one by one. This is exact, as the expected reward rises
#'     with \eqn{f}{f}.
#'   * With comparisons ([rewards_preferences()]) they are differences of \eqn{f}{f} itself.
#'   * `width` always refers to \eqn{f}{f}.
#' @param tolerance the acceptable regret, a number > 0 in units of the reward; see the section Units.
#' @param width a confidence width, see [widths]. `NULL` (default): the policy's own.
#' @param delta failure probability, in (0, 1); 0.05 by default.
#' @param at the rounds after which a run checks the rule: increasing integers >= 1. `NULL` (default): every round.
#' @param draws the largest number of draws in one round, an integer >= 16. `NULL` (default): 20,000 over arms, 1000 on
#'   other domains, where each is a path that must be maximised. If they do not decide, `decided` of the certificate is
#'   `FALSE`.
#' @param n number of rewards without a new maximum, an integer >= 1.
#' @return An object of class `bandit_stop`.
#' @section Errors: `stop_gap()` without `width` is an error if the policy has no confidence width.
#' @section Guarantee: That of a certificate, under the assumptions on the page [certificate-assumptions]. `stop_emsr()`
#'   and `stop_stalled()` have none.
#' @references Ishibashi, Karasuyama, Takeuchi and Hino (2023), A stopping criterion for Bayesian optimization by the
#'   gap of expected minimum simple regrets, AISTATS; Makarova et al. (2022) <https://arxiv.org/abs/2104.08166>; Wilson
#'   (2024) <https://arxiv.org/abs/2402.16811>.
#' @seealso [expected-improvement]; [certificate-assumptions]; [run_bandit()], [maximize_bandit()]; `$certificate()` in
#'   [GPBandit]; [calibration].
#' @concept stopping criterion
#' @concept early stopping
#' @concept simple regret
#' @concept certificate
#' @concept probabilistic regret bound
#' @examples
#' x <- seq(0, 1, length.out = 100)
#' problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
#' set.seed(1)
#' b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01)
#' b$add(arm = c(10, 40, 70), reward = sin(6 * x)[c(10, 40, 70)])
#' b$expected_improvement(4, at_least = 0.05)
#' b$reset()
#' run <- run_bandit(b, problem, rounds = 200, stop_when = stop_prb(0.1))
#' run$rounds
#' b$certificate(stop_prb(0.1))
#' @name stopping
NULL

new_stop <- function(kind) new_part("bandit_stop", kind, parent.frame())

# The traits of a stopping rule:
#   `certify`       the function that evaluates it.
#   `of_intervals`  does it use the labels of points?
#   `by_rewards`    does it use the rewards only, whatever algorithm chooses the points?
#   `in_units`      does it use a gap in units of the reward?
#   `by_looks`      are intervals sufficient that hold at fixed interim analyses, if the rule gives their rounds?
stop_traits <- list(title = NULL, certify = NULL, of_intervals = FALSE, by_rewards = FALSE, in_units = TRUE,
                    by_looks = FALSE)

stop_entries <- list(
  gap = list(settings = alist(tolerance = check_tolerance(tolerance), width = check_stop_width(width),
                              at = check_stop_rounds(at)),
             traits = list(title = "gap between upper and lower bounds", by_looks = TRUE,
                           certify = function(rule) certify_gap)),
  prb = list(settings = alist(tolerance = check_tolerance(tolerance), delta = check_delta(delta),
                              draws = if (!is.null(draws)) check_count(draws, lower = 16, upper = 1e7)),
             traits = list(title = "probabilistic regret bound", certify = function(rule) certify_prb)),
  emsr = list(settings = alist(tolerance = check_tolerance(tolerance), width = check_stop_width(width)),
              traits = list(title = "change of the expected minimum simple regret",
                            certify = function(rule) certify_emsr)),
  levels = list(traits = list(title = "every point is labelled", of_intervals = TRUE, in_units = FALSE,
                              certify = function(rule) certify_levels)),
  stalled = list(settings = alist(n = check_count(n)),
                 traits = list(title = "no better result", by_rewards = TRUE, in_units = FALSE,
                               certify = function(rule) certify_stalled))
)

check_tolerance <- function(tolerance) check_number(tolerance, "tolerance", lower = 0, open_lower = TRUE)

# NULL: the width of the policy.
check_stop_width <- function(width) if (!is.null(width)) check_one_multiplier(width, drawn = FALSE)

# The rounds after which a run evaluates the rule; NULL: every round.
check_stop_rounds <- function(at) {
  if (is.null(at)) return(NULL)
  at <- check_numbers(at, "at", lower = 1)
  if (length(at) == 0 || any(at != round(at)) || is.unsorted(at, strictly = TRUE)) {
    stop_argument("at", describe(at), "NULL, or increasing integers >= 1")
  }
  as.double(at)
}

# If a width holds only for a number of interim analyses fixed in advance, the rule must give their rounds.
check_looks <- function(rule, config, arg) {
  width <- if (is.null(rule$width)) config$policy$width else rule$width
  looks <- if (!is.null(width)) trait(width, "looks")
  if (!trait(rule, "by_looks") || is.null(looks)) return(invisible())
  if (is.null(rule$at) || length(rule$at) > looks) {
    stop_argument(arg,
                  sprintf("stop_gap() with %s for %s, at %s", trait(width, "title"), amount_of(looks, "check"),
                          if (is.null(rule$at)) "every round" else sprintf("%d rounds", length(rule$at))),
                  "stop_gap(at = ) with at most the number of rounds that the width was made for")
  }
}

#' @rdname stopping
#' @export
stop_gap <- function(tolerance, width = NULL, at = NULL) new_stop("gap")

#' @rdname stopping
#' @export
stop_prb <- function(tolerance, delta = 0.05, draws = NULL) new_stop("prb")

#' @rdname stopping
#' @export
stop_emsr <- function(tolerance, width = NULL) new_stop("emsr")

#' @rdname stopping
#' @export
stop_stalled <- function(n) new_stop("stalled")

#' @export
print.bandit_stop <- function(x, ...) {
  check_class(x, "bandit_stop")
  numbers <- Filter(is.numeric, unclass(x))
  numbers <- sprintf(", %s = %s", names(numbers), vapply(numbers, paste, "", collapse = " "))
  cat("<stop rule: ", trait(x, "title"), numbers, ">\n", sep = "")
  invisible(x)
}

# A stopping rule, or a function that is evaluated after every round.
check_stop <- function(rule, arg = "stop_when") {
  if (inherits(rule, "bandit_stop")) return(check_class(rule, "bandit_stop", arg))
  if (is.character(rule)) return(as_part(rule, "bandit_stop", arg, "stop_gap(), stop_prb(), ..."))
  if (is.null(rule) || is.function(rule)) return(rule)
  stop_argument(arg, describe(rule), "NULL, a stop rule such as stop_prb(), or a function that returns TRUE to stop")
}

check_stop_in_run <- function(rule, config) {
  if (!inherits(check_stop(rule), "bandit_stop")) return(invisible())
  if (trait(rule, "of_intervals") && !trait(config$policy, "intervals")) {
    stop_argument("stop_when", "\"levels\", with a policy that classifies no points", "\"levels\" with gp_lse() only")
  }
  if (!trait(rule, "by_rewards")) check_one_outcome(config, "A stop rule (but for stop_stalled() and functions)")
  check_stop_of_policy(rule, config, "stop_when", "stop_stalled() or a function")
  check_looks(rule, config, "stop_when")
  if (!trait(rule, "by_rewards") && length(config$context_names)) {
    stop_argument("stop_when", "a stop rule, for a bandit that has contexts",
                  "stop_stalled() or a function (it can use `$certificate(rule, context)` for each context)")
  }
}

# Rules in R use several posteriors, so there is no single interval. If only safe points may be played, the point with
# the largest lower bound may be unsafe.
check_stop_of_policy <- function(rule, config, arg, allowed) {
  of_rule <- !is.null(config$rule)
  if (!(of_rule || trait(config$policy, "safe")) || (!is.null(rule) && trait(rule, "by_rewards"))) return(invisible())
  text <- if (is.null(rule)) "NULL" else dQuote(trait(rule, "title"), FALSE)
  stop_argument(arg, sprintf("%s for %s", text, trait(config$policy, "title")),
                paste(allowed, if (of_rule) "if points are chosen by a rule over several posteriors"
                               else "if only points that are known to be safe are evaluated"))
}

# ---- evaluating a rule --------------------------------------------------------

# Is the stopping rule satisfied? `subject`: the argument of a user's function.
time_to_stop <- function(rule, bandit, subject = bandit) {
  if (is.null(rule)) return(FALSE)
  if (is.function(rule)) {
    answer <- call_user(rule(subject), "stop_when", "after a round")
    if (!is.logical(answer) || length(answer) != 1 || is.na(answer)) {
      stop_returned("stop_when", answer, "TRUE or FALSE")
    }
    return(answer)
  }
  if (!length(known_ids(bandit))) return(FALSE)
  if (!is.null(rule$at) && !all_rounds(bandit) %in% rule$at) return(FALSE)
  stop_certificate(rule, looked_at(bandit), NULL)$certified
}

# The certificate for `$certificate()`. Without a rule, it is the gap of the bounds of the policy's width. If the policy
# has no such width, it is a regret bound that holds for all but 5 of 100 draws of f.
bandit_certificate <- function(bandit, rule, context, ...) {
  check_dots_empty(..., allowed = c("rule", "context"))
  if (!is.null(rule)) rule <- as_part(rule, "bandit_stop", hint = "stop_gap(), stop_prb(), ...")
  rebuild(bandit)
  check_one_outcome(bandit$config, "A certificate")
  check_stop_of_policy(rule, bandit$config, "rule", "stop_stalled()")
  checked_certificate(asked_certificate(rule, bandit, context), check_line(bandit))
}

asked_certificate <- function(rule, bandit, context) {
  if (!is.null(rule)) return(stop_certificate(rule, bandit, context))
  if (!is_scale_known(current_config(bandit))) return(certify_without_scale(bandit, context))
  own <- bandit$config$policy$width
  drawn <- is.null(own) || !trait(own, "one_multiplier") || trait(own, "drawn")
  # (With levels the maximum of one draw takes longer than all other results.)
  slow <- core_space_kind(bandit$config$domain, bandit$config) == "mixed"
  before_first_fit(if (drawn && slow) certify_at_points(bandit, context)
                   else if (drawn) certify_draws(list(delta = 0.05), bandit, context)
                   else certify_gap(list(tolerance = 0), bandit, context), bandit)
}

# The gap of intervals that hold at each point. At all points together their probability is not known.
certify_at_points <- function(bandit, context) {
  found <- certify_gap(stop_gap(1, width = stats::qnorm(0.975)), bandit, context)
  found[c("probability", "certified")] <- list(NA_real_, FALSE)
  found$assumptions <- paste("none: the intervals hold with probability 0.95 at each point, but not at all points",
                             "together (`$certificate(stop_prb(tolerance))` has a probability)")
  found
}

# Adds the result of the model check, which has no associated probability.
checked_certificate <- function(certificate, check) {
  if (is.null(check)) return(certificate)
  certificate$check <- describe_check(check)
  if (check$p < against_model) {
    certificate$assumptions <- c(certificate$assumptions, "the check speaks against the model (`check`)")
  }
  certificate
}

stop_certificate <- function(rule, bandit, context) {
  if (!trait(rule, "in_units")) return(trait(rule, "certify")(rule, bandit, context))
  if (!is_scale_known(current_config(bandit))) return(certify_without_scale(bandit, context))
  before_first_fit(trait(rule, "certify")(rule, bandit, context), bandit)
}

# Parameters that no rewards support certify nothing.
before_first_fit <- function(certificate, bandit) {
  if (!awaits_first_fit(bandit)) return(certificate)
  certificate[c("probability", "certified")] <- list(NA_real_, FALSE)
  certificate$assumptions <- "none: the model's parameters have not been estimated yet"
  certificate
}

new_certificate <- function(gap, probability, assumptions, certified, point = NULL, ...) {
  list(gap = gap, probability = probability, assumptions = assumptions, certified = certified, point = point, ...)
}

# Without a scale there is no certificate in units of the reward.
certify_without_scale <- function(bandit, context) {
  if (!is_level_known(current_config(bandit))) {
    stop_state("A certificate needs an observed result if results are scaled; this bandit has none yet. Use ",
               "`$observe()` first.", argument = "rule")
  }
  new_certificate(NA_real_, NA_real_, "none: one result, or results that are all equal, have no scale", FALSE,
                  bandit_best(bandit, context))
}

# ---- bounds -------------------------------------------------------------------

certify_gap <- function(rule, bandit, context) of_form(bandit$config, "certify_gap")(rule, bandit, context)

certify_gap_of_rewards <- function(rule, bandit, context) {
  contexts <- contexts_for(bandit, context, 1L)
  width <- if (is.null(rule$width)) bandit$config$policy$width else rule$width
  w <- stop_width(bandit, rule$width)
  bound <- function(w) cpp_bandit_bound(bandit$handle, contexts, w)
  upper <- bound(w)
  lower <- bound(-w)
  config <- current_config(bandit)
  # The intervals of a misspecified model are wider by its error on either side. Intervals on a net are wider by the
  # slack between its points.
  error <- if (is.null(trait(width, "model_error"))) 0 else trait(width, "model_error")
  between <- if (trait(width, "on_net")) slack_of(width, config) / (1 + length(known_ids(bandit)))^2 else 0
  gap <- reward_gap(config, lower$value - error, upper$value - lower$value + 2 * error + between)
  claim <- width_claim(width, bandit)
  if (!can_count(config$domain) && !is.na(claim$probability)) {
    claim$assumptions <- c(claim$assumptions, "the search has found the largest upper bound")
  }
  new_certificate(gap, claim$probability, claim$assumptions, gap <= rule$tolerance,
                  point_frame(bandit, lower$arm, contexts$row, lower$inputs), width = w)
}

stop_no_width <- function(rule) {
  stop_gpbandits("argument", sprintf("`%s()` needs `width`, because the bandit's policy has no width. ", rule),
                 "Try `stop_prb(tolerance)` or `stop_stalled(n)`, which need none, or ",
                 sprintf("`%s(tolerance, width = width_constant(2))`, which is no guarantee.", rule),
                 argument = "width")
}

stop_width <- function(bandit, width) {
  own <- is.null(width) || identical(width, bandit$config$policy$width)
  if (!own && trait(width, "curved")) {
    stop_argument("width", trait(width, "title"), "the policy's own, or a multiplier of the posterior's own sd")
  }
  if (own && is.null(bandit$config$policy$width)) {
    stop_no_width("stop_gap")
  }
  w <- if (own) cpp_bandit_width(bandit$handle)
       else cpp_bandit_width_of(bandit$handle, resolve_width(width, current_config(bandit)))
  if (!is.finite(w)) {
    stop_argument("width", trait(if (own) bandit$config$policy$width else width, "title"),
                  "a width that is one multiplier of sd and not drawn at random")
  }
  w
}

# ---- draws --------------------------------------------------------------------

# Draws from R's generator without changing its state, so that later draws of the bandit do not depend on certificates.
on_a_side_stream <- function(code) {
  preserve_rng({
    set_stream_seed(sample.int(.Machine$integer.max, 1))
    code
  })
}

# The regret of the recommended point in joint draws of f, in units of the reward. Each draw is converted to rewards
# separately.
shortfalls <- function(bandit, contexts, draws, maxima = drawn_maxima(bandit, contexts)) {
  drawn <- maxima(draws)
  reward_gap(current_config(bandit), drawn[, 2], drawn[, 1] - drawn[, 2])
}

# A function that draws maxima of f together with f at the recommended point, one row per draw. For a moderate number of
# arms it uses their joint covariance, factorised once; otherwise it makes one draw at a time.
drawn_maxima <- function(bandit, contexts) {
  rebuild(bandit)
  joint <- cpp_bandit_joint_maxima(bandit$handle, contexts)
  if (!is.null(joint)) return(function(draws) cpp_joint_maxima(joint, draws))
  twin <- drawing_twin(bandit)
  function(draws) cpp_bandit_drawn_maxima(twin$handle, contexts, draws)
}

# A gap above a value of the model, converted to units of the reward.
reward_gap <- function(config, from, gap) {
  if (is.null(config$outputs) && !has_response(config)) return(gap)
  abs(as_rewards(from + gap, config) - as_rewards(from, config))
}

prior_story <- function(bandit) {
  config <- current_config(bandit)
  c(if (!is.null(config$models)) {
      noise <- vapply(config$models, function(model) model$noise_var, 0)
      sprintf(paste("f is drawn from the prior of one of %d models, chosen by its weight (hyperparameters as fitted so",
                    "far, as if these were all there are), and the noise is Gaussian with variance %.3g to %.3g"),
              length(noise), min(noise), max(noise))
    } else {
      sprintf("f is drawn from the %s and %s",
              if (is.null(config$refit)) "prior"
              else "prior with the hyperparameters fitted so far",
              of_form(config, "noise_text")(config))
    },
    if (is_single_fit(config)) {
      paste("hyperparameters or scale are a single fit to the same data, which is too certain: no probability. With",
            "refit_every(average = 10) there is one")
    },
    if (has_fitted_map(config)) "rewards are scaled by the map fitted so far (as if it were given)",
    voided_by(bandit, c("refit", "outputs")),
    arrival_story(bandit),
    if (!can_count(config$domain)) "the draws are paths from random features, maximised by search")
}

# A single model with fitted hyperparameters or a fitted scale is too certain of the maximum
# (`bench/promises_stopping.R`).
is_single_fit <- function(config) is.null(config$models) && (!is.null(config$refit) || has_fitted_map(config))

probability_by_draws <- function(bandit, probability) {
  if (is_single_fit(current_config(bandit))) NA_real_ else probability
}

# The proportion of draws that fail. The sample grows until the confidence interval is on one side of `share` or the
# maximum number of draws is reached.
failure_interval <- function(draw, tolerance, share, risk, most) {
  failures <- 0
  n <- 0
  for (j in seq_len(floor(1 + log(most / 16) / log(1.5) + 1e-9))) {
    wanted <- floor(16 * 1.5^(j - 1))
    failures <- failures + sum(draw(wanted - n) > tolerance)
    n <- wanted
    side <- risk * j^-1.1 / 11 / 2
    lower <- if (failures == 0) 0 else stats::qbeta(side, failures, n - failures + 1)
    upper <- if (failures == n) 1 else stats::qbeta(1 - side, failures + 1, n - failures)
    if (upper <= share || lower >= share) break
  }
  list(failures = failures, draws = n, lower = lower, upper = upper, decided = upper <= share || lower >= share)
}

# A draw over arms is a product of matrices. Otherwise a draw is a path and a search for its maximum, which takes 20 ms
# or more.
most_draws <- function(rule, domain) {
  if (!is.null(rule$draws)) rule$draws else if (can_count(domain)) 20000 else 1000
}

certify_prb <- function(rule, bandit, context) {
  contexts <- contexts_for(bandit, context, 1L)
  maxima <- drawn_maxima(bandit, contexts)
  t <- all_rounds(bandit)
  found <- on_a_side_stream(failure_interval(
    function(n) shortfalls(bandit, contexts, n, maxima), rule$tolerance, rule$delta / 2,
    rule$delta / 2 * max(1, t)^-1.1 / 11, most_draws(rule, bandit$config$domain)
  ))
  new_certificate(rule$tolerance, probability_by_draws(bandit, max(0, 1 - found$upper - rule$delta / 2)),
                  prior_story(bandit), found$upper <= rule$delta / 2, bandit_best(bandit, context),
                  failures = found$failures, draws = found$draws, lower = found$lower, upper = found$upper,
                  decided = found$decided)
}

certify_draws <- function(rule, bandit, context) {
  contexts <- contexts_for(bandit, context, 1L)
  # Given the data, f and its draws are exchangeable: f is beyond all n draws with probability 1 / (n + 1). Over arms,
  # where draws take little time, the rank is the one that exceeds the quantile with probability 1 - delta / 2.
  draws <- if (can_count(bandit$config$domain)) 1000L else as.integer(ceiling(1 / rule$delta)) - 1L
  gap <- on_a_side_stream(shortfalls(bandit, contexts, draws))
  rank <- if (can_count(bandit$config$domain)) stats::qbinom(1 - rule$delta / 2, draws, 1 - rule$delta / 2) + 1
          else draws
  new_certificate(sort(gap)[min(rank, draws)], probability_by_draws(bandit, 1 - rule$delta), prior_story(bandit),
                  FALSE, bandit_best(bandit, context), draws = draws)
}

certify_emsr <- function(rule, bandit, context) {
  if (!of_form(bandit$config, "gaussian")) {
    stop_argument("rule", "stop_emsr()", "another rule, because it needs measurements with Gaussian noise")
  }
  rebuild(bandit)
  known <- cpp_bandit_known(bandit$handle, 1L)
  last <- match(last_reported(bandit), known$id)
  change <- if (is.na(last)) Inf else emsr_change(rule, bandit, known, last, context)
  new_certificate(NA_real_, NA_real_, "none: a change of the expected regret that is small bounds no regret",
                  change <= rule$tolerance, bandit_best(bandit, context), change = change)
}

# The query whose reward was observed last.
last_reported <- function(bandit) {
  size <- table_size(bandit$events)
  reported <- which(bandit$events$kind[seq_len(size)] %in% event_kind[c("reward", "given")] &
                !is.na(bandit$events$reward[seq_len(size)]))
  if (length(reported)) bandit$events$id[max(reported)] else NA_integer_
}

emsr_change <- function(rule, bandit, known, last, context) {
  width <- rule$width
  if (is.null(width)) width <- bandit$config$policy$width
  if (is.null(width)) {
    stop_no_width("stop_emsr")
  }
  config <- current_config(bandit)
  known <- in_model_units(known, config)
  before <- reported_twin(bandit, width, known, -last)
  after <- reported_twin(bandit, width, known, seq_along(known$id))
  old <- bandit_best(before, context)
  new <- bandit_best(after, context)
  means <- lapply(list(new, old), function(best) model_state_of_best(bandit, best)$mean)
  gap <- certify_gap(list(tolerance = 0), before, context)$gap
  # With several models, the gain under the average is the average of the gains. The divergence is at most the average
  # of the divergences, because it is convex and the weights are constant.
  models <- configs_of_models(config)
  weight <- model_weights(config)
  kl <- sum(weight * vapply(models, function(one) last_divergence(bandit, one, known, last), 0))
  improvement <- sum(weight * vapply(models, function(one) improvement_between(bandit, one, known, new, old), 0))
  change <- abs(means[[1]] - means[[2]]) + improvement + gap * sqrt(kl / 2)
  reward_gap(config, means[[1]] - change, change)
}

# The observed rewards and their noise variances in the model's units.
in_model_units <- function(known, config) {
  map <- output_map(config)
  scaled <- through_map(map, known, config$noise_var)
  if (!is.null(map)) {
    sd <- sqrt(known$noise_var)
    reported <- ((transform_outputs(map, known$value + sd) - transform_outputs(map, known$value - sd)) / 2)^2
    scaled$noise_var <- ifelse(is.na(sd), scaled$noise_var, reported)
  }
  known[c("value", "noise_var")] <- scaled[c("value", "noise_var")]
  known
}

# A bandit that conditions on some of this bandit's rewards.
reported_twin <- function(bandit, width, known, which) {
  config <- current_config(bandit)
  twin <- as.environment(gp_bandit(config$domain, config$kernel, config$noise_var, policy_ucb(width),
                                   mean = mean_for_twin(config),
                                   contexts = contexts_argument(config)))
  if (!is.null(config$models)) {
    twin$config$models <- config$models
    make_ready(twin)
  }
  # (Of several measurements the copy gets the mean, with the noise variance of a mean.)
  own <- noise_of(known, list(noise_var = expected_noise(config)))
  if (length(known$id[which])) teach_model(twin, bandit, known$id[which], known$value[which],
                                            ifelse(known$size == 1, known$noise_var, own)[which])
  twin
}

# The Kullback-Leibler divergence of the posteriors before and after the last reward, under one model.
last_divergence <- function(bandit, config, known, last) {
  at <- reported_model_state(bandit, config, known, -last, points_as_seen(bandit, known$id[last]))
  v <- at$covariance[1, 1]
  lambda <- noise_of(known, config)[last]
  (log1p(v / lambda) - v / (v + lambda) + v * (known$value[last] - at$mean)^2 / (v + lambda)^2) / 2
}

# E max(f(new) - f(old), 0) under one model, for the joint normal posterior.
improvement_between <- function(bandit, config, known, new, old) {
  two <- points_of_frames(bandit, new, old)
  row <- if (length(config$context_names)) context_matrix(config, new[config$context_names])[c(1, 1), , drop = FALSE]
  x <- cbind(two$inputs, row, if (has_matrix(config$kernel)) two$arm + 1L)
  at <- reported_model_state(bandit, config, known, seq_along(known$id),
                             list(x = x, prior = mean_at_arms(config$mean, two$arm) + shape_at(config, two$inputs)))
  sd <- sqrt(max(0, at$covariance[1, 1] + at$covariance[2, 2] - 2 * at$covariance[1, 2]))
  gap <- at$mean[1] - at$mean[2]
  if (sd > 0) gap * stats::pnorm(gap / sd) + sd * stats::dnorm(gap / sd) else max(gap, 0)
}

mean_at_arms <- function(mean, arm) if (length(mean) == 1) rep(mean, length(arm)) else mean[arm + 1L]

# The points of queries, in the form that the kernel and the prior mean use.
points_as_seen <- function(bandit, ids) {
  list(x = known_inputs(bandit, ids), arm = bandit$queries$arm[ids], inputs = logged_points(bandit, ids)$inputs)
}

# The mean and covariance under one model, conditional on the rewards of some rows of `known`, in the model's units.
reported_model_state <- function(bandit, config, known, rows, at) {
  ids <- known$id[rows]
  prior <- if (is.null(at$prior)) mean_at_arms(config$mean, at$arm) + shape_at(config, at$inputs) else at$prior
  covariance <- kernel_gram(config$kernel, at$x)
  if (!length(ids)) return(list(mean = prior, covariance = covariance))
  x <- known_inputs(bandit, ids)
  colnames(at$x) <- colnames(x)
  cross <- kernel_gram(config$kernel, at$x, x)
  noise_var <- noise_of(known, config)[rows]
  weights <- solve(kernel_gram(config$kernel, x) + diag(noise_var, length(noise_var)), t(cross))
  list(mean = prior + drop(crossprod(weights, known$value[rows] - known_prior_mean(bandit, ids, config$mean))),
       covariance = covariance - cross %*% weights)
}

points_of_frames <- function(bandit, ...) {
  frames <- rbind(...)
  domain <- bandit$config$domain
  if (can_count(domain) && !is.null(frames$arm)) return(subset_points(all_points(domain), frames$arm))
  find_points(domain, if (is.null(frames$arm)) as.matrix(frames[domain$names]) else as.matrix(frames[domain$box$names]),
              frames$arm)
}

certify_levels <- function(rule, bandit, context) {
  check_keeps_intervals(bandit, "rule", "The rule \"levels\"")
  policy <- bandit$config$policy
  claim <- width_claim(policy$width, bandit)
  label <- labelled_intervals(bandit, context)$label
  if (!can_count(bandit$config$domain) && !is.na(claim$probability)) {
    claim$assumptions <- c(claim$assumptions, sprintf("this at %d candidates, and nothing between them", length(label)))
  }
  new_certificate(policy$accuracy, claim$probability, claim$assumptions, !any(label == "unknown"))
}

# ---- rewards only --------------------------------------------------------------

certify_stalled <- function(rule, bandit, context) {
  check_remembers(bandit, "rule", "`stop_stalled()`")
  known <- known_ids(bandit)
  reward <- bandit$queries$reward[known]
  best <- best_row(reward, bandit$config)
  since <- if (length(reward)) length(reward) - best else 0
  new_certificate(NA_real_, NA_real_, "none: rewards that do not increase do not bound the maximum", since >= rule$n,
                  if (length(known)) query_frame(bandit, known[best]), since = since)
}

certify_duel <- function(rule, bandit, context) {
  contexts <- contexts_for(bandit, context, 1L)
  width <- bandit$config$policy$width
  w <- stop_width(bandit, rule$width)
  best <- cpp_bandit_best(bandit$handle, contexts, NA_real_)
  from <- list(arm = best$arm, context = contexts$row, inputs = best$inputs)
  gap <- max(0, cpp_bandit_advantage(bandit$handle, from, contexts, w)$value)
  claim <- width_claim(width, bandit)
  if (!can_count(bandit$config$domain) && !is.na(claim$probability)) {
    claim$assumptions <- c(claim$assumptions, "the search has found the largest upper bound")
  }
  new_certificate(gap, claim$probability, claim$assumptions, gap <= rule$tolerance,
                  point_frame(bandit, best$arm, contexts$row, best$inputs), width = w)
}

register_family("bandit_stop", stop_entries, tag = "kind", traits = stop_traits, text = "title", prefix = "stop_",
                plain = "levels")

register_form("reward", certify_gap = certify_gap_of_rewards, noise_text = function(config) {
  sprintf("the noise is Gaussian with variance %g", config$noise_var)
})
register_form("response", noise_text = function(config) {
  sprintf("rewards are %s, the posterior as if it were its Gaussian approximation", trait(config$rewards, "title"))
})
register_form("comparison", certify_gap = certify_duel)
