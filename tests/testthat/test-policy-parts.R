# Parts without a separate bound, or with one from elsewhere: knowledge gradient, cost, local penalisation,
# repeats, clipped rewards, StableOpt. Formulas against the worked example's numbers and the reference.

with_tiny <- function(policy, ...) {
  tiny <- ref_tiny()
  b <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, policy, ...)
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

# E max_i (mean_i + s_i z) - max mean by the trapezoidal rule.
ref_knowledge_gradient <- function(p, noise, z = seq(-9, 9, length.out = 6001)) {
  vapply(seq_along(p$mean), function(x) {
    s <- p$cov[, x] / sqrt(noise + p$cov[x, x])
    gain <- do.call(pmax, Map(function(a, b) a + b * z, p$mean, s)) - max(p$mean)
    sum(gain * stats::dnorm(z)) * (z[2] - z[1])
  }, 0)
}

test_that("the knowledge gradient equals that of the worked example, and its maximiser is selected", {
  tiny <- ref_tiny()
  gain <- ref_knowledge_gradient(tiny, tiny$noise)
  expect_equal(gain, c(0, .070596, 0, .040148, 0), tolerance = 1e-4)
  expect_equal(with_tiny(policy_kg())$suggest()$arm, 2)
})

test_that("choices of the knowledge gradient equal the reference's", {
  set.seed(411)
  x <- sort(runif(15))
  K <- ref_kernel_matern(2.5, 0.2)(x)
  reward <- compare_rewards(K, 0, 0.3, 12)
  for (engine in c("weights", "played")) {
    b <- gp_bandit(x, kernel_matern(2.5, 0.2), 0.09, policy_kg(), engine = engine)
    rows <- integer()
    y <- numeric()
    for (t in 1:12) {
      gain <- ref_knowledge_gradient(ref_posterior_at(K, rows, y, 0.09), 0.09)
      rows[t] <- b$suggest()$arm
      expect_gt(gain[rows[t]], max(gain) - 1e-6)
      b$observe(t, y[t] <- reward(t, rows[t]))
    }
    expect_gt(length(unique(rows)), 4)
  }
})

test_that("on a box the knowledge gradient selects a candidate", {
  b <- gp_bandit(box_domain(0, 1), kernel_se(0.2), 0.01, policy_kg())
  first <- b$suggest()
  expect_gt(first$x1, 0)
  b$observe(1, 1)
  expect_false(b$suggest()$x1 == first$x1)
})

test_that("expected improvement per cost equals that of the worked example", {
  tiny <- ref_tiny()
  ei <- ref_score_ei(tiny$mean, tiny$sd, max(tiny$mean[tiny$rows]))
  expect_equal(ei, c(0, .077082, .039669, .019185, 0), tolerance = 1e-4)
  cost <- c(1, 4, 1, 1, 4)
  expect_equal(with_tiny(policy_ei())$suggest()$arm, 2)
  expect_equal(with_tiny(policy_ei(cost = function(x) cost[match(x[, "x1"], tiny$x)]))$suggest()$arm,
               which.max(ei / cost))
})

test_that("a cost function is called in every round, over arms and on a box", {
  x <- seq(0, 1, length.out = 5)
  for (contexts in list(NULL, cbind(z = 0:1), 1)) {
    dear <- 1
    asked <- 0
    cost <- function(p) {
      asked <<- asked + 1
      expect_identical(p[, "x1"], x)
      ifelse(seq_along(x) == dear, 1e6, 1)
    }
    b <- gp_bandit(x, kernel_se(0.01), 0.01, policy_ei(cost = cost), contexts = contexts)
    context <- if (!is.null(contexts)) 1
    first <- b$suggest(context = context)$arm
    b$withdraw(1)
    dear <- first
    second <- b$suggest(context = context)$arm
    expect_false(second == first)
    expect_gte(asked, 2)
  }
})

test_that("on a box expected improvement per cost equals that of a fine grid", {
  x <- c(0.1, 0.35, 0.6, 0.95)
  cost <- function(x) exp(3 * x[, "x"])
  domain <- box_domain(c(x = 0.01), c(x = 1), log = "x")
  b <- gp_bandit(domain, kernel_matern(2.5, 0.5), 0.01, policy_ei(cost = cost))
  b$add(x = cbind(x), reward = sin(5 * x))
  grid <- cbind(x = exp(seq(log(0.01), 0, length.out = 4001)))
  p <- b$posterior(x = grid)
  best <- max(b$posterior(x = cbind(x))$mean)
  score <- ref_log_ei(p$mean, p$sd, best) - log(cost(grid))
  at <- as.matrix(b$suggest()["x"])
  q <- b$copy()
  core <- ref_log_ei(b$history()$mean[5], b$history()$sd[5], best) - log(cost(at))
  expect_gt(core, max(score) - 1e-4)
})

