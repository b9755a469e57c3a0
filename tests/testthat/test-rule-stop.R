# Stop rules: their numbers against the formulas, their guarantees on problems with a known truth.

stop_level <- by_level(12, 200, quick = 6)

tiny_data <- function(policy = policy_ucb(width_constant(2)), ...) {
  tiny <- ref_tiny()
  b <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, policy, ...)
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

ref_gap <- function(mean, sd, w) max(mean + w * sd) - max(mean - w * sd)

test_that("the gap equals that of the worked example", {
  tiny <- ref_tiny()
  expect_equal(ref_gap(tiny$mean, tiny$sd, 2), 0.828050, tolerance = 1e-5)
  b <- tiny_data()
  found <- b$certificate(stop_gap(0.83))
  expect_equal(found$gap, ref_gap(tiny$mean, tiny$sd, 2), tolerance = tol$engine)
  expect_true(found$certified)
  expect_false(b$certificate(stop_gap(0.82))$certified)
  expect_equal(found$point$arm, which.max(tiny$mean - 2 * tiny$sd))
  expect_true(is.na(found$probability))
  expect_identical(b$certificate()$gap, found$gap)
  wrong <- b$certificate(stop_gap(1, width_ec(width_constant(2), 0.1)))
  expect_equal(wrong$gap, ref_gap(tiny$mean, tiny$sd, 2 + 0.1 * sqrt(3 / 0.01)) + 0.2, tolerance = tol$engine)
  srinivas <- b$certificate(stop_gap(1, width_srinivas_finite(0.1)))
  expect_equal(srinivas$gap, 1.800109, tolerance = 1e-5)
  expect_equal(srinivas$probability, 0.9)
})

test_that("pending queries do not narrow the gap", {
  b <- tiny_data(pending = pending_hallucinate())
  before <- b$certificate(stop_gap(1))$gap
  b$suggest(5)
  expect_equal(b$certificate(stop_gap(1))$gap, before, tolerance = tol$identity)
})

test_that("a gap on a box equals that of a fine grid", {
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_ei())
  b$add(x = cbind(c(0.1, 0.35, 0.6, 0.95)), reward = sin(5 * c(0.1, 0.35, 0.6, 0.95)))
  p <- b$posterior(x = cbind(seq(0, 1, length.out = 4001)))
  found <- b$certificate(stop_gap(1, width_constant(1.5)))
  expect_equal(found$gap, ref_gap(p$mean, p$sd, 1.5), tolerance = 1e-5)
  at <- b$posterior(x = cbind(found$point$x1))
  expect_equal(at$mean - 1.5 * at$sd, max(p$mean - 1.5 * p$sd), tolerance = 1e-5)
  expect_error(b$certificate(stop_gap(1)), class = "gpbandits_error")
})

test_that("only widths with a theorem give a probability", {
  claim <- function(width, noise_var = 0.01, ...) {
    b <- gp_bandit(1:5, kernel_se(1), noise_var, policy_ucb(width), ...)
    b$add(arm = 2, reward = 1)
    b$certificate()$probability
  }
  expect_equal(claim(width_srinivas_finite(0.05)), 0.95)
  expect_true(is.na(claim(width_srinivas_finite(0.05, scale = 1 / 5))))
  expect_equal(claim(width_amm(1, 0.1, 0.2)), 0.8)
  expect_equal(claim(width_realized(1, 0.1, 0.2)), 0.8)
  expect_equal(claim(width_igp(1, 0.1, 0.2), noise_var = 1.1), 0.8)
  # With lambda >= 1 this width is never narrower than width_realized(); below it may be.
  expect_equal(claim(width_igp(1, 0.1, 0.2), noise_var = 1), 0.8)
  expect_true(is.na(claim(width_igp(1, 0.1, 0.2), noise_var = 0.99)))
  expect_true(is.na(claim(width_igp(1, 0.1, 0.2))))
  expect_true(is.na(claim(width_igp(1, 0.1, 0.2, gain = 3), noise_var = 1.1)))
  expect_true(is.na(claim(width_function(sqrt))))
  expect_equal(claim(width_ec(width_amm(1, 0.1, 0.2), 0.1)), 0.8)
  expect_true(is.na(claim(width_amm(1, 0.1, 0.2), pending = pending_censor(3))))
  expect_true(is.na(claim(width_amm(1, 0.1, 0.2), changes = change_never())))
  expect_true(is.na(claim(width_amm(1, 0.1, 0.2), refit = refit_every(5))))
  for (width in list(width_irgp(), width_dmm(1, 0.1, 0.2))) {
    b <- gp_bandit(1:5, kernel_se(1), 0.1, policy_ucb(width))
    b$add(arm = 2, reward = 1)
    expect_error(b$certificate(stop_gap(1)), class = "gpbandits_error")
    expect_equal(b$certificate()$probability, 0.95)
  }
})

