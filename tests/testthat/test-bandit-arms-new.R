# New arms in a running bandit: it equals one that had them from the start and could not select them.

old_x <- c(0.05, 0.3, 0.55, 0.8)
new_x <- c(0.15, 0.42, 0.93)
every_x <- c(old_x, new_x)
wave <- function(x, z = 0) sin(7 * x + z)

# Two runs in parallel: `grow` gets its arms in between, `all` has them and a list of eligible ones. Returns both.
lives_of_growth <- function(make, contexts = NULL, rounds = c(6, 6, 4), late = TRUE) {
  grow <- make(old_x)
  all <- make(every_x)
  count <- length(old_x)
  at <- function(t) if (!is.null(contexts)) contexts[[1 + t %% length(contexts)]]
  play <- function(t) {
    q <- grow$suggest(context = at(t))
    a <- all$suggest(context = at(t), arms = if (count < length(every_x)) seq_len(count))
    expect_identical(q$arm, a$arm)
    if (late && t %% 4 == 0) return(invisible())
    y <- wave(q$x1, if (is.null(contexts)) 0 else at(t)) + t / 50
    grow$observe(q$id, y)
    all$observe(a$id, y)
  }
  t <- 0
  for (k in seq_along(rounds)) {
    for (round in seq_len(rounds[k])) play(t <- t + 1)
    if (k == 1) {
      grow$add_arms(new_x[1:2])
      count <- 6
    }
    if (k == 2) {
      grow$add_arms(new_x[3])
      count <- 7
    }
  }
  list(grow = grow, all = all, context = at(t))
}

expect_same_knowledge <- function(grow, all, context = NULL, tolerance = tol$engine) {
  expect_equal(grow$posterior(context = context)[c("mean", "sd")], all$posterior(context = context)[c("mean", "sd")],
               tolerance = tolerance)
  expect_equal(grow$information_gain(), all$information_gain(), tolerance = tolerance)
  expect_equal(grow$best(context = context)$arm, all$best(context = context)$arm)
  mine <- grow$history()
  theirs <- all$history()
  expect_identical(mine[c("id", "arm", "x1", "reward", "action", "segment", "status")],
                   theirs[c("id", "arm", "x1", "reward", "action", "segment", "status")])
  expect_equal(mine$mean, theirs$mean, tolerance = tolerance)
  expect_equal(mine$sd, theirs$sd, tolerance = tolerance)
}

test_that("posterior and choices equal those of a bandit that had the new arms from the start without using them", {
  k <- kernel_matern(2.5, 0.3)
  ucb <- policy_ucb(width_constant(2))
  makers <- list(
    weights = function(x) gp_bandit(x, k, 0.02, ucb, engine = "weights"),
    played = function(x) gp_bandit(x, k, 0.02, ucb, engine = "played"),
    lowrank = function(x) gp_bandit(x, k, 0.02, ucb, engine = "lowrank"),
    hallucinated = function(x) gp_bandit(x, k, 0.02, policy_ei(), pending = pending_hallucinate()),
    censored = function(x) gp_bandit(x, k, 0.02, ucb, pending = pending_censor(3, 0.1)),
    window = function(x) gp_bandit(x, k, 0.02, ucb, changes = change_oracle(window = 5)),
    weighted = function(x) gp_bandit(x, k, 0.02, ucb, changes = change_oracle(rate = 0.1, by = "weights")),
    fading = function(x) gp_bandit(x, k, 0.02, ucb, changes = change_oracle(rate = 0.05)),
    restarted = function(x) gp_bandit(x, k, 0.02, ucb, changes = change_oracle(c(4, 9), explore = 0)),
    own = function(x) gp_bandit(x, kernel_function(function(X, Y) exp(-abs(outer(X[, 1], Y[, 1], "-")) / 0.4)), 0.02, ucb),
    means = function(x) gp_bandit(x, k, 0.02, ucb, mean = 0.4),
    repeated = function(x) gp_bandit(x, k, 0.02, policy_repeats(ucb, 2)),
    failing = function(x) gp_bandit(x, k, 0.02, ucb, failures = "avoid"),
    doubting = function(x) gp_bandit(x, k, 0.02, ucb, failures = "doubt")
  )
  for (name in few_of(names(makers), 7)) {
    lives <- lives_of_growth(makers[[name]])
    expect_same_knowledge(lives$grow, lives$all)
  }
  open <- lives_of_growth(function(x) gp_bandit(x, k, 0.02, ucb, contexts = "z"), contexts = c(0, 0.5, 1))
  expect_same_knowledge(open$grow, open$all, open$context)
  # Listed contexts: the rows of the table get new numbers.
  listed <- lives_of_growth(function(x) gp_bandit(x, k, 0.02, ucb, contexts = cbind(z = c(0, 0.5, 1)), pending = pending_hallucinate()),
                            contexts = c(0, 0.5, 1))
  for (z in c(0, 0.5, 1)) expect_same_knowledge(listed$grow, listed$all, z)
  # Against the reference in plain R.
  lives <- lives_of_growth(makers$weights)
  h <- lives$grow$history()
  seen <- !is.na(h$reward)
  K <- ref_kernel_matern(2.5, 0.3)(cbind(every_x))
  ref <- ref_posterior_at(K, h$arm[seen], h$reward[seen], rep(0.02, sum(seen)))
  expect_equal(lives$grow$posterior()$mean, ref$mean, tolerance = tol$engine)
  expect_equal(lives$grow$posterior()$sd, ref$sd, tolerance = tol$engine)
})

