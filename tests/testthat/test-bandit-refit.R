# refit_every(): when refits take place, their effect on a bandit, and that none can damage it.

refit_x <- seq(0, 1, length.out = 30)
refit_f <- sin(7 * refit_x)

table_of <- function(bandit, column) log_column(bandit, column)
refit_rounds <- function(bandit) table_of(bandit, "id")[table_of(bandit, "kind") == 5L]
in_force <- function(bandit) config_now(bandit)[c("kernel", "noise_var", "mean")]

# Rounds of asking and answering; `f` maps the query to a reward.
play_refits <- function(bandit, rounds, f = function(q) refit_f[q$arm] + rnorm(1, sd = 0.1), ...) {
  for (t in seq_len(rounds)) {
    q <- bandit$suggest(...)
    bandit$observe(q$id, f(q))
  }
  bandit
}

# The marginal likelihood by the plain formula, for a squared-exponential kernel.
plain_likelihood <- function(parameters, x, y) {
  K <- ref_kernel_se(parameters$kernel$lengthscale, parameters$kernel$variance)(x)
  ref_log_likelihood(K, y, parameters$noise_var, parameters$mean)
}

# A bandit with the refitted parameters from the start, given the same data.
same_data <- function(bandit, ...) {
  now <- in_force(bandit)
  h <- bandit$history()
  fresh <- gp_bandit(bandit$config$domain, now$kernel, now$noise_var, bandit$config$policy, mean = now$mean, ...)
  known <- !is.na(h$reward)
  fresh$add(x = as.matrix(h[known, bandit$config$domain$names]), reward = h$reward[known])
  fresh
}

test_that("refits come before the rounds at which they are due, and never with fewer rewards than `minimum`", {
  set.seed(1)
  b <- play_refits(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4)), 17)
  # Before rounds 5 (four rewards are fewer than five), 6, 10, 14.
  expect_equal(refit_rounds(b), c(5, 9, 13, 17)[1:3])
  b <- play_refits(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4, minimum = 2)), 17)
  expect_equal(refit_rounds(b), c(4, 8, 12, 16))
  b <- gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(3, minimum = 2))
  b$suggest(10)
  expect_length(refit_rounds(b), 0)
  b$observe(c(2, 5, 7), c(1, 2, 0.5))
  b$suggest(8)
  expect_equal(refit_rounds(b), c(10, 13, 16))
  expect_equal(nrow(b$history()), 18)
})

test_that("run_bandit() refits at the same rounds as single calls, and makes the same choices", {
  problem <- bandit_problem(refit_x, refit_f)
  make <- function() gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4, minimum = 3))
  one <- play_refits(make(), 14, function(q) refit_f[q$arm])
  run <- run_bandit(make(), problem, 14)
  expect_equal(refit_rounds(run$bandit), refit_rounds(one))
  expect_equal(as.data.frame(run)[names(one$history())], one$history(), tolerance = tol$replay)
})

test_that("after a refit the posterior is that of the new parameters on all data, fitted by gp_fit()", {
  set.seed(2)
  b <- play_refits(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(10, mean = "fit")), 20)
  before <- b$copy()
  b$suggest()
  h <- before$history()
  start <- in_force(before)
  fit <- gp_fit(h$x1, h$reward, start$kernel, start$noise_var, mean = "fit")
  now <- in_force(b)
  expect_equal(now$kernel, fit$kernel)
  expect_equal(now$noise_var, fit$noise_var)
  expect_equal(now$mean, fit$mean)
  expect_false(isTRUE(all.equal(now$kernel, start$kernel)))
  expect_equal(b$posterior(), predict(fit, refit_x)[c("mean", "sd")], tolerance = tol$engine, ignore_attr = TRUE)
  theirs <- ref_posterior_at(ref_kernel_se(now$kernel$lengthscale, now$kernel$variance)(refit_x), h$arm, h$reward,
                             now$noise_var, now$mean)
  expect_lt(max(abs(b$posterior()$mean - theirs$mean), abs(b$posterior()$sd - theirs$sd)), tol$engine)
})

