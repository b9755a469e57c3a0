# Narrow regions of search spaces: linear constraints are solved, and points are uniform over the region. Small
# integers against all of them, polytopes against the moments of known distributions.

numbered_inputs <- function(k, ...) stats::setNames(rep(list(c(...)), k), paste0("x", seq_len(k)))
simplex_space <- function(k, upper = 1) {
  inputs <- numbered_inputs(k, 0, 1)
  sum <- paste(names(inputs), collapse = " + ")
  do.call(search_space, c(inputs, list(where = stats::as.formula(paste("~", sum, "<=", upper)))))
}
ordered_space <- function(k, upper = 24) {
  inputs <- numbered_inputs(k, 0, upper)
  n <- names(inputs)
  pairs <- paste(n[-k], "<=", n[-1], collapse = " & ")
  do.call(search_space, c(inputs, list(where = stats::as.formula(paste("~", pairs)))))
}
sampled <- function(space, count) as.matrix(sampled_inputs(space, count))
designed <- function(space, count) as.matrix(designed_inputs(space, count))

# Of each column: is the mean of n draws within 5 standard errors of the right one, and the variance near its own?
expect_moments <- function(x, mean, var) {
  n <- nrow(x)
  expect_lt(max(abs(colMeans(x) - mean) / sqrt(var / n)), 5)
  # (An empirical variance has a relative standard error of at most sqrt(8 / n) for a kurtosis up to 9.)
  expect_lt(max(abs(apply(x, 2, stats::var) / var - 1)), 5 * sqrt(8 / n))
}

# ---- linear programming ----------------------------------------------------------------

# All vertices of A x <= b, x >= 0: each choice of a number of rows equal to that of inputs.
best_vertex <- function(A, b, c) {
  rows <- rbind(A, -diag(ncol(A)))
  to <- c(b, rep(0, ncol(A)))
  sets <- utils::combn(nrow(rows), ncol(A))
  values <- apply(sets, 2, function(at) {
    if (abs(det(rows[at, , drop = FALSE])) < 1e-9) return(-Inf)
    x <- solve(rows[at, , drop = FALSE], to[at])
    if (any(rows %*% x > to + 1e-9)) -Inf else sum(c * x)
  })
  max(values)
}

test_that("the simplex method finds the best vertex, and reports if there is none", {
  set.seed(1)
  empty <- 0
  for (turn in seq_len(by_level(200, 200, quick = 60))) {
    k <- sample(1:3, 1)
    A <- rbind(matrix(sample(-3:3, 4 * k, replace = TRUE), 4, k), diag(k))
    b <- c(sample(-4:6, 4, replace = TRUE), rep(3, k))
    c <- sample(-3:3, k, replace = TRUE)
    found <- testing_entry("cpp_maximise_linear")(A, b, c)
    right <- best_vertex(A, b, c)
    if (is.infinite(right)) {
      empty <- empty + 1
      expect_length(found, 0)
    } else {
      expect_true(all(A %*% found <= b + 1e-9) && all(found >= 0))
      expect_equal(sum(c * found), right, tolerance = 1e-9)
    }
  }
  expect_gt(empty, 10)
})

# ---- reals -------------------------------------------------------------------------------

test_that("points are uniform over a simplex and over ordered numbers", {
  for (k in c(6, 8, 12)) {
    set.seed(k)
    x <- sampled(simplex_space(k), 400)
    expect_true(all(rowSums(x) <= 1))
    expect_identical(anyDuplicated(x), 0L)
    # (Dirichlet with k + 1 ones.)
    expect_moments(x, 1 / (k + 1), k / ((k + 1)^2 * (k + 2)))
    # Their sum is Beta(k, 1).
    expect_gt(suppressWarnings(stats::ks.test(rowSums(x), "pbeta", k, 1)$p.value), 1e-4)
  }
  set.seed(1)
  x <- sampled(ordered_space(9), 400)
  expect_true(all(apply(x, 1, diff) >= 0))
  expect_identical(anyDuplicated(x), 0L)
  i <- 1:9
  expect_moments(x, 24 * i / 10, 24^2 * i * (10 - i) / (100 * 11))
})

