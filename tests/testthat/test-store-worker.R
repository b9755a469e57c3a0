# Workers that come, go, fail and die; databases that fail.

parabola <- function(p) -(p[["x1"]] - 0.3)^2

give_budget <- function(place, n) tamper(place, "UPDATE gpb_bandit SET budget = ", n)

test_that("a worker's loop: rewards told, failures avoided, the budget kept, noise by query", {
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
    expect_identical(sum(history$action == "given"), sum(failed))            # the worst so far, in their place
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

test_that("an evaluation longer than its lease is kept alive by a second process, which ends with the worker", {
  skip_on_cran()
  skip_on_os("windows")
  on_databases(heavy = TRUE, function(place) {
    bandit <- store_makers$ucb(store = store_at(place))
    give_budget(place, 1)
    # Ends when the lease has been renewed twice: it has outlived the time it was given.
    objective <- function(p) {
      for (k in 1:600) {
        lease <- tamper(place, "SELECT since, seconds, expires FROM gpb_lease")
        if (lease$expires - lease$since > 1.5 * lease$seconds) return(1)
        Sys.sleep(0.05)
      }
      stop("no heartbeat")
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
    wait_for(isTRUE(bandit$suggest(worker = "heir")$id == 2))
    expect_identical(lease_states(place)$state, c("done", "expired", "open"))
  })
})

test_that("a query that nobody answers is failed after its attempts", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, attempts = 2))
    for (k in 1:2) {
      expect_identical(bandit$suggest(worker = paste(k))$id, 1L)
      run_out(place)
    }
    expect_identical(bandit$suggest(worker = "3")$id, 2L)
    expect_identical(bandit$history()$status, c("failed", "pending"))
    expect_match(refused(bandit$observe(1, 1)), "failed")
    bandit$withdraw(2)
    expect_identical(open_bandit(store_at(place))$history()$status, c("failed", "withdrawn"))
    bandit$suggest(worker = "4")
    bandit$observe(3, 0.5)
    bandit$amend(3, 0.75)
    bandit$add(x = store_x[4])                                               # somebody else's running point
    bandit$fail(4, reason = "it rained")
    replica <- open_bandit(store_at(place))
    expect_same_log(replica, bandit)
    expect_identical(replica$history()$reward, c(NA, NA, 0.75, NA))
    expect_identical(tamper(place, "SELECT status FROM gpb_history ORDER BY id")$status,
                     c("failed", "withdrawn", "known", "failed"))
  })
})

test_that("a fleet under kill -9: nothing lost, nothing counted twice, the posterior is the log's", {
  skip_on_cran()
  skip_on_os("windows")
  full <- second_level()
  evaluations <- if (full) 1000 else 25
  on_databases(function(place) {
    bandit <- fleet_bandit(place, evaluations)
    let_go(store_makers$hallucinate(store = store_at(place, "other")))      # somebody else in the same database
    seen <- if (full) fleet_under_fire(place, evaluations, 20, every = 0.5, pause = 0.05, lease = 5)
            else fleet_under_fire(place, evaluations, 3, every = 0.3, drivers = 1, lease = 1)
    expect_gt(seen$workers_killed, 0)
    expect_identical(seen$drivers_killed, if (full) 2 else 1)
    expect_whole_fleet(place, bandit, evaluations)
    expect_identical(nrow(open_bandit(store_at(place, "other"))$history()), 0L)
  })
})

# Takes half an hour on two cores; GPBANDITS_FLEET sets another number of evaluations.
test_that("a fleet of 100 workers and 10,000 evaluations, whole and under kill -9", {
  skip_on_os("windows")
  skip_if(!second_level(), "100 workers are for GPBANDITS_TEST_LEVEL=2")
  evaluations <- as.integer(Sys.getenv("GPBANDITS_FLEET", "10000"))
  for (every in c(Inf, 0.5)) {
    on_databases(function(place) {
      bandit <- fleet_bandit(place, evaluations)
      fleet_under_fire(place, evaluations, 100, every = every, drivers = if (every < Inf) 2 else 0, pause = 0.05, lease = 60)
      expect_whole_fleet(place, bandit, evaluations)
    })
  }
})

# ---- databases that fail ---------------------------------------------------------------

# A bandit whose width function does something in the middle of the transaction of a query.
mined_bandit <- function(store, mine) {
  gp_ucb(store_x, kernel_se(0.2), 0.01, store = store, width = width_function(function(t) {
    mine$act()
    2
  }))
}

