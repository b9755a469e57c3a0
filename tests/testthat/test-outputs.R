# Maps of outputs against formulas written down again here; nothing of the package's own arithmetic is used to check it.

# Yeo and Johnson (2000), equation 2.1.
ref_power <- function(z, lambda) {
  vapply(z, function(v) {
    if (v >= 0) if (lambda == 0) log(v + 1) else ((v + 1)^lambda - 1) / lambda
    else if (lambda == 2) -log(1 - v) else -((1 - v)^(2 - lambda) - 1) / (2 - lambda)
  }, 0)
}

ref_map <- function(map, y) {
  r <- ref_power((y - map$centre) / map$scale, map$lambda) / map$bulk
  far <- r < -map$tail
  r[far] <- -map$tail - 2 + 2 * exp((r[far] + map$tail) / 2)
  (r - map$shift) / map$spread
}

# The way back, by hand.
ref_back <- function(map, v) {
  r <- map$shift + map$spread * v
  far <- r < -map$tail
  r[far] <- -map$tail + 2 * log(pmax((r[far] + map$tail + 2) / 2, 0))
  z <- vapply(r * map$bulk, function(u) {
    if (u >= 0) if (map$lambda == 0) exp(u) - 1 else (1 + map$lambda * u)^(1 / map$lambda) - 1
    else if (map$lambda == 2) 1 - exp(-u) else 1 - (1 - (2 - map$lambda) * u)^(1 / (2 - map$lambda))
  }, 0)
  y <- map$centre + map$scale * z
  if (is.nan(map$worst)) y else if (map$scale > 0) pmax(y, map$worst) else pmin(y, map$worst)
}

maps <- list(
  plain = new_output_map(0, 1),
  tailed = new_output_map(3, -2, tail = 4, shift = 0.4, spread = 1.7, worst = 90),
  powered = new_output_map(-1, 0.5, lambda = 1.6, bulk = 0.7, shift = -0.3, spread = 2.2),
  zero = new_output_map(0, 3, lambda = 0, tail = 3, shift = 0.1, spread = 0.6, worst = -80),
  two = new_output_map(10, -4, lambda = 2, bulk = 1.3, shift = 0.1, spread = 0.6)
)

test_that("maps are as their formulas say, increase with the sign of scale, and are undone", {
  set.seed(1)
  y <- c(rnorm(40, sd = 5), -80, 90, 0)
  for (map in maps) {
    v <- map_outputs(map, y)
    expect_equal(v, ref_map(map, y), tolerance = tol$identity)
    expect_equal(unmap_outputs(map, v), y, tolerance = 1e-6)
    expect_equal(unmap_outputs(map, v / 3), ref_back(map, v / 3), tolerance = tol$identity)
    expect_equal(order(v), order(sign(map$scale) * y))
  }
  expect_equal(unmap_outputs(maps$tailed, -1000), 90)
  expect_identical(map_outputs(maps$plain, y), y)
  for (bad in list(list(scale = 0), list(lambda = 3), list(spread = -1), list(centre = NaN), list(bulk = 0))) {
    expect_error(map_outputs(utils::modifyList(maps$plain, bad), y))
  }
})

test_that("centre and scale are median and median absolute deviation, and an outlier does not flatten the rest", {
  set.seed(2)
  y <- rnorm(31, 0.35, 0.01)
  outputs <- scale_outputs("minimize", "none")
  map <- fit_output_map(outputs, y)
  expect_equal(map$centre, median(y))
  expect_equal(map$scale, -mad(y))
  z <- -(y - median(y)) / mad(y)
  expect_equal(map_outputs(map, y), (z - mean(z)) / sd(z))
  expect_equal(map$worst, max(y) + 6 * mad(y))
  for (transform in c("none", "auto", "power")) {
    with <- fit_output_map(scale_outputs("minimize", transform), c(y, 3))
    rest <- map_outputs(with, y)
    expect_gt(sd(rest), 0.4)
    expect_equal(which.max(rest), which.min(y))
    expect_gt(diff(range(rest)), 1.5)      # by mean and sd: .1
  }
  huge <- map_outputs(fit_output_map(scale_outputs("minimize"), c(y, 1e6, 1e6)), y)
  expect_gt(diff(range(huge)), 1.5)
  expect_equal(fit_output_map(outputs, c(7, 7, 7))$scale, -7)
  expect_equal(fit_output_map(outputs, c(0, 0))$scale, -1)
  expect_equal(fit_output_map(outputs, c(1, 1, 1, 1, 5))$scale, -0.8)
})