test_that("invalid costs are errors", {
  expect_error(policy_ei(cost = 3), class = "gpbandits_error")
  for (cost in list(function(x) -1, function(x) "a", function(x) stop("no"), function(x) rep(0, nrow(x)))) {
    for (domain in list(1:3, box_domain(0, 1))) {
      expect_error(gp_bandit(domain, kernel_se(1), 0.1, policy_ei(cost = cost)), class = "gpbandits_error")
    }
  }
  for (domain in list(1:3, box_domain(0, 1))) {
    price <- 1
    b <- gp_bandit(domain, kernel_se(1), 0.1, policy_ei(cost = function(x) price + 0 * x[, 1]))
    price <- NaN
    expect_error(b$suggest(), class = "gpbandits_error")
    expect_equal(nrow(b$history()), 0)
  }
})

ref_penalty <- function(x, centre, mean, sd, top, lipschitz) stats::pnorm((lipschitz * abs(x - centre) - top +
                                                                           mean) / sd)

test_that("penalties equal those of the worked example", {
  tiny <- ref_tiny()
  penalty <- ref_penalty(tiny$x, 0.25, tiny$mean[2], tiny$sd[2], max(tiny$mean), 3)
  expect_equal(penalty, c(.866307, .280408, .866307, .997444, .999996), tolerance = 1e-5)
  b <- with_tiny(policy_ei(), pending = pending_penalize(3))
  ei <- ref_score_ei(tiny$mean, tiny$sd, max(tiny$mean[tiny$rows]))
  b$add(arm = 2)
  # The pending arm counts as played: so does its mean.
  expect_equal(b$suggest()$arm, which.max(ei * penalty))
})

test_that("penalised choices equal the reference's, also for acquisition values that may be negative", {
  set.seed(412)
  x <- sort(runif(20))
  K <- ref_kernel_se(0.2)(x)
  y <- c(-1, -0.6, -0.2)
  rows <- c(3, 10, 17)
  p <- ref_posterior_at(K, rows, y, 0.01)
  soft <- log1p(exp(p$mean + 0.5 * p$sd))
  for (lipschitz in list(2, NULL)) {
    b <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(width_constant(0.5)), pending = pending_penalize(lipschitz))
    b$add(arm = rows, reward = y)
    slopes <- abs(outer(p$mean, p$mean, "-")) / abs(outer(x, x, "-"))
    L <- if (is.null(lipschitz)) max(slopes, na.rm = TRUE) else lipschitz
    score <- log(soft)
    for (k in 1:5) {
      arm <- b$suggest()$arm
      expect_equal(arm, ref_argmax(score, 1e-9))
      score <- score + log(ref_penalty(x, x[arm], p$mean[arm], p$sd[arm], max(p$mean), L))
    }
  }
})

test_that("on a box a penalised batch is spread, and maximises its own acquisition function", {
  b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), 0.01, policy_ei(), pending = pending_penalize())
  set.seed(413)
  b$add(x = matrix(runif(20), 10), reward = runif(10))
  batch <- as.matrix(b$suggest(4)[c("x1", "x2")])
  expect_gt(min(stats::dist(batch)), 0.02)
  expect_error(pending_penalize(0), class = "gpbandits_error")
  expect_output(print(pending_penalize()), "penalised")
})

test_that("repeats select each choice as often as the worked example", {
  b <- with_tiny(policy_repeats(policy_ucb(width_constant(2)), 2))
  expect_equal(pmax(1, floor(3 * 0.01 / ref_tiny()$sd^2)), c(3, 1, 3, 1, 3))
  expect_equal(b$suggest()$arm, 2)
  set.seed(414)
  x <- sort(runif(12))
  K <- ref_kernel_se(0.4)(x)
  reward <- compare_rewards(K, 0, 0.3, 60)
  b <- gp_bandit(x, kernel_se(0.4), 0.1, policy_repeats(policy_ucb(width_constant(1)), 1.5))
  rows <- integer()
  y <- numeric()
  left <- 0
  runs <- 0
  for (t in 1:60) {
    p <- ref_posterior_at(K, rows, y, 0.1)
    if (left == 0) {
      arm <- ref_argmax(p$mean + p$sd, 1e-9)
      left <- max(1, floor((1.5^2 - 1) * 0.1 / p$sd[arm]^2))
      runs <- runs + (left > 1)
      before <- p$sd
    }
    rows[t] <- b$suggest()$arm
    expect_equal(rows[t], arm)
    b$observe(t, y[t] <- reward(t, arm))
    left <- left - 1
    expect_lte(max(before / ref_posterior_at(K, rows, y, 0.1)$sd), max(1.5, if (left == 0) sqrt(1 + 0.1^-1)) +
               tol$bound)
    if (t == 30) b <- unserialize(serialize(b, NULL))
  }
  expect_gt(runs, 1)
  expect_error(policy_repeats(policy_ei(), 1), class = "gpbandits_error")
  expect_error(policy_repeats(3), class = "gpbandits_error")
})

