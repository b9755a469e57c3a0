# Batched pure exploration, risk aversion, learned costs: numbers and choices from their descriptions.

test_that("batch sizes and the width equal those of the worked example", {
  expect_equal(bpe_sizes(1000), c(32, 179, 424, 365))
  expect_equal(cumsum(bpe_sizes(100))[1:3], c(10, 42, 99))       # (so the article "What is proven")
  b <- bpe(1:5, kernel_se(1), 0.01, rounds = 1000, B = 2, R = 0.1, delta = 0.1)
  b$suggest()
  expect_equal(b$history()$width, 3.997866, tolerance = 1e-6)
})

# One run of BPE: batches by variance, eliminations by the rewards of each batch that have arrived by then.
test_that("with wait = \"rounds\" choices of BPE equal the reference's, also with delays", {
  for (late in c(0, 3)) {
    set.seed(441)
    x <- sort(runif(25))
    K <- ref_kernel_se(0.15)(x)
    f <- sin(6 * x)
    b <- bpe(x, kernel_se(0.15), 0.04, rounds = 60, B = 1, R = 0.1, width = 1.5, wait = "rounds")
    alive <- 1:25
    arm <- integer()
    y <- numeric()
    reported <- 0
    for (size in bpe_sizes(60)) {
      start <- length(arm)
      batch <- integer()
      for (k in seq_len(size)) {
        sd <- ref_posterior_at(K, batch, numeric(length(batch)), 0.04)$sd
        batch[k] <- alive[ref_argmax(sd[alive], 1e-9)]
        arm <- c(arm, b$suggest()$arm)
        expect_equal(arm[start + k], batch[k])
        y <- c(y, f[batch[k]] + rnorm(1, sd = 0.2))
        while (reported < length(arm) - late) {
          reported <- reported + 1
          b$observe(reported, y[reported])
        }
      }
      seen <- seq_len(max(0, reported - start))
      p <- ref_posterior_at(K, batch[seen], y[start + seen], 0.04)
      alive <- alive[(p$mean + 1.5 * p$sd)[alive] >= max((p$mean - 1.5 * p$sd)[alive])]
    }
    expect_lt(length(alive), 20)
    expect_true(which.max(f) %in% alive)
    p <- ref_posterior_at(K, arm[seq_len(reported)], y[seq_len(reported)], 0.04)
    expect_equal(b$posterior()$mean, p$mean, tolerance = tol$engine)
    b$suggest()
    expect_equal(b$best()$arm, alive[which.max(p$mean[alive])])
  }
})

test_that("with wait = \"rewards\" a batch uses exactly its own rewards, and lost queries are asked again", {
  set.seed(444)
  x <- sort(runif(25))
  K <- ref_kernel_se(0.15)(x)
  f <- sin(6 * x)
  b <- bpe(x, kernel_se(0.15), 0.04, rounds = 60, B = 1, R = 0.1, width = 1.5)
  alive <- 1:25
  free <- 0
  for (size in bpe_sizes(60)) {
    batch <- integer()
    for (k in seq_len(size)) {
      sd <- ref_posterior_at(K, batch, numeric(length(batch)), 0.04)$sd
      batch[k] <- alive[ref_argmax(sd[alive], 1e-9)]
    }
    first <- nrow(b$history())
    seat <- integer()
    for (k in seq_len(size)) {
      q <- b$suggest()
      expect_equal(q$arm, batch[k])
      seat[k] <- q$id
      # Two of them get lost, one after the other, and take their seats again.
      if (k == 3) {
        b$withdraw(seat[1])
        b$fail(seat[2])
        q <- b$suggest(2)
        expect_equal(q$arm, batch[1:2])
        b$fail(q$id[1])
        seat[1:2] <- c(b$suggest()$id, q$id[2])
        expect_equal(b$history()$arm[seat[1]], batch[1])
      }
    }
    y <- f[batch] + rnorm(size, sd = 0.2)
    # Rewards come in any order; until the last one, other remaining candidates are queried.
    for (k in sample(size)) {
      if (size - k < 4) {
        q <- b$suggest()
        expect_true(q$arm %in% alive)
        expect_equal(b$history()$phase[q$id], "free")
        if (k %% 2) b$observe(q$id, 5)
        free <- free + 1
      }
      b$observe(seat[k], y[k])
    }
    expect_equal(unserialize(serialize(b, NULL))$copy()$suggest(), b$copy()$suggest())
    p <- ref_posterior_at(K, batch, y, 0.04)
    alive <- alive[(p$mean + 1.5 * p$sd)[alive] >= max((p$mean - 1.5 * p$sd)[alive])]
  }
  expect_gt(free, 8)
  expect_lt(length(alive), 20)
  b$suggest()
  expect_equal(b$memory$alive, alive)
  expect_true(b$best()$arm %in% alive)
})

