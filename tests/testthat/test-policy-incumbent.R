# policy_ei(incumbent = "draws"), noisy expected improvement: values by plain R, with other draws and another formula.

nei_x <- seq(0, 1, length.out = 40)
nei_kernel <- kernel_matern(2.5, 0.25)
nei_K <- ref_kernel_matern(2.5, 0.25)(nei_x)

noisy_ei <- function(...) policy_ei(incumbent = "draws", ...)

nei_bandit <- function(rows, y, noise = 0.1, policy = noisy_ei(), domain = nei_x, ...) {
  b <- gp_bandit(domain, nei_kernel, noise, policy, ...)
  b$add(arm = rows, reward = y)
  b
}

# The mean expected improvement over draws: `means` has a column per draw, and `targets` an entry.
mean_improvement <- function(means, sd, targets) {
  rowMeans(matrix(ref_score_ei(c(means), rep(sd, ncol(means)), rep(targets, each = nrow(means))), nrow(means)))
}

# E (f(x) - max f(Z) - xi)+ at all arms, by draws of f(Z) and the closed form given each of them, from the prior's
# covariances alone: given f(Z), rewards at Z say no more.
ref_noisy_ei <- function(K, rows, y, noise, pending = integer(), draws = 4000, xi = 0) {
  z <- unique(c(rows, pending))
  p <- ref_posterior_at(K, rows, y, noise, test = z)
  root <- with(eigen(p$cov, symmetric = TRUE), vectors %*% diag(sqrt(pmax(values, 0)), length(z)))
  f <- p$mean + root %*% matrix(rnorm(length(z) * draws), length(z))
  weights <- solve(K[z, z] + diag(1e-10, length(z)), K[z, , drop = FALSE])
  sd <- sqrt(pmax(0, diag(K) - colSums(weights * K[z, , drop = FALSE])))
  replace(mean_improvement(crossprod(weights, f), sd, apply(f, 2, max) + xi), z, 0)
}

random_rewards <- function(count, noise, seed) {
  set.seed(seed)
  rows <- sample(length(nei_x), count, TRUE)
  list(rows = rows, y = sin(7 * nei_x[rows]) + rnorm(count, sd = sqrt(noise)))
}

# The ratio of two arms' acquisition values is the ratio of their costs at which the choice changes.
value_ratio <- function(one, other, make) {
  costs <- function(ratio) ifelse(seq_along(nei_x) == one, ratio, ifelse(seq_along(nei_x) == other, 1, 1e30))
  prefers_one <- function(ratio) make(function(x) costs(ratio))$suggest()$arm == one
  bounds <- c(-6, 6)
  for (halving in 1:10) {
    middle <- mean(bounds)
    bounds[if (prefers_one(exp(middle))) 1 else 2] <- middle
  }
  exp(mean(bounds))
}

test_that("values equal the expected improvement over joint draws of the incumbent", {
  apart <- 0
  for (seed in few_of(3:1, 1)) {
    for (noise in c(0.01, 0.1)) {
      data <- random_rewards(9, noise, seed)
      reference <- ref_noisy_ei(nei_K, data$rows, data$y, noise, draws = 20000)
      arms <- order(-reference)[c(1, 4)]
      ratio <- value_ratio(arms[1], arms[2], function(cost) {
        nei_bandit(data$rows, data$y, noise, noisy_ei(cost = cost), engine = if (seed == 1) "played" else "weights")
      })
      expect_lt(abs(log(ratio) - log(reference[arms[1]] / reference[arms[2]])), 0.15)
      p <- ref_posterior_at(nei_K, data$rows, data$y, noise)
      plain <- ref_score_ei(p$mean, p$sd, max(p$mean[data$rows]))
      apart <- max(apart, abs(log(plain[arms[1]] / plain[arms[2]]) - log(ratio)))
    }
  }
  # They are not those of the largest mean.
  expect_gt(apart, 0.5)
})

test_that("the choice has the largest value, over arms by all engines and on a box", {
  for (seed in 11:16) {
    noise <- c(0.02, 0.3)[seed %% 2 + 1]
    data <- random_rewards(12, noise, seed)
    reference <- ref_noisy_ei(nei_K, data$rows, data$y, noise)
    for (engine in c("weights", "played")) {
      chosen <- nei_bandit(data$rows, data$y, noise, engine = engine)$suggest()$arm
      expect_gt(log(reference[chosen]), log(max(reference)) - 0.1)
    }
    for (engine in c("dense", "lowrank")) {
      b <- gp_bandit(box_domain(c(x = 0), 1), nei_kernel, noise, noisy_ei(), engine = engine)
      b$add(x = cbind(x = nei_x[data$rows]), reward = data$y)
      all <- c(nei_x, b$suggest()$x)
      found <- ref_noisy_ei(ref_kernel_matern(2.5, 0.25)(all), data$rows, data$y, noise)
      expect_gt(log(found[length(all)]), log(max(found)) - 0.1)
    }
  }
})