test_that("a transform fitted to the rewards removes every width's probability, and a fixed one does not", {
  claim <- function(outputs, width) {
    b <- gp_bandit(1:9, kernel_se(1), 0.1, policy_ucb(width), outputs = outputs)
    b$add(arm = 1:9, reward = sin(1:9))
    b$suggest()
    b$certificate(stop_gap(1))
  }
  for (width in list(width_amm(1, 0.1, 0.2), width_srinivas_finite(0.2))) {
    fitted <- claim(scale_outputs(), width)
    expect_true(is.na(fitted$probability))
    expect_identical(fitted$assumptions, "rewards are scaled by a map fitted to them: no theorem")
    expect_equal(claim(scale_outputs(centre = 0, scale = 1), width)[c("gap", "probability")],
                 claim(NULL, width)[c("gap", "probability")])
    expect_equal(claim(NULL, width)$probability, 0.8)
  }
  b <- gp_bandit(1:9, kernel_se(1), 0.1, policy_ei(), outputs = scale_outputs())
  b$add(arm = 1:9, reward = sin(1:9))
  for (rule in list(NULL, stop_prb(0.1))) {
    expect_match(b$certificate(rule)$assumptions, "map fitted so far (as if it were given)", fixed = TRUE, all = FALSE)
  }
})

test_that("every draw is converted to rewards separately", {
  set.seed(325)
  b <- gp_bandit(1:12, kernel_se(2), 0.01, policy_ei(), outputs = scale_outputs("minimize", "power"))
  b$add(arm = 1:12, reward = exp(2 * sin(1:12)))
  b$suggest()
  map <- current_config(as.environment(b))$output_map
  expect_false(map$lambda == 1)
  # E back(f + noise) by sums over a fine grid.
  e <- seq(-8, 8, length.out = 401)
  expected <- function(f) vapply(f, function(v) sum(dnorm(e) * unmap_outputs(map, v + 0.1 * e)) / sum(dnorm(e)), 0)
  contexts <- contexts_for(b, NULL, 1L)
  set.seed(326)
  core <- shortfalls(as.environment(b), contexts, 60)
  set.seed(326)
  drawn <- drawn_maxima(as.environment(b), contexts)(60)
  expect_equal(core, expected(drawn[, 2]) - expected(drawn[, 1]), tolerance = 1e-4)
  expect_gte(min(core), 0)
})

test_that("claims state their assumptions on noise variances of single rewards, and on their time of arrival", {
  asked <- function(width, noise_var = 0.01, own = 0.04, record = TRUE) {
    b <- gp_bandit(1:5, kernel_se(1), noise_var, policy_ucb(width))
    b$suggest()
    b$observe(1, 1, noise_var = own)
    b$certificate()
  }
  scales <- asked(width_amm(1, 0.1, 0.2))
  expect_equal(scales$probability, 0.8)
  expect_match(scales$assumptions, "0.1 sqrt(s / 0.01)-sub-Gaussian", fixed = TRUE)
  expect_match(asked(width_realized(1, 0.1, 0.2, "bounded"))$assumptions, "whatever noise variance", fixed = TRUE)
  expect_false(any(grepl("sqrt", asked(width_amm(1, 0.1, 0.2), own = NULL)$assumptions)))
  expect_match(asked(width_srinivas_finite(0.1))$assumptions, "or as given with the reward")
  expect_true(is.na(asked(width_igp(1, 0.1), 1.1)$probability))
  expect_equal(asked(width_igp(1, 0.1), 1.1, own = NULL)$probability, 0.9)
  # One query, one reward, in order: nothing is to be assumed of when rewards come.
  at_will <- "when a reward arrives, fails or is withdrawn does not depend on its value"
  b <- gp_bandit(1:5, kernel_se(1), 0.1, policy_ucb(width_amm(1, 0.1)))
  says <- function() at_will %in% b$certificate()$assumptions
  for (t in 1:3) b$observe(b$suggest()$id, 0.1)
  expect_false(says())
  b$suggest()
  expect_false(says())
  b$suggest()
  expect_true(says())
  b$observe(4:5, c(0, 0))
  expect_true(says())
  b <- gp_bandit(1:5, kernel_se(1), 0.1, policy_ucb(width_amm(1, 0.1)))
  b$fail(b$suggest()$id)
  expect_true(says())
  expect_true(at_will %in% b$certificate(stop_prb(1))$assumptions)
  # Choices have followed a reward that was wrong: what every claim then rests on is said, of widths from the prior too.
  for (width in list(width_amm(1, 0.1), width_srinivas_finite(0.1))) {
    b <- gp_bandit(1:5, kernel_se(1), 0.1, policy_ucb(width))
    for (t in 1:3) b$observe(b$suggest()$id, 0.1)
    for (rule in list(NULL, stop_prb(1))) {
      reported <- b$copy()
      expect_false(any(grepl("amended", reported$certificate(rule)$assumptions)))
      reported$amend(2, 0.3)
      expect_match(reported$certificate(rule)$assumptions, "which rewards were amended does not depend", all = FALSE)
    }
  }
})

