test_that("streams are reproducible, distinct and those of nextRNGStream", {
  seeds <- replication_seeds(7, 4)
  expect_identical(seeds, replication_seeds(7, 4))
  expect_identical(seeds[1:2], replication_seeds(7, 2))
  expect_false(identical(seeds, replication_seeds(8, 4)))
  expect_identical(seeds[[3]], parallel::nextRNGStream(seeds[[2]]))
  draws <- lapply(seeds, function(seed) with_stream(seed, rnorm(5)))
  expect_false(anyDuplicated(draws) > 0)
  expect_identical(draws[[2]], with_stream(seeds[[2]], rnorm(5)))
})

test_that("the numbers do not depend on the caller's generator", {
  seeds <- replication_seeds(7, 2)
  reference <- with_stream(seeds[[2]], list(rnorm(3), runif(2), sample(10)))
  old <- RNGkind()
  on.exit(do.call(RNGkind, as.list(old)))
  suppressWarnings(RNGkind("Wichmann-Hill", "Box-Muller", "Rounding"))
  set.seed(1)
  expect_identical(replication_seeds(7, 2), seeds)
  expect_identical(with_stream(seeds[[2]], list(rnorm(3), runif(2), sample(10))), reference)
  expect_identical(RNGkind(), c("Wichmann-Hill", "Box-Muller", "Rounding"))
})

test_that("the caller's state is restored, after errors too", {
  seed <- replication_seeds(1, 1)[[1]]
  set.seed(3)
  expected <- runif(3)
  set.seed(3)
  expect_identical(runif(1), expected[1])
  with_stream(seed, runif(100))
  expect_identical(runif(1), expected[2])
  expect_error(with_stream(seed, { runif(5); stop("boom") }), "boom")
  replication_seeds(5, 3)
  expect_identical(runif(1), expected[3])
})

test_that("a session without a state is left without one, its kind unchanged", {
  global <- globalenv()
  set.seed(3)
  saved <- get(".Random.seed", envir = global)
  kind <- RNGkind()
  on.exit(assign(".Random.seed", saved, envir = global))
  rm(".Random.seed", envir = global)
  with_stream(replication_seeds(1, 1)[[1]], runif(1))
  expect_false(exists(".Random.seed", envir = global, inherits = FALSE))
  expect_identical(RNGkind(), kind)
})

test_that("bad seeds and counts are refused", {
  expect_error(replication_seeds("a", 2), class = "gpbandits_error")
  expect_error(replication_seeds(1.5, 2), class = "gpbandits_error")
  expect_error(replication_seeds(1, 0), class = "gpbandits_error")
})
