# Guarded hallucination, GP-UCB-PE and TS-RSR against the reference.

tiny_batch <- function(...) {
  tiny <- ref_tiny()
  b <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, ...)
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

# Information of points asked one after the other, given those known before.
ref_asked_information <- function(K, known, asked, noise) {
  ref_information_gain(K, c(known, asked), noise) - ref_information_gain(K, known, noise)
}

test_that("the guard's information and widths equal those of the worked example", {
  tiny <- ref_tiny()
  expect_equal(ref_asked_information(tiny$K, tiny$rows, 2, tiny$noise), 1.514525, tolerance = 1e-6)
  expect_equal(ref_asked_information(tiny$K, c(tiny$rows, 2), 4, tiny$noise), 1.320106, tolerance = 1e-6)
  b <- tiny_batch(policy_ucb(width_constant(2)), pending = pending_hallucinate(guard = 2))
  expect_equal(b$suggest(2)$arm, c(2, 4))
  expect_equal(bandit_facts(b)$pending_information, 1.514525 + 1.320106, tolerance = 1e-6)
  before <- b$history()
  expect_error(b$suggest(), "guard", class = "gpbandits_error")
  expect_identical(b$history(), before)
  b$observe(before$id[4], 0.7)
  expect_silent(b$suggest())
})

test_that("a batch that would exceed the guard is an error, and none of its queries is made", {
  b <- tiny_batch(policy_ucb(width_constant(2)), pending = pending_hallucinate(guard = 1))
  expect_error(b$suggest(2), "guard", class = "gpbandits_error")
  expect_equal(nrow(b$history()), 3)
  expect_equal(nrow(b$suggest()), 1)
})

test_that("with a guard, widths are multiplied by exp(guard), and choices equal the reference's", {
  set.seed(331)
  x <- sort(runif(12))
  K <- ref_kernel_se(0.25)(x)
  guard <- 0.7
  wider <- function(info) exp(guard) * ref_width_srinivas_finite(0.1)(info)
  for (make in list(
    function() gp_bandit(x, kernel_se(0.25), 0.1, policy_ucb(width_srinivas_finite(0.1)), pending = pending_hallucinate(guard)),
    function() gp_bucb(x, kernel_se(0.25), 0.1, width = width_srinivas_finite(0.1), guard = guard))) {
    ref <- ref_bandit(K, 0.1, ref_policy("ucb", wider), pending = ref_pending("hallucinate"))
    b <- make()
    run <- play_with_reference(b, ref, 20, compare_rewards(K, 0, 0.3, 20), each_round = FALSE)
    expect_history(b, run$ref)
  }
})

test_that("standard deviations without the pending queries are at most exp(guard) times those with them", {
  set.seed(332)
  x <- ref_random_inputs(30, 2)
  K <- ref_kernel_matern(2.5, 0.4)(x)
  guard <- 0.8
  b <- gp_bandit(x, kernel_matern(2.5, 0.4), 0.05, policy_ucb(width_constant(1)), pending = pending_hallucinate(guard))
  known <- integer()
  checked <- 0
  for (t in 1:25) {
    rows <- b$history()$arm
    pending <- setdiff(seq_along(rows), known)
    ratio <- ref_posterior_at(K, rows[known], numeric(length(known)), 0.05)$sd /
      ref_posterior_at(K, rows, numeric(length(rows)), 0.05)$sd
    information <- ref_asked_information(K, rows[known], rows[pending], 0.05)
    if (information > guard) {
      expect_error(b$suggest(), class = "gpbandits_error")
      b$observe(pending[1], rnorm(1))
      known <- c(known, pending[1])
    } else {
      expect_lte(max(ratio), exp(guard) + tol$bound)
      checked <- checked + (length(pending) > 0)
      b$suggest()
    }
  }
  expect_gt(checked, 3)
})

test_that("GP-UCB-PE selects the batch of the worked example", {
  tiny <- ref_tiny()
  b <- gp_ucb_pe(tiny$x, kernel_se(0.3), tiny$noise, width = width_constant(2))
  b$add(arm = tiny$rows, reward = tiny$y)
  expect_equal(b$suggest(3)$arm, c(2, 4, 2))
})

