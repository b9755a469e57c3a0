# Forgotten rounds: the sums of each point instead, and the same choices, wherever the log is kept.

forget_x <- seq(0, 1, length.out = 15)
forget_noise <- 0.04

forgetful_makers <- list(
  ucb = function(...) gp_ucb(forget_x, kernel_se(0.2), forget_noise, ...),
  realised = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ucb(width_realized(1, 0.2, 0.1)), ...),
  bounded = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise,
                                    policy_ucb(width_ec(width_amm(1, 0.2, 0.1, noise = "bounded"), 0.05)), ...),
  corrupt = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ucb(width_corrupt(width_amm(1, 0.2, 0.1), 0.1)), ...),
  ei = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ei(), ...),
  pi = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_pi(), ...),
  mes = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_mes(), ...),
  kg = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_kg(), ...),
  own = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_function(function(mean, sd, t) mean + sd * log1p(t)), ...),
  hallucinate = function(...) gp_bucb(forget_x, kernel_matern(1.5, 0.3), forget_noise, ...),
  penalise = function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ei(), pending = pending_penalize(), ...),
  contexts = function(...) gp_ucb(forget_x, kernel_se(c(0.2, 0.5)), forget_noise, contexts = cbind(z = c(0, 1)), ...),
  means = function(...) gp_ucb(forget_x, kernel_se(0.2), forget_noise, mean = sin(4 * forget_x), ...),
  features = function(...) gp_ucb(finite_domain(matrix(sin(1:40), 20)), kernel_linear(), forget_noise, ...),
  played = function(...) gp_bandit(seq(0, 1, length.out = 1500), kernel_matern(0.5, 0.1), forget_noise, policy_ucb(width_constant(2)), ...),
  lowrank = function(...) gp_bandit(seq(0, 1, length.out = 200), kernel_se(0.2), forget_noise, policy_ucb(width_constant(2)),
                                    engine = "lowrank", ...),
  refits = function(...) gp_ucb(forget_x, kernel_se(0.2), forget_noise, refit = refit_every(25, mean = "fit"), ...),
  varying = function(...) gp_ucb(forget_x, kernel_se(0.2), forget_noise, refit = refit_every(60, noise = "varying"), ...))

context_of <- function(bandit, t = 0) if (length(bandit$config$context_names)) t %% 2

# Rounds with late rewards, some of which never come; `every`: rounds between two times of forgetting (Inf: never).
live_on <- function(bandit, rounds, every = Inf, keep = 4, delays = c(0, 0, 2, 0, 1), seed = 3) {
  set.seed(seed)
  asked <- list()
  due <- list()
  for (t in seq_len(rounds)) {
    q <- bandit$suggest(context = context_of(bandit, t))
    asked[[t]] <- c(id = q$id, arm = q$arm)
    reward <- sin(7 * q[[3]]) + stats::rnorm(1, sd = sqrt(forget_noise))
    if (t %% 17 == 0) bandit$withdraw(q$id)
    else if (t %% 23 == 0) bandit$fail(q$id)
    else due[[length(due) + 1]] <- list(id = q$id, reward = reward, at = t + delays[t %% length(delays) + 1])
    arrived <- vapply(due, function(one) one$at <= t, NA)
    for (one in due[arrived]) bandit$observe(one$id, one$reward)
    due <- due[!arrived]
    if (t %% every == 0) bandit$compact(keep = keep)
  }
  do.call(rbind, asked)
}

read_again <- function(bandit) unserialize(serialize(bandit, NULL))

model_state_of <- function(bandit) as.matrix(bandit$posterior(context = context_of(bandit))[c("mean", "sd")])

# A copy of `bandit` with the parameters of another one's last refit instead of those of its own.
with_parameters_of <- function(bandit, other) {
  twin <- read_again(bandit)
  frame <- as.environment(twin)
  frame$refits[length(frame$refits)] <- utils::tail(as.environment(other)$refits, 1)
  read_again(twin)
}

