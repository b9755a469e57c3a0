# Sites beyond Laplace's on dense engines: other packages, low rank, variational ones, the estimate within a ball.

sites_x <- c(0, 0.5, 1)
sites_kernel <- kernel_se(0.5, 2)
ucb_by_two <- policy_ucb(width_constant(2))
sites_of <- function(b) testing_entry("cpp_bandit_sites")(as.environment(b)$handle)
latent_at <- function(b, x) b$posterior(x = x, scale = "latent")

# (Points given with rewards each have their prediction before the reward in the history: a fit each.)
reported_at_once <- function(b, X, reward, size = NULL) {
  b$add(x = X)
  b$observe(nrow(b$history()) - nrow(X) + seq_len(nrow(X)), reward, size = size)
}

# ---- another package ------------------------------------------------------------------

# By gplite 0.13.0 of CRAN, R 4.2.2: gp_init(cf_sexp(lscale = 0.4, magn = 1.3), lik,
# approx = approx_laplace(200, 1e-13)), gp_fit(), gp_pred(var = TRUE) with jitter = 0, and minus
# gp_energy(include_prior = FALSE).
gplite_reported <- list(
  logit = list(rewards = rewards_binary(), reward = c(1, 4, 0, 3, 2, 2, 1, 4, 0, 5, 1, 2),
               mean = c(1.064901479, 0.296708775, 0.460590921, -0.018818652),
               var = c(0.783718914, 0.350780378, 0.522228717, 1.689741647), log_evidence = -14.801440163),
  probit = list(rewards = rewards_binary("probit"), reward = c(1, 4, 0, 3, 2, 2, 1, 4, 0, 5, 1, 2),
                mean = c(0.756449161, 0.127092800, 0.377162138, -0.016321787),
                var = c(0.626299953, 0.202152952, 0.313691663, 1.689633406), log_evidence = -14.934117866),
  counts = list(rewards = rewards_counts(), reward = c(3, 11, 0, 7, 2, 6, 1, 12, 5, 8, 3, 4),
                mean = c(0.168064982, 0.625023376, 0.445189316, 0.004243421),
                var = c(0.507555980, 0.117204457, 0.164384455, 1.689508893), log_evidence = -30.022388362)
)

test_that("Laplace's posterior has the numbers that gplite printed", {
  i <- 1:12
  x <- cbind((0.618 * i) %% 1, (0.755 * i) %% 1)
  at <- cbind(c(0.1, 0.5, 0.9, 1.5), c(0.2, 0.6, 0.3, 1.5))
  size <- rep(c(2, 5, 1, 4), 3)
  for (name in names(gplite_reported)) {
    one <- gplite_reported[[name]]
    # (Constants that do not depend on f.)
    constant <- if (name == "counts") 0 else sum(lchoose(size, one$reward))
    for (engine in c("dense", "lowrank")) {
      b <- gp_bandit(box_domain(c(0, 0), c(2, 2)), kernel_se(0.4, 1.69), policy = ucb_by_two, rewards = one$rewards,
                     engine = engine, accuracy = 1e-7)
      reported_at_once(b, x, one$reward, size)
      expect_lt(max(abs(latent_at(b, at)$mean - one$mean)), 1e-6)
      expect_lt(max(abs(latent_at(b, at)$sd^2 - one$var)), 1e-6)
      # (Relative: gplite's value for counts is 1.3e-6 from -30.022387024 of plain R's chol() and dpois().)
      expect_equal(sites_of(b)$log_evidence + constant, one$log_evidence, tolerance = 1e-6)
    }
  }
})

