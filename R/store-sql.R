# Transactions and statements on any database, and the tables of a store. Layer: storage.

# Stores are written in SQL that all databases understand. What differs is registered by the file of each database, with
# register_database(kind, ...):
#   `title`: the database's name, and `class`: the class of its DBI connections.
#   `clock`: SQL for the server's time in seconds since 1970 (leases use it), and `exists`: a query with one row, whose
#            `n` is 1 if the store's tables exist.
#   `begin(connection, rows, bandit)`: begins a transaction that blocks other writers of the bandit of this name (NULL:
#            those who create tables or bandits), and returns the result of the query `rows` as of the time of the lock.
# These have a default, see plain_database:
#   `prepare(con, connection)`: settings of a new DBI connection. It returns what identifies the tables that a user's
#            connection leads to (database, user, ...): a lost connection is replaced only by one with the same value.
#   `read(connection, text)`: the rows of a query.
#   `write(connection, text)`: runs a statement: within the transaction, or as one of its own. In the latter case it
#            returns the number of rows that it has changed.
#   `insert(connection, table, columns)`: inserts rows, given as a list of columns. Numbers are stored exactly.
#   `commit(connection)`, `rollback(con)`: end the transaction.
#   `at_once(connection, change, done)`: writes a change of one query (see statement_of()) by one statement, which is a
#            transaction, and calls done(). If the bandit's row is not the one that `change` follows, or the statement
#            fails, nothing happens. (A database without it locks the row before the change is computed.)
#   `session(con)`: identifies the server's session, where the driver replaces lost sessions silently.
#   `quote(x)`: text as SQL literals, and `define(connection, statement)`: a statement that defines a table, in the
#            database's words.
#   `open_path(path)`: a function that opens this file (no default), and `reopen(con)`: one that opens a connection like
#            `con`. NULL if there is none.

# The functions here begin, read, write and commit a transaction. A connection is an environment with these fields:
#   `kind`: the kind of database, as registered.
#   `con`: a DBI connection or NULL.
#   `connect`: a function that makes one, or NULL if the user gave a connection.
#   `queued`: statements that are sent in one message with the next read or with COMMIT, if the database does so.
#   `inside`: is a transaction in progress?
#   `undone`: did the last transaction end because its connection was lost?
#   `durable`: is a commit on the disk before it returns? See bandit_store().
#   `journal`: is it the connection of a journal? See R/store-journal.R.
#   `patience`: the seconds to wait for transactions of others.
#   `hold`: the seconds that others wait for an idle transaction of this connection.
#   `guard`: the finalizer's environment of a connection that the package has opened. It may have a statement that stays
#            `prepared`.
#   `place`, `session`: as `prepare` and `session` have returned them for `con`.
#   `files`: identities of the database's files, by path, if it has files.
#   `trace`: how to find the change of the transaction among others, see leave_trace().

store_schema_version <- 1L

# What a database has registered, or the default.
of_database <- function(connection, name) {
  own <- databases[[connection$kind]][[name]]
  if (is.null(own)) plain_database[[name]] else own
}

new_connection <- function(con, durable = TRUE, journal = FALSE) {
  need_package("DBI", "con")
  connection <- list2env(list(con = NULL, connect = NULL, queued = character(), inside = FALSE, undone = FALSE,
                              durable = durable, journal = journal, patience = 60, hold = 30, pid = Sys.getpid()),
                         parent = emptyenv())
  if (is.character(con)) con <- opener_of_path(con)
  if (is.function(con)) {
    connection$connect <- con
    live_connection(connection)
  } else {
    use_connection(connection, con)
    connection$connect <- of_database(connection, "reopen")(con)
  }
  connection
}

# (The kinds in the order of the alphabet; the first that knows the file opens it.)
opener_of_path <- function(path) {
  path <- file_path(path, "con")
  for (kind in ls(databases)) {
    opener <- if (!is.null(databases[[kind]]$open_path)) databases[[kind]]$open_path(path)
    if (!is.null(opener)) return(opener)
  }
}