test_that("a bandit with forgotten rounds makes the choices of one with all rounds", {
  for (name in few_of(names(forgetful_makers), 3)) {
    whole <- forgetful_makers[[name]]()
    bandit <- forgetful_makers[[name]]()
    # (The low-rank engine's basis is within its accuracy.)
    near <- if (name == "lowrank") 1e-6 else 1e-9
    theirs <- live_on(whole, 210)
    core <- live_on(bandit, 210, every = 30)
    expect_identical(core, theirs, info = name)
    # Fits end where the log-likelihood hardly rises: the parameters may differ, the likelihoods do not.
    is_fitted <- length(as.environment(bandit)$refits) > 0
    expected <- if (is_fitted) with_parameters_of(whole, bandit) else whole
    if (is_fitted) expect_lt(abs(as.numeric(logLik(expected)) - as.numeric(logLik(whole))), 1e-4, label = name)
    expect_equal(model_state_of(bandit), model_state_of(expected), tolerance = near, info = name)
    expect_equal(bandit$information_gain(), expected$information_gain(), tolerance = near, info = name)
    kept <- bandit$history()
    gone <- attr(kept, "forgotten")
    expect_gt(gone, 150)
    expect_identical(kept$id, seq(gone + 1L, 210L), info = name)
    theirs <- whole$history()[kept$id, ]
    same <- setdiff(names(kept), c("mean", "sd", "width"))
    expect_equal(kept[same], theirs[same], ignore_attr = TRUE, tolerance = 0, info = name)
    if (is_fitted) expect_lt(max(abs(kept$mean - theirs$mean) / theirs$sd, abs(log(kept$sd / theirs$sd))), 1e-3, label = name)
    else expect_equal(kept[c("mean", "sd", "width")], theirs[c("mean", "sd", "width")], ignore_attr = TRUE, tolerance = near, info = name)
    points <- nrow(unique(whole$history()[intersect(c("arm", "z"), names(kept))]))
    expect_lte(log_size(bandit, "queries"), points + nrow(kept), label = name)
  }
})

# From the rewards alone, by formulas.
test_that("the posterior and the information are those of all rewards", {
  set.seed(9)
  bandit <- gp_bandit(forget_x, kernel_se(0.3, 2), forget_noise, policy_ucb(width_constant(1)), mean = 0.5)
  arm <- integer()
  y <- numeric()
  for (t in 1:120) {
    q <- bandit$suggest()
    arm[t] <- q$arm
    y[t] <- 2 * cos(5 * q[[3]]) + stats::rnorm(1, sd = 0.2)
    bandit$observe(q$id, y[t])
    if (t %% 40 == 0) bandit$compact(keep = t %% 7)
  }
  K <- ref_kernel_se(0.3, 2)(forget_x)
  expected <- ref_posterior_at(K, arm, y, rep(forget_noise, 120), 0.5)
  expect_equal(bandit$posterior()$mean, unname(drop(expected$mean)), tolerance = tol$identity)
  expect_equal(bandit$posterior()$sd, unname(sqrt(diag(expected$cov))), tolerance = tol$identity)
  expect_equal(bandit$information_gain(), ref_information_gain(K, arm, rep(forget_noise, 120)), tolerance = tol$identity)
  # What a fit needs is there, too: the likelihood of all rewards.
  known <- gpbandits:::cpp_bandit_measurements(as.environment(bandit)$handle, 1L, NULL, 0.1)
  row <- rep(seq_along(known$id), known$count)
  at <- as.environment(bandit)$queries$arm[known$id[row]] + 1L
  expect_equal(ref_log_likelihood(K[at, at], known$value[row], rep(0.1, 120), 0.5),
               ref_log_likelihood(K[arm, arm], y, rep(0.1, 120), 0.5), tolerance = tol$identity)
})

# Draws go another way round the same distribution.
test_that("Thompson sampling draws from the same posterior", {
  set.seed(4)
  whole <- gp_ts(forget_x, kernel_se(0.2), forget_noise, B = 1, R = 0.2)
  live_on(whole, 90)
  bandit <- whole$copy()
  bandit$compact(keep = 10)
  expect_equal(model_state_of(bandit), model_state_of(whole), tolerance = 1e-9)
  set.seed(5)
  core <- cov(t(bandit$draw(20000)))
  history <- whole$history()
  reported <- which(history$status == "observed")
  K <- ref_kernel_se(0.2)(forget_x)
  exact <- ref_posterior_at(K, history$arm[reported], history$reward[reported], rep(forget_noise, length(reported)))$cov
  expect_lt(max(abs(core - exact)) / max(diag(exact)), 0.05)
  core <- bandit$history(draws = 4000)
  theirs <- whole$history(draws = 4000)[core$id, ]
  expect_lt(max(abs(core$propensity - theirs$propensity), na.rm = TRUE), 0.05)
  expect_true(any(!is.na(core$propensity)))
  expect_true(gpbandits:::arrives_at_will(as.environment(bandit)))
})

