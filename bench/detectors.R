# Rules for changes around GP-UCB: no rule, GP-UCB-CPD, the event trigger, DAL (`cover`), `changes = "auto"`.
# (1) Avanesov's problem: Matern 5/2, lengthscale 1, on [0, 5] (200 arms), noise sd 0.05, 1,200 rounds, 4 or 12 periods.
# (2) A drifting function: a convex combination of two draws of the prior, from one to the other within 1,200 rounds.
# (3) Traffic of a motorway (data not in the package: directory GPBANDITS_DATA): 78 sensors, a round is five minutes of
#     the mornings of days 13 to 23, the reward the slowness (70 mph - speed) / 10, noise variance 0.0478. Kernel and
#     prior mean are covariance and mean of days 1 to 12.
# Run: Rscript bench/detectors.R [RUNS]. Writes bench/results/detectors.md: regret (standard error) and restarts.
suppressMessages(library(gpbandits))
runs <- as.integer(c(commandArgs(TRUE), 20)[1])

one_run <- function(make, problem, rounds, seed) {
  set.seed(seed)
  run <- as.data.frame(run_bandit(make(), problem, rounds))
  c(regret = sum(run$regret), restarts = max(run$segment) - 1)
}

rules_for <- function(detector, cover) {
  list("none" = NULL, "GP-UCB-CPD's detector" = detector, "event trigger, delta = 0.1" = change_detect(delta = 0.1),
       "DAL, delta = 0.1" = change_detect(delta = 0.1, cover = cover),
       "DAL, no exploration" = change_detect(delta = 0.1, cover = cover, explore = 0), "auto" = "auto")
}

x <- seq(0, 5, length.out = 200)
kernel <- kernel_matern(2.5, 1)
paper <- change_detect(function(q) 2.6 * q^(-6 / 7), function(q) 2 * q^(1 / 7))
prior <- list(rounds = 1200, rules = rules_for(paper, 8),
              make = function(rule) function() gp_bandit(x, kernel, 0.05^2, policy_ucb(2), changes = rule))
abrupt <- function(periods) {
  function(seed) {
    set.seed(1000 + seed)
    bandit_problem(x, sample_gp(kernel, x, n = periods), noise = 0.05,
                   change_points = round(1200 * seq_len(periods - 1) / periods))
  }
}
drifting <- function(seed) {
  set.seed(1000 + seed)
  f <- sample_gp(kernel, x, n = 2)
  part <- seq(0, 1, length.out = 60)
  bandit_problem(x, f[, 1] %o% sqrt(1 - part) + f[, 2] %o% sqrt(part), noise = 0.05, change_points = 20 * 1:59)
}
cases <- list("4 periods" = c(prior, problem = abrupt(4)), "12 periods" = c(prior, problem = abrupt(12)),
              "drift" = c(prior, problem = drifting))

path <- Sys.getenv("GPBANDITS_DATA")
if (nzchar(path)) {
  speed <- utils::read.csv(file.path(path, "traffic_la_i405_speed.csv"))
  slow <- (70 - as.matrix(speed[-(1:2)])) / 10
  slow <- slow[, colMeans(is.na(slow)) <= 0.12]
  old <- speed$day <= 12
  old_rows <- slow[old & stats::complete.cases(slow), ]
  new_rows <- slow[!old & stats::complete.cases(slow), ]
  covariance <- stats::cov(old_rows) + diag(1e-6, ncol(slow))
  rounds <- nrow(new_rows)
  cases[["traffic"]] <- list(
    rounds = rounds, rules = rules_for(change_detect(function(q) 20 * q^(-6 / 7), function(q) 2 * q^(1 / 7)), 8),
    make = function(rule) function() {
      gp_bandit(seq_len(ncol(slow)), kernel_matrix(covariance), 0.0478, policy_ucb(2), changes = rule,
                mean = unname(colMeans(old_rows)))
    },
    problem = function(seed) {
      bandit_problem(seq_len(ncol(slow)), t(new_rows), noise = sqrt(0.0478), change_points = seq_len(rounds - 1))
    })
}

lines <- c("# Rules for changes around GP-UCB", "",
           sprintf("Total regret (standard error) and restarts, means over %d runs. From `bench/detectors.R`.", runs))
for (case in names(cases)) {
  now <- cases[[case]]
  lines <- c(lines, "", sprintf("## %s, %d rounds", case, now$rounds), "",
             "| rule | regret | restarts |", "| --- | ---: | ---: |")
  for (rule in names(now$rules)) {
    found <- vapply(seq_len(runs), function(seed) {
      one_run(now$make(now$rules[[rule]]), now$problem(seed), now$rounds, seed)
    }, numeric(2))
    lines <- c(lines, sprintf("| %s | %.0f (%.0f) | %.1f |", rule, mean(found[1, ]),
                              stats::sd(found[1, ]) / sqrt(runs),
                              mean(found[2, ])))
    message(case, ": ", utils::tail(lines, 1))
  }
}
writeLines(c(lines, ""), "bench/results/detectors.md")