test_that("a refit uses the noise variance of each reward, also of added points and with an output transform", {
  set.seed(8)
  at <- sample(30, 24)
  own <- rep(c(1e-4, 4, NA), 8)
  y <- refit_f[at] + rnorm(24, sd = sqrt(ifelse(is.na(own), 0.01, own)))
  reported <- function(own, outputs = NULL) {
    b <- gp_ucb(refit_x, kernel_se(0.5), 0.1, width = width_constant(2), outputs = outputs, refit = refit_every(10))
    b$add(arm = at[1:20], reward = y[1:20], noise_var = own[1:20])
    b$add(arm = at[21:24])
    b$observe(21:24, y[21:24], noise_var = own[21:24])
    b$suggest()
    b
  }
  b <- reported(own)
  fit <- gp_fit(refit_x[at], y, kernel_se(0.5), 0.1, own_noise = own, mean = 0)
  expect_equal(in_force(b)[1:2], list(kernel = fit$kernel, noise_var = fit$noise_var))
  blind <- reported(rep(NA_real_, 24))
  expect_gt(abs(log(in_force(b)$noise_var / in_force(blind)$noise_var)), 1)
  expect_equal(b$posterior(), predict(fit, refit_x)[c("mean", "sd")], tolerance = 1e-7, ignore_attr = TRUE)
  # A linear map multiplies them; in a log that is played again the parameters are the same.
  b <- reported(own, scale_outputs("minimize", "none"))
  map <- map_in_force(b)
  values <- map_outputs(map, y)
  fit <- gp_fit(refit_x[at], values, kernel_se(0.5), 0.1, own_noise = own / (map$scale * map$bulk * map$spread)^2, mean = 0)
  expect_equal(in_force(b)$kernel, fit$kernel)
  expect_identical(unserialize(serialize(b, NULL))$posterior(), b$posterior())
  # A reward that came too late has no effect, nor has its noise.
  late <- gp_ucb_sdf(refit_x, kernel_se(0.5), 0.1, m = 2, value = -1, refit = refit_every(6))
  late$suggest(6)
  late$observe(c(6, 5, 1), c(0.5, 0.7, 9), noise_var = c(NA, 0.3, 1e-4))
  late$suggest()
  fit <- gp_fit(late$history()$x1[1:6], c(-1, -1, -1, -1, 0.7, 0.5), kernel_se(0.5), 0.1,
                own_noise = c(NA, NA, NA, NA, 0.3, NA), mean = 0)
  expect_equal(in_force(late)$kernel, fit$kernel)
})

test_that("without mean = \"fit\" the prior mean stays, also one per arm", {
  set.seed(3)
  prior <- 2 + refit_x
  b <- gp_ucb(refit_x, kernel_se(0.5), 0.1, mean = prior, refit = refit_every(6))
  play_refits(b, 7, function(q) 2 + refit_x[q$arm] + refit_f[q$arm] + rnorm(1, sd = 0.1))
  h <- b$history()[1:6, ]
  fit <- gp_fit(h$x1, h$reward - prior[h$arm], kernel_se(0.5), 0.1, mean = 0)
  expect_equal(in_force(b), list(kernel = fit$kernel, noise_var = fit$noise_var, mean = prior))
  far <- rowSums(abs(outer(refit_x, h$x1, "-")) < 3 * fit$kernel$lengthscale) == 0
  expect_equal(b$posterior()$mean[far], prior[far], tolerance = 1e-2)
})

test_that("the likelihood never decreases, for any data", {
  for (seed in 1:6) {
    set.seed(seed)
    size <- 10^runif(1, -2, 2)
    b <- gp_ucb(refit_x, kernel_se(exp(rnorm(1)), exp(rnorm(1))), exp(rnorm(1)),
                refit = refit_every(5, mean = if (seed %% 2) "fit" else "keep"))
    for (refits in 1:3) {
      play_refits(b, 5, function(q) size * (refit_f[q$arm] + rt(1, 2)))
      before <- in_force(b)
      h <- b$history()
      b$suggest()
      expect_length(b$refits, refits)
      expect_gte(plain_likelihood(in_force(b), h$x1, h$reward), plain_likelihood(before, h$x1, h$reward) - 1e-7)
      b$observe(nrow(b$history()), 0)
    }
  }
})

