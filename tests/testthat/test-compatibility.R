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

expect_goes_on <- function(bandit, kind, info) {
  before <- nrow(bandit$history())
  query <- do.call(bandit$suggest, kept_question(kind))
  kept_record(bandit, kind, query)
  expect_identical(bandit$history()$status[before + 1], "observed", info = info)
}

for (version in kept_versions()) {
  home <- test_path("kept", version)
  expected <- readRDS(file.path(home, "expected.rds"))

  test_that(paste("saved bandits of", version, "are read and go on"), {
    bandits <- readRDS(file.path(home, "bandits.rds"))
    expect_gte(length(bandits), 10)
    for (kind in names(bandits)) {
      expect_kept(bandits[[kind]], expected[[kind]], kind, kind)
      expect_goes_on(bandits[[kind]], kind, kind)
    }
  })

  test_that(paste("journals of", version, "are read and go on"), {
    for (file in dir(home, "[.]journal$")) {
      kind <- sub("[.]journal$", "", file)
      path <- tempfile()
      file.copy(file.path(home, file), path)
      bandit <- open_bandit(path)
      expect_kept(bandit$copy(), expected[[kind]], kind, file)
      expect_goes_on(bandit, kind, file)
    }
  })

  test_that(paste("JSON of", version, "is read and goes on"), {
    for (file in dir(home, "[.]json$")) {
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
    for (name in grep("^store:", names(expected), value = TRUE)) {
      kind <- sub("^store:", "", name)
      bandit <- open_bandit(store_at(point, kind))
      expect_kept(bandit, expected[[name]], kind, name)
      expect_goes_on(bandit, kind, name)
    }
  })
}

test_that("a file of a newer format than the package knows is an error that says so", {
  b <- gp_ucb(1:3, kernel_se(1), 0.1)
  expect_error(from_json(sub("\"version\": *1", "\"version\":2", as_json(b))), "version 1", class = "gpbandits_error")
  journal <- tempfile()
  gp_ucb(1:3, kernel_se(1), 0.1, journal = journal)
  lines <- readLines(journal)
  writeLines(sub("gpbandits-journal [0-9]+", "gpbandits-journal 99", lines), journal)
  expect_error(open_bandit(journal), class = "gpbandits_error")
})
