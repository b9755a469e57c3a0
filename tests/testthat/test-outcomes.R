# Several outcomes: limits and objectives, against plain R and the numbers of the worked example.

tiny_arms <- c(0, 0.25, 0.5, 0.75, 1)

# The worked example's second example: f seen at arms 1, 3, 5; g at 1 and 3 only.
tiny_bandit <- function(policy, ..., objective = to_maximize()) {
  b <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy,
                 outcomes = list(yield = objective, impurity = at_most(2, mean = 1.5)), ...)
  b$add(arm = c(1, 3, 5), reward = data.frame(yield = c(0.2, 1, -0.3), impurity = c(1.2, 2.4, NA)))
  b
}

# Posterior of an outcome at all arms in plain R. `own`: noise variances, one per value.
plain_posterior <- function(x, at, y, kernel, noise, mean = 0) {
  if (length(y) == 0) return(list(mean = rep(mean, length(x)), sd = sqrt(diag(kernel(x, x)))))
  A <- solve(kernel(x[at], x[at]) + diag(noise, length(at)))
  q <- kernel(x, x[at])
  list(mean = mean + drop(q %*% A %*% (y - mean)), sd = sqrt(pmax(0, diag(kernel(x, x)) - rowSums((q %*% A) * q))))
}

plain_log_h <- function(u) {
  ifelse(u > -5, log(dnorm(u) + u * pnorm(u)), {
    # phi/u^2 times the alternating series, far out; numerically integrated in between
    vapply(u, function(u) {
      f <- function(t) exp(-t * (-u) - t^2 / 2) * t
      dnorm(u, log = TRUE) + log(stats::integrate(f, 0, Inf, rel.tol = 1e-12)$value)
    }, 0)
  })
}

test_that("posteriors, feasibility and choices equal those of the worked example", {
  b <- tiny_bandit(policy_ei())
  p <- b$posterior()
  expect_named(p, c("yield_mean", "yield_sd", "impurity_mean", "impurity_sd", "feasible"))
  expect_equal(p$impurity_mean, c(1.205506, 1.836672, 2.389730, 2.201550, 1.753961), tolerance = 1e-6)
  expect_equal(p$impurity_sd, c(.099471, .454940, .099471, .698305, .966918), tolerance = 1e-5)
  expect_equal(p$feasible, c(1, .640206, .000045, .386433, .600429), tolerance = 1e-5)
  expect_equal(b$suggest()$arm, 2)
  expect_equal(b$best()$arm, 1)
  expect_equal(b$best(feasible = 0.5)$arm, 2)
  expect_identical(b$history()$status[1:3], c("observed", "observed", "partial"))
  expect_equal(tiny_bandit(policy_ucb(2))$suggest()$arm, 2)
  nowhere <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ei(),
                       outcomes = list(f = to_maximize(), g = at_most(0, mean = 1.5)))
  nowhere$add(arm = c(1, 3, 5), reward = data.frame(f = c(0.2, 1, -0.3), g = c(1.2, 2.4, NA)))
  expect_equal(nowhere$suggest()$arm, 5)
  expect_warning(expect_equal(nowhere$best()$arm, 5), class = "gpbandits_infeasible")
})

test_that("log improvement and log feasibility are accurate from -1e3 to 1e3", {
  skip_without_testing()
  log_h <- function(u) cpp_log_improvement(u)
  expect_equal(log_h(c(0, -5, -30, -1000)), c(-.918939, -16.744301, -457.724744, -500014.7), tolerance = 1e-6)
  u <- c(-24.999, -25, -25.001, -24, -26, -10, -2, 0.5, 8)
  expect_equal(log_h(u), plain_log_h(u), tolerance = 1e-11)
  expect_equal(log_h(1e3), log(1e3))
  # No jump where the formulas meet.
  at <- -25 + c(-1, 1) * 1e-9
  expect_lt(abs(diff(log_h(at)) - 2e-9 * (25 + 2 / 25)), 1e-10)
  within <- function(m, s, l, u) cpp_log_feasible(matrix(m), matrix(s), l, u)
  expect_equal(within(0, 1, -1, 2), log(pnorm(2) - pnorm(-1)))
  expect_equal(within(0, 1, 30, 31), pnorm(-30, log.p = TRUE) + log1p(-exp(pnorm(-31, log.p = TRUE) - pnorm(-30, log.p = TRUE))))
  expect_equal(within(c(-1e3, 1e3), c(1, 1), -Inf, 0), pnorm(c(1e3, -1e3), log.p = TRUE))
  expect_equal(within(0, 2, -Inf, Inf), 0)
})

