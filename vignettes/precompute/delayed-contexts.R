# Figure 4 of vignettes/articles/delayed-feedback-in-full.Rmd: rewards that come late, with contexts. As the paper runs it (a product
# kernel whose parameters, and the noise, are refitted every ten rounds on what the learner knows, censored values included,
# nothing fitted beforehand), and with a kernel fitted beforehand on the truth and kept, for two noise variances.
# From the package's root, with gpbandits and e1071 installed:
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/delayed-contexts.R growing 10          (ten runs)
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/delayed-contexts.R tasks 10 UCB        (rules with UCB in their name)
# A fourth argument names one setting ("refitted", "kept, 1e-4", "kept, 0.1"). What is stored: all of growing; of tasks the
# rules with UCB in their name in all settings, and Thompson's refitted (one to two minutes a run).
# Every finished run is kept in build/contexts/ and not played again; what there is goes to
# inst/extdata/delayed-contexts.csv.xz after each run.
library(gpbandits)
source("vignettes/precompute/results.R")
data <- Sys.getenv("GPBANDITS_DATA")
stopifnot(nzchar(data), requireNamespace("e1071"))
seed <- 2022
m <- 6
delay <- function(n) rpois(n, 3)

kept <- "build/contexts"
dir.create(kept, recursive = TRUE, showWarnings = FALSE)

# ---- the rules -----------------------------------------------------------------------------------------------------
# All are told the contexts' number of inputs only: scores and draws then are over the arms in the context at hand, and not over all pairs,
# of which every refit would make thousands anew. Choices are the same (first 500 rounds of tasks: to the last digit), the time a third.
rules <- function(domain, kernel, noise_var, contexts, ...) {
  inputs <- ncol(contexts)
  list("GP-UCB-SDF" = function() gp_ucb_sdf(domain, kernel, noise_var, m = m, contexts = inputs, ...),
       "GP-UCB" = function() gp_ucb(domain, kernel, noise_var, width = width_constant(1), contexts = inputs, ...),
       "GP-BUCB" = function() gp_bucb(domain, kernel, noise_var, contexts = inputs, ...),
       "GP-TS-SDF" = function() gp_ts_sdf(domain, kernel, noise_var, m = m, contexts = inputs, ...),
       "GP-TS-SDF, authors' draw" = function() {
         gp_ts_sdf(domain, kernel, noise_var, m = m, draw = "posterior", contexts = inputs, ...)
       },
       "asy-TS" = function() gp_bandit(domain, kernel, noise_var, contexts = inputs, policy_ts(width_constant(1)), ...),
       "GP-BTS" = function() gp_bandit(domain, kernel, noise_var, contexts = inputs, policy_ts(width_constant(1)), pending = pending_hallucinate(), ...))
}

# How the kernel comes about: a list of functions that make rules. `start`: where refits start; inputs and values: the truth,
# of which 600 random cells fit the kernel that is kept.
settings <- function(domain, contexts, start, inputs, values, refit) {
  set.seed(seed)
  some <- sample(nrow(inputs), 600)
  known <- gp_fit(unname(inputs[some, ]), values[some], start, noise_var = 1e-3)$kernel
  list("refitted" = rules(domain, start, 1e-2, contexts = contexts, refit = refit),
       "kept, 1e-4" = rules(domain, known, 1e-4, contexts = contexts),
       "kept, 0.1" = rules(domain, known, 0.1, contexts = contexts))
}

# ---- (a) 50 tasks ----------------------------------------------------------------------------------------------------
tasks <- function() {
  accuracy <- read.csv(file.path(data, "tst_svm_accuracy.csv"))
  meta <- read.csv(file.path(data, "tst_svm_metafeatures.csv"))
  arms <- as.matrix(accuracy[c("is_rbf", "is_poly", "is_linear", "log2C_div6", "log10gamma_div4", "log10degree")])
  table <- as.matrix(accuracy[-(1:10)])
  contexts <- as.matrix(meta[match(colnames(table), make.names(meta$dataset)), paste0("mf0", 1:6)])
  stopifnot(!anyNA(contexts), ncol(table) == 50)
  contexts <- contexts + 1e-6 * seq_len(50)          # tells apart tasks with equal meta-features
  task_of <- function(inputs) match(round(1e6 * inputs[, 7], 1), round(1e6 * contexts[, 1], 1))
  key <- function(inputs) apply(round(inputs[, 1:6, drop = FALSE], 6), 1, paste, collapse = " ")
  keys <- key(arms)
  arm_of <- function(inputs) match(key(inputs), keys)
  problem <- function(run) {
    set.seed(100 * run)
    order <- rep(sample(50), each = 30)
    bandit_problem(arms, function(inputs) table[cbind(arm_of(inputs), task_of(inputs))], delay = delay, contexts = contexts[order, ],
                   optimum = function(z) apply(table, 2, max)[task_of(cbind(matrix(0, nrow(z), 6), z))])
  }
  # One search from the parameters in force: with up to 1500 observations three searches would take days.
  list(problem = problem, rounds = 1500, every = 50,
       settings = settings(arms, contexts, kernel_se(0.7, dims = 1:6) * kernel_se(0.7, dims = 7:12),
                           cbind(arms[rep(1:288, 50), ], contexts[rep(1:50, each = 288), ]), as.numeric(table),
                           refit_every(10, starts = 1, iterations = 5)))
}

