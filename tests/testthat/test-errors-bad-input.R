# Bad input: every argument of every export, every method of a bandit. An error of our
# class states the fault, and nothing has changed.

tabulated <- bandit_problem(safe_x, sin(3 * safe_x), noise = 0.1)
ucb_maker <- list(a = function(problem) gp_ucb(safe_x, safe_kernel, 0.01))
preset_parts <- c(domain = "points", kernel = "object", noise_var = "positive")
good_parts <- list(domain = safe_x, kernel = safe_kernel, noise_var = 0.01)

# A journal that can be resumed, again and again.
safe_journal <- function() {
  file <- tempfile("journal")
  gp_ucb(safe_x, safe_kernel, 0.01, journal = file)$suggest()
  file
}

# Per export: arguments that work, and the kind of each argument (see helper-safety.R).
exports <- list(
  finite_domain = list(list(x = 1:3), c(x = "points", features = "never")),
  box_domain = list(list(lower = c(0, 1), upper = c(2, 3)), c(lower = "numbers", upper = "numbers", names = "never", integer = "which", log = "which")),
  param_real = list(list(lower = 1, upper = 2), c(lower = "number", upper = "number", log = "flag")),
  param_integer = list(list(lower = 1, upper = 2), c(lower = "whole", upper = "whole", log = "flag")),
  param_factor = list(list(levels = c("a", "b")), c(ordered = "flag", features = "never")),
  param_shares = list(list(names = c("a", "b")), c(total = "positive")),
  param_logical = list(list(), character()),
  kernel_se = list(list(), c(lengthscale = "positives", variance = "positive", dims = "dims")),
  kernel_matern = list(list(), c(nu = "positive", lengthscale = "positives", variance = "positive", dims = "dims")),
  kernel_rq = list(list(), c(alpha = "positive", lengthscale = "positives", variance = "positive", dims = "dims")),
  kernel_periodic = list(list(), c(period = "positives", lengthscale = "positives", variance = "positive",
                                   dims = "dims")),
  kernel_linear = list(list(), c(variance = "positive", dims = "dims")),
  "kernel_categorical, features" = list(list(features = matrix(0:1)), c(own = "positive", lengthscale = "positives",
                                                                       variance = "positive", dims = "dims")),
  kernel_categorical = list(list(), c(correlation = "positives", variance = "positive", dims = "dims")),
  kernel_matrix = list(list(K = diag(3)), c(K = "covariance")),
  kernel_gram = list(list(kernel = safe_kernel, x = 1:3, y = 1:2), c(kernel = "object", x = "points", y = "points")),
  width_constant = list(list(value = 1), c(value = "nonnegative")),
  width_function = list(list(f = sqrt), c(f = "fun")),
  width_srinivas_finite = list(list(), c(delta = "probability", scale = "positive")),
  width_srinivas_compact = list(list(delta = 0.1, a = 1, b = 1, r = 1, d = 2),
                                c(delta = "probability", a = "positive", b = "positive", r = "positive", d = "count",
                                  scale = "positive")),
  width_srinivas_box = list(list(a = 1, b = 1, r = 1, d = 2),
                            c(delta = "probability", a = "positive", b = "positive", r = "positive", d = "count")),
  width_fixed = list(list(B = 1, R = 1), c(B = "nonnegative", R = "nonnegative", delta = "probability", looks = "count", drift = "nonnegative")),
  bpe = list(c(good_parts, list(rounds = 20, B = 1, R = 0.1, variation = 1, gain = 2)),
             c(preset_parts, rounds = "count", B = "nonnegative", R = "nonnegative", delta = "probability", wait = "word", extra = "count0",
               variation = "positive", gain = "positive")),
  norm_check = list(list(bandit = gp_ucb(safe_x, safe_kernel, 0.01)), c(bandit = "object", delta = "probability")),
  safe_opt = list(c(good_parts, list(threshold = 0, seed = 3, by = "data", lipschitz = 9, noise_bound = 0.1)),
                  c(preset_parts, threshold = "numbers", by = "word", method = "word", lipschitz = "numbers", noise_bound = "numbers",
                    stop_if_refuted = "flag", delta = "probability")),
  plan_experiments = list(list(domain = 1:5, kernel = safe_kernel, noise_var = 0.1, tolerance = 2, B = 1, R = 0.1),
                          c(tolerance = "positive", B = "nonnegative", R = "nonnegative", delta = "probability", looks = "count",
                            most = "count")),
  width_srinivas_rkhs = list(list(B = 1), c(B = "nonnegative", delta = "probability", gain = "gain", scale = "positive", printed = "flag")),
  width_igp = list(list(B = 1, R = 1), c(B = "nonnegative", R = "nonnegative", delta = "probability", gain = "gain")),
  width_gp_ts = list(list(B = 1, R = 1), c(B = "nonnegative", R = "nonnegative", delta = "probability", gain = "gain")),
  width_realized = list(list(B = 1, R = 1), c(B = "nonnegative", R = "nonnegative", delta = "probability")),
  width_amm = list(list(B = 1, R = 1), c(B = "nonnegative", R = "nonnegative", delta = "probability")),
  width_dmm = list(list(B = 1, R = 1, alpha = 1, alpha0 = 1), c(B = "nonnegative", R = "nonnegative", delta = "probability",
                                                    alpha = "positives", alpha0 = "positives")),
  width_sdf = list(list(base = width_constant(1)), c(base = "width", B_y = "nonnegative", over = "word")),
  width_cpd = list(list(D = 1, nu = 2.5, d = 1, horizon = 10),
                   c(D = "nonnegative", nu = "positive", d = "count", horizon = "positive")),
  width_ec = list(list(base = width_constant(1), epsilon = 0.1), c(base = "width", epsilon = "nonnegative")),
  width_corrupt = list(list(base = width_constant(1), total = 0.1), c(base = "width", total = "nonnegative")),
  "width_corrupt, count" = list(list(base = width_constant(1), count = 2), c(base = "width", count = "count0")),
  rewards_binary = list(list(), c(link = "word", direction = "word")),
  rewards_counts = list(list(), c(direction = "word")),
  rewards_ordinal = list(list(levels = 3), c(direction = "word")),
  rewards_robust = list(list(), c(df = "positive")),
  "rewards_robust, clip" = list(list(clip = 1, moment = 1), c(clip = "positive", moment = "positive", alpha = "positive")),
  "rewards_robust, moment" = list(list(moment = 1, rounds = 9), c(moment = "positive", alpha = "positive", rounds = "count")),
  "rewards_robust, plateau" = list(list(plateau = 1, decay = 1), c(plateau = "positive", decay = "positive")),
  rewards_preferences = list(list(), c(ties = "flag", tau = "positive")),
  policy_duel = list(list(width = 1), c(width = "width", rule = "word")),
  width_glm = list(list(B = 1), c(B = "nonnegative", delta = "probability")),
  ridge_rate = list(list(kernel = kernel_matern(), rounds = 10), c(kernel = "object", rounds = "count")),
  gain_rate = list(list(), c(scale = "positive", source = "word")),
  policy_straddle = list(list(level = 0), c(level = "number", random = "flag")),
  stop_gap = list(list(tolerance = 1), c(tolerance = "positive")),
  stop_prb = list(list(tolerance = 1), c(tolerance = "positive", delta = "probability")),
  stop_stalled = list(list(n = 3), c(n = "count")),
  policy_ucb = list(list(width = width_constant(1)), c(width = "width")),
  policy_ts = list(list(width = width_constant(1)), c(width = "width")),
  race_folds = list(list(folds = 5), c(folds = "count", alpha = "probability", burn_in = "count")),
  policy_ei = list(list(), c(xi = "nonnegative", incumbent = "word")),
  to_maximize = list(list(), character()),
  to_minimize = list(list(), character()),
  at_most = list(list(limit = 2), c(limit = "number")),
  at_least = list(list(limit = 2), c(limit = "number")),
  in_range = list(list(lower = 1, upper = 2), c(lower = "number")),
  tracked = list(list(), character()),
  policy_ehvi = list(list(), c(incumbent = "word")),
  policy_hypervolume = list(list(width = 1), c(width = "width", sampled = "flag")),
  policy_pi = list(list(), c(xi = "nonnegative")),
  pending_censor = list(list(m = 3), c(m = "count0_infinite", value = "number", unit = "word")),
  gp_bandit = list(c(good_parts, list(policy = policy_ei())),
                   c(preset_parts, policy = "object", mean = "numbers", pending = "object", engine = "word",
                     changes = "never", constraints = "never", refit = "never", journal = "file")),
  open_bandit = list(list(x = safe_journal()), c(x = "file", like = "never", rng = "flag")),
  gp_ucb = list(good_parts, c(preset_parts, delta = "probability")),
  gp_ei = list(good_parts, c(preset_parts, xi = "nonnegative")),
  igp_ucb = list(c(good_parts, B = 1, R = 1),
                 c(preset_parts, B = "nonnegative", R = "nonnegative", delta = "probability", gain = "gain")),
  gp_ts = list(c(good_parts, B = 1, R = 1),
               c(preset_parts, B = "nonnegative", R = "nonnegative", delta = "probability", gain = "gain")),
  gp_ucb_sdf = list(c(good_parts, m = 2), c(preset_parts, m = "count0_infinite", value = "number", width = "width", unit = "word")),
  gp_ts_sdf = list(c(good_parts, m = 2), c(preset_parts, m = "count0_infinite", value = "number", width = "width", unit = "word",
                                           draw = "word")),
  gp_bucb = list(good_parts, c(preset_parts, width = "width")),
  change_detect = list(list(threshold = sqrt, ridge = sqrt), c(threshold = "fun", ridge = "fun", explore = "nonnegative", dyadic = "flag")),
  change_oracle = list(list(times = 3), c(times = "positives", explore = "nonnegative")),
  "change_oracle, every" = list(list(every = 5), c(every = "count", explore = "nonnegative")),
  change_never = list(list(), c(explore = "nonnegative")),
  "change_detect, cover" = list(list(delta = 0.1, cover = 3), c(delta = "probability", cover = "count", explore = "nonnegative")),
  "change_detect, event" = list(list(delta = 0.1), c(delta = "probability", explore = "nonnegative")),
  "change_oracle, rate" = list(list(rate = 0.5), c(rate = "nonnegative", by = "word", explore = "nonnegative")),
  "change_oracle, window" = list(list(window = 5), c(window = "count", explore = "nonnegative")),
  gp_ucb_drift = list(c(good_parts, forget = "weights", variation = 1, horizon = 9, gain = 2),
                      c(preset_parts, forget = "never", width = "width", variation = "positive", horizon = "count",
                        gain = "positive")),
  gp_ucb_cpd = list(c(good_parts, changes = list(change_never()), width = list(width_constant(1))),
                    c(preset_parts, changes = "object", width = "width")),
  change_statistic = list(list(x = 1:4, y = c(1, 3, 2, 5), kernel = safe_kernel, ridge = 1),
                          c(x = "points", y = "numbers", kernel = "object", ridge = "positive")),
  calibrate_detector = list(list(x = 1:9, y = c(1, 3, 2, 5, 4, 2, 1, 0, 3), kernel = kernel_matern(), permutations = 19),
                            c(x = "points", y = "numbers", kernel = "object", candidates = "positives", folds = "count",
                              level = "probability", permutations = "count")),
  constraints_noiseless = list(list(epoch = 5), c(count = "count", epoch = "count", penalty = "word", reuse = "flag",
                                                  penalty_scale = "positive", penalty_power = "positive")),
  constraints_noisy = list(list(epoch = 5, step = 1), c(count = "count", epoch = "count", step = "positive", reuse = "flag")),
  gp_ucb_noiseless_constraints = list(c(good_parts, B = 1, R = 1, epoch = 5, epochs = 2),
                                      c(preset_parts, B = "nonnegative", R = "nonnegative", delta = "probability",
                                        gain = "gain", count = "count", epoch = "count", penalty = "word", reuse = "flag",
                                        penalty_scale = "positive", penalty_power = "positive",
                                        inner = "word")),
  gp_ucb_noisy_constraints = list(c(good_parts, B = 1, R = 1, epoch = 5, step = 1, epochs = 2),
                                  c(preset_parts, B = "nonnegative", R = "nonnegative", delta = "probability",
                                    gain = "gain", count = "count", epoch = "count", step = "positive", reuse = "flag",
                                    inner = "word")),
  benchmark_problem = list(list(name = "rate_allocation", grid = 3),
                           c(name = "word", noisy = "flag", a = "positives", b = "positives")),
  baseline_constrained = list(c(method = "ckb", good_parts, step = 1, bound = 1),
                              c(method = "word", preset_parts, step = "positive", bound = "positive", width = "width",
                                count = "count", constraint_mean = "numbers")),
  "baseline_constrained, epbo" = list(c(method = "epbo", good_parts, penalty = 1),
                                      c(preset_parts, penalty = "positive", width = "width", count = "count")),
  "baseline_constrained, oco" = list(list(method = "oco", domain = safe_x),
                                     c(domain = "points", epsilon = "positive", step = "positive",
                                       shrinkage = "nonnegative", count = "count")),
  "baseline_constrained, admmbo" = list(c(method = "admmbo", good_parts),
                                        c(preset_parts, rho = "positive", weight = "positive", outer = "count",
                                          initial = "count0", refit = "never", share = "flag", count = "count",
                                          tolerance = "numbers")),
  bandit_problem = list(list(domain = safe_x, reward = safe_x),
                        c(domain = "points", reward = "points", noise = "nonnegative", delay = "count0")),
  run_bandit = list(list(bandit = gp_ucb(safe_x, safe_kernel, 0.01), problem = tabulated, rounds = 2),
                    c(bandit = "object", problem = "object", rounds = "count", progress = "flag")),
  compare_bandits = list(list(bandits = ucb_maker, problems = tabulated, rounds = 2, replications = 1, seed = 1),
                         c(bandits = "object", problems = "object", rounds = "count", replications = "count",
                           seed = "whole", progress = "flag", every = "count")),
  sample_gp = list(list(kernel = safe_kernel, x = safe_x), c(kernel = "object", x = "points", n = "count")),
  sample_rkhs = list(list(kernel = safe_kernel, x = safe_x, noise_var = 0.1),
                     c(kernel = "object", x = "points", noise_var = "positive")),
  benchmark_function = list(list(name = "branin"), c(name = "word")),
  check_model = list(list(object = gp_regression(1:4, c(1, 3, 2, 5), safe_kernel, 0.1)), c(object = "object", by = "word")),
  as_json = list(list(bandit = gp_ucb(safe_x, safe_kernel, 0.01)), c(bandit = "object")),
  from_json = list(list(text = as_json(gp_ucb(safe_x, safe_kernel, 0.01))), character()),   # (text that is none is never quoted)
  gp_regression = list(list(x = 1:3, y = c(1, 3, 2), kernel = safe_kernel, noise_var = 0.1),
                       c(x = "points", y = "numbers", kernel = "object", noise_var = "positive", mean = "number"))
)