test_that("designs and candidates of narrow regions are distinct points that satisfy the constraints", {
  set.seed(1)
  for (space in few_of(list(simplex_space(8), simplex_space(9), ordered_space(9)), 2)) {
    x <- designed(space, 45)
    expect_identical(anyDuplicated(x), 0L)
    candidates <- gpbandits:::search_candidates(gpbandits:::search_rules(space))
    expect_gt(nrow(candidates), 500)
    rises <- function(p) all(diff(p) >= 0)
    inside <- if (max(space$box$upper) == 1) rowSums(candidates) <= 1 else apply(candidates, 1, rises)
    expect_true(all(inside))
    b <- auto_bandit(space)
    q <- b$suggest(12)
    b$observe(q$id, q$x1)
    expect_length(unique(q$x2), 12)
    expect_silent(b$suggest(2))
  }
  # Uniform play, in the core.
  b <- gp_bandit(simplex_space(9), kernel_se(0.4), 0.01, policy_uniform())
  x <- as.matrix(b$suggest(60)[-1])
  expect_identical(anyDuplicated(x), 0L)
  expect_moments(x, 1 / 10, 9 / (100 * 11))
})

test_that("a thin band is sampled over its whole length, and logarithmic inputs uniformly on their scale", {
  set.seed(2)
  band <- search_space(a = c(0, 1), b = c(0, 1), c = c(0, 1), where = ~ abs(a - b) <= 1e-4 & abs(b - c) <= 1e-4)
  x <- sampled(band, 300)
  expect_true(all(abs(x[, 1] - x[, 2]) <= 1e-4 & abs(x[, 2] - x[, 3]) <= 1e-4))
  expect_gt(stats::ks.test(x[, 1], "punif")$p.value, 1e-4)
  # log b - log a is uniform in [0, log(1 + 1e-6)], and a in its logarithm.
  logs <- search_space(a = param_real(1e-3, 1, log = TRUE), b = param_real(1e-3, 1, log = TRUE),
                       where = ~ a <= b & b <= 1.0001 * a)
  x <- sampled(logs, 300)
  expect_true(all(x[, "a"] <= x[, "b"] & x[, "b"] <= 1.0001 * x[, "a"]))
  expect_gt(stats::ks.test(log10(x[, "a"]) / 3 + 1, "punif")$p.value, 1e-4)
})

test_that("emptiness of a region is proved, and a region reported as non-empty has a point", {
  expect_error(search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b >= 2.1), "no point satisfies",
               class = "gpbandits_error")
  expect_error(search_space(a = param_integer(0, 1000), b = param_integer(0, 1000), where = ~ 2 * a + 2 * b == 7),
               "no point", class = "gpbandits_error")
  # A single point, and a narrow cone.
  corner <- search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b >= 2)
  b <- gp_bandit(corner, kernel_se(0.4), 0.01, policy_uniform())
  expect_equal(unlist(b$suggest()[c("a", "b")]), c(a = 1, b = 1))
  thin <- search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b >= 1.999999)
  set.seed(1)
  x <- sampled(thin, 50)
  expect_true(all(rowSums(x) >= 1.999999))
  expect_identical(anyDuplicated(x), 0L)
  # With an input fixed, too.
  b <- gp_bandit(simplex_space(9), kernel_se(0.4), 0.01, policy_ucb(width_constant(2)))
  q <- b$suggest(fixed = list(x1 = 0.999))
  expect_lte(sum(q[paste0("x", 1:9)]), 1)
  expect_error(gp_bandit(simplex_space(9, 0.5), kernel_se(0.4), 0.01, policy_uniform())$suggest(fixed = list(x1 = 0.6)),
               "fixed", class = "gpbandits_error")
})