# A random run with three outcomes against plain R: observed values, selected points, results.
outcome_life <- function(seed, policy, score) {
  set.seed(seed)
  n <- 12
  x <- sort(runif(n))
  kernels <- list(ref_kernel_se(0.3), ref_kernel_matern(2.5, 0.4, 2), ref_kernel_se(0.5, 0.7))
  noise <- c(0.02, 0.05, 0.01)
  mean <- c(0, 0.5, -0.2)
  b <- gp_bandit(x, kernel_se(0.3), 0.02, policy, outcomes = list(
    g = at_most(0.6, kernel_matern(2.5, 0.4, 2), 0.05, 0.5), f = to_maximize(),
    h = in_range(-1, 0.5, kernel_se(0.5, 0.7), 0.01, -0.2)))
  values <- matrix(NA_real_, 0, 3)
  own <- values
  void <- matrix(FALSE, 0, 3)
  arms <- integer()
  believe <- function() lapply(1:3, function(k) {
    at <- which(!is.na(values[, k]))
    plain_posterior(x, arms[at], values[at, k], kernels[[k]], ifelse(is.na(own[at, k]), noise[k], own[at, k]), mean[k])
  })
  names <- c("f", "g", "h")
  for (step in 1:25) {
    post <- believe()
    wanted <- score(post, unique(arms[!void[, 1]]))
    q <- b$suggest()
    best <- max(wanted)
    expect_gt(wanted[q$arm], best - 1e-6 * max(1, abs(best)))
    arms <- c(arms, q$arm)
    values <- rbind(values, NA)
    own <- rbind(own, NA)
    void <- rbind(void, FALSE)
    for (id in seq_along(arms)) for (k in 1:3) {
      if (!is.na(values[id, k])) {
        if (runif(1) < 0.03) {
          values[id, k] <- rnorm(1)
          b$amend(id, stats::setNames(values[id, k], names[k]))
        }
      } else if (!void[id, k] && runif(1) < 0.5) {
        if (runif(1) < 0.1) {
          b$withdraw(id, outcome = names[k])
          void[id, k] <- TRUE
        } else {
          values[id, k] <- rnorm(1)
          reported <- stats::setNames(values[id, k], names[k])
          if (runif(1) < 0.2) {
            own[id, k] <- 0.3
            b$observe(id, reported, noise_var = 0.3)
          } else b$observe(id, reported)
        }
      }
    }
    got <- b$posterior()
    post <- believe()
    for (k in 1:3) {
      expect_equal(got[[paste0(names[k], "_mean")]], post[[k]]$mean, tolerance = 1e-7)
      expect_equal(got[[paste0(names[k], "_sd")]], post[[k]]$sd, tolerance = 1e-6)
    }
  }
  status <- ifelse(rowSums(is.na(values) & !void) == 0, ifelse(rowSums(!is.na(values)) > 0, "observed", "withdrawn"),
                   ifelse(rowSums(is.na(values) & !void) == 3, "pending", "partial"))
  expect_identical(b$history()$status, status)
  expect_equal(unname(as.matrix(b$history()[names])), unname(values))
  b
}

log_pf <- function(post) {
  pnorm((0.6 - post[[2]]$mean) / post[[2]]$sd, log.p = TRUE) +
    log(pnorm((0.5 - post[[3]]$mean) / post[[3]]$sd) - pnorm((-1 - post[[3]]$mean) / post[[3]]$sd))
}

test_that("EI under limits selects the reference's point, whatever values of the outcomes are observed", {
  efi <- function(post, played) {
    likely <- played[log_pf(post)[played] >= log(0.5)]
    if (length(likely) == 0) return(log_pf(post))
    log(post[[1]]$sd) + plain_log_h((post[[1]]$mean - max(post[[1]]$mean[likely])) / post[[1]]$sd) + log_pf(post)
  }
  for (seed in few_of(1:3, 1)) outcome_life(seed, policy_ei(), efi)
})

test_that("UCB under limits is CONFIG: the points that may be feasible, or the smallest violation", {
  config <- function(post, played) {
    excess <- pmax(0, post[[2]]$mean - 1.5 * post[[2]]$sd - 0.6) / sqrt(2) +
      pmax(0, post[[3]]$mean - 1.5 * post[[3]]$sd - 0.5, -1 - post[[3]]$mean - 1.5 * post[[3]]$sd) / sqrt(0.7)
    ifelse(excess <= 1e-6, post[[1]]$mean + 1.5 * post[[1]]$sd, -1e6 * (1 + excess))
  }
  for (seed in few_of(4:6, 1)) outcome_life(seed, policy_ucb(1.5), config)
})

