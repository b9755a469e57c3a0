# Events of a query other than its reward: corrections, withdrawals, failures, separate noise variances,
# points of somebody else.

# One random run against the reference; returns the largest differences of posteriors and the events.
random_life <- function(seed, steps, pending, drift = NULL, contexts = NULL) {
  set.seed(seed)
  x <- sort(stats::runif(7))
  z <- if (is.null(contexts)) NULL else cbind(contexts)
  all <- if (is.null(z)) cbind(x) else cbind(rep(x, nrow(z)), rep(z, each = 7))
  K <- ref_kernel_matern(2.5, 0.4)(all)
  b <- gp_bandit(x, kernel_matern(2.5, 0.4), 0.05, policy_ucb(width_sdf(width_constant(1))), mean = 0.3,
                 pending = pending$core, changes = drift$core, contexts = z)
  ref <- ref_bandit(K, 0.05, ref_policy("ucb", ref_width_sdf(ref_width_constant(1))), mean = 0.3, n_arms = 7,
                    pending = pending$ref, drift = if (is.null(drift)) ref_drift() else drift$ref)
  worst <- list(mean = 0, sd = 0)
  happened <- character()
  for (step in seq_len(steps)) {
    h <- b$history()
    open <- h$id[h$status == "pending"]
    known <- h$id[h$status == "observed"]
    failed <- h$id[h$status == "failed"]
    event <- sample(c("suggest", "suggest", "observe", "observe", "own", "amend", "withdraw", "fail", "late", "add", "other"), 1)
    pick <- function(ids) if (length(ids)) ids[sample.int(length(ids), 1)]
    number <- if (is.null(z)) 1 else sample(nrow(z), 1)
    context <- if (!is.null(z)) z[number, ]
    y <- stats::rnorm(1)
    if (event == "suggest") ref <- suggest_with_reference(b, ref, context, number)
    if (event %in% c("observe", "own") && !is.null(id <- pick(open))) {
      noise <- if (event == "own") stats::rexp(1, 20) else NULL
      b$observe(id, y, noise_var = noise)
      ref <- ref_observe(ref, id, y, noise = if (is.null(noise)) NA else noise)
    }
    if (event == "late" && !is.null(id <- pick(failed))) {
      b$observe(id, y)
      ref <- ref_observe(ref, id, y)
    }
    if (event == "amend" && !is.null(id <- pick(known))) {
      b$amend(id, y)
      ref <- ref_amend(ref, id, y)
    }
    if (event %in% c("withdraw", "fail") && !is.null(id <- pick(open))) {
      if (event == "fail") b$fail(id) else b$withdraw(id)
      ref <- ref_withdraw(ref, id)
    }
    if (event %in% c("add", "other")) {
      arm <- sample.int(7, 1)
      if (event == "add") b$add(arm = arm, reward = y, context = context) else b$add(arm = arm, context = context)
      ref <- ref_add(ref, (number - 1) * 7 + arm, if (event == "add") y else NA)
    }
    happened <- c(happened, event)
    worst <- posterior_gaps(worst, b, ref, context, number)
  }
  again <- unserialize(serialize(b, NULL))
  worst <- posterior_gaps(worst, again, ref, context, number)
  expect_identical(again$history(), b$history())
  worst
}

lives <- by_level(3, 40, quick = 1)

test_that("random corrections, withdrawals and noise variances of single rewards agree with the reference", {
  skip_on_cran()
  pendings <- paired_pendings()
  for (pending in pendings) for (drift in paired_drifts()) for (seed in seq_len(lives)) {
    worst <- random_life(300 + seed, by_level(40, 40, quick = 20), pending, drift)
    expect_lt(worst$mean, tol$engine)
    expect_lt(worst$sd, tol$engine)
  }
  worst <- random_life(1, 60, pendings[[2]], contexts = c(0.1, 0.9))
  expect_lt(max(unlist(worst)), tol$engine)
})

test_that("on a box they agree with a fit from scratch", {
  for (seed in seq_len(lives)) {
    set.seed(400 + seed)
    b <- gp_bandit(box_domain(c(0, 0), c(1, 1)), kernel_se(0.4), 0.05, policy_ucb(width_constant(2)),
                   pending = pending_hallucinate())
    b$suggest(6)
    b$add(x = matrix(stats::runif(4), 2), reward = c(1, -1), noise_var = c(0.2, 0.001))
    b$add(x = matrix(stats::runif(2), 1))
    b$observe(c(1, 3, 4), c(0.3, -0.2, 0.9), noise_var = c(0.01, NA, 0.5))
    b$withdraw(2)
    b$fail(5)
    b$amend(3, 0.7)
    h <- b$history()
    expect_equal(h$status, c("observed", "withdrawn", "observed", "observed", "failed", "pending", "observed", "observed", "pending"))
    x <- as.matrix(h[c("x1", "x2")])
    noise <- c(0.01, NA, 0.05, 0.5, NA, 0.05, 0.2, 0.001, 0.05)
    known <- h$status == "observed"
    all <- known | h$status == "pending"
    k <- ref_kernel_se(0.4)
    grid <- matrix(stats::runif(20), 10)
    by_hand <- function(which, y) ref_posterior(k(x[which, ], x[which, ]), k(grid, x[which, ]), k(grid, grid), y, noise[which])
    core <- b$posterior(x = grid)
    expect_equal(core$mean, by_hand(known, h$reward[known])$mean, tolerance = tol$engine)
    expect_equal(core$sd, by_hand(all, numeric(sum(all)))$sd, tolerance = tol$engine)
  }
})

