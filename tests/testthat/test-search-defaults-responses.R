# Searches of rewards that are yes or no, counts or levels.

sold <- function(x) plogis(2 - 40 * (x - 0.3)^2)

test_that("auto_bandit() and maximize_bandit() find the best rate of yes", {
  set.seed(1)
  b <- auto_bandit(list(x = c(0, 1)), rewards = "binary")
  for (t in 1:20) {
    q <- b$suggest()
    b$observe(q$id, rbinom(1, 10, sold(q$x)), size = 10)
  }
  best <- b$best()
  expect_gt(sold(best$x), 0.8)
  expect_lt(abs(best$mean - sold(best$x)), 0.15)
  expect_gt(length(b$copy()$history()$id), 0)
  found <- maximize_bandit(function(p) c(reward = rbinom(1, 10, sold(p$x)), size = 10), list(x = c(0, 1)), 20,
                           rewards = rewards_binary())
  expect_gt(sold(found$par$x), 0.75)
  expect_true(found$value > 0 && found$value < 1)
  expect_equal(unique(found$history$size), 10)
  expect_match(paste(capture.output(summary(found)), collapse = " "), "successes of trials")
})

test_that("minimising mirrors maximising, with the direction as an argument of either", {
  play <- function(direction, of_rewards, f) {
    set.seed(2)
    b <- auto_bandit(list(x = c(0, 1)), direction = direction, rewards = rewards_binary(direction = of_rewards))
    for (t in 1:12) {
      q <- b$suggest()
      b$observe(q$id, f(q$x))
    }
    b
  }
  yes <- function(x) as.numeric(abs(x - 0.3) < 0.2)
  up <- play("maximize", "maximize", yes)
  down <- play("minimize", "maximize", function(x) 1 - yes(x))
  expect_equal(down$history()$x, up$history()$x)
  expect_equal(down$best()$mean, 1 - up$best()$mean)
  expect_equal(play("maximize", "minimize", function(x) 1 - yes(x))$history()$x, up$history()$x)
  set.seed(3)
  least <- minimize_bandit(function(p) 1 - yes(p$x), list(x = c(0, 1)), 15, rewards = rewards_binary())
  expect_equal(least$direction, "minimize")
  expect_equal(yes(least$par$x), 1)
  expect_equal(least$observed$reward, 0)
})

test_that("data may be true or false, yes or no, levels, or counts with a size; impossible ones name row and column", {
  space <- list(x = c(0, 1))
  given <- function(reward, rewards, ...) {
    auto_bandit(space, data.frame(x = c(0.1, 0.5, 0.9), reward, ...), rewards = rewards)$history()
  }
  expect_equal(given(c(TRUE, FALSE, NA), "binary")$reward, c(1, 0, NA))
  expect_equal(given(c("yes", "no", ""), "binary")$reward, c(1, 0, NA))
  expect_equal(given(c("good", "bad", "good"), rewards_ordinal(c("bad", "good")))$reward, c(2, 1, 2))
  counts <- given(c(3, 9, 0), "counts", size = c(0.5, 40, NA))
  expect_equal(counts$size, c(0.5, 40, 1))
  expect_error(given(c(1, 2, 0), "binary"), "column `reward`, not one with 2 in row 2", class = "gpbandits_error")
  expect_error(given(c(1, -2, 0), "counts"), "row 2", class = "gpbandits_error")
  expect_error(given(c("good", "fair", "bad"), rewards_ordinal(c("bad", "good"))), "fair.*row 2",
               class = "gpbandits_error")
})

test_that("an objective that returns no such reward has failed", {
  set.seed(1)
  found <- maximize_bandit(function(p) if (p$x > 0.6) 0.5 else rpois(1, 20 * p$x), list(x = c(0, 1)), 12,
                           rewards = rewards_counts())
  failed <- found$history$x > 0.6
  expect_true(any(failed))
  expect_equal(is.na(found$history$reward), failed)
  expect_equal(unique(found$history$reason[failed]), "returned 0.5")
  expect_lte(found$par$x, 0.6)
  levels <- maximize_bandit(function(p) if (p$x > 0.5) "good" else "bad", list(x = c(0, 1)), 10,
                            rewards = rewards_ordinal(c("bad", "good")))
  expect_gt(levels$par$x, 0.5)
})

