# Several outcomes through maximize_bandit(), minimize_bandit() and auto_bandit().

two_outcomes <- list(yield = to_maximize(), impurity = at_most(0.2))

# The best where impurity, which is x, is at most .2: x = .2, yield sin(1).
bounded <- function(p) c(impurity = p[["x"]], yield = sin(5 * p[["x"]]))

test_that("maximize_bandit() finds the best value that satisfies a limit", {
  set.seed(1)
  found <- maximize_bandit(bounded, list(x = c(0, 1)), 14, outcomes = two_outcomes)
  expect_equal(found$par[["x"]], 0.2, tolerance = 0.02)
  expect_named(found$value, c("yield", "impurity"))
  expect_equal(found$value[["yield"]], sin(5 * found$par[["x"]]), tolerance = 0.02)
  expect_gte(found$feasible, 0.95 - 1e-6)
  expect_null(found$front)
  expect_identical(names(found$history), c("x", "yield", "impurity", "status"))
  expect_true(all(found$history$status == "observed"))
  kept <- found$history$impurity <= 0.2
  expect_equal(found$observed$yield, max(found$history$yield[kept]))
  frame <- as.data.frame(found)
  running <- vapply(seq_len(14), function(t) max(frame$yield[seq_len(t)][kept[seq_len(t)]]), 0)
  expect_equal(frame$best, running)
  at <- data.frame(x = c(0.1, 0.9))
  expect_equal(predict(found, at), found$bandit$posterior(at))
  expect_named(predict(found, at), c("yield_mean", "yield_sd", "impurity_mean", "impurity_sd", "feasible"))
  expect_output(print(found), "impurity at most 0.2")
  expect_output(print(summary(found)), "impurity at most 0.2: binds")
  importance <- input_importance(found, points = 64, draws = 4)
  expect_identical(importance$outcome, c("yield", "impurity"))
  expect_identical(importance$input, c("x", "x"))
})

test_that("an outcome with its own kernel is refitted as by gp_model() with this kernel", {
  box <- list(x = c(0, 1), z = c(0, 10))
  config_of <- function(...) as.environment(auto_bandit(box, ...))$config
  refit_with <- function(kernel, ...) config_of(model = gp_model(kernel, ...))$refit
  # With several outcomes the default prior of the noise is another one.
  of_several <- rbind(c(log(1e-5), 2.5), c(log(0.3), 1.2))
  for (own in list(kernel_se(0.3), kernel_matern(1.5, c(0.3, 3)), kernel_se(0.3) + kernel_linear(dims = "x"))) {
    # Priors and averages over smoothness are for the default kernel.
    alone <- config_of(outcomes = list(yield = to_maximize(kernel = own)))
    expect_identical(alone[c("kernel", "refit")], list(kernel = own, refit = refit_with(own)))
    several <- config_of(outcomes = list(yield = to_maximize(), cost = at_most(1, kernel = own)),
                         model = gp_model(lengthscale_prior = c(0, 1)))
    expect_identical(several$refit, refit_with(NULL, lengthscale_prior = c(0, 1), noise_prior = of_several))
    expect_identical(several$outcomes$cost$refit, refit_with(own, lengthscale_prior = c(0, 1), noise_prior = of_several))
  }
  # What the outcome says of its refits holds, and so does a model without refits.
  given <- config_of(outcomes = list(yield = to_maximize(kernel = kernel_se(0.3), refit = refit_every(7))))
  expect_identical(given$refit, refit_every(7))
  expect_null(config_of(outcomes = list(yield = to_maximize(kernel = kernel_se(0.3))), model = gp_model(refit = NULL))$refit)
  # A search with one outcome is the search of this reward.
  set.seed(1)
  found <- maximize_bandit(function(p) c(yield = sin(5 * p[["x"]])), list(x = c(0, 1)), 8,
                           outcomes = list(yield = to_maximize(kernel = kernel_se(0.3))))
  set.seed(1)
  plain <- maximize_bandit(function(p) sin(5 * p[["x"]]), list(x = c(0, 1)), 8, model = gp_model(kernel_se(0.3)))
  expect_identical(found$history$x, plain$history$x)
})

