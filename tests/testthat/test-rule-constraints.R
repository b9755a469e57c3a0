# Multipliers and targets by hand, the regret log's violation, and the overflow of the penalty.
# That whole runs equal the reference's is tested in test-bandit.R.

grid <- as.matrix(expand.grid(x1 = seq(0, 6, length.out = 13), x2 = seq(0, 6, length.out = 13)))
g <- sin(grid[, 1]) * sin(grid[, 2]) + 0.95
problem <- bandit_problem(grid, -sin(grid[, 1]) - grid[, 2], noise = 0.1, constraints = cbind(g))

test_that("multipliers follow the epochs' averages", {
  kappa_path <- function(b, first, update) {
    set.seed(1)
    run <- as.data.frame(run_bandit(b, problem, 35))
    kappa <- rep(first, 35)
    for (epoch in 1:3) {
      rows <- (epoch - 1) * 10 + 1:10
      kappa[seq(epoch * 10 + 1, 35)] <- update(kappa[rows[1]], mean(run$g1[rows]))
    }
    expect_equal(run$kappa1, kappa, tolerance = 1e-12)
    run
  }
  psi <- function(x) if (x <= 0) 1 else exp(x)
  kernel <- kernel_matern(2.5, 1)
  wide <- width_constant(2)
  run <- kappa_path(gp_ucb_noiseless_constraints(grid, kernel, 0.01, epoch = 10, width = wide), 1,
                    function(k, a) k * psi(a))
  expect_equal(run$violation1, g[run$arm], ignore_attr = TRUE)
  expect_equal(run$g1, g[run$arm], ignore_attr = TRUE)
  expect_equal(run$cumulative_violation, pmax(0, cumsum(g[run$arm])))
  expect_equal(run$optimum[1], max(problem$reward_values[g <= 0]))
  kappa_path(gp_ucb_noisy_constraints(grid, kernel, 0.01, epoch = 10, step = 0.5, width = wide), 0,
             function(k, a) max(0, k + 0.5 * a))
})

test_that("with reuse the posterior is that of all points at the new target", {
  kernel <- kernel_matern(2.5, 1)
  b <- gp_ucb_noisy_constraints(grid, kernel, 0.01, epoch = 10, step = 0.5, width = width_constant(2))
  set.seed(2)
  run_bandit(b, problem, 31)
  h <- b$history()
  kappa <- h$kappa1[31]
  fit <- gp_regression(grid[h$arm, ], h$reward - kappa * h$g1, kernel, 0.01)
  expect_equal(b$posterior()$mean, predict(fit, grid)$mean, tolerance = 1e-8)
})

test_that("the epoch's noise level widens the bound, and its failure probability is delta / (2 L)", {
  b <- gp_ucb_noisy_constraints(grid, kernel_matern(2.5, 1), 0.01, B = 1, R = 0.1, delta = 0.1, gain = 3, epoch = 5,
                                step = 0.5, epochs = 4)
  set.seed(3)
  run_bandit(b, problem, 12)
  h <- b$history()
  expect_equal(h$width, 1 + 0.1 * sqrt(1 + h$kappa1^2) * sqrt(2 * (3 + 1 + log(8 / 0.1))), tolerance = 1e-12)
  expect_error(gp_ucb_noisy_constraints(grid, kernel_se(1), 0.01, B = 1, R = 1, epoch = 5, step = 1),
               class = "gpbandits_error", regexp = "epochs")
})

test_that("a penalty that overflows ends in an error and changes nothing", {
  b <- gp_ucb_noiseless_constraints(1:3, kernel_se(1), 0.01, epoch = 2, width = width_constant(1))
  q <- b$suggest()
  before <- b$history()
  expect_error(b$observe(q$id, 1, constraints = 1000), class = "gpbandits_error", regexp = "too large")
  expect_identical(b$history(), before)
  b$observe(q$id, 1, constraints = 0.5)
  expect_true(all(is.finite(b$posterior()$mean)))
})

