# Points of countable domains: none is repeated while others are left, until a repeat has shown noise; searches end.

oils <- data.frame(oil = rep(c("a", "b", "c"), each = 2), t = c(1, 2))
value <- function(p) c(a = 1, b = 5, c = 2.5)[[as.character(p$oil)]] + 0.1 * p$t
spaces <- list(table = oils, levels = list(oil = c("a", "b", "c"), t = param_integer(1, 2)),
               steps = search_space(oil = c("a", "b", "c"), t = param_real(1, 2, step = 1)),
               product = product_domain(data.frame(oil = c("a", "a", "b", "b", "c", "c"), dry = c(TRUE, FALSE)), box_domain(c(t = 1), c(t = 2), integer = TRUE)))
where <- function(rows, space) do.call(paste, rows[intersect(c("oil", "dry", "t"), names(rows))])
answered <- function(b, q) b$observe(q$id, vapply(seq_len(nrow(q)), function(i) value(as.list(q[i, ])), 0))

test_that("a point is not suggested again while others are left: alone, in batches, while pending, after failures", {
  for (name in names(spaces)) {
    count <- if (name == "product") 12 else 6
    set.seed(3)
    b <- auto_bandit(spaces[[name]], n_initial = 2)
    answered(b, b$suggest(2))
    pending <- b$suggest()
    b$fail(b$suggest()$id)
    batch <- b$suggest(count - 4)
    seen <- where(b$history())
    expect_identical(sum(duplicated(seen)), 0L, info = name)
    expect_length(seen, count)
    answered(b, rbind(pending, batch))
    expect_identical(nrow(b$suggest()), 1L)
  }
})

test_that("a repeat that differs permits others; one that agrees does not", {
  differs <- function(second, ...) {
    b <- auto_bandit(oils, n_initial = 0)
    b$add(oils[4, ], reward = 9)
    b$add(oils[c(4, 1), ], reward = c(second, 0), ...)
    b
  }
  # The fit with two equal best rewards asks for that point again as soon as it may.
  expect_false(4L %in% differs(9)$suggest(4)$arm)
  noisy <- differs(8.5)
  expect_true(gpbandits:::cpp_bandit_shows_noise(as.environment(noisy)$handle))
  noisy$amend(2, 9)
  expect_false(4L %in% noisy$suggest(4)$arm)
  set.seed(1)
  found <- maximize_bandit(function(p) value(p) + rnorm(1), oils, 25)
  expect_identical(nrow(found$history), 25L)
  expect_gt(sum(duplicated(where(found$history[7:25, ]))), 0)
})

test_that("a point is known among the arms that are allowed, and in every outcome; in contexts the best arm is repeated", {
  set.seed(1)
  b <- auto_bandit(finite_domain(1:20), contexts = list(group = c("a", "b")))
  best <- c(a = 5, b = 14)
  for (i in 1:32) {
    group <- c("a", "b")[i %% 2 + 1]
    q <- b$suggest(context = list(group = group))
    b$observe(q$id, -abs(q$arm - best[[group]]))
  }
  late <- b$history()[23:32, ]
  expect_gte(sum(abs(late$arm - best[late$group]) <= 1), 3)
  expect_gt(sum(duplicated(b$history()[c("arm", "group")])), 3)
  b <- auto_bandit(oils, n_initial = 0)
  for (i in 1:3) answered(b, b$suggest(arms = c(2, 4, 5)))
  expect_setequal(b$history()$arm, c(2, 4, 5))
  expect_true(b$suggest(arms = c(2, 4, 5))$arm %in% c(2, 4, 5))
  expect_false(b$suggest(fixed = list(oil = "c"))$arm == 5)
  several <- auto_bandit(oils, n_initial = 2, outcomes = list(yield = to_maximize(), cost = to_minimize()))
  for (i in 1:6) several$observe(several$suggest()$id, c(yield = i %% 3, cost = i))
  expect_setequal(several$history()$arm, 1:6)
})

test_that("known experiments are not in the initial design, nor points added before it ends", {
  set.seed(2)
  b <- auto_bandit(oils, data = cbind(oils[1:3, ], reward = 1:3), n_initial = 6)
  expect_setequal(b$suggest(3)$arm, 4:6)
  b <- auto_bandit(oils, n_initial = 5)
  first <- b$suggest()$arm
  b$add(oils[-first, ][1:3, ], reward = 1:3)
  expect_identical(sum(duplicated(c(b$suggest(2)$arm, b$history()$arm[1:4]))), 0L)
  own <- auto_bandit(oils, initial_design = oils[c(2, 2, 1), ])
  expect_identical(own$suggest(3)$arm, c(2L, 2L, 1L))
})

test_that("presets and gp_bandit() repeat points as their papers do", {
  b <- gp_ucb(1:3, kernel_se(0.1), 0.01)
  for (i in 1:5) b$observe(b$suggest()$id, c(0, 10, 0)[b$history()$arm[i]])
  expect_gt(sum(b$history()$arm == 2), 1)
})

