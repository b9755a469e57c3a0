# Gains through whole runs, and the information functions, against the reference.

expect_gain <- function(core, ref, kernel, ref_kernel, d = 1, lambda = 0.2, rounds = 20, n = 12) {
  x <- ref_random_inputs(n, d)
  K <- ref_kernel(x)
  b <- gp_bandit(x, kernel, lambda, policy_ucb(width_igp(1, 0.4, 0.1, core)))
  oracle <- ref_bandit(K, lambda, ref_policy("ucb", ref_width_igp(1, 0.4, 0.1, ref)))
  run <- play_with_reference(b, oracle, rounds, compare_rewards(K, 0, 0.3, rounds), each_round = FALSE)
  expect_history(b, run$ref)
}

test_that("gains of the evaluated points, of a greedy choice and of the spectrum equal the reference's", {
  set.seed(401)
  for (lambda in c(0.05, 1)) {
    expect_gain("realized", ref_gain_realized(), kernel_se(0.3), ref_kernel_se(0.3), lambda = lambda)
    expect_gain("greedy", ref_gain_greedy(), kernel_se(0.3), ref_kernel_se(0.3), lambda = lambda)
    expect_gain("spectral", ref_gain_spectral(), kernel_matern(1.5, 0.3), ref_kernel_matern(1.5, 0.3),
                lambda = lambda)
  }
})

test_that("rates of growth equal their formulas", {
  set.seed(402)
  expect_gain(gain_rate(), ref_gain_rate("se", 1), kernel_se(0.3), ref_kernel_se(0.3))
  expect_gain(gain_rate(0.5), ref_gain_rate("se", 2, scale = 0.5), kernel_se(0.3), ref_kernel_se(0.3), d = 2)
  expect_gain(gain_rate(), ref_gain_rate("matern", 2, 2.5), kernel_matern(2.5, 0.3),
              ref_kernel_matern(2.5, 0.3), d = 2)
  for (kernel in list(c("se", 0), c("matern", 1.5), c("linear", 0))) {
    nu <- as.numeric(kernel[2])
    core <- switch(kernel[1], se = kernel_se(0.3), matern = kernel_matern(nu, 0.3), linear = kernel_linear())
    ref <- switch(kernel[1], se = ref_kernel_se(0.3), matern = ref_kernel_matern(nu, 0.3), linear = ref_kernel_linear())
    expect_gain(gain_rate(0.7, "vakili"), ref_gain_rate(kernel[1], 2, nu, 0.7, sharp = TRUE), core, ref, d = 2)
  }
  # The powers of the worked example.
  power <- function(trait, d) gpbandits:::trait(kernel_matern(2.5), trait)(kernel_matern(2.5), d)[["power"]]
  expect_equal(vapply(1:3, power, 0, trait = "gain_growth"), c(.286, .545, .706), tolerance = 2e-3)
  expect_equal(vapply(1:3, power, 0, trait = "sharp_growth"), c(.167, .286, .375), tolerance = 2e-3)
  expect_output(print(gain_rate(source = "vakili")), "Vakili")
  expect_error(gain_rate(source = "other"), "`source`", class = "gpbandits_error")
  expect_gain(gain_rate(2), ref_gain_rate("linear", 3, scale = 2), kernel_linear(), ref_kernel_linear(), d = 3)
})

test_that("information_gain() is half the log determinant, for every kernel", {
  skip_if_not(exists("information_gain", asNamespace("gpbandits")))
  set.seed(403)
  for (case in compare_kernels()) {
    x <- ref_random_inputs(10, case$d)[c(1:10, 3, 3), , drop = FALSE]
    expect_equal(information_gain(case$core, x, 0.07), ref_information_gain(case$ref(x), 1:12, 0.07),
                 tolerance = tol$identity)
  }
})

test_that("information_gain() with rounds: greedy and spectral equal the reference's, and all bound brute force", {
  skip_if_not(exists("information_gain", asNamespace("gpbandits")))
  set.seed(404)
  x <- ref_random_inputs(6, 2)
  for (lambda in c(0.05, 0.8)) {
    kernel <- kernel_matern(2.5, 0.5)
    K <- ref_kernel_matern(2.5, 0.5)(x)
    e <- eigen(K, TRUE)$values
    greedy <- information_gain(kernel, x, lambda, rounds = 4, method = "greedy")
    spectral <- information_gain(kernel, x, lambda, rounds = 4, method = "spectral")
    doptimal <- information_gain(kernel, x, lambda, rounds = 4, method = "doptimal")
    brute <- vapply(1:4, function(t) ref_gain_brute(K, lambda, t), 0)
    expect_equal(as.numeric(greedy), ref_gain_greedy_path(K, lambda, 4), tolerance = tol$engine)
    expect_equal(as.numeric(spectral), vapply(1:4, function(t) ref_gain_spectral_value(e, lambda, t), 0),
                 tolerance = tol$engine)
    expect_true(all(greedy <= brute + tol$bound))
    expect_true(all(spectral >= brute - tol$bound))
    expect_true(all(doptimal >= brute - tol$bound))
    expect_true(all(doptimal <= spectral * (1 + 1e-3)))
    certificate <- vapply(1:4, function(t) ref_gain_doptimal(K, lambda, t)$value, 0)
    expect_equal(as.numeric(doptimal), certificate, tolerance = 1e-3)
  }
})

test_that("the bandit's information gain is that of the points in its variance", {
  set.seed(405)
  x <- sort(runif(10))
  K <- ref_kernel_se(0.3)(x)
  for (rule in c("ignore", "hallucinate", "censor")) {
    pending <- switch(rule, ignore = pending_ignore(), hallucinate = pending_hallucinate(),
                      censor = pending_censor(2))
    b <- gp_bandit(x, kernel_se(0.3), 0.1, policy_variance(), pending = pending)
    expect_equal(b$information_gain(), 0)
    arms <- b$suggest(n = 5)$arm
    b$observe(c(4, 2), c(1, -1))
    known <- if (rule == "ignore") arms[c(2, 4)] else arms
    expect_equal(b$information_gain(), ref_information_gain(K, known, 0.1), tolerance = tol$engine)
  }
})

test_that("gains over the arms are errors on a box and in open contexts", {
  for (gain in list("greedy", "spectral")) {
    policy <- policy_ucb(width_igp(1, 1, gain = gain))
    expect_error(gp_bandit(1:3, kernel_se(1), 0.1, policy, contexts = 1), "`gain` must be .*not \"(greedy|spectral)\" in cont",
                 class = "gpbandits_error")
    expect_error(gp_bandit(list(a = c(0, 1)), kernel_se(1), 0.1, policy), "`gain` must be .*not \"(greedy|spectral)\" on a box",
                 class = "gpbandits_error")
    b <- gp_bandit(1:3, kernel_se(1), 0.1, policy, contexts = cbind(z = c(0, 0.5)))
    expect_identical(b$suggest(context = 0.5)$id, 1L)
  }
})
