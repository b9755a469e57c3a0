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

# The R blocks of a Markdown file.
blocks_of <- function(file) {
  lines <- readLines(file, encoding = "UTF-8")
  begin <- grep("^```r$", lines)
  unlist(lapply(begin, function(at) lines[seq(at + 1, at + which(lines[-seq_len(at)] == "```")[1] - 1)]))
}

# An article is knitted, without its pictures: chunks have options. The first fault, or "".
articles_fault <- function(file) {
  skip_without_sources()
  skip_if_not(requireNamespace("knitr", quietly = TRUE), "knitr is not installed")
  path <- normalizePath(file.path(sources, "vignettes", file))
  chunk <- knitr::opts_chunk$get()
  knit <- knitr::opts_knit$get()
  kept <- options()
  old <- setwd(dirname(path))
  out <- tempfile("article")
  on.exit({
    setwd(old)
    options(kept)
    knitr::opts_chunk$restore(chunk)
    knitr::opts_knit$restore(knit)
    unlink(out, recursive = TRUE)
  })
  dir.create(out)
  knitr::opts_chunk$set(error = FALSE, fig.keep = "none", fig.path = file.path(out, ""))
  tryCatch({
    utils::capture.output(suppressWarnings(suppressMessages({
      knitr::knit(path, file.path(out, "article.md"), quiet = TRUE, envir = new.env(parent = globalenv()))
    })))
    ""
  }, error = conditionMessage)
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

test_that("the FAQ's code runs, and it answers what people ask", {
  expect_identical(articles_fault("articles/faq.Rmd"), "")
  expect_gte(length(grep("^## ", readLines(file.path(sources, "vignettes", "articles", "faq.Rmd")))), 25)
})

for (article in c("gpbandits.Rmd", "tuning.Rmd", paste0("articles/", c("gallery", "own-part", "serving", "many-machines", "your-tools"), ".Rmd"))) {
  test_that(paste("the code runs of", article), {
    skip_if_not(second_level(), "at the second level; `make site` runs it too")
    expect_identical(articles_fault(article), "")
  })
}

# (The site's build would list what is forgotten under "Further pages".)
test_that("every help page and every article has its place on the site", {
  skip_without_sources()
  site <- readLines(file.path(sources, "_pkgdown.yml"))
  listed <- unlist(regmatches(site, gregexpr("[A-Za-z0-9_.-]+(/[A-Za-z0-9_-]+)?", site)))
  for (page in list.files(file.path(sources, "man"), "[.]Rd$", full.names = TRUE)) {
    lines <- readLines(page)
    aliases <- sub("^.alias[{](.*)[}]$", "\\1", grep("^.alias[{]", lines, value = TRUE))
    expect_true(any(aliases %in% listed) || any(grepl("keyword[{]internal", lines)), info = basename(page))
  }
  articles <- sub("[.]Rmd$", "", list.files(file.path(sources, "vignettes"), "[.]Rmd$", recursive = TRUE))
  expect_identical(setdiff(articles, listed), character())
})

test_that("the tools for language models work by hand", {
  home <- tempfile()
  dir.create(home)
  old <- Sys.getenv("GPBANDITS_CAMPAIGN", NA)
  Sys.setenv(GPBANDITS_CAMPAIGN = file.path(home, "campaign"))
  on.exit({
    if (is.na(old)) Sys.unsetenv("GPBANDITS_CAMPAIGN") else Sys.setenv(GPBANDITS_CAMPAIGN = old)
    unlink(home, recursive = TRUE)
  })
  tools <- new.env(parent = globalenv())
  set.seed(1)
  sys.source(system.file("examples", "mcp_tools.R", package = "gpbandits"), tools)
  expect_match(tools$suggest_experiments(2), "temperature")
  expect_match(tools$observe_result(1, 3.5), "3.5 is saved")
  expect_match(tools$observe_result(9, 3.5), "^Refused: `id`")
  expect_match(tools$observe_result("1; q()", 3.5), "^Refused: `id`")
  expect_match(tools$why(1), "known")
  expect_match(tools$best_so_far(), "solvent")
})
