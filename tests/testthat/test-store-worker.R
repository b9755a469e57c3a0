# Workers that come, go, fail and die; databases that fail.

test_that("a worker's loop reports rewards, avoids failures, keeps the budget, and has random numbers by query", {
  skip_on_cran()
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, seed = 3))
    give_budget(place, 12)
    objective <- function(p) {
      if (p[["x1"]] > 0.9) stop("too far")
      parabola(p) + stats::rnorm(1, sd = 0.01)
    }
    set.seed(1)
    before <- .Random.seed
    expect_identical(work_on(store_at(place), objective, heartbeat = FALSE), 12)
    expect_identical(.Random.seed, before)
    bandit$catch_up()
    history <- bandit$history()
    failed <- history$status == "failed"
    expect_true(any(failed) && all(history$x1[failed] > 0.9))
    expect_identical(sum(history$action != "given"), 12L)
    expect_identical(sum(history$action == "given"), sum(failed))            # the worst so far
    seen <- tamper(place, "SELECT * FROM gpb_history WHERE status = 'failed'")
    expect_true(all(grepl("too far", seen$reason)))
    expect_identical(work_on(store_at(place), objective, heartbeat = FALSE), 0)   # nothing is left
    again <- store_makers$ucb(store = store_at(place, "twin", seed = 3))
    tamper(place, "UPDATE gpb_bandit SET budget = 12 WHERE name = 'twin'")
    work_on(store_at(place, "twin"), objective, heartbeat = FALSE)
    again$catch_up()
    expect_identical(again$history(), history)
  })
})

test_that("a time limit of the caller ends the work anywhere, and the query is available to others at once", {
  skip_without_store("RSQLite")
  # (R's compiler swallows the limit that strikes while it works.)
  jit <- compiler::enableJIT(0)
  on.exit({
    setTimeLimit()
    setSessionTimeLimit()
    compiler::enableJIT(jit)
  })
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place, seed = 1))
  seconds <- function() sum(proc.time()[1:2])
  # (Finalizers swallow a limit, too: R's collector is to have nothing to do, and a call that is not ended ends normally.)
  work <- function(objective, limit, timeout = Inf) {
    gc()
    end <- seconds() + 2
    limit()
    tryCatch(work_on(store_at(place), objective, until = function(b) seconds() > end, heartbeat = FALSE,
                     timeout = timeout), error = conditionMessage)
  }
  reached <- function(text, ...) {
    for (attempt in 1:3) if (endsWith(as.character(said <- work(...)), gettext(text, domain = "R"))) break
    expect_match(said, gettext(text, domain = "R"), fixed = TRUE)
  }
  # In the middle of an evaluation, and wherever it may be (mostly in the database).
  reached("reached CPU time limit", limit = function() NULL, function(p) {
    end <- seconds() + 2
    setTimeLimit(cpu = 0.2, transient = TRUE)
    while (seconds() < end) sqrt(2)
  })
  expect_identical(tamper(place, "SELECT state FROM gpb_lease")$state, "offered")
  reached("reached CPU time limit", parabola, function() setTimeLimit(cpu = 0.5, transient = TRUE))
  # An evaluation's limit replaces neither the caller's nor the session's (which begins with R's next command, or so).
  reached("reached CPU time limit", parabola, function() setTimeLimit(cpu = 0.5, transient = TRUE), timeout = 60)
  reached("reached session CPU time limit", parabola, function() {
    setSessionTimeLimit(cpu = 0.5)
    setTimeLimit()
  }, timeout = 60)
  setSessionTimeLimit()
  bandit <- open_bandit(store_at(place))
  expect_false("failed" %in% bandit$history()$status)
  expect_identical(sum(tamper(place, "SELECT state FROM gpb_lease")$state == "open"), 0L)
  # R's words, whichever function passes them on.
  limit <- gettext("reached elapsed time limit", domain = "R")
  for (text in c(limit, paste("Some generic:", limit), paste(limit, "in step 2"))) {
    error <- expect_error(database(stop(text)), text, fixed = TRUE)
    expect_false(inherits(error, "gpbandits_error"))
  }
  expect_error(database(stop(limit, " [cpu=1s, elapsed=1s]")), class = "gpbandits_store_error")
})

