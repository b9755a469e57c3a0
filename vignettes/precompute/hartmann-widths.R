# GP-TS and IGP-UCB on Hartmann 3 (Figure 3 (b) of Chowdhury and Gopalan) with other widths: the rate of the gain times
# 0.01 to 1, and the smallest norm times 0.1 to 1. The norm's factors were added after a first
# look at those of the rate. From the package's root,
# gpbandits installed (20 s of one processor):
#   Rscript vignettes/precompute/hartmann-widths.R
# Writes vignettes/articles/hartmann-widths.csv: mean cumulative regret of 5 trials of 1,000 rounds.
library(gpbandits)
source("vignettes/precompute/results.R")
run_chunks("chowdhury", "problems")
test <- benchmark_function("hartmann3")
kernel <- kernel_se(0.2)
started <- proc.time()[["user.self"]]

one_run <- function(make, seed, scale, times) {
  set.seed(seed)
  x <- matrix(runif(900), 300)
  f <- as.numeric(test$f(x))
  f <- (f - mean(f)) / sd(f)
  B <- times * sqrt(sum(f * solve(kernel_gram(kernel, x) + diag(1e-8, 300), f)))
  problem <- arms_problem(x, f, B)
  bandit <- make(x, kernel, problem$R^2, B = B, R = problem$R, gain = gain_rate(scale = scale))
  sum(as.data.frame(run_bandit(bandit, problem, 1000))$regret)
}
found <- expand.grid(times = c(1, 0.3, 0.1), scale = c(1, 0.1, 0.01))[2:1]
for (name in c("igp_ucb", "gp_ts")) {
  found[[name]] <- signif(mapply(function(scale, times) {
    mean(vapply(1:5, function(seed) one_run(get(name), seed, scale, times), 0))
  }, found$scale, found$times), 3)
}
file <- "vignettes/articles/hartmann-widths.csv"
writeLines(sprintf("# by vignettes/precompute/hartmann-widths.R, %.0f s of processor time; gpbandits %s, %s",
                   proc.time()[["user.self"]] - started, packageVersion("gpbandits"), R.version.string), file)
suppressWarnings(write.table(found, file, sep = ",", row.names = FALSE, append = TRUE))
