# The one maximiser against brute force on fine grids.

found_on <- function(domain, f, g = NULL, ...) {
  user <- function(h) if (!is.null(h)) function(points) h(from_model_inputs(domain, points$inputs))
  maximise_over(domain, user(f), user(g), ...)
}
best_of_grid <- function(f, ..., g = NULL) {
  x <- as.matrix(expand.grid(...))
  if (!is.null(g)) x <- x[rowSums(cbind(g(x)) > 0) == 0, , drop = FALSE]
  max(f(x))
}

wavy <- function(x) sin(3 * x[, 1]) + cos(2 * x[, 2] + x[, 1]) - 0.1 * (x[, 1] - 1)^2

test_that("on arms the maximum is exact, ties go to the first arm, and limits hold", {
  x <- cbind(rep(0:20, 11), rep(0:10, each = 21)) / 4
  domain <- finite_domain(x)
  expect_identical(found_on(domain, wavy)$points$arm, which.max(wavy(x)) - 1L)
  g <- function(x) cbind(x[, 1] - 2, 1 - x[, 2])
  ok <- x[, 1] <= 2 & x[, 2] >= 1
  best <- found_on(domain, wavy, g)
  expect_identical(best$points$arm, which(ok)[which.max(wavy(x)[ok])] - 1L)
  expect_true(best$feasible)
  impossible <- found_on(domain, wavy, function(x) cbind(x[, 1] + 1, 3 - x[, 2]))
  expect_false(impossible$feasible)
  expect_equal(drop(impossible$points$inputs), c(x1 = 0, x2 = 2.5))
  flat <- found_on(domain, function(x) 1 - 1e-10 * x[, 2] * (x[, 1] > 0), tie = 1e-8)
  expect_identical(flat$points$arm, 0L)
})

test_that("on a box with integer and logarithmic inputs it equals brute force", {
  box <- box_domain(c(-1, 0), c(4, 3))
  axes <- list(seq(-1, 4, length.out = 801), seq(0, 3, length.out = 801))
  # No less than the grid's best, and no more than half a cell can add (second derivatives are at most 13 in sum).
  best <- found_on(box, wavy)$value - best_of_grid(wavy, axes[[1]], axes[[2]])
  expect_gte(best, 0)
  expect_lt(best, 13 / 2 * (5 / 1600)^2)
  g <- function(x) cbind(x[, 1]^2 + x[, 2] - 3)
  best <- found_on(box, wavy, g)
  expect_equal(best$value, best_of_grid(wavy, axes[[1]], axes[[2]], g = g), tolerance = 2e-3)
  expect_lt(g(best$points$inputs), 1e-7)

  # The best integers are not those next to the best of all numbers: (2.5, .) would be best.
  ridge <- function(x) -40 * (x[, 1] - 2.5 - 0.3 * (x[, 2] - 5))^2 - 0.01 * (x[, 2] - 8)^2 - log10(x[, 3])^2
  mixed <- box_domain(c(0, 0, 1e-3), c(10, 10, 100), integer = c(TRUE, TRUE, FALSE), log = c(FALSE, FALSE, TRUE))
  best <- found_on(mixed, ridge)
  expect_equal(best$value, best_of_grid(ridge, 0:10, 0:10, 1), tolerance = 1e-8)
  expect_equal(exp(best$points$inputs[3]), 1, tolerance = 1e-4)
  expect_identical(bandit_problem(mixed, ridge)$optimum, best$value)
  # Too many integers to try each: steps from the best.
  large <- box_domain(c(0, 0, 0), c(1000, 1000, 1), integer = c(TRUE, TRUE, FALSE))
  far <- function(x) -abs(x[, 1] - 617) / 50 - abs(x[, 2] - 13.4) / 50 - (x[, 3] - 0.3)^2
  expect_equal(found_on(large, far)$value, -0.4 / 50, tolerance = 1e-6)
  # A ridge across both: the best is many steps away.
  ridge <- function(x) -abs(x[, 1] + x[, 2] - 900) / 5 - abs(x[, 2] - 13.4) / 50 - (x[, 3] - 0.3)^2
  expect_equal(found_on(large, ridge)$value, -0.4 / 50, tolerance = 1e-6)
})