# Bad by their type but allowed here: a function makes a problem, one choice may apply to all, ...
is_allowed <- function(export, argument, value) {
  (export == "compare_bandits" && argument == "problems" && is.function(value)) ||
    (export == "bandit_problem" && argument %in% c("noise", "delay") && is.function(value)) ||
    (export == "bandit_problem" && argument == "delay" && is.null(value)) ||
    (startsWith(export, "rewards_robust, ") && argument %in% c("clip", "moment", "plateau") && is.null(value)) ||
    (export == "width_corrupt, count" && is.null(value)) ||
    (startsWith(export, "change_oracle, ") && argument %in% c("every", "window", "rate") && is.null(value)) ||
    (export == "change_detect, event" && argument == "delta" && is.null(value)) ||
    (export == "change_detect, cover" && argument == "cover" && is.null(value)) ||
    (export == "change_detect" && argument == "ridge" && is.null(value)) ||
    (export == "change_oracle, window" && argument == "window" && identical(value, c(1, 2))) || # (it chooses between them)
    (argument == "progress" && is.null(value)) ||
    (startsWith(export, "baseline_constrained") && argument == "penalty" && is.function(value)) ||
    (argument %in% c("alpha", "alpha0", "journal") && is.null(value)) ||
    # What a formula can do without.
    (export %in% c("gp_ucb_drift", "bpe") && is.null(value) && argument %in% c("gain", if (export == "bpe") "variation"))
}