# The absolute path, which remains valid when the working directory changes.
file_path <- function(file, arg, links = 40) {
  file <- path.expand(check_string(file, arg))
  directory <- dirname(file)
  if (!dir.exists(directory)) {
    stop_argument(arg, describe(file), "a file in a directory that exists", try = "`dir.create()` first")
  }
  if (dir.exists(file)) stop_argument(arg, sprintf("a directory (%s)", quoted(file)), "a file")
  path <- file.path(normalizePath(directory), basename(file))
  target <- Sys.readlink(path)
  if (is.na(target) || !nzchar(target)) {
    special <- file.exists(path) && .Platform$OS.type == "unix" && cpp_file_ids(path) == ""
    if (special) stop_argument(arg, sprintf("no regular file (%s)", quoted(file)), "a file")
    return(path)
  }
  # The target of a symbolic link, which need not exist yet.
  if (links == 0) stop_argument(arg, sprintf("a link without an end (%s)", quoted(file)), "a file")
  file_path(if (startsWith(target, "/")) target else file.path(dirname(path), target), arg, links - 1)
}

use_connection <- function(connection, con) {
  connection$kind <- kind_of_connection(con)
  if (!DBI::dbIsValid(con)) {
    stop_argument("con", "a connection that is closed", "an open connection", try = "`DBI::dbConnect()`")
  }
  connection$place <- database(of_database(connection, "prepare")(con, connection))
  connection$session <- of_database(connection, "session")(con)
  connection$con <- con
  connection$pid <- Sys.getpid()
  invisible(connection)
}

kind_of_connection <- function(con) {
  kinds <- Filter(function(kind) isS4(con) && inherits(con, databases[[kind]]$class), ls(databases))
  if (length(kinds)) return(kinds[1])
  titles <- vapply(mget(ls(databases), envir = databases), `[[`, "", "title")
  paths <- !vapply(mget(ls(databases), envir = databases), function(one) is.null(one$open_path), NA)
  stop_argument("con", describe(con),
                sprintf("a path (%s), a DBI connection to %s, or a function that returns one",
                        paste(titles[paths], collapse = " or "), paste(titles, collapse = " or ")))
}

is_open <- function(con) isTRUE(unless_it_fails(DBI::dbIsValid(con), FALSE))

unless_it_fails <- function(code, otherwise) catch_error(code, function(e) otherwise)

# The DBI connection, opened (again) if necessary. A forked child must open a separate one: two processes on one
# connection would mix their messages. `keeps`: the connection's prepared statement stays.
live_connection <- function(connection, keeps = FALSE) {
  if (!keeps) end_prepared(connection)
  if (connection$inside && connection$pid == Sys.getpid() && !is.null(connection$con)) {
    return(connection$con)   # a dead connection raises an error when it is used
  }
  if (!is.null(connection$con) && connection$pid == Sys.getpid()) {
    if (!connection_lost(connection)) return(connection$con)
    if (is.null(connection$connect)) return(replaced_connection(connection))
  }
  # Another connection must not continue a transaction.
  if (connection$inside && connection$pid == Sys.getpid()) {
    database(stop_fault("the connection was lost in the middle of a transaction"))
  }
  # A reference to the parent's connection is kept, because the garbage collector would close it for both processes.
  if (connection$pid != Sys.getpid()) connection$parents <- list(connection$con, connection$guard)
  connection$inside <- FALSE
  connection$queued <- character()
  if (is.null(connection$connect)) stop_unknown_connection("is not here")
  if (connection$pid == Sys.getpid()) drop_connection(connection)
  con <- NULL
  ready <- FALSE
  on.exit(if (!ready && !is.null(con)) attempt(DBI::dbDisconnect(con)))
  without_remains({
    con <- database(connection$connect())
    use_connection(connection, con)
    close_with(connection, con)
  })
  ready <- TRUE
  con
}

