# gp_fit against plain-R likelihoods, finite differences and optim().

plain_log_likelihood <- function(K, y, noise_var, mean) {
  A <- K + diag(noise_var, nrow(K))
  residual <- y - mean
  -0.5 * (sum(residual * solve(A, residual)) + as.numeric(determinant(A)$modulus) +
            length(y) * log(2 * pi))
}

best_mean <- function(A) function(y) sum(solve(A, y)) / sum(solve(A))

# The core's likelihood at a kernel's parameters times exp(shift).
core_likelihood <- function(kernel, x, y, noise_var, shift = 0, fit_mean = FALSE, log_scale = 0,
                            gradient = FALSE, own_noise = double()) {
  skip_without_testing()
  resolved <- internal("resolve_kernel")(kernel, paste0("x", seq_len(ncol(x))))
  at <- log(c(internal("kernel_parameters")(kernel), noise_var)) + shift
  internal("cpp_fit_likelihood")(resolved, x, y, own_noise, fit_mean, at, log_scale, gradient)
}

simulated <- function(n, d, noise_sd = 0.1, seed = 1) {
  set.seed(seed)
  x <- matrix(runif(n * d), n)
  list(x = x, y = sin(6 * x[, 1]) + (if (d > 1) x[, 2]^2 else 0) + rnorm(n, sd = noise_sd))
}

test_that("the likelihood and the best mean equal the dense formulas", {
  skip_on_cran()
  cases <- compare_kernels()
  for (name in names(cases)) {
    for (n in c(2, 25, 60)) {
      case <- cases[[name]]
      data <- simulated(n, case$d)
      K <- case$ref(data$x)
      expect_equal(core_likelihood(case$core, data$x, data$y, 0.05)$value,
                   plain_log_likelihood(K, data$y, 0.05, 0), tolerance = 1e-9, info = name)
      fitted <- core_likelihood(case$core, data$x, data$y + 3, 0.05, fit_mean = TRUE)
      m <- best_mean(K + diag(0.05, n))(data$y + 3)
      expect_equal(fitted$mean, m, tolerance = 1e-9, info = name)
      expect_equal(fitted$value, plain_log_likelihood(K, data$y + 3, 0.05, m), tolerance = 1e-9, info = name)
      scaled <- core_likelihood(case$core, data$x, data$y, 0.05, log_scale = log(3))
      expect_equal(scaled$value, plain_log_likelihood(3 * K, data$y, 0.15, 0), tolerance = 1e-9, info = name)
    }
  }
})

test_that("the gradient is the derivative of the likelihood for every kernel", {
  cases <- c(compare_kernels(), list(
    rq_ard = list(core = kernel_rq(0.8, c(0.4, 0.3), 1.2), d = 2),
    periodic_ard = list(core = kernel_periodic(c(0.7, 0.9), c(1.1, 0.8)), d = 2),
    matern_ard = list(core = kernel_matern(2.5, seq(0.4, 0.9, 0.1)), d = 6)))
  for (name in names(cases)) {
    case <- cases[[name]]
    data <- simulated(50, case$d)
    count <- length(internal("kernel_parameters")(case$core)) + 1
    for (fit_mean in c(FALSE, TRUE)) {
      got <- core_likelihood(case$core, data$x, data$y, 0.1, 0, fit_mean, gradient = TRUE)$gradient
      step <- function(p, h) {
        core_likelihood(case$core, data$x, data$y, 0.1, replace(numeric(count), p, h), fit_mean)$value
      }
      wanted <- vapply(seq_len(count), function(p) (step(p, 1e-4) - step(p, -1e-4)) / 2e-4, 0)
      expect_equal(got, wanted, tolerance = 1e-5, info = name)
    }
  }
})

