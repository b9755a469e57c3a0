# Interrupts, time limits and errors in the middle of a run: complete rounds are kept,
# incomplete ones are not, and the bandit continues.

stop_x <- seq(0, 1, length.out = 12)
stop_problem <- bandit_problem(stop_x, sin(5 * stop_x), noise = 0.1, delay = function(n) rpois(n, 2))

# Ways to be stopped from within a function that the bandit calls.
stops <- list(
  interrupt = function() signalCondition(structure(list(message = "", call = NULL), class = c("interrupt", "condition"))),
  error = function() stop("out of order"),
  ours = function() kernel_se(-1),
  condition = function() stop(structure(list(message = "mine", call = NULL), class = c("mine", "condition")))
)

# A bandit whose width function stops it, once, when it is asked for round `at`.
stopping_bandit <- function(stop_now, at, pending = pending_censor(3)) {
  stopped <- FALSE
  gp_ucb(stop_x, kernel_se(0.2), 0.01, pending = pending, width = width_function(function(t) {
    if (t == at && !stopped) {
      stopped <<- TRUE
      stop_now()
    }
    2
  }))
}

caught <- function(code) tryCatch({
  code
  "finished"
}, interrupt = function(c) "interrupt", error = function(c) "error", mine = function(c) "mine")

replays <- function(bandit) {
  before <- bandit$posterior()
  expect_equal(bandit$copy()$posterior(), before, tolerance = tol$replay)
  expect_identical(bandit$copy()$history(), bandit$history())
}

test_that("a run that is interrupted keeps its complete rounds, and the bandit continues", {
  never <- stopping_bandit(identity, Inf)
  set.seed(31)
  run_bandit(never, stop_problem, 20)
  set.seed(31)
  delay <- gpbandits:::problem_draws(stop_problem, 20)$delay
  for (way in names(stops)) {
    bandit <- stopping_bandit(stops[[way]], at = 8)
    set.seed(31)
    end <- caught(run_bandit(bandit, stop_problem, 20))
    expect_identical(end, c(interrupt = "interrupt", error = "error", ours = "error", condition = "mine")[[way]])
    history <- bandit$history()
    expect_identical(nrow(history), 7L, info = way)
    # Rewards that were due before round 8 have come, no others.
    expected <- never$history()[1:7, ]
    expected$reward[1:7 + delay[1:7] > 8] <- NA
    expected$status[1:7 + delay[1:7] > 8] <- "pending"
    expect_identical(history, expected, info = way)
    replays(bandit)
    pending <- which(is.na(history$reward))
    expect_silent(bandit$observe(pending, rep(0, length(pending))))
    expect_identical(nrow(as.data.frame(run_bandit(bandit, stop_problem, 5))), 5L)
    expect_identical(bandit$history()$id, 1:12)
    replays(bandit)
  }
})

test_that("a run that is interrupted in its first round leaves the bandit unchanged", {
  for (way in names(stops)) {
    bandit <- stopping_bandit(stops[[way]], at = 1)
    expect_false(caught(run_bandit(bandit, stop_problem, 20)) == "finished")
    expect_identical(nrow(bandit$history()), 0L)
    expect_identical(bandit$suggest(), stopping_bandit(identity, Inf)$suggest())
  }
})

test_that("suggest(n) that is interrupted leaves none of the n", {
  for (way in names(stops)) for (pending in list(pending_ignore(), pending_hallucinate(), pending_censor(2))) {
    bandit <- stopping_bandit(stops[[way]], at = 6, pending)
    bandit$suggest(2)
    bandit$observe(2, 0.3)
    before <- list(bandit$history(), bandit$posterior(), bandit$information_gain())
    expect_false(caught(bandit$suggest(5)) == "finished")
    expect_identical(list(bandit$history(), bandit$posterior(), bandit$information_gain()), before, info = way)
    expect_identical(bandit$suggest(5)$id, 3:7)      # it stops only once
    replays(bandit)
  }
})

test_that("a progress handler that fails ends the run like any other error", {
  skip_if_not_installed("progressr")
  bandit <- gp_ucb(stop_x, kernel_se(0.2), 0.01, width = width_function(function(t) {
    Sys.sleep(0.02)
    2
  }))
  failing <- progressr::make_progression_handler("failing", enable = TRUE, interval = 0, reporter = list(
    update = function(config, state, progression, ...) {
      bandit$history()                               # reading is allowed
      if (state$step > 3) stop("out of order")
    }))
  end <- caught(suppressWarnings(progressr::with_progress(run_bandit(bandit, stop_problem, 40, progress = TRUE),
                                                          handlers = failing, enable = TRUE)))
  expect_identical(end, "error")
  expect_lt(nrow(bandit$history()), 40)
  expect_gt(nrow(bandit$history()), 3)
  replays(bandit)
})

