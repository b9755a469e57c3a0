# Search spaces: types in and out, conditions and constraints, the kernel's inputs (against the plain-R reference), and
# the policy's maximum against brute force over all combinations of levels.

tuning_space <- function(...) {
  search_space(lr = param_real(1e-4, 1, log = TRUE), depth = param_integer(1, 12), rule = param_factor(c("gini", "information")),
               size = param_factor(factor(c("s", "m", "l"), c("s", "m", "l")), ordered = TRUE), prune = param_logical(),
               alpha = param_real(0, 2, when = ~ prune), ...)
}

# The same by hand: model inputs, imputed in the middle, with the indicator.
coded_by_hand <- function(x) {
  cbind(log(x$lr), x$depth, match(x$rule, c("gini", "information")), match(x$size, c("s", "m", "l")), as.numeric(x$prune),
        ifelse(x$prune, x$alpha, 1), as.numeric(x$prune))
}
kernel_of_tuning <- kernel_matern(2.5, c(2, 4, 1, 0.8), dims = c("lr", "depth", "size", "alpha")) *
  kernel_categorical(c(0.4, 0.7, 0.9), dims = c("rule", "prune", "alpha.active"))
reference_of_tuning <- ref_kernel_product(ref_kernel_matern(2.5, c(2, 4, 1, 0.8), dims = c(1, 2, 4, 6)),
                                          ref_kernel_categorical(c(0.4, 0.7, 0.9), dims = c(3, 5, 7)))
loss <- function(x) {
  -(log10(x$lr) + 2)^2 - (x$rule == "gini") + ifelse(x$prune, x$alpha, 0) - (x$depth - 5)^2 / 20 + (x$size == "m") / 2
}
inputs_of <- function(frame) frame[c("lr", "depth", "rule", "size", "prune", "alpha")]

expect_in_tuning_space <- function(x) {
  expect_type(x$lr, "double")
  expect_type(x$depth, "integer")
  expect_type(x$rule, "character")
  expect_identical(levels(x$size), c("s", "m", "l"))
  expect_type(x$prune, "logical")
  expect_identical(is.na(x$alpha), !x$prune)
  expect_true(all(x$lr >= 1e-4 & x$lr <= 1 & x$depth %in% 1:12 & x$rule %in% c("gini", "information")))
  expect_true(all(x$alpha >= 0 & x$alpha <= 2, na.rm = TRUE))
}

test_that("suggestions, histories and recommendations are in the space and have its types", {
  skip_on_cran()
  space <- tuning_space(where = ~ depth <= 8 | rule == "gini")
  for (policy in list(policy_ucb(width_constant(2)), policy_ts(width_constant(1)), policy_uniform())) {
    set.seed(1)
    b <- gp_bandit(space, kernel_of_tuning, 0.01, policy, pending = pending_hallucinate())
    for (t in 1:3) {
      q <- b$suggest(2)
      expect_in_tuning_space(q)
      expect_true(all(q$depth <= 8 | q$rule == "gini"))
      b$observe(q$id, loss(q))
    }
    expect_in_tuning_space(b$history())
    expect_in_tuning_space(b$best())
    again <- unserialize(serialize(b, NULL))
    set.seed(2)
    first <- b$suggest()
    set.seed(2)
    expect_equal(again$suggest(), first)
    # What was suggested can be given back.
    copy <- b$copy()
    copy$add(inputs_of(b$history()), reward = seq_len(7))
    expect_equal(inputs_of(utils::tail(copy$history(), 7)), inputs_of(b$history()), tolerance = 1e-12, ignore_attr = TRUE)
    expect_output(print(b), "prune = ")
  }
})

