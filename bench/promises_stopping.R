# Do stated probabilities hold? Certificates of stop_prb(), false alarms of calibrated detectors, intervals of gp_lse()
# and the noise test of check_model(), in simulated runs with known truth.
#   Rscript bench/promises_stopping.R [runs=200] [parts=stop,monitor,detector,level,noise]
# Results: bench/results/promises_stopping.md. About 15 minutes.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(runs = "200", parts = "stop,monitor,detector,level,noise")
runs <- as.integer(args$runs)

count <- function(part, name, stated, one) {
  found <- vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    suppressWarnings(suppressMessages(one()))
  }, 0)
  line(c(part, name, stated, runs, sum(found > 0.5, na.rm = TRUE)))
}

# ---- stop_prb(0.1, 0.1): is the certified point's regret above 0.1? -------------------------------------------------

arms <- seq(0, 1, length.out = 100)
smooth <- kernel_matern(2.5, 0.2)

wrong_certificate <- function(bandit) {
  f <- as.vector(sample_gp(smooth, arms))
  for (t in 1:100) {
    q <- bandit$suggest()
    bandit$observe(q$id, f[q$arm] + rnorm(1, sd = 0.1))
    found <- if (t >= 5) bandit$certificate(stop_prb(0.1, 0.1))
    if (isTRUE(found$certified)) return(max(f) - f[found$point$arm] > 0.1)
  }
  FALSE
}

stop_cases <- list(
  "true hyperparameters" = function() gp_bandit(arms, smooth, 0.01, policy_pims()),
  "refit_every(5), NA" = function() gp_bandit(arms, smooth, 0.01, policy_pims(), refit = refit_every(5)),
  "scale_outputs(), NA" = function() gp_bandit(arms, smooth, 0.01, policy_pims(), outputs = scale_outputs()),
  "refit_every(5, average = 10)" = function() {
    gp_bandit(arms, smooth, 0.01, policy_pims(), refit = refit_every(5, average = 10))
  },
  "auto_bandit()" = function() auto_bandit(finite_domain(arms)))

# ---- calibrate_detector(level = 0.05): does a bandit restart within 300 rounds without a change? --------------------

# And does a monitor raise an alarm within the number of pairs?

calibrated <- function(pairs, dyadic) {
  x <- seq(0, 1, length.out = 50)
  kernel <- kernel_matern(2.5, 0.3)
  f <- as.vector(sample_gp(kernel, x))
  at <- sample(50, pairs, TRUE)
  found <- calibrate_detector(x[at], f[at] + rnorm(pairs, sd = 0.2), kernel, domain = x, dyadic = dyadic)
  c(found, list(x = x, f = f, kernel = kernel))
}

alarms <- function(pairs, dyadic) {
  found <- calibrated(pairs, dyadic)
  at <- sample(50, pairs, TRUE)
  !is.na(detect_change(found$x[at], found$f[at] + rnorm(pairs, sd = 0.2), found$kernel, found$threshold, found$ridge,
                       domain = found$x, dyadic = dyadic)$alarm)
}

restarts <- function(pairs, dyadic) {
  found <- calibrated(pairs, dyadic)
  x <- found$x
  bandit <- gp_bandit(x, found$kernel, 0.04, policy_ucb(width_constant(2)),
                      changes = change_detect(found$threshold, found$ridge, dyadic = dyadic))
  run_bandit(bandit, bandit_problem(x, found$f, noise = 0.2), 300)
  max(bandit$history()$segment) > 1
}

# ---- gp_lse(): which truths are in their intervals of 2 sd after some of the rewards? --------------------------------

# Truths of the prior, with the right settings, or without a good guess of the kernel's variance.
inside <- function(case, rounds = c(8, 16, 32)) {
  x <- seq(0, 1, length.out = 60)
  f <- 50 + as.vector(sample_gp(kernel_se(0.3, variance = 400), x))
  kernel <- kernel_se(0.3, variance = if (case == "variance 1") 1 else 400)
  bandit <- gp_lse(x, kernel, noise_var = 9, level = 55, accuracy = 3, width = width_constant(2), mean = 50,
                   refit = if (case != "no refits") refit_every(5))
  former <- if (case == "one model") refit_every(5) else if (case == "no noise prior") refit_every(5, average = 10)
  if (!is.null(former)) bandit <- gp_bandit(x, kernel, 9, bandit$config$policy, refit = former, mean = 50)
  vapply(seq_len(max(rounds)), function(t) {
    q <- bandit$suggest()
    bandit$observe(q$id, f[q$arm] + rnorm(1, sd = 3))
    if (!t %in% rounds) return(NA_real_)
    found <- bandit$levels()
    mean(found$lower <= f & f <= found$upper)
  }, 0)[rounds]
}

coverage <- function(case) {
  found <- vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    suppressWarnings(inside(case))
  }, numeric(3))
  line(c(case, runs, sprintf("%.3f (%.3f), %d", rowMeans(found), apply(found, 1, stats::sd) / sqrt(runs),
                             rowSums(found < 0.8))))
}

# ---- check_model(): p-values of the noise test below 0.05 of a correct model -----------------------------------------

rejects <- function(rounds, sd) {
  x <- seq(0, 1, length.out = 50)
  bandit <- gp_bandit(x, kernel_se(0.2), sd^2, policy_ucb(width_constant(2)))
  run_bandit(bandit, bandit_problem(x, as.vector(sample_gp(kernel_se(0.2), x)), noise = sd), rounds)
  check_model(bandit)$tests$p[3] < 0.05
}

parts <- words(args$parts)
line(c("part", "case", "stated", "runs", "wrong"))
line(c("---", "---", rep("---:", 3)))
if ("stop" %in% parts) for (name in names(stop_cases)) {
  count("stop_prb(0.1, 0.1)", name, 0.1, function() wrong_certificate(stop_cases[[name]]()))
}
if ("monitor" %in% parts) for (pairs in c(40, 80)) {
  count("calibrate_detector()", sprintf("monitor of %d pairs, dyadic", pairs), 0.05, function() alarms(pairs, TRUE))
}
if ("detector" %in% parts) for (pairs in c(40, 80)) {
  count("calibrate_detector()", sprintf("%d pairs, dyadic", pairs), 0.05, function() restarts(pairs, TRUE))
  if (pairs == 40) count("calibrate_detector()", "40 pairs", 0.05, function() restarts(pairs, FALSE))
}
if ("noise" %in% parts) for (case in list(c(12, 0.3), c(30, 0.1), c(60, 0.01), c(60, 1))) {
  count("check_model(), noise", sprintf("%g rewards, noise sd %g", case[1], case[2]), 0.05,
        function() rejects(case[1], case[2]))
}
if ("level" %in% parts) {
  # The proportion of truths inside (standard error), and the number of runs with more than a fifth outside.
  line(c("gp_lse()", "runs", sprintf("%d rewards", c(8, 16, 32))))
  line(c("---", rep("---:", 4)))
  for (case in c("no refits", "one model", "no noise prior", "the default", "variance 1")) coverage(case)
}
