# gp_regression against the plain-R formulas of helper-reference.R.

cases <- function() {
  set.seed(41)
  list(
    "SE, 1 input" = list(x = matrix(runif(12)), kernel = kernel_se(0.3, 2),
                         reference = ref_kernel_se(0.3, 2)),
    "Matern ARD, 20 inputs" = list(x = matrix(runif(70 * 20), 70),
                                   kernel = kernel_matern(2.5, seq(0.5, 3, length.out = 20)),
                                   reference = ref_kernel_matern(2.5, seq(0.5, 3, length.out = 20))),
    "sum with a linear part, 3 inputs" = list(
      x = matrix(runif(150 * 3), 150), kernel = kernel_rq(1.5, 0.4) + kernel_linear(0.5, dims = 2:3),
      reference = ref_kernel_sum(ref_kernel_rq(1.5, 0.4), ref_kernel_linear(0.5, dims = 2:3)))
  )
}

reference_fit <- function(case, y, noise_var, mean, at) {
  ref_posterior(case$reference(case$x), case$reference(at, case$x), case$reference(at), y, noise_var,
                mean, mean)
}

dense_log_likelihood <- function(K, y, noise_var, mean) {
  A <- K + diag(noise_var, nrow(K))
  residual <- y - mean
  -0.5 * (sum(residual * solve(A, residual)) + as.numeric(determinant(A)$modulus) +
            length(y) * log(2 * pi))
}

test_that("predictions, covariances and likelihood equal the dense formulas", {
  for (name in names(cases())) {
    case <- cases()[[name]]
    y <- rnorm(nrow(case$x), 1)
    at <- matrix(runif(9 * ncol(case$x)), 9)
    fit <- gp_regression(case$x, y, case$kernel, noise_var = 0.05, mean = 0.7)
    want <- reference_fit(case, y, 0.05, 0.7, at)
    got <- predict(fit, at)
    expect_s3_class(got, "data.frame")
    expect_named(got, c("mean", "sd"))
    expect_equal(got$mean, want$mean, tolerance = tol$identity, info = name)
    expect_equal(got$sd, want$sd, tolerance = tol$identity, info = name)
    expect_equal(predict(fit, at, se.fit = FALSE), want$mean, tolerance = tol$identity, info = name)
    joint <- predict(fit, at, cov = TRUE)
    expect_named(joint, c("mean", "sd", "cov"))
    expect_equal(joint$cov, want$cov, tolerance = tol$identity, info = name)
    expect_equal(joint$sd, want$sd, tolerance = tol$identity, info = name)
    expect_identical(joint$cov, t(joint$cov))
    likelihood <- logLik(fit)
    expect_equal(as.numeric(likelihood),
                 dense_log_likelihood(case$reference(case$x), y, 0.05, 0.7),
                 tolerance = tol$identity, info = name)
    expect_identical(attr(likelihood, "df"), 0)
    expect_equal(nobs(likelihood), nrow(case$x))
  }
})

test_that("without newdata the observed points are predicted; fitted values and residuals agree", {
  x <- c(0.1, 0.5, 0.6, 2)
  fit <- gp_regression(x, x^2, kernel_se(0.5), 0.01)
  expect_equal(predict(fit), predict(fit, x))
  expect_equal(fitted(fit), predict(fit, x)$mean)
  expect_equal(residuals(fit), x^2 - fitted(fit))
  expect_identical(nobs(fit), 4L)
})

test_that("updates equal a new fit and leave the old object unchanged", {
  for (case in cases()) {
    n <- nrow(case$x)
    y <- rnorm(n)
    at <- matrix(runif(5 * ncol(case$x)), 5)
    start <- seq_len(n %/% 3)
    old <- gp_regression(case$x[start, , drop = FALSE], y[start], case$kernel, 0.02, mean = -1)
    before <- predict(old, at)
    grown <- old
    for (i in seq(length(start) + 1, n - 4)) grown <- update(grown, case$x[i, , drop = FALSE], y[i])
    grown <- update(grown, case$x[(n - 3):n, , drop = FALSE], y[(n - 3):n])
    whole <- gp_regression(case$x, y, case$kernel, 0.02, mean = -1)
    expect_equal(predict(grown, at), predict(whole, at), tolerance = tol$replay)
    expect_equal(as.numeric(logLik(grown)), as.numeric(logLik(whole)), tolerance = tol$replay)
    expect_equal(grown$x, whole$x)
    expect_identical(predict(old, at), before)
    expect_equal(nobs(old), length(start))
  }
})

