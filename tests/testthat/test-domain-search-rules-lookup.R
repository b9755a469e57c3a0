# Constraints that look up a value for each level.

bp <- c(toluene = 111, "1,4-dioxane" = 101, CHCl3 = 61)
boiling <- function(...) {
  search_space(solvent = names(bp), temp = c(20, 120), ..., where = ~ temp <= bp[solvent] - 5)
}

test_that("the values are kept as data, for points, stores, JSON and journals without trust", {
  space <- boiling()
  expect_match(space$where, "CHCl3 = 61", fixed = TRUE)
  set.seed(1)
  below <- function(points) expect_true(all(points$temp <= bp[as.character(points$solvent)] - 5 + 1e-9))
  journal <- tempfile()
  b <- auto_bandit(space, journal = journal, n_initial = 6)
  q <- b$suggest(10)
  below(q)
  b$observe(q$id, q$temp + 20 * (q$solvent == "CHCl3"))
  below(b$suggest(3))
  below(b$best())
  same <- function(other) {
    expect_equal(other$history(), b$history())
    below(other$copy()$suggest(2))
  }
  bp <- NULL
  same(from_json(as_json(b)))
  same(open_bandit(journal))
  expect_error(b$suggest(fixed = list(solvent = "CHCl3", temp = 60)), "where", class = "gpbandits_error")
  expect_true(b$add(data.frame(solvent = "CHCl3", temp = 60), reward = 50)$history()$status[14] == "observed")
  skip_if_not_installed("RSQLite")
  store <- bandit_store(tempfile(fileext = ".sqlite"), "boil")
  bp <- c(toluene = 111, "1,4-dioxane" = 101, CHCl3 = 61)
  auto_bandit(boiling(), store = store)
  bp <- NULL
  drawn <- open_bandit(store)$suggest(6)
  expect_true(all(drawn$temp <= c(toluene = 106, "1,4-dioxane" = 96, CHCl3 = 56)[drawn$solvent] + 1e-9))
})

test_that("levels may be numbers, ordered factors and logicals", {
  most <- c("1" = 10, "2.5" = 20)
  numbers <- search_space(size = param_factor(c(1, 2.5)), n = param_integer(1, 30), where = ~ n <= most[size])
  set.seed(2)
  drawn <- auto_bandit(numbers, n_initial = 0)$suggest(6)
  expect_true(all(drawn$n <= most[as.character(drawn$size)]))
  most_of <- c(low = 5, high = 1)
  ordered <- search_space(grade = factor(c("low", "high"), c("low", "high"), ordered = TRUE), n = param_integer(1, 9),
                          where = ~ n <= most_of[grade])
  drawn <- gp_bandit(ordered, kernel_se(3), 0.1, policy_uniform())$suggest(12)
  expect_true(all(drawn$n <= most_of[as.character(drawn$grade)]))
  flag <- c("TRUE" = 2, "FALSE" = 8)
  logical <- search_space(fast = c(TRUE, FALSE), n = param_integer(1, 9), where = ~ n <= flag[[fast]])
  drawn <- gp_bandit(logical, kernel_se(3), 0.1, policy_uniform())$suggest(12)
  expect_true(all(drawn$n <= ifelse(drawn$fast, 2, 8)))
})

test_that("vectors without a value for each level are errors that name the level", {
  refused <- function(where, text) {
    expect_error(search_space(solvent = names(bp), temp = c(20, 120), where = where), text,
                 class = "gpbandits_argument_error")
  }
  short <- bp[-3]
  bare <- unname(bp)
  refused(~ temp <= short[solvent], "CHCl3")
  refused(~ temp <= bare[solvent], "names")
  refused(~ temp <= nowhere[solvent], "nowhere")
  refused(~ temp <= bp[temp], "levels")
  refused(~ temp <= bp[2], "levels")
  refused(~ temp == bp[solvent], "equality")
  expect_error(auto_bandit(list(x = c(0, 1)), outcomes = list(y = NULL), goal = ~ bp[x] * y), "goal",
               class = "gpbandits_error")
})

test_that("slices and maps are blank where the rules forbid", {
  set.seed(3)
  b <- auto_bandit(boiling(z = c(0, 1)), n_initial = 6)
  q <- b$suggest(9)
  b$observe(q$id, -(q$temp - 60)^2 / 100 - (q$z - 0.4)^2)
  at <- data.frame(solvent = "CHCl3", temp = 50, z = 0.4)
  slices <- gpbandits:::slices_plot_data(b, NULL, at, c("temp", "solvent", "z"), 2)
  expect_lte(max(slices$value[slices$input == "temp"]), 56)
  expect_equal(sum(slices$input == "z"), 101)
  hot <- gpbandits:::slices_plot_data(b, NULL, transform(at, temp = 100, solvent = "toluene"), "solvent", 2)
  expect_equal(c(hot$label, hot$value), c("toluene", "1"))
  plane <- gpbandits:::plane_plot_data(b, NULL, at, c("solvent", "temp"))
  expect_equal(is.na(plane$mean), unname(plane$temp > bp[plane$solvent] - 5))
  # A hole within a slice has a piece on each side.
  hole <- auto_bandit(search_space(x = c(0, 1), y = c(0, 1), where = ~ abs(x - 0.5) >= 0.1), n_initial = 4)
  q <- hole$suggest(6)
  hole$observe(q$id, q$x + q$y)
  slice <- gpbandits:::slices_plot_data(hole, NULL, data.frame(x = 0.2, y = 0.2), "x", 2)
  expect_equal(range(slice$value[slice$piece == 0]), c(0, 0.4))
  expect_equal(range(slice$value[slice$piece == 1]), c(0.6, 1))
  local_device()
  expect_no_error(plot(hole, type = "slices"))
  skip_if_not_installed("ggplot2")
  expect_no_error(print(ggplot2::autoplot(hole, "slices")))
})
