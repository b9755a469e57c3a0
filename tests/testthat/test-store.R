# A bandit in a store: replicas, random numbers, settings, and what nobody may write.

test_that("replicas that take turns have one history, to the bit, and so has a new one", {
  skip_on_cran()
  on_databases(function(place) {
    makers <- if (place$kind == "sqlite") few_of(names(store_makers), 3)
              else few_of(c("ts", "constraints", "refits"), 1)
    for (name in makers) {
      info <- paste(place$kind, name)
      set.seed(90)
      first <- store_makers[[name]](store = store_at(place, name, seed = 5))
      replicas <- list(first, open_bandit(store_at(place, name)))
      for (t in 1:5) {
        who <- sample.int(2, 1)
        replicas[[who]]$catch_up()
        store_step(replicas[[who]])
      }
      late <- open_bandit(store_at(place, name))
      for (replica in replicas) {
        replica$catch_up()
        expect_same_log(replica, late, info)
      }
      # The same again without a store, with the random numbers that the help describes.
      alone <- store_makers[[name]]()
      follow_log(alone, late, seed = 5)
      expect_same_log(alone, late, info)
      probe <- if (length(late$config$context_names)) 1
      expect_identical(late$posterior(store_point(late), context = probe),
                       alone$posterior(store_point(late), context = probe), info = info)
    }
  })
})

test_that("every event of every domain, context and outcome reaches a replica that has all events before it", {
  skip_on_cran()
  lives <- stored_lives()
  on_databases(always = TRUE, function(place) {
    # (What differs between the databases is the SQL, not who asks for it: the second one meets each domain and contexts,
    # and the outcomes that have separate columns or kinds of events. The others differ in the settings' text.)
    met <- seq_len(nrow(lives))
    if (place$kind == "postgres" && !second_level() || test_level() == 0) {
      own <- c("plain", "noise_each", "scaled", "clipped", "refits", "noisy_limits", "known_changes", "censored", "drawn")
      met <- which(lives$outcome %in% own & !duplicated(lives$outcome))
      expect_setequal(lives$domain[met], names(stored_domains))
      expect_setequal(lives$contexts[met], names(stored_contexts))
      if (place$kind == "postgres") met <- few_of(met, 3)
    }
    for (k in met) {
      life <- lives[k, ]
      name <- paste(c(place$kind, life), collapse = " ")
      owner <- live_in_store(life, store_at(place, name, seed = k))
      replica <- open_bandit(store_at(place, name))
      events <- Filter(Negate(is.null), events_of(life))
      for (event in names(events)) {
        info <- paste(name, event, sep = ": ")
        events[[event]](owner)
        expect_identical(refused(replica$catch_up()), "none", info = info)
        expect_same_log(replica, owner, info)
        both <- list(owner, replica)                 # the other one makes the next step
        owner <- both[[2]]
        replica <- both[[1]]
      }
      expect_same_log(open_bandit(store_at(place, name)), owner, name)
    }
  })
})

test_that("a batch that begins with the initial design and ends with the policy is stored as it was made", {
  for (domain in list(matrix(1:9 / 9), list(x = c(0, 1)), data.frame(oil = c("a", "a", "b"), x = c(1, 2, 1)))) {
    path <- tempfile(fileext = ".sqlite")
    b <- auto_bandit(domain, n_initial = 2, store = bandit_store(path, "batch"))
    expect_silent(b$suggest(4))
    expect_identical(open_bandit(bandit_store(path, "batch"))$history(), b$history())
  }
})

test_that("numbers in the database are exact to the bit", {
  on_databases(function(place) {
    values <- c(1 / 3, -1e-300, 5e-324, 1e150 * (1 - 2^-53), 0.1 + 0.2, -0.0, pi * 1e17, 1e15 + 0.3)
    bandit <- store_makers$ucb(store = store_at(place))
    bandit$suggest(length(values))
    bandit$observe(seq_along(values), values)
    expect_identical(open_bandit(store_at(place))$history()$reward, values)
    seen <- tamper(place, "SELECT id, reward, status FROM gpb_history ORDER BY id")
    expect_identical(as.double(seen$reward), values)
    expect_true(all(seen$status == "observed"))
  })
})