test_that("Laplace's posterior equals gplite's to 1e-6: logit, probit, counts with exposure", {
  skip_if_not_installed("gplite")
  gplite <- function(name, ...) getExportedValue("gplite", name)(...)
  set.seed(5)
  X <- matrix(runif(24), 12)
  at <- matrix(runif(20), 10)
  size <- sample(1:6, 12, TRUE)
  cases <- list(
    list(rewards_binary(), gplite("lik_binomial", "logit"), rbinom(12, size, 0.6), list(trials = size)),
    list(rewards_binary("probit"), gplite("lik_binomial", "probit"), rbinom(12, size, 0.6), list(trials = size)),
    list(rewards_counts(), gplite("lik_poisson"), rpois(12, 2 * size), list(offset = log(size)))
  )
  for (one in cases) {
    gp <- gplite("gp_init", gplite("cf_sexp", lscale = 0.4, magn = 1.3), one[[2]],
                 approx = gplite("approx_laplace", 200, 1e-13))
    gp <- do.call(gplite, c(list("gp_fit", gp, X, one[[3]], jitter = 0), one[[4]]))
    theirs <- gplite("gp_pred", gp, at, var = TRUE, jitter = 0)
    for (engine in c("dense", "lowrank")) {
      b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.4, 1.69), policy = ucb_by_two,
                     rewards = one[[1]], engine = engine, accuracy = 1e-6)
      b$add(x = X, reward = one[[3]], size = size)
      core <- latent_at(b, at)
      expect_lt(max(abs(core$mean - theirs$mean)), 1e-6)
      expect_lt(max(abs(core$sd^2 - theirs$var)), 1e-6)
    }
    # (Constants that do not depend on f.)
    constant <- if (one[[1]]$kind == "binary") sum(lchoose(size, one[[3]])) else 0
    expect_equal(sites_of(b)$log_evidence + constant, -gplite("gp_energy", gp, include_prior = FALSE), tolerance = 1e-6)
  }
})

# ---- variational ----------------------------------------------------------------------

test_that("the variational posterior equals the worked example, on every engine", {
  rewards <- rewards_binary(approximation = "variational")
  for (b in list(gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = rewards, engine = "weights"),
                 gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = rewards, engine = "played"),
                 gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = rewards, engine = "dense"),
                 gp_bandit(box_domain(0, 1), sites_kernel, policy = ucb_by_two, rewards = rewards))) {
    b$add(x = matrix(sites_x), reward = c(1, 8, 1), size = c(4, 10, 2))
    expect_equal(latent_at(b, sites_x)$mean, c(-.29044, .89205, .58348), tolerance = 2e-5)
    expect_equal(b$posterior(x = sites_x)$mean, c(.43659, .69551, .62051), tolerance = 2e-5)
    expect_equal(sites_of(b)$log_evidence, -11.1713, tolerance = 1e-5)
  }
})

# The bound of the evidence by N(m, V), V = (K^-1 + diag(W))^-1, expectations by integrate().
ref_bound <- function(K, mean, W, log_l) {
  V <- solve(solve(K) + diag(W))
  expected <- vapply(seq_along(mean), function(i) {
    integrate(function(z) dnorm(z) * log_l(mean[i] + sqrt(V[i, i]) * z, i), -9, 9, rel.tol = 1e-10)$value
  }, 0)
  sum(expected) - (sum(diag(solve(K, V))) + sum(mean * solve(K, mean)) - nrow(K) - log(det(V)) + log(det(K))) / 2
}

