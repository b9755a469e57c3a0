test_that("a smooth function's maximum is found, in one and two inputs and on arms", {
  set.seed(1)
  one <- maximize_bandit(function(p) -(p[["x"]] - 2.2)^2, list(x = c(1, 3)), 20)
  expect_lt(abs(one$par[["x"]] - 2.2), 0.02)
  branin <- test_function("branin")
  f <- function(p) branin$f(matrix(p, 1))
  two <- maximize_bandit(f, branin$domain, 55, design = 10)
  expect_lt(branin$optimum - f(two$par), 0.05)
  expect_equal(nrow(two$history), 55)
  arms <- maximize_bandit(function(p) -abs(p[["x1"]] - 7), 1:20, 15)
  expect_equal(arms$par[["x1"]], 7)
})

test_that("rewards of any size are scaled inside and reported outside", {
  run <- function(size) {
    set.seed(2)
    maximize_bandit(function(p) size * (3 - (p[["x"]] - 0.4)^2), list(x = c(0, 1)), 15)
  }
  plain <- run(1)
  for (size in c(1e-8, 1e8)) {
    other <- run(size)
    expect_equal(other$history$x, plain$history$x, tolerance = 1e-4)
    expect_equal(other$value / size, plain$value, tolerance = 1e-4)
    expect_equal(other$history$reward / size, plain$history$reward, tolerance = 1e-4)
  }
})

test_that("an objective that fails or returns nonsense is recorded, avoided, never lost", {
  set.seed(3)
  calls <- 0
  found <- maximize_bandit(function(p) {
    calls <<- calls + 1
    if (p[["x"]] < 0.3) stop("too small")
    if (p[["x"]] > 0.9) return(NA)
    -(p[["x"]] - 0.5)^2
  }, list(x = c(0, 1)), 25)
  expect_equal(calls, 25)
  expect_equal(nrow(found$history), 25)
  failed <- is.na(found$history$reward)
  expect_true(all(grepl("too small", found$history$status[found$history$x < 0.3])))
  expect_true(all(found$history$status[!failed] == "ok"))
  expect_lt(mean(utils::tail(failed, 10)), 0.5)
  expect_lt(abs(found$par[["x"]] - 0.5), 0.05)
  none <- maximize_bandit(function(p) stop("never"), list(x = c(0, 1)), 4)
  expect_null(none$par)
  expect_equal(nrow(none$history), 4)
  expect_output(print(none), "no evaluation")
})

test_that("known points count, constant rewards and single evaluations are no trouble", {
  set.seed(4)
  known <- data.frame(x = c(0.1, 0.5, 0.9), reward = c(-0.16, 0, -0.16))
  found <- maximize_bandit(function(p) -(p[["x"]] - 0.5)^2, list(x = c(0, 1)), 5, design = 0, initial = known)
  expect_equal(found$history$status, c(rep("given", 3), rep("ok", 5)))
  expect_lt(abs(found$par[["x"]] - 0.5), 0.1)
  flat <- maximize_bandit(function(p) 7, list(x = c(0, 1)), 8)
  expect_equal(flat$value, 7, tolerance = 1e-6)
  expect_equal(nrow(maximize_bandit(function(p) 1, list(x = c(0, 1)), 1)$history), 1)
})

test_that("whole numbers and logarithmic inputs arrive as such", {
  set.seed(5)
  domain <- box_domain(c(cost = 1e-3, depth = 1), c(1e3, 12), integer = "depth", log = "cost")
  found <- maximize_bandit(function(p) -log10(p[["cost"]])^2 - (p[["depth"]] - 4)^2 / 10, domain, 40)
  expect_true(all(found$history$depth == round(found$history$depth)))
  expect_true(all(found$history$cost >= 1e-3 & found$history$cost <= 1e3))
  expect_equal(found$par[["depth"]], 4, tolerance = 0.5)
})

test_that("an interrupt keeps what there is, and the bandit goes on", {
  set.seed(6)
  calls <- 0
  found <- maximize_bandit(function(p) {
    calls <<- calls + 1
    if (calls == 12) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    -p[["x"]]^2
  }, list(x = c(-1, 1)), 30)
  expect_true(found$interrupted)
  expect_equal(nrow(found$history), 11)
  expect_equal(nrow(found$bandit$suggest()), 1)
})

test_that("bad arguments are refused", {
  f <- function(p) 1
  for (bad in list(list(1, 1:3, 5), list(f, "a", 5), list(f, 1:3, 0), list(f, list(x = c(2, 1)), 5))) {
    expect_error(do.call(maximize_bandit, bad), class = "gpbandits_error")
  }
  expect_error(maximize_bandit(f, 1:3, 5, initial = data.frame(x1 = 9, reward = 1)), class = "gpbandits_error")
  expect_error(maximize_bandit(f, 1:3, 5, desgin = 2), class = "gpbandits_error")
})

test_that("lengthscales get priors with the default kernel only, as long as the inputs are many and wide", {
  refit_of <- function(...) {
    set.seed(7)
    maximize_bandit(function(p) 1, ..., evaluations = 4)$bandit$config$refit
  }
  priors <- refit_of(box_domain(c(a = 0, b = 1), c(a = 2, b = 1e6), log = "b"))$settings$priors
  expect_named(priors, c("matern.lengthscale1", "matern.lengthscale2"))
  expect_equal(exp(c(priors[[1]][["meanlog"]], priors[[2]][["meanlog"]])), 0.4 * sqrt(2) * c(2, log(1e6)))
  one <- refit_of(1:5)$settings$priors
  expect_equal(one, list(matern.lengthscale = c(meanlog = log(0.4 * 4), sdlog = 1)))
  expect_null(refit_of(1:5, kernel = kernel_se(2))$settings$priors)
  expect_null(refit_of(1:5, refit = NULL))
})
