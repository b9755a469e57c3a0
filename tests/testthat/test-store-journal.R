# The journal: the file holds exactly the events that have happened, however the process ends.

skip_if_not_installed("RSQLite")

journal_x <- seq(0, 1, length.out = 25)

# One of each: every kind of event, of choice and of decision set.
journal_makers <- list(
  ucb = function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, ...),
  ts = function(...) gp_ts(journal_x, kernel_se(0.2), 0.01, B = 1, R = 0.1, ...),
  uniform = function(...) gp_bandit(journal_x, kernel_se(0.2), 0.01, policy_uniform(), ...),
  hallucinate = function(...) gp_bucb(journal_x, kernel_se(0.2), 0.01, ...),
  clock = function(...) gp_ucb_sdf(journal_x, kernel_se(0.2), 0.01, m = 60, unit = "time", ...),
  contexts = function(...) gp_ucb(journal_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = cbind(z = c(0, 1)), ...),
  open = function(...) gp_ucb(journal_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = "z", ...),
  box = function(...) gp_ts(list(u = c(0, 1)), kernel_se(0.2), 0.01, B = 1, R = 0.1, gain = 1, ...),
  changes = function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, changes = change_oracle(c(4, 9), explore = 1), ...),
  constraints = function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, constraints = constraints_noisy(2, 3, 0.5), ...),
  refits = function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, refit = refit_every(4, mean = "fit"), ...),
  functions = function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, width = width_function(function(t) sqrt(t)), trust = TRUE, ...)
)

# One step of a run that uses the generator: a query or two, rewards of some pending ones, or given data.
journal_step <- function(bandit) {
  context <- if (length(bandit$config$context_names)) sample(0:1, 1)
  g <- function(n) if (!is.null(bandit$config$constraints)) matrix(stats::rnorm(2 * n), n, 2)
  bandit$suggest(sample.int(2, 1), context = context)
  pending <- which(is.na(bandit$history()$reward))
  some <- pending[stats::runif(length(pending)) < 0.7]
  some <- some[sample.int(length(some))]
  bandit$observe(some, stats::rnorm(length(some)), constraints = g(length(some)))
  if (stats::runif(1) < 0.2) bandit$add(x = journal_x[7], reward = stats::rnorm(1), context = context, constraints = g(1))
}

expect_same_bandit <- function(core, theirs, info = NULL) {
  expect_identical(core$history(), theirs$history(), info = info)
  for (table in c("queries", "events")) {
    expect_identical(log_columns(core, table), log_columns(theirs, table), info = info)
  }
  expect_identical(core$refits, theirs$refits, info = info)
}

test_that("at every time the journal holds the bandit exactly, and the state of the random generator", {
  skip_on_cran()
  for (name in few_of(names(journal_makers), 2)) {
    file <- tempfile()
    set.seed(70)
    bandit <- journal_makers[[name]](journal = file)
    twin <- journal_makers[[name]]()
    for (t in seq_len(by_level(3, 5, quick = 2))) {
      seed <- .Random.seed
      journal_step(bandit)
      after <- .Random.seed
      if (name != "clock") {                            # the clock of the twin is another one
        assign(".Random.seed", seed, globalenv())
        journal_step(twin)
        expect_same_bandit(twin, bandit, name)          # a journal changes nothing else
      }
      set.seed(t)
      again <- open_bandit(file, trust = TRUE)
      # The generator is where it was after the last event; drawing continues from there.
      replayed <- .Random.seed
      next_query <- again$copy()$suggest(2, context = context_of(again), time = 4e9)
      assign(".Random.seed", replayed, globalenv())
      expect_identical(next_query, bandit$copy()$suggest(2, context = context_of(bandit), time = 4e9), info = name)
      expect_same_bandit(again, bandit, name)
      assign(".Random.seed", after, globalenv())
    }
    bandit$reset()
    expect_same_bandit(open_bandit(file, trust = TRUE), bandit, name)
    journal_step(bandit)
    resumed <- open_bandit(file, like = twin, trust = TRUE)
    expect_same_bandit(resumed, bandit, name)
    journal_step(resumed)                               # and a resumed one writes on
    expect_same_bandit(open_bandit(file, rng = FALSE, trust = TRUE), resumed, name)
    unlink(file)
  }
})

