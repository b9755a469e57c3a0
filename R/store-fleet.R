# Searches whose evaluations are made by workers of a store. Layer: storage.

# maximize_bandit() over a store: the points of the design wait in the store for any worker, workers run work_on(), and
# the driver only starts and monitors them.

# `search`: a list of `points` (the design), `known` (points with rewards), `evaluations`, `race`, `verbose`. `bar`: see
# with_bar().
maximize_in_store <- function(objective, bandit, search, store, workers, timeout, attempts, bar = NULL) {
  check_store(store)
  workers <- check_count(workers)
  store$attempts <- as.integer(attempts)
  if (workers > 1 && is.null(store$connection$connect)) {
    stop_argument("store", "one made with a connection, which cannot be sent to workers",
                  "a store made with a path, or with a function that makes a connection")
  }
  bandit <- open_search_in(store, bandit, search)
  interrupted <- FALSE
  report <- store_reporter(bandit, search, bar)
  reporting <- function(replica) {
    report()
    FALSE
  }
  tryCatch({
    if (workers == 1) work_silently(store, objective, timeout, until = reporting)
    else run_fleet(store, objective, workers, timeout, report = report)
  }, interrupt = function(i) interrupted <<- TRUE)
  patiently(bandit$catch_up(), 300)
  report()
  found <- patiently(new_store_maximum(bandit, store, interrupted), 300)
  warn_without_success(history_of(found), bandit$config, if (!interrupted) found$hopeless)
  found
}

# The warning that no evaluation succeeded is raised once, at the end of the search.
work_silently <- function(store, objective, timeout, worker = NULL, until = NULL) {
  suppressWarnings(work_on(store, objective, timeout = timeout, worker = worker, until = until),
                   classes = "gpbandits_no_success")
}

# A function that reports the evaluations since its last call, by any worker: a message for each evaluation, and steps
# of the progress bar.
store_reporter <- function(bandit, search, bar) {
  if (!search$verbose && is.null(bar)) return(function() NULL)
  patiently(bandit$catch_up(), 300)
  said <- nrow(answered_in_store(bandit))
  steps <- 0
  function() {
    patiently(bandit$catch_up(), 300)
    history <- answered_in_store(bandit)
    race <- race_of_store(bandit)
    spent <- if (is.null(race)) nrow(history) else spent_folds(patiently(stored_folds(bandit$journal, race), 300))
    for (k in said + seq_len(nrow(history) - said)) {
      so_far <- list(bandit = bandit, evaluations = search$evaluations, history = history[seq_len(k), ])
      if (search$verbose) message(evaluation_line(so_far, number = if (is.null(race)) k else spent))
    }
    if (!is.null(bar)) for (step in seq_len(spent - steps)) bar()
    said <<- nrow(history)
    steps <<- spent
  }
}

# The finished evaluations of a search, in the form of a search's history and in the order in which they finished.
answered_in_store <- function(bandit) {
  config <- bandit$config
  inside <- as.environment(bandit)
  events <- lapply(c(kind = "kind", id = "id"), function(name) table_column(inside$events, name))
  reported <- unique(events$id[events$kind %in% event_kind[c("reward", "withdraw", "fail")]])
  ids <- reported[reported > or_else(config$search$known, 0) & status_of(inside, reported) %in% c("observed", "failed")]
  rows <- bandit_history(inside)[ids, , drop = FALSE]
  reasons <- reasons_of(inside, ids)
  status <- ifelse(is.na(reasons), ifelse(status_of(inside, ids) == "failed", "failed", "observed"), reasons)
  said <- stats::setNames(rows[outcome_names(config)], said_columns(config))
  cbind(rows[config$domain$names], distinct_columns(c(as.list(said), list(status = status)), config$domain$names))
}

# The bandit of the store, created if necessary. The first process adds the known points and the design.
open_search_in <- function(store, bandit, search) {
  config <- bandit$config
  known <- of_form(config, "known_values")(search$known)
  config$search <- c(list(known = if (all(is.na(known))) 0L else length(known)),
                     if (!is.null(search$race)) list(race = search$race))
  if (!is.null(search$race)) make_fold_table(store$connection)
  bandit$config <- config
  own <- tryCatch({
    start_store(as.environment(bandit), store)
    bandit
  }, gpbandits_exists = function(e) {
    theirs <- open_bandit(store)
    check_same_search(theirs$config, config, store$name, "store")
    theirs
  })
  inside <- as.environment(own)
  in_store(inside, function() {
    if (table_size(inside$queries) == 0) {
      add_in_order(own, search$known)
      if (nrow(search$points)) offer_points(inside, search$points)
    }
    sql_run(store$connection, "UPDATE gpb_bandit SET budget = ", sprintf("%d", as.integer(search$evaluations)),
            " WHERE bandit = ",
            inside$journal$number)
  })
  own
}

