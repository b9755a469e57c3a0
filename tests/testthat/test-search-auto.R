yield <- function(x) 90 - 0.02 * (x[["temp"]] - 72)^2 - 3 * (x[["acid"]] - 2.4)^2
bench_domain <- list(temp = c(40, 100), acid = c(0, 5))

answer <- function(bandit, asked, f = yield) {
  bandit$observe(data.frame(id = asked$id, reward = vapply(seq_len(nrow(asked)), function(k) f(asked[k, ]), 0)))
}

test_that("with data, four at a time, the design comes first, then the policy, and the maximum is found", {
  set.seed(1)
  known <- data.frame(acid = c(1, 4), temp = c(50, 90), reward = c(0, 0))
  known$reward <- c(yield(known[1, ]), yield(known[2, ]))
  bandit <- auto_bandit(bench_domain, known)
  for (k in 1:6) answer(bandit, bandit$suggest(4))
  history <- bandit$history()
  expect_equal(history$action, c("given", "given", rep("explore", 8), rep("policy", 16)))
  expect_equal(history$temp[1:2], c(50, 90))
  # A Latin hypercube: each eighth of each range once.
  expect_equal(sort(findInterval(history$acid[3:10], seq(0, 5, length.out = 9))), 1:8)
  best <- bandit$best()
  expect_gt(yield(best), 89.8)
  expect_lt(abs(best$mean - yield(best)), 0.5)
  expect_s4_class(bandit, "GPBandit")
})

test_that("minimising mirrors maximising, and any units give the same experiments", {
  play <- function(direction, f) {
    set.seed(2)
    bandit <- auto_bandit(bench_domain, direction = direction)
    for (k in 1:5) answer(bandit, bandit$suggest(3), f)
    bandit
  }
  up <- play("maximize", yield)
  down <- play("minimize", function(x) -yield(x))
  expect_equal(up$history()[c("temp", "acid")], down$history()[c("temp", "acid")])
  expect_equal(up$best()$mean, -down$best()$mean)
  far <- play("maximize", function(x) 1e6 * yield(x) - 1e9)
  expect_equal(far$history()[c("temp", "acid")], up$history()[c("temp", "acid")], tolerance = 1e-3)
})

test_that("experiments that are NA in the data are pending, and their results come later", {
  set.seed(3)
  known <- data.frame(temp = c(50, 60, 70, 80), acid = c(1, 2, 3, 4), reward = c(70, NA, NA, 74))
  bandit <- auto_bandit(bench_domain, known, n_initial = 2)
  expect_equal(bandit$history()$status, c("observed", "pending", "pending", "observed"))
  expect_equal(bandit$suggest()$id, 5)
  expect_equal(bandit$history()$action[5], "policy")
  unknown <- auto_bandit(bench_domain, data.frame(temp = 50, acid = 1, reward = NA), n_initial = 1)
  expect_equal(unknown$history()$status, "pending")
  bandit$observe(2:3, c(85, 88))
  expect_equal(bandit$history()$reward[1:4], c(70, 85, 88, 74))
})

test_that("copies, files, journals and stores continue within the design and after it", {
  file <- tempfile()
  set.seed(4)
  bandit <- auto_bandit(bench_domain, direction = "minimize", n_initial = 5, journal = file)
  asked <- bandit$suggest(3)
  answer(bandit, asked)
  copy <- unserialize(serialize(bandit$copy(), NULL))
  set.seed(5)
  bandit$suggest(5)
  set.seed(5)
  copy$suggest(5)
  expect_identical(copy$history(), bandit$history())
  expect_equal(bandit$history()$action, rep(c("explore", "policy"), c(5, 3)))
  expect_identical(open_bandit(file)$history(), bandit$history())
  unlink(file)
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  point <- bandit_store(tempfile(fileext = ".sqlite"), "auto")
  set.seed(6)
  core <- auto_bandit(bench_domain, data.frame(temp = 50, acid = 1, reward = 61), store = point, n_initial = 3)
  answer(core, core$suggest(2))
  answer(core, core$suggest(2))
  theirs <- open_bandit(point)
  expect_equal(theirs$history(), core$history())
  expect_equal(theirs$best(), core$best(), tolerance = tol$replay)
})

test_that("arms have designs too, and invalid arguments are errors", {
  set.seed(7)
  bandit <- auto_bandit(seq(0, 1, 0.1), direction = "minimize")
  first <- bandit$suggest(5)
  expect_false(anyDuplicated(first$arm) > 0)
  expect_equal(nrow(bandit$suggest(2, arms = 3:4)), 2)
  expect_error(auto_bandit(bench_domain, data.frame(temp = 50, acid = 1)), "`data`", class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, data.frame(temp = "hot", acid = 1, reward = 3)), "`data`",
               class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, direction = "up"), "`direction`", class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, outputs = NULL), "`outputs`", class = "gpbandits_error")
})

test_that("failures are avoided: no failed experiment is repeated, and the best point next to them is found", {
  broken <- function(x) if (x[["temp"]] > 70) NA else yield(x)
  for (direction in c("maximize", "minimize")) {
    sign <- if (direction == "minimize") -1 else 1
    set.seed(9)
    bandit <- auto_bandit(bench_domain, direction = direction)
    for (k in 1:26) {
      q <- bandit$suggest()
      y <- sign * broken(q)
      if (is.na(y)) bandit$fail(q$id) else bandit$observe(q$id, y)
    }
    history <- bandit$history()
    failed <- history[history$status == "failed", c("temp", "acid")]
    expect_gt(nrow(failed), 3)
    expect_equal(anyDuplicated(round(failed, 3)), 0L)
    expect_lt(sum(utils::tail(history$status, 16) == "failed"), 8)
    expect_lt(bandit$best()$temp, 75)
    expect_true(all(is.na(history$reward[history$status == "failed"])))
  }
  set.seed(9)
  forgetful <- auto_bandit(bench_domain, failures = "forget", n_initial = 4)
  for (k in 1:4) answer(forgetful, forgetful$suggest())
  again <- forgetful$suggest()
  forgetful$fail(again$id)
  expect_equal(forgetful$suggest()[c("temp", "acid")], again[c("temp", "acid")])
})

