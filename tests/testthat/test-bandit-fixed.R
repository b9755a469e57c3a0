# Inputs that are fixed in a suggestion: the choice is the slice's best, and the log holds it.

box <- function() box_domain(c(a = 0, b = 0, c = 1), c(1, 1, 100), log = c(FALSE, FALSE, TRUE))

taught_box <- function(policy = policy_ei(), ...) {
  b <- gp_bandit(box(), kernel_matern(2.5, c(0.4, 0.3, 1.5)), 0.01, policy, ...)
  set.seed(11)
  x <- data.frame(a = runif(9), b = runif(9), c = exp(runif(9, 0, log(100))))
  b$add(x, reward = sin(5 * x$a) + x$b - (log(x$c) - 2)^2 / 4)
  b
}

# Expected improvement over an incumbent, by hand.
improvement <- function(p, best) {
  z <- (p$mean - best) / p$sd
  p$sd * (z * pnorm(z) + dnorm(z))
}

test_that("with fixed inputs the choice on a box is the best of a fine grid of the slice, with the slice's incumbent", {
  b <- taught_box()
  h <- b$history()
  incumbent <- max(b$posterior(data.frame(a = 0.3, h[c("b", "c")]))$mean)
  grid <- expand.grid(a = 0.3, b = seq(0, 1, length.out = 161), c = exp(seq(0, log(100), length.out = 161)))
  best <- max(improvement(b$posterior(grid), incumbent))
  q <- b$suggest(fixed = list(a = 0.3))
  expect_identical(q$a, 0.3)
  found <- improvement(taught_box()$posterior(q[c("a", "b", "c")]), incumbent)
  expect_gte(found, best * (1 - 1e-6))
  expect_lte(found, best * 1.01)
  # Not so over the whole box's incumbent, which is another.
  expect_gt(abs(max(b$posterior(h[c("a", "b", "c")])$mean) - incumbent), 0.001)
})

test_that("choices on a slice of a box equal those on the box without the fixed input", {
  whole <- gp_bandit(box_domain(c(a = 0, b = 0), c(1, 1)), kernel_se(0.3), 0.01, policy_ucb(width_constant(2)))
  rest <- gp_bandit(box_domain(c(b = 0), c(b = 1)), kernel_se(0.3), 0.01, policy_ucb(width_constant(2)))
  for (t in 1:6) {
    x <- whole$suggest(fixed = list(a = 0.25))
    y <- rest$suggest()
    expect_equal(x$b, y$b, tolerance = 1e-6)
    whole$observe(t, sin(6 * y$b))
    rest$observe(t, sin(6 * y$b))
  }
  expect_equal(whole$best(fixed = list(a = 0.25))$b, rest$best()$b, tolerance = 1e-6)
  expect_identical(whole$best(fixed = c(a = 0.75))$a, 0.75)
})

test_that("over arms those with the fixed values are eligible, by inputs and by names", {
  arms <- data.frame(x = rep(1:4 / 4, 3), y = rep(1:3, each = 4), solvent = paste0("s", 1:12))
  b <- gp_bandit(arms, kernel_se(0.5), 0.01, policy_ucb(width_constant(1)))
  b$add(arm = c(2, 7), reward = c(1, 3))
  p <- b$posterior()
  score <- p$mean + p$sd
  score[arms$y != 2] <- -Inf
  expect_identical(b$suggest(fixed = list(y = 2))$arm, which.max(score))
  expect_identical(b$suggest(fixed = list(solvent = "s9"))$arm, 9L)
  expect_identical(b$best(fixed = list(y = 1))$y, 1)
  expect_identical(b$suggest(arms = c(1, 6), fixed = list(y = 2))$arm, 6L)
  expect_error(b$suggest(arms = 1, fixed = list(y = 2)), class = "gpbandits_error")
})