# An entry's name is that of its function, and a word behind a comma where a function has several entries.
export_of <- function(entry) get(sub(",.*", "", entry), asNamespace("gpbandits"))

all_faults <- function(export, good, kinds) {
  f <- export_of(export)
  faults <- character()
  note <- function(argument, text, fault) {
    if (nzchar(fault)) faults <<- c(faults, sprintf("%s(%s = %s): %s", export, argument, text, fault))
  }
  for (argument in names(kinds)) {
    for (value in few_of(bad_values[[kinds[[argument]]]], 2)) {
      if (is_allowed(export, argument, value)) next
      given <- good
      given[argument] <- list(value)
      note(argument, described_value(value), fault_of_error(do.call(f, given, quote = TRUE), argument, value))
    }
    required <- identical(formals(f)[[argument]], quote(expr = ))
    if (required) {
      note(argument, "<missing>", fault_of_error(do.call(f, good[setdiff(names(good), argument)], quote = TRUE), argument, NULL, FALSE))
    }
  }
  faults
}

test_that("valid values of the table work", {
  for (export in names(exports)) {
    expect_no_error(do.call(export_of(export), exports[[export]][[1]], quote = TRUE))
  }
})

test_that("every argument of every export raises an error that names it for invalid values", {
  skip_on_cran()
  for (export in names(exports)) {
    expect_identical(all_faults(export, exports[[export]][[1]], exports[[export]][[2]]), character())
  }
})

