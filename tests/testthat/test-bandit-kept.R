# Answers that take a search are kept while nothing happens, and no longer.

# A bandit with outcomes over a box; rewards from a fixed function of the settings.
kept_bandit <- function(limit = 0.5, ...) {
  bandit <- gp_ei(list(x = c(0, 1), y = c(0, 1)), kernel_se(0.3), 0.01,
                  outcomes = list(yield = to_maximize(), impurity = at_most(limit)), ...)
  x <- seq(0.05, 0.95, length.out = 6)
  bandit$add(cbind(x = x, y = rev(x)^2), reward = data.frame(yield = sin(5 * x), impurity = x))
  bandit
}

fresh_answer <- function(bandit, ...) suppressWarnings(bandit$copy()$best(...))

test_that("$best() is cached until the next event of any kind", {
  bandit <- kept_bandit()
  searches <- 0
  # (Of `$best()` only the search itself is counted.)
  counted <- function(code) {
    before <- as.environment(bandit)$.kept$answers
    answer <- code
    searches <<- searches + !identical(before, as.environment(bandit)$.kept$answers)
    answer
  }
  first <- counted(bandit$best())
  expect_identical(counted(bandit$best()), first)
  expect_identical(searches, 1)
  # Other arguments are other questions, and both stay.
  expect_equal(counted(bandit$best(feasible = 0.6)), fresh_answer(bandit, feasible = 0.6))
  expect_identical(counted(bandit$best()), first)
  expect_identical(searches, 2)
  query <- bandit$suggest()
  changes <- list(function() bandit$observe(query$id, data.frame(yield = 3, impurity = NA)),
                  function() bandit$observe(query$id, data.frame(yield = NA, impurity = 0.1)),
                  function() bandit$amend(query$id, data.frame(yield = -3, impurity = 0.4)),
                  function() bandit$add(cbind(x = 0.5, y = 0.5), reward = data.frame(yield = 5, impurity = 0)),
                  function() bandit$fail(bandit$suggest()$id))
  for (k in seq_along(changes)) {
    bandit$best()
    before <- as.environment(bandit)$.kept$state
    changes[[k]]()
    expect_equal(bandit$best(), fresh_answer(bandit), info = k)
    expect_false(identical(as.environment(bandit)$.kept$state, before), info = k)
  }
})

test_that("the cache is not used by copies, saved bandits or other logs of the same length", {
  bandit <- kept_bandit()
  first <- bandit$best()
  copy <- bandit$copy()
  expect_null(as.environment(copy)$.kept)
  copy$add(cbind(x = 0.5, y = 0.5), reward = data.frame(yield = 9, impurity = 0))
  copy$best()
  expect_identical(bandit$best(), first)
  file <- tempfile(fileext = ".rds")
  saveRDS(bandit, file)
  loaded <- readRDS(file)
  invisible(loaded$history())
  expect_null(as.environment(loaded)$.kept)
  expect_equal(loaded$best(), first)
  # As many events as before, but others.
  bandit$reset()
  x <- seq(0.05, 0.95, length.out = 6)
  bandit$add(cbind(x = x, y = rev(x)^2), reward = data.frame(yield = -sin(5 * x), impurity = 1 - x))
  expect_equal(bandit$best(), fresh_answer(bandit))
  expect_false(isTRUE(all.equal(bandit$best()$x, first$x)))
})

test_that("after a reset the next refit uses the new log", {
  rewards <- function(sign) sign * c(1, 2, 3, 4, 5)
  x <- c(0.1, 0.3, 0.5, 0.7, 0.9)
  bandit <- auto_bandit(list(x = c(0, 1)))
  bandit$add(x, reward = rewards(1))
  up <- bandit$best()
  bandit$reset()
  bandit$add(x, reward = rewards(-1))
  expect_lt(bandit$best()$x, up$x)
})

test_that("warnings of a cached result are raised each time", {
  bandit <- kept_bandit(limit = -5)
  for (k in 1:2) expect_warning(bandit$best(), class = "gpbandits_infeasible")
  front <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.01, policy_ehvi(),
                     outcomes = list(speed = to_maximize(), cost = to_minimize()))
  front$add(c(0.1, 0.3, 0.9), reward = data.frame(speed = c(1, 2, 3), cost = c(0.1, 0.3, 0.9)))
  first <- front$front()
  expect_identical(front$front(), first)
  expect_length(as.environment(front)$.kept$answers, 1)
  front$add(0.5, reward = data.frame(speed = 9, cost = 0))
  expect_false(identical(front$front(), first))
})

test_that("posteriors and importances are kept while nothing happens, each kind for itself", {
  bandit <- kept_bandit()
  best <- suppressWarnings(bandit$best())
  at <- cbind(x = c(0.2, 0.7), y = 0.5)
  first <- bandit$posterior(at)
  kept <- function(kind) length(as.environment(bandit)$.kept$answers[[kind]])
  expect_identical(bandit$posterior(at), first)
  expect_identical(kept("posterior"), 1L)
  # Ten of a kind, and none of another kind leaves for them.
  for (k in 1:12) bandit$posterior(cbind(x = k / 13, y = 0.1))
  expect_identical(c(kept("posterior"), kept("best")), c(10L, 1L))
  expect_identical(suppressWarnings(bandit$best()), best)
  shares <- input_importance(bandit, points = 64, draws = 4)
  expect_identical(input_importance(bandit, points = 64, draws = 4), shares)
  expect_identical(kept("importance"), 1L)
  bandit$add(cbind(x = 0.5, y = 0.5), reward = data.frame(yield = 5, impurity = 0))
  expect_equal(bandit$posterior(at), bandit$copy()$posterior(at))
  expect_false(identical(bandit$posterior(at), first))
  expect_false(identical(input_importance(bandit, points = 64, draws = 4), shares))
  # What is large is computed each time.
  many <- gp_ucb(seq(0, 1, length.out = 100001), kernel_linear(), 0.01)
  expect_identical(nrow(many$posterior()), 100001L)
  expect_null(as.environment(many)$.kept$answers)
  # Other levels and scales are other questions.
  binary <- gp_ucb(1:3, kernel_se(1), rewards = rewards_binary(), width = 2)
  binary$add(arm = 1:3, reward = c(0, 1, 1))
  expect_false(identical(binary$posterior(), binary$posterior(level = 0.5)))
  expect_false(identical(binary$posterior(), binary$posterior(scale = "latent")))
})