test_that("a penalty per unit of violation is EPBO, and equals the bandit without outcomes", {
  penalty <- function(t) 0.2 * t
  epbo <- function(...) baseline_constrained("epbo", tiny_arms, kernel_se(0.3), 0.01, penalty = penalty, width = 1.5, ...)
  policy <- epbo(outcomes = list(f = to_maximize(), g = at_most(0)))$config$policy
  penalised <- function(post, played) {
    excess <- pmax(0, post[[2]]$mean - 1.5 * post[[2]]$sd - 0.6) +
      pmax(0, post[[3]]$mean - 1.5 * post[[3]]$sd - 0.5, -1 - post[[3]]$mean - 1.5 * post[[3]]$sd)
    post[[1]]$mean + 1.5 * post[[1]]$sd - 3 * excess
  }
  constant <- policy
  constant$penalty <- 3
  outcome_life(4, constant, penalised)
  core <- epbo(outcomes = list(f = to_maximize(), g = at_most(0)))
  rule <- epbo()
  for (t in 1:12) {
    arm <- rule$suggest()$arm
    expect_identical(core$suggest()$arm, arm)
    rule$observe(t, sin(6 * arm) + arm / 3, constraints = cos(3 * arm + t))
    core$observe(t, c(f = sin(6 * arm) + arm / 3, g = cos(3 * arm + t)))
  }
  expect_gt(length(unique(rule$history()$arm)), 2)
  expect_identical(unserialize(serialize(core, NULL))$suggest(), core$suggest())
  batch <- epbo(outcomes = list(f = to_maximize(), g = at_most(0)), pending = pending_hallucinate())
  expect_gt(length(unique(batch$suggest(4)$arm)), 2)
  for (bad in list(function(t) -1, function(t) "a", function(t) stop("no"))) {
    b <- baseline_constrained("epbo", 1:3, kernel_se(1), 0.1, penalty = bad, outcomes = list(f = to_maximize(), g = at_most(0)))
    expect_identical(expect_error(b$suggest(), class = "gpbandits_error")$argument, "penalty")
    expect_equal(nrow(b$history()), 0)
  }
  expect_error(epbo(count = 2, outcomes = list(f = to_maximize(), g = at_most(0))), "`count`", class = "gpbandits_error")
  expect_error(epbo(outcomes = 3), "`outcomes`", class = "gpbandits_error")
})

test_that("a run with outcomes continues to the bit from a copy, a file, JSON and a journal", {
  b <- outcome_life(7, policy_ts(1), function(post, played) rep(0, 12))
  journal <- tempfile()
  set.seed(1)
  kept <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ts(1), pending = pending_hallucinate(), journal = journal,
                    failures = "avoid", outcomes = list(yield = to_minimize(), impurity = at_most(2, mean = 1.5)))
  kept$suggest(4)
  kept$observe(data.frame(id = 1:3, yield = c(1, NA, 2), impurity = c(NA, 1, 2)))
  kept$fail(4)
  kept$withdraw(2, "yield")
  kept$add(arm = 2, reward = c(yield = 3))
  again <- open_bandit(journal)
  expect_identical(again$history(), kept$history())
  expect_identical(again$posterior(), kept$posterior())
  file <- tempfile()
  saveRDS(b, file)
  for (twin in list(b$copy(), readRDS(file), from_json(as_json(b)))) {
    set.seed(5)
    one <- twin$suggest(3)
    set.seed(5)
    expect_identical(b$copy()$suggest(3), one)
    expect_identical(twin$posterior(), b$posterior())
  }
})

test_that("a single outcome equals the bandit without outcomes, to the bit", {
  play <- function(...) {
    b <- gp_bandit(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.01, policy_ei(), refit = refit_every(4), ...)
    for (t in 1:9) {
      q <- b$suggest()
      b$observe(q$id, if (length(list(...))) c(yield = sin(7 * q$x)) else sin(7 * q$x))
    }
    b
  }
  one <- play(outcomes = list(yield = to_maximize()))
  plain <- play()
  expect_identical(one$history()$x, plain$history()$x)
  expect_identical(one$history()$yield, plain$history()$reward)
  expect_identical(one$posterior(0.3), plain$posterior(0.3))
  # An additional tracked metric changes nothing.
  b <- gp_bandit(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.01, policy_ei(), outcomes = list(yield = to_maximize(), side = tracked()))
  p <- gp_bandit(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.01, policy_ei())
  for (t in 1:5) {
    q <- b$suggest()
    b$observe(q$id, c(yield = cos(5 * q$x), side = t))
    q <- p$suggest()
    p$observe(q$id, cos(5 * q$x))
  }
  expect_identical(b$history()$x, p$history()$x)
})

test_that("hypervolumes and expected gains equal those of the worked example", {
  skip_without_testing()
  front <- rbind(c(.2, .9), c(.6, .6), c(.9, .1))
  expect_equal(cpp_hypervolume(front, c(0, 0)), 0.45)
  set.seed(1)
  for (k in 2:4) {
    Y <- matrix(runif(8 * k), 8)
    draws <- matrix(runif(2e5 * k), ncol = k)
    under <- Reduce(`|`, lapply(seq_len(8), function(i) rowSums(draws <= rep(Y[i, ], each = nrow(draws))) == k))
    expect_equal(cpp_hypervolume(Y, rep(0, k)), mean(under), tolerance = 0.01)
  }
  expect_equal(exp(cpp_log_ehvi(front, c(0, 0), c(.5, .7), c(.2, .3))), .079764, tolerance = 1e-5)
  expect_equal(cpp_log_ehvi(front, c(0, 0), c(-3, -3), c(.1, .1)), -1148.983, tolerance = 1e-6)
  # By simulation, for random fronts and points.
  for (i in 1:5) {
    Y <- matrix(runif(8), 4)
    Y <- Y[is_nondominated(Y), , drop = FALSE]
    mean <- runif(2)
    z <- cbind(rnorm(4000, mean[1], .3), rnorm(4000, mean[2], .2))
    gains <- apply(z, 1, function(p) cpp_hypervolume(rbind(Y, p), c(0, 0))) - cpp_hypervolume(Y, c(0, 0))
    expect_lt(abs(exp(cpp_log_ehvi(Y, c(0, 0), mean, c(.3, .2))) - mean(gains)), 5 * sd(gains) / sqrt(4000))
  }
})