test_that("a search ends with a message when all is known", {
  for (name in names(spaces)[1:3]) {
    set.seed(4)
    expect_message(found <- maximize_bandit(value, spaces[[name]], 30, n_initial = 3), "All points are known", fixed = TRUE)
    expect_identical(nrow(unique(found$history[c("oil", "t")])), 6L)
    # One repeat shows that there is no noise.
    expect_identical(nrow(found$history), 7L)
    expect_silent(six <- maximize_bandit(value, spaces[[name]], 6, n_initial = 3))
    expect_identical(sum(duplicated(six$history[c("oil", "t")])), 0L)
    expect_message(exact <- maximize_bandit(value, spaces[[name]], 30, n_initial = 30, model = gp_model(noise = "none")), "6 evaluations")
    expect_identical(nrow(exact$history), 6L)
    expect_identical(exact$par$oil, "b")
  }
  # Points with equal rewards may be of few classes: three repeats.
  found <- suppressMessages(maximize_bandit(function(p) (p$oil == "b") + 0, oils, 30))
  expect_identical(nrow(found$history), 9L)
  found <- suppressMessages(maximize_bandit(value, oils, 30, data = cbind(oils, reward = 1:6), model = gp_model(noise = "none")))
  expect_identical(nrow(found$history), 6L)
})

test_that("without noise no known point is suggested, with a message for fewer and an error for none", {
  b <- auto_bandit(oils, n_initial = 2, model = gp_model(noise = "none"))
  answered(b, b$suggest(4))
  expect_message(q <- b$suggest(4), "2 points")
  expect_identical(nrow(q), 2L)
  before <- b$history()
  expect_error(b$suggest(), "known or pending", class = "gpbandits_state_error")
  expect_identical(b$history(), before)
  b$withdraw(q$id[1])
  expect_identical(b$suggest()$arm, q$arm[1])
  path <- tempfile(fileext = ".sqlite")
  kept <- auto_bandit(oils, n_initial = 2, model = gp_model(noise = "none"), store = bandit_store(path, "b"))
  expect_identical(work_on(bandit_store(path, "b"), value, heartbeat = FALSE), 6)
  expect_error(open_bandit(bandit_store(path, "b"))$suggest(), class = "gpbandits_state_error")
  expect_identical(nrow(maximize_bandit(function(p, z) z * value(p), oils, 30, model = gp_model(noise = "none"),
                                        fidelity = list(lower = 0.5, target = 1, cost = function(z) z))$observed), 1L)
})

test_that("the same data are not fitted again within a batch of a search", {
  b <- auto_bandit(oils, data = cbind(oils[1:3, ], reward = c(1, 3, 2)), n_initial = 2)
  fits <- function() length(Filter(gpbandits:::is_real_refit, as.environment(b)$refits))
  b$suggest()
  before <- fits()
  q <- b$suggest(2)
  b$suggest(4)
  expect_identical(fits(), before)
  b$observe(q$id, c(2.5, 1.5))
  b$suggest(4)
  expect_identical(fits(), before + 1L)
})

test_that("whether repeats differ depends neither on the rewards' offset nor on rounding", {
  shows <- function(rewards) {
    b <- auto_bandit(finite_domain(1:4), data = data.frame(x1 = c(1:4, 1), reward = rewards))
    gpbandits:::cpp_bandit_shows_noise(as.environment(b)$handle)
  }
  for (offset in c(0, 1e9, -1e9)) {
    expect_true(shows(offset + c(1, 2, 3, 4, 1.25)))
    expect_false(shows(offset + c(1, 2, 3, 4, 1)))
  }
  expect_false(shows(c(0, 2, 3, 4, 1e-17)))
  expect_false(shows(c(0.3, 0.3, 0.3, 0.3, 0.1 + 0.2)))
})

test_that("whether a point is left is known without counting, and agrees with the count whatever happens to queries", {
  set.seed(5)
  for (space in list(oils, spaces$steps)) {
    b <- auto_bandit(space, n_initial = 2)
    frame <- as.environment(b)
    agrees <- function() {
      gpbandits:::rebuild(frame)
      at <- gpbandits:::contexts_for(frame, NULL, 1L)
      expect_identical(gpbandits:::cpp_bandit_has_left(frame$handle, at), gpbandits:::points_left(frame, at) > 0)
    }
    given_up <- integer()
    for (t in 1:14) {
      agrees()
      q <- b$suggest()
      agrees()
      if (t %% 3 == 0) b$fail(q$id) else if (t %% 4 == 0) b$withdraw(q$id) else answered(b, q)
      if (t %% 3 == 0) given_up <- c(given_up, q$id)
      if (t == 10) b$observe(given_up[1], 1)
    }
    agrees()
    b$reset()
    agrees()
  }
})
