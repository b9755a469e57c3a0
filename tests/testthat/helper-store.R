# Databases for the tests of stores: SQLite in a file, and a separate PostgreSQL server in a temporary
# directory, on a socket, where its binaries are there.

store_packages <- function(...) all(vapply(c("DBI", "jsonlite", ...), requireNamespace, NA, quietly = TRUE))

# For longer tests of stores. `unix`: with forks or signals.
skip_without_store <- function(..., unix = FALSE) {
  skip_on_cran()
  if (unix) skip_on_os("windows")
  skip_if_not(store_packages(...), paste("not all are installed:", toString(c("DBI", "jsonlite", ...))))
}

postgres_binary <- function(name) {
  found <- c(Sys.which(name), Sys.glob(file.path("/usr/lib/postgresql/*/bin", name)))
  utils::tail(found[nzchar(found)], 1)
}

has_postgres <- new.env()

# Why there is no server, or "".
postgres_lacks <- function() {
  if (is.null(has_postgres$lacks)) {
    has_postgres$lacks <- tryCatch(start_postgres(), error = conditionMessage)
    if (nzchar(has_postgres$lacks)) message("tests of stores go without PostgreSQL: ", has_postgres$lacks)
  }
  has_postgres$lacks
}

# PostgreSQL does not run as root: then it runs as the user of Debian's package, without a sanitizer's library.
as_postgres <- function(program, arguments) system(postgres_command(program, arguments))

postgres_command <- function(program, arguments) {
  root <- identical(system2("id", "-u", stdout = TRUE), "0")
  command <- paste(shQuote(postgres_binary(program)), arguments)
  if (root) command <- paste("runuser -u postgres --", command)
  paste("env -u LD_PRELOAD", command, ">/dev/null 2>&1")
}

start_postgres <- function() {
  if (.Platform$OS.type != "unix") return("not on this system")
  if (!store_packages("RPostgres")) return("package RPostgres is not installed")
  if (length(postgres_binary("initdb")) == 0) return("the server's binaries are not installed")
  root <- identical(system2("id", "-u", stdout = TRUE), "0")
  if (root && system("id postgres >/dev/null 2>&1") != 0) return("we are root and there is no user postgres")
  home <- tempfile("gpb-pg", tmpdir = "/tmp")                    # a socket's path must be short
  dir.create(home)
  if (root) system(paste("chown postgres", home))
  at_our_end(c(postgres_command("pg_ctl", sprintf("-D %s/data -m immediate -w stop", home)), paste("rm -rf", home)))
  if (as_postgres("initdb", sprintf("-D %s/data -A trust -U gpb --no-sync", home)) != 0) return("initdb fails")
  has_postgres$home <- home
  if (postgres_control("start") != 0) return("the server does not start")
  ""
}

postgres_control <- function(action, mode = "fast") {
  options <- sprintf("-o \"-c listen_addresses='' -c fsync=off -c max_connections=400 -k %s\" -l %s/log -w -m %s %s",
                     has_postgres$home, has_postgres$home, mode, action)
  as_postgres("pg_ctl", sprintf("-D %s/data %s", has_postgres$home, options))
}

# A separate database for each test: list(kind, connect).
sqlite_location <- function() {
  file <- tempfile(fileext = ".db")
  list(kind = "sqlite", file = file,
       connect = eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(file), synchronous = NULL)), baseenv()))
}

postgres_place <- function() {
  skip_if(nzchar(postgres_lacks()), paste("no PostgreSQL:", postgres_lacks()))
  postgres_location()
}

postgres_location <- function() {
  if (!nzchar(Sys.getenv("TZ"))) Sys.setenv(TZ = "UTC")           # RPostgres asks for it, not everybody answers
  has_postgres$count <- sum(has_postgres$count, 1)
  name <- sprintf("t%d", has_postgres$count)
  home <- has_postgres$home
  con <- DBI::dbConnect(RPostgres::Postgres(), host = home, user = "gpb", dbname = "postgres", timezone = "UTC",
                        timezone_out = "UTC")
  DBI::dbExecute(con, paste("CREATE DATABASE", name))
  DBI::dbDisconnect(con)
  list(kind = "postgres", connect = postgres_opener(name))
}

postgres_opener <- function(name) {
  eval(bquote(function() DBI::dbConnect(RPostgres::Postgres(), host = .(has_postgres$home), user = "gpb", dbname = .(name),
                                        timezone = "UTC", timezone_out = "UTC")), baseenv())
}

