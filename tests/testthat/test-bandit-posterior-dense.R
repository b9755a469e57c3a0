# The growing Cholesky engine through its internal exports.

engine <- function(x, y, kernel, noise_var) {
  x <- as.matrix(x)
  cpp_regression_new(resolve_kernel(kernel, paste0("x", seq_len(ncol(x)))), noise_var, x, y, rep(1, length(y)))
}

test_that("sizes around the edges of the blocks agree with the dense formulas", {
  skip_without_testing()
  skip_on_cran()
  set.seed(1)
  reference <- ref_kernel_matern(1.5, 0.5)
  for (n in c(1, 2, 7, 63, 64, 65, 127, 128, 129, 200, 300)) {
    x <- matrix(runif(2 * n), n)
    y <- rnorm(n)
    for (q in c(1, 8, 9, 257)) {
      at <- matrix(runif(2 * q), q)
      want <- ref_posterior(reference(x), reference(at, x), rep(1, q), y, 0.1)
      pointer <- engine(x, y, kernel_matern(1.5, 0.5), 0.1)
      expect_equal(cpp_regression_predict_blocks(pointer, at), want[c("mean", "sd")],
                   tolerance = tol$identity, info = paste(n, q))
      expect_equal(cpp_regression_predict(pointer, at), want[c("mean", "sd")],
                   tolerance = tol$identity, info = paste(n, q))
    }
  }
})

test_that("changed targets give the posterior of a new fit, also in cached predictions", {
  skip_without_testing()
  set.seed(2)
  x <- matrix(runif(90), 90)
  y <- rnorm(90)
  at <- matrix(seq(0, 1, 0.05))
  pointer <- engine(x[1:80, , drop = FALSE], y[1:80], kernel_se(0.2), 0.05)
  cpp_regression_predict(pointer, at)
  changed <- y
  changed[c(1, 40, 80)] <- c(5, -5, 9)
  cpp_regression_set_targets(pointer, changed[1:80])
  cpp_regression_add(pointer, x[81:90, , drop = FALSE], y[81:90], rep(1, 10))
  refit <- engine(x, changed, kernel_se(0.2), 0.05)
  want <- cpp_regression_predict_blocks(refit, at)
  expect_equal(cpp_regression_predict(pointer, at), want, tolerance = tol$replay)
  expect_equal(cpp_regression_mean(pointer, at), want$mean, tolerance = tol$replay)
  expect_equal(cpp_regression_evidence(pointer), cpp_regression_evidence(refit),
               tolerance = tol$replay)
  cpp_regression_set_targets(pointer, y)
  expect_equal(cpp_regression_predict(pointer, at),
               cpp_regression_predict(engine(x, y, kernel_se(0.2), 0.05), at), tolerance = tol$replay)
  expect_error(cpp_regression_set_targets(pointer, 1:3), "differ in number")
})

test_that("the first rows of the engine equal an engine of these rows", {
  set.seed(3)
  x <- matrix(runif(150), 150)
  y <- rnorm(150)
  at <- matrix(seq(0, 1, 0.1))
  pointer <- engine(x, y, kernel_matern(2.5, 0.3), 0.01)
  whole <- cpp_regression_predict(pointer, at)
  for (n in c(0, 1, 64, 100, 150)) {
    head <- cpp_regression_head(pointer, n)
    expect_equal(cpp_regression_size(head), n)
    cpp_regression_add(head, matrix(0.5), 3, 1)
    want <- engine(rbind(x[seq_len(n), , drop = FALSE], 0.5), c(y[seq_len(n)], 3),
                   kernel_matern(2.5, 0.3), 0.01)
    expect_equal(cpp_regression_predict(head, at), cpp_regression_predict(want, at),
                 tolerance = tol$replay)
  }
  expect_identical(cpp_regression_predict(pointer, at), whole)
})

test_that("the cache is invalidated when observations are removed", {
  skip_without_testing()
  set.seed(6)
  x <- matrix(runif(70), 70)
  y <- rnorm(70)
  at <- matrix(seq(0, 1, 0.1))
  pointer <- engine(x, y, kernel_se(0.3), 0.1)
  cpp_regression_predict(pointer, at)
  for (n in c(65, 0)) {
    cpp_regression_truncate(pointer, n)
    cpp_regression_add(pointer, x[1:9, , drop = FALSE], 1:9, rep(1, 9))
    want <- engine(x[c(seq_len(n), 1:9), , drop = FALSE], c(y[seq_len(n)], 1:9), kernel_se(0.3), 0.1)
    expect_equal(cpp_regression_predict(pointer, at), cpp_regression_predict_blocks(want, at),
                 tolerance = tol$replay)
  }
})

