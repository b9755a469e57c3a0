# The experiments of vignettes/articles/delayed-feedback-in-full.Rmd without contexts: SVM on Pima (linear and logarithmic scale), synthetic functions,
# and the tables of the CNN and of logistic regression. Stores results in inst/extdata/delayed-*.csv.xz.
# From the package's root, with gpbandits and e1071 installed (about 20 minutes in one process):
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/delayed-feedback.R
#   GPBANDITS_DATA=../shared/data Rscript vignettes/precompute/delayed-feedback.R synthetic tables       (some parts, three minutes)
# (Contexts, Figure 4: delayed-contexts.R.)
library(gpbandits)
source("vignettes/precompute/results.R")
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
       "asy-TS" = function() gp_bandit(domain, kernel, noise_var, policy_ts(width_constant(1)), ...),
       "GP-BTS" = function() gp_bandit(domain, kernel, noise_var, policy_ts(width_constant(1)), pending = pending_hallucinate(), ...))
}
delays <- list(poisson = list(delay = function(n) rpois(n, 10), m = 20), fixed = list(delay = 10, m = 10))

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

# ---- synthetic functions, and the tables of the CNN and of logistic regression: the article's own chunks ----------------
# Comparisons by panel: mean curves, and every run at some rounds.
curves_of <- function(panels, mean_curves) do.call(rbind, lapply(names(panels), function(name) {
  one <- mean_curves(panels[[name]])
  data.frame(panel = name, one[c("bandit", "round")], mean = signif(one$mean, 4), se = signif(one$se, 3))
}))
runs_at <- function(panels, rounds, value) do.call(rbind, lapply(names(panels), function(name) {
  runs <- as.data.frame(panels[[name]])
  runs <- runs[runs$round %in% rounds, ]
  runs$value <- signif(value(runs$simple_regret), 3)
  wide <- tapply(runs$value, list(paste(runs$bandit, runs$round, sep = "@"), runs$replication), sum)
  colnames(wide) <- paste0("r", colnames(wide))
  if (ncol(wide) < 100) wide <- cbind(wide, matrix(NA, nrow(wide), 100 - ncol(wide), dimnames = list(NULL, paste0("r", (ncol(wide) + 1):100))))
  data.frame(panel = name, bandit = sub("@.*", "", rownames(wide)), round = as.integer(sub(".*@", "", rownames(wide))), wide, row.names = NULL)
}))

synthetic_part <- function() {
  here <- new.env(parent = globalenv())
  shown_with("delayed-feedback", here)
  run_chunks("delayed-feedback", c("synthetic", "synthetic-run", "refits-run"), here)
  panels <- c(here$synthetic, "c, refits" = list(here$refits$c), "d, refits" = list(here$refits$d))
  known <- function(v) ifelse(is.na(v), 1, v)
  write_part("synthetic-runs", runs_at(panels[1:8], c(60, 150), known), "Simple regret of every run of Figures 1 and 5 after 60 and 150 rounds, seed 2022, 100 functions")
  write_part("synthetic", curves_of(panels, here$curves), "Mean simple regret of Figures 1 and 5, seed 2022, 100 functions (with refits 20)")
}
# The runs with refits alone; the other panels are kept.
refits_part <- function() {
  here <- new.env(parent = globalenv())
  shown_with("delayed-feedback", here)
  run_chunks("delayed-feedback", c("synthetic", "refits-run"), here)
  new <- curves_of(list("c, refits" = here$refits$c, "d, refits" = here$refits$d), here$curves)
  write_part("synthetic", rbind(here$panels[!here$panels$panel %in% new$panel, ], new),
             "Mean simple regret of Figures 1 and 5, seed 2022, 100 functions (with refits 20)")
}
tables_part <- function() {
  here <- new.env(parent = globalenv())
  shown_with("delayed-feedback", here)
  run_chunks("delayed-feedback", c("synthetic", "tables-run"), here)
  error <- function(name) {
    best <- max(here$measured(if (startsWith(name, "CNN")) "cnn-mnist" else "logistic-wdbc")$accuracy)
    function(v) 100 * (v + 1 - best)
  }
  # Rounds in which no run knows a reward of its own yet are left out.
  curves <- do.call(rbind, lapply(names(here$tuned), function(name) {
    one <- here$curves(here$tuned[[name]], unknown = NA)
    one <- one[!is.na(one$mean), ]
    data.frame(panel = name, one[c("bandit", "round")], mean = signif(error(name)(one$mean), 4), se = signif(100 * one$se, 3))
  }))
  write_part("tables", curves, "Mean validation error (per cent) of the CNN and of logistic regression, seed 2022, ten runs")
  runs <- do.call(rbind, lapply(names(here$tuned), function(name) runs_at(here$tuned[name], 100, error(name))))
  write_part("tables-runs", runs[seq_len(13)], "Validation error (per cent) of every run after 100 queries, seed 2022")
}
write_part <- function(name, table, about, seconds = proc.time()[["user.self"]]) {
  write_results(paste0("delayed-", name), table, about, "delayed-feedback.R", seconds)
}

# ---- one part after the other, or one by name: svm-linear, svm-log -----------------------------------
parts <- list("svm-linear" = function() svm_experiment("linear"), "svm-log" = function() svm_experiment("log"))
own <- list(synthetic = synthetic_part, refits = refits_part, tables = tables_part)          # these write their own files
wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- c(names(parts), names(own))
for (name in intersect(wanted, names(own))) own[[name]]()
for (name in intersect(wanted, names(parts))) {
  seconds <- system.time(results <- parts[[name]]())[[1]]
  write_part(name, results, sprintf("Mean curves, seed %d, %d runs", seed, max(results$n)), seconds)
}
