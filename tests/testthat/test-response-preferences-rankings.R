# Rankings against Plackett and Luce's likelihood in f itself, written down without pairs.

rank_x <- c(0, 0.2, 0.45, 0.7, 1)
rank_kernel <- kernel_se(0.3, 2)

# Mode and covariance by Newton's steps. `orders`: arms, the best first; `stages`: how many choices of each are known.
ref_rankings <- function(K, orders, stages = lengths(orders) - 1, m = rep(0, nrow(K)),
                         powers = rep(1, length(orders))) {
  n <- nrow(K)
  f <- m
  for (i in 1:100) {
    slope <- rep(0, n)
    H <- matrix(0, n, n)
    for (k in seq_along(orders)) for (s in seq_len(stages[k])) {
      left <- orders[[k]][s:length(orders[[k]])]
      E <- diag(n)[left, , drop = FALSE]
      p <- exp(f[left]) / sum(exp(f[left]))
      slope <- slope + powers[k] * (E[1, ] - drop(p %*% E))
      H <- H + powers[k] * t(E) %*% (diag(p, length(p)) - outer(p, p)) %*% E
    }
    before <- f
    f <- m + drop(K %*% solve(diag(n) + H %*% K, H %*% (f - m) + slope))
    if (max(abs(f - before)) < 1e-13) break
  }
  log_l <- sum(vapply(seq_along(orders), function(k) powers[k] * sum(vapply(seq_len(stages[k]), function(s) {
    left <- orders[[k]][s:length(orders[[k]])]
    f[left[1]] - log(sum(exp(f[left])))
  }, 0)), 0))
  list(mean = f, cov = K - K %*% H %*% solve(diag(n) + K %*% H, K),
       log_z = log_l - sum((f - m) * solve(K, f - m)) / 2 - c(determinant(diag(n) + K %*% H)$modulus) / 2)
}

rank_bandit <- function(domain = rank_x, ..., policy = policy_ucb(width_constant(1))) {
  gp_bandit(domain, rank_kernel, policy = policy, rewards = rewards_preferences("rankings"), ...)
}

# Arms added and ranked.
ranked <- function(b, orders, tops = NULL) {
  for (k in seq_along(orders)) {
    first <- nrow(b$history())
    arms <- sort(orders[[k]])
    b$add(x = matrix(rank_x[arms]))
    ids <- first + match(orders[[k]], arms)
    if (is.null(tops)) b$rank(ids) else b$observe(ids, prefer = ids[seq_len(tops[k])])
  }
  b
}

orders <- list(c(3, 1, 5, 2), c(2, 4), c(1, 3, 4), c(4, 2, 3, 5, 1))

test_that("rankings have the Plackett-Luce likelihood, over arms and on a box", {
  K <- kernel_gram(rank_kernel, rank_x)
  reference <- ref_rankings(K, orders)
  for (domain in list(rank_x, box_domain(0, 1))) {
    b <- ranked(rank_bandit(domain), orders)
    latent <- b$posterior(x = rank_x, scale = "latent")
    expect_equal(latent$mean, reference$mean, tolerance = 1e-8)
    expect_equal(latent$sd, sqrt(diag(reference$cov)), tolerance = 1e-7)
    expect_equal(testing_entry("cpp_bandit_sites")(as.environment(b)$handle)$log_evidence, reference$log_z, tolerance = 1e-8)
  }
  m <- c(1, 0, -1, 0, 2)
  b <- ranked(rank_bandit(mean = m), orders)
  expect_equal(b$posterior(scale = "latent")$mean, ref_rankings(K, orders, m = m)$mean, tolerance = 1e-8)
  h <- b$history()
  expect_identical(h$reward[1:6], c(2 / 3, 0, 1, 1 / 3, 1, 0))
  expect_identical(h$ranking, rep(c(1L, 5L, 7L, 10L), c(4, 2, 3, 5)))
  best <- b$best()$arm
  D <- b$posterior(scale = "latent")$mean
  expect_identical(best, which.max(D))
  expect_equal(b$posterior(arm = best)$mean, 0.5)
})

test_that("the best of several, and the first positions, are the first stages alone", {
  reference <- ref_rankings(kernel_gram(rank_kernel, rank_x), orders, stages = c(1, 1, 1, 2))
  b <- ranked(rank_bandit(), orders, tops = c(1, 1, 1, 2))
  expect_equal(b$posterior(scale = "latent")$mean, reference$mean, tolerance = 1e-8)
  expect_equal(b$posterior(scale = "latent")$sd, sqrt(diag(reference$cov)), tolerance = 1e-7)
  expect_identical(sort(b$history()$reward[10:14]), c(0, 0, 0, .75, 1))
  # All but the last say it all.
  most <- ranked(rank_bandit(), orders, tops = lengths(orders) - 1)
  expect_identical(most$posterior(), ranked(rank_bandit(), orders)$posterior())
})

