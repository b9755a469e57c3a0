# What asking and telling by hand costs, beside a round of run_bandit(), and what a saved bandit weighs.
#   Rscript bench/ask_tell.R [LIBRARY]    (in the repository, gpbandits installed)
# LIBRARY: where another version of gpbandits is installed (R CMD INSTALL --library=LIBRARY), measured beside
# this one in the same run: each measurement is made by a process of its own, the two versions in turns.
# Prints tables and writes bench/results/ask_tell.md. Processor time of one thread; with a journal elapsed
# time, the disk's.

arguments <- commandArgs(trailingOnly = TRUE)
arms <- seq(0, 1, length.out = 1000)

# ---- one measurement: `Rscript bench/ask_tell.R measure NAME LIBRARY` prints a row of numbers -----------------

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
  saved = saved
)

if (identical(arguments[1], "measure")) {
  if (length(arguments) > 2) .libPaths(c(arguments[3], .libPaths()))
  suppressMessages(library(gpbandits))
  cat(measurements[[arguments[2]]](), "\n")
  quit(save = "no")
}

# ---- all of them, in turns, the median of five ----------------------------------------------------------------

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
measure <- function(name, library) {
  out <- system2(file.path(R.home("bin"), "Rscript"), c(script, "measure", shQuote(name), library), stdout = TRUE)
  as.double(strsplit(trimws(utils::tail(out, 1)), " +")[[1]])
}
versions <- c(list("this version" = character()), if (length(arguments)) list("the other" = arguments[1]))
results <- lapply(stats::setNames(names(measurements), names(measurements)), function(name) {
  each <- lapply(1:5, function(k) lapply(versions, function(library) measure(name, library)))
  lapply(stats::setNames(names(versions), names(versions)), function(version) {
    apply(do.call(rbind, lapply(each, `[[`, version)), 2, stats::median)
  })
})

row <- function(...) paste0("| ", paste(..., sep = " | "), " |")
shown <- function(x) formatC(signif(x, 2), format = "fg", big.mark = ",")
table_of_lives <- unlist(lapply(setdiff(names(results), "saved"), function(name) {
  vapply(names(versions), function(version) {
    x <- results[[name]][[version]]
    row(name, version, paste(shown(x), collapse = " | "), shown(x[1] / x[4]))
  }, "")
}))
table_of_saves <- vapply(names(versions), function(version) {
  x <- results$saved[[version]]
  row(version, paste(shown(x), collapse = " | "))
}, "")
lines <- c(
  "# Asking and telling by hand", "",
  "Written by `Rscript bench/ask_tell.R [LIBRARY]`; medians of five processes, the versions in turns. Processor",
  "time of one thread",
  sprintf("(with a journal: elapsed time, nearly all of it the disk's). R %s, load at the end %s.", getRversion(),
          strsplit(readLines("/proc/loadavg"), " ")[[1]][1]),
  if (length(arguments)) paste("The other version:", Sys.getenv("OTHER_VERSION", arguments[1])), "",
  "## Microseconds of one call: `$suggest()` and `$observe()` in turns, each alone, and a round of run_bandit()", "",
  row("", "", "pair", "suggest", "observe", "round", "pair / round"), "|---|---|---:|---:|---:|---:|---:|",
  table_of_lives, "",
  "Aim: a pair on 1,000 arms within 100 microseconds.", "",
  "## saveRDS() of a bandit of 10 arms after 10 rounds", "",
  row("", "serialized, bytes", "file, bytes", "saveRDS, ms", "readRDS, ms"), "|---|---:|---:|---:|---:|",
  table_of_saves
)
cat(lines, sep = "\n")
if (dir.exists("bench")) {
  dir.create("bench/results", showWarnings = FALSE)
  writeLines(lines, "bench/results/ask_tell.md")
}
