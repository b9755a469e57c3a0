# The reference checked against itself: identities, limits and values worked out by
# other means. Nothing here uses the package.

reference_kernels <- list(
  se = ref_kernel_se(0.3, 1.4), se_ard = ref_kernel_se(c(0.2, 0.9), 0.7),
  matern12 = ref_kernel_matern(0.5, 0.4), matern_odd = ref_kernel_matern(1.13, 0.4, 2),
  rq = ref_kernel_rq(0.8, 0.5, 1.2), periodic = ref_kernel_periodic(0.7, 1.1),
  linear = ref_kernel_linear(1.3),
  sum = ref_kernel_sum(ref_kernel_se(0.3, dims = 1), ref_kernel_matern(2.5, 0.5, dims = 2)),
  product = ref_kernel_product(ref_kernel_se(0.3, dims = 1), ref_kernel_linear(dims = 2))
)

test_that("reference kernels are symmetric, positive semi-definite and have the stated variance", {
  set.seed(1)
  x <- ref_random_inputs(12, 2)
  for (name in names(reference_kernels)) {
    K <- reference_kernels[[name]](x)
    expect_equal(K, t(K), tolerance = tol$identity, info = name)
    expect_gt(min(eigen(K, TRUE)$values), -tol$bound)
    expect_equal(reference_kernels[[name]](x, x[3:4, ]), K[, 3:4], tolerance = tol$identity)
  }
  expect_equal(diag(reference_kernels$matern_odd(x)), rep(2, 12))
  expect_equal(diag(reference_kernels$linear(x)), 1.3 * rowSums(x^2))
})

test_that("the Bessel form of Matern agrees with its closed forms and its Gaussian limit", {
  x <- seq(0, 3, by = 0.17)
  d <- abs(outer(x, x, "-")) / 0.6
  expect_equal(ref_kernel_matern(0.5, 0.6)(x), exp(-d), tolerance = tol$identity)
  r <- sqrt(3) * d
  expect_equal(ref_kernel_matern(1.5, 0.6)(x), (1 + r) * exp(-r), tolerance = tol$identity)
  r <- sqrt(5) * d
  expect_equal(ref_kernel_matern(2.5, 0.6)(x), (1 + r + r^2 / 3) * exp(-r), tolerance = tol$identity)
  expect_equal(ref_kernel_matern(60, 0.6)(x), ref_kernel_se(0.6)(x), tolerance = 0.02)
  expect_equal(ref_kernel_rq(1e7, 0.6)(x), ref_kernel_se(0.6)(x), tolerance = tol$iterative)
})

test_that("a periodic kernel is periodic", {
  k <- ref_kernel_periodic(0.7, 1.1)
  x <- runif(5)
  expect_equal(k(x, x + 0.7), k(x), tolerance = tol$identity)
})

test_that("the posterior is the conditional of the joint normal", {
  set.seed(2)
  K <- ref_random_covariance(6)
  m <- rnorm(6)
  rows <- c(2, 5, 2)
  noise <- c(0.1, 0.4, 0.2)
  y <- rnorm(3)
  # joint covariance of (f, y), conditioned through the precision matrix of the whole
  A <- diag(6)[rows, ]
  joint <- rbind(cbind(K, K %*% t(A)), cbind(A %*% K, A %*% K %*% t(A) + diag(noise)))
  precision <- solve(joint)
  cov <- solve(precision[1:6, 1:6])
  mean <- m - cov %*% precision[1:6, 7:9] %*% (y - m[rows])
  p <- ref_posterior_at(K, rows, y, noise, m)
  expect_equal(p$cov, cov, tolerance = tol$identity)
  expect_equal(p$mean, as.vector(mean), tolerance = tol$identity)
  expect_equal(p$sd, sqrt(diag(cov)), tolerance = tol$identity)
})

test_that("the posterior does not depend on the order, and pools repeated measurements", {
  set.seed(3)
  K <- ref_random_covariance(7, 3)
  rows <- sample(7, 9, TRUE)
  y <- rnorm(9)
  noise <- runif(9, 0.1, 1)
  p <- ref_posterior_at(K, rows, y, noise, 0.3)
  o <- sample(9)
  expect_equal(p, ref_posterior_at(K, rows[o], y[o], noise[o], 0.3), tolerance = tol$identity)
  pooled <- ref_posterior_at(K, 4, mean(y[1:4]), 0.5 / 4)
  expect_equal(ref_posterior_at(K, rep(4, 4), y[1:4], 0.5), pooled, tolerance = tol$identity)
})

