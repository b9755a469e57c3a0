# The low-rank engine of a bandit against the reference: errors within the certificate, the certificate
# within the aim, or the dense engine serves.

# The part of summary() about the engine, without the check of the model in it.
engine_facts <- function(bandit) gpbandits:::bandit_facts(bandit)[c("engine", "rank", "error_bound")]

# Means and sds that should be `want`; `slack` is the rounding of both sides.
expect_within_bound <- function(bandit, got, want, info = NULL, accuracy = 1e-3, slack = 1e-6) {
  facts <- engine_facts(bandit)
  bound <- facts$error_bound
  expect_lte(bound, accuracy, label = paste("bound:", info))
  if (facts$engine == "dense") expect_identical(bound, 0)
  expect_lte(max(abs(got$mean - want$mean) - bound * want$sd), slack, label = paste("mean:", info))
  sure <- want$sd > 1e-6
  expect_lte(max(abs(log(got$sd / want$sd))[sure]), log1p(bound) + slack / min(want$sd[sure]), label = paste("sd:", info))
}

# Places that rewards come from: spread, close together, and some of them twice.
played_rows <- function(n, d) {
  x <- matrix(runif(n * d), n)
  close <- seq_len(n %/% 3)
  x[close, ] <- rep(x[n, ], each = length(close)) + rnorm(length(close) * d, sd = 0.03)
  x <- pmin(pmax(x, 0), 1)
  rbind(x, x[1:3, , drop = FALSE])
}

# A bandit over a box, over a product, or over arms in open contexts, whose inputs are these
# points; and what adds point i to it.
life_over <- function(kind, x, kernel, noise_var, pending, drift, ...) {
  d <- ncol(x)
  at <- function(i, columns) x[i, columns, drop = FALSE]
  make <- function(domain, contexts = NULL) {
    gp_bandit(domain, kernel, noise_var, policy_ucb(width_constant(2)), mean = 0.3, pending = pending, changes = drift,
              contexts = contexts, engine = "lowrank", ...)
  }
  if (kind == "box" || d == 1) {
    b <- make(box_domain(rep(0, d), rep(1, d)))
    return(list(bandit = b, add = function(i, ...) b$add(x = at(i, 1:d), ...), posterior = function() b$posterior(x)))
  }
  if (kind == "product") {
    b <- make(product_domain(at(seq_len(nrow(x)), 1), box_domain(rep(0, d - 1), rep(1, d - 1), paste0("b", 2:d))))
    return(list(bandit = b, add = function(i, ...) b$add(arm = i, x = at(i, 2:d), ...), posterior = function() b$posterior(x)))
  }
  b <- make(at(seq_len(nrow(x)), 1), d - 1)
  list(bandit = b, add = function(i, ...) b$add(arm = i, context = x[i, -1], ...),
       posterior = function() b$posterior(at(seq_len(nrow(x)), 1), context = at(seq_len(nrow(x)), -1)))
}

play_event <- function(b, ref, life, n) {
  h <- b$history()
  some <- function(ids) if (length(ids)) ids[sample.int(length(ids), 1)]
  event <- sample(c("add", "pending", "observe", "own", "amend", "withdraw"), 1, prob = c(6, 3, 3, 1, 1, 1))
  y <- rnorm(1)
  i <- sample(n, 1)
  id <- some(h$id[h$status == if (event == "amend") "observed" else "pending"])
  if (event == "add") {
    life$add(i, reward = y)
    ref <- ref_add(ref, i, y)
  } else if (event == "pending") {
    life$add(i)
    ref <- ref_add(ref, i, NA)
  } else if (!is.null(id)) {
    noise <- if (event == "own") rexp(1, 10) + 1e-3
    if (event %in% c("observe", "own")) {
      b$observe(id, y, noise_var = noise)
      ref <- ref_observe(ref, id, y, noise = if (is.null(noise)) NA else noise)
    }
    if (event == "amend") {
      b$amend(id, y)
      ref <- ref_amend(ref, id, y)
    }
    if (event == "withdraw") {
      b$withdraw(id)
      ref <- ref_withdraw(ref, id)
    }
  }
  ref
}