test_that("with limits as a formula the number without a limit is the reward", {
  set.seed(1)
  down <- minimize_bandit(function(p) c(cost = -sin(5 * p[["x"]]), impurity = p[["x"]]), list(x = c(0, 1)), 12,
                          limits = ~ impurity <= 0.2)
  expect_identical(names(down$history), c("x", "reward", "impurity", "status"))
  expect_equal(down$par[["x"]], 0.2, tolerance = 0.03)
  expect_identical(down$direction, "minimize")
  set.seed(1)
  up <- maximize_bandit(bounded, list(x = c(0, 1)), 12, limits = ~ impurity <= 0.2, direction = "maximize")
  expect_equal(up$par, down$par, tolerance = 1e-6)
  set.seed(1)
  same <- minimize_bandit(function(p) c(reward = -sin(5 * p[["x"]]), impurity = p[["x"]]), list(x = c(0, 1)), 12,
                          outcomes = list(reward = to_minimize(), impurity = at_most(0.2)))
  expect_equal(same$history, down$history)
})

test_that("an outcome that is NA has failed alone, and an evaluation without numbers has failed", {
  set.seed(1)
  found <- maximize_bandit(function(p) {
    if (p[["x"]] > 0.8) return(c(yield = 5, impurity = NA))
    if (p[["x"]] < 0.05) return(c(yield = NA, impurity = NA))
    if (p[["x"]] > 0.5) stop("no")
    bounded(p)
  }, list(x = c(0, 1)), 12, outcomes = two_outcomes, n_initial = 8)
  history <- found$history
  reason <- ifelse(history$x > 0.8, NA, ifelse(history$x < 0.05, "returned NA", ifelse(history$x > 0.5, "error: no", NA)))
  expect_identical(history$reason, reason)
  expect_identical(history$status, ifelse(history$x > 0.8, "partial", ifelse(is.na(reason), "observed", "failed")))
  expect_length(unique(history$status), 3)
  inside <- found$bandit$history()
  expect_equal(inside$yield, history$yield)
  expect_equal(inside$impurity, history$impurity)
  # A failure counts as the worst of the outcome: the second bandit gets that value.
  twin <- gp_bandit(c(0.1, 0.5, 0.9), kernel_se(0.3), 0.01, policy_ei(), failures = "avoid", outcomes = two_outcomes)
  twin$add(arm = 1:3, reward = data.frame(yield = c(1, 2, 3), impurity = c(0.3, 0.1, NA)))
  record_values_of <- get("record_values", asNamespace("gpbandits"))
  record_values_of(as.environment(twin), 3L, c(yield = 3, impurity = NA))
  worst <- gp_bandit(c(0.1, 0.5, 0.9), kernel_se(0.3), 0.01, policy_ei(), outcomes = two_outcomes)
  worst$add(arm = 1:3, reward = data.frame(yield = c(1, 2, 3), impurity = c(0.3, 0.1, 0.3)))
  expect_equal(twin$posterior(), worst$posterior())
  expect_warning(none <- maximize_bandit(function(p) 3, list(x = c(0, 1)), 12, outcomes = two_outcomes),
                 class = "gpbandits_no_success")
  expect_match(none$history$reason[1], "yield, impurity")
  expect_null(none$par)
  expect_output(print(none), "no evaluation has succeeded")
})