test_that("with priors the posterior density never decreases, and the priors have an effect", {
  set.seed(4)
  prior <- list(se.lengthscale = c(meanlog = log(0.05), sdlog = 0.1))
  free <- play_refits(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(12)), 13)
  set.seed(4)
  held <- play_refits(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(12, priors = prior)), 13)
  away <- function(b) abs(log(in_force(b)$kernel$lengthscale / 0.05))
  expect_lt(away(held), min(0.5, away(free)))
})

test_that("refits are events: copies, files and replays in fresh processes are identical", {
  makers <- list(
    arms = function() gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4, mean = "fit")),
    ts = function() gp_ts(refit_x, kernel_matern(2.5, 0.5), 0.1, B = 1, R = 0.1, refit = refit_every(4)),
    played = function() gp_ei(refit_x, kernel_se(0.5), 0.1, engine = "played", refit = refit_every(4)),
    censored = function() gp_ucb_sdf(refit_x, kernel_se(0.5), 0.1, m = 3, refit = refit_every(4)),
    hallucinated = function() gp_bucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4)),
    box = function() gp_ei(list(x1 = c(0, 1)), kernel_matern(2.5, 0.5), 0.1, refit = refit_every(4)))
  for (name in names(makers)) {
    set.seed(5)
    b <- makers[[name]]()
    # Some rewards come late, some never.
    for (t in 1:14) {
      q <- b$suggest()
      if (t %% 3) b$observe(q$id, sin(7 * q$x1))
      if (t %% 6 == 0) b$observe(t - 3, 0.3)
    }
    expect_gte(length(b$refits), 2)
    file <- tempfile()
    saveRDS(b, file)
    others <- list(b$copy(), readRDS(file), unserialize(serialize(b, NULL)))
    unlink(file)
    states <- lapply(c(list(b), others), function(one) {
      set.seed(6)
      list(posterior = one$posterior(refit_x), gain = one$information_gain(), next_ones = one$suggest(6),
           refits = one$refits)
    })
    for (state in states[-1]) expect_equal(state, states[[1]], tolerance = tol$replay, info = name)
  }
})

test_that("reset() removes refits and restores the first parameters", {
  set.seed(7)
  b <- play_refits(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4, minimum = 2)), 9)
  expect_length(b$refits, 2)
  b$reset()
  expect_identical(in_force(b)$kernel, kernel_se(0.5))
  expect_equal(b$posterior()$sd, rep(1, 30))
})

test_that("if a fit fails, the parameters stay, with a warning, and the bandit continues", {
  # The squares of such rewards are infinite, and so is their likelihood.
  b <- gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = refit_every(4, minimum = 2))
  b$add(arm = c(3, 10, 20, 28), reward = c(1, -2, 3, 1) * 3e149)
  expect_warning(b$suggest(), "refit after round 4 failed, and the parameters are unchanged", class = "gpbandits_refit_failed")
  expect_identical(in_force(b)$kernel, kernel_se(0.5))
  expect_identical(in_force(b)$noise_var, 0.1)
  expect_true(all(is.finite(b$posterior()$mean)))
  # The next one is due four queries later, and a copy has the failure behind it.
  for (k in 1:3) expect_silent(b$suggest())
  expect_silent(b$copy()$posterior())
  expect_warning(b$suggest(), "refit after round 8 failed")
})

test_that("parameters that the core rejects leave the bandit unchanged, except for a warning", {
  for (domain in list(refit_x, list(x1 = c(0, 1)))) {
    set.seed(8)
    b <- gp_bandit(domain, kernel_se(0.3), 0.1, policy_ucb(width_constant(2)), refit = refit_every(50))
    play_refits(b, 6, function(q) sin(7 * q$x1))
    before <- b$posterior(refit_x)
    # Refused before anything is changed, and halfway through.
    bad <- if (is.list(domain)) list(kernel = kernel_se(0.2), noise_var = NaN, mean = 0)
           else list(kernel = replace(kernel_se(0.2), "lengthscale", -1), noise_var = 0.1, mean = 0)
    expect_warning(gpbandits:::apply_refit(as.environment(b), bad, in_force(b)), "refit after round 6 failed")
    expect_equal(b$posterior(refit_x), before, tolerance = tol$replay)
    expect_identical(in_force(b)$noise_var, 0.1)
    expect_equal(b$copy()$posterior(refit_x), before, tolerance = tol$replay)
    expect_equal(nrow(b$suggest()), 1)
  }
})

