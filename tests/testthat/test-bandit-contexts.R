# Contexts with types: groups, ranges and tables.

group_space <- list(group = c("a", "b", "c"), age = c(18, 80))
b_of_30 <- list(group = "b", age = 30)

played <- function(b, rounds = 6, contexts = list(b_of_30, list(group = "c", age = 60))) {
  for (t in seq_len(rounds)) {
    q <- b$suggest(context = contexts[[1 + t %% length(contexts)]])
    b$observe(q$id, -(q$x - 0.3 * (q$group == "b"))^2)
  }
  b
}

test_that("all short forms of a domain are contexts, and values come back as they were given", {
  ranges <- search_space(group = param_factor(c("a", "b", "c")), age = param_real(18, 80))
  table <- data.frame(group = c("a", "b", "c"), age = c(20, 30, 60))
  for (contexts in list(group_space, ranges, table, finite_domain(table))) {
    set.seed(1)
    b <- played(auto_bandit(list(x = c(0, 1)), contexts = contexts, n_initial = 2))
    expect_equal(b$history()$group, rep(c("c", "b"), 3))
    expect_equal(b$history()$age, rep(c(60, 30), 3))
    expect_equal(b$best(b_of_30)[c("group", "age")], data.frame(b_of_30))
    expect_equal(b$posterior(0.2, data.frame(b_of_30)), b$posterior(data.frame(x = 0.2), context = b_of_30))
    expect_true("2.categorical.correlation" %in% names(coef(b)))
    expect_error(b$suggest(context = list(group = "d", age = 30)), "group", class = "gpbandits_error")
    expect_error(b$suggest(context = list(group = "b")), "age", class = "gpbandits_error")
  }
  # A visitor may be older than the range.
  older <- auto_bandit(list(x = c(0, 1)), contexts = group_space)$suggest(context = list(age = 90, group = "a"))
  expect_equal(older$age, 90)
  typed <- auto_bandit(1:3, contexts = list(dose = param_real(1, 100, log = TRUE), new = c(TRUE, FALSE),
                                            visits = param_integer(1, 5)))
  q <- typed$suggest(context = list(dose = 10, new = TRUE, visits = 2))
  expect_equal(q[c("dose", "new", "visits")], data.frame(dose = 10, new = TRUE, visits = 2L))
  expect_equal(typed$suggest(2, data.frame(dose = c(1, 30), new = c(TRUE, FALSE), visits = 1:2))$dose, c(1, 30))
  dates <- auto_bandit(1:3, contexts = list(day = as.Date(c("2026-01-01", "2026-12-31"))))
  expect_equal(dates$suggest(context = list(day = as.Date("2026-03-01")))$day, as.double(as.Date("2026-03-01")))
  plain <- auto_bandit(1:3, contexts = c("age", "hour"))
  expect_equal(plain$suggest(context = list(hour = 3, age = 30))[c("age", "hour")], data.frame(age = 30, hour = 3))
  for (bad in list(list(a = param_real(0, 1), b = param_real(0, 1, when = ~ a > 0.5)), list(0, 1), list())) {
    expect_error(auto_bandit(1:3, contexts = bad), "contexts", class = "gpbandits_error")
  }
})

test_that("copies, JSON, files, journals and stores continue with groups", {
  set.seed(2)
  journal <- tempfile()
  b <- played(auto_bandit(list(x = c(0, 1)), contexts = group_space, n_initial = 2, journal = journal))
  same <- function(other) {
    expect_equal(other$history(), b$history())
    expect_equal(other$posterior(c(0.2, 0.8), b_of_30), b$posterior(c(0.2, 0.8), b_of_30))
  }
  same(b$copy())
  same(from_json(as_json(b)))
  same(unserialize(serialize(b$copy(), NULL)))
  same(open_bandit(journal))
  same(update(b, pending = pending_hallucinate()))
  again <- auto_bandit(list(x = c(0, 1)), b$history(), contexts = group_space)
  expect_equal(again$history()[c("x", "group", "age", "reward")], b$history()[c("x", "group", "age", "reward")])
  expect_error(auto_bandit(list(x = c(0, 1)), transform(b$history(), group = "z"), contexts = group_space), "group",
               class = "gpbandits_error")
  skip_if_not_installed("RSQLite")
  store <- bandit_store(tempfile(fileext = ".sqlite"), "groups")
  played(auto_bandit(list(x = c(0, 1)), contexts = group_space, n_initial = 2, store = store), 4)
  expect_equal(open_bandit(store)$history()$group, c("c", "b", "c", "b"))
})