# The value of `code`. If it is broken off, a connection that it has opened and not returned is collected here, because
# drivers warn when R collects an open one. (No handler sees the warnings of finalizers.)
without_remains <- function(code) {
  collect <- function() {
    old <- options(warn = -1)
    on.exit(options(old))
    gc()
  }
  tryCatch(code, error = function(e) {
    collect()
    stop(e)
  }, interrupt = function(i) {
    collect()
    signalCondition(i)
    invokeRestart("abort")                                         # as R does if nothing handles the interrupt
  })
}

# Is the connection closed, or has another session replaced the one that was prepared?
connection_lost <- function(connection) {
  if (is.null(connection$con) || !is_open(connection$con)) return(TRUE)
  !identical(of_database(connection, "session")(connection$con), connection$session)
}

# Replaces a lost connection of the user. Only its driver has its parameters, and makes the connection again. It is used
# if it leads to the same tables.
replaced_connection <- function(connection) {
  if (!is_open(connection$con)) stop_unknown_connection("is closed")
  place <- connection$place
  use_connection(connection, connection$con)
  if (!identical(connection$place, place)) {
    connection$place <- place
    connection$session <- NA_real_
    stop_unknown_connection(paste("was lost, and the server does not give the new one the same role, database",
                                  "and search_path"))
  }
  connection$con
}

stop_unknown_connection <- function(what) {
  stop_store(again = FALSE, "The store's connection ", what, ". It was made outside of the store, which cannot make ",
             "it again: bandit_store() with a path, or with a function that makes a connection, would.")
}

# A connection opened by the package is closed with its last store. (Finalizers run in reverse order of registration:
# before that of DBI.)
close_with <- function(connection, con) {
  connection$guard <- new.env(parent = emptyenv())
  pid <- Sys.getpid()
  reg.finalizer(connection$guard, function(guard) {
    # (R ignores errors of a finalizer, including a time limit. A statement that was interrupted may still be open: DBI
    # warns, and closes the connection when it ends.)
    if (pid == Sys.getpid()) suspendInterrupts(attempt(suppressWarnings(if (DBI::dbIsValid(con)) {
      if (!is.null(guard$prepared)) attempt(DBI::dbClearResult(guard$prepared))
      DBI::dbDisconnect(con)
    })))
  }, onexit = TRUE)
}

# Ends the statement that is prepared on a connection of the package, if there is one.
end_prepared <- function(connection) {
  if (is.null(connection$guard$prepared) || connection$pid != Sys.getpid()) return(invisible())
  attempt(suppressWarnings(DBI::dbClearResult(connection$guard$prepared)))
  connection$guard$prepared <- NULL
}

# Errors of the database become errors of the package.
database <- function(code) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error")) stop(e)
    stop_store("The store's database: ", message_of(e), parent = e)
  })
}

# `again`: can a later repetition succeed?
stop_store <- function(..., again = TRUE, parent = NULL) {
  stop_gpbandits("store", ..., argument = "store", call = NULL, parent = parent, again = again)
}

# ---- statements ---------------------------------------------------------------

# These evaluate connection and statement before the call of a generic of DBI: R rewords errors in arguments that select
# a method, including time limits. (If a column begins with NULLs, the driver warns about later values. The callers
# check the types.)
dbi_rows <- function(con, text, ...) {
  force(con)
  force(text)
  suppressWarnings(DBI::dbGetQuery(con, text, ...))
}

dbi_change <- function(con, text, ...) {
  force(con)
  force(text)
  DBI::dbExecute(con, text, ...)
}

plain_database <- list(
  prepare = function(con, connection) NULL,
  read = function(connection, text) dbi_rows(live_connection(connection), text),
  write = function(connection, text) dbi_change(live_connection(connection), text),
  insert = function(connection, table, columns) {
    rows <- do.call(paste, c(lapply(unname(columns), sql_literal, connection = connection), sep = ", "))
    sql_run(connection, "INSERT INTO ", table, " (", paste(names(columns), collapse = ", "), ") VALUES (",
            paste(rows, collapse = "), ("), ")")
  },
  commit = function(connection) dbi_change(live_connection(connection), "COMMIT", immediate = TRUE),
  rollback = function(con) dbi_change(con, "ROLLBACK", immediate = TRUE),
  at_once = function(connection, change, done) NULL,
  session = function(con) NULL,
  quote = function(x) paste0("'", gsub("'", "''", x, fixed = TRUE), "'"),
  define = function(connection, statement) statement,
  reopen = function(con) NULL
)

