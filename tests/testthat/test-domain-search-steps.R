# Settings that people weigh: suggestions, designs and recommendations are multiples of a step, within the space.

is_multiple <- function(x, step) abs(x / step - round(x / step)) < 1e-9

stepped_space <- function(...) {
  search_space(temp = param_real(20, 80, step = 2.5), dose = param_real(0.013, 1, log = TRUE, digits = 2), x = c(0, 1),
               ...)
}

expect_stepped <- function(points) {
  expect_true(all(is_multiple(points$temp, 2.5) & points$temp >= 20 & points$temp <= 80))
  expect_identical(points$dose, round(points$dose, 2))
  expect_true(all(points$dose >= 0.02 & points$dose <= 1))
}

test_that("designs, suggestions and recommendations are rounded within the space", {
  set.seed(1)
  for (space in list(stepped_space(), stepped_space(where = ~ temp <= 60 * dose + 20))) {
    b <- auto_bandit(space)
    q <- b$suggest(10)
    expect_stepped(q)
    b$observe(q$id, q$temp / 80 - (q$dose - 0.3)^2 + q$x)
    q <- b$suggest(3)
    expect_stepped(q)
    if (!is.null(space$where)) expect_true(all(q$temp <= 60 * q$dose + 20))
    expect_stepped(b$best())
    copy <- from_json(as_json(b))
    set.seed(2)
    next_one <- b$suggest()
    set.seed(2)
    expect_identical(copy$suggest(), next_one)
    # Uniform play, and one input fixed.
    expect_stepped(gp_bandit(space, kernel_se(0.4), 0.01, policy_uniform())$suggest(20))
    expect_identical(b$suggest(fixed = list(temp = 22.5))$temp, 22.5)
    expect_error(b$suggest(fixed = list(temp = 23)), "multiple of 2.5", class = "gpbandits_error")
  }
  # Given points may lie between.
  b <- auto_bandit(stepped_space(), data = data.frame(temp = 31.3, dose = 0.1234, x = 0.5, reward = 1))
  expect_identical(b$history()$temp, 31.3)
})

test_that("each multiple is equally frequent, and no point of a design is repeated", {
  set.seed(1)
  design <- gpbandits:::design_points(search_space(a = param_real(0, 1, step = 0.25)), 5)
  expect_setequal(design$inputs, c(0, 0.25, 0.5, 0.75, 1))
  x <- gpbandits:::sample_points(search_space(a = param_real(0, 1, step = 0.25)), 2000)$inputs
  expect_gt(stats::chisq.test(table(factor(x, 0:4 / 4)))$p.value, 1e-4)
})

test_that("rounded components add up to their total", {
  set.seed(1)
  sets <- list(param_shares(c("a", "b", "c"), digits = 2), param_shares(c("a", "b", "c", "d"), total = 250, step = 5),
               param_shares(c("a", "b", "c", "d"), lower = 0.1, upper = 0.45, step = 0.05),
               param_shares(letters[1:5], most = 2, step = 0.1))
  for (set in sets) {
    space <- search_space(blend = set, temp = c(0, 1))
    b <- auto_bandit(space)
    q <- b$suggest(8)
    b$observe(q$id, q$a * q$temp)
    q <- rbind(q[names(q)], b$suggest(2)[names(q)])
    shares <- as.matrix(q[set$names])
    step <- if (is.null(set$step)) 10^-set$digits else set$step
    expect_true(all(is_multiple(shares, step)))
    expect_equal(unname(rowSums(shares)), rep(set$total, 10), tolerance = 1e-12)
    inside <- t(shares) >= set$lower - 1e-12 & t(shares) <= set$upper + 1e-12
    expect_true(all(inside | (t(shares) == 0 & !is.null(set$most))))
    if (!is.null(set$most)) expect_true(all(rowSums(shares > 0) <= set$most))
  }
})

test_that("steps that leave no value are errors", {
  expect_error(param_real(0, 1, step = 0.1, digits = 2), "digits", class = "gpbandits_error")
  expect_error(param_real(0.1, 0.2, step = 1), "step", class = "gpbandits_error")
  expect_error(param_real(0, 1, step = -1), "step", class = "gpbandits_error")
  expect_error(param_shares(c("a", "b"), step = 0.3), "multiple", class = "gpbandits_error")
  expect_error(param_shares(c("a", "b"), lower = 0.45, upper = 0.55, step = 0.2), "add up", class = "gpbandits_error")
})

# ---- settings that were rounded by hand ----------------------------------------------------

test_that("a row whose settings were rounded by hand is recorded at the settings that were used", {
  set.seed(3)
  spaces <- list(box_domain(c(a = 0, b = 1), c(1, 1000), log = "b"),
                 search_space(a = c(0, 1), b = param_real(1, 1000, log = TRUE), rule = c("x", "y")))
  for (space in spaces) {
    b <- gp_bandit(space, kernel_se(0.4), 0.01, policy_ucb(width_constant(2)), pending = pending_hallucinate())
    q <- b$suggest(3)
    used <- q
    used$a[2] <- if (q$a[2] > 0.5) q$a[2] - 0.03 else q$a[2] + 0.03
    used$b[2] <- min(max(signif(q$b[2] * 1.05, 2), 1), 1000)
    used$reward <- c(1, 2, 3)
    expect_message(b$observe(used), "Query 2 .*recorded as query 4", class = "gpbandits_rounded")
    h <- b$history()
    expect_identical(h$reward, c(1, NA, 3, 2))
    expect_identical(h$a[4], used$a[2])
    expect_equal(h$b[4], used$b[2], tolerance = 1e-14)
    # As if these had been the settings from the start.
    other <- gp_bandit(space, kernel_se(0.4), 0.01, policy_ucb(width_constant(2)), pending = pending_hallucinate())
    inputs <- space$names
    other$add(used[inputs], reward = used$reward)
    expect_equal(b$posterior(used[inputs]), other$posterior(used[inputs]), tolerance = 1e-8)
    copy <- from_json(as_json(b))
    expect_identical(copy$history(), h)
    set.seed(4)
    first <- b$suggest()
    set.seed(4)
    expect_identical(copy$suggest(), first)
  }
})

