# How often the interval of input_importance() contains the index of the function: functions with known indices, rewards
# at random points with noise, models of auto_bandit().
#   Rscript bench/importance.R [RUNS=40] [REWARDS=40]
# Prints for each function the proportion of inputs whose index is outside of the 90% interval, with its standard error
# over runs; the proportion of those that are outside by more than 0.02; that of the worst input; the mean proportion of
# the variance that the mean explains, and the mean time of one call.

suppressMessages(library(gpbandits))
given <- as.integer(commandArgs(TRUE))
runs <- if (length(given) > 0) given[1] else 40
rewards <- if (length(given) > 1) given[2] else 40

# Sobol's g-function: the product of (|4 u - 2| + a) / (1 + a). The variance of factor i is 1 / (3 (1 + a_i)^2).
g_function <- function(a) {
  v <- 1 / (3 * (1 + a)^2)
  total <- vapply(seq_along(a), function(i) v[i] * prod(1 + v[-i]), 0) / (prod(1 + v) - 1)
  list(f = function(u) apply(u, 1, function(x) prod((abs(4 * x - 2) + a) / (1 + a))), total = total)
}

ishigami <- local({
  parts <- c(0.5 * (1 + 0.1 * pi^4 / 5)^2, 7^2 / 8, 0.1^2 * pi^8 * (1 / 18 - 1 / 50))
  list(f = function(u) {
         x <- pi * (2 * u - 1)
         sin(x[, 1]) + 7 * sin(x[, 2])^2 + 0.1 * x[, 3]^4 * sin(x[, 1])
       },
       total = c(parts[1] + parts[3], parts[2:3]) / sum(parts))
})

# The indices of other functions: Jansen's estimator over many pairs of points.
by_pairs <- function(f, d, pairs = 2e5) {
  set.seed(1)
  a <- matrix(runif(pairs * d), pairs)
  b <- matrix(runif(pairs * d), pairs)
  at_a <- f(a)
  list(f = f, total = vapply(seq_len(d), function(i) {
    mixed <- a
    mixed[, i] <- b[, i]
    mean((at_a - f(mixed))^2) / 2 / var(at_a)
  }, 0))
}

functions <- list(
  "Ishigami, 3 inputs" = ishigami,
  "g-function, 4 inputs" = g_function(c(0, 1, 4.5, 9)),
  "g-function, 6 inputs" = g_function(c(1, 2, 4, 9, 99, 99)),
  "Friedman, 5 inputs" = by_pairs(function(u) {
    10 * sin(pi * u[, 1] * u[, 2]) + 20 * (u[, 3] - 0.5)^2 + 10 * u[, 4] + 5 * u[, 5]
  }, 5),
  "products, 4 inputs" = by_pairs(function(u) u[, 1] * u[, 2] + (u[, 3] - 0.5)^2 + 0.1 * u[, 4], 4)
)

for (name in names(functions)) {
  one <- functions[[name]]
  d <- length(one$total)
  outside <- matrix(NA_real_, runs, d)
  time <- explained <- 0
  for (run in seq_len(runs)) {
    set.seed(run)
    u <- matrix(runif(rewards * d), rewards, dimnames = list(NULL, letters[seq_len(d)]))
    value <- one$f(u)
    data <- data.frame(u, reward = value + rnorm(rewards, sd = 0.05 * sd(value)))
    bandit <- auto_bandit(stats::setNames(rep(list(c(0, 1)), d), letters[seq_len(d)]), data = data)
    suppressMessages(bandit$suggest())
    time <- time + system.time(found <- input_importance(bandit))[[1]]
    explained <- explained + attr(found, "explained") / runs
    outside[run, ] <- pmax(found$lower - one$total, one$total - found$upper)
  }
  missed <- outside > 0
  cat(sprintf("%-21s outside %.2f (%.2f), by more than 0.02: %.2f, worst input %.2f; explained %.2f, %.2f s a call\n",
              name, mean(missed), sd(rowMeans(missed)) / sqrt(runs), mean(outside > 0.02), max(colMeans(missed)),
              explained, time / runs))
}
