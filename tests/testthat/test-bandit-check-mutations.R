# Objects and journals that were changed at random: an error of ours or an answer, never a crash, a hang or a foreign error.

mutations <- by_level(120, 10000, quick = 30)

mutation_victims <- function() {
  x <- seq(0, 1, length.out = 9)
  live <- function(b) {
    constrained <- gpbandits:::constraint_count(b$config) > 0
    b$add(x = if (is.null(b$config$domain$x)) cbind(c(0.2, 0.8)) else cbind(x[4:5]), reward = c(0.4, -0.3),
          constraints = if (constrained) c(0.1, -0.1))
    for (t in 1:5) {
      q <- b$suggest()
      if (t != 3) b$observe(q$id, sin(5 * t), constraints = if (constrained) 0.1)
    }
    b
  }
  set.seed(1)
  list(
    arms = live(gp_ucb(data.frame(name = letters[1:9], x = x), kernel_matern(2.5, 0.3) + kernel_linear(0.1), 0.05)),
    box = live(gp_ei(list(u = c(0, 1)), kernel_se(0.3), 0.05, pending = pending_hallucinate(), refit = refit_every(3, starts = 1))),
    matrix = live(gp_ts(x, kernel_matrix(exp(-as.matrix(stats::dist(x))^2)), 0.05, B = 1, R = 0.1)),
    changes = live(gp_ucb_cpd(x, kernel_se(0.3), 0.05, change_oracle(c(2, 5), explore = 1), width = width_sdf(1), pending = pending_censor(2, 0))),
    drift = live(gp_ucb_drift(x, kernel_se(0.3), 0.05, change_oracle(rate = 0.1))),
    bandit = live(baseline_constrained("ckb", x, kernel_se(0.3), 0.05, step = 0.5, bound = 1)),
    safe = live(safe_opt(x, kernel_se(0.3), 0.05, threshold = -2, seed = 4:5, width = 2)),
    grown = {
      b <- live(gp_ucb(data.frame(name = letters[1:9], x = x), kernel_matern(2.5, 0.3), 0.05))
      b$add_arms(data.frame(name = c("new", "newer"), x = c(1.1, 1.3)))
      b$observe(b$suggest()$id, 0.2)
      b
    },
    lengthscales = live(gp_ucb_lengthscale(x, kernel_se(0.6), 0.05, B = 1, R = 0.1, method = "balanced"))
  )
}

test_that("a mutated object is an error or works", {
  skip_on_cran()
  victims <- mutation_victims()
  set.seed(2)
  fates <- vapply(seq_len(mutations), function(k) {
    fate_of(read_everything(mutated_bandit(victims[[1 + k %% length(victims)]])))
  }, "")
  expect_identical(unique(grep("^foreign|no number", fates, value = TRUE)), character())
  # The test can see: most mutations are noticed, some do no harm.
  expect_gt(mean(fates == "refused"), 0.3)
  expect_gt(sum(fates == "an answer"), 0)
})

test_that("mutated objects of every kind of file are an error or work", {
  skip_on_cran()
  set.seed(1)
  # (What all others have is tested above.)
  kinds <- setdiff(names(kept_kinds), c("arms", "labelled", "box", "thompson", "drift", "replicates", "script"))
  kinds <- few_of(kinds, 4)
  victims <- lapply(stats::setNames(nm = kinds), function(kind) kept_live(kept_kinds[[kind]]$make(), kind))
  use <- function(kind, bandit) {
    facts <- kept_facts(bandit, kind)
    utils::capture.output(print(bandit), summary(bandit))
    if (is.null(kept_kinds[[kind]]$goes_on)) kept_record(bandit, kind, do.call(bandit$suggest, kept_question(kind)))
    else kept_kinds[[kind]]$goes_on(bandit)
    # (Of several outcomes, one may have lost its values.)
    if (kind != "several") facts
  }
  fates <- vapply(seq_len(2 * mutations), function(k) {
    set.seed(4000 + k)                                            # kept_facts() sets it, too
    kind <- kinds[1 + k %% length(kinds)]
    fate <- fate_of(use(kind, mutated_bandit(victims[[kind]])))
    if (fate %in% c("refused", "an answer")) fate else paste(kind, fate)
  }, "")
  expect_identical(unique(grep("foreign|no number", fates, value = TRUE)), character())
  expect_gt(mean(fates == "refused"), 0.3)
})

