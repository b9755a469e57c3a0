# $expected_improvement(): against formulas and simulations in plain R.

# A model that is given, so that nothing is fitted: arms on a line.
given_model <- function(noise_var, known = c(3, 10, 16), policy = policy_ei(), ...) {
  x <- seq(0, 1, length.out = 20)
  b <- gp_bandit(x, kernel_se(0.2), noise_var, policy, ...)
  b$add(arm = known, reward = sin(6 * x[known]))
  b
}

given_yes_no <- function() {
  b <- gp_bandit(1:20 / 20, kernel_se(0.3), policy = policy_ucb(width_constant(1)), rewards = rewards_binary())
  b$add(arm = 1:10, reward = rep(0:1, 5))
  b
}

test_that("without noise, one experiment adds the largest expected improvement", {
  b <- gp_bandit(1:20 / 20, kernel_se(0.2), 1e-8, policy_ei())
  b$add(arm = c(4, 10, 16), reward = c(-0.5, 1, -0.5))
  at <- b$posterior()
  best <- at$mean[10]
  expect_identical(b$best()$arm, 10L)
  z <- (at$mean - best) / at$sd
  expected <- (at$mean - best) * pnorm(z) + at$sd * dnorm(z)
  found <- b$expected_improvement(1)
  next_one <- b$copy()$suggest()$arm
  expect_equal(found$mean, expected[next_one], tolerance = 0.05)
  expect_equal(found$probability, pnorm(z[next_one]), tolerance = 0.05)
  far <- expected[next_one] + at$sd[next_one]
  expect_equal(b$expected_improvement(1, at_least = far)$probability,
               pnorm((at$mean[next_one] - best - far) / at$sd[next_one]), tolerance = 0.1)
})

# The recommended arm's f after n results, less that without them, with everything drawn from the joint posterior.
simulated_gain <- function(b, x, noise_var, ids, pending, draws = 4000) {
  known <- b$history()
  known <- known[known$status == "observed", ]
  cov_of <- function(a, c) exp(-outer(a, c, "-")^2 / 2 / 0.2^2)
  gram <- cov_of(known$x1, known$x1) + diag(noise_var, nrow(known))
  at <- x[c(b$best()$arm, pending, ids)]
  mean <- drop(cov_of(at, known$x1) %*% solve(gram, known$reward))
  cov <- cov_of(at, at) - cov_of(at, known$x1) %*% solve(gram, cov_of(known$x1, at))
  root <- chol(cov + diag(1e-9, length(at)))
  updated <- function(y, rows) {
    if (length(rows) == 0) return(mean)
    mean + drop(cov[, rows, drop = FALSE] %*%
                  solve(cov[rows, rows] + diag(noise_var, length(rows)), y[rows] - mean[rows]))
  }
  replicate(draws, {
    f <- mean + drop(crossprod(root, rnorm(length(at))))
    y <- f + rnorm(length(at), sd = sqrt(noise_var))
    f[which.max(updated(y, seq_along(at)[-1]))] - f[which.max(updated(y, 1 + seq_along(pending)))]
  })
}

test_that("with noise and pending experiments it is the gain of the recommended point in simulations", {
  set.seed(1)
  x <- seq(0, 1, length.out = 20)
  b <- given_model(0.3, pending = pending_hallucinate())
  asked <- b$suggest(2)$arm
  ahead <- b$copy()$suggest(3)$arm
  gain <- simulated_gain(b, x, 0.3, ahead, asked)
  found <- b$expected_improvement(3, at_least = 0.1)
  error <- sd(gain) / sqrt(length(gain)) * sqrt(1 + 4000 / 4096)
  expect_lt(abs(found$mean - mean(gain)), 4 * error)
  expect_equal(found$sd, sd(gain), tolerance = 0.1)
  expect_lt(abs(found$probability - mean(gain > 0.1)), 4 * sqrt(0.25 / 2000))
})

# The area that points (rows) dominate above the reference, for two objectives.
area_above <- function(front, reference) {
  front <- front[order(-front[, 1]), , drop = FALSE]
  height <- cummax(pmax(front[, 2] - reference[2], 0))
  width <- pmax(front[, 1] - c(front[-1, 1], reference[1]), 0)
  sum(pmax(width, 0) * height)
}

