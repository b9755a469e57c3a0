ishigami <- function(x) sin(x[, 1]) + 7 * sin(x[, 2])^2 + 0.1 * x[, 3]^4 * sin(x[, 1])

test_that("Sobol indices of Ishigami's function equal the known ones", {
  # Its moments in closed form (Ishigami and Homma 1990), a = 7, b = 0.1.
  v1 <- 0.5 * (1 + 0.1 * pi^4 / 5)^2
  v2 <- 7^2 / 8
  v13 <- 0.1^2 * pi^8 * (1 / 18 - 1 / 50)
  v <- v1 + v2 + v13
  found <- sobol_indices(function(u) ishigami(pi * (2 * u - 1)), 3, 4096)
  expect_lt(max(abs(found$first - c(v1, v2, 0) / v)), 0.01)
  expect_lt(max(abs(found$total - c(v1 + v13, v2, v13) / v)), 0.02)
})

test_that("importance is that of the posterior mean, on the inputs' scales and in the inputs' order", {
  domain <- box_domain(c(a = 1e-4, b = 1, c = 0), c(a = 1, b = 5, c = 1), integer = "b", log = "a")
  f <- function(a, b, c) log10(a) + 0.5 * b + 0 * c
  bandit <- gp_bandit(domain, kernel_se(c(9, 6, 2), variance = 20), 1e-6, policy_ei(), mean = 0)
  grid <- expand.grid(a = 10^seq(-4, 0, length.out = 7), b = 1:5, c = c(0, 0.5, 1))
  bandit$add(x = grid, reward = f(grid$a, grid$b, grid$c))
  found <- input_importance(bandit)
  # Uniform over 4 decades: variance 16 / 12; integers 1 to 5: 2, times 0.25.
  shares <- c(16 / 12, 0.5, 0) / (16 / 12 + 0.5)
  expect_equal(found$input, c("a", "b", "c"))
  expect_lt(max(abs(found$first - shares)), 0.02)
  expect_lt(max(abs(found$total - shares)), 0.02)
  expect_match(attr(found, "method"), "Sobol.*Jansen")
  set.seed(3)
  seed <- .Random.seed
  expect_identical(input_importance(bandit), found)
  expect_identical(.Random.seed, seed)
})

test_that("arms count as often as their values occur; a constant mean and a matrix have no indices", {
  arms <- cbind(u = c(0, 0, 0, 1), v = c(1, 2, 3, 4))
  expect_equal(input_quantiles(finite_domain(arms), 1, c(0, 0.7, 0.76, 1)), c(0, 0, 1, 1))
  bandit <- gp_bandit(arms, kernel_se(2), 0.01, policy_ei())
  constant <- input_importance(bandit, draws = 0)
  expect_identical(constant$total, c(0, 0))
  expect_output(print(constant), "mean is constant")
  product <- product_domain(data.frame(k = 1:3), box_domain(c(z = 0), c(z = 2)))
  expect_equal(input_quantiles(product, 2, 0.25), 0.5)
  expect_error(input_importance(gp_bandit(1:3, kernel_matrix(diag(3)), 0.1, policy_ei())), class = "gpbandits_error")
  expect_error(input_importance(bandit, points = 3), class = "gpbandits_error")
  expect_error(input_importance(list()), class = "gpbandits_error")
})

# One input that matters, in noise: few and many rewards, averaged over models.
searched_in_noise <- function(evaluations, f, d = 3, ...) {
  inputs <- stats::setNames(rep(list(c(0, 1)), d), letters[seq_len(d)])
  minimize_bandit(f, inputs, evaluations, ...)
}

test_that("for pure noise the indices are uninformative, whatever those of the mean are", {
  set.seed(2)
  found <- searched_in_noise(20, function(p) rnorm(1, 0.25, 0.02), n_initial = 10)
  importance <- input_importance(found)
  # What was reported alone, of an input that does nothing.
  expect_gt(max(importance$total), 0.9)
  expect_lt(attr(importance, "explained"), 0.3)
  expect_lt(min(importance$upper - importance$lower), 1)
  expect_gt(max(importance$upper - importance$lower), 0.5)
  expect_output(print(importance), "are not informative yet")
  # All others are as likely to be the one that matters.
  expect_true(all(importance$upper > 0.5))
})

