# maximize_bandit() on several workers: real processes, on functions that sleep, kill and hang.

# Evaluates `code` with two workers, and puts the plan back.
with_two_workers <- function(code) {
  skip_on_os("windows")
  skip_if_not_installed("future")
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  warm <- lapply(1:2, function(i) future::future(Sys.getpid(), globals = FALSE))
  stopifnot(length(unique(unlist(future::value(warm)))) == 2)
  code
}

# As a user would write it: it knows nothing of where it was made.
plain <- function(f) {
  environment(f) <- globalenv()
  f
}

expect_complete <- function(found, evaluations) {
  expect_identical(nrow(found$history), as.integer(evaluations))
  expect_false(found$interrupted)
  bandit <- found$bandit
  expect_true(all(bandit$history()$status %in% c("observed", "failed")))
  expect_identical(nrow(bandit$history()), as.integer(evaluations))
  expect_identical(sort(bandit$history()$reward), sort(found$history$reward))
  at <- matrix(seq(0, 1, length.out = 9))
  expect_equal(bandit$copy()$posterior(at), bandit$posterior(at), tolerance = tol$replay)
  expect_identical(bandit$copy()$history(), bandit$history())
}

# Evaluations of odd number do not end before the next one has begun.
in_pairs <- function(directory) {
  dir.create(directory)
  f <- function(p) {
    number <- 1
    while (!dir.create(file.path(directory, number), showWarnings = FALSE)) if ((number <- number + 1) > 1000) stop("no folder can be made")
    waited <- 0
    while (number %% 2 == 1 && !dir.exists(file.path(directory, number + 1))) {
      if ((waited <- waited + 1) > 12000) stop("nobody else came")
      Sys.sleep(0.01)
    }
    -(p[["x"]] - 0.3)^2
  }
  environment(f) <- list2env(list(directory = directory), parent = globalenv())
  f
}

test_that("two workers work at the same time", {
  skip_on_cran()
  directory <- tempfile()
  with_two_workers({
    set.seed(80)
    found <- maximize_bandit(in_pairs(directory), list(x = c(0, 1)), 10, workers = 2)
    expect_complete(found, 10)
    expect_true(all(found$history$status == "observed"))
    expect_length(dir(directory), 10)
  })
  unlink(directory, recursive = TRUE)
})

test_that("if a worker is killed, its query is evaluated again, and nothing is lost", {
  skip_on_cran()
  marker <- tempfile()
  dying <- plain(function(p) {
    Sys.sleep(0.02)
    if (!file.exists(marker)) {
      file.create(marker)
      tools::pskill(Sys.getpid(), tools::SIGKILL)
    }
    -(p[["x"]] - 0.3)^2
  })
  environment(dying) <- list2env(list(marker = marker), parent = globalenv())
  with_two_workers({
    found <- maximize_bandit(dying, list(x = c(0, 1)), 12, workers = 2)
    expect_complete(found, 12)
    expect_true(all(found$history$status == "observed"))
    expect_true(file.exists(marker))
  })
})

test_that("points that kill their worker every time are recorded as failed, and the plan is started again", {
  skip_on_cran()
  deadly <- plain(function(p) {
    if (p[["x"]] > 0.6) tools::pskill(Sys.getpid(), tools::SIGKILL)
    -(p[["x"]] - 0.5)^2
  })
  with_two_workers({
    set.seed(81)
    found <- maximize_bandit(deadly, list(x = c(0, 1)), 10, n_initial = 5, workers = 2)
    expect_complete(found, 10)
    died <- found$history$x > 0.6
    expect_gt(sum(died), 1)
    expect_identical(grepl("worker died (2 attempts)", found$history$reason, fixed = TRUE), died)
    expect_true(all(is.na(found$history$reward) == died))
    expect_lt(found$par[["x"]], 0.65)
  })
})