# ---- (b) Pima in twenty growing parts ----------------------------------------------------------------------------------
growing <- function() {
  pima <- read.csv(file.path(data, "pima.csv"))
  x <- as.matrix(pima[names(pima) != "Outcome"])
  outcome <- pima$Outcome
  set.seed(seed)
  train <- unlist(lapply(split(seq_along(outcome), outcome), function(rows) sample(rows, round(0.7 * length(rows)))))
  side <- seq(0, 1, length.out = 15)
  arms <- as.matrix(expand.grid(x1 = side, x2 = side))
  shuffled <- sample(train)
  svm_accuracy <- function(u, rows) {
    fit <- e1071::svm(x[rows, ], factor(outcome[rows]), scale = FALSE, cost = 10^(-4 + 6 * u[1]), gamma = 10^(-4 + 5 * u[2]))
    mean(predict(fit, x[-train, ]) == outcome[-train])
  }
  table <- file.path(kept, "growing-table.RDS")
  if (!file.exists(table)) {
    saveRDS(vapply(0:19, function(k) {
      rows <- shuffled[seq_len(ceiling(length(shuffled) * (k + 1) / 20))]
      apply(unname(arms), 1, svm_accuracy, rows)
    }, numeric(nrow(arms))), table)
  }
  value <- readRDS(table)
  contexts <- cbind(z1 = (0:19) / 19)
  cell <- function(inputs) cbind(round(14 * inputs[, 1]) + 15 * round(14 * inputs[, 2]) + 1, round(19 * inputs[, 3]) + 1)
  problem <- function(run) {
    bandit_problem(arms, function(inputs) value[cell(inputs)], delay = delay, contexts = contexts[rep(1:20, each = 30), , drop = FALSE],
                   optimum = function(z) apply(value, 2, max)[round(19 * z[, 1]) + 1])
  }
  list(problem = problem, rounds = 600, every = 20,
       settings = settings(arms, contexts, kernel_se(0.3, dims = 1:2) * kernel_se(0.5, dims = 3),
                           cbind(arms[rep(seq_len(225), 20), ], contexts[rep(1:20, each = 225), , drop = FALSE]), as.numeric(value),
                           refit_every(10)))
}

# ---- play, keep, summarise ---------------------------------------------------------------------------------------------
play <- function(name, experiment, run, wanted, wanted_settings) {
  rows <- seq(experiment$every, experiment$rounds, experiment$every)
  for (setting in wanted_settings) for (bandit in grep(wanted, names(experiment$settings[[setting]]), value = TRUE)) {
    file <- file.path(kept, sprintf("%s_%s_%s_%d.rds", name, setting, bandit, run))
    if (file.exists(file)) next
    set.seed(seed + run)
    problem <- experiment$problem(run)
    set.seed(seed + run)
    seconds <- system.time(
      result <- as.data.frame(run_bandit(experiment$settings[[setting]][[bandit]](), problem, experiment$rounds))
    )[["user.self"]]
    saveRDS(list(experiment = name, setting = setting, bandit = bandit, run = run, round = rows,
                 regret = result$cumulative_regret[rows], seconds = seconds), file)
    message(name, " ", setting, " ", bandit, " ", run, ": ", format(utils::tail(result$cumulative_regret, 1), digits = 4), ", ",
            round(seconds), " s")
  }
}

# Mean curves, standard errors, and final regrets of every run (for paired tests).
summarise <- function() {
  all <- lapply(list.files(kept, "rds$", full.names = TRUE), readRDS)
  groups <- split(all, vapply(all, function(one) paste(one$experiment, one$setting, one$bandit), ""))
  curves <- do.call(rbind, lapply(groups, function(runs) {
    regret <- do.call(rbind, lapply(runs, `[[`, "regret"))
    data.frame(runs[[1]][c("experiment", "setting", "bandit", "round")], mean = signif(colMeans(regret), 4),
               se = signif(apply(regret, 2, sd) / sqrt(nrow(regret)), 3), n = nrow(regret))
  }))
  finals <- do.call(rbind, lapply(all, function(one) {
    data.frame(one[c("experiment", "setting", "bandit", "run")], regret = signif(utils::tail(one$regret, 1), 5))
  }))
  store <- function(name, table, about) {
    write_results(name, table, sprintf("%s, seed %d", about, seed), "delayed-contexts.R", sum(vapply(all, `[[`, 0, "seconds")))
  }
  store("delayed-contexts", curves, "Mean curves of the cumulative regret")
  store("delayed-contexts-final", finals[do.call(order, finals[1:4]), ], "Cumulative regret at the end of every run")
}

arguments <- commandArgs(TRUE)
experiment <- get(arguments[1])()
for (run in seq_len(as.integer(arguments[2]))) {
  play(arguments[1], experiment, run, if (length(arguments) > 2) arguments[3] else ".",
       if (length(arguments) > 3) arguments[4] else names(experiment$settings))
  summarise()
}
