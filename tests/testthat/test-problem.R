refused <- function(code) expect_error(code, class = "gpbandits_error")
arms <- function(problem, numbers) subset_points(all_points(problem$domain), numbers)

test_that("noise has the stated distribution, and invalid parameters are errors", {
  set.seed(1)
  draws <- draw_noise(as_noise(0.5), 20000)
  expect_gt(ks.test(draws, "pnorm", 0, 0.5)$p.value, 1e-3)
  draws <- draw_noise(as_noise(function(n) runif(n, -2, 2)), 20000)
  expect_gt(ks.test(draws, "punif", -2, 2)$p.value, 1e-3)
  expect_identical(draw_noise(as_noise(0), 3), c(0, 0, 0))
  expect_identical(draw_noise(as_noise(function(n) seq_len(n)), 3), c(1, 2, 3))
  for (bad in list(-1, NA, NaN, Inf, "a", c(1, 2), NULL, list(1))) refused(bandit_problem(1:3, 1:3, noise = bad))
  refused(draw_noise(as_noise(function(n) 1), 3))
  refused(draw_noise(as_noise(function(n) rep(Inf, n)), 3))
  expect_output(print(as_noise(0.5)), "gaussian.*0.5")
  expect_output(print(bandit_problem(1:3, 1:3, noise = 0.5)), "gaussian.*0.5")
})

test_that("delays have the stated distribution, and invalid parameters are errors", {
  set.seed(1)
  n <- 20000
  expect_identical(draw_delay(as_delay(4), 3), c(4, 4, 4))
  expect_identical(draw_delay(NULL, 2), c(0, 0))
  for (delay in list(list(function(n) rpois(n, 3), dpois(0:30, 3)),
                     list(function(n) rgeom(n, 1 / 4), dgeom(0:30, 1 / 4)))) {
    seen <- tabulate(draw_delay(as_delay(delay[[1]]), n) + 1, 31) / n
    expect_lt(max(abs(seen - delay[[2]])), 5 * sqrt(0.25 / n))
  }
  expect_identical(draw_delay(as_delay(function(n) rgeom(n, 1)), 3), c(0, 0, 0))
  expect_identical(draw_delay(as_delay(function(n) c(0, Inf, 2)), 3), c(0, .Machine$integer.max, 2))
  for (bad in list(-1, 1.5, Inf, NA, "a", c(1, 2), list(1))) refused(bandit_problem(1:3, 1:3, delay = bad))
  refused(draw_delay(as_delay(function(n) rep(-1, n)), 3))
  refused(draw_delay(as_delay(function(n) rep(0.5, n)), 3))
  refused(draw_delay(as_delay(function(n) 1), 3))
  refused(draw_delay(as_delay(function(n) c(NA, 1, 1)), 3))
  expect_output(print(as_delay(2)), "fixed.*2")
  expect_output(print(bandit_problem(1:3, 1:3, delay = function(n, x) 1)), "function of the input")
})

test_that("a finite problem computes its truth, periods and optimum", {
  means <- cbind(c(0, 1, 2, 5), c(4, 1, 0, 3))
  problem <- bandit_problem(1:4, means, change_points = 3)
  expect_identical(problem_period(problem, 5), c(1L, 1L, 1L, 2L, 2L))
  expect_identical(problem_optimum(problem, 5), c(5, 5, 5, 4, 4))
  expect_identical(problem_truth(problem, arms(problem, c(1, 2, 4)), round = c(1, 3, 4)), c(0, 1, 3))
  expect_identical(bandit_problem(1:4, means[, 1])$optimum, 5)
  by_function <- bandit_problem(1:4, list(function(x) means[x, 1], function(x) means[x, 2]), change_points = 3)
  expect_identical(by_function$reward_values, problem$reward_values)
  expect_identical(bandit_problem(1:4, function(x) x^2)$reward_values, cbind(c(1, 4, 9, 16)))
  expect_identical(bandit_problem(1:4, means[, 1], optimum = 6)$optimum, 6)
})

