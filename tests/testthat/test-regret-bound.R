gains <- c(0.5, 0.9, 1.2, 1.4)

test_that("Srinivas et al., Theorems 1-3, by hand at round 3", {
  c1 <- 8 / log(1 + 1 / 0.25)
  expect_equal(regret_bound("srinivas1", 4, gains, noise_var = 0.25, arms = 50, delta = 0.05)[3],
               sqrt(c1 * 3 * 2 * log(50 * 9 * pi^2 / 0.3) * 1.2))
  beta <- 2 * log(9 * 2 * pi^2 / (3 * 0.05)) +
    4 * log(9 * 2 * 1.5 * 3 * sqrt(log(4 * 2 * 0.7 / 0.05)))
  expect_equal(regret_bound("srinivas2", 4, gains, noise_var = 0.25, a = 0.7, b = 1.5, side = 3, d = 2,
                            delta = 0.05)[3], sqrt(c1 * 3 * beta * 1.2) + 2)
  beta <- 2 * 1.5^2 + 300 * 0.9 * log(3 / 0.05)^3
  expect_equal(regret_bound("srinivas3", 4, gains, noise_var = 0.25, B = 1.5, delta = 0.05)[3],
               sqrt(c1 * 3 * beta * 1.2))
  # rewards in other units: f, the noise and the variance scale together
  expect_equal(regret_bound("srinivas1", 4, gains, noise_var = 1, arms = 50, variance = 4),
               2 * regret_bound("srinivas1", 4, gains, noise_var = 0.25, arms = 50))
})

test_that("Chowdhury and Gopalan, by hand; gamma before the first round is 0", {
  width <- 2 + 0.3 * sqrt(2 * (0.9 + 1 + log(1 / 0.05)))
  bound <- regret_bound("igp_ucb", 4, gains, B = 2, R = 0.3, delta = 0.05)
  expect_equal(bound[3], 2 * width * sqrt(4 * 5 * 1.2))
  expect_equal(bound[1], 2 * (2 + 0.3 * sqrt(2 * (1 + log(20)))) * sqrt(4 * 3 * 0.5))

  v <- 2 + 0.3 * sqrt(2 * (0.9 + 1 + log(2 / 0.05)))
  p <- 1 / (4 * exp(1) * sqrt(pi))
  by_hand <- function(c) {
    11 * c / p * sqrt(4 * 5 * 1.2) + 5 * pi^2 / 6 + 19 * c / p * sqrt(6 * log(2 / 0.05))
  }
  expect_equal(regret_bound("gp_ts", 4, gains, B = 2, R = 0.3, arms = 50, delta = 0.05)[3],
               by_hand(v * (1 + sqrt(2 * log(50 * 9)))))
  expect_equal(regret_bound("gp_ts", 4, gains, B = 2, R = 0.3, d = 2, side = 3, L = 5, delta = 0.05)[3],
               by_hand(v * (1 + sqrt(4 * log(3) + 4 * log(2 * 5 * 3 * 2 * 9)))))
})

test_that("Verma et al., Theorems 2 and 3, by hand", {
  c1 <- sqrt(2 / log(1 + 1 / 2))
  ask <- function(theorem, ...) {
    regret_bound(theorem, 4, gains, noise_var = 2, B = 1, R = 0.3, B_y = 1.5, m = 6, rho = 0.8, ...)[3]
  }
  beta <- 1 + 1.8 * sqrt(2 * (0.9 + 1 + log(2 / 0.1)))
  expect_equal(ask("sdf"), 2 / 0.8 * (c1 * beta * sqrt(3 * 1.2) + 6 * 1.5 * c1^2 * 1.2))
  beta <- 1 + 1.8 * sqrt(2 * (0.9 + 1 + log(4 / 0.1)))
  spread <- 1 + sqrt(2 * log(50 * 9))
  p <- 1 / (4 * exp(1) * sqrt(pi))
  expect_equal(ask("ts_sdf", arms = 50),
               11 / (0.8 * p) * spread * (c1 * beta * sqrt(3 * 1.2) + 6 * 1.5 * c1^2 * 1.2) +
                 (4 + 11 * (6 * 1.5 + beta) * spread) / (0.8 * p) * sqrt(6 * log(20)) + pi^2 / 3)
})

test_that("Avanesov's rate, by hand: equal periods give the form in K and T", {
  expect_equal(regret_bound("cpd", 9, nu = 2.5, d = 1, Delta = 0.5, change_points = c(4, 7),
                            constant = 3)[9],
               3 * 2^(2 + 1 / 3) * (4^(11 / 14) + 3^(11 / 14) + 2^(11 / 14)) * log(9)^3)
  expect_equal(regret_bound("cpd", 30, nu = 2.5, d = 1, Delta = 1, change_points = c(10, 20))[30],
               3^(3 / 14) * 30^(11 / 14) * log(30)^3)
  expect_equal(regret_bound("cpd", 6, nu = 1.5, d = 2, Delta = 1),
               (1:6)^(21 / 18) * log(1:6)^3)
})

