#' Pending queries: what the posterior knows of rewards that are not yet known
#'
#' * `pending_ignore()`: nothing: neither mean nor variance knows a query before its reward arrives.
#' * `pending_hallucinate()`: the variance knows it at once, the mean only when the reward arrives
#'   (GP-BUCB: a hallucinated reward equal to the mean leaves the mean where it is).
#' * `pending_censor(m, value)`: both know it at once, with `value` in place of the reward; the reward
#'   replaces it when it arrives within `m` rounds, and one that takes longer stays `value` for good.
#'
#' A reward observed before round \eqn{t}'s query has taken \eqn{t - s} rounds, and 0 if no query came after
#' its own. A batch of \eqn{Q} queries asked together therefore needs `m` of at least \eqn{Q}.
#'
#' @param m rounds after which a reward counts as lost: a whole number >= 0, or `Inf`.
#' @param value what stands in place of an unknown reward: the smallest possible reward.
#' @return An object of class `bandit_pending`.
#' @section Errors: a `gpbandits_error` if `m` or `value` is no such number.
#' @references Verma, Dai and Low (2022); Desautels, Krause and Burdick (2014) for hallucination.
#' @examples
#' pending_censor(m = 20, value = 0)
#' @name pending
NULL

new_pending <- function(kind, ...) structure(list(kind = kind, ...), class = "bandit_pending")

#' @rdname pending
#' @export
pending_ignore <- function() new_pending("ignore")

#' @rdname pending
#' @export
pending_hallucinate <- function() new_pending("hallucinate")

#' @rdname pending
#' @export
pending_censor <- function(m, value = 0) {
  new_pending("censor", m = check_count(m, lower = 0, infinite = TRUE), value = check_number(value))
}

#' @export
print.bandit_pending <- function(x, ...) {
  cat(sprintf("<pending queries: %s>\n", describe_pending(x)))
  invisible(x)
}

describe_pending <- function(pending) {
  if (pending$kind == "censor") sprintf("censored as %g, lost after %g rounds", pending$value, pending$m)
  else if (pending$kind == "ignore") "ignored" else "known to the variance"
}
