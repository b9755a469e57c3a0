# Runs the tests against the installed package and counts them.
#   Rscript tools/run_tests.R [FILTER]
# Writes build/tests.rds (testthat's table) and build/tests.txt: "PASSED FAILED
# SKIPPED", the numbers of test_that() blocks. A file that stops outside of any
# block counts as a failure.

filter <- commandArgs(TRUE)
filter <- if (length(filter)) filter[1]
dir.create("build", showWarnings = FALSE)
unlink(c("build/tests.rds", "build/tests.txt"))

suppressMessages(library(testthat))
started <- proc.time()[["elapsed"]]
list <- ListReporter$new()
shown <- SummaryReporter$new(show_praise = FALSE)
results <- tryCatch(
  test_dir("tests/testthat", package = "gpbandits", load_package = "installed", filter = filter,
           reporter = MultiReporter$new(reporters = list(list, shown)), stop_on_failure = FALSE),
  error = function(e) {
    message("the tests stopped: ", conditionMessage(e))
    NULL
  })
table <- as.data.frame(if (is.null(results)) list$get_results() else results)

if (nrow(table)) {
  failed <- table$failed > 0 | table$error
  skipped <- table$skipped & !failed
  slow <- table[order(-table$real), ][seq_len(min(5, nrow(table))), ]
  cat("\nslowest:\n", sprintf("  %6.1f s  %s: %s\n", slow$real, slow$file, slow$test), sep = "")
} else {
  failed <- skipped <- logical()
}
counts <- c(sum(!failed & !skipped), sum(failed) + is.null(results), sum(skipped))
saveRDS(table, "build/tests.rds")
writeLines(paste(counts, collapse = " "), "build/tests.txt")
cat(sprintf("tests: %d passed, %d failed, %d skipped (%d expectations, %.0f s)\n",
            counts[1], counts[2], counts[3], sum(table$nb), proc.time()[["elapsed"]] - started))
quit(status = if (counts[2] > 0 || counts[1] == 0) 1 else 0)