test_that("a failure counts as the worst observed reward, also after that changes", {
  reported <- function(sign, rewards, failed, failures) {
    b <- gp_bandit(1:9, kernel_se(1.5), 0.05, policy_ei(), mean = 0.3, pending = pending_hallucinate())
    b$add(arm = c(2, 5, 8), reward = sign * rewards)
    b$add(arm = failed, reward = rep(sign * min(rewards), length(failed)),
          noise_var = if (failures == "doubt") 0.05 + diff(range(rewards))^2 / 12)
    b$posterior()
  }
  for (sign in c(1, -1)) for (failures in c("avoid", "doubt")) {
    direction <- if (sign < 0) "minimize" else "maximize"
    fixed <- scale_outputs(direction, centre = 0, scale = 1)
    b <- gp_bandit(1:9, kernel_se(1.5), 0.05, policy_ei(), mean = 0.3, failures = failures, outputs = fixed,
                   pending = pending_hallucinate())
    same <- function(rewards, failed) {
      core <- b$posterior()
      theirs <- reported(1, rewards, failed, failures)
      expect_equal(core$mean, sign * theirs$mean, tolerance = tol$engine)
      expect_equal(core$sd, theirs$sd, tolerance = tol$engine)
    }
    b$add(arm = 4)
    b$fail(1)
    expect_equal(b$posterior()$mean, rep(sign * 0.3, 9))
    b$add(arm = c(2, 5), reward = sign * c(1, 2))
    b$add(arm = c(7, 8))
    b$fail(4)
    b$observe(5, sign * 1.5)
    same(c(1, 2, 1.5), c(4, 7))
    b$amend(3, sign * -3)
    same(c(1, -3, 1.5), c(4, 7))
    b$amend(3, sign * 0.5)
    same(c(1, 0.5, 1.5), c(4, 7))
    b$amend(2, sign * 4)
    same(c(4, 0.5, 1.5), c(4, 7))
    expect_equal(b$history()$status, c("failed", "observed", "observed", "failed", "observed"))
    expect_equal(unserialize(serialize(b, NULL))$posterior(), b$posterior(), tolerance = tol$replay)
    expect_equal(b$copy()$posterior(), b$posterior(), tolerance = tol$replay)
    expect_output(print(b), "5 (0 pending)", fixed = TRUE)
    expect_true(is.na(b$certificate(stop_gap(1, width_amm(1, 1)))$probability))
    b$suggest()
    b$fail(6)
    # (Of arms a failed one may be tried again if failures are doubted.)
    if (failures == "avoid") expect_equal(b$suggest()$arm == b$history()$arm[6], FALSE)
  }
  expect_error(gp_bandit(1:3, kernel_se(1), 0.1, policy_ei(), failures = "avoid",
                         constraints = constraints_noiseless(epoch = 5)), "`failures`", class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, failures = "hide"), "`failures`", class = "gpbandits_error")
})

test_that("the noise variance of a failure is that of the range of the rewards as the model has them now", {
  x <- seq(0, 1, length.out = 12)
  at <- seq(0.05, 0.95, by = 0.1)
  reward <- replace(exp(6 * x), 10, NA)
  for (direction in c("maximize", "minimize")) for (average in c(1, 3)) {
    data <- data.frame(x = x, reward = reward, status = ifelse(is.na(reward), "failed", "observed"))
    set.seed(4)
    asked <- auto_bandit(list(x = c(0, 1)), data, direction, n_initial = 0,
                         model = gp_model(kernel = kernel_matern(2.5, 0.3), refit = refit_every(12, average = average)))
    asked$suggest()
    asked$withdraw(13)
    b <- as.environment(asked)
    config <- current_config(b)
    expect_true(any(vapply(b$refits, is_real_refit, NA)))
    expect_length(config$models, if (average == 1) 0 else average)
    map <- output_map(config)
    expect_false(map$lambda == 1)
    value <- transform_outputs(map, replace(reward, 10, worst_reward(reward, config)))
    doubted <- config$noise_var + diff(range(value))^2 / 12
    moments <- lapply(configs_of_models(config), function(one) {
      gram <- kernel_gram(one$kernel, matrix(c(x, at)))
      reported <- seq_along(x)
      solved <- solve(gram[reported, reported] + diag(replace(rep(one$noise_var, 12), 10, doubted)),
                      cbind(value - one$mean, gram[reported, -reported]))
      list(mean = one$mean + drop(gram[-reported, reported] %*% solved[, 1]), weight = or_else(one$weight, 1),
           variance = diag(gram)[-reported] - colSums(gram[reported, -reported] * solved[, -1]))
    })
    over <- function(part) Reduce(`+`, lapply(moments, function(one) one$weight * part(one)))
    mean <- over(function(one) one$mean)
    core <- scaled_posterior_at(b, find_points(config$domain, data.frame(x = at)), NULL)
    expect_equal(core$mean, mean, tolerance = 1e-6)
    expect_equal(core$sd, sqrt(over(function(one) one$variance + one$mean^2) - mean^2), tolerance = 1e-6)
  }
})

