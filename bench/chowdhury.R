# Chowdhury & Gopalan's experiment: one run of T = 30,000 rounds over 100 arms, for each algorithm
# and kernel, and thousands of joint draws in one call.
#   Rscript bench/chowdhury.R      (in the repository, gpbandits installed)
# Prints tables and writes bench/results/chowdhury.md.
suppressMessages(library(gpbandits))

# Processor seconds of the fastest of `times` calls: other work on the machine only slows.
seconds <- function(call, times = 5) {
  min(vapply(seq_len(times), function(i) sum(system.time(call())[1:2]), 0))
}

rules <- function(x, kernel, B, R) {
  ucb <- function(width) function() gp_ucb(x, kernel, R^2, width = width)
  list(
    "IGP-UCB" = function() igp_ucb(x, kernel, R^2, B = B, R = R, gain = gain_rate()),
    "GP-TS" = function() gp_ts(x, kernel, R^2, B = B, R = R, gain = gain_rate()),
    "GP-UCB, Theorem 3" = ucb(width_srinivas_rkhs(B, 0.1, gain_rate())),
    "GP-EI" = function() gp_ei(x, kernel, R^2),
    "GP-PI" = function() gp_bandit(x, kernel, R^2, policy_pi()),
    "UCB, AMM" = ucb(width_amm(B, R, 0.1)),
    "UCB, DMM (7 regularisers)" = ucb(width_dmm(B, R, 0.1))
  )
}

time_rules <- function(kernel, rounds = 30000) {
  set.seed(1)
  x <- sort(runif(100))
  f <- sample_rkhs(kernel, x, noise_var = 0.01)
  R <- sqrt(0.01 * diff(range(f)))
  problem <- bandit_problem(x, as.numeric(f), noise = R)
  vapply(rules(x, kernel, attr(f, "norm"), R), function(make) {
    seconds(function() run_bandit(make(), problem, rounds))
  }, 0)
}

kernels <- list("SE, l = 0.2" = kernel_se(0.2), "Matern 5/2, l = 0.2" = kernel_matern(2.5, 0.2))
runs <- vapply(kernels, time_rules, numeric(7))

# 10,000 draws over 1000 arms: one call against as many.
time_draws <- function(kernel) {
  bandit <- gp_bandit(seq(0, 1, length.out = 1000), kernel, 0.01, policy_ts(width_constant(1)))
  bandit$add(arm = c(3, 500, 700), reward = c(1, -1, 0.2))
  c(together = seconds(function() bandit$draw(10000), 3),
    alone = 10 * seconds(function() for (i in 1:1000) bandit$draw(1), 3))
}
draws <- vapply(kernels, time_draws, numeric(2))

cells <- function(values) paste(format(round(values, 3), nsmall = 3), collapse = " | ")
load <- if (file.exists("/proc/loadavg")) strsplit(readLines("/proc/loadavg"), " ")[[1]][1] else "unknown"
lines <- c(
  "# Chowdhury and Gopalan's experiment",
  "",
  "Written by `Rscript bench/chowdhury.R`; processor seconds of one thread, fastest of several.",
  sprintf("%s, load at the end %s.", R.version.string, load),
  "",
  "## One run: 100 arms, T = 30,000, set-up and ledger included",
  "",
  paste("| |", paste(names(kernels), collapse = " | "), "|"),
  "| --- | ---: | ---: |",
  sprintf("| %s | %s |", rownames(runs), apply(runs, 1, cells)),
  "",
  sprintf("Aim: each under one second. The figure (25 trials, 2 kernels, RKHS and GP functions, the first five rules): %.0f s of one core.",
          50 * sum(runs[1:5, ])),
  "",
  "## 10,000 joint draws over 1000 arms",
  "",
  paste("| |", paste(names(kernels), collapse = " | "), "|"),
  "| --- | ---: | ---: |",
  sprintf("| one call | %s |", cells(draws["together", ])),
  sprintf("| a call each | %s |", cells(draws["alone", ]))
)
writeLines(lines)
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/chowdhury.md")
}
