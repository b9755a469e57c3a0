# Comparisons, and the width for rewards with a likelihood.

duel_x <- c(0, 0.5, 1)
duel_kernel <- kernel_se(0.5, 2)

compare <- function(bandit, pairs, arm = NULL) {
  for (i in seq_len(nrow(pairs))) {
    first <- nrow(bandit$history()) + 1
    bandit$add(x = matrix(duel_x[pairs[i, ]]))
    bandit$observe(first + 0:1, prefer = first)
  }
  bandit
}

five <- rbind(c(1, 2), c(1, 2), c(2, 3), c(3, 2), c(1, 3))     # the first wins

test_that("comparisons equal those of the worked example, over arms and on a box", {
  for (domain in list(duel_x, box_domain(0, 1))) {
    b <- compare(gp_bandit(domain, duel_kernel, policy = policy_duel(2), rewards = rewards_preferences()), five)
    latent <- b$posterior(x = duel_x, scale = "latent")
    expect_equal(latent$mean, c(.63003, -.48372, -.72559), tolerance = 1e-5)
    H <- rbind(c(1, -1, 0), c(1, -1, 0), c(0, 1, -1), c(0, -1, 1), c(1, 0, -1))
    reference <- ref_laplace(kernel_gram(duel_kernel, duel_x), H, ref_likelihoods$logit(rep(1, 5), rep(1, 5)))
    expect_equal(latent$sd, sqrt(diag(reference$cov)), tolerance = 1e-8)
    if (inherits(gpbandits:::as_domain(domain), "finite_domain")) {
      expect_equal(1 - b$posterior()$mean[2], .72083, tolerance = 1e-5)
      expect_equal(b$posterior()$mean[1], 0.5)
      expect_identical(b$best()$arm, 1L)
    }
    expect_identical(b$history()$reward, rep(c(1, 0), 5))
    expect_identical(from_json(as_json(b))$posterior(x = duel_x), b$posterior(x = duel_x))
  }
})

test_that("ties are levels of a difference", {
  b <- gp_bandit(duel_x, duel_kernel, policy = policy_duel(2), rewards = rewards_preferences(ties = TRUE, tau = 0.4))
  b$add(arm = c(1, 2))
  b$observe(1:2, prefer = NA)
  b$add(arm = c(3, 2))
  b$observe(3:4, reward = 1)
  expect_identical(b$history()$reward, c(0.5, 0.5, 1, 0))
  expect_identical(b$history()$arm.2, c(2L, 1L, 2L, 3L))
  log_p <- function(f) log(stats::plogis(0.4 - (f[1] - f[2])) - stats::plogis(-0.4 - (f[1] - f[2]))) +
    stats::plogis(f[3] - f[2] - 0.4, log.p = TRUE)
  K <- kernel_gram(duel_kernel, duel_x)
  mode <- stats::optim(c(0, 0, 0), function(f) -log_p(f) + sum(f * solve(K, f)) / 2, method = "BFGS", control = list(reltol = 1e-14))$par
  expect_equal(b$posterior(scale = "latent")$mean, mode, tolerance = 1e-4)
  expect_equal(stats::plogis(.5 - .4), .52498, tolerance = 1e-5)
})

test_that("each pair counts once, in either order, and can be corrected", {
  make <- function() gp_bandit(duel_x, duel_kernel, policy = policy_duel(2), rewards = rewards_preferences())
  b <- make()
  b$add(arm = c(1, 3))
  b$observe(1:2, prefer = 2)
  b$observe(2:1, prefer = 2)                                # again: nothing
  expect_error(b$observe(1:2, prefer = 1), "amend", class = "gpbandits_error")
  other <- make()
  other$add(arm = c(3, 1))
  other$observe(1:2, prefer = 1)
  expect_identical(b$posterior(scale = "latent"), other$posterior(scale = "latent"))
  b$amend(1:2, prefer = 1)
  other$amend(2:1, prefer = 2)
  expect_identical(b$posterior(scale = "latent"), other$posterior(scale = "latent"))
  expect_gt(diff(b$posterior(scale = "latent")$mean[c(3, 1)]), 0)
  # One that is known meets a third.
  b$add(arm = 2)
  b$observe(c(1, 3), prefer = 3)
  expect_identical(b$history()$status, rep("observed", 3))
  reference <- ref_laplace(kernel_gram(duel_kernel, duel_x), rbind(c(1, 0, -1), c(-1, 1, 0)),
                           ref_likelihoods$logit(c(1, 1), c(1, 1)))
  expect_equal(b$posterior(scale = "latent")$mean, reference$mean, tolerance = 1e-8)
  b$add(arm = c(2, 2))                                      # against itself: nothing is learnt
  before <- b$posterior(scale = "latent")
  b$observe(4:5, prefer = 4)
  expect_identical(b$posterior(scale = "latent"), before)
})

