# The event log: plain R data that grows by doubling, and is all of a bandit's state.

new_table <- gpbandits:::new_table
table_append <- gpbandits:::table_append
table_change <- gpbandits:::table_change

test_that("tables grow by doubling and keep their contents", {
  skip_on_cran()
  table <- new_table(list(a = integer(), b = double()))
  expected <- list(a = integer(), b = double())
  lengths <- integer()
  set.seed(41)
  for (k in 1:300) {
    count <- sample(0:7, 1)
    rows <- list(a = sample.int(100L, count, TRUE), b = stats::rnorm(count))
    table_append(table, rows)
    expected <- Map(c, expected, rows)
    lengths <- c(lengths, length(table$a))
    expect_identical(gpbandits:::table_size(table), length(expected$a))
  }
  expect_identical(gpbandits:::table_columns(table), expected)
  steps <- unique(lengths[lengths > 0])
  expect_lt(length(steps), 10)                       # 1,000 rows, a handful of reallocations
  expect_true(all(steps[-1] >= 2 * steps[-length(steps)]))
  table_append(table, list(a = 1:5000, b = as.double(1:5000)))
  expect_identical(utils::tail(gpbandits:::table_column(table, "a"), 5000), 1:5000)
})

test_that("a table that has room is changed in place", {
  table <- new_table(list(a = integer(), b = double()))
  table_append(table, list(a = 1:1e6, b = as.double(1:1e6)))
  table_append(table, list(a = 1L, b = 1))           # room for a million more: 24 MB
  row <- list(table_change(table, list(a = 2L, b = 2), list(b = list(7L, 0))))
  used <- function(reset) gc(reset = reset)["Vcells", 6]
  before <- used(TRUE)
  for (k in 1:10) gpbandits:::commit(table, row)
  expect_lt(used(FALSE) - before, 4)
  expect_identical(gpbandits:::table_size(table), 1000011L)
  expect_identical(table$b[c(7, 1000011)], c(0, 2))
})

test_that("values read from a table, or copied, do not change with it", {
  table <- new_table(list(a = integer()))
  table_append(table, list(a = 1:40))
  read <- gpbandits:::table_column(table, "a")
  whole <- table$a
  copy <- gpbandits:::table_copy(table)
  gpbandits:::commit(table, list(gpbandits:::table_change(table, cells = list(a = list(1:3, c(7L, 8L, 9L))))))
  table_append(table, list(a = 41:44))
  expect_identical(read, 1:40)
  expect_identical(whole[1:40], 1:40)
  expect_identical(gpbandits:::table_column(copy, "a"), 1:40)
  table_append(copy, list(a = 0L))
  expect_identical(gpbandits:::table_size(table), 44L)
  expect_identical(gpbandits:::table_column(table, "a"), c(7:9, 4:44))
})

test_that("the log has all events, in order", {
  bandit <- gp_ucb(safe_x, safe_kernel, 0.01)
  bandit$suggest(2)
  bandit$observe(2, 0.5)
  bandit$add(arm = c(3, 4), reward = c(1, 2))
  bandit$observe(1, -0.5)
  events <- gpbandits:::table_columns(bandit$events)
  kind <- gpbandits:::event_kind
  expect_identical(events$kind, unname(kind[c("query", "query", "reward", "given", "given", "reward")]))
  expect_identical(events$id, c(1L, 2L, 2L, 3L, 4L, 1L))
  expect_identical(events$reward, c(NA, NA, 0.5, 1, 2, -0.5))
  expect_identical(bandit$history()$reward, c(-0.5, 0.5, 1, 2))
  expect_identical(bandit$history()$action, c("policy", "policy", "given", "given"))
})

# A few more rounds, the same for every bandit that is in the same state.
go_on <- function(bandit) {
  force(bandit)                                      # making one draws random numbers
  set.seed(42)
  first <- bandit$suggest(3, context = context_of(bandit))
  bandit$observe(rev(first$id)[-1], c(0.2, -0.1))
  second <- bandit$suggest(1, context = context_of(bandit))
  list(first, second, snapshot_of(bandit))
}

