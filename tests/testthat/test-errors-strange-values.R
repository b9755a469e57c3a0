# Objects with a false class, and strings that are no text: errors that name the argument, in every function
# (make fuzz gives a long list of them to every argument of every export).

refused <- function(code) expect_error(code, class = "gpbandits_error")

test_that("strings are printed whatever their bytes are, and are valid names only if they are text", {
  bytes <- "\xff\xfe"
  Encoding(bytes) <- "bytes"
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  for (bad in c(bytes, "\xff\xfe", strrep("x", 1e5))) {
    refused(kernel_se(bad))
    refused(benchmark_function(bad))
    refused(pending_censor(1, unit = bad))
    error <- refused(width_constant(bad))
    expect_lt(nchar(conditionMessage(error)), 300)
  }
  for (bad in c(bytes, "\xff\xfe")) {
    refused(box_domain(0, 1, names = bad))
    refused(search_space(a = c(bad, "b")))
    refused(policy_function(mean, bad))
  }
  expect_identical(box_domain(0, 1, names = latin)$names, latin)
})

test_that("invalid names, labels, levels and paths are errors that can be printed", {
  # (A function that uses one of them as a path would write there: into a folder that is deleted.)
  folder <- tempfile("doors")
  dir.create(folder)
  old <- setwd(folder)
  on.exit({
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  bytes <- "\xff\xfe"
  Encoding(bytes) <- "bytes"
  x <- (0:4) / 4
  make <- function(...) gp_ucb(..., kernel = kernel_se(0.25), noise_var = 0.01)
  b <- make(data.frame(x = x, n = letters[1:5]))
  b$suggest()
  space <- gp_ei(search_space(a = c(0, 1), b = c("u", "v")), kernel_se(0.3, dims = "a"), 0.1)
  found <- maximize_bandit(function(p) p[["u"]], list(u = c(0, 1)), evaluations = 3, n_initial = 3)
  named <- function(x, name) stats::setNames(x, name)
  row_named <- function(name) matrix(x, dimnames = list(c(name, letters[2:5]), "u"))
  # Not as names, labels and levels, which may have no control characters either.
  names_of <- list(
    label = function(bad) make(data.frame(x = x, n = c(bad, letters[2:5]))),
    column = function(bad) make(named(data.frame(x, letters[1:5]), c("u", bad))), input = function(bad) make(named(list(c(0, 1)), bad)),
    side = function(bad) box_domain(c(a = 0), named(1, bad)), context = function(bad) make(x, contexts = bad),
    contexts = function(bad) make(x, contexts = matrix(1:2, dimnames = list(NULL, bad))), level = function(bad) param_factor(c(bad, "b")),
    condition = function(bad) search_space(a = c("u", "v"), b = param_real(0, 1, when = bad)), dims = function(bad) kernel_se(1, dims = bad),
    given = function(bad) b$add(named(data.frame(0.25), bad), reward = 1), asked = function(bad) b$posterior(named(data.frame(0.25), bad)),
    arms = function(bad) b$suggest(arms = bad), arm = function(bad) b$add(arm = bad, reward = 1),
    new_arm = function(bad) b$add_arms(data.frame(x = 0.3, n = bad)), read = function(bad) space$posterior(data.frame(a = 0.5, b = bad)),
    reported = function(bad) b$observe(data.frame(id = 1, reward = 1, n = bad)), line = function(bad) compare_bandits(named(list(function(p) b), bad), 1, 1, 1, 1),
    picture = function(bad) plot(found, inputs = bad), points = function(bad) predict(found, named(data.frame(0.5), bad)),
    periods = function(bad) bandit_problem(x, function(z) z[, 1], contexts = matrix(1:2, dimnames = list(NULL, bad))),
    list = function(bad) search_space(named(list(c(0, 1)), bad)), safety = function(bad) safe_opt(x, kernel_se(1), 0.1, 0, seed = 1, safety = bad)
  )
  rows <- list(row = function(bad) make(row_named(bad)), vector = function(bad) make(named(x, c(bad, letters[2:5]))))
  # Nor anywhere else, where a line may be broken.
  others <- list(
    journal = function(bad) make(x, journal = bad), open = function(bad) open_bandit(bad), json = function(bad) from_json(bad),
    reason = function(bad) b$fail(1, reason = bad), id = function(bad) b$observe(bad, 1), title = function(bad) plot(b, main = bad)
  )
  doors <- c(names_of, rows, others)
  for (bad in list(bytes, "\xff\xfe", NA_character_, "a\nb")) for (door in names(doors)) {
    if (identical(bad, "a\nb") && door %in% names(others) || is.na(bad) && door %in% c(names(rows), "reported", "condition")) next
    error <- tryCatch(doors[[door]](bad), error = identity)
    expect_s3_class(error, "gpbandits_error")
    if (!inherits(error, "gpbandits_error")) fail(sprintf("%s (%s): %s", door, deparse(bad), conditionMessage(error)))
    expect_true(validUTF8(conditionMessage(error)) && !grepl("[[:cntrl:]]", conditionMessage(error)), info = door)
  }
  expect_identical(b$history()$status, "pending")
  expect_identical(list.files(all.files = TRUE, no.. = TRUE), character())
  # What an objective says in bytes is kept, as text.
  said <- maximize_bandit(function(p) if (p[["u"]] > 0.5) stop(simpleError("\xff\xfe")) else 1, list(u = c(0, 1)),
                          evaluations = 4, n_initial = 4)
  expect_match(said$history$status, "^(observed|failed)$")
  expect_true(any(said$history$status != "observed"))
})

test_that("numbers and data.frames of a broken or foreign class are errors", {
  for (bad in list(structure(1, class = "data.frame"), structure("a", class = "integer64"), structure(1, class = "units"),
                   structure(99L, levels = "a", class = "factor"), as.Date("2026-01-01"))) {
    refused(policy_pi(bad))
    refused(gp_ucb(1:3, kernel_se(1), bad))
    refused(gp_ucb(bad, kernel_se(1), 0.1))
  }
  refused(finite_domain(structure(list(1:3, 1), class = "data.frame", row.names = 1:3)))
  refused(gp_regression(structure(list(x = 1), class = "data.frame"), 1, kernel_se(1), 0.1))
  # What is a number by another name is taken.
  expect_identical(policy_pi(I(0.1))$xi, 0.1)
  expect_identical(finite_domain(structure(1:3, dim = 3L))$x, finite_domain(1:3)$x)
})

test_that("objects that only claim to be dates or times are errors wherever data are read", {
  b <- auto_bandit(list(x = c(0, 1)), contexts = list(z = c(0, 1)))
  b$suggest(context = list(z = 0))
  column <- function(...) structure(list(...), row.names = 1L, class = "data.frame")
  for (bad in list(structure(list(1), class = "POSIXct"), structure(list(1), class = "Date"), structure("a", class = "Date"),
                   structure(list(sec = 1), class = c("POSIXlt", "POSIXt")), structure(list(1), class = "difftime"))) {
    refused(product_domain(rows = bad, box = list(x = c(0, 1))))
    refused(finite_domain(column(a = bad)))
    refused(search_space(x = bad))
    refused(param_factor(bad))
    for (given in list(column(x = bad, reward = 1), column(x = 0.2, reward = bad), column(x = 0.2, reward = 1, day = bad))) {
      refused(auto_bandit(list(x = c(0, 1)), given))
    }
    refused(b$suggest(context = list(z = bad)))
    refused(b$observe(1, bad))
    refused(b$add(list(x = bad), reward = 1, context = list(z = 0)))
  }
  expect_identical(b$history()$status, "pending")
})

test_that("objects that only claim to be a result, a problem or a bandit are errors in its methods", {
  bodies <- list(list(), list(kind = "ts", type = "sum", config = 1, data = 1, bandit = 1, rounds = 1), 1, "a", function() 1)
  for (class in c("bandit_run", "bandit_comparison", "bandit_maximum", "bandit_problem", "bandit_test_function", "bandit_check",
                  "bandit_store", "gp_regression", "GPBandit", "bandit_kernel", "bandit_width", "bandit_policy")) {
    for (body in bodies) {
      forged <- structure(body, class = class)
      for (generic in c("print", "summary", "plot", "predict", "as.data.frame", "coef", "fitted", "residuals", "nobs", "logLik",
                        "simulate", "update")) {
        method <- utils::getS3method(generic, class, optional = TRUE)
        if (is.null(method) || !identical(topenv(environment(method)), asNamespace("gpbandits"))) next
        refused(method(forged))
      }
    }
  }
  for (domain in c("finite", "box", "product", "search")) {
    forged <- structure(list(type = domain, names = "x1", x = 1, lower = 1, upper = 0), class = c(paste0(domain, "_domain"), "bandit_domain"))
    refused(gp_ucb(forged, kernel_se(1), 0.1))
    refused(information_gain(kernel_se(1), forged, 0.1, rounds = 3))
    refused(print(forged))
  }
})

test_that("objects that only claim a class of another package are errors", {
  for (body in list(list(), new.env(), 1, "a", list(ids = 1))) for (class in c("ParamSet", "parameters")) {
    if (class == "ParamSet") skip_if_not_installed("paradox")
    refused(search_space(structure(body, class = class)))
  }
})

test_that("numbers with a false class, and counts that are too large, are errors", {
  broken <- structure(1, class = "data.frame")
  refused(bandit_problem(safe_x, safe_x, change_points = broken))
  refused(kernel_function(function(X, Y) 1, dims = broken))
  refused(auto_bandit(safe_x, failures = structure("avoid", class = "integer64")))
  refused(box_domain(0, 1, log = structure(TRUE, class = "units")))
  refused(gp_ucb(safe_x, safe_kernel, 0.1, contexts = broken))
  refused(search_space(a = structure(c(0, 1), class = "integer64")))
  expect_match(conditionMessage(refused(constraints_noiseless(count = 1e6, epoch = 2))), "<= 1000")
  expect_match(conditionMessage(refused(plan_experiments(safe_x, safe_kernel, 0.1, 1, B = 1, R = 1, most = 1e9))), "<= 1e\\+06")
  refused(plan_experiments(safe_x, safe_kernel, 0.1, 1, B = 1, R = NULL))
  expect_identical(plan_experiments(safe_x, safe_kernel, array(0.1, c(1, 1, 1)), 2, B = 1, R = 0.1),
                   plan_experiments(safe_x, safe_kernel, 0.1, 2, B = 1, R = 0.1))
  # What make fuzz found by methods: a function that calls itself a table, a time or a rule.
  b <- gp_ucb(safe_x, safe_kernel, 0.1, pending = pending_censor(3, unit = "time"))
  for (bad in list(function() 1, emptyenv(), structure(function() 1, class = "data.frame"), structure("a", class = "data.frame"), structure("a", class = "Date"),
                   structure(function() 1, class = "bandit_stop"), structure(list(a = 1), class = "POSIXlt"))) {
    refused(b$add_arms(bad))
    refused(b$observe(bad, 1))
    refused(b$suggest(time = bad))
    refused(b$add(arm = 1, reward = 1, noise_var = bad))
    refused(norm_check(bad))
  }
  refused(run_bandit(b, bandit_problem(safe_x, safe_x), 2, stop_when = structure(function() 1, class = "bandit_stop")))
  refused(norm_check(structure(1, class = "GPBandit")))
})

test_that("false factors, environments as rewards, and functions without arguments are errors", {
  # What make fuzz found by parts, outcomes and labels.
  malformed <- structure(1L, class = "factor")
  refused(safe_opt(safe_x, safe_kernel, 0.1, -2, seed = malformed, by = "data", lipschitz = 9, noise_bound = 0.1))
  refused(gp_ucb(data.frame(x = 1:2, n = structure(1:2, class = "factor")), safe_kernel, 0.1))
  b <- gp_ucb(data.frame(x = 1:2, n = factor(c("u", "v"))), safe_kernel, 0.1)
  refused(b$suggest(arms = structure(9L, levels = "u", class = "factor")))
  expect_identical(b$suggest(arms = factor("v"))$arm, 2L)
  several <- gp_bandit(safe_x, safe_kernel, 0.1, policy_ei(), outcomes = list(yield = to_maximize(), cost = at_most(1)))
  several$observe(several$suggest()$id, c(yield = 1, cost = 0))
  for (bad in list(emptyenv(), quote(x), mean, new.env())) {
    refused(several$observe(1, bad))
    refused(several$amend(1, bad))
  }
  balanced <- gp_ucb_lengthscale(safe_x, safe_kernel, 0.1, B = 1, R = 0.1, rate = function() 1, method = "balanced")
  expect_match(conditionMessage(refused(balanced$suggest())), "`rate`")
  yes <- gp_bandit(safe_x, safe_kernel, policy = policy_ts(1), rewards = rewards_binary())
  yes$suggest()
  for (bad in list(mean, emptyenv(), quote(x), malformed, 1:2)) refused(yes$observe(1, 1, size = bad))
  refused(yes$suggest(arms = malformed))
  duel <- gp_bandit(safe_x, safe_kernel, policy = policy_duel(1), rewards = rewards_preferences())
  id <- duel$suggest(2)$id
  for (bad in list(3, list(1), mean, "a", emptyenv(), list(NA, 1))) {
    expect_match(conditionMessage(refused(duel$observe(id, prefer = bad))), "one of the two ids 1 and 2")
  }
  expect_match(conditionMessage(refused(input_importance(1:3))), "`x`")
  refused(search_space(a = c(0, 1), b = structure(list(), class = "bandit_param")))
  refused(param_integer(1, 9, when = structure("a", class = "integer64")))
  problem <- bandit_problem(safe_x, safe_x)
  for (field in c("reward_values", "optimum")) for (bad in list(c(problem[[field]], problem[[field]]), "a", mean, matrix(NA_real_, 1, 1))) {
    changed <- problem
    changed[[field]] <- bad
    refused(run_bandit(gp_ucb(safe_x, safe_kernel, 0.1), changed, 2))
    refused(compare_bandits(list(a = function(p) gp_ucb(safe_x, safe_kernel, 0.1)), changed, 2, 1, 1))
  }
})

test_that("objects that only claim to be tables, times or series are errors that name the argument", {
  only_called <- function(body, class) structure(body, class = class)
  x <- (0:4) / 4
  two <- gp_bandit(x, kernel_se(0.25), 0.1, policy_ei(), outcomes = list(yield = to_maximize(), cost = at_most(0.5)))
  two$observe(two$suggest()$id, c(yield = 1, cost = 1))
  box <- gp_ei(list(u = c(0, 1), v = c(0, 1)), kernel_se(0.25), 0.1)
  query <- box$suggest()$id
  tables <- list(only_called(new.env(), "data.frame"), only_called(list(1:3, 1), "data.frame"))
  for (table in tables) {
    refused(two$amend(1, table))
    refused(maximize_bandit(function(p) 1, list(u = c(0, 1)), evaluations = 2, data = table))
    refused(param_factor(c("a", "b"), features = table))
    refused(evaluate_policy(table, gp_ts(x, kernel_se(0.25), 0.1, width = 1)))
    refused(auto_bandit(list(u = c(0, 1)), transfer = list(old = table)))
  }
  for (times in list(only_called(1, "POSIXlt"), only_called(list(1), "POSIXlt"), only_called(mean, "POSIXlt"))) {
    refused(box$posterior(times))
    refused(box$suggest(fixed = times))
    refused(box_domain(0, 1, names = times))
    refused(gp_ucb(x, kernel_se(0.25), 0.1, mean = times))
    refused(gp_fit(x, x, kernel_se(0.25), own_noise = times))
    refused(gp_ei(search_space(a = c(0, 1), b = c("u", "v")), kernel_se(0.3, dims = "a"), 0.1)$posterior(times))
  }
  for (class in c("POSIXct", "Date")) refused(box$suggest(time = only_called(new.env(), class)))
  refused(box$observe(query, only_called(1, "ts")))
  refused(kernel_se(0.3, dims = only_called(1, "ts")))
  expect_identical(kernel_se(stats::ts(0.3)), kernel_se(0.3))
  expect_identical(box$history()$status, "pending")
})

test_that("any condition of an objective is a failed evaluation; errors of other functions become gpbandits_errors", {
  signals <- function(body) function(...) stop(structure(body, class = c("own", "error", "condition")))
  bodies <- list(list(message = 1, call = NULL), list(), 1, list(message = c("a", "b")))
  for (signal in lapply(bodies, signals)) {
    found <- maximize_bandit(signal, list(u = c(0, 1)), evaluations = 2, n_initial = 2)
    expect_match(found$history$reason, "^error: ")
    refused(gp_ucb(1:3, kernel_function(signal), 0.1))
  }
})

test_that("a time limit of the caller ends a search in this process without a failed evaluation", {
  # (R's compiler swallows the limit that strikes while it works.)
  jit <- compiler::enableJIT(0)
  on.exit({
    setTimeLimit()
    compiler::enableJIT(jit)
  })
  # (Any finalizer swallows a limit, too: so it is set in the middle of the work, which ends normally.)
  long <- function(p) {
    end <- sum(proc.time()[1:2]) + 8
    while (sum(proc.time()[1:2]) < end) sqrt(2)
  }
  limited <- function(p) {
    gc()
    setTimeLimit(cpu = 0.2, transient = TRUE)
    long(p)
  }
  late <- tryCatch(maximize_bandit(limited, list(u = c(0, 1)), evaluations = 2, n_initial = 2), error = identity)
  expect_match(conditionMessage(late), gettext("reached CPU time limit", domain = "R"), fixed = TRUE)
  # With a separate limit each evaluation fails, with that reason.
  found <- maximize_bandit(long, list(u = c(0, 1)), evaluations = 2, n_initial = 2,
                           control = search_control(timeout = 0.2, attempts = 1))
  expect_match(found$history$reason, "timed out")
})

test_that("an expression given as a value is not evaluated", {
  x <- (0:4) / 4
  box <- list(u = c(0, 1))
  given <- function(f, ...) do.call(f, list(...), quote = TRUE)
  for (value in list(quote(x), quote(stop("evaluated")), expression(stop("evaluated")), ~ stop("evaluated"))) {
    for (outcomes in list(value, list(yield = to_maximize(), cost = value))) {
      refused(given(baseline_constrained, "epbo", box, safe_kernel, 0.1, penalty = 1, outcomes = outcomes))
      refused(given(gp_ei, box, safe_kernel, 0.1, outcomes = outcomes))
    }
    refused(given(baseline_constrained, "ckb", box, safe_kernel, 0.1, step = 1, bound = 1, mean = value))
    refused(given(gp_ucb, x, safe_kernel, 0.1, mean = value))
    refused(given(gp_ucb, x, safe_kernel, 0.1, contexts = value))
    refused(given(igp_ucb, x, safe_kernel, 0.1, B = value, R = 1))
    for (name in c("B", "R", "arms", "delta")) {
      arguments <- replace(list(B = 1, R = 1, arms = 3, delta = 0.1), name, list(value))
      refused(do.call(regret_bound, c(list("gp_ts", 5, 1), arguments), quote = TRUE))
    }
    refused(do.call(regret_bound, list("cpd_finite", 5, nu = 2.5, d = 1, Delta = 1, B = value, R = 1), quote = TRUE))
    for (setting in c("starts", "iterations", "lower", "priors")) {
      refused({
        rule <- do.call(refit_every, c(2, stats::setNames(list(value), setting)), quote = TRUE)
        bandit <- given(gp_ucb, x, safe_kernel, 0.1, refit = rule)
        for (t in 1:3) bandit$observe(bandit$suggest()$id, t)
        stop_argument("refit", "taken", "refused")
      })
    }
  }
})

test_that("widths and gains whose products with standard deviations overflow are errors that name them", {
  x <- (0:4) / 4
  local_device()
  for (size in c(1e308, 1e151)) {
    refused(gp_ucb(x, safe_kernel, 0.1, width = size))
    refused(gp_bucb(x, safe_kernel, 0.1, width = size))
    refused(width_function(function(t) size)$f(1))
    refused(gp_ucb(x, safe_kernel, 0.1, width = function(t) size)$suggest())
    refused(width_amm(size, 1))
    refused(width_amm(1, size))
    refused(width_ec(width_amm(1, 1), size))
    refused(width_corrupt(width_amm(1, 1), size))
    refused(width_srinivas_finite(scale = size))
    refused(width_igp(1, 1, 0.1, size))
    refused(gain_rate(size))
    refused(gp_ucb_lengthscale(x, safe_kernel, 0.1, 1, 1, norm_growth = function(t) size)$suggest())
    refused(gp_ucb_lengthscale(x, safe_kernel, 0.1, 1, 1, rate = function(n) size, method = "balanced")$suggest(2))
    refused(gp_ucb_lengthscale(x, safe_kernel, 0.1, size, 1, method = "balanced"))
  }
  for (width in list(width_constant(1e150), width_amm(1e150, 1e150), width_igp(1, 1e150, 0.1, 1e150),
                     width_srinivas_finite(scale = 1e150), width_corrupt(width_amm(1, 1), 1e150),
                     width_srinivas_rkhs(1e150))) {
    bandit <- gp_ucb(x, kernel_se(0.3, variance = 1e20), 1e9, width = width)
    bandit$observe(bandit$suggest()$id, 1)
    expect_true(all(is.finite(bandit$history()$width)))
    expect_silent(plot(bandit))
  }
  for (B in c(1, 1e149)) {
    bandit <- gp_ucb_lengthscale(x, safe_kernel, 0.1, B, 1, norm_growth = function(t) 1e150)
    bandit$observe(bandit$suggest()$id, 1)
    expect_silent(plot(bandit))
  }
})

test_that("text that only claims to be numbers, times or versions is an error, or read as text", {
  json <- as_json(gp_ucb((0:4) / 4, safe_kernel, 0.1))
  # (As methods do that take the bits for numbers.)
  for (generic in c("is.na", "anyNA", "length", "format")) {
    registerS3method(generic, "gpbandits_odd", function(x, ...) stop("no numbers"))
  }
  for (class in c("gpbandits_odd", "integer64", "POSIXlt", "numeric_version", "difftime", "data.frame", "Date", "table", "noquote")) {
    text <- structure(c("a", "b"), class = class)
    refused(from_json(text))
    expect_s4_class(from_json(structure(json, class = class)), "GPBandit")
    refused(regret_bound(text, 5, 1))
    refused(regret_bound(structure("igp_ucb", class = class), 5, B = text, R = 1))
    refused(rewards_ordinal(text))
    refused(param_shares(text))
    refused(box_domain(c(0, 0), c(1, 1), names = text))
    refused(gp_ucb(list(u = c(0, 1)), safe_kernel, 0.1, contexts = text))
    refused(bandit_store(function() 1, text))
  }
})
