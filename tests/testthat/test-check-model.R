# check_model(): leave-one-out against n refits and the worked example, innovations against their definition,
# false alarms at the rates found in simulations, words that fit the fault.

tiny_check <- function(...) {
  b <- gp_bandit(c(0, 0.25, 0.5, 0.75, 1), kernel_se(0.3), 0.01, policy_mean(), ...)
  b$add(arm = 1:5, reward = c(0.2, 0.9, 1, 0.3, -0.3))
  b
}

test_that("the numbers of the worked example come out", {
  check <- check_model(tiny_check())
  at <- as.data.frame(check)
  expect_equal(at$mean, c(0.38586, 0.78783, 0.92059, 0.30487, -0.13266), tolerance = 2e-5)
  expect_equal((at$reward - at$mean) / at$z, c(0.59084, 0.37438, 0.33578, 0.37438, 0.59084), tolerance = 2e-5)
  expect_equal(check$log_score, -0.12971, tolerance = 1e-4)
  expect_equal(check$tests$statistic[1] * 5, 1.45144, tolerance = 1e-5)
  expect_equal(check$tests$p[1], 0.1628, tolerance = 1e-3)
  # A context that the kernel does not use: two and three left out together.
  two <- gp_bandit(c(0, 0.25, 0.5, 0.75, 1), kernel_se(0.3, dims = 1), 0.01, policy_mean(), contexts = "z")
  for (i in 1:5) two$add(arm = i, reward = c(0.2, 0.9, 1, 0.3, -0.3)[i], context = c(1, 2, 2, 3, 4)[i])
  expect_equal(as.data.frame(check_model(two, by = "context"))$mean[2:3], c(0.31291, 0.48503), tolerance = 2e-5)
})

# Each group left out: a bandit that never got it.
refit_without <- function(make, reported, group) {
  t(vapply(unique(group), function(g) {
    b <- make()
    for (i in which(group != g)) do.call(b$add, reported[[i]])
    one <- reported[[match(g, group)]]
    p <- b$posterior(one$x, context = one$context, arm = one$arm)
    c(mean = p$mean, sd = p$sd)
  }, c(mean = 0, sd = 0)))
}

agrees_with_refits <- function(make, reported, tolerance = 1e-8) {
  b <- make()
  for (one in reported) do.call(b$add, one)
  point <- vapply(reported, function(one) paste(deparse(one[c("x", "arm", "context")]), collapse = ""), "")
  for (by in c("place", "reward")) {
    at <- as.data.frame(check_model(b, by = by))
    refits <- refit_without(make, reported, if (by == "place") match(point, unique(point)) else seq_along(reported))
    expect_equal(at$mean, refits[, "mean"], tolerance = tolerance)
    expect_equal(at$sd, refits[, "sd"], tolerance = tolerance)
  }
}

test_that("leave-one-out results are those of a fit without the rewards, on every engine", {
  set.seed(61)
  x <- seq(0, 1, length.out = 30)
  rewards <- rnorm(14)
  arms <- c(3, 9, 9, 20, 28, 14, 3, 5, 24, 9, 17, 1, 30, 12)
  noise <- rep(c(NA, 0.2), 7)
  on_arms <- lapply(1:14, function(i) list(arm = arms[i], reward = rewards[i], noise_var = noise[i]))
  for (engine in c("weights", "played")) {
    agrees_with_refits(function() gp_bandit(x, kernel_se(0.2), 0.05, policy_mean(), mean = 0.3, engine = engine),
                       on_arms)
  }
  K <- ref_kernel_se(0.3)(x)
  agrees_with_refits(function() gp_bandit(x, kernel_matrix(K), 0.05, policy_mean(), mean = x), on_arms)
  points <- cbind(runif(12), runif(12))
  points[5, ] <- points[2, ]
  in_box <- lapply(1:12, function(i) list(x = points[i, , drop = FALSE], reward = rewards[i]))
  for (engine in c("dense", "lowrank")) {
    make <- function() {
      gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_matern(2.5, 0.4), 0.05, policy_mean(), engine = engine)
    }
    # (The low-rank engine is within `accuracy` = 1e-3 posterior sd.)
    agrees_with_refits(make, in_box, if (engine == "lowrank") 5e-3 else 1e-8)
  }
  in_context <- lapply(1:12, function(i) list(arm = arms[i], reward = rewards[i], context = c(0.2, 0.8)[1 + i %% 2]))
  agrees_with_refits(function() gp_bandit(x, kernel_se(0.4), 0.05, policy_mean(), contexts = matrix(c(0.2, 0.8))),
                     in_context)
  agrees_with_refits(function() gp_bandit(x, kernel_se(0.4), 0.05, policy_mean(), contexts = "z"), in_context)
})