test_that("two objectives give a front, and three one by hypervolume", {
  set.seed(2)
  found <- maximize_bandit(function(p) c(a = p[["x"]] * p[["y"]], b = 1 - p[["x"]]^2), list(x = c(0, 1), y = c(0, 1)), 14,
                           outcomes = list(a = to_maximize(), b = to_maximize()))
  expect_identical(found$bandit$config$policy$kind, "ehvi")
  expect_null(found$par)
  expect_equal(found$front, found$bandit$front())
  # The true front is y = 1: b = 1 - a^2.
  expect_lt(max(abs(found$front$b_mean - (1 - found$front$a_mean^2))), 0.15)
  frame <- as.data.frame(found)
  expect_true(all(diff(frame$hypervolume) >= 0))
  reference <- apply(frame[c("a", "b")], 2, function(v) min(v) - 0.1 * diff(range(v)))
  seen <- frame[order(frame$a, decreasing = TRUE), c("a", "b")]
  top <- cummax(c(reference[["b"]], seen$b))
  volume <- sum((seen$a - reference[["a"]]) * diff(top))
  expect_equal(frame$hypervolume[14], volume)
  expect_output(print(found), "Pareto front of a, b")
  three <- maximize_bandit(function(p) c(a = p[["x"]], b = -p[["x"]], c = p[["x"]]^2), list(x = c(0, 1)), 6,
                           outcomes = list(a = to_maximize(), b = to_maximize(), c = to_minimize()))
  expect_identical(three$bandit$config$policy$kind, "hypervolume")
  expect_output(print(summary(three)), "Pareto front of a, b, c")
})

test_that("a single outcome equals a search without outcomes, to the bit", {
  objective <- function(p) sin(5 * p[["x"]])
  set.seed(1)
  plain <- maximize_bandit(objective, list(x = c(0, 1)), 10)
  set.seed(1)
  named <- maximize_bandit(function(p) c(yield = objective(p)), list(x = c(0, 1)), 10,
                           outcomes = list(yield = to_maximize()))
  expect_named(named$history, c("x", "yield", "status"))
  expect_identical(unname(as.list(named$history)), unname(as.list(plain$history)))
  expect_identical(named$par, plain$par)
})

test_that("auto_bandit() accepts observed, pending and failed rows of a table, a bandit or a search", {
  known <- data.frame(x = c(0.1, 0.5, 0.9), yield = c(0.5, 0.6, -0.9), impurity = c(0.1, NA, 0.9))
  b <- auto_bandit(list(x = c(0, 1)), known, outcomes = two_outcomes)
  expect_identical(b$history()$status, c("observed", "partial", "observed"))
  b$observe(2, c(impurity = 0.5))
  q <- b$suggest(2)
  b$observe(data.frame(id = q$id[1], impurity = 0.3))
  b$fail(q$id[2])
  again <- auto_bandit(list(x = c(0, 1)), b$history(), outcomes = two_outcomes)
  expect_identical(again$history()$status, c("observed", "observed", "observed", "partial", "failed"))
  expect_equal(again$history()[c("x", "yield", "impurity")], b$history()[c("x", "yield", "impurity")])
  only <- auto_bandit(list(x = c(0, 1)), known[c("x", "yield")], outcomes = two_outcomes)
  expect_identical(only$history()$status, rep("partial", 3))
  set.seed(1)
  found <- maximize_bandit(function(p) if (p[["x"]] > 0.6) c(yield = 2, impurity = NA) else bounded(p), list(x = c(0, 1)), 8,
                           outcomes = two_outcomes)
  more <- auto_bandit(list(x = c(0, 1)), found$history, outcomes = two_outcomes)
  expect_false(any(more$history()$status %in% c("pending", "partial")))
  expect_equal(more$history()$impurity, found$history$impurity)
  limited <- auto_bandit(list(x = c(0, 1)), stats::setNames(known, c("x", "reward", "impurity")), limits = ~ impurity <= 0.2, direction = "minimize")
  expect_identical(limited$config$outputs$direction, "minimize")
  expect_equal(limited$history()$reward, known$yield)
  expect_identical(auto_bandit(list(x = c(0, 1)), outcomes = list(a = to_maximize(), b = to_minimize()))$config$policy$kind, "ehvi")
})

