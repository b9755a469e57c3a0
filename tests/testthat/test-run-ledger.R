# run_bandit() against the reference: the same choices as the bandit asked step by step,
# rewards usable when their delay has passed, and a regret log.

ledger_noise <- function(e) function(n) e[seq_len(n)]

test_that("a run equals the bandit asked step by step, under every pending rule", {
  set.seed(701)
  x <- sort(runif(14))
  K <- ref_kernel_se(0.2)(x)
  f <- as.vector(ref_draw_normal(1, rep(0, 14), K))
  rounds <- 40
  e <- rnorm(rounds, 0, 0.2)
  delay <- rpois(rounds, 3)
  for (rule in list(list(pending_ignore(), ref_pending()),
                    list(pending_hallucinate(), ref_pending("hallucinate")),
                    list(pending_censor(3, -1), ref_pending("censor", 3, -1)),
                    list(pending_censor(Inf), ref_pending("censor")))) {
    problem <- bandit_problem(x, f, ledger_noise(e), delay = function(n) delay[seq_len(n)])
    b <- gp_bandit(x, kernel_se(0.2), 0.04, policy_ucb(width_srinivas_finite()), pending = rule[[1]])
    run <- as.data.frame(run_bandit(b, problem, rounds))
    ref <- ref_bandit(K, 0.04, ref_policy("ucb", ref_width_srinivas_finite()), pending = rule[[2]])
    twin <- gp_bandit(x, kernel_se(0.2), 0.04, policy_ucb(width_srinivas_finite()), pending = rule[[1]])
    ref <- play_with_reference(twin, ref, rounds, function(t, point) f[point] + e[t], delay)$ref
    expect_equal(run$arm, ref$rows)
    # The run hands over what arrives after its last query, too, when the delay is 0.
    before <- which(seq_len(rounds) + pmax(delay, 1) <= rounds)
    expect_equal(run$reward[before], ref$reward[before], tolerance = tol$identity)
    expect_true(all(is.na(run$reward[seq_len(rounds) + delay > rounds])))
    m <- if (rule[[1]]$kind == "censor") rule[[1]]$m else Inf
    ledger <- ref_ledger(f[ref$rows], max(f), delay, m = m)
    for (column in c("regret", "cumulative_regret", "simple_regret")) {
      expect_equal(run[[column]], ledger[[column]], tolerance = tol$identity)
    }
    expect_equal(run$f, f[ref$rows])
    expect_equal(run$optimum, rep(max(f), rounds))
  }
})

test_that("a query whose reward is lost to censoring never counts for the simple regret", {
  delay <- c(3, 0, 5, 2, 2, 6, 1, 0, 0, 0)
  problem <- bandit_problem(1:6, 1:6, delay = function(n) delay)
  # Rounds 2, 4, 5, 7, ... come within two rounds; 1, 3 and 6 do not.
  within_two <- function(unit, changes = NULL) {
    set.seed(700)
    bandit <- gp_bandit(1:6, kernel_se(1), 0.01, policy_uniform(), pending = pending_censor(2, unit = unit),
                        changes = changes)
    as.data.frame(run_bandit(bandit, problem, 10))
  }
  for (unit in c("rounds", "time")) {
    run <- within_two(unit)
    ledger <- ref_ledger(run$f, 6, delay, m = 2)
    expect_identical(run$simple_regret, ledger$simple_regret, info = unit)
    expect_false(identical(ledger$simple_regret, ref_ledger(run$f, 6, delay)$simple_regret))
  }
  # The same across restarts, after which no reward of before is used.
  run <- within_two("rounds", change_oracle(c(2, 5), explore = 0))
  expect_identical(run$simple_regret, ref_ledger(run$f, 6, delay, m = 2)$simple_regret)
  all_lost <- bandit_problem(1:6, 1:6, delay = 3)
  run <- run_bandit(gp_ucb_sdf(1:6, kernel_se(1), 0.01, m = 2), all_lost, 10)
  expect_true(all(is.na(as.data.frame(run)$simple_regret)))
  # Without censoring, late rewards are used.
  run <- as.data.frame(run_bandit(gp_bucb(1:6, kernel_se(1), 0.01), all_lost, 10))
  expect_identical(which(is.na(run$simple_regret)), 1:3)
})