test_that("exports that are not in the table raise errors for nonsense, too", {
  nonsense <- structure(list(), class = "nonsense")
  faults <- character()
  for (export in setdiff(getNamespaceExports("gpbandits"), names(exports))) {
    f <- get(export, asNamespace("gpbandits"))
    arguments <- if (is.function(f)) setdiff(names(formals(f)), "...")
    if (length(arguments) == 0) next
    given <- stats::setNames(list(nonsense), arguments[1])
    error <- tryCatch(do.call(f, given, quote = TRUE), error = identity)
    if (!inherits(error, "gpbandits_error")) faults <- c(faults, export)
  }
  expect_identical(faults, character())
})

# ---- faults that one value alone does not show -----------------------------------------

blamed <- function(code) tryCatch({
  code
  "nothing"
}, gpbandits_error = function(e) e$argument)

test_that("sizes that contradict each other are errors", {
  two <- cbind(a = 1:3, b = 4:6)
  expect_identical(blamed(gp_ucb(safe_x, safe_kernel, 0.01, mean = 1:3)), "mean")
  expect_identical(blamed(gp_ucb(safe_x, kernel_se(c(1, 2)), 0.01)), "lengthscale")
  expect_identical(blamed(gp_ucb(safe_x, kernel_se(dims = 2), 0.01)), "dims")
  expect_identical(blamed(gp_ucb(two, kernel_se(dims = "c"), 0.01)), "dims")
  expect_identical(blamed(gp_ucb(safe_x, kernel_matrix(diag(3)), 0.01)), "kernel")
  expect_identical(blamed(gp_ucb(list(u = c(0, 1)), kernel_matrix(diag(3)), 0.01, width = width_constant(1))), "kernel")
  expect_identical(blamed(box_domain(c(0, 1), c(1, 2, 3))), "lower")
  expect_identical(blamed(box_domain(1, 1)), "lower")
  expect_identical(blamed(gp_ucb(list(u = c(1, 0)), safe_kernel, 0.01, width = width_constant(1))), "domain")
  expect_identical(blamed(kernel_gram(safe_kernel, two, 1:3)), "y")
  expect_identical(blamed(bandit_problem(safe_x, 1:3)), "reward")
  expect_identical(blamed(gp_regression(1:3, 1:2, safe_kernel, 0.1)), "y")
  expect_identical(blamed(gp_ts(safe_x, safe_kernel, 0.01, B = 1, R = 1, engine = "played")), "engine")
  expect_identical(blamed(gp_ucb(list(u = c(0, 1)), safe_kernel, 0.01)), "width")
  expect_identical(blamed(gp_ucb(list(u = c(0, 1)), safe_kernel, 0.01, width = width_srinivas_finite())), "width")
  expect_identical(blamed(igp_ucb(safe_x, kernel_periodic(), 0.01, B = 1, R = 1, gain = gain_rate())), "gain")
})

test_that("without arms, or with names that are repeated or reserved, there is an error", {
  for (none in list(numeric(), matrix(0, 0, 2), matrix(0, 3, 0), data.frame(a = numeric()))) {
    expect_identical(blamed(gp_ucb(none, safe_kernel, 0.01)), "domain", info = described_value(none))
    expect_identical(blamed(finite_domain(none)), "x", info = described_value(none))
  }
  expect_identical(blamed(gp_ucb(cbind(a = 1:3, a = 4:6), safe_kernel, 0.01)), "domain")
  expect_identical(blamed(box_domain(c(0, 0), c(1, 1), names = c("a", "a"))), "names")
  expect_identical(blamed(gp_ucb(cbind(a = 1:3), safe_kernel, 0.01, contexts = cbind(a = 1:2))), "contexts")
  expect_identical(blamed(gp_ucb(cbind(a = 1:3), safe_kernel, 0.01, contexts = cbind(z = 1:2, z = 3:4))), "contexts")
  for (contexts in list(character(), 0, 1.5, -1, Inf, matrix(0, 0, 1), matrix(0, 2, 0), c(1, NA), list(1), TRUE, "")) {
    expect_identical(blamed(gp_ucb(safe_x, safe_kernel, 0.01, contexts = contexts)), "contexts", info = described_value(contexts))
  }
  # (Others of ours: test-utils-columns.R.)
  for (taken in c("id", "arm", "reward")) {
    x <- matrix(1:3, dimnames = list(NULL, taken))
    expect_identical(blamed(gp_ucb(x, safe_kernel, 0.01)), "domain", info = taken)
    expect_identical(blamed(gp_ucb(safe_x, safe_kernel, 0.01, contexts = taken)), "contexts", info = taken)
  }
})