test_that("a power is taken where the likelihood is larger by 2 and not elsewhere, and is the largest", {
  set.seed(3)
  skewed <- exp(rnorm(60))
  map <- fit_output_map(scale_outputs(), skewed)
  z <- (skewed - median(skewed)) / mad(skewed)
  likelihood <- function(lambda) {
    w <- ref_power(z, lambda)
    sum(dnorm(w, mean(w), sqrt(mean((w - mean(w))^2)), log = TRUE)) + (lambda - 1) * sum(sign(z) * log(abs(z) + 1))
  }
  grid <- seq(0, 2, by = 0.01)
  best <- grid[which.max(vapply(grid, likelihood, 0))]
  expect_lt(abs(map$lambda - best), 0.02)
  expect_gt(likelihood(map$lambda), likelihood(1) + 2)
  normal <- rnorm(60)
  expect_equal(fit_output_map(scale_outputs(), normal)$lambda, 1)
  expect_equal(fit_output_map(scale_outputs(transform = "none"), skewed)$lambda, 1)
  expect_false(fit_output_map(scale_outputs(transform = "power"), normal)$lambda == 1)
})

# Moments of u(f) = E back(f + noise), f normal: sums over a fine grid, which are exact to many digits.
ref_moments <- function(map, mean, sd, noise_sd) {
  e <- seq(-8, 8, length.out = 161)
  weight <- dnorm(e) / sum(dnorm(e))
  u <- vapply(mean + sd * e, function(f) sum(weight * ref_back(map, f + noise_sd * e)), 0)
  first <- sum(weight * u)
  c(first, sqrt(sum(weight * (u - first)^2)))
}

test_that("posteriors in the user's units have the moments of the expected reward", {
  frame <- data.frame(mean = c(-1, 0, 0.7), sd = c(0.3, 0.05, 0.6))
  for (name in names(maps)) {
    config <- list(outputs = scale_outputs(), output_map = maps[[name]], noise_var = 0.04)
    found <- in_user_units(frame, config)
    for (k in 1:3) {
      expect_equal(unlist(found[k, ], use.names = FALSE), ref_moments(maps[[name]], frame$mean[k], frame$sd[k], 0.2),
                   tolerance = 2e-5)
    }
  }
})

test_that("a bandit's posterior is that of the mapped rewards, with the map of its last refit", {
  set.seed(4)
  x <- matrix(runif(12), 12)
  y <- 500 - 80 * (x[, 1] - 0.3)^2 + rnorm(12)
  bandit <- gp_bandit(list(x = c(0, 1)), kernel_se(0.4), 0.05, policy_ei(), outputs = scale_outputs("minimize", "none"))
  bandit$add(x = x, reward = y)
  asked <- bandit$suggest()
  z <- -(y - median(y)) / mad(y)
  v <- (z - mean(z)) / sd(z)
  at <- matrix(seq(0, 1, 0.1))
  kernel <- ref_kernel_se(0.4)
  expected <- ref_posterior(kernel(x), kernel(at, x), kernel(at), v, 0.05)
  found <- bandit$posterior(at)
  slope <- -mad(y) * sd(z)
  expect_equal(found$mean, median(y) - mad(y) * (mean(z) + sd(z) * expected$mean), tolerance = 1e-6)
  expect_equal(found$sd, abs(slope) * expected$sd, tolerance = 1e-6)
  # The choice: the largest expected improvement of the mapped rewards.
  grid <- matrix(seq(0, 1, length.out = 2001))
  there <- ref_posterior(kernel(x), kernel(grid, x), kernel(grid), v, 0.05)
  at_data <- ref_posterior(kernel(x), kernel(x), kernel(x), v, 0.05)$mean
  score <- ref_score_ei(there$mean, there$sd, max(at_data))
  expect_lt(abs(asked$x - grid[which.max(score)]), 2e-3)
  # The log has rewards as they are, and the history what was believed at the choice.
  expect_identical(bandit$history()$reward[1:12], y)
  expect_equal(unlist(bandit$history()[13, c("mean", "sd")]), unlist(bandit$posterior(matrix(asked$x))),
               tolerance = tol$identity)
})

test_that("one reward's own noise variance is in the reward's units", {
  bandit <- gp_bandit(list(x = c(0, 1)), kernel_se(0.4), 0.01, policy_ei(), outputs = scale_outputs(transform = "none"))
  x <- c(0.1, 0.3, 0.5, 0.7, 0.9)
  y <- c(10, 14, 15, 13, 11)
  own <- c(NA, 4, NA, NA, 0.25)
  bandit$add(x = x, reward = y, noise_var = own)
  bandit$suggest()
  z <- (y - 13) / mad(y)
  v <- (z - mean(z)) / sd(z)
  noise <- ifelse(is.na(own), 0.01, own / (mad(y) * sd(z))^2)
  kernel <- ref_kernel_se(0.4)
  expected <- ref_posterior(kernel(matrix(x)), kernel(matrix(x), matrix(x)), kernel(matrix(x)), v, noise)
  expect_equal(bandit$posterior(matrix(x))$sd, mad(y) * sd(z) * expected$sd, tolerance = 1e-6)
})

