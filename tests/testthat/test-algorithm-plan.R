# Designs that do not depend on rewards: their width, size and guarantee.

plan_level <- by_level(25, 300)

# Greedy in the variance, step by step: the largest sd before each experiment.
ref_variance_path <- function(K, rows, noise) {
  S <- K
  largest <- sqrt(max(diag(S)))
  for (i in rows) {
    S <- S - tcrossprod(S[, i]) / (noise + S[i, i])
    largest <- c(largest, sqrt(max(0, diag(S))))
  }
  list(largest = largest, S = S)
}

plan_rkhs <- function(K, B, parts = 8) {
  at <- sample(nrow(K), parts)
  weight <- rnorm(parts)
  drop(K[, at] %*% weight) * B / sqrt(drop(weight %*% K[at, at] %*% weight))
}

test_that("the width and its claim equal those of the worked example", {
  w <- function(n, noise_var, ...) {
    b <- gp_bandit(seq_len(n), kernel_se(1), noise_var, policy_variance())
    b$add(arm = 1, reward = 0)
    b$certificate(stop_gap(1, width_fixed(...)))$width
  }
  expect_equal(w(5, 0.01, B = 2, R = 0.1, looks = 4), 3.997866, tolerance = 1e-6)
  expect_equal(w(5, 0.01, B = 1, R = 0.1), 3.195362, tolerance = 1e-6)
  for (k in 1:10) {
    B <- 3 * runif(1); R <- runif(1); lambda <- runif(1); delta <- runif(1); looks <- sample(9, 1)
    core <- w(7, lambda, B = B, R = R, delta = delta, looks = looks)
    expect_equal(core, sqrt(B^2 + 2 * R^2 / lambda * log(2 * 7 * looks / delta)))
    expect_lte(core, B + R / sqrt(lambda) * sqrt(2 * log(2 * 7 * looks / delta)))
  }
  claim <- function(policy, suggest = TRUE, ...) {
    b <- gp_bandit(1:5, kernel_se(1), 0.1, policy, ...)
    if (suggest) b$observe(b$suggest()$id, 1) else b$add(arm = 3, reward = 1)
    b$certificate(stop_gap(1, width_fixed(1, 0.1, 0.2, looks = 3)))
  }
  for (policy in list(policy_variance(), policy_uniform())) {
    found <- claim(policy)
    expect_equal(found$probability, 0.8)
    expect_match(found$assumptions, "without regard to rewards, which are evaluated at 3 times", fixed = TRUE, all = FALSE)
  }
  for (policy in list(policy_ucb(2), policy_ei(), policy_ts(1))) expect_true(is.na(claim(policy)$probability))
  expect_equal(claim(policy_ei(), initial_design = c(2, 4))$probability, 0.8)
  expect_equal(claim(policy_ei(), suggest = FALSE)$probability, 0.8)
  expect_true(is.na(claim(policy_variance(), refit = refit_every(3))$probability))
  expect_error(gp_ucb(box_domain(0, 1), kernel_se(1), 0.1, width = width_fixed(1, 1)), "count arms",
               class = "gpbandits_error")
  for (bad in list(list(B = -1), list(R = NA), list(delta = 1), list(looks = 0), list(looks = 1.5))) {
    expect_error(do.call(width_fixed, utils::modifyList(list(B = 1, R = 1), bad)), class = "gpbandits_error")
  }
})