test_that("if the function is well known the interval is about its index, and no more is drawn than requested", {
  set.seed(3)
  b <- gp_bandit(box_domain(c(a = 0, b = 0), c(1, 1)), kernel_se(c(0.8, 0.8), 4), 1e-6, policy_ei())
  x <- as.matrix(expand.grid(a = 0:6 / 6, b = 0:6 / 6))
  b$add(x = x, reward = 2 * (x[, 1] - 0.5)^2 + 0.3 * x[, 2])
  variance <- c(a = 4 * (1 / 80 - 1 / 144), b = 0.09 / 12)
  importance <- input_importance(b)
  truth <- unname(variance / sum(variance))
  expect_equal(importance$total, truth, tolerance = 0.03)
  expect_true(all(abs(importance$lower - truth) < 0.06 & abs(importance$upper - truth) < 0.06))
  expect_equal(attr(importance, "explained"), 1, tolerance = 0.01)
  none <- input_importance(b, draws = 0)
  expect_true(all(is.na(none$lower)) && is.na(attr(none, "explained")))
  expect_identical(none$total, importance$total)
  expect_output(print(importance), "upper")
  for (bad in list(-1, 2.5, NA, "many")) expect_error(input_importance(b, draws = bad), class = "gpbandits_error")
})

test_that("functions are drawn from the average over models, in units of the reward", {
  set.seed(4)
  found <- searched_in_noise(14, function(p) 100 + 10 * (p[["a"]] - 0.4)^2 + rnorm(1))
  frame <- expand.grid(a = c(0.1, 0.8), b = c(0.2, 0.9), c = 0.5)
  drawn <- gpbandits:::drawn_functions(found$bandit, frame, NULL, 1, 2000)
  model_state <- predict(found, frame)
  expect_lt(max(abs(rowMeans(drawn) - model_state$mean) / (model_state$sd / sqrt(2000))), 4.5)
  # (Draws of a mixture: heavier tails than a normal distribution's.)
  expect_lt(max(abs(apply(drawn, 1, sd) / model_state$sd - 1)), 0.15)
})

test_that("over a full grid of arms draws are those of the arms; other arms have none", {
  grid <- expand.grid(a = c(1, 2, 5), b = c(0, 1))
  b <- gp_bandit(as.matrix(grid), kernel_se(c(2, 2)), 0.01, policy_ei())
  b$add(arm = 1:6, reward = grid$a)
  importance <- input_importance(b)
  expect_true(all(importance$lower[1] > 0.7, importance$upper[2] < 0.3))
  odd <- gp_bandit(cbind(u = c(0, 0, 0, 1), v = c(1, 2, 3, 4)), kernel_se(2), 0.01, policy_ei())
  odd$add(arm = 1:4, reward = 1:4)
  expect_true(all(is.na(input_importance(odd)$upper)))
})

test_that("the dependence on an input is the average over the others, with the sd of that average", {
  set.seed(5)
  found <- searched_in_noise(14, function(p) 100 + 10 * (p[["a"]] - 0.4)^2 + rnorm(1), 2, n_initial = 7,
                             model = gp_model(transform = "none", refit = refit_every(2, mean = "fit", average = 10)))
  local_device()
  view <- plot(found, "dependence", width = 1.5, resolution = 5)$dependence
  expect_equal(unique(view$input), c("a", "b"))
  expect_equal(view$upper - view$mean, 1.5 * view$sd)
  at <- view[view$input == "a" & view$value == 0.75, ]
  others <- gpbandits:::golden_points(64, 2)[, 2]
  config <- config_now(found$bandit)
  x <- cbind(a = 0.75, b = others)
  seen <- as.matrix(found$history[c("a", "b")])
  # Each model by gp_regression() in its own units; the map to rewards is a line.
  map <- gpbandits:::output_map(config)
  y <- map_outputs(map, found$history$reward)
  parts <- sapply(gpbandits:::configs_of_models(config), function(one) {
    p <- predict(gp_regression(seen, y, one$kernel, one$noise_var, one$mean), x, cov = TRUE)
    c(mean(p$mean), mean(p$cov))
  })
  weight <- gpbandits:::model_weights(config)
  mean <- sum(weight * parts[1, ])
  sd <- sqrt(sum(weight * (parts[2, ] + (parts[1, ] - mean)^2)))
  unit <- abs(unmap_outputs(map, 1) - unmap_outputs(map, 0))
  expect_equal(at$mean, unmap_outputs(map, mean), tolerance = 1e-6)
  expect_equal(at$sd, unit * sd, tolerance = 1e-5)
  # Less than of a single point: what single points are unsure of cancels.
  expect_lt(at$sd, mean(predict(found, data.frame(a = 0.75, b = others))$sd))
  expect_error(plot(found, "dependence", inputs = "z"), class = "gpbandits_error")
})

