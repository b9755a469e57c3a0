# A bandit's rows in a store, and the replicas that read them. Layer: storage.

# The rows of a bandit in a store, and the updates of a replica (a GPBandit in some process). `bandit$journal` is an
# environment of class bandit_store_log with these fields:
#   `store`, `number` (of the bandit), `seed`, `attempts`.
#   `checksum`: of the last event that was replayed.
#   `base`: the number before that of the first event, see `$compact()`.
#   `overwritten`: previous values of cells of the log, see replica_state().
#   `head`: the bandit's row at the start of the transaction, with the server's time `now`.
#   `leases`: those that the transaction has read.
#   `active`: is a transaction of this replica in progress?
#   `held`: changes that will be written together (write_together()), or NULL.
#   `kept`: the writes of a change that is computed ahead (changed_in_store()), or NULL.
#   `alone`: did no other process write between the last two changes of this replica?
#   `more`: names of columns, see columns_in_store().
#   `stream`: the random number stream of query `stream_at`.

new_store_log <- function(store, row, config) {
  structure(list2env(list(store = store, connection = store$connection, number = row$bandit, seed = row$seed,
                          attempts = row$attempts, checksum = 0, base = 0L, head = NULL, active = FALSE, stream = NULL,
                          stream_at = 0, more = columns_in_store(config)),
                     parent = emptyenv()),
            class = "bandit_store_log")
}

# Names of columns of a bandit's log, which its events do not change: those that share the column `numbers` (of queries
# and of events), the inputs among them, values of constraints, and those that later events overwrite.
columns_in_store <- function(config) {
  g <- constraint_names(config, "g")
  list(query = names(more_query_columns(config)), event = names(more_event_columns(config)),
       inputs = logged_inputs(config), g = g, overwritten = c("status", value_columns(config), g))
}

# The row of a bandit. With `leases`, a SQL condition, the row is repeated for each lease that satisfies it.
head_row <- function(connection, name, leases = NULL) {
  columns <- c("bandit", "seed", "attempts", "budget", "events", "queries", "checksum")
  paste0("SELECT ", paste0("b.", columns, collapse = ", "), ", ", sql_clock(connection), " AS now",
         if (!is.null(leases)) paste0(", l.", lease_columns, " AS lease_", lease_columns, collapse = ""),
         " FROM gpb_bandit b",
         if (!is.null(leases)) paste0(" LEFT JOIN gpb_lease l ON l.bandit = b.bandit AND ", leases),
         " WHERE b.name = ", sql_literal(name, connection), if (!is.null(leases)) " ORDER BY l.query, l.attempt")
}

# The condition that selects a bandit's rows in the other tables.
of_bandit <- function(store) {
  paste0("bandit = (SELECT bandit FROM gpb_bandit WHERE name = ", sql_literal(store$name, store$connection), ")")
}

lease_columns <- c("query", "attempt", "worker", "state", "expires", "token")
open_now <- "l.state IN ('open', 'offered')"

# The leases that were read with a bandit's row, as a list of columns. (A data.frame would take longer than the
# database.)
leases_in <- function(found) {
  found <- unclass(found)
  there <- which(!is.na(found$lease_query))
  column <- function(name, as_type) suppressWarnings(as_type(found[[paste0("lease_", name)]][there]))
  list(query = column("query", as.integer), attempt = column("attempt", as.integer),
       worker = column("worker", as.character), state = column("state", as.character),
       expires = column("expires", as.double), token = column("token", as.character))
}

check_leases <- function(bandit, leases) {
  fields <- leases[c("query", "attempt", "expires", "token")]
  bad <- Reduce(`|`, lapply(fields, is.na)) | leases$query < 1 | leases$query > table_size(bandit$queries) |
    leases$attempt < 0
  if (any(bad, na.rm = TRUE)) {
    stop_data("The store's table gpb_lease has an invalid row (query ", leases$query[bad][1], ").", argument = "store")
  }
  leases
}

some_leases <- function(leases, which) lapply(leases, `[`, which)

check_head <- function(head, name) {
  counts <- c("bandit", "seed", "attempts", "events", "queries")
  whole <- function(x) is.numeric(x) && length(x) == 1 && !is.na(x) && x == round(x) && x >= 0 && x < 2^31
  head <- lapply(as.list(head), function(column) column[seq_len(min(1, length(column)))])
  if (length(head$bandit) == 0) {
    stop_store(sprintf("This store has no bandit named %s. ", dQuote(name, FALSE)),
               "Begin it with gp_bandit(..., store = ), or check the `name` of bandit_store().", again = FALSE)
  }
  if (!all(vapply(head[counts], whole, NA)) || !is.numeric(head$now) || !is.numeric(head$checksum)) {
    stop_data("The row of bandit ", dQuote(name, FALSE), " in gpb_bandit is damaged.", argument = "store")
  }
  head[counts] <- lapply(head[counts], as.integer)
  head
}

read_head <- function(log) {
  check_head(sql_rows(log$connection, head_row(log$connection, log$store$name)), log$store$name)
}

# ---- transactions ---------------------------------------------------------------