# A database on a disk of a few megabytes, with `disk` (its folder) and `end()`; why there is none, where there is none.
small_postgres_location <- function() {
  disk <- tempfile("disk", tmpdir = "/tmp")
  dir.create(disk)
  run <- function(command, ...) suppressWarnings(system2(command, c(...), stdout = FALSE, stderr = FALSE))
  if (run("mount", "-t", "tmpfs", "-o", "size=24m,mode=0777", "tmpfs", disk) != 0) return("no small disk can be mounted here (that takes root)")
  dir.create(file.path(disk, "tables"))
  run("chown", "postgres", file.path(disk, "tables"))
  place <- postgres_location()
  name <- sub("^t", "small", DBI::dbGetInfo(con <- place$connect())$dbname)
  on.exit(DBI::dbDisconnect(con))
  DBI::dbExecute(con, sprintf("CREATE TABLESPACE %s LOCATION '%s'", name, file.path(disk, "tables")), immediate = TRUE)
  DBI::dbExecute(con, sprintf("CREATE DATABASE %s TABLESPACE %s", name, name), immediate = TRUE)
  list(kind = "postgres", disk = disk, connect = postgres_opener(name), end = function() {
    tamper(place, sprintf("DROP DATABASE %s WITH (FORCE)", name))
    tamper(place, sprintf("DROP TABLESPACE %s", name))
    run("umount", "-l", disk)
  })
}

# Folder or server for the tests of each registered database, and the reason if they cannot run ("" if they can).
store_locations <- list(
  sqlite = list(make = sqlite_location, lacks = function() if (store_packages("RSQLite")) "" else "package RSQLite is not installed"),
  postgres = list(make = postgres_location, lacks = function() postgres_lacks())
)

# Runs a test on SQLite, and on the other databases where they are. `heavy`: there only at level 2. `always`: at level 0,
# too (what is in plain SQL is tested on SQLite alone there).
on_databases <- function(test, heavy = FALSE, always = FALSE) {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  few <- heavy && !second_level() || !always && test_level() == 0
  kinds <- if (few) "sqlite" else names(store_locations)
  for (kind in kinds) {
    if (nzchar(store_locations[[kind]]$lacks())) next
    place <- store_locations[[kind]]$make()                      # (now, and not in a process that the test forks)
    test(place)
  }
}

store_at <- function(place, name = "b", ...) bandit_store(place$connect, name, ...)

# One statement from outside of the package.
tamper <- function(place, ...) {
  con <- place$connect()
  on.exit(DBI::dbDisconnect(con))
  if (place$kind == "sqlite") DBI::dbGetQuery(con, "PRAGMA busy_timeout = 60000")
  statement <- paste0(...)
  if (grepl("^SELECT", statement)) DBI::dbGetQuery(con, statement) else DBI::dbExecute(con, statement)
}

store_x <- seq(0, 1, length.out = 25)

# One of each kind of event, of choice and of decision set.
store_makers <- list(
  ucb = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, ...),
  ts = function(...) gp_ts(store_x, kernel_se(0.2), 0.01, B = 1, R = 0.1, ...),
  hallucinate = function(...) gp_bucb(store_x, kernel_matern(1.5, 0.3), 0.01, ...),
  contexts = function(...) gp_ucb(store_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = cbind(z = c(0, 1)), ...),
  open = function(...) gp_ucb(store_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = "z", ...),
  box = function(...) gp_ts(list(u = c(0, 1)), kernel_se(0.2), 0.01, B = 1, R = 0.1, gain = 1, ...),
  product = function(...) gp_ts(product_domain(1:3, list(u = c(0, 1))), kernel_se(c(1, 0.2)), 0.01, B = 1, R = 0.1, gain = 1, ...),
  changes = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, changes = change_oracle(c(4, 9), explore = 1), ...),
  constraints = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, constraints = constraints_noisy(2, 3, 0.5), ...),
  refits = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, refit = refit_every(4, mean = "fit"), ...)
)