# A function of a kernel's space with norm B, after `parts` random centres.
ref_rkhs <- function(K, B, parts = 8) {
  at <- sample(nrow(K), parts)
  weight <- rnorm(parts)
  drop(K[, at] %*% weight) * B / sqrt(drop(weight %*% K[at, at] %*% weight))
}

test_that("norm widths cover if R bounds the noise and the given variances are too small", {
  runs <- by_level(12, 300)
  x <- seq(0, 1, length.out = 30)
  K <- ref_kernel_se(0.2)(x)
  missed <- vapply(seq_len(runs), function(seed) {
    set.seed(500 + seed)
    f <- ref_rkhs(K, 1)
    rows <- sample(30, 60, TRUE)
    own <- ifelse(runif(60) < 0.5, NA, 1e-4)
    b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(width_constant(1)))
    b$add(arm = rows, reward = f[rows] + rnorm(60, sd = 0.1), noise_var = own)
    p <- b$posterior()
    misses <- function(width) any(abs(f - p$mean) > b$certificate(stop_gap(1, width))$width * p$sd)
    c(misses(width_amm(1, 0.1)), misses(width_amm(1, 0.1, noise = "bounded")),
      misses(width_realized(1, 0.1, noise = "bounded")))
  }, c(TRUE, TRUE, TRUE))
  # (What made the first void: nearly every run.)
  expect_gt(mean(missed[1, ]), 0.8)
  for (k in 2:3) expect_gt(stats::binom.test(sum(missed[k, ]), runs, 0.1, "greater")$p.value, tol$p_value)
})

test_that("the width for stopping on a box, and its parts, equal the worked example", {
  numbers <- list(c(2, 3.03053, 4.38938, 5.66169), c(0.1, 2.89364, 3.83787, 5.11242))
  for (row in numbers) {
    for (k in 1:3) {
      t <- c(1, 4, 20)[k]
      b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.01, policy_ei())
      if (t > 1) b$add(x = seq(0, 1, length.out = t - 1), reward = sin(seq_len(t - 1)))
      width <- width_srinivas_box(0.1, a = 1, b = row[1], r = 1, d = 1)
      found <- b$certificate(stop_gap(1, width))
      m <- max(1, ceiling(row[1] * sqrt(log(20)) * t^2 / 2))
      expect_equal(found$width, sqrt(2 * log((m + 1) * pi^2 * t^2 / 0.3)))
      expect_equal(found$width, row[k + 1], tolerance = 2e-6)
      plain <- b$certificate(stop_gap(1, width_constant(found$width)))
      expect_equal(found$gap, plain$gap + 1 / t^2)
    }
  }
  # Pending queries are no rewards; the slack is the user's, or the prior's sd.
  b <- gp_bandit(list(x = c(0, 2), y = c(0, 3)), kernel_se(1, variance = 4), 0.01, policy_ei(),
                 pending = pending_hallucinate())
  b$suggest(3)
  gap <- function(...) b$certificate(stop_gap(1, width_srinivas_box(0.1, 1, 1, 3, 2, ...)))
  expect_equal(gap()$width, sqrt(2 * log((ceiling(sqrt(log(40)) * 6 / 4)^2 + 1) * pi^2 / 0.3)))
  expect_equal(gap(slack = 2), gap())
  expect_equal(gap(slack = 1e-3)$width, sqrt(2 * log((ceiling(sqrt(log(40)) * 6 / 2e-3)^2 + 1) * pi^2 / 0.3)))
  expect_true(is.finite(gap(slack = 1e-100)$width))
  # No logarithm is negative.
  expect_equal(b$certificate(stop_gap(1, width_srinivas_box(0.9, 0.1, 5, 3, 2)))$width,
               sqrt(2 * log(2 * pi^2 / 2.7)))
  claim <- function(width, ...) {
    b <- gp_bandit(list(x = c(0, 2)), kernel_se(1), 0.01, policy_ei(), ...)
    b$add(x = 1, reward = 1)
    b$certificate(stop_gap(1, width))
  }
  expect_equal(claim(width_srinivas_box(0.1, 1, 1, 2, 1))$probability, 0.9)
  expect_match(claim(width_srinivas_box(0.1, 1, 1, 2, 1))$assumptions, "found the largest upper bound", all = FALSE)
  for (wrong in list(width_srinivas_box(0.1, 1, 1, 1.9, 1), width_srinivas_box(0.1, 1, 1, 2, 2),
                     width_srinivas_compact(0.1, 1, 1, 2, 1))) {
    expect_true(is.na(claim(wrong)$probability))
  }
  expect_true(is.na(claim(width_srinivas_box(0.1, 1, 1, 2, 1), refit = refit_every(3))$probability))
  expect_error(gp_ucb(1:3, kernel_se(1), 0.1, width = width_srinivas_box(0.1, 1, 1, 2, 1)), "for a box",
               class = "gpbandits_error")
  for (bad in list(list(delta = 0), list(a = 0), list(b = -1), list(r = NA), list(d = 1.5), list(slack = 0))) {
    good <- list(delta = 0.1, a = 1, b = 1, r = 1, d = 1)
    expect_error(do.call(width_srinivas_box, utils::modifyList(good, bad)), class = "gpbandits_error")
  }
})