test_that("a long transaction is complete or absent", {
  skip_on_cran()
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, seed = 1))
    queries <- bandit$suggest(200, worker = "$gpb$'; --", lease = 60)
    expect_identical(anyDuplicated(queries$token), 0L)
    bandit$observe(queries$id, sin(queries$x1), token = queries$token)
    before <- bandit$history()
    # Somebody is in the way of the last of many rows.
    tamper(place, "INSERT INTO gpb_query SELECT bandit, 400, arm, context, action, segment, mean, sd, width, numbers, place ",
           "FROM gpb_query WHERE query = 1")
    expect_match(refused(bandit$suggest(200)), "database")
    expect_identical(bandit$history(), before)
    tamper(place, "DELETE FROM gpb_query WHERE query = 400")
    expect_same_log(open_bandit(store_at(place)), bandit)
    expect_identical(bandit$suggest()$id, 201L)
  })
})

test_that("settings are text that is restored to the bit, and checked", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  K <- kernel_gram(kernel_se(0.3), store_x)
  bandits <- c(lapply(store_makers, function(make) make()), list(
    gp_ucb(store_x, kernel_matrix(K), 1 / 3), gp_ucb(store_x, kernel_se(0.2) + kernel_linear(0.5) * kernel_periodic(2), 1e-7),
    gp_bandit(list(a = c(1, 9), b = c(1e-3, 1)), kernel_se(c(0.1, 1 / 7), dims = c("a", "b")), 0.1, policy_ei(0.01)),
    gp_ucb(stats::setNames(data.frame(1:3), "t\u00e9st \"q\" \\"), kernel_se(1), 0.1, mean = c(-Inf, 1, 2)[c(2, 3, 2)])))
  for (bandit in bandits) {
    text <- gpbandits:::settings_text(bandit$config, FALSE)
    expect_identical(gpbandits:::settings_from_text(text, FALSE, "them"), bandit$config)
    expect_silent(gpbandits:::check_stored_settings(bandit$config))
  }
  odd <- list(a = c(x = NA, y = NaN, z = -Inf), b = NULL, c = c(NA, 3L), d = c(NA, "a"), e = list(), f = -0.0, g = TRUE,
              h = character(), i = structure(list(1), class = "k"), j = .Machine$integer.max, k = 2^53 + 2)
  expect_identical(gpbandits:::settings_from_text(gpbandits:::settings_text(odd, FALSE), FALSE, "them"), odd)
})

test_that("functions are stored and run only if the user trusts the store", {
  on_databases(function(place) {
    wide <- function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, width = width_function(function(t) sqrt(t)), ...)
    expect_match(refused(wide(store = store_at(place))), "trust = TRUE")
    expect_identical(nrow(tamper(place, "SELECT * FROM gpb_bandit")), 0L)
    core <- wide(store = store_at(place, trust = TRUE))
    expect_match(refused(open_bandit(store_at(place))), "trust = TRUE")
    core$suggest(3)
    expect_same_log(open_bandit(store_at(place, trust = TRUE)), core)
  })
})

test_that("invalid settings or functions in a store are detected before any code runs", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  file <- tempfile(fileext = ".db")
  witness <- tempfile()
  gp_ucb(store_x, kernel_se(0.2), 0.01, width = width_function(function(t) 2), store = bandit_store(file, "b", trust = TRUE))
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con), add = TRUE)
  settings <- DBI::dbGetQuery(con, "SELECT settings FROM gpb_bandit")$settings
  expect_match(settings, "\"code\":\"[0-9a-f]+\"")
  for (stream in list(promise_stream(witness), stream_of(list_item(promise_item(witness))), stream_of(with_attribute(promise_item(witness))))) {
    crafted <- c(sprintf("{\"packed\":\"%s\",\"reads\":\"\"}", packed(stream)), sprintf("{\"code\":\"%s\",\"reads\":\"\"}", packed(stream)),
                 sub("\"code\":\"[0-9a-f]+\"", sprintf("\"code\":\"%s\"", packed(stream)), settings))
    for (text in crafted) for (trust in c(FALSE, TRUE)) {
      DBI::dbExecute(con, "UPDATE gpb_bandit SET settings = ?", params = list(text))
      expect_match(refused(open_bandit(bandit_store(file, "b", trust = trust))), "settings in the store")
      expect_false(file.exists(witness))
    }
  }
  other <- tempfile()
  writeLines(settings, other)
  for (text in c(other, paste0("file://", other), "http://127.0.0.1:9/x")) {     # text is text, not where to find some
    DBI::dbExecute(con, "UPDATE gpb_bandit SET settings = ?", params = list(text))
    expect_match(refused(open_bandit(bandit_store(file, "b", trust = TRUE))), "settings in the store")
  }
})

