# Environments that change: GP-UCB-CPD on 1,000 arms at several horizons, the sweep over tails by itself,
# and the baselines that forget.
#   Rscript bench/nonstationary.R      (in the repository, gpbandits installed)
# Prints tables and writes bench/results/nonstationary.md.
suppressMessages(library(gpbandits))

# Processor time in seconds: what else the machine does counts little (one thread does all the work).
seconds <- function(code) {
  spent <- system.time(code, gcFirst = TRUE)
  sum(spent[c("user.self", "sys.self")])
}

arms <- seq(0, 5, length.out = 1000)
kernel <- kernel_matern(2.5, 1)
noise_sd <- 0.05
ridge <- function(q) 2 * q^(1 / 7)
rule <- change_detect(function(q) 2.6 * q^(-6 / 7), ridge)

# `periods` functions drawn from the prior, evenly spaced changes (one period: none).
problem_of <- function(rounds, periods, x = arms) {
  set.seed(1)
  f <- sample_gp(kernel, x, n = periods)
  bandit_problem(x, f, noise = noise_sd,
                 change_points = if (periods > 1) round(rounds * seq_len(periods - 1) / periods))
}

run_seconds <- function(bandit, problem, rounds) {
  set.seed(2)
  time <- seconds(run <- run_bandit(bandit, problem, rounds))
  run <- as.data.frame(run)
  c(seconds = time, restarts = max(run$segment) - 1, uniform = sum(run$action == "explore"),
    regret = sum(run$regret))
}

lambda_of <- function(rounds) noise_sd^2 * log(rounds)
width_of <- function(rounds) width_cpd(D = 0.02, nu = 2.5, d = 1, horizon = rounds)

cpd <- function(rounds, periods) {
  bandit <- gp_ucb_cpd(arms, kernel, lambda_of(rounds), changes = rule, width = width_of(rounds))
  run_seconds(bandit, problem_of(rounds, periods), rounds)
}

horizons <- c(900, 2700, 10000, 30000)
growth <- do.call(rbind, lapply(horizons, function(rounds) {
  rbind(cbind(rounds = rounds, periods = 4, t(cpd(rounds, 4))), cbind(rounds = rounds, periods = 1, t(cpd(rounds, 1))))
}))

# The sweep alone, no alarm: all lengths and powers of two against the statistic tail by tail.
sweep_times <- do.call(rbind, lapply(c(50, 100, 200, 300), function(pairs) {
  set.seed(3)
  x <- runif(pairs, 0, 5)
  y <- rnorm(pairs)
  detect <- function(...) {
    seconds(detect_change(x, y, kernel, threshold = 1e9, ridge = ridge, domain = arms, ...))
  }
  naive <- if (pairs > 100) NA else seconds(for (t in 2:pairs) for (q in seq_len(t %/% 2)) {
    tail <- seq(t - 2 * q + 1, t)
    change_statistic(x[tail], y[tail], kernel, ridge(q), arms)
  })
  c(pairs = pairs, all = detect(), dyadic = detect(dyadic = TRUE), naive = naive)
}))

# Baselines, 200 arms so that every one ends soon; 4 periods.
few <- seq(0, 5, length.out = 200)
T <- 2700
makers <- list(
  "GP-UCB" = function() gp_ucb(few, kernel, lambda_of(T), width = width_of(T)),
  "GP-UCB-CPD" = function() gp_ucb_cpd(few, kernel, lambda_of(T), changes = rule, width = width_of(T)),
  "R-GP-UCB, H = 200" = function() gp_ucb_drift(few, kernel, lambda_of(T), change_oracle(every = 200), width = width_of(T)),
  "SW-GP-UCB, W = 200" = function() gp_ucb_drift(few, kernel, lambda_of(T), change_oracle(window = 200), width = width_of(T)),
  "WGP-UCB, eta = 0.99" = function() gp_ucb_drift(few, kernel, lambda_of(T), change_oracle(rate = 0.01, by = "weights"), width = width_of(T)),
  "TV-GP-UCB, eps = 0.01" = function() gp_ucb_drift(few, kernel, lambda_of(T), change_oracle(rate = 0.01), width = width_of(T)),
  "ET-GP-UCB" = function() gp_ucb_drift(few, kernel, lambda_of(T), change_detect(delta = 0.1), width = width_of(T))
)
baselines <- t(vapply(makers, function(make) run_seconds(make(), problem_of(T, 4, few), T), numeric(4)))

exponent <- function(periods) {
  part <- growth[growth[, "periods"] == periods & growth[, "rounds"] >= 2700, ]
  stats::coef(stats::lm(log(part[, "seconds"]) ~ log(part[, "rounds"])))[[2]]
}
lines <- c(
  "# Environments that change",
  "",
  sprintf("Processor seconds, one run each, one thread; R %s, %s. Written by `bench/nonstationary.R`.",
          getRversion(), Sys.info()[["machine"]]),
  "",
  "## GP-UCB-CPD, 1,000 arms, Matern 5/2 (Avanesov's setting), whole runs",
  "",
  "One period is the detector's worst case: nothing ever makes it forget its samples.",
  "",
  "| rounds | periods | seconds | restarts | uniform queries |",
  "| ---: | ---: | ---: | ---: | ---: |",
  sprintf("| %d | %d | %.2f | %d | %d |", as.integer(growth[, "rounds"]), as.integer(growth[, "periods"]), growth[, "seconds"],
          as.integer(growth[, "restarts"]), as.integer(growth[, "uniform"])),
  "",
  sprintf("From 2,700 rounds on the time grows as T^%.2f with 4 periods and as T^%.2f with one. (A run has O(sqrt T)",
          exponent(4), exponent(1)),
  "uniform queries U, and the sweep costs O(U^4) over a segment, so O(T^2) in the worst case; a naive sweep O(U^5).)",
  "Aims: T = 2,700 under 0.5 s, T = 30,000 within seconds.",
  "",
  "## The sweep alone over pairs that never raise an alarm",
  "",
  "| pairs | all tails | powers of two only | the statistic tail by tail | tail by tail / all |",
  "| ---: | ---: | ---: | ---: | ---: |",
  sprintf("| %d | %.3f | %.3f | %s | %s |", as.integer(sweep_times[, "pairs"]), sweep_times[, "all"], sweep_times[, "dyadic"],
          ifelse(is.na(sweep_times[, "naive"]), "-", sprintf("%.2f", sweep_times[, "naive"])),
          ifelse(is.na(sweep_times[, "naive"]), "-",
                 sprintf("%.0f", sweep_times[, "naive"] / pmax(sweep_times[, "all"], 1e-3)))),
  "",
  "## Baselines, 200 arms, T = 2,700, 4 periods",
  "",
  "| bandit | seconds | regret | restarts |",
  "| --- | ---: | ---: | ---: |",
  sprintf("| %s | %.2f | %.0f | %d |", rownames(baselines), baselines[, "seconds"], baselines[, "regret"], as.integer(baselines[, "restarts"])),
  "",
  "One run each: the regrets say nothing about an order. WGP-UCB's weights all change every round, so its posterior is computed anew",
  "each time: n m^2 over m played arms (n r^2 in weight space), where the others need a few products.",
  "",
  sprintf("The machine's load was %s on %d processors.", strsplit(readLines("/proc/loadavg"), " ")[[1]][1],
          parallel::detectCores())
)
writeLines(lines)
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/nonstationary.md")
}