test_that("the bandit of a search has the failures, with their noise variance", {
  calls <- 0
  failing <- function(p) if ((calls <<- calls + 1) %in% c(1, 4, 14)) stop("an accident") else 10 * (p[["x"]] - 0.3)^2
  set.seed(1)
  found <- minimize_bandit(failing, list(x = c(0, 1)), 16)
  expect_equal(which(is.na(found$history$reward)), c(1, 4, 14))
  reported <- found$bandit$history()
  expect_equal(reported$status, ifelse(is.na(found$history$reward), "failed", "observed"))
  expect_equal(reported$reward, found$history$reward)
  known <- cpp_bandit_known(as.environment(found$bandit)$handle)
  expect_equal(known$value[c(1, 4, 14)], rep(max(reported$reward, na.rm = TRUE), 3))
  expect_equal(known$doubted_to, replace(rep(NA_real_, 16), c(1, 4, 14), min(reported$reward, na.rm = TRUE)))
})

test_that("with doubted failures, no neighbour of them is recommended", {
  nearest <- function(b, at) {
    reported <- b$history()
    reported$status[which.min(abs(reported$x - at))]
  }
  beside <- 0
  for (seed in 1:6) {
    set.seed(seed)
    x <- c(stats::runif(7, 0, 0.7), 0.72, stats::runif(2, 0.72, 1))
    data <- data.frame(x = x, reward = ifelse(x > 0.7, NA, x^2), status = ifelse(x > 0.7, "failed", "observed"))
    b <- auto_bandit(list(x = c(0, 1)), data, n_initial = 0,
                     model = gp_model(kernel = kernel_se(0.3), noise_var = 1e-4, refit = NULL))
    grid <- seq(0, 1, length.out = 1001)
    beside <- beside + (nearest(b, grid[which.max(b$posterior(matrix(grid))$mean)]) == "failed")
    best <- b$best()
    expect_equal(nearest(b, best$x), "observed")
    known <- data[data$status == "observed", ]
    expect_gte(best$mean + 1e-9, max(b$posterior(matrix(known$x))$mean))
    expect_equal(best$mean, b$posterior(matrix(best$x))$mean)
  }
  # (The case that the test is about.)
  expect_gt(beside, 0)
  # Arms, in contexts, with a kernel whose variances differ: one that failed here and succeeded elsewhere.
  k <- kernel_linear() + kernel_se(0.3)
  b <- gp_bandit(matrix(c(0.1, 0.5, 0.9), dimnames = list(NULL, "x")), k, 0.01, policy_ei(), failures = "doubt",
                 contexts = c("u"))
  b$add(arm = c(1, 2, 3, 3), reward = c(0.1, 0.5, 2, 2.1), context = matrix(c(0, 0, 1, 1)))
  expect_equal(b$best(context = 0)$arm, 3)
  b$suggest(context = 0)
  b$add(arm = 3, context = matrix(0))
  b$fail(c(5, 6))
  expect_true(b$history()$arm[6] == 3)
  expect_equal(b$best(context = 0)$arm == 3, FALSE)
  expect_equal(b$best(context = 1)$arm, 3)
})

test_that("failures are avoided after files, refits and restarts too, and in stores", {
  file <- tempfile()
  make <- function(...) {
    gp_bandit(1:20, kernel_se(4), 0.01, policy_ucb(width_constant(2)), refit = refit_every(4, mean = "fit"),
              outputs = scale_outputs("minimize"), failures = "doubt", ...)
  }
  play <- function(bandit) {
    for (k in 1:12) {
      q <- bandit$suggest()
      if (q$x1 > 12) bandit$fail(q$id) else bandit$observe(q$id, 100 + (q$x1 - 7)^2)
    }
    bandit
  }
  bandit <- play(make(journal = file))
  expect_gt(sum(bandit$history()$status == "failed"), 1)
  again <- open_bandit(file)
  expect_identical(again$history(), bandit$history())
  expect_equal(again$posterior(), bandit$posterior(), tolerance = tol$replay)
  expect_equal(again$suggest(), bandit$copy()$suggest())
  unlink(file)
  # After a restart nothing that failed before it counts.
  changing <- gp_bandit(1:5, kernel_se(1), 0.1, policy_ei(), changes = change_oracle(4, explore = 0), failures = "avoid")
  changing$add(arm = 1:3, reward = c(0.5, 0.6, -0.7))
  changing$suggest()
  changing$fail(4)
  changing$suggest()
  expect_equal(changing$posterior()$mean, rep(0, 5))
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  point <- bandit_store(tempfile(fileext = ".sqlite"), "failing")
  core <- play(make(store = point))
  theirs <- open_bandit(point)
  expect_equal(theirs$history(), core$history())
  expect_equal(theirs$posterior(), core$posterior(), tolerance = tol$replay)
  worker <- bandit_store(tempfile(fileext = ".sqlite"), "worker")
  mine <- make(store = worker)
  work_on(worker, function(p) if (p[["x1"]] > 12) stop("broken") else 100 + (p[["x1"]] - 7)^2,
          until = function(replica) nrow(replica$history()) >= 12)
  mine$catch_up()
  expect_false(any(mine$history()$action == "given"))
  expect_gt(sum(mine$history()$status == "failed"), 0)
})

