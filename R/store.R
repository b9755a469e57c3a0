# `bandit_store()` and `open_bandit()`. Layer: storage.

#' Keep a bandit where many processes can reach it
#'
#' `bandit_store()` names a place in a database for one bandit's event log. `gp_bandit(..., store = )` (and every
#' preset) begins a bandit there, [open_bandit()] takes part in one: in as many processes, on as many machines as can
#' reach the database. Each holds a replica, an ordinary `GPBandit` that plays the events of the others before it does
#' anything itself.
#'
#' @section Databases: SQLite (one machine; packages DBI and RSQLite) or PostgreSQL (many machines; DBI and RPostgres).
#'   `con` is a path (SQLite), an open DBI connection, or a function that returns one. A path or a function lets the
#'   store connect again after a failure, and lets it travel to worker processes; a connection of the user's stays the
#'   user's, and is used for one store at a time. SQLite is put into WAL mode with full synchronisation. **Never put a
#'   SQLite file on NFS or another network file system**: its locks do not hold there. Where the file system can be told
#'   (Linux), such a path is refused. So is a SQLite file in a process that was forked while the file was open
#'   (`parallel::mclapply()`).
#'
#' @section Transactions: `$suggest()`, `$observe()`, `$add()`, `$amend()`, `$withdraw()` and `$fail()` of a bandit in a
#'   store are transactions: the bandit's row is locked, the events of others are played (only the new ones), the change
#'   is made, and all of it is committed or nothing. Two processes therefore never ask the same query, and every replica
#'   holds the same state to the bit. `$catch_up()` plays the events of others without changing anything; `$history()`,
#'   `$posterior()`, `$best()` show the replica as it is. `$reset()` is refused, for the log is everybody's: begin
#'   another bandit under another name, or reset a `$copy()`, which is outside of the store.
#'
#' @section Failures: a connection that was lost (the server was restarted, the network failed) is made again where
#'   `con` is a path or a function, and a transaction that was under way is done again: nothing of it had happened.
#'   Where the answer to a commit was lost, PostgreSQL is asked what became of it (`txid_status()`), for a minute at
#'   most. A PostgreSQL connection of yours is made again by RPostgres itself; it serves if role, database and
#'   `search_path` are what they were. What the store cannot make again it says at once (`$again` of the error is
#'   `FALSE`). Where a server does not answer at all, a call is an error, and [work_on()] tries again.
#'
#'   A process may be frozen in the middle of a transaction (Ctrl-Z, SIGSTOP, a machine that sleeps). PostgreSQL ends a
#'   transaction from which nothing has come for 30 seconds, or for ten times the processor's time that this process's
#'   longest transaction has taken, if that is more; a process that comes back does it again. SQLite's file is locked
#'   until the process goes on or ends: nobody may take its lock away. Who waits for a minute gets an error, which on
#'   Linux names the process. A transaction waits for others for a minute.
#'
#'   What we set in a session, also on a connection of yours. PostgreSQL: `client_min_messages` = error,
#'   `tcp_keepalives_idle` = 30 s, `tcp_keepalives_interval` = 10 s, `tcp_keepalives_count` = 3, `tcp_user_timeout` = 60
#'   s, as far as the server has them; in our own transactions only, `lock_timeout` = 60 s, `statement_timeout` = 360 s,
#'   `idle_in_transaction_session_timeout` as above. SQLite: `busy_timeout` = 0.1 s, `journal_mode` = WAL,
#'   `synchronous` = FULL, `foreign_keys` = ON. These are the server's keepalives; those of your machine belong to the
#'   function that connects:
#'   `DBI::dbConnect(RPostgres::Postgres(), ..., keepalives_idle = 30, tcp_user_timeout = 60000)`.
#'
#' @section Random numbers: a store has one `seed`. Query k (and a refit before it) draws from the k-th of the
#'   independent L'Ecuyer streams of that seed ([parallel::nextRNGStream()]), whoever asks it. So a seed gives one
#'   history, whatever the number of workers, as long as queries and rewards come in the same order. R's own generator
#'   is not touched (it draws the seed where `seed` is `NULL`). Only `rbinom()` in an objective differs between R before
#'   4.7 and later versions.
#'
#' @section Leases: a lease is the time after which a query that nobody has answered may be given to another worker. The
#'   method is `$suggest(n = 1, context = NULL, worker = NULL, lease = NULL, visitor = FALSE)`; its data.frame has
#'   further columns `token` (128 bits of the system's random numbers) and `attempt`.
#'
#'   *By default there is no lease*, for experiments of people last days. Every call suggests something new. The query
#'   stays pending until it is answered, failed or withdrawn; it is never offered to another worker, and never failed
#'   because time has passed.
#'
#'   *With `lease`*, a number of seconds of the server's clock, the query is leased to `worker`. [store_heartbeat()]
#'   renews the lease, best every `lease / 3` seconds. A query whose lease has run out is offered to the next who asks
#'   for a lease, `attempts` times in all; then it is failed (`$fail()`). A worker that asks again gets its own open
#'   queries again. Without `worker` every call suggests something new. [work_on()] asks for 60 seconds, and renews them
#'   by itself.
#'
#'   **A query that was suggested in a context without `worker`, or with `visitor = TRUE`, is a decision for a
#'   visitor**: it is never offered to another (a `worker` gets it again in the same context, while its lease lasts),
#'   and never failed because a lease ran out. What a `worker` asked in a context with a lease is work: once its lease
#'   has run out it is offered again in the same context, to workers only.
#'
#'   [maximize_bandit()] sets a budget of evaluations. Once it is spent, `$suggest()` returns no rows, with a message of
#'   class `gpbandits_budget_spent`.
#'
#'   `$observe(id, reward, constraints = NULL, token = NULL)`: evaluation happens at least once, its reward is counted
#'   exactly once. The same value again changes nothing, another one is an error (`$amend()` changes it, and the change
#'   is an event). A late reward, of a lease that has run out, is taken while the query is open; a token that was never
#'   given out is refused. `$fail()`, `$withdraw()` and `$amend()` take `token` too. A `reason` of the first two is an
#'   entry of the log: every replica has it. `$add()` without `reward` is a point that somebody else evaluates, outside
#'   of the store: pending, and offered to nobody.
#'
#' @section Tables: `gpb_schema` (version), `gpb_bandit` (name, settings as JSON, seed, counters), `gpb_query` (one row
#'   per query: arm, action, mean, sd, width, `place` as JSON), `gpb_event` (the log: kind, query, reward), `gpb_lease`
#'   (who holds what since when), and the view `gpb_history`: `bandit`, `id`, `place` (JSON), `action`, `segment`,
#'   `mean`, `sd`, `width`, `reward`, `status`, `worker`, `attempt`, `asked_at`, `answered_at` (seconds since 1970 by
#'   the server's clock), `reason`. Read them as you like; do not write: rows carry checksums, and rows that are not a
#'   bandit's are refused by every replica. Tables of a newer version are refused. [compact_log()] replaces old events
#'   by a checkpoint.
#'
#' @section Trust: settings are plain text that is checked when it is read. Settings with functions or formulas in them
#'   ([width_function()], thresholds of [change_detect()], ...) are refused unless `trust = TRUE`: then they are stored
#'   as R serialises them, and whoever opens the bandit, with `trust = TRUE` too, runs what anybody with write access to
#'   the database has put there.
#'
#' @param con a path of a SQLite file (made if it is not there), a DBI connection to SQLite or PostgreSQL, or a function
#'   without arguments that returns such a connection.
#' @param name the bandit's name in the database.
#' @param attempts how often a query is given to a worker before it is failed, a whole number >= 1. The store remembers
#'   it.
#' @param seed a whole number, or `NULL`: drawn from R's generator when the bandit is begun.
#' @param trust may settings hold code? See Trust.
#' @return An object of class `bandit_store`; [open_bandit()] of it is a [GPBandit][gp_bandit], up to date.
#' @section Errors: a `gpbandits_error` that names the argument; one of class `gpbandits_store_error` too where the
#'   database failed (a lost connection, a full disk, a minute of waiting for somebody else's transaction). Nothing has
#'   changed then, in the store or in the replica, unless it says that this is not known: a commit was under way, and
#'   the server could not be asked for a minute what became of it. `$catch_up()`, or asking again with the same worker
#'   id, shows which.
#' @seealso [work_on()], [maximize_bandit()], [bandit_service()], the article "Many machines, one bandit".
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
bandit_store <- function(con, name, attempts = 3, seed = NULL, trust = FALSE) {
  if (missing(con)) stop_argument("con", "missing", "a path (SQLite), a DBI connection, or a function that returns one")
  name <- check_string(name)
  attempts <- as.integer(check_count(attempts))
  if (!is.null(seed)) seed <- as.integer(check_count(seed, lower = 0))
  check_flag(trust)
  link <- new_link(con)
  prepare_tables(link)
  structure(list(link = link, name = name, attempts = attempts, seed = seed, trust = trust), class = "bandit_store")
}

