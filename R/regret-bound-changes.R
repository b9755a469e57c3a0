# Regret bounds for changing environments. Layer: simulation.

# Bounds of Avanesov for environments that change: Theorem 3.1, Lemma A.1, Lemma C.3.

# The lengths of the stationary periods after 1..rounds rounds: a row per round, a column per period.
period_lengths <- function(rounds, change_points) {
  if (!is.null(change_points)) {
    change_points <- check_numbers(change_points, lower = 1)
    if (any(change_points != round(change_points)) || is.unsorted(change_points, strictly = TRUE)) {
      stop_argument("change_points", describe(change_points), "increasing integers >= 1")
    }
  }
  starts <- c(0, change_points)
  ends <- c(change_points, Inf)
  vapply(seq_along(starts), function(i) pmax(0, pmin(seq_len(rounds), ends[i]) - starts[i]), numeric(rounds)) |>
    matrix(nrow = rounds)
}

# The exponent of a period's length.
change_power <- function(nu, d) (2 * nu + 3 * d * (d + 1)) / (4 * nu + 2 * d * (d + 1))

regret_cpd <- function(rounds, nu, d, Delta, change_points = NULL, constant = 1) {
  nu <- check_positive(nu)
  d <- check_count(d)
  Delta <- check_positive(Delta)
  constant <- check_positive(constant)
  lengths <- period_lengths(rounds, change_points)
  constant * Delta^-(2 + 2 / (2 * nu + d)) * rowSums(lengths^change_power(nu, d)) * log(seq_len(rounds))^3
}

# Without `constant`, Lemma A.1 as it is printed: a rate. With it (and a bound of the gain) what its proof gives, which
# has beta_T where (A.13) drops it, and regrets of a round of up to 2 sqrt(v) F where (A.8) has half of that.
regret_cpd_finite <- function(rounds, gain = NULL, nu, d, Delta, B, R, explore = sqrt(3), D = 1, constant = NULL,
                              change_points = NULL, variance = 1, noise_var = NULL) {
  R <- check_positive(R)
  explore <- check_positive(explore)
  D <- check_number(D, lower = 1)
  B <- check_number(B, lower = 0)
  variance <- check_positive(variance)
  is_rate <- is.null(constant)
  if (is_rate && !is.null(noise_var)) {
    stop_unused("noise_var", "it is used with `constant` only")
  }
  if (is_rate && !is.null(gain)) stop_unused("gain", "it is used with `constant` only")
  # No false alarm and no missed change in all T^2 uses of the test: 4 T^2 e^-x = 4 / T.
  size <- detection_size(nu, d, Delta, B, R, failure = 4 / max(rounds, 2)^3, constant = if (is_rate) 1 else constant)
  lengths <- period_lengths(rounds, change_points)
  wait <- 2 / explore + 1 / explore^2           # (A.10), in units of the square root of the rounds so far
  final <- lengths[rounds, lengths[rounds, ] > 0]
  if (length(final) > 1 && size * wait * sqrt(2 * max(final)) > min(final)) {
    warn_outside_theorem("Lemma A.1 of Avanesov", sprintf(
      "periods of at least n* (2/xi + 1/xi^2) sqrt(2 max T_i) = %.4g rounds (A.6)", size * wait * sqrt(2 * max(final))
    ), format(min(final)))
  }
  spread <- 8 / log1p(1 / (6 * R^2 * log(max(rounds, 2))))
  delays <- (explore + 2 * size * wait) * rowSums(sqrt(lengths))
  if (is_rate) {
    learning <- sqrt(spread * D * log(rounds)^3) * rowSums(lengths^change_power(nu, d))
    return(learning + sqrt(variance) * B * delays)
  }
  eta <- matrix(gain[lengths + 1], rounds)
  learning <- if (is.null(noise_var)) sqrt(spread * lengths * D * (2 * B^2 + 300 * eta * log(rounds^3)^3) * eta)
              else learning_by_amm(lengths, eta, B, R, check_positive(noise_var), variance, max(rounds, 2))
  rowSums(learning) + 2 * sqrt(variance) * B * (rowSums(lengths > 0) + delays)
}

