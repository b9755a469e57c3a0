grid101 <- seq(0, 1, length.out = 101)

small_case <- function(seed, n = 5) {
  set.seed(seed)
  x <- matrix(runif(2 * n), n)
  list(x = x, kernel = kernel_matern(1.5, 0.4, variance = 1.7),
       K = ref_kernel_matern(1.5, 0.4, variance = 1.7)(x), noise = exp(runif(1, -3, 1)))
}

test_that("the information gain is half the log determinant, with repeats and in any order", {
  set.seed(3)
  x <- matrix(runif(24), 12)
  rows <- sample(12, 30, replace = TRUE)
  K <- ref_kernel_se(0.3, 2)(x)
  gain <- information_gain(kernel_se(0.3, 2), x[rows, ], 0.05)
  expect_equal(gain, ref_information_gain(K, rows, 0.05), tolerance = tol$identity)
  expect_equal(information_gain(kernel_se(0.3, 2), x[sample(rows), ], 0.05), gain,
               tolerance = tol$identity)
})

test_that("Lemma 5.3: the gain is the sum over successive variances", {
  set.seed(4)
  x <- runif(20)
  K <- ref_kernel_matern(2.5, 0.2)(x)
  met <- vapply(seq_along(x), function(t) {
    ref_posterior_at(K, seq_len(t - 1), numeric(t - 1), 0.3, test = t)$sd^2
  }, 0)
  expect_equal(information_gain(kernel_matern(2.5, 0.2), x, 0.3), sum(log1p(met / 0.3)) / 2,
               tolerance = tol$identity)
})

test_that("covariances given as a matrix use arm numbers; a domain and its arms agree", {
  set.seed(5)
  K <- crossprod(matrix(rnorm(12), 2))                 # 6 arms, rank 2
  expect_equal(information_gain(kernel_matrix(K), c(2, 5, 5), 0.1),
               ref_information_gain(K, c(2, 5, 5), 0.1), tolerance = tol$identity)
  all <- information_gain(kernel_matrix(K), noise_var = 0.1, rounds = 7)
  expect_equal(all, information_gain(kernel_matrix(K), 1:6, 0.1, rounds = 7))
  expect_equal(all, information_gain(kernel_matrix(K), finite_domain(runif(6)), 0.1, rounds = 7))
  expect_equal(all, ref_gain_greedy_path(K, 0.1, 7), tolerance = tol$engine)
  x <- runif(6)
  both <- kernel_se(0.3) * kernel_matrix(K)
  expect_equal(information_gain(both, cbind(x, 1:6), 0.1, rounds = 4),
               information_gain(both, finite_domain(x), 0.1, rounds = 4))
  expect_identical(information_gain(kernel_se(1), matrix(0, 0, 1), 1), 0)
})

test_that("the values of the worked example come out", {
  cases <- list(
    list(kernel = kernel_se(0.2), noise = 1, greedy = 7.4445, doptimal = 7.448,
         factor = 11.777, spectral = 14.957),
    list(kernel = kernel_se(0.2), noise = 0.01, greedy = 23.4348, doptimal = 23.445,
         factor = 37.073, spectral = 33.000),
    list(kernel = kernel_matern(2.5, 0.2), noise = 0.1, greedy = 18.4724, doptimal = 18.479,
         factor = 29.223, spectral = 29.342)
  )
  for (case in cases) {
    last <- function(method) {
      information_gain(case$kernel, grid101, case$noise, rounds = 100, method = method)[100]
    }
    expect_equal(round(last("greedy"), 4), case$greedy)
    expect_equal(round(last("greedy") * exp(1) / (exp(1) - 1), 3), case$factor)
    expect_equal(round(last("spectral"), 3), case$spectral)
    expect_equal(round(last("doptimal"), 3), case$doptimal)
  }
})

test_that("greedy <= the maximum <= the D-optimal bound <= the spectral bound (brute force)", {
  for (seed in 1:6) {
    case <- small_case(seed)
    largest <- vapply(1:4, function(s) ref_gain_brute(case$K, case$noise, s), 0)
    bound <- lapply(c(greedy = "greedy", doptimal = "doptimal", spectral = "spectral"),
                    function(m) information_gain(case$kernel, case$x, case$noise, rounds = 4, method = m))
    expect_true(all(bound$greedy <= largest + tol$bound))
    expect_true(all(largest <= bound$doptimal + tol$bound))
    expect_true(all(bound$doptimal <= bound$spectral * (1 + 1e-4)))
    expect_true(all(largest <= bound$greedy * exp(1) / (exp(1) - 1)))
    expect_equal(bound$greedy[1], largest[1], tolerance = tol$engine)
  }
})

