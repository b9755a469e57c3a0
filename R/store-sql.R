# A common set of functions for SQLite and PostgreSQL. Layer: storage.

# The functions begin, read, write and commit a transaction. A connection is an environment with these fields:
#   `kind`: "sqlite" or "postgres".
#   `con`: a DBI connection or NULL.
#   `connect`: a function that makes one, or NULL if the user gave a connection.
#   `queued`: statements for PostgreSQL that are sent in one message with the next read or with COMMIT.
#   `inside`: is a transaction in progress?
#   `undone`: did the last transaction end because its connection was lost?
#   `patience`: the seconds to wait for transactions of others.
#   `hold`: the seconds that others wait for an idle transaction of this connection.
#   `place`: for a connection given by the user, its database, user and search path, see point_of().
#   `session`: for PostgreSQL, the server process of `con`, see session_of().
#   `transaction`: for PostgreSQL, the number of the transaction.
# Numbers are stored exactly: they are bound to statements of SQLite, and sent with seventeen digits to
# PostgreSQL. With PostgreSQL, a transaction consists of two messages: begin, lock and read; write and commit.

store_schema_version <- 1L

new_connection <- function(con) {
  need_package("DBI", "con")
  connection <- list2env(list(con = NULL, connect = NULL, queued = character(), inside = FALSE, undone = FALSE,
                        patience = 60, hold = 30, pid = Sys.getpid()), parent = emptyenv())
  if (is.character(con)) con <- sqlite_opener(con)
  if (is.function(con)) {
    connection$connect <- con
    live_connection(connection)
  } else {
    use_connection(connection, con)
    connection$connect <- reopener(con)
  }
  connection
}

sqlite_opener <- function(path) {
  path <- journal_path(path, "con")
  need_package("RSQLite", "con")
  check_local_disk(path)
  # (prepare_sqlite() sets `synchronous`, because it waits if the file is locked.)
  eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(path), synchronous = NULL)), envir = baseenv())
}

# A function that opens a connection like the given one. For SQLite the path of the file is sufficient. A connection to
# PostgreSQL does not contain the password, so the user must provide such a function.
reopener <- function(con) {
  if (!inherits(con, "SQLiteConnection") || !nzchar(con@dbname) || con@dbname == ":memory:") return(NULL)
  sqlite_opener(con@dbname)
}

use_connection <- function(connection, con) {
  connection$kind <- if (!isS4(con)) NULL
               else if (inherits(con, "SQLiteConnection")) "sqlite" else if (inherits(con, "PqConnection")) "postgres"
  if (is.null(connection$kind)) {
    stop_argument("con", describe(con), paste("a path (SQLite), a DBI connection to SQLite or PostgreSQL,",
                                              "or a function that returns one"))
  }
  if (!DBI::dbIsValid(con)) {
    stop_argument("con", "a connection that is closed", "an open connection", try = "`DBI::dbConnect()`")
  }
  if (connection$kind == "sqlite") check_not_inherited(con)
  database(if (connection$kind == "sqlite") prepare_sqlite(con) else prepare_postgres(con, connection))
  connection$con <- con
  connection$pid <- Sys.getpid()
  invisible(connection)
}

# The SQLite library stores the open files of a process, with their locks and positions. A forked process inherits this
# memory and would read and write at the positions of its parent. Therefore it must not open a file that was open at the
# time of the fork. The library's memory belongs to the process, so this list does too: it has the connections that
# stores have used. (A store that is made after the fork has no other information about its parent's files.) Closed
# connections are removed.
sqlite_memory <- list2env(list(connections = list()), parent = emptyenv())

check_not_inherited <- function(con) {
  if (con@dbname %in% c("", ":memory:")) return(invisible())
  open <- Filter(function(one) DBI::dbIsValid(one$con), sqlite_memory$connections)
  file <- normalizePath(con@dbname, mustWork = FALSE)
  inherited <- vapply(open, function(one) one$file == file && one$pid != Sys.getpid(), NA)
  if (any(inherited)) {
    attempt(DBI::dbDisconnect(con))
    stop_store("This process was forked while the store's SQLite file was open, and cannot use that file safely. ",
               "Fork before the store is made, or use fresh processes (mirai, a multisession plan), or ",
               "PostgreSQL.", again = FALSE)
  }
  sqlite_memory$connections <- c(open, list(list(con = con, file = file, pid = Sys.getpid())))
}

