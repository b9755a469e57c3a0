# DESCRIPTION names every package that the sources name, also those behind strings.

sources <- test_path("..", "..")

# Functions whose first argument, a string, is a package.
loaders <- c("requireNamespace", "loadNamespace", "attachNamespace", "library", "require", "asNamespace",
             "getNamespace", "getExportedValue", "isNamespaceLoaded", "packageVersion", "skip_if_not_installed",
             "needs_package", "need_package", "when_loaded", "from", "has_packages")

# What can name a package. (Arguments' defaults are in functions, into which all.names() does not look.)
telling <- c(loaders, "::", ":::", "system.file", "function")

# Packages that an expression names: `p::f`, f("p"), for (x in c("p", "q")) f(x), vapply(c("p", "q"), f, NA).
packages_in <- function(e) {
  if (is.expression(e) || is.list(e)) return(unlist(lapply(e, packages_in)))
  if (!is.call(e) && !is.pairlist(e)) return(NULL)
  if (is.call(e) && !any(telling %in% all.names(e, unique = TRUE))) return(NULL)
  parts <- Filter(function(part) !identical(part, quote(expr = )), as.list(e))
  found <- if (is.call(e)) packages_of_call(if (is.name(e[[1]])) as.character(e[[1]]) else "", parts[-1])
  c(found, unlist(lapply(parts, packages_in)))
}

packages_of_call <- function(name, args) {
  first <- if (length(args)) args[[1]]
  if (name %in% c("::", ":::")) return(as.character(first))
  if (name == "system.file") return(if (is.character(args$package)) args$package)
  named <- is.character(first) ||
    (name %in% c("library", "require") && is.name(first) && is.null(args$character.only))
  if (name %in% loaders) return(if (named) as.character(first))
  if (name == "for" && calls_loader(args[[3]], first)) return(strings_of(args[[2]]))
  if (name %in% c("vapply", "sapply", "lapply") && is_loader(args[[2]])) return(strings_of(first))
}

is_loader <- function(e) is.name(e) && as.character(e) %in% loaders
calls_loader <- function(e, variable) {
  if (!is.call(e)) return(FALSE)
  if (is_loader(e[[1]]) && length(e) > 1 && identical(e[[2]], variable)) return(TRUE)
  any(vapply(as.list(e), calls_loader, NA, variable))
}
strings_of <- function(e) if (is.character(e)) e else if (is.call(e)) unlist(lapply(as.list(e)[-1], strings_of))

parsed <- function(code) tryCatch(parse(text = code, keep.source = FALSE), error = function(e) expression())

code_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  if (endsWith(file, ".R")) return(parse(text = lines, keep.source = FALSE))
  if (endsWith(file, ".Rd")) return(parsed(utils::capture.output(tools::Rd2ex(file))))
  fences <- grep("^ *```", lines)
  ends <- vapply(fences, function(at) c(fences[fences > at], length(lines))[1], 0)
  chunks <- which(grepl("^ *```[{]?r\\b", lines[fences]))
  unlist(lapply(chunks, function(k) as.list(parsed(lines[seq(fences[k] + 1, ends[k] - 1)]))))
}

packages_of <- function(folders, recursive = TRUE) {
  files <- list.files(file.path(sources, folders), "[.](R|Rd|Rmd)$", recursive = recursive, full.names = TRUE)
  found <- unlist(lapply(files, function(file) packages_in(code_of(file))))
  setdiff(found, c("gpbandits", rownames(utils::installed.packages(.Library, priority = "base"))))
}

declared <- function(fields) {
  d <- read.dcf(file.path(sources, "DESCRIPTION"))
  entries <- unlist(strsplit(d[, grepl(fields, colnames(d))], ","))
  trimws(sub("[(].*", "", entries))
}

test_that("packages are found in every form in which code names them", {
  code <- parsed(c("a::not(b:::not)", "not <- function(x = c::not) if (requireNamespace('d')) library(e)",
                   "for (not in c('f', 'g')) skip_if_not_installed(not)",
                   "all(vapply(c('h', 'i'), requireNamespace, NA))",
                   "getExportedValue('j', 'not')", "system.file('not', package = 'k')", "other('not')"))
  expect_setequal(packages_in(code), letters[1:11])
})

test_that("DESCRIPTION lists every package that the sources name", {
  skip_without_sources()
  used <- c("^(Depends|Imports|LinkingTo|Suggests|Enhances)$")
  shipped <- unique(c(packages_of(c("R", "tests", "inst", "man")), packages_of("vignettes", recursive = FALSE)))
  expect_gt(length(shipped), 30)
  expect_identical(setdiff(shipped, declared(used)), character())
  # What only developers run may need more.
  core <- unique(packages_of(c("bench", "tools", "vignettes")))
  expect_identical(setdiff(core, declared(paste0(used, "|^Config/Needs/"))), character())
})

test_that("optional packages whose interface has changed have a minimum version", {
  skip_without_sources()
  d <- read.dcf(file.path(sources, "DESCRIPTION"))
  for (package in c("bbotk", "mlr3tuning", "paradox", "mirai", "future", "tune", "rsample")) {
    expect_match(paste(d[, c("Suggests", "Enhances")], collapse = ", "), sprintf("\\b%s\\s+\\(>= [0-9.]+\\)", package))
  }
})