test_that("Avanesov's finite bound and the samples that a change needs, by hand", {
  x <- 3 * log(40)
  size <- 2 * (0.7 * (0.2^2 + x^2 * 0.1^2))^(7 / 6)
  pairs <- function(nu, d, Delta, B, R, rounds = 3, ...) {
    regret_bound("cpd_finite", rounds, nu = nu, d = d, Delta = Delta, B = B, R = R, quantity = "pairs", ...)
  }
  expect_equal(pairs(2.5, 1, 1, 0.2, 0.1, failure = 4 * exp(-x), constant = 0.7), rep(size, 3))
  expect_equal(pairs(2.5, 1, 1, 0.2, 0.1, rounds = 40, constant = 0.7)[1], size)
  wait <- 2 / 1.5 + 1 / 1.5^2
  ask <- function(..., change_points = NULL) {
    regret_bound("cpd_finite", 40, ..., nu = 2.5, d = 1, Delta = 1, B = 0.2, R = 0.1, explore = 1.5, D = 3,
                 variance = 4, change_points = change_points)
  }
  spread <- 8 / log(1 + 1 / (6 * 0.01 * log(40)))
  # As it is printed, with 1 for the unknown constant: a rate.
  rate <- sqrt(spread * 3 * log(40)^3) * (25^(11 / 14) + 15^(11 / 14)) +
    2 * 0.2 * (1.5 + 2 * (size / 0.7^(7 / 6)) * wait) * (5 + sqrt(15))
  # Periods of 25 and 15 rounds are too short for the lemma; one alone is not.
  expect_gt(size * wait * sqrt(2 * 25), 15)
  expect_warning(found <- ask(change_points = 25), class = "gpbandits_outside_theorem")
  expect_equal(found[40], rate)
  expect_no_warning(ask(log1p(1:40), constant = 0.1))
  # What the proof gives.
  eta <- log1p(c(25, 15))
  beta <- 3 * (2 * 0.2^2 + 300 * eta * log(40^3)^3)
  by_hand <- sum(sqrt(spread * c(25, 15) * beta * eta)) + 2 * 2 * 0.2 * (2 + (1.5 + 2 * size * wait) * (5 + sqrt(15)))
  bound <- suppressWarnings(ask(log1p(1:40), constant = 0.7, change_points = 25))
  expect_equal(bound[40], by_hand)
  expect_gt(bound[40], 2 * 2 * 0.2 * 40)
  # Of the first sum, at a usual size: the print has a 188th.
  true <- sqrt(8 * 1000 * (2 + 300 * 15 * log(1000^3)^3) * 15 / log1p(1 / (6 * 0.05^2 * log(1000))))
  expect_equal(true, 1.43e6, tolerance = 5e-3)
  tiny <- regret_bound("cpd_finite", 1000, 15, nu = 2.5, d = 1, Delta = 1e9, B = 1, R = 0.05, constant = 1)
  expect_equal(tiny[1000] - 2 * (1 + sqrt(3) * sqrt(1000)), true, tolerance = 1e-6)
  printed <- regret_bound("cpd_finite", 1000, nu = 2.5, d = 1, Delta = 1e9, B = 1, R = 0.05)[1000] - sqrt(3000)
  expect_equal(true / printed, 188, tolerance = 5e-3)
  for (arg in list(list(gain = log1p(1:40)), list(constant = 1))) {
    caught <- expect_error(do.call(ask, arg), class = "gpbandits_error")
    expect_identical(caught$argument, "gain")
  }
  # In each half of the window enough samples to detect a change of half the size: 2^(2 + 2/(2 nu + d)) times.
  expect_equal(pairs(1.5, 2, 0.5, 1, 0.1) / pairs(1.5, 2, 1, 1, 0.1), rep(4^(1 + 1 / 5), 3))
  for (bad in list(list(nu = 0), list(d = 1.5), list(Delta = 0), list(B = -1), list(R = -1), list(failure = 1), list(constant = 0),
                   list(gain = 1), list(quantity = "size"))) {
    good <- list(nu = 1, d = 1, Delta = 1, B = 1, R = 1, quantity = "pairs")
    caught <- expect_error(do.call(regret_bound, c(list("cpd_finite", 3), utils::modifyList(good, bad))), class = "gpbandits_error")
    expect_identical(caught$argument, names(bad))
  }
})

test_that("bounds outside their theorems warn, and the warning can be silenced", {
  delayed <- function(noise_var, ..., theorem = "sdf") {
    regret_bound(theorem, 4, gains, noise_var = noise_var, B = 1, R = 0.3, B_y = 1.5, m = 6, rho = 0.8, ...)
  }
  outside <- function(code) expect_warning(code, class = "gpbandits_outside_theorem")
  outside(delayed(1))
  outside(delayed(2, variance = 1.5))
  outside(delayed(0.5, arms = 3, theorem = "ts_sdf"))
  expect_no_warning(delayed(1.01))
  expect_no_warning(delayed(0.1, any_noise_var = TRUE))
  expect_no_warning(suppressWarnings(delayed(1), classes = "gpbandits_outside_theorem"))
  fixed <- function(theorem, noise_var, ...) {
    regret_bound(theorem, 4, gains, B = 1, R = 0.1, noise_var = noise_var, ...)
  }
  outside(fixed("igp_ucb", 1))
  outside(fixed("gp_ts", 0.01, arms = 3))
  outside(fixed("constraints_noiseless", 1.5, epoch = 2))
  expect_no_warning(fixed("igp_ucb", 1.5))
  expect_no_warning(fixed("constraints_noiseless", 2, epoch = 2))
  expect_identical(suppressWarnings(fixed("igp_ucb", 1)), fixed("igp_ucb", 1.5))
})

