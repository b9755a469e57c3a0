# Safety: safe sets, maximisers and expanders against their formulas, the worked example, and the guarantee.

tiny_safe <- function(maker = safe_opt, threshold, seed = 3, ...) {
  tiny <- ref_tiny()
  b <- maker(tiny$x, kernel_se(0.3), tiny$noise, threshold = threshold, seed = seed, width = width_constant(2), ...)
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

# Of queries, as the log numbers them.
logged_phases <- function(b) as.environment(b)$queries$phase[b$history()$id]

test_that("the safe sets equal those of the worked example", {
  b <- tiny_safe(threshold = -0.48)
  found <- b$safe()
  expect_equal(which(found$safe), 1:3)
  expect_equal(which(found$maximiser), 2:3)
  expect_equal(which(found$expander), 3)
  expect_equal(b$suggest()$arm, 2)
  expect_equal(b$history()$phase[4], "maximiser")
  tiny <- ref_tiny()
  expect_equal(found$lower, tiny$mean - 2 * tiny$sd, tolerance = tol$engine)
  lipschitz <- tiny_safe(threshold = 0, lipschitz = 3)
  found <- lipschitz$safe()
  expect_equal(which(found$safe), 2:4)
  expect_equal(which(found$expander), c(2, 4))
  expect_equal(which(found$maximiser), 2:4)
  expect_equal(lipschitz$suggest()$arm, 2)
  stage <- tiny_safe(threshold = -0.48, method = "stageopt", accuracy = 0.1)
  expect_equal(stage$suggest()$arm, 3)
  late <- tiny_safe(threshold = -0.48, method = "stageopt", accuracy = 0.5)
  expect_equal(late$suggest()$arm, 2)
  expect_equal(stage$best()$arm, 3)
})

# Everything of a round from its formulas. `known`: per function (f first) its Gram matrix, rewards, noise and width.
ref_safe_round <- function(functions, safety, h, seed, rows, here = rep(TRUE, nrow(functions[[1]]$K))) {
  bounds <- lapply(functions, function(g) {
    p <- ref_posterior_at(g$K, rows, g$y, g$noise)
    c(p, list(lower = p$mean - g$width * p$sd, upper = p$mean + g$width * p$sd))
  })
  n <- nrow(functions[[1]]$K)
  ok <- function(lower) Reduce(`&`, Map(function(l, h) l >= h, lower, h))
  safe <- here & (seq_len(n) %in% seed | ok(lapply(bounds[safety], function(b) b$lower)))
  expander <- vapply(seq_len(n), function(x) {
    if (!safe[x] || all(safe[here])) return(FALSE)
    after <- Map(function(g, b) {
      p <- ref_posterior_at(g$K, c(rows, x), c(g$y, b$upper[x]), g$noise)
      p$mean - g$width * p$sd
    }, functions[safety], bounds[safety])
    any(ok(after)[here & !safe])
  }, TRUE)
  maximiser <- safe & bounds[[1]]$upper >= max(bounds[[1]]$lower[safe])
  relative <- Map(function(g, b) (b$upper - b$lower) / sqrt(diag(g$K)), functions, bounds)
  width <- do.call(pmax, relative[union(1, safety)])
  list(safe = safe, maximiser = maximiser, expander = expander, bounds = bounds,
       play = ref_argmax(ifelse(maximiser | expander, width, -Inf), 1e-9))
}

test_that("choices of SafeOpt with f as the safety function equal the reference's", {
  set.seed(421)
  x <- seq(0, 1, length.out = 25)
  K <- ref_kernel_se(0.2)(x)
  f <- sin(7 * x)
  b <- safe_opt(x, kernel_se(0.2), 0.01, threshold = -0.2, seed = c(5, 6), B = 2, R = 0.1)
  rows <- integer()
  y <- numeric()
  for (t in 1:20) {
    w <- sqrt(4 + 0.01 / 0.01 * (ref_logdet(K, rows, 0.01) + 2 * log(10)))
    ref <- ref_safe_round(list(list(K = K, y = y, noise = 0.01, width = w)), 1, -0.2, 5:6, rows)
    found <- b$safe()
    expect_equal(found[c("safe", "maximiser", "expander")], as.data.frame(ref[c("safe", "maximiser", "expander")]))
    rows[t] <- b$suggest()$arm
    expect_equal(rows[t], ref$play)
    expect_equal(b$history()$width[t], w, tolerance = tol$engine)
    b$observe(t, y[t] <- f[rows[t]] + rnorm(1, sd = 0.1))
  }
  expect_gt(sum(b$safe()$safe), 4)
})

test_that("with two safety functions of different scales choices equal the reference's", {
  set.seed(422)
  x <- seq(0, 1, length.out = 20)
  K <- ref_kernel_se(0.2)(x)
  L <- ref_kernel_matern(2.5, 0.3, 4)(x)
  truth <- cbind(f = sin(7 * x), g1 = 1 - 2 * x, g2 = 3 * cos(3 * x))
  b <- safe_opt(x, kernel_se(0.2), 0.01, threshold = c(-0.3, 0.2), seed = 2, safety = c("g1", "g2"),
                width = width_constant(2),
                constraint_kernels = list(kernel_se(0.2), kernel_matern(2.5, 0.3, 4)), constraint_noise_var = c(0.01,
                                                                                                                0.04))
  rows <- integer()
  reported <- matrix(0, 0, 3)
  for (t in 1:15) {
    functions <- list(list(K = K, y = reported[, 1], noise = 0.01, width = 2),
                      list(K = K, y = reported[, 2], noise = 0.01, width = 2),
                      list(K = L, y = reported[, 3], noise = 0.04, width = 2))
    ref <- ref_safe_round(functions, 2:3, c(-0.3, 0.2), 2, rows)
    rows[t] <- b$suggest()$arm
    expect_equal(rows[t], ref$play)
    reported <- rbind(reported, truth[rows[t], ] + rnorm(3, sd = 0.1))
    b$observe(t, reported[t, 1], constraints = reported[t, 2:3])
  }
  expect_gt(length(unique(rows)), 4)
  expect_equal(unserialize(serialize(b, NULL))$suggest(), b$suggest())
})

test_that("with contexts, listed or open, choices equal the reference's in the context of the round", {
  x <- seq(0, 1, length.out = 12)
  z <- c(0.1, 0.6)
  pairs <- as.matrix(expand.grid(x = x, z = z))
  K <- ref_kernel_se(0.3)(pairs)
  f <- sin(6 * pairs[, "x"] + pairs[, "z"])
  for (contexts in list(cbind(z = z), "z")) {
    set.seed(424)
    b <- safe_opt(x, kernel_se(0.3), 0.01, threshold = -0.3, seed = 3:4, width = 2, contexts = contexts)
    rows <- integer()
    y <- numeric()
    for (t in 1:10) {
      k <- 1 + t %% 2
      ref <- ref_safe_round(list(list(K = K, y = y, noise = 0.01, width = 2)), 1, -0.3, 3:4 + 12 * (k - 1), rows, rep(1:2, each = 12) == k)
      found <- b$safe(z[k])
      here <- 12 * (k - 1) + 1:12
      expect_equal(found$safe, ref$safe[here])
      expect_equal(found$expander, ref$expander[here])
      rows[t] <- b$suggest(context = z[k])$arm + 12 * (k - 1)
      expect_equal(rows[t], ref$play)
      b$observe(t, y[t] <- f[rows[t]] + rnorm(1, sd = 0.1))
    }
    expect_gt(sum(found$safe), 2)
    expect_false(isTRUE(all.equal(b$safe(z[1])$lower, b$safe(z[2])$lower)))
    again <- unserialize(serialize(b, NULL))
    expect_equal(again$suggest(context = 0.1), b$suggest(context = 0.1))
    expect_true(b$best(context = 0.6)$arm %in% which(b$safe(0.6)$safe))
    expect_error(b$safe(), "`context`", class = "gpbandits_error")
  }
  box <- safe_opt(list(u = c(0, 1)), kernel_se(0.3), 0.01, threshold = -2, seed = 0.5, width = 2, contexts = 1)
  for (t in 1:3) box$observe(box$suggest(context = t / 3)$id, 0.2)
  expect_true(all(box$safe(0.3)$lower[box$safe(0.3)$safe] >= -2 | seq_len(sum(box$safe(0.3)$safe)) == 1))
})

test_that("except for the seed, every evaluated point has a lower bound above the threshold", {
  x <- seq(0, 1, length.out = 40)
  for (maker in list(safe_opt, function(...) safe_opt(..., method = "stageopt", accuracy = 0.2))) for (lipschitz in list(NULL, 8)) {
    set.seed(423)
    f <- as.vector(sample_gp(kernel_se(0.2), x))
    seed <- which.max(f)
    h <- f[seed] - 1
    b <- maker(x, kernel_se(0.2), 0.01, threshold = h, seed = seed, width = width_constant(2), lipschitz = lipschitz)
    for (t in 1:12) {
      safe <- b$safe()
      q <- b$suggest()
      expect_true(safe$safe[q$arm])
      if (is.null(lipschitz)) expect_true(q$arm == seed || safe$lower[q$arm] >= h)
      b$observe(q$id, f[q$arm] + rnorm(1, sd = 0.1))
    }
  }
})

test_that("on functions drawn from the prior unsafe evaluations are at most as frequent as delta", {
  runs <- by_level(15, 1000)
  x <- seq(0, 1, length.out = 20)
  outcome <- vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    f <- as.vector(ref_draw_normal(1, rep(0, 20), ref_kernel_se(0.25)(x)))
    first <- which.max(f)
    h <- f[first] - 1
    b <- safe_opt(x, kernel_se(0.25), 0.01, threshold = h, seed = first, width = width_srinivas_finite(0.1))
    run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise = 0.1), 12))
    c(violated = any(run$f < h), found = sum(b$safe()$safe) / sum(f >= h))
  }, c(0, 0))
  expect_gt(stats::binom.test(sum(outcome["violated", ]), runs, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(mean(outcome["found", ]), 0.3)
})

