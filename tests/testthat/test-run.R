# run_bandit(): its choices, the order in which it uses rewards, and its regret log.

run_x <- seq(0, 1, length.out = 15)
run_kernel <- kernel_se(0.2)
run_truth <- sin(5 * run_x) - 0.5 * run_x

# The expected regret log, from history and the delays that were drawn.
expected_ledger <- function(f, optimum, delay) {
  rounds <- seq_along(f)
  regret <- optimum - f
  arrival <- rounds + delay
  data.frame(regret = regret, cumulative_regret = cumsum(regret),
             simple_regret = vapply(rounds, function(t) {
               known <- arrival <= t
               if (any(known)) min(regret[known]) else NA_real_
             }, 0))
}

# The same rounds through suggest() and observe(): `draws` as problem_draws() makes them.
play_by_hand <- function(bandit, draws, truth, rounds, context = function(t) NULL) {
  waiting <- list()
  offset <- nrow(bandit$history())
  deliver <- function(now) {
    due <- vapply(waiting, function(w) w$at <= now, NA)
    for (w in waiting[due][order(vapply(waiting[due], `[[`, 0, "at"))]) bandit$observe(w$id, w$reward)
    waiting <<- waiting[!due]
  }
  for (t in seq_len(rounds)) {
    deliver(t)
    query <- bandit$suggest(context = context(t))
    reward <- truth(query, t) + draws$noise[t]
    if (draws$delay[t] == 0) bandit$observe(query$id, reward)
    else waiting[[length(waiting) + 1]] <- list(at = t + draws$delay[t], id = query$id, reward = reward)
  }
  bandit
}

run_bandits <- list(
  ucb = function() gp_ucb(run_x, run_kernel, 0.01),
  thompson = function() gp_ts(run_x, run_kernel, 0.01, B = 1, R = 0.1),
  uniform = function() gp_bandit(run_x, run_kernel, 0.01, policy_uniform(), pending = pending_hallucinate()),
  improvement = function() gp_ei(run_x, kernel_matern(1.5, 0.2), 0.01, mean = 0.2, engine = "played"),
  hallucinate = function() gp_bucb(run_x, run_kernel, 0.01),
  censor = function() gp_ucb_sdf(run_x, run_kernel, 0.01, m = 4, value = -1),
  censor_thompson = function() gp_ts_sdf(run_x, run_kernel, 0.01, m = 2, value = -1)
)

test_that("a run equals suggest() and observe() with the same seed and the same draws", {
  skip_on_cran()
  for (delay in few_of(list(NULL, function(n) rpois(n, 2), 1), 2)) for (name in names(run_bandits)) {
    problem <- bandit_problem(run_x, run_truth, noise = 0.1, delay = delay)
    bandit <- run_bandits[[name]]()
    set.seed(11)
    run <- run_bandit(bandit, problem, 25)
    set.seed(11)
    draws <- gpbandits:::problem_draws(problem, 25)
    twin <- play_by_hand(run_bandits[[name]](), draws, function(query, t) run_truth[query$arm], 25)
    expect_identical(bandit$history(), twin$history(), info = name)
    expect_equal(bandit$posterior(), twin$posterior(), tolerance = tol$replay, info = name)
    history <- bandit$history()
    expect_identical(as.data.frame(run)[names(history)], history, info = name)
  }
})

test_that("the regret log agrees with the history and the drawn delays", {
  for (delay in list(NULL, function(n) rpois(n, 3), function(n) rgeom(n, 1 / 6), 0, 1, 100)) {
    problem <- bandit_problem(run_x, run_truth, noise = function(n) runif(n, -0.3, 0.3), delay = delay)
    bandit <- gp_ucb(run_x, run_kernel, 0.03)
    set.seed(12)
    run <- as.data.frame(run_bandit(bandit, problem, 30))
    set.seed(12)
    draws <- gpbandits:::problem_draws(problem, 30)
    expect_equal(run$f, run_truth[run$arm])
    expect_equal(run$optimum, rep(max(run_truth), 30))
    ledger <- expected_ledger(run$f, max(run_truth), draws$delay)
    for (column in names(ledger)) expect_equal(run[[column]], ledger[[column]], info = column)
    arrived <- !is.na(run$reward)
    expect_equal(run$reward[arrived], (run$f + draws$noise)[arrived])
    # The last query of the run is followed by no other: rewards due later are not waited for.
    expect_identical(arrived, seq_len(30) + draws$delay <= 30)
    expect_identical(run$period, rep(1L, 30))
  }
})

