# Maps of outputs against formulas written down again here; nothing of the package's own arithmetic is used to check it.

# Yeo and Johnson (2000), equation 2.1.
ref_power <- function(z, lambda) {
  vapply(z, function(v) {
    if (v >= 0) if (lambda == 0) log(v + 1) else ((v + 1)^lambda - 1) / lambda
    else if (lambda == 2) -log(1 - v) else -((1 - v)^(2 - lambda) - 1) / (2 - lambda)
  }, 0)
}

ref_map <- function(map, y) {
  r <- ref_power((y - map$centre) / map$scale, map$lambda) / map$bulk
  far <- r < -map$tail
  r[far] <- -map$tail - 2 + 2 * exp((r[far] + map$tail) / 2)
  (r - map$shift) / map$spread
}

# The way back, by hand.
ref_back <- function(map, v) {
  r <- map$shift + map$spread * v
  far <- r < -map$tail
  r[far] <- -map$tail + 2 * log(pmax((r[far] + map$tail + 2) / 2, 0))
  z <- vapply(r * map$bulk, function(u) {
    if (u >= 0) if (map$lambda == 0) exp(u) - 1 else (1 + map$lambda * u)^(1 / map$lambda) - 1
    else if (map$lambda == 2) 1 - exp(-u) else 1 - (1 - (2 - map$lambda) * u)^(1 / (2 - map$lambda))
  }, 0)
  y <- map$centre + map$scale * z
  if (is.nan(map$worst)) y else if (map$scale > 0) pmax(y, map$worst) else pmin(y, map$worst)
}

maps <- list(
  plain = new_outcome_transform(0, 1),
  tailed = new_outcome_transform(3, -2, tail = 4, shift = 0.4, spread = 1.7, worst = 90),
  powered = new_outcome_transform(-1, 0.5, lambda = 1.6, bulk = 0.7, shift = -0.3, spread = 2.2),
  zero = new_outcome_transform(0, 3, lambda = 0, tail = 3, shift = 0.1, spread = 0.6, worst = -80),
  two = new_outcome_transform(10, -4, lambda = 2, bulk = 1.3, shift = 0.1, spread = 0.6)
)

test_that("output transforms equal their formulas, increase with the sign of scale, and are inverted", {
  set.seed(1)
  y <- c(rnorm(40, sd = 5), -80, 90, 0)
  for (map in maps) {
    v <- transform_outputs(map, y)
    expect_equal(v, ref_map(map, y), tolerance = tol$identity)
    expect_equal(unmap_outputs(map, v), y, tolerance = 1e-6)
    expect_equal(unmap_outputs(map, v / 3), ref_back(map, v / 3), tolerance = tol$identity)
    expect_equal(order(v), order(sign(map$scale) * y))
  }
  expect_equal(unmap_outputs(maps$tailed, -1000), 90)
  expect_identical(transform_outputs(maps$plain, y), y)
  for (bad in list(list(scale = 0), list(lambda = 3), list(spread = -1), list(centre = NaN), list(bulk = 0))) {
    expect_error(transform_outputs(utils::modifyList(maps$plain, bad), y))
  }
})

# Power, bulk, shift and spread by R's own functions: of all rewards, and of the rows that determine the scale.
ref_shape <- function(map, reward, rows, transform) {
  likelihood <- function(lambda) {
    w <- ref_power(z, lambda)
    value <- -length(z) / 2 * log(mean((w - mean(w))^2)) + (lambda - 1) * sum(sign(z) * log1p(abs(z)))
    if (is.finite(value)) value else -.Machine$double.xmax
  }
  spread <- function(x) {
    deviation <- abs(x - stats::median(x))
    if (length(rows) < length(reward)) stats::quantile(deviation, 0.8, names = FALSE) / stats::qnorm(0.9)
    else 1.4826 * stats::median(deviation)
  }
  z <- (reward - map$centre) / map$scale
  if (transform != "none" && length(z) >= 8) {
    found <- stats::optimize(likelihood, c(0, 2), maximum = TRUE)
    if (transform == "power" || found$objective > likelihood(1) + 2) map$lambda <- found$maximum
  }
  if (map$lambda != 1) map$bulk <- spread(ref_power(z[rows], map$lambda))
  v <- ref_map(map, reward[rows])
  c(lambda = map$lambda, bulk = map$bulk, shift = mean(v), spread = stats::sd(v))
}

test_that("the shape of a transform is that of R's optimize(), medians and quantiles", {
  set.seed(31)
  for (transform in c("none", "auto", "power")) for (n in c(5, 8, 25)) for (skewed in c(TRUE, FALSE)) {
    reward <- if (skewed) exp(rnorm(n)) - 3 else rnorm(n)
    apart <- if (n == 25) c(1:8, which.min(reward), which.max(reward))
    map <- fit_outcome_transform(scale_outputs("minimize", transform), reward, apart)
    rows <- rows_to_scale_by(reward, apart)
    plain <- replace(map, c("lambda", "bulk", "shift", "spread"), c(1, 1, 0, 1))
    expect_equal(unlist(map[c("lambda", "bulk", "shift", "spread")]), ref_shape(plain, reward, rows, transform),
                 tolerance = 1e-7, info = paste(transform, n, skewed))
  }
})

