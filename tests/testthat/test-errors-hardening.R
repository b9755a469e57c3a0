# What users met: numbers that overflow, methods that are none, orders of events, shared objects, foreign errors.

small <- function(...) gp_ucb(1:5, kernel_se(1), 0.1, ...)

test_that("an unknown method is an error that lists the methods, and completion shows them", {
  b <- small()
  expect_error(b$record(1, 2), "observe()", fixed = TRUE, class = "gpbandits_error")
  expect_error(b$obsreve(1, 2), "Did you mean `.observe", class = "gpbandits_error")
  expect_setequal(utils:::.DollarNames(b, "^su"), "suggest")
  methods <- c("suggest", "observe", "add", "amend", "withdraw", "fail", "posterior", "best", "history", "copy", "reset")
  expect_true(all(methods %in% utils:::.DollarNames(b, "")))
  expect_true("suggest" %in% utils:::.DollarNames(baseline_constrained("ckb", 1:5, kernel_se(1), 0.1, step = 1, bound = 1), ""))
  for (method in methods) {
    text <- utils::capture.output(do.call(GPBandit$help, list(method)))
    expect_gt(sum(nchar(text[-1])), 10)
  }
  # What reference classes have anyway stays there.
  expect_no_error(b$getClass())
  expect_null(b$journal)
})

test_that("numbers whose squares overflow or underflow are errors that change nothing", {
  refused <- function(code) expect_error(code, class = "gpbandits_error")
  for (bad in c(1e308, 1e160, 1e-320, 1e-200)) {
    refused(kernel_se(1, bad))
    refused(kernel_matern(2.5, bad))
    refused(kernel_linear(bad))
    refused(kernel_matrix(matrix(bad)))
    refused(gp_ucb(1:5, kernel_se(1), bad))
    refused(gp_regression(1:2, 1:2, kernel_se(1), bad))
  }
  # A linear kernel is 0 where squares of its inputs underflow: not where they are 0.
  refused(gp_ucb(c(1, 2) * 1e-200, kernel_linear(), 1))
  refused(gp_ucb(c(1, 2) * 1e-100, kernel_se(1) + kernel_linear(1e-140), 1))
  refused(gp_ucb(1:3, kernel_linear(dims = "z1"), 1, contexts = matrix(1e-180)))
  refused(gp_regression(c(1, 2) * 1e-200, 1:2, kernel_linear(), 1))
  expect_no_error(gp_ucb(0, kernel_linear(), 1)$suggest())
  refused(kernel_matrix(matrix(1e308, 2, 2)))
  refused(gp_ucb(c(1, 2) * 1e200, kernel_linear(), 1))
  refused(gp_ucb(list(u = c(0, 1e200)), kernel_linear(), 1, width = 2))
  refused(gp_ucb(1:5, kernel_se(1), 0.1, mean = -1e308))
  refused(gp_regression(1:2, c(1e308, -1e308), kernel_se(1), 1))
  b <- suppressWarnings(small()$add(arm = 1, reward = 1e149))
  b$suggest()
  before <- b$history()
  for (bad in c(1e308, -1e308, 1e151)) {
    refused(b$observe(2, bad))
    refused(b$add(arm = 2, reward = bad))
    refused(b$amend(1, bad))
  }
  refused(b$observe(2, 1, noise_var = 1e308))
  expect_identical(b$history(), before)
  expect_true(all(is.finite(unlist(b$posterior()))))
})

test_that("integer64 values, whose bits are no doubles, are errors everywhere", {
  whole <- structure(c(1, 2, 3) * 2^-1074, class = "integer64")
  frame <- structure(list(a = whole), class = "data.frame", row.names = 1:3)
  for (code in expression(finite_domain(whole), finite_domain(frame), kernel_se(whole), gp_ucb(1:3, kernel_se(1), 0.1, mean = whole),
                          small()$add(arm = 1:3, reward = whole), small()$add(arm = whole, reward = 1:3))) {
    expect_error(eval(code), "integer64|not numeric", class = "gpbandits_error")
  }
})