test_that("minimising is maximising the negative, choice by choice, in any units", {
  f <- function(x) (x[[1]] - 0.3)^2 + 0.2 * x[[2]]
  play <- function(direction, unit, shift) {
    set.seed(5)
    bandit <- gp_bandit(list(u = c(0, 1), v = c(0, 2)), kernel_matern(2.5, c(0.4, 0.8)), 0.01, policy_ei(),
                        refit = refit_every(4, mean = "fit"), outputs = scale_outputs(direction))
    bandit$add(x = matrix(runif(12), 6), reward = unit * vapply(1:6, function(k) f(c(k / 7, k %% 3)), 0) + shift)
    for (k in 1:8) {
      q <- bandit$suggest()
      bandit$observe(q$id, unit * f(unlist(q[c("u", "v")])) + shift)
    }
    bandit
  }
  down <- play("minimize", 1, 0)
  up <- play("maximize", -1, 0)
  expect_equal(down$history()[c("u", "v")], up$history()[c("u", "v")])
  expect_equal(down$history()$mean, -up$history()$mean)
  expect_equal(down$best()[c("u", "v", "sd")], up$best()[c("u", "v", "sd")])
  large <- play("minimize", 1e6, 1e7)
  expect_equal(large$history()[c("u", "v")], down$history()[c("u", "v")], tolerance = 1e-3)
  expect_equal((large$best()$mean - 1e7) / 1e6, down$best()$mean, tolerance = 1e-3)
})

test_that("copies, files, journals and amendments go on as the original", {
  file <- tempfile()
  make <- function(...) {
    gp_bandit(1:20, kernel_se(4), 0.01, policy_ucb(width_constant(2)), pending = pending_hallucinate(),
              refit = refit_every(3, mean = "fit"), outputs = scale_outputs("minimize"), ...)
  }
  bandit <- make(journal = file)
  set.seed(6)
  for (k in 1:9) {
    q <- bandit$suggest()
    bandit$observe(q$id, 100 + (q$x1 - 13)^2 + (k == 4) * 1e4)
  }
  bandit$amend(4, 120)
  others <- list(bandit$copy(), unserialize(serialize(bandit$copy(), NULL)))
  set.seed(7)
  bandit$suggest(3)
  for (other in others) {
    other$suggest(3)
    expect_identical(other$history(), bandit$history())
    expect_equal(other$posterior(), bandit$posterior(), tolerance = tol$replay)
  }
  expect_identical(open_bandit(file)$history(), bandit$history())
  expect_equal(open_bandit(file)$posterior(), bandit$posterior(), tolerance = tol$replay)
  expect_output(print(bandit), "minimised")
  unlink(file)
})

test_that("stop rules, draws and summaries are in the reward's units", {
  bandit <- gp_bandit(1:10, kernel_se(3), 0.01, policy_ucb(width_constant(2)),
                      outputs = scale_outputs("minimize", "none"))
  y <- 1000 + 50 * (1:10 - 4)^2
  bandit$add(arm = 1:10, reward = y)
  bandit$suggest()
  post <- bandit$posterior()
  gap <- bandit$certificate(stop_gap(1e4))$gap
  expect_equal(gap, min(post$mean + 2 * post$sd) - min(post$mean - 2 * post$sd), tolerance = 1e-6)
  set.seed(7)
  drawn <- bandit$draw(4000)
  expect_lt(max(abs(rowMeans(drawn) - post$mean) / post$sd), 5 / sqrt(4000))
  stalled <- bandit$copy()
  expect_equal(stalled$certificate(stop_stalled(2))$since, 6)
  expect_equal(bandit$best()$arm, 4)
})

test_that("outputs are refused where they have no meaning", {
  make <- function(...) gp_bandit(1:5, kernel_se(1), 0.1, policy_ei(), ...)
  expect_error(make(outputs = "minimize"), "scale_outputs", class = "gpbandits_error")
  expect_error(make(outputs = scale_outputs(), constraints = constraints_noiseless(epoch = 5)), "`outputs`",
               class = "gpbandits_error")
  expect_error(make(outputs = scale_outputs(), changes = change_never(1)), "`outputs`", class = "gpbandits_error")
  expect_error(scale_outputs("down"), class = "gpbandits_error")
  expect_error(scale_outputs(transform = "log"), class = "gpbandits_error")
})
