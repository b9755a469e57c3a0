# refit_every(average = ): several models of one function, by plain R: moments, improvement, draws, leave-one-out, and
# the posterior distribution of the hyperparameters on a grid.

# Means and sds, a column per model, by gp_regression().
by_models <- function(bandit, at, x, y, own_noise = NULL) {
  each <- lapply(models_in_force(bandit), function(config) {
    fit <- gp_regression(x, y, config$kernel, config$noise_var, config$mean, own_noise)
    predict(fit, at)
  })
  list(mean = sapply(each, `[[`, "mean"), sd = sapply(each, `[[`, "sd"))
}

mixed <- function(parts, weight) {
  mean <- drop(parts$mean %*% weight)
  list(mean = mean, sd = sqrt(drop((parts$sd^2 + (parts$mean - mean)^2) %*% weight)))
}

average_domain <- box_domain(c(a = 0, b = 0), c(1, 1))
average_f <- function(x) sin(5 * x[, 1]) + 0.3 * x[, 2]

averaging <- function(domain = average_domain, policy = policy_ei(), average = 6, ..., mean = "fit") {
  gp_bandit(domain, kernel_matern(2.5, c(0.4, 0.6)), 0.02, policy,
            refit = refit_every(3, mean = mean, average = average,
                                priors = list(matern.variance = c(0, 1), noise_var = rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2)),
                                              matern.lengthscale1 = c(log(0.5), 1), matern.lengthscale2 = c(log(0.5), 1))), ...)
}

play_average <- function(bandit, rounds) {
  for (t in seq_len(rounds)) {
    q <- bandit$suggest()
    bandit$observe(q$id, average_f(as.matrix(q[c("a", "b")])) + rnorm(1, sd = 0.1))
  }
  bandit
}

test_that("a refit keeps several weighted models, and the posterior has the mixture's moments", {
  set.seed(1)
  b <- play_average(averaging(), 8)
  weight <- weights_in_force(b)
  expect_gt(length(weight), 2)
  expect_lte(length(weight), 6)
  expect_equal(sum(weight), 1)
  h <- b$history()
  at <- as.matrix(expand.grid(a = c(0, 0.3, 1), b = c(0.2, 0.9)))
  reference <- mixed(by_models(b, at, as.matrix(h[c("a", "b")]), h$reward), weight)
  found <- b$posterior(at)
  expect_equal(found$mean, reference$mean, tolerance = 1e-9)
  expect_equal(found$sd, reference$sd, tolerance = 1e-9)
  # It is no single model's: they differ.
  expect_gt(diff(range(by_models(b, at, as.matrix(h[c("a", "b")]), h$reward)$mean[1, ])), 1e-6)
})

test_that("noise variances of single rewards are the same in all models, for arms and listed contexts too", {
  set.seed(2)
  grid <- as.matrix(expand.grid(a = 0:4 / 4, b = 0:4 / 4))
  b <- averaging(grid)
  own <- c(NA, 0.5, NA, 0.02, NA, 0.01, 0.3)          # .02: the bandit's initial value
  arms <- c(3, 9, 20, 20, 1, 14, 25)
  y <- average_f(grid[arms, ]) + rnorm(7, sd = 0.1)
  b$add(arm = arms, reward = y, noise_var = own)
  b$suggest()
  found <- b$posterior()
  reference <- mixed(by_models(b, grid, grid[arms, ], y, own), weights_in_force(b))
  expect_equal(found$mean, reference$mean, tolerance = 1e-8)
  expect_equal(found$sd, reference$sd, tolerance = 1e-8)
  # An own noise that equals the parameter in force stays its own.
  same <- config_now(b)$noise_var
  b$add(arm = 7, reward = 0.4, noise_var = same)
  reference <- mixed(by_models(b, grid, grid[c(arms, 7), ], c(y, 0.4), c(own, same)), weights_in_force(b))
  expect_equal(b$posterior()$sd, reference$sd, tolerance = 1e-8)
})

test_that("a pending query reduces each model's sd, and keeps the differences between models", {
  set.seed(3)
  b <- play_average(averaging(pending = pending_hallucinate()), 7)
  h <- b$history()
  waiting <- b$suggest(2)
  next_one <- b$suggest()
  last <- tail(b$history(), 1)
  x <- as.matrix(h[c("a", "b")])
  at <- as.matrix(next_one[c("a", "b")])
  known <- by_models(b, at, x, h$reward)
  all <- by_models(b, at, rbind(x, as.matrix(waiting[c("a", "b")])), c(h$reward, 0, 0))
  reference <- mixed(list(mean = t(known$mean), sd = t(all$sd)), weights_in_force(b))
  expect_equal(c(last$mean, last$sd), unlist(reference, use.names = FALSE), tolerance = 1e-8)
})