test_that("the same row again changes nothing, and with other values it is an error", {
  set.seed(7)
  for (journal in list(NULL, tempfile())) {
    b <- gp_bandit(search_space(a = c(0, 1), rule = c("x", "y")), kernel_se(0.4), 0.01, policy_uniform(),
                   journal = journal)
    q <- b$suggest(2)
    row <- transform(q[1, ], a = round(a, 2), reward = 3)
    expect_message(b$observe(row), class = "gpbandits_rounded")
    before <- b$history()
    expect_silent(b$observe(row))
    expect_identical(b$history(), before)
    expect_error(b$observe(transform(row, reward = 4)), "`\\$amend\\(\\)`", class = "gpbandits_error")
    expect_error(b$observe(transform(row, a = a + 0.01)), "withdraw|suggested at", class = "gpbandits_error")
    expect_identical(b$history(), before)
    # Beside a row that is new.
    b$observe(rbind(row, transform(q[2, ], reward = 5)))
    expect_identical(b$history()$reward, c(NA, 5, 3))
  }
})

test_that("several rows with rounded settings are recorded together or not at all", {
  set.seed(8)
  b <- gp_bandit(search_space(a = c(0, 1), rule = c("x", "y")), kernel_se(0.4), 0.01, policy_uniform())
  rows <- transform(b$suggest(3), a = round(a, 2), reward = c(1, 2, 3))
  before <- b$history()
  expect_error(b$observe(transform(rows, reward = c(1, 2, NA))), class = "gpbandits_error")
  expect_error(b$observe(transform(rows, a = ifelse(id == 3, (a + 0.5) %% 1, a))), class = "gpbandits_error")
  expect_identical(b$history(), before)
  suppressMessages(b$observe(rows))
  expect_identical(b$history()$reward, c(NA, NA, NA, 1, 2, 3))
})

test_that("a store accepts rows with rounded settings, and undoes all of them together", {
  skip_if_not_installed("RSQLite")
  file <- tempfile(fileext = ".db")
  set.seed(9)
  b <- gp_bandit(search_space(a = c(0, 1), rule = c("x", "y")), kernel_se(0.4), 0.01, policy_uniform(),
                 store = bandit_store(file, "rounded", seed = 1))
  rows <- transform(b$suggest(2), a = round(a, 2), reward = 1:2)
  rows <- rows[c("id", "a", "rule", "reward")]
  before <- b$history()
  expect_error(b$observe(transform(rows, reward = c(1, NA))), class = "gpbandits_error")
  expect_identical(b$history(), before)
  expect_message(b$observe(rows), class = "gpbandits_rounded")
  known <- b$history()
  expect_identical(known$reward, c(NA, NA, 1, 2))
  expect_silent(b$observe(rows))
  expect_identical(b$history(), known)
})

test_that("settings that differ by more, are outside, or have another level are errors that change nothing", {
  set.seed(5)
  space <- search_space(a = c(0, 1), b = c(0, 1), rule = c("x", "y"), where = ~ a + b <= 1)
  b <- gp_bandit(space, kernel_se(0.4), 0.01, policy_uniform())
  q <- b$suggest()
  away <- function(...) {
    row <- utils::modifyList(as.list(q), list(reward = 1, ...))
    expect_error(b$observe(as.data.frame(row)), "id", class = "gpbandits_error")
  }
  away(a = if (q$a > 0.5) q$a - 0.1 else q$a + 0.1)
  away(rule = setdiff(c("x", "y"), q$rule))
  edge <- gp_bandit(space, kernel_se(0.4), 0.01, policy_mean())
  edge$add(data.frame(a = 0.7, b = 0.3, rule = "x"))
  expect_identical(nrow(b$history()), 1L)
  expect_identical(b$history()$status, "pending")
  # Rounded beyond a constraint: recorded where it was.
  expect_message(suppressMessages(edge$observe(data.frame(id = 1, a = 0.72, reward = 1)), classes = "gpbandits_rounded"), "a \\+ b <= 1")
  expect_identical(edge$history()$status, c("withdrawn", "observed"))
  # Shares keep their sum.
  blend <- gp_bandit(search_space(mix = param_shares(c("s", "t", "u"))), kernel_se(0.4), 0.01, policy_uniform())
  q <- blend$suggest()
  rounded <- round(c(q$s, q$t), 2)
  good <- data.frame(id = 1, s = rounded[1], t = rounded[2], u = 1 - sum(rounded), reward = 1)
  expect_error(blend$observe(transform(good, u = u + 0.01)), "sum", class = "gpbandits_error")
  expect_message(blend$observe(good), class = "gpbandits_rounded")
  expect_equal(unlist(blend$history()[2, c("s", "t", "u")]), unlist(good[c("s", "t", "u")]), tolerance = 1e-12)
})

test_that("a step whose multiples cannot be told apart is an error", {
  for (step in c(1e-320, 1e-300, 1e-17)) {
    expect_match(refused(param_real(0, 1, step = step)), "`step` must be at least")
    expect_match(refused(param_real(-1, 0, step = step)), "`step` must be at least")
    expect_match(refused(param_shares(c("a", "b"), step = step)), "`step` must be at least")
  }
  expect_identical(param_real(0, 1, step = 2^-53)$step, 2^-53)
})
