# The detector's incremental sweep against the statistic of each tail by itself, and what
# change detection must do on data that change and data that do not.

ridge <- function(q) 2 * q^(1 / 7)

test_that("change_statistic() is the mean square difference of the two fits", {
  set.seed(1)
  x <- runif(20)
  y <- rnorm(20)
  kernel <- kernel_matern(2.5, 0.3)
  grid <- seq(0, 1, length.out = 37)
  half <- function(rows) {
    K <- kernel_gram(kernel, x[rows]) + 0.7 * diag(length(rows))
    drop(kernel_gram(kernel, grid, x[rows]) %*% solve(K, y[rows]))
  }
  expect_equal(change_statistic(x, y, kernel, 0.7, grid), mean((half(1:10) - half(11:20))^2), tolerance = 1e-10)
})

test_that("the sweep alarms at the first pair at which some tail's statistic exceeds its threshold", {
  kernel <- kernel_se(0.3)
  for (seed in 1:5) {
    set.seed(seed)
    x <- runif(40)
    y <- c(sin(6 * x[1:20]), cos(6 * x[21:40])) + rnorm(40, sd = 0.2)
    grid <- seq(0, 1, length.out = 25)
    threshold <- function(q) 1.2 * q^(-0.3)
    first <- NA
    for (t in 2:40) {
      alarms <- vapply(seq_len(t %/% 2), function(q) {
        tail <- seq(t - 2 * q + 1, t)
        change_statistic(x[tail], y[tail], kernel, ridge(q), grid) > threshold(q)
      }, TRUE)
      if (any(alarms)) {
        first <- t
        break
      }
    }
    expect_identical(detect_change(x, y, kernel, threshold, ridge, grid)$alarm, as.integer(first))
  }
})

test_that("no threshold is exceeded by what it was calibrated on more often than its level says", {
  set.seed(3)
  kernel <- kernel_matern(2.5, 0.3)
  trials <- if (Sys.getenv("GPBANDITS_TEST_LEVEL", "1") >= "2") 400 else 60
  alarms <- replicate(trials, {
    x <- runif(24)
    y <- sin(6 * x) + rnorm(24, sd = 0.3)
    old <- calibrate_threshold(x, y, kernel, 1, level = 0.1, permutations = 99)
    change_statistic(x, y, kernel, 1) > old
  })
  # Exact under exchangeability: at most 0.1, four standard errors allowed.
  expect_lt(mean(alarms), 0.1 + 4 * sqrt(0.09 / trials))
})

test_that("a change is found and the bandit begins anew; without change the history goes on", {
  x <- seq(0, 5, length.out = 100)
  kernel <- kernel_matern(2.5, 1)
  f <- cbind(1.5 * sin(2 * x), -1.5 * sin(2 * x))
  rule <- change_detect(function(q) 2.6 * q^(-6 / 7), ridge)
  play <- function(problem) {
    b <- gp_bandit(x, kernel, 0.02, policy_ucb(width_constant(2)), changes = rule)
    set.seed(5)
    as.data.frame(run_bandit(b, problem, 300))
  }
  changed <- play(bandit_problem(x, f, noise = noise_gaussian(0.05), change_points = 150))
  expect_gt(max(changed$segment), 1)
  expect_true(all(changed$segment[1:150] == 1))
  still <- play(bandit_problem(x, f[, 1], noise = noise_gaussian(0.05)))
  expect_identical(max(still$segment), 1L)
  explored <- changed$action == "explore"
  for (t in which(changed$segment == 1)) {
    before <- seq_len(t - 1)
    expect_identical(explored[t], sum(explored[before]) <= sqrt(3) * sqrt(t - 1))
  }
})

test_that("restarts every so many rounds and after given rounds, and none without a rule", {
  x <- seq(0, 1, length.out = 20)
  problem <- bandit_problem(x, sin(6 * x), noise = noise_gaussian(0.1))
  segments <- function(b) as.data.frame(run_bandit(b, problem, 30))$segment
  expect_equal(segments(r_gp_ucb(x, kernel_se(0.2), 0.01, rounds = 10)), rep(1:3, each = 10))
  b <- gp_ucb(x, kernel_se(0.2), 0.01, changes = change_oracle(c(7, 20), explore = 0))
  expect_equal(segments(b), rep(1:3, c(7, 13, 10)))
  expect_equal(segments(gp_ucb(x, kernel_se(0.2), 0.01, changes = change_never())), rep(1, 30))
  jump <- bandit_problem(x, cbind(sin(6 * x), 1.5 + cos(6 * x)), noise = noise_gaussian(0.1), change_points = 15)
  run <- as.data.frame(run_bandit(et_gp_ucb(x, kernel_se(0.2), 0.01), jump, 30))
  t <- stats::ave(run$segment, run$segment, FUN = seq_along)
  unlikely <- 2 * log(2 * pi^2 * t^2 / 6 / 0.1)
  far <- abs(run$reward - run$mean) > sqrt(unlikely) * run$sd + sqrt(0.01 * unlikely)
  expect_equal(diff(run$segment), as.integer(far[-30]))
  expect_equal(max(run$segment), 2)
})
