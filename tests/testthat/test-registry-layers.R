# The files of R/ use those that are loaded before them, and few that come later.

# From the sources: the definitions of each file, in the order of Collate; NULL if they are not next to the tests.
source_files <- function() {
  root <- normalizePath(test_path("..", ".."), mustWork = FALSE)
  if (!file.exists(file.path(root, "DESCRIPTION")) || !dir.exists(file.path(root, "R"))) return(NULL)
  collate <- read.dcf(file.path(root, "DESCRIPTION"), fields = "Collate")[[1]]
  files <- scan(text = collate, what = "", quiet = TRUE)
  list(files = file.path(root, "R", files), there = list.files(file.path(root, "R"), "[.]R$"))
}

names_defined_in <- function(file) {
  assigned <- Filter(function(e) is.call(e) && identical(e[[1]], as.name("<-")) && is.name(e[[2]]),
                     as.list(parse(file, keep.source = FALSE)))
  vapply(assigned, function(e) as.character(e[[2]]), "")
}

functions_within <- function(value) {
  if (is.function(value) && !is.primitive(value)) return(list(value))
  if (is.list(value) && !is.object(value)) unlist(lapply(value, functions_within), recursive = FALSE)
}

# The names that a local variable of an expression may have.
local_names <- function(e) {
  if (!is.call(e)) return(NULL)
  own <- if (identical(e[[1]], quote(`function`))) {
    names(e[[2]])
  } else if (identical(e[[1]], quote(`for`)) || (identical(e[[1]], quote(`<-`)) && is.name(e[[2]]))) {
    as.character(e[[2]])
  }
  c(own, unlist(lapply(Filter(is.call, as.list(e)), local_names)))
}

names_used_in <- function(f) {
  parts <- c(body(f), unname(as.list(formals(f))))
  setdiff(unlist(lapply(parts, all.names, unique = TRUE)), c(names(formals(f)), local_names(body(f))))
}

# Who uses whom: a row for each pair of objects of different files. (An element of a list may be called like a function.
# codetools can tell, but takes ten times as long: it is asked about calls against the load order only.)
calls_between_files <- function(files) {
  namespace <- asNamespace("gpbandits")
  defined <- lapply(files, names_defined_in)
  owner <- stats::setNames(rep(seq_along(files), lengths(defined)), unlist(defined))
  values <- mget(intersect(names(owner), ls(namespace, all.names = TRUE)), namespace)
  functions <- lapply(Filter(function(value) !inherits(value, "refObjectGenerator"), values), functions_within)
  used <- lapply(functions, function(each) unique(unlist(lapply(each, names_used_in))))
  calls <- data.frame(from = rep(names(used), lengths(used)), to = unlist(used, use.names = FALSE))
  calls <- calls[calls$to %in% names(owner) & calls$to != calls$from, ]
  calls[c("file", "into")] <- list(unname(owner[calls$from]), unname(owner[calls$to]))
  for (name in unique(calls$from[calls$into > calls$file])) {
    globals <- unlist(lapply(functions[[name]], codetools::findGlobals))
    calls <- calls[calls$from != name | calls$to %in% globals, ]
  }
  calls[calls$file != calls$into, ]
}

largest_circle <- function(calls, count) {
  reach <- matrix(FALSE, count, count)
  reach[cbind(calls$file, calls$into)] <- TRUE
  diag(reach) <- TRUE
  for (doubling in seq_len(ceiling(log2(count)))) reach <- (reach %*% reach) > 0
  max(rowSums(reach & t(reach)))
}

test_that("files use only files before them in the load order", {
  skip_if_not_installed("codetools")
  sources <- source_files()
  skip_if(is.null(sources), "the sources are not beside the tests")
  expect_setequal(basename(sources$files), sources$there)
  files <- sources$files[basename(sources$files) != "RcppExports.R"]
  calls <- calls_between_files(files)
  against <- calls[calls$file < calls$into, ]
  expect_lte(nrow(against), 20, label = paste("calls against the load order:", paste(against$from, "->", against$to,
                                                                                    collapse = ", ")))
  expect_lte(largest_circle(calls, length(files)), 5)
  # (What is counted is there: thousands of calls.)
  expect_gt(nrow(calls), 1000)
})

test_that("each file begins with a sentence that states its contents", {
  sources <- source_files()
  skip_if(is.null(sources), "the sources are not beside the tests")
  for (file in sources$files[basename(sources$files) != "RcppExports.R"]) {
    expect_match(readLines(file, 1), "^# .+[.] Layer: [a-z]+[.]$", label = basename(file))
  }
})
