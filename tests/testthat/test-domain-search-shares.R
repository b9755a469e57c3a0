# Mixtures: components that add up to a total. Uniform designs, local optimisation, and rounded values that add up.

blend <- function(...) search_space(blend = param_shares(c("a", "b", "c"), ...))
sums <- function(frame, names = c("a", "b", "c")) rowSums(frame[names])
set_of <- function(lower, upper, total = 1, most = NULL) {
  k <- max(length(lower), length(upper))
  gpbandits:::core_shares(list(names = letters[seq_len(k)], total = total, lower = rep_len(lower, k),
                               upper = rep_len(upper, k), most = most))
}
shares <- function(set, x, spread = TRUE) gpbandits:::cpp_shares(set, x, spread)

test_that("the uniform draw and the projection equal those of the worked example", {
  set <- set_of(c(0, 0.1, 0.2), c(0.5, 0.6, 0.7))
  expect_equal(drop(shares(set, matrix(c(0.3, 0.8, 0), 1))), c(0.148330, 0.510334, 0.341336), tolerance = 1e-5)
  expect_equal(drop(shares(set, matrix(c(0.8, 0.5, 0.1), 1), FALSE)), c(0.5, 0.3, 0.2), tolerance = 1e-12)
})

test_that("uniform mixtures have the distribution of rejection sampling (Kolmogorov-Smirnov)", {
  for (set in list(set_of(c(0, 0.1, 0.2), c(0.5, 0.6, 0.7)), set_of(0, c(1, 1, 0.3, 0.2)), set_of(0, c(0.4, 0.35, 0.5, 0.4)))) {
    set.seed(1)
    k <- length(set$lower)
    core <- shares(set, matrix(runif(3000 * k), 3000))
    expect_equal(rowSums(core), rep(1, 3000), tolerance = 1e-12)
    expect_true(all(t(core) >= set$lower - 1e-12 & t(core) <= set$upper + 1e-12))
    # Dirichlet(1) within the bounds.
    gaps <- matrix(rexp(2e5 * k), ncol = k)
    rest <- 1 - sum(set$lower)
    all <- t(t(rest * gaps / rowSums(gaps)) + set$lower)
    theirs <- all[colSums(t(all) > set$upper) == 0, ]
    for (j in seq_len(k)) {
      expect_gt(suppressWarnings(ks.test(core[, j], theirs[, j])$p.value), 1e-3)
      expect_gt(suppressWarnings(ks.test(core[, j] * core[, 1], theirs[, j] * theirs[, 1])$p.value), 1e-3)
    }
  }
})

test_that("designs of mixtures with other inputs and constraints have it, too (Kolmogorov-Smirnov)", {
  space <- search_space(m = param_shares(c("a", "b", "c"), lower = c(0.1, 0, 0), upper = c(1, 0.6, 0.7)), temp = c(20, 80),
                        where = ~ a <= 2 * b)
  set.seed(13)
  gaps <- matrix(rexp(3e5), ncol = 3)
  theirs <- as.data.frame(t(t(0.9 * gaps / rowSums(gaps)) + c(0.1, 0, 0)))
  names(theirs) <- c("a", "b", "c")
  theirs <- theirs[theirs$b <= 0.6 & theirs$c <= 0.7 & theirs$a <= 2 * theirs$b, ]
  alike <- function(core, theirs) {
    for (of in list(function(x) x$a, function(x) x$b, function(x) x$c, function(x) x$a * x$c)) {
      expect_gt(suppressWarnings(ks.test(of(core), of(theirs))$p.value), 1e-3)
    }
  }
  for (points in list(gpbandits:::design_points(space, 1000), gpbandits:::sample_points(space, 1000))) {
    core <- gpbandits:::user_inputs(space, points)
    expect_lt(max(abs(rowSums(core[c("a", "b", "c")]) - 1)), 1e-12)
    alike(core, theirs)
    expect_gt(ks.test(core$temp, punif, 20, 80)$p.value, 1e-3)
  }
  # At most two of them: each pair as often as another, and uniform on its side.
  few <- search_space(m = param_shares(letters[1:4], most = 2))
  core <- as.matrix(designed_inputs(few, 1200))
  expect_true(all(rowSums(core > 0) == 2))
  pairs <- table(core[, 1] > 0, core[, 2] > 0, core[, 3] > 0)
  expect_gt(chisq.test(as.vector(pairs[pairs > 0]))$p.value, 1e-3)
  expect_length(pairs[pairs > 0], 6)
  expect_gt(ks.test(core[core[, 1] > 0, 1], punif)$p.value, 1e-3)
})