test_that("replicates with separate noise variances are merged by precision, as in the worked example", {
  x <- c(0, .25, .5, .75, 1)
  one <- gp_bandit(x, kernel_se(0.3), 0.01, policy_mean())
  one$add(arm = c(1, 3, 5), reward = c(.2, 2.9 / 3, -.3), noise_var = c(.01, .04 / 3, .01))
  two <- gp_bandit(x, kernel_se(0.3), 0.01, policy_mean())
  two$add(arm = c(1, 3, 3, 5), reward = c(.2, 1.1, .7, -.3), noise_var = c(.01, .02, .04, .01))
  expect_equal(one$posterior(), two$posterior(), tolerance = 1e-9)
  three <- gp_bandit(x, kernel_se(0.3), 0.01, policy_mean())
  three$add(arm = c(1, 3, 5), reward = c(.2, 1, -.3), noise_var = c(.01, .04, .01))
  expect_equal(three$posterior()$mean, c(.200755, .710732, .955324, .381396, -.294275), tolerance = 1e-5)
  expect_equal(2 * three$information_gain(), 12.362833, tolerance = 1e-6)
})

test_that("a data.frame of ids and rewards works; the same value again changes nothing, another is an error", {
  b <- gp_ucb(seq(0, 1, length.out = 9), kernel_se(0.3), 0.01)
  q <- b$suggest(3)
  q$reward <- c(1, 2, 3)
  b$observe(q[2:1, ])
  expect_equal(b$history()$reward, c(1, 2, NA))
  before <- b$history()
  b$observe(1, 1)
  b$observe(q[1:2, ])
  expect_identical(b$history(), before)
  expect_error(b$observe(1, 5), "amend", class = "gpbandits_error")
  expect_error(b$observe(q[c("id", "arm")]), "reward", class = "gpbandits_error")
  b$observe(c(1, 3), c(1, 4))
  expect_equal(b$history()$reward, c(1, 2, 4))
  b$amend(3, 3)
  expect_equal(b$history()$reward, c(1, 2, 3))
})

test_that("a failed query may be observed later, in memory, journals, files and stores", {
  x <- seq(0, 1, length.out = 9)
  late <- function(bandit) {
    q <- bandit$suggest(2)
    bandit$fail(q$id)
    expect_identical(bandit$history()$status, c("failed", "failed"))
    bandit$observe(q$id[1], 0.7)
    bandit
  }
  expect_late <- function(b, reference) {
    expect_identical(b$history()$status, c("observed", "failed"))
    expect_identical(b$history()$reward, c(0.7, NA))
    expect_equal(b$posterior(), reference$posterior(), tolerance = 1e-10)
    expect_equal(b$information_gain(), reference$information_gain(), tolerance = 1e-10)
  }
  make <- function(...) gp_ucb(x, kernel_se(0.3), 0.01, pending = pending_hallucinate(), ...)
  b <- late(make())
  known <- make()
  known$add(arm = b$history()$arm[1], reward = 0.7)
  expect_late(b, known)
  expect_late(unserialize(serialize(b, NULL)), known)
  path <- tempfile()
  late(make(journal = path))
  expect_late(open_bandit(path), known)
  if (requireNamespace("RSQLite", quietly = TRUE)) {
    store <- bandit_store(tempfile(fileext = ".db"), "late", seed = 1)
    late(make(store = store))
    expect_late(open_bandit(store), known)
  }
  # If failures are avoided it replaces the worst reward.
  for (avoiding in list(late(make(failures = "avoid")), late(make(failures = "avoid", journal = tempfile())))) {
    known <- make()
    known$add(arm = avoiding$history()$arm, reward = c(0.7, 0.7))
    expect_late(avoiding, known)
    avoiding$observe(2, -0.4)
    known$amend(2, -0.4)
    expect_equal(avoiding$posterior(), known$posterior(), tolerance = 1e-10)
    avoiding$suggest()
    avoiding$fail(3)
    known$add(arm = avoiding$history()$arm[3], reward = -0.4)
    expect_equal(avoiding$posterior(), known$posterior(), tolerance = 1e-10)
    expect_equal(avoiding$copy()$posterior(), known$posterior(), tolerance = 1e-10)
  }
  # It can be amended like all others, but not fail again; withdrawn queries stay withdrawn.
  b$amend(1, 0.8)
  expect_error(b$fail(1), "observed", class = "gpbandits_error")
  b$suggest()
  b$withdraw(3)
  expect_error(b$observe(3, 1), "withdrawn", class = "gpbandits_error")
  rule <- gp_ei(x, kernel_se(0.3), 0.01, cost = "learned")
  q <- rule$suggest()
  rule$fail(q$id)
  rule$observe(q$id, 0.7, constraints = 2)
  reported <- gp_ei(x, kernel_se(0.3), 0.01, cost = "learned")
  reported$add(arm = q$arm, reward = 0.7, constraints = 2)
  expect_equal(rule$posterior(), reported$posterior(), tolerance = 1e-10)
  expect_equal(unserialize(serialize(rule, NULL))$posterior(), reported$posterior(), tolerance = 1e-10)
})

