# Priors over the optimum: piBO for EI, and the term that is added to UCB and Thompson sampling.

arms <- data.frame(x = 0:4 / 4)
tiny <- function(policy) {
  b <- gp_bandit(arms, kernel_se(0.3), 0.01, policy)
  b$add(arm = c(1, 3, 5), reward = c(0.2, 1.1, 0.1))
  b
}
with_prior <- function(policy, prior, strength = 10) {
  gpbandits:::with_prior_optimum(policy, gpbandits:::prepared_prior_optimum(prior, finite_domain(arms)), strength)
}
log_pi <- function(x, m, s) pmax(-((x - m) / s)^2 / 2 + min(((arms$x - m) / s)^2) / 2, log(1e-12))

test_that("acquisition values equal the formula: EI in logarithms, UCB in prior standard deviations", {
  prior <- prior_normal(x = c(0.8, 0.1))
  b <- tiny(with_prior(policy_ei(), prior))
  p <- b$posterior()
  z <- (p$mean - max(p$mean[c(1, 3, 5)])) / p$sd
  score <- log(p$sd * (z * pnorm(z) + dnorm(z))) + 10 / 3 * log_pi(arms$x, 0.8, 0.1)
  expect_identical(b$suggest()$arm, which.max(score))
  for (mean in c(0.1, 0.3, 0.75, 1)) {
    b <- tiny(with_prior(policy_ucb(width_constant(2)), prior_normal(x = c(mean, 0.2))))
    p <- b$posterior()
    expect_identical(b$suggest()$arm, which.max(p$mean + 2 * p$sd + log_pi(arms$x, mean, 0.2) / 3))
  }
})

test_that("the extra term of UCB's bound equals the worked example, and the added term is never larger", {
  # max pi is at 0.75, x* = 0.5.
  expect_equal((1 + log(50)) * 0.25^2 / (2 * 0.2^2), 3.8375, tolerance = 1e-4)
  # Rounds in which the interval holds: regret <= 2 w sd + the added term at x*.
  set.seed(1)
  arms <- data.frame(x = 0:20 / 20)
  f <- sin(6 * arms$x)
  found <- gpbandits:::prepared_prior_optimum(prior_normal(x = c(0.9, 0.1)), finite_domain(arms))
  b <- gp_bandit(arms, kernel_se(0.2), 0.01, gpbandits:::with_prior_optimum(policy_ucb(width_constant(3)), found, 1))
  star <- which.max(f)
  density <- pmax(found$density(list(arm = 0:20, inputs = as.matrix(arms))) - found$top, log(1e-12))
  added <- 0
  for (t in 1:40) {
    p <- b$posterior()
    q <- b$suggest()
    mine <- -density[star] / max(1, t - 1)
    added <- added + mine
    if (all(abs(f - p$mean) <= 3 * p$sd)) expect_lte(f[star] - f[q$arm], 6 * p$sd[q$arm] + mine + 1e-12)
    b$observe(q$id, f[q$arm] + rnorm(1, 0, 0.1))
  }
  expect_lte(added, (2 + log(40)) * -density[star])
})

test_that("with a prior over the optimum gp_bandit() and its presets make the choices of the worked example", {
  choice <- function(policy, ...) {
    b <- gp_bandit(arms, kernel_se(0.3), 0.01, policy, ...)
    b$add(arm = c(1, 3, 5), reward = c(0.2, 1, -0.3))
    b$suggest()$arm
  }
  prior <- prior_normal(x = c(0.75, 0.2))
  log_density <- function(x) dnorm(x[, "x"], 0.75, 0.2, log = TRUE)
  for (policy in list(policy_ucb(width_constant(2)), policy_ei())) {
    expect_identical(choice(policy), 2L)
    expect_identical(choice(policy, prior_optimum = prior), 4L)
    expect_identical(choice(policy, prior_optimum = log_density), 4L)
  }
  b <- gp_ucb(arms, kernel_se(0.3), 0.01, width = width_constant(2), prior_optimum = prior)
  b$add(arm = c(1, 3, 5), reward = c(0.2, 1, -0.3))
  expect_identical(b$suggest()$arm, 4L)
  expect_error(choice(policy_mean(), prior_optimum = prior), "policy", class = "gpbandits_error")
  expect_error(choice(policy_ei(), prior_optimum = prior_normal(z = c(0, 1))), "prior_optimum",
               class = "gpbandits_error")
  expect_error(choice(policy_ei(), prior_optimum = prior, limits = ~ g <= 1), "prior_optimum",
               class = "gpbandits_error")
})

test_that("n counts the queries, also those without rewards", {
  b <- tiny(with_prior(policy_ucb(width_constant(1)), prior_normal(x = c(0.25, 0.1))))
  p <- b$posterior()
  asked <- suppressWarnings(b$suggest(6))$arm
  expect_identical(asked, vapply(3:8, function(n) which.max(p$mean + p$sd + log_pi(arms$x, 0.25, 0.1) / n), 1L))
})

test_that("a constant prior has no effect, to the bit", {
  f <- function(x) -(x[["a"]] - 0.3)^2 - x[["b"]]
  run <- function(...) {
    set.seed(2)
    maximize_bandit(f, list(a = c(0, 1), b = c(0, 1)), evaluations = 14, ...)$history
  }
  plain <- run()
  expect_identical(run(prior_optimum = prior_normal()), plain)
  expect_identical(run(prior_optimum = function(x) rep(-3, nrow(x))), plain)
})