test_that("a connection that drops in the middle of a transaction: nothing has happened, and on it goes", {
  on_databases(function(place) {
    mine <- new.env()
    mine$act <- function() NULL
    store <- store_at(place, trust = TRUE)
    bandit <- mined_bandit(store, mine)
    bandit$suggest(worker = "a")
    bandit$observe(1, 0.5)
    before <- bandit$history()
    link <- store$link
    mine$act <- function() {
      mine$act <- function() NULL
      if (place$kind == "sqlite") DBI::dbDisconnect(link$con)
      else tamper(place, "SELECT pg_terminate_backend(", DBI::dbGetInfo(link$con)$pid, ")")
    }
    error <- tryCatch(bandit$suggest(worker = "a"), gpbandits_error = identity)
    expect_s3_class(error, "gpbandits_store_error")
    expect_identical(bandit$history(), before)
    expect_identical(nrow(open_bandit(store_at(place, trust = TRUE))$history()), 1L)
    expect_identical(bandit$suggest(worker = "a")$id, 2L)                    # connected again
    expect_same_log(open_bandit(store_at(place, trust = TRUE)), bandit)
  })
})

test_that("a forked process may not open a SQLite file that was open when it was forked", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_place()
  bandit <- store_makers$ucb(store = store_at(place))
  forked <- function(code) parallel::mccollect(parallel::mcparallel(code, silent = TRUE))[[1]]
  expect_match(forked(refused(bandit$suggest())), "forked")
  expect_match(forked(refused(store_at(place))), "forked")
  let_go(bandit)
  expect_identical(forked(bandit$suggest()$id), 1L)
  con <- place$connect()
  expect_identical(open_bandit(bandit_store(con, "b"))$suggest()$id, 2L)
  expect_match(forked(refused(store_at(place))), "forked")                   # a connection of the user's counts too
  DBI::dbDisconnect(con)
  expect_identical(forked(bandit$suggest()$id), 3L)
  expect_identical(bandit$suggest()$id, 4L)
})

