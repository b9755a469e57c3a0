# Each policy's choice at each round is the reference's.

policy_pairs <- function() {
  list(
    ucb = list(policy_ucb(width_srinivas_finite()), ref_policy("ucb", ref_width_srinivas_finite())),
    ei = list(policy_ei(), ref_policy("ei")),
    ei_xi = list(policy_ei(0.1), ref_policy("ei", xi = 0.1)),
    pi = list(policy_pi(), ref_policy("pi")),
    pi_xi = list(policy_pi(0.1), ref_policy("pi", xi = 0.1)),
    mean = list(policy_mean(), ref_policy("mean")),
    variance = list(policy_variance(), ref_policy("variance"))
  )
}

for (name in names(policy_pairs())) {
  test_that(paste("choices of", name, "are the oracle's"), {
    set.seed(201)
    pair <- policy_pairs()[[name]]
    line <- sort(runif(20))
    plane <- ref_random_inputs(30, 2)
    twins <- rep(line[1:6], 2)
    problems <- list(list(line, kernel_se(0.2), ref_kernel_se(0.2)(line)),
                     list(plane, kernel_matern(2.5, 0.4, 2), ref_kernel_matern(2.5, 0.4, 2)(plane)),
                     list(twins, kernel_matern(0.5, 0.4), ref_kernel_matern(0.5, 0.4)(twins)))
    for (p in problems) {
      b <- gp_bandit(p[[1]], p[[2]], 0.05, pair[[1]], mean = 0.2)
      ref <- ref_bandit(p[[3]], 0.05, pair[[2]], mean = 0.2)
      run <- play_with_reference(b, ref, 40, compare_rewards(p[[3]], 0.2, 0.2, 40), each_round = FALSE)
      expect_history(b, run$ref, widths = name == "ucb")
    }
  })

  test_that(paste("choices of", name, "with contexts and delays are the oracle's"), {
    set.seed(202)
    pair <- policy_pairs()[[name]]
    x <- ref_random_inputs(8, 1)
    z <- ref_random_inputs(3, 2)
    all <- cbind(x[rep(1:8, 3), ], z[rep(1:3, each = 8), ])
    K <- ref_kernel_matern(2.5, c(0.2, 0.8, 0.9))(all)
    b <- gp_bandit(x, kernel_matern(2.5, c(0.2, 0.8, 0.9)), 0.05, pair[[1]], contexts = z,
                   pending = pending_hallucinate())
    ref <- ref_bandit(K, 0.05, pair[[2]], n_arms = 8, pending = ref_pending("hallucinate"))
    run <- play_with_reference(b, ref, 30, compare_rewards(K, 0, 0.2, 30), delay = rpois(30, 2), contexts = z,
                       visits = sample(3, 30, TRUE))
    expect_lt(run$worst$mean, tol$engine)
    expect_history(b, run$ref, widths = name == "ucb")
  })
}

test_that("the incumbent of EI and PI includes pending queries", {
  K <- ref_kernel_se(0.2)(1:6 / 6)
  for (name in c("ei", "pi")) {
    pair <- policy_pairs()[[name]]
    b <- gp_bandit(1:6 / 6, kernel_se(0.2), 0.05, pair[[1]], mean = seq(1, 0, length.out = 6))
    ref <- ref_bandit(K, 0.05, pair[[2]], mean = seq(1, 0, length.out = 6))
    run <- play_with_reference(b, ref, 12, function(t, point) -2 + point, delay = rep(3, 12))
    expect_history(b, run$ref, widths = FALSE)
  }
})