test_that("a second process renews the lease of a long evaluation, and ends with the worker", {
  skip_without_signals()
  on_databases(heavy = TRUE, function(place) {
    bandit <- store_makers$ucb(store = store_at(place))
    give_budget(place, 1)
    # Ends when the lease has been renewed twice: it has outlived the time it was given.
    objective <- function(p) {
      lease <- function() tamper(place, "SELECT since, seconds, expires FROM gpb_lease")
      wait_for(with(lease(), expires - since > 1.5 * seconds))
      1
    }
    expect_identical(work_on(store_at(place), objective, lease = 0.9), 1)
    bandit$catch_up()
    expect_identical(bandit$history()$reward, 1)
    # A worker that is killed stops renewing: its query comes free.
    give_budget(place, 2)
    let_go(bandit)
    job <- parallel::mcparallel(work_on(store_at(place), function(p) Sys.sleep(100), lease = 1, worker = "dies"), silent = TRUE)
    wait_for(nrow(tamper(place, "SELECT * FROM gpb_lease WHERE worker = 'dies' AND expires - since > 1.2")) == 1)
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    heir <- function() suppressMessages(bandit$suggest(worker = "heir", lease = 60))
    wait_for(isTRUE(heir()$id == 2))
    expect_identical(lease_states(place)$state, c("done", "expired", "open"))
  })
})

test_that("a late result replaces the worst reward that was recorded for a failed evaluation", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, seed = 3))
    give_budget(place, 4)
    tried <- 0
    work_on(store_at(place), function(p) if ((tried <<- tried + 1) == 3) stop("dropped") else parabola(p), heartbeat = FALSE)
    bandit$catch_up()
    history <- bandit$history()
    failed <- which(history$status == "failed")
    stands <- which(history$action == "given")
    expect_identical(history$x1[stands], history$x1[failed])
    expect_identical(history$reward[stands], min(history$reward[seq_len(failed - 1)]))
    for (again in 1:2) bandit$observe(failed, 5)
    late <- bandit$history()
    expect_identical(late$reward[stands], 5)
    expect_identical(late$status[failed], "failed")
    expect_identical(late$reward[-stands], history$reward[-stands])
    expect_same_log(open_bandit(store_at(place)), bandit)
    known <- late[!is.na(late$reward), ]
    plain <- store_makers$ucb()
    plain$add(x = known$x1, reward = known$reward)
    expect_equal(bandit$posterior()$mean, plain$posterior()$mean, tolerance = 1e-9)
    # What a user gives up and adds by hand is the user's.
    give_budget(place, 5)
    id <- bandit$suggest()$id
    bandit$fail(id)
    bandit$add(x = store_x[2], reward = 7)
    bandit$observe(id, 1)
    expect_identical(bandit$history()$status[id], "observed")
  })
})

# The address where this process listens, "address:port" in hexadecimal digits, as in Linux's tables.
listening_sockets <- function() {
  own <- sub("^socket:\\[(.*)\\]$", "\\1", Sys.readlink(dir("/proc/self/fd", full.names = TRUE)))
  rows <- unlist(lapply(c("/proc/net/tcp", "/proc/net/tcp6"), function(file) {
    if (file.exists(file)) readLines(file)[-1]
  }))
  text <- strsplit(trimws(rows), " +")
  vapply(Filter(function(row) row[4] == "0A" && row[10] %in% own, text), `[`, "", 2)
}

test_that("a heartbeat listens on this machine only, and not in programs that the objective starts", {
  skip_if_not(file.exists("/proc/net/tcp"), "not on this system")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  sockets_of_child <- function() sum(grepl("socket:", system("ls -l /proc/self/fd", intern = TRUE)))
  before <- listening_sockets()
  before_child <- sockets_of_child()
  store_makers$ucb(store = store_at(place <- sqlite_location()))
  during <- child <- NULL
  work_on(store_at(place), function(p) {
    during <<- setdiff(listening_sockets(), before)
    child <<- sockets_of_child()
    p[["x1"]]
  }, until = function(bandit) nrow(bandit$history()) == 1)
  expect_match(during, "^0100007F:[0-9A-F]{4}$")
  expect_identical(child, before_child)
  expect_identical(listening_sockets(), before)
})