test_that("constraints that are not linear, and conditional inputs, still count", {
  set.seed(3)
  inputs <- c(numbered_inputs(7, 0, 1), list(rule = c("a", "b"), extra = param_real(0, 1, when = ~ rule == "a")))
  space <- do.call(search_space, c(inputs, list(where = list(~ x1 + x2 + x3 + x4 + x5 + x6 + x7 <= 1, ~ x1^2 <= x2,
                                                            ~ extra <= x1 + 0.5))))
  x <- sampled_inputs(space, 100)
  expect_true(all(rowSums(x[1:7]) <= 1 & x$x1^2 <= x$x2))
  expect_true(all(is.na(x$extra) == (x$rule == "b")) && all(x$extra <= x$x1 + 0.5, na.rm = TRUE))
  expect_identical(anyDuplicated(x), 0L)
  # Shares, too.
  blend <- search_space(blend = param_shares(paste0("s", 1:6)), where = ~ s1 + s2 <= 0.01 & s3 <= s1)
  x <- as.matrix(sampled_inputs(blend, 200))
  expect_true(all(x[, "s1"] + x[, "s2"] <= 0.01 & x[, "s3"] <= x[, "s1"]))
  expect_equal(rowSums(x), rep(1, 200), tolerance = 1e-12)
  expect_identical(anyDuplicated(x), 0L)
})

# Inputs x1 to xk exist for rule "a" and y1 to yk for "b"; each sum is at most `upper`.
conditional_simplices <- function(k, upper = c(1, 1)) {
  of <- function(name, rule) {
    when <- stats::as.formula(sprintf("~ rule == '%s'", rule))
    stats::setNames(rep(list(param_real(0, 1, when = when)), k), paste0(name, seq_len(k)))
  }
  sum <- function(name, most) sprintf("%s <= %g", paste0(name, seq_len(k), collapse = " + "), most)
  where <- stats::as.formula(paste("~", sum("x", upper[1]), "&", sum("y", upper[2])))
  do.call(search_space, c(list(rule = c("a", "b")), of("x", "a"), of("y", "b"), list(where = where)))
}

test_that("constraints on conditional inputs are solved for each set of inputs that exist together", {
  space <- conditional_simplices(7)
  set.seed(6)
  x <- sampled_inputs(space, 2000)
  expect_identical(is.na(x$x1), x$rule == "b")
  expect_gt(stats::chisq.test(table(x$rule))$p.value, 1e-4)
  # Uniform in a simplex: each input has the distribution Beta(1, 7).
  expect_moments(as.matrix(x[x$rule == "a", paste0("x", 1:7)]), 1 / 8, 7 / 8^2 / 9)
  expect_moments(as.matrix(x[x$rule == "b", paste0("y", 1:7)]), 1 / 8, 7 / 8^2 / 9)
  # The core's draws.
  b <- gp_bandit(space, kernel_se(1), 0.01, policy_uniform())
  q <- b$suggest(60)
  expect_true(all(table(q$rule) >= 10))
  expect_identical(anyDuplicated(q[c("x1", "y1")]), 0L)
  expect_true(all(rowSums(q[paste0("x", 1:7)], na.rm = TRUE) <= 1 & rowSums(q[paste0("y", 1:7)], na.rm = TRUE) <= 1))
})

test_that("a narrow set of conditional inputs keeps its share of a design, and the search finds its optimum", {
  # Rule "a" has all of its box, "b" a part in 40,320.
  space <- conditional_simplices(8, c(8, 1))
  set.seed(7)
  x <- designed_inputs(space, 40)
  expect_identical(as.vector(table(x$rule)), c(20L, 20L))
  y <- as.matrix(x[x$rule == "b", paste0("y", 1:8)])
  expect_true(all(rowSums(y) <= 1))
  expect_identical(anyDuplicated(y), 0L)
  # The best point is the vertex y1 = 1.
  reward <- function(p) ifelse(p$rule == "b", 2 * p$y1 + p$y2 - p$y3, 0.5)
  expect_equal(bandit_problem(space, reward)$optimum, 2, tolerance = 1e-6)
})