test_that("long-term constraints, Thompson sampling and refits include the new arms", {
  k <- kernel_matern(2.5, 0.3)
  grow <- gp_bandit(old_x, k, 0.02, policy_ucb(width_constant(2)), constraints = constraints_noiseless(epoch = 4))
  all <- gp_bandit(every_x, k, 0.02, policy_ucb(width_constant(2)), constraints = constraints_noiseless(epoch = 4))
  for (t in 1:14) {
    if (t == 7) grow$add_arms(new_x)
    q <- grow$suggest()
    expect_identical(all$suggest(arms = if (t < 7) 1:4)$arm, q$arm)
    for (b in list(grow, all)) b$observe(t, wave(q$x1), constraints = q$x1 - 0.5)
  }
  expect_same_knowledge(grow, all)
  ts <- gp_ts(old_x, k, 1.1, B = 1, R = 0.1, gain = "greedy")
  set.seed(1)
  for (t in 1:5) ts$observe(ts$suggest()$id, 0.1)
  ts$add_arms(new_x)
  for (t in 1:20) ts$observe(ts$suggest()$id, 0.1)
  expect_gt(max(ts$history()$arm), 4)
  expect_identical(dim(ts$draw(3)), c(7L, 3L))
  fitted <- gp_bandit(old_x, k, 0.1, policy_ei(), refit = refit_every(3, minimum = 3, mean = "fit"), outputs = scale_outputs())
  for (t in 1:12) {
    if (t == 6) fitted$add_arms(new_x[2:1])
    q <- fitted$suggest()
    fitted$observe(q$id, 10 + 4 * wave(q$x1))
  }
  expect_gt(sum(fitted$events$kind[seq_len(fitted$events$.size)] == 5L), 2)
  again <- unserialize(serialize(fitted, NULL))
  expect_identical(again$history(), fitted$history())
  expect_equal(again$posterior(), fitted$posterior(), tolerance = tol$replay)
})

