# Straddles: choices against the formulas, and the bound for wrong labels.

ref_score_straddle <- function(mean, sd, level, z, least) pmax(z * sd - abs(mean - level), least)

tiny_straddle <- function(random) {
  tiny <- ref_tiny()
  b <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, policy_straddle(0.4, random))
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

test_that("the straddles equal those of the worked example", {
  tiny <- ref_tiny()
  fixed <- ref_score_straddle(tiny$mean, tiny$sd, 0.4, 1.96, -Inf)
  expect_equal(fixed[c(2, 4)], c(.538999, .868335), tolerance = 1e-5)
  z <- sqrt(-2 * log(0.5))
  expect_equal(z, 1.177410, tolerance = 1e-6)
  expect_equal(ref_score_straddle(tiny$mean, tiny$sd, 0.4, z, 0)[c(2, 4)], c(.191847, .521183), tolerance = 1e-5)
  expect_equal(tiny_straddle(FALSE)$suggest()$arm, which.max(fixed))
})

for (random in c(TRUE, FALSE)) {
  test_that(paste("choices of the straddle are the oracle's, random =", random), {
    set.seed(341)
    x <- sort(runif(20))
    K <- ref_kernel_se(0.2)(x)
    reward <- compare_rewards(K, 0, 0.2, 25)
    b <- gp_bandit(x, kernel_se(0.2), 0.05, policy_straddle(0.3, random))
    rows <- integer()
    y <- numeric()
    for (t in 1:25) {
      p <- ref_posterior_at(K, rows, y, 0.05)
      set.seed(t)
      z <- if (random) sqrt(-2 * log(runif(1))) else 1.96
      score <- ref_score_straddle(p$mean, p$sd, 0.3, z, if (random) 0 else -Inf)
      set.seed(t)
      rows[t] <- b$suggest()$arm
      expect_equal(rows[t], ref_argmax(score, 1e-9))
      expect_equal(b$history()$width[t], z, tolerance = tol$identity)
      b$observe(t, y[t] <- reward(t, rows[t]))
    }
  })
}

test_that("on a box the straddle equals that of a fine grid", {
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_straddle(0.2, random = FALSE))
  b$add(x = cbind(c(0.1, 0.35, 0.6, 0.95)), reward = sin(5 * c(0.1, 0.35, 0.6, 0.95)))
  p <- b$posterior(x = cbind(seq(0, 1, length.out = 4001)))
  q <- b$copy()$suggest()
  at <- b$posterior(x = cbind(q$x1))
  expect_gt(ref_score_straddle(at$mean, at$sd, 0.2, 1.96, -Inf),
            max(ref_score_straddle(p$mean, p$sd, 0.2, 1.96, -Inf)) - 1e-5)
})

test_that("the expected loss of labels, averaged over rounds, is nowhere above the bound", {
  n <- 30
  rounds <- 25
  x <- seq(0, 1, length.out = n)
  K <- ref_kernel_se(0.2)(x)
  losses <- vapply(1:12, function(seed) {
    set.seed(seed)
    f <- as.vector(ref_draw_normal(1, rep(0, n), K))
    b <- gp_bandit(x, kernel_se(0.2), 0.05, policy_straddle(0.2))
    run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise = sqrt(0.05)), rounds))
    each <- vapply(seq_len(rounds), function(t) {
      before <- seq_len(t - 1)
      mean <- ref_posterior_at(K, run$arm[before], run$reward[before], 0.05)$mean
      ifelse((mean >= 0.2) != (f >= 0.2), abs(f - 0.2), 0)
    }, numeric(n))
    c(rowMeans(each), ref_information_gain(K, run$arm, 0.05))
  }, numeric(n + 1))
  bound <- sqrt(2 * 2 / log(1 + 1 / 0.05) * mean(losses[n + 1, ]) / rounds)
  expect_lt(max(rowMeans(losses[1:n, ])), bound)
  expect_gt(max(rowMeans(losses[1:n, ])), 0)
})

test_that("a level set with an estimated kernel: batches of distinct stations, and labels of arms or given points", {
  set.seed(3)
  truth <- function(a) 40 + 30 * a
  for (domain in list(finite_domain(data.frame(a = seq(0, 1, length.out = 41))), box_domain(c(a = 0), c(a = 1)))) {
    arms <- inherits(domain, "finite_domain")
    bandit <- auto_bandit(domain, policy = policy_straddle(55), n_initial = 4)
    for (k in 1:3) {
      batch <- bandit$suggest(5)
      expect_identical(anyDuplicated(batch$a), 0L)
      bandit$observe(batch$id, truth(batch$a) + stats::rnorm(5, sd = 0.5))
    }
    at <- data.frame(a = seq(0, 1, length.out = 41))
    found <- if (arms) bandit$levels() else bandit$levels(x = at)
    expect_identical(nrow(found), 41L)
    expect_true(all(found$lower <= found$upper))
    expect_identical(found$label, ifelse(found$lower > 55, "above", ifelse(found$upper < 55, "below", "unknown")))
    # The level is at a = 0.5, in units of the reward.
    expect_true(all(found$label[at$a < 0.35] == "below") && all(found$label[at$a > 0.65] == "above"))
    if (!arms) expect_error(bandit$levels(), "needs `x`", class = "gpbandits_argument_error")
  }
  down <- auto_bandit(finite_domain(data.frame(a = 0:40 / 40)), policy = policy_straddle(55), direction = "minimize", n_initial = 4)
  for (k in 1:12) {
    q <- down$suggest()
    down$observe(q$id, truth(q$a))
  }
  expect_true(all(down$levels()$label[c(1:10, 32:41)] == rep(c("below", "above"), each = 10)))
})