test_that("pooling observations of one point does not change likelihood, best mean or gradient", {
  skip_on_cran()
  cases <- compare_kernels()
  for (name in names(cases)) {
    case <- cases[[name]]
    data <- simulated(20, case$d)
    rows <- c(1:20, 3, 3, 7, 20, rep(11, 6), 1)
    set.seed(2)
    x <- data$x[rows, , drop = FALSE]
    y <- data$y[rows] + rnorm(length(rows), sd = 0.3)
    K <- case$ref(x)
    A <- K + diag(0.05, length(rows))
    for (fit_mean in c(FALSE, TRUE)) {
      m <- if (fit_mean) best_mean(A)(y) else 0
      got <- core_likelihood(case$core, x, y, 0.05, 0, fit_mean, gradient = TRUE)
      expect_equal(got$mean, m, tolerance = 1e-9, info = name)
      expect_equal(got$value, plain_log_likelihood(K, y, 0.05, m), tolerance = 1e-9, info = name)
      expect_equal(got$log_scale, log(sum((y - m) * solve(A, y - m)) / length(y)), tolerance = 1e-8, info = name)
      scaled <- core_likelihood(case$core, x, y, 0.05, log_scale = log(3))
      expect_equal(scaled$value, plain_log_likelihood(3 * K, y, 0.15, 0), tolerance = 1e-9, info = name)
      alpha <- solve(A, y - m)
      by_noise <- 0.5 * 0.05 * (sum(alpha^2) - sum(diag(solve(A))))
      expect_equal(got$gradient[length(got$gradient)], by_noise, tolerance = 1e-7, info = name)
      count <- length(got$gradient)
      if (!fit_mean) next
      step <- function(p, h) core_likelihood(case$core, x, y, 0.05, replace(numeric(count), p, h), fit_mean)$value
      wanted <- vapply(seq_len(count), function(p) (step(p, 1e-4) - step(p, -1e-4)) / 2e-4, 0)
      expect_equal(got$gradient, wanted, tolerance = 1e-5, info = name)
    }
  }
})

test_that("noise variances of single observations are on the diagonal, also for repeated points", {
  cases <- compare_kernels()
  for (name in names(cases)) {
    case <- cases[[name]]
    data <- simulated(20, case$d)
    rows <- c(1:20, 3, 3, 7, 20, rep(11, 6), 1)
    set.seed(3)
    x <- data$x[rows, , drop = FALSE]
    y <- data$y[rows] + rnorm(length(rows), sd = 0.3)
    # Points with the noise that all share, with their own, and with both.
    own <- ifelse(seq_along(rows) %% 3 == 0, NA, exp(runif(length(rows), log(1e-4), log(4))))
    own[c(2, 20, 24)] <- NA
    K <- case$ref(x)
    A <- K + diag(ifelse(is.na(own), 0.05, own))
    for (fit_mean in c(FALSE, TRUE)) {
      m <- if (fit_mean) best_mean(A)(y) else 0
      got <- core_likelihood(case$core, x, y, 0.05, 0, fit_mean, gradient = TRUE, own_noise = own)
      expect_equal(got$mean, m, tolerance = 1e-9, info = name)
      expect_equal(got$value, plain_log_likelihood(A, y, 0, m), tolerance = 1e-9, info = name)
      alpha <- solve(A, y - m)
      by_noise <- 0.5 * 0.05 * sum((alpha^2 - diag(solve(A)))[is.na(own)])
      count <- length(got$gradient)
      expect_equal(got$gradient[count], by_noise, tolerance = 1e-7, info = name)
      step <- function(p, h) {
        core_likelihood(case$core, x, y, 0.05, replace(numeric(count), p, h), fit_mean, own_noise = own)$value
      }
      # (Of fourth order: precise measurements make it steep.)
      wanted <- vapply(seq_len(count), function(p) {
        (8 * (step(p, 1e-4) - step(p, -1e-4)) - (step(p, 2e-4) - step(p, -2e-4))) / 12e-4
      }, 0)
      expect_equal(got$gradient, wanted, tolerance = 1e-5, info = name)
    }
  }
})

test_that("separate noise equal to the common one changes nothing, and if all have it the common one is not fitted", {
  data <- simulated(30, 1)
  kernel <- kernel_matern(2.5, 0.4)
  same <- core_likelihood(kernel, data$x, data$y, 0.03, gradient = TRUE, own_noise = rep(0.03, 30))
  plain <- core_likelihood(kernel, data$x, data$y, 0.03, gradient = TRUE)
  expect_equal(same$value, plain$value, tolerance = 1e-12)
  expect_equal(same$gradient[1:2], plain$gradient[1:2], tolerance = 1e-9)
  expect_equal(same$gradient[3], 0, tolerance = 1e-9)
  fit <- gp_fit(data$x, data$y, kernel, 0.7, own_noise = rep(0.01, 30), mean = 0)
  expect_identical(fit$noise_var, 0.7)
  fixed <- gp_fit(data$x, data$y, kernel, 0.01, fix_noise = TRUE, mean = 0)
  expect_equal(fit$kernel, fixed$kernel, tolerance = 1e-2)
  expect_equal(fit$log_likelihood, fixed$log_likelihood, tolerance = 1e-6)
})

