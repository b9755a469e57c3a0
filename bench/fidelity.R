# Regret at equal cost: searches with a continuous fidelity (`fidelity = `, BOCA) and on the target alone.
#   Rscript bench/fidelity.R [seeds=1:10] [budget=15]
# `budget` in evaluations at the target. Problems: Branin and Hartmann-3 with the published fidelities of Kandasamy et al. (2017)
# in one dimension, cost .05 + .95 z^1.5, and a neural network on simulated data whose fidelity is the share of the training rows (cost
# in proportion). Prints log10 of the gap (of the network: of the excess loss over the best seen by anybody). Results: bench/results/fidelity.md.
library(gpbandits)
source("bench/shared/script.R")
args <- lapply(arguments(seeds = "1:10", budget = "15"), numbers)

branin <- function(p, z) {
  x <- p[["x1"]]; y <- p[["x2"]]
  b <- 5.1 / (4 * pi^2) - 0.01 * (1 - z)
  c <- 5 / pi - 0.1 * (1 - z)
  t <- 1 / (8 * pi) + 0.05 * (1 - z)
  -((y - b * x^2 + c * x - 6)^2 + 10 * (1 - t) * cos(x) + 10)
}
hartmann <- function(p, z) {
  A <- rbind(c(3, 10, 30), c(0.1, 10, 35), c(3, 10, 30), c(0.1, 10, 35))
  P <- 1e-4 * rbind(c(3689, 1170, 2673), c(4699, 4387, 7470), c(1091, 8732, 5547), c(381, 5743, 8828))
  x <- c(p[["x1"]], p[["x2"]], p[["x3"]])
  sum((c(1, 1.2, 3, 3.2) - 0.1 * (1 - z)) * exp(-colSums(t(A) * (x - t(P))^2)))
}
rising <- function(z) 0.05 + 0.95 * z^1.5

problems <- list(
  branin = list(domain = list(x1 = c(-5, 10), x2 = c(0, 15)), f = branin, cost = rising, lower = 0, best = -0.397887),
  hartmann3 = list(domain = list(x1 = c(0, 1), x2 = c(0, 1), x3 = c(0, 1)), f = hartmann, cost = rising, lower = 0, best = 3.86278),
  network = list(domain = search_space(size = param_integer(1, 10), decay = param_real(1e-4, 10, log = TRUE)), cost = function(z) z,
                 lower = 0.1, best = NA, f = NULL)
)

network_of <- function(seed) {
  set.seed(seed)
  x <- matrix(runif(600 * 6), 600)
  y <- (10 * sin(pi * x[, 1] * x[, 2]) + 20 * (x[, 3] - 0.5)^2 + 10 * x[, 4] + 5 * x[, 5] + rnorm(600, sd = 2) - 14) / 5
  function(p, z) {
    old <- .Random.seed
    on.exit(assign(".Random.seed", old, envir = globalenv()))
    set.seed(1)
    rows <- seq_len(max(20, round(400 * z)))
    fit <- nnet::nnet(x[rows, ], y[rows], size = p$size, decay = p$decay, linout = TRUE, maxit = 80, trace = FALSE)
    -sqrt(mean((y[401:600] - predict(fit, x[401:600, ]))^2))
  }
}

rows <- do.call(rbind, lapply(names(problems), function(name) do.call(rbind, lapply(args$seeds, function(seed) {
  problem <- problems[[name]]
  f <- if (is.null(problem$f)) network_of(seed) else problem$f
  at_target <- function(found) f(as.list(found$par), 1)
  run <- function(...) {
    set.seed(1000 + seed)
    maximize_bandit(..., domain = problem$domain, evaluations = args$budget)
  }
  given <- run(f, fidelity = list(problem$lower, 1, cost = problem$cost))
  learnt <- run(function(p, z) list(value = f(p, z), cost = problem$cost(z)), fidelity = c(problem$lower, 1))
  full <- run(function(p) f(as.list(p), 1))
  set.seed(1000 + seed)
  random <- run(function(p) f(as.list(p), 1), design = args$budget)
  data.frame(problem = name, seed, given = at_target(given), learnt = at_target(learnt), full = at_target(full),
             random = random$best_seen$reward,
             looks = nrow(given$history), top = sum(given$history$status == "observed"))
}))))

gap_of <- function(row) {
  values <- unlist(row[c("given", "learnt", "full", "random")])
  best <- problems[[row$problem]]$best
  if (is.na(best)) best <- max(values) + 1e-3
  log10(pmax(best - values, 1e-6))
}
gaps <- t(vapply(seq_len(nrow(rows)), function(i) gap_of(rows[i, ]), numeric(4)))
cat("| problem | BOCA, cost given | cost learnt | target alone | Latin hypercube | evaluations of BOCA (at the target) |\n|---|---|---|---|---|---|\n")
for (name in names(problems)) {
  of <- rows$problem == name
  mean_se <- sprintf("%.2f (%.2f)", colMeans(gaps[of, , drop = FALSE]), apply(gaps[of, , drop = FALSE], 2, stats::sd) / sqrt(sum(of)))
  cat(sprintf("| %s | %s | %.0f (%.0f) |\n", name, paste(mean_se, collapse = " | "), mean(rows$looks[of]), mean(rows$top[of])))
}
