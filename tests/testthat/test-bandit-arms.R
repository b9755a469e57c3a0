# $suggest(arms = ): only some arms are eligible, and the log knows which.

arms_x <- seq(0, 1, length.out = 9)
arms_kernel <- kernel_matern(2.5, 0.3)

test_that("with eligible arms choices equal the reference's, for every policy and engine", {
  kinds <- list(ucb = list(policy_ucb(width_constant(1.5)), ref_policy("ucb", ref_width_constant(1.5))),
                ei = list(policy_ei(), ref_policy("ei")), pi = list(policy_pi(0.05), ref_policy("pi", xi = 0.05)),
                mean = list(policy_mean(), ref_policy("mean")), variance = list(policy_variance(), ref_policy("variance")))
  z <- cbind(c(0, 1))
  for (kind in kinds) for (engine in c("weights", "played")) for (contexts in list(NULL, z)) {
    set.seed(3)
    all <- if (is.null(contexts)) cbind(arms_x) else cbind(arms_x, rep(z, each = 9))
    b <- gp_bandit(arms_x, arms_kernel, 0.05, kind[[1]], engine = engine, contexts = contexts, mean = seq(0, 0.4, length.out = 9),
                   pending = pending_hallucinate())
    ref <- ref_bandit(ref_kernel_matern(2.5, 0.3)(all), 0.05, kind[[2]], mean = rep(seq(0, 0.4, length.out = 9), nrow(all) / 9),
                      n_arms = 9, pending = ref_pending("hallucinate"))
    for (t in 1:15) {
      number <- if (is.null(contexts)) 1 else sample(2, 1)
      arms <- sample(9, sample(9, 1))
      ref <- suggest_with_reference(b, ref, if (!is.null(contexts)) z[number, ], number, arms)
      if (t %% 3 > 0) {
        y <- stats::rnorm(1)
        b$observe(t, y)
        ref <- ref_observe(ref, t, y)
      }
    }
    expect_identical(b$history()$arm, as.integer((ref$rows - 1) %% 9 + 1))
    expect_lt(max(unlist(posterior_gaps(list(mean = 0, sd = 0), b, ref, if (!is.null(contexts)) z[1, ]))), tol$engine)
  }
})

test_that("no policy, exploration or design selects an arm that is not eligible", {
  skip_on_cran()
  policies <- list(policy_ts(1), policy_mes(), policy_pims(), policy_straddle(0), policy_uniform(), policy_ucb(width_irgp()),
                   policy_function(function(mean, sd, round) -mean))
  domains <- list(arms_x, product_domain(cbind(m = 1:9), list(u = c(0, 1))))
  for (policy in few_of(policies, 2)) for (domain in domains) for (contexts in list(NULL, "z")) {
    if (!is.numeric(domain) && identical(policy$width$type, "irgp")) next     # counts arms
    set.seed(1)
    b <- gp_bandit(domain, arms_kernel, 0.05, policy, contexts = contexts, pending = pending_hallucinate())
    context <- if (!is.null(contexts)) 0.4
    b$add(x = if (!is.numeric(domain)) c(0.1, 0.9), arm = c(2, 5), reward = c(3, -3), context = context)
    for (t in 1:4) {
      q <- b$suggest(2, arms = c(5, 1, 9), context = context)
      expect_true(all(q$arm %in% c(1, 5, 9)))
      b$observe(q$id[1], stats::rnorm(1))
    }
  }
  set.seed(2)
  explorer <- gp_ucb_cpd(arms_x, arms_kernel, 0.05, change_never(explore = 100), width = 1)
  played <- explorer$suggest(200, arms = c(3, 8))$arm
  expect_gt(stats::chisq.test(tabulate(match(played, c(3, 8)), 2))$p.value, tol$p_value)
})

test_that("all arms are the same as no `arms`, and names work like numbers", {
  ask <- function(...) {
    set.seed(4)
    b <- gp_bandit(data.frame(name = letters[1:9], x = arms_x), arms_kernel, 0.05, policy_ts(1))
    b$add(arm = 1:9, reward = sin(1:9))
    b$suggest(5, ...)
  }
  expect_identical(ask(arms = 9:1), ask())
  expect_identical(ask(arms = c("b", "g")), ask(arms = c(7, 2)))
  expect_identical(ask(arms = 4)$arm, rep(4L, 5))
})

test_that("the log holds the eligible arms, for replays, copies, journals and refits", {
  file <- tempfile()
  b <- gp_bandit(arms_x, arms_kernel, 0.05, policy_ei(), pending = pending_hallucinate(), refit = refit_every(3), journal = file)
  b$add(arm = 1:2, reward = c(1, 2))
  b$suggest(4, arms = c(1:3, 7, 9))
  b$suggest()
  b$observe(3:4, c(0.1, 0.2))
  b$suggest(arms = 6)
  logged <- function(bandit) log_column(bandit, "arms")
  kinds <- log_column(b, "kind")
  expect_identical(logged(b)[kinds == 1], c(rep("1-3,7,9", 4), NA, "6"))
  expect_true(all(is.na(logged(b)[kinds != 1])))
  b$observe(5, 0.3)
  again <- open_bandit(file)
  expect_identical(logged(again), logged(b))
  for (twin in list(again$copy(), b$copy(), unserialize(serialize(b, NULL))$copy())) {
    expect_identical(twin$suggest(2, arms = c(2, 8)), b$copy()$suggest(2, arms = c(2, 8)))
    expect_identical(twin$copy()$history(), twin$history())
  }
})

test_that("a store passes the eligible arms to other processes", {
  skip_if_not_installed("RSQLite")
  path <- tempfile(fileext = ".sqlite")
  b <- gp_ucb(arms_x, arms_kernel, 0.05, pending = pending_hallucinate(), store = bandit_store(path, "arms"))
  first <- b$suggest(2, arms = c(4, 6), worker = "w", lease = 60)
  other <- open_bandit(bandit_store(path, "arms"))
  expect_setequal(other$history()$arm, c(4, 6))
  expect_identical(log_column(other, "arms"), rep("4,6", 2))
  # A worker's own open query is not given back where it cannot be played.
  expect_false(any(b$suggest(2, arms = c(1, 2), worker = "w", lease = 60)$arm %in% c(4, 6)))
  expect_identical(b$suggest(2, arms = c(4, 6), worker = "w", lease = 60)$id, first$id)
})

test_that("invalid arms are errors that change nothing", {
  b <- gp_ucb(arms_x, arms_kernel, 0.05)
  for (arms in list(0, 10, 1.5, NA, "a", integer(), TRUE, list(1), Inf)) {
    expect_error(b$suggest(arms = arms), "`arms` must be", class = "gpbandits_error")
  }
  expect_identical(nrow(b$history()), 0L)
  box <- gp_ucb(list(u = c(0, 1)), arms_kernel, 0.05, width = 2)
  expect_error(box$suggest(arms = 1), "Leave out `arms`", class = "gpbandits_error")
  bandit <- baseline_constrained("ckb", arms_x, arms_kernel, 0.05, step = 1, bound = 1)
  expect_error(bandit$suggest(arms = 1), "Leave out `arms`", class = "gpbandits_error")
})
