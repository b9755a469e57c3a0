# Which point should a search recommend if its noise is fitted? That of ?`recommended-point`, compared with the
# largest posterior mean anywhere, on BBOB functions (package smoof) that minimize_bandit() has searched.
#   Rscript bench/recommend.R [d=2,5] [noise=0,0.01,0.1] [evaluations=60] [instances=3]
# `noise` as in bench/optimisation.R. Paired differences of the true values: of log10 of the gap, and in sd of the
# function over the box (below 0: the rule is better). Results: bench/results/recommend.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(d = "2,5", noise = "0,0.01,0.1", evaluations = "60", instances = "3"), numbers)

one_search <- function(fid, iid, d, noise) {
  truth <- smoof::makeBBOBFunction(dimensions = d, fid = fid, iid = iid)
  optimum <- smoof::getGlobalOptimum(truth)$value
  set.seed(1000 * fid + iid)
  values <- apply(matrix(runif(1000 * d, -5, 5), 1000), 1, truth)
  sd <- noise * stats::IQR(values)
  set.seed(1 + 100 * fid + 10000 * iid)
  domain <- box_domain(rep(-5, d), rep(5, d))
  found <- minimize_bandit(function(x) truth(as.numeric(x)) + rnorm(1, sd = sd), domain, args$evaluations)
  gap <- truth(as.numeric(found$par)) - optimum
  twin <- as.environment(found$bandit$copy())
  before <- gap
  if (!gpbandits:::is_noise_negligible(gpbandits:::current_config(twin))) {
    twin$config$fresh <- NULL
    gpbandits:::kind_of(twin)$rebuild(twin)
    before <- truth(as.numeric(gpbandits:::bandit_best(twin, NULL)[domain$names])) - optimum
  }
  c(log = log10(max(gap, 1e-8)) - log10(max(before, 1e-8)), raw = (gap - before) / stats::sd(values))
}

line(c("inputs", "noise", "functions", "other point", "worse", "log10 gap", "sd of f"))
line(c(rep("---:", 7)))
for (d in args$d) for (noise in args$noise) {
  problems <- expand.grid(fid = 1:24, iid = args$instances)
  gaps <- mapply(one_search, problems$fid, problems$iid, d, noise)
  mean_of <- function(x) sprintf("%+.4f +- %.4f", mean(x), stats::sd(x) / sqrt(length(x)))
  line(c(d, noise, ncol(gaps), sum(gaps["raw", ] != 0), sum(gaps["raw", ] > 1e-9), mean_of(gaps["log", ]),
         mean_of(gaps["raw", ])))
}
