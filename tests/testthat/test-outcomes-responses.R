# Outcomes with a likelihood: yes or no, and counts, under limits and in goals.

latent_kernel <- kernel_matern(2.5, 0.3, 1.5)
grid <- seq(0, 1, length.out = 21)

# Six experiments with a limit on the probability of success, and the same latent posterior by helper-likelihood.R.
tried <- c(1, 6, 11, 16, 21, 11)
with_limit <- function(limit = at_least(0.6, kernel = latent_kernel, mean = 0.4, rewards = rewards_binary()), ...) {
  b <- gp_bandit(grid, kernel_se(0.2), noise_var = 1e-3, policy = policy_ei(),
                 outcomes = list(yield = to_maximize(), ok = limit), ...)
  b$add(arm = tried, reward = data.frame(yield = sin(3 * grid[tried]), ok = c(TRUE, TRUE, TRUE, FALSE, FALSE, FALSE)))
  b
}
latent_reference <- function(likelihood, k, n, m, kernel = latent_kernel) {
  ref_laplace(gpbandits:::kernel_gram(kernel, matrix(grid)), diag(21)[unique(tried), ], likelihood(k, n), m)
}

test_that("probabilities of feasibility are those of Laplace's approximation in plain R", {
  ref <- latent_reference(ref_likelihoods$logit, c(1, 1, 1, 0, 0), c(1, 1, 2, 1, 1), 0.4)
  sd <- sqrt(diag(ref$cov))
  at <- with_limit()$posterior()
  expect_equal(at$feasible, pnorm((ref$mean - qlogis(0.6)) / sd), tolerance = 1e-8)
  expect_equal(at$ok_mean, vapply(1:21, function(i) {
    integrate(function(z) plogis(ref$mean[i] + sd[i] * z) * dnorm(z), -10, 10)$value
  }, 0), tolerance = 1e-6)
  between <- with_limit(in_range(0.2, 0.7, latent_kernel, mean = 0.4, rewards = rewards_binary("probit")))$posterior()
  ref <- latent_reference(ref_likelihoods$probit, c(1, 1, 1, 0, 0), c(1, 1, 2, 1, 1), 0.4)
  z <- function(limit) (qnorm(limit) - ref$mean) / sqrt(diag(ref$cov))
  expect_equal(between$feasible, pnorm(z(0.7)) - pnorm(z(0.2)), tolerance = 1e-8)
})

test_that("counts have exposures, and limits in units of the expected count", {
  b <- gp_bandit(grid, kernel_se(0.2), noise_var = 1e-3, policy = policy_ei(),
                 outcomes = list(yield = to_maximize(), faults = at_most(1.5, latent_kernel, rewards = rewards_counts())))
  b$add(arm = tried, reward = data.frame(yield = 1, faults = c(0, 1, 2, 4, 9, 3)), size = list(faults = c(1, 1, 2, 1, 2.5, 1)))
  ref <- latent_reference(ref_likelihoods$counts, c(0, 1, 5, 4, 9), c(1, 1, 3, 1, 2.5), 0)
  sd <- sqrt(diag(ref$cov))
  at <- b$posterior()
  expect_equal(at$feasible, pnorm((log(1.5) - ref$mean) / sd), tolerance = 1e-8)
  expect_equal(at$faults_mean, exp(ref$mean + sd^2 / 2), tolerance = 1e-8)
  expect_equal(b$history()$faults_size, c(1, 1, 2, 1, 2.5, 1))
})

test_that("the suggestion has the largest EI times probability of feasibility", {
  b <- with_limit()
  ref <- latent_reference(ref_likelihoods$logit, c(1, 1, 1, 0, 0), c(1, 1, 2, 1, 1), 0.4)
  feasible <- pnorm((ref$mean - qlogis(0.6)) / sqrt(diag(ref$cov)))
  at <- b$posterior()
  incumbent <- max(at$yield_mean[tried][feasible[tried] >= 0.5])
  u <- (at$yield_mean - incumbent) / at$yield_sd
  value <- at$yield_sd * (u * pnorm(u) + dnorm(u)) * feasible
  expect_identical(b$suggest()$arm, which.max(value))
  expect_identical(suppressWarnings(b$best())$arm, which.max(feasible))
  allowed <- which(feasible >= 0.5)
  expect_identical(b$best(feasible = 0.5)$arm, allowed[which.max(at$yield_mean[allowed])])
})