test_that("inputs and contexts next to a reward must be those of its query", {
  x <- data.frame(dose = c(0.1, 0.5, 0.9), row.names = c("low", "mid", "high"))
  b <- gp_ucb(x, kernel_se(0.3), 0.01, contexts = cbind(age = 0:1), pending = pending_hallucinate())
  q <- b$suggest(2, context = c(age = 1))
  reported <- cbind(q, reward = 1:2, note = "fine")
  refused <- function(name, value, bandit = b, frame = reported) {
    frame[[name]][2] <- value
    before <- bandit$history()
    expect_error(bandit$observe(frame), paste0("`id` .*", name), class = "gpbandits_error")
    expect_identical(bandit$history(), before)
  }
  refused("dose", setdiff(x$dose, reported$dose)[1])
  refused("age", 0)
  refused("arm", setdiff(1:3, reported$arm)[1])
  refused("label", setdiff(rownames(x), reported$label)[1])
  refused("dose", "much")
  expect_error(b$observe(cbind(reported[c("id", "reward")], dose = I(list(1, 2)))), "dose", class = "gpbandits_error")
  # What is not said is no contradiction, nor is what rounding makes of a number.
  reported$dose[1] <- NA
  reported$dose[2] <- reported$dose[2] * (1 + 1e-12)
  reported$arm <- NULL
  b$observe(reported)
  expect_equal(b$history()$reward, c(1, 2))
})

test_that("the same holds on search spaces, in open contexts, and for algorithms in R", {
  s <- search_space(x = c(0, 1), rate = param_real(1e-5, 1, log = TRUE), k = param_factor(c("a", "b")),
                    n = param_integer(1, 5), p = param_logical(), z = param_real(0, 1, when = ~p))
  b <- gp_ucb(s, kernel_se(0.3), 0.01, width = width_constant(2), pending = pending_hallucinate(), contexts = "age")
  set.seed(1)
  b$add(user_inputs(s, sample_points(s, 6)), context = 40)
  reported <- cbind(b$history()[c("id", s$names, "age")], reward = 1:6)
  expect_true(any(reported$p) && !all(reported$p) && !reported$p[2])
  # (Numbers further away than hands round them.)
  rate <- reported$rate[2]
  other <- list(x = if (reported$x[2] > 0.5) 0.111 else 0.888, rate = if (rate > 1e-3) rate / 30 else rate * 30,
                k = setdiff(c("a", "b"), reported$k[2]), n = reported$n[2] %% 5 + 1,
                p = !reported$p[2], z = 0.123, age = 41)
  for (name in names(other)) {
    wrong <- reported
    wrong[[name]][2] <- other[[name]]
    expect_error(b$observe(wrong), paste0("`id` .*", name), class = "gpbandits_error")
  }
  path <- tempfile()
  utils::write.csv(reported, path, row.names = FALSE)
  b$observe(utils::read.csv(path))
  expect_equal(b$history()$reward, 1:6)
  rule <- gp_ei(seq(0, 1, length.out = 5), kernel_se(0.3), 0.01, cost = "learned")
  q <- rule$suggest()
  expect_error(rule$observe(data.frame(id = q$id, x1 = q$x1 + 0.3, reward = 1, g1 = 1)), "x1", class = "gpbandits_error")
})

test_that("invalid amendments, withdrawals and rewards are errors that change nothing", {
  b <- gp_ucb(seq(0, 1, length.out = 9), kernel_se(0.3), 0.01)
  b$suggest(3)
  b$observe(1, 1)
  b$withdraw(2)
  before <- list(b$history(), b$posterior())
  refused <- function(code) expect_error(code, class = "gpbandits_error")
  refused(b$amend(3, 1))
  refused(b$amend(2, 1))
  refused(b$amend(9, 1))
  refused(b$amend(1, NA))
  refused(b$withdraw(1))
  refused(b$fail(2))
  refused(b$observe(2, 1))
  refused(b$observe(3, 1, noise_var = 0))
  refused(b$observe(3, 1, noise_var = c(1, 2)))
  refused(b$add(arm = 1, reward = 1, noise_var = -1))
  refused(b$add(arm = 1, reward = NULL))
  refused(b$withdraw("a"))
  expect_identical(list(b$history(), b$posterior()), before)
  b$withdraw(2)
  expect_identical(b$history(), before[[1]])
})

test_that("journals contain corrections, withdrawals and noise variances", {
  file <- tempfile()
  b <- gp_ucb(seq(0, 1, length.out = 9), kernel_se(0.3), 0.01, pending = pending_censor(1, 0), journal = file)
  b$suggest(5)
  b$observe(c(1, 5), c(1, 2), noise_var = c(NA, 0.3))
  b$amend(5, 2.5)
  b$withdraw(2)
  b$fail(3)
  b$add(arm = 4)
  again <- open_bandit(file)
  expect_identical(again$history(), b$history())
  expect_identical(again$posterior(), b$posterior())
  expect_equal(b$history()$status, c("lost", "withdrawn", "failed", "pending", "observed", "pending"))
})

# ---- several measurements of one query -------------------------------------------------

