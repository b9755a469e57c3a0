# Kernels against the plain-R reference (helper-reference.R): values, gradients by
# finite differences, random features by their covariance, and bad input.

set.seed(1)
inputs <- matrix(runif(24, -1, 2), 8, 3, dimnames = list(NULL, c("a", "b", "c")))
others <- matrix(runif(15, -1, 2), 5, 3, dimnames = list(NULL, c("a", "b", "c")))
sensors <- crossprod(matrix(rnorm(16), 2, 8))     # rank 2

# package kernel and reference, side by side
pairs <- list(
  se = list(kernel_se(0.7, 2), ref_kernel_se(0.7, 2)),
  se_ard = list(kernel_se(c(0.5, 1, 2)), ref_kernel_se(c(0.5, 1, 2))),
  se_dims = list(kernel_se(c(0.5, 2), dims = c("c", "a")), ref_kernel_se(c(0.5, 2), dims = c(3, 1))),
  matern12 = list(kernel_matern(0.5, 0.8, 3), ref_kernel_matern(0.5, 0.8, 3)),
  matern32 = list(kernel_matern(1.5, c(1, 2, 3)), ref_kernel_matern(1.5, c(1, 2, 3))),
  matern52 = list(kernel_matern(lengthscale = 0.6), ref_kernel_matern(2.5, 0.6)),
  matern52_closed = list(kernel_matern(2.5, c(0.6, 2), dims = c(1, 3)), ref_kernel_matern52(c(0.6, 2), dims = c(1, 3))),
  matern_low = list(kernel_matern(0.3, 1.2), ref_kernel_matern(0.3, 1.2)),
  matern_one = list(kernel_matern(1, 1.2), ref_kernel_matern(1, 1.2)),
  matern_mid = list(kernel_matern(3.7, 0.9, dims = 2:3), ref_kernel_matern(3.7, 0.9, dims = 2:3)),
  matern_high = list(kernel_matern(20, 1.5), ref_kernel_matern(20, 1.5)),
  rq = list(kernel_rq(0.6, 0.7, 2), ref_kernel_rq(0.6, 0.7, 2)),
  rq_ard = list(kernel_rq(3, c(1, 2, 0.5)), ref_kernel_rq(3, c(1, 2, 0.5))),
  periodic = list(kernel_periodic(1.3, 0.9, 2), ref_kernel_periodic(1.3, 0.9, 2)),
  periodic_ard = list(kernel_periodic(c(1, 2, 3), c(0.5, 1, 2)),
                      ref_kernel_periodic(c(1, 2, 3), c(0.5, 1, 2))),
  linear = list(kernel_linear(1.7), ref_kernel_linear(1.7)),
  linear_dims = list(kernel_linear(dims = "b"), ref_kernel_linear(dims = 2)),
  sum = list(kernel_se(0.5) + kernel_linear(0.3) + kernel_rq(1, 2, dims = 1),
             ref_kernel_sum(ref_kernel_sum(ref_kernel_se(0.5), ref_kernel_linear(0.3)),
                            ref_kernel_rq(1, 2, dims = 1))),
  product = list(kernel_linear(2, dims = 1) * kernel_matern(1.5, 0.5) * kernel_periodic(1.3, dims = 2),
                 ref_kernel_product(ref_kernel_product(ref_kernel_linear(2, dims = 1),
                                                       ref_kernel_matern(1.5, 0.5)),
                                    ref_kernel_periodic(1.3, dims = 2))),
  nested = list((kernel_se(0.5, dims = 1) + kernel_linear()) * kernel_matern(2.2, 1.1, dims = c(2, 3)),
                ref_kernel_product(ref_kernel_sum(ref_kernel_se(0.5, dims = 1), ref_kernel_linear()),
                                   ref_kernel_matern(2.2, 1.1, dims = c(2, 3))))
)

resolve <- function(kernel, names = colnames(inputs), arms = NULL) {
  gpbandits:::resolve_kernel(kernel, names, arms)
}