test_that("with two objectives the choice of EHVI, the front and weights are correct", {
  skip_without_testing()
  x <- seq(0, 1, length.out = 15)
  b <- gp_bandit(x, kernel_se(0.3), 1e-2, policy_ehvi(reference = c(speed = -1, cost = 2)),
                 outcomes = list(cost = to_minimize(kernel_se(0.4)), speed = to_maximize(kernel_se(0.2))))
  ref <- list(ref_kernel_se(0.4), ref_kernel_se(0.2))
  for (t in 1:8) {
    reported <- b$history()
    arms <- reported$arm
    post <- list(plain_posterior(x, arms, -reported$cost, ref[[1]], 1e-2), plain_posterior(x, arms, reported$speed, ref[[2]], 1e-2))
    means <- cbind(post[[1]]$mean, post[[2]]$mean)
    seen <- unique(arms)
    above <- seen[means[seen, 1] > -2 & means[seen, 2] > -1]
    Y <- means[above, , drop = FALSE]
    score <- vapply(seq_along(x), function(i) {
      cpp_log_ehvi(Y[is_nondominated(Y), , drop = FALSE], c(-2, -1), means[i, ], c(post[[1]]$sd[i], post[[2]]$sd[i]))
    }, 0)
    q <- b$suggest()
    expect_gt(score[q$arm], max(score) - 1e-6)
    b$observe(data.frame(id = q$id, cost = q$x1^2, speed = sin(4 * q$x1)))
  }
  front <- b$front()
  p <- b$posterior()
  beaten <- vapply(seq_along(x), function(i) {
    any(p$cost_mean <= p$cost_mean[i] & p$speed_mean >= p$speed_mean[i] & (p$cost_mean < p$cost_mean[i] | p$speed_mean > p$speed_mean[i]))
  }, NA)
  expect_setequal(front$arm, which(!beaten))
  expect_error(b$best(), "front", class = "gpbandits_error")
  chosen <- b$best(weights = c(speed = 1, cost = 0.5))
  expect_equal(chosen$arm, front$arm[which.max(front$speed_mean - 0.5 * front$cost_mean)])
})

test_that("hypervolume policies reach the front, also of three objectives and in a box", {
  set.seed(3)
  for (policy in list(policy_hypervolume(2), policy_hypervolume(2, draws = 1), policy_hypervolume(1, sampled = TRUE),
                      policy_hypervolume(2, draws = 8))) {
    b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.4), 1e-3, policy,
                   outcomes = list(a = to_maximize(), b = to_maximize(), c = to_minimize()))
    for (t in 1:10) {
      q <- b$suggest()
      b$observe(data.frame(id = q$id, a = -(q$x - 0.2)^2, b = -(q$x - 0.6)^2, c = (q$x - 0.4)^2))
    }
    h <- b$history()
    # Between .2 and .6 every point is on the front, outside none is.
    expect_gt(sum(h$x > 0.15 & h$x < 0.65), 5)
  }
})

test_that("on a box EI under limits is not exceeded on a fine grid, and CONFIG satisfies the limit", {
  b <- gp_bandit(list(x = c(0, 1), z = c(0, 1)), kernel_se(0.4), 1e-3, policy_ei(),
                 outcomes = list(f = to_maximize(), g = at_most(0.5)))
  b$add(x = rbind(c(.1, .1), c(.5, .9), c(.9, .2), c(.4, .5)), reward = data.frame(f = c(0, 1, .4, .6), g = c(.2, 1, .6, .4)))
  q <- b$suggest()
  b$withdraw(q$id)
  grid <- expand.grid(x = seq(0, 1, length.out = 101), z = seq(0, 1, length.out = 101))
  efi <- function(at) {
    p <- b$posterior(at)
    here <- b$posterior(b$history()[1:4, c("x", "z")])
    tau <- max(here$f_mean[here$feasible >= 0.5])
    log(p$f_sd) + plain_log_h(pmax(-30, (p$f_mean - tau) / p$f_sd)) + log(p$feasible)
  }
  expect_gt(efi(q[c("x", "z")]), max(efi(grid)) - 1e-4)
  u <- gp_bandit(list(x = c(0, 1), z = c(0, 1)), kernel_se(0.4), 1e-3, policy_ucb(1),
                 outcomes = list(f = to_maximize(), g = at_most(0.5)))
  u$add(x = rbind(c(.1, .1), c(.5, .9), c(.9, .2), c(.4, .5)), reward = data.frame(f = c(0, 1, .4, .6), g = c(.2, 1, .6, .4)))
  q <- u$suggest()
  u$withdraw(q$id)
  bounds <- function(at) {
    p <- u$posterior(at)
    ifelse(p$g_mean - p$g_sd <= 0.5 + 1e-6, p$f_mean + p$f_sd, -Inf)
  }
  expect_gt(bounds(q[c("x", "z")]), max(bounds(grid)) - 1e-3)
})

