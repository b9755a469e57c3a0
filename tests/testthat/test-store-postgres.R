# PostgreSQL as a database of stores: sessions, commits and servers. What holds for every database is in test-store-sql.R.

test_that("a lost PostgreSQL connection of the user works again if it leads to the same database", {
  place <- postgres_place()
  con <- place$connect()
  on.exit(DBI::dbDisconnect(con))
  store <- bandit_store(con, "b")
  bandit <- store_makers$ucb(store = store)
  for (k in 1:2) {
    expect_identical(bandit$suggest()$id, k)
    cut_off(place, store$connection)
  }
  expect_identical(bandit$suggest()$id, 3L)
  expect_same_log(open_bandit(store_at(place)), bandit)
  # Its limits are set within our transactions only: the user's stay unchanged.
  DBI::dbExecute(con, "SET statement_timeout = '7s'", immediate = TRUE)
  bandit$suggest()
  limits <- c("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
  shown <- vapply(limits, function(name) DBI::dbGetQuery(con, paste("SHOW", name), immediate = TRUE)[[1]], "")
  expect_identical(unname(shown), c("7s", "0", "0"))
  # Another schema is another database: a bandit of the same name may be there.
  DBI::dbExecute(con, "CREATE SCHEMA mine", immediate = TRUE)
  DBI::dbExecute(con, "SET search_path = mine", immediate = TRUE)
  hidden <- bandit_store(con, "b")
  theirs <- store_makers$box(store = hidden)
  cut_off(place, hidden$connection)
  expect_match(refused(theirs$suggest()), "search_path")
  expect_match(refused(theirs$suggest()), "search_path")
  expect_identical(nrow(open_bandit(store_at(place))$history()), 4L)
  other <- open_bandit(bandit_store(function() {
    con <- place$connect()
    DBI::dbExecute(con, "SET search_path = mine", immediate = TRUE)
    con
  }, "b"))
  cut_off(place, other$journal$connection)
  expect_identical(other$suggest()$id, 1L)
})

# The message with which a transaction ends, changed by `change`, while `code` runs.
with_last_message <- function(change, code) {
  space <- asNamespace("gpbandits")
  true <- space$with_queued
  put <- function(f) {
    unlockBinding("with_queued", space)
    assign("with_queued", f, envir = space)
    lockBinding("with_queued", space)
  }
  on.exit(put(true))
  put(function(connection, text) {
    message <- true(connection, text)
    if (grepl("COMMIT", text)) change(message) else message
  })
  force(code)
}

test_that("the outcome of a commit whose answer was lost is read from the store", {
  place <- postgres_place()
  end <- "SELECT pg_terminate_backend(pg_backend_pid())"
  times <- 0
  once <- function(pattern, replacement) function(message) {
    times <<- times + 1
    if (times == 1) sub(pattern, replacement, message) else message
  }
  lost <- list(after = once("COMMIT;", paste0("COMMIT; ", end, ";")), before = once("COMMIT;", paste0(end, "; COMMIT;")),
               unsent = once("^.*$", end))
  bandit <- with_last_message(lost$after, store_makers$ucb(store = store_at(place, seed = 5)))
  twin <- store_makers$ucb(store = store_at(place, "twin", seed = 5))
  live <- function(bandit) {
    bandit$suggest()
    bandit$observe(1, 0.5)
    bandit$add(x = store_x[3], reward = 0.25)
    bandit$suggest()
    bandit$fail(3)
  }
  live(twin)
  for (way in names(lost)) {
    name <- paste("b", way)
    bandit <- store_makers$ucb(store = store_at(place, name, seed = 5))
    live(list(suggest = function(...) {
      times <<- 0
      with_last_message(lost[[way]], bandit$suggest(...))
      expect_gt(times, 0)
    }, observe = function(...) {
      times <<- 0
      with_last_message(lost[[way]], bandit$observe(...))
    }, add = function(...) {
      times <<- 0
      with_last_message(lost[[way]], bandit$add(...))
    }, fail = function(...) {
      times <<- 0
      with_last_message(lost[[way]], bandit$fail(...))
    }))
    expect_identical(bandit$history(), twin$history(), info = way)
    expect_same_log(open_bandit(store_at(place, name)), bandit, info = way)
  }
  # Without an answer the replica is as before, and catches up with the events that happened.
  store <- store_at(place)
  store$connection$patience <- 0
  bandit <- open_bandit(store)
  store$connection$connect <- local({
    connect <- store$connection$connect
    function() if (times == 0) connect() else stop("the server is away")
  })
  times <- 0
  error <- tryCatch(with_last_message(lost$after, bandit$suggest()), gpbandits_error = identity)
  expect_s3_class(error, "gpbandits_store_error")
  expect_match(conditionMessage(error), "not known")
  expect_identical(nrow(bandit$history()), 0L)
  times <- 0
  bandit$catch_up()
  expect_identical(nrow(bandit$history()), 1L)
})

test_that("a change that was lost with a crash of the server is made again, whatever others have recorded since", {
  skip_on_cran()
  place <- postgres_place()
  crashed <- FALSE
  crash_before_commit <- function(meanwhile) function(message) {
    if (!crashed) {
      crashed <<- TRUE
      postgres_control("restart", "immediate")
      meanwhile()
    }
    message
  }
  lives <- list(
    observe = list(ours = function(b) b$observe(3, 0.25), theirs = function(b) b$observe(2, 0.5)),
    suggest = list(ours = function(b) b$suggest(), theirs = function(b) b$suggest()),
    same = list(ours = function(b) b$add(x = store_x[3], reward = 0.25), theirs = function(b) b$add(x = store_x[3], reward = 0.25)),
    leased = list(ours = function(b) b$suggest(worker = "w", lease = 60), theirs = function(b) b$suggest(worker = "v", lease = 60))
  )
  for (way in names(lives)) {
    ours <- store_makers$ucb(store = store_at(place, way, seed = 1))
    ours$suggest(3)
    inside <- as.environment(ours)
    offer <- function() gpbandits:::offer_points(inside, data.frame(x1 = store_x[1:2]))
    if (way == "leased") gpbandits:::in_store(inside, offer)
    theirs <- open_bandit(store_at(place, way))
    crashed <- FALSE
    here <- there <- NULL
    here <- with_last_message(crash_before_commit(function() there <<- lives[[way]]$theirs(theirs)), lives[[way]]$ours(ours))
    expect_true(crashed)
    now <- open_bandit(store_at(place, way))
    expect_same_log(ours, now, info = way)
    theirs$catch_up()
    expect_same_log(theirs, now, info = way)
    if (way == "observe") expect_identical(now$history()$reward, c(NA, 0.5, 0.25))
    if (way == "same") expect_identical(sum(now$history()$reward %in% 0.25), 2L)
    if (way %in% c("suggest", "leased")) {
      expect_false(here$id == there$id, info = way)
      expect_identical(open_bandit(store_at(place, way))$renew(c(here$token, there$token)), if (way == "leased") 2L else 0L, info = way)
    }
    expect_no_error(ours$observe(ours$suggest()$id, 1))
  }
  # The first row of a bandit.
  crashed <- FALSE
  with_last_message(crash_before_commit(function() store_makers$ts(store = store_at(place, "other"))),
                    mine <- store_makers$ucb(store = store_at(place, "mine", seed = 1)))
  expect_same_log(open_bandit(store_at(place, "mine")), mine)
  expect_identical(tamper(place, "SELECT COUNT(DISTINCT bandit) = COUNT(*) AS ok FROM gpb_bandit WHERE name IN ('mine', 'other')")$ok, TRUE)
})

test_that("under four writers and crashes of the server no query is given twice, and nothing acknowledged is lost", {
  skip_without_signals()
  place <- postgres_place()
  let_go(store_makers$ucb(store = store_at(place, seed = 1)))
  home <- tempfile("writers")
  dir.create(home)
  write_until_done <- function(k) {
    bandit <- steadily(open_bandit(store_at(place)))
    acknowledged <- file(file.path(home, k), "w")
    while (!file.exists(file.path(home, "done"))) {
      query <- steadily(bandit$suggest())
      writeLines(paste("query", query$id, query$token), acknowledged)
      reward <- query$id + k / 8
      steadily(bandit$observe(query$id, reward))
      writeLines(paste("reward", query$id, reward), acknowledged)
      flush(acknowledged)
    }
    close(acknowledged)
    nrow(bandit$history())
  }
  jobs <- lapply(1:4, function(k) parallel::mcparallel(write_until_done(k), silent = TRUE))
  on.exit(tools::pskill(vapply(jobs, `[[`, 0L, "pid"), tools::SIGKILL))
  said <- function() {
    lines <- unlist(lapply(list.files(home, "^[1-4]$", full.names = TRUE), readLines, warn = FALSE))
    strsplit(as.character(lines), " ")
  }
  for (crash in 1:5) {
    before <- length(said())
    wait_for(length(said()) >= before + 20)
    postgres_control("restart", "immediate")
  }
  before <- length(said())
  wait_for(length(said()) >= before + 20)
  file.create(file.path(home, "done"))
  ended <- parallel::mccollect(jobs)
  on.exit()
  expect_true(all(vapply(ended, is.integer, NA)), info = ended)
  found <- do.call(rbind, said())
  queries <- found[found[, 1] == "query", ]
  rewards <- found[found[, 1] == "reward", ]
  expect_false(anyDuplicated(queries[, 2]) > 0)
  leases <- tamper(place, "SELECT query, token FROM gpb_lease")
  expect_identical(leases$token[match(as.integer(queries[, 2]), leases$query)], queries[, 3])
  history <- open_bandit(store_at(place))$history()
  expect_identical(history$reward[as.integer(rewards[, 2])], as.double(rewards[, 3]))
})

test_that("a transaction that computes for longer than others wait for it gets the time that it needs", {
  skip_on_cran()
  place <- postgres_place()
  mine <- new.env()
  mine$act <- function() NULL
  store <- store_at(place, trust = TRUE)
  bandit <- mined_bandit(store, mine)
  store$connection$hold <- 0.1
  mine$act <- function() {
    used <- function() sum(proc.time()[1:2])
    began <- used()
    while (used() - began < 0.4) NULL
    mine$tries <- sum(mine$tries, 1)
  }
  expect_identical(bandit$suggest()$id, 1L)
  expect_gt(mine$tries, 1)                                                   # the server ended the first try
  expect_gte(store$connection$hold, 4)
  expect_same_log(open_bandit(store_at(place, trust = TRUE)), bandit)
})

test_that("a server's full disk is an error, and nothing has happened", {
  skip_if(nzchar(postgres_lacks()), paste("no PostgreSQL:", postgres_lacks()))
  place <- small_postgres_location()
  if (is.character(place)) skip(place)
  on.exit(place$end())
  bandit <- store_makers$ucb(store = store_at(place))
  bandit$observe(bandit$suggest()$id, 0.5)
  suppressWarnings(try(writeBin(raw(3e7), file.path(place$disk, "filler")), silent = TRUE))    # the rest of the space
  end <- asked_until_refused(bandit)
  expect_s3_class(end$error, "gpbandits_store_error")
  expect_match(conditionMessage(end$error), "No space left|could not extend")
  expect_identical(bandit$history(), end$before)
  expect_same_log(open_bandit(store_at(place)), bandit)                      # reading goes on
  unlink(file.path(place$disk, "filler"))
  expect_identical(bandit$suggest()$id, nrow(end$before) + 1L)
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("with the server's default isolation two clients that ask at once both succeed", {
  skip_on_cran()
  skip_if(nzchar(postgres_lacks()), paste("no PostgreSQL:", postgres_lacks()))
  skip_on_os("windows")
  place <- postgres_location()
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

test_that("a worker survives a restart of the server", {
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