test_that("the variational posterior maximises the bound of the evidence, for every response type", {
  K <- kernel_gram(sites_kernel, sites_x)
  n <- c(4, 10, 2)
  cuts <- c(-1, 0.5)
  cases <- list(
    list(rewards_binary("probit", approximation = "variational"), c(1, 8, 1),
         function(f, i) c(1, 8, 1)[i] * pnorm(f, log.p = TRUE) + (n - c(1, 8, 1))[i] * pnorm(-f, log.p = TRUE)),
    list(rewards_counts(approximation = "variational"), c(2, 31, 1),
         function(f, i) dpois(c(2, 31, 1)[i], n[i] * exp(f), log = TRUE)),
    list(rewards_ordinal(3, cuts, approximation = "variational"), c(1, 3, 2),
         function(f, i) log(plogis(c(cuts, Inf)[c(1, 3, 2)[i]] - f) - plogis(c(-Inf, cuts)[c(1, 3, 2)[i]] - f)))
  )
  for (one in cases) {
    b <- gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = one[[1]])
    b$add(arm = 1:3, reward = one[[2]], size = if (one[[1]]$kind != "ordinal") n)
    laplace <- one[[1]]
    laplace$approximation <- "laplace"
    a <- gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = laplace)
    a$add(arm = 1:3, reward = one[[2]], size = if (one[[1]]$kind != "ordinal") n)
    found <- sites_of(b)
    value <- ref_bound(K, found$f, found$weight, one[[3]])
    expect_equal(found$log_evidence, value, tolerance = 1e-7)
    expect_gt(value, ref_bound(K, sites_of(a)$f, sites_of(a)$weight, one[[3]]) + 1e-5)
    # Nothing near it is larger, to second order.
    for (k in 1:6) {
      step <- replace(numeric(6), k, 1e-3)
      for (sign in c(-1, 1)) {
        weight <- found$weight * exp(sign * step[4:6])
        expect_lt(ref_bound(K, found$f + sign * step[1:3], weight, one[[3]]), value + 1e-9)
      }
    }
    # Whenever results were read, in whatever order: the same bits.
    other <- gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = one[[1]])
    for (i in 3:1) {
      other$add(arm = i, reward = one[[2]][i], size = if (one[[1]]$kind != "ordinal") n[i])
      other$posterior()
    }
    expect_identical(other$posterior(), b$posterior())
    expect_identical(from_json(as_json(b))$posterior(), b$posterior())
  }
  # Comparisons, whose bound is one of differences.
  d <- gp_bandit(sites_x, sites_kernel, policy = policy_duel(2), rewards = rewards_preferences(approximation = "variational"))
  d$add(arm = c(1, 2, 3))
  d$observe(1:2, prefer = 2)
  d$observe(2:3, prefer = 2)
  H <- rbind(c(1, -1, 0), c(0, 1, -1))
  found <- sites_of(d)
  won <- c(-1, 1)
  log_l <- function(f, i) plogis(won[i] * f, log.p = TRUE)
  expect_equal(found$log_evidence, ref_bound(H %*% K %*% t(H), found$f, found$weight, log_l), tolerance = 1e-7)
  expect_s3_class(d$suggest(2), "data.frame")
})

test_that("bandits saved before approximations existed use Laplace's", {
  old <- rewards_binary()
  old$approximation <- NULL
  b <- gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = old)
  b$add(arm = 1:3, reward = c(1, 8, 1), size = c(4, 10, 2))
  new <- gp_bandit(sites_x, sites_kernel, policy = ucb_by_two, rewards = rewards_binary())
  new$add(arm = 1:3, reward = c(1, 8, 1), size = c(4, 10, 2))
  expect_identical(b$posterior(), new$posterior())
})

# ---- low rank -------------------------------------------------------------------------

square <- box_domain(c(0, 0), c(1, 1))
wave <- function(x) 2 * sin(4 * x[, 1]) + cos(5 * x[, 2])

sites_bandit <- function(rewards, engine, kernel = kernel_se(0.4, 2), policy = ucb_by_two, ..., domain = square) {
  gp_bandit(domain, kernel, policy = policy, rewards = rewards, engine = engine, ...)
}

# Rewards of a type at the rows of X; comparisons are of one half with the other.
record_kind <- function(b, kind, X, seed = 1) {
  set.seed(seed)
  f <- wave(X)
  n <- nrow(X)
  size <- sample(1:4, n, TRUE)
  if (kind %in% c("logit", "probit", "counts", "ordinal")) {
    reward <- switch(kind, logit = rbinom(n, size, plogis(f)), probit = rbinom(n, size, pnorm(f)),
                     counts = rpois(n, size * exp(f / 2)), ordinal = findInterval(f + rlogis(n), c(-1, 1)) + 1)
    return(reported_at_once(b, X, reward, if (kind != "ordinal") size))
  }
  b$add(x = X)
  half <- n / 2
  for (i in seq_len(half)) {
    ids <- c(i, half + i)
    if (kind == "rankings") b$rank(ids[order(-f[ids] + rlogis(2))])
    else if (kind == "ties" && i %% 5 == 0) b$observe(ids, reward = 0.5)
    else b$observe(ids, reward = as.double(runif(1) < plogis(f[ids[1]] - f[ids[2]])))
  }
}