test_that("a design is suggested first, in its order, and its rewards may be late and lost like all others", {
  x <- seq(0, 1, length.out = 12)
  f <- sin(5 * x)
  first <- c(9, 2, 5, 2)
  delay <- c(2, 5, 0, 1, 3, 0, 4, 2, 1, 0, 0, 2)
  problem <- bandit_problem(x, f, delay = function(n) delay[seq_len(n)])
  start <- function(design) gp_ucb_sdf(x, kernel_se(0.2), 0.04, m = 3, value = -1, initial_design = design)
  run <- as.data.frame(run_bandit(start(x[first]), problem, 12))
  expect_identical(run$arm[1:4], as.integer(first))
  expect_identical(run$action, rep(c("explore", "policy"), c(4, 8)))
  expect_identical(run$simple_regret, ref_ledger(run$f, max(f), delay, m = 3)$simple_regret)
  # By hand, in the same bandit: asked one by one, given due rewards, censored until then.
  twin <- start(x[first])
  for (t in seq_len(12)) {
    due <- which(seq_len(t - 1) + delay[seq_len(t - 1)] == t)
    for (s in due) twin$observe(s, f[twin$history()$arm[s]])
    now <- twin$suggest()
    expect_identical(now$arm, run$arm[t], info = t)
    if (delay[t] == 0) twin$observe(t, f[now$arm])
    if (t == 3) {
      # The mean knows the third reward, and -1 for the two that are under way or not known yet.
      rows <- first[1:3]
      y <- c(f[9], -1, f[5])
      K <- ref_kernel_se(0.2)(x)
      expect_equal(twin$posterior()$mean[7], sum(K[7, rows] * solve(K[rows, rows] + diag(0.04, 3), y)), tolerance = 1e-9)
    }
  }
  # Data given in advance are no query of the run.
  known <- gp_ucb_sdf(x, kernel_se(0.2), 0.04, m = 3, value = -1)
  known$add(arm = first, reward = f[first])
  expect_identical(unique(as.data.frame(run_bandit(known, problem, 12))$action), "policy")
})

test_that("a design continues in copies and journals, with contexts, on boxes and in a run with refits", {
  x <- seq(0, 1, length.out = 8)
  file <- tempfile()
  whole <- gp_bucb(x, kernel_se(0.2), 0.04, initial_design = x[c(3, 8, 1)])
  begun <- gp_bucb(x, kernel_se(0.2), 0.04, initial_design = x[c(3, 8, 1)], journal = file)
  begun$suggest()
  expect_identical(whole$suggest(5)$arm[1:3], c(3L, 8L, 1L))
  expect_identical(begun$copy()$suggest(2)$arm, c(8L, 1L))
  again <- open_bandit(file)
  problem <- bandit_problem(x, sin(x))
  expect_identical(as.data.frame(run_bandit(again, problem, 3))$arm[1:2], c(8L, 1L))
  with_context <- gp_ucb(x, kernel_se(0.2), 0.04, contexts = cbind(z = 0:1), initial_design = x[c(6, 7)])
  set.seed(3)
  in_turn <- bandit_problem(x, function(u) u[, 1] * u[, 2], contexts = cbind(z = c(0, 1)), optimum = function(z) z[, 1])
  run <- as.data.frame(run_bandit(with_context, in_turn, 4))
  expect_equal(run$arm[1:2], 6:7)
  expect_equal(run$z, c(0, 1, 0, 1))
  box <- gp_ucb(list(u = c(0, 1)), kernel_se(0.2), 0.04, width = 2, initial_design = data.frame(u = c(0.25, 0.75)),
                refit = refit_every(2, minimum = 2))
  run <- as.data.frame(run_bandit(box, bandit_problem(list(u = c(0, 1)), function(u) u[, 1], optimum = 1), 6))
  expect_equal(run$u[1:2], c(0.25, 0.75))
})

test_that("a design is checked", {
  x <- seq(0, 1, length.out = 8)
  expect_error(gp_ucb(x, kernel_se(0.2), 0.04, initial_design = 0.3), "`initial_design`", class = "gpbandits_error")
  expect_error(gp_ucb(list(u = c(0, 1)), kernel_se(0.2), 0.04, width = 2, initial_design = 2), "`initial_design`",
               class = "gpbandits_error")
  expect_error(gp_bandit(x, kernel_se(0.2), 0.04, policy_ei(), changes = change_oracle(every = 5), initial_design = 0),
               "`initial_design`", class = "gpbandits_error")
})

