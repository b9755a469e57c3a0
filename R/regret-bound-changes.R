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

# Without `constant`: Lemma A.1 as printed, a rate. With `constant` (and a bound on the information gain): the bound
# that its proof implies. It includes beta_T, which (A.13) omits. The regret of a round is at most 2 sqrt(v) F, where
# (A.8) has half of that.
regret_cpd_finite <- function(rounds, gain = NULL, nu, d, Delta, B, R, explore = sqrt(3), D = 1, constant = NULL,
                              change_points = NULL, variance = 1, noise_var = NULL, quantity = "regret",
                              failure = NULL) {
  nu <- check_positive(nu)
  d <- check_count(d)
  Delta <- check_positive(Delta)
  B <- check_number(B, lower = 0)
  is_rate <- is.null(constant)
  constant <- if (is_rate) 1 else check_positive(constant)
  # No false alarm and no missed change in all T^2 uses of the test: 4 T^2 e^-x = 4 / T.
  in_all <- 4 / max(rounds, 2)^3
  if (check_choice(quantity, c("regret", "pairs")) == "pairs") {
    if (!is.null(gain)) stop_argument("gain", "given with `quantity = \"pairs\"`", "left out")
    R <- check_number(R, lower = 0)
    return(rep(pairs_to_detect(nu, d, Delta, B, R, or_else(failure, in_all), constant), rounds))
  }
  if (!is.null(failure)) stop_argument("failure", "given for a regret", "given together with `quantity = \"pairs\"`")
  R <- check_positive(R)
  explore <- check_positive(explore)
  D <- check_number(D, lower = 1)
  variance <- check_positive(variance)
  if (is_rate && !is.null(noise_var)) {
    stop_unused("noise_var", "it is used with `constant` only")
  }
  if (is_rate && !is.null(gain)) stop_unused("gain", "it is used with `constant` only")
  size <- pairs_to_detect(nu, d, Delta, B, R, in_all, constant)
  lengths <- period_lengths(rounds, change_points)
  wait <- 2 / explore + 1 / explore^2           # (A.10), in units of the square root of the number of rounds so far
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

# The regret of the periods with width_amm() at failure probability 1 / T^2, for any ridge.
learning_by_amm <- function(lengths, eta, B, R, noise_var, variance, rounds) {
  width <- sqrt(B^2 + R^2 / noise_var * (2 * eta + 4 * log(rounds)))
  2 * width * sqrt(2 * variance / log1p(variance / noise_var) * lengths * eta)
}

# The number n* of pairs in Lemma C.3, for each half of the window.
pairs_to_detect <- function(nu, d, Delta, B, R, failure, constant) {
  x <- log(4 / check_number(failure, lower = 0, upper = 1, open_lower = TRUE, open_upper = TRUE))
  2 * (constant * (B^2 + x^2 * R^2) / Delta^2)^(1 + 1 / (2 * nu + d))
}
