# Unknown lengthscales: the worked example's numbers, the reference's choices.

ref_suspected <- function(n, theta, theta0, rate) {
  gamma <- rate(n) / theta
  sqrt(n) * (sqrt(theta0 / theta) * sqrt(gamma) + gamma)
}

test_that("choices by suspected regret equal those of the worked example", {
  rate <- function(n) log(n + 1)^2
  theta <- 0.6 * exp(-(0:2))
  core <- theirs <- c(0, 0, 0)
  for (t in 1:60) {
    i <- which.min(ref_suspected(theirs + 1, theta, 0.6, rate))
    theirs[i] <- theirs[i] + 1
    j <- which.min(suspected_regret(core + 1, theta, exp((0:2) / 2), rate))
    core[j] <- core[j] + 1
  }
  expect_equal(theirs, c(39, 15, 6))
  expect_equal(core, theirs)
})

test_that("the test that discards a lengthscale equals that of the worked example", {
  xi <- 2 * 0.1^2 * log(2 * pi^2 * 8^2 / (3 * 0.1))
  expect_equal(xi, .166909, tolerance = 1e-5)
  expect_equal(c(.2 + 2 * .1 + sqrt(xi / 4), 1 - sqrt(xi / 4)), c(.604273, .795727), tolerance = 1e-5)
  expect_equal(is_suspect(c(4, 4), c(.8, 4), c(.4, .4), 8, .1, .1), c(TRUE, FALSE))
  expect_equal(is_suspect(c(4, 4), c(.8, 4), c(.9, .4), 8, .1, .1), c(FALSE, FALSE))
})

# LB-GP-UCB from its description.
test_that("choices of LB-GP-UCB equal the reference's", {
  set.seed(431)
  x <- seq(0, 1, length.out = 30)
  f <- sin(25 * x)
  b <- gp_ucb_lengthscale(x, kernel_se(1), 0.04, B = 1, R = 0.05, growth = function(t) max(exp(2), t), delta = 0.1,
                          method = "balanced")
  grams <- lapply(0:5, function(i) ref_kernel_se(exp(-i))(x))
  rows <- integer()
  y <- numeric()
  played <- integer()
  reach <- numeric()
  dropped <- integer()
  for (t in 1:40) {
    active <- setdiff(seq_len(1 + floor(log(max(exp(2), max(1, t - 1))) + 1e-9)), dropped)
    if (t > 1) {
      n <- vapply(active, function(j) sum(played == j), 0)
      if (all(n > 0)) {
        xi <- 2 * 0.05^2 * log(length(active) * pi^2 * (t - 1)^2 / (3 * 0.1))
        S <- vapply(active, function(j) sum(y[played == j]), 0)
        W <- vapply(active, function(j) sum(reach[played == j]), 0)
        out <- (S + 2 * W) / n + sqrt(xi / n) < max(S / n - sqrt(xi / n))
        dropped <- c(dropped, active[out])
        active <- active[!out]
      }
    }
    n <- vapply(active, function(j) sum(played == j), 0)
    j <- active[which.min(ref_suspected(n + 1, exp(-(active - 1)), 1, function(n) log(n + 1)^2))]
    p <- ref_posterior_at(grams[[j]], rows, y, 0.04)
    beta <- exp((j - 1) / 2) + 0.05 * sqrt(2 * (ref_information_gain(grams[[j]], rows, 0.04) + 1 + log(2 / 0.1)))
    q <- b$suggest()
    h <- b$history()[t, ]
    expect_equal(h$phase, paste0("scale", j - 1))
    expect_equal(q$arm, ref_argmax(p$mean + beta * p$sd, 1e-9))
    expect_equal(c(h$width, h$mean, h$sd), c(beta, p$mean[q$arm], p$sd[q$arm]), tolerance = tol$engine)
    rows[t] <- q$arm
    played[t] <- j
    reach[t] <- beta * p$sd[q$arm]
    b$observe(t, y[t] <- f[q$arm] + rnorm(1, sd = 0.05))
    if (t == 20) b <- unserialize(serialize(b, NULL))
  }
  expect_gt(length(unique(played)), 3)
  expect_gt(max(played), 3)
})

test_that("A-GP-UCB uses the last lengthscale that g(t) allows, with its width", {
  set.seed(432)
  x <- seq(0, 1, length.out = 30)
  f <- sin(20 * x)
  b <- gp_ucb_lengthscale(x, kernel_matern(2.5, 0.8), 0.04, B = 1, R = 0.1, growth = function(t) t^0.4,
                norm_growth = function(t) 1 + log(t) / 10)
  rows <- integer()
  y <- numeric()
  for (t in 1:25) {
    i <- floor(log(t^0.4) + 1e-9)
    K <- ref_kernel_matern(2.5, 0.8 * exp(-i))(x)
    p <- ref_posterior_at(K, rows, y, 0.04)
    width <- (1 + log(t) / 10) * exp(i / 2) +
      0.1 * sqrt(2 * (ref_information_gain(K, rows, 0.04) + 1 + log((i + 1) * (i + 2) / 0.1)))
    rows[t] <- b$suggest()$arm
    expect_equal(rows[t], ref_argmax(p$mean + width * p$sd, 1e-9))
    expect_equal(b$history()$width[t], width, tolerance = tol$engine)
    b$observe(t, y[t] <- f[rows[t]] + rnorm(1, sd = 0.1))
  }
  expect_equal(b$posterior()$mean, ref_posterior_at(K, rows, y, 0.04)$mean, tolerance = tol$engine)
  expect_gt(i, 0)
})