test_that("one name belongs to one bandit, and an unknown one is an error", {
  on_databases(function(place) {
    expect_match(refused(open_bandit(store_at(place))), "has no bandit named")
    expect_match(refused(open_bandit(store_at(place), trust = TRUE)), "`trust`")
    expect_match(refused(open_bandit(store_at(place), rng = FALSE)), "`rng`")
    store_makers$ucb(store = store_at(place))
    expect_match(refused(store_makers$ucb(store = store_at(place))), "already has a bandit named")
    bandit <- open_bandit(store_at(place))
    expect_match(refused(bandit$reset()), "with another name")
    copy <- bandit$copy()
    copy$suggest(2)
    expect_identical(nrow(open_bandit(store_at(place))$history()), 0L)
    expect_match(refused(copy$catch_up()), "in a store")
    expect_output(print(bandit), "store")
    saved <- unserialize(serialize(bandit, NULL))           # goes to another process and connects again
    saved$suggest()
    bandit$catch_up()
    expect_same_log(saved, bandit)
  })
})

test_that("invalid arguments are errors before anything happens", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  file <- tempfile(fileext = ".db")
  for (con in list(NULL, 1, NA, mean, TRUE, "", file.path(tempdir(), "no", "such"))) {
    expect_match(refused(bandit_store(con, "b")), "con|database", info = gpbandits:::describe(con))
  }
  expect_match(refused(bandit_store(file, "")), "name")
  expect_match(refused(bandit_store(file, "b", attempts = 0)), "attempts")
  expect_match(refused(bandit_store(file, "b", seed = 0.5)), "seed")
  expect_match(refused(bandit_store(file, "b", trust = NA)), "trust")
  expect_match(refused(gp_ucb(store_x, kernel_se(0.2), 0.01, store = file)), "bandit_store")
  expect_match(refused(gp_ucb(store_x, kernel_se(0.2), 0.01, store = bandit_store(file, "b"), journal = tempfile())), "journal")
  bandit <- store_makers$ucb(store = bandit_store(file, "b"))
  expect_match(refused(bandit$suggest(worker = 1, lease = 60)), "worker")
  expect_match(refused(bandit$suggest(lease = 0)), "lease")
  expect_match(refused(bandit$suggest(leese = 1)), "lease")
  expect_identical(nrow(bandit$history()), 0L)
})

