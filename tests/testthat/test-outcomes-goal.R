# Goals that are formulas: the program, improvement against simulations in plain R, and all ways to keep a bandit.

shop_at <- function(...) {
  gp_bandit(1:20, kernel_se(4), 0.01, policy_ei(), goal = ~ x1 * buys - abs(cost - 2), ...)
}

shop_with <- function(goal, ...) gp_bandit(1:5, kernel_se(1), 0.1, policy_ei(), goal = goal, ...)

shop <- function(...) {
  b <- shop_at(...)
  b$add(arm = c(3, 9, 15), reward = data.frame(buys = c(0.8, 0.6, 0.1), cost = c(1, 3, 2)))
  b
}

test_that("the program of a formula has the values of R, and their gradients", {
  b <- as.environment(auto_bandit(list(u = c(1, 9), v = param_real(0.1, 10, log = TRUE)), goal = ~ y + z))
  texts <- c("y * u - abs(z - 2)", "-y^2 + log(v, 2) * exp(-z / 3)", "pmin(y, z, 3) + pmax(u, y) / (1 + v)",
             "ifelse(y > 1 & z < 3 | !(u == 2), sqrt(y + 5), cos(z) * 2)", "round(y) + sin(z) %% 2 - floor(u) %/% 2",
             "+y - (z >= 1) + xor(y > 0, u > 3) * log10(v) + log2(abs(y) + 1)", "(y != z) * ceiling(v)^2")
  set.seed(1)
  for (text in texts) {
    goal <- list(text = text, direction = "maximize")
    config <- c(b$config[names(b$config) != "goal"], list(goal = goal))
    program <- gpbandits:::goal_program(config)
    at <- cbind(y = runif(20, -2, 4), z = runif(20, 0, 4), u = runif(20, 1, 9), v = log(runif(20, 0.1, 10)))
    user <- as.data.frame(at)
    user$v <- exp(user$v)
    found <- gpbandits:::cpp_formula(program$op, program$value, unname(at))
    expect_equal(found$value, as.double(eval(str2lang(text), user)), tolerance = 1e-12, info = text)
    for (k in 1:4) {
      moved <- function(h) {
        at[, k] <- at[, k] + h
        gpbandits:::cpp_formula(program$op, program$value, unname(at))$value
      }
      expect_equal(found$gradient[, k], (moved(1e-6) - moved(-1e-6)) / 2e-6, tolerance = 1e-4, info = text)
    }
  }
})

test_that("levels and logical inputs are compared, and levels that are numbers can be computed with", {
  space <- search_space(s = param_factor(c("a", "b", "c")), n = param_factor(c(2, 5)), w = param_logical(), x = param_real(0, 1))
  b <- auto_bandit(space, goal = ~ y + ifelse(s %in% c("a", "c"), 10, 0) + (s != "b") * n + ifelse(w, 100, 0))
  q <- b$suggest(6)
  b$observe(data.frame(id = q$id, y = 1:6))
  with(b$history(), expect_equal(goal, y + ifelse(s %in% c("a", "c"), 10, 0) + (s != "b") * n + ifelse(w, 100, 0)))
  expect_error(auto_bandit(space, goal = ~ y + ifelse(s == "d", 1, 0)), "\"d\"", class = "gpbandits_argument_error")
  expect_error(auto_bandit(space, goal = ~ y * s), "levels", class = "gpbandits_argument_error")
})

test_that("a named vector gives a value for each level, and is kept as data", {
  cost <- c(a = 1, b = 20)
  b <- auto_bandit(list(s = c("a", "b"), x = c(0, 1)), goal = ~ y - cost[s] * x)
  q <- b$suggest(4)
  b$observe(data.frame(id = q$id, y = 1:4))
  expect_equal(b$history()$goal, 1:4 - unname(cost[as.character(q$s)]) * q$x)
  expect_true(all.equal(from_json(as_json(b)), b))
  cost <- c(a = 1)
  expect_error(auto_bandit(list(s = c("a", "b")), goal = ~ y - cost[s]), "\"b\" is missing",
               class = "gpbandits_argument_error")
})

