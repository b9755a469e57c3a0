# Gradual forgetting: windows, weights and a drifting prior equal a fit from scratch to the data
# that are kept, over arms in both engines and on boxes. (Random runs with them: test-bandit.R.)

drift_rules <- list(
  window = list(change_oracle(window = 7), ref_drift("window", W = 7)),
  weights = list(change_oracle(rate = 0.15, by = "weights"), ref_drift("weight", eta = 0.85)),
  fade = list(change_oracle(rate = 0.1), ref_drift("fade", eps = 0.1))
)

for (engine in c("weights", "played")) {
  for (name in names(drift_rules)) {
    test_that(paste("through long runs, engine", engine, "rule", name), {
      set.seed(901)
      rule <- drift_rules[[name]]
      for (case in list(list(kernel_se(0.2), ref_kernel_se(0.2), sort(runif(80)), 0.05),
                        list(kernel_matern(0.5, 0.4), ref_kernel_matern(0.5, 0.4), ref_random_inputs(30, 2), 0.05),
                        list(kernel_se(0.3), ref_kernel_se(0.3), sort(runif(20)), 1e-4))) {
        K <- case[[2]](case[[3]])
        b <- gp_bandit(case[[3]], case[[1]], case[[4]], policy_ucb(width_realized(1, 0.1, 0.1)), mean = 0.4,
                       changes = rule[[1]], engine = engine)
        ref <- ref_bandit(K, case[[4]], ref_policy("ucb", ref_width_realized(1, 0.1, 0.1)), mean = 0.4, drift = rule[[2]])
        run <- play_with_reference(b, ref, 60, compare_rewards(K, 0.4, 0.2, 60), each_round = FALSE)
        expect_history(b, run$ref)
        known <- ref_bandit_info(run$ref)
        expect_equal(b$information_gain(), ref_info_logdet(known) / 2, tolerance = tol$engine)
      }
    })

    test_that(paste("with rewards that come late, engine", engine, "rule", name), {
      set.seed(902)
      x <- sort(runif(18))
      K <- ref_kernel_se(0.2)(x)
      for (pending in list(list(pending_ignore(), ref_pending()), list(pending_hallucinate(), ref_pending("hallucinate")),
                           list(pending_censor(4, -1), ref_pending("censor", 4, -1)))) {
        b <- gp_bandit(x, kernel_se(0.2), 0.05, policy_ucb(width_constant(2)), pending = pending[[1]],
                       changes = drift_rules[[name]][[1]], engine = engine)
        ref <- ref_bandit(K, 0.05, ref_policy("ucb", ref_width_constant(2)), pending = pending[[2]],
                          drift = drift_rules[[name]][[2]])
        run <- play_with_reference(b, ref, 40, compare_rewards(K, 0, 0.2, 40), delay = rpois(40, 3))
        expect_lt(run$worst$mean, tol$engine)
        expect_lt(run$worst$sd, tol$engine)
        expect_history(b, run$ref)
      }
    })
  }
}

# On a box the points come from a numerical search: the reference is given them.
box_oracle <- function(b, kernel, noise, drift, t, test) {
  h <- b$history()
  known <- which(seq_len(nrow(h)) < t & !is.na(h$reward))
  known <- known[ref_drift_kept(drift, length(known))]
  points <- rbind(as.matrix(h[known, c("x1", "x2")]), test)
  K <- kernel(unname(points))
  rows <- seq_along(known)
  test <- length(rows) + seq_len(nrow(test))
  post <- if (drift$kind == "fade") {
    ref_posterior_drifting(K, rows, known, t, h$reward[known], noise, drift$eps)
  } else {
    ref_posterior_at(K, rows, h$reward[known], ref_drift_noise(drift, noise, t - known))
  }
  list(mean = post$mean[test], sd = post$sd[test])
}

