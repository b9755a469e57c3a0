# The integrations with mlr3: bbotk's optimiser and mlr3tuning's tuner.

quiet <- function(code) {
  for (name in c("mlr3/bbotk", "bbotk", "mlr3")) lgr::get_logger(name)$set_threshold("error")
  code
}

needs_bbotk <- function() {
  skip_on_cran()
  for (package in c("bbotk", "paradox", "R6", "data.table")) skip_if_not_installed(package)
}

domain_of_test <- function() {
  paradox::ps(x = paradox::p_dbl(1e-3, 10, logscale = TRUE), n = paradox::p_int(1, 8), k = paradox::p_fct(c("a", "b")),
              flag = paradox::p_lgl(), extra = paradox::p_dbl(0, 1, depends = quote(flag == TRUE)))
}
cost_of_test <- function(xs) {
  (log10(xs$x) - 0.3)^2 + (xs$n - 5)^2 / 10 + (xs$k == "b") / 2 + if (xs$flag) xs$extra else 0.3
}
instance_of <- function(tag, evaluations, sign = if (tag == "minimize") 1 else -1, f = cost_of_test, ...) {
  objective <- bbotk::ObjectiveRFun$new(function(xs) list(y = sign * f(xs)), domain_of_values(), paradox::ps(y = paradox::p_dbl(tags = tag)))
  bbotk::OptimInstanceBatchSingleCrit$new(objective, domain_of_test(), terminator = bbotk::trm("evals", n_evals = evaluations), ...)
}
domain_of_values <- function() {
  paradox::ps(x = paradox::p_dbl(1e-3, 10), n = paradox::p_int(1, 8), k = paradox::p_fct(c("a", "b")), flag = paradox::p_lgl(),
              extra = paradox::p_dbl(0, 1))
}

test_that("opt(\"gp_bandit\") minimises and maximises alike, within the space, to the terminator's last evaluation", {
  needs_bbotk()
  found <- list()
  for (tag in c("minimize", "maximize")) {
    set.seed(2)                       # of 16 seeds 14 end below 0.15, two at the best setting without the flag, 0.3
    instance <- instance_of(tag, 20)
    quiet(bbotk::opt("gp_bandit",
                     model = gp_model(refit = refit_every(5, mean = "fit", average = 10)))$optimize(instance))
    archive <- as.data.frame(instance$archive$data)
    expect_identical(nrow(archive), 20L)
    expect_identical(is.na(archive$extra), !archive$flag)
    expect_true(all(archive$n %in% 1:8 & archive$x >= log(1e-3) & archive$x <= log(10)))
    found[[tag]] <- archive[c("x", "n", "k", "flag", "extra")]
    expect_lt(abs(instance$result_y), 0.15)
    expect_identical(instance$result_x_domain$k, "a")
  }
  expect_equal(found$minimize, found$maximize)
  # Better than random search with the same budget. (bbotk's own takes seconds for it.)
  set.seed(3)
  one <- function() cost_of_test(list(x = 10^runif(1, -3, 1), n = sample(8, 1), k = sample(c("a", "b"), 1), flag = runif(1) < 0.5,
                                      extra = runif(1)))
  expect_lt(abs(instance$result_y), mean(replicate(100, min(replicate(20, one())))) / 2)
})

