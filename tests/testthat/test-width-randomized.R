# Randomised widths, sampled maxima and ridges: against the formulas, and the worked example's numbers.

tiny_bandit <- function(policy, ...) {
  tiny <- ref_tiny()
  b <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, policy, ...)
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

test_that("the worked example comes out", {
  tiny <- ref_tiny()
  expect_equal(tiny$mean, c(.200848, .730445, .988453, .401110, -.294182), tolerance = 1e-5)
  expect_equal(tiny$sd, c(.099469, .443594, .099435, .443594, .099469), tolerance = 1e-5)
  expect_equal(2 * log(5 / 2), 1.832581, tolerance = 1e-6)
  expect_equal(ref_width_irgp(5, 0.5), 1.794123, tolerance = 1e-6)
  expect_equal(which.max(tiny$mean + ref_width_irgp(5, 0.5) * tiny$sd), 2)
  expect_equal(-ref_score_pims(tiny$mean, tiny$sd, 1.3), c(11.050, 1.284, 3.133, 2.026, 16.027), tolerance = 1e-3)
})

test_that("IRGP-UCB draws its width in each round and selects the reference's arm", {
  set.seed(311)
  x <- sort(runif(12))
  K <- ref_kernel_se(0.25)(x)
  reward <- compare_rewards(K, 0, 0.3, 25)
  b <- gp_bandit(x, kernel_se(0.25), 0.1, policy_ucb(width_irgp()))
  rows <- integer()
  y <- numeric()
  for (t in 1:25) {
    p <- ref_posterior_at(K, rows, y, 0.1)
    set.seed(t)
    width <- ref_width_irgp(12, runif(1))
    set.seed(t)
    rows[t] <- b$suggest()$arm
    expect_equal(b$history()$width[t], width, tolerance = tol$identity)
    expect_equal(rows[t], ref_argmax(p$mean + width * p$sd, 1e-9))
    b$observe(t, y[t] <- reward(t, rows[t]))
  }
  again <- unserialize(serialize(b, NULL))
  expect_identical(again$history(), b$history())
})

test_that("a randomised width has the stated distribution and is no function of the round", {
  b <- gp_bandit(1:5, kernel_se(1), 0.1, policy_ucb(width_irgp()))
  set.seed(312)
  b$suggest(3000)
  excess <- b$history()$width^2 - 2 * log(5 / 2)
  expect_gt(suppressWarnings(stats::ks.test(excess, "pexp", 1 / 2)$p.value), tol$p_value)
  single <- gp_bandit(1, kernel_se(1), 0.1, policy_ucb(width_irgp()))
  expect_true(all(single$suggest(50)$arm == 1))
  expect_gte(min(single$history()$width), 0)
})

test_that("widths that count arms are errors without arms", {
  expect_error(gp_bandit(box_domain(0, 1), kernel_se(1), 0.1, policy_ucb(width_irgp())), class = "gpbandits_error")
})

test_that("reading results of a bandit with a randomised width draws nothing", {
  b <- tiny_bandit(policy_ucb(width_irgp()))
  set.seed(313)
  before <- .Random.seed
  invisible(b$best())
  invisible(utils::capture.output(print(b), summary(b)))
  expect_identical(.Random.seed, before)
})

test_that("PIMS selects each arm as often as the reference's draws", {
  tiny <- ref_tiny()
  set.seed(314)
  maxima <- apply(ref_draw_normal(1e5, tiny$mean, tiny$cov), 1, max)
  chosen <- vapply(maxima, function(m) which.max(ref_score_pims(tiny$mean, tiny$sd, m)), 1L)
  share <- tabulate(chosen, 5) / 1e5
  seen <- tabulate(tiny_bandit(policy_pims())$suggest(4000)$arm, 5)
  expect_equal(sum(seen[share == 0]), 0)
  expect_gt(stats::chisq.test(seen[share > 0], p = share[share > 0], rescale.p = TRUE)$p.value, tol$p_value)
})

test_that("with hallucination PIMS draws given observed rewards, and divides by the sd that includes pending queries", {
  skip_on_cran()
  tiny <- ref_tiny()
  b <- tiny_bandit(policy_pims(), pending = pending_hallucinate())
  pending <- c(2, 2)
  b$add(arm = pending)
  sd <- ref_posterior_at(tiny$K, c(tiny$rows, pending), numeric(5), tiny$noise)$sd
  set.seed(315)
  count <- by_level(1e5, 1e5, quick = 2e4)
  draws <- ref_draw_normal(count, tiny$mean, tiny$cov)
  maxima <- apply(draws, 1, max)
  share <- tabulate(vapply(maxima, function(m) which.max(ref_score_pims(tiny$mean, sd, m)), 1L), 5) / count
  set.seed(316)
  seen <- tabulate(vapply(seq_len(by_level(300, 300, quick = 60)), function(k) as.integer(b$copy()$suggest()$arm), 1L), 5)
  expect_equal(sum(seen[share == 0]), 0)
  expect_gt(stats::chisq.test(seen[share > 0], p = share[share > 0], rescale.p = TRUE)$p.value, tol$p_value)
})

test_that("on a box PIMS selects the point where the probability of exceeding a sampled maximum is largest", {
  x <- cbind(c(0.1, 0.35, 0.6, 0.95))
  y <- sin(5 * x[, 1])
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_pims())
  b$add(x = x, reward = y)
  grid <- seq(0, 1, length.out = 1001)
  p <- b$posterior(x = cbind(x1 = grid))
  set.seed(317)
  # The best point for a maximum g: one-parameter family. Every choice belongs to it.
  choices <- b$copy()$suggest(60)$x1
  g <- max(p$mean) + c(0, 10^seq(-4, 1, length.out = 400))
  family <- grid[apply(outer(g, p$mean, function(g, m) m - g) / rep(p$sd, each = length(g)), 1, which.max)]
  away <- vapply(choices, function(x) min(abs(x - family)), 0)
  expect_lt(max(away), 0.02)
  expect_gt(length(unique(round(choices, 3))), 3)
})