test_that("centre and scale are median and median absolute deviation, and an outlier does not compress the rest", {
  set.seed(2)
  y <- rnorm(31, 0.35, 0.01)
  outputs <- scale_outputs("minimize", "none")
  map <- fit_outcome_transform(outputs, y)
  expect_equal(map$centre, median(y))
  expect_equal(map$scale, -mad(y))
  z <- -(y - median(y)) / mad(y)
  expect_equal(transform_outputs(map, y), (z - mean(z)) / sd(z))
  expect_equal(map$worst, max(y) + 6 * mad(y))
  for (transform in c("none", "auto", "power")) {
    with <- fit_outcome_transform(scale_outputs("minimize", transform), c(y, 3))
    rest <- transform_outputs(with, y)
    expect_gt(sd(rest), 0.4)
    expect_equal(which.max(rest), which.min(y))
    expect_gt(diff(range(rest)), 1.5)      # by mean and sd: .1
  }
  huge <- transform_outputs(fit_outcome_transform(scale_outputs("minimize"), c(y, 1e6, 1e6)), y)
  expect_gt(diff(range(huge)), 1.5)
  expect_equal(fit_outcome_transform(outputs, c(7, 7, 7))$scale, -7)
  expect_equal(fit_outcome_transform(outputs, c(0, 0))$scale, -1)
  expect_equal(fit_outcome_transform(outputs, c(1, 1, 1, 1, 5))$scale, -0.8)
})

test_that("the first rewards have the scale that is possible, and results state no more", {
  two <- fit_outcome_transform(scale_outputs(), c(60, 62))
  expect_equal(two[c("centre", "scale", "shift", "spread", "tail", "lambda")],
               list(centre = 61, scale = 2 / (2 / sqrt(pi)), shift = 0, spread = 1, tail = Inf, lambda = 1))
  three <- fit_outcome_transform(scale_outputs("minimize", "power"), c(60, 62, 78))
  expect_equal(three$scale, -18 / (3 / sqrt(pi)))
  expect_equal(abs(three$scale), 10.63, tolerance = 1e-3)
  expect_equal(transform_outputs(three, c(60, 62, 78)), (c(60, 62, 78) - 200 / 3) / three$scale)
  # The mean range of normal variables in their sds is what divides.
  set.seed(5)
  ranges <- vapply(2:3, function(n) mean(replicate(2e4, diff(range(rnorm(n))))), 0)
  expect_equal(ranges, c(2, 3) / sqrt(pi), tolerance = 0.02)
  # As with more from four on, but without a power transform below eight.
  y <- c(60, 61, 62, 64, 78, 200, 90, 70)
  for (n in 4:8) {
    map <- fit_outcome_transform(scale_outputs("minimize", "power"), y[1:n])
    expect_equal(abs(map$scale), mad(y[1:n]))
    expect_equal(c(is.finite(map$tail), map$lambda != 1, is.finite(map$worst)), rep(n >= 8, 3))
    expect_equal(c(mean(transform_outputs(map, y[1:n])), sd(transform_outputs(map, y[1:n]))), c(0, 1))
  }
})

test_that("without rewards results are NA, with one there is no scale, and from the second on all exist", {
  make <- function() {
    set.seed(8)
    auto_bandit(list(temp = c(40, 100), acid = c(0, 5)), direction = "minimize")
  }
  b <- make()
  at <- data.frame(temp = 50, acid = 1)
  expect_true(all(is.na(b$posterior(at))))
  expect_equal(nrow(b$best()), 0)
  expect_named(b$best(), c("temp", "acid", "mean", "sd"))
  expect_error(b$certificate(), "needs an observed result", class = "gpbandits_error")
  expect_output(print(b), "no result is known yet")
  asked <- b$suggest(3)
  expect_output(print(b), "best       not known yet")
  expect_output(print(summary(b)), "not known yet")
  expect_identical(input_importance(b)$total, c(NA_real_, NA_real_))
  b$observe(asked$id[1], 1060)
  expect_equal(b$posterior(at), data.frame(mean = 1060, sd = NA_real_))
  expect_equal(b$best()$mean, 1060)
  for (rule in list(NULL, stop_prb(1), stop_gap(1, width_amm(1, 1)), stop_emsr(1, 2))) {
    found <- b$certificate(rule)
    expect_true(is.na(found$gap) && is.na(found$probability))
    expect_false(found$certified)
  }
  b$observe(asked$id[2:3], c(1062, 1078))
  # The design is not finished: nobody has asked the policy.
  map <- current_config(b)$output_map
  expect_equal(c(map$centre, map$scale), c(3200 / 3, -18 / (3 / sqrt(pi))))
  best <- b$best()
  expect_lt(abs(best$mean - 1060), 20)
  expect_gt(best$sd, 1)
  expect_gt(b$certificate(stop_gap(1, width_constant(2)))$gap, 1)
  expect_equal(b$posterior(asked[3, c("temp", "acid")])$mean, 1078, tolerance = 0.01)
  # One by one, all at once, and a first reward that was wrong: the same belief.
  slow <- make()
  slow$suggest(3)
  slow$observe(1, 9)
  slow$amend(1, 1060)
  expect_equal(slow$best()$mean, 1060)
  slow$observe(2, 1062)
  slow$observe(3, 1078)
  expect_equal(slow$posterior(at), b$posterior(at))
  for (other in list(b$copy(), unserialize(serialize(b, NULL)))) expect_equal(other$best(), best)
})

