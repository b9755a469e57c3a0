# Refits where rewards are no Gaussian measurements: Laplace's log marginal likelihood, its gradient and its maximum.

latent_x <- seq(0, 1, length.out = 9)
latent_kernel <- kernel_matern(2.5, 0.3, 1.5)

evidence_of <- function(bandit, parameters, fits_mean = FALSE) {
  b <- as.environment(bandit)
  kernel <- gpbandits:::resolve_kernel(bandit$config$kernel, gpbandits:::input_names(bandit$config), arms = NULL)
  testing_entry("cpp_latent_evidence")(b$handle, kernel, fits_mean, parameters)
}

# Bandits with some rewards of each kind; `own`: parameters in addition to the kernel's.
latent_lives <- function(domain = latent_x, kernel = latent_kernel, ...) {
  make <- function(rewards, policy = policy_mean()) gp_bandit(domain, kernel, policy = policy, rewards = rewards, ...)
  x <- matrix(latent_x)
  out <- list(
    logit = make(rewards_binary()), probit = make(rewards_binary("probit", "minimize")), counts = make(rewards_counts()),
    ordinal = make(rewards_ordinal(4, c(-1, 0.2, 0.9))), down = make(rewards_ordinal(3, direction = "minimize")),
    duels = make(rewards_preferences()), ties = make(rewards_preferences(ties = TRUE, tau = 0.4)), rankings = make(rewards_preferences("rankings"))
  )
  out$logit$add(x = x, reward = c(0, 1, 3, 5, 4, 4, 1, 0, 1), size = 5)
  out$probit$add(x = x, reward = c(0, 1, 3, 5, 4, 4, 1, 0, 1), size = 5)
  out$counts$add(x = x, reward = c(0, 1, 3, 9, 12, 4, 1, 0, 1), size = c(1, 2, 1, 1, 3, 1, 1, 1, 2))
  out$ordinal$add(x = x, reward = c(1, 1, 2, 4, 4, 3, 2, 1, 3))
  out$down$add(x = x, reward = c(1, 1, 2, 3, 3, 3, 2, 1, 1))
  for (b in out[c("duels", "ties")]) {
    for (k in 1:8) {
      b$add(x = x[c(k, 1 + (4 * k) %% 9), , drop = FALSE])
      b$observe(2 * k - 1:0, c(1, 0, 1, 0, 1, 1, 0, if (b$config$rewards$ties) 0.5 else 1)[k])
    }
  }
  for (k in 1:4) {
    out$rankings$add(x = x[1 + (k + c(0, 3, 7, 5)) %% 9, , drop = FALSE])
    out$rankings$observe(4 * k - 3:0, prefer = 4 * k - list(c(0, 2, 1, 3), c(3, 1), 1, c(1, 0, 2, 3))[[k]])
  }
  lapply(out, function(b) {
    b$posterior(x = 0.25)
    b
  })
}

test_that("the value is Laplace's log evidence, for every response type, with arms, boxes and a matrix", {
  for (domain in list(latent_x, box_domain(0, 1))) {
    for (b in latent_lives(domain)) {
      own <- testing_entry("cpp_latent_parameters")(as.environment(b)$handle)
      theta <- c(log(0.3), log(1.5), own, 0)
      if (names(fitted_values(latent_kernel))[1] != "matern.lengthscale") theta[1:2] <- theta[2:1]
      expect_equal(evidence_of(b, theta)$value, testing_entry("cpp_bandit_sites")(as.environment(b)$handle)$log_evidence,
                   tolerance = 1e-9)
    }
  }
})

test_that("the gradient equals finite differences, for kernel, mean, cuts and ties", {
  for (name in names(lives <- latent_lives())) {
    b <- lives[[name]]
    fits_mean <- name %in% c("logit", "probit", "counts")
    own <- testing_entry("cpp_latent_parameters")(as.environment(b)$handle)
    theta <- c(-1, 0.6, if (fits_mean) 0.3, own + 0.1, 0)
    found <- evidence_of(b, theta, fits_mean)
    h <- 1e-4
    by_differences <- vapply(seq_along(theta), function(k) {
      step <- replace(0 * theta, k, h)
      (evidence_of(b, theta + step, fits_mean)$value - evidence_of(b, theta - step, fits_mean)$value) / (2 * h)
    }, 0)
    expect_equal(found$gradient, by_differences, tolerance = 1e-6, info = name)
    expect_gt(max(abs(found$gradient)), 1e-3)
  }
})

