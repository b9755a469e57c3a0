# `work_on()`: a worker of a store. Layer: storage.

#' Run a worker for a bandit in a store
#'
#' `work_on()` runs a worker's loop: lease a query, evaluate it, report its reward, and repeat.
#'
#' The bandit is in a database, a [bandit_store()]. Any process on any machine that reaches this database can run the
#' loop, and can join or leave at any time.
#' [maximize_bandit()] with `store` and `workers` starts such workers automatically.
#'
#' @section Leases and interruptions: A lease is the time for which a query belongs to one worker (see
#' [bandit-leases]). While an evaluation runs, a second R process renews the lease after every third of `lease`,
#' even during long compiled code.
#'
#' * **Dead or stopped workers** (Ctrl-Z, SIGSTOP) do not renew their leases. After three missed renewals the query is
#'   offered again. If the worker comes back, its reward counts only if no other worker has reported one.
#' * **An interrupt** (Ctrl-C) gives the query back at once.
#' * **If the database cannot be reached** (server restarted, connection dropped), the worker tries again for `patience`
#'   seconds. A reward is neither lost nor counted twice.
#'
#' @section Time limits: With a finite `timeout`, `objective` runs in a second R process, which gets a copy of it and of
#' the objects of the workspace that it needs. If the evaluation takes longer, that process is ended, with the programs
#' that it has started: also in `Sys.sleep()`, `system()` and compiled code. The query is recorded as failed, with the
#' reason "timed out"; nothing that comes later counts. The next evaluation starts another process. This needs package
#' future.
#'
#' A limit that you have set by [setTimeLimit()] is another one. When it is reached, `work_on()` gives the query back
#' and stops with R's error.
#'
#' @section Random numbers: `objective` uses a substream of its query's stream (see [bandit_store()]). The same query
#' has the same random numbers in every process.
#'
#' @section Failed evaluations: An evaluation fails if it raises an error, or returns anything other than a finite
#' number. It is recorded by `$fail()` with the reason. So that the point is avoided, it is also added with the worst
#' reward observed so far (the prior mean if there is none). A result that is reported later, by `$observe(id, reward)`,
#' replaces that reward; the query stays failed.
#'
#' A worker ends early if its first ten evaluations fail for the same reason, while no evaluation of any worker has
#' succeeded. If all evaluations of a worker failed until it ends, and no other worker had a success, there is a warning
#' of class `gpbandits_no_success`. It quotes the first failure.
#'
#' @section Racing: In a search with [race_folds()], a worker takes a setting and evaluates its folds one after the
#' other, as `objective(point, fold)`. The setting is compared with the complete settings of all workers. Each fold's
#' result is in the store at once, so another worker that takes over the setting continues with the next fold.
#'
#' @param store a [bandit_store()] made with a path or a function. A connection that you opened works too, but without
#'   renewal of leases from a second process.
#' @param objective a function of one point, or of the inputs by name, as in [maximize_bandit()]; in a race
#'   ([race_folds()]) also of a fold. It returns the reward or, if the bandit has constraints, a list with `reward` and
#'   `constraints`.
#' @param until a function of this worker's replica (an up-to-date [GPBandit]) that returns `TRUE` to end the
#'   loop. `NULL` (default): the loop ends when the store's budget is spent, or, without a budget, never.
#' @param worker the worker's name, a string that no other worker has. `NULL` (default): made from the names of machine
#'   and process.
#' @param lease seconds without renewal after which a query is offered to another worker, a number > 0. Default 60.
#' @param timeout seconds that one evaluation may take, a number > 0. `Inf` (default): no limit. See *Time limits*.
#' @param heartbeat `TRUE` (default) renews leases from a second process. `FALSE` is enough if every evaluation is much
#'   shorter than `lease`.
#' @param patience seconds for which a database that does not answer is tried again, a number. Default 300.
#' @return Invisibly, the number of evaluations that this worker has reported.
#' @section Errors: A `gpbandits_error` that names the argument. Errors of `objective` are recorded, not raised.
#' @seealso [bandit_store()], [bandit-leases], [maximize_bandit()], the article "Many machines, one bandit".
#' @concept parallel optimization
#' @concept distributed optimization
#' @concept asynchronous Bayesian optimization
#' @concept worker
#' @examplesIf requireNamespace("RSQLite", quietly = TRUE) && requireNamespace("jsonlite", quietly = TRUE)
#' file <- tempfile(fileext = ".db")
#' gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, store = bandit_store(file, "demo", seed = 1))
#' work_on(bandit_store(file, "demo"), function(p) -(p$x1 - 0.3)^2,
#'         until = function(bandit) nrow(bandit$history()) >= 5, heartbeat = FALSE)
#' open_bandit(bandit_store(file, "demo"))$history()
#' @export
work_on <- function(store, objective, until = NULL, worker = NULL, lease = 60, timeout = Inf, heartbeat = TRUE,
                    patience = 300) {
  check_store(store)
  check_function(objective)
  if (!is.null(until)) check_function(until)
  worker <- if (is.null(worker)) worker_name() else check_string(worker)
  lease <- check_number(lease, lower = 0, open_lower = TRUE)
  timeout <- check_number(timeout, lower = 0, open_lower = TRUE, infinite = TRUE)
  check_flag(heartbeat)
  patience <- check_number(patience, lower = 0)
  bandit <- patiently(open_bandit(store), patience)
  objective <- as_objective(objective, bandit$config$domain$names)
  heartbeat_timer <- new_heartbeat_timer(if (heartbeat) store, lease)
  evaluator <- new_evaluator(objective, timeout)
  on.exit({
    heartbeat_timer$stop()
    evaluator$stop()
  })
  answered <- 0
  failures <- character()
  given_up <- FALSE
  catch_interrupt(tryCatch(repeat {
    if (!is.null(until)) {
      patiently(bandit$catch_up(), patience)
      if (isTRUE(call_user(until(bandit), "until", "for a worker's replica"))) break
    }
    race <- race_of_store(bandit)
    if (!is.null(race) && race_has_ended(bandit, patience)) break
    if (has_all_known(bandit, patience)) break
    query <- own_columns(patiently(without_budget_message(bandit$suggest(worker = worker, lease = lease)), patience),
                         given_names(bandit$config))
    if (nrow(query) == 0) {
      if (nothing_left(bandit, patience)) break
      next
    }
    heartbeat_timer$token(query$token)
    status <- (if (is.null(race)) evaluate_query else race_query)(bandit, query, evaluator, patience)
    heartbeat_timer$token("")
    answered <- answered + 1
    failures <- if (status %in% c("observed", "spent")) character() else c(failures, status)
    given_up <- !is.null(reason_of_failures(failures, Inf)) && nobody_succeeded(bandit)
    if (given_up) break
  }, error = function(e) {
    # (For example the caller's time limit, which may be reached during a query.)
    if (!inherits(e, "gpbandits_error")) give_back(bandit, worker)
    stop(e)
  }), function(i) give_back(bandit, worker))
  if (given_up || (answered > 0 && length(failures) == answered && nobody_succeeded(bandit))) {
    warn_of_failures(failure_text(failures), if (given_up) "worker")
  }
  invisible(answered)
}

