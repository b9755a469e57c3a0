# refit_every(smoothness = ): averages over a Matern kernel's nu. References: evidence on a grid, truths of cusps.

numbers_of_models <- function(models, of) vapply(models, of, 0)
nu_of <- function(model) model$kernel$nu

# The correlation at a distance in lengthscales.
ref_matern <- function(r, nu) {
  a <- sqrt(2 * nu) * r
  switch(as.character(nu), "0.5" = exp(-a), "1.5" = (1 + a) * exp(-a), "2.5" = (1 + a + a^2 / 3) * exp(-a))
}

test_that("each smoothness is weighted by its evidence, as on a grid", {
  prior <- list(l = c(log(0.4), 1), n = c(log(0.02), 1.5))
  grid <- expand.grid(l = seq(log(0.005), log(40), length.out = 50), n = seq(log(1e-5), log(3), length.out = 50))
  evidence <- function(x, y, nu) {
    apart <- abs(outer(x, x, "-"))
    values <- vapply(seq_len(nrow(grid)), function(i) {
      R <- chol(ref_matern(apart / exp(grid$l[i]), nu) + diag(exp(grid$n[i]), length(x)))
      -sum(log(diag(R))) - sum(backsolve(R, y, transpose = TRUE)^2) / 2 +
        dnorm(grid$l[i], prior$l[1], prior$l[2], log = TRUE) + dnorm(grid$n[i], prior$n[1], prior$n[2], log = TRUE)
    }, 0)
    sum(exp(values))
  }
  fixed <- c(matern.variance = 1)
  nus <- c(2.5, 1.5, 0.5)
  set.seed(21)
  x <- sort(runif(16))
  smooth <- sin(6 * x) + rnorm(16, sd = 0.05)
  cusp <- 2 * sqrt(abs(x - 0.4)) - 1 + rnorm(16, sd = 0.05)
  set.seed(5)
  rough <- drop(t(chol(exp(-abs(outer(x, x, "-")) / 0.3))) %*% rnorm(16))
  shares_of <- function(y, likely) {
    found <- gpbandits:::fit_models(matrix(x), y, kernel_matern(1.5, 0.3, 1), 0.05, 0, 100, smoothness = nus,
                                    smoothness_prior = likely, lower = fixed, upper = fixed,
                                    priors = list(matern.lengthscale = prior$l, noise_var = prior$n))
    weight <- numbers_of_models(found$models, function(m) m$weight)
    expect_equal(sum(weight), 1)
    vapply(nus, function(nu) sum(weight[numbers_of_models(found$models, nu_of) == nu]), 0)
  }
  for (y in few_of(list(smooth, cusp, rough), 2)) {
    wanted <- vapply(nus, function(nu) evidence(x, y, nu), 0)
    shares <- shares_of(y, NULL)
    expect_lt(max(abs(shares - wanted / sum(wanted))), 0.06)
    # The prior weights count by their ratios.
    likely <- c(20, 2, 1)
    expect_lt(max(abs(shares_of(y, likely) - likely * wanted / sum(likely * wanted))), 0.06)
    expect_identical(shares_of(y, likely / 40), shares_of(y, likely))
  }
  expect_gt(shares[3], 0.5)
})

test_that("a single smoothness is the kernel with that nu, and none leaves the kernel unchanged", {
  set.seed(22)
  x <- matrix(runif(24), 12)
  y <- sin(4 * x[, 1]) + x[, 2] + rnorm(12, sd = 0.1)
  fit <- function(nu, ...) gpbandits:::fit_models(x, y, kernel_matern(nu, c(0.4, 0.4)), 0.05, "fit", 8, ...)
  expect_identical(fit(2.5, smoothness = 0.5), fit(0.5))
  expect_true(all(numbers_of_models(fit(1.5)$models, nu_of) == 1.5))
})

test_that("with many rewards, a smoothness that half of them contradict has no models", {
  set.seed(23)
  x <- matrix(runif(400), 200)
  fit <- function(y) {
    found <- gpbandits:::fit_models(x, y, kernel_matern(2.5, c(0.4, 0.4)), 0.05, "fit", 10, smoothness = c(2.5, 0.5))
    unique(numbers_of_models(found$models, nu_of))
  }
  expect_identical(fit(sin(4 * x[, 1]) + x[, 2] + rnorm(200, sd = 0.05)), 2.5)
  expect_identical(fit(sign(sin(9 * x[, 1])) + abs(x[, 2] - 0.5) + rnorm(200, sd = 0.05)), 0.5)
})

averaged <- function(...) refit_every(2, mean = "fit", average = 10, smoothness = c(2.5, 1.5, 0.5), ...)

test_that("the Matern part of a product has the smoothness, and summaries print its range", {
  set.seed(24)
  mixed <- search_space(a = c(0, 1), kind = param_factor(letters[1:3]))
  found <- minimize_bandit(function(p) abs(p$a - 0.3)^0.3 + (p$kind == "b") + rnorm(1, sd = 0.01), mixed, 30,
                           model = gp_model(refit = averaged()))
  models <- config_now(found$bandit)$models
  expect_true(any(vapply(models, function(m) any(gpbandits:::smoothness_of(m$kernel) == 0.5), NA)))
  reported <- summary(found)$model$average
  expect_identical(reported$lower[reported$parameter == "smoothness"], 0.5)
})

