# SQLite and PostgreSQL behind one set of functions. Layer: storage.

# The two databases behind one set of functions: begin, read, write, commit. A link is an environment: `kind` ("sqlite",
# "postgres"), `con` (a DBI connection or NULL), `connect` (how to make one, or NULL where the user gave a connection),
# `queued` (statements for PostgreSQL, which go in one message with the next read or with COMMIT), `inside` (in a
# transaction), `undone` (the last transaction ended because its connection was lost), `patience` (seconds to wait for
# others' transactions) and `hold` (seconds that others wait for ours while nothing comes from it). Of PostgreSQL:
# `session` (whom `con` talks to, see session_of()) and `transaction` (its number there). Doubles travel to the bit:
# bound as they are to SQLite, as seventeen digits to PostgreSQL. There a transaction is two messages: begin, lock and
# read; write and commit.

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
  # (`synchronous` is set by prepare_sqlite(), which waits where the file is locked.)
  eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(path), synchronous = NULL)), envir = baseenv())
}

# A second connection like the one given: a file's path is all that SQLite needs. PostgreSQL's passwords
# are not in its connections: how to make another one must be told by a function.
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

# SQLite's library remembers a process's open files, their locks and positions. A forked process inherits that memory,
# and would read and write at places where its parent happens to be: it must not open a file that was open when it was
# forked. That memory is the process's, so what is known of it must be too (a store that is made after the fork knows
# nothing of its parent's): the connections that stores have used. Those that are closed are forgotten.
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

# A session of PostgreSQL is told to find out within a minute or two that our machine or the network is gone (the
# system's own limits are hours), and to keep quiet. What the server does not know it is not told. (Limits for
# transactions are set in each, see time_limits(): a user's connection keeps its own.)
prepare_postgres <- function(con, connection) {
  settings <- c(client_min_messages = "error", tcp_keepalives_idle = "30", tcp_keepalives_interval = "10",
                tcp_keepalives_count = "3", tcp_user_timeout = "60000")
  DBI::dbGetQuery(con, paste0("SELECT set_config(p.name, s.value, false) FROM (VALUES ",
                              paste0("('", names(settings), "', '", settings, "')", collapse = ", "),
                              ") AS s (name, value) JOIN pg_settings p ON p.name = s.name"), immediate = TRUE)
  connection$session <- session_of(con)
  if (is.null(connection$connect)) connection$place <- point_of(con)
}

# The number of the server's process that this connection talks to; NA where there is none. In the place of a session
# that was lost RPostgres begins another one, unasked, and without the settings of the first: that has another number.
session_of <- function(con) as.double(or_else(unless_it_fails(DBI::dbGetInfo(con)$pid, NULL), NA))

is_open <- function(con) isTRUE(unless_it_fails(DBI::dbIsValid(con), FALSE))

unless_it_fails <- function(code, otherwise) catch_error(code, function(e) otherwise)

# Where the names of tables lead, and who asks.
point_of <- function(con) {
  as.list(DBI::dbGetQuery(con, paste("SELECT current_database() AS base, current_user::text AS person,",
                                     "current_setting('search_path') AS path"), immediate = TRUE))
}

# SQLite's locks do not work on most network file systems: two writers would spoil the file.
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