test_that("two updates of one object are independent", {
  base <- gp_regression(c(0, 1), c(0, 1), kernel_se(0.5), 0.1)
  a <- update(base, 0.5, 3)
  b <- update(base, 0.5, -3)
  c <- update(a, 0.2, 1)
  at <- seq(0, 1, 0.25)
  expect_equal(predict(a, at), predict(gp_regression(c(0, 1, 0.5), c(0, 1, 3), kernel_se(0.5), 0.1), at))
  expect_equal(predict(b, at), predict(gp_regression(c(0, 1, 0.5), c(0, 1, -3), kernel_se(0.5), 0.1), at))
  expect_equal(predict(c, at),
               predict(gp_regression(c(0, 1, 0.5, 0.2), c(0, 1, 3, 1), kernel_se(0.5), 0.1), at))
  expect_equal(predict(base, at), predict(gp_regression(c(0, 1), c(0, 1), kernel_se(0.5), 0.1), at))
})

test_that("points predicted again after an update have the values of a first prediction", {
  set.seed(3)
  x <- matrix(runif(40), 20)
  at <- matrix(runif(34), 17)
  fit <- gp_regression(x, rnorm(20), kernel_matern(1.5, 0.4), 0.01)
  predict(fit, at)
  for (i in 1:40) {
    fit <- update(fit, runif(2), rnorm(1))
    again <- predict(fit, at)
  }
  fresh <- gp_regression(fit$x, fit$y, fit$kernel, fit$noise_var)
  expect_equal(again, predict(fresh, at), tolerance = tol$replay)
})

test_that("after saveRDS(), edits of the data and copies the predictions are those of the data", {
  fit <- update(gp_regression(1:5 / 5, 1:5, kernel_se(0.4), 0.1), 0.3, 2)
  file <- tempfile()
  saveRDS(fit, file)
  back <- readRDS(file)
  at <- seq(0, 1, 0.1)
  expect_identical(cpp_regression_size(back$state$pointer), -1)
  expect_equal(predict(back, at), predict(fit, at), tolerance = tol$replay)
  expect_equal(predict(update(readRDS(file), 0.9, 1), at), predict(update(fit, 0.9, 1), at),
               tolerance = tol$replay)
  edited <- fit
  edited$y <- fit$y + 1
  edited$noise_var <- 0.3
  expect_equal(predict(edited, at), predict(gp_regression(fit$x, fit$y + 1, fit$kernel, 0.3), at))
})

test_that("without observations the posterior is the prior", {
  fit <- gp_regression(numeric(), numeric(), kernel_se(1, 4), 0.1, mean = 3)
  expect_equal(predict(fit, c(0, 5)), data.frame(mean = c(3, 3), sd = c(2, 2)))
  expect_equal(as.numeric(logLik(fit)), 0)
  expect_equal(predict(fit, c(0, 1), cov = TRUE)$cov, ref_kernel_se(1, 4)(matrix(c(0, 1))))
  expect_identical(nrow(predict(fit)), 0L)
  expect_identical(dim(simulate(fit, 2)), c(0L, 2L))
  grown <- update(fit, 1, 2)
  expect_equal(predict(grown, 1), predict(gp_regression(1, 2, kernel_se(1, 4), 0.1, mean = 3), 1))
  wide <- gp_regression(matrix(0, 0, 3), numeric(), kernel_se(), 1)
  expect_equal(predict(wide, diag(3))$sd, rep(1, 3))
})

test_that("duplicates, constant values and tiny noise work", {
  x <- rep(c(0.2, 0.2, 0.7), 30)
  y <- rep(5, 90)
  fit <- gp_regression(x, y, kernel_se(0.3), noise_var = 1e-10)
  got <- predict(fit, c(0.2, 0.7, 0.4))
  expect_true(all(is.finite(as.matrix(got))) && all(got$sd >= 0))
  expect_equal(got$mean[1:2], c(5, 5), tolerance = 1e-6)
  # n measurements of one point: variance = k lambda / (lambda + n k)
  many <- gp_regression(rep(1, 50), rnorm(50), kernel_se(1, 2), 0.5)
  expect_equal(predict(many, 1)$sd, sqrt(2 * 0.5 / (0.5 + 50 * 2)), tolerance = tol$identity)
  one_by_one <- gp_regression(numeric(), numeric(), kernel_se(0.3), 1e-10)
  for (i in 1:40) one_by_one <- update(one_by_one, 0.5, 1)
  expect_equal(predict(one_by_one, 0.5)$mean, 1, tolerance = 1e-6)
})

