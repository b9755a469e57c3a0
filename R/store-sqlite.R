# SQLite as a database of stores. Layer: storage.

# Numbers are bound to statements, which keeps them exact. A file has one writer at a time; the others wait.

need_file_database <- function(arg, otherwise = "") need_package("RSQLite", arg, otherwise)

# Are these the first bytes of a database?
begins_database <- function(bytes) identical(utils::head(bytes, 15), charToRaw("SQLite format 3"))

names_of_tables <- function(connection) {
  sql_rows(connection, "SELECT name FROM sqlite_master WHERE type = 'table'")$name
}

sqlite_opener <- function(path) {
  need_file_database("con")
  check_local_disk(path)
  close_deleted(path)
  # (prepare_sqlite() sets `synchronous`, because it waits if the file is locked.)
  eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(path), synchronous = NULL)), envir = baseenv())
}

# A connection in memory cannot be opened again.
sqlite_reopener <- function(con) if (nzchar(con@dbname) && con@dbname != ":memory:") sqlite_opener(con@dbname)

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
  sqlite_memory$connections <- c(open, list(list(con = con, file = file, pid = Sys.getpid(), id = cpp_file_ids(file))))
}

# A connection of this process to an earlier file of this path, which was deleted, would delete the files of the new one
# when it is closed (those of SQLite's log).
close_deleted <- function(path) {
  file <- normalizePath(path, mustWork = FALSE)
  for (one in sqlite_memory$connections) {
    if (one$file != file || one$pid != Sys.getpid() || one$id == cpp_file_ids(file)) next
    # (A query ends the statement that is prepared, with which the connection would stay open.)
    if (DBI::dbIsValid(one$con)) suppressWarnings({
      DBI::dbGetQuery(one$con, "SELECT 1")
      DBI::dbDisconnect(one$con)
    })
  }
}

prepare_sqlite <- function(con, connection) {
  check_not_inherited(con)
  dbi_rows(con, "PRAGMA busy_timeout = 100")
  mode <- sqlite_patiently(dbi_rows(con, "PRAGMA journal_mode = WAL")[[1]])
  if (!mode %in% c("wal", "memory")) {
    stop_argument("con", sprintf("a database that keeps its log in mode \"%s\"", mode),
                  "one that supports write-ahead logging (a file on a local disk)")
  }
  level <- if (connection$durable) "FULL" else "NORMAL"
  sqlite_patiently(dbi_change(con, paste("PRAGMA synchronous =", level)))
  sqlite_patiently(dbi_change(con, "PRAGMA foreign_keys = ON"))
  for (statement in at_once_statements(connection$journal)) sqlite_patiently(dbi_change(con, statement))
  note_files(con, connection)
  NULL
}

# A file that is deleted or replaced while it is open continues to exist for this process, and for no other. Then
# nothing may be acknowledged. The same holds for SQLite's log, which may appear later than the file.
note_files <- function(con, connection) {
  paths <- if (!con@dbname %in% c("", ":memory:")) paste0(normalizePath(con@dbname, mustWork = FALSE), c("", "-wal"))
  connection$files <- stats::setNames(cpp_file_ids(as.character(paths)), paths)
}