test_that("any regulariser: factors that the proof of Verma et al. drops are restored", {
  c1 <- sqrt(2 / log(1 + 1 / 0.25))
  beta <- 1 + 1.8 / 0.5 * sqrt(2 * (0.9 + 1 + log(2 / 0.1)))
  bound <- regret_bound("sdf", 4, gains, noise_var = 0.25, B = 1, R = 0.3, B_y = 1.5, m = 6, rho = 0.8,
                        any_noise_var = TRUE)
  expect_equal(bound[3], 2 / 0.8 * (c1 * beta * sqrt(3 * 1.2) + 6 * 1.5 / 0.25 * c1^2 * 1.2))
  # Contexts: over pairs.
  ask <- function(theorem, ...) {
    regret_bound(theorem, 4, gains, noise_var = 2, B = 1, R = 0.3, B_y = 1.5, m = 6, rho = 0.8, ...)
  }
  expect_identical(ask("sdf_context"), ask("sdf"))
  expect_equal(ask("ts_sdf_context", arms = 5, contexts = 7), ask("ts_sdf", arms = 35))
})

test_that("Srinivas et al., Theorem 3, with the gain that the paper prints", {
  beta <- 2 * 1.5^2 + 300 * 1.2 * log(3 / 0.05)^3
  expect_equal(regret_bound("srinivas3", 4, gains, noise_var = 0.25, B = 1.5, delta = 0.05, printed = TRUE)[3],
               sqrt(8 / log(5) * 3 * beta * 1.2))
})

test_that("Shi and Eryilmaz, Theorem 1, by hand", {
  cost <- function(s) 4 * (2 + 0.1 * sqrt(2 * (gains[s] + 1 + log(3 / 0.1)))) * sqrt((s + 2) * gains[s])
  regret <- regret_bound("constraints_noiseless", 12, gains, B = 2, R = 0.1, epoch = 4)
  expect_equal(regret[4], cost(4))
  expect_equal(regret[10], 2 * cost(4) + cost(2))
  violation <- regret_bound("constraints_noiseless", 12, gains, B = 2, R = 0.1, epoch = 4,
                            quantity = "violation", gap = 0.5, count = 2,
                            penalty_inverse = function(y) log(y) / 3)
  expect_equal(violation[10], sqrt(2) * (4 * log(1 + 2 * 0.5 + 2 * cost(4) / 4) / 3 +
                                           2 * log(1 + 0.5 + cost(2) / 2) / 3))
  expect_equal(violation[12], sqrt(2) * 4 * log(1 + 3 * 0.5 + 3 * cost(4) / 4) / 3)
})

test_that("Shi and Eryilmaz, Theorem 2, by hand; without a margin the bound is infinite", {
  ask <- function(slater, ...) {
    regret_bound("constraints_noisy", 450, 1, B = 0.5, R = 0.01, epoch = 200, step = 0.5, Q = 2, M = 3,
                 slater = slater, count = 2, ...)
  }
  a <- sqrt(8) + sqrt(log(2 * 3 / 0.1))
  W <- sqrt(2 * (1 + 1 + log(2 * 3 / 0.1)))
  G <- sqrt(202)
  room <- 0.4 - 4 * 0.01 * W * G / 200 - 2 * 0.01 * a / sqrt(200)
  kappa <- 0.5 * (sqrt(2) * 3 + 2 * 0.01 * a / sqrt(200)) +
    (4 + 4 * (0.5 + 0.01 * W) * G / 200 + 2 * 0.5 * 9 + 4 * 0.5 * 1e-4 * a^2 / 200) / room
  per_epoch <- 4 * (0.5 + sqrt(1 + kappa^2) * 0.01 * W) * G + 2 * 200 * 0.5 * 9 +
    4 * 0.5 * 1e-4 * a^2 + 2 * 0.01 * kappa * a * sqrt(200)
  expect_equal(ask(0.4)[450], 2 * per_epoch + 2 * 2 * 50)
  expect_equal(ask(0.4, quantity = "violation")[450],
               200 * kappa / 0.5 + 2 * 0.01 * 2 * a * sqrt(200) + sqrt(2) * 3 * 50)
  expect_equal(ask(0.01)[c(199, 200, 450)], c(4 * 199, Inf, Inf))
  expect_identical(ask(0.01, quantity = "violation")[450], Inf)
})

