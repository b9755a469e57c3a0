# maximize_bandit() over a store: in this process, on mirai daemons, after the death of the driver.

hill <- function(p) 1000 - 300 * (p[["x"]] - 2)^2

search_in <- function(place, evaluations = 12, objective = hill, ...) {
  maximize_bandit(objective, list(x = c(1, 3)), evaluations = evaluations, n_initial = 4,
                  store = store_at(place, seed = 7), ...)
}

test_that("a search in a store finds the maximum, keeps the budget, and resumes", {
  skip_on_cran()
  on_databases(heavy = TRUE, function(place) {
    found <- search_in(place, data = data.frame(x = 1.2, reward = hill(c(x = 1.2))))
    expect_s3_class(found, "bandit_maximum")
    expect_identical(nrow(found$history), 13L)
    expect_identical(found$history$status, c("given", rep("observed", 12)))
    expect_equal(found$history$reward, 1000 - 300 * (found$history$x - 2)^2, tolerance = 1e-12)
    expect_lt(abs(found$par[["x"]] - 2), 0.1)
    expect_lt(abs(found$value - 1000), 20)                                   # in the reward's own units
    calls <- 0
    again <- search_in(place, 14, function(p) {
      calls <<- calls + 1
      hill(p)
    }, data = data.frame(x = 1.2, reward = hill(c(x = 1.2))))
    expect_identical(calls, 2)
    expect_identical(utils::head(again$history, 13), found$history)
    expect_match(refused(search_in(place, model = gp_model(noise_var = 0.5))), "store's bandit .* has another .*noise_var")
  })
})

# (These fork: before mirai has threads in this process.)
test_that("two drivers at once share one search", {
  skip_without_signals()
  on_databases(heavy = TRUE, function(place) {
    force(place)
    slow <- function(p) {
      Sys.sleep(0.02)
      hill(p)
    }
    drivers <- replicate(2, parallel::mcparallel(search_in(place, 14, objective = slow)$history, silent = TRUE), simplify = FALSE)
    found <- unname(parallel::mccollect(drivers))
    expect_identical(found[[1]]$status, rep("observed", 14))
    expect_identical(found[[2]], found[[1]])
    seen <- tamper(place, "SELECT query, worker FROM gpb_lease WHERE state = 'done'")
    expect_identical(anyDuplicated(seen$query), 0L)
  })
})

test_that("workers on a future plan complete a search when one of them dies", {
  skip_without_store("RSQLite", "future", unix = TRUE)
  skip_if_not(future::supportsMulticore(), "future has no forked workers here")
  place <- sqlite_location()
  old <- future::plan("multicore", workers = 2)
  on.exit(future::plan(old))
  killed <- tempfile()
  found <- suppressWarnings(search_in(place, 12, control = search_control(attempts = 5), workers = 2,
                                      objective = function(p) {    # future warns of its death
    if (dir.create(killed, showWarnings = FALSE)) tools::pskill(Sys.getpid(), tools::SIGKILL)   # the first one only
    Sys.sleep(0.05)
    hill(p)
  }))
  expect_true(dir.exists(killed))
  expect_identical(found$history$status, rep("observed", 12))
  expect_equal(found$history$reward, vapply(found$history$x, function(x) hill(c(x = x)), 0), tolerance = 1e-12)
  expect_match(refused(search_in(sqlite_location(), workers = 50)), "workers")
})

test_that("with mirai daemons, and a driver that dies and is replaced, nothing is lost or counted twice", {
  skip_without_store("RSQLite", "mirai", unix = TRUE)
  place <- sqlite_location()
  driver <- parallel::mcparallel(search_in(place, 14, control = search_control(attempts = 5), objective = function(p) {
    Sys.sleep(0.05)
    hill(p)
  }), silent = TRUE)
  wait_for(nrow(tryCatch(tamper(place, "SELECT * FROM gpb_event WHERE kind = 'reward'"), error = function(e) NULL)) >= 3)
  tools::pskill(driver$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(driver))
  tamper(place, "UPDATE gpb_lease SET expires = expires - 1000 WHERE state = 'open'")
  # And one of the daemons kills itself in the middle of an evaluation.
  killed <- tempfile()
  found <- search_in(place, 14, control = search_control(attempts = 5), workers = 2,
                     objective = eval(bquote(function(p) {
    if (dir.create(.(killed), showWarnings = FALSE)) tools::pskill(Sys.getpid(), tools::SIGKILL)   # the first one only
    1000 - 300 * (p[["x"]] - 2)^2
  }), globalenv()))
  expect_true(dir.exists(killed))
  expect_identical(nrow(found$history), 14L)
  expect_identical(found$history$status, rep("observed", 14))
  counted <- tamper(place, "SELECT query FROM gpb_event WHERE kind = 'reward'")$query
  expect_identical(anyDuplicated(counted), 0L)
  expect_gt(length(unique(tamper(place, "SELECT worker FROM gpb_lease WHERE state = 'done'")$worker)), 1)
})

