# Inputs may have any name but id, arm and reward: a bandit whose inputs are called like our columns works like one with
# plain names does, and our columns have a dot in front.

# Our names, as inputs: every column of a history, a regret log, a frame of bounds, a lease, a search, a plot.
taken_names <- c("width", "mean", "sd", "action", "segment", "status", "phase", "propensity", "f", "regret", "period", "optimum",
               "cumulative_regret", "simple_regret", "violation1", "cumulative_violation", "g1", "kappa1", "label", "lower", "upper",
               "safe", "maximiser", "token", "attempt", "best", "evaluation", "z", "pit", "noise_var", "at", "at_y", "current", "plays",
               "truth", "x", "y", "kind", "panel", "value", "input", "round", "where", "row.names", "names", "domain", "names with blanks",
               ".width", "T", "c")

# A frame of the one bandit with the names of the other's inputs: our columns have lost their dots.
renamed <- function(frame, given, plain) {
  inputs <- intersect(given, names(frame))
  out <- gpbandits:::own_columns(frame, given)
  points <- stats::setNames(as.list(frame)[inputs], plain[match(inputs, given)])
  list(points = points, core = as.list(out))
}

# (A frame without inputs has no such names; one that has no contexts none of theirs.)
expect_like <- function(odd, plain, names, info) {
  there <- names$plain %in% base::names(plain)
  names <- list(odd = names$odd[there], plain = names$plain[there])
  expect_equal(renamed(odd, names$odd, names$plain), renamed(plain, names$plain, names$plain), info = info)
  taken <- setdiff(names(plain), names$plain)
  expect_identical(setdiff(names(odd), names$odd), gpbandits:::beside(taken, names$odd), info = info)
}

# Kinds of bandits, made with two names of inputs (and of a context, or of the labels).
grid_of <- function(names) stats::setNames(expand.grid(a = c(0, 0.5, 1), b = c(0, 0.4, 1)), names)
named_kinds <- list(
  arms = function(names, ...) gp_ucb(grid_of(names), kernel_se(0.4), 0.01, pending = pending_hallucinate(), ...),
  labels = function(names, ...) {
    arms <- stats::setNames(data.frame(c(0, 0.5, 1), letters[1:3]), names)
    gp_ts(arms, kernel_se(0.4), 0.01, B = 1, R = 0.1, ...)
  },
  box = function(names, ...) gp_ei(box_domain(c(0, 0), c(1, 1), names), kernel_se(0.4), 0.01, ...),
  product = function(names, ...) {
    gp_ucb(product_domain(stats::setNames(data.frame(1:2), names[1]), stats::setNames(list(c(0, 1)), names[2])), kernel_se(0.6), 0.01,
           width = width_constant(2), ...)
  },
  space = function(names, ...) {
    space <- search_space(stats::setNames(list(c(0, 1), c("u", "v")), names))
    gp_ei(space, kernel_se(0.4, dims = names[1]) * kernel_categorical(0.5, dims = names[2]), 0.01, ...)
  },
  context = function(names, ...) {
    gp_ucb(stats::setNames(data.frame((0:4) / 4), names[1]), kernel_se(0.4), 0.01, contexts = matrix(c(0, 1), dimnames = list(NULL, names[2])), ...)
  },
  open = function(names, ...) gp_ucb(stats::setNames(data.frame((0:4) / 4), names[1]), kernel_se(0.4), 0.01, contexts = names[2], ...),
  limits = function(names, ...) {
    gp_ucb_noiseless_constraints(grid_of(names), kernel_se(0.4), 0.01, epoch = 3, width = width_constant(2), ...)
  },
  level = function(names, ...) gp_lse(grid_of(names), kernel_se(0.4), 0.01, level = 0.2, accuracy = 0.05, width = width_constant(2), ...),
  safe = function(names, ...) safe_opt(grid_of(names), kernel_se(0.4), 0.01, threshold = -2, seed = 5, width = 2, ...)
)

context_for <- function(kind) if (kind %in% c("context", "open")) 1

probe <- function(kind) {
  if (kind %in% c("labels", "context", "open")) matrix(c(0, 1)) else if (kind == "space") data.frame(c(0.1, 0.9), c("u", "v"))
  else if (kind == "product") cbind(1:2, c(0.2, 0.4)) else cbind(c(0, 1), c(0.4, 0))
}

# A short run; its events depend on the ids alone.
live_named <- function(bandit, kind, store = FALSE) {
  set.seed(4)
  g <- function(n) if (kind == "limits") matrix(-0.1, n, 1)
  for (t in 1:4) {
    query <- bandit$suggest(context = context_for(kind))
    if (t != 3) bandit$observe(query$id, sin(3 * t), constraints = g(1))
  }
  bandit
}