sql_rows <- function(connection, ...) {
  text <- paste0(...)
  ask <- function() of_database(connection, "read")(connection, text)
  if (connection$inside) database(ask()) else on_living(connection, ask)
}

# A query for given columns. (The answer of a database to a message of several statements may lack them if there are no
# rows.)
sql_select <- function(connection, columns, ...) {
  found <- sql_rows(connection, "SELECT ", paste(columns, collapse = ", "), " ", ...)
  found[setdiff(columns, names(found))] <- list(character())
  found
}

# A connection may have died since its last use (for example because the server was restarted). The call is then
# repeated once, on a new connection. This is only for calls that can safely run twice: reading, beginning a
# transaction, renewing a lease.
on_living <- function(connection, ask) {
  first <- catch_error(list(ask()), identity)
  if (!inherits(first, "error")) return(first[[1]])
  if (inherits(first, "gpbandits_error") || !connection_lost(connection)) database(stop(first))
  database(ask())
}

# Runs a statement of a transaction.
sql_run <- function(connection, ...) {
  text <- paste0(...)
  database(of_database(connection, "write")(connection, text))
  invisible()
}

# Runs one statement in a separate transaction, and returns the number of rows that it changed.
sql_change_now <- function(connection, ...) {
  check_outside(connection)
  text <- paste0(...)
  on_living(connection, function() of_database(connection, "write")(connection, text))
}

sql_insert <- function(connection, table, columns) {
  if (length(columns[[1]])) database(of_database(connection, "insert")(connection, table, columns))
  invisible()
}

sql_at_once <- function(connection, change, done) {
  database(of_database(connection, "at_once")(connection, change, done))
  invisible()
}

has_at_once <- function(connection) !is.null(databases[[connection$kind]]$at_once)

sql_literal <- function(x, connection) {
  if (is.integer(x)) text <- sprintf("%d", x)
  else if (is.double(x)) text <- sprintf("'%.17g'", x)
  else text <- of_database(connection, "quote")(enc2utf8(as.character(x)))
  if (anyNA(x)) text[is.na(x)] <- "NULL"
  text
}

sql_clock <- function(connection) of_database(connection, "clock")

# ---- transactions -------------------------------------------------------------

# Begins a transaction and blocks other writers of the bandit of this name (NULL: all who create tables or bandits).
# `rows`: the first query of the transaction, whose result is as of the time of the lock.
sql_begin <- function(connection, rows, bandit = NULL) {
  check_outside(connection)
  live_connection(connection)
  connection$queued <- character()
  connection$undone <- FALSE
  connection$trace <- NULL
  # A call that fails or is interrupted here may have begun a transaction.
  on.exit(if (!connection$inside) suspendInterrupts(attempt(rollback(connection))))
  found <- on_living(connection, function() of_database(connection, "begin")(connection, rows, bandit))
  connection$inside <- TRUE
  connection$since <- processor_time()
  found
}

# (A forked process is not in a transaction of its parent.)
check_outside <- function(connection) {
  if (connection$inside && connection$pid == Sys.getpid()) {
    stop_state("The store is in the middle of a transaction. Call the method after it has ended.", argument = "store")
  }
}

sql_commit <- function(connection) {
  note_computing(connection)
  database(of_database(connection, "commit")(connection))
  connection$inside <- FALSE
}

processor_time <- function() sum(proc.time()[c("user.self", "sys.self")])

# Updates the computing time of transactions: others wait for an idle one for ten times the longest. (Processor time
# excludes the time during which a process is frozen.)
note_computing <- function(connection) {
  connection$hold <- max(connection$hold, 10 * (processor_time() - connection$since))
}