test_that("values keep their units: scaled, minimised, refitted, with limits under the transform", {
  set.seed(2)
  b <- gp_bandit(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.01, policy_ei(), outputs = scale_outputs(), refit = refit_every(3),
                 outcomes = list(cost = to_minimize(), purity = at_least(90, transform = "none")))
  for (t in 1:12) {
    q <- b$suggest()
    b$observe(data.frame(id = q$id, cost = 1000 + 500 * (q$x - 0.8)^2 + rnorm(1), purity = 100 - 20 * q$x + rnorm(1, 0, 0.1)))
  }
  best <- b$best()
  expect_lt(abs(best$x - 0.5), 0.08)
  expect_gt(best$feasible, 0.94)
  expect_lt(abs(best$purity_mean - (100 - 20 * best$x)), 1)
  expect_lt(abs(best$cost_mean - (1000 + 500 * (best$x - 0.8)^2)), 20)
  # The chance that the expected purity is at least 90, by its posterior.
  at <- b$posterior(data.frame(x = c(0.3, 0.5, 0.7)))
  expect_equal(at$feasible, pnorm((at$purity_mean - 90) / at$purity_sd), tolerance = 1e-6)
  twin <- from_json(as_json(b))
  expect_identical(twin$suggest(), b$suggest())
})

test_that("a limit under a power transform holds for the expected outcome", {
  map <- new_outcome_transform(1.5, -1, lambda = 0.5, count = 9)
  config <- list(outputs = scale_outputs("minimize"), output_map = map, noise_var = 0.04)
  expect_equal(limit_seen(2, config), -.563612, tolerance = 1e-5)
  expect_equal(transform_outputs(map, 2), -.558078, tolerance = 1e-5)
  role <- core_role(at_most(2), config)
  expect_equal(c(role$lower, role$upper), c(-.563612, Inf), tolerance = 1e-5)
})

test_that("limits can be given as a formula", {
  found <- outcomes_of_limits(~ impurity <= 2 & ph >= 5 & (7 >= ph) & a > -1)
  expect_equal(found$impurity$limit, 2)
  expect_equal(c(found$ph$lower, found$ph$upper), c(5, 7))
  expect_equal(found$a$limit, -1)
  expect_identical(names(found), c("reward", "impurity", "ph", "a"))
  top <- 3
  expect_equal(outcomes_of_limits(~ impurity <= top)$impurity$limit, 3)
  b <- gp_ei(tiny_arms, kernel_se(0.3), 0.01, limits = ~ impurity <= 2)
  b$observe(data.frame(id = b$suggest()$id, reward = 1, impurity = 1))
  expect_equal(b$history()$reward, 1)
  for (bad in list("a <= 2", ~ a == 2, ~ a + b <= 2, a ~ b, ~ a <= "x", ~ a <= 2 & a >= 3, 5)) {
    expect_error(gp_ei(tiny_arms, kernel_se(0.3), 0.01, limits = bad), class = "gpbandits_error")
  }
})

test_that("invalid outcomes are errors that change nothing", {
  make <- function(outcomes, policy = policy_ei(), ...) gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy, outcomes = outcomes, ...)
  good <- list(f = to_maximize(), g = at_most(1))
  for (bad in list(list(), list(to_maximize()), list(g = at_most(1)), list(f = to_maximize(), f = at_most(1)), list(f = 1), "f",
                   list(id = to_maximize()), list(f = to_maximize(), x1 = at_most(1)), list(f = to_maximize(), f_mean = tracked()))) {
    expect_error(make(bad), class = "gpbandits_error")
  }
  expect_error(at_most(Inf), class = "gpbandits_error")
  expect_error(in_range(2, 1), class = "gpbandits_error")
  expect_error(make(good, policy_pi()), class = "gpbandits_error")
  expect_error(make(good, policy_ei(cost = function(x) 1)), class = "gpbandits_error")
  expect_error(make(good, policy_ehvi()), class = "gpbandits_error")
  expect_error(gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ehvi()), class = "gpbandits_error")
  expect_error(make(list(f = to_maximize(), g = to_maximize())), class = "gpbandits_error")
  expect_error(make(list(f = to_maximize(), g = to_maximize()), policy_ehvi(reference = 1)), class = "gpbandits_error")
  expect_error(make(good, pending = pending_censor(3)), class = "gpbandits_error")
  expect_error(make(good, constraints = constraints_noiseless(1, epoch = 5)), class = "gpbandits_error")
  b <- make(good)
  b$suggest(1)
  before <- b$history()
  for (bad in list(1, c(h = 1), c(f = 1, f = 2), c(f = Inf), list(f = "a"), c(1, 2))) {
    expect_error(b$observe(1, bad), class = "gpbandits_error")
  }
  expect_error(b$observe(data.frame(id = 1, f = 1, reward = 2)), class = "gpbandits_error")
  expect_error(b$observe(data.frame(id = 1)), class = "gpbandits_error")
  expect_error(b$observe(data.frame(id = 1, f = 1, arm = 5)), class = "gpbandits_error")
  expect_error(b$amend(1, c(f = 2)), class = "gpbandits_error")
  expect_error(b$withdraw(1, outcome = "h"), class = "gpbandits_error")
  expect_error(b$best(feasible = 2), class = "gpbandits_error")
  expect_error(b$front(), class = "gpbandits_error")
  expect_error(b$certificate(), "one reward", class = "gpbandits_error")
  by_arm <- make(list(f = to_maximize(), g = at_most(1, mean = 1:5)))
  expect_error(by_arm$add_arms(2), "prior mean", class = "gpbandits_error")
  more <- make(good)
  more$add_arms(2)
  expect_identical(nrow(more$posterior()), 6L)
  expect_identical(b$history(), before)
  b$observe(1, c(f = 2))
  expect_error(b$observe(1, c(f = 3)), "amend", class = "gpbandits_error")
  b$observe(1, c(f = 2))
  b$withdraw(1, outcome = "g")
  expect_identical(b$history()$status, "observed")
})

