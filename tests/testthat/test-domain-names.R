# Names decide: inputs are found by their names wherever they have some, arms by theirs; rounding does not lose an arm.

unname_box <- function(box) box_domain(vapply(unname(box), `[`, 0, 1), vapply(unname(box), `[`, 0, 2))
resumed <- function(bandit) unserialize(serialize(bandit, NULL))

two_inputs <- function(...) gp_ucb(list(A = c(0, 100), temp = c(0, 50)), kernel_se(10), 0.1, width = 2, ...)
given_inputs <- function(bandit) unlist(bandit$history()[1, c("A", "temp")])

test_that("named inputs are matched by name, unnamed ones by position, in every method", {
  ways <- list(data.frame(temp = 6, A = 90), cbind(temp = 6, A = 90), c(temp = 6, A = 90), c(90, 6), cbind(90, 6))
  for (x in ways) {
    b <- two_inputs()
    b$add(x = x, reward = 1)
    expect_identical(given_inputs(b), c(A = 90, temp = 6))
    expect_identical(b$posterior(x), b$posterior(cbind(90, 6)))
    expect_identical(predict(b, x), b$posterior(cbind(90, 6)))
  }
})

test_that("unknown, missing and repeated names are errors that change nothing", {
  b <- two_inputs()
  wrong <- list(data.frame(temp = 6, B = 90), data.frame(A = 1, temp = 2, B = 3), data.frame(A = 1), c(A = 1, B = 2), c(a = 1, temp = 2),
                cbind(A = 1, A = 2), c(A = 1, 2))
  for (x in wrong) {
    expect_error(b$add(x = x, reward = 1), "`x` must be without names or with the names \"A\", \"temp\"", class = "gpbandits_error")
    expect_error(b$posterior(x), class = "gpbandits_error")
    expect_error(predict(b, x), "`newdata`", class = "gpbandits_error")
  }
  expect_identical(nrow(b$history()), 0L)
  expect_error(gp_ucb(1:3, kernel_se(1), 0.1)$posterior(c(low = 1, high = 2)), "\"x1\"", class = "gpbandits_error")
})

test_that("contexts, constraints and products are matched by name, too", {
  z <- cbind(day = c(1, 2), hour = c(2, 1))
  for (contexts in list(z, c("day", "hour"))) {
    b <- gp_ucb(1:4, kernel_se(1), 0.1, contexts = contexts)
    q <- b$suggest(context = data.frame(hour = 1, day = 2))
    expect_identical(unlist(q[c("day", "hour")]), c(day = 2, hour = 1))
    expect_identical(b$suggest(context = c(hour = 2, day = 1))$day, 1)
    expect_identical(b$best(c(hour = 1, day = 2)), b$best(c(2, 1)))
    expect_error(b$suggest(context = c(day = 1, minute = 2)), "\"day\", \"hour\"", class = "gpbandits_error")
  }
  b <- gp_bandit(1:3, kernel_se(1), 0.1, policy_mean(), constraints = constraints_noisy(2, epoch = 5, step = 1))
  b$add(arm = 1:2, reward = c(0, 0), constraints = cbind(g2 = 3:4, g1 = 1:2))
  expect_identical(b$history()$g1, c(1, 2))
  b$add(arm = 1, reward = 0, constraints = c(g2 = 6, g1 = 5))
  expect_identical(b$history()$g2, c(3, 4, 6))
  expect_error(b$add(arm = 1, reward = 0, constraints = c(g2 = 6, h = 5)), "`constraints`", class = "gpbandits_error")
  p <- gp_ucb(product_domain(data.frame(layers = c(1, 2)), list(rate = c(0, 1), size = c(0, 9))), kernel_se(1), 0.1, width = 2)
  p$add(x = data.frame(size = 5, layers = 2, rate = 0.5), reward = 1)
  p$add(x = c(size = 5, rate = 0.5), arm = 2, reward = 1)
  expect_equal(p$history()$arm, c(2, 2))
  expect_equal(p$history()$size, c(5, 5))
})

