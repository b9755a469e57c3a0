# Custom parts: kernel, width, change rule, agent.

se_of_rows <- function(lengthscale) function(X, Y) {
  exp(-(outer(rowSums(X^2), rowSums(Y^2), "+") - 2 * tcrossprod(X, Y)) / (2 * lengthscale^2))
}

play_width <- function(domain, f) {
  b <- gp_bandit(domain, kernel_se(0.2), 0.04, policy_ucb(width_function(f)))
  b$suggest()
  b$history()$width
}

test_that("a kernel given as a function equals the kernel that it computes, over arms", {
  x <- seq(0, 1, length.out = 40)
  f <- sin(6 * x)
  own <- kernel_function(se_of_rows(0.2), variance = 2)
  expect_equal(kernel_gram(own, x), kernel_gram(kernel_se(0.2, 2), x))
  expect_equal(kernel_gram(own * kernel_linear() + kernel_se(1), x),
               kernel_gram(kernel_se(0.2, 2) * kernel_linear() + kernel_se(1), x))
  set.seed(1)
  noise <- rnorm(25, sd = 0.1)
  play <- function(kernel, policy) {
    set.seed(2)
    b <- gp_bandit(x, kernel, 0.01, policy)
    for (t in 1:25) {
      q <- b$suggest()
      b$observe(q$id, f[q$arm] + noise[t])
    }
    b
  }
  for (policy in list(policy_ucb(width_constant(2)), policy_ts(width_constant(1)), policy_ei())) {
    core <- play(own, policy)
    theirs <- play(kernel_se(0.2, 2), policy)
    expect_identical(core$history()$arm, theirs$history()$arm)
    expect_equal(core$posterior(), theirs$posterior(), tolerance = 1e-8)
  }
  file <- tempfile(fileext = ".rds")
  saveRDS(core, file)
  expect_equal(readRDS(file)$posterior(), core$posterior())
})

test_that("in a box its gradients are finite differences, and its choices those of the built-in kernel", {
  box <- box_domain(c(a = 0, b = 0), c(a = 1, b = 2))
  set.seed(4)
  x <- cbind(a = runif(6), b = 2 * runif(6))
  # Where it would go next, and the upper bound that it finds there.
  next_bound <- function(kernel) {
    b <- gp_ucb(box, kernel, 0.01, width = width_constant(2))
    b$add(x = x, reward = sin(4 * x[, 1]) + x[, 2])
    set.seed(5)
    b$suggest()
    last <- b$history()[7, ]
    last$mean + 2 * last$sd
  }
  # On dims alone, by name: the function sees one column.
  seen <- NULL
  own <- kernel_function(function(X, Y) {
    seen <<- colnames(X)
    se_of_rows(0.5)(X, Y)
  }, dims = "b")
  expect_equal(next_bound(own * kernel_se(0.3, dims = "a")), next_bound(kernel_se(0.5, dims = "b") * kernel_se(0.3, dims = "a")),
               tolerance = 1e-6)
  expect_identical(seen, "b")
  expect_error(gp_bandit(box, own, 0.01, policy_ts(width_constant(1))), "`kernel` must be", class = "gpbandits_error")
})

test_that("its variance is fitted, and the likelihood is that of the built-in kernel", {
  set.seed(5)
  x <- matrix(runif(30), ncol = 2)
  y <- 3 * sin(5 * x[, 1])
  core <- gp_fit(x, y, kernel_function(se_of_rows(0.3)), noise_var = 0.1)
  theirs <- gp_fit(x, y, kernel_se(0.3), noise_var = 0.1, lower = c(se.lengthscale = 0.3 - 1e-9), upper = c(se.lengthscale = 0.3 + 1e-9))
  expect_equal(as.numeric(logLik(core)), as.numeric(logLik(theirs)), tolerance = 1e-5)
  expect_equal(core$parameters[["function.variance"]], theirs$parameters[["se.variance"]], tolerance = 1e-3)
})

test_that("a function that is no covariance is an error, whatever the reason", {
  x <- seq(0, 1, length.out = 30)
  wrong <- list(
    "symmetric" = function(X, Y) outer(X[, 1], Y[, 1], "-"),
    "semi-definite" = function(X, Y) -se_of_rows(0.2)(X, Y),
    "nrow" = function(X, Y) 1,
    "finite" = function(X, Y) matrix(NaN, nrow(X), nrow(Y)),
    "pair of points" = function(X, Y) se_of_rows(0.2)(X, Y) * nrow(X) * nrow(Y),
    "mishap" = function(X, Y) stop("mishap")
  )
  for (what in names(wrong)) {
    expect_error(gp_ucb(x, kernel_function(wrong[[what]]), 0.01), what, class = "gpbandits_error")
    expect_error(gp_regression(x, x, kernel_function(wrong[[what]]), 0.01), what, class = "gpbandits_error")
  }
  expect_error(kernel_function("se"), "`f` must be a function", class = "gpbandits_error")
})

