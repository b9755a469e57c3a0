# tune_gp_bandit(): tune_bayes() with a bandit.

from <- function(package) asNamespace(package)
needs_tune <- function() {
  for (package in c("tune", "workflows", "rsample", "parsnip", "dials", "rpart")) skip_if_not_installed(package)
}
tree_of_test <- function() {
  from("parsnip")$decision_tree("regression", "rpart", cost_complexity = tune(), min_n = tune())
}
ranges_of_test <- function() {
  from("dials")$parameters(from("dials")$cost_complexity(c(-4, -1)), from("dials")$min_n(c(2, 10)))
}
folds_of_test <- function() {
  set.seed(1)
  from("rsample")$vfold_cv(mtcars, v = 2)
}
tuned <- function(..., resamples = folds_of_test(), param_info = ranges_of_test()) {
  set.seed(2)
  suppressMessages(tune_gp_bandit(tree_of_test(), mpg ~ ., resamples, param_info = param_info, ...))
}
# Substitutes for objects of packages that may be missing.
stand_in <- function(class) structure(list(), class = class)

test_that("invalid arguments are errors that name them, also without package tune", {
  spec <- stand_in("model_spec")
  flow <- stand_in("workflow")
  acquisition <- function(kind, ...) structure(list(...), class = c(kind, "acquisition_function"))
  blamed <- function(code) tryCatch(code, gpbandits_error = function(e) e$argument)
  expect_identical(blamed(tune_gp_bandit()), "object")
  expect_identical(blamed(tune_gp_bandit(lm)), "object")
  expect_identical(blamed(tune_gp_bandit(spec)), "preprocessor")
  expect_identical(blamed(tune_gp_bandit(spec, 1, 2)), "preprocessor")
  bad <- list(iter = list(-1, 1.5, "two", NA), initial = list(0, "five", NULL, c(1, 2)), control = list(list(), 1),
              objective = list(1, "ei", acquisition("exp_improve", trade_off = function(i) i),
                               acquisition("conf_bound", kappa = -1), acquisition("exp_improve", trade_off = NA_real_)))
  for (arg in names(bad)) for (value in bad[[arg]]) {
    expect_identical(blamed(do.call(tune_gp_bandit, c(list(flow, 1), stats::setNames(list(value), arg)))), arg)
  }
})

test_that("tune's acquisition functions represent policies", {
  acquisition <- function(kind, ...) structure(list(...), class = c(kind, "acquisition_function"))
  policy <- function(x) gpbandits:::tuning_policy(x)
  expect_identical(policy(acquisition("exp_improve", trade_off = 0.1)), policy_ei(0.1))
  expect_identical(policy(acquisition("prob_improve", trade_off = 0)), policy_pi(0))
  expect_identical(policy(acquisition("conf_bound", kappa = 2)), policy_ucb(width_constant(2)))
  expect_identical(policy(policy_mean()), policy_mean())
})

test_that("the result is of tune_bayes()'s kind: the first settings, then `iter` more, for tune's functions", {
  needs_tune()
  rmse <- from("yardstick")$rmse
  rsq <- from("yardstick")$rsq
  found <- tuned(iter = 3, initial = 4, metrics = from("yardstick")$metric_set(rmse, rsq),
                 control = from("tune")$control_bayes(save_pred = TRUE))
  expect_s3_class(found, c("iteration_results", "tune_results"), exact = FALSE)
  expect_identical(as.data.frame(found)$.iter, rep(0:3, each = 2))
  metrics <- from("tune")$collect_metrics(found)
  expect_identical(sum(metrics$.iter == 0), 8L)
  for (i in 1:3) expect_identical(unique(metrics$.config[metrics$.iter == i]), sprintf("iter%d", i))
  expect_type(metrics$min_n, "integer")
  expect_true(all(metrics$min_n %in% 2:10 & metrics$cost_complexity >= 1e-4 & metrics$cost_complexity <= 0.1))
  best <- from("tune")$select_best(found, metric = "rmse")
  rmse <- metrics[metrics$.metric == "rmse", ]
  expect_identical(best$.config, rmse$.config[which.min(rmse$mean)])
  expect_identical(from("tune")$show_best(found, metric = "rmse", n = 7)$mean, sort(rmse$mean))
  expect_setequal(unique(from("tune")$collect_predictions(found)$.config), unique(metrics$.config))
  # The bandit knows every setting with its mean, by the metric's name.
  history <- attr(found, "bandit")$history()
  expect_equal(history$rmse, rmse$mean[order(rmse$.iter)])
  expect_identical(history$action, rep(c("given", "policy"), c(4, 3)))
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    expect_s3_class(ggplot2::autoplot(found, metric = "rmse", type = "performance"), "ggplot")
  }
})

