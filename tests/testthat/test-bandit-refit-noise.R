# Refits with noise that differs from point to point.

varying_bandit <- function(domain = box_domain(0, 1), ..., noise = "varying", policy = policy_mean()) {
  gp_bandit(domain, kernel_matern(2.5, 0.3), 0.1, policy, refit = refit_every(40, mean = "fit", noise = noise), ...)
}

# Quiet on the left, loud on the right; each of 15 points twice.
loud <- local({
  set.seed(5)
  x <- rep(seq(0, 1, length.out = 15), 2)
  list(x = x, y = sin(6 * x) + rnorm(30, 0, ifelse(x < 0.5, 0.03, 0.6)))
})

field_of <- function(b) utils::tail(as.environment(b)$refits, 1)[[1]]$noise_field

test_that("the penalised likelihood and its gradient equal their formulas in plain R", {
  set.seed(1)
  x <- matrix(runif(10))
  rows <- c(1:10, 1:10, 1:4)
  y <- rnorm(24)
  measurements <- gpbandits:::point_measurements(x[rows, , drop = FALSE], y)
  expect_identical(measurements$x, x)
  expect_identical(measurements$count, c(3, 3, 3, 3, 2, 2, 2, 2, 2, 2))
  at <- c(0.3, 1.5)
  expect_identical(gpbandits:::variance_of(kernel_matern(2.5)),
                   match("matern.variance", names(fitted_values(kernel_matern(2.5)))))
  if (gpbandits:::variance_of(kernel_matern(2.5)) == 1) at <- rev(at)
  kernel <- gpbandits:::resolve_kernel(kernel_matern(2.5, 0.3, 1.5), "x1")
  unit <- gpbandits:::resolve_kernel(kernel_matern(2.5, 0.3, 1), "x1")
  evidence <- function(theta, mean) {
    testing_entry("cpp_varying_evidence")(kernel, unit, gpbandits:::variance_of(kernel_matern(2.5)), measurements, mean, theta)
  }
  for (spread in c(0.01, 1)) {                                # the penalty is positive in the first, and left out
    delta <- spread * rnorm(10)
    theta <- c(log(at), 0.4, log(0.3), delta, 0)
    for (mean in c(TRUE, FALSE)) {
      found <- evidence(theta, mean)
      Cg <- kernel_gram(kernel_matern(2.5, 0.3 * exp(0.4)), x)
      S <- solve(Cg + diag(0.3 / measurements$count))
      level <- sum(S %*% delta) / sum(S)
      log_noise <- level + drop(Cg %*% S %*% (delta - level))
      A <- kernel_gram(kernel_matern(2.5, 0.3, 1.5), x[rows, , drop = FALSE]) + diag(exp(log_noise[rows]))
      m <- if (mean) {
        K <- kernel_gram(kernel_matern(2.5, 0.3, 1.5), x) + diag(exp(log_noise) / measurements$count)
        sum(solve(K, measurements$average)) / sum(solve(K))
      } else 0
      likelihood <- -(sum((y - m) * solve(A, y - m)) + c(determinant(A)$modulus) + 24 * log(2 * pi)) / 2
      nu <- sum((delta - level) * (S %*% (delta - level))) / 10
      penalty <- -5 * (log(2 * pi * nu) + 1) + c(determinant(S)$modulus) / 2
      expect_equal(found$likelihood, likelihood, tolerance = 1e-9)
      expect_equal(found$value, likelihood + min(0, penalty), tolerance = 1e-9)
      expect_equal(found$mean, m, tolerance = 1e-9)
      slopes <- vapply(seq_along(theta), function(k) {
        h <- replace(0 * theta, k, 1e-5)
        (evidence(theta + h, mean)$value - evidence(theta - h, mean)$value) / 2e-5
      }, 0)
      expect_equal(found$gradient, slopes, tolerance = 1e-6)
    }
    expect_identical(penalty < 0, spread == 1)
  }
})

test_that("on mcycle the log score of varying noise is at least -4.252, and that of constant noise -4.590", {
  skip_if_not_installed("MASS")
  mcycle <- NULL
  utils::data("mcycle", package = "MASS", envir = environment())
  set.seed(42)
  fold <- sample(rep(1:5, length.out = 133))
  score <- function(noise) {
    mean(unlist(lapply(1:5, function(k) {
      b <- gp_bandit(box_domain(2, 58), kernel_matern(2.5, 5, 2000), 500, policy_mean(),
                     refit = refit_every(1, mean = "fit", noise = noise))
      suppressWarnings(b$add(x = matrix(mcycle$times[fold != k]), reward = mcycle$accel[fold != k]))
      suppressWarnings(b$suggest())
      fit <- utils::tail(as.environment(b)$refits, 1)[[1]]
      x <- matrix(mcycle$times[fold == k])
      lambda <- if (noise == "varying") gpbandits:::noise_at(fit$noise_field, x) else fit$noise_var
      p <- b$posterior(x = x)
      stats::dnorm(mcycle$accel[fold == k], p$mean, sqrt(p$sd^2 + lambda), log = TRUE)
    })))
  }
  expect_equal(score("constant"), -4.590, tolerance = 1e-3)
  expect_gt(score("varying"), -4.252)                         # -4.216
})