test_that("replicates of a query have the effect of single measurements, on every engine", {
  x <- seq(0, 1, length.out = 11)
  makers <- list(
    weights = function() gp_ucb(x, kernel_se(0.3, 4), 4, mean = 60, engine = "weights"),
    played = function() gp_bandit(x, kernel_se(0.3, 4), 4, policy_ucb(width_constant(2)), mean = 60, engine = "played"),
    box = function() gp_bandit(box_domain(0, 1), kernel_se(0.3, 4), 4, policy_ucb(width_constant(2)), mean = 60),
    lowrank = function() gp_bandit(box_domain(0, 1), kernel_se(0.3, 4), 4, policy_ucb(width_constant(2)), mean = 60,
                                   engine = "lowrank")
  )
  for (name in names(makers)) {
    b <- makers[[name]]()
    one_by_one <- makers[[name]]()
    set.seed(3)
    b$add(x = 0.2, reward = 58)
    q <- b$suggest()
    b$observe(q$id, c(60, 62))
    one_by_one$add(x = 0.2, reward = 58)
    one_by_one$add(x = rbind(q$x1, q$x1), reward = c(60, 62))
    expect_equal(b$posterior(x = x), one_by_one$posterior(x = x), tolerance = 1e-6, info = name)
    expect_identical(b$history()$reward[2], 61)
    b$observe(2, c(60, 62))                                   # again: nothing
    expect_error(b$observe(2, 61), "already has the result 61", class = "gpbandits_error")
    b$amend(2, c(60, 62, 64))
    one_by_one$add(x = q$x1, reward = 64)
    expect_equal(b$posterior(x = x), one_by_one$posterior(x = x), tolerance = 1e-6, info = name)
    expect_identical(from_json(as_json(b))$posterior(x = x), b$copy()$posterior(x = x), info = name)
    b$amend(2, 61)
    single <- makers[[name]]()
    single$add(x = rbind(0.2, q$x1), reward = c(58, 61))
    expect_equal(b$posterior(x = x), single$posterior(x = x), tolerance = 1e-6, info = name)
  }
})

test_that("replicates are in journals and refits, and widths and checks use their noise variances", {
  x <- seq(0, 1, length.out = 11)
  file <- tempfile()
  made <- function(...) {
    gp_bandit(x, kernel_se(0.3, 4), 1, policy_ucb(width_amm(1, 1, 0.1)), refit = refit_every(4, minimum = 3), ...)
  }
  b <- made(journal = file)
  single <- made()
  set.seed(5)
  for (t in 1:4) {
    y <- rnorm(3, sin(t))
    at <- b$suggest()
    b$observe(at$id, y)
    single$add(arm = rep(at$arm, 3), reward = y)
  }
  known <- gpbandits:::cpp_bandit_known(as.environment(b)$handle, 1L)
  expect_identical(known$size, rep(3, 4))
  b$suggest()
  single$suggest()
  fit <- as.environment(b)$refits[[1]]
  expect_equal(fit$noise_var, as.environment(single)$refits[[1]]$noise_var, tolerance = 1e-4)
  expect_identical(open_bandit(file)$posterior(), b$copy()$posterior())
  expect_s3_class(check_model(b$observe(5, c(1, 2))), "bandit_check")
  b$suggest()
  expect_error(b$observe(6, c(1, NA)), "reward", class = "gpbandits_error")
  expect_error(baseline_constrained("ckb", 1:3, kernel_se(1), 1, count = 1)$observe(1, c(1, 2)), class = "gpbandits_error")
})

test_that("one query or reward per call of the core gives the same state as the general code", {
  x <- seq(0, 1, length.out = 12)
  named <- data.frame(name = letters[1:12], x = x, y = rev(x)^2)
  makes <- list(
    arms = function() gp_ucb(x, kernel_se(0.2), 0.01),
    labels = function() gp_ts(finite_domain(named), kernel_matern(2.5, 0.3), 0.01, B = 1, R = 0.1),
    box = function() gp_ucb(box_domain(c(0, 0), c(1, 1)), kernel_se(0.3), 0.01, width = width_constant(2)),
    changes = function() gp_bandit(x, kernel_se(0.2), 0.01, policy_ucb(width_constant(2)), changes = change_oracle(every = 3)),
    pending = function() gp_bucb(x, kernel_se(0.2), 0.01),
    context = function() gp_ucb(finite_domain(named), kernel_se(0.4), 0.01, width = width_constant(1), contexts = c("z", "w")),
    table = function() gp_ucb(x, kernel_se(0.4), 0.01, contexts = data.frame(z = c(0, 1))),
    successes = function() gp_bandit(x, kernel_se(0.2), policy = policy_ts(1), rewards = rewards_binary()),
    failures = function() gp_bandit(x, kernel_se(0.2), policy = policy_ucb(width_constant(2)),
                                    rewards = rewards_binary("probit", direction = "minimize"))
  )
  here <- list(context = function(t) c(sin(t), cos(t)), table = function(t) t %% 2)
  for (name in names(makes)) {
    lives <- lapply(c(quick = TRUE, long = FALSE), function(quick) {
      set.seed(3)
      b <- makes[[name]]()
      shown <- lapply(1:9, function(t) {
        # (All arms are given as the eligible ones, and R checks a table with a column of $history().)
        z <- if (!is.null(here[[name]])) here[[name]](t)
        q <- if (quick || name == "box") b$suggest(context = z) else b$suggest(context = z, arms = 1:12)
        reward <- if (name %in% c("successes", "failures")) as.double(sin(3 * t) > 0) else sin(3 * t)
        if (t == 4) return(q)
        if (quick) b$observe(q$id, reward) else b$observe(data.frame(id = q$id, reward, status = "pending"))
        q
      })
      b$observe(4L, 1L)
      inside <- as.environment(b)
      list(shown = shown, history = b$history(), random = if (exists(".Random.seed", globalenv())) .Random.seed,
           queries = log_columns(inside, "queries"), events = log_columns(inside),
           saved = length(serialize(b, NULL)), again = unserialize(serialize(b, NULL))$history())
    })
    expect_identical(lives$quick, lives$long, label = name)
    expect_identical(lives$quick$again, lives$quick$history)
  }
})

