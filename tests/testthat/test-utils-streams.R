test_that("streams are reproducible, distinct and those of nextRNGStream()", {
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
  expect_identical(RNGkind()[1:3], c("Wichmann-Hill", "Box-Muller", "Rounding"))
})

test_that("a stream works in a version of R with another number of generators", {
  seed <- replication_seeds(7, 1)[[1]]
  drawn <- with_stream(seed, list(rnorm(3), runif(2), sample(10)))
  for (binomial in 0:1) {
    other <- replace(seed, 1, seed[1] %% 100000L + 100000L * binomial)
    expect_silent(again <- with_stream(other, list(rnorm(3), runif(2), sample(10))))
    expect_identical(again, drawn)
    preserve_rng({
      gpbandits:::restore_rng(other, binomial_kinds = FALSE)
      expect_identical(.Random.seed, replace(seed, 1, seed[1] %% 100000L))
    })
  }
})

test_that("the caller's state is restored, also after errors", {
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

test_that("a session without a state is left without one, with its kind unchanged", {
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

test_that("invalid seeds and counts are errors", {
  expect_error(replication_seeds("a", 2), class = "gpbandits_error")
  expect_error(replication_seeds(1.5, 2), class = "gpbandits_error")
  expect_error(replication_seeds(1, 0), class = "gpbandits_error")
})

test_that("R code called within a run gets the current generator, and its draws advance it", {
  seen <- list()
  f <- function(x) {
    seen <<- c(seen, list(get(".Random.seed", envir = globalenv())))
    runif(nrow(x))
  }
  box <- box_domain(0, 1)
  b <- gp_bandit(box, kernel_se(0.3), 0.01, policy_uniform())
  set.seed(5)
  run_bandit(b, bandit_problem(box, f, noise = 0.1, optimum = 1), 20)
  seen <- tail(seen, 20)
  x <- b$history()[[2]]
  for (t in 1:19) {
    assign(".Random.seed", seen[[t]], envir = globalenv())
    runif(1)
    expect_identical(runif(1), x[t + 1])
    expect_identical(get(".Random.seed", envir = globalenv()), seen[[t + 1]])
  }
})

test_that("a finalizer that reads the generator changes nothing", {
  box <- box_domain(0, 1)
  life <- function(collect) {
    looked <- 0
    calls <- 0
    f <- function(x) {
      calls <<- calls + 1
      guard <- new.env()
      reg.finalizer(guard, function(e) {
        RNGkind()
        looked <<- looked + 1
      })
      rm(guard)
      if (collect && calls %% by_level(3, 3, quick = 5) == 0) gc()                         # (of a large heap it takes 20 ms)
      x[, 1]
    }
    b <- gp_bandit(box, kernel_se(0.3), 0.01, policy_ts(width_constant(1)))
    set.seed(6)
    run_bandit(b, bandit_problem(box, f, noise = 0.1, optimum = 1), 12)
    if (collect) expect_gt(looked, 5)
    list(b$history(), runif(1))
  }
  expect_identical(life(TRUE), life(FALSE))
})

test_that("a custom acquisition function may draw random numbers", {
  arms <- matrix(seq(0, 1, length.out = 7))
  life <- function() {
    drawn <- numeric()
    b <- gp_bandit(arms, kernel_se(0.3), 0.01, policy_function(function(mean, sd, round) {
      drawn <<- c(drawn, z <- rnorm(length(mean)))
      mean + z * sd
    }))
    set.seed(7)
    run_bandit(b, bandit_problem(arms, function(x) x[, 1], noise = 0.1, optimum = 1), 12)
    c(drawn, rnorm(5))
  }
  z <- life()
  expect_length(z, 7 * 12 + 5)
  expect_length(unique(z), length(z))
  expect_identical(life(), z)
})