test_that("a refit and the query after it are one change: if the query fails, the refit is undone", {
  fails <- FALSE
  broken <- policy_function(function(mean, sd, t) if (fails) stop("on purpose") else mean + 2 * sd)
  b <- gp_bandit(list(x1 = c(0, 1)), kernel_se(0.3), 0.1, broken, refit = refit_every(5))
  set.seed(7)
  play_refits(b, 5, function(q) sin(7 * q$x1))
  before <- b$posterior(refit_x)
  fails <- TRUE
  expect_error(b$suggest(), "on purpose")
  expect_length(as.environment(b)$refits, 0)
  expect_equal(nrow(b$history()), 5)
  expect_equal(b$posterior(refit_x), before, tolerance = tol$replay)
  fails <- FALSE
  b$suggest()
  expect_length(as.environment(b)$refits, 1)
  expect_equal(nrow(b$history()), 6)
})

test_that("constant rewards, a single arm and repeated points can be refitted", {
  set.seed(9)
  for (domain in list(refit_x, 0.4, rep(0.4, 5), list(x1 = c(0, 1)))) {
    b <- gp_bandit(domain, kernel_se(0.3), 0.1, policy_ucb(width_constant(2)), refit = refit_every(5, mean = "fit"))
    expect_silent(play_refits(b, 12, function(q) 3))
    expect_true(all(is.finite(unlist(b$posterior(refit_x)))))
    expect_equal(b$best()$mean, 3, tolerance = 1e-6)
  }
})

test_that("under pending_censor() the fit uses the censored values, as the posterior mean does", {
  b <- gp_ucb_sdf(refit_x, kernel_se(0.5), 0.1, m = 2, value = -1, refit = refit_every(6))
  b$suggest(6)
  b$observe(c(6, 5, 1), c(0.5, 0.7, 9))          # the first one came too late
  b$suggest()
  h <- b$history()[1:6, ]
  fit <- gp_fit(h$x1, c(-1, -1, -1, -1, 0.7, 0.5), kernel_se(0.5), 0.1, mean = 0)
  expect_equal(in_force(b)$kernel, fit$kernel)
  expect_equal(in_force(b)$noise_var, fit$noise_var)
})

test_that("contexts are inputs of the fit, listed or open", {
  kernel <- kernel_se(c(0.5, 0.5))
  table <- cbind(z = c(0, 0.5, 1))
  for (contexts in list(table, "z")) {
    for (domain in list(refit_x, list(x1 = c(0, 1)))) {
      set.seed(10)
      b <- gp_bandit(domain, kernel, 0.1, policy_ucb(width_constant(2)), contexts = contexts, refit = refit_every(8))
      for (t in 1:9) {
        q <- b$suggest(context = table[t %% 3 + 1, ])
        b$observe(q$id, sin(7 * q$x1) + q$z)
      }
      h <- b$history()[1:8, ]
      fit <- gp_fit(as.matrix(h[c("x1", "z")]), h$reward, kernel, 0.1, mean = 0)
      expect_equal(in_force(b)$kernel$lengthscale, fit$kernel$lengthscale)
      expect_equal(in_force(b)$noise_var, fit$noise_var)
    }
  }
})

test_that("logarithmic inputs are fitted in logarithms", {
  set.seed(11)
  b <- gp_bandit(box_domain(c(cost = 1e-3), c(cost = 1e3), log = "cost"), kernel_se(2), 0.1,
                 policy_ucb(width_constant(2)), refit = refit_every(8))
  play_refits(b, 9, function(q) sin(log(q$cost)))
  h <- b$history()[1:8, ]
  expect_equal(in_force(b)$kernel, gp_fit(log(h$cost), h$reward, kernel_se(2), 0.1, mean = 0)$kernel, tolerance = 1e-3)
})