test_that("Rice's constants bound the slopes of paths", {
  x <- seq(0, 1, length.out = 120)
  l <- 0.2
  # Covariance of the derivative of a path with the squared-exponential kernel.
  K <- outer(x, x, function(s, t) (1 - (s - t)^2 / l^2) / l^2 * exp(-(s - t)^2 / (2 * l^2)))
  a <- 1 + sqrt(3) / l / pi
  b <- sqrt(2) / l
  expect_equal(c(a, b), c(3.757, 7.071), tolerance = 1e-3)
  runs <- by_level(200, 4000)
  set.seed(327)
  steepest <- apply(abs(ref_draw_normal(runs, rep(0, 120), K)), 1, max)
  for (L in c(10, 13, 16)) {
    bound <- min(1, a * exp(-(L / b)^2))
    expect_gt(stats::binom.test(sum(steepest > L), runs, bound, "greater")$p.value, tol$p_value)
  }
})

test_that("certified regrets on a box hold on draws from the prior", {
  skip_on_cran()
  runs <- by_level(5, 60, quick = 2)
  x <- seq(0, 1, length.out = 401)
  K <- ref_kernel_se(0.3)(x)
  width <- width_srinivas_box(0.1, a = 1 + sqrt(3) / 0.3 / pi, b = sqrt(2) / 0.3, r = 1, d = 1)
  missed <- vapply(seq_len(runs), function(seed) {
    set.seed(600 + seed)
    path <- as.vector(ref_draw_normal(1, rep(0, 401), K))
    f <- stats::approxfun(x, path)
    b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.01, policy_ucb(width_constant(2)))
    any(vapply(1:25, function(t) {
      q <- b$suggest()
      b$observe(t, f(q$x) + rnorm(1, sd = 0.1))
      found <- b$certificate(stop_gap(0.1, width))
      max(path) - f(found$point$x) > found$gap
    }, TRUE))
  }, TRUE)
  expect_gt(stats::binom.test(sum(missed), runs, 0.1, "greater")$p.value, tol$p_value)
})

# Clopper-Pearson by its definition: the proportions that a one-sided test at level `side` just rejects.
ref_interval <- function(k, n, side) stats::binom.test(k, n, conf.level = 1 - 2 * side)$conf.int[1:2]

test_that("the probabilistic regret bound adds samples until an interval decides", {
  expect_equal(floor(16 * 1.5^(0:8)), c(16, 24, 36, 54, 81, 121, 182, 273, 410))
  share <- function(always) {
    failure_interval(function(n) rep(always, n), 1, 0.025, 0.025, 20000)
  }
  none <- share(0)
  expect_equal(none$draws, 410)
  expect_equal(none$upper, 0.02218, tolerance = 1e-3)
  side <- 0.025 * 9^-1.1 / 11 / 2
  expect_equal(c(none$lower, none$upper), ref_interval(0, 410, side), tolerance = 1e-9)
  all <- share(2)
  expect_equal(all$draws, 16)
  expect_equal(c(all$lower, all$upper), ref_interval(16, 16, 0.025 / 11 / 2), tolerance = 1e-9)
  set.seed(1)
  some <- failure_interval(function(n) stats::rbinom(n, 1, 0.05), 0.5, 0.025, 0.025, 20000)
  j <- which(floor(16 * 1.5^(0:17)) == some$draws)
  expect_equal(c(some$lower, some$upper), ref_interval(some$failures, some$draws, 0.025 * j^-1.1 / 11 / 2),
               tolerance = 1e-9)
  expect_gte(some$lower, 0.025)
  expect_true(none$decided && all$decided && some$decided)
  # A share next to the limit stays undecided, at no more draws than are allowed.
  drawn <- 0
  near <- failure_interval(function(n) {
    drawn <<- drawn + n
    rep(0:1, c(n - round(n / 40), round(n / 40)))
  }, 0.5, 0.025, 0.025, 1000)
  expect_identical(c(near$draws, drawn), c(922, 922))
  expect_false(near$decided)
})