test_that("batches, earlier evaluations, failures, other terminators and settings are supported", {
  needs_bbotk()
  set.seed(2)
  instance <- instance_of("minimize", 20)
  quiet(instance$eval_batch(paradox::generate_design_random(instance$search_space, 6)$data))
  optimizer <- bbotk::opt("gp_bandit", batch_size = 3, n_initial = 8,
                          model = gp_model(refit = refit_every(2, mean = "fit", average = 10)))
  quiet(optimizer$optimize(instance))
  sizes <- as.vector(table(instance$archive$data$batch_nr))
  expect_identical(sizes[1:3], c(6L, 2L, 3L))
  expect_s4_class(optimizer$bandit, "GPBandit")
  # All that was evaluated is known, and nothing else is under way.
  expect_identical(optimizer$bandit$history()$status, rep(c("observed", "withdrawn"), c(nrow(instance$archive$data), 3)))
  seen <- as.data.frame(instance$archive$data)
  reported <- optimizer$bandit$history()
  expect_equal(reported$x[1:8], seen$x[1:8], tolerance = 1e-12)
  expect_equal(reported$reward[1:8], seen$y[1:8], tolerance = 1e-9)

  instance <- bbotk::OptimInstanceBatchSingleCrit$new(
    bbotk::ObjectiveRFun$new(function(xs) list(y = xs$u^2), paradox::ps(u = paradox::p_dbl(-1, 1)), paradox::ps(y = paradox::p_dbl(tags = "minimize"))),
    terminator = bbotk::trm("perf_reached", level = 1e-3))
  quiet(bbotk::opt("gp_bandit", policy = policy_ei(), model = gp_model(kernel_se(0.5)))$optimize(instance))
  expect_lte(instance$result_y, 1e-3)
  expect_error(bbotk::opt("gp_bandit", model = kernel_se(0.5)), "gp_model()", fixed = TRUE)
  expect_error(bbotk::opt("gp_bandit", control = search_control(timeout = 3)),
               "`timeout` of search_control() has no effect",
               fixed = TRUE)
})

test_that("fixed values hold in the design and in batches; invalid values are errors that name them", {
  needs_bbotk()
  set.seed(11)
  instance <- instance_of("minimize", 9)
  optimizer <- bbotk::opt("gp_bandit", n_initial = 6, batch_size = 3,
                          model = gp_model(refit = refit_every(5, mean = "fit",
                                                               average = 10)), fixed = list(k = "b", n = 3))
  quiet(optimizer$optimize(instance))
  archive <- as.data.frame(instance$archive$data)
  expect_identical(archive$k, rep("b", 9))
  expect_true(all(archive$n == 3))
  expect_gt(length(unique(archive$x)), 6)
  # (What was asked when bbotk ended it is withdrawn.)
  expect_identical(optimizer$bandit$history()$status, rep(c("observed", "withdrawn"), c(9, 3)))
  for (bad in list(list(k = "z"), list(invalid = 1), "b")) {
    err <- expect_error(quiet(bbotk::opt("gp_bandit", n_initial = 2, fixed = bad)$optimize(instance_of("minimize", 3))),
                        class = "gpbandits_error")
    expect_identical(err$argument, "fixed")
  }
})

test_that("a bandit that bbotk ended within its design has all evaluations", {
  needs_bbotk()
  set.seed(4)
  instance <- instance_of("minimize", 5)
  optimizer <- bbotk::opt("gp_bandit", n_initial = 12)
  quiet(optimizer$optimize(instance))
  reported <- optimizer$bandit$history()
  expect_equal(reported$x, instance$archive$data$x, tolerance = 1e-12)
  expect_equal(reported$reward, instance$archive$data$y, tolerance = 1e-9)
})

test_that("tnr(\"gp_bandit\") tunes a tree, with a logarithmic scale, a condition and callbacks", {
  needs_bbotk()
  for (package in c("mlr3", "mlr3tuning", "rpart")) skip_if_not_installed(package)
  expect_s3_class(mlr3tuning::tnr("gp_bandit"), "TunerBatch")
  set.seed(3)
  batches <- 0
  counting <- mlr3tuning::callback_batch_tuning("test.count", on_optimizer_after_eval = function(callback, context) batches <<- batches + 1)
  tuner <- mlr3tuning::tnr("gp_bandit", batch_size = 2)
  expect_null(tuner$bandit)
  instance <- quiet(mlr3tuning::tune(
    tuner = tuner, task = mlr3::tsk("sonar"),
    learner = mlr3::lrn("classif.rpart", cp = paradox::to_tune(1e-4, 0.3, logscale = TRUE), minsplit = paradox::to_tune(2, 40),
                        maxdepth = paradox::to_tune(1, 12)),
    resampling = mlr3::rsmp("holdout"), measures = mlr3::msr("classif.ce"), term_evals = 12, callbacks = counting))
  archive <- as.data.frame(instance$archive$data)
  expect_identical(nrow(archive), 12L)
  expect_identical(batches, 6)
  expect_type(archive$minsplit, "integer")
  expect_true(all(archive$cp >= log(1e-4) & archive$cp <= log(0.3)))
  expect_identical(unname(instance$result_y), min(archive$classif.ce))
  expect_lt(instance$result_y, 0.45)
  learner <- mlr3::lrn("classif.rpart")
  learner$param_set$set_values(.values = instance$result_learner_param_vals)
  expect_equal(learner$param_set$values$cp, exp(instance$result$cp))
  known <- tuner$bandit$history()
  known <- known[known$status == "observed", ]
  expect_equal(known$cp, archive$cp, tolerance = 1e-12)
  expect_equal(known$reward, archive$classif.ce, tolerance = 1e-9)
  expect_s3_class(tuner$bandit$best(), "data.frame")
  expect_error(tuner$bandit <- NULL, "read only", class = "gpbandits_error")
})

