# Leases of queries, by the database's clock. Layer: storage.

# Leases of queries, by the server's clock. A row of gpb_lease is one attempt at a query. Its `state` is one of
#   "open"       the query is being evaluated.
#   "shown"      the same for a visitor: the query is never offered to another.
#   "kept"       the query belongs permanently to the caller: no lease.
#   "offered"    the query waits for a worker; attempt 0 if it never had one.
#   "taken"      the query was offered and another attempt has started.
#   "expired", "done", "withdrawn", "failed".

store_suggest <- function(bandit, n, context, time, arms, fixed = NULL, worker = NULL, lease = NULL, visitor = FALSE,
                          ...) {
  check_dots_empty(..., allowed = c("worker", "lease", "visitor"))
  visitor <- check_flag(visitor) || (is.null(worker) && length(bandit$config$context_names) > 0)
  n <- check_count(n, upper = 1e6)
  if (!is.null(worker)) worker <- check_string(worker)
  if (!is.null(lease)) lease <- check_number(lease, lower = 0, open_lower = TRUE, infinite = TRUE)
  contexts <- with_fixed(with_arms(contexts_for(bandit, context, n), bandit, arms), bandit, fixed)
  if (!is.null(time) && goes_by_clock(bandit$config)) {
    stop_unused("time", "a store uses the clock of its server")
  }
  see <- leases_to_see(bandit, worker, lease, visitor)
  found <- in_store(bandit, function() lease_queries(bandit, n, contexts, worker, lease, visitor),
                    leases = see, single = n == 1 && is.null(see))
  if (nrow(found) < n) say_budget_is_spent(bandit, nrow(found), n)
  found
}

# Fewer queries than requested are returned only if the budget is spent.
say_budget_is_spent <- function(bandit, found, n) {
  if (isTRUE(bandit$config$noiseless) && !isTRUE(leased_queries(bandit$journal) >= bandit$journal$head$budget)) return()
  text <- sprintf("The store's budget of %d evaluations is spent: %s.", as.integer(bandit$journal$head$budget),
                   if (found) sprintf("%d of %d queries were left", found, as.integer(n)) else "no query is left")
  message(structure(class = c("gpbandits_budget_spent", "gpbandits_message", "message", "condition"),
                    list(message = paste0(text, "\n"), call = NULL)))
}

# The leases that a call needs. A call for a visitor returns the visitor's queries again, and those of nobody else. A
# call of a worker returns the worker's queries in the given context. A call without a lease (for people, whose
# experiments last days) never returns earlier queries. (So permanent leases are not read in each call.)
leases_to_see <- function(bandit, worker, seconds, visitor = FALSE) {
  if (is.null(seconds) || (visitor && is.null(worker))) return(NULL)
  connection <- bandit$journal$connection
  if (visitor) {
    return(paste0("l.state = 'shown' AND l.worker = ", sql_literal(worker, connection), " AND l.expires > ",
                  sql_clock(connection)))
  }
  open_now
}

# Runs within a transaction. The order is: the worker's open queries, then queries that wait or whose lease has expired,
# then new ones.
lease_queries <- function(bandit, n, contexts, worker, seconds, visitor = FALSE) {
  log <- bandit$journal
  earlier <- if (length(log$leases$query)) earlier_queries(bandit, n, contexts, worker, seconds)
  calls <- vapply(earlier, `[[`, 0L, "call")
  rest <- setdiff(seq_len(n), calls)
  left <- length(rest)
  budget <- suppressWarnings(as.double(log$head$budget))
  # (The number of leases cannot exceed the number of queries, so they are counted only near the end of the budget.)
  if (isTRUE(left > budget - log$head$queries)) left <- max(0, min(left, budget - leased_queries(log)))
  rest <- rest[seq_len(left)]
  new <- rows_with_points_left(bandit, subset_contexts(contexts, rest), needed = is.null(seconds))
  rest <- rest[new]
  fresh <- give_leases(log, ask_new(bandit, subset_contexts(contexts, rest)), worker, seconds, visitor)
  leased_frame(bandit, c(earlier, fresh)[order(c(calls, rest))])
}

