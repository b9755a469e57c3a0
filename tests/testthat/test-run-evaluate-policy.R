# Propensities of logged choices, and estimates of other policies from them.

quietly <- function(...) suppressWarnings(evaluate_policy(...), classes = "gpbandits_small_sample")

test_that("uniform sampling and exploration have propensities by formula, deterministic policies none", {
  x <- seq(0, 1, length.out = 8)
  b <- gp_bandit(x, kernel_se(0.3), 0.04, policy_uniform())
  for (t in 1:5) b$suggest()
  expect_identical(b$history()$propensity, rep(1 / 8, 5))
  expect_false("propensity" %in% names(gp_ucb(x, kernel_se(0.3), 0.04)$history()))
  change <- gp_bandit(x, kernel_se(0.3), 0.04, policy_ucb(width_constant(2)), changes = change_never(explore = 1))
  for (t in 1:12) {
    q <- change$suggest()
    change$observe(q$id, x[q$arm])
  }
  h <- change$history()
  expect_true(all(c("policy", "explore") %in% h$action))
  expect_identical(h$propensity, ifelse(h$action == "explore", 1 / 8, 1))
  some <- gp_bandit(x, kernel_se(0.3), 0.04, policy_uniform())
  some$suggest(arms = c(1, 3:5))
  expect_identical(some$history()$propensity, 1 / 4)
  # In a box there is a density, not a probability.
  box <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.04, policy_uniform())
  box$suggest()
  expect_identical(box$history()$propensity, NA_real_)
})

test_that("Thompson sampling's propensities are those of its draws, with two arms in closed form", {
  K <- matrix(c(1, 0.4, 0.4, 1.5), 2)
  noise_var <- 0.5
  b <- gp_bandit(c(0, 1), kernel_matrix(K), noise_var, policy_ts(width_constant(1.3)))
  set.seed(8)
  for (t in 1:6) {
    q <- b$suggest()
    if (t != 4) b$observe(q$id, c(0.3, 0.1)[q$arm] + rnorm(1, sd = 0.5))
    else b$withdraw(q$id)
  }
  set.seed(9)
  h <- b$history(draws = 20000)
  after <- runif(1)
  set.seed(9)
  expect_identical(runif(1), after)
  for (t in 1:6) {
    known <- setdiff(seq_len(t - 1), 4)
    k <- K[, h$arm[known], drop = FALSE]
    V <- K[h$arm[known], h$arm[known], drop = FALSE] + diag(noise_var, length(known))
    mean <- if (length(known)) drop(k %*% solve(V, h$reward[known])) else c(0, 0)
    cov <- if (length(known)) K - k %*% solve(V, t(k)) else K
    sd <- 1.3 * sqrt(cov[1, 1] + cov[2, 2] - 2 * cov[1, 2])
    first <- pnorm((mean[1] - mean[2]) / sd)
    expect_equal(h$propensity[t], if (h$arm[t] == 1) first else 1 - first, tolerance = 0.015)
  }
  expect_true(all(is.na(b$history(draws = 0)$propensity)))
  longer <- b$copy()
  run <- run_bandit(longer, bandit_problem(b$config$domain, rep(0, 2)), 3)
  expect_identical(as.data.frame(run)$propensity, utils::tail(longer$history()$propensity, 3))
  expect_true(all(is.na(as.data.frame(run, draws = 0)$propensity)))
  longer$reset()
  expect_true(all(is.na(as.data.frame(run)$propensity)))
  expect_error(b$history(draws = -1), "`draws`", class = "gpbandits_error")
  only <- b$copy()
  only$suggest(arms = 2)
  expect_identical(only$history()$propensity[7], 1)
  # Nothing is drawn again where nobody asks; an evaluation asks.
  for (policy in list(policy_ts(width_constant(1)), policy_mes())) {
    asked <- gp_bandit(seq(0, 1, 0.25), kernel_se(0.5), 0.04, policy)
    run <- run_bandit(asked, bandit_problem(seq(0, 1, 0.25), 1:5 / 5), 40)
    expect_true(all(is.na(c(asked$history()$propensity, as.data.frame(run)$propensity))))
    expect_true(all(asked$history(draws = 5)$propensity > 0))
    value <- quietly(run, gp_bandit(seq(0, 1, 0.25), kernel_se(0.5), 0.04, policy_uniform()), "snips", draws = 20)
    expect_true(value$n == 40 && value$lower <= value$estimate && value$estimate <= value$upper)
  }
  # After a restart, a refit and in contexts they are those of the time as well: never zero, at most one.
  ctx <- gp_bandit(seq(0, 1, 0.25), kernel_se(0.5), 0.04, policy_ts(width_constant(1)), contexts = 1, changes = change_oracle(every = 5),
                   refit = refit_every(4, minimum = 3))
  for (t in 1:12) {
    q <- ctx$suggest(context = t %% 2)
    ctx$observe(q$id, q$x1 * t %% 2)
  }
  p <- ctx$history(draws = 50)$propensity
  expect_true(all(p > 0 & p <= 1))
})

