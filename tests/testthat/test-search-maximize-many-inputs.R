# What the default search does from 15 inputs on, and that its choices follow from the log.

cube <- function(d) box_domain(rep(0, d), rep(1, d))
bowl <- function(x) -colSums((t(as.matrix(x)) - 0.3)^2)

test_that("from 15 inputs on refits keep four models and are rarer; the design has two points for each input", {
  set.seed(1)
  few <- auto_bandit(cube(14))
  many <- auto_bandit(cube(15))
  expect_equal(few$config$refit[c("rounds", "average")], list(rounds = 2, average = 10))
  expect_equal(many$config$refit[c("rounds", "average")], list(rounds = 4, average = 4))
  expect_equal(vapply(c(15, 20, 40, 120), function(d) default_refit(cube(d))$rounds, 0), c(4, 5, 10, 10))
  expect_equal(many$config$refit$settings$starts, 1)
  expect_length(few$config$refit$settings$priors, 16)
  points <- function(bandit) nrow(as.environment(bandit)$config$design$inputs)
  expect_equal(c(points(few), points(many)), c(70, 30))
  expect_equal(c(design_size(NULL, cube(15), 100, 1), design_size(NULL, cube(15), 40, 1)), c(30, 20))
  # In few inputs a quarter of the evaluations, but up to four points, and one for each worker.
  sizes <- function(d, workers = 1) {
    vapply(c(200, 50, 12, 6, 2, 1), function(count) design_size(NULL, cube(d), count, workers), 0)
  }
  expect_equal(sizes(7), c(35, 13, 4, 3, 1, 1))
  expect_equal(sizes(2), c(10, 10, 4, 3, 1, 1))
  expect_equal(sizes(2, 5), c(14, 13, 5, 5, 2, 1))
  expect_equal(auto_bandit(cube(15), model = gp_model(refit = refit_every(3)), n_initial = 4)$config$refit$rounds, 3)
})

test_that("copies, files, JSON and the journal of a bandit in 20 inputs make the same choices", {
  set.seed(2)
  x <- matrix(stats::runif(45 * 20), 45, dimnames = list(NULL, paste0("x", 1:20)))
  made <- function(...) auto_bandit(cube(20), data = data.frame(x, reward = bowl(x)), n_initial = 0, ...)
  play <- function(bandit, rounds) {
    for (k in seq_len(rounds)) {
      asked <- bandit$suggest()
      bandit$observe(asked$id, bowl(asked[paste0("x", 1:20)]))
    }
  }
  journal <- tempfile(fileext = ".jsonl")
  play(made(journal = journal), 6)
  bandit <- made()
  play(bandit, 6)
  file <- tempfile(fileext = ".rds")
  saveRDS(bandit, file)
  others <- list(bandit$copy(), readRDS(file), from_json(as_json(bandit)), open_bandit(journal))
  play(bandit, 6)
  for (other in others) {
    play(other, 6)
    expect_identical(other$history(), bandit$history())
  }
  # (Far better than anything in the data: it does search.)
  expect_gt(max(bandit$history()$reward), max(bowl(x)) + 0.2)
})