test_that("intervals hold at the end of a design, and the regret at the largest mean is below its bound", {
  x <- seq(0, 1, length.out = 60)
  K <- ref_kernel_se(0.2)(x)
  asked <- gp_bandit(x, kernel_se(0.2), 0.01, policy_variance(), pending = pending_hallucinate())
  rows <- asked$suggest(80)$arm
  path <- ref_variance_path(K, rows, 0.01)
  gain <- 0.5 * as.numeric(determinant(diag(80) + K[rows, rows] / 0.01)$modulus)
  w <- sqrt(4 + 2 * log(2 * 60 / 0.1))
  bound <- regret_bound("mvr", 80, information_gain(kernel_se(0.2), x, 0.01, rounds = 80, method = "spectral"),
                        noise_var = 0.01, B = 2, R = 0.1, arms = 60)
  expect_gte(bound[80], 2 * w * path$largest[81])
  expect_true(all(diff(bound) <= 0))
  outcome <- vapply(seq_len(plan_level), function(seed) {
    set.seed(700 + seed)
    f <- plan_rkhs(K, 2)
    b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_variance())
    b$add(arm = rows, reward = f[rows] + rnorm(80, sd = 0.1))
    p <- b$posterior()
    c(any(abs(f - p$mean) > w * p$sd), max(f) - f[b$best()$arm])
  }, c(0, 0))
  expect_gt(stats::binom.test(sum(outcome[1, ]), plan_level, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(stats::binom.test(sum(outcome[2, ] > 2 * w * path$largest[81]), plan_level, 0.1, "greater")$p.value,
            tol$p_value)
  expect_gt(gain, 5)
})

test_that("a plan has the smallest sufficient number of experiments, and equals the worked example", {
  x <- seq(0, 1, length.out = 60)
  K <- ref_kernel_se(0.2)(x)
  w <- sqrt(1 + 2 * log(2 * 60 / 0.1))
  # (The worked example breaks ties in other points: one more or less.)
  for (k in 1:3) {
    tolerance <- c(0.3, 0.2, 0.1)[k]
    plan <- plan_experiments(x, kernel_se(0.2), 0.01, tolerance, B = 1, R = 0.1)
    expect_lte(abs(plan$experiments - c(59, 134, 575)[k]), 1)
    expect_equal(plan$width, w)
    path <- ref_variance_path(K, plan$design$arm, 0.01)
    expect_lte(2 * w * path$largest[plan$experiments + 1], tolerance)
    expect_gt(2 * w * path$largest[plan$experiments], tolerance)
    expect_equal(plan$sd, path$largest[plan$experiments + 1], tolerance = tol$engine)
  }
  expect_output(print(plan), "574 experiments suffice for a regret of at most 0.1, with probability 0.9", fixed = TRUE)
  expect_equal(plan_experiments(x, kernel_se(0.2), 0.01, 9, B = 1, R = 0.1)$experiments, 0)
  expect_gt(plan_experiments(x, kernel_se(0.2), 0.01, 0.3, B = 1, R = 0.1, looks = 20)$experiments, 59)
  for (bad in list(list(tolerance = 0), list(B = -1), list(most = 0), list(tolerance = 1e-4, most = 30),
                   list(cover = 1), list(extra = 1))) {
    good <- list(x, kernel_se(0.2), 0.01, tolerance = 0.3, B = 1, R = 0.1)
    caught <- expect_error(do.call(plan_experiments, c(utils::modifyList(good[4:6], bad), good[1:3])),
                           class = "gpbandits_error")
  }
  expect_error(plan_experiments(list(x = c(0, 1)), kernel_linear(), 0.01, 0.3, B = 1, R = 0.1), "`kernel`",
               class = "gpbandits_error")
  expect_error(plan_experiments(box_domain(1, 9, integer = TRUE), kernel_se(1), 0.01, 0.3, B = 1, R = 0.1), "`domain`",
               class = "gpbandits_error")
  expect_error(plan_experiments(list(x = c(0, 1)), kernel_matern(0.5, 0.01), 0.01, 0.1, B = 1, R = 0.1), "`cover`",
               class = "gpbandits_error")
})

test_that("on a box f between the grid points exceeds them by at most the reserved part of the tolerance", {
  plan <- plan_experiments(list(u = c(0, 2), v = c(1, 2)), kernel_se(c(0.8, 0.5)), 0.01, 1, B = 1, R = 0.1)
  m <- sqrt(plan$points)
  h <- c(2, 1) / (2 * m)
  expect_equal(plan$between, sqrt(2 * (1 - exp(-sum(h^2 / c(0.8, 0.5)^2) / 2))))
  expect_lte(plan$between, 0.1)
  expect_named(plan$design, c("arm", "u", "v"))
  expect_true(all(plan$design$u > 0 & plan$design$u < 2 & plan$design$v > 1 & plan$design$v < 2))
  one <- plan_experiments(list(x = c(0, 1)), kernel_se(0.25), 0.01, 0.5, B = 1, R = 0.1)
  points <- (seq_len(one$points) - 0.5) / one$points
  fine <- c(points, seq(0, 1, length.out = 401))
  K <- ref_kernel_se(0.25)(fine)
  missed <- vapply(seq_len(plan_level), function(seed) {
    set.seed(800 + seed)
    f <- plan_rkhs(K, 1, 5)
    expect_lte(max(f), max(f[seq_along(points)]) + one$between)
    b <- gp_bandit(points, kernel_se(0.25), 0.01, policy_variance())
    b$add(arm = one$design$arm, reward = f[one$design$arm] + rnorm(one$experiments, sd = 0.1))
    max(f) - f[b$best()$arm] > 0.5
  }, TRUE)
  expect_gt(stats::binom.test(sum(missed), plan_level, 0.1, "greater")$p.value, tol$p_value)
})

test_that("for a small noise variance the smaller bounds are used", {
  x <- seq(0, 1, length.out = 60)
  K <- ref_kernel_se(0.2)(x)
  S <- K
  gain <- 0
  for (t in 1:200) {
    i <- which.max(diag(S))
    gain <- gain + 0.5 * log1p(S[i, i] / 0.01)
    S <- S - tcrossprod(S[, i]) / (0.01 + S[i, i])
  }
  usual <- 2 / log1p(100) * gain / 200
  small <- 2 * 0.01 * gain / log(2) / (200 - 2 * gain / log(2))
  expect_equal(c(usual, small), c(0.0572, 0.0062), tolerance = 0.02)
  expect_equal(max(diag(S)), 0.00045, tolerance = 0.03)
  w <- sqrt(1 + 2 * log(2 * 60 / 0.1))
  bound <- regret_bound("mvr", 200, c(rep(gain, 200)), noise_var = 0.01, B = 1, R = 0.1, arms = 60)
  expect_equal(bound[200], 2 * w * sqrt(small))
  # UCB: no more than n1 rounds with a large sd.
  ask <- function(noise_var, ...) regret_bound("ucb", 400, gain, noise_var = noise_var, width = 2, ...)
  expect_equal(ask(1e-6, B = 1)[400], 2 * 2 * gain / log(2) + 2 * 2 * sqrt(2e-6 * 400 * gain / log(2)))
  expect_equal(ask(1, B = 1), ask(1))
  expect_true(all(ask(0.01, B = 1) <= ask(0.01)))
  expect_error(ask(0.01, B = 1, guard = 1), "`B`", class = "gpbandits_error")
  runs <- by_level(3, 40)
  for (seed in seq_len(runs)) {
    set.seed(900 + seed)
    f <- plan_rkhs(K, 1)
    b <- gp_ucb(x, kernel_se(0.2), 1e-4, width = width_amm(1, 0.01, 0.1))
    run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise = 0.01), 100))
    bound <- regret_bound("ucb", 100, b$information_gain(), noise_var = 1e-4, width = max(run$width), B = 1)
    expect_lt(run$cumulative_regret[100], bound[100])
  }
})

