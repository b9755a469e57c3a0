# Files of releases are read, have the log and the posterior that they had, and continue (?compatibility).

kept_versions <- function() dir(test_path("kept"))

expect_kept <- function(bandit, expected, kind, info) {
  now <- kept_facts(bandit, kind)
  # (Their histories called observed queries "known".)
  expected$history$status[expected$history$status == "known"] <- "observed"
  for (column in names(expected$history)) {
    expect_equal(now$history[[column]], expected$history[[column]], tolerance = 1e-9, info = paste(info, column))
  }
  for (column in names(expected$posterior)) {
    expect_equal(now$posterior[[column]], expected$posterior[[column]], tolerance = 1e-7, info = paste(info, column))
  }
  if (!is.null(expected$next_choice)) expect_equal(now$next_choice, expected$next_choice, tolerance = 1e-6, info = info)
}

# The folder with the files of a version, which are packed since 0.9.0.
unpacked <- function(version) {
  home <- test_path("kept", version)
  archive <- file.path(home, "files.tar.xz")
  if (!file.exists(archive)) return(home)
  files <- tempfile("kept")
  dir.create(files)
  utils::untar(archive, exdir = files, tar = "internal")
  files
}

expect_goes_on <- function(bandit, kind, info) {
  before <- nrow(bandit$history())
  own <- kept_kinds[[kind]]$goes_on
  if (!is.null(own)) {
    suppressWarnings(own(bandit))
    expect_gt(nrow(bandit$history()), before)
    return(invisible())
  }
  query <- do.call(bandit$suggest, kept_question(kind))
  kept_record(bandit, kind, query)
  expect_identical(bandit$history()$status[before + 1], "observed", info = info)
}

for (version in kept_versions()) {
  home <- unpacked(version)
  expected <- readRDS(test_path("kept", version, "expected.rds"))

  test_that(paste("saved bandits of", version, "are read and go on"), {
    bandits <- readRDS(file.path(home, "bandits.rds"))
    expect_gte(length(bandits), 10)
    for (kind in few_of(names(bandits), 8)) {
      expect_kept(bandits[[kind]], expected[[kind]], kind, kind)
      expect_goes_on(bandits[[kind]], kind, kind)
    }
  })

  if (length(dir(home, "[.]journal$"))) test_that(paste("journals of", version, "are read and go on; those with text are an error that says how to convert them"), {
    skip_if_not_installed("RSQLite")
    for (file in few_of(dir(home, "[.]journal$"), 8)) {
      kind <- sub("[.]journal$", "", file)
      path <- tempfile()
      file.copy(file.path(home, file), path)
      if (identical(readBin(path, "raw", 18)[10:18], charToRaw("gpbandits"))) {
        expect_error(open_bandit(path), "text journal of an earlier version.*from_json", class = "gpbandits_data_error")
        next
      }
      bandit <- open_bandit(path)
      expect_kept(bandit$copy(), expected[[kind]], kind, file)
      expect_goes_on(bandit, kind, file)
    }
  })

  test_that(paste("JSON of", version, "is read and goes on"), {
    for (file in few_of(dir(home, "[.]json$"), 8)) {
      kind <- sub("[.]json$", "", file)
      bandit <- from_json(readLines(file.path(home, file)))
      expect_kept(bandit, expected[[kind]], kind, file)
      expect_goes_on(bandit, kind, file)
    }
  })

  test_that(paste("a store of", version, "is read and goes on; names of workers can be deleted from it"), {
    skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
    path <- tempfile(fileext = ".db")
    file.copy(file.path(home, "store.db"), path)
    point <- list(kind = "sqlite", file = path, connect = eval(bquote(function() DBI::dbConnect(RSQLite::SQLite(), .(path), synchronous = NULL))))
    tamper(point, "UPDATE gpb_lease SET worker = NULL, reason = NULL WHERE state <> 'leased'")
    for (name in few_of(grep("^store:", names(expected), value = TRUE), 8)) {
      kind <- sub("^store:", "", name)
      bandit <- open_bandit(store_at(point, kind))
      expect_kept(bandit, expected[[name]], kind, name)
      expect_goes_on(bandit, kind, name)
    }
  })
}

for (version in kept_versions()) {
  home <- unpacked(version)
  expected <- readRDS(test_path("kept", version, "expected.rds"))
  if (is.null(expected$results)) next

  test_that(paste("results of searches and fits of", version, "are read and used"), {
    results <- readRDS(file.path(home, "results.rds"))
    now <- kept_result_facts(results)
    for (name in names(expected$results)) {
      expect_equal(now[[name]], expected$results[[name]], tolerance = 1e-7, info = name)
    }
    expect_no_error(use_kept_results(results))
  })

  test_that(paste("searches of", version, "in stores go on"), {
    same_rows <- function(found, rows, info) {
      first <- utils::head(found$history, length(rows[[1]]))
      for (column in names(rows)) expect_equal(first[[column]], rows[[column]], tolerance = 1e-7, info = paste(info, column))
    }
    skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
    path <- tempfile(fileext = ".db")
    file.copy(file.path(home, "store.db"), path)
    for (name in names(kept_searches)) {
      found <- kept_searches[[name]](9, store = bandit_store(path, paste0("search-", name)))
      same_rows(found, expected[[paste0("stored-search:", name)]], name)
      expect_gt(nrow(found$history), length(expected[[paste0("stored-search:", name)]][[1]]))
    }
  })
}

test_that("a file of a newer format than the package knows is an error that says so", {
  b <- gp_ucb(1:3, kernel_se(1), 0.1)
  expect_error(from_json(sub("\"version\": *1", "\"version\":2", as_json(b))), "version 1", class = "gpbandits_error")
})

test_that("files of unreleased versions that have another meaning here, or a kind that no longer exists, are errors that say what to do", {
  b <- gp_bandit(1:3, kernel_se(1), 0.1, policy_ucb(width_constant(1)), changes = change_oracle(rate = 0.1, by = "weights"))
  b$observe(b$suggest()$id, 0.5)
  earlier <- function(change) {
    twin <- unserialize(serialize(b, NULL))
    frame <- as.environment(twin)
    frame$config <- change(frame$config)
    twin
  }
  expect_identical(earlier(identity)$history(), b$history())
  expect_error(earlier(function(config) replace(config, "format", 2L))$history(), "another meaning.*add\\(\\)", class = "gpbandits_data_error")
  expect_error(earlier(function(config) {
    config$changes$kind <- "penance"
    config
  })$history(), "kind that this version does not have. Open it with the version", class = "gpbandits_error")
  journal <- tempfile()
  gp_bandit(1:3, kernel_se(1), 0.1, policy_ucb(width_constant(1)), changes = change_oracle(rate = 0.1, by = "weights"), journal = journal)
  tamper(list(kind = "sqlite", connect = function() DBI::dbConnect(RSQLite::SQLite(), journal)),
         "UPDATE gpb_bandit SET settings = REPLACE(settings, 'integer\":3', 'integer\":2')")
  expect_error(open_bandit(journal), "another meaning", class = "gpbandits_data_error")
})
