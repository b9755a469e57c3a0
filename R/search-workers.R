# Parallel workers that evaluate an objective. Layer: search.

# Pools evaluate an objective in this process, or on the workers of the user's future plan. A pool is a list of
# functions:
#   `free()`        can it accept a task now?
#   `busy()`        the number of its tasks.
#   `submit(task)`  starts a task.
#   `wait()`        waits until a task has finished, if any is running.
#   `look()`        checks which tasks have finished.
#   `take()`        returns the finished tasks once, as a list of task and outcome each.
# A task is a list with `point` (a named vector, or a list). An outcome is a list with one of three fields: `value`,
# `error` (of the objective), or `lost` (the reason for which the evaluation did not finish).

# This function runs where the evaluation runs, perhaps on a machine without this package, so it uses base R only. R's
# time limit stops computations but not Sys.sleep(). A worker on this machine therefore writes its process id to the
# file `whereabouts`, so that it can be interrupted. In this process (`whereabouts` NULL) an interrupt comes from the
# user. `workspace`: the objects that the objective needs. `look`: the fold of a race, or the fidelity.
evaluate_objective <- function(objective, point, timeout, whereabouts = NULL, workspace = list(), look = NULL) {
  list2env(workspace, envir = globalenv())
  started <- proc.time()[["elapsed"]]
  if (is.finite(timeout)) on.exit(setTimeLimit(elapsed = Inf))
  if (!is.null(whereabouts) && dir.exists(dirname(whereabouts))) {
    on.exit(unlink(whereabouts), add = TRUE)
    saveRDS(list(host = Sys.info()[["nodename"]], pid = Sys.getpid(), since = Sys.time()), whereabouts)
  }
  failed <- function(e) {
    list(error = tryCatch(paste(conditionMessage(e), collapse = " "),
                          error = function(broken) "an error without a message"),
         condition = if (is.null(whereabouts)) e)
  }
  evaluate <- function() tryCatch({
    if (is.finite(timeout)) setTimeLimit(elapsed = timeout, transient = TRUE)
    list(value = if (is.null(look)) objective(point) else objective(point, look))
  }, error = failed)
  # (A time limit may be reached while another error is being handled, or after an objective that did not check it.)
  guarded <- function() tryCatch({
    found <- evaluate()
    if (is.finite(timeout)) setTimeLimit(elapsed = Inf)
    found
  }, error = failed)
  if (is.null(whereabouts)) outcome <- guarded()
  else outcome <- tryCatch(guarded(), interrupt = function(i) list(lost = "interrupted"))
  # R's message for a time limit depends on the language. A result that comes later does not count, since other
  # processes would have been ended before it.
  took <- proc.time()[["elapsed"]] - started
  if (took < timeout) return(outcome)
  late <- if (is.null(whereabouts) && took > 1.1 * timeout + 1) sprintf(", ended after %.0f s", took)
  list(lost = paste0(sprintf("timed out after %g s", timeout), late), condition = outcome$condition)
}
environment(evaluate_objective) <- baseenv()

# In this process, a time limit other than that of the evaluation belongs to the caller. It is not a failure of the
# objective.
evaluate_in_process <- function(objective, point, timeout, look = NULL) {
  outcome <- evaluate_objective(objective, point, timeout, look = look)
  if (is.null(outcome$lost)) pass_on_stop(outcome$condition)
  outcome[names(outcome) != "condition"]
}

local_pool <- function(objective, timeout) {
  ended <- list()
  list(free = function() length(ended) == 0, busy = function() length(ended),
       submit = function(task) {
         ended <<- list(list(task = task, outcome = evaluate_in_process(objective, task$point, timeout, task$fold)))
       },
       wait = function() NULL, look = function() NULL,
       take = function() {
         out <- ended
         ended <<- list()
         out
       })
}

# The number of evaluations that may run at the same time; 1 means in this process.
check_workers <- function(workers) {
  workers <- check_count(workers, infinite = TRUE)
  if (workers == 1) return(1)
  if (!has_package("future")) {
    stop_argument("workers", format(workers), "1, because package future is not installed",
                  try = "`install.packages(\"future\")`")
  }
  available <- future::nbrOfWorkers()
  if (is.infinite(workers)) workers <- available
  if (is.infinite(workers)) {
    stop_argument("workers", "Inf", "an integer, because the future plan has no limit")
  }
  if (workers > available) {
    stop_argument("workers", format(workers),
                  sprintf("at most %g, the number of workers of the future plan", available),
                  try = sprintf("`future::plan(future::multisession, workers = %g)`", workers))
  }
  workers
}

future_pool <- function(objective, workers, timeout) {
  pool <- list2env(list(
    objective = objective, needs = workspace_needs(functions_of_objective(objective)), workers = workers,
    timeout = timeout, running = list(), hung = list(), ended = list(), failures = 0, deaths = 0,
    # Every evaluation has a separate random stream, whichever worker runs it.
    stream = replication_seeds(sample.int(.Machine$integer.max, 1), 1)[[1]]
  ), parent = emptyenv())
  list(free = function() pool_free(pool), busy = function() length(pool$running) + length(pool$ended),
       submit = function(task) pool_submit(pool, task), wait = function() pool_wait(pool),
       look = function() poll_pool(pool),
       take = function() {
         out <- pool$ended
         pool$ended <- list()
         out
       })
}