test_that("a fit weights observations by their noise variances", {
  set.seed(4)
  x <- runif(60)
  own <- rep(c(1e-4, 4), 30)
  y <- sin(8 * x) + rnorm(60, sd = sqrt(own))
  kernel <- kernel_se(0.3)
  fit <- gp_fit(x, y, kernel, own_noise = own, mean = 0)
  K <- ref_kernel_se(fit$kernel$lengthscale, fit$kernel$variance)(cbind(x))
  expect_equal(fit$log_likelihood, plain_log_likelihood(K + diag(own), y, 0, 0), tolerance = 1e-8)
  truth <- gp_regression(x, y, kernel, 1, own_noise = own)
  expect_gte(fit$log_likelihood, as.numeric(logLik(truth)))
  expect_lt(max(abs(predict(fit, seq(0.1, 0.9, 0.1))$mean - sin(8 * seq(0.1, 0.9, 0.1)))), 0.05)
  expect_gt(fit$log_likelihood, gp_fit(x, y, kernel, mean = 0)$log_likelihood + 5)
  # More than 100 points: the exploration sees some of them, with their noise.
  x <- runif(240)
  own <- rep(c(1e-4, NA, 4), 80)
  y <- sin(8 * x) + rnorm(240, sd = sqrt(ifelse(is.na(own), 0.25, own)))
  fit <- gp_fit(x, y, kernel, own_noise = own, mean = 0)
  expect_equal(fit$noise_var, 0.25, tolerance = 0.4)
})

test_that("gp_regression() uses noise variances of single observations", {
  data <- simulated(25, 2)
  own <- rep(c(NA, 1e-3, 0.5, NA, 2), 5)
  kernel <- kernel_matern(1.5, 0.5)
  fit <- gp_regression(data$x, data$y, kernel, 0.02, mean = 0.3, own_noise = own)
  A <- ref_kernel_matern(1.5, 0.5)(data$x) + diag(ifelse(is.na(own), 0.02, own))
  at <- data$x[3:6, ] + 0.05
  cross <- ref_kernel_matern(1.5, 0.5)(rbind(at, data$x))[1:4, -(1:4)]
  expect_equal(predict(fit, at)$mean, 0.3 + drop(cross %*% solve(A, data$y - 0.3)), tolerance = 1e-9)
  expect_equal(predict(fit, at)$sd, sqrt(1 - rowSums(cross * t(solve(A, t(cross))))), tolerance = 1e-8)
  expect_equal(as.numeric(logLik(fit)), plain_log_likelihood(A, data$y, 0, 0.3), tolerance = 1e-9)
  grown <- gp_regression(data$x[1:10, ], data$y[1:10], kernel, 0.02, mean = 0.3, own_noise = own[1:10])
  grown <- update(grown, data$x[11:25, ], data$y[11:25], own_noise = own[11:25])
  expect_equal(predict(grown, at), predict(fit, at), tolerance = 1e-9)
  again <- unserialize(serialize(grown, NULL))
  expect_equal(predict(again, at), predict(fit, at), tolerance = 1e-9)
  late <- update(gp_regression(data$x, data$y, kernel, 0.02), at, 1:4, own_noise = c(NA, 1, NA, 2))
  expect_identical(late$own_noise, c(rep(NA, 25), NA, 1, NA, 2))
  for (bad in list(1, c(0, rep(1, 24)), rep("a", 25), rep(Inf, 25))) {
    expect_error(gp_regression(data$x, data$y, kernel, 0.02, own_noise = bad), "own_noise", class = "gpbandits_error")
  }
})

test_that("the inverse is correct across the sizes of blocks", {
  for (n in c(23, 24, 25, 47, 48, 49)) {
    data <- simulated(n, 1)
    got <- core_likelihood(kernel_se(0.2), data$x, data$y, 0.01, gradient = TRUE)$gradient[3]
    A <- ref_kernel_se(0.2)(data$x) + diag(0.01, n)
    alpha <- solve(A, data$y)
    expect_equal(got, 0.005 * (sum(alpha^2) - sum(diag(solve(A)))), tolerance = 1e-7)
  }
})