test_that("clipped rewards and their width equal those of the worked example", {
  clip <- rewards_robust(moment = 1, rounds = 100)
  expect_equal(clip$b, 100^(1 / 4))
  tiny <- ref_tiny()
  b <- gp_bandit(tiny$x, kernel_se(0.3), 1, policy_ucb(width_realized(1, clip)), rewards = clip)
  b$add(arm = tiny$rows, reward = tiny$y)
  b$suggest()
  expect_equal(b$history()$width[4], 9.704369, tolerance = 1e-6)
  expect_equal(b$certificate()$probability, 0.9)
  wild <- gp_bandit(tiny$x, kernel_se(0.3), 1, policy_ucb(width_constant(2)), rewards = rewards_robust(clip = 2))
  suppressWarnings(wild$add(arm = c(1, 3, 5), reward = c(-50, 0.5, 9)), classes = "gpbandits_warning")
  expect_equal(wild$posterior()$mean, ref_posterior_at(tiny$K, tiny$rows, c(-2, 0.5, 2), 1)$mean,
               tolerance = tol$engine)
  expect_equal(wild$history()$reward, c(-50, 0.5, 9))
  wild$amend(3, 1)
  expect_equal(unserialize(serialize(wild, NULL))$posterior()$mean,
               ref_posterior_at(tiny$K, tiny$rows, c(-2, 0.5, 1), 1)$mean, tolerance = tol$engine)
  expect_true(is.na(gp_bandit(1:3, kernel_se(1), 1, policy_ucb(width_realized(1, clip)))$certificate()$probability))
  expect_error(gp_bandit(1:3, kernel_se(1), 1, policy_ei(), rewards = clip, outputs = scale_outputs()),
               class = "gpbandits_error")
  blamed <- function(code) expect_error(code, class = "gpbandits_error")$argument
  expect_identical(blamed(rewards_robust(rounds = 9)), "moment")
  expect_identical(blamed(rewards_robust(moment = 1)), "rounds")
  expect_identical(blamed(rewards_robust(df = 4, clip = 1)), "df")
  expect_identical(blamed(rewards_robust(alpha = 0.5)), "alpha")
  expect_identical(blamed(width_realized(1, rewards_robust())), "R")
  expect_identical(blamed(width_realized(1, clip, noise = "scales")), "noise")
  expect_identical(width_realized(1, clip, noise = "bounded"), width_realized(1, clip))
  expect_error(width_realized(1, rewards_robust(clip = 2)), class = "gpbandits_error")
  expect_error(gp_bandit(1:3, kernel_se(1), 1, policy_ei(), rewards = 3), class = "gpbandits_error")
})

ref_least_nearby <- function(value, near) apply(near, 1, function(row) min(value[row]))

test_that("StableOpt equals the worked example", {
  tiny <- ref_tiny()
  b <- stable_opt(tiny$x, kernel_se(0.3), tiny$noise, radius = 0.25)
  b$add(arm = tiny$rows, reward = tiny$y)
  expect_equal(b$suggest()$arm, 4)
  near <- abs(outer(1:5, 1:5, "-")) <= 1
  expect_equal(ref_least_nearby(tiny$mean + 2 * tiny$sd, near), c(.399787, .399787, 1.187323, -.095243, -.095243),
               tolerance = 1e-5)
  expect_equal(b$best()$arm, which.max(ref_least_nearby(tiny$mean - 2 * tiny$sd, near)))
})

test_that("choices of StableOpt equal the reference's, in two inputs", {
  set.seed(415)
  x <- ref_random_inputs(30, 2)
  K <- ref_kernel_se(0.3)(x)
  reward <- compare_rewards(K, 0, 0.2, 20)
  near <- as.matrix(ref_sqdist(x, x, c(0.2, 0.3))) <= 1
  b <- stable_opt(x, kernel_se(0.3), 0.04, radius = c(0.2, 0.3), width = width_amm(1, 0.2))
  rows <- integer()
  y <- numeric()
  for (t in 1:20) {
    p <- ref_posterior_at(K, rows, y, 0.04)
    w <- sqrt(1 + 0.04 / 0.04 * (ref_logdet(K, rows, 0.04) + 2 * log(10)))
    centre <- ref_argmax(ref_least_nearby(p$mean + w * p$sd, near), 1e-9)
    rows[t] <- b$suggest()$arm
    expect_equal(rows[t], ref_argmax(ifelse(near[centre, ], -(p$mean - w * p$sd), -Inf), 1e-9))
    b$observe(t, y[t] <- reward(t, rows[t]))
  }
  expect_error(stable_opt(x, kernel_se(1), 0.1, radius = 1:3), class = "gpbandits_error")
  expect_error(stable_opt(x, kernel_se(1), 0.1, radius = 0), class = "gpbandits_error")
  box <- stable_opt(box_domain(0, 1), kernel_se(0.2), 0.1, radius = 0.1, pending = pending_hallucinate())
  expect_equal(nrow(box$suggest(3)), 3)
})