test_that("half of the design is drawn from the prior, its mode first, and the search goes there", {
  space <- search_space(temp = c(20, 80), solvent = c("water", "ethanol", "hexane"), hot = c(TRUE, FALSE),
                        rate = param_real(1e-3, 1, log = TRUE), where = ~ temp <= 79)
  prior <- prior_normal(temp = c(75, 4), solvent = c(water = 8), hot = c("TRUE" = 20), rate = c(0.1, 0.02))
  set.seed(3)
  b <- auto_bandit(space, prior_optimum = prior, n_initial = 12)
  q <- b$suggest(12)
  expect_equal(q$temp[1], 75, tolerance = 1e-3)
  expect_identical(q$solvent[1], "water")
  expect_equal(q$rate[1], 0.1, tolerance = 1e-3)
  expect_gte(sum(q$temp[1:6] > 60 & abs(q$rate[1:6] - 0.1) < 0.1), 4)
  expect_true(all(q$temp <= 79))
  expect_gte(sum(q$hot[1:6]), 4)
  b$observe(q$id, -(q$temp - 70)^2 / 100)
  expect_gt(b$suggest()$temp, 50)
  expect_identical(b$copy()$history(), b$history())
  expect_identical(from_json(as_json(b))$history(), b$history())
})

test_that("a prior far outside the space draws the design at the nearest side", {
  for (mean in c(-400, 500, 1e6)) for (sd in c(5, 0.05)) {
    set.seed(1)
    b <- auto_bandit(list(temp = c(20, 80), b = c(0, 1)), prior_optimum = prior_normal(temp = c(mean, sd)),
                     n_initial = 8)
    expect_lt(max(abs(b$suggest(4)$temp - if (mean > 0) 80 else 20)), 2)
  }
  # Draws are those of the normal within its bounds.
  set.seed(2)
  for (bounds in list(c(-1, 2), c(4, 5), c(-9, -6), c(30, 31), c(-Inf, 1))) {
    drawn <- gpbandits:::normal_between(2000, 3, 2, 3 + 2 * bounds)
    z <- (drawn - 3) / 2
    if (sum(bounds) > 0) {
      z <- -z
      bounds <- -rev(bounds)
    }
    top <- pnorm(bounds[2], log.p = TRUE)
    p <- (exp(pnorm(z, log.p = TRUE) - top) - exp(pnorm(bounds[1], log.p = TRUE) - top)) /
      (1 - exp(pnorm(bounds[1], log.p = TRUE) - top))
    expect_gt(suppressWarnings(ks.test(p, "punif"))$p.value, 1e-3)
  }
})

test_that("all functions with prior_optimum accept it, and invalid ones are errors", {
  f <- function(x) (x[["a"]] - 0.6)^2
  set.seed(4)
  found <- minimize_bandit(f, list(a = c(0, 1)), evaluations = 8,
                           prior_optimum = function(x) dnorm(x[, "a"], 0.6, 0.1, log = TRUE))
  expect_lt(min(found$history$reward), 0.001)
  for (policy in list(policy_ucb(width_constant(2)), policy_ts(width_constant(1)))) {
    set.seed(5)
    h <- minimize_bandit(f, list(a = c(0, 1)), evaluations = 9, policy = policy,
                         prior_optimum = prior_normal(a = c(0.6, 0.1)))$history
    expect_lt(min(h$reward), 0.01)
  }
  refused <- function(...) {
    err <- expect_error(auto_bandit(list(a = c(0, 1), k = c("u", "v")), ...), class = "gpbandits_error")
    err$argument
  }
  for (bad in list(3, "a", list(), prior_normal(z = c(1, 1)), prior_normal(a = c(u = 2)), prior_normal(k = c(1, 1)),
                   prior_normal(k = c(w = 2)), function(x) "a", function(x) 1, function(x) rep(NA, nrow(x)))) {
    expect_identical(refused(prior_optimum = bad), "prior_optimum")
  }
  expect_identical(refused(prior_optimum = prior_normal(a = c(0.5, 0.1)), policy = policy_pi()), "policy")
  for (bad in list(list(a = c(1, 0)), list(a = "b"), list(c(1, 1)), list(a = c(u = -1)), list(a = numeric()), list(a = 1))) {
    expect_error(do.call(prior_normal, bad), class = "gpbandits_error")
  }
})

test_that("a custom policy gets the points if it has a fourth argument", {
  own <- policy_function(function(mean, sd, round, x) mean + sd - 3 * abs(x[, "x"] - 0.25))
  b <- tiny(own)
  p <- b$posterior()
  expect_identical(b$suggest()$arm, which.max(p$mean + p$sd - 3 * abs(arms$x - 0.25)))
  b <- gp_bandit(box_domain(c(u = 0, v = 1), c(1, 10), log = "v"), kernel_se(1), 0.01,
                 policy_function(function(mean, sd, round, x) -(x[, "u"] - 0.37)^2 - (log(x[, "v"]) - 1)^2 + 0 * mean))
  q <- b$suggest()
  expect_equal(c(q$u, q$v), c(0.37, exp(1)), tolerance = 1e-3)
  space <- search_space(k = c("p", "q"), z = c(0, 1))
  b <- gp_bandit(space, default_kernel(space), 0.01,
                 policy_function(function(mean, sd, round, x) (x$k == "q") - (x$z - 0.8)^2))
  q <- b$suggest()
  expect_identical(q$k, "q")
  expect_equal(q$z, 0.8, tolerance = 1e-3)
})
