# CONFIG, EPBO, RPOL, CKB and the algorithm of Shi and Eryilmaz on six kinds of constrained problems, for the article on
# long-term constraints. From the package's root, gpbandits installed (about two minutes of one processor):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/hard-violation.R
# Writes vignettes/articles/hard-violation.csv: a row per algorithm, means and standard errors over the problems.
library(gpbandits)
started <- proc.time()[["user.self"]]
rounds <- 120
noise <- 0.1
kernel <- kernel_se(0.2)
x <- seq(0, 1, length.out = 50)

# f and g are drawn from the prior; g is shifted so that a quarter of the arms is feasible.
problem_of <- function(run) {
  set.seed(8000 + run)
  f <- drop(sample_gp(kernel, x))
  g <- drop(sample_gp(kernel, x))
  list(f = f, g = g - stats::quantile(g, 0.25, names = FALSE))
}
# Both drift by an autoregression, which keeps their prior: correlation 1/2 after 70 rounds.
drifting <- function(run) {
  set.seed(8100 + run)
  walk <- function() {
    steps <- sample_gp(kernel, x, n = rounds)
    for (t in 2:rounds) steps[, t] <- 0.99 * steps[, t - 1] + sqrt(1 - 0.99^2) * steps[, t]
    steps
  }
  g <- walk()
  list(f = walk(), g = sweep(g, 2, apply(g, 2, stats::quantile, 0.25)))
}
# Where is a road the slowest, among the sensors that were not below 50 mph half an hour before? (78 sensors, in
# units of the largest standard deviation; kernel, mean and slots as in the article on Srinivas et al.)
read_traffic <- function() {
  table <- read.csv(file.path(Sys.getenv("GPBANDITS_DATA"), "traffic_la_i405_speed.csv"))
  speed <- as.matrix(table[grepl("^s[0-9]+$", names(table))])
  speed <- speed[, colMeans(is.na(speed)) <= 0.12]
  speed[stats::complete.cases(speed), ]
}
speed <- read_traffic()
train <- seq_len(750)
unit <- max(apply(speed[train, ], 2, sd))
of_traffic <- function(run) {
  row <- 750 + 37 * run
  usual <- colMeans(speed[train, ])
  list(x = seq_len(ncol(speed)), f = (usual - speed[row, ]) / unit, g = (50 - speed[row - 6, ]) / unit,
       kernel = kernel_matrix(stats::cov(speed[train, ]) / unit^2), noise_of_g = noise)
}

config <- function(x, kernel, ...) {
  gp_ucb(x, kernel, noise^2, width = 2, outcomes = list(reward = to_maximize(), g1 = at_most(0)), ...)
}
epbo <- function(x, kernel, ...) baseline_constrained("epbo", x, kernel, noise^2, penalty = function(t) sqrt(t), ...)
makers <- list(
  CONFIG = config,
  EPBO = epbo,
  RPOL = function(x, kernel) baseline_constrained("rpol", x, kernel, noise^2),
  "RPOL, a tenth" = function(x, kernel) {
    baseline_constrained("rpol", x, kernel, noise^2, penalty = function(t) 0.1 * sqrt(max(t - 1, 1)))
  },
  CKB = function(x, kernel) baseline_constrained("ckb", x, kernel, noise^2, step = 0.5, bound = 10),
  reuse = function(x, kernel) gp_ucb_noiseless_constraints(x, kernel, noise^2, epoch = 20, width = width_constant(2))
)
# Additional rules where rewards are late, and where functions drift.
special <- list(
  "small feasible region, delays" = list(
    "CONFIG, hallucination" = function(x, kernel) config(x, kernel, pending = pending_hallucinate()),
    "EPBO, hallucination" = function(x, kernel) epbo(x, kernel, pending = pending_hallucinate()),
    # The paper of RPOL: values that are late count as 0. m is twice the mean delay, as in Verma et al.
    "RPOL, censored" = function(x, kernel) {
      baseline_constrained("rpol", x, kernel, noise^2, pending = pending_censor(30),
                           width = width_sdf(width_constant(1), B_y = 1))
    }),
  # CONFIG is made again every 40 rounds, because rules of changes are for one outcome. RPOL has restarts.
  "drift" = list("CONFIG, restarts" = config, "RPOL, restarts" = function(x, kernel) {
    baseline_constrained("rpol", x, kernel, noise^2, changes = change_oracle(every = 40))
  })
)

