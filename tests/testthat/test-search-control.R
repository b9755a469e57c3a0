# How searches run their evaluations: one object for all of them.

line <- list(x = c(0, 1))
hill <- function(p) -(p[["x"]] - 0.3)^2

test_that("settings are checked when the control is made, and errors name the argument", {
  blamed <- function(...) tryCatch(search_control(...), gpbandits_error = function(e) e$argument)
  for (bad in list(0, -1, NA, "2", NULL)) expect_identical(blamed(timeout = bad), "timeout")
  for (bad in list(0, 1.5, NA, NULL, Inf)) expect_identical(blamed(attempts = bad), "attempts")
  for (bad in list(NA, 1, "yes")) for (name in c("verbose", "progress", "trust")) {
    expect_identical(do.call(blamed, stats::setNames(list(bad), name)), name)
  }
  expect_identical(blamed(pending = "later"), "pending")
  expect_identical(search_control(pending = "ignore")$pending, pending_ignore())
  expect_error(maximize_bandit(hill, line, 3, control = list(verbose = TRUE)), "search_control()", fixed = TRUE,
               class = "gpbandits_error")
})

test_that("a search uses its control", {
  set.seed(1)
  slow <- function(p) repeat NULL
  expect_warning(found <- maximize_bandit(slow, line, 1, control = search_control(timeout = 0.05, attempts = 1)),
                 class = "gpbandits_no_success")
  expect_match(found$history$reason, "timed out")
  expect_identical(found$bandit$config$pending, pending_hallucinate())
  expect_message(maximize_bandit(hill, line, 2, control = search_control(verbose = TRUE)), "1 of 2")
  bar <- utils::capture.output(maximize_bandit(hill, line, 2, control = search_control(progress = TRUE)),
                               type = "message")
  expect_match(bar, "100%", all = FALSE)
  ignoring <- search_control(pending = pending_ignore())
  expect_identical(maximize_bandit(hill, line, 2, control = ignoring)$bandit$config$pending, pending_ignore())
  expect_identical(auto_bandit(line, control = ignoring)$config$pending, pending_ignore())
})

test_that("functions are written to a journal of auto_bandit() only with trust", {
  begin <- function(...) {
    auto_bandit(line, policy = policy_ucb(width_function(function(t) 2)), journal = tempfile(fileext = ".journal"),
                control = search_control(...))
  }
  expect_error(begin(), "trust = TRUE", class = "gpbandits_error")
  expect_s4_class(begin(trust = TRUE), "GPBandit")
})

test_that("settings without an effect are errors, defaults are not", {
  for (given in list(list(timeout = 3), list(attempts = 3), list(verbose = TRUE), list(progress = FALSE))) {
    expect_error(auto_bandit(line, control = do.call(search_control, given)),
                 sprintf("`%s` of search_control() has no effect in auto_bandit()", names(given)), fixed = TRUE,
                 class = "gpbandits_error")
  }
  expect_silent(auto_bandit(line, control = search_control(timeout = Inf)))
  tuned <- function(...) {
    gpbandits:::check_tuning(10, NULL, 5, search_control(...), gp_model(), NULL, character())
  }
  expect_error(tuned(timeout = 3), "tune_gp_bandit()", fixed = TRUE, class = "gpbandits_error")
  expect_s3_class(tuned(verbose = TRUE), "bandit_policy")
})

test_that("a control prints in words, defaults included", {
  shown <- capture.output(print(search_control()))
  for (name in names(formals(search_control))) expect_match(shown, paste0("^ +", name), all = FALSE)
  expect_match(shown, "interactive sessions", all = FALSE)
  expect_match(capture.output(print(search_control(timeout = 60))), "60 s for one evaluation", all = FALSE)
  expect_false(any(grepl("\\$|attr\\(", shown)))
})

test_that("a search given arguments of the control raises an error that names search_control()", {
  for (name in names(formals(search_control))) {
    given <- stats::setNames(list(1), name)
    says <- sprintf("Unknown argument `%s`. Use `control = search_control(%s = )`.", name, name)
    expect_error(do.call(maximize_bandit, c(list(hill, line, 3), given)), says, fixed = TRUE, class = "gpbandits_error")
    expect_error(do.call(auto_bandit, c(list(line), given)), says, fixed = TRUE, class = "gpbandits_error")
  }
})

test_that("the initial design is a number of points or the points", {
  set.seed(1)
  points <- data.frame(x = c(0.2, 0.9, 0.5))
  expect_identical(maximize_bandit(hill, line, 5, initial_design = points)$history$x[1:3], points$x)
  mixed <- search_space(n = param_integer(1, 5), k = c("a", "b"))
  first <- data.frame(n = c(4L, 2L), k = c("b", "a"))
  found <- maximize_bandit(function(p) p$n, mixed, 3, initial_design = first)
  expect_identical(found$history$k[1:2], first$k)
  expect_identical(auto_bandit(line, initial_design = points)$suggest(3)$x, points$x)
  # Rows of data replace drawn points only.
  known <- data.frame(x = c(0.1, 0.4), reward = 1:2)
  expect_identical(auto_bandit(line, known, initial_design = points)$suggest(3)$x, points$x)
  both <- "Leave out `n_initial`: the points of `initial_design` are the initial design."
  expect_error(maximize_bandit(hill, line, 5, n_initial = 3, initial_design = points), both, fixed = TRUE)
  expect_error(auto_bandit(line, n_initial = 3, initial_design = points), both, fixed = TRUE)
  expect_error(maximize_bandit(hill, line, 2, initial_design = points), "at most the number of evaluations", class = "gpbandits_error")
  expect_error(auto_bandit(line, initial_design = 2), "`initial_design`", class = "gpbandits_error")
  for (call in list(quote(maximize_bandit(hill, line, 5, design = 3)), quote(auto_bandit(line, design = 3)))) {
    expect_error(eval(call), "Unknown argument `design`. Use `n_initial` (a number) or `initial_design` (points).",
                 fixed = TRUE)
  }
})

test_that("searches and gp_bandit() have at most 20 arguments", {
  for (f in list(maximize_bandit, minimize_bandit, auto_bandit, gp_bandit)) expect_lte(length(formals(f)), 20)
  # What gp_bandit() takes in `...` is checked like the others.
  x <- 1:4
  expect_identical(gp_bandit(x, kernel_se(1), 0.1, "ei", accuracy = 0.5)$config$accuracy, 0.5)
  expect_error(gp_bandit(x, kernel_se(1), 0.1, "ei", accuracy = 2), "`accuracy`", class = "gpbandits_error")
  expect_error(gp_bandit(x, kernel_se(1), 0.1, "ei", failures = "no"), "`failures`", class = "gpbandits_error")
  expect_error(gp_bandit(x, kernel_se(1), 0.1, "ei", acuracy = 0.1), "Did you mean `accuracy`", class = "gpbandits_error")
})