test_that("a worker that is stopped forever blocks neither its query nor the driver", {
  skip_without_store("RSQLite", "mirai", unix = TRUE)
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place))
  tamper(place, "UPDATE gpb_bandit SET budget = 5")
  let_go(bandit)
  stopped <- tempfile()
  pid <- function() as.integer(readLines(file.path(stopped, "pid")))
  on.exit(tools::pskill(pid(), tools::SIGKILL))
  gpbandits:::run_fleet(store_at(place), eval(bquote(function(p) {
    if (dir.create(.(stopped), showWarnings = FALSE)) {                        # the first one only
      writeLines(paste(Sys.getpid()), file.path(.(stopped), "pid"))
      tools::pskill(Sys.getpid(), tools::SIGSTOP)
    }
    # Its lease runs out.
    con <- .(place$connect)()
    DBI::dbGetQuery(con, "PRAGMA busy_timeout = 60000")
    DBI::dbExecute(con, "UPDATE gpb_lease SET expires = 0 WHERE state = 'open'")
    DBI::dbDisconnect(con)
    -(p[["x1"]] - 0.3)^2
  }), globalenv()), workers = 2, timeout = Inf, grace = 1)
  expect_true(gpbandits:::is_stopped(pid()))
  bandit$catch_up()
  expect_identical(bandit$history()$reward, -(bandit$history()$x1 - 0.3)^2)
  expect_identical(nrow(bandit$history()), 5L)
})

test_that("the driver waits for working workers when another one has given up", {
  skip_without_store("RSQLite", "mirai", unix = TRUE)
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place))
  tamper(place, "UPDATE gpb_bandit SET budget = 12")
  let_go(bandit)
  slow <- tempfile()
  gpbandits:::run_fleet(store_at(place), eval(bquote(function(p) {
    if (dir.create(.(slow), showWarnings = FALSE)) writeLines(paste(Sys.getpid()), file.path(.(slow), "pid"))
    for (k in 1:60000) if (isTRUE(file.size(file.path(.(slow), "pid")) > 0)) break else Sys.sleep(0.01)     # (ten minutes at most)
    if (readLines(file.path(.(slow), "pid")) != Sys.getpid()) stop("always")
    # The other one gives up after ten failures; this one takes longer than the driver would wait for nobody.
    con <- .(place$connect)()
    DBI::dbGetQuery(con, "PRAGMA busy_timeout = 60000")
    failed <- function() DBI::dbGetQuery(con, "SELECT COUNT(*) AS n FROM gpb_lease WHERE state = 'failed'")$n
    for (k in 1:12000) if (failed() >= 10) break else Sys.sleep(0.05)
    DBI::dbDisconnect(con)
    # (Between its two evaluations less than `grace` seconds must pass, beside whatever the machine does.)
    Sys.sleep(6)
    -(p[["x1"]] - 0.3)^2
  }), globalenv()), workers = 2, timeout = Inf, grace = 5)
  bandit$catch_up()
  history <- bandit$history()
  expect_identical(sum(history$status == "failed"), 10L)
  reported <- history$status == "observed" & history$action != "given"
  expect_identical(sum(reported), 2L)
  expect_identical(history$reward[reported], -(history$x1[reported] - 0.3)^2)
})

test_that("a search whose workers cannot start ends with an error", {
  skip_without_store("RSQLite", "mirai")
  file <- tempfile(fileext = ".db")
  connect <- eval(bquote(function() if (Sys.getpid() == .(Sys.getpid())) DBI::dbConnect(RSQLite::SQLite(), .(file))), baseenv())
  store <- bandit_store(connect, "b", seed = 7)
  expect_match(refused(maximize_bandit(hill, list(x = c(1, 3)), evaluations = 6, n_initial = 4, store = store,
                                       workers = 2)),
               "before they have evaluated anything")
})