test_that("contexts are left out as a whole; regressions and searches are checked, in the units of the rewards", {
  set.seed(62)
  b <- gp_bandit(seq(0, 1, length.out = 20), kernel_se(0.4), 0.05, policy_mean(), contexts = "z")
  z <- c(0.1, 0.5, 0.5, 0.9, 0.1, 0.9, 0.1)
  arms <- sample(20, 7)
  y <- rnorm(7)
  for (i in 1:7) b$add(arm = arms[i], reward = y[i], context = z[i])
  at <- as.data.frame(check_model(b, by = "context"))
  for (value in unique(z)) {
    without <- gp_bandit(seq(0, 1, length.out = 20), kernel_se(0.4), 0.05, policy_mean(), contexts = "z")
    for (i in which(z != value)) without$add(arm = arms[i], reward = y[i], context = z[i])
    p <- without$posterior(arm = arms[z == value], context = value)
    expect_equal(at$mean[z == value], p$mean, tolerance = 1e-8)
    expect_equal(at$sd[z == value], p$sd, tolerance = 1e-8)
  }
  x <- cbind(runif(15))
  y <- sin(6 * x[, 1]) + rnorm(15, sd = 0.1)
  own <- rep(c(NA, 0.1, 0.3), 5)
  fit <- gp_regression(x, y, kernel_se(0.3), 0.02, mean = 0.5, own_noise = own)
  at <- as.data.frame(check_model(fit))
  for (i in c(1, 8, 15)) {
    without <- gp_regression(x[-i, , drop = FALSE], y[-i], kernel_se(0.3), 0.02, mean = 0.5, own_noise = own[-i])
    p <- predict(without, x[i, , drop = FALSE])
    expect_equal(c(at$mean[i], at$sd[i]), c(p$mean, p$sd), tolerance = 1e-8)
  }
  expect_true(check_model(gp_fit(x, y, kernel_se(0.3)))$fitted)
  found <- minimize_bandit(function(p) 1000 + 50 * (p[["a"]] - 0.4)^2 + rnorm(1), list(a = c(0, 1)), 14)
  check <- check_model(found)
  # Rewards at the same point are checked together.
  expect_equal(sort(check$data$reward), sort(as.numeric(tapply(found$history$reward, found$history$a, mean))),
               tolerance = 1e-8)
  expect_true(all(check$data$mean > 900))
})

test_that("one-step-ahead residuals use the rewards that arrived before, whatever the order of the queries", {
  set.seed(63)
  x <- seq(0, 1, length.out = 12)
  for (contexts in list(NULL, "z")) {
    b <- gp_bandit(x, kernel_se(0.3), 0.04, policy_uniform(), contexts = contexts)
    context <- if (!is.null(contexts)) 0.3
    for (i in 1:30) b$suggest(context = context)
    order <- sample(30)
    y <- rnorm(30)
    for (i in order) b$observe(i, y[i])
    arms <- b$history()$arm
    K <- ref_kernel_se(0.3)(x)
    A <- K[arms[order], arms[order]] + diag(0.04, 30)
    expected <- drop(forwardsolve(t(chol(A)), y[order]))
    # Twelve arms, thirty rewards: rank-one updates; ten rewards, each at a separate point, below: the factor.
    ahead <- gpbandits:::innovations(gpbandits:::bandit_checked(as.environment(b)))
    expect_equal(ahead[, "z"], expected, tolerance = 1e-8)
    expect_equal(ahead[, "mean"], y[order] - expected * diag(chol(A)), tolerance = 1e-8)
  }
  wide <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.04, policy_uniform())
  q <- wide$suggest(10)
  for (i in c(7, 1:6, 8:10)) wide$observe(i, y[i])
  order <- c(7, 1:6, 8:10)
  A <- ref_kernel_se(0.3)(q$x1[order]) + diag(0.04, 10)
  expect_equal(gpbandits:::innovations(gpbandits:::bandit_checked(as.environment(wide)))[, "z"],
               drop(forwardsolve(t(chol(A)), y[order])), tolerance = 1e-8)
})

