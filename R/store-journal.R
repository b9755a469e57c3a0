# Journals: a bandit's log in a SQLite file with one writer. Layer: storage.

# The file has the tables of a store (R/store-sql.R) with one bandit, whose rows are written and read as in a store, and
# two more:
#   `gpb_state`: the state of R's random generator after the last change (`rng`; `position` replaces its second number),
#                and the memory of a script's rule.
#   `gpb_note`: the notes of maximize_bandit(), names and values.
# `bandit$journal` is a list with `path`, `rng` (the generator's last state), and `store` (`name`, `trust`), `number`,
# `checksum`, `base`, `more` as in a bandit_store_log. The connection is `.connection`, a variable of the object's
# environment that copies and files do not have.

journal_name <- "journal"

journal_tables <- c(
  "CREATE TABLE gpb_state (bandit INTEGER PRIMARY KEY, rng TEXT NOT NULL, position TEXT, memory TEXT)",
  "CREATE TABLE gpb_note (number INTEGER PRIMARY KEY, name TEXT NOT NULL, value TEXT NOT NULL)"
)

journal_store <- function(connection, trust) {
  structure(list(connection = connection, name = journal_name, attempts = 1L, seed = 0L, trust = trust),
            class = "bandit_store")
}

new_file_journal <- function(path, store, number, config, rng, base = 0L, checksum = 0) {
  structure(list(path = path, store = store[c("name", "trust")], number = number, checksum = checksum, base = base,
                 more = columns_in_store(config), rng = rng), class = "bandit_file_journal")
}

journal_connection <- function(path) {
  need_file_database("journal", " Or keep the bandit with `saveRDS()`.")
  journal_io(path, new_connection(path, journal = TRUE))
}

# (A bandit in a forked process has its parent's connection, which cannot be used there.)
connection_of <- function(bandit) {
  if (is.null(bandit$.connection)) bandit$.connection <- journal_connection(bandit$journal$path)
  bandit$.connection
}

journal_io <- function(path, code) {
  tryCatch(code, gpbandits_store_error = function(e) {
    if (identical(e$argument, "journal")) stop(e)
    why <- sub("^The store's database: ", "", message_of(e))
    stop_gpbandits("store", "The journal ", path, ": ", why, argument = "journal", parent = e, again = e$again)
  })
}

# ---- which file it is ------------------------------------------------------------------

# Does the file exist, with contents? An error unless these are those of a database.
has_contents <- function(path, arg) {
  if (!file.exists(path) || isTRUE(file.size(path) == 0)) return(FALSE)
  start <- readBin(path, "raw", 26)
  # (The first line of such a journal has a checksum of eight digits first.)
  if (identical(start[-(1:9)], charToRaw("gpbandits-journal"))) {
    stop_data(sprintf("%s is a text journal of an earlier version. Open it there and convert it: ", quoted(path)),
              "`from_json()` here reads the text of `as_json()` there.", argument = arg)
  }
  if (!begins_database(start)) stop_no_journal(path, arg)
  TRUE
}

stop_no_journal <- function(path, arg) {
  stop_data(sprintf("The file %s is not a bandit's journal. Use a path that was given as `journal`.", quoted(path)),
            argument = arg)
}

# Is there a bandit in the file? (A process that was killed may have left the tables without a row.)
holds_bandit <- function(connection, path, arg) {
  tables <- journal_io(path, names_of_tables(connection))
  if (length(tables) == 0) return(FALSE)
  if (!"gpb_state" %in% tables) stop_no_journal(path, arg)
  journal_io(path, {
    check_schema(connection)
    sql_rows(connection, "SELECT COUNT(*) AS n FROM gpb_bandit")$n > 0
  })
}

# ---- writing ---------------------------------------------------------------------------

begin_in.bandit_new_journal <- function(store, bandit, trust = FALSE, ...) {
  path <- file_path(store$file, "journal")
  config <- bandit$config
  if (!trust && has_code(config)) {
    stop_gpbandits("argument", "These settings hold functions, which resuming a journal runs. Use `trust = TRUE` if ",
                   "that is intended.", argument = "trust")
  }
  refuse <- function(...) {
    stop_argument("journal", sprintf("%s, which exists", quoted(store$file)), "a new file",
                  try = "`open_bandit()`, which continues with an existing journal")
  }
  open <- function() journal_connection(path)
  filled <- catch_error(has_contents(path, "journal"), refuse)
  connection <- if (filled) catch_error(open(), refuse) else open()
  if (filled && catch_error(holds_bandit(connection, path, "journal"), refuse)) refuse()
  within <- journal_store(connection, trust)
  seed <- current_seed()
  number <- journal_io(path, {
    make_tables(connection, c(store_tables(), journal_tables))
    tryCatch(write_first_row(within, exact_text(config, trust), 0L, function(number) {
      sql_insert(connection, "gpb_state", Filter(length, c(list(bandit = number), changed_seed(seed, NA))))
    }), gpbandits_store_error = function(e) if (inherits(e, "gpbandits_exists")) refuse() else stop(e))
  })
  bandit$journal <- new_file_journal(path, within, number, config, seed)
  assign(".connection", connection, envir = as.environment(bandit))
}