# Earlier queries that are given to the worker, each with the number of the call that it answers.
earlier_queries <- function(bandit, n, contexts, worker, seconds) {
  log <- bandit$journal
  # (Queries with a result need no worker, whatever the state of their leases.)
  found <- some_leases(log$leases, is_pending(bandit, log$leases$query))
  own <- own_leases(bandit, found, contexts, worker)
  for (one in own) renew_lease(log, one$query, one$attempt, seconds)
  rest <- setdiff(seq_len(n), vapply(own, `[[`, 0L, "call"))
  taken <- take_over(bandit, free_leases(bandit, found, contexts), subset_contexts(contexts, rest), worker, seconds)
  c(own, lapply(taken, function(one) replace(one, "call", rest[one$call])))
}

# The worker's open queries that match a call, each with the number of that call.
own_leases <- function(bandit, found, contexts, worker) {
  mine <- some_leases(found, which(found$state %in% c("open", "shown") & found$worker %in% worker &
                                   !is.na(found$worker) &
                                     found$expires > bandit$journal$head$now))
  mine <- some_leases(mine, is_eligible(bandit, mine$query, contexts))
  call <- calls_of(bandit, mine$query, contexts)
  own <- Map(function(query, token, attempt, call) list(query = query, token = token, attempt = attempt, call = call),
             mine$query, mine$token, mine$attempt, call)
  own[!is.na(call)]
}

# Queries that wait for a worker, or whose lease has expired.
free_leases <- function(bandit, found, contexts) {
  run_out <- found$state == "open" & found$expires <= bandit$journal$head$now
  free <- some_leases(found, which(found$state == "offered" | run_out))
  some_leases(free, is_eligible(bandit, free$query, contexts))
}

# Are the arms of these queries eligible at present, and do they match the fixed inputs?
is_eligible <- function(bandit, ids, contexts) {
  here <- in_slice(bandit, ids, contexts$fixed)
  if (is.null(contexts$eligible)) here else here & contexts$eligible[bandit$queries$arm[ids] + 1L]
}

# The call that each of these queries answers: the first query in a context belongs to the first call with this context,
# and so on.
calls_of <- function(bandit, ids, contexts) {
  config <- bandit$config
  if (length(ids) == 0) return(integer())
  if (length(config$context_names) == 0 || !is.null(config$contexts)) {
    asked <- bandit$queries$context[ids]
    given <- contexts$row
  } else {
    inputs <- cpp_logged_inputs(bandit$queries, ids)
    asked <- row_keys(inputs[, seq_len(ncol(inputs)) > length(model_names(config$domain)), drop = FALSE] + 0)
    given <- row_keys(contexts$values + 0)
  }
  nth <- function(key) paste(stats::ave(seq_along(key), key, FUN = seq_along), key)
  match(nth(asked), nth(given))
}

# Queries without a worker, each with the number of the call that it answers; contexts must match. Queries with too many
# attempts are recorded as failed.
take_over <- function(bandit, free, contexts, worker, seconds) {
  log <- bandit$journal
  given_up <- free$state == "open" & free$attempt >= log$attempts
  for (k in which(given_up)) {
    reason <- sprintf("no answer in %d attempts", as.integer(free$attempt[k]))
    bandit_withdraw(bandit, free$query[k], failed = TRUE, reason = reason)
    end_leases(log, free$query[k], "failed", reason)
  }
  free <- some_leases(free, which(!given_up))
  call <- calls_of(bandit, free$query, contexts)
  lapply(which(!is.na(call)), function(k) {
    row <- some_leases(free, k)
    end_leases(log, row$query, if (row$state == "open") "expired" else "taken")
    c(give_leases(log, row$query, worker, seconds, attempt = row$attempt + 1L)[[1]], list(call = call[k]))
  })
}

# One query at a time: each query has its random numbers, and a refit may be due before any of them.
ask_new <- function(bandit, contexts) {
  first <- table_size(bandit$queries)
  ids <- first + seq_along(contexts$row)
  write_together(bandit, for (id in ids) {
    time <- clock_times(bandit, store_time(bandit), 1, latest_time(bandit), "the latest time so far")
    with_stream(query_stream(bandit$journal, id), ask_queries(bandit, 1, subset_contexts(contexts, id - first), time))
  })
  ids
}

# The number of queries that count towards a budget: all except those withdrawn.
leased_queries <- function(log) {
  as.double(sql_rows(log$connection, "SELECT COUNT(DISTINCT query) AS n FROM gpb_lease WHERE bandit = ", log$number,
                     " AND state <> 'withdrawn'")$n)
}

