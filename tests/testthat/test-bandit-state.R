# A change of a bandit has happened or has not, wherever it is struck by an interrupt or an error.

state_x <- seq(0, 1, length.out = 12)

# A plain bandit is interrupted at each statement in each way; longer runs in one of the ways, at every other one, and
# at GPBANDITS_TEST_LEVEL=2 as a plain one.
ways <- function(one) by_level(names(strikes)[one], names(strikes))

# The functions that a change runs through.
changing_functions <- c(
  "bandit_suggest", "ask", "ask_queries", "ask_in_turn", "ask_core", "asked_in_core", "refit_in_core", "due_refit",
  "fitted_outcomes", "bandit_observe", "bandit_add", "bandit_amend", "bandit_withdraw", "bandit_reset", "make_ready",
  "rebuild_script", "by_rule", "transact", "rebuild", "replayed",
  "check_idle", "sync_log", "new_rows", "commit", "as_one_change", "table_change", "table_copy", "table_columns",
  "refit_if_due", "apply_refit", "journal_write", "keep_change", "keep_difference", "journal_io", "rows_of_change",
  "record", "script_ask", "script_change", "script_query", "script_commit", "script_record", "script_give", "feed_models", "feed_model",
  "record_model", "query_frame")

# The complete state of a bandit.
state_of <- function(bandit) {
  list(queries = log_columns(bandit, "queries"), events = log_columns(bandit),
       refits = length(bandit$refits), memory = if (is(bandit, "ScriptedBandit")) bandit$memory)
}

# Struck at every statement, a bandit is as before the change or as after it, and continues from there.
expect_all_or_nothing <- function(clock, bandit, change, way, label, journal = NULL, step = by_level(2, 1, quick = 7)) {
  kept <- list(bandit = serialize(bandit, NULL), journal = if (!is.null(journal)) copied_journal(journal))
  make <- function() {
    if (is.null(journal)) return(unserialize(kept$bandit))
    journal <<- tempfile()
    file.copy(kept$journal, journal)
    open_bandit(journal, rng = FALSE)
  }
  after <- make()
  before <- state_of(after)
  count <- clock(function() change(after))
  after <- state_of(after)
  outcomes <- vapply(seq(1, count, by = step), function(k) {
    bandit <- make()
    end <- struck(clock, strikes[[way]], k, function() change(bandit))
    if (!end %in% c(way, "finished")) return(end)
    state <- state_of(bandit)
    where <- if (identical(state, before)) "before" else if (identical(state, after)) "after" else return("between")
    if (!is.null(journal)) {
      if (!identical(state_of(open_bandit(journal, rng = FALSE)), state)) return("not as the journal")
    }
    # Without a core's object it is made again from this state, which has been seen to continue: a few of these do.
    if (is.null(as.environment(bandit)$handle) && k %% 8 > 0) return(where)
    id <- bandit$suggest()$id
    bandit$observe(id, 0.5, constraints = if (length(bandit$config$constraints)) 0)
    if (nrow(bandit$history()) != length(state$queries$arm) + 1 || !identical(bandit$history()$reward[id], 0.5)) {
      return("does not go on")
    }
    where
  }, "")
  expect_identical(setdiff(outcomes, c("before", "after")), character(), info = paste(label, way))
  expect_true("before" %in% outcomes, info = paste(label, way))
}

played_on <- function(bandit) {
  for (k in 1:2) bandit$observe(bandit$suggest()$id, sin(k), constraints = if (length(bandit$config$constraints)) 0)
  bandit$suggest()
  bandit
}

reported_changes <- c("amend", "withdraw", "fail")

# (testthat writes the stack down at each warning: of far rewards, of one point asked for thrice.)
unwarned <- function(code) suppressWarnings(code, classes = "gpbandits_warning")