test_that("files, journals, JSON and copies contain the new arms, to the bit", {
  make <- function(...) {
    gp_bandit(data.frame(x1 = old_x, row.names = c("a", "b", "c", "d")), kernel_matern(2.5, 0.3), 0.02,
              policy_ts(width_constant(1)), mean = c(a = 0.1, b = 0, c = 0.2, d = 0), ...)
  }
  live <- function(b) {
    set.seed(3)
    for (t in 1:4) b$observe(b$suggest()$id, t / 5)
    b$add_arms(data.frame(x1 = new_x[1:2], row.names = c("e", "f")), mean = c(0.3, 0.4))
    for (t in 1:6) b$observe(b$suggest()$id, t / 7)
    b$add_arms(data.frame(x1 = new_x[3], row.names = "g"), mean = 1)
    b$add(arm = "g", reward = 1)
    b$suggest(arms = c("a", "g"))
    b
  }
  same <- function(other, b) {
    expect_identical(other$history(), b$history())
    expect_identical(other$config$domain, b$config$domain)
    expect_equal(other$posterior(), b$posterior(), tolerance = tol$replay)
    set.seed(5)
    mine <- b$copy()$suggest(3)
    set.seed(5)
    expect_identical(other$copy()$suggest(3), mine)
  }
  b <- live(make())
  expect_true("g" %in% b$history()$label)
  expect_identical(b$config$domain$labels, letters[1:7])
  same(unserialize(serialize(b, NULL)), b)
  same(b$copy(), b)
  same(from_json(as_json(b)), b)
  path <- tempfile()
  journalled <- live(make(journal = path))
  same(journalled, b)
  same(open_bandit(path), b)
  copy <- b$copy()
  copy$reset()
  expect_identical(copy$config$domain, make()$config$domain)
  expect_identical(copy$config$mean, make()$config$mean)
  expect_identical(nrow(copy$posterior()), 4L)
  journalled$reset()
  expect_identical(nrow(open_bandit(path)$posterior()), 4L)
  # Propensities: the arms that there were.
  u <- gp_bandit(old_x, kernel_se(0.3), 0.02, policy_uniform())
  u$suggest(2)
  u$add_arms(new_x)
  u$suggest(2)
  u$suggest(arms = 5:6)
  expect_equal(u$history()$propensity, c(1 / 4, 1 / 4, 1 / 7, 1 / 7, 1 / 2))
  p <- b$history(draws = 20)$propensity
  expect_true(all(p > 0 & p <= 1, na.rm = TRUE))
})

test_that("added arms are in the log of a store, on SQLite and PostgreSQL", {
  on_databases(function(point) {
    first <- gp_ucb(data.frame(x1 = old_x, row.names = letters[1:4]), kernel_se(0.3), 0.02, mean = c(a = 0.1, b = 0, c = 0.2, d = 0),
                    store = store_at(point, seed = 1))
    second <- open_bandit(store_at(point))
    q <- first$suggest()
    first$add_arms(data.frame(x1 = new_x[1:2], row.names = c("e", "f")), mean = c(0.3, 0.4))
    first$add(arm = "f", reward = 0.4)
    # In one step: rows from before, the arms, and a query at one of them.
    second$catch_up()
    same <- function(x, y) {
      expect_identical(x$history(), y$history())
      expect_equal(x$posterior(), y$posterior(), tolerance = tol$replay)
    }
    same(second, first)
    second$add_arms(data.frame(x1 = new_x[3], row.names = "g"), mean = 1)
    second$observe(q$id, 0.2)
    first$catch_up()
    same(first, second)
    same(open_bandit(store_at(point)), second)
  })
})

test_that("widths use the current number of arms", {
  b <- gp_ucb(old_x, kernel_se(0.3), 0.02, width = width_srinivas_finite(0.1))
  all <- gp_ucb(every_x, kernel_se(0.3), 0.02, width = width_srinivas_finite(0.1))
  width <- function(n, t) sqrt(2 * log(n * t^2 * pi^2 / 0.6))
  b$suggest()
  expect_equal(b$history()$width, width(4, 1))
  b$add_arms(new_x)
  b$suggest()
  expect_equal(b$history()$width[2], width(7, 2))
  all$suggest()
  all$suggest()
  expect_equal(b$certificate()$gap, all$certificate()$gap)
})

