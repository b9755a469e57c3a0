# SQLite as a database of stores: files, forks and disks. What holds for every database is in test-store-sql.R.

test_that("SQLite on network file systems is an error", {
  mounts <- tempfile()
  writeLines(c("/dev/sda1 / ext4 rw 0 0", "server:/home /home nfs4 rw 0 0", "/dev/sdb1 /home/local ext4 rw 0 0"), mounts)
  expect_match(refused(gpbandits:::check_local_disk("/home/me/x.db", mounts)), "network file system")
  expect_silent(gpbandits:::check_local_disk("/home/local/x.db", mounts))
  expect_silent(gpbandits:::check_local_disk("/homes/x.db", mounts))
})

test_that("a forked process may not open a SQLite file that was open when it was forked", {
  skip_without_store("RSQLite", unix = TRUE)
  place <- sqlite_location()
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

test_that("a full disk is an error, and nothing has happened", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  store <- store_at(place)
  bandit <- store_makers$ucb(store = store)
  bandit$suggest()
  DBI::dbGetQuery(store$connection$con, "PRAGMA max_page_count = 1")               # the file may not grow
  end <- asked_until_refused(bandit)
  expect_match(conditionMessage(end$error), "full")
  expect_identical(bandit$history(), end$before)
  gpbandits:::drop_connection(store$connection)                                    # a new one may write again
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
  suppressWarnings(try(writeBin(raw(1e6), file.path(disk, "filler")), silent = TRUE))    # the rest of the space
  end <- asked_until_refused(bandit)
  expect_s3_class(end$error, "gpbandits_store_error")
  expect_match(conditionMessage(end$error), "full|I/O")
  expect_identical(bandit$history(), end$before)
  unlink(file.path(disk, "filler"))
  expect_identical(bandit$suggest()$id, nrow(end$before) + 1L)
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("a worker survives a file that is locked for longer than it waits", {
  skip_without_store("RSQLite", unix = TRUE)
  place <- sqlite_location()
  let_go(store_makers$ucb(store = store_at(place, seed = 1)))
  give_budget(place, 3)
  held <- tempfile()
  holder <- parallel::mcparallel({
    con <- place$connect()
    DBI::dbExecute(con, "BEGIN IMMEDIATE")
    file.create(held)
    wait_for(!file.exists(held))
    DBI::dbExecute(con, "ROLLBACK")
  }, silent = TRUE)
  wait_for(file.exists(held))
  store <- store_at(place)
  store$connection$patience <- 0.01
  expect_error(open_bandit(store)$suggest(), "locked", class = "gpbandits_store_error")
  # The lock goes after some of its tries, not after some time.
  tries <- 0
  rm("patience", envir = store$connection)
  makeActiveBinding("patience", function() {
    tries <<- tries + 1
    if (tries == 5) unlink(held)
    0.01
  }, store$connection)
  expect_identical(work_on(store, parabola, heartbeat = FALSE), 3)
  expect_gte(tries, 5)
  parallel::mccollect(holder)
})

test_that("a file that is no database, or is incomplete, is an error of the store, and is not changed", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  file <- tempfile(fileext = ".db")
  writeLines("a text that is no database, and that goes on for a while, as texts do", file)
  before <- tools::md5sum(file)
  expect_error(bandit_store(file, "b"), "not a database", class = "gpbandits_store_error")
  expect_identical(tools::md5sum(file), before)
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place))
  bandit$suggest()
  let_go(bandit)
  bytes <- readBin(place$file, "raw", file.size(place$file))
  writeBin(utils::head(bytes, 3000), file)
  expect_error(open_bandit(bandit_store(file, "b")), class = "gpbandits_error")
})

test_that("two searches in two processes on one file share its evaluations, and other settings are an error", {
  skip_without_store("RSQLite")
  file <- tempfile(fileext = ".db")
  script <- tempfile(fileext = ".R")
  writeLines(c("arguments <- commandArgs(TRUE)",
               "library(gpbandits)",
               "found <- maximize_bandit(function(p) { Sys.sleep(0.05); 1 - (p[['u']] - 0.4)^2 }, list(u = c(0, 1)), evaluations = 10, n_initial = 3,",
               "                         model = gp_model(kernel = kernel_se(0.3), refit = NULL), store = bandit_store(arguments[1], 's', seed = 3))",
               "saveRDS(found$history, arguments[2])"), script)
  answers <- replicate(2, tempfile())
  for (answer in answers) {
    system2(file.path(R.home("bin"), "Rscript"), shQuote(c(script, file, answer)), wait = FALSE, stdout = FALSE, stderr = FALSE,
            env = paste0("R_LIBS=", paste(.libPaths(), collapse = ":")))
  }
  wait_for(all(file.exists(answers)))
  histories <- lapply(answers, function(answer) {
    found <- NULL
    wait_for(!is.null(found <- tryCatch(readRDS(answer), error = function(e) NULL, warning = function(w) NULL)))
    found
  })
  expect_identical(histories[[1]], histories[[2]])
  expect_identical(histories[[1]]$status, rep("observed", 10))
  # (The searches' processes may still be at their end.)
  place <- list(kind = "sqlite", connect = function() DBI::dbConnect(RSQLite::SQLite(), file))
  done <- tamper(place, "SELECT query FROM gpb_lease WHERE state = 'done'")$query
  expect_identical(sort(as.integer(done)), 1:10)
  expect_match(refused(maximize_bandit(function(p) 1, list(u = c(0, 1)), evaluations = 10, n_initial = 3,
                                       model = gp_model(kernel = kernel_se(0.9), refit = NULL), store = bandit_store(file, "s"))),
               "store's bandit .* has another `kernel`")
})