test_that("equal rewards have no scale, and the first different one gives it", {
  b <- gp_bandit(1:9, kernel_se(0.5), 0.01, policy_ei(), outputs = scale_outputs())
  b$add(arm = 1:6, reward = rep(4, 6))
  expect_true(is.na(b$best()$sd))
  expect_equal(unique(b$posterior()$mean), 4)
  expect_true(all(is.na(b$draw(2))))
  events <- table_size(as.environment(b)$events)
  b$add(arm = 7, reward = 4)
  expect_equal(table_size(as.environment(b)$events), events + 1)
  b$add(arm = 8, reward = 5)
  expect_gt(b$best()$sd, 0)
  expect_equal(b$best()$arm, 8)
})

test_that("a run leaves no first reward without its scale", {
  b <- gp_bandit(1:5, kernel_se(1), 0.01, policy_ei(), outputs = scale_outputs())
  set.seed(9)
  run_bandit(b, bandit_problem(1:5, 100 * (1:5)), 2)
  expect_equal(current_config(b)$output_map$count, 2)
})

test_that("a fixed transform is the same for all rewards, and keeps the theorems", {
  set.seed(10)
  given <- gp_bandit(1:9, kernel_se(2), 0.04, policy_ucb(width_amm(2, 0.2)),
                     outputs = scale_outputs("minimize", centre = 500, scale = 20))
  plain <- gp_bandit(1:9, kernel_se(2), 0.04, policy_ucb(width_amm(2, 0.2)))
  expect_equal(unique(given$posterior()), data.frame(mean = 500, sd = 20))
  expect_equal(given$certificate()$gap, 20 * plain$certificate()$gap)
  for (t in 1:12) {
    y <- rnorm(1)
    arm <- plain$suggest()$arm
    expect_equal(given$suggest()$arm, arm)
    plain$observe(t, y)
    given$observe(t, 500 - 20 * y)
  }
  expect_equal(given$posterior()$mean, 500 - 20 * plain$posterior()$mean)
  expect_equal(given$posterior()$sd, 20 * plain$posterior()$sd)
  expect_equal(given$certificate()[c("probability", "gap")],
               list(probability = 0.9, gap = 20 * plain$certificate()$gap))
  expect_match(given$certificate()$assumptions, "units of the scaled rewards", all = FALSE)
  expect_length(as.environment(given)$refits, 0)
  expect_output(print(given), "centre 500, scale 20 (given)", fixed = TRUE)
  expect_output(print(scale_outputs(centre = 1, scale = 2)), "centre 1, scale 2")
  # Hyperparameters may be fitted all the same.
  both <- gp_bandit(1:9, kernel_se(2), 0.04, policy_ei(), refit = refit_every(5),
                    outputs = scale_outputs(centre = 500, scale = 20))
  both$add(arm = 1:9, reward = 500 + 20 * sin(1:9))
  both$suggest()
  expect_equal(current_config(both)$output_map[c("centre", "scale")], list(centre = 500, scale = 20))
  for (bad in list(list(centre = 1), list(scale = 1), list(centre = 0, scale = 0), list(centre = NA, scale = 1),
                   list(transform = "power", centre = 0, scale = 1))) {
    expect_error(do.call(scale_outputs, bad), class = "gpbandits_error")
  }
})

test_that("a power transform is used if it increases the log likelihood by 2, and is the most likely one", {
  set.seed(3)
  skewed <- exp(rnorm(60))
  map <- fit_outcome_transform(scale_outputs(), skewed)
  z <- (skewed - median(skewed)) / mad(skewed)
  likelihood <- function(lambda) {
    w <- ref_power(z, lambda)
    sum(dnorm(w, mean(w), sqrt(mean((w - mean(w))^2)), log = TRUE)) + (lambda - 1) * sum(sign(z) * log(abs(z) + 1))
  }
  grid <- seq(0, 2, by = 0.01)
  best <- grid[which.max(vapply(grid, likelihood, 0))]
  expect_lt(abs(map$lambda - best), 0.02)
  expect_gt(likelihood(map$lambda), likelihood(1) + 2)
  normal <- rnorm(60)
  expect_equal(fit_outcome_transform(scale_outputs(), normal)$lambda, 1)
  expect_equal(fit_outcome_transform(scale_outputs(transform = "none"), skewed)$lambda, 1)
  expect_false(fit_outcome_transform(scale_outputs(transform = "power"), normal)$lambda == 1)
})