test_that("the generator is restored only if asked, and a journal draws no random numbers", {
  file <- tempfile()
  set.seed(71)
  bandit <- journal_makers$ts(journal = file)
  bandit$suggest()
  state <- .Random.seed
  stats::runif(5)
  moved <- .Random.seed
  open_bandit(file, rng = FALSE)
  expect_identical(.Random.seed, moved)
  open_bandit(file)
  expect_identical(.Random.seed, state)
  # also the generators whose state is not one long vector with a position
  for (kind in c("L'Ecuyer-CMRG", "Wichmann-Hill", "Knuth-TAOCP-2002")) {
    old <- RNGkind()
    set.seed(72, kind = kind)
    for (i in 1:3) bandit$suggest()
    state <- .Random.seed
    set.seed(1, kind = "Mersenne-Twister")
    open_bandit(file)
    expect_identical(.Random.seed, state)
    do.call(RNGkind, as.list(old))
  }
})

refusal <- function(code) tryCatch({
  code
  "none"
}, gpbandits_error = conditionMessage)

# One statement on the file from outside of the package.
in_file <- function(file, ...) {
  tamper(list(kind = "sqlite", connect = function() DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL)), ...)
}

# Closes a bandit's file. (No file may be open when a process forks.)
close_journal <- function(bandit) {
  gpbandits:::drop_connection(as.environment(bandit)$.connection)
  invisible(gc())
}

# The bytes of the file and of SQLite's log.
bytes_of <- function(file) {
  lapply(c(file, paste0(file, "-wal")), function(one) if (file.exists(one)) readBin(one, "raw", file.size(one)))
}

test_that("rows that were changed, removed or exchanged are an error, and so is a damaged file", {
  file <- tempfile()
  set.seed(73)
  bandit <- journal_makers$ts(journal = file)
  for (t in 1:4) bandit$observe(bandit$suggest(2)$id[1], stats::rnorm(1))
  close_journal(bandit)
  for (change in c("UPDATE gpb_event SET reward = reward + 1 WHERE number = 3", "DELETE FROM gpb_event WHERE number = 4",
                   "UPDATE gpb_event SET number = -number WHERE number < 3", "DELETE FROM gpb_event WHERE number = 12",
                   "UPDATE gpb_query SET arm = 24 - arm WHERE query = 2", "UPDATE gpb_bandit SET events = 11",
                   "UPDATE gpb_state SET rng = '9 2 3'", "UPDATE gpb_bandit SET settings = '{}'", "DELETE FROM gpb_state")) {
    spoilt <- tempfile()
    file.copy(file, spoilt)
    in_file(spoilt, change)
    expect_match(refusal(open_bandit(spoilt)), "Cannot|is not a bandit's", info = change)
  }
  bytes <- bytes_of(file)[[1]]
  for (at in c(200, sample(seq(100, length(bytes)), by_level(20, 100, quick = 5)))) {
    spoilt <- tempfile()
    new <- bytes
    new[at + 0:40] <- as.raw(sample(0:255, 41, replace = TRUE))
    writeBin(new[seq_along(bytes)], spoilt)
    again <- tryCatch(open_bandit(spoilt), gpbandits_error = identity)
    if (!inherits(again, "error")) expect_identical(again$history(), bandit$history())     # (a page without rows)
  }
})