test_that("with many components the Gibbs sampler is uniform, too", {
  set.seed(2)
  set <- set_of(0, rep(0.15, 13))
  core <- shares(set, matrix(runif(600 * 13), 600))
  expect_equal(rowSums(core), rep(1, 600), tolerance = 1e-12)
  # By symmetry every share has the same distribution.
  expect_equal(mean(core), 1 / 13, tolerance = 1e-10)
  expect_gt(suppressWarnings(ks.test(core[, 1], core[, 13])$p.value), 1e-3)
  # A simplex without further bounds needs none: Beta(1, k - 1).
  free <- shares(set_of(0, rep(1, 20)), matrix(runif(600 * 20), 600))
  for (j in c(1, 20)) expect_gt(ks.test(free[, j], pbeta, 1, 19)$p.value, 1e-3)
})

test_that("projections are the nearest points", {
  set.seed(3)
  set <- set_of(c(0, 0.1, 0.05, 0), c(0.5, 0.6, 0.4, 0.3))
  some <- shares(set, matrix(runif(4000 * 4), 4000))
  for (i in 1:20) {
    y <- rnorm(4, 0.25, 0.5)
    x <- drop(shares(set, matrix(y, 1), FALSE))
    expect_equal(sum(x), 1, tolerance = 1e-13)
    # The variational inequality (y - x)'(z - x) <= 0 for all z of the set.
    expect_lte(max(sweep(some, 2, x) %*% (y - x)), 1e-10)
    expect_identical(drop(shares(set, matrix(x, 1), FALSE)), x)
  }
})

test_that("with `most` supports, designs and rounded values have at most that number of components", {
  set.seed(4)
  set <- set_of(0.1, 0.8, most = 2)
  set$lower <- rep(0.1, 5)
  set$upper <- rep(0.8, 5)
  set$at <- 0:4
  set$pinned <- rep(NA_real_, 5)
  x <- shares(set, matrix(runif(500 * 5), 500))
  expect_true(all(rowSums(x > 0) == 2 & (x == 0 | (x >= 0.1 - 1e-12 & x <= 0.8 + 1e-12))))
  expect_identical(nrow(unique(x > 0)), 10L)
  y <- drop(shares(set, matrix(c(0.5, 0.1, 0.4, 0.2, 0), 1), FALSE))
  expect_equal(y, c(0.55, 0, 0.45, 0, 0), tolerance = 1e-12)
})

test_that("a bandit over a blend and a temperature satisfies the sum in all its methods", {
  space <- search_space(blend = param_shares(c("a", "b", "c"), lower = c(0.1, 0, 0)), temp = c(20, 80), where = ~ a <= 2 * b)
  f <- function(p) -(p$a - 0.4)^2 - (p$b - 0.3)^2 - ((p$temp - 50) / 60)^2
  set.seed(5)
  found <- maximize_bandit(f, space, evaluations = 24)
  h <- found$history
  expect_equal(sums(h), rep(1, nrow(h)), tolerance = 1e-9, ignore_attr = TRUE)
  expect_true(all(h$a <= 2 * h$b + 1e-9 & h$a >= 0.1 - 1e-12))
  expect_gt(max(h$reward), -0.005)
  b <- auto_bandit(space, contexts = "humid")
  for (i in 1:22) {
    q <- b$suggest(1, context = i / 22)
    b$observe(q$id, -(q$a - i / 44)^2)
  }
  q <- b$suggest(3, context = 0.5)
  expect_equal(sums(q), rep(1, 3), tolerance = 1e-9, ignore_attr = TRUE)
  expect_identical(b$copy()$history(), b$history())
  best <- b$best(context = 0.5, fixed = list(c = 0.25))
  expect_equal(c(best$c, sums(best)), c(0.25, 1), tolerance = 1e-9)
  expect_equal(b$suggest(context = 0.5, fixed = list(a = 0.3, temp = 33))$a, 0.3)
  expect_identical(from_json(as_json(b))$history(), b$history())
  expect_error(b$suggest(context = 0, fixed = list(b = 0.04)), class = "gpbandits_error")
})