test_that("adding arms to a bandit that does not support it is an error that states the reason and changes nothing", {
  refused <- function(b, x = 0.5, text = "`?x`?", ...) {
    before <- list(b$config, b$history(), nrow(b$posterior()))
    expect_error(b$add_arms(x, ...), text, class = "gpbandits_error")
    expect_identical(list(b$config, b$history(), nrow(b$posterior())), before)
  }
  plain <- function(...) gp_ucb(old_x, kernel_se(0.3), 0.02, ...)
  refused(gp_ucb(1:3, kernel_matrix(diag(3)), 0.1), 4, "covariances")
  refused(gp_lse(old_x, kernel_se(0.3), 0.02, level = 0, accuracy = 0.1), 0.5, "intervals")
  refused(gp_bandit(old_x, kernel_se(0.3), 0.02, policy_mean(),
                    changes = change_detect(function(q) 1, function(q) 1)), 0.5, "change rule")
  expect_error(gp_ucb(box_domain(0, 1), kernel_se(0.3), 0.02, width = 2)$add_arms(0.5), "set of arms", class = "gpbandits_error")
  expect_error(gp_ei(old_x, kernel_se(0.3), 0.02, cost = "learned")$add_arms(0.5), "several posteriors", class = "gpbandits_error")
  refused(plain(), 0.3, "arm 2")
  refused(plain(), c(0.4, 0.4), "twice")
  refused(plain(), NA, "`x`")
  refused(plain(), cbind(1, 2), "`x`")
  refused(plain(), data.frame(y = 0.4), "names")
  refused(plain(), numeric(), "at least one")
  refused(plain(), "a", "`x`")
  refused(plain(), 0.5, "`mean`", mean = 1)
  refused(plain(mean = c(1, 2, 3, 4)), 0.5, "`mean`")
  refused(plain(), c(new = 0.5), "without names")
  named <- gp_ucb(c(a = 0.1, b = 0.5), kernel_se(0.3), 0.02)
  refused(named, 0.7, "with names")
  refused(named, c(b = 0.7), "new names")
  many <- gp_bandit(seq_len(240), kernel_se(5), 0.1, policy_mean(), contexts = cbind(z = seq_len(200)))
  refused_many <- tryCatch(many$add_arms(1000 + seq_len(20)), error = identity)
  expect_s3_class(refused_many, "gpbandits_error")
  expect_match(conditionMessage(refused_many), "50000")
  # An invalid event is damage.
  b <- plain()
  b$suggest()
  b$add_arms(0.42)
  forged <- unserialize(serialize(b, NULL))
  forged$refits[[1]]$arms$x[1] <- 0.43
  expect_error(forged$history(), "damaged", class = "gpbandits_error")
  forged <- unserialize(serialize(b, NULL))
  forged$refits[[1]]$arms <- NULL
  expect_error(forged$history(), "damaged", class = "gpbandits_error")
})

test_that("invalid arms in a store's rows are an error, and the replica stays as it was", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  file <- tempfile(fileext = ".sqlite")
  b <- gp_ucb(old_x, kernel_se(0.3), 0.02, store = bandit_store(file, "s", seed = 1))
  b$suggest()
  behind <- open_bandit(bandit_store(file, "s"))
  b$add_arms(new_x)
  b$suggest()
  con <- DBI::dbConnect(RSQLite::SQLite(), file)
  on.exit(DBI::dbDisconnect(con))
  text <- DBI::dbGetQuery(con, "SELECT parameters FROM gpb_event WHERE kind = 'arms'")$parameters
  put <- function(value) {
    DBI::dbExecute(con, "UPDATE gpb_event SET parameters = ?, checksum = checksum WHERE kind = 'arms'", params = list(value))
  }
  before <- list(behind$history(), behind$config$domain)
  for (lie in list("{}", "3", "", sub("\"from\"", "\"form\"", text, fixed = TRUE), gsub("arms", "army", text, fixed = TRUE))) {
    put(lie)
    expect_error(behind$catch_up(), class = "gpbandits_error")
    expect_identical(list(behind$history(), behind$config$domain), before)
    expect_error(open_bandit(bandit_store(file, "s")), class = "gpbandits_error")
  }
  put(text)
  behind$catch_up()
  expect_identical(behind$history(), b$history())
})
