# Change-point detection for regression data. Layer: model.

# The points over which a squared difference is averaged: all arms; a box in closed form with the squared-exponential
# kernel; else 1024 points, over all contexts together.
domain_average <- function(domain, kernel, contexts = NULL) {
  exact <- if (is.null(contexts)) closed_form_average(domain, kernel)
  if (!is.null(exact)) return(exact)
  points <- all_points(domain)
  if (is.null(points)) points <- spread_points(domain, max(64, ceiling(1024 / max(1L, nrow(contexts)))))
  list(kind = "points", points = points_in_contexts(domain, points, contexts))
}

#' Change-point detection for regression data
#'
#' These functions test whether a regression function changed within a sequence of pairs (Algorithm 1 of Avanesov).
#' They need no bandit. For a bandit that restarts after a change, use the rule [change_detect()].
#'
#' `change_statistic()` fits one Gaussian-process regression to the older half of the pairs and one to the newer half,
#' both with the same ridge. The statistic is the average over the domain of the squared difference of their
#' means (equation 2.4 has the integral):
#' \deqn{\hat\Delta^2 = \frac{1}{n}\sum_x (\mu_1(x) - \mu_2(x))^2.}{Delta^2 = mean over x of (mu_1(x) - mu_2(x))^2.}
#'
#' The average is taken
#'
#' * over all arms of a [finite_domain()];
#' * over a whole box, in closed form, for [kernel_se()];
#' * over 1024 low-discrepancy points of a box or a product for other kernels, and with integer inputs.
#'
#' `detect_change()` runs Algorithm 1 as a monitor would: after each pair, on every tail with an even number of pairs.
#' Use [calibrate_detector()] to compute a threshold, or the constants of ridge and threshold together. Use
#' `quantity = "pairs"` of [regret_bounds_changes] to compute the number of pairs that are needed to detect a change.
#'
#' @param x the inputs in order of observation, a matrix or vector with one row per pair.
#' @param y the responses, one number per pair.
#' @param kernel a [kernel][kernel_se()] that is a function of the inputs; `kernel_matrix()` is not supported.
#' @param ridge the number \eqn{q\rho_q}{q rho_q} > 0 that is added to the Gram matrix's diagonal. For `detect_change()`
#'   a number or a function of \eqn{q}.
#' @param threshold a number or a function of \eqn{q}. Statistics above it raise the alarm.
#' @param domain the set over which the difference is averaged: a [finite_domain()], a [box_domain()], or an object that
#'   can be converted to one. `NULL`, the default, is the inputs themselves.
#' @param dyadic `TRUE` tests only tails of \eqn{2q} pairs with \eqn{q = 1, 2, 4, 8, \dots}{q = 1, 2, 4, 8, ...}.
#'   `FALSE`, the default, tests all.
#' @return `change_statistic()` returns a number. `detect_change()` returns a list:
#'
#'   * `alarm`: the number of the pair at which the first alarm was raised, or `NA`,
#'   * `pairs`: the number of pairs.
#' @section Errors: `change_statistic()` needs an even number of pairs.
#' @section Guarantee: With threshold and ridge of the paper's form, changes are detected and false alarms are rare with
#'   high probability (Lemma C.3); the constants are unknown, see [regret_bounds_changes].
#' @references Avanesov (2019), How to gamble with non-stationary X-armed bandits and have no regrets
#'   <https://arxiv.org/abs/1908.07636>.
#' @concept change-point detection
#' @concept structural break
#' @concept nonstationary
#' @concept Gaussian process regression
#' @seealso [change_detect()], [calibrate_detector()].
#' @examples
#' set.seed(1)
#' x <- runif(80)
#' y <- c(sin(6 * x[1:40]), cos(6 * x[41:80])) + rnorm(80, sd = 0.1)
#' kernel <- kernel_matern(2.5, 0.3)
#' change_statistic(x, y, kernel, ridge = 1)
#' theta <- calibrate_detector(x[1:40], y[1:40], kernel, ridge = 1, level = 0.01)$threshold
#' detect_change(x, y, kernel, threshold = function(q) if (q < 15) Inf else 2 * theta, ridge = 1)
#' @export
change_statistic <- function(x, y, kernel, ridge, domain = NULL) {
  data <- regression_pairs(x, y, kernel, domain)
  if (length(y) %% 2 != 0 || length(y) < 2) stop_argument("y", describe(y), "an even number of responses, at least 2")
  ridge <- check_number(ridge, lower = 0, open_lower = TRUE)
  cpp_change_statistic(data$kernel, data$x, data$y, ridge, data$domain)
}