test_that("the posterior equals the reference's on inputs coded by hand", {
  set.seed(3)
  space <- tuning_space()
  x <- sampled_inputs(space, 40)
  expect_in_tuning_space(x)
  y <- loss(x)
  b <- gp_bandit(space, kernel_of_tuning, 0.05, policy_mean(), mean = 0.3)
  b$add(x[1:25, ], reward = y[1:25])
  K <- reference_of_tuning(coded_by_hand(x))
  ref <- ref_posterior(K[1:25, 1:25], K[, 1:25], diag(K), y[1:25], 0.05, 0.3, 0.3)
  core <- b$posterior(x)
  expect_equal(core$mean, as.vector(ref$mean), tolerance = tol$engine)
  expect_equal(core$sd, as.vector(ref$sd), tolerance = tol$engine)
  expect_equal(predict(b, as.list(x[30, ])), core[30, ], tolerance = 1e-12, ignore_attr = TRUE)
  # Named columns in any order.
  expect_equal(b$posterior(x[30:31, c(6, 2, 1, 3, 5, 4)]), core[30:31, ], ignore_attr = TRUE)
})

# ---- the maximum of a score ------------------------------------------------------------

ucb_of <- function(b, x) {
  p <- b$posterior(x)
  p$mean + 2 * p$sd
}
best_ucb <- function(b) {
  before <- b$copy()
  q <- b$suggest()
  ucb_of(before, q[b$config$domain$names])
}

test_that("the maximum of the acquisition function over a mixed space equals brute force", {
  space <- tuning_space()
  for (seed in 1:3) {
    set.seed(seed)
    b <- gp_bandit(space, kernel_of_tuning, 0.01, policy_ucb(width_constant(2)))
    x <- sampled_inputs(space, 12)
    b$add(x, reward = loss(x))
    grid <- expand.grid(lr = exp(seq(log(1e-4), 0, length.out = 13)), depth = 1:12, rule = c("gini", "information"),
                        size = c("s", "m", "l"), prune = c(TRUE, FALSE), alpha = c(NA, seq(0, 2, length.out = 9)), stringsAsFactors = FALSE)
    grid <- grid[is.na(grid$alpha) != grid$prune, ]
    expect_gt(best_ucb(b), max(ucb_of(b, grid)) - 1e-6)
  }
})

test_that("local optimisation satisfies constraints and reaches maxima on their boundary", {
  skip_on_cran()
  cases <- list(line = ~ a + 2 * b <= 1, product = ~ a * b <= 0.1 & a >= 0.05, disc = function(x) (x$a - 0.5)^2 + (x$b - 0.5)^2 <= 0.09)
  grid <- expand.grid(a = seq(0, 1, 0.01), b = seq(0, 1, 0.01), k = c("u", "v"), stringsAsFactors = FALSE)
  holds <- list(line = grid$a + 2 * grid$b <= 1, product = grid$a * grid$b <= 0.1 & grid$a >= 0.05,
                disc = (grid$a - 0.5)^2 + (grid$b - 0.5)^2 <= 0.09)
  rising <- function(x) x$a + x$b + (x$k == "u") / 4
  for (name in names(cases)) {
    space <- search_space(a = param_real(0, 1), b = param_real(0, 1), k = param_factor(c("u", "v")), where = cases[[name]])
    kernel <- kernel_se(0.6, dims = 1:2) * kernel_categorical(0.5, dims = "k")
    b <- gp_bandit(space, kernel, 0.01, policy_ucb(width_constant(2)))
    set.seed(4)
    x <- sampled_inputs(space, 10)
    expect_true(all(match(do.call(paste, round(x[1:2], 2)), do.call(paste, round(grid[1:2], 2))) > 0))
    b$add(x, reward = rising(x))
    expect_gt(best_ucb(b), max(ucb_of(b, grid[holds[[name]], ])) - if (name == "disc") 2e-3 else 1e-5)
    # A problem's optimum is found under the constraint too.
    problem <- bandit_problem(space, rising)
    best <- max(rising(grid[holds[[name]], ]))
    expect_gt(problem$optimum, best - 1e-6)
    expect_lt(problem$optimum, best + 0.02)
  }
})

