# The asynchronous integrations with mlr3: workers that share an archive.

test_that("a worker's bandit uses each evaluation that any worker has begun or finished, once", {
  space <- search_space(x = param_real(0, 1), k = param_factor(c("a", "b")), z = param_real(0, 2, when = ~ k == "b"))
  inst <- list(objective = list(codomain = list(tags = list(y = "maximize"))), archive = list(cols_y = "y"))
  reported <- list2env(list(bandit = auto_bandit(space, direction = "minimize", n_initial = 0), ids = integer(),
                        open = character()))
  archive <- data.frame(keys = c("q", "r", "s", "t"), state = c("queued", "running", "finished", "failed"),
                        x = c(0.1, 0.2, 0.3, 0.4), k = c("a", "a", "b", "b"), z = c(NA, NA, 1, 2), y = c(NA, NA, 5, NA))
  record <- function() gpbandits:::record_archive(reported, archive, space, inst)
  record()
  seen <- function() reported$bandit$history()[c("x", "z", "reward", "status")]
  expected <- data.frame(x = c(0.2, 0.3, 0.4), z = c(NA, 1, 2), reward = c(NA, -5, NA), status = c("pending", "observed", "failed"))
  expect_equal(seen(), expected, ignore_attr = TRUE)
  record()
  expect_equal(seen(), expected, ignore_attr = TRUE)
  # One's own question is withdrawn, and comes back as a point of the archive.
  reported$bandit$withdraw(reported$bandit$suggest()$id)
  archive$state[2] <- "finished"
  archive$y[2] <- 7
  archive <- rbind(archive, data.frame(keys = "u", state = "running", x = 0.5, k = "a", z = NA, y = NA))
  record()
  history <- reported$bandit$history()
  expect_identical(history$status, c("observed", "observed", "failed", "withdrawn", "pending"))
  expect_equal(history$reward[1:3], c(-7, -5, NA))
  expect_equal(history$x[5], 0.5)
})

test_that("with several targets it uses each of them, with its sign", {
  space <- search_space(x = param_real(0, 1))
  inst <- list(objective = list(codomain = list(tags = list(a = "maximize", b = "minimize"))),
               archive = list(cols_y = c("a", "b")))
  reported <- list2env(list(bandit = auto_bandit(space, outcomes = list(a = to_maximize(), b = to_minimize()),
                                             n_initial = 0),
                        ids = integer(), open = character()))
  archive <- data.frame(keys = c("r", "s", "t"), state = c("running", "finished", "failed"), x = c(0.2, 0.3, 0.4),
                        a = c(NA, 5, NA), b = c(NA, 2, NA))
  gpbandits:::record_archive(reported, archive, space, inst)
  archive[1, c("state", "a", "b")] <- list("finished", 6, NA)
  gpbandits:::record_archive(reported, archive, space, inst)
  expect_equal(reported$bandit$history()[c("a", "b")], data.frame(a = c(6, 5, NA), b = c(NA, 2, NA)), ignore_attr = TRUE)
  expect_equal(reported$bandit$history()$status, c("observed", "observed", "failed"))
})

# A server of the test's own; the tests after it are left out where there is none.
local_redis <- function(env = parent.frame()) {
  for (package in c("bbotk", "paradox", "R6", "data.table", "rush", "redux")) skip_if_not_installed(package)
  skip_if_not(nzchar(Sys.which("redis-server")), "redis-server is not installed")
  folder <- tempfile("redis")
  dir.create(folder)
  socket <- file.path(folder, "socket")
  system2("redis-server", c("--port", "0", "--unixsocket", socket, "--daemonize", "yes", "--dir", folder, "--save", "''",
                            "--pidfile", file.path(folder, "pid")),
          stdout = FALSE, stderr = FALSE)
  config <- asNamespace("redux")$redis_config(path = socket)
  answers <- function() tryCatch(!is.null(asNamespace("redux")$hiredis(config)$PING()), error = function(e) FALSE)
  at_our_end(sprintf("kill $(cat %s)", shQuote(file.path(folder, "pid"))))
  wait_until(answers, "redis-server", pause = 0.05)
  asNamespace("rush")$rush_plan(n_workers = 2, config = config)
  for (name in c("mlr3/bbotk", "mlr3/rush")) lgr::get_logger(name)$set_threshold("error")
  at_end(env, function() {
    asNamespace("rush")$remove_rush_plan()
    try(asNamespace("redux")$hiredis(config)$SHUTDOWN(), silent = TRUE)
  })
  config
}
at_end <- function(env, f) do.call(on.exit, list(bquote(.(f)()), add = TRUE), envir = env)