test_that("every kernel equals its formula", {
  skip_without_testing()
  for (name in names(pairs)) {
    k <- pairs[[name]][[1]]
    ref <- pairs[[name]][[2]]
    expect_equal(kernel_gram(k, inputs, others), ref(inputs, others), tolerance = tol$identity, info = name)
    expect_equal(kernel_gram(k, inputs), ref(inputs), tolerance = tol$identity, info = name)
    expect_equal(gpbandits:::cpp_kernel_diagonal(resolve(k), inputs), diag(ref(inputs)),
                 tolerance = tol$identity, info = name)
  }
})

test_that("a Gram matrix is exactly symmetric and positive semi-definite", {
  x <- matrix(runif(120), 40, 3, dimnames = list(NULL, c("a", "b", "c")))
  for (name in names(pairs)) {
    K <- kernel_gram(pairs[[name]][[1]], x)
    expect_identical(K, t(K), info = name)
    values <- eigen(K, symmetric = TRUE, only.values = TRUE)$values
    expect_gt(min(values), -tol$bound * max(values), label = name)
  }
})

test_that("more points than a block of the core give the same numbers", {
  skip_without_testing()
  x <- matrix(runif(1100 * 2), 1100, 2)
  at <- c(1, 511, 512, 513, 1024, 1025, 1100)
  for (k in list(kernel_se(0.3), kernel_matern(1.5, c(0.3, 1)), kernel_periodic(0.7), kernel_linear())) {
    whole <- kernel_gram(k, x[1:2, ], x)
    expect_equal(whole[, at], kernel_gram(k, x[1:2, ], x[at, ]), tolerance = tol$identity)
    part <- gpbandits:::cpp_kernel_input_gradient(resolve(k, c("x1", "x2")), x[1, ], x)
    expect_equal(part[at, ], gpbandits:::cpp_kernel_input_gradient(resolve(k, c("x1", "x2")), x[1, ], x[at, ]),
                 tolerance = tol$identity)
  }
})

test_that("a covariance does not depend on where in a block its point is, nor on the number of inputs at a time", {
  set.seed(6)
  x <- matrix(runif(7 * 37), 7)
  for (nu in c(0.5, 1.5, 2.5)) {
    kernel <- kernel_matern(nu, seq(1, 4, length.out = 37))
    all <- kernel_gram(kernel, x)
    for (j in 1:7) expect_identical(drop(kernel_gram(kernel, x[j, , drop = FALSE], x)), all[j, ])
    expect_equal(all, ref_kernel_matern(nu, seq(1, 4, length.out = 37))(x), tolerance = 1e-13)
  }
})

test_that("distances do not cancel far from the origin", {
  x <- c(1e8, 1e8 + 0.25, 1e8 + 1)
  expect_equal(kernel_gram(kernel_se(0.5), x), ref_kernel_se(0.5)(c(0, 0.25, 1)), tolerance = tol$identity)
})

# rho(d) = E exp(-nu d^2 / (2 G)), G gamma with shape nu: holds for every nu > 0.
matern_by_mixture <- function(nu, d) {
  vapply(d, function(d) {
    if (d == 0) return(1)
    stats::integrate(function(p) exp(-nu * d^2 / (2 * stats::qgamma(p, nu))), 0, 1, rel.tol = 1e-10)$value
  }, 0)
}

test_that("Matern kernels of any order, near and far, have no NaN and the correct value", {
  skip_without_testing()
  d <- c(0, 0.001, 0.05, 0.1, 0.5, 1, 3)
  for (nu in c(0.7, 5, 50, 150, 199, 200, 1e3, 1e5)) {
    expect_equal(as.vector(kernel_gram(kernel_matern(nu), 0, d)), matern_by_mixture(nu, d),
                 tolerance = 1e-7, info = nu)
  }
  extreme <- c(0, 1e-300, 1e-170, 1e-100, 1e-20, 1e5, 1e20, 1e160, 1e300)
  for (nu in c(0.1, 0.5, 1, 1.5, 2.5, 3, 50, 199.9, 1e4, 1e12, 1e300)) {
    k <- as.vector(kernel_gram(kernel_matern(nu, variance = 3), 0, extreme))
    expect_true(all(is.finite(k)) && all(diff(k) <= 0), info = nu)
    expect_identical(k[1], 3, info = nu)
    expect_lt(k[7], 1e-300, label = nu)
    slope <- gpbandits:::cpp_kernel_input_gradient(resolve(kernel_matern(nu), "x1"), 0, cbind(extreme))
    expect_false(anyNA(slope), info = nu)
  }
})