test_that("a file that is no journal, or another bandit's, is an error", {
  skip_on_cran()
  file <- tempfile()
  expect_match(refusal(open_bandit(file)), "exists")
  for (text in list(character(), "", "a,b\n1,2")) {
    writeLines(text, file)
    expect_match(refusal(open_bandit(file)), "journal|exists")
  }
  writeLines("01234567 gpbandits-journal 3 - {}", file)
  expect_match(refusal(open_bandit(file)), "text journal of an earlier version.*as_json")
  expect_match(refusal(journal_makers$ucb(journal = file)), "new file")
  writeBin(as.raw(0:255), file)
  expect_match(refusal(open_bandit(file)), "journal")
  expect_match(refusal(open_bandit(tempdir())), "directory")
  for (x in list(1, NULL, NA, list(file))) expect_match(refusal(open_bandit(x)), "a store")
  unlink(file)
  gp_ucb(journal_x, kernel_se(0.2), 0.01, store = bandit_store(file, "b"))
  expect_match(refusal(open_bandit(file)), "not a bandit's journal")
  expect_match(refusal(journal_makers$ucb(journal = file)), "new file")
  unlink(file)
  in_file(file, "CREATE TABLE other (x INTEGER)")
  expect_match(refusal(open_bandit(file)), "not a bandit's journal")
  unlink(file)
  journal_makers$ucb(journal = file)
  expect_match(refusal(journal_makers$ucb(journal = file)), "new file")
  in_file(file, "UPDATE gpb_schema SET version = 2")
  expect_match(refusal(open_bandit(file)), "version 2")
  unlink(file)
  for (name in few_of(names(journal_makers), 5)) {
    journal_makers[[name]](journal = file)
    expect_s4_class(open_bandit(file, like = journal_makers[[name]](), trust = TRUE), "GPBandit")
    expect_match(refusal(open_bandit(file, like = gp_ucb(journal_x, kernel_se(0.2), 0.02), trust = TRUE)), "noise_var")
    for (other in few_of(setdiff(names(journal_makers), name), 2)) {
      if (!grepl("another", refusal(open_bandit(file, like = journal_makers[[other]](), trust = TRUE)))) fail(paste(name, other))
    }
    unlink(file)
  }
  wide <- function(k) gp_ucb(journal_x, kernel_se(0.2), 0.01, width = width_function(function(t) k * t))
  gp_ucb(journal_x, kernel_se(0.2), 0.01, width = width_function(function(t) 2 * t), journal = file, trust = TRUE)
  expect_match(refusal(open_bandit(file, like = wide(2), trust = TRUE)), "policy")
})

test_that("without RSQLite a journal is an error that says how to keep the bandit", {
  space <- asNamespace("gpbandits")
  had <- space$has_package
  unlockBinding("has_package", space)
  on.exit(assign("has_package", had, space))
  assign("has_package", function(package) package != "RSQLite", space)
  expect_match(refusal(journal_makers$ucb(journal = tempfile())), "RSQLite.*install.packages.*saveRDS")
})

test_that("a write that fails is a gpbandits_error, and the bandit is unchanged", {
  directory <- tempfile()
  away <- tempfile()
  dir.create(directory)
  bandit <- journal_makers$refits(journal = file.path(directory, "journal"))
  set.seed(74)
  for (t in 1:4) {
    bandit$suggest()
    bandit$observe(t, sin(t))
  }
  before <- snapshot_of(bandit)
  complaints <- function() {
    calls <- list(function() bandit$suggest(), function() bandit$suggest(3), function() bandit$add(arm = 2, reward = 1),
                  function() bandit$reset(), function() run_bandit(bandit, bandit_problem(journal_x, sin(journal_x)), 3))
    for (call in calls) {
      expect_match(refusal(call()), "The journal .* was deleted or replaced")
      expect_identical(snapshot_of(bandit), before)
    }
  }
  file.rename(directory, away)                          # the directory is gone
  complaints()
  dir.create(directory)                                 # the file is gone
  complaints()
  unlink(directory, recursive = TRUE)
  dir.create(directory)
  file.create(file.path(directory, "journal"))          # somebody emptied it
  complaints()
  unlink(directory, recursive = TRUE)
  file.rename(away, directory)
  bandit$suggest()
  expect_identical(open_bandit(file.path(directory, "journal"))$history(), bandit$history())
  unlink(directory, recursive = TRUE)
  expect_match(refusal(journal_makers$ucb(journal = file.path(directory, "journal"))), "directory that exists")
})

