# What the front page, the FAQ, the tour and the articles show runs as it stands there. (They are not in the installed
# package: under R CMD check there is nothing to run.)

sources <- test_path("..", "..")

# Runs code as a reader would, from top to bottom in one session, in a folder; its output and plots are dropped.
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

test_that("the code of the README runs", {
  skip_without_sources()
  code <- blocks_of(file.path(sources, "README.md"))
  expect_gt(length(code), 20)
  expect_identical(fault_of_code(code, tempdir()), "")
})

test_that("a block that fails is detected", {
  expect_match(fault_of_code(c("x <- 1", "stop('no')"), tempdir()), "no")
  expect_identical(fault_of_code(c("x <- 1", "plot(x)"), tempdir()), "")
})

test_that("the FAQ has the questions that users ask", {
  skip_without_sources()
  expect_gte(length(grep("^## ", readLines(file.path(sources, "vignettes", "faq.Rmd")))), 25)
})

for (article in c("gpbandits.Rmd", "faq.Rmd",
                  paste0("articles/", c("tuning", "gallery", "own-part", "serving", "many-machines", "your-tools", "which-of-two", "yield-and-limit",
                                        "which-algorithm"), ".Rmd"))) {
  test_that(paste("the code runs of", article), {
    skip_if_not(second_level(), "at the second level; `make site` runs it too")
    expect_identical(articles_fault(article), "")
  })
}

# Every call of a function of ours, anywhere in some code, has arguments that this function has.
wrong_calls <- function(expression) {
  if (is.function(expression) || !is.language(expression) || is.name(expression)) return(character())
  own <- character()
  if (is.call(expression) && is.name(expression[[1]]) && as.character(expression[[1]]) %in% getNamespaceExports("gpbandits")) {
    maker <- getExportedValue("gpbandits", as.character(expression[[1]]))
    own <- if (is.function(maker)) tryCatch({
      match.call(maker, expression)
      character()
    }, error = function(e) paste0(deparse(expression)[1], ": ", conditionMessage(e)))
  }
  c(own, unlist(lapply(as.list(expression), function(part) if (!missing(part)) wrong_calls(part))))
}

# Articles, and what of them is left out where their long runs are tried: what needs data or workers.
rehearsed <- list("chowdhury-in-full" = c("sensor-experiment", "sensor-data"), "delayed-feedback-in-full" = "real-workers-call",
                  "srinivas-in-full" = "sensors-run")

# What the site does not run either: on other machines, or for minutes to hours (its results are stored, and
# vignettes/precompute ran it). At the second level it is run small, see below.
test_that("code that is shown and not run is valid R, with existing functions and arguments", {
  skip_without_sources()
  files <- list.files(file.path(sources, "vignettes"), "[.]Rmd$", recursive = TRUE, full.names = TRUE)
  not_run <- vapply(files, function(file) {
    chunks <- chunks_of(file)
    for (code in chunks$code[!chunks$run]) for (part in as.list(parse(text = code))) {
      expect_identical(wrong_calls(part), character(), info = basename(file))
    }
    sum(!chunks$run)
  }, 0)
  expect_setequal(sub("[.]Rmd$", "", basename(files[not_run > 0])), c(names(rehearsed), "engines", "many-machines", "serving"))
  expect_match(wrong_calls(quote(f(gp_ucb(1:9, kern = 3, foo = kernel_se(scales = 1))))), "scales")
})

# The papers' long runs with six rounds and two replications each, without what needs data or workers.
for (article in names(rehearsed)) {
  test_that(paste("what is stored for", article, "runs, small"), {
    skip_if_not(second_level(), "at the second level")
    skip_without_sources()
    chunks <- chunks_of(file.path(sources, "vignettes", "articles", paste0(article, ".Rmd")))
    wanted <- chunks$shown & !names(chunks$code) %in% rehearsed[[article]]
    small <- c("compare_bandits <- function(bandits, problems, rounds, replications, ..., every = 1) {",
               "  gpbandits::compare_bandits(bandits, problems, rounds = min(rounds, 6), replications = min(replications, 2), ...)", "}",
               "replicate <- function(n, expr) sapply(1:2, eval.parent(substitute(function(...) expr)), simplify = 'array')")
    expect_identical(fault_of_code(c(small, unlist(chunks$code[wanted])), file.path(sources, "vignettes", "articles")), "")
  })
}

# The code of other machines, on this one: SQLite instead of the lab's server, two daemons instead of a cluster's.
test_that("code for many machines runs here with two processes", {
  skip_if_not(second_level(), "at the second level")
  skip_without_sources()
  for (package in c("DBI", "RSQLite", "mirai")) skip_if_not_installed(package)
  code <- paste(unlist(chunks_of(file.path(sources, "vignettes", "articles", "many-machines.Rmd"))$code), collapse = "\n")
  here <- c("(?s)RPostgres::Postgres\\(\\), host.*?60000" = "RSQLite::SQLite(), lab_file", "(?s)mirai::daemons\\(n = 50.*?mem=4G\"\\)\\)" = "mirai::daemons(2)",
            ">= 200" = ">= 4", "evaluations = 2000, workers = 50" = "evaluations = 6, workers = 2",
            "(?s)future::plan\\(future.batchtools.*" = "")
  for (there in names(here)) {
    expect_match(code, there, perl = TRUE)
    code <- sub(there, here[[there]], code, perl = TRUE)
  }
  lab_file <- "lab_file <- tempfile(fileext = '.db')"
  expect_identical(fault_of_code(c("here <- TRUE", lab_file, sub("here <- all[^\n]*", "", strsplit(code, "\n")[[1]])), tempdir()), "")
})