prepare_sqlite <- function(con) {
  DBI::dbGetQuery(con, "PRAGMA busy_timeout = 100")
  mode <- sqlite_patiently(DBI::dbGetQuery(con, "PRAGMA journal_mode = WAL")[[1]])
  if (!mode %in% c("wal", "memory")) {
    stop_argument("con", sprintf("a database that keeps its log in mode \"%s\"", mode),
                  "one that supports write-ahead logging (a file on a local disk)")
  }
  sqlite_patiently(DBI::dbExecute(con, "PRAGMA synchronous = FULL"))
  sqlite_patiently(DBI::dbExecute(con, "PRAGMA foreign_keys = ON"))
}

# Settings of a PostgreSQL session: it must detect within a minute or two that this machine or the network is gone (the
# system's limits are hours), and send no notices. Settings that the server does not have are skipped. (The limits of
# transactions are set in each transaction, see time_limits(), so that a user's connection keeps its settings.)
prepare_postgres <- function(con, connection) {
  settings <- c(client_min_messages = "error", tcp_keepalives_idle = "30", tcp_keepalives_interval = "10",
                tcp_keepalives_count = "3", tcp_user_timeout = "60000")
  DBI::dbGetQuery(con, paste0("SELECT set_config(p.name, s.value, false) FROM (VALUES ",
                              paste0("('", names(settings), "', '", settings, "')", collapse = ", "),
                              ") AS s (name, value) JOIN pg_settings p ON p.name = s.name"), immediate = TRUE)
  connection$session <- session_of(con)
  if (is.null(connection$connect)) connection$place <- point_of(con)
}

# The process id of the server process of this connection; NA if there is none. If a session is lost, RPostgres silently
# starts another, without the settings of the first. It has a different process id.
session_of <- function(con) as.double(or_else(unless_it_fails(DBI::dbGetInfo(con)$pid, NULL), NA))

is_open <- function(con) isTRUE(unless_it_fails(DBI::dbIsValid(con), FALSE))

unless_it_fails <- function(code, otherwise) catch_error(code, function(e) otherwise)

# The database, user and search path that determine which tables are used.
point_of <- function(con) {
  as.list(DBI::dbGetQuery(con, paste("SELECT current_database() AS base, current_user::text AS person,",
                                     "current_setting('search_path') AS path"), immediate = TRUE))
}

# SQLite's locks do not work on most network file systems: two writers would corrupt the file.
check_local_disk <- function(path, mounts = "/proc/mounts") {
  if (!file.exists(mounts)) return(invisible())
  rows <- strsplit(readLines(mounts, warn = FALSE), " ", fixed = TRUE)
  point <- vapply(rows, `[`, "", 2)
  within <- startsWith(paste0(path, "/"), ifelse(endsWith(point, "/"), point, paste0(point, "/")))
  if (!any(within)) return(invisible())
  type <- vapply(rows, `[`, "", 3)[within][which.max(nchar(point[within]))]
  network <- paste0("^(nfs|nfs4|cifs|smb|smb2|smb3|smbfs|afs|lustre|gpfs|beegfs|ceph|glusterfs|",
                    "fuse\\.(sshfs|glusterfs|s3fs|rclone|juicefs))$")
  if (grepl(network, type)) {
    stop_argument("con", sprintf("a file on a network file system (%s)", type),
                  "a file on a local disk, or a connection to PostgreSQL")
  }
}

# The DBI connection, opened (again) if necessary. A forked child must open a separate one: two processes on one
# connection would mix their messages.
live_connection <- function(connection) {
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
  if (connection$pid != Sys.getpid()) connection$parents <- connection$con
  connection$inside <- FALSE
  connection$queued <- character()
  if (is.null(connection$connect)) stop_unknown_connection("is not here")
  if (connection$pid == Sys.getpid()) drop_connection(connection)
  con <- database(connection$connect())
  ready <- FALSE
  on.exit(if (!ready) attempt(DBI::dbDisconnect(con)))
  use_connection(connection, con)
  ready <- TRUE
  close_with(connection, con)
  con
}

# Is the connection closed, or has another session replaced the one that was prepared?
connection_lost <- function(connection) {
  if (is.null(connection$con) || !is_open(connection$con)) return(TRUE)
  connection$kind == "postgres" && !identical(session_of(connection$con), connection$session)
}

# Replaces a lost connection of the user. Only RPostgres has its parameters, and makes the connection again. It is used
# if it leads to the same database, user and search path.
replaced_connection <- function(connection) {
  if (connection$kind != "postgres" || !is_open(connection$con)) {
    stop_unknown_connection("is closed")
  }
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
    # (R ignores errors of a finalizer, including a time limit.)
    if (pid == Sys.getpid()) suspendInterrupts(attempt(if (DBI::dbIsValid(con)) DBI::dbDisconnect(con)))
  }, onexit = TRUE)
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

