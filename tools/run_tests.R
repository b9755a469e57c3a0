# Runs the tests against the installed package and counts them, on up to four processes side by side.
#   Rscript tools/run_tests.R [FILTER]
# Writes build/tests.rds (testthat's table) and build/tests.txt: "PASSED FAILED
# SKIPPED", the numbers of test_that() blocks. A file that stops outside of any
# block counts as a failure.
# testthat's parallel mode takes at least 1.5 times as long: 132 and 216 s, and this script 85 and 86 s, for 20 files with
# 219 tests on two processes each (testthat 3.1.6, two busy cores). If a process dies there, all results are lost; here
# those of its file.

suppressMessages(library(testthat))
arguments <- commandArgs(TRUE)

# Where a process's files find the helpers, which are read (and compiled, and a server of theirs started) once for all.
helped <- function() {
  suppressMessages(library(gpbandits))
  env <- test_env("gpbandits")
  source_test_helpers("tests/testthat", env)
  env
}

# The results of one file, and what was said of it.
run_file <- function(file, env) {
  list <- ListReporter$new()
  shown <- SummaryReporter$new(show_praise = FALSE)
  said <- utils::capture.output(results <- tryCatch(
    test_dir("tests/testthat", package = "gpbandits", load_package = "installed", env = env, load_helpers = FALSE,
             filter = paste0("^", sub("^test-(.*)[.]R$", "\\1", file), "$"),
             reporter = MultiReporter$new(reporters = list(list, shown)), stop_on_failure = FALSE),
    error = function(e) {
      message("the tests stopped in ", file, ": ", conditionMessage(e))
      NULL
    }))
  list(table = as.data.frame(if (is.null(results)) list$get_results() else results), stopped = is.null(results),
       said = said)
}

# A worker takes the next file that no other has taken: making a folder succeeds once.
work <- function(queue, listing) {
  file.create(file.path(queue, paste0("pid-", Sys.getpid())))
  env <- helped()
  for (file in readLines(file.path(queue, listing))) {
    if (!dir.create(file.path(queue, file), showWarnings = FALSE)) next
    result <- run_file(file, env)
    bad <- result$stopped || any(result$table$failed > 0 | result$table$error)
    cat(sprintf("%s: %d tests, %.0f s%s\n", file, nrow(result$table), sum(result$table$real), if (bad) ": FAILED" else ""))
    if (bad) writeLines(result$said)
    # There as a whole or not at all: the first process looks for it.
    saveRDS(result[c("table", "stopped")], file.path(queue, file, "result.part"))
    file.rename(file.path(queue, file, "result.part"), file.path(queue, file, "result.rds"))
  }
}

if (identical(arguments[1], "--worker")) {
  # (What tests start begins as it does anywhere.)
  Sys.unsetenv(c("R_NSIZE", "R_VSIZE"))
  # (R keeps a table of every word of a file that it parses. It is saved and read with each function of a test: most of
  # the time of journals with such functions. Failures have their line numbers without it.)
  options(keep.parse.data = FALSE)
  work(arguments[2], arguments[3])
  quit(status = 0)
}

# What lies in the repository and is not of it, as git sees it: tests leave nothing there.
lying_here <- function() {
  found <- tryCatch(suppressWarnings(system2("git", c("-c", "core.quotePath=true", "ls-files", "--others", "--exclude-standard"),
                                            stdout = TRUE, stderr = FALSE)),
                    error = function(e) NULL)
  if (is.null(attr(found, "status"))) found
}
before <- lying_here()

dir.create("build", showWarnings = FALSE)
unlink(c("build/tests.rds", "build/tests.txt"))
started <- proc.time()[["elapsed"]]
# (Outside of the folder that R removes as it ends.)
queue <- tempfile("queue", tmpdir = dirname(tempdir()))
dir.create(queue)
files <- list.files("tests/testthat", "^test-.*[.]R$")
if (length(arguments)) files <- files[grepl(arguments[1], sub("^test-(.*)[.]R$", "\\1", files))]
# Long ones first, so that all end together: they are long to read too.
files <- files[order(-file.size(file.path("tests/testthat", files)))]
long <- c("store", "mlr3", "search-race", "plot", "errors-bad-input", "bandit-refit-smoothness", "rule-changes",
          "outcomes-transform", "bandit-transfer", "search-maximize-calibration", "bandit-check-mutations")
# Those that mostly wait, for processes of theirs and a browser, are two workers', beside whom the processors are busy.
waiting <- c("store-worker-killed", "store-worker", "store-fleet", "service-page", "search-workers", "service", "store-postgres",
             "store-sql", "store-sqlite", "store-lease", "store-process", "mlr3-async", "run-interrupt", "run-compare",
             "search-objective", "gpbandits-package-masks")