test_that("errors do not grow at the smallest allowed noise, and less noise is an error", {
  x <- matrix(seq(0, 1, length.out = 60), 60)  # in order: the worst for a Cholesky factor
  one_by_one <- engine(x[0, , drop = FALSE], numeric(), kernel_se(2), 1e-12)
  for (i in 1:60) cpp_regression_add(one_by_one, x[i, , drop = FALSE], sin(x[i]), 1)
  for (pointer in list(engine(x, sin(x), kernel_se(2), 1e-12), one_by_one)) {
    got <- cpp_regression_predict(pointer, x)
    expect_equal(got$mean, as.vector(sin(x)), tolerance = 1e-6)
    expect_true(all(got$sd >= 0 & got$sd < 1e-6))
    expect_true(is.finite(cpp_regression_evidence(pointer)$log_det))
  }
  expect_error(engine(x, sin(x), kernel_se(2), 1e-13), "1e-12")
})

test_that("gradients of mean and sd are those of finite differences", {
  skip_without_testing()
  set.seed(4)
  kernels <- list(kernel_se(c(0.4, 0.7, 1)), kernel_matern(2.5, 0.6), kernel_rq(2, 0.5),
                  kernel_matern(1.5, 0.6) + kernel_linear(2), kernel_se(0.6) * kernel_linear(1),
                  kernel_periodic(1.3, 0.9))
  x <- matrix(runif(3 * 100), 100)
  y <- rnorm(100)
  step <- 1e-5
  for (kernel in kernels) {
    for (n in c(0, 3, 100)) {
      pointer <- engine(x[seq_len(n), , drop = FALSE], y[seq_len(n)], kernel, 0.1)
      at <- runif(3)
      got <- cpp_regression_gradient(pointer, at)
      here <- cpp_regression_predict_blocks(pointer, matrix(at, 1))
      expect_equal(got[c("mean", "sd")], here, tolerance = tol$identity)
      shifted <- rbind(diag(step, 3), diag(-step, 3)) + rep(at, each = 6)
      around <- cpp_regression_predict_blocks(pointer, shifted)
      expect_equal(got$dmean, (around$mean[1:3] - around$mean[4:6]) / (2 * step), tolerance = 1e-5)
      expect_equal(got$dsd, (around$sd[1:3] - around$sd[4:6]) / (2 * step), tolerance = 1e-5)
    }
  }
})

test_that("solutions, log determinant and quadratic form equal the dense ones", {
  skip_without_testing()
  set.seed(5)
  x <- matrix(runif(200), 100)
  y <- rnorm(100)
  A <- ref_kernel_se(0.4, 3)(x) + diag(0.2, 100)
  pointer <- engine(x, y, kernel_se(0.4, 3), 0.2)
  v <- rnorm(100)
  expect_equal(cpp_regression_solve(pointer, v), solve(A, v), tolerance = tol$engine)
  evidence <- cpp_regression_evidence(pointer)
  expect_equal(evidence$quadratic, sum(y * solve(A, y)), tolerance = tol$engine)
  expect_equal(evidence$log_det, ref_logdet(A - diag(0.2, 100), 1:100, 0.2), tolerance = tol$engine)
})

test_that("inputs that only the engine can detect are errors", {
  pointer <- engine(matrix(1:4, 2), 1:2, kernel_se(), 1)
  expect_error(cpp_regression_add(pointer, matrix(1, 1, 3), 1, 1), "3 inputs, not 2")
  expect_error(cpp_regression_add(pointer, matrix(1, 2, 2), 1, 1), "differ in number")
  expect_error(engine(1, 1, kernel_se(), 0), "positive")
  expect_identical(cpp_regression_size(pointer), 2)
})

test_that("with many given rows, and while queries are pending, the variance is that of a regression", {
  set.seed(3)
  x <- matrix(runif(640), 320, dimnames = list(NULL, c("a", "b")))
  y <- sin(6 * x[, 1]) + x[, 2]
  kernel <- kernel_matern(2.5, c(0.3, 0.4))
  b <- gp_bandit(list(a = c(0, 1), b = c(0, 1)), kernel, 0.01, policy_ei(), engine = "dense",
                 pending = pending_hallucinate())
  b$add(as.data.frame(x), reward = y)
  new <- data.frame(a = c(0.2, 0.7), b = c(0.5, 0.1))
  sd_given <- function(x) predict(gp_regression(x, numeric(nrow(x)), kernel, 0.01), as.matrix(new))$sd
  # Queries with nothing pending use one posterior; the later ones need that of the variance.
  first <- b$suggest()
  expect_equal(b$posterior(new)$sd, sd_given(rbind(x, as.matrix(first[c("a", "b")]))))
  second <- b$suggest()
  both <- rbind(x, as.matrix(first[c("a", "b")]), as.matrix(second[c("a", "b")]))
  expect_equal(b$posterior(new)$sd, sd_given(both))
  b$observe(first$id, 1)
  b$observe(second$id, 1)
  expect_equal(b$posterior(new)$sd, sd_given(both))
  third <- b$suggest()
  expect_equal(b$posterior(new)$sd, sd_given(rbind(both, as.matrix(third[c("a", "b")]))))
})