test_that("a stop rule is applied at its rounds only, and width_fixed() needs them", {
  x <- seq(0, 1, length.out = 20)
  problem <- bandit_problem(x, sin(4 * x), noise = 0.1)
  make <- function() gp_bandit(x, kernel_se(0.4), 0.01, policy_variance())
  set.seed(1)
  run <- run_bandit(make(), problem, 60, stop_when = stop_gap(100, width_fixed(3, 0.1, looks = 3), at = c(7, 20, 50)))
  expect_equal(run$rounds, 7)
  expect_equal(run$bandit$certificate(stop_gap(100, width_fixed(3, 0.1, looks = 3)))$probability, 0.9)
  expect_equal(run_bandit(make(), problem, 9, stop_when = stop_gap(100, 2, at = 20))$rounds, 9)
  for (rule in list(stop_gap(1, width_fixed(1, 1)), stop_gap(1, width_fixed(1, 1), at = c(2, 4)))) {
    expect_error(run_bandit(make(), problem, 5, stop_when = rule), "`stop_when`", class = "gpbandits_error")
  }
  for (at in list(0, 1.5, c(3, 2), c(2, 2), numeric(), "a")) {
    expect_error(stop_gap(1, at = at), "`at`", class = "gpbandits_error")
  }
  expect_output(print(stop_gap(1, 2, at = c(3, 9))), "at = 3 9")
})