test_that("contexts of a formula are in their own units, with levels too", {
  plain <- gp_bandit(1:4, kernel_se(1), 0.1, policy_ei(), contexts = matrix(c(2, 7)), goal = ~ y * z1)
  plain$add(arm = 2, context = 7, reward = data.frame(y = 3))
  expect_identical(plain$history()$goal, 21)
  expect_equal(plain$posterior(arm = 2, context = 7)$goal_mean, 7 * plain$posterior(arm = 2, context = 7)$y_mean)
  typed <- auto_bandit(list(x = c(0, 1)), goal = ~ y * scale + ifelse(team == "b", 10, 0),
                       contexts = list(team = c("a", "b"), scale = param_real(0.1, 10, log = TRUE)))
  for (k in 1:4) {
    q <- typed$suggest(context = list(team = c("a", "b")[1 + k %% 2], scale = k))
    typed$observe(q$id, c(y = k))
  }
  expect_equal(typed$history()$goal, (1:4)^2 + c(10, 0, 10, 0))
})

test_that("a suggestion has the largest expected improvement of the goal in simulations", {
  b <- shop()
  at <- b$posterior()
  set.seed(2)
  goal_of <- function(arm, draws = 20000) {
    buys <- rnorm(draws, at$buys_mean[arm], at$buys_sd[arm])
    arm * buys - abs(rnorm(draws, at$cost_mean[arm], at$cost_sd[arm]) - 2)
  }
  incumbent <- max(vapply(c(3, 9, 15), function(arm) mean(goal_of(arm)), 0))
  improvement <- vapply(1:20, function(arm) mean(pmax(goal_of(arm) - incumbent, 0)), 0)
  expect_gt(improvement[b$suggest()$arm], 0.97 * max(improvement))
  means <- vapply(1:20, function(arm) mean(goal_of(arm)), 0)
  expect_equal(at$goal_mean, means, tolerance = 0.02)
  expect_equal(at$goal_sd, vapply(1:20, function(arm) sd(goal_of(arm)), 0), tolerance = 0.05)
  expect_gt(means[b$best()$arm], max(means) - 0.05)
})

test_that("a goal of one outcome that is the outcome gives its means and optimum", {
  data <- data.frame(arm = c(2, 10, 17), y = c(1, 3, 2))
  plain <- gp_bandit(1:20, kernel_se(4), 0.01, policy_ei())
  plain$add(arm = data$arm, reward = data$y)
  goal <- gp_bandit(1:20, kernel_se(4), 0.01, policy_ei(), goal = ~ y)
  goal$add(arm = data$arm, reward = data["y"])
  expect_equal(goal$posterior()$goal_mean, plain$posterior()$mean, tolerance = 1e-6)
  expect_equal(goal$posterior()$goal_sd, plain$posterior()$sd, tolerance = 1e-6)
  expect_identical(goal$best()$arm, plain$best()$arm)
  expect_identical(goal$suggest()$arm, plain$suggest()$arm)
  least <- gp_bandit(1:20, kernel_se(4), 0.01, policy_ei(), goal = list(text = "y", direction = "minimize"),
                     outcomes = list(y = "tracked"))
  least$add(arm = data$arm, reward = data["y"])
  expect_identical(least$best()$arm, which.min(plain$posterior()$mean))
})

test_that("a target in the middle is found on a box, with gradients, in the goal's units", {
  set.seed(4)
  b <- auto_bandit(list(a = c(0, 1), b = c(0, 1)), goal = ~ -abs(thick - 5))
  for (k in 1:16) {
    q <- b$suggest()
    b$observe(q$id, c(thick = 3 + 4 * q$a^2 + q$b))
  }
  best <- b$best()
  expect_lt(abs(3 + 4 * best$a^2 + best$b - 5), 0.02)
  expect_equal(best$goal_mean, -abs(best$thick_mean - 5), tolerance = 0.05)
  expect_output(print(b), "goal -abs\\(thick - 5\\) maximised; thick tracked.*goal -?[0-9.e-]+ \\+-")
  expect_identical(b$history()$goal, -abs(b$history()$thick - 5))
  expect_true(is.finite(b$expected_improvement(2)$mean))
  local_device()
  expect_identical(plot(b, "progress")$best, cummax(b$history()$goal))
  expect_silent(plot(b))
})

test_that("limits hold beside a goal, and goals may be minimised", {
  b <- gp_bandit(1:20, kernel_se(4), 1e-4, policy_ei(), goal = ~ y, limits = ~ z <= 1)
  b$add(arm = seq(1, 19, by = 3), reward = data.frame(y = seq(1, 19, by = 3), z = seq(1, 19, by = 3) / 10))
  expect_lte(b$best()$arm, 10)
  expect_lte(b$suggest()$arm, 11)
  set.seed(5)
  least <- auto_bandit(list(x = c(0, 1)), direction = "minimize", goal = ~ (y - 1)^2, outcomes = list(y = NULL))
  for (k in 1:9) {
    q <- least$suggest()
    least$observe(q$id, c(y = 3 * q$x))
  }
  expect_equal(least$best()$x, 1 / 3, tolerance = 0.05)
  expect_identical(nrow(least$history()), 9L)
})