test_that("with many combinations of levels the maximum is found by local moves", {
  levels <- letters[1:4]
  space <- do.call(search_space, c(stats::setNames(rep(list(param_factor(levels)), 5), paste0("f", 1:5)), list(u = param_real(0, 1))))
  kernel <- kernel_se(0.3, dims = "u") * kernel_categorical(seq(0.5, 0.9, 0.1), dims = 1:5)
  value <- function(x) Reduce(`+`, lapply(1:5, function(j) (match(x[[paste0("f", j)]], levels) * j) %% 4)) / 5 - (x$u - 0.3)^2
  grid <- do.call(expand.grid, c(stats::setNames(rep(list(levels), 5), paste0("f", 1:5)), list(u = seq(0, 1, 0.05), stringsAsFactors = FALSE)))
  for (seed in 1:3) {
    set.seed(seed)
    x <- sampled_inputs(space, 40)
    b <- gp_bandit(space, kernel, 0.01, policy_ucb(width_constant(2)))
    b$add(x, reward = value(x))
    expect_gt(best_ucb(b), max(ucb_of(b, grid)) - 1e-6)
  }
  expect_equal(bandit_problem(space, value)$optimum, max(value(transform(grid, u = 0.3))), tolerance = 1e-9)
})

test_that("a space of integers and levels is searched exhaustively", {
  space <- search_space(n = param_integer(1, 30), m = param_integer(-3, 3), k = param_factor(c(16, 32, 64)),
                        z = param_integer(0, 4, when = ~ k > "2"), where = ~ n + m <= 20)
  grid <- expand.grid(n = 1:30, m = -3:3, k = c(16, 32, 64), z = c(NA, 0:4))
  grid <- grid[grid$n + grid$m <= 20 & is.na(grid$z) == (grid$k == 16), ]
  rules <- gpbandits:::search_rules(space)
  expect_identical(nrow(gpbandits:::search_candidates(rules)), nrow(grid))
  set.seed(5)
  b <- gp_bandit(space, gpbandits:::default_kernel(space), 0.01, policy_ucb(width_constant(2)))
  b$add(grid[sample(nrow(grid), 8), ], reward = rnorm(8))
  expect_equal(best_ucb(b), max(ucb_of(b, grid)), tolerance = 1e-9)
  expect_identical(b$suggest()$k %in% c(16, 32, 64), TRUE)
})

test_that("in draws and designs all levels are equally frequent, and constraints hold", {
  set.seed(6)
  space <- search_space(a = param_real(0, 1), k = param_factor(c("u", "v", "w")), n = param_integer(1, 4), l = param_logical(),
                        where = ~ a <= 0.5 | l)
  x <- sampled_inputs(space, 3000)
  expect_true(all(x$a <= 0.5 | x$l))
  shares <- function(column) stats::chisq.test(table(column))$p.value
  expect_gt(min(shares(x$k), shares(x$n)), 1e-4)
  design <- designed_inputs(space, 24)
  expect_true(all(design$a <= 0.5 | design$l))
  free <- search_space(k = param_factor(c("u", "v", "w")), l = param_logical())
  expect_identical(as.vector(table(designed_inputs(free, 24)$k)), rep(8L, 3))
  b <- gp_bandit(space, kernel_categorical(dims = "k"), 0.1, policy_uniform())
  q <- b$suggest(2000)
  expect_true(all(q$a <= 0.5 | q$l))
  expect_gt(shares(q$k), 1e-4)
})

# ---- conditions ---------------------------------------------------------------------------

test_that("conditions may use conditional inputs, integers and variables", {
  good <- c("rbf", "poly")
  space <- search_space(kernel = param_factor(c("linear", good)), degree = param_integer(2, 5, when = ~ kernel == "poly"),
                        bias = param_real(0, 1, when = ~ degree >= 3), gamma = param_real(1e-3, 1, log = TRUE, when = ~ kernel %in% good))
  set.seed(7)
  x <- sampled_inputs(space, 400)
  expect_identical(!is.na(x$degree), x$kernel == "poly")
  expect_identical(!is.na(x$bias), !is.na(x$degree) & x$degree >= 3)
  expect_identical(!is.na(x$gamma), x$kernel != "linear")
  expect_true(any(!is.na(x$bias)) && any(is.na(x$bias) & x$kernel == "poly"))
  expect_identical(space$params$gamma$when, "kernel %in% c(\"rbf\", \"poly\")")
  ordered <- search_space(s = param_factor(c("small", "medium", "large"), ordered = TRUE), v = param_real(0, 1, when = ~ s >= "medium"))
  x <- sampled_inputs(ordered, 50)
  expect_identical(is.na(x$v), x$s == "small")
})

