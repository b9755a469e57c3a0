# Rewards that are no measurements with Gaussian noise.

tiny_x <- c(0, 0.5, 1)
tiny_kernel <- kernel_se(0.5, 2)
ucb2 <- policy_ucb(width_constant(2))

# One bandit for each engine, with k successes of n at 0, .5, 1.
engines_of <- function(rewards, kernel = tiny_kernel, x = tiny_x, mean = 0, ...) {
  list(
    weights = gp_bandit(x, kernel, policy = ucb2, rewards = rewards, mean = mean, engine = "weights", ...),
    played = gp_bandit(x, kernel, policy = ucb2, rewards = rewards, mean = mean, engine = "played", ...),
    dense = gp_bandit(box_domain(0, 1), kernel, policy = ucb2, rewards = rewards, mean = mean, ...)
  )
}

reported <- function(bandit, k, n, x = tiny_x) bandit$add(x = matrix(x), reward = k, size = n)

test_that("successes of trials equal the worked example on every engine", {
  for (b in engines_of(rewards_binary())) {
    reported(b, c(1, 8, 1), c(4, 10, 2))
    latent <- b$posterior(x = tiny_x, scale = "latent")
    expect_equal(latent$mean, c(-.28154, .84136, .52240), tolerance = 1e-5)
    chance <- b$posterior(x = tiny_x)
    expect_equal(chance$mean, c(.43803, .68606, .60920), tolerance = 1e-5)
    expect_equal(chance$lower, plogis(latent$mean - qnorm(.975) * latent$sd), tolerance = 1e-9)
    expect_equal(chance$upper, plogis(latent$mean + qnorm(.975) * latent$sd), tolerance = 1e-9)
    sites <- testing_entry("cpp_bandit_sites")(as.environment(b)$handle)
    expect_equal(sites$log_evidence, -11.2170, tolerance = 1e-5)
    expect_identical(sites$steps, 5L)
    expect_equal(sites$information, 2.93200, tolerance = 1e-5)
    if (!is.null(b$best()$arm)) expect_identical(b$best()$x1, 0.5)
  }
})

test_that("every response type equals the textbook formula, on every engine, for any prior mean and order", {
  x <- c(0, 0.2, 0.45, 0.7, 1)
  at <- seq(0, 1, 0.1)
  set.seed(8)
  n <- c(3, 1, 12, 2, 5)
  cases <- list(
    logit = list(rewards_binary(), k = rbinom(5, n, .6)), probit = list(rewards_binary("probit"), k = rbinom(5, n, .6)),
    counts = list(rewards_counts(), k = rpois(5, n * 1.5))
  )
  for (name in names(cases)) for (mean in c(0, -0.7)) {
    one <- cases[[name]]
    reference <- ref_laplace(kernel_gram(kernel_matern(2.5, 0.4, 1.7), c(at, x)),
                             cbind(matrix(0, 5, length(at)), diag(5)), ref_likelihoods[[name]](one$k, n), mean)
    for (b in engines_of(one[[1]], kernel_matern(2.5, 0.4, 1.7), x = sort(unique(c(at, x))), mean = mean)) {
      for (i in c(4, 1, 5, 2, 3)) reported(b, one$k[i], n[i], x[i])
      latent <- b$posterior(x = at, scale = "latent")
      expect_equal(latent$mean, reference$mean[seq_along(at)], tolerance = 1e-7, info = name)
      expect_equal(latent$sd, sqrt(diag(reference$cov))[seq_along(at)], tolerance = 1e-7, info = name)
      sites <- testing_entry("cpp_bandit_sites")(as.environment(b)$handle)
      expect_equal(sites$log_evidence, reference$log_z - if (name == "counts") 0 else 0, tolerance = 1e-8, info = name)
    }
  }
})