for (name in names(drift_rules)) {
  test_that(paste("boxes, rule", name), {
    set.seed(903)
    rule <- drift_rules[[name]]
    kernel <- ref_kernel_matern(2.5, c(0.4, 0.6))
    test <- matrix(runif(20), 10)
    b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_matern(2.5, c(0.4, 0.6)), 0.03, policy_ucb(width_constant(2)),
                   changes = rule[[1]])
    late <- NULL
    for (t in 1:25) {
      q <- b$suggest()
      x <- as.matrix(q[c("x1", "x2")])
      at <- box_oracle(b, kernel, 0.03, rule[[2]], t, x)
      expect_lt(max(abs(c(b$history()$mean[t] - at$mean, b$history()$sd[t] - at$sd))), tol$engine)
      # The search finds at least what 300 scattered points hold.
      if (t %% by_level(1, 1, quick = 4) == 0) {
        all <- box_oracle(b, kernel, 0.03, rule[[2]], t, matrix(runif(600), 300))
        expect_gt(at$mean + 2 * at$sd, max(all$mean + 2 * all$sd) - 1e-3)
      }
      if (t %in% c(6, 15)) late <- c(late, t) else b$observe(t, rnorm(1))
      if (t == 20) b$observe(rev(late), c(1, -1))
      if (t == 22) b <- b$copy()
      core <- b$posterior(test)
      theirs <- box_oracle(b, kernel, 0.03, rule[[2]], t + 1, test)
      expect_lt(max(abs(c(core$mean - theirs$mean, core$sd - theirs$sd))), tol$engine)
    }
    file <- tempfile()
    saveRDS(b, file)
    again <- readRDS(file)
    expect_equal(again$posterior(test), b$posterior(test), tolerance = tol$replay)
    expect_equal(again$suggest(), b$suggest(), tolerance = tol$replay)
  })

  test_that(paste("Thompson draws on a box have the posterior's moments, rule", name), {
    skip_on_cran()
    set.seed(904)
    rule <- drift_rules[[name]]
    # One maximiser of two: the policy plays the right half as often as the posterior has it higher.
    b <- gp_bandit(box_domain(0, 1), kernel_se(0.15), 0.05, policy_ts(width_constant(1)), changes = rule[[1]])
    b$add(x = c(0.2, 0.8, 0.2, 0.8, 0.5, 0.2, 0.8, 0.9), reward = c(1, 0.2, 0.8, 0, -1, 0.4, 1, 0.3))
    trials <- by_level(40, 100)
    played <- vapply(seq_len(trials), function(i) b$copy()$suggest()$x1, 0)
    h <- b$history()
    grid <- seq(0, 1, length.out = 101)
    known <- which(ref_drift_kept(rule[[2]], 8))
    K <- ref_kernel_se(0.15)(c(h$x1[known], grid))
    rows <- seq_along(known)
    post <- if (name == "fade") ref_posterior_drifting(K, rows, known, 9, h$reward[known], 0.05, 0.1)
            else ref_posterior_at(K, rows, h$reward[known], ref_drift_noise(rule[[2]], 0.05, 9 - known))
    cov <- if (name == "fade") {
      A <- K[rows, rows] * 0.9^(abs(outer(known, known, "-")) / 2) + diag(0.05, length(known))
      C <- K[, rows] * rep(0.9^((9 - known) / 2), each = nrow(K))
      K - C %*% solve(A, t(C))
    } else post$cov
    g <- length(known) + seq_along(grid)
    draws <- ref_draw_normal(by_level(4000, 4000, quick = 1500), post$mean[g], cov[g, g])
    share <- mean(grid[max.col(draws)] > 0.5)
    expect_lt(abs(mean(played > 0.5) - share), 4.5 * sqrt(0.25 / trials) + 0.02)
  })
}

test_that("a window longer than the run and a rate of 0 change nothing", {
  x <- seq(0, 1, length.out = 30)
  problem <- bandit_problem(x, sin(6 * x), noise = 0.2)
  play <- function(...) {
    set.seed(5)
    as.data.frame(run_bandit(gp_ucb(x, kernel_se(0.2), 0.04, ...), problem, 40))
  }
  plain <- play()
  for (rule in list(change_oracle(window = 40), change_oracle(rate = 0, by = "weights"), change_oracle(rate = 0))) {
    expect_equal(play(changes = rule)[c("arm", "mean", "sd")], plain[c("arm", "mean", "sd")], tolerance = tol$engine)
  }
})

test_that("a window whose posterior is computed again each time is exact, also with very small noise", {
  set.seed(905)
  x <- sort(runif(70))
  K <- ref_kernel_matern(2.5, 0.3)(x)
  for (engine in c("weights", "played")) {
    for (noise in c(1e-2, 1e-4, 1e-6)) {
      b <- gp_bandit(x, kernel_matern(2.5, 0.3), noise, policy_uniform(), changes = change_oracle(window = 10), engine = engine)
      arm <- sample(70, 600, replace = TRUE)
      y <- rnorm(600)
      b$add(arm = arm, reward = y)
      kept <- 591:600
      at <- ref_posterior_at(K, arm[kept], y[kept], noise)
      core <- b$posterior()
      # In units of what such rewards can do to a mean.
      expect_lt(max(abs(core$mean - at$mean)) / max(1, max(abs(at$mean))), 1e-6)
      expect_lt(max(abs(core$sd - at$sd)), 1e-6)
    }
  }
})