bandit_changes <- list(
  suggest = function(b) b$suggest(),
  batch = function(b) unwarned(b$suggest(3)),
  observe = function(b) b$observe(3, 1),
  add = function(b) unwarned(b$add(arm = c(2, 4, 2), reward = 1:3)),
  reset = function(b) b$reset(),
  amend = function(b) b$amend(1:2, c(0.7, 0.1)),
  withdraw = function(b) b$withdraw(3),
  fail = function(b) b$fail(3)
)

test_that("a bandit interrupted at any statement of a change is as before the change or as after it", {
  skip_without_signals()
  bandit <- played_on(gp_ucb(state_x, kernel_se(0.2), 0.01))
  with_clock(changing_functions, function(clock) {
    # By default a report of one query is interrupted in one way; a batch repeats the statements of one query.
    for (way in names(strikes)) for (change in setdiff(names(bandit_changes), if (!second_level()) c("batch", if (way != "interrupt") reported_changes))) {
      expect_all_or_nothing(clock, bandit, bandit_changes[[change]], way, change)
    }
  })
})

test_that("the same holds with refits, contexts and constraints", {
  skip_without_signals()
  settings <- list(
    refits = list(refit = refit_every(2, minimum = 2, starts = 1, iterations = 3)),
    constraints = list(constraints = constraints_noisy(1, 3, 0.5))
  )
  functions <- list(refits = changing_functions, constraints = changing_functions)
  for (name in names(settings)) with_clock(functions[[name]], function(clock) for (way in ways(match(name, names(settings)))) {
    bandit <- played_on(do.call(gp_ucb, c(list(state_x, kernel_se(0.2), 0.01), settings[[name]])))
    expect_all_or_nothing(clock, bandit, bandit_changes$batch, way, name)
  })
})

test_that("the same holds with a journal, which agrees with the bandit", {
  skip_without_signals()
  file <- tempfile()
  made <- function(refit = NULL) {
    file <<- tempfile()
    played_on(gp_ucb(state_x, kernel_se(0.2), 0.01, refit = refit, journal = file))
  }
  with_clock(changing_functions, function(clock) for (change in c("observe", "reset")) for (way in ways(1 + (change == "reset"))) {
    expect_all_or_nothing(clock, made(), bandit_changes[[change]], way, change, journal = file)
  })
  refit <- refit_every(2, minimum = 2, starts = 1, iterations = 3)
  with_clock(grep("journal|keep|commit|as_one_change", changing_functions, value = TRUE), function(clock) {
    for (way in few_of(names(strikes), 1))
      expect_all_or_nothing(clock, made(refit), bandit_changes$batch, way, "refits", journal = file)
  })
})

test_that("the same holds for baselines", {
  skip_without_signals()
  bandit <- played_on(baseline_constrained("ckb", state_x, kernel_se(0.2), 0.01, step = 0.5, bound = 1))
  changes <- bandit_changes
  changes$observe <- function(b) b$observe(3, 1, constraints = 0.1)
  added <- by_level(2, c(2, 4, 2))
  changes$add <- function(b) {
    unwarned(b$add(arm = added, reward = seq_along(added), constraints = matrix(0.1, length(added), 1)))
  }
  each <- c(by_level("suggest", "batch"), "add", if (second_level()) reported_changes)
  with_clock(changing_functions, function(clock) for (change in each) for (way in ways(1 + (change == "add"))) {
    expect_all_or_nothing(clock, bandit, changes[[change]], way, change)
  })
  file <- tempfile()
  made <- function() {
    file <<- tempfile()
    played_on(baseline_constrained("ckb", state_x, kernel_se(0.2), 0.01, step = 0.5, bound = 1, journal = file))
  }
  with_clock(grep("journal|keep|commit|as_one_change", changing_functions, value = TRUE), function(clock) {
    for (way in few_of(rev(names(strikes)), 1))
      expect_all_or_nothing(clock, made(), changes$observe, way, "journal", journal = file)
  })
})