test_that("fixed components whose sum is too small or too large are errors with the expected messages", {
  alike <- function(...) auto_bandit(search_space(m = param_shares(c("a", "b", "c"), ...), temp = c(0, 1)))
  short <- "`fixed`.*shares with which the others can reach their total"
  for (b in list(alike(upper = 0.5), alike(lower = c(0, 0.2, 0), upper = c(1, 1, 0.4)))) {
    refused <- list(list(a = 0.1, c = 0.1, b = 0.2), list(a = 0.5, b = 0.5, c = 0.1))
    for (fixed in refused) {
      expect_error(b$suggest(fixed = fixed), short, class = "gpbandits_error")
      expect_identical(nrow(b$history()), 0L)
    }
    q <- b$suggest(fixed = list(b = 0.5, c = 0.3))
    expect_equal(sort(unlist(q[c("a", "b", "c")], use.names = FALSE)), c(0.2, 0.3, 0.5), tolerance = 1e-12)
  }
  limited <- auto_bandit(search_space(m = param_shares(c("a", "b", "c")), temp = c(0, 1), where = ~ a <= 2 * b))
  for (fixed in list(list(a = 0.9, b = 0.5), list(a = 0.4, b = 0.3, c = 0.1))) {
    expect_error(limited$suggest(fixed = fixed), short, class = "gpbandits_error")
  }
  two <- alike(lower = 0.2, upper = 0.6, most = 2)
  expect_error(two$suggest(fixed = list(a = 0.3, b = 0.3)), short, class = "gpbandits_error")
  expect_equal(two$suggest(fixed = list(a = 0.45, b = 0))$c, 0.55, tolerance = 1e-12)
  printed <- list(a = 0.314159265, b = 0.271828183, c = 0.414012553)         # their sum is 1e-9 off
  expect_identical(unlist(alike()$suggest(fixed = printed)[c("a", "b", "c")]), unlist(printed))
  expect_error(alike()$suggest(fixed = replace(printed, "a", 0.3142)), short, class = "gpbandits_error")
})

test_that("local optimisation ends at the largest value on the face, as on a fine grid", {
  space <- search_space(m = param_shares(c("a", "b", "c")))
  b <- gp_bandit(space, kernel_se(0.4), 1e-4, policy_ucb(width_constant(1)))
  target <- c(0.7, 0.5, -0.2)                              # outside of the simplex: the best lies on c = 0
  set.seed(6)
  x <- sampled_inputs(space, 12)
  b$add(x, reward = -rowSums(sweep(as.matrix(x), 2, target)^2))
  grid <- expand.grid(a = 0:400 / 400, b = 0:400 / 400)
  grid <- grid[grid$a + grid$b <= 1 + 1e-12, ]
  grid$c <- pmax(0, 1 - grid$a - grid$b)
  p <- b$posterior(grid)
  q <- b$suggest()
  now <- gpbandits:::bandit_posterior(b, q[c("a", "b", "c")], NULL)
  score <- function(p) p$mean + p$sd
  expect_gte(score(now), max(score(p)) - 1e-7)
  b <- gp_bandit(space, kernel_se(0.4), 1e-4, policy_mean())
  b$add(x, reward = -rowSums(sweep(as.matrix(x), 2, target)^2))
  expect_identical(b$suggest()$c, 0)
})

test_that("with two of five components suggestions have two, indicators distinguish them, and exchanges swap them", {
  space <- search_space(m = param_shares(letters[1:5], most = 2, lower = 0.05))
  expect_identical(gpbandits:::model_names(space), c(letters[1:5], paste0(letters[1:5], ".active")))
  f <- function(p) p$b * 2 + p$d * 3 - (p$b - 0.6)^2 * 6
  set.seed(7)
  found <- maximize_bandit(f, space, evaluations = 30)
  h <- as.matrix(found$history[letters[1:5]])
  expect_true(all(rowSums(h > 0) <= 2 & (h == 0 | h >= 0.05 - 1e-9)))
  expect_equal(unname(rowSums(h)), rep(1, nrow(h)), tolerance = 1e-9)
  expect_setequal(letters[1:5][unlist(found$par) > 0], c("b", "d"))
})