test_that("a refit uses the transform under which the model makes the rewards more likely", {
  # The same rewards of a search, most of them near the top: their distribution is skewed, whatever the function.
  set.seed(4)
  x <- c(runif(12), rbeta(28, 12, 12))
  bowl <- -8 * (x - 0.5)^2
  even <- bowl + rnorm(40, sd = 0.1)
  grown <- exp(4 * (bowl + rnorm(40, sd = 0.1)))
  log_evidence <- function(y, map) {
    v <- map_outputs(map, y)
    h <- 1e-6
    slope <- abs(map_outputs(map, y + h) - map_outputs(map, y - h)) / (2 * h)
    of <- function(p) {
      A <- exp(p[1]) * ref_kernel_matern(2.5, exp(p[2]))(x) + diag(exp(p[3]), length(x))
      R <- chol(A)
      r <- backsolve(R, v - p[4], transpose = TRUE)
      -sum(r^2) / 2 - sum(log(diag(R))) - length(x) / 2 * log(2 * pi)
    }
    best <- max(vapply(c(-4, -1), function(noise) {
      optim(c(0, log(0.4), noise, mean(v)), of, control = list(fnscale = -1, maxit = 2000))$value
    }, 0))
    best + sum(log(slope))
  }
  lambda <- function(y, transform, average) {
    b <- gp_bandit(box_domain(c(x = 0), c(x = 1)), kernel_matern(2.5, 0.4), 0.1, policy_mean(), mean = 0,
                   outputs = scale_outputs(transform = transform), refit = refit_every(1, mean = "fit", average = average))
    b$add(x = matrix(x), reward = y)
    b$suggest()
    map <- config_now(b)$output_map
    expect_identical(config_now(from_json(as_json(b)))$output_map, map)
    map
  }
  for (average in few_of(c(1, 10), 1)) {
    for (y in list(even, grown)) {
      bent <- lambda(y, "power", average)
      straight <- lambda(y, "none", average)
      chosen <- lambda(y, "auto", average)
      gain <- log_evidence(y, bent) - log_evidence(y, straight)
      expect_gt(abs(gain - 2), 1)                     # (so that the reference's local optimisation decides nothing)
      expect_identical(chosen, if (gain > 2) bent else straight)
    }
  }
  # The decision differs from that by the distribution of the rewards alone.
  expect_false(fit_outcome_transform(scale_outputs(), even)$lambda == 1)
  expect_identical(lambda(even, "auto", 1)$lambda, 1)
  expect_false(lambda(grown, "auto", 1)$lambda == 1)
})

test_that("without noise in the model the distribution of the rewards decides, whatever transform was used before", {
  set.seed(5)
  x <- c(runif(12), rbeta(18, 12, 12))
  clean <- cos(6 * (x - 0.5))
  noisy <- clean + rnorm(30, sd = 0.1)
  b <- gp_bandit(box_domain(c(x = 0), c(x = 1)), kernel_matern(2.5, 0.4), 0.1, policy_mean(), mean = 0,
                 outputs = scale_outputs(), refit = refit_every(1, mean = "fit"))
  b$add(x = matrix(x), reward = noisy)
  b$suggest()
  lambda <- function() config_now(b)$output_map$lambda
  expect_identical(lambda(), 1)
  for (i in 1:30) b$amend(i, clean[i])
  b$withdraw(31)
  b$suggest()
  expect_lt(config_now(b)$noise_var, 1e-4)
  expect_identical(lambda(), fit_outcome_transform(scale_outputs(), clean)$lambda)
  expect_false(lambda() == 1)
})

# Rewards of many orders of magnitude are minus these: the logarithm is smooth.
steep <- function(x) exp(30 * (x - 0.4)^2 + sin(12 * x) / 3)

test_that("a logarithm of the gap is used if it makes rewards of many orders of magnitude more likely", {
  x <- seq(0.02, 0.98, length.out = 25)
  fitted <- function(reward, direction, transform, average) {
    b <- auto_bandit(list(x = c(0, 1)), data.frame(x = x, reward = reward), direction = direction, n_initial = 0,
                     model = gp_model(transform = transform, refit = refit_every(1, mean = "fit", average = average)))
    b$suggest()
    b
  }
  map_of <- function(b) config_now(b)$output_map
  grid <- data.frame(x = seq(0.1, 0.9, 0.01))
  for (average in c(1, 10)) for (sign in c(-1, 1)) {
    direction <- if (sign < 0) "minimize" else "maximize"
    reward <- -sign * steep(x)
    b <- fitted(reward, direction, "log", average)
    map <- map_of(b)
    expect_identical(map$lambda, 2)
    expect_identical(map$centre, if (sign < 0) min(reward) else max(reward))
    gap <- steep(x) - min(steep(x))
    v <- -log1p(gap / abs(map$scale))
    expect_lt(max(abs(residuals(lm(transform_outputs(map, reward) ~ v)))), 1e-8)
    expect_gt(abs(map$scale), quantile(gap, 0.1))
    expect_lt(abs(map$scale), quantile(gap, 0.6))
    off <- function(b) max(abs(b$posterior(grid)$mean + sign * steep(grid$x)) / steep(grid$x))
    others <- lapply(c("none", "power"), function(transform) fitted(reward, direction, transform, average))
    expect_lt(off(b), min(vapply(others, off, 0)) / 10)
    expect_identical(map_of(from_json(as_json(b))), map)
    expect_identical(map_of(fitted(reward, direction, "auto", average)), map)
  }
  # Points near the optimum do not shrink the scale.
  reward <- -abs(c(x, 0.41 + seq(-1, 1, length.out = 12) * 1e-3) - 0.41)
  logs <- log_transforms(fit_outcome_transform(scale_outputs(), reward, seq_along(x)), reward, seq_along(x))
  expect_length(logs, 2)
  expect_gt(min(vapply(logs, `[[`, 0, "scale")), quantile(-reward[seq_along(x)], 0.1))
  # All values are above the limit of the clipping.
  for (map in logs) expect_equal(transform_outputs(map, reward), transform_outputs(replace(map, "tail", Inf), reward))
  # Not for smooth rewards of one order of magnitude, nor for noise.
  set.seed(1)
  for (y in list(cos(5 * x), rnorm(25), sin(9 * x) + rnorm(25, sd = 0.1))) {
    expect_false(map_of(fitted(y, "maximize", "log", 1))$lambda == 2)
  }
})