# Calls `change()`, which changes the bandit, and returns its result. If anything fails, neither the store nor the
# replica changes. It may be called more than once: on a new connection if the first was lost before a commit, and
# after the events of another process that was first. `leases`: those that it needs (see head_row()). `single`: a change
# of one query, which needs no lease. `given`: its ids and tokens (see check_tokens()), or NULL.
in_store <- function(bandit, change, leases = NULL, single = FALSE, given = NULL) {
  check_idle(bandit)
  check_outside(bandit$journal$connection)
  done <- if (single && may_advance(bandit)) changed_in_store(bandit, change, leases, given, ahead = TRUE)
  if (is.null(done)) {
    force(leases)
    done <- until_it_stays(bandit$journal$connection, function() changed_in_store(bandit, change, leases))
  }
  done[[1]]
}

# A process that is alone with a bandit can compute a change of one query before it locks anything: `ahead`. (The budget
# and the server's time would need the lock.)
may_advance <- function(bandit) {
  log <- bandit$journal
  isTRUE(log$alone) && has_at_once(log$connection) && is.na(log$head$budget) && !goes_by_clock(bandit$config)
}

# The result of `change()` in a list, if its writes are in the store. The bandit's row is locked before the change, and
# the events of other processes are replayed. If it is computed `ahead`, its writes are kept until they are complete,
# and are made on condition that the bandit's row is still the one that the replica has. NULL if it is not: nothing has
# happened then.
changed_in_store <- function(bandit, change, leases, given = NULL, ahead = FALSE) {
  log <- bandit$journal
  before <- NULL
  done <- FALSE
  on.exit(suspendInterrupts({
    log$active <- FALSE
    log$kept <- NULL
    if (ahead) log$alone <- done
    if (!done) sql_rollback(log$connection)
    if (!done && !is.null(before)) restore_replica(bandit, before)
  }))
  log$leases <- if (!ahead) locked_leases(log, leases)
  log$active <- TRUE
  if (ahead) {
    before <- replica_state(bandit)
    log$kept <- list()
    # (The error may be due to an event that the replica lacks.)
    value <- catch_error(list(change()), function(e) if (is_latest(read_head(log), before)) stop(e))
    if (is.null(value)) return(NULL)
    row <- statement_of(log$kept, given$token)
    if (!is.null(row)) {
      row <- c(list(bandit = log$number, last = before$checksum), row)
      sql_at_once(log$connection, row, function() done <<- TRUE)
      return(if (done) value)
    }
    log$leases <- locked_leases(log, leases)
    if (!is_latest(log$head, before)) return(NULL)
    write_kept(bandit, given)
  } else {
    log$alone <- log$head$events == known_events(bandit)
    play_others(bandit, log$head)
    if (!is.null(leases)) check_leases(bandit, log$leases)
    before <- replica_state(bandit)
    value <- list(change())
  }
  suspendInterrupts({
    sql_commit(log$connection)
    done <- TRUE
  })
  value
}

# Begins a transaction, which locks the bandit's row. Returns its leases.
locked_leases <- function(log, leases) {
  found <- sql_begin(log$connection, head_row(log$connection, log$store$name, leases), log$store$name)
  log$head <- check_head(found, log$store$name)
  if (!is.null(leases)) leases_in(found)
}

# Is the bandit's row the one that follows the last event of the replica?
is_latest <- function(head, state) {
  head$events == sum(state$base, state$sizes[2]) && head$queries == state$sizes[1] && head$checksum == state$checksum &&
    is.na(head$budget)
}

write_kept <- function(bandit, given) {
  log <- bandit$journal
  kept <- log$kept
  log$kept <- NULL
  if (!is.null(given)) check_tokens(bandit, given$id, given$token)
  for (part in kept) write_now(log, part)
}

# The change of one query as one row of columns (see `at_once` of a database). NULL if `writes` are more than that, or
# have no event.
statement_of <- function(writes, token) {
  parts <- unlist(writes, recursive = FALSE)
  event <- parts$rows$events
  about <- c(parts$leases$query, parts$ended$query)
  if (length(event$number) != 1 || anyDuplicated(names(parts)) || any(about != event$query)) return(NULL)
  query <- parts$rows$queries
  names(query)[names(query) == "numbers"] <- "query_numbers"
  # (The first column of a name counts: `query` is the event's.)
  c(event, query, parts$leases[c("token", "worker", "state", "seconds")],
    list(queries = parts$rows$total, given = token, ended = parts$ended$state, reason = parts$ended$reason))
}

# The state of a replica, to be restored after a failure. The tables only grow, so their sizes are sufficient, apart
# from the cells that note_overwritten() keeps. (The time to copy the tables would grow with the log.)
replica_state <- function(bandit) {
  bandit$journal$overwritten <- list()
  list(queries = bandit$queries, events = bandit$events, reasons = bandit$reasons, notes = bandit$notes,
       sizes = c(table_size(bandit$queries), table_size(bandit$events)), refits = bandit$refits, config = bandit$config,
       checksum = bandit$journal$checksum, base = bandit$journal$base)
}