# Leases of some queries. The result is the input of leased_frame().
give_leases <- function(log, ids, worker, seconds, visitor = FALSE, attempt = 1L) {
  if (length(ids) == 0) return(list())
  tokens <- vapply(ids, function(id) random_token(), "")
  state <- if (is.null(seconds)) "kept" else if (visitor) "shown" else "open"
  write_part(log, list(leases = list(query = as.integer(ids), attempt = attempt, token = tokens, state = state,
                                     worker = or_else(worker, NA_character_), seconds = lease_seconds(seconds))))
  lapply(seq_along(ids), function(k) list(query = ids[k], token = tokens[k], attempt = attempt))
}

# 128 bits from the system's generator, which cannot be predicted. (R's generator can be, and belongs to the user.)
random_token <- function() cpp_hex_from_raw(cpp_random_bytes(16L))

lease_seconds <- function(seconds) if (!is.null(seconds) && is.finite(seconds)) seconds else 1e300

renew_lease <- function(log, id, attempt, seconds) {
  length <- lease_text(lease_seconds(seconds))
  sql_run(log$connection, "UPDATE gpb_lease SET seconds = ", length, ", expires = ", sql_clock(log$connection), " + ",
          length,
          " WHERE bandit = ", log$number, " AND query = ", id, " AND attempt = ", attempt)
}

end_leases <- function(log, ids, state, reason = NULL) {
  if (length(ids)) write_part(log, list(ended = list(query = as.integer(ids), state = state, reason = reason)))
}

# The queries in the form of $suggest(), with their tokens.
leased_frame <- function(bandit, leases) {
  column <- function(name) unlist(lapply(leases, `[[`, name))
  columns <- unclass(query_frame(bandit, as.integer(column("query"))))
  attr(columns, "row.names") <- NULL
  own <- list(token = as.character(column("token")), attempt = as.integer(column("attempt")))
  cpp_frame(c(columns, distinct_columns(own, given_names(bandit$config))))
}

# ---- answers ----------------------------------------------------------------------

store_observe <- function(bandit, id, reward, constraints, time, noise_var, token = NULL, ...) {
  force_arguments()
  ids <- ids_reported(id)
  change <- function(reward) {
    check_tokens(bandit, ids, token)
    stood <- if (is.numeric(ids) && length(ids) == 1) stand_in_of(bandit, ids)
    if (length(stood)) bandit_amend(bandit, stood, if (is.data.frame(id)) id$reward else reward)
    else bandit_observe(bandit, id, reward, constraints, or_else(time, store_time(bandit)), noise_var, ...)
    end_leases(bandit$journal, settled_among(bandit, ids), "done")
  }
  in_store(bandit, given_reward(change, reward), leases = tokens_in_sql(ids, token, bandit$journal$connection),
           single = length(ids) == 1, given = given_tokens(ids, token))
  invisible(bandit)
}

# The queries that are not pending in any outcome.
settled_among <- function(bandit, ids) ids[!status_of(bandit, ids) %in% c("pending", "partial")]

ids_reported <- function(id) if (is.data.frame(id)) check_data_frame(id, "id")$id else id

store_withdraw <- function(bandit, id, failed, outcome = NULL, reason = NULL, token = NULL, ...) {
  force_arguments()
  in_store(bandit, function() {
    check_tokens(bandit, id, token)
    bandit_withdraw(bandit, id, failed, outcome, reason, ...)
    end_leases(bandit$journal, settled_among(bandit, id), if (failed) "failed" else "withdrawn", reason)
  }, leases = tokens_in_sql(id, token, bandit$journal$connection), single = length(id) == 1,
  given = given_tokens(id, token))
  invisible(bandit)
}

store_amend <- function(bandit, id, reward, token = NULL, ...) {
  force_arguments()
  change <- function(reward) {
    check_tokens(bandit, id, token)
    bandit_amend(bandit, id, reward, ...)
  }
  in_store(bandit, given_reward(change, reward), leases = tokens_in_sql(id, token, bandit$journal$connection),
           single = length(id) == 1, given = given_tokens(id, token))
  invisible(bandit)
}

# `change` with this reward, which may be missing. (A function inside another cannot pass on its missing argument.)
given_reward <- function(change, reward) if (missing(reward)) function() change() else function() change(reward)

# The server's time for pending rules that use clock time.
store_time <- function(bandit) if (goes_by_clock(bandit$config)) max(bandit$journal$head$now, latest_time(bandit))