kinds <- list(logit = rewards_binary(), probit = rewards_binary("probit"), counts = rewards_counts(),
              ordinal = rewards_ordinal(3, c(-1, 1)), duels = rewards_preferences(), ties = rewards_preferences(ties = TRUE),
              rankings = rewards_preferences("rankings"))

test_that("sites of low rank equal the dense ones within the certified error, for every response type", {
  set.seed(4)
  X <- matrix(runif(120), 60)
  at <- matrix(runif(60), 30)
  for (kind in names(kinds)) for (accuracy in c(1e-3, 0.3)) {
    dense <- sites_bandit(kinds[[kind]], "dense", mean = 0.3)
    low <- sites_bandit(kinds[[kind]], "lowrank", mean = 0.3, accuracy = accuracy)
    record_kind(dense, kind, X)
    record_kind(low, kind, X)
    reported <- summary(low)
    expect_identical(reported$engine, "lowrank", info = kind)
    expect_lte(reported$error_bound, accuracy)
    exact <- latent_at(dense, at)
    near <- latent_at(low, at)
    expect_lte(max(abs(near$mean - exact$mean) / exact$sd), reported$error_bound + 1e-8)
    expect_lte(max(abs(log(near$sd / exact$sd))), log1p(reported$error_bound) + 1e-8)
    if (accuracy < 0.1) next
    expect_lt(reported$rank, if (kind %in% c("duels", "ties", "rankings")) 30 else 60)
    expect_gt(max(abs(near$mean - exact$mean)), 1e-12)  # it is an approximation
    expect_false(anyNA(low$suggest()$x1))
  }
})

test_that("with a full basis low rank is exact", {
  set.seed(6)
  X <- matrix(runif(24), 12)
  for (kind in names(kinds)) {
    both <- lapply(c("dense", "lowrank"), function(engine) {
      b <- sites_bandit(kinds[[kind]], engine, kernel_matern(0.5, 0.2, 2))
      record_kind(b, kind, X)
      b
    })
    expect_equal(latent_at(both[[2]], X), latent_at(both[[1]], X), tolerance = 1e-8, info = kind)
  }
})

test_that("from 256 points on \"auto\" uses the low rank if it is small; the bits depend on the data alone", {
  set.seed(7)
  X <- matrix(runif(520), 260)
  reward <- rbinom(260, 1, plogis(wave(X)))
  b <- sites_bandit(rewards_binary(), "auto")
  reported_at_once(b, X[1:255, ], reward[1:255])
  b$posterior(x = X[1:2, ])
  expect_identical(summary(b)$engine, "dense")
  b$add(x = X[256:260, ], reward = reward[256:260])
  expect_identical(summary(b)$engine, "lowrank")
  expect_lte(summary(b)$error_bound, 1e-3)
  at <- matrix(runif(40), 20)
  same <- latent_at(b, at)
  once <- sites_bandit(rewards_binary(), "auto")
  reported_at_once(once, X, reward)
  expect_identical(latent_at(once, at), same)
  twice <- sites_bandit(rewards_binary(), "auto")
  twice$add(x = X)
  twice$observe(260:131, reward[260:131])
  twice$posterior(x = at)
  twice$observe(1:130, 1 - reward[1:130])
  twice$amend(1:130, reward[1:130])
  expect_identical(latent_at(twice, at), same)
  expect_identical(latent_at(twice$copy(), at), same)
  expect_identical(latent_at(from_json(as_json(twice)), at), same)
  dense <- sites_bandit(rewards_binary(), "dense")
  reported_at_once(dense, X, reward)
  expect_lte(max(abs(same$mean - latent_at(dense, at)$mean) / same$sd), 1.1e-3)
  # A rough kernel's basis would be as large as the data.
  rough <- sites_bandit(rewards_binary(), "auto", kernel_matern(0.5, 0.2))
  reported_at_once(rough, X, reward)
  rough$posterior(x = at)
  expect_identical(summary(rough)$engine, "dense")
})