# Must be called before events about some queries change cells of the table of queries.
note_overwritten <- function(bandit, ids) {
  ids <- ids[ids >= 1 & ids <= table_size(bandit$queries)]
  if (length(ids) == 0) return(invisible())
  columns <- bandit$journal$more$overwritten
  cells <- lapply(stats::setNames(columns, columns), function(name) {
    list(as.integer(ids), get(name, envir = bandit$queries)[ids])
  })
  log <- bandit$journal
  log$overwritten <- c(list(table_change(bandit$queries, cells = cells)), log$overwritten)
}

restore_replica <- function(bandit, state) {
  for (change in bandit$journal$overwritten) commit(bandit, list(change))
  state$queries$.size <- state$sizes[1]
  state$events$.size <- state$sizes[2]
  list2env(state[c("queries", "events", "refits", "reasons", "notes", "config")], bandit)
  bandit$journal$checksum <- state$checksum
  bandit$journal$base <- state$base
  bandit$handle <- NULL
}

bandit_catch_up <- function(bandit) {
  if (!is_stored(bandit)) {
    stop_state("`$catch_up()` needs a bandit in a store: use gp_bandit(..., store = ) or open_bandit().")
  }
  check_idle(bandit)
  log <- bandit$journal
  head <- read_head(log)
  # (Another process may have shortened the log after the bandit's row was read: `$compact()`.)
  for (left in 4:0) {
    failed <- tryCatch({
      play_others(bandit, head)
      return(invisible(bandit))
    }, gpbandits_error = identity)
    now <- read_head(log)
    if (left == 0 || now$events == head$events) stop(failed)
    head <- now
  }
}

# A run against a known truth, in ordinary transactions. `ids`: the queries of its rounds; other processes may add
# queries in between.
play_in_store <- function(bandit, problem, rounds, draws, report, stops) {
  ids <- integer()
  outcome <- play_in_rounds(problem, rounds, draws, report = report, stops = stops, ask = function(t) {
    context <- if (!is.null(draws$contexts)) draws$contexts[t, , drop = FALSE]
    query <- without_budget_message(bandit_suggest(bandit, 1, context, NULL, NULL, lease = Inf))
    if (nrow(query) == 0) return(NULL)
    ids[t] <<- query$id
    logged_points(bandit, query$id)
  }, record = function(which, reward, g) {
    if (!is.null(problem$outcomes)) reward <- as.data.frame(reward)
    bandit_observe(bandit, ids[which], reward, if (constraint_count(bandit$config)) g, NULL, NULL)
  })
  if (length(ids) == 0) {
    stop_state("The store's budget of evaluations for this bandit is spent. `$best()` has the result.",
               argument = "bandit")
  }
  c(outcome, list(ids = ids))
}

# ---- reading --------------------------------------------------------------------

# Replays the events of other processes, up to the last one according to the bandit's row.
play_others <- function(bandit, head) {
  have <- known_events(bandit)
  log <- bandit$journal
  if (head$events == have) return(check_end(log, head))
  if (head$events < have) stop_lost_events(sprintf("it has %d of %d", head$events, as.integer(have)))
  rows <- read_rows(bandit, head)
  before <- replica_state(bandit)
  done <- FALSE
  on.exit(if (!done) restore_replica(bandit, before))
  # Has a checkpoint replaced the next events?
  if (isTRUE(as.double(rows$events$number[1]) > have + 1)) rows <- begin_from_checkpoint(bandit, head)
  catch_error(check_rows(bandit, rows), function(e) {
    check_same_past(log, have)
    stop(e)
  })
  note_overwritten(bandit, rows$events$query)
  catch_error(play_rows(bandit, rows), function(e) {
    stop_data("The store's rows do not form a bandit's history: ", message_of(e), argument = "store", parent = e)
  })
  log$checksum <- rows$events$checksum[nrow(rows$events)]
  check_end(log, head)
  done <- TRUE
}

stop_lost_events <- function(what) {
  stop_store("The store has lost events that this bandit has read (", what, "), as after a crash without `durable`, ",
             "or from a backup. Restore the database, or continue without them: open_bandit().", again = FALSE)
}

# Is the last event of the replica still in the store? (Its number may have been used again.)
check_same_past <- function(log, have) {
  found <- sql_select(log$connection, "checksum", "FROM gpb_event WHERE bandit = ", log$number, " AND number = ", have)
  if (nrow(found) && !isTRUE(found$checksum[1] == log$checksum)) {
    stop_lost_events(sprintf("event %d is another one", as.integer(have)))
  }
}

# The number of the last event that this replica has.
known_events <- function(bandit) sum(bandit$journal$base, table_size(bandit$events))

# Empties this replica and reads the whole log.
begin_from_checkpoint <- function(bandit, head) {
  log <- bandit$journal
  list2env(list(config = starting_config(bandit)), bandit)
  list2env(list(queries = new_table(query_columns(bandit$config)), events = new_table(event_columns()), refits = list(),
                reasons = NULL, notes = NULL, handle = NULL), bandit)
  log$base <- 0L
  log$checksum <- 0
  rows <- read_rows(bandit, head)
  first <- suppressWarnings(as.integer(rows$events$number[1]))
  if (length(first) == 1 && !is.na(first) && first > 1) log$base <- first - 1L
  rows
}

