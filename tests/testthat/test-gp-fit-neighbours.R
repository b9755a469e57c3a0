# The likelihood of many observations from groups of neighbours (Vecchia), against its formula in plain R and against
# the exact likelihood.

neighbour_likelihood <- function(kernel, x, y, parameters, at = parameters, own = 10, earlier = 15, fit_mean = FALSE,
                                 log_scale = 0, gradient = FALSE, own_noise = double()) {
  skip_without_testing()
  resolved <- internal("resolve_kernel")(kernel, paste0("x", seq_len(ncol(x))))
  internal("cpp_neighbour_likelihood")(resolved, x, y, own_noise, fit_mean, parameters, at, log_scale, own, earlier,
                                       gradient)
}

exact_likelihood <- function(kernel, x, y, parameters, fit_mean = FALSE, own_noise = double(), gradient = FALSE) {
  resolved <- internal("resolve_kernel")(kernel, paste0("x", seq_len(ncol(x))))
  internal("cpp_fit_likelihood")(resolved, x, y, own_noise, fit_mean, parameters, 0, gradient)
}

log_parameters <- function(kernel, noise_var) log(c(internal("kernel_parameters")(kernel), noise_var))

# sum over groups of log p(y of the group | y of its neighbours), by the dense formulas; and the best mean of the normal
# distribution that this is.
plain_neighbours <- function(K, noise, y, groups, fit_mean, scale = 1) {
  A <- scale * (K + diag(noise))
  terms <- lapply(groups, function(group) {
    own <- group$own
    weights <- if (length(group$earlier)) solve(A[group$earlier, group$earlier], A[group$earlier, own, drop = FALSE])
    lift <- matrix(0, length(own), length(y))
    lift[cbind(seq_along(own), own)] <- 1
    if (length(group$earlier)) lift[, group$earlier] <- -t(weights)
    S <- A[own, own] - if (length(group$earlier)) A[own, group$earlier] %*% weights else 0
    list(lift = lift, S = S)
  })
  Q <- Reduce(`+`, lapply(terms, function(one) t(one$lift) %*% solve(one$S, one$lift)))
  log_det <- sum(vapply(terms, function(one) as.numeric(determinant(one$S)$modulus), 0))
  mean <- if (fit_mean) sum(Q %*% y) / sum(Q) else 0
  r <- y - mean
  list(value = -0.5 * (sum(r * (Q %*% r)) + log_det + length(y) * log(2 * pi)), mean = mean)
}

many_points <- function(n, d, seed = 1) {
  set.seed(seed)
  x <- matrix(runif(n * d), n)
  list(x = x, y = sin(6 * x[, 1]) + x[, d]^2 + rnorm(n, sd = 0.1))
}

test_that("the likelihood from neighbours and its best mean equal their formula", {
  data <- many_points(80, 2)
  cases <- compare_kernels()
  for (name in names(cases)) {
    case <- cases[[name]]
    data <- many_points(80, case$d)
    at <- log_parameters(case$core, 0.05)
    for (fit_mean in c(FALSE, TRUE)) {
      got <- neighbour_likelihood(case$core, data$x, data$y + 2, at, fit_mean = fit_mean, log_scale = log(3))
      wanted <- plain_neighbours(case$ref(data$x), rep(0.05, 80), data$y + 2, got$groups, fit_mean, 3)
      expect_equal(got[c("value", "mean")], wanted, tolerance = 1e-8, info = name)
    }
  }
})

test_that("its gradient equals finite differences, also with noise of single observations and repeats", {
  cases <- compare_kernels()
  for (name in names(cases)) {
    case <- cases[[name]]
    data <- many_points(70, case$d)
    rows <- c(1:70, 3, 3, 9)
    set.seed(2)
    x <- data$x[rows, , drop = FALSE]
    y <- data$y[rows] + rnorm(73, sd = 0.2)
    own <- replace(rep(NA_real_, 73), c(2, 3, 40), c(0.2, 0.01, 0.5))
    at <- log_parameters(case$core, 0.1)
    for (fit_mean in c(FALSE, TRUE)) {
      value <- function(p, h) {
        neighbour_likelihood(case$core, x, y, replace(at, p, at[p] + h), at, fit_mean = fit_mean, own_noise = own)$value
      }
      got <- neighbour_likelihood(case$core, x, y, at, fit_mean = fit_mean, own_noise = own, gradient = TRUE)$gradient
      wanted <- vapply(seq_along(at), function(p) (value(p, 1e-4) - value(p, -1e-4)) / 2e-4, 0)
      expect_equal(got, wanted, tolerance = 1e-5, info = name)
    }
  }
})

