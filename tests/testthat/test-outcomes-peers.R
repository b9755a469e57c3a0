# Scores of several outcomes against other packages, where these are installed, and against their formulas everywhere.

tiny_points <- c(0, 0.25, 0.5, 0.75, 1)

# log EI times feasibility at points that are given with means and sds: `f` the objective's, `limits` a list of the
# others' with `lower` and `upper`. As the core has it.
log_feasible_improvement <- function(f, target, limits) {
  log(f$sd) + cpp_log_improvement((f$mean - target) / f$sd) +
    cpp_log_feasible(sapply(limits, `[[`, "mean"), sapply(limits, `[[`, "sd"),
                     vapply(limits, `[[`, 0, "lower"), vapply(limits, `[[`, 0, "upper"))
}

test_that("EI times feasibility has the values of the worked example", {
  skip_without_testing()
  b <- gp_bandit(tiny_points, kernel_se(0.3), 0.01, policy_ei(),
                 outcomes = list(f = to_maximize(), g = at_most(2, mean = 1.5)))
  b$add(arm = c(1, 3, 5), reward = data.frame(f = c(0.2, 1, -0.3), g = c(1.2, 2.4, NA)))
  p <- b$posterior()
  target <- max(p$f_mean[c(1, 3, 5)][p$feasible[c(1, 3, 5)] >= 0.5])
  expect_equal(target, .200848, tolerance = 1e-5)
  found <- log_feasible_improvement(list(mean = p$f_mean, sd = p$f_sd), target,
                                    list(list(mean = p$g_mean, sd = p$g_sd, lower = -Inf, upper = 2)))
  expect_equal(found, c(-3.226843, -1.035117, -10.2556, -2.172143, -19.43769), tolerance = 1e-5)
  expect_equal(b$suggest()$arm, which.max(found))
})

test_that("DiceOptim's EFI agrees, in one and two inputs, with one limit and two", {
  skip_if_not_installed("DiceOptim")
  skip_if_not_installed("DiceKriging")
  skip_without_testing()
  # (No dependency of ours, not even a suggested one.)
  km <- getExportedValue("DiceKriging", "km")
  crit <- getExportedValue("DiceOptim", "crit_EFI")
  set.seed(1)
  for (case in list(list(d = 1, kernel = "se"), list(d = 2, kernel = "se"), list(d = 1, kernel = "matern"))) {
    d <- case$d
    n <- 5 + d
    X <- matrix(runif(n * d), n, dimnames = list(NULL, paste0("x", seq_len(d))))
    length <- runif(d, 0.2, 0.6)
    lambda <- c(0.01, 0.02, 0.05)
    variance <- c(1, 2, 0.7)
    level <- c(0.3, 1.5, -0.2)
    Y <- matrix(rnorm(3 * n), n) + rep(level, each = n)
    kernel <- function(k) {
      if (case$kernel == "se") kernel_se(length, variance[k]) else kernel_matern(2.5, length, variance[k])
    }
    space <- stats::setNames(rep(list(c(0, 1)), d), colnames(X))
    b <- gp_bandit(space, kernel(1), lambda[1], policy_ei(), mean = level[1],
                   outcomes = list(f = to_maximize(), g = at_most(2, kernel(2), lambda[2], level[2]),
                                   h = at_least(-0.5, kernel(3), lambda[3], level[3])))
    b$add(x = X, reward = data.frame(f = Y[, 1], g = Y[, 2], h = Y[, 3]))
    # It minimises, under limits <= 0.
    model <- function(k, y, trend) {
      km(~1, design = as.data.frame(X), response = y, covtype = if (case$kernel == "se") "gauss" else "matern5_2",
         coef.trend = trend, coef.cov = length, coef.var = variance[k], noise.var = rep(lambda[k], n))
    }
    objective <- model(1, -Y[, 1], -level[1])
    limits <- list(model(2, Y[, 2] - 2, level[2] - 2), model(3, -0.5 - Y[, 3], -0.5 - level[3]))
    # Its limits take the level as estimated: that much more variance.
    universal <- function(k, at, sd) {
      K <- kernel_gram(kernel(k), X) + lambda[k] * diag(n)
      one <- solve(K, rep(1, n))
      sqrt(sd^2 + (1 - drop(kernel_gram(kernel(k), at, X) %*% one))^2 / sum(one))
    }
    at <- matrix(runif(20 * d), 20, dimnames = dimnames(X))
    at <- at[apply(at, 1, function(x) min(colSums((t(X) - x)^2)) > 1e-3), , drop = FALSE]
    p <- b$posterior(at)
    for (target in c(-0.5, 0.4)) {
      theirs <- apply(at, 1, crit, model.fun = objective, model.constraint = limits, plugin = -target, type = "SK")
      core <- log_feasible_improvement(list(mean = p$f_mean, sd = p$f_sd), target, list(
        list(mean = p$g_mean, sd = universal(2, at, p$g_sd), lower = -Inf, upper = 2),
        list(mean = p$h_mean, sd = universal(3, at, p$h_sd), lower = -0.5, upper = Inf)))
      expect_equal(exp(core), unname(theirs), tolerance = 1e-8)
    }
  }
})