test_that("a search over several outcomes resumes from its journal", {
  file <- tempfile()
  objective <- function(p) if (p[["x"]] > 0.9) c(yield = 1, impurity = NA) else bounded(p)
  run <- function(evaluations, journal = NULL) {
    set.seed(5)
    maximize_bandit(objective, list(x = c(0, 1)), evaluations, outcomes = two_outcomes, n_initial = 5,
                    journal = journal)
  }
  run(7, file)
  expect_equal(run(10, file)$history, run(10)$history)
})

test_that("workers evaluate several outcomes in a store", {
  skip_if_not_installed("RSQLite")
  file <- tempfile(fileext = ".sqlite")
  store <- bandit_store(file, "demo", seed = 1)
  objective <- function(p) if (p[["x"]] > 0.9) c(yield = 1, impurity = NA) else if (p[["x"]] > 0.8) stop("no") else bounded(p)
  found <- maximize_bandit(objective, list(x = c(0, 1)), 10, outcomes = two_outcomes, store = store,
                           data = data.frame(x = c(0.05, 0.85, 0.95), yield = c(0.2, 0.1, 1), impurity = c(0.05, 0.85, NA)))
  expect_equal(nrow(found$history), 13)
  own <- found$history[-(1:3), ]
  expect_identical(own$status, ifelse(own$x > 0.9, "partial", ifelse(own$x > 0.8, "failed", "observed")))
  expect_false(any(found$bandit$history()$status %in% c("pending", "partial")))
  expect_equal(found$par[["x"]], 0.2, tolerance = 0.1)
})

test_that("invalid calls with several outcomes are errors in words", {
  search <- function(...) maximize_bandit(bounded, list(x = c(0, 1)), 5, ...)
  bad <- function(code, text) expect_error(code, text, class = "gpbandits_error")
  bad(search(outcomes = two_outcomes, direction = "maximize"), "direction")
  bad(search(outcomes = two_outcomes, limits = ~ impurity <= 2), "limits")
  bad(search(outcomes = list(a = at_most(2))), "objective")
  bad(search(outcomes = 5), "outcomes")
  bad(search(limits = ~ x == 2), "limits")
  bad(search(limits = ~ a <= 2, direction = "up"), "direction")
  bad(search(outcomes = list(x = to_maximize(), b = at_most(1))), "named")
  bad(search(outcomes = two_outcomes, race = race_folds(3)), "race")
  bad(search(outcomes = two_outcomes, stop_when = stop_gap(0.1)), "stop_when")
  bad(search(outcomes = two_outcomes, data = data.frame(x = 0.5)), "data")
  bad(search(outcomes = two_outcomes, data = data.frame(x = 0.5, yield = "a")), "yield")
  bad(search(constraints = constraints_noiseless(1, epoch = 5)), "limits")
  bad(minimize_bandit(bounded, list(x = c(0, 1)), 5, outcomes = two_outcomes), "to_maximize")
  bad(auto_bandit(list(x = c(0, 1)), outcomes = two_outcomes, direction = "minimize"), "direction")
  bad(auto_bandit(list(x = c(0, 1)), data.frame(x = 1, reward = 2), outcomes = two_outcomes), "data")
  bad(search(outcomes = list(a = to_maximize(), b = to_maximize()), policy = policy_ei()), "policy")
})