test_that("the order of a Matern kernel is continuous where the method changes", {
  d <- seq(0, 6, by = 0.05)
  jump <- function(nu, step) {
    k <- lapply(nu + c(-step, 0, step), function(nu) kernel_gram(kernel_matern(nu), 0, d))
    max(abs(k[[1]] - k[[2]]), abs(k[[3]] - k[[2]]))
  }
  for (nu in c(0.5, 1, 1.5, 2.5)) expect_lt(jump(nu, 1e-9), 1e-8)
  expect_lt(jump(200, 1e-9), 2e-12)      # Bessel function below, expansion from here
  expect_equal(kernel_gram(kernel_matern(1e10, 0.7), 0, d), kernel_gram(kernel_se(0.7), 0, d), tolerance = 1e-8)
  expect_equal(kernel_gram(kernel_rq(1e10, 0.7), 0, d), kernel_gram(kernel_se(0.7), 0, d), tolerance = 1e-8)
})

# ---- gradients ---------------------------------------------------------------

difference <- function(f, at, i, h = 1e-5) {
  up <- down <- at
  up[i] <- at[i] + h
  down[i] <- at[i] - h
  (f(up) - f(down)) / (2 * h)
}

test_that("input gradients equal finite differences", {
  skip_without_testing()
  skip_on_cran()
  x <- c(0.3, 0.7, -0.2)
  for (name in names(pairs)) {
    k <- pairs[[name]][[1]]
    core <- resolve(k)
    gradient <- gpbandits:::cpp_kernel_input_gradient(core, x, others)
    own <- gpbandits:::cpp_kernel_diagonal_gradient(core, x)
    for (i in 1:3) {
      expect_equal(gradient[, i], difference(function(x) as.vector(kernel_gram(k, others, rbind(x))), x, i),
                   tolerance = 1e-7, info = paste(name, i))
      expect_equal(own[i], difference(function(x) gpbandits:::cpp_kernel_diagonal(core, rbind(x)), x, i),
                   tolerance = 1e-7, info = paste(name, i))
    }
  }
})

test_that("input gradients are finite, and zero for kernels of the distance, at equal points", {
  skip_without_testing()
  x <- c(0.3, 0.7, -0.2)
  for (name in c("se", "se_ard", "matern12", "matern32", "matern52", "matern_low", "matern_one",
                 "matern_mid", "matern_high", "rq", "periodic")) {
    gradient <- gpbandits:::cpp_kernel_input_gradient(resolve(pairs[[name]][[1]]), x, rbind(x))
    expect_identical(as.vector(gradient), c(0, 0, 0), info = name)
  }
})

test_that("parameter gradients equal finite differences for any weights", {
  skip_without_testing()
  W <- crossprod(matrix(rnorm(64), 8)) - diag(3, 8)
  x <- rbind(inputs[1:7, ], inputs[1, ])              # with a repeated point
  for (name in names(pairs)) {
    core <- resolve(pairs[[name]][[1]])
    theta <- gpbandits:::cpp_kernel_log_parameters(core)
    gradient <- gpbandits:::cpp_kernel_parameter_gradient(core, x, W)
    expect_length(gradient, length(theta))
    total <- function(theta) sum(W * gpbandits:::cpp_kernel_gram_at(core, theta, x))
    for (p in seq_along(theta)) {
      expect_equal(gradient[p], difference(total, theta, p), tolerance = 1e-6, info = paste(name, p))
    }
  }
})

