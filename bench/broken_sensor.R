# One broken sensor: GP-UCB with plain, clipped and robust rewards. Run: Rscript bench/broken_sensor.R [RUNS]
# 46 sensors on a line, f of RKHS norm 3 (SE kernel), noise sd 0.1. Every third sensor and the broken one are read once,
# then come 100 rounds. The broken one is drawn at random, never the best one, and always reports the same wrong value.
# Columns, means over the runs: regret of the rounds, plays of the broken sensor, regret of the recommended sensor.
library(gpbandits)
runs <- as.integer(c(commandArgs(TRUE), 40)[1])
x <- seq(0, 1, length.out = 46)
kernel <- kernel_se(0.1)
rules <- list(
  "plain, width 2" = list(width = 2),
  "width_corrupt(total = value)" = list(width = "total"),
  "rewards_robust()" = list(width = 2, rewards = rewards_robust()),
  "rewards_robust(clip = 3)" = list(width = 2, rewards = rewards_robust(clip = 3)),
  "rewards_robust(plateau = 3)" = list(width = 2, rewards = rewards_robust(plateau = 3)),
  "the same, width_corrupt(count = 100)" = list(
    width = width_corrupt(width_amm(3, 0.1), count = 100), rewards = rewards_robust(plateau = 3))
)
one <- function(seed, rule, value) {
  set.seed(seed)
  f <- as.numeric(sample_rkhs(kernel, x, 0.05))
  K <- exp(-outer(x, x, "-")^2 / 0.02) + diag(1e-8, 46)
  f <- f * 3 / sqrt(sum(f * solve(K, f)))
  broken <- sample(setdiff(seq_along(x), which.max(f)), 1)
  width <- if (identical(rule$width, "total")) width_corrupt(width_amm(3, 0.1), total = value) else rule$width
  b <- gp_bandit(x, kernel, 0.01, policy_ucb(width), rewards = rule$rewards)
  read <- function(arm) if (arm == broken && value > 0) value else f[arm] + rnorm(1, 0, 0.1)
  first <- union(seq(2, 46, by = 3), broken)
  b$add(arm = first, reward = vapply(first, read, 0))
  played <- integer(100)
  for (t in 1:100) {
    q <- b$suggest()
    played[t] <- q$arm
    b$observe(q$id, read(q$arm))
  }
  c(regret = sum(max(f) - f[played]), broken = sum(played == broken), simple = max(f) - f[b$best()$arm])
}
for (value in c(0, 1e3, 1e6, 1e9)) for (name in names(rules)) {
  found <- suppressWarnings(vapply(seq_len(runs), one, numeric(3), rule = rules[[name]], value = value))
  cat(sprintf("%5.0e  %-38s regret %6.1f (%.1f)  broken %5.1f  simple %5.2f\n", value, name, mean(found[1, ]),
              stats::sd(found[1, ]) / sqrt(runs), mean(found[2, ]), mean(found[3, ])))
}