test_that("every bound has a value per round and does not decrease", {
  g <- log(1:60)
  g[1] <- 0.1
  bounds <- list(
    regret_bound("srinivas1", 60, g, noise_var = 0.1, arms = 20),
    regret_bound("srinivas2", 60, g, noise_var = 0.1, a = 1, b = 1, side = 1, d = 1),
    regret_bound("srinivas3", 60, g, noise_var = 0.1, B = 1),
    regret_bound("igp_ucb", 60, g, B = 1, R = 0.1),
    regret_bound("gp_ts", 60, g, B = 1, R = 0.1, arms = 20),
    regret_bound("sdf", 60, g, noise_var = 2, B = 1, R = 0.1, B_y = 1, m = 3, rho = 0.5),
    regret_bound("ts_sdf", 60, g, noise_var = 2, B = 1, R = 0.1, B_y = 1, m = 3, rho = 0.5, arms = 9),
    regret_bound("cpd_finite", 60, nu = 2.5, d = 1, Delta = 50, B = 0.1, R = 0.05, change_points = 31),
    regret_bound("cpd_finite", 60, g, nu = 2.5, d = 1, Delta = 5, B = 0.1, R = 0.05, change_points = 31, constant = 1e-3),
    regret_bound("cpd", 60, nu = 2.5, d = 1, Delta = 1, change_points = 31),
    regret_bound("constraints_noiseless", 60, g, B = 1, R = 0.1, epoch = 20)
  )
  for (bound in bounds) {
    expect_length(bound, 60)
    expect_true(all(is.finite(bound)) && all(diff(bound) >= 0))
  }
})

test_that("gain may be a vector, a function or a number", {
  ask <- function(gain) regret_bound("igp_ucb", 4, gain, B = 1, R = 0.1)
  expect_equal(ask(function(s) gains[s]), ask(gains))
  expect_equal(ask(c(gains, 9)), ask(gains))
  expect_equal(ask(2), ask(rep(2, 4)))
})

test_that("invalid input is an error that names it", {
  refuse <- function(.argument, ...) {
    caught <- expect_error(regret_bound(...), class = "gpbandits_error")
    expect_identical(caught$argument, .argument)
  }
  refuse("theorem", "srinivas4", 4, gains)
  refuse("rounds", "igp_ucb", 0, gains, B = 1, R = 1)
  refuse("rounds", "igp_ucb", 2147483647, gains, B = 1, R = 1)
  refuse("gain", "igp_ucb", 4, B = 1, R = 1)
  refuse("gain", "igp_ucb", 5, gains, B = 1, R = 1)
  refuse("gain", "igp_ucb", 4, rev(gains), B = 1, R = 1)
  refuse("gain", "igp_ucb", 4, c(gains[1:3], NA), B = 1, R = 1)
  refuse("gain", "igp_ucb", 4, function(s) "a", B = 1, R = 1)
  refuse("B", "igp_ucb", 4, gains, R = 1)
  refuse("B", "igp_ucb", 4, gains, B = -1, R = 1)
  refuse("Rr", "igp_ucb", 4, gains, B = 1, Rr = 1)
  refuse("...", "igp_ucb", 4, gains, 1, 1)
  refuse("delta", "igp_ucb", 4, gains, B = 1, R = 1, delta = 1)
  refuse("noise_var", "srinivas1", 4, gains, arms = 3)
  refuse("noise_var", "srinivas1", 4, gains, arms = 3, noise_var = 0)
  refuse("arms", "srinivas1", 4, gains, noise_var = 1, arms = 2.5)
  refuse("a", "srinivas2", 4, gains, noise_var = 1, a = 0.01, b = 1, side = 1, d = 1)
  # A discretisation has one point at least: then the last logarithm is 0.
  expect_equal(regret_bound("srinivas2", 4, gains, noise_var = 1, a = 1, b = 1e-9, side = 1, d = 1)[4],
               sqrt(8 / log(2) * 4 * 2 * log(2 * 16 * pi^2 / 0.3) * gains[4]) + 2)
  refuse("arms", "gp_ts", 4, gains, B = 1, R = 1)
  refuse("arms", "gp_ts", 4, gains, B = 1, R = 1, arms = 3, d = 1)
  refuse("L", "gp_ts", 4, gains, B = 1, R = 1, d = 1, side = 1)
  refuse("rho", "sdf", 4, gains, noise_var = 1, B = 1, R = 1, B_y = 1, m = 3, rho = 0)
  refuse("m", "sdf", 4, gains, noise_var = 1, B = 1, R = 1, B_y = 1, rho = 1)
  refuse("change_points", "cpd", 4, nu = 1, d = 1, Delta = 1, change_points = c(3, 2))
  refuse("epoch", "constraints_noiseless", 4, gains, B = 1, R = 1)
  refuse("epochs", "constraints_noiseless", 4, gains, B = 1, R = 1, epoch = 2, epochs = 1)
  refuse("gap", "constraints_noiseless", 4, gains, B = 1, R = 1, epoch = 2, quantity = "violation")
  refuse("slater", "constraints_noisy", 4, gains, B = 1, R = 1, epoch = 2, step = 1, Q = 1, M = 1)
})

