# check_model() where rewards are successes, counts, levels or have outliers.

check_x <- seq(0, 1, length.out = 8)

# A bandit that knows rewards of arms, in their order.
reported_outcomes <- function(rewards, arm, y, size = rep(1, length(y)), ...) {
  b <- gp_bandit(check_x, kernel_se(0.25, variance = 2), policy = policy_ucb(width_constant(1)), rewards = rewards, mean = 0.3, ...)
  if (all(size == 1)) b$add(arm = arm, reward = y) else b$add(arm = arm, reward = y, size = size)
  b
}

test_that("leave-one-out predictions are those of a fit to all other sites, and probabilities are integrals", {
  arm <- c(1, 2, 2, 4, 5, 7, 7, 8)
  size <- c(3, 10, 4, 7, 20, 5, 1, 2)
  f <- 2 * sin(5 * check_x[arm])
  set.seed(1)
  kinds <- list(
    logit = list(rewards_binary(), function(y, n, f) dbinom(y, n, plogis(f)), function(f) plogis(f), rbinom(8, size, plogis(f)), size),
    probit = list(rewards_binary("probit", direction = "minimize"), function(y, n, f) dbinom(y, n, pnorm(f)), function(f) pnorm(f),
                  rbinom(8, size, pnorm(f)), size),
    counts = list(rewards_counts(), function(y, n, f) dpois(y, n * exp(f)), function(f) exp(f), rpois(8, size * exp(f)), size),
    ordinal = list(rewards_ordinal(c("a", "b", "c"), cuts = c(-0.5, 1)),
                   function(y, n, f) plogis(c(-0.5, 1, Inf)[y] - f) - plogis(c(-Inf, -0.5, 1)[y] - f),
                   function(f) 1 + plogis(f + 0.5) + plogis(f - 1), c(3, 2, 3, 1, 1, 2, 3, 1), rep(1, 8)))
  for (name in names(kinds)) {
    kind <- kinds[[name]]
    b <- reported_outcomes(kind[[1]], arm, kind[[4]], kind[[5]])
    mean <- b$posterior(arm = arm, scale = "latent")$mean
    log_p <- function(i, f) log(kind[[2]](kind[[4]][i], kind[[5]][i], f))
    h <- 1e-4
    slope <- vapply(1:8, function(i) (log_p(i, mean[i] + h) - log_p(i, mean[i] - h)) / (2 * h), 0)
    weight <- vapply(1:8, function(i) -(log_p(i, mean[i] + h) - 2 * log_p(i, mean[i]) + log_p(i, mean[i] - h)) / h^2, 0)
    target <- mean + slope / weight
    K <- 2 * exp(-outer(check_x[arm], check_x[arm], "-")^2 / (2 * 0.25^2))
    prior <- 0.3
    for (by in c("place", "reward")) {
      check <- check_model(b, by = by)
      core <- as.data.frame(check)
      for (i in 1:8) {
        rest <- if (by == "place") which(arm != arm[i]) else (1:8)[-i]
        solved <- solve(K[rest, rest] + diag(1 / weight[rest]), cbind(target[rest] - prior, K[rest, i]))
        m <- prior + sum(K[i, rest] * solved[, 1])
        s <- sqrt(K[i, i] - sum(K[i, rest] * solved[, 2]))
        over <- function(g) integrate(function(z) g(m + s * z) * dnorm(z), -9, 9, rel.tol = 1e-9, subdivisions = 500)$value
        info <- paste(name, by, i)
        expect_equal(core$mean[i], over(kind[[3]]), tolerance = 1e-4, info = info)
        expect_equal(core$sd[i], sqrt(over(function(f) kind[[3]](f)^2) - over(kind[[3]])^2), tolerance = 1e-3, info = info)
        levels <- if (name == "ordinal") 1:kind[[4]][i] else 0:kind[[4]][i]
        chance <- vapply(levels, function(y) over(function(f) kind[[2]](y, kind[[5]][i], f)), 0)
        below <- sum(chance) - chance[length(chance)]
        expect_gt(core$pit[i], below - 1e-5)
        expect_lt(core$pit[i], sum(chance) + 1e-5)
        # (The same draw within each step in every call.)
        share <- (core$pit[i] - below) / chance[length(chance)]
        if (by == "place") first <- c(if (i > 1) first, share) else expect_equal(share, first[i], tolerance = 1e-2, info = info)
        if (i == 1) density <- numeric()
        density[i] <- log(chance[length(chance)])
      }
      expect_equal(check$log_score, mean(density), tolerance = 1e-4, info = paste(name, by))
      expect_identical(check$rewards, 8L)
    }
  }
})