# The link's connection, made (again) where there is none. Not in a forked child: two processes on one
# connection would mix their messages.
live_connection <- function(connection) {
  if (connection$inside && connection$pid == Sys.getpid() && !is.null(connection$con)) {
    return(connection$con)   # what has died says so when it is used
  }
  if (!is.null(connection$con) && connection$pid == Sys.getpid()) {
    if (!connection_lost(connection)) return(connection$con)
    if (is.null(connection$connect)) return(replaced_connection(connection))
  }
  # What a transaction has begun, another connection must not go on with.
  if (connection$inside && connection$pid == Sys.getpid()) {
    database(stop_fault("the connection was lost in the middle of a transaction"))
  }
  # The parent's connection is kept from the garbage collector, which would close it for both.
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

# Is the connection closed, or has another session come into the place of the one that was prepared?
connection_lost <- function(connection) {
  if (is.null(connection$con) || !is_open(connection$con)) return(TRUE)
  connection$kind == "postgres" && !identical(session_of(connection$con), connection$session)
}

# A connection of the user's that was lost: only RPostgres knows how it was made, and makes it again. It serves if it
# leads where the first one did.
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

# A connection of our own is closed with its last store. (Finalizers run from the newest on: before DBI's own.)
close_with <- function(connection, con) {
  connection$guard <- new.env(parent = emptyenv())
  pid <- Sys.getpid()
  reg.finalizer(connection$guard, function(guard) {
    # (R drops errors of a finalizer, a time limit among them.)
    if (pid == Sys.getpid()) suspendInterrupts(attempt(if (DBI::dbIsValid(con)) DBI::dbDisconnect(con)))
  }, onexit = TRUE)
}

# Errors of the database become ours.
database <- function(code) {
  catch_error(code, function(e) {
    if (inherits(e, "gpbandits_error")) stop(e)
    stop_store("The store's database: ", message_of(e), parent = e)
  })
}

# `again`: may it go better at another time?
stop_store <- function(..., again = TRUE, parent = NULL) {
  stop_gpbandits("store", ..., argument = "store", call = NULL, parent = parent, again = again)
}

sql_rows <- function(connection, ...) {
  text <- paste0(...)
  postgres <- connection$kind == "postgres"
  if (connection$inside && length(connection$queued)) text <- with_queued(connection, text)
  # A column of NULLs first warns of what comes later; types are checked by those who read.
  ask <- function() {
    con <- live_connection(connection)
    suppressWarnings(DBI::dbGetQuery(con, text, immediate = postgres))
  }
  if (connection$inside) return(database(ask()))
  if (postgres) text <- paste(time_limits(connection), text)
  # (Whoever comes first after a process has died locks the file for a moment to make its log whole.)
  on_living(connection, if (postgres) ask else function() sqlite_patiently(ask(), connection$patience))
}

# These columns: PostgreSQL's answer to a message that was not prepared (such as one of several statements) lacks them
# where it has no rows.
sql_select <- function(connection, columns, ...) {
  found <- sql_rows(connection, "SELECT ", paste(columns, collapse = ", "), " ", ...)
  found[setdiff(columns, names(found))] <- list(character())
  found
}

# A connection may have died since it was last used (the server was restarted): then once more, on a new one. Only for
# what may happen twice: reading, beginning a transaction, renewing a lease.
on_living <- function(connection, ask) {
  first <- catch_error(list(ask()), identity)
  if (!inherits(first, "error")) return(first[[1]])
  if (inherits(first, "gpbandits_error") || !connection_lost(connection)) database(stop(first))
  database(ask())
}

# What a message to PostgreSQL begins with: it waits for others so long, and works so long on one statement (in a
# transaction of its own if it does not begin one). Whatever limits the server has by itself are not for this.
time_limits <- function(connection) {
  milliseconds <- function(seconds) sprintf("%.0f", ceiling(1000 * min(seconds, 1e6)))
  sprintf("SET LOCAL lock_timeout = %s; SET LOCAL statement_timeout = %s;", milliseconds(connection$patience),
          milliseconds(connection$patience + 300))
}

# PostgreSQL ends a transaction from which nothing has come for so long: a process that is frozen in the middle of it
# would otherwise stop everybody. One that computes is no such process: it gets ten times the processor's time that
# its transactions are known to take.
idle_limit <- function(connection) {
  sprintf("SET LOCAL idle_in_transaction_session_timeout = %.0f;", ceiling(1000 * min(connection$hold, 1e6)))
}

processor_time <- function() sum(proc.time()[c("user.self", "sys.self")])

# (Statements and connections are computed before DBI's generics are called: R rewords errors in arguments that select a
# method, time limits among them.)
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

# One statement in a transaction of its own; how many rows it changed.
sql_change_now <- function(connection, ...) {
  check_outside(connection)
  text <- paste0(...)
  # (Of a message of several statements only rows come back, no count.)
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

# All that waits and then a query, as one message: an error in any statement ends the message and is told. RPostgres
# replaces a connection that was lost by a new one, unasked: another session has no transaction, no lock and no cursor
# of that name, and must not write.
with_queued <- function(connection, text) {
  message <- paste(c("MOVE gpb_lock", connection$queued, text), collapse = "; ")
  connection$queued <- character()
  message
}

# Rows to add, a list of columns.
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
  else if (is.double(x)) words <- sprintf("'%.17g'", x)      # (PostgreSQL knows 'Inf'; SQLite gets none of these.)
  else words <- sql_text(enc2utf8(as.character(x)), connection)
  if (anyNA(x)) words[is.na(x)] <- "NULL"
  words
}

# A quote within a text is written twice. What a backslash means there depends on a setting of PostgreSQL's sessions,
# but not after an E.
sql_text <- function(x, connection) {
  words <- paste0("'", gsub("'", "''", x, fixed = TRUE), "'")
  slashed <- if (connection$kind == "postgres") which(grepl("\\", words, fixed = TRUE))
  words[slashed] <- paste0(" E", gsub("\\", "\\\\", words[slashed], fixed = TRUE))
  words
}

# The server's clock in seconds since 1970: what leases go by.
sql_clock <- function(connection) {
  if (connection$kind == "sqlite") "((julianday('now') - 2440587.5) * 86400.0)"
  else "(EXTRACT(EPOCH FROM clock_timestamp())::double precision)"
}

sql_now <- function(connection) as.double(sql_rows(connection, "SELECT ", sql_clock(connection), " AS now")$now)

# Begins a transaction and locks whoever else would write: `lock`, rows of PostgreSQL (SQLite locks its file). `rows`:
# the first thing to read in it, as it is once the lock is there.
sql_begin <- function(connection, rows, lock = "SELECT 1") {
  check_outside(connection)
  con <- live_connection(connection)
  connection$queued <- character()
  connection$undone <- FALSE
  connection$transaction <- NULL
  # What fails or is interrupted here may have begun a transaction.
  on.exit(if (!connection$inside) suspendInterrupts(attempt(rollback(connection))))
  if (connection$kind == "postgres") {
    # One message for all; DBI thinks that it was one statement, and warns. Each statement must see what was there when
    # the lock came, whatever the server's default.
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

# (A forked process is in none of its parent's.)
check_outside <- function(connection) {
  if (connection$inside && connection$pid == Sys.getpid()) {
    stop_state("The store is in the middle of a transaction. Call the method after it has ended.", argument = "store")
  }
}

# SQLite waits a tenth of a second by itself; between two tries an interrupt may come.
sqlite_patiently <- function(code, patience = 60) {
  again <- substitute(code)
  frame <- parent.frame()
  began <- Sys.time()
  repeat {
    got <- catch_error(list(eval(again, frame)), identity)
    if (!inherits(got, "error")) return(got[[1]])
    if (!grepl("locked|busy", message_of(got)) || seconds_since(began) > patience) stop(got)
    Sys.sleep(0.005)                                  # (some locks are told of at once)
  }
}

# Which process keeps a SQLite file's writers out, in words: it may be stopped in the middle of its transaction, and
# nothing but its end or its going on frees the file. Linux tells who locks what: a writer, the byte 120 of the file
# that ends in -shm (SQLite's file format, WAL-index locks). "" where that cannot be known.
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
    # (The second field is a name in parentheses, which may hold anything.)
    if (dir.exists("/proc/self")) sub("^.*\\) ", "", readLines(file, n = 1))
    else system2("ps", c("-o", "state=", "-p", pid), stdout = TRUE, stderr = FALSE)
  ), function(e) "")
  any(startsWith(trimws(state), "T"))
}

