# A log made shorter: the same history, the same data for the mean, the same choices, wherever it is kept.

compact_x <- seq(0, 1, length.out = 25)

compact_makers <- c(store_makers[c("ucb", "ts", "hallucinate", "contexts", "open", "box", "product", "refits")], list(
  censored = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, pending = pending_censor(2, -0.5), ...),
  avoided = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, failures = "avoid", ...),
  doubted = function(...) gp_ucb(store_x, kernel_se(0.2), 0.01, failures = "doubt", ...),
  scaled = function(...) gp_bandit(list(u = c(0, 1)), kernel_se(0.2), 0.01, policy_ucb(width_constant(2)), outputs = scale_outputs(),
                                   refit = refit_every(5, minimum = 3), ...),
  space = function(...) gp_bandit(search_space(u = param_real(0, 1), rule = param_factor(c("a", "b"))),
                                  kernel_se(0.3, dims = "u") * kernel_categorical(0.5, dims = "rule"), 0.01, policy_ei(), ...),
  counts = function(...) gp_bandit(compact_x, kernel_se(0.2), policy = policy_ucb(width_constant(1)), rewards = rewards_counts(), ...)))

# Queries, rewards in another order (some means, with separate noise, or wrong at first), failures, withdrawals.
life_to_compact <- function(bandit, steps = 6) {
  draw <- function() if (inherits(bandit$config$rewards, "bandit_rewards_counts") || identical(bandit$config$rewards$kind, "counts")) stats::rpois(1, 3) else stats::rnorm(1)
  plain <- is.null(bandit$config$outputs) && is.null(bandit$config$rewards)
  for (t in seq_len(steps)) {
    context <- if (length(bandit$config$context_names)) sample(0:1, 1)
    suppressWarnings(bandit$suggest(2, context = context))
    history <- bandit$history()
    waiting <- history$id[history$status == "pending"]
    if (t %% 3 == 0) bandit$fail(waiting[1])
    if (t %% 4 == 0) bandit$withdraw(waiting[2])
    for (id in rev(setdiff(waiting, c(if (t %% 3 == 0) waiting[1], if (t %% 4 == 0) waiting[2], utils::tail(waiting, 1))))) {
      if (plain && t == 2) bandit$observe(id, stats::rnorm(3))
      else bandit$observe(id, draw(), noise_var = if (plain && t == 4) 0.2)
      if (t == 5 && bandit$history()$status[id] == "observed") bandit$amend(id, draw())
    }
  }
  invisible(bandit)
}

goes_on <- function(bandit, steps = 2) {
  set.seed(5)
  context <- if (length(bandit$config$context_names)) 1
  for (t in seq_len(steps)) {
    id <- bandit$suggest(context = context)$id
    bandit$observe(id, round(abs(sin(id)) + 1))
  }
  list(history = bandit$history(), posterior = bandit$posterior(store_point(bandit), context = context))
}

store_point <- function(bandit) {
  if (inherits(bandit$config$domain, "search_domain")) return(data.frame(u = 0.25, rule = "a"))
  if (length(bandit$config$domain$names) == 2) cbind(2, 0.25) else 0.25
}

inputs_of <- function(bandit) bandit$config$domain$names
can_count <- function(bandit) gpbandits:::can_count(bandit$config$domain)

test_that("a shorter log has the same history and data, and the same choices follow", {
  for (name in few_of(names(compact_makers), 5)) {
    set.seed(3)
    bandit <- life_to_compact(compact_makers[[name]]())
    whole <- bandit$copy()
    before <- bandit$history()
    counts <- bandit$compact()
    expect_lt(counts[["after"]], counts[["before"]])
    expect_identical(counts[["after"]], log_size(bandit), info = name)
    same <- setdiff(names(before), "propensity")
    expect_identical(bandit$history()[same], before[same], info = name)
    context <- if (length(bandit$config$context_names)) 1
    # The help's "to rounding, and to `accuracy` on the low-rank engine".
    expect_equal(bandit$posterior(store_point(bandit), context = context), whole$posterior(store_point(bandit), context = context),
                 tolerance = 1e-6, info = name)
    expect_identical(gpbandits:::cpp_bandit_known(as.environment(bandit)$handle), {
      gpbandits:::rebuild(as.environment(whole))
      gpbandits:::cpp_bandit_known(as.environment(whole)$handle)
    }, info = name)
    # Once more changes nothing; a copy and a file continue to the bit.
    expect_identical(bandit$compact()[["after"]], counts[["after"]], info = name)
    copies <- list(unserialize(serialize(bandit, NULL)))
    core <- goes_on(bandit)
    for (copy in copies) expect_identical(goes_on(copy), core, info = name)
    # Compared with the whole log: the same arms; elsewhere the same maximum up to the optimiser's tolerance.
    theirs <- goes_on(whole, 1)$history
    next_one <- nrow(theirs)
    expect_equal(core$history[next_one, inputs_of(bandit)], theirs[next_one, inputs_of(bandit)],
                 tolerance = if (can_count(bandit)) 1e-12 else 0.01, info = name)
  }
})