test_that("plots of limits and of fronts label their contents", {
  set.seed(3)
  noisy <- function(p) bounded(p) + rnorm(2, 0, 0.02)
  one <- maximize_bandit(noisy, list(x = c(0, 1)), 10, outcomes = two_outcomes)
  two <- maximize_bandit(function(p) c(speed = p[["x"]], cost = p[["x"]]^2 + p[["y"]], heat = p[["x"]] + p[["y"]]), list(x = c(0, 1), y = c(0, 1)), 12,
                         outcomes = list(speed = to_maximize(), cost = to_minimize(), heat = at_most(1.3)))
  local_device()
  view <- plot(one, "progress")$progress
  expect_identical(names(view), c("evaluation", "reward", "best", "kept", "status"))
  expect_identical(view$kept, one$history$impurity <= 0.2)
  feasible <- plot(one, "feasible", resolution = 11)$feasible
  expect_equal(feasible$feasible, predict(one, data.frame(x = feasible$value))$feasible)
  slices <- plot(one, "slices", resolution = 11)$slices
  expect_equal(slices$mean, predict(one, data.frame(x = slices$value))$yield_mean)
  front <- plot(two, "front")$front
  expect_equal(front$x[front$kind == "front"], two$front$speed_mean)
  expect_equal(front$upper_y[front$kind == "front"], two$front$cost_mean + 2 * two$front$cost_sd)
  expect_equal(sum(front$kind == "infeasible"), sum(two$history$heat > 1.3))
  # The reference point is worse than all of them: less speed, more cost.
  seen <- front[front$kind %in% c("kept", "infeasible"), ]
  reference <- front[front$kind == "reference", ]
  expect_true(reference$x < min(seen$x) && reference$y > max(seen$y))
  expect_setequal(names(plot(two)), c("progress", "front", "feasible", "importance"))
  expect_error(plot(one, "front"), "one objective", class = "gpbandits_error")
  expect_error(plot(two, "slices"), "several objectives", class = "gpbandits_error")
  plain <- maximize_bandit(function(p) p[["x"]], list(x = c(0, 1)), 4)
  expect_error(plot(plain, "feasible"), "without limits", class = "gpbandits_error")
  skip_if_not_installed("ggplot2")
  for (which in few_of(c("progress", "feasible", "slices"), 1)) expect_s3_class(ggplot2::autoplot(one, which), "ggplot")
  for (which in c("progress", "feasible", "front")) {
    picture <- ggplot2::autoplot(two, which)
    expect_s3_class(picture, "ggplot")
    expect_equal(as.data.frame(picture$data)[1:2], as.data.frame(plot(two, which)[[which]])[1:2])
    ggplot2::ggplot_build(picture)
  }
})

test_that("the service accepts outcomes by name, one by one", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("jsonlite")
  file <- tempfile(fileext = ".sqlite")
  store <- bandit_store(file, "demo", seed = 1)
  b <- gp_ei(c(0.1, 0.2, 0.5), kernel_se(0.3), 0.01, pending = pending_hallucinate(), store = store, outcomes = two_outcomes)
  service <- list(bandit = b, store = store)
  core <- asNamespace("gpbandits")
  said <- function(answer) jsonlite::fromJSON(answer$body)
  asked <- said(core$serve_suggest(service, list(n = 2)))$queries
  first <- said(core$serve_observe(service, list(id = asked$id[1], token = asked$token[1], outcomes = list(yield = 0.5, impurity = NULL))))
  expect_identical(first$status, "partial")
  expect_identical(said(core$serve_observe(service, list(id = asked$id[1], outcomes = list(impurity = 0.1))))$status, "observed")
  expect_identical(said(core$serve_observe(service, list(id = asked$id[2], outcomes = list(yield = 0.7))))$status, "partial")
  expect_identical(said(core$serve_withdraw(service, list(id = asked$id[2], outcome = "impurity")))$status, "observed")
  expect_identical(said(core$serve_amend(service, list(id = asked$id[1], outcomes = list(yield = 0.6))))$status, "observed")
  expect_equal(b$history()$yield, c(0.6, 0.7))
  expect_equal(b$history()$impurity, c(0.1, NA))
  best <- said(core$serve_best(service, list()))
  expect_named(best$outcomes, c("yield", "impurity"))
  expect_equal(best$feasible, suppressWarnings(b$best())$feasible)
  before <- b$history()
  for (bad in list(list(yield = "a"), list(yield = c(1, 2)), list(h = 1), list(1), list(yield = Inf), 3)) {
    expect_error(core$serve_observe(service, list(id = 1, outcomes = bad)), class = "gpbandits_error")
  }
  expect_error(core$serve_observe(service, list(id = 1, reward = 1, outcomes = list(yield = 1))), class = "gpbandits_error")
  expect_identical(b$history(), before)
})