test_that("fixed inputs work on products, in rows and in the box", {
  space <- product_domain(data.frame(k = 1:3), list(t = c(0, 1), u = c(0, 1)))
  b <- gp_bandit(space, kernel_se(c(1, 0.3, 0.3)), 0.01, policy_ei(), pending = pending_hallucinate())
  set.seed(2)
  for (i in 1:5) b$add(data.frame(k = i %% 3 + 1, t = runif(1), u = runif(1)), reward = rnorm(1))
  h <- b$history()
  incumbent <- max(b$posterior(data.frame(k = 2, t = h$t, u = 0.5))$mean)
  grid <- data.frame(k = 2, t = seq(0, 1, length.out = 2001), u = 0.5)
  best <- max(improvement(b$posterior(grid), incumbent))
  now <- b$copy()
  q <- b$suggest(fixed = list(k = 2, u = 0.5))
  expect_identical(c(q$k, q$u, q$arm), c(2, 0.5, 2))
  expect_gte(improvement(now$posterior(q[c("k", "t", "u")]), incumbent), best * (1 - 1e-5))
  q <- b$suggest(3, fixed = list(t = 0.125))
  expect_identical(q$t, rep(0.125, 3))
  expect_identical(b$copy()$history(), b$history())
})

mixed <- function() {
  search_space(solvent = param_factor(c("water", "ethanol", "hexane")), temp = param_real(20, 80),
               rate = param_real(0.01, 1, log = TRUE), stir = param_logical(),
               speed = param_integer(1, 9, when = ~stir), where = ~ temp <= 60 | solvent != "hexane")
}

test_that("fixed inputs work on search spaces with levels, logarithms, conditions and constraints", {
  space <- mixed()
  b <- auto_bandit(space)
  set.seed(3)
  for (i in 1:9) {
    q <- if (i %% 2) b$suggest(fixed = list(solvent = "water")) else b$suggest(fixed = list(rate = 0.1 + 0.2))
    if (i %% 2) expect_identical(q$solvent, "water") else expect_equal(q$rate, 0.3, tolerance = 1e-14)
    b$observe(q$id, -(q$temp - 50)^2 / 1000 - (q$solvent == "hexane") + log(q$rate) / 9)
  }
  expect_identical(unique(b$suggest(4, fixed = list(solvent = "hexane", speed = 4))$speed), 4L)
  q <- b$suggest(2, fixed = list(temp = 70))
  expect_true(all(q$temp == 70 & q$solvent != "hexane"))
  expect_identical(b$best(fixed = list(solvent = "ethanol", stir = TRUE))$stir, TRUE)
  expect_identical(b$copy()$history(), b$history())
  again <- b$copy()
  set.seed(4)
  one <- b$suggest(fixed = list(stir = FALSE))
  set.seed(4)
  expect_identical(again$suggest(fixed = list(stir = FALSE)), one)
  expect_identical(is.na(one$speed), TRUE)
  err <- expect_error(b$suggest(fixed = list(solvent = "hexane", temp = 70)), class = "gpbandits_error")
  expect_identical(err$argument, "fixed")
  expect_match(conditionMessage(err), "where")
})

test_that("on a search space the choice is the best of all points of the slice", {
  space <- search_space(k = param_factor(c("p", "q")), x = param_real(0, 1), y = param_real(0, 1), where = ~ x + y <= 1.2)
  b <- gp_bandit(space, default_kernel(space), 0.01, policy_ei())
  set.seed(5)
  for (i in 1:8) {
    x <- runif(2, 0, 0.6)
    b$add(data.frame(k = c("p", "q")[1 + i %% 2], x = x[1], y = x[2]), reward = sum(sin(4 * x)) + i %% 2)
  }
  h <- b$history()
  moved <- data.frame(k = h$k, x = 0.7, y = h$y)
  incumbent <- max(b$posterior(moved[moved$y <= 0.5, ])$mean)
  grid <- expand.grid(k = c("p", "q"), x = 0.7, y = seq(0, 0.5, length.out = 4001), stringsAsFactors = FALSE)
  best <- max(improvement(b$posterior(grid), incumbent))
  now <- b$copy()
  q <- b$suggest(fixed = list(x = 0.7))
  expect_gte(improvement(now$posterior(q[c("k", "x", "y")]), incumbent), best * (1 - 1e-5))
})

test_that("fixed values are in replays, journals and JSON, to the bit", {
  path <- tempfile()
  b <- auto_bandit(mixed(), journal = path)
  set.seed(6)
  for (i in 1:6) {
    q <- b$suggest(fixed = list(temp = 30 + i, stir = i %% 2 == 0))
    b$observe(q$id, -q$temp + q$rate)
  }
  expect_identical(sum(grepl("|2=", b$events$arms, fixed = TRUE)), 6L)
  on_disk <- open_bandit(path, trust = TRUE)
  expect_identical(on_disk$history(), b$history())
  asked <- lapply(list(b$copy(), on_disk, unserialize(serialize(b, NULL)), from_json(as_json(b))), function(one) {
    set.seed(7)
    suppressWarnings(one$suggest(fixed = list(temp = 33)))
  })
  for (other in asked[-1]) expect_identical(other, asked[[1]])
})