test_that("a table of outcomes and constraints is recorded by one call of the core, as by the general code", {
  box <- list(x = c(0, 1), z = c(0, 1))
  k <- kernel_se(0.3)
  two <- list(yield = to_maximize(), dust = at_most(0.5))
  broken <- list(yield = to_maximize(), dust = at_most(0.5, rewards = rewards_binary()))
  makes <- list(
    outcomes = function() gp_ei(box, k, noise_var = 0.01, outcomes = two),
    arms = function() gp_ei(data.frame(name = letters[1:5], x = 1:5), k, noise_var = 0.01, outcomes = two),
    response = function() gp_ei(box, k, noise_var = 0.01, outcomes = broken),
    named = function() gp_ei(box, k, noise_var = 0.01, outcomes = two[1]),
    constraints = function() gp_ucb(box, k, 0.01, width = width_constant(2), constraints = constraints_noiseless(2, 4))
  )
  values <- function(q, name) {
    out <- switch(name, named = , constraints = list(reward = q$x), list(yield = q$x, dust = as.double(q$x > 0.4)))
    if (name == "named") names(out) <- "yield"
    if (name == "constraints") out[c("g1", "g2")] <- list(q$x - 0.5, 0.1 * q$x)
    as.data.frame(out)
  }
  log_of <- function(b) lapply(mget(c("queries", "events"), envir = as.environment(b)), gpbandits:::table_columns)
  for (name in names(makes)) {
    makes_log <- function(report) {
      set.seed(2)
      b <- makes[[name]]()
      for (t in 1:4) {
        q <- suppressWarnings(b$suggest(2))
        report(b, q, values(q, name))
      }
      if (!name %in% c("named", "constraints")) report(b, b$suggest(), data.frame(yield = 0.3, dust = NA_real_))
      log_of(b)
    }
    general <- makes_log(function(b, q, y) b$observe(cbind(q, y, status = "pending")))
    by_table <- function(b, q, y) {
      reply <- gpbandits:::cpp_bandit_observe(b, cbind(q, y), NULL, NULL, NULL, NULL, 3)
      expect_identical(reply$status, "done", label = name)
    }
    if (name != "named") expect_identical(makes_log(by_table), general, label = name)
    expect_identical(makes_log(function(b, q, y) b$observe(cbind(q[1:2], y))), general, label = name)
    by_id <- function(b, q, y) {
      if (name == "constraints") return(b$observe(q$id, y$reward, constraints = as.matrix(y[2:3])))
      b$observe(q$id[1], unlist(y[1, , drop = FALSE]))
      if (nrow(q) > 1) b$observe(q$id[-1], as.list(y[-1, , drop = FALSE]))
    }
    expect_identical(makes_log(by_id), general, label = name)
  }
})

test_that("a table that the core cannot record as it is changes nothing there", {
  b <- gp_ei(list(x = c(0, 1)), kernel_se(0.3), noise_var = 0.01, pending = pending_hallucinate(),
             outcomes = list(yield = to_maximize(), dust = at_most(0.5)))
  q <- b$suggest(2)
  good <- cbind(q, yield = c(1, 2), dust = 0)
  bad <- list(good[2:1, ], good[c(1, 1), ], good["x"], good[c("id", "x")], cbind(good, note = "a"), within(good, x <- x + 1),
              within(good, yield[2] <- Inf), within(good, yield <- TRUE), within(good, id <- id + 1),
              within(good, rm(id)), within(good, id <- NA_real_), as.list(good), good[0, ], cbind(good, yield = 1))
  for (one in bad) {
    reply <- gpbandits:::cpp_bandit_observe(b, one, NULL, NULL, NULL, NULL, 3)
    expect_identical(reply$status, "open")
  }
  expect_identical(b$history()$status, rep("pending", 2))
  for (one in list(c(yield = 1, mist = 2), c(1, 2), list(yield = 1:2), c(yield = NA_real_))) {
    expect_identical(gpbandits:::cpp_bandit_observe(b, 1, one, NULL, NULL, NULL, 3)$status, "open")
  }
  b$observe(good)
  expect_identical(gpbandits:::cpp_bandit_observe(b, good, NULL, NULL, NULL, NULL, 3)$status, "open")
  expect_no_error(b$observe(good))
})

