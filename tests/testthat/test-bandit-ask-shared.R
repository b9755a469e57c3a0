# Batches with one value of some inputs.

test_that("all queries of a batch have one value of shared inputs, which the first one chooses", {
  space <- search_space(temp = c(20, 80), time = param_real(1, 100, log = TRUE), base = c("KOH", "NaOH"))
  set.seed(1)
  b <- auto_bandit(space, n_initial = 4)
  for (batch in 1:3) {
    q <- b$suggest(4, shared = c("temp", "base"))
    expect_equal(q$temp, rep(q$temp[1], 4))
    expect_equal(q$base, rep(q$base[1], 4))
    expect_equal(anyDuplicated(q$time), 0)
    b$observe(q$id, -(q$temp - 50)^2 / 100 - log(q$time)^2)
  }
  alone <- b$copy()$suggest()
  expect_equal(b$copy()$suggest(3, shared = "time")[1, ], alone)
  expect_equal(diff(range(b$copy()$suggest(5, shared = "time")$time)), 0)
  expect_equal(b$copy()$suggest(2, shared = "temp", fixed = list(temp = 30))$temp, c(30, 30))
  expect_equal(b$suggest(1, shared = "temp")$id, 13)
})

test_that("arms, products, contexts, journals and stores have shared inputs", {
  arms <- expand.grid(plate = 1:3, dose = 1:4)
  set.seed(2)
  b <- auto_bandit(arms, n_initial = 2)
  q <- b$suggest(4, shared = "plate")
  expect_equal(q$plate, rep(q$plate[1], 4))
  expect_equal(sort(q$dose), 1:4)
  journal <- tempfile()
  b <- auto_bandit(list(x = c(0, 1), y = c(0, 1)), contexts = list(group = c("a", "b")), n_initial = 0,
                   journal = journal)
  q <- b$suggest(3, context = data.frame(group = c("a", "b", "a")), shared = "x")
  expect_equal(q$group, c("a", "b", "a"))
  expect_equal(diff(range(q$x)), 0)
  expect_equal(open_bandit(journal)$history()$x, q$x)
  skip_if_not_installed("RSQLite")
  stored <- auto_bandit(list(x = c(0, 1), y = c(0, 1)), n_initial = 0,
                        store = bandit_store(tempfile(fileext = ".sqlite"), "oven"))
  q <- stored$suggest(3, shared = "x", worker = "me", lease = 60)
  expect_equal(diff(range(q$x)), 0)
  expect_equal(nrow(stored$history()), 3)
})

test_that("unknown or conditional inputs are errors, and nothing is asked", {
  b <- auto_bandit(search_space(a = c(0, 1), b = param_real(0, 1, when = ~ a > 0.5)))
  for (bad in list("z", "b", 1, character(), c("a", "a"))) {
    expect_error(b$suggest(2, shared = bad), "shared", class = "gpbandits_argument_error")
  }
  expect_equal(nrow(b$history()), 0)
})