# Every domain, every kind of contexts and every kind of rewards that a bandit in a store can have. `points`: two points of
# the domain, `numbers`: its inputs that are numbers.
stored_domains <- list(
  arms = list(make = function() store_x, points = data.frame(x1 = store_x[c(5, 6)])),
  named_arms = list(make = function() data.frame(who = letters[1:6], x1 = 1:6 / 6), points = data.frame(x1 = 2:3 / 6)),
  box = list(make = function() list(x1 = c(0, 1), x2 = c(-1, 1)), points = data.frame(x1 = c(0.25, 0.5), x2 = c(1 / 3, -0.5))),
  integer_box = list(make = function() box_domain(c(1e-3, 1), c(1, 9), names = c("x1", "x2"), integer = c(FALSE, TRUE), log = c(TRUE, FALSE)),
                   points = data.frame(x1 = c(0.01, 0.1), x2 = c(3, 4))),
  product = list(make = function() product_domain(1:3, list(u = c(0, 1))), points = data.frame(x1 = c(2, 3), u = c(0.25, 1 / 3))),
  space = list(make = function() {
    search_space(x1 = param_real(1e-4, 1, log = TRUE), depth = param_integer(1, 9), rule = param_factor(c("gini", "it's \"2\"")),
                 prune = param_logical())
  }, points = data.frame(x1 = c(0.1, 0.01), depth = c(3, 4), rule = c("gini", "it's \"2\""), prune = c(TRUE, FALSE)))
)
stored_contexts <- list(none = NULL, listed = cbind(z = c(0, 0.5, 1)), open = "z")
stored_outcomes <- list(
  plain = list(), noise_each = list(record = list(noise_var = 0.3)), scaled = list(with = list(outputs = scale_outputs("minimize"))),
  clipped = list(with = list(rewards = rewards_robust(clip = 2))), refits = list(with = list(refit = refit_every(2, mean = "fit"))),
  noisy_limits = list(with = list(constraints = constraints_noisy(2, 3, 0.5)), record = list(constraints = c(0.25, -0.5))),
  noiseless_limits = list(with = list(constraints = constraints_noiseless(1, epoch = 2)), record = list(constraints = 0.125)),
  known_changes = list(with = list(changes = change_oracle(c(2, 4), explore = 1))), window = list(with = list(changes = change_oracle(window = 3))),
  fading = list(with = list(changes = change_oracle(rate = 0.1))), censored = list(with = list(pending = pending_censor(3, -0.5)), once = TRUE),
  hallucinated = list(with = list(pending = pending_hallucinate())), drawn = list(with = list(policy = policy_ts(width_constant(1))))
)

# Lives: every pair of a domain and contexts, with each outcome in turn; at the second level all three.
stored_lives <- function() {
  pairs <- expand.grid(domain = names(stored_domains), contexts = names(stored_contexts), stringsAsFactors = FALSE)
  if (second_level()) return(merge(pairs, data.frame(outcome = names(stored_outcomes))))
  cbind(pairs, outcome = rep_len(names(stored_outcomes), nrow(pairs)))
}

live_in_store <- function(life, store) {
  outcome <- stored_outcomes[[life$outcome]]
  domain <- gpbandits:::as_domain(stored_domains[[life$domain]]$make())
  numbers <- c(setdiff(domain$names, c("rule", "prune")), if (life$contexts != "none") "z")
  kernel <- if (life$domain == "space") kernel_matern(2.5, 0.4, dims = numbers) * kernel_categorical(0.6, dims = "rule") else kernel_se(0.4)
  do.call(gp_bandit, c(list(domain, kernel, 0.01), utils::modifyList(list(policy = policy_ucb(width_constant(1))), as.list(outcome$with)),
                       list(contexts = stored_contexts[[life$contexts]], store = store)))
}

# One event (or a call's events) after the other, each a function of the bandit: all events that a replica can get.
events_of <- function(life) {
  outcome <- stored_outcomes[[life$outcome]]
  points <- stored_domains[[life$domain]]$points
  context <- if (life$contexts != "none") 0.5
  record <- function(bandit, ids, reward) {
    g <- outcome$record$constraints
    bandit$observe(ids, reward, noise_var = if (!is.null(outcome$record$noise_var)) rep(outcome$record$noise_var, length(ids)),
                   constraints = if (!is.null(g)) matrix(g, length(ids), length(g), byrow = TRUE))
  }
  list(query = function(b) b$suggest(context = context), reward = function(b) record(b, 1, 0.5),
       queries = function(b) b$suggest(5, context = context), rewards = function(b) record(b, c(4, 2), c(-0.25, 0.75)),
       same_again = function(b) record(b, 2, 0.75), fail = function(b) b$fail(3, reason = "rain"), withdraw = function(b) b$withdraw(5),
       amend = if (is.null(outcome$once)) function(b) b$amend(2, 0.5), late = function(b) record(b, 6, 1 / 3),
       given = function(b) {
         g <- outcome$record$constraints
         b$add(x = points[1, , drop = FALSE], reward = -1 / 3, context = context, constraints = if (!is.null(g)) matrix(g, 1),
               noise_var = outcome$record$noise_var)
       },
       elsewhere = function(b) b$add(x = points[2, , drop = FALSE], context = context),
       reported_elsewhere = function(b) record(b, 8, 0.125),
       more = function(b) b$suggest(2, context = context), last = function(b) record(b, 9:10, c(1, 0)))
}