test_that("if the disk becomes full within a line, the file stays valid and the bandit unchanged", {
  skip_without_signals()
  skip_on_covr()                                       # the limit would cut the files of counters, too
  file <- tempfile()
  out <- run_child(c(
    "suppressPackageStartupMessages(library(gpbandits))",
    "x <- seq(0, 1, length.out = 25)",
    sprintf("b <- gp_ucb(x, kernel_se(0.2), 0.01, journal = %s)", deparse(file)),
    "end <- NULL",
    "for (k in 1:10000) if (is.null(end)) {",
    "  before <- b$history()",
    "  end <- tryCatch({ b$suggest(); NULL }, gpbandits_error = conditionMessage)",
    "}",
    "cat('end', end, '\\n')",
    "cat('unchanged', identical(b$history(), before), nrow(before), '\\n')",
    sprintf("cat('whole', identical(open_bandit(%s)$history(), before), '\\n')", deparse(file))),
    shell = "trap '' XFSZ; ulimit -f 500;")             # files of at most 500 blocks
  expect_match(grep("^end", out, value = TRUE), "The journal .*(full|I/O)", info = paste(out, collapse = "\n"))
  expect_match(grep("^unchanged", out, value = TRUE), "^unchanged TRUE [1-9]")
  expect_match(grep("^whole", out, value = TRUE), "TRUE")
})

test_that("a journal has one writer: copies have no journal, and an owner that is behind gets an error", {
  file <- tempfile()
  bandit <- journal_makers$ucb(journal = file)
  bandit$suggest()
  copy <- bandit$copy()
  bytes <- bytes_of(file)
  copy$suggest(5)
  copy$observe(1, 1)
  expect_identical(bytes_of(file), bytes)
  saved <- tempfile()
  saveRDS(bandit, saved)
  second <- open_bandit(file)
  second$suggest()                                      # nobody wrote since: it goes on
  expect_identical(open_bandit(file)$history(), second$history())
  before <- snapshot_of(bandit)
  expect_match(refusal(bandit$suggest()), "Another bandit has written")
  expect_identical(snapshot_of(bandit), before)
  expect_output(print(bandit), "journal")
})

test_that("a bandit read from a file is a copy without the original's journal, and its first change warns", {
  skip_on_cran()
  file <- tempfile()
  saved <- tempfile()
  for (make in list(journal_makers$ucb, function(...) baseline_constrained("ckb", journal_x, kernel_se(0.2), 0.01, step = 0.5, bound = 1, ...))) {
    unlink(file)
    bandit <- make(journal = file)
    bandit$suggest()
    bytes <- bytes_of(file)
    saveRDS(bandit, saved)
    for (read in list(readRDS(saved), unserialize(serialize(bandit, NULL)), unserialize(serialize(readRDS(saved), NULL)))) {
      expect_identical(log_columns(read, "queries"), log_columns(bandit, "queries"))
      expect_output(print(read), "journal +none .*the original's is")
      expect_warning(read$suggest(), "not written to the journal.*open_bandit", class = "gpbandits_left_journal")
      expect_silent(read$observe(1, 0.5, constraints = if (!is.null(bandit$config$rule)) 0))   # said once
      expect_identical(nrow(read$history()), 2L)
      expect_silent(read$reset())
      expect_identical(bytes_of(file), bytes)
      expect_null(read$copy()$journal)
    }
    if (is.null(bandit$config$rule)) {
      read <- readRDS(saved)
      expect_warning(run_bandit(read, bandit_problem(journal_x, sin(journal_x)), 3), class = "gpbandits_left_journal")
    }
    # If warnings are errors the first change is an error, not every one.
    read <- readRDS(saved)
    old <- options(warn = 2)
    expect_error(read$suggest())
    expect_identical(nrow(read$history()), 1L)
    expect_identical(read$suggest()$id, 2L)
    options(old)
    bandit$suggest()                                    # nobody has taken its journal away
    expect_identical(open_bandit(file)$history(), bandit$history())
  }
})