store_entry <- list(settings = alist(link = check_link(link), name = check_string(name), trust = check_flag(trust)))

check_link <- function(link) {
  if (!is.environment(link) && !is.list(link) || !is.character(link$kind)) {
    stop_argument("link", describe(link), "a connection to a database")
  }
  link
}

# open_bandit() of a store.
open_stored <- function(store) {
  check_store(store)
  row <- sql_rows(store$link, "SELECT bandit, settings, seed, attempts, budget, events, queries, checksum, ",
                  sql_clock(store$link), " AS now FROM gpb_bandit WHERE name = ", sql_literal(store$name, store$link))
  head <- check_head(row, store$name)
  config <- check_stored_settings(settings_from_text(head$settings, store$trust, "the bandit's settings in the store"))
  bandit <- new_bandit(config)
  as_ours(heal(as.environment(bandit)), function(...) {
    stop_gpbandits("The settings in this store are not a bandit's: ", ..., ".", argument = "store")
  })
  bandit$journal <- new_store_log(store, head, config)
  bandit_catch_up(as.environment(bandit))
  bandit
}

# A bandit's first row in its store.
start_store <- function(bandit, store) {
  check_store(store)
  link <- store$link
  settings <- settings_text(bandit$config, store$trust)
  seed <- if (is.null(store$seed)) sample.int(.Machine$integer.max, 1) else store$seed
  check_outside(link)
  on.exit(sql_rollback(link))
  found <- sql_begin(link, head_row(link, store$name), lock = tables_lock)
  if (nrow(found)) refuse_second(store$name)
  last <- sql_rows(link, "SELECT COALESCE(MAX(bandit), 0) AS n", sql_transaction(link), " FROM gpb_bandit")
  link$transaction <- last$transaction
  next_number <- as.integer(last$n) + 1L
  sql_insert(link, "gpb_bandit", list(bandit = next_number, name = store$name, settings = settings, seed = seed,
                                      attempts = store$attempts, budget = NA_integer_, created = sql_now(link),
                                      events = 0L, queries = 0L, checksum = 0))
  tryCatch(sql_commit(link), gpbandits_store_error = function(e) {
    if (grepl("unique|duplicate", message_of(e), ignore.case = TRUE)) refuse_second(store$name)
    stop(e)
  })
  bandit$journal <- new_store_log(store, list(bandit = next_number, seed = seed, attempts = store$attempts),
                                  bandit$config)
}