test_that("contexts work: listed, open, over boxes, arms and search spaces", {
  mixed <- search_space(x = c(0, 1), rule = c("a", "b"))
  listed <- cbind(batch = c(0, 50, 100))
  seen <- data.frame(x = c(0.1, 0.9, 0.5), batch = c(0, 50, 100), reward = c(1, 2, NA))
  for (contexts in list(listed, "batch")) for (domain in list(list(x = c(0, 1)), data.frame(x = 0:10 / 10), mixed)) {
    data <- seen
    if (identical(domain, mixed)) data$rule <- "a"
    set.seed(1)
    b <- auto_bandit(domain, data, contexts = contexts, n_initial = 5)
    expect_equal(b$history()$batch, c(0, 50, 100))
    expect_equal(b$history()$status, c("observed", "observed", "pending"))
    for (t in 1:6) {
      q <- b$suggest(context = c(batch = 50 * t %% 3))
      expect_equal(q$batch, 50 * t %% 3)
      b$observe(q$id, q$x + q$batch / 100)
    }
    expect_equal(b$history()$action, rep(c("given", "explore", "policy"), c(3, 2, 4)))
    expect_equal(nrow(b$best(context = c(batch = 50))), 1)
    # The prior's lengthscale of a context is that of the distances between contexts.
    scale <- lengthscale_priors(b$config$kernel, as_domain(domain), c(meanlog = 0, sdlog = 1), c(batch = 100))
    expect_true(any(vapply(scale, function(prior) isTRUE(all.equal(prior[["meanlog"]], log(100))), NA)))
    expect_equal(max(unlist(kernel_parameters(b$config$kernel))), 40 * sqrt(2))
  }
  # Nothing says how far apart: units of one.
  expect_equal(context_sides(check_contexts(c("u", "v"), box_domain(0, 1))), c(u = 1, v = 1))
  copy <- b$copy()
  expect_identical(copy$history(), b$history())
  expect_error(b$suggest(), "`context`", class = "gpbandits_error")
  expect_error(auto_bandit(list(x = c(0, 1)), seen, contexts = "machine"), "`data`.*machine", class = "gpbandits_error")
  expect_error(maximize_bandit(function(p) p, list(x = c(0, 1)), 5, contexts = 1), "`contexts`", class = "gpbandits_error")
  expect_error(maximize_bandit(function(p, z) p, list(x = c(0, 1)), 5, contexts = 1, fidelity = c(1, 10)), "`contexts`",
               class = "gpbandits_error")
})

test_that("the history of a bandit starts another, whatever the status of its queries", {
  for (domain in list(bench_domain, search_space(temp = c(40, 100), acid = c(0, 5), stir = param_logical()),
                      finite_domain(data.frame(temp = c(40, 60, 80), acid = c(1, 2, 3), row.names = c("a", "b", "c"))))) {
    set.seed(8)
    b <- auto_bandit(domain, n_initial = 4)
    b$suggest(7)
    b$observe(c(1, 3, 4), c(61, 64, 60))
    b$withdraw(2)
    b$fail(c(5, 6))
    again <- auto_bandit(domain, b$history(), n_initial = 0)
    kept <- b$history()[-2, ]
    expect_equal(again$history()[c(domain$names, "reward", "status")], kept[c(domain$names, "reward", "status")], ignore_attr = TRUE)
    expect_equal(again$history()$status, c("observed", "observed", "observed", "failed", "failed", "pending"))
    # A search uses given data, and failures as bad rewards.
    found <- maximize_bandit(function(p) p[["temp"]], domain, 2, data = b$history(), model = gp_model(refit = NULL))
    expect_equal(found$history$reward[1:5], c(61, 64, 60, NA, NA))
    expect_equal(found$bandit$history()$reward[1:5], c(61, 64, 60, NA, NA))
    expect_equal(found$bandit$history()$status[1:5], rep(c("observed", "failed"), 3:2))
    # And the other way round.
    expect_equal(auto_bandit(domain, found$history)$history()$status, c("observed", "failed")[1 + is.na(found$history$reward)])
  }
  expect_identical(auto_bandit(domain, cbind(b$history(), mood = 1))$history()$mood, rep(1, 6))
  # What was lost says nothing.
  late <- gp_ucb(bench_domain, kernel_se(10), 0.1, width = width_constant(2), pending = pending_censor(1, 0))
  late$suggest(3)
  suppressWarnings(late$observe(3:1, c(62, 61, 60)))
  expect_equal(late$history()$status, c("lost", "lost", "observed"))
  reported <- late$history()
  reported$reward[1:2] <- NA
  expect_equal(auto_bandit(bench_domain, reported, n_initial = 0)$history()$reward, 62)
})

# ---- a space edited midway ------------------------------------------------------------------------

edited <- function(...) suppressMessages(auto_bandit(...))

test_that("rows outside a new space are observations, never the incumbent, and suggestions are inside", {
  # The old optimum lies outside; EI is over the best point inside.
  data <- data.frame(x = c(1, 2, 5, 6, 7, 10), reward = c(2, 2.5, 0.2, 0.6, 0.4, -0.6))
  make <- function(lower) {
    auto_bandit(list(x = c(lower, 10)), data, n_initial = 0,
                model = gp_model(kernel = kernel_matern(2.5, lengthscale = 1.5), noise_var = 0.01, refit = NULL,
                                 transform = "none"), policy = policy_ei())
  }
  expect_message(bandit <- make(5), "Rows 1, 2 of `data` are outside the search space")
  expect_equal(bandit$history()$x, data$x)
  expect_equal(bandit$history()$reward, data$reward)
  expect_silent(whole <- make(0))
  grid <- seq(5, 10, length.out = 501)
  seen <- bandit$posterior(grid)
  # The same observations in a space that contains them.
  expect_equal(seen, whole$posterior(grid))
  expect_equal(bandit$best()$x, grid[which.max(seen$mean)], tolerance = 1e-3)
  ei <- function(seen, from) {
    z <- (seen$mean - from) / seen$sd
    seen$sd * (z * pnorm(z) + dnorm(z))
  }
  asked <- bandit$suggest()$x
  from_best_of <- function(x) grid[which.max(ei(seen, max(bandit$posterior(x)$mean)))]
  expect_lt(abs(asked - from_best_of(data$x[data$x >= 5])), 0.01)
  expect_gt(abs(asked - from_best_of(data$x)), 0.1)
})