test_that("a goal of successes is the mean of the formula over the latent posterior", {
  b <- gp_bandit(grid, latent_kernel, 0.1, policy_ei(), goal = ~ (1 + x1) * buys - cost,
                 outcomes = list(buys = rewards_binary(), cost = NULL))
  b$add(arm = tried, reward = data.frame(buys = c(2, 1, 0, 1, 0, 1), cost = grid[tried]), size = list(buys = c(3, 1, 2, 1, 1, 1)))
  ref <- latent_reference(ref_likelihoods$logit, c(2, 1, 1, 1, 0), c(3, 1, 3, 1, 1), 0)
  sd <- sqrt(diag(ref$cov))
  at <- b$posterior()
  set.seed(1)
  z <- qnorm(sample((1:20000 - 0.5) / 20000))
  goal <- vapply(1:21, function(i) (1 + grid[i]) * mean(plogis(ref$mean[i] + sd[i] * z)) - at$cost_mean[i], 0)
  expect_equal(at$goal_mean, goal, tolerance = 0.005)
  of <- function(i) (1 + grid[i]) * plogis(ref$mean[i] + sd[i] * z) - at$cost_mean[i] - at$cost_sd[i] * rev(z)
  incumbent <- max(goal[tried])
  improvement <- vapply(1:21, function(i) mean(pmax(of(i) - incumbent, 0)), 0)
  expect_gt(improvement[b$suggest()$arm], 0.9 * max(improvement))
  # Observed goals are about the proportion of successes.
  expect_equal(b$history()$goal[1:2], (1 + grid[tried[1:2]]) * c(2 / 3, 1) - grid[tried[1:2]])
  expect_equal(range(b$expected_improvement(3)$mean, 0, 1), c(0, 1))
})

test_that("gradients of a goal of successes are those of differences", {
  of <- function(domain) {
    b <- gp_bandit(domain, kernel_matern(2.5, c(0.3, 0.4), 2), 0.1, policy_ei(), goal = ~ x1 * buys,
                   outcomes = list(buys = rewards_binary("probit")))
    b$add(x = cbind(c(0.1, 0.5, 0.9, 0.3), c(0.2, 0.6, 0.4, 0.9)), reward = data.frame(buys = c(1, 1, 0, 0)))
    b
  }
  # A local search reaches the best of a fine grid.
  best <- of(list(x1 = c(0, 1), x2 = c(0, 1)))$best()
  fine <- expand.grid(x1 = seq(0, 1, 0.02), x2 = seq(0, 1, 0.02))
  b <- of(list(x1 = c(0, 1), x2 = c(0, 1)))
  expect_gt(best$goal_mean, max(b$posterior(fine)$goal_mean) - 1e-3)
})

test_that("refits maximise the evidence of each outcome's likelihood", {
  set.seed(3)
  b <- with_limit(refit = refit_every(1, minimum = 5, mean = "fit"))
  b$suggest()
  config <- gpbandits:::outcome_config(config_now(b), 2)
  start <- c(log(c(0.3, 1.5)), 0.4)
  prior <- function(p) dnorm(p[2], log(1.5), 1, TRUE) + dnorm(p[3], 0.4, 5, TRUE)
  objective <- function(p) {
    latent_reference(ref_likelihoods$logit, c(1, 1, 1, 0, 0), c(1, 1, 2, 1, 1), p[3],
                     kernel_matern(2.5, exp(p[1]), exp(p[2])))$log_z + prior(p)
  }
  found <- c(log(fitted_values(config$kernel)), config$mean)
  expect_gt(objective(found), objective(start) + 0.01)
  for (k in 1:3) for (step in c(-0.05, 0.05)) expect_gt(objective(found) + 1e-6, objective(replace(found, k, found[k] + step)))
  expect_identical(config$noise_var, 1)
  expect_setequal(names(coef(b)), c("yield.se.lengthscale", "yield.se.variance", "yield.noise_var", "yield.mean",
                                    "ok.matern.lengthscale", "ok.matern.variance", "ok.mean"))
})