test_that("low rank works over arms, in open contexts and with pending queries, and other settings are errors", {
  set.seed(8)
  arms <- matrix(runif(400), 200)
  pair <- lapply(c("dense", "lowrank"), function(engine) {
    b <- sites_bandit(rewards_counts(), engine, domain = arms, pending = pending_hallucinate())
    b$add(arm = 1:60, reward = rep(0:4, 12))
    b$suggest(4)
    b
  })
  expect_identical(pair[[1]]$history()$arm, pair[[2]]$history()$arm)
  expect_equal(pair[[1]]$posterior(), pair[[2]]$posterior(), tolerance = 1e-3)
  expect_equal(pair[[1]]$history()$sd, pair[[2]]$history()$sd, tolerance = 1e-3)
  context <- lapply(c("dense", "lowrank"), function(engine) {
    b <- sites_bandit(rewards_binary(), engine, kernel_se(0.5, 2), domain = c(0, 0.5, 1), contexts = 1)
    for (i in 1:12) b$observe(b$suggest(context = i / 12)$id, i %% 2)
    b
  })
  expect_equal(context[[1]]$history(), context[[2]]$history(), tolerance = 1e-3)
  # What no low rank is certified for is dense where "auto" would have one.
  many <- gp_bandit(box_domain(0, 1), kernel_se(0.2), 0.1, policy_mean(), rewards = rewards_robust())
  reported_at_once(many, matrix(seq(0, 1, length.out = 260)), rep(c(0, 1), 130))
  expect_true(is.finite(many$posterior(x = 0.3)$mean))
  expect_identical(summary(many)$engine, "dense")
})

# ---- the estimate within the norm's ball ----------------------------------------------------

test_that("width_glm()'s estimate minimises J within norm B, and its weights are at least 1 / kappa", {
  x <- c(0, 0.25, 0.5, 0.75, 1)
  k <- c(0, 9, 10, 3, 0)
  n <- c(10, 10, 10, 10, 1)
  K <- kernel_gram(kernel_se(0.3), x)
  shrunk <- function(log_s) ref_laplace(K / exp(log_s), diag(5), ref_likelihoods$logit(k, n))
  norm <- function(fit) sqrt(sum(fit$f * solve(K, fit$f)))
  free <- norm(shrunk(0))
  for (B in c(free * 1.01, 0.6 * free, 0.1 * free)) for (engine in c("weights", "played", "dense", "lowrank")) {
    b <- gp_bandit(x, kernel_se(0.3), policy = policy_ucb(width_glm(B)), rewards = rewards_binary(), engine = engine)
    b$add(arm = 1:5, reward = k, size = n)
    log_s <- if (B > free) 0 else uniroot(function(s) norm(shrunk(s)) - B, c(0, 20), tol = 1e-13)$root
    f <- shrunk(log_s)$f
    expect_equal(b$posterior(scale = "latent")$mean, f, tolerance = 1e-6)
    expect_lte(norm(list(f = sites_of(b)$f)), B * (1 + 1e-7))
    expect_equal(sites_of(b)$f, f, tolerance = 1e-6)
    # sd_c is at most that of measurements whose noise is kappa over the number of trials.
    kappa <- 1 / dlogis(B)
    expect_true(all(testing_entry("cpp_bandit_curved")(as.environment(b)$handle)$sd <=
                      sqrt(diag(solve(solve(K) + diag(n / kappa)))) + 1e-9))
    # ELBO and J are this estimate's.
    q <- shrunk(log_s)
    log_l <- function(f, i) k[i] * plogis(f, log.p = TRUE) + (n[i] - k[i]) * plogis(-f, log.p = TRUE)
    elbo <- ref_bound(K, q$f, q$W, log_l)
    J <- -sum(ref_likelihoods$logit(k, n)(f)$l) + sum(f * solve(K, f)) / 2
    width <- gpbandits:::cpp_bandit_width(as.environment(b)$handle)
    expect_equal(width, sqrt(B^2 + 2 * log(10) - 2 * (elbo + J)), tolerance = 1e-5)
  }
  zero <- gp_bandit(x, kernel_se(0.3), policy = policy_ucb(width_glm(0)), rewards = rewards_binary())
  zero$add(arm = 1:5, reward = k, size = n)
  expect_lt(max(abs(zero$posterior(scale = "latent")$mean)), 1e-8)
})