# The design of a search. It is drawn from the store's seed, so that every driver draws the same points.
search_design <- function(domain, count, store, prior = NULL) {
  drawn_for(store, drawn_design(domain, count, prior))
}

drawn_for <- function(store, code) {
  check_store(store)
  if (is.null(store$seed)) return(code)
  with_stream(parallel::nextRNGSubStream(replication_seeds(store$seed, 1)[[1]]), code)
}

# ---- workers ---------------------------------------------------------------------------

# `grace`: the number of seconds without any leased query, after a worker has finished. Workers that have not finished
# by then are stopped or lost.
run_fleet <- function(store, objective, workers, timeout, grace = 60, report = function() NULL) {
  crew <- if (use_mirai()) mirai_crew(workers) else future_crew(workers)
  on.exit(crew$stop())
  needs <- workspace_needs(functions_of_objective(objective))
  begun <- 0
  begin <- function() {
    begun <<- begun + 1
    name <- sprintf("%s-%d", worker_name(), as.integer(begun))
    drop_connection(store$connection)                              # a forked worker must not inherit it
    given <- list(store = store, objective = objective, timeout = timeout, worker = name, workspace = needs$globals,
                  packages = needs$packages)
    list(name = name, task = crew$begin(packed_call(fleet_worker, given)))
  }
  tasks <- lapply(seq_len(workers), function(k) begin())
  failures <- seen <- 0
  idle <- NULL
  while (length(tasks)) {
    ended <- lapply(tasks, function(one) crew$ended(one$task))
    over <- !vapply(ended, is.null, NA)
    lost <- vapply(ended, inherits, NA, "error")
    for (one in tasks[lost]) patiently(end_worker(store, one$name), 300)
    # The number of failed workers is not limited, provided that there is progress between the failures.
    if (any(lost)) {
      events <- patiently(sql_rows(store$connection, head_row(store$connection, store$name))$events, 300)
      failures <- sum(lost) + if (events == seen) failures else 0
      seen <- events
    }
    if (failures > 3 * workers + 10) {
      stop_gpbandits("evaluation", "The workers end before they have evaluated anything: ",
                     message_of(ended[lost][[1]]), argument = "workers", parent = ended[lost][[1]])
    }
    tasks <- c(tasks[!over], lapply(which(lost), function(k) begin()))
    if (any(over & !lost) || (!is.null(idle) && somebody_works(store))) idle <- Sys.time()
    if (!is.null(idle) && seconds_since(idle) > grace) break
    report()
    if (!any(over)) Sys.sleep(if (is.null(idle)) 0.05 else min(0.2, grace))
  }
}

# Is there a lease that has not expired?
somebody_works <- function(store) {
  leases <- open_leases(store$connection, store$name, 300)
  any(leases$expires > leases$now)
}

# The leases of a dead worker expire immediately.
end_worker <- function(store, name) {
  connection <- store$connection
  sql_change_now(connection, "UPDATE gpb_lease SET expires = 0 WHERE ", of_bandit(store),
                 " AND state = 'open' AND worker = ", sql_literal(name, connection))
}

# Runs in the process of a worker.
fleet_worker <- function(store, objective, timeout, worker, workspace, packages) {
  use_workspace(workspace, packages)
  work_silently(store, objective, timeout, worker)
}

# mirai is used if it is installed, unless the user has set a future plan and has no daemons.
use_mirai <- function() {
  if (!has_package("mirai")) return(FALSE)
  has_daemons() || !has_package("future") || inherits(future::plan(), "sequential")
}

has_daemons <- function() {
  isTRUE(attempt(mirai::status()$connections > 0))
}

# A call for another process, with the library paths: when R reads a function, it loads the package that the function is
# from.
packed_call <- function(f, arguments) {
  list(libraries = .libPaths(), call = serialize(list(f, arguments), NULL))
}

# Evaluates such a call in a worker's process. (It is in the base namespace, so that nothing of this package is sent
# along.)
run_packed <- function(packed) {
  .libPaths(unique(c(packed$libraries, .libPaths())))
  do.call(do.call, unserialize(packed$call))
}
environment(run_packed) <- baseenv()
packed_task <- quote(run(packed))