test_that("expected improvement is averaged over the models", {
  for (models in c(6, 10)) {
    set.seed(4)
    b <- play_average(averaging(average = models), 9)
    expect_gte(length(models_in_force(b)), 0.8 * models)
    h <- b$history()
    chosen <- tail(h, 1)
    # The parameters of the last choice (round 7 refitted).
    x <- as.matrix(h[-9, c("a", "b")])
    incumbent <- max(mixed(by_models(b, x, x, h$reward[-9]), weights_in_force(b))$mean)
    improvement <- function(at) {
      parts <- by_models(b, at, x, h$reward[-9])
      z <- (parts$mean - incumbent) / parts$sd
      drop((parts$sd * (z * pnorm(z) + dnorm(z))) %*% weights_in_force(b))
    }
    grid <- as.matrix(expand.grid(a = seq(0, 1, 0.05), b = seq(0, 1, 0.05)))
    expect_gte(improvement(as.matrix(chosen[c("a", "b")])), max(improvement(grid)) * (1 - 1e-3))
  }
})

test_that("candidates are screened by each fourth model, and the best of them valued by all", {
  skip_without_testing()
  set.seed(6)
  scores <- matrix(rnorm(9000), 900) + 2 * rnorm(900)
  found <- cpp_testing_screen(scores)
  expect_equal(found$all, log(rowMeans(exp(scores))))
  by_some <- log(rowSums(exp(scores[, c(1, 5, 9)])) / 10)
  listed <- rank(-by_some) <= 128
  expect_equal(found$screened, ifelse(listed, found$all, by_some))
  # Few models or few candidates are not screened.
  for (few in list(scores[, 1:7], scores[1:255, ])) {
    found <- cpp_testing_screen(few)
    expect_identical(found$screened, found$all)
  }
})

test_that("in five inputs the selected point is the best of all models' candidates", {
  names <- letters[1:5]
  f <- function(x) 0.5 * sin(9 * x[, 1]) * cos(7 * x[, 2]) - rowSums((x - 0.3)^2)
  for (seed in 1:2) {
    set.seed(seed)
    b <- auto_bandit(stats::setNames(rep(list(c(0, 1)), 5), names), n_initial = 0)
    x <- matrix(runif(150), 30, dimnames = list(NULL, names))
    b$add(x = x, reward = f(x))
    b$suggest() # (refits)
    expect_gte(length(models_in_force(b)), 8)
    before <- frame_of(b$copy())
    rebuild(before)
    improvement <- function(points) cpp_bandit_acquisition(before$handle, contexts_for(before, NULL, 1), points)$values
    chosen <- improvement(as.matrix(b$suggest()[names]))
    expect_gte(chosen, max(improvement(matrix(0, 0, 0)), improvement(matrix(runif(2500), 500))) - 1e-6)
  }
})

test_that("draws select a model by its weight, so their moments are the mixture's", {
  set.seed(5)
  grid <- as.matrix(expand.grid(a = 0:3 / 3, b = 0:3 / 3))
  b <- averaging(grid, policy_ts(width_constant(1)))
  b$add(arm = c(2, 7, 11, 16, 4), reward = average_f(grid[c(2, 7, 11, 16, 4), ]))
  b$suggest()
  drawn <- b$draw(20000)
  found <- b$posterior()
  expect_lt(max(abs(rowMeans(drawn) - found$mean) / (found$sd / sqrt(20000))), 4.5)
  expect_lt(max(abs(apply(drawn, 1, sd) / found$sd - 1)), 0.08)
  # On a box: maxima of paths.
  box <- play_average(averaging(policy = policy_ts(width_constant(1))), 7)
  expect_s3_class(box$suggest(), "data.frame")
})