test_that("a mixture of ten components works, and starts quickly", {
  space <- search_space(m = param_shares(letters[1:10], upper = 0.4))
  b <- auto_bandit(space, n_initial = 4)
  set.seed(8)
  for (i in 1:5) {
    q <- b$suggest()
    b$observe(q$id, sum(q[letters[1:3]]))
  }
  h <- b$history()
  expect_equal(sums(h, letters[1:10]), rep(1, 5), tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("sums that equal a number become mixtures; other equalities are errors that state the alternative", {
  space <- search_space(a = c(0, 1), b = c(0, 1), c = c(0, 0.5), t = c(0, 9), where = list(~ a + b + c == 1, ~ t > 2 * a))
  expect_identical(space$shares[[1]][c("names", "total", "upper")],
                   list(names = c("a", "b", "c"), total = 1, upper = c(1, 1, 0.5)))
  expect_length(space$where, 1)
  set.seed(9)
  x <- sampled_inputs(space, 50)
  expect_equal(sums(x), rep(1, 50), tolerance = 1e-12, ignore_attr = TRUE)
  same <- search_space(a = c(0, 1), b = c(0, 1), where = ~ 1 - 2 * a == 2 * b)
  expect_identical(same$shares[[1]]$total, 0.5)
  # Two inequalities that leave an equality are one; others stay.
  for (where in list(~ a + b >= 1 & a + b <= 1, list(~ 2 * a <= 2 - 2 * b, ~ a < 0.75, ~ 1 - a <= b))) {
    space <- search_space(a = c(0, 1), b = c(0, 1), where = where)
    expect_identical(space$shares[[1]][c("names", "total")], list(names = c("a", "b"), total = 1))
    expect_identical(space$where, if (is.list(where)) "a < 0.75")
  }
  expect_null(search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b >= 0.5 & a + b <= 1)$shares)
  expect_identical(search_space(a = c(0, 1), b = c(0, 1), where = ~ a <= b & a >= b)$shares[[1]]$factors, c(1, -1))
  # (It named `upper` and `total`, which nobody had given.)
  expect_error(search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b == 3), "`where`.*from 0 to 2, not a \\+ b == 3",
               class = "gpbandits_error")
  expect_error(search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b^2 == 1), "margin", class = "gpbandits_error")
})

test_that("invalid points are errors that state the problem", {
  space <- blend()
  b <- gp_bandit(space, kernel_se(0.3), 0.01, policy_ei())
  b$add(data.frame(a = 0.1, b = 0.2, c = 0.7), reward = 1)
  err <- expect_error(b$add(data.frame(a = 0.5, b = 0.6, c = 0.1), reward = 1), class = "gpbandits_error")
  expect_match(conditionMessage(err), "sum is 1")
  expect_error(b$add(data.frame(a = -0.1, b = 0.4, c = 0.7), reward = 1), class = "gpbandits_error")
  expect_identical(nrow(b$history()), 1L)
  # Percentages need no bounds.
  expect_identical(param_shares(c("a", "b"), total = 100)$upper, c(100, 100))
  expect_identical(param_shares(c("a", "b"), 0.5)$upper, c(1, 1))
  refused <- function(argument, ...) {
    err <- expect_error(param_shares(...), class = "gpbandits_error")
    expect_identical(err$argument, argument)
  }
  refused("lower", c("a", "b"), lower = 0.6)
  refused("upper", c("a", "b"), upper = 0.4)
  refused("most", c("a", "b", "c"), upper = 0.4, most = 2)
  refused("names", "a")
  refused("names", c("a", "a"))
  refused("total", c("a", "b"), total = 0)
  refused("lower", c("a", "b"), lower = -0.1)
  refused("most", c("a", "b"), most = 3)
  expect_error(search_space(m = param_shares(c("a", "b")), a = c(0, 1)), class = "gpbandits_error")
})

test_that("problems over mixtures compute their optimum", {
  space <- blend()
  f <- function(x) -(x$a - 0.2)^2 - (x$b - 0.5)^2 - x$c
  problem <- bandit_problem(space, f, noise = 0.01)
  set.seed(10)
  run <- run_bandit(gp_bandit(space, default_kernel(space), 0.01, policy_ei()), problem, 4)
  # The largest value on c = 0, with a + b = 1: a = 0.35, b = 0.65.
  expect_equal(as.data.frame(run)$f[1] + as.data.frame(run)$regret[1], -2 * 0.15^2, tolerance = 1e-6)
})