# A step of a run: a query or two, some rewards in some order, at times added data. The step
# is drawn in advance from R's generator.
store_step <- function(bandit) {
  context <- if (length(bandit$config$context_names)) sample(0:1, 1)
  g <- function(n) if (!is.null(bandit$config$constraints)) matrix(stats::rnorm(2 * n), n, 2)
  bandit$suggest(sample.int(2, 1), context = context)
  history <- bandit$history()
  pending <- history$id[is.na(history$reward)]
  some <- pending[stats::runif(length(pending)) < 0.7]
  some <- some[sample.int(length(some))]
  bandit$observe(some, stats::rnorm(length(some)), constraints = g(length(some)))
  if (stats::runif(1) < 0.2) bandit$add(x = store_point(bandit), reward = stats::rnorm(1), context = context, constraints = g(1))
}

# A point of its domain.
store_point <- function(bandit) if (length(bandit$config$domain$names) == 2) cbind(2, 0.25) else 0.25

expect_same_log <- function(core, theirs, info = NULL) {
  expect_identical(core$history(), theirs$history(), info = info)
  for (table in c("queries", "events")) {
    expect_identical(log_columns(core, table), log_columns(theirs, table), info = info)
  }
  expect_identical(core$refits, theirs$refits, info = info)
}

refused <- function(code) tryCatch({
  code
  "none"
}, gpbandits_error = conditionMessage)

# Lives another bandit's log in this one: its queries drawn from the k-th stream of `seed`, its rewards in order.
follow_log <- function(bandit, log, seed) {
  old <- RNGkind()
  on.exit(do.call(RNGkind, as.list(old)))
  set.seed(seed, kind = "L'Ecuyer-CMRG", normal.kind = "Inversion", sample.kind = "Rejection")
  stream <- .Random.seed
  events <- log_columns(log)
  history <- log$history()
  context <- function(id) if (length(log$config$context_names)) history$z[id]
  g <- function(id) if (!is.null(log$config$constraints)) as.matrix(history[id, c("g1", "g2")])
  kinds <- names(gpbandits:::event_kind)[events$kind]
  at <- 1
  for (e in seq_along(kinds)) {
    id <- events$id[e]
    if (kinds[e] %in% c("query", "given")) {
      while (at < id) {
        stream <- parallel::nextRNGStream(stream)
        at <- at + 1
      }
    }
    if (kinds[e] == "query") {
      assign(".Random.seed", stream, globalenv())
      bandit$suggest(context = context(id))
    }
    if (kinds[e] == "reward") bandit$observe(id, events$reward[e], constraints = g(id))
    if (kinds[e] == "given") {
      bandit$add(x = as.matrix(history[id, log$config$domain$names, drop = FALSE]), reward = events$reward[e], context = context(id), constraints = g(id))
    }
  }
}

restore_tables <- function(place, tables) {
  con <- place$connect()
  on.exit(DBI::dbDisconnect(con))
  if (place$kind == "sqlite") DBI::dbExecute(con, "PRAGMA foreign_keys = OFF")
  names(tables) <- c("gpb_bandit", "gpb_query", "gpb_event")
  DBI::dbWithTransaction(con, {
    if (place$kind == "postgres") DBI::dbExecute(con, "SET CONSTRAINTS ALL DEFERRED")
    for (name in rev(names(tables)[-1])) DBI::dbExecute(con, paste("DELETE FROM", name))
    bandit <- tables$gpb_bandit
    DBI::dbExecute(con, paste0("UPDATE gpb_bandit SET settings = ", DBI::dbQuoteString(con, bandit$settings), ", seed = ",
                               bandit$seed, ", events = ", bandit$events, ", queries = ", bandit$queries, ", checksum = ",
                               sprintf("%.0f", bandit$checksum)))
    for (name in names(tables)[-1]) DBI::dbAppendTable(con, name, tables[[name]])
  })
}