# `meet`: a folder in which that number of workers sign before the first of them continues.
async_instance <- function(config, tag, evaluations, meet = NULL, workers = 2) {
  sign <- if (tag == "minimize") 1 else -1
  cost <- function(xs) {
    if (!is.null(meet)) file.create(file.path(meet, Sys.getpid()))
    # (Ten minutes at most: then the test says that one worker did it all.)
    late <- Sys.time() + 600
    while (!is.null(meet) && length(list.files(meet)) < workers && Sys.time() < late) Sys.sleep(0.01)
    list(y = sign * ((log10(xs$x) - 0.3)^2 + (xs$k == "b")))
  }
  domain <- paradox::ps(x = paradox::p_dbl(1e-3, 10, logscale = TRUE), k = paradox::p_fct(c("a", "b")))
  values <- paradox::ps(x = paradox::p_dbl(1e-3, 10), k = paradox::p_fct(c("a", "b")))
  objective <- bbotk::ObjectiveRFun$new(cost, values, paradox::ps(y = paradox::p_dbl(tags = tag)))
  bbotk::OptimInstanceAsyncSingleCrit$new(objective, domain, terminator = bbotk::trm("evals", n_evals = evaluations),
                                          rush = asNamespace("rush")$rsh(config = config))
}

test_that("opt(\"async_gp_bandit\") minimises and maximises within the space", {
  config <- local_redis()
  old <- options(bbotk.debug = TRUE)
  on.exit(options(old), add = TRUE)
  for (tag in c("minimize", "maximize")) {
    set.seed(1)
    instance <- async_instance(config, tag, 16)
    optimizer <- bbotk::opt("async_gp_bandit", n_initial = 6L,
                            model = gp_model(refit = refit_every(5, mean = "fit", average = 10)))
    optimizer$optimize(instance)
    archive <- as.data.frame(instance$archive$data)
    expect_identical(sum(optimizer$bandit$history()$status == "observed"), 16L)
    expect_identical(sum(archive$state == "finished"), 16L)
    expect_true(all(archive$x >= log(1e-3) & archive$x <= log(10)))
    expect_lt(abs(instance$result_y), 0.02)
    expect_identical(instance$result_x_domain$k, "a")
  }
})

test_that("two workers share the evaluations, and each uses those of the other", {
  config <- local_redis()
  skip_if_not_installed("mirai")
  meet <- tempfile("meet")
  dir.create(meet)
  instance <- async_instance(config, "minimize", 14, meet)
  mirai::daemons(2)
  on.exit(mirai::daemons(0), add = TRUE)
  set.seed(1)
  suppressMessages(bbotk::opt("async_gp_bandit", n_initial = 4L)$optimize(instance))
  archive <- as.data.frame(instance$archive$data)
  expect_gte(sum(archive$state == "finished"), 14)
  expect_identical(length(unique(archive$worker_id[archive$state == "finished"])), 2L)
  expect_lt(instance$result_y, 0.1)
})

test_that("tnr(\"async_gp_bandit\") tunes a tree: a logarithmic scale, a condition, a measure to be maximised", {
  config <- local_redis()
  for (package in c("mlr3", "mlr3tuning", "rpart")) skip_if_not_installed(package)
  for (name in c("mlr3", "mlr3/bbotk")) lgr::get_logger(name)$set_threshold("error")
  old <- options(bbotk.debug = TRUE)
  on.exit(options(old), add = TRUE)
  space <- paradox::ps(cp = paradox::p_dbl(1e-4, 0.3, logscale = TRUE), usesurrogate = paradox::p_int(0, 1),
                       maxsurrogate = paradox::p_int(1, 6, depends = quote(usesurrogate == 1L)))
  tuner <- mlr3tuning::tnr("async_gp_bandit", n_initial = 5L,
                           model = gp_model(refit = refit_every(4, mean = "fit", average = 10)))
  expect_s3_class(tuner, "TunerAsync")
  set.seed(1)
  instance <- mlr3tuning::ti_async(mlr3::tsk("sonar"), mlr3::lrn("classif.rpart"), mlr3::rsmp("cv", folds = 2),
                                   mlr3::msr("classif.acc"), mlr3tuning::trm("evals", n_evals = 10),
                                   search_space = space, rush = asNamespace("rush")$rsh(config = config))
  tuner$optimize(instance)
  expect_s4_class(tuner$bandit, "GPBandit")
  archive <- as.data.frame(instance$archive$finished_data)
  expect_identical(nrow(archive), 10L)
  expect_true(all(archive$cp >= log(1e-4) & archive$cp <= log(0.3)))
  expect_identical(is.na(archive$maxsurrogate), archive$usesurrogate == 0)
  expect_equal(instance$result_y[["classif.acc"]], max(archive$classif.acc))
  # What is handed to the learner is on its own scale.
  chosen <- instance$result_learner_param_vals
  expect_equal(chosen$cp, exp(instance$result$cp))
  expect_identical(is.null(chosen$maxsurrogate), chosen$usesurrogate == 0)
})
