test_that("the line of a bar has the proportion, and the time left at the pace so far", {
  line <- function(...) sub(" +$", "", bar_line(...))
  expect_identical(line(0, 8, 0, 1, width = 4), "|    |   0%")
  expect_identical(line(2, 8, 0, 10, width = 4), "|=   |  25%  about 30 s left")
  # Steps that were finished before say nothing of the pace: 2 in 10 s, and 4 are left.
  expect_identical(line(4, 8, 2, 10, width = 4), "|==  |  50%  about 20 s left")
  expect_identical(line(8, 8, 2, 7, width = 4), "|====| 100%  7 s")
  expect_identical(line(9, 8, 2, 7, width = 4), "|====| 100%  7 s")
  expect_identical(line(2, 8, 0, 10, "at most", width = 4), "|=   |  25%  at most 30 s left")
  expect_identical(nchar(bar_line(0, 8, 0, 0)), nchar(bar_line(8, 8, 0, 1e6)))    # a shorter line leaves nothing behind
  expect_identical(vapply(c(0, 99, 100, 5969, 5970, 47 * 3600, 48 * 3600), time_text, ""),
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

test_that("a fit to many rows reports how far it is, and is the same fit", {
  set.seed(1)
  x <- matrix(runif(640), 320)
  y <- sin(5 * x[, 1]) + x[, 2]^2 + rnorm(320, sd = 0.1)
  fit <- function(rows) gp_fit(x[rows, ], y[rows], kernel_matern(2.5, c(1, 1)), starts = 1, iterations = 8)
  plain <- fit(1:320)
  skip_if_not_installed("progressr")
  amounts <- progress_amounts(found <- fit(1:320))
  expect_identical(found$parameters, plain$parameters)
  expect_gt(sum(amounts > 0), 3)
  expect_identical(sum(amounts), 1000)
  expect_length(progress_amounts(fit(1:200)), 0)                                  # takes no time
  # A call that has a bar of its own steps shows those.
  steps <- progress_amounts(with_bar(TRUE, 2, function(bar) for (k in 1:2) {
    fit(1:320)
    bar()
  }))
  expect_identical(steps, c(1, 1))
})

test_that("refits of every kind report to a bar, and an error there ends them and leaves the bandit unchanged", {
  skip_if_not_installed("progressr")
  set.seed(2)
  x <- matrix(runif(620), 310)
  y <- sin(5 * x[, 1]) + rnorm(310, sd = 0.1)
  made <- function(...) {
    bandit <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.5), policy = policy_ucb(width_constant(2)), ...)
    bandit$add(x, reward = if (is.null(list(...)$rewards)) y else as.double(y > 0.5))
    bandit
  }
  rule <- function(...) refit_every(300, starts = 1, iterations = 5, ...)
  makers <- list(function() made(noise_var = 0.01, refit = rule()), function() made(noise_var = 0.01, refit = rule(average = 4)),
                 function() made(rewards = rewards_binary(), refit = rule()))
  for (make in few_of(makers, 2)) {
    reported <- make()
    amounts <- progress_amounts(query <- reported$suggest())
    expect_identical(sum(amounts), 1000)
    expect_gt(sum(amounts > 0), 3)
    struck <- make()
    before <- struck$history()
    handler <- progressr::make_progression_handler("strike", enable = TRUE, interval = 0, reporter = list(
      update = function(config, state, progression, ...) if (isTRUE(progression$amount > 0)) stop("struck")))
    expect_error(progressr::with_progress(struck$suggest(), handlers = handler, enable = TRUE), "struck")
    expect_length(struck$refits, 0)
    expect_identical(struck$history(), before)
    expect_identical(struck$suggest(), query)
  }
})