test_that("a journal begun in a file with tables and without a bandit opens it once", {
  file <- tempfile()
  killed <- gpbandits:::journal_connection(file)
  gpbandits:::make_tables(killed, c(gpbandits:::store_tables(), gpbandits:::journal_tables))
  path <- normalizePath(file)
  opened <- function() {
    sum(vapply(gpbandits:::sqlite_memory$connections, function(one) one$file == path && DBI::dbIsValid(one$con), NA))
  }
  before <- opened()
  bandit <- journal_makers$ucb(journal = file)
  expect_identical(opened(), before + 1L)
  gpbandits:::drop_connection(killed)
  close_journal(bandit)
})

test_that("a file that was deleted and begun again keeps what is written, whenever the earlier bandit goes", {
  skip_on_os("windows")
  file <- tempfile()
  earlier <- journal_makers$ucb(journal = file)
  earlier$suggest()
  unlink(file)
  bandit <- journal_makers$ucb(journal = file)
  bandit$suggest(3)
  expect_match(refusal(earlier$suggest()), "Another bandit")
  rm(earlier)
  gc()
  bandit$observe(2, 0.5)
  close_journal(bandit)
  expect_identical(open_bandit(file)$history(), bandit$history())
})

# Resumes, asks, and does so again if another process has written meanwhile; returns the ids that it was given.
asks_again_and_again <- function(file, count) {
  ids <- integer()
  bandit <- open_bandit(file, rng = FALSE)
  for (k in 1:10000) if (length(ids) < count) {
    id <- tryCatch(bandit$suggest()$id, gpbandits_error = conditionMessage)
    if (is.integer(id)) ids <- c(ids, id)
    else if (grepl("Another bandit has written", id)) bandit <- open_bandit(file, rng = FALSE)
    else stop(id)
  }
  ids
}

test_that("if several processes write at once, every confirmed event is in the file exactly once", {
  skip_without_signals()
  file <- tempfile()
  close_journal(journal_makers$ucb(journal = file))
  count <- by_level(30, 30, quick = 10)
  jobs <- lapply(1:3, function(k) parallel::mcparallel(asks_again_and_again(file, count), silent = TRUE))
  given <- parallel::mccollect(jobs)
  ids <- unlist(given)
  expect_true(all(lengths(given) == count), info = paste(format(given), collapse = " "))
  expect_setequal(ids, seq_len(3 * count))
  again <- open_bandit(file)
  expect_identical(again$history()$id, seq_len(3L * count))
  close_journal(again)
  # of two that begin one journal at once one gets an error
  for (k in seq_len(by_level(5, 5, quick = 2))) {
    begun <- tempfile()
    jobs <- lapply(1:3, function(k) parallel::mcparallel(refusal(journal_makers$ucb(journal = begun)), silent = TRUE))
    ends <- unlist(parallel::mccollect(jobs))
    expect_identical(sum(ends == "none"), 1L)
    expect_match(setdiff(ends, "none"), "exists")
    begun <- open_bandit(begun)
    expect_identical(nrow(begun$history()), 0L)
    close_journal(begun)
  }
})

test_that("links are followed; devices, pipes and endless links are errors and stay unchanged", {
  skip_on_os("windows")
  directory <- tempfile()
  dir.create(file.path(directory, "real"), recursive = TRUE)
  path <- function(name) file.path(directory, name)
  file.symlink(file.path("real", "journal"), path("link"))              # relative, leads nowhere yet
  bandit <- journal_makers$ucb(journal = path("link"))
  bandit$suggest()
  expect_identical(Sys.readlink(path("link")), file.path("real", "journal"))
  expect_identical(open_bandit(file.path(directory, "real", "journal"))$history(), bandit$history())
  again <- open_bandit(path("link"))
  again$suggest()
  expect_identical(nrow(open_bandit(path("link"))$history()), 2L)
  file.symlink(path("b"), path("a"))
  file.symlink(path("a"), path("b"))
  expect_match(refusal(journal_makers$ucb(journal = path("a"))), "link without an end")
  system2("mkfifo", path("pipe"))
  kind <- function(file) substr(system2("ls", c("-ld", file), stdout = TRUE), 1, 1)
  for (special in list(c(path("pipe"), "p"), c("/dev/full", "c"), c("/dev/null", "c"))) {
    if (!file.exists(special[1])) next
    expect_match(refusal(journal_makers$ucb(journal = special[1])), "no regular file")
    expect_match(refusal(open_bandit(special[1])), "no regular file")
    expect_identical(kind(special[1]), special[2])
  }
  unlink(directory, recursive = TRUE)
})