test_that("on a box the seed and spread points are evaluated", {
  b <- safe_opt(box_domain(c(a = 0, b = 1), c(a = 1, b = 3)), kernel_se(0.5), 0.01, threshold = -0.5,
                seed = cbind(a = c(0.5, 0.6), b = 2), width = width_constant(2))
  first <- b$suggest()
  expect_equal(c(first$a, first$b), c(0.5, 2))
  b$observe(1, 1)
  q <- b$suggest()
  b$observe(2, 1)
  expect_gt(sum(b$safe()$safe), 2)
  expect_true(all(b$safe()$lower[b$safe()$safe][-(1:2)] >= -0.5))
  stage <- safe_opt(box_domain(0, 1), kernel_se(0.5), 0.01, method = "stageopt", threshold = -0.5, seed = 0.5, accuracy = 0.2,
                     width = width_constant(2))
  set.seed(1)
  run <- run_bandit(stage, bandit_problem(box_domain(0, 1), function(x) 1 - x[, 1], noise = 0.1), 15)
  expect_gte(min(as.data.frame(run)$f), -0.5)
  expect_gt(max(logged_phases(stage)), 5)     # those of its second stage
})

test_that("safety functions that are constraints of a problem work with late rewards and a journal", {
  x <- seq(0, 1, length.out = 20)
  problem <- bandit_problem(x, sin(6 * x), noise = 0.1, delay = 2, constraints = cbind(x - 0.5))
  path <- tempfile()
  b <- safe_opt(x, kernel_se(0.2), 0.01, threshold = -0.4, seed = 10, safety = 1, width = width_constant(2),
                journal = path)
  set.seed(1)
  run <- as.data.frame(run_bandit(b, problem, 15))
  expect_gte(min(run$violation1), -0.4)
  expect_equal(open_bandit(path)$history(), b$history())
  plain <- safe_opt(x, kernel_se(0.2), 0.01, threshold = -2, seed = 10, width = width_constant(2))
  expect_true("violation1" %in% names(as.data.frame(run_bandit(plain, problem, 5))))
})