test_that("a copy, a file, JSON and a store have the same likelihoods", {
  b <- with_limit(refit = refit_every(2, minimum = 5, mean = "fit"))
  for (k in 1:3) {
    q <- b$suggest()
    b$observe(q$id, c(yield = sin(3 * q$x1), ok = k %% 2))
  }
  b$amend(7, c(ok = 0))
  file <- tempfile()
  saveRDS(b, file)
  again <- list(b$copy(), readRDS(file), from_json(as_json(b)))
  for (other in again) {
    expect_identical(other$posterior(), b$posterior())
    expect_identical(other$history(), b$history())
  }
  suggested <- lapply(c(b, again), function(one) one$suggest())
  for (one in suggested) expect_identical(one, suggested[[1]])
})

test_that("results of an outcome that are no successes are errors, and nothing is recorded", {
  b <- with_limit()
  before <- b$history()
  q <- b$suggest()
  refused <- function(...) expect_error(b$observe(q$id, ...), class = "gpbandits_argument_error")
  refused(c(ok = 0.5))
  refused(c(ok = 3), size = 2)
  refused(c(ok = 1), size = 1.5)
  refused(c(ok = 1), noise_var = c(ok = 0.1))
  refused(c(ok = 1), sd = c(ok = 0.1))
  refused(c(yield = TRUE))
  expect_identical(b$history()[1:6, ], before)
  b$observe(q$id, c(yield = 1, ok = 1), size = c(ok = 2))
  expect_equal(b$history()$ok_size, c(rep(NA, 6), 2))
  # Several rows of one query are added up.
  q <- b$suggest()
  b$observe(data.frame(id = q$id, ok = c(1, 0, 1), yield = c(1, 2, 3)))
  expect_equal(unlist(utils::tail(b$history(), 1)[c("ok", "ok_size", "yield")], use.names = FALSE), c(2, 3, 2))
})

test_that("settings that do not go together are errors that say what to do", {
  error <- function(code, regexp) expect_error(code, regexp, class = "gpbandits_argument_error")
  error(at_least(1, rewards = rewards_binary()), "probability")
  error(at_most(2, rewards = "binary"), "probability")
  error(at_most(0, rewards = "counts"), "expected count")
  error(at_least(0.5, rewards = rewards_binary(direction = "minimize")), "to_minimize")
  error(at_least(0.5, noise_var = 0.1, rewards = "binary"), "noise_var")
  error(at_least(0.5, transform = "power", rewards = "binary"), "transform")
  error(tracked(rewards = rewards_ordinal(3)), "rewards_binary")
  error(with_limit(limit = at_least(0.5, rewards = "binary", refit = refit_every(2, noise = "varying")), refit = refit_every(2)),
        "varying")
  box <- list(x = c(0, 1))
  error(gp_bandit(box, kernel_se(1), 0.1, policy_ehvi(), outcomes = list(a = to_maximize(), b = to_maximize(rewards = "binary"))),
        "measurements")
  error(gp_bandit(box, kernel_se(1), 0.1, policy_ucb(width_igp(1, 0.1)),
                  outcomes = list(a = to_maximize(), b = at_least(0.5, rewards = "binary"))), "width_constant")
  error(gp_bandit(box, kernel_se(1), policy = policy_ei(), rewards = "binary", outcomes = list(a = to_maximize(), b = at_least(0.5))),
        "of an outcome")
})

