# Many inputs: BBOB functions (package smoof) in 20 and 40 inputs, and two problems with 60 to 120 inputs of which few matter.
#
#   Rscript bench/many_inputs.R [problems=bbob20,bbob40,hidden60,weights120] [fids=1:24] [instances=3:4] [methods=default,cmaes,mlr3mbo,trego,random]
#                               [evaluations=NA] [limit=3600] [out=FILE]
#   Rscript bench/many_inputs.R report=TRUE out=FILE [methods=...]   tables in Markdown, of the cases that all these methods have
#
# `evaluations`: 300 in 20 inputs, 500 in 40, 300 in the others, unless given. `limit`: seconds by the clock after which a search is ended, with what it has
# (`calls` says how much that is). Every search is a line of `out` (appended; searches that it has are not made again): log10 of the gap of the best point
# evaluated (`weights120`, whose optimum nobody knows: log10 of the loss) after 1/4, 1/2, 3/4 and all of the evaluations; seconds in all by the clock and
# of the processor, and of the former in the function; the package's version. `instances` are instances of BBOB, and seeds of the other problems. Defaults may be chosen on instances 1 and 2;
# report others.
#
# `hidden60`: Hartmann's function of six of 60 inputs. `weights120`: a kernel regression of 118 features, of which five matter (two of them together); inputs are
# the logarithms of the features' weights, of the kernel's width and of the ridge; the loss is the squared error on held-out rows, in units of the variance.
# Packages of peers, left out where they are not installed: cmaes; mlr3mbo, bbotk, DiceKriging, rgenoud; DiceOptim (TREGO.nsteps), DiceDesign.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(problems = "bbob20,bbob40,hidden60,weights120", fids = "1:24", instances = "3:4", evaluations = "NA", limit = "3600",
                  methods = "default,cmaes,mlr3mbo,trego,random", out = "", report = "FALSE")

# ---- problems: `f` of a point of the unit cube, to be minimised, its inputs `d`, `least` (what is taken off), `evaluations` -----------------

bbob <- function(d, evaluations) function(fid, instance) {
  f <- smoof::makeBBOBFunction(dimensions = d, fid = fid, iid = instance)
  list(f = function(x) f(10 * x - 5), d = d, least = smoof::getGlobalOptimum(f)$value, evaluations = evaluations)
}

hidden <- function(fid, instance) {
  hartmann <- benchmark_function("hartmann6")
  set.seed(instance)
  at <- sample(60, 6)
  list(f = function(x) -hartmann$f(matrix(x[at], 1)), d = 60, least = -hartmann$optimum, evaluations = 300)
}

weights <- function(fid, instance) {
  set.seed(instance)
  rows <- 160
  x <- matrix(stats::rnorm(rows * 118), rows)
  at <- sample(118, 5)
  y <- sin(x[, at[1]] * x[, at[2]]) + x[, at[3]] + 0.5 * x[, at[4]]^2 + abs(x[, at[5]]) + stats::rnorm(rows, sd = 0.1)
  y <- (y - mean(y)) / stats::sd(y)
  train <- seq_len(100)
  f <- function(u) {
    z <- x * rep(10^(3 * u[1:118] - 3), each = rows)
    square <- as.matrix(stats::dist(z))^2
    K <- exp(-square / 10^(4 * u[119] - 1))
    fitted <- solve(K[train, train] + 10^(5 * u[120] - 4) * diag(100), y[train])
    mean((y[-train] - K[-train, train] %*% fitted)^2)
  }
  list(f = f, d = 120, least = 0, evaluations = 300)
}

problems <- list(bbob20 = bbob(20, 300), bbob40 = bbob(40, 500), hidden60 = hidden, weights120 = weights)

# ---- optimisers: function(f, d, n) minimises f over the unit cube with n calls --------------------------------------------------------------

ours <- function(...) {
  settings <- list(...)
  function(f, d, n) do.call(minimize_bandit, c(list(f, box_domain(rep(0, d), rep(1, d)), n), settings))
}

random_search <- function(f, d, n) for (k in seq_len(n)) f(stats::runif(d))

cma_es <- function(f, d, n) {
  control <- list(maxit = ceiling(n / (4 + floor(3 * log(d)))), sigma = 0.25)
  cmaes::cma_es(stats::runif(d, 0.1, 0.9), f, lower = rep(0, d), upper = rep(1, d), control = control)
}

# As its manual has it: a Latin hypercube, then EGO in a trust region and outside of it.
trego <- function(f, d, n) {
  first <- max(d + 2, min(3 * d, n %/% 2))
  design <- DiceDesign::lhsDesign(first, d)$design
  y <- apply(design, 1, f)
  model <- DiceKriging::km(~1, design = data.frame(design), response = y, covtype = "matern5_2", control = list(trace = FALSE),
                           nugget = 1e-8 * stats::var(y))
  DiceOptim::TREGO.nsteps(model, f, nsteps = n - first, lower = rep(0, d), upper = rep(1, d))
}

mlr3mbo_default <- function(f, d, n) {
  loadNamespace("mlr3mbo")
  lgr::get_logger("mlr3/bbotk")$set_threshold("warn")
  domain <- do.call(paradox::ps, stats::setNames(rep(list(paradox::p_dbl(0, 1)), d), paste0("x", seq_len(d))))
  objective <- bbotk::ObjectiveRFun$new(function(xs) list(y = f(unlist(xs))), domain, codomain = paradox::ps(y = paradox::p_dbl(tags = "minimize")))
  instance <- bbotk::OptimInstanceBatchSingleCrit$new(objective, terminator = bbotk::trm("evals", n_evals = n))
  bbotk::opt("mbo")$optimize(instance)
}

