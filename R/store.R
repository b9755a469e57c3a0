# `bandit_store()` and `open_bandit()`. Layer: storage.

#' Store a bandit in a database that many processes share
#'
#' `bandit_store()` specifies a database in which one bandit is kept for parallel and distributed optimisation.
#' Any number of processes, on any machine that reaches the database, can then suggest points and report rewards.
#'
#' The database holds the bandit's event log: the sequence of all suggestions, rewards, corrections and refits.
#' `gp_bandit(..., store = )`, and every preset, begins a bandit in a store. [open_bandit()] takes part in one. Each
#' process holds a replica, an ordinary [GPBandit]. A replica applies the events of the other processes before it makes
#' a change.
#'
#' [store-databases] describes connections, failures and the tables; [bandit-leases] describes leases.
#'
#' @section Databases: `con` selects the database.
#'
#' * **SQLite**, for one machine; needs packages DBI and RSQLite. It is used in WAL mode.
#' * **PostgreSQL**, for many machines; needs packages DBI and RPostgres.
#'
#' With a path or a function as `con`, the store can connect again after a failure and can be sent to worker
#' processes. An open DBI connection stays yours, and is used for one store at a time.
#'
#' **Never put a SQLite file on NFS or another network file system**: its locks do not work there. On Linux, where the
#' file system can be identified, such a path is an error. So is the use of a SQLite file in a process that was forked
#' while the file was open (`parallel::mclapply()`).
#'
#' @section Transactions: `$suggest()`, `$observe()`, `$add()`, `$amend()`, `$withdraw()` and `$fail()` are
#' transactions. The bandit's row is locked, new events of other processes are applied, and the change is made. All of
#' it is committed, or nothing. Two processes therefore never suggest the same query, and all replicas have identical
#' states, to the bit.
#'
#' * `$catch_up()` applies the events of other processes and changes nothing else.
#' * `$history()`, `$posterior()` and `$best()` show the replica in its present state.
#' * `$reset()` is an error, because the log is shared. Begin another bandit under another name, or reset a `$copy()`,
#'   which is outside the store.
#'
#' With `$observe(id, reward, constraints = NULL, token = NULL)` an evaluation happens at least once, and its reward is
#' counted exactly once. Reporting the same value again changes nothing; another value is an error. `$amend()` changes a
#' reward, and that is an event of the log. `$fail()`, `$withdraw()` and `$amend()` take `token` too. A `reason` given
#' to `$fail()` or `$withdraw()` is part of the log, so every replica has it. `$add()` without `reward` adds a point
#' that is evaluated outside the store: it is pending, and is not offered to a worker.
#'
#' [maximize_bandit()] sets a budget of evaluations. When it is spent, `$suggest()` returns no rows, with a message of
#' class `gpbandits_budget_spent`.
#'
#' @section Random numbers: A store has one `seed`, and the seed has independent L'Ecuyer streams
#' ([parallel::nextRNGStream()]). Query k, and a refit before it, uses the k-th stream, in whichever process it is
#' suggested. One seed therefore gives one history for any number of workers, if queries and rewards come in the same
#' order. R's own generator is not used, except to draw the seed if `seed` is `NULL`. Only `rbinom()` in an objective
#' differs between R before 4.7 and later versions.
#'
#' @section Trust: Settings are plain text that is checked when it is read. Settings that contain functions or formulas
#' ([width_function()], thresholds of [change_detect()], ...) are an error unless `trust = TRUE`. They are then stored
#' in R's serialised form. Opening such a bandit also needs `trust = TRUE`, and runs code that anybody with write access
#' to the database can have put there.
#'
#' @param con the database: a path of a SQLite file (created if missing), a DBI connection to SQLite or PostgreSQL, or a
#'   function without arguments that returns such a connection.
#' @param name the bandit's name in the database, a string.
#' @param attempts how often a query is given to a worker before it is failed, an integer >= 1. Default 3. The value is
#'   stored with the bandit.
#' @param seed an integer >= 0, the seed of the store's random numbers. `NULL` (default): drawn from R's generator when
#'   the bandit is begun.
#' @param trust `TRUE` allows settings that contain code; see *Trust*. Default `FALSE`.
#' @param durable `TRUE` (default): a change is on the database's disk before the call returns. `FALSE`: calls do not
#'   wait for the disk; see *Durability* in [store-databases].
#' @return An object of class `bandit_store`. [open_bandit()] of it returns a [GPBandit] that is up to date.
#' @section Errors: A `gpbandits_error` that names the argument. If the database failed, the error also has class
#'   `gpbandits_store_error`: a lost connection, a full disk, or a minute of waiting for another transaction. Nothing
#'   has then changed in the store or in the replica, unless the message states that this is unknown. That happens when
#'   a commit was under way and the server could not be queried for a minute. `$catch_up()`, or suggesting again with
#'   the same `worker`, then shows the outcome.
#' @seealso [store-databases], [bandit-leases], [work_on()], [maximize_bandit()], [bandit_service()], the article
#'   "Many machines, one bandit".
#' @concept parallel optimization
#' @concept distributed optimization
#' @concept asynchronous Bayesian optimization
#' @concept shared database
#' @concept SQLite
#' @concept PostgreSQL
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE) && requireNamespace("jsonlite", quietly = TRUE)
#' file <- tempfile(fileext = ".db")
#' x <- seq(0, 1, length.out = 50)
#' mine <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01, store = bandit_store(file, "demo", seed = 1))
#' theirs <- open_bandit(bandit_store(file, "demo"))   # in another process
#' q <- mine$suggest(worker = "me", lease = 60)
#' mine$observe(q$id, sin(6 * q$x1), token = q$token)
#' theirs$catch_up()
#' theirs$history()
#' @export
bandit_store <- function(con, name, attempts = 3, seed = NULL, trust = FALSE, durable = TRUE) {
  if (missing(con)) {
    stop_missing("con", "a path (SQLite), a DBI connection, or a function that returns one",
                 "`bandit_store(\"experiment.sqlite\")`")
  }
  name <- check_string(name)
  attempts <- as.integer(check_count(attempts))
  if (!is.null(seed)) seed <- as.integer(check_count(seed, lower = 0))
  check_flag(trust)
  connection <- new_connection(con, check_flag(durable))
  prepare_tables(connection)
  structure(list(connection = connection, name = name, attempts = attempts, seed = seed, trust = trust),
            class = "bandit_store")
}

