# Rules for pending queries. Layer: strategy.

#' Pending queries: what the posterior knows of rewards that are not yet known
#'
#' * `pending_ignore()`: nothing: neither mean nor variance knows a query before its reward arrives.
#' * `pending_hallucinate()`: the variance knows it at once, the mean only when the reward arrives
#'   (GP-BUCB: a hallucinated reward equal to the mean leaves the mean where it is). With a finite `guard` \eqn{C}
#'   (GP-AUCB) every width is multiplied by \eqn{e^C}{exp(C)}, and a query is refused while the pending ones carry more
#'   than \eqn{C} nats of information,
#'   \eqn{\sum \frac12\log(1 + \sigma^2/\lambda)}{the sum of 1/2 log(1 + sd^2 / lambda)} with \eqn{\sigma}{sd} at the
#'   moment each was asked. So \eqn{\sigma}{sd} without them is at most \eqn{e^C}{exp(C)} times \eqn{\sigma}{sd} with
#'   them, intervals that hold without delays hold here, and GP-UCB keeps its regret bound times \eqn{e^C}{exp(C)}. With
#'   `guard = Inf` batches have no bound. [maximize_bandit()] waits for a reward by itself.
#' * `pending_censor(m, value)`: both know it at once, with `value` in place of the reward; the reward
#'   replaces it when it arrives within `m` rounds (or within a time `m`), and one that takes longer stays `value` for
#'   good.
#'
#' * `pending_penalize(lipschitz)`: neither knows it; instead the policy's score is made smaller around it (local
#'   penalisation, Gonzalez et al. 2016): it is multiplied by \eqn{\prod_j\Phi((L\|x - x_j\| - M + \mu_j)/\sigma_j)}{the
#'   product over pending queries j of Phi((L |x - x_j| - M + mu_j) / sd_j)}, \eqn{M} the largest posterior mean,
#'   \eqn{L} the largest slope of the posterior mean (between arms; on a box among its candidates; 10 where it is flat).
#'   Scores that can be negative are taken by their \eqn{\log(1 + e^s)}{log(1 + exp(s))} in prior sd. No bound.
#'
#' A reward observed before round \eqn{t}'s query has taken \eqn{t - s} rounds, and 0 if no query came after
#' its own. A batch of \eqn{Q} queries asked together therefore needs `m` of at least \eqn{Q}.
#'
#' With `unit = "time"` a query's delay is measured by the clock: \eqn{d_s = o_s - \tau_s}{d_s = o_s - tau_s}, its
#' reward's time of arrival minus the time at which it was suggested, and the reward is used iff
#' \eqn{d_s \le \min(m, \tau - \tau_s)}{d_s <= min(m, tau - tau_s)} at a choice at time \eqn{\tau}{tau}. The window of
#' [width_sdf()] then holds the queries of the last `m` units of time. The clock is `Sys.time()`, in seconds, or what is
#' given as `time` to `$suggest()`, `$observe()` and `$add()` (numbers in any unit, or date-times): a suggestion's time
#' may not be earlier than any before it, an observation's not earlier than its query's. Times are part of the event
#' log, so that a copy, a file or a journal gives the same bandit. In [run_bandit()] a round is one unit of time.
#'
#' @param guard nats of information that pending queries may carry when another is asked, a number >= 0; 1 is a good
#'   value; `Inf`: no limit.
#' @param lipschitz \eqn{L}, a number > 0 in units of the reward per unit of the inputs (their logarithms, where these
#'   are logarithmic); `NULL`: estimated. With `outputs` it is converted by the slope of the transform at the centre;
#'   with `rewards` only `NULL` is possible.
#' @param m rounds after which a reward counts as lost: a whole number >= 0, or `Inf`; with `unit = "time"` a length of
#'   time, a number >= 0 in units of the clock (seconds, by default), a `difftime`, or `Inf`.
#' @param value what stands in place of an unknown reward: the smallest possible reward.
#' @param unit what `m` counts: queries asked (`"rounds"`) or clock time (`"time"`).
#' @return An object of class `bandit_pending`.
#' @section Errors: a `gpbandits_error` if `guard`, `m` or `value` is no such number; and at `$suggest()`, which then
#'   changes nothing, where the guard refuses a query.
#' @references Gonzalez, Dai, Hennig and Lawrence (2016) <https://arxiv.org/abs/1505.08052>; Verma, Dai and Low (2022),
#'   Section 3 and Appendix A.4 for clock time; Desautels, Krause and Burdick (2014) for hallucination.
#' @section Strings: a string stands for the constructor with its defaults wherever a rule is expected: `pending =
#'   "hallucinate"` is `pending_hallucinate()`. An unknown string is an error that lists the choices.
#' @examples
#' pending_censor(m = 20, value = 0)
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_bandit(x, kernel_se(0.2), noise_var = 0.01, policy = policy_ucb(width_constant(2)),
#'                pending = pending_censor(m = 60, unit = "time"))
#' b$suggest(2, time = 100)
#' b$observe(1, reward = 0.7, time = 130) # took 30 seconds
#' b$observe(2, reward = 0.9, time = 180) # took 80: stays 0 for good
#' @name pending
NULL

new_pending <- function(kind) new_part("bandit_pending", kind, parent.frame())

# What a pending rule states of itself: `noticed`: does anything know of a query before its reward? `replaces`: are
# rewards that do not come replaced by a constant? `words`: for people.
# `stands_in`: a value stands for a reward that is not known. `variance_knows`: sds are as if the rewards had come.
pending_traits <- list(noticed = TRUE, replaces = FALSE, stands_in = FALSE, variance_knows = FALSE, words = NULL)

pending_entries <- list(
  ignore = list(traits = list(noticed = FALSE, words = "ignored")),
  hallucinate = list(
    settings = alist(guard = check_number(guard, lower = 0, infinite = TRUE)),
    traits = list(variance_knows = TRUE, words = function(pending) {
      if (is_guarded(pending)) sprintf("known to the variance, at most %g nats at a time", pending$guard)
      else "known to the variance"
    })
  ),
  penalize = list(
    settings = alist(lipschitz = if (!is.null(lipschitz)) check_number(lipschitz, lower = 0, open_lower = TRUE)),
    traits = list(words = "penalised around")
  ),
  censor = list(
    settings = alist(unit = check_choice(unit, c("rounds", "time")), m = check_patience(m, unit),
                     value = check_number(value, lower = -largest_number, upper = largest_number)),
    traits = list(replaces = TRUE, stands_in = TRUE, words = function(pending) {
      sprintf("censored as %g, lost after %g %s", pending$value, pending$m,
              if (pending$unit == "time") "units of time" else "rounds")
    })
  )
)

check_patience <- function(m, unit) {
  if (unit == "rounds") return(check_count(m, "m", lower = 0, infinite = TRUE))
  if (!missing(m) && inherits(m, "difftime")) m <- as.double(m, units = "secs")
  check_number(m, "m", lower = 0, infinite = TRUE)
}

#' @rdname pending
#' @export
pending_ignore <- function() new_pending("ignore")

#' @rdname pending
#' @export
pending_hallucinate <- function(guard = Inf) new_pending("hallucinate")

#' @rdname pending
#' @export
pending_penalize <- function(lipschitz = NULL) new_pending("penalize")

#' @rdname pending
#' @export
pending_censor <- function(m, value = 0, unit = c("rounds", "time")) new_pending("censor")

#' @export
print.bandit_pending <- function(x, ...) {
  check_class(x, "bandit_pending")
  cat(sprintf("<pending queries: %s>\n", describe_pending(x)))
  invisible(x)
}

# As the core takes it: a Lipschitz constant is f's as the model has it, and estimated as long as that has no scale.
resolve_pending <- function(pending, config) {
  out <- unclass(pending)
  if (is.null(pending$lipschitz)) return(out)
  if (has_outcomes(config)) config <- outcome_config(config, match(objectives(config)[1], outcome_names(config)))
  out["lipschitz"] <- list(if (is_scale_known(config)) pending$lipschitz * slope_at_centre(output_map(config)))
  out
}

describe_pending <- function(pending) trait(pending, "words")

is_guarded <- function(pending) !is.null(pending$guard) && is.finite(pending$guard)

goes_by_clock <- function(config) {
  identical(.subset2(config$pending, "unit"), "time")     # `$` of a classed list is ten times as slow
}

# ---- clock times: NA where nobody gave them and nothing depends on them -----

register_family("bandit_pending", pending_entries, tag = "kind", traits = pending_traits, prefix = "pending_")
