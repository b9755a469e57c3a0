# The detector's incremental sweep against the statistic of each tail alone, and
# change detection must do on data that change and data that do not.

ridge <- function(q) 2 * q^(1 / 7)

test_that("change_statistic() is the mean squared difference of the two fits", {
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

test_that("the sweep raises an alarm at the first pair at which a tail's statistic exceeds its threshold", {
  skip_on_cran()
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

test_that("on the data of its calibration a threshold is exceeded at most as often as its level", {
  set.seed(3)
  kernel <- kernel_matern(2.5, 0.3)
  trials <- by_level(40, 400)
  alarms <- replicate(trials, {
    x <- runif(24)
    y <- sin(6 * x) + rnorm(24, sd = 0.3)
    old <- calibrate_detector(x, y, kernel, ridge = 1, level = 0.1, permutations = 99)$threshold
    change_statistic(x, y, kernel, 1) > old
  })
  # Exact under exchangeability: at most 0.1, four standard errors allowed.
  expect_lt(mean(alarms), 0.1 + 4 * sqrt(0.09 / trials))
})

test_that("a change is detected and the bandit restarts; without a change all data stay", {
  skip_on_cran()
  x <- seq(0, 5, length.out = 100)
  kernel <- kernel_matern(2.5, 1)
  f <- cbind(1.5 * sin(2 * x), -1.5 * sin(2 * x))
  rule <- change_detect(function(q) 2.6 * q^(-6 / 7), ridge)
  play <- function(problem) {
    b <- gp_bandit(x, kernel, 0.02, policy_ucb(width_constant(2)), changes = rule)
    set.seed(5)
    as.data.frame(run_bandit(b, problem, 300))
  }
  changed <- play(bandit_problem(x, f, noise = 0.05, change_points = 150))
  expect_gt(max(changed$segment), 1)
  expect_true(all(changed$segment[1:150] == 1))
  still <- play(bandit_problem(x, f[, 1], noise = 0.05))
  expect_identical(max(still$segment), 1L)
  explored <- changed$action == "explore"
  for (t in which(changed$segment == 1)) {
    before <- seq_len(t - 1)
    expect_identical(explored[t], sum(explored[before]) <= sqrt(3) * sqrt(t - 1))
  }
})

test_that("restarts come at regular intervals and after given rounds, and never without a rule", {
  x <- seq(0, 1, length.out = 20)
  problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
  segments <- function(b) as.data.frame(run_bandit(b, problem, 30))$segment
  expect_equal(segments(gp_ucb_drift(x, kernel_se(0.2), 0.01, change_oracle(every = 10))), rep(1:3, each = 10))
  b <- gp_ucb(x, kernel_se(0.2), 0.01, changes = change_oracle(c(7, 20), explore = 0))
  expect_equal(segments(b), rep(1:3, c(7, 13, 10)))
  expect_equal(segments(gp_ucb(x, kernel_se(0.2), 0.01, changes = change_never())), rep(1, 30))
  jump <- bandit_problem(x, cbind(sin(6 * x), 1.5 + cos(6 * x)), noise = 0.1, change_points = 15)
  set.seed(1)                                         # whether the jump stands out is up to the noise
  run <- as.data.frame(run_bandit(gp_ucb_drift(x, kernel_se(0.2), 0.01, change_detect(delta = 0.1)), jump, 30))
  t <- stats::ave(run$segment, run$segment, FUN = seq_along)
  unlikely <- 2 * log(2 * pi^2 * t^2 / 6 / 0.1)
  far <- abs(run$reward - run$mean) > sqrt(unlikely) * run$sd + sqrt(0.01 * unlikely)
  expect_equal(diff(run$segment), as.integer(far[-30]))
  expect_equal(max(run$segment), 2)
})

# The statistic by its definition: two ridge fits, compared at the points of `grid`.
plain_statistic <- function(kernel, x, y, ridge, grid) {
  q <- length(y) / 2
  fit <- function(rows) {
    K <- kernel(x[rows, , drop = FALSE]) + ridge * diag(q)
    kernel(grid, x[rows, , drop = FALSE]) %*% solve(K, y[rows])
  }
  mean((fit(seq_len(q)) - fit(q + seq_len(q)))^2)
}

test_that("on a box the closed form of the squared-exponential kernel equals fine quadrature", {
  set.seed(31)
  # Midpoints: their error falls with the square of the step.
  midpoints <- function(low, high, n) low + (high - low) * (seq_len(n) - 0.5) / n
  x <- matrix(runif(16, -1, 2))
  y <- rnorm(16)
  for (l in c(0.05, 0.4, 3)) {
    core <- change_statistic(x, y, kernel_se(l, 1.7), 0.5, box_domain(-1, 2))
    plain <- plain_statistic(ref_kernel_se(l, 1.7), x, y, 0.5, matrix(midpoints(-1, 2, 6000)))
    expect_equal(core, plain, tolerance = 1e-6)
  }
  x <- cbind(runif(12, 0, 1), runif(12, 2, 4))
  y <- rnorm(12)
  grid <- as.matrix(expand.grid(midpoints(0, 1, 300), midpoints(2, 4, 300)))
  box <- box_domain(c(0, 2), c(1, 4))
  expect_equal(change_statistic(x, y, kernel_se(c(0.3, 0.8)), 1, box),
               plain_statistic(ref_kernel_se(c(0.3, 0.8)), x, y, 1, grid), tolerance = 1e-5)
  # An input that the kernel does not use changes nothing.
  expect_equal(change_statistic(x, y, kernel_se(0.3, dims = 1), 1, box),
               plain_statistic(ref_kernel_se(0.3, dims = 1), x, y, 1, grid), tolerance = 1e-5)
  # Points outside the box, and another kernel by quadrature.
  expect_equal(change_statistic(x + 0.4, y, kernel_se(0.2), 1, box),
               plain_statistic(ref_kernel_se(0.2), x + 0.4, y, 1, grid), tolerance = 1e-4)
  expect_equal(change_statistic(x, y, kernel_matern(2.5, 0.5), 1, box),
               plain_statistic(ref_kernel_matern(2.5, 0.5), x, y, 1, grid), tolerance = 0.05)
  # Logarithmic inputs: model and average both in the logarithm.
  expect_equal(change_statistic(exp(x[, 2]), y, kernel_se(0.5), 1, box_domain(exp(2), exp(4), log = TRUE)),
               change_statistic(x[, 2], y, kernel_se(0.5), 1, box_domain(2, 4)), tolerance = 1e-9)
})

test_that("the sweep uses the closed form too, and dyadic tails have powers of two", {
  skip_on_cran()
  for (seed in few_of(1:4, 1)) {
    set.seed(seed)
    x <- runif(40)
    y <- c(sin(6 * x[1:20]), cos(6 * x[21:40])) + rnorm(40, sd = 0.2)
    theta <- function(q) 1.1 * q^(-0.4)
    first <- function(lengths) {
      for (t in 2:40) {
        for (q in lengths[lengths <= t %/% 2]) {
          tail <- seq(t - 2 * q + 1, t)
          if (change_statistic(x[tail], y[tail], kernel_se(0.3), ridge(q), box_domain(0, 1)) > theta(q)) return(t)
        }
      }
      NA_integer_
    }
    found <- function(...) detect_change(x, y, kernel_se(0.3), theta, ridge, box_domain(0, 1), ...)$alarm
    expect_identical(found(), first(1:20))
    expect_identical(found(dyadic = TRUE), first(2^(0:4)))
  }
})

# A detector bandit against the reference, with contexts listed and open.
for (known in c(TRUE, FALSE)) {
  test_that(paste("the detector in contexts that are", if (known) "known" else "not known", "beforehand"), {
    x <- seq(0, 1, length.out = 6)
    z <- matrix(c(0, 0.5, 1), 3)
    K <- ref_kernel_se(0.4)(cbind(rep(x, 3), rep(z, each = 6)))
    theta <- function(q) 1.3 * q^(-6 / 7)
    restarts <- 0
    for (seed in 1:3) {
      set.seed(40 + seed)
      changes <- ref_changes("detect", 2, threshold = theta, ridge = ridge)
      if (!known) changes$over <- "sampled"
      b <- gp_bandit(x, kernel_se(0.4), 0.05, policy_ucb(width_constant(1.5)), mean = 0.2, contexts = if (known) z else 1,
                     changes = change_detect(theta, ridge, explore = 2))
      ref <- ref_bandit(K, 0.05, ref_policy("ucb", ref_width_constant(1.5)), mean = 0.2, n_arms = 6, changes = changes)
      f <- as.vector(ref_draw_normal(1, rep(0, 18), K))
      e <- rnorm(60, 0, 0.2)
      reward <- function(t, point) (if (t <= 30) 1 else -1) * 1.5 * f[point] + e[t]
      run <- play_with_reference(b, ref, 60, reward, contexts = z, visits = sample(3, 60, TRUE))
      expect_history(b, run$ref)
      restarts <- restarts + max(b$history()$segment) - 1
    }
    expect_gt(restarts, 0)
  })
}

test_that("the detector runs on a box, with contexts and without", {
  set.seed(50)
  rule <- change_detect(function(q) if (q < 4) Inf else 2, function(q) 0.3, explore = 3)
  for (kernel in list(kernel_se(0.5), kernel_matern(2.5, 0.5))) {
    for (contexts in list(NULL, matrix(c(0, 1), 2), "z")) {
      b <- gp_bandit(box_domain(0, 1), kernel, 0.05, policy_ucb(width_constant(1)), contexts = contexts, changes = rule)
      for (t in 1:40) {
        q <- b$suggest(context = if (!is.null(contexts)) t %% 2)
        b$observe(q$id, (if (t <= 20) 1 else -1) * 2 * sin(5 * q$x1) + rnorm(1, 0, 0.1))
      }
      h <- b$history()
      expect_gt(max(h$segment), 1)
      if (is.null(contexts)) {
        # The uniform pairs of the first segment, seen by the monitor for regression data.
        pairs <- h[h$action == "explore" & h$segment == 1, ]
        alarm <- detect_change(pairs$x1, pairs$reward, kernel, rule$threshold, rule$ridge, box_domain(0, 1))$alarm
        expect_identical(alarm, nrow(pairs))
      }
      again <- b$copy()
      expect_equal(again$history(), h)
    }
  }
})

test_that("constants by cross-validation and shuffles equal those computed by hand", {
  set.seed(71)
  x <- runif(30, 0, 5)
  y <- sin(2 * x) + rnorm(30, sd = 0.1)
  kernel <- kernel_matern(1.5, 1)
  set.seed(72)
  found <- calibrate_detector(x, y, kernel, candidates = c(0.01, 0.5, 20), folds = 3, level = 0.1, permutations = 19)
  set.seed(72)
  fold <- sample(rep_len(1:3, 30))
  K <- ref_kernel_matern(1.5, 1)(matrix(x))
  error <- vapply(c(0.01, 0.5, 20), function(c) mean(unlist(lapply(1:3, function(k) {
    seen <- which(fold != k)
    weights <- solve(K[seen, seen] + diag(c * length(seen)^(1 / 5), length(seen)), y[seen])
    (K[-seen, seen] %*% weights - y[-seen])^2
  }))), 0)
  expect_equal(unname(found$error), error)
  expect_equal(found$c, c(0.01, 0.5, 20)[which.min(error)])
  # The monitor tests all tails after every pair.
  half <- function(which) {
    q <- length(which)
    K[, which, drop = FALSE] %*% solve(K[which, which] + diag(found$c * q^(1 / 5), q), y[which])
  }
  largest <- replicate(19, {
    order <- sample.int(30)
    max(vapply(2:30, function(t) max(vapply(seq_len(t %/% 2), function(q) {
      tail <- order[(t + 1 - 2 * q):t]
      q^(4 / 5) * mean((half(tail[1:q]) - half(tail[q + 1:q]))^2)
    }, 0)), 0))
  })
  # The pairs are an estimate of the variance of those of a monitor.
  expect_equal(found$C, sort(largest * 29 / rchisq(19, 29))[18])
  expect_equal(found$ridge(7), found$c * 7^(1 / 5))
  expect_equal(found$threshold(7), found$C * 7^(-4 / 5))
  expect_error(calibrate_detector(x, y, kernel_se(1)), class = "gpbandits_error")
})

test_that("a calibrated monitor raises as many false alarms in a run as its level says", {
  kernel <- kernel_matern(2.5, 0.3)
  grid <- seq(0, 1, length.out = 20)
  runs <- by_level(60, 60, quick = 12)
  alarms <- vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    x <- runif(48)
    y <- sin(6 * x) + rnorm(48, sd = 0.3)
    past <- 1:24
    found <- calibrate_detector(x[past], y[past], kernel, candidates = 1, level = 0.1, permutations = 39, domain = grid)
    !is.na(detect_change(x[-past], y[-past], kernel, found$threshold, found$ridge, domain = grid)$alarm)
  }, NA)
  expect_lt(mean(alarms), 0.1 + 3 * sqrt(0.1 * 0.9 / runs))
})

test_that("on stationary noise the detector raises alarms at most as often as its calibrated level", {
  skip_on_cran()
  kernel <- kernel_matern(2.5, 0.4)
  x <- seq(0, 1, length.out = 40)
  pairs <- by_level(12, 24)
  runs <- by_level(120, 2000, quick = 40)
  set.seed(60)
  # Thresholds per length from noise like the monitor's: a share level / (number of tails) for each
  # of the tails that it will test, so that Bonferroni bounds the whole run.
  level <- 0.2
  tails <- sum(seq_len(pairs) %/% 2)
  draws <- by_level(500, 20000, quick = 250)
  theta <- vapply(seq_len(pairs %/% 2), function(q) {
    at <- matrix(sample(40, draws * 2 * q, TRUE), draws)
    y <- matrix(rnorm(draws * 2 * q), draws)
    all <- vapply(seq_len(draws), function(i) change_statistic(x[at[i, ]], y[i, ], kernel, ridge(q), x), 0)
    stats::quantile(all, 1 - level / tails, names = FALSE)
  }, 0)
  alarms <- replicate(runs, {
    at <- sample(40, pairs, TRUE)
    !is.na(detect_change(x[at], rnorm(pairs), kernel, function(q) if (q <= length(theta)) theta[q] else Inf, ridge, x)$alarm)
  })
  expect_lt(mean(alarms), level + 4 * sqrt(level * (1 - level) / runs))
  # And it is not deaf: the tails overlap, but not all of them are one.
  expect_gt(mean(alarms), level / tails)
  # A bandit that explores all the time restarts as often as the monitor alarms.
  restarted <- replicate(by_level(30, 1000, quick = 10), {
    b <- gp_bandit(x, kernel, 1, policy_uniform(),
                   changes = change_detect(function(q) if (q <= length(theta)) theta[q] else Inf, ridge, explore = 1e6))
    run <- as.data.frame(run_bandit(b, bandit_problem(x, numeric(40), noise = 1), pairs + 1))
    max(run$segment) > 1
  })
  expect_lt(mean(restarted), level + 4 * sqrt(level * (1 - level) / length(restarted)))
})

test_that("times and intervals of restarts are one rule, and exactly one of them is given", {
  refused <- function(code, arg) expect_identical(expect_error(code, class = "gpbandits_error")$argument, arg)
  refused(change_oracle(), "times")
  refused(change_oracle(3, every = 2), "times")
  refused(change_oracle(every = 0), "every")
  expect_identical(c(change_oracle(3)$explore, change_oracle(every = 3)$explore), c(sqrt(3), 0))
})

test_that("a detector has a threshold and a ridge, or the probability of the event trigger", {
  refused <- function(code, arg) expect_identical(expect_error(code, class = "gpbandits_error")$argument, arg)
  refused(change_detect(), "threshold")
  refused(gp_bandit(1:3, kernel_se(1), 1, policy_ts(), changes = change_detect(sqrt)), "changes")
  refused(change_detect(sqrt, delta = 0.1), "threshold")
  refused(change_detect(ridge = sqrt, delta = 0.1), "ridge")
  refused(change_detect(delta = 0.1, dyadic = TRUE), "dyadic")
  refused(change_detect(delta = 1), "delta")
  expect_identical(c(change_detect(sqrt, sqrt)$explore, change_detect(delta = 0.1)$explore), c(sqrt(3), 0))
})

test_that("gradual forgetting is one rule: by drift, by weights or in a window", {
  refused <- function(code, arg) expect_identical(expect_error(code, class = "gpbandits_error")$argument, arg)
  refused(change_oracle(rate = 0.1, window = 5), "window")
  refused(change_oracle(rate = 1), "rate")
  refused(change_oracle(rate = 0.1, by = "age"), "by")
  refused(change_oracle(window = 5, by = "weights"), "by")
  refused(change_oracle(3, rate = 0.1), "times")
  expect_identical(vapply(list(change_oracle(rate = 0.1), change_oracle(window = 3)), function(rule) rule$explore, 0), c(0, 0))
  # A rate of 0 forgets nothing, whatever it acts on.
  x <- seq(0, 1, length.out = 9)
  means <- lapply(list(NULL, change_oracle(rate = 0), change_oracle(rate = 0, by = "weights"), change_oracle(window = 9)), function(rule) {
    b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(2), changes = rule)
    b$add(arm = c(2, 5, 8), reward = c(1, 0, 2))
    b$posterior()$mean
  })
  for (mean in means[-1]) expect_equal(mean, means[[1]], tolerance = 1e-9)
})

# ---- rewards with a likelihood --------------------------------------------------------------------

few <- c(0, 0.5, 1)
few_kernel <- kernel_se(0.5, 2)
binary_bandit <- function(changes, rewards = rewards_binary(), ...) {
  gp_bandit(few, few_kernel, policy = policy_ts(), rewards = rewards, changes = changes, ...)
}
latent_of <- function(b) b$posterior(scale = "latent")

# The reward of each query: `p1`, then `p2` after `change` rounds.
played <- function(b, rounds, change, p1, p2) {
  for (t in seq_len(rounds)) {
    q <- b$suggest()
    b$observe(q$id, stats::rbinom(1, 1, (if (t <= change) p1 else p2)[q$arm]))
  }
  b
}

test_that("with a likelihood, weights of age, windows and restarts equal Newton's solution of the weighted problem", {
  arm <- c(1, 2, 2, 3, 1, 3, 2)
  y <- c(1, 0, 2, 1, 0, 0, 1)
  size <- c(1, 1, 2, 3, 1, 1, 2)
  given <- function(changes, rewards, keep = seq_along(arm)) {
    b <- binary_bandit(changes, rewards)
    b$add(arm = arm[keep], reward = y[keep], size = size[keep])
    latent_of(b)
  }
  K <- kernel_gram(few_kernel, few)
  for (kind in c("logit", "counts")) {
    rewards <- if (kind == "logit") rewards_binary() else rewards_counts()
    weighted <- function(w) {
      sums <- function(x) as.vector(tapply(w * x, factor(arm, 1:3), sum, default = 0))
      k <- sums(y)
      n <- sums(size)
      # The mode of sum l(f) - f'K^-1 f / 2, and its curvature.
      f <- numeric(3)
      for (step in 1:50) {
        rate <- if (kind == "logit") n * stats::plogis(f) else n * exp(f)
        W <- if (kind == "logit") rate * stats::plogis(-f) else rate
        f <- drop(solve(solve(K) + diag(W), W * f + k - rate))
      }
      data.frame(mean = f, sd = sqrt(diag(solve(solve(K) + diag(W)))))
    }
    near <- function(changes, w) {
      expect_equal(given(changes, rewards)[c("mean", "sd")], weighted(w), tolerance = 1e-6, info = kind)
    }
    near(change_oracle(rate = 0.3, by = "weights"), 0.7^(8 - 1:7))
    near(change_oracle(window = 3), as.numeric(1:7 > 4))
    # Identities: a weight of 1, a window of everything, and observations whose weight is 0.
    plain <- given(NULL, rewards)
    expect_equal(given(change_oracle(rate = 0, by = "weights"), rewards), plain, tolerance = 1e-12)
    expect_identical(given(change_oracle(window = 7), rewards), plain)
    expect_identical(given(change_oracle(window = 3), rewards), given(NULL, rewards, 5:7))
    without <- binary_bandit(change_oracle(rate = 0.9999, by = "weights"), rewards)
    without$add(arm = arm[1:3])
    without$withdraw(1:3)
    without$add(arm = arm[4:7], reward = y[4:7], size = size[4:7])
    expect_identical(latent_of(without), given(change_oracle(rate = 0.9999, by = "weights"), rewards))
  }
})

# log E p(y | f), f normal, by R's quadrature.
log_probability <- function(y, size, mean, sd, counts = FALSE) {
  density <- function(f) {
    stats::dnorm(f, mean, sd) * if (counts) stats::dpois(y, size * exp(f)) else stats::dbinom(y, size, stats::plogis(f))
  }
  log(stats::integrate(density, mean - 9 * sd, mean + 9 * sd, rel.tol = 1e-9, subdivisions = 500)$value)
}

test_that("the event trigger with a likelihood is the mixture of shifted predictions", {
  for (counts in c(FALSE, TRUE)) {
    set.seed(4)
    b <- binary_bandit(change_detect(delta = 0.2), if (counts) rewards_counts() else rewards_binary())
    rate <- function(t, f) if (counts) stats::rpois(1, 2 * exp(f)) else stats::rbinom(1, 2, stats::plogis(f))
    for (t in 1:40) {
      q <- b$suggest()
      b$observe(q$id, rate(t, if (t <= 20) c(-1, 0, 1)[q$arm] else c(1, 0, -1.5)[q$arm]), size = 2)
    }
    h <- b$history()
    queries <- as.environment(b)$queries
    restarted <- integer()
    sums <- rep(0, 6)
    first <- 0
    for (t in 1:40) {
      w <- 1 / log2(t - first + 1) - 1 / log2(t - first + 2)
      at <- function(c) log_probability(h$reward[t], 2, queries$mean[t] + c * sqrt(2), queries$sd[t], counts)
      ratio <- exp(vapply(c(-2, -1, -0.5, 0.5, 1, 2), at, 0) - at(0))
      sums <- (sums + w) * ratio
      if (mean(sums) >= 1 / 0.2) {
        restarted <- c(restarted, t)
        sums <- rep(0, 6)
        first <- t
      }
    }
    expect_identical(which(diff(h$segment) > 0), restarted[restarted < 40], info = counts)
    expect_identical(from_json(as_json(b))$history(), h)
  }
})

test_that("the event trigger rarely restarts without a change, and soon after one", {
  set.seed(8)
  runs <- by_level(40, 40, quick = 8)
  alarms <- replicate(runs, {
    f <- drop(sample_gp(few_kernel, few))
    max(played(binary_bandit(change_detect(delta = 0.1)), 150, 150, stats::plogis(f))$history()$segment) > 1
  })
  expect_lte(sum(alarms), stats::qbinom(0.999, runs, 0.1))
  found <- vapply(seq_len(by_level(10, 10, quick = 3)), function(seed) {
    set.seed(seed)
    h <- played(binary_bandit(change_detect(delta = 0.1)), 240, 120, c(0.1, 0.2, 0.7), c(0.7, 0.2, 0.1))$history()
    which(diff(h$segment) > 0)[1]
  }, 0L)
  expect_gte(mean(found %in% 121:170), 0.8)
})

test_that("the detector without a ridge compares Laplace's evidences of halves", {
  threshold <- function(q) 1 + log(q)
  set.seed(2)
  b <- binary_bandit(change_detect(threshold, explore = 1e6), rewards_counts())
  for (t in 1:24) {
    q <- b$suggest()
    b$observe(q$id, stats::rpois(1, exp(if (t <= 12) c(-1, 0, 2)[q$arm] else c(2, 0, -1)[q$arm])))
  }
  h <- b$history()
  expect_true(all(h$action == "explore"))
  evidence <- function(rows) {
    arms <- sort(unique(h$arm[rows]))
    k <- vapply(arms, function(a) sum(h$reward[rows][h$arm[rows] == a]), 0)
    n <- vapply(arms, function(a) sum(h$arm[rows] == a), 0L)
    constant <- sum(lgamma(h$reward[rows] + 1))
    K <- kernel_gram(few_kernel, few[arms])
    f <- numeric(length(arms))
    for (step in 1:60) {
      W <- n * exp(f)
      f <- drop(K %*% solve(diag(length(arms)) + W * K, W * f + k - W))
    }
    sum(k * f - n * exp(f)) - constant - drop(f %*% solve(K, f)) / 2 -
      determinant(diag(length(arms)) + n * exp(f) * K)$modulus[1] / 2
  }
  first <- 0
  restarted <- integer()
  for (t in 1:24) {
    for (q in seq_len((t - first) %/% 2)) {
      older <- seq(t - 2 * q + 1, t - q)
      newer <- seq(t - q + 1, t)
      if (evidence(older) + evidence(newer) - evidence(c(older, newer)) > threshold(q)) {
        restarted <- c(restarted, t)
        first <- t
        break
      }
    }
  }
  expect_gt(length(restarted), 0)
  expect_identical(which(diff(h$segment) > 0), restarted[restarted < 24])
  expect_identical(b$copy()$history(), h)
})

test_that("rules without a meaning for the rewards are errors that state the alternative", {
  refused <- function(changes, rewards, text, ...) {
    error <- expect_error(gp_bandit(few, few_kernel, policy = policy_mean(), rewards = rewards, changes = changes, ...),
                          text, class = "gpbandits_error", fixed = TRUE)
    expect_identical(error$argument, "changes")
  }
  refused(change_oracle(rate = 0.1), rewards_counts(), "by = \"weights\"")
  refused(change_detect(sqrt, sqrt), rewards_binary(), "without `ridge`")
  refused(change_detect(sqrt), rewards_robust(), "change_detect(delta = )", noise_var = 1)
  refused(change_detect(delta = 0.1), rewards_preferences(), "`window`")
  refused(change_detect(sqrt), NULL, "a `ridge`", noise_var = 1)
  seen <- NULL
  b <- binary_bandit(change_function(function(history) {
    seen <<- history
    nrow(history) >= 5
  }))
  played(b, 12, 12, c(0.2, 0.5, 0.8))
  expect_identical(b$history()$segment, rep(1:3, c(5, 5, 2)))
  expect_equal(seen, b$history()[11:11, names(seen)], ignore_attr = TRUE)
})

# ---- the automatic choice -----------------------------------------------------------------------

test_that("forecasts and weights of an automatic choice equal those of plain R", {
  set.seed(5)
  rule <- gpbandits:::change_auto(10, windows = c(5, 12), rates = 0.2)
  b <- played(binary_bandit(rule, mean = -0.5), 30, 15, c(0.1, 0.4, 0.8), c(0.8, 0.4, 0.1))
  h <- b$history()
  choices <- list(change_never(0), change_oracle(window = 5), change_oracle(window = 12),
                  change_oracle(rate = 0.2, by = "weights"))
  expected <- vapply(choices, function(changes) {
    vapply(1:30, function(t) {
      one <- binary_bandit(changes, mean = -0.5)
      if (t > 1) one$add(arm = h$arm[seq_len(t - 1)], reward = h$reward[seq_len(t - 1)])
      at <- latent_of(one)[h$arm[t], ]
      log_probability(h$reward[t], 1, at$mean, at$sd)
    }, 0)
  }, numeric(30))
  inside <- as.environment(b)
  rules <- lapply(choices, gpbandits:::resolve_changes, inside$config)
  found <- gpbandits:::cpp_bandit_forecasts(inside$handle, rules, 500L)
  expect_equal(found, expected, tolerance = 1e-7)
  expect_equal(colSums(gpbandits:::cpp_bandit_forecasts(inside$handle, rules, 12L)), colSums(expected[19:30, ]),
               tolerance = 1e-7)
  w <- prior <- c(3, 1, 1, 1) / 6
  for (t in 1:30) w <- 0.999 * w * exp(expected[t, ]) / sum(w * exp(expected[t, ])) + 0.001 * prior
  expect_equal(gpbandits:::weights_of_choices(found), w, tolerance = 1e-6)
})

test_that("Gaussian rewards are forecast in the same way", {
  set.seed(6)
  b <- gp_bandit(few, few_kernel, 0.3, policy_ts(), changes = gpbandits:::change_auto(100, windows = 3))
  for (t in 1:12) b$observe(b$suggest()$id, stats::rnorm(1))
  h <- b$history()
  inside <- as.environment(b)
  choices <- list(change_never(0), change_oracle(window = 3))
  found <- gpbandits:::cpp_bandit_forecasts(inside$handle, lapply(choices, gpbandits:::resolve_changes, inside$config), 500L)
  expected <- vapply(c(12, 3), function(window) {
    vapply(1:12, function(t) {
      rows <- utils::tail(seq_len(t - 1), window)
      k <- kernel_gram(few_kernel, few[h$arm[t]], few[h$arm[rows]])
      A <- kernel_gram(few_kernel, few[h$arm[rows]]) + 0.3 * diag(length(rows))
      mean <- if (t > 1) drop(k %*% solve(A, h$reward[rows])) else 0
      variance <- 2.3 - if (t > 1) drop(k %*% solve(A, t(k))) else 0
      stats::dnorm(h$reward[t], mean, sqrt(variance), log = TRUE)
    }, 0)
  }, numeric(12))
  expect_equal(found, expected, tolerance = 1e-8)
})

test_that("an automatic choice forgets nothing without a change, and forgets soon after one", {
  automatic <- function(seed, p2) {
    set.seed(seed)
    played(binary_bandit("auto", mean = -1), 300, 150, c(0.1, 0.2, 0.6), p2)
  }
  kinds <- function(b) vapply(as.environment(b)$refits, function(fit) fit$forgetting$kind, "")
  seeds <- by_level(20, 20, quick = 4)
  stationary <- vapply(seq_len(seeds), function(seed) all(kinds(automatic(seed, c(0.1, 0.2, 0.6))) == "never"), NA)
  expect_gte(mean(stationary), 0.75)
  changed <- vapply(seq_len(by_level(6, 6, quick = 2)), function(seed) {
    b <- automatic(seed, c(0.6, 0.2, 0.1))
    inside <- as.environment(b)
    at <- log_column(inside, "id")[
      log_column(inside, "kind") == gpbandits:::event_kind[["refit"]]]
    windows <- at[kinds(b) == "window"]
    min(windows[windows > 150], Inf) <= 250
  }, NA)
  expect_gte(mean(changed), 5 / 6)
})

test_that("the choice is in the log: copies, files, journals and stores choose the same, print() shows it", {
  set.seed(1)
  path <- tempfile()
  b <- binary_bandit(gpbandits:::change_auto(20, windows = c(20, 60), rates = 0.05), journal = path)
  played(b, 160, 80, c(0.1, 0.2, 0.7), c(0.7, 0.2, 0.1))
  expect_gt(length(as.environment(b)$refits), 0)
  expect_output(print(b), "changes +.*chosen by predictions, every 20 rounds")
  expect_output(print(summary(b)), "chosen by predictions")
  restored <- list(b$copy(), from_json(as_json(b)), unserialize(serialize(b$copy(), NULL)))
  for (one in restored) {
    expect_identical(one$history(), b$history())
    expect_identical(latent_of(one), latent_of(b))
  }
  set.seed(9)
  more <- b$copy()
  played(more, 45, 0, NULL, c(0.7, 0.2, 0.1))
  set.seed(9)
  again <- from_json(as_json(b))
  played(again, 45, 0, NULL, c(0.7, 0.2, 0.1))
  expect_identical(again$history(), more$history())
  history <- b$history()
  rm(b)
  gc()
  expect_identical(open_bandit(path)$history(), history)
  # With refits, at each of them; in one call as in several.
  turns <- lapply(list(rep(1, 60), c(7, 20, 33)), function(sizes) {
    set.seed(3)
    one <- gp_bandit(few, few_kernel, 0.5, policy_mean(), changes = gpbandits:::change_auto(9, windows = 10), refit = refit_every(15))
    for (n in sizes) {
      ids <- suppressWarnings(one$suggest(n))$id
      if (length(sizes) == 60) one$observe(ids, stats::rnorm(1))
    }
    as.environment(one)$refits
  })
  expect_true(all(vapply(turns[[1]], function(fit) is.object(fit$forgetting), NA)))
  refused <- function(code, arg) expect_identical(expect_error(code, class = "gpbandits_error")$argument, arg)
  refused(change_oracle(window = c(5, 5)), "window")
  refused(change_oracle(window = c(5, 1.5)), "window")
  refused(change_oracle(rate = c(0.1, 1), by = "weights"), "rate")
  refused(change_oracle(rate = c(0.1, 0.2)), "rate")
  expect_identical(change_oracle(window = c(20, 60)), gpbandits:::change_auto(windows = c(20, 60)))
  expect_identical(binary_bandit("auto")$config$changes, gpbandits:::change_auto(windows = c(50, 100, 200, 400, 800)))
})

# ---- a cover ------------------------------------------------------------------

# The first reward at which some split of one covered point's rewards differs too much; NA without one.
ref_cover_alarm <- function(arm, reward, cover, lambda, delta) {
  seen <- stats::setNames(vector("list", length(cover)), cover)
  for (t in seq_along(arm)) {
    at <- match(arm[t], cover)
    if (is.na(at)) next
    y <- seen[[at]] <- c(seen[[at]], reward[t])
    n <- length(y)
    for (s in seq_len(n - 1)) {
      most <- sqrt(2 * lambda * (1 / s + 1 / (n - s)) * log(2 * length(cover) * n * (n - 1)^2 / delta))
      if (abs(mean(y[seq_len(s)]) - mean(y[-seq_len(s)])) > most) return(t)
    }
  }
  NA
}

cover_bandit <- function(..., domain = seq(0, 1, length.out = 21), policy = policy_ucb(2)) {
  gp_bandit(domain, kernel_se(0.2), 0.01, policy, changes = change_detect(delta = 0.1, cover = 5, ...))
}

test_that("a cover is played in turn, and restarts where its means differ, with any policy", {
  x <- seq(0, 1, length.out = 21)
  for (policy in list(policy_ucb(2), policy_ts(), policy_ei())) {
    set.seed(3)
    b <- cover_bandit(policy = policy)
    for (t in 1:120) {
      q <- b$suggest()
      b$observe(q$id, sin(6 * x[q$arm] + 2 * (t > 70)) + stats::rnorm(1, 0, 0.1))
    }
    h <- b$history()
    first <- h[h$segment == 1, ]
    forced <- first$arm[first$action == "explore"]
    expect_identical(forced, rep_len(c(1L, 6L, 11L, 16L, 21L), length(forced)))
    expect_gt(max(h$segment), 1)
    expect_identical(ref_cover_alarm(h$arm, h$reward, c(1, 6, 11, 16, 21), 0.01, 0.1), nrow(first))
    expect_gt(nrow(first), 70)
    expect_lt(nrow(first), 100)
  }
  back <- from_json(as_json(b))
  expect_identical(back$posterior(), b$posterior())
})

test_that("without a change a cover restarts with at most the stated probability", {
  x <- seq(0, 1, length.out = 21)
  restarted <- vapply(seq_len(by_level(20, 200, quick = 6)), function(seed) {
    set.seed(seed)
    b <- cover_bandit(explore = 5)
    for (t in 1:60) {
      q <- b$suggest()
      b$observe(q$id, sin(9 * x[q$arm]) + stats::rnorm(1, 0, 0.1))
    }
    max(b$history()$segment) > 1
  }, NA)
  expect_gt(stats::binom.test(sum(restarted), length(restarted), 0.1, "greater")$p.value, tol$p_value)
})

test_that("a cover is for boxes too, and not for contexts, products and other rewards", {
  b <- cover_bandit(domain = box_domain(c(0, 0), c(1, 1)))
  for (t in 1:12) b$observe(b$suggest()$id, 0)
  explored <- b$history()[b$history()$action == "explore", c("x1", "x2")]
  expect_identical(nrow(unique(explored)), min(5L, nrow(explored)))
  refused <- function(code, argument) expect_identical(expect_error(code, class = "gpbandits_error")$argument, argument)
  rule <- change_detect(delta = 0.1, cover = 3)
  refused(gp_bandit(1:3, kernel_se(1), 0.1, policy_ucb(2), contexts = "z", changes = rule), "changes")
  refused(gp_bandit(product_domain(1:2, list(u = c(0, 1))), kernel_se(1), 0.1, policy_ucb(2), changes = rule), "changes")
  refused(gp_bandit(1:3, kernel_se(1), policy = policy_ucb(2), rewards = rewards_binary(), changes = rule), "changes")
  refused(change_detect(cover = 3), "delta")
  refused(change_detect(delta = 0.1, cover = 1), "cover")
})