test_that("GP-UCB stays below Theorem 1, and the sum in its proof does too", {
  x <- seq(0, 1, length.out = 40)
  root <- chol(ref_kernel_se(0.2)(x) + diag(1e-10, 40))
  gain <- information_gain(kernel_se(0.2), x, 0.1, rounds = 60, method = "doptimal")
  bound <- regret_bound("srinivas1", 60, gain, noise_var = 0.1, arms = 40, delta = 0.1)
  set.seed(8)
  for (i in 1:5) {
    f <- drop(crossprod(root, rnorm(40)))
    bandit <- gp_ucb(x, kernel_se(0.2), 0.1, width = width_srinivas_finite(0.1))
    run <- as.data.frame(run_bandit(bandit, bandit_problem(x, f, noise = sqrt(0.1)), 60))
    expect_true(all(run$cumulative_regret <= bound))
    # Cauchy-Schwarz and Lemma 5.4: holds whatever f is
    expect_true(all(cumsum(2 * run$width * run$sd) <= bound))
  }
})

test_that("bounds of any width that holds, by hand at round 3", {
  c1 <- 2 / log(1 + 1 / 0.25)
  ask <- function(theorem, ...) regret_bound(theorem, 4, gains, noise_var = 0.25, ...)[3]
  expect_equal(ask("ucb", width = 1.5), 2 * 1.5 * sqrt(c1 * 3 * 1.2))
  expect_equal(ask("ucb", width = function(t) sqrt(t)), 2 * sqrt(3) * sqrt(c1 * 3 * 1.2))
  expect_equal(ask("ucb", width = c(2, 1, 1, 1)), 4 * sqrt(c1 * 3 * 1.2))
  expect_equal(ask("ucb", width = 1, guard = 1, repeats = 1.1), 2 * exp(1) * 1.1 * sqrt(c1 * 3 * 1.2))
  expect_equal(ask("ucb", width = 1, epsilon = 0.1), 2 * (1 + 0.1 * sqrt(2 / 0.25)) * sqrt(c1 * 3 * 1.2) + 0.6)
  expect_equal(ask("irgp", arms = 50), sqrt(c1 * (2 + 2 * log(25)) * 3 * 1.2))
  expect_equal(ask("lse", width = 2), 2 * sqrt(c1 * 1.2 / 3))
  expect_equal(ask("stable", width = 2), 4 * sqrt(c1 * 1.2 / 3))
  expect_equal(ask("straddle"), sqrt(2 * c1 * 1.2 / 3))
  # Theorem 1's width gives Theorem 1.
  expect_equal(regret_bound("ucb", 4, gains, noise_var = 0.25,
                            width = function(t) sqrt(2 * log(50 * t^2 * pi^2 / 0.6))),
               regret_bound("srinivas1", 4, gains, noise_var = 0.25, arms = 50))
  b <- 4^(1 / 4)
  w <- 1 + 1 / b * sqrt(2 / 1) + b * sqrt(2 * 0.9 + 2 * log(10))
  expect_equal(regret_bound("ucb", 4, gains, noise_var = 0.25, width = 1, total = 0.5)[3],
               regret_bound("ucb", 4, gains, noise_var = 0.25, width = 2)[3])
  expect_equal(regret_bound("clip", 4, gains, noise_var = 1, B = 1, moment = 1)[3], 2 * w * sqrt(2 / log(2) * 3 * 1.2))
})

test_that("Avanesov's bound for any noise has the first sum of width_amm()", {
  ask <- function(...) regret_bound("cpd_finite", 1000, 15, nu = 2.5, d = 1, Delta = 1e9, B = 1, R = 0.05, constant = 1, ...)[1000]
  size <- regret_bound("cpd_finite", 1000, nu = 2.5, d = 1, Delta = 1e9, B = 1, R = 0.05, quantity = "pairs")[1]
  delays <- 2 * (1 + (sqrt(3) + 2 * size * (2 / sqrt(3) + 1 / 3)) * sqrt(1000))
  expect_equal(ask(noise_var = 0.05^2) - delays, 1083, tolerance = 1e-3)
  expect_lt(ask(noise_var = 0.05^2), ask() / 1000)
  expect_error(regret_bound("cpd_finite", 10, nu = 2.5, d = 1, Delta = 1, B = 1, R = 1, noise_var = 1), "`noise_var`",
               class = "gpbandits_error")
})

test_that("the bounds of penalised upper bounds equal their formulas", {
  c1 <- 2 / log(1 + 1 / 0.5)
  ask <- function(...) regret_bound("penalty", 4, gains, noise_var = 0.5, width = 2, ...)[3]
  gain <- gains[3]
  expect_equal(ask(), 4 * sqrt(c1 * 3 * gain))
  expect_equal(ask(quantity = "violation", constraint_width = 3, count = 2), 2 * 2 * 3 * sqrt(c1 * 3 * gain))
  rho <- c(1, 3, 5)
  expect_equal(ask(quantity = "violation", penalty = function(t) 2 * t - 1, D = 0.7),
               4 * sqrt(c1 * 3 * gain) + 4 * sqrt(c1 * gain * sum(rho^-2)) + 0.7 * sum(1 / rho))
  expect_equal(ask(quantity = "violation", penalty = 3, exact = 1), (4 + 3 * 4) * sqrt(c1 * 3 * gain) / 2)
  for (bad in list(list(penalty = 2), list(penalty = 2, exact = 2), list(penalty = -1, D = 1), list(count = 0),
                   list(penalty = function(t) -1, D = 1), list(quantity = "both"))) {
    expect_error(do.call(ask, utils::modifyList(list(quantity = "violation"), bad)), class = "gpbandits_error")
  }
  expect_identical(regret_bound("epbo", 4, gains, noise_var = 0.5, width = 2), regret_bound("penalty", 4, gains, noise_var = 0.5, width = 2))
})