# ---- sharper intervals -----------------------------------------------------------

# z(x) = (K + lambda I)^-1 k(x) by plain R, an experiment per row, repeated or not.
ref_weights <- function(K, rows, noise) solve(K[rows, rows] + diag(noise, length(rows)), K[rows, , drop = FALSE])

half_at <- function(intervals, x, kernel, noise, arms, ...) {
  gpbandits:::half_widths(intervals, finite_domain(x), kernel, noise, arms, width_fixed(...), NA)
}

test_that("the exact, Gaussian and simulated half-widths equal those of the worked example", {
  x <- (0:4) / 4
  # (Tiny of the worked example, B = 1, R = .1.)
  exact <- half_at("exact", x, kernel_se(0.3), 0.01, c(1, 3, 5), B = 1, R = 0.1)
  expect_equal(exact[1:3], c(0.3105, 0.6835, 0.3106), tolerance = 2e-4)
  # An experiment per row is a point with its number of experiments.
  set.seed(31)
  K <- ref_kernel_se(0.3)(x)
  rows <- c(1, 4, 4, 2, 1, 4)
  z <- ref_weights(K, rows, 0.2)
  size <- sqrt(colSums(z^2))
  sd <- ref_posterior_at(K, rows, numeric(6), 0.2)$sd
  expect_equal(half_at("exact", x, kernel_se(0.3), 0.2, rows, B = 2, R = 0.3, delta = 0.2, looks = 3),
               2 * sqrt(sd^2 - 0.2 * size^2) + 0.3 * sqrt(2 * log(2 * 5 * 3 / 0.2)) * size)
  expect_equal(half_at("gaussian", x, kernel_se(0.3), 0.2, rows, B = 2, R = 0.3, delta = 0.2, looks = 3),
               2 * sqrt(sd^2 - 0.2 * size^2) + 0.3 * qnorm(1 - 0.2 / 30) * size)
  expect_equal(half_at("exact", x, kernel_matrix(K), 0.2, rows, B = 2, R = 0.3),
               half_at("exact", x, kernel_se(0.3), 0.2, rows, B = 2, R = 0.3))
  expect_equal(half_at("exact", x, kernel_se(0.3), 0.2, integer(), B = 2, R = 0.3), rep(2, 5))
  # Never wider than the multiple of the sd.
  wide <- sqrt(4 + 2 * 0.3^2 / 0.2 * log(2 * 5 / 0.1)) * sd
  expect_true(all(half_at("exact", x, kernel_se(0.3), 0.2, rows, B = 2, R = 0.3) <= wide + 1e-12))
  # The numbers of sds at 60 points after 80 experiments: 3.77, 3.14, 2.71.
  many <- seq(0, 1, length.out = 60)
  asked <- gp_bandit(many, kernel_se(0.2), 0.01, policy_variance(), pending = pending_hallucinate())
  rows <- suppressWarnings(asked$suggest(80))$arm
  z <- ref_weights(ref_kernel_se(0.2)(many), rows, 0.01)
  q <- vapply(gpbandits:::noise_quantiles[-1], function(f) f(z, rep(1, 80), 0.1), 0)
  expect_equal(unname(q[1:2]), c(sqrt(2 * log(1200)), qnorm(1 - 0.1 / 120)))
  expect_equal(q[["simulated"]], 2.71, tolerance = 0.03)
})