test_that("a run interrupted at any statement keeps complete rounds", {
  skip_without_signals()
  problem <- bandit_problem(state_x, sin(5 * state_x), noise = 0.1)
  refit <- refit_every(3, minimum = 2, starts = 1, iterations = 3)
  make <- function() gp_ucb(state_x, kernel_se(0.2), 0.01, refit = refit)
  run <- function(bandit) {
    set.seed(6)
    run_bandit(bandit, problem, 5)
  }
  whole <- make()
  run(whole)
  whole <- whole$history()
  with_clock(c("play", "play_in_core", changing_functions), function(clock) for (way in ways(1)) {
    lengths <- vapply(few_of(seq_len(clock(function() run(make()))), 40), function(k) {
      bandit <- make()
      end <- struck(clock, strikes[[way]], k, function() run(bandit))
      history <- bandit$history()
      if (!end %in% c(way, "finished") || !identical(history, utils::head(whole, nrow(history)))) return(-1L)
      if (!identical(bandit$suggest()$id, nrow(history) + 1L)) return(-1L)
      nrow(history)
    }, 0L)
    expect_setequal(lengths, c(0L, 3L, 5L))           # the refit cuts the run in stretches of three rounds
  })
})

test_that("R's generator is restored, wherever the code that used it is interrupted", {
  skip_on_os("windows")
  bandit <- played_on(gp_ts(state_x, kernel_se(0.2), 0.01, B = 1, R = 0.1))
  uses <- list(best = function() bandit$copy()$best(),
               stream = function() gpbandits:::with_stream(gpbandits:::replication_seeds(1, 1)[[1]], stats::runif(1)))
  set.seed(7)
  state <- .Random.seed
  with_clock(c("preserve_rng", "with_stream", "bandit_best", "replication_seeds"), function(clock) {
    for (way in names(strikes)) for (use in uses) {
      for (k in seq_len(clock(use))) {
        expect_identical(struck(clock, strikes[[way]], k, use), way)
        expect_identical(.Random.seed, state)
      }
    }
  })
})

# ---- objects that others have made ----------------------------------------------------

# What comes of an object that `change` has made of the bandit's environment before it was saved, and read again.
came_of <- function(bandit, change, uses) {
  twin <- unserialize(serialize(bandit, NULL))
  change(as.environment(twin))
  twin <- unserialize(serialize(twin, NULL))
  vapply(uses, function(use) tryCatch({
    utils::capture.output(use(twin))
    "an answer"
  }, gpbandits_error = function(e) "refused", error = function(e) paste("foreign:", conditionMessage(e))), "")
}

assign_anew <- function(name, value, frame) {
  if (exists(name, envir = frame, inherits = FALSE)) rm(list = name, envir = frame)
  assign(name, value, envir = frame)
}