test_that("at the floor of a narrow valley, intervals cover more often than with smooth models alone", {
  # Valleys as of BBOB's functions: the loss goes over decades, a hundredth of its spread is noise.
  gap <- function(seed, refit) {
    set.seed(seed)
    at <- runif(2, 0.25, 0.75)
    truth <- function(p) sqrt(sum(c(1, 30) * (unlist(p) - at)^2))
    found <- minimize_bandit(function(p) truth(p) + rnorm(1, sd = 0.03), list(a = c(0, 1), b = c(0, 1)), 40,
                             model = gp_model(refit = refit, transform = "power"))
    # (The result's sd is in addition wider where structure may have been fitted as noise.)
    there <- predict(found, as.data.frame(as.list(found$par)))
    abs(there$mean - truth(found$par)) / there$sd
  }
  seeds <- few_of(1:8, 2)
  far <- vapply(seeds, gap, 0, refit = averaged(smoothness_prior = c(1, 0.1, 0.1)))
  smooth <- vapply(seeds, gap, 0, refit = refit_every(2, mean = "fit", average = 10))
  # (Of 40 such searches: within 2 sd .93, by smooth models alone .55.)
  expect_lte(sum(far > 2), 2)
  expect_lt(sqrt(mean(far^2)), 0.8 * sqrt(mean(smooth^2)))
})

test_that("copies, files, JSON and replays of averages over smoothness are identical to the bit", {
  set.seed(25)
  b <- auto_bandit(list(a = c(0, 1), b = c(0, 1)), n_initial = 4,
                   model = gp_model(transform = "power",
                                    refit = refit_every(2, mean = "fit", average = 10, smoothness = c(2.5, 0.5))))
  f <- function(q) abs(q$a - 0.3)^0.3 + abs(q$b - 0.6) + rnorm(nrow(q), sd = 0.01)
  play <- function(bandit, rounds) {
    for (t in seq_len(rounds)) {
      q <- bandit$suggest()
      bandit$observe(q$id, f(q))
    }
    bandit
  }
  play(b, 13)
  nus <- numbers_of_models(config_now(b)$models, nu_of)
  expect_gt(length(unique(nus)), 1)
  file <- tempfile(fileext = ".rds")
  saveRDS(b, file)
  going_on <- function(bandit) {
    set.seed(26)
    list(play(bandit, 4)$history(), bandit$posterior(data.frame(a = 0.2, b = 0.7)))
  }
  others <- list(b$copy(), readRDS(file), from_json(as_json(b)))
  first <- going_on(b)
  for (other in others) expect_identical(going_on(other), first)
})

test_that("invalid values of `smoothness` are errors", {
  for (bad in list(0, -1, c(0.5, 0.5), numeric(), "rough", NA, Inf)) {
    expect_error(refit_every(2, average = 5, smoothness = bad), "smoothness", class = "gpbandits_error")
  }
  expect_error(refit_every(2, smoothness = 0.5), "`average` > 1", class = "gpbandits_error")
  for (bad in list(1, c(1, 0), c(1, -1), "a", c(1, NA))) {
    expect_error(refit_every(2, average = 5, smoothness = c(0.5, 2.5), smoothness_prior = bad), "smoothness_prior",
                 class = "gpbandits_error")
  }
  expect_error(refit_every(2, average = 5, smoothness_prior = 1), "smoothness_prior", class = "gpbandits_error")
  some <- refit_every(2, average = 5, smoothness = c(0.5, 2.5))
  expect_error(gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.1, refit = some), "smoothness", class = "gpbandits_error")
  # An object of before it came has none.
  old <- refit_every(2, average = 5)
  old[c("smoothness", "smoothness_prior")] <- NULL
  expect_null(gp_ei(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.1, refit = old)$config$refit$smoothness)
})

test_that("with many points, refits that continue start every kernel near its maximum", {
  set.seed(4)
  x <- matrix(runif(800), 400, dimnames = list(NULL, c("a", "b")))
  b <- gp_bandit(list(a = c(0, 1), b = c(0, 1)), kernel_matern(2.5, c(0.3, 0.3)), 0.05, policy_ei(),
                 refit = refit_every(5, average = 2, mean = "fit", smoothness = c(2.5, 1.5, 0.5)))
  b$add(as.data.frame(x), reward = sin(6 * x[, 1]) + x[, 2]^2 + rnorm(400, sd = 0.1))
  b$suggest()
  plan <- internal("prepared_refits")(b)$plans[[1]]
  current <- internal("refitted_parameters")(b)
  found <- internal("fit_under")(b, plan, current, NULL, since_refit = 5)$found
  expect_equal(found$points, 400)
  # (12 of them for the curvature at two modes and 16 for the weights.)
  expect_lt(found$evaluations, 70)
})

test_that("with many points, refits that continue stay within the bounds of correlations near 1", {
  set.seed(1)
  inputs <- c("p", "q", "r")
  d <- search_space(a = param_real(0, 1), p = param_logical(), q = param_logical(), r = param_logical())
  kernel <- kernel_matern(2.5, 0.3, dims = "a") * kernel_categorical(rep(1 - 1e-9, 3), dims = inputs)
  b <- gp_bandit(d, kernel, 0.05, policy_ei(),
                 refit = refit_every(5, average = 2, mean = "fit", smoothness = c(2.5, 1.5, 0.5)))
  x <- data.frame(a = runif(310))
  for (name in inputs) x[[name]] <- runif(310) < 0.5
  b$add(x, reward = sin(6 * x$a) + 0.05 * x$p + rnorm(310, sd = 0.1))
  plan <- internal("prepared_refits")(b)$plans[[1]]
  fit <- internal("fit_under")(b, plan, internal("refitted_parameters")(b), NULL, since_refit = 5)$fit
  expect_gt(fit$noise_var, 0)
})