# Sys.time() is off by that number of seconds, for all callers in this process.
with_clock_error <- function(seconds, code) {
  true <- base::Sys.time
  put <- function(clock) {
    base <- baseenv()
    unlock <- get("unlockBinding", envir = base)
    unlock("Sys.time", base)
    assign("Sys.time", clock, envir = base)
    lockBinding("Sys.time", base)
  }
  on.exit(put(true))
  put(function() true() + seconds)
  force(code)
}

# Waits for a state.
wait_for <- function(state) {
  state <- substitute(state)
  frame <- parent.frame()
  wait_until(function() isTRUE(eval(state, frame)), paste("this state:", deparse(state)[1]), pause = 0.05)
  invisible(TRUE)
}

# All leases are as old as if that number of seconds had passed.
run_out <- function(place, seconds = 1000) tamper(place, "UPDATE gpb_lease SET expires = expires - ", seconds)

lease_states <- function(place) tamper(place, "SELECT query, attempt, worker, state FROM gpb_lease ORDER BY query, attempt")

# Closes a bandit's connection until it is used again, and those of stores that nobody holds any more: nothing may be open
# where a process forks.
let_go <- function(bandit) {
  gpbandits:::drop_connection(bandit$journal$connection)
  invisible(gc())
}

# ---- workers and failures ------------------------------------------------------------------

parabola <- function(p) -(p[["x1"]] - 0.3)^2

give_budget <- function(place, n) tamper(place, "UPDATE gpb_bandit SET budget = ", n)

# A bandit whose width function does something in the middle of the transaction of a query.
mined_bandit <- function(store, mine) {
  gp_ucb(store_x, kernel_se(0.2), 0.01, store = store, width = width_function(function(t) {
    mine$act()
    2
  }))
}

# Ends a store's connection, whether the user or the package made it.
cut_off <- function(place, connection) {
  if (place$kind == "sqlite") suppressWarnings(DBI::dbDisconnect(connection$con))
  else tamper(place, "SELECT pg_terminate_backend(", DBI::dbGetInfo(connection$con)$pid, ")")
}

# Asks until the store takes no more: the error, and the history before it.
asked_until_refused <- function(bandit) {
  for (k in 1:10000) {
    before <- bandit$history()
    error <- tryCatch({
      bandit$suggest()
      NULL
    }, gpbandits_error = identity)
    if (!is.null(error)) return(list(error = error, before = before))
  }
  stop("the store has taken 10,000 queries, and there is still space")
}

# ---- fleets that are shot at ---------------------------------------------------------------
# Each process writes its number into a folder: who comes later sees who is there.

fleet_box <- list(x1 = c(0, 1), x2 = c(0, 1))

# The bandit of a fleet, and its kernel by formula, of two data.frames of points.
fleet_kinds <- list(
  arms = list(make = function(...) gp_bucb(store_x, kernel_se(0.2), 0.01, ...), kernel = function(a, b) book_se(a$x1, b$x1, 0.2)),
  box = list(make = function(...) gp_bucb(fleet_box, kernel_se(0.3), 0.01, ...),
             kernel = function(a, b) book_se(a$x1, b$x1, 0.3) * book_se(a$x2, b$x2, 0.3)),
  space = list(make = function(...) {
    gp_bucb(search_space(x1 = param_real(0, 1), rule = param_factor(c("gini", "it's"))),
            kernel_se(0.3, dims = "x1") * kernel_categorical(0.5, dims = "rule"), 0.01, ...)
  }, kernel = function(a, b) book_se(a$x1, b$x1, 0.3) * ifelse(outer(as.character(a$rule), as.character(b$rule), "=="), 1, 0.5)),
  open = list(make = function(...) gp_bucb(store_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = "z", ...), contexts = c(0, 1 / 3, 1),
              kernel = function(a, b) book_se(a$x1, b$x1, 0.2) * book_se(a$z, b$z, 0.5))
)

book_se <- function(a, b, lengthscale) exp(-outer(a, b, "-")^2 / (2 * lengthscale^2))

# The reward of a point, or of all rows of a history.
fleet_truth <- function(p) {
  extra <- function(name, f) if (name %in% names(p)) f(p[[name]]) else 0
  -(p[["x1"]] - 0.3)^2 + extra("x2", function(x) 0.1 * x) + extra("rule", function(x) 0.1 * (as.character(x) == "gini")) +
    extra("z", function(x) -0.1 * x)
}

alive_in <- function(home) running(as.integer(grep("^[0-9]+$", dir(home), value = TRUE)))