test_that("random runs with late, changed and removed rewards, windows, weights and drift stay accurate", {
  skip_on_cran()
  pendings <- list(list(pending_ignore(), ref_pending()), list(pending_hallucinate(), ref_pending("hallucinate")),
                   list(pending_censor(4, -0.2), ref_pending("censor", 4, -0.2)))
  drifts <- list(list(NULL, ref_drift()), list(change_oracle(window = 15), ref_drift("window", W = 15)),
                 list(change_oracle(rate = 0.1, by = "weights"), ref_drift("weight", eta = 0.9)), list(change_oracle(rate = 0.1), ref_drift("fade", eps = 0.1)),
                 list(NULL, ref_drift()))
  kernels <- compare_kernels()
  engines <- character()
  for (seed in seq_len(by_level(10, 150, quick = 3))) {
    set.seed(seed)
    kernel <- kernels[[1 + seed %% length(kernels)]]
    x <- played_rows(24, kernel$d)
    pending <- pendings[[1 + seed %% 3]]
    drift <- drifts[[1 + seed %% 5]]
    noise_var <- 10^runif(1, -3, 0)
    life <- life_over(c("box", "product", "contexts")[1 + (seed %/% 3) %% 3], x, kernel$core, noise_var, pending[[1]], drift[[1]])
    b <- life$bandit
    ref <- ref_bandit(kernel$ref(x), noise_var, ref_policy("ucb", ref_width_constant(2)), mean = 0.3, pending = pending[[2]],
                      drift = drift[[2]])
    for (event in 1:40) {
      ref <- play_event(b, ref, life, nrow(x))
      if (event %% 5) next
      expect_within_bound(b, life$posterior(), ref_bandit_posterior(ref), paste("seed", seed, "event", event))
      engines <- c(engines, engine_facts(b)$engine)
    }
    again <- unserialize(serialize(b, NULL))
    expect_identical(again$history(), b$history())
    expect_equal(summary(again)[c("engine", "rank", "error_bound")], engine_facts(b))
    expect_equal(b$information_gain(), again$information_gain(), tolerance = tol$identity)
  }
  expect_gt(mean(engines == "lowrank"), 0.6)
})

# The reference's posterior at `at`, given the observations of a bandit over a box.
fitted_at <- function(ref, x, y, noise_var, at) {
  ref_posterior(ref(x), ref(at, x), diag(ref(at)), y, noise_var)
}

test_that("after restarts, epochs and refits the engine is correct again", {
  set.seed(2)
  box <- box_domain(0, 1)
  b <- gp_bandit(box, kernel_se(0.3), 0.05, policy_ucb(width_constant(2)), engine = "lowrank", changes = change_oracle(25))
  for (t in 1:40) b$observe(b$suggest()$id, rnorm(1))
  h <- b$history()
  now <- h$id > 25
  at <- matrix(runif(20))
  want <- fitted_at(ref_kernel_se(0.3), cbind(h$x1[now]), h$reward[now], 0.05, at)
  expect_within_bound(b, b$posterior(at), want)
  expect_identical(summary(b)$engine, "lowrank")
  b <- gp_bandit(box, kernel_se(0.3), 0.05, policy_ei(), engine = "lowrank", refit = refit_every(20))
  for (t in 1:45) {
    id <- b$suggest()$id
    b$observe(id, sin(5 * b$history()$x1[id]) + rnorm(1, sd = 0.2))
  }
  h <- b$history()
  fit <- current_config(b)
  fitted <- ref_kernel_se(fit$kernel$lengthscale, fit$kernel$variance)
  want <- fitted_at(fitted, cbind(h$x1), h$reward - fit$mean, fit$noise_var, at)
  want$mean <- want$mean + fit$mean
  expect_within_bound(b, b$posterior(at), want)
})