test_that("run_bandit() with refits and delays equals calls by hand, with due rewards first", {
  x <- seq(0, 1, length.out = 20)
  f <- sin(7 * x)
  maker <- function() gp_ei(x, kernel_matern(2.5, 0.3), 0.05, refit = refit_every(4, starts = 1))
  set.seed(1)
  noise <- stats::rnorm(16, sd = 0.1)
  problem <- function(delay) bandit_problem(x, f, noise = function(n) noise[seq_len(n)], delay = delay)
  for (delay in 0:3) {
    b <- maker()
    for (t in 1:16) {
      due <- t - delay
      if (delay > 0 && due >= 1) b$observe(due, f[b$history()$arm[due]] + noise[due])
      q <- b$suggest()
      if (delay == 0) b$observe(t, f[q$arm] + noise[t])
    }
    expect_equal(run_bandit(maker(), problem(delay), 16)$data$arm, b$history()$arm, info = delay)
  }
  expect_identical(run_bandit(maker(), problem(0), 16)$data$arm, run_bandit(maker(), problem(1), 16)$data$arm)
})

test_that("an ARD kernel next to a matrix keeps the ranges of its parameters", {
  set.seed(2)
  x <- cbind(a = stats::runif(30), b = 10 * stats::runif(30), arm = rep(1:3, 10))
  y <- sin(6 * x[, 1]) + stats::rnorm(30, sd = 0.1)
  K <- diag(3) + 0.5
  implied <- gp_fit(x, y, kernel_matrix(K) * kernel_se(c(0.3, 3)), starts = 1)
  reported <- gp_fit(x, y, kernel_matrix(K) * kernel_se(c(0.3, 3), dims = c("a", "b")), starts = 1)
  expect_equal(implied$parameters, reported$parameters)
  expect_equal(implied$log_likelihood, reported$log_likelihood)
})

test_that("compare_bandits() does not change a bandit that replications share", {
  shared <- small()
  shared$add(arm = 2, reward = 1)
  before <- shared$history()
  problem <- bandit_problem(1:5, sin(1:5), noise = 0.1)
  found <- as.data.frame(compare_bandits(list(a = function(p) shared), problem, rounds = 5, replications = 3, seed = 1))
  fresh <- as.data.frame(compare_bandits(list(a = function(p) shared$copy()), problem, rounds = 5, replications = 3, seed = 1))
  expect_identical(found, fresh)
  expect_identical(shared$history(), before)
})

test_that("errors of custom functions become gpbandits_errors that name the function", {
  broken <- function(...) stop("boo")
  x <- rep(1:5, 2)
  expect_error(detect_change(x, sin(x), kernel_se(1), broken, 1), "`threshold` failed at q = 1: boo", class = "gpbandits_error")
  expect_error(regret_bound("igp_ucb", rounds = 5, B = 1, R = 1, gain = broken), "`gain` failed", class = "gpbandits_error")
})

test_that("rewards may be given next to the queries that were suggested, and times may be dates", {
  b <- small(pending = pending_hallucinate())
  q <- b$suggest(3)
  b$observe(q, c(1, 2, 3))
  expect_identical(b$history()$reward, c(1, 2, 3))
  q$reward <- 4:6
  expect_error(b$observe(q, 4:6), "Leave out `reward`", class = "gpbandits_error")
  clocked <- small(pending = pending_censor(3 * 86400, unit = "time"))
  clocked$suggest(time = as.Date("2026-01-01"))
  clocked$observe(1, 5, time = as.POSIXct("2026-01-03", tz = "UTC"))
  clocked$suggest(time = as.Date("2026-01-04"))
  clocked$observe(2, 7, time = as.Date("2026-01-09"))
  expect_identical(clocked$history()$status, c("observed", "lost"))
})

test_that("settings that a new bandit lacks are not reported as damage", {
  for (policy in list(structure(list(kind = 3), class = "bandit_policy"), structure(list(), class = "bandit_policy"))) {
    error <- expect_error(gp_bandit(1:3, kernel_se(1), 0.1, policy), class = "gpbandits_error")
    expect_no_match(conditionMessage(error), "damaged")
  }
})

test_that("errors state the allowed values in the user's terms", {
  expect_error(finite_domain(cbind(x = 1:2, x = 1:2)), "a distinct name", class = "gpbandits_error")
  expect_error(small()$suggest(1e6 + 1), "not 1000001", class = "gpbandits_error")
  expect_error(gp_ucb(1:3, kernel_se(1), 0.1, maximize = FALSE), "report the reward -y", class = "gpbandits_error")
})