test_that("invalid safety settings are errors", {
  make <- function(...) safe_opt(1:5, kernel_se(1), 0.1, ..., width = width_constant(2))
  expect_error(make(threshold = NA, seed = 1), class = "gpbandits_error")
  expect_error(make(threshold = c(0, 1), seed = 1), class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 6), "seed", class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = integer()), class = "gpbandits_error")
  expect_error(make(threshold = 0), class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, safety = "h1"), class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, safety = 2, count = 1), class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, lipschitz = -1), class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, method = "stageopt", contexts = 1), "first stage of `method = .*ends once",
               class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, accuracy = 1), "has no stages", class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, method = "both"), "`method`", class = "gpbandits_error")
  expect_error(make(threshold = 0, seed = 1, refit = refit_every(3)), "Leave out `refit`", class = "gpbandits_error")
  expect_error(safe_opt(1:5, kernel_se(1), 0.1, threshold = 0, seed = 1, B = 1), "`R`", class = "gpbandits_error")
  expect_error(safe_opt(box_domain(0, 1), kernel_se(1), 0.1, threshold = 0, seed = 0.5), "`B`", class = "gpbandits_error")
  expect_error(gp_ucb(1:5, kernel_se(1), 0.1)$safe(), "safe_opt", class = "gpbandits_error")
  expect_error(safe_opt(box_domain(0, 1), kernel_se(1), 0.1, threshold = 0, seed = 2, width = width_constant(1)),
               class = "gpbandits_error")
})

test_that("without `B` and `R` the widths are those for functions drawn from the prior, with equal parts of delta", {
  x <- seq(0, 1, length.out = 20)
  width_of <- function(maker, ...) {
    b <- maker(x, kernel_se(0.2), 0.01, threshold = 0, seed = 3, ..., delta = 0.2)
    b$suggest()
    b$history()$width
  }
  expect_equal(width_of(safe_opt), sqrt(2 * log(20 * pi^2 / (6 * 0.2))))
  expect_equal(width_of(safe_opt, method = "stageopt"), width_of(safe_opt))
  expect_equal(width_of(safe_opt, safety = "g1"), sqrt(2 * log(20 * pi^2 / (6 * 0.1))))
})

test_that("by default StageOpt expands until no interval is wider than half a prior standard deviation", {
  phases <- function(accuracy) {
    x <- seq(0, 1, length.out = 20)
    b <- safe_opt(x, kernel_se(0.2, variance = 4), 0.04, method = "stageopt", threshold = -2, seed = 3,
                   accuracy = accuracy, width = 3)
    set.seed(4)
    as.data.frame(run_bandit(b, bandit_problem(x, sin(9 * x), noise = 0.2), 15))$arm
  }
  expect_identical(phases(NULL), phases(1))
  for (other in c(0.5, 2)) expect_false(identical(phases(NULL), phases(other)))
})

# ---- safety by rewards alone ----------------------------------------------------