check_end <- function(log, head) {
  if (!isTRUE(head$checksum == log$checksum)) {
    check_same_past(log, head$events)
    stop_data("The row of bandit ", dQuote(log$store$name, FALSE), " in gpb_bandit does not fit its events.",
              argument = "store")
  }
}

query_fields <- c("arm", "context", "action", "segment", "mean", "sd", "width")

# Columns that only some bandits have (inputs, multipliers, ...) share the column `numbers`.
more_query_columns <- function(config) {
  columns <- written_query_columns(config)
  columns[setdiff(names(columns), query_fields)]
}

more_event_columns <- function(config) {
  columns <- written_event_columns(config)
  columns[setdiff(names(columns), c("kind", "id", "reward", "time"))]
}

read_rows <- function(bandit, head) {
  log <- bandit$journal
  list(queries = read_queries(log, table_size(bandit$queries), head$queries),
       events = read_events(log, known_events(bandit), head$events), head = head)
}

read_events <- function(log, from, to) {
  read_range(log, c("number", "kind", "query", "reward", "time", "numbers", "parameters", "checksum"), "gpb_event",
             "number", from, to)
}

read_queries <- function(log, from, to) {
  read_range(log, c("query", query_fields, "numbers", "place"), "gpb_query", "query", from, to)
}

# Rows in the order of their numbers. Without it, the order of a query and its reward would depend on the query plan.
read_range <- function(log, columns, table, key, from, to) {
  sql_select(log$connection, columns, "FROM ", table, " WHERE bandit = ", log$number, " AND ", key, " > ", from,
             " AND ", key,
             " <= ", to, " ORDER BY ", key)
}

# An error unless these are complete rows of a bandit's log that continue after those of the replica.
check_rows <- function(bandit, rows) {
  check_row_types(rows)
  grow_by_rows(bandit, rows$events)
  q <- rows$queries
  e <- rows$events
  had <- table_size(bandit$queries)
  refuse_rows("gpb_query", q$query, q$query != had + seq_along(q$query), "not in sequence")
  refuse_rows("gpb_event", e$number, e$number != known_events(bandit) + seq_along(e$number), "not in sequence")
  if (nrow(q) != rows$head$queries - had || nrow(e) != rows$head$events - known_events(bandit)) {
    stop_data("The store lacks rows of this bandit.", argument = "store")
  }
  asks <- e$kind %in% c("query", "given")
  asked <- had + cumsum(asks)
  if (sum(asks) != nrow(q)) stop_data("The store's queries and events do not fit.", argument = "store")
  refuse_rows("gpb_event", e$number, e$query < 0 | e$query > asked | (asks & e$query != asked) |
                (e$query < 1 & e$kind %in% c("query", names(recording))), "about a query that is not there")
  check_stored_points(bandit$config, q)
  text <- cpp_row_texts(q, e)
  refuse_rows("gpb_event", e$number, e$checksum != cpp_checksums(text, bandit$journal$checksum),
              "changed since it was written (its checksum is wrong)")
  invisible(rows)
}

check_row_types <- function(rows) {
  whole <- function(x) is.numeric(x) && all(is.finite(x)) && all(x == round(x)) && all(abs(x) < 2^31)
  number <- function(x) is.numeric(x) || all(is.na(x))
  text <- function(x) is.character(x) && !anyNA(x)
  rule <- function(table, data, columns, holds, what) {
    if (nrow(data) == 0) return(invisible())
    for (name in columns) {
      if (!holds(data[[name]])) {
        stop_data("The store's table ", table, " has values in column ", name, " that are not ", what, ".",
                  argument = "store")
      }
    }
  }
  rule("gpb_query", rows$queries, c("query", "context", "segment"), whole, "integers")
  rule("gpb_query", rows$queries, "arm", function(x) whole(x[!is.na(x)]) || all(is.na(x)), "integers")
  rule("gpb_query", rows$queries, c("mean", "sd", "width"), number, "numbers")
  rule("gpb_query", rows$queries, c("action", "numbers"), text, "text")
  rule("gpb_event", rows$events, c("number", "query"), whole, "integers")
  rule("gpb_event", rows$events, c("reward", "time"), number, "numbers")
  rule("gpb_event", rows$events, c("kind", "numbers"), text, "text")
  rule("gpb_event", rows$events, "checksum", is.numeric, "checksum")
  refuse_rows("gpb_event", rows$events$number, !rows$events$kind %in% names(event_kind), "of an unknown kind")
  refuse_rows("gpb_event", rows$events$number, is.infinite(as.double(rows$events$time)), "at no time")
  refuse_rows("gpb_query", rows$queries$query, !rows$queries$action %in% action_names, "of an unknown action")
  rewarded <- rows$events$kind %in% c("reward", "amend")
  refuse_rows("gpb_event", rows$events$number, rewarded & !is.finite(as.double(rows$events$reward)),
              "a reward that is no finite number")
}

refuse_rows <- function(table, number, bad, why) {
  bad <- which(bad | is.na(bad))
  if (length(bad)) {
    stop_data("Row ", number[bad[1]], " of the store's table ", table, " is ", why, ".", argument = "store")
  }
}

