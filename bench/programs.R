# Optimisers on problems that another program evaluates: YAHPO's surrogates of tuning (lcbench), and many inputs.
#
#   Rscript bench/programs.R program=COMMAND problems=lcbench methods=default,random seeds=1:3 [evaluations=50] out=FILE
#                            [peers=COMMAND] [minutes=Inf]
#   Rscript bench/programs.R report=TRUE out=FILE      tables in Markdown
#
# `program` reads lines `PROBLEM X1 X2 ...` in the inputs' own units and answers each by a line of numbers: the value to
# minimise, then, for problems with limits, the constraints, which are kept if they are at most 0. `peers`: how
# bench/shared/peers.py is run. Neither the programs nor the problems' data are in this repository; sources are in
# bench/results/programs.md. Every search is a row of `out` (searches that it has are not made again).
#
# lcbench: the 34 data sets of YAHPO, 7 inputs (the search space of its param_set.R, epoch 52), 50 evaluations. Value:
# normalised regret (max - accuracy) / (max - min), validation accuracy, maximum and minimum of the data set from YAHPO's
# table of half a million random settings; a regret below 0 is possible. Stated before the run: seeds 1 to 3 of `default`
# and `optuna_tpe`, 1 to 20 of `random`, 1 of `mlr3mbo` and `optuna_gp`, all data sets; reported are means over seeds.
# Shorter designs, stated before the run (`half` was the default then, `quarter` is today's): `quarter`, `sixth` and `three` are chosen on the data sets of odd positions
# (problems=lcbench_odd), seeds 1 to 3, by the mean regret after half of the budget and after all of it. The choice is
# run on the even ones (lcbench_even), and by bench/variants.R on BBOB functions in 2, 5 and 10 inputs with 20, 50 and
# 100 evaluations (instance 15), where it may lose at most .05 decades at the best evaluated point. (In 2 inputs this gave
# +.06 (.17), which decides nothing: instances 16 to 18 were added before they were run, and all four decide.)
#
# Many inputs, stated before the first run: hartmann50 (six of 50 inputs matter; least value -3.32237) with 100
# evaluations, rover60 (Wang et al. 2018, its code; least value -5) with 200, lasso_medium (100 inputs, 5 matter) and
# lasso_high (300, 15 matter; both LassoBench, without noise, its data and splits) with 200; methods `default`, `random`
# and `cmaes`, seeds 1 to 3. (Run in the time: three seeds of hartmann50, one of the others; MOPTA08 was not run.)
library(gpbandits)
source("bench/shared/script.R")
source("bench/shared/programs.R")
args <- arguments(program = "", peers = "python3 bench/shared/peers.py", problems = "lcbench", methods = "default,random",
                  seeds = "1:3", evaluations = "50", out = "", report = "FALSE", minutes = "Inf")

# ---- problems: a data.frame of inputs ----------------------------------------------------------------------------------

lcbench_sets <- c(3945, 7593, 34539, 126025, 126026, 126029, 146212, 167104, 167149, 167152, 167161, 167168, 167181, 167184,
                  167185, 167190, 167200, 167201, 168329, 168330, 168331, 168335, 168868, 168908, 168910, 189354, 189862,
                  189865, 189866, 189873, 189905, 189906, 189908, 189909)

spaces <- list(
  lcbench = data.frame(
    name = c("batch_size", "learning_rate", "momentum", "weight_decay", "num_layers", "max_units", "max_dropout"),
    lower = c(16, 1e-4, 0.1, 1e-5, 1, 64, 0), upper = c(512, 0.1, 0.99, 0.1, 5, 1024, 1),
    integer = c(TRUE, FALSE, FALSE, FALSE, TRUE, TRUE, FALSE), log = c(TRUE, TRUE, FALSE, FALSE, FALSE, TRUE, FALSE))
)

family_of <- function(problem) sub(":.*", "", problem)
problems_of <- function(name) {
  kept <- switch(name, lcbench = TRUE, lcbench_odd = c(TRUE, FALSE), lcbench_even = c(FALSE, TRUE))
  if (is.null(kept)) name else paste0("lcbench:", lcbench_sets[kept])
}

