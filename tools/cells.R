# One cell of each stored table again: are the results that the articles show still those of the package?
#   Rscript tools/cells.R [name ...]     (from the repository's root, gpbandits installed; one to two minutes)
# A cell is a mean over runs. It may differ from the stored one by four standard errors, since a choice between nearly
# equal points can depend on the compiler; a value without a standard error by 1e-6 of its size. A weekly job runs all
# cells. Tables without a bandit (measured accuracies and times) have none. Cells that need data are skipped without
# GPBANDITS_DATA.
suppressMessages(library(gpbandits))
source("vignettes/precompute/results.R")

# A script's functions, without its last part, which begins with the name `until`.
functions_of <- function(script, until = "commandArgs", envir = globalenv()) {
  for (one in as.list(parse(file.path("vignettes/precompute", paste0(script, ".R"))))) {
    if (until %in% all.names(one)) return(invisible(envir))
    eval(one, envir)
  }
}
stored_rows <- function(name, ...) {
  table <- read.csv(results_file(name), comment.char = "#")
  for (column in names(list(...))) table <- table[table[[column]] %in% list(...)[[column]], ]
  stopifnot(nrow(table) == 1)
  table
}
cell <- function(stored, se, now) list(stored = stored, se = se, now = now)
# The chunks' rules() makes one rule from now on.
only <- function(rule) {
  all <- rules
  rules <<- function(...) all(...)[rule]
}
end_values <- function(comparison, column = "cumulative_regret") {
  runs <- as.data.frame(comparison)
  runs[[column]][runs$round == max(runs$round)]
}
last_of <- function(table) table[which.max(table$round), ]
svm_cell <- function(scale) {
  functions_of("delayed-feedback")
  rule <- rules(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), 1e-3, 10, refit = refit_every(10))[["GP-BUCB"]]
  now <- vapply(1:2, function(run) svm_run(rule, scale, 10, run)[100], 0)
  stored <- stored_rows(paste0("delayed-svm-", scale), delay = "fixed", bandit = "GP-BUCB", round = 100)
  cell(stored$mean, stored$se * sqrt(5), mean(now))
}
# Two runs of the tables of contexts, with a kernel that is kept.
contexts_cell <- function(stored) {
  here <- functions_of("delayed-contexts", envir = new.env(parent = globalenv()))
  experiment <- here$tasks()
  now <- vapply(1:2, function(run) {
    set.seed(here$seed + run)
    problem <- experiment$problem(run)
    set.seed(here$seed + run)
    sum(as.data.frame(run_bandit(experiment$settings[["kept, 0.1"]][["GP-UCB"]](), problem, 1500))$regret)
  }, 0)
  cell(stored$mean, stored$se * sqrt(stored$n / 2), mean(now))
}

