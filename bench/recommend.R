# Which point should a search recommend? The place of the best posterior mean, or a point evaluated for which its own
# readings speak: rules for how much of a reading counts, compared on BBOB functions (package smoof) that
# minimize_bandit() has searched with its defaults.
#   Rscript bench/recommend.R [d=2] [evaluations=60] [noise=0.01] [instances=1:2]
# `noise` as in bench/optimisation.R. Prints log10 of the gap at the place of the best posterior mean, and of each rule the
# paired difference to it with its standard error. Results: bench/results/optimisation.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(d = "2", evaluations = "60", noise = "0.01", instances = "1:2"), numbers)

# The weight of a reading, by the share of noise in the fitted prior variance of a reward.
rules <- list(half = function(share) 0.5, share = function(share) share, "share squared" = function(share) share^2,
              "half where share > .1" = function(share) 0.5 * (share > 0.1), measurement = function(share) 1)

log_gap <- function(gap) log10(pmax(gap, 1e-8))

one_search <- function(fid, iid) {
  truth <- smoof::makeBBOBFunction(dimensions = args$d, fid = fid, iid = iid)
  optimum <- smoof::getGlobalOptimum(truth)$value
  set.seed(1000 * fid + iid)
  sd <- args$noise * stats::IQR(apply(matrix(runif(1000 * args$d, -5, 5), 1000), 1, truth))
  set.seed(1 + 100 * fid + 10000 * iid)
  domain <- box_domain(rep(-5, args$d), rep(5, args$d))
  found <- minimize_bandit(function(x) truth(as.numeric(x)) + rnorm(1, sd = sd), domain, args$evaluations)
  x <- as.matrix(found$history[domain$names])
  model_state <- predict(found)
  fit <- found$bandit$refits[[length(found$bandit$refits)]]
  share <- fit$noise_var / (fit$noise_var + fit$kernel$variance)
  best <- found$bandit$best()
  gap_of <- function(x) log_gap(truth(as.numeric(x)) - optimum)
  by_rule <- vapply(rules, function(weight) {
    worth <- (1 - weight(share)) * model_state$mean + weight(share) * found$history$reward
    gap_of(if (min(worth) < best$mean) x[which.min(worth), ] else best[domain$names])
  }, 0)
  c("best mean" = gap_of(best[domain$names]), evaluated = min(apply(x, 1, gap_of)), by_rule)
}

problems <- expand.grid(fid = 1:24, iid = args$instances)
gaps <- t(mapply(one_search, problems$fid, problems$iid))
cat(sprintf("d = %d, %d evaluations, noise %g, %d problems: best posterior mean %.2f, best point evaluated %.2f\n", args$d,
            args$evaluations, args$noise, nrow(gaps), mean(gaps[, "best mean"]), mean(gaps[, "evaluated"])))
for (rule in names(rules)) {
  difference <- gaps[, rule] - gaps[, "best mean"]
  cat(sprintf("  %-22s %+.2f +- %.2f\n", rule, mean(difference), stats::sd(difference) / sqrt(nrow(gaps))))
}
