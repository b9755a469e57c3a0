# Several outcomes: the best feasible value under limits after 30 evaluations (Gardner et al. 2014, both problems; the
# example of DiceOptim's EGO.cst), and the share of hypervolume that is missing after 2(d+1)+30 (Branin-Currin, ZDT1 and
# DTLZ2 in 4 inputs, vehicle safety with three objectives). maximize_bandit() with its defaults and the problem's
# reference point, random search and, where they are installed, DiceOptim's EGO.cst (EFI), GPareto (EHI) and mlr3mbo's
# ParEGO; each peer with its own defaults and a Latin hypercube as large as ours. No noise.
#   Rscript bench/outcomes.R [seeds=1:20] [problems=gardner1,zdt1] [methods=gpbandits,random,...] [out=rows.csv]
#   Rscript bench/outcomes.R read=rows.csv      (the table of rows that are there)
#   Rscript bench/outcomes.R rounds=TRUE        (what a round with three outcomes takes, against one)
#   Rscript bench/outcomes.R looks=TRUE         (what a look at the answer takes, the first time and again)
# Rows are added to `out` one by one; what it has already is not run again. Results: bench/results/outcomes.md.
library(gpbandits)
options(rgl.useNULL = TRUE)

source("bench/shared/script.R")
args <- arguments(seeds = "1:20")
listed <- function(name, default) if (is.null(args[[name]])) default else words(args[[name]])
seeds <- numbers(args$seeds)

# ---- problems ------------------------------------------------------------------------------

unit <- function(d) stats::setNames(rep(list(c(0, 1)), d), paste0("x", seq_len(d)))
branin <- function(u) {
  x <- 15 * u[1] - 5
  y <- 15 * u[2]
  (y - 5.1 / (4 * pi^2) * x^2 + 5 / pi * x - 6)^2 + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10
}
currin <- function(u) {
  (1 - exp(-1 / (2 * max(u[2], 1e-12)))) * (2300 * u[1]^3 + 1900 * u[1]^2 + 2092 * u[1] + 60) /
    (100 * u[1]^3 + 500 * u[1]^2 + 4 * u[1] + 20)
}
goldstein_price <- function(u) {
  x <- 4 * u[1] - 2
  y <- 4 * u[2] - 2
  a <- 1 + (x + y + 1)^2 * (19 - 14 * x + 3 * x^2 - 14 * y + 6 * x * y + 3 * y^2)
  b <- 30 + (2 * x - 3 * y)^2 * (18 - 32 * x + 12 * x^2 + 48 * y - 36 * x * y + 27 * y^2)
  (log(a * b) - 8.6928) / 2.4269
}

# `f` is made small where all of `g` are at most 0.
limited <- list(
  gardner1 = list(space = list(x1 = c(0, 6), x2 = c(0, 6)), f = function(u) cos(2 * u[1]) * cos(u[2]) + sin(u[1]),
                  g = function(u) cos(u[1]) * cos(u[2]) - sin(u[1]) * sin(u[2]) - 0.5),
  gardner2 = list(space = list(x1 = c(0, 6), x2 = c(0, 6)), f = function(u) sin(u[1]) + u[2],
                  g = function(u) sin(u[1]) * sin(u[2]) + 0.95),
  goldstein = list(space = unit(2), f = goldstein_price,
                   g = function(u) c(25 - branin(u), 1.5 - u[1] - 2 * u[2] - 0.5 * sin(2 * pi * (u[1]^2 - 2 * u[2]))))
)

