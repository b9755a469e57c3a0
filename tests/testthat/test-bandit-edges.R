# Extreme but legal: one input and twenty, thousands of observations, duplicates, constant,
# tiny and huge rewards, inputs at their bounds, a single arm.

edge_policies <- list(ucb = policy_ucb(width_constant(2)), ei = policy_ei(), pi = policy_pi(), ts = policy_ts(width_constant(1)),
                      mean = policy_mean(), variance = policy_variance(), uniform = policy_uniform())

edge_play <- function(bandit, rounds, f) {
  for (t in seq_len(rounds)) {
    q <- bandit$suggest()
    bandit$observe(q$id, f(q))
  }
  bandit
}

expect_sound <- function(bandit, info = NULL) {
  h <- bandit$history()
  expect_true(all(is.finite(h$mean)) && all(is.finite(h$sd)) && all(h$sd >= 0), info = info)
  domain <- bandit$config$domain
  x <- t(as.matrix(h[domain$names]))
  expect_true(all(x >= domain$lower & x <= domain$upper), info = info)
  expect_true(all(x[domain$integer, ] == round(x[domain$integer, ])), info = info)
  best <- bandit$best()
  expect_true(is.finite(best$mean) && best$sd >= 0, info = info)
}

test_that("a box with an empty range, or one that overflows, is an error", {
  expect_error(box_domain(c(0, 1), c(1, 1)), "must be below `upper`.*input 2", class = "gpbandits_error")
  expect_error(box_domain(1, 0), class = "gpbandits_error")
  expect_error(box_domain(-1.5e308, 1.5e308), "overflows", class = "gpbandits_error")
  expect_error(maximize_bandit(function(p) 1, list(x = c(2, 2)), 5), class = "gpbandits_error")
})

for (d in c(1, 20)) {
  test_that(paste("every policy plays soundly in", d, "inputs"), {
    for (name in names(edge_policies)) {
      set.seed(1)
      b <- gp_bandit(box_domain(rep(0, d), rep(1, d)), kernel_matern(2.5, rep(0.5, d)), 0.01, edge_policies[[name]])
      edge_play(b, 8, function(q) -sum((unlist(q[-1]) - 0.3)^2))
      expect_sound(b, name)
      expect_equal(b$copy()$posterior(matrix(0.5, 1, d)), b$posterior(matrix(0.5, 1, d)), tolerance = tol$replay)
    }
  })
}

test_that("in 20 inputs the selected point has a larger acquisition value than a thousand random points", {
  set.seed(2)
  b <- gp_bandit(box_domain(rep(0, 20), rep(1, 20)), kernel_matern(2.5, 1), 0.01, policy_ucb(width_constant(2)))
  b$add(x = matrix(runif(600), 30), reward = rnorm(30))
  q <- b$suggest()
  h <- b$history()[31, ]
  p <- b$posterior(matrix(runif(20000), 1000))
  expect_gt(h$mean + 2 * h$sd, max(p$mean + 2 * p$sd))
})

test_that("rewards that are constant, tiny or huge, at repeated points, give finite results", {
  skip_on_cran()
  for (name in names(edge_policies)) {
    for (size in few_of(c(0, 1e-8, 1e8), 2)) {
      set.seed(3)
      b <- gp_bandit(box_domain(0, 1), kernel_se(0.2), 0.01, edge_policies[[name]])
      for (t in 1:5) {
        q <- b$suggest()
        reward <- size * sin(5 * q$x1) + (size == 0)
        b$observe(q$id, reward)
        b$add(x = q$x1, reward = reward)
      }
      expect_sound(b, paste(name, size))
    }
  }
})

test_that("repeated points with almost no noise have exact means and standard deviations", {
  b <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 1e-10, policy_ucb(width_constant(2)))
  b$add(x = rep(c(0.2, 0.2, 0.7), 100), reward = rep(c(1, 1, -1), 100))
  p <- b$posterior(c(0.2, 0.7, 0.45))
  expect_equal(p$mean[1:2], c(1, -1), tolerance = 1e-5)
  exact <- ref_posterior_at(ref_kernel_se(0.3)(c(0.2, 0.7, 0.45)), 1:2, c(1, -1), 1e-10 / c(200, 100), 0, 3)
  expect_equal(p$mean[3], exact$mean, tolerance = 1e-5)
  expect_equal(p$sd[3], exact$sd, tolerance = 1e-4)
  expect_sound(edge_play(b, 5, function(q) 0))
})

test_that("with 2,000 observations on a box the posterior equals the reference's, and the choice is sound", {
  skip_on_cran()
  set.seed(4)
  x <- matrix(runif(400), 200)
  y <- matrix(sin(5 * x[, 1]) + x[, 2] + rnorm(2000, sd = 0.1), 200)
  b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_matern(2.5, 0.3), 0.01, policy_ucb(width_constant(2)))
  for (j in 1:10) b$add(x = x, reward = y[, j])
  at <- matrix(runif(10), 5)
  # Ten rewards at a point are their mean with a tenth of the noise.
  exact <- ref_posterior_at(ref_kernel_matern(2.5, 0.3)(rbind(x, at)), 1:200, rowMeans(y), rep(0.001, 200), 0, 200 + 1:5)
  core <- b$posterior(at)
  expect_lt(max(abs(core$mean - exact$mean), abs(core$sd - exact$sd)), tol$engine)
  expect_sound(edge_play(b, 2, function(q) 1))
})