test_that("copies, files, JSON and replays are identical to the bit; a bandit with one model has no mixture", {
  set.seed(6)
  b <- play_average(averaging(pending = pending_hallucinate()), 7)
  path <- tempfile(fileext = ".rds")
  saveRDS(b, path)
  others <- list(b$copy(), readRDS(path), from_json(as_json(b)))
  going_on <- function(bandit) {
    set.seed(7)
    play_average(bandit, 4)$history()
  }
  first <- going_on(b)
  for (other in others) expect_identical(going_on(other), first)
  one <- play_average(averaging(average = 1), 7)
  expect_null(config_now(one)$models)
  expect_null(unclass(as.environment(one))$refits[[1]]$models)
})

test_that("the weighted models represent the posterior of the hyperparameters on a grid", {
  set.seed(8)
  x <- matrix(runif(14), ncol = 1)
  y <- sin(6 * x[, 1]) + rnorm(14, sd = 0.3)
  prior <- list(l = c(log(0.4), 1), n = c(log(0.05), 1.5))
  fixed <- c(se.variance = 1)
  found <- gpbandits:::fit_models(x, y, kernel_se(0.3, 1), 0.05, 0, 100, lower = fixed, upper = fixed,
                                  priors = list(se.lengthscale = prior$l, noise_var = prior$n))
  expect_gt(found$effective, 60)
  grid <- expand.grid(l = seq(log(0.01), log(20), length.out = 60), n = seq(log(1e-4), log(3), length.out = 60))
  apart <- outer(x[, 1], x[, 1], "-")^2
  log_density <- vapply(seq_len(nrow(grid)), function(i) {
    K <- exp(-apart / (2 * exp(2 * grid$l[i]))) + diag(exp(grid$n[i]), 14)
    R <- chol(K)
    -sum(log(diag(R))) - sum(backsolve(R, y, transpose = TRUE)^2) / 2 +
      dnorm(grid$l[i], prior$l[1], prior$l[2], log = TRUE) + dnorm(grid$n[i], prior$n[1], prior$n[2], log = TRUE)
  }, 0)
  w <- exp(log_density - max(log_density))
  w <- w / sum(w)
  l <- vapply(found$models, function(m) log(m$kernel$lengthscale), 0)
  n <- vapply(found$models, function(m) log(m$noise_var), 0)
  v <- vapply(found$models, function(m) m$weight, 0)
  moments <- function(z, w) c(sum(w * z), sqrt(sum(w * z^2) - sum(w * z)^2))
  sds <- c(moments(grid$l, w)[2], moments(grid$n, w)[2])
  expect_lt(abs(moments(l, v)[1] - moments(grid$l, w)[1]) / sds[1], 0.15)
  expect_lt(abs(moments(n, v)[1] - moments(grid$n, w)[1]) / sds[2], 0.15)
  expect_lt(abs(moments(l, v)[2] / sds[1] - 1), 0.25)
  expect_lt(abs(moments(n, v)[2] / sds[2] - 1), 0.25)
})

test_that("both modes are represented: only noise, and a rough function without noise", {
  x <- matrix(c(0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95), ncol = 1)
  y <- c(0.9, -1.1, 0.4, 1.2, -0.8, 0.3, -0.9)
  found <- gpbandits:::fit_models(x, y, kernel_matern(2.5, 0.4), 0.1, 0, 40,
                                  priors = list(matern.lengthscale = c(log(0.4), 1), matern.variance = c(0, 1),
                                                noise_var = rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2))))
  noise <- vapply(found$models, function(m) m$noise_var, 0)
  expect_gte(found$modes, 2)
  expect_gt(sum(noise > 0.1), 0)
  expect_gt(sum(noise < 0.01), 0)
  # No random numbers, and the same whatever the fit began with.
  expect_identical(found, gpbandits:::fit_models(x, y, kernel_matern(2.5, 0.4), 0.1, 0, 40,
    priors = list(matern.lengthscale = c(log(0.4), 1), matern.variance = c(0, 1),
                  noise_var = rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2)))))
})

test_that("the uncertainty of a fitted mean is included", {
  set.seed(9)
  x <- matrix(runif(30), 15)
  y <- 3 + rnorm(15)
  priors <- list(matern.lengthscale1 = c(0, 1), matern.lengthscale2 = c(0, 1), matern.variance = c(log(1e-4), 0.1),
                 noise_var = c(0, 0.1))
  found <- gpbandits:::fit_models(x, y, kernel_matern(2.5, c(1, 1), 1e-4), 1, "fit", 100, priors = priors)
  mean <- vapply(found$models, function(m) m$mean, 0)
  weight <- vapply(found$models, function(m) m$weight, 0)
  centre <- sum(weight * mean)
  expect_equal(centre, base::mean(y), tolerance = 0.02)
  noise <- sum(weight * vapply(found$models, function(m) m$noise_var, 0))
  expect_equal(sqrt(sum(weight * (mean - centre)^2)), sqrt(noise / 15), tolerance = 0.15)
})

