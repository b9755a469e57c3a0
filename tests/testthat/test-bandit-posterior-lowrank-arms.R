# Very many arms: the best of them is found without evaluating all, and equals that of a full evaluation.

random_arms <- function(n, d, ties = 0) {
  x <- matrix(runif(n * d), n)
  same <- sample(n, ties)
  x[same, ] <- x[sample(n, ties), ]
  x
}

play_both <- function(a, b, f, rounds) {
  for (t in seq_len(rounds)) {
    arm <- vapply(list(a, b), function(bandit) bandit$suggest()$arm, 0L)
    y <- f[arm[1]] + rnorm(1, sd = 0.2)
    for (bandit in list(a, b)) bandit$observe(t, y)
    if (arm[1] != arm[2]) return(t)
  }
  rounds + 1
}

test_that("the selected arms equal those of a full evaluation until the end", {
  policies <- list(policy_ucb(width_srinivas_finite(0.1, 0.2)), policy_ei(), policy_variance(), policy_mean(),
                   policy_ucb(width_amm(1, 0.2, 0.1)))
  for (seed in seq_len(by_level(6, 30))) {
    set.seed(seed)
    d <- 1 + seed %% 3
    kernel <- list(kernel_se(0.3), kernel_matern(2.5, 0.5), kernel_se(0.5) + kernel_linear(dims = 1))[[1 + seed %% 3]]
    x <- random_arms(1500, d, ties = 100)
    mean <- if (seed %% 2) 0.2 else 0.1 * x[, 1]
    policy <- policies[[1 + seed %% 5]]
    lazy <- gp_bandit(x, kernel, 0.05, policy, mean = mean, engine = "lowrank")
    sweep <- gp_bandit(x, kernel, 0.05, policy, mean = mean, engine = "played")
    rounds <- if (policy$kind == "mean") 20 else 80
    expect_gt(play_both(lazy, sweep, sin(6 * x[, 1]), rounds), rounds, label = paste("seed", seed))
    core <- lazy$posterior()
    theirs <- sweep$posterior()
    expect_lt(max(abs(core$mean - theirs$mean), abs(core$sd - theirs$sd)), 1e-5)
    expect_identical(summary(lazy)$engine, "lowrank")
    expect_equal(lazy$best()$arm, sweep$best()$arm)
    expect_equal(lazy$information_gain(), sweep$information_gain(), tolerance = 1e-6)
  }
})

test_that("blocks that are skipped contain no better arm, whatever the width", {
  for (seed in 1:2) {
    set.seed(20 + seed)
    x <- random_arms(30000, 2, ties = 500)
    kernel <- list(kernel_se(0.2), kernel_matern(2.5, 0.3))[[seed]]
    widths <- list(width_function(function(t) 2 + sin(t)), width_srinivas_finite(0.1, 0.3))
    pair <- lapply(c("lowrank", "played"), function(engine) {
      gp_bandit(x, kernel, 0.05, policy_ucb(widths[[seed]]), engine = engine)
    })
    expect_gt(play_both(pair[[1]], pair[[2]], rowSums(sin(6 * x)), 120), 120, label = paste("seed", seed))
  }
})