test_that("the result is a regression with the fitted parameters", {
  data <- simulated(40, 2)
  fit <- gp_fit(data$x, data$y, kernel_matern(2.5, c(1, 1)), mean = "fit")
  expect_s3_class(fit, c("gp_fit", "gp_regression"), exact = TRUE)
  K <- kernel_gram(fit$kernel, data$x)
  expect_equal(fit$log_likelihood, plain_log_likelihood(K, data$y, fit$noise_var, fit$mean), tolerance = 1e-8)
  expect_equal(fit$mean, best_mean(K + diag(fit$noise_var, 40))(data$y), tolerance = 1e-8)
  expect_equal(fit$estimated, 5)
  expect_equal(attr(logLik(fit), "df"), 5)
  expect_named(fit$parameters, c("matern.lengthscale1", "matern.lengthscale2", "matern.variance", "noise_var"))
  expect_equal(unname(fit$parameters), c(fit$kernel$lengthscale, fit$kernel$variance, fit$noise_var))
  expect_identical(fit$convergence, "converged")
  again <- gp_regression(data$x, data$y, fit$kernel, fit$noise_var, fit$mean)
  expect_equal(predict(fit, data$x), predict(again, data$x))
  expect_output(print(fit), "5 parameter")
  expect_equal(nrow(update(fit, matrix(0.5, 1, 2), 0)$x), 41)
})

test_that("no parameters nearby are better, and the gradient is 0 at the fit", {
  for (kernel in list(kernel_se(c(1, 1)), kernel_matern(1.5, 0.2) + kernel_linear(dims = 1),
                      kernel_rq(1, 0.5, dims = 1) * kernel_se(0.4, dims = 2))) {
    data <- simulated(60, 2)
    fit <- gp_fit(data$x, data$y, kernel, mean = 0)
    free <- core_likelihood(fit$kernel, data$x, data$y, fit$noise_var, gradient = TRUE)$gradient
    value <- core_likelihood(fit$kernel, data$x, data$y, fit$noise_var)$value
    for (p in seq_along(free)) {
      for (h in c(-0.05, 0.05)) {
        inside <- fit$parameters[p] > 1e-5 & fit$parameters[p] < 90
        if (!inside) next
        moved <- core_likelihood(fit$kernel, data$x, data$y, fit$noise_var, replace(0 * free, p, h))$value
        expect_lte(moved, value + 1e-3)
      }
    }
  }
})

test_that("the parameters that generated the data are found approximately", {
  set.seed(3)
  x <- matrix(runif(300), ncol = 2)
  kernel <- kernel_matern(2.5, c(0.2, 0.5), variance = 2)
  K <- kernel_gram(kernel, x)
  y <- drop(crossprod(chol(K + diag(1e-10, 150)), rnorm(150))) + rnorm(150, sd = 0.1)
  fit <- gp_fit(x, y, kernel_matern(2.5, c(1, 1)), mean = 0)
  expect_lt(max(abs(log(fit$kernel$lengthscale / c(0.2, 0.5)))), 0.5)
  expect_lt(abs(log(fit$noise_var / 0.01)), 0.5)
  expect_gte(fit$log_likelihood, as.numeric(logLik(gp_regression(x, y, kernel, 0.01))))
})

test_that("the fit is as good as optim() on the plain formula from the same start", {
  data <- simulated(35, 2)
  objective <- function(theta) {
    -plain_log_likelihood(ref_kernel_se(exp(theta[1:2]), exp(theta[3]))(data$x), data$y, exp(theta[4]), 0)
  }
  start <- log(c(0.5, 0.5, 1, 0.05))
  best <- optim(start, objective, method = "L-BFGS-B", lower = log(c(0.01, 0.01, 1e-3, 1e-6)),
                upper = log(c(50, 50, 1e3, 10)))
  for (starts in c(1, 3)) {
    fit <- gp_fit(data$x, data$y, kernel_se(c(0.5, 0.5)), 0.05, starts = starts, mean = 0)
    expect_gte(fit$log_likelihood, -best$value - 1e-3)
  }
})

