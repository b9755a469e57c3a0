yield <- function(x) 90 - 0.02 * (x[["temp"]] - 72)^2 - 3 * (x[["acid"]] - 2.4)^2
bench_domain <- list(temp = c(40, 100), acid = c(0, 5))

answer <- function(bandit, asked, f = yield) {
  bandit$observe(data.frame(id = asked$id, reward = vapply(seq_len(nrow(asked)), function(k) f(asked[k, ]), 0)))
}

test_that("data, four at a time: the design comes first, then the policy, and the top is found in the user's units", {
  set.seed(1)
  known <- data.frame(acid = c(1, 4), temp = c(50, 90), reward = c(0, 0))
  known$reward <- c(yield(known[1, ]), yield(known[2, ]))
  bandit <- auto_bandit(bench_domain, known)
  for (k in 1:6) answer(bandit, bandit$suggest(4))
  history <- bandit$history()
  expect_equal(history$action, c("given", "given", rep("explore", 8), rep("policy", 16)))
  expect_equal(history$temp[1:2], c(50, 90))
  # A Latin hypercube: each eighth of each range once.
  expect_equal(sort(findInterval(history$acid[3:10], seq(0, 5, length.out = 9))), 1:8)
  best <- bandit$best()
  expect_gt(yield(best), 89.8)
  expect_lt(abs(best$mean - yield(best)), 0.5)
  expect_s4_class(bandit, "GPBandit")
})

test_that("minimising is the mirror of maximising, and any units give the same experiments", {
  play <- function(direction, f) {
    set.seed(2)
    bandit <- auto_bandit(bench_domain, direction = direction)
    for (k in 1:5) answer(bandit, bandit$suggest(3), f)
    bandit
  }
  up <- play("maximize", yield)
  down <- play("minimize", function(x) -yield(x))
  expect_equal(up$history()[c("temp", "acid")], down$history()[c("temp", "acid")])
  expect_equal(up$best()$mean, -down$best()$mean)
  far <- play("maximize", function(x) 1e6 * yield(x) - 1e9)
  expect_equal(far$history()[c("temp", "acid")], up$history()[c("temp", "acid")], tolerance = 1e-3)
})

test_that("experiments under way stand in the data as NA, and their results come later", {
  set.seed(3)
  known <- data.frame(temp = c(50, 60, 70, 80), acid = c(1, 2, 3, 4), reward = c(70, NA, NA, 74))
  bandit <- auto_bandit(bench_domain, known, design = 2)
  expect_equal(bandit$history()$status, c("known", "pending", "pending", "known"))
  expect_equal(bandit$suggest()$id, 5)
  expect_equal(bandit$history()$action[5], "policy")
  unknown <- auto_bandit(bench_domain, data.frame(temp = 50, acid = 1, reward = NA), design = 1)
  expect_equal(unknown$history()$status, "pending")
  bandit$observe(2:3, c(85, 88))
  expect_equal(bandit$history()$reward[1:4], c(70, 85, 88, 74))
})

test_that("copies, files, journals and stores go on within the design and after it", {
  file <- tempfile()
  set.seed(4)
  bandit <- auto_bandit(bench_domain, direction = "minimize", design = 5, journal = file)
  asked <- bandit$suggest(3)
  answer(bandit, asked)
  copy <- unserialize(serialize(bandit$copy(), NULL))
  set.seed(5)
  bandit$suggest(5)
  set.seed(5)
  copy$suggest(5)
  expect_identical(copy$history(), bandit$history())
  expect_equal(bandit$history()$action, rep(c("explore", "policy"), c(5, 3)))
  expect_identical(open_bandit(file)$history(), bandit$history())
  unlink(file)
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- bandit_store(tempfile(fileext = ".sqlite"), "auto")
  set.seed(6)
  ours <- auto_bandit(bench_domain, data.frame(temp = 50, acid = 1, reward = 61), store = place, design = 3)
  answer(ours, ours$suggest(2))
  answer(ours, ours$suggest(2))
  theirs <- open_bandit(place)
  expect_equal(theirs$history(), ours$history())
  expect_equal(theirs$best(), ours$best(), tolerance = tol$replay)
})

test_that("arms have designs too, and bad arguments are refused", {
  set.seed(7)
  bandit <- auto_bandit(seq(0, 1, 0.1), direction = "minimize")
  first <- bandit$suggest(5)
  expect_false(anyDuplicated(first$arm) > 0)
  expect_equal(nrow(bandit$suggest(2, arms = 3:4)), 2)
  expect_error(auto_bandit(bench_domain, data.frame(temp = 50, acid = 1)), "`data`", class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, data.frame(temp = 500, acid = 1, reward = 3)), "`data`",
               class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, direction = "up"), "`direction`", class = "gpbandits_error")
  expect_error(auto_bandit(bench_domain, outputs = NULL), "`outputs`", class = "gpbandits_error")
})
