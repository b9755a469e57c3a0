# What prints, plots, progress lines and messages call an objective that is minimised: its name, or "objective".

# The text of a picture. (Without kerning a PDF has each text in one piece.)
text_of_picture <- function(draw) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, width = 9, height = 7, compress = FALSE, useKerning = FALSE)
  tryCatch(draw(), finally = grDevices::dev.off())
  lines <- readLines(file, warn = FALSE, encoding = "latin1")
  grep("Tj", lines, value = TRUE, fixed = TRUE, useBytes = TRUE)
}

text_of <- function(code) {
  said <- character()
  printed <- utils::capture.output(withCallingHandlers(print(code), message = function(m) {
    said <<- c(said, conditionMessage(m))
    invokeRestart("muffleMessage")
  }))
  c(said, printed)
}

# Everything that a search or its bandit shows. (ggplot2 draws slowly: at the second level only.)
shown_of <- function(object, types) {
  bandit <- if (inherits(object, "bandit_maximum")) object$bandit else object
  prints <- lapply(list(object, bandit), function(x) text_of(list(x, summary(x), format(x), toString(x))))
  drawn <- lapply(types, function(type) {
    c(text_of_picture(function() plot(object, type)),
      if (with_ggplot) text_of_picture(function() print(ggplot2::autoplot(object, type))))
  })
  check <- if (is.null(bandit$config$outcomes)) check_model(bandit)
  unlist(list(prints, drawn, if (!is.null(check)) list(text_of(check), text_of_picture(function() plot(check)))))
}

all_types <- c("progress", "slices", "dependence", "importance", "map", "acquisition", "parallel")
with_ggplot <- second_level() && requireNamespace("ggplot2", quietly = TRUE)

bowl <- function(p) (p$x - 2)^2 + p$y
square <- list(x = c(1, 3), y = c(0, 1))
asked <- function(...) {
  bandit <- auto_bandit(square, direction = "minimize", ...)
  for (k in 1:7) {
    query <- bandit$suggest()
    bandit$observe(query$id, bowl(query))
  }
  bandit
}

test_that("what is minimised is called by its name, or objective, and never a reward", {
  set.seed(1)
  limited <- function(p) c(cost = bowl(p), acid = p$x)
  makers <- list(
    found = function(...) minimize_bandit(bowl, square, evaluations = 8, ...),
    limited = function(...) minimize_bandit(limited, square, evaluations = 7, limits = ~ acid >= 1.5, ...),
    asked = asked)
  for (name in names(makers)) for (outcome in list(NULL, "loss")) {
    if (name == "limited" && !is.null(outcome)) outcome <- "cost"
    shown <- shown_of(makers[[name]](reward = outcome),
                      if (is.null(outcome) && name == "found" || second_level()) all_types
                      else if (is.null(outcome)) few_of(all_types, 2) else "progress")
    expect_gt(sum(grepl(if (is.null(outcome)) "objective" else outcome, shown, useBytes = TRUE)), 0, label = name)
    expect_identical(grep("reward", shown, value = TRUE, useBytes = TRUE), character(), label = paste(name, outcome))
  }
})

test_that("progress lines, messages and errors about an objective that is minimised do not call it a reward", {
  local_device()
  set.seed(1)
  control <- search_control(verbose = TRUE)
  limited <- function(p) c(cost = bowl(p), acid = p$x)
  lines <- c(text_of(minimize_bandit(bowl, square, evaluations = 4, control = control)),
             text_of(minimize_bandit(limited, square, evaluations = 4, limits = ~ acid >= 1.5, control = control)))
  bandit <- auto_bandit(square, direction = "minimize")
  failing <- list(quote(bandit$expected_improvement(1)), quote(bandit$observe(1, 2)), quote(bandit$amend(2, 1)),
                  quote(check_model(bandit)), quote(bandit$observe(7, 1)), quote(plot(bandit, "slices")))
  bandit$suggest(2)
  bandit$observe(1, 3)
  errors <- vapply(failing, function(call) tryCatch({
    eval(call)
    ""
  }, gpbandits_error = conditionMessage), "")
  expect_gt(sum(nzchar(errors)), 3)
  plain <- gsub("`[^`]*`", "", c(lines, errors, text_of(bandit), text_of(stop_stalled(3)), text_of(gp_model())))
  expect_identical(grep("reward", plain, value = TRUE), character())
})