test_that("a right model is seldom rejected, also if a bandit chose the points; a wrong one mostly is", {
  skip_on_cran()
  set.seed(64)
  x <- seq(0, 1, length.out = 25)
  trials <- by_level(80, 1000, quick = 20)
  p_of <- function(noise_var, reported, width) {
    replicate(trials, {
      f <- drop(sample_gp(kernel_se(0.2), x))
      b <- gp_bandit(x, kernel_se(0.2), reported, policy_ucb(width))
      for (t in 1:20) {
        query <- b$suggest()
        b$observe(query$id, f[query$arm] + rnorm(1, sd = sqrt(noise_var)))
      }
      check_model(b)$tests$p[1:2]
    })
  }
  right <- p_of(0.05, 0.05, 2)
  # Binomial: four standard errors at a rate of .1.
  expect_lt(max(rowMeans(right < 0.1)), 0.1 + 4 * sqrt(0.09 / trials))
  expect_gt(min(rowMeans(right < 0.5)), 0.5 - 4 * sqrt(0.25 / trials))
  wrong <- p_of(0.2, 0.05, 2)
  # Noise sd doubled: the simulations found .86 of p below .01.
  expect_gt(mean(wrong[1, ] < 0.01), 0.86 - 0.15)
})

test_that("predictions at the choice use the parameters of their time, and count if nothing was pending", {
  set.seed(65)
  b <- gp_bandit(seq(0, 1, length.out = 40), kernel_se(0.2), 0.02, policy_ucb(2), refit = refit_every(5, minimum = 5))
  f <- sin(7 * seq(0, 1, length.out = 40))
  z <- numeric()
  for (t in 1:16) {
    q <- b$suggest()
    said <- utils::tail(b$history(), 1)
    parameters <- config_now(b)
    y <- f[q$arm] + rnorm(1, sd = 0.1)
    if (length(as.environment(b)$refits)) z <- c(z, (y - said$mean) / sqrt(said$sd^2 + parameters$noise_var))
    b$observe(q$id, y)
  }
  two <- b$suggest(2)
  b$observe(two$id, f[two$arm])
  core <- gpbandits:::bandit_checked(as.environment(b))$said[, "z"]
  # The first of the two was asked with nothing pending, the second was not.
  expect_equal(core[seq_along(z)], z, tolerance = 1e-10)
  expect_length(core, length(z) + 1)
})

test_that("the printed line states the problem, warns once, and claims no probability", {
  set.seed(66)
  x <- seq(0, 1, length.out = 50)
  problem <- bandit_problem(x, sin(6 * x), noise = 0.1)
  right <- gp_ucb(problem$domain, kernel_se(0.2), 0.01)
  run_bandit(right, problem, 30)
  expect_no_warning(summary(right))
  expect_match(gpbandits:::describe_check(check_model(right)), "nothing against the model|note: residuals")
  expect_output(print(summary(right)), "check: 30 results")
  wrong <- gp_ucb(problem$domain, kernel_se(0.2), 1e-4)
  run_bandit(wrong, problem, 30)
  expect_warning(certificate <- wrong$certificate(), class = "gpbandits_model")
  expect_match(certificate$check, "speaks against the model")
  expect_true(any(grepl("speaks against", certificate$assumptions)))
  expect_no_warning(wrong$certificate())
  expect_match(paste(check_model(wrong)$advice, collapse = " "), "more noise")
  expect_false(any(grepl("speaks against", right$certificate()$assumptions)))
  # One wild reward among good ones.
  wild <- gp_bandit(seq(0, 1, length.out = 50), kernel_se(0.2), 0.01, policy_mean())
  wild$add(arm = seq(1, 49, by = 2), reward = sin(6 * x[seq(1, 49, by = 2)]) + c(rep(0, 12), 9, rep(0, 12)))
  check <- check_model(wild)
  expect_lt(check$p, 1e-3)
  expect_match(check$advice[1], "id 13")
})

