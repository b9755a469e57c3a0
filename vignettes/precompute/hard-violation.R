# CONFIG, EPBO, RPOL, CKB and the paper's algorithm on three kinds of constrained problems, for the article on long-term
# constraints. From the package's root,
# gpbandits installed (about a minute of one processor):
#   Rscript vignettes/precompute/hard-violation.R
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

makers <- list(
  CONFIG = function(x, kernel) gp_ucb(x, kernel, noise^2, width = 2, outcomes = list(reward = to_maximize(), g1 = at_most(0))),
  EPBO = function(x, kernel) baseline_constrained("epbo", x, kernel, noise^2, penalty = function(t) sqrt(t)),
  RPOL = function(x, kernel) baseline_constrained("rpol", x, kernel, noise^2),
  "RPOL, a tenth" = function(x, kernel) {
    baseline_constrained("rpol", x, kernel, noise^2, penalty = function(t) 0.1 * sqrt(t))
  },
  CKB = function(x, kernel) baseline_constrained("ckb", x, kernel, noise^2, step = 0.5, bound = 10),
  reuse = function(x, kernel) gp_ucb_noiseless_constraints(x, kernel, noise^2, epoch = 20, width = width_constant(2))
)

# Cumulative regret against the best feasible arm, and both violations, from the true values of the arms played.
run_of <- function(make, p, seed) {
  bandit <- make(p$x, p$kernel)
  arms <- integer(rounds)
  set.seed(9000 + seed)
  for (t in seq_len(rounds)) {
    q <- bandit$suggest()
    arms[t] <- q$arm
    reward <- p$f[q$arm] + rnorm(1, sd = noise)
    g <- p$g[q$arm] + rnorm(1, sd = p$noise_of_g)
    if (is.null(bandit$config$outcomes)) bandit$observe(q$id, reward, constraints = g)
    else bandit$observe(q$id, stats::setNames(c(reward, g), names(bandit$config$outcomes)))
  }
  c(regret = sum(max(p$f[p$g <= 0]) - p$f[arms]), hard = sum(pmax(p$g[arms], 0)), soft = max(sum(p$g[arms]), 0))
}
of_benchmark <- function(name, grid, kernel) {
  one <- benchmark_problem(name, grid = grid)
  list(x = one$domain, f = one$reward_values, g = drop(one$constraint_values), kernel = kernel, noise_of_g = 0)
}
problems <- list(
  "prior" = function(run) c(problem_of(run), list(x = x, kernel = kernel, noise_of_g = noise)),
  "small feasible region" = function(run) of_benchmark("small_feasible", 25, kernel_matern(2.5, 1)),
  "data rates" = function(run) of_benchmark("rate_allocation", 5, kernel_matern(2.5, 1))
)

found <- do.call(rbind, lapply(names(problems), function(problem) {
  do.call(rbind, lapply(names(makers), function(name) {
    each <- vapply(1:10, function(run) run_of(makers[[name]], problems[[problem]](run), run), c(regret = 0, hard = 0, soft = 0))
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