refuse_second <- function(name) {
  tryCatch(stop_argument("store", sprintf("one in which a bandit named %s exists", dQuote(name, FALSE)),
                         "a store with a new name (open_bandit() takes part in a bandit that exists)"),
           gpbandits_error = function(e) stop(structure(e, class = c("gpbandits_exists", class(e)))))
}

#' @export
print.bandit_store <- function(x, ...) {
  check_class(x, "bandit_store")
  cat(sprintf("<bandit store: %s in %s>\n", dQuote(x$name, FALSE), x$link$kind))
  invisible(x)
}

register_family("bandit_store", store_entry, open = TRUE)

begin_in.bandit_store <- function(store, bandit) start_store(bandit, store)

#' Go on with a bandit from its journal, or take part in one in a store
#'
#' `open_bandit(x)` makes the bandit again that a [bandit_store()] holds and takes part in it (see there), or goes on
#' with the one whose journal has the path `x`.
#'
#' A bandit that was made with `journal = "file"` ([gp_bandit()], every preset, [maximize_bandit()]) appends each of its
#' events to that file, and waits until it is on the disk, before anything else happens. `open_bandit()` makes the
#' bandit again from the file, in this process or another, and goes on writing to it. After a crash, a power cut or
#' `kill -9` at any moment nothing is lost but the evaluation that was running: its query is in the history, with its
#' reward `NA`.
#'
#' A last line that was never finished (or is damaged, with a warning) is dropped, and cut off the file at the first new
#' event; one that lacks nothing but its newline counts. Damage anywhere before is refused: every line's checksum goes
#' on from the line before.
#'
#' A journal belongs to one bandit at a time. `$copy()` gives a bandit without journal, and so does every other copy:
#' one that comes back from [saveRDS()], or from another process. Such a bandit goes on as the original would, but what
#' it does is not written down; its first change warns of that (class `gpbandits_left_journal`), and `print()` shows
#' whose journal it was. `open_bandit()` goes on with the journal: whoever opened it last and writes has it, and changes
#' of another bandit that still holds it are refused with an error. Whoever writes locks the file, so that of two who
#' write at once one is refused. A path that is a link is followed; a device or a pipe is refused. If a write fails
#' (disk full, directory gone) the change ends in an error and has not happened. `$reset()` is an event too. A write
#' costs a few milliseconds, most of them the disk's; [run_bandit()] writes each round.
#'
#' @section Trust: a journal is text (JSON in ASCII for what is no row of numbers). Opening one evaluates nothing of it
#'   and unserialises nothing, whoever wrote it. Functions and formulas among a bandit's settings (widths, thresholds,
#'   `when`) are written only if `trust = TRUE`, as R serialises them, and such a file is opened only with
#'   `trust = TRUE`: then it can do what its functions can. Even then R makes nothing of bytes that are no function: a
#'   promise in place of data, which R before 4.4 runs as it is read (CVE-2024-27322), an environment or a compact
#'   vector is refused, by a look at the bytes alone. Journals of development versions, which held settings as R objects
#'   (formats 1 and 2), are refused, whatever `trust` is.
#' @param x a [bandit_store()], or the path of a journal.
#' @param like of a journal: `NULL`, or a bandit made as the journal's bandit was: a file of a bandit with other
#'   settings is refused.
#' @param rng of a journal, `TRUE`: R's random generator is put into the state that it had after the last event in the
#'   file, so that a bandit whose choices are random goes on exactly as it would have; `FALSE` leaves the generator
#'   alone.
#' @param trust of a journal, `TRUE`: functions in the file may be run. (Of a store: an argument of [bandit_store()].)
#' @return An object of class `GPBandit`, see [gp_bandit()].
#' @section Errors: a `gpbandits_error` if `x` is neither, if there is no such file, if it is no journal, is damaged,
#'   was written in a newer format, or belongs to another bandit.
#' @seealso [maximize_bandit()], whose call with the same `journal` goes on by itself.
#' @examples
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
      stop_argument(arg, "given with a store",
                    "left out: it is for journals (`trust` of a store: bandit_store(trust = ))")
    }
    return(open_stored(x))
  }
  if (missing(x) || !is.character(x)) {
    stop_argument("x", if (missing(x)) "missing" else describe(x), "a store (bandit_store()), or the path of a journal")
  }
  open_journal(x, like, rng, trust)
}