# A column that tells the number of a transaction of PostgreSQL's, for sql_commit().
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

# A connection that is lost now takes with it whether the server has committed. The server remembers.
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

# "committed", "aborted", or "unknown" where the server cannot be asked for as long as others are waited for.
fate_of_transaction <- function(connection) {
  if (is.null(connection$transaction)) return("unknown")
  began <- Sys.time()
  repeat {
    # (The server may still be at it, or not have noticed that nobody is there any more.)
    status <- tryCatch(sql_rows(connection, "SELECT txid_status(", connection$transaction, ") AS status")$status,
                       gpbandits_store_error = function(e) if (isFALSE(e$again)) NA_character_ else "in progress")
    if (!identical(status, "in progress")) return(if (is.na(status)) "unknown" else status)
    if (seconds_since(began) > connection$patience) return("unknown")
    allowInterrupts(Sys.sleep(0.1))
  }
}

# How long its transactions compute, for idle_limit(). (Time that a process is frozen is not the processor's.)
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
  # A connection that cannot even do this is gone.
  if (inherits(rolled, "error") && !is.null(connection$connect)) drop_connection(connection)
}

# (Of a session that was lost the server takes back everything by itself. A query that was cut off may have left rows
# to come, of which the driver warns.)
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
  # SQLite takes any type anywhere, but in tables that are strict.
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

# One row per query, for people and their tools.
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
    # (What has a result after all is known.)
    "AND x.number > COALESCE(r.number, 0)",
    "LEFT JOIN gpb_lease l ON l.bandit = q.bandit AND l.query = q.query AND l.attempt = (SELECT MAX(attempt)",
    "FROM gpb_lease m WHERE m.bandit = q.bandit AND m.query = q.query)"
  )
}

# Tables are made by the first who comes; those of a newer version are refused.
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

# For what no bandit's row can lock: making tables, and beginning a bandit.
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
