# What asking and telling by hand costs, beside a round of run_bandit(), what whole runs cost, and what a saved
# bandit weighs.
#   Rscript bench/ask_record.R [LIBRARY]    (in the repository, gpbandits installed)
# LIBRARY: where another version of gpbandits is installed (R CMD INSTALL --library=LIBRARY), measured beside
# this one in the same run: each measurement is made by a process of its own, the two versions in turns.
# Prints tables and writes bench/results/ask_record.md. Processor time of one thread; with a journal elapsed
# time, the disk's.

arguments <- commandArgs(trailingOnly = TRUE)
arms <- seq(0, 1, length.out = 1000)

# ---- one measurement: `Rscript bench/ask_record.R measure NAME LIBRARY` prints a row of numbers -----------------

microseconds <- function(count, code, clock = c("user.self", "sys.self")) {
  1e6 * sum(system.time(code(count), gcFirst = TRUE)[clock]) / count
}

# Asking, telling, both in turns, and a round of run_bandit(), after some rounds that warm R up.
lives <- function(make, problem, rounds, clock = c("user.self", "sys.self")) {
  pairs <- function(bandit, count) for (k in seq_len(count)) bandit$observe(bandit$suggest()$id, 0.5)
  pairs(make(), 100)
  bandit <- make()
  pair <- microseconds(rounds, function(count) pairs(bandit, count), clock)
  bandit <- make()
  suggest <- microseconds(rounds, function(count) for (k in seq_len(count)) bandit$suggest(), clock)
  observe <- microseconds(rounds, function(count) for (id in seq_len(count)) bandit$observe(id, 0.5), clock)
  run_bandit(make(), problem, 10)
  round <- microseconds(rounds, function(count) run_bandit(make(), problem, count), clock)
  c(pair = pair, suggest = suggest, observe = observe, round = round)
}

saved <- function() {
  bandit <- gp_ucb(finite_domain(seq(0, 1, length.out = 10)), kernel_se(0.2), 0.01)
  for (t in 1:10) bandit$observe(bandit$suggest()$id, sin(t))
  file <- tempfile()
  time <- function(code) {
    for (k in 1:20) code()
    microseconds(100, function(count) for (k in seq_len(count)) code()) / 1000
  }
  write <- time(function() saveRDS(bandit, file))
  c(serialized = length(serialize(bandit, NULL)), file = file.size(file), write = write,
    read = time(function() readRDS(file)))
}

# Whole runs, set-up included, in milliseconds: 1,000 rounds on 1,000 arms with three kernels, and 10 random
# points and 190 rounds on Branin's box, hyperparameters fixed.
whole_runs <- function() {
  fastest <- function(code, times) min(vapply(seq_len(times), function(k) microseconds(1, code), 0)) / 1000
  on_arms <- function(kernel) {
    set.seed(1)
    problem <- bandit_problem(arms, sample_gp(kernel, arms), noise = sqrt(0.025))
    fastest(function(count) {
      set.seed(2)
      run_bandit(gp_ucb(arms, kernel, 0.025), problem, 1000)
    }, 20)
  }
  branin <- function(x) {
    inner <- x[, 2] - 5.1 * x[, 1]^2 / (4 * pi^2) + 5 * x[, 1] / pi - 6
    -(inner^2 + 10 * (1 - 1 / (8 * pi)) * cos(x[, 1]) + 10 + 54.3) / 51.9
  }
  box <- box_domain(c(-5, 0), c(10, 15))
  problem <- bandit_problem(box, branin)
  c(se = on_arms(kernel_se(0.2)), rough_se = on_arms(kernel_se(0.02)), matern = on_arms(kernel_matern(2.5, 0.2)),
    branin = fastest(function(count) {
      set.seed(1)
      bandit <- gp_bandit(box, kernel_matern(2.5, 4.5), 1e-10, policy_ucb(width_constant(0.5)))
      start <- cbind(runif(10, -5, 10), runif(10, 0, 15))
      bandit$add(x = start, reward = branin(start))
      run_bandit(bandit, problem, 190)
    }, 3))
}