test_that("the fit is never worse than the start, for any start", {
  data <- simulated(30, 1)
  for (noise_var in c(1e-6, 0.01, 5)) {
    for (kernel in list(kernel_se(1e-3, 100), kernel_matern(0.5, 30, 1e-4), kernel_periodic(0.5, 1) + kernel_se(0.2))) {
      start <- as.numeric(logLik(gp_regression(data$x, data$y, kernel, noise_var)))
      expect_gte(gp_fit(data$x, data$y, kernel, noise_var, iterations = 1, mean = 0)$log_likelihood, start)
      fixed <- gp_fit(data$x, data$y, kernel, noise_var, fix_noise = TRUE, starts = 1, mean = 0)
      expect_gte(fixed$log_likelihood, start)
      expect_identical(fixed$noise_var, noise_var)
    }
  }
  fit <- gp_fit(data$x, data$y, kernel_se(0.3), mean = "fit")
  again <- gp_fit(data$x, data$y, fit$kernel, fit$noise_var, mean = "fit")
  expect_gte(again$log_likelihood, fit$log_likelihood - 1e-9)
})

test_that("with many points the search on a part of them ends at a maximum of all, never below the start", {
  data <- simulated(230, 2)
  fit <- gp_fit(data$x, data$y, kernel_se(c(1, 1)), mean = "fit")
  slope <- core_likelihood(fit$kernel, data$x, data$y, fit$noise_var, fit_mean = TRUE, gradient = TRUE)$gradient
  expect_lt(max(abs(slope)), 0.1)
  near <- gp_fit(data$x, data$y, fit$kernel, fit$noise_var, mean = "fit", starts = 1)
  expect_gte(near$log_likelihood, fit$log_likelihood - 1e-9)
  expect_gte(gp_fit(data$x, data$y, fit$kernel, fit$noise_var, mean = "fit", iterations = 1)$log_likelihood,
             fit$log_likelihood - 1e-9)
})

test_that("bounds hold, also those of variance and noise", {
  data <- simulated(40, 1)
  free <- gp_fit(data$x, data$y, kernel_se(0.3), mean = 0)
  bounds <- c(se.variance = free$kernel$variance * 3, noise_var = free$noise_var * 2)
  lower <- gp_fit(data$x, data$y, kernel_se(0.3), lower = bounds, mean = 0)
  expect_gte(lower$kernel$variance, bounds[[1]] * (1 - 1e-12))
  expect_gte(lower$noise_var, bounds[[2]] * (1 - 1e-12))
  upper <- gp_fit(data$x, data$y, kernel_se(0.3), upper = bounds / c(9, 4), mean = 0)
  expect_lte(upper$kernel$variance, bounds[[1]] / 9 * (1 + 1e-12))
  expect_lte(upper$noise_var, bounds[[2]] / 4 * (1 + 1e-12))
  expect_lt(upper$log_likelihood, free$log_likelihood)
  # The closed form within bounds is the same maximum as a search over both (a weak prior
  # on the variance rules the closed form out).
  for (side in list(list(lower = bounds), list(upper = bounds / c(9, 4)),
                    list(lower = bounds[2]), list(upper = bounds[2] / 4))) {
    closed <- do.call(gp_fit, c(list(data$x, data$y, kernel_se(0.3)), side))
    searched <- do.call(gp_fit, c(list(data$x, data$y, kernel_se(0.3)), side,
                                  list(priors = list(se.variance = c(0, 1e6)))))
    expect_equal(closed$log_likelihood, searched$log_likelihood, tolerance = 1e-4)
  }
  fixed <- gp_fit(data$x, data$y, kernel_se(0.3), lower = c(se.lengthscale = 0.3),
                  upper = c(se.lengthscale = 0.3), mean = 0)
  expect_equal(fixed$kernel$lengthscale, 0.3)
  expect_equal(fixed$estimated, 2)
})

test_that("priors move the fit towards their medians", {
  data <- simulated(25, 1)
  free <- gp_fit(data$x, data$y, kernel_se(0.3), mean = 0)
  for (target in c(0.05, 2)) {
    prior <- function(sd) list(se.lengthscale = c(meanlog = log(target), sdlog = sd))
    weak <- gp_fit(data$x, data$y, kernel_se(0.3), priors = prior(0.5), mean = 0)
    strong <- gp_fit(data$x, data$y, kernel_se(0.3), priors = prior(0.01), mean = 0)
    away <- function(fit) abs(log(fit$kernel$lengthscale / target))
    expect_lt(away(weak), away(free))
    expect_lt(away(strong), 0.05)
    expect_gt(free$log_likelihood, strong$log_likelihood)
    expect_equal(weak$objective, weak$log_likelihood - 0.5 * (away(weak) / 0.5)^2)
  }
})