test_that("rewards with noise variances, and rounds with a failure, have the same effect in a table", {
  x <- seq(0, 1, length.out = 12)
  lives <- lapply(c(TRUE, FALSE), function(quick) {
    set.seed(4)
    b <- gp_ucb(x, kernel_se(0.2), 0.01)
    for (t in 1:6) b$suggest()
    b$fail(2)
    record <- function(id, reward, noise_var) {
      if (quick) b$observe(id, reward, noise_var = noise_var)
      else b$observe(data.frame(id = id, reward = reward, noise_var = noise_var))
    }
    record(3, 0.4, 0.02)
    record(c(1, 2, 5), c(0.1, -0.3, 0.2), c(0.5, NA, 0.001))
    list(history = b$history(), next_one = b$suggest(3), events = log_columns(b))
  })
  expect_identical(lives[[1]], lives[[2]])
  expect_identical(lives[[1]]$history$noise_var, c(0.5, NA, 0.02, NA, 0.001, NA))
  b <- gp_ucb(x, kernel_se(0.2), 0.01)
  for (t in 1:3) b$suggest()
  before <- b$history()
  for (bad in list(0, -1, Inf, "a", numeric(), c(1, 2), list(1), TRUE)) {
    expect_error(b$observe(1, 0.5, noise_var = bad), "noise_var", class = "gpbandits_error")
  }
  for (bad in list(c(1, 2), c(0.1, -1, 0.1))) {
    expect_error(b$observe(1:3, c(0.5, 0, 1), noise_var = bad), "noise_var", class = "gpbandits_error")
  }
  expect_error(b$observe(1, 0.5, constraints = 1), "constraints", class = "gpbandits_error")
  expect_error(b$observe(1, 0.5, time = "now"), "time", class = "gpbandits_error")
  expect_error(b$observe(1, 0.5, noize_var = 1), "noize_var", class = "gpbandits_error")
  expect_identical(b$history(), before)
  b$observe(3:1, c(0.5, 0, 1), noise_var = 0.1)
  expect_identical(b$history()$reward, c(1, 0, 0.5))
  expect_identical(b$history()$noise_var, rep(0.1, 3))
})

test_that("the only outcome of a bandit has a name, and values of other outcomes are errors", {
  b <- gp_ei(seq(0, 1, length.out = 5), kernel_se(0.2), 0.01, outcomes = list(yield = to_maximize()))
  b$suggest(2)
  expect_error(b$observe(1, c(impurity = 0.5)), "impurity", class = "gpbandits_error")
  b$observe(1, c(yield = 0.5))
  b$observe(2, 0.25)
  expect_identical(b$history()$yield, c(0.5, 0.25))
})

test_that("the core's view of the queries equals R's", {
  named <- data.frame(name = letters[1:6], x = 1:6 / 6, y = (6:1 / 6)^2)
  makes <- list(
    gp_ucb(1:5 / 5, kernel_se(0.2), 0.01), gp_ucb(finite_domain(named), kernel_se(0.3), 0.01),
    gp_ei(list(u = c(0, 1), v = c(-1, 1)), kernel_se(0.3), 0.01),
    gp_ei(list(u = c(0, 1)), kernel_se(0.3), 0.01, contexts = c("z", "w")),
    gp_ucb(finite_domain(named), kernel_se(0.4), 0.01, contexts = data.frame(z = c(0, 1))),
    gp_ucb(1:5 / 5, kernel_se(0.4), 0.01, width = width_constant(1), contexts = "z")
  )
  for (b in makes) {
    names <- as.environment(b)$config$context_names
    for (t in 1:4) b$suggest(context = if (length(names)) rep(t %% 2, length(names)))
    inside <- as.environment(b)
    ids <- c(4L, 1L)
    in_r <- gpbandits:::point_frame(inside, inside$queries$arm[ids], inside$queries$context[ids],
                                    gpbandits:::cpp_logged_inputs(inside$queries, ids))
    shown <- gpbandits:::cpp_query_frame(inside, ids)
    expect_identical(shown[-1], in_r)
    expect_identical(shown$id, ids)
    expect_identical(nrow(gpbandits:::cpp_query_frame(inside, integer())), 0L)
  }
  for (domain in list(list(u = param_real(1e-3, 1, log = TRUE)), list(k = param_integer(1, 5)))) {
    other <- gp_ei(do.call(search_space, domain), kernel_matern(2.5, 1), 0.01)
    other$suggest()
    expect_null(gpbandits:::cpp_query_frame(as.environment(other), 1L))
  }
})

test_that("in such single calls, too, invalid values are errors, and a failing custom function is named", {
  b <- gp_ucb(1:5, kernel_se(1), 0.01)
  b$suggest()
  b$suggest()
  before <- b$history()
  for (bad in list(list(3, 1), list(0, 1), list(1.5, 1), list(1, NA_real_), list(1, "a"), list(1, Inf), list("1", 1), list(c(1, 1), c(1, 2)))) {
    expect_error(b$observe(bad[[1]], bad[[2]]), class = "gpbandits_error")
    expect_identical(b$history(), before)
  }
  expect_warning(b$observe(1, 50), class = "gpbandits_far")
  b$observe(2, 0.5)
  expect_error(b$observe(2, 0.6), "already has the result", class = "gpbandits_error")
  open <- gp_ucb(1:5, kernel_se(1), 0.01, width = width_constant(1), contexts = "z")
  for (k in 1:2) open$suggest(context = 0.5)
  for (bad in list(NULL, NA_real_, Inf, c(1, 2), "a")) expect_error(open$suggest(context = bad), "context", class = "gpbandits_error")
  expect_error(b$suggest(context = 1), "no contexts", class = "gpbandits_error")
  expect_identical(names(open$suggest(context = c(z = 1))), names(open$suggest(context = 1)))
  expect_identical(open$history()$z, c(0.5, 0.5, 1, 1))
  # A missing integer is no number, also where a model is fitted and nothing is far from the prior mean.
  fitted <- gp_bandit(1:5, kernel_se(1), 0.01, policy_ucb(width_constant(1)), refit = refit_every(10))
  fitted$suggest()
  expect_error(fitted$observe(1, NA_integer_), "reward", class = "gpbandits_error")
  expect_error(fitted$observe(NA_integer_, 1), "id", class = "gpbandits_error")
  successes <- gp_bandit(1:5, kernel_se(1), policy = policy_ts(1), rewards = rewards_binary())
  successes$suggest()
  for (bad in list(2, 0.5, -1, NA, NA_integer_)) expect_error(successes$observe(1, bad), "reward", class = "gpbandits_error")
  expect_error(successes$observe(1, 1, noise_var = 0.1), "noise", class = "gpbandits_error")
  again <- gp_bandit(1:5, kernel_se(1), 0.01, policy_ucb(width_function(function(t) if (t > 2) stop("no") else 1)))
  again$suggest()
  again$suggest()
  for (k in 1:2) expect_error(again$suggest(), "no", class = "gpbandits_error")
  expect_identical(nrow(again$history()), 2L)
})

