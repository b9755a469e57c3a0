# BBOB functions (package smoof) as problems of bench/: at most `evaluations` calls count.

# `f` is minimised; `seen()`: true values of the counted calls; `best_measurement()`: the true value of the one with the
# best measurement; `sd`: of the noise.
# `noise`: its sd as a share of the interquartile range of f over 1,000 uniform points.
bbob_problem <- function(fid, iid, d, evaluations, noise) {
  truth <- smoof::makeBBOBFunction(dimensions = d, fid = fid, iid = iid)
  set.seed(1000 * fid + iid)
  sd <- if (noise > 0) noise * stats::IQR(apply(matrix(stats::runif(1000 * d, -5, 5), 1000), 1, truth)) else 0
  c(list(truth = truth, optimum = smoof::getGlobalOptimum(truth)$value, sd = sd), counted(truth, evaluations, sd))
}

counted <- function(truth, budget, sd) {
  seen <- measurements <- numeric()
  list(f = function(x) {
    value <- truth(as.numeric(x))
    measurement <- value + if (sd > 0) stats::rnorm(1, sd = sd) else 0
    if (length(seen) < budget) {
      seen <<- c(seen, value)
      measurements <<- c(measurements, measurement)
    }
    measurement
  }, seen = function() seen, best_measurement = function() seen[which.min(measurements)])
}
