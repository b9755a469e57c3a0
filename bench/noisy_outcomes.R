# Several objectives, with limits and with noise: policy_ehvi() over the front of the means and over joint draws, and
# policy_hypervolume() with three or more objectives (the former default there).
#   Rscript bench/noisy_outcomes.R [seeds=1:3] [problems=dtlz2,osy] [noise=0,0.1] [methods=mean,draws] [out=rows.csv]
#   Rscript bench/noisy_outcomes.R read=rows.csv      tables in Markdown
# Protocol, fixed before the first run: seeds 1 to 3, noise 0 and .1 (sd in units of the sd of each outcome at 1,000
# random points), 2 (d + 1) points of the design and 30 more, the reference point of the problem, gp_model() by default.
# `gap`: log10 of the share of the largest hypervolume that is missing, by the values without noise at the evaluated
# points that satisfy the limits (it ends at 1e-6). `within`: the share of the values without noise on the final front
# that are within mean +- 1.64 sd (90%). A default changes if its paired gap is smaller in the mean over problems with
# that noise, by more than two standard errors.
# Fixed after seed 1 of the first five problems had been seen, before all other runs: the largest volume of OSY is that
# of its published front (Deb 2001); DTLZ2 with three objectives is added, and these six problems choose. Reported
# on four others: ZDT1, Branin-Currin without the limit, DTLZ7 with three objectives, car side impact (four). Both halves
# must not contradict each other. Fixed after seeds 1 to 3 had been seen: seeds 4 to 8 with noise .1 (draws less means was
# -.01 (.03) with two objectives on the problems that choose, -.33 (.00) on the others); all eight decide. With
# reference=default the policies choose the reference point (a tenth below the front); stated before its first run: the
# four problems with three or four objectives, seeds 1 to 3, must not contradict a change of the default.
# The margin of the default reference point (.5 of the front's range instead of .1, in a changed copy of the package) is
# decided by seeds 1 to 3 of policy_ehvi() without OSY and DTLZ7; stated after seed 1 of five problems had been seen.
# Results: bench/results/noisy_outcomes.md.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(seeds = "1:3", noise = "0,0.1", methods = "mean,draws,upper",
                  problems = "dtlz2,c2dtlz2,branin-currin,vehicle,osy,dtlz2-3,zdt1,branin-currin-free,dtlz7-3,car")
choosing <- c("dtlz2", "c2dtlz2", "branin-currin", "vehicle", "osy", "dtlz2-3")