test_that("propensities are NA for choices made before the forgotten rewards were observed", {
  set.seed(1)
  bandit <- gp_ts(forget_x, kernel_se(0.2), forget_noise, B = 1, R = 0.2)
  for (t in 1:10) bandit$observe(bandit$suggest()$id, 0)
  bandit$suggest(4)
  bandit$observe(14:11, c(1, 0, 0, 1))
  for (t in 15:20) bandit$observe(bandit$suggest()$id, 0)
  bandit$compact(keep = 8)                                       # 12 came after 13 and 14 were asked
  expect_identical(is.na(bandit$history(draws = 10)$propensity), c(TRUE, TRUE, rep(FALSE, 6)))
  bandit$compact(keep = 7)
  expect_identical(is.na(bandit$history(draws = 10)$propensity), c(TRUE, rep(FALSE, 6)))
  bandit$compact(keep = 5)
  expect_false(anyNA(bandit$history(draws = 10)$propensity))
})

test_that("pending queries, and all after them, stay; forgotten ones accept no rewards", {
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  for (t in 1:20) {
    q <- bandit$suggest()
    if (t != 12) bandit$observe(q$id, sin(t))
  }
  expect_identical(bandit$compact(keep = 0)[["forgotten"]], 11L)
  expect_identical(bandit$history()$id, 12:20)
  before <- bandit$history()
  for (call in list(function(id) bandit$observe(id, 1), function(id) bandit$amend(id, 1), function(id) bandit$withdraw(id),
                    function(id) bandit$fail(id), function(id) bandit$observe(data.frame(id = id, reward = 1)),
                    function(id) bandit$observe(c(id, 12), c(1, 2)), function(id) bandit$observe(id, 1, noise_var = 0.1))) {
    for (id in c(1, 11)) expect_error(call(id), sprintf("Query %d was forgotten", id), class = "gpbandits_error")
    expect_error(call(21), "1 to 20", class = "gpbandits_error")
    expect_error(call(0), class = "gpbandits_error")
  }
  expect_identical(bandit$history(), before)
  expect_error(bandit$observe(13, 9), "Query 13 already has the result", class = "gpbandits_error")
  expect_error(bandit$withdraw(13), "Query 13 is observed", class = "gpbandits_error")
  bandit$amend(13, -1)
  expect_identical(bandit$history()$reward[2], -1)
  bandit$observe(data.frame(id = 12, arm = before$arm[1], reward = 0.5))
  expect_error(bandit$observe(data.frame(id = 13, arm = before$arm[2] %% 15 + 1, reward = -1)), "for query 13", class = "gpbandits_error")
  expect_identical(bandit$suggest()$id, 21L)
  expect_identical(suppressWarnings(bandit$suggest(2))$id, 22:23)
  expect_identical(bandit$compact(keep = 0)[["forgotten"]], 20L)
  bandit$observe(23:21, c(1, 0, 2))
  expect_identical(bandit$history()$reward, c(2, 0, 1))
  expect_identical(bandit$compact(keep = 3)[["forgotten"]], 20L)   # nothing more
  bandit$compact(keep = 0)
  expect_identical(nrow(bandit$history()), 0L)
  expect_output(print(bandit), "rounds +23 \\(0 pending, the first 23 forgotten\\)")
  expect_identical(summary(bandit)$rounds, 23L)
  expect_output(print(summary(bandit)), "the first 23 forgotten")
  bandit$reset()
  expect_identical(bandit$suggest()$id, 1L)
  expect_null(attr(bandit$history(), "forgotten"))
})