test_that("with changed, removed and late rewards the arms equal those of a full evaluation", {
  skip_on_cran()
  for (seed in seq_len(by_level(4, 30, quick = 2))) {
    set.seed(100 + seed)
    x <- random_arms(800, 2)
    pair <- lapply(c("lowrank", "played"), function(engine) {
      gp_bandit(x, kernel_matern(2.5, 0.4), 0.05, policy_ucb(width_constant(2)), engine = engine,
                pending = list(pending_ignore(), pending_censor(3, -0.2), pending_hallucinate())[[1 + seed %% 3]],
                changes = if (seed %% 4 == 0) change_oracle(25))
    })
    for (t in 1:50) {
      arms <- vapply(pair, function(b) {
        set.seed(1000 * seed + t)  # (Rounds that explore are drawn.)
        b$suggest()$arm
      }, 0L)
      expect_identical(arms[1], arms[2], label = paste("seed", seed, "round", t))
      h <- pair[[2]]$history()
      pending <- h$id[h$status == "pending"]
      known <- h$id[h$status == "observed"]
      y <- rnorm(1)
      if (length(pending) && runif(1) < 0.8) {
        id <- pending[sample.int(length(pending), 1)]
        for (b in pair) b$observe(id, y)
        pending <- setdiff(pending, id)
      }
      if (length(known) && runif(1) < 0.1) for (b in pair) b$amend(known[1], y)
      if (length(pending) > 1 && runif(1) < 0.1) for (b in pair) b$withdraw(max(pending))
    }
    again <- unserialize(serialize(pair[[1]], NULL))
    arms <- vapply(list(again, pair[[1]]), function(b) {
      set.seed(seed)
      b$suggest()$arm
    }, 0L)
    expect_identical(arms[1], arms[2])
  }
})

test_that("only eligible arms are selected, and the best of them", {
  set.seed(3)
  x <- random_arms(1000, 2)
  lazy <- gp_bandit(x, kernel_se(0.3), 0.05, policy_ucb(width_constant(2)), engine = "lowrank")
  sweep <- gp_bandit(x, kernel_se(0.3), 0.05, policy_ucb(width_constant(2)), engine = "played")
  for (t in 1:30) {
    eligible <- sort(sample(1000, sample(c(1, 20, 500), 1)))
    arms <- vapply(list(lazy, sweep), function(b) b$suggest(arms = eligible)$arm, 0L)
    expect_true(arms[1] %in% eligible)
    expect_identical(arms[1], arms[2])
    for (b in list(lazy, sweep)) b$observe(t, sin(5 * x[arms[1], 1]))
  }
})

test_that("engine = \"auto\" uses the low rank for very many arms, and every method works", {
  skip_on_cran()
  set.seed(4)
  x <- random_arms(100000, 2)
  b <- gp_bandit(x, kernel_se(0.2), 0.05, policy_ucb(width_constant(2)))
  for (t in 1:8) {
    q <- b$suggest()
    b$observe(q$id, sin(5 * x[q$arm, 1]) + x[q$arm, 2])
  }
  expect_identical(summary(b)$engine, "lowrank")
  h <- b$history()
  at <- x[1:20, ]
  ref <- ref_kernel_se(0.2)
  want <- ref_posterior(ref(x[h$arm, ]), ref(at, x[h$arm, ]), diag(ref(at)), h$reward, 0.05)
  expect_lt(max(abs(b$posterior(arm = 1:20)$mean - want$mean)), 1e-5)
  expect_lt(max(abs(b$posterior(at)$sd - want$sd)), 1e-5)
  others <- list(gp_bandit(x[1:1000, ], kernel_se(0.2), 0.05, policy_ucb(width_constant(2))),
                 gp_bandit(x, kernel_se(0.2), 0.05, policy_ucb(width_constant(2)), changes = change_oracle(window = 10)))
  for (other in others) expect_false(summary(other)$engine == "lowrank")
})

test_that("joint draws over few arms work with every engine", {
  set.seed(5)
  x <- matrix(seq(0, 1, length.out = 5))
  for (engine in c("auto", "weights", "played", "lowrank", "dense")) {
    b <- gp_bandit(x, kernel_se(0.4), 0.1, policy_ucb(width_constant(1)), engine = engine)
    b$add(arm = 1:5, reward = 1:5)
    draws <- b$draw(3000)
    want <- ref_posterior_at(ref_kernel_se(0.4)(x), 1:5, 1:5, 0.1)
    expect_lt(max(abs(rowMeans(draws) - want$mean) / want$sd), 0.1, label = engine)
    expect_lt(max(abs(stats::cov(t(draws)) - want$cov)), 0.12 * max(want$cov), label = engine)
  }
  expect_error(gp_bandit(box_domain(0, 1), kernel_se(), 0.1, policy_mean())$draw(), "finite domain", class = "gpbandits_error")
})
