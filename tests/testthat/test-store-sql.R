# The requirements of every registered database (R/store-sql.R): the same list of properties for each.

sql_begin <- function(...) gpbandits:::sql_begin(...)
sql_commit <- function(...) gpbandits:::sql_commit(...)
sql_rollback <- function(...) gpbandits:::sql_rollback(...)
sql_rows <- function(...) gpbandits:::sql_rows(...)

# A store's connection with a table for this test, and others to the same table.
open_table <- function(place) {
  connection <- store_at(place)$connection
  sql_begin(connection, "SELECT 1 AS one")
  gpbandits:::sql_define(connection, "CREATE TABLE IF NOT EXISTS tried (k INTEGER PRIMARY KEY, x DOUBLE PRECISION, word TEXT)")
  sql_commit(connection)
  connection
}

insert_tried <- function(connection, k, x = NA_real_, word = NA_character_) {
  gpbandits:::sql_insert(connection, "tried", list(k = as.integer(k), x = rep_len(x, length(k)), word = rep_len(word, length(k))))
}

keys_tried <- function(connection) as.integer(sql_rows(connection, "SELECT k FROM tried ORDER BY k")$k)

test_that("each registered database has the required functions, and a place where these tests run", {
  kinds <- ls(gpbandits:::databases)
  expect_setequal(names(store_locations), kinds)
  for (kind in kinds) {
    entry <- gpbandits:::databases[[kind]]
    for (name in c("title", "class", "clock", "exists")) expect_type(entry[[name]], "character")
    expect_identical(names(formals(entry$begin)), c("connection", "rows", "bandit"))
    plain <- gpbandits:::plain_database
    for (name in intersect(names(entry), names(plain))) {
      expect_identical(names(formals(entry[[name]])), names(formals(plain[[name]])), info = paste(kind, name))
    }
    expect_length(setdiff(names(entry), c("title", "class", "clock", "exists", "begin", "open_path", names(plain))), 0)
  }
})

test_that("an error in the computation of a statement, such as a time limit, is raised as it is", {
  on_databases(always = TRUE, function(place) {
    connection <- open_table(place)
    limit <- simpleError("reached elapsed time limit")
    text <- function() stop(limit)
    operation <- function(name) gpbandits:::of_database(connection, name)
    expect_identical(tryCatch(operation("begin")(connection, text(), 1), error = identity), limit)
    try(operation("rollback")(gpbandits:::live_connection(connection)), silent = TRUE)
    for (name in c("read", "write")) {
      expect_identical(tryCatch(operation(name)(connection, text()), error = identity), limit, info = paste(place$kind, name))
    }
  })
})

test_that("numbers and texts are returned exactly, within the transaction and on another connection", {
  on_databases(always = TRUE, function(place) {
    connection <- open_table(place)
    x <- c(1 / 3, -2^-1074, 1.7976931348623157e308, 4.9e-324, 1e22 + 2^22, -123456789.123456789, 0, NA, pi * 10^(-20:20))
    word <- c("it's", "back\\slash \\' \\\\", "\"quoted\"", "two\nlines\ttab", "\u00e4\u4e2d\U1f600", "",
              "E'x'; DROP TABLE tried; --", NA, "%s ? $1")
    word <- rep_len(word, length(x))
    sql_begin(connection, "SELECT 1 AS one")
    insert_tried(connection, seq_along(x), x, word)
    there <- function(connection) {
      found <- sql_rows(connection, "SELECT k, x, word FROM tried ORDER BY k")
      expect_identical(as.double(found$x), x, info = place$kind)
      expect_identical(enc2utf8(found$word), enc2utf8(word), info = place$kind)
    }
    there(connection)
    sql_commit(connection)
    there(open_table(place))
    for (text in word[!is.na(word)]) {
      found <- sql_rows(connection, "SELECT k FROM tried WHERE word = ", gpbandits:::sql_literal(text, connection))
      expect_identical(sort(as.integer(found$k)), which(word == text), info = text)
    }
    expect_identical(names(gpbandits:::sql_select(connection, c("k", "x"), "FROM tried WHERE k < 0")), c("k", "x"))
  })
})