test_that("a changed space continues in copies, files and journals, and its history starts the next bandit", {
  set.seed(20)
  old <- auto_bandit(bench_domain, n_initial = 5)
  for (k in 1:6) answer(old, old$suggest())
  old$suggest()
  space <- list(temp = c(75, 95), acid = c(0, 5), stir = c(1, 10))
  rows <- old$history()
  expect_error(auto_bandit(space, rows), "not one without `stir`", class = "gpbandits_error")
  rows$stir <- 3
  file <- tempfile()
  bandit <- edited(space, rows, n_initial = 8, journal = file)
  history <- bandit$history()
  columns <- c("temp", "acid", "stir", "reward", "status")
  expect_equal(history[columns], rows[columns])
  # What lies outside is none of the design's points.
  inside <- sum(rows$temp >= 75 & rows$temp <= 95)
  expect_equal(nrow(bandit$suggest(8 - inside)), 8 - inside)
  expect_equal(unique(bandit$history()$action[-(1:7)]), "explore")
  # The result of a pending query, outside or not.
  bandit$observe(7, yield(rows[7, ]))
  bandit$suggest()
  expect_equal(utils::tail(bandit$history()$action, 1), "policy")
  saved <- tempfile()
  saveRDS(bandit, saved)
  go_on <- function(one) {
    set.seed(21)
    asked <- one$suggest(2)
    answer(one, asked)
    list(asked, one$best(), one$history())
  }
  said <- go_on(bandit$copy())
  again <- suppressWarnings(go_on(readRDS(saved)))
  expect_identical(again, said)
  expect_identical(go_on(open_bandit(file)), said)
  chosen <- said[[3]][-(1:7), ]
  expect_true(all(chosen$temp >= 75 & chosen$temp <= 95))
  expect_true(said[[2]]$temp >= 75)
  third <- edited(list(temp = c(40, 60), acid = c(2, 3), stir = c(1, 2)), said[[3]], n_initial = 0)
  expect_equal(third$history()[1:10, c("temp", "acid", "stir")], said[[3]][1:10, c("temp", "acid", "stir")])
})

test_that("stores, fixed inputs, contexts and earlier campaigns accept rows outside, too", {
  data <- data.frame(temp = c(20, 60, 80, 130), acid = c(1, 2, 3, 2), reward = c(5, 6, 7, 9))
  is_inside <- function(asked) all(asked$temp >= 40 & asked$temp <= 100)
  set.seed(24)
  fixed <- edited(bench_domain, data, n_initial = 0)
  expect_true(is_inside(fixed$suggest(2, fixed = list(acid = 2))))
  open <- edited(bench_domain, cbind(data, mood = 1:4), n_initial = 0, contexts = "mood")
  expect_true(is_inside(open$suggest(context = c(mood = 2))))
  expect_equal(open$history()$temp[1:4], data$temp)
  transfer <- edited(bench_domain, data, n_initial = 0, transfer = list(may = data))
  expect_true(is_inside(transfer$suggest()))
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  point <- bandit_store(tempfile(fileext = ".sqlite"), "edited")
  core <- edited(bench_domain, data, n_initial = 0, store = point)
  theirs <- open_bandit(point)
  expect_identical(theirs$history(), core$history())
  expect_identical(theirs$best(), core$best())
  expect_true(is_inside(theirs$suggest()))
})

test_that("a product's rows must stay the same, and its box may change", {
  rows <- data.frame(kind = 1:3)
  old <- auto_bandit(product_domain(rows, list(x = c(0, 1))), n_initial = 0)
  old$add(data.frame(kind = c(1, 2, 3, 1), x = c(0.1, 0.7, 0.9, 0.3)), reward = c(5, 2, 1, 4))
  upper <- product_domain(rows, list(x = c(0.5, 1)))
  expect_message(bandit <- auto_bandit(upper, old$history(), n_initial = 0), "Rows 1, 4 of `data`")
  expect_equal(bandit$history()[c("arm", "kind", "x", "reward")], old$history()[c("arm", "kind", "x", "reward")])
  expect_true(all(bandit$suggest(3)$x >= 0.5))
  expect_gte(bandit$best()$x, 0.5)
  expect_identical(from_json(as_json(bandit))$history(), bandit$history())
  err <- expect_error(auto_bandit(product_domain(rows[1:2, , drop = FALSE], list(x = c(0, 1))), old$history()),
                      class = "gpbandits_error")
  expect_identical(err$argument, "data")
})

test_that("on search spaces and logarithmic inputs numbers may be outside, and are returned as given", {
  space <- search_space(rate = param_real(0.01, 1, log = TRUE), trees = param_integer(10, 20, log = TRUE),
                        solvent = c("water", "oil"), acid = param_real(0, 1, when = ~ solvent == "water"),
                        where = ~ rate <= 0.5)
  data <- data.frame(rate = c(1e-4, 30, 0.1, 0.2), trees = c(12L, 15L, 300L, 11L),
                     solvent = c("oil", "water", "oil", "water"), acid = c(NA, 0.5, NA, 2), reward = c(9, 1, 2, 3))
  set.seed(22)
  bandit <- edited(space, data, n_initial = 0)
  expect_equal(bandit$history()[names(data)], data)
  asked <- bandit$suggest(3)
  expect_true(all(asked$rate >= 0.01 & asked$rate <= 0.5 & asked$trees %in% 10:20))
  expect_true(all(is.na(asked$acid) | asked$acid <= 1))
  expect_true(bandit$best()$rate >= 0.01)
  box <- edited(box_domain(c(0.1, 1), c(10, 9), names = c("a", "n"), integer = c(FALSE, TRUE), log = "a"),
                     data.frame(a = c(0.1, 10, 1e-3, 200 / 3), n = c(1, 9, 3, 30), reward = 1:4), n_initial = 0)
  expect_equal(box$history()$a, c(0.1, 10, 1e-3, 200 / 3), tolerance = 1e-13)
  expect_equal(box$history()$n, c(1, 9, 3, 30))
  mix <- search_space(blend = param_shares(c("sand", "lime"), lower = c(0.4, 0)))
  blends <- data.frame(sand = c(0.2, 0.5), lime = c(0.8, 0.5), reward = 1:2)
  expect_equal(edited(mix, blends, n_initial = 0)$history()$sand, c(0.2, 0.5))
})