test_that("the probabilities of all arms before a choice are those of the choice that follows", {
  b <- gp_bandit(c(0, 0.4, 1), kernel_se(0.3), 0.1, "ts", contexts = "age")
  set.seed(4)
  for (k in 1:5) {
    q <- b$suggest(context = c(age = k / 6))
    b$observe(q$id, k %% 2)
  }
  set.seed(9)
  before <- b$propensity(context = c(age = 0.3), draws = 20000)
  after <- runif(1)
  set.seed(9)
  expect_identical(runif(1), after)
  expect_named(before, c("arm", "x1", "age", "propensity", "propensity_se"))
  expect_equal(sum(before$propensity), 1)
  both <- b$propensity(context = data.frame(age = c(0.9, 0.3)), draws = 20000)
  expect_identical(both$age, rep(c(0.9, 0.3), each = 3))
  expect_lt(max(abs(both$propensity[4:6] - before$propensity)), 0.02)
  q <- b$suggest(context = c(age = 0.3))
  expect_lt(abs(before$propensity[q$arm] - b$history(draws = 20000)$propensity[q$id]), 0.02)
  some <- b$copy()$propensity(context = c(age = 0.3), arms = c(1, 3))
  expect_identical(some$arm, c(1L, 3L))
  expect_true(all(some$propensity > 0) && abs(sum(some$propensity) - 1) < 1e-12)
  # Without draws: uniform choices, and those without randomness.
  expect_identical(gp_bandit(1:4, kernel_se(1), 0.1, "uniform")$propensity(arms = c(2, 3))$propensity, c(0.5, 0.5))
  sure <- gp_ucb(1:3, kernel_se(1), 0.1)$add(arm = 1:3, reward = c(0, 2, 1))
  expect_identical(sure$propensity()[c("propensity", "propensity_se")], data.frame(propensity = c(0, 1, 0), propensity_se = 0))
  expect_error(auto_bandit(data.frame(page = c("A", "B")), policy = "ts")$propensity(), "initial design",
               class = "gpbandits_state_error")
  expect_error(auto_bandit(list(page = c("A", "B")))$propensity(), "expand.grid", class = "gpbandits_state_error")
  expect_error(b$propensity(), "`context`", class = "gpbandits_error")
  expect_error(b$propensity(context = c(age = 1), draws = 0), "`draws`", class = "gpbandits_error")
})

# A logged run of a policy with known, unequal probabilities in two contexts, and the truth about a target.
arms <- seq(0, 1, length.out = 5)
truth <- rbind(c(0.1, 0.3, 0.5, 0.7, 0.9), c(0.8, 0.6, 0.4, 0.3, 0.1))
logging <- c(0.1, 0.2, 0.4, 0.2, 0.1)
made_log <- function(n) {
  context <- sample(0:1, n, replace = TRUE, prob = c(0.3, 0.7))
  arm <- sample(5, n, replace = TRUE, prob = logging)
  data.frame(arm = arm, z1 = context, reward = truth[cbind(context + 1, arm)] + rnorm(n, sd = 0.2), propensity = logging[arm])
}
target <- function(policy = policy_mean()) {
  b <- gp_bandit(arms, kernel_se(0.4) * kernel_se(0.2, dims = "z1"), 0.04, policy, contexts = cbind(z1 = 0:1))
  b$add(arm = rep(1:5, 2), context = cbind(z1 = rep(0:1, each = 5)), reward = as.vector(t(truth)))
}