# A library whose fsync() fails while a file of this name exists.
failing_disk <- c(
  "#define _GNU_SOURCE", "#include <dlfcn.h>", "#include <errno.h>", "#include <stdlib.h>", "#include <unistd.h>",
  "int fsync(int file) {", "  if (access(getenv(\"NO_FSYNC\"), F_OK) == 0) { errno = EIO; return -1; }",
  "  return ((int (*)(int)) dlsym(RTLD_NEXT, \"fsync\"))(file); }",
  "int fdatasync(int file) { return fsync(file); }")

test_that("a reward is acknowledged only when it is on the disk", {
  skip_on_cran()
  skip_on_os(c("windows", "mac", "solaris"))
  directory <- tempfile()
  dir.create(directory)
  path <- function(name) file.path(directory, name)
  writeLines(failing_disk, path("disk.c"))
  built <- suppressWarnings(system2("cc", c("-shared", "-fPIC", "-o", path("disk.so"), path("disk.c"), "-ldl"),
                                    stdout = FALSE, stderr = FALSE))
  skip_if(built != 0, "no C compiler for the library that makes fsync() fail")
  preloaded <- shQuote(trimws(paste(Sys.getenv("LD_PRELOAD"), path("disk.so"))))   # (a sanitizer wants to be first)
  out <- run_child(c(
    "suppressPackageStartupMessages(library(gpbandits))",
    sprintf("setwd(%s)", deparse(directory)),
    "b <- gp_ucb(seq(0, 1, length.out = 25), kernel_se(0.2), 0.01, journal = 'journal')",
    "b$suggest(2)",
    "before <- b$history()",
    "file.create('fsync')",
    "cat('end', tryCatch({ b$observe(1, 0.5); 'none' }, gpbandits_error = conditionMessage), '\\n')",
    "cat('before', identical(b$history(), before), '\\n')",
    "unlink('fsync')",
    "cat('file', identical(open_bandit('journal')$history(), before), '\\n')",
    "b$observe(1, 0.5)",
    "cat('after', identical(open_bandit('journal')$history(), b$history()), '\\n')"),
    shell = sprintf("NO_FSYNC=%s LD_PRELOAD=%s", path("fsync"), preloaded))
  said <- function(word) grep(paste0("^", word), out, value = TRUE)
  expect_match(said("end"), "The journal .*I/O", info = paste(out, collapse = "\n"))
  expect_identical(c(said("before"), said("file"), said("after")), c("before TRUE ", "file TRUE ", "after TRUE "))
  unlink(directory, recursive = TRUE)
})

test_that("the path stays valid when the working directory changes", {
  directory <- tempfile()
  dir.create(directory)
  old <- setwd(directory)
  on.exit(setwd(old))
  bandit <- journal_makers$ucb(journal = "journal")
  setwd(old)
  bandit$suggest()
  expect_identical(nrow(open_bandit(file.path(directory, "journal"))$history()), 1L)
  unlink(directory, recursive = TRUE)
})

test_that("a journal without events holds the generator's state at the bandit's creation", {
  file <- tempfile()
  set.seed(81)
  journal_makers$ts(journal = file)
  set.seed(81)
  expected <- stats::runif(2)
  set.seed(82)
  open_bandit(file)
  expect_identical(stats::runif(2), expected)
})

# ---- kill -9 --------------------------------------------------------------------

is_begun <- function(file) file.exists(file) && !inherits(try(close_journal(open_bandit(file, rng = FALSE)), TRUE), "try-error")