test_that("BPE runs on a search space with conditional inputs and levels that have features", {
  space <- search_space(a = param_real(0.01, 1, log = TRUE), b = param_factor(c("x", "y"), features = data.frame(p = 1:2)),
                        n = param_integer(1, 9, when = ~ b == "y"))
  for (variation in list(NULL, 1)) {
    set.seed(448)
    b <- bpe(space, kernel_se(0.3), 0.1, rounds = 30, B = 1, R = 0.1, variation = variation, gain = if (!is.null(variation)) 2)
    for (t in 1:12) b$observe(b$suggest()$id, sin(t))
    expect_identical(is.na(b$history()$n), b$history()$b == "x")
    expect_identical(names(b$best())[1:3], c("a", "b", "n"))
  }
})

# ---- drift of a known total: R-PERP's schedule ------------------------------------

test_that("with drift BPE restarts at R-PERP's interval, with the width for designs in random order", {
  start <- gpbandits:::rounds_of_start
  expect_equal(start(1000, 1, 8), 200)                          # 8^(1/3) 1000^(2/3)
  expect_equal(start(1000, 8, 8), 50)
  expect_equal(start(10, 0.001, 8), 10)
  expect_equal(start(10, 1e9, 8), 1)
  b <- bpe(1:5, kernel_se(1, variance = 4), 0.01, rounds = 1000, B = 2, R = 0.1, variation = 0.5, gain = 2)
  expect_equal(b$config$every, 200)                             # 2^(1/3) 2000^(2/3)
  b$suggest()
  looks <- length(bpe_sizes(200)) * 5
  expect_equal(b$history()$width, sqrt(4 + 2 * (0.01 + 4 * 0.5^2) / 0.01 * log(2 * 5 * looks / 0.1)))
  # What a norm allows is never exceeded: 2 B sqrt(v).
  wild <- bpe(1:5, kernel_se(1, variance = 4), 0.01, rounds = 1000, B = 2, R = 0.1, variation = 1e5, gain = 2)
  wild$suggest()
  expect_equal(wild$history()$width, sqrt(4 + 2 * (0.01 + 4 * 8^2) / 0.01 * log(2 * 5 * 2 * 500 / 0.1)))
  expect_equal(wild$config$every, 1)
  gain <- information_gain(kernel_se(1), 1:5, 0.01, rounds = 60)[60]
  expect_equal(bpe(1:5, kernel_se(1), 0.01, rounds = 60, B = 1, R = 0.1, variation = 2)$config$every, ceiling(gain^(1 / 3) * 30^(2 / 3)))
  expect_error(bpe(1:5, kernel_se(1), 0.01, rounds = 60, B = 1, R = 0.1, variation = 2, wait = "rounds"), "`variation`", class = "gpbandits_error")
  expect_error(bpe(1:5, kernel_se(1), 0.01, rounds = 60, B = 1, R = 0.1, gain = 2), "with `variation` only", class = "gpbandits_error")
  for (bad in list(0, -1, NA, "a", Inf, 1:2)) {
    expect_error(bpe(1:5, kernel_se(1), 0.01, rounds = 60, B = 1, R = 0.1, variation = bad), "`variation`", class = "gpbandits_error")
  }
})