test_that("a ranking of two is a comparison", {
  duels <- gp_bandit(rank_x, rank_kernel, policy = policy_duel(2), rewards = rewards_preferences())
  ranks <- rank_bandit(policy = policy_duel(2))
  set.seed(1)
  for (t in 1:8) {
    q <- duels$suggest(2)
    expect_identical(ranks$suggest(2), q)
    first <- q$id[1 + (t %% 3 == 0)]
    duels$rank(c(first, setdiff(q$id, first)))
    ranks$observe(q$id, prefer = first)
    expect_equal(ranks$posterior(), duels$posterior(), tolerance = 1e-9)
  }
  expect_identical(duels$history()$reward, ranks$history()$reward)
})

test_that("a point that occurs twice in a ranking works, and so do weights of older ones", {
  b <- rank_bandit()
  b$add(arm = c(2, 2, 4))
  b$rank(c(2, 3, 1))
  reference <- ref_rankings(kernel_gram(rank_kernel, rank_x), list(c(2, 4, 2)))
  expect_equal(b$posterior(scale = "latent")$mean, reference$mean, tolerance = 1e-8)
  expect_equal(b$posterior(scale = "latent")$sd, sqrt(diag(reference$cov)), tolerance = 1e-7)
  w <- ranked(rank_bandit(changes = change_oracle(rate = 0.2, by = "weights")), orders[1:2])
  powers <- 0.8^(7 - c(4, 6))
  expect_equal(w$posterior(scale = "latent")$mean,
               ref_rankings(kernel_gram(rank_kernel, rank_x), orders[1:2], powers = powers)$mean, tolerance = 1e-8)
  window <- ranked(rank_bandit(changes = change_oracle(window = 2)), orders)
  latest <- ref_rankings(kernel_gram(rank_kernel, rank_x), orders[3:4])
  expect_equal(window$posterior(scale = "latent")$mean, latest$mean, tolerance = 1e-8)
})

test_that("all ways of reporting, copies and files give the same bits; corrections are new rankings", {
  file <- tempfile()
  live <- function(...) {
    set.seed(4)
    b <- rank_bandit(policy = policy_ts(width_constant(1)), ...)
    for (t in 1:4) {
      q <- b$suggest(3)
      b$rank(q$id[order(sin(7 * q$x1))])
      b$rank(q$id[order(sin(7 * q$x1))])                    # again: nothing
    }
    q <- b$suggest(4)
    b$withdraw(q$id[4])
    b$observe(rev(q$id[1:3]), prefer = q$id[2])
    b$amend(4:6, prefer = c(6, 4, 5))
    b
  }
  b <- live(journal = file)
  again <- live()
  expect_identical(again$posterior(), b$posterior())
  h <- b$history()
  expect_identical(h$reward[4:6], c(.5, 0, 1))
  expect_identical(h$ranking[13:16], c(13L, 13L, 13L, NA))
  # The corrected one, reported so at once.
  set.seed(9)
  other <- rank_bandit()
  other$add(arm = h$arm[1:15])
  for (k in 1:5) {
    ids <- 3 * k - 2:0
    if (k < 5) other$rank(ids[order(-h$reward[ids])]) else other$observe(ids, prefer = ids[2])
  }
  expect_identical(other$posterior(), b$posterior())
  restored <- b
  for (i in 1:10) {
    restored <- switch(1 + i %% 3, restored$copy(), from_json(as_json(restored)), unserialize(serialize(restored, NULL)))
  }
  expect_identical(restored$posterior(), b$posterior())
  expect_identical(open_bandit(file)$posterior(), b$posterior())
  set.seed(3)
  mine <- b$copy()$suggest(3)
  set.seed(3)
  expect_identical(restored$suggest(3), mine)
  skip_if_not_installed("RSQLite")
  base <- tempfile(fileext = ".db")
  stored <- live(store = bandit_store(base, "ranks"))
  other <- open_bandit(bandit_store(base, "ranks"))
  expect_identical(other$posterior(), stored$posterior())
  expect_identical(other$history(), stored$history())
  other$amend(1:3, prefer = 3)
  expect_identical(stored$catch_up()$posterior(), other$posterior())
  expect_identical(stored$history()$reward[1:3], c(0, 0, 1))
  service <- list(bandit = stored)
  q <- stored$suggest(3)
  ids <- as.list(as.double(q$id))
  answer <- gpbandits:::serve_observe(service, list(id = ids, prefer = ids[c(2, 1, 3)], token = as.list(q$token)))
  expect_identical(answer$status, 200L)
  expect_identical(stored$history()$reward[q$id], c(.5, 1, 0))
  gpbandits:::serve_amend(service, list(id = ids, prefer = ids[[3]]))
  expect_identical(other$catch_up()$history()$reward[q$id], c(0, 0, 1))
})