test_that("restart intervals, windows and weights follow the formula of the total variation", {
  x <- seq(0, 1, length.out = 30)
  b <- gp_ucb_drift(x, kernel_se(0.2), 0.01, "window", variation = 4, horizon = 400, gain = 16)
  expect_equal(b$config$changes$window, 20)
  expect_equal(gp_ucb_drift(x, kernel_se(0.2), 0.01, "restarts", variation = 4, horizon = 400, gain = 16)$config$changes$rounds, 20)
  expect_equal(gp_ucb_drift(x, kernel_se(0.2), 0.01, "weights", variation = 4, horizon = 400, gain = 16)$config$changes$rate, 0.05)
  gain <- information_gain(kernel_se(0.2), x, 0.01, rounds = 400)[400]
  expect_equal(gp_ucb_drift(x, kernel_se(0.2), 0.01, "window", variation = 3, horizon = 400)$config$changes$window,
               ceiling(gain^0.25 * sqrt(400 / 3)))
  expect_error(gp_ucb_drift(x, kernel_se(0.2), 0.01, "window", horizon = 10), class = "gpbandits_error")
  expect_error(gp_ucb_drift(box_domain(0, 1), kernel_se(0.2), 0.01, "window", variation = 1, horizon = 10), class = "gpbandits_error")
  expect_error(gp_ucb_drift(x, kernel_se(0.2), 0.01, "weights", variation = 500, horizon = 400, gain = 1), class = "gpbandits_error")
  # A rule has its own pace, and a formula's name is one of three.
  given <- gp_ucb_drift(x, kernel_se(0.2), 0.01, change_oracle(rate = 0.1))
  expect_identical(given$config$changes, change_oracle(rate = 0.1))
  expect_error(gp_ucb_drift(x, kernel_se(0.2), 0.01, change_oracle(rate = 0.1), horizon = 9), "`horizon`", class = "gpbandits_error")
  expect_error(gp_ucb_drift(x, kernel_se(0.2), 0.01, "fade"), "`forget`", class = "gpbandits_error")
  expect_error(gp_ucb_drift(x, kernel_se(0.2), 0.01), "needs `forget`: change_oracle", class = "gpbandits_error")
  expect_error(gp_ucb_drift(x, kernel_se(0.2), 0.01, 20), "`forget`", class = "gpbandits_error")
})

test_that("restarts discard more data than the window, and contexts keep their own data", {
  set.seed(906)
  x <- seq(0, 1, length.out = 6)
  z <- matrix(c(0, 1), 2)
  both <- cbind(rep(x, 2), rep(z, each = 6))
  K <- ref_kernel_se(0.4)(both)
  for (name in names(drift_rules)) {
    b <- gp_bandit(x, kernel_se(0.4), 0.05, policy_ucb(width_constant(1.5)), contexts = z, changes = drift_rules[[name]][[1]])
    ref <- ref_bandit(K, 0.05, ref_policy("ucb", ref_width_constant(1.5)), n_arms = 6, drift = drift_rules[[name]][[2]])
    run <- play_with_reference(b, ref, 25, compare_rewards(K, 0, 0.2, 25), contexts = z, visits = sample(2, 25, TRUE))
    expect_lt(max(run$worst$mean, run$worst$sd), tol$engine)
    expect_history(b, run$ref)
  }
})

# ---- guarantees under drift -----------------------------------------------------

