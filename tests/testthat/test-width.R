# Every width, round by round, through whole runs: history's column against the reference.

expect_width <- function(core, ref, lambda = 0.1, rounds = 25, pending = list(pending_ignore(), ref_pending()),
                         delay = rep(0, rounds), mean = 0, n = 15) {
  x <- sort(runif(n))
  K <- ref_kernel_se(0.25)(x)
  b <- gp_bandit(x, kernel_se(0.25), lambda, policy_ucb(core), mean = mean, pending = pending[[1]])
  oracle <- ref_bandit(K, lambda, ref_policy("ucb", ref), mean = mean, pending = pending[[2]])
  run <- play_with_reference(b, oracle, rounds, compare_rewards(K, mean, 0.3, rounds), delay, each_round = FALSE)
  expect_history(b, run$ref)
}

test_that("constants, functions and Srinivas' widths equal their formulas", {
  set.seed(301)
  expect_width(width_constant(1.7), ref_width_constant(1.7))
  expect_width(width_function(function(t) sqrt(t) / 2), ref_width_function(function(t) sqrt(t) / 2))
  expect_width(width_srinivas_finite(0.05, 0.2), ref_width_srinivas_finite(0.05, 0.2))
  expect_width(width_srinivas_compact(0.1, 1, 2, 3, 1, 0.5), ref_width_srinivas_compact(0.1, 1, 2, 3, 1, 0.5))
  expect_width(width_srinivas_rkhs(1.5, 0.1, "realized", 0.01),
               ref_width_srinivas_rkhs(1.5, 0.1, ref_gain_realized(), 0.01))
})

test_that("the discretisation of Theorem 2 has at least one point", {
  # As it is printed the width would be smaller than for one point that is fixed in advance.
  at <- function(t, width) {
    b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.01, policy_ucb(width))
    if (t > 1) b$add(x = seq(0, 1, length.out = t - 1), reward = rep(0, t - 1))
    b$suggest()
    b$history()$width[t]
  }
  printed <- function(t, b) sqrt(2 * log(2 * t^2 * pi^2 / 0.3) + 2 * log(t^2 * b * sqrt(log(40))))
  fixed <- sqrt(2 * log(pi^2 / 0.6))
  expect_equal(c(printed(1, 0.1), fixed), c(2.25240, 2.36655), tolerance = 1e-5)
  expect_equal(at(1, width_srinivas_compact(0.1, 1, 0.1, 1, 1)), sqrt(2 * log(2 * pi^2 / 0.3)))
  for (t in c(4, 20)) expect_equal(at(t, width_srinivas_compact(0.1, 1, 0.1, 1, 1)), printed(t, 0.1))
  expect_equal(vapply(c(1, 4, 20), at, 0, width = width_srinivas_compact(0.1, 1, 2, 1, 1)), c(3.32638, 4.70692, 5.91867),
               tolerance = 2e-6)
})