test_that("an objective of successes under a limit is maximised and minimised", {
  of <- function(objective, ...) {
    b <- gp_bandit(grid, kernel_se(0.2), 0.01, policy_ei(),
                   outcomes = list(buys = objective, cost = at_most(0.95)), refit = refit_every(3, minimum = 5))
    b$add(arm = tried, reward = data.frame(buys = c(9, 7, 5, 3, 1, 5), cost = grid[tried]), size = list(buys = rep(10, 6)))
    b
  }
  most <- of(to_maximize(rewards = rewards_binary()))
  least <- of(to_minimize(rewards = rewards_binary()))
  expect_equal(most$posterior()$buys_mean, least$posterior()$buys_mean, tolerance = 1e-8)
  expect_true(all(diff(most$posterior()$buys_mean[tried[1:5]]) < 0))
  expect_lt(most$best()$x1, 0.2)
  expect_gt(least$best()$x1, 0.6)
  expect_lt(least$best()$x1, 0.85)
  expect_true(is.data.frame(most$suggest()))
})

test_that("the posterior of an outcome is that of a bandit with these rewards alone, whatever else the bandit has", {
  domains <- list(arms = finite_domain(seq(0, 1, length.out = 9)), box = box_domain(0, 1),
                  space = search_space(r = param_factor(c("a", "b")), x1 = param_real(0, 1)))
  contexts <- list(none = NULL, known = matrix(c(0.2, 0.9), 2, dimnames = list(NULL, "z")), open = "z")
  cases <- expand.grid(domain = names(domains), context = names(contexts), pending = c("ignore", "hallucinate"),
                       policy = c("ei", "ts"), stringsAsFactors = FALSE)
  cases <- cases[if (second_level()) seq_len(nrow(cases)) else seq(1, nrow(cases), by = 5), ]
  for (i in seq_len(nrow(cases))) {
    of <- cases[i, ]
    on <- c("x1", if (of$context != "none") "z")
    kernel <- kernel_matern(2.5, 0.4, 2, dims = on)
    if (of$domain == "space") kernel <- kernel * kernel_categorical(0.6, dims = "r")
    make <- function(...) gp_bandit(domains[[of$domain]], kernel, ..., pending = get(paste0("pending_", of$pending))(),
                                    contexts = contexts[[of$context]])
    b <- make(0.02, if (of$policy == "ei") policy_ei() else policy_ts(0.8), failures = "doubt",
              outcomes = list(y = to_maximize(), ok = at_least(0.3, mean = 0.2, rewards = rewards_binary()),
                              n = tracked(rewards = rewards_counts())))
    alone <- make(policy = policy_uniform(), rewards = rewards_binary(), mean = 0.2)
    context <- if (of$context != "none") c(z = 0.9)
    for (t in 1:6) {
      q <- b$suggest(context = context)
      x <- q[intersect(c("r", "x1"), names(q))]
      if (of$domain == "arms") alone$add(arm = q$arm, context = context) else alone$add(x = x, context = context)
      b$observe(q$id, c(y = sin(5 * q$x1), n = t))
      if (t > 2) {
        b$observe(t - 2, c(ok = t %% 2), size = c(ok = 2))
        alone$observe(t - 2, t %% 2, size = 2)
      }
    }
    b$fail(6)
    alone$withdraw(6)
    at <- b$posterior(context = context, x = if (of$domain != "arms") x)
    one <- alone$posterior(context = context, x = if (of$domain != "arms") x)
    expect_equal(at$ok_mean, one$mean, tolerance = 1e-9, info = paste(unlist(of), collapse = " "))
    expect_equal(at$ok_sd, one$sd, tolerance = 1e-9, info = paste(unlist(of), collapse = " "))
    expect_true(all(at$feasible > 0 & at$feasible < 1))
    suggested <- lapply(c(b, from_json(as_json(b))), function(one) {
      set.seed(i)
      one$suggest(context = context)
    })
    expect_identical(suggested[[1]], suggested[[2]])
  }
})