benchmark <- function(name) {
  of <- benchmark_function(name)
  side <- of$domain$upper - of$domain$lower
  list(domain = of$domain, side = side, f = function(x) (of$f(x) + 54) / 52)
}

test_that("on a box a run has the regret of the dense engine, with a certified error", {
  problem <- benchmark("branin")
  set.seed(3)
  regret <- vapply(c("dense", "lowrank"), function(engine) {
    b <- gp_bandit(problem$domain, kernel_se(0.3 * problem$side), 0.01, policy_ucb(width_constant(2)), engine = engine)
    set.seed(4)
    run <- run_bandit(b, bandit_problem(problem$domain, problem$f, noise = 0.1), 150)
    expect_identical(summary(b)$engine, engine)
    h <- b$history()
    x <- as.matrix(h[c("x1", "x2")])
    want <- fitted_at(ref_kernel_se(0.3 * problem$side), x, h$reward, 0.01, x[seq(1, 150, 7), ])
    expect_within_bound(b, b$posterior(x[seq(1, 150, 7), ]), want)
    sum(as.data.frame(run)$regret)
  }, 0)
  expect_equal(regret[["lowrank"]], regret[["dense"]], tolerance = 0.02)
})

test_that("engine = \"auto\" changes in both directions without an effect on choices", {
  skip_on_cran()
  set.seed(5)
  kernel <- kernel_se(0.08)
  ref <- ref_kernel_se(0.08)
  x <- rbind(matrix(runif(300, 0, 0.05), 150), matrix(runif(900), 450))
  y <- rnorm(nrow(x))
  b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel, 0.05, policy_ucb(width_constant(2)))
  expect_identical(summary(b)$engine, "dense")
  at <- matrix(runif(40), 20)
  engines <- character()
  for (part in split(seq_len(nrow(x)), (seq_len(nrow(x)) - 1) %/% by_level(25, 10))) {
    b$add(x = x[part, , drop = FALSE], reward = y[part])
    engines <- c(engines, engine_facts(b)$engine)
    known <- seq_len(max(part))
    if (max(part) %% 100 == 0) {
      expect_within_bound(b, b$posterior(at), fitted_at(ref, x[known, ], y[known], 0.05, at), paste(max(part), "rewards"))
    }
  }
  # Dense while there is little, low rank while all is in a corner, dense when it has spread.
  expect_identical(rle(engines)$values[1:3], c("dense", "lowrank", "dense"))
})

test_that("choices depend neither on reading results nor on a replay", {
  lives <- lapply(c(FALSE, TRUE), function(looks) {
    b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.8), 0.05, policy_ucb(width_constant(2)))
    set.seed(6)
    b$add(x = matrix(runif(250), 125), reward = rnorm(125))
    for (t in 1:8) {
      if (looks) summary(b)
      b$observe(b$suggest()$id, rnorm(1))
      if (looks) b$posterior(matrix(0.5, 1, 2))
    }
    b
  })
  expect_identical(summary(lives[[1]])$engine, "lowrank")
  expect_identical(lives[[1]]$history(), lives[[2]]$history())
  again <- unserialize(serialize(lives[[1]], NULL))
  expect_identical(again$suggest(3), lives[[1]]$suggest(3))
})

# Each of these breaks a factorisation that trusts its pivots.
hostile_points <- function() {
  base <- matrix(runif(30), 15)
  list(near_duplicates = list(x = rbind(base, base + 1e-9, base - 1e-9), length = 0.3, noise = 1e-2),
       far = list(x = rbind(base, base + 1e5, matrix(9e5, 2, 2)), length = 0.3, noise = 1e-2),
       spikes = list(x = rbind(base, base), length = 1e-3, noise = 1e-2),
       line = list(x = cbind(seq(0, 1, length.out = 45), 0.5), length = 2, noise = 1e-2),
       little_noise = list(x = base, length = 0.3, noise = 1e-8),
       little_noise_twice = list(x = rbind(base, base + 1e-9), length = 0.3, noise = 1e-8),
       single_point = list(x = matrix(0.5, 45, 2), length = 0.3, noise = 1e-8))
}

