model_x <- seq(0, 1, length.out = 40)
model_kernel <- kernel_se(0.2, 1.5)
model_arms <- c(3, 12, 25, 31, 12)
model_rewards <- sin(6 * model_x[model_arms]) + c(0.1, -0.05, 0.02, 0, 0.03)

model_bandit <- function(..., kernel = model_kernel, noise_var = 0.04, policy = policy_ucb(2)) {
  b <- gp_bandit(model_x, kernel, noise_var, policy, ...)
  b$add(arm = model_arms, reward = model_rewards)
  b$suggest()
  b
}

refused <- function(code, argument = "object") {
  expect_identical(expect_error(code, class = "gpbandits_error")$argument, argument)
}

test_that("parameters, fitted values and residuals agree with the posterior", {
  b <- model_bandit(mean = 0.3)
  before <- b$copy()
  expect_equal(coef(b), c(se.lengthscale = 0.2, se.variance = 1.5, noise_var = 0.04, mean = 0.3))
  expect_equal(fitted(b), stats::setNames(b$posterior(arm = model_arms)$mean, 1:5))
  expect_equal(unname(residuals(b) + fitted(b)), model_rewards)
  expect_identical(nobs(b), 5L)
  expect_true(all.equal(before, b))
})

test_that("tables of parameters, of queries and of the fit agree with the methods for one of them", {
  skip_if_not_installed("generics")
  b <- model_bandit(mean = 0.3)
  before <- b$copy()
  expect_equal(generics::tidy(b), data.frame(term = names(coef(b)), estimate = unname(coef(b))))
  seen <- generics::augment(b)
  expect_identical(seen[names(b$history())], b$history())
  expect_equal(seen$.resid, c(unname(residuals(b)), NA))
  expect_equal(generics::augment(b, data.frame(x1 = c(0.1, 0.2)))$.se.fit, b$posterior(x = c(0.1, 0.2))$sd)
  expect_equal(generics::glance(b)$logLik, as.numeric(logLik(b)))
  expect_equal(generics::glance(b)[c("nobs", "pending")], data.frame(nobs = 5L, pending = 1L))
  expect_true(all.equal(before, b))
})

test_that("the likelihood equals that of the same regression, in the units of the rewards", {
  x <- model_x[model_arms]
  plain <- logLik(gp_regression(x, model_rewards, model_kernel, 0.04, mean = 0.3))
  expect_equal(as.numeric(logLik(model_bandit(mean = 0.3))), as.numeric(plain), tolerance = 1e-10)
  expect_equal(unlist(attributes(logLik(model_bandit()))[c("df", "nobs")]), c(df = 0, nobs = 5))
  # Rewards in other units: the density is divided by the unit once for each.
  scaled <- gp_regression(x, (model_rewards - 0.5) / 2, model_kernel, 0.04)
  b <- model_bandit(outputs = scale_outputs(centre = 0.5, scale = 2))
  expect_equal(as.numeric(logLik(b)), as.numeric(logLik(scaled)) - 5 * log(2), tolerance = 1e-10)
  own <- gp_bandit(model_x, model_kernel, 0.04, policy_ucb(2))
  own$add(arm = c(3, 12), reward = c(1, 2), noise_var = c(0.5, NA))
  two <- gp_regression(model_x[c(3, 12)], c(1, 2), model_kernel, 0.04, own_noise = c(0.5, NA))
  expect_equal(as.numeric(logLik(own)), as.numeric(logLik(two)), tolerance = 1e-10)
})

test_that("a refit increases the degrees of freedom and does not lower the likelihood", {
  set.seed(3)
  b <- gp_bandit(model_x, kernel_se(0.9, 4), 1, policy_ucb(2), refit = refit_every(1))
  for (t in 1:7) b$observe(b$suggest()$id, sin(6 * model_x[b$history()$arm[t]]) + rnorm(1, 0, 0.1))
  b$suggest()  # (refits first)
  first <- update(b, refit = NULL)
  expect_identical(unname(coef(first)[1:3]), c(0.9, 4, 1))
  expect_identical(attr(logLik(first), "df"), 0L)
  expect_gt(attr(logLik(b), "df"), 2)
  expect_gt(as.numeric(logLik(b)), as.numeric(logLik(first)))
})

