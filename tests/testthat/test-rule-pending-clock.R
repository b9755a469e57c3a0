# Censoring by the clock (Verma et al., Appendix A.4): d_s <= min(m, tau - tau_s), the window of
# width_sdf() in time, and a log that holds the clock.

clock_x <- seq(0, 1, length.out = 20)

# All that is known at a choice at time `now`, from the definition alone.
clock_reference <- function(K, lambda, asked, reported, rows, y, now, m, value, B_y, over) {
  usable <- !is.na(reported) & reported - asked <= pmin(m, now - asked)
  seen <- ifelse(usable, y, value)
  post <- ref_posterior_at(K, rows, seen, lambda)
  window <- now - asked <= m
  if (over == "pending") window <- window & is.na(reported)
  width <- 0.7 + B_y * sum(post$sd[rows[window]])
  list(mean = post$mean, sd = post$sd, width = width, arm = ref_argmax(post$mean + width * post$sd, 1e-9))
}

# Queries at random times; pending rewards that arrive at random times, many too late, reported in random
# order, some of them long after they arrived.
play_by_clock <- function(bandit, K, lambda, m, value, B_y, over, rounds = 40) {
  asked <- reported <- y <- numeric()
  rows <- integer()
  now <- 1e9
  worst <- 0
  for (t in seq_len(rounds)) {
    now <- now + stats::rexp(1) * (stats::runif(1) < 0.8)
    if (t %% 9 == 0) {
      arm <- sample.int(nrow(K), 1)
      bandit$add(arm = arm, reward = 0.3, time = now)
      asked[t] <- reported[t] <- now
      y[t] <- 0.3
      rows[t] <- arm
      next
    }
    if (t > 1) {
      expected <- clock_reference(K, lambda, asked, reported, rows, y, now, m, value, B_y, over)
      core <- bandit$posterior()
      worst <- max(worst, abs(core$mean - expected$mean), abs(core$sd - expected$sd))
    }
    query <- bandit$suggest(time = now)
    if (t > 1) {
      expect_identical(query$arm, expected$arm)
      expect_equal(bandit$history()$width[t], expected$width, tolerance = tol$engine)
    }
    asked[t] <- now
    reported[t] <- NA
    y[t] <- sin(5 * clock_x[query$arm]) + stats::rnorm(1, 0, 0.1)
    rows[t] <- query$arm
    pending <- which(is.na(reported))
    some <- pending[stats::runif(length(pending)) < 0.25]
    if (length(some)) {
      some <- some[sample.int(length(some))]
      when <- asked[some] + stats::runif(length(some), 0, 2 * min(m, 10))
      when <- pmin(when, now)                       # reported by now, arrived perhaps earlier
      bandit$observe(some, y[some], time = when)
      reported[some] <- when
    }
  }
  list(worst = worst, late = sum(!is.na(reported) & reported - asked > m), known = sum(!is.na(reported)))
}

test_that("with clock time mean, sd, width and choice equal those of a fit from scratch", {
  skip_on_cran()
  set.seed(61)
  late <- 0
  both <- second_level()
  for (m in few_of(c(0, 1.5, 4, Inf), 3)) for (over in c("window", "pending")) for (engine in c("weights", "played")) {
    # By default in one engine each.
    if (!both && (engine == "weights") != ((m > 1) == (over == "window"))) next
    kernel <- if (m == 4) kernel_se(0.2) else kernel_matern(1.5, 0.3)
    K <- if (m == 4) ref_kernel_se(0.2)(clock_x) else ref_kernel_matern(1.5, 0.3)(clock_x)
    bandit <- gp_ucb_sdf(clock_x, kernel, 0.05, m = m, value = -1, unit = "time", engine = engine,
                         width = width_sdf(width_constant(0.7), B_y = 0.2, over = over))
    played <- play_by_clock(bandit, K, 0.05, m, -1, 0.2, over)
    expect_lt(played$worst, tol$engine)
    late <- late + played$late
    for (twin in list(bandit$copy(), unserialize(serialize(bandit, NULL)))) {
      expect_equal(twin$posterior(), bandit$posterior(), tolerance = tol$replay)
      expect_identical(twin$suggest(time = 2e9), bandit$copy()$suggest(time = 2e9))
    }
  }
  expect_gt(late, by_level(15, 30, quick = 5))
})

test_that("a run counts a round as one unit of time: the two units agree, also in a second run", {
  problem <- bandit_problem(clock_x, sin(5 * clock_x), noise = 0.1, delay = function(n) rpois(n, 3))
  runs <- lapply(c("rounds", "time"), function(unit) {
    set.seed(62)
    bandit <- gp_ucb_sdf(clock_x, kernel_se(0.2), 0.05, m = 3, value = -1, unit = unit)
    first <- as.data.frame(run_bandit(bandit, problem, 40))
    second <- as.data.frame(run_bandit(bandit, problem, 20))
    expect_equal(bandit$copy()$posterior(), bandit$posterior(), tolerance = tol$replay)
    rbind(first, second)
  })
  expect_identical(runs[[1]], runs[[2]])
})

test_that("the clock is the present time by default; differences of time work, and impossible times are errors", {
  bandit <- gp_ucb_sdf(clock_x, kernel_se(0.2), 0.05, m = as.difftime(1, units = "mins"), unit = "time")
  expect_identical(bandit$config$pending$m, 60)
  before <- as.numeric(Sys.time())
  bandit$suggest(2)
  bandit$observe(2, 1)
  after <- as.numeric(Sys.time())
  time <- log_column(bandit, "time")
  expect_true(all(time >= before & time <= after) && !is.unsorted(time))
  blamed <- function(code) tryCatch({
    code
    "nothing"
  }, gpbandits_error = function(e) e$argument)
  log <- log_columns(bandit)
  expect_identical(blamed(bandit$suggest(time = before - 1)), "time")
  expect_identical(blamed(bandit$observe(1, 0, time = before - 1)), "time")
  expect_identical(blamed(bandit$add(arm = 1, reward = 0, time = before - 1)), "time")
  for (bad in list(NA, "now", Inf, numeric(), c(after, after), TRUE)) {
    expect_identical(blamed(bandit$suggest(time = bad)), "time")
    expect_identical(blamed(bandit$observe(1, 0, time = bad)), "time")
  }
  expect_identical(log_columns(bandit), log)
  # a date-time, and a clock that was set back
  bandit$suggest(time = as.POSIXct("2100-01-01", tz = "UTC"))
  bandit$suggest()
  expect_identical(utils::tail(log_column(bandit, "time"), 2), rep(4102444800, 2))
  for (bad in list(-1, NA, "1", c(1, 2), NULL)) expect_identical(blamed(pending_censor(bad, unit = "time")), "m")
  expect_identical(blamed(pending_censor(1, unit = "hours")), "unit")
})

test_that("a bandit that counts rounds records times only if they are given", {
  bandit <- gp_ucb_sdf(clock_x, kernel_se(0.2), 0.05, m = 3)
  bandit$suggest()
  bandit$suggest(time = 5)
  bandit$observe(1:2, c(0, 1), time = c(5, 8))
  expect_identical(log_column(bandit, "time"), c(NA, 5, 5, 8))
  expect_identical(bandit$copy()$posterior(), bandit$copy()$posterior())
})