# The whole run, in a process that may end at any time: resumes, evaluates pending queries, continues.
# Observed rewards are reported to `acknowledged`, after the bandit has them.
journal_life <- function(file, acknowledged, rounds, make) {
  bandit <- if (is_begun(file)) open_bandit(file) else {
    set.seed(75)
    make(journal = file)
  }
  while (nrow(bandit$history()) < rounds || anyNA(bandit$history()$reward)) {
    open <- which(is.na(bandit$history()$reward))
    id <- if (length(open)) open[1] else bandit$suggest()$id
    Sys.sleep(0.002)
    bandit$observe(id, sin(6 * journal_x[bandit$history()$arm[id]]) + stats::rnorm(1, 0, 0.1))
    if (!is.null(acknowledged)) cat(id, "\n", file = acknowledged, append = TRUE)
  }
  bandit
}

test_that("after kill -9 at random times at most one evaluation is lost, and the search continues", {
  skip_without_signals()
  make <- journal_makers$ts
  set.seed(75)
  whole <- make()
  state <- .Random.seed
  never_killed <- function(n) {                         # the first rounds of the same run
    assign(".Random.seed", state, globalenv())
    for (id in nrow(whole$history()) + seq_len(max(0, n - nrow(whole$history())))) {
      arm <- whole$suggest()$arm
      whole$observe(id, sin(6 * journal_x[arm]) + stats::rnorm(1, 0, 0.1))
    }
    state <<- .Random.seed
    utils::head(whole$history(draws = 0), n)
  }
  file <- tempfile()
  acknowledged <- tempfile()
  kills <- 0
  times <- by_level(10, 20, quick = 6)
  delays <- c(-1, 0, 0, sample(0:12, times - 3, replace = TRUE))
  for (further in delays) {
    job <- parallel::mcparallel(journal_life(file, acknowledged, 1000, make), silent = TRUE)
    begun <- lines_in(acknowledged)                     # killed after that number of further rewards, or at once
    if (further >= 0) wait_until(function() lines_in(acknowledged) >= begun + further && is_begun(file), "rewards")
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    if (!is_begun(file)) next                           # killed before there was a bandit
    kills <- kills + 1
    known <- lines_in(acknowledged)
    again <- open_bandit(file, rng = FALSE)
    history <- again$history(draws = 0)
    close_journal(again)
    n <- nrow(history)
    expect_lte(sum(is.na(history$reward)), 1)           # the evaluation that was running
    expect_gte(sum(!is.na(history$reward)), known)      # acknowledged rewards are there
    expected <- never_killed(n)
    expected$reward[is.na(history$reward)] <- NA
    expected$status[is.na(history$reward)] <- "pending"
    expect_identical(history, expected)
  }
  expect_gte(kills, times - 1)
  n <- nrow(open_bandit(file)$history())
  expect_gt(n, 5)
  rounds <- n + 10
  expect_identical(journal_life(file, NULL, rounds, make)$history(draws = 0), never_killed(rounds))
})

test_that("a process that kills itself during an evaluation loses only that evaluation", {
  skip_on_os("windows")
  file <- tempfile()
  out <- run_child(c(
    "suppressPackageStartupMessages(library(gpbandits))",
    sprintf("b <- gp_ucb(seq(0, 1, length.out = 25), kernel_se(0.2), 0.01, width = width_constant(2), journal = %s)",
            deparse(file)),
    "for (t in 1:5) {",
    "  q <- b$suggest()",
    "  if (t == 5) tools::pskill(Sys.getpid(), tools::SIGKILL)",
    "  b$observe(q$id, 1 / 3 * t)",
    "}",
    "cat('not reached')"))
  expect_false(any(grepl("not reached", out)))
  again <- open_bandit(file)
  expect_identical(again$history()$reward, c(1 / 3 * 1:4, NA))
  again$observe(5, 0)
  expect_identical(again$suggest()$id, 6L)
})

test_that("functions are written to a journal, and read from it, only with trust", {
  file <- tempfile()
  own <- function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, width = width_function(function(t) 2), ...)
  expect_match(refusal(own(journal = file)), "trust = TRUE", fixed = TRUE)
  expect_false(file.exists(file))
  own(journal = file, trust = TRUE)$suggest()
  expect_match(refusal(open_bandit(file)), "trust = TRUE", fixed = TRUE)
  expect_identical(nrow(open_bandit(file, trust = TRUE)$history()), 1L)
})