test_that("invalid rows are errors, and the replica stays unchanged", {
  skip_on_cran()
  changes <- c(
    "UPDATE gpb_event SET reward = reward + 1e-9 WHERE number = 4", "UPDATE gpb_event SET kind = 'dance' WHERE number = 4",
    "UPDATE gpb_event SET query = 99 WHERE number = 4", "UPDATE gpb_event SET query = -1 WHERE number = 4",
    "UPDATE gpb_event SET query = 0 WHERE number = 4", "UPDATE gpb_event SET checksum = 1 WHERE number = 4",
    "UPDATE gpb_event SET kind = 'given' WHERE number = 4", "UPDATE gpb_event SET kind = 'refit' WHERE number = 4",
    "DELETE FROM gpb_event WHERE number = 4", "DELETE FROM gpb_query WHERE query = 2",
    "UPDATE gpb_query SET arm = 1000000 WHERE query = 2", "UPDATE gpb_query SET arm = -5 WHERE query = 2",
    "UPDATE gpb_query SET context = 7 WHERE query = 2", "UPDATE gpb_query SET action = 'x' WHERE query = 2",
    "UPDATE gpb_query SET mean = NULL WHERE query = 2", "UPDATE gpb_query SET numbers = '1 2 3' WHERE query = 2",
    "UPDATE gpb_query SET sd = -1 WHERE query = 2", "UPDATE gpb_query SET segment = 0 WHERE query = 2",
    "UPDATE gpb_bandit SET events = 3", "UPDATE gpb_bandit SET events = 900", "UPDATE gpb_bandit SET queries = 1",
    "UPDATE gpb_bandit SET settings = '{}'", "UPDATE gpb_bandit SET settings = 'no JSON'",
    "UPDATE gpb_bandit SET settings = REPLACE(settings, '0.01', '-1')",
    "UPDATE gpb_bandit SET settings = REPLACE(settings, 'srinivas_finite', 'constant')")
  loose <- c("UPDATE gpb_event SET reward = 'much' WHERE number = 4", "UPDATE gpb_event SET query = 'one' WHERE number = 4",
             "UPDATE gpb_query SET arm = 1.5 WHERE query = 2", "UPDATE gpb_query SET arm = 'a' WHERE query = 2",
             "UPDATE gpb_query SET mean = 'x' WHERE query = 2", "UPDATE gpb_bandit SET seed = 'x'",
             "UPDATE gpb_event SET number = number + 0.5 WHERE number = 4")         # SQLite takes any type
  leases <- c("UPDATE gpb_lease SET query = 77 WHERE query = 3", "UPDATE gpb_lease SET query = -3 WHERE query = 3",
              "UPDATE gpb_lease SET attempt = -1 WHERE query = 3")
  changes <- c(changes, sprintf("UPDATE gpb_bandit SET settings = '%s'", c(strrep("[", 1e5), "3", '[{"type": "list"}]')),
               "UPDATE gpb_bandit SET settings = REPLACE(settings, '\"format\"', '\"rule\"')",
               "UPDATE gpb_bandit SET settings = REPLACE(settings, '\"format\"', '\"design\"')")
  on_databases(function(place) {
    if (place$kind == "postgres") changes <- c(changes, "UPDATE gpb_bandit SET checksum = 'NaN'", "UPDATE gpb_event SET time = 'Infinity' WHERE number = 4")
    bandit <- store_makers$ucb(store = store_at(place, seed = 1))
    bandit$suggest(2)
    behind <- open_bandit(store_at(place))
    behind$suggest(1, worker = "w", lease = 60)
    before <- behind$history()
    bandit$observe(1, 0.5)
    bandit$observe(2, -0.5)
    backup <- lapply(c("gpb_bandit", "gpb_query", "gpb_event"), function(table) tamper(place, "SELECT * FROM ", table))
    for (change in if (place$kind == "sqlite") few_of(c(changes, loose), 10) else c(changes[seq(1, length(changes), 4)], utils::tail(changes, 2))) {
      if (inherits(try(tamper(place, change), silent = TRUE), "try-error")) next    # the database itself raises an error
      expect_false(identical(refused(open_bandit(store_at(place))), "none"), info = paste(place$kind, change))
      if (!grepl("settings|gpb_query", change)) {
        expect_false(identical(refused(behind$catch_up()), "none"), info = paste(place$kind, change))
        expect_false(identical(refused(behind$suggest()), "none"), info = paste(place$kind, change))
      }
      expect_identical(behind$history(), before, info = change)
      restore_tables(place, backup)
    }
    for (change in c(leases, if (place$kind == "sqlite") "UPDATE gpb_lease SET expires = 'soon' WHERE query = 3")) {
      saved <- tamper(place, "SELECT * FROM gpb_lease WHERE query = 3")
      if (inherits(try(tamper(place, change), silent = TRUE), "try-error")) next
      expect_match(refused(behind$suggest(lease = 60)), "gpb_lease", info = change)
      tamper(place, "DELETE FROM gpb_lease WHERE worker = 'w'")
      con <- place$connect()
      DBI::dbAppendTable(con, "gpb_lease", saved)
      DBI::dbDisconnect(con)
    }
    tamper(place, "UPDATE gpb_lease SET state = 'offered' WHERE query = 1")     # it has been answered
    expect_identical(behind$suggest(worker = "x", lease = 60)$id, 4L)
    expect_same_log(behind, open_bandit(store_at(place)))
  })
})

