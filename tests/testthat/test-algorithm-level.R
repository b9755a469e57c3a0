# Level-set estimation by running intervals: the worked example, the reference's choices, the guarantee.

ref_running <- function(n) list(lower = rep(-Inf, n), upper = rep(Inf, n))

ref_narrow <- function(C, p, w) {
  list(lower = pmax(C$lower, p$mean - w * p$sd), upper = pmin(C$upper, p$mean + w * p$sd))
}

ref_lse_labels <- function(C, h, eps) ifelse(C$lower + eps > h, "above", ifelse(C$upper - eps <= h, "below", "unknown"))

ref_lse_implicit <- function(C, share, eps) {
  ifelse(C$lower + eps >= share * max(C$upper), "above",
         ifelse(C$upper - eps <= share * max(C$lower), "below", "unknown"))
}

ref_lse_choice <- function(C, h, eps) {
  open <- ref_lse_labels(C, h, eps) == "unknown"
  if (!any(open)) return(ref_argmax(C$upper - C$lower, 1e-9))
  ref_argmax(ifelse(open, pmin(C$upper - h, h - C$lower), -Inf), 1e-9)
}

ref_implicit_choice <- function(C, share, eps) {
  open <- ref_lse_implicit(C, share, eps) == "unknown" | C$upper >= max(C$lower)
  ref_argmax(ifelse(open, C$upper - C$lower, -Inf), 1e-9)
}

tiny_lse <- function(level, accuracy, ...) {
  tiny <- ref_tiny()
  b <- gp_lse(tiny$x, kernel_se(0.3), tiny$noise, level, accuracy, width = width_constant(2), ...)
  b$add(arm = tiny$rows, reward = tiny$y)
  b
}

test_that("labels and choices equal those of the worked example", {
  tiny <- ref_tiny()
  C <- ref_narrow(ref_running(5), tiny, 2)
  expect_equal(pmin(C$upper - 0.4, 0.4 - C$lower)[c(2, 4)], c(.556743, .886079), tolerance = 1e-5)
  expect_equal(ref_lse_labels(C, 0.4, 0.1), c("below", "unknown", "above", "unknown", "below"))
  expect_equal(ref_lse_implicit(C, 0.8, 0.1), c("below", rep("unknown", 3), "below"))
  b <- tiny_lse(0.4, 0.1)
  found <- b$levels()
  expect_equal(found$label, ref_lse_labels(C, 0.4, 0.1))
  expect_equal(found$arm, 1:5)
  expect_equal(cbind(found$lower, found$upper), cbind(C$lower, C$upper), tolerance = tol$engine)
  expect_equal(b$suggest()$arm, 4)
  expect_equal(tiny_lse(0.8, 0.1, implicit = TRUE)$levels()$label, ref_lse_implicit(C, 0.8, 0.1))
})

for (implicit in c(FALSE, TRUE)) {
  test_that(paste("choices and labels over running intervals are the oracle's, implicit =", implicit), {
    set.seed(401)
    x <- sort(runif(25))
    K <- ref_kernel_se(0.15)(x)
    reward <- compare_rewards(K, 0, 0.2, 40)
    level <- if (implicit) 0.6 else 0.3
    b <- gp_lse(x, kernel_se(0.15), 0.04, level, 0.1, implicit = implicit, delta = 0.2)
    labels <- if (implicit) ref_lse_implicit else ref_lse_labels
    choose <- if (implicit) ref_implicit_choice else ref_lse_choice
    rows <- integer()
    y <- numeric()
    C <- ref_running(25)
    tighter <- FALSE
    for (t in 1:40) {
      p <- ref_posterior_at(K, rows, y, 0.04)
      w <- ref_width_srinivas_finite(0.2)(list(n = 25, t = t))
      C <- ref_narrow(C, p, w)
      tighter <- tighter || any(C$upper < p$mean + w * p$sd - 1e-6)
      expect_equal(b$levels()$label, labels(C, level, 0.1))
      rows[t] <- b$suggest()$arm
      expect_equal(rows[t], choose(C, level, 0.1))
      b$observe(t, y[t] <- reward(t, rows[t]))
    }
    expect_true(tighter)
    C <- ref_narrow(C, ref_posterior_at(K, rows, y, 0.04), ref_width_srinivas_finite(0.2)(list(n = 25, t = 41)))
    found <- b$levels()
    expect_equal(cbind(found$lower, found$upper), cbind(C$lower, C$upper), tolerance = tol$engine)
    expect_equal(unserialize(serialize(b, NULL))$levels(), found, tolerance = tol$replay)
    expect_equal(b$copy()$levels(), found, tolerance = tol$replay)
  })
}