test_that("invalid spaces are errors", {
  blamed <- function(expr) tryCatch({
    expr
    "nothing"
  }, gpbandits_error = function(e) e$argument)
  a <- param_real(0, 1)
  expect_identical(blamed(search_space()), "...")
  expect_identical(blamed(search_space(a)), "...")
  expect_identical(blamed(search_space(a = 3)), "a")
  expect_identical(blamed(search_space(a = a, b = param_real(0, 1, when = ~ c > 0))), "b$when")
  expect_identical(blamed(search_space(a = a, b = param_real(0, 1, when = ~ system("true") == a))), "b$when")
  expect_identical(blamed(search_space(a = a, b = param_real(0, 1, when = ~ b > 0))), "b$when")
  expect_identical(blamed(search_space(a = param_real(0, 1, when = ~ b > 0), b = param_real(0, 1, when = ~ a > 0))), "when")
  expect_identical(blamed(search_space(a = a, where = ~ a > 2)), "where")
  expect_identical(blamed(search_space(a = a, where = ~ a + 1)), "where")
  expect_identical(blamed(search_space(a = a, where = a ~ 1)), "where")
  expect_identical(blamed(search_space(a = a, where = function(x) "yes")), "where")
  expect_identical(blamed(search_space(a = a, a.active = a, b = a)), "nothing")
  expect_identical(blamed(search_space(a = param_real(0, 1, when = ~ b > 0), a.active = a, b = a)), "...")
  for (bad in list(c(1, 0), c(0, NA), c(0, Inf), c("a", "b"))) expect_true(blamed(param_real(bad[1], bad[2])) %in% c("lower", "upper"))
  expect_identical(blamed(param_real(0, 1, log = TRUE)), "lower")
  expect_identical(blamed(param_integer(0.5, 2)), "lower")
  expect_identical(blamed(param_integer(0, 1e10)), "upper")
  for (bad in list(character(), c("a", "a"), NA_character_, NULL, list("a"), mean)) expect_identical(blamed(param_factor(bad)), "levels")
  expect_identical(blamed(param_logical(when = TRUE)), "when")
})

test_that("points outside the space are errors that name them and change nothing", {
  space <- tuning_space(where = ~ depth + 10 * lr <= 12)
  b <- gp_bandit(space, kernel_of_tuning, 0.01, policy_mean())
  good <- list(lr = 0.1, depth = 3, rule = "gini", size = "m", prune = TRUE, alpha = 1)
  bad <- list(lr = list(2, "alpha = 1"), lr = list("a", "numbers in lr"), lr = list(NA, "a value of lr"), depth = list(2.5, "integers in depth"),
              depth = list(13, "depth = 13"), rule = list("x", "rule = \"x\""), rule = list(1, "rule = 1"), size = list("xl", "size"),
              prune = list(1, "TRUE or FALSE in prune"), prune = list(FALSE, "NA in alpha unless prune"), alpha = list(NA, "a value of alpha where prune"),
              alpha = list(3, "alpha = 3"), depth = list(12, "depth \\+ 10 \\* lr <= 12"))
  bad[[1]][[2]] <- "lr = 2"
  for (k in seq_along(bad)) {
    point <- good
    point[[names(bad)[k]]] <- bad[[k]][[1]]
    expect_error(gp_bandit(space, kernel_of_tuning, 0.01, policy_mean(), initial_design = as.data.frame(point)), bad[[k]][[2]],
                 class = "gpbandits_error")
    if (k != 13) expect_error(b$add(point, reward = 1), bad[[k]][[2]], class = "gpbandits_error")
  }
  expect_error(b$add(good[-1], reward = 1), "`x`.*lr", class = "gpbandits_error")
  expect_error(b$add(c(good, list(extra = 1)), reward = 1), "`x`", class = "gpbandits_error")
  expect_error(b$add(arm = 1, reward = 1), "`arm`", class = "gpbandits_error")
  expect_error(b$posterior(NULL), "`x`", class = "gpbandits_error")
  expect_identical(nrow(b$history()), 0L)
  b$add(good, reward = 1)
  expect_identical(b$history()$depth, 3L)
})