test_that("drift within a design in random order acts as noise: the width for it covers, in other orders it does not", {
  w <- function(drift) {
    b <- gp_bandit(1:10, kernel_se(1), 0.01, policy_ei(), initial_design = 3)
    b$observe(b$suggest()$id, 0)
    b$certificate(stop_gap(1, width_fixed(1, 0.1, 0.1, drift = drift)))
  }
  expect_equal(w(0.3)$width, 19.826, tolerance = 1e-4)
  expect_equal(w(0)$width, 3.405, tolerance = 1e-3)
  expect_equal(w(0.3)$probability, 0.9)
  expect_match(w(0.3)$assumptions, "uniformly random order", all = FALSE)
  greedy <- gp_bandit(1:10, kernel_se(1), 0.01, policy_variance())
  greedy$observe(greedy$suggest()$id, 0)
  expect_true(is.na(greedy$certificate(stop_gap(1, width_fixed(1, 0.1, drift = 0.3)))$probability))
  expect_error(width_fixed(1, 1, drift = -1), "`drift`", class = "gpbandits_error")
  x <- seq(0, 1, length.out = 10)
  expect_equal(plan_experiments(x, kernel_se(0.3), 0.01, 2, B = 1, R = 0.1, drift = 0.05)$width,
               sqrt(1 + 2 * (0.01 + 4 * 0.05^2) / 0.01 * log(2 * 10 / 0.1)))
  K <- ref_kernel_se(0.3)(x)
  rows <- gp_bandit(x, kernel_se(0.3), 0.01, policy_variance(), pending = pending_hallucinate())$suggest(200)$arm
  drift <- rep(c(-0.3, 0.3), each = 100)
  lives <- by_level(8, 200, quick = 4)
  missed <- rowSums(vapply(seq_len(lives), function(seed) {
    set.seed(950 + seed)
    f <- drop(K[, at <- sample(10, 4)] %*% (a <- rnorm(4)))
    f <- f / sqrt(drop(a %*% K[at, at] %*% a))
    vapply(list(sort(rows), sample(rows)), function(order) {
      p <- ref_posterior_at(K, order, f[order] + drift + rnorm(200, sd = 0.1), 0.01)
      any(abs(p$mean - f) > 19.826 * p$sd)
    }, TRUE)
  }, c(TRUE, TRUE)))
  expect_gt(stats::binom.test(missed[2], lives, 0.1, "greater")$p.value, tol$p_value)
  # (The worst order is missed with the width that knows no drift.)
  plain <- vapply(seq_len(5), function(seed) {
    set.seed(970 + seed)
    p <- ref_posterior_at(K, sort(rows), drift + rnorm(200, sd = 0.1), 0.01)
    any(abs(p$mean) > 3.405 * p$sd)
  }, TRUE)
  expect_true(all(plain))
})

test_that("if the function drifts as the kernel states, intervals cover and the regret is below the bound", {
  x <- seq(0, 1, length.out = 30)
  rounds <- 60
  found <- vapply(seq_len(by_level(3, 60)), function(seed) {
    set.seed(980 + seed)
    draws <- sample_gp(kernel_se(0.2), x, rounds)
    f <- draws
    for (t in 2:rounds) f[, t] <- sqrt(0.97) * f[, t - 1] + sqrt(0.03) * draws[, t]
    b <- gp_ucb_drift(x, kernel_se(0.2), 0.01, change_oracle(rate = 0.03), width = width_srinivas_finite(0.1))
    problem <- bandit_problem(x, f, noise = 0.1, change_points = seq_len(rounds - 1))
    gain <- numeric(rounds)
    missed <- FALSE
    regret <- 0
    for (t in seq_len(rounds)) {
      p <- b$posterior()
      q <- b$suggest()
      w <- b$history()$width[t]
      missed <- missed || any(abs(p$mean - f[, t]) > w * p$sd + 1e-9)
      regret[t] <- max(f[, t]) - f[q$arm, t]
      b$observe(t, f[q$arm, t] + rnorm(1, sd = 0.1))
      gain[t] <- b$information_gain()
    }
    bound <- regret_bound("fade", rounds, cummax(gain), noise_var = 0.01, arms = 30)
    c(missed, any(cumsum(regret) > bound))
  }, c(TRUE, TRUE))
  for (k in 1:2) expect_gt(stats::binom.test(sum(found[k, ]), ncol(found), 0.1, "greater")$p.value, tol$p_value)
})

test_that("without a change an event trigger restarts with probability at most delta", {
  x <- seq(0, 1, length.out = 30)
  lives <- by_level(8, 300, quick = 4)
  restarts <- sum(vapply(seq_len(lives), function(seed) {
    set.seed(1100 + seed)
    b <- gp_ucb_drift(x, kernel_se(0.2), 0.01, change_detect(delta = 0.1))
    run <- run_bandit(b, bandit_problem(x, drop(sample_gp(kernel_se(0.2), x)), noise = 0.1), 60)
    max(run$data$segment) > 1
  }, TRUE))
  expect_gt(stats::binom.test(restarts, lives, 0.1, "greater")$p.value, tol$p_value)
})