test_that("bounds of a box, problems, initial data, regressions and Gram matrices are matched by name", {
  expect_identical(box_domain(c(a = 0, b = 0), c(b = 1, a = 2))$upper, c(a = 2, b = 1))
  expect_error(box_domain(c(a = 0, b = 0), c(b = 1, c = 2)), "`upper`", class = "gpbandits_error")
  ab <- list(a = c(0, 1), b = c(0, 1))
  bandit <- gp_ucb(ab, kernel_se(1), 0.1, width = 2)
  problem <- bandit_problem(rev(ab), function(x) x[, "a"])
  expect_error(run_bandit(bandit, problem, 2), "\"a\", \"b\"", class = "gpbandits_error")
  expect_s3_class(run_bandit(bandit, bandit_problem(unname_box(ab), function(x) x[, 1]), 2), "bandit_run")
  found <- maximize_bandit(function(p) -p[["a"]]^2, ab, 3, data = data.frame(reward = 1, b = 0.25, a = 0.75))
  expect_equal(unlist(found$bandit$history()[1, c("a", "b")]), c(a = 0.75, b = 0.25))
  # (A further column is a note.)
  noted <- maximize_bandit(function(p) 0, ab, 3, data = data.frame(reward = 1, b = 0.25, a = 0.75, c = 1))
  expect_identical(noted$history$c[1], 1)
  expect_error(maximize_bandit(function(p) 0, ab, 3, data = data.frame(reward = 1, b = 0.25, c = 0.75)), "`a`",
               class = "gpbandits_error")
  x <- cbind(u = c(0, 1, 2), v = c(5, 4, 6))
  fit <- gp_regression(x, 1:3, kernel_se(c(1, 3)), 0.1)
  expect_identical(predict(fit, x[, 2:1]), predict(fit, x))
  expect_error(predict(fit, cbind(u = 1, w = 1)), "\"u\", \"v\"", class = "gpbandits_error")
  expect_identical(kernel_gram(kernel_se(c(1, 3)), x, x[, 2:1]), kernel_gram(kernel_se(c(1, 3)), x, x))
})

test_that("arms are found again within rounding, and only within it", {
  b <- gp_ucb(seq(0, 1, 0.1), kernel_se(1), 0.1)
  b$add(x = 0.3, reward = 1)
  b$add(x = 0.3 + 9e-9, reward = 1)
  b$add(x = 0.7 - 9e-9, reward = 1)
  expect_identical(b$history()$arm, c(4L, 4L, 8L))
  expect_error(b$add(x = 0.3 + 2e-8, reward = 1), "no arm", class = "gpbandits_error")
  # Of each column's own range; an exact match comes first.
  wide <- gp_ucb(cbind(c(0, 1e9, 500, 500), c(0, 1, 0.5, 0.5 + 1e-9)), kernel_se(1), 0.1)
  wide$add(x = cbind(c(9, 495, 500), c(0, 0.5, 0.5 + 1e-9)), reward = 1:3)
  expect_identical(wide$history()$arm, c(1L, 3L, 4L))
  # Values closer than that are distinguished by all inputs together.
  near <- gp_ucb(cbind(c(0, 1, 1e9), c(0, 5, 9)), kernel_se(1), 0.1)
  expect_equal(near$posterior(cbind(0.9, 0)), near$posterior(arm = 1))
  near$add(x = c(0.9, 0), reward = 1)
  expect_identical(near$history()$arm, 1L)
  zoned <- gp_ucb(1:2, kernel_se(1), 0.1, contexts = c(0.3, 0.5))
  expect_identical(zoned$suggest(context = 0.1 + 0.2)$z1, 0.3)
  expect_error(zoned$suggest(context = 0.31), "one of the bandit's 2 contexts (0.3, 0.5), not 0.31", fixed = TRUE,
               class = "gpbandits_error")
})

test_that("a data.frame without rows has no points, like a matrix without rows", {
  none <- data.frame(temp = numeric(), A = numeric())
  b <- two_inputs()
  b$add(x = c(90, 6), reward = 1)
  expect_identical(b$posterior(none), b$posterior(matrix(0, 0, 2)))
  expect_identical(predict(b, none), b$posterior(none))
  b$add(x = none, reward = numeric())
  expect_identical(nrow(b$history()), 1L)
  fit <- gp_regression(data.frame(A = 1:3, temp = 4:6), 1:3, kernel_se(1), 0.1)
  expect_identical(dim(predict(fit, none)), c(0L, 2L))
  expect_identical(dim(kernel_gram(kernel_se(1), none, cbind(temp = 1:3, A = 1))), c(0L, 3L))
  for (empty in list(none, data.frame(), numeric())) expect_error(finite_domain(empty), "`x` must", class = "gpbandits_error")
  expect_error(b$posterior(data.frame(A = character(), temp = character())), "`x` must", class = "gpbandits_error")
})