test_that("both weighted estimates are unbiased and cover, and the doubly robust one is more precise", {
  skip_on_cran()
  b <- target()
  value <- 0.3 * 0.9 + 0.7 * 0.8
  set.seed(12)
  count <- by_level(60, 60, quick = 14)
  runs <- lapply(seq_len(count), function(k) {
    log <- made_log(150)
    rbind(quietly(log, b, "ips"), quietly(log, b, "dr"))
  })
  for (method in c("ips", "dr")) {
    one <- do.call(rbind, lapply(runs, function(r) r[r$method == method, ]))
    expect_lt(abs(mean(one$estimate) - value), 3.5 * sd(one$estimate) / sqrt(count))
    # Intervals of 95%: fewer than 50 of 60 (15 of 20) that cover have probability 1e-4 (3e-4).
    expect_gte(sum(one$lower <= value & value <= one$upper), by_level(50, 50, quick = 10))
    expect_equal(mean(one$se), sd(one$estimate), tolerance = 0.35)
  }
  se <- vapply(runs, function(r) r$se, numeric(2))
  expect_lt(mean(se[2, ]), 0.7 * mean(se[1, ]))
})

test_that("they equal the textbook's formulas, for randomised targets too", {
  set.seed(3)
  log <- made_log(80)
  uniform <- quietly(log, target(policy_uniform()), draws = 5000)
  terms <- 0.2 / log$propensity * log$reward
  expect_equal(uniform$estimate, mean(terms), tolerance = 0.05)
  greedy <- quietly(log, target())
  best <- c(5, 1)[log$z1 + 1]
  w <- (log$arm == best) / log$propensity
  expect_equal(greedy$estimate, mean(w * log$reward))
  expect_equal(greedy$se, sd(w * log$reward) / sqrt(80))
  expect_equal(c(greedy$n, greedy$matched), c(80, sum(w > 0)))
  expect_equal(greedy$effective, sum(w)^2 / sum(w^2))
  # The regression of the other half, by hand.
  kernel <- kernel_se(0.4) * kernel_se(0.2, dims = "z1")
  dr <- quietly(log, target(), "dr")
  half <- rep_len(1:2, 80)
  by_hand <- vapply(1:80, function(i) {
    other <- half != half[i]
    x <- function(arm, z) cbind(x1 = arms[arm], z1 = z)
    X <- x(log$arm[other], log$z1[other])
    weight <- solve(kernel_gram(kernel, X) + diag(0.04, sum(other)), log$reward[other])
    r <- function(arm) drop(kernel_gram(kernel, x(arm, log$z1[i]), X) %*% weight)
    r(best[i]) + w[i] * (log$reward[i] - r(log$arm[i]))
  }, 0)
  expect_equal(dr$estimate, mean(by_hand), tolerance = 1e-8)
  snips <- quietly(log, target(), "snips")
  expect_equal(snips$estimate, sum(w * log$reward) / sum(w))
  expect_equal(snips$se, sqrt(sum(w^2 * (log$reward - snips$estimate)^2)) / sum(w))
  dm <- quietly(log, target(), "dm")
  X <- cbind(x1 = arms[log$arm], z1 = log$z1)
  at <- cbind(x1 = arms[best], z1 = log$z1)
  fit <- ref_posterior(kernel_gram(kernel, X), kernel_gram(kernel, at, X), kernel_gram(kernel, at), log$reward, 0.04)
  expect_equal(dm$estimate, mean(fit$mean), tolerance = 1e-8)
  expect_equal(dm$se, sqrt(mean(fit$sd)^2 + var(fit$mean) / 80), tolerance = 1e-6)
})

test_that("a bandit that averages over models uses their mixture in the direct method, in the units of the rewards", {
  arms <- data.frame(x = 0:9 / 9)
  set.seed(31)
  b <- auto_bandit(arms, model = gp_model(transform = "none"), policy = policy_mean(), n_initial = 0)
  b$add(arm = c(1:10, 4:8), reward = 70 + 9 * sin(5 * arms$x[c(1:10, 4:8)]) + rnorm(15))
  # (While it is pending it is not suggested again.)
  asked <- b$suggest()
  chosen <- asked$arm
  b$withdraw(asked$id)
  config <- config_now(b)
  expect_gt(length(config$models), 2)
  log <- data.frame(arm = sample(10, 40, TRUE), propensity = 0.1)
  log$reward <- 70 + 9 * sin(5 * arms$x[log$arm]) + rnorm(40)
  z <- map_outputs(config$output_map, log$reward)
  parts <- lapply(config$models, function(model) {
    X <- as.matrix(arms)[log$arm, , drop = FALSE]
    at <- as.matrix(arms)[chosen, , drop = FALSE]
    fit <- ref_posterior(kernel_gram(model$kernel, X), kernel_gram(model$kernel, at, X), kernel_gram(model$kernel, at),
                         z - model$mean, model$noise_var)
    c(model$mean + fit$mean, fit$sd)
  })
  weight <- vapply(config$models, `[[`, 0, "weight")
  means <- vapply(parts, `[[`, 0, 1)
  mean <- sum(weight * means)
  sd <- sqrt(sum(weight * (vapply(parts, `[[`, 0, 2)^2 + (means - mean)^2)))
  # (No transform: the map is linear.)
  unit <- abs(diff(unmap_outputs(config$output_map, c(0, 1))))
  dm <- quietly(log, b, "dm")
  expect_equal(dm$estimate, unmap_outputs(config$output_map, mean), tolerance = 1e-8)
  expect_equal(dm$se, unit * sd, tolerance = 1e-6)
})