store_entry <- list(settings = alist(connection = check_connection(connection), name = check_string(name),
                                     trust = check_flag(trust)))

check_connection <- function(connection) {
  if (!is.environment(connection) && !is.list(connection) || !is.character(connection$kind)) {
    stop_argument("con", describe(connection), "a connection to a database")
  }
  connection
}

# Settings of a bandit, as they are written in its row.
settings_in_store <- function(text, store) {
  settings_from_text(text, store$trust, "the bandit's settings in the store")
}

# open_bandit() for a store.
open_stored <- function(store) {
  check_store(store)
  row <- sql_rows(store$connection, "SELECT bandit, settings, seed, attempts, budget, events, queries, checksum, ",
                  sql_clock(store$connection), " AS now FROM gpb_bandit WHERE name = ",
                    sql_literal(store$name, store$connection))
  head <- check_head(row, store$name)
  config <- check_stored_settings(settings_in_store(head$settings, store))
  bandit <- new_bandit(config)
  as_package_errors(rebuild(as.environment(bandit)), function(...) {
    stop_data("The settings in this store are not a bandit's: ", ..., ".", argument = "store")
  })
  bandit$journal <- new_store_log(store, head, config)
  bandit_catch_up(as.environment(bandit))
  bandit
}

# Writes a bandit's first row to its store.
start_store <- function(bandit, store) {
  check_store(store)
  connection <- store$connection
  settings <- settings_text(bandit$config, store$trust)
  seed <- if (is.null(store$seed)) sample.int(.Machine$integer.max, 1) else store$seed
  check_outside(connection)
  number <- until_it_stays(connection, function() write_first_row(store, settings, seed))
  bandit$journal <- new_store_log(store, list(bandit = number, seed = seed, attempts = store$attempts), bandit$config)
}

#' @export
print.bandit_store <- function(x, ...) {
  check_class(x, "bandit_store")
  cat(sprintf("<bandit store: %s in %s>\n", dQuote(x$name, FALSE), x$connection$kind))
  invisible(x)
}

register_family("bandit_store", store_entry, open = TRUE)

begin_in.bandit_store <- function(store, bandit, ...) start_store(bandit, store)