test_that("with several objectives it is the gain of the front's hypervolume in simulations", {
  x <- seq(0, 1, length.out = 20)
  reference <- c(a = -3, b = 3)
  b <- gp_bandit(x, kernel_se(0.2), 1e-6, policy_ehvi(reference), outcomes = list(a = to_maximize(), b = to_minimize()),
                 pending = pending_hallucinate())
  known <- c(3, 10, 17)
  y <- cbind(sin(6 * x), cos(4 * x))
  b$add(arm = known, reward = data.frame(a = y[known, 1], b = y[known, 2]))
  ahead <- b$copy()$suggest(2)$arm
  k_of <- function(a, c) exp(-outer(a, c, "-")^2 / 2 / 0.2^2)
  solved <- k_of(x[ahead], x[known]) %*% solve(k_of(x[known], x[known]) + diag(1e-6, 3))
  root <- chol(k_of(x[ahead], x[ahead]) - solved %*% k_of(x[known], x[ahead]) + diag(1e-9, 2))
  signed <- cbind(y[known, 1], -y[known, 2])
  now <- area_above(signed, c(-3, -3))
  set.seed(2)
  gain <- replicate(3000, {
    new <- vapply(1:2, function(k) drop(solved %*% signed[, k] + crossprod(root, rnorm(2))), numeric(2))
    area_above(rbind(signed, new), c(-3, -3)) - now
  })
  found <- b$expected_improvement(2, at_least = 0.5)
  expect_equal(found$hypervolume, now, tolerance = 1e-2)
  expect_lt(abs(found$mean - mean(gain)), 4 * sd(gain) * sqrt(1 / 3000 + 1 / 512))
  expect_equal(found$sd, sd(gain), tolerance = 0.15)
  expect_lt(abs(found$probability - mean(gain > 0.5)), 4 * sqrt(0.25 / 500))
  # Where a limit does not hold nothing is gained.
  limited <- gp_bandit(x, kernel_se(0.2), 1e-6, policy_ehvi(reference),
                       outcomes = list(a = to_maximize(), b = to_minimize(), c = at_most(0)))
  limited$add(arm = known, reward = data.frame(a = y[known, 1], b = y[known, 2], c = -1))
  limited$add(arm = setdiff(1:20, known), reward = data.frame(a = y[-known, 1], b = y[-known, 2], c = 1))
  expect_lt(limited$expected_improvement(2)$mean, 1e-3)
})

test_that("it changes neither the bandit nor the random numbers, and gives the same answer in a copy", {
  b <- given_model(0.1)
  set.seed(4)
  before <- .Random.seed
  found <- b$expected_improvement(4)
  expect_identical(.Random.seed, before)
  expect_identical(nrow(b$history()), 3L)
  expect_identical(b$copy()$expected_improvement(4), found)
  expect_gte(found$mean, b$expected_improvement(1)$mean)
  expect_gte(found$probability, b$expected_improvement(4, at_least = 0.2)$probability)
})

test_that("a decrease of what is minimised is a gain, in the user's units", {
  gain_of <- function(sign, factor) {
    set.seed(2)
    b <- auto_bandit(list(x = c(0, 1)), direction = if (sign > 0) "maximize" else "minimize", n_initial = 5)
    for (k in 1:7) {
      q <- b$suggest()
      b$observe(q$id, sign * factor * sin(5 * q$x))
    }
    b$expected_improvement(2)
  }
  first <- gain_of(1, 1)
  expect_true(first$mean > 0 && first$probability > 0)
  expect_equal(gain_of(-1, 1), first, tolerance = 1e-6)
  expect_equal(gain_of(1, 128)[c("mean", "sd")], 128 * first[c("mean", "sd")], tolerance = 1e-6)
})

test_that("before the model is fitted there is no number, and where there is none the error states why", {
  b <- auto_bandit(list(x = c(0, 1)))
  expect_true(all(is.na(b$expected_improvement(2))))
  b$add(data.frame(x = 0.5), reward = 1)
  expect_true(all(is.na(b$expected_improvement(2))))
  expect_output(print(b), "best")
  expect_error(given_model(0.1)$expected_improvement(0), "`n`", class = "gpbandits_argument_error")
  expect_error(given_model(0.1)$expected_improvement(at_least = -1), "`at_least`", class = "gpbandits_argument_error")
  pairs <- gp_bandit(1:5, kernel_se(1), policy = policy_duel(2), rewards = rewards_preferences())
  expect_error(pairs$expected_improvement(), "comparisons", class = "gpbandits_state_error")
})

