# What `R CMD INSTALL` costs those who have no compiler cache: a clean copy, R's own flags, one process.
#   Rscript tools/build_time.R [FILE]
# Prints seconds of processor (what else the machine does matters less to them than to the clock) and writes them to
# FILE (bench/results/build.md).

file <- c(commandArgs(TRUE), "bench/results/build.md")[1]
config <- function(name) system2(file.path(R.home("bin"), "R"), c("CMD", "config", name), stdout = TRUE)
Sys.setenv(R_MAKEVARS_USER = "/dev/null")   # R's own flags
compiler <- system2(strsplit(config("CXX17"), " ")[[1]][1], "--version", stdout = TRUE)[1]
flags <- paste(grep("^-[gO]", strsplit(config("CXX17FLAGS"), " +")[[1]], value = TRUE), collapse = " ")

unlink("build/time", recursive = TRUE)
dir.create("build/time/lib", recursive = TRUE)
point <- normalizePath("build/time")
inside <- function(...) file.path(point, ...)
writeLines(sprintf("CXX17 := %s $(CXX17)", normalizePath("tools/timed.sh")), inside("Makevars"))
Sys.setenv(R_MAKEVARS_USER = inside("Makevars"), CCACHE_DISABLE = "1", MAKEFLAGS = "-j1", TIMES = inside("times"))
spent <- system.time(status <- system2("tools/install.sh", c("--plain", inside("source"), inside("lib")),
                                       stdout = inside("install.log"), stderr = inside("install.log")))
if (status != 0) stop("the package could not be installed: see build/time/install.log")
warnings <- sum(grepl("warning:", readLines(inside("install.log")), fixed = TRUE))

made <- utils::read.table(inside("times"), col.names = c("file", "user", "system", "kb"))
made$seconds <- made$user + made$system
linked <- grepl("[.](so|dll|sl)$", made$file)
compiled <- made[!linked, ]
compiled$file <- sub("[.]o$", ".cpp", compiled$file)
slowest <- utils::head(compiled[order(-compiled$seconds), ], 10)

library_file <- Sys.glob(inside("lib", "gpbandits", "libs", "*"))[1]
megabytes <- function(files) sprintf("%.3f MB", sum(file.size(files)) / 2^20)
seconds <- function(x) sprintf("%.1f s", x)
row <- function(...) paste0("| ", paste(..., sep = " | "), " |")
lines <- c(
  "# The price of building the package", "",
  sprintf("Written by `make build-time`; %s, %s, R's own flags (`%s`), one process, no compiler cache, a clean copy.",
          R.version.string, compiler, flags),
  "Seconds of processor, user and system.", "",
  row("what", "value"), row("---", "---"),
  row("`R CMD INSTALL .`", seconds(spent[["user.child"]] + spent[["sys.child"]])),
  row(sprintf("of it the compiler, %d files", nrow(compiled)), seconds(sum(compiled$seconds))),
  row("and the linker", seconds(sum(made$seconds[linked]))),
  row("memory of the compiler at the most", sprintf("%.2f GB", max(made$kb) / 2^20)),
  row("warnings of the compiler", warnings),
  row("installed package", megabytes(list.files(inside("lib"), recursive = TRUE, full.names = TRUE))),
  row("of it the library", megabytes(library_file)), "",
  "The ten slowest files:", "",
  row("file", "seconds", "memory"), row("---", "---", "---"),
  row(slowest$file, sprintf("%.1f", slowest$seconds), sprintf("%.2f GB", slowest$kb / 2^20)))
cat(lines, sep = "\n")
writeLines(lines, file)
