# Rules for pending queries. Layer: strategy.

#' Pending evaluations: batches, parallel and delayed rewards
#'
#' A pending rule determines how the model treats queries whose rewards have not arrived.
#' It makes batch, parallel and asynchronous Bayesian optimisation possible. Below, \eqn{\sigma}{sd} is the posterior
#' standard deviation and \eqn{\lambda}{lambda} the noise variance.
#'
#' * `pending_ignore()`, the default of [gp_bandit()]: neither mean nor variance includes a query before its reward
#'   arrives.
#' * `pending_hallucinate(guard)`: the variance includes it at once, the mean only when the reward arrives. This is
#'   GP-BUCB's hallucination (kriging believer): a reward equal to the posterior mean leaves the mean unchanged. See
#'   *Guarantee* for `guard`.
#' * `pending_censor(m, value)`: mean and variance include it at once, with `value` as a substitute (constant
#'   liar). The reward replaces `value` if it arrives within `m` rounds (or within a time `m`); otherwise `value` is
#'   kept for good.
#' * `pending_penalize(lipschitz)`: neither includes it. Instead the acquisition value is reduced around it, see *Local
#'   penalisation*.
#'
#' @section Local penalisation:
#' The acquisition value at \eqn{x} is multiplied by a factor for each pending query \eqn{x_j} (Gonzalez et al. 2016):
#' \deqn{\prod_j\Phi((L\|x - x_j\| - M + \mu_j)/\sigma_j).}{prod_j Phi((L |x - x_j| - M + mu_j) / sd_j).}
#'
#' Here \eqn{M} is the largest posterior mean, and \eqn{L} the largest slope of the posterior mean (between arms; on a
#' box among its candidates; 10 if the mean is flat). Acquisition values \eqn{s} that can be negative enter as
#' \eqn{\log(1 + e^s)}{log(1 + exp(s))}, with \eqn{s} in prior sd.
#'
#' @section Delays in rounds: The delay of the query of round \eqn{s} is \eqn{t - s} if its reward is observed before
#' the query of round \eqn{t}. It is 0 if no query came after its own. A batch of \eqn{Q} queries that are suggested
#' together therefore needs `m` of at least \eqn{Q}. [maximize_bandit()] waits for rewards itself.
#'
#' @section Delays in time:
#' With `unit = "time"` the delay is \eqn{d_s = o_s - \tau_s}{d_s = o_s - tau_s}: the reward's time of arrival minus the
#' time of the suggestion. At a choice at time \eqn{\tau}{tau}, the reward is used if and only if
#' \deqn{d_s \le \min(m, \tau - \tau_s).}{d_s <= min(m, tau - tau_s).}
#'
#' * The window of [width_sdf()] then holds the queries of the last `m` units of time.
#' * The clock is `Sys.time()`, in seconds, or the argument `time` of `$suggest()`, `$observe()` and `$add()` (numbers
#'   in any unit, or date-times).
#' * A suggestion's time may not be earlier than any before it, an observation's not earlier than its query's.
#' * Times are part of the event log (the record of all queries and rewards). A copy, a file or a journal gives the same
#'   bandit.
#' * In [run_bandit()] a round is one unit of time.
#'
#' @param guard the largest information that pending queries may carry when another is suggested: a number >= 0, in
#'   nats. 1 is a good value. `Inf` (default): no limit.
#' @param lipschitz the slope \eqn{L}: a number > 0 in units of the reward per unit of the inputs (per logarithm for
#'   logarithmic inputs). With `outputs` it is converted by the transform's slope at the centre. `NULL` (default,
#'   required with `rewards`): estimated.
#' @param m the number of rounds after which a reward counts as lost: an integer >= 0, or `Inf`. With `unit = "time"` a
#'   time: a number >= 0 in units of the clock (seconds, by default), a `difftime`, or `Inf`.
#' @param value the reward that replaces a pending one, in units of the reward: the smallest possible reward. Default 0.
#' @param unit the unit of `m`: rounds, that is queries (`"rounds"`, the default), or clock time (`"time"`).
#' @return An object of class `bandit_pending`.
#' @section Errors: `$suggest()` is an error, and changes nothing, while pending queries carry more information than
#'   `guard`: observe, withdraw or fail some first.
#' @section Guarantee: With a finite `guard` \eqn{C} (GP-AUCB) every confidence width (the multiplier of the posterior
#'   sd) is multiplied by \eqn{e^C}{exp(C)}. No query is made while the pending ones carry more than \eqn{C} nats,
#'   \deqn{\sum \tfrac12\log(1 + \sigma^2/\lambda) > C,}{sum of 1/2 log(1 + sd^2 / lambda) > C,} with \eqn{\sigma}{sd}
#'   at the moment of each query. Then \eqn{\sigma}{sd} without the pending queries is at most \eqn{e^C}{exp(C)} times
#'   \eqn{\sigma}{sd} with them. Intervals that hold without delays hold here, and GP-UCB keeps its regret bound times
#'   \eqn{e^C}{exp(C)}. With `guard = Inf` batches have no bound; [gp_bucb()] has one with a wider width. For
#'   `pending_censor()` see [gp_ucb_sdf()]. Local penalisation has no bound.
#' @references Gonzalez, Dai, Hennig and Lawrence (2016), Batch Bayesian optimization via local penalization
#'   <https://arxiv.org/abs/1505.08052>; Verma, Dai and Low (2022), Bayesian optimization under stochastic delayed
#'   feedback, ICML, Section 3 and Appendix A.4 for clock time; Desautels, Krause and Burdick (2014), Parallelizing
#'   exploration-exploitation tradeoffs in Gaussian process bandit optimization, JMLR 15, for hallucination.
#' @seealso [gp_ucb_sdf()], [gp_ucb_pe()] and [bpe()] for algorithms; [parallel-search] for workers.
#' @section Strings: A string can be given wherever a pending rule is expected, for the constructor with its defaults:
#'   `pending = "hallucinate"` is `pending_hallucinate()`. An unknown string is an error that lists the choices.
#' @concept batch Bayesian optimization
#' @concept parallel Bayesian optimization
#' @concept asynchronous evaluation
#' @concept constant liar
#' @concept kriging believer
#' @concept local penalization
#' @concept delayed feedback
#' @concept fantasies
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