test_that("simulate() draws jointly from the posterior", {
  set.seed(8)
  fit <- gp_regression(c(0.2, 0.8), c(1, -1), kernel_se(0.3), 0.05, mean = 2)
  at <- c(0.1, 0.15, 0.5, 0.9, 0.9)
  draws <- t(as.matrix(simulate(fit, nsim = 20000, seed = 5, newdata = at)))
  want <- predict(fit, at, cov = TRUE)
  # each entry within five of its standard errors
  error <- sqrt((want$cov^2 + outer(diag(want$cov), diag(want$cov))) / 20000)
  expect_true(all(abs(cov(draws) - want$cov) < 5 * error))
  expect_true(all(abs(colMeans(draws) - want$mean) < 5 * want$sd / sqrt(20000)))
  expect_lt(max(abs(draws[, 4] - draws[, 5])), 1e-6)
  expect_gt(cor(draws[, 1], draws[, 2]), 0.9)
})

test_that("simulate() follows R's conventions on seeds", {
  fit <- gp_regression(c(0.2, 0.8), c(1, -1), kernel_se(0.3), 0.05)
  set.seed(1)
  state <- .Random.seed
  a <- simulate(fit, 2, seed = 7, newdata = c(0.1, 0.4))
  expect_identical(.Random.seed, state)
  expect_s3_class(a, "data.frame")
  expect_named(a, c("sim_1", "sim_2"))
  expect_identical(a, simulate(fit, 2, seed = 7, newdata = c(0.1, 0.4)))
  expect_identical(as.numeric(attr(a, "seed")), 7)
  b <- simulate(fit, newdata = 0.3)
  expect_identical(attr(b, "seed"), state)
  expect_false(identical(.Random.seed, state))
  assign(".Random.seed", attr(b, "seed"), envir = globalenv())
  expect_identical(simulate(fit, newdata = 0.3), b)
})

test_that("columns are matched by name", {
  x <- cbind(a = runif(10), b = runif(10))
  fit <- gp_regression(x, x[, 1] - x[, 2], kernel_se(c(0.2, 2)), 0.01)
  at <- data.frame(b = c(0.1, 0.2), other = 0, a = c(0.5, 0.6))
  expect_equal(predict(fit, at), predict(fit, cbind(c(0.5, 0.6), c(0.1, 0.2))))
  expect_error(predict(fit, data.frame(a = 1, c = 2)), class = "gpbandits_error", regexp = "newdata")
  expect_equal(update(fit, data.frame(b = 1, a = 0), 3)$x[11, ], c(a = 0, b = 1))
  dims <- gp_regression(x, x[, 1], kernel_se(0.2, dims = "b"), 0.01)
  expect_equal(predict(dims, cbind(0, 0.3)), predict(dims, cbind(9, 0.3)))
})

test_that("a covariance given as a matrix is indexed by arm numbers", {
  set.seed(12)
  K <- crossprod(matrix(rnorm(30), 5))
  y <- c(1, 2, -1)
  fit <- gp_regression(c(2, 4, 2), y, kernel_matrix(K), 0.3)
  want <- ref_posterior_at(K, c(2, 4, 2), y, 0.3)
  expect_equal(predict(fit, 1:6)$mean, want$mean, tolerance = tol$identity)
  expect_equal(predict(fit, 1:6)$sd, want$sd, tolerance = tol$identity)
  expect_error(predict(fit, 7), class = "gpbandits_error", regexp = "newdata")
  expect_error(update(fit, 0, 1), class = "gpbandits_error", regexp = "`x`")
  expect_error(gp_regression(1.5, 1, kernel_matrix(K), 1), class = "gpbandits_error")
  # inputs first, arm numbers last
  mixed <- gp_regression(cbind(u = c(0, 0.5, 1), arm = c(1, 6, 3)), y,
                         kernel_se(0.4) * kernel_matrix(K), 0.2)
  gram <- ref_kernel_se(0.4)(matrix(c(0, 0.5, 1))) * K[c(1, 6, 3), c(1, 6, 3)]
  expect_equal(fitted(mixed), as.vector(gram %*% solve(gram + diag(0.2, 3), y)),
               tolerance = tol$identity)
})

