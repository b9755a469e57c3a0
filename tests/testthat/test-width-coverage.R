# Coverage of the widths: with the stated confidence the bounds hold at every arm in
# every round at once. The package plays; whether the bounds held is worked out by the reference.

coverage_seeds <- by_level(12, 200, quick = 5)

# A function with its norm, bounded or Gaussian noise that is R-sub-Gaussian, and one run of UCB.
coverage_run <- function(seed, width, lambda, rounds = 30, R = 0.3) {
  set.seed(seed)
  x <- sort(runif(25))
  kernel <- if (seed %% 2) kernel_se(0.2) else kernel_matern(2.5, 0.3)
  K <- if (seed %% 2) ref_kernel_se(0.2)(x) else ref_kernel_matern(2.5, 0.3)(x)
  f <- sample_rkhs(kernel, x, 0.05)
  noise <- if (seed %% 3) R else function(n) sample(c(-R, R), n, TRUE)
  bandit <- gp_ucb(x, kernel, lambda, width = width(attr(f, "norm"), R))
  run <- as.data.frame(run_bandit(bandit, bandit_problem(x, as.numeric(f), noise), rounds))
  list(f = as.numeric(f), B = attr(f, "norm"), R = R, K = K, lambda = lambda, run = run)
}

# Does |mean - f| <= width * sd hold everywhere, in all rounds?
band_held <- function(played) {
  all(vapply(seq_len(nrow(played$run)), function(t) {
    before <- seq_len(t - 1)
    p <- ref_posterior_at(played$K, played$run$arm[before], played$run$reward[before], played$lambda)
    all(abs(p$mean - played$f) <= played$run$width[t] * p$sd + tol$bound)
  }, logical(1)))
}

coverage_misses <- function(width, lambda, held = band_held) {
  sum(!vapply(seq_len(coverage_seeds), function(seed) held(coverage_run(seed, width, lambda)), logical(1)))
}

# So many misses could be chance if each run missed with probability delta.
expect_covers <- function(misses, delta) {
  expect_gt(stats::binom.test(misses, coverage_seeds, delta, "greater")$p.value, tol$p_value)
}

test_that("IGP-UCB's bound holds with the stated confidence (lambda = 1 + 2 / T)", {
  expect_covers(coverage_misses(function(B, R) width_igp(B, R, 0.1), 1 + 2 / 30), 0.1)
  expect_covers(coverage_misses(function(B, R) width_igp(B, R, 0.1, "spectral"), 1 + 2 / 30), 0.1)
})

test_that("the realised and the AMM bounds hold with the stated confidence, for any lambda", {
  for (lambda in c(0.02, 0.09, 1)) {
    expect_covers(coverage_misses(function(B, R) width_realized(B, R, 0.1), lambda), 0.1)
    expect_covers(coverage_misses(function(B, R) width_amm(B, R, 0.1), lambda), 0.1)
  }
})

test_that("the DMM bound holds with the stated confidence, from above and from below", {
  skip_on_cran()
  # The bandit plays the arm whose upper bound is largest: if the bound holds, it is above max f.
  held <- function(played) {
    run <- played$run
    upper_held <- run$mean + run$width * run$sd >= max(played$f) - tol$bound
    lower_held <- vapply(seq_len(nrow(run)), function(t) {
      before <- seq_len(t - 1)
      lower <- -ref_dmm_upper(played$K, run$arm[before], -run$reward[before], played$lambda, played$B, played$R,
                              0.1, played$lambda * 4^(-3:3))
      all(lower <= played$f + tol$bound)
    }, logical(1))
    all(upper_held) && all(lower_held)
  }
  for (lambda in c(0.02, 0.09)) {
    expect_covers(coverage_misses(function(B, R) width_dmm(B, R, 0.1), lambda, held), 0.1)
  }
})

test_that("the bound of corrupted rewards holds for any corruption, and AMM's alone does not", {
  x <- seq(0, 1, length.out = 40)
  K <- ref_kernel_se(0.2)(x)
  missed <- function(seed) {
    set.seed(seed)
    f <- as.numeric(sample_rkhs(kernel_se(0.2), x, 0.05))
    norm <- sqrt(sum(f * solve(K + diag(1e-8, 40), f)))
    rows <- sample(40, 60, TRUE)
    y <- f[rows] + rnorm(60, 0, 0.1)
    at <- which.max(f[rows])
    y[at] <- y[at] - 3
    b <- gp_ucb(x, kernel_se(0.2), 0.01, width = width_corrupt(width_amm(norm, 0.1, 0.1), 3))
    b$add(arm = rows, reward = y)
    p <- b$posterior()
    # (The check of the model sees that something is wrong.)
    w <- suppressWarnings(b$certificate(), classes = "gpbandits_model")$width
    c(any(abs(p$mean - f) > w * p$sd), any(abs(p$mean - f) > (w - 3 / 0.1) * p$sd))
  }
  found <- rowSums(vapply(seq_len(coverage_seeds), missed, c(TRUE, TRUE)))
  expect_covers(found[1], 0.1)
  expect_gt(found[2], coverage_seeds / 2)
})