test_that("on a product it is the best over all rows, each with its own maxima", {
  skip_on_cran()
  # Row 3 has the highest peak, narrow and away from those of the others.
  peaks <- cbind(centre = c(0.2, 0.8, 0.55, 0.4), height = c(1, 1.2, 1.5, 1.1), width = c(0.3, 0.2, 0.03, 0.4))
  f <- function(x) unname(peaks[x[, 1], "height"] * exp(-((x[, 2] - peaks[x[, 1], "centre"]) / peaks[x[, 1], "width"])^2))
  domain <- product_domain(1:4, list(u = c(0, 1)))
  best <- found_on(domain, f)
  expect_equal(best$value, 1.5, tolerance = 1e-8)
  expect_identical(best$points$arm, 2L)
  # A limit that rules the third row out.
  g <- function(x) cbind(ifelse(x[, 1] == 3, 1, x[, 2] - 0.7))
  best <- found_on(domain, f, g)
  expect_equal(best$value, best_of_grid(f, 1:4, seq(0, 1, length.out = 20001), g = g), tolerance = 1e-6)
  expect_false(found_on(domain, f, function(x) cbind(rep(1, nrow(x))))$feasible)
  # Many rows: a peak in one of them.
  many <- product_domain(1:300, list(u = c(0, 1), v = c(0, 1)))
  high <- function(x) -abs(x[, 1] - 211) / 100 - (x[, 2] - x[, 1] / 300)^2 - (x[, 3] - 0.5)^2
  expect_equal(found_on(many, high)$value, 0, tolerance = 1e-6)
  # Rows that share their inputs are distinguished by number.
  twins <- product_domain(c(1, 1), list(u = c(0, 1)))
  expect_identical(maximise_over(twins, function(p) p$arm - (p$inputs[, 2] - 0.3)^2)$points$arm, 1L)
})

test_that("with the effort of one round it finds kinks, jumps and limits nearly as well, also from given points", {
  box <- box_domain(c(-1, 0), c(4, 3))
  axes <- list(seq(-1, 4, length.out = 801), seq(0, 3, length.out = 801))
  kinked <- function(x) wavy(x) - 2 * pmax(x[, 1] - 1.3, 0) + (x[, 2] > 1)
  g <- function(x) cbind(x[, 1]^2 + x[, 2] - 3, sin(x[, 1]))
  found <- found_on(box, kinked, effort = effort_of_round)
  expect_gt(found$value, best_of_grid(kinked, axes[[1]], axes[[2]]) - 0.01)
  found <- found_on(box, kinked, g, effort = effort_of_round)
  expect_gt(found$value, best_of_grid(kinked, axes[[1]], axes[[2]], g = g) - 0.02)
  expect_true(all(g(found$points$inputs) <= 0))
  # A needle is found where one of the points known lies on it.
  needle <- function(x) exp(-1e6 * ((x[, 1] - 1.2345)^2 + (x[, 2] - 2.3456)^2))
  expect_lt(found_on(box, needle, effort = effort_of_round)$value, 0.5)
  known <- find_points(box, rbind(c(0, 0), c(1.2345, 2.3456)))
  expect_gt(found_on(box, needle, effort = effort_of_round, from = known)$value, 0.999)
  product <- product_domain(c(5, 7), box)
  known <- find_points(product, c(1.2345, 2.3456), arm = 2)
  on_second <- function(x) needle(x[, -1, drop = FALSE]) * (x[, 1] == 7)
  expect_gt(found_on(product, on_second, effort = effort_of_round, from = known)$value, 0.999)
})

test_that("a product with one row equals the box, and one with a tiny box equals the arms", {
  box <- box_domain(c(-1, 0), c(4, 3))
  one <- product_domain(7, box)
  alone <- maximise_over(box, function(p) wavy(p$inputs))
  beside <- maximise_over(one, function(p) wavy(p$inputs[, -1, drop = FALSE]))
  expect_identical(beside$value, alone$value)
  expect_identical(beside$points$inputs[, -1], alone$points$inputs[1, ])
  rows <- finite_domain(cbind(1:9 / 3, 9:1 / 5))
  thin <- product_domain(rows, list(z = c(0, 1e-12)))
  expect_identical(maximise_over(thin, function(p) wavy(p$inputs))$points$arm, maximise_over(rows, function(p) wavy(p$inputs))$points$arm)
})

test_that("for mixtures with zeros it is the best over all subsets, as on grids", {
  skip_on_cran()
  # Some sets do best with less than they may have.
  linear <- c(0.3, 0.9, 0.2, 0.8, 0.5, 0.1)
  square <- outer(1:6, 1:6, function(i, j) sin(3 * i + 5 * j) + sin(5 * i + 3 * j)) / 2
  f <- function(x) drop(x %*% linear) + rowSums((x %*% square) * x)
  for (most in 1:3) {
    space <- search_space(mix = param_shares(letters[1:6], most = most, lower = 0.05))
    grid <- do.call(rbind, lapply(seq_len(most), function(k) {
      u <- as.matrix(expand.grid(rep(list(seq(0.05, 0.95, by = 0.01)), k - 1)))
      u <- if (k == 1) matrix(1) else cbind(u, 1 - rowSums(u))
      u <- u[u[, k] >= 0.05 - 1e-9, , drop = FALSE]
      do.call(rbind, lapply(utils::combn(6, k, simplify = FALSE), function(at) {
        x <- matrix(0, nrow(u), 6)
        x[, at] <- u
        x
      }))
    }))
    # (Second derivatives along the grid's directions are below 8: half a cell adds less than 1e-3.)
    found <- maximise_over(space, function(points) f(points$inputs[, 1:6, drop = FALSE]))$value
    expect_gte(found, max(f(grid)) - 1e-9)
    expect_lt(found, max(f(grid)) + 1e-3)
  }
})

