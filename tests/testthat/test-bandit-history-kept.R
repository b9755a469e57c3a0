# Columns of `$history()` are used when another bandit starts from it: noise variances, replicates, pending values.

test_that("noise variances of single rewards are in the history, and `data` uses them", {
  set.seed(1)
  b <- auto_bandit(list(x = c(0, 1)))
  q <- b$suggest(6)
  y <- c(0, 0, 1, 0, 0, 0)
  b$observe(data.frame(id = q$id, reward = y, noise_var = ifelse(y == 1, 100, 1e-6)))
  expect_equal(b$history()$noise_var, ifelse(y == 1, 100, 1e-6))
  again <- auto_bandit(list(x = c(0, 1)), data = b$history())
  at <- data.frame(x = q$x)
  expect_equal(again$posterior(at), b$posterior(at), tolerance = 1e-6)
  expect_equal(again$history()$noise_var, b$history()$noise_var)
  data <- data.frame(x = q$x, reward = y, noise_var = c(NA, NA, 100, NA, NA, NA))
  plain <- auto_bandit(list(x = c(0, 1)), data)
  expect_equal(plain$history()$noise_var, c(NA, NA, 100, NA, NA, NA))
  # Nothing was said: no column.
  expect_false("noise_var" %in% names(auto_bandit(list(x = c(0, 1)), data.frame(x = 0.5, reward = 1))$history()))
  expect_error(auto_bandit(list(x = c(0, 1)), data.frame(x = 0.5, reward = 1, noise_var = -1)), "noise_var",
               class = "gpbandits_error")
  # An amendment leaves it; a query that is open has none.
  b$amend(q$id[1], 0.1)
  expect_equal(b$history()$noise_var, ifelse(y == 1, 100, 1e-6))
  b$suggest()
  expect_identical(utils::tail(b$history()$noise_var, 1), NA_real_)
})

test_that("inputs may have the names of the package's columns", {
  b <- auto_bandit(list(noise_var = c(0, 1), size = c(0, 1)))
  b$add(x = c(noise_var = 0.2, size = 0.3), reward = 1, noise_var = 0.5)
  b$add(x = c(noise_var = 0.9, size = 0.6), reward = 2)
  h <- b$history()
  expect_equal(h$.noise_var, c(0.5, NA))
  again <- auto_bandit(list(noise_var = c(0, 1), size = c(0, 1)), data = h)
  expect_equal(again$history()[c("noise_var", "size", "reward", ".noise_var")],
               h[c("noise_var", "size", "reward", ".noise_var")])
})

test_that("replicates of a query count as several measurements in a bandit that continues from the history", {
  set.seed(2)
  x <- seq(0, 1, length.out = 6)
  b <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.25, policy_ucb(2))
  for (k in 1:6) b$add(x = x[k])
  for (k in 1:6) b$observe(k, sin(6 * x[k]) + c(0.5, -0.5, 0.25, 0.1)[seq_len(1 + k %% 4)])
  h <- b$history()
  expect_equal(h$size[h$size %in% 2:4], (1 + 1:6 %% 4)[1 + 1:6 %% 4 > 1])
  again <- auto_bandit(list(x1 = c(0, 1)), data = h,
                       model = gp_model(refit = NULL, kernel = kernel_se(0.3), noise_var = 0.25))
  expect_equal(again$history()$size, h$size)
  expect_equal(again$history()$spread, h$spread)
  # More measurements, less noise: the same data with one measurement each is further from its values.
  single <- auto_bandit(list(x1 = c(0, 1)), data = h[setdiff(names(h), c("size", "spread"))],
                        model = gp_model(refit = NULL, kernel = kernel_se(0.3), noise_var = 0.25))
  at <- data.frame(x1 = x[3])
  expect_lt(again$posterior(at)$sd, single$posterior(at)$sd)
})

test_that("a search uses the noise variances of the points in `data`", {
  known <- data.frame(x = c(0.1, 0.5, 0.9), reward = c(0, 5, 0), noise_var = c(NA, 100, NA))
  set.seed(1)
  found <- maximize_bandit(function(p) -(p[["x"]] - 0.3)^2, list(x = c(0, 1)), 6, data = known)
  expect_equal(found$bandit$history()$noise_var[1:3], known$noise_var)
  expect_equal(nrow(found$history), 9)
})

test_that("values of a new outcome are pending for all old rows, and can be reported", {
  set.seed(1)
  old <- auto_bandit(list(x = c(0, 1)), outcomes = list(yield = to_maximize(), cost = at_most(3)))
  q <- old$suggest(4)
  old$observe(data.frame(id = q$id, yield = c(1, 3, 2, 4), cost = c(1, 2, 5, 4)), noise_var = NULL)
  old$observe(old$suggest()$id, c(yield = 2))
  b <- auto_bandit(list(x = c(0, 1)), data = old$history(),
                   outcomes = list(yield = to_maximize(), cost = at_most(3), ph = at_least(5)))
  expect_identical(b$history()$status, rep("partial", 5))
  b$observe(2, c(ph = 6))
  expect_identical(b$history()$status, replace(rep("partial", 5), 2, "observed"))
  expect_equal(b$history()$ph, c(NA, 6, NA, NA, NA))
  # What was withdrawn before stays so.
  old$withdraw(5, outcome = "cost")
  again <- auto_bandit(list(x = c(0, 1)), data = old$history(),
                       outcomes = list(yield = to_maximize(), cost = at_most(3)))
  expect_identical(again$history()$status, rep("observed", 5))
  # From one outcome to two.
  single <- auto_bandit(list(x = c(0, 1)), data.frame(x = c(0.1, 0.7), reward = 1:2))
  limited <- auto_bandit(list(x = c(0, 1)), data = single$history(), limits = ~ impurity <= 2)
  expect_identical(limited$history()$status, c("partial", "partial"))
  limited$observe(1, c(impurity = 1))
  expect_identical(limited$history()$status, c("observed", "partial"))
})

test_that("each outcome's noise variances are in the history, and `data` uses them", {
  set.seed(1)
  old <- auto_bandit(list(x = c(0, 1)), outcomes = list(yield = to_maximize(), cost = at_most(3)))
  q <- old$suggest(3)
  for (k in 1:3) old$observe(q$id[k], c(yield = k, cost = 4 - k), noise_var = c(yield = k / 10))
  h <- old$history()
  expect_equal(h$yield_noise_var, 1:3 / 10)
  expect_false("cost_noise_var" %in% names(h))
  again <- auto_bandit(list(x = c(0, 1)), data = h, outcomes = list(yield = to_maximize(), cost = at_most(3)))
  expect_equal(again$history()$yield_noise_var, 1:3 / 10)
})
