# compare_bandits() in one process and in two of a future plan, by the length of the serial run: seconds from the call to
# its result, medians of three turns, and the seconds that the plan's processes take to start (once for all calls).
#   Rscript bench/compare_parallel.R          prints; writes bench/results/compare_parallel.md
suppressPackageStartupMessages(library(gpbandits))
stopifnot(requireNamespace("future.apply"))
arms <- seq(0, 1, length.out = 500)
kernel <- kernel_se(0.1)
makers <- list(ucb = function(problem) gp_ucb(problem$domain, kernel, 0.025),
               ts = function(problem) gp_ts(problem$domain, kernel, 0.025, B = 1, R = 0.2))
problems <- function(replication) bandit_problem(arms, sample_gp(kernel, arms), noise = sqrt(0.025))
workers <- 2
seconds <- function(rounds, replications) {
  begun <- proc.time()[["elapsed"]]
  found <- compare_bandits(makers, problems, rounds, replications, seed = 1, progress = FALSE)
  list(time = proc.time()[["elapsed"]] - begun, data = as.data.frame(found))
}
plans <- c("sequential", "multicore", "multisession")
start <- stats::setNames(numeric(3), plans)
rows <- NULL
for (size in list(c(50, 8), c(1200, 8), c(1200, 40), c(1200, 200), c(1200, 500))) {
  times <- sapply(1:3, function(turn) {
    vapply(plans, function(plan) {
      begun <- proc.time()[["elapsed"]]
      if (plan == "sequential") future::plan("sequential") else future::plan(plan, workers = workers)
      if (plan != "sequential") invisible(future::value(future::future(1)))
      start[[plan]] <<- max(start[[plan]], proc.time()[["elapsed"]] - begun)
      one <- seconds(size[1], size[2])
      if (plan == "sequential") serial <<- one$data else stopifnot(identical(one$data, serial))
      one$time
    }, 0)
  })
  rows <- rbind(rows, data.frame(rounds = size[1], replications = size[2], t(apply(times, 1, stats::median))))
}
future::plan("sequential")
lines <- c("# compare_bandits() in several processes", "",
           sprintf(paste("%s, R %s, %d cores, load %s: two bandits over 500 arms. Seconds, medians of three turns; the",
                         "numbers of all plans are identical."),
                   Sys.Date(), getRversion(), parallel::detectCores(),
                   strsplit(readLines("/proc/loadavg"), " ")[[1]][1]), "",
           "| rounds | replications | serial | multicore, 2 | multisession, 2 | ratio multicore | ratio multisession |",
           "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
           with(rows, sprintf("| %g | %g | %.2f | %.2f | %.2f | %.2f | %.2f |", rounds, replications, sequential,
                              multicore, multisession, multicore / sequential, multisession / sequential)), "",
           sprintf("A plan's processes start in %.1f s (multisession) and %.1f s (multicore), once for all calls.",
                   start[["multisession"]], start[["multicore"]]), "",
           "Again: `Rscript bench/compare_parallel.R`")
cat(lines, sep = "\n")
writeLines(lines, "bench/results/compare_parallel.md")