# All of `f` are made small.
fronts <- list(
  "branin-currin" = list(space = unit(2), f = function(u) c(branin(u), currin(u)), reference = c(18, 6),
                         best = 59.36012),
  zdt1 = list(space = unit(4), f = function(u) {
    g <- 1 + 9 * mean(u[-1])
    c(u[1], g * (1 - sqrt(u[1] / g)))
  }, reference = c(11, 11), best = 120.6667),
  dtlz2 = list(space = unit(4), f = function(u) {
    (1 + sum((u[-1] - 0.5)^2)) * c(cos(u[1] * pi / 2), sin(u[1] * pi / 2))
  }, reference = c(1.1, 1.1), best = 1.21 - pi / 4),
  vehicle = list(space = stats::setNames(rep(list(c(1, 3)), 5), paste0("x", 1:5)), f = function(x) {
    c(1640.2823 + 2.3573285 * x[1] + 2.3220035 * x[2] + 4.5688768 * x[3] + 7.7213633 * x[4] + 4.4559504 * x[5],
      6.5856 + 1.15 * x[1] - 1.0427 * x[2] + 0.9738 * x[3] + 0.8364 * x[4] - 0.3695 * x[1] * x[4] +
        0.0861 * x[1] * x[5] + 0.3628 * x[2] * x[4] - 0.1106 * x[1]^2 - 0.3437 * x[3]^2 + 0.1764 * x[4]^2,
      -0.0551 + 0.0181 * x[1] + 0.1024 * x[2] + 0.0421 * x[3] - 0.0073 * x[1] * x[2] + 0.024 * x[2] * x[3] -
        0.0118 * x[2] * x[4] - 0.0204 * x[3] * x[4] - 0.008 * x[3] * x[5] - 0.0241 * x[2]^2 + 0.0109 * x[4]^2)
  }, reference = c(1864.72022, 11.81993945, 0.2903999384), best = 246.81607)
)

lower_of <- function(problem) vapply(problem$space, `[`, 0, 1)
upper_of <- function(problem) vapply(problem$space, `[`, 0, 2)

random_points <- function(space, n) {
  vapply(space, function(range) stats::runif(n, range[1], range[2]), numeric(n))
}
latin_points <- function(space, n) {
  vapply(space, function(range) range[1] + diff(range) * (sample(n) - stats::runif(n)) / n, numeric(n))
}
at_all <- function(f, x) {
  values <- apply(x, 1, f)
  if (is.matrix(values)) t(values) else cbind(values)
}

# ---- methods: the points that were evaluated, a row each --------------------------------------

design_of <- function(problem) if (is.null(problem$reference)) 10 else 2 * (length(problem$space) + 1)

play_random <- function(problem, n) random_points(problem$space, n)

play_gpbandits <- function(problem, n, model = gp_model()) {
  if (is.null(problem$reference)) {
    count <- length(problem$g(lower_of(problem)))
    names <- c("f", paste0("g", seq_len(count)))
    outcomes <- stats::setNames(c(list(to_minimize()), rep(list(at_most(0)), count)), names)
    objective <- function(p) stats::setNames(c(problem$f(unname(p)), problem$g(unname(p))), names)
    policy <- policy_ei()
  } else {
    names <- letters[seq_along(problem$reference)]
    outcomes <- stats::setNames(rep(list(to_minimize()), length(names)), names)
    objective <- function(p) stats::setNames(problem$f(unname(p)), names)
    reference <- stats::setNames(problem$reference, names)
    policy <- if (length(names) == 2) policy_ehvi(reference) else policy_hypervolume(width_constant(2), reference)
  }
  found <- maximize_bandit(objective, problem$space, n, outcomes = outcomes, policy = policy,
                           n_initial = design_of(problem), model = model)
  as.matrix(found$history[names(problem$space)])
}

# One model without noise, fitted anew in each round, instead of an average of models.
play_single <- function(problem, n) {
  play_gpbandits(problem, n, gp_model(noise = "none", refit = refit_every(1, mean = "fit")))
}

# Kriging of DiceKriging, as its users make it.
kriging <- function(x, y) {
  DiceKriging::km(~1, design = as.data.frame(x), response = y, covtype = "matern5_2", nugget = 1e-8 * stats::var(y),
                  control = list(trace = FALSE))
}

play_DiceOptim <- function(problem, n) {
  x <- latin_points(problem$space, design_of(problem))
  g <- at_all(problem$g, x)
  found <- DiceOptim::EGO.cst(
    model.fun = kriging(x, at_all(problem$f, x)[, 1]), fun = problem$f,
    model.constraint = lapply(seq_len(ncol(g)), function(j) kriging(x, g[, j])), constraint = problem$g,
    nsteps = n - nrow(x), lower = lower_of(problem), upper = upper_of(problem), crit = "EFI", type = "UK",
    optimcontrol = list(method = "genoud", notrace = TRUE))
  rbind(x, as.matrix(found$par))
}