check_files <- function(connection) {
  before <- connection$files
  now <- cpp_file_ids(or_else(names(before), character()))
  gone <- before != "" & now != before
  if (any(gone)) {
    stop_store("The store's file ", names(before)[gone][1], " was deleted or replaced while it was open. Nothing is ",
               "recorded. Restore the file and open the store again: open_bandit().", again = FALSE)
  }
  connection$files[] <- now
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

# Begins a transaction. It locks the file.
begin_sqlite <- function(connection, rows, bandit) {
  con <- live_connection(connection)
  sqlite_in_turn(connection, function() dbi_change(con, "BEGIN IMMEDIATE"))
  check_files(connection)
  plain_database$read(connection, rows)
}

commit_sqlite <- function(connection) {
  plain_database$commit(connection)
  check_files(connection)
}

# (After some errors SQLite has ended the transaction itself.)
rollback_sqlite <- function(con) {
  catch_error(plain_database$rollback(con), function(e) if (!grepl("no transaction", message_of(e))) stop(e))
}

# (After a process has died, the next one locks the file briefly to recover its log.)
read_sqlite <- function(connection, text) {
  if (connection$inside) return(plain_database$read(connection, text))
  found <- sqlite_patiently(plain_database$read(connection, text), connection$patience)
  check_files(connection)
  found
}

write_sqlite <- function(connection, text) {
  con <- live_connection(connection)
  if (connection$inside) return(dbi_change(con, text, immediate = TRUE))
  changed <- sqlite_in_turn(connection, function() dbi_change(con, text))
  check_files(connection)
  changed
}

insert_sqlite <- function(connection, table, columns) {
  con <- live_connection(connection)
  text <- sprintf("INSERT INTO %s (%s) VALUES (%s)", table, paste(names(columns), collapse = ", "),
                  paste(rep("?", length(columns)), collapse = ", "))
  dbi_change(con, text, params = unname(columns))
}

# ---- a change by one statement -------------------------------------------------

# A row that is inserted into this view of the session is a change of one query: its event, its query if the event makes
# one (`action`), a new lease (`token`), and the end of its leases (`ended`). `last` is the checksum before the change,
# `given` a token that must be one of the query's. The last three columns are those of a journal.
at_once_columns <- c("bandit", "last", "given", "number", "kind", "query", "reward", "time", "numbers", "parameters",
                     "checksum", "queries", "arm", "context", "action", "segment", "mean", "sd", "width",
                     "query_numbers", "place", "token", "worker", "state", "seconds", "ended", "reason", "rng",
                     "position", "memory")

sqlite_clock <- "((julianday('now') - 2440587.5) * 86400.0)"

at_once_statements <- function(journal) {
  new <- function(...) paste0("NEW.", c(...), collapse = ", ")
  insert <- function(table, columns, values, ...) {
    paste0("INSERT INTO ", table, " (", paste(columns, collapse = ", "), ") SELECT ", paste(values, collapse = ", "),
           ..., ";")
  }
  query <- c("arm", "context", "action", "segment", "mean", "sd", "width")
  event <- c("bandit", "number", "kind", "query", "reward", "time", "numbers", "parameters", "checksum")
  c(
    paste0("CREATE TEMP VIEW IF NOT EXISTS gpb_change AS SELECT ",
           paste("NULL AS", at_once_columns, collapse = ", ")),
    paste(
      "CREATE TEMP TRIGGER IF NOT EXISTS gpb_change_at_once INSTEAD OF INSERT ON gpb_change BEGIN",
      "SELECT RAISE(ABORT, 'the row has changed') WHERE NOT EXISTS",
      "(SELECT 1 FROM gpb_bandit WHERE bandit = NEW.bandit AND events = NEW.number - 1",
      "AND queries = NEW.queries - (NEW.action IS NOT NULL) AND checksum = NEW.last AND budget IS NULL) OR",
      "NEW.given IS NOT NULL AND NOT EXISTS (SELECT 1 FROM gpb_lease WHERE bandit = NEW.bandit AND query = NEW.query",
      "AND token = NEW.given);",
      insert("gpb_query", c("bandit", "query", query, "numbers", "place"),
             new("bandit", "query", query, "query_numbers", "place"), " WHERE NEW.action IS NOT NULL"),
      insert("gpb_event", c(event, "at"), c(new(event), sqlite_clock)),
      "UPDATE gpb_bandit SET events = NEW.number, queries = NEW.queries, checksum = NEW.checksum",
      "WHERE bandit = NEW.bandit;",
      insert("gpb_lease", c("bandit", "query", "attempt", "worker", "token", "state", "since", "seconds", "expires"),
             c(new("bandit", "query"), 1, new("worker", "token", "state"), sqlite_clock, "NEW.seconds",
               paste(sqlite_clock, "+ NEW.seconds")), " WHERE NEW.token IS NOT NULL"),
      "UPDATE gpb_lease SET state = NEW.ended, ended =", sqlite_clock, ", reason = COALESCE(NEW.reason, reason)",
      "WHERE NEW.ended IS NOT NULL AND bandit = NEW.bandit AND query = NEW.query",
      "AND", not_ended, ";",
      if (journal) paste("UPDATE gpb_state SET rng = COALESCE(NEW.rng, rng), position = COALESCE(NEW.position,",
                         "position), memory = COALESCE(NEW.memory, memory) WHERE bandit = NEW.bandit;"),
      "END")
  )
}

at_once_insert <- paste0("INSERT INTO gpb_change VALUES (", paste(rep("?", length(at_once_columns)), collapse = ", "),
                         ")")

at_once_sqlite <- function(connection, change, done) {
  values <- change[at_once_columns]
  values[lengths(values) == 0] <- NA
  values <- unname(values)
  write <- function(con) suspendInterrupts({
    check_files(connection)
    run_prepared(connection, con, at_once_insert, values)
    check_files(connection)
    done()
  })
  # (Nearly always the statement is ready and the file is free.)
  ready <- !is.null(connection$guard$prepared) && connection$pid == Sys.getpid()
  failed <- if (ready) catch_error({
    write(connection$con)
    return(invisible())
  }, identity)
  if (!is.null(failed) && !is_locked(failed)) return(invisible())
  catch_error(sqlite_in_turn(connection, function() write(live_connection(connection, keeps = TRUE))),
              function(e) if (is_locked(e)) stop(e))
}

# Runs a statement that stays prepared until the connection is used for another one, because RSQLite has one at a time.
# (A user's connection is kept free for the user's statements.)
run_prepared <- function(connection, con, text, values) {
  force(con)                                          # (which may open the connection)
  force(text)
  force(values)
  guard <- connection$guard
  if (is.null(guard)) return(dbi_change(con, text, params = values))
  ready <- FALSE
  on.exit(if (!ready) end_prepared(connection))
  if (is.null(guard$prepared)) guard$prepared <- DBI::dbSendStatement(con, text)
  DBI::dbBind(guard$prepared, values)
  ready <- TRUE
}

# SQLite accepts values of any type in any column, except in strict tables.
define_sqlite <- function(connection, statement) {
  statement <- gsub("DOUBLE PRECISION", "REAL", statement, fixed = TRUE)
  if (numeric_version(sql_rows(connection, "SELECT sqlite_version() AS v")$v) < "3.37") return(statement)
  sub("^(CREATE TABLE .*)$", "\\1 STRICT", statement)
}

# Waits for the file. An error names the process that holds it.
sqlite_in_turn <- function(connection, ask) {
  catch_error(sqlite_patiently(ask(), connection$patience), function(e) {
    if (!is_locked(e)) stop(e)
    stop_fault(message_of(e), lock_holder(connection$con@dbname))
  })
}

is_locked <- function(e) grepl("locked|busy", message_of(e))

# SQLite waits a tenth of a second automatically. Interrupts are allowed between two attempts.
sqlite_patiently <- function(code, patience = 60) {
  again <- substitute(code)
  frame <- parent.frame()
  began <- Sys.time()
  repeat {
    got <- catch_error(list(eval(again, frame)), identity)
    if (!inherits(got, "error")) return(got[[1]])
    if (!is_locked(got) || seconds_since(began) > patience) stop(got)
    Sys.sleep(0.005)                                  # (some locks are reported immediately)
  }
}

# A description of the process that blocks the writers of a SQLite file. That process may be stopped during its
# transaction, and the file is free only when it continues or ends. Linux lists the owners of locks: a writer locks byte
# 120 of the file that ends in -shm (SQLite's file format, WAL-index locks). "" if there is no information.
lock_holder <- function(file, locks = "/proc/locks") {
  catch_error(suppressWarnings({
    inode <- system2("stat", c("-c", "%i", shQuote(paste0(file, "-shm"))), stdout = TRUE, stderr = FALSE)
    text <- strsplit(trimws(readLines(locks)), "[ \t]+")
    writes <- function(w) length(w) == 8 && w[4] == "WRITE" && w[7] == "120" && sub(".*:", "", w[6]) == inode
    pid <- vapply(Filter(writes, text), `[`, "", 5)
    if (length(pid) == 0) "" else paste0(", by process ", pid[1], if (is_stopped(pid[1])) ", which is stopped")
  }), function(e) "")
}

register_database("sqlite", title = "SQLite", class = "SQLiteConnection",
                  clock = sqlite_clock,
                  exists = "SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'gpb_schema'",
                  open_path = sqlite_opener, reopen = sqlite_reopener, prepare = prepare_sqlite, begin = begin_sqlite,
                  read = read_sqlite, write = write_sqlite, insert = insert_sqlite, commit = commit_sqlite,
                  rollback = rollback_sqlite, at_once = at_once_sqlite, define = define_sqlite)
