# Second processes of a worker: one renews leases, one makes evaluations with a time limit. Layer: storage.

# ---- heartbeats from a second process ------------------------------------------------
# The worker listens on a port that only this machine can reach, and never answers. A second process connects to it and
# detects when the worker has ended, for whatever reason. A file contains the token of the lease to renew. While the
# worker is stopped (Ctrl-Z, SIGSTOP) nothing is renewed, so that another worker can take over its query.

new_heartbeat_timer <- function(store, lease) {
  if (is.null(store) || is.null(store$connection$connect)) {
    return(list(token = function(token) NULL, stop = function() NULL))
  }
  second <- catch_error(begin_second_process("heartbeat_loop", list(store = store, every = lease / 3)), function(e) {
    stop_store("The process that renews leases cannot be started: ", message_of(e),
               ". Use `heartbeat = FALSE` to run without it.", parent = e, again = FALSE)
  })
  list(token = function(token) {
         draft <- file.path(second$home, "draft")
         writeLines(token, draft)
         file.rename(draft, file.path(second$home, "token"))
       },
       stop = second$stop)
}

# Starts a process that runs the package's function `loop(settings, connection)` until `stop()` is called or this
# process ends (then the connection becomes readable). `settings$every`: the seconds after which the package is loaded.
# `shown`: does its output appear with that of this process?
begin_second_process <- function(loop, settings, shown = FALSE) {
  life <- cpp_listen_local()
  home <- tempfile("second")
  dir.create(home)
  settings <- c(settings, list(loop = loop, port = life$port, home = home, libraries = .libPaths(),
                               begun_by = Sys.getpid()))
  saveRDS(settings, file.path(home, "settings.rds"))
  # (Not a copy in `home`: if that goes before R reads it, R complains.)
  script <- system.file("heartbeat.R", package = "gpbandits")
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), shQuote(home)), wait = FALSE,
          stdout = if (shown) "" else FALSE, stderr = if (shown) "" else FALSE)
  list(home = home, stop = function() {
    cpp_close_listener(life$listener)
    unlink(home, recursive = TRUE)
  })
}

# Called by inst/heartbeat.R.
heartbeat_loop <- function(settings, socket) {
  file <- file.path(settings$home, "token")
  repeat {
    token <- if (file.exists(file)) catch_error(readLines(file), function(e) "") else ""
    # If a database does not answer, the next heartbeat tries again.
    if (length(token) && nzchar(token[1]) && !is_stopped(settings$begun_by)) {
      catch_error(renew_leases(settings$store, token), function(e) drop_connection(settings$store$connection))
    }
    if (socketSelect(list(socket), timeout = settings$every)) return(invisible())
  }
}

# Writes a file so that other processes see it only when it is complete.
save_whole <- function(value, file) {
  draft <- paste0(file, ".draft")
  saveRDS(value, draft)
  file.rename(draft, file)
}

# ---- evaluations with a time limit --------------------------------------------------------
# An evaluation that waits, or runs compiled code or another program, does not check R's time limits. A process can be
# ended, with the programs that it has started.

# An evaluator has two functions. `evaluate(point, stream, look)` returns an outcome (see evaluate_objective()) of an
# evaluation with these random numbers. `stop()` ends its process.
new_evaluator <- function(objective, timeout) {
  if (is.finite(timeout)) return(child_evaluator(objective, timeout))
  list(evaluate = function(point, stream, look = NULL) {
         with_stream(stream, evaluate_in_process(objective, point, Inf, look))
       },
       stop = function() NULL)
}

child_evaluator <- function(objective, timeout) {
  need_package("future", "timeout")
  child <- NULL
  end <- function() suspendInterrupts({
    if (!is.null(child)) child$stop()
    child <<- NULL
  })
  evaluate <- function(point, stream, look = NULL) {
    done <- FALSE
    on.exit(if (!done) end())
    if (is.null(child)) child <<- begin_child(objective)
    save_whole(list(point = point, look = look, timeout = timeout, stream = stream), file.path(child$home, "task.rds"))
    outcome <- outcome_of_child(child, timeout)
    done <- !isTRUE(outcome$ended)
    outcome
  }
  list(evaluate = evaluate, stop = end)
}

begin_child <- function(objective) {
  needs <- workspace_needs(functions_of_objective(objective))
  packed <- serialize(list(objective = objective, needs = needs), NULL)
  second <- begin_second_process("evaluation_loop", list(every = 0, packed = packed), shown = TRUE)
  pid <- NULL
  on.exit(if (is.null(pid)) second$stop())
  ready <- file.path(second$home, "pid.rds")
  began <- Sys.time()
  while (!file.exists(ready)) {
    failed <- file.path(second$home, "failed.rds")
    if (file.exists(failed) || seconds_since(began) > 120) {
      why <- if (file.exists(failed)) readRDS(failed) else "it did not start within two minutes"
      stop_gpbandits("evaluation", "The process for evaluations with `timeout` cannot be started: ", why,
                     argument = "timeout")
    }
    Sys.sleep(0.01)
  }
  pid <- readRDS(ready)
  list(home = second$home, pid = pid, stop = function() {
    end_group(pid)
    second$stop()
  })
}

# R code in the child ends by R's time limit. The process is ended a little later.
outcome_of_child <- function(child, timeout) {
  file <- file.path(child$home, "outcome.rds")
  began <- Sys.time()
  repeat {
    passed <- seconds_since(began)
    dead <- has_died(child$pid)                        # (before the file, which may be its last action)
    if (file.exists(file)) break
    why <- if (dead) "the process of the evaluation died"
           else if (passed > 1.1 * timeout + 0.5) sprintf("timed out after %g s", timeout)
    if (!is.null(why)) return(list(lost = why, ended = TRUE))
    Sys.sleep(min(0.1, 0.001 + 0.005 * passed))
  }
  outcome <- readRDS(file)
  unlink(file)
  outcome
}

# Ends a process and those that it has started.
end_group <- function(pid) if (!cpp_end_group(pid)) tools::pskill(pid, tools::SIGKILL)

# (Functions of the workspace find those of packages only if these are attached.)
use_workspace <- function(workspace, packages) {
  for (package in packages) suppressPackageStartupMessages(do.call("library", list(package, character.only = TRUE)))
  list2env(workspace, envir = globalenv())
}

# Called by inst/heartbeat.R.
evaluation_loop <- function(settings, connection) {
  cpp_lead_group()
  at <- function(name) file.path(settings$home, name)
  job <- catch_error({
    job <- unserialize(settings$packed)
    use_workspace(job$needs$globals, job$needs$packages)
    job
  }, function(e) {
    save_whole(message_of(e), at("failed.rds"))
    stop(e)
  })
  save_whole(Sys.getpid(), at("pid.rds"))
  while (!socketSelect(list(connection), timeout = 0.01)) {
    if (!file.exists(at("task.rds"))) next
    task <- readRDS(at("task.rds"))
    unlink(at("task.rds"))
    outcome <- with_stream(task$stream, evaluate_objective(job$objective, task$point, task$timeout, look = task$look))
    save_whole(outcome[names(outcome) != "condition"], at("outcome.rds"))
  }
}