test_that("width_glm() of low rank is wider by the error of its basis, and never narrower", {
  set.seed(9)
  X <- matrix(runif(120), 60)
  at <- matrix(runif(60), 30)
  bounds <- lapply(list(list("dense", 1e-3), list("lowrank", 1e-3), list("lowrank", 0.2)), function(one) {
    b <- sites_bandit(rewards_binary(), one[[1]], policy = policy_ucb(width_glm(2.5)), accuracy = one[[2]],
                      domain = rbind(at, X))
    record_kind(b, "logit", X)
    curved <- testing_entry("cpp_bandit_curved")(as.environment(b)$handle)
    list(mean = curved$mean[1:30], wide = (gpbandits:::cpp_bandit_width(as.environment(b)$handle) * curved$sd)[1:30])
  })
  # All f that may be within the exact band in the worst case are within the others.
  expect_true(all(bounds[[2]]$wide >= bounds[[1]]$wide * (1 - 1e-9)))
  expect_equal(bounds[[2]]$wide, bounds[[1]]$wide, tolerance = 0.01)
  expect_true(all(bounds[[3]]$wide >= bounds[[1]]$wide * (1 - 1e-9)))
  expect_lt(max(bounds[[3]]$wide / bounds[[1]]$wide), 1.5)
})

# ---- many rewards: sites that are added between two fits ------------------------------------------------------------

# Laplace's posterior of weights with a standard normal prior, by Newton's method: the reference in plain R.
laplace_of_weights <- function(X, y, steps = 100) {
  w <- numeric(ncol(X))
  for (k in seq_len(steps)) {
    p <- stats::plogis(drop(X %*% w))
    precision <- crossprod(X * sqrt(p * (1 - p))) + diag(ncol(X))
    by <- solve(precision, drop(crossprod(X, y - p)) - w)
    w <- w + by
    if (max(abs(by)) < 1e-12) return(list(w = w, covariance = solve(precision)))
  }
  stop("no convergence in ", steps, " steps")
}

# Yes/no rewards in 603 contexts of dimension 3 and 3 arms with one feature: a linear kernel of rank 4.
decisions_made <- function(count = 603, policy = policy_ts(width_constant(1)), make = gp_bandit, ...) {
  arms <- matrix(c(-1, 0, 1))
  bandit <- make(arms, kernel_linear(variance = 1), policy = policy, contexts = 3, rewards = rewards_binary(), ...)
  set.seed(5)
  contexts <- matrix(rnorm(3 * count), count)
  for (t in seq_len(count)) {
    q <- bandit$suggest(context = contexts[t, ])
    bandit$observe(q$id, as.double(sin(7 * t) < 2 * plogis(sum(c(q$x1, contexts[t, ]) * c(1, -1, 0.5, 0))) - 1))
  }
  bandit
}

test_that("sites between two fits: means and sds are those of Laplace's posterior within the reported error", {
  bandit <- decisions_made()
  history <- bandit$history()
  columns <- c("x1", bandit$config$context_names)
  exact <- laplace_of_weights(as.matrix(history[columns]), history$reward)
  at <- unname(as.matrix(expand.grid(c(-1, 0, 1), c(-1, 2), c(0, 1), c(-0.5, 0.5))))
  core <- do.call(rbind, lapply(seq_len(nrow(at)), function(k) {
    bandit$posterior(arm = 2 + at[k, 1], context = at[k, -1], scale = "latent")
  }))
  mean <- drop(at %*% exact$w)
  sd <- sqrt(rowSums((at %*% exact$covariance) * at))
  expect_lte(max(abs(core$mean - mean) / sd), 0.005)
  expect_lte(max(abs(core$sd / sd - 1)), 0.005)
  # The reported error is the largest difference at the latest 128 points.
  here <- bandit$posterior(utils::tail(history, 128), scale = "latent")
  at <- utils::tail(as.matrix(history[columns]), 128)
  mean <- drop(at %*% exact$w)
  sd <- sqrt(rowSums((at %*% exact$covariance) * at))
  error <- max(abs(here$mean - mean) / sd, abs(here$sd / sd - 1))
  expect_gt(error, 1e-4)
  expect_equal(summary(bandit)$error_bound, error, tolerance = 0.02)
  # After an amendment all sites are fitted.
  bandit$amend(603, 1 - history$reward[603])
  bandit$amend(603, history$reward[603])
  expect_lte(summary(bandit)$error_bound, 1e-3)
  fitted <- bandit$posterior(arm = 1, context = c(1, 1, 1), scale = "latent")
  expect_equal(fitted$mean, sum(c(-1, 1, 1, 1) * exact$w), tolerance = 1e-6)
  expect_equal(fitted$sd, sqrt(sum(c(-1, 1, 1, 1) * drop(exact$covariance %*% c(-1, 1, 1, 1)))), tolerance = 1e-6)
})