test_that("impossible values are errors that name them", {
  refused <- function(space, data, text, ...) {
    expect_error(auto_bandit(space, data, ...), text, class = "gpbandits_error")
  }
  rate <- list(rate = param_real(0.1, 1, log = TRUE), solvent = c("water", "oil"))
  refused(rate, data.frame(rate = 2, solvent = "milk", reward = 1), "one of water, oil in solvent, not .*milk")
  refused(rate, data.frame(rate = -1, solvent = "oil", reward = 1), "numbers > 0, because their logarithms are taken")
  refused(list(n = param_integer(1, 5)), data.frame(n = 3e9, reward = 1), "up to 2147483647")
  refused(rate, data.frame(rate = Inf, solvent = "oil", reward = 1), "finite")
  box <- box_domain(c(0.1, 1), c(10, 9), names = c("a", "n"), integer = c(FALSE, TRUE), log = "a")
  refused(box, data.frame(a = 0, n = 2, reward = 1), "a number > 0")
  refused(box, data.frame(a = 20, n = 2.5, reward = 1), "an integer")
  refused(search_space(blend = param_shares(c("sand", "lime"), lower = c(0.4, 0))),
          data.frame(sand = 0.2, lime = 0.2, reward = 1), "sum")
  refused(finite_domain(1:3), data.frame(x1 = 5, reward = 1), "data")
  bandit <- edited(bench_domain, data.frame(temp = 10, acid = 1, reward = 1))
  expect_error(bandit$add(c(temp = 10, acid = 1)), "within \\[40, 100\\]", class = "gpbandits_error")
  expect_error(bandit$add(c(temp = 10, acid = 1), reward = 1, find = identity), "find", class = "gpbandits_error")
  expect_equal(nrow(bandit$history()), 1)
})

test_that("with several outcomes rows outside are observed, and on no front", {
  data <- data.frame(x = c(0.2, 0.6, 1.4, 1.8), a = c(0, 1, 5, 6), b = c(0, -1, 5, NA))
  set.seed(23)
  bandit <- edited(list(x = c(0, 1)), data, n_initial = 0,
                   outcomes = list(a = to_maximize(), b = to_maximize()))
  expect_equal(bandit$history()$x, data$x)
  expect_equal(bandit$history()$a, data$a)
  expect_true(all(bandit$front()$x <= 1))
  expect_true(bandit$suggest()$x <= 1)
})

test_that("before the first refit results use the refit that is due, without a change of the bandit", {
  box <- list(x = c(0, 1), y = c(0, 1))
  set.seed(6)
  data <- data.frame(x = runif(12), y = runif(12), reward = rnorm(12, 0.25, 0.02))
  at <- data.frame(x = c(0.2, 0.7), y = c(0.5, 0.1))
  looks <- function(b) {
    list(b$posterior(at), predict(b, at), b$best(), summary(b)$best, as.data.frame(check_model(b))[c("mean", "sd")],
         input_importance(b, points = 64, draws = 0), utils::capture.output(print(b)), utils::capture.output(b$show()),
         utils::capture.output(methods::show(b)), b$information_gain(), summary(b)$information_gain)
  }
  b <- auto_bandit(box, data = data)
  before <- as_json(b)
  seed <- .Random.seed
  early <- looks(b)
  expect_identical(.Random.seed, seed)
  expect_identical(as_json(b), before)
  expect_identical(early[8:9], early[c(7, 7)])
  expect_identical(early[[11]], early[[10]])
  # Asked and taken back: the refit has been, and the rewards are the same.
  other <- b$copy()
  set.seed(7)
  q <- b$suggest()
  b$withdraw(q$id)
  expect_identical(looks(b)[-(7:9)], early[-(7:9)])
  set.seed(7)
  expect_identical(other$suggest(), q)
  # A design that is reported at once: only noise, and the results state it.
  few <- auto_bandit(box)
  q <- few$suggest(10)
  few$observe(q$id, rnorm(10, 0.25, 0.02))
  best <- few$best()
  expect_lt(abs(best$mean - 0.25), 3 * best$sd)
  expect_output(print(few), "average over")
  # Parameters that the user gave are the user's.
  own <- gp_bandit(box, kernel_se(0.3), 0.01, policy_ucb(2), refit = refit_every(2))
  own$add(at, reward = c(1, 2))
  own$add(data[1:6, 1:2], reward = data$reward[1:6])
  plain <- gp_bandit(box, kernel_se(0.3), 0.01, policy_ucb(2))
  plain$add(at, reward = c(1, 2))
  plain$add(data[1:6, 1:2], reward = data$reward[1:6])
  expect_identical(own$posterior(at), plain$posterior(at))
})

test_that("the refit that results use is made once, until there are new data", {
  set.seed(8)
  b <- auto_bandit(list(x = c(0, 1)), data = data.frame(x = runif(15), reward = rnorm(15)))
  made <- function() as.environment(b)$.look$twin
  best <- b$best()
  expect_identical(predict(b, data.frame(x = best$x))$mean, best$mean)
  summary(b)
  first <- made()
  expect_identical(b$best(), best)
  expect_identical(made(), first)
  # (A check of the model counts the checks before it, of any copy.)
  expect_identical(as.environment(first)$.looks, 1)
  b$add(x = matrix(0.4), reward = 9)
  expect_false(identical(b$best(), best))
  summary(b)
  expect_false(identical(made(), first))
  expect_identical(as.environment(made())$.looks, 2)
  b$suggest()
  summary(b)
  expect_null(made())
  expect_identical(as.environment(b)$.looks, 3)
})