# The traits of a pending rule:
#   `noticed`         does a pending query affect later choices?
#   `replaces`        are missing rewards replaced by a constant?
#   `words`           a description for users.
#   `stands_in`       is a value used for a reward that has not been observed?
#   `variance_knows`  are the sds computed as if the pending rewards had been observed?
pending_traits <- list(noticed = TRUE, replaces = FALSE, stands_in = FALSE, variance_knows = FALSE, text = NULL)

pending_entries <- list(
  ignore = list(traits = list(noticed = FALSE, text = "ignored")),
  hallucinate = list(
    settings = alist(guard = check_number(guard, lower = 0, infinite = TRUE)),
    traits = list(variance_knows = TRUE, text = function(pending) {
      paste0("included in the variance (hallucinated)",
             if (is_guarded(pending)) sprintf(", at most %g nats at a time", pending$guard))
    })
  ),
  penalize = list(
    settings = alist(lipschitz = if (!is.null(lipschitz)) check_number(lipschitz, lower = 0, open_lower = TRUE)),
    traits = list(text = "penalised around")
  ),
  censor = list(
    settings = alist(unit = check_choice(unit, c("rounds", "time")), m = check_patience(m, unit),
                     value = check_number(value, lower = -largest_number, upper = largest_number)),
    traits = list(replaces = TRUE, stands_in = TRUE, text = function(pending) {
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

# The rule in the form that the core expects. A Lipschitz constant is converted to the model's units; while these have
# no scale, it is estimated.
resolve_pending <- function(pending, config) {
  out <- unclass(pending)
  if (is.null(pending$lipschitz)) return(out)
  config <- outcome_config(config, match(objectives(config)[1], outcome_names(config)))
  out["lipschitz"] <- list(if (is_scale_known(config)) pending$lipschitz * slope_at_centre(output_map(config)))
  out
}

describe_pending <- function(pending) trait(pending, "text")

is_guarded <- function(pending) !is.null(pending$guard) && is.finite(pending$guard)

goes_by_clock <- function(config) {
  identical(.subset2(config$pending, "unit"), "time")     # `$` of a classed list is ten times slower
}

register_family("bandit_pending", pending_entries, tag = "kind", traits = pending_traits, prefix = "pending_")