test_that("constraints restrict the optimum, by values or by function", {
  reward <- c(5, 3, 4, 1)
  g <- cbind(c(0.1, -1, 0, -1), c(-1, -1, -1, 2))
  by_value <- bandit_problem(1:4, reward, constraints = g)
  expect_identical(by_value$optimum, 4)   # arm 3: a value of exactly 0 is allowed
  by_function <- bandit_problem(1:4, reward, constraints = function(x) g[x, ])
  expect_identical(by_function$optimum, 4)
  expect_identical(problem_constraints(by_function, arms(by_function, c(3, 1))), g[c(3, 1), ])
  expect_identical(bandit_problem(1:4, reward, constraints = g[, 2])$constraint_count, 1L)
  expect_error(bandit_problem(1:4, reward, constraints = rep(1, 4)), "no arm satisfies", class = "gpbandits_error")
  expect_identical(bandit_problem(1:4, reward, constraints = rep(1, 4), optimum = 0)$optimum, 0)
})

test_that("random numbers are drawn before the run, in a fixed order", {
  problem <- bandit_problem(1:3, c(0, 1, 2), noise = 0.1, delay = function(n) rpois(n, 2),
                            constraints = matrix(-1, 3, 2),
                            constraint_noise = list(function(n) runif(n, -1, 1), 2))
  set.seed(5)
  draws <- problem_draws(problem, 6)
  set.seed(5)
  expect_identical(draws$noise, 0.1 * rnorm(6))
  expect_identical(draws$delay, as.double(rpois(6, 2)))
  expect_identical(draws$constraint_noise, cbind(runif(6, -1, 1), 2 * rnorm(6)))
  expect_null(draws$contexts)
  plain <- bandit_problem(1:3, c(0, 1, 2), noise = 0.1)
  set.seed(5)
  expect_identical(problem_draws(plain, 6)$noise, draws$noise)
  expect_identical(dim(problem_draws(plain, 6)$constraint_noise), c(6L, 0L))
})

test_that("contexts are a matrix or a function, with an optimum per context", {
  z <- cbind(load = c(0, 1, 3))
  f <- function(x) -(x[, "x1"] - x[, "load"])^2 + x[, "load"]
  problem <- bandit_problem(0:2, f, contexts = z)
  draws <- problem_draws(problem, 5)
  expect_identical(draws$contexts, cbind(load = c(0, 1, 3, 0, 1)))
  expect_identical(problem_optimum(problem, 5, draws$contexts), c(0, 1, 2, 0, 1))
  expect_identical(problem_truth(problem, arms(problem, c(3, 1)), round = 1:2, contexts = draws$contexts[1:2, , drop = FALSE]),
                   c(-4, 0))
  reported <- bandit_problem(0:2, f, contexts = z, optimum = function(z) z[, "load"])
  expect_identical(problem_optimum(reported, 5, draws$contexts), c(0, 1, 3, 0, 1))

  set.seed(2)
  before <- .Random.seed
  random <- bandit_problem(box_domain(-1, 4), function(x) -(x[, 1] - x[, 2])^2 + x[, 2],
                           contexts = function(rounds) runif(rounds, 0, 3))
  expect_identical(.Random.seed, before)
  expect_identical(random$context_names, "z1")
  drawn <- problem_draws(random, 4)$contexts
  expect_identical(dim(drawn), c(4L, 1L))
  expect_equal(problem_optimum(random, 4, drawn), drawn[, 1], tolerance = 1e-8)
})

