# What prints, summarises and converts bandits, runs and comparisons; and the small
# documented results of the methods.

methods_x <- seq(0, 1, length.out = 12)
methods_kernel <- kernel_se(0.25)
methods_problem <- bandit_problem(methods_x, sin(5 * methods_x), noise = 0.1, delay = function(n) rpois(n, 2))

printed <- function(x) paste(utils::capture.output(print(x)), collapse = "\n")

test_that("suggest(n) is the same as n calls of suggest()", {
  for (name in names(safe_bandits)) {
    at_once <- safe_bandits[[name]]()
    one_by_one <- at_once$copy()
    context <- context_of(at_once)
    set.seed(51)
    batch <- at_once$suggest(4, context = context)
    set.seed(51)
    single <- do.call(rbind, lapply(1:4, function(k) one_by_one$suggest(context = context)))
    expect_equal(batch, single, tolerance = tol$replay, info = name)
    expect_equal(at_once$history(), one_by_one$history(), tolerance = tol$replay, info = name)
  }
})

test_that("suggest() returns ids, arms and inputs, and takes a context for each query", {
  bandit <- gp_ucb(cbind(u = 1:3, v = 4:6), kernel_se(1), 0.1)
  query <- bandit$suggest(2)
  expect_identical(names(query), c("id", "arm", "u", "v"))
  expect_identical(query$id, 1:2)
  expect_equal(query$v, query$arm + 3)
  bandit <- safe_bandits$contexts()
  query <- bandit$suggest(3, context = matrix(c(0, 1, 0)))
  expect_identical(query$z, c(0, 1, 0))
  expect_identical(query$id, 7:9)
})

test_that("rewards may be reported in any order and in one call", {
  for (pending in list(pending_ignore(), pending_hallucinate())) {
    make <- function() {
      bandit <- gp_ucb(methods_x, methods_kernel, 0.01, pending = pending)
      bandit$suggest(5)
      bandit
    }
    rewards <- c(0.3, -1, 2, 0.5, 0)
    in_order <- make()
    for (id in 1:5) in_order$observe(id, rewards[id])
    backwards <- make()
    for (id in 5:1) backwards$observe(id, rewards[id])
    together <- make()
    together$observe(c(3, 1, 5, 2, 4), rewards[c(3, 1, 5, 2, 4)])
    expect_equal(backwards$posterior(), in_order$posterior(), tolerance = tol$engine)
    expect_equal(together$posterior(), in_order$posterior(), tolerance = tol$engine)
    expect_identical(backwards$history(), in_order$history())
    expect_equal(together$information_gain(), in_order$information_gain(), tolerance = tol$engine)
  }
})

test_that("added points are in the posterior, by arm or by inputs, one by one or together", {
  arms <- c(2, 9, 2)
  rewards <- c(1, -1, 0.5)
  by_arm <- gp_ucb(methods_x, methods_kernel, 0.01)
  by_arm$add(arm = arms, reward = rewards)
  by_input <- gp_ucb(methods_x, methods_kernel, 0.01)
  for (k in 1:3) by_input$add(methods_x[arms[k]], reward = rewards[k])
  expect_identical(by_input$history(), by_arm$history())
  expect_identical(by_arm$history()$action, rep("given", 3))
  expect_identical(by_arm$suggest()$id, 4L)
})

test_that("best() is the point of largest posterior mean, in each context", {
  for (name in c("ucb", "ts", "engine", "delayed", "contexts", "open")) {
    bandit <- safe_bandits[[name]]()
    mean <- bandit$posterior(context = context_of(bandit))$mean
    best <- bandit$best(context_of(bandit))
    expect_identical(nrow(best), 1L)
    expect_equal(mean[best$arm], max(mean), tolerance = tol$engine, info = name)
    expect_equal(best$mean, max(mean), tolerance = tol$engine, info = name)
  }
  box <- safe_bandits$box()
  grid <- box$posterior(seq(0, 1, length.out = 2001))
  expect_gte(box$best()$mean, max(grid$mean) - 1e-6)
})

test_that("predict(), as.data.frame() and summary() agree with the bandit's methods", {
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    context <- context_of(bandit)
    expect_identical(predict(bandit, c(0.1, 0.7), context), bandit$posterior(c(0.1, 0.7), context), info = name)
    expect_identical(as.data.frame(bandit), bandit$history(), info = name)
    summary <- summary(bandit)
    expect_identical(summary$rounds, 6L)
    expect_identical(summary$pending, 2L)
    expect_equal(summary$information_gain, bandit$information_gain())
    expect_equal(summary$reward[["Max."]], max(bandit$history()$reward, na.rm = TRUE))
    expect_match(printed(summary), sprintf("rank %d", summary$rank), info = name)
    expect_match(printed(summary), "6 \\(2 pending\\)")
  }
  run <- run_bandit(gp_ucb(methods_x, methods_kernel, 0.01), methods_problem, 9)
  data <- as.data.frame(run)
  expect_equal(summary(run)$cumulative_regret, sum(data$regret))
  expect_equal(summary(run)$average_regret, mean(data$regret))
  expect_equal(summary(run)$pending, sum(is.na(data$reward)))
  expect_match(printed(run), "9 rounds")
})