test_that("on a box the probabilistic regret bound makes no more draws than `draws`", {
  b <- gp_ucb(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), 0.01, width = width_constant(2))
  b$add(cbind(c(0.2, 0.8, 0.5), c(0.3, 0.6, 0.9)), reward = c(1, 0, 0.5))
  found <- b$certificate(stop_prb(1, delta = 0.9, draws = 36))
  expect_lte(found$draws, 36)
  expect_identical(found$decided, found$upper <= 0.45 || found$lower >= 0.45)
  expect_false(found$certified && !found$decided)
  expect_identical(most_draws(stop_prb(1), b$config$domain), 1000)
  expect_identical(most_draws(stop_prb(1), finite_domain(1:3)), 20000)
  expect_error(stop_prb(1, draws = 3), "`draws`", class = "gpbandits_error")
})

test_that("shortfalls have the distribution of the joint posterior's, on arms", {
  tiny <- ref_tiny()
  set.seed(321)
  draws <- ref_draw_normal(2e4, tiny$mean, tiny$cov)
  theirs <- apply(draws, 1, max) - draws[, which.max(tiny$mean)]
  for (engine in c("weights", "played")) {
    b <- tiny_data(pending = pending_hallucinate(), engine = engine)
    b$suggest(3)
    core <- shortfalls(as.environment(b), contexts_for(b, NULL, 1L), 4000)
    expect_gte(min(core), 0)
    expect_equal(mean(core == 0), mean(theirs == 0), tolerance = 0.1)
    expect_gt(suppressWarnings(stats::ks.test(core[core > 0], theirs[theirs > 0])$p.value), tol$p_value)
  }
})

test_that("the numbers of the fast stream are normal, and R's generator seeds it", {
  skip_without_testing()
  set.seed(327)
  z <- cpp_testing_stream_normals(2e5)
  set.seed(327)
  expect_identical(cpp_testing_stream_normals(2e5), z)
  expect_false(identical(cpp_testing_stream_normals(2e5), z))
  expect_gt(stats::ks.test(z, "pnorm")$p.value, tol$p_value)
  expect_gt(stats::binom.test(sum(abs(z) > 3.442619855899), length(z), 2 * stats::pnorm(-3.442619855899))$p.value,
            tol$p_value)
  tail <- abs(z)[abs(z) > 3]
  expect_gt(stats::ks.test(2 * stats::pnorm(-tail) / (2 * stats::pnorm(-3)), "punif")$p.value, tol$p_value)
  expect_lt(abs(stats::cor(z[-1], z[-length(z)])), 4 / sqrt(length(z)))
})

test_that("maxima from a joint factor equal those drawn one by one, on every engine", {
  x <- seq(0, 1, length.out = 60)
  for (engine in c("weights", "played", "lowrank")) {
    b <- gp_bandit(x, kernel_matern(2.5, 0.2), 0.01, policy_ei(), engine = engine)
    b$add(arm = seq(1, 60, 6), reward = sin(6 * x[seq(1, 60, 6)]))
    env <- as.environment(b)
    contexts <- contexts_for(b, NULL, 1L)
    set.seed(328)
    joint <- drawn_maxima(env, contexts)(3000)
    one_by_one <- cpp_bandit_drawn_maxima(drawing_twin(env)$handle, contexts, if (engine == "lowrank") 300L else 3000L)
    expect_true(all(joint[, 1] >= joint[, 2]))
    for (k in 1:2) expect_gt(suppressWarnings(stats::ks.test(joint[, k], one_by_one[, k])$p.value), tol$p_value)
    gap <- list(joint[, 1] - joint[, 2], one_by_one[, 1] - one_by_one[, 2])
    expect_lt(abs(mean(gap[[1]] == 0) - mean(gap[[2]] == 0)), 0.12)
    expect_lt(abs(mean(gap[[1]]) - mean(gap[[2]])), 4 * stats::sd(gap[[2]]) * sqrt(1 / 3000 + 1 / nrow(one_by_one)))
  }
  # Arms without doubt about their order: nothing but the best is left, and it never falls short.
  b <- gp_bandit(1:3, kernel_se(1e-3), 1e-8, policy_ei())
  b$add(arm = 1:3, reward = c(0, 3, 1))
  expect_identical(unique(shortfalls(as.environment(b), contexts_for(b, NULL, 1L), 50)), 0)
  # Too many for one factor: draw by draw, as ever.
  many <- gp_bandit(seq(0, 1, length.out = 1001), kernel_se(0.2), 0.01, policy_ei())
  many$add(arm = c(5, 500), reward = 0:1)
  expect_null(cpp_bandit_joint_maxima(as.environment(many)$handle, contexts_for(many, NULL, 1L)))
  expect_identical(dim(drawn_maxima(as.environment(many), contexts_for(many, NULL, 1L))(3)), c(3L, 2L))
})