# The rules once more in plain R: bounds of evaluated points, then of all.
ref_data_safe <- function(x, h, L, seed, arm, y, E = NULL, R = NULL, delta = 0.1) {
  lower <- rep(-Inf, length(x))
  rank <- m <- total <- numeric(length(x))
  for (k in seq_along(arm)) {
    i <- arm[k]
    if (m[i] == 0) rank[i] <- sum(m > 0) + 1
    m[i] <- m[i] + 1
    total[i] <- total[i] + y[k]
    now <- if (!is.null(E)) y[k] - E
           else total[i] / m[i] - R * sqrt(2 * log(rank[i] * (rank[i] + 1) * m[i] * (m[i] + 1) / delta) / m[i])
    lower[i] <- max(lower[i], now)
  }
  seq_along(x) %in% seed | apply(outer(lower, rep(1, length(x))) - L * abs(outer(x, x, "-")), 2, max) >= h
}

test_that("the safe set by rewards equals its formula, for bounded and for sub-Gaussian noise", {
  x <- seq(0, 1, length.out = 30)
  for (noise in list(list(noise_bound = 0.1), list(R = 0.1))) {
    set.seed(451)
    f <- sin(6 * x)
    b <- do.call(safe_opt, c(list(x, kernel_se(0.2), 0.01, threshold = -0.2, seed = c(8, 9), by = "data", lipschitz = 7), noise))
    arm <- integer()
    y <- numeric()
    for (t in 1:40) {
      ref <- ref_data_safe(x, -0.2, 7, 8:9, arm, y, E = noise$noise_bound, R = noise$R)
      expect_equal(b$safe()$safe, ref)
      arm[t] <- b$suggest()$arm
      expect_true(ref[arm[t]])
      y[t] <- f[arm[t]] + runif(1, -0.1, 0.1)
      b$observe(t, y[t])
    }
    expect_gt(sum(ref), 8)
    expect_equal(b$history()$width, rep(2, 40))
    expect_true(b$best()$arm %in% which(ref))
    expect_equal(unserialize(serialize(b, NULL))$suggest(), b$suggest())
    # What is added counts, and a corrected reward is the corrected one.
    b$add(arm = 20, reward = 0.7)
    arm <- c(arm, 20)
    y <- c(y, 0.7)
    b$amend(3, y[3] <- -5)
    expect_equal(b$safe()$safe, ref_data_safe(x, -0.2, 7, 8:9, arm, y, E = noise$noise_bound, R = noise$R))
  }
})

test_that("every safety function needs a reward that is close enough, with distances over all inputs", {
  set.seed(452)
  grid <- as.matrix(expand.grid(u = seq(0, 1, 0.25), v = seq(0, 2, 0.5)))
  g <- cbind(1 - grid[, "u"], 2 - grid[, "v"])
  b <- safe_opt(grid, kernel_se(1), 0.01, threshold = c(0.2, 0.4), seed = 1, by = "data", lipschitz = c(1, 1.5),
                noise_bound = c(0.1, 0.2), safety = 1:2)
  n <- 12
  arm <- integer()
  for (t in seq_len(n)) {
    arm[t] <- b$suggest()$arm
    b$observe(t, sum(grid[arm[t], ]), constraints = g[arm[t], ])
  }
  distance <- as.matrix(stats::dist(grid))
  ok <- function(j, L, E, h) apply(g[arm, j] - E - L * distance[arm, , drop = FALSE], 2, max) >= h
  expect_equal(b$safe()$safe, unname(seq_len(25) == 1 | (ok(1, 1, 0.1, 0.2) & ok(2, 1.5, 0.2, 0.4))))
  expect_true(all(g[arm, 1] >= 0.2 & g[arm, 2] >= 0.4))
  expect_gt(length(unique(arm)), 3)
})