test_that("an evaluation that did not check its time limit leaves none behind", {
  # R checks a limit now and then. Here it has time for that after the evaluation, where nothing catches the error.
  later <- 0
  slow_clock <- function() {
    later <<- later + 1
    if (later > 1) for (i in 1:2e5) eval(quote(TRUE))
    base::proc.time()
  }
  evaluate <- evaluate_objective
  environment(evaluate) <- list2env(list(proc.time = slow_clock), parent = baseenv())
  unchecked <- function(p) {
    setTimeLimit(elapsed = 1e-9, transient = TRUE)
    p
  }
  expect_identical(evaluate(unchecked, 1, timeout = 60)$value, 1)
  expect_identical(later, 2)
})

test_that("time limits end R code, and workers that ignore them are abandoned", {
  skip_on_cran()
  busy <- plain(function(p) {
    if (p[["x"]] > 0.7) for (k in 1:1e10) sqrt(2)
    p[["x"]]
  })
  set.seed(82)
  alone <- maximize_bandit(busy, list(x = c(0, 1)), 6, control = search_control(timeout = 1, attempts = 1))
  late <- alone$history$x > 0.7
  expect_gt(sum(late), 0)
  expect_identical(alone$history$status, ifelse(late, "failed", "observed"))
  expect_identical(alone$history$reason, ifelse(late, "timed out after 1 s (1 attempts)", NA))
  # What cannot be ended in this process does not count, and the reason states when it ended.
  asleep <- plain(function(p) {
    if (p[["x"]] > 0.7) Sys.sleep(1.5)
    p[["x"]]
  })
  overrun <- maximize_bandit(asleep, list(x = c(0, 1)), 4, control = search_control(timeout = 0.2, attempts = 1))
  late <- overrun$history$x > 0.7
  expect_gt(sum(late), 0)
  expect_identical(grepl("^timed out after 0.2 s, ended after [0-9]+ s", overrun$history$reason), late)
  expect_identical(is.na(overrun$history$reward), late)
  woke <- tempfile()
  slow <- function(p) {
    if (p[["x"]] > 0.7) {
      Sys.sleep(300)
      file.create(woke)
    }
    p[["x"]]
  }
  environment(slow) <- list2env(list(woke = woke), parent = globalenv())
  with_two_workers({
    set.seed(82)
    found <- maximize_bandit(slow, list(x = c(0, 1)), 8, workers = 2,
                             control = search_control(timeout = 1, attempts = 2))
    expect_false(file.exists(woke))                   # nobody waited for those asleep
    expect_complete(found, 8)
    late <- found$history$x > 0.7
    expect_gt(sum(late), 0)
    expect_identical(found$history$reason, ifelse(late, "timed out after 1 s (2 attempts)", NA))
    # compiled code, or another program, does not check R's clock
    marker <- tempfile()
    deaf <- function(p) {
      if (!file.exists(marker)) {
        file.create(marker)
        system("sleep 100")
        file.create(woke)
      }
      p[["x"]]
    }
    environment(deaf) <- list2env(list(marker = marker, woke = woke), parent = globalenv())
    found <- maximize_bandit(deaf, list(x = c(0, 1)), 8, workers = 2, control = search_control(timeout = 1))
    expect_complete(found, 8)
    expect_true(all(found$history$status == "observed"))
    expect_false(file.exists(woke))
    unlink(marker)
  })
})

test_that("errors and nonsense of the objective are returned from the workers unchanged", {
  skip_on_cran()
  objective <- plain(function(p) {
    if (p[["x"]] < 0.3) stop("too small")
    if (p[["x"]] > 0.8) return("large")
    p[["x"]]
  })
  with_two_workers({
    set.seed(83)
    found <- maximize_bandit(objective, list(x = c(0, 1)), 10, workers = Inf)
    expect_complete(found, 10)
    x <- found$history$x
    expect_identical(found$history$reason,
                     ifelse(x < 0.3, "error: too small", ifelse(x > 0.8, "returned \"large\"", NA)))
  })
})