# ---- untrusted journals --------------------------------------------------------

# The journal in `from` with another value of a column.
with_value <- function(from, table, column, value) {
  to <- tempfile()
  file.copy(from, to)
  value <- if (is.raw(value)) value else gsub("'", "''", value)
  in_file(to, sprintf("UPDATE %s SET %s = '%s'", table, column, value))
  to
}

test_that("a generator state of R 4.7, with its kind of rbinom(), can be read by every R", {
  file <- tempfile()
  set.seed(74)
  seed <- .Random.seed
  drawn <- runif(3)
  assign(".Random.seed", seed, globalenv())
  close_journal(journal_makers$ts(journal = file))
  numbers <- seed[1] %% 100000L
  for (binomial in 0:1) {
    written <- replace(seed, 1, numbers + 100000L * binomial)
    set.seed(1)
    # (A state that R cannot read is a warning, and another state.)
    expect_silent(b <- open_bandit(with_value(file, "gpb_state", "rng", paste(written, collapse = " "))))
    expect_identical(.Random.seed[1], if (length(RNGkind()) == 4) written[1] else numbers)
    expect_silent(got <- runif(3))
    expect_identical(got, drawn)
    b$suggest()
    state <- .Random.seed
    set.seed(1)
    open_bandit(b$journal$path)
    expect_identical(.Random.seed, state)
  }
  for (wrong in c(200000L, 20000L, 1000000L, -100000L)) {
    expect_error(open_bandit(with_value(file, "gpb_state", "rng", paste(replace(seed, 1, numbers %% 10000L + wrong), collapse = " "))),
                 "state of a random generator", class = "gpbandits_error")
  }
})

# (R before 4.4 would evaluate a promise instead of data as soon as it is read; all versions run the rest.)
test_that("opening a journal evaluates no promise, function, call or environment in it", {
  file <- tempfile()
  witness <- tempfile()
  payloads <- list(promise = promise_stream(witness), listed = stream_of(list_item(promise_item(witness))),
                   attribute = stream_of(with_attribute(promise_item(witness))),
                   environment = serialize(list2env(list(a = 1)), NULL, version = 2), compact = stream_of(compact_item()),
                   call = serialize(call("file.create", witness), NULL, version = 2))
  bandit <- journal_makers$refits(journal = file)
  for (k in 1:6) bandit$observe(bandit$suggest()$id, sin(k))
  gpbandits:::journal_note(bandit, "start", list(1))
  close_journal(bandit)
  settings <- in_file(file, "SELECT settings FROM gpb_bandit")$settings
  cases <- expand.grid(name = names(payloads), place = 1:5, trust = c(FALSE, TRUE), stringsAsFactors = FALSE)
  for (k in few_of(seq_len(nrow(cases)), 18)) {
    case <- cases[k, ]
    code <- sprintf("{\"code\":\"%s\",\"reads\":\"function(t) t\"}", packed(payloads[[case$name]]))
    within <- sub("0.01", code, settings, fixed = TRUE)
    one <- list(c("gpb_bandit", "settings", code), c("gpb_bandit", "settings", within), c("gpb_state", "memory", code),
                c("gpb_note", "value", code), c("gpb_event", "parameters", code))[[case$place]]
    said <- tryCatch({
      open_bandit(with_value(file, one[1], one[2], one[3]), rng = FALSE, trust = case$trust)$history()
      "opened"
    }, gpbandits_error = conditionMessage, error = function(e) paste("foreign:", conditionMessage(e)))
    if (file.exists(witness)) fail(paste(case$name, "has run"))
    if (grepl("^opened|^foreign", said)) fail(paste(c(case, one[1:2], said), collapse = " "))
  }
  code <- sprintf("{\"code\":\"%s\",\"reads\":\"\"}", packed(payloads$promise))
  expect_match(refusal(open_bandit(with_value(file, "gpb_bandit", "settings", code), trust = TRUE)), "a promise|no function")
})
