# What a compiler and a linter have to say: lintr on R, every warning of gcc and clang on C++, cppcheck; and rules of the
# package: functions of at most 60 lines and lines of at most 120 characters in R and C++, help included, and a first
# line of each file that says what it holds.
#   Rscript tools/lint.R
# Exits with 1 if anything is found. A tool that is missing is left out and said.

source("tools/cpp_text.R")
screen <- 60
processors <- if (.Platform$OS.type == "windows") 1L else max(1L, parallel::detectCores(), na.rm = TRUE)
found <- 0L
report <- function(title, lines) {
  lines <- lines[nzchar(lines)]
  found <<- found + length(lines)
  cat(sprintf("== %s: %s\n", title, if (length(lines)) "" else "nothing found"))
  if (length(lines)) cat(lines, sep = "\n")
}
leave_out <- function(tool) cat(sprintf("== %s: not here, left out\n", tool))

# Tests may put a case on a line.
excused <- function(lint) {
  startsWith(lint$filename, "tests/") && lint$linter %in% c("line_length_linter", "semicolon_linter")
}

lint_r <- function() {
  if (!requireNamespace("lintr", quietly = TRUE)) return(leave_out("lintr"))
  lints <- Filter(Negate(excused), suppressWarnings(lintr::lint_package(".")))
  report("lintr", vapply(lints, function(l) {
    sprintf("%s:%d: %s [%s]", l$filename, l$line_number, l$message, l$linter)
  }, ""))
}

lint_spelling <- function() {
  if (!requireNamespace("spelling", quietly = TRUE)) return(leave_out("spelling"))
  found <- spelling::spell_check_package(".")
  points <- vapply(found$found, function(at) paste(at, collapse = ", "), "")
  report("words that are not in inst/WORDLIST", if (length(points)) paste0(found$word, " (", points, ")"))
}

# Every `function` in a file that spans more lines than a screen has.
long_functions <- function(file) {
  tokens <- utils::getParseData(parse(file, keep.source = TRUE))
  bodies <- tokens[tokens$id %in% tokens$parent[tokens$token == "FUNCTION"], ]
  long <- bodies[bodies$line2 - bodies$line1 + 1 > screen, ]
  sprintf("%s:%d: a function of %d lines", file, long$line1, long$line2 - long$line1 + 1)
}

# Functions of a C++ file that span more lines than a screen has.
long_cpp_functions <- function(file) {
  parts <- cpp_parts(file)
  lines <- parts$last - parts$first + 1L
  long <- parts$kind == "body" & grepl("(", parts$head, fixed = TRUE) & lines > screen
  sprintf("%s:%d: a function of %d lines", file, parts$first[long], lines[long])
}

lint_length <- function() {
  files <- setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/RcppExports.R")
  report("functions longer than a screen",
         c(unlist(lapply(files, long_functions)), unlist(lapply(sources(pattern = cpp_files), long_cpp_functions))))
}

# lintr does not read C++.
lint_cpp_lines <- function() {
  report("C++ lines above 120 characters", unlist(lapply(sources(pattern = cpp_files), function(file) {
    at <- which(nchar(readLines(file, encoding = "UTF-8")) > 120)
    sprintf("%s:%d", file, at)[seq_along(at)]
  })))
}

# Each file begins with a comment, a sentence that says what it holds; a file of R/ names its layer too.
lint_first_lines <- function() {
  first <- function(file) readLines(file, n = 1, encoding = "UTF-8")
  in_r <- setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/RcppExports.R")
  in_cpp <- sources(pattern = cpp_files)
  bare <- c(in_r[!grepl("^# .+[.] Layer: [a-z]+[.]$", vapply(in_r, first, ""))],
            in_cpp[!grepl("^// [A-Za-z`]", vapply(in_cpp, first, ""))])
  report("files whose first line does not say what they hold", bare)
}

cpp_files <- "[.](cpp|h)$"

sources <- function(folder = "src", pattern = "[.]cpp$") {
  setdiff(list.files(folder, pattern, full.names = TRUE, recursive = TRUE), "src/RcppExports.cpp")
}

# Headers of others are system headers here: their warnings are not ours to mend.
includes <- function(r = TRUE) {
  linked <- vapply(c(if (r) "Rcpp", "RcppEigen"), function(p) system.file("include", package = p), "")
  c("-Isrc/core", if (r) "-Isrc", paste("-isystem", shQuote(c(if (r) R.home("include"), eigen_alone(linked, r)))))
}

# RcppEigen's folder holds headers of R's too: the core gets a folder with Eigen alone.
eigen_alone <- function(folders, r) {
  if (r) return(folders)
  alone <- file.path(tempdir(), "eigen")
  dir.create(alone, showWarnings = FALSE)
  file.symlink(file.path(folders[["RcppEigen"]], c("Eigen", "unsupported")), alone)
  alone
}

lint_compiler <- function(compiler) {
  if (!nzchar(Sys.which(compiler))) return(leave_out(compiler))
  flags <- c("-std=gnu++17", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Wshadow", "-DEIGEN_MPL2_ONLY")
  check <- function(files, folders) unlist(parallel::mclapply(files, function(file) {
    suppressWarnings(system2(compiler, c(flags, folders, file), stdout = TRUE, stderr = TRUE))
  }, mc.cores = processors))
  # The core knows nothing of R: it is compiled with no header of R's on the path, each file by itself. (The units of
  # the build include the same files.)
  core <- sources("src/core")
  others <- setdiff(sources(), c(core, sources("src/units")))
  said <- c(check(core, includes(r = FALSE)), check(c(others, sources("tests/testthat/cpp")), includes()))
  report(paste(compiler, "-Wall -Wextra -pedantic -Wshadow"),
         unique(grep("(warning|error):", said, value = TRUE)))
}

lint_cppcheck <- function() {
  if (!nzchar(Sys.which("cppcheck"))) return(leave_out("cppcheck"))
  flags <- c("--enable=warning,performance,portability", "--std=c++17", "--quiet", "--inline-suppr",
             "--suppress=missingIncludeSystem", "--suppress=*:src/RcppExports.cpp", "-isrc/units",
             "--template={file}:{line}:{severity}:{id}:{message}", paste0("-j", processors), "-Isrc/core", "src")
  said <- system2("cppcheck", shQuote(flags), stdout = TRUE, stderr = TRUE)
  # cppcheck adds some matters of style unasked
  report("cppcheck", grep(":style:", said, value = TRUE, invert = TRUE))
}

# What a script says, if it exits with a status other than 0.
said_by <- function(script) {
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status"))) said
}

lint_units <- function() {
  report("units and objects of the build (tools/units.sh)",
         suppressWarnings(system2("tools/units.sh", "--check", stdout = TRUE)))
}

lint_core_files <- function() report("files and includes of the core (tools/core_files.R)", said_by("tools/core_files.R"))

# tools/prose.R prints a table, and what is above its limits.
lint_prose <- function() report("sentences and words (tools/prose.R)", said_by("tools/prose.R"))

lint_r()
lint_spelling()
lint_prose()
lint_length()
lint_cpp_lines()
lint_first_lines()
lint_units()
lint_core_files()
lint_compiler("g++")
lint_compiler("clang++")
lint_cppcheck()
quit(status = if (found) 1 else 0)