test_that("if delays are longer than the run, nothing is observed and simple regret stays NA", {
  problem <- bandit_problem(run_x, run_truth, delay = 100)
  bandit <- gp_ucb(run_x, run_kernel, 0.01)
  run <- run_bandit(bandit, problem, 20)
  data <- as.data.frame(run)
  expect_true(all(is.na(data$reward)))
  expect_true(all(is.na(data$simple_regret)) && !any(is.nan(data$simple_regret)))
  expect_equal(bandit$posterior(), gp_ucb(run_x, run_kernel, 0.01)$posterior())
  expect_identical(summary(run)$pending, 20L)
  lost <- bandit_problem(run_x, run_truth, delay = function(n) rep(Inf, n))
  expect_true(all(is.na(as.data.frame(run_bandit(gp_ucb(run_x, run_kernel, 0.01), lost, 5))$reward)))
  late <- bandit_problem(run_x, run_truth, delay = function(n) c(3, rep(9, n - 1)))
  simple <- as.data.frame(run_bandit(gp_ucb(run_x, run_kernel, 0.01), late, 6))$simple_regret
  expect_identical(is.na(simple), c(TRUE, TRUE, TRUE, FALSE, FALSE, FALSE))
})

test_that("a run continues a bandit that has observations", {
  problem <- bandit_problem(run_x, run_truth, noise = 0.1, delay = function(n) rpois(n, 1))
  bandit <- gp_ucb(run_x, run_kernel, 0.01)
  bandit$add(arm = c(2, 9), reward = run_truth[c(2, 9)])
  bandit$suggest()
  twin <- bandit$copy()
  set.seed(13)
  run <- run_bandit(bandit, problem, 12)
  data <- as.data.frame(run)
  expect_identical(data$id, 4:15)
  expect_identical(bandit$history()$action, rep(c("given", "policy"), c(2, 13)))
  expect_identical(bandit$history()[1:3, ], twin$history()[1:3, ])
  set.seed(13)
  draws <- gpbandits:::problem_draws(problem, 12)
  expect_identical(play_by_hand(twin, draws, function(query, t) run_truth[query$arm], 12)$history(), bandit$history())
  # The regret log is the run's: it starts at its first round.
  ledger <- expected_ledger(data$f, max(run_truth), draws$delay)
  for (column in names(ledger)) expect_equal(data[[column]], ledger[[column]], info = column)
  again <- as.data.frame(run_bandit(bandit, problem, 5))
  expect_identical(again$id, 16:20)
  expect_equal(again$cumulative_regret[1], again$regret[1])
  # What was under way when the first run ended stays pending.
  expect_identical(which(is.na(bandit$history()$reward))[1], 3L)
})

test_that("with periods the truth, the optimum and the number of the period are correct in each round", {
  truth <- unname(cbind(run_truth, rev(run_truth), 2 - run_truth^2))
  problem <- bandit_problem(run_x, truth, change_points = c(7, 10))
  bandit <- gp_ucb(run_x, run_kernel, 0.01)
  run <- as.data.frame(run_bandit(bandit, problem, 15))
  period <- rep(1:3, c(7, 3, 5))
  expect_equal(as.integer(run$period), period)
  expect_equal(run$f, truth[cbind(run$arm, period)])
  expect_equal(run$optimum, apply(truth, 2, max)[period])
  expect_equal(run$regret, run$optimum - run$f)
  expect_equal(run$reward, run$f)
  short <- as.data.frame(run_bandit(gp_ucb(run_x, run_kernel, 0.01), problem, 7))
  expect_equal(as.integer(short$period), rep(1L, 7))
  # The same as columns or as functions of the inputs.
  functions <- bandit_problem(run_x, lapply(1:3, function(k) function(x) truth[match(x[, 1], run_x), k]), change_points = c(7, 10))
  expect_identical(as.data.frame(run_bandit(gp_ucb(run_x, run_kernel, 0.01), functions, 15)), run)
})

test_that("with contexts on arms, listed or open, a run equals calls by hand", {
  truth <- function(inputs) sin(5 * inputs[, 1]) * inputs[, 2]
  visits <- matrix(c(0.5, 1, 1, 2, 0.5), dimnames = list(NULL, "season"))
  problem <- bandit_problem(run_x, truth, noise = 0.05, contexts = visits, delay = function(n) rpois(n, 1))
  runs <- list()
  for (contexts in list(cbind(season = c(2, 0.5, 1)), "season")) {
    make <- function() gp_ucb(run_x, kernel_se(c(0.2, 1)), 0.01, contexts = contexts)
    bandit <- make()
    set.seed(14)
    run <- as.data.frame(run_bandit(bandit, problem, 12))
    set.seed(14)
    draws <- gpbandits:::problem_draws(problem, 12)
    twin <- play_by_hand(make(), draws, function(query, t) truth(cbind(query$x1, query$season)), 12,
                         context = function(t) visits[(t - 1) %% 5 + 1, ])
    expect_identical(bandit$history(), twin$history())
    expect_equal(run$season, rep(visits, length.out = 12))
    expect_equal(run$f, truth(cbind(run$x1, run$season)))
    expect_equal(run$optimum, vapply(run$season, function(z) max(truth(cbind(run_x, z))), 0))
    runs[[length(runs) + 1]] <- run
  }
  expect_equal(runs[[1]]$arm, runs[[2]]$arm)
})