test_that("with drift a batch is the variance design in random order, and each restart uses only its own data", {
  set.seed(447)
  x <- sort(runif(12))
  K <- ref_kernel_se(0.15)(x)
  f <- sin(6 * x)
  b <- bpe(x, kernel_se(0.15), 0.04, rounds = 60, B = 1, R = 0.1, width = 1.5, variation = 1, gain = 2)
  every <- b$config$every
  expect_equal(every, 20)                                       # 2^(1/3) 60^(2/3) = 19.3
  moved <- 0
  for (begin in 1:2) {
    alive <- 1:12
    arm <- integer()
    y <- numeric()
    for (size in bpe_sizes(every)) {
      batch <- integer()
      for (k in seq_len(size)) {
        sd <- ref_posterior_at(K, batch, numeric(length(batch)), 0.04)$sd
        batch[k] <- alive[ref_argmax(sd[alive], 1e-9)]
      }
      twin <- unserialize(serialize(b, NULL))
      set.seed(7)
      q <- b$suggest(size)
      set.seed(7)
      expect_identical(twin$suggest(size), q)
      expect_equal(sort(q$arm), sort(batch))
      moved <- moved + !identical(q$arm, batch)
      reported <- f[q$arm] + rnorm(size, sd = 0.2)
      b$observe(q$id, reported)
      p <- ref_posterior_at(K, q$arm, reported, 0.04)
      arm <- c(arm, q$arm)
      y <- c(y, reported)
      expect_equal(b$best()$arm, alive[which.max(ref_posterior_at(K, arm, y, 0.04)$mean[alive])])
      alive <- alive[(p$mean + 1.5 * p$sd)[alive] >= max((p$mean - 1.5 * p$sd)[alive])]
    }
    f <- -f
  }
  expect_gt(moved, 2)
})

# f drifts from one function to another, at a rate fixed in advance: intervals for its mean over each batch, and regret.
test_that("with drift the intervals cover the mean over each batch, and the dynamic regret is below its bound", {
  rounds <- by_level(300, 1500)
  lives <- by_level(3, 100, quick = 2)
  x <- seq(0, 1, length.out = 10)
  kernel <- kernel_se(0.2)
  root <- chol(kernel_gram(kernel, x) + diag(1e-9, 10))
  gain <- information_gain(kernel, x, 0.01, rounds = rounds)
  seen <- vapply(seq_len(lives), function(seed) {
    set.seed(900 + seed)
    # Norm 1 each, and so everything between them at most.
    ends <- replicate(2, {
      a <- rnorm(10)
      drop(crossprod(root, a)) / sqrt(sum(a^2))
    })
    share <- (1 + sin(seq_len(rounds) / rounds * 2 * pi)) / 2
    f <- outer(ends[, 1], 1 - share) + outer(ends[, 2], share)
    variation <- sum(abs(diff(share))) * max(abs(ends[, 1] - ends[, 2]))
    b <- bpe(x, kernel, 0.01, rounds = rounds, B = 1, R = 0.1, variation = variation, gain = gain[rounds])
    regret <- missed <- 0
    asked <- 0
    above <- FALSE
    bound <- regret_bound("bpe", rounds, gain, noise_var = 0.01, B = 1, R = 0.1, arms = 10, variation = variation)
    while (asked < rounds) {
      for (size in bpe_sizes(b$config$every)) {
        if (asked + size > rounds) return(c(missed, above))
        q <- b$suggest(size)
        t <- asked + seq_len(size)
        truth <- f[cbind(q$arm, t)]
        y <- truth + rnorm(size, sd = 0.1)
        b$observe(q$id, y)
        p <- gp_ucb(x, kernel, 0.01)$add(arm = q$arm, reward = y)$posterior()
        width <- utils::tail(b$history()$width, 1)
        missed <- missed || any(abs(p$mean - rowMeans(f[, t, drop = FALSE])) > width * p$sd)
        regret <- regret + sum(apply(f[, t, drop = FALSE], 2, max) - truth)
        asked <- asked + size
        above <- above || regret > bound[asked]
      }
    }
    c(missed, above)
  }, c(0, 0))
  expect_lte(mean(seen[1, ]), 0.1)
  expect_lte(mean(seen[2, ]), 0.1)
})