test_that("ratings have cumulative probabilities", {
  cuts <- c(-1, 0.3, 2)
  reward <- c(1, 4, 4, 2, 3)
  at <- c(1, 2, 2, 3, 3)
  counts <- as.matrix(table(factor(at, 1:3), factor(reward, 1:4)))
  reference <- ref_laplace(kernel_gram(tiny_kernel, tiny_x), diag(3), ref_ordinal(unclass(counts), cuts))
  b <- gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_ordinal(c("bad", "fair", "good", "best"), cuts))
  b$add(arm = at, reward = c("bad", "best", "best", "fair", "good"))
  expect_equal(b$posterior(scale = "latent")$mean, reference$mean, tolerance = 1e-5)
  expect_equal(b$posterior(scale = "latent")$sd, sqrt(diag(reference$cov)), tolerance = 1e-4)
  expected <- function(f) sum(1:4 * diff(c(0, plogis(cuts - f), 1)))
  band <- b$posterior()
  expect_equal(band$upper[2], expected(reference$mean[2] + qnorm(.975) * sqrt(reference$cov[2, 2])), tolerance = 1e-5)
  expect_identical(b$history()$reward, reward)
})

test_that("a linear kernel with a wide prior is glm()'s regression", {
  fit <- stats::coef(stats::glm(cbind(c(1, 8, 1), c(3, 2, 1)) ~ tiny_x, family = stats::binomial))
  b <- gp_bandit(tiny_x, kernel_linear(1e6) + kernel_matrix(matrix(1e6, 3, 3)), policy = ucb2, rewards = rewards_binary())
  reported(b, c(1, 8, 1), c(4, 10, 2))
  expect_equal(b$posterior(scale = "latent")$mean, unname(fit[1] + fit[2] * tiny_x), tolerance = 5e-6)
})

test_that("minimising is maximising the negative function", {
  up <- engines_of(rewards_binary(), mean = 0.4)$weights
  down <- engines_of(rewards_binary(direction = "minimize"), mean = 0.4)$weights
  for (b in list(up, down)) reported(b, c(1, 8, 1), c(4, 10, 2))
  expect_equal(up$posterior(), down$posterior(), tolerance = 1e-9)
  expect_equal(up$posterior(scale = "latent"), down$posterior(scale = "latent"), tolerance = 1e-9)
  expect_identical(up$best()$arm, 2L)
  expect_identical(down$best()$arm, 1L)
  counts <- gp_bandit(tiny_x, tiny_kernel, policy = policy_mean(), rewards = rewards_counts("minimize"))
  counts$add(arm = 1:3, reward = c(9, 1, 4), size = 2)
  expect_identical(counts$suggest()$arm, 2L)
})

# ---- measurements with outliers -----------------------------------------------------------

test_that("robust rewards have the posterior of EM from Huber's fit", {
  x <- c(0, .25, .5, .75, 1)
  y <- c(.2, .7, 4, .4, -.3)
  K <- kernel_gram(kernel_se(0.3), x)
  sweep <- function(f, weigh) {
    for (i in 1:5000) {
      before <- f
      f <- drop(K %*% solve(K + diag(0.01 / weigh((y - f) / 0.1)), y))
      if (max(abs(f - before)) < 1e-14) break
    }
    f
  }
  huber <- sweep(0 * y, function(r) pmin(1, 1.345 / pmax(abs(r), 1e-300)))
  expect_equal(huber[3], 2.228, tolerance = 1e-3)
  expect_equal(1.345 / abs((4 - huber[3]) / .1), .07592, tolerance = 1e-3)
  reference <- sweep(huber, function(r) 5 / (4 + r^2))
  for (domain in list(x, box_domain(0, 1))) {
    b <- gp_bandit(domain, kernel_se(0.3), 0.01, policy_mean(), rewards = rewards_robust())
    b$add(x = matrix(x), reward = y)
    expect_equal(b$posterior(x = x)$mean, reference, tolerance = 1e-8)
  }
})

