# Notes and further columns reported with results.

noted_bandit <- function(...) gp_ucb(1:9 / 9, kernel_se(0.3), noise_var = 0.01, pending = "hallucinate", ...)

write_notes <- function(b) {
  b$observe(b$suggest(2)$id, c(1, 2), note = c("clear \u00e9", NA))
  b$observe(data.frame(id = b$suggest()$id, reward = 3, operator = "Ann", run = 7, on = as.Date("2026-03-01")))
  b$add(arm = 2, reward = 1, note = "from last year")
  b$amend(2, 2, note = "read again")
  b
}

expect_notes <- function(seen) {
  expect_identical(seen$note, c("clear \u00e9", "read again", NA, "from last year"))
  expect_identical(seen$operator, c(NA, NA, "Ann", NA))
  expect_identical(seen$run, c(NA, NA, 7, NA))
  expect_identical(seen$on[3], as.Date("2026-03-01"))
  expect_identical(seen$reward, c(1, 2, 3, 1))
}

test_that("notes are in the history, copies, JSON and files", {
  set.seed(1)
  b <- write_notes(noted_bandit())
  expect_notes(b$history())
  expect_notes(b$copy()$history())
  expect_notes(from_json(as_json(b))$history())
  file <- tempfile(fileext = ".rds")
  saveRDS(b, file)
  expect_notes(readRDS(file)$history())
  b$reset()
  expect_false("note" %in% names(b$history()))
})

test_that("notes are in journals, also in compacted ones", {
  file <- tempfile()
  set.seed(1)
  b <- write_notes(noted_bandit(journal = file))
  expect_notes(open_bandit(file)$history())
  b$compact()
  expect_notes(open_bandit(file)$history())
})

test_that("notes are in stores, and other processes read them", {
  skip_if_not_installed("RSQLite")
  store <- bandit_store(tempfile(fileext = ".db"), "notes")
  set.seed(1)
  b <- noted_bandit(store = store)
  other <- open_bandit(store)
  write_notes(b)
  expect_notes(other$catch_up()$history())
  b$compact()
  expect_notes(open_bandit(store)$history())
})

test_that("rules written in R keep notes", {
  file <- tempfile()
  b <- baseline_constrained("ckb", 1:9 / 9, kernel_se(0.3), 0.01, step = 0.5, bound = 1, journal = file)
  b$observe(b$suggest()$id, 1, constraints = 0, note = "first")
  b$add(arm = 2, reward = 1, constraints = 0, note = "second")
  expect_identical(b$history()$note, c("first", "second"))
  expect_identical(open_bandit(file)$history()$note, c("first", "second"))
})

test_that("bad notes are errors, and damaged ones are found", {
  b <- noted_bandit()
  q <- b$suggest(2)
  expect_error(b$observe(q$id, 1:2, note = 3), class = "gpbandits_error")
  expect_error(b$observe(q$id, 1:2, note = c("a", "b", "c")), class = "gpbandits_error")
  expect_identical(b$history()$status, c("pending", "pending"))
  b$observe(q$id, 1:2, note = "a")
  for (bad in list(c("1" = "no json"), c("9" = "{\"note\":\"a\"}"), c("1" = "{\"note\":[1,2]}"), 5)) {
    other <- b$copy()
    other$notes <- bad
    expect_error(other$history(), class = "gpbandits_error")
  }
})

test_that("a column that is called like one of the history gets another name", {
  data <- data.frame(x = c(0.1, 0.5), reward = 1:2, id = c("a1", "a2"), width = 3)
  seen <- auto_bandit(list(x = c(0, 1)), data)$history()
  expect_identical(seen$data.id, c("a1", "a2"))
  expect_identical(seen$data.width, c(3, 3))
})

test_that("the same value with another note keeps the note, in memory, journals and stores", {
  journal <- tempfile()
  makers <- list(memory = function() auto_bandit(list(a = c(0, 1))),
                 journal = function() auto_bandit(list(a = c(0, 1)), journal = journal))
  if (store_packages("RSQLite")) {
    place <- sqlite_location()
    makers$store <- function() auto_bandit(list(a = c(0, 1)), store = store_at(place))
  }
  for (kind in names(makers)) {
    bandit <- makers[[kind]]()
    q <- bandit$suggest(2)
    bandit$observe(q$id[1], 1, note = "wet", size = 3)
    bandit$observe(q$id, c(1, 2), note = c("dry", NA), size = c(3, 1))
    expect_identical(bandit$history()$note[1:2], c("dry", NA), info = kind)
    expect_equal(bandit$history()$reward[1:2], c(1, 2), info = kind)
    expect_equal(bandit$history()$size[1], 3, info = kind)
    # Repeated, or without a note, it changes nothing.
    size <- log_size(bandit)
    bandit$observe(q$id[1], 1, note = "dry", size = 3)
    bandit$observe(q$id[1], 1, size = 3)
    expect_identical(log_size(bandit), size, info = kind)
    expect_identical(bandit$history()$note[1], "dry", info = kind)
    expect_error(bandit$observe(q$id[1], 5, note = "x"), "amend", class = "gpbandits_error")
  }
  expect_identical(open_bandit(journal)$history()$note[1], "dry")
  if (!is.null(makers$store)) expect_identical(open_bandit(store_at(place))$history()$note[1], "dry")
})
