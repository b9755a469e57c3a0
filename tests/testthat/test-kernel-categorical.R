# The kernel of levels without an order, against its formula.

set.seed(1)
coded <- cbind(a = sample(1:3, 12, TRUE), b = sample(0:1, 12, TRUE), c = runif(12))
resolved <- function(kernel) gpbandits:::resolve_kernel(kernel, colnames(coded))
kinds <- list(
  one = list(kernel_categorical(0.3, 2, dims = "a"), ref_kernel_categorical(0.3, 2, dims = 1)),
  shared = list(kernel_categorical(0.3, dims = 1:2), ref_kernel_categorical(0.3, dims = 1:2)),
  each = list(kernel_categorical(c(0.3, 0.9), dims = c("b", "a")), ref_kernel_categorical(c(0.3, 0.9), dims = 2:1)),
  mixed = list(kernel_matern(2.5, 0.4, dims = 3) * kernel_categorical(c(0.2, 0.7), dims = 1:2),
               ref_kernel_product(ref_kernel_matern(2.5, 0.4, dims = 3), ref_kernel_categorical(c(0.2, 0.7), dims = 1:2))),
  sum = list(kernel_se(0.4, dims = 3) + kernel_categorical(0.6, 0.5, dims = 1),
             ref_kernel_sum(ref_kernel_se(0.4, dims = 3), ref_kernel_categorical(0.6, 0.5, dims = 1)))
)

test_that("a categorical kernel equals its formula, alone and in sums and products", {
  skip_without_testing()
  for (name in names(kinds)) {
    core <- kinds[[name]][[1]]
    K <- kinds[[name]][[2]](coded)
    expect_equal(kernel_gram(core, coded), K, tolerance = tol$identity, info = name)
    expect_equal(gpbandits:::cpp_kernel_diagonal(resolved(core), coded), diag(K), tolerance = tol$identity, info = name)
    expect_gt(min(eigen(K, TRUE)$values), -1e-12)
  }
})

test_that("its derivatives equal finite differences: none by levels, the formula's by correlations", {
  skip_without_testing()
  W <- crossprod(matrix(rnorm(144), 12)) - diag(3, 12)
  for (name in names(kinds)) {
    core <- resolved(kinds[[name]][[1]])
    theta <- gpbandits:::cpp_kernel_log_parameters(core)
    gradient <- gpbandits:::cpp_kernel_parameter_gradient(core, coded, W)
    total <- function(theta) sum(W * gpbandits:::cpp_kernel_gram_at(core, theta, coded))
    for (p in seq_along(theta)) {
      step <- replace(numeric(length(theta)), p, 1e-5)
      expect_equal(gradient[p], (total(theta + step) - total(theta - step)) / 2e-5, tolerance = 1e-6, info = paste(name, p))
    }
    expect_identical(gpbandits:::cpp_kernel_input_gradient(core, coded[1, ], coded)[, 1:2], matrix(0, 12, 2))
  }
})

test_that("random features have the kernel as their covariance, and values and gradients agree", {
  skip_without_testing()
  set.seed(2)
  paths <- 20000
  for (name in names(kinds)) {
    core <- resolved(kinds[[name]][[1]])
    f <- gpbandits:::cpp_kernel_prior_paths(core, coded, 4, paths)
    K <- kinds[[name]][[2]](coded)
    for (i in c(1, 5, 12)) {
      products <- f[i, ] * t(f)
      error <- sqrt(apply(products, 2, stats::var) / paths)
      expect_true(all(abs(colMeans(products) - K[i, ]) < 5 * error), info = paste(name, i))
    }
    at <- gpbandits:::cpp_kernel_prior_gradient(core, coded, 20)
    expect_equal(at[, 1], at[, 2], tolerance = tol$identity, info = name)
  }
  # Many features: normal values, so 200 levels too get separate signs.
  set.seed(3)
  levels <- cbind(a = 1:200, b = 0, c = 0)
  f <- gpbandits:::cpp_kernel_prior_paths(resolved(kernel_categorical(1e-6, dims = 1)), levels, 512, 50)
  expect_gt(stats::ks.test(as.vector(f), "pnorm")$p.value, tol$p_value)
  expect_lt(max(abs(stats::cor(t(f))[1, -1])), 0.65)
})

test_that("a fit estimates the correlation between levels, at most 1", {
  set.seed(4)
  x <- cbind(level = rep(1:4, each = 40), u = runif(160))
  fit_of <- function(correlation) {
    K <- ref_kernel_product(ref_kernel_se(0.3, dims = 2), ref_kernel_categorical(correlation, dims = 1))(x)
    y <- drop(crossprod(chol(K + diag(1e-4, 160)), rnorm(160)))
    gp_fit(x, y, kernel_se(0.3, dims = 2) * kernel_categorical(0.5, dims = 1), noise_var = 1e-4)$parameters
  }
  weak <- fit_of(0.05)
  same <- fit_of(1)
  expect_lt(weak[["2.categorical.correlation"]], 0.35)
  expect_gt(same[["2.categorical.correlation"]], 0.99)
  expect_lte(same[["2.categorical.correlation"]], 1)
  y <- sin(x[, 1] + x[, 2])
  bounded <- gp_fit(x, y, kernel_se(dims = 2) * kernel_categorical(dims = 1), upper = list(`2.categorical.correlation` = 7))
  expect_lte(bounded$parameters[["2.categorical.correlation"]], 1)
})

test_that("it prints, names its parameters, and invalid correlations are errors", {
  k <- kernel_categorical(c(0.2, 0.4), dims = c("a", "b"))
  expect_identical(names(fitted_values(k)),
                   c("categorical.correlation1", "categorical.correlation2", "categorical.variance"))
  expect_output(print(k), "categorical.*correlation 0.2 0.4.*a, b")
  for (bad in list(0, -0.1, 1.01, NA, "a", NULL, c(0.1, 2))) {
    expect_error(kernel_categorical(bad), "`correlation`", class = "gpbandits_error")
  }
  expect_error(kernel_categorical(c(0.1, 0.2), dims = 1), "`correlation`", class = "gpbandits_error")
  expect_error(gpbandits:::kernel_with_parameters(kernel_categorical(), c(1.5, 1)), "correlation", class = "gpbandits_error")
})