test_that("with priors the slope of the likelihood is minus that of the log prior at the mode", {
  data <- simulated(30, 2)
  kernels <- list(kernel_se(c(0.4, 0.4)), kernel_matern(2.5, 0.4) + kernel_linear(dims = 2),
                  kernel_rq(1, 0.5, dims = 1) * kernel_periodic(1, 1, dims = 2))
  for (kernel in kernels) {
    names <- c(names(internal("kernel_parameters")(kernel)), "noise_var")
    prior_mean <- seq(-1, 0.5, length.out = length(names))
    prior_sd <- seq(0.2, 0.6, length.out = length(names))
    priors <- stats::setNames(Map(c, prior_mean, prior_sd), names)
    fit <- gp_fit(data$x, data$y, kernel, 0.1, priors = priors, mean = 0)
    slope <- core_likelihood(fit$kernel, data$x, data$y, fit$noise_var, gradient = TRUE)$gradient
    expect_lt(max(abs(slope - (log(fit$parameters) - prior_mean) / prior_sd^2)), 0.1)
    expect_equal(fit$objective, fit$log_likelihood - 0.5 * sum(((log(fit$parameters) - prior_mean) / prior_sd)^2))
  }
})

test_that("with a prior on one parameter the mode equals that of the plain formula", {
  data <- simulated(20, 1)
  for (sd in c(0.05, 0.3, 2)) {
    plain <- optimize(function(theta) {
      plain_log_likelihood(ref_kernel_se(exp(theta))(data$x), data$y, 0.05, 0) - 0.5 * ((theta - log(1.5)) / sd)^2
    }, log(c(0.02, 5)), maximum = TRUE, tol = 1e-9)
    fit <- gp_fit(data$x, data$y, kernel_se(0.5), 0.05, fix_noise = TRUE, lower = c(se.variance = 1),
                  upper = c(se.variance = 1), priors = list(se.lengthscale = c(log(1.5), sd)), mean = 0)
    expect_equal(log(fit$kernel$lengthscale), plain$maximum, tolerance = 1e-2)
    expect_equal(fit$objective, plain$objective, tolerance = 1e-5)
  }
})

test_that("for every kernel the fit is better than the start, and the gradient in free directions is 0", {
  cases <- compare_kernels()
  for (name in names(cases)) {
    case <- cases[[name]]
    data <- simulated(40, case$d)
    for (mean in list(0, "fit")) {
      fit <- gp_fit(data$x, data$y, case$core, 0.05, mean = mean)
      expect_gte(fit$log_likelihood, as.numeric(logLik(gp_regression(data$x, data$y, case$core, 0.05))))
      expect_equal(fit$log_likelihood, plain_log_likelihood(kernel_gram(fit$kernel, data$x), data$y, fit$noise_var, fit$mean),
                   tolerance = 1e-7, info = name)
      found <- core_likelihood(fit$kernel, data$x, data$y, fit$noise_var, fit_mean = mean == "fit", gradient = TRUE)
      # A step along the slope, within the widest bounds, gains next to nothing.
      step <- function(h) {
        core_likelihood(fit$kernel, data$x, data$y, fit$noise_var, h * found$gradient, mean == "fit")$value
      }
      inside <- all(fit$parameters > 1e-3 & fit$parameters < 50)
      if (inside) expect_lt(max(step(0.01), step(0.1)) - found$value, 0.01)
    }
  }
})

test_that("units of y change variances by their square and nothing else", {
  data <- simulated(40, 2)
  fit <- function(scale) {
    gp_fit(data$x, scale * data$y, kernel_matern(2.5, c(0.5, 0.5), scale^2), 0.01 * scale^2, mean = "fit")
  }
  one <- fit(1)
  for (scale in c(1e-8, 1e8)) {
    other <- fit(scale)
    expect_equal(other$kernel$lengthscale, one$kernel$lengthscale, tolerance = 1e-4)
    expect_equal(other$kernel$variance, one$kernel$variance * scale^2, tolerance = 1e-3)
    expect_equal(other$noise_var, one$noise_var * scale^2, tolerance = 1e-3)
    expect_equal(other$mean, one$mean * scale, tolerance = 1e-4)
    # A start in quite other units ends as well.
    blind <- gp_fit(data$x, scale * data$y, kernel_matern(2.5, c(0.5, 0.5)), mean = "fit")
    expect_equal(blind$log_likelihood, other$log_likelihood, tolerance = 1e-4)
  }
})

