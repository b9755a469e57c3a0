# What is no error but hardly meant is said once.

test_that("rewards far from the prior raise one warning, with the remedy", {
  b <- gp_ucb(1:9, kernel_se(2), 0.01)
  expect_no_warning(b$add(arm = 1:3, reward = c(2.9, -3, 1)))
  expect_warning(b$add(arm = 4, reward = 43), "refit_every", class = "gpbandits_far")
  expect_no_warning(b$add(arm = 5, reward = 99))
  expect_no_warning(b$observe(b$suggest()$id, 99))
  reported <- gp_ucb(1:9, kernel_se(2, variance = 4), 0.01, mean = 80)
  expect_no_warning(reported$add(arm = 1:3, reward = c(80, 85, 77)))
  id <- reported$suggest()$id
  expect_warning(reported$observe(id, 10), "prior mean (80)", fixed = TRUE)
  expect_identical(reported$history()$reward[id], 10)
})

test_that("so do rewards that are all at the edge of the range that noise and variance allow", {
  b <- gp_ucb(1:9, kernel_se(2), 0.01)
  b$add(arm = 1, reward = 3.5)
  expect_no_warning(b$add(arm = 2, reward = 4))
  expect_warning(b$add(arm = 3, reward = 4), class = "gpbandits_far")
  by_arm <- gp_ucb(1:9, kernel_se(2), 0.01, mean = 11:19)
  expect_no_warning(by_arm$add(arm = c(1, 5, 9), reward = c(11, 15, 19)))
  expect_warning(by_arm$add(arm = c(1, 5, 9), reward = c(31, 15, 19)), class = "gpbandits_far")
  fitted <- gp_ucb(1:9, kernel_se(2), 0.01, refit = refit_every(3))
  expect_no_warning(fitted$add(arm = 1:3, reward = c(43, 44, 45)))
})

test_that("a batch that must repeat a point raises one warning, with the remedy", {
  b <- gp_ucb(1:9, kernel_se(2), 0.01)
  expect_no_warning(b$suggest())
  expect_warning(q <- b$suggest(4), "pending_hallucinate", class = "gpbandits_repeats")
  expect_identical(length(unique(q$arm)), 1L)
  expect_no_warning(b$suggest(4))
  expect_no_warning(gp_ucb(1:9, kernel_se(2), 0.01, pending = pending_hallucinate())$suggest(4))
  expect_no_warning(gp_ts(1:9, kernel_se(2), 0.01, B = 1, R = 1)$suggest(4))
})