test_that("the slope by the log variance equals that of the worked example", {
  b <- gp_bandit(c(0, .5, 1), kernel_se(.5, 2), policy = policy_mean(), rewards = rewards_binary())
  b$add(arm = 1:3, reward = c(1, 8, 1), size = c(4, 10, 2))
  b$posterior()
  at <- match("se.variance", names(fitted_values(kernel_se(.5, 2))))
  found <- evidence_of(b, c(replace(rep(log(.5), 2), at, log(2)), 0))
  expect_equal(found$value, -11.2170, tolerance = 1e-5)
  expect_equal(found$gradient[at], -.335965, tolerance = 1e-5)
})

test_that("a refit maximises evidence times priors, never below the start, also in copies, journals and stores", {
  file <- tempfile()
  x <- seq(0, 1, length.out = 15)
  truth <- 2 * sin(6 * x)
  makers <- list(
    binary = function(...) gp_bandit(x, latent_kernel, policy = policy_ucb(width_constant(1)),
                                     rewards = rewards_binary(direction = "minimize"), refit = refit_every(4, mean = "fit"), ...),
    ordinal = function(...) gp_bandit(box_domain(0, 1), latent_kernel, policy = policy_ei(), rewards = rewards_ordinal(3),
                                      refit = refit_every(4), ...),
    ties = function(...) gp_bandit(x, latent_kernel, policy = policy_duel(1), rewards = rewards_preferences(ties = TRUE),
                                   refit = refit_every(6, minimum = 2), ...),
    rankings = function(...) gp_bandit(x, latent_kernel, policy = policy_ts(width_constant(1)), rewards = rewards_preferences("rankings"),
                                       refit = refit_every(6, minimum = 2, priors = list(matern.lengthscale = c(-1, 0.5))), ...)
  )
  for (name in names(makers)) {
    unlink(file)
    set.seed(6)
    b <- suppressWarnings(makers[[name]](journal = file))
    for (t in 1:5) {
      q <- suppressWarnings(b$suggest(2), classes = "gpbandits_warning")
      f <- 2 * sin(6 * q$x1) + 0.1 * t
      if (name == "binary") b$observe(q$id, rbinom(2, 6, plogis(f)), size = 6)
      if (name == "ordinal") b$observe(q$id, 1 + (f > -0.5) + (f > 1))
      if (name == "ties") b$observe(q$id, prefer = if (t == 2) NA else q$id[which.max(f)])
      if (name == "rankings") b$rank(q$id[order(-f)])
    }
    q <- b$suggest()                                          # (with the refit before it)
    fit <- utils::tail(as.environment(b)$refits, 1)[[1]]
    expect_true(!identical(fitted_values(fit$kernel), fitted_values(latent_kernel)))
    if (name == "binary") expect_true(fit$mean != 0)
    if (name == "ordinal") expect_true(all(fit$rewards$cuts != b$config$rewards$cuts) && all(diff(fit$rewards$cuts) > 0))
    if (name == "ties") expect_true(fit$rewards$tau != 0.5)
    look <- function(b) list(b$posterior(x = x), b$posterior(x = x, scale = "latent"), b$history(), b$best())
    same <- list(b$copy(), from_json(as_json(b)), unserialize(serialize(b, NULL)), open_bandit(file)$copy())
    for (one in same) expect_identical(look(one), look(b), info = name)
    if (name == "ordinal") {                                  # the reward's scale depends on the refitted cuts
      latent <- b$posterior(x = 0.4, scale = "latent")
      expect_equal(b$posterior(x = 0.4)$lower, 1 + sum(plogis(latent$lower - fit$rewards$cuts)))
    }
  }
})