test_that("a mixture of normal priors, and a Beta prior of a correlation, equal their formulas", {
  set.seed(10)
  x <- cbind(runif(12), rep(1:3, 4))
  y <- sin(4 * x[, 1]) + c(-0.5, 0, 0.5)[x[, 2]] + rnorm(12, sd = 0.1)
  kernel <- kernel_se(0.5, dims = 1) * kernel_categorical(0.5, dims = 2)
  two <- rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2))
  three <- cbind(rbind(c(log(1e-6), 1), two), c(2, 1, 5))
  for (noise_prior in list(two, three)) {
    weight <- if (ncol(noise_prior) == 3) noise_prior[, 3] / 8 else c(0.5, 0.5)
    # (Up to a constant, which for a mixture is that of the normal density.)
    log_prior <- function(p) {
      u <- log(p[["noise_var"]])
      r <- p[["2.categorical.correlation"]]
      log(sum(weight * dnorm(u, noise_prior[, 1], noise_prior[, 2]))) + log(sqrt(2 * pi)) + 2 * log(r) + 2 * log1p(-r)
    }
    priors <- list(noise_var = noise_prior, "2.categorical.correlation" = c(shape1 = 2, shape2 = 3))
    fit <- gp_fit(x, y, kernel, priors = priors, mean = 0)
    p <- fit$parameters
    expect_equal(fit$objective, fit$log_likelihood + log_prior(p), tolerance = 1e-9)
    expect_lt(p[["2.categorical.correlation"]], 1)
    # The maximum of it: every small step is worse.
    for (name in names(p)) for (step in c(-0.05, 0.05)) {
      q <- p
      q[name] <- exp(log(q[[name]]) + step)
      if (grepl("correlation", name) && q[[name]] >= 1) next
      other <- gp_regression(x, y, gpbandits:::kernel_with_parameters(kernel, q[-length(q)]), q[["noise_var"]])
      expect_lte(as.numeric(logLik(other)) + log_prior(q), fit$objective + 1e-4)
    }
  }
})

test_that("check_model() of an average leaves rewards out of each model, as refits without them would", {
  set.seed(11)
  b <- play_average(averaging(), 10)
  h <- b$history()
  check <- as.data.frame(check_model(b))
  weight <- weights_in_force(b)
  configs <- models_in_force(b)
  for (i in c(1, 5, 10)) {
    parts <- lapply(configs, function(config) {
      fit <- gp_regression(as.matrix(h[-i, c("a", "b")]), h$reward[-i], config$kernel, config$noise_var, config$mean)
      p <- predict(fit, as.matrix(h[i, c("a", "b")]))
      c(p$mean, p$sd, sqrt(p$sd^2 + config$noise_var))
    })
    parts <- do.call(rbind, parts)
    mean <- sum(weight * parts[, 1])
    expect_equal(check$mean[check$id == i], mean, tolerance = 1e-8)
    expect_equal(check$sd[check$id == i], sqrt(sum(weight * (parts[, 2]^2 + (parts[, 1] - mean)^2))), tolerance = 1e-7)
    pit <- sum(weight * pnorm((h$reward[i] - parts[, 1]) / parts[, 3]))
    expect_equal(check$pit[check$id == i], pit, tolerance = 1e-8)
  }
  expect_output(print(summary(b)), "check")
})

test_that("invalid values of `average` and priors are errors", {
  for (bad in list(0, 1.5, 101, "two", NA, NULL, c(2, 3))) {
    expect_error(refit_every(2, average = bad), class = "gpbandits_error")
  }
  bad_priors <- list(matrix(1, 3, 4), matrix(1, 11, 2), cbind(1, 1, 0), rbind(c(0, 1), c(0, -1)), c(shape1 = 1, shape2 = 1), list(1, 2), "no")
  for (bad in bad_priors) expect_error(refit_every(2, priors = list(noise_var = bad)), class = "gpbandits_error")
  expect_error(refit_every(2, priors = list(categorical.correlation = c(shape1 = -1, shape2 = 2))), class = "gpbandits_error")
})

