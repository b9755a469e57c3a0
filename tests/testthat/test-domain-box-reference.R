# Boxes against the reference: posterior, history and widths are exact; the choice is a
# maximiser of the acquisition function, up to the result of a search over many points.

# All that was played in a box, as the reference's points: K over (played, extra) inputs.
box_reference <- function(kernel, bandit, names, extra = NULL) {
  h <- bandit$history()
  inputs <- rbind(as.matrix(h[names]), extra)
  K <- kernel(unname(inputs))
  list(h = h, K = K, n = nrow(h), extra = nrow(h) + seq_len(nrow(inputs) - nrow(h)))
}

# Posterior at `test` rows of K from the first `known` queries that have been observed.
box_posterior <- function(r, known, noise, mean, test, value = NULL) {
  y <- if (is.null(value)) r$h$reward[known] else value
  ref_posterior_at(r$K, known, y, noise, mean, test)
}

for (d in 1:2) {
  test_that(paste("a box's posterior and history are the oracle's, d =", d), {
    set.seed(800 + d)
    box <- box_domain(rep(-1, d), rep(2, d))
    kernel <- list(kernel_matern(2.5, 0.8), kernel_se(0.7) + kernel_linear(0.3))[[d]]
    ref_kernel <- list(ref_kernel_matern(2.5, 0.8),
                       ref_kernel_sum(ref_kernel_se(0.7), ref_kernel_linear(0.3)))[[d]]
    b <- gp_bandit(box, kernel, 0.02, policy_ucb(width_amm(1, 0.1, 0.1)), mean = 0.4)
    names <- paste0("x", seq_len(d))
    for (t in 1:15) {
      q <- b$suggest()
      b$observe(q$id, sum(sin(3 * as.matrix(q[names]))) + rnorm(1, 0, 0.1))
    }
    b$add(x = matrix(0.5, 2, d), reward = c(0.1, 0.2))
    points <- matrix(runif(20 * d, -1, 2), 20)
    r <- box_reference(ref_kernel, b, names, points)
    core <- b$posterior(points)
    theirs <- box_posterior(r, 1:17, 0.02, 0.4, r$extra)
    expect_lt(max(abs(core$mean - theirs$mean), abs(core$sd - theirs$sd)), tol$engine)
    expect_equal(b$information_gain(), ref_information_gain(r$K, 1:17, 0.02), tolerance = tol$engine)
    width <- ref_width_amm(1, 0.1, 0.1)
    for (t in 1:15) {
      at <- box_posterior(r, seq_len(t - 1), 0.02, 0.4, t)
      expect_lt(max(abs(r$h$mean[t] - at$mean), abs(r$h$sd[t] - at$sd)), tol$engine)
      info <- list(K = r$K, rows = seq_len(t - 1), noise = rep(0.02, t - 1), lambda = 0.02)
      expect_equal(r$h$width[t], width(info), tolerance = tol$engine)
    }
  })
}

test_that("choices on a box maximise the acquisition function, for every policy that has one", {
  skip_on_cran()
  set.seed(803)
  policies <- list(list(policy_ucb(width_constant(2)), ref_policy("ucb")),
                   list(policy_ei(), ref_policy("ei")),
                   list(policy_pi(0.01), ref_policy("pi", xi = 0.01)),
                   list(policy_mean(), ref_policy("mean")),
                   list(policy_variance(), ref_policy("variance")))
  kernel <- ref_kernel_se(c(0.3, 0.6))
  side <- seq(0, 1, length.out = by_level(31, 41))
  grid <- as.matrix(expand.grid(side, side))
  for (pair in policies) {
    b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(c(0.3, 0.6)), 0.01, pair[[1]])
    b$add(x = matrix(runif(10), 5), reward = rnorm(5))
    for (t in seq_len(by_level(3, 4))) {
      q <- b$suggest()
      r <- box_reference(kernel, b, c("x1", "x2"), grid)
      past <- seq_len(r$n - 1)
      p <- box_posterior(r, past, 0.01, 0, seq_len(nrow(r$K)))
      incumbent <- max(p$mean[past])
      score <- ref_scores(pair[[2]], p$mean, p$sd, 2, incumbent)
      expect_gte(score[r$n], max(score[r$extra]) - 1e-6)
      b$observe(q$id, sin(5 * q$x1) + q$x2)
    }
  }
})