test_that("shortfalls on a box equal those of joint draws over a fine grid", {
  skip_on_cran()
  x <- c(0.1, 0.35, 0.6, 0.95)
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_ei())
  b$add(x = x, reward = sin(5 * x))
  core <- {
    set.seed(324)
    shortfalls(as.environment(b), contexts_for(b, NULL, 1L), 120)
  }
  grid <- c(b$best()$x1, seq(0, 1, length.out = 200))
  k <- ref_kernel_matern(2.5, 0.3)
  p <- ref_posterior(k(x), k(grid, x), k(grid), sin(5 * x), 0.01)
  draws <- ref_draw_normal(2000, p$mean, p$cov)
  theirs <- apply(draws, 1, max) - draws[, 1]
  expect_gt(suppressWarnings(stats::ks.test(core, theirs)$p.value), tol$p_value)
})

test_that("$certificate() draws nothing from the user's generator and changes nothing", {
  b <- tiny_data(policy_ts(width_constant(1)))
  twin <- b$copy()
  set.seed(322)
  b$certificate(stop_prb(0.1))
  b$certificate()
  after <- b$suggest(3)
  set.seed(322)
  expect_identical(twin$suggest(3), after)
})

test_that("$certificate() without a rule draws little: 19 maxima on a box, and none in a space with levels", {
  set.seed(4)
  b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.2), 0.01, policy_ei())
  b$add(x = runif(6), reward = rnorm(6))
  found <- b$certificate()
  expect_identical(found[c("draws", "probability")], list(draws = 19L, probability = 0.95))
  frame <- as.environment(b)
  gap <- on_a_side_stream(shortfalls(frame, contexts_for(frame, NULL, 1L), 19))
  expect_equal(found$gap, max(gap))
  space <- auto_bandit(list(level = letters[1:6], x = c(0, 1), y = c(0, 1)),
                       data.frame(level = rep(letters[1:6], 2), x = runif(12), y = runif(12), reward = rnorm(12)))
  found <- space$certificate()
  expect_null(found$draws)
  expect_true(is.na(found$probability) && !found$certified)
  expect_equal(found$gap, space$certificate(stop_gap(1, width = qnorm(0.975)))$gap)
  expect_match(found$assumptions[1], "at each point, but not at all points together")
})

stop_problem <- function(seed, n = 40) {
  set.seed(seed)
  x <- seq(0, 1, length.out = n)
  f <- as.vector(ref_draw_normal(1, rep(0, n), ref_kernel_matern(2.5, 0.25)(x)))
  list(x = x, f = f, problem = bandit_problem(x, f, noise = 0.1))
}

# How often the certified regret was exceeded, and how often a rule stopped before the last round.
stop_failures <- function(rule, policy) {
  outcome <- vapply(seq_len(stop_level), function(seed) {
    p <- stop_problem(seed)
    b <- gp_bandit(p$x, kernel_matern(2.5, 0.25), 0.01, policy)
    run <- run_bandit(b, p$problem, 60, stop_when = rule)
    found <- b$certificate(rule)
    c(stopped = found$certified, failed = found$certified && max(p$f) - p$f[found$point$arm] > found$gap,
      early = run$rounds < 60)
  }, c(TRUE, TRUE, TRUE))
  rowSums(outcome)
}