unit <- function(d) stats::setNames(rep(list(c(0, 1)), d), paste0("x", seq_len(d)))
branin_currin <- function(u) {
  x <- 15 * u[1] - 5
  y <- 15 * u[2]
  current <- 2300 * u[1]^3 + 1900 * u[1]^2 + 2092 * u[1] + 60
  c((y - 5.1 / (4 * pi^2) * x^2 + 5 / pi * x - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10,
    (1 - exp(-1 / (2 * max(u[2], 1e-12)))) * current / (100 * u[1]^3 + 500 * u[1]^2 + 4 * u[1] + 20))
}
dtlz2 <- function(u) (1 + sum((u[-1] - 0.5)^2)) * c(cos(u[1] * pi / 2), sin(u[1] * pi / 2))
dtlz2_3 <- function(u) {
  (1 + sum((u[-(1:2)] - 0.5)^2)) * c(cos(u[1] * pi / 2) * c(cos(u[2] * pi / 2), sin(u[2] * pi / 2)), sin(u[1] * pi / 2))
}
dtlz7_3 <- function(u) {
  g <- 2 + 9 * mean(u[-(1:2)])
  c(u[1:2], g * 3 - sum(u[1:2] * (1 + sin(3 * pi * u[1:2]))))
}
car <- function(x) {
  weight <- 1.98 + 4.9 * x[1] + 6.67 * x[2] + 6.98 * x[3] + 4.01 * x[4] + 1.78 * x[5] + 0.00001 * x[6] + 2.73 * x[7]
  force <- 4.72 - 0.5 * x[4] - 0.19 * x[2] * x[3]
  pillar <- 10.58 - 0.674 * x[1] * x[2] - 0.67275 * x[2]
  door <- 16.45 - 0.489 * x[3] * x[7] - 0.843 * x[5] * x[6]
  g <- c(-0.16 + 0.3717 * x[2] * x[4] + 0.0092928 * x[3],
         0.059 + 0.0159 * x[1] * x[2] + 0.06486 * x[1] + 0.019 * x[2] * x[7] - 0.0144 * x[3] * x[5] - 0.0154464 * x[6],
         0.106 - 0.00817 * x[5] + 0.0587118 * x[1] - 0.03099 * x[2] * x[6] + 0.018 * x[2] * x[7] - 0.030408 * x[3] +
           0.00364 * x[5] * x[6] + 0.018 * x[2]^2,
         -0.42 + 0.61 * x[2] + 0.031296 * x[3] + 0.031872 * x[7] - 0.227 * x[2]^2,
         3.02 - 3.818 * x[3] + 4.2 * x[1] * x[2] - 1.27296 * x[6] + 2.68065 * x[7],
         -3.31728 - 2.95 * x[3] + 5.057 * x[1] * x[2] + 3.795 * x[2] + 3.4431 * x[7],
         -14.36 + 9.9 * x[2] + 4.4505 * x[1], 4 - force, 9.9 - pillar, 15.7 - door)
  c(weight, force, (pillar + door) / 2, -sum(pmin(g, 0)))
}
vehicle <- function(x) {
  c(1640.2823 + 2.3573285 * x[1] + 2.3220035 * x[2] + 4.5688768 * x[3] + 7.7213633 * x[4] + 4.4559504 * x[5],
    6.5856 + 1.15 * x[1] - 1.0427 * x[2] + 0.9738 * x[3] + 0.8364 * x[4] - 0.3695 * x[1] * x[4] +
      0.0861 * x[1] * x[5] + 0.3628 * x[2] * x[4] - 0.1106 * x[1]^2 - 0.3437 * x[3]^2 + 0.1764 * x[4]^2,
    -0.0551 + 0.0181 * x[1] + 0.1024 * x[2] + 0.0421 * x[3] - 0.0073 * x[1] * x[2] + 0.024 * x[2] * x[3] -
      0.0118 * x[2] * x[4] - 0.0204 * x[3] * x[4] - 0.008 * x[3] * x[5] - 0.0241 * x[2]^2 + 0.0109 * x[4]^2)
}
# `f` is made small where `g` is at most 0.
problems <- list(
  dtlz2 = list(space = unit(4), f = dtlz2, reference = c(1.1, 1.1), best = 1.21 - pi / 4),
  c2dtlz2 = list(space = unit(4), f = dtlz2, reference = c(1.1, 1.1), best = 0.3996406303723544, g = function(u) {
    f <- dtlz2(u)
    min((f[1] - 1)^2 + f[2]^2, f[1]^2 + (f[2] - 1)^2, sum((f - 1 / sqrt(2))^2)) - 0.2^2
  }),
  "branin-currin" = list(space = unit(2), f = branin_currin, reference = c(80, 12), best = 608.4004237022673,
                         g = function(u) (15 * u[1] - 7.5)^2 + (15 * u[2] - 7.5)^2 - 50),
  vehicle = list(space = stats::setNames(rep(list(c(1, 3)), 5), paste0("x", 1:5)), f = vehicle,
                 reference = c(1864.72022, 11.81993945, 0.2903999384), best = 246.81607),
  osy = list(space = list(x1 = c(0, 10), x2 = c(0, 10), x3 = c(1, 5), x4 = c(0, 6), x5 = c(1, 5), x6 = c(0, 10)),
             f = function(x) {
               c(-(25 * (x[1] - 2)^2 + (x[2] - 2)^2 + (x[3] - 1)^2 + (x[4] - 4)^2 + (x[5] - 1)^2), sum(x^2))
             },
             g = function(x) {
               -c(x[1] + x[2] - 2, 6 - x[1] - x[2], 2 - x[2] + x[1], 2 - x[1] + 3 * x[2],
                  4 - (x[3] - 3)^2 - x[4], (x[5] - 3)^2 + x[6] - 4)
             }, reference = c(-75, 75), best = 10108.13),
  "dtlz2-3" = list(space = unit(5), f = dtlz2_3, reference = rep(1.1, 3), best = 1.331 - pi / 6),
  zdt1 = list(space = unit(4), f = function(u) {
    g <- 1 + 9 * mean(u[-1])
    c(u[1], g * (1 - sqrt(u[1] / g)))
  }, reference = c(11, 11), best = 120.6667),
  "branin-currin-free" = list(space = unit(2), f = branin_currin, reference = c(18, 6), best = 59.36012),
  "dtlz7-3" = list(space = unit(5), f = dtlz7_3, reference = c(1, 1, 7), best = 2.457669185),
  car = list(space = list(x1 = c(0.5, 1.5), x2 = c(0.45, 1.35), x3 = c(0.5, 1.5), x4 = c(0.5, 1.5), x5 = c(0.875, 2.625),
                          x6 = c(0.4, 1.2), x7 = c(0.4, 1.2)), f = car,
             reference = c(45.4872, 4.5114, 13.3394, 10.3942), best = 484.72654347642793)
)

random_points <- function(space, n) vapply(space, function(range) stats::runif(n, range[1], range[2]), numeric(n))
at_all <- function(f, x) if (is.null(f)) matrix(0, nrow(x), 0) else matrix(apply(x, 1, f), nrow(x), byrow = TRUE)
volume_of <- function(problem, x) {
  kept <- rowSums(at_all(problem$g, x) > 0) == 0
  gpbandits:::cpp_hypervolume(-at_all(problem$f, x[kept, , drop = FALSE]), -problem$reference)
}

run_one <- function(name, method, noise, seed) {
  problem <- problems[[name]]
  set.seed(1)
  many <- random_points(problem$space, 1000)
  scales <- noise * apply(cbind(at_all(problem$f, many), at_all(problem$g, many)), 2, stats::sd)
  wanted <- letters[seq_along(problem$reference)]
  limits <- sprintf("g%d", seq_len(length(scales) - length(wanted)))
  outcomes <- stats::setNames(c(lapply(wanted, function(a) to_minimize()), lapply(limits, function(g) at_most(0))),
                              c(wanted, limits))
  reference <- if (args$reference == "problem") stats::setNames(problem$reference, wanted)
  policy <- switch(method, mean = policy_ehvi(reference), draws = policy_ehvi(reference, incumbent = "draws"),
                   upper = policy_hypervolume(width_constant(2), reference))
  design <- 2 * (length(problem$space) + 1)
  set.seed(seed)
  began <- proc.time()[["user.self"]]
  found <- minimize_bandit(function(p) {
    x <- unname(p)
    stats::setNames(c(problem$f(x), if (!is.null(problem$g)) problem$g(x)) + stats::rnorm(length(scales)) * scales,
                    names(outcomes))
  }, problem$space, design + 30, outcomes = outcomes, policy = policy, n_initial = design)
  took <- proc.time()[["user.self"]] - began
  front <- found$bandit$front()
  truth <- at_all(problem$f, as.matrix(front[names(problem$space)]))
  within <- abs(truth - as.matrix(front[paste0(wanted, "_mean")])) <= 1.64 * as.matrix(front[paste0(wanted, "_sd")])
  volume <- volume_of(problem, as.matrix(found$history[names(problem$space)]))
  data.frame(problem = name, method = method, noise = noise, seed = seed,
             gap = log10(max(1 - volume / problem$best, 1e-6)), within = mean(within), cpu = took)
}

# Pairs on the same seeds: the first method less the second; mean over problems of the mean over seeds (standard error).
pairs_of <- function(rows, first, second) {
  keys <- c("problem", "noise", "seed")
  both <- merge(rows[rows$method == first, c(keys, "gap")], rows[rows$method == second, c(keys, "gap")], by = keys)
  if (nrow(both) == 0) return()
  both$change <- both$gap.x - both$gap.y
  both$part <- ifelse(both$problem %in% choosing, "choosing", "other")
  both$objectives <- ifelse(lengths(lapply(problems[both$problem], `[[`, "reference")) < 3, "two", "three or four")
  for (group in split(both, both[c("objectives", "noise", "part")], drop = TRUE)) {
    by_problem <- tapply(group$change, group$problem, mean)
    line(c(paste(first, "less", second), unlist(group[1, c("objectives", "noise", "part")]), length(by_problem), nrow(group),
           sprintf("%.3f (%.3f)", mean(by_problem), stats::sd(by_problem) / sqrt(length(by_problem))),
           sprintf("%.3f (%.3f)", mean(group$change), stats::sd(group$change) / sqrt(nrow(group))),
           sprintf("%.3f", stats::median(group$change)), sprintf("%d of %d", sum(group$change < 0), nrow(group))))
  }
}

report <- function(rows) {
  line(c("problem", "noise", "method", "seeds", "gap", "within 90%", "processor seconds"))
  line(rep("---", 7))
  groups <- split(rows, list(rows$method, rows$noise, factor(rows$problem, names(problems))), drop = TRUE)
  for (one in groups) {
    line(c(one$problem[1], one$noise[1], one$method[1], nrow(one),
           sprintf("%.2f (%.2f)", mean(one$gap), stats::sd(one$gap) / sqrt(nrow(one))),
           sprintf("%.2f", mean(one$within, na.rm = TRUE)), sprintf("%.1f", mean(one$cpu))))
  }
  cat("\n")
  line(c("pair", "objectives", "noise", "problems", "number", "pairs", "by problem", "by pair", "median", "ahead"))
  line(rep("---", 10))
  pairs_of(rows, "draws", "mean")
  pairs_of(rows, "mean", "upper")
  pairs_of(rows, "draws", "upper")
}

if (!is.null(args$read)) {
  report(utils::read.csv(args$read))
} else {
  rows <- if (!is.null(args$out) && file.exists(args$out)) utils::read.csv(args$out)
  for (seed in numbers(args$seeds)) for (noise in as.numeric(words(args$noise))) for (name in words(args$problems)) {
    for (method in words(args$methods)) {
      if (method == "upper" && length(problems[[name]]$reference) < 3) next
      if (any(rows$problem == name & rows$method == method & rows$noise == noise & rows$seed == seed)) next
      rows <- rbind(rows, run_one(name, method, noise, seed))
      if (!is.null(args$out)) utils::write.csv(rows, args$out, row.names = FALSE)
    }
  }
  report(rows)
}