test_that("a transaction happens completely at its commit, or not at all", {
  on_databases(always = TRUE, function(place) {
    mine <- open_table(place)
    theirs <- open_table(place)
    found <- sql_begin(mine, "SELECT 7 AS seven")
    expect_equal(as.double(found$seven), 7)
    insert_tried(mine, 1:3)
    gpbandits:::sql_run(mine, "DELETE FROM tried WHERE k = 2")
    expect_identical(keys_tried(mine), c(1L, 3L))
    expect_identical(keys_tried(theirs), integer())
    expect_error(sql_begin(mine, "SELECT 1 AS one"), "in the middle")
    sql_commit(mine)
    expect_identical(keys_tried(theirs), c(1L, 3L))
    sql_begin(mine, "SELECT 1 AS one")
    insert_tried(mine, 4)
    sql_rollback(mine)
    expect_identical(keys_tried(mine), c(1L, 3L))
    # A statement that fails: nothing of its transaction remains, and the next one is not hindered.
    sql_begin(mine, "SELECT 1 AS one")
    error <- expect_error({
      insert_tried(mine, c(5, 1))
      sql_commit(mine)
    }, class = "gpbandits_store_error")
    sql_rollback(mine)
    expect_identical(keys_tried(theirs), c(1L, 3L))
    sql_begin(theirs, "SELECT 1 AS one")
    insert_tried(theirs, 6)
    sql_commit(theirs)
    expect_identical(keys_tried(mine), c(1L, 3L, 6L))
  })
})

test_that("a single statement returns the number of rows that it has changed", {
  on_databases(always = TRUE, function(place) {
    connection <- open_table(place)
    sql_begin(connection, "SELECT 1 AS one")
    insert_tried(connection, 1:5, x = c(1, 1, 2, 3, 3))
    expect_error(gpbandits:::sql_change_now(connection, "DELETE FROM tried"), "in the middle")
    sql_commit(connection)
    change <- function(x) as.double(gpbandits:::sql_change_now(connection, "UPDATE tried SET word = 'seen' WHERE x = ", x))
    expect_identical(vapply(c(1, 2, 9), change, 0), c(2, 1, 0))
    expect_equal(as.double(sql_rows(open_table(place), "SELECT COUNT(*) AS n FROM tried WHERE word = 'seen'")$n), 3)
    expect_error(change("nothing"), class = "gpbandits_store_error")
  })
})

test_that("a second writer waits for the first, up to its patience, and then sees its changes", {
  on_databases(always = TRUE, function(place) {
    open_table(place)
    let_go(store_makers$ucb(store = store_at(place)))
    mine <- open_table(place)
    theirs <- open_table(place)
    for (bandit in list(NULL, "b")) {
      before <- keys_tried(theirs)
      sql_begin(mine, "SELECT 1 AS one", bandit)
      insert_tried(mine, length(before) + 1)
      theirs$patience <- 0.1
      error <- tryCatch(sql_begin(theirs, "SELECT 1 AS one", bandit), gpbandits_error = identity)
      expect_s3_class(error, "gpbandits_store_error")
      expect_true(error$again)
      expect_false(theirs$inside)
      expect_identical(keys_tried(theirs), before)                           # who reads does not wait
      sql_commit(mine)
      theirs$patience <- 60
      expect_equal(as.double(sql_begin(theirs, "SELECT COUNT(*) AS n FROM tried", bandit)$n), length(before) + 1)
      sql_rollback(theirs)
    }
  })
})

test_that("if several processes write at once nothing is lost, and a transaction reads the state at its lock", {
  skip_without_signals()
  on_databases(always = TRUE, function(place) {
    connection <- open_table(place)
    let_go(store_makers$ucb(store = store_at(place)))
    gpbandits:::drop_connection(connection)
    invisible(gc())
    add <- function() {
      connection <- store_at(place)$connection
      for (k in 1:8) {
        last <- sql_begin(connection, "SELECT COALESCE(MAX(k), 0) AS k FROM tried", "b")$k
        insert_tried(connection, as.integer(last) + 1L)
        sql_commit(connection)
      }
      "done"
    }
    jobs <- lapply(1:3, function(k) parallel::mcparallel(add(), silent = TRUE))
    expect_identical(unname(unlist(parallel::mccollect(jobs))), rep("done", 3), info = place$kind)
    expect_identical(keys_tried(open_table(place)), 1:24)
  })
})

test_that("processes that create the tables at once all find them", {
  skip_without_signals()
  on_databases(always = TRUE, function(place) {
    jobs <- lapply(1:3, function(k) parallel::mcparallel({
      store_makers$ucb(store = store_at(place, paste(k)))
      "made"
    }, silent = TRUE))
    expect_identical(unname(unlist(parallel::mccollect(jobs))), rep("made", 3), info = place$kind)
    numbers <- tamper(place, "SELECT bandit FROM gpb_bandit ORDER BY bandit")$bandit
    expect_identical(as.integer(numbers), 1:3)
    expect_equal(as.double(tamper(place, "SELECT COUNT(*) AS n FROM gpb_schema")$n), 1)
  })
})