test_that("contexts work with periods and constraints", {
  f <- list(function(x) x[, 1], function(x) -x[, 1])
  g <- function(x) x[, 1] - x[, 2]
  z <- cbind(z = c(1, 2, 2, 3))
  problem <- bandit_problem(1:3, f, contexts = z, change_points = 2, constraints = g)
  expect_identical(problem_optimum(problem, 4, problem_draws(problem, 4)$contexts), c(1, 2, -1, -1))
  expect_identical(problem_constraints(problem, arms(problem, 1:2), contexts = z[1:2, , drop = FALSE]), cbind(c(0, 0)))
  expect_identical(problem_truth(problem, arms(problem, c(2, 3)), round = c(2, 3), contexts = z[2:3, , drop = FALSE]), c(2, -3))
  low <- bandit_problem(1:3, f[[1]], contexts = cbind(z = c(2, 0)), constraints = g)
  expect_error(problem_optimum(low, 2, problem_draws(low, 2)$contexts), "context z = 0", class = "gpbandits_error")
})

test_that("the search on a box finds known optima, inside and on faces", {
  expect_equal(bandit_problem(box_domain(c(-1, 0), c(2, 1)), function(x) x[, 1] + 2 * x[, 2])$optimum, 4)
  hartmann <- benchmark_function("hartmann6")
  expect_equal(bandit_problem(hartmann$domain, hartmann$f)$optimum, hartmann$optimum, tolerance = 1e-10)
  two <- bandit_problem(box_domain(0, 1), list(function(x) sin(5 * x), function(x) rep(2, nrow(x))), change_points = 4)
  expect_equal(two$optimum, c(1, 2), tolerance = 1e-12)
  set.seed(1)
  before <- .Random.seed
  bandit_problem(box_domain(0, 1), function(x) x^2)
  expect_identical(.Random.seed, before)
})

test_that("the search on a box under constraints finds known optima", {
  skip_on_cran()
  # Shi and Eryilmaz's small feasible region, optimum (3 pi / 2, asin 0.95).
  problem <- bandit_problem(box_domain(c(0, 0), c(6, 6)), function(x) -sin(x[, 1]) - x[, 2],
                            constraints = function(x) sin(x[, 1]) * sin(x[, 2]) + 0.95)
  expect_equal(problem$optimum, 1 - asin(0.95), tolerance = 1e-6)
  # Two active constraints: x + y <= 1, y <= x; maximise y.
  corner <- bandit_problem(box_domain(c(0, 0), c(1, 1)), function(x) x[, 2],
                           constraints = function(x) cbind(x[, 1] + x[, 2] - 1, x[, 2] - x[, 1]))
  expect_equal(corner$optimum, 0.5, tolerance = 1e-6)
  # A linear objective on a disc is largest at its rim.
  disc <- bandit_problem(box_domain(c(-1, -1), c(1, 1)), function(x) x[, 1] + x[, 2],
                         constraints = function(x) rowSums(x^2) - 0.04)
  expect_equal(disc$optimum, 0.2 * sqrt(2), tolerance = 1e-6)
  inactive <- bandit_problem(box_domain(0, 1), function(x) -(x - 0.3)^2, constraints = function(x) x - 0.9)
  expect_equal(inactive$optimum, 0, tolerance = 1e-12)
  # A band that no candidate hits: 0.1 - 1e-6 <= x - y <= 0.1.
  band <- bandit_problem(box_domain(c(0, 0), c(1, 1)), function(x) x[, 1] + x[, 2],
                         constraints = function(x) (x[, 1] - x[, 2] - 0.1) %*% cbind(1, -1) +
                           rep(c(0, -1e-6), each = nrow(x)))
  expect_equal(band$optimum, 1.900001, tolerance = 1e-7)
  expect_error(bandit_problem(box_domain(0, 1), function(x) x, constraints = function(x) x + 0.1),
               "found no point", class = "gpbandits_error")
})

test_that("truth on a box uses the round's period", {
  problem <- bandit_problem(box_domain(0, 1), list(function(x) x, function(x) 1 - x), change_points = 2)
  expect_equal(problem_truth(problem, find_points(problem$domain, c(0.2, 0.2, 0.3)), round = c(2, 3, 4)), c(0.2, 0.8, 0.7))
  expect_identical(problem_constraints(problem, find_points(problem$domain, c(0.2, 0.3))), matrix(0, 2, 0))
})