test_that("a journal with mutated rows and valid checksums is an error or gives a valid bandit", {
  skip_on_cran()
  skip_if_not_installed("RSQLite")
  file <- tempfile()
  set.seed(3)
  b <- gp_ucb(seq(0, 1, length.out = 9), kernel_se(0.3), 0.05, pending = pending_hallucinate(), journal = file)
  for (t in 1:6) b$observe(b$suggest(2, arms = if (t > 4) c(2, 5:7))$id[1], stats::rnorm(1))
  b$amend(1, 0.3)
  b$withdraw(2)
  expect_identical(open_bandit(copied_journal(file), rng = FALSE)$history(), b$history())
  fates <- vapply(seq_len(mutations / 3), function(k) {
    fate_of(read_everything(open_bandit(mutated_journal(file), rng = FALSE)))
  }, "")
  expect_identical(unique(grep("^foreign|no number", fates, value = TRUE)), character())
  expect_gt(mean(fates == "refused"), 0.3)
})

test_that("inputs that once crashed R are errors", {
  b <- mutation_victims()$arms
  spoil <- function(change) {
    twin <- unserialize(serialize(b, NULL))
    change(as.environment(twin))
    twin
  }
  spoilt <- list(spoil(function(e) e$events$id[1] <- 1000000L), spoil(function(e) e$queries$arm[1] <- 1000000L),
                 spoil(function(e) e$queries$arm[1] <- -1L), spoil(function(e) e$queries$.size <- 0L),
                 spoil(function(e) e$events$.size <- 1000L), spoil(function(e) e$config$domain$x <- e$config$domain$x[0, , drop = FALSE]),
                 spoil(function(e) e$config$kernel$parts[[1]]$dims <- -1), spoil(function(e) e$queries$reward[1] <- 7),
                 spoil(function(e) e$queries$status[4] <- 5L), spoil(function(e) e$config$format <- 1000L))
  for (twin in spoilt) {
    expect_error(twin$posterior(), class = "gpbandits_error")
    expect_error(twin$history(), class = "gpbandits_error")
  }
  expect_error(spoilt[[10]]$suggest(), "later version", class = "gpbandits_error")
  regression <- gp_regression(1:3, 1:3, kernel_se(1), 0.1)
  for (field in c("y", "x", "kernel", "noise_var", "names")) {
    broken <- unserialize(serialize(regression, NULL))
    broken[field] <- list(NULL)
    expect_error(predict(broken, 1:2), class = "gpbandits_error")
  }
  for (kernel in list(`[[<-`(kernel_se(1), "dims", -1), `[[<-`(kernel_se(1), "lengthscale", "a"), `[[<-`(kernel_se(1), "type", "none"))) {
    expect_error(kernel_gram(kernel, 1:3), "as its constructor makes it", class = "gpbandits_error")
    expect_error(gp_ucb(1:3, kernel, 0.1), class = "gpbandits_error")
  }
})

test_that("an object of format 0 is upgraded", {
  b <- mutation_victims()$arms
  old <- unserialize(serialize(b, NULL))
  frame <- as.environment(old)
  frame$config$format <- NULL
  for (name in c("arms", "noise_var")) {
    rm(list = name, envir = frame$events)
    frame$events$.columns <- setdiff(frame$events$.columns, name)
  }
  expect_identical(old$history(), b$history())
  expect_identical(old$suggest(), b$suggest())
  expect_identical(old$copy()$config[names(b$config)], b$config)
})

test_that("levels and integers that do not exist are reported as damage", {
  space <- search_space(a = param_real(0, 1), b = param_factor(c("x", "y")), n = param_integer(1, 9), l = param_logical())
  bandit <- gp_bandit(space, kernel_se(0.3, dims = "a"), 0.05, policy_ei())
  for (k in 1:4) bandit$observe(bandit$suggest()$id, sin(k))
  reported <- function(column, value) {
    twin <- unserialize(serialize(bandit, NULL))
    frame <- as.environment(twin)
    queries <- list2env(as.list(frame$queries, all.names = TRUE))
    queries[[column]][3] <- value
    frame$queries <- queries
    twin$history()
  }
  for (at in list(list("in.2", -1), list("in.2", 3), list("in.2", 1.5), list("in.3", 1e300), list("in.4", 2), list("in.1", NaN))) {
    expect_error(reported(at[[1]], at[[2]]), "damaged", class = "gpbandits_error")
  }
  expect_identical(reported("in.3", 12)$n[3], 12L)                               # a row of another space
})

test_that("refits in the wrong order, and output transforms without numbers, are reported as damage", {
  bandit <- auto_bandit(list(u = c(0, 1)), n_initial = 2, model = gp_model(refit = refit_every(2, starts = 1)))
  set.seed(3)
  for (k in 1:6) bandit$observe(bandit$suggest()$id, sin(k))
  expect_gt(length(bandit$refits), 1)
  damaged <- function(change) {
    twin <- unserialize(serialize(bandit, NULL))
    change(as.environment(twin))
    expect_error(twin$history(), "damaged", class = "gpbandits_error")
  }
  at <- which(bandit$events$kind == gpbandits:::event_kind[["refit"]])[2]
  for (id in c(-4L, NA, 1000L, 0L)) damaged(function(frame) {
    events <- list2env(as.list(frame$events, all.names = TRUE))
    events$id[at] <- id
    frame$events <- events
  })
  for (value in list(NA_real_, "1", c(1, 2), NULL)) for (name in c("distinct", "centre")) damaged(function(frame) {
    frame$refits[[1]]$output_map[name] <- list(value)
  })
})