test_that("queries without a reward are forgotten with the others", {
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  for (t in 1:3) bandit$suggest()
  bandit$withdraw(1:3)
  expect_error(bandit$compact(keep = 0), NA)
  expect_identical(bandit$suggest()$id, 4L)
  bandit$observe(4, 1)
  expect_identical(nrow(read_again(bandit)$history()), 1L)
  whole <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  for (t in 1:3) whole$suggest()
  whole$withdraw(1:3)
  whole$observe(whole$suggest()$id, 1)
  expect_identical(bandit$suggest(), whole$suggest())
  expect_identical(bandit$history()$width, whole$history()$width[4:5])   # withdrawn rounds count for none
})

test_that("copies, files, JSON and journals are identical to the bit", {
  file <- tempfile()
  for (name in few_of(c("ucb", "hallucinate", "contexts", "refits"), 2)) {
    unlink(file)
    bandit <- forgetful_makers[[name]](journal = file)
    live_on(bandit, 60)
    bandit$compact(keep = 5)
    size <- file.size(file)
    path <- tempfile(fileext = ".rds")
    saveRDS(bandit, path)
    twins <- list(bandit$copy(), readRDS(path), from_json(as_json(bandit)), open_bandit(file))
    unlink(path)
    for (twin in twins) expect_identical(twin$history(), bandit$history(), info = name)
    twins <- twins[1:3]
    core <- live_on(bandit, 25, every = 10)
    for (twin in twins) {
      expect_identical(suppressWarnings(live_on(twin, 25, every = 10)), core, info = name)
      expect_identical(twin$history(), bandit$history(), info = name)
    }
    again <- open_bandit(file)
    expect_identical(again$history(), bandit$history(), info = name)
    expect_identical(model_state_of(again), model_state_of(bandit), info = name)
    live_on(again, 60)
    again$compact(keep = 5)
    expect_lte(file.size(file), size + 4096)              # (a page)
  }
})

test_that("a journal is compacted by its path, and not by a bandit with another state of it", {
  file <- tempfile()
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise, journal = file)
  live_on(bandit, 30)
  whole <- bandit$copy()
  expect_identical(open_bandit(file, rng = FALSE)$compact(keep = 3)[["forgotten"]], 27L)
  expect_error(bandit$suggest(), class = "gpbandits_error")
  expect_error(bandit$compact(keep = 1), "Another bandit has written", class = "gpbandits_error")
  again <- open_bandit(file)
  expect_identical(again$suggest(), suppressWarnings(whole$suggest()))
})

test_that("a design is not repeated, and refits come when they would have", {
  new <- function() gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ei(),
                              initial_design = forget_x[c(2, 5, 8, 11, 14, 3)], refit = refit_every(20, minimum = 10))
  whole <- new()
  bandit <- new()
  for (t in 1:85) {
    core <- bandit$suggest()
    expect_identical(core, whole$suggest())
    for (one in list(bandit, whole)) one$observe(core$id, sin(7 * core[[3]]) + 0.1 * cos(t))
    if (t %% 21 == 0) bandit$compact(keep = 0)
  }
  expect_gt(attr(bandit$history(), "forgotten"), 60)
  # Both have found the top of one likelihood, that of all the rewards that there were.
  history <- whole$history()[1:80, ]
  likelihood_at <- function(bandit) {
    config <- config_now(bandit)
    K <- kernel_gram(config$kernel, matrix(history$x1))
    ref_log_likelihood(K, history$reward, rep(config$noise_var, 80), config$mean)
  }
  fits <- function(bandit) sum(log_column(bandit, "kind") == 5)
  expect_identical(c(fits(whole), fits(bandit)), c(4L, 1L))
  expect_equal(likelihood_at(bandit), likelihood_at(whole), tolerance = 1e-6)
  early <- gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ei(), initial_design = forget_x[c(2, 5, 8, 11)])
  for (t in 1:3) early$observe(early$suggest()$id, t)
  early$compact(keep = 0)
  early$observe(early$suggest()$id, 0)
  expect_identical(as.list(early$history()[c("id", "arm", "action")]), list(id = 4L, arm = 11L, action = "explore"))
  early$suggest()
  expect_identical(early$history()$action[2], "policy")
})