test_that("an indefinite covariance is an error that states by how much", {
  K <- matrix(c(1, 1.5, 1.5, 1), 2)               # eigenvalues 2.5 and -0.5
  error <- tryCatch(kernel_matrix(K), gpbandits_error = identity)
  expect_match(conditionMessage(error), "-0.5", fixed = TRUE)
  expect_match(conditionMessage(error), "2.5", fixed = TRUE)
  expect_identical(error$argument, "K")
  expect_silent(kernel_matrix(tcrossprod(1:3)))   # of rank one is fine
  expect_identical(blamed(kernel_matrix(matrix(c(1, 0, 1e-3, 1), 2))), "K")
})

test_that("zero noise is an error that states the allowed values", {
  expect_error(gp_ucb(safe_x, safe_kernel, 0), "`noise_var` must be a number > 0, not 0.", fixed = TRUE,
               class = "gpbandits_error")
})

test_that("misspelt arguments are errors, and so are those that a preset sets itself", {
  for (preset in c("gp_bandit", "gp_ucb", "gp_ei", "igp_ucb", "gp_ts", "gp_ucb_sdf", "gp_ts_sdf", "gp_bucb")) {
    f <- get(preset, asNamespace("gpbandits"))
    good <- exports[[preset]][[1]]
    expect_identical(blamed(do.call(f, c(good, list(contxts = 1)))), "contxts", info = preset)
    if (preset != "gp_bandit") {
      expect_identical(blamed(do.call(f, c(good, list(policy = policy_ei())))), "policy", info = preset)
    }
    if (preset %in% c("gp_ucb_sdf", "gp_ts_sdf", "gp_bucb")) {
      expect_identical(blamed(do.call(f, c(good, list(pending = pending_ignore())))), "pending", info = preset)
    }
  }
  expect_error(gp_ucb(safe_x, safe_kernel, 0.01, contexs = 1), "Did you mean `contexts`", class = "gpbandits_error")
  b <- gp_ucb(safe_x, safe_kernel, 0.01)
  expect_identical(blamed(predict(b, points = 1)), "points")
  expect_identical(blamed(predict(b, newdata = "a")), "newdata")
  expect_identical(blamed(summary(b, rounds = 1)), "rounds")
})

test_that("methods name a required argument that is missing", {
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    before <- snapshot_of(bandit)
    calls <- list(id = function() bandit$observe(), reward = function() bandit$observe(5),
                  id = function() bandit$amend(), reward = function() bandit$amend(1),
                  id = function() bandit$withdraw(), id = function() bandit$fail(),
                  x = function() bandit$add_arms(), ids = function() bandit$rank())
    for (k in seq_along(calls)) {
      error <- tryCatch(calls[[k]](), error = identity)
      info <- paste(name, deparse(body(calls[[k]])), conditionMessage(error))
      expect_true(inherits(error, "gpbandits_error"), info = info)
      # (Of a method that this bandit does not have the error is about something else.)
      if (!grepl("rank|add_arms", info)) expect_identical(error$argument, names(calls)[k], info = info)
    }
    expect_identical(snapshot_of(bandit), before, info = name)
  }
})

test_that("arrays of one dimension are vectors, or errors where a matrix is needed", {
  column <- array(safe_x)
  for (make in list(function(x) gp_ucb(x, safe_kernel, 0.01)$config, function(x) finite_domain(x),
                    function(x) kernel_gram(safe_kernel, x))) expect_identical(make(column), make(safe_x))
  for (bad in list(column, array(1:4), table(c(1, 1, 2)), array(1, 1, list("a")))) {
    error <- tryCatch(kernel_matrix(bad), error = identity)
    if (length(bad) == 1) expect_s3_class(error, "bandit_kernel") else expect_s3_class(error, "gpbandits_error")
  }
})

# ---- methods leave a bandit as it was -------------------------------------------

# Arguments that work, and bad values of one argument at a time.
bad_calls <- function(bandit) {
  box <- bandit$config$domain$type == "box"
  context <- context_of(bandit)
  bad_context <- if (is.null(context)) bad_values$never else c(not_numbers, list(NaN, c(1, 2), matrix(1, 3, 1), Inf))
  bad_fixed <- list(3, "a", list(), list(1), list(nobody = 1), c(nobody = 1), list(x = NULL), NaN, mean)
  point <- if (box) list(x = 0.5) else list(arm = 2)
  add <- c(point, list(reward = 1, context = context))
  ids <- list(0, 7, -1, 1.5, 1, 1e10)   # 5 and 6 are pending of 6
  calls <- list(
    suggest = list(list(n = 1, context = context), list(n = c(bad_values$count, 2e9), context = bad_context, fixed = bad_fixed, nn = list(1))),
    observe = list(list(id = 5, reward = 1),
                   list(id = c(bad_values$numbers, ids), reward = c(bad_values$numbers, list(c(1, NA), c(1, Inf), numeric())),
                        constraints = bad_values$never, rewrd = list(1))),
    add = list(add, list(reward = c(bad_values$numbers, list(numeric())), context = bad_context,
                         constraints = bad_values$never, rewards = list(1))),
    posterior = list(list(x = 0.5, context = context), list(x = c(bad_values$points[-1], list(matrix(0, 1, 2))),
                                                            context = bad_context, newdata = list(1))),
    best = list(list(context = context), list(context = bad_context, fixed = bad_fixed, x = list(1))),
    draw = list(list(n = 1, context = context), list(n = bad_values$count, context = bad_context, x = list(1)))
  )
  calls$add[[2]][[names(point)]] <- if (box) c(bad_values$points, list(2, -1, matrix(0.5, 1, 2)))
                                    else c(bad_values$numbers, list(0, 13, 1.5))
  if (!box) calls$add[[2]]$x <- list(0.123, safe_x[3], "a")       # no arm, or both given
  if (!is.null(context)) for (method in c("suggest", "add", "best")) calls[[method]][[2]]$context <-
    c(list(NULL), calls[[method]][[2]]$context)
  calls
}