# The core does not check that points belong to the domain, so this function does.
check_stored_points <- function(config, q) {
  if (nrow(q) == 0) return(invisible())
  arms <- arm_count(config$domain)
  contexts <- if (is.null(config$contexts)) 1L else nrow(config$contexts)
  inside <- q$context >= 0 & q$context < contexts & q$segment >= 1 &
    (if (is.null(arms)) is.na(q$arm) else !is.na(q$arm) & q$arm >= 0 & q$arm < arms)
  refuse_rows("gpb_query", q$query, !inside, "a point that the bandit does not have")
  unknown <- !is.finite(as.double(q$mean)) | !is.finite(as.double(q$sd)) | q$sd < 0
  refuse_rows("gpb_query", q$query, unknown & is.null(config$rule), "without a mean and a standard deviation")
  numbers <- numbers_of(q$numbers, more_query_columns(config), "gpb_query")
  columns <- numbers[logged_inputs(config)]
  finite <- Reduce(`&`, lapply(columns, is.finite), rep(TRUE, nrow(q)))
  refuse_rows("gpb_query", q$query, !finite, "a point that is not finite")
  chosen <- input_ranges(config$domain)
  given <- data_ranges(config$domain)
  data <- q$action == "given"
  for (j in seq_len(min(length(columns), ncol(chosen)))) {
    range <- ifelse(matrix(data, 2, nrow(q), byrow = TRUE), given[, j], chosen[, j])
    slack <- 1e-9 * (chosen[2, j] - chosen[1, j])
    refuse_rows("gpb_query", q$query, columns[[j]] < range[1, ] - slack | columns[[j]] > range[2, ] + slack,
                "a point outside the bandit's domain")
  }
}

numbers_of <- function(text, columns, table, read = text_as_rows) {
  if (length(columns) == 0) return(list())
  catch_error(suppressWarnings(read(text, columns)), function(e) {
    stop_data("The store's table ", table, " has rows with too few or too many numbers.", argument = "store")
  })
}

# Rows of numbers as columns.
text_as_rows <- function(text, columns) {
  wording <- unlist(strsplit(text, " ", fixed = TRUE))
  values <- suppressWarnings(as.double(wording))
  if (any(is.na(values) & !wording %in% c("NA", "NaN"))) stop_fault("rows of other words than numbers")
  if (length(values) != length(text) * length(columns)) stop_fault("rows of the wrong length")
  values <- matrix(values, length(columns))
  rows <- lapply(seq_along(columns), function(k) suppressWarnings(`storage.mode<-`(values[k, ], typeof(columns[[k]]))))
  stats::setNames(rows, names(columns))
}

# The same for events, also in the format from before replicates and comparisons.
text_as_events <- function(text, columns) {
  later <- names(columns) %in% later_event_columns
  is_early <- length(text) > 0 && lengths(strsplit(text[1], " ", fixed = TRUE)) == sum(!later)
  if (!is_early) return(text_as_rows(text, columns))
  rows <- text_as_rows(text, columns[!later])
  rows[names(columns)[later]] <- lapply(columns[later], function(column) column[rep(NA_integer_, length(text))])
  rows[names(columns)]
}

# Rows of the database as columns of the log.
log_of_rows <- function(bandit, rows) {
  config <- bandit$config
  q <- rows$queries
  e <- rows$events
  queries <- c(list(arm = as.integer(q$arm), context = as.integer(q$context), action = match(q$action, action_names),
                    segment = as.integer(q$segment), mean = as.double(q$mean), sd = as.double(q$sd),
                    width = as.double(q$width)),
               numbers_of(q$numbers, more_query_columns(config), "gpb_query"))
  events <- c(list(kind = unname(event_kind[e$kind]), id = as.integer(e$query), reward = as.double(e$reward),
                   time = as.double(e$time), arms = as.character(ifelse(e$kind == "query", e$parameters, NA))),
              numbers_of(e$numbers, more_event_columns(config), "gpb_event", text_as_events))
  refits <- list()
  for (text in e$parameters[e$kind %in% names(believing)]) refits <- c(refits, list(stored_refit(text, bandit, refits)))
  list(queries = queries, events = events, refits = refits)
}

# The fields `reasons` and `notes` of a bandit after these rows.
text_of_rows <- function(bandit, e) {
  about <- function(kinds) {
    rows <- which(e$kind %in% names(kinds) & !is.na(e$parameters))
    list(as.integer(e$query[rows]), as.character(e$parameters[rows]))
  }
  list(reasons = do.call(reasons_with, c(list(bandit), about(giving_up))),
       notes = do.call(notes_with, c(list(bandit), about(noting))))
}

# The core replays the rows, and they are appended to the log.
play_rows <- function(bandit, rows) {
  new <- log_of_rows(bandit, rows)
  in_time <- utils::tail(configs_in_time(bandit$config, c(bandit$refits, new$refits)), length(new$refits))
  rebuild(bandit)
  play_columns(bandit, new$queries, new$events, lapply(in_time, core_config))
  played <- sync_log(bandit, bandit$handle, new$refits, written = TRUE, fields = text_of_rows(bandit, rows$events))
  if (!identical(played$kind, new$events$kind) || !identical(played$id, new$events$id)) {
    stop_data("the rows and the bandit's rules do not agree.")
  }
}

