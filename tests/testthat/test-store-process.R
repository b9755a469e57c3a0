# Evaluations with a time limit in a second process.

# A function that finds only these values and the workspace's.
with_values <- function(f, ...) {
  environment(f) <- list2env(list(...), parent = globalenv())
  f
}

new_folder <- function() {
  folder <- tempfile("evaluations")
  dir.create(folder)
  folder
}

# Processes with this text in their command line. (Only Linux lists them without another program.)
processes_with <- function(text) {
  files <- Sys.glob("/proc/[0-9]*/cmdline")
  shown <- vapply(files, function(file) {
    wording <- tryCatch(suppressWarnings(readBin(file, "raw", 4096)), error = function(e) raw())
    rawToChar(replace(wording, wording == as.raw(0), as.raw(32)))
  }, "")
  as.integer(basename(dirname(files[grepl(text, shown, fixed = TRUE)])))
}

test_that("an evaluation that checks no time limit is ended, whatever it does, and nothing later is recorded", {
  skip_without_signals()
  skip_if_not_installed("future")
  on_databases(function(place) {
    store_makers$ucb(store = store_at(place, seed = 1))
    give_budget(place, 5)
    folder <- new_folder()
    objective <- with_values(function(p) {
      count <- length(list.files(folder))
      file.create(file.path(folder, count))
      if (count == 0) Sys.sleep(300)
      if (count == 1) system("sleep 299.75")
      if (count == 2) suspendInterrupts(repeat NULL)
      if (count == 3) quit("no")
      if (count < 4) file.create(file.path(folder, "woke"))
      p[["x1"]]
    }, folder = folder)
    began <- Sys.time()
    expect_identical(work_on(store_at(place), objective, timeout = 0.5, lease = 5), 5)
    expect_lt(as.double(Sys.time() - began, units = "secs"), 200)
    history <- tamper(place, "SELECT * FROM gpb_history WHERE action <> 'given' ORDER BY id")
    expect_match(history$reason[1:3], "^timed out after 0.5 s")
    expect_match(history$reason[4], "died")
    expect_identical(history$status, c(rep("failed", 4), "observed"))
    expect_false(file.exists(file.path(folder, "woke")))
    expect_length(processes_with("sleep 299.75"), 0)
  })
})

test_that("an evaluation in a second process has the random numbers, functions and errors of one in this process", {
  skip_on_cran()
  skip_if_not_installed("future")
  on_databases(function(place) {
    objective <- function(p) {
      cat(Sys.getpid(), "\n", file = pids, append = TRUE)
      if (p[["x1"]] > 0.6) stop("too far")
      stats::rnorm(1) + helper_of_objective(p[["x1"]])
    }
    environment(objective) <- list2env(list(pids = tempfile()), parent = globalenv())
    assign("helper_of_objective", function(x) -x, globalenv())
    on.exit(rm("helper_of_objective", envir = globalenv()))
    lives <- lapply(c(Inf, 60), function(timeout) {
      name <- paste("limit", timeout)
      store_makers$ts(store = store_at(place, name, seed = 1))
      tamper(place, "UPDATE gpb_bandit SET budget = 6 WHERE name = '", name, "'")
      work_on(store_at(place, name), objective, timeout = timeout, heartbeat = FALSE)
      tamper(place, "SELECT id, reward, status, reason FROM gpb_history WHERE bandit = '", name, "' ORDER BY id")
    })
    expect_identical(lives[[2]], lives[[1]])
    expect_true("observed" %in% lives[[1]]$status)
    # One process for all of them.
    pid <- scan(environment(objective)$pids, quiet = TRUE)
    expect_identical(unique(pid[1:6]), as.double(Sys.getpid()))
    expect_length(unique(pid[7:12]), 1)
    expect_false(Sys.getpid() %in% pid[7:12])
  })
})

test_that("the caller's time limit ends an evaluation in a second process, and the query is available at once", {
  skip_without_signals()
  skip_if_not_installed("future")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place, seed = 1))
  folder <- new_folder()
  objective <- with_values(function(p) {
    saveRDS(Sys.getpid(), file.path(folder, "pid"))
    Sys.sleep(300)
  }, folder = folder)
  on.exit(setTimeLimit())
  error <- tryCatch({
    setTimeLimit(elapsed = 6, transient = TRUE)
    work_on(store_at(place), objective, timeout = 200, heartbeat = FALSE)
  }, error = conditionMessage)
  setTimeLimit()
  expect_match(error, gettext("reached elapsed time limit", domain = "R"), fixed = TRUE)
  expect_identical(tamper(place, "SELECT state FROM gpb_lease")$state, "offered")
  pid <- readRDS(file.path(folder, "pid"))
  wait_for(length(running(pid)) == 0)
})

test_that("races and fleets end evaluations at their time limit", {
  skip_without_signals()
  skip_if_not_installed("future")
  skip_if_not(store_packages("RSQLite", "mirai"), "packages DBI, RSQLite, jsonlite and mirai are not installed")
  slow <- with_values(function(p) {
    if (p[["x"]] > 0.7) Sys.sleep(300)
    -p[["x"]]
  })
  late <- function(found) found$history$x > 0.7
  found <- maximize_bandit(slow, list(x = c(0, 1)), 8, store = bandit_store(tempfile(fileext = ".db"), "b", seed = 2),
                           workers = 2, control = search_control(timeout = 1))
  expect_gt(sum(late(found)), 0)
  expect_identical(grepl("^timed out after 1 s", found$history$reason), late(found))
  raced <- with_values(function(p, fold) {
    if (p[["x"]] > 0.7) Sys.sleep(300)
    -p[["x"]] + fold / 100
  })
  found <- suppressWarnings(maximize_bandit(raced, list(x = c(0, 1)), 12, race = race_folds(3),
                                            store = bandit_store(tempfile(fileext = ".db"), "b", seed = 2),
                                            control = search_control(timeout = 1)))
  expect_gt(sum(late(found)), 0)
  expect_identical(grepl("timed out after 1 s", found$history$reason), late(found))
})

test_that("a time limit while a second process starts ends that process without a message", {
  skip_on_cran()
  skip_if_not_installed("future")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  out <- run_child(c(
    "suppressMessages(library(gpbandits))",
    "store <- bandit_store(tempfile(fileext = '.db'), 'b', seed = 1)",
    "invisible(gp_ucb(1:9 / 9, kernel_se(0.3), 0.1, store = store)$suggest())",
    # (A process takes longer than that to start.)
    "soon <- function(b) { setTimeLimit(elapsed = 0.05, transient = TRUE); FALSE }",
    "cat(tryCatch(work_on(store, sum, until = soon, timeout = 5, heartbeat = FALSE),",
    "             error = conditionMessage, finally = setTimeLimit()))",
    "began <- Sys.time()",
    "while (length(Sys.glob(file.path(tempdir(), 'second*'))) && Sys.time() < began + 5) Sys.sleep(0.05)",
    "cat('', Sys.time() < began + 5)"))
  expect_identical(out, "reached elapsed time limit TRUE")
})