test_that("`workers` must be possible for the plan, and the other settings are checked", {
  blamed <- function(...) tryCatch({
    maximize_bandit(function(p) p[["x"]], list(x = c(0, 1)), 3, ...)
    "nothing"
  }, gpbandits_error = function(e) e$argument)
  for (bad in list(0, -1, 1.5, NA, "2", NULL, c(1, 2))) expect_identical(blamed(workers = bad), "workers")
  for (bad in list(0, -1, NA, "2", NULL, c(1, 2))) expect_identical(blamed(control = search_control(timeout = bad)),
                                                                    "timeout")
  for (bad in list(0, -1, NA, "2", NULL, Inf)) expect_identical(blamed(control = search_control(attempts = bad)),
                                                                "attempts")
  for (bad in list(1, NA, "", c("a", "b"), tempdir())) expect_identical(blamed(journal = bad), "journal")
  skip_if_not_installed("future")
  old <- future::plan("sequential")
  on.exit(future::plan(old))
  expect_identical(blamed(workers = 2), "workers")
  expect_identical(blamed(workers = Inf), "nothing")
})

# ---- with a journal --------------------------------------------------------------

noisy <- function(p) {
  Sys.sleep(0.003)
  if (p[["x"]] > 0.9) stop("too large")
  1e3 * (sin(6 * p[["x"]]) + stats::rnorm(1, 0, 0.1))
}

# The number of changes in a journal.
changes_in <- function(file) {
  count <- "SELECT (SELECT COUNT(*) FROM gpb_event) + (SELECT COUNT(*) FROM gpb_note) AS n"
  connect <- function() DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)
  if (file.exists(file)) tryCatch(tamper(list(kind = "sqlite", connect = connect), count)$n, error = function(e) 0) else 0
}

# Kills a search at random times, and calls it again until it ends. `search`: a function of the journal. Returns its
# journal, and the result of a search that was never killed.
expect_unharmed <- function(search) {
  skip_without_signals()
  whole <- search()
  file <- tempfile()
  for (further in sample(0:4, by_level(8, 8, quick = 4), replace = TRUE)) {
    begun <- changes_in(file)                           # killed after that number of further changes, or at its end
    job <- parallel::mcparallel(search(file), silent = TRUE)
    ended <- FALSE
    wait_until(function() {
      ended <<- !is.null(parallel::mccollect(job, wait = FALSE))
      ended || changes_in(file) >= begun + further
    }, "changes in the journal")
    if (ended) break
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
  }
  expect_true(file.exists(file))
  ended <- search(file)
  expect_identical(ended$history, whole$history)
  expect_identical(ended$bandit$history(), whole$bandit$history())
  expect_identical(ended[c("par", "value", "centre", "scale")], whole[c("par", "value", "centre", "scale")])
  list(file = file, whole = whole)
}

test_that("a search killed at random times and called again ends like one that was never killed", {
  found <- expect_unharmed(function(journal = NULL) {
    set.seed(84)
    maximize_bandit(noisy, list(x = c(0, 1)), 16, journal = journal,
                    data = data.frame(x = c(0.1, 0.2), reward = c(500, 800)))
  })
  file <- found$file
  whole <- found$whole
  # the same call again has nothing to do; a longer one continues
  calls <- 0
  counting <- function(p) {
    calls <<- calls + 1
    noisy(p)
  }
  known <- data.frame(x = c(0.1, 0.2), reward = c(500, 800))
  expect_identical(maximize_bandit(counting, list(x = c(0, 1)), 16, data = known, journal = file)$history, whole$history)
  expect_identical(calls, 0)
  more <- maximize_bandit(counting, list(x = c(0, 1)), 19, data = known, journal = file)
  expect_identical(calls, 3)
  expect_identical(utils::head(more$history, 18), whole$history)
  # another search's file
  blamed <- function(...) tryCatch({
    maximize_bandit(noisy, ..., journal = file)
    "nothing"
  }, gpbandits_error = function(e) e$argument)
  expect_identical(blamed(list(x = c(0, 2)), 19, data = known), "journal")
  expect_identical(blamed(list(x = c(0, 1)), 19, data = known, model = gp_model(noise_var = 0.1)), "journal")
  expect_identical(blamed(list(x = c(0, 1)), 19), "data")
  unlink(file)
  gp_ucb(journal = file, list(x = c(0, 1)), kernel_se(), 1, width = width_constant(1))$suggest()
  expect_identical(blamed(list(x = c(0, 1)), 19), "journal")
})