test_that("one observation gives the scalar formula; none leaves the prior", {
  K <- matrix(c(2, 0.5, 0.5, 1), 2)
  p <- ref_posterior_at(K, 1, 3, 0.25, c(1, -1))
  expect_equal(p$mean, c(1 + 2 * 2 / 2.25, -1 + 0.5 * 2 / 2.25))
  expect_equal(p$sd^2, c(2 - 4 / 2.25, 1 - 0.25 / 2.25))
  p <- ref_posterior_at(K, integer(), numeric(), 0.25, 0.5)
  expect_equal(p$mean, c(0.5, 0.5))
  expect_equal(p$sd, sqrt(c(2, 1)))
})

test_that("Lemma 5.3: the information gain is the sum of the conditional gains", {
  set.seed(4)
  K <- ref_random_covariance(8, 5)
  rows <- sample(8, 12, TRUE)
  noise <- runif(12, 0.05, 0.6)
  steps <- vapply(seq_along(rows), function(t) {
    before <- seq_len(t - 1)
    sd <- ref_posterior_at(K, rows[before], numeric(t - 1), noise[before])$sd[rows[t]]
    log1p(sd^2 / noise[t]) / 2
  }, 0)
  expect_equal(ref_information_gain(K, rows, noise), sum(steps), tolerance = tol$identity)
})

test_that("the likelihood is the product of the predictive densities", {
  set.seed(5)
  K <- ref_random_covariance(8, 5)
  rows <- sample(8, 6, TRUE)
  y <- rnorm(6)
  steps <- vapply(seq_along(rows), function(t) {
    before <- seq_len(t - 1)
    p <- ref_posterior_at(K, rows[before], y[before], 0.3, 0.2)
    dnorm(y[t], p$mean[rows[t]], sqrt(p$sd[rows[t]]^2 + 0.3), log = TRUE)
  }, 0)
  expect_equal(ref_log_likelihood(K[rows, rows], y, 0.3, 0.2), sum(steps), tolerance = tol$identity)
})

test_that("maximal information gain: greedy <= brute force <= every bound", {
  set.seed(6)
  for (lambda in c(0.05, 1)) {
    K <- ref_random_covariance(5, 4)
    brute <- ref_gain_brute(K, lambda, 4)
    greedy <- ref_gain_greedy_path(K, lambda, 4)[4]
    doptimal <- ref_gain_doptimal(K, lambda, 4)
    e <- eigen(K, TRUE)$values
    expect_lte(greedy, brute + tol$bound)
    expect_gte(greedy * exp(1) / (exp(1) - 1), brute)
    expect_gte(doptimal$bound, brute - tol$bound)
    expect_lt(doptimal$bound - doptimal$value, 1e-4)
    expect_gte(ref_gain_spectral_value(e, lambda, 4), brute - tol$bound)
  }
})

test_that("water-filling satisfies its optimality conditions, and the exact result for one eigenvalue", {
  e <- c(3, 1, 0.2, 0)
  expect_equal(ref_gain_spectral_value(2, 0.5, 7), log(1 + 7 * 2 / 0.5) / 2)
  best <- optim(c(1, 1), function(p) {
    m <- c(exp(p), 1)
    m <- 6 * m / sum(m)
    -sum(log1p(m * e[1:3] / 0.5)) / 2
  }, control = list(reltol = 1e-14, maxit = 5000))
  expect_equal(ref_gain_spectral_value(e, 0.5, 6), -best$value, tolerance = tol$iterative)
})

test_that("the values of the worked example come out", {
  skip_on_cran()
  K <- ref_kernel_se(0.2)(seq(0, 1, length.out = 101))
  expect_equal(ref_gain_greedy_path(K, 1, 100)[100], 7.4445, tolerance = 1e-5)
  expect_equal(ref_gain_spectral_value(eigen(K, TRUE)$values, 1, 100), 14.957, tolerance = 1e-4)
  expect_equal(ref_gain_doptimal(K, 1, 100, gap = 1e-3)$bound, 7.448, tolerance = 2e-4)
})