test_that("several targets give a Pareto front, minimised or maximised, with failures and earlier evaluations", {
  needs_bbotk()
  several <- function(f, tags, evaluations) {
    codomain <- do.call(paradox::ps, lapply(tags, function(tag) paradox::p_dbl(tags = tag)))
    bbotk::OptimInstanceBatchMultiCrit$new(
      bbotk::ObjectiveRFun$new(f, paradox::ps(u = paradox::p_dbl(0, 1), v = paradox::p_dbl(0, 1)), codomain),
      terminator = bbotk::trm("evals", n_evals = evaluations))
  }
  calls <- 0
  f <- function(xs) {
    calls <<- calls + 1
    list(gain = if (calls == 4) -Inf else xs$u * (1 - (xs$v - 0.5)^2), width = xs$u^2 + (xs$v - 0.5)^2)
  }
  set.seed(1)
  instance <- several(f, list(gain = "maximize", width = "minimize"), 18)
  quiet(instance$eval_batch(paradox::generate_design_random(instance$search_space, 3)$data))
  optimizer <- bbotk::opt("gp_bandit", batch_size = 2, n_initial = 8)
  quiet(optimizer$optimize(instance))
  expect_identical(optimizer$bandit$config$policy$kind, "ehvi")
  archive <- as.data.frame(instance$archive$data)
  reported <- optimizer$bandit$history()
  reported <- reported[reported$status == "observed", ]
  expect_equal(reported$u, archive$u, tolerance = 1e-12)
  # (`width` is a column of histories.)
  expect_equal(reported$.width, archive$width, tolerance = 1e-9)
  broken <- is.infinite(archive$gain)
  expect_equal(sum(broken), 1)
  expect_equal(reported$gain, ifelse(broken, NA, archive$gain), tolerance = 1e-9)
  # On the front v is a half, and the width the gain squared.
  result <- as.data.frame(instance$result)
  expect_gt(nrow(result), 5)
  expect_lt(stats::median(abs(result$v - 0.5)), 0.15)
  front <- optimizer$bandit$front()
  expect_lt(stats::median(abs(front$.width_mean - front$gain_mean^2)), 0.03)

  three <- several(function(xs) list(a = xs$u, b = xs$v, c = -xs$u - xs$v),
                   list(a = "minimize", b = "minimize", c = "minimize"), 7)
  optimizer <- bbotk::opt("gp_bandit", n_initial = 5)
  quiet(optimizer$optimize(three))
  expect_identical(optimizer$bandit$config$policy$kind, "hypervolume")
  one <- bbotk::opt("gp_bandit", policy = policy_ei())
  expect_error(quiet(one$optimize(several(f, list(gain = "maximize", width = "minimize"), 9))), "policy",
               class = "gpbandits_error")
})

