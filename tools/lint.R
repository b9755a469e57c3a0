# What a compiler and a linter have to say: lintr on R, every warning of gcc and clang on C++, cppcheck; and rules of the
# package: functions of at most 60 lines and lines of at most 120 characters in R and C++, help included, and a first
# line of each file that says what it holds.
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

# A C++ file without comments, literals and directives, whose lines stay where they are.
bare_code <- function(file) {
  text <- paste(readLines(file), collapse = "\n")
  left_out <- paste0("(?ms)//[^\n]*|/[*].*?[*]/|R\"[(].*?[)]\"|\"(?:\\\\.|[^\"\\\\\n])*\"|'(?:\\\\[^\n]{1,4}|[^'\\\\\n])'|",
                     "^[ \t]*#(?:[^\n\\\\]|\\\\\n|\\\\.)*")
  at <- gregexpr(left_out, text, perl = TRUE)
  regmatches(text, at) <- lapply(regmatches(text, at), function(parts) gsub("[^\n]", "", parts))
  text
}

# Functions of a C++ file that span more lines than a screen has, by matching braces: a body is what follows a head with a
# parameter list where only namespaces and classes are open. A lambda counts with the function that it is in. Braces that
# macros or branches of #if hold are not understood: a file whose braces do not match says so.
long_cpp_functions <- function(file) {
  text <- bare_code(file)
  at <- unlist(gregexpr("[{};]", text))
  if (at[1] < 0) return(character())
  marks <- substring(text, at, at)
  newlines <- unlist(gregexpr("\n", text))
  line_of <- function(position) findInterval(position, newlines) + 1L
  inside <- 0L                 # braces that are open in a body
  scopes <- 0L                 # namespaces and classes that are open
  after <- 1L                  # where the head of what comes next begins
  out <- character()
  for (k in seq_along(at)) {
    if (inside > 0) {
      inside <- inside + switch(marks[k], "{" = 1L, "}" = -1L, 0L)
      if (inside == 0) {
        lines <- line_of(at[k]) - first + 1L
        if (is_function && lines > screen) out <- c(out, sprintf("%s:%d: a function of %d lines", file, first, lines))
        after <- at[k] + 1L
      }
    } else if (marks[k] == "{") {
      head <- sub("^((public|private|protected) *:|\\s)*", "", substr(text, after, at[k] - 1L), perl = TRUE)
      first <- line_of(at[k] - nchar(head))
      is_function <- grepl(")", head, fixed = TRUE)
      opens_scope <- grepl("\\b(namespace|class|struct|union|enum|extern)\\b[^()=]*$", head)
      if (opens_scope) scopes <- scopes + 1L else inside <- 1L
      after <- at[k] + 1L
    } else {
      if (marks[k] == "}") scopes <- scopes - 1L
      after <- at[k] + 1L
    }
  }
  if (scopes != 0 || inside != 0) out <- c(out, sprintf("%s: braces do not match", file))
  out
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
  report("objects listed in Makevars", suppressWarnings(system2("tools/units.sh", "--check", stdout = TRUE)))
}

# tools/prose.R prints a table, and what is above its limits.
lint_prose <- function() {
  said <- suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), "tools/prose.R", stdout = TRUE, stderr = TRUE))
  report("sentences and words (tools/prose.R)", if (!is.null(attr(said, "status"))) said)
}

lint_r()
lint_spelling()
lint_prose()
lint_length()
lint_cpp_lines()
lint_first_lines()
lint_objects()
lint_compiler("g++")
lint_compiler("clang++")
lint_cppcheck()
quit(status = if (found) 1 else 0)