# An address space that many copies of a count of 1e9 would not fit in, on systems that can limit it.
run_in_little_memory <- function(code) {
  skip_on_cran()
  skip_if_not(Sys.info()[["sysname"]] == "Linux", "only Linux limits the memory of a process")
  run_child(c("suppressMessages(library(gpbandits))", code), shell = "ulimit -v 3000000;")
}

test_that("a number of readings in a journal, store or JSON takes no memory, whatever it is", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  out <- run_in_little_memory(c(
    # Users may give 10,000. A file can state any number.
    "space <- asNamespace('gpbandits')",
    "unlockBinding('check_number_of_readings', space)",
    "assign('check_number_of_readings', function(x, n) rep(as.double(x), length.out = n), envir = space)",
    "begun <- function(...) {",
    "  bandit <- auto_bandit(list(a = c(0, 1)), n_initial = 2, model = gp_model(refit = refit_every(2, starts = 1)), ...)",
    "  for (k in 1:5) bandit$observe(bandit$suggest()$id, sin(k), size = 1e9, sd = 0.1)",
    "  bandit",
    "}",
    "file <- tempfile()",
    "database <- tempfile(fileext = '.db')",
    "text <- as_json(begun())",
    "invisible(begun(journal = file))",
    "invisible(begun(store = bandit_store(database, 'b', seed = 1)))",
    "for (bandit in list(from_json(text), open_bandit(file), open_bandit(bandit_store(database, 'b')))) {",
    "  cat(bandit$suggest()$id, bandit$history()$size[5] == 1e9, bandit$copy()$best()$sd < 1, '')",
    "}"))
  expect_identical(out, strrep("6 TRUE TRUE ", 3))
})

test_that("any other large number in the rows of a journal takes no memory", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  out <- run_in_little_memory(c(
    sprintf("for (file in c('helper-processes.R', 'helper-store.R', 'helper-mutations.R')) source(file.path(%s, file))",
            deparse(normalizePath(testthat::test_path()))),
    "at <- function(file) list(kind = 'sqlite', connect = function() DBI::dbConnect(RSQLite::SQLite(), file, synchronous = NULL))",
    "make <- list(",
    "  refits = function(...) {",
    "    b <- gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, refit = refit_every(3, starts = 1), ...)",
    "    for (k in 1:4) b$observe(b$suggest()$id, sin(k), size = 2, sd = 0.1)",
    "  },",
    "  compacted = function(...) {",
    "    b <- gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, ...)",
    "    for (k in 1:7) b$observe(b$suggest()$id, sin(k))",
    "    b$compact(keep = 3)",
    "  },",
    "  pairs = function(...) {",
    "    b <- gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_duel(width_constant(1)), rewards = rewards_preferences(), ...)",
    "    for (k in 1:3) { q <- b$suggest(2); b$observe(q$id, prefer = q$id[1]) }",
    "    b$amend(1:2, prefer = 2)",
    "  })",
    "for (kind in names(make)) {",
    "  file <- tempfile()",
    "  make[[kind]](journal = file)",
    "  fates <- character()",
    "  for (number in utils::tail(tamper(at(file), 'SELECT number FROM gpb_event')$number, 3)) {",
    "    row <- tamper(at(file), 'SELECT query, numbers FROM gpb_event WHERE number = ', number)",
    "    words <- strsplit(row$numbers, ' ')[[1]]",
    "    for (k in seq_len(1 + length(words))) {",
    "      large <- paste(replace(c(row$query, words), k, c('1000000000', '1e9')[1 + (k > 1)]))",
    "      spoilt <- copied_journal(file)",
    "      tamper(at(spoilt), sprintf('UPDATE gpb_event SET query = %s, numbers = \\'%s\\' WHERE number = %d', large[1],",
    "                                 paste(large[-1], collapse = ' '), number))",
    "      con <- at(spoilt)$connect()",
    "      seal_journal(con)",
    "      DBI::dbDisconnect(con)",
    "      fates <- c(fates, tryCatch({",
    "        b <- open_bandit(spoilt, rng = FALSE)",
    "        b$history()",
    "        suppressWarnings(b$suggest(2))",
    "        'works'",
    "      }, gpbandits_error = conditionMessage, error = function(e) paste('foreign', conditionMessage(e))))",
    "    }",
    "  }",
    "  cat(kind, sum(fates == 'works') > 3, sum(fates != 'works') > 3, grep('foreign|memory', fates, value = TRUE), '\\n')",
    "}"))
  expect_identical(trimws(out), paste(c("refits", "compacted", "pairs"), "TRUE TRUE"))
})