test_that("simulated functions have the posterior's mean and covariance, and are reproducible by seed", {
  b <- model_bandit(mean = 0.3)
  at <- c(0.05, 0.07, 0.6)
  drawn <- as.matrix(simulate(b, 4000, seed = 5, newdata = at))
  expected <- b$posterior(x = at)
  expect_lt(max(abs(rowMeans(drawn) - expected$mean) / expected$sd), 5 / sqrt(4000))
  expect_lt(max(abs(apply(drawn, 1, sd) / expected$sd - 1)), 0.06)
  expect_gt(cor(drawn[1, ], drawn[2, ]), 0.9)
  expect_identical(simulate(b, 2, seed = 1), simulate(b, 2, seed = 1))
  expect_identical(dim(simulate(b, 2)), c(40L, 2L))
  expect_identical(as.vector(attr(simulate(b, 1, seed = 9), "seed")), 9)
  refused(simulate(b, 0), "nsim")
})

test_that("update() gives a bandit with the same log and other settings", {
  b <- model_bandit()
  other <- update(b, kernel = kernel_matern(2.5, 0.4), noise_var = 0.1, policy = "ei")
  fresh <- gp_bandit(model_x, kernel_matern(2.5, 0.4), 0.1, policy_ei())
  fresh$add(arm = model_arms, reward = model_rewards)
  expect_equal(other$posterior(), fresh$posterior(), tolerance = 1e-9)
  expect_identical(other$history(), b$history())
  expect_identical(other$config$policy, policy_ei())
  expect_true(all.equal(b, update(b)))
  # They go their own ways.
  other$observe(6, 2)
  expect_identical(c(nobs(b), nobs(other)), c(5L, 6L))
  expect_identical(b$copy()$suggest(), update(b, policy = policy_ucb(2))$suggest())
  refused(update(b, domain = 1:3), "domain")
  refused(update(b, 3), "...")
  refused(update(b, noise_var = -1), "noise_var")
})

test_that("several outcomes have a column each, and models without such results raise an error with the reason", {
  several <- gp_bandit(model_x, model_kernel, 0.04, policy_ei(),
                       outcomes = list(yield = to_maximize(), impurity = at_most(2)))
  several$add(arm = c(3, 9), reward = cbind(yield = 1:2, impurity = c(NA, 3)))
  expect_identical(colnames(residuals(several)), c("yield", "impurity"))
  expect_identical(unname(is.na(residuals(several)[, "impurity"])), c(TRUE, FALSE))
  expect_true(all(c("yield.noise_var", "impurity.noise_var") %in% names(coef(several))))
  refused(logLik(several))
  refused(update(several, kernel = model_kernel), "kernel")
  duel <- gp_bandit(model_x, model_kernel, policy = policy_duel(2), rewards = rewards_preferences())
  duel$observe(duel$suggest(2)$id, prefer = 1)
  refused(residuals(duel))
  refused(logLik(duel))
  expect_length(fitted(duel), 2)
  expect_false("noise_var" %in% names(coef(duel)))
  refused(coef(baseline_constrained("oco", list(u = c(0, 6)), epsilon = 0.1, step = 0.05)))
  ckb <- baseline_constrained("ckb", model_x, model_kernel, 0.04, step = 0.5, bound = 10)
  expect_identical(coef(ckb)[["g1.noise_var"]], 0.04)
  refused(update(ckb, mean = 1))
  refused(logLik(model_bandit(changes = change_oracle(window = 3))))
})

test_that("the methods are registered with package generics, and work for results of a search", {
  skip_if_not_installed("generics")
  several <- gp_bandit(model_x, model_kernel, 0.04, policy_ei(),
                       outcomes = list(yield = to_maximize(), impurity = at_most(2)))
  several$add(arm = c(3, 9), reward = cbind(yield = 1:2, impurity = c(NA, 3)))
  expect_true(all(c(".fitted_yield", ".resid_impurity") %in% names(generics::augment(several))))
  for (generic in c("tidy", "glance", "augment")) for (class in c("GPBandit", "bandit_maximum")) {
    expect_true(is.function(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace("generics"))))
  }
  set.seed(2)
  found <- minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), 8)
  expect_identical(coef(found), coef(found$bandit))
  expect_equal(unname(fitted(found) + residuals(found)), found$history$reward)
  expect_identical(nobs(found), 8L)
  expect_equal(generics::glance(found)$value, found$value)
  expect_identical(generics::glance(found)$evaluations, 8L)
  expect_equal(generics::augment(found)$.resid, unname(residuals(found)))
  expect_identical(update(found)$par, found$par)
  stiff <- update(found, noise_var = 10, refit = NULL)
  expect_s3_class(stiff, "bandit_maximum")
  expect_identical(stiff$history, found$history)
  expect_lt(as.numeric(logLik(stiff)), as.numeric(logLik(found)))
})
