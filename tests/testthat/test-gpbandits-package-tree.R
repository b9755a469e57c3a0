# The tree: lists that must agree with the files in it.

test_that("the build has each source file once", {
  sources <- test_path("..", "..", "src")
  skip_if_not(file.exists(file.path(sources, "Makevars")), "only in the repository")
  files <- list.files(sources, "[.]cpp$", recursive = TRUE)
  units <- grep("^units/", files, value = TRUE)
  joined <- unlist(lapply(file.path(sources, units), function(unit) {
    lines <- setdiff(grep("^#include", readLines(unit), value = TRUE), "#include \"../small.h\"")
    sub("^core/[.][.]/", "", sub("^#include \"(.*)\"$", "core/\\1", lines))
  }))
  expect_identical(anyDuplicated(joined), 0L)
  expect_identical(setdiff(joined, files), character())
  expect_identical(setdiff(grep("^core/", files, value = TRUE), joined), character())
  for (file in file.path(sources, c("Makevars", "Makevars.win"))) {
    text <- paste(readLines(file), collapse = " ")
    listed <- strsplit(trimws(gsub("\\\\", " ", sub(".*OBJECTS = ", "", text))), " +")[[1]]
    expect_setequal(listed, sub("[.]cpp$", ".o", setdiff(files, joined)))
  }
})

test_that("names of files at the top have letters, digits, dots, dashes and underscores only", {
  top <- test_path("..", "..")
  skip_if_not(file.exists(file.path(top, "src", "Makevars")), "only in the repository")
  here <- list.files(top, all.files = TRUE, no.. = TRUE)
  expect_identical(grep("^[A-Za-z0-9._-]+$", here, invert = TRUE, value = TRUE), character())
})

test_that("tests leave no file among the tests", {
  skip_if_not(file.exists(test_path("..", "..", "src", "Makevars")), "only in the repository")
  here <- setdiff(list.files(test_path()), "_snaps")
  core <- "^((test|helper)-.*|combinations)[.]R$|^cpp$|^kept$|^after[.]sh$"   # (what only tests call is compiled by them; files of earlier versions)
  expect_identical(grep(core, here, value = TRUE, invert = TRUE), character())
})

test_that("no function is defined twice, because the later file would silently replace it", {
  files <- list.files(test_path("..", "..", "R"), "[.]R$", full.names = TRUE)
  skip_if(length(files) == 0, "only in the repository")
  lines <- unlist(lapply(files, readLines))
  defined <- sub(" <- function.*", "", grep("^[A-Za-z.][A-Za-z0-9._]* <- function", lines, value = TRUE))
  expect_identical(defined[duplicated(defined)], character())
})