# A measure by its definition: quantile, or mean of the tail whose values have equal weights.
ref_risk <- function(value, risk, share) {
  value <- sort(value)
  n <- length(value)
  if (risk == "var") return(value[min(which(seq_len(n) / n >= share - 1e-12))])
  sum(value * pmax(0, pmin(1 / n, share - (seq_len(n) - 1) / n))) / share
}
ref_risk_nearby <- function(value, near, risk, share) apply(near, 1, function(row) ref_risk(value[row], risk, share))

test_that("choices of StableOpt for value at risk equal those of brute force", {
  set.seed(416)
  x <- ref_random_inputs(40, 2)
  K <- ref_kernel_se(0.3)(x)
  near <- as.matrix(ref_sqdist(x, x, c(0.4, 0.5))) <= 1
  for (risk in c("var", "cvar")) for (share in c(0.25, 0.6, 1)) {
    reward <- compare_rewards(K, 0, 0.2, 10)
    b <- stable_opt(x, kernel_se(0.3), 0.04, radius = c(0.4, 0.5), risk = risk, share = share)
    rows <- integer()
    y <- numeric()
    for (t in 1:10) {
      p <- ref_posterior_at(K, rows, y, 0.04)
      l <- p$mean - 2 * p$sd
      u <- p$mean + 2 * p$sd
      centre <- ref_argmax(ref_risk_nearby(u, near, risk, share), 1e-9)
      low <- sort(l[near[centre, ]])
      high <- sort(u[near[centre, ]])
      k <- seq_len(ceiling(share * length(low) - 1e-9))
      if (risk == "var") k <- max(k)
      k <- max(k[high[k] - low[k] >= max(high[k] - low[k]) - 1e-9])
      laced <- near[centre, ] & l <= low[k] & u >= high[k]
      rows[t] <- b$suggest()$arm
      expect_true(laced[rows[t]])
      expect_equal(p$sd[rows[t]], max(p$sd[laced]), tolerance = 1e-7)
      # The step on which the guarantee rests.
      expect_lte(ref_risk(u[near[centre, ]], risk, share) - ref_risk(l[near[centre, ]], risk, share),
                 4 * p$sd[rows[t]] + 1e-9)
      b$observe(t, y[t] <- reward(t, rows[t]))
    }
    p <- ref_posterior_at(K, rows, y, 0.04)
    worth <- ref_risk_nearby(p$mean - 2 * p$sd, near, risk, share)
    expect_equal(worth[b$best()$arm], max(worth), tolerance = 1e-9)
  }
})

test_that("the share of bad perturbations decides between a peak and hills", {
  x <- seq(0, 1, length.out = 101)
  f <- exp(-((x - 0.15) / 0.03)^2) * 3 + 1.2 * exp(-((x - 0.45) / 0.1)^2) - 2 * (abs(x - 0.5) < 0.006) +
    0.6 * exp(-((x - 0.8) / 0.2)^2)
  near <- abs(outer(x, x, "-")) <= 0.0801
  found <- function(...) {
    b <- stable_opt(x, kernel_se(0.02), 1e-6, radius = 0.08, ...)
    b$add(x = x, reward = f)
    b$best()$arm
  }
  worth <- function(risk, share) ref_risk_nearby(f, near, risk, share)
  for (risk in c("var", "cvar")) for (share in c(0.3, 1)) {
    expect_equal(worth(risk, share)[found(risk = risk, share = share)], max(worth(risk, share)), tolerance = 1e-2)
  }
  expect_equal(found(risk = "var", share = 0.01), found())
  expect_equal(found(risk = "cvar", share = 0.01), found())
  expect_gt(length(unique(c(found(), found(risk = "var", share = 0.3), found(risk = "cvar", share = 1)))), 2)
  expect_error(stable_opt(x, kernel_se(1), 0.1, radius = 0.1, risk = "mean"), class = "gpbandits_error")
  expect_error(stable_opt(x, kernel_se(1), 0.1, radius = 0.1, risk = "var", share = 0), class = "gpbandits_error")
})