test_that("the entries of kernel_matrix() stay, and the other factor is fitted", {
  set.seed(12)
  K <- ref_kernel_se(0.2)(refit_x)
  b <- gp_ucb(refit_x, kernel_matrix(K) * kernel_se(3), 0.1, refit = refit_every(8))
  play_refits(b, 9)
  now <- in_force(b)$kernel
  expect_identical(now$parts[[1]], kernel_matrix(K))
  h <- b$history()[1:8, ]
  # By the plain formula: no common factor of variance and noise does better.
  plain <- function(scale) {
    gram <- K[h$arm, h$arm] * ref_kernel_se(now$parts[[2]]$lengthscale, scale * now$parts[[2]]$variance)(h$x1)
    ref_log_likelihood(gram, h$reward, scale * in_force(b)$noise_var)
  }
  expect_gte(plain(1), max(plain(0.9), plain(1.1)) - 1e-6)
})

test_that("after a restart the fit uses only the new segment", {
  set.seed(13)
  b <- gp_ucb_cpd(refit_x, kernel_se(0.5), 0.1, changes = change_oracle(10, explore = 0.5), width = width_constant(2),
                  refit = refit_every(8, minimum = 4))
  play_refits(b, 17, function(q) if (q$id <= 10) 50 + refit_f[q$arm] else refit_f[q$arm])
  h <- b$history()
  expect_equal(refit_rounds(b), c(8, 16))
  expect_equal(h$segment, rep(1:2, c(10, 7)))
  first <- b$refits[[1]]
  fit <- gp_fit(h$x1[11:16], h$reward[11:16], first$kernel, first$noise_var, mean = 0)
  expect_equal(in_force(b)$kernel, fit$kernel)
})

test_that("under constraints the fit uses the rewards minus their penalties", {
  set.seed(14)
  b <- gp_ucb_noiseless_constraints(refit_x, kernel_se(0.5), 0.1, B = 1, R = 0.1, delta = 0.1, epoch = 5, epochs = 4,
                                    refit = refit_every(7), width = width_constant(2))
  for (t in 1:7) {
    q <- b$suggest()
    b$observe(q$id, refit_f[q$arm], constraints = q$x1 - 0.5)
  }
  known <- gpbandits:::cpp_bandit_known(gpbandits:::rebuild(b)$handle, 1L)
  h <- b$history()
  expect_false(isTRUE(all.equal(known$value, h$reward)))
  b$suggest()
  # What was known may have changed with an epoch's end, but not between rounds 7 and 8.
  fit <- gp_fit(h$x1, known$value, kernel_se(0.5), 0.1, mean = 0)
  expect_equal(in_force(b)$kernel, fit$kernel)
  expect_equal(b$copy()$posterior(), b$posterior(), tolerance = tol$replay)
})

test_that("settings that gp_fit() or the kernel does not allow are errors at once", {
  refused <- function(code, argument) {
    expect_identical(expect_error(code, class = "gpbandits_error")$argument, argument)
  }
  refused(refit_every(0), "rounds")
  refused(refit_every(5, minimum = 1), "minimum")
  refused(refit_every(5, mean = 3), "mean")
  refused(refit_every(5, strats = 2), "strats")
  refused(refit_every(5, 5, "fit", 2), "...")
  refused(refit_every(5, starts = 0), "starts")
  refused(refit_every(5, iterations = NULL), "iterations")
  refused(refit_every(5, fix_noise = NA), "fix_noise")
  refused(refit_every(5, lower = c(se.variance = -1)), "lower")
  refused(refit_every(5, upper = 3), "upper")
  refused(refit_every(5, priors = list(se.variance = 1)), "priors$se.variance")
  make <- function(..., kernel = kernel_se(0.5)) gp_ucb(refit_x, kernel, 0.1, refit = refit_every(5, ...))
  refused(make(lower = c(matern.variance = 1)), "refit")
  refused(make(priors = list(se.lengthscale1 = c(0, 1))), "refit")
  refused(make(lower = c(se.variance = 2)), "refit")
  refused(make(upper = c(noise_var = 0.01)), "refit")
  refused(make(kernel = kernel_matrix(diag(30))), "refit")
  refused(gp_ucb(refit_x, kernel_se(0.5), 0.1, refit = 5), "refit")
  expect_s3_class(refit_every(5, lower = list(se.variance = 0.5), priors = NULL), "bandit_refit")
})