test_that("names of arms can be used wherever an arm is expected", {
  materials <- data.frame(material = c("steel", "wood", "glass"), hard = c(3, 1, 2))
  b <- gp_ucb(materials, kernel_se(1), 0.1, mean = c(wood = 1, glass = 2, steel = 3))
  expect_identical(b$posterior(arm = c("glass", "steel"))$mean, c(2, 3))
  b$add(arm = factor("wood"), reward = 9)
  expect_identical(b$history()[1, c("arm", "material", "hard")], data.frame(arm = 2L, material = "wood", hard = 1))
  expect_identical(b$best()$material, "wood")
  expect_match(paste(utils::capture.output(b), collapse = " "), "arm 2 (wood; hard = 1)", fixed = TRUE)
  expect_error(b$add(arm = "wodo", reward = 1), "\"steel\", \"wood\", \"glass\"", class = "gpbandits_error")
  expect_error(gp_ucb(1:3, kernel_se(1), 0.1)$add(arm = "wood", reward = 1), "no names", class = "gpbandits_error")
  expect_error(gp_ucb(materials, kernel_se(1), 0.1, mean = c(iron = 1, glass = 2, steel = 3)), "`mean`", class = "gpbandits_error")
  problem <- bandit_problem(materials, c(glass = 2, wood = 1, steel = 3))
  expect_identical(problem$reward_values[, 1], c(3, 1, 2))
  named_rows <- list(matrix(1:2, 2, dimnames = list(c("p", "q"), NULL)), c(p = 1, q = 2), data.frame(x1 = 1:2, row.names = c("p", "q")))
  for (x in named_rows) {
    b <- gp_ucb(x, kernel_se(1), 0.1)
    b$add(arm = "q", reward = 1)
    expect_identical(b$history()$label, "q")
    expect_identical(resumed(b)$history(), b$history())
  }
  p <- gp_ucb(product_domain(materials, list(heat = c(0, 1))), kernel_se(1), 0.1, width = 2)
  p$add(x = 0.5, arm = "glass", reward = 1)
  expect_identical(p$history()$material, "glass")
  expect_null(finite_domain(data.frame(m = c("a", "a"), h = 1:2))$labels)
  # Row numbers of a subset are no names.
  expect_null(finite_domain(as.matrix(data.frame(a = 1:3)[2:3, , drop = FALSE]))$labels)
})

test_that("a number is a constant width; messages list the arguments of the function that was called", {
  expect_identical(policy_ucb(2), policy_ucb(width_constant(2)))
  expect_identical(stop_gap(1, width = 3)$width, width_constant(3))
  expect_identical(width_sdf(1.5), width_sdf(width_constant(1.5)))
  expect_error(policy_ucb(-1), "`width` must be a number >= 0", class = "gpbandits_error")
  error <- expect_error(gp_ucb(1:3, kernel_se(1), 0.1, wdith = 2), "Did you mean `width`", class = "gpbandits_error")
  expect_identical(conditionCall(error)[[1]], quote(gp_ucb))
  expect_error(gp_ucb(1:3, kernel_se(1), 0.1, elsewhere = 2), "`delta`", class = "gpbandits_error")
  error <- expect_error(gp_ucb(1:3, kernel_se(1), 0.1)$suggest(m = 2), "`n`, `context`, `time`", class = "gpbandits_error")
  expect_identical(as.list(conditionCall(error))[-1], list(m = 2))
})

