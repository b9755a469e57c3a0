# What a compiler and a linter have to say: lintr on R, every warning of gcc and
# clang on C++, cppcheck, and functions longer than a screen (60 lines).
#   Rscript tools/lint.R
# Exits with 1 if anything is found. A tool that is missing is left out and said.

screen <- 60
found <- 0L
report <- function(title, lines) {
  lines <- lines[nzchar(lines)]
  found <<- found + length(lines)
  cat(sprintf("== %s: %s\n", title, if (length(lines)) "" else "nothing found"))
  if (length(lines)) cat(lines, sep = "\n")
}
leave_out <- function(tool) cat(sprintf("== %s: not here, left out\n", tool))

# Tables in help pages cannot be broken, and tests may put a case on a line.
excused <- function(lint) {
  grepl("^ *#'", lint$line) || (startsWith(lint$filename, "tests/") &&
                                  lint$linter %in% c("line_length_linter", "semicolon_linter"))
}

lint_r <- function() {
  if (!requireNamespace("lintr", quietly = TRUE)) return(leave_out("lintr"))
  lints <- Filter(Negate(excused), suppressWarnings(lintr::lint_package(".")))
  report("lintr", vapply(lints, function(l) {
    sprintf("%s:%d: %s [%s]", l$filename, l$line_number, l$message, l$linter)
  }, ""))
}

# Every `function` in a file that spans more lines than a screen has.
long_functions <- function(file) {
  tokens <- utils::getParseData(parse(file, keep.source = TRUE))
  bodies <- tokens[tokens$id %in% tokens$parent[tokens$token == "FUNCTION"], ]
  long <- bodies[bodies$line2 - bodies$line1 + 1 > screen, ]
  sprintf("%s:%d: a function of %d lines", file, long$line1, long$line2 - long$line1 + 1)
}

lint_length <- function() {
  files <- setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/RcppExports.R")
  report("functions longer than a screen", unlist(lapply(files, long_functions)))
}

sources <- function() setdiff(list.files("src", "[.]cpp$", full.names = TRUE), "src/RcppExports.cpp")

# Headers of others are system headers here: their warnings are not ours to mend.
includes <- function() {
  linked <- vapply(c("Rcpp", "RcppEigen"), function(p) system.file("include", package = p), "")
  paste("-isystem", shQuote(c(R.home("include"), linked)))
}

lint_compiler <- function(compiler) {
  if (!nzchar(Sys.which(compiler))) return(leave_out(compiler))
  flags <- c("-std=gnu++17", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Wshadow",
             "-DEIGEN_MPL2_ONLY", includes())
  said <- unlist(lapply(sources(), function(file) {
    suppressWarnings(system2(compiler, c(flags, file), stdout = TRUE, stderr = TRUE))
  }))
  report(paste(compiler, "-Wall -Wextra -pedantic -Wshadow"),
         unique(grep("(warning|error):", said, value = TRUE)))
}

lint_cppcheck <- function() {
  if (!nzchar(Sys.which("cppcheck"))) return(leave_out("cppcheck"))
  flags <- c("--enable=warning,performance,portability", "--std=c++17", "--quiet", "--inline-suppr",
             "--suppress=missingIncludeSystem", "--suppress=*:src/RcppExports.cpp",
             "--template={file}:{line}:{severity}:{id}:{message}", "src")
  said <- system2("cppcheck", shQuote(flags), stdout = TRUE, stderr = TRUE)
  # cppcheck adds some matters of style unasked
  report("cppcheck", grep(":style:", said, value = TRUE, invert = TRUE))
}

# The core knows nothing of R: only export_*.cpp and the adapters r_* may include it.
lint_boundary <- function() {
  files <- list.files("src", "[.](h|cpp)$", full.names = TRUE)
  core <- files[!grepl("^(export_|r_|RcppExports)", basename(files))]
  bad <- unlist(lapply(core, function(file) {
    lines <- grep("#include +[<\"](Rcpp|R|Rinternals|Rmath|R_ext)", readLines(file), value = TRUE)
    if (length(lines)) paste0(file, ": ", lines)
  }))
  report("R inside the core", if (is.null(bad)) "" else bad)
}

lint_r()
lint_length()
lint_boundary()
lint_compiler("g++")
lint_compiler("clang++")
lint_cppcheck()
quit(status = if (found) 1 else 0)