test_that("a store and the service have outcomes with a likelihood", {
  skip_without_store("RSQLite")
  place <- sqlite_location()
  b <- with_limit(refit = refit_every(2, minimum = 5, mean = "fit"), store = store_at(place, seed = 1))
  on.exit(let_go(b))
  second <- open_bandit(store_at(place))
  on.exit(let_go(second), add = TRUE)
  q <- second$suggest()
  second$observe(q$id, c(yield = 0.5, ok = 2), size = c(ok = 3))
  third <- open_bandit(store_at(place))
  on.exit(let_go(third), add = TRUE)
  expect_identical(third$history(), second$history())
  expect_identical(third$posterior(), second$posterior())
  service <- list(bandit = second, store = list(name = "b"))
  read <- function(answer) jsonlite::parse_json(answer$body, simplifyVector = TRUE)
  best <- suppressWarnings(read(gpbandits:::serve_best(service, list())))
  expect_equal(best$outcomes$ok$mean, suppressWarnings(second$best())$ok_mean)
  expect_match(paste(unlist(read(gpbandits:::serve_model(service))$outcomes), collapse = " "), "successes of trials")
  id <- second$suggest()$id
  expect_named(read(gpbandits:::serve_prediction(service, list(id = as.character(id)))), "yield")
})

test_that("a search maximises under a limit on successes, and an impossible value is a failure", {
  set.seed(1)
  allowed <- function(p) stats::plogis(6 - 10 * p$x)
  f <- function(p) c(value = p$x, ok = if (p$x < 0.02) 0.5 else rbinom(1, 1, allowed(p)))
  start <- data.frame(x = c(0.01, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9))
  found <- suppressWarnings(maximize_bandit(f, list(x = c(0, 1)), 20, initial_design = start,
                                            outcomes = list(value = to_maximize(), ok = at_least(0.5, rewards = "binary"))))
  expect_identical(found$history$status[1], "partial")
  expect_true(is.na(found$history$ok[1]))
  expect_gt(allowed(found$par), 0.5)
  data <- data.frame(x = 1:6 / 7, value = 1:6, ok = c("yes", "no", "yes", "no", "no", "no"))
  of <- function(data) auto_bandit(list(x = c(0, 1)), data, outcomes = found$outcomes)
  expect_equal(of(data)$history()$ok, c(1, 0, 1, 0, 0, 0))
  data$ok <- c(3, 2, 2, 1, 0, 0)
  data$ok_size <- 3
  expect_equal(of(data)$history()$ok_size, rep(3, 6))
  data$ok[2] <- 4
  expect_error(of(data), "row 2", class = "gpbandits_error")
})

test_that("`rewards` beside `limits` are those of the objective", {
  set.seed(1)
  play <- function(direction) {
    b <- auto_bandit(list(x = c(0, 1)), rewards = "binary", limits = ~ cost <= 0.6, direction = direction)
    for (k in 1:14) {
      q <- b$suggest()
      b$observe(q$id, c(reward = rbinom(1, 20, plogis(6 * q$x - 3)), cost = q$x), size = c(reward = 20))
    }
    suppressWarnings(b$best(), classes = "gpbandits_infeasible")
  }
  most <- play("maximize")
  expect_gt(most$x, 0.4)
  expect_lte(most$x, 0.61)
  expect_true(most$reward_mean > 0 && most$reward_mean < 1)
  expect_lt(play("minimize")$x, 0.2)
  found <- maximize_bandit(function(p) c(reward = rbinom(1, 1, 0.5), cost = p$x), list(x = c(0, 1)), 7, rewards = "binary",
                           limits = ~ cost <= 0.6)
  expect_true(all(found$history$reward %in% 0:1))
  expect_error(auto_bandit(1:3, rewards = "binary", outcomes = list(a = to_maximize())), "to_maximize",
               class = "gpbandits_argument_error")
  expect_error(auto_bandit(1:3, rewards = rewards_ordinal(3), limits = ~ a <= 1), "rewards_binary",
               class = "gpbandits_argument_error")
})

# ---- outcomes whose values are only 0 and 1 --------------------------------------------------------------------------

kind_of_ok <- function(b) config_now(b)$outcomes$ok$rewards

