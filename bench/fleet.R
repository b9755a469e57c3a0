# Bandits in stores: what a decision costs with a long log, and what a fleet gets done.
#   Rscript bench/fleet.R [events] [seconds of an evaluation] [parts: latency,http,throughput,fire]
# PostgreSQL (a server of our own in a temporary directory, fsync off) where its binaries are there.
# Results: bench/results/fleet.md.

suppressPackageStartupMessages(library(gpbandits))
suppressPackageStartupMessages(library(testthat))
for (name in c("testing", "safety", "store")) source(sprintf("tests/testthat/helper-%s.R", name))
arguments <- commandArgs(TRUE)
events <- if (length(arguments) > 0) as.integer(arguments[1]) else 10000L
pause <- if (length(arguments) > 1) as.double(arguments[2]) else 0.05
parts <- if (length(arguments) > 2) strsplit(arguments[3], ",")[[1]] else c("latency", "http", "throughput", "fire")
x <- seq(0, 1, length.out = 200)

points <- list(sqlite = sqlite_location())
if (!nzchar(postgres_lacks())) points$postgres <- postgres_location()

# (system.time() knows whole milliseconds only.)
milliseconds <- function(code) {
  began <- as.double(Sys.time())
  force(code)
  1000 * (as.double(Sys.time()) - began)
}
show <- function(t) sprintf("%.1f (%.1f)", stats::median(t), stats::quantile(t, 0.95))

cat(sprintf("ask and tell, ms (median, 95%%) of 200 with a log of %d events; load %s\n", events,
            if (file.exists("/proc/loadavg")) readLines("/proc/loadavg") else "unknown"))
for (kind in if ("latency" %in% parts) names(points)) {
  bandit <- gp_ucb(x, kernel_se(0.1), 0.01, store = store_at(points[[kind]], "long", seed = 1))
  while (nrow(bandit$history()) < events / 2) {
    query <- bandit$suggest(min(500, events / 2))
    bandit$observe(query$id, sin(6 * query$x1))
  }
  once <- function(replica) milliseconds({
    query <- replica$suggest(worker = "bench")
    replica$observe(query$id, sin(6 * query$x1), token = query$token)
  })
  other <- open_bandit(store_at(points[[kind]], "long"))
  opened <- milliseconds(open_bandit(store_at(points[[kind]], "long")))
  alone <- replicate(200, once(bandit))
  turns <- vapply(1:200, function(k) once(if (k %% 2) bandit else other), 0)
  con <- points[[kind]]$connect()
  trip <- replicate(200, milliseconds(suppressWarnings(DBI::dbGetQuery(con, "SELECT 1 AS one", immediate = TRUE))))
  DBI::dbDisconnect(con)
  cat(sprintf("%-9s one SELECT 1: %s\n", kind, show(trip)))
  cat(sprintf("%-9s alone %s   two replicas in turn %s   opening %.0f\n", kind, show(alone), show(turns), opened))
  memory <- gp_ucb(x, kernel_se(0.1), 0.01)
  cat(sprintf("%-9s without a store %s\n", "", show(replicate(200, milliseconds({
    query <- memory$suggest()
    memory$observe(query$id, sin(6 * query$x1))
  })))))
}

# One connection, as a client that means it keeps it: this package's own service in a second process, curl's library (or R's sockets).
if ("http" %in% parts && requireNamespace("curl", quietly = TRUE) && requireNamespace("httpuv", quietly = TRUE)) {
  source("tests/testthat/helper-service.R")
  for (kind in names(points)) {
    bandit <- gp_ucb(x, kernel_se(0.1), 0.01, store = store_at(points[[kind]], "served", seed = 1))
    service <- start_service(points[[kind]], strrep("k", 20), name = "served")
    handle <- curl::new_handle()
    ask <- function(path, body) {
      curl::handle_setopt(handle, post = TRUE, postfields = body)
      curl::handle_setheaders(handle, Authorization = paste("Bearer", strrep("k", 20)), "Content-Type" = "application/json")
      jsonlite::parse_json(rawToChar(curl::curl_fetch_memory(paste0(service$url, path), handle)$content), simplifyVector = TRUE)
    }
    both <- replicate(200, {
      suggest <- milliseconds(query <- ask("/suggest", '{"worker": "bench"}')$queries)
      observe <- milliseconds(ask("/observe", sprintf('{"id": %d, "reward": 0.5, "token": "%s"}', query$id, query$token)))
      c(suggest, observe)
    })
    service$end()
    cat(sprintf("%-9s over HTTP, ms: suggest %s   observe %s\n", kind, show(both[1, ]), show(both[2, ])))
  }
}

if ("throughput" %in% parts) cat(sprintf("evaluations a second, each of %g s, by workers\n", pause))
throughput <- function(point, workers, crew) {
  name <- paste(crew, workers)
  store <- store_at(point, name, seed = 1)
  count <- 20L * workers
  objective <- eval(bquote(function(p) {
    Sys.sleep(.(pause))
    sin(6 * p[["x1"]])
  }), envir = globalenv())
  if (crew == "mirai") mirai::daemons(workers) else future::plan("multisession", workers = workers)
  on.exit(if (crew == "mirai") mirai::daemons(0) else future::plan("sequential"))
  maximize_bandit(objective, finite_domain(x), count, model = gp_model(kernel = kernel_se(0.1), refit = NULL),
                  store = store, workers = workers)
  done <- tamper(point, "SELECT MIN(since) AS began, MAX(ended) AS ended FROM gpb_lease l JOIN gpb_bandit b ON b.bandit = l.bandit ",
                 "WHERE attempt > 0 AND b.name = '", name, "'")
  count / (done$ended - done$began)
}
for (kind in if ("throughput" %in% parts) names(points)) {
  for (crew in c("mirai", "future")) {
    for (workers in c(1L, 2L, 4L, 8L, 16L)) {
      cat(sprintf("%-9s %-7s %2d: %.1f\n", kind, crew, workers, throughput(points[[kind]], workers, crew)))
    }
  }
}

# A worker killed after each tenth reward, the driver twice: what came of it is checked as in the tests.
for (kind in if ("fire" %in% parts) names(points)) {
  point <- if (kind == "sqlite") sqlite_location() else postgres_location()
  bandit <- fleet_bandit(point, 1000)
  seen <- fleet_under_fire(point, 1000, 20, each = 10, pause = pause, lease = 5)
  testthat::test_that("whole", expect_complete_fleet(point, bandit, 1000))
  cat(sprintf("%-9s 1000 evaluations of 20 workers under fire: %.0f s, %.1f a second, %d workers and %d drivers killed\n", kind,
              seen$seconds, seen$per_second, as.integer(seen$workers_killed), as.integer(seen$drivers_killed)))
}