test_that("refits with damaged parameters are errors, and the replica stays unchanged", {
  skip_on_cran()
  on_databases(function(place) {
    bandit <- store_makers$refits(store = store_at(place, seed = 1))
    bandit$suggest(1)
    behind <- open_bandit(store_at(place))
    before <- behind$history()
    for (k in 1:6) bandit$observe(bandit$suggest(worker = "w", lease = 60)$id, sin(k))
    text <- tamper(place, "SELECT parameters FROM gpb_event WHERE kind = 'refit'")$parameters[1]
    lying <- c("no JSON", "", "3", "{}", "[]", strrep("[", 1e5), sub("\"noise_var\"", "\"noise\"", text, fixed = TRUE),
               gsub("\\d\\.\\d+", "-1", text))
    for (parameters in lying) {
      expect_match(refused(stored_refit(parameters, bandit)), "^(?!none$).", perl = TRUE, info = substr(parameters, 1, 50))
      tamper(place, "UPDATE gpb_event SET parameters = '", parameters, "' WHERE kind = 'refit'")
      expect_match(refused(open_bandit(store_at(place))), "^(?!none$).", perl = TRUE, info = substr(parameters, 1, 50))
      expect_match(refused(behind$catch_up()), "^(?!none$).", perl = TRUE, info = substr(parameters, 1, 50))
      expect_identical(behind$history(), before)
    }
    tamper(place, "UPDATE gpb_event SET parameters = NULL WHERE kind = 'refit'")
    expect_match(refused(open_bandit(store_at(place))), "^(?!none$).", perl = TRUE)
    tamper(place, "UPDATE gpb_event SET parameters = '", text, "' WHERE kind = 'refit'")
    behind$catch_up()
    expect_same_log(behind, bandit)
  })
})

test_that("rows of a store are parsed, never used as an address or a path, and not quoted", {
  skip_on_os("windows")
  on_databases(function(place) {
    bandit <- store_makers$refits(store = store_at(place, seed = 1))
    for (k in 1:7) bandit$observe(bandit$suggest()$id, k / 10)
    settings <- tamper(place, "SELECT settings FROM gpb_bandit")$settings
    file <- tempfile(fileext = ".json")
    writeLines(c("a secret", settings), file)
    good <- tempfile(fileext = ".json")
    writeLines(settings, good)
    pipe <- tempfile("pipe")
    system2("mkfifo", pipe)
    listener <- gpbandits:::cpp_listen_local()
    address <- sprintf("http://127.0.0.1:%d/settings.json", listener$port)
    for (text in c(good, file, pipe, address, "", "a secret {")) {
      tamper(place, "UPDATE gpb_bandit SET settings = ", DBI::dbQuoteString(DBI::ANSI(), text))
      got <- refused(open_bandit(store_at(place)))
      expect_match(got, "^Cannot read the bandit's settings in the store: ", info = text)
      expect_false(grepl("secret|json", got), info = text)
    }
    tamper(place, "UPDATE gpb_bandit SET settings = ", DBI::dbQuoteString(DBI::ANSI(), settings))
    fit <- tamper(place, "SELECT parameters FROM gpb_event WHERE kind = 'refit'")$parameters[1]
    expect_true(is.list(gpbandits:::stored_refit(fit, as.environment(bandit))))
    writeLines(fit, good)
    for (text in c(good, file, pipe, address, NA, "nul \\u0000", paste0("[\"a\\u0000b\"]"))) {
      got <- refused(gpbandits:::stored_refit(text, as.environment(bandit)))
      expect_match(got, "^Cannot read a refit in the store: ", info = text)
      expect_false(grepl("secret|json", got), info = text)
    }
    expect_length(gpbandits:::cpp_connections(listener$port), 0)
    gpbandits:::cpp_close_listener(listener$listener)
  })
})

test_that("tables of a newer version are errors", {
  on_databases(function(place) {
    store_makers$ucb(store = store_at(place))
    tamper(place, "UPDATE gpb_schema SET version = 2")
    expect_match(refused(store_at(place)), "version 2")
  })
})