test_that("the bound of a number of wrong rewards holds whatever they are, and AMM's alone does not", {
  x <- seq(0, 1, length.out = 30)
  K <- ref_kernel_se(0.2)(x)
  missed <- function(seed, rewards) {
    set.seed(seed)
    f <- as.numeric(sample_rkhs(kernel_se(0.2), x, 0.05))
    f <- f / max(abs(f))
    norm <- sqrt(sum(f * solve(K + diag(1e-8, 30), f)))
    base <- width_amm(norm, 0.1, 0.1)
    b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(width_corrupt(base, count = 3)), rewards = rewards)
    out <- c(FALSE, FALSE)
    for (t in 1:25) {
      q <- b$suggest()
      # The worst errors: towards a wrong maximum, of a size that depends on the noise and on the mean so far.
      noise <- stats::runif(1, -0.1, 0.1)
      wrong <- t %in% c(3, 8, 9)
      size <- if (wrong) c(-2.4, -40, 2.4)[match(t, c(3, 8, 9))] * (1 + abs(noise)) else 0
      suppressWarnings(b$observe(q$id, f[q$arm] + noise + size))
      p <- b$posterior()
      w <- b$history()$width[t]
      only <- sqrt(norm^2 + (ref_logdet(K, b$history()$arm, 0.01) + 2 * log(10)))
      out <- out | c(t > 1 && any(abs(p$mean - f) > w * p$sd), any(abs(p$mean - f) > only * p$sd))
    }
    out
  }
  for (rewards in list(rewards_robust(plateau = 1.1), rewards_robust(clip = 1.1))) {
    found <- rowSums(vapply(seq_len(coverage_seeds), missed, c(TRUE, TRUE), rewards = rewards))
    expect_covers(found[1], 0.1)
    expect_gt(found[2], coverage_seeds / 4)
  }
})

test_that("a bound that is too narrow would be detected", {
  too_narrow <- coverage_misses(function(B, R) width_constant(1.5), 0.09)
  expect_lt(stats::binom.test(too_narrow, coverage_seeds, 0.1, "greater")$p.value, tol$p_value)
})

# The width that each bound has on the same data: history's, at the next query.
widths_on <- function(widths, x, kernel, lambda, arms, rewards) {
  lapply(widths, function(width) {
    b <- gp_ucb(x, kernel, lambda, width = width)
    b$add(arm = arms, reward = rewards)
    b$suggest()
    h <- b$history()
    h[nrow(h), ]
  })
}

test_that("AMM is never wider than the realised width, and narrower where both parts count", {
  set.seed(501)
  for (i in seq_len(by_level(60, 60, quick = 20))) {
    x <- runif(10)
    parameters <- list(B = stats::rexp(1), R = stats::rexp(1, 3), delta = runif(1))
    if (i %% 10 == 0) parameters$B <- 0
    if (i %% 10 == 5) parameters$R <- 0
    n <- sample(30, 1)
    both <- widths_on(list(do.call(width_amm, parameters), do.call(width_realized, parameters)), x,
                      kernel_matern(1.5, 0.3), exp(runif(1, -6, 2)), sample(10, n, TRUE), rnorm(n))
    amm <- both[[1]]$width
    realised <- both[[2]]$width
    expect_lte(amm, realised * (1 + tol$identity))
    if (parameters$B * parameters$R > 0) expect_lt(amm, realised) else expect_equal(amm, realised)
  }
})

test_that("DMM with the bandit's regulariser alone is AMM; more regularisers only narrow it", {
  set.seed(502)
  for (i in 1:20) {
    x <- runif(10)
    lambda <- exp(runif(1, -5, 0))
    B <- stats::rexp(1)
    R <- sqrt(lambda) * exp(rnorm(1, sd = 0.5))
    n <- sample(30, 1)
    found <- widths_on(list(width_amm(B, R, 0.1), width_dmm(B, R, 0.1, lambda, lambda), width_dmm(B, R, 0.1, alpha0 = lambda)), x,
                       kernel_se(0.2), lambda, sample(10, n, TRUE), rnorm(n, sd = R))
    upper <- vapply(found, function(h) h$mean + h$width * h$sd, 0)
    expect_identical(found[[2]]$arm, found[[1]]$arm)
    expect_equal(found[[2]]$width, found[[1]]$width, tolerance = tol$engine)
    # The largest of smaller upper bounds is smaller.
    expect_lte(upper[3], upper[1] + tol$bound)
  }
})

test_that("many draws in one call equal the single ones, with contexts too", {
  set.seed(504)
  z <- matrix(c(0.1, 0.7), 2)
  b <- gp_bandit(sort(runif(8)), kernel_se(c(0.2, 0.5)), 0.05, policy_ts(width_constant(2)), contexts = z)
  for (t in 1:5) b$observe(b$suggest(context = z[1 + t %% 2, ])$id, rnorm(1))
  for (n in c(1, 3, 64, 65, 130)) {
    set.seed(n)
    together <- b$draw(n, context = z[2, ])
    set.seed(n)
    one_by_one <- vapply(seq_len(n), function(i) drop(b$draw(1, context = z[2, ])), numeric(8))
    expect_equal(together, one_by_one, tolerance = tol$identity)
  }
  p <- b$posterior(context = z[2, ])
  many <- b$draw(20000, context = z[2, ])
  expect_lt(max(abs(rowMeans(many) - p$mean) / p$sd), 4.5 / sqrt(20000))
})