# Cumulative regret against the best feasible arm, and both violations, from the true values of the arms played.
# `f` and `g`: vectors, or matrices with a column per round. The value of round t arrives after `late[t]` more rounds.
run_of <- function(make, p, seed, every = rounds) {
  f <- matrix(p$f, NROW(p$f), rounds)
  g <- matrix(p$g, NROW(p$g), rounds)
  arms <- integer(rounds)
  set.seed(9000 + seed)
  errors <- matrix(rnorm(2 * rounds, sd = rep(c(noise, p$noise_of_g), each = rounds)), rounds)
  due <- seq_len(rounds) + if (isTRUE(p$delays)) rpois(rounds, 15) else 0
  for (t in seq_len(rounds)) {
    if (t %% every == 1) bandit <- make(p$x, p$kernel)
    arms[t] <- bandit$suggest()$arm
    for (s in which(due == t)) {
      seen <- c(f[arms[s], s], g[arms[s], s]) + errors[s, ]
      id <- (s - 1) %% every + 1
      if (is.null(bandit$config$outcomes)) bandit$observe(id, seen[1], constraints = seen[2])
      else bandit$observe(id, stats::setNames(seen, names(bandit$config$outcomes)))
    }
  }
  played <- cbind(arms, seq_len(rounds))
  best <- vapply(seq_len(rounds), function(t) max(f[g[, t] <= 0, t]), 0)
  c(regret = sum(best - f[played]), hard = sum(pmax(g[played], 0)), soft = max(sum(g[played]), 0))
}
of_benchmark <- function(name, grid, kernel) {
  one <- benchmark_problem(name, grid = grid)
  list(x = one$domain, f = one$reward_values, g = drop(one$constraint_values), kernel = kernel, noise_of_g = 0)
}
problems <- list(
  "prior" = function(run) c(problem_of(run), list(x = x, kernel = kernel, noise_of_g = noise)),
  "small feasible region" = function(run) of_benchmark("small_feasible", 25, kernel_matern(2.5, 1)),
  "data rates" = function(run) of_benchmark("rate_allocation", 5, kernel_matern(2.5, 1)),
  "traffic" = of_traffic,
  "small feasible region, delays" = function(run) {
    c(of_benchmark("small_feasible", 25, kernel_matern(2.5, 1)), list(delays = TRUE))
  },
  "drift" = function(run) c(drifting(run), list(x = x, kernel = kernel, noise_of_g = noise))
)

found <- do.call(rbind, lapply(names(problems), function(problem) {
  rules <- c(makers, special[[problem]])
  do.call(rbind, lapply(names(rules), function(name) {
    every <- if (name == "CONFIG, restarts") 40 else rounds
    each <- vapply(1:10, function(run) run_of(rules[[name]], problems[[problem]](run), run, every),
                   c(regret = 0, hard = 0, soft = 0))
    se <- apply(each, 1, sd) / sqrt(ncol(each))
    data.frame(problem = problem, algorithm = name, runs = ncol(each), as.list(signif(rowMeans(each), 3)),
               as.list(stats::setNames(signif(se, 2), paste0(names(se), "_se"))))
  }))
}))
file <- "vignettes/articles/hard-violation.csv"
writeLines(sprintf("# by vignettes/precompute/hard-violation.R, %.0f s of processor time; gpbandits %s, %s",
                   proc.time()[["user.self"]] - started, packageVersion("gpbandits"), R.version.string), file)
suppressWarnings(write.table(found, file, sep = ",", row.names = FALSE, append = TRUE))
print(found)
