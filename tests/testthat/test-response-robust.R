# Rewards that lose weight beyond a plateau, against a reference in plain R; one broken sensor.

# Altamirano et al. (2024), equations of the posterior: noise J = lambda W^2 / w^2, values y - m_w with
# m_w = lambda d log w^2 / dy, and the weight of Ezzerg et al. (2025), w = W (1 + u^2 / c^2)^(-1/2).
ref_plateau <- function(K, rows, y, lambda, mean, plateau, decay) {
  log_weight <- function(y) -log1p(pmax(0, abs(y - mean) - plateau)^2 / decay^2)
  h <- 1e-6
  moved <- y - lambda * (log_weight(y + h) - log_weight(y - h)) / (2 * h)
  ref_posterior_at(K, rows, moved, lambda * exp(-log_weight(y)), mean)
}

test_that("the posterior is that of a robust conjugate Gaussian process, in every engine", {
  x <- seq(0, 1, length.out = 12)
  K <- ref_kernel_se(0.2)(x)
  rows <- c(1, 4, 6, 6, 9, 12)
  y <- c(0.2, 40, 0.5, -3, 2.1, 0.1)
  own <- c(NA, NA, NA, 0.04, 0.03, NA)
  expected <- ref_plateau(K, rows, y, ifelse(is.na(own), 0.01, own), 0.3, 1.5, 0.5)
  for (engine in c("weights", "played", "dense", "lowrank")) {
    b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(2), mean = 0.3, engine = engine,
                   rewards = rewards_robust(plateau = 1.5, decay = 0.5))
    for (i in seq_along(rows)) {
      b$add(arm = rows[i], reward = y[i], noise_var = if (!is.na(own[i])) own[i])
    }
    found <- b$posterior()
    expect_equal(found$mean, expected$mean, tolerance = 1e-6)
    expect_equal(found$sd, expected$sd, tolerance = 1e-6)
    expect_equal(b$history()$reward, y)
  }
  back <- from_json(as_json(b))
  expect_identical(back$posterior(), b$posterior())
  for (one in list(b, back)) one$amend(2, 0.4)
  expect_identical(back$posterior(), b$posterior())
  y[2] <- 0.4
  expect_equal(b$posterior()$mean, ref_plateau(K, rows, y, ifelse(is.na(own), 0.01, own), 0.3, 1.5, 0.5)$mean,
               tolerance = 1e-6)
})

test_that("rewards within the plateau change no bit, and one beyond moves the mean by a bounded number of sds", {
  x <- seq(0, 1, length.out = 9)
  made <- function(rewards) gp_bandit(x, kernel_se(0.3), 0.04, policy_ucb(2), rewards = rewards)
  usual <- made(NULL)
  robust <- made(rewards_robust(plateau = 2))
  for (b in list(usual, robust)) b$add(arm = c(1, 5, 8), reward = c(0.3, -1.9, 1.2))
  expect_identical(robust$posterior(), usual$posterior())
  # A correct value would be within the plateau; the weight of the wrong one is that of a reward without noise.
  largest <- (sqrt(4 * 2^2 + 1) + 0.77 * 0.04) / sqrt(0.04)
  for (wrong in c(2.5, 4, -10, 1e3, -1e8, 1e15, 1e100)) {
    one <- made(rewards_robust(plateau = 2))
    expect_silent(one$add(arm = c(1, 5, 8), reward = c(0.3, wrong, 1.2)))
    u <- min(abs(wrong) - 2, 1e8)
    correct <- made(NULL)
    correct$add(arm = c(1, 5, 8), reward = c(0.3, -2 * sign(wrong), 1.2), noise_var = 0.04 * c(1, 1 + u^2, 1))
    expect_true(all(abs(one$posterior()$mean - correct$posterior()$mean) <= largest * one$posterior()$sd))
  }
  far <- made(rewards_robust(plateau = 2))
  far$add(arm = c(1, 5, 8), reward = c(0.3, 1e100, 1.2))
  without <- made(NULL)
  without$add(arm = c(1, 8), reward = c(0.3, 1.2))
  expect_equal(far$posterior()$mean, without$posterior()$mean, tolerance = 1e-6)
})

test_that("a broken sensor stops plain GP-UCB, and not the one with a plateau", {
  x <- seq(0, 1, length.out = 46)
  f <- sin(5 * x)
  broken <- 38
  search <- function(value, rewards) {
    set.seed(1)
    read <- function(arm) if (arm == broken) value else f[arm] + rnorm(1, 0, 0.1)
    b <- gp_bandit(x, kernel_se(0.15), 0.01, policy_ucb(2), rewards = rewards)
    first <- union(seq(2, 46, by = 4), broken)
    suppressWarnings(b$add(arm = first, reward = vapply(first, read, 0)))
    for (t in 1:15) {
      q <- b$suggest()
      suppressWarnings(b$observe(q$id, read(q$arm)))
    }
    arms <- utils::tail(b$history()$arm, 15)
    c(regret = sum(max(f) - f[arms]), broken = sum(arms == broken), best = max(f) - f[b$best()$arm])
  }
  for (value in c(1e3, 1e6, 1e9)) {
    plain <- search(value, NULL)
    robust <- search(value, rewards_robust(plateau = 2))
    expect_equal(plain[["broken"]], 15)
    expect_gt(plain[["best"]], 0.5)
    expect_equal(robust[["broken"]], 0)
    expect_lt(robust[["best"]], 0.05)
    expect_lt(robust[["regret"]], plain[["regret"]] / 20)
  }
})

test_that("a plateau excludes settings that its weights do not allow", {
  blamed <- function(code) expect_error(code, class = "gpbandits_error")$argument
  robust <- rewards_robust(plateau = 1)
  made <- function(...) gp_bandit(1:3, kernel_se(1), 0.1, policy_ei(), rewards = robust, ...)
  expect_identical(blamed(made(refit = refit_every(5))), "refit")
  expect_identical(blamed(made(outputs = scale_outputs())), "rewards")
  expect_identical(blamed(made(failures = "avoid")), "failures")
  expect_identical(blamed(made(constraints = constraints_noisy(2, 3, 0.5))), "constraints")
  expect_identical(blamed(rewards_robust(plateau = 1, clip = 2)), "plateau")
  expect_identical(blamed(rewards_robust(df = 3, plateau = 1)), "df")
  expect_identical(blamed(rewards_robust(decay = 1)), "decay")
  expect_equal(robust$decay, 0.5)
})