# Expected hypervolume improvement over a front (all maximised): P(Y1 > u, Y2 > v) over the part of the plane that is
# above the reference and not dominated, u by quadrature.
plain_ehvi <- function(front, reference, mean, sd) {
  front <- front[order(front[, 1]), , drop = FALSE]
  edges <- c(reference[1], front[, 1], Inf)
  floors <- c(front[, 2], reference[2])
  above <- function(v) sd[2] * dnorm((v - mean[2]) / sd[2]) + (mean[2] - v) * pnorm((mean[2] - v) / sd[2])
  along <- vapply(seq_along(floors), function(i) {
    far <- min(edges[i + 1], max(edges[i], mean[1]) + 12 * sd[1])
    stats::integrate(function(u) pnorm((mean[1] - u) / sd[1]), edges[i], far, rel.tol = 1e-11)$value
  }, 0)
  sum(along * above(floors))
}

random_front <- function(n) {
  Y <- matrix(runif(2 * n), n)
  Y[is_nondominated(Y), , drop = FALSE]
}

test_that("expected hypervolume improvement equals its defining integral", {
  skip_without_testing()
  set.seed(2)
  for (i in 1:40) {
    front <- random_front(sample(8, 1))
    mean <- runif(2, -0.3, 1.3)
    sd <- runif(2, 0.05, 0.5)
    core <- exp(cpp_log_ehvi(front, c(-0.1, -0.2), mean, sd))
    expect_equal(core, plain_ehvi(front, c(-0.1, -0.2), mean, sd), tolerance = 1e-8)
  }
})

test_that("GPareto's EHI agrees", {
  before <- options(rgl.useNULL = TRUE)   # (a dependency of it opens windows)
  on.exit(options(before))
  skip_if_not_installed("GPareto")
  skip_if_not_installed("DiceKriging")
  skip_without_testing()
  km <- getExportedValue("DiceKriging", "km")
  crit <- getExportedValue("GPareto", "crit_EHI")
  set.seed(3)
  X <- matrix(runif(12), 6, dimnames = list(NULL, c("x1", "x2")))
  Y <- matrix(rnorm(12), 6)
  lambda <- c(0.01, 0.03)
  kernels <- list(kernel_se(c(0.3, 0.5), 1), kernel_se(c(0.4, 0.2), 2))
  b <- gp_bandit(list(x1 = c(0, 1), x2 = c(0, 1)), kernels[[1]], lambda[1], policy_ehvi(),
                 outcomes = list(a = to_maximize(), b = to_maximize(kernels[[2]], lambda[2])))
  b$add(x = X, reward = data.frame(a = Y[, 1], b = Y[, 2]))
  model <- function(k, length) {
    km(~1, as.data.frame(X), -Y[, k], covtype = "gauss", coef.trend = 0, coef.cov = length, coef.var = k,
       noise.var = rep(lambda[k], 6))
  }
  models <- list(model(1, c(0.3, 0.5)), model(2, c(0.4, 0.2)))
  front <- Y[is_nondominated(Y), , drop = FALSE]
  reference <- apply(Y, 2, min) - 0.5
  at <- matrix(runif(30), 15, dimnames = dimnames(X))
  p <- b$posterior(at)
  theirs <- apply(at, 1, crit, model = models, paretoFront = -front, critcontrol = list(refPoint = -reference),
                  type = "SK")
  core <- vapply(1:15, function(i) {
    exp(cpp_log_ehvi(front, reference, c(p$a_mean[i], p$b_mean[i]), c(p$a_sd[i], p$b_sd[i])))
  }, 0)
  kept <- theirs >= 0
  expect_gt(sum(kept), 8)
  expect_equal(core[kept], theirs[kept], tolerance = 1e-6)
})
