# Which point should a search recommend if its noise is fitted? That of ?`recommended-point`, compared with the point of
# the best observed reward and with the largest posterior mean anywhere, on BBOB functions (package smoof) that
# minimize_bandit() has searched.
#   Rscript bench/recommend.R [d=2,5] [noise=0,0.01,0.1] [evaluations=60] [instances=4:5]
# `noise` as in bench/optimisation.R. Paired differences of the true values: of log10 of the gap, and in sd of the
# function over the box (below 0: the rule is better). A search takes 2 to 5 s. Results: bench/results/recommend.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(d = "2,5", noise = "0,0.01,0.1", evaluations = "60", instances = "4:5"), numbers)

# The true gaps of the three points.
one_search <- function(fid, iid, d, noise) {
  truth <- smoof::makeBBOBFunction(dimensions = d, fid = fid, iid = iid)
  optimum <- smoof::getGlobalOptimum(truth)$value
  set.seed(1000 * fid + iid)
  values <- apply(matrix(runif(1000 * d, -5, 5), 1000), 1, truth)
  sd <- noise * stats::IQR(values)
  set.seed(1 + 100 * fid + 10000 * iid)
  domain <- box_domain(rep(-5, d), rep(5, d))
  found <- minimize_bandit(function(x) truth(as.numeric(x)) + rnorm(1, sd = sd), domain, args$evaluations)
  gap <- function(par) truth(as.numeric(par[domain$names])) - optimum
  twin <- as.environment(found$bandit$copy())
  twin$config$fresh <- NULL
  gpbandits:::kind_of(twin)$rebuild(twin)
  c(rule = gap(found$par), observed = gap(found$observed), mean = gap(gpbandits:::bandit_best(twin, NULL)),
    unit = stats::sd(values))
}

compare <- function(gaps, with) {
  mean_of <- function(x) sprintf("%+.4f +- %.4f", mean(x), stats::sd(x) / sqrt(length(x)))
  raw <- (gaps["rule", ] - gaps[with, ]) / gaps["unit", ]
  logs <- log10(pmax(gaps["rule", ], 1e-8)) - log10(pmax(gaps[with, ], 1e-8))
  c(sum(raw < -1e-9), sum(raw > 1e-9), mean_of(logs), mean_of(raw))
}

line(c("inputs", "noise", "searches", "compared with", "better", "worse", "log10 gap", "sd of f"))
line(c(rep("---:", 3), "---", rep("---:", 4)))
for (d in args$d) for (noise in args$noise) {
  problems <- expand.grid(fid = 1:24, iid = args$instances)
  gaps <- mapply(one_search, problems$fid, problems$iid, d, noise)
  line(c(d, noise, ncol(gaps), "best observed", compare(gaps, "observed")))
  line(c(d, noise, ncol(gaps), "largest mean", compare(gaps, "mean")))
}