#' @rdname change_statistic
#' @export
detect_change <- function(x, y, kernel, threshold, ridge, domain = NULL, dyadic = FALSE) {
  dyadic <- check_flag(dyadic)
  data <- regression_pairs(x, y, kernel, domain)
  threshold <- positive_function(constant_or_function(threshold, "threshold"), "threshold")
  ridge <- positive_function(constant_or_function(ridge, "ridge"), "ridge")
  found <- cpp_detect_change(data$kernel, data$x, data$y, threshold, ridge, data$domain, dyadic)
  list(alarm = if (found > 0) found else NA_integer_, pairs = length(y))
}

#' Calibrate a change-point detector from data without a change
#'
#' `calibrate_detector()` computes the settings of [change_detect()] from data without a change, so that false alarms
#' are rare. The data are pairs of an input and a response, with uniformly sampled inputs (Remark 3.1 of Avanesov).
#'
#' The detector compares the two halves of the last \eqn{2q} pairs (a *tail* of the sequence), for each \eqn{q}. Its
#' statistic \eqn{\hat\Delta_q^2}{Delta_q^2} is that of [change_statistic()]. Ridge and threshold depend on \eqn{q}, on
#' the smoothness \eqn{\alpha}{alpha} (`nu`), and on the number \eqn{d} of inputs:
#' \deqn{\mathrm{ridge}(q) = c\,q^{1/(2\alpha+d+1)},\qquad \mathrm{threshold}(q) =
#' C\,q^{-(2\alpha+d)/(2\alpha+d+1)}.}{ridge(q) = c q^(1 / (2 alpha + d + 1)), threshold(q) = C q^(-(2 alpha + d) / (2
#' alpha + d + 1)).}
#'
#' The two constants are found as follows.
#'
#' * \eqn{c} is found by cross-validation. It is the value among `candidates` whose regressions, on all folds but one,
#'   predict the omitted fold with the smallest mean squared error. The ridge of a fit to \eqn{n} pairs is
#'   \eqn{c\,n^{1/(2\alpha+d+1)}}{c n^(1 / (2 alpha + d + 1))}.
#' * \eqn{C} is found by shuffling the pairs `permutations` times. A monitor like [detect_change()] tests all tails
#'   after every pair. The statistic of each order is therefore
#'   \deqn{\max_{t,q}\hat\Delta_{t,q}^2 q^{(2\alpha+d)/(2\alpha+d+1)},}{max over t and q of Delta_{t,q}^2 q^((2 alpha +
#'   d) / (2 alpha + d + 1)),}
#'   over the tails of the first \eqn{t} pairs, \eqn{t = 2, \dots, n} and \eqn{q = 1, \dots, \lfloor t/2\rfloor}{q = 1,
#'   ..., t/2}. A monitor has other pairs, and these \eqn{n} ones are only an estimate of the variance of the responses.
#'   Each statistic is therefore multiplied by \eqn{(n-1)/\chi^2_{n-1}}{(n - 1) / chi^2_(n-1)}, with a new draw for each
#'   order. \eqn{C} is the \eqn{1 - }`level` quantile of these products.
#'
#' A monitor then raises a false alarm within \eqn{n} pairs, the number of pairs in the data, with probability `level`.
#' A bandit that explores with \eqn{\xi}{xi} = `explore` has \eqn{n} pairs after about \eqn{n^2/\xi^2}{n^2 / xi^2}
#' rounds. In longer runs the probability is larger. The cost is \eqn{O(n^4)} for each order, less with `dyadic`.
#'
#' With a `ridge` nothing is fitted, and the threshold is for a single test with that ridge. It is the \eqn{1 - }`level`
#' quantile of the statistic of all pairs ([change_statistic()]) over their random orders.
#'
#' @inheritParams change_statistic
#' @param x,y uniformly sampled inputs and their responses, from a period without a change. Random folds and orders are
#'   drawn from R's generator.
#' @param nu the smoothness \eqn{\alpha}{alpha} that sets the rates, a number > 0. `NULL`, the default, is the
#'   smoothness of [kernel_matern()]; other kernels need a number.
#' @param candidates values of \eqn{c} to try, numbers > 0. By default powers of 2 from \eqn{2^{-6}}{2^-6} to
#'   \eqn{2^4}{2^4}.
#' @param folds the number of folds, an integer >= 2. 5 by default.
#' @param permutations the number of random orders, an integer of at least `1 / level - 1`. 199 by default.
#' @param level the probability that a monitor raises a false alarm within the number of pairs in the data, a number in
#'   (0, 1). 0.05 by default.
#' @param dyadic `TRUE` if the monitor tests only the tails with \eqn{q = 1, 2, 4, \dots}{q = 1, 2, 4, ...}, see
#'   [change_detect()]. `FALSE` by default.
#' @param ridge the number \eqn{q\rho_q}{q rho_q} > 0 of one test. `NULL`, the default, calibrates ridge and threshold.
#' @return With a `ridge`, a list of `ridge` and `threshold`, two numbers. Otherwise a list:
#'
#'   * `c`, `C`: the constants,
#'   * `ridge`, `threshold`: functions of \eqn{q} for [change_detect()],
#'   * `error`: the mean squared error of each candidate.
#' @section Guarantee: Without a change the pairs are exchangeable, and all their orders are equally probable. A monitor
#'   of other pairs therefore raises a false alarm with probability about `level`. This is approximate, because \eqn{c}
#'   is found from the same pairs, and because the factor assumes normal errors.
#'
#'   At the level 0.05 and with 40 pairs, monitors of 40 other pairs raised a false alarm in 40 of 1000 simulations.
#'   Without the factor it was 115. Of 200 bandits, 12 restarted within 300 rounds, in which they explored 30 times
#'   (`bench/promises_stopping.R` in the sources).
#' @section Errors: A [kernel_matrix()] has no inputs and no rates: choose the functions of [change_detect()] by hand.
#' @references Avanesov (2019), How to gamble with non-stationary X-armed bandits and have no regrets
#'   <https://arxiv.org/abs/1908.07636>, Remark 3.1.
#' @aliases calibrate_threshold
#' @concept change-point detection
#' @concept permutation test
#' @concept cross-validation
#' @concept false alarm
#' @seealso [change_detect()], [detect_change()].
#' @examples
#' set.seed(1)
#' x <- runif(40, 0, 5)
#' y <- sin(2 * x) + rnorm(40, sd = 0.05)
#' found <- calibrate_detector(x, y, kernel_matern(2.5, 1), permutations = 99)
#' found[c("c", "C")]
#' change_detect(found$threshold, found$ridge)
#' @export
calibrate_detector <- function(x, y, kernel, nu = NULL, candidates = 2^(-6:4), folds = 5, level = 0.05,
                               permutations = 199, domain = NULL, ridge = NULL, dyadic = FALSE) {
  dyadic <- check_flag(dyadic)
  kernel <- as_kernel(kernel)
  data <- regression_pairs(x, y, kernel, domain)
  if (!is.null(ridge)) return(calibrate_one_test(data, y, check_positive(ridge), level, permutations))
  n <- length(y)
  if (n < 8) stop_argument("y", describe(y), "at least 8 responses")
  if (is.null(nu)) {
    nu <- trait(kernel, "smoothness")
    if (is.null(nu) || is.infinite(nu)) stop_missing("nu", "the smoothness, because the kernel is not kernel_matern()")
  }
  nu <- check_positive(nu)
  candidates <- check_numbers(candidates, lower = 0, open_lower = TRUE)
  if (length(candidates) == 0) stop_argument("candidates", describe(candidates), "at least one number > 0")
  folds <- check_count(folds, lower = 2, upper = n)
  permutations <- check_permutations(permutations, level)
  rate <- 1 / (2 * nu + ncol(data$x) + 1)
  error <- cross_validated_error(data, kernel, candidates, folds, rate)
  c <- candidates[which.min(error)]
  ridge <- function(q) c * q^rate
  statistic <- function(order) {
    cpp_largest_change(data$kernel, data$x[order, , drop = FALSE], data$y[order], function(q) q^(rate - 1), ridge,
                       data$domain, dyadic)
  }
  largest <- with_bar(NULL, permutations, function(bar) {
    vapply(seq_len(permutations), counted(function(i) statistic(sample.int(n)), bar), 0)
  })
  # (The predictive distribution of the statistics of other pairs, which are quadratic in the responses.)
  C <- exchangeable_quantile(largest * (n - 1) / stats::rchisq(permutations, n - 1), level)
  list(c = c, C = C, ridge = ridge, threshold = function(q) C * q^(rate - 1),
       error = stats::setNames(error, candidates))
}