test_that("bounds hold in all refits, and equal bounds fix a parameter", {
  set.seed(15)
  b <- gp_ucb(refit_x, kernel_se(0.3), 0.1,
              refit = refit_every(6, lower = c(se.lengthscale = 0.3), upper = list(se.lengthscale = 0.3, noise_var = 0.1)))
  play_refits(b, 14)
  expect_length(b$refits, 2)
  expect_equal(in_force(b)$kernel$lengthscale, 0.3)
  expect_lte(in_force(b)$noise_var, 0.1 * (1 + 1e-12))
  expect_false(in_force(b)$kernel$variance == 1)
})

test_that("many points are distinct ones with rewards: replicates, and zeros of both signs, count once", {
  many <- function(x, pending = NULL) {
    b <- gp_bandit(list(u = c(-1, 1), v = c(-1, 1)), kernel_se(0.5), 0.1, policy_ei(), outputs = scale_outputs(),
                   refit = refit_every(1e6, minimum = 1e6))
    b$add(x, reward = rep(0, nrow(x)))
    if (!is.null(pending)) b$add(pending)
    inside <- as.environment(b)
    plan <- gpbandits:::prepared_refits(inside)$plans[[1]]
    found <- gpbandits:::has_many_points(inside, plan)
    # A bandit from a file, whose core object is not made yet.
    expect_identical(gpbandits:::has_many_points(as.environment(unserialize(serialize(b, NULL))), plan), found)
    found
  }
  x <- unname(cbind(seq(-1, 1, length.out = 301), 0))
  expect_true(many(x))
  expect_false(many(rbind(x[-1, ], x[2:99, ])))
  expect_false(many(rbind(x[-1, ], x[-1, ] * rep(c(1, -1), each = 300))))
  expect_false(many(x[-1, ], pending = x[1, , drop = FALSE]))
})

test_that("a refit to rewards without noise gives a model for the whole space", {
  # The prior variance at the rewarded points is much less than elsewhere.
  b <- gp_bandit(box_domain(0, 1e5), kernel_linear(), 1e-2, policy_uniform(), refit = refit_every(1, minimum = 3))
  b$add(x = c(0.1, 0.2, 0.3, 0.5), reward = c(0.1, 0.2, 0.3, 0.5))
  expect_no_warning(b$suggest())
  expect_false(identical(in_force(b)$kernel, kernel_linear()))
  # A product of kernels, and several models.
  space <- search_space(option = letters[1:4], rate = param_integer(1, 5), net = LETTERS[1:3])
  set.seed(1)
  b <- auto_bandit(space)
  expect_no_warning(for (round in 1:6) {
    q <- b$suggest(8)
    b$observe(q$id, -abs(q$rate - 3) - (q$option != "c") - 0.5 * (q$net != "B"))
  })
})

test_that("what a refit takes does not grow with the numbers of readings", {
  bandit <- auto_bandit(list(a = c(0, 1)), n_initial = 4)
  times <- c(9e3, 1, 8e3, 9e3)
  for (k in 1:4) bandit$observe(bandit$suggest()$id, k %% 3, size = times[k], sd = 0.1)
  frame <- as.environment(bandit)
  gpbandits:::rebuild(frame)
  known <- gpbandits:::cpp_bandit_measurements(frame$handle, 1L, NULL, 0.1)
  expect_lte(length(known$id), 12)
  expect_equal(as.vector(rowsum(known$count, known$id)), times)
  expect_equal(as.vector(rowsum(known$count * known$value, known$id)) / times, 1:4 %% 3)
  # An untrusted file can state any number, and a fit of it is a fit of few numbers.
  text <- as_json(bandit)
  many <- gsub("\\b[89]000\\b", "1e9", text)
  expect_false(identical(many, text))
  for (one in list(from_json(text), from_json(many))) {
    expect_identical(nrow(one$suggest()), 1L)
    expect_gt(length(as.environment(one)$refits), 0)
  }
  expect_error(logLik(from_json(many)), "at most 1e\\+06 readings", class = "gpbandits_state_error")
})