# (Races over folds do this.)
test_that("an amendment can set a noise variance or restore the bandit's, and otherwise keeps it", {
  at <- matrix(c(0.1, 0.5, 0.9))
  reported <- function(noise_var, ...) {
    b <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ei())
    b$add(0.2, reward = 1, noise_var = noise_var)
    b$add(0.7, reward = 2)
    for (noise in c(...)) record(as.environment(b), "amend", 1, 0.5, beside = observation_extras(1, noise_var = noise))
    b$amend(1, 0.4)
    expect_equal(b$copy()$posterior(at), b$posterior(at), tolerance = tol$replay)
    b$posterior(at)
  }
  plain <- function(noise_var) {
    b <- gp_bandit(box_domain(0, 1), kernel_se(0.3), 0.01, policy_ei())
    b$add(0.2, reward = 0.4, noise_var = noise_var)
    b$add(0.7, reward = 2)
    b$posterior(at)
  }
  expect_equal(reported(NA_real_, 3), plain(3))
  expect_equal(reported(2, 3), plain(3))
  expect_equal(reported(2, NA_real_), plain(2))
  expect_equal(reported(2, 0), plain(NA_real_))
  expect_equal(reported(NA_real_, 3, 0, 0.5), plain(0.5))
  expect_error(reported(NA_real_, -1), class = "gpbandits_error")
})

test_that("reasons of withdrawn and failed queries are kept, in every form of a bandit", {
  file <- tempfile()
  x <- seq(0, 1, length.out = 9)
  makers <- list(
    plain = function(...) gp_ucb(x, kernel_se(0.2), 0.01, ...),
    outcomes = function(...) gp_ei(x, kernel_se(0.2), 0.01, outcomes = list(a = to_maximize(), b = at_most(1)), ...),
    bandit = function(...) baseline_constrained("ckb", x, kernel_se(0.2), 0.01, step = 0.5, bound = 3, ...))
  for (make in makers) {
    unlink(file)
    bandit <- make(journal = file)
    for (k in 1:5) bandit$suggest()
    expect_null(bandit$history()$reason)                        # a column only where there is any
    bandit$fail(2, reason = "a; \"b\"\n\u00e9")
    bandit$withdraw(c(1, 4), reason = "unwanted")
    bandit$fail(3)
    history <- bandit$history()
    expect_identical(history$reason, c("unwanted", "a; \"b\"\n\u00e9", NA, "unwanted", NA))
    saveRDS(bandit, rds <- tempfile())
    forms <- list(copy = bandit$copy(), rds = readRDS(rds), json = from_json(as_json(bandit)), journal = open_bandit(file, rng = FALSE))
    for (form in names(forms)) expect_identical(forms[[form]]$history(), history, info = form)
    expect_error(bandit$fail(5, reason = 1), "reason", class = "gpbandits_error")
    expect_identical(bandit$history(), history)
    # A history with reasons is data.
    if (is.null(history$b) && is.null(history$g1)) expect_silent(auto_bandit(finite_domain(x), data = history))
    bandit$reset()
    bandit$suggest()
    expect_null(bandit$history()$reason)
    expect_null(open_bandit(file, rng = FALSE)$history()$reason)
  }
  # What has a result after all has no reason any more; forgotten rounds take theirs along.
  bandit <- makers$plain()
  for (k in 1:6) bandit$suggest()
  bandit$fail(1:3, reason = "rain")
  bandit$observe(c(1, 4, 5), c(1, 2, 3))
  expect_identical(bandit$history()$reason, c(NA, "rain", "rain", NA, NA, NA))
  bandit$compact(keep = 4)
  expect_identical(bandit$history()$reason, c("rain", NA, NA, NA))
  expect_identical(bandit$copy()$history(), bandit$history())
  # Text that is no reason is damage.
  bandit$reasons <- c("99" = "what is not there")
  expect_error(bandit$copy()$history(), "damaged", class = "gpbandits_error")
})