test_that("noise variances of single rewards change the widths of wrong models, bounded noise and clipped rewards", {
  x <- c(0.1, 0.4, 0.8)
  K <- ref_kernel_se(0.25)(x)
  lambda <- 0.25
  own <- c(NA, 0.05, 0.5)
  noise <- c(0.25, 0.05, 0.5)
  b <- gp_bandit(x, kernel_se(0.25), lambda, policy_ei())
  b$add(arm = 1:3, reward = c(1, 0.5, 0.2), noise_var = own)
  w <- function(width, bandit = b) bandit$certificate(stop_gap(1, width))$width
  L <- as.numeric(determinant(diag(3) + K / sqrt(outer(noise, noise)))$modulus)
  R <- 0.5 * sqrt(0.25 / 0.05)
  expect_equal(R, 1.11803, tolerance = 1e-5)
  expect_equal(w(width_amm(1, 0.5)), sqrt(1 + 0.25 / lambda * (L + 2 * log(10))))
  expect_equal(w(width_amm(1, 0.5, noise = "bounded")), sqrt(1 + R^2 / lambda * (L + 2 * log(10))))
  expect_equal(w(width_realized(1, 0.5, noise = "bounded")), 1 + R / sqrt(lambda) * sqrt(L + 2 * log(10)))
  expect_equal(w(width_ec(width_constant(1), 0.3)), 1 + 0.3 * sqrt(sum(1 / noise)))
  b$suggest()
  expect_equal(w(width_ec(width_constant(1), 0.3)), 1 + 0.3 * sqrt(sum(1 / c(noise, lambda))))
  clip <- rewards_robust(clip = 2, moment = 4)
  clipped <- gp_bandit(x, kernel_se(0.25), lambda, policy_ei(), rewards = clip)
  clipped$add(arm = 1:3, reward = c(1, 0.5, 0.2), noise_var = own)
  expect_equal(w(width_realized(1, clip), clipped),
               1 + 4 / 2 * sqrt(sum(1 / noise)) + 2 * sqrt(5) / sqrt(lambda) * sqrt(L + 2 * log(10)))
  # Given variances that are larger do not make R smaller; those of rewards that are scaled are scaled too.
  loose <- gp_bandit(x, kernel_se(0.25), lambda, policy_ei())
  loose$add(arm = 1, reward = 1, noise_var = 9)
  expect_equal(w(width_amm(1, 0.5, noise = "bounded"), loose), w(width_amm(1, 0.5), loose))
  scaled <- gp_bandit(x, kernel_se(0.25), lambda, policy_ei(), outputs = scale_outputs("minimize", centre = 3, scale = 4))
  scaled$add(arm = 1:3, reward = 3 - 4 * c(1, 0.5, 0.2), noise_var = 16 * own)
  expect_equal(w(width_amm(1, 0.5, noise = "bounded"), scaled), sqrt(1 + R^2 / lambda * (L + 2 * log(10))))
  expect_error(width_amm(1, 1, noise = "none"), "`noise`", class = "gpbandits_error")
})

test_that("Srinivas' third width with gamma_t equals the printed formula", {
  set.seed(306)
  gain <- function(s) s / 3
  ahead <- function(t) sqrt(0.01 * (2 * 1.5^2 + 300 * t / 3 * log(t / 0.1)^3))
  expect_width(width_srinivas_rkhs(1.5, 0.1, gain, 0.01, printed = TRUE), ref_width_function(ahead))
  caught <- expect_error(width_srinivas_rkhs(1, printed = TRUE), class = "gpbandits_error")
  expect_identical(caught$argument, "gain")
})

test_that("Chowdhury and Gopalan's widths equal their formulas", {
  set.seed(302)
  expect_width(width_igp(1.5, 0.3, 0.1, "realized"), ref_width_igp(1.5, 0.3, 0.1, ref_gain_realized()))
  expect_width(width_gp_ts(1.5, 0.3, 0.1, 2), ref_width_gp_ts(1.5, 0.3, 0.1, ref_gain_number(2)))
  expect_width(width_igp(1, 0.3, 0.1, function(s) s / 3),
               ref_width_igp(1, 0.3, 0.1, ref_gain_function(function(s) s / 3)))
})

test_that("the narrower widths equal their formulas, for any regulariser", {
  set.seed(303)
  for (lambda in c(0.02, 0.3)) {
    expect_width(width_realized(1.5, 0.3, 0.1), ref_width_realized(1.5, 0.3, 0.1), lambda)
    expect_width(width_amm(1.5, 0.3, 0.1), ref_width_amm(1.5, 0.3, 0.1), lambda)
    grid <- lambda * c(0.1, 0.5, 1, 4, 20)
    expect_width(width_dmm(1.5, 0.3, 0.1, grid), ref_width_dmm(1.5, 0.3, 0.1, grid), lambda)
  }
  expect_width(width_dmm(1.5, 0.3, 0.1, 0.4), ref_width_dmm(1.5, 0.3, 0.1, 0.4), 0.1, mean = 0.7)
  # Martingales of other prior scales, one or several, some of them among the band's; no noise.
  for (alpha0 in list(0.1, 2, c(0.02, 0.4, 0.4, 3))) {
    expect_width(width_dmm(1.5, 0.3, 0.1, c(0.05, 0.4), alpha0), ref_width_dmm(1.5, 0.3, 0.1, c(0.05, 0.4), alpha0), 0.1)
  }
  expect_width(width_dmm(1.5, 0, 0.1, 0.1), ref_width_dmm(1.5, 0, 0.1, 0.1), 0.1)
  for (bad in list(0, -1, NA, numeric(), "a")) {
    expect_error(width_dmm(1, 1, alpha0 = bad), "`alpha0`", class = "gpbandits_error")
  }
})