test_that("a failure counts as the worst value of each outcome, with failures = \"avoid\" and \"doubt\"", {
  for (failures in c("avoid", "doubt")) {
    b <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ei(), failures = failures, pending = pending_hallucinate(),
                   outcomes = list(f = to_maximize(), g = at_most(1, noise_var = 0.02), h = tracked()))
    b$add(arm = c(1, 5), reward = data.frame(f = c(1, 2), g = c(0.5, 0.8), h = c(3, 4)))
    q <- b$suggest()
    b$fail(q$id)
    roles <- list(f = to_maximize(), g = at_most(1, noise_var = 0.02), h = tracked())
    with_values <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ei(), outcomes = roles)
    own <- if (failures == "doubt") data.frame(f = c(NA, NA, 0.01 + 1 / 12), g = c(NA, NA, 0.02 + 0.3^2 / 12), h = NA_real_)
    with_values$add(arm = c(1, 5, q$arm), reward = data.frame(f = c(1, 2, 1), g = c(0.5, 0.8, 0.8), h = c(3, 4, NA)), noise_var = own)
    expect_equal(b$posterior(), with_values$posterior(), tolerance = 1e-10)
    expect_identical(b$history()$status[3], "failed")
    # A late result replaces its substitute.
    b$observe(q$id, c(f = 5, g = 0))
    reported <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ei(), outcomes = roles)
    reported$add(arm = c(1, 5, q$arm), reward = data.frame(f = c(1, 2, 5), g = c(0.5, 0.8, 0), h = c(3, 4, NA)))
    expect_equal(b$posterior(), reported$posterior(), tolerance = 1e-10)
  }
})

test_that("with limits, too, no neighbour of doubted failures is recommended", {
  x <- c(0.1, 0.3, 0.5, 0.68, 0.76, 0.9)
  reported <- function(failures, bound) {
    b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.4), 1e-3, policy_ei(), failures = failures,
                   outcomes = list(f = to_maximize(), g = at_most(bound)))
    b$add(matrix(x[1:4]), reward = data.frame(f = 3 * x[1:4]^2, g = x[1:4]))
    b$add(matrix(x[5:6]))
    b$fail(5:6)
    b
  }
  b <- reported("doubt", 2)
  grid <- b$posterior(matrix(seq(0, 1, length.out = 201)))
  top <- seq(0, 1, length.out = 201)[which.max(ifelse(grid$feasible > 0.95, grid$f_mean, -Inf))]
  expect_gt(top, 0.72)  # (the case that the test is about)
  best <- b$best()
  expect_equal(best$x, 0.68)
  expect_equal(best$f_mean, b$posterior(matrix(0.68))$f_mean)
  # Where the limit does not hold at the best of them, another.
  expect_lt(reported("doubt", 0.6)$best(feasible = 0.5)$x, 0.61)
})

test_that("an unknown outcome is an error that names it", {
  b <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ei(), outcomes = list(f = to_maximize(), g = at_most(1)))
  b$suggest()
  for (call in list(quote(b$observe(1, c(yeild = 3))), quote(b$add(arm = 1, reward = data.frame(f = 1, yeild = 3))),
                    quote(b$observe(1, list(f = 1, yeild = 2))))) {
    expect_error(eval(call), "\"yeild\"", class = "gpbandits_error")
  }
  expect_identical(b$history()$status, "pending")
})

test_that("stores hold outcomes value by value, from several replicas", {
  skip_if_not_installed("RSQLite")
  file <- tempfile(fileext = ".sqlite")
  one <- gp_ei(tiny_arms, kernel_se(0.3), 0.01, pending = pending_hallucinate(), store = bandit_store(file, "demo", seed = 1),
               outcomes = list(f = to_maximize(), g = at_most(1)))
  q <- one$suggest(2, worker = "a", lease = 60)
  other <- open_bandit(bandit_store(file, "demo"))
  other$observe(data.frame(id = q$id, f = c(1, 2)))
  one$catch_up()
  expect_identical(one$history()$status, c("partial", "partial"))
  one$observe(q$id[1], c(g = 0.5))
  one$withdraw(q$id[2], outcome = "g")
  other$catch_up()
  expect_identical(other$history(), one$history())
  expect_identical(other$posterior(), one$posterior())
})