# What a worker of a fleet does. In contexts it goes from one to the next. `gate()`: waits before each evaluation.
fleet_work <- function(store, kind, pause, lease, gate = function() NULL) {
  contexts <- fleet_kinds[[kind]]$contexts
  objective <- function(p) {
    gate()
    Sys.sleep(pause)
    fleet_truth(p)
  }
  if (is.null(contexts)) return(work_on(store, objective, lease = lease, heartbeat = FALSE))
  bandit <- gpbandits:::patiently(open_bandit(store), 300)
  worker <- gpbandits:::worker_name()
  repeat for (context in sample(contexts)) {
    ask <- function() suppressMessages(bandit$suggest(context = context, worker = worker, lease = lease))
    query <- gpbandits:::patiently(ask(), 300)
    if (nrow(query) == 0 && gpbandits:::nothing_left(bandit, 300)) return(invisible())
    if (nrow(query)) gpbandits:::patiently(bandit$observe(query$id, objective(query), token = query$token), 300)
  }
}

# A worker in a forked process, which dies when it is killed; nobody collects it.
fork_worker <- function(place, home, pause = 0.01, lease = 0.3, kind = "arms") {
  job <- parallel::mcparallel({
    file.create(file.path(home, Sys.getpid()))
    store <- steadily(store_at(place))
    store$connection$hold <- 2
    rewards <- rewards_counter(place)
    fleet_work(store, kind, pause, lease, function() {
      wait_until(function() rewards() < allowed_rewards(home), "the next blow to the fleet", pause = 0.05)
    })
  }, silent = TRUE, detached = TRUE)
  file.create(file.path(home, job$pid))
}

# How many rewards there may be until the next blow has been struck: a fleet that is faster than who strikes waits.
allow_rewards <- function(home, count) {
  draft <- tempfile("allowed", home)
  writeLines(format(count), draft)
  file.rename(draft, file.path(home, "allowed"))
}
allowed_rewards <- function(home) as.double(readLines(file.path(home, "allowed")))

# A process that stops itself (as SIGSTOP does) in the middle of its first transaction, then continues. It is a worker
# of nobody's.
fork_stopped <- function(place, work, ...) {
  parallel::mcparallel({
    space <- asNamespace("gpbandits")
    lease_queries <- space$lease_queries
    first <- TRUE
    unlockBinding("lease_queries", space)                        # (in this process)
    assign("lease_queries", function(...) {
      if (first) {
        first <<- FALSE
        tools::pskill(Sys.getpid(), tools::SIGSTOP)
      }
      lease_queries(...)
    }, envir = space)
    store <- store_at(place)
    store$connection$hold <- 0.5
    work(store)
  }, silent = TRUE, ...)
}

# While the server restarts, tests of it ask again.
steadily <- function(code) {
  again <- substitute(code)
  frame <- parent.frame()
  for (k in 1:600) {
    value <- tryCatch(list(eval(again, frame)), error = identity)
    if (!inherits(value, "error")) return(value[[1]])
    Sys.sleep(0.1)
  }
  stop(value)
}

# On a separate connection: nothing may be open when a process forks.
count_rewards <- function(place) as.double(steadily(tamper(place, rewards_so_far)$n))
rewards_so_far <- "SELECT COUNT(*) AS n FROM gpb_event WHERE kind = 'reward' AND bandit = 1"

# A function that does the same often, on one connection, which is made again where it was lost, or closed by
# counter("close").
rewards_counter <- function(place) {
  con <- NULL
  end <- function() {
    if (!is.null(con)) try(suppressWarnings(DBI::dbDisconnect(con)), silent = TRUE)
    con <<- NULL
  }
  count <- function() {
    if (is.null(con)) {
      con <<- place$connect()
      if (place$kind == "sqlite") DBI::dbGetQuery(con, "PRAGMA busy_timeout = 60000")
    }
    found <- tryCatch(
      if (place$kind == "sqlite") DBI::dbGetQuery(con, rewards_so_far) else DBI::dbGetQuery(con, rewards_so_far, immediate = TRUE),
      error = function(e) {
        end()
        stop(e)
      })
    as.double(found$n)
  }
  function(what = "count") if (what == "close") end() else steadily(count())
}