test_that("evaluations beyond bounds or against `where` are observed, and never suggested or recommended", {
  space <- search_space(a = c(0, 1), b = c(0, 1), k = c("u", "v"), where = ~ a + b <= 1)
  rows <- data.frame(a = c(0.2, 0.9, 0.3, 1.5), b = c(0.2, 0.9, 0.3, 0), k = "u")
  reward <- c(1, 50, 2, 40)
  outside <- c(FALSE, TRUE, FALSE, TRUE)
  told <- "Rows 2, 4 of `data` are outside the search space"
  set.seed(1)
  expect_message(b <- auto_bandit(space, cbind(rows, reward = reward), n_initial = 0), told)
  added <- auto_bandit(space, n_initial = 0)
  expect_message(added$add(rows, reward = reward), "Rows 2, 4 of `x` are outside")
  for (one in list(b, added)) {
    expect_identical(one$history()$reward, reward)
    expect_identical(one$history()$a, rows$a)
    points <- gpbandits:::logged_points(as.environment(one), 1:4)
    expect_identical(gpbandits:::lies_outside(one$config$domain, points), outside)
    expect_lte(with(one$best(), a + b), 1 + 1e-8)
    q <- one$suggest(4)
    expect_true(all(q$a + q$b <= 1 + 1e-8))
  }
  # Without noise the recommended point is the best observed one inside.
  exact <- suppressMessages(auto_bandit(space, cbind(rows, reward = reward), n_initial = 0, model = gp_model(noise = "none")))
  expect_equal(unlist(exact$best()[c("a", "b")], use.names = FALSE), c(0.3, 0.3))
  # Settings that were rounded beyond a constraint.
  b <- auto_bandit(search_space(a = c(0, 1), b = c(0, 1), where = ~ a + b <= 1), initial_design = data.frame(a = 0.666, b = 0.333))
  b$suggest()
  expect_message(b$observe(data.frame(id = 1, a = 0.67, b = 0.34, reward = 3)), "outside the search space")
  expect_identical(b$history()$status, c("withdrawn", "observed"))
  copy <- from_json(as_json(b))
  expect_identical(copy$suggest(), b$suggest())
})

# ---- everything else works on it -------------------------------------------------------------

test_that("maximize_bandit() accepts a space, a list with levels, and given points; `par` has the types", {
  skip_on_cran()
  set.seed(8)
  space <- tuning_space(where = ~ depth <= 10)
  known <- data.frame(lr = 0.1, depth = 3, rule = "gini", size = "l", prune = FALSE, alpha = NA, reward = -5)
  seen <- list()
  found <- maximize_bandit(function(p) {
    seen[[length(seen) + 1]] <<- p
    loss(p)
  }, space, evaluations = 20, data = known)
  for (p in seen) {
    expect_named(p, space$names)
    expect_in_tuning_space(as.data.frame(p))
  }
  expect_in_tuning_space(as.data.frame(found$par))
  expect_in_tuning_space(found$history)
  expect_identical(found$history$status, c("given", rep("observed", 20)))
  expect_gt(loss(found$par), max(vapply(seen[1:10], loss, 0)))
  expect_match(names(fitted_values(found$bandit$config$kernel)), "matern|categorical")
  expect_output(print(found), "recommended.*rule = ")
  expect_identical(input_importance(found, 64)$input, space$names)
  set.seed(1)
  listed <- maximize_bandit(function(p) p$u + (p$k == "b"), list(u = c(0, 1), k = c("a", "b"), l = c(TRUE, FALSE)), evaluations = 12)
  expect_identical(listed$par$k, "b")
  expect_type(listed$par$l, "logical")
  expect_error(maximize_bandit(function(p) 1, space, 3, data = transform(known, size = "xl")), "`data`", class = "gpbandits_error")
})

