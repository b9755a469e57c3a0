# What the front page, the FAQ, the tour and the articles show runs as it stands there. (They are not in the installed
# package: under R CMD check there is nothing to run.)

sources <- test_path("..", "..")

skip_without_sources <- function() {
  skip_on_cran()
  skip_if_not(file.exists(file.path(sources, "Makefile")), "the sources are not here")
}

# Runs code as a reader would, from top to bottom in one session, in a folder; what it says and draws is dropped.
# Returns the first fault, with the expression, or "".
fault_of_code <- function(lines, folder) {
  old <- setwd(folder)
  scratch <- tempfile("code")
  dir.create(scratch)
  grDevices::pdf(file.path(scratch, "pictures.pdf"))
  device <- grDevices::dev.cur()
  kept <- options()
  on.exit({
    while (grDevices::dev.cur() > 1 && device %in% grDevices::dev.list()) grDevices::dev.off(device)
    options(kept)
    setwd(old)
    unlink(scratch, recursive = TRUE)
  })
  frame <- new.env(parent = globalenv())
  for (expression in parse(text = lines, keep.source = FALSE)) {
    said <- NULL
    utils::capture.output(said <- suppressWarnings(suppressMessages(tryCatch({
      shown <- withVisible(eval(expression, frame))
      if (shown$visible) print(shown$value)
      ""
    }, error = function(e) paste0(deparse(expression)[1], ": ", conditionMessage(e))))))
    if (nzchar(said)) return(said)
  }
  ""
}

# The R blocks of a Markdown file; of R Markdown those that knitr would run.
blocks_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  begin <- grep("^```r$", lines)
  unlist(lapply(begin, function(at) lines[seq(at + 1, at + which(lines[-seq_len(at)] == "```")[1] - 1)]))
}

purled <- function(file) {
  out <- tempfile(fileext = ".R")
  on.exit(unlink(out))
  knitr::purl(file, out, documentation = 0, quiet = TRUE)
  readLines(out, encoding = "UTF-8")
}

articles_fault <- function(file) {
  skip_without_sources()
  skip_if_not(requireNamespace("knitr", quietly = TRUE), "knitr is not installed")
  path <- normalizePath(file.path(sources, "vignettes", file))
  fault_of_code(purled(path), dirname(path))
}

test_that("the front page's code runs", {
  skip_without_sources()
  code <- blocks_of(file.path(sources, "README.md"))
  expect_gt(length(code), 20)
  expect_identical(fault_of_code(code, tempdir()), "")
})

test_that("a block that fails is seen", {
  expect_match(fault_of_code(c("x <- 1", "stop('no')"), tempdir()), "no")
  expect_identical(fault_of_code(c("x <- 1", "plot(x)"), tempdir()), "")
})