test_that("delays that depend on the input use the random numbers of the round, at the query's point", {
  x <- seq(0.1, 2.4, by = 0.1)
  slow <- function(n, x) rpois(n, 3 * x[, 1])
  problem <- bandit_problem(x, sin(x), noise = 0.1, delay = slow)
  played <- function(policy, seed) {
    set.seed(seed)
    bandit <- gp_bandit(x, kernel_se(0.5), 0.01, policy, pending = pending_censor(4))
    as.data.frame(run_bandit(bandit, problem, 60))
  }
  # What the run must have met: the seeds come after noise and constraint noise.
  set.seed(31)
  draws <- gpbandits:::problem_draws(problem, 60)
  delay_of <- function(run) {
    vapply(1:60, function(t) {
      set.seed(draws$delay_seeds[t])
      slow(1, matrix(run$x1[t]))
    }, 0)
  }
  runs <- list(ucb = played(policy_ucb(width_constant(2)), 31), random = played(policy_uniform(), 31))
  for (run in runs) {
    delay <- delay_of(run)
    expect_gt(max(delay), 4)
    expect_identical(is.na(run$reward), 1:60 + delay > 60)
    expect_equal(run$simple_regret, ref_ledger(run$f, max(sin(x)), delay, m = 4)$simple_regret)
  }
  # The bandit's own draws continue where they were: they do not see the delays' seeds.
  set.seed(31)
  gpbandits:::problem_draws(problem, 60)
  expect_identical(runs$random$arm, vapply(1:60, function(t) sample.int(length(x), 1), 0L))
  # The same over a box, with contexts, and for a bandit.
  in_box <- bandit_problem(box_domain(c(v = 0), c(v = 2)), function(u) u[, 1] + u[, 2], contexts = matrix(c(0, 4), 2),
                           delay = function(n, x) x[, "z1"], optimum = function(z) 2 + z[, 1])
  run <- as.data.frame(run_bandit(gp_bandit(in_box$domain, kernel_se(1), 0.01, policy_uniform(), contexts = 1), in_box, 12))
  expect_identical(which(is.na(run$reward)), c(10L, 12L))
  late <- bandit_problem(x, sin(x), delay = function(n, x) 3, constraints = cos(x))
  run <- as.data.frame(run_bandit(baseline_constrained("ckb", x, kernel_se(0.5), 0.01, step = 1, bound = 1), late, 8))
  expect_identical(which(is.na(run$reward)), 6:8)
  # A bad delay stops the round, and the bandit has not played it.
  wrong <- bandit_problem(x, sin(x), delay = function(n, x) -1)
  bandit <- gp_ucb(x, kernel_se(0.5), 0.01)
  caught <- expect_error(run_bandit(bandit, wrong, 5), class = "gpbandits_error")
  expect_identical(caught$argument, "delay")
  expect_identical(nrow(bandit$history()), 0L)
})

test_that("compare_bandits() follows the same rule", {
  all_lost <- bandit_problem(1:6, 1:6, delay = 3)
  runs <- as.data.frame(compare_bandits(
    list(lost = function(problem) gp_ucb_sdf(1:6, kernel_se(1), 0.01, m = 2),
         kept = function(problem) gp_ucb_sdf(1:6, kernel_se(1), 0.01, m = 3)),
    all_lost, rounds = 6, replications = 2, seed = 1
  ))
  known <- tapply(!is.na(runs$simple_regret), runs$bandit, sum)
  expect_equal(as.vector(known[c("lost", "kept")]), c(0, 2 * 3))
})

test_that("in a run over several periods regret is against each period's own optimum", {
  set.seed(702)
  f <- matrix(rnorm(3 * 8), 8)
  problem <- bandit_problem(1:8, f, noise = 0.1, change_points = c(6, 15))
  run <- as.data.frame(run_bandit(gp_bandit(1:8, kernel_se(1), 0.01, policy_uniform()), problem, 20))
  period <- rep(1:3, c(6, 9, 5))
  expect_equal(as.numeric(run$period), period)
  expect_equal(run$f, f[cbind(run$arm, period)])
  ledger <- ref_ledger(run$f, apply(f, 2, max)[period])
  expect_equal(run$regret, ledger$regret)
  expect_equal(run$cumulative_regret, ledger$cumulative_regret)
  expect_lt(max(abs(run$reward - run$f)), 0.6)
})

test_that("in a run with contexts the maximum and the regret are those of each context", {
  set.seed(703)
  x <- ref_random_inputs(6, 1)
  z <- ref_random_inputs(3, 1)
  all <- cbind(x[rep(1:6, 3), ], z[rep(1:3, each = 6), ])
  f <- function(u) sin(5 * u[, 1]) * cos(3 * u[, 2])
  K <- ref_kernel_se(c(0.3, 0.5))(all)
  visits <- sample(3, 25, TRUE)
  e <- rnorm(25, 0, 0.1)
  problem <- bandit_problem(x, f, ledger_noise(e), contexts = z[visits, , drop = FALSE])
  bandit <- function() gp_bandit(x, kernel_se(c(0.3, 0.5)), 0.01, policy_ei(), contexts = z)
  run <- as.data.frame(run_bandit(bandit(), problem, 25))
  ref <- play_with_reference(bandit(), ref_bandit(K, 0.01, ref_policy("ei"), n_arms = 6), 25,
                     function(t, point) f(all)[point] + e[t], contexts = z, visits = visits)$ref
  expect_equal(run$arm, (ref$rows - 1) %% 6 + 1)
  best <- apply(matrix(f(all), 6), 2, max)[visits]
  expect_equal(run$optimum, best)
  expect_equal(run$regret, best - f(all)[ref$rows], tolerance = tol$identity)
})