test_that("with one evaluated point it is an average over normal quantiles, and the search of a box finds the best", {
  noise <- 0.2
  v <- qnorm((1:128 - 0.5) / 128)
  v <- v / sqrt(mean(v^2))
  k <- ref_kernel_matern(2.5, 0.25)
  for (at in c(0.2, 0.75)) {
    b <- gp_bandit(box_domain(c(x = 0), 1), nei_kernel, noise, noisy_ei())
    b$add(x = cbind(x = c(at, at)), reward = c(0.4, 0.9))
    score <- function(x) {
      p <- ref_posterior_at(k(c(x, at)), length(x) + c(1, 1), c(0.4, 0.9), noise)
      own <- p$sd[length(x) + 1]
      u <- p$cov[seq_along(x), length(x) + 1] / own
      sd <- sqrt(pmax(0, p$sd[seq_along(x)]^2 - u^2))
      means <- p$mean[seq_along(x)] + outer(u, v)
      log(mean_improvement(means, sd, p$mean[length(x) + 1] + own * v))
    }
    grid <- setdiff(seq(0, 1, length.out = 801), at)
    expect_gt(score(b$suggest()$x), max(score(grid)) - 1e-5)
    # And the draws represent the closed form: f(x) - f(z) is normal.
    x <- setdiff(seq(0, 1, by = 0.05), at)
    p <- ref_posterior_at(k(c(x, at)), length(x) + c(1, 1), c(0.4, 0.9), noise)
    last <- length(x) + 1
    apart <- sqrt(p$sd[-last]^2 + p$sd[last]^2 - 2 * p$cov[-last, last])
    expect_lt(max(abs(score(x) - log(ref_score_ei(p$mean[-last], apart, p$mean[last])))), 0.05)
  }
})

test_that("almost without noise it is the expected improvement over the best reward", {
  for (seed in 21:24) {
    data <- random_rewards(7, 0, seed)
    exact <- function(policy) nei_bandit(data$rows, data$y, 1e-7, policy)
    expect_identical(exact(noisy_ei())$suggest()$arm, exact(policy_ei())$suggest()$arm)
    p <- ref_posterior_at(nei_K, data$rows, data$y, 1e-7)
    score <- ref_log_ei(p$mean, p$sd, max(data$y), 0.05)
    arms <- setdiff(order(-score), data$rows)[c(1, 4)]
    ratio <- value_ratio(arms[1], arms[2], function(cost) exact(noisy_ei(xi = 0.05, cost = cost)))
    expect_lt(abs(log(ratio) - (score[arms[1]] - score[arms[2]])), 0.02)
  }
})

test_that("an evaluated point is chosen again only if there is no other, and then by the largest mean", {
  few <- nei_x[c(1, 14, 27, 40)]
  set.seed(3)
  b <- gp_bandit(few, nei_kernel, 0.3, noisy_ei())
  for (t in 1:12) {
    plain <- gp_bandit(few, nei_kernel, 0.3, policy_ei())
    h <- b$history()
    if (t > 1) plain$add(arm = h$arm, reward = h$reward)
    arm <- b$suggest()$arm
    if (t <= 4) expect_false(arm %in% h$arm)
    else expect_identical(arm, plain$suggest()$arm)
    b$observe(t, sin(7 * few[arm]) + rnorm(1, sd = 0.5))
  }
})

test_that("a search space of few points is exhausted, and then its points are repeated", {
  space <- search_space(a = param_integer(0, 2), b = param_factor(c("u", "v")))
  set.seed(8)
  b <- gp_bandit(space, kernel_matern(2.5, 2, dims = "a") * kernel_categorical(0.5, dims = "b"), 0.2, noisy_ei())
  for (t in 1:10) {
    q <- b$suggest()
    b$observe(q$id, q$a + rnorm(1, sd = 0.3))
  }
  h <- b$history()
  expect_identical(anyDuplicated(h[1:6, c("a", "b")]), 0L)
  expect_true(all(h$a[7:10] >= 1))
})

test_that("pending points are drawn together with the evaluated ones", {
  data <- random_rewards(10, 0.1, 31)
  for (pending in list(pending_hallucinate(), pending_penalize())) {
    b <- nei_bandit(data$rows, data$y, pending = pending)
    asked <- integer()
    for (k in 1:4) {
      reference <- ref_noisy_ei(nei_K, data$rows, data$y, 0.1, asked)
      arm <- b$suggest()$arm
      if (k == 1) first <- max(reference)
      if (identical(pending, pending_hallucinate())) expect_gt(reference[arm], max(reference) - 0.05 * first)
      expect_false(arm %in% asked)
      asked <- c(asked, arm)
    }
  }
  # With pending_ignore() the same point is asked again.
  b <- nei_bandit(data$rows, data$y)
  expect_identical(b$suggest()$arm, b$suggest()$arm)
})