test_that("invalid input is an error that names it and changes nothing", {
  fit <- gp_regression(c(0, 1), c(0, 1), kernel_se(), 0.1)
  bad <- function(code, argument) {
    condition <- tryCatch(code, gpbandits_error = identity)
    expect_s3_class(condition, "gpbandits_error")
    expect_identical(condition$argument, argument)
  }
  bad(gp_regression(1:3, 1:2, kernel_se(), 1), "y")
  bad(gp_regression(1:3, kernel = kernel_se(), noise_var = 1), "y")
  bad(gp_regression(y = 1, kernel = kernel_se(), noise_var = 1), "x")
  bad(gp_regression(c(1, NA), 1:2, kernel_se(), 1), "x")
  bad(gp_regression("a", 1, kernel_se(), 1), "x")
  bad(gp_regression(1:2, c(1, Inf), kernel_se(), 1), "y")
  bad(gp_regression(1:2, 1:2, "none", 1), "kernel")
  bad(gp_regression(1:2, 1:2, noise_var = 1), "kernel")
  bad(gp_regression(1:2, 1:2, kernel_se(), 0), "noise_var")
  bad(gp_regression(1:2, 1:2, kernel_se(), -1), "noise_var")
  bad(gp_regression(1:2, 1:2, kernel_se()), "noise_var")
  bad(gp_regression(1:2, 1:2, kernel_se(), 1, mean = c(0, 1)), "mean")
  bad(gp_regression(1:2, 1:2, kernel_se(dims = 2), 1), "dims")
  bad(gp_regression(1:2, 1:2, kernel_se(c(1, 2)), 1), "lengthscale")
  bad(predict(fit, c(1, NaN)), "newdata")
  bad(predict(fit, matrix(1, 1, 2)), "newdata")
  bad(predict(fit, 1, se.fit = NA), "se.fit")
  bad(predict(fit, 1, cov = "yes"), "cov")
  bad(predict(fit, 1, sefit = TRUE), "sefit")
  bad(simulate(fit, nsim = 0), "nsim")
  bad(simulate(fit, seed = "a"), "seed")
  bad(simulate(fit, newdata = NA), "newdata")
  bad(update(fit, 1), "y")
  bad(update(fit, y = 1), "x")
  bad(update(fit, 1:2, 1), "y")
  bad(update(fit, Inf, 1), "x")
  bad(update(fit, 1, NA_real_), "y")
  bad(update(fit, 1, 1, noise = 2), "noise")
  bad(plot(fit, width = -1), "width")
  expect_equal(nobs(fit), 2)
  expect_equal(predict(fit, 0.5), predict(gp_regression(c(0, 1), c(0, 1), kernel_se(), 0.1), 0.5))
})

test_that("print(), summary() and plot() have the documented results", {
  set.seed(2)
  fit <- gp_regression(runif(20), rnorm(20), kernel_matern(2.5, 0.2), 0.1)
  expect_output(print(fit), "20 observation")
  expect_output(print(fit), "Matern")
  s <- summary(fit)
  expect_equal(s$information_gain,
               ref_logdet(ref_kernel_matern(2.5, 0.2)(fit$x), 1:20, 0.1) / 2, tolerance = tol$identity)
  expect_output(print(s), "information gain")
  expect_output(print(summary(gp_regression(numeric(), numeric(), kernel_se(), 1))), "0 observation")
  local_device()
  drawn <- plot(fit, points = 50)
  expect_identical(dim(drawn), c(50L, 3L))
  expect_equal(drawn$mean, predict(fit, drawn$x)$mean)
  expect_silent(plot(gp_regression(numeric(), numeric(), kernel_se(), 1)))
  expect_silent(plot(gp_regression(0.5, 1, kernel_se(), 1)))
  two <- plot(gp_regression(matrix(runif(20), 10), rnorm(10), kernel_se(), 1))
  expect_identical(nrow(two), 10L)
})

test_that("a regression is freed although its kernel's function refers to it, and works after a garbage collection", {
  freed <- 0
  forget <- function() {
    mark <- new.env()
    reg.finalizer(mark, function(e) freed <<- freed + 1)
    fit <- gp_regression(matrix(1:5 / 5), sin(1:5), kernel_function(function(X, Y) exp(-outer(X[, 1], Y[, 1], "-")^2)), 0.1)
    predict(fit, 0.5)
    before <- predict(update(fit, 0.7, 1), 0.5)       # two that share cached results, of different sizes
    gc()
    expect_equal(predict(update(fit, 0.7, 1), 0.5), before, tolerance = 1e-12)
    NULL
  }
  times <- by_level(4, 4, quick = 2)
  for (k in seq_len(times)) forget()
  gc()
  gc()
  expect_gte(freed, times - 1)                                # (R may still refer to the last one)
})