test_that("a comparison that is interrupted restores the caller's random numbers", {
  set.seed(32)
  state <- .Random.seed
  for (way in names(stops)) {
    makers <- list(a = function(problem) stopping_bandit(stops[[way]], at = 3))
    expect_false(caught(compare_bandits(makers, stop_problem, 6, 2, seed = 1)) == "finished")
    expect_identical(.Random.seed, state)
  }
})

test_that("a time limit is an error, and the rounds before it are kept", {
  # The clock starts in round 100 of the loop.
  bandit <- gp_ucb(stop_x, kernel_se(0.2), 0.01, width = width_function(function(t) {
    if (t == 100) setTimeLimit(elapsed = 0.1, transient = TRUE)
    2
  }))
  problem <- bandit_problem(stop_x, sin(5 * stop_x))
  message <- tryCatch({
    run_bandit(bandit, problem, 2e6)
    "finished"
  }, error = conditionMessage, interrupt = function(c) "interrupt", finally = setTimeLimit())
  expect_match(message, "time limit")
  rounds <- nrow(bandit$history())
  expect_gte(rounds, 99)
  expect_lt(rounds, 2e6)
  expect_identical(sum(is.na(bandit$history()$reward)), 0L)
  expect_identical(bandit$suggest()$id, rounds + 1L)
})

# ---- time limits of the caller's ------------------------------------------------------

# An error in R's own words for a time limit.
time_limit <- function(kind = "elapsed") simpleError(gettext(sprintf("reached %s time limit", kind), domain = "R"))

# The condition with which `code` ends.
end_of <- function(code) tryCatch({
  code
  "finished"
}, error = identity, interrupt = identity, lost = identity)

test_that("R's time limit is recognised in any message, and as the cause of another error", {
  is_stop <- gpbandits:::is_stop
  for (kind in c("elapsed", "CPU", "session elapsed", "session CPU")) {
    limit <- time_limit(kind)
    words <- conditionMessage(limit)
    for (text in c(words, paste0("step 2 failed: ", words, " (row 3)."), paste0("Error in f(x) : ", words, "\n"),
                   paste0("Evaluation error: ", words, "."))) expect_true(is_stop(simpleError(text)), info = text)
    expect_true(is_stop(errorCondition("a step failed", parent = errorCondition("within it", parent = limit))))
  }
  interrupt <- structure(list(message = "", call = NULL), class = c("interrupt", "condition"))
  expect_true(is_stop(interrupt))
  expect_true(is_stop(errorCondition("a step failed", parent = interrupt)))
  # An evaluation that the objective limited itself has failed, and the search continues.
  own <- "reached elapsed time limit [cpu=1s, elapsed=1.5s]"
  broken <- c("error", "condition")
  for (failure in list(simpleError("no time"), simpleError(own), errorCondition(own, class = "TimeoutException"),
                       errorCondition("a step failed", parent = simpleError(paste("row 3:", own))),
                       errorCondition("a step failed", parent = "reached elapsed time limit"), simpleError(NA), NULL,
                       structure(list(), class = broken), structure(1, class = broken))) {
    expect_false(is_stop(failure))
  }
})