# The driver, a fresh process (which is small, and forked faster than that of the tests): its number.
start_driver <- function(place, home, workers, evaluations, ...) {
  at <- tempfile("driver-", home)
  saveRDS(list(place = place, home = home, workers = workers, evaluations = evaluations, owner = Sys.getpid(), more = list(...),
               libraries = .libPaths()), paste0(at, ".rds"))
  writeLines(c(
    "at <- commandArgs(TRUE)[1]",
    "cat(Sys.getpid(), '\\n', file = paste0(at, '.pid'))",
    "fleet <- readRDS(paste0(at, '.rds'))",
    ".libPaths(fleet$libraries)",
    "suppressPackageStartupMessages(library(gpbandits))",
    sprintf("for (file in c('helper-safety.R', 'helper-processes.R', 'helper-store.R')) source(file.path(%s, file))",
            deparse(normalizePath(testthat::test_path()))),
    "drive_fleet(fleet)"), paste0(at, ".R"))
  system2(file.path(R.home("bin"), "Rscript"), shQuote(c("--vanilla", paste0(at, ".R"), at)), wait = FALSE,
          stdout = paste0(at, ".out"), stderr = paste0(at, ".out"))
  pid <- paste0(at, ".pid")
  wait_until(function() isTRUE(file.size(pid) > 0), "a driver")
  scan(pid, 0L, quiet = TRUE)
}

# Keeps that number of workers running until its owner says that all is done, and takes over those of an earlier driver.
# Ends with its owner. (It asks no database itself: a connection may not be open when it forks.)
drive_fleet <- function(fleet) {
  begun <- 0
  # (What every worker would load for itself is loaded once, before they are forked.)
  warm <- fleet_kinds$arms$make(store = bandit_store(tempfile(fileext = ".db"), "b"))
  warm$observe(warm$suggest()$id, 1)
  let_go(warm)
  if (fleet$place$kind == "postgres") loadNamespace("RPostgres")
  while (!file.exists(file.path(fleet$home, "done"))) {
    if (length(running(fleet$owner)) == 0) return(tools::pskill(alive_in(fleet$home), tools::SIGKILL))
    for (k in seq_len(max(0, fleet$workers - length(alive_in(fleet$home))))) {
      do.call(fork_worker, c(list(fleet$place, fleet$home), fleet$more))
      begun <- begun + 1
    }
    if (begun > 10 * (fleet$workers + fleet$evaluations)) stop("workers end before they have done anything")
    Sys.sleep(0.2)
  }
}

# Faults of a fleet, each a function of the database, of the folder of its workers and of its kind.
fleet_blows <- list(
  restart = function(place, ...) if (place$kind == "postgres") postgres_control("restart"),
  crash = function(place, ...) if (place$kind == "postgres") postgres_control("restart", "immediate"),
  # A worker that is stopped wherever it is, until its lease has run out; it comes back.
  zombie = function(place, home, kind, lease) {
    pid <- alive_in(home)[1]
    tools::pskill(pid, tools::SIGSTOP)
    Sys.sleep(1.5 * lease)
    tools::pskill(pid, tools::SIGCONT)
  },
  # One that is stopped in the middle of a transaction. PostgreSQL continues without it; SQLite waits for it.
  frozen = function(place, home, kind, lease) {
    pid <- fork_stopped(place, function(store) fleet_work(store, kind, 0, lease), detached = TRUE)$pid
    wait_for(gpbandits:::is_stopped(pid))
    before <- count_rewards(place)
    allow_rewards(home, max(allowed_rewards(home), before + 4))
    if (place$kind == "postgres") wait_for(count_rewards(place) >= before + 3) else Sys.sleep(1)
    tools::pskill(pid, tools::SIGCONT)
    file.create(file.path(home, pid))
  }
)