test_that("the bound of pure exploration in batches equals its sum over batches", {
  gain <- function(s) log(1 + s)
  sizes <- c(7, 17, 16)
  expect_equal(bpe_sizes(40), sizes)
  w <- 1 + 0.1 / 0.5 * sqrt(2 * log(2 * 30 * 3 / 0.1))
  each <- function(n) min(2, 4 * w * sqrt(2 / log(1 + 1 / 0.25) * log(1 + n) / n))
  bound <- regret_bound("bpe", 40, gain, noise_var = 0.25, B = 1, R = 0.1, arms = 30)
  expect_equal(bound[c(7, 24, 40)], cumsum(c(2 * 7, 17 * each(7), 16 * each(17))))
  # Under drift: batches of each start, a width for them all with the drift as noise, and twice the variation for each elimination.
  every <- ceiling(2^(1 / 3) * (40 / 0.5)^(2 / 3))
  expect_equal(bpe_sizes(every), c(5, 11, 8))
  w <- sqrt(1 + 2 * (0.1^2 + 4 * 0.5^2) / 0.25 * log(2 * 30 * 3 * 2 / 0.1))
  left <- function(n) min(sqrt(2 / log(1 + 1 / 0.25) * 2 / n), if (n > 4 / log(2)) sqrt(4 / log(2) * 0.25 / (n - 4 / log(2))), 1)
  cost <- pmin(2, c(2, 4 * w * left(5), 4 * w * left(11)))
  bound <- regret_bound("bpe", 40, 2, noise_var = 0.25, B = 1, R = 0.1, arms = 30, variation = 0.5)
  expect_equal(bound, pmin(cumsum(rep(rep(cost, c(5, 11, 8)), 2)[1:40]) + 2 * 2 * 0.5 * pmin(1:40, 24), 2 * 1:40))
  # Where the ridge is small, by the smaller variance that a batch can leave.
  w <- sqrt(1 + 2 * 0.01^2 / 1e-4 * log(2 * 30 * length(bpe_sizes(900)) / 0.1))
  sizes <- bpe_sizes(900)
  few <- 2 * 5 / log(2)
  bound <- regret_bound("bpe", 900, 5, noise_var = 1e-4, B = 1, R = 0.01, arms = 30)
  left <- sqrt(pmin(2 / log1p(1e4) * 5 / sizes, ifelse(sizes > few, few * 1e-4 / (sizes - few), 1), 1))
  expect_equal(bound[900], sum(c(2, pmin(2, 4 * w * left[-length(sizes)])) * sizes))
})

test_that("on a box BPE's bound is for its candidates, and `spacing` covers the points between them", {
  candidates <- sort(bpe_points(box_domain(0, 1))$inputs[, 1])
  gap <- max(diff(candidates)) / 2
  lengthscale <- gap / sqrt(2 * log(2.5))
  kernel <- kernel_se(lengthscale)
  # A function of norm 1 with its maximum in the middle of the widest gap.
  f <- function(x) drop(kernel_gram(kernel, x, mean(candidates[which.max(diff(candidates)) + 0:1])))
  lost <- 1 - max(f(candidates))
  expect_equal(lost, 0.6)
  furthest <- max(gap, candidates[1], 1 - max(candidates))
  spacing <- sqrt(2 * (1 - exp(-(furthest / lengthscale)^2 / 2)))
  rounds <- 4e5
  ask <- function(...) {
    regret_bound("bpe", rounds, 125 * log1p(rounds / 2.5), noise_var = 0.01, B = 1, R = 0.1, arms = 250, ...)
  }
  # The best candidate in every round: more regret against the box's maximum than the candidates' bound.
  t <- seq_len(rounds)
  expect_lt(ask()[rounds], lost * rounds)
  expect_true(all(lost * t <= ask(spacing = spacing)))
  expect_equal(ask(spacing = 0.01), pmin(ask() + 0.01 * t, 2 * t))
  expect_equal(ask(spacing = 0.01, variation = 5), pmin(ask(variation = 5) + 0.01 * t, 2 * t))
  expect_error(ask(spacing = -1), "`spacing`", class = "gpbandits_error")
})

test_that("unknown lengthscales increase the bound by their factor", {
  oracle <- regret_bound("igp_ucb", 4, gains, B = 1, R = 0.1)
  expect_equal(regret_bound("balanced_lengthscale", 4, gains, B = 1, R = 0.1, d = 2, growth = function(t) 10 * t),
               pmax(1, 2 * log(10 * 1:4)) * oracle)
  expect_equal(regret_bound("adaptive_lengthscale", 4, gains, B = 1, R = 0.1, d = 2, growth = sqrt, norm_growth = function(t) 1 + t,
                            constant = 3),
               3 * (1 + 1:4) * (1:4) * oracle)
  expect_error(regret_bound("balanced_lengthscale", 4, gains, B = 1, R = 0.1, d = 2, growth = 3), class = "gpbandits_error")
  expect_error(regret_bound("ucb", 4, gains, noise_var = 1, width = c(1, 2)), class = "gpbandits_error")
  expect_error(regret_bound("ucb", 4, gains, noise_var = 1, width = -1), class = "gpbandits_error")
})