test_that("contexts, delays, constraints, refits, changes and plots work on a space", {
  space <- search_space(u = param_real(0, 1), k = param_factor(c("a", "b")), v = param_real(0, 1, when = ~ k == "b"))
  f <- function(x) sin(3 * x$u + x$z) + ifelse(x$k == "b", x$v, 0.2)
  problem <- bandit_problem(space, list(f, function(x) -f(x)), noise = 0.05, delay = 2, change_points = 15,
                            constraints = function(x) x$u - 0.8, contexts = cbind(z = c(0, 1)),
                            optimum = rep(list(function(z) rep(2, nrow(z))), 2))
  kernel <- kernel_se(0.5, dims = c("u", "v", "z")) * kernel_categorical(0.5, dims = c("k", "v.active"))
  for (contexts in list(cbind(z = c(0, 1)), "z")) {
    set.seed(9)
    b <- gp_bandit(space, kernel, 0.01, policy_ucb(width_constant(2)), pending = pending_hallucinate(), contexts = contexts,
                   changes = change_oracle(window = 12), constraints = constraints_noiseless(1, epoch = 10), refit = refit_every(10, mean = "fit"))
    run <- run_bandit(b, problem, 25)
    h <- as.data.frame(run)
    expect_identical(is.na(h$v), h$k == "a")
    expect_equal(h$f, ifelse(1:25 > 15, -f(h), f(h)))
    expect_length(b$refits, 2)
    pdf(NULL)
    expect_silent(plot(b, truth = f, context = 1, type = "arms"))
    slices <- plot(b, context = 1)
    expect_identical(unique(slices$input), space$names)
    expect_identical(slices$label[slices$input == "k"], c("a", "b"))
    at <- b$posterior(data.frame(u = b$best(1)$u, k = "a", v = NA), context = 1)
    expect_equal(slices$mean[slices$input == "k"][1], at$mean)
    dev.off()
  }
})

test_that("journals and stores keep a space as data and continue with it", {
  space <- tuning_space(where = ~ depth + lr <= 10)
  file <- tempfile()
  set.seed(10)
  b <- gp_bandit(space, kernel_of_tuning, 0.01, policy_ucb(width_constant(2)), pending = pending_hallucinate(), journal = file)
  b$observe(b$suggest(3)$id, 1:3)
  again <- open_bandit(file)
  expect_equal(again$history(), b$history())
  expect_equal(again$copy()$suggest(), b$copy()$suggest())
  config <- gp_bandit(space, kernel_of_tuning, 0.01, policy_mean())$config
  skip_if_not_installed("jsonlite")
  text <- gpbandits:::settings_text(config, trust = FALSE)
  expect_identical(gpbandits:::settings_from_text(text, FALSE, "here"), config)
  forged <- gsub("depth \\+ lr <= 10", "system('true') == 0", text)
  expect_error(gpbandits:::settings_from_text(forged, FALSE, "here"), "system", class = "gpbandits_error")
  with_function <- tuning_space(where = function(x) x$depth < 10)
  config$domain <- with_function
  expect_error(gpbandits:::settings_text(config, trust = FALSE), "trust", class = "gpbandits_error")
})

test_that("a refit estimates correlations with the other parameters, from the default kernel", {
  set.seed(11)
  space <- search_space(u = param_real(0, 1), k = param_factor(c("a", "b", "c")), idle = param_factor(c("x", "y")))
  value <- function(x) sin(6 * x$u) + 2 * match(x$k, c("a", "c", "b"))
  b <- gp_bandit(space, gpbandits:::default_kernel(space), 0.01, policy_uniform(), refit = refit_every(60, mean = "fit"))
  q <- b$suggest(60)
  b$observe(q$id, value(q) + rnorm(60, sd = 0.05))
  b$suggest()
  fitted <- fitted_values(config_now(b)$kernel)
  distance <- 1 - fitted[c("2.categorical.correlation1", "2.categorical.correlation2")]
  expect_lt(distance[[2]], distance[[1]] / 5)
})