test_that("the plot of a bandit with outcomes shows the objective", {
  b <- gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.01, outcomes = two_outcomes)
  b$add(x = data.frame(x = c(0.1, 0.5)), reward = data.frame(yield = c(1, 2), impurity = c(0.1, 0.5)))
  local_device()
  expect_identical(names(plot(b)), c("x", "mean", "sd", "lower", "upper", "feasible"))
  data <- suppressWarnings(plot(b, type = "slices", resolution = 5))
  expect_equal(data$mean, b$posterior(data.frame(x = data$value))$yield_mean)
})

test_that("a bandit run by ask and tell has the plots of fronts and of limits", {
  b <- gp_bandit(list(x = c(0, 1), y = c(0, 1)), kernel_se(0.5), 1e-3, policy_ehvi(), outcomes = list(
    speed = to_maximize(), cost = to_minimize(), heat = at_most(1.3)))
  local_device()
  unknown <- gp_bandit(list(x = c(0, 1)), kernel_se(0.5), 1e-3, policy_ehvi(), outputs = scale_outputs(), outcomes = list(
    speed = to_maximize(), cost = to_minimize()))
  expect_error(plot(unknown, type = "front"), "has no observed value", class = "gpbandits_error")
  set.seed(1)
  x <- cbind(x = runif(12), y = runif(12))
  b$add(x = x, reward = data.frame(speed = x[, 1], cost = x[, 1]^2 + x[, 2], heat = x[, 1] + x[, 2]))
  front <- plot(b, type = "front")
  expect_equal(front$x[front$kind == "front"], b$front()$speed_mean)
  expect_equal(sum(front$kind == "infeasible"), sum(rowSums(x) > 1.3))
  feasible <- plot(b, type = "feasible", resolution = 5)
  expect_identical(unique(feasible$input), c("x", "y"))
  expect_true(all(feasible$feasible >= 0 & feasible$feasible <= 1))
  # Faster ones would be there without the limit; another one would change nothing.
  expect_identical(limits_as_text(as.environment(b)), "heat at most 1.3: does not bind")
  tight <- gp_bandit(list(x = c(0, 1), y = c(0, 1)), kernel_se(0.5), 1e-3, policy_ehvi(), outcomes = list(
    speed = to_maximize(), cost = to_minimize(), heat = at_most(0.6), sum = at_most(9, mean = 1)))
  tight$add(x = x, reward = data.frame(speed = x[, 1], cost = x[, 1]^2 + x[, 2], heat = x[, 1] + x[, 2], sum = 1))
  expect_identical(limits_as_text(as.environment(tight)), c("heat at most 0.6: binds", "sum at most 9: does not bind"))
  expect_output(print(summary(tight)), "heat at most 0.6: binds")
  one <- gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.01, outcomes = two_outcomes)
  expect_error(plot(one, type = "front"), "one objective", class = "gpbandits_error")
  expect_error(plot(gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.01), type = "feasible"), "without limits", class = "gpbandits_error")
  skip_if_not_installed("ggplot2")
  for (type in c("front", "feasible")) expect_s3_class(ggplot2::autoplot(b, type = type), "ggplot")
})

