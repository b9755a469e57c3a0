# Problems of several outcomes, runs on them, and their regret and violation.

limit_problem <- function(noise = 0, ...) {
  x <- seq(0, 1, length.out = 11)
  bandit_problem(x, list(yield = sin(5 * x), impurity = x), noise, outcomes = list(impurity = at_most(0.25), yield = to_maximize()), ...)
}

limit_bandit <- function(policy = policy_ei(), ...) {
  gp_bandit(seq(0, 1, length.out = 11), kernel_se(0.3), 0.01, policy, outcomes = list(yield = to_maximize(), impurity = at_most(0.25)), ...)
}

test_that("regret is against the best feasible arm, and violations are the amounts beyond limits", {
  x <- seq(0, 1, length.out = 11)
  problem <- limit_problem(list(yield = 0.1, impurity = 0.01))
  expect_equal(problem$optimum, sin(5 * 0.2))
  expect_output(print(problem), "impurity at most 0.25")
  set.seed(1)
  run <- run_bandit(limit_bandit(policy_uniform()), problem, 30)
  data <- as.data.frame(run)
  expect_equal(data$f, sin(5 * x[data$arm]))
  expect_equal(data$regret, sin(1) - data$f)
  expect_equal(data$violation1, x[data$arm] - 0.25)
  expect_equal(data$hard_violation, cumsum(pmax(x[data$arm] - 0.25, 0)))
  expect_equal(data$cumulative_violation, pmax(cumsum(x[data$arm] - 0.25), 0))
  kept <- x[data$arm] <= 0.25
  simple <- cummin(ifelse(kept, data$regret, Inf))
  expect_equal(data$simple_regret, ifelse(is.finite(simple), simple, NA))
  # Each outcome has its own noise, that of the first is the problem's noise.
  expect_equal(sd(data$yield - data$f), 0.1, tolerance = 0.5)
  expect_equal(sd(data$impurity - x[data$arm]), 0.01, tolerance = 0.5)
  set.seed(1)
  again <- as.data.frame(run_bandit(limit_bandit(policy_ei()), problem, 30))
  expect_equal(again$impurity - x[again$arm], data$impurity - x[data$arm])
  expect_equal(again$simple_regret[30], 0)
  expect_lt(again$hard_violation[30], data$hard_violation[30])
})

test_that("a run equals suggest() and observe(), also in a store, with delays and contexts", {
  problem <- limit_problem(0.1)
  set.seed(4)
  run <- run_bandit(limit_bandit(), problem, 8)
  set.seed(4)
  noise <- cbind(yield = rnorm(8, 0, 0.1), impurity = {rnorm(8); rnorm(8, 0, 0.1)})
  b <- limit_bandit()
  x <- seq(0, 1, length.out = 11)
  for (t in 1:8) {
    q <- b$suggest()
    b$observe(q$id, c(yield = sin(5 * q$x1) + noise[[t, 1]], impurity = q$x1 + noise[[t, 2]]))
  }
  expect_equal(as.data.frame(run)$arm, b$history()$arm)
  expect_equal(as.data.frame(run)[c("yield", "impurity")], b$history()[c("yield", "impurity")])
  set.seed(4)
  late <- run_bandit(limit_bandit(pending = pending_hallucinate()), limit_problem(0.1, delay = 2), 8)
  expect_identical(as.data.frame(late)$status, rep(c("observed", "pending"), c(6, 2)))
  inputs <- function(z) bandit_problem(x, function(p) cbind(yield = p[, 1] * p[, 2], impurity = p[, 1]), contexts = cbind(z = c(-1, 1)),
                                       outcomes = list(yield = to_maximize(), impurity = at_most(0.55)))
  seen <- run_bandit(limit_bandit(contexts = cbind(z = c(-1, 1))), inputs(), 6)
  expect_equal(as.data.frame(seen)$optimum, rep(c(0, 0.5), 3))
  skip_if_not_installed("RSQLite")
  file <- tempfile(fileext = ".sqlite")
  set.seed(4)
  stored <- run_bandit(limit_bandit(store = bandit_store(file, "runs", seed = 4)), problem, 8)
  expect_equal(as.data.frame(stored)$arm, b$history()$arm)
})

test_that("on a box the best feasible value is searched, and minimised objectives change their sign", {
  problem <- bandit_problem(list(a = c(0, 1), b = c(0, 1)), list(cost = function(p) p[, "a"] + p[, "b"], purity = function(p) p[, "a"] * p[, "b"]),
                            outcomes = list(cost = to_minimize(), purity = at_least(0.25)))
  expect_equal(problem$optimum, -1, tolerance = 1e-4)
  set.seed(1)
  b <- gp_bandit(list(a = c(0, 1), b = c(0, 1)), kernel_se(0.5), 1e-4, policy_ei(),
                 outcomes = list(cost = to_minimize(), purity = at_least(0.25)))
  data <- as.data.frame(run_bandit(b, problem, 12))
  expect_equal(data$f, -(data$a + data$b))
  expect_equal(data$violation1, 0.25 - data$a * data$b)
  expect_lt(data$simple_regret[12], 0.1)
})

