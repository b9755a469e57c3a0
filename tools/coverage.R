# Which share of the lines the tests run, R and C++: covr compiles an instrumented copy and runs the test files that match
# the argument, a regular expression (all without). Report: build/coverage.txt, with the lines that no test runs. (covr
# cannot see functions in lists; a process that is killed leaves no counts.)
# Counters are statements of their own: two tests that strike every statement in turn fail under them, which stops nothing.
filter <- commandArgs(TRUE)
# `make test`'s own runner: its processes side by side each leave what they saw, and are given time to.
run_tests <- c(sprintf("setwd('%s')", normalizePath(".")),
               sprintf("system2(file.path(R.home('bin'), 'Rscript'), c('tools/run_tests.R', shQuote('%s')))", paste(filter, collapse = "|")),
               "Sys.sleep(20)")
# Without any optimisation Eigen's loops, and the tests with them, take an hour.
flags <- "-O1 -fprofile-arcs -ftest-coverage"
options(covr.flags = c(CXXFLAGS = flags, CXX17FLAGS = flags, LDFLAGS = "--coverage"))
# A copy into which what tests call of the core is compiled.
copy <- "build/coverage-source"
stopifnot(system2("tools/copy.sh", copy) == 0)
covered <- function(...) {
  covr::package_coverage(copy, quiet = FALSE, line_exclusions = c("src/RcppExports.cpp", "src/testing.cpp"), ...)
}
# What a process that was killed had begun to write cannot be read.
drop_torn <- paste("for (file in list.files(.libPaths()[1], '^covr_trace_', full.names = TRUE))",
                   "if (inherits(try(readRDS(file), silent = TRUE), 'try-error')) unlink(file)")
found <- covered(type = "none", code = c(run_tests, drop_torn))
dir.create("build", showWarnings = FALSE)
lines <- as.data.frame(covr::tally_coverage(found, by = "line"))
side <- ifelse(grepl("^R/", lines$filename), "R", "C++")
share <- function(value) sprintf("%.1f%% of %d lines", 100 * mean(value > 0), length(value))
by_side <- vapply(split(lines$value, side), share, "")
by_file <- sort(vapply(split(lines$value, lines$filename), function(v) 100 * mean(v > 0), 0))
missed <- lapply(split(lines[lines$value == 0, ], lines$filename[lines$value == 0]), function(file) file$line)
report <- c(sprintf("%s: %s", names(by_side), by_side), paste("all:", share(lines$value)), "", "by file:",
            sprintf("  %5.1f%%  %s", by_file, names(by_file)), "", "lines that no test runs:",
            vapply(names(missed), function(file) paste0("  ", file, ": ", paste(missed[[file]], collapse = " ")), ""))
writeLines(report, "build/coverage.txt")
writeLines(report[seq_len(length(by_side) + 1)])