test_that("parameter gradients are correct across several blocks", {
  skip_without_testing()
  x <- cbind(runif(600), runif(600))
  w <- rnorm(600)
  for (k in list(kernel_matern(1.5, c(0.3, 1)), kernel_periodic(0.7), kernel_rq(2, 0.5))) {
    core <- resolve(k, c("x1", "x2"))
    theta <- gpbandits:::cpp_kernel_log_parameters(core)
    gradient <- gpbandits:::cpp_kernel_parameter_gradient(core, x, tcrossprod(w))
    total <- function(theta) sum(w * (gpbandits:::cpp_kernel_gram_at(core, theta, x) %*% w))
    for (p in seq_along(theta)) {
      expect_equal(gradient[p], difference(total, theta, p), tolerance = 1e-5)
    }
  }
})

test_that("the core's parameters are the logarithms of kernel_parameters()", {
  skip_without_testing()
  for (name in names(pairs)) {
    k <- pairs[[name]][[1]]
    values <- gpbandits:::kernel_parameters(k)
    expect_equal(gpbandits:::cpp_kernel_log_parameters(resolve(k)), log(unname(values)),
                 tolerance = tol$identity, info = name)
    changed <- gpbandits:::kernel_with_parameters(k, 1.5 * values)
    expect_equal(gpbandits:::kernel_parameters(changed), 1.5 * values, tolerance = tol$identity, info = name)
    expect_equal(gpbandits:::cpp_kernel_gram_at(resolve(k), log(1.5 * values), inputs),
                 kernel_gram(changed, inputs), tolerance = tol$identity, info = name)
  }
})

test_that("parameters are named by kernel and by their position in sums and products", {
  k <- kernel_se(c(1, 2)) + kernel_rq() * kernel_matrix(diag(2)) + kernel_linear(3)
  expect_identical(gpbandits:::kernel_parameters(k),
                   c(`1.se.lengthscale1` = 1, `1.se.lengthscale2` = 2, `1.se.variance` = 1,
                     `2.1.rq.alpha` = 1, `2.1.rq.lengthscale` = 1, `2.1.rq.variance` = 1,
                     `3.linear.variance` = 3))
  expect_length(gpbandits:::kernel_parameters(kernel_matrix(diag(2))), 0)
  expect_named(gpbandits:::kernel_parameters(kernel_periodic(2)),
               c("periodic.period", "periodic.lengthscale", "periodic.variance"))
  for (bad in list(1:3, c(-1, 1, 1, 1, 1, 1, 1), "a", NULL)) {
    expect_error(gpbandits:::kernel_with_parameters(k, bad), class = "gpbandits_error")
  }
})

# ---- random features ----------------------------------------------------------

test_that("paths drawn for Thompson sampling have the kernel's covariance", {
  skip_without_testing()
  skip_on_cran()
  set.seed(4)
  x <- inputs[1:4, ]
  paths <- by_level(20000, 20000, quick = 2000)
  for (name in names(pairs)) {
    k <- pairs[[name]][[1]]
    f <- gpbandits:::cpp_kernel_prior_paths(resolve(k), x, 4, paths)
    K <- kernel_gram(k, x)
    for (i in 1:4) {
      products <- f[i, ] * t(f)
      error <- sqrt(apply(products, 2, stats::var) / paths)
      expect_true(all(abs(colMeans(products) - K[i, ]) < 5 * error), info = paste(name, i))
    }
    expect_true(all(abs(rowMeans(f)) < 5 * sqrt(diag(K) / paths)), info = name)
  }
})

test_that("harmonics of a periodic kernel suit short and long lengthscales", {
  skip_without_testing()
  set.seed(5)
  x <- cbind(c(0, 0.01, 0.1, 0.5))
  for (lengthscale in c(0.05, 1, 20)) {
    k <- kernel_periodic(1, lengthscale)
    f <- gpbandits:::cpp_kernel_prior_paths(resolve(k, "x1"), x, 4, 20000)
    products <- f[1, ] * t(f)
    error <- sqrt(apply(products, 2, stats::var) / 20000)
    expect_true(all(abs(colMeans(products) - kernel_gram(k, x)[1, ]) < 5 * error))
  }
})

