# Print, summary and plot of stores. Layer: storage.

#' Monitor a bandit in a store
#'
#' `summary()` and `plot()` show the present state of a bandit in a [bandit_store()].
#'
#' They query the database, so they include the changes of all processes that work on the bandit.
#'
#' `plot()` draws two charts. The upper one has the rewards by the time of their arrival, and the best reward so far.
#' The lower one has a line for each worker with its leases: answered, under way, lost.
#'
#' @param object,x a [bandit_store()] in which a bandit has been begun.
#' @param type the charts to draw: `"all"` (default) for both, `"rewards"` for the upper one, `"leases"` for the lower
#'   one.
#' @param workers the largest number of workers to draw, an integer. Default 30. The latest ones are drawn.
#' @param main title of the upper chart, a string. `NULL` (default): the bandit's name.
#' @param ... must be empty.
#' @return `plot()`: the summary, invisibly. `summary()`: an object of class `summary_bandit_store`, a list with
#'
#' * `name`, `kind`: the bandit's name and the kind of database;
#' * `queries`, `events`: numbers of queries and events;
#' * `status`: number of queries by status;
#' * `working`: a data.frame of the queries under way, with columns `worker`, `id`, `attempt`, `since`
#'   (seconds ago) and `expires` (seconds from now; `Inf` without a lease);
#' * `workers`: a data.frame with columns `worker`, `answered`, `lost`, `failed` and `latest` (seconds ago);
#' * `per_minute`: answers per minute, over the last five minutes in which there were any;
#' * `best`: the row of the view `gpb_history` with the best reward; without rows if there are several outcomes, or if
#'   the settings contain code and `store` has no `trust = TRUE`.
#' @section Errors: A `gpbandits_error` if the store has no such bandit.
#' @seealso [bandit_store()].
#' @concept monitoring
#' @concept progress of workers
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE) && requireNamespace("jsonlite", quietly = TRUE)
#' store <- bandit_store(tempfile(fileext = ".db"), "demo", seed = 1)
#' b <- gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, store = store)
#' for (t in 1:5) {
#'   q <- b$suggest(worker = "me")
#'   b$observe(q$id, sin(6 * q$x1))
#' }
#' b$suggest(worker = "you")
#' summary(store)
#' plot(store)
#' @name store-methods
NULL

#' @rdname store-methods
#' @method summary bandit_store
#' @export
summary.bandit_store <- function(object, ...) {
  check_class(object, "bandit_store")
  check_dots_empty(...)
  connection <- object$connection
  head <- check_head(sql_rows(connection, head_row(connection, object$name)), object$name)
  leases <- store_leases(connection, head$bandit)
  history <- store_history(connection, object$name)
  objective <- stored_objective(object)
  now <- as.double(head$now)
  open <- leases[leases$state == "open", ]
  structure(list(
    name = object$name, kind = connection$kind, queries = head$queries,
    events = as.integer(sql_rows(connection, "SELECT COUNT(*) AS n FROM gpb_event WHERE bandit = ",
                                 head$bandit)$n), status = table(history$status),
    working = data.frame(worker = open$worker, id = open$query, attempt = open$attempt, since = now - open$since,
                         expires = open$expires - now),
    workers = by_worker(leases, now), per_minute = answers_per_minute(leases, now),
    best = history[which.max(objective$sign * history$reward), ], objective = objective, now = now, leases = leases,
    history = history
  ), class = "summary_bandit_store")
}

# The name of the only outcome and its sign, 1 if it is maximised. NA: several outcomes, or unreadable settings.
stored_objective <- function(store) {
  text <- sql_select(store$connection, "settings", "FROM gpb_bandit WHERE ", of_bandit(store))$settings
  config <- tryCatch(settings_in_store(text, store), gpbandits_error = function(e) NULL)
  if (is.null(config) || of_form(config, "several")) return(list(name = NULL, sign = NA_real_))
  list(name = objective_label(config), sign = output_sign(config))
}

store_leases <- function(connection, bandit) {
  found <- sql_select(connection, c("query", "attempt", "worker", "state", "since", "expires", "ended"),
                      "FROM gpb_lease WHERE bandit = ", bandit, " ORDER BY since")
  for (name in c("since", "expires", "ended")) found[[name]] <- as.double(found[[name]])
  found$state[found$state %in% c("shown", "kept")] <- "open"
  found$expires[found$expires > 1e299] <- Inf
  found$worker <- ifelse(is.na(found$worker), "(no name)", as.character(found$worker))
  found
}

store_history <- function(connection, name) {
  found <- sql_select(connection, c("id", "place", "action", "reward", "status", "worker", "attempt", "asked_at",
                              "answered_at", "reason"),
                      "FROM gpb_history WHERE bandit = ", sql_literal(name, connection), " ORDER BY id")
  for (column in c("reward", "asked_at", "answered_at")) found[[column]] <- as.double(found[[column]])
  found
}