# The largest upper bound, or the largest sd of all queries within the region of the real rewards.
ref_choose_pe <- function(K, known, y, asked, noise, width) {
  p <- ref_posterior_at(K, known, y, noise)
  if (length(asked) == 0) return(ref_argmax(p$mean + width * p$sd, 1e-9))
  sd <- ref_posterior_at(K, c(known, asked), numeric(length(c(known, asked))), noise)$sd
  sd[p$mean + 2 * width * p$sd < max(p$mean - width * p$sd) - 1e-9] <- -Inf
  ref_argmax(sd, 1e-9)
}

test_that("batches of GP-UCB-PE equal the reference's", {
  set.seed(333)
  x <- sort(runif(20))
  K <- ref_kernel_se(0.15)(x)
  reward <- compare_rewards(K, 0, 0.2, 40)
  b <- gp_ucb_pe(x, kernel_se(0.15), 0.05, delta = 0.2)
  rows <- integer()
  y <- numeric()
  for (batch in 1:8) {
    asked <- integer()
    for (k in 1:5) {
      t <- length(rows) + length(asked) + 1
      width <- ref_width_srinivas_finite(0.2)(list(n = 20, t = t))
      asked[k] <- ref_choose_pe(K, rows, y, asked, 0.05, width)
    }
    q <- b$suggest(5)
    expect_equal(q$arm, asked)
    new <- vapply(1:5, function(k) reward(length(rows) + k, asked[k]), 0)
    b$observe(q$id, new)
    rows <- c(rows, asked)
    y <- c(y, new)
  }
  expect_gt(length(unique(rows)), 5)
  # Some arms were ruled out by the end.
  p <- ref_posterior_at(K, rows, y, 0.05)
  expect_true(any(p$mean + 2 * width * p$sd < max(p$mean - width * p$sd)))
})

test_that("on a box GP-UCB-PE explores within the region of possible maximisers", {
  b <- gp_ucb_pe(box_domain(0, 1), kernel_matern(2.5, 0.2), 0.001, width = width_constant(1))
  b$add(x = cbind(seq(0, 1, by = 0.1)), reward = 3 * sin(5 * seq(0, 1, by = 0.1)))
  known <- b$posterior(x = cbind(seq(0, 1, length.out = 2001)))
  inside <- known$mean + 2 * known$sd >= max(known$mean - known$sd)
  expect_lt(mean(inside), 0.5)
  b$suggest()
  sd <- b$posterior(x = cbind(seq(0, 1, length.out = 2001)))$sd
  second <- b$suggest()
  grid <- seq(0, 1, length.out = 2001)
  expect_lt(min(abs(second$x1 - grid[inside])), 1e-3)
  expect_gt(b$history()$sd[13], max(sd[inside]) - 1e-4)
})

test_that("TS-RSR equals PIMS with an sd that includes the pending queries", {
  tiny <- ref_tiny()
  a <- ts_rsr(tiny$x, kernel_se(0.3), tiny$noise)
  b <- gp_bandit(tiny$x, kernel_se(0.3), tiny$noise, policy_pims(), pending = pending_hallucinate())
  set.seed(1)
  one <- a$suggest(6)
  set.seed(1)
  expect_identical(b$suggest(6), one)
})

test_that("a search with parallel evaluations waits while the guard is exceeded", {
  search <- list2env(list(redo = list(), todo = integer(), design = matrix(0, 0, 1), evaluations = 9, stopped = FALSE,
                          history = data.frame(reward = 1), scale = 1, centre = 0, origin = 0L, stop_when = NULL,
                          begun = Sys.time(), time_limit = Inf, resumed = 0L,
                          strategy = gpbandits:::point_strategy))
  search$bandit <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ucb(width_constant(1)),
                             pending = pending_hallucinate(guard = 0.5))
  search$history$x1 <- 0.5
  expect_false(is.null(next_task(search, busy = 0)))
  expect_null(next_task(search, busy = 1))
})

test_that("invalid guards and levels are errors", {
  expect_error(pending_hallucinate(-1), class = "gpbandits_error")
  expect_error(pending_hallucinate("a"), class = "gpbandits_error")
  expect_error(gp_ucb_pe(box_domain(0, 1), kernel_se(1), 0.1), class = "gpbandits_error")
  expect_error(policy_straddle(Inf), class = "gpbandits_error")
  expect_error(policy_straddle(0, random = NA), class = "gpbandits_error")
})
