ishigami <- function(x) sin(x[, 1]) + 7 * sin(x[, 2])^2 + 0.1 * x[, 3]^4 * sin(x[, 1])

test_that("Sobol indices of Ishigami's function are the known ones", {
  # Its moments in closed form (Ishigami and Homma 1990), a = 7, b = 0.1.
  v1 <- 0.5 * (1 + 0.1 * pi^4 / 5)^2
  v2 <- 7^2 / 8
  v13 <- 0.1^2 * pi^8 * (1 / 18 - 1 / 50)
  v <- v1 + v2 + v13
  found <- sobol_indices(function(u) ishigami(pi * (2 * u - 1)), 3, 4096)
  expect_lt(max(abs(found$first - c(v1, v2, 0) / v)), 0.01)
  expect_lt(max(abs(found$total - c(v1 + v13, v2, v13) / v)), 0.02)
})

test_that("importance is that of the posterior mean, on the inputs' scales and in the inputs' order", {
  domain <- box_domain(c(a = 1e-4, b = 1, c = 0), c(a = 1, b = 5, c = 1), integer = "b", log = "a")
  f <- function(a, b, c) log10(a) + 0.5 * b + 0 * c
  bandit <- gp_bandit(domain, kernel_se(c(9, 6, 2), variance = 20), 1e-6, policy_ei(), mean = 0)
  grid <- expand.grid(a = 10^seq(-4, 0, length.out = 7), b = 1:5, c = c(0, 0.5, 1))
  bandit$add(x = grid, reward = f(grid$a, grid$b, grid$c))
  found <- input_importance(bandit)
  # Uniform over 4 decades: variance 16 / 12; whole numbers 1 to 5: 2, times 0.25.
  shares <- c(16 / 12, 0.5, 0) / (16 / 12 + 0.5)
  expect_equal(found$input, c("a", "b", "c"))
  expect_lt(max(abs(found$first - shares)), 0.02)
  expect_lt(max(abs(found$total - shares)), 0.02)
  expect_match(attr(found, "method"), "Sobol.*Jansen")
  set.seed(3)
  seed <- .Random.seed
  expect_identical(input_importance(bandit), found)
  expect_identical(.Random.seed, seed)
})

test_that("arms count as often as their values occur; a constant mean has no shares; a matrix has no inputs", {
  arms <- cbind(u = c(0, 0, 0, 1), v = c(1, 2, 3, 4))
  expect_equal(input_quantiles(finite_domain(arms), 1, c(0, 0.7, 0.76, 1)), c(0, 0, 1, 1))
  bandit <- gp_bandit(arms, kernel_se(2), 0.01, policy_ei())
  expect_true(all(is.nan(input_importance(bandit)$total)))
  product <- product_domain(data.frame(k = 1:3), box_domain(c(z = 0), c(z = 2)))
  expect_equal(input_quantiles(product, 2, 0.25), 0.5)
  expect_error(input_importance(gp_bandit(1:3, kernel_matrix(diag(3)), 0.1, policy_ei())), class = "gpbandits_error")
  expect_error(input_importance(bandit, points = 3), class = "gpbandits_error")
  expect_error(input_importance(list()), class = "gpbandits_error")
})