test_that("a bandit is restored from its log alone: dropped handle, copy, serialisation", {
  skip_on_cran()
  for (name in names(safe_bandits)) {
    expected <- go_on(safe_bandits[[name]]())
    dropped <- safe_bandits[[name]]()
    dropped$handle <- NULL
    through <- list(dropped = dropped, copied = safe_bandits[[name]]()$copy(),
                    serialised = unserialize(serialize(safe_bandits[[name]](), NULL)),
                    twice = safe_bandits[[name]]()$copy()$copy())
    for (way in names(through)) {
      result <- go_on(through[[way]])
      expect_identical(result[1:2], expected[1:2], info = paste(name, way))
      expect_equal(result[[3]], expected[[3]], tolerance = tol$replay, info = paste(name, way))
    }
  }
})

test_that("a saved bandit continues in a fresh process, which need not have loaded the package", {
  skip_on_cran()
  files <- c(bandits = tempfile(fileext = ".rds"), results = tempfile(fileext = ".rds"))
  on.exit(unlink(files))
  saveRDS(lapply(safe_bandits, function(make) make()), files[["bandits"]])
  out <- run_child(c(
    sprintf("bandits <- readRDS(%s)", deparse(files[["bandits"]])),
    "results <- lapply(bandits, function(b) {",
    "  context <- if (length(b$config$context_names)) 1",
    "  set.seed(42)",
    "  first <- b$suggest(3, context = context)",
    "  b$observe(rev(first$id)[-1], c(0.2, -0.1))",
    "  list(first, b$suggest(1, context = context), b$history(), b$posterior(seq(0, 1, length.out = 12), context))",
    "})",
    sprintf("saveRDS(results, %s)", deparse(files[["results"]]))))
  expect_true(file.exists(files[["results"]]), info = paste(out, collapse = "\n"))
  results <- readRDS(files[["results"]])
  for (name in names(safe_bandits)) {
    expected <- go_on(safe_bandits[[name]]())
    expect_identical(results[[name]][1:2], expected[1:2], info = name)
    expect_equal(results[[name]][[3]], expected[[3]]$history, tolerance = tol$replay, info = name)
    expect_equal(results[[name]][[4]], expected[[3]]$posterior, tolerance = tol$replay, info = name)
  }
})

test_that("a saved bandit holds no address and no more than the log", {
  bandit <- gp_ucb(safe_x, safe_kernel, 0.01)
  problem <- bandit_problem(safe_x, sin(safe_x))
  run_bandit(bandit, problem, 1000)
  small <- length(serialize(bandit$events, NULL)) + length(serialize(bandit$queries, NULL))
  expect_lt(small, 1000 * 400)
  expect_identical(gpbandits:::cpp_bandit_state(unserialize(serialize(bandit, NULL))$handle), "none")
})

test_that("a copy is independent, both ways", {
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    copy <- bandit$copy()
    before <- snapshot_of(bandit)
    copy$suggest(20, context = context_of(copy))     # past a doubling of the columns
    copy$observe(5, 3)
    expect_identical(snapshot_of(bandit), before, info = name)
    kept <- snapshot_of(copy)
    bandit$observe(6, -3)
    bandit$reset()
    expect_identical(snapshot_of(copy), kept, info = name)
  }
})

test_that("reset() removes every event, and the bandit is then like a new one", {
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    expect_identical(bandit$reset(), bandit)
    expect_identical(nrow(bandit$history()), 0L)
    expect_identical(bandit$information_gain(), 0)
    expect_identical(names(bandit$history()), names(safe_bandits[[name]]()$history()))
    expect_identical(snapshot_of(played(bandit, if (name == "open") 0.3 else context_of(bandit))),
                     snapshot_of(safe_bandits[[name]]()), info = name)
  }
})

test_that("a long table has at most a quarter of its rows as room to grow", {
  table <- gpbandits:::new_table(list(a = integer(), b = character()))
  gpbandits:::table_append(table, list(a = seq_len(5000L), b = rep("x", 5000)))
  for (k in 1:3) gpbandits:::table_append(table, list(a = 5000L + k, b = NA_character_))
  expect_lte(length(table$a), 1.25 * 5000)
  expect_identical(gpbandits:::table_column(table, "a"), seq_len(5003L))
  expect_identical(gpbandits:::table_column(table, "b"), c(rep("x", 5000), rep(NA, 3)))
})