sql_rows <- function(connection, ...) {
  text <- paste0(...)
  postgres <- connection$kind == "postgres"
  if (connection$inside && length(connection$queued)) text <- with_queued(connection, text)
  # If a column begins with NULLs, the driver warns about later values. The callers check the types.
  ask <- function() {
    con <- live_connection(connection)
    suppressWarnings(DBI::dbGetQuery(con, text, immediate = postgres))
  }
  if (connection$inside) return(database(ask()))
  if (postgres) text <- paste(time_limits(connection), text)
  # (After a process has died, the next one locks the file briefly to recover its log.)
  on_living(connection, if (postgres) ask else function() sqlite_patiently(ask(), connection$patience))
}

# A query for given columns. PostgreSQL's answer to a message that was not prepared (such as one of several statements)
# lacks the columns if there are no rows.
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

# The first statements of a message to PostgreSQL: limits of the time to wait for other transactions, and of the time of
# one statement. A message that does not begin a transaction is a transaction itself. These limits replace the server's
# defaults.
time_limits <- function(connection) {
  milliseconds <- function(seconds) sprintf("%.0f", ceiling(1000 * min(seconds, 1e6)))
  sprintf("SET LOCAL lock_timeout = %s; SET LOCAL statement_timeout = %s;", milliseconds(connection$patience),
          milliseconds(connection$patience + 300))
}

# PostgreSQL ends a transaction from which no message has come for this time: a process that is frozen during a
# transaction would otherwise block all others. A process that computes needs more time. It gets ten times the processor
# time of the longest transaction so far.
idle_limit <- function(connection) {
  sprintf("SET LOCAL idle_in_transaction_session_timeout = %.0f;", ceiling(1000 * min(connection$hold, 1e6)))
}

processor_time <- function() sum(proc.time()[c("user.self", "sys.self")])

# (Statements and connections are evaluated before the call of a generic of DBI. R rewords errors in arguments that
# select a method, including time limits.)
sql_run <- function(connection, ...) {
  text <- paste0(...)
  if (connection$kind == "postgres" && connection$inside) {
    connection$queued <- c(connection$queued, text)
    return(invisible())
  }
  con <- live_connection(connection)
  database(DBI::dbExecute(con, text, immediate = TRUE))
  invisible()
}

# Runs one statement in a separate transaction, and returns the number of rows that it changed.
sql_change_now <- function(connection, ...) {
  check_outside(connection)
  text <- paste0(...)
  # (A message of several statements returns rows only, and no count.)
  if (connection$kind == "postgres") {
    return(sql_rows(connection, "WITH changed AS (", text,
                    " RETURNING 1) SELECT COUNT(*)::integer AS n FROM changed")$n)
  }
  on.exit(sql_rollback(connection))
  sql_begin(connection, "SELECT 1 AS one")
  count <- database(DBI::dbExecute(connection$con, text))
  sql_commit(connection)
  count
}

# All queued statements and a query as one message: an error in any statement ends the message and is raised. RPostgres
# silently replaces a lost connection. The new session has no transaction, no lock and no cursor of this name, and MOVE
# makes it fail before it writes.
with_queued <- function(connection, text) {
  message <- paste(c("MOVE gpb_lock", connection$queued, text), collapse = "; ")
  connection$queued <- character()
  message
}

# Inserts rows, given as a list of columns.
sql_insert <- function(connection, table, columns) {
  if (length(columns[[1]]) == 0) return(invisible())
  names <- paste(names(columns), collapse = ", ")
  if (connection$kind == "postgres") {
    rows <- do.call(paste, c(lapply(unname(columns), sql_literal, connection = connection), sep = ", "))
    return(sql_run(connection, "INSERT INTO ", table, " (", names, ") VALUES (", paste(rows, collapse = "), ("), ")"))
  }
  marks <- paste(rep("?", length(columns)), collapse = ", ")
  con <- live_connection(connection)
  text <- paste0("INSERT INTO ", table, " (", names, ") VALUES (", marks, ")")
  database(DBI::dbExecute(con, text, params = unname(columns)))
  invisible()
}

sql_literal <- function(x, connection) {
  if (is.integer(x)) words <- sprintf("%d", x)
  else if (is.double(x)) words <- sprintf("'%.17g'", x)      # (PostgreSQL accepts 'Inf'; SQLite never gets these.)
  else words <- sql_text(enc2utf8(as.character(x)), connection)
  if (anyNA(x)) words[is.na(x)] <- "NULL"
  words
}