test_that("with more than 64 evaluated points, those that may be the best are drawn", {
  set.seed(41)
  x <- sort(runif(150))
  noise <- 0.5
  y <- sin(7 * x) + rnorm(150, sd = sqrt(noise))
  k <- ref_kernel_matern(2.5, 0.25)
  b <- gp_bandit(box_domain(c(x = 0), 1), nei_kernel, noise, noisy_ei())
  b$add(x = cbind(x = x), reward = y)
  others <- seq(0.005, 0.995, by = 0.01)
  found <- ref_noisy_ei(k(c(x, others, b$suggest()$x)), 1:150, y, noise, draws = 2000)
  expect_gt(log(found[length(found)]), log(max(found)) - 0.2)
  # The bound on the error from the points left out, by the help's formula.
  p <- ref_posterior_at(k(x), 1:150, y, noise)
  best <- which.max(p$mean)
  gain <- ref_score_ei(p$mean, sqrt(p$sd^2 + p$sd[best]^2), p$mean[best])
  left <- order(replace(-gain, best, -Inf))[-(1:64)]
  apart <- sqrt(pmax(0, p$sd[left]^2 + p$sd[best]^2 - 2 * p$cov[left, best]))
  expect_lt(sum(ref_score_ei(p$mean[left], apart, p$mean[best])), 0.01 * max(found))
})

test_that("the choice needs no random numbers, and a restored bandit makes it again", {
  data <- random_rewards(10, 0.1, 51)
  b <- nei_bandit(data$rows, data$y)
  again <- unserialize(serialize(b, NULL))
  set.seed(1)
  before <- .Random.seed
  chosen <- b$suggest()
  expect_identical(.Random.seed, before)
  set.seed(2)
  expect_identical(again$suggest()$arm, chosen$arm)
  expect_match(paste(capture.output(print(b)), collapse = " "), "noisy expected improvement")
})

test_that("contexts, eligible arms and models that are averaged are supported", {
  set.seed(61)
  z <- cbind(z = c(0, 1))
  b <- gp_bandit(nei_x, kernel_matern(2.5, c(0.25, 1)), 0.1, noisy_ei(), contexts = z)
  for (t in 1:8) {
    q <- b$suggest(context = z[t %% 2 + 1])
    b$observe(q$id, sin(7 * nei_x[q$arm]) + rnorm(1, sd = 0.3))
  }
  h <- b$history()
  all <- cbind(rep(nei_x, 2), rep(0:1, each = 40))
  visited <- h$z + 1
  rows <- h$arm + 40 * (visited - 1)
  for (context in 1:2) {
    own <- 40 * (context - 1) + 1:40
    K <- ref_kernel_matern(2.5, c(0.25, 1))(all)
    p <- ref_posterior_at(K, rows, h$reward, 0.1)
    here <- unique(rows[visited == context])
    f <- p$mean[own] + t(chol(p$cov[own, own] + diag(1e-9, 40))) %*% matrix(rnorm(40 * 20000), 40)
    value <- rowMeans(pmax(sweep(f, 2, apply(f[match(here, own), ], 2, max)), 0))
    b2 <- b$copy()
    expect_gt(log(value[b2$suggest(context = z[context])$arm]), log(max(value)) - 0.15)
  }
  data <- random_rewards(10, 0.1, 62)
  free <- setdiff(1:40, data$rows)[c(3, 9)]
  expect_true(nei_bandit(data$rows, data$y)$suggest(arms = c(free, data$rows[1]))$arm %in% free)
})

test_that("an average over models averages their values", {
  set.seed(71)
  b <- gp_bandit(nei_x, nei_kernel, 0.1, noisy_ei(),
                 refit = refit_every(10, average = 4,
                                     priors = list(matern.lengthscale = c(log(0.3), 1), matern.variance = c(0, 1),
                                                   noise_var = c(log(0.1), 1))))
  data <- random_rewards(12, 0.1, 72)
  b$add(arm = data$rows, reward = data$y)
  chosen <- b$suggest()$arm
  models <- models_in_force(b)
  weight <- weights_in_force(b)
  expect_gt(length(weight), 1)
  values <- sapply(models, function(config) {
    K <- kernel_gram(config$kernel, nei_x)
    m <- config$mean
    ref_noisy_ei(K, data$rows, data$y - m, config$noise_var)
  })
  average <- drop(values %*% weight)
  expect_gt(log(average[chosen]), log(max(average)) - 0.1)
})

test_that("comparisons need the incumbent of the means", {
  expect_error(gp_bandit(nei_x, nei_kernel, policy = noisy_ei(), rewards = rewards_preferences()), "incumbent = \"mean\"",
               class = "gpbandits_error")
  expect_error(policy_ei(incumbent = "best"), class = "gpbandits_error")
})