test_that("policy_function() gets means and sds of all outcomes, by name, in their units", {
  given <- list()
  own <- policy_function(function(mean, sd, round) {
    given <<- list(mean = mean, sd = sd, round = round)
    mean[, "yield"] + 2 * sd[, "yield"] - 10 * pmax(0, mean[, "impurity"] - 2)
  }, "penalised")
  b <- tiny_bandit(own)
  q <- b$suggest()
  p <- b$posterior()
  expect_equal(given$mean, as.matrix(p[c("yield_mean", "impurity_mean")]), ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(given$sd, as.matrix(p[c("yield_sd", "impurity_sd")]), ignore_attr = TRUE, tolerance = 1e-12)
  expect_identical(colnames(given$mean), c("yield", "impurity"))
  expect_identical(given$round, 4)
  expect_equal(q$arm, which.max(p$yield_mean + 2 * p$yield_sd - 10 * pmax(0, p$impurity_mean - 2)))
  expect_equal(b$best()$arm, 1)
  # Minimised outcomes keep their sign, and scaled values their units, also with power transforms.
  seen <- policy_function(function(mean, sd, round, x) {
    if (nrow(mean) > 1 && length(unique(x[, 1])) > 9) given <<- list(mean = mean, sd = sd, x = x)
    mean[, "yield"]
  })
  scaled <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.01, seen, outputs = scale_outputs(), outcomes = list(
    yield = to_minimize(), impurity = at_most(2, transform = "power"), side = tracked()))
  scaled$suggest()
  expect_identical(colnames(given$mean), c("yield", "impurity", "side"))
  expect_true(all(is.finite(given$mean)))
  x <- seq(0, 1, length.out = 9)
  scaled$add(x = x, reward = data.frame(yield = 50 + x, impurity = exp(3 * x), side = -x))
  scaled$suggest()
  at <- scaled$posterior(given$x)
  means <- as.matrix(at[c("yield_mean", "impurity_mean", "side_mean")])
  expect_equal(given$mean, means, ignore_attr = TRUE, tolerance = 1e-8)
  expect_equal(given$sd, as.matrix(at[c("yield_sd", "impurity_sd", "side_sd")]), ignore_attr = TRUE, tolerance = 1e-7)
  expect_gt(min(given$mean[, "yield"]), 40)
})

test_that("on a box a custom function of all outcomes is optimised, gets the points, and is checked", {
  score <- function(mean, sd, round, x) mean[, "f"] + sd[, "f"] - mean[, "g"]^2 - 0.3 * (x[, "z"] - 0.4)^2
  b <- gp_bandit(list(x = c(0, 1), z = c(0, 1)), kernel_se(0.4), 1e-3, policy_function(score),
                 outcomes = list(f = to_maximize(), g = to_minimize(), h = at_least(0)))
  b$add(x = rbind(c(.1, .1), c(.5, .9), c(.9, .2), c(.4, .5)),
        reward = data.frame(f = c(0, 1, .4, .6), g = c(.2, 1, .6, .4), h = c(1, NA, 1, 1)))
  q <- b$suggest()
  b$withdraw(q$id)
  grid <- expand.grid(x = seq(0, 1, length.out = 101), z = seq(0, 1, length.out = 101))
  of <- function(at) {
    p <- b$posterior(at)
    score(cbind(f = p$f_mean, g = p$g_mean), cbind(f = p$f_sd), 5, as.matrix(at))
  }
  expect_gt(of(q[c("x", "z")]), max(of(grid)) - 1e-6)
  twin <- b$copy()
  expect_identical(twin$suggest(), b$suggest())
  # Tracked metrics in addition to one objective: matrices, too.
  wide <- gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_function(function(mean, sd, round) mean[, "a"] + sd[, "b"]),
                    outcomes = list(a = to_maximize(), b = tracked()))
  wide$add(arm = c(1, 3), reward = data.frame(a = c(0, 1), b = 2))
  p <- wide$posterior()
  expect_equal(wide$suggest()$arm, which.max(p$a_mean + p$b_sd))
  two <- list(a = to_maximize(), b = to_maximize())
  bad <- function(f) gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_function(f), outcomes = two)
  whole <- bad(function(mean, sd, round) mean)
  before <- whole$history()
  expect_error(whole$suggest(), "one number per point", class = "gpbandits_error")
  expect_error(bad(function(mean, sd, round) mean[, "c"])$suggest(), "subscript", class = "gpbandits_error")
  expect_identical(whole$history(), before)
})

test_that("an outcome's name that is reserved is an error that names the reason", {
  named <- function(name) {
    gp_bandit(tiny_arms, kernel_se(0.3), 0.01, policy_ei(), contexts = 1,
              outcomes = stats::setNames(list(to_maximize(), at_most(1)), c("f", name)))
  }
  for (case in list(c("width", "history"), c("arm", "history"), c("x1", "input's name"), c("z1", "context's name"),
                    c("f_mean", "posterior"))) {
    expect_error(named(case[1]), case[2], class = "gpbandits_error")
  }
})