test_that("metrics to be maximised are maximised, and earlier results are the start", {
  needs_tune()
  rsq <- from("yardstick")$rsq
  metrics <- from("yardstick")$metric_set(rsq)
  first <- from("tune")$tune_grid(tree_of_test(), mpg ~ ., folds_of_test(), metrics = metrics,
                                  param_info = ranges_of_test(),
                                  grid = data.frame(cost_complexity = c(1e-4, 1e-2, 0.5), min_n = c(2L, 8L, 5L)))
  found <- tuned(iter = 1, initial = first, metrics = metrics)
  history <- attr(found, "bandit")$history()
  means <- from("tune")$collect_metrics(first)
  # 0.5 is not in the space: it stays in the result.
  expect_equal(history$rsq[1:2], means$mean[match(history$min_n[1:2], means$min_n)])
  expect_identical(attr(found, "bandit")$best()$mean > mean(history$rsq), TRUE)
  expect_identical(nrow(history), 3L)
  expect_identical(nrow(from("tune")$collect_metrics(found)), 4L)
})

test_that("a parameter can be called `cost`, as that of a support vector machine is", {
  needs_tune()
  tree <- from("parsnip")$decision_tree("regression", "rpart", cost_complexity = tune("cost"), min_n = tune())
  ranges <- from("dials")$parameters(list(cost = from("dials")$cost_complexity(c(-4, 1)), min_n = from("dials")$min_n(c(2, 10))))
  set.seed(2)
  found <- suppressMessages(tune_gp_bandit(tree, mpg ~ ., folds_of_test(), param_info = ranges, iter = 2, initial = 4))
  metrics <- as.data.frame(from("tune")$collect_metrics(found))
  metrics <- metrics[metrics$.metric == "rmse", ]
  history <- attr(found, "bandit")$history()
  expect_equal(history$cost, metrics$cost[order(metrics$.iter)])
  expect_equal(history$rmse, metrics$mean[order(metrics$.iter)])
})

test_that("`reward` names the metric that is optimised, which is the first of the result", {
  rmse <- rsq <- function() NULL
  pair <- structure(identity, metrics = list(rmse = rmse, rsq = rsq), class = c("numeric_metric_set", "metric_set"))
  flow <- stand_in("workflow")
  expect_error(tune_gp_bandit(flow, 1, metrics = pair, reward = "mae"), "`reward` must be one of `metrics`: \"rmse\", \"rsq\"",
               class = "gpbandits_argument_error")
  expect_error(tune_gp_bandit(flow, 1, reward = "rsq"), "needs `metrics`", class = "gpbandits_argument_error")
  needs_tune()
  rmse <- from("yardstick")$rmse
  rsq <- from("yardstick")$rsq
  found <- tuned(iter = 2, initial = 3, metrics = from("yardstick")$metric_set(rmse, rsq), reward = "rsq")
  metrics <- as.data.frame(from("tune")$collect_metrics(found))
  history <- attr(found, "bandit")$history()
  expect_equal(history$rsq, metrics$mean[metrics$.metric == "rsq"][order(metrics$.iter[metrics$.metric == "rsq"])])
  expect_identical(from("tune")$show_best(found, n = 1, metric = "rsq")$mean, max(history$rsq))
  expect_setequal(metrics$.metric, c("rmse", "rsq"))
  expect_identical(from("tune")$.get_tune_metric_names(found)[1], "rsq")
})

test_that("it stops without improvement and at its time limit, and starts nothing after it", {
  needs_tune()
  counted <- function(...) max(as.data.frame(tuned(iter = 6, initial = 3, ...))$.iter)
  expect_identical(counted(control = from("tune")$control_bayes(time_limit = 1e-9)), 0L)
  expect_lt(counted(control = from("tune")$control_bayes(no_improve = 1)), 6)
  unknown <- from("dials")$parameters(from("dials")$mtry())
  expect_error(tuned(param_info = unknown), class = "gpbandits_error")
})