test_that("an error or an interrupt in the middle of a transaction leaves store and replica as they were", {
  on_databases(function(place) {
    mine <- new.env()
    mine$act <- function() NULL
    bandit <- mined_bandit(store_at(place, trust = TRUE), mine)
    bandit$suggest()
    before <- bandit$history()
    mine$act <- function() stop("bang")
    expect_match(refused(bandit$suggest()), "bang")
    mine$act <- function() bandit$suggest()
    expect_match(refused(bandit$suggest()), "in the middle of")
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

test_that("a change that fails when the replica has it already is taken back, whatever it was", {
  skip_on_cran()
  on_databases(function(place) {
    for (name in c("refits", "constraints", "changes")) {
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

# Asks until the store takes no more: the error, and the history before it.
asked_until_refused <- function(bandit) {
  repeat {
    before <- bandit$history()
    error <- tryCatch({
      bandit$suggest()
      NULL
    }, gpbandits_error = identity)
    if (!is.null(error)) return(list(error = error, before = before))
  }
}

test_that("a disk that is full is an error, and nothing has happened", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_place()
  store <- store_at(place)
  bandit <- store_makers$ucb(store = store)
  bandit$suggest()
  DBI::dbGetQuery(store$link$con, "PRAGMA max_page_count = 1")               # the file may not grow
  end <- asked_until_refused(bandit)
  expect_match(conditionMessage(end$error), "full")
  expect_identical(bandit$history(), end$before)
  gpbandits:::drop_connection(store$link)                                    # a new one may write again
  expect_identical(bandit$suggest()$id, nrow(end$before) + 1L)
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("a disk without space is an error, and nothing has happened", {
  skip_on_os("windows")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  disk <- tempfile("disk")
  dir.create(disk)
  mounted <- suppressWarnings(system2("mount", c("-t", "tmpfs", "-o", "size=600k", "tmpfs", disk), stdout = FALSE, stderr = FALSE))
  if (mounted != 0) skip("no small disk can be mounted here (that takes root)")
  on.exit(system2("umount", c("-l", disk)))
  place <- list(kind = "sqlite", connect = eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(file.path(disk, "b.db"))))))
  bandit <- store_makers$ucb(store = store_at(place))
  bandit$suggest()
  suppressWarnings(try(writeBin(raw(1e6), file.path(disk, "filler")), silent = TRUE))    # all that is left
  end <- asked_until_refused(bandit)
  expect_s3_class(end$error, "gpbandits_store_error")
  expect_match(conditionMessage(end$error), "full|I/O")
  expect_identical(bandit$history(), end$before)
  unlink(file.path(disk, "filler"))
  expect_identical(bandit$suggest()$id, nrow(end$before) + 1L)
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("a server's disk without space is an error, and nothing has happened", {
  skip_if(nzchar(postgres_lacks()), paste("no PostgreSQL:", postgres_lacks()))
  place <- small_postgres_place()
  if (is.character(place)) skip(place)
  on.exit(place$end())
  bandit <- store_makers$ucb(store = store_at(place))
  bandit$observe(bandit$suggest()$id, 0.5)
  suppressWarnings(try(writeBin(raw(3e7), file.path(place$disk, "filler")), silent = TRUE))    # all that is left
  end <- asked_until_refused(bandit)
  expect_s3_class(end$error, "gpbandits_store_error")
  expect_match(conditionMessage(end$error), "No space left|could not extend")
  expect_identical(bandit$history(), end$before)
  expect_same_log(open_bandit(store_at(place)), bandit)                      # reading goes on
  unlink(file.path(place$disk, "filler"))
  expect_identical(bandit$suggest()$id, nrow(end$before) + 1L)
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("who waits for somebody else's transaction does so for a while, not for ever", {
  skip_on_cran()
  on_databases(function(place) {
    store <- store_at(place)
    bandit <- store_makers$ucb(store = store)
    other <- place$connect()
    on.exit(DBI::dbDisconnect(other))
    if (place$kind == "sqlite") DBI::dbExecute(other, "BEGIN IMMEDIATE")
    else DBI::dbGetQuery(other, "BEGIN; SELECT * FROM gpb_bandit FOR UPDATE", immediate = TRUE)
    store$link$patience <- 0.2
    error <- tryCatch(bandit$suggest(), gpbandits_error = identity)
    expect_s3_class(error, "gpbandits_store_error")
    expect_match(conditionMessage(error), "lock")
    expect_identical(nrow(bandit$history()), 0L)
    DBI::dbExecute(other, "ROLLBACK", immediate = TRUE)
    expect_identical(bandit$suggest()$id, 1L)
  })
})

test_that("a server's default isolation does not make two who ask at once fail", {
  skip_on_cran()
  skip_if(nzchar(postgres_lacks()), paste("no PostgreSQL:", postgres_lacks()))
  skip_on_os("windows")
  place <- postgres_place()
  let_go(store_makers$ucb(store = store_at(place)))
  name <- tamper(place, "SELECT current_database() AS name")$name
  tamper(place, "ALTER DATABASE ", name, " SET default_transaction_isolation = 'serializable'")
  ask <- function() {
    bandit <- open_bandit(store_at(place))
    vapply(1:15, function(k) bandit$suggest()$id, 1L)
  }
  jobs <- replicate(2, parallel::mcparallel(ask(), silent = TRUE), simplify = FALSE)
  asked <- unlist(parallel::mccollect(jobs))
  expect_identical(sort(unname(asked)), 1:30)
})

test_that("a transaction struck at any statement is whole or not there, and nobody is locked out", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  functions <- c("in_store", "sql_begin", "sql_commit", "sql_rollback", "rollback", "sql_rows", "sql_insert", "lease_queries",
                 "give_lease", "keep_change.bandit_store_log", "note_overwritten", "replica_state", "restore_replica")
  place <- sqlite_place()
  bandit <- store_makers$ucb(store = store_at(place, seed = 3))
  impatient <- store_at(place)
  impatient$link$patience <- 0
  other <- open_bandit(impatient)
  step <- function() bandit$observe(bandit$suggest(worker = "w")$id, 0.5)
  with_clock(functions, function(clock) {
    count <- clock(step)
    some <- by_level(seq(1, count, by = 3), seq_len(count))
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

test_that("a worker outlives a restart of the server", {
  skip_if(nzchar(postgres_lacks()), paste("no PostgreSQL:", postgres_lacks()))
  place <- postgres_place()
  bandit <- store_makers$ucb(store = store_at(place, seed = 1))
  give_budget(place, 6)
  restarted <- FALSE
  objective <- function(p) {
    if (!restarted && nrow(tamper(place, "SELECT * FROM gpb_query")) == 3) {
      restarted <<- TRUE
      postgres_control("restart")                                            # fast: every session is ended
    }
    parabola(p)
  }
  expect_identical(work_on(store_at(place), objective, heartbeat = FALSE), 6)
  expect_true(restarted)
  bandit$catch_up()
  expect_equal(bandit$history()$reward, -(bandit$history()$x1 - 0.3)^2)
})