test_that("values within 1e-9 prior sds of the best are tied, and the first arm is selected", {
  first_arm <- function(policy, mean, variance = rep(1, 3), noise = 0.1) {
    b <- gp_bandit(1:3, kernel_matrix(diag(variance)), noise, policy, mean = mean)
    b$suggest()$arm
  }
  near <- c(0, -1, 5e-10)
  far <- c(0, -1, 2e-9)
  for (policy in list(policy_mean(), policy_ucb(width_constant(1)), policy_pi(0.5))) {
    expect_equal(first_arm(policy, near), 1)
    expect_equal(first_arm(policy, far), 3)
  }
  # Prior sds of 100: values that differed are now tied.
  for (policy in list(policy_mean(), policy_ucb(width_constant(1)))) {
    expect_equal(first_arm(policy, 40 * far, rep(1e4, 3)), 1)
    expect_equal(first_arm(policy, 400 * far, rep(1e4, 3)), 3)
  }
  expect_equal(first_arm(policy_variance(), 0, (1 + near)^2 + c(0, 0.9, 0)), 1)
  expect_equal(first_arm(policy_variance(), 0, (1 + far)^2 + c(0, 0.9, 0)), 3)
  # EI at gap 0 is sd phi(0) + gap / 2: relative to its own size.
  expect_equal(first_arm(policy_ei(), c(0, -1, 0), c(1, 1, (1 + 5e-10)^2)), 1)
  expect_equal(first_arm(policy_ei(), c(0, -1, 0), c(1, 1, (1 + 5e-9)^2)), 3)
})

test_that("EI still orders the arms where its values underflow", {
  for (xi in c(10, 60)) {
    K <- ref_kernel_matern(2.5, 0.3)(1:8 / 8)
    b <- gp_bandit(1:8 / 8, kernel_matern(2.5, 0.3), 0.01, policy_ei(xi))
    ref <- ref_bandit(K, 0.01, ref_policy("ei", xi = xi))
    run <- play_with_reference(b, ref, 20, function(t, point) sin(point), each_round = FALSE)
    expect_history(b, run$ref, widths = FALSE)
  }
})

test_that("draws of Thompson sampling come from the joint posterior", {
  x <- c(0, 0.12, 0.3, 0.33, 0.8)
  K <- ref_kernel_se(0.3)(x)
  data <- list(rows = c(1, 3, 5, 3), y = c(0.2, 0.5, -0.3, 0.7))
  p <- ref_posterior_at(K, data$rows, data$y, 0.1)
  set.seed(203)
  draws <- ref_draw_normal(2e5, p$mean, 1.5^2 * p$cov)
  joint <- tabulate(max.col(draws, "first"), 5) / 2e5
  apart <- tabulate(max.col(ref_draw_normal(2e5, p$mean, 1.5^2 * diag(p$sd^2)), "first"), 5) / 2e5
  b <- gp_bandit(x, kernel_se(0.3), 0.1, policy_ts(width_constant(1.5)))
  b$add(arm = data$rows, reward = data$y)
  set.seed(204)
  # Pending queries are ignored: a batch is a sample of choices from one posterior.
  seen <- tabulate(b$suggest(n = 4000)$arm, 5)
  expect_gt(stats::chisq.test(seen, p = joint)$p.value, tol$p_value)
  # Independent marginals would be detected.
  expect_lt(stats::chisq.test(seen, p = apart)$p.value, tol$p_value)
})

test_that("joint draws have the posterior's mean and covariance, for all parts", {
  for (seed in seq_len(by_level(3, 20))) {
    set.seed(210 + seed)
    n <- sample(3:8, 1)
    K <- ref_random_covariance(n, sample(n, 1))
    m <- rnorm(n)
    y <- rnorm(3)
    b <- gp_bandit(seq_len(n), kernel_matrix(K), 0.2, policy_ts(width_constant(2)), mean = m,
                   pending = pending_hallucinate())
    rows <- c(sample(n, 3, TRUE), b$suggest(n = 2)$arm)
    b$add(arm = rows[1:3], reward = y)
    mean <- ref_posterior_at(K, rows[1:3], y, 0.2, m)$mean
    cov <- ref_posterior_at(K, rows, numeric(5), 0.2)$cov
    draws <- b$draw(4000)
    expect_equal(dim(draws), c(n, 4000))
    sd <- sqrt(pmax(diag(cov), 0))
    z <- (rowMeans(draws) - mean) / (sd / sqrt(4000))
    expect_lt(max(abs(z[sd > 1e-6])), 4.5)
    # The sampling sd of a covariance is sqrt((c_ij^2 + c_ii c_jj) / n).
    z <- (stats::cov(t(draws)) - cov) / sqrt((cov^2 + outer(sd^2, sd^2)) / 4000)
    expect_lt(max(abs(z[sd > 1e-6, sd > 1e-6])), 4.5)
  }
})

