# Plots of the acquisition function, which is largest at the next point.

drawn_quietly <- function(code) {
  local_device()
  code
}

test_that("the acquisition function along arms is the bound of GP-UCB, and largest at the next choice", {
  bandit <- gp_ucb(seq(0, 1, length.out = 30), kernel_se(0.2), noise_var = 0.01)
  bandit$add(arm = c(3, 20, 28), reward = c(1, 0.2, 0.5))
  before <- bandit$history()
  drawn <- drawn_quietly(plot(bandit, "acquisition"))
  expect_identical(bandit$history(), before)
  asked <- bandit$copy()
  query <- asked$suggest()
  expect_equal(drawn$acquisition, drawn$mean + asked$history()$width[4] * drawn$sd, tolerance = 1e-9)
  expect_equal(drawn$value[which.max(drawn$acquisition)], query$x1)
  expect_equal(attr(drawn, "next_choice")$x1, query$x1)
  skip_if_not_installed("ggplot2")
  expect_identical(ggplot2::autoplot(bandit, "acquisition")$data, drawn)
})

test_that("in a space of numbers and levels no drawn point exceeds the next one, with and without ggplot2", {
  set.seed(1)
  space <- search_space(x = c(0, 4), level = c("low", "high"), n = param_integer(1, 3))
  bandit <- auto_bandit(space, direction = "minimize", n_initial = 5)
  for (k in 1:8) {
    q <- bandit$suggest()
    bandit$observe(q$id, (q$x - 1)^2 + (q$level == "low") + q$n / 3)
  }
  set.seed(2)
  drawn <- drawn_quietly(plot(bandit, "acquisition"))
  set.seed(2)
  query <- bandit$copy()$suggest()
  expect_equal(attr(drawn, "next_choice")[c("x", "level", "n")], query[c("x", "level", "n")], ignore_attr = TRUE)
  expect_setequal(unique(drawn$input), c("x", "level", "n"))
  here <- drawn[drawn$input == "level" & drawn$label == query$level, "acquisition"]
  expect_true(all(drawn$acquisition <= here * (1 + 1e-6), na.rm = TRUE))
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(bandit, "acquisition")
  warned <- character()
  old <- options(warnPartialMatchDollar = TRUE)
  on.exit(options(old))
  withCallingHandlers(drawn_quietly(print(picture)), warning = function(w) {
    warned <<- c(warned, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect_identical(warned, character())
})

test_that("no acquisition function is drawn where there is none", {
  random <- gp_bandit(c(0, 1, 2), kernel_se(1), 0.1, policy_uniform())
  random$add(arm = 1, reward = 1)
  before <- grDevices::dev.list()
  expect_error(plot(random, "acquisition"), "draws points at random", class = "gpbandits_error")
  expect_identical(grDevices::dev.list(), before)
})

test_that("a due refit is made once for the plot", {
  set.seed(1)
  bandit <- gp_ei(list(x = c(0, 1)), kernel_matern(2.5, 0.3), noise_var = 0.01, refit = refit_every(5))
  for (k in 1:10) {
    q <- bandit$suggest()
    bandit$observe(q$id, sin(5 * q$x))
  }
  fits <- 0
  inside <- asNamespace("gpbandits")
  suppressMessages(trace("cpp_bandit_fit", function() fits <<- fits + 1, where = inside, print = FALSE))
  on.exit(suppressMessages(untrace("cpp_bandit_fit", where = inside)))
  bandit$copy()$suggest()
  once <- fits
  expect_gt(once, 0)
  drawn_quietly(plot(bandit, "acquisition"))
  expect_identical(fits, 2 * once)
})