test_that("points are recognised after rounding to fifteen digits, also at the bounds", {
  space <- search_space(r = param_real(-1 / 3, 2 / 3), l = param_real(1e-7 / 3, 1 / 7, log = TRUE), n = param_integer(1, 4),
                        k = param_factor(c(1e5, 2e5)), flag = param_logical(), e = param_real(1 / 9, 1 / 3, when = ~ flag))
  corners <- data.frame(r = c(-1 / 3, 2 / 3, 0.1), l = c(1e-7 / 3, 1 / 7, 1e-3), n = c(1L, 4L, 2L), k = c(1e5, 2e5, 1e5),
                        flag = c(TRUE, TRUE, FALSE), e = c(1 / 9, 1 / 3, NA))
  file <- tempfile(fileext = ".csv")
  write.csv(corners, file, row.names = FALSE)
  back <- read.csv(file)
  # What makes it hard: a bound that comes back larger, and integers where there were others.
  expect_gt(back$r[2], 2 / 3)
  back$k <- as.integer(back$k)
  bandit <- auto_bandit(space, n_initial = 0)
  bandit$add(back, reward = 1:3)
  seen <- bandit$history()
  expect_identical(seen$r[2], 2 / 3)
  expect_equal(seen[c("r", "l", "n", "k", "flag", "e")], corners, tolerance = 1e-14, ignore_attr = TRUE)
  expect_identical(seen$k, corners$k)
  box <- auto_bandit(list(r = c(-1 / 3, 2 / 3)), n_initial = 0)
  box$add(back["r"], reward = 1:3)
  expect_identical(box$history()$r[2], 2 / 3)
  # Points outside by more than that are recorded as they are.
  for (off in c(-1 / 3 - 1e-12, 2 / 3 + 1e-12)) {
    bandit$add(replace(corners[1, ], "r", off), reward = 1)
    box$add(data.frame(r = off), reward = 1)
    expect_identical(utils::tail(bandit$history()$r, 1), off)
    expect_identical(utils::tail(box$history()$r, 1), off)
  }
  expect_error(bandit$add(replace(corners[1, ], "r", Inf), reward = 1), "in r|r = ", class = "gpbandits_error")
  expect_error(box$add(data.frame(r = Inf), reward = 1), class = "gpbandits_error")
})

test_that("levels that are numbers are numbers in conditions", {
  space <- search_space(n = param_factor(c(100, 5, 20)), o = param_factor(c(3, 1, 10), ordered = TRUE),
                        big = param_logical(when = ~ n > 10), three = param_logical(when = ~ o %in% c(3L, 10L)),
                        where = ~ o + n <= 103)
  points <- expand.grid(n = c(100, 5, 20), o = c(3, 1, 10))
  points$big <- ifelse(points$n > 10, TRUE, NA)
  points$three <- ifelse(points$o != 1, FALSE, NA)
  allowed <- points$o + points$n <= 103
  bandit <- auto_bandit(space, n_initial = 0)
  bandit$add(points[allowed, ], reward = seq_len(sum(allowed)))
  expect_message(bandit$add(points[!allowed, ][1, ], reward = 1), "o \\+ n <= 103")
  expect_error(bandit$add(data.frame(n = 5, o = 3, big = TRUE, three = TRUE), reward = 1), "big", class = "gpbandits_error")
})

