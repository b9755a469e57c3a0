# The problems with long-term constraints: functions by hand, optima found another way.

test_that("the small feasible region is the paper's", {
  grid <- benchmark_problem("small_feasible", grid = 41)
  x <- grid$domain$x
  expect_identical(dim(x), c(1681L, 2L))
  expect_equal(grid$reward_values[, 1], -sin(x[, 1]) - x[, 2], ignore_attr = TRUE)
  g <- sin(x[, 1]) * sin(x[, 2]) + 0.95
  expect_equal(grid$constraint_values[, 1], g, ignore_attr = TRUE)
  expect_equal(grid$optimum, max(grid$reward_values[g <= 0]))
  fine <- benchmark_problem("small_feasible", grid = 601)
  expect_equal(mean(fine$constraint_values <= 0), 0.0177, tolerance = 0.01)
  box <- benchmark_problem("small_feasible", grid = NULL)
  expect_equal(box$optimum, -0.2532, tolerance = 1e-3)
  # The boundary sin(x2) = -0.95 / sin(x1) in one line of x1: the best of it is the optimum.
  x1 <- seq(pi, 6, length.out = 1e5)
  x1 <- x1[sin(x1) < -0.95]
  expect_equal(box$optimum, max(-sin(x1) - asin(-0.95 / sin(x1))), tolerance = 1e-7)
  expect_lt(fine$optimum, box$optimum)
  expect_gt(fine$optimum, box$optimum - 0.02)
  set.seed(1)
  noise <- benchmark_problem("small_feasible", grid = 9, noisy = TRUE)$constraint_noise[[1]]$draw(2000)
  expect_equal(stats::sd(noise), 0.1, tolerance = 0.1)
  expect_identical(unique(benchmark_problem("small_feasible", grid = 9)$constraint_noise[[1]]$draw(9)), 0)
})

test_that("data rates are allocated as described, and the search finds the best", {
  skip_on_cran()
  box <- benchmark_problem("rate_allocation", grid = NULL)
  f <- box$reward_functions[[1]]
  at <- function(v) f(matrix(v, 1, 4))
  expect_equal(c(at(0), at(2)), c(0, 4))
  one <- matrix(c(1, 0, 0, 0), 1)
  expect_equal(f(one), 0.5)
  expect_equal(f(one[, c(2, 1, 3, 4), drop = FALSE]), log(6) / log(11))
  # The constraint binds: given two rates the last is the rest of the budget.
  best <- -Inf
  from <- rbind(c(0, 0, 0), expand.grid(c(0.2, 1.4), c(0.2, 1.4), c(0.2, 1.4)))
  for (i in seq_len(nrow(from))) {
    value <- function(v) {
      last <- (2 - sum(c(0.2, 0.4, 0.8) * v)) / 1.2
      if (any(v < 0 | v > 2) || last < 0) return(10)
      -at(c(v, min(last, 2)))
    }
    found <- stats::optim(unlist(from[i, ]), value, control = list(maxit = 4000, reltol = 1e-13))
    best <- max(best, -stats::optim(found$par, value, control = list(maxit = 4000, reltol = 1e-13))$value)
  }
  expect_equal(box$optimum, best, tolerance = 1e-6)
  grid <- benchmark_problem("rate_allocation", grid = 6)
  g <- drop(grid$domain$x %*% c(0.2, 0.4, 0.8, 1.2)) - 2
  expect_equal(grid$constraint_values[, 1], g, ignore_attr = TRUE)
  expect_equal(grid$optimum, max(grid$reward_values[g <= 0]))
  expect_lte(grid$optimum, box$optimum)
  noise <- benchmark_problem("rate_allocation", grid = 3, noisy = TRUE)$constraint_noise[[1]]$draw(500)
  expect_true(all(abs(noise) <= 0.2) && max(abs(noise)) > 0.15)
  steep <- benchmark_problem("rate_allocation", grid = 3, a = c(20, 5, 20, 5))
  expect_gt(steep$reward_values[3], grid$reward_values[1])
})

test_that("grids and utilities are checked", {
  for (bad in list(1, 2.5, "a", NA, c(3, 3), Inf)) {
    expect_error(benchmark_problem("small_feasible", grid = bad), class = "gpbandits_error", regexp = "grid")
    expect_error(benchmark_problem("rate_allocation", grid = bad), class = "gpbandits_error", regexp = "grid")
  }
  expect_error(benchmark_problem("small_feasible", grid = 3), class = "gpbandits_error", regexp = "feasible")
  expect_error(benchmark_problem("rate_allocation", grid = 3, a = 1), class = "gpbandits_error", regexp = "`a`")
  expect_error(benchmark_problem("small_feasible", noisy = NA), class = "gpbandits_error", regexp = "noisy")
})

test_that("an unknown problem, and settings of the other one, are errors", {
  expect_error(benchmark_problem("small"), "small_feasible.*rate_allocation", class = "gpbandits_error")
  expect_error(benchmark_problem(), "`name`", class = "gpbandits_error")
  expect_error(benchmark_problem("small_feasible", b = 1:4), "`b`.*rate_allocation", class = "gpbandits_error")
  expect_error(benchmark_problem("small_feasible", gird = 5), "`gird`.*`grid`", class = "gpbandits_error")
})
