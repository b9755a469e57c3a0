# Numbers in units of the reward, where the model's function has another: they mean the same in both.

unit_x <- seq(0, 1, length.out = 8)
unit_kinds <- list(
  binary = list(rewards = function(...) rewards_binary(...), response = stats::plogis, level = 0.5, accuracy = 0.05,
                draw = function(p, n) stats::rbinom(1, n, p), size = 50, f = 1.2 * sin(6 * unit_x)),
  probit = list(rewards = function(...) rewards_binary("probit", ...), response = stats::pnorm, level = 0.4,
                accuracy = 0.05, draw = function(p, n) stats::rbinom(1, n, p), size = 50, f = 1.2 * sin(6 * unit_x)),
  counts = list(rewards = function(...) rewards_counts(...), response = exp, level = 3, accuracy = 0.3,
                draw = function(mean, n) stats::rpois(1, mean * n), size = 10, f = 1 + sin(6 * unit_x)),
  ordinal = list(rewards = function(...) rewards_ordinal(4, ...),
                 response = function(f) 1 + rowSums(stats::plogis(outer(f, stats::qlogis(1:3 / 4), "-"))),
                 level = 2.5, accuracy = 0.2, draw = function(mean, n) min(4, max(1, round(mean))), size = 1,
                 f = 1.5 * sin(6 * unit_x))
)

labelling <- function(kind, direction = "maximize", rounds = 60) {
  set.seed(4)
  b <- gp_lse(unit_x, kernel_se(0.3), level = kind$level, accuracy = kind$accuracy, width = width_constant(2),
              rewards = kind$rewards(direction = direction))
  truth <- kind$response(kind$f)
  for (t in seq_len(rounds)) {
    q <- b$suggest()
    reward <- kind$draw(truth[q$arm], kind$size)
    if (kind$size == 1) b$observe(q$id, reward) else b$observe(q$id, reward, size = kind$size)
  }
  b
}

for (name in names(unit_kinds)) {
  test_that(paste("levels of expected rewards are labelled in their own units:", name), {
    kind <- unit_kinds[[name]]
    b <- labelling(kind)
    found <- b$levels()
    expect_identical(found$label, ifelse(found$lower + kind$accuracy > kind$level, "above",
                                         ifelse(found$upper - kind$accuracy <= kind$level, "below", "unknown")))
    ends <- kind$response(c(-Inf, Inf))
    expect_true(all(found$lower > ends[1] & found$upper < ends[2]))
    # What was learned since the last choice narrows the intervals: they are within the present ones.
    now <- b$posterior(level = 2 * pnorm(2) - 1)
    expect_true(all(found$lower >= now$lower - 1e-9 & found$upper <= now$upper + 1e-9))
    if (name == "ordinal") return()
    truth <- kind$response(kind$f)
    expect_true(all(truth[found$label == "above"] > kind$level - kind$accuracy))
    expect_true(all(truth[found$label == "below"] <= kind$level + kind$accuracy))
    expect_true(all(c("above", "below") %in% found$label))
    expect_equal(b$certificate("levels")$gap, kind$accuracy)
  })
}

test_that("a level set does not depend on the direction in which rewards are good", {
  for (kind in unit_kinds) {
    up <- labelling(kind)
    down <- labelling(kind, "minimize")
    expect_identical(down$history()$arm, up$history()$arm)
    expect_identical(down$levels()$label, up$levels()$label)
    expect_equal(down$levels()[c("lower", "upper")], up$levels()[c("lower", "upper")], tolerance = 1e-8)
  }
})

test_that("levels that no expected reward reaches, and proportions of a latent maximum, are errors", {
  made <- function(level, rewards, ...) {
    gp_lse(unit_x, kernel_se(0.3), level = level, accuracy = 0.1, width = 2, rewards = rewards, ...)
  }
  expect_error(made(1, rewards_binary()), "probability of success", class = "gpbandits_error")
  expect_error(made(0, rewards_counts()), "expected count", class = "gpbandits_error")
  expect_error(made(4, rewards_ordinal(4)), "(1, 4)", fixed = TRUE, class = "gpbandits_error")
  expect_error(made(0.5, rewards_counts(), implicit = TRUE), "implicit", class = "gpbandits_error")
  expect_error(gp_bandit(unit_x, kernel_se(0.3), policy = policy_straddle(1.5), rewards = rewards_binary()),
               "probability of success", class = "gpbandits_error")
  expect_error(gp_bandit(unit_x, kernel_se(0.3), policy = policy_ucb(2), rewards = rewards_counts(),
                         pending = pending_penalize(3)), "Lipschitz", class = "gpbandits_error")
})