# Bad rewards of good arms and good ones of bad arms are late: a batch that does not wait sees the world upside down.
test_that("delays may depend on rewards with wait = \"rewards\", and invalidate the intervals with wait = \"rounds\"", {
  x <- seq(0, 1, length.out = 5)
  f <- c(0, 0.02, 0.04, 0.02, 0)
  lives <- by_level(3, 60, quick = 2)
  lost <- function(wait) sum(vapply(seq_len(lives), function(seed) {
    set.seed(500 + seed)
    b <- bpe(x, kernel_se(0.3), 0.01, rounds = 1000, B = 1, R = 0.1, wait = wait)
    for (size in bpe_sizes(1000)[1:3]) {
      q <- b$suggest(size)
      noise <- rnorm(size, sd = 0.1)
      late <- (noise > 0) == (q$arm == 3)
      b$observe(q$id[!late], (f[q$arm] + noise)[!late])
      if (wait == "rewards") {
        b$suggest(2)
        b$observe(q$id[late], (f[q$arm] + noise)[late])
      }
    }
    b$suggest()
    !3 %in% b$memory$alive
  }, TRUE))
  expect_gt(stats::binom.test(lost("rewards"), lives, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(lost("rounds"), lives / 2)
})

test_that("with delays the regret of BPE is below its bound, which is a sum over batches", {
  gain <- function(s) log1p(s)
  sizes <- bpe_sizes(40)
  ask <- function(wait) regret_bound("bpe", 40, gain, noise_var = 0.25, B = 1, R = 0.1, arms = 30, wait = wait)
  cost <- diff(c(0, ask(0)))[c(1, 8, 25)]
  expect_equal(ask(5), cumsum(rep(cost, sizes + 5))[1:40])
  expect_equal(ask(c(1, 2, 3)), cumsum(rep(cost, sizes + 1:3))[1:40])
  expect_error(ask(-1), "`wait`", class = "gpbandits_error")
  expect_error(ask(1:2), "`wait`", class = "gpbandits_error")
  x <- seq(0, 1, length.out = 20)
  K <- ref_kernel_se(0.25)(x)
  known <- information_gain(kernel_se(0.25), x, 0.01, rounds = 200, method = "spectral")
  for (seed in seq_len(by_level(1, 12))) {
    set.seed(540 + seed)
    f <- drop(K[, at <- sample(20, 8)] %*% (a <- rnorm(8)))
    f <- f / sqrt(drop(a %*% K[at, at] %*% a))
    b <- bpe(x, kernel_se(0.25), 0.01, rounds = 200, B = 1, R = 0.1)
    run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise = 0.1, delay = function(n) rgeom(n, 1 / 21)), 200))
    expect_true(which.max(f) %in% b$memory$alive)
    first <- which(run$phase == "policy" & c("free", run$phase[-200]) == "free")
    waited <- diff(c(first, 201)) - bpe_sizes(200)[seq_along(first)]
    bound <- regret_bound("bpe", 200, known, noise_var = 0.01, B = 1, R = 0.1, arms = 20,
                          wait = c(pmax(0, waited), rep(0, 9))[seq_along(bpe_sizes(200))])
    expect_true(all(run$cumulative_regret <= bound + 1e-9))
    expect_gt(sum(run$phase == "free"), 10)
  }
})

test_that("extra rounds of BPE make its batches longer, and invalid numbers of rounds are errors", {
  b <- bpe(1:9, kernel_se(1), 0.1, rounds = 20, B = 1, R = 0.1, wait = "rounds", extra = 3)
  b$suggest(bpe_sizes(20)[1] + 3)
  expect_equal(b$memory$batch, 1)
  b$suggest()
  expect_equal(b$memory$batch, 2)
  expect_true(all(b$history()$phase == "policy"))
  for (bad in list(list(wait = "always"), list(extra = 2), list(extra = -1, wait = "rounds"), list(extra = 1.5, wait = "rounds"))) {
    expect_error(do.call(bpe, c(list(1:9, kernel_se(1), 0.1, rounds = 20, B = 1, R = 0.1), bad)), class = "gpbandits_error")
  }
})