test_that("constraint values are required, and errors without constraints", {
  b <- gp_ucb_noiseless_constraints(1:3, kernel_se(1), 0.01, count = 2, epoch = 2, width = width_constant(1))
  q <- b$suggest(2)
  for (bad in list(NULL, 1, c(1, NA), "a", matrix(1, 2, 3))) {
    expect_error(b$observe(q$id, c(1, 2), constraints = bad), class = "gpbandits_error", regexp = "constraints")
  }
  b$observe(q$id, c(1, 2), constraints = matrix(0.1, 2, 2))
  expect_error(gp_ucb(1:3, kernel_se(1), 0.1)$add(arm = 1, reward = 1, constraints = 1), class = "gpbandits_error")
  expect_error(run_bandit(b, bandit_problem(1:3, 1:3), 2), class = "gpbandits_error", regexp = "problem")
})

test_that("Slater's condition is that of Theorem 2", {
  margin <- function(rounds, gain, R, epoch, ...) {
    regret_bound("constraints_noisy", rounds, gain, R = R, epoch = epoch, quantity = "margin", ...)
  }
  set.seed(5)
  for (k in 1:20) {
    R <- runif(1); gain <- 5 * runif(1); S <- sample(5:400, 1); L <- sample(50, 1); delta <- runif(1); m <- sample(4, 1)
    needed <- 4 * (R * sqrt(2 * gain + 2 + 2 * log(2 * L / delta))) * sqrt((S + 2) * gain) / S +
      2 * R * (sqrt(4 * m / S) + sqrt(log(2 * L / delta) / S))
    expect_equal(margin(S * L, gain, R, S, delta = delta, count = m), rep(needed, S * L), tolerance = 1e-12)
    expect_equal(margin(S, gain, R, S, epochs = L, delta = delta, count = m)[1], needed, tolerance = 1e-12)
    noise <- 2 * R * (sqrt(4 * m / S) + sqrt(log(2 * L / delta) / S))
    expect_equal(margin(S * L, 0, R, S, delta = delta, count = m)[1], noise, tolerance = 1e-12)
    # What is needed is where the bound ends.
    bound <- function(slater) regret_bound("constraints_noisy", S * L, gain, B = 1, R = R, epoch = S, step = 1, Q = 1, M = 1,
                                           slater = slater, count = m, delta = delta)[S * L]
    expect_identical(bound(0.999 * needed), Inf)
    expect_lt(bound(1.001 * needed), Inf)
  }
  # The paper's E.2.2: noise uniform on +- .2, 18 epochs of 20 rounds, g(0) = -2; the largest gain at lambda = 1 + 2/20.
  gain <- 20 / 2 * log(1 + 1 / 1.1)
  expect_equal(gain, 6.466, tolerance = 1e-4)
  expect_equal(margin(360, gain, 0.2 / sqrt(3), 20)[1], 1.652, tolerance = 3e-4)
  # E.1.2: sin(x) sin(y) + .95 is never below -.05.
  expect_gt(margin(360, 0.01, 0.1, 20)[1], 0.05)
  expect_identical(margin(20, 3, 0, 10), double(20))
})

test_that("with Thompson sampling the frequencies of choices are those of draws from the target's posterior", {
  skip_on_cran()
  arms <- c(0, 0.4, 1)
  kernel <- kernel_se(0.5)
  make <- function(...) gp_ucb_noisy_constraints(arms, kernel, 0.1, epoch = 2, step = 1, inner = "gp_ts", ...)
  b <- make(width = width_constant(1.5))
  b$add(arm = c(1, 3), reward = c(1, 0.5), constraints = c(0.8, -0.2))
  counts <- tabulate(vapply(seq_len(by_level(400, 400, quick = 60)), function(k) {
    set.seed(k)
    copy <- b$copy()
    copy$suggest()$arm
  }, 0L), 3)
  # kappa = max(0, 0 + mean(0.8, -0.2)) = 0.3 from the third query on
  p <- ref_posterior_at(ref_kernel_se(0.5)(matrix(arms)), c(1, 3), c(1, 0.5) - 0.3 * c(0.8, -0.2), 0.1)
  K <- ref_kernel_se(0.5)(matrix(arms))
  C <- K - K[, c(1, 3)] %*% solve(K[c(1, 3), c(1, 3)] + diag(0.1, 2), K[c(1, 3), ])
  set.seed(1)
  draws <- p$mean + 1.5 * t(chol(C + diag(1e-12, 3))) %*% matrix(rnorm(3 * 2e5), 3)
  share <- tabulate(max.col(t(draws)), 3) / 2e5
  expect_gt(stats::chisq.test(counts, p = share)$p.value, 1e-3)
  copy <- b$copy()
  copy$suggest()
  expect_equal(copy$history()$kappa1[3], 0.3, tolerance = 1e-12)
  width <- make(B = 1, R = 0.2, delta = 0.1, gain = 2, epochs = 5)
  width$suggest()
  expect_equal(width$history()$width, 1 + 0.2 * sqrt(2 * (2 + 1 + log(2 * 10 / 0.1))), tolerance = 1e-12)
  expect_error(make(width = width_dmm(1, 1)), class = "gpbandits_error", regexp = "width")
  expect_error(gp_ucb_noiseless_constraints(arms, kernel, 0.1, epoch = 2, width = width_constant(1), inner = "ei"),
               class = "gpbandits_error", regexp = "inner")
})