test_that("a replica interrupted during an update is as before or up to date", {
  skip_without_store("RSQLite", unix = TRUE)
  functions <- c("bandit_catch_up", "play_others", "check_end", "replica_state", "read_rows", "check_rows", "check_row_types", "check_stored_points",
                 "numbers_of", "play_rows", "play_columns", "sync_log", "new_rows", "commit", "rebuild", "check_idle")
  log_of <- function(bandit) lapply(list(bandit$queries, bandit$events), gpbandits:::table_columns)
  place <- sqlite_location()
  owner <- store_makers$ucb(store = store_at(place, "struck", seed = 3))
  behind <- open_bandit(store_at(place, "struck"))
  before <- log_of(behind)
  store_step(owner)
  ways <- by_level("interrupt", names(strikes))
  with_clock(functions, function(clock) for (way in ways) {
    count <- clock(function() open_bandit(store_at(place, "struck")))
    ends <- vapply(few_of(seq_len(count), 40), function(k) {
      replica <- gpbandits:::new_bandit(behind$config)
      replica$journal <- list2env(as.list.environment(behind$journal, all.names = TRUE), parent = emptyenv())
      class(replica$journal) <- class(behind$journal)
      end <- struck(clock, strikes[[way]], k, function() replica$catch_up())
      if (!end %in% c(way, "finished")) return(end)
      where <- if (identical(log_of(replica), before)) "before" else if (identical(log_of(replica), log_of(owner))) "after" else return("between")
      replica$catch_up()
      if (identical(replica$history(), owner$history()) && identical(replica$posterior(), owner$posterior())) where else "does not go on"
    }, "")
    expect_identical(setdiff(ends, c("before", "after")), character(), info = way)
    expect_true(all(c("before", "after") %in% ends), info = way)
  })
})

test_that("a run in a store equals one without, and continues next to others", {
  skip_on_cran()
  problem <- bandit_problem(store_x, sin(6 * store_x), noise = 0.1, delay = 2)
  on_databases(function(place) {
    run <- function(bandit, ...) {
      set.seed(11)
      as.data.frame(run_bandit(bandit, problem, 8, ...))
    }
    stored <- run(store_makers$hallucinate(store = store_at(place, seed = 1)))
    expect_equal(stored, run(store_makers$hallucinate()), tolerance = 1e-12)
    expect_identical(sum(is.na(stored$reward)), 2L)                           # still under way, as without a store
    replica <- open_bandit(store_at(place))
    expect_identical(replica$history()$reward, stored$reward)
    copy <- replica$copy()
    copy$reset()
    expect_identical(nrow(copy$history()), 0L)
    # Another process asks and reports after each of the rounds.
    other <- open_bandit(store_at(place))
    beside <- run(replica, stop_when = function(bandit) {
      other$observe(other$suggest()$id, 0)
      FALSE
    })
    expect_identical(beside$id, seq(9L, 23L, by = 2L))
    expect_equal(beside$f, sin(6 * beside$x1))
    expect_identical(nrow(run(replica, stop_when = function(bandit) TRUE)), 1L)
    tamper(place, "UPDATE gpb_bandit SET budget = 28")
    expect_identical(run(replica)$id, 26:28)
    expect_match(refused(run(replica)), "budget")
  })
})

test_that("contexts and constraints work in a run in a store", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  with_contexts <- bandit_problem(store_x, function(p) p[, 1] * p[, 2], contexts = cbind(z = c(0, 1)))
  constrained <- bandit_problem(store_x, store_x, constraints = cbind(store_x - 0.5, -store_x),
                                constraint_noise = list(0.1, 0.1))
  runs <- function(name, problem, ...) {
    set.seed(12)
    as.data.frame(run_bandit(store_makers[[name]](...), problem, 7))
  }
  for (case in list(list("contexts", with_contexts), list("constraints", constrained))) {
    expect_equal(runs(case[[1]], case[[2]], store = store_at(sqlite_location(), seed = 1)), runs(case[[1]], case[[2]]), tolerance = 1e-12,
                 info = case[[1]])
  }
})