test_that("local optimisation uses a value and its gradient together, and ends at the best point within the limits", {
  asked <- integer()
  searched_from <- function(u, f) cpp_local_search(u, function(points) {
    asked <<- c(asked, nrow(points))
    f(points)
  })
  # To the face x = 1.
  expect_equal(searched_from(c(0.2, 0.9), function(u) cbind(u[, 1] - (u[, 2] - 0.3)^2)), c(1, 0.3), tolerance = 1e-7)
  expect_setequal(asked, 5L)
  # Lagrange: x - 0.9 = 2 (y - 0.8) and x + y = 1; a second limit, which holds anyway, changes nothing.
  f <- function(u) -(u[, 1] - 0.9)^2 - 2 * (u[, 2] - 0.8)^2
  expect_equal(searched_from(c(0.1, 0.1), function(u) cbind(f(u), u[, 1] + u[, 2] - 1)), c(1.3, 1.7) / 3, tolerance = 1e-6)
  end <- searched_from(c(0.1, 0.1), function(u) cbind(f(u), u[, 1] + u[, 2] - 1, u[, 1] - 0.7))
  expect_equal(end, c(1.3, 1.7) / 3, tolerance = 1e-6)
  expect_lt(sum(end) - 1, 1e-9)
  expect_equal(f(t(end)), f(t(c(1.3, 1.7) / 3)), tolerance = 1e-9)
  expect_setequal(asked, c(5L, 1L))
  expect_error(cpp_local_search(c(0.1, 0.1), function(u) matrix(0, 1, 1)), "values of the wrong size")
})

test_that("an error in the function ends the search at once and is passed on unchanged", {
  calls <- 0
  broken <- function(points) {
    calls <<- calls + 1
    if (calls > 3) stop_gpbandits("state", "enough")
    rowSums(sin(3 * points$inputs))
  }
  expect_error(maximise_over(box_domain(c(0, 0), c(1, 1)), broken), "enough", class = "gpbandits_error")
  expect_identical(calls, 4)
})

test_that("the constraints of a space exclude exactly the points that violate them", {
  best <- function(space, f, ...) {
    found <- maximise_over(space, function(points) f(user_inputs(space, points)), ...)
    rules <- search_rules(space)
    expect_true(resolved_points(rules, found$points$inputs[, seq_along(space$names), drop = FALSE])$feasible)
    found$value
  }
  whole <- search_space(n = param_integer(1, 8), x = param_real(0, 1), where = ~ n < 5)
  expect_equal(best(whole, function(q) q$n + q$x), 5)
  levels <- search_space(n = param_integer(1, 8), f = param_factor(c("a", "b")), where = ~ n < 5)
  expect_equal(best(levels, function(q) q$n + (q$f == "b") / 2), 4.5)
  disc <- search_space(a = param_real(-1, 1), b = param_real(-1, 1), where = ~ a^2 + b^2 <= 0.5)
  expect_equal(best(disc, function(q) q$a + q$b), 1, tolerance = 1e-9)
  corner <- search_space(a = param_real(0, 1), b = param_real(0, 1), k = param_factor(c("u", "v")),
                         where = list(~ a + b <= 1, ~ ifelse(k == "u", a, b) <= 0.4))
  expect_equal(best(corner, function(q) q$a + 2 * q$b + 0.1 * (q$k == "v")), 2, tolerance = 1e-9)
  # One ten-thousandth of the square: the first candidates miss it.
  narrow <- search_space(a = param_real(0, 1), b = param_real(0, 1),
                         where = list(~ abs(a - 0.317) <= 0.005, ~ abs(b - 0.713) <= 0.005))
  expect_equal(best(narrow, function(q) q$a - q$b), 0.322 - 0.708, tolerance = 1e-9)
  # A limit of the problem in addition.
  limited <- function(points) cbind(points$inputs[, 2] - 0.25)
  expect_equal(best(disc, function(q) q$a + q$b, limits = limited), 0.25 + sqrt(0.5 - 0.25^2), tolerance = 1e-7)
  mode <- prepared_prior_optimum(prior_normal(n = c(8, 1)), whole)
  expect_equal(mode$mode$inputs[1], 4)
  expect_equal(mode$top, -8)
})

test_that("the low-discrepancy sequence is the generalised golden-ratio sequence", {
  for (d in 1:4) {
    phi <- stats::uniroot(function(p) p^(d + 1) - p - 1, c(1, 2), tol = 1e-15)$root
    expect_equal(golden_points(50, d), (0.5 + outer(1:50, phi^-seq_len(d))) %% 1, tolerance = 1e-12)
  }
})