test_that("rewards with a likelihood, limits, contexts and stores have it too", {
  set.seed(3)
  yes_no <- given_yes_no()
  found <- yes_no$expected_improvement(5)
  expect_true(found$mean > 0 && found$mean < 1 && found$probability > 0)
  limited <- gp_ei(1:30 / 30, kernel_se(0.2), 1e-4, outcomes = list(y = to_maximize(), z = at_most(0.5)))
  limited$add(arm = c(3, 12, 25), reward = data.frame(y = c(0.2, 0.5, 3), z = c(0.1, 0.4, 2)))
  inside <- limited$expected_improvement(3)
  expect_true(is.finite(inside$mean) && inside$mean < 2.5)
  beyond <- gp_ei(1:30 / 30, kernel_se(0.2), 1e-4, outcomes = list(y = to_maximize(), z = at_most(-9)))
  beyond$add(arm = 3, reward = data.frame(y = 0.2, z = 0.1))
  expect_true(is.na(beyond$expected_improvement(3)$mean))
  # Results of pending experiments that may contradict the limits do not leave it without a number.
  open <- gp_ei(1:30 / 30, kernel_se(0.2), 1e-2, outcomes = list(y = to_maximize(), z = at_most(0.5)),
                pending = pending_hallucinate())
  open$add(arm = c(3, 25), reward = data.frame(y = c(0.2, 3), z = c(0.45, 2)))
  open$add(arm = c(3, 4, 6, 8, 20))
  expect_true(is.finite(open$expected_improvement(3)$mean))
  context <- gp_ucb(1:5, kernel_se(2), 0.1, contexts = "t")
  context$add(arm = 1:3, context = matrix(c(0, 1, 1)), reward = c(1, 2, 1))
  expect_false(identical(context$expected_improvement(1, context = 0), context$expected_improvement(1, context = 1)))
  expect_error(context$expected_improvement(1), "`context`", class = "gpbandits_error")
})

test_that("one result of a yes or no has the information p (1 - p)", {
  b <- as.environment(given_yes_no())
  noise <- gpbandits:::noise_of_responses(list(mean = c(-1, 0, 2)), b$config)
  expect_equal(noise, 1 / dlogis(c(-1, 0, 2)), tolerance = 1e-6)
})

test_that("after adding arms and after refits the lean copy has the posterior of the bandit", {
  set.seed(5)
  b <- auto_bandit(finite_domain(data.frame(u = 1:8, v = c(1, 3, 2, 5, 4, 6, 8, 7))), n_initial = 3)
  for (k in 1:6) {
    q <- b$suggest()
    b$observe(q$id, sin(q$u) + q$v / 10)
  }
  b$add_arms(data.frame(u = c(9, 10), v = c(1, 2)))
  inside <- as.environment(b)
  twin <- gpbandits:::twin_without_refits(inside)
  of <- function(bandit) gpbandits:::posterior_at(bandit, gpbandits:::all_points(bandit$config$domain), NULL)
  expect_equal(of(twin), of(inside), tolerance = 1e-8)
  expect_true(is.finite(b$expected_improvement(4)$mean))
})

test_that("print() and plot() of a fitted bandit have the gain of the next four experiments", {
  set.seed(6)
  b <- auto_bandit(list(x = c(0, 1)), n_initial = 4, reward = "yield")
  for (k in 1:7) {
    q <- b$suggest()
    b$observe(q$id, sin(5 * q$x))
  }
  gain <- b$expected_improvement(4)
  expect_output(print(b), sprintf("gain +the next 4 are expected to add %.2g", gain$mean))
  local_device()
  drawn <- plot(b, "progress")
  expect_identical(drawn$best, cummax(b$history()$yield))
  expect_equal(attr(drawn, "ahead")$expected, b$best()$mean + gain$mean)
  expect_identical(attr(drawn, "ahead")$evaluation, 11)
})

test_that("half of the draws treat results as if they came in random order", {
  set.seed(7)
  b <- auto_bandit(finite_domain(1:40), n_initial = 4)
  for (k in 1:12) b$observe(b$suggest()$id, rnorm(1))
  inside <- as.environment(b)
  means <- gpbandits:::means_at_evaluated(inside)
  at <- unique(b$history()$arm)
  expect_equal(means, b$posterior(arm = at)$mean)
  spread <- min(max(means) - median(means), median(means) - min(means))
  count <- gpbandits:::new_points(gpbandits:::asked_ahead(inside, 4, gpbandits:::contexts_for(inside, NULL, 1L)))
  chance <- count / (12 + count)
  gain <- gpbandits:::with_records(rep(0, 4096), means, chance)
  expect_equal(mean(gain > 0), chance / 2, tolerance = 0.01)
  expect_equal(mean(gain), chance * spread / 2, tolerance = 0.01)
  expect_equal(sd(gain[gain > 0]), spread, tolerance = 0.05)
  expect_gte(b$expected_improvement(4)$probability, chance / 2 - 0.01)
  expect_identical(gpbandits:::with_records(rep(0, 10), means, 0), rep(0, 10))
})