test_that("no other start and no neighbour is better than the result of a refit", {
  b <- gp_bandit(latent_x, latent_kernel, policy = policy_mean(), rewards = rewards_counts(), refit = refit_every(1, mean = "fit"))
  b$add(x = matrix(latent_x), reward = c(2, 3, 6, 19, 22, 9, 3, 2, 1))
  b$suggest()
  fit <- utils::tail(as.environment(b)$refits, 1)[[1]]
  found <- log(fitted_values(fit$kernel))
  at <- match("matern.variance", names(found))
  objective <- function(theta) {
    evidence_of(b, c(theta, 0), TRUE)$value - (theta[at] - log(1.5))^2 / 2 - (theta[3] / 5)^2 / 2
  }
  best <- objective(c(found, fit$mean))
  expect_gt(best, objective(c(log(fitted_values(latent_kernel)), 0)))
  for (k in 1:3) for (step in c(-0.05, 0.05)) expect_gt(best + 1e-4, objective(c(found, fit$mean) + replace(numeric(3), k, step)))
})

test_that("comparisons of a point with itself contain no information, and the parameters stay", {
  b <- gp_bandit(latent_x, latent_kernel, policy = policy_mean(), rewards = rewards_preferences("rankings"),
                 refit = refit_every(6, minimum = 2))
  b$add(arm = c(2, 2, 2, 5, 5, 5))
  b$rank(3:1)
  b$rank(4:6)
  prior <- b$posterior(scale = "latent")
  b$suggest()
  expect_equal(b$posterior(scale = "latent"), prior)
  fit <- utils::tail(as.environment(b)$refits, 1)[[1]]
  expect_identical(fitted_values(fit$kernel), fitted_values(latent_kernel))
})

test_that("refits that are impossible, or would change fixed parameters, are errors", {
  make <- function(rewards, ..., policy = policy_mean()) {
    gp_bandit(latent_x, latent_kernel, policy = policy, rewards = rewards, refit = refit_every(2, ...))
  }
  refused <- function(call) expect_identical(expect_error(call, class = "gpbandits_error")$argument, "refit")
  refused(gp_bandit(latent_x, latent_kernel, 0.1, policy_mean(), rewards = rewards_robust(), refit = refit_every(2)))
  refused(make(rewards_binary(), average = 3))
  refused(make(rewards_ordinal(3), mean = "fit"))
  refused(make(rewards_preferences(), mean = "fit"))
  refused(make(rewards_binary(), priors = list(cuts = c(0, 1))))
  b <- make(rewards_ordinal(3))
  b$add(arm = 1:6, reward = c(1, 2, 3, 3, 2, 1))
  b$suggest()
  text <- as_json(b)
  cuts <- regmatches(text, gregexpr('"ordinal"', text))[[1]]
  expect_gt(length(cuts), 1)
  forged <- sub('("refits".*)"ordinal"', '\\1"counts"', text)
  expect_false(identical(forged, text))
  expect_error(from_json(forged)$posterior(), class = "gpbandits_error")
})

test_that("of many points a fit uses 400, evenly spread", {
  skip_on_cran()
  set.seed(8)
  x <- runif(480)
  y <- rbinom(480, 1, plogis(3 * sin(6 * x)))
  fitted <- function(rows) {
    b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), policy = policy_mean(), rewards = rewards_binary(),
                   refit = refit_every(1, mean = "fit", starts = 1, iterations = 2))
    b$add(x[rows])
    b$observe(seq_along(rows), y[rows])
    b$suggest()
    coef(b)
  }
  expect_equal(fitted(1:480), fitted(floor(0:399 * 479 / 399) + 1))
  expect_gt(max(abs(fitted(1:400) / fitted(1:480) - 1)), 1e-3)
})

test_that("until a declared limit holds somewhere, suggestions spread over the space", {
  set.seed(1)
  b <- auto_bandit(list(x = c(0, 1), y = c(0, 1)), n_initial = 5,
                   outcomes = list(v = to_maximize(), ok = at_least(0.5, rewards = rewards_binary())))
  for (k in 1:14) {
    q <- b$suggest()
    b$observe(data.frame(id = q$id, v = q$x + q$y, ok = 0))
  }
  points <- b$history()[6:14, c("x", "y")]
  expect_gt(min(dist(points)), 0.2)
  # The corners are four of the nine points at most.
  expect_gte(sum(points$x %% 1 != 0 | points$y %% 1 != 0), 3)
})