test_that("a tuner finds the Pareto front of two measures", {
  needs_bbotk()
  for (package in c("mlr3", "mlr3tuning", "rpart")) skip_if_not_installed(package)
  set.seed(2)
  tuner <- mlr3tuning::tnr("gp_bandit", n_initial = 4)
  instance <- quiet(mlr3tuning::tune(
    tuner = tuner, task = mlr3::tsk("sonar"), resampling = mlr3::rsmp("holdout"),
    learner = mlr3::lrn("classif.rpart", cp = paradox::to_tune(1e-4, 0.3, logscale = TRUE)),
    measures = mlr3::msrs(c("classif.tpr", "classif.fpr")), term_evals = 8))
  archive <- as.data.frame(instance$archive$data)
  known <- tuner$bandit$history()
  known <- known[known$status == "observed", ]
  measures <- c("classif.tpr", "classif.fpr")
  expect_equal(known[measures], archive[measures], ignore_attr = TRUE, tolerance = 1e-9)
  expect_identical(tuner$bandit$config$policy$kind, "ehvi")
})

tuner_of_test <- function(...) {
  mlr3tuning::auto_tuner(tuner = mlr3tuning::tnr("gp_bandit", n_initial = 2),
                         learner = mlr3::lrn("classif.debug", x = paradox::to_tune(0, 1)),
                         resampling = mlr3::rsmp("holdout"), measure = mlr3::msr("classif.ce"), term_evals = 3, ...)
}
needs_tuning <- function() {
  needs_bbotk()
  for (package in c("mlr3", "mlr3tuning")) skip_if_not_installed(package)
}
# What a tuner's bandit knows of its evaluations.
reported_to <- function(tuner) subset(tuner$tuner$bandit$history(), status != "withdrawn")

test_that("a trained tuner can be cloned, converted, saved and trained again", {
  needs_tuning()
  set.seed(1)
  task <- mlr3::tsk("iris")
  tuner <- tuner_of_test()
  quiet(tuner$train(task))
  reported <- reported_to(tuner)
  expect_equal(reported$x, tuner$archive$data$x, tolerance = 1e-12)
  path <- tempfile(fileext = ".rds")
  saveRDS(tuner, path)
  for (other in few_of(list(tuner$clone(deep = TRUE), mlr3::as_learner(tuner, clone = TRUE), readRDS(path)), 2)) {
    expect_equal(reported_to(other), reported)
    expect_identical(other$predict(task)$response, tuner$predict(task)$response)
    # It is the copy's own.
    other$tuner$bandit$reset()
    expect_equal(reported_to(tuner), reported)
    quiet(other$train(task))
    expect_identical(nrow(reported_to(other)), 3L)
    expect_equal(reported_to(tuner), reported)
  }
  # And with nothing trained.
  expect_null(tuner_of_test()$clone(deep = TRUE)$tuner$bandit)
})

test_that("nested resampling and benchmarks keep models, results and archives, twice", {
  needs_tuning()
  set.seed(2)
  task <- mlr3::tsk("iris")
  tuner <- tuner_of_test()
  for (turn in by_level(1:2, 1:2, quick = 1)) {
    # The second time with a tuner that is trained.
    if (turn == 2) quiet(tuner$train(task))
    found <- quiet(mlr3::resample(task, tuner, mlr3::rsmp("cv", folds = 2), store_models = TRUE))
    expect_identical(nrow(found$score()), 2L)
    expect_identical(nrow(mlr3tuning::extract_inner_tuning_results(found)), 2L)
    archives <- as.data.frame(mlr3tuning::extract_inner_tuning_archives(found))
    expect_identical(as.vector(table(archives$iteration)), c(3L, 3L))
    expect_identical(length(found$learners), 2L)
    expect_identical(nrow(found$learners[[2]]$archive$data), 3L)
  }
  design <- mlr3::benchmark_grid(task, list(tuner, mlr3::lrn("classif.featureless")), mlr3::rsmp("holdout"))
  compared <- quiet(mlr3::benchmark(design, store_models = TRUE))
  expect_identical(nrow(compared$aggregate()), 2L)
  expect_identical(nrow(mlr3tuning::extract_inner_tuning_results(compared)), 1L)
})