test_that("a column of NA alone uses no memory, and is filled when a value comes: the rows are the same", {
  skip_on_cran()
  set.seed(51)
  kinds <- list(a = 1:9, b = c(0.5, NaN, -Inf), c = c("x", ""), d = 1:3)
  draw <- function(name, count, known) {
    ifelse(stats::runif(count) < known, sample(kinds[[name]], count, TRUE), kinds[[name]][NA][1])
  }
  for (life in 1:20) {
    table <- new_table(lapply(kinds, `[`, 0))
    expected <- lapply(kinds, `[`, 0)
    comes <- stats::setNames(sample(c(0, 5, 20, Inf), 4, TRUE), names(kinds))    # when each column has values
    copies <- list()
    same <- tidy <- TRUE
    for (k in 1:40) {
      count <- sample(0:4, 1)
      rows <- lapply(stats::setNames(names(kinds), names(kinds)),
                     function(name) draw(name, count, 0.3 * (k > comes[[name]])))
      size <- length(expected$a) + count
      expected <- Map(c, expected, rows)
      at <- if (size) sample.int(size, min(size, 2))
      name <- sample(names(kinds), 1)
      values <- draw(name, length(at), 0.5 * (k > comes[[name]]))
      cells <- if (size) stats::setNames(list(list(at, values)), name) else list()
      if (size) expected[[name]][at] <- values
      gpbandits:::commit(table, list(table_change(table, if (count) rows, cells)))
      same <- same && identical(gpbandits:::table_columns(table), expected)
      held <- vapply(names(kinds), function(name) length(table[[name]]), 0L)
      tidy <- tidy && all(held[table$.blank] == 0) && all(held[setdiff(names(kinds), table$.blank)] >= size) &&
        all(names(comes)[comes > k] %in% table$.blank)
      if (k %in% c(10, 25)) copies <- c(copies, list(list(gpbandits:::table_copy(table), expected)))
    }
    expect_true(same && tidy)
    for (copy in copies) expect_identical(gpbandits:::table_columns(copy[[1]]), copy[[2]])
  }
})

test_that("a change that is undone leaves columns without values unchanged", {
  table <- new_table(list(a = integer(), b = double()))
  table_append(table, list(a = 1:3, b = rep(NA_real_, 3)))
  owner <- list2env(list(table = table))
  before <- as.list(table, all.names = TRUE)
  filling <- list(table_change(table, list(a = 4L, b = NA_real_), list(b = list(2L, 0.5))))
  expect_error(gpbandits:::commit(owner, filling, durable = function() stop("no room")), "no room")
  expect_identical(as.list(table, all.names = TRUE)[names(before)], before)
  expect_identical(table$b[2:3], c(NA_real_, NA_real_))
  gpbandits:::commit(owner, filling)
  expect_identical(gpbandits:::table_columns(table), list(a = 1:4, b = c(NA, 0.5, NA, NA)))
  expect_identical(table$.blank, character())
})

test_that("most columns of a bandit's events are empty, and files with full ones continue alike", {
  b <- gp_ucb(1:5, kernel_se(1), 0.1)
  for (k in 1:30) b$observe(b$suggest()$id, sin(k))
  expect_setequal(b$events$.blank, c("time", "noise_var", "size", "spread", "other", "outcome", "arms"))
  full <- unserialize(serialize(b, NULL))            # as versions before had it
  frame <- as.environment(full)
  for (name in frame$events$.blank) assign(name, gpbandits:::table_column(b$events, name), envir = frame$events)
  rm(".blank", envir = frame$events)
  expect_identical(full$history(), b$history())
  expect_identical(full$suggest(), b$suggest())
  expect_setequal(full$events$.blank, b$events$.blank)
  b$observe(b$suggest(arms = c(2, 4))$id, 0.5, noise_var = 0.2)
  expect_false(any(c("noise_var", "arms") %in% b$events$.blank))
  expect_identical(which(!is.na(gpbandits:::table_column(b$events, "noise_var"))), gpbandits:::table_size(b$events))
  spoilt <- function(change) {
    twin <- unserialize(serialize(b, NULL))
    change(as.environment(twin)$events)
    expect_error(twin$history(), "damaged", class = "gpbandits_error")
  }
  spoilt(function(events) events$spread <- 1)
  spoilt(function(events) events$noise_var <- double())
  spoilt(function(events) events$spread <- character())
  spoilt(function(events) events$.blank <- c(events$.blank, "kind"))
  spoilt(function(events) events$.blank <- c(events$.blank, "unheard"))
  spoilt(function(events) events$.blank <- 1)
  spoilt(function(events) events$.blank <- events$.blank[c(1, 1)])
  spoilt(function(events) events$.blank <- NA_character_)
  spoilt(function(events) rm(".blank", envir = events))
})