# Adds points that wait for a worker.
offer_points <- function(bandit, x) {
  log <- bandit$journal
  had <- table_size(bandit$queries)
  bandit_add(bandit, x, arm = NULL, constraints = NULL, context = NULL, time = store_time(bandit), noise_var = NULL)
  ids <- seq(had + 1L, table_size(bandit$queries))
  each <- function(value) rep(value, length(ids))
  sql_insert(log$connection, "gpb_lease",
             list(bandit = each(log$number), query = ids, attempt = each(0L), token = each(""),
                  state = each("offered"), since = each(0), seconds = each(0), expires = each(0)))
}

# Tokens are searched for among the leases of their queries, because these have an index.
tokens_in_sql <- function(id, token, connection) {
  if (!is_text(token) || length(token) == 0 || !is_number(id)) return(NULL)
  id <- unique(id[is.finite(id) & id >= 1 & id < 2^31])
  paste0("l.query IN (", paste(c(0L, as.integer(id)), collapse = ", "), ") AND l.token IN (",
         paste(sql_literal(token, connection), collapse = ", "), ")")
}

given_tokens <- function(id, token) if (!is.null(token)) list(id = id, token = token)

# A token must have been issued for its query, at any time. (A change that is computed ahead is checked when it is
# written.)
check_tokens <- function(bandit, id, token) {
  if (is.null(token)) return(invisible())
  if (!is_text(token) || length(token) != length(id)) {
    stop_argument("token", describe(token), sprintf("NULL, or %s from $suggest()", amount_of(length(id), "token")))
  }
  id <- check_numbers(id, "id")
  if (!is.null(bandit$journal$kept)) return(invisible())
  found <- bandit$journal$leases
  wrong <- which(is.na(match(paste(id, token), paste(found$query, found$token))))
  if (length(wrong)) {
    stop_argument("token", sprintf("%s for query %g", quoted(token[wrong[1]]), id[wrong[1]]),
                  "the token that $suggest() gave with the query")
  }
}

#' Leases of queries in a store
#'
#' `$renew()` of a bandit in a [bandit_store()] renews the lease of a query while its evaluation continues. Call it
#' about every third of the lease. [work_on()] does so automatically.
#'
#' A lease is the time after which a query without a reward may be given to another worker. If the server's clock is set
#' back, leases last longer by that time until they are renewed. The method of a bandit in a
#' [bandit_store()] is `$suggest(n = 1, context = NULL, worker = NULL, lease = NULL, visitor = FALSE)`. Its data.frame
#' has two more columns: `token` (128 bits of the system's random numbers) and `attempt`.
#'
#' @section Without a lease: This is the default, because experiments by people can take days. Every call suggests a new
#' query. The query stays pending until it is observed, failed or withdrawn. It is never offered to another worker, and
#' time does not fail it.
#'
#' @section With a lease: `lease` is in seconds of the server's clock, and the query is leased to `worker`.
#'
#' * A query whose lease has ended is offered to the next client that asks for a lease, `attempts` times in all. Then
#'   it is failed, as by `$fail()`.
#' * A worker that asks again gets its own open queries again. Without `worker` every call suggests a new query.
#' * A late reward, after the end of the lease, is accepted while the query is open. A token that was never given out is
#'   an error.
#' * [work_on()] asks for 60 seconds, and renews the lease.
#'
#' @section Contexts and visitors: A query suggested in a context without `worker`, or with `visitor = TRUE`, is a
#' decision for one visitor. It is never offered to another, and is never failed because a lease has ended. A `worker`
#' gets it again in the same context while its lease lasts. A query that a `worker` asked for in a context with a lease
#' is work for a fleet: when its lease has ended, it is offered again in the same context, to workers only.
#'
#' @section Renewal: The method is `$renew(token)`, where `token` is the one that `$suggest()` returned with the query,
#' or several. It returns the number of leases that were renewed. That is 0 if the query has been observed, given up or
#' given to another worker, or never had a lease. Nothing else of the bandit changes.
#' @seealso [bandit_store()], [work_on()].
#' @concept lease
#' @concept heartbeat
#' @concept distributed optimization
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE) && requireNamespace("jsonlite", quietly = TRUE)
#' store <- bandit_store(tempfile(fileext = ".db"), "demo")
#' b <- gp_ucb(1:9 / 9, kernel_se(0.2), noise_var = 0.01, store = store)
#' q <- b$suggest(worker = "me", lease = 30)
#' b$renew(q$token)
#' @name bandit-leases
NULL

bandit_renew <- function(bandit, token) {
  if (!is_stored(bandit)) {
    stop_state("Leases need a bandit in a store: use gp_bandit(..., store = ) or open_bandit().")
  }
  renew_leases(bandit$journal$store, token)
}