# ---- optimisers: function(f, space, n, seed) calls f n times; it may return its processor seconds --------------------

cube <- function(d, lower = 0) {
  data.frame(name = paste0("x", seq_len(d)), lower = lower, upper = 1, integer = FALSE, log = FALSE)
}
spaces <- c(spaces, list(hartmann50 = cube(50), rover60 = cube(60), lasso_medium = cube(100, -1),
                         lasso_high = cube(300, -1)))

param_of <- function(one) {
  if (one$integer) param_integer(one$lower, one$upper, log = one$log) else param_real(one$lower, one$upper, log = one$log)
}

# `design`: the size of the initial design, by the number of evaluations.
ours <- function(design = function(n) NULL) function(f, space, n, seed) {
  plain <- !any(space$integer | space$log)
  params <- stats::setNames(lapply(split(space, seq_len(nrow(space))), param_of), space$name)
  domain <- if (plain) box_domain(space$lower, space$upper, names = space$name) else do.call(search_space, params)
  minimize_bandit(function(p) f(unlist(p)), domain, n, n_initial = design(n))
  NULL
}

# Points of the unit cube in the inputs' units; an integer's values have equal parts (of the logarithm's range).
from_cube <- function(u, space) {
  on_scale <- function(x) ifelse(space$log, log(x), x)
  lower <- on_scale(space$lower)
  upper <- on_scale(space$upper + space$integer)
  x <- lower + pmin(pmax(u, 0), 1) * (upper - lower)
  x <- ifelse(space$log, exp(x), x)
  ifelse(space$integer, pmin(floor(x + 1e-9), space$upper), pmin(pmax(x, space$lower), space$upper))
}

random_search <- function(f, space, n, seed) {
  for (k in seq_len(n)) f(from_cube(stats::runif(nrow(space)), space))
}

# Calls beyond the budget are not counted.
cma_es <- function(f, space, n, seed) {
  d <- nrow(space)
  control <- list(maxit = ceiling(n / (4 + floor(3 * log(d)))), sigma = 0.25)
  cmaes::cma_es(stats::runif(d, 0.1, 0.9), function(u) f(from_cube(u, space)), lower = rep(0, d), upper = rep(1, d),
                control = control)
  NULL
}

mlr3mbo_default <- function(f, space, n, seed) {
  loadNamespace("mlr3mbo")
  lgr::get_logger("mlr3/bbotk")$set_threshold("warn")
  domain <- lapply(split(space, seq_len(nrow(space))), function(one) {
    if (one$integer) paradox::p_int(one$lower, one$upper, logscale = one$log)
    else paradox::p_dbl(one$lower, one$upper, logscale = one$log)
  })
  objective <- bbotk::ObjectiveRFun$new(function(xs) list(y = f(unlist(xs)[space$name])), ps_of_units(space),
                                        codomain = paradox::ps(y = paradox::p_dbl(tags = "minimize")))
  instance <- bbotk::OptimInstanceBatchSingleCrit$new(
    objective, search_space = do.call(paradox::ps, stats::setNames(domain, space$name)),
    terminator = bbotk::trm("evals", n_evals = n))
  bbotk::opt("mbo")$optimize(instance)
  NULL
}

ps_of_units <- function(space) {
  units <- lapply(split(space, seq_len(nrow(space))), function(one) {
    if (one$integer) paradox::p_int(one$lower, one$upper) else paradox::p_dbl(one$lower, one$upper)
  })
  do.call(paradox::ps, stats::setNames(units, space$name))
}

by_program <- function(method) function(f, space, n, seed) run_program(args$peers, method, f, space, n, seed)

methods <- list(default = ours(), half = ours(function(n) ceiling(n / 2)), sixth = ours(function(n) ceiling(n / 6)),
                three = ours(function(n) 3), random = random_search, cmaes = cma_es, mlr3mbo = mlr3mbo_default,
                optuna_tpe = by_program("optuna_tpe"), optuna_gp = by_program("optuna_gp"))

# ---- searches --------------------------------------------------------------------------------------------------------