test_that("sums of conditional integers are solved, and searched along the sum", {
  whole <- function(...) param_integer(0, 300, ...)
  space <- search_space(rule = c("a", "b"), m = whole(), n = whole(when = ~ rule == "b"),
                        k = whole(when = ~ rule == "b"), where = ~ m + n + k == 300)
  set.seed(8)
  x <- designed_inputs(space, 30)
  expect_identical(as.vector(table(x$rule)), c(15L, 15L))
  expect_true(all(x$m + x$n + x$k == 300, na.rm = TRUE))
  reward <- function(p) ifelse(p$rule == "b", 1 - ((p$m - 31)^2 + (p$n - 217)^2 + (p$k - 52)^2) / 1e4, 0)
  expect_identical(bandit_problem(space, reward)$optimum, 1)
  expect_error(search_space(rule = c("a", "b"), m = whole(), n = whole(when = ~ rule == "b"),
                            where = ~ m + n == 601 & m == 301), "no point", class = "gpbandits_error")
})

# ---- integers -------------------------------------------------------------------------

# Chi-squared over all points that there are.
expect_even <- function(x, points) {
  key <- function(rows) apply(rows, 1, paste, collapse = " ")
  counts <- table(factor(key(x), key(points)))
  expect_identical(sum(counts), nrow(x))
  expect_gt(stats::chisq.test(counts)$p.value, 1e-4)
}

test_that("integers with sum constraints are uniform over all points that satisfy them", {
  all <- as.matrix(expand.grid(a = 0:60, b = 0:60, c = 0:60))
  whole <- function(where) {
    search_space(a = param_integer(0, 60), b = param_integer(0, 60), c = param_integer(0, 60), where = where)
  }
  set.seed(4)
  expect_even(sampled(whole(~ a + b + c <= 4), 2000), all[rowSums(all) <= 4, ])
  expect_even(sampled(whole(~ a + b + c < 3), 500), all[rowSums(all) < 3, ])
  expect_even(sampled(whole(~ a + b + c == 5), 1000), all[rowSums(all) == 5, ])
  twice <- all[, 1] + 2 * all[, 2] + 3 * all[, 3] == 9
  expect_even(sampled(whole(~ a + 2 * b + 3 * c == 9), 1000), all[twice, ])
})

test_that("integers and reals together are uniform", {
  set.seed(5)
  # x is within 0.001 above n: each n as often as the others.
  space <- search_space(n = param_integer(0, 9), x = c(0, 10), where = ~ x >= n & x <= n + 0.001)
  x <- sampled(space, 500)
  expect_true(all(x[, "x"] >= x[, "n"] & x[, "x"] <= x[, "n"] + 0.001))
  expect_gt(stats::chisq.test(table(factor(x[, "n"], 0:9)))$p.value, 1e-4)
})

test_that("local optimisation moves along sums of integers", {
  five <- stats::setNames(rep(list(param_integer(0, 40)), 5), letters[1:5])
  space <- do.call(search_space, c(five, list(where = ~ a + b + c + d + e == 40)))
  best <- c(3, 14, 9, 2, 12)
  problem <- bandit_problem(space, function(p) -rowSums((as.matrix(p) - rep(best, each = nrow(p)))^2))
  expect_identical(problem$optimum, 0)
  # The core's against all points.
  three <- search_space(a = param_integer(0, 40), b = param_integer(0, 40), c = param_integer(0, 40),
                        where = ~ a + b + c == 40)
  all <- subset(expand.grid(a = 0:40, b = 0:40, c = 0:40), a + b + c == 40)
  set.seed(6)
  for (turn in 1:5) {
    b <- gp_bandit(three, kernel_se(15), 0.01, policy_ucb(width_constant(1)), pending = pending_hallucinate())
    q <- b$suggest(6)
    expect_true(all(q$a + q$b + q$c == 40))
    b$observe(q$id, stats::rnorm(6))
    score <- rowSums(b$posterior(all)[c("mean", "sd")])
    chosen <- b$suggest()
    expect_equal(score[all$a == chosen$a & all$b == chosen$b], max(score), tolerance = 1e-8)
  }
})