test_that("uniform sampling is uniform", {
  b <- gp_bandit(1:7, kernel_se(1), 0.1, policy_uniform())
  set.seed(205)
  arms <- b$suggest(n = 3500)$arm
  expect_gt(stats::chisq.test(tabulate(arms, 7))$p.value, tol$p_value)
})

test_that("the reference for max-value entropy search equals the worked example", {
  mean <- c(.200848, .730445, .988453, .401110, -.294182)
  sd <- c(.099469, .443594, .099435, .443594, .099469)
  quartiles <- vapply(c(0.25, 0.5, 0.75), ref_max_quantile, 0, mean = mean, sd = sd)
  expect_equal(quartiles, c(.962786, 1.043593, 1.150731), tolerance = 1e-5)
  expect_equal(ref_max_entropy(mean, sd, c(1.2, 1.6)), c(0, .190790, .030863, .063799, 0), tolerance = 1e-4)
})

test_that("max-value entropy search selects the reference's arms, also with delays", {
  set.seed(206)
  x <- sort(runif(15))
  K <- ref_kernel_se(0.2)(x)
  f <- as.vector(ref_draw_normal(1, rep(0, 15), K))
  b <- gp_bandit(x, kernel_se(0.2), 0.05, policy_mes(7), pending = pending_hallucinate())
  rows <- integer()
  y <- numeric()
  for (t in 1:25) {
    known <- seq_along(rows) <= t - 3
    mean <- ref_posterior_at(K, rows[known], y[known], 0.05)$mean
    sd <- ref_posterior_at(K, rows, numeric(length(rows)), 0.05)$sd
    set.seed(t)
    maxima <- ref_gumbel_maxima(mean, sd, runif(7), if (t > 1) max(mean[rows]) else 0)
    score <- ref_max_entropy(mean, sd, maxima)
    set.seed(t)
    arm <- b$suggest()$arm
    expect_equal(arm, which(score >= max(score) - 1e-9)[1])
    rows[t] <- arm
    y[t] <- f[arm] + rnorm(1, sd = 0.2)
    if (t > 2) b$observe(t - 2, y[t - 2])
  }
})

test_that("on a box with one input the entropy of the choice is the largest on a fine grid", {
  set.seed(207)
  x <- matrix(c(0.1, 0.35, 0.6, 0.95))
  y <- sin(5 * x[, 1])
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_mes(5))
  b$add(x = x, reward = y)
  # The box's candidates: the golden sequence and the corners.
  candidates <- c((0.5 + (sqrt(5) - 1) / 2 * seq_len(512)) %% 1, 0, 1)
  p <- b$posterior(x = cbind(x1 = candidates))
  played <- max(b$posterior(x = x)$mean)
  grid <- seq(0, 1, length.out = 2001)
  on_grid <- b$posterior(x = cbind(x1 = grid))
  for (seed in 1:5) {
    set.seed(seed)
    maxima <- ref_gumbel_maxima(p$mean, p$sd, runif(5), played)
    set.seed(seed)
    choice <- b$copy()$suggest()$x1
    at <- b$posterior(x = cbind(x1 = choice))
    expect_gt(ref_max_entropy(at$mean, at$sd, maxima), max(ref_max_entropy(on_grid$mean, on_grid$sd, maxima)) - 1e-6)
  }
})

test_that("a custom policy selects the maximum of its function, the first of ties", {
  set.seed(208)
  x <- sort(runif(20))
  K <- ref_kernel_se(0.2)(x)
  own <- policy_function(function(mean, sd, round) mean + sqrt(2 * log(20 * round^2 * pi^2 / 0.6)) * sd, "mine")
  expect_output(print(own), "mine")
  b <- gp_bandit(x, kernel_se(0.2), 0.05, own)
  ref <- ref_bandit(K, 0.05, ref_policy("ucb", ref_width_srinivas_finite()))
  run <- play_with_reference(b, ref, 30, compare_rewards(K, 0, 0.2, 30), each_round = FALSE)
  expect_history(b, run$ref, widths = FALSE)
  flat <- gp_bandit(x, kernel_se(0.2), 0.05, policy_function(function(mean, sd, round) 0 * mean))
  expect_equal(flat$suggest(3)$arm, c(1, 1, 1))
  last <- gp_bandit(x, kernel_se(0.2), 0.05, policy_function(function(mean, sd, round) seq_along(mean)))
  expect_equal(last$suggest()$arm, 20)
})