test_that("new values at the end of an epoch give both engines the posterior of a new fit", {
  for (engine in c("weights", "played")) {
    b <- gp_ucb_noiseless_constraints(grid, kernel_matern(2.5, 1), 0.01, epoch = 7, width = width_constant(2), engine = engine)
    set.seed(6)
    run_bandit(b, problem, 29)
    h <- b$history()
    kappa <- h$kappa1[29]
    fit <- gp_regression(grid[h$arm, ], h$reward - kappa * (ifelse(h$g1 > 0, exp(h$g1), 1) - 1), kernel_matern(2.5, 1), 0.01)
    p <- predict(fit, grid)
    expect_equal(b$posterior()$mean, p$mean, tolerance = 1e-7)
    expect_equal(b$posterior()$sd, p$sd, tolerance = 1e-7)
  }
})

test_that("on a box, with two constraints, contexts and delays, the posterior is that of the target's values", {
  skip_on_cran()
  domain <- box_domain(c(0, 0), c(2, 2))
  box <- bandit_problem(domain, function(x) sin(2 * x[, 1]) + x[, 2] * x[, 3], noise = 0.1, delay = function(n) rpois(n, 2),
                        constraints = function(x) cbind(x[, 1] + x[, 2] - 2, x[, 2] * x[, 3] - 0.5),
                        constraint_noise = list(0.1, function(n) runif(n, -0.1, 0.1)),
                        contexts = function(n) matrix(runif(n), n, 1, dimnames = list(NULL, "z")))
  kernel <- kernel_se(c(0.8, 0.8, 1))
  makers <- list(
    function() gp_ucb_noisy_constraints(domain, kernel, 0.01, count = 2, epoch = 6, step = 0.7, width = width_constant(2),
                                        contexts = "z"),
    function() gp_ucb_noiseless_constraints(domain, kernel, 0.01, count = 2, epoch = 6, width = width_constant(2), contexts = "z",
                                            penalty = "polynomial", penalty_power = 2, inner = "gp_ts")
  )
  weigh <- list(function(g) g, function(g) ifelse(g > 0, (g + 1)^2, 1) - 1)
  rounds <- by_level(15, 27)                            # in the third or the fifth epoch
  for (k in 1:2) {
    b <- makers[[k]]()
    set.seed(k)
    run <- as.data.frame(run_bandit(b, box, rounds))
    h <- b$history()
    kappa <- as.matrix(h[rounds, c("kappa1", "kappa2")])
    target <- h$reward - weigh[[k]](as.matrix(h[c("g1", "g2")])) %*% t(kappa)
    arrived <- !is.na(h$reward)
    fit <- gp_regression(as.matrix(h[arrived, c("x1", "x2", "z")]), target[arrived], kernel, 0.01)
    at <- cbind(runif(10, 0, 2), runif(10, 0, 2))
    p <- predict(fit, cbind(at, 0.4))
    expect_equal(b$posterior(at, context = 0.4)$mean, p$mean, tolerance = 1e-6)
    expect_equal(b$posterior(at, context = 0.4)$sd, p$sd, tolerance = 1e-6)
    expect_equal(as.matrix(run[c("violation1", "violation2")]),
                 cbind(run$x1 + run$x2 - 2, run$x2 * run$z - 0.5), ignore_attr = TRUE)
    again <- b$copy()
    set.seed(9)
    expected <- b$suggest(2, context = 0.2)
    set.seed(9)
    expect_equal(again$suggest(2, context = 0.2), expected, tolerance = 1e-8)
  }
})
