# What a compiler and a linter have to say: lintr on R, every warning of gcc and
# clang on C++, cppcheck, and functions longer than a screen (60 lines).
#   Rscript tools/lint.R
# Exits with 1 if anything is found. A tool that is missing is left out and said.

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

lint_spelling <- function() {
  if (!requireNamespace("spelling", quietly = TRUE)) return(leave_out("spelling"))
  found <- spelling::spell_check_package(".")
  places <- vapply(found$found, function(at) paste(at, collapse = ", "), "")
  report("words that are not in inst/WORDLIST", if (length(places)) paste0(found$word, " (", places, ")"))
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

sources <- function(folder = "src") {
  setdiff(list.files(folder, "[.]cpp$", full.names = TRUE, recursive = TRUE), "src/RcppExports.cpp")
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
  # The core knows nothing of R: it is compiled with no header of R's on the path.
  core <- sources("src/core")
  said <- c(check(core, includes(r = FALSE)), check(c(setdiff(sources(), core), sources("tests/testthat/cpp")), includes()))
  report(paste(compiler, "-Wall -Wextra -pedantic -Wshadow"),
         unique(grep("(warning|error):", said, value = TRUE)))
}

lint_cppcheck <- function() {
  if (!nzchar(Sys.which("cppcheck"))) return(leave_out("cppcheck"))
  flags <- c("--enable=warning,performance,portability", "--std=c++17", "--quiet", "--inline-suppr",
             "--suppress=missingIncludeSystem", "--suppress=*:src/RcppExports.cpp",
             "--template={file}:{line}:{severity}:{id}:{message}", paste0("-j", processors), "-Isrc/core", "src")
  said <- system2("cppcheck", shQuote(flags), stdout = TRUE, stderr = TRUE)
  # cppcheck adds some matters of style unasked
  report("cppcheck", grep(":style:", said, value = TRUE, invert = TRUE))
}

lint_objects <- function() {
  report("objects listed in Makevars", suppressWarnings(system2("tools/objects.sh", "--check", stdout = TRUE)))
}

lint_r()
lint_spelling()
lint_length()
lint_objects()
lint_compiler("g++")
lint_compiler("clang++")
lint_cppcheck()
quit(status = if (found) 1 else 0)