test_that("contexts, changes and batches are combined with yes and no", {
  for (changes in list(NULL, change_oracle(window = 15), "auto")) {
    set.seed(1)
    b <- auto_bandit(1:3, rewards = rewards_binary(), contexts = "age", changes = changes)
    for (t in 1:6) {
      q <- b$suggest(3, context = t / 6)
      expect_equal(nrow(q), 3)
      b$observe(q$id, as.numeric(q$arm == 1 + (t > 3)))
    }
    expect_equal(b$best(context = 0.2)$arm, 1)
    expect_gt(length(as.environment(b)$refits), 0)
    twin <- from_json(as_json(b))
    expect_equal(twin$posterior(arm = 1:3, context = 0.2), b$posterior(arm = 1:3, context = 0.2))
  }
  expect_error(auto_bandit(1:3, changes = "auto"), "gp_bandit", class = "gpbandits_argument_error")
})

test_that("before the first refit predictions use a temporary fit, as for measurements", {
  set.seed(4)
  d <- data.frame(x = seq(0, 1, length.out = 12))
  d$reward <- as.numeric(d$x > 0.5)
  b <- auto_bandit(list(x = c(0, 1)), d, rewards = "binary", n_initial = 0)
  expect_equal(b$best(), {
    fitted <- b$copy()
    fitted$suggest()
    fitted$best()
  }, tolerance = 0.2)
  expect_false(identical(coef(b), coef(update(b, refit = NULL))))
})

test_that("searches in stores and journals observe yes and no", {
  file <- tempfile()
  set.seed(5)
  once <- maximize_bandit(function(p) rbinom(1, 1, sold(p$x)), list(x = c(0, 1)), 8, rewards = "binary", journal = file)
  set.seed(5)
  again <- maximize_bandit(function(p) rbinom(1, 1, sold(p$x)), list(x = c(0, 1)), 8, rewards = "binary",
                           journal = file)
  expect_equal(again$history, once$history)
  skip_if_not_installed("RSQLite")
  store <- bandit_store(tempfile(fileext = ".sqlite"), "shop")
  found <- maximize_bandit(function(p) c(reward = rbinom(1, 5, sold(p$x)), size = 5), list(x = c(0, 1)), 8,
                           rewards = "binary", store = store)
  expect_equal(nrow(found$history), 8)
  expect_equal(open_bandit(store)$history()$size, rep(5, 8))
})

test_that("what has no meaning for rewards with a likelihood is an error that says so", {
  refused <- function(..., text) {
    expect_error(auto_bandit(list(x = c(0, 1)), rewards = "binary", ...), text, class = "gpbandits_argument_error")
  }
  refused(outcomes = list(cost = to_minimize()), text = "each outcome has its own")
  refused(model = gp_model(noise = "none"), text = "noise")
  refused(model = gp_model(transform = "log"), text = "transform")
  expect_error(auto_bandit(list(x = c(0, 1)), rewards = rewards_preferences()), "rewards_binary",
               class = "gpbandits_argument_error")
})

test_that("several results of one query are added up, for successes and counts", {
  b <- gp_bandit(1:3, kernel_se(1), policy = policy_uniform(), rewards = rewards_binary())
  q <- b$suggest(3)
  b$observe(q$id[1], c(TRUE, FALSE, TRUE))
  b$observe(data.frame(id = q$id[c(2, 3, 2)], reward = c(1, 0, 0)))
  expect_equal(b$history()[c("reward", "size")], data.frame(reward = c(2, 1, 0), size = c(3, 2, 1)))
  counts <- gp_bandit(1:3, kernel_se(1), policy = policy_mean(), rewards = rewards_counts())
  counts$observe(counts$suggest()$id, c(4, 6), size = c(0.5, 2))
  expect_equal(counts$history()[c("reward", "size")], data.frame(reward = 10, size = 2.5))
  levels <- gp_bandit(1:3, kernel_se(1), policy = policy_mean(), rewards = rewards_ordinal(3))
  q <- levels$suggest()
  expect_error(levels$observe(data.frame(id = c(1, 1), reward = 1:2)), "3 levels", class = "gpbandits_argument_error")
  expect_error(levels$observe(1, 1:2), class = "gpbandits_argument_error")
})