# 14 arms, one of which the policy plays: some 10 matches among 142 rows, rewards 0 or 1.
few_matches <- function(value, n = 142) {
  arm <- sample(14, n, replace = TRUE)
  data.frame(arm = arm, reward = as.double(runif(n) < ifelse(arm == 5, value, 0.5)), propensity = 1 / 14)
}
one_arm <- function() {
  b <- gp_bandit(1:14, kernel_se(1), 0.25, policy_mean())
  b$add(arm = 5, reward = 5)
}

test_that("few matches without a reward raise a warning, and do not prove that the value is zero", {
  b <- one_arm()
  set.seed(4)
  log <- few_matches(0.249)
  log$reward[log$arm == 5] <- 0
  for (method in c("ips", "snips", "replay")) {
    expect_warning(found <- evaluate_policy(log, b, method), class = "gpbandits_small_sample")
    expect_identical(found$estimate, 0)
    # Who saw m failures cannot rule out 0.249 at 95% before (1 - 0.249)^m < 0.025.
    expect_lt(found$matched, log(0.025) / log(1 - 0.249))
    expect_gt(found$upper, 0.249)
  }
  dr <- quietly(log, b, "dr")
  expect_true(dr$lower < 0.249 && dr$upper > 0.249)
  expect_no_warning(evaluate_policy(log, b, "dm"))
  none <- log[log$arm != 5, ]
  none <- rbind(quietly(none, b), quietly(none, b, "snips"))
  expect_identical(none$matched, c(0L, 0L))
  expect_identical(none$estimate, c(0, NA))
  expect_equal(c(none$lower[2], none$upper[2]), c(0, 1))
  # Rewards that are all the same say nothing of what others there can be.
  same <- transform(log, reward = 0)
  expect_warning(found <- evaluate_policy(same, b, "snips"), "range", class = "gpbandits_small_sample")
  expect_identical(c(found$lower, found$upper), c(NA_real_, NA_real_))
  found <- quietly(same, b, "snips", range = c(0, 1))
  expect_gt(found$upper, 0.249)
  expect_error(evaluate_policy(log, b, range = c(0, 0.5)), "`range`", class = "gpbandits_error")
  expect_error(evaluate_policy(log, b, range = 1), "`range`", class = "gpbandits_error")
})

test_that("intervals cover with few and with many matches, and shrink", {
  b <- one_arm()
  set.seed(5)
  covers <- function(method, value, n, times) {
    found <- do.call(rbind, lapply(seq_len(times), function(k) {
      quietly(few_matches(value, n), b, method)
    }))
    # 95% or more of them hold the truth: less than 16 of 20 (80 of 100) have probability 3e-3 (1e-8) if it were no more.
    expect_true(all(found$lower >= 0 & found$upper <= 1))
    expect_gte(mean(found$lower <= value & value <= found$upper), 0.84)
    mean(found$upper - found$lower)
  }
  for (method in c("ips", "snips", "dr")) for (value in c(0.1, 0.249)) {
    few <- covers(method, value, 142, by_level(20, 100, quick = 8))
    expect_lt(covers(method, value, 142 * 9, by_level(6, 6, quick = 2)), few / 2)
  }
})

test_that("a replay is a run on the matches, and changes nothing", {
  problem <- bandit_problem(arms, truth[1, ], noise = 0.2)
  set.seed(5)
  log <- run_bandit(gp_bandit(arms, kernel_se(0.4), 0.04, policy_uniform()), problem, 150)
  b <- gp_ucb(arms, kernel_se(0.4), 0.04)
  set.seed(6)
  found <- quietly(log, b, "replay")
  state <- .Random.seed
  set.seed(6)
  expect_identical(.Random.seed, state)
  expect_identical(nrow(b$history()), 0L)
  # The same by hand: every query that is not the logged one is as if it had not been made.
  h <- log$bandit$history()
  hand <- gp_ucb(arms, kernel_se(0.4), 0.04)
  seen <- numeric()
  for (i in seq_len(nrow(h))) {
    q <- hand$copy()$suggest()
    if (q$arm != h$arm[i]) next
    q <- hand$suggest()
    hand$observe(q$id, h$reward[i])
    seen <- c(seen, h$reward[i])
  }
  expect_lt(abs(found$estimate - mean(seen)), 0.15)
  expect_gt(found$estimate, mean(h$reward))
  expect_equal(found$matched, length(seen), tolerance = 0.4)
})