test_that("BPE continues after its horizon, from a file, on a box, and after added points", {
  b <- bpe(box_domain(0, 1), kernel_se(0.2), 0.01, rounds = 6, B = 1, R = 0.1)
  b$add(x = 0.123, reward = 0.3)
  for (t in 2:12) b$observe(b$suggest()$id, 0)
  b <- unserialize(serialize(b, NULL))
  expect_equal(nrow(b$suggest(4)), 4)
  expect_error(bpe(1:3, kernel_se(1), 0.1, rounds = 0, B = 1, R = 1), class = "gpbandits_error")
  expect_error(bpe(1:3, kernel_se(1), 0.1, rounds = 5, width = -1), class = "gpbandits_error")
  expect_error(bpe(1:3, kernel_se(1), 0.1, rounds = 5, B = 1), class = "gpbandits_error")
})

test_that("RAHBO's acquisition value equals that of the worked example", {
  tiny <- ref_tiny()
  score <- (tiny$mean + sqrt(2) * tiny$sd) - (c(.1, .2, .3, .2, .1) - sqrt(2) * .05)
  expect_equal(score, c(.312230, 1.228493, .899786, .899157, -.182801), tolerance = 1e-5)
})

# Posteriors of f and rho^2 from all rewards known, point by point.
ref_rahbo <- function(K, V, arm, y, noise, variance_noise, width) {
  at <- unique(arm)
  s2 <- vapply(at, function(a) if (sum(arm == a) > 1) stats::var(y[arm == a]) else NA_real_, 0)
  n <- vapply(at, function(a) sum(arm == a), 0)
  several <- !is.na(s2)
  rho <- ref_posterior_at(V, at[several], s2[several], variance_noise, noise)
  upper <- pmax(rho$mean + width * rho$sd, 1e-6 * noise)
  f <- ref_posterior_at(K, at, vapply(at, function(a) mean(y[arm == a]), 0), upper[at] / n)
  list(f = f, upper = upper, lower = pmax(rho$mean - width * rho$sd, 0), at = at)
}

test_that("choices and recommendations of RAHBO equal the reference's", {
  set.seed(442)
  x <- sort(runif(15))
  K <- ref_kernel_se(0.2)(x)
  V <- ref_kernel_se(0.3, 0.02)(x)
  f <- sin(6 * x)
  rho <- 0.05 + 0.5 * (x < 0.5)
  b <- rahbo(x, kernel_se(0.2), 0.1, alpha = 2, variance_kernel = kernel_se(0.3, 0.02), repeats = 4)
  arm <- integer()
  y <- numeric()
  for (t in 1:40) {
    if (t %% 4 == 1) {
      r <- ref_rahbo(K, V, arm, y, 0.1, 2 * 0.01 / 3, sqrt(2))
      due <- ref_argmax(r$f$mean + sqrt(2) * r$f$sd - 2 * r$lower, 1e-9)
    }
    arm[t] <- b$suggest()$arm
    expect_equal(arm[t], due)
    b$observe(t, y[t] <- f[due] + rnorm(1, sd = rho[due]))
  }
  r <- ref_rahbo(K, V, arm, y, 0.1, 2 * 0.01 / 3, sqrt(2))
  expect_equal(b$posterior()$mean, r$f$mean, tolerance = tol$engine)
  safe <- (r$f$mean - sqrt(2) * r$f$sd - 2 * r$upper)[r$at]
  expect_equal(b$best()$arm, r$at[which.max(safe)])
  expect_equal(table(b$history()$phase)[["repeat"]], 30)
  expect_equal(unserialize(serialize(b, NULL))$suggest(), b$suggest())
})