test_that("a shorter log claims nothing about times and predictions that it does not hold", {
  set.seed(2)
  bandit <- gp_ts(compact_x[1:5], kernel_se(0.2), 0.01, B = 1, R = 0.1)
  for (t in 1:4) bandit$observe(bandit$suggest()$id, sin(t))
  inside <- as.environment(bandit)
  expect_false(gpbandits:::arrives_at_will(inside))
  bandit$compact()
  expect_true(gpbandits:::arrives_at_will(inside))
  bandit$observe(bandit$suggest()$id, 1)
  expect_identical(is.na(bandit$history(draws = 20)$propensity), c(rep(TRUE, 4), FALSE))
  expect_s3_class(check_model(bandit), "bandit_check")
})

test_that("the eligible arms of past queries stay", {
  bandit <- gp_ucb(compact_x, kernel_se(0.2), 0.01)
  for (t in 1:3) bandit$observe(bandit$suggest(arms = 3 * t + 0:2)$id, t)
  bandit$compact()
  expect_identical(gpbandits:::eligible_at(as.environment(bandit), 1:3), list(3:5, 6:8, 9:11))
  if (store_packages()) expect_identical(from_json(as_json(bandit))$history(), bandit$history())
})

test_that("bandits that cannot be compacted raise an error and stay unchanged", {
  duel <- gp_bandit(compact_x, kernel_se(0.2), policy = policy_duel(width_constant(1)), rewards = rewards_preferences())
  duel$suggest(2)
  duel$observe(c(2, 1), 1)
  grown <- gp_ucb(compact_x, kernel_se(0.2), 0.01)
  grown$add_arms(2)
  limits <- gp_ucb(compact_x, kernel_se(0.2), 0.01, outcomes = list(a = to_maximize(), b = at_most(1)))
  cases <- list(changes = store_makers$changes(), constraints = store_makers$constraints(), comparisons = duel, "further arms" = grown,
                "several outcomes" = limits, memory = baseline_constrained("ckb", compact_x, kernel_se(0.2), 0.01, step = 0.5, bound = 1),
                intervals = gp_lse(compact_x, kernel_se(0.2), 0.01, level = 0, accuracy = 0.1))
  for (name in names(cases)) {
    before <- cases[[name]]$history()
    expect_error(cases[[name]]$compact(), name, class = "gpbandits_error")
    expect_identical(cases[[name]]$history(), before)
  }
})

test_that("a journal is shortened in one step, and continues", {
  file <- tempfile()
  for (name in few_of(c("ts", "refits", "open"), 2)) {
    unlink(file)
    set.seed(4)
    bandit <- life_to_compact(compact_makers[[name]](journal = file))
    if (name == "ts") gpbandits:::journal_note(bandit, "said", list(a = 1, b = "x y;z"))
    held <- open_bandit(file, rng = FALSE)
    history <- bandit$history()
    drawn <- gpbandits:::resume_from(file, "x", FALSE)$rng
    counts <- open_bandit(file, rng = FALSE)$compact()
    found <- gpbandits:::resume_from(file, "x", FALSE)
    expect_identical(found$rng, drawn)
    expect_identical(tamper(list(kind = "sqlite", connect = function() DBI::dbConnect(RSQLite::SQLite(), file)),
                            "SELECT COUNT(*) AS n FROM gpb_event")$n, counts[["after"]])
    if (name == "ts") expect_identical(found$notes, list(list(name = "said", value = list(a = 1, b = "x y;z"))))
    again <- open_bandit(file)
    same <- setdiff(names(history), "propensity")
    expect_identical(again$history()[same], history[same], info = name)
    core <- goes_on(again)
    theirs <- open_bandit(file)
    expect_identical(theirs$history(), core$history)
    expect_identical(theirs$posterior(store_point(theirs), context = if (name == "open") 1), core$posterior)
    expect_error(held$suggest(context = if (name == "open") 1), class = "gpbandits_error")    # it held the journal that was
    expect_error(held$compact(), "Another bandit has written", class = "gpbandits_error")
  }
})

