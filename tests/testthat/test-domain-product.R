# A product of rows and a box: its constructor, and everything that a bandit can do over it.

product_truth <- function(x) sin(5 * x[, 1] + 1) - 4 * (x[, 2] - 0.3 - 0.4 * x[, 1])^2
small_product <- function() product_domain(cbind(r = c(0, 0.5, 1)), list(u = c(0, 1)))
product_kernel <- function() kernel_matern(2.5, c(0.6, 0.3))
product_bandit <- function(policy = policy_ucb(width_constant(2)), domain = small_product(), ...) {
  gp_bandit(domain, product_kernel(), 0.01, policy, ...)
}
refused <- function(code, argument) {
  expect_error(code, class = "gpbandits_error", regexp = paste0("`", argument, "`"))
}
is_point <- function(frame, domain) {
  x <- unname(as.matrix(frame[domain$names]))
  identical(find_points(domain, x)$arm, frame$arm - 1L)
}

test_that("short forms of rows and box work; names are kept and must differ", {
  domain <- product_domain(data.frame(layers = c(1, 2)), list(rate = c(0, 1), size = c(2, 3)))
  expect_identical(domain$names, c("layers", "rate", "size"))
  expect_identical(product_domain(1:3, box_domain(c(0, 0), 1))$names, c("x1", "x2", "x3"))
  expect_identical(product_domain(finite_domain(cbind(a = 1, b = 2)), box_domain(0, 1))$names, c("a", "b", "x1"))
  expect_output(print(domain), "product.*2 rows of layers.*rate in \\[0, 1\\]")
  refused(product_domain(cbind(a = 1:2), list(a = c(0, 1))), "box")
  refused(product_domain(1:2, 1:2), "box")
  refused(product_domain(list(a = c(0, 1)), list(b = c(0, 1))), "rows")
  refused(product_domain("a", list(b = c(0, 1))), "rows")
  refused(product_domain(1:2, list(b = c(1, 0))), "box")
  refused(product_domain(box = list(b = c(0, 1))), "rows")
  refused(product_domain(1:2), "box")
  refused(gp_ucb(domain, product_kernel(), 0.1), "width")
  refused(gp_bandit(domain, kernel_matrix(diag(3)), 0.1, policy_mean()), "kernel")
  refused(gp_bandit(domain, kernel_se(1), 0.1, policy_mean(), mean = 1:3), "mean")
})

test_that("with one row the queries equal those of the box", {
  box <- box_domain(c(u = -1, v = 1e-2), c(2, 10), log = "v")
  policies <- list(policy_ucb(width_constant(2)), policy_ei(0.01), policy_pi(0.01), policy_mean(), policy_variance())
  f <- function(x) sin(3 * x[, "u"]) - log10(x[, "v"])^2
  for (policy in policies) {
    runs <- lapply(list(box, product_domain(cbind(r = 7), box)), function(domain) {
      b <- gp_bandit(domain, kernel_se(c(0.8, 1.5), dims = c("u", "v")), 0.01, policy, pending = pending_hallucinate())
      set.seed(3)
      run_bandit(b, bandit_problem(domain, f, noise = 0.1, delay = 2, optimum = 1), 12)
      b$history()
    })
    expect_identical(runs[[2]]$arm, rep(1L, 12))
    expect_equal(runs[[2]][names(runs[[1]])], runs[[1]], tolerance = 1e-7, info = policy$kind)
  }
})

test_that("with a tiny box the arms equal those of the rows", {
  rows <- cbind(a = 0:11 / 11)
  thin <- product_domain(rows, list(z = c(0, 1e-9)))
  f <- function(x) sin(6 * x[, 1])
  for (policy in list(policy_ucb(width_constant(2)), policy_ei(0.01), policy_mean(), policy_variance())) {
    runs <- lapply(list(finite_domain(rows), thin), function(domain) {
      b <- gp_bandit(domain, kernel_matern(2.5, 0.3, dims = "a"), 0.01, policy)
      set.seed(4)
      run_bandit(b, bandit_problem(domain, f, noise = 0.1, optimum = 1), 12)
      b$history()
    })
    expect_identical(runs[[2]]$arm, runs[[1]]$arm, info = policy$kind)
    expect_equal(runs[[2]][c("mean", "sd", "reward")], runs[[1]][c("mean", "sd", "reward")], tolerance = 1e-6, info = policy$kind)
  }
})

