# The journal: the file holds exactly the events that have happened, however the process ends.

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

expect_same_bandit <- function(ours, theirs, info = NULL) {
  expect_identical(ours$history(), theirs$history(), info = info)
  for (table in c("queries", "events")) {
    expect_identical(gpbandits:::table_columns(ours[[table]]), gpbandits:::table_columns(theirs[[table]]), info = info)
  }
  expect_identical(ours$refits, theirs$refits, info = info)
}

test_that("at every time the journal holds the bandit exactly, and the state of the random generator", {
  skip_on_cran()
  for (name in few_of(names(journal_makers), 5)) {
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

# A journal of a few changes and, per whole line, the bandit's rounds and rewards by then.
written_journal <- function(file) {
  set.seed(73)
  bandit <- journal_makers$ts(journal = file)
  states <- list(bandit$copy())
  note <- function() states[[length(states) + 1]] <<- bandit$copy()
  for (t in 1:4) {
    bandit$suggest(2)
    note()
    bandit$observe(2 * t - 1, stats::rnorm(1))
    note()
  }
  states
}

bytes_of <- function(file) readBin(file, "raw", file.size(file))

test_that("a last line that is cut at any byte is dropped, and writing continues after the line before", {
  skip_on_cran()
  file <- tempfile()
  cut <- tempfile()
  states <- written_journal(file)
  bytes <- bytes_of(file)
  ends <- which(bytes == as.raw(10))
  expect_length(ends, length(states))
  last <- length(ends)
  # every byte of the last line, some of the others
  for (size in c(ends[last - 1]:ends[last], sample(seq(ends[1], ends[last]), 40))) {
    writeBin(utils::head(bytes, size), cut)
    again <- open_bandit(cut)
    whole <- sum(ends - 1 <= size)                      # a line counts without its newline too
    if (!identical(again$history(), states[[whole]]$history())) fail(paste("torn at", size))
    if (size %% 7 == 0) {
      again$observe(which(is.na(states[[whole]]$history()$reward))[1], 0.25) |> try(silent = TRUE)
      again$suggest()
      expect_identical(open_bandit(cut)$history(), again$history())
      expect_identical(utils::head(bytes_of(cut), ends[whole]), utils::head(bytes, ends[whole]))
    }
  }
  unlink(c(file, cut))
})

refusal <- function(code) tryCatch({
  code
  "none"
}, gpbandits_error = conditionMessage)

test_that("damage before the last line is an error, whatever its kind", {
  file <- tempfile()
  spoilt <- tempfile()
  written_journal(file)
  bytes <- bytes_of(file)
  ends <- which(bytes == as.raw(10))
  spoil <- function(new) {
    writeBin(new, spoilt)
    refusal(open_bandit(spoilt))
  }
  for (at in sample(seq(10, ends[length(ends) - 1] - 1), 60)) {
    new <- bytes
    new[at] <- xor(new[at], as.raw(bitwShiftL(1L, at %% 8)))
    if (!grepl("damaged|journal", spoil(new))) fail(paste("byte", at))
  }
  lines <- readLines(file)
  write_lines <- function(lines) spoil(charToRaw(paste0(paste(lines, collapse = "\n"), "\n")))
  expect_match(write_lines(lines[-3]), "line 3")              # lost
  expect_match(write_lines(lines[c(1, 3, 2, 4:9)]), "line 2") # exchanged
  expect_match(write_lines(lines[c(1:4, 4:9)]), "line 5")     # doubled
  other <- tempfile()
  untrusted <- journal_makers$ts(journal = other)              # another run with the same settings
  untrusted$suggest(2)
  untrusted$observe(1, 7)
  expect_match(write_lines(c(lines[1:4], readLines(other)[2:3], lines[5:9])), "line 5")
  expect_match(write_lines(c("no journal", lines)), "journal")
  # the last line whole but damaged: dropped, and said so
  new <- bytes
  new[length(new) - 3] <- charToRaw("z")
  writeBin(new, spoilt)
  expect_warning(again <- open_bandit(spoilt), "line 9")
  expect_identical(nrow(again$history()), 8L)
  unlink(c(file, spoilt, other))
})

test_that("a file that is no journal, or another bandit's, is an error", {
  skip_on_cran()
  file <- tempfile()
  expect_match(refusal(open_bandit(file)), "exists")
  for (text in list(character(), "", "a,b\n1,2", "gpbandits-journal 1 00")) {
    writeLines(text, file)
    expect_match(refusal(open_bandit(file)), "journal")
  }
  writeBin(as.raw(0:255), file)
  expect_match(refusal(open_bandit(file)), "journal")
  expect_match(refusal(open_bandit(tempdir())), "directory")
  for (x in list(1, NULL, NA, list(file))) expect_match(refusal(open_bandit(x)), "a store")
  unlink(file)
  gpbandits:::cpp_journal_create(file, "gpbandits-journal 4 - 00")
  expect_match(refusal(open_bandit(file)), "format 4")
  unlink(file)
  gpbandits:::cpp_journal_create(file, "gpbandits-journal 3 - 0x")
  expect_match(refusal(open_bandit(file)), "settings")
  expect_match(refusal(journal_makers$ucb(journal = file)), "new file")
  unlink(file)
  for (name in names(journal_makers)) {
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
  unlink(file)
})

# Ways in which a write fails, and how it is made possible again.
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
      expect_match(refusal(call()), "Cannot open the journal|as this bandit left it")
      expect_identical(snapshot_of(bandit), before)
    }
  }
  file.rename(directory, away)                          # the directory is gone
  complaints()
  dir.create(directory)                                 # the file is gone
  complaints()
  unlink(directory, recursive = TRUE)
  dir.create(file.path(directory, "journal"), recursive = TRUE)   # it is something else
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
  skip_on_cran()
  skip_on_os("windows")
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
    shell = "trap '' XFSZ; ulimit -f 30;")              # files of at most 30 blocks
  expect_match(grep("^end", out, value = TRUE), "Cannot write to the journal", info = paste(out, collapse = "\n"))
  expect_match(grep("^unchanged", out, value = TRUE), "^unchanged TRUE [1-9]")
  expect_match(grep("^whole", out, value = TRUE), "TRUE")
  unlink(file)
})