test_that("with three of five components the maximum of EI exceeds that of 10,000 candidates", {
  skip_if(Sys.getenv("GPBANDITS_TEST_LEVEL") != "2")
  wins <- vapply(1:20, function(seed) {
    set.seed(seed)
    space <- search_space(m = param_shares(letters[1:5], most = 3))
    b <- gp_bandit(space, kernel_matern(2.5, rep(0.4, 5), dims = letters[1:5]) *
                     kernel_categorical(0.8, dims = paste0(letters[1:5], ".active")), 0.001, policy_ei())
    w <- rnorm(5)
    x <- sampled_inputs(space, 15)
    b$add(x, reward = drop(as.matrix(x) %*% w) - rowSums(as.matrix(x)^2))
    best <- max(b$posterior(b$history()[letters[1:5]])$mean)
    ei <- function(x) {
      p <- b$posterior(x)
      z <- (p$mean - best) / p$sd
      log(p$sd) + log(pmax(z * pnorm(z) + dnorm(z), 1e-300))
    }
    gaps <- matrix(0, 10000, 5)
    for (i in 1:10000) gaps[i, sample(5, 3)] <- rexp(3)
    theirs <- as.data.frame(gaps / rowSums(gaps))
    names(theirs) <- letters[1:5]
    other <- b$copy()
    ei(other$suggest()[letters[1:5]]) > max(ei(theirs))
  }, NA)
  expect_gte(sum(wins), 19)
})

test_that("along a component the others keep their ratio, within their bounds and their number", {
  space <- search_space(blend = param_shares(c("a", "b", "c"), total = 2, lower = c(0.2, 0, 0), upper = c(2, 1.5, 2)),
                                        temp = c(20, 80))
  at <- data.frame(a = c(0.2, 1, 1, 2), b = 0.3, c = 0.9, temp = 30)
  moved <- gpbandits:::balanced_shares(space, at, "a")
  expect_equal(moved$points$a, at$a)
  expect_equal(moved$points$b, c(0.45, 0.25, 0.25, 0))
  expect_equal(moved$points$c, c(1.35, 0.75, 0.75, 0))
  expect_true(all(moved$fits))
  expect_identical(moved$points$temp, at$temp)
  # Two fixed components leave the third the rest, or too little; `a` cannot be below its bound, nor `b` above its.
  both <- gpbandits:::balanced_shares(space, data.frame(a = c(0.5, 1.5, 0.2), b = c(0.5, 1, 1.6), c = 0, temp = 30), c("a", "b"))
  expect_equal(both$points$c[1], 1)
  expect_identical(both$fits, c(TRUE, FALSE, FALSE))
  low <- gpbandits:::balanced_shares(space, data.frame(a = 0.2, b = 0, c = 2, temp = 30), "c")
  expect_false(low$fits)
  # What sums up is not touched.
  whole <- data.frame(a = 0.3, b = 0.7, c = 1, temp = 30)
  expect_identical(gpbandits:::balanced_shares(space, whole, "temp")$points, whole)

  few <- search_space(m = param_shares(letters[1:4], most = 2, lower = 0.05))
  one <- gpbandits:::balanced_shares(few, data.frame(a = c(0.5, 1), b = 0.3, c = 0.7, d = 0), "a")
  expect_equal(one$points, data.frame(a = c(0.5, 1), b = 0, c = c(0.5, 0), d = 0))
  expect_true(all(one$fits))
  expect_false(gpbandits:::balanced_shares(few, data.frame(a = 0.97, b = 0.3, c = 0.7, d = 0), "a")$fits)
})