# future counts a worker as not free if it has died, or if it is still running an abandoned evaluation.
pool_free <- function(pool) {
  pool$hung <- Filter(function(f) identical(ended_future(f), FALSE), pool$hung)
  if (length(pool$running) >= pool$workers || pool$failures > 2) return(FALSE)
  if (free_workers() > 0) return(TRUE)
  if (length(pool$running)) return(FALSE)
  if (pool$deaths + length(pool$hung) > 0) {
    # No worker is left. If the plan can be restarted, it is.
    restart_plan()
    pool$hung <- list()
    pool$deaths <- 0
    return(free_workers() > 0)
  }
  # Other code uses the workers, perhaps an interrupted search; future waits for them.
  TRUE
}

# An interrupt within a message would corrupt the communication with a worker. While future only waits for a worker,
# interrupts are allowed.
undisturbed <- function(code) if (free_workers() > 0) suspendInterrupts(code) else code

free_workers <- function() catch_error(future::nbrOfFreeWorkers(), function(e) Inf)

restart_plan <- function() {
  plan <- future::plan("list")
  attempt({
    future::plan(future::sequential)
    future::plan(plan)
  })
}

# TRUE, FALSE, or the error of a future whose worker has died.
ended_future <- function(f) catch_error(future::resolved(f), identity)

pool_submit <- function(pool, task) {
  pool$stream <- parallel::nextRNGStream(pool$stream)
  whereabouts <- tempfile("worker")
  # The call contains all objects that it needs, because future would send each global in a separate message of 50 ms.
  call <- as.call(list(evaluate_objective, pool$objective, task$point, pool$timeout, whereabouts,
                       pool$needs$globals, task$fold))
  # The pool registers every evaluation that has started, whatever happens later.
  begin <- function() {
    f <- future::future(call, substitute = FALSE, seed = pool$stream, globals = FALSE, packages = pool$needs$packages)
    pool$running <- c(pool$running, list(list(task = task, future = f, whereabouts = whereabouts, since = Sys.time(),
                                              interrupted = FALSE)))
    pool$failures <- 0
  }
  tryCatch(undisturbed(begin()), FutureError = function(e) {
    pass_on_stop(e)
    # The evaluation did not start: this is a failure of the plan, not of the task.
    pool$failures <- pool$failures + 1
    pool$ended <- c(pool$ended, list(list(task = task, outcome = list(unsent = message_of(e)))))
  })
}

pool_wait <- function(pool) {
  began <- Sys.time()
  repeat {
    poll_pool(pool)
    if (length(pool$ended) || length(pool$running) == 0) return(invisible())
    Sys.sleep(min(0.1, 0.001 + 0.005 * seconds_since(began)))
  }
}

# Interrupts are allowed between two checks. Within a check they could cut a worker's message in two.
poll_pool <- function(pool) suspendInterrupts({
  if (is.finite(pool$timeout)) pool$running <- lapply(pool$running, interrupt_late, timeout = pool$timeout)
  outcomes <- lapply(pool$running, outcome_so_far, pool = pool)
  ended <- !vapply(outcomes, is.null, NA)
  pool$ended <- c(pool$ended, unname(Map(function(work, outcome) list(task = work$task, outcome = outcome),
                                         pool$running[ended], outcomes[ended])))
  pool$running <- pool$running[!ended]
})

# An evaluation on this machine that exceeds its time limit is interrupted, as by Ctrl-C.
interrupt_late <- function(work, timeout) {
  if (work$interrupted || seconds_since(work$since) < timeout) return(work)
  reported <- attempt(suppressWarnings(readRDS(work$whereabouts)))
  if (is.null(reported) || reported$host != Sys.info()[["nodename"]]) return(work)
  work$since <- reported$since
  if (seconds_since(reported$since) > timeout + 0.1) work$interrupted <- tools::pskill(reported$pid, tools::SIGINT)
  work
}

seconds_since <- function(time) as.double(Sys.time() - time, units = "secs")

# NULL while the evaluation runs. A worker that responds neither to its time limit nor to an interrupt is abandoned.
outcome_so_far <- function(work, pool) {
  ended <- ended_future(work$future)
  late <- sprintf("timed out after %g s", pool$timeout)
  if (isTRUE(ended)) ended <- catch_error(list(future::value(work$future)), identity)
  if (inherits(ended, "error")) {
    pool$deaths <- pool$deaths + 1
    return(list(lost = if (work$interrupted) late else "the worker died"))
  }
  if (is.list(ended)) return(ended[[1]])
  if (seconds_since(work$since) < 1.1 * pool$timeout + 2) return(NULL)
  pool$hung <- c(pool$hung, list(work$future))
  list(lost = late)
}