test_that("pending rules and contexts on a box give the posterior of a fit from scratch", {
  set.seed(804)
  rules <- list(ignore = pending_ignore(), hallucinate = pending_hallucinate(), censor = pending_censor(2, -1))
  kernel <- ref_kernel_matern(1.5, c(0.5, 0.9))
  for (rule in names(rules)) {
    b <- gp_bandit(box_domain(0, 1), kernel_matern(1.5, c(0.5, 0.9)), 0.05, policy_ucb(width_constant(1.5)),
                   contexts = "z", pending = rules[[rule]])
    # Query 2 answered after 2 rounds, 6 at once, 3 after 6; the others wait.
    for (t in 1:8) {
      b$suggest(context = runif(1))
      now <- c("3" = 2, "6" = 6, "8" = 3)[as.character(t)]
      if (!is.na(now)) b$observe(now, rnorm(1))
    }
    points <- cbind(runif(9), 0.35)
    r <- box_reference(kernel, b, c("x1", "z"), points)
    observed <- c(2, 3, 6)
    expect_equal(which(!is.na(r$h$reward)), observed)
    censored <- !(1:8 %in% c(2, 6))
    y <- ifelse(censored, -1, r$h$reward)
    mean <- if (rule == "censor") box_posterior(r, 1:8, 0.05, 0, r$extra, y)$mean
            else box_posterior(r, observed, 0.05, 0, r$extra)$mean
    known <- if (rule == "ignore") observed else 1:8
    sd <- box_posterior(r, known, 0.05, 0, r$extra, numeric(length(known)))$sd
    core <- b$posterior(points[, 1], context = 0.35)
    expect_lt(max(abs(core$mean - mean), abs(core$sd - sd)), tol$engine)
  }
})

test_that("Thompson sampling on a box returns the maximiser of an exact joint draw", {
  skip_on_cran()
  grid <- seq(0, 1, length.out = 201)
  played <- c(0.1, 0.45, 0.8)
  draws_of_package <- by_level(80, 400, quick = 50)
  for (case in list(list(kernel_se(0.25), ref_kernel_se(0.25)), list(kernel_matern(1.5, 0.4), ref_kernel_matern(1.5, 0.4)))) {
    for (width in few_of(c(1, 0.3), 1)) {
      set.seed(805)
      b <- gp_bandit(box_domain(0, 1), case[[1]], 0.05, policy_ts(width_constant(width)), mean = 0.2)
      b$add(x = played, reward = c(0.5, 1, 0.7))
      # Pending queries are ignored: all of these come from one posterior.
      core <- b$suggest(draws_of_package)$x1
      K <- case[[2]](c(played, grid))
      at <- 3 + seq_along(grid)
      p <- ref_posterior_at(K, 1:3, c(0.5, 1, 0.7), 0.05, 0.2, at)
      cov <- K[at, at] - K[at, 1:3] %*% solve(K[1:3, 1:3] + diag(0.05, 3), K[1:3, at])
      draws <- ref_draw_normal(4000, p$mean, width^2 * (cov + t(cov)) / 2 + diag(1e-10, length(grid)))
      theirs <- grid[max.col(draws)]
      bins <- c(-Inf, unique(stats::quantile(theirs, 1:7 / 8, type = 1)) + 1e-4, Inf)
      counts <- rbind(table(cut(core, bins)), table(cut(theirs, bins)))
      counts <- counts[, colSums(counts) > 0]
      expect_gt(suppressWarnings(stats::chisq.test(counts))$p.value, tol$p_value)
    }
  }
})