test_that("the view of the history has time and reason of withdrawals, and late answers of failed queries", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place))
    other <- open_bandit(store_at(place))
    bandit$suggest(3)
    bandit$fail(1, reason = "rain; \"hail\"\n\u00e9")
    bandit$withdraw(2)
    bandit$add(x = store_x[4])
    bandit$fail(4, reason = "no lease was there")
    bandit$fail(3)
    seen <- function() tamper(place, "SELECT status, answered_at, reason FROM gpb_history ORDER BY id")
    reasons <- c("rain; \"hail\"\n\u00e9", NA, NA, "no lease was there")
    expect_identical(seen()$status, c("failed", "withdrawn", "failed", "failed"))
    expect_true(all(as.double(seen()$answered_at) > 1.7e9))
    expect_identical(enc2utf8(seen()$reason), reasons)
    expect_identical(other$catch_up()$history()$reason, reasons)
    expect_same_log(other, bandit)
    bandit$observe(1, 0.5)
    expect_identical(seen()$status[1], "observed")
    expect_identical(seen()$reason[1], NA_character_)
    bandit$compact()
    late <- open_bandit(store_at(place))
    for (one in list(bandit, other$catch_up(), late)) expect_identical(one$history()$reason, c(NA, reasons[-1]))
  })
})

# A replica that locks the bandit's row before each change.
locking <- function(bandit) {
  makeActiveBinding("alone", function(value) FALSE, bandit$journal)
  bandit
}

test_that("a change that is computed before the lock is the one that would be computed under it", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  for (name in few_of(names(store_makers), 3)) {
    histories <- lapply(list(identity, locking), function(of) {
      place <- sqlite_location()
      set.seed(21)
      bandit <- of(store_makers[[name]](store = store_at(place, seed = 6)))
      for (k in 1:by_level(8, 30, quick = 3)) store_step(bandit)
      expect_same_log(open_bandit(store_at(place)), bandit, info = name)
      bandit$history()
    })
    expect_identical(histories[[1]], histories[[2]], info = name)
  }
})

test_that("a change that is computed before the lock counts only if no other process was first", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  mine <- new.env()
  mine$act <- function() NULL
  bandit <- mined_bandit(store_at(place, trust = TRUE, seed = 4), mine)
  theirs <- open_bandit(store_at(place, trust = TRUE))
  for (k in 1:3) bandit$observe(bandit$suggest()$id, k)
  # The other process adds a point while the first computes, and its query is computed again.
  calls <- 0
  mine$act <- function() {
    calls <<- calls + 1
    if (calls == 1) theirs$add(0.25, reward = 7)
  }
  expect_identical(bandit$suggest()$id, 5L)
  expect_identical(calls, 2)
  mine$act <- function() NULL
  expect_identical(bandit$history()$reward[1:4], c(1, 2, 3, 7))
  # An answer to a query that the replica lacks.
  bandit$suggest()
  theirs$catch_up()
  id <- theirs$suggest()$id
  bandit$observe(id, 1)
  expect_identical(bandit$history()$reward[id], 1)
  # The same reward again changes nothing, another one is an error; so is a wrong token, even for a reward.
  bandit$observe(5, 2)
  before <- bandit$history()
  bandit$observe(5, 2)
  expect_match(refused(bandit$observe(5, 3)), "5")
  query <- bandit$suggest()
  expect_match(refused(bandit$observe(query$id, 3, token = strrep("0", 32))), "token")
  expect_match(refused(bandit$observe(query$id, 3, token = 3)), "token")
  expect_identical(bandit$history()$reward, c(before$reward, NA))
  bandit$observe(query$id, 3, token = query$token)
  # A budget from elsewhere.
  bandit$suggest()
  give_budget(place, nrow(bandit$history()) - 1)                             # (the point of the other process has no lease)
  expect_message(expect_identical(nrow(bandit$suggest()), 0L), "budget")
  theirs$catch_up()
  expect_same_log(theirs, bandit)
  expect_same_log(open_bandit(store_at(place, trust = TRUE)), bandit)
})

test_that("a store that is not durable uses the database's setting for that, in its transactions only", {
  on_databases(function(place) {
    ask <- if (place$kind == "sqlite") "PRAGMA synchronous" else "SHOW synchronous_commit"
    level <- function(connection) as.character(gpbandits:::sql_rows(connection, ask)[[1]])
    found <- lapply(c(TRUE, FALSE), function(durable) {
      store <- store_at(place, if (durable) "a" else "b", seed = 3, durable = durable)
      connection <- store$connection
      gpbandits:::sql_begin(connection, "SELECT 1 AS one")
      within <- level(connection)
      gpbandits:::sql_rollback(connection)
      bandit <- store_makers$ucb(store = store)
      for (k in 1:3) bandit$observe(bandit$suggest()$id, k)
      expect_same_log(open_bandit(store_at(place, store$name)), bandit)
      if (place$kind == "postgres") expect_identical(DBI::dbGetQuery(connection$con, ask, immediate = TRUE)[[1]], "on")
      list(level = within, history = bandit$history())
    })
    expect_identical(vapply(found, `[[`, "", "level"), if (place$kind == "sqlite") c("2", "1") else c("on", "off"))
    expect_identical(found[[1]]$history, found[[2]]$history)
  })
  expect_match(refused(bandit_store(tempfile(), "b", durable = NA)), "durable")
})