given_limit <- function(count, limits = ~ ok >= 0.5) {
  set.seed(5)
  data <- data.frame(x = runif(count), y = runif(count))
  data$ok <- ifelse(data$x + data$y > 0.8, "yes", "no")
  data$reward <- -data$x - 0.5 * data$y
  auto_bandit(list(x = c(0, 1), y = c(0, 1)), data, limits = limits)
}

test_that("in a search a limit on results that are only 0 and 1 gets their likelihood, until another value comes", {
  expect_null(kind_of_ok(given_limit(4)))
  b <- given_limit(14)
  expect_identical(kind_of_ok(b)$kind, "binary")
  expect_true(all(b$posterior(data.frame(x = c(0, 1), y = c(0, 1)))$ok_mean > 0))
  b$suggest()
  expect_identical(kind_of_ok(b)$kind, "binary")
  expect_lt(b$posterior(data.frame(x = 0.05, y = 0.1))$feasible, 0.5)
  expect_gt(b$posterior(data.frame(x = 0.95, y = 0.9))$feasible, 0.5)
  copy <- from_json(as_json(b))
  expect_identical(copy$posterior(data.frame(x = 0.5, y = 0.5)), b$posterior(data.frame(x = 0.5, y = 0.5)))
  # A proportion: the outcome is a number.
  b$observe(15, c(reward = -1, ok = 0.4))
  expect_null(kind_of_ok(b))
  b$suggest()
  expect_null(kind_of_ok(b))
  b$amend(15, c(ok = 1))
  expect_identical(kind_of_ok(b)$kind, "binary")
  b$amend(15, c(ok = 1), size = c(ok = 3))
  expect_null(kind_of_ok(b))
  expect_identical(from_json(as_json(b))$history(), b$history())
})

test_that("results count as certain under a limit of 0.5, and as random under other limits of their probability", {
  certain <- given_limit(14)
  certain$suggest()
  feasible <- certain$history()[1:14, ]
  feasible <- feasible[feasible$ok == 1, ]
  expect_no_warning(best <- certain$best())
  expect_equal(best[c("x", "y")], feasible[which.max(feasible$reward), c("x", "y")], ignore_attr = TRUE)
  random <- given_limit(14, ~ ok >= 0.8)
  random$suggest()
  expect_no_warning(safe <- random$best())
  expect_gte(safe$feasible, 0.95)
  expect_lt(safe$reward_mean, best$reward_mean)
  expect_lt(best$feasible, 0.95)
})

test_that("numbers stay numbers: a limit of 0 or 1, a transform of its own, other values", {
  expect_null(kind_of_ok(given_limit(14, ~ ok >= 1)))
  set.seed(1)
  data <- data.frame(x = 1:8 / 9, reward = 1:8, ok = rep(0:1, 4))
  of <- function(limit) auto_bandit(list(x = c(0, 1)), data, outcomes = list(reward = to_maximize(), ok = limit))
  expect_identical(kind_of_ok(of(at_least(0.5)))$kind, "binary")
  expect_null(kind_of_ok(of(at_least(0.5, transform = "none"))))
  expect_null(kind_of_ok(of(at_least(0.5, noise_var = 0.1))))
  expect_null(kind_of_ok(of(tracked())))
  data$ok[3] <- 0.5
  expect_null(kind_of_ok(of(at_least(0.5))))
})

test_that("a failed experiment says nothing about yes and no", {
  b <- given_limit(14)
  id <- b$suggest()$id
  at <- data.frame(x = c(0.2, 0.7), y = c(0.3, 0.6))
  failed <- b$copy()
  failed$fail(id)
  withdrawn <- b$copy()
  withdrawn$withdraw(id)
  of_ok <- c("ok_mean", "ok_sd", "feasible")
  expect_identical(failed$posterior(at)[of_ok], withdrawn$posterior(at)[of_ok])
  expect_false(identical(failed$posterior(at)$reward_mean, withdrawn$posterior(at)$reward_mean))
})