faults_of_methods <- function(bandit) {
  faults <- character()
  before <- snapshot_of(bandit)
  calls <- bad_calls(bandit)
  if (bandit$config$domain$type == "box" || bandit$config$engine == "played" ||
      identical(gpbandits:::core_space_kind(bandit$config$domain, bandit$config), "open")) calls$draw <- NULL
  for (method in names(calls)) for (argument in names(calls[[method]][[2]])) {
    for (value in few_of(calls[[method]][[2]][[argument]], 3)) {
      given <- calls[[method]][[1]]
      given[argument] <- list(value)
      error <- tryCatch({
        do.call(eval(call("$", bandit, method)), given, quote = TRUE)
        NULL
      }, error = identity)
      fault <- if (is.null(error)) "no error"
               else if (!inherits(error, "gpbandits_error")) paste(class(error)[1], conditionMessage(error))
               else if (!error$argument %in% c(argument, if (argument == "x") "arm")) paste("blames", error$argument)
               else if (!identical(snapshot_of(bandit), before)) "the bandit changed"
      if (length(fault)) faults <- c(faults, sprintf("$%s(%s = %s): %s", method, argument, described_value(value), fault))
    }
  }
  faults
}

test_that("methods raise errors for invalid values and leave the bandit unchanged", {
  skip_on_cran()
  for (name in few_of(names(safe_bandits), 2)) {
    bandit <- safe_bandits[[name]]()
    twin <- safe_bandits[[name]]()
    expect_identical(faults_of_methods(bandit), character(), info = name)
    expect_identical(next_of(bandit), next_of(twin), info = name)
    expect_identical(snapshot_of(bandit), snapshot_of(twin), info = name)
  }
})

test_that("a call that is partly valid changes nothing", {
  bandit <- safe_bandits$ucb()
  before <- snapshot_of(bandit)
  expect_identical(blamed(bandit$observe(c(5, 5), c(1, 1))), "id")
  expect_identical(blamed(bandit$observe(c(5, 1), c(1, 1))), "id")
  expect_error(bandit$observe(c(5, 6), c(1, NA)), class = "gpbandits_error")
  expect_error(bandit$observe(c(5, 99), c(1, 1)), class = "gpbandits_error")
  expect_error(bandit$add(arm = c(1, 99), reward = c(1, 1)), class = "gpbandits_error")
  expect_identical(snapshot_of(bandit), before)
  expect_silent(bandit$observe(numeric(), numeric()))
  expect_identical(snapshot_of(bandit), before)
})

test_that("unknown and repeated ids, and ids of a bandit without queries, are errors", {
  fresh <- gp_ucb(safe_x, safe_kernel, 0.01)
  expect_error(fresh$observe(1, 1), "no query yet", class = "gpbandits_error")
  id <- fresh$suggest()$id
  fresh$observe(id, 1)
  expect_error(fresh$observe(id, 2), "already has the result", class = "gpbandits_error")
  expect_error(fresh$observe(2, 2), "1 to 1", class = "gpbandits_error")
  expect_identical(fresh$history()$reward, 1)
})

test_that("no points give no rows", {
  for (name in c("ucb", "box")) {
    nowhere <- safe_bandits[[name]]()$posterior(numeric())
    expect_identical(dim(nowhere), c(0L, 2L))
    expect_identical(names(nowhere), c("mean", "sd"))
  }
})

# ---- functions of the user's that fail --------------------------------------------

failing <- list(
  stops = function(t) stop("out of order"),
  missing = function(t) NA,
  not_finite = function(t) Inf,
  negative = function(t) -1,
  vector = function(t) c(1, 2),
  nothing = function(t) NULL,
  text = function(t) "1",
  no_argument = function() 1
)

test_that("a width or gain function that fails leaves nothing of a batch", {
  for (kind in names(failing)) for (what in c("width", "gain")) {
    late <- function(t) if (t < 5 + (what == "width")) 1 else if (kind == "no_argument") failing[[kind]](t) else failing[[kind]](t)
    make <- function() {
      if (what == "width") gp_ucb(safe_x, safe_kernel, 0.01, width = width_function(late))
      else gp_ts(safe_x, safe_kernel, 0.01, B = 1, R = 0.1, gain = late)
    }
    bandit <- make()
    set.seed(2)
    bandit$suggest(3)
    bandit$observe(c(1, 3), c(0.5, -0.5))
    before <- snapshot_of(bandit)
    error <- tryCatch(bandit$suggest(5), error = identity)
    expect_s3_class(error, "gpbandits_error")
    expect_match(conditionMessage(error), paste0("`", what, "`"), fixed = TRUE, info = kind)
    if (kind == "stops") expect_match(conditionMessage(error), "out of order", fixed = TRUE)
    expect_identical(snapshot_of(bandit), before, info = paste(what, kind))
    twin <- make()
    set.seed(2)
    twin$suggest(3)
    twin$observe(c(1, 3), c(0.5, -0.5))
    expect_identical(next_of(bandit), next_of(twin), info = paste(what, kind))
  }
})

test_that("a function that a bandit calls cannot change that bandit", {
  for (change in list(function(b) b$suggest(), function(b) b$observe(1, 0), function(b) b$add(arm = 1, reward = 0),
                      function(b) b$reset(), function(b) run_bandit(b, tabulated, 1))) {
    seen <- NULL
    bandit <- gp_ucb(safe_x, safe_kernel, 0.01, width = width_function(function(t) {
      if (t == 3) seen <<- tryCatch(change(bandit), error = identity)
      1
    }))
    bandit$suggest(5)
    expect_s3_class(seen, "gpbandits_error")
    expect_identical(nrow(bandit$history()), 5L)
    seen <- NULL
    bandit$reset()
    run_bandit(bandit, tabulated, 5)
    expect_s3_class(seen, "gpbandits_error")
    expect_identical(nrow(bandit$history()), 5L)
  }
  looked <- NULL                                   # reading is allowed, and running a copy
  bandit <- gp_ucb(safe_x, safe_kernel, 0.01, width = width_function(function(t) {
    if (t == 2 && is.null(looked)) {
      looked <<- "once"
      looked <<- list(bandit$posterior(), bandit$copy()$suggest())
    }
    1
  }))
  bandit$suggest(1)
  expect_identical(bandit$suggest(1), looked[[2]])
  expect_identical(dim(looked[[1]]), c(length(safe_x), 2L))
})