# What the periods cost with width_amm() at failure probability 1 / T^2, whatever the ridge.
learning_by_amm <- function(lengths, eta, B, R, noise_var, variance, rounds) {
  width <- sqrt(B^2 + R^2 / noise_var * (2 * eta + 4 * log(rounds)))
  2 * width * sqrt(2 * variance / log1p(variance / noise_var) * lengths * eta)
}

#' Sample size for detecting a change
#'
#' `detection_size()` computes how many samples the change-point test of Avanesov needs. It returns the number
#' \eqn{n^*}{n*} of uniformly sampled pairs in each half of Algorithm 1's window ([change_statistic()]). From this
#' number on, a change is detected and no false alarm is raised, with high probability (Lemma C.3, Equation C.13):
#'
#' \deqn{n^* = 2\Bigl(\frac{C(F^2 + x^2g^2)}{\Delta^2}\Bigr)^{1 + 1/(2\alpha + d)},\qquad 4e^{-x} =
#' \mathtt{failure}.}{n* = 2 (C (F^2 + x^2 g^2) / Delta^2)^(1 + 1 / (2 alpha + d)), with 4 exp(-x) = failure.}
#'
#' The threshold and the ridge are
#'
#' \deqn{\theta_n = C(F^2 + x^2g^2)n^{-(2\alpha+d)/(2\alpha+d+1)},\qquad c\,n^{1/(2\alpha+d+1)}.}{theta_n = C (F^2 + x^2
#' g^2) n^(-(2 alpha + d) / (2 alpha + d + 1)), and c n^(1 / (2 alpha + d + 1)).}
#'
#' \eqn{C} depends on the kernel and on \eqn{c}, and its value is unknown. The formula shows how \eqn{n^*}{n*} grows as
#' the change \eqn{\Delta}{Delta} gets smaller.
#'
#' Two steps of the proof are printed with constants that are too small. A squared distance is at most twice, not once,
#' the sum of two squares, so that (C.4) ends in \eqn{4\Delta_f^2}{4 Delta_f^2}. For the same reason (C.10) holds as
#' \deqn{\hat\Delta^2 \ge \tfrac12\Delta^2 - 2\Delta_{f_1}^2 - 2\Delta_{f_2}^2.}{Delta_hat^2 >= Delta^2 / 2 - 2
#' Delta_f1^2 - 2 Delta_f2^2.}
#' Both change \eqn{C} only, and not the rates.
#'
#' @param nu smoothness \eqn{\alpha}{alpha} of the Matern kernel, a number > 0.
#' @param d number of inputs, an integer >= 1.
#' @param Delta L2 distance \eqn{\Delta}{Delta} of the two functions, a number > 0.
#' @param B bound \eqn{F} on the RKHS norms of the functions, a number >= 0.
#' @param R sub-Gaussian scale \eqn{g} of the noise, a number >= 0.
#' @param failure probability of failure of one test, in (0, 1), 0.05 by default. The lemma's condition \eqn{x > 1.3}
#'   then always holds.
#' @param constant the constant \eqn{C}, a number > 0, 1 by default.
#' @return A number of pairs, for each half of the window.
#' @references Avanesov, Nonstationary Gaussian process bandits by change-point detection.
#' @seealso [regret_bound()] (`"cpd_finite"`), [change_statistic()], [calibrate_detector()].
#' @concept change-point detection
#' @concept sample size
#' @examples
#' # a change half as large needs 2^(2 + 1/3) times as many samples
#' detection_size(2.5, 1, Delta = 0.5, B = 1, R = 0.05) /
#'   detection_size(2.5, 1, Delta = 1, B = 1, R = 0.05)
#' @export
detection_size <- function(nu, d, Delta, B, R, failure = 0.05, constant = 1) {
  nu <- check_positive(nu)
  d <- check_count(d)
  Delta <- check_positive(Delta)
  B <- check_number(B, lower = 0)
  R <- check_number(R, lower = 0)
  x <- log(4 / check_number(failure, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE))
  2 * (check_positive(constant) * (B^2 + x^2 * R^2) / Delta^2)^(1 + 1 / (2 * nu + d))
}
