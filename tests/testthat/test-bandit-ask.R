# Suggestions: their time after many rounds.

test_that("a suggestion among arms takes the same time after any number of rounds", {
  skip_on_cran()
  # The least of several times of 500 calls, so that other processes do not matter.
  least_time <- function(rounds) {
    b <- gp_ucb(1:50 / 50, kernel_se(0.2), noise_var = 0.05)
    set.seed(1)
    b$add(arm = sample(50, rounds, TRUE), reward = rnorm(rounds))
    seconds <- function(k) system.time(for (i in 1:500) b$suggest(), gcFirst = FALSE)[["elapsed"]]
    min(vapply(seq_len(by_level(10, 10, quick = 4)), seconds, 0))
  }
  expect_lt(least_time(1e5), 3 * least_time(1000))
})