test_that("errors show the call that the user made, from any depth", {
  caught <- function(code) tryCatch(code, gpbandits_error = conditionCall)
  expect_identical(caught(gp_ucb(1:3, kernel_se(1), -1)), quote(gp_ucb(1:3, kernel_se(1), -1)))
  expect_identical(caught(lapply(1, function(i) kernel_se(-i))), list(quote(kernel_se(-i)))[[1]])
  b <- gp_ucb(1:3, kernel_se(1), 0.1)
  expect_identical(caught(b$observe(7, 1)), quote(b$observe(7, 1)))
  # No functions or data where do.call() has put them into the call.
  expect_null(caught(do.call(kernel_se, list(-1))))
})

test_that("rows of kernel_matrix() match the arms by name; predict() matches inputs by name", {
  x <- data.frame(u = c(0, 0.5, 1.2), row.names = c("a", "b", "c"))
  K <- exp(-as.matrix(stats::dist(x))^2)
  expect_identical(dimnames(kernel_matrix(K)$K), list(rownames(x), rownames(x)))
  expect_null(dimnames(kernel_matrix(unname(K))$K))
  expect_null(dimnames(kernel_matrix(exp(-as.matrix(stats::dist(x$u))^2))$K))
  mixed <- K[c(3, 1, 2), c(3, 1, 2)]
  reported <- function(K) gp_ucb(x, kernel_matrix(K) + kernel_se(1), 0.1)$add(arm = "a", reward = 1)$posterior()
  expect_identical(reported(mixed), reported(K))
  expect_false(isTRUE(all.equal(reported(unname(mixed)), reported(K))))
  dimnames(mixed) <- list(c("a", "b", "z"), c("a", "b", "z"))
  expect_error(reported(mixed), "rows named \"a\", \"b\", \"z\"", class = "gpbandits_error")
  expect_no_error(gp_ucb(1:3, kernel_matrix(mixed), 0.1))
  model <- gp_regression(cbind(a = 1:3, b = c(2, 5, 4)), 1:3, kernel_se(c(1, 3)), 0.1)
  at <- predict(model, cbind(1.5, 4))
  expect_identical(predict(model, data.frame(y = 9, b = 4, a = 1.5)), at)
  expect_identical(predict(model, c(b = 4, a = 1.5)), at)
  for (bad in list(data.frame(a = 1.5, z = 4), data.frame(z = 1, y = 2), c(a = 1, z = 2), cbind(a = 1, b = 2, a = 3), cbind(1, 2, 3))) {
    expect_error(predict(model, bad), "`newdata`", class = "gpbandits_error")
  }
})

test_that("a point may be a list, a vector or a data.frame wherever one is expected", {
  forms <- function(point) list(point, rev(point), unlist(point), as.data.frame(point))
  spaces <- list(list(space = list(temp = c(20, 90), acid = c(0, 5)), point = list(temp = 50, acid = 2)),
                 list(space = list(temp = c(20, 90), solvent = c("water", "ethanol")), point = list(temp = 50, solvent = "water")),
                 list(space = finite_domain(data.frame(temp = c(40, 50), acid = 2:1)), point = list(temp = 50, acid = 1)))
  for (one in spaces) {
    added <- lapply(forms(one$point), function(x) {
      b <- auto_bandit(one$space, contexts = list(day = c(0, 9), group = c("a", "b")), n_initial = 0)
      expect_identical(b$suggest(fixed = x["temp"], context = list(day = 1, group = "a"))$temp, 50)
      b$add(x, reward = 3, context = list(day = 1, group = "b"))
      list(b$history()[2, c("temp", "day", "group", "reward")], b$posterior(x, context = c(day = 1, group = "b")))
    })
    for (other in added[-1]) expect_identical(other, added[[1]])
  }
  ways <- list(list(group = "b", day = 1), c(day = 1, group = "b"), data.frame(day = 1, group = "b"))
  asked <- lapply(ways, function(context) {
    auto_bandit(list(x = 0:1), contexts = list(day = c(0, 9), group = c("a", "b")))$suggest(context = context)[c("day", "group")]
  })
  for (other in asked) expect_identical(other, asked[[1]])
  expect_identical(auto_bandit(list(x = 0:1), contexts = list(group = c("a", "b")))$suggest(context = factor("b"))$group, "b")
  space <- auto_bandit(list(temp = c(20, 90), solvent = c("water", "ethanol")))
  expect_error(space$add(c(temp = "warm", solvent = "water"), reward = 1), "numbers in temp", class = "gpbandits_error")
})