test_that("summaries print the number of models and the ranges of their parameters", {
  set.seed(12)
  b <- play_average(averaging(), 8)
  count <- length(weights_in_force(b))
  expect_output(print(b), sprintf("average over %d models: mean .* to .*, noise variance .* to", count))
  found <- minimize_bandit(function(p) (p[["a"]] - 0.3)^2 + rnorm(1, sd = 0.1), list(a = c(0, 1)), 12)
  reported <- summary(found)
  models <- models_in_force(found$bandit)
  noise <- vapply(models, function(one) one$noise_var, 0)
  row <- reported$model$average[reported$model$average$parameter == "noise_var", ]
  expect_true(all(c(row$lower, row$upper) %in% noise) && row$lower < row$upper)
  weight <- reported$model$weights
  expect_lte(sum(weight[noise < row$lower]), 0.05)
  expect_lte(sum(weight[noise > row$upper]), 0.05)
  expect_output(print(reported), sprintf("average of %d: .*noise_var = .* to ", length(models)))
  one <- play_average(averaging(average = 1), 8)
  expect_output(print(one), "noise variance")
  expect_false(any(grepl("average", capture.output(print(one)))))
})

test_that("certificates use the average: gaps by its moments, draws by the weights, changes by each model's", {
  set.seed(13)
  grid <- as.matrix(expand.grid(a = 0:3 / 3, b = 0:3 / 3))
  b <- averaging(grid)
  b$add(arm = c(2, 7, 11, 16, 4, 9), reward = average_f(grid[c(2, 7, 11, 16, 4, 9), ]) + c(0.1, -0.1, 0, 0.2, 0, -0.2))
  q <- b$suggest()
  b$observe(q$id, 0.7)
  h <- b$history()
  x <- as.matrix(h[c("a", "b")])
  y <- h$reward
  weight <- weights_in_force(b)
  now <- mixed(by_models(b, grid, x, y), weight)
  gap <- b$certificate(stop_gap(1, width_constant(2)))
  expect_equal(gap$gap, max(now$mean + 2 * now$sd) - max(now$mean - 2 * now$sd), tolerance = 1e-7)
  expect_true(is.na(gap$probability))
  # The share of draws of f, a model first, that fall short.
  set.seed(1)
  best <- which.max(now$mean)
  short <- unlist(Map(function(config, w) {
    p <- predict(gp_regression(x, y, config$kernel, config$noise_var, config$mean), grid, cov = TRUE)
    root <- eigen(p$cov, symmetric = TRUE)
    draws <- p$mean + root$vectors %*% (sqrt(pmax(root$values, 0)) * matrix(rnorm(16 * 4000), 16))
    w * mean(apply(draws, 2, max) - draws[best, ] > 0.3)
  }, models_in_force(b), weight))
  prb <- b$certificate(stop_prb(0.3, delta = 0.02, draws = 20000))
  expect_gte(sum(short), prb$lower - 0.01)
  expect_lte(sum(short), prb$upper + 0.01)
  expect_match(prb$assumptions[1], sprintf("one of %d models", length(weight)))
  # The change that the last reward made.
  before <- mixed(by_models(b, grid, x[-7, ], y[-7]), weight)
  gap_before <- max(before$mean + 2 * before$sd) - max(before$mean - 2 * before$sd)
  points <- c(which.max(now$mean), which.max(before$mean))
  each <- sapply(models_in_force(b), function(config) {
    old <- predict(gp_regression(x[-7, ], y[-7], config$kernel, config$noise_var, config$mean), x[7, , drop = FALSE])
    v <- old$sd^2
    l <- config$noise_var
    kl <- (log1p(v / l) - v / (v + l) + v * (y[7] - old$mean)^2 / (v + l)^2) / 2
    p <- predict(gp_regression(x, y, config$kernel, l, config$mean), grid[points, ], cov = TRUE)
    s <- sqrt(max(0, p$cov[1, 1] + p$cov[2, 2] - 2 * p$cov[1, 2]))
    d <- p$mean[1] - p$mean[2]
    c(kl, if (s > 1e-9) d * pnorm(d / s) + s * dnorm(d / s) else max(d, 0))
  }) %*% weight
  change <- abs(max(now$mean) - max(before$mean)) + each[2] + gap_before * sqrt(each[1] / 2)
  expect_equal(b$certificate(stop_emsr(1, width_constant(2)))$change, change, tolerance = 1e-5)
})
