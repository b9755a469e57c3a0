# gp_regression: one observation more, then mean and sd at many points.
#   Rscript bench/regression.R      (in the repository, gpbandits installed)
# Prints a table and writes bench/results/regression.md.
suppressMessages(library(gpbandits))

# Mean processor time of `times` calls in milliseconds: what else the machine does
# counts little. (One thread does all the work, so it is the time one waits.)
milliseconds <- function(call, times) {
  spent <- system.time(for (i in seq_len(times)) call(), gcFirst = TRUE)
  1000 * sum(spent[c("user.self", "sys.self")]) / times
}

# Calls too short for the processor's clock: fastest and median of `times` calls.
short_milliseconds <- function(call, times = 100) {
  seconds <- vapply(seq_len(times), function(i) {
    start <- Sys.time()
    call()
    as.numeric(difftime(Sys.time(), start, units = "secs"))
  }, 0)
  1000 * c(fastest = min(seconds), median = stats::median(seconds))
}

# The same answers by chol() and backsolve().
plain_r <- function(x, y, kernel, noise_var, at) {
  R <- chol(kernel_gram(kernel, x) + diag(noise_var, nrow(x)))
  V <- backsolve(R, kernel_gram(kernel, x, at), transpose = TRUE)
  data.frame(mean = drop(crossprod(V, backsolve(R, y, transpose = TRUE))),
             sd = sqrt(1 - colSums(V^2)))
}

measure <- function(kernel, inputs, n = 1000, points = 1000) {
  set.seed(1)
  uniform <- function(rows) matrix(runif(rows * inputs), rows)
  x <- uniform(n)
  y <- sin(4 * rowSums(x)) + rnorm(n, sd = 0.1)
  at <- uniform(points)
  others <- replicate(20, uniform(points), simplify = FALSE)
  fresh <- function() gp_regression(x, y, kernel, 0.01)
  fit <- fresh()
  stopifnot(all.equal(predict(fit, at), plain_r(x, y, kernel, 0.01, at), tolerance = 1e-6))
  one_more <- function() fit <<- update(fit, uniform(1), 0)
  used <- 0
  out <- c(again = short_milliseconds(function() predict(one_more(), at)),
           more = short_milliseconds(one_more))
  fit <- fresh()
  c(out,
    new = milliseconds(function() predict(one_more(), others[[used <<- used + 1]]), 20),
    fit = milliseconds(fresh, 10),
    whole = milliseconds(function() predict(fresh(), at), 10),
    plain = milliseconds(function() plain_r(x, y, kernel, 0.01, at), 3))
}

results <- rbind(
  "SE, 2 inputs" = measure(kernel_se(0.3), 2),
  "Matern 5/2, 2 inputs" = measure(kernel_matern(2.5, 0.3), 2),
  "Matern 5/2 ARD, 6 inputs" = measure(kernel_matern(2.5, rep(0.8, 6)), 6)
)

shown <- format(round(results, 2), nsmall = 2, trim = TRUE)
lines <- c(
  "# gp_regression: 1,000 observations, one more, mean and sd at 1,000 points",
  "",
  sprintf("Milliseconds for whole R calls, one thread; R %s, %s.", getRversion(),
          Sys.info()[["machine"]]),
  "Processor time; for the short calls time on the clock, the fastest (the median).",
  "Written by `bench/regression.R`.",
  "",
  paste("| kernel | update by one | update by one, predict at new points | update by one, predict at",
        "the same points | fit | fit and predict | plain R: chol and backsolve | plain R / ours |"),
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  sprintf("| %s | %s (%s) | %s | %s (%s) | %s | %s | %s | %.1f |", rownames(results), shown[, "more.fastest"],
          shown[, "more.median"], shown[, "new"], shown[, "again.fastest"],
          shown[, "again.median"], shown[, "fit"], shown[, "whole"], shown[, "plain"],
          results[, "plain"] / results[, "whole"]),
  "",
  sprintf("The machine's load was %s on %d processors.", strsplit(readLines("/proc/loadavg"), " ")[[1]][1],
          parallel::detectCores()),
  "Aims: new points in 41 ms (a third of limbo's 123 ms), the same points in under 1 ms."
)
writeLines(lines)
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/regression.md")
}