test_that("gains start at 0 and widths are finite in round one", {
  K <- ref_random_covariance(4)
  info <- list(t = 1, n = 4, K = K, lambda = 0.2, rows = integer(), noise = numeric(), mean_rows = integer(), y = numeric(),
               prior_mean = rep(0, 4), mean = rep(0, 4), sd = sqrt(diag(K)))
  gains <- list(ref_gain_realized(), ref_gain_greedy(), ref_gain_spectral(), ref_gain_rate("se", 2),
                ref_gain_rate("matern", 2, 1.5), ref_gain_rate("linear", 2))
  for (gain in gains) expect_identical(gain(info), 0)
  info$t <- 2
  for (gain in gains[4:6]) expect_identical(gain(info), 0)
  info$t <- 3
  expect_equal(ref_gain_rate("matern", 2, 1.5, 7)(info), 7 * 2^(6 / 9) * log(2))
  info$t <- 1
  for (width in list(ref_width_srinivas_finite(), ref_width_srinivas_rkhs(1, 0.1, gains[[1]]),
                     ref_width_igp(1, 1, 0.1, gains[[1]]), ref_width_realized(1, 1, 0.1),
                     ref_width_amm(1, 1, 0.1), ref_width_dmm(1, 1, 0.1, c(0.1, 1)),
                     ref_width_cpd(0.02, 2.5, 1, 100))) {
    expect_true(all(is.finite(width(info))))
  }
})

test_that("the widths are ordered as their theorems state", {
  set.seed(7)
  K <- ref_random_covariance(6, 4)
  rows <- sample(6, 10, TRUE)
  y <- rnorm(10)
  p <- ref_posterior_at(K, rows, y, 0.3)
  info <- list(t = 11, n = 6, K = K, lambda = 0.3, rows = rows, noise = rep(0.3, 10), mean_rows = rows, y = y,
               prior_mean = 0, mean = p$mean, sd = p$sd)
  realised <- ref_width_realized(1.5, 0.4, 0.1)(info)
  amm <- ref_width_amm(1.5, 0.4, 0.1)(info)
  expect_lte(amm, realised)
  # More of the grid never widens the bound.
  few <- ref_width_dmm(1.5, 0.4, 0.1, 0.3, 0.3)(info)
  many <- ref_width_dmm(1.5, 0.4, 0.1, c(0.03, 0.3, 3), 0.3)(info)
  expect_true(all(many <= few + tol$bound))
  # At alpha = alpha0 = lambda the quadratic terms cancel and DMM is AMM.
  expect_equal(few, rep(amm, 6), tolerance = tol$identity)
  info$sd <- 1:6 / 10
  info$window <- c(2, 2, 5)
  info$window_known <- c(TRUE, FALSE, FALSE)
  expect_equal(ref_width_sdf(ref_width_constant(1), 2)(info), 1 + 2 * 0.9)
  expect_equal(ref_width_sdf(ref_width_constant(1), 2, "pending")(info), 1 + 2 * 0.7)
})

test_that("EI and PI are the expected improvement and its probability", {
  set.seed(8)
  draws <- rnorm(4e5, 0.3, 0.7)
  expect_equal(ref_score_ei(0.3, 0.7, 0.5, 0.1), mean(pmax(draws - 0.6, 0)), tolerance = 0.01)
  expect_equal(pnorm(ref_score_pi(0.3, 0.7, 0.5, 0.1)), mean(draws > 0.6), tolerance = 0.01)
  mean <- c(0.3, -2, 1, 0)
  sd <- c(0.7, 0.3, 0.1, 0)
  expect_equal(exp(ref_log_ei(mean, sd, 0.5, 0.1)), ref_score_ei(mean, sd, 0.5, 0.1), tolerance = tol$identity)
  # Where EI underflows: its derivative in the mean is Phi(z), which R knows on the log scale.
  slope <- (ref_log_ei(-59.999, 1, 0) - ref_log_ei(-60.001, 1, 0)) / 0.002
  expect_equal(slope, exp(pnorm(-60, log.p = TRUE) - ref_log_ei(-60, 1, 0)), tolerance = 1e-4)
  expect_equal(ref_log_ei(-100 - 1e-9, 1, 0), ref_log_ei(-100 + 1e-9, 1, 0), tolerance = 1e-7)
  expect_identical(ref_score_ei(c(1, 2), c(0, 0), 1.5), c(0, 0.5))
  expect_identical(ref_score_pi(c(1, 2), c(0, 0), 1.5), c(-Inf, Inf))
})

test_that("exact ties go to the first arm, others do not", {
  expect_equal(ref_argmax(c(1, 2, 2 + 5e-10), 1e-9), 2)
  expect_equal(ref_argmax(c(1, 2, 2 + 5e-9), 1e-9), 3)
  expect_equal(ref_incumbent(c(5, 1, 2), c(3, 3), c(9, 8, 7), 1:3), 2)
  expect_equal(ref_incumbent(c(5, 1, 2), 3, c(9, 8, 7), 1:2), 9)
})