test_that("outliers do little harm (the worked example's setting: plain .425, t .045)", {
  set.seed(2)
  error <- replicate(25, {
    x <- runif(40)
    y <- sin(6 * x) + rnorm(40, 0, .1) + rbinom(40, 1, .1) * sample(c(-1, 1), 40, TRUE) * runif(40, 2, 5)
    at <- seq(0, 1, .02)
    vapply(list(NULL, rewards_robust()), function(rewards) {
      b <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_mean(), rewards = rewards)
      suppressWarnings(b$add(x = matrix(x), reward = y))
      sqrt(mean((b$posterior(x = at)$mean - sin(6 * at))^2))
    }, 0)
  })
  expect_gt(mean(error[1, ]), 0.3)
  expect_lte(mean(error[2, ]), 0.06)
})

# ---- runs ----------------------------------------------------------------------------

test_that("the time of reading, the order of rewards and the way of reporting do not change a bit", {
  contexts <- matrix(c(0, 1))
  makers <- list(
    weights = function() gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary("probit")),
    dense = function() gp_bandit(box_domain(0, 1), tiny_kernel, policy = policy_ts(width_constant(1)), rewards = rewards_counts()),
    context = function() gp_bandit(seq(0, 1, .25), kernel_se(0.5, dims = 1) + kernel_se(0.5, dims = 2), policy = policy_ei(),
                                   rewards = rewards_ordinal(3), contexts = contexts, pending = pending_hallucinate()),
    robust = function() gp_bandit(seq(0, 1, .1), tiny_kernel, 0.1, ucb2, rewards = rewards_robust(),
                                  pending = pending_censor(Inf)),
    window = function() gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary(), changes = change_oracle(window = 4)),
    weighted = function() gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary(),
                                    changes = change_oracle(rate = 0.2, by = "weights")),
    oracle = function() gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary(),
                                  changes = change_oracle(4, explore = 0.1))
  )
  outcome <- function(name, id) switch(name, dense = id %% 4, context = 1 + id %% 3, robust = sin(3 * id), id %% 2)
  for (name in names(makers)) {
    context <- if (name == "context") 1
    set.seed(11)
    b <- makers[[name]]()
    quiet <- makers[[name]]()
    for (t in 1:8) {
      seed <- .Random.seed
      b$suggest(context = context)
      assign(".Random.seed", seed, envir = globalenv())
      quiet$suggest(context = context)
      if (t == 3) next
      id <- if (t == 4) 4:3 else t
      b$posterior(x = 0.3, context = context)
      b$best(context = context)
      b$observe(id, outcome(name, id))
      quiet$observe(rev(id), outcome(name, rev(id)))
    }
    b$amend(5, outcome(name, 6))
    quiet$amend(5, outcome(name, 6))
    b$suggest(context = context)
    quiet$suggest(context = context)
    b$withdraw(9)
    quiet$withdraw(9)
    look <- function(x) x$posterior(x = seq(0, 1, .1), context = context)
    expect_identical(look(b), look(quiet), info = name)
    restored <- b
    for (i in seq_len(by_level(10, 10, quick = 3))) {
      restored <- switch(1 + i %% 3, restored$copy(), from_json(as_json(restored)), unserialize(serialize(restored, NULL)))
      expect_identical(look(restored), look(b), info = name)
    }
    set.seed(3)
    mine <- b$suggest(context = context)
    set.seed(3)
    expect_identical(restored$suggest(context = context), mine, info = name)
    expect_identical(restored$history(), b$history(), info = name)
  }
})

test_that("journals and stores hold sizes, also of repeated and amended rewards", {
  file <- tempfile()
  b <- gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary(), journal = file)
  b$suggest()
  b$observe(1, 3, size = 9)
  b$observe(1, 3, size = 9)
  expect_error(b$observe(1, 3, size = 10), "already has the result", class = "gpbandits_error")
  b$amend(1, 4)                                                       # of nine, still
  b$observe(data.frame(id = b$suggest()$id, reward = 2, size = 5))
  same <- gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary())
  same$add(arm = b$history()$arm, reward = c(4, 2), size = c(9, 5))
  expect_identical(b$posterior(), same$posterior())
  expect_identical(open_bandit(file)$posterior(), b$posterior())
  skip_if_not_installed("RSQLite")
  base <- tempfile(fileext = ".db")
  stored <- gp_bandit(seq(0, 1, .1), tiny_kernel, policy = ucb2, rewards = rewards_binary(), store = bandit_store(base, "yes"))
  stored$suggest()
  stored$observe(1, 3, size = 9)
  stored$amend(1, 4)
  stored$observe(stored$suggest()$id, 2, size = 5)
  other <- open_bandit(bandit_store(base, "yes"))
  expect_identical(other$posterior(), stored$posterior())
  expect_identical(other$posterior(), b$posterior())
})