test_that("a query that nobody answers is failed after its attempts", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, attempts = 2))
    for (k in 1:2) {
      expect_identical(bandit$suggest(worker = paste(k), lease = 60)$id, 1L)
      run_out(place)
    }
    expect_identical(bandit$suggest(worker = "3", lease = 60)$id, 2L)
    expect_identical(bandit$history()$status, c("failed", "pending"))
    bandit$withdraw(2)
    expect_identical(open_bandit(store_at(place))$history()$status, c("failed", "withdrawn"))
    bandit$suggest(worker = "4", lease = 60)
    bandit$observe(3, 0.5)
    bandit$amend(3, 0.75)
    bandit$add(x = store_x[4])                                               # somebody else's running point
    bandit$fail(4, reason = "it rained")
    replica <- open_bandit(store_at(place))
    expect_same_log(replica, bandit)
    expect_identical(replica$history()$reward, c(NA, NA, 0.75, NA))
    expect_identical(tamper(place, "SELECT status FROM gpb_history ORDER BY id")$status,
                     c("failed", "withdrawn", "observed", "failed"))
    bandit$observe(1, 1)                                                     # a late answer is an answer
    expect_identical(open_bandit(store_at(place))$history()$status[1], "observed")
  })
})

# ---- databases that fail ---------------------------------------------------------------

test_that("a connection that drops within a transaction is opened again, and the change is made once", {
  on_databases(function(place) {
    mine <- new.env()
    mine$act <- function() NULL
    store <- store_at(place, trust = TRUE)
    bandit <- mined_bandit(store, mine)
    bandit$suggest(worker = "a", lease = 60)
    bandit$observe(1, 0.5)
    drops <- 0
    mine$act <- function() {
      if (drops == 1) return()
      drops <<- 1
      cut_off(place, store$connection)
    }
    expect_identical(bandit$suggest(worker = "a", lease = 60)$id, 2L)
    expect_identical(drops, 1)
    expect_same_log(open_bandit(store_at(place, trust = TRUE)), bandit)
    # One that drops again and again is an error: nothing has happened.
    before <- bandit$history()
    mine$act <- function() cut_off(place, store$connection)
    error <- tryCatch(bandit$suggest(worker = "b", lease = 60), gpbandits_error = identity)
    expect_s3_class(error, "gpbandits_store_error")
    expect_true(error$again)
    expect_identical(bandit$history(), before)
    expect_identical(nrow(open_bandit(store_at(place, trust = TRUE))$history()), 2L)
    mine$act <- function() NULL
    expect_identical(bandit$suggest(worker = "b", lease = 60)$id, 3L)
    expect_same_log(open_bandit(store_at(place, trust = TRUE)), bandit)
  })
})

test_that("a connection that cannot be opened again is an error at once", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  bandit <- store_makers$ucb(store = bandit_store(con, "b"))
  DBI::dbDisconnect(con)
  error <- tryCatch(bandit$suggest(), gpbandits_error = identity)
  expect_s3_class(error, "gpbandits_store_error")
  expect_match(conditionMessage(error), "outside of the store")
  count <- 0
  expect_error(gpbandits:::patiently({
    count <- count + 1
    bandit$suggest()
  }, 60), "outside of the store")
  expect_identical(count, 1)
})

# ---- processes that are frozen ---------------------------------------------------------

test_that("a process that is frozen within a transaction blocks the others for a while only, and continues unharmed", {
  skip_without_signals()
  on_databases(function(place) {
    let_go(store_makers$ucb(store = store_at(place, seed = 2)))
    frozen <- fork_stopped(place, function(store) {
      bandit <- open_bandit(store)
      list(asked = bandit$suggest(worker = "frozen", lease = 60)$id, history = bandit$history())
    })
    on.exit(tools::pskill(frozen$pid, tools::SIGKILL))
    wait_for(gpbandits:::is_stopped(frozen$pid))
    store <- store_at(place)
    bandit <- open_bandit(store)
    if (place$kind == "sqlite") {
      # Only the process itself frees the file; the waiting process gets its number.
      store$connection$patience <- 0.2
      error <- tryCatch(bandit$suggest(worker = "other", lease = 60), gpbandits_error = identity)
      expect_s3_class(error, "gpbandits_store_error")
      expect_true(error$again)
      expect_match(conditionMessage(error), "locked")
      if (file.exists("/proc/locks")) expect_match(conditionMessage(error), sprintf("by process %d, which is stopped", frozen$pid))
      store$connection$patience <- 60
      let_go(bandit)
    } else {
      expect_identical(bandit$suggest(worker = "other", lease = 60)$id, 1L)
      bandit$observe(1, 0.5)
    }
    tools::pskill(frozen$pid, tools::SIGCONT)
    found <- parallel::mccollect(frozen)[[1]]
    asked <- if (place$kind == "sqlite") 1L else 2L
    expect_identical(found$asked, asked)
    bandit$catch_up()
    expect_identical(found$history, bandit$history())
    expect_same_log(open_bandit(store_at(place)), bandit)
    expect_identical(lease_states(place)$worker[asked], "frozen")
  })
})

