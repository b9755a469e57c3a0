# Bandits in stores: what a decision costs with a long log, and what a fleet gets done.
#   Rscript bench/fleet.R [events] [seconds of an evaluation]
# PostgreSQL (a server of our own in a temporary directory, fsync off) where its binaries are there.
# Results: bench/results/fleet.md.

suppressPackageStartupMessages(library(gpbandits))
source("tests/testthat/helper-store.R")
arguments <- commandArgs(TRUE)
events <- if (length(arguments) > 0) as.integer(arguments[1]) else 10000L
pause <- if (length(arguments) > 1) as.double(arguments[2]) else 0.05
x <- seq(0, 1, length.out = 200)

places <- list(sqlite = sqlite_place())
if (!nzchar(postgres_lacks())) places$postgres <- postgres_place()

milliseconds <- function(code) 1000 * system.time(code)[["elapsed"]]

cat(sprintf("ask and tell, ms (median, 95%%) of 200 with a log of %d events; load %s\n", events,
            if (file.exists("/proc/loadavg")) readLines("/proc/loadavg") else "unknown"))
for (kind in names(places)) {
  bandit <- gp_ucb(x, kernel_se(0.1), 0.01, store = store_at(places[[kind]], "long", seed = 1))
  while (nrow(bandit$history()) < events / 2) {
    query <- bandit$suggest(min(500, events / 2))
    bandit$observe(query$id, sin(6 * query$x1))
  }
  once <- function(replica) milliseconds({
    query <- replica$suggest(worker = "bench")
    replica$observe(query$id, sin(6 * query$x1), token = query$token)
  })
  other <- open_bandit(store_at(places[[kind]], "long"))
  opened <- milliseconds(open_bandit(store_at(places[[kind]], "long")))
  alone <- replicate(200, once(bandit))
  turns <- vapply(1:200, function(k) once(if (k %% 2) bandit else other), 0)
  show <- function(t) sprintf("%.1f (%.1f)", stats::median(t), stats::quantile(t, 0.95))
  cat(sprintf("%-9s alone %s   two replicas in turn %s   opening %.0f\n", kind, show(alone), show(turns), opened))
  memory <- gp_ucb(x, kernel_se(0.1), 0.01)
  cat(sprintf("%-9s without a store %s\n", "", show(replicate(200, milliseconds({
    query <- memory$suggest()
    memory$observe(query$id, sin(6 * query$x1))
  })))))
}

cat(sprintf("evaluations a second, each of %g s, by workers\n", pause))
throughput <- function(place, workers, crew) {
  name <- paste(crew, workers)
  store <- store_at(place, name, seed = 1)
  count <- 20L * workers
  objective <- eval(bquote(function(p) {
    Sys.sleep(.(pause))
    sin(6 * p[["x1"]])
  }), envir = globalenv())
  if (crew == "mirai") mirai::daemons(workers) else future::plan("multisession", workers = workers)
  on.exit(if (crew == "mirai") mirai::daemons(0) else future::plan("sequential"))
  maximize_bandit(objective, finite_domain(x), count, kernel = kernel_se(0.1), refit = NULL, store = store, workers = workers)
  done <- tamper(place, "SELECT MIN(since) AS began, MAX(ended) AS ended FROM gpb_lease l JOIN gpb_bandit b ON b.bandit = l.bandit ",
                 "WHERE attempt > 0 AND b.name = '", name, "'")
  count / (done$ended - done$began)
}
for (kind in names(places)) {
  for (crew in c("mirai", "future")) {
    rates <- vapply(c(2, 4, 8, 16), function(workers) throughput(places[[kind]], workers, crew), 0)
    cat(sprintf("%-9s %-7s %s\n", kind, crew, paste(sprintf("%d: %.1f", c(2L, 4L, 8L, 16L), rates), collapse = "   ")))
  }
}