test_that("settings that BPE and other scripts do not support are errors that state the reason", {
  expect_error(bpe(1:5, kernel_se(1), 0.1, 20, B = 1, R = 0.1, contexts = 1), "planned before the contexts", class = "gpbandits_error")
  for (make in list(function(...) bpe(1:5, kernel_se(1), 0.1, 20, B = 1, R = 0.1, ...),
                    function(...) gp_ucb_lengthscale(1:5, kernel_se(1), 0.1, B = 1, R = 0.1, method = "balanced", ...),
                    function(...) rahbo(1:5, kernel_se(1), 0.1, 1, kernel_se(1), ...), function(...) baseline_constrained("ckb", 1:5, kernel_se(1), 0.1, step = 1, bound = 1, ...))) {
    expect_error(make(refit = refit_every(5)), "Leave out `refit`", class = "gpbandits_error")
    expect_error(make(widht = 2), "`widht`", class = "gpbandits_error")
  }
})

test_that("RAHBO runs on boxes, with contexts and with late rewards, and invalid settings are errors", {
  b <- rahbo(box_domain(0, 1), kernel_se(0.3), 0.1, alpha = 1, variance_kernel = kernel_se(0.3, 0.02), repeats = 2)
  problem <- bandit_problem(box_domain(0, 1), function(x) x[, 1], noise = 0.2, delay = 3)
  set.seed(1)
  expect_equal(nrow(as.data.frame(run_bandit(b, problem, 7))), 7)
  z <- rahbo(1:4, kernel_se(1), 0.1, alpha = 1, variance_kernel = kernel_se(1, 0.02), repeats = 3,
             contexts = cbind(c(0, 5)))
  for (t in 1:6) z$observe(z$suggest(context = c(0, 5)[1 + t %% 2])$id, t)
  expect_equal(z$history()$phase, rep("policy", 6))
  expect_equal(nrow(z$best(context = 5)), 1)
  expect_error(rahbo(1:3, kernel_se(1), 0.1, alpha = -1, variance_kernel = kernel_se(1)), class = "gpbandits_error")
  expect_error(rahbo(1:3, kernel_se(1), 0.1, alpha = 1, variance_kernel = kernel_se(1), repeats = 1),
               class = "gpbandits_error")
  expect_error(rahbo(1:3, kernel_se(1), 0.1, alpha = 1), class = "gpbandits_error")
})

test_that("expected improvement per learned cost equals the reference's", {
  set.seed(443)
  x <- sort(runif(20))
  K <- ref_kernel_se(0.2)(x)
  C <- ref_kernel_se(0.5)(x)
  b <- gp_ei(x, kernel_se(0.2), 0.01, cost = "learned", cost_kernel = kernel_se(0.5), cost_noise_var = 0.02)
  rows <- integer()
  y <- cost <- numeric()
  for (t in 1:15) {
    p <- ref_posterior_at(K, rows, y, 0.01)
    best <- if (t == 1) 0 else max(p$mean[rows])
    score <- ref_log_ei(p$mean, p$sd, best) - ref_posterior_at(C, rows, log(cost), 0.02)$mean
    rows[t] <- b$suggest()$arm
    expect_equal(rows[t], ref_argmax(score, 1e-8))
    y[t] <- sin(6 * x[rows[t]]) + rnorm(1, sd = 0.1)
    cost[t] <- exp(2 * x[rows[t]] + rnorm(1, sd = 0.1))
    b$observe(t, y[t], constraints = cost[t])
  }
  expect_gt(length(unique(rows)), 3)
  q <- b$suggest()
  expect_error(b$observe(q$id, 1, constraints = 0), class = "gpbandits_error")
  known <- function(x) exp(2 * x[, 1])
  set.seed(1)
  expect_identical(gp_ei(x, kernel_se(0.2), 0.01, cost = known)$config$policy, policy_ei(cost = known))
  expect_error(gp_ei(x, kernel_se(0.2), 0.01, cost = "known"), "`cost`", class = "gpbandits_error")
  expect_error(gp_ei(x, kernel_se(0.2), 0.01, xi = 1, cost = "learned"), "`xi`", class = "gpbandits_error")
})