test_that("each handler of the package passes a time limit on unchanged", {
  limit <- time_limit()
  strike <- function(...) stop(limit)
  wrapped <- errorCondition("the objective failed: reached elapsed time limit (point 3)", parent = limit)
  from_core <- structure(class = c("Rcpp::eval_error", "C++Error", "error", "condition"),
                         list(message = "Evaluation error: reached elapsed time limit.", call = NULL))
  odd <- structure(list(1), class = "struck_object")
  registerS3method("length", "struck_object", strike)
  registerS3method("conditionMessage", "struck_object", strike)
  x <- stop_x
  of_namespace <- function(name) get(name, asNamespace("gpbandits"))
  ways <- list(
    catch_error = function() of_namespace("catch_error")(strike(), identity),
    attempt = function() of_namespace("attempt")(strike()),
    call_user = function() of_namespace("call_user")(strike(), "f", "here"),
    as_damaged = function() of_namespace("as_damaged")(strike()),
    from_elsewhere = function() of_namespace("from_elsewhere")(strike(), "x", "a", "b"),
    database = function() of_namespace("database")(strike()),
    patiently = function() of_namespace("patiently")(strike(), 9),
    sqlite_patiently = function() of_namespace("sqlite_patiently")(strike()),
    check_sound = function() of_namespace("check_sound")(odd, "x"),
    message_of = function() of_namespace("message_of")(odd),
    width = function() gp_ucb(x, kernel_se(0.2), 0.01, width = width_function(strike))$suggest(),
    kernel = function() gp_ucb(list(u = c(0, 1)), kernel_function(strike), 0.01, width = 2)$suggest(),
    policy = function() gp_bandit(x, kernel_se(0.2), 0.01, policy_function(strike))$suggest(),
    problem = function() run_bandit(gp_ucb(list(u = c(0, 1)), kernel_se(0.2), 0.01, width = 2),
                                    bandit_problem(box_domain(0, 1), strike, optimum = 1), 3),
    search = function() maximize_bandit(strike, list(u = c(0, 1)), evaluations = 12),
    rng = function() gpbandits:::preserve_rng(strike())
  )
  for (name in names(ways)) expect_identical(end_of(ways[[name]]()), limit, info = name)
  # Also where the objective has wrapped it already, and where the core has.
  expect_identical(end_of(maximize_bandit(function(p) stop(wrapped), list(u = c(0, 1)), evaluations = 12)), wrapped)
  expect_identical(end_of(gpbandits:::stop_core("argument", "an evaluation error", from_core)), from_core)
})

# Calls in a function's code by which it takes any error: tryCatch(error = ), try().
handlers_in <- function(code) {
  if (is.function(code)) return(c(handlers_in(body(code)), unlist(lapply(formals(code), handlers_in))))
  if (is.pairlist(code) || is.expression(code)) return(unlist(lapply(as.list(code), handlers_in)))
  if (!is.call(code)) return(NULL)
  called <- if (is.name(code[[1]])) as.character(code[[1]]) else ""
  takes <- called == "try" ||
    called %in% c("tryCatch", "withCallingHandlers") && any(c("error", "condition") %in% names(code))
  parts <- as.list(code)
  parts <- parts[!vapply(parts, identical, NA, quote(expr = ))]
  c(if (takes) called, unlist(lapply(parts, handlers_in)))
}

test_that("errors of any kind are caught by one function, which passes time limits on", {
  space <- asNamespace("gpbandits")
  takes_errors <- function(name) is.function(space[[name]]) && length(handlers_in(space[[name]])) > 0
  found <- Filter(takes_errors, ls(space, all.names = TRUE))
  # The point; its functions; the objective's, which runs without the package; a worker that gives its query back
  # and passes the error on, as does an opener of connections; and a service, whose clients get a message.
  expect_setequal(found, c("catch_error", "is_time_limit", "evaluate_objective", "work_on", "without_remains",
                           "checked_reply"))
})

test_that("a time limit at any time of a search, or of a worker of a store, ends it", {
  skip_on_cran()
  skip_if_not_installed("RSQLite")
  space <- asNamespace("gpbandits")
  names <- Filter(function(name) is.function(space[[name]]), ls(space))
  names <- setdiff(names, c("GPBandit", "catch_error", "attempt", "pass_on_stop", "is_stop", "is_time_limit",
                            "one_text", "as_text", grep("^cpp_", names, value = TRUE)))
  objective <- function(p) sum((unlist(p) - 0.3)^2)
  lives <- list(
    search = function() {
      set.seed(41)
      minimize_bandit(objective, list(x = c(0, 1)), evaluations = 8)
    },
    journal = function() {
      set.seed(42)
      file <- tempfile()
      b <- gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.1, refit = refit_every(2, minimum = 2), journal = file)
      for (t in 1:4) b$observe(b$suggest()$id, sin(t))
      open_bandit(file)$suggest()
    },
    store = function() {
      store <- bandit_store(tempfile(fileext = ".db"), "struck", seed = 1)
      gp_ucb(stop_x, kernel_se(0.3), 0.1, width = 2, store = store, refit = refit_every(2, minimum = 2))
      suppressWarnings(work_on(store, objective, until = function(b) nrow(b$history()) > 4, heartbeat = FALSE))
    }
  )
  with_clock(names, function(clock) {
    for (name in names(lives)) {
      total <- clock(lives[[name]])
      expect_gt(total, 1000)
      # (A second run may be some statements shorter: values that it has checked are not checked again.)
      for (at in unique(round(seq(1, 0.9 * total, length.out = by_level(10, 60, quick = 2))))) {
        end <- end_of(clock(lives[[name]], function() stop(time_limit()), at))
        expect_identical(end, time_limit(), info = paste(name, at, "of", total))
      }
    }
  })
})