test_that("functions of a problem that fail are named", {
  contexts_bandit <- function() gp_ucb(safe_x, kernel_se(c(0.25, 0.5)), 0.01, contexts = "z")
  oops <- function(...) stop("out of order")
  problem <- function(...) bandit_problem(safe_x, sin(3 * safe_x), ...)
  for (case in list(list("noise", problem(noise = oops)),
                    list("noise", problem(noise = function(n) "a")),
                    list("noise", problem(noise = function(n) rep(NA_real_, n))),
                    list("noise", problem(noise = function(n) 0)),
                    list("delay", problem(delay = oops)),
                    list("delay", problem(delay = function(n) rep(0.5, n))),
                    list("delay", problem(delay = function(n) rep(-1, n))))) {
    bandit <- safe_bandits$ucb()
    before <- snapshot_of(bandit)
    expect_identical(blamed(run_bandit(bandit, case[[2]], 4)), case[[1]])
    expect_identical(snapshot_of(bandit), before)
  }
  expect_identical(blamed(problem(contexts = oops)), "contexts")
  expect_identical(blamed(bandit_problem(safe_x, oops)), "reward")
  expect_identical(blamed(bandit_problem(safe_x, function(x) 1)), "reward")
  expect_identical(blamed(bandit_problem(safe_x, function(x) NA * x[, 1])), "reward")
  expect_identical(blamed(problem(constraints = oops)), "constraints")
  expect_identical(blamed(problem(constraints = function(x) "a")), "constraints")
})

# ---- runs and comparisons -----------------------------------------------------------

test_that("a run on another domain or with other contexts is an error before it starts", {
  bandit <- safe_bandits$ucb()
  before <- snapshot_of(bandit)
  others <- list(bandit_problem(safe_x[-1], safe_x[-1]), bandit_problem(safe_x + 1, safe_x),
                 bandit_problem(cbind(a = safe_x, b = safe_x), safe_x), bandit_problem(box_domain(0, 1), function(x) x[, 1]),
                 bandit_problem(safe_x, function(x) x[, 1] + x[, 2], contexts = matrix(1:2)))
  for (problem in others) expect_identical(blamed(run_bandit(bandit, problem, 3)), "problem")
  expect_identical(snapshot_of(bandit), before)
  bandit <- safe_bandits$contexts()
  before <- snapshot_of(bandit)
  expect_identical(blamed(run_bandit(bandit, tabulated, 3)), "problem")
  unknown <- bandit_problem(safe_x, function(x) x[, 1] + x[, 2], contexts = matrix(c(0, 5)))
  expect_identical(blamed(run_bandit(bandit, unknown, 3)), "problem")
  expect_identical(snapshot_of(bandit), before)
})

test_that("compare_bandits() raises errors for functions that return something else", {
  compare <- function(bandits = ucb_maker, problems = tabulated, ...) {
    compare_bandits(bandits, problems, rounds = 2, replications = 2, seed = 1, ...)
  }
  set.seed(3)
  state <- .Random.seed
  for (bandits in list(ucb_maker$a, unname(ucb_maker), list(), list(a = 1), c(ucb_maker, ucb_maker),
                       list(a = function(problem) "bandit"), list(a = function(problem) NULL),
                       list(a = function(problem) stop("out of order")), list(a = function() 1),
                       stats::setNames(ucb_maker, NA))) {
    expect_identical(blamed(compare(bandits)), "bandits")
  }
  for (problems in list(function(replication) 1, function(replication) stop("out of order"), function() tabulated,
                        function(replication) if (replication == 2) NULL else tabulated)) {
    expect_identical(blamed(compare(problems = problems)), "problems")
  }
  other <- list(a = function(problem) gp_ucb(1:3, safe_kernel, 0.01))
  expect_identical(blamed(compare(other)), "problem")
  expect_identical(blamed(compare(every = 3)), "every")
  expect_identical(.Random.seed, state)
  comparison <- compare()
  for (rounds in list(NULL, 0, 3, "a", NA, numeric(), 1.5)) {
    expect_identical(blamed(summary(comparison, rounds = rounds)), "rounds", info = described_value(rounds))
  }
  for (columns in list(NULL, "no such", 1, NA, "action", character())) {
    expect_identical(blamed(summary(comparison, columns = columns)), "columns", info = described_value(columns))
  }
  expect_identical(blamed(summary(comparison, quantity = "regret")), "quantity")
})

# ---- garbage ------------------------------------------------------------------------

garbage <- c(
  list(NULL, NA, NaN, Inf, -Inf, 0, 1, -1, 1.5, 3, 7, 1e-300, 1e300, -1e300, 2L, TRUE, "", "a", "1", 1i, raw(1)),
  list(c(1, 2), c(a = 1, b = 2), 1:12, numeric(), character(), list(), list(1, "a"), list(u = c(0, 1)), list(u = c(1, 0))),
  list(matrix(1:4, 2), matrix(0, 0, 1), diag(12), matrix("a"), data.frame(a = 1:3), data.frame(a = "b"), array(1, c(1, 1, 1))),
  list(factor("a"), Sys.Date(), quote(x + y), as.name("z"), y ~ x, new.env(), mean, stop, function() 1, function(t) t,
       function(t) NULL, function(t) rep(1, t), function(x) x[, 1]),
  list(safe_x, safe_kernel, kernel_linear() * kernel_rq(), kernel_matrix(diag(12)), policy_ei(), policy_ts(width_constant(1)),
       width_constant(1), width_igp(1, 1), width_igp(1, 1, gain = "greedy")$gain, gain_rate(), pending_censor(2), pending_hallucinate(), tabulated,
       tabulated$noise, function(n) rpois(n, 2), finite_domain(1:3), box_domain(0, 1), ucb_maker, ucb_maker$a)
)