test_that("delays and censoring follow the stated rule", {
  # Batch of three asked together, seen before round 4: 3, 2 and 0 rounds.
  expect_equal(ref_rounds_taken(1:3, 3), c(3, 2, 0))
  f <- ref_feedback(ref_pending("censor", 2), c(TRUE, TRUE, TRUE, FALSE), c(3, 2, 0, NA))
  expect_equal(f$censored, c(TRUE, FALSE, FALSE, TRUE))
  expect_true(all(f$mean), all(f$variance))
  f <- ref_feedback(ref_pending("hallucinate"), c(TRUE, FALSE), c(0, NA))
  expect_equal(f$mean, c(TRUE, FALSE))
  expect_equal(f$variance, c(TRUE, TRUE))
})

test_that("a pending reward equal to its posterior mean leaves the mean unchanged", {
  set.seed(9)
  K <- ref_random_covariance(6)
  y <- rnorm(4)
  p <- ref_posterior_at(K, c(1, 3, 3, 6), y, 0.2)
  filled <- ref_posterior_at(K, c(1, 3, 3, 6, 2), c(y, p$mean[2]), 0.2)
  expect_equal(filled$mean, p$mean, tolerance = tol$identity)
})

test_that("the change statistic is w'Qw, and zero for equal halves", {
  set.seed(10)
  K <- ref_random_covariance(9)
  rows <- sample(9, 6)
  y <- rnorm(6)
  ridge <- 0.7
  w <- c(solve(K[rows[1:3], rows[1:3]] + diag(ridge, 3), y[1:3]),
         -solve(K[rows[4:6], rows[4:6]] + diag(ridge, 3), y[4:6]))
  Q <- t(K[, rows]) %*% K[, rows] / 9
  expect_equal(ref_change_statistic(K, rows, y, ridge), sum(w * (Q %*% w)), tolerance = tol$identity)
  expect_equal(ref_change_statistic(K, rep(rows[1:3], 2), rep(y[1:3], 2), ridge), 0)
})

test_that("weights of observations equal a fit with the corresponding noise variances", {
  drift <- ref_drift("weight", eta = 0.5)
  expect_equal(ref_drift_noise(drift, 0.1, 1:3), 0.1 * c(2, 4, 8))
  expect_equal(ref_drift_kept(ref_drift("window", W = 2), 4), c(FALSE, FALSE, TRUE, TRUE))
  K <- ref_random_covariance(5)
  y <- rnorm(3)
  still <- ref_posterior_drifting(K, c(1, 4, 4), 1:3, 4, y, 0.2, 0)
  expect_equal(still, ref_posterior_at(K, c(1, 4, 4), y, 0.2), tolerance = tol$identity)
})

test_that("multipliers of the noiseless rule never decrease, and of the noisy rule stay at or above zero", {
  con <- ref_constraints("noiseless", 2, 5)
  kappa <- ref_multiplier(con, c(1, 2), cbind(c(1, 3), c(-1, -3)))
  expect_equal(kappa, c(exp(2), 2))
  con <- ref_constraints("noisy", 2, 5, step = 0.5)
  expect_equal(ref_multiplier(con, c(1, 0.2), cbind(c(1, 3), c(-1, -3))), c(2, 0))
  expect_equal(ref_target(con, c(2, 1), c(10, 20), cbind(1:2, 3:4)), c(5, 12))
  con <- ref_constraints("noiseless", 1, 5, ref_penalty_polynomial(2, 3))
  expect_equal(ref_target(con, 1.5, c(1, 1), matrix(c(1, -1))), c(1 - 1.5 * 26, 1))
})

test_that("the regret log counts only rewards that have arrived", {
  led <- ref_ledger(c(1, 3, 2), 3, c(1, 5, 0), matrix(c(1, -2, 0.5)))
  expect_equal(led$cumulative_regret, c(2, 2, 3))
  expect_equal(led$simple_regret, c(NA, 2, 1))
  expect_equal(ref_ledger(c(1, 3, 2), 3, c(1, 0, 0), m = 0)$simple_regret, c(NA, 0, 0))
  expect_equal(ref_ledger(c(3, 1, 2), 3, c(1, 0, 0), m = 0)$simple_regret, c(NA, 2, 1))
  expect_equal(led$cumulative_violation, c(1, 0, 0))
})