cells <- list(
  "attempts" = function() {
    functions_of("attempts")
    stored <- stored_rows("attempts", part = "margin", setting = "MPI, margin 0.2", rule = "GP-UCB")
    cell(stored$value, stored$se, mean(on_1000(list("GP-UCB" = policy_ucb(width5())), 15)[[1]]))
  },
  "chowdhury-bands" = function() {
    run_chunks("chowdhury", c("problems", "synthetic", "curves", "bands", "bands-run", "bands-summary"))
    cell(read.csv(results_file("chowdhury-bands"), comment.char = "#")$half[1], 0, signif(band_results$half[1], 4))
  },
  "chowdhury-synthetic" = function() {
    run_chunks("chowdhury", c("rules", "problems", "synthetic"))
    stored <- stored_rows("chowdhury-synthetic", figure = "1", problem = "SE", bandit = "IGP-UCB", round = 30000)
    cell(stored$mean, stored$sd / 5, mean(end_values(compare_rules(kernels$SE, rkhs_function(kernels$SE), "IGP-UCB"))))
  },
  "chowdhury-sensors" = function() {
    run_chunks("chowdhury", c("rules", "problems", "curves", "sensor-experiment"))
    only("IGP-UCB")
    read <- function(file) as.matrix(read.csv(file.path(Sys.getenv("GPBANDITS_DATA"), file))[sprintf("s%02d", 1:41)])
    now <- sensor_experiment(read("cmu_light_train.csv"), read("cmu_light_test.csv"), seed = 54)
    stored <- stored_rows("chowdhury-sensors", problem = "light", setting = "ours", bandit = "IGP-UCB", round = 1000)
    cell(stored$mean, stored$sd / sqrt(stored$n), now$mean[now$round == 1000])
  },
  "srinivas-curves" = function() {
    run_chunks("srinivas", c("policies", "synthetic"))
    stored <- stored_rows("srinivas-curves", problem = "synthetic", bandit = "GP-UCB", round = 1000)
    now <- compare_bandits(baselines(x, kernel, noise_var)["GP-UCB"], random_function, 1000, 30, seed = 2010)
    cell(stored$mean, stored$se, mean(end_values(now, "average_regret")))
  },
  "delayed-synthetic" = function() {
    shown_with("delayed-feedback")
    run_chunks("delayed-feedback", "synthetic")
    stored <- stored_rows("delayed-synthetic", panel = "d", bandit = "GP-UCB", round = 150)
    one <- compare(rules(10, kernel, mean = 0.5)["GP-UCB"], 10)
    cell(stored$mean, stored$se, last_of(curves(one))$mean)
  },
  "delayed-tables" = function() {
    shown_with("delayed-feedback")
    run_chunks("delayed-feedback", "synthetic")
    for (one in as.list(parse(text = article_chunk("delayed-feedback", "tables-run")))[1:2]) eval(one, globalenv())
    only("GP-BUCB")
    best <- max(measured("cnn-mnist")$accuracy)
    stored <- stored_rows("delayed-tables", panel = "CNN, fixed", bandit = "GP-BUCB", round = 100)
    cell(stored$mean, stored$se, 100 * (last_of(curves(tune("cnn-mnist", 10, 10)))$mean + 1 - best))
  },
  "long-term-constraints" = function() {
    run_chunks("long-term-constraints", c("rules", "baselines", "tools", "parts"))
    now <- play("trade-off", list("reuse 50" = algorithm2(TRUE, epoch = 50)), small_feasible(61), runs = 20)
    now <- now[now$round == 350 & now$quantity == "regret", ]
    stored <- stored_rows("long-term-constraints", experiment = "trade-off", bandit = "reuse 50", quantity = "regret")
    cell(stored$mean, (now$q75 - now$q25) / 1.35 / sqrt(20), now$mean)
  },
  "nonstationary-runs" = function() {
    functions_of("nonstationary")
    stored <- read.csv(results_file("nonstationary-runs"), comment.char = "#")
    stored <- stored$regret[stored$experiment == 1 & stored$size == 900]
    cell(mean(stored), sd(stored) / 8, mean(one_cell(900, 3, 900)$regret))
  },
  "nonstationary-figure3" = function() {
    functions_of("nonstationary")
    stored <- read.csv(results_file("nonstationary-figure3"), comment.char = "#")
    stored <- stored$regret1200[stored$bandit == "GP-UCB"]
    now <- end_values(compare_bandits(rules["GP-UCB"], problems(rounds, K, seed = 33), rounds, replications, seed = 33,
                                  every = 100))
    cell(mean(stored), sd(stored) / 8, mean(now))
  },
  "nonstationary-curves" = function() {
    functions_of("nonstationary")
    run_chunks("nonstationary", "baselines")
    stored <- stored_rows("nonstationary-curves", experiment = "jumps", bandit = "R-GP-UCB", round = 1200)
    now <- compare_bandits(baselines["R-GP-UCB"], jumping, rounds, runs_of_baselines, seed = 33, every = 50)
    cell(stored$mean, stored$se, mean(end_values(now)))
  },
  "nonstationary-sensitivity" = function() {
    functions_of("nonstationary")
    stored <- read.csv(results_file("nonstationary-sensitivity"), comment.char = "#")[1, ]
    now <- one_cell(900, 3, 900, cpd(900, detector(stored$c, stored$C), stored$factor * g^2 * log(900)^stored$power))
    cell(stored$first, sd(now$regret) / 8, mean(now$regret))
  },
  "delayed-svm-log" = function() svm_cell("log"),
  "delayed-svm-linear" = function() svm_cell("linear"),
  "delayed-contexts" = function() {
    contexts_cell(stored_rows("delayed-contexts", experiment = "tasks", setting = "kept, 0.1", bandit = "GP-UCB",
                              round = 1500))
  },
  "sensitivity" = function() {
    functions_of("sensitivity", until = "each")
    stored <- stored_rows("sensitivity", part = "kernel", rule = "Matern 5/2", setting = 1, measure = "regret")
    now <- wrong("Matern 5/2", 1)
    cell(stored$value, stored$se, now$value[now$measure == "regret"])
  },
  "srinivas-map" = function() {
    functions_of("srinivas")
    made <- NULL
    store <<- function(name, table, ...) made <<- table
    parts$map()
    cell(read.csv(results_file("srinivas-map"), comment.char = "#")$temperature[1], 0, made$temperature[1])
  }
)
needs_data <- c("chowdhury-sensors", "delayed-svm-log", "delayed-svm-linear", "delayed-contexts", "srinivas-map")

wanted <- commandArgs(TRUE)
if (length(wanted) == 0) wanted <- names(cells)
failed <- 0
for (name in wanted) {
  if (name %in% needs_data && !nzchar(Sys.getenv("GPBANDITS_DATA"))) {
    cat(sprintf("%-26s skipped: it needs GPBANDITS_DATA\n", name))
    next
  }
  seconds <- system.time(found <- cells[[name]]())[["user.self"]]
  near <- abs(found$now - found$stored) <= max(4 * found$se, 1e-6 * abs(found$stored))
  failed <- failed + !near
  cat(sprintf("%-26s stored %10.5g (se %.2g)  now %10.5g  %s  %.0f s\n", name, found$stored, found$se, found$now,
              if (near) "same" else "DIFFERS", seconds))
}
quit(status = as.integer(failed > 0))