test_that("a token of a query that a power failure has lost is an error, and a replica that has read it too", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place, seed = 1, durable = FALSE))
  bandit$observe(bandit$suggest()$id, 1)
  let_go(bandit)                                                             # (everything is in the file now)
  kept <- tempfile()
  file.copy(place$file, kept)
  lost <- bandit$suggest()
  bandit$observe(lost$id, 9)
  let_go(bandit)
  unlink(paste0(place$file, c("-wal", "-shm")))
  file.copy(kept, place$file, overwrite = TRUE)
  expect_match(refused(bandit$suggest()), "lost events")
  again <- open_bandit(store_at(place, durable = FALSE))
  query <- again$suggest()
  expect_identical(query$id, lost$id)
  expect_match(refused(again$observe(lost$id, 5, token = lost$token)), "token")
  again$observe(query$id, 2, token = query$token)
  expect_identical(again$history()$reward, c(1, 2))
  # Others have used the numbers of the lost events, with the same number of events and with more.
  expect_match(refused(bandit$catch_up()), "lost events")
  again$suggest()
  expect_match(refused(bandit$suggest()), "lost events")
  expect_identical(bandit$history()$reward, c(1, 9))
})

test_that("the text of rows is that of R's own functions, to the bit", {
  hex <- function(x) sprintf("%a", as.double(x) + 0)
  numbers <- c(0, -0, 0.1, -1 / 3, 1e300, 5e-324, NA, NaN, Inf, -Inf, 12, 2^53)
  n <- length(numbers)
  kinds <- rep_len(c("query", "reward", "given", "fail"), n)
  e <- list(number = seq_len(n), kind = kinds, query = rep_len(c(1L, NA, 100000L), n), reward = numbers, time = rev(numbers),
            numbers = rep_len(c("", "0x1p+0 NA"), n), parameters = rep_len(c(NA, "{\"a\":1}", "H\u00e4fen"), n))
  asks <- kinds %in% c("query", "given")
  q <- list(arm = c(NA, 1:5), context = 0:5, action = rep_len(c("select", "explore"), 6), segment = rep(1L, 6),
            mean = numbers[1:6], sd = numbers[3:8], width = numbers[7:12], numbers = rep_len(c("", "0x1p-1"), 6))
  by_r <- function(q, e) {
    text <- paste(e$number, e$kind, e$query, hex(e$reward), hex(e$time), e$numbers,
                  ifelse(is.na(e$parameters), "", e$parameters), sep = "|")
    text[asks] <- paste(text[asks], paste(q$arm, q$context, q$action, q$segment, hex(q$mean), hex(q$sd), hex(q$width),
                                          q$numbers, sep = "|"), sep = "|")
    text
  }
  expect_identical(gpbandits:::cpp_row_texts(q, e), by_r(q, e))
  # As a database returns them: numbers for integers, and columns of NULLs.
  from_database <- function(x) lapply(x, function(column) if (is.integer(column)) as.double(column) else column)
  expect_identical(gpbandits:::cpp_row_texts(from_database(q), from_database(e)), by_r(from_database(q), from_database(e)))
  empty <- replace(e, "reward", list(rep(NA, n)))
  expect_identical(gpbandits:::cpp_row_texts(q, empty), by_r(q, empty))
  columns <- list(rep_len(c(3L, NA), n), numbers)
  expect_identical(gpbandits:::cpp_number_rows(columns, n), paste(sprintf("%d", columns[[1]]), sprintf("%a", numbers)))
  expect_identical(gpbandits:::cpp_number_rows(list(), 2L), c("", ""))
  expect_identical(gpbandits:::cpp_number_rows(list(numeric()), 0L), character())
})