test_that("plots and importances of components use valid mixtures only", {
  space <- search_space(blend = param_shares(c("a", "b", "c")))
  set.seed(5)
  u <- matrix(runif(3e4), ncol = 3)
  spread <- gpbandits:::frame_of_quantiles(space, u)
  expect_equal(rowSums(spread), rep(1, 1e4))
  # Uniform on the triangle: each share has the distribution function 1 - (1 - s)^2.
  for (name in names(spread)) expect_gt(stats::ks.test(spread[[name]], function(s) 1 - (1 - s)^2)$p.value, 1e-4)
  found <- maximize_bandit(function(p) -10 * ((p$a - 0.5)^2 + (p$b - 0.2)^2), space, 12)
  # No share comes before another: more of `c` is less of the others.
  expect_true(all(input_importance(found)$total > 0.02))
  local_device()
  view <- plot(found, "slices", resolution = 11)$slices
  best <- found$par
  other <- predict(found, data.frame(a = 0.3, b = 0.7 * best$b / (best$b + best$c), c = 0.7 * best$c / (best$b + best$c)))
  expect_equal(view$mean[view$input == "a"][4], other$mean)
  map <- plot(found, "map", inputs = c("a", "b"), resolution = 11)$map
  expect_identical(is.na(map$mean), map$a + map$b > 1 + 1e-9)
  there <- which(abs(map$a - 0.2) + abs(map$b - 0.3) < 1e-9)
  expect_equal(map$mean[there], predict(found, data.frame(a = 0.2, b = 0.3, c = 0.5))$mean)
  plane <- plot(found, "dependence", inputs = "c", resolution = 5)$dependence
  expect_identical(plane$value, c(0, 0.25, 0.5, 0.75, 1))
  # With everything in one share there is one mixture: no average.
  expect_equal(plane$mean[5], predict(found, data.frame(a = 0, b = 0, c = 1))$mean, tolerance = 1e-6)
  skip_if_not_installed("ggplot2")
  picture <- ggplot2::autoplot(found, "map", resolution = 9)
  # A triangle as plot() draws it: cells of the 45 mixtures, four corners each, between (0, 0), (1, 0) and the top.
  grid <- ggplot2::ggplot_build(picture)$data[[1]]
  expect_equal(nrow(grid), 4 * 45)
  expect_true(all(grid$y >= -1e-9 & grid$y <= sqrt(3) * pmin(grid$x, 1 - grid$x) + 1e-9))
  expect_equal(range(grid$x), c(0, 1))
  expect_identical(names(picture$data)[1:2], names(plot(found, "map", resolution = 9)$map)[1:2])
  expect_s3_class(ggplot2::ggplotGrob(ggplot2::autoplot(found$bandit, type = "sd", resolution = 9)), "gtable")
})

# ---- linear equalities ------------------------------------------------------------------------

plane <- function(...) {
  search_space(x = c(-2, 3), y = c(0, 300), z = c(-1, 1), rule = c("u", "v"), where = ~ x - 0.01 * y + 3 * z == 0.5, ...)
}
off_plane <- function(q) max(abs(q$x - 0.01 * q$y + 3 * q$z - 0.5))

test_that("points of a linear equality with unequal coefficients satisfy it, and cover it", {
  set.seed(1)
  b <- gp_bandit(plane(), kernel_se(1), 0.01, policy_uniform())
  q <- b$suggest(400)
  expect_lt(off_plane(q), 1e-10)
  expect_true(all(abs(q$x - 0.5) <= 2.5 & abs(q$y - 150) <= 150 & abs(q$z) <= 1))
  # Uniform: as the points of the box near the plane are, of which x and y say what z is.
  box <- data.frame(x = stats::runif(2e4, -2, 3), y = stats::runif(2e4, 0, 300))
  box <- box[abs(0.5 - box$x + 0.01 * box$y) <= 3, ]
  for (name in c("x", "y")) expect_gt(suppressWarnings(stats::ks.test(q[[name]], box[[name]]))$p.value, 1e-3)
})

test_that("designs, suggestions and the recommended point satisfy a linear equality, and a problem its optimum", {
  f <- function(q) -(q$a - 0.3)^2 - (q$b - 0.6)^2
  set.seed(2)
  b <- auto_bandit(search_space(a = c(0, 1), b = c(0, 1), where = ~ 2 * a + b == 1), n_initial = 6)
  for (k in 1:12) {
    q <- b$suggest()
    expect_lt(abs(2 * q$a + q$b - 1), 1e-12)
    b$observe(q$id, f(q))
  }
  best <- b$best()
  # (The point of the line that is nearest to (0.3, 0.6) is (0.22, 0.56).)
  expect_lt(abs(2 * best$a + best$b - 1), 1e-12)
  expect_lt(abs(best$a - 0.22), 0.02)
  fixed <- b$suggest(fixed = list(a = 0.25))
  expect_equal(fixed$b, 0.5, tolerance = 1e-12)
  copy <- from_json(as_json(b))
  expect_identical(copy$history(), b$history())
  expect_error(b$add(data.frame(a = 0.2, b = 0.61), reward = 1), "2 \\* a \\+ b == 1", class = "gpbandits_error")
  b$add(data.frame(a = 0.2, b = 0.6 + 1e-9), reward = f(list(a = 0.2, b = 0.6)))
})