test_that("plots are drawn from the check, and invalid input is an error", {
  check <- check_model(tiny_check())
  local_device()
  curve <- plot(check)
  expect_identical(curve$quantile, sort(check$data$pit))
  expect_identical(plot(check, "residuals")$z, check$data$z)
  expect_output(print(check), "5 results")
  expect_error(plot(check, "curve"), "`type`", class = "gpbandits_error")
  b <- tiny_check()
  for (call in list(quote(check_model()), quote(check_model(1)), quote(check_model(b, by = "all")),
                    quote(check_model(b, by = "context")),
                    quote(check_model(b, 1, 2)), quote(check_model(gp_ucb(1:3, kernel_se(1), 0.1))),
                    quote(check_model(tiny_check(changes = change_oracle(rate = 0.1, by = "weights")))))) {
    expect_error(eval(call), class = "gpbandits_error")
  }
  # A function that drifts: the model is the drifting one.
  fading <- tiny_check(changes = change_oracle(rate = 0.2))
  A <- ref_kernel_se(0.3)(c(0, 0.25, 0.5, 0.75, 1)) * 0.8^(abs(outer(1:5, 1:5, "-")) / 2) + diag(0.01, 5)
  y <- c(0.2, 0.9, 1, 0.3, -0.3)
  P <- solve(A)
  expect_equal(as.data.frame(check_model(fading))$mean, y - drop(P %*% y) / diag(P), tolerance = 1e-8)
  # A substitute for a reward is no reward.
  late <- gp_bandit(seq(0, 1, length.out = 9), kernel_se(0.3), 0.1, policy_ucb(1), pending = pending_censor(2))
  for (t in 1:8) {
    q <- late$suggest()
    if (t %% 2) late$observe(q$id, 0.1 * t)
  }
  expect_identical(check_model(late)$rewards, 4L)
})

test_that("rewards at one or two points give a check that can be printed, without a constant model", {
  for (arm in list(c(1, 1, 2), c(1, 1, 1))) {
    b <- gp_bandit(seq(0, 1, 0.25), kernel_se(0.3), 0.1, policy_ucb(2))
    b$add(arm = arm, reward = c(0.2, 0.3, 0.1))
    check <- check_model(b)
    expect_identical(is.na(check$constant_score), TRUE)
    expect_output(print(check), "log score -?[.0-9]+: nothing against the model")
    expect_output(print(summary(b)), "nothing against")
  }
})

test_that("outliers are those rewards that refits without them, one by one, would leave out", {
  set.seed(11)
  n <- 60
  # Some points are measured twice or three times, each measurement with separate noise.
  x <- runif(50)[c(1:50, 3, 17, 17, 20:26)]
  gram <- exp(-outer(x, x, "-")^2 / 0.08)
  noise <- runif(n, 0.005, 0.02)
  y <- drop(t(chol(gram + 1e-8 * diag(n))) %*% rnorm(n)) + rnorm(n, sd = sqrt(noise))
  far <- c(5, 17, 18, 40)
  y[far] <- y[far] + c(3, -2, 1.5, 4)
  left <- seq_len(n)
  repeat {
    inverse <- solve(gram[left, left] + diag(noise[left]))
    z <- drop(inverse %*% y[left]) / sqrt(diag(inverse))
    if (max(abs(z)) < 3.3) break
    left <- left[-which.max(abs(z))]
  }
  data <- list(y = y, x = matrix(x), noise = noise, gram = function() gram, gram_at = function(rows) gram[rows, rows])
  found <- gpbandits:::outlying(data)
  expect_identical(found, setdiff(seq_len(n), left))
  expect_identical(gpbandits:::outlying(c(data, dense = TRUE)), found)
  precision <- solve(gram + diag(noise))
  known <- gpbandits:::precision_of_rewards(data)
  expect_equal(vapply(seq_len(n), known$column, y), precision, tolerance = 1e-8)
  expect_equal(known$own, diag(precision), tolerance = 1e-8)
  expect_equal(known$weighted, drop(precision %*% y), tolerance = 1e-8)
  expect_true(all(far %in% found))
})