test_that("a worker that is stopped in an evaluation loses its query; its late reward counts only if no other came", {
  skip_without_signals()
  on_databases(heavy = TRUE, function(place) {
    for (first in few_of(c("zombie", "heir"), 1)) {
      bandit <- store_makers$ucb(store = store_at(place, first, seed = 3))
      give_budget(place, 1)
      let_go(bandit)
      reported <- tempfile()
      worker <- parallel::mcparallel(work_on(store_at(place, first), function(p) {
        file.create(reported)
        tools::pskill(Sys.getpid(), tools::SIGSTOP)
        0.25
      }, lease = 2, worker = "zombie"), silent = TRUE)
      on.exit(tools::pskill(worker$pid, tools::SIGKILL))
      wait_for(file.exists(reported) && gpbandits:::is_stopped(worker$pid))
      # Its heartbeats have ceased. (Where a process takes long to begin it may have lost its query once before.)
      heir <- function() suppressMessages(bandit$suggest(worker = "heir", lease = 60))
      wait_for(isTRUE(heir()$attempt >= 2))
      if (first == "heir") bandit$observe(1, 0.75)
      let_go(bandit)
      tools::pskill(worker$pid, tools::SIGCONT)
      expect_identical(parallel::mccollect(worker)[[1]], 1)
      bandit$catch_up()
      expect_identical(bandit$history()$reward, if (first == "heir") 0.75 else 0.25)
      expect_match(refused(bandit$observe(1, 5)), "already has the result")
      expect_same_log(open_bandit(store_at(place, first)), bandit)
    }
  })
})

test_that("a stopped process is distinguished from a running one", {
  skip_on_os("windows")
  expect_false(gpbandits:::is_stopped(Sys.getpid()))
  expect_false(gpbandits:::is_stopped(2^30))
  job <- parallel::mcparallel(Sys.sleep(100), silent = TRUE)
  on.exit(tools::pskill(job$pid, tools::SIGKILL))
  expect_false(gpbandits:::is_stopped(job$pid))
  tools::pskill(job$pid, tools::SIGSTOP)
  wait_for(gpbandits:::is_stopped(job$pid))
  tools::pskill(job$pid, tools::SIGCONT)
  wait_for(!gpbandits:::is_stopped(job$pid))
})

test_that("an error or an interrupt within a transaction leaves store and replica unchanged", {
  on_databases(function(place) {
    mine <- new.env()
    mine$act <- function() NULL
    bandit <- mined_bandit(store_at(place, trust = TRUE), mine)
    bandit$suggest()
    before <- bandit$history()
    mine$act <- function() stop("bang")
    expect_match(refused(bandit$suggest()), "bang")
    mine$act <- function() bandit$suggest()
    expect_match(refused(bandit$suggest()), "is being changed")
    expect_identical(bandit$history(), before)
    mine$act <- function() NULL
    expect_identical(open_bandit(store_at(place, trust = TRUE))$suggest()$id, 2L)
    expect_identical(bandit$suggest()$id, 3L)
  })
})

# Code while the store has lost a column that the last statements of its transactions need.
without_column <- function(place, column, code) {
  rename <- function(from, to) tamper(place, "ALTER TABLE gpb_lease RENAME COLUMN ", from, " TO ", to)
  rename(column, "away")
  on.exit(rename("away", column))
  force(code)
}

test_that("a change that fails after the replica applied it is undone, whatever the error", {
  skip_on_cran()
  on_databases(function(place) {
    for (name in few_of(c("refits", "constraints", "changes"), 1)) {
      bandits <- lapply(c(paste("twin of", name), name), function(n) store_makers[[name]](store = store_at(place, n, seed = 8)))
      g <- if (name == "constraints") matrix(c(0.5, 0.25), 1)
      live <- function(bandit, disturbed) {
        bandit$suggest(3)
        bandit$observe(2, 0.25, constraints = g)
        now <- function() {
          list(bandit$history(), bandit$posterior(), lapply(list(bandit$queries, bandit$events), gpbandits:::table_columns), bandit$refits)
        }
        before <- now()
        if (disturbed) {
          expect_match(refused(without_column(place, "ended", bandit$observe(1, 0.75, constraints = g))), "away|ended")
          expect_identical(now(), before, info = name)
          expect_match(refused(without_column(place, "seconds", bandit$suggest(4))), "away|seconds")   # a refit among them
          expect_identical(now(), before, info = name)
          expect_match(refused(without_column(place, "ended", bandit$withdraw(3))), "away|ended")
          expect_identical(now(), before, info = name)
        }
        bandit$observe(1, 0.75, constraints = g)
        bandit$suggest(4)
        bandit$withdraw(3)
      }
      live(bandits[[1]], FALSE)
      live(bandits[[2]], TRUE)
      expect_identical(bandits[[2]]$history(), bandits[[1]]$history(), info = name)
      expect_same_log(open_bandit(store_at(place, name)), bandits[[2]], info = name)
    }
  })
})