test_that("between refits each measurement, also a pending one, has the noise variance of its point", {
  arms <- unique(loud$x)
  for (make in list(function(...) varying_bandit(...), function(...) varying_bandit(arms, ...),
                    function(...) varying_bandit(arms, ..., engine = "played"))) {
    b <- make(pending = pending_hallucinate())
    b$add(x = matrix(loud$x), reward = loud$y)
    for (t in 1:11) b$suggest()
    field <- field_of(b)
    expect_gt(gpbandits:::noise_at(field, matrix(0.9)), 20 * gpbandits:::noise_at(field, matrix(0.1)))
    h <- b$history()
    b$observe(h$id[31:35], sin(6 * h$x1[31:35]))
    b$add(x = matrix(0.5), reward = 0.3, noise_var = 0.02)
    config <- config_now(b)
    h <- b$history()
    lambda <- gpbandits:::noise_at(field, matrix(h$x1))
    lambda[nrow(h)] <- 0.02
    known <- h$status == "observed"
    reference <- gp_regression(h$x1[known], h$reward[known], config$kernel, config$noise_var, config$mean, lambda[known])
    at <- b$posterior(x = arms)
    expect_equal(at$mean, predict(reference, arms)$mean, tolerance = 1e-7)
    expect_equal(as.environment(b)$config$noise_var, 0.1)
    all <- gp_regression(h$x1, ifelse(known, h$reward, 0), config$kernel, config$noise_var, config$mean, lambda)
    expect_equal(at$sd, predict(all, arms)$sd, tolerance = 1e-6)
    expect_s3_class(check_model(b), "bandit_check")
  }
})

test_that("the event log holds the noise model, for copies, files, journals and replicates", {
  file <- tempfile()
  b <- varying_bandit(policy = policy_ucb(width_constant(1)), journal = file)
  for (k in 1:15) {
    b$add(x = matrix(loud$x[k]))
    b$observe(k, loud$y[c(k, k + 15)])
  }
  for (t in 1:26) b$observe(b$suggest()$id, 0.1 * (t %% 3))
  expect_type(field_of(b), "list")
  for (one in list(b$copy(), from_json(as_json(b)), unserialize(serialize(b, NULL)), open_bandit(file)$copy())) {
    expect_identical(one$posterior(x = loud$x), b$posterior(x = loud$x))
    expect_identical(field_of(one), field_of(b))
  }
  forged <- b$copy()
  refits <- as.environment(forged)$refits
  for (bad in list(list(weights = 1), list(points = "a"), list(least = -1), list(level = Inf), list(kernel = 1))) {
    broken <- refits
    broken[[1]]$noise_field[names(bad)] <- bad
    other <- unserialize(serialize(forged, NULL))
    assign("refits", broken, envir = attr(other, ".xData"))
    expect_error(other$posterior(x = 0.5), class = "gpbandits_error")
  }
})

test_that("noise stays constant with few data, without a gain, or with noise variances of single rewards", {
  few <- varying_bandit()
  few$add(x = matrix(loud$x[1:15]), reward = loud$y[1:15])
  for (t in 1:26) few$suggest()
  expect_null(field_of(few))
  set.seed(2)
  even <- varying_bandit()
  even$add(x = matrix(loud$x), reward = sin(6 * loud$x) + rnorm(30, 0, 0.2))
  for (t in 1:11) even$suggest()
  plain <- varying_bandit(noise = "constant")
  plain$add(x = matrix(loud$x), reward = even$history()$reward[1:30])
  for (t in 1:11) plain$suggest()
  expect_null(field_of(even))
  expect_identical(even$posterior(x = loud$x), plain$posterior(x = loud$x))
  own <- varying_bandit()
  # (NA alone, as R writes it, is as good.)
  own$add(x = matrix(loud$x[1]), reward = loud$y[1], noise_var = 0.1)
  own$add(x = matrix(loud$x[-1]), reward = loud$y[-1], noise_var = NA)
  for (t in 1:11) own$suggest()
  expect_null(field_of(own))
})

test_that("settings that exclude varying noise are errors", {
  refused <- function(call) expect_identical(expect_error(call, class = "gpbandits_error")$argument, "refit")
  varying <- function(..., kernel = kernel_se(0.3)) refit_every(5, noise = "varying", ...)
  refused(gp_bandit(1:5, kernel_se(1) + kernel_linear(1), 0.1, policy_mean(), refit = varying()))
  refused(gp_bandit(1:5, kernel_linear(1), 0.1, policy_mean(), refit = varying()))
  refused(gp_bandit(1:5, kernel_se(1), 0.1, policy_mean(), refit = varying(average = 2)))
  refused(gp_bandit(1:5, kernel_se(1), 0.1, policy_mean(), refit = varying(), outputs = scale_outputs()))
  refused(gp_bandit(1:5, kernel_se(1), policy = policy_mean(), refit = varying(), rewards = rewards_binary()))
  error <- expect_error(refit_every(5, noise = "much"), class = "gpbandits_error")
  expect_identical(error$argument, "noise")
})
