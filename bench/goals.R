# A goal that is a formula of outcomes, beside a model of the formula's value.
#
#   Rscript bench/goals.R [problems=langermann,rosenbrock,environment] [seeds=1:8] [evaluations=40] out=FILE
#   Rscript bench/goals.R report=TRUE out=FILE       a table in Markdown
#
# The problems are composite functions of Astudillo and Frazier (2019), Bayesian optimization of composite functions,
# ICML: Langermann's function of five squared distances, Rosenbrock's function in five inputs, and the calibration of the
# environmental model of Bliznyuk et al. (2008), whose twelve concentrations are to match given ones. Both searches of a
# seed begin with the same 2 (d + 1) points. `regret` is the best goal of all points less the best one evaluated.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(problems = "langermann,rosenbrock,environment", seeds = "1:8", evaluations = "40", out = "",
                  report = "FALSE")

langermann <- local({
  centre <- rbind(c(3, 5, 2, 1, 7), c(5, 2, 1, 4, 9))
  weight <- c(1, 2, 5, 2, 3)
  list(domain = list(u = c(0, 10), v = c(0, 10)),
       outcomes = function(p) stats::setNames((p$u - centre[1, ])^2 + (p$v - centre[2, ])^2, paste0("y", 1:5)),
       goal = paste(sprintf("%d * exp(-y%d / %.15g) * cos(%.15g * y%d)", weight, 1:5, pi, pi, 1:5), collapse = " + "))
})

rosenbrock <- list(
  domain = stats::setNames(rep(list(c(-2, 2)), 5), paste0("x", 1:5)),
  outcomes = function(p) {
    x <- unlist(p[paste0("x", 1:5)])
    stats::setNames(x[-1] - x[-5]^2, paste0("y", 1:4))
  },
  goal = paste0("-(", paste(sprintf("100 * y%d^2 + (x%d - 1)^2", 1:4, 1:4), collapse = " + "), ")"))

# A spill of mass M at location 0 and time 0, and a second one at location L and time tau; diffusion D.
environment_model <- local({
  at <- expand.grid(s = c(0, 1, 2.5), t = c(15, 30, 45, 60))
  concentration <- function(p) {
    spill <- function(s, t) p$M / sqrt(4 * pi * p$D * t) * exp(-s^2 / (4 * p$D * t))
    second <- at$t > p$tau
    at_second <- spill(at$s - p$L, pmax(at$t - p$tau, 1e-9))
    stats::setNames(spill(at$s, at$t) + ifelse(second, at_second, 0), paste0("y", seq_len(nrow(at))))
  }
  wanted <- concentration(list(M = 10, D = 0.07, L = 1.505, tau = 30.1525))
  list(domain = list(M = c(7, 13), D = c(0.02, 0.12), L = c(0.01, 3), tau = c(30.01, 30.295)), outcomes = concentration,
       goal = paste0("-(", paste(sprintf("(y%d - %.15g)^2", seq_along(wanted), wanted), collapse = " + "), ")"))
})

problems <- list(langermann = langermann, rosenbrock = rosenbrock, environment = environment_model)

value_of <- function(problem, p) eval(str2lang(problem$goal), c(as.list(problem$outcomes(p)), as.list(p)))

# The best goal: by local searches from the best of many points.
best_goal <- function(problem) {
  if (!identical(problem, langermann)) return(0)
  grid <- expand.grid(u = seq(0, 10, 0.05), v = seq(0, 10, 0.05))
  value <- vapply(seq_len(nrow(grid)), function(i) value_of(problem, grid[i, ]), 0)
  from <- as.numeric(grid[which.max(value), ])
  stats::optim(from, function(x) -value_of(problem, list(u = x[1], v = x[2])), method = "L-BFGS-B", lower = 0,
               upper = 10)$value * -1
}

play <- function(name, method, seed) {
  problem <- problems[[name]]
  set.seed(seed)
  inputs <- names(problem$domain)
  first <- as.data.frame(lapply(problem$domain, function(range) stats::runif(2 * (length(inputs) + 1), range[1], range[2])))
  bandit <- if (method == "goal") {
    auto_bandit(problem$domain, goal = stats::as.formula(paste("~", problem$goal)), initial_design = first)
  } else auto_bandit(problem$domain, initial_design = first)
  goals <- numeric()
  spent <- seconds(function() for (k in seq_len(as.integer(args$evaluations))) {
    q <- bandit$suggest()
    goals[k] <<- value_of(problem, q[inputs])
    bandit$observe(q$id, if (method == "goal") problem$outcomes(q[inputs]) else goals[k])
  })
  regret <- best_goal(problem) - cummax(goals)
  data.frame(problem = name, method, seed, half = regret[nrow(first) + (length(goals) - nrow(first)) %/% 2],
             end = regret[length(goals)], seconds = round(spent, 1))
}

report <- function(rows) {
  line(c("problem", "searches", "regret half way: value", "goal", "at the end: value", "goal", "goal better", "seconds: value", "goal"))
  line(c("---", rep("---:", 8)))
  for (name in unique(rows$problem)) {
    of <- function(method, what) rows[rows$problem == name & rows$method == method, what]
    both <- intersect(of("goal", "seed"), of("value", "seed"))
    at <- function(method, what) of(method, what)[match(both, of(method, "seed"))]
    short <- function(x) format(signif(stats::median(x), 2), scientific = max(x) < 0.01)
    line(c(name, length(both), short(at("value", "half")), short(at("goal", "half")), short(at("value", "end")),
           short(at("goal", "end")), sprintf("%d of %d", sum(at("goal", "end") < at("value", "end")), length(both)),
           sprintf("%.0f", mean(at("value", "seconds"))), sprintf("%.0f", mean(at("goal", "seconds")))))
  }
}

if (args$report == "TRUE") {
  report(utils::read.csv(args$out))
} else {
  done <- searches_done(args$out, c("problem", "method", "seed"))
  for (seed in numbers(args$seeds)) for (name in words(args$problems)) for (method in c("value", "goal")) {
    if (!is_done(done, data.frame(problem = name, method, seed))) keep_rows(play(name, method, seed), args$out)
  }
}