# The columns of gpb_state that differ from those of the generator's last state. The second number is a position for
# most kinds.
changed_seed <- function(seed, last) {
  if (identical(seed, last)) return(NULL)
  if (is.null(seed)) return(list(rng = "-"))
  moved <- length(seed) > 2 && length(seed) == length(last) && identical(seed[-2], last[-2])
  list(rng = if (!moved) paste(seed, collapse = " "), position = if (length(seed) > 1) paste(seed[2]))
}

keep_change.bandit_file_journal <- function(log, bandit, queries, events, refits, memory = NULL) {
  rows <- if (length(events$kind)) {
    rows_of_change(bandit, list(queries = queries, events = events, refits = refits), table_size(bandit$queries),
                   known_events(bandit))
  }
  journal_write(bandit, rows, list(memory = if (!is.null(memory)) value_text(memory)))
}

keep_note.bandit_file_journal <- function(log, bandit, name, value) {
  note <- list(name = name, value = value_text(value))
  journal_write(bandit, more = function(log) sql_insert(log$connection, "gpb_note", note))
}

keep_reset.bandit_file_journal <- function(log, bandit) {
  empty <- list(queries = table_columns(new_table(query_columns(bandit$config))),
                events = table_columns(new_table(event_columns())), refits = list())
  journal_write(bandit, state = list(memory = if (!is.null(bandit$memory)) value_text(first_memory(bandit$config))),
                more = function(log) rewritten_rows(log, bandit, empty))
}

rewrite_log.bandit_file_journal <- function(bandit, new) {
  found <- in_journal(bandit, function(log) utils::modifyList(bandit$journal, rewritten_rows(log, bandit, new)))
  con <- live_connection(connection_of(bandit))
  attempt(for (statement in c("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")) dbi_rows(con, statement))
  found
}

describe_log.bandit_file_journal <- function(log) sprintf("  journal    %s", log$path)

# Writes rows of the log (see rows_of_change()), columns of gpb_state, and what `more` writes within the transaction.
# `more` returns changes of the journal's fields or NULL. The result: values that commit() assigns to the bandit's
# fields.
journal_write <- function(bandit, rows = NULL, state = list(), more = NULL) {
  log <- bandit$journal
  after <- log
  after$rng <- current_seed()
  if (!is.null(rows)) after$checksum <- rows$events$checksum[length(rows$events$number)]
  state <- c(changed_seed(after$rng, log$rng), state)
  change <- if (is.null(more)) statement_of(list(list(rows = rows)), NULL)
  if (!is.null(change)) change <- c(list(bandit = log$number, last = log$checksum), change, state)
  # (Nothing comes after this call: an error there would leave the bandit behind its journal.)
  in_journal(bandit, function(log) {
    if (!is.null(rows)) write_log_rows(log, rows)
    write_state(log, state)
    utils::modifyList(after, as.list(if (!is.null(more)) more(log)))
  }, list(change = change, fields = list(journal = after)))
}

write_state <- function(log, state) {
  state <- Filter(length, state)
  if (length(state) == 0) return(invisible())
  sql_run(log$connection, "UPDATE gpb_state SET ",
          paste(names(state), "=", vapply(state, sql_literal, "", log$connection), collapse = ", "),
          " WHERE bandit = ", log$number)
}

# Calls `write` in a transaction if the log in the file is this bandit's. It returns the next `journal`. `quick`: the
# same as one statement (see sql_at_once()), if it is one, and the result.
in_journal <- function(bandit, write, quick = list()) {
  log <- bandit$journal
  connection <- connection_of(bandit)
  done <- FALSE
  if (!is.null(quick$change)) journal_io(log$path, sql_at_once(connection, quick$change, function() done <<- TRUE))
  if (done) return(quick$fields)
  on.exit(sql_rollback(connection))
  journal_io(log$path, {
    log$connection <- connection
    log$head <- check_head(sql_begin(connection, head_row(connection, journal_name), journal_name), journal_name)
    here <- list(base = log$base, sizes = c(table_size(bandit$queries), table_size(bandit$events)),
                 checksum = log$checksum)
    if (!is_latest(log$head, here)) {
      stop_gpbandits("store", "Another bandit has written to the journal ", log$path,
                     " since. Use open_bandit() to continue from it.", argument = "journal", again = FALSE)
    }
    fields <- list(journal = write(log))
    sql_commit(connection)
    fields
  })
}

has_notes <- function(bandit) {
  journal_io(bandit$journal$path, sql_rows(connection_of(bandit), "SELECT COUNT(*) AS n FROM gpb_note")$n > 0)
}