test_that("the choice between logarithm, power transform and none is by the likelihoods of the rewards", {
  set.seed(6)
  x <- seq(0.02, 0.98, length.out = 25)
  log_evidence <- function(map, y) {
    v <- transform_outputs(map, y)
    h <- 1e-6 * abs(map$scale)
    unclipped <- replace(map, "tail", Inf)
    slope <- abs(transform_outputs(unclipped, y + h) - transform_outputs(unclipped, y - h)) / (2 * h)
    of <- function(p) {
      R <- chol(exp(p[1]) * ref_kernel_matern(2.5, exp(p[2]))(x) + diag(exp(p[3]), length(x)))
      r <- backsolve(R, v - p[4], transpose = TRUE)
      -sum(r^2) / 2 - sum(log(diag(R)))
    }
    max(vapply(c(-4, -1), function(noise) {
      optim(c(0, log(0.4), noise, mean(v)), of, control = list(fnscale = -1, maxit = 2000))$value
    }, 0)) + sum(log(slope))
  }
  for (noise in c(0.05, 3)) {
    y <- -steep(x) * exp(rnorm(25, sd = noise))
    b <- gp_bandit(box_domain(c(x = 0), c(x = 1)), kernel_matern(2.5, 0.4), 0.1, policy_mean(), mean = 0,
                   outputs = scale_outputs(transform = "log"), refit = refit_every(1, mean = "fit"))
    b$add(x = matrix(x), reward = y)
    b$suggest()
    chosen <- config_now(b)$output_map
    maps <- maps_to_compare(scale_outputs(transform = "log"), y, far_apart(matrix(x)), NULL, logs = TRUE)
    kinds <- vapply(maps, function(one) map_kind(one$map), "")
    expect_setequal(kinds, c("none", "power", "log"))
    worth <- vapply(maps, function(one) log_evidence(one$map, y), 0) - c(none = 0, power = 2, log = 4)[kinds]
    # Not a logarithm if near the best reward there is much noise: here it would be the most likely one.
    expect_identical(kinds[which.max(worth)], "log")
    possible <- noise < 1 | kinds != "log"
    # (The package's search for the others' parameters is local.)
    expect_gt(worth[match(list(chosen), lapply(maps, `[[`, "map"))], max(worth[possible]) - 1)
    if (noise > 1) expect_false(map_kind(chosen) == "log")
  }
  for (outputs in list(scale_outputs(transform = "log"), scale_outputs())) {
    maps <- maps_to_compare(outputs, y, NULL, NULL, logs = outputs$transform == "auto")
    expect_false("log" %in% vapply(maps, function(one) map_kind(one$map), ""))
  }
})

test_that("a logarithm needs little noise under nearly all models of a fit", {
  log_map <- new_outcome_transform(5, -10, lambda = 2, bulk = 2, spread = 0.5)
  power_map <- replace(log_map, "lambda", 0.5)
  # The noise sd is this part of the map's scale.
  model <- function(part, weight = NULL) c(list(noise_var = part^2), if (!is.null(weight)) list(weight = weight))
  of_models <- function(noisy) c(model(0.001), list(models = list(model(0.001, 1 - noisy), model(0.3, noisy))))
  expect_true(is_above_noise(log_map, model(0.09)))
  expect_false(is_above_noise(log_map, model(0.11)))
  expect_true(is_above_noise(log_map, of_models(0.04)))
  expect_false(is_above_noise(log_map, of_models(0.06)))
  expect_true(is_above_noise(power_map, of_models(1)))
})

