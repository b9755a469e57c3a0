# Several outcomes: the best feasible value under limits after 30 evaluations (Gardner et al. 2014, both problems), and the
# share of hypervolume that is missing after 2(d+1)+30 (ZDT1 in 4 inputs, Branin-Currin). maximize_bandit() with its
# defaults, random search, and DiceOptim's EGO.cst (EFI) where it is installed. No noise.
#   Rscript bench/outcomes.R [seeds=1:5]
# Results: bench/results/outcomes.md.
library(gpbandits)

given <- strsplit(commandArgs(TRUE), "=", fixed = TRUE)
args <- stats::setNames(lapply(given, `[`, 2), vapply(given, `[`, "", 1))
seeds <- eval(parse(text = if (is.null(args$seeds)) "1:5" else args$seeds))

square <- list(x = c(0, 6), y = c(0, 6))
limited <- list(
  gardner1 = list(space = square, f = function(p) cos(2 * p[["x"]]) * cos(p[["y"]]) + sin(p[["x"]]),
                  g = function(p) cos(p[["x"]]) * cos(p[["y"]]) - sin(p[["x"]]) * sin(p[["y"]]), limit = 0.5),
  gardner2 = list(space = square, f = function(p) sin(p[["x"]]) + p[["y"]],
                  g = function(p) sin(p[["x"]]) * sin(p[["y"]]), limit = -0.95)
)

branin <- function(u) {
  x <- 15 * u[1] - 5
  y <- 15 * u[2]
  (y - 5.1 / (4 * pi^2) * x^2 + 5 / pi * x - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10
}
currin <- function(u) {
  (1 - exp(-1 / (2 * max(u[2], 1e-12)))) * (2300 * u[1]^3 + 1900 * u[1]^2 + 2092 * u[1] + 60) /
    (100 * u[1]^3 + 500 * u[1]^2 + 4 * u[1] + 20)
}
unit <- function(d) stats::setNames(rep(list(c(0, 1)), d), paste0("x", seq_len(d)))
fronts <- list(
  "branin-currin" = list(space = unit(2), f = function(p) c(a = branin(unname(p)), b = currin(unname(p))),
                         reference = c(a = 18, b = 6), best = 59.36012),
  zdt1 = list(space = unit(4), f = function(p) {
    g <- 1 + 9 * mean(p[-1])
    c(a = p[[1]], b = g * (1 - sqrt(p[[1]] / g)))
  }, reference = c(a = 11, b = 11), best = 120.6667)
)

# The best feasible value on a fine grid: a gap at the floor of 1e-6 is as good as that, or better.
best_of <- function(problem) {
  grid <- expand.grid(x = seq(0, 6, length.out = 1501), y = seq(0, 6, length.out = 1501))
  fine <- grid[problem$g(grid) <= problem$limit, ]
  min(problem$f(fine))
}

best_feasible <- function(history, problem) {
  kept <- !is.na(history$g) & history$g <= problem$limit
  if (any(kept)) min(history$f[kept]) else NA
}

random_points <- function(space, n) as.data.frame(lapply(space, function(range) stats::runif(n, range[1], range[2])))

limit_rows <- function(name, seed) {
  problem <- limited[[name]]
  best <- best_of(problem)
  gap <- function(value) log10(max(value - best, 1e-6))
  set.seed(seed)
  began <- proc.time()[["elapsed"]]
  found <- maximize_bandit(function(p) c(f = problem$f(p), g = problem$g(p)), problem$space, 30, progress = FALSE,
                           outcomes = list(f = to_minimize(), g = at_most(problem$limit)))
  seconds <- proc.time()[["elapsed"]] - began
  x <- random_points(problem$space, 30)
  random <- data.frame(f = problem$f(x), g = problem$g(x))
  rows <- data.frame(problem = name, method = c("gpbandits", "random"), seed = seed,
                     log10_gap = c(gap(best_feasible(found$history, problem)), gap(best_feasible(random, problem))),
                     seconds = c(seconds, 0))
  if (!requireNamespace("DiceOptim", quietly = TRUE)) return(rows)
  started <- proc.time()[["elapsed"]]
  design <- random_points(problem$space, 10)
  objective <- function(x) problem$f(list(x = x[1], y = x[2]))
  limit <- function(x) problem$g(list(x = x[1], y = x[2])) - problem$limit
  fit <- function(y) DiceKriging::km(~1, design, y, control = list(trace = FALSE))
  ego <- DiceOptim::EGO.cst(model.fun = fit(apply(design, 1, objective)), fun = objective,
                            model.constraint = list(fit(apply(design, 1, limit))), constraint = limit, nsteps = 20,
                            lower = c(0, 0), upper = c(6, 6), crit = "EFI", type = "UK")
  told <- rbind(as.matrix(design), ego$par)
  seen <- data.frame(f = apply(told, 1, objective), g = apply(told, 1, limit) + problem$limit)
  rbind(rows, data.frame(problem = name, method = "DiceOptim", seed = seed, log10_gap = gap(best_feasible(seen, problem)),
                         seconds = proc.time()[["elapsed"]] - started))
}

hypervolume <- function(values, reference) {
  values <- values[values[, 1] < reference[1] & values[, 2] < reference[2], , drop = FALSE]
  if (nrow(values) == 0) return(0)
  values <- values[order(values[, 1]), , drop = FALSE]
  height <- cummin(values[, 2])
  sum(diff(c(values[, 1], reference[1])) * (reference[2] - height))
}

front_rows <- function(name, seed) {
  problem <- fronts[[name]]
  d <- length(problem$space)
  n <- 2 * (d + 1) + 30
  set.seed(seed)
  began <- proc.time()[["elapsed"]]
  found <- maximize_bandit(problem$f, problem$space, n, design = 2 * (d + 1), progress = FALSE,
                           outcomes = list(a = to_minimize(), b = to_minimize()),
                           policy = policy_ehvi(reference = problem$reference))
  seconds <- proc.time()[["elapsed"]] - began
  x <- random_points(problem$space, n)
  random <- t(apply(x, 1, problem$f))
  missing <- function(values) log10(max(1 - hypervolume(values, problem$reference) / problem$best, 1e-6))
  data.frame(problem = name, method = c("gpbandits", "random"), seed = seed,
             log10_gap = c(missing(as.matrix(found$history[c("a", "b")])), missing(random)), seconds = c(seconds, 0))
}

rows <- do.call(rbind, c(
  unlist(lapply(names(limited), function(name) lapply(seeds, limit_rows, name = name)), recursive = FALSE),
  unlist(lapply(names(fronts), function(name) lapply(seeds, front_rows, name = name)), recursive = FALSE)))
found <- stats::aggregate(cbind(log10_gap, seconds) ~ problem + method, rows, mean, na.action = stats::na.pass)
found$lowest <- stats::aggregate(log10_gap ~ problem + method, rows, min, na.action = stats::na.pass)$log10_gap
found$highest <- stats::aggregate(log10_gap ~ problem + method, rows, max, na.action = stats::na.pass)$log10_gap
print(found[c("problem", "method", "log10_gap", "lowest", "highest")], row.names = FALSE, digits = 3)