test_that("comparisons with a level that an input does not have are errors", {
  refused <- function(...) {
    expect_error(search_space(rule = param_factor(c("gini", "information")), size = param_factor(c("s", "m", "l"), ordered = TRUE),
                              n = param_factor(c(1, 2)), flag = param_logical(), x = param_real(0, 1), ...),
                 "comparison with", class = "gpbandits_error")
  }
  for (when in list(~ rule == "ginni", ~ "ginni" != rule, ~ rule %in% c("gini", "infomation"), ~ size < "medium", ~ rule < "gini",
                    ~ n == 3, ~ flag == "yes", ~ x > "0.5", ~ x > 0.5 & !(rule == 1))) {
    refused(y = param_real(0, 1, when = when))
    refused(where = when)
  }
  # And nothing else is.
  fine <- search_space(rule = param_factor(c("gini", "information")), size = param_factor(c("s", "m", "l"), ordered = TRUE),
                       n = param_factor(c(1, 2)), flag = param_logical(), x = param_real(0, 1),
                       y = param_real(0, 1, when = ~ rule == "gini" & size >= "m" & n < 1.5 & flag == TRUE & x > 1 / 2))
  expect_s3_class(fine, "search_domain")
})

test_that("equalities of reals are errors that state the alternative", {
  spaces <- function(where) search_space(a = c(0, 1), b = c(0, 1), n = param_integer(0, 5), where = where)
  refused <- function(where, text) expect_error(spaces(where), text, class = "gpbandits_error")
  # (Linear equalities of reals alone are solved.)
  expect_s3_class(spaces(~ a + b == 1), "search_domain")
  expect_s3_class(spaces(~ a + 2 * b == 1), "search_domain")
  refused(~ a + b^2 == 1, "`where` .*abs\\(a \\+ b\\^2 - \\(1\\)\\) <= 0.01.* without one of a, b")
  refused(~ a + 2 * b == 1 & a - b == 0, "margin")
  refused(~ n <= 2 & 2 * a == n, "margin")
  refused(~ n == 1 | a == 0.5, "margin")
  refused(~ a %in% c(0.25, 0.5), "param_factor")
  refused(~ !(a != b), "margin")
  expect_error(search_space(a = c(0, 1), n = param_integer(0, 5, when = ~ a == 0)), "`n\\$when` .*margin", class = "gpbandits_error")
  # What counts, and what leaves nearly everything, is none of them.
  for (where in list(~ n == 3, ~ a != 0.5 & !(b == a), ~ round(4 * a) == 2, ~ abs(a + b - 1) <= 0.05, ~ (a < b) == (n > 2))) {
    expect_s3_class(spaces(where), "search_domain")
  }
})

test_that("a function that is an equality of reals is an error that states the alternative", {
  unit <- function(...) search_space(a = param_real(0, 1), b = param_real(0, 1), ...)
  bandit <- function(space) gp_bandit(space, kernel_se(0.3), 0.1, policy_ei())
  expect_error(bandit(unit(where = function(p) p$a + p$b == 1)), "corners only.*param_shares",
               class = "gpbandits_error")
  expect_error(bandit(unit(where = function(p) p$a + p$b == 0.3)), "no point.*one input less",
               class = "gpbandits_error")
  # A thin band, a small corner, an equality of integers are not.
  for (where in list(function(p) abs(p$a + p$b - 1) < 0.01, function(p) p$a + p$b < 0.05)) {
    expect_identical(nrow(bandit(unit(where = where))$suggest()), 1L)
  }
  whole <- search_space(a = param_integer(0, 5), b = param_integer(0, 5), c = param_real(0, 1),
                        where = function(p) p$a + p$b == 5)
  expect_identical(nrow(bandit(whole)$suggest()), 1L)
})

test_that("conditions are shown with the numbers that were given", {
  space <- search_space(a = c(0, 1), b = param_real(0, 1, when = ~ a >= 0.05), where = list(~ a + b <= 0.35, ~ a <= 0.9))
  expect_output(print(space), "if a >= 0.05; where a + b <= 0.35, a <= 0.9", fixed = TRUE)
  b <- gp_bandit(space, kernel_se(1), 0.01, policy_uniform())
  expect_message(b$add(x = data.frame(a = 0.3, b = 0.1), reward = 1), "a \\+ b <= 0.35")
})