test_that("kernel_matern() accepts one unnamed number only if it can be a smoothness", {
  expect_error(kernel_matern(0.2), "`nu` must be named", class = "gpbandits_error")
  expect_error(lapply(0.3, kernel_matern), "`nu` must be named", class = "gpbandits_error")
  for (nu in c(0.5, 1, 1.5, 2.5, 20)) expect_identical(kernel_matern(nu)$nu, nu)
  expect_identical(kernel_matern(nu = 0.2)$nu, 0.2)
  nu <- 0.3
  expect_identical(kernel_matern(nu)$nu, 0.3)
  expect_identical(kernel_matern(n = 0.2)$nu, 0.2)
  expect_identical(kernel_matern(0.2, 1)$nu, 0.2)
  expect_identical(kernel_matern(lengthscale = 0.2)$nu, 2.5)
})

test_that("a width's function gets the state of the round", {
  x <- seq(0, 1, length.out = 20)
  seen <- list()
  width <- width_function(function(t, state) {
    seen[[length(seen) + 1]] <<- c(t = t, unlist(state))
    1 + t
  })
  b <- gp_bandit(x, kernel_se(0.2), 0.04, policy_ucb(width), changes = change_oracle(every = 3))
  for (t in 1:4) {
    q <- b$suggest()
    b$observe(q$id, q$arm / 20)
  }
  first <- which(!duplicated(vapply(seen, `[[`, 0, "rounds")))
  rounds <- do.call(rbind, seen[first])
  expect_identical(rounds[, "rounds"], as.numeric(0:3))
  expect_identical(rounds[, "t"], c(1, 2, 3, 1))
  expect_true(all(rounds[, "noise_var"] == 0.04) && all(rounds[, "arms"] == 20))
  h <- b$history()
  log_det <- function(arms) determinant(diag(length(arms)) + kernel_gram(kernel_se(0.2), x[arms]) / 0.04)$modulus[1]
  expect_equal(unname(rounds[, "log_det"]), c(0, log_det(h$arm[1]), log_det(h$arm[1:2]), 0))
  expect_identical(h$width, c(2, 3, 4, 2))
  # A second argument with a default is the user's own; in a box there are no arms to count.
  expect_identical(play_width(x, function(t, scale = 7) scale), 7)
  expect_identical(play_width(box_domain(0, 1), function(t, state) if (is.na(state$arms)) 5 else 6), 5)
})

test_that("a custom change rule restarts as it returns, and gets the segment's history", {
  x <- seq(0, 1, length.out = 20)
  shown <- NULL
  rule <- change_function(function(history) {
    shown <<- history
    sum(!is.na(history$reward)) >= 4
  })
  make <- function(changes) gp_bandit(x, kernel_se(0.2), 0.04, policy_ucb(width_constant(2)), changes = changes)
  problem <- bandit_problem(x, sin(6 * x), noise = 0.2)
  set.seed(3)
  own <- run_bandit(make(rule), problem, 14)
  set.seed(3)
  every <- run_bandit(make(change_oracle(every = 4)), problem, 14)
  expect_identical(as.data.frame(own)[c("arm", "reward", "segment")], as.data.frame(every)[c("arm", "reward", "segment")])
  h <- own$bandit$history()
  own$bandit$suggest()
  columns <- names(shown)
  expect_true(all(c("id", "arm", "x1", "reward", "mean", "sd", "width", "action", "status") %in% columns))
  expect_equal(shown, h[h$segment == max(h$segment), columns], ignore_attr = "row.names")
  # A copy that is read from a file continues in the same way.
  file <- tempfile()
  saveRDS(own$bandit, file)
  again <- readRDS(file)
  expect_identical(again$history(), own$bandit$history())
  expect_error(make(change_function(1)), "`f` must be a function", class = "gpbandits_error")
  bad <- make(change_function(function(history) NA))
  q <- bad$suggest()
  bad$observe(q$id, 1)
  before <- bad$history()
  expect_error(bad$suggest(), "must return TRUE or FALSE", class = "gpbandits_error")
  expect_identical(bad$history(), before)
})

