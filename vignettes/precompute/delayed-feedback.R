# The experiments of vignettes/delayed-feedback.Rmd that train models while they run: SVM on Pima (linear and
# logarithmic scale), 50 SVM tasks, and Pima that grows. Stores mean curves in inst/extdata/delayed-*.csv.
# From the package's root, with gpbandits and e1071 installed (about 25 minutes in one process):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/delayed-feedback.R
library(gpbandits)
data <- Sys.getenv("GPBANDITS_DATA")
stopifnot(nzchar(data), requireNamespace("e1071"))
runs <- 10
seed <- 2022

# The six rules; `m` and the refits as in the paper. `kernel` is where the refits start.
rules <- function(domain, kernel, noise_var, m, ...) {
  list("GP-UCB-SDF" = function() gp_ucb_sdf(domain, kernel, noise_var, m = m, ...),
       "GP-UCB" = function() gp_ucb(domain, kernel, noise_var, width = width_constant(1), ...),
       "GP-BUCB" = function() gp_bucb(domain, kernel, noise_var, ...),
       "GP-TS-SDF" = function() gp_ts_sdf(domain, kernel, noise_var, m = m, ...),
       "asy-TS" = function() asy_ts(domain, kernel, noise_var, ...),
       "GP-BTS" = function() gp_bts(domain, kernel, noise_var, ...))
}
# Censored feedback without the sum in its width.
no_sum <- function(domain, kernel, noise_var, m, ...) {
  list("GP-UCB-SDF, no sum" = function() gp_ucb_sdf(domain, kernel, noise_var, m = m, width = width_constant(1), ...),
       "GP-TS-SDF, no sum" = function() gp_ts_sdf(domain, kernel, noise_var, m = m, width = width_constant(1), ...))
}
delays <- list(poisson = list(delay = delay_poisson(10), m = 20), fixed = list(delay = delay_fixed(10), m = 10))

curve <- function(values, rounds) {          # a row per run
  data.frame(round = rounds, mean = signif(colMeans(values), 5), se = signif(apply(values, 2, sd) / sqrt(nrow(values)), 3),
             n = nrow(values))
}

# ---- SVM on Pima -------------------------------------------------------------------------------------------------
pima <- read.csv(file.path(data, "pima.csv"))
outcome <- pima$Outcome
x <- as.matrix(pima[names(pima) != "Outcome"])
set.seed(seed)
train <- unlist(lapply(split(seq_along(outcome), outcome), function(rows) sample(rows, round(0.7 * length(rows)))))

svm_accuracy <- function(cost, gamma, rows = train) {
  fit <- e1071::svm(x[rows, ], factor(outcome[rows]), scale = FALSE, cost = cost, gamma = gamma)
  mean(predict(fit, x[-train, ]) == outcome[-train])
}
scales <- list(
  linear = function(u) unname(c(1e-4 + u[1] * (100 - 1e-4), 1e-4 + u[2] * (10 - 1e-4))),
  log = function(u) unname(10^c(-4 + 6 * u[1], -4 + 5 * u[2]))
)
starts <- read.csv(file.path(data, "bosdf_svm_initial_points.csv"))

svm_run <- function(make, scale, delay, run) {
  objective <- function(u) apply(u, 1, function(row) do.call(svm_accuracy, as.list(scales[[scale]](row))))
  domain <- box_domain(c(0, 0), c(1, 1))
  problem <- bandit_problem(domain, objective, delay = delay, optimum = 1)
  bandit <- make()
  first <- as.matrix(starts[starts$run == run - 1, c("x1", "x2")])
  known <- objective(first)
  bandit$add(first, reward = known)
  set.seed(seed + run)
  result <- as.data.frame(run_bandit(bandit, problem, 100))
  pmin(1 - max(known), utils::tail(result$simple_regret, 100), na.rm = TRUE)
}

svm_experiment <- function(scale) {
  out <- list()
  for (delay in names(delays)) {
    with <- delays[[delay]]
    all <- rules(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), 1e-3, with$m, refit = refit_every(10))
    for (name in names(all)) {
      errors <- t(vapply(seq_len(runs), function(run) svm_run(all[[name]], scale, with$delay, run), numeric(100)))
      keep <- c(1, seq(5, 100, 5))
      out <- c(out, list(cbind(experiment = paste0("svm-", scale), delay = delay, bandit = name, curve(errors[, keep], keep))))
      message(scale, " ", delay, " ", name, ": ", format(100 * mean(errors[, 100]), digits = 4))
    }
  }
  do.call(rbind, out)
}

# ---- contextual: regret summed over the rounds ---------------------------------------------------------------------
contextual <- function(experiment, problem, all, rounds, every, runs) {
  rows <- seq(every, rounds, every)
  do.call(rbind, lapply(names(all), function(name) {
    regret <- t(vapply(seq_len(runs), function(run) {
      set.seed(seed + run)
      as.data.frame(run_bandit(all[[name]](), problem(run), rounds))$cumulative_regret[rows]
    }, numeric(length(rows))))
    message(experiment, " ", name, ": ", format(mean(regret[, length(rows)]), digits = 4))
    cbind(experiment = experiment, delay = "poisson3", bandit = name, curve(regret, rows))
  }))
}