test_that("policy_duel() selects the pairs of its rules, also in copies, journals and stores", {
  x <- seq(0, 1, length.out = 12)
  kernel <- kernel_se(0.25)
  K <- kernel_gram(kernel, x)
  file <- tempfile()
  for (rule in c("last", "game")) {
    set.seed(5)
    f <- 2 * drop(t(chol(K + diag(1e-8, 12))) %*% rnorm(12))
    unlink(file)
    b <- gp_bandit(x, kernel, policy = policy_duel(2, rule), rewards = rewards_preferences(), journal = file)
    H <- matrix(0, 0, 12)
    won <- NULL
    last <- 1L
    for (t in 1:15) {
      q <- b$suggest(2)
      mean <- rep(0, 12)
      cov <- K
      rows <- rowSums(abs(H)) > 0
      if (any(rows)) {
        fit <- ref_laplace(K, H[rows, , drop = FALSE], ref_likelihoods$logit(won[rows], rep(1, sum(rows))))
        mean <- fit$mean
        cov <- fit$cov
      }
      D <- sqrt(pmax(outer(diag(cov), diag(cov), "+") - 2 * cov, 0))
      M <- outer(mean, mean, "-")
      if (rule == "last") {
        score <- M[, last] + 2 * D[, last]
        score[last] <- 0
        expect_identical(q$arm[1], last)
        expect_equal(score[q$arm[2]], max(score), tolerance = 1e-6)
        last <- q$arm[2]
      } else {
        L <- M - 2 * D
        U <- M + 2 * D
        diag(U) <- Inf
        plausible <- apply(U, 1, min) >= 0
        diag(L) <- Inf
        L[!plausible, ] <- -Inf
        L[, !plausible] <- Inf
        least <- ifelse(plausible, apply(L, 1, min), -Inf)
        if (sum(plausible) > 1) {
          expect_equal(least[q$arm[1]], max(least), tolerance = 1e-6)
          expect_equal(L[q$arm[1], q$arm[2]], least[q$arm[1]], tolerance = 1e-6)
        }
      }
      expect_identical(is.na(utils::tail(b$history()$width, 2)), c(TRUE, FALSE))
      first <- stats::rbinom(1, 1, stats::plogis(f[q$arm[1]] - f[q$arm[2]]))
      b$observe(q$id, prefer = q$id[2 - first])
      H <- rbind(H, replace(replace(rep(0, 12), q$arm[1], 1), q$arm[2], if (q$arm[1] == q$arm[2]) 0 else -1))
      won <- c(won, first)
    }
    copies <- list(b$copy(), from_json(as_json(b)), open_bandit(file)$copy())
    half <- b$copy()
    half$suggest()
    half <- from_json(as_json(half))
    mine <- b$suggest(2)
    for (one in copies) {
      expect_identical(one$posterior(), b$posterior())
      expect_identical(one$suggest(2), mine)
    }
    expect_identical(half$suggest()$arm, mine$arm[2])
    expect_lt(b$certificate()$gap, 12)
    expect_identical(b$certificate()$probability, NA_real_)
  }
})