test_that("check_model() of an outcome equals that of a bandit with this outcome alone", {
  set.seed(8)
  x <- seq(0, 1, length.out = 12)
  b <- gp_ei(x, kernel_se(0.3), 0.04, outcomes = list(f = to_maximize(), g = at_most(1, kernel_se(0.2), 0.01, mean = 0.5)))
  alone <- gp_bandit(x, kernel_se(0.2), 0.01, policy_ei(), mean = 0.5)
  arms <- sample(12, 10)
  f <- sin(5 * x[arms]) + rnorm(10, 0, 0.2)
  g <- x[arms] + rnorm(10, 0, 0.1)
  b$add(arm = arms, reward = data.frame(f = f, g = NA))
  for (id in c(3, 1, 2, 10, 9, 5, 4, 6)) b$observe(id, stats::setNames(g[id], "g"))
  alone$add(arm = arms)
  for (id in c(3, 1, 2, 10, 9, 5, 4, 6)) alone$observe(id, g[id])
  core <- check_model(b, outcome = "g")
  expect_equal(core$tests, check_model(alone)$tests)
  expect_equal(as.data.frame(core), as.data.frame(check_model(alone)))
  first <- gp_bandit(x, kernel_se(0.3), 0.04, policy_ei())
  first$add(arm = arms, reward = f)
  expect_equal(check_model(b)$tests, check_model(first)$tests)
  expect_error(check_model(b, outcome = "h"), class = "gpbandits_error")
  expect_error(check_model(first, outcome = c("reward", "g")), class = "gpbandits_error")
})

# A limit that holds in a small disc, and an objective that grows towards its edge.
disc_data <- function(n) {
  at <- data.frame(x = c(seq(0.82, 0.98, length.out = n), 0.1, 0.5),
                   y = c(rep(c(0.05, 0.12, 0.15), length.out = n), 0.7, 0.5))
  cbind(at, reward = at$x + at$y, c1 = (at$x - 0.9)^2 + (at$y - 0.1)^2)
}
disc_outcomes <- list(reward = to_maximize(), c1 = at_most(0.01))

test_that("under limits the recommended point is as good as every evaluated one, and nearly as good as any of a grid", {
  domains <- list(list(x = c(0, 1), y = c(0, 1)), search_space(x = c(0, 1), y = c(0, 1)),
                  search_space(x = c(0, 1), y = c(0, 1), where = ~ x + y <= 1.9))
  fine <- expand.grid(x = seq(0.8, 1, 0.004), y = seq(0, 0.2, 0.004))
  for (domain in domains) {
    b <- gp_bandit(domain, kernel_se(0.4), 1e-5, policy_ei(), outcomes = disc_outcomes)
    data <- disc_data(9)
    b$add(data[c("x", "y")], reward = data[c("reward", "c1")])
    best <- b$best()
    expect_gte(best$feasible, 0.95 - 1e-6)
    for (rows in list(data[c("x", "y")], fine)) {
      at <- b$posterior(rows)
      expect_gte(best$reward_mean, max(at$reward_mean[at$feasible >= 0.95]) - 1e-6)
    }
    held <- b$best(fixed = list(x = 0.92))
    expect_identical(held$x, 0.92)
    line <- b$posterior(data.frame(x = 0.92, y = seq(0, 0.25, 0.001)))
    expect_gte(held$reward_mean, max(line$reward_mean[line$feasible >= 0.95]) - 1e-6)
  }
})

test_that("if no point is feasible with the requested probability, the most probable one is recommended", {
  b <- gp_bandit(list(x = c(0, 1), y = c(0, 1)), kernel_se(0.4), 1e-5, policy_ei(),
                 outcomes = list(reward = to_maximize(), c1 = at_most(-0.002)))
  data <- disc_data(9)
  b$add(data[c("x", "y")], reward = data[c("reward", "c1")])
  expect_warning(best <- b$best(), class = "gpbandits_infeasible")
  at <- b$posterior(rbind(data[c("x", "y")], expand.grid(x = seq(0, 1, 0.02), y = seq(0, 1, 0.02))))
  expect_gte(best$feasible, max(at$feasible) - 1e-6)
})

test_that("outcomes that are made of a point of one number keep their names", {
  for (objective in list(function(x) c(a = x, b = -x), function(x) c(a = x$x, b = -x$x))) {
    found <- maximize_bandit(objective, list(x = c(0, 1)), 3, outcomes = list(a = to_maximize(), b = at_most(0)))
    expect_identical(found$history$a, found$history$x)
    expect_identical(found$history$b, -found$history$x)
  }
})