test_that("a journal has one writer: copies have no journal, and an owner that is behind gets an error", {
  file <- tempfile()
  bandit <- journal_makers$ucb(journal = file)
  bandit$suggest()
  copy <- bandit$copy()
  size <- file.size(file)
  copy$suggest(5)
  copy$observe(1, 1)
  expect_identical(file.size(file), size)
  saved <- tempfile()
  saveRDS(bandit, saved)
  second <- open_bandit(file)
  second$suggest()                                      # nobody wrote since: it goes on
  expect_identical(open_bandit(file)$history(), second$history())
  before <- snapshot_of(bandit)
  expect_match(refusal(bandit$suggest()), "another one writes")
  expect_identical(snapshot_of(bandit), before)
  expect_output(print(bandit), "journal")
  unlink(c(file, saved))
})

test_that("a bandit read from a file is a copy without the original's journal, and its first change warns", {
  skip_on_cran()
  file <- tempfile()
  saved <- tempfile()
  on.exit(unlink(c(file, saved)))
  for (make in list(journal_makers$ucb, function(...) baseline_constrained("ckb", journal_x, kernel_se(0.2), 0.01, step = 0.5, bound = 1, ...))) {
    unlink(file)
    bandit <- make(journal = file)
    bandit$suggest()
    bytes <- bytes_of(file)
    saveRDS(bandit, saved)
    for (read in list(readRDS(saved), unserialize(serialize(bandit, NULL)), unserialize(serialize(readRDS(saved), NULL)))) {
      expect_identical(gpbandits:::table_columns(read$queries), gpbandits:::table_columns(bandit$queries))
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
  unlink(c(file, saved))
})

test_that("a missing final newline loses nothing, and an outdated owner cannot remove another one's events", {
  file <- tempfile()
  bandit <- journal_makers$ucb(journal = file)
  bandit$suggest(3)
  bandit$observe(2, 1)
  writeBin(utils::head(bytes_of(file), -1), file)
  again <- open_bandit(file)
  expect_identical(again$history(), bandit$history())
  expect_match(refusal(bandit$suggest()), "another one writes")    # its last line had a newline
  stale <- open_bandit(file)
  again$observe(1, 0.5)
  expect_match(refusal(stale$suggest()), "another one writes")
  again$suggest()
  expect_identical(open_bandit(file)$history(), again$history())
  # the first writer removes a torn end; for the other one that line is unknown
  writeBin(c(bytes_of(file), charToRaw("0123abcd e 1 2")), file)
  owners <- list(open_bandit(file), open_bandit(file))
  owners[[1]]$suggest()
  expect_match(refusal(owners[[2]]$suggest()), "another one writes")
  expect_identical(open_bandit(file)$history(), owners[[1]]$history())
  unlink(file)
})

# Resumes, asks, and does so again if another process has written meanwhile; returns the ids that it was given.
asks_again_and_again <- function(file, count) {
  ids <- integer()
  bandit <- open_bandit(file, rng = FALSE)
  for (k in 1:10000) if (length(ids) < count) {
    id <- tryCatch(bandit$suggest()$id, gpbandits_error = conditionMessage)
    if (is.integer(id)) ids <- c(ids, id)
    else if (grepl("another one writes", id)) bandit <- open_bandit(file, rng = FALSE)
    else stop(id)
  }
  ids
}

test_that("if several processes write at once, every confirmed event is in the file exactly once", {
  skip_on_cran()
  skip_on_os("windows")
  file <- tempfile()
  journal_makers$ucb(journal = file)
  jobs <- lapply(1:3, function(k) parallel::mcparallel(asks_again_and_again(file, 30), silent = TRUE))
  given <- parallel::mccollect(jobs)
  ids <- unlist(given)
  expect_true(all(lengths(given) == 30), info = paste(format(given), collapse = " "))
  expect_setequal(ids, 1:90)
  expect_identical(open_bandit(file)$history()$id, 1:90)
  # of two that begin one journal at once one gets an error
  for (k in 1:5) {
    begun <- tempfile()
    jobs <- lapply(1:3, function(k) parallel::mcparallel(refusal(journal_makers$ucb(journal = begun)), silent = TRUE))
    ends <- unlist(parallel::mccollect(jobs))
    expect_identical(sum(ends == "none"), 1L)
    expect_match(setdiff(ends, "none"), "exists")
    expect_identical(nrow(open_bandit(begun)$history()), 0L)
    expect_length(list.files(dirname(begun), basename(begun)), 1)     # no drafts are left
    unlink(begun)
  }
  unlink(file)
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

# A library whose fsync() fails, and ftruncate() too, or whose fsync() kills, while files of these names exist.
failing_disk <- c(
  "#define _GNU_SOURCE", "#include <dlfcn.h>", "#include <errno.h>", "#include <stdlib.h>", "#include <unistd.h>",
  "#include <signal.h>",
  "static int fails(const char* name) { const char* file = getenv(name); return file && access(file, F_OK) == 0; }",
  "int fsync(int file) {", "  if (fails(\"DIE\")) kill(getpid(), SIGKILL);",
  "  if (fails(\"NO_FSYNC\")) { errno = EIO; return -1; }",
  "  return ((int (*)(int)) dlsym(RTLD_NEXT, \"fsync\"))(file); }",
  "int ftruncate(int file, off_t size) {", "  if (fails(\"NO_TRUNCATE\")) { errno = EIO; return -1; }",
  "  return ((int (*)(int, off_t)) dlsym(RTLD_NEXT, \"ftruncate\"))(file, size); }")

test_that("a line that cannot be written to the disk is removed, even if the file cannot be truncated", {
  skip_on_cran()
  skip_on_os(c("windows", "mac", "solaris"))
  directory <- tempfile()
  dir.create(directory)
  path <- function(name) file.path(directory, name)
  writeLines(failing_disk, path("disk.c"))
  built <- suppressWarnings(system2("cc", c("-shared", "-fPIC", "-D_FILE_OFFSET_BITS=32", "-o", path("disk.so"),
                                            path("disk.c"), "-ldl"), stdout = FALSE, stderr = FALSE))
  skip_if(built != 0, "no C compiler for the library that makes fsync() fail")
  preloaded <- shQuote(trimws(paste(Sys.getenv("LD_PRELOAD"), path("disk.so"))))   # (a sanitizer wants to be first)
  out <- run_child(c(
    "suppressPackageStartupMessages(library(gpbandits))",
    sprintf("setwd(%s)", deparse(directory)),
    "b <- gp_ucb(seq(0, 1, length.out = 25), kernel_se(0.2), 0.01, journal = 'journal')",
    "b$suggest(2)",
    "before <- b$history()",
    "for (broken in list('fsync', c('fsync', 'truncate'))) {",
    "  file.create(broken)",
    "  end <- tryCatch({ b$observe(1, 0.5); 'none' }, gpbandits_error = conditionMessage)",
    "  cat('end', end, '\\n')",
    "  cat('before', identical(b$history(), before), '\\n')",
    "  cat('file', identical(suppressWarnings(open_bandit('journal'))$history(), before), '\\n')",
    "  unlink(broken)",
    "}",
    "b$observe(1, 0.5)",
    "cat('after', identical(open_bandit('journal')$history(), b$history()), '\\n')"),
    shell = sprintf("NO_FSYNC=%s NO_TRUNCATE=%s LD_PRELOAD=%s", path("fsync"), path("truncate"), preloaded))
  said <- function(word) grep(paste0("^", word), out, value = TRUE)
  expect_match(said("end"), "Cannot write to the journal", info = paste(out, collapse = "\n"))
  expect_length(said("end"), 2)
  expect_identical(c(said("before"), said("file"), said("after")),
                   c("before TRUE ", "before TRUE ", "file TRUE ", "file TRUE ", "after TRUE "))
  # killed while it is begun, a journal is not there at all
  file.create(path("die"))
  out <- run_child(c(sprintf("gpbandits::gp_ucb(1:3, gpbandits::kernel_se(), 1, journal = %s)", deparse(path("begun"))),
                     "cat('not reached')"),
                   shell = sprintf("DIE=%s LD_PRELOAD=%s", path("die"), preloaded))
  expect_false(any(grepl("not reached", out)))
  expect_length(dir(directory, "begun[.]draft"), 1)   # it had begun
  expect_false(file.exists(path("begun")))
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
  unlink(file)
})

# ---- kill -9 --------------------------------------------------------------------

# The whole run, in a process that may end at any time: resumes, evaluates pending queries, continues.
# Observed rewards are reported to `acknowledged`, after the bandit has them.
journal_life <- function(file, acknowledged, rounds, make) {
  bandit <- if (file.exists(file)) open_bandit(file) else {
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
  skip_on_cran()
  skip_on_os("windows")
  make <- journal_makers$ts
  set.seed(75)
  whole <- make()
  for (id in 1:1000) {                                  # the same run, never killed
    arm <- whole$suggest()$arm
    whole$observe(id, sin(6 * journal_x[arm]) + stats::rnorm(1, 0, 0.1))
  }
  whole <- whole$history(draws = 0)
  file <- tempfile()
  acknowledged <- tempfile()
  kills <- 0
  times <- by_level(10, 20)
  for (further in c(-1, 0, 0, sample(0:12, times - 3, replace = TRUE))) {
    job <- parallel::mcparallel(journal_life(file, acknowledged, 1000, make), silent = TRUE)
    begun <- lines_in(acknowledged)                     # killed after that number of further rewards, or at once
    if (further >= 0) wait_until(function() file.exists(file) && lines_in(acknowledged) >= begun + further, "rewards")
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    if (!file.exists(file)) next                        # killed before there was a bandit
    kills <- kills + 1
    known <- lines_in(acknowledged)
    history <- open_bandit(file, rng = FALSE)$history(draws = 0)
    n <- nrow(history)
    expect_lte(sum(is.na(history$reward)), 1)           # the evaluation that was running
    expect_gte(sum(!is.na(history$reward)), known)      # acknowledged rewards are there
    expected <- utils::head(whole, n)
    expected$reward[is.na(history$reward)] <- NA
    expected$status[is.na(history$reward)] <- "pending"
    expect_identical(history, expected)
  }
  expect_gte(kills, times - 1)
  n <- nrow(open_bandit(file)$history())
  expect_gt(n, 5)
  rounds <- n + 10
  expect_identical(journal_life(file, NULL, rounds, make)$history(draws = 0), utils::head(whole, rounds))
  unlink(c(file, acknowledged))
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
  unlink(file)
})

test_that("functions are written to a journal, and read from it, only with trust", {
  file <- tempfile()
  on.exit(unlink(file))
  own <- function(...) gp_ucb(journal_x, kernel_se(0.2), 0.01, width = width_function(function(t) 2), ...)
  expect_match(refusal(own(journal = file)), "trust = TRUE", fixed = TRUE)
  expect_false(file.exists(file))
  own(journal = file, trust = TRUE)$suggest()
  expect_match(refusal(open_bandit(file)), "trust = TRUE", fixed = TRUE)
  expect_identical(nrow(open_bandit(file, trust = TRUE)$history()), 1L)
})

# ---- untrusted journals --------------------------------------------------------

# Lines of a journal, with right checksums.
write_journal <- function(file, lines) {
  unlink(file)
  end <- gpbandits:::cpp_journal_create(file, lines[1])
  for (line in lines[-1]) end <- gpbandits:::cpp_journal_append(file, line, end)
}

journal_lines <- function(file) gpbandits:::cpp_journal_read(file)$lines

# The journal in `from` with another state of the generator in its first line.
with_header_seed <- function(from, seed) {
  lines <- journal_lines(from)
  words <- strsplit(lines[1], " ", fixed = TRUE)[[1]]
  words[3] <- paste(seed, collapse = ",")
  write_journal(to <- tempfile(), c(paste(words, collapse = " "), lines[-1]))
  to
}

test_that("a generator state of R 4.7, with its kind of rbinom(), can be read by every R", {
  file <- tempfile()
  set.seed(74)
  seed <- .Random.seed
  drawn <- runif(3)
  assign(".Random.seed", seed, globalenv())
  journal_makers$ts(journal = file)
  numbers <- seed[1] %% 100000L
  for (binomial in 0:1) {
    written <- replace(seed, 1, numbers + 100000L * binomial)
    set.seed(1)
    # (A state that R cannot read is a warning, and another state.)
    expect_silent(b <- open_bandit(with_header_seed(file, written)))
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
    expect_error(open_bandit(with_header_seed(file, replace(seed, 1, numbers %% 10000L + wrong))),
                 "state of a random generator", class = "gpbandits_error")
  }
})

# (R before 4.4 would evaluate a promise instead of data as soon as it is read; all versions run the rest.)
test_that("opening a journal evaluates no promise, function, call or environment in it", {
  file <- tempfile()
  witness <- tempfile()
  on.exit(unlink(c(file, witness)))
  payloads <- list(promise = promise_stream(witness), listed = stream_of(list_item(promise_item(witness))),
                   attribute = stream_of(with_attribute(promise_item(witness))),
                   environment = serialize(list2env(list(a = 1)), NULL, version = 2), compact = stream_of(compact_item()),
                   call = serialize(call("file.create", witness), NULL, version = 2))
  old <- function(config, seed = NULL, ...) {
    c(paste("gpbandits-journal 2", packed(config), packed(if (is.null(seed)) serialize(NULL, NULL) else seed)), ...)
  }
  bandit <- journal_makers$ucb(journal = file)
  bandit$suggest()
  lines <- journal_lines(file)
  plain <- serialize(bandit$config, NULL)
  header <- sub("[{].*", "", lines[1])
  for (name in names(payloads)) {
    bytes <- packed(payloads[[name]])
    code <- sprintf("{\"code\":\"%s\",\"reads\":\"function(t) t\"}", bytes)
    ours <- list(paste0(header, code), sub("0.01", code, lines[1], fixed = TRUE))
    crafted <- c(list(old(payloads[[name]]), old(plain, payloads[[name]]), old(plain, NULL, paste("n start", bytes), lines[2]),
                      old(plain, NULL, paste("m", bytes), lines[2]), old(plain, NULL, paste("f", bytes), lines[2])),
                 lapply(ours, c, lines[-1]),
                 lapply(c("n start", "m", "f"), function(part) c(lines[1], paste(part, code), lines[2])))
    for (one in crafted) for (trust in c(FALSE, TRUE)) {
      write_journal(file, one)
      said <- tryCatch({
        open_bandit(file, rng = FALSE, trust = trust)$history()
        "opened"
      }, gpbandits_error = conditionMessage, error = function(e) paste("foreign:", conditionMessage(e)))
      if (file.exists(witness)) fail(paste(name, "has run"))
      unlink(witness)
      if (grepl("^opened|^foreign", said)) fail(paste(name, trust, substr(one[1], 1, 40), said))
    }
  }
  write_journal(file, c(paste0(header, sprintf("{\"code\":\"%s\",\"reads\":\"\"}", packed(payloads$promise))), lines[-1]))
  expect_match(refusal(open_bandit(file, trust = TRUE)), "a promise|no function")
  write_journal(file, old(plain, NULL, lines[2]))
  expect_match(refusal(open_bandit(file, trust = TRUE)), "format 2.*not read any more")
})