test_that("a store can be monitored from another session", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place, seed = 1))
  empty <- summary(store_at(place))
  expect_identical(empty$queries, 0L)
  expect_output(print(empty), "0 queries")
  for (worker in c("a", "b", "a")) {
    query <- bandit$suggest(worker = worker, lease = 60)
    bandit$observe(query$id, sin(6 * query$x1), token = query$token)
  }
  bandit$suggest(worker = "c", lease = 60)
  run_out(place)
  bandit$suggest(worker = "d", lease = 30)
  seen <- summary(store_at(place))
  expect_identical(as.integer(seen$status), c(3L, 1L))
  expect_identical(names(seen$status), c("observed", "pending"))
  expect_identical(seen$working$worker, "d")
  expect_true(seen$working$expires > 0 && seen$working$expires <= 30)
  expect_identical(seen$workers$answered, c(2L, 1L, 0L, 0L))
  expect_identical(seen$workers$lost, c(0L, 0L, 1L, 0L))
  history <- bandit$history()
  expect_equal(seen$best$reward, max(history$reward, na.rm = TRUE))
  expect_output(print(seen), "under way")
  local_device()
  expect_silent(plot(store_at(place)))
})

test_that("the best of a store is the least of an objective that is minimised, and there is none of several outcomes", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  found <- minimize_bandit(function(p) (p$x - 2)^2, list(x = c(1, 3)), evaluations = 4, n_initial = 4, reward = "loss",
                           store = store_at(place, seed = 1))
  expect_identical(summary(store_at(place))$best$reward, min(found$history$loss))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(store_at(place)))
  bandit <- auto_bandit(list(x = c(1, 3)), outcomes = list(cost = to_minimize(), acid = at_least(0.2)),
                        store = store_at(place, "two", seed = 1))
  query <- bandit$suggest(2)
  bandit$observe(data.frame(id = query$id, cost = query$x, acid = 1:2))
  seen <- summary(store_at(place, "two"))
  expect_identical(nrow(seen$best), 0L)
  expect_silent(plot(store_at(place, "two")))
  expect_false(any(grepl("best observed", utils::capture.output(print(seen)))))
})

test_that("a search in a store works with rewards in any units", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  same <- lapply(c(1, -1e6), function(unit) {
    maximize_bandit(function(p) unit * hill(p), list(x = c(1, 3)), evaluations = 10, n_initial = 4,
                    model = gp_model(refit = NULL),
                    direction = if (unit > 0) "maximize" else "minimize", store = store_at(sqlite_location(), seed = 7))
  })
  expect_equal(same[[2]]$history$x, same[[1]]$history$x, tolerance = 1e-6)
  expect_equal(same[[2]]$value, -1e6 * same[[1]]$value, tolerance = 1e-6)
})

test_that("a search in a store prints messages, and reports that its budget is spent", {
  skip_without_store("RSQLite")
  place <- sqlite_location()
  objective <- function(p) if (p[["x"]] > 2.9) stop("too far") else hill(p)
  lines <- character()
  found <- withCallingHandlers(search_in(place, 8, objective, control = search_control(verbose = TRUE)),
                               message = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  expect_match(lines, "of 8: .* at x = ")
  expect_identical(as.integer(sub(" of.*", "", lines)), 1:8)
  expect_identical(grepl("error: too far", lines), is.na(found$history$reward))
  # Only new evaluations are reported by a search that resumes.
  more <- testthat::capture_messages(search_in(place, 9, objective, control = search_control(verbose = TRUE)))
  expect_match(more, "^9 of 9: ")
  bar <- utils::capture.output(found <- search_in(place, 10, objective, control = search_control(progress = TRUE)),
                               type = "message")
  expect_match(paste(bar, collapse = ""), "100%")
  bandit <- open_bandit(store_at(place))
  message <- expect_message(none <- bandit$suggest(2), "budget of 10 evaluations is spent", class = "gpbandits_budget_spent")
  expect_identical(nrow(none), 0L)
  expect_silent(work_on(store_at(place), objective, heartbeat = FALSE))
})

test_that("workers find packages in the caller's libraries", {
  skip_without_store("RSQLite", "mirai")
  out <- run_child(shell = "unset R_LIBS R_LIBS_USER;", c(
    "suppressPackageStartupMessages(library(gpbandits))",
    "store <- bandit_store(tempfile(fileext = '.db'), 'b', seed = 1)",
    "found <- maximize_bandit(function(p) -p[['x']]^2, list(x = c(-1, 1)), 6, store = store, workers = 2, control = search_control(verbose = TRUE))",
    "cat('found', sum(found$history$status == 'observed'), '\\n')"))
  expect_identical(grep("^found", out, value = TRUE), "found 6 ", info = paste(out, collapse = "\n"))
  expect_identical(sum(grepl("of 6: .* at x = ", out)), 6L)
})