test_that("regret of UCB with a width that holds is within its bound", {
  x <- seq(0, 1, length.out = 40)
  f <- as.vector(ref_kernel_se(0.2)(x, 0.4))
  b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(width_amm(1, 0.1)))
  set.seed(7)
  run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise = 0.1), 60))
  bound <- regret_bound("ucb", 60, information_gain(kernel_se(0.2), x, 0.01, rounds = 60, method = "spectral"),
                        noise_var = 0.01,
                        width = max(run$width))
  expect_true(all(run$cumulative_regret <= bound))
})

# Makers of bandits that are one algorithm.
is_preset <- function(name) {
  all(c("noise_var", "kernel") %in% names(formals(getExportedValue("gpbandits", name)))) && !name %in% c("gp_bandit", "maximize_bandit", "minimize_bandit", "auto_bandit", "plan_experiments")
}

test_that("GP-UCB-PE: a query of a batch costs at most 5 exp(G) w sd, and all of them their bound", {
  x <- seq(0, 1, length.out = 30)
  K <- ref_kernel_se(0.15)(x)
  set.seed(8)
  f <- drop(t(chol(K + 1e-10 * diag(30))) %*% rnorm(30))
  guard <- 1
  w <- 4
  b <- gp_ucb_pe(x, kernel_se(0.15), 0.05, width = w)
  rows <- integer()
  y <- numeric()
  cost <- numeric()
  holds <- TRUE
  for (batch in 1:12) {
    known <- ref_posterior_at(K, rows, y, 0.05)
    holds <- holds && all(abs(f - known$mean) <= w * known$sd)
    nats <- 0
    new <- integer()
    repeat {
      sd <- ref_posterior_at(K, c(rows, new), c(y, f[new]), 0.05)$sd
      q <- b$suggest()
      new <- c(new, q$arm)
      expect_lte(max(f) - f[q$arm], 5 * exp(nats) * w * sd[q$arm] + 1e-9)
      cost <- c(cost, max(f) - f[q$arm])
      nats <- nats + log1p(sd[q$arm]^2 / 0.05) / 2
      if (nats > guard) break
    }
    reported <- f[new] + rnorm(length(new), sd = sqrt(0.05))
    b$observe(length(rows) + seq_along(new), reported)
    rows <- c(rows, new)
    y <- c(y, reported)
  }
  expect_true(holds)
  expect_gt(length(rows), 20)
  gain <- information_gain(kernel_se(0.15), x, 0.05, rounds = length(rows), method = "spectral")
  bound <- regret_bound("gp_ucb_pe", length(rows), gain,
                        noise_var = 0.05, width = w, guard = guard)
  expect_true(all(cumsum(cost) <= bound))
  c1 <- 2 / log(1 + 1 / 0.05)
  expect_equal(regret_bound("gp_ucb_pe", 3, 1.2, noise_var = 0.05, width = 2, guard = 0.5)[3], 5 * exp(0.5) * 2 * sqrt(c1 * 3 * 1.2))
  expect_error(regret_bound("gp_ucb_pe", 3, 1.2, noise_var = 0.05, width = 2), "`guard`", class = "gpbandits_error")
})

test_that("every preset has a bound, or a reason why it has none", {
  exports <- getNamespaceExports("gpbandits")
  presets <- Filter(function(name) {
    f <- getExportedValue("gpbandits", name)
    is.function(f) && "domain" %in% names(formals(f)) && is_preset(name)
  }, exports)
  expect_gte(length(presets), 20)
  theorems <- eval(formals(regret_bound)$theorem)
  for (name in presets) {
    error <- expect_error(regret_bound(name), class = "gpbandits_error")
    why <- grepl("no one regret bound", conditionMessage(error), fixed = TRUE)
    expect_true(why != (name %in% c(theorems, names(gpbandits:::preset_theorems))), info = name)
    if (why) expect_match(conditionMessage(error), paste0(name, "(): "), fixed = TRUE)
  }
  expect_identical(regret_bound("gp_ucb_sdf", 4, gains, noise_var = 2, B = 1, R = 0.1, B_y = 1, m = 2, rho = 0.9),
                   regret_bound("sdf", 4, gains, noise_var = 2, B = 1, R = 0.1, B_y = 1, m = 2, rho = 0.9))
  expect_error(regret_bound("no such"), "one of", class = "gpbandits_error")
})

test_that("the table of guarantees has every preset and every bandit", {
  exports <- getNamespaceExports("gpbandits")
  makers <- Filter(function(name) {
    f <- getExportedValue("gpbandits", name)
    is.function(f) && all(c("domain", "kernel", "noise_var") %in% names(formals(f))) && name != "gp_bandit"
  }, exports)
  makers <- c(makers, "auto_bandit", "maximize_bandit")        # (whose kernel and noise are of gp_model())
  expect_gte(length(makers), 23)
  page <- paste(unlist(tools::Rd_db("gpbandits")[["guarantees.Rd"]]), collapse = " ")
  missing <- makers[!vapply(paste0(makers, "()"), grepl, NA, x = page, fixed = TRUE)]
  expect_equal(missing, character())
})