test_that("with one reward, or equal ones, an evaluated point is recommended", {
  spaces <- list(list(x = c(2, 4), y = c(-3, 3)), search_space(x = c(2, 4), y = c(-3, 3)))
  for (space in spaces) {
    one <- auto_bandit(space, data.frame(x = 3.1, y = 1, reward = 10))
    expect_equal(unlist(one$best()[c("x", "y")]), c(x = 3.1, y = 1))
    data <- data.frame(x = c(3.1, 2.5, 2.2), y = c(1, 1, -2), reward = c(10, 10, NA),
                       status = c("observed", "observed", "failed"))
    two <- auto_bandit(space, data, failures = "avoid")
    expect_true(two$best()$x %in% data$x[1:2])
  }
  coded <- auto_bandit(search_space(k = letters[1:5], x = c(0, 1)), data.frame(k = "d", x = 0.9, reward = 3))
  expect_equal(coded$best()$x, 0.9)
  expect_identical(as.character(coded$best()$k), "d")
  arms <- auto_bandit(finite_domain(1:9), data.frame(x1 = 4, reward = 3))
  expect_identical(arms$best()$arm, 4L)
  set.seed(1)
  found <- maximize_bandit(function(p) -p[["x"]]^2, list(x = c(2, 4)), 1)
  expect_equal(found$par[["x"]], found$history$x)
})

# Known up to 1e-6 of their variance, and never refitted.
without_noise <- function(domain, data, ..., kernel = NULL) {
  auto_bandit(domain, data, ..., model = gp_model(kernel, noise_var = 1e-6, refit = NULL), n_initial = 0)
}

test_that("without noise no point is evaluated twice before a finite space is used up", {
  spaces <- list(search_space(a = param_integer(1, 4), k = c("u", "v", "w")),
                 finite_domain(expand.grid(a = 1:4, k = 1:3)),
                 box_domain(c(a = 1, k = 1), c(a = 4, k = 3), integer = c(TRUE, TRUE)))
  for (space in spaces) {
    k <- if (inherits(space, "search_domain")) c("u", "w") else c(1, 3)
    b <- without_noise(space, data.frame(a = c(2, 3), k = k, reward = c(1, 2)))
    for (step in 1:2) {
      batch <- b$suggest(3)
      b$observe(batch$id, batch$a)
    }
    b$suggest(4)
    points <- b$history()[c("a", "k")]
    expect_identical(anyDuplicated(points), 0L)
    expect_identical(nrow(b$suggest(2)), 2L)
  }
})

test_that("no two points of a batch are equal, also with noise", {
  data <- data.frame(x = c(20, 60, 90, 120, 170, 199), reward = c(1, 4, 2, 3, 2, 1))
  for (noise_var in c(1e-6, 0.1)) {
    b <- auto_bandit(search_space(x = param_integer(1, 200)), data,
                     model = gp_model(noise_var = noise_var, refit = NULL), n_initial = 0)
    batch <- b$suggest(35)
    expect_identical(anyDuplicated(batch$x), 0L)
    if (noise_var < 1e-4) expect_false(any(batch$x %in% data$x))
  }
  # On a box its points lie 1% of the ranges apart.
  box <- without_noise(list(x = c(0, 1)), data.frame(x = c(0, 0.3, 0.4, 0.5, 0.8, 1), reward = c(0, 2, 3, 3, 1, 0)))
  expect_gt(min(diff(sort(box$suggest(8)$x))), 0.01)
  # What is asked for by gp_bandit() itself is the policy's own choice.
  own <- gp_bandit(1:9, kernel_se(2), 0.01, policy_ei())
  own$add(arm = 4, reward = 1)
  expect_warning(batch <- own$suggest(3), class = "gpbandits_repeats")
  expect_identical(length(unique(batch$arm)), 1L)
})

test_that("without noise the best evaluated point is recommended, unless another is better beyond its uncertainty", {
  rough <- data.frame(x = c(0, 0.2, 0.45, 0.5, 0.8, 1), reward = c(0, 2, -1, 3, -2, 1))
  b <- without_noise(list(x = c(0, 1)), rough, kernel = kernel_matern(2.5, 0.06))
  grid <- data.frame(x = seq(0, 1, 0.01))
  expect_gt(max(b$posterior(grid)$mean), 3)
  expect_equal(b$best()$x, 0.5)
  noisy <- auto_bandit(list(x = c(0, 1)), rough,
                       model = gp_model(kernel = kernel_matern(2.5, 0.06), noise_var = 0.1, refit = NULL),
                       n_initial = 0)
  expect_gte(noisy$best()$mean, max(noisy$posterior(grid)$mean) - 1e-6)
  smooth <- data.frame(x = c(0, 0.2, 0.35, 0.65, 0.8, 1))
  smooth$reward <- -(smooth$x - 0.5)^2
  sure <- without_noise(list(x = c(0, 1)), smooth, kernel = kernel_se(0.5))
  expect_equal(sure$best()$x, 0.5, tolerance = 0.02)
  expect_identical(b$copy()$best(), b$best())
  # Better by more than one sd, but not by two: the largest of many means is too high.
  curved <- transform(smooth, reward = 10 * reward)
  unsure <- without_noise(list(x = c(0, 1)), curved, kernel = kernel_matern(2.5, 0.4))
  at <- unsure$posterior(grid)
  highest <- which.max(at$mean)
  gain <- (at$mean[highest] - max(curved$reward)) / at$sd[highest]
  expect_gt(gain, 1.1)
  expect_lt(gain, 1.9)
  expect_equal(unsure$best()$x, 0.35)
})