test_that("a time limit during the construction of a statement is not reworded by DBI's generics", {
  skip_if_not_installed("RSQLite")
  connection <- bandit_store(tempfile(fileext = ".db"), "struck")$connection
  struck <- function(call) end_of(call(connection, "SELECT ", stop(time_limit())))
  expect_identical(struck(gpbandits:::sql_run), time_limit())
  expect_identical(struck(gpbandits:::sql_rows), time_limit())
  expect_identical(struck(gpbandits:::sql_change_now), time_limit())
})

test_that("a time limit ends the first search of a session, which loads nothing that it does not need", {
  skip_on_cran()
  code <- c("suppressMessages(library(gpbandits))", "set.seed(1)",
            "end <- tryCatch({", "  setTimeLimit(elapsed = %s, transient = TRUE)",
            "  %s", "  \"the end\"", "}, error = conditionMessage, finally = setTimeLimit())",
            "cat(isNamespaceLoaded(\"progressr\"), end)")
  ends_with <- function(limit, call) utils::tail(run_child(sprintf(paste(code, collapse = "\n"), limit, call)), 1)
  search <- "minimize_bandit(compiler::cmpfun(function(p) sum((p - 0.3)^2)), list(x = c(0, 1), y = c(0, 1), z = c(0, 1)), %d)"
  expect_identical(ends_with("Inf", sprintf(search, 15)), "FALSE the end")
  # Much less time than 60 evaluations take. Code that R compiles during the search loses about every limit. (So may the
  # user's function, which is compiled here.)
  for (limit in few_of(c("0.2", "0.1", "0.3", "0.4"), 1)) {
    expect_match(ends_with(limit, sprintf(search, 60)), "reached elapsed time limit", info = limit)
  }
})

test_that("a time limit ends a worker, a comparison, a race and a multi-fidelity search that are the first of a session", {
  skip_without_store("RSQLite")
  # (R compiles functions of the user while they run, and drops a limit meanwhile.)
  begin <- c("suppressMessages(library(gpbandits))",
             "compiled <- function(f) compiler::cmpfun(f)",
             "f <- compiled(function(p, z = 0) sum((unlist(p) - 0.3)^2) + z / 100)",
             "problem <- bandit_problem(1:50 / 50, sin(1:50 / 8), noise = 0.1)",
             "make <- compiled(function(problem) gp_ucb(problem$domain, kernel_se(0.2), 0.01))",
             "same <- compiled(function(k) problem)",
             "done <- compiled(function(b) nrow(b$history()) > 2000)",
             "box <- list(x = c(0, 1), y = c(0, 1))",
             "store <- function() bandit_store(tempfile(fileext = '.db'), 'b', seed = 1)")
  calls <- c(
    worker = "s <- store(); gp_ucb(1:9 / 9, kernel_se(0.3), 0.1, store = s); work_on(s, f, until = done, heartbeat = FALSE)",
    in_store = "minimize_bandit(f, box, 100, store = store())",
    comparison = "compare_bandits(list(a = make), same, rounds = 400, replications = 200, seed = 1, progress = FALSE)",
    race = "minimize_bandit(f, box, 400, race = race_folds(3))",
    fidelity = "minimize_bandit(f, box, 100, fidelity = c(0.1, 1))"
  )
  for (name in few_of(names(calls), 2)) for (limit in by_level(0.3, c(0.1, 0.2, 0.3, 0.4))) {
    code <- c(begin, sprintf("end <- tryCatch({ setTimeLimit(elapsed = %g, transient = TRUE)", limit), calls[[name]],
              "'the end' }, error = conditionMessage, finally = setTimeLimit())", "cat(end)")
    expect_match(utils::tail(run_child(code), 1), "reached elapsed time limit", info = paste(name, limit))
  }
})

test_that("a package counts as missing only if it cannot be loaded, and not if a time limit is reached", {
  space <- asNamespace("gpbandits")
  calls_it <- function(name) is.function(space[[name]]) && "requireNamespace" %in% all.names(body(space[[name]]))
  expect_identical(Filter(calls_it, ls(space, all.names = TRUE)), character())
  expect_true(gpbandits:::has_package("stats"))
  expect_false(gpbandits:::has_package("a.package.that.nobody.has"))
})