test_that("the straddle uses the level of the rewards, with any transform or response type", {
  f <- 50 + 20 * sin(6 * unit_x)
  straddled <- function(noise, kernel, mean, ...) {
    set.seed(1)
    b <- gp_bandit(unit_x, kernel, noise, policy_straddle(55, random = FALSE), mean = mean, ...)
    for (t in 1:25) {
      q <- b$suggest()
      b$observe(q$id, f[q$arm] + rnorm(1))
    }
    b$history()$arm
  }
  plain <- straddled(2, kernel_se(0.3, 225), 50)
  for (direction in c("maximize", "minimize")) {
    expect_identical(straddled(2 / 225, kernel_se(0.3), 0, outputs = scale_outputs(direction, centre = 50, scale = 15)),
                     plain)
  }
  b <- gp_bandit(unit_x, kernel_se(0.3), policy = policy_straddle(0.3, random = FALSE), rewards = rewards_binary())
  for (t in 1:10) {
    latent <- b$posterior(scale = "latent")
    expect_identical(b$suggest()$arm, which.max(1.96 * latent$sd - abs(latent$mean - qlogis(0.3)) > -Inf &
      1.96 * latent$sd - abs(latent$mean - qlogis(0.3)) >=
      max(1.96 * latent$sd - abs(latent$mean - qlogis(0.3))) - 1e-9))
    b$observe(t, rbinom(1, 20, plogis(sin(6 * t))), size = 20)
  }
})

test_that("an improvement is in units of rewards: scaled, power-transformed, or of another response type", {
  y <- 50 + 20 * sin(6 * unit_x)
  for (policy in list(policy_ei(4), policy_pi(4))) {
    improved <- function(noise, kernel, mean, ...) {
      b <- gp_bandit(unit_x, kernel, noise, policy, mean = mean, ...)
      b$add(arm = c(1, 4, 6), reward = y[c(1, 4, 6)])
      for (t in 1:6) {
        q <- b$suggest()
        b$observe(q$id, y[q$arm])
      }
      b$history()$arm
    }
    expect_identical(improved(2 / 225, kernel_se(0.3), 0, outputs = scale_outputs(centre = 50, scale = 15)),
                     improved(2, kernel_se(0.3, 225), 50))
  }
  over <- function(b, xi, response, inverse) {
    latent <- b$posterior(scale = "latent")
    played <- unique(b$history()$arm)
    target <- inverse(response(max(latent$mean[played])) + xi)
    z <- (latent$mean - target) / latent$sd
    which.max(latent$sd * (z * pnorm(z) + dnorm(z)))
  }
  set.seed(3)
  for (kind in unit_kinds[c("binary", "counts")]) {
    inverse <- if (identical(kind$response, exp)) log else qlogis
    b <- gp_bandit(unit_x, kernel_se(0.3), policy = policy_ei(0.2), rewards = kind$rewards())
    b$add(arm = c(2, 5), reward = c(14, 9), size = 20)
    for (t in 1:6) {
      expect_identical(b$suggest()$arm, over(b, 0.2, kind$response, inverse))
      b$observe(t + 2, kind$draw(kind$response(kind$f)[b$history()$arm[t + 2]], 20), size = 20)
    }
  }
  # Beyond the largest reward there is no improvement, but still a choice.
  b <- gp_bandit(unit_x, kernel_se(0.3), policy = policy_ei(0.6), rewards = rewards_binary())
  b$add(arm = 2, reward = 18, size = 20)
  expect_true(b$suggest()$arm %in% 1:8)
})

test_that("a gap is a difference of expected rewards", {
  set.seed(7)
  for (kind in unit_kinds) {
    for (direction in c("maximize", "minimize")) {
      b <- gp_bandit(unit_x, kernel_se(0.3), policy = policy_ucb(2), rewards = kind$rewards(direction = direction))
      for (t in 1:8) {
        q <- b$suggest()
        b$observe(q$id, kind$draw(kind$response(kind$f)[q$arm], kind$size), size = kind$size)
      }
      latent <- b$posterior(scale = "latent")
      upper <- kind$response(latent$mean + 2 * latent$sd)
      lower <- kind$response(latent$mean - 2 * latent$sd)
      gap <- if (direction == "maximize") max(upper) - max(lower) else min(upper) - min(lower)
      expect_equal(b$certificate()$gap, gap, tolerance = 1e-8)
      set.seed(t)
      drawn <- drawn_maxima(b, contexts_for(b, NULL, 1L))(200)
      set.seed(t)
      missed <- shortfalls(b, contexts_for(b, NULL, 1L), 200)
      value <- matrix(kind$response(as.vector(if (direction == "maximize") drawn else -drawn)), ncol = 2)
      expect_equal(missed, abs(value[, 1] - value[, 2]), tolerance = 1e-8)
    }
  }
})

test_that("a Lipschitz constant of rewards is converted, and estimated while there is no scale", {
  y <- 50 + 20 * sin(6 * unit_x)
  # (EI: a penalised acquisition value of UCB depends on the position of zero.)
  batch <- function(noise, kernel, mean, ...) {
    b <- gp_bandit(unit_x, kernel, noise, policy_ei(), mean = mean, pending = pending_penalize(120), ...)
    b$add(arm = c(1, 4, 6), reward = y[c(1, 4, 6)])
    b$suggest(5)$arm
  }
  expect_identical(batch(2 / 225, kernel_se(0.3), 0, outputs = scale_outputs(centre = 50, scale = 15)),
                   batch(2, kernel_se(0.3, 225), 50))
  fitted <- gp_bandit(unit_x, kernel_se(0.3), 0.01, policy_ucb(2), pending = pending_penalize(120),
                      outputs = scale_outputs())
  expect_length(unique(fitted$suggest(3)$arm), 3)
})