test_that("a duel on a box is between different points, at the largest upper bound", {
  b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), policy = policy_duel(2), rewards = rewards_preferences())
  taste <- function(q) -8 * ((q$x1 - 0.3)^2 + (q$x2 - 0.6)^2)
  set.seed(2)
  for (t in 1:12) {
    q <- b$suggest(2)
    first <- taste(q)[1] > taste(q)[2]
    if (t > 1) expect_identical(unlist(q[1, 2:3]), unlist(last))
    last <- q[2, 2:3]
    b$observe(q$id, prefer = q$id[if (first) 1 else 2])
  }
  expect_gt(taste(b$best()), -1.5)
  grid <- as.matrix(expand.grid(x1 = seq(0, 1, 0.1), x2 = seq(0, 1, 0.1)))
  expect_true(all(b$posterior(x = grid)$mean < 0.5 + 1e-6))
  expect_gt(b$certificate()$gap, 0)
})

test_that("invalid comparisons are errors", {
  make <- function(policy = policy_duel(2), ..., rewards = rewards_preferences()) {
    gp_bandit(duel_x, duel_kernel, policy = policy, rewards = rewards, ...)
  }
  b <- make()
  q <- b$suggest(2)
  before <- b$history()
  for (call in list(quote(b$observe(1, prefer = 1)), quote(b$observe(1:2)), quote(b$observe(1:2, prefer = 3)), quote(b$observe(1:2, prefer = NA)),
                    quote(b$observe(1:2, prefer = "a")), quote(b$observe(1:2, reward = 0.5)), quote(b$observe(1:2, reward = 2)),
                    quote(b$observe(1:2, reward = c(1, 1))), quote(b$observe(c(1, 9), prefer = 1)), quote(b$observe(c(1, 1), prefer = 1)),
                    quote(b$observe(1:2, prefer = 1, size = 2)), quote(b$observe(1:2, 1, prefer = 1)), quote(b$observe(1:2, prefer = 1, noise_var = 1)),
                    quote(b$add(arm = 1, reward = 1)), quote(b$amend(1:2, prefer = 1)))) {
    expect_error(eval(call), class = "gpbandits_error", info = deparse(call))
  }
  expect_identical(b$history(), before)
  expect_error(gp_ucb(1:3, kernel_se(1), 1)$observe(1:2, prefer = 1), class = "gpbandits_error")
  refused <- function(arg, ...) expect_identical(expect_error(make(...), class = "gpbandits_error")$argument, arg)
  refused("pending", pending = pending_hallucinate())
  refused("engine", engine = "played")
  refused("policy", rewards = rewards_binary())
  expect_error(gp_bandit(duel_x, duel_kernel, 1, policy_duel(2)), "policy_duel", class = "gpbandits_error")
  expect_error(gp_bandit(box_domain(0, 1), duel_kernel, policy = policy_duel(2, "game"), rewards = rewards_preferences()), class = "gpbandits_error")
  expect_error(gp_bandit(box_domain(0, 1), duel_kernel, policy = policy_ts(1), rewards = rewards_preferences()), class = "gpbandits_error")
  expect_error(policy_duel(width_dmm(1, 1)), "width", class = "gpbandits_error")
})

# ---- width_glm() ---------------------------------------------------------------------------

test_that("width_glm() equals the worked example, over arms and on a box", {
  for (domain in list(duel_x, box_domain(0, 1))) {
    b <- gp_bandit(domain, duel_kernel, policy = policy_ucb(width_glm(1.5, 0.1)), rewards = rewards_binary())
    b$add(x = matrix(duel_x), reward = c(1, 8, 1), size = c(4, 10, 2))
    r <- gpbandits:::cpp_bandit_width(as.environment(b)$handle)
    expect_equal(r, 3.12845, tolerance = 1e-5)
    b$add(x = 0.5, reward = 1)                                # its row of the history has sd_c
    sd <- sqrt(diag(solve(solve(kernel_gram(duel_kernel, duel_x)) + diag(c(.80882, 1.71326, .37988)))))
    history <- b$history()
    b2 <- gp_bandit(domain, duel_kernel, policy = policy_ucb(width_glm(1.5, 0.1)), rewards = rewards_binary())
    b2$add(x = matrix(duel_x), reward = c(1, 8, 1), size = c(4, 10, 2))
    certificate <- b2$certificate()
    expect_identical(certificate$probability, 0.9)
    if (identical(domain, duel_x)) {
      mean <- b2$posterior(scale = "latent")$mean
      expect_equal(certificate$gap, stats::plogis(max(mean + r * sd)) - stats::plogis(max(mean - r * sd)), tolerance = 1e-4)
      expect_equal(stats::plogis(mean[2] + c(-1, 1) * r * sd[2]), c(.2425, .9438), tolerance = 1e-3)
    }
  }
})