test_that("with hardly any outliers the check equals that of Gaussian noise", {
  arm <- c(1, 3, 3, 4, 6, 8)
  y <- c(0.2, 0.9, 1.3, 0.4, -0.6, 0.1)
  robust <- reported_outcomes(rewards_robust(df = 1e7), arm, y, noise_var = 0.1)
  plain <- gp_bandit(check_x, kernel_se(0.25, variance = 2), 0.1, policy_ucb(width_constant(1)), mean = 0.3)
  plain$add(arm = arm, reward = y)
  core <- check_model(robust, by = "reward")
  theirs <- check_model(plain, by = "reward")
  expect_equal(as.data.frame(core), as.data.frame(theirs), tolerance = 1e-4)
  expect_equal(core$log_score, theirs$log_score, tolerance = 1e-4)
  expect_equal(core$constant_score, theirs$constant_score, tolerance = 1e-10)
  points <- as.data.frame(check_model(robust))
  expect_equal(points[points$arm != 3, c("mean", "sd", "z")],
               as.data.frame(check_model(plain))[c(1, 3:5), c("mean", "sd", "z")], tolerance = 1e-4, ignore_attr = TRUE)
})

test_that("residuals are those of predictions at the choice; a right model passes and a wrong one does not", {
  f <- 2 * cos(6 * check_x)
  play <- function(variance, seed, trials = 12) {
    set.seed(seed)
    b <- gp_bandit(check_x, kernel_se(0.25, variance = variance), policy = policy_ts(1), rewards = rewards_binary())
    for (t in 1:25) {
      q <- b$suggest()
      b$observe(q$id, rbinom(1, trials, plogis(f[q$arm])), size = trials)
    }
    b
  }
  b <- play(2, 1)
  seed <- .Random.seed
  check <- check_model(b)
  expect_identical(.Random.seed, seed)
  expect_identical(check_model(b), check)
  queries <- as.environment(b)$queries
  said <- gpbandits:::bandit_checked(as.environment(b))$said[, "z"]
  expect_length(said, 25)
  for (i in c(1, 2, 12, 25)) {
    chance <- function(y) integrate(function(z) pbinom(y, 12, plogis(queries$mean[i] + queries$sd[i] * z)) * dnorm(z), -9, 9)$value
    reward <- queries$reward[i]
    expect_gt(pnorm(said[i]), chance(reward - 1) - 1e-4)
    expect_lt(pnorm(said[i]), chance(reward) + 1e-4)
  }
  expect_equal(check$tests$statistic[1:2], c(mean(said^2), max(abs(said))))
  for (seed in 1:8) expect_gt(check_model(play(2, seed))$p, 1e-3)
  wrong <- check_model(play(0.01, 3, trials = 200))
  expect_match(wrong$verdict, "speaks against the model")
  expect_warning(summary(play(0.01, 3, trials = 200)), class = "gpbandits_model")
  expect_output(print(summary(b)), "check: 25 results")
  # If hyperparameters are fitted, the predictions after the first fit.
  fitted <- gp_bandit(check_x, kernel_se(0.25), policy = policy_ts(1), rewards = rewards_counts(), refit = refit_every(6))
  for (t in 1:14) fitted$observe(fitted$suggest()$id, rpois(1, 4))
  expect_true(check_model(fitted)$fitted)
  expect_equal(nrow(gpbandits:::bandit_checked(as.environment(fitted))$said), 8)
})

test_that("unsupported checks are errors, and extreme data give finite results", {
  duels <- gp_bandit(check_x, kernel_se(0.25), policy = policy_duel(width_constant(1)), rewards = rewards_preferences())
  for (t in 1:4) {
    q <- duels$suggest(2)
    duels$observe(q$id, prefer = q$id[1])
  }
  expect_error(check_model(duels), "comparisons", class = "gpbandits_error")
  b <- reported_outcomes(rewards_binary(), 1:5, c(0, 1e6, 0, 1e6, 0), rep(1e6, 5))
  expect_error(check_model(b, by = "context"), "`by`", class = "gpbandits_error")
  expect_true(all(is.finite(unlist(as.data.frame(check_model(b))))))
  expect_true(is.finite(check_model(b)$log_score))
  # With a million trials, and with huge counts, the leave-one-out result is not lost in rounding.
  late <- reported_outcomes(rewards_counts(), c(1, 2, 3, 3), c(0, 3, 1e9, 1e9))
  for (by in c("place", "reward")) expect_true(all(is.finite(as.data.frame(check_model(late, by = by))$z)))
  f <- late$posterior(arm = 1:2, scale = "latent")$mean
  K <- 2 * exp(-outer(check_x[1:3], check_x[1:3], "-")^2 / (2 * 0.25^2))
  solved <- solve(K[1:2, 1:2] + diag(exp(-f)), cbind(f + c(0, 3) / exp(f) - 1 - 0.3, K[1:2, 3]))
  variance <- K[3, 3] - sum(K[3, 1:2] * solved[, 2])
  expect_equal(log(as.data.frame(check_model(late))$mean[3:4]), rep(0.3 + sum(K[3, 1:2] * solved[, 1]) + variance / 2, 2), tolerance = 1e-4)
})