play_GPareto <- function(problem, n) {
  x <- latin_points(problem$space, design_of(problem))
  y <- at_all(problem$f, x)
  found <- GPareto::GParetoptim(
    model = lapply(seq_len(ncol(y)), function(j) kriging(x, y[, j])), fn = problem$f, crit = "EHI",
    nsteps = n - nrow(x), lower = lower_of(problem), upper = upper_of(problem), critcontrol = list(refPoint = problem$reference),
    optimcontrol = list(method = "genoud", trace = 0, notrace = TRUE))
  rbind(x, as.matrix(found$par))
}

play_mlr3mbo <- function(problem, n) {
  for (name in c("mlr3/bbotk", "bbotk", "mlr3")) lgr::get_logger(name)$set_threshold("error")
  targets <- letters[seq_along(problem$reference)]
  small <- lapply(stats::setNames(nm = targets), function(target) paradox::p_dbl(tags = "minimize"))
  codomain <- do.call(paradox::ps, small)
  space <- do.call(paradox::ps, lapply(problem$space, function(range) paradox::p_dbl(range[1], range[2])))
  f <- function(xs) as.list(stats::setNames(problem$f(unlist(xs)), targets))
  objective <- bbotk::ObjectiveRFun$new(f, space, codomain)
  instance <- bbotk::OptimInstanceBatchMultiCrit$new(objective, terminator = bbotk::trm("evals", n_evals = n))
  instance$eval_batch(data.table::as.data.table(latin_points(problem$space, design_of(problem))))
  surrogate <- mlr3mbo::default_surrogate(instance, n_learner = 1)
  bbotk::opt("mbo", loop_function = mlr3mbo::bayesopt_parego, surrogate = surrogate,
             acq_function = mlr3mbo::acqf("ei"))$optimize(instance)
  as.matrix(as.data.frame(instance$archive$data)[names(problem$space)])
}

peers <- list(limited = c("random", "DiceOptim"), fronts = c("random", "GPareto", "mlr3mbo"))
needed <- list(GPareto = "GPareto", DiceOptim = "DiceOptim", mlr3mbo = c("mlr3mbo", "bbotk", "mlr3learners", "ranger"))
is_here <- function(method) all(vapply(needed[[method]], requireNamespace, NA, quietly = TRUE))

# ---- how far from the best ----------------------------------------------------------------------

# The best feasible value on a fine grid, once: a gap at the floor of 1e-6 is as good as that, or better.
known_best <- new.env()
best_of <- function(name, problem) {
  if (!is.null(problem$best)) return(problem$best)
  if (is.null(known_best[[name]])) known_best[[name]] <- best_on_grid(problem)
  known_best[[name]]
}

best_on_grid <- function(problem, steps = 1001) {
  grid <- as.matrix(expand.grid(lapply(problem$space, function(range) seq(range[1], range[2], length.out = steps))))
  best <- Inf
  for (rows in split(seq_len(nrow(grid)), (seq_len(nrow(grid)) - 1) %/% 1e5)) {
    value <- at_all(problem$f, grid[rows, ])[, 1]
    better <- grid[rows, ][value < best, , drop = FALSE]
    if (nrow(better) == 0) next
    kept <- rowSums(at_all(problem$g, better) > 0) == 0
    best <- min(best, value[value < best][kept])
  }
  best
}

gap_of <- function(problem, x) {
  if (is.null(problem$reference)) {
    kept <- rowSums(at_all(problem$g, x) > 0) == 0
    if (!any(kept)) return(NA)
    return(log10(max(min(at_all(problem$f, x)[kept, 1]) - problem$best, 1e-6)))
  }
  volume <- gpbandits:::cpp_hypervolume(-at_all(problem$f, x), -problem$reference)
  log10(max(1 - volume / problem$best, 1e-6))
}

run_one <- function(name, method, seed) {
  problem <- c(limited, fronts)[[name]]
  problem$best <- best_of(name, problem)
  n <- if (is.null(problem$reference)) 30 else 2 * (length(problem$space) + 1) + 30
  set.seed(seed)
  began <- proc.time()
  x <- get(paste0("play_", method))(problem, n)
  took <- (proc.time() - began)[c("user.self", "elapsed")]
  data.frame(problem = name, method = method, seed = seed, evaluations = nrow(x), log10_gap = gap_of(problem, x),
             cpu = took[[1]], elapsed = took[[2]])
}

# ---- a round with three outcomes against one -------------------------------------------------------