test_that("one path with many features has nearly normal values with the correct variance", {
  skip_without_testing()
  set.seed(6)
  f <- gpbandits:::cpp_kernel_prior_paths(resolve(kernel_matern(1.5, 0.4, 2)), inputs[1:2, ], 256, 4000)
  z <- f[1, ] / sqrt(2)
  expect_gt(stats::ks.test(z, "pnorm")$p.value, tol$p_value)
})

test_that("a path's gradient equals finite differences and its two values agree", {
  skip_without_testing()
  for (name in names(pairs)) {
    path <- function(x) {
      set.seed(7)
      gpbandits:::cpp_kernel_prior_gradient(resolve(pairs[[name]][[1]]), x, 20)
    }
    if (name %in% c("matern12", "matern_low")) next    # rough paths: frequencies too high for differences
    at <- path(inputs)
    expect_equal(at[, 1], at[, 2], tolerance = tol$identity, info = name)
    for (i in 1:3) {
      h <- 1e-6
      step <- replace(numeric(3), i, h)
      slope <- (path(sweep(inputs, 2, step, "+"))[, 1] - path(sweep(inputs, 2, step, "-"))[, 1]) / (2 * h)
      expect_equal(at[, 2 + i], slope, tolerance = 1e-5, info = paste(name, i))
    }
  }
})

test_that("a linear kernel's path is a line", {
  skip_without_testing()
  set.seed(8)
  core <- resolve(kernel_linear(2, dims = c("a", "c")))
  path <- gpbandits:::cpp_kernel_prior_gradient(core, inputs, 5)
  expect_equal(path[, 1], as.vector(inputs %*% path[1, 3:5]), tolerance = tol$identity)
  expect_identical(path[, 4], numeric(8))
})

test_that("paths of a covariance matrix have it as their covariance, alone and times another kernel", {
  skip_without_testing()
  set.seed(9)
  K <- ref_random_covariance(4, 2)
  points <- cbind(rep(c(0.1, 0.4), each = 4), rep(0:3, 2))
  for (with_se in c(FALSE, TRUE)) {
    kernel <- if (with_se) kernel_matrix(K) * kernel_se(0.3) else kernel_matrix(K)
    paths <- gpbandits:::cpp_kernel_prior_paths(resolve(kernel, "x1", 4), points, 64, 3000)
    wanted <- K[rep(1:4, 2), rep(1:4, 2)] * if (with_se) ref_kernel_se(0.3)(points[, 1]) else 1
    gap <- (tcrossprod(paths) / 3000 - wanted) / sqrt((wanted^2 + outer(diag(wanted), diag(wanted))) / 3000)
    expect_lt(max(abs(gap)), 4.5)
    expect_gt(max(abs(wanted[upper.tri(wanted)])), 0.1)
  }
})

# ---- covariance matrices --------------------------------------------------------

test_that("kernel_matrix() returns its entries, also with deficient rank", {
  k <- kernel_matrix(sensors)
  expect_equal(kernel_gram(k, 1:8), sensors, tolerance = tol$identity)
  expect_equal(kernel_gram(k, c(8, 3), 1:4), sensors[c(8, 3), 1:4], tolerance = tol$identity)
  expect_equal(kernel_gram(kernel_matrix(matrix(0, 3, 3)), 1:3), matrix(0, 3, 3))
  expect_equal(kernel_gram(kernel_matrix(matrix(2)), 1), matrix(2))
})

test_that("with kernel_matrix() in it a kernel reads the arm from the last column", {
  k <- kernel_matrix(sensors) * kernel_se(0.5, dims = "hour") + kernel_linear(dims = 1)
  x <- cbind(hour = runif(6), arm = c(1, 8, 2, 2, 5, 3))
  expected <- sensors[x[, 2], x[, 2]] * ref_kernel_se(0.5)(x[, 1]) + tcrossprod(x[, 1])
  expect_equal(kernel_gram(k, x), expected, tolerance = tol$identity)
  expect_equal(kernel_gram(k, x, x[2:3, ]), expected[, 2:3], tolerance = tol$identity)
})