test_that("labels of draws from the prior are correct to within the accuracy, and a run ends when all are labelled", {
  runs <- by_level(15, 200)
  x <- seq(0, 1, length.out = 30)
  wrong <- vapply(seq_len(runs), function(seed) {
    set.seed(seed)
    f <- as.vector(ref_draw_normal(1, rep(0, 30), ref_kernel_matern(2.5, 0.3)(x)))
    b <- gp_lse(x, kernel_matern(2.5, 0.3), 0.01, 0.2, 0.3, delta = 0.1)
    run <- run_bandit(b, bandit_problem(x, f, noise = 0.1), 150, stop_when = "levels")
    found <- b$levels()
    expect_true(b$certificate("levels")$certified)
    expect_equal(b$certificate("levels")$probability, 0.9)
    expect_lt(run$rounds, 150)
    any(found$label == "above" & f <= 0.2 - 0.3 | found$label == "below" & f > 0.2 + 0.3)
  }, TRUE)
  expect_gt(stats::binom.test(sum(wrong), runs, 0.1, "greater")$p.value, tol$p_value)
})

test_that("$levels() on a search space has NA for inputs that do not exist, and on a product the row number", {
  space <- search_space(p = param_logical(), al = param_real(0, 1, when = ~ p), x = param_real(0, 1))
  product <- product_domain(c(5, 7), list(u = c(0, 1)))
  for (domain in list(space, product)) {
    b <- gp_lse(domain, default_kernel(domain), 0.01, 0.2, 0.1, width = width_constant(2))
    set.seed(1)
    b$observe(b$suggest()$id, 0.5)
    found <- b$levels()
    if (!is.null(found$p)) expect_identical(is.na(found$al), !found$p)
    now <- b$posterior(found[domain$names])
    # The first round knew nothing.
    expect_equal(found$lower, pmax(-2, now$mean - 2 * now$sd), tolerance = tol$engine)
    expect_equal(found$upper, pmin(2, now$mean + 2 * now$sd), tolerance = tol$engine)
  }
  expect_setequal(found$arm, 1:2)
  expect_identical(found$x1, c(5, 7)[found$arm])
})

test_that("on a box the union bound counts the candidates, and their labels are correct", {
  b <- gp_lse(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.01, 0.2, 0.3)
  at <- b$levels()$x
  n <- length(at)
  expect_gt(n, 100)
  runs <- by_level(4, 100, quick = 2)
  outcome <- vapply(seq_len(runs), function(seed) {
    set.seed(400 + seed)
    f <- as.vector(ref_draw_normal(1, rep(0, n), ref_kernel_matern(2.5, 0.3)(at)))
    b <- gp_lse(list(x = c(0, 1)), kernel_matern(2.5, 0.3), 0.01, 0.2, 0.3)
    for (t in 1:60) {
      q <- b$suggest()
      here <- which(at == q$x)
      expect_length(here, 1)
      b$observe(t, f[here] + rnorm(1, sd = 0.1))
    }
    expect_equal(b$history()$width, sqrt(2 * log(n * (1:60)^2 * pi^2 / 0.6)))
    claim <- b$certificate("levels")
    expect_equal(claim$probability, 0.9)
    expect_match(claim$assumptions, "candidates, and nothing between them", all = FALSE)
    found <- b$levels()
    c(any(found$label == "above" & f <= 0.2 - 0.3 | found$label == "below" & f > 0.2 + 0.3),
      mean(found$label != "unknown"))
  }, c(0, 0))
  expect_gt(stats::binom.test(sum(outcome[1, ]), runs, 0.1, "greater")$p.value, tol$p_value)
  expect_gt(mean(outcome[2, ]), 0.9)
})

test_that("pending queries narrow no interval, and a batch has different points", {
  tiny <- ref_tiny()
  b <- gp_lse(tiny$x, kernel_se(0.3), tiny$noise, 0.4, 0.1, width = width_constant(2), pending = pending_hallucinate())
  b$add(arm = tiny$rows, reward = tiny$y)
  before <- b$levels()
  batch <- b$suggest(2)
  expect_equal(batch$arm, c(4, 2))
  expect_equal(b$levels(), before, tolerance = tol$identity)
})