test_that("a real time limit ends a search during its refits", {
  # (R's compiler drops errors that come while it compiles a function, a time limit among them.)
  jit <- compiler::enableJIT(0)
  on.exit(compiler::enableJIT(jit))
  lost <- structure(class = c("lost", "condition"), list(message = "the limit is lost", call = NULL))
  break_off <- function() stop(lost)
  # (An interrupt that an earlier test sent to this process may still be pending.)
  tryCatch(Sys.sleep(0.05), interrupt = identity)
  # The clock starts at the 8th evaluation. A search that has lost its limit is ended 20 seconds later. (The message is
  # read where the error is signalled: what R's buffer holds when the search has ended was once empty.)
  for (seed in 1:by_level(2, 6)) {
    begun <- Inf
    evaluations <- 0
    signalled <- character()
    set.seed(seed)
    end <- end_of(tryCatch(withCallingHandlers(minimize_bandit(function(p) {
      evaluations <<- evaluations + 1
      if (evaluations == 8) {
        begun <<- proc.time()[["elapsed"]]
        setTimeLimit(elapsed = 0.1 + seed / 50, transient = TRUE)
      }
      if (proc.time()[["elapsed"]] - begun > 20) break_off()
      sum((unlist(p) - 0.3)^2)
    }, list(x = c(0, 1), y = c(0, 1)), evaluations = 400), error = function(e) {
      signalled <<- c(signalled, conditionMessage(e))
    }), finally = setTimeLimit()))
    expect_match(signalled, "reached elapsed time limit", info = paste(seed, toString(class(end))))
    expect_s3_class(end, "error")
    expect_lt(evaluations, 400)
  }
})

# How `code`, which would take many seconds, ends under a limit of processor time, which strikes where an interrupt
# would; and the seconds that it took beyond that limit.
under_limit <- function(code, limit = 0.3) {
  before <- proc.time()[["user.self"]]
  message <- tryCatch({
    setTimeLimit(cpu = limit, transient = TRUE)
    code
    "finished"
  }, error = conditionMessage, finally = setTimeLimit())
  list(message = message, late = proc.time()[["user.self"]] - before - limit)
}

test_that("long computations can be interrupted within a second, and leave a bandit unchanged", {
  skip_on_cran()
  set.seed(33)
  x <- matrix(stats::runif(40000), 20000)
  rough <- kernel_matern(0.5, 0.001)
  box <- gp_ucb(list(u = c(0, 1), v = c(0, 1)), kernel_se(0.2), 0.01, width = width_constant(2))
  long <- list(
    arms = function() gp_ts(seq(0, 1, length.out = 1e5), rough, 1e-4, B = 1, R = 0.1),
    add = function() box$add(x = x, reward = x[, 1]),
    sample = function() sample_gp(rough, seq(0, 1, length.out = 9000)),
    gram = function() kernel_gram(kernel_matern(1.3, 0.1), x[1:6000, ]),
    sum = function() kernel_gram(kernel_se(0.1) + kernel_matern(1.3, 0.1) * kernel_linear(), x[1:6000, ]),
    fit = function() gp_fit(x[1:1000, ], x[1:1000, 1], kernel_matern(1.3, 0.3)),
    gain = function() information_gain(rough, seq(0, 1, length.out = 9000), 0.01, rounds = 4000)
  )
  for (name in by_level(c("arms", "add", "sum", "fit", "gain"), names(long), quick = c("arms", "add", "fit"))) {
    end <- under_limit(long[[name]]())
    expect_match(end$message, "time limit", info = name)
    expect_lt(end$late, 1, label = name)
  }
  expect_identical(nrow(box$history()), 0L)
  expect_identical(box$suggest()$id, 1L)
})