test_that("a pending query in the variance leaves the mean unchanged and has the expected weight", {
  x4 <- c(tiny_x, 0.25)
  makers <- list(function(...) gp_bandit(x4, tiny_kernel, policy = ucb2, rewards = rewards_binary("probit"), ...),
                 function(...) gp_bandit(box_domain(0, 1), tiny_kernel, policy = ucb2, rewards = rewards_binary("probit"), ...))
  for (make in makers) {
    plain <- make()
    b <- make(pending = pending_hallucinate())
    for (one in list(plain, b)) reported(one, c(1, 8, 1), c(4, 10, 2))
    before <- b$posterior(x = tiny_x, scale = "latent")
    b$add(x = 1)
    b$add(x = 0.25)
    after <- b$posterior(x = tiny_x, scale = "latent")
    expect_equal(after$mean, before$mean, tolerance = 1e-9)
    expect_lt(after$sd[3], before$sd[3])
    f <- plain$posterior(x = c(tiny_x, 0.25), scale = "latent")$mean
    W <- c(testing_entry("cpp_bandit_sites")(as.environment(plain)$handle)$weight, 0)
    W[3:4] <- W[3:4] + dnorm(f[3:4])^2 / (pnorm(f[3:4]) * pnorm(-f[3:4]))
    K <- kernel_gram(tiny_kernel, c(tiny_x, 0.25))
    expect_equal(after$sd, sqrt(diag(K - K %*% solve(K + diag(1 / W), K)))[1:3], tolerance = 1e-8)
  }
})

test_that("weights of older rewards are powers of the likelihood", {
  b <- gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_binary(), changes = change_oracle(rate = 0.5, by = "weights"))
  b$add(arm = c(1, 2, 2), reward = c(1, 1, 0), size = c(1, 2, 1))
  w <- .5^(4 - 1:3)
  reference <- ref_laplace(kernel_gram(tiny_kernel, tiny_x), diag(3)[1:2, ],
                           ref_likelihoods$logit(c(w[1], w[2]), c(w[1], 2 * w[2] + w[3])))
  expect_equal(b$posterior(scale = "latent")$mean, reference$mean, tolerance = 1e-8)
})

# ---- errors -------------------------------------------------------------------

test_that("counts of 1e12 are fitted like small ones, and larger ones are errors", {
  x <- seq(0, 1, length.out = 9)
  at <- c(5, 1, 9, 3)
  k <- outer(x[at], x[at], function(a, b) exp(-(a - b)^2 / 0.18))
  for (most in c(1e3, 1e6, 1e9, 1e12)) {
    b <- gp_bandit(x, kernel_se(0.3), policy = policy_ucb(1), rewards = rewards_counts())
    b$add(arm = at, reward = c(2, 3, 1, most))
    b$add(arm = at[4], reward = most)                         # pooled with the first
    reported <- c(2, 3, 1, most)
    weights <- c(1, 1, 1, 2)
    f <- b$posterior(scale = "latent")$mean[at]
    slope <- weights * (reported - exp(f)) - solve(k, f)          # of the log posterior: 0 at the mode
    expect_lt(max(abs(slope) / (1 + weights * exp(f))), 1e-9)
    b$observe(b$suggest()$id, 2)
    expect_identical(b$copy()$history(), b$history())
  }
  expect_error(b$add(arm = 1, reward = 1e13), "`reward`", class = "gpbandits_error")
})