test_that("without any observed reward, an avoided failure leaves no trace", {
  made <- function(failures) {
    b <- gp_bandit(list(x = c(0, 1)), kernel_se(0.2), 0.01, policy_ucb(width_constant(2)),
                   pending = pending_hallucinate(), failures = failures)
    b$suggest()
    b$fail(1)
    b
  }
  avoiding <- made("avoid")
  columns <- c("x", "mean", "sd")
  expect_identical(avoiding$copy()$suggest(3)[["x"]], made("forget")$suggest(3)[["x"]])
  forgetting <- made("forget")
  avoiding$suggest()
  forgetting$suggest()
  expect_identical(avoiding$history()[2, columns], forgetting$history()[2, columns])
  # ... and then it counts as the worst.
  avoiding$observe(2, 1)
  expect_equal(avoiding$posterior(avoiding$history()[1, "x", drop = FALSE])$mean, 1, tolerance = 0.05)
  expect_equal(avoiding$copy()$suggest(2), avoiding$suggest(2))
  again <- made("avoid")
  again$observe(1, 3)
  expect_equal(again$posterior(data.frame(x = again$history()$x))$mean, 3, tolerance = 0.05)
})

test_that("a status of failure in data counts whatever the reward, and a message lists the row", {
  data <- data.frame(x = c(0.1, 0.5, 0.9, 0.3), reward = c(1, 2, 3, 4),
                     status = c("ok", "Failed", "error: no heat", "withdrawn"))
  expect_message(b <- auto_bandit(list(x = c(0, 1)), data), "\"failed\": row 2, 3, 4")
  expect_identical(b$history()$status, c("observed", "failed", "failed"))
  expect_identical(b$history()$reward, c(1, NA, NA))
  expect_message(found <- maximize_bandit(function(p) p$x, list(x = c(0, 1)), 2, data = data), "row 2, 3, 4")
  expect_identical(sum(!is.na(found$history$reward)), 3L)
  expect_message(auto_bandit(list(x = c(0, 1)), cbind(data, w = 1), outcomes = list(reward = to_maximize(),
                                                                                  w = at_least(0))), "row 2, 3, 4")
  fine <- replace(data, "status", list(c("ok", "observed", NA, "pending")))
  expect_silent(b <- auto_bandit(list(x = c(0, 1)), fine))
  expect_identical(b$history()$status, rep("observed", 4))
})

test_that("an outcome that is added to a history leaves failed and withdrawn experiments closed", {
  goals <- list(u = to_maximize(), v = at_most(2))
  old <- auto_bandit(list(x = c(0, 1)), n_initial = 6, outcomes = goals)
  old$suggest(6)
  old$observe(1, c(u = 1, v = 1))
  old$fail(2)
  old$withdraw(3)
  old$observe(4, c(u = 1))
  old$observe(5, c(u = 1))
  old$fail(5)
  more <- c(goals, list(w = at_least(0)))
  settled <- function(new) status_of(as.environment(new), seq_len(nrow(new$history())))
  new <- auto_bandit(list(x = c(0, 1)), cbind(old$history(), w = 1:6), outcomes = more)
  expect_identical(new$history()$w, as.double(1:6))
  expect_false(any(settled(new)[c(1, 2, 3, 5)] %in% c("partial", "pending")))
  expect_identical(settled(new)[c(4, 6)], c("partial", "partial"))
  new$observe(4, c(v = 1))
  single <- auto_bandit(list(x = c(0, 1)), n_initial = 2)
  single$suggest(2)
  single$fail(1)
  new <- auto_bandit(list(x = c(0, 1)), cbind(single$history(), w = 1:2),
                     outcomes = list(reward = to_maximize(), w = at_least(0)))
  expect_identical(settled(new), c("observed", "partial"))
})

test_that("different rewards at one point under noise = \"none\" give one warning, from data and from results", {
  exact <- gp_model(noise = "none")
  box <- list(x = c(0, 1))
  data <- data.frame(x = c(0.1, 0.5, 0.5), reward = c(1, 2, 5))
  expect_warning(auto_bandit(box, data, model = exact), "Queries 2 and 3 .* 2 and 5.*gp_model", class = "gpbandits_warning")
  expect_warning(auto_bandit(box, data.frame(x = 0.5, u = c(1, 1), v = c(3, 4)), model = exact,
                             outcomes = list(u = to_maximize(), v = at_most(9))), "`v` are 3 and 4")
  expect_warning(maximize_bandit(function(p) p$x, box, 2, data = data, model = exact), "contradicts")
  expect_silent(b <- auto_bandit(box, data[1:2, ], model = exact))
  expect_silent(b$add(data.frame(x = 0.5), reward = 2 + 1e-12))
  expect_warning(b$add(data.frame(x = 0.1), reward = 3), "contradicts")
  expect_silent(b$add(data.frame(x = 0.1), reward = 4))
  expect_silent(auto_bandit(box, data))
})

test_that("a bandit's object in the core is made once", {
  made <- 0
  space <- asNamespace("gpbandits")
  core <- space$cpp_bandit_new
  put <- function(f) {
    unlockBinding("cpp_bandit_new", space)
    assign("cpp_bandit_new", f, envir = space)
    lockBinding("cpp_bandit_new", space)
  }
  on.exit(put(core))
  put(function(...) {
    made <<- made + 1
    core(...)
  })
  auto_bandit(list(a = c(0, 1)), model = gp_model(noise = "none"))
  expect_identical(made, 1)
})