test_that("every kind of bandit works with inputs named like the package's columns, and shows both", {
  skip_on_cran()
  local_device()
  pairs <- matrix(taken_names, 2)
  for (kind in few_of(names(named_kinds), 3)) {
    plain <- live_named(named_kinds[[kind]](c("u1", "u2")), kind)
    # (All of them, at level 2.)
    for (k in by_level(if (kind == "arms") seq(1, ncol(pairs), 3) else c(1, if (kind %in% c("level", "safe", "labels")) 10), seq_len(ncol(pairs)))) {
      given <- pairs[, k]
      odd <- live_named(named_kinds[[kind]](given), kind)
      names <- list(odd = given, plain = c("u1", "u2"))
      info <- paste(kind, paste(given, collapse = ", "))
      expect_like(odd$history(draws = 5), plain$history(draws = 5), names, info)
      expect_like(odd$best(context = context_for(kind)), plain$best(context = context_for(kind)), names, info)
      expect_equal(odd$posterior(context = if (kind %in% c("context", "open")) 1, x = unname(probe(kind))),
                   plain$posterior(context = if (kind %in% c("context", "open")) 1, x = unname(probe(kind))), info = info)
      if (kind == "level") expect_like(odd$levels(), plain$levels(), names, info)
      if (kind == "safe") expect_like(odd$safe(), plain$safe(), names, info)
      expect_output(print(odd), "best|rounds", info = info)
      expect_equal(summary(odd)$pending, summary(plain)$pending)
      if (kind != "limits") expect_like(as.data.frame(check_model(odd)), as.data.frame(check_model(plain)), names, info)
      drawn <- plot(odd, type = "arms", context = context_for(kind))
      expect_like(as.data.frame(drawn), as.data.frame(plot(plain, type = "arms", context = context_for(kind))), names, info)
      # Elsewhere: copies, text, files.
      expect_identical(odd$copy()$history(), odd$history())
      expect_identical(from_json(as_json(odd))$history(), odd$history(), info = info)
      file <- tempfile()
      utils::write.csv(odd$history(), file, row.names = FALSE)
      expect_identical(names(utils::read.csv(file, check.names = FALSE)), names(odd$history()))
    }
  }
})

test_that("runs, comparisons, plots, journals and logs work with such names", {
  skip_on_cran()
  local_device()
  bump <- function(x) -rowSums((as.matrix(x) - 0.4)^2)
  make <- function(names) {
    problem <- bandit_problem(grid_of(names), function(x) bump(x[, 1:2]), noise = 0.1, constraints = function(x) x[, 1] - 0.6)
    set.seed(3)
    run <- run_bandit(named_kinds$limits(names), problem, 8)
    comparison <- compare_bandits(list(a = function(p) named_kinds$limits(names)), problem, 4, 2, seed = 1)
    box <- gp_ucb(box_domain(c(0, 0), c(1, 1), names), kernel_se(0.4), 0.01, width = width_constant(2))
    for (t in 1:3) box$observe(box$suggest()$id, sin(t))
    list(run = run, comparison = comparison, box = box)
  }
  plain <- make(c("u1", "u2"))
  pairs <- list(c("regret", "f"), c("violation1", "period"), c("mean", "sd"), c("optimum", "segment"), c("upper", "plays"))
  for (given in few_of(pairs, 3)) {
    odd <- make(given)
    names <- list(odd = given, plain = c("u1", "u2"))
    expect_like(as.data.frame(odd$run), as.data.frame(plain$run), names, given)
    expect_equal(unclass(summary(odd$run)), unclass(summary(plain$run)))
    expect_equal(as.data.frame(odd$comparison), as.data.frame(plain$comparison))
    expect_equal(plot(odd$run, "violation"), plot(plain$run, "violation"))
    map <- plot(odd$box)
    expect_like(as.data.frame(map), as.data.frame(plot(plain$box)), names, given)
    sds <- plot(odd$box, type = "sd")
    expect_identical(names(sds)[3:4], gpbandits:::beside(c("mean", "sd"), given))
    skip_if_not_installed("ggplot2")
    for (type in if (given[1] %in% c("mean", "upper")) c("map", "slices", "sd")) {
      picture <- ggplot2::autoplot(odd$box, type = type)
      expect_s3_class(ggplot2::ggplot_build(picture), "ggplot_built")
    }
    expect_equal(ggplot2::autoplot(odd$box, type = "map")$data, map, ignore_attr = TRUE)
  }
})