test_that("an optimiser can be cloned, saved and run again, with callbacks that use its bandit", {
  needs_bbotk()
  set.seed(3)
  seen <- list()
  watching <- bbotk::callback_batch("test.watch", on_optimizer_after_eval = function(callback, context) {
    seen <<- c(seen, list(context$optimizer$clone(deep = TRUE)))
  })
  optimizer <- bbotk::opt("gp_bandit", n_initial = 3)
  quiet(optimizer$optimize(instance_of("minimize", 5, callbacks = watching)))
  expect_identical(length(seen), 5L)
  # A clone from the middle of the run goes its own way.
  expect_identical(nrow(seen[[4]]$bandit$history()), 4L)
  reported <- optimizer$bandit$history()
  path <- tempfile(fileext = ".rds")
  saveRDS(optimizer, path)
  for (other in list(optimizer$clone(deep = TRUE), readRDS(path))) {
    expect_true(all.equal(other$bandit, optimizer$bandit))
    other$param_set$values$n_initial <- 2L
    quiet(other$optimize(instance_of("minimize", 4)))
    expect_identical(sum(other$bandit$history()$status == "observed"), 4L)
    expect_identical(optimizer$param_set$values$n_initial, 3L)
    expect_identical(optimizer$bandit$history(), reported)
  }
})

test_that("an asynchronous tuner and optimiser are cloned with their bandits", {
  needs_bbotk()
  skip_if_not_installed("mlr3tuning")
  optimizer <- suppressWarnings(bbotk::opt("async_gp_bandit", n_initial = 3L))   # (without rush it warns)
  optimizer$bandit <- auto_bandit(list(x = c(0, 1)), data = data.frame(x = 0.5, reward = 1))
  clone <- suppressWarnings(optimizer$clone(deep = TRUE))
  expect_true(all.equal(clone$bandit, optimizer$bandit))
  clone$bandit$reset()
  expect_identical(nrow(optimizer$bandit$history()), 1L)
  clone$param_set$values$n_initial <- 4L
  expect_identical(optimizer$param_set$values$n_initial, 3L)
  expect_s3_class(suppressWarnings(mlr3tuning::tnr("async_gp_bandit")$clone(deep = TRUE)), "TunerAsync")
})

test_that("infinite values are failures, NaN is an error of bbotk, and no finite value at all is a warning", {
  needs_bbotk()
  run <- function(f, evaluations = 5) {
    calls <- 0
    objective <- bbotk::ObjectiveRFun$new(function(xs) list(y = f(calls <<- calls + 1, xs)),
                                          paradox::ps(u = paradox::p_dbl(0, 1)),
                                          paradox::ps(y = paradox::p_dbl(tags = "minimize")))
    instance <- bbotk::OptimInstanceBatchSingleCrit$new(objective, terminator = bbotk::trm("evals", n_evals = evaluations))
    optimizer <- bbotk::opt("gp_bandit", n_initial = 3)
    error <- tryCatch({
      quiet(optimizer$optimize(instance))
      NULL
    }, error = conditionMessage)
    list(error = error, evaluated = nrow(instance$archive$data), status = optimizer$bandit$history()$status)
  }
  for (bad in few_of(c(Inf, -Inf), 1)) {
    found <- run(function(call, xs) if (call == 2) bad else xs$u)
    expect_null(found$error)
    expect_identical(found$status[1:5], c("observed", "failed", "observed", "observed", "observed"))
  }
  for (bad in few_of(c(NA, NaN), 1)) {
    found <- run(function(call, xs) if (call == 2) bad else xs$u)
    expect_match(found$error, "missing|NA")
    expect_identical(found$evaluated, 1L)
  }
  # (Of these bbotk finds no best.)
  expect_warning(found <- run(function(call, xs) Inf, 3), "none of 3 evaluations.*returned Inf", ignore.case = TRUE,
                 class = "gpbandits_no_success")
})

test_that("it is registered whichever package is loaded first", {
  needs_bbotk()
  skip_if_not_installed("mlr3tuning")
  # (And nothing is loaded that nobody asked for.)
  for (order in c("loadNamespace('gpbandits'); early <- isNamespaceLoaded('bbotk'); loadNamespace('mlr3tuning')",
                  "early <- FALSE; loadNamespace('mlr3tuning'); loadNamespace('gpbandits')")) {
    said <- run_child(sprintf(paste("suppressMessages({%s}); cat(early, inherits(bbotk::opt('gp_bandit'), 'OptimizerBatch'),",
                                    "inherits(mlr3tuning::tnr('gp_bandit'), 'TunerBatch'))"), order))
    expect_identical(utils::tail(said, 1), "FALSE TRUE TRUE")
  }
})