test_that("impossible rewards of a response type are errors that change nothing", {
  b <- gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_binary())
  b$suggest(2)
  before <- b$history()
  bad <- list(list(1, 0.5), list(1, 2), list(1, -1), list(1, NA), list(1, "maybe"), list(1, 1, size = 0), list(1, 1, size = -2),
              list(1, 1, size = 1.5), list(1, 1, size = NA), list(1, 1, size = "a"), list(1, 3, size = 2), list(1:2, c(1, 3)),
              list(1, 1, noise_var = 1), list(1, 1, constraints = 1), list(3, 1))
  for (one in bad) expect_error(do.call(b$observe, one), class = "gpbandits_error")
  expect_identical(b$history(), before)
  o <- gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_ordinal(c("a", "b", "c")))
  o$suggest()
  for (reward in list("d", 0, 4, 1.5, NA_character_)) expect_error(o$observe(1, reward), "level|reward", class = "gpbandits_error")
  expect_error(o$observe(1, "a", size = 2), "size", class = "gpbandits_error")
  expect_error(gp_ucb(1:3, kernel_se(1), 1)$observe(1, 1, size = 2), class = "gpbandits_error")
  p <- gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_counts())
  p$suggest()
  expect_error(p$observe(1, 1.5), "an integer >= 0", class = "gpbandits_error")
  expect_error(p$posterior(scale = "log"), "scale", class = "gpbandits_error")
  expect_error(p$posterior(level = 1), "level", class = "gpbandits_error")
})

test_that("settings without a meaning for such rewards are errors when the bandit is made", {
  make <- function(policy = ucb2, ..., rewards = rewards_binary()) gp_bandit(tiny_x, tiny_kernel, policy = policy, rewards = rewards, ...)
  refused <- function(arg, ...) {
    error <- expect_error(make(...), class = "gpbandits_error")
    expect_identical(error$argument, arg)
  }
  refused("noise_var", noise_var = 1)
  refused("rewards", outputs = scale_outputs())
  refused("constraints", constraints = constraints_noiseless(1, 5))
  refused("changes", changes = change_detect(sqrt, sqrt))
  refused("changes", changes = change_oracle(rate = 0.1))
  refused("width", policy = policy_ucb(width_amm(1, 1)))
  refused("width", policy = policy_ts(width_srinivas_finite()))
  refused("policy", policy = policy_kg())
  refused("refit", refit = refit_every(5, average = 3))
  refused("failures", failures = "avoid")
  refused("pending", pending = pending_censor(2, value = 0.5))
  for (rewards in list(rewards_robust(), rewards_binary(approximation = "variational"))) {
    noise <- if (rewards$kind == "robust") 0.1
    expect_error(gp_bandit(box_domain(0, 1), tiny_kernel, noise, ucb2, rewards = rewards, engine = "lowrank"), "engine",
                 class = "gpbandits_error")
  }
  expect_error(gp_bandit(tiny_x, tiny_kernel, policy = policy_ucb(width_glm(1)),
                         rewards = rewards_counts(approximation = "variational")), "variational", class = "gpbandits_error")
  for (rule in list(rewards_binary, rewards_counts, rewards_preferences, function(...) rewards_ordinal(3, ...))) {
    expect_error(rule(approximation = "ep"), "approximation", class = "gpbandits_error")
  }
  expect_true(inherits(gp_bandit(tiny_x, tiny_kernel, NULL, ucb2, rewards = rewards_binary()), "GPBandit"))
  expect_error(gp_bandit(tiny_x, tiny_kernel, policy = ucb2), "noise_var", class = "gpbandits_error")
  expect_error(gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_robust()), "noise_var", class = "gpbandits_error")
  expect_error(run_bandit(make(), bandit_problem(tiny_x, tiny_x), 2), "bandit", class = "gpbandits_error")
  for (bad in list(1, character(), c("a", "a"), NA, "a", 1e6)) expect_error(rewards_ordinal(bad), "levels", class = "gpbandits_error")
  for (bad in list(c(1, 0), 1, c(0, NA))) expect_error(rewards_ordinal(3, bad), "cuts", class = "gpbandits_error")
  for (bad in list(0, -1, NA, "a")) expect_error(rewards_robust(bad), "df", class = "gpbandits_error")
  expect_error(rewards_binary("log"), "link", class = "gpbandits_error")
  expect_error(rewards_counts("up"), "direction", class = "gpbandits_error")
  expect_output(print(make()), "successes of trials")
  expect_true(is.na(make()$certificate(stop_gap(0.1))$probability))
  b <- make()
  reported(b, c(1, 8, 1), c(4, 10, 2))
  expect_match(b$certificate(stop_prb(0.1))$assumptions[1], "rewards are successes of trials.*Gaussian approximation")
  for (door in list(auto_bandit, function(...) maximize_bandit(identity, ..., evaluations = 3))) {
    expect_error(door(box_domain(0, 1), rewards = rewards_robust()), "rewards.*outliers", class = "gpbandits_error")
  }
})