test_that("an empty interval is counted, raises a warning, and is started again", {
  b <- gp_lse(1:3, kernel_se(0.5), 0.01, 0, 0.1, width = width_constant(1))
  b$add(arm = rep(2, 20), reward = rep(1, 20))
  b$suggest()
  b$add(arm = rep(2, 200), reward = rep(-1, 200))
  b$suggest()
  expect_warning(found <- b$levels(), class = "gpbandits_refuted")
  p <- b$posterior()
  expect_equal(c(found$lower[2], found$upper[2]), p$mean[2] + c(-1, 1) * p$sd[2], tolerance = tol$engine)
  expect_output(print(b), "refuted    1 time")
  expect_output(print(unserialize(serialize(b, NULL))), "refuted    1 time")
})

test_that("each context has its own intervals", {
  b <- gp_lse(1:4, kernel_se(1), 0.01, 0, 0.1, width = width_constant(2), contexts = cbind(c(0, 5)))
  b$suggest(context = 0)
  b$observe(1, 1.5)
  b$suggest(context = 5)
  one <- b$levels(context = 0)
  two <- b$levels(context = 5)
  expect_gt(max(one$lower), 0)
  expect_lt(max(two$lower), 0)
  expect_error(b$levels(), class = "gpbandits_error")
})

test_that("on a box $levels() has a row for each candidate", {
  b <- gp_lse(box_domain(0, 1), kernel_se(0.2), 0.01, 0.3, 0.1, width = width_constant(2))
  q <- b$suggest()
  found <- b$levels()
  expect_true(any(found$x1 == q$x1))
  expect_true(all(c("label", "lower", "upper") %in% names(found)))
  expect_error(gp_lse(box_domain(0, 1), kernel_se(0.2), 0.01, 0.3, 0.1, width = width_constant(2), contexts = 1),
               class = "gpbandits_error")
})

test_that("invalid levels are errors", {
  expect_error(gp_lse(1:3, kernel_se(1), 0.1, NA, 0.1), class = "gpbandits_error")
  expect_error(gp_lse(1:3, kernel_se(1), 0.1, 2, 0.1, implicit = TRUE), class = "gpbandits_error")
  expect_error(gp_lse(1:3, kernel_se(1), 0.1, 0, -1), class = "gpbandits_error")
  expect_error(gp_lse(1:3, kernel_se(1), 0.1, 0, 0.1, width = width_irgp()), class = "gpbandits_error")
  expect_error(gp_lse(1:3, kernel_se(1), 0.1, 0, 0.1, outputs = scale_outputs()), class = "gpbandits_error")
  plain <- gp_ucb(1:3, kernel_se(1), 0.1)
  expect_error(plain$levels(), class = "gpbandits_error")
  expect_error(run_bandit(plain, bandit_problem(1:3, 1:3), 5, stop_when = "levels"), class = "gpbandits_error")
  expect_equal(nrow(plain$history()), 0)
})

test_that("with fitted hyperparameters the intervals are those of several models, and contain most truths", {
  x <- seq(0, 1, length.out = 30)
  kernel <- kernel_se(0.3, variance = 400)
  lse <- function(refit) {
    gp_lse(x, kernel, noise_var = 9, level = 55, accuracy = 3, width = width_constant(2), refit = refit, mean = 50)
  }
  inside <- vapply(seq_len(by_level(40, 40, quick = 12)), function(seed) {
    set.seed(seed)
    f <- 50 + as.vector(sample_gp(kernel, x))
    b <- lse(refit_every(5))
    for (t in 1:8) {
      q <- b$suggest()
      b$observe(q$id, f[q$arm] + rnorm(1, sd = 3))
    }
    found <- b$levels()
    mean(found$lower <= f & f <= found$upper)
  }, 0)
  expect_gt(mean(inside), 0.9)
  kept <- lse(refit_every(5, average = 3, priors = list(noise_var = c(0, 2), se.lengthscale = c(0, 1))))$config$refit
  expect_identical(kept$average, 3)
  expect_identical(kept$settings$priors, list(noise_var = c(0, 2), se.lengthscale = c(0, 1)))
  expect_identical(lse(refit_every(5))$config$refit$settings$priors$noise_var[1], log(9))
  expect_error(gp_lse(x, kernel, level = 55, accuracy = 3, refit = refit_every(5)), "noise_var", class = "gpbandits_error")
})