queued <- function(names) intersect(sprintf("test-%s.R", names), files)
rest <- setdiff(files, queued(c(long, waiting)))
writeLines(c(queued(waiting), queued(long), rest), file.path(queue, "waiting_first"))
writeLines(c(queued(long), rest, queued(waiting)), file.path(queue, "waiting_last"))

# (R's collector, begun with a larger heap, takes a third of the time.)
Sys.setenv(R_NSIZE = "3000000", R_VSIZE = "200M")
# (Four on two processors: two of them wait.)
workers <- min(length(files), if (isTRUE(parallel::detectCores() > 1)) 4L else 1L)
listings <- rep(c("waiting_first", "waiting_last"), 2)
said <- file.path(queue, paste0("said", seq_len(workers)))
pids <- function() as.integer(sub("pid-", "", list.files(queue, "^pid-")))
# Each worker leads a group of its own, in which its processes are: when we have ended, however we went (Ctrl-C,
# kill -9), they are ended.
group <- if (nzchar(Sys.which("setsid"))) "setsid "
end_workers <- c(sprintf("for worker in %s/pid-*; do", shQuote(queue)), "  pid=${worker##*pid-}",
                 "  for signal in TERM KILL; do kill -$signal -$pid $pid; sleep 1; done", "done",
                 paste("rm -rf", shQuote(queue)))
writeLines(end_workers, file.path(queue, "end"))
system(paste0(group, "sh tests/testthat/after.sh ", Sys.getpid(), " ", shQuote(file.path(queue, "end")),
              " </dev/null >/dev/null 2>&1"), wait = FALSE)
command <- paste0(group, shQuote(file.path(R.home("bin"), "Rscript")), " tools/run_tests.R --worker ", shQuote(queue))
# (The first one says what it does as it goes.)
to <- c("", paste(" >", shQuote(said), "2>&1")[-1])
for (k in seq_len(workers)) system(paste0(command, " ", listings[k], " </dev/null", to[k]), wait = FALSE)
done <- function() file.exists(file.path(queue, files, "result.rds"))
# Does a worker run? (Those of whose end nobody has asked do not.)
source("tests/testthat/helper-processes.R")
alive <- function() length(running(pids())) > 0
elapsed <- function() proc.time()[["elapsed"]]
# An hour without a file that ends is an emergency; so are workers that have not begun after ten minutes.
latest <- elapsed()
ended <- 0
while (!all(done())) {
  if (sum(done()) > ended) latest <- elapsed()
  ended <- sum(done())
  if (if (length(pids()) == workers) !alive() else elapsed() > latest + 600) break
  if (elapsed() > latest + 3600) {
    cat("no file of tests has ended for an hour: given up\n")
    break
  }
  Sys.sleep(0.2)
}
for (one in said[-1]) if (file.exists(one)) writeLines(readLines(one, warn = FALSE))

results <- lapply(file.path(queue, files[done()], "result.rds"), readRDS)
stopped <- sum(!done()) + sum(vapply(results, `[[`, NA, "stopped"))
if (!all(done())) cat("no results of: ", paste(files[!done()], collapse = ", "), "\n", sep = "")
table <- do.call(rbind, lapply(results, `[[`, "table"))
if (all(done())) unlink(queue, recursive = TRUE)             # (else it says whom to end, once we have)

if (NROW(table)) {
  failed <- table$failed > 0 | table$error
  skipped <- table$skipped & !failed
  slow <- table[order(-table$real), ][seq_len(min(8, nrow(table))), ]
  cat("\nslowest:\n", sprintf("  %6.1f s  %s: %s\n", slow$real, slow$file, slow$test), sep = "")
} else {
  failed <- skipped <- logical()
}
left <- setdiff(lying_here(), before)
if (length(left)) cat("left behind in the repository: ", paste(left, collapse = ", "), "\n", sep = "")
counts <- c(sum(!failed & !skipped), sum(failed) + stopped + (length(left) > 0), sum(skipped))
saveRDS(table, "build/tests.rds")
writeLines(paste(counts, collapse = " "), "build/tests.txt")
cat(sprintf("tests: %d passed, %d failed, %d skipped (%d expectations, %.0f s)\n",
            counts[1], counts[2], counts[3], sum(table$nb), proc.time()[["elapsed"]] - started))
quit(status = if (counts[2] > 0 || counts[1] == 0) 1 else 0)