test_that("a restart within a ranking works", {
  b <- rank_bandit(changes = change_oracle(3))
  b$add(arm = 1:5)                                            # from the fourth on all is new
  b$rank(c(4, 5, 2, 1, 3))
  reference <- ref_rankings(kernel_gram(rank_kernel, rank_x), list(c(4, 5, 2, 1, 3)))
  expect_equal(b$posterior(scale = "latent")$mean, reference$mean, tolerance = 1e-8)
  b$amend(1:5, prefer = 1)
  expect_identical(b$copy()$posterior(), b$posterior())
})

test_that("invalid rankings are errors that change nothing", {
  b <- rank_bandit()
  b$add(arm = c(1:5, 2:4))
  b$rank(6:8)
  b$withdraw(5)
  before <- b$posterior()
  log <- b$history()
  refused <- function(call, argument, text = "") {
    error <- expect_error(call, text, class = "gpbandits_error")
    expect_identical(error$argument, argument)
  }
  refused(b$rank(), "ids")
  refused(b$rank(1), "ids")
  refused(b$rank("a"), "ids")
  refused(b$rank(c(1, NA)), "ids")
  refused(b$rank(1:51), "ids")
  refused(b$rank(c(1, 1)), "id")
  refused(b$rank(c(1, 99)), "id")
  refused(b$rank(c(1, 5)), "id", "withdrawn")
  refused(b$rank(c(1, 6)), "id", "\\$add")
  refused(b$rank(c(7, 6, 8)), "id", "\\$amend")
  refused(b$rank(1:2, size = 2), "size")
  refused(b$observe(1:3, prefer = 4), "prefer")
  refused(b$observe(1:3, prefer = c(1, 1)), "prefer")
  refused(b$observe(1:3, prefer = NA), "prefer")
  refused(b$observe(1:3, prefer = numeric()), "prefer")
  refused(b$observe(1:3, c(1, 0, 0)), "reward")
  refused(b$observe(1:3, 1, prefer = 1), "reward")
  refused(b$observe(data.frame(id = 1:2, reward = 1:0)), "id")
  refused(b$amend(6:7, prefer = 6), "id", "one ranking")
  refused(b$amend(1:2, prefer = 1), "id")
  refused(b$add(arm = 1, reward = 1), "reward")
  expect_identical(b$history(), log)
  expect_identical(b$posterior(), before)
  refused(gp_ucb(1:3, kernel_se(1), 1)$rank(1:2), "ids", "rewards_preferences")
  d <- gp_bandit(1:3, kernel_se(1), policy = policy_duel(2), rewards = rewards_preferences())
  d$add(arm = 1:3)
  refused(d$rank(1:3), "ids", "rewards_preferences")
  refused(rank_bandit(pending = pending_hallucinate()), "pending")
  refused(rank_bandit(policy = policy_ucb(width_glm(1))), "width")
  in_context <- gp_bandit(1:3, kernel_se(1, dims = 1) + kernel_se(1, dims = 2), policy = policy_mean(),
                          rewards = rewards_preferences("rankings"), contexts = matrix(0:1))
  in_context$add(arm = 1:2, context = matrix(0:1))
  refused(in_context$rank(1:2), "id", "context")
})

test_that("a log with half a ranking has no effect, and one with an unknown query is an error", {
  b <- ranked(rank_bandit(), list(c(3, 1, 2)))
  forged <- function(from, to) {
    text <- as_json(b)
    expect_true(grepl(from, text, fixed = TRUE))
    from_json(sub(from, to, text, fixed = TRUE))
  }
  prior <- rank_bandit()$posterior(scale = "latent")
  for (half in c("2,3,3]", "1,1,2]")) {
    invalid <- forged("2,3,1]", half)
    expect_identical(invalid$posterior(scale = "latent"), prior)
    invalid$add(arm = 4:5)
    invalid$rank(5:4)
    expect_identical(invalid$copy()$posterior(), invalid$posterior())
  }
  for (bad in c("2,3,99]", "2,null,1]", "2,3,-1]")) expect_error(forged("2,3,1]", bad)$posterior(), class = "gpbandits_error")
})

test_that("a batch that repeats one point raises a warning", {
  x <- 0:4 / 4
  for (rewards in list(rewards_preferences("rankings"), rewards_preferences())) {
    b <- gp_bandit(x, kernel_se(0.3), policy = policy_ei(), rewards = rewards)
    expect_warning(asked <- b$suggest(3), "policy_ts\\(\\)", class = "gpbandits_repeats")
    expect_identical(length(unique(asked$arm)), 1L)
    b <- gp_bandit(x, kernel_se(0.3), policy = policy_duel(2), rewards = rewards)
    expect_warning(b$suggest(2), NA)
  }
})