test_that("an indefinite covariance is an error that shows its eigenvalues", {
  K <- diag(c(2, 1, -0.25))
  expect_error(kernel_matrix(K), "smallest eigenvalue is -0.25, its largest 2 \\(ratio -0.125",
               class = "gpbandits_error")
  expect_error(kernel_matrix(-diag(2)), "smallest eigenvalue is -1", class = "gpbandits_error")
  set.seed(9)
  V <- qr.Q(qr(matrix(rnorm(100), 10)))
  with_lowest <- function(lowest) V %*% (c(3, rep(1, 8), lowest) * t(V))
  expect_error(kernel_matrix(with_lowest(-1e-6)), "indefinite", class = "gpbandits_error")
  expect_s3_class(kernel_matrix(with_lowest(-1e-10)), "bandit_kernel")
})

test_that("a covariance must be a square, symmetric, finite matrix", {
  for (bad in list(matrix(1, 2, 3), 1:3, matrix(c(1, 0.5, 0, 1), 2), diag(c(1, NA)), diag(c(1, Inf)),
                   "a", NULL, matrix("a"), matrix(0, 0, 0), list(1))) {
    expect_error(kernel_matrix(bad), "`K`", class = "gpbandits_error")
  }
  expect_error(kernel_matrix(), "`K`", class = "gpbandits_error")
  rounded <- matrix(c(1, 0.5 + 1e-12, 0.5, 1), 2)
  K <- kernel_gram(kernel_matrix(rounded), 1:2)
  expect_identical(K, t(K))
})

# ---- inputs and bad input ---------------------------------------------------------

test_that("dims by name, by number and through a data.frame mean the same", {
  by_name <- kernel_matern(1.5, c(0.5, 2), dims = c("c", "a"))
  by_number <- kernel_matern(1.5, c(0.5, 2), dims = c(3, 1))
  expect_identical(kernel_gram(by_name, inputs), kernel_gram(by_number, inputs))
  expect_identical(kernel_gram(by_name, as.data.frame(inputs)), kernel_gram(by_name, inputs))
  expect_identical(kernel_gram(kernel_se(dims = "x2"), unname(inputs)), kernel_gram(kernel_se(dims = 2), inputs))
  expect_identical(kernel_gram(by_name, inputs, others[, 3:1]), kernel_gram(by_name, inputs, others))
})

test_that("sums and products are flattened, and print as sums and products", {
  k <- kernel_se() + (kernel_linear() + kernel_rq()) * kernel_matern() + kernel_periodic()
  expect_length(k$parts, 3)
  expect_identical(vapply(k$parts, `[[`, "", "type"), c("se", "product", "periodic"))
  shown <- paste(capture.output(print(k)), collapse = "\n")
  for (word in c("sum of 3", "product of 2", "squared exponential", "rational quadratic", "linear", "periodic",
                 "Matern, nu = 2.5 (twice differentiable")) {
    expect_match(shown, word, fixed = TRUE)
  }
  expect_output(expect_invisible(print(k)))
  expect_match(capture.output(kernel_se(c(0.1, 2), dims = c("u", "v"))), "lengthscale 0.1 2.0, variance 1; on u, v")
  expect_match(capture.output(kernel_matrix(diag(4))), "4 arms")
})