test_that("printing shows the state, and changes neither the bandit nor the random numbers", {
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    before <- snapshot_of(bandit)
    set.seed(52)
    state <- .Random.seed
    text <- printed(bandit)
    expect_match(text, "6 \\(2 pending\\)", info = name)
    utils::capture.output(bandit$show(), print(summary(bandit)), bandit)
    expect_identical(.Random.seed, state, info = name)
    expect_identical(snapshot_of(bandit), before, info = name)
    utils::capture.output(expect_invisible(print(bandit)))
  }
  expect_match(printed(gp_ucb(methods_x, methods_kernel, 0.01)), "0 \\(0 pending\\)")
  expect_match(printed(gp_ucb_sdf(methods_x, methods_kernel, 0.01, m = 7)), "lost after 7")
  for (part in list(methods_kernel, width_igp(1, 1, gain = gain_rate(2)), width_sdf(width_amm(1, 1)), width_igp(1, 1, gain = "greedy")$gain,
                    policy_ts(width_constant(1)), policy_pi(0.3), pending_hallucinate(), methods_problem$noise, methods_problem$delay,
                    finite_domain(1:3), box_domain(0, 1), methods_problem)) {
    expect_gt(nchar(printed(part)), 10)
    utils::capture.output(expect_invisible(print(part)))
  }
})

test_that("reading results draws no random numbers and changes nothing", {
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    before <- snapshot_of(bandit)
    set.seed(53)
    state <- .Random.seed
    bandit$posterior(0.3, context_of(bandit))
    bandit$best(context_of(bandit))
    bandit$history()
    bandit$copy()
    bandit$information_gain()
    expect_identical(.Random.seed, state, info = name)
    expect_identical(snapshot_of(bandit), before, info = name)
  }
})

test_that("a comparison prints its summary", {
  makers <- list(one = function(problem) gp_ucb(methods_x, methods_kernel, 0.01))
  comparison <- compare_bandits(makers, methods_problem, 5, 2, seed = 1)
  text <- printed(comparison)
  expect_match(text, "1 bandits over 5 rounds, 2 replications", fixed = TRUE)
  table <- summary(comparison, columns = "cumulative_regret")
  expect_match(text, sprintf("%.4g (se %.2g)", table$mean, table$se), fixed = TRUE)
})

test_that("no code relies on partial matching, and nothing warns", {
  old <- options(warn = 2, warnPartialMatchDollar = TRUE, warnPartialMatchArgs = TRUE, warnPartialMatchAttr = TRUE)
  on.exit(options(old))
  tour <- function() {
    for (name in names(safe_bandits)) {
      bandit <- safe_bandits[[name]]()
      next_of(bandit$copy())
      # (Their rewards are any numbers: that some models could not have made them is right.)
      withCallingHandlers(utils::capture.output(print(bandit), print(summary(bandit))),
                          gpbandits_model = function(w) invokeRestart("muffleWarning"))
      bandit$best(context_of(bandit))
      if (gpbandits:::bandit_facts(bandit)$engine == "weights") bandit$draw(2, context_of(bandit))
      unserialize(serialize(bandit, NULL))$history()
      bandit$reset()
    }
    for (width in list(width_srinivas_finite(), width_srinivas_compact(0.1, 1, 1, 1, 1), width_srinivas_rkhs(1),
                       width_igp(1, 1, gain = "greedy"), width_gp_ts(1, 1, gain = "spectral"), width_realized(1, 1),
                       width_amm(1, 1), width_dmm(1, 1), width_sdf(width_igp(1, 1, gain = gain_rate()), over = "pending"),
                       width_cpd(1, 2.5, 1, 10), width_function(sqrt))) {
      utils::capture.output(print(width), print(run_bandit(gp_ucb(methods_x, methods_kernel, 0.01, width = width),
                                                           methods_problem, 3)))
    }
    makers <- list(one = function(problem) gp_ucb(methods_x, methods_kernel, 0.01))
    comparison <- compare_bandits(makers, methods_problem, 5, 2, seed = 1)
    utils::capture.output(print(comparison), as.data.frame(comparison))
    "done"
  }
  expect_identical(tour(), "done")
})