test_that("a lengthscale that is too long is replaced by a shorter one, and the maximum is found", {
  x <- seq(0, 1, length.out = 60)
  problem <- bandit_problem(x, sin(30 * x) * x, noise = 0.05)
  set.seed(433)
  run <- as.data.frame(run_bandit(gp_ucb_lengthscale(x, kernel_se(2), 0.01, B = 1, R = 0.05, method = "balanced"),
                                  problem, 80))
  expect_lt(run$simple_regret[80], 0.05)
})

test_that("several inputs, boxes and contexts work, and invalid settings are errors", {
  b <- gp_ucb_lengthscale(box_domain(c(0, 0), c(1, 1)), kernel_se(c(1, 2)), 0.1, B = 1, R = 0.1, method = "balanced")
  expect_equal(length(b$config$model_settings), 1 + floor(2 * log(sqrt(1000))))
  expect_equal(b$config$model_settings[[2]]$kernel$lengthscale, c(1, 2) * exp(-1 / 2))
  b$suggest(2)
  z <- gp_ucb_lengthscale(1:4, kernel_se(1), 0.1, B = 1, R = 0.1, contexts = cbind(c(0, 1)))
  expect_equal(nrow(z$suggest(2, context = 1)), 2)
  expect_error(gp_ucb_lengthscale(1:3, kernel_linear(), 0.1, B = 1, R = 0.1, method = "balanced"),
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = -1, R = 0.1, method = "balanced"),
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, R = 0.1, method = "balanced"),
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, growth = function(t) 0, method = "balanced"),
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, norm_growth = 3), class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, method = "other"), "adaptive.*balanced",
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, rate = sqrt), "`rate`.*balanced",
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, method = "balanced", norm_growth = sqrt),
               "`norm_growth`.*adaptive", class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, context = 1), "`contexts`",
               class = "gpbandits_error")
  expect_error(gp_ucb_lengthscale(1:3, kernel_se(1), 0.1, B = 1, R = 0.1, refit = 3), class = "gpbandits_error")
})

test_that("settings that contain functions are written to a journal only with trust, and the run resumes from it", {
  x <- 0:10 / 10
  # (Functions are saved with their environment: this test's has all of the file.)
  outside <- function(f) {
    environment(f) <- globalenv()
    f
  }
  own <- kernel_function(outside(function(X, Y) exp(-outer(X[, 1], Y[, 1], "-")^2 / 0.18)))
  made <- list(
    function(...) gp_ucb_lengthscale(x, kernel_se(0.6), 0.01, 1, 0.1, method = "balanced", ...),
    function(...) gp_ucb_lengthscale(x, kernel_se(0.6), 0.01, 1, 0.1, ...),
    function(...) baseline_constrained("ckb", x, own, 0.01, step = 0.1, bound = 1, ...),
    function(...) baseline_constrained("epbo", x, kernel_se(0.3), 0.01, penalty = outside(function(t) sqrt(t)), ...),
    function(...) baseline_constrained("admmbo", x, own, 0.01, ...),
    function(...) rahbo(x, own, 0.01, 1, kernel_se(0.3), ...),
    function(...) gp_ei(x, own, 0.01, cost = "learned", ...),
    function(...) safe_opt(x, own, 0.01, -2, 3, by = "data", lipschitz = 3, noise_bound = 0.1, ...)
  )
  for (make in few_of(made, 4)) {
    path <- tempfile()
    expect_error(make(journal = path), "trust = TRUE", class = "gpbandits_error")
    expect_error(make(trust = 3), "trust", class = "gpbandits_error")
    set.seed(1)
    b <- make(journal = path, trust = TRUE)
    for (t in 1:4) {
      id <- b$suggest()$id
      limited <- !is.null(b$config$outcomes) || b$config$constraints$count > 0 && b$config$rule != "safe_opt"
      if (limited) b$observe(id, sin(id), constraints = id / 9)
      else b$observe(id, sin(id))
    }
    again <- open_bandit(path, trust = TRUE)
    expect_identical(again$history(), b$history())
    set.seed(2)
    theirs <- again$suggest()
    set.seed(2)
    expect_identical(b$copy()$suggest(), theirs)
  }
})