test_that("the range of a doubtful reward is transformed by the mean slope", {
  y <- c(1, 2, 3, 5, 8, 13, 21, 34)
  b <- auto_bandit(list(a = c(0, 1)), data.frame(a = seq(0.1, 0.8, 0.1), reward = y), n_initial = 0)
  b$fail(b$suggest()$id)
  frame <- as.environment(b)
  map <- fit_outcome_transform(scale_outputs("maximize", "power"), y)
  known <- gpbandits:::cpp_bandit_known(frame$handle)
  found <- gpbandits:::cpp_bandit_measurements(frame$handle, 1L, map, 0.1)
  to <- known$doubted_to[9]
  expect_false(is.na(to) || to == known$value[9])
  expect_identical(found$reward, known$value)
  rise <- transform_outputs(map, to) - found$value[9]
  expect_equal(found$log_slope, sum(log(found$slope[-9])) + log(rise / (to - known$value[9])))
  expect_equal(found$noise_var, c(rep(NA_real_, 8), 0.1 + rise^2 / 12))
})

# u(f) = E back(f + noise), by the way there alone: its distance from the worst reward is the integral of the probability
# that the reward is better than r.
ref_expected <- function(map, f, noise_sd) {
  reach <- range(f) + c(-8.5, 8.5) * noise_sd
  ends <- ref_back(map, reach)
  r <- unique(sort(c(seq(ends[1], ends[2], length.out = 3001), ref_back(map, seq(reach[1], reach[2], length.out = 3001))),
                   decreasing = map$scale < 0))
  v <- ref_map(map, (r[-1] + r[-length(r)]) / 2)
  vapply(f, function(f) ends[1] + sum(pnorm((f - v) / noise_sd) * diff(r)), 0)
}

ref_moments <- function(map, mean, sd, noise_sd) {
  e <- seq(-8, 8, length.out = 161)
  weight <- dnorm(e) / sum(dnorm(e))
  u <- ref_expected(map, mean + sd * e, noise_sd)
  first <- sum(weight * u)
  c(first, sqrt(sum(weight * (u - first)^2)))
}

test_that("posteriors in the user's units have the moments of the expected reward, also in the tails", {
  # (The last two are where rewards are clipped, and beyond the worst reward.)
  frame <- data.frame(mean = c(-1, 0, 0.7, -2, -3.5), sd = c(0.3, 0.05, 0.6, 0.8, 0.4))
  for (name in names(maps)) {
    for (noise in few_of(c(0.1, 0.5), 1)) {
      config <- list(outputs = scale_outputs(), output_map = maps[[name]], noise_var = noise^2)
      found <- in_user_units(frame, config)
      # (Many at once use a table.)
      many <- in_user_units(frame[rep(1:5, 200), ], config)
      expect_equal(many[1:5, ], found, tolerance = 1e-5, ignore_attr = TRUE)
      sure <- seq(-4, 1, length.out = 300)
      expected <- function(f) in_user_units(data.frame(mean = f, sd = 0), config)$mean
      expect_equal(expected(sure)[1:30 * 10], vapply(sure[1:30 * 10], expected, 0), tolerance = 1e-6)
      for (k in few_of(1:5, 3)) {
        expected <- ref_moments(maps[[name]], frame$mean[k], frame$sd[k], noise)
        expect_lt(max(abs(unlist(found[k, ]) - expected)), 2e-5 * max(expected[2], abs(maps[[name]]$scale) / 100))
      }
    }
  }
  none <- list(outputs = scale_outputs(), output_map = maps$tailed, noise_var = 0)
  sure <- in_user_units(data.frame(mean = c(-6, -3, 0.5, NA), sd = c(0, 0, 0, 1)), none)
  expect_equal(sure$mean, c(90, ref_back(maps$tailed, c(-3, 0.5)), NA))
  expect_identical(sure$sd, c(0, 0, 0, 1))
  expect_identical(in_user_units(data.frame(mean = -9, sd = 0.1), none), data.frame(mean = 90, sd = 0))
  # Where nodes would be one number: as if it were sure.
  for (map in maps) {
    close <- in_user_units(data.frame(mean = c(-3, 0), sd = c(1e-17, 1e-14)), replace(none, "output_map", list(map)))
    expect_equal(close$mean, ref_back(map, c(-3, 0)))
    expect_true(all(close$sd < 1e-12))
  }
})

test_that("results for means far from zero equal those near zero, shifted", {
  frame <- data.frame(mean = c(-4, -2, -1, 0, 0.7), sd = c(0.4, 0.8, 0.3, 0.05, 0.6))
  for (map in maps) {
    for (noise in c(0, 0.1)) {
      at <- function(centre) {
        moved <- replace(map, c("centre", "worst"), list(centre, map$worst - map$centre + centre))
        in_user_units(frame, list(outputs = scale_outputs(), output_map = moved, noise_var = noise^2))
      }
      near <- at(0)
      for (centre in c(2^20, 1.7e9)) {
        far <- at(centre)
        # (As exactly as such numbers are.)
        expect_true(all(abs(far$mean - centre - near$mean) <= 2^-50 * (centre + abs(near$mean))))
        expect_equal(far$sd, near$sd, tolerance = 1e-6)
      }
    }
  }
})