test_that("posterior, predict() and added data use all inputs, or the row's number and the box's inputs", {
  b <- product_bandit()
  other <- b$copy()
  x <- rbind(c(0, 0.2), c(1, 0.9), c(0.5, 0.5), c(0.5, 0.1))
  y <- c(1, -0.5, 0.3, 0.7)
  b$add(x = x, reward = y)
  other$add(arm = c(1, 3, 2, 2), x = x[, 2], reward = y)
  expect_equal(other$history(), b$history())
  expect_identical(b$history()$arm, c(1L, 3L, 2L, 2L))
  at <- rbind(c(0, 0.7), c(1, 0.3))
  K <- ref_kernel_matern(2.5, c(0.6, 0.3))(rbind(x, at))
  expected <- ref_posterior_at(K, 1:4, y, 0.01)
  core <- b$posterior(at)
  expect_equal(core$mean, expected$mean[5:6], tolerance = tol$engine)
  expect_equal(core$sd, expected$sd[5:6], tolerance = tol$engine)
  expect_equal(b$posterior(c(0.7, 0.3), arm = c(1, 3)), core)
  expect_equal(predict(b, c(0.7, 0.3), arm = c(1, 3)), core)
  expect_equal(predict(b, at), core)
  # A point between the rows is a point of the kernel's, though it cannot be played.
  expect_true(all(is.finite(unlist(b$posterior(c(0.25, 0.5))))))
  refused(b$add(x = c(0.25, 0.5), reward = 0), "x")
  refused(b$add(x = 0.5, arm = 4, reward = 0), "arm")
  refused(b$posterior(), "x")
  expect_identical(nrow(b$history()), 4L)
})

test_that("a covariance of the rows is a factor of the kernel, also after a refit", {
  K <- crossprod(matrix(c(1, 0.5, 0, 0.2, 1, 0.3, 0, -0.4, 1), 3)) + diag(0.1, 3)
  domain <- small_product()
  x <- cbind(c(0, 0, 0.5, 1, 1), c(0.1, 0.8, 0.4, 0.6, 0.2))
  arm <- c(1, 1, 2, 3, 3)
  y <- c(0.3, -0.2, 1, 0.4, 0.9)
  gram <- function(l) function(arm, u) K[arm, arm] * ref_kernel_se(l)(cbind(u))
  b <- gp_bandit(domain, kernel_matrix(K) * kernel_se(0.3, dims = "u"), 0.02, policy_ucb(width_constant(2)), mean = c(0, 1, 2))
  b$add(x = x, reward = y)
  at <- rbind(c(0.5, 0.9), c(0, 0.5))
  full <- gram(0.3)(c(arm, 2, 1), c(x[, 2], at[, 2]))
  expected <- ref_posterior_at(full, 1:5, y - (0:2)[arm], 0.02)
  expect_equal(b$posterior(at)$mean, expected$mean[6:7] + c(1, 0), tolerance = tol$engine)
  expect_equal(b$posterior(at)$sd, expected$sd[6:7], tolerance = tol$engine)
  refused(b$posterior(c(0.25, 0.5)), "x")
  b <- gp_bandit(domain, kernel_matrix(K) * kernel_se(0.3, dims = "u"), 0.02, policy_ucb(width_constant(2)),
                 refit = refit_every(6))
  set.seed(1)
  run_bandit(b, bandit_problem(domain, product_truth, noise = 0.1, optimum = 1), 20)
  expect_length(b$refits, 3)
  expect_false(b$refits[[1]]$kernel$parts[[2]]$lengthscale == 0.3)
  expect_true(is_point(b$history(), domain))
})

test_that("choices of UCB are the largest upper bounds over all rows, by brute force", {
  domain <- small_product()
  b <- product_bandit(policy_ucb(width_constant(1.5)))
  grid <- as.matrix(expand.grid(c(0, 0.5, 1), seq(0, 1, length.out = 401)))
  set.seed(2)
  for (t in 1:15) {
    upper <- b$posterior(grid)
    q <- b$suggest()
    h <- b$history()[t, ]
    expect_gt(h$mean + 1.5 * h$sd, max(upper$mean + 1.5 * upper$sd) - 1e-6)
    expect_true(is_point(q, domain))
    b$observe(q$id, product_truth(cbind(q$r, q$u)) + rnorm(1, sd = 0.1))
  }
  expect_gt(length(unique(b$history()$arm)), 1)
  best <- b$best()
  expect_gt(best$mean, max(b$posterior(grid)$mean) - 1e-6)
  expect_true(is_point(best, domain))
})