check_permutations <- function(permutations, level) {
  level <- check_number(level, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE)
  check_count(permutations, lower = ceiling(1 / level) - 1)
}

# The 1 - level quantile, at the rank for which a test is exact under exchangeability.
exchangeable_quantile <- function(statistics, level) {
  sort(statistics)[min(length(statistics), ceiling((1 - level) * (length(statistics) + 1)))]
}

# A threshold for the statistic of all pairs at one ridge.
calibrate_one_test <- function(data, y, ridge, level, permutations) {
  if (length(y) < 4) stop_argument("y", describe(y), "at least 4 responses")
  permutations <- check_permutations(permutations, level)
  pairs <- 2 * (length(y) %/% 2)
  statistics <- vapply(seq_len(permutations), function(i) {
    order <- sample.int(length(y), pairs)
    cpp_change_statistic(data$kernel, data$x[order, , drop = FALSE], data$y[order], ridge, data$domain)
  }, 0)
  list(threshold = exchangeable_quantile(statistics, level), ridge = ridge)
}

# Mean squared error of each candidate on the folds that were left out of its fit.
cross_validated_error <- function(data, kernel, candidates, folds, rate) {
  n <- length(data$y)
  fold <- sample(rep_len(seq_len(folds), n))
  vapply(candidates, function(c) {
    mean(unlist(lapply(seq_len(folds), function(k) {
      seen <- fold != k
      fit <- gp_regression(data$x[seen, , drop = FALSE], data$y[seen], kernel, c * sum(seen)^rate)
      (stats::predict(fit, data$x[!seen, , drop = FALSE], se.fit = FALSE) - data$y[!seen])^2
    })))
  }, 0)
}

