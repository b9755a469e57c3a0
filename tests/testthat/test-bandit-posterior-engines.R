# Both finite engines against the reference and against each other, arm by arm.

engines <- c("weights", "played")

# A bandit of ours on x with the engine asked for, and the reference for it.
engine_pair <- function(engine, x, core, K, lambda, mean = 0, width = 2) {
  list(bandit = gp_bandit(x, core, lambda, policy_ucb(width_constant(width)), mean = mean, engine = engine),
       ref = ref_bandit(K, lambda, ref_policy("ucb", ref_width_constant(width)), mean = mean))
}

expect_engine <- function(engine, x, core, K, lambda, mean = 0, rounds = 30, noise_sd = sqrt(lambda)) {
  pair <- engine_pair(engine, x, core, K, lambda, mean)
  run <- play_with_reference(pair$bandit, pair$ref, rounds, compare_rewards(K, mean, noise_sd, rounds))
  expect_lt(run$worst$mean, tol$engine)
  expect_lt(run$worst$sd, tol$engine)
  gain <- ref_information_gain(K, run$ref$rows[-rounds], lambda)
  expect_equal(pair$bandit$information_gain(), gain, tolerance = tol$engine)
}

for (engine in engines) {
  test_that(paste("engine", engine, "equals the oracle for every kernel"), {
    set.seed(101)
    for (case in compare_kernels()) {
      x <- ref_random_inputs(25, case$d)
      expect_engine(engine, x, case$core, case$ref(x), 0.05)
    }
  })

  test_that(paste("engine", engine, "equals the oracle on more arms than the full-rank limit"), {
    set.seed(102)
    x <- sort(runif(90))
    expect_engine(engine, x, kernel_se(0.15), ref_kernel_se(0.15)(x), 0.05, rounds = 40)
    expect_engine(engine, x, kernel_matern(2.5, 0.3), ref_kernel_matern(2.5, 0.3)(x), 0.05, rounds = 40)
  })

  test_that(paste("engine", engine, "takes covariances of any rank"), {
    set.seed(103)
    for (rank in c(1, 3, 12)) {
      K <- ref_random_covariance(12, rank)
      expect_engine(engine, seq_len(12), kernel_matrix(K), K, 0.1)
    }
    K <- ref_random_covariance(80, 5)
    expect_engine(engine, seq_len(80), kernel_matrix(K), K, 0.1)
  })

  test_that(paste("engine", engine, "bears tiny noise, duplicated arms and a single arm"), {
    set.seed(104)
    x <- sort(runif(20))
    expect_engine(engine, x, kernel_matern(1.5, 0.2), ref_kernel_matern(1.5, 0.2)(x), 1e-6)
    expect_engine(engine, x, kernel_se(0.2), ref_kernel_se(0.2)(x), 1e-6)
    twice <- c(x[1:8], x[1:8], x[3])
    expect_engine(engine, twice, kernel_se(0.2), ref_kernel_se(0.2)(twice), 0.01)
    expect_engine(engine, 0.4, kernel_se(0.2, 3), matrix(3), 0.5)
  })

  test_that(paste("engine", engine, "takes prior means, one for all or one per arm"), {
    set.seed(105)
    x <- ref_random_inputs(15, 2)
    K <- ref_kernel_se(0.4)(x)
    expect_engine(engine, x, kernel_se(0.4), K, 0.05, mean = -3)
    expect_engine(engine, x, kernel_se(0.4), K, 0.05, mean = rnorm(15))
    # Arms that are similar but not the same.
    K <- ref_random_covariance(4)
    expect_engine(engine, c(1, 1, 2, 2), kernel_matrix(K), K, 0.05, mean = c(1, 5, 2, -3))
  })
}

test_that("the two engines agree with each other in long runs", {
  set.seed(106)
  x <- ref_random_inputs(120, 2)
  f <- compare_rewards(ref_kernel_matern(2.5, 0.4)(x), 0, 0.2, 150)
  both <- lapply(engines, function(engine) {
    gp_bandit(x, kernel_matern(2.5, 0.4), 0.04, policy_ucb(width_srinivas_finite()), engine = engine)
  })
  for (b in both) {
    for (t in 1:150) {
      query <- b$suggest()
      b$observe(query$id, f(t, query$arm))
    }
  }
  histories <- lapply(both, function(b) b$history())
  expect_identical(histories[[1]]$arm, histories[[2]]$arm)
  expect_lt(max(abs(histories[[1]]$mean - histories[[2]]$mean)), tol$engine)
  expect_lt(max(abs(histories[[1]]$sd - histories[[2]]$sd)), tol$engine)
  posteriors <- lapply(both, function(b) b$posterior())
  expect_lt(max(abs(as.matrix(posteriors[[1]]) - as.matrix(posteriors[[2]]))), tol$engine)
})

test_that("in both engines late rewards in any order give the posterior of a new fit", {
  set.seed(107)
  x <- sort(runif(18))
  K <- ref_kernel_se(0.2)(x)
  rules <- list(list(pending_ignore(), ref_pending()),
                list(pending_hallucinate(), ref_pending("hallucinate")),
                list(pending_censor(4, -1), ref_pending("censor", 4, -1)),
                list(pending_censor(Inf, 0.5), ref_pending("censor", Inf, 0.5)))
  for (engine in engines) {
    for (rule in rules) {
      b <- gp_bandit(x, kernel_se(0.2), 0.05, policy_ucb(width_constant(2)), mean = 0.3,
                     pending = rule[[1]], engine = engine)
      ref <- ref_bandit(K, 0.05, ref_policy("ucb", ref_width_constant(2)), mean = 0.3, pending = rule[[2]])
      run <- play_with_reference(b, ref, 30, compare_rewards(K, 0.3, 0.2, 30), delay = rpois(30, 4))
      expect_lt(run$worst$mean, tol$engine)
      expect_lt(run$worst$sd, tol$engine)
      expect_history(b, run$ref)
    }
  }
})