evaluate_query <- function(bandit, query, evaluator, patience) {
  outcome <- evaluator$evaluate(query_task(query$id, bandit)$point,
                                parallel::nextRNGSubStream(query_stream(bandit$journal, query$id)))
  patiently(answer_query(bandit, query, outcome), patience)
}

worker_name <- function() sprintf("%s-%d-%s", Sys.info()[["nodename"]], Sys.getpid(), format(Sys.time(), "%H%M%S"))

nobody_succeeded <- function(bandit) {
  asked <- asked_queries(as.environment(bandit))
  !any(status_of(as.environment(bandit), asked) %in% c("observed", "partial"))
}

# Is every point known, by all workers' evaluations?
has_all_known <- function(bandit, patience) {
  inside <- as.environment(bandit)
  if (!repeats_come_last(inside$config)) return(FALSE)
  patiently(bandit$catch_up(), patience)
  is_exhausted(inside) && !any(status_of(inside, seq_len(table_size(inside$queries))) == "pending")
}

# Are all queries answered? While other workers evaluate the last ones, this function waits until there may be work
# again. (It takes no lock; otherwise a hundred waiting workers would block the active ones.)
nothing_left <- function(bandit, patience) {
  log <- bandit$journal
  for (pause in c(0.1, 0.2, 0.4, 0.8)) {
    state <- open_work(log, patience)
    if (state != "evaluated") return(state == "none")
    Sys.sleep(pause)
  }
  FALSE
}

# Records the reward of an evaluation, or its failure. A query that another worker has answered meanwhile does not
# change. It returns "observed", or the reason of the failure.
answer_query <- function(bandit, query, outcome) {
  bandit <- as.environment(bandit)
  of_form(bandit$config, "answer_query")(bandit, query, outcome)
}

answer_query_of_one <- function(bandit, query, outcome) {
  constraints <- if (is.list(outcome$value)) outcome$value$constraints
  if (is.list(outcome$value) && is.null(outcome$value$size)) outcome$value <- outcome$value$reward
  found <- read_outcome(outcome, query$attempt, bandit$config)
  in_store(bandit, function() {
    if (is_pending(bandit, query$id)) {
      if (is.na(found$reward)) fail_with_worst(bandit, query$id, found$status)
      else bandit_observe(bandit, query$id, found$reward, constraints, store_time(bandit), NULL, found$more$size)
      end_leases(bandit$journal, query$id, if (is.na(found$reward)) "failed" else "done",
                 if (is.na(found$reward)) found$status)
    }
  })
  found$status
}

# Values that another worker has recorded for the query are kept.
answer_query_of_several <- function(bandit, query, outcome) {
  found <- read_outcomes(outcome, query$attempt, bandit$config)
  failed <- all(is.na(found$values))
  in_store(bandit, function() {
    if (status_of(bandit, query$id) %in% c("pending", "partial")) {
      record_values(bandit, query$id, found$values, store_time(bandit), if (failed) found$status)
      end_leases(bandit$journal, query$id, if (failed) "failed" else "done", if (failed) found$status)
    }
  })
  found$status
}

# (If the database does not answer, the lease expires automatically.)
give_back <- function(bandit, worker) {
  log <- bandit$journal
  sql_rollback(log$connection)
  tryCatch(sql_change_now(log$connection, "UPDATE gpb_lease SET state = 'offered' WHERE bandit = ", log$number,
                          " AND state = 'open' AND worker = ", sql_literal(worker, log$connection)),
           gpbandits_store_error = function(e) NULL)
}

register_form("reward", answer_query = answer_query_of_one)
register_form("outcomes", answer_query = answer_query_of_several)