test_that("width_glm()'s bounds equal the worked example's kappas, by hand, and runs stay below them", {
  kappa <- gpbandits:::largest_noise
  expect_equal(kappa(1, "logit", 3, 1), 56.6, tolerance = 1e-3)
  expect_equal(kappa(2, "logit", 0, 2), 19.0, tolerance = 2e-3)
  u <- seq(-0.7, 1.3, length.out = 201)                       # m = .3, B sqrt(v) = 1
  second <- function(l) -(l(u + 1e-4) - 2 * l(u) + l(u - 1e-4)) / 1e-8
  curvature <- pmin(second(function(f) pnorm(f, log.p = TRUE)), second(function(f) pnorm(-f, log.p = TRUE)))
  expect_equal(kappa(0.5, "probit", 0.3, 4), 1 / min(curvature), tolerance = 1e-5)
  expect_equal(kappa(0.5, "counts", 0.3, 4), 1 / min(exp(u)))
  k <- kappa(1, "logit", 0, 2)
  found <- regret_bound("glm", 4, gains, noise_var = k, B = 1, width = 2, variance = 2)
  expect_equal(found[3], 2 * 2 * sqrt(2 * 2 / log(1 + 2 / k) * 3 * 1.2))
  k <- kappa(1, "logit", 0, 8)
  found <- regret_bound("duel", 4, gains, noise_var = k, B = 1, width = 2, variance = 2, both = TRUE, first = 0.5)
  expect_equal(found[3], 2 * 2 * 2 * sqrt(2 * 8 / log(1 + 8 / k) * 3 * 1.2) + 0.5)
  error <- expect_error(regret_bound("duel", 4, gains, noise_var = 0.9 * k, B = 1, width = 2, variance = 2), "kappa",
                        class = "gpbandits_error")
  expect_identical(error$argument, "noise_var")

  x <- seq(0, 1, length.out = 8)
  kernel <- kernel_se(0.3)
  k <- kappa(1.5, "logit", 0, 1)
  gain <- information_gain(kernel, x, noise_var = k, rounds = 25) * exp(1) / (exp(1) - 1)
  set.seed(8)
  for (run in 1:3) {
    f <- sample_rkhs(kernel, x, 1)
    f <- 1.5 * as.vector(f) / attr(f, "norm")
    b <- gp_bandit(x, kernel, policy = policy_ucb(width_glm(1.5)), rewards = rewards_binary())
    regret <- 0
    for (t in 1:25) {
      q <- b$suggest()
      b$observe(q$id, rbinom(1, 1, plogis(f[q$arm])))
      regret <- regret + max(f) - f[q$arm]
    }
    w <- cummax(b$history()$width)
    expect_lt(regret, regret_bound("glm", 25, gain, noise_var = k, B = 1.5, width = w)[25])
  }
})

test_that("without noise the sds of the points played, and the regret, are below their bounds", {
  x <- seq(0, 1, length.out = 40)
  noise_var <- 1e-8
  for (kernel in list(kernel_se(0.2), kernel_matern(1.5, 0.3))) {
    gains <- function(lambda) information_gain(kernel, x, lambda, rounds = 50, method = "spectral")
    simple <- regret_bound("noise_free", 50, B = 1, gains = gains, noise_var = noise_var, quantity = "simple")
    total <- regret_bound("noise_free", 50, B = 1, gains = gains, noise_var = noise_var)
    expect_false(is.unsorted(-simple))
    expect_false(is.unsorted(total))
    expect_true(all(total <= cumsum(simple) * (1 + tol$identity)))
    # A smaller bound than that of the Cauchy-Schwarz inequality with one noise variance.
    expect_lt(total[50], regret_bound("ucb", 50, gains(1e-2), noise_var = 1e-2, width = 1)[50])
    gram <- kernel_gram(kernel, x)
    for (seed in 1:4) {
      set.seed(seed)
      weights <- rnorm(40)
      f <- drop(gram %*% weights) / sqrt(drop(weights %*% gram %*% weights))
      b <- gp_ucb(x, kernel, noise_var, width = width_amm(B = 1, R = 0))
      run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise = 0), 50))
      expect_true(all(sort(run$sd, decreasing = TRUE) <= simple / 2 + tol$bound))
      expect_true(all(run$cumulative_regret <= total + tol$bound))
      expect_true(all(run$simple_regret <= simple + tol$bound))
      found <- suppressWarnings(b$certificate(), classes = "gpbandits_model")
      expect_identical(found$probability, 1)
      expect_match(found$assumptions[1], "at most 1 and there is no noise", fixed = TRUE)
      expect_lte(max(f) - f[found$point$arm], found$gap)
    }
  }
  expect_error(regret_bound("noise_free", 5, B = 1, gains = 3), class = "gpbandits_error")
  expect_error(regret_bound("noise_free", 5, B = 1, gains = function(s2) 1:2), "gain", class = "gpbandits_error")
  expect_error(regret_bound("noise_free", 5, B = 1, gains = gains, noise_var = 2), class = "gpbandits_error")
})