test_that("each method equals its plain-R reference", {
  for (seed in 11:13) {
    case <- small_case(seed, 12)
    ask <- function(...) information_gain(case$kernel, case$x, case$noise, rounds = 20, ...)
    expect_equal(ask("greedy"), ref_gain_greedy_path(case$K, case$noise, 20), tolerance = tol$engine)
    e <- eigen(case$K, symmetric = TRUE, only.values = TRUE)$values
    expect_equal(ask("spectral"),
                 vapply(1:20, function(s) ref_gain_spectral_value(e, case$noise, s), 0),
                 tolerance = tol$engine)
    reference <- ref_gain_doptimal(case$K, case$noise, 20, gap = 1e-5)
    got <- ask("doptimal", tolerance = 1e-7)[20]
    expect_gte(got, reference$value)
    expect_lte(got, reference$bound * (1 + 1e-7))
  }
})

test_that("the D-optimal bound is within its tolerance of the relaxed maximum at every T", {
  skip_on_cran()
  points <- seq(0, 1, length.out = 51)
  K <- ref_kernel_se(0.2)(points)
  loose <- information_gain(kernel_se(0.2), points, 0.1, rounds = 60, method = "doptimal", tolerance = 1e-3)
  tight <- information_gain(kernel_se(0.2), points, 0.1, rounds = 60, method = "doptimal", tolerance = 1e-6)
  expect_true(all(loose >= tight * (1 - 1e-6)))
  expect_true(all(loose <= tight * (1 + 1.2e-3)))
  for (s in few_of(c(1, 7, 23, 60), 2)) {
    reference <- ref_gain_doptimal(K, 0.1, s, steps = 3000, gap = 1e-3)
    expect_gte(tight[s], reference$value)
    expect_lte(tight[s], reference$bound * (1 + 1e-6))
  }
})

test_that("gains do not decrease, and their increments do not increase", {
  for (method in c("greedy", "spectral", "doptimal")) {
    gain <- information_gain(kernel_matern(0.5, 0.3), grid101, 0.02, rounds = 80, method = method)
    expect_length(gain, 80)
    expect_true(all(diff(gain) >= 0))
    expect_true(all(diff(gain, differences = 2) <= 2e-4 * max(gain)))
  }
})

test_that("a kernel of variance 0 has no gain, and one arm has its logarithm", {
  none <- kernel_linear()
  for (method in c("greedy", "spectral", "doptimal")) {
    expect_equal(information_gain(none, c(0, 0), 1, rounds = 3, method = method), rep(0, 3))
    expect_equal(information_gain(kernel_se(1, 4), 0.3, 0.5, rounds = 5, method = method), log1p(4 * 1:5 / 0.5) / 2,
                 tolerance = 1e-4)
  }
})

test_that("large and small scales work", {
  for (method in c("greedy", "spectral", "doptimal")) {
    base <- information_gain(kernel_se(0.2), grid101, 0.1, rounds = 30, method = method)
    for (scale in c(1e-8, 1e8)) {
      expect_equal(information_gain(kernel_se(0.2, scale), grid101, 0.1 * scale, rounds = 30, method = method),
                   base, tolerance = if (method == "doptimal") 1e-4 else tol$engine)
    }
  }
})

test_that("invalid input is an error", {
  refuse <- function(...) expect_error(information_gain(...), class = "gpbandits_error")
  k <- kernel_se(0.2)
  refuse("none", grid101, 1, rounds = 5)
  refuse(k, rounds = 5, noise_var = 1)
  refuse(k, c(0, NA), 1, rounds = 5)
  refuse(k, numeric(), 1, rounds = 5)
  refuse(k, "a", 1, rounds = 5)
  refuse(k, box_domain(0, 1), 1, rounds = 5)
  refuse(k, grid101, 1, rounds = 0)
  refuse(k, grid101, 1, rounds = 2.5)
  refuse(k, grid101, 0, rounds = 5)
  refuse(k, grid101, -1, rounds = 5)
  refuse(k, grid101, 1, rounds = 5, "gredy")
  refuse(k, grid101, 1, rounds = 5, "doptimal", tolerance = 0)
  refuse(kernel_matrix(diag(3)), 4, 1, rounds = 5)
  refuse(kernel_matrix(diag(3)), finite_domain(1:4), 1, rounds = 5)
  expect_error(information_gain(k, grid101, 0), class = "gpbandits_error")
  expect_error(information_gain(k, c(1, Inf), 1), class = "gpbandits_error")
  expect_error(information_gain(k, noise_var = 1), class = "gpbandits_error")
  expect_error(information_gain(k, grid101, 1, method = "spectral"), "`method`.*`rounds`", class = "gpbandits_error")
  expect_error(information_gain(k, grid101, 1, tolerance = 0.1), "`tolerance`.*`rounds`", class = "gpbandits_error")
  expect_error(information_gain(kernel_se(0.2, dims = 2), grid101, 1), class = "gpbandits_error")
})