test_that("integers and logarithmic inputs stay within their bounds, which can be selected and given", {
  skip_on_cran()
  domain <- box_domain(c(a = 0, n = 1, z = 1 / 3), c(a = 1, n = 1000, z = pi^3), integer = c("a", "n"), log = c("n", "z"))
  f <- function(q) q$a + log(q$n) + log(q$z)
  corners <- data.frame(a = c(0, 1), n = c(1, 1000), z = c(1 / 3, pi^3))
  for (name in names(edge_policies)) {
    for (sign in c(-1, 1)) {
      set.seed(5)
      b <- gp_bandit(domain, kernel_matern(2.5, c(1, 2, 2)), 0.01, edge_policies[[name]])
      b$add(x = corners, reward = sign * f(corners))
      edge_play(b, 10, function(q) sign * f(q))
      expect_sound(b, name)
      # What was suggested may be given back.
      h <- b$history()
      b$add(x = as.matrix(h[c("a", "n", "z")]), reward = h$reward)
      if (name == "ucb") {
        expect_equal(unlist(b$best()[c("a", "n", "z")]), if (sign > 0) domain$upper else domain$lower)
      }
    }
  }
})

test_that("an integer input with two values is searched over both", {
  b <- gp_bandit(box_domain(0, 1, integer = TRUE), kernel_se(1), 0.01, policy_ucb(width_constant(2)))
  edge_play(b, 6, function(q) -q$x1)
  expect_setequal(b$history()$x1, 0:1)
  expect_equal(b$best()$x1, 0)
})

test_that("a domain with a single arm works", {
  for (name in names(edge_policies)) {
    b <- gp_bandit(7, kernel_se(1), 0.1, edge_policies[[name]])
    set.seed(6)
    run <- run_bandit(b, bandit_problem(7, 2, noise = 0.3), 10)
    expect_equal(as.data.frame(run)$regret, rep(0, 10))
    y <- b$history()$reward
    expect_equal(b$posterior()$mean, sum(y) / (10 + 0.1))
  }
  expect_equal(maximize_bandit(function(p) 1, 5, 6)$par, c(x1 = 5))
})

test_that("tiny and huge boxes are searched like others", {
  for (side in c(1e-12, 1, 1e150)) {
    b <- gp_bandit(box_domain(0, side), kernel_se(0.3 * side), 0.01, policy_ucb(width_constant(2)))
    edge_play(b, 15, function(q) -(q$x1 / side - 0.4)^2)
    expect_sound(b, side)
    expect_equal(b$best()$x1 / side, 0.4, tolerance = 0.05)
  }
})

test_that("maximize_bandit() works with 20 inputs, integers, constant rewards and wide logarithmic ranges", {
  skip_on_cran()
  set.seed(7)
  many <- maximize_bandit(function(p) -sum((p - 0.3)^2), box_domain(rep(0, 20), rep(1, 20)), by_level(60, 60, quick = 40))
  random <- max(replicate(60, -sum((runif(20) - 0.3)^2)))
  expect_gt(-sum((many$par - 0.3)^2), random / 2)
  whole <- maximize_bandit(function(p) -sum((p - c(0, 4, 10))^2), box_domain(rep(0, 3), rep(10, 3), integer = TRUE), 40)
  expect_equal(unname(whole$par), c(0, 4, 10))
  flat <- maximize_bandit(function(p) -3e8, list(x = c(0, 1)), 14)
  expect_equal(flat$value, -3e8, tolerance = 1e-6)
  wide <- maximize_bandit(function(p) -log10(p[["c"]])^2, box_domain(c(c = 1e-10), c(c = 1e10), log = TRUE), 25)
  expect_lt(abs(log10(wide$par)), 0.2)
})

test_that("data without rows, and histories without rewards, are the same as no data", {
  line <- list(u = c(0, 1))
  none <- data.frame(u = numeric(), reward = numeric())
  expect_identical(nrow(auto_bandit(line, none)$history()), 0L)
  found <- maximize_bandit(function(x) x[["u"]], line, 2, data = none)
  expect_identical(nrow(as.data.frame(found)), 2L)
  for (outcomes in list(NULL, list(y = to_maximize(), g = at_most(1)))) {
    old <- auto_bandit(line, outcomes = outcomes)
    expect_identical(nrow(auto_bandit(line, old$history(), outcomes = outcomes)$history()), 0L)
    old$suggest(2)
    old$withdraw(1:2)
    expect_identical(nrow(auto_bandit(line, old$history(), outcomes = outcomes)$history()), 0L)
  }
  expect_error(auto_bandit(line, data.frame(v = numeric(), reward = numeric())), "data", class = "gpbandits_error")
})