test_that("replicates of one query are recorded by mean, number and spread, however they are given", {
  make <- function() {
    set.seed(1)
    auto_bandit(list(x = c(0, 1)))
  }
  y <- c(1, 1.2, 0.9)
  b <- make()
  b$observe(b$suggest(2)$id[1], y)
  seen <- b$history()
  expect_equal(unlist(seen[1, c("reward", "size", "spread")], use.names = FALSE), c(mean(y), 3, sum((y - mean(y))^2)))
  rows <- make()
  q <- rows$suggest(2)
  rows$observe(data.frame(id = q$id[c(1, 1, 1)], x = q$x[1], reward = y, note = c("a", "b", "a")))
  expect_identical(rows$history()[names(seen)], seen)
  expect_identical(rows$history()$note[1], "a; b")
  rows$observe(data.frame(id = q$id[c(1, 1, 1)], reward = y))      # the same again
  said <- make()
  said$observe(said$suggest(2)$id[1], mean(y), size = 3, sd = sd(y))
  expect_equal(said$history()[names(seen)], seen)
  added <- make()
  added$add(data.frame(x = q$x[1]), reward = mean(y), size = 3, sd = sd(y))
  expect_equal(added$history()[c("reward", "size", "spread")], seen[1, c("reward", "size", "spread")])
  added$add(data.frame(x = q$x[1]), reward = y)
  measured <- as.matrix(added$history()[c("reward", "size", "spread")])
  expect_equal(measured[2, ], measured[1, ])
  expect_error(added$add(data.frame(x = c(0.1, 0.2)), reward = y), class = "gpbandits_error")
  # The posterior mean there is near theirs.
  b$observe(2, 0)
  expect_lt(abs(b$posterior(data.frame(x = q$x[1]))$mean - mean(y)), 0.2)
  # Rows with other settings belong to another query.
  expect_error(make()$observe(1, y), class = "gpbandits_error")
  other <- make()
  q <- other$suggest()
  expect_error(other$observe(data.frame(id = q$id[c(1, 1)], x = c(0.1, 0.9), reward = 1:2)), "different values of `x`",
               class = "gpbandits_error")
})

test_that("sd is the root of a noise variance, in every call", {
  make <- function() gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.1, "ucb")
  a <- make()
  b <- make()
  set.seed(1)
  id <- a$suggest()$id
  set.seed(1)
  b$suggest()
  a$observe(id, 1, sd = 0.2)
  b$observe(id, 1, noise_var = 0.2^2)
  expect_identical(a$history(), b$history())
  a$add(c(x = 0.5), reward = 2, sd = 0.3)
  b$add(c(x = 0.5), reward = 2, noise_var = 0.3^2)
  a$amend(1, 1, sd = 0.1)
  b$amend(1, 1, noise_var = 0.01)
  expect_equal(a$history(), b$history())
  expect_equal(a$history()$noise_var, c(0.01, 0.09))
  expect_identical(a$posterior(c(x = 0.2)), b$posterior(c(x = 0.2)))
  for (bad in list(0, -1, "a", c(1, 2), Inf)) expect_error(a$amend(1, 1, sd = bad), class = "gpbandits_error")
  expect_error(a$amend(1, 1, sd = 1, noise_var = 2), "square", class = "gpbandits_error")
  for (bad in list(0, 1.5, "a", 1e9)) expect_error(a$amend(1, 1, size = bad), class = "gpbandits_error")
  expect_error(gp_bandit(1:3, kernel_se(1), policy = "ucb", rewards = rewards_binary())$add(arm = 1, reward = 1, sd = 1),
               class = "gpbandits_error")
})

test_that("replicates and error bars of several outcomes", {
  set.seed(1)
  b <- auto_bandit(list(x = c(0, 1)), outcomes = list(a = to_maximize(), b = at_most(2)))
  q <- b$suggest(3)
  b$observe(data.frame(id = c(1, 1, 2), a = c(1, 3, 5), b = c(1, NA, 2)))
  b$observe(3, c(a = 4, b = 1), sd = c(a = 0.5))
  seen <- b$history()
  expect_identical(seen$a, c(2, 5, 4))
  expect_identical(seen$a_size, c(2, NA, NA))
  expect_identical(seen$a_spread, c(2, NA, NA))
  expect_identical(seen$a_noise_var, c(NA, NA, 0.25))
  b$add(data.frame(x = 0.5), reward = data.frame(a = 1, b = 1), sd = c(b = 0.1))
  expect_equal(b$history()$b_noise_var[4], 0.01)
})

test_that("a mean of readings with an unknown spread: refits find the noise by its likelihood", {
  set.seed(2)
  n <- 60
  x <- data.frame(x = seq(0, 1, length.out = n))
  means <- sin(6 * x$x) + rnorm(n, sd = 0.3 / sqrt(4))
  b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.05, "ucb", refit = refit_every(1))
  b$add(x, reward = means, size = 4)
  for (round in 1:12) {
    q <- b$suggest()
    b$withdraw(q$id)
  }
  # The noise of a reading is four times the variance that a fit of the means finds.
  of_means <- gp_fit(x, means, kernel_se(0.3), noise_var = 0.05)
  expect_equal(unname(coef(b)["noise_var"]), 4 * of_means$noise_var, tolerance = 0.15)
})

test_that("reports that cannot be used say what to call instead", {
  b <- auto_bandit(list(x = c(0, 1)))
  q <- b$suggest(2)
  says <- function(code, text) expect_error(code, text, class = "gpbandits_error", fixed = TRUE)
  says(b$observe(q$id[1], NA), "Try `$fail(id)`")
  says(b$observe(q$id[1], Inf), "Try `$fail(id)`")
  says(b$observe(q$id, 1), "one number for 2 ids")
  says(b$observe(list(x = 2), 1), "`$add(x = , reward = )`")
  says(b$observe(x = 2, reward = 1), "`$add(x = , reward = )`")
  says(b$observe(data.frame(x = 2, reward = 1)), "`$add(x = , reward = )`")
  says(auto_bandit(list(x = c(0, 1)), initial = data.frame(x = 0.1, reward = 1)), "`data`")
  says(maximize_bandit(function(p) 1, list(x = c(0, 1)), 3, initial = data.frame(x = 0.1, reward = 1)), "`data`")
  says(auto_bandit(list(x = c(-1e-300, 1e-300))), "input `x`")
  expect_identical(b$history()$status, c("pending", "pending"))
})
