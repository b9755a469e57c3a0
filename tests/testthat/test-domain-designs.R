# Designs, candidates and uniform play over integers and levels: each has the same share, and no point comes twice
# while another is left.

drawn <- function(domain, count, draw = gpbandits:::design_points) {
  as.data.frame(gpbandits:::user_inputs(domain, draw(domain, count)))
}

# Of a Latin hypercube of n points each value has n / levels of them, but for one.
expect_equal_shares <- function(values, levels, slack) {
  counts <- as.vector(table(factor(values, levels)))
  expect_identical(sum(counts), length(values))
  expect_lte(max(abs(counts - length(values) / length(levels))), slack)
}

integer_spaces <- list(search_space(n = param_integer(0, 3), x = c(0, 1)),
                     box_domain(c(n = 0, x = 0), c(3, 1), integer = "n"))

test_that("in designs the end values of integers and ordered levels are as frequent as the others", {
  set.seed(1)
  for (space in integer_spaces) expect_equal_shares(drawn(space, 40)$n, 0:3, 0)
  sizes <- letters[1:5]
  space <- search_space(n = param_factor(sizes, ordered = TRUE), x = c(0, 1))
  expect_equal_shares(as.character(drawn(space, 40)$n), sizes, 0)
  product <- product_domain(data.frame(row = 1:2), box_domain(c(n = 1, x = 0), c(4, 1), integer = "n"))
  expect_equal_shares(drawn(product, 40)$n, 1:4, 0)
  # Spread without random numbers.
  for (space in integer_spaces) expect_equal_shares(drawn(space, 400, gpbandits:::spread_points)$n, 0:3, 2)
})

test_that("in the core's candidates they are as frequent as the others, too", {
  for (space in integer_spaces) {
    seen <- NULL
    look <- policy_function(function(mean, sd, round, x) {
      if (is.null(seen)) seen <<- x
      mean
    })
    gp_bandit(space, kernel_se(0.4), 0.01, look)$suggest()
    # (Corners are at the ends.)
    inner <- seen[seen[, 2] > 0 & seen[, 2] < 1, 1]
    expect_gt(length(inner), 200)
    expect_equal_shares(inner, 0:3, 5)
  }
})

test_that("on a logarithmic scale the last integer is as frequent as its neighbours", {
  set.seed(2)
  right <- log(9 / 8) / log(9)
  domains <- list(search_space(n = param_integer(1, 8, log = TRUE)), box_domain(c(n = 1), 8, integer = TRUE, log = TRUE))
  for (domain in domains) {
    n <- drawn(domain, 4000, gpbandits:::sample_points)$n
    expect_equal(mean(n == 8), right, tolerance = 0.2)
    expect_equal(mean(n == 1), log(2) / log(9), tolerance = 0.1)
    b <- gp_bandit(domain, kernel_se(0.4), 0.01, policy_uniform())
    n <- b$suggest(1000)$n
    expect_equal(mean(n == 1), log(2) / log(9), tolerance = 0.2)
    expect_equal(mean(n == 8), right, tolerance = 0.6)
  }
})

test_that("a design repeats no point while another is left, and then all equally often", {
  distinct <- function(domain, count) {
    for (seed in few_of(1:20, 5)) {
      set.seed(seed)
      expect_identical(anyDuplicated(drawn(domain, count)), 0L)
    }
  }
  distinct(search_space(a = param_integer(0, 3), b = param_integer(0, 3)), 10)
  distinct(search_space(a = param_integer(0, 3), b = param_integer(0, 3)), 16)
  distinct(box_domain(c(0, 0), c(3, 3), integer = TRUE), 10)
  distinct(search_space(a = c(TRUE, FALSE), b = c("x", "y"), c = param_integer(0, 1)), 8)
  distinct(search_space(n = param_integer(1, 12)), 12)
  distinct(search_space(a = c("x", "y"), b = param_integer(0, 3, when = ~ a == "x")), 5)
  distinct(search_space(a = param_integer(0, 9), b = param_integer(0, 9), where = ~ a + b == 9), 10)
  distinct(search_space(a = param_integer(0, 999), b = param_integer(0, 999), where = ~ a + b <= 3), 9)
  distinct(product_domain(data.frame(row = 1:3), box_domain(c(n = 1), 4, integer = TRUE)), 11)
  set.seed(1)
  twice <- drawn(search_space(a = param_integer(0, 1), b = c("x", "y")), 9)
  expect_true(all(table(twice$a, twice$b) >= 2))
})

test_that("a design of arms has every level as early as possible, and then the most distant arms", {
  table <- expand.grid(solvent = c("a", "b", "c", "d"), base = c("p", "q"), t = c(60, 80, 100))
  domain <- finite_domain(table, labels = FALSE)
  firsts <- integer()
  for (seed in 1:20) {
    set.seed(seed)
    points <- gpbandits:::design_points(domain, 6)
    arms <- points$arm + 1L
    chosen <- table[arms, ]
    expect_identical(anyDuplicated(arms), 0L)
    for (k in 1:4) expect_identical(length(unique(chosen$solvent[1:k])), k)
    expect_identical(length(unique(chosen$base[1:2])), 2L)
    expect_identical(abs(diff(chosen$t[1:2])) >= 20, TRUE)
    firsts <- c(firsts, arms[1])
  }
  expect_gt(length(unique(firsts)), 5)
  # Without levels, the second arm is the most distant one from the first.
  x <- cbind(c(0, 0.1, 0.2, 1), 5)
  for (seed in 1:10) {
    set.seed(seed)
    arms <- gpbandits:::design_points(finite_domain(x), 2)$arm + 1L
    expect_identical(arms[2], if (arms[1] == 4) 1L else 4L)
  }
})

test_that("a first batch larger than the default design is a design, also in copies, JSON and journals", {
  table <- expand.grid(solvent = c("a", "b", "c", "d", "e", "f"), t = 1:5)
  domain <- finite_domain(table, labels = FALSE)
  file <- tempfile(fileext = ".journal")
  set.seed(2)
  b <- auto_bandit(domain, journal = file)
  batch <- b$suggest(6)
  expect_identical(length(unique(batch$solvent)), 6L)
  expect_identical(b$history()$action, rep("explore", 6))
  b$observe(batch$id, batch$t)
  following <- b$suggest(2)
  expect_identical(b$history()$action[7:8], c("policy", "policy"))
  expect_identical(open_bandit(file)$history(), b$history())
  expect_identical(from_json(as_json(b))$history(), b$history())
  # Given numbers of points and points are left as they are, and later batches as well.
  actions <- function(...) {
    bandit <- auto_bandit(domain, ...)
    bandit$suggest(6)
    bandit$history()$action
  }
  expect_identical(sum(actions(n_initial = 3) == "explore"), 3L)
  expect_identical(sum(actions(initial_design = table[c(1, 8, 15), ]) == "explore"), 3L)
  expect_identical(sum(actions(data = cbind(table[1:2, ], reward = 1:2)) == "explore"), 1L)
  b <- auto_bandit(domain)
  b$suggest()
  b$suggest(6)
  expect_identical(sum(b$history()$action == "explore"), 3L)
})