test_that("incomplete logs are errors", {
  b <- target()
  set.seed(1)
  log <- made_log(20)
  expect_error(evaluate_policy(log[-4], b), "`log` .*`propensity`", class = "gpbandits_error")
  expect_error(evaluate_policy(log[-2], b), "`z1`", class = "gpbandits_error")
  expect_error(evaluate_policy(transform(log, propensity = 0), b), "propensity", class = "gpbandits_error")
  expect_error(evaluate_policy(transform(log, arm = 9), b), "`log`|`arm`", class = "gpbandits_error")
  expect_error(evaluate_policy(transform(log, z1 = 3), b), "`context`", class = "gpbandits_error")
  expect_error(evaluate_policy(log[1, ], b), "at least two", class = "gpbandits_error")
  expect_error(evaluate_policy(1, b), "`log`", class = "gpbandits_error")
  expect_error(evaluate_policy(log, b, "guess"), "`method`", class = "gpbandits_error")
  expect_error(evaluate_policy(log, b, level = 1), "`level`", class = "gpbandits_error")
  box <- gp_ucb(box_domain(0, 1), kernel_se(0.3), 0.04, width = width_constant(2))
  expect_error(evaluate_policy(log, box), "`policy`", class = "gpbandits_error")
})

test_that("a given range of the rewards bounds the direct method, too", {
  # Rewards at their least value but for a few: means of the model, and its errors, reach below.
  set.seed(14)
  x <- seq(0, 1, length.out = 10)
  log <- data.frame(arm = sample(10, 40, TRUE), propensity = 0.1)
  log$reward <- as.double(log$arm == 5 & runif(40) < 0.7)
  b <- gp_ucb(x, kernel_se(0.2), 0.1, width = 2)
  b$add(arm = 1:10, reward = as.double(1:10 == 9))
  free <- quietly(log, b, "dm")
  expect_lt(free$lower, 0)                            # a bound that no policy can reach
  known <- quietly(log, b, "dm", range = c(0, 1))
  expect_gte(known$lower, 0)
  expect_lte(known$upper, 1)
  expect_gte(known$estimate, known$lower)
  expect_lte(known$estimate, known$upper)
  # A range that the model stays within changes nothing.
  wide <- quietly(log, b, "dm", range = c(-100, 100))
  expect_equal(wide[c("estimate", "se", "lower", "upper")], free[c("estimate", "se", "lower", "upper")])
  # Clipped to it, means are nowhere further from the truth, and intervals cover no less of it.
  truth <- 0.7 * (1:10 == 5)
  for (arm in c(1, 4, 6, 9)) {
    target <- gp_ucb(x, kernel_se(0.2), 0.1, width = 2)
    target$add(arm = 1:10, reward = as.double(1:10 == arm))
    estimates <- lapply(list(NULL, c(0, 1)), function(range) quietly(log, target, "dm", range = range))
    error <- vapply(estimates, function(one) abs(one$estimate - truth[arm]), 0)
    expect_lte(error[2], error[1])
    covers <- vapply(estimates, function(one) one$lower <= truth[arm] && truth[arm] <= one$upper, NA)
    expect_true(covers[2] || !covers[1])
  }
})