read_refit <- function(text, bandit) settings_from_text(text, bandit$journal$store$trust, "a refit in the store")

# `earlier`: the refits between those of the replica and this one.
stored_refit <- function(text, bandit, earlier = list()) {
  fit <- read_refit(text, bandit)
  as_package_errors({
    if (!is.list(fit)) stop_fault("it is no list")
    in_time <- configs_in_time(bandit$config, c(bandit$refits, earlier, list(fit)))
    config <- in_time[[length(in_time)]]
    check_fit(fit, config)
  }, function(...) stop_data("Cannot read a refit in the store: ", ..., argument = "store"))
  check_stored_settings(config)
  fit
}

# Adds the arms that some of the events contain.
grow_by_rows <- function(bandit, events) {
  if (!any(events$kind %in% "arms")) return(invisible())
  rebuild(bandit)
  fits <- lapply(events$parameters[events$kind == "arms"], read_refit, bandit = bandit)
  bandit$config <- as_package_errors(grown_config(bandit$config, fits), function(...) {
    stop_data("Cannot read new arms in the store: ", ..., argument = "store")
  })
}

# Only the queries of the new events are passed to the core.
play_columns <- function(bandit, new, events, refits) {
  config <- bandit$config
  had <- table_size(bandit$queries)
  spoken <- events$id[events$kind %in% event_kind[c("query", "given", "reward")]]
  first <- min(had, spoken - 1L)
  old <- first + seq_len(had - first)
  columns <- names(new)
  queries <- lapply(stats::setNames(columns, columns), function(name) {
    c(get(name, envir = bandit$queries)[old], new[[name]])
  })
  inputs <- logged_inputs(config)
  count <- had - first + length(new$arm)
  queries$inputs <- matrix(as.double(unlist(queries[inputs])), count, length(inputs))
  check_logged_inputs(config, queries$inputs)
  g_names <- constraint_names(config, "g")
  queries$g <- matrix(NA_real_, count, length(g_names))
  known <- events$kind %in% event_kind[c("reward", "given")]
  # (A point that was given without a reward has NA here.)
  for (j in seq_along(g_names)) queries$g[events$id[known] - first, j] <- events[[g_names[j]]][known]
  cpp_bandit_replay(bandit$handle, queries, logged_contexts(bandit, queries), events, refits, first, NULL,
                    integer())
}

# ---- writing --------------------------------------------------------------------

keep_change.bandit_store_log <- function(log, bandit, queries, events, refits, memory = NULL) {
  if (!log$active) {
    stop_state("A bandit in a store changes through its own methods only. Use `$copy()` for one outside the store.",
               argument = "bandit")
  }
  note_overwritten(bandit, events$id)
  if (length(events$kind) == 0) return(list())
  change <- list(queries = queries, events = events, refits = refits)
  if (is.list(log$held)) log$held <- c(log$held, list(change))
  else write_rows(log, bandit, change, table_size(bandit$queries), known_events(bandit))
  list()
}

# The rows of a change of the log that follow `had` queries and `known` events.
rows_of_change <- function(bandit, change, had, known) {
  q <- stored_queries(bandit, change$queries, had)
  e <- stored_events(bandit, change$events, change$refits, known)
  e$checksum <- cpp_checksums(cpp_row_texts(q, e), bandit$journal$checksum)
  list(queries = q, events = e, total = had + length(q$query))
}

write_rows <- function(log, bandit, change, had, known) {
  rows <- rows_of_change(bandit, change, had, known)
  write_part(log, list(rows = rows))
  log$checksum <- rows$events$checksum[length(rows$events$number)]
}

# A bandit's first row. `more(number)` is called within the transaction.
write_first_row <- function(store, settings, seed, more = NULL) {
  connection <- store$connection
  on.exit(sql_rollback(connection))
  found <- sql_begin(connection, paste0(
    "SELECT COALESCE(MAX(bandit), 0) AS last, COALESCE(MAX(CASE WHEN name = ", sql_literal(store$name, connection),
    " THEN 1 ELSE 0 END), 0) AS there, ", sql_clock(connection), " AS now FROM gpb_bandit"))
  if (found$there > 0) refuse_second(store$name)
  next_number <- as.integer(found$last) + 1L
  sql_insert(connection, "gpb_bandit",
             list(bandit = next_number, name = store$name, settings = settings, seed = seed,
                  attempts = store$attempts, budget = NA_integer_, created = as.double(found$now), events = 0L,
                  queries = 0L, checksum = 0))
  own <- sprintf("EXISTS (SELECT 1 FROM gpb_bandit WHERE bandit = %d AND name = %s AND created = '%.17g')",
                  next_number, sql_literal(store$name, connection), found$now)
  if (!is.null(more)) more(next_number)
  leave_trace(connection, own, paste("NOT", own), NULL)
  tryCatch(sql_commit(connection), gpbandits_store_error = function(e) {
    if (grepl("unique|duplicate", message_of(e), ignore.case = TRUE)) refuse_second(store$name)
    stop(e)
  })
  next_number
}

refuse_second <- function(name) {
  stop_gpbandits("store", "This store already has a bandit named ", dQuote(name, FALSE), ". Use another `name`, or ",
                 "open_bandit() to take part in that one.", argument = "store", kind = "exists", again = FALSE)
}