test_that("a custom policy survives saving, and equals the built-in one on a box", {
  factor <- 1.7
  make <- function(policy) gp_bandit(box_domain(c(0, 0), c(1, 2)), kernel_matern(2.5, 0.5), 0.01, policy)
  b <- make(policy_function(function(mean, sd, round) mean + factor * sd))
  twin <- make(policy_ucb(width_constant(1.7)))
  f <- function(q) sin(5 * q$x1) + cos(2 * q$x2)
  for (t in 1:8) {
    again <- unserialize(serialize(b, NULL))
    q <- b$suggest()
    expect_identical(again$suggest(), q)
    expect_equal(q, twin$suggest(), tolerance = 1e-4)
    b$observe(q$id, f(q))
    # The same points, so that the runs stay equal.
    twin <- make(policy_ucb(width_constant(1.7)))
    twin$add(x = as.matrix(b$history()[c("x1", "x2")]), reward = b$history()$reward)
  }
})

test_that("functions with invalid acquisition values are errors that change nothing", {
  b <- function(f) gp_bandit(1:5, kernel_se(1), 0.1, policy_function(f))
  for (f in list(function(mean, sd, round) 1, function(mean, sd, round) mean * NaN,
                 function(mean, sd, round) stop("no"), function(mean, sd, round) "a")) {
    bandit <- b(f)
    expect_error(bandit$suggest(), class = "gpbandits_error")
    expect_equal(nrow(bandit$history()), 0)
  }
  expect_error(policy_function(1), class = "gpbandits_error")
  expect_error(policy_function(identity, name = 2), class = "gpbandits_error")
  expect_error(policy_mes(0), class = "gpbandits_error")
})

test_that("a restored bandit makes the choices of the original, to the bit", {
  skip_on_cran()
  own <- function(mean, sd, round) mean + 2 * sd
  policies <- list(ucb = policy_ucb(width_constant(1.7)), ts = policy_ts(width_constant(1)), ei = policy_ei(),
                   nei = policy_ei(incumbent = "draws"), mes = policy_mes(), pims = policy_pims(), kg = policy_kg(), own = policy_function(own))
  matern <- kernel_matern(2.5, 0.5)
  domains <- list(box = list(box_domain(c(0, 0), c(1, 2)), matern),
                  space = list(search_space(r = param_factor(c("a", "b")), x1 = param_real(0, 1)),
                               kernel_matern(2.5, 0.5, dims = "x1") * kernel_categorical(0.5, dims = "r")),
                  product = list(product_domain(cbind(r = c(0, 0.7)), list(x1 = c(0, 1))), matern))
  for (domain in domains) for (name in names(policies)) {
    lived <- gp_bandit(domain[[1]], domain[[2]], 0.01, policies[[name]], pending = pending_hallucinate())
    for (t in seq_len(by_level(5, 8, quick = 2))) {
      made_again <- unserialize(serialize(lived, NULL))
      set.seed(t)
      query <- lived$suggest()
      set.seed(t)
      expect_identical(made_again$suggest(), query, info = paste(name, describe_domain(domain[[1]])))
      if (t %% 3 > 0) lived$observe(query$id, sin(5 * t))
    }
  }
})

test_that("so does one with local penalisation", {
  bandit <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.4), 0.02, policy_pims(), mean = 0.1, engine = "lowrank",
                      pending = pending_penalize())
  for (t in 1:12) {
    made_again <- unserialize(serialize(bandit, NULL))
    set.seed(t)
    query <- bandit$suggest()
    set.seed(t)
    expect_identical(made_again$suggest(), query)
    if (t %% 4 > 0) bandit$observe(query$id, sin(7 * query$x1) + rnorm(1, sd = 0.1))
  }
})