test_that("a custom agent gets the same noise, delays and contexts as the bandits", {
  x <- seq(0, 1, length.out = 15)
  agent_of <- function(make) function(problem) {
    inner <- make(problem)
    list(suggest = function(...) inner$suggest(...), observe = function(id, reward, ...) inner$observe(id, reward, ...))
  }
  ucb <- function(problem) gp_ucb(problem$domain, kernel_se(0.2), 0.04)
  problem <- function(r) bandit_problem(x, sin(6 * x + r), noise = 0.2, delay = function(n) rpois(n, 2))
  both <- as.data.frame(compare_bandits(list(bandit = ucb, agent = agent_of(ucb)), problem, 20, 3, seed = 1))
  columns <- c("replication", "round", "arm", "reward", "f", "regret", "cumulative_regret", "simple_regret", "period", "optimum")
  parts <- split(both[columns], both$bandit)
  expect_equal(parts$agent, parts$bandit, ignore_attr = "row.names")
  contextual <- bandit_problem(x, function(x) x[, 1] * x[, "c"], noise = 0.1, contexts = cbind(c = c(-1, 1)))
  ucb_in <- function(problem) gp_ucb(problem$domain, kernel_se(0.5), 0.01, contexts = cbind(c = c(-1, 1)))
  both <- as.data.frame(compare_bandits(list(bandit = ucb_in, agent = agent_of(ucb_in)), contextual, 12, 2, seed = 1))
  expect_identical(both$arm[both$bandit == "agent"], both$arm[both$bandit == "bandit"])
  # An agent that is no bandit: round robin, in a box by `x`, without ids.
  robin <- function(problem) {
    k <- 0
    got <- list()
    environment_of <- new.env()
    environment_of$suggest <- function() {
      k <<- k + 1
      list(x = (k %% 4) / 4)
    }
    environment_of$observe <- function(id, reward) got[[length(got) + 1]] <<- id
    environment_of
  }
  box <- bandit_problem(box_domain(0, 1), function(x) x[, 1], noise = 0.1, optimum = 1)
  run <- as.data.frame(compare_bandits(list(robin = robin), box, 6, 1, seed = 1))
  expect_equal(run$f, c(1:3, 0, 1, 2) / 4)
  for (bad in list(function(problem) list(suggest = 1), function(problem) list(suggest = function() 3, observe = function(id, reward) 0),
                   function(problem) list(suggest = function() list(x = 7), observe = function(id, reward) 0),
                   function(problem) list(suggest = function() stop("no"), observe = function(id, reward) 0))) {
    expect_error(compare_bandits(list(bad = bad), box, 3, 1, seed = 1), "`(bandits|suggest)`", class = "gpbandits_error")
  }
})

test_that("a bound is drawn over a comparison and returned with its curves", {
  x <- seq(0, 1, length.out = 15)
  ucb <- function(problem) gp_ucb(problem$domain, kernel_se(0.2), 0.04)
  comparison <- compare_bandits(list(ucb = ucb), bandit_problem(x, sin(6 * x), noise = 0.2), 20, 2, seed = 1)
  bound <- regret_bound("srinivas1", 20, gain = 1:20 / 2, noise_var = 0.04, arms = 15)
  local_device()
  expect_equal(plot(comparison, "cumulative_regret", bound = bound)$bound, as.numeric(bound))
  expect_equal(plot(comparison, bound = bound, log = "y")$bound, as.numeric(bound) / 1:20)
  expect_equal(plot(comparison, "simple_regret", bound = 5)$bound, 5 / 1:20)
  expect_error(plot(comparison, bound = 1:3), "`bound`", class = "gpbandits_error")
  expect_error(plot(comparison, "reward", bound = 1), "`bound`", class = "gpbandits_error")
  skip_if_not_installed("ggplot2")
  expect_s3_class(ggplot2::autoplot(comparison, bound = bound), "ggplot")
})

test_that("a bandit is freed although functions of its settings refer to it", {
  freed <- 0
  forget <- function(kind, collect) {
    mark <- new.env()
    reg.finalizer(mark, function(e) freed <<- freed + 1)
    policy <- switch(kind, own = policy_function(function(mean, sd, round) mean + sd),
                     cost = policy_ei(cost = function(x) 1 + x[, 1]), width = policy_ucb(width_function(function(t) 2)),
                     policy_ei())
    kernel <- kernel_se(0.3)
    if (kind == "kernel") kernel <- kernel + kernel_function(function(X, Y) 0.1 * outer(X[, 1], Y[, 1]))
    bandit <- gp_bandit(box_domain(0, 1), kernel, 0.1, policy, refit = refit_every(3, minimum = 3, starts = 1))
    for (t in 1:4) bandit$observe(bandit$suggest()$id, sin(t))
    if (collect) gc()                                 # objects that the bandit needs stay
    bandit$suggest()
    bandit$copy()$suggest()
    NULL
  }
  kinds <- c("own", "cost", "width", "kernel")
  for (kind in kinds) for (k in 1:2) forget(kind, collect = k == 1 && kind %in% few_of(kinds, 1))
  gc()
  gc()
  expect_gte(freed, 2 * length(kinds) - 1)            # (R may still refer to the last one)
})