test_that("averaged martingales give the narrow bounds of the worked example", {
  set.seed(11)
  x <- seq(0, 1, length.out = 50)
  K <- ref_kernel_se(0.2)(x)
  half <- function(rows, y, ...) {
    upper <- function(y) ref_dmm_upper(K, rows, y, 0.01, 2, 0.1, 0.1, 0.01 * 4^(-3:3), ...)
    mean(upper(y) + upper(-y)) / 2
  }
  found <- vapply(1:6, function(r) {
    f <- drop(K[, at <- sample(50, 8)] %*% (a <- rnorm(8)))
    f <- 2 * f / sqrt(drop(a %*% K[at, at] %*% a))
    rows <- sample(50, 80, TRUE)
    y <- f[rows] + rnorm(80, 0, 0.1)
    amm <- ref_width_amm(2, 0.1, 0.1)(list(K = K, rows = rows, lambda = 0.01, noise = 0.01))
    c(mean(amm * ref_posterior_at(K, rows, y, 0.01)$sd), half(rows, y, alpha0 = 0.01), half(rows, y, alpha0 = 1), half(rows, y))
  }, numeric(4))
  # The worked example's means over 15 draws: .239, .194, .521, .200.
  expect_equal(rowMeans(found), c(.239, .194, .521, .200), tolerance = 0.1)
})

test_that("realised widths include pending points if the pending rule does", {
  set.seed(304)
  delay <- rpois(25, 3)
  for (rule in list(list(pending_ignore(), ref_pending()),
                    list(pending_hallucinate(), ref_pending("hallucinate")),
                    list(pending_censor(3, -1), ref_pending("censor", 3, -1)))) {
    expect_width(width_realized(1.5, 0.3, 0.1), ref_width_realized(1.5, 0.3, 0.1), pending = rule, delay = delay)
    expect_width(width_igp(1.5, 0.3, 0.1, "realized"), ref_width_igp(1.5, 0.3, 0.1, ref_gain_realized()),
                 pending = rule, delay = delay)
  }
})

test_that("the widths of delayed feedback are the base plus the sds of the window", {
  set.seed(305)
  delay <- rpois(25, 3)
  for (m in c(0, 2, 5, Inf)) {
    rule <- list(pending_censor(m), ref_pending("censor", m))
    expect_width(width_sdf(width_constant(1), 0.4), ref_width_sdf(ref_width_constant(1), 0.4),
                 pending = rule, delay = delay)
  }
  rule <- list(pending_censor(4), ref_pending("censor", 4))
  expect_width(width_sdf(width_igp(1, 0.3, 0.1, "realized"), 0.4),
               ref_width_sdf(ref_width_igp(1, 0.3, 0.1, ref_gain_realized()), 0.4), pending = rule, delay = delay)
  expect_width(width_sdf(width_constant(1), 0.4, over = "pending"),
               ref_width_sdf(ref_width_constant(1), 0.4, "pending"), pending = rule, delay = delay)
})