renew_leases <- function(store, token) {
  if (!is_text(token) || length(token) == 0) {
    stop_argument("token", describe(token), "a token, or several")
  }
  connection <- store$connection
  sql_change_now(connection, "UPDATE gpb_lease SET expires = ", sql_clock(connection), " + seconds WHERE ",
                 of_bandit(store), " AND state IN ('open', 'shown') AND token IN (",
                 paste(sql_literal(token, connection), collapse = ", "), ")")
}

suggest_in.bandit_store_log <- store_suggest
observe_in.bandit_store_log <- store_observe
amend_in.bandit_store_log <- store_amend
withdraw_in.bandit_store_log <- store_withdraw

add_in.bandit_store_log <- function(bandit, x, arm, reward, constraints, context, time, ...) {
  force_arguments()
  change <- function(reward) {
    add_given(bandit, x, arm, reward, constraints, context, or_else(time, store_time(bandit)), ...)
  }
  in_store(bandit, given_reward(change, reward))
}

# Repeats a call while the database does not answer, unless a repetition cannot help.
patiently <- function(code, patience) {
  again <- substitute(code)
  frame <- parent.frame()
  began <- Sys.time()
  pause <- 0.1
  repeat {
    value <- tryCatch(list(eval(again, frame)), gpbandits_store_error = identity)
    if (!inherits(value, "error")) return(value[[1]])
    if (isFALSE(value$again) || seconds_since(began) > patience) stop(value)
    Sys.sleep(pause)
    pause <- min(2 * pause, 5)
  }
}

# The open leases, read without a lock, and the database's time `now`.
open_leases <- function(connection, name, patience) {
  found <- patiently(sql_rows(connection, head_row(connection, name, open_now)), patience)
  c(leases_in(found), list(now = found$now[1]))
}

# Is there a query without a result? "none"; "free", a worker can take one over; or all of them are being "evaluated".
open_work <- function(log, patience) {
  leases <- open_leases(log$connection, log$store$name, patience)
  if (length(leases$query) == 0) return("none")
  if (any(leases$state == "offered" | leases$expires <= leases$now)) "free" else "evaluated"
}

is_pending <- function(bandit, id) status_of(bandit, id) == "pending"

# Records a failure and adds its point with the worst reward so far, so that the point is avoided.
fail_with_worst <- function(bandit, id, reason) {
  bandit_withdraw(bandit, id, failed = TRUE, reason = reason)
  config <- current_config(bandit)
  if (!is.null(config$failures)) return(invisible())
  if (length(config$context_names) || constraint_count(config) > 0) return(invisible())
  worst <- worst_reward(table_column(bandit$queries, "reward"), config)
  if (is.na(worst)) {
    # There is no bad value yet: if rewards are scaled, there is no natural choice.
    if (!is.null(config$outputs) || has_response(config)) return(invisible())
    worst <- mean(config$mean)
  }
  x <- query_frame(bandit, id)[config$domain$names]
  bandit_add(bandit, x, NULL, worst, NULL, NULL, store_time(bandit), NULL)
}

# The point that fail_with_worst() has added for a failed query; NULL if there is none. It is the event after the
# failure, at the same point, with the worst reward observed before.
stand_in_of <- function(bandit, id) {
  if (!isTRUE(id >= 1 && id <= table_size(bandit$queries) && id == round(id))) return(NULL)
  if (status_of(bandit, id) != "failed") return(NULL)
  if (of_form(bandit$config, "several") || !is.null(bandit$config$failures)) return(NULL)
  events <- bandit$events
  kind <- table_column(events, "kind")
  failed <- max(which(kind == event_kind[["fail"]] & table_column(events, "id") == id))
  if (failed == length(kind) || kind[failed + 1] != event_kind[["given"]]) return(NULL)
  there <- table_column(events, "id")[failed + 1]
  points <- logged_points(bandit, c(id, there))
  if (!identical(points$inputs[1, ], points$inputs[2, ])) return(NULL)
  before <- seq_len(failed - 1)
  known <- before[kind[before] %in% event_kind[c("reward", "given", "amend")]]
  last <- !duplicated(table_column(events, "id")[known], fromLast = TRUE)
  worst <- worst_reward(table_column(events, "reward")[known[last]], bandit$config)
  if (is.na(worst)) worst <- mean(current_config(bandit)$mean)
  if (identical(table_column(events, "reward")[failed + 1], as.double(worst))) there
}