test_that("a setting that is suggested again gets the same result, and another one is suggested", {
  set.seed(1)
  bandit <- gpbandits:::tuning_bandit(search_space(n = param_integer(1, 3)), policy_mean(), gp_model(refit = NULL), NULL)
  bandit$add(data.frame(n = c(1L, 3L)), reward = c(0, 5))
  # No setting is suggested again as long as there are others, until a repeat has shown noise.
  expect_identical(gpbandits:::next_setting(bandit$copy())$n, 2L)
  bandit$add(data.frame(n = 3L), reward = 5.5)
  asked <- gpbandits:::next_setting(bandit)
  history <- bandit$history()
  reported <- history[history$action == "policy" & history$status == "observed", ]
  expect_identical(history$status[nrow(history)], "pending")
  expect_true(all(reported$n != 2L & reported$reward == ifelse(reported$n == 1L, 0, 5)))
  # The mean is best where it was observed: that point is suggested to the end.
  expect_identical(nrow(reported), 9L)
  curious <- gpbandits:::tuning_bandit(search_space(n = param_integer(1, 3)), policy_variance(), gp_model(refit = NULL), NULL)
  curious$add(data.frame(n = c(1L, 3L)), reward = c(0, 5))
  expect_identical(gpbandits:::next_setting(curious)$n, 2L)
})

test_that("a search whose models all failed warns, with the first note", {
  results <- function(...) list(list(.notes = lapply(list(...), function(notes) data.frame(note = notes))))
  text <- gpbandits:::failed_tuning_text
  expect_match(text(c(results(character(), "no licence"), results("later"))), "all models failed, the first: no licence")
  expect_identical(text(results(character())), "all models failed")
  expect_identical(text(list(list())), "all models failed")
})

test_that("settings for which all models failed count as the worst so far", {
  needs_tune()
  workflow <- from("workflows")$workflow(mpg ~ ., tree_of_test())
  set.seed(3)
  calls <- 0
  bandit <- gpbandits:::tuning_bandit(search_space(ranges_of_test()), policy_ei(), gp_model(), NULL)
  bandit$add(data.frame(cost_complexity = c(1e-3, 1e-2), min_n = c(3L, 7L)), reward = c(2, 5))
  first <- suppressMessages(from("tune")$tune_bayes(workflow, folds_of_test(), iter = 0, initial = 3,
                                                    param_info = ranges_of_test()))
  search <- list2env(list(bandit = bandit, found = list(first), cost = c(2, 5)))
  evaluate <- function(point) {
    calls <<- calls + 1
    failed <- first
    failed$.metrics <- lapply(failed$.metrics, function(frame) frame[0, ])
    failed
  }
  gpbandits:::tune_on(search, evaluate, 2, from("tune")$control_bayes(), function() FALSE)
  expect_identical(calls, 2)
  history <- bandit$history()
  expect_equal(history$reward, c(2, 5, NA, NA))
  expect_identical(utils::tail(history$status, 2), c("failed", "failed"))
  # The model takes a failed setting for as bad as the worst one: a cost above the mean of those that are known.
  expect_gt(min(bandit$posterior(history[3:4, c("cost_complexity", "min_n")])$mean), 2)
})

test_that("a race evaluates resamples one by one, and excludes stopped settings from the result", {
  needs_tune()
  set.seed(1)
  cars <- from("rsample")$vfold_cv(mtcars[rep(1:32, 3), ], v = 6)
  found <- tuned(iter = 6, initial = 3, race = race_folds(6), resamples = cars)
  race <- attr(found, "race")
  expect_equal(race$settings, 9)
  expect_equal(race$complete + race$stopped + race$failed, 9)
  expect_gt(race$stopped, 0)
  expect_equal(race$spent + race$saved, 54)
  expect_equal(nrow(race$folds), race$spent)
  metrics <- from("tune")$collect_metrics(found)
  rmse <- metrics[metrics$.metric == "rmse", ]
  expect_true(all(rmse$n == 6))
  expect_equal(nrow(rmse), race$complete)
  # The result has the values of the folds, and the bandit the stopped settings with separate noise variances.
  by_setting <- tapply(race$folds$cost, race$folds$setting, function(cost) if (length(cost) == 6) mean(cost) else NA)
  expect_equal(sort(as.vector(by_setting[!is.na(by_setting)])), sort(rmse$mean))
  own <- log_column(attr(found, "bandit"), "noise_var")
  expect_gte(sum(!is.na(own)), race$stopped)
  expect_error(tuned(iter = 1, initial = 3, race = race_folds(5), resamples = cars), "race_folds\\(6\\)", class = "gpbandits_error")
})

test_that("invalid races are errors", {
  flow <- structure(list(), class = "workflow")
  expect_error(tune_gp_bandit(flow, 1, race = 5), "race", class = "gpbandits_error")
})