# Writes a part of a change: `rows` of the log, new `leases`, or leases that have `ended`. (The writes of a change that
# is computed ahead are kept.)
write_part <- function(log, part) {
  if (is.null(log$kept)) write_now(log, part) else log$kept <- c(log$kept, list(part))
  invisible()
}

write_now <- function(log, part) {
  if (!is.null(part$rows)) write_log_rows(log, part$rows)
  if (!is.null(part$leases)) write_leases(log, part$leases)
  if (!is.null(part$ended)) write_ends(log, part$ended)
}

write_log_rows <- function(log, rows) {
  e <- rows$events
  count <- length(e$number)
  e$at <- rep(log$head$now, count)
  columns <- function(x) c(list(bandit = rep(log$number, length(x[[1]]))), x)
  if (length(rows$queries)) sql_insert(log$connection, "gpb_query", columns(rows$queries))
  sql_insert(log$connection, "gpb_event", columns(e))
  sql_run(log$connection, sprintf("UPDATE gpb_bandit SET events = %d, queries = %d, checksum = %.0f WHERE bandit = %d",
                                  e$number[count], rows$total, e$checksum[count], log$number))
  trace_of_event(log, lapply(e, `[`, count))
}

# The last event of a change as its trace. (Two processes may record the same event, but the lock gives them different
# times. The event is deleted if the log is compacted.)
trace_of_event <- function(log, event) {
  same <- sprintf("bandit = %d AND number = %d", log$number, event$number)
  there <- function(...) paste0("EXISTS (SELECT 1 FROM gpb_event WHERE ", same, ..., ")")
  leave_trace(log$connection, there(sprintf(" AND checksum = %.0f AND at = '%.17g'", event$checksum, event$at)),
              paste(there(), "OR EXISTS (SELECT 1 FROM gpb_bandit WHERE bandit =", log$number, "AND events <",
                    event$number, ")"),
              log$store$name)
}

# (1e300 seconds: permanently.)
lease_text <- function(seconds) if (seconds < 1e300) sprintf("%.6f", seconds) else "1e300"

write_leases <- function(log, leases) {
  now <- sql_clock(log$connection)
  text <- function(x) sql_literal(x, log$connection)
  seconds <- lease_text(leases$seconds)
  rows <- paste(log$number, leases$query, leases$attempt, text(leases$worker), text(leases$token), text(leases$state),
                now, seconds, paste(now, "+", seconds), sep = ", ")
  sql_run(log$connection,
          "INSERT INTO gpb_lease (bandit, query, attempt, worker, token, state, since, seconds, expires) VALUES (",
          paste(rows, collapse = "), ("), ")")
  if (is.null(log$connection$trace)) {
    token <- paste0("EXISTS (SELECT 1 FROM gpb_lease WHERE token = ", text(leases$token[1]), ")")
    leave_trace(log$connection, token, paste("NOT", token), log$store$name)
  }
}

write_ends <- function(log, ended) {
  sql_run(log$connection, "UPDATE gpb_lease SET state = '", ended$state, "', ended = ", sql_clock(log$connection),
          if (!is.null(ended$reason)) paste0(", reason = ", sql_literal(ended$reason, log$connection)),
          " WHERE bandit = ", log$number, " AND query IN (", paste(as.integer(ended$query), collapse = ", "),
          ") AND ", not_ended)
}

# Evaluates code that changes the bandit several times within a transaction. The rows are written at the end.
write_together <- function(bandit, code) {
  log <- bandit$journal
  had <- table_size(bandit$queries)
  known <- known_events(bandit)
  log$held <- list()
  on.exit(log$held <- NULL)
  value <- code
  if (length(log$held)) write_rows(log, bandit, joined_changes(log$held), had, known)
  value
}

joined_changes <- function(changes) {
  if (length(changes) == 1) return(changes[[1]])
  columns <- function(part) {
    found <- Filter(function(one) length(one[[1]]) > 0, lapply(changes, `[[`, part))
    if (length(found) == 0) return(changes[[1]][[part]])
    # (By name: queries that R and the core have written have their columns in different orders.)
    names <- Filter(nzchar, names(found[[1]]))
    sapply(names, function(name) {
      each <- lapply(found, `[[`, name)
      do.call(if (is.matrix(each[[1]])) rbind else c, each)
    }, simplify = FALSE)
  }
  list(queries = columns("queries"), events = columns("events"),
       refits = unlist(lapply(changes, `[[`, "refits"), recursive = FALSE))
}

# `had`: the number of queries before these.
stored_queries <- function(bandit, queries, had) {
  count <- length(queries$arm)
  if (count == 0) return(list())
  names <- bandit$journal$more$inputs
  inputs <- matrix(as.double(unlist(queries[names], use.names = FALSE)), count, length(names))
  list(query = had + seq_len(count), arm = queries$arm, context = queries$context,
       action = action_names[queries$action], segment = queries$segment, mean = queries$mean, sd = queries$sd,
       width = queries$width, numbers = cpp_number_rows(queries[bandit$journal$more$query], count),
       place = json_rows(point_columns(bandit, queries$arm, queries$context, inputs)))
}