test_that("fields that do not exist are NULL as in any environment, and mistyped methods are errors", {
  bandits <- list(gp_ei(1:5 / 5, kernel_se(0.3), 0.01), baseline_constrained("epbo", 1:5 / 5, kernel_se(0.3), 0.1, penalty = 1))
  for (bandit in bandits) {
    bandit$suggest()
    for (b in list(bandit, bandit$copy(), unserialize(serialize(bandit, NULL)))) {
      for (name in c(".__enclos_env__", ".__active__", ".foo")) {
        expect_null(b[[name]])
        expect_null(do.call("$", list(b, name)))
      }
      # What a user may have mistyped is an error still.
      expect_error(b$histroy(), "history", class = "gpbandits_error")
      expect_true(all.equal(b, bandit))
    }
    utils::capture.output(utils::str(list(bandit)), print(ls(bandit)), print(list(bandit)))
    other <- bandit$copy()
    other$suggest()
    expect_match(all.equal(other, bandit), "quer|ength", all = FALSE)
    expect_match(all.equal(bandit, 1), "no bandit")
  }
})

test_that("an R6 object that contains a bandit can be cloned, compared, saved and read", {
  skip_if_not_installed("R6")
  holder <- R6::R6Class("Holder", public = list(bandit = NULL, rest = NULL))$new()
  holder$bandit <- gp_ei(1:5 / 5, kernel_se(0.3), 0.01)
  holder$bandit$add(arm = 1:2, reward = c(1, 3))
  holder$rest <- list(holder$bandit)
  saved <- unserialize(serialize(holder, NULL))
  for (other in list(holder$clone(), holder$clone(deep = TRUE), saved, saved$clone(deep = TRUE))) {
    expect_true(all.equal(other, holder))
    expect_identical(other$bandit$history(), holder$bandit$history())
    expect_identical(other$bandit$copy()$suggest(), holder$bandit$copy()$suggest())
  }
})

test_that("rows returned by a bandit can be used as points, with their arms and contexts", {
  arms <- gp_ucb(data.frame(n = letters[1:4], x = c(0.1, 0.1, 0.5, 0.9)), kernel_matrix(diag(4) + 0.5), 0.1, width = 2)
  arms$add(arm = c(2, 3), reward = c(1, 0.5))
  # Arms 1 and 2 have the same inputs: the number says which one is meant.
  best <- arms$best()
  expect_identical(best$arm, 2L)
  expect_equal(arms$posterior(best), arms$posterior(arm = 2))
  expect_equal(arms$posterior(arms$history()), arms$posterior(arm = 2:3))
  expect_equal(predict(arms, arms$suggest()), arms$posterior(arm = arms$history()$arm[3]))
  # Numbers of other arms are not confused with these.
  expect_equal(arms$posterior(transform(best, arm = 4)), arms$posterior(x = data.frame(x = 0.1)))
  context <- gp_ucb(list(u = c(0, 1)), kernel_se(0.3), 0.1, contexts = "z", width = 2)
  context$observe(context$suggest(context = 0.4)$id, 1)
  best <- context$best(context = 0.7)
  expect_equal(context$posterior(best), best[c("mean", "sd")])
  expect_equal(context$posterior(best, context = 0.4), context$posterior(best["u"], context = 0.4))
  space <- search_space(a = c(0, 1), k = param_integer(1, 3), f = c("p", "q"))
  lives <- list(
    box = gp_ucb(list(u = c(0, 1), v = c(0, 1)), kernel_se(0.3), 0.1, width = 2),
    product = gp_ucb(product_domain(1:2, list(u = c(0, 1))), kernel_se(0.3), 0.1, width = 2),
    space = gp_ucb(space, kernel_se(0.3, dims = "a"), 0.1, width = 2)
  )
  for (name in names(lives)) {
    b <- lives[[name]]
    for (t in 1:3) b$observe(b$suggest()$id, sin(t))
    best <- b$best()
    expect_equal(b$posterior(best), best[c("mean", "sd")], info = name)
    inputs <- b$history()[b$config$domain$names]
    expect_equal(b$posterior(b$history()), b$posterior(inputs), info = name)
  }
  expect_error(context$posterior(data.frame(v = 1, z = 1)), "`x`", class = "gpbandits_error")
})

test_that("$domain() gives the space back, which makes the same bandit", {
  spaces <- list(box_domain(c(a = 0), c(a = 1)), finite_domain(data.frame(x = 1:3, kind = c("u", "v", "w"))),
                 search_space(a = param_real(1, 9, log = TRUE), k = c("u", "v"), where = ~ a > 2))
  for (space in spaces) {
    set.seed(1)
    bandit <- auto_bandit(space)
    expect_identical(bandit$domain()$names, space$names)
    first <- bandit$suggest(3)
    set.seed(1)
    expect_identical(auto_bandit(bandit$domain())$suggest(3), first)
  }
})