test_that("log scores use the rewards that were left out, and the constant model is fitted to the others", {
  set.seed(12)
  n <- 9
  value <- rnorm(n, 3)
  left <- list(value = value, mean = rnorm(n), variance = runif(n), noise = rep(0.2, n), first = seq_len(n))
  data <- list(prior = rep(0.5, n), slope = rep(2, n))
  constant <- vapply(seq_len(n), function(i) dnorm(value[i], mean(value[-i]), sd(value[-i]), log = TRUE), 0)
  core <- dnorm(value, left$mean, sqrt(left$variance + 0.2), log = TRUE)
  expect_equal(gpbandits:::log_scores(data, left), list(log_score = mean(core) + log(2), constant_score = mean(constant) + log(2)))
  # Of many rewards the ones whose point is known to the last digit without them are not left out.
  left$mean[c(2, 7)] <- left$variance[c(2, 7)] <- NA
  expect_equal(gpbandits:::log_scores(data, left),
               list(log_score = mean(core[-c(2, 7)]) + log(2), constant_score = mean(constant[-c(2, 7)]) + log(2)))
  expect_identical(gpbandits:::short_number(NA_real_), "NA")
})

test_that("of many points about 1,000 are left out, by the formulas of all rewards, and the line says so", {
  skip_on_cran()
  set.seed(8)
  n <- 1100
  x <- runif(n)
  y <- sin(6 * x) + rnorm(n, sd = 0.3)
  b <- gp_bandit(list(a = c(0, 1)), kernel_se(0.3), noise_var = 0.09, policy = policy_ei())
  b$add(data.frame(a = x), reward = y)
  check <- check_model(b)
  expect_equal(check$total, n)
  expect_lt(abs(check$rewards - 1000), 2)
  expect_equal(check$rewards, nrow(check$data))
  expect_match(utils::capture.output(print(check))[1], sprintf("check: %d of %d results", check$rewards, n))
  all <- check_model(gp_regression(x, y, kernel_se(0.3), 0.09))
  expect_equal(check$data$z, all$data$z[check$data$id], tolerance = 1e-2)
  expect_equal(check$tests$statistic[1:2], all$tests$statistic[1:2], tolerance = 1e-6)
})

test_that("the noise test rejects a correct model as often as its level says", {
  # Leave-one-out residuals of neighbours depend on each other if there is little noise.
  trials <- by_level(200, 200, quick = 40)
  p <- vapply(seq_len(trials), function(seed) {
    set.seed(seed)
    x <- runif(30)
    y <- drop(crossprod(chol(ref_kernel_se(0.2)(x) + diag(1e-4, 30)), rnorm(30)))
    check_model(gp_regression(x, y, kernel_se(0.2), 1e-4))$tests$p[3]
  }, 0)
  expect_lt(mean(p < 0.05), 0.05 + 3 * sqrt(0.05 * 0.95 / trials))
  expect_gt(mean(p < 0.5), 0.5 - 3 * sqrt(0.25 / trials))
})

test_that("the noise test finds noise that grows with the mean", {
  set.seed(66)
  x <- runif(80)
  y <- sin(6 * x) + rnorm(80, sd = ifelse(sin(6 * x) > 0, 0.5, 0.1))
  expect_lt(check_model(gp_regression(x, y, kernel_se(0.2), 0.13))$tests$p[3], 0.01)
  expect_lt(check_model(gp_fit(x, y, kernel_se(0.2)))$tests$p[3], 0.01)
})