test_that("with by = \"data\" no unsafe point is evaluated, whatever the model, its width or its fit", {
  x <- seq(0, 1, length.out = 40)
  K <- ref_kernel_se(0.15)(x)
  lives <- by_level(6, 60, quick = 3)
  unsafe <- matrix(0, 2, lives)
  reached <- numeric()
  for (k in seq_len(lives)) for (bounded in c(TRUE, FALSE)) {
    set.seed(460 + k)
    f <- drop(K[, at <- sample(40, 8)] %*% (a <- rnorm(8)))
    f <- 2 * f / sqrt(drop(a %*% K[at, at] %*% a))
    L <- max(abs(diff(f)) / diff(x))
    h <- unname(stats::quantile(f, 0.3))
    noise <- if (bounded) function(n) runif(n, -0.1, 0.1) else 0.1
    # A model that is wrong in every way, refitted or not.
    b <- do.call(safe_opt, c(list(x, kernel_se(0.6, 0.1), 1e-3, threshold = h, seed = which.max(f), by = "data", lipschitz = L,
                                  width = 0.1, refit = if (k %% 2) refit_every(10)), if (bounded) list(noise_bound = 0.1) else list(R = 0.1)))
    run <- as.data.frame(run_bandit(b, bandit_problem(x, f, noise), 40))
    unsafe[1 + !bounded, k] <- any(run$f < h)
    reached <- c(reached, sum(b$safe()$safe) / sum(f >= h))
  }
  expect_identical(sum(unsafe[1, ]), 0)
  expect_gt(stats::binom.test(sum(unsafe[2, ]), lives, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(mean(reached), 0.2)
})

test_that("with by = \"data\" missing and unused arguments are errors", {
  x <- 1:5
  make <- function(...) safe_opt(x, kernel_se(1), 0.1, threshold = 0, seed = 2, ...)
  refused <- function(argument, ...) {
    caught <- expect_error(make(...), class = "gpbandits_error")
    expect_identical(caught$argument, argument)
  }
  refused("lipschitz", by = "data", noise_bound = 1)
  refused("noise_bound", by = "data", lipschitz = 1)
  refused("noise_bound", by = "data", lipschitz = 1, noise_bound = 1, R = 1)
  refused("noise_bound", by = "data", lipschitz = 1, noise_bound = -1)
  refused("R", by = "data", lipschitz = 1, R = -1)
  refused("B", by = "data", lipschitz = 1, noise_bound = 1, B = 1)
  refused("contexts", by = "data", lipschitz = 1, noise_bound = 1, contexts = 1)
  refused("stop_if_refuted", by = "data", lipschitz = 1, noise_bound = 1, stop_if_refuted = TRUE)
  refused("stop_if_refuted", width = 2, stop_if_refuted = TRUE)
  refused("noise_bound", width = 2, noise_bound = 1)
  refused("refit", width = 2, refit = refit_every(3))
  refused("by", width = 2, by = "rewards")
})

# ---- norms ------------------------------------------------------------------------

ref_norm_lower <- function(K, rows, y, R, delta, lambda, alpha = lambda * 4^(-3:6), alpha0 = lambda, own = NULL) {
  w <- if (is.null(own)) rep(1, length(y)) else lambda / own
  k <- K[rows, rows] * sqrt(outer(w, w))
  y <- y * sqrt(w)
  A <- function(a) sum(y * solve(k + diag(a, length(y)), y))
  cost <- vapply(alpha0, function(a) a * A(a) + R^2 * as.numeric(determinant(diag(length(y)) + k / a)$modulus), 0)
  R2 <- -2 * R^2 * log(mean(exp(-cost / (2 * R^2)))) + 2 * R^2 * log(1 / delta)
  sqrt(max(0, vapply(alpha, function(a) A(a) - R2 / a, 0)))
}

test_that("the lower bound of the norm equals its formula and the worked example", {
  tiny <- ref_tiny()
  b <- gp_ucb(tiny$x, kernel_se(0.3), 0.01, width = width_amm(0.6, 0.1))
  expect_equal(norm_check(b)$lower, c(f = 0))
  b$add(arm = tiny$rows, reward = tiny$y)
  found <- norm_check(b)
  expect_equal(found$lower, c(f = .656851), tolerance = 1e-6)
  expect_identical(unname(found$refuted), TRUE)
  expect_equal(found$probability, 0.9)
  expect_output(print(found), "at least 0.6569: the given bound 0.6 is refuted", fixed = TRUE)
  expect_false(norm_check(b, B = 0.7)$refuted)
  set.seed(470)
  x <- sort(runif(12))
  K <- ref_kernel_matern(1.5, 0.3)(x)
  rows <- sample(12, 30, TRUE)
  y <- 2 * cos(5 * x[rows]) + rnorm(30, 0, 0.2)
  own <- ifelse(runif(30) < 0.5, 0.05, 0.2)
  b <- gp_bandit(x, kernel_matern(1.5, 0.3), 0.04, policy_ei(), mean = 0.5)
  b$add(arm = rows, reward = y, noise_var = own)
  expect_equal(norm_check(b, R = 0.2, delta = 0.05)$lower[["f"]], ref_norm_lower(K, rows, y - 0.5, 0.2, 0.05, 0.04, own = own))
  expect_equal(norm_check(b, alpha0 = 0.04 * 4^(0:6), alpha = c(0.1, 1))$lower[["f"]],
               ref_norm_lower(K, rows, y - 0.5, 0.2, 0.1, 0.04, c(0.1, 1), 0.04 * 4^(0:6), own))
  expect_true(is.na(norm_check(b)$B) && is.na(norm_check(b)$refuted))
  fitted <- gp_ucb(x, kernel_se(0.3), 0.04, refit = refit_every(5))
  fitted$add(arm = rows, reward = y)
  expect_true(is.na(norm_check(fitted)$probability))
  safe <- safe_opt(x, kernel_se(0.3), 0.04, threshold = -9, seed = 3, safety = 1, B = 1, R = 0.2)
  safe$add(arm = rows, reward = y, constraints = matrix(2 * y))
  both <- norm_check(safe)
  S <- ref_kernel_se(0.3)(x)
  expect_equal(both$lower, c(reward = ref_norm_lower(S, rows, y, 0.2, 0.05, 0.04), g1 = ref_norm_lower(S, rows, 2 * y, 0.2, 0.05, 0.04)))
  for (bad in list(list(B = -1), list(R = NA), list(delta = 1), list(alpha = 0), list(alpha0 = -1), list(x = 1))) {
    expect_error(do.call(norm_check, c(list(b), bad)), class = "gpbandits_error")
  }
  # Several outcomes: each under its own kernel, noise and mean, with its share of delta; of two rewards one is not known yet.
  several <- gp_bandit(x, kernel_matern(1.5, 0.3), 0.04, policy_ei(), mean = 0.5, outcomes = list(
    yield = to_maximize(), cost = at_most(1, kernel = kernel_se(0.3), noise_var = 0.01, mean = -1)))
  cost <- cos(3 * x[rows])
  cost[4:5] <- NA
  several$add(arm = rows, reward = data.frame(yield = y, cost = cost))
  found <- norm_check(several)
  expect_named(found$lower, c("yield", "cost"))
  expect_equal(found$lower[["yield"]], ref_norm_lower(K, rows, y - 0.5, 0.2, 0.05, 0.04))
  expect_equal(found$lower[["cost"]], ref_norm_lower(ref_kernel_se(0.3)(x), rows[-(4:5)], cost[-(4:5)] + 1, 0.1, 0.05, 0.01))
  expect_equal(found$probability, 0.9)
  expect_error(norm_check(1), "`bandit`", class = "gpbandits_error")
  expect_error(norm_check(baseline_constrained("oco", list(u = c(0, 1)))), class = "gpbandits_error")
})

test_that("the lower bound is below the norm in all rounds, and detects a norm bound that is far too small", {
  x <- seq(0, 1, length.out = 40)
  K <- ref_kernel_se(0.15)(x)
  lives <- by_level(10, 150)
  found <- vapply(seq_len(lives), function(k) {
    set.seed(480 + k)
    f <- drop(K[, at <- sample(40, 8)] %*% (a <- rnorm(8)))
    f <- 3 * f / sqrt(drop(a %*% K[at, at] %*% a))
    b <- gp_ucb(x, kernel_se(0.15), 0.01, width = width_amm(3, 0.1), pending = pending_hallucinate())
    worst <- 0
    for (t in 1:12) {
      rows <- if (k %% 2) sample(40, 5, TRUE) else b$suggest(5)$arm
      if (k %% 2) b$add(arm = rows, reward = f[rows] + rnorm(5, 0, 0.1))
      else b$observe(5 * t - 4:0, f[rows] + rnorm(5, 0, 0.1))
      worst <- max(worst, norm_check(b)$lower)
    }
    c(worst, norm_check(b, B = 2)$refuted)
  }, c(0, 0))
  expect_gt(stats::binom.test(sum(found[1, ] > 3), lives, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(mean(found[2, (seq_len(lives) %% 2) == 1]), 0.9)
})

test_that("a refuted norm bound leaves only the seeds, with one warning, until a reward is corrected", {
  x <- seq(0, 1, length.out = 40)
  f <- 4 * sin(9 * x)
  make <- function(...) safe_opt(x, kernel_se(0.15), 0.01, threshold = -1, seed = c(5, 9), B = 0.5, R = 0.1, ...)
  set.seed(471)
  b <- make(stop_if_refuted = TRUE)
  expect_equal(b$suggest()$arm, make()$suggest()$arm)
  b$observe(1, f[b$history()$arm[1]])
  b$add(arm = c(5, 9, 7), reward = f[c(5, 9, 7)])
  expect_warning(q <- b$suggest(), class = "gpbandits_refuted")
  expect_true(q$arm %in% c(5, 9))
  expect_equal(b$history()$phase[5], "refuted")
  expect_equal(which(b$safe()$safe), c(5, 9))
  expect_false(any(b$safe()$expander))
  expect_no_warning(b$suggest(2))
  expect_true(all(b$history()$arm[6:7] %in% c(5, 9)))
  again <- unserialize(serialize(b, NULL))
  expect_no_warning(expect_equal(again$suggest(), b$suggest()))
  for (id in 1:4) b$amend(id, 0.01 * id)
  expect_equal(b$suggest()$arm %in% which(b$safe()$safe), TRUE)
  expect_false(identical(b$history()$phase[9], "refuted"))
})

# ---- a policy of the core ---------------------------------------------------------

# Plays both alike; their choices, phases and bounds agree in each round.
expect_alike <- function(core, rule, f, rounds = 12, reported_rule = function(b, id, x) b$observe(id, f(x)),
                         reported_core = reported_rule) {
  for (t in seq_len(rounds)) {
    q <- core$suggest()
    expect_identical(rule$suggest(), q)
    reported_core(core, q$id, q$x1)
    reported_rule(rule, q$id, q$x1)
  }
  expect_identical(core$history()$phase, rule$history()$phase)
  expect_equal(core$safe(), rule$safe(), tolerance = 1e-9)
  expect_equal(core$best()$arm, rule$best()$arm)
}

test_that("the algorithm in R selects the same points as the core's policy, and constraint columns are outcomes", {
  x <- seq(0, 1, length.out = 30)
  f <- function(x) sin(7 * x) + 0.05 * cos(40 * x)
  for (more in list(list(), list(lipschitz = 6), list(method = "stageopt", accuracy = 0.4),
                    list(method = "stageopt", lipschitz = 6, accuracy = 1))) {
    make <- function(...) {
      do.call(safe_opt, c(list(x, kernel_se(0.2), 0.01, threshold = -0.3, seed = 6:7, width = 2, ...), more))
    }
    core <- make()
    expect_false(is(core, "ScriptedBandit"))
    # (A separate width needs the script.)
    rule <- make(count = 1, constraint_width = width_constant(1))
    expect_s4_class(rule, "ScriptedBandit")
    plain <- function(b, id, x) b$observe(id, f(x))
    both <- function(b, id, x) b$observe(id, f(x), constraints = x)
    expect_alike(core, rule, f, reported_rule = both, reported_core = plain)
    if (!is.null(more$method)) expect_equal(as.environment(rule)$memory$stage, 2)
    columns <- make(count = 1)
    expect_false(is(columns, "ScriptedBandit"))
    expect_alike(make(), columns, f, reported_rule = both, reported_core = plain)
  }
})

test_that("outcomes with limits define safety as constraint columns do", {
  x <- seq(0, 1, length.out = 25)
  f <- function(x) sin(6 * x)
  g <- function(x) cbind(0.8 - x, 2 * x - 1)
  core <- safe_opt(x, kernel_se(0.2), 0.01, seed = 3, width = width_constant(2), mean = 0.1,
                   outcomes = list(yield = to_maximize(), room = at_least(0.1, mean = 0),
                                   fall = at_most(0.2, kernel_se(0.3, 2), 0.04, mean = 0)))
  rule <- safe_opt(x, kernel_se(0.2), 0.01, threshold = c(0.1, -0.2), seed = 3, width = width_constant(2), mean = 0.1,
                   safety = c("g1", "g2"), constraint_kernels = list(kernel_se(0.2), kernel_se(0.3, 2)),
                   constraint_noise_var = c(0.01, 0.04))
  expect_alike(core, rule, f, rounds = 16, reported_rule = function(b, id, x) b$observe(id, f(x), constraints = g(x) * c(1, -1)),
               reported_core = function(b, id, x) b$observe(id, c(yield = f(x), room = g(x)[1], fall = g(x)[2])))
  expect_true(all(c("both", "expander") %in% core$history()$phase))
  # delta is shared by objective and limits, as by a rule's functions.
  shared <- safe_opt(x, kernel_se(0.2), 0.01, seed = 3, B = 1, R = 0.1, delta = 0.1,
                     outcomes = list(yield = to_maximize(), room = at_least(0)))
  shared$suggest()
  b <- gp_ucb(x, kernel_se(0.2), 0.01, width = width_amm(1, 0.1, 0.05))
  b$suggest()
  expect_equal(shared$history()$width, b$history()$width)
  refused <- function(arg, ...) {
    expect_error(safe_opt(x, kernel_se(0.2), 0.01, seed = 3, width = 2, ...), paste0("`", arg, "`"),
                 class = "gpbandits_error")
  }
  refused("outcomes", outcomes = list(yield = to_maximize()))
  refused("outcomes", outcomes = list(a = to_maximize(), b = to_maximize(), g = at_most(1)))
  refused("outcomes", outcomes = list(yield = to_maximize(), g = at_most(1, transform = "auto")))
  refused("outcomes", outcomes = list(yield = to_maximize(), g = at_most(1)), by = "data", lipschitz = 1,
          noise_bound = 1)
  refused("threshold", outcomes = list(yield = to_maximize(), g = at_most(1)), threshold = 0)
  refused("safety", outcomes = list(yield = to_maximize(), g = at_most(1)), safety = "g1")
  refused("lipschitz", outcomes = list(yield = to_maximize(), g = at_most(1)), lipschitz = c(1, 2))
  refused("pending", threshold = 0, pending = pending_censor(3))
  refused("pending", threshold = 0, safety = "g1", constraint_width = width_constant(2), pending = pending_hallucinate())
  refused("store", threshold = 0, safety = "g1", constraint_width = width_constant(2), store = 1)
})

test_that("an outcome with an upper limit gives the same choices as its negative with a lower limit", {
  x <- seq(0, 1, length.out = 20)
  make <- function(cost) {
    safe_opt(x, kernel_se(0.2), 0.01, seed = 3, width = 2, outcomes = list(cost = cost, heat = at_most(0.7)))
  }
  down <- make(to_minimize())
  up <- make(to_maximize())
  for (t in 1:8) {
    q <- up$suggest()
    expect_identical(down$suggest(), q)
    up$observe(t, c(cost = cos(4 * q$x1), heat = q$x1))
    down$observe(t, c(cost = -cos(4 * q$x1), heat = q$x1))
  }
  expect_equal(down$safe()[c("lower", "upper")], stats::setNames(-up$safe()[c("upper", "lower")], c("lower", "upper")))
})

test_that("phases are in the event log, so StageOpt resumes in its second stage", {
  x <- seq(0, 1, length.out = 20)
  f <- sin(7 * x)
  make <- function(...) safe_opt(x, kernel_se(0.2), 0.01, threshold = -0.4, seed = 5, width = 2, method = "stageopt",
                                 accuracy = 1.2, ...)
  path <- tempfile()
  b <- make(journal = path)
  plain <- make()
  for (t in 1:10) {
    arm <- b$suggest()$arm
    expect_identical(plain$suggest()$arm, arm)
    # (An expander is wide again: the first stage ended all the same.)
    for (one in list(b, plain)) if (t != 6) one$observe(t, f[arm])
    if (t == 8) for (one in list(b, plain)) one$withdraw(6)
  }
  expect_true("maximiser" %in% b$history()$phase)
  expect_true(any(logged_phases(b) <= 5) && max(logged_phases(b)) > 5)
  shorter <- plain$copy()
  shorter$compact()
  again <- list(open_bandit(path, rng = FALSE), unserialize(serialize(plain, NULL)), plain$copy(), shorter,
                from_json(as_json(plain)))
  if (store_packages("RSQLite")) {
    point <- list(kind = "sqlite", file = tempfile(fileext = ".db"))
    point$connect <- eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(point$file), synchronous = NULL)))
    stored <- make(store = store_at(point, "s"))
    for (t in 1:10) {
      expect_identical(stored$suggest()$arm, plain$history()$arm[t])
      if (t != 6) stored$observe(t, f[plain$history()$arm[t]])
      if (t == 8) stored$withdraw(6)
    }
    again <- c(again, list(open_bandit(store_at(point, "s"))))
  }
  next_one <- plain$suggest()
  for (one in again) {
    expect_identical(one$history()$phase, plain$history()$phase[1:10])
    expect_identical(one$suggest()$arm, next_one$arm)
  }
  spoilt <- unserialize(serialize(plain, NULL))
  log <- as.environment(spoilt)
  log$queries$phase[1] <- 40L
  expect_error(spoilt$suggest(), class = "gpbandits_error")
})

test_that("a batch is safe by the observed rewards, and its points differ because the sd includes pending queries", {
  x <- seq(0, 1, length.out = 40)
  f <- sin(6 * x)
  K <- ref_kernel_se(0.2)(x)
  known <- integer()
  b <- safe_opt(x, kernel_se(0.2), 0.01, threshold = -0.3, seed = 8, width = 2, pending = pending_hallucinate())
  for (t in 1:5) {
    safe <- b$safe()
    q <- b$suggest(3)
    expect_true(all(safe$safe[q$arm]))
    expect_identical(b$safe()[c("safe", "lower")], safe[c("safe", "lower")])
    # Each is where the sd that knows those before it is largest, of maximisers and expanders by real rewards.
    for (k in 1:3) {
      sd <- ref_posterior_at(K, c(known, q$arm[seq_len(k - 1)]), numeric(length(known) + k - 1), 0.01)$sd
      expect_equal(q$arm[k], which.max(ifelse(safe$maximiser | safe$expander, sd, -Inf)))
    }
    known <- c(known, q$arm)
    b$observe(q$id, f[q$arm])
  }
  expect_gt(sum(safe$safe), 10)
  some <- which(b$safe()$safe)[1:2]
  expect_true(b$suggest(arms = c(some, which(!b$safe()$safe)))$arm %in% some)
  expect_error(b$suggest(arms = which(!b$safe()$safe)), "known to be safe", class = "gpbandits_error")
  # The largest lower bound may be an unsafe point's, so that no gap is certified.
  for (rule in list(NULL, stop_gap(0.1, width_constant(2)), stop_prb(0.1))) {
    expect_error(b$certificate(rule), "`rule`", class = "gpbandits_error")
  }
  expect_false(b$certificate(stop_stalled(100))$certified)
})

test_that("on a box seeds are exact candidates, and the best of the other candidates is evaluated", {
  seed <- cbind(u = c(0.301, 0.32), v = c(1.7, 1.703))
  b <- safe_opt(box_domain(c(u = 0, v = 1), c(u = 1, v = 2)), kernel_se(c(0.4, 0.6)), 0.01, threshold = -0.5,
                seed = seed, width = 2, pending = pending_hallucinate())
  points <- b$safe()
  expect_equal(as.matrix(points[1:2, c("u", "v")]), seed, ignore_attr = TRUE)
  expect_identical(which(points$safe), 1:2)
  for (t in 1:8) {
    safe <- b$safe()
    p <- b$posterior(safe[c("u", "v")])
    q <- b$suggest()
    at <- which(safe$u == q$u & safe$v == q$v)
    expect_true(safe$safe[at])
    expect_equal(safe$safe, p$mean - 2 * p$sd >= -0.5 | seq_along(p$mean) <= 2)
    b$observe(q$id, 1 - (q$u - 0.5)^2)
  }
  expect_gt(sum(safe$safe), 20)
  expect_error(b$suggest(fixed = list(u = 0.5)), "`fixed`", class = "gpbandits_error")
})