test_that("searches, and campaigns that start with a history, work with such names", {
  skip_on_cran()
  local_device()
  search <- function(names) {
    set.seed(2)
    maximize_bandit(function(p) if (p[[1]] > 0.9) stop("no") else -sum((unlist(p) - 0.3)^2), stats::setNames(list(c(0, 1), c(0, 1)), names), evaluations = 8)
  }
  plain <- search(c("u1", "u2"))
  for (given in list(c("status", "best"), c("mean", "sd"), c("reason", "evaluation"))[seq_len(by_level(2, 3, quick = 1))]) {
    odd <- search(given)
    names <- list(odd = given, plain = c("u1", "u2"))
    expect_like(odd$history, plain$history, names, given)
    expect_like(as.data.frame(odd), as.data.frame(plain), names, given)
    expect_equal(odd[c("value", "sd")], plain[c("value", "sd")])
    expect_identical(summary(odd)$counts, summary(plain)$counts)
    expect_equal(unname(odd$par), unname(plain$par))
    expect_output(print(odd), "recommended")
    expect_equal(unname(plot(odd)$map), unname(plot(plain)$map))
    if (given[1] == "status" && requireNamespace("ggplot2", quietly = TRUE)) {
      for (which in c("progress", "slices", "map", "importance")) {
        expect_s3_class(ggplot2::ggplot_build(ggplot2::autoplot(odd, which)), "ggplot_built")
      }
    }
    # What a history says of failures is read, whatever the inputs are called.
    space <- stats::setNames(list(c(0, 1), c(0, 1)), given)
    first <- auto_bandit(space)
    first$suggest(3)
    first$observe(1, 0.5)
    first$fail(2)
    again <- auto_bandit(space, first$history())
    expect_identical(again$history()[[gpbandits:::beside("status", given)]], c("observed", "failed", "pending"))
  }
})

test_that("a race over folds works with such names", {
  race <- function(names) {
    set.seed(5)
    maximize_bandit(function(p, fold) -sum((unlist(p) - 0.3)^2) + fold / 100, stats::setNames(list(c(0, 1), c(0, 1)), names), evaluations = 30,
                    n_initial = 4, race = race_folds(4, burn_in = 2))
  }
  plain <- race(c("u1", "u2"))
  for (given in list(c("folds", "fold_var"), c("status", "best"))) {
    odd <- race(given)
    expect_like(odd$history, plain$history, list(odd = given, plain = c("u1", "u2")), given)
    expect_identical(odd$race, plain$race)
  }
})

test_that("data of queries, logs and stores work with such names", {
  skip_on_cran()
  given <- c("g1", "noise_var")
  bandit <- named_kinds$limits(given)
  query <- bandit$suggest()
  bandit$observe(data.frame(query, reward = 1, .g1 = -0.5, .noise_var = 0.04))
  expect_identical(bandit$history()$.g1, -0.5)
  expect_identical(log_column(bandit, "noise_var")[2], 0.04)
  arms <- data.frame(propensity = c(0, 0.5, 1), action = c(2, 1, 2))
  logged <- gp_ts(arms, kernel_se(0.4), 0.01, B = 1, R = 0.1)
  set.seed(1)
  for (t in 1:60) logged$observe(logged$suggest()$id, stats::rnorm(1))
  history <- logged$history(draws = 50)
  expect_true(all(c(".propensity", ".action") %in% names(history)))
  plain <- stats::setNames(history, sub("^[.]", "", sub("^(propensity|action)$", "u_\\1", names(history))))
  names(arms) <- paste0("u_", names(arms))
  wanted <- suppressWarnings(evaluate_policy(plain, gp_ucb(arms, kernel_se(0.4), 0.01), "snips"))
  names(arms) <- sub("^u_", "", names(arms))
  expect_equal(suppressWarnings(evaluate_policy(history, gp_ucb(arms, kernel_se(0.4), 0.01), "snips")), wanted)
  skip_if_not_installed("RSQLite")
  point <- tempfile(fileext = ".db")
  kept <- gp_ucb(stats::setNames(data.frame((0:4) / 4, c(1, 3, 2, 5, 4)), c("token", "attempt")), kernel_se(0.4), 0.01, store = bandit_store(point, "b", seed = 1))
  asked <- kept$suggest(worker = "me", lease = 60)
  expect_identical(names(asked), c("id", "arm", "token", "attempt", ".token", ".attempt"))
  kept$observe(asked$id, 1, token = asked$.token)
  work_on(bandit_store(point, "b"), function(p) sum(p), until = function(b) sum(!is.na(b$history()$reward)) >= 3, heartbeat = FALSE)
  kept$catch_up()
  history <- kept$history()
  expect_equal(history$reward[-1], (history$token + history$attempt)[-1])
  expect_identical(open_bandit(bandit_store(point, "b"))$history(), history)
})

test_that("id, arm and reward are errors as names, wherever a name is given", {
  for (name in c("id", "arm", "reward")) {
    expect_error(gp_ei(stats::setNames(list(c(0, 1)), name), kernel_se(1), 0.1), "id, arm and reward", class = "gpbandits_error")
    expect_error(gp_ucb(1:3, kernel_se(1), 0.1, contexts = name), "id, arm and reward", class = "gpbandits_error")
    table <- stats::setNames(data.frame(1:3, c("a", "b", "a")), c("x", name))
    expect_error(gp_ucb(table, kernel_se(1), 0.1), "id, arm and reward", class = "gpbandits_error")
    # (A column of labels is no input: histories call it "label".)
    expect_identical(finite_domain(table[1:2, ])$label_name, "label")
    expect_error(safe_opt(stats::setNames(data.frame(1:3), name), kernel_se(1), 0.1, threshold = 0, seed = 1, width = 2), "id, arm and reward",
                 class = "gpbandits_error")
  }
})