# `known`: the number of the event before these.
stored_events <- function(bandit, events, refits, known) {
  count <- length(events$kind)
  columns <- bandit$journal$more
  more <- if (length(columns$g)) c(events, g_columns(bandit$config, events$g)) else events
  more <- more[columns$event]
  parameters <- events$arms
  if (!is.null(events$text)) parameters <- ifelse(is.na(events$text), parameters, events$text)
  if (length(refits)) {
    parameters[events$kind %in% believing] <- vapply(refits, settings_text, "", trust = bandit$journal$store$trust)
  }
  list(number = known + seq_len(count), kind = names(event_kind)[match(events$kind, event_kind)],
       query = events$id, reward = events$reward, time = events$time, numbers = cpp_number_rows(more, count),
       parameters = parameters)
}

# One JSON object per row, for people and other programs, with fifteen digits.
json_rows <- function(columns) cpp_json_rows(columns)

keep_note.bandit_store_log <- function(log, bandit, name, value) list()

keep_reset.bandit_store_log <- function(log, bandit) {
  stop_state("A bandit in a store keeps its log, which others use too. Begin another one with another name, ",
             "or reset a `$copy()`.", argument = "store")
}

describe_log.bandit_store_log <- function(log) {
  sprintf("  store      %s, bandit %s", log$connection$kind, dQuote(log$store$name, FALSE))
}

# ---- random numbers ---------------------------------------------------------------

# Query k uses the k-th of the independent streams of the bandit's seed, whichever process makes the query.
query_stream <- function(log, id) {
  if (is.null(log$stream) || log$stream_at > id) {
    log$stream <- replication_seeds(log$seed, 1)[[1]]
    log$stream_at <- 1
  }
  while (log$stream_at < id) {
    log$stream <- parallel::nextRNGStream(log$stream)
    log$stream_at <- log$stream_at + 1
  }
  log$stream
}

play_in.bandit_store_log <- play_in_store

add_arms_in.bandit_store_log <- function(bandit, ...) {
  in_store(bandit, function() bandit_add_arms(bandit, ...))
}

rewrite_log.bandit_store_log <- function(bandit, new) {
  log <- bandit$journal
  list2env(rewritten_rows(log, bandit, new), log)
  list()
}

# Replaces the events in the database, and the queries if `new` has some. Returns the `base` and `checksum` of the new
# rows. They are numbered after a gap, by which other replicas detect that their events were replaced.
rewritten_rows <- function(log, bandit, new) {
  connection <- log$connection
  last <- known_events(bandit)
  count <- length(new$events$kind)
  e <- stored_events(bandit, with_text_after(bandit, new), new$refits, last)
  e$number <- last + 1L + seq_len(count)
  if (as.double(last) + count > 2147483640) {
    stop_store("The events' numbers are used up: begin a new bandit.", again = FALSE)
  }
  e$at <- times_reported(log, e)
  rows <- function(x) c(list(bandit = rep(log$number, length(x[[1]]))), x)
  of_this <- paste(" WHERE bandit =", log$number)
  q <- if (is.null(new$queries)) read_queries(log, 0L, table_size(bandit$queries))
       else stored_queries(bandit, new$queries, 0L)
  e$checksum <- cpp_checksums(cpp_row_texts(q, e), 0)
  sql_run(connection, "DELETE FROM gpb_event", of_this)
  sql_insert(connection, "gpb_event", rows(e))
  if (!is.null(new$queries)) {
    sql_run(connection, "DELETE FROM gpb_query", of_this)
    if (length(q)) sql_insert(connection, "gpb_query", rows(q))
  }
  checksum <- c(0, e$checksum)[count + 1]
  sql_run(connection, sprintf("UPDATE gpb_bandit SET events = %d, queries = %d, checksum = %.0f", last + 1L + count,
                              length(q$query), checksum), of_this)
  if (count) trace_of_event(log, lapply(e, `[`, count))
  list(base = last + 1L, checksum = checksum)
}

# The events of a shorter log with their reasons and notes.
with_text_after <- function(bandit, new) {
  events <- new$events
  first <- events$kind[1] %in% event_kind[["checkpoint"]]
  ids <- as.character(events$id + if (first) as.integer(events$size[1]) - events$other[1] else ids_before(bandit))
  text_of <- function(text) as.character(unname(text))[match(ids, names(text))]
  events$text <- ifelse(events$kind %in% giving_up, text_of(bandit$reasons),
                        ifelse(events$kind %in% noting, text_of(text_after(bandit$notes, new)), NA))
  c(events, list(g = matrix(0, length(events$kind), constraint_count(bandit$config))))
}

# The time at which each query's last event was written, for the view of the history.
times_reported <- function(log, e) {
  old <- sql_select(log$connection, c("query", "at"), "FROM gpb_event WHERE bandit = ", log$number,
                    " AND kind NOT IN ('refit', 'arms') ORDER BY number")
  at <- as.double(rev(old$at))[match(e$query, rev(old$query))]
  ifelse(is.na(at), log$head$now, at)
}

# Code that makes queries until none is left does not need this message.
without_budget_message <- function(code) suppressMessages(code, classes = "gpbandits_budget_spent")