test_that("for difficult points the error is below the certificate, or the dense engine is used", {
  set.seed(7)
  for (name in names(hostile_points())) for (smooth in c(TRUE, FALSE)) {
    it <- hostile_points()[[name]]
    ref <- if (smooth) ref_kernel_se(it$length) else ref_kernel_matern(2.5, it$length)
    core <- if (smooth) kernel_se(it$length) else kernel_matern(2.5, it$length)
    y <- sin(5 * pmin(it$x[, 1], 2)) + sqrt(it$noise) * rnorm(nrow(it$x))
    b <- gp_bandit(box_domain(c(-1, -1), c(1e6, 1e6)), core, it$noise, policy_ucb(width_constant(2)), engine = "lowrank")
    for (i in seq_len(nrow(it$x))) b$add(x = it$x[i, , drop = FALSE], reward = y[i])
    at <- rbind(it$x[1:5, ], matrix(runif(20), 10), c(500, 500))
    # (The reference itself is good to about eps / noise.)
    expect_within_bound(b, b$posterior(at), fitted_at(ref, it$x, y, it$noise, at), paste(name, smooth),
                        slack = max(1e-6, 1e-13 * nrow(it$x) / it$noise))
    expect_true(all(is.finite(unlist(b$suggest()[c("x1", "x2")]))))
  }
})

test_that("the cost of finite-rank kernels depends on their rank, in open contexts too", {
  set.seed(8)
  arms <- matrix(rnorm(60 * 4), 60)
  b <- gp_bandit(arms, kernel_linear() + kernel_linear(0.5, dims = 1:2) * kernel_linear(dims = 5), 0.1,
                 policy_ucb(width_constant(1)), contexts = 1)
  theta <- rnorm(5)
  for (t in 1:260) {
    z <- rnorm(1)
    q <- b$suggest(context = z)
    b$observe(q$id, sum(theta * c(arms[q$arm, ], z)) + rnorm(1, sd = 0.3))
  }
  expect_identical(summary(b)[c("engine", "rank")], list(engine = "lowrank", rank = 7L))
  h <- b$history()
  x <- as.matrix(h[c("x1", "x2", "x3", "x4", "z1")])
  ref <- ref_kernel_sum(ref_kernel_linear(), ref_kernel_product(ref_kernel_linear(0.5, dims = 1:2), ref_kernel_linear(dims = 5)))
  want <- fitted_at(ref, x, h$reward, 0.1, cbind(arms, 0.7))
  expect_within_bound(b, b$posterior(context = 0.7), want)
})

test_that("in new contexts the best of all arms is selected, and a replay selects the same", {
  set.seed(11)
  arms <- matrix(runif(160), 80)
  b <- gp_bandit(arms, kernel_se(0.6), 0.1, policy_ucb(width_constant(1.5)), mean = seq(0, 0.1, length.out = 80),
                 contexts = 2, engine = "lowrank")
  for (t in 1:160) {
    z <- runif(2)
    at <- b$posterior(context = z)
    q <- b$suggest(context = z)
    score <- at$mean + 1.5 * at$sd
    expect_gte(score[q$arm], max(score) - 2e-9)
    b$observe(q$id, sin(3 * arms[q$arm, 1] + 2 * z[1]) + rnorm(1, sd = 0.3))
  }
  expect_gt(summary(b)$rank, 64)
  again <- unserialize(serialize(b, NULL))
  expect_identical(again$suggest(context = c(0.3, 0.8)), b$suggest(context = c(0.3, 0.8)))
  expect_identical(again$posterior(context = c(0.3, 0.8)), b$posterior(context = c(0.3, 0.8)))
})

