# Each hand-written loop of src/core/linalg against Eigen and BLAS, compiled as R compiles packages.
#   Rscript bench/linalg.R      (in the repository; needs a compiler, Rcpp and RcppEigen)
# Prints a table and writes bench/results/linalg.md. A loop stays in the package only while it
# wins here. Wall-clock time, the fastest of 60 batches that take turns.

build <- tempfile("linalg")
dir.create(build)
sources <- c(list.files("src/core/linalg", "\\.cpp$", full.names = TRUE), file.path("src/core/base", c("failures.cpp", "vectors.cpp")))
stopifnot(file.copy(c("bench/linalg.cpp", sources), file.path(build, c("bench_linalg.cpp", basename(sources)))))
include <- c(normalizePath("src/core"), system.file("include", package = "RcppEigen"))
Sys.setenv(PKG_CPPFLAGS = paste(c("-DEIGEN_MPL2_ONLY", sprintf("-I'%s'", include)), collapse = " "),
           PKG_CXXFLAGS = "-Wno-ignored-attributes", PKG_LIBS = "$(LAPACK_LIBS) $(BLAS_LIBS) $(FLIBS)", USE_CXX17 = "1")
library_file <- file.path(build, paste0("bench_linalg", .Platform$dynlib.ext))
status <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", library_file, file.path(build, "*.cpp")),
                  stdout = FALSE, stderr = FALSE)
stopifnot(status == 0)
dyn.load(library_file)

measure <- function(name, n, r) {
  spent <- .C("bench_linalg", name, as.integer(n), as.integer(r), double(3), NAOK = TRUE)[[4]]
  data.frame(loop = name, size = sprintf("%d x %d", n, r), us = 1e6 * spent[1],
             eigen = spent[2] / spent[1], blas = spent[3] / spent[1])
}
cases <- function(name, n, r) do.call(rbind, Map(measure, name, n, r))

kept <- rbind(
  cases("rank_one_sweep", c(1000, 1000, 20000), c(20, 100, 100)),
  cases("append_sweep", c(1000, 1000, 20000), c(20, 200, 100)),
  cases("product_sweep", c(64, 1000, 1000, 20000), c(64, 20, 100, 100)),
  cases("subtract_outer", c(64, 1000), c(64, 500)),
  cases("first_upper_bound", c(1000, 20000), 1),
  cases("panels, all rows", c(256, 1000), c(200, 500)),
  cases("panels, one row", c(1000, 1000), c(200, 500)),
  cases("accumulate_rows", c(1000, 1000), c(200, 500)),
  cases("growing forward", 1, c(100, 400, 1000)),
  cases("growing backward", 1, c(100, 400, 1000)),
  cases("symmetric_sweep", 1, c(100, 300, 600)),
  cases("squared distances", c(100, 100, 512), c(2, 10, 10)),
  cases("matern_correlations", c(100, 512), 1),
  cases("cosines", c(64, 512), 1))
deleted <- cases("potter_gain", 1, c(20, 64, 200, 500))

table_lines <- function(frame) {
  shown <- data.frame(frame$loop, frame$size, sprintf("%.3g", frame$us), sprintf("%.2f", frame$eigen),
                      ifelse(is.nan(frame$blas), "", sprintf("%.2f", frame$blas)))
  c("| loop | n x r | microseconds | Eigen takes | BLAS takes |", "|---|---|---|---|---|",
    paste0("| ", do.call(paste, c(shown, sep = " | ")), " |"))
}
processor <- function() {
  flags <- if (file.exists("/proc/cpuinfo")) grep("^flags", readLines("/proc/cpuinfo"), value = TRUE)[1] else ""
  if (grepl("\\bavx2\\b", flags)) "AVX2 found and used" else "no AVX2 found"
}
lines <- c(
  "# Hand-written loops against Eigen and BLAS", "",
  sprintf("Written by `Rscript bench/linalg.R`; %s, %s, BLAS %s.", R.version.string, processor(),
          basename(extSoftVersion()[["BLAS"]])),
  "\"Eigen takes 2\": twice the time of the hand-written loop, in the same run, with R's compiler flags.", "",
  table_lines(kept), "",
  "## Deleted from the package, for Eigen does better", "",
  "`potter_gain`: v = A'x and A v in one pass over an r x r matrix.", "",
  table_lines(deleted))
cat(lines, sep = "\n")
dir.create("bench/results", showWarnings = FALSE, recursive = TRUE)
writeLines(lines, "bench/results/linalg.md")