# Calls `change()`, a transaction, and repeats it if the connection was lost before it was committed.
until_it_stays <- function(connection, change) {
  for (left in 2:0) {
    done <- tryCatch(list(change()), gpbandits_store_error = identity)
    if (!inherits(done, "error")) return(done[[1]])
    if (!connection$undone || left == 0) stop(done)
  }
}

# Notes which rows the transaction will leave, for the case that the answer to its commit is lost. Two conditions in
# SQL: `committed`, that these rows are there; `aborted`, that they are not. `bandit`: as in sql_begin().
leave_trace <- function(connection, committed, aborted, bandit) {
  query <- paste0("SELECT CASE WHEN ", committed, " THEN 'committed' WHEN ", aborted, " THEN 'aborted' ",
                  "ELSE 'unknown' END AS fate")
  connection$trace <- list(query = query, bandit = bandit)
}

sql_rollback <- function(connection) {
  connection$queued <- character()
  if (!connection$inside || connection$pid != Sys.getpid()) return(invisible())
  connection$inside <- FALSE
  note_computing(connection)
  connection$undone <- connection_lost(connection)
  rolled <- catch_error(rollback(connection), identity)
  # If a connection fails here too, it is closed.
  if (inherits(rolled, "error") && !is.null(connection$connect)) drop_connection(connection)
}

# (The server rolls back a lost session automatically. An interrupted query may have unread rows, about which the driver
# warns.)
rollback <- function(connection) {
  if (!connection_lost(connection)) suppressWarnings(of_database(connection, "rollback")(connection$con))
}

drop_connection <- function(connection) {
  end_prepared(connection)
  if (!is.null(connection$con)) attempt(suppressWarnings(DBI::dbDisconnect(connection$con)))
  connection$con <- NULL
  connection$inside <- FALSE
}

# Is a process of this machine stopped (Ctrl-Z, SIGSTOP)? Has it ended, even if nobody has asked for its end?
is_stopped <- function(pid) startsWith(state_of_process(pid), "T")
has_died <- function(pid) .Platform$OS.type == "unix" && state_of_process(pid) %in% c("", "Z", "X")

# The first letter of a process's state, as `ps` shows it. "" if there is none.
state_of_process <- function(pid) {
  if (.Platform$OS.type != "unix") return("")
  file <- file.path("/proc", pid, "stat")
  state <- catch_error(suppressWarnings(
    # (The second field is a name in parentheses, which may contain any character.)
    if (dir.exists("/proc/self")) sub("^.*\\) ", "", readLines(file, n = 1))
    else system2("ps", c("-o", "state=", "-p", pid), stdout = TRUE, stderr = FALSE)
  ), function(e) "")
  substr(trimws(c(state, "")[1]), 1, 1)
}

# ---- tables -------------------------------------------------------------------

store_tables <- function() {
  number <- "DOUBLE PRECISION"
  c(
    "CREATE TABLE gpb_schema (version INTEGER NOT NULL)",
    sprintf("INSERT INTO gpb_schema (version) VALUES (%d)", store_schema_version),
    paste("CREATE TABLE gpb_bandit (bandit INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL,",
          "seed INTEGER NOT NULL, attempts INTEGER NOT NULL, budget INTEGER, created", number, "NOT NULL,",
          "events INTEGER NOT NULL, queries INTEGER NOT NULL, checksum", number, "NOT NULL)"),
    paste("CREATE TABLE gpb_query (bandit INTEGER NOT NULL REFERENCES gpb_bandit (bandit), query INTEGER NOT NULL,",
          "arm INTEGER, context INTEGER NOT NULL, action TEXT NOT NULL, segment INTEGER NOT NULL, mean", number,
          ", sd", number, ", width", number, ", numbers TEXT NOT NULL, place TEXT NOT NULL,",
          "PRIMARY KEY (bandit, query))"),
    paste("CREATE TABLE gpb_event (bandit INTEGER NOT NULL REFERENCES gpb_bandit (bandit), number INTEGER NOT NULL,",
          "kind TEXT NOT NULL, query INTEGER NOT NULL, reward", number, ", time", number, ", numbers TEXT NOT NULL,",
          "parameters TEXT, at", number, "NOT NULL, checksum", number, "NOT NULL, PRIMARY KEY (bandit, number))"),
    "CREATE INDEX gpb_event_of_query ON gpb_event (bandit, query)",
    paste("CREATE TABLE gpb_lease (bandit INTEGER NOT NULL REFERENCES gpb_bandit (bandit), query INTEGER NOT NULL,",
          "attempt INTEGER NOT NULL, worker TEXT, token TEXT NOT NULL, state TEXT NOT NULL, since", number, "NOT NULL,",
          "seconds", number, "NOT NULL, expires", number, "NOT NULL, ended", number, ", reason TEXT,",
          "PRIMARY KEY (bandit, query, attempt))"),
    "CREATE INDEX gpb_lease_open ON gpb_lease (bandit, state)",
    store_view()
  )
}

