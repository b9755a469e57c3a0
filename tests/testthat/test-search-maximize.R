test_that("the maximum of a smooth function is found, in one and two inputs and on arms", {
  set.seed(1)
  one <- maximize_bandit(function(p) -(p[["x"]] - 2.2)^2, list(x = c(1, 3)), 20)
  expect_lt(abs(one$par[["x"]] - 2.2), 0.02)
  branin <- benchmark_function("branin")
  f <- function(p) branin$f(matrix(p, 1))
  two <- maximize_bandit(f, branin$domain, 55, n_initial = 10)
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

test_that("an objective that fails or returns nonsense is recorded and avoided, and never lost", {
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
  expect_true(all(grepl("too small", found$history$reason[found$history$x < 0.3])))
  expect_true(all(found$history$status[!failed] == "observed"))
  expect_lt(mean(utils::tail(failed, 10)), 0.5)
  expect_lt(abs(found$par[["x"]] - 0.5), 0.05)
  expect_warning(none <- maximize_bandit(function(p) stop("never"), list(x = c(0, 1)), 4), class = "gpbandits_no_success")
  expect_null(none$par)
  expect_equal(nrow(none$history), 4)
  expect_output(print(none), "no evaluation")
})

test_that("given points count; constant rewards and single evaluations work", {
  set.seed(4)
  known <- data.frame(x = c(0.1, 0.5, 0.9), reward = c(-0.16, 0, -0.16))
  found <- maximize_bandit(function(p) -(p[["x"]] - 0.5)^2, list(x = c(0, 1)), 5, n_initial = 0, data = known)
  expect_equal(found$history$status, c(rep("given", 3), rep("observed", 5)))
  expect_lt(abs(found$par[["x"]] - 0.5), 0.1)
  flat <- maximize_bandit(function(p) 7, list(x = c(0, 1)), 8)
  expect_equal(flat$value, 7, tolerance = 1e-6)
  expect_equal(nrow(maximize_bandit(function(p) 1, list(x = c(0, 1)), 1)$history), 1)
})

test_that("integer and logarithmic inputs reach the objective as such", {
  set.seed(5)
  domain <- box_domain(c(cost = 1e-3, depth = 1), c(1e3, 12), integer = "depth", log = "cost")
  found <- maximize_bandit(function(p) -log10(p[["cost"]])^2 - (p[["depth"]] - 4)^2 / 10, domain, 40)
  expect_true(all(found$history$depth == round(found$history$depth)))
  expect_true(all(found$history$cost >= 1e-3 & found$history$cost <= 1e3))
  expect_equal(found$par[["depth"]], 4, tolerance = 0.5)
})

test_that("an interrupt keeps the results so far, and the bandit continues", {
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

test_that("invalid arguments are errors", {
  f <- function(p) 1
  for (bad in list(list(1, 1:3, 5), list(f, "a", 5), list(f, 1:3, 0), list(f, list(x = c(2, 1)), 5))) {
    expect_error(do.call(maximize_bandit, bad), class = "gpbandits_error")
  }
  expect_error(maximize_bandit(f, 1:3, 5, data = data.frame(x1 = 9, reward = 1)), class = "gpbandits_error")
  expect_error(maximize_bandit(f, 1:3, 5, desgin = 2), class = "gpbandits_error")
})

test_that("lengthscales, variance and noise get priors in units of the ranges; those of a refit take precedence", {
  refit_of <- function(domain, ...) {
    set.seed(7)
    maximize_bandit(function(p) 1, domain, evaluations = 4, model = gp_model(...))$bandit$config$refit
  }
  priors <- refit_of(box_domain(c(a = 0, b = 1), c(a = 2, b = 1e6), log = "b"))$settings$priors
  expect_named(priors, c("matern.lengthscale1", "matern.lengthscale2", "matern.variance", "noise_var"))
  expect_equal(exp(priors[[1]][["meanlog"]] - priors[[2]][["meanlog"]]), 2 / log(1e6))
  own <- refit_of(1:5, lengthscale_prior = c(meanlog = log(0.3), sdlog = 0.5), noise_prior = NULL)$settings$priors
  expect_equal(own$matern.lengthscale, c(meanlog = log(0.3 * 4), sdlog = 0.5))
  expect_null(own$noise_var)
  theirs <- refit_of(1:5, kernel = kernel_se(2), noise_prior = c(sdlog = 1, meanlog = -4))$settings$priors
  expect_equal(theirs, list(noise_var = c(meanlog = -4, sdlog = 1)))
  both <- refit_of(1:5, kernel = kernel_se(2) + kernel_periodic(3, 1), lengthscale_prior = c(0, 1),
                   noise_prior = c(-4, 1), refit = refit_every(2, priors = list(noise_var = c(-9, 2))))$settings$priors
  expect_equal(both[["1.se.lengthscale"]], c(meanlog = log(4), sdlog = 1))
  expect_equal(both[["2.periodic.lengthscale"]], c(meanlog = 0, sdlog = 1))
  expect_equal(both$noise_var, c(-9, 2))
  expect_null(refit_of(1:5, refit = NULL))
})

test_that("minimising reports the objective's own sign", {
  set.seed(8)
  found <- minimize_bandit(function(p) 100 + (p[["x"]] - 2.2)^2, list(x = c(1, 3)), 20)
  expect_lt(abs(found$par[["x"]] - 2.2), 0.05)
  expect_lt(abs(found$value - 100), 0.05)
  expect_equal(found$observed$reward, min(found$history$reward))
  expect_equal(as.data.frame(found)$best, cummin(found$history$reward))
  expect_true(all(found$history$reward >= 100))
  expect_output(print(found), "Minimum found with 20 evaluations\n.*x = 2\\.[12].*: (99|100).* expected")
  expect_output(print(summary(found)), "20 succeeded, 0 failed, 0 given.*minimised")
  expect_equal(predict(found, data.frame(x = 2.2))$mean, 100, tolerance = 1e-3)
  expect_equal(nrow(predict(found)), 20)
  expect_error(minimize_bandit(function(p) 1, 1:3, 2, direction = "maximize"), class = "gpbandits_error")
  expect_error(maximize_bandit(function(p) 1, 1:3, 2, outputs = scale_outputs()), class = "gpbandits_error")
})

test_that("with an outlier and failures a minimum is still found", {
  set.seed(9)
  found <- minimize_bandit(function(p) {
    if (p[["x"]] > 0.9) stop("diverged")
    if (p[["x"]] > 0.8) return(1e6)
    0.35 + 0.05 * (p[["x"]] - 0.4)^2
  }, list(x = c(0, 1)), 25)
  expect_lt(abs(found$par[["x"]] - 0.4), 0.1)
  expect_lt(abs(found$value - 0.35), 0.005)
})

test_that("a time limit keeps the results so far", {
  set.seed(10)
  found <- maximize_bandit(function(p) {
    Sys.sleep(0.05)
    -p[["x"]]^2
  }, list(x = c(-1, 1)), 1000, time_limit = 0.3)
  expect_true(found$out_of_time)
  expect_false(found$interrupted)
  expect_true(nrow(found$history) >= 1 && nrow(found$history) <= 7)
  expect_error(maximize_bandit(function(p) 1, 1:3, 2, time_limit = 0), class = "gpbandits_error")
})

test_that("a time limit without a number of evaluations is enough", {
  expect_message(found <- minimize_bandit(function(p) p[["x"]]^2, list(x = c(-1, 1)), time_limit = 0.5,
                                          control = search_control(verbose = TRUE)), "^1: ")
  expect_true(found$out_of_time)
  expect_gte(nrow(found$history), 1)
  expect_error(maximize_bandit(function(p) 1, 1:3), "needs `evaluations`", class = "gpbandits_error")
  expect_error(maximize_bandit(function(p) 1, 1:3, Inf), "evaluations", class = "gpbandits_error")
})

test_that("an objective that cannot be called stops the search at its first call, with the error's text", {
  calls <- 0
  expect_error(maximize_bandit(function(x, z) {
    calls <<- calls + 1
    x + z
  }, list(x = c(0, 1), y = c(0, 1)), 20), "argument \"z\" is missing", class = "gpbandits_error")
  expect_equal(calls, 1)
  expect_error(maximize_bandit(function() 1, 1:3, 20), "unused argument", class = "gpbandits_error")
  # An error of the objective, even of the same class, is a failed evaluation.
  inner <- function(a, b) a + b
  expect_equal(sum(is.na(maximize_bandit(function(p) inner(p), 1:3, 4)$history$reward)), 4)
})

test_that("evaluations are reported as they arrive, and a progress bar needs no set-up", {
  set.seed(11)
  expect_message(maximize_bandit(function(p) 5, 1:3, 2, control = search_control(verbose = TRUE)),
                 "^2 of 2: 5  \\(best 5\\)  at x1 = ")
  shown <- capture.output(maximize_bandit(function(p) 1, 1:3, 3, control = search_control(progress = TRUE)),
                          type = "message")
  expect_true(any(grepl("100%", shown)))
  expect_silent(maximize_bandit(function(p) 1, 1:3, 3))
})

test_that("if the noise is fitted, a point counts by its mean and, unless repeated points refute it, by its rewards", {
  # Without noise, and too rugged for any model: the noise of the fit belongs to the objective.
  rugged <- function(p) -abs(p[["x"]] - 0.6) + 0.8 * (sin(1e4 * p[["x"]]) + sin(7e4 * p[["y"]]))
  models <- list(gp_model(), gp_model(refit = refit_every(2, mean = "fit"), noise_prior = c(log(1e-3), 2)))
  for (side in few_of(c(1, -1), 1)) for (model in models) {
    set.seed(12)
    found <- maximize_bandit(function(p) side * rugged(p), list(x = c(0, 1), y = c(0, 1)), 30,
                             direction = if (side > 0) "maximize" else "minimize", model = model)
    inputs <- c("x", "y")
    frame <- as.environment(found$bandit)
    map <- map_in_force(frame)
    structure <- if (anyDuplicated(found$history[inputs])) 1 else 0.5
    worth <- (1 - structure) * gpbandits:::posterior_where_played(frame, 1:30)$mean +
      structure * map_outputs(map, found$history$reward)
    expect_equal(found$par, unlist(found$history[which.max(worth), inputs]))
    expect_equal(found$value, predict(found)$mean[which.max(worth)])
  }
})

test_that("a recommended point was evaluated, and its mean is no less than that of the best reward", {
  for (noise in c(0, 0.3)) for (reported in list(NULL, 0.5)) {
    set.seed(13)
    x <- runif(14)
    data <- data.frame(x = x, reward = sin(7 * x) + 0.2 * sin(1e4 * x) + rnorm(14, sd = noise))
    data$noise_var <- reported
    b <- auto_bandit(list(x = c(0, 1)), data)
    b$suggest()
    best <- b$best()
    expect_true(best$x %in% x)
    expect_gte(best$mean, b$posterior(data.frame(x = x[which.max(data$reward)]))$mean)
  }
})

test_that("rewards that differ at one point show that the noise is real; equal ones, that it is not", {
  x <- list(u = c(0, 1), v = c(0, 1))
  set.seed(13)
  data <- data.frame(u = runif(20), v = runif(20))
  data$reward <- -(data$u - 0.5)^2 - (data$v - 0.5)^2 + rnorm(20, sd = 0.1)
  data$reward[which.max(data$u)] <- 0.35
  best <- function(again) {
    b <- auto_bandit(x, rbind(data, again))
    b$suggest()
    list(best = b$best()[c("u", "v")], mean = predict(b, data[c("u", "v")])$mean)
  }
  equal <- best(data[1:3, ])
  expect_equal(unlist(equal$best), unlist(data[which.max(data$reward), c("u", "v")]))
  differ <- best(transform(data[1:3, ], reward = reward + 0.2 * (-1)^(1:3)))
  expect_equal(unlist(differ$best), unlist(data[which.max(differ$mean), c("u", "v")]))
  expect_lt(differ$best$u, max(data$u))
})

test_that("with a given noise variance the best posterior mean is recommended", {
  noisy <- function(p) -(p[["x"]] - 0.6)^2 + rnorm(1, sd = 0.5)
  for (refit in list(NULL, refit_every(5, fix_noise = TRUE))) {
    set.seed(14)
    found <- maximize_bandit(noisy, list(x = c(0, 1)), 15, model = gp_model(noise_var = 0.5, refit = refit))
    expect_identical(found$par[["x"]], found$bandit$best()$x)
  }
})

test_that("a search of any size without a success warns, and quotes the first failure", {
  box <- list(x = c(0, 1))
  says <- function(code, text) expect_warning(code, text, class = "gpbandits_no_success")
  for (size in c(1, 2, 5, 9, 10, 11, 14)) {
    calls <- 0
    broken <- function(p) stop("reason ", calls <<- calls + 1)
    says(found <- maximize_bandit(broken, box, size), "error: reason 1[.] Call the objective")
    expect_null(found$par)
    says(found <- minimize_bandit(function(p) NA, box, size), "returned NA[.] The objective must return")
    expect_identical(nrow(found$history), as.integer(min(size, 10)))
    expect_identical(is.null(found$hopeless), size <= 10)
  }
  # All kinds of searches.
  space <- search_space(x = param_real(0, 1), k = c("a", "b"))
  says(maximize_bandit(function(p) p["x"]^2, space, 3), "error: ")
  says(maximize_bandit(function(p) 1, box, 3, outcomes = list(a = to_maximize(), b = at_most(1))), "a, b")
  says(maximize_bandit(function(p, fold) stop("never"), box, 6, race = race_folds(3)), "fold .*: error: never")
  share <- list(0.1, 1, cost = function(z) z)
  says(maximize_bandit(function(p, z) stop("never"), box, 2, fidelity = share), "error: never")
  says(maximize_bandit(function(p) stop("never"), box, 2, data = data.frame(x = 0, reward = 1)), "never")
  # One success is enough.
  calls <- 0
  expect_no_warning(maximize_bandit(function(p) if ((calls <<- calls + 1) == 3) 1 else stop("no"), box, 3))
})

test_that("a search whose evaluations all fail ends early and states the reason", {
  calls <- 0
  broken <- function(p) {
    calls <<- calls + 1
    stop("no licence")
  }
  space <- list(x = c(0, 1), y = c(0, 1), z = c(0, 1))
  expect_warning(found <- maximize_bandit(broken, space, 60), "10 evaluations succeeded.*no licence", class = "gpbandits_no_success")
  expect_identical(calls, 10)
  expect_match(found$hopeless, "no licence")
  expect_null(found$par)
  expect_output(print(found), "10 evaluations \\(10 failed\\), given up.*no licence")
  # Several reasons: once the design has ended. A success, early or late, and known points change nothing else.
  calls <- 0
  moody <- function(p) stop("mood ", calls <<- calls + 1)
  expect_warning(maximize_bandit(moody, space, 60), "15 evaluations", class = "gpbandits_no_success")
  expect_warning(maximize_bandit(broken, space, 60, data = data.frame(x = 0, y = 0, z = 0, reward = 1)), "no licence",
                 class = "gpbandits_no_success")
  calls <- 0
  seldom <- function(p) if ((calls <<- calls + 1) == 9) 1 else stop("no licence")
  expect_no_warning(found <- maximize_bandit(seldom, space, 14, model = gp_model(refit = NULL)))
  expect_null(found$hopeless)
  expect_identical(nrow(found$history), 14L)
  # A journal continues after the objective is corrected.
  path <- tempfile()
  set.seed(1)
  suppressWarnings(maximize_bandit(broken, space, 12, journal = path))
  found <- maximize_bandit(function(p) p[["x"]], space, 12, journal = path)
  expect_identical(sum(found$history$status == "observed"), 2L)
  expect_identical(nrow(found$history), 12L)
})

test_that("rows outside the space are fitted, never suggested and never recommended", {
  skip_if_not_installed("RSQLite")
  far <- data.frame(x = c(0.2, 1.6), reward = c(0.3, 5), status = "observed", noise_var = c(NA, 1e-4))
  check <- function(found) {
    expect_equal(found$history$x[1:2], far$x)
    expect_true(all(found$history$x[-(1:2)] <= 1))
    expect_lte(found$par$x, 1)
    expect_lte(found$observed$x, 1)
    expect_lt(max(as.data.frame(found)$best), 2)
    expect_lte(max(summary(found)$top$x), 1)
    expect_gt(predict(found, data.frame(x = 1.6))$mean, 3)
  }
  set.seed(4)
  f <- function(p) p$x
  expect_message(found <- maximize_bandit(f, list(x = c(0, 1)), 6, data = far), "Row 2 of `data` is outside")
  check(found)
  store <- bandit_store(tempfile(fileext = ".db"), "outside", seed = 1)
  check(suppressMessages(maximize_bandit(f, list(x = c(0, 1)), 6, data = far, store = store)))
  limited <- suppressMessages(maximize_bandit(function(p) c(y = p$x, g = 0), list(x = c(0, 1)), 5,
    data = data.frame(x = 2, y = 9, g = 0), outcomes = list(y = to_maximize(), g = at_most(1))))
  expect_lte(limited$observed$x, 1)
  expect_error(maximize_bandit(f, 1:3, 2, data = data.frame(x1 = 9, reward = 1)), "`data`", class = "gpbandits_error")
})

test_that("a failed evaluation has one word as status, and its reason in a column", {
  set.seed(3)
  f <- function(x, y) if (x > 0.8) stop("diverged") else -(x - 0.3)^2 - y^2
  found <- maximize_bandit(f, list(x = c(0, 1), y = c(0, 1)), 14)
  failed <- found$history$x > 0.8
  expect_true(any(failed))
  expect_identical(found$history$status, ifelse(failed, "failed", "observed"))
  expect_identical(found$history$reason, ifelse(failed, "error: diverged", NA))
  expect_output(print(summary(found)), "matern.lengthscale (y) =", fixed = TRUE)
  expect_output(print(summary(found)), paste(sum(failed), "x error: diverged"), fixed = TRUE)
  more <- maximize_bandit(f, list(x = c(0, 1), y = c(0, 1)), 2, data = found$history)
  expect_equal(is.na(more$history$reward[1:14]), failed)
  expect_false("reason" %in% names(update(maximize_bandit(function(x) -x^2, list(x = c(0, 1)), 5))$history))
})