# A crew is a list of three functions. `begin(packed)` starts a task and returns it. `ended(task)` is NULL while the
# task runs, an error if its process has died or could not start, and else TRUE. `stop()` ends the crew.

# Uses the user's daemons (local, SSH, cluster), or else starts daemons; those that die are replaced.
mirai_crew <- function(workers) {
  own <- !has_daemons()
  profile <- if (own) sprintf("gpbandits%d", Sys.getpid()) else NULL
  if (own) mirai::daemons(workers, dispatcher = FALSE, .compute = profile)
  list(begin = function(packed) mirai::mirai(packed_task, run = run_packed, packed = packed, .compute = profile),
       ended = function(task) {
         if (mirai::unresolved(task)) return(NULL)
         value <- task$data
         if (mirai::is_mirai_error(value)) return(simpleError(as.character(value)))
         if (!mirai::is_error_value(value)) return(TRUE)
         if (own) mirai::launch_local(1, .compute = profile)
         simpleError(paste("a daemon was lost, error", as.integer(value)))
       },
       stop = function() if (own) mirai::daemons(0, .compute = profile))
}

future_crew <- function(workers) {
  need_package("future", "workers")
  if (workers > future::nbrOfWorkers()) {
    stop_argument("workers", format(workers),
                  sprintf("at most the %s of the future plan, or 1 to any number with package mirai",
                          amount_of(future::nbrOfWorkers(), "worker")))
  }
  list(begin = function(packed) {
         if (free_workers() == 0) restart_plan()
         future::future(packed_task, substitute = FALSE, globals = list(run = run_packed, packed = packed), seed = NULL)
       },
       ended = function(task) {
         state <- ended_future(task)
         if (identical(state, FALSE)) return(NULL)
         if (inherits(state, "error")) return(state)
         catch_error({
           future::value(task)
           TRUE
         }, identity)
       },
       stop = function() NULL)
}

# ---- the result ---------------------------------------------------------------------------

new_store_maximum <- function(bandit, store, interrupted) {
  log <- bandit$journal
  names <- bandit$config$domain$names
  known <- bandit$config$search$known
  history <- bandit$history()
  leases <- sql_select(store$connection, c("query", "state", "reason"), "FROM gpb_lease WHERE bandit = ", log$number,
                       " AND state IN ('done', 'failed')")
  shown <- history$id <= known | history$id %in% leases$query
  failed <- history$id %in% leases$query[leases$state == "failed"]
  reason <- leases$reason[match(history$id, ifelse(leases$state == "failed", leases$query, NA))]
  said <- stats::setNames(history[outcome_names(bandit$config)], said_columns(bandit$config))
  partly <- of_form(bandit$config, "several") & rowSums(is.na(said)) > 0
  status <- ifelse(history$id <= known, "given", ifelse(failed, reason, ifelse(partly, "partial", "observed")))
  own <- cbind(said, status = status)[shown, ]
  ids <- history$id[shown]
  race <- race_of_store(bandit)
  if (!is.null(race)) {
    folds <- stored_folds(log, race)
    own <- raced_history(own, ids, folds)
    race <- race_report_of_store(race, own, ids, folds)
  }
  tried <- own[own$status != "given", ]
  history <- cbind(history[shown, names, drop = FALSE], distinct_columns(own, names))
  row.names(history) <- NULL
  # (A replica may have read its head row before the search set the budget.)
  budget <- as.double(sql_select(store$connection, "budget", "FROM gpb_bandit WHERE bandit = ", log$number)$budget)
  spent <- if (is.null(race)) nrow(tried) else race$spent
  hopeless <- if (isTRUE(spent < budget) && all(says_nothing(tried, bandit$config))) reason_of_failures(tried$status, 0)
  new_maximum(history, bandit, interrupted = interrupted, hopeless = hopeless, race = race)
}

# The initial points of a search with earlier campaigns. Only these are fixed; the bandit chooses the others.
transfer_design <- function(bandit, count, certain, prior, store = NULL) {
  config <- bandit$config
  draw <- function() design_from_prior(config$domain, count, prior, transfer_first(bandit))
  points <- if (is.null(store)) draw() else drawn_for(store, draw())
  if (count > certain && !lacks_rewards(config$transfer)) {
    bandit$config$design <- subset_points(points, seq(certain + 1, count))
    bandit$config$transfer$optional <- as.integer(count - certain)
    points <- subset_points(points, seq_len(certain))
  }
  user_inputs(config$domain, points)
}

register_form("reward", known_values = function(known) known$reward)
register_form("outcomes", known_values = function(known) known$failed)