test_that("memory and files keep a constant size", {
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  sizes <- numeric()
  for (k in 1:4) {
    live_on(bandit, 400, seed = k)
    bandit$compact(keep = 10)
    sizes[k] <- length(serialize(bandit, NULL))
  }
  expect_lt(diff(range(sizes)), 300)
  facts <- gpbandits:::cpp_bandit_facts(as.environment(gpbandits:::rebuild(as.environment(bandit)))$handle)
  expect_identical(facts$rounds, 1600L)
})

test_that("runs continue, and methods that need single rewards are errors", {
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  live_on(bandit, 40)
  whole <- bandit$copy()
  bandit$compact(keep = 10)
  problem <- bandit_problem(forget_x, function(x) sin(7 * x), noise = 0.2)
  set.seed(1)
  core <- run_bandit(bandit, problem, 20)
  set.seed(1)
  theirs <- run_bandit(whole, problem, 20)
  expect_equal(as.data.frame(core), as.data.frame(theirs), tolerance = 1e-9)
  expect_error(check_model(bandit), "forgotten", class = "gpbandits_error")
  expect_error(bandit$certificate(stop_stalled(3)), "forgotten", class = "gpbandits_error")
  expect_null(summary(bandit)$check)
  for (rule in list(NULL, stop_gap(0.1), stop_emsr(0.1))) {
    core <- bandit$certificate(rule)
    theirs <- whole$certificate(rule)
    expect_equal(core$gap, theirs$gap, tolerance = 1e-9)
    expect_identical(core$certified, theirs$certified)
  }
  local_device()
  expect_error(plot(bandit), NA)
})

test_that("bandits whose choices depend on single rounds raise errors with the reason, and stay unchanged", {
  own <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  own$observe(own$suggest()$id, 1, noise_var = 0.1)
  several <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  several$observe(several$suggest()$id, c(1, 2))
  with <- function(...) gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_ucb(width_constant(1)), ...)
  cases <- list("a separate noise variance" = own, "several rewards for one id" = several, changes = with(changes = change_oracle(window = 5)),
                constraints = with(constraints = constraints_noisy(1, 3, 0.5)), outputs = with(outputs = scale_outputs()),
                failures = with(failures = "avoid"), rewards = with(rewards = rewards_robust(clip = 1)), pending_censor = with(pending = pending_censor(3)),
                "open contexts" = gp_ucb(forget_x, kernel_se(c(0.2, 1)), forget_noise, contexts = "z"),
                "a box" = gp_ucb(list(u = c(0, 1)), kernel_se(0.2), forget_noise, width = width_constant(1)),
                policy_repeats = gp_bandit(forget_x, kernel_se(0.2), forget_noise, policy_repeats(policy_ucb(width_constant(1)))),
                phases = safe_opt(forget_x, kernel_se(0.2), forget_noise, threshold = -1, seed = 8, B = 1, R = 0.2),
                outcomes = gp_ucb(forget_x, kernel_se(0.2), forget_noise, outcomes = list(a = to_maximize(), b = at_most(1))),
                memory = baseline_constrained("ckb", forget_x, kernel_se(0.2), forget_noise, step = 0.5, bound = 1),
                intervals = gp_lse(forget_x, kernel_se(0.2), forget_noise, level = 0, accuracy = 0.1))
  for (name in names(cases)) {
    before <- cases[[name]]$history()
    expect_error(cases[[name]]$compact(keep = 0), name, class = "gpbandits_error")
    expect_identical(cases[[name]]$history(), before)
  }
  for (keep in list(-1, 1.5, NA, "a", c(1, 2))) expect_error(own$compact(keep = keep), "keep", class = "gpbandits_error")
  # What came before the ones with a separate noise variance can go.
  late <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  for (t in 1:4) late$observe(late$suggest()$id, t, noise_var = if (t == 4) 0.1)
  expect_identical(late$compact(keep = 1)[["forgotten"]], 3L)
  expect_error(late$compact(keep = 0), "a separate noise variance", class = "gpbandits_error")
})