# A fleet works on bandit "b" of a database; after `each` further rewards a worker is killed, at equal steps the driver, and
# one of the faults occurs. (Nothing depends on the clock: on a slow machine the same number die, and the fleet ends.)
# What happened: evaluations a second, who was killed.
fleet_under_fire <- function(place, evaluations, workers, each, drivers = 2, kind = "arms", blows = character(), lease = 0.3, ...) {
  home <- tempfile("fleet")
  dir.create(home)
  on.exit({
    tools::pskill(c(running(driver), alive_in(home)), tools::SIGKILL)
    unlink(home, recursive = TRUE)
  })
  rewards <- rewards_counter(place)
  on.exit(rewards("close"), add = TRUE)
  began <- latest <- proc.time()[["elapsed"]]
  start <- function() start_driver(place, home, workers, evaluations, kind = kind, lease = lease, ...)
  killed <- lost <- struck <- done <- 0
  at <- function(k, of) if (k < of) ceiling((k + 1) / (of + 1) * evaluations) else Inf
  allow <- function() allow_rewards(home, min(at(lost, drivers), at(struck, length(blows)), if (killed == 0) each))
  allow()
  driver <- start()
  repeat {
    before <- done
    done <- rewards()
    if (done >= evaluations) break
    if (done > before) latest <- proc.time()[["elapsed"]]
    if (proc.time()[["elapsed"]] > latest + 600) stop(why_stalled(place, home, done, evaluations))
    if (done >= at(lost, drivers)) {
      tools::pskill(driver, tools::SIGKILL)
      lost <- lost + 1
      allow()
      driver <- start()
    }
    if (done >= at(struck, length(blows))) {
      struck <- struck + 1
      allow()
      rewards("close")                                           # (a blow may fork)
      fleet_blows[[blows[struck]]](place, home, kind, lease)
    }
    victims <- if (done >= (killed + 1) * each) alive_in(home)
    if (length(victims)) {
      tools::pskill(victims[1 + (7 * killed) %% length(victims)], tools::SIGKILL)
      killed <- killed + 1
      allow()
    }
    Sys.sleep(0.1)
  }
  took <- proc.time()[["elapsed"]] - began
  file.create(file.path(home, "done"))
  wait_for(length(alive_in(home)) == 0)                          # they detect themselves that nothing is left
  list(per_second = evaluations / took, seconds = took, workers_killed = killed, drivers_killed = lost, blows = blows[seq_len(struck)])
}

why_stalled <- function(place, home, done, evaluations) {
  said <- unlist(lapply(list.files(home, "[.]out$", full.names = TRUE), readLines, warn = FALSE))
  states <- tamper(place, "SELECT state, COUNT(*) AS n FROM gpb_lease WHERE bandit = 1 GROUP BY state")
  paste(c(sprintf("no reward for ten minutes: %g of %g, %d workers are alive", done, evaluations, length(alive_in(home))),
          paste("leases:", paste(states$n, states$state, collapse = ", ")), "drivers:", utils::tail(said, 10)), collapse = "\n")
}

# Nothing lost, nothing counted twice, and the posterior is the log's, by the book.
expect_complete_fleet <- function(place, bandit, evaluations, kind = "arms") {
  bandit$catch_up()
  history <- bandit$history()
  expect_identical(nrow(history), as.integer(evaluations))
  expect_identical(history$status, rep("observed", evaluations))
  expect_equal(history$reward, fleet_truth(history), tolerance = 1e-14)
  counted <- tamper(place, "SELECT query, COUNT(*) AS n FROM gpb_event WHERE kind = 'reward' AND bandit = 1 GROUP BY query")
  expect_true(all(counted$n == 1) && nrow(counted) == evaluations)
  states <- tamper(place, "SELECT state, COUNT(*) AS n FROM gpb_lease WHERE bandit = 1 GROUP BY state")
  expect_setequal(setdiff(states$state, "expired"), "done")
  done <- tamper(place, "SELECT COUNT(*) AS n FROM gpb_lease WHERE bandit = 1 AND state = 'done'")
  expect_equal(as.double(done$n), evaluations)
  points <- history[sort(unique(c(1:5, evaluations))), setdiff(names(history), "z"), drop = FALSE]
  context <- history$z[1]
  points$z <- context
  seen <- bandit$posterior(points[bandit$config$domain$names], context = context)
  expect_equal(seen$mean, book_mean(history, points, fleet_kinds[[kind]]$kernel), tolerance = 1e-7)
}

# The posterior mean at these points from the log's rewards: rewards of one point are one observation of their mean.
book_mean <- function(history, points, kernel) {
  known <- history[!is.na(history$reward), ]
  key <- do.call(paste, lapply(known[intersect(c("x1", "x2", "rule", "z"), names(known))], function(x) if (is.numeric(x)) sprintf("%a", x) else x))
  first <- known[!duplicated(key), ]
  group <- match(key, unique(key))
  as.vector(kernel(points, first) %*% solve(kernel(first, first) + diag(0.01 / tabulate(group), nrow(first)),
                                            tapply(known$reward, group, mean)))
}

fleet_bandit <- function(place, evaluations, kind = "arms") {
  bandit <- fleet_kinds[[kind]]$make(store = store_at(place, attempts = 1000, seed = 4))
  tamper(place, "UPDATE gpb_bandit SET budget = ", evaluations, " WHERE name = 'b'")
  let_go(bandit)
  bandit
}