test_that("in a new context the best of the eligible arms is selected, for every kernel", {
  for (one in split_kernels()) {
    set.seed(12)
    arms <- matrix(runif(80), 40)
    b <- gp_bandit(arms, one[[1]], 0.1, policy_ucb(width_constant(1.5)), contexts = 2, engine = "lowrank")
    for (t in 1:45) {
      if (t == 30) b$add_arms(matrix(runif(20), 10))
      z <- runif(2)
      may <- if (t %% 3 == 0) sort(sample.int(40, 25)) else seq_len(if (t < 30) 40 else 50)
      score <- with(b$posterior(context = z), mean + 1.5 * sd)
      q <- b$suggest(context = z, arms = if (t %% 3 == 0) may)
      expect_true(q$arm %in% may && score[q$arm] >= max(score[may]) - 2e-9)
      b$observe(q$id, sin(3 * q$x1 + 2 * z[1]) + rnorm(1, sd = 0.3))
    }
  }
})

test_that("Thompson sampling and joint draws over arms have the posterior's distribution", {
  set.seed(9)
  arms <- matrix(seq(0, 1, length.out = 6))
  b <- gp_bandit(arms, kernel_se(0.4), 0.1, policy_ts(width_constant(1)), contexts = 1, engine = "lowrank")
  b$add(arm = rep(1:6, 5), context = matrix(runif(30)), reward = rnorm(30))
  expect_identical(summary(b)$engine, "lowrank")
  draws <- b$draw(4000, context = 0.5)
  h <- b$history()
  ref <- ref_kernel_se(0.4)
  at <- cbind(arms, 0.5)
  want <- ref_posterior(ref(cbind(h$x1, h$z1)), ref(at, cbind(h$x1, h$z1)), ref(at), h$reward, 0.1)
  expect_lt(max(abs(rowMeans(draws) - want$mean) / want$sd), 0.1)
  expect_lt(max(abs(stats::cov(t(draws)) - want$cov)), 0.1 * max(want$cov))
})

test_that("invalid engines and accuracies are errors", {
  box <- box_domain(0, 1)
  bandit <- function(...) gp_bandit(box, kernel_se(0.3), 0.1, policy_mean(), ...)
  expect_error(bandit(accuracy = 0), "accuracy", class = "gpbandits_error")
  expect_error(bandit(accuracy = 2), "accuracy", class = "gpbandits_error")
  expect_error(bandit(engine = "low"), "engine", class = "gpbandits_error")
  expect_output(print(summary(bandit(engine = "lowrank"))), "low rank, within")
  loose <- bandit(engine = "lowrank", accuracy = 0.5)
  tight <- bandit(engine = "lowrank", accuracy = 1e-4)
  set.seed(10)
  x <- matrix(runif(60))
  for (b in list(loose, tight)) b$add(x = x, reward = sin(9 * x[, 1]))
  expect_lt(summary(loose)$rank, summary(tight)$rank)
  expect_lte(summary(tight)$error_bound, 1e-4)
})

test_that("if no further point can join the basis, its error is measured before the dense engine is used", {
  skip_on_cran()
  set.seed(3)
  arms <- matrix(runif(20), 20)
  z <- runif(1e5)
  b <- gp_bandit(arms, kernel_se(1), 0.1, policy_ucb(width_constant(1)), contexts = 1, accuracy = 5e-5)
  for (t in 1:2000) {
    query <- b$suggest(context = z[t])
    b$observe(query$id, sin(3 * query$x1) + z[t] + rnorm(1, sd = 0.3))
  }
  known <- engine_facts(b)
  expect_identical(known$engine, "lowrank")
  expect_lte(known$error_bound, 5e-5)
  expect_lt(known$rank, 60)
})