test_that("one result, or equal ones, make the front of evaluated points", {
  out <- list(u = to_maximize(), v = to_maximize())
  b <- auto_bandit(list(x = c(0, 1)), data.frame(x = 0.42, u = 1, v = 2), outcomes = out)
  expect_identical(b$front()$x, 0.42)
  expect_identical(b$best(weights = c(u = 1, v = 1))$x, 0.42)
  b <- auto_bandit(list(x = c(0, 1)), data.frame(x = c(0.42, 0.7), u = 1, v = 2), outcomes = out)
  expect_true(all(b$front()$x %in% c(0.42, 0.7)))
  expect_true(all(b$front()$evaluated))
  # A point that was not evaluated is there only if it is surely better in some objective than each evaluated one.
  x <- seq(0, 1, length.out = 9)
  b <- auto_bandit(list(x = c(0, 1)), data.frame(x = x, u = -(x - 0.3)^2, v = -(x - 0.7)^2), outcomes = out)
  b$suggest()
  front <- b$front()
  known <- front[front$evaluated, ]
  new <- front[!front$evaluated, ]
  expect_true(all(known$x %in% x))
  expect_gt(nrow(new), 0)
  for (i in seq_len(nrow(new))) {
    better <- new$u_mean[i] - 2 * new$u_sd[i] > -(known$x - 0.3)^2 |
      new$v_mean[i] - 2 * new$v_sd[i] > -(known$x - 0.7)^2
    expect_true(all(better))
  }
})

test_that("if repeats gave equal values, fronts and weighted sums count what was observed, as one objective does", {
  # Too rugged for any model: the noise of the fit belongs to the objectives.
  set.seed(3)
  data <- data.frame(x = runif(20), y = runif(20))
  data$u <- data$x + 0.8 * sin(1e4 * data$x)
  data$v <- -data$y + 0.8 * sin(7e4 * data$y)
  space <- list(x = c(0, 1), y = c(0, 1))
  b <- auto_bandit(space, rbind(data, data[1, ]), outcomes = list(u = to_maximize(), v = to_maximize()))
  b$suggest()
  top <- data[gpbandits:::is_nondominated(as.matrix(data[c("u", "v")])), ]
  front <- b$front()
  expect_setequal(front$x, top$x)
  expect_true(all(front$evaluated))
  for (weights in list(c(u = 1, v = 1), c(u = 1, v = 0), c(u = 1, v = 3))) {
    expect_equal(b$best(weights = weights)$x, top$x[which.max(weights["u"] * top$u + weights["v"] * top$v)])
  }
  # Different values at one point: the noise is real, and the means count.
  b <- auto_bandit(space, rbind(data, within(data[1, ], {u <- u + 0.1; v <- v - 0.1})),
                   outcomes = list(u = to_maximize(), v = to_maximize()))
  b$suggest()
  p <- b$posterior(data[c("x", "y")])
  expect_setequal(b$front()$x, data$x[gpbandits:::is_nondominated(as.matrix(p[c("u_mean", "v_mean")]))])
})

test_that("limits known as yes or no are taken as observed, and the recommended point was evaluated", {
  set.seed(5)
  data <- data.frame(x = runif(14), y = runif(14))
  data$ok <- as.numeric(data$x + data$y > 0.8)
  data$reward <- -data$x - 0.5 * data$y
  feasible <- data[data$ok == 1, ]
  # (As a limit of a probability it would hold nowhere: the model is Gaussian.)
  b <- auto_bandit(list(x = c(0, 1), y = c(0, 1)), data, limits = ~ ok >= 1)
  b$suggest()
  expect_warning(best <- b$best(), "two values", class = "gpbandits_yes_no")
  expect_equal(unlist(best[c("x", "y")]), unlist(feasible[which.max(feasible$reward), c("x", "y")]))
  b <- auto_bandit(list(x = c(0, 1), y = c(0, 1)), data, limits = ~ ok >= 0.5)
  b$suggest()
  expect_no_warning(best <- b$best())
  expect_equal(unlist(best[c("x", "y")]), unlist(feasible[which.max(feasible$reward), c("x", "y")]))
  # Noisy answers at one point: no limit is known from a single answer.
  b$add(data[1, c("x", "y")], reward = c(reward = data$reward[1], ok = 1 - data$ok[1]))
  b$suggest()
  expect_no_warning(suppressWarnings(b$best(), classes = "gpbandits_infeasible"))
})

test_that("a front without a feasible point is a warning, not silence", {
  rows <- data.frame(x = 1:6, a = c(1, 3, 2, 5, 4, 6), b = c(4, 2, 5, 1, 6, 3), g = 100 + 1:6 / 10)
  b <- auto_bandit(finite_domain(1:9), data = cbind(x1 = 1:6, rows[-1]), n_initial = 0,
                   outcomes = list(a = to_maximize(), b = to_minimize(), g = at_most(50)))
  expect_warning(front <- b$front(), "No point|no point", class = "gpbandits_infeasible")
  expect_identical(nrow(front), 0L)
  expect_no_warning(print_quietly <- utils::capture.output(print(b)))
  # Before any reward there is nothing to warn of.
  expect_no_warning(auto_bandit(finite_domain(1:9), outcomes = list(a = to_maximize(), b = to_minimize(), g = at_most(50)))$front())
})