test_that("a search for several outcomes whose first points fail, killed at random times, ends like one never killed", {
  two <- function(p) {
    if (p[["x"]] > 0.4) stop("too large")
    c(yield = noisy(p), dust = p[["x"]])
  }
  expect_unharmed(function(journal = NULL) {
    set.seed(84)
    maximize_bandit(two, list(x = c(0, 1)), 12, journal = journal,
                    outcomes = list(yield = to_maximize(), dust = at_most(0.6)))
  })
})

test_that("a search on two workers whose own process is killed resumes from its journal", {
  skip_on_cran()
  skip_if_not_installed("future")
  file <- tempfile()
  calls <- tempfile()
  workers <- tempfile()
  code <- c(
    "suppressPackageStartupMessages(library(gpbandits))",
    "objective <- function(p) {",
    sprintf("  cat(Sys.getpid(), '\\n', file = %s, append = TRUE)", deparse(workers)),
    sprintf("  cat(format(p[['x']], digits = 17), '\\n', file = %s, append = TRUE)", deparse(calls)),
    sprintf("  if (searching > 0 && length(readLines(%s)) >= 9) tools::pskill(searching, tools::SIGKILL)", deparse(calls)),
    "  -(p[['x']] - 0.3)^2",
    "}")
  out <- run_child(c(code, "old <- future::plan('multisession', workers = 2)", "searching <- Sys.getpid()",
                     sprintf("maximize_bandit(objective, list(x = c(0, 1)), 500, workers = 2, journal = %s)", deparse(file))))
  wait_until(function() length(running(as.integer(unique(readLines(workers))))) == 0, "the end of the workers")
  expect_true(file.exists(file), info = paste(out, collapse = "\n"))
  before <- length(readLines(calls))
  found <- gpbandits:::resume_from(file, "file", trust = FALSE)
  noted <- sum(vapply(found$notes, function(note) note$name == "evaluation", NA))
  expect_gt(noted, 1)
  expect_lte(before - noted, 2)                     # at most the evaluations of the two workers
  objective <- NULL
  searching <- 0
  eval(parse(text = code[-1]))
  ended <- maximize_bandit(objective, list(x = c(0, 1)), noted + 6, journal = file)
  expect_complete(ended, noted + 6)
  expect_identical(length(readLines(calls)) - before, 6L)
})

test_that("an interrupt on two workers keeps finished evaluations, and the search can continue", {
  skip_on_cran()
  skip_if_not_installed("future")
  file <- tempfile()
  begun <- tempfile()
  out <- run_child(c(
    "suppressPackageStartupMessages(library(gpbandits))",
    "old <- future::plan('multisession', workers = 2)",
    "searching <- Sys.getpid()",
    sprintf("begun <- %s", deparse(begun)),
    "objective <- function(p) {",
    "  cat('begun\\n', file = begun, append = TRUE)",
    "  first <- length(readLines(begun)) >= 6 && dir.create(paste0(begun, 'once'), showWarnings = FALSE)",
    "  if (first) { tools::pskill(searching, tools::SIGINT); Sys.sleep(0.4) }",
    "  -(p[['x']] - 0.3)^2",
    "}",
    sprintf("found <- maximize_bandit(objective, list(x = c(0, 1)), 500, workers = 2, journal = %s)", deparse(file)),
    "h <- found$bandit$history()",
    "same <- isTRUE(all.equal(found$bandit$copy()$posterior(0.5), found$bandit$posterior(0.5)))",
    "cat('ended', found$interrupted, nrow(found$history) > 1, sum(is.na(h$reward)) <= 2, same,",
    "    sum(!is.na(h$reward)) == nrow(found$history), '\\n')",
    "n <- nrow(found$history)",
    sprintf("found <- maximize_bandit(objective, list(x = c(0, 1)), n + 4, workers = 2, journal = %s)", deparse(file)),
    "cat('further', nrow(found$history) == n + 4, sum(is.na(found$bandit$history()$reward)), '\\n')"))
  expect_identical(grep("^(ended|further)", out, value = TRUE),
                   c("ended TRUE TRUE TRUE TRUE TRUE ", "further TRUE 0 "), info = paste(out, collapse = "\n"))
})