test_that("with several objectives regret is the missing part of the true front's hypervolume", {
  x <- seq(0, 1, length.out = 21)
  roles <- list(a = to_maximize(), b = to_minimize())
  problem <- bandit_problem(x, data.frame(a = x, b = x^2), outcomes = roles, reference = c(b = 1.5, a = -0.5))
  expect_equal(problem$reference, c(a = -0.5, b = -1.5))
  # All arms are on the front: stairs.
  volume <- sum((x + 0.5) * diff(c(0, x)) * 0) + sum((1.5 - x^2) * diff(c(-0.5, x)))
  expect_equal(problem$optimum, volume)
  set.seed(2)
  run <- run_bandit(gp_bandit(x, kernel_se(0.3), 0.01, policy_ehvi(), outcomes = roles), problem, 15)
  data <- as.data.frame(run)
  seen <- sort(unique(x[data$arm]))
  expect_equal(data$f[15], sum((1.5 - seen^2) * diff(c(-0.5, seen))))
  expect_equal(data$hypervolume_regret, problem$optimum - data$f)
  expect_true(all(diff(data$hypervolume_regret) <= 1e-12))
  default <- bandit_problem(x, data.frame(a = x, b = x^2), outcomes = roles)
  expect_equal(default$reference, c(a = -0.1, b = -1.1))
  bounded <- bandit_problem(x, data.frame(a = x, b = x^2, c = x), outcomes = c(roles, list(c = at_most(0.5))), reference = c(a = -0.5, b = 1.5))
  expect_equal(bounded$optimum, sum((1.5 - x[x <= 0.5]^2) * diff(c(-0.5, x[x <= 0.5]))))
  few <- compare_bandits(list(ehvi = function(problem) gp_bandit(x, kernel_se(0.3), 0.01, policy_ehvi(), outcomes = roles),
                              mine = function(problem) list(suggest = function() list(arm = 3), observe = function(id, values) stopifnot(names(values) == c("a", "b")))),
                         problem, 6, 2, 1)
  frame <- as.data.frame(few)
  last <- frame[frame$round == 6, ]
  expect_true(all(last$hypervolume_regret[last$bandit == "ehvi"] < last$hypervolume_regret[last$bandit == "mine"]))
})

test_that("comparisons have violations, and invalid problems are errors", {
  found <- compare_bandits(list(config = function(problem) limit_bandit(policy_ucb(2)), ei = function(problem) limit_bandit()),
                           limit_problem(0.1), 6, 2, 1)
  expect_true(all(c("violation1", "cumulative_violation", "hard_violation") %in% names(as.data.frame(found))))
  x <- 1:3
  roles <- list(a = to_maximize(), b = at_most(2))
  bad <- function(...) expect_error(bandit_problem(x, ...), class = "gpbandits_error")
  bad(list(a = 1:3), outcomes = roles)
  bad(list(a = 1:3, b = 1:2), outcomes = roles)
  bad(list(a = 1:3, b = 4:6), outcomes = roles)
  bad(1:3, outcomes = roles)
  bad(function(p) p[, 1], outcomes = roles)
  bad(list(a = 1:3, b = 1:3), outcomes = roles, constraints = 1:3)
  bad(list(a = 1:3, b = 1:3), outcomes = roles, change_points = 2)
  bad(list(a = 1:3, b = 1:3), outcomes = roles, reference = 1)
  bad(list(a = 1:3, b = 1:3), noise = list(a = 1), outcomes = roles)
  bad(list(a = 1:3, b = 1:3), outcomes = list(a = at_most(2), b = at_most(1)))
  bad(1:3, reference = 2)
  expect_error(run_bandit(gp_ei(seq(0, 1, length.out = 11), kernel_se(0.3), 0.01), limit_problem(), 3), "outcomes", class = "gpbandits_error")
})

test_that("CONFIG's bounds hold, and infeasibility is declared wrongly in at most delta of the problems", {
  count <- by_level(25, 200, quick = 4)
  x <- seq(0, 1, length.out = 15)
  delta <- 0.1
  rounds <- 25
  K <- ref_kernel_se(0.2)(x)
  root <- t(chol(K + 1e-10 * diag(15)))
  declares <- get("declares_infeasible", asNamespace("gpbandits"))
  gamma <- information_gain(kernel_se(0.2), x, 0.04, rounds = rounds)
  held <- declared <- logical(count)
  for (k in seq_len(count)) {
    set.seed(k)
    f <- drop(root %*% rnorm(15))
    g <- drop(root %*% rnorm(15))
    limit <- stats::quantile(g, 0.4, names = FALSE)
    b <- gp_bandit(x, kernel_se(0.2), 0.04, policy_ucb(width_srinivas_finite(delta)),
                   outcomes = list(f = to_maximize(), g = at_most(limit)))
    problem <- bandit_problem(x, list(f = f, g = g), noise = 0.2, outcomes = list(f = to_maximize(), g = at_most(limit)))
    said <- FALSE
    data <- as.data.frame(run_bandit(b, problem, rounds, stop_when = function(b) {
      if (nrow(b$history()) %% 5 == 0) said <<- said || declares(as.environment(b))
      FALSE
    }))
    t <- seq_len(rounds)
    width <- sqrt(2 * log(15 * t^2 * pi^2 / (6 * delta / 2)))
    expect_equal(data$width, width)
    bound <- regret_bound("penalty", rounds, gamma, noise_var = 0.04, width = width)
    held[k] <- all(cumsum(pmax(data$regret, 0)) <= bound) && all(data$hard_violation <= bound)
    declared[k] <- said
  }
  expect_gte(mean(held), 1 - delta)
  expect_identical(regret_bound("config", rounds, gamma, noise_var = 0.04, width = 2), regret_bound("penalty", rounds, gamma, noise_var = 0.04, width = 2))
  expect_lte(mean(declared), delta)
  # Where every point exceeds the limit by epsilon or more an empty set follows by the first T > 4 c sum_j w_j^2 gamma_j / epsilon^2.
  b <- gp_bandit(x, kernel_se(0.2), 0.04, policy_ucb(2), outcomes = list(f = to_maximize(), g = at_most(0)))
  for (t in 1:30) {
    q <- b$suggest()
    b$observe(q$id, c(f = 0, g = 3))
  }
  expect_true(declares(as.environment(b)))
})