test_that("a real SIGINT works within R code, within the compiled loop, and within a batch", {
  skip_on_cran()
  out <- run_child(c(
    "suppressPackageStartupMessages(library(gpbandits))",
    "x <- seq(0, 1, length.out = 12)",
    "problem <- bandit_problem(x, sin(5 * x), noise = 0.1)",
    "me <- Sys.getpid()",
    "end <- function(code) tryCatch({ code; 'finished' }, interrupt = function(c) 'interrupt')",
    "same <- function(b) isTRUE(all.equal(b$copy()$posterior(), b$posterior(), tolerance = 1e-10))",
    "kill_at <- function(at) width_function(function(t) {",
    "  if (t == at) { tools::pskill(me, tools::SIGINT); Sys.sleep(5) }",
    "  2 })",
    "b <- gp_ucb(x, kernel_se(0.2), 0.01, width = kill_at(8))",
    "cat('callback', end(run_bandit(b, problem, 20)), nrow(b$history()), same(b), '\\n')",
    "b <- gp_ucb(x, kernel_se(0.2), 0.01, width = kill_at(4))",
    "cat('batch', end(b$suggest(6)), nrow(b$history()), same(b), '\\n')",
    # Once: if the interrupt comes within the callback, the next run calls it for the same round again.
    "sent <- FALSE",
    "signal_at <- function(at) width_function(function(t) {",
    "  if (t == at && !sent) { sent <<- TRUE; tools::pskill(me, tools::SIGINT) }",
    "  2 })",
    "b <- gp_ucb(x, kernel_se(0.2), 0.01, width = signal_at(500))",
    "e <- end(run_bandit(b, problem, 2e6))",
    "n <- nrow(b$history())",
    "run <- as.data.frame(run_bandit(b, problem, 3))",
    "cat('loop', e, n >= 499 && n < 2e6, !anyNA(b$history()$reward), identical(run$id, n + 1:3), '\\n')"))
  expect_identical(grep("^(callback|batch|loop)", out, value = TRUE),
                   c("callback interrupt 7 TRUE ", "batch interrupt 0 TRUE ", "loop interrupt TRUE TRUE TRUE "))
})

# Code for a child process in which an interrupt comes when R loads the `left`-th next object from the package's file.
striking_loads <- c(
  "suppressMessages(library(gpbandits))",
  "invisible(eapply(baseenv(), is.null, all.names = TRUE))",
  "fetch <- lazyLoadDBfetch; left <- Inf",
  "strike <- function() stop(structure(class = c('interrupt', 'condition'), list(message = '', call = NULL)))",
  "unlockBinding('lazyLoadDBfetch', baseenv())",
  "assign('lazyLoadDBfetch', function(key, file, ...) {",
  "  if (basename(file) == 'gpbandits.rdb') {",
  "    left <<- left - 1",
  "    if (left == 0) strike()",
  "  }",
  "  fetch(key, file, ...)",
  "}, envir = baseenv())",
  "lockBinding('lazyLoadDBfetch', baseenv())",
  "warned <- function(code) withCallingHandlers(code, warning = function(w) {",
  "  if (!inherits(w, 'gpbandits_warning')) cat('warning', conditionMessage(w), '\n')",
  "  invokeRestart('muffleWarning')",
  "})")

test_that("an interrupt cannot leave an environment of the package empty, because none is loaded at its first use", {
  space <- asNamespace("gpbandits")
  has_environment <- function(one) is.environment(one) || (is.function(one) && !identical(environment(one), space))
  names <- Filter(function(name) has_environment(space[[name]]), ls(space, all.names = TRUE))
  expect_true(all(c("families", "reward_forms", "run_packed") %in% names))
  out <- run_child(c(striking_loads, sprintf("for (name in %s) {", paste(deparse(names), collapse = "")),
    "  left <- 1",
    "  tryCatch(get(name, asNamespace('gpbandits')), interrupt = function(i) cat(name, ''))",
    "}",
    "cat('the end')"))
  expect_identical(out, "the end")
})

test_that("a search or worker that was interrupted ends without R's warnings about promises", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  out <- run_child(c(striking_loads,
    "f <- function(p, z) { if (is.infinite(left)) left <<- 20; sum(unlist(p)) }",
    "for (code in expression(maximize_bandit(f, list(a = c(0, 1)), 40), maximize_bandit(f, list(a = c(0, 1)), 40, fidelity = c(0.1, 1)), {",
    "  store <- bandit_store(tempfile(fileext = '.db'), 'b', seed = 1)",
    "  gp_ei(1:9 / 9, kernel_se(0.3), 0.1, store = store)",
    "  work_on(store, f, until = function(b) nrow(b$history()) > 40, heartbeat = FALSE)",
    "})) {",
    "  left <- Inf",
    "  found <- warned(eval(code))",
    "  warned({ utils::capture.output(print(found)); auto_bandit(list(a = c(0, 1)))$suggest() })",
    "}",
    "cat('the end')"))
  expect_identical(out, "the end")
})