test_that("a mean far from 0 is found to full precision", {
  data <- simulated(30, 1)
  near <- gp_fit(data$x, data$y, kernel_se(0.3), mean = "fit")
  far <- gp_fit(data$x, data$y + 1e6, kernel_se(0.3), mean = "fit")
  expect_equal(far$mean - 1e6, near$mean, tolerance = 1e-3)
  expect_equal(far$log_likelihood, near$log_likelihood, tolerance = 1e-4)
})

test_that("edge cases work: constant y, duplicates, two points, constant inputs, matrices", {
  constant <- gp_fit(1:5, rep(3, 5), kernel_se(2), 0.1, mean = "fit")
  expect_identical(constant$convergence, "constant")
  expect_identical(constant$kernel, kernel_se(2))
  expect_identical(constant$noise_var, 0.1)
  expect_equal(constant$mean, 3)
  expect_output(print(constant), "constant")
  expect_true(is.finite(gp_fit(1:5, rep(3, 5), kernel_se(2), 0.1, mean = 0)$log_likelihood))
  twice <- gp_fit(rep(c(0.1, 0.5, 0.7), 4), rep(c(1, 2, 1.5), 4) + rep(c(-0.1, 0.1), 6), kernel_matern(), mean = 0)
  expect_true(twice$noise_var > 0 && is.finite(twice$log_likelihood))
  two <- gp_fit(c(0, 1), c(1, -1), kernel_se(1), mean = 0)
  expect_true(is.finite(two$log_likelihood))
  flat <- gp_fit(cbind(1, c(0.1, 0.4, 0.5, 0.9)), c(1, 2, 2, 0), kernel_se(c(1, 1)), mean = 0)
  expect_true(all(is.finite(flat$parameters)))
  table <- 0.8^abs(outer(1:6, 1:6, "-"))
  arms <- gp_fit(c(1:6, 2:4), sin(1:9), kernel_matrix(table), mean = 0)
  expect_named(arms$parameters, "noise_var")
  expect_equal(arms$noise_var, optimize(function(l) {
    plain_log_likelihood(table[c(1:6, 2:4), c(1:6, 2:4)], sin(1:9), exp(l), 0)
  }, log(c(1e-6, 10)), maximum = TRUE, tol = 1e-9)$maximum |> exp(), tolerance = 1e-3)
})

test_that("the same data give the same fit, without random numbers", {
  data <- simulated(20, 1)
  set.seed(9)
  before <- .Random.seed
  first <- gp_fit(data$x, data$y, kernel_se(0.3), mean = 0)
  expect_identical(.Random.seed, before)
  expect_identical(gp_fit(data$x, data$y, kernel_se(0.3), mean = 0)$parameters, first$parameters)
})

test_that("invalid arguments are errors that name them", {
  bad <- function(..., argument) {
    error <- expect_error(gp_fit(...), class = "gpbandits_error")
    expect_match(error$argument, argument, fixed = TRUE)
  }
  x <- c(0.1, 0.5, 0.9)
  y <- c(1, 2, 1)
  k <- kernel_se(0.3)
  bad(x[1], y[1], k, argument = "y")
  bad(x, c(1, NA, 2), k, argument = "y")
  bad(x, y, "none", argument = "kernel")
  bad(x, y, k, noise_var = -1, argument = "noise_var")
  bad(x, y, k, fix_noise = TRUE, argument = "noise_var")
  bad(x, y, k, mean = "mean", argument = "mean")
  bad(x, y, k, starts = 0, argument = "starts")
  bad(x, y, k, iterations = 1.5, argument = "iterations")
  bad(x, y, k, lower = c(se.length = 1), argument = "lower")
  bad(x, y, k, lower = 1, argument = "lower")
  bad(x, y, k, upper = c(se.variance = -1), argument = "upper")
  bad(x, y, k, lower = c(se.variance = 2), upper = c(se.variance = 1), argument = "lower")
  bad(x, y, k, priors = c(1, 2), argument = "priors")
  bad(x, y, k, priors = list(se.lengthscale = 1), argument = "priors$se.lengthscale")
  bad(x, y, k, priors = list(se.lengthscale = c(0, -1)), argument = "priors$se.lengthscale")
  bad(x, y, k, priors = list(other = c(0, 1)), argument = "priors")
  bad(x, y, k, strats = 2, argument = "strats")
})