test_that("many rewards near the optimum do not shrink the scale", {
  set.seed(1)
  x <- c(stats::runif(14), 0.37 + 1e-4 * stats::rnorm(200))
  y <- (x - 0.37)^2
  scale_of <- function(n) {
    map <- fit_outcome_transform(scale_outputs("minimize"), y[1:n], far_apart(matrix(x[1:n])))
    # (Of a covering 14 points, all that exist.)
    transform_outputs(map, range(y[1:14]))
  }
  for (n in c(20, 40, 80, 214)) expect_gt(diff(rev(scale_of(n))), 2)
  expect_gt(abs(fit_outcome_transform(scale_outputs("minimize"), y, far_apart(matrix(x)))$scale), 0.03)
  # Outliers are clipped all the same: some two of the points that are far apart.
  out <- c(y, 1e6, 1e6)
  apart <- far_apart(matrix(c(x, 0.2, 0.6)))
  map <- fit_outcome_transform(scale_outputs("minimize"), out, apart)
  expect_lt(abs(map$scale), 1)
  expect_gt(diff(rev(transform_outputs(map, range(y[1:14])))), 0.5)
})

test_that("points far apart are distinct, cover the others, and have the necessary number", {
  set.seed(2)
  x <- cbind(c(stats::runif(20), rep(0.5, 100)), c(stats::runif(20), 0.5 + 1e-6 * stats::rnorm(100)), 7)
  rows <- far_apart(x)
  expect_identical(anyDuplicated(rows), 0L)
  expect_lte(length(rows), 20)
  expect_lte(sum(rows > 20), 1)
})

test_that("the model of a search does not get worse by evaluations near the optimum", {
  bowl <- function(p) (p[["x"]] - 0.37)^2
  grid <- data.frame(x = seq(0, 1, 0.01))
  truth <- (grid$x - 0.37)^2
  for (seed in seq_len(by_level(2, 2, quick = 1))) {
    error <- vapply(c(40, 60), function(n) {
      set.seed(seed)
      found <- minimize_bandit(bowl, list(x = c(0, 1)), n)
      sqrt(mean((predict(found, grid)$mean - truth)^2)) / stats::sd(truth)
    }, 0)
    expect_lt(error[2], 0.2)
    expect_lt(error[2], 1.5 * max(error[1], 0.02))
  }
})

test_that("a bandit's posterior is that of the transformed rewards, with the transform of its last refit", {
  set.seed(4)
  x <- matrix(runif(12), 12)
  y <- 500 - 80 * (x[, 1] - 0.3)^2 + rnorm(12)
  bandit <- gp_bandit(list(x = c(0, 1)), kernel_se(0.4), 0.05, policy_ei(), outputs = scale_outputs("minimize", "none"))
  bandit$add(x = x, reward = y)
  asked <- bandit$suggest()
  z <- -(y - median(y)) / mad(y)
  v <- (z - mean(z)) / sd(z)
  at <- matrix(seq(0, 1, 0.1))
  kernel <- ref_kernel_se(0.4)
  expected <- ref_posterior(kernel(x), kernel(at, x), kernel(at), v, 0.05)
  found <- bandit$posterior(at)
  slope <- -mad(y) * sd(z)
  expect_equal(found$mean, median(y) - mad(y) * (mean(z) + sd(z) * expected$mean), tolerance = 1e-6)
  expect_equal(found$sd, abs(slope) * expected$sd, tolerance = 1e-6)
  # The choice: the largest expected improvement of the mapped rewards.
  grid <- matrix(seq(0, 1, length.out = 2001))
  there <- ref_posterior(kernel(x), kernel(grid, x), kernel(grid), v, 0.05)
  at_data <- ref_posterior(kernel(x), kernel(x), kernel(x), v, 0.05)$mean
  score <- ref_score_ei(there$mean, there$sd, max(at_data))
  expect_lt(abs(asked$x - grid[which.max(score)]), 2e-3)
  # The log has untransformed rewards, and the history the predictions at the choice.
  expect_identical(bandit$history()$reward[1:12], y)
  expect_equal(unlist(bandit$history()[13, c("mean", "sd")]), unlist(bandit$posterior(matrix(asked$x))),
               tolerance = tol$identity)
})

test_that("noise variances of single rewards are in the units of the reward", {
  bandit <- gp_bandit(list(x = c(0, 1)), kernel_se(0.4), 0.01, policy_ei(), outputs = scale_outputs(transform = "none"))
  x <- c(0.1, 0.3, 0.5, 0.7, 0.9)
  y <- c(10, 14, 15, 13, 11)
  own <- c(NA, 4, NA, NA, 0.25)
  bandit$add(x = x, reward = y, noise_var = own)
  bandit$suggest()
  z <- (y - 13) / mad(y)
  v <- (z - mean(z)) / sd(z)
  noise <- ifelse(is.na(own), 0.01, own / (mad(y) * sd(z))^2)
  kernel <- ref_kernel_se(0.4)
  expected <- ref_posterior(kernel(matrix(x)), kernel(matrix(x), matrix(x)), kernel(matrix(x)), v, noise)
  expect_equal(bandit$posterior(matrix(x))$sd, mad(y) * sd(z) * expected$sd, tolerance = 1e-6)
})