test_that("stores and searches are errors", {
  file <- tempfile()
  maximize_bandit(function(p) -(p[["x"]] - 2)^2, list(x = param_integer(1, 9)), 6, journal = file)
  expect_error(open_bandit(file, rng = FALSE)$compact(keep = 1), class = "gpbandits_error")
  skip_if_not(store_packages("RSQLite"))
  place <- sqlite_location()
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise, store = store_at(place, "a", seed = 1))
  bandit$suggest()
  expect_error(bandit$compact(keep = 0), "in a store", class = "gpbandits_error")
  expect_error(open_bandit(store_at(place, "a"))$compact(keep = 0), "in a store", class = "gpbandits_error")
})

test_that("damaged checkpoints are errors", {
  bandit <- gp_ucb(forget_x, kernel_se(0.2), forget_noise)
  live_on(bandit, 40)
  bandit$compact(keep = 6)
  sums <- gpbandits:::forgotten_of(as.environment(bandit))$sums
  damaged <- function(change, of = bandit) {
    twin <- read_again(of)
    change(as.environment(twin))
    expect_error(twin$history(), "damaged|checkpoint|summarises several|no query of id 0|size must|spread|unknown action", class = "gpbandits_error")
  }
  put <- function(column, row, value) function(frame) {
    if (column %in% frame$events$.blank) {
      frame$events$.blank <- setdiff(frame$events$.blank, column)
      frame$events[[column]] <- rep(frame$events[[column]][NA_integer_], frame$events$.size)
    }
    frame$events[[column]][row] <- value
  }
  for (rounds in c(NA, 0, 1.5, -3, sums, 3e9, Inf, NaN)) damaged(put("size", 1, rounds))
  # (With fewer of them it is another whole log: some were added by hand.)
  for (count in c(-1L, sums + 1L, 100L)) damaged(put("other", 1, count))
  for (explored in c(-1, 0.5, 1000)) damaged(put("spread", 1, explored))
  for (late in c(0.5, 3, 1e6)) damaged(put("reward", 1, late))
  damaged(put("id", 1, 1L))
  damaged(put("kind", 3, 11L))
  damaged(put("kind", 1, 7L))
  for (size in c(NA, 0, -1, 1.5, 1e9)) damaged(put("size", 2, size))
  for (spread in c(NA, -1, Inf)) damaged(put("spread", 2, spread))
  damaged(put("noise_var", 2, 0.1))
  damaged(put("kind", 2, 1L))
  damaged(function(frame) {
    frame$events$kind[sums + 3L] <- 7L                     # an amendment of a sum of several
    frame$events$id[sums + 3L] <- 1L
  })
  # Where sums do not say all nobody has made one.
  for (other in list(list(changes = change_oracle(window = 5)), list(failures = "avoid"), list(pending = pending_censor(3)),
                     list(rewards = rewards_robust(clip = 1)))) {
    config <- do.call(gp_ucb, c(list(forget_x, kernel_se(0.2), forget_noise), other))$config
    damaged(function(frame) frame$config <- config)
  }
  skip_if_not(store_packages())
  text <- as_json(bandit)
  expect_identical(from_json(text)$history(), bandit$history())
  expect_error(from_json(sub('"size":[34', '"size":[20', text, fixed = TRUE)), class = "gpbandits_error")
})

test_that("widths that use the last queries have all of them, also within other widths", {
  sdf <- width_sdf(width_constant(1), over = "pending")
  for (width in list(sdf, width_ec(sdf, 0.1))) {
    b <- gp_ucb(1:6, kernel_se(2), 0.1, width = width, pending = pending_hallucinate())
    b$add(arm = rep(1:6, 3), reward = sin(1:18))
    expect_error(b$compact(keep = 5), "last queries", class = "gpbandits_error")
    expect_identical(nrow(b$history()), 18L)
  }
})

test_that("a log with nothing but given data is compacted without a warning", {
  for (count in 1:3) for (keep in 0:1) {
    b <- gp_ucb(1:5 / 5, kernel_se(0.3), 0.1, width = 2)
    b$add(arm = seq_len(count), reward = seq_len(count))
    whole <- b$copy()
    expect_no_warning(sizes <- b$compact(keep = keep))
    expect_identical(sizes[["forgotten"]], as.integer(count - keep))
    expect_equal(b$posterior(), whole$posterior(), tolerance = 1e-10)
    expect_identical(b$suggest(), whole$suggest())
  }
})