# Kernel parameters for all rules alike, fitted beforehand on 600 random cells of the table.
fitted_kernel <- function(inputs, value, kernel) {
  some <- sample(nrow(inputs), 600)
  gp_fit(unname(inputs[some, ]), value[some], kernel, noise_var = 1e-3)
}

multi_task <- function() {
  accuracy <- read.csv(file.path(data, "tst_svm_accuracy.csv"))
  meta <- read.csv(file.path(data, "tst_svm_metafeatures.csv"))
  arms <- as.matrix(accuracy[c("is_rbf", "is_poly", "is_linear", "log2C_div6", "log10gamma_div4", "log10degree")])
  table <- as.matrix(accuracy[-(1:10)])
  contexts <- as.matrix(meta[match(colnames(table), make.names(meta$dataset)), paste0("mf0", 1:6)])
  stopifnot(!anyNA(contexts), ncol(table) == 50)
  contexts <- contexts + 1e-6 * seq_len(50)          # tells apart tasks with equal meta-features
  task_of <- function(inputs) match(round(1e6 * inputs[, 7], 1), round(1e6 * contexts[, 1], 1))
  arm_of <- function(inputs) match(apply(round(inputs[, 1:6, drop = FALSE], 6), 1, paste, collapse = " "),
                                   apply(round(arms, 6), 1, paste, collapse = " "))
  value <- function(inputs) table[cbind(arm_of(inputs), task_of(inputs))]
  set.seed(seed)
  all_inputs <- cbind(arms[rep(1:288, 50), ], contexts[rep(1:50, each = 288), ])
  fit <- fitted_kernel(all_inputs, as.numeric(table), kernel_se(0.7, dims = 1:6) * kernel_se(0.7, dims = 7:12))
  message("tasks: noise_var ", signif(fit$noise_var, 3))
  problem <- function(run) {
    set.seed(100 * run)
    order <- rep(sample(50), each = 30)
    bandit_problem(arms, value, delay = delay_poisson(3), contexts = contexts[order, ],
                   optimum = function(z) apply(table, 2, max)[task_of(cbind(matrix(0, nrow(z), 6), z))])
  }
  all <- rules(arms, fit$kernel, max(fit$noise_var, 1e-4), 6, contexts = contexts)
  contextual("tasks", problem, all, 1500, 50, runs = 3)
}

growing <- function() {
  side <- seq(0, 1, length.out = 15)
  arms <- as.matrix(expand.grid(x1 = side, x2 = side))
  set.seed(seed)
  shuffled <- sample(train)
  value <- vapply(0:19, function(k) {
    rows <- shuffled[seq_len(ceiling(length(shuffled) * (k + 1) / 20))]
    apply(arms, 1, function(u) do.call(svm_accuracy, c(as.list(scales$log(u)), list(rows))))
  }, numeric(nrow(arms)))
  contexts <- cbind(z1 = (0:19) / 19)
  cell <- function(inputs) cbind(round(14 * inputs[, 1]) + 15 * round(14 * inputs[, 2]) + 1, round(19 * inputs[, 3]) + 1)
  inputs <- cbind(arms[rep(seq_len(225), 20), ], contexts[rep(1:20, each = 225), , drop = FALSE])
  fit <- fitted_kernel(inputs, as.numeric(value), kernel_se(0.3, dims = 1:2) * kernel_se(0.5, dims = 3))
  problem <- function(run) {
    bandit_problem(arms, function(inputs) value[cell(inputs)], delay = delay_poisson(3), contexts = contexts[rep(1:20, each = 30), , drop = FALSE],
                   optimum = function(z) apply(value, 2, max)[round(19 * z[, 1]) + 1])
  }
  all <- c(rules(arms, fit$kernel, max(fit$noise_var, 1e-4), 6, contexts = contexts),
           no_sum(arms, fit$kernel, max(fit$noise_var, 1e-4), 6, contexts = contexts))
  contextual("growing", problem, all, 600, 20, runs = runs)
}

# ---- one part after the other, or one by name: tasks, growing, svm-linear, svm-log -----------------------------------
parts <- list(tasks = multi_task, growing = growing, "svm-linear" = function() svm_experiment("linear"),
              "svm-log" = function() svm_experiment("log"))
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(parts)
for (name in wanted) {
  seconds <- system.time(results <- parts[[name]]())[[1]]
  file <- sprintf("inst/extdata/delayed-%s.csv", name)
  writeLines(c("# Mean curves computed by vignettes/precompute/delayed-feedback.R",
               sprintf("# seed %d, %d runs, %.0f s of processor time, %s", seed, max(results$n), seconds, R.version.string)), file)
  suppressWarnings(write.table(results, file, append = TRUE, sep = ",", row.names = FALSE, quote = which(names(results) == "bandit")))
}