test_that("first is at most total, and the standard error is that of the estimates", {
  set.seed(4)
  z <- vapply(c(2, 4, 6), function(d) {
    # A product of factors with variance 1 / 3 about 1.
    found <- sobol_indices(function(u) apply(u, 1, function(x) prod(2 * x)), d, 2048)
    expect_true(all(found$first <= found$total))
    exact <- (1 / 3) * (4 / 3)^(d - 1) / ((4 / 3)^d - 1)
    centre <- matrix(runif(20 * d), 20)
    weight <- rnorm(20)
    rough <- sobol_indices(function(u) {
      exp(-as.matrix(stats::dist(rbind(u, centre)))[seq_len(nrow(u)), nrow(u) + 1:20]^2) %*% weight
    }, d, 32)
    expect_true(all(rough$first <= rough$total) && all(rough$se > 0))
    max(abs(found$total - exact) / found$se)
  }, 0)
  expect_lt(max(z), 5)
  # The index of the only input is 1, whatever the error of the variance.
  alone <- sobol_indices(function(u) u[, 1]^8, 4, 256)
  expect_lt(alone$se[1], 0.1)
  expect_lt(abs(alone$total[1] - 1), 2 * alone$se[1])
  # Sobol's g-function. (An error of the shifts, which are the same in all calls, is that of all functions together.)
  outside <- vapply(seq_len(by_level(30, 30, quick = 5)), function(k) {
    a <- 3 * rexp(5)
    found <- sobol_indices(function(u) apply((abs(4 * t(u) - 2) + a) / (1 + a), 2, prod), 5, 2048)
    v <- 1 / 3 / (1 + a)^2
    exact <- v * prod(1 + v) / (1 + v) / (prod(1 + v) - 1)
    mean(abs(found$total - exact) > qt(0.95, 7) * found$se)
  }, 0)
  expect_lt(mean(outside), 0.2)
})

test_that("the interval of a known mean includes the estimator's own error, and equal rewards give zeros", {
  b <- gp_bandit(list(x = c(0, 1), y = c(0, 1)), kernel_se(0.3), 1e-6, policy_ei())
  grid <- expand.grid(x = seq(0, 1, 0.125), y = seq(0, 1, 0.125))
  b$add(x = grid, reward = sin(3 * grid$x) * (1 + grid$y))
  few <- input_importance(b, points = 64)
  many <- input_importance(b, points = 20000, draws = 0)
  expect_true(all(few$upper > few$lower))
  expect_true(all(abs(few$total - many$total) < 3 * (few$upper - few$lower)))
  equal <- auto_bandit(list(x = c(0, 1), z = c(0, 1)), data.frame(x = 1:8 / 9, z = 8:1 / 9, reward = 5))
  found <- input_importance(equal)
  expect_false(any(is.nan(unlist(found[-1]))))
  expect_identical(found$total, c(0, 0))
  expect_output(print(found), "no input matters so far")
  expect_false(grepl("Inf|NaN", paste(utils::capture.output(print(check_model(equal))), collapse = "")))
  local_device()
  for (shown in list(found, few)) expect_identical(plot(shown), shown)
})
