# The help page ?recipes: each recipe runs alone, as if it were copied into a fresh session.

# The blocks of code of the installed page: character vectors of lines.
recipe_blocks <- function() {
  pages <- tools::Rd_db("gpbandits")
  skip_if(length(pages) == 0, "the help is not installed")
  found <- list()
  visit <- function(x) {
    if (identical(attr(x, "Rd_tag"), "\\preformatted")) found[[length(found) + 1]] <<- paste(unlist(x), collapse = "")
    else if (is.list(x)) for (part in x) visit(part)
  }
  visit(pages[["recipes.Rd"]])
  found
}

# The packages that a block needs.
needs <- list("future::" = "future", "bandit_store(" = "RSQLite", "bandit_service(" = "httpuv", "as_json(" = "jsonlite")

test_that("?recipes has thirty tasks, and each runs alone without an error or a warning", {
  blocks <- recipe_blocks()
  expect_gte(length(blocks), 30)
  grDevices::pdf(NULL)
  plan_before <- if (requireNamespace("future", quietly = TRUE)) future::plan()
  on.exit({
    grDevices::dev.off()
    if (!is.null(plan_before)) future::plan(plan_before)
  })
  for (code in few_of(blocks, 10)) {
    wanted <- needs[vapply(names(needs), grepl, NA, code, fixed = TRUE)]
    if (!all(vapply(wanted, requireNamespace, NA, quietly = TRUE))) next
    if ("future" %in% wanted && (!identical(Sys.getenv("NOT_CRAN"), "true") || .Platform$OS.type == "windows")) next
    set.seed(1)
    here <- new.env(parent = globalenv())
    run <- function() for (line in parse(text = code, keep.source = FALSE)) {
      result <- withVisible(eval(line, here))
      if (result$visible) print(result$value)
    }
    expect_no_warning(expect_no_error(utils::capture.output(suppressMessages(run())), message = NULL), message = NULL)
  }
})