test_that("the growing ridge equals its formula", {
  expect_equal(ridge_rate(kernel_matern(2.5, 0.3), 1000), 2.682696, tolerance = 1e-6)
  expect_equal(ridge_rate(kernel_matern(1.5, c(1, 2, 3)), 500), 500^(3 / 9))
  expect_equal(ridge_rate(kernel_matern(1.5), 500, inputs = 2), 500^(2 / 7))
  expect_equal(ridge_rate(kernel_se(0.3), 500), 1)
  expect_error(ridge_rate(kernel_linear(), 10), class = "gpbandits_error")
  expect_error(ridge_rate(kernel_se(), 0), class = "gpbandits_error")
  expect_error(ridge_rate(1, 10), class = "gpbandits_error")
})

test_that("EIMS: acquisition values and choices equal the worked example, and as often as in draws", {
  tiny <- ref_tiny()
  score <- exp(ref_score_eims(tiny$mean, tiny$sd, 1.3))
  expect_equal(score, c(0, .020895, 2.36e-5, .003508, 0), tolerance = 1e-3)
  expect_equal(which.max(score), 2)
  set.seed(318)
  draws <- by_level(2e4, 2e4, quick = 5e3)
  maxima <- apply(ref_draw_normal(draws, tiny$mean, tiny$cov), 1, max)
  share <- tabulate(vapply(maxima, function(m) which.max(ref_score_eims(tiny$mean, tiny$sd, m)), 1L), 5) / draws
  seen <- tabulate(tiny_bandit(policy_eims())$suggest(draws / 5)$arm, 5)
  expect_gt(stats::chisq.test(seen[share > 0.002], p = share[share > 0.002], rescale.p = TRUE)$p.value, tol$p_value)
  # Not PIMS's shares, which would be found out.
  pims <- tabulate(vapply(maxima, function(m) which.max(ref_score_pims(tiny$mean, tiny$sd, m)), 1L), 5) / draws
  expect_gt(max(abs(pims - share)), 0.03)
  b <- tiny_bandit(policy_eims(), pending = pending_hallucinate())
  b$add(arm = c(2, 2))
  sd <- ref_posterior_at(tiny$K, c(tiny$rows, 2, 2), numeric(5), tiny$noise)$sd
  share <- tabulate(vapply(maxima, function(m) which.max(ref_score_eims(tiny$mean, sd, m)), 1L), 5) / draws
  seen <- tabulate(vapply(seq_len(by_level(120, 120, quick = 60)), function(k) as.integer(b$copy()$suggest()$arm), 1L), 5)
  expect_gt(stats::chisq.test(seen[share > 0.01], p = share[share > 0.01], rescale.p = TRUE)$p.value, tol$p_value)
})

test_that("on a box EIMS selects the point with the largest improvement over a sampled maximum", {
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_eims())
  x <- cbind(c(0.1, 0.35, 0.6, 0.95))
  b$add(x = x, reward = sin(5 * x[, 1]))
  grid <- seq(0, 1, length.out = 1001)
  p <- b$posterior(x = cbind(x1 = grid))
  set.seed(319)
  choices <- b$copy()$suggest(40)$x1
  g <- max(p$mean) + c(seq(-0.5, 0, 0.002), 10^seq(-4, 1, length.out = 400))
  family <- grid[vapply(g, function(g) which.max(ref_score_eims(p$mean, p$sd, g)), 1L)]
  expect_lt(max(vapply(choices, function(x) min(abs(x - family)), 0)), 0.02)
})

test_that("the expected regret of EIMS is below its bound", {
  expect_equal(regret_bound("eims", 300, rep(20, 300), noise_var = 0.025, arms = 100)[300], 280.3, tolerance = 1e-4)
  expect_equal(regret_bound("irgp", 300, rep(20, 300), noise_var = 0.025, arms = 100)[300], 178.2, tolerance = 1e-3)
  wide <- regret_bound("eims", 9, 2, noise_var = 0.1, arms = 7, variance = 2, least = 0.5)
  D <- 2 + 2 * log(3.5)
  expect_equal(wide[9], sqrt(2 * 2 / log1p(20) * 2 * 9 * (D + 2 * log(D + 3) + log(4 * (1 + 8 * 20)))))
  expect_error(regret_bound("eims", 9, 2, noise_var = 0.1, arms = 1), class = "gpbandits_error")
  expect_error(regret_bound("eims", 9, 2, noise_var = 0.1, arms = 5, least = 2), "`least`", class = "gpbandits_error")
  # The lemma that the proof rests on.
  u <- seq(0, 6, 0.01)
  expect_true(all((dnorm(u) - u * pnorm(-u)) * (u^2 + 3) >= dnorm(u)))
  x <- seq(0, 1, length.out = 50)
  gain <- information_gain(kernel_se(0.2), x, 0.025, rounds = 60, method = "spectral")
  bound <- regret_bound("eims", 60, gain, noise_var = 0.025, arms = 50)
  set.seed(320)
  regret <- vapply(seq_len(by_level(4, 100)), function(r) {
    f <- drop(sample_gp(kernel_se(0.2), x))
    b <- gp_bandit(x, kernel_se(0.2), 0.025, policy_eims())
    as.data.frame(run_bandit(b, bandit_problem(x, f, noise = sqrt(0.025)), 60))$cumulative_regret
  }, numeric(60))
  expect_true(all(rowMeans(regret) < bound))
})