test_that("sizes that contradict each other are errors that name the argument", {
  complains <- function(code, argument) {
    error <- tryCatch(code, gpbandits_error = function(e) e)
    expect_s3_class(error, "gpbandits_error")
    expect_identical(error$argument, argument)
  }
  box <- box_domain(c(0, 0), c(1, 1))
  ok <- function(x) x[, 1]
  complains(bandit_problem(), "domain")
  complains(bandit_problem(1:3), "reward")
  complains(bandit_problem(1:3, 1:4), "reward")
  complains(bandit_problem(1:3, c(1, NA, 2)), "reward")
  complains(bandit_problem(1:3, "a"), "reward")
  complains(bandit_problem(1:3, cbind(1:3, 1:3)), "reward")
  complains(bandit_problem(1:3, 1:3, change_points = 5), "reward")
  complains(bandit_problem(1:3, function(x) x, change_points = 5), "reward")
  complains(bandit_problem(1:3, list(sin, 3), change_points = 5), "reward")
  complains(bandit_problem(1:3, function(x) sum(x)), "reward")
  complains(bandit_problem(1:3, function(x) stop("boom")), "reward")
  complains(bandit_problem(1:3, function(x) log(x - 1)), "reward")
  complains(bandit_problem(box, 1:3), "reward")
  complains(bandit_problem(box, function(x) sum(x)), "reward")
  complains(bandit_problem(box, ok, contexts = 1:3, constraints = matrix(1, 3, 1)), "constraints")
  complains(bandit_problem(1:3, 1:3, contexts = 1:3), "reward")
  for (bad in list(c(5, 3), c(3, 3), 0, 1.5, NA, "a", Inf)) {
    complains(bandit_problem(1:3, 1:3, change_points = bad), "change_points")
  }
  complains(bandit_problem(1:3, 1:3, noise = -0.1), "noise")
  complains(bandit_problem(1:3, 1:3, delay = 2.5), "delay")
  complains(bandit_problem(1:3, 1:3, constraints = 1:4), "constraints")
  complains(bandit_problem(1:3, 1:3, constraints = function(x) 1), "constraints")
  complains(bandit_problem(1:3, 1:3, constraints = function(x) x / 0), "constraints")
  complains(bandit_problem(box, ok, constraints = c(1, 1)), "constraints")
  complains(bandit_problem(1:3, 1:3, constraint_noise = 1), "constraint_noise")
  complains(bandit_problem(1:3, 1:3, constraints = matrix(-1, 3, 2), constraint_noise = list(1)),
            "constraint_noise")
  complains(bandit_problem(1:3, 1:3, constraints = matrix(-1, 3, 2), constraint_noise = -1), "constraint_noise")
  complains(bandit_problem(1:3, ok, contexts = matrix(0, 2, 1, dimnames = list(NULL, "x1"))), "contexts")
  complains(bandit_problem(1:3, ok, contexts = matrix(0, 0, 1)), "contexts")
  complains(bandit_problem(1:3, ok, contexts = function(rounds) 1), "contexts")
  complains(bandit_problem(1:3, 1:3, optimum = c(1, 2)), "optimum")
  complains(bandit_problem(1:3, 1:3, optimum = function(z) 1), "optimum")
  complains(bandit_problem(1:3, 1:3, optimum = Inf), "optimum")
  varying <- bandit_problem(1:3, ok, contexts = function(rounds) seq_len(rounds)[rounds < 5])
  complains(problem_draws(varying, 6), "contexts")
})

test_that("printing describes the problem", {
  problem <- bandit_problem(1:3, cbind(1:3, 3:1), noise = 0.1, delay = function(n) rpois(n, 2), change_points = 50,
                            constraints = c(-1, -1, 1))
  expect_output(print(problem), "3 arms")
  for (text in c("gaussian\\(sd = 0.1\\)", "delay +function", "after rounds 50", "constraints +1", "optimum +2, 3")) {
    expect_output(print(problem), text)
  }
  expect_output(print(bandit_problem(1:2, function(x) x[, 1], contexts = 1:2)), "z1")
})