test_that("minimising equals maximising the negative, choice by choice, in any units", {
  f <- function(x) (x[[1]] - 0.3)^2 + 0.2 * x[[2]]
  play <- function(direction, unit, shift) {
    set.seed(5)
    bandit <- gp_bandit(list(u = c(0, 1), v = c(0, 2)), kernel_matern(2.5, c(0.4, 0.8)), 0.01, policy_ei(),
                        refit = refit_every(4, mean = "fit"), outputs = scale_outputs(direction))
    bandit$add(x = matrix(runif(12), 6), reward = unit * vapply(1:6, function(k) f(c(k / 7, k %% 3)), 0) + shift)
    for (k in 1:8) {
      q <- bandit$suggest()
      bandit$observe(q$id, unit * f(unlist(q[c("u", "v")])) + shift)
    }
    bandit
  }
  down <- play("minimize", 1, 0)
  up <- play("maximize", -1, 0)
  expect_equal(down$history()[c("u", "v")], up$history()[c("u", "v")])
  expect_equal(down$history()$mean, -up$history()$mean)
  expect_equal(down$best()[c("u", "v", "sd")], up$best()[c("u", "v", "sd")])
  large <- play("minimize", 1e6, 1e7)
  expect_equal(large$history()[c("u", "v")], down$history()[c("u", "v")], tolerance = 1e-3)
  expect_equal((large$best()$mean - 1e7) / 1e6, down$best()$mean, tolerance = 1e-3)
})

test_that("copies, files, journals and amendments continue like the original", {
  file <- tempfile()
  make <- function(...) {
    gp_bandit(1:20, kernel_se(4), 0.01, policy_ucb(width_constant(2)), pending = pending_hallucinate(),
              refit = refit_every(3, mean = "fit"), outputs = scale_outputs("minimize"), ...)
  }
  bandit <- make(journal = file)
  set.seed(6)
  for (k in 1:9) {
    q <- bandit$suggest()
    bandit$observe(q$id, 100 + (q$x1 - 13)^2 + (k == 4) * 1e4)
  }
  bandit$amend(4, 120)
  others <- list(bandit$copy(), unserialize(serialize(bandit$copy(), NULL)))
  set.seed(7)
  bandit$suggest(3)
  for (other in others) {
    other$suggest(3)
    expect_identical(other$history(), bandit$history())
    expect_equal(other$posterior(), bandit$posterior(), tolerance = tol$replay)
  }
  expect_identical(open_bandit(file)$history(), bandit$history())
  expect_equal(open_bandit(file)$posterior(), bandit$posterior(), tolerance = tol$replay)
  expect_output(print(bandit), "minimised")
})

test_that("stop rules, draws and summaries are in the units of the reward", {
  bandit <- gp_bandit(1:10, kernel_se(3), 0.01, policy_ucb(width_constant(2)),
                      outputs = scale_outputs("minimize", "none"))
  y <- 1000 + 50 * (1:10 - 4)^2
  bandit$add(arm = 1:10, reward = y)
  bandit$suggest()
  post <- bandit$posterior()
  gap <- bandit$certificate(stop_gap(1e4))$gap
  expect_equal(gap, min(post$mean + 2 * post$sd) - min(post$mean - 2 * post$sd), tolerance = 1e-6)
  set.seed(7)
  drawn <- bandit$draw(4000)
  expect_lt(max(abs(rowMeans(drawn) - post$mean) / post$sd), 5 / sqrt(4000))
  stalled <- bandit$copy()
  expect_equal(stalled$certificate(stop_stalled(2))$since, 6)
  expect_equal(bandit$best()$arm, 4)
})

test_that("output transforms are errors where they have no meaning", {
  make <- function(...) gp_bandit(1:5, kernel_se(1), 0.1, policy_ei(), ...)
  expect_error(make(outputs = "minimize"), "scale_outputs", class = "gpbandits_error")
  expect_error(make(outputs = scale_outputs(), constraints = constraints_noiseless(epoch = 5)), "`outputs`",
               class = "gpbandits_error")
  expect_error(make(outputs = scale_outputs(), changes = change_never(1)), "`outputs`", class = "gpbandits_error")
  expect_error(scale_outputs("down"), class = "gpbandits_error")
  expect_error(scale_outputs(transform = "root"), class = "gpbandits_error")
})

test_that("a penalty of any size is transformed and fitted without a warning", {
  set.seed(3)
  reward <- rnorm(30)
  for (penalty in c(-1e20, -1e80, -1e140, 1e140)) {
    rewards <- replace(reward, c(4, 11), penalty)
    for (outputs in list(scale_outputs(), scale_outputs(transform = "power"), scale_outputs(direction = "minimize"))) {
      expect_no_warning(map <- gpbandits:::fit_outcome_transform(outputs, rewards))
      expect_true(all(is.finite(map_outputs(map, rewards))))
    }
  }
  b <- auto_bandit(list(x = c(0, 1)), n_initial = 2)
  expect_no_warning({
    for (t in 1:20) {
      q <- b$suggest()
      b$observe(q$id, if (t %% 7 == 0) -1e140 else -(q$x - 0.3)^2)
    }
  })
})