# A quote within a text is doubled. The meaning of a backslash depends on a setting of the PostgreSQL session, except
# after an E.
sql_text <- function(x, connection) {
  words <- paste0("'", gsub("'", "''", x, fixed = TRUE), "'")
  slashed <- if (connection$kind == "postgres") which(grepl("\\", words, fixed = TRUE))
  words[slashed] <- paste0(" E", gsub("\\", "\\\\", words[slashed], fixed = TRUE))
  words
}

# The server's clock in seconds since 1970, which is used for leases.
sql_clock <- function(connection) {
  if (connection$kind == "sqlite") "((julianday('now') - 2440587.5) * 86400.0)"
  else "(EXTRACT(EPOCH FROM clock_timestamp())::double precision)"
}

sql_now <- function(connection) as.double(sql_rows(connection, "SELECT ", sql_clock(connection), " AS now")$now)

# Begins a transaction and blocks other writers. `lock`: a query for the rows to lock in PostgreSQL (SQLite locks its
# file). `rows`: the first query of the transaction, whose result is as of the time of the lock.
sql_begin <- function(connection, rows, lock = "SELECT 1") {
  check_outside(connection)
  con <- live_connection(connection)
  connection$queued <- character()
  connection$undone <- FALSE
  connection$transaction <- NULL
  # A call that fails or is interrupted here may have begun a transaction.
  on.exit(if (!connection$inside) suspendInterrupts(attempt(rollback(connection))))
  if (connection$kind == "postgres") {
    # One message for all statements; DBI expects a single statement, and warns. Each statement must see the state at
    # the time of the lock, whatever the server's default isolation level.
    text <- paste("BEGIN ISOLATION LEVEL READ COMMITTED;", time_limits(connection), idle_limit(connection),
                  "DECLARE gpb_lock CURSOR FOR", lock, "; MOVE gpb_lock;", rows)
    found <- on_living(connection, function() {
      con <- live_connection(connection)
      suppressWarnings(DBI::dbGetQuery(con, text, immediate = TRUE))
    })
    connection$inside <- TRUE
    connection$since <- processor_time()
    connection$transaction <- found$transaction[1]
    return(found)
  }
  database(catch_error(sqlite_patiently(DBI::dbExecute(con, "BEGIN IMMEDIATE"), connection$patience), function(e) {
    stop_fault(message_of(e), lock_holder(con@dbname))
  }))
  connection$inside <- TRUE
  sql_rows(connection, rows)
}

# (A forked process is not in a transaction of its parent.)
check_outside <- function(connection) {
  if (connection$inside && connection$pid == Sys.getpid()) {
    stop_state("The store is in the middle of a transaction. Call the method after it has ended.", argument = "store")
  }
}

# SQLite waits a tenth of a second automatically. Interrupts are allowed between two attempts.
sqlite_patiently <- function(code, patience = 60) {
  again <- substitute(code)
  frame <- parent.frame()
  began <- Sys.time()
  repeat {
    got <- catch_error(list(eval(again, frame)), identity)
    if (!inherits(got, "error")) return(got[[1]])
    if (!grepl("locked|busy", message_of(got)) || seconds_since(began) > patience) stop(got)
    Sys.sleep(0.005)                                  # (some locks are reported immediately)
  }
}

# A description of the process that blocks the writers of a SQLite file. That process may be stopped during its
# transaction, and the file is free only when it continues or ends. Linux lists the owners of locks: a writer locks byte
# 120 of the file that ends in -shm (SQLite's file format, WAL-index locks). "" if there is no information.
lock_holder <- function(file, locks = "/proc/locks") {
  catch_error(suppressWarnings({
    inode <- system2("stat", c("-c", "%i", shQuote(paste0(file, "-shm"))), stdout = TRUE, stderr = FALSE)
    words <- strsplit(trimws(readLines(locks)), "[ \t]+")
    writes <- function(w) length(w) == 8 && w[4] == "WRITE" && w[7] == "120" && sub(".*:", "", w[6]) == inode
    pid <- vapply(Filter(writes, words), `[`, "", 5)
    if (length(pid) == 0) "" else paste0(", by process ", pid[1], if (is_stopped(pid[1])) ", which is stopped")
  }), function(e) "")
}

# Is a process of this machine stopped (Ctrl-Z, SIGSTOP)?
is_stopped <- function(pid) {
  if (.Platform$OS.type != "unix") return(FALSE)
  file <- file.path("/proc", pid, "stat")
  state <- catch_error(suppressWarnings(
    # (The second field is a name in parentheses, which may contain any character.)
    if (dir.exists("/proc/self")) sub("^.*\\) ", "", readLines(file, n = 1))
    else system2("ps", c("-o", "state=", "-p", pid), stdout = TRUE, stderr = FALSE)
  ), function(e) "")
  any(startsWith(trimws(state), "T"))
}