test_that("width_glm() is width_amm() with little data, and probit's outcomes count one by one", {
  b <- gp_bandit(duel_x, duel_kernel, policy = policy_ucb(width_glm(2, 0.05)), rewards = rewards_binary("probit"))
  expect_equal(gpbandits:::cpp_bandit_width(as.environment(b)$handle), sqrt(4 + 2 * log(20)))
  b$add(arm = c(1, 2, 2), reward = c(1, 2, 0), size = c(1, 3, 2))
  expect_gt(gpbandits:::cpp_bandit_width(as.environment(b)$handle), sqrt(4 + 2 * log(20)))
  for (policy in list(policy_ts(width_glm(1)), policy_ucb(width_constant(1)))) {
    if (policy$kind == "ts") expect_error(gp_bandit(duel_x, duel_kernel, policy = policy, rewards = rewards_binary()), "width_glm", class = "gpbandits_error")
  }
  glm_ucb <- policy_ucb(width_glm(1))
  expect_error(gp_bandit(duel_x, duel_kernel, 1, glm_ucb), "width_glm", class = "gpbandits_error")
  expect_error(gp_bandit(duel_x, duel_kernel, policy = glm_ucb, rewards = rewards_ordinal(3)), "width_glm", class = "gpbandits_error")
  expect_error(gp_bandit(duel_x, duel_kernel, policy = glm_ucb, rewards = rewards_preferences(ties = TRUE)), "width_glm", class = "gpbandits_error")
  expect_error(gp_bandit(duel_x, duel_kernel, policy = glm_ucb, rewards = rewards_binary(), pending = pending_hallucinate()), "width_glm",
               class = "gpbandits_error")
  expect_error(width_ec(width_glm(1), 0.1), "base", class = "gpbandits_error")
})

# A run of UCB (or of duels) on a function of norm B: does mean +- r sd_c ever miss f? `f` is at the norm's edge.
misses_of <- function(rewards, rounds, B, draw, x = seq(0, 1, length.out = 5), kernel = kernel_se(0.3)) {
  K <- kernel_gram(kernel, x)
  alpha <- rnorm(5)
  f <- drop(K %*% alpha) * B / sqrt(sum(alpha * (K %*% alpha)))
  duels <- gpbandits:::of_form(list(rewards = rewards), "compares")
  b <- gp_bandit(x, kernel, policy = if (duels) policy_duel(width_glm(B, 0.1)) else policy_ucb(width_glm(B, 0.1)), rewards = rewards)
  handle <- function() as.environment(b)$handle
  for (t in seq_len(rounds)) {
    q <- b$suggest(if (duels) 2 else 1)
    if (duels) b$observe(q$id, reward = draw(f[q$arm[1]] - f[q$arm[2]])) else b$observe(q$id, draw(f[q$arm]))
    r <- gpbandits:::cpp_bandit_width(handle())
    for (w in c(r, -r)) {
      bound <- glm_bounds(b, w, duels)
      if (any(sign(w) * (f - bound) > 1e-9)) return(TRUE)
    }
  }
  FALSE
}

# mean + w sd_c at all arms, by a bandit's own bounds.
glm_bounds <- function(b, w, duels) {
  sites <- testing_entry("cpp_bandit_curved")(as.environment(b)$handle)
  sites$mean + w * sites$sd
}