round_times <- function(points = 60, rounds = 30) {
  space <- stats::setNames(rep(list(c(0, 1)), 3), c("a", "b", "c"))
  x <- random_points(space, points)
  y <- function(x) cbind(f = sin(5 * x[, 1]) + x[, 2], g = x[, 3] - x[, 1], h = x[, 2]^2)
  time_of <- function(bandit, columns) {
    bandit$add(x = x, reward = if (length(columns) > 1) as.data.frame(y(x))[columns] else y(x)[, columns])
    began <- proc.time()[["user.self"]]
    for (t in seq_len(rounds)) {
      q <- bandit$suggest()
      reported <- as.data.frame(y(as.matrix(q[names(space)])))
      bandit$observe(q$id, if (length(columns) > 1) reported[columns] else reported[[columns]])
    }
    (proc.time()[["user.self"]] - began) / rounds
  }
  kernel <- kernel_matern(2.5, c(0.4, 0.4, 0.4))
  refit <- refit_every(1, mean = "fit")
  rows <- lapply(list(fixed = NULL, refitted = refit), function(refit) {
    set.seed(1)
    one <- time_of(gp_bandit(space, kernel, 0.01, policy_ei(), refit = refit), "f")
    three <- time_of(gp_bandit(space, kernel, 0.01, policy_ei(), refit = refit, outcomes = list(
      f = to_maximize(), g = at_most(0.2), h = at_most(0.8))), c("f", "g", "h"))
    data.frame(one = one, three = three, ratio = three / one)
  })
  cbind(parameters = names(rows), do.call(rbind, rows))
}

# ---- a look at the answer --------------------------------------------------------------------------

# Processor seconds of the first and of the second `$best()` of a search with a limit, and `$front()` of one with two
# objectives.
look_times <- function(results) {
  space <- stats::setNames(rep(list(c(0, 1)), 2), c("a", "b"))
  searched <- function(outcomes) {
    set.seed(1)
    bandit <- auto_bandit(space, outcomes = outcomes)
    for (t in seq_len(results)) {
      q <- bandit$suggest()
      bandit$observe(q$id, data.frame(f = sin(3 * q$a) + rnorm(1, sd = 0.1), g = q$b^2 + rnorm(1, sd = 0.1)))
    }
    bandit
  }
  limited <- searched(list(f = to_maximize(), g = at_most(0.5)))
  both <- searched(list(f = to_maximize(), g = to_minimize()))
  data.frame(results = results, best = seconds(limited$best), again = seconds(limited$best),
             front = seconds(both$front), front_again = seconds(both$front))
}

# ---- what is to be done ------------------------------------------------------------------------------

show_table <- function(rows) {
  found <- do.call(rbind, lapply(split(rows, rows[c("problem", "method")], drop = TRUE), function(one) {
    gap <- one$log10_gap[!is.na(one$log10_gap)]
    data.frame(problem = one$problem[1], method = one$method[1], seeds = nrow(one), none = sum(is.na(one$log10_gap)),
               mean = mean(gap), se = stats::sd(gap) / sqrt(length(gap)), lowest = min(gap), highest = max(gap),
               cpu = mean(one$cpu))
  }))
  print(found, row.names = FALSE, digits = 3)
}

if (!is.null(args$rounds)) {
  print(round_times(), row.names = FALSE, digits = 3)
} else if (!is.null(args$looks)) {
  print(do.call(rbind, lapply(c(7, 30, 60), look_times)), row.names = FALSE, digits = 2)
} else if (!is.null(args$read)) {
  show_table(utils::read.csv(args$read))
} else {
  rows <- if (!is.null(args$out) && file.exists(args$out)) utils::read.csv(args$out)
  for (seed in seeds) for (name in listed("problems", c(names(limited), names(fronts)))) {
    possible <- c("gpbandits", "single", peers[[if (name %in% names(limited)) "limited" else "fronts"]])
    for (method in Filter(is_here, intersect(possible, listed("methods", possible)))) {
      if (any(rows$problem == name & rows$method == method & rows$seed == seed)) next
      one <- tryCatch(run_one(name, method, seed), error = function(e) {
        message(name, ", ", method, ", seed ", seed, ": ", conditionMessage(e))
      })
      rows <- rbind(rows, one)
      if (!is.null(args$out)) utils::write.csv(rows, args$out, row.names = FALSE)
    }
  }
  show_table(rows)
}