measurements <- list(
  "1,000 arms" = function() {
    lives(function() gp_ucb(finite_domain(arms), kernel_se(0.2), 0.01), bandit_problem(arms, sin(6 * arms)), 3000)
  },
  "box, 2 inputs, 100 rounds" = function() {
    domain <- box_domain(c(0, 0), c(1, 1))
    lives(function() gp_ucb(domain, kernel_se(0.3), 0.01, width = width_constant(2)),
          bandit_problem(domain, function(x) sin(3 * x[, 1]) * x[, 2]), 100)
  },
  "1,000 arms, journal" = function() {
    lives(function() gp_ucb(finite_domain(arms), kernel_se(0.2), 0.01, journal = tempfile()),
          bandit_problem(arms, sin(6 * arms)), 300, clock = "elapsed")
  },
  "whole runs" = whole_runs,
  saved = saved
)

if (identical(arguments[1], "measure")) {
  if (length(arguments) > 2) .libPaths(c(arguments[3], .libPaths()))
  suppressMessages(library(gpbandits))
  cat(measurements[[arguments[2]]](), "\n")
  quit(save = "no")
}

# ---- all of them, in turns, the least of five (what else runs on a machine only adds) ---------------------------

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
measure <- function(name, library) {
  out <- system2(file.path(R.home("bin"), "Rscript"), c(script, "measure", shQuote(name), library), stdout = TRUE)
  as.double(strsplit(trimws(utils::tail(out, 1)), " +")[[1]])
}
versions <- c(list("this version" = character()), if (length(arguments)) list("the other" = arguments[1]))
results <- lapply(stats::setNames(names(measurements), names(measurements)), function(name) {
  each <- lapply(1:5, function(k) lapply(versions, function(library) measure(name, library)))
  lapply(stats::setNames(names(versions), names(versions)), function(version) {
    apply(do.call(rbind, lapply(each, `[[`, version)), 2, min)
  })
})

row <- function(...) paste0("| ", paste(..., sep = " | "), " |")
shown <- function(x) formatC(signif(x, 2), format = "fg", big.mark = ",")
table_of_lives <- unlist(lapply(setdiff(names(results), c("whole runs", "saved")), function(name) {
  vapply(names(versions), function(version) {
    x <- results[[name]][[version]]
    row(name, version, paste(shown(x), collapse = " | "), shown(x[1] / x[4]))
  }, "")
}))
table_of <- function(name) {
  vapply(names(versions), function(version) {
    row(version, paste(shown(results[[name]][[version]]), collapse = " | "))
  }, "")
}
lines <- c(
  "# Asking and telling by hand", "",
  "Written by `Rscript bench/ask_tell.R [LIBRARY]`; the least of five processes, the versions in turns. Processor",
  "time of one thread",
  sprintf("(with a journal: elapsed time, nearly all of it the disk's). R %s, load at the end %s.", getRversion(),
          strsplit(readLines("/proc/loadavg"), " ")[[1]][1]),
  if (length(arguments)) paste("The other version:", Sys.getenv("OTHER_VERSION", arguments[1])), "",
  "## Microseconds of one call: `$suggest()` and `$observe()` in turns, each alone, and a round of run_bandit()", "",
  row("", "", "pair", "suggest", "observe", "round", "pair / round"), "|---|---|---:|---:|---:|---:|---:|",
  table_of_lives, "",
  "Aim: a pair on 1,000 arms within 100 microseconds.", "",
  "## Whole runs, milliseconds: 1,000 rounds of GP-UCB on 1,000 arms; 10 points and 190 rounds on Branin", "",
  row("", "SE, l = 0.2", "SE, l = 0.02", "Matern 5/2, l = 0.2", "Branin, Matern 5/2"), "|---|---:|---:|---:|---:|",
  table_of("whole runs"), "",
  "## saveRDS() of a bandit of 10 arms after 10 rounds", "",
  row("", "serialized, bytes", "file, bytes", "saveRDS, ms", "readRDS, ms"), "|---|---:|---:|---:|---:|",
  table_of("saved")
)
cat(lines, sep = "\n")
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/ask_tell.md")
}