test_that("on a box a run equals calls by hand, and regret is against the stated optimum", {
  branin <- benchmark_function("branin")
  problem <- bandit_problem(branin$domain, branin$f, noise = 0.1, optimum = branin$optimum)
  make <- function() gp_ucb(branin$domain, kernel_se(3, 1e3), 0.1, width = width_constant(2))
  bandit <- make()
  set.seed(15)
  run <- as.data.frame(run_bandit(bandit, problem, 6))
  set.seed(15)
  draws <- gpbandits:::problem_draws(problem, 6)
  inputs <- branin$domain$names
  twin <- play_by_hand(make(), draws, function(query, t) branin$f(as.matrix(query[inputs])), 6)
  expect_equal(bandit$history(), twin$history(), tolerance = tol$replay)
  expect_equal(run$regret, branin$optimum - branin$f(as.matrix(run[inputs])))
})

test_that("with one seed the noise does not depend on the selected points", {
  problem <- bandit_problem(run_x, run_truth, noise = 0.1)
  noise_of <- function(bandit) {
    set.seed(16)
    run <- as.data.frame(run_bandit(bandit, problem, 10))
    run$reward - run$f
  }
  noises <- lapply(run_bandits[c("ucb", "thompson", "uniform")], function(make) noise_of(make()))
  expect_equal(noises[[1]], noises[[2]])
  expect_equal(noises[[1]], noises[[3]])
  expect_gt(stats::sd(noises[[1]]), 0)
})

test_that("one round is a run, and rounds may be given as an integer", {
  problem <- bandit_problem(run_x, run_truth)
  run <- run_bandit(gp_ucb(run_x, run_kernel, 0.01), problem, 1L)
  expect_identical(nrow(as.data.frame(run)), 1L)
  expect_identical(summary(run)$rounds, run$rounds)
})

# Of `times` bandits that `live(watch)` has played, each handed to `watch`, those that are not freed.
kept_in_memory <- function(live, times = 2) {
  alive <- 0
  watch <- function(bandit) {
    alive <<- alive + 1
    reg.finalizer(as.environment(bandit), function(e) alive <<- alive - 1)
    bandit
  }
  for (k in seq_len(times)) live(watch)
  for (k in 1:2) gc()
  alive
}

test_that("a bandit is freed after a run, whatever functions of R were called", {
  box <- box_domain(0, 1)
  truth <- function(x) sin(5 * x[, 1])
  on_box <- function(policy = policy_ucb(width_constant(2)), ...) gp_bandit(box, run_kernel, 0.01, policy, ...)
  of_box <- function(...) bandit_problem(box, truth, noise = 0.1, optimum = 2, ...)
  problem <- of_box()
  lives <- list(
    truth = function(watch) run_bandit(watch(on_box()), problem, 3),
    delay = function(watch) run_bandit(watch(on_box()), of_box(delay = function(n, x) rep(1, n)), 3),
    limits = function(watch) {
      run_bandit(watch(baseline_constrained("ckb", box, run_kernel, 0.01, step = 0.1, bound = 1)),
                 of_box(constraints = function(x) cos(3 * x[, 1])), 3)
    },
    score = function(watch) run_bandit(watch(on_box(policy_function(function(mean, sd, round) mean + sd))), problem, 3),
    stop = function(watch) run_bandit(watch(on_box()), problem, 3, stop_when = function(bandit) FALSE),
    compare = function(watch) {
      compare_bandits(list(a = function(problem) watch(on_box())), function(replication) problem, 3, 1, seed = 1)
    },
    failing = function(watch) {
      fails <- FALSE
      failing <- bandit_problem(box, function(x) if (fails) stop("no truth") else x[, 1], noise = 0.1, optimum = 2)
      fails <- TRUE
      expect_error(run_bandit(watch(on_box()), failing, 3), "no truth")
    },
    search = function(watch) watch(maximize_bandit(function(x) -x[["x"]]^2, list(x = c(-1, 1)), 6)$bandit)
  )
  # (The last one may be in a register, or a cache of R's.)
  for (name in few_of(names(lives), 2)) expect_lte(kept_in_memory(lives[[name]]), 1, label = paste("bandits kept by", name))
})

test_that("print(run) is short, and summary(run) has the course of the regret", {
  x <- 1:20 / 20
  set.seed(1)
  run <- run_bandit(gp_ucb(x, kernel_se(0.2), 0.01), bandit_problem(x, sin(6 * x), noise = 0.1), 20)
  printed <- utils::capture.output(print(run))
  expect_length(printed, 2)
  expect_identical(utils::capture.output(summary(run))[1:2], printed)
  course <- summary(run)$course
  expect_equal(course$round, c(5, 10, 15, 20))
  expect_equal(course$average_regret[4], summary(run)$average_regret)
})