test_that("sites between two fits depend on the events alone: not on reads, copies or ways", {
  count <- by_level(533, 533, quick = 277)
  bandit <- decisions_made(count)
  read <- decisions_made(count, make = function(...) {
    inner <- gp_bandit(...)
    list(suggest = function(...) {
      if (nrow(inner$history()) %% 37 == 0 || nrow(inner$history()) > count - 8) {
        inner$posterior(arm = 1, context = c(0, 0, 1))
        summary(inner)
      }
      inner$suggest(...)
    }, observe = inner$observe, inner = inner)
  })$inner
  look <- function(x) x$posterior(context = c(0.3, -1, 2), scale = "latent")
  expect_identical(read$history(), bandit$history())
  expect_identical(look(read), look(bandit))
  expect_identical(look(bandit$copy()), look(bandit))
  expect_identical(look(from_json(as_json(bandit))), look(bandit))
  expect_identical(look(unserialize(serialize(bandit, NULL))), look(bandit))
  # Each reward is used, also those after the last fit.
  before <- look(bandit)
  q <- bandit$suggest(context = c(0.3, -1, 2))
  bandit$observe(q$id, 1)
  after <- look(bandit)
  expect_gt(after$mean[q$arm], before$mean[q$arm])
  expect_lt(after$sd[q$arm], before$sd[q$arm])
  # The data of refits and checks have all of them.
  expect_identical(sum(as.data.frame(bandit)$status == "observed"), as.integer(count + 1))
})

test_that("counts and levels, arms and open contexts, are followed within 2% of an sd; engine \"dense\" is exact", {
  set.seed(9)
  arms <- matrix(rnorm(1406), 703)
  kinds <- list(rewards_binary("probit"), rewards_counts(), rewards_ordinal(3))
  for (rewards in kinds) {
    level <- if (identical(rewards, rewards_ordinal(3))) 1 else 0
    value <- function(n) level + rbinom(n, 1, 0.4)
    bandit <- gp_bandit(arms, kernel_linear(variance = 0.5), policy = ucb_by_two, rewards = rewards)
    bandit$add(arm = 1:703)
    bandit$observe(1:703, value(703))
    error <- summary(bandit)$error_bound
    expect_gt(error, 0)
    expect_lt(error, 0.02)
  }
  exact <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_linear(), policy = ucb_by_two, rewards = rewards_binary(),
                     engine = "dense")
  reported_at_once(exact, matrix(runif(1200), 600), rbinom(600, 1, 0.5))
  expect_identical(summary(exact)$error_bound, 0)
})

# ---- time -----------------------------------------------------------------------------------

test_that("a round on 5,307 arms, rank 60, takes less than 20 ms of the processor (level 2)", {
  skip_if_not(identical(Sys.getenv("GPBANDITS_TEST_LEVEL"), "2"))
  set.seed(1)
  arms <- matrix(rnorm(5307 * 60) / sqrt(60), 5307)
  b <- gp_bandit(arms, kernel_linear(), policy = ucb_by_two, rewards = rewards_binary())
  b$add(arm = sample(5307, 100), reward = rep(0:1, 50))
  expect_identical(summary(b)$rank, 60L)
  time <- system.time(for (i in 1:30) {
    q <- b$suggest()
    b$observe(q$id, i %% 2)
  })
  expect_lt(sum(time[1:2]) / 30, 0.02)
})
