# Packages that are used together with this one, attached before and after it: neither hides a name of the other's.

users_packages <- c("dplyr", "data.table", "ggplot2", "mlr3", "paradox", "bbotk", "mlr3tuning", "dials", "parsnip",
                    "rsample", "tune", "workflows", "future", "mirai")

# Names that `order` of packages, attached in a fresh R, hides of one of ours or hides by one of ours.
masked_names <- function(order) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(deparse(bquote({
    .libPaths(.(.libPaths()))
    for (package in .(order)) suppressMessages(library(package, character.only = TRUE))
    found <- conflicts(detail = TRUE)
    core <- getNamespaceExports("gpbandits")
    hidden <- lapply(setdiff(names(found), "package:gpbandits"), function(point) {
      paste0(point, "::", intersect(found[[point]], core), recycle0 = TRUE)
    })
    writeLines(c("hidden:", unlist(hidden), "end."))
  })), script)
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = TRUE)
  expect_true("end." %in% said, info = paste(said, collapse = "\n"))
  # (Warnings of those packages come after the end.)
  between <- seq_along(said) > match("hidden:", said) & seq_along(said) < match("end.", said)
  said[between]
}

test_that("the usual packages can be attached before and after this one without a masked function", {
  skip_on_cran()
  skip_if_not_installed("gpbandits") # (loaded from its sources, it cannot be attached elsewhere)
  there <- users_packages[nzchar(vapply(users_packages, function(package) system.file(package = package), ""))]
  skip_if(length(there) == 0, "none of these packages is installed")
  expect_identical(masked_names(c(there, "gpbandits")), character())
  expect_identical(masked_names(c("gpbandits", there)), character())
})
