factor_error <- function(kernel, x) {
  factor <- gram_factor(kernel, x)
  max(abs(tcrossprod(factor) - kernel_gram(kernel, x)))
}

test_that("the factor reproduces the Gram matrix, with full rank and without", {
  x <- seq(0, 1, length.out = 80)
  for (kernel in list(kernel_se(0.2), kernel_matern(0.5, 0.1), kernel_matern(2.5, 0.2, variance = 50), kernel_linear(),
                      kernel_se(0.5) + kernel_periodic(0.3), kernel_rq(1, 0.2) * kernel_linear())) {
    expect_lt(factor_error(kernel, x), 1e-11 * max(diag(kernel_gram(kernel, x))))
  }
  expect_lt(ncol(gram_factor(kernel_se(0.2), x)), 30)
  expect_identical(ncol(gram_factor(kernel_matern(0.5, 0.1), x)), 80L)
  K <- tcrossprod(matrix(sin((1:60)^2), 20))   # rank 3
  expect_lt(factor_error(kernel_matrix(K), 1:20), 1e-12)
  expect_identical(ncol(gram_factor(kernel_matrix(K))), 3L)
})

test_that("draws have mean zero and the kernel's covariance", {
  set.seed(1)
  x <- cbind(a = c(0, 0.1, 0.5, 0.5, 2), b = c(0, 0, 1, 0, 1))
  kernel <- kernel_matern(1.5, c(0.5, 1), variance = 2)
  draws <- sample_gp(kernel, x, n = 40000)
  K <- kernel_gram(kernel, x)
  # Standard errors: sqrt(K_ii / n) of a mean, sqrt((K_ii K_jj + K_ij^2) / n) of a covariance.
  expect_lt(max(abs(rowMeans(draws)) / sqrt(diag(K) / 40000)), 4.5)
  error <- abs(tcrossprod(draws) / 40000 - K) / sqrt((tcrossprod(diag(K)) + K^2) / 40000)
  expect_lt(max(error), 4.5)
  expect_gt(ks.test(draws[3, ], "pnorm", 0, sqrt(2))$p.value, 1e-3)
})

test_that("draws are reproducible, and smooth draws contain no added noise", {
  x <- seq(0, 1, length.out = 200)
  set.seed(4)
  first <- sample_gp(kernel_se(0.3), x)
  set.seed(4)
  expect_identical(sample_gp(kernel_se(0.3), x), first)
  expect_null(dim(first))
  expect_identical(dim(sample_gp(kernel_se(0.3), x, 3)), c(200L, 3L))
  # Fourth differences of a function this smooth are of order step^4 / l^4 = 1e-7;
  # a jitter of 1e-10 on the diagonal would give about 1e-4.
  expect_lt(max(abs(diff(first, differences = 4))), 1e-5)
  repeated <- sample_gp(kernel_matern(0.5, 0.1), c(0.3, 0.7, 0.3))
  expect_identical(repeated[1], repeated[3])
  set.seed(4)
  several <- sample_gp(kernel_se(0.3), x, 2)
  expect_equal(several[, 1], first, tolerance = 1e-14)
})

test_that("kernel_matrix() uses arms, all by default, and domains number theirs", {
  K <- 0.5^abs(outer(1:6, 1:6, "-"))
  set.seed(2)
  all <- sample_gp(kernel_matrix(K))
  set.seed(2)
  expect_identical(sample_gp(kernel_matrix(K), 1:6), all)
  expect_length(sample_gp(kernel_matrix(K), c(2, 5)), 2)
  set.seed(2)
  expect_identical(sample_gp(kernel_matrix(K), finite_domain(cbind(11:16, 1))), all)
  product <- kernel_matrix(K) * kernel_se(1, dims = "u")
  arms <- finite_domain(cbind(u = seq(0, 1, length.out = 6)))
  expect_equal(tcrossprod(gram_factor(product, arms)), K * kernel_gram(kernel_se(1), arms$x), tolerance = 1e-12)
})

test_that("sample_rkhs() follows its formula, with the norm of the function", {
  x <- seq(0, 1, length.out = 60)
  for (eta in c(1e-6, 0.01, 1)) {
    for (kernel in list(kernel_se(0.2), kernel_matern(2.5, 0.2, variance = 3), kernel_matern(0.5, 0.3))) {
      set.seed(3)
      f <- sample_rkhs(kernel, x, eta)
      # The definition, in plain linear algebra, from the same y.
      set.seed(3)
      y <- sample_gp(kernel, x)
      K <- kernel_gram(kernel, x)
      alpha <- solve(K + eta * diag(60), y)
      expect_equal(as.numeric(f), drop(K %*% alpha), tolerance = 1e-7)
      expect_equal(attr(f, "norm"), sqrt(sum(alpha * (K %*% alpha))), tolerance = 1e-6)
      expect_equal(drop(K %*% attr(f, "weights")), as.numeric(f), tolerance = 1e-9)
    }
  }
})

test_that("the RKHS norm bounds the function and increases as the ridge decreases", {
  x <- seq(0, 1, length.out = 60)
  kernel <- kernel_se(0.2, variance = 4)
  norms <- vapply(c(1, 0.01, 1e-4), function(eta) {
    set.seed(3)
    f <- sample_rkhs(kernel, x, eta)
    # |f(x)| <= ||f|| sqrt(k(x, x)), by Cauchy and Schwarz.
    expect_lte(max(abs(f)), attr(f, "norm") * 2)
    attr(f, "norm")
  }, 0)
  expect_true(all(diff(norms) > 0))
  none <- sample_rkhs(kernel_matrix(matrix(0, 3, 3)), noise_var = 1)
  expect_identical(as.numeric(none), c(0, 0, 0))
  expect_identical(attr(none, "norm"), 0)
  # The attributes do not follow it into a problem.
  set.seed(3)
  f <- sample_rkhs(kernel, x, 0.01)
  expect_identical(bandit_problem(x, f)$reward_values, cbind(as.numeric(f)))
})

test_that("invalid input is an error", {
  k <- kernel_se(0.2)
  for (bad in list(quote(sample_gp(3, 1:3)), quote(sample_gp(k)), quote(sample_gp(k, c(1, NA))), quote(sample_gp(k, "a")),
                   quote(sample_gp(k, numeric())), quote(sample_gp(k, 1:3, 0)), quote(sample_gp(k, 1:3, 1.5)),
                   quote(sample_gp(k, box_domain(0, 1))), quote(sample_gp(kernel_matrix(diag(3)), 4)),
                   quote(sample_gp(kernel_matrix(diag(3)), finite_domain(1:4))),
                   quote(sample_gp(kernel_matrix(diag(3)) * k)),
                   quote(sample_gp(kernel_se(c(1, 2)), 1:3)), quote(sample_rkhs(k, 1:3)),
                   quote(sample_rkhs(k, 1:3, 0)), quote(sample_rkhs(k, 1:3, -1)), quote(sample_rkhs(k, noise_var = 1)))) {
    expect_error(eval(bad), class = "gpbandits_error")
  }
})