# How a random call of `f` ends: NULL, or its fault. A warning is a fault too.
fate_of_call <- function(f, arguments) {
  given <- stats::setNames(sample(garbage, length(arguments), replace = TRUE), arguments)
  given <- given[stats::runif(length(given)) < 0.8]
  old <- options(warn = 2)
  on.exit(options(old))
  error <- tryCatch({
    setTimeLimit(cpu = 10, transient = TRUE)
    utils::capture.output(suppressWarnings(do.call(f, given, quote = TRUE), classes = "gpbandits_outside_theorem"))
    NULL
  }, error = identity, finally = setTimeLimit())
  if (is.null(error) || inherits(error, "gpbandits_error")) return(NULL)
  sprintf("%s: %s", paste(names(given), vapply(given, described_value, ""), sep = " = ", collapse = ", "), conditionMessage(error))
}

test_that("garbage ends in a gpbandits_error or works, whatever function is called", {
  skip_on_cran()
  # Some of the calls write files: journals, stores.
  directory <- tempfile("garbage")
  dir.create(directory)
  old <- setwd(directory)
  on.exit({
    setwd(old)
    unlink(directory, recursive = TRUE)
  })
  # (In an order that is the same in every session.)
  exported <- sort(getNamespaceExports("gpbandits"), method = "radix")
  calls <- stats::setNames(lapply(exported, get, envir = asNamespace("gpbandits")), exported)
  calls <- Filter(function(f) is.function(f) && !methods::is(f, "refObjectGenerator") && length(formals(f)) > 0, calls)
  # Good arguments leave more of a call to go wrong than garbage alone does.
  mostly_good <- lapply(exports, function(entry) entry[[1]])
  set.seed(20)
  fates <- character()
  for (k in seq_len(by_level(2500, 2500, quick = 250))) {
    name <- sample(names(calls), 1)
    f <- calls[[name]]
    arguments <- setdiff(names(formals(f)), "...")
    good <- if (k %% 2) mostly_good[[name]]
    part <- if (length(good)) sample(arguments, 1) else arguments
    fate <- fate_of_call(function(...) do.call(f, c(list(...), good[setdiff(names(good), part)]), quote = TRUE), part)
    if (length(fate)) fates <- c(fates, paste(name, fate))
  }
  expect_identical(unique(fates), character())
})

test_that("garbage given to methods never damages a bandit", {
  skip_on_cran()
  set.seed(21)
  fates <- character()
  for (name in names(safe_bandits)) {
    bandit <- safe_bandits[[name]]()
    methods <- list(suggest = c("n", "context"), observe = c("id", "reward", "constraints"),
                    add = c("x", "arm", "reward", "constraints", "context"), posterior = c("x", "context"),
                    draw = c("n", "context"), best = "context")
    for (k in seq_len(by_level(120, 120, quick = 50))) {
      method <- sample(names(methods), 1)
      fate <- fate_of_call(eval(call("$", bandit, method)), methods[[method]])
      if (length(fate)) fates <- c(fates, paste(name, method, fate))
    }
    # Whatever was accepted is in the log, and the log is the bandit.
    expect_equal(bandit$copy()$posterior(safe_x, context_of(bandit)), bandit$posterior(safe_x, context_of(bandit)),
                 tolerance = tol$replay, info = name)
  }
  expect_identical(unique(fates), character())
})

# ---- printing ---------------------------------------------------------------------

# What an object of this class is called in words: "bandit_width" is a width.
word_of_class <- function(class) {
  text <- c(GPBandit = "bandit", bandit_maximum = "(maximum|minimum)", bandit_model_state = "optimum",
             bandit_comparison = "replication", bandit_run = "rounds?", gp_fit = "regression",
             gp_regression = "regression", bandit_outputs = "output", bandit_param = "parameter",
             bandit_domain = "(arms|box|domain|inputs?)", bandit_plan = "experiments",
             bandit_constraints = "constraint", bandit_test_function = "test function",
             bandit_norm_check = "norm", bandit_importance = "input", bandit_check = "(check|observ|reward)")
  if (class %in% names(text)) text[[class]] else sub("^bandit_", "", class)
}

test_that("every object that an export makes prints in words, and names its kind", {
  skip_on_cran()
  faults <- character()
  for (entry in names(exports)) {
    made <- do.call(export_of(entry), exports[[entry]][[1]], quote = TRUE)
    if (!is.object(made) || is.data.frame(made) || inherits(made, c("factor", "POSIXct", "json", "character"))) next
    text <- paste(utils::capture.output(print(made)), collapse = "\n")
    raw <- grepl("(^|\n)(\\$|\\[\\[)", text) || grepl("attr(,", text, fixed = TRUE) || grepl("<environment", text)
    of <- if (isS4(made)) "GPBandit" else class(made)
    named <- any(vapply(of, function(class) grepl(word_of_class(class), text, ignore.case = TRUE), NA))
    if (raw || !nzchar(text) || !named) {
      faults <- c(faults, sprintf("%s (%s): %s", entry, paste(of, collapse = "/"), substr(text, 1, 200)))
    }
  }
  expect_identical(faults, character())
})