test_that("a bandit with a goal is the same in a copy, in JSON, in a file and in a store, without trust", {
  b <- shop(pending = pending_hallucinate())
  b$suggest(2)
  expect_true(all.equal(from_json(as_json(b)), b))
  file <- tempfile()
  saveRDS(b, file)
  expected <- b$copy()$suggest(2)
  expect_identical(readRDS(file)$suggest(2), expected)
  expect_identical(from_json(as_json(b))$suggest(2), expected)
  skip_without_store("RSQLite")
  place <- sqlite_location()
  first <- shop(store = store_at(place, seed = 1))
  on.exit(let_go(first), add = TRUE)
  second <- open_bandit(store_at(place))
  on.exit(let_go(second), add = TRUE)
  expect_identical(second$history(), first$history())
  expect_identical(second$best(), first$best())
})

test_that("a formula cannot run code, neither as given nor from a file", {
  expect_error(shop_with(~ system("ls") + buys), "calls system", class = "gpbandits_argument_error")
  expect_error(shop_with(~ buys + get("T")), "calls get", class = "gpbandits_argument_error")
  json <- as_json(shop())
  expect_error(from_json(sub("x1 * buys", "system('ls') * buys", json, fixed = TRUE)), "calls system", class = "gpbandits_error")
})

test_that("errors of goals name what is wrong", {
  expect_error(shop_with(~ x1 * 2), "no outcome", class = "gpbandits_argument_error")
  expect_error(shop_with(~ round(buys, )), "empty argument", class = "gpbandits_argument_error")
  expect_error(shop_with("buys"), "`goal`", class = "gpbandits_argument_error")
  expect_error(shop_with(~ buys, outcomes = list(buys = to_maximize())), "an objective", class = "gpbandits_argument_error")
  expect_error(shop_with(~ buys, outcomes = list(buys = rewards_ordinal(3))), "rewards_binary", class = "gpbandits_argument_error")
  expect_error(shop_with(~ buys + unknown_name, outcomes = list(buys = NULL)), "unknown_name", class = "gpbandits_argument_error")
  expect_error(gp_bandit(1:5, kernel_se(1), 0.1, policy_ucb(2), goal = ~ y), "`goal`", class = "gpbandits_argument_error")
  expect_error(auto_bandit(1:5, goal = ~ y, reward = "y"), "`reward`", class = "gpbandits_argument_error")
})

test_that("constants are taken from the calling environment if the outcomes are given", {
  weight <- 3
  b <- shop_with(~ weight * y, outcomes = list(y = NULL))
  b$add(arm = 2, reward = data.frame(y = 2))
  expect_identical(b$history()$goal, 6)
})

test_that("a search has the goal in its result, and goes on from its history", {
  set.seed(6)
  f <- function(p) c(y1 = sin(3 * p$x), y2 = p$x^2)
  found <- maximize_bandit(f, list(x = c(-1, 2)), 9, goal = ~ -((y1 - 0.5)^2 + (y2 - 1)^2))
  history <- found$history
  expect_equal(history$goal, -((history$y1 - 0.5)^2 + (history$y2 - 1)^2))
  expect_equal(found$value[["goal"]], max(history$goal), tolerance = 0.05)
  expect_identical(found$observed$goal, max(history$goal))
  expect_identical(as.data.frame(found)$best, cummax(history$goal))
  expect_output(print(found), "goal .* maximised")
  more <- maximize_bandit(f, list(x = c(-1, 2)), 2, data = history, goal = ~ -((y1 - 0.5)^2 + (y2 - 1)^2))
  expect_equal(more$history$goal[1:9], history$goal)
  again <- auto_bandit(list(x = c(-1, 2)), data = found$bandit$history(), goal = ~ y1)
  expect_identical(again$history()$goal, history$y1)
})

test_that("the service has the goal of the recommended point and of each experiment", {
  skip_without_store("RSQLite")
  b <- shop(store = store_at(sqlite_location(), seed = 1))
  on.exit(let_go(b))
  service <- list(bandit = b, store = list(name = "b"))
  read <- function(answer) jsonlite::parse_json(answer$body, simplifyVector = TRUE)
  best <- read(gpbandits:::serve_best(service, list()))
  expect_equal(best$outcomes$goal$mean, b$best()$goal_mean)
  expect_identical(read(gpbandits:::serve_model(service))$goal$name, "goal")
  expect_equal(read(gpbandits:::serve_history(service, list()))$rows$goal, b$history()$goal)
})