budget_instance <- function(space, tag = "minimize", sign = 1, evaluations = 16) {
  f <- function(xs) list(y = sign * ((xs$x - 1)^2 + (xs$k == "b") + 0.3 * (1 - xs$n / 500) * xs$x))
  values <- paradox::ps(x = paradox::p_dbl(0, 3), k = paradox::p_fct(c("a", "b")), n = paradox::p_int(10, 500))
  objective <- bbotk::ObjectiveRFun$new(f, values, paradox::ps(y = paradox::p_dbl(tags = tag)))
  bbotk::OptimInstanceBatchSingleCrit$new(objective, space, terminator = bbotk::trm("evals", n_evals = evaluations))
}
budget_space <- function(...) {
  paradox::ps(x = paradox::p_dbl(0, 3), k = paradox::p_fct(c("a", "b")), n = paradox::p_int(10, 500, tags = "budget", ...))
}

test_that("a parameter tagged \"budget\" is a fidelity, and the result is of the largest one", {
  needs_bbotk()
  for (logscale in c(FALSE, TRUE)) {
    set.seed(1)
    instance <- budget_instance(budget_space(logscale = logscale))
    optimizer <- bbotk::opt("gp_bandit", batch_size = 2)
    quiet(optimizer$optimize(instance))
    n <- instance$archive$data$n
    top <- if (logscale) log(501) else 500
    expect_gt(sum(n < 0.9 * top), 3)
    expect_lt(abs(instance$result$n - top), 2e-3)
    expect_lt(instance$result_y, 0.2)
    expect_identical(optimizer$bandit$config$domain$names, c("x", "k"))
    expect_identical(sum(optimizer$bandit$history()$status == "observed"), 16L)
  }
  # Fixed, it is a parameter like the others.
  instance <- budget_instance(budget_space(), evaluations = 6)
  quiet(bbotk::opt("gp_bandit", fixed = list(n = 400))$optimize(instance))
  expect_identical(unique(instance$archive$data$n), 400L)
  for (space in list(paradox::ps(x = paradox::p_dbl(0, 3, tags = "budget"), k = paradox::p_fct(c("a", "b")), n = paradox::p_int(10, 500)),
                     paradox::ps(x = paradox::p_dbl(1, 3, tags = "budget"), k = paradox::p_fct(c("a", "b")),
                                 n = paradox::p_int(10, 500, tags = "budget")))) {
    expect_error(quiet(bbotk::opt("gp_bandit")$optimize(budget_instance(space))), "fixed = list\\(x", class = "gpbandits_argument_error")
  }
})

test_that("the result can be the point that the posterior recommends", {
  needs_bbotk()
  for (sign in few_of(c(1, -1), 1)) {
    set.seed(2)
    instance <- budget_instance(budget_space(), if (sign > 0) "minimize" else "maximize", sign)
    optimizer <- bbotk::opt("gp_bandit", result = "posterior")
    quiet(optimizer$optimize(instance))
    best <- optimizer$bandit$best(context = 1)
    expect_identical(instance$result$x, best$x)
    expect_equal(instance$result_y[["y"]], sign * best$mean)
    expect_identical(instance$result$n, 500L)
  }
  several <- bbotk::OptimInstanceBatchMultiCrit$new(
    bbotk::ObjectiveRFun$new(function(xs) list(a = xs$x, b = -xs$x), paradox::ps(x = paradox::p_dbl(0, 1)),
                             paradox::ps(a = paradox::p_dbl(tags = "minimize"), b = paradox::p_dbl(tags = "minimize"))),
    terminator = bbotk::trm("evals", n_evals = 4))
  expect_error(quiet(bbotk::opt("gp_bandit", result = "posterior")$optimize(several)), "`result`", class = "gpbandits_argument_error")
  skip_if_not_installed("mlr3tuning")
  expect_identical(mlr3tuning::tnr("gp_bandit", result = "posterior")$param_set$values$result, "posterior")
})
