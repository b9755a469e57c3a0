#' Which inputs matter
#'
#' Sobol's indices of the posterior mean (in units of the reward), a function of independent inputs, each spread evenly over its range (on its scale:
#' logarithmic inputs in the logarithm; over arms and rows as often as its values occur). With \eqn{V} the variance of that function,
#' \deqn{S_i = \frac{V[E(f \mid x_i)]}{V}, \qquad T_i = \frac{E[V(f \mid x_{-i})]}{V}:}{S_i = V[E(f | x_i)] / V, T_i = E[V(f | x_-i)] / V:}
#' `first`, the share of the variance that input \eqn{i} explains alone, and `total`, the share that is left when all others are known, so that
#' interactions count. Method: Jansen's estimators over `2^k` pairs of points of a low-discrepancy sequence. No random numbers are drawn.
#'
#' @param x a result of [maximize_bandit()], or a `GPBandit`.
#' @param points how many pairs of points, a whole number >= 16; the function is evaluated (inputs + 2) times as often.
#' @param context one context, where the bandit has contexts.
#' @return A data.frame with `input`, `first`, `total` (in the inputs' order), each in \eqn{[0, 1]}; with several [outcomes] a first column `outcome`, a row for each
#'   outcome and input; attribute `method`. All `NaN` where the
#'   posterior mean is constant.
#' @section Errors: a `gpbandits_error` where a covariance is given as a matrix, or there is no posterior.
#' @section Guarantee: none: the truth may depend on inputs that the posterior mean does not see yet.
#' @references Sobol (2001); Jansen (1999) \doi{10.1016/S0010-4655(98)00154-4}; Saltelli et al. (2010) \doi{10.1016/j.cpc.2009.09.018}.
#' @seealso [plot.bandit_maximum()].
#' @examples
#' set.seed(1)
#' found <- maximize_bandit(function(p) -(p["x"] - 2)^2 + 0.1 * p["y"],
#'                          list(x = c(1, 3), y = c(0, 1)), 15)
#' input_importance(found)
#' @export
input_importance <- function(x, points = 2048, context = NULL) {
  if (missing(x)) stop_argument("x", "missing", "a bandit, or what maximize_bandit() returns")
  bandit <- if (inherits(x, "bandit_maximum")) check_class(x, "bandit_maximum")$bandit else x
  if (inherits(x, "bandit_maximum") && is.null(context)) context <- context_of(x)
  check_bandit(bandit, "x")
  points <- check_count(points, lower = 16)
  check_has_posterior(bandit)
  config <- bandit$config
  if (has_matrix(config$kernel)) {
    stop_argument("x", "a bandit whose covariance is given as a matrix", "one whose kernel is a function of the inputs")
  }
  inputs <- config$domain$names
  indices_of <- function(column) {
    mean <- function(u) {
      columns <- lapply(seq_along(inputs), function(i) input_quantiles(config$domain, i, u[, i]))
      posterior_of(bandit, cpp_frame(stats::setNames(columns, inputs)), context)[[column]]
    }
    indices <- sobol_indices(mean, length(inputs), points)
    data.frame(input = inputs, first = indices$first, total = indices$total)
  }
  found <- if (!has_outcomes(config)) indices_of("mean") else {
    each <- lapply(outcome_names(config), function(name) cbind(outcome = name, indices_of(paste0(name, "_mean"))))
    do.call(rbind, each)
  }
  method <- sprintf("Sobol indices of the posterior mean, Jansen's estimators, %d pairs of points", as.integer(points))
  structure(found, method = method)
}

# Of a function of the rows of a matrix of points in the unit cube.
sobol_indices <- function(f, d, points) {
  u <- golden_points(points, 2 * d)
  a <- u[, seq_len(d), drop = FALSE]
  b <- u[, d + seq_len(d), drop = FALSE]
  at_a <- f(a)
  at_b <- f(b)
  variance <- stats::var(c(at_a, at_b))
  # Nothing is known yet, or nothing but rounding.
  if (is.na(variance) || variance <= (1e-10 * max(abs(at_a)))^2) return(list(first = rep(NaN, d), total = rep(NaN, d)))
  shares <- vapply(seq_len(d), function(i) {
    mixed <- a
    mixed[, i] <- b[, i]
    at_mixed <- f(mixed)
    c(1 - mean((at_b - at_mixed)^2) / (2 * variance), mean((at_a - at_mixed)^2) / (2 * variance))
  }, numeric(2))
  shares[] <- pmin(pmax(shares, 0), 1)
  list(first = shares[1, ], total = shares[2, ])
}

# The posterior at points of a data.frame, wherever they lie.
posterior_of <- function(bandit, frame, context) {
  domain <- bandit$config$domain
  predict(bandit, completed_points(domain, frame[domain$names]), context = context)
}