# Calls `test` with a function that returns the number of statements that its argument sends to databases.
with_counted_statements <- function(test) {
  space <- asNamespace("DBI")
  names <- c("dbExecute", "dbGetQuery", "dbBind")
  originals <- mget(names, envir = space)
  put <- function(functions) for (name in names) {
    unlockBinding(name, space)
    assign(name, functions[[name]], envir = space)
    lockBinding(name, space)
  }
  count <- 0
  within <- FALSE
  on.exit(put(originals))
  put(lapply(originals, function(original) {
    force(original)
    function(...) {
      outer <- !within                                                       # (one of them calls another one)
      if (outer) {
        count <<- count + 1
        within <<- TRUE
        on.exit(within <<- FALSE)
      }
      original(...)
    }
  }))
  test(function(code) {
    count <<- 0
    force(code)
    count
  })
}

test_that("a decision of a process that is alone is one statement for its query and one for its reward", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  bandit <- store_makers$open(store = store_at(place, seed = 1))
  bandit$observe(bandit$suggest(context = 0.5)$id, 1)
  theirs <- open_bandit(store_at(place))
  query <- NULL
  with_counted_statements(function(counted) {
    for (k in 1:3) {
      expect_identical(counted(query <<- bandit$suggest(context = k / 4)), 1)
      expect_identical(counted(bandit$observe(query$id, k)), 1)
      expect_identical(counted(query <<- bandit$suggest(context = k / 4)), 1)
      expect_identical(counted(bandit$observe(query$id, k, token = query$token)), 1)
      expect_identical(counted(bandit$amend(query$id, k + 1, token = query$token)), 1)
      expect_identical(counted(bandit$fail(bandit$suggest(context = k / 4)$id, reason = "rain")), 2)
    }
    # Another process writes: its rows are read within a transaction, and then this process is alone again.
    theirs$observe(theirs$suggest(context = 1)$id, 0)
    expect_identical(counted(query <<- bandit$suggest(context = 1)), 10)
    expect_identical(counted(bandit$observe(query$id, 0)), 6)
    expect_identical(counted(query <<- bandit$suggest(context = 1)), 1)
    # Several queries, and leases, are a transaction.
    expect_identical(counted(query <<- bandit$suggest(50, context = matrix(0.5, 50))), 7)
    expect_identical(counted(bandit$observe(query$id, seq_len(50) / 50, token = query$token)), 6)
    expect_identical(counted(bandit$suggest(context = 0.5, worker = "w", lease = 60)), 7)
  })
  theirs$catch_up()
  expect_same_log(theirs, bandit)
  expect_same_log(open_bandit(store_at(place)), bandit)
})

test_that("a file that is deleted or replaced while it is open is an error, and nothing is acknowledged", {
  skip_on_os("windows")
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  losses <- list(
    deleted = function(file) unlink(file),
    replaced = function(file) {
      file.copy(file, paste0(file, ".copy"))
      file.rename(paste0(file, ".copy"), file)
    },
    moved = function(file) file.rename(file, paste0(file, ".moved")),
    log = function(file) unlink(paste0(file, "-wal"))
  )
  uses <- list(suggest = function(b) b$suggest(), observe = function(b) b$observe(1, 0.5), catch_up = function(b) b$catch_up(),
               renew = function(b) b$renew("0123"), leased = function(b) b$suggest(worker = "w", lease = 5))
  cases <- expand.grid(loss = names(losses), use = names(uses), stringsAsFactors = FALSE)
  for (k in few_of(seq_len(nrow(cases)), 9)) {
    loss <- cases$loss[k]
    use <- cases$use[k]
    place <- sqlite_location()
    bandit <- store_makers$ucb(store = store_at(place, seed = 1))
    bandit$suggest(2)
    losses[[loss]](place$file)
    before <- bandit$history()
    error <- tryCatch(uses[[use]](bandit), error = identity)
    expect_s3_class(error, "gpbandits_store_error")
    expect_match(conditionMessage(error), "was deleted or replaced", info = paste(loss, use))
    expect_false(error$again)
    expect_identical(bandit$history(), before)
  }
  # A change that is under way.
  for (loss in few_of(names(losses), 2)) {
    mine <- new.env()
    mine$act <- function() NULL
    place <- sqlite_location()
    bandit <- mined_bandit(store_at(place, trust = TRUE), mine)
    bandit$suggest()
    mine$act <- function() losses[[loss]](place$file)
    expect_match(refused(bandit$suggest()), "was deleted or replaced", info = loss)
    expect_identical(nrow(bandit$history()), 1L)
  }
})

test_that("a connection that was interrupted while it was opened is closed without a warning of its driver", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  out <- run_child(c(
    "suppressMessages(library(gpbandits))",
    "way <- NULL",
    "opener <- function() {",
    "  con <- DBI::dbConnect(RSQLite::SQLite(), tempfile())",
    "  if (!is.null(way)) stop(way)",
    "  con",
    "}",
    "limit <- simpleError('reached elapsed time limit')",
    "interrupt <- structure(class = c('interrupt', 'condition'), list(message = '', call = NULL))",
    "for (one in list(limit, interrupt, simpleError('no'))) {",
    "  way <- one",
    "  end <- tryCatch(bandit_store(opener, 'b', seed = 1), error = class, interrupt = class)",
    "  cat(end[1], '')",
    "  invisible(gc())",
    "}",
    "way <- NULL",
    "cat(class(bandit_store(opener, 'b', seed = 1)))"))
  expect_identical(out, "simpleError interrupt gpbandits_store_error bandit_store")
})