test_that("every policy selects valid points, reproducibly by seed, with contexts, delays, changes and constraints", {
  skip_on_cran()
  domain <- product_domain(cbind(r = c(0, 0.5, 1)), box_domain(c(n = 1, u = 0.1), c(4, 10), integer = "n", log = "u"))
  policies <- list(policy_ucb(width_igp(1, 0.1)), policy_ts(width_constant(1)), policy_ei(), policy_pi(), policy_mean(),
                   policy_variance(), policy_uniform(), policy_mes())
  f <- function(x) x[, "r"] - (x[, "n"] - 2)^2 / 4 - log10(x[, "u"])^2 + 0.1 * x[, "z"]
  problem <- bandit_problem(domain, list(f, function(x) -f(x)), noise = 0.1, delay = function(n) rpois(n, 1), change_points = 7,
                            constraints = function(x) x[, "n"] - 3, contexts = cbind(z = c(0, 1)), optimum = c(1, 5))
  for (k in few_of(seq_along(policies), 4)) {
    policy <- policies[[k]]
    contexts <- if (k %% 2) cbind(z = c(0, 1)) else "z"
    life <- function() {
      b <- gp_bandit(domain, kernel_se(c(1, 2, 2, 2)), 0.01, policy, pending = pending_censor(3), contexts = contexts,
                     changes = change_detect(function(q) 0.5, function(q) 1),
                     constraints = constraints_noiseless(1, epoch = 6))
      set.seed(8)
      run_bandit(b, problem, 14)
      b
    }
    b <- life()
    h <- b$history()
    expect_true(is_point(h, domain), info = policy$kind)
    expect_identical(h, life()$history(), info = policy$kind)
    again <- unserialize(serialize(b, NULL))
    set.seed(9)
    theirs <- again$suggest(2, context = 1)
    set.seed(9)
    expect_equal(b$suggest(2, context = 1), theirs, tolerance = 1e-6, info = policy$kind)
  }
})

test_that("uniform sampling is uniform over rows and box", {
  b <- product_bandit(policy_uniform())
  set.seed(5)
  q <- b$suggest(1500)
  expect_gt(chisq.test(table(q$arm))$p.value, 1e-3)
  expect_gt(ks.test(q$u, "punif")$p.value, 1e-3)
})

test_that("a problem computes its optimum, and the regret log uses it", {
  domain <- small_product()
  grid <- as.matrix(expand.grid(c(0, 0.5, 1), seq(0, 1, length.out = 20001)))
  problem <- bandit_problem(domain, product_truth, constraints = function(x) 0.6 - x[, 2])
  ok <- grid[, 2] >= 0.6
  expect_equal(problem$optimum, max(product_truth(grid[ok, ])), tolerance = 1e-6)
  expect_equal(bandit_problem(domain, product_truth)$optimum, max(product_truth(grid)), tolerance = 1e-6)
  set.seed(1)
  run <- as.data.frame(run_bandit(product_bandit(), problem, 20))
  expect_equal(run$f, product_truth(cbind(run$r, run$u)), tolerance = 1e-10)
  expect_equal(run$regret, problem$optimum - run$f, tolerance = 1e-10)
  expect_equal(run$violation1, 0.6 - run$u, tolerance = 1e-10)
  refused(run_bandit(product_bandit(), bandit_problem(product_domain(1:3, list(u = c(0, 1))), product_truth), 2), "problem")
  refused(bandit_problem(domain, 1:3), "reward")
  refused(bandit_problem(domain, product_truth, constraints = 1:3), "constraints")
})

test_that("maximize_bandit() finds the best row and point, with given points and a journal", {
  domain <- small_product()
  f <- function(p) {
    stopifnot(identical(names(p), c("r", "u")))
    product_truth(rbind(p))
  }
  set.seed(2)
  found <- maximize_bandit(f, domain, 30, data = data.frame(r = c(0, 1), u = c(0.5, 0.9), reward = c(0.6, -1)))
  top <- bandit_problem(domain, product_truth)$optimum
  expect_gt(f(found$par), top - 0.02)
  expect_true(found$par[["r"]] %in% c(0, 0.5, 1))
  refused(maximize_bandit(f, domain, 5, data = data.frame(r = 0.2, u = 0.5, reward = 0)), "data")
  file <- tempfile()
  set.seed(3)
  first <- maximize_bandit(f, domain, 12, n_initial = 6, journal = file)
  more <- maximize_bandit(f, domain, 16, n_initial = 6, journal = file)
  set.seed(3)
  whole <- maximize_bandit(f, domain, 16, n_initial = 6)
  expect_equal(more$history, whole$history, tolerance = 1e-8)
  expect_identical(more$history[1:12, ], first$history)
})