test_that("an object from a file provides values only: its methods are the class's, and no code in it runs", {
  witness <- tempfile()
  picture <- tempfile(fileext = ".pdf")
  grDevices::pdf(picture)
  on.exit(grDevices::dev.off(), add = TRUE)
  evil <- eval(bquote(function(...) file.create(.(witness))), globalenv())
  inside <- c("bandit_suggest", "bandit_history", "own_fields", "with_propensity", "print_bandit", "bandit_facts")
  problem <- bandit_problem(state_x, sin(5 * state_x))
  uses <- list(function(b) b$suggest(), function(b) b$history(), print, summary, function(b) methods::show(b), function(b) b$copy()$suggest(),
               plot, predict, as.data.frame, function(b) b$show(), function(b) b$catch_up(), function(b) b$config)
  uses$run <- function(b) run_bandit(b, problem, 2)
  changes <- list(
    answers = function(e) for (name in gpbandits:::bandit_methods()) assign(name, evil, e),
    answers = function(e) for (name in c("initFields", "getClass", "callSuper", ".self", "usingMethods")) assign_anew(name, evil, e),
    answers = function(e) {
      rm(".refClassDef", envir = e)
      makeActiveBinding(".refClassDef", evil, e)
    },
    answers = function(e) makeActiveBinding("more", evil, e),
    answers = function(e) parent.env(e) <- list2env(stats::setNames(rep(list(evil), length(inside)), inside), parent = parent.env(e)),
    answers = function(e) e$handle <- evil,
    refused = function(e) lockEnvironment(e),
    refused = function(e) e$journal <- structure(list(path = 1), class = "bandit_file_journal"),
    refused = function(e) e$journal <- evil,
    refused = function(e) delayedAssign("kind", file.create(witness), assign.env = e$events),
    refused = function(e) {
      rm("arm", envir = e$queries)
      makeActiveBinding("arm", evil, e$queries)
    })
  for (field in c("config", "queries", "events", "refits", "journal")) {
    changes <- c(changes, refused = eval(bquote(function(e) delayedAssign(.(field), file.create(witness), assign.env = e))),
                 refused = eval(bquote(function(e) {
                   rm(list = .(field), envir = e)
                   makeActiveBinding(.(field), evil, e)
                 })), refused = eval(bquote(function(e) rm(list = .(field), envir = e))))
  }
  bandits <- list(played_on(gp_ucb(state_x, kernel_se(0.2), 0.01)),
                  played_on(baseline_constrained("ckb", state_x, kernel_se(0.2), 0.01, step = 0.5, bound = 1)))
  # (With the second bandit repetitions: what differs is how it answers.)
  for (bandit in bandits) for (k in few_of(seq_along(changes), if (is(bandit, "ScriptedBandit")) 6 else 99)) {
    fates <- came_of(bandit, changes[[k]], if (is(bandit, "ScriptedBandit")) uses[names(uses) != "run"] else uses)
    expected <- if (names(changes)[k] == "answers") "an answer" else "refused"
    # (A bandit that is in no store has nothing to catch up with.)
    if (!all(fates[-11] == expected)) fail(paste(k, paste(fates, collapse = " ")))
    if (file.exists(witness)) fail(paste("something of change", k, "has run"))
    unlink(witness)
  }
  # A promise object deep within the settings, by hand.
  bytes <- serialize(bandits[[1]], NULL, version = 2)
  noise <- quote_item(0.01)
  at <- which(bytes == noise[1])
  at <- Filter(function(k) identical(bytes[k + seq_along(noise) - 1], noise), at[at <= length(bytes) - length(noise)])
  expect_gt(length(at), 0)
  forged <- unserialize(c(bytes[seq_len(at[1] - 1)], promise_item(witness), bytes[-seq_len(at[1] + length(noise) - 1)]))
  expect_error(forged$history(), "holds a promise", class = "gpbandits_error")
  expect_false(file.exists(witness))
})

test_that("an object that only claims to be a bandit is an error", {
  bandit <- gp_ucb(state_x, kernel_se(0.2), 0.01)
  uses <- list(print, summary, predict, as.data.frame, plot, function(b) run_bandit(b, bandit_problem(state_x, state_x), 2), check_model,
               function(b) open_bandit(tempfile(), like = b))
  fakes <- c(list(structure(list(), class = "GPBandit"), structure(list(config = list()), class = "GPBandit"), structure(1, class = "GPBandit"),
                  structure(new.env(), class = "GPBandit")),
             lapply(list(1, "a", list(), globalenv()), function(frame) `attr<-`(bandit$copy(), ".xData", frame)))
  for (fake in fakes) for (use in uses) expect_error(use(fake), class = "gpbandits_error")
})

test_that("the core keeps no second copy of the log", {
  b <- gp_ucb(1:5, kernel_se(1), noise_var = 0.1)
  inside <- as.environment(b)
  for (t in 1:4) b$observe(b$suggest()$id, t)
  reported <- log_size(inside)
  expect_identical(reported, 8L)
  expect_error(gpbandits:::cpp_bandit_log(inside$handle, 0L, 0L), "events that the bandit does not have")
  expect_length(gpbandits:::cpp_bandit_log(inside$handle, 4L, reported)$events$kind, 0)
  again <- b$copy()
  expect_identical(again$history(), b$history())
  b$observe(b$suggest()$id, 5)
  again$observe(again$suggest()$id, 5)
  expect_identical(again$history(), b$history())
})