test_that("invalid parameters are errors that name them", {
  skip_on_cran()
  positive <- list(0, -1, NA, NaN, Inf, "a", NULL, numeric(), TRUE)
  one <- c(positive, list(c(1, 2)))
  for (bad in one) {
    expect_error(kernel_se(variance = bad), "`variance`", class = "gpbandits_error")
    expect_error(kernel_matern(bad), "`nu`", class = "gpbandits_error")
    expect_error(kernel_rq(bad), "`alpha`", class = "gpbandits_error")
    expect_error(kernel_linear(bad), "`variance`", class = "gpbandits_error")
  }
  for (bad in positive) {
    for (make in list(kernel_se, kernel_matern, kernel_rq, kernel_periodic)) {
      expect_error(make(lengthscale = bad), "`lengthscale`", class = "gpbandits_error")
    }
    expect_error(kernel_periodic(bad), "`period`", class = "gpbandits_error")
  }
  for (bad in list(0, -1, 1.5, NA, "", NA_character_, c(1, 1), c("a", "a"), numeric(), TRUE, list(1), Inf)) {
    for (make in list(kernel_se, kernel_matern, kernel_rq, kernel_periodic, kernel_linear)) {
      expect_error(make(dims = bad), "`dims`", class = "gpbandits_error")
    }
  }
  expect_error(kernel_se(c(1, 2, 3), dims = 1:2), "`lengthscale`", class = "gpbandits_error")
  expect_error(kernel_periodic(c(1, 2), dims = 1), "`period`", class = "gpbandits_error")
})

test_that("kernels combine with kernels only, by + and * only", {
  k <- kernel_se()
  for (expr in expression(k + 1, 2 * k, k + NULL, k - k, -k, +k, k / k, k^2, k == k, !k)) {
    expect_error(eval(expr), class = "gpbandits_error", info = deparse(expr))
  }
})

test_that("kernel_gram() checks its points", {
  k <- kernel_se()
  for (bad in list("a", NA, c(1, Inf), NULL, list(1), data.frame(a = "b"))) {
    expect_error(kernel_gram(k, bad), "`x`", class = "gpbandits_error")
    expect_error(kernel_gram(k, 1, bad), "`y`", class = "gpbandits_error")
  }
  expect_error(kernel_gram(k), "`x`", class = "gpbandits_error")
  expect_error(kernel_gram(1, 1), "`kernel`", class = "gpbandits_error")
  expect_error(kernel_gram(k, inputs, 1:2), "`y`", class = "gpbandits_error")
  expect_error(kernel_gram(k, cbind(a = 1, b = 2), cbind(a = 1, z = 2)), "`y`", class = "gpbandits_error")
  expect_error(kernel_gram(kernel_se(dims = "z"), inputs), "`dims`.*\"z\"", class = "gpbandits_error")
  expect_error(kernel_gram(kernel_se(dims = 4), inputs), "`dims`.*4", class = "gpbandits_error")
  expect_error(kernel_gram(kernel_se(c(1, 2)), inputs), "`lengthscale`", class = "gpbandits_error")
  expect_error(kernel_gram(kernel_periodic(c(1, 2)), inputs), "`period`", class = "gpbandits_error")
  for (bad in list(0, 4, 1.5, -1)) {
    expect_error(kernel_gram(kernel_matrix(diag(3)), bad), "`x`.*1..3", class = "gpbandits_error")
    expect_error(kernel_gram(kernel_matrix(diag(3)), 1, bad), "`y`.*1..3", class = "gpbandits_error")
  }
  expect_error(kernel_gram(kernel_matrix(diag(3)) + kernel_se(), 1:3), "`kernel`", class = "gpbandits_error")
  expect_error(kernel_gram(kernel_matrix(diag(3)) + kernel_matrix(diag(4)), 1:3), "`kernel`",
               class = "gpbandits_error")
  expect_identical(dim(kernel_gram(k, numeric(), 1:3)), c(0L, 3L))
})

test_that("a resolved kernel has 0-based columns and needs the domain's arms", {
  core <- resolve(kernel_se(2, dims = c("c", "a")))
  expect_identical(core$dims, c(2L, 0L))
  expect_identical(core$lengthscale, c(2, 2))
  expect_true(core$isotropic)
  expect_identical(core$arm_column, 3L)
  expect_false(resolve(kernel_se(c(1, 2, 3)))$isotropic)
  k <- kernel_matrix(diag(3)) * kernel_se()
  expect_error(resolve(k), "domain without arms", class = "gpbandits_error")
  expect_error(resolve(k, arms = 4), "3 arms for a domain of 4", class = "gpbandits_error")
  expect_identical(resolve(k, arms = 3)$parts[[1]]$arm_column, 3L)
})