one_search <- function(key, program) {
  values <- violations <- numeric()
  f <- function(x) {
    answer <- numbers_of_line(program$ask(paste(key$problem, line_of_numbers(x))))
    if (length(values) < key$evaluations) {
      values <<- c(values, answer[1])
      violations <<- c(violations, sum(pmax(answer[-1], 0)))
    }
    answer[1]
  }
  set.seed(1000 + key$seed)
  begun <- proc.time()
  spent <- NULL
  utils::capture.output(spent <- suppressMessages(
    methods[[key$method]](f, spaces[[family_of(key$problem)]], key$evaluations, key$seed)))
  processor <- sum((proc.time() - begun)[1:2])
  if (is.numeric(spent)) processor <- spent
  best <- cummin(values)
  at <- pmin(length(best), ceiling(key$evaluations * c(0.2, 0.5, 1)))
  cbind(key, at20 = signif(best[at[1]], 6), at50 = signif(best[at[2]], 6), at100 = signif(best[at[3]], 6),
        violation = signif(violations[which.min(values)], 6), processor = round(processor, 2))
}

main <- function() {
  begun <- proc.time()[["elapsed"]]
  done <- searches_done(args$out, c("problem", "method", "evaluations", "seed"))
  program <- open_program(args$program)
  on.exit(program$close())
  problems <- unlist(lapply(words(args$problems), problems_of))
  for (seed in numbers(args$seeds)) for (problem in problems) for (method in words(args$methods)) {
    key <- data.frame(problem = problem, method = method, evaluations = numbers(args$evaluations), seed = seed)
    if (is_done(done, key)) next
    if (proc.time()[["elapsed"]] - begun > 60 * numbers(args$minutes)) return(message("The time is over."))
    keep_rows(one_search(key, program), args$out)
  }
}

# ---- the report ------------------------------------------------------------------------------------------------------

with_error <- function(x, digits = 4) sprintf("%.*f (%.*f)", digits, mean(x), digits, stats::sd(x) / sqrt(length(x)))

# Means over seeds: a row per problem and method; only methods that have all problems.
means_of <- function(rows) {
  numeric <- c("at20", "at50", "at100", "violation", "processor")
  means <- stats::aggregate(rows[numeric], rows[c("problem", "method")], mean)
  means$searches <- stats::aggregate(rows["seed"], rows[c("problem", "method")], length)$seed
  complete <- table(means$method) == length(unique(means$problem))
  means <- means[means$method %in% names(complete)[complete], ]
  means$rank <- stats::ave(means$at100, means$problem, FUN = rank)
  means[order(means$method, means$problem), ]
}

report_family <- function(rows, family) {
  means <- means_of(rows)
  count <- length(unique(means$problem))
  cat(sprintf("\n### %s, %d evaluations, %d problems\n\n", family, rows$evaluations[1], count))
  line(c("method", "searches", "after 20%", "after half", "all", "median", "rank", "processor seconds"))
  line(c("---", rep("---:", 7)))
  for (method in unique(means$method[order(means$method != "default")])) {
    one <- means[means$method == method, ]
    line(c(method, sum(one$searches), sprintf("%.4f", c(mean(one$at20), mean(one$at50))), with_error(one$at100),
           sprintf("%.4f", stats::median(one$at100)), sprintf("%.2f", c(mean(one$rank), mean(one$processor)))))
  }
  cat("\n`default` less the others, by problem (negative: `default` is ahead):\n\n")
  line(c("other", "mean", "median", "ahead", "level", "behind"))
  line(c("---", rep("---:", 5)))
  ours <- means[means$method == "default", ]
  for (other in setdiff(unique(means$method), "default")) {
    change <- ours$at100 - means$at100[means$method == other]
    line(c(other, with_error(change), sprintf("%.4f", stats::median(change)), sum(change < -1e-6), sum(abs(change) <= 1e-6),
           sum(change > 1e-6)))
  }
}

report <- function() {
  rows <- utils::read.csv(args$out)
  rows <- rows[rows$problem %in% unlist(lapply(words(args$problems), problems_of)), ]
  for (evaluations in unique(rows$evaluations)) {
    here <- rows[rows$evaluations == evaluations, ]
    for (family in unique(family_of(here$problem))) report_family(here[family_of(here$problem) == family, ], family)
  }
}

if (args$report == "TRUE") report() else main()