test_that("the width of a wrong model equals its formula", {
  set.seed(308)
  expect_width(width_ec(width_amm(1.5, 0.3, 0.1), 0.05), ref_width_ec(ref_width_amm(1.5, 0.3, 0.1), 0.05))
  tiny <- ref_tiny()
  info <- list(t = 4, lambda = 0.01, K = tiny$K, rows = tiny$rows, noise = 0.01)
  expect_equal(ref_width_amm(2, 0.1, 0.1)(info), 4.724516, tolerance = 1e-6)
  expect_equal(ref_width_ec(ref_width_amm(2, 0.1, 0.1), 0.05)(info), 5.590541, tolerance = 1e-6)
  # The bias of the mean is within the widening: the l1 norm of its weights, and sqrt(n / lambda) sd.
  weights <- tiny$K[, tiny$rows] %*% solve(tiny$K[tiny$rows, tiny$rows] + diag(0.01, 3))
  expect_equal(rowSums(abs(weights)), c(.992833, 1.246995, .994274, 1.246995, .992833), tolerance = 1e-5)
  expect_true(all(rowSums(abs(weights)) <= tiny$sd * sqrt(3 / 0.01) + tol$bound))
  expect_error(width_ec(width_dmm(1, 1, 0.1), 0.1), class = "gpbandits_error")
  expect_error(width_ec(width_constant(1), -1), class = "gpbandits_error")
})

test_that("the width of a number of wrong rewards is base + M sqrt(count)", {
  at <- function(width, rewards) {
    b <- gp_bandit(1:4 / 4, kernel_se(0.3), 0.04, policy_ucb(width), rewards = rewards)
    b$add(arm = 1:3, reward = c(0.5, 0.2, 0.9))
    b$certificate()
  }
  base <- width_amm(1, 0.2, 0.1)
  usual <- at(base, NULL)
  plateau <- rewards_robust(plateau = 2, decay = 0.7)
  found <- at(width_corrupt(base, count = 3), plateau)
  expect_equal(found$width - usual$width, sqrt(3) * (sqrt(16 + 0.49) + 4 / sqrt(27) * 0.04 / 0.7) / 0.2)
  expect_equal(found$probability, 0.9)
  expect_match(found$assumptions[2], "at most 3 rewards are wrong")
  expect_equal(at(width_corrupt(base, count = 3), rewards_robust(clip = 2))$width - usual$width, sqrt(3) * 4 / 0.2)
  expect_equal(at(width_corrupt(base, count = 0), plateau)$width, usual$width)
  expect_true(is.na(at(base, plateau)$probability))
  expect_error(at(width_corrupt(base, count = 3), NULL), "`count`", class = "gpbandits_error")
  expect_error(width_corrupt(width_fixed(1, 1), count = 3), "`base`", class = "gpbandits_error")
  expect_error(width_corrupt(base, 1, 3), "`count`", class = "gpbandits_error")
})