test_that("a search, and a race over folds, resume from a shorter journal", {
  f <- function(p, fold = 0) fold / 10 - (p[["x"]] - 2)^2
  file <- tempfile()
  for (race in list(NULL, race_folds(5))) {
    unlink(file)
    search <- function(evaluations) {
      maximize_bandit(f, list(x = c(1, 3)), evaluations, n_initial = 2, race = race, model = gp_model(refit = NULL),
                      journal = file)
    }
    begun <- search(10)
    counts <- open_bandit(file, rng = FALSE)$compact()
    expect_lte(counts[["after"]], counts[["before"]] - is.null(race))
    ended <- search(15)
    over <- begun$history$status %in% c("observed", "stopped")
    expect_identical(ended$history$reward[which(over)], begun$history$reward[over])
    expect_identical(ended$history$x[which(over)], begun$history$x[over])
    expect_identical(if (is.null(race)) nrow(ended$history) else as.integer(ended$race$spent), 15L)
  }
})

view_of <- function(place, name) {
  tamper(place, "SELECT id, reward, status, worker, asked_at, answered_at FROM gpb_history WHERE bandit = '", name, "' ORDER BY id")
}

test_that("in a store replicas that are behind, or up to date, continue from the checkpoint; leases stay valid", {
  skip_on_cran()
  on_databases(function(place) {
    for (name in if (place$kind == "sqlite") few_of(c("ucb", "refits", "open"), 2) else "refits") {
      info <- paste(place$kind, name)
      set.seed(6)
      owner <- compact_makers[[name]](store = store_at(place, name, seed = 2))
      context <- if (name == "open") 1
      early <- open_bandit(store_at(place, name))
      life_to_compact(owner, 3)
      behind <- open_bandit(store_at(place, name))
      life_to_compact(owner, 2)
      held <- owner$suggest(context = context, worker = "w", lease = 60)
      abreast <- open_bandit(store_at(place, name))
      seen <- view_of(place, name)
      counts <- open_bandit(store_at(place, name))$compact()
      expect_lt(counts[["after"]], counts[["before"]])
      expect_identical(nrow(tamper(place, "SELECT e.number FROM gpb_event e JOIN gpb_bandit b ON b.bandit = e.bandit WHERE b.name = '", name, "'")),
                       counts[["after"]], info = info)
      expect_equal(view_of(place, name), seen, tolerance = 1e-12, info = info)
      abreast$observe(held$id, 0.5, token = held$token)
      early$suggest(context = context)
      replicas <- list(early, behind, abreast, owner, open_bandit(store_at(place, name)))
      for (replica in replicas) replica$catch_up()
      for (replica in replicas) {
        expect_same_log(replica, replicas[[5]], info)
        expect_identical(replica$posterior(store_point(replica), context = context),
                         owner$posterior(store_point(owner), context = context), info = info)
      }
      # Once more, by a replica that continues.
      behind$compact()
      behind$observe(behind$suggest(context = context)$id, 1)
      owner$catch_up()
      expect_same_log(owner, behind, info)
      expect_identical(summary(store_at(place, name))$events, log_size(owner))
      # An incomplete checkpoint is an error.
      tamper(place, "DELETE FROM gpb_event WHERE number = (SELECT MIN(number) FROM gpb_event) AND bandit = (SELECT MAX(bandit) FROM gpb_bandit)")
      if (name == "ucb") expect_false(identical(refused(open_bandit(store_at(place, name))), "none"))
    }
  })
})

compacting <- c("bandit_compact", "compact_log", "checkpoint_of", "check_checkpoint", "replace_log", "rewrite_log.bandit_file_journal", "journal_write",
                "rewrite_log.bandit_store_log", "rewritten_rows", "commit", "times_reported")