#' Open a bandit from a journal file or a store
#'
#' `open_bandit()` restores a bandit from its journal file, or takes part in a bandit in a [bandit_store()].
#'
#' A journal is a SQLite file that holds a bandit's event log: all suggestions, rewards, corrections and refits, in
#' order. It needs package RSQLite; without it, keep a bandit with [saveRDS()]. A bandit made with `journal = "file"`
#' ([gp_bandit()], every preset, [maximize_bandit()]) writes each event to the file. It waits until the event is on the
#' disk before anything else happens. `open_bandit()` restores the bandit in the same or another process, and continues
#' to write to the file.
#'
#' After a crash, a power cut or `kill -9`, only the evaluation that was running is lost. Its query is in the history,
#' with reward `NA`.
#'
#' @section Copies and writers: A journal belongs to one bandit at a time. For several writers use a [bandit_store()].
#'
#' * `$copy()` returns a bandit without a journal. So does every other copy, such as one from [readRDS()] or from
#'   another process. Its choices are those of the original, but its events are not written. Its first change gives a
#'   warning of class `gpbandits_left_journal`, and `print()` shows the journal of the original.
#' * The bandit that opened the journal last, and writes, owns it. Changes of another bandit that still refers to it are
#'   errors. Opening a journal to read it changes nothing, and is possible while another process writes.
#' * If a write fails (disk full, file removed), the change ends in an error and has not happened.
#' * `$reset()` is an event too.
#' * The file must be on a local disk, not on a network file system. While it is open, SQLite keeps recent events in a
#'   second file, whose name ends in `-wal`; see [bandit-backup].
#' * A process that was forked while the file was open cannot write to it.
#' * A write costs a millisecond and the disk's time. [run_bandit()] writes each round.
#'
#' @section Damaged files: Rows carry checksums, each of which depends on the row before. A file whose rows were changed
#' or removed is an error.
#'
#' @section Trust: A journal holds numbers, and JSON for everything else. Opening it evaluates and unserialises nothing.
#' Functions and formulas among a bandit's settings (widths, thresholds, `when`) are written only with `trust = TRUE`,
#' in R's serialised form. Such a file is opened only with `trust = TRUE`, and can then do whatever its functions can
#' do.
#'
#' Even with `trust = TRUE`, only functions are restored. Anything else in their serialised form is an error, which is
#' found from the bytes alone: environments, compact vectors, and R's promise objects (CVE-2024-27322: R before 4.4
#' evaluates them when they are read).
#' @param x a [bandit_store()], or the path of a journal.
#' @param like for a journal: a bandit with the settings that the journal must have; other settings are an error. `NULL`
#'   (default): no comparison.
#' @param rng for a journal: `TRUE` (default) restores the state that R's random generator had after the last event, so
#'   that random choices continue exactly. `FALSE` leaves the generator unchanged.
#' @param trust for a journal: `TRUE` allows functions in the file to be run. Default `FALSE`. For a store, use the
#'   argument of [bandit_store()].
#' @return An object of class [GPBandit].
#' @section Errors: A `gpbandits_error` if `x` is neither a store nor a path. The same class is raised if the file does
#'   not exist, is not a journal, is damaged, has a newer format, or belongs to another bandit. So are text journals of
#'   unreleased versions: there, `as_json()` writes a text that [from_json()] reads here.
#' @seealso [maximize_bandit()], which continues automatically when it is called again with the same `journal`;
#'   [compatibility].
#' @concept checkpoint
#' @concept resume an optimization
#' @concept crash recovery
#' @concept write-ahead log
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE)
#' file <- tempfile()
#' x <- seq(0, 1, length.out = 50)
#' b <- gp_ucb(x, kernel_se(0.2), noise_var = 0.01, journal = file)
#' b$suggest(2)
#' b$observe(1, 0.5)
#' rm(b) # or the process dies
#' again <- open_bandit(file)
#' again$history()
#' unlink(file)
#' @aliases resume_bandit
#' @export
open_bandit <- function(x, like = NULL, rng = TRUE, trust = FALSE) {
  check_flag(rng)
  check_flag(trust)
  if (!missing(x) && inherits(x, "bandit_store")) {
    journals_only <- c(like = !is.null(like), rng = !rng, trust = trust)
    if (any(journals_only)) {
      arg <- names(which(journals_only))[1]
      stop_unused(arg, if (arg == "trust") "use `bandit_store(trust = TRUE)` for a store" else "it is for journals")
    }
    return(open_stored(x))
  }
  if (missing(x) || !is.character(x)) {
    if (missing(x)) stop_missing("x", "a store (bandit_store()), or the path of a journal")
    else stop_argument("x", describe(x), "a store (bandit_store()), or the path of a journal")
  }
  open_journal(x, like, rng, trust)
}