test_that("f is within width_glm()'s bounds in all rounds with the stated probability", {
  long <- identical(Sys.getenv("GPBANDITS_TEST_LEVEL"), "2")
  set.seed(31)
  runs <- if (long) 1000 else 12
  rounds <- if (long) 60 else 20
  cases <- list(logit = list(rewards_binary(), function(f) rbinom(1, 1, plogis(f))),
                counts = list(rewards_counts(), function(f) rpois(1, exp(f))),
                probit = list(rewards_binary("probit"), function(f) rbinom(1, 1, pnorm(f))),
                duels = list(rewards_preferences(), function(f) rbinom(1, 1, plogis(f))))
  for (name in names(cases)) {
    missed <- mean(replicate(runs, misses_of(cases[[name]][[1]], rounds, 2, cases[[name]][[2]])))
    if (long) message(sprintf("width_glm(), %s: %.3f of %d runs missed, .1 allowed", name, missed, runs))
    expect_lte(missed, 0.1)
  }
})

test_that("a service accepts comparisons of two", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("jsonlite")
  base <- tempfile(fileext = ".db")
  b <- gp_bandit(duel_x, duel_kernel, policy = policy_duel(2), rewards = rewards_preferences(ties = TRUE), store = bandit_store(base, "taste"))
  service <- list(bandit = b)
  q <- b$suggest(2)
  answer <- gpbandits:::serve_observe(service, list(id = as.list(as.double(q$id)), prefer = as.double(q$id[2])))
  expect_identical(answer$status, 200L)
  expect_identical(b$history()$reward, c(0, 1))
  q <- b$suggest(2)
  gpbandits:::serve_observe(service, list(id = as.list(as.double(q$id)), prefer = NULL)[c("id", "prefer")])
  other <- open_bandit(bandit_store(base, "taste"))
  expect_identical(other$posterior(), b$posterior())
})

test_that("twelve arms, 16 draws, 120 duels: the worked example's table, uniform play 36 (level 2)", {
  skip_if_not(second_level(), "GPBANDITS_TEST_LEVEL=2")
  x <- seq(0, 1, length.out = 12)
  kernel <- kernel_se(0.25)
  set.seed(7)
  root <- t(chol(kernel_gram(kernel, x) + diag(1e-8, 12)))
  truths <- replicate(16, 2 * drop(root %*% rnorm(12)))
  regret <- function(rule, f, seed) {
    set.seed(seed)
    b <- gp_bandit(x, kernel, policy = policy_duel(2, rule), rewards = rewards_preferences())
    sum(vapply(1:120, function(t) {
      q <- b$suggest(2)
      b$observe(q$id, prefer = q$id[2 - rbinom(1, 1, plogis(f[q$arm[1]] - f[q$arm[2]]))])
      sum(plogis(max(f) - f[q$arm]) - 0.5) / 2
    }, 0))
  }
  uniform <- vapply(1:16, function(i) {
    f <- truths[, i]
    120 * mean(plogis(max(f) - f) - 0.5)
  }, 0)
  expect_equal(mean(uniform), 36, tolerance = 0.15)
  for (rule in c("last", "game")) {
    found <- vapply(1:16, function(i) regret(rule, truths[, i], i), 0)
    message(sprintf("policy_duel(2, \"%s\"): %.2f (se %.2f), uniform %.1f", rule, mean(found), sd(found) / 4, mean(uniform)))
    expect_lt(mean(found), 8.5)                               # 7.45 (se .76) and 7.09 (se .94)
  }
})

test_that("one constructor makes pairs and rankings, and rejects settings for pairs only", {
  b <- gp_bandit(duel_x, duel_kernel, policy = policy_duel(2), rewards = "preferences")
  expect_identical(b$config$rewards, rewards_preferences("pairs"))
  expect_error(rewards_preferences("rankings", ties = TRUE), "`ties`.*rankings", class = "gpbandits_error")
  expect_error(rewards_preferences("rankings", approximation = "variational"), "`approximation`.*rankings",
               class = "gpbandits_error")
  expect_error(rewards_preferences(TRUE), "`kind`.*\"pairs\", \"rankings\"", class = "gpbandits_error")
  expect_output(print(rewards_preferences(ties = TRUE)), "comparisons that may be ties")
})