by_worker <- function(leases, now) {
  leases <- leases[leases$attempt > 0, ]
  groups <- split(leases, leases$worker)
  count <- function(state) unname(vapply(groups, function(g) sum(g$state %in% state), 0L))
  data.frame(worker = as.character(names(groups)), answered = count("done"), lost = count("expired"),
             failed = count("failed"),
             latest = unname(vapply(groups, function(g) now - max(g$since, g$ended, na.rm = TRUE), 0)))
}

answers_per_minute <- function(leases, now) {
  ended <- leases$ended[leases$state == "done" & !is.na(leases$ended)]
  if (length(ended) == 0) return(0)
  recent <- ended[ended > max(ended) - 300]
  began <- min(leases$since[leases$state == "done" & leases$ended %in% recent])
  60 * length(recent) / max(max(recent) - began, 1e-3)
}

#' @export
print.summary_bandit_store <- function(x, ...) {
  cat(sprintf("Bandit %s in a store (%s): %d queries, %d events\n", dQuote(x$name, FALSE), x$kind, x$queries,
              x$events))
  if (length(x$status)) cat("  status     ", paste(x$status, names(x$status), collapse = ", "), "\n", sep = "")
  cat(sprintf("  answers    %.3g a minute\n", x$per_minute))
  if (nrow(x$best)) {
    cat(sprintf("  best observed  query %d, %s: %.5g\n", as.integer(x$best$id), x$best$place, x$best$reward))
  }
  show <- function(title, frame) {
    if (nrow(frame) == 0) return(invisible())
    cat("  ", title, ":\n", sep = "")
    print(frame, row.names = FALSE, digits = 3)
  }
  show("under way (seconds)", x$working)
  show("workers", x$workers)
  invisible(x)
}

#' @rdname store-methods
#' @method plot bandit_store
#' @export
plot.bandit_store <- function(x, type = c("all", "rewards", "leases"), workers = 30, main = NULL, ...) {
  check_dots_empty(...)
  type <- check_choice(type, c("all", "rewards", "leases"))
  workers <- check_count(workers)
  seen <- summary(x)
  old <- graphics::par(mfrow = c(if (type == "all") 2 else 1, 1), mar = c(3.2, 6, 2, 1))
  on.exit(graphics::par(old))
  start <- min(seen$leases$since[seen$leases$attempt > 0], seen$history$answered_at, seen$now, na.rm = TRUE)
  if (type != "leases") draw_arrivals(seen, start, or_else(main, sprintf("bandit %s", seen$name)))
  if (type != "rewards") draw_leases(seen$leases[seen$leases$attempt > 0, ], start, seen$now, workers)
  invisible(seen)
}

draw_arrivals <- function(seen, start, main) {
  known <- seen$history[!is.na(seen$history$reward), ]
  objective <- seen$objective
  known <- known[order(known$answered_at), ]
  frame <- check_frame(TRUE, NULL, NULL, "seconds since the first lease", or_else(objective$name, "result"), main)
  at <- known$answered_at - start
  key <- rbind(key_entry("result", mark$seen, pch = 16, size = 0.8),
               if (!is.na(objective$sign)) key_entry("best so far", mark$mean, lty = 1, lwd = 2))
  open_picture(frame, at, known$reward, key)
  graphics::points(at, known$reward, pch = 16, cex = 0.7, col = mark$seen)
  if (is.na(objective$sign)) return(invisible())
  graphics::lines(at, objective$sign * cummax(objective$sign * known$reward), type = "s", col = mark$mean, lwd = 2)
}

lease_colours <- c(done = mark$mean, open = mark$pending, expired = mark$next_choice, failed = "#000000")

draw_leases <- function(leases, start, now, workers) {
  latest <- tapply(leases$since, leases$worker, max)
  shown <- utils::tail(names(sort(latest)), workers)
  leases <- leases[leases$worker %in% shown & leases$state %in% names(lease_colours), ]
  end <- ifelse(is.na(leases$ended), now, leases$ended)
  frame <- check_frame(TRUE, NULL, NULL, "seconds since the first lease", NULL, "leases by worker")
  y <- match(leases$worker, shown)
  key <- do.call(rbind, Map(key_entry, c("answered", "under way", "lost", "failed"), lease_colours, lty = 1, lwd = 4))
  graphics::plot.new()
  graphics::plot.window(c(0, max(end - start, 1)), c(0.5, length(shown) + 1.5))
  graphics::segments(leases$since - start, y, end - start, y, col = lease_colours[leases$state], lwd = 4, lend = 1)
  graphics::axis(1, lwd = 0, lwd.ticks = 1, col.ticks = "grey60", tcl = -0.3, mgp = c(3, 0.5, 0))
  graphics::axis(2, at = seq_along(shown), labels = abbreviate(shown, 16), lwd = 0, las = 1, cex.axis = 0.7)
  graphics::title(xlab = frame$xlab, line = 2)
  graphics::title(main = frame$main, line = 0.7, cex.main = 1.1)
  draw_key(key, 4)
}