# ---- reading ---------------------------------------------------------------------------

open_journal <- function(file, like, rng, trust) {
  if (!is.null(like)) check_bandit(like)
  found <- resume_from(check_string(file, "x"), "x", trust)
  if (is.null(found)) {
    stop_argument("x", describe(file), "a file that exists",
                  try = "`gp_bandit(..., journal = )` with this path, which begins one")
  }
  if (!is.null(like)) check_same_settings(found$config, like$config, file, "x")
  if (rng) restore_rng(found$rng)
  found$bandit
}

resume_from.character <- function(x, arg, trust) {
  path <- file_path(x, arg)
  if (!has_contents(path, arg)) return(NULL)
  connection <- journal_connection(path)
  if (!holds_bandit(connection, path, arg)) return(NULL)
  contents <- journal_io(path, journal_contents(connection))
  config <- catch_error(check_own_objects(value_from_text(contents$settings, trust)), function(e) {
    stop_data("Cannot read the settings in the journal ", x, ": ", message_of(e), argument = arg, parent = e)
  })
  catch_error({
    rng <- seed_from_text(contents$state)
    bandit <- journal_bandit(config, contents, journal_store(connection, trust), path, rng)
    notes <- Map(function(name, value) list(name = name, value = value_from_text(value)), contents$notes$name,
                 contents$notes$value)
  }, function(e) {
    stop_data("Cannot resume: ", x, " does not contain a bandit's log (", message_of(e),
              "). Restore the file from a copy, or begin a new journal.", argument = arg, parent = e)
  })
  list(bandit = bandit, config = config, notes = unname(notes), rng = rng)
}

# (A transaction, so that nobody writes in between.)
journal_contents <- function(connection) {
  on.exit(sql_rollback(connection))
  head <- check_head(sql_begin(connection, head_row(connection, journal_name), journal_name), journal_name)
  log <- list(connection = connection, number = head$bandit)
  of_this <- paste("WHERE bandit =", head$bandit)
  list(head = head, settings = sql_rows(connection, "SELECT settings FROM gpb_bandit ", of_this)$settings,
       state = as.list(sql_rows(connection, "SELECT rng, position, memory FROM gpb_state ", of_this)),
       notes = sql_rows(connection, "SELECT name, value FROM gpb_note ORDER BY number"),
       queries = read_queries(log, 0L, head$queries), events = read_events(log, 0L, head$events))
}

# The bandit with these settings and the log in `contents`.
journal_bandit <- function(config, contents, store, path, rng) {
  rows <- contents[c("queries", "events", "head")]
  first <- c(as.integer(rows$events$number), rows$head$events + 1L)[1]
  bandit <- new_bandit(config)
  bandit$journal <- new_file_journal(path, store, rows$head$bandit, config, rng, first - 1L)
  check_rows(as.environment(bandit), rows)
  last <- c(0, rows$events$checksum)[nrow(rows$events) + 1]
  if (!isTRUE(rows$head$checksum == last)) stop_fault("its last events are missing")
  log <- log_of_rows(as.environment(bandit), rows)
  config <- bandit$config
  queries <- add_rewards(log$queries, log$events, config)
  found <- new_bandit(config, table_of(queries[names(query_columns(config))]),
                      table_of(log$events[names(event_columns())]), log$refits)
  frame <- as.environment(found)
  list2env(text_of_rows(frame, rows$events), frame)
  if (!is.na(contents$state$memory)) frame$memory <- value_from_text(contents$state$memory)
  frame$journal <- bandit$journal
  frame$journal$checksum <- last
  frame$.connection <- store$connection
  rebuild(frame)
  found
}

# A state of R's random generator. It must belong to a generator that this R has; for any other, R raises an error at
# the first random number.
seed_from_text <- function(state) {
  if (identical(state$rng, "-")) return(NULL)
  text <- strsplit(state$rng, " ", fixed = TRUE)[[1]]
  if (length(text) > 1) text[2] <- state$position
  seed <- suppressWarnings(as.integer(text))
  if (any(is.na(seed) & text != "NA")) stop_fault("a random generator's state of other words than numbers")
  kind <- seed[1] %% 100L + 1L
  numbers <- c(3, 2, 2, 625, 101, NA, 101, 6)[kind]
  # (A user-supplied generator may have any state.)
  whole <- if (is.na(numbers)) identical(kind, 6L) && RNGkind()[1] == "user-supplied" else length(seed) == 1 + numbers
  # (`binomial`: since R 4.7. An earlier R reads such a state without it, see restore_rng().)
  normal <- (seed[1] %/% 100L) %% 100L
  sample <- (seed[1] %/% 10000L) %% 10L
  binomial <- seed[1] %/% 100000L
  if (!isTRUE(whole && seed[1] >= 0 && normal <= 5 && sample <= 1 && binomial <= 1)) {
    stop_fault("a state of a random generator that is none")
  }
  seed
}
