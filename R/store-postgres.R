# PostgreSQL as a database of stores. Layer: storage.

# A transaction consists of two messages: begin, lock and read; write and commit. Statements are queued until the next
# read. Numbers are sent with seventeen digits, which keeps them exact.

# Settings of a PostgreSQL session: it must detect within a minute or two that this machine or the network is gone (the
# system's limits are hours), and send no notices. Settings that the server does not have are skipped. (The limits of
# transactions are set in each transaction, see transaction_settings(), so that a user's connection keeps its settings.)
prepare_postgres <- function(con, connection) {
  settings <- c(client_min_messages = "error", tcp_keepalives_idle = "30", tcp_keepalives_interval = "10",
                tcp_keepalives_count = "3", tcp_user_timeout = "60000")
  postgres_message(con, paste0("SELECT set_config(p.name, s.value, false) FROM (VALUES ",
                               paste0("('", names(settings), "', '", settings, "')", collapse = ", "),
                               ") AS s (name, value) JOIN pg_settings p ON p.name = s.name"))
  if (is.null(connection$connect)) point_of(con)
}

# The process id of the server process of this connection; NA if there is none. If a session is lost, RPostgres silently
# starts another, without the settings of the first. It has a different process id.
session_of <- function(con) as.double(or_else(unless_it_fails(DBI::dbGetInfo(con)$pid, NULL), NA))

# The database, user and search path that determine which tables are used.
point_of <- function(con) {
  as.list(postgres_message(con, paste("SELECT current_database() AS base, current_user::text AS person,",
                                      "current_setting('search_path') AS path")))
}

# The first statements of a message to PostgreSQL: limits of the time to wait for other transactions, and of the time of
# one statement. A message that does not begin a transaction is a transaction itself. These limits replace the server's
# defaults. A store that is not durable does not wait until a commit is on the disk.
transaction_settings <- function(connection) {
  milliseconds <- function(seconds) sprintf("%.0f", ceiling(1000 * min(seconds, 1e6)))
  paste0(sprintf("SET LOCAL lock_timeout = %s; SET LOCAL statement_timeout = %s;", milliseconds(connection$patience),
                 milliseconds(connection$patience + 300)),
         if (!connection$durable) " SET LOCAL synchronous_commit = off;")
}

# PostgreSQL ends a transaction from which no message has come for this time: a process that is frozen during a
# transaction would otherwise block all others. A process that computes needs more time. It gets ten times the processor
# time of the longest transaction so far.
idle_limit <- function(connection) {
  sprintf("SET LOCAL idle_in_transaction_session_timeout = %.0f;", ceiling(1000 * min(connection$hold, 1e6)))
}

# One message of one or several statements. (DBI expects a single statement, and warns.)
postgres_message <- function(con, text) dbi_rows(con, text, immediate = TRUE)

# Each statement must see the state at the time of the lock, whatever the server's default isolation level.
begin_postgres <- function(connection, rows, bandit) {
  con <- live_connection(connection)
  # (The number is the same for all processes that use the database.)
  lock <- if (is.null(bandit)) "SELECT pg_advisory_xact_lock(7063627)"
          else paste0("SELECT 1 FROM gpb_bandit WHERE name = ", sql_literal(bandit, connection), " FOR UPDATE")
  postgres_message(con, paste("BEGIN ISOLATION LEVEL READ COMMITTED;", transaction_settings(connection),
                              idle_limit(connection), "DECLARE gpb_lock CURSOR FOR", lock, "; MOVE gpb_lock;", rows))
}

read_postgres <- function(connection, text) {
  con <- live_connection(connection)
  if (!connection$inside) text <- paste(transaction_settings(connection), text)
  else if (length(connection$queued)) text <- with_queued(connection, text)
  postgres_message(con, text)
}

# (A message of several statements returns rows only, and no count.)
write_postgres <- function(connection, text) {
  if (connection$inside) {
    connection$queued <- c(connection$queued, text)
    return(invisible())
  }
  text <- paste0("WITH changed AS (", text, " RETURNING 1) SELECT COUNT(*)::integer AS n FROM changed")
  read_postgres(connection, text)$n
}

# All queued statements and a query as one message: an error in any statement ends the message and is raised. RPostgres
# silently replaces a lost connection. The new session has no transaction, no lock and no cursor of this name, and MOVE
# makes it fail before it writes.
with_queued <- function(connection, text) {
  message <- paste(c("MOVE gpb_lock", connection$queued, text), collapse = "; ")
  connection$queued <- character()
  message
}

# If the connection is lost during COMMIT, the client has no information whether the server has committed. It looks
# afterwards for the rows that it has sent.
commit_postgres <- function(connection) {
  con <- live_connection(connection)
  tryCatch(database(postgres_message(con, with_queued(connection, "COMMIT; SELECT 1 AS done"))),
           gpbandits_store_error = function(e) {
    if (!connection_lost(connection)) stop(e)
    connection$inside <- FALSE
    fate <- fate_of_change(connection, connection$trace)
    if (fate == "aborted") connection$undone <- TRUE
    if (fate == "unknown") {
      stop_store(message_of(e), "; whether the change has been made is not known: $catch_up() shows it", parent = e)
    }
    if (fate != "committed") stop(e)
  })
}

# "committed", "aborted", or "unknown" if the server cannot be asked within `patience`. `trace`: see leave_trace(). The
# query waits for the lock that the lost transaction holds until it ends. (txid_status() would not do: after a crash the
# server gives the number of a transaction that has left nothing to another one.)
fate_of_change <- function(connection, trace) {
  # (Renewals, settings and tables leave no trace. They can be repeated.)
  if (is.null(trace)) return("aborted")
  on.exit(sql_rollback(connection))
  began <- Sys.time()
  repeat {
    fate <- tryCatch(sql_begin(connection, trace$query, trace$bandit)$fate, gpbandits_store_error = identity)
    if (is.character(fate)) return(fate)
    if (isFALSE(fate$again) || seconds_since(began) > connection$patience) return("unknown")
    allowInterrupts(Sys.sleep(0.1))
  }
}

# The meaning of a backslash depends on a setting of the session, except after an E.
quote_postgres <- function(x) {
  text <- plain_database$quote(x)
  slashed <- grepl("\\", text, fixed = TRUE)
  text[slashed] <- paste0(" E", gsub("\\", "\\\\", text[slashed], fixed = TRUE))
  text
}

register_database("postgres", title = "PostgreSQL", class = "PqConnection",
                  clock = "(EXTRACT(EPOCH FROM clock_timestamp())::double precision)",
                  # (to_regclass() may answer from a cache of the session that lacks tables of others.)
                  exists = paste("SELECT COUNT(*)::integer AS n FROM pg_class WHERE relname = 'gpb_schema'",
                                 "AND pg_table_is_visible(oid)"),
                  prepare = prepare_postgres, session = session_of, begin = begin_postgres, read = read_postgres,
                  write = write_postgres, commit = commit_postgres, quote = quote_postgres)