test_that("the server's clock counts seconds since 1970, and advances within a transaction", {
  on_databases(always = TRUE, function(place) {
    connection <- open_table(place)
    now <- function() as.double(sql_rows(connection, "SELECT ", gpbandits:::sql_clock(connection), " AS now")$now)
    first <- now()
    expect_lt(abs(first - as.double(Sys.time())), 86400)
    sql_begin(connection, "SELECT 1 AS one")
    began <- now()
    expect_gte(began, first)
    for (k in 1:200) {
      if (now() > began) break
      Sys.sleep(0.01)
    }
    expect_gt(now(), began)
    sql_rollback(connection)
  })
})

test_that("a closed connection is opened again outside a transaction, and is an error within one", {
  on_databases(always = TRUE, function(place) {
    connection <- open_table(place)
    sql_begin(connection, "SELECT 1 AS one")
    insert_tried(connection, 1)
    sql_commit(connection)
    DBI::dbDisconnect(connection$con)
    expect_identical(keys_tried(connection), 1L)
    DBI::dbDisconnect(connection$con)
    sql_begin(connection, "SELECT 1 AS one")
    insert_tried(connection, 2)
    suppressWarnings(DBI::dbDisconnect(connection$con))
    expect_error({
      insert_tried(connection, 3)
      sql_commit(connection)
    }, class = "gpbandits_store_error")
    sql_rollback(connection)
    expect_true(connection$undone)
    expect_identical(keys_tried(connection), 1L)
    # One that the user has made is not made again.
    con <- place$connect()
    theirs <- bandit_store(con, "b")
    DBI::dbDisconnect(con)
    if (is.null(theirs$connection$connect)) {
      error <- expect_error(sql_rows(theirs$connection, "SELECT 1 AS one"), "closed", class = "gpbandits_store_error")
      expect_false(error$again)
    } else {
      expect_equal(as.double(sql_rows(theirs$connection, "SELECT 1 AS one")$one), 1)
    }
    expect_error(bandit_store(con, "b"), "closed", class = "gpbandits_argument_error")
  })
})

test_that("a bandit has the same history in every database, in every process", {
  histories <- list()
  on_databases(always = TRUE, function(place) {
    bandit <- store_makers$refits(store = store_at(place, seed = 5))
    theirs <- open_bandit(store_at(place))
    for (t in 1:6) {
      turn <- list(bandit, theirs)[[1 + t %% 2]]
      query <- turn$suggest(worker = "w", lease = 60)
      turn$observe(query$id, sin(7 * query$x1), token = query$token)
    }
    bandit$fail(bandit$suggest()$id, reason = "it's \\ raining")
    for (one in list(bandit, theirs)) one$catch_up()
    expect_same_log(theirs, bandit)
    expect_same_log(open_bandit(store_at(place)), bandit)
    expect_output(print(store_at(place)), place$kind)
    histories[[place$kind]] <<- bandit$history()
  })
  for (kind in names(histories)) expect_identical(histories[[kind]], histories[[1]], info = kind)
})

# Symbols of code, and its texts.
strings_in_code <- function(code) {
  if (is.name(code) || is.character(code)) return(as.character(code))
  if (is.call(code) || is.pairlist(code) || is.expression(code)) unlist(lapply(as.list(code), strings_in_code), use.names = FALSE)
}

test_that("only the file of a database names it", {
  folder <- test_path("..", "..", "R")
  skip_if_not(dir.exists(folder), "the sources are not beside the tests")
  kinds <- ls(gpbandits:::databases)
  own <- sprintf("store-%s.R", kinds)
  expect_true(all(file.exists(file.path(folder, own))))
  name <- paste(kinds, collapse = "|")
  for (file in setdiff(list.files(folder, "[.]R$"), own)) {
    text <- sub("^ *#.*", "", readLines(file.path(folder, file), warn = FALSE))
    if (!any(grepl(name, text, ignore.case = TRUE))) next
    wording <- grep(name, strings_in_code(parse(text = text, keep.source = FALSE)), ignore.case = TRUE, value = TRUE)
    # (Errors about `con` may list the possible values.)
    expect_length(wording[!grepl("^a path [(]|bandit_store[(]", wording)], 0)
  }
})