# A column with the number of a PostgreSQL transaction, for sql_commit().
sql_transaction <- function(connection) if (connection$kind == "postgres") ", txid_current()::text AS transaction"

sql_commit <- function(connection) {
  note_computing(connection)
  if (connection$kind == "postgres") {
    commit_postgres(connection)
  } else {
    con <- live_connection(connection)
    database(DBI::dbExecute(con, "COMMIT", immediate = TRUE))
  }
  connection$inside <- FALSE
}

# If the connection is lost during COMMIT, the client has no information whether the server has committed. It asks the
# server afterwards.
commit_postgres <- function(connection) {
  tryCatch(sql_rows(connection, with_queued(connection, "COMMIT; SELECT 1 AS done")),
           gpbandits_store_error = function(e) {
    if (!connection_lost(connection)) stop(e)
    connection$inside <- FALSE
    fate <- fate_of_transaction(connection)
    if (fate == "aborted") connection$undone <- TRUE
    if (fate == "unknown") {
      stop_store(message_of(e), "; whether the change has been made is not known: $catch_up() shows it", parent = e)
    }
    if (fate != "committed") stop(e)
  })
}

# "committed", "aborted", or "unknown" if the server cannot be asked within `patience`.
fate_of_transaction <- function(connection) {
  if (is.null(connection$transaction)) return("unknown")
  began <- Sys.time()
  repeat {
    # (The transaction may still be in progress, or the server may not have detected the lost connection yet.)
    status <- tryCatch(sql_rows(connection, "SELECT txid_status(", connection$transaction, ") AS status")$status,
                       gpbandits_store_error = function(e) if (isFALSE(e$again)) NA_character_ else "in progress")
    if (!identical(status, "in progress")) return(if (is.na(status)) "unknown" else status)
    if (seconds_since(began) > connection$patience) return("unknown")
    allowInterrupts(Sys.sleep(0.1))
  }
}

# Updates the computing time of transactions for idle_limit(). (Processor time excludes the time during which a process
# is frozen.)
note_computing <- function(connection) {
  if (connection$kind == "postgres") connection$hold <- max(connection$hold, 10 * (processor_time() - connection$since))
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
  if (!connection_lost(connection)) suppressWarnings(DBI::dbExecute(connection$con, "ROLLBACK", immediate = TRUE))
}

drop_connection <- function(connection) {
  if (!is.null(connection$con)) attempt(suppressWarnings(DBI::dbDisconnect(connection$con)))
  connection$con <- NULL
  connection$inside <- FALSE
}

# ---- tables -------------------------------------------------------------------

store_tables <- function(connection) {
  number <- if (connection$kind == "sqlite") "REAL" else "DOUBLE PRECISION"
  # SQLite accepts values of any type in any column, except in strict tables.
  strict <- connection$kind == "sqlite" &&
    numeric_version(sql_rows(connection, "SELECT sqlite_version() AS v")$v) >= "3.37"
  tables <- c(
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
  if (strict) sub("^(CREATE TABLE .*)$", "\\1 STRICT", tables) else tables
}

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
  if (!has_tables(connection)) make_tables(connection)
  version <- sql_rows(connection, "SELECT version FROM gpb_schema")$version
  if (length(version) != 1 || !is.numeric(version) || !isTRUE(version == store_schema_version)) {
    stop_store("The store's tables are of version ", paste(format(version), collapse = ", "),
               ", this package uses version ", store_schema_version, ". Update the package, or use a new database.",
               again = FALSE)
  }
}

has_tables <- function(connection) {
  exists <- function() DBI::dbExistsTable(live_connection(connection), "gpb_schema")
  database(if (connection$kind == "sqlite") sqlite_patiently(exists(), connection$patience) else exists())
}

# A lock for operations without a bandit's row: creating tables, and creating a bandit.
tables_lock <- "SELECT pg_advisory_xact_lock(7063627)"

make_tables <- function(connection) {
  on.exit(sql_rollback(connection))
  sql_begin(connection, paste0("SELECT 1 AS one", sql_transaction(connection)), lock = tables_lock)
  if (!has_tables(connection)) {
    for (statement in store_tables(connection)) sql_run(connection, statement)
  }
  sql_commit(connection)
}

check_store <- function(store, arg = "store") check_class(store, "bandit_store", arg, hint = "bandit_store()")