test_that("waiting for another transaction has a time limit", {
  skip_on_cran()
  on_databases(function(place) {
    store <- store_at(place)
    bandit <- store_makers$ucb(store = store)
    other <- place$connect()
    on.exit(DBI::dbDisconnect(other))
    if (place$kind == "sqlite") DBI::dbExecute(other, "BEGIN IMMEDIATE")
    else DBI::dbGetQuery(other, "BEGIN; SELECT * FROM gpb_bandit FOR UPDATE", immediate = TRUE)
    store$connection$patience <- 0.2
    error <- tryCatch(bandit$suggest(), gpbandits_error = identity)
    expect_s3_class(error, "gpbandits_store_error")
    expect_match(conditionMessage(error), "lock")
    expect_identical(nrow(bandit$history()), 0L)
    DBI::dbExecute(other, "ROLLBACK", immediate = TRUE)
    expect_identical(bandit$suggest()$id, 1L)
  })
})

test_that("a transaction interrupted at any statement is complete or absent, and nobody is locked out", {
  skip_without_store("RSQLite", unix = TRUE)
  functions <- c("in_store", "sql_begin", "sql_commit", "sql_rollback", "rollback", "sql_rows", "sql_insert", "lease_queries",
                 "give_leases", "keep_change.bandit_store_log", "note_overwritten", "replica_state", "restore_replica")
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place, seed = 3))
  impatient <- store_at(place)
  impatient$connection$patience <- 0
  other <- open_bandit(impatient)
  step <- function() bandit$observe(bandit$suggest(worker = "w", lease = 60)$id, 0.5)
  with_clock(functions, function(clock) {
    count <- clock(step)
    some <- few_of(by_level(seq(1, count, by = 3), seq_len(count)), 12)
    ends <- vapply(some, function(k) {
      end <- struck(clock, strikes$interrupt, k, step)
      error <- refused(other$observe(other$suggest()$id, 0.25))
      bandit$catch_up()
      same <- identical(bandit$history(), other$history()) && identical(bandit$posterior(), other$posterior())
      if (error != "none") error else if (!same) "two histories" else end
    }, "")
    expect_setequal(ends, c("interrupt", "finished")[c(TRUE, "finished" %in% ends)])
  })
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("a worker whose evaluations all fail ends and states the reason", {
  skip_if_not_installed("RSQLite")
  calls <- 0
  broken <- function(p) {
    calls <<- calls + 1
    stop("no licence")
  }
  file <- tempfile(fileext = ".db")
  expect_warning(found <- maximize_bandit(broken, list(x = c(0, 1)), 40, store = bandit_store(file, "s", seed = 1)), "no licence",
                 class = "gpbandits_no_success")
  expect_identical(calls, 10)
  expect_match(found$hopeless, "no licence")
  # With any budget, by the driver once, and by a worker for itself.
  few <- function(name) bandit_store(file, name, seed = 1)
  said <- testthat::capture_warnings(maximize_bandit(broken, list(x = c(0, 1)), 3, store = few("few")))
  expect_match(said, "^None of 3 evaluations succeeded, all for one reason: error: no licence[.]")
  gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, store = few("one"))
  begun <- calls
  expect_warning(work_on(few("one"), broken, heartbeat = FALSE, until = function(bandit) calls > begun),
                 "The only evaluation failed: error: no licence", class = "gpbandits_no_success")
  # Somebody who can continues.
  b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, store = bandit_store(file, "t", seed = 1))
  expect_warning(work_on(bandit_store(file, "t"), broken, heartbeat = FALSE), "no licence", class = "gpbandits_no_success")
  expect_identical(work_on(bandit_store(file, "t"), function(p) p[["x1"]], heartbeat = FALSE,
                           until = function(bandit) sum(bandit$history()$action == "policy" & bandit$history()$status == "observed") >= 2), 2)
})