test_that("a linear equality works with inequalities; impossible or overlapping equalities are errors", {
  set.seed(3)
  space <- search_space(x = c(-2, 3), y = c(0, 300), z = c(-1, 1), where = ~ x - 0.01 * y + 3 * z == 0.5 & x <= y / 100)
  q <- auto_bandit(space)$suggest(12)
  expect_lt(off_plane(q), 1e-10)
  expect_true(all(q$x <= q$y / 100))
  expect_identical(nrow(unique(q)), 12L)
  unit <- function(where) search_space(a = c(0, 1), b = c(0, 1), c = c(0, 1), n = param_integer(0, 4), where = where)
  expect_error(unit(~ a + 2 * b == 4), "from 0 to 3", class = "gpbandits_error")
  for (where in list(~ a + 2 * b == 1 & b + 2 * c == 1, ~ a + 2 * n == 1)) {
    expect_error(unit(where), "without one of", class = "gpbandits_error")
  }
})

# ---- limits of the number of inputs above their lower bounds -------------------------------------------

faces <- function(where) search_space(a = c(0, 1), b = c(0, 2), c = c(-1, 1), d = c(0, 1), where = where)
above <- function(p) cbind(p$a > 0, p$b > 0, p$c > -1, p$d > 0)

test_that("at most some of several reals above their lower bounds: points are uniform over the faces", {
  space <- faces(~ (a > 0) + (b > 0) + (c > -1) + (d > 0) <= 2)
  set.seed(1)
  p <- sampled_inputs(space, 3000)
  expect_true(all(rowSums(above(p)) == 2))
  counts <- table(apply(above(p), 1, function(one) paste(which(one), collapse = "")))
  expect_length(counts, 6)
  expect_gt(chisq.test(counts)$p.value, 0.001)
  for (range in list(list(p$a, 0, 1), list(p$b, 0, 2), list(p$c, -1, 1))) {
    inside <- range[[1]][range[[1]] > range[[2]]]
    expect_gt(ks.test(inside, "punif", range[[2]], range[[3]])$p.value, 0.001)
  }
  # A design has equally many points of each face. Twelve inputs are as quick.
  design <- designed_inputs(space, 60)
  expect_true(all(table(apply(above(design), 1, function(one) paste(which(one), collapse = ""))) == 10))
  names <- paste0("x", 1:12)
  rule <- paste0("~", paste(sprintf("(%s > 0)", names), collapse = "+"), "<= 4")
  many <- do.call(search_space, c(setNames(rep(list(c(0, 1)), 12), names), list(where = as.formula(rule))))
  expect_true(all(rowSums(auto_bandit(many)$suggest(20)[names] > 0) <= 4))
})

test_that("a limit of the number of inputs is recognised in its usual forms, with other rules and types of inputs", {
  most <- function(...) {
    space <- faces(...)
    c(unlist(lapply(space$shares, `[[`, "most")), rules = length(space$where))
  }
  for (where in list(~ a == 0 | b == 0, ~ !(a > 0 & b > 0), ~ (a == 0) + (b == 0) >= 1, ~ 1 >= (a != 0) + (0 < b),
                     ~ (a > 0) + (b > 0) < 2, ~ 2 * ((a > 0) + (b > 0)) <= 3)) {
    expect_equal(unname(most(where)), c(1, 0))
  }
  # What a limit does not say stays a rule, and a bound inside of the range is none.
  expect_equal(unname(most(~ (a > 0) + (b > 0) + (d > 0) == 2)), c(2, 1))
  expect_equal(unname(most(~ (a > 0.5) + (b > 0) <= 1)), 1)
  expect_equal(unname(most(~ (a > 0) + (b > 0) >= 1)), 1)
  # Of a mixture it is `most`.
  mixture <- search_space(m = param_shares(c("a", "b", "c")), where = ~ (a > 0) + (b > 0) + (c > 0) <= 2)
  expect_identical(mixture, search_space(m = param_shares(c("a", "b", "c"), most = 2)))
  space <- search_space(a = c(0, 1), b = c(0, 2), step = param_real(0, 5, step = 0.5), level = letters[1:3],
                        count = param_integer(0, 4), where = ~ (a > 0) + (b > 0) + (step > 0) <= 2 & a + count <= 3.5)
  set.seed(1)
  b <- auto_bandit(space)
  for (round in 1:4) {
    q <- b$suggest(4)
    expect_true(all((q$a > 0) + (q$b > 0) + (q$step > 0) <= 2 & q$a + q$count <= 3.5 & q$step %% 0.5 == 0))
    b$observe(q$id, q$a + q$b - abs(q$step - 2))
  }
  expect_identical(from_json(as_json(b))$suggest(2, fixed = list(a = 0.25, b = 1)),
                   b$suggest(2, fixed = list(a = 0.25, b = 1)))
  expect_error(b$suggest(fixed = list(a = 0.25, b = 1, step = 1)), class = "gpbandits_error", "<= 2, not a = 0.25")
  expect_message(b$add(list(a = 0.1, b = 1, step = 1, level = "a", count = 1L), reward = 1), "outside the search space")
})

