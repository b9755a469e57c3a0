# The vignette "Coming from other tools": each task's code is taken from its text, runs, and does what its heading says.

coming_from <- test_path("..", "..", "vignettes", "coming-from.Rmd")

tools_compared <- c("mlr3mbo", "tune", "ParBayesianOptimization", "Ax", "Optuna", "scikit-optimize")

# The sections with a table of tools: a list of lines, named by the heading.
tasks_of <- function(lines) {
  begin <- grep("^## ", lines)
  sections <- Map(function(from, to) lines[seq(from, to)], begin, c(begin[-1] - 1, length(lines)))
  names(sections) <- sub("^## ", "", lines[begin])
  Filter(function(section) "| tool | what you type |" %in% section, sections)
}

# The rows of a section's table: the code, named by the tool.
rows_of <- function(section) {
  rows <- grep("^[|] ", section, value = TRUE)
  rows <- rows[-match("| tool | what you type |", rows)]
  rows <- rows[!startsWith(rows, "| ---")]
  stats::setNames(sub("^[|] [^|]* [|] (.*) [|]$", "\\1", rows), sub("^[|] ([^|]*) [|].*", "\\1", rows))
}

# One session of the article: a function that runs the chunks up to that of a label, of those that did not run yet, and
# returns their variables. Chunks that need other packages run only if they are asked for.
article_session <- function() {
  chunks <- chunks_of(coming_from)$code
  frame <- new.env(parent = globalenv())
  done <- c("setup", "parallel", "learner-mlr3")
  function(label) {
    skip_without_sources()
    for (one in union(setdiff(names(chunks)[seq_len(match(label, names(chunks)))], done), label)) {
      done <<- c(done, one)
      utils::capture.output(suppressMessages(eval(parse(text = chunks[[one]], keep.source = FALSE), frame)))
    }
    frame
  }
}

at_optimum <- function(par, within = 0.1) expect_lt(max(abs(unlist(par[c("x", "y")]) - c(0.3, 0.6))), within)

session <- if (file.exists(coming_from)) article_session() else function(label) skip_without_sources()

test_that("each task has a row for each tool, and the R code in it parses", {
  skip_without_sources()
  tasks <- tasks_of(readLines(coming_from, encoding = "UTF-8"))
  expect_gte(length(tasks), 12)
  for (task in names(tasks)) {
    rows <- rows_of(tasks[[task]])
    expect_identical(names(rows), tools_compared, info = task)
    expect_gt(sum(grepl("^```[{]r [a-z]", tasks[[task]])), 0, label = task)
    for (cell in rows[1:3]) {
      code <- gsub("`", "", unlist(regmatches(cell, gregexpr("`[^`]+`", cell))))
      for (piece in code) expect_no_error(parse(text = piece), message = paste(task, piece))
    }
  }
})

test_that("the Python code in the tables parses", {
  skip_without_sources()
  python <- Sys.which("python3")
  skip_if(!nzchar(python), "python3 is not installed")
  rows <- unlist(lapply(unname(tasks_of(readLines(coming_from, encoding = "UTF-8"))), rows_of))
  cells <- rows[names(rows) %in% tools_compared[4:6]]
  pieces <- gsub("`", "", unlist(regmatches(cells, gregexpr("`[^`]+`", cells))))
  expect_gte(length(pieces), 36)
  program <- c("import ast, sys", "for line in sys.stdin:", "    try: ast.parse(line)",
               "    except SyntaxError: print(line.strip())")
  expect_identical(system2(python, c("-c", shQuote(paste(program, collapse = "\n"))), input = pieces, stdout = TRUE), character())
})

test_that("minimise or maximise a function", {
  here <- session("minimise")
  at_optimum(here$found$par)
  at_optimum(here$most$par)
  expect_lt(abs(here$found$value), 0.01)
  expect_named(here$found$observed[c("x", "y", "reward")])
})

test_that("start from known results", {
  here <- session("known")
  at_optimum(here$found$par)
  expect_equal(here$found$history$reward[1:3], here$known$reward)
  expect_equal(as.list(here$found$history[1:3, c("x", "y")]), as.list(here$known[c("x", "y")]))
})

test_that("ask and tell", {
  here <- session("ask")
  expect_identical(nrow(here$b$history()), 10L)
  at_optimum(here$b$best(), 0.2)
})

test_that("integers, factors and logarithmic scales", {
  here <- session("inputs")
  expect_identical(here$tuned$par$rule, "entropy")
  expect_type(here$tuned$par$depth, "integer")
  expect_lt(abs(here$tuned$par$depth - 4), 2)
  expect_lt(abs(log10(here$tuned$par$rate) + 2), 0.5)
})

test_that("noise: known, or none", {
  here <- session("noise")
  expect_equal(here$noisy$history()$noise_var, rep(0.01, 4))
  at_optimum(here$exact$par, 0.02)
  expect_lt(here$exact$sd, 0.005)
})

test_that("a constraint on an outcome", {
  here <- session("constraint")
  expect_lt(sum(here$light$par), 0.72)
  expect_lt(max(abs(here$light$par - c(0.2, 0.5))), 0.1)
})

test_that("two objectives: no point of the front is dominated by another", {
  here <- session("pareto")
  front <- here$pareto$bandit$front()
  expect_gt(nrow(front), 3)
  for (i in seq_len(nrow(front))) {
    expect_false(any(front$gain_mean > front$gain_mean[i] & front$cost_mean < front$cost_mean[i]))
  }
})

test_that("the acquisition function", {
  here <- session("acquisition")
  expect_identical(c(here$bound$bandit$config$policy$kind, here$sampled$bandit$config$policy$kind), c("ucb", "ts"))
  at_optimum(here$bound$par)
  at_optimum(here$sampled$par)
})

test_that("stop early, or after some time", {
  here <- session("stop")
  expect_true(here$early$stopped)
  expect_lt(nrow(here$early$history), 100)
})

test_that("four evaluations at a time", {
  here <- session("batch")
  expect_identical(nrow(here$four), 4L)
  expect_identical(here$b$history()$status, rep("observed", 14))
  skip_if_not_installed("future")
  skip_on_os("windows")
  here <- session("parallel")
  expect_identical(nrow(here$parallel$history), 12L)
  at_optimum(here$parallel$par, 0.25)
})

test_that("save and resume", {
  here <- session("resume")
  expect_identical(nrow(here$again$history), 15L)
  expect_equal(here$again$history$reward[1:10], here$begun$history$reward)
  expect_identical(here$later$suggest(), here$b$suggest())
})

test_that("the model's posterior", {
  here <- session("posterior")
  for (object in list(here$found, here$b)) {
    believed <- if (inherits(object, "GPBandit")) object$posterior(here$points) else predict(object, here$points)
    expect_true(all(abs(believed$mean - here$f(here$points$x, here$points$y)) < 4 * believed$sd + 1e-3))
  }
})

test_that("tune a learner with mlr3", {
  for (package in c("mlr3", "mlr3tuning", "bbotk", "paradox", "rpart")) skip_if_not_installed(package)
  here <- session("learner-mlr3")
  expect_identical(here$instance$archive$n_evals, 8L)
  expect_lt(here$instance$result$classif.ce, 0.5)
})

test_that("tune a learner with tidymodels", {
  for (package in c("tune", "workflows", "parsnip", "rsample", "dials", "rpart")) skip_if_not_installed(package)
  here <- session("learner-tidymodels")
  expect_s3_class(here$tidy, "tune_results")
  expect_equal(max(here$tidy$.iter), 3)
})