test_that("a journal restores it", {
  file <- tempfile()
  b <- product_bandit(journal = file)
  q <- b$suggest(4)
  b$observe(q$id[1:2], c(0.3, 0.1))
  again <- open_bandit(file)
  expect_identical(again$history(), b$history())
  expect_equal(again$suggest()[-1], b$copy()$suggest()[-1])
})

test_that("it is plotted as a map of rows and box, otherwise as the evaluated points", {
  b <- product_bandit()
  set.seed(1)
  run_bandit(b, bandit_problem(small_product(), product_truth, noise = 0.1, optimum = 1), 8)
  local_device()
  shown <- plot(b, truth = product_truth, resolution = 11)
  expect_identical(nrow(shown), 33L)
  expect_equal(shown$truth, product_truth(cbind(shown$r, shown$u)))
  expect_equal(shown$mean, b$posterior(cbind(shown$r, shown$u))$mean)
  shown <- plot(b, type = "arms")
  expect_identical(nrow(shown), nrow(unique(b$history()[c("r", "u")])))
  refused(plot(b, type = "curve"), "type")
  three <- gp_bandit(product_domain(1:2, box_domain(c(0, 0), 1)), kernel_se(1), 0.1, policy_ucb(width_constant(2)))
  three$observe(three$suggest()$id, 1)
  slices <- plot(three)
  expect_setequal(unique(slices$input), three$config$domain$names)
  expect_equal(nrow(plot(three, type = "arms")), 1)
})

test_that("baselines that run on boxes run on a product", {
  skip_on_cran()
  domain <- small_product()
  problem <- bandit_problem(domain, product_truth, noise = 0.05, constraints = function(x) x[, 2] - 0.5)
  kernel <- product_kernel()
  makers <- list(ckb = function() baseline_constrained("ckb", domain, kernel, 0.01, step = 0.5, bound = 3), config = function() gp_ucb(domain, kernel, 0.01, width = 2, outcomes = list(y = to_maximize(), g1 = at_most(0))),
                 epbo = function() baseline_constrained("epbo", domain, kernel, 0.01, penalty = 3), oco = function() baseline_constrained("oco", domain, epsilon = 0.1),
                 admmbo = function() baseline_constrained("admmbo", domain, kernel, 0.01, objective_evaluations = c(3, 2), constraint_evaluations = c(3, 2)))
  for (name in names(makers)) {
    b <- makers[[name]]()
    set.seed(6)
    run <- as.data.frame(run_bandit(b, problem, 20))
    expect_true(is_point(run, domain), info = name)
    expect_true(is_point(b$best(), domain), info = name)
    expect_true(all(run$regret > -1e-6 | run$violation1 > 0), info = name)
  }
  b <- makers$config()
  set.seed(6)
  run_bandit(b, problem, 25)
  best <- suppressWarnings(b$best(), classes = "gpbandits_infeasible")
  expect_gt(product_truth(cbind(best$r, best$u)), problem$optimum - 0.2)
  grid <- as.matrix(expand.grid(c(0, 0.5, 1), seq(0, 1, length.out = 401)))
  p <- b$posterior(grid)
  expect_gt(best$y_mean, max(p$y_mean[p$feasible >= 0.95]) - 1e-3)
  b$add(x = 0.25, arm = 2, reward = c(y = 0.4, g1 = -0.2))
  expect_identical(utils::tail(b$history(), 1)$r, 0.5)
})

test_that("Thompson sampling works on a product whose rows have a covariance matrix", {
  skip_on_cran()
  K <- matrix(0.3, 3, 3) + diag(0.7, 3)
  b <- gp_bandit(product_domain(1:3, box_domain(0, 1, names = "u")), kernel_matrix(K) * kernel_se(0.3, dims = "u"), 0.01,
                 policy_ts(width_constant(1)))
  set.seed(3)
  for (t in 1:25) {
    q <- b$suggest()
    b$observe(q$id, c(0, 0.5, 2)[q$arm] - 4 * (q$u - 0.7)^2)
  }
  expect_equal(b$best()$arm, 3)
  expect_equal(b$best()$u, 0.7, tolerance = 0.1)
  expect_gt(length(unique(b$history()$arm)), 1)
})