test_that("Thompson sampling, uniform sampling and exploration stay within the slice", {
  for (policy in list(policy_ts(width_constant(1)), policy_uniform(), policy_mes(5), policy_function(function(m, s, t) m + s))) {
    b <- taught_box(policy, pending = pending_hallucinate())
    expect_identical(b$suggest(2, fixed = list(b = 0.5, c = 10))$b, c(0.5, 0.5))
  }
  b <- gp_bandit(mixed(), default_kernel(mixed()), 0.01, policy_uniform())
  set.seed(8)
  q <- b$suggest(30, fixed = list(solvent = "hexane", speed = 3))
  expect_true(all(q$solvent == "hexane" & q$speed == 3L & q$temp <= 60))
})

test_that("invalid fixed values are errors that name the input and change nothing", {
  b <- taught_box()
  before <- b$history()
  for (bad in list(list(a = 2), list(z = 1), list(a = "x"), list(1), 3, list(a = 1:2), list(a = NA), list(a = 1, a = 1),
                   list(), "a")) {
    err <- expect_error(b$suggest(fixed = bad), class = "gpbandits_error")
    expect_identical(err$argument, "fixed")
    expect_error(b$best(fixed = bad), class = "gpbandits_error")
  }
  expect_identical(b$history(), before)
  expect_error(bpe(1:5 / 5, kernel_se(0.3), 0.01, rounds = 20, B = 1, R = 1)$suggest(fixed = list(x1 = 0.2)),
               class = "gpbandits_error")
  for (text in c("|1=0.25", "|1=", "|=1", "1", "|1=0.5x", "|1=inf", "|2=1,1=0.5", "||", "|", "")) {
    spoilt <- b$copy()
    spoilt$suggest(fixed = list(a = 0.5))
    events <- spoilt$events
    events$arms[!is.na(events$arms)] <- text
    expect_error(spoilt$copy()$history(), class = "gpbandits_error")
  }
})

test_that("the regret of UCB against the slice's best is at most twice the width times the sd if the interval holds", {
  arms <- expand.grid(x = 0:7 / 7, y = 0:7 / 7)
  set.seed(12)
  k <- kernel_se(0.3)
  f <- as.vector(sample_gp(k, as.matrix(arms)))
  b <- gp_bandit(arms, k, 0.01, policy_ucb(width_constant(2.5)))
  y <- 0
  for (t in 1:40) {
    p <- b$posterior()
    slice <- floor(7 * plogis(y)) / 7                       # by the last reward
    q <- b$suggest(fixed = list(y = slice))
    here <- arms$y == slice
    holds <- all(abs(f - p$mean)[here] <= 2.5 * p$sd[here])
    gap <- max(f[here]) - f[q$arm]
    if (holds) expect_lte(gap, 5 * p$sd[q$arm] + 1e-12)
    y <- f[q$arm] + rnorm(1, 0, 0.1)
    b$observe(q$id, y)
  }
})

test_that("stores and the service accept fixed inputs, and a lease is taken over only within the slice", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("jsonlite")
  store <- bandit_store(tempfile(fileext = ".db"), "fixed")
  b <- auto_bandit(mixed(), store = store)
  set.seed(9)
  q <- b$suggest(fixed = list(solvent = "water"), worker = "w", lease = 1e-3)
  expect_identical(q$solvent, "water")
  Sys.sleep(0.05)
  r <- b$suggest(fixed = list(solvent = "hexane"), lease = 60)
  expect_false(r$id == q$id)
  expect_identical(b$suggest(fixed = list(solvent = "water"), lease = 60)$id, q$id)
  service <- list(bandit = b, store = store)
  said <- gpbandits:::serve_suggest(service, list(fixed = list(temp = 45, stir = TRUE)))
  point <- jsonlite::fromJSON(said$body)$queries$point
  expect_identical(list(point$temp, point$stir), list(45L, TRUE))
  expect_error(gpbandits:::serve_suggest(service, list(fixed = list(1, 2))), class = "gpbandits_error")
  expect_error(gpbandits:::serve_suggest(service, list(fixed = list(temp = 1))), class = "gpbandits_error")
  expect_identical(open_bandit(store)$history(), b$history())
})