test_that("with all earlier points as neighbours it is the exact likelihood", {
  skip_without_testing()
  data <- many_points(90, 3)
  rows <- c(1:90, 5, 5, 77)
  x <- data$x[rows, ]
  y <- data$y[rows] + c(rep(0, 90), 0.1, -0.2, 0.3)
  own <- replace(rep(NA_real_, 93), c(1, 5, 93), c(0.3, 0.02, 0.1))
  kernel <- kernel_matern(2.5, c(0.3, 0.5, 1))
  at <- log_parameters(kernel, 0.02)
  for (fit_mean in c(FALSE, TRUE)) {
    got <- neighbour_likelihood(kernel, x, y, at, own = 20, earlier = 90, fit_mean = fit_mean, own_noise = own,
                                gradient = TRUE)
    wanted <- exact_likelihood(kernel, x, y, at, fit_mean, own, gradient = TRUE)
    expect_equal(got$value, wanted$value, tolerance = 1e-9)
    expect_equal(got$mean, wanted$mean, tolerance = 1e-9)
    expect_equal(got$gradient, wanted$gradient, tolerance = 1e-7)
  }
})

test_that("every point is in one group, and neighbours are the nearest points of earlier groups", {
  data <- many_points(400, 2)
  kernel <- kernel_matern(2.5, c(0.3, 0.3))
  groups <- neighbour_likelihood(kernel, data$x, data$y, log_parameters(kernel, 0.01), own = 25, earlier = 40)$groups
  own <- lapply(groups, `[[`, "own")
  expect_setequal(unlist(own), 1:400)
  expect_false(anyDuplicated(unlist(own)) > 0)
  expect_lte(max(lengths(own)), 25)
  before <- Reduce(c, own, accumulate = TRUE, init = integer())
  distance <- as.matrix(dist(data$x))
  for (k in seq_along(groups)) {
    earlier <- groups[[k]]$earlier
    expect_true(all(earlier %in% before[[k]]))
    expect_length(earlier, min(40, length(before[[k]])))
    left <- setdiff(before[[k]], earlier)
    if (length(left)) expect_lt(mean(distance[own[[k]], earlier]), mean(distance[own[[k]], left]))
  }
})

test_that("at its maximum the exact likelihood is close to its own maximum", {
  skip_without_testing()
  skip_on_cran()
  data <- many_points(600, 3)
  kernel <- kernel_matern(2.5, c(0.4, 1, 1))
  exact <- gp_fit(data$x, data$y, kernel, mean = "fit")
  at <- log(exact$parameters)
  value <- function(at, gradient = FALSE) {
    neighbour_likelihood(exact$kernel, data$x, data$y, at, log(exact$parameters), 100, 200, TRUE, gradient = gradient)
  }
  found <- optim(at, function(at) -value(at)$value, function(at) -value(at, TRUE)$gradient, method = "BFGS",
                 control = list(maxit = 30))$par
  there <- exact_likelihood(exact$kernel, data$x, data$y, found, TRUE)$value
  # (Half the squared distance from the maximum in posterior sds, all parameters together.)
  expect_lt(exact$log_likelihood - there, 1)
})

test_that("gp_fit() reports which likelihood it used, and the maximum from neighbours is near the exact one", {
  skip_on_cran()
  data <- many_points(1010, 2)
  fitted <- function(rows) gp_fit(data$x[rows, ], data$y[rows], kernel_se(c(1, 1)), starts = 1)
  expect_identical(fitted(1:200)$likelihood, list(method = "exact", points = 200))
  expect_identical(fitted(rep(1:200, 6))$likelihood, list(method = "exact", points = 200))
  exact <- fitted(1:1000)
  expect_identical(exact$likelihood, list(method = "exact", points = 1000))
  many <- fitted(1:1010)
  expect_identical(many$likelihood, list(method = "neighbours", points = 1010))
  by_exact <- gp_regression(data$x, data$y, exact$kernel, exact$noise_var)
  expect_gt(many$log_likelihood, as.numeric(logLik(by_exact)) - 1)
})