test_that("certified regrets hold on draws from the prior, and save evaluations", {
  skip_on_cran()
  gap <- stop_failures(stop_gap(0.5, width_srinivas_finite(0.1)), policy_ucb(width_srinivas_finite(0.1)))
  expect_gt(stats::binom.test(gap[["failed"]], stop_level, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(gap[["early"]], 0)
  prb <- stop_failures(stop_prb(0.1, 0.1), policy_pims())
  expect_gt(stats::binom.test(prb[["failed"]], stop_level, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(prb[["early"]], stop_level / 2)
})

test_that("a run ends when the rule stops it, and its regret log has that length", {
  p <- stop_problem(1)
  make <- function() gp_bandit(p$x, kernel_matern(2.5, 0.25), 0.01, policy_ts(width_constant(1)))
  set.seed(5)
  whole <- as.data.frame(run_bandit(make(), p$problem, 30))
  set.seed(5)
  short <- run_bandit(make(), p$problem, 30, stop_when = function(bandit) nrow(bandit$history()) >= 12)
  expect_equal(short$rounds, 12)
  expect_equal(as.data.frame(short), whole[1:12, ])
  set.seed(5)
  stalled <- as.data.frame(run_bandit(make(), p$problem, 30, stop_when = stop_stalled(4)))
  since <- seq_len(30) - vapply(seq_len(30), function(t) which.max(whole$reward[1:t]), 1L)
  expect_equal(nrow(stalled), which(since >= 4)[1])
})

test_that("a search ends by its rule, in the user's units", {
  set.seed(323)
  centre <- 1e6
  scale <- 1e4
  f <- function(p) centre + scale * (-(p[["x"]] - 0.3)^2 + rnorm(1, sd = 0.01))
  x <- cbind(x = seq(0, 1, length.out = 41))
  found <- maximize_bandit(f, x, 40, stop_when = stop_prb(0.05 * scale))
  expect_true(found$stopped)
  expect_false(found$interrupted)
  expect_lt(nrow(found$history), 40)
  expect_true(found$certificate$certified)
  expect_equal(found$certificate$gap, 0.05 * scale)
  expect_lte(scale * (found$par[["x"]] - 0.3)^2, 0.05 * scale)
  counted <- maximize_bandit(f, list(x = c(0, 1)), 40, stop_when = function(search) nrow(search$history) >= 9)
  expect_equal(nrow(counted$history), 9)
  expect_null(counted$certificate)
})

test_that("a run on scaled rewards ends by each rule, in the user's units, and not before the first fit", {
  skip_on_cran()
  x <- seq(0, 1, length.out = 15)
  run <- function(rule, scale = 1, ...) {
    set.seed(5)
    b <- auto_bandit(x, n_initial = 4, direction = if (scale < 0) "minimize" else "maximize")
    run_bandit(b, bandit_problem(x, scale * sin(6 * x), noise = 0.1 * abs(scale), ...), 20, stop_when = rule)
  }
  whole <- as.data.frame(run(NULL))[c("arm", "reward")]
  for (rule in few_of(list(stop_prb, function(e) stop_gap(e, width = 2), function(e) stop_emsr(e / 10, width = 2)), 1)) {
    short <- run(rule(0.5))
    expect_lt(short$rounds, 20)
    expect_equal(as.data.frame(short)[names(whole)], utils::head(whole, short$rounds))
    expect_true(short$bandit$certificate(rule(0.5))$certified)
    expect_identical(run(rule(500), 1000)$rounds, short$rounds)
    # A model with parameters that no rewards support certifies nothing, whatever the tolerance.
    first <- run(rule(1e6), delay = 1)
    expect_gt(first$rounds, first$bandit$config$refit$minimum)
  }
  expect_lt(run(stop_prb(500), -1000)$rounds, 20)
  expect_lt(run(stop_stalled(4))$rounds, 20)
  expect_identical(run(function(b) b$certificate(stop_prb(0.5))$certified)$rounds, run(stop_prb(0.5))$rounds)
  few <- auto_bandit(x)
  few$add(arm = c(3, 9), reward = c(0, 1))
  expect_true(is.na(few$certificate()$probability))
  expect_match(few$certificate(stop_prb(100))$assumptions, "not been estimated")
})

test_that("invalid rules are errors", {
  p <- stop_problem(1)
  b <- gp_ucb(p$x, kernel_se(0.2), 0.01)
  expect_error(stop_gap(0), class = "gpbandits_error")
  expect_error(stop_gap(1, -2), class = "gpbandits_error")
  expect_error(stop_prb(0.1, 1), class = "gpbandits_error")
  expect_error(stop_stalled(0), class = "gpbandits_error")
  # Algorithms that are rules: a count of rounds, or a function; the posterior of a certificate is not theirs.
  rule_based <- function()
    gp_ucb_lengthscale(p$problem$domain, kernel_se(0.6), 0.01, B = 1, R = 0.1, method = "balanced")
  set.seed(3)
  short <- run_bandit(rule_based(), p$problem, 30, stop_when = function(bandit) nrow(bandit$history()) >= 4)
  set.seed(3)
  whole <- run_bandit(rule_based(), p$problem, 30)
  expect_identical(short$rounds, 4L)
  expect_identical(as.data.frame(short), utils::head(as.data.frame(whole), 4))
  reward <- as.data.frame(whole)$reward
  stalled <- run_bandit(rule_based(), p$problem, 30, stop_when = stop_stalled(3))
  expect_gte(stalled$rounds - which.max(as.data.frame(stalled)$reward), min(3, 30 - which.max(reward)))
  expect_error(run_bandit(rule_based(), p$problem, 5, stop_when = stop_prb(0.1)), "`stop_when` must be stop_stalled", class = "gpbandits_error")
  for (rule in list(NULL, stop_gap(1, width_constant(2)), stop_prb(0.1), stop_emsr(0.1))) {
    expect_error(stalled$bandit$certificate(rule), "`rule` must be stop_stalled", class = "gpbandits_error")
  }
  expect_true(stalled$bandit$certificate(stop_stalled(1))$certified)
  expect_error(run_bandit(b, p$problem, 5, stop_when = 3), class = "gpbandits_error")
  expect_error(run_bandit(b, p$problem, 5, stop_when = function(bandit) NA), class = "gpbandits_error")
  expect_error(b$certificate(3), class = "gpbandits_error")
  z <- gp_bandit(p$x, kernel_se(0.2), 0.01, policy_ucb(width_constant(2)), contexts = cbind(1:2))
  expect_error(z$certificate(stop_gap(1)), class = "gpbandits_error")
  expect_output(print(stop_prb(0.1)), "probabilistic regret bound")
})

# The three parts of the change of the expected minimum simple regret, from their formulas.
ref_emsr <- function(K, rows, y, noise, w) {
  t <- length(y)
  old <- ref_posterior_at(K, rows[-t], y[-t], noise)
  new <- ref_posterior_at(K, rows, y, noise)
  v <- old$sd[rows[t]]^2
  kl <- (log(1 + v / noise) - v / (v + noise) + v * (y[t] - old$mean[rows[t]])^2 / (v + noise)^2) / 2
  a <- which.max(new$mean)
  b <- which.max(old$mean)
  s <- sqrt(max(0, new$cov[a, a] + new$cov[b, b] - 2 * new$cov[a, b]))
  gain <- if (s > 0) ref_score_ei(new$mean[a], s, new$mean[b]) else 0
  list(kl = kl, change = abs(max(new$mean) - max(old$mean)) + gain + ref_gap(old$mean, old$sd, w) * sqrt(kl / 2))
}

test_that("the change of the expected minimum simple regret equals its formula", {
  tiny <- ref_tiny()
  rows <- c(tiny$rows, 2)
  y <- c(tiny$y, 0.9)
  ref <- ref_emsr(tiny$K, rows, y, tiny$noise, 2)
  expect_equal(ref$kl, 1.104861, tolerance = 1e-6)
  b <- tiny_data()
  b$add(arm = 2, reward = 0.9)
  found <- b$certificate(stop_emsr(1))
  expect_equal(found$change, ref$change, tolerance = tol$engine)
  expect_true(is.na(found$gap))
  expect_false(b$certificate(stop_emsr(ref$change - 0.01))$certified)
  expect_true(b$certificate(stop_emsr(ref$change + 0.01))$certified)
  # Rewards in another order than their queries: the last to come counts.
  late <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, policy_ei())
  late$add(arm = c(2, tiny$rows))
  late$observe(2:4, tiny$y)
  late$observe(1, 0.9)
  expect_equal(late$certificate(stop_emsr(1, width_constant(2)))$change, ref$change, tolerance = tol$engine)
  expect_error(late$certificate(stop_emsr(1)), class = "gpbandits_error")
})

test_that("the change on a box and over a product equals that of their points", {
  skip_on_cran()
  x <- c(0.1, 0.35, 0.6, 0.95)
  y <- sin(5 * x)
  b <- gp_bandit(box_domain(0, 1), kernel_matern(2.5, 0.3), 0.01, policy_ucb(width_constant(1.5)))
  b$add(x = x, reward = y)
  grid <- c(x, seq(0, 1, length.out = 1001))
  ref <- ref_emsr(ref_kernel_matern(2.5, 0.3)(grid), 1:4, y, 0.01, 1.5)
  # Neighbours of a grid are further apart than the two recommended points need be.
  expect_equal(b$certificate(stop_emsr(1))$change, ref$change, tolerance = 5e-3)
  p <- gp_bandit(product_domain(cbind(r = c(0, 0.7)), list(x1 = c(0, 1))), kernel_se(0.4), 0.01,
                 policy_ucb(width_constant(1)))
  set.seed(1)
  for (t in 1:5) p$observe(p$suggest()$id, t / 5)
  expect_gt(p$certificate(stop_emsr(1))$change, 0)
  run <- run_bandit(b$copy(), bandit_problem(box_domain(0, 1), function(x) sin(5 * x[, 1]), noise = 0.1), 60,
                    stop_when = stop_emsr(0.02))
  expect_lt(run$rounds, 60)
})

test_that("with one fitted model or a fitted scale a certificate by draws states no probability", {
  x <- seq(0, 1, length.out = 20)
  stated <- function(...) {
    b <- gp_bandit(x, kernel_se(0.3), 0.01, policy_pims(), ...)
    b$add(arm = 1:10 * 2, reward = sin(6 * x[1:10 * 2]))
    b$suggest()
    lapply(list(stop_prb(0.1, 0.1), NULL), b$certificate)
  }
  for (found in c(stated(refit = refit_every(5)), stated(outputs = scale_outputs()))) {
    expect_identical(found$probability, NA_real_)
    expect_match(paste(found$assumptions, collapse = " "), "no probability")
  }
  for (found in c(stated(), stated(refit = refit_every(5, average = 3), outputs = scale_outputs()))) {
    expect_gte(found$probability, 0.9)
  }
})