test_that("the maximum on the faces is at least as large as on a fine grid of each", {
  space <- faces(~ (a > 0) + (b > 0) + (c > -1) + (d > 0) <= 2)
  b <- gp_bandit(space, kernel_matern(2.5, c(0.5, 1, 1, 0.5), dims = c("a", "b", "c", "d")), 1e-4,
                 policy_ucb(width_constant(2)))
  set.seed(1)
  p <- sampled_inputs(space, 30)
  b$add(p, reward = with(p, sin(5 * a + b) - (c - 0.4)^2 * (1 + d) + 2 * b * d))
  ends <- list(a = 0:1, b = c(0, 2), c = c(-1, 1), d = 0:1)
  grid <- do.call(rbind, lapply(combn(4, 2, simplify = FALSE), function(free) {
    expand.grid(Map(function(end, is_free) if (is_free) seq(end[1], end[2], length.out = 41) else end[1],
                    ends, 1:4 %in% free))
  }))
  bound <- function(points) with(b$posterior(points), mean + 2 * sd)
  expect_gte(bound(b$suggest()[names(ends)]), max(bound(grid)) - 1e-6)
})

test_that("rules that leave corners only are errors that name the forms that are solved", {
  for (where in list(~ (a^2 > 0) + (b^2 > 0) + (c > -1) + (d > 0) <= 2,
                     function(p) (p$a > 0) + (p$b > 0) + (p$c > -1) + (p$d > 0) <= 2)) {
    expect_error(faces(where), "corners only.*\\(a > 0\\) \\+ \\(b > 0\\) <= 1", class = "gpbandits_error")
  }
})

test_that("rounded shares and rounded equalities are scaled to their sum, and a message says so", {
  mix <- search_space(m = param_shares(c("a", "b", "c"), total = 100, lower = c(0, 0, 20), upper = c(100, 60, 100)), t = c(0, 1))
  rows <- data.frame(a = c(33.3, 10), b = c(33.3, 20), c = c(33.3, 70), t = 0.5, reward = 1:2)
  expect_message(b <- auto_bandit(mix, rows), "Row 1 of `data` has shares with the sum 99.9. The values were scaled to 100")
  seen <- b$history()
  expect_equal(seen$a, c(100 / 3, 10))
  expect_equal(rowSums(seen[c("a", "b", "c")]), c(100, 100))
  expect_message(b$add(data.frame(a = 50.1, b = 20, c = 30, t = 1), reward = 1), "`x` has shares with the sum 100.1")
  expect_error(b$add(data.frame(a = 0.5, b = 0.2, c = 0.3, t = 1), reward = 1), "sum is 100", class = "gpbandits_error")
  expect_error(auto_bandit(mix, replace(rows, "a", c(33.3, 50))), "in row 2", class = "gpbandits_error")
  # Beyond its own bounds a share is data from outside.
  expect_message(b$add(data.frame(a = 5, b = 90, c = 5, t = 1), reward = 9), "outside the search space")
  expect_true(gpbandits:::lies_outside(mix, gpbandits:::points_anywhere(mix, data.frame(a = 5, b = 90, c = 5, t = 1))))
  line <- search_space(a = c(0, 1), b = c(0, 1), where = ~ 2 * a + b == 1)
  expect_message(b <- auto_bandit(line, data.frame(a = 0.333, b = 0.333, reward = 1)), "2 \\* a \\+ b == 1 up to rounding")
  expect_equal(2 * b$history()$a + b$history()$b, 1)
  # More components than allowed: observed, and outside.
  most <- search_space(m = param_shares(c("a", "b", "c"), most = 2))
  expect_message(b <- auto_bandit(most, data.frame(a = c(0.2, 0.5), b = c(0.3, 0.5), c = c(0.5, 0), reward = c(9, 1)), n_initial = 0),
                 "Row 1 of `data` is outside")
  expect_lte(sum(b$best()[c("a", "b", "c")] > 0), 2)
  # Earlier campaigns may be rounded, too.
  expect_s4_class(suppressMessages(auto_bandit(mix, transfer = list(may = rows))), "GPBandit")
})