methods <- list(
  default = list(run = ours(), needs = "gpbandits"), cmaes = list(run = cma_es, needs = "cmaes"),
  mlr3mbo = list(run = mlr3mbo_default, needs = c("mlr3mbo", "bbotk", "DiceKriging", "rgenoud")),
  trego = list(run = trego, needs = c("DiceOptim", "DiceDesign", "DiceKriging")), random = list(run = random_search, needs = "stats")
)
variants <- Sys.getenv("OPTIMISATION_VARIANTS")
if (nzchar(variants)) source(variants)                 # more entries of `methods`, to choose defaults by

# ---- one search ------------------------------------------------------------------------------------------------------------------------------

clock <- function() proc.time()[["elapsed"]]
processor <- function() sum(proc.time()[c("user.self", "sys.self")])

# Notes what was evaluated within the budget, and ends what takes too long (by a restart: some methods take errors for failures of the function).
counted <- function(f, budget, limit) {
  seen <- numeric()
  within <- 0
  started <- clock()
  list(f = function(x) {
    if (clock() - started > limit) invokeRestart("time_is_over")
    before <- clock()
    value <- f(as.numeric(x))
    within <<- within + clock() - before
    if (length(seen) < budget) seen <<- c(seen, value)
    value
  }, seen = function() seen, within = function() within)
}

one_search <- function(key) {
  problem <- problems[[key$problem]](key$fid, key$instance)
  budget <- if (is.na(numbers(args$evaluations))) problem$evaluations else numbers(args$evaluations)
  calls <- counted(problem$f, budget, numbers(args$limit))
  method <- methods[[key$method]]
  set.seed(1000 * key$instance + key$fid)
  started <- clock()
  worked <- processor()
  quietly <- function() utils::capture.output(suppressMessages(suppressWarnings(method$run(calls$f, problem$d, budget))))
  failed <- withRestarts(tryCatch({
    quietly()
    ""
  }, error = conditionMessage), time_is_over = function() "the time is over")
  seconds <- clock() - started
  best <- log10(pmax(cummin(calls$seen()) - problem$least, 1e-8))
  at <- pmin(length(best), ceiling(budget * c(0.25, 0.5, 0.75, 1)))
  cbind(key, evaluations = budget, calls = length(best), q25 = signif(best[at[1]], 6), q50 = signif(best[at[2]], 6), q75 = signif(best[at[3]], 6),
        gap = signif(best[at[4]], 6), seconds = signif(seconds, 5), processor = signif(processor() - worked, 5), within = signif(calls$within(), 4),
        version = paste(method$needs[1], utils::packageVersion(method$needs[1])), failed = gsub("[[:space:],\"]+", " ", failed))
}

main <- function() {
  done <- searches_done(args$out, c("problem", "fid", "instance", "method"))
  for (instance in numbers(args$instances)) for (problem in words(args$problems)) {
    is_bbob <- startsWith(problem, "bbob")
    if (is_bbob && length(lacking("smoof"))) {
      message(problem, " is left out: no package smoof")
      next
    }
    for (fid in if (is_bbob) numbers(args$fids) else 0) for (method in words(args$methods)) {
      missing <- lacking(methods[[method]]$needs)
      if (length(missing)) {
        message(method, " is left out: no package ", paste(missing, collapse = ", "))
        next
      }
      key <- data.frame(problem = problem, fid = fid, instance = instance, method = method)
      if (is_done(done, key)) next
      keep_rows(one_search(key), args$out)
    }
  }
}

# ---- the report --------------------------------------------------------------------------------------------------------------------------------

report <- function() {
  all <- utils::read.csv(args$out)
  all <- all[all$method %in% words(args$methods), ]
  cat(sprintf("%s, %s\n", R.version.string, paste(unique(all$version), collapse = ", ")))
  for (rows in split(all, list(all$problem, all$evaluations), drop = TRUE)) {
    case <- paste(rows$fid, rows$instance)
    methods <- words(args$methods)
    rows <- rows[case %in% names(which(table(case) == length(methods))), ]
    if (nrow(rows) == 0) next
    case <- paste(rows$fid, rows$instance)
    rows$rank <- stats::ave(rows$gap, case, FUN = rank)
    gaps <- tapply(rows$gap, list(case, rows$method), mean)
    cat(sprintf("\n%s, %d evaluations, %d searches each (instances %s)\n\n", rows$problem[1], rows$evaluations[1], length(unique(case)),
                paste(sort(unique(rows$instance)), collapse = ", ")))
    line(c("method", "log10 after 1/4", "1/2", "3/4", "all", "less default's (standard error)", "rank", "evaluations done", "processor seconds per evaluation"))
    line(c("---", rep("---:", 8)))
    for (method in methods) {
      mine <- rows[rows$method == method, ]
      less <- if ("default" %in% methods) gaps[, method] - gaps[, "default"] else NA
      line(c(method, sprintf("%.2f", colMeans(mine[c("q25", "q50", "q75", "gap")])),
             sprintf("%.2f (%.2f)", mean(less), stats::sd(less) / sqrt(length(less))), sprintf("%.2f", mean(mine$rank)), sprintf("%.0f", mean(mine$calls)),
             sprintf("%.3f", max(0, sum(mine$processor) - sum(mine$within)) / sum(mine$calls))))
    }
  }
}

if (args$report == "TRUE") report() else main()