test_that("the drawings of the README name existing functions and methods", {
  skip_without_sources()
  for (picture in c("cheatsheet", "decision")) {
    text <- readLines(file.path(sources, "man", "figures", paste0(picture, ".svg")))
    named <- unlist(regmatches(text, gregexpr("(?<![$:A-Za-z_.])[a-z][a-z_0-9.]*(?=\\()", text, perl = TRUE)))
    known <- c(getNamespaceExports("gpbandits"), ls(baseenv()), "predict", "simulate", "rpois", "tnr", "opt", "f",
               "plot")
    expect_identical(setdiff(named, known), character(), info = picture)
    methods <- unlist(regmatches(text, gregexpr("(?<=[$])[a-z_]+(?=\\()", text, perl = TRUE)))
    expect_identical(setdiff(methods, gpbandits:::bandit_methods()), character(), info = picture)
  }
})

test_that("the introduction ends with a list of all articles", {
  skip_without_sources()
  tour <- readLines(file.path(sources, "vignettes", "gpbandits.Rmd"), encoding = "UTF-8")
  end <- paste(tour[seq(grep("^## Where to read on", tour), length(tour))], collapse = " ")
  for (file in list.files(file.path(sources, "vignettes"), "[.]Rmd$", recursive = TRUE)) {
    title <- sub("^title: *\"(.*)\"$", "\\1", grep("^title:", readLines(file.path(sources, "vignettes", file), encoding = "UTF-8"), value = TRUE)[1])
    here <- c(title, sprintf("vignette(\"%s\")", sub("[.]Rmd$", "", file)))
    expect_true(any(vapply(here, grepl, NA, end, fixed = TRUE)) || grepl("(gpbandits|in-full)[.]Rmd$", file), info = file)
  }
})

# (The site's build would list forgotten pages under "Further pages".)
test_that("every help page and every article is listed on the site", {
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

test_that("at most 80 exported names are in the first level of the reference, the rest under \"For research\"", {
  skip_without_sources()
  site <- readLines(file.path(sources, "_pkgdown.yml"))
  site <- site[-seq_len(match("reference:", site))]
  research <- grep("title: For research", site)
  expect_length(research, 1)
  names_of <- function(lines) unlist(regmatches(lines, gregexpr("[A-Za-z0-9_.-]+", lines)))
  first <- names_of(site[seq_len(research - 1)])
  on_page <- unlist(lapply(list.files(file.path(sources, "man"), "[.]Rd$", full.names = TRUE), function(page) {
    lines <- readLines(page)
    aliases <- sub("^.alias[{](.*)[}]$", "\\1", grep("^.alias[{]", lines, value = TRUE))
    if (any(aliases %in% first)) aliases
  }))
  expect_lte(length(intersect(on_page, getNamespaceExports("gpbandits"))), 80)
})

test_that("at most 136 functions are exported: what can be an argument, a method or a string is none", {
  expect_lte(sum(vapply(getNamespaceExports("gpbandits"), function(name) is.function(getExportedValue("gpbandits", name)), NA)), 136)
})

test_that("?name finds the page of every former name", {
  skip_without_sources()
  pages <- unlist(lapply(list.files(file.path(sources, "man"), "[.]Rd$", full.names = TRUE), readLines))
  gone <- c("test_function", "kernel_ucb", "gp_pi", "gp_bts", "asy_ts", "sw_gp_ucb", "r_gp_ucb", "wgp_ucb", "tv_gp_ucb", "et_gp_ucb",
            "gp_ei_cost", "config_ucb", "ckb", "epbo", "bandit_oco", "admmbo", "stage_opt", "safe_set", "resume_bandit",
            "calibrate_threshold", "repeats", "changes_function")
  expect_identical(setdiff(gone, sub("^.alias[{](.*)[}]$", "\\1", pages)), character())
  expect_identical(intersect(gone, getNamespaceExports("gpbandits")), character())
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
  for (n in list(1e5, 0, 1.5, "2; q()", NULL)) expect_match(tools$suggest_experiments(n), "^Refused: `n`")
  expect_match(tools$observe_result(1, 3.5), "3.5 is saved")
  expect_match(tools$observe_result(9, 3.5), "^Refused: `id`")
  expect_match(tools$observe_result("1; q()", 3.5), "^Refused: `id`")
  expect_match(tools$why(1), "known")
  for (id in list(9, 0.5, "1; q()", c(1, 2), NULL)) expect_match(tools$why(id), "^Refused: `id`")
  expect_match(tools$best_so_far(), "solvent")
})
