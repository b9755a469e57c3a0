# Every function in its default dimension, and those that allow it in others.
cases <- function() {
  free <- c("rosenbrock", "ackley", "levy", "michalewicz", "styblinski_tang")
  defaults <- lapply(names(test_function_makers), benchmark_function)
  c(defaults, lapply(free, benchmark_function, dimension = 4), lapply(setdiff(free, "rosenbrock"), benchmark_function, dimension = 1))
}

central_gradient <- function(f, x, h = 1e-6) {
  vapply(seq_along(x), function(j) {
    e <- replace(numeric(length(x)), j, h)
    (f(matrix(x + e, 1)) - f(matrix(x - e, 1))) / (2 * h)
  }, 0)
}

test_that("the stated optimum is the value at every stated optimiser, which is in the box", {
  for (case in cases()) {
    value <- case$f(case$optimiser)
    expect_lt(max(abs(value - case$optimum)), 4e-15 * max(1, abs(case$optimum)) * case$dimension, label = case$name)
    inside <- t(case$optimiser) >= case$domain$lower & t(case$optimiser) <= case$domain$upper
    expect_true(all(inside), label = case$name)
  }
})

test_that("the gradient vanishes at the optimisers and the value decreases around them", {
  set.seed(1)
  for (case in cases()) {
    for (i in seq_len(nrow(case$optimiser))) {
      x <- case$optimiser[i, ]
      # Ackley's optimum is a cone's tip: no gradient there.
      if (case$name != "ackley") expect_lt(max(abs(central_gradient(case$f, x))), 1e-4, label = case$name)
      step <- matrix(rnorm(50 * case$dimension, sd = 1e-3), 50)
      near <- pmin(pmax(t(x + t(step)), rep(case$domain$lower, each = 50)), rep(case$domain$upper, each = 50))
      expect_true(all(case$f(near) < case$optimum), label = case$name)
    }
  }
})

test_that("optimisers are correct to machine precision where the curvature determines them", {
  for (name in c("hartmann3", "hartmann6", "six_hump_camel", "styblinski_tang", "michalewicz")) {
    case <- benchmark_function(name)
    x <- case$optimiser[1, ]
    d <- length(x)
    # Fourth-order differences: error about h^4 in the gradient, and the Newton
    # step's length is the distance to the true optimiser.
    slope <- function(x) (8 * central_gradient(case$f, x, 1e-3) * 2e-3 - central_gradient(case$f, x, 2e-3) * 4e-3) / 12e-3
    h <- 1e-4
    hessian <- vapply(seq_len(d), function(j) {
      e <- replace(numeric(d), j, h)
      (slope(x + e) - slope(x - e)) / (2 * h)
    }, numeric(d))
    expect_lt(max(abs(solve(hessian, slope(x)))), 1e-8, label = name)
  }
})

test_that("no better value is found, and a search reaches the stated one", {
  skip_on_cran()
  for (case in few_of(cases(), 4)) {
    u <- golden_points(20000, case$dimension)
    x <- rep(case$domain$lower, each = nrow(u)) + u * rep(case$domain$upper - case$domain$lower, each = nrow(u))
    expect_true(all(case$f(x) <= case$optimum), label = case$name)
    found <- maximise_over(case$domain, function(points) case$f(points$inputs))$value
    expect_lte(found, case$optimum + 1e-12 * max(1, abs(case$optimum)), label = case$name)
    expect_lt(case$optimum - found, 1e-6, label = case$name)
  }
})

test_that("values agree with those computed by hand", {
  expect_equal(benchmark_function("rosenbrock")$f(c(-1.2, 1)), -24.2)
  expect_equal(benchmark_function("branin")$f(c(0, 0)), -(36 + 10 * (1 - 1 / (8 * pi)) + 10))
  expect_equal(benchmark_function("goldstein_price")$f(rbind(c(0, 0), c(1, 1))), -c(600, 1876))
  expect_equal(benchmark_function("six_hump_camel")$f(c(1, 1)), -(4 - 2.1 + 1 / 3 + 1))
  expect_equal(benchmark_function("styblinski_tang", 3)$f(c(1, 1, 1)), 15)
  expect_equal(benchmark_function("ackley")$f(c(1, 1)), -20 * (1 - exp(-0.2)))
  expect_equal(benchmark_function("levy")$f(c(-3, 1)), -10 * sin(1)^2 - 1)
  expect_equal(benchmark_function("michalewicz")$f(c(pi / 2, pi / 2)), sin(pi / 4)^20 + 1)
  # At a Hartmann centre one exponential is 1.
  A <- rbind(c(3, 10, 30), c(0.1, 10, 35), c(3, 10, 30), c(0.1, 10, 35))
  P <- rbind(c(3689, 1170, 2673), c(4699, 4387, 7470), c(1091, 8732, 5547), c(381, 5743, 8828)) / 1e4
  expect_equal(benchmark_function("hartmann3")$f(P[2, ]),
               sum(c(1, 1.2, 3, 3.2) * exp(-colSums(t(A) * (P[2, ] - t(P))^2))))
})

test_that("published optima come out", {
  published <- c(rosenbrock = 0, hartmann3 = 3.86278, hartmann6 = 3.32237, branin = -0.397887, ackley = 0,
                 levy = 0, michalewicz = 1.8013, goldstein_price = -3, six_hump_camel = 1.0316,
                 styblinski_tang = 78.33233)
  for (name in names(published)) expect_equal(benchmark_function(name)$optimum, published[[name]], tolerance = 1e-4)
  expect_equal(benchmark_function("michalewicz", 5)$optimum, 4.687658, tolerance = 1e-6)
  expect_equal(benchmark_function("michalewicz", 10)$optimum, 9.66015, tolerance = 1e-6)
})

test_that("all forms of input agree, and invalid input is an error", {
  camel <- benchmark_function("six_hump_camel")
  x <- rbind(c(1, 2), c(-1, 0))
  expect_identical(camel$f(x), camel$f(as.data.frame(x)))
  expect_identical(camel$f(x)[2], camel$f(x[2, ]))
  expect_identical(benchmark_function("ackley", 1)$f(c(0, 1, 2))[1], 0)
  for (bad in list(quote(benchmark_function("nothing")), quote(benchmark_function()), quote(benchmark_function(3)),
                   quote(benchmark_function("rosenbrock", 1)), quote(benchmark_function("branin", 3)),
                   quote(benchmark_function("levy", 1.5)), quote(camel$f(matrix(0, 2, 3))), quote(camel$f(c(NA, 1))))) {
    expect_error(eval(bad), class = "gpbandits_error")
  }
  expect_output(print(camel), "six_hump_camel.*2 point")
})
