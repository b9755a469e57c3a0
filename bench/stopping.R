# How many evaluations stop rules save, and how often a certified regret is exceeded: problems drawn
# from the prior (Matern 5/2, 100 arms, noise sd 0.1), 150 rounds where nothing stops.
# Rscript bench/stopping.R [problems]

library(gpbandits)
problems <- as.integer(c(commandArgs(TRUE), 200)[1])
rounds <- 150
x <- seq(0, 1, length.out = 100)
kernel <- kernel_matern(2.5, 0.2)

rules <- list(
  gap = list(rule = stop_gap(0.5, width_srinivas_finite(0.1)), policy = policy_ucb(width_srinivas_finite(0.1)), delta = 0.1),
  prb_0.1 = list(rule = stop_prb(0.1, 0.05), policy = policy_pims(), delta = 0.05),
  prb_0.02 = list(rule = stop_prb(0.02, 0.05), policy = policy_pims(), delta = 0.05)
)

one <- function(seed, setting) {
  set.seed(seed)
  f <- as.vector(sample_gp(kernel, x))
  bandit <- gp_bandit(x, kernel, 0.01, setting$policy)
  run <- run_bandit(bandit, bandit_problem(x, f, noise = 0.1), rounds, stop_when = setting$rule)
  found <- bandit$certificate(setting$rule)
  c(rounds = run$rounds, certified = found$certified,
    exceeded = found$certified && max(f) - f[found$point$arm] > found$gap)
}

for (name in names(rules)) {
  result <- vapply(seq_len(problems), one, numeric(3), setting = rules[[name]])
  cat(sprintf("%-9s rounds played: median %g of %d (saved %.0f%%), certified %d of %d, exceeded %d (allowed share %g)\n",
              name, stats::median(result["rounds", ]), rounds, 100 * (1 - mean(result["rounds", ]) / rounds),
              sum(result["certified", ]), problems, sum(result["exceeded", ]), rules[[name]]$delta))
}