test_that("a reference run with all parts: restarts discard data, and epochs change the target", {
  set.seed(11)
  K <- ref_kernel_se(0.3)(seq(0, 1, length.out = 8))
  f <- sin(6 * seq(0, 1, length.out = 8))
  b <- ref_bandit(K, 0.01, ref_policy("ucb", ref_width_srinivas_finite()),
                  changes = ref_changes("oracle", times = 6),
                  constraints = ref_constraints("noisy", 1, 4, step = 1))
  for (t in 1:10) {
    b <- ref_suggest(b)
    b <- ref_observe(b, t, f[b$rows[t]], 0.5)
  }
  choices <- b$at_choice
  expect_equal(vapply(choices, `[[`, 0, "segment"), rep(1:2, c(6, 4)))
  expect_equal(vapply(choices, `[[`, 0, "t"), c(1:6, 1:4))
  expect_equal(vapply(choices, `[[`, 0, "kappa"), rep(c(0, 0.5, 1), c(4, 4, 2)))
  expect_equal(choices[[7]]$sd, 1)
  # The first choices again, by hand.
  expect_equal(b$rows[1], 1)
  p <- ref_posterior_at(K, 1, f[1], 0.01)
  expect_equal(b$rows[2], which.max(p$mean + sqrt(2 * log(8 * 4 * pi^2 / 0.6)) * p$sd))
})

test_that("a reference run with a detector finds a jump and discards the data", {
  set.seed(12)
  K <- ref_kernel_se(0.3)(seq(0, 1, length.out = 8))
  b <- ref_bandit(K, 0.01, ref_policy("mean"),
                  changes = ref_changes("detect", sqrt(3), threshold = function(q) 2 * q^-0.8,
                                        ridge = function(q) q^0.2))
  for (t in 1:60) {
    b <- ref_suggest(b, if (ref_explores_now(b)) sample(8, 1))
    b <- ref_observe(b, t, if (t <= 30) -2 else 2)
  }
  segments <- vapply(b$at_choice, `[[`, 0, "segment")
  expect_equal(segments[30], 1)
  expect_gt(segments[60], 1)
})

test_that("forced exploration keeps |U| near xi sqrt(|H|)", {
  b <- ref_bandit(diag(3), 0.1, ref_policy("mean"), changes = ref_changes("never", 1))
  for (t in 1:9) {
    b <- ref_suggest(b, if (ref_explores_now(b)) 2)
    b <- ref_observe(b, t, 0)
  }
  # |H| = 0, 1, 4, 9: there |U| = 0, 1, 2, 3 still is at most its square root.
  expect_equal(which(b$action == "explore"), c(1, 2, 5))
  expect_true(ref_explores_now(b))
  expect_false(ref_explores(0, 0, 0))
})

test_that("the helper for many expectations reports as testthat does", {
  passes <- function(code) tryCatch({ code; TRUE }, expectation_failure = function(e) FALSE)
  set.seed(14)
  outcomes <- logical()
  for (i in 1:by_level(30, 600, quick = 10)) {
    y <- rnorm(sample(4, 1)) * 10^runif(1, -12, 3)
    x <- y + rnorm(length(y)) * 10^runif(1, -14, 0)
    tolerance <- 10^runif(1, -12, -1)
    outcomes[i] <- passes(testthat::expect_equal(x, y, tolerance = tolerance))
    if (within_tolerance(x, y, tolerance) != outcomes[i]) fail(paste("draw", i))
  }
  expect_setequal(outcomes, c(TRUE, FALSE))
  unequal <- list(list(1, 1L), list(1, c(a = 1)), list(1, NA_real_), list(c(1, 2), 1), list(1, "1"))
  for (pair in unequal) {
    expect_false(passes(expect_identical(pair[[1]], pair[[2]])))
    expect_identical(passes(expect_equal(pair[[1]], pair[[2]])), passes(testthat::expect_equal(pair[[1]], pair[[2]])))
  }
  for (x in list(FALSE, NA, 1, c(TRUE, TRUE), NULL)) expect_false(passes(expect_true(x)))
  for (x in list(TRUE, NA, 0, logical())) expect_false(passes(expect_false(x)))
  expect_identical(conditionMessage(expect_error(stop("a word"), "a word", class = "simpleError")), "a word")
  expect_false(passes(expect_error(1)))
  expect_false(passes(expect_error(stop("a word"), NA)))
  # (Another error than was expected is no expectation that failed, but an error.)
  for (wrong in list(quote(expect_error(stop("a word"), "another")), quote(expect_error(stop("a word"), class = "odd")),
                     quote(testthat::expect_error(stop("a word"), class = "odd")))) {
    expect_false(tryCatch(passes(eval(wrong)), error = function(e) FALSE))
  }
})