constant_or_function <- function(x, arg) {
  if (is.function(x)) return(x)
  value <- check_number(x, arg, lower = 0, open_lower = TRUE)
  function(q) value
}

regression_pairs <- function(x, y, kernel, domain) {
  kernel <- as_kernel(kernel)
  x <- check_matrix(x, "x")
  y <- as.double(check_numbers(y, "y", lengths = nrow(x)))
  if (has_matrix(kernel)) stop_argument("kernel", "a kernel given as a matrix", "a function of the inputs")
  names <- if (is.null(colnames(x))) paste0("x", seq_len(ncol(x))) else colnames(x)
  kernel <- resolve_kernel(kernel, names)
  average <- list(kind = "points", points = unname(x))
  if (!is.null(domain)) {
    domain <- as_domain(domain)
    if (length(domain$names) != ncol(x)) {
      stop_argument("domain", amount_of(length(domain$names), "input"), sprintf("%d, as `x` has", ncol(x)))
    }
    if (!same_names(names, domain$names)) {
      stop_argument("domain", paste("one with the inputs", quoted(domain$names)),
                    paste("one with those of `x`:", quoted(names)))
    }
    if (any(x[, log_inputs(domain)] <= 0)) {
      stop_argument("x", describe(x), "positive, because the domain's input is logarithmic")
    }
    x <- to_model_inputs(domain, x)
    average <- domain_average(domain, kernel)
    if (average$kind == "points") average$points <- average$points[, seq_len(ncol(x)), drop = FALSE]
  }
  list(x = unname(x), y = y, kernel = kernel, domain = average)
}