test_that("interrupted at any statement, everything is as before or as after", {
  skip_without_store("RSQLite", unix = TRUE)
  file <- tempfile()
  fates <- character()
  with_clock(compacting, function(clock) for (way in names(strikes)) {
    k <- if (way == "error") 1 else 7
    ends <- character()
    repeat {
      if (k > 2000) stop("struck 2000 statements on, and it has not finished: ", toString(ends))
      unlink(file)
      set.seed(8)
      place <- sqlite_location()
      bandit <- life_to_compact(store_makers$ucb(store = store_at(place, seed = 1)), 2)
      kept <- life_to_compact(store_makers$ucb(journal = file), 2)
      history <- list(bandit$history(), kept$history())
      k <- k + by_level(25, 1, quick = 60)
      ends <- c(struck(clock, strikes[[way]], k, function() bandit$compact()), struck(clock, strikes[[way]], k, function() kept$compact()))
      expect_identical(list(bandit$history(), kept$history()), history)
      late <- open_bandit(store_at(place))
      expect_same_log(late, bandit)
      expect_identical(open_bandit(file, rng = FALSE)$history(), kept$history())
      id <- late$suggest()$id
      bandit$observe(id, 1)
      expect_identical(late$catch_up()$history()$reward[id], 1)
      fates <<- c(fates, ends)
      if (all(ends == "finished")) break
    }
  })
  expect_setequal(fates, c("interrupt", "error", "finished"))
})

test_that("a process that is killed during it has changed nothing, and workers continue", {
  skip_without_signals()
  on_databases(heavy = TRUE, function(place) {
    bandit <- life_to_compact(store_makers$ucb(store = store_at(place, seed = 1)), 4)
    history <- bandit$history()
    let_go(bandit)
    for (k in c(6, 15)) {
      child <- parallel::mcparallel(with_clock("rewritten_rows", function(clock) {
        clock(function() open_bandit(store_at(place))$compact(), function() tools::pskill(Sys.getpid(), tools::SIGKILL), k)
      }), silent = TRUE)
      expect_null(suppressWarnings(parallel::mccollect(child))[[1]])
      late <- open_bandit(store_at(place))
      expect_identical(late$history(), history)
      let_go(late)
    }
    # Two workers, while the log is made shorter again and again: after two results, and again after five, they wait until it
    # has been.
    shortened <- tempfile()
    objective <- function() {
      calls <- 0
      function(p) {
        calls <<- calls + 1
        times <- min(calls %/% 3, 2)
        if (times > 0) wait_until(function() file.exists(paste0(shortened, times)), "a shorter log")
        sin(5 * p[["x1"]])
      }
    }
    tamper(place, "UPDATE gpb_bandit SET budget = 18")
    run_out(place)
    work <- function(k) {
      force(k)
      parallel::mcparallel(work_on(store_at(place), objective(), worker = paste(k), heartbeat = FALSE), silent = TRUE)
    }
    workers <- lapply(1:2, work)
    shorter <- 0
    for (k in 1:12000) {                                 # (ten minutes)
      counts <- open_bandit(store_at(place))$compact()
      if (counts[["after"]] < counts[["before"]]) {
        shorter <- shorter + 1
        file.create(paste0(shortened, shorter))
      }
      done <- tamper(place, "SELECT COUNT(*) AS n FROM gpb_lease WHERE state = 'done' AND worker IS NOT NULL")$n
      if (shorter > 1 && done >= 8) break
      Sys.sleep(0.2)                                       # (the workers need the processors, too)
    }
    if (shorter < 2) file.create(paste0(shortened, 1:2))   # (it has failed; nobody shall wait for ever)
    answered <- unlist(parallel::mccollect(workers))
    late <- open_bandit(store_at(place))$history()
    done <- tamper(place, "SELECT query FROM gpb_lease WHERE state = 'done' AND worker IS NOT NULL")$query
    expect_gt(shorter, 1)
    expect_identical(anyDuplicated(done), 0L)
    expect_equal(sum(answered), length(done))
    expect_identical(late$reward[done], sin(5 * late$x1[done]))
    expect_identical(late[history$id[history$status == "observed"], "reward"], history$reward[history$status == "observed"])
  })
})