test_that("sharper intervals need fewer experiments, cover, and do not change R's random numbers", {
  x <- seq(0, 1, length.out = 60)
  K <- ref_kernel_se(0.2)(x)
  set.seed(32)
  before <- .Random.seed
  plans <- lapply(c("multiple", "exact", "gaussian", "simulated"), function(intervals) {
    plan_experiments(x, kernel_se(0.2), 0.01, 0.3, B = 1, R = 0.1, intervals = intervals)
  })
  expect_identical(.Random.seed, before)
  needed <- vapply(plans, `[[`, 0, "experiments")
  expect_true(all(diff(needed) <= 0))
  expect_true(needed[3] < 0.75 * needed[1] && needed[4] < 0.6 * needed[1])
  for (plan in plans) {
    expect_identical(nrow(plan$design), as.integer(plan$experiments))
    expect_lte(2 * max(plan$half_width), 0.3)
    expect_length(plan$half_width, 60)
  }
  expect_output(print(plans[[4]]), "simulated intervals")
  plan <- plans[[4]]
  rows <- plan$design$arm
  weights <- ref_weights(K, rows, 0.01)
  missed <- regret <- numeric()
  for (run in seq_len(by_level(60, 1000))) {
    f <- plan_rkhs(K, 1)
    mean <- drop(crossprod(weights, f[rows] + rnorm(length(rows), sd = 0.1)))
    missed <- c(missed, any(abs(mean - f) > plan$half_width))
    regret <- c(regret, max(f) - f[which.max(mean)])
  }
  expect_lte(mean(missed), 0.1)
  expect_lte(mean(regret > 0.3), 0.1)
  box <- plan_experiments(list(u = c(0, 1)), kernel_se(0.3), 0.01, 0.6, B = 1, R = 0.1, intervals = "exact")
  expect_lte(2 * max(box$half_width) + box$between, 0.6)
  for (bad in list("none", 1, NULL, NA)) {
    expect_error(plan_experiments(x, kernel_se(0.2), 0.01, 0.3, B = 1, R = 0.1, intervals = bad), "`intervals`", class = "gpbandits_error")
  }
  expect_error(plan_experiments(x, kernel_se(0.2), 0.01, 9, B = 1, R = 0.1, drift = 0.1, intervals = "gaussian"), "not normal noise",
               class = "gpbandits_error")
  expect_gt(plan_experiments(x, kernel_se(0.2), 0.01, 1, B = 1, R = 0.1, drift = 0.1, intervals = "exact")$experiments, 0)
})

test_that("results that were changed are errors of the package when they are printed", {
  x <- seq(0, 1, length.out = 9)
  plan <- plan_experiments(x, kernel_se(0.3), 0.1, 1.5, B = 1, R = 0.1)
  b <- gp_ucb(x, kernel_se(0.3), noise_var = 0.1, width = width_amm(1, 0.1))
  b$add(arm = 1:9, reward = sin(5 * x))
  for (whole in list(plan, norm_check(b), gp_fit(x, sin(5 * x), kernel_se(0.3)))) {
    expect_output(print(whole))
    # (A regression's own fields are tested with it.)
    for (name in if (inherits(whole, "gp_fit")) c("evaluations", "convergence") else names(whole)) {
      for (wrong in list(NULL, "text", function(x) x, list())) {
        changed <- whole
        changed[name] <- list(wrong)
        said <- tryCatch(utils::capture.output(print(changed)), error = identity)
        expect_true(is.character(said) || inherits(said, "gpbandits_error"), info = paste(class(whole)[1], name))
      }
    }
  }
})
