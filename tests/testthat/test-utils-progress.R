test_that("the line of a bar has the proportion, and the time left at the pace so far", {
  line <- function(...) sub(" +$", "", bar_line(...))
  expect_identical(line(0, 8, 0, 1, width = 4), "|    |   0%")
  expect_identical(line(2, 8, 0, 10, width = 4), "|=   |  25%  about 30 s left")
  # Steps that were finished before say nothing of the pace: 2 in 10 s, and 4 are left.
  expect_identical(line(4, 8, 2, 10, width = 4), "|==  |  50%  about 20 s left")
  expect_identical(line(8, 8, 2, 7, width = 4), "|====| 100%  7 s")
  expect_identical(line(9, 8, 2, 7, width = 4), "|====| 100%  7 s")
  expect_identical(nchar(bar_line(0, 8, 0, 0)), nchar(bar_line(8, 8, 0, 1e6)))    # a shorter line leaves nothing behind
  expect_identical(vapply(c(0, 99, 100, 5969, 5970, 47 * 3600, 48 * 3600), time_words, ""),
                   c("0 s", "99 s", "2 min", "99 min", "2 h", "47 h", "2 days"))
})

test_that("a bar is drawn on the standard error, only if it is wanted", {
  drawn <- function(show) {
    capture.output(with_bar(show, 3, function(bar) if (!is.null(bar)) for (k in 1:3) bar()), type = "message")
  }
  expect_match(drawn(TRUE), "100%", all = FALSE)
  expect_identical(drawn(FALSE), character())
  skip_if(interactive())
  expect_identical(drawn(NULL), character())
})

test_that("a bar with a delay is not drawn for quick calls", {
  shown <- function(delay) capture.output({
    bar <- text_bar(2, delay = delay)
    bar$step()
    bar$step()
    bar$close()
  }, type = "message")
  expect_identical(shown(1e6), character())
  expect_match(shown(0), "100%", all = FALSE)
})

test_that("the steps of other processes reach the bar", {
  skip_if_not_installed("progressr")
  skip_if_not_installed("future.apply")
  old <- future::plan(future::multisession, workers = 2)
  square <- function(k) k^2
  with_plan <- function(code) {
    on.exit(future::plan(old))
    code
  }
  shown <- with_plan(capture.output(spread_work(1:4, TRUE, square, list(square)), type = "message"))
  expect_match(shown, "100%", all = FALSE)
})

test_that("evaluations at fidelities, propensities and detectors report their steps to a handler", {
  skip_if_not_installed("progressr")
  set.seed(1)
  cheap <- function(p, fidelity) -(p[["x"]] - 0.3)^2 * fidelity
  spent <- progress_amounts(found <- maximize_bandit(cheap, list(x = c(0, 1)), 4,
                                          fidelity = list(0.5, 1, cost = identity)))
  expect_equal(sum(spent), sum(found$history$cost))
  bandit <- gp_bandit(1:3, kernel_se(1), 0.1, policy_ts(1))
  for (k in 1:4) bandit$observe(bandit$suggest()$id, k)
  expect_identical(sum(progress_amounts(bandit$history(draws = 5))), 4)
  expect_identical(sum(progress_amounts(calibrate_detector(1:12, sin(1:12), kernel_matern(2.5, 1), permutations = 19))), 19)
})