test_that("rewards in [0, 1] without a likelihood have the interval of the worked example", {
  b <- gp_bandit(tiny_x, kernel_se(0.5, 0.25), noise_var = 0.25, mean = 0.5, policy = policy_ucb(width_amm(1, 0.5)))
  b$add(arm = 1:3, reward = c(1, 8, 1) / c(4, 10, 2), noise_var = 0.25 / c(4, 10, 2))
  w <- gpbandits:::cpp_bandit_width(as.environment(b)$handle)
  p <- b$posterior(arm = 2)
  expect_equal(c(p$mean - w * p$sd, p$mean + w * p$sd), c(.273, 1.192), tolerance = 1e-3)
})

test_that("plots of probabilities stay within 0 and 1, with the posterior's interval as their band", {
  b <- gp_bandit(1:9 / 9, kernel_se(0.3, 2), policy = policy_ucb(width_constant(2)), rewards = rewards_binary())
  b$add(arm = c(1, 5, 9), reward = c(1, 0, 1))
  local_device()
  shown <- plot(b, width = 3)
  asked <- b$posterior(level = 2 * pnorm(3) - 1)
  expect_equal(shown[c("mean", "sd", "lower", "upper")], asked, ignore_attr = TRUE)
  expect_true(all(shown$lower > 0 & shown$upper < 1))
  expect_lt(min(shown$mean - 3 * shown$sd), 0)
  slices <- plot(b, type = "slices", width = 3)
  at <- match(1, slices$value)
  expect_equal(unlist(slices[at, c("lower", "upper")]), unlist(asked[9, c("lower", "upper")]), tolerance = 1e-8)
})

test_that("three arms: means, probabilities and evidence are as close to integration as in the worked example", {
  k <- c(1, 8, 1)
  n <- c(4, 10, 2)
  K <- kernel_gram(tiny_kernel, tiny_x)
  at <- seq(-8, 8, length.out = 81)                            # a rule that is exact for smooth f that end in 0
  f <- as.matrix(expand.grid(at, at, at))
  log_prior <- -rowSums((f %*% solve(K)) * f) / 2 - c(determinant(2 * pi * K)$modulus) / 2
  log_l <- drop(stats::plogis(f, log.p = TRUE) %*% k + stats::plogis(-f, log.p = TRUE) %*% (n - k))
  weight <- exp(log_prior + log_l) * (at[2] - at[1])^3
  log_z <- log(sum(weight))
  weight <- weight / sum(weight)
  expect_equal(log_z, -11.1682, tolerance = 1e-5)
  expect_equal(drop(crossprod(f, weight)), c(-.29071, .89354, .58519), tolerance = 1e-4, ignore_attr = TRUE)
  chances <- drop(crossprod(stats::plogis(f), weight))
  expect_equal(chances, c(.43679, .69541, .62034), tolerance = 1e-4, ignore_attr = TRUE)
  b <- gp_bandit(tiny_x, tiny_kernel, policy = ucb2, rewards = rewards_binary())
  b$add(arm = 1:3, reward = k, size = n)
  expect_lt(max(abs(b$posterior()$mean - chances)), 0.012)
  expect_lt(max(abs(b$posterior(scale = "latent")$mean - crossprod(f, weight))), 0.064)
  expect_lt(abs(testing_entry("cpp_bandit_sites")(as.environment(b)$handle)$log_evidence - log_z), 0.05)
})