# The condition on the state of a lease that has not ended.
not_ended <- "state IN ('open', 'shown', 'kept', 'offered')"

# One row per query, for people and other programs.
store_view <- function() {
  paste(
    "CREATE VIEW gpb_history AS SELECT b.name AS bandit, q.query AS id, q.arm + 1 AS arm, q.place, q.action,",
    "q.segment,",
    "q.mean, q.sd, q.width, r.reward, CASE x.kind WHEN 'withdraw' THEN 'withdrawn' WHEN 'fail' THEN 'failed'",
    "ELSE CASE WHEN r.reward IS NULL THEN 'pending'",
    "ELSE 'observed' END END AS status, l.worker, l.attempt, l.since AS asked_at,",
    "COALESCE(x.at, r.at) AS answered_at, CASE WHEN x.kind IS NOT NULL THEN COALESCE(x.parameters, l.reason) END",
    "AS reason",
    "FROM gpb_query q JOIN gpb_bandit b ON b.bandit = q.bandit",
    "LEFT JOIN gpb_event r ON r.bandit = q.bandit AND r.number = (SELECT MAX(number) FROM gpb_event e",
    "WHERE e.bandit = q.bandit AND e.query = q.query AND e.kind IN ('reward', 'given', 'amend'))",
    "LEFT JOIN gpb_event x ON x.bandit = q.bandit AND x.number = (SELECT MAX(number) FROM gpb_event e",
    "WHERE e.bandit = q.bandit AND e.query = q.query AND e.kind IN ('withdraw', 'fail'))",
    # (A query with a later result is not withdrawn or failed.)
    "AND x.number > COALESCE(r.number, 0)",
    "LEFT JOIN gpb_lease l ON l.bandit = q.bandit AND l.query = q.query AND l.attempt = (SELECT MAX(attempt)",
    "FROM gpb_lease m WHERE m.bandit = q.bandit AND m.query = q.query)"
  )
}

# The first process creates the tables; tables of a newer version are an error.
prepare_tables <- function(connection) {
  if (!has_tables(connection)) until_it_stays(connection, function() make_tables(connection))
  check_schema(connection)
}

check_schema <- function(connection) {
  version <- sql_rows(connection, "SELECT version FROM gpb_schema")$version
  if (length(version) != 1 || !is.numeric(version) || !isTRUE(version == store_schema_version)) {
    stop_store("The store's tables are of version ", paste(format(version), collapse = ", "),
               ", this package uses version ", store_schema_version, ". Update the package, or use a new database.",
               again = FALSE)
  }
}

has_tables <- function(connection) sql_rows(connection, of_database(connection, "exists"))$n > 0

make_tables <- function(connection, statements = store_tables()) {
  on.exit(sql_rollback(connection))
  sql_begin(connection, "SELECT 1 AS one")
  if (!has_tables(connection)) for (statement in statements) sql_define(connection, statement)
  sql_commit(connection)
}

sql_define <- function(connection, ...) sql_run(connection, of_database(connection, "define")(connection, paste0(...)))

check_store <- function(store, arg = "store") check_class(store, "bandit_store", arg, hint = "bandit_store()")