test_that("values too large for a variance to be fitted are errors that name them, and the largest others work", {
  x <- seq(0, 1, length.out = 9)
  y <- sin(x)
  refused <- function(argument, ...) {
    error <- expect_error(gp_fit(x, ..., kernel = kernel_se(0.3), starts = 1, iterations = 5), class = "gpbandits_error")
    expect_identical(error$argument, argument)
  }
  for (mean in c(1e308, -1e308, 1e160, 1e150, 1e100, -1e72)) {
    refused("mean", y, mean = mean)
    refused("mean", y, mean = mean, noise_var = 0.1)
  }
  for (scale in c(1e100, 1e73, 1e-73)) {
    refused("y", scale * y)
    refused("y", scale * y, mean = "fit")
  }
  for (scale in c(1e71, 1e-70)) {
    fit <- gp_fit(x, scale * y, kernel_se(0.3), mean = scale, starts = 1, iterations = 5)
    expect_true(is.finite(fit$log_likelihood) && all(is.finite(predict(fit, 0.33)$mean)))
  }
  expect_error(gp_regression(x, y, kernel_se(0.3), 0.1, mean = 1e308), class = "gpbandits_error")
})

test_that("the noise variance is raised to the least that a model may have", {
  x <- seq(0, 1, length.out = 12)
  fit <- gp_fit(x, sin(3 * x), kernel_se(1, 1e6), lower = c(se.variance = 1e6), upper = c(se.variance = 1e6), mean = 0)
  expect_equal(fit$noise_var, 1e-6)
  expect_lt(max(abs(predict(fit, x, se.fit = FALSE) - sin(3 * x))), 1e-2)
})

test_that("the default mean is fitted, so that an offset of `y` changes nothing else", {
  set.seed(1)
  x <- runif(20)
  grid <- seq(0.1, 0.9, 0.02)
  for (offset in c(0, 100, 1e4, 1e6)) {
    fit <- gp_fit(x, offset + sin(9 * x), kernel_matern(2.5))
    expect_lt(sqrt(mean((predict(fit, grid)$mean - offset - sin(9 * grid))^2)), 1e-3)
  }
  expect_identical(gp_fit(x, sin(9 * x), kernel_matern(2.5))$mean,
                   gp_fit(x, sin(9 * x), kernel_matern(2.5), mean = "fit")$mean)
})

test_that("priors whose density is 0 at a correlation of 1 do not end a search early", {
  set.seed(1)
  x <- cbind(matrix(runif(160), 80), matrix(rbinom(320, 1, 0.8), 80))
  y <- drop(sin(5 * x[, 1]) + x %*% c(0, 1, 0.5, 0, 0.2, 0) + rnorm(80, sd = 0.05))
  kernel <- kernel_matern(2.5, c(1, 1), dims = 1:2) * kernel_categorical(rep(0.5, 4), dims = 3:6)
  correlations <- grep("correlation", names(kernel_parameters(kernel)), value = TRUE)
  priors <- stats::setNames(rep(list(c(shape1 = 4, shape2 = 2)), 4), correlations)
  fit <- gp_fit(x, y - mean(y), kernel, priors = priors, starts = 1, mean = 0)
  expect_identical(fit$convergence, "converged")
  p <- fit$parameters
  log_prior <- function(p) sum(4 * log(p[correlations]) + log1p(-p[correlations]))
  at <- function(p) {
    other <- gp_regression(x, y - mean(y), gpbandits:::kernel_with_parameters(kernel, p[-length(p)]), p[["noise_var"]])
    as.numeric(logLik(other)) + log_prior(p)
  }
  best <- at(p)
  for (name in names(p)) for (step in c(-0.02, 0.02)) {
    q <- replace(p, name, exp(log(p[[name]]) + step))
    if (all(q[correlations] < 1)) expect_lte(at(q), best + 1e-4)
  }
})