test_that("the width of corrupted rewards is base + total / sqrt(lambda)", {
  set.seed(309)
  expect_width(width_corrupt(width_amm(1.5, 0.3, 0.1), 0.2), ref_width_corrupt(ref_width_amm(1.5, 0.3, 0.1), 0.2))
  tiny <- ref_tiny()
  z <- solve(tiny$K[tiny$rows, tiny$rows] + diag(0.01, 3), tiny$K[tiny$rows, ])
  expect_equal(0.3 * apply(abs(z), 2, max)[1:3], c(.2968, .1765, .2966), tolerance = 1e-3)
  expect_true(all(apply(abs(z), 2, max) <= tiny$sd / sqrt(0.01)))
  w <- function(width, lambda = 0.01, ...) {
    b <- gp_bandit(tiny$x, kernel_se(0.3), lambda, policy_variance(), ...)
    b$add(arm = tiny$rows, reward = tiny$y)
    b$certificate(stop_gap(1, width, at = if (width$base$type == "fixed") 3))
  }
  expect_equal(w(width_corrupt(width_realized(1, 0.1), 0.3))$width - w(width_corrupt(width_realized(1, 0.1), 0))$width, 3)
  b <- gp_bandit(tiny$x, kernel_se(0.3), 0.01, policy_ei())
  b$add(arm = 1:3, reward = 1:3, noise_var = c(0.0025, 0.04, NA))
  expect_equal(b$certificate(stop_gap(1, width_corrupt(2, 0.3)))$width, 2 + 0.3 / sqrt(0.0025))
  # What is claimed: the base's, of rewards as they should have been.
  for (base in list(width_amm(1, 0.1, 0.2), width_realized(1, 0.1, 0.2), width_fixed(1, 0.1, 0.2), width_srinivas_finite(0.2))) {
    found <- w(width_corrupt(base, 0.3))
    expect_equal(found$probability, 0.8)
    expect_match(found$assumptions, "wrong by 0.3 in all", all = FALSE)
    expect_identical(any(grepl("steer the design", found$assumptions)), base$type == "fixed")
    expect_identical(any(grepl("f through the rewards only", found$assumptions)), base$type == "srinivas_finite")
  }
  expect_equal(w(width_corrupt(width_igp(1, 0.1, 0.2), 0.3), 1.1)$probability, 0.8)
  expect_true(is.na(w(width_corrupt(width_constant(2), 0.3))$probability))
  expect_true(is.na(w(width_corrupt(width_amm(1, 0.1), 0.3), refit = refit_every(5))$probability))
  for (base in list(width_dmm(1, 0.1), width_irgp(), width_sdf(1), width_ec(width_amm(1, 0.1), 0.1), width_corrupt(2, 1),
                    width_realized(1, rewards_robust(moment = 1, rounds = 9)))) {
    expect_error(width_corrupt(base, 1), "`base`", class = "gpbandits_error")
  }
  expect_error(gp_ucb(box_domain(0, 1), kernel_se(1), 0.1, width = width_corrupt(width_fixed(1, 1), 1)), "count arms",
               class = "gpbandits_error")
  expect_error(run_bandit(gp_ucb(1:5, kernel_se(1), 0.1), bandit_problem(1:5, 1:5), 5,
                          stop_when = stop_gap(1, width_corrupt(width_fixed(1, 1), 1))), "`stop_when`", class = "gpbandits_error")
})

test_that("Avanesov's width equals its formula", {
  set.seed(306)
  expect_width(width_cpd(0.02, 2.5, 1, 500), ref_width_cpd(0.02, 2.5, 1, 500))
})

test_that("presets have the stated widths, and `width` overrides them", {
  set.seed(307)
  x <- sort(runif(12))
  K <- ref_kernel_se(0.25)(x)
  beside <- function(bandit, ref_width, kind = "ucb", pending = ref_pending()) {
    ref <- ref_bandit(K, 0.1, ref_policy(kind, ref_width), pending = pending)
    run <- play_with_reference(bandit, ref, 15, compare_rewards(K, 0, 0.3, 15), rep(3, 15), each_round = FALSE)
    expect_history(bandit, run$ref)
  }
  k <- kernel_se(0.25)
  gain <- ref_gain_realized()
  beside(gp_ucb(x, k, 0.1), ref_width_srinivas_finite(0.1, 1 / 5))
  beside(gp_ucb(x, k, 0.1, width = width_constant(3)), ref_width_constant(3))
  beside(igp_ucb(x, k, 0.1, B = 1, R = 0.2, delta = 0.05, gain = "realized"),
         ref_width_igp(1, 0.2, 0.05, gain))
  beside(gp_ts(x, k, 0.1, B = 1, R = 0.2, delta = 0.05, gain = "realized"),
         ref_width_gp_ts(1, 0.2, 0.05, gain), "ts")
  one <- ref_width_constant(1)
  censor <- ref_pending("censor", 4, -1)
  beside(gp_ucb_sdf(x, k, 0.1, m = 4, value = -1), ref_width_sdf(one), "ucb", censor)
  beside(gp_ts_sdf(x, k, 0.1, m = 4, value = -1), ref_width_sdf(one), "ts", censor)
  beside(gp_bucb(x, k, 0.1), one, "ucb", ref_pending("hallucinate"))
  beside(gp_bandit(x, k, 0.1, policy_ts(1), pending = pending_hallucinate()), one, "ts", ref_pending("hallucinate"))
  beside(gp_bandit(x, k, 0.1, policy_ts(1)), one, "ts")
})