test_that("pictures, checks and summaries use the groups' names", {
  set.seed(3)
  b <- played(auto_bandit(list(x = c(0, 1)), contexts = group_space, n_initial = 2), 8)
  local_device()
  expect_no_error(plot(b))
  drawn <- gpbandits:::bandit_plot_data(as.environment(b), b_of_30, NULL, "auto", NULL, FALSE, 20)
  expect_match(drawn$title, "group = b")
  expect_s3_class(check_model(b, by = "context"), "bandit_check")
  expect_output(print(b), "contexts   group (a/b/c), age", fixed = TRUE)
  expect_no_error(summary(b))
  expect_equal(nrow(b$history(draws = 20)), 8)
})

test_that("problems have groups too: they are drawn, or come from a table", {
  reward <- function(inputs) ifelse(inputs$group == "b", inputs$x1, -inputs$x1)
  arms <- finite_domain(c(-1, 0, 1))
  for (contexts in list(list(group = c("b", "a")), data.frame(group = c("a", "b", "b")))) {
    set.seed(4)
    problem <- bandit_problem(arms, reward, noise = 0.01, contexts = contexts)
    # (The bandit has its own order of levels.)
    b <- auto_bandit(arms, contexts = list(group = c("a", "b")), n_initial = 3)
    run <- as.data.frame(run_bandit(b, problem, 16))
    expect_setequal(run$group, c("a", "b"))
    expect_equal(run$f, reward(run))
    expect_equal(run$optimum, rep(1, 16))
    expect_equal(utils::tail(run$regret, 4), rep(0, 4))
    expect_equal(run$reward, run$f, tolerance = 0.1)
  }
  compared <- compare_bandits(list(auto = function(problem) auto_bandit(arms, contexts = list(group = c("a", "b")))),
                              function(replication) problem, 5, 1, 1)
  expect_equal(nrow(as.data.frame(compared)), 5)
})

test_that("a kernel of levels finds each group's best arm sooner than numbers of groups", {
  skip_on_cran()
  best <- c(3, 1, 4, 2, 5, 1)
  groups <- letters[1:6]
  regret <- function(contexts, given) {
    set.seed(5)
    b <- auto_bandit(1:5, contexts = contexts, n_initial = 3)
    lost <- vapply(1:40, function(t) {
      k <- sample(6, 1)
      q <- b$suggest(context = given(k))
      b$observe(q$id, -0.2 * abs(q$arm - best[k]) + rnorm(1, sd = 0.05))
      0.2 * abs(q$arm - best[k])
    }, 0)
    mean(lost[21:40])
  }
  levels <- regret(list(group = groups), function(k) list(group = groups[k]))
  expect_lt(levels, regret("group", function(k) k))
})

test_that("the service takes groups in bodies and addresses", {
  skip_if_not_installed("RSQLite")
  service <- list(bandit = auto_bandit(1:3, contexts = group_space))
  field <- function(...) gpbandits:::context_field(service, ...)
  expect_equal(field(list(age = 30, group = "b")), data.frame(group = "b", age = 30))
  expect_equal(field(list("b", 30)), data.frame(group = "b", age = 30))
  query <- list("context[group]" = "b", "context[age]" = "30")
  expect_equal(field(gpbandits:::context_in_query(query, service$bandit$config)), data.frame(group = "b", age = 30))
  expect_equal(service$bandit$suggest(context = field(list(age = 30, group = "b")))$group, "b")
  expect_error(field(list(age = 30)), "group", class = "gpbandits_error")
  expect_error(service$bandit$suggest(context = field(list(age = "old", group = "b"))), "age",
               class = "gpbandits_error")
  described <- gpbandits:::contexts_described(as.environment(service$bandit)$config)
  expect_equal(described[[1]]$levels, I(c("a", "b", "c")))
})
