# Long-term constraints: whole runs of 350 rounds on the small feasible region, 61 x 61 arms.
#   Rscript bench/constraints.R      (in the repository, gpbandits installed; about a minute)
# Prints a table and writes bench/results/constraints.md.
suppressMessages(library(gpbandits))

kernel <- kernel_matern(2.5, 1)
wide <- width_constant(2)
noiseless <- benchmark_problem("small_feasible", 61)
noisy <- benchmark_problem("small_feasible", 61, noisy = TRUE)
coarse <- benchmark_problem("small_feasible", 31)

algorithm2 <- function(problem, reuse = TRUE, inner = "igp_ucb") {
  gp_ucb_noiseless_constraints(problem$domain, kernel, 0.01, epoch = 20, width = wide, reuse = reuse, inner = inner)
}
algorithm3 <- function(problem, reuse = TRUE) {
  gp_ucb_noisy_constraints(problem$domain, kernel, 0.01, epoch = 20, step = 0.5, width = wide, reuse = reuse)
}

# Processor seconds of 100 runs, from `runs` of them: what else the machine does counts little.
hundred_runs <- function(make, problem, runs) {
  spent <- system.time(
    compare_bandits(list(one = make), problem, rounds = 350, replications = runs, seed = 1, every = 350), gcFirst = TRUE
  )
  sum(spent[c("user.self", "sys.self")]) * 100 / runs
}

# The least that a run can cost: 350 products of the factor over the points played with the arms.
bare <- function(runs = 10) {
  n <- nrow(noiseless$domain$x)
  V <- matrix(0.5, n, 60)
  spent <- system.time(for (i in seq_len(runs * 350)) V %*% V[i %% n + 1, ], gcFirst = TRUE)
  sum(spent[c("user.self", "sys.self")]) * 100 / runs
}

box <- benchmark_problem("small_feasible", NULL)
cases <- list(
  list("Algorithm 2, reuse", algorithm2, noiseless, 100),
  list("Algorithm 2, letter", function(p) algorithm2(p, FALSE), noiseless, 100),
  list("Algorithm 3, reuse", algorithm3, noisy, 100),
  list("Algorithm 3, letter", function(p) algorithm3(p, FALSE), noisy, 100),
  list("Algorithm 2, GP-TS inside, 31 x 31 arms", function(p) algorithm2(p, inner = "gp_ts"), coarse, 5),
  list("CKB", function(p) baseline_constrained("ckb", p$domain, kernel, 0.01, step = 0.5, bound = 10), noiseless, 5),
  list("CONFIG", function(p) gp_ucb(p$domain, kernel, 0.01, width = 2,
                                   outcomes = list(reward = to_maximize(), g1 = at_most(0))), noiseless, 5),
  list("EPBO", function(p) baseline_constrained("epbo", p$domain, kernel, 0.01, penalty = 10), noiseless, 5),
  list("ADMMBO", function(p) baseline_constrained("admmbo", p$domain, kernel, 0.01), noiseless, 5),
  list("bandit OCO, box", function(p) baseline_constrained("oco", p$domain), box, 10)
)
results <- data.frame(what = vapply(cases, `[[`, "", 1),
                      seconds = vapply(cases, function(one) hundred_runs(one[[2]], one[[3]], one[[4]]), 0))
loop <- bare()

lines <- c(
  "# Long-term constraints: 100 runs of 350 rounds on 61 x 61 arms",
  "",
  sprintf("Processor seconds for 100 runs (`compare_bandits()`, ledger included), one thread; R %s, %s.",
          getRversion(), Sys.info()[["machine"]]),
  "The algorithms run in one compiled loop; the baselines choose in R, a round at a time, on posteriors of the package.",
  "The last column is relative to 350 bare products of a 3,721 x 60 matrix with a vector in R.",
  "Written by `bench/constraints.R`.",
  "",
  "| | seconds for 100 runs | / bare products |",
  "| --- | ---: | ---: |",
  sprintf("| %s | %.1f | %.1f |", results$what, results$seconds, results$seconds / loop),
  "",
  sprintf("The machine's load was %s on %d processors. Aim: the algorithms under 60 seconds.",
          strsplit(readLines("/proc/loadavg"), " ")[[1]][1], parallel::detectCores())
)
writeLines(lines)
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/constraints.md")
}