#' Connections, failures and tables of a bandit store
#'
#' Describes how a [bandit_store()] handles lost connections and stopped processes, and which tables it has.
#'
#' @section Lost connections: With a path or a function as `con`, a lost connection is opened again (the server was
#'   restarted, or the network failed). A transaction that was under way is repeated: nothing of it had happened. If the
#'   answer to a commit was lost, for example because the server crashed, the store is searched for the change for at
#'   most a minute. If the change is not there, it is made again.
#'
#'   A PostgreSQL connection that you opened is opened again by RPostgres itself. This works if role, database and
#'   `search_path` are unchanged. If the store cannot connect again, this is an error at once, and `$again` of the error
#'   is `FALSE`. If a server does not answer at all, a call is an error, and [work_on()] tries again.
#'
#' @section Stopped processes: A process can be stopped in the middle of a transaction (Ctrl-Z, SIGSTOP, a machine that
#'   sleeps). A transaction waits for others for a minute.
#'
#'   * **PostgreSQL** ends a transaction that has sent nothing for 30 seconds, or for ten times the processor time of
#'     this process's longest transaction, if that is more. A process that continues later repeats the transaction.
#'   * **SQLite** keeps the file locked until the process continues or ends. A process that has waited for a minute gets
#'     an error, which on Linux names the process that holds the lock.
#'
#' @section Session settings: These are set for the session, also on a connection that you opened.
#'
#'   * **PostgreSQL**, where the server has them: `client_min_messages` = error, `tcp_keepalives_idle` = 30 s,
#'     `tcp_keepalives_interval` = 10 s, `tcp_keepalives_count` = 3, `tcp_user_timeout` = 60 s.
#'   * **PostgreSQL**, only in the transactions of the store: `lock_timeout` = 60 s, `statement_timeout` = 360 s,
#'     `idle_in_transaction_session_timeout` as under *Stopped processes*, and `synchronous_commit` = off without
#'     `durable`.
#'   * **SQLite**: `busy_timeout` = 0.1 s, `journal_mode` = WAL, `foreign_keys` = ON, `synchronous` = FULL (NORMAL
#'     without `durable`). A temporary view `gpb_change` writes a change by one statement.
#'
#'   These keepalives are the server's. Those of your machine are set by the function that connects:
#'   `DBI::dbConnect(RPostgres::Postgres(), ..., keepalives_idle = 30, tcp_user_timeout = 60000)`.
#'
#' @section Durability: With `durable = TRUE`, a change that a call has reported survives a power failure. Each change
#' waits for the disk, often several milliseconds. `durable = FALSE` is for many quick decisions. SQLite then has
#' `synchronous` = NORMAL, and PostgreSQL `synchronous_commit` = off, for the transactions of this store.
#'
#' * Without durability, no change is lost when an R process is killed. The database is never corrupted.
#' * A power failure, or a crash of the operating system or of the PostgreSQL server, can lose the latest changes. What
#'   remains is the bandit's history up to some event.
#' * The ids of lost queries are given to new queries, with other tokens. Report rewards with `token`: a reward of a
#'   lost query is then an error. Without `token` it would count for the new query.
#' * A replica that has read lost events raises an error; [open_bandit()] continues.
#'
#' @section Tables: You may read them, but do not write to them. Rows carry checksums, and every replica raises an error
#'   for rows that are not a bandit's. Tables of a newer version are an error. `$compact()` replaces old events by a
#'   checkpoint, see [bandit-compact].
#'
#'   * `gpb_schema`: the version.
#'   * `gpb_bandit`: name, settings as JSON, seed, counters.
#'   * `gpb_query`: one row per query, with arm, action, mean, sd, width, and the point as JSON (`place`).
#'   * `gpb_event`: the event log, with kind, query and reward.
#'   * `gpb_lease`: which worker holds which query, and since when.
#'   * `gpb_history`: a view with the columns `bandit`, `id`, `place` (JSON), `action`, `segment`, `mean`, `sd`,
#'     `width`, `reward`, `status`, `worker`, `attempt`, `asked_at`, `answered_at` and `reason`. Times are seconds since
#'     1970 by the server's clock.
#' @seealso [bandit_store()], [bandit-leases], [bandit-backup].
#' @name store-databases
#' @concept database connection
#' @concept fault tolerance
#' @concept SQLite
#' @concept PostgreSQL
NULL