test_that("propensities and values have the standard error of their draws, and are exact without randomness", {
  set.seed(3)
  arms <- c(0, 1)
  noise_var <- 0.3
  ts <- gp_bandit(arms, kernel_se(0.8), noise_var, policy_ts(width_constant(1.2)), contexts = 1)
  for (t in 1:12) ts$observe(ts$suggest(context = t / 12)$id, rnorm(1))
  log <- ts$history(draws = 300)
  expect_equal(log$propensity_se, sqrt(log$propensity * (1 - log$propensity) / 301))
  expect_null(ts$history()$propensity_se)
  ucb <- gp_bandit(arms, kernel_se(0.8), noise_var, policy_ucb(width_constant(2)), contexts = 1)
  for (t in 1:12) ucb$observe(ucb$suggest(context = t / 12)$id, rnorm(1))
  sure <- ucb$history(draws = 5)
  expect_null(sure$propensity_se)
  # The probability that arm 1 has the larger draw, by the joint posterior of the two arms in each context.
  at <- cbind(log$x1, log$z1)
  K <- function(a, b) kernel_gram(kernel_se(0.8), a, b)
  V <- K(at, at) + diag(noise_var, 12)
  for (z in c(0.1, 0.9)) {
    two <- cbind(arms, z)
    mean <- drop(K(two, at) %*% solve(V, log$reward))
    cov <- K(two, two) - K(two, at) %*% solve(V, K(at, two))
    first <- pnorm((mean[1] - mean[2]) / (1.2 * sqrt(cov[1, 1] + cov[2, 2] - 2 * cov[1, 2])))
    set.seed(4)
    context <- gpbandits:::contexts_for(as.environment(ts), z, 1L)
    found <- gpbandits:::chosen_shares(as.environment(ts), context, 4000)
    expect_lt(abs(found[1, 1] - first), 4 * sqrt(first * (1 - first) / 4000))
    expect_equal(sum(found), 1)
  }
  # The error of an estimate: the spread over repeated draws of the choices.
  policy <- rbind(c(0.2, 0.5, 0.3), c(0.9, 0, 0.1))
  pull <- rbind(c(1, -2, 0.5), c(3, 1, -1))
  estimates <- vapply(1:4000, function(k) {
    sum(vapply(1:2, function(g) sum(rmultinom(1, 40, policy[g, ]) / 40 * pull[g, ]), 0))
  }, 0)
  expect_equal(gpbandits:::se_of_draws(policy, pull, 40), sd(estimates), tolerance = 0.05)
  for (method in c("ips", "snips", "dm", "dr")) {
    expect_identical(quietly(log, ucb, method)$se_draws, 0, info = method)
    error <- vapply(c(50, 5000), function(draws) quietly(log, ts, method, draws = draws)$se_draws, 0)
    expect_gt(error[1], 0)
    expect_equal(error[1] / error[2], 10, tolerance = 0.3, info = method)
  }
  expect_identical(quietly(log, ucb, "replay")$se_draws, NA_real_)
})

test_that("a policy may be a matrix of probabilities or a function: the estimates of a bandit with these probabilities", {
  set.seed(8)
  x <- seq(0, 1, length.out = 4)
  problem <- bandit_problem(x, c(0.1, 0.4, 0.9, 0.3), noise = 0.1)
  log <- run_bandit(gp_bandit(x, kernel_se(0.3), 0.01, policy_uniform()), problem, 300)$bandit$history()
  always <- gp_bandit(x, kernel_se(0.3), 0.01, policy_mean(), mean = c(0, 0, 1, 0))
  third <- matrix(rep(c(0, 0, 1, 0), each = 300), 300)
  for (method in c("ips", "snips")) {
    wanted <- evaluate_policy(log, always, method)
    expect_equal(evaluate_policy(log, third, method), wanted)
    expect_equal(evaluate_policy(log, function(rows) third[seq_len(nrow(rows)), ], method), wanted)
  }
  expect_identical(wanted$se_draws, 0)
  # Probabilities that depend on the row, for arms with names. Rows without reward are left out on both sides.
  shares <- matrix(stats::rexp(1200), 300, dimnames = list(NULL, letters[4:1]))
  shares <- shares / rowSums(shares)
  named <- transform(log, arm = letters[1:4][arm])
  named$reward[5] <- NA
  weight <- shares[cbind(1:300, match(named$arm, letters[4:1]))] / 0.25
  expect_equal(evaluate_policy(named, shares)$estimate, mean((weight * named$reward)[-5]))
  expect_equal(evaluate_policy(named, shares, "snips")$estimate, sum((weight * named$reward)[-5]) / sum(weight[-5]))
  wrong <- function(...) expect_error(evaluate_policy(named, ...), class = "gpbandits_argument_error")
  expect_match(conditionMessage(wrong(shares, "dr")), "a bandit as `policy`")
  expect_match(conditionMessage(wrong(shares[-1, ])), "299 rows")
  expect_match(conditionMessage(wrong(2 * shares)), "sum 1")
  expect_match(conditionMessage(wrong(unname(shares))), "arm")
  expect_match(conditionMessage(wrong("greedy")), "a matrix of probabilities")
  expect_error(evaluate_policy(named, function(rows) 1), "must return", class = "gpbandits_evaluation_error")
})
