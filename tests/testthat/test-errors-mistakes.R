# Sixty typical mistakes of a first session: each raises a condition with a class, whose message says what to do. (What
# once was a mistake and works now stands at the end.)

peak <- function(p) -(p$speed - 2)^2
line <- list(speed = c(1, 3))

# A bandit with the rewards 1 and 2 of its queries 1 and 2, new for each mistake.
two_rewards <- function() {
  set.seed(4)
  bandit <- auto_bandit(list(speed = c(0, 1)))
  bandit$observe(bandit$suggest(2)$id, 1:2)
  bandit
}

asked <- function() {
  bandit <- auto_bandit(list(speed = c(0, 1)))
  bandit$suggest(2)
  bandit
}

# Raises `class` with a message that has all of the `remedy` (fixed text).
expect_remedy <- function(code, class, ...) {
  caught <- tryCatch({
    suppressMessages(code)
    NULL
  }, condition = identity)
  info <- paste(deparse(substitute(code)), collapse = " ")
  expect_s3_class(caught, paste0("gpbandits_", class))
  said <- if (inherits(caught, "condition")) conditionMessage(caught) else ""
  for (text in c(...)) expect_true(grepl(text, said, fixed = TRUE), info = paste(info, "|", said))
}

test_that("mistakes in a call of a search have helpful errors", {
  expect_remedy(maximize_bandit(peak, line), "argument_error", "needs `evaluations`", "Try `evaluations = 30`")
  expect_remedy(maximize_bandit(peak, c(1, 3), 3), "evaluation_warning", "Call the objective", "inputs \"x1\"",
                "A range is `list(x = c(1, 3))`")
  expect_remedy(maximize_bandit(peak, list(speed = c(3, 1)), 9), "argument_error", "lower below upper", "Try `speed = c(1, 3)`")
  expect_remedy(maximize_bandit(peak, list(speed = c(0, Inf)), 9), "argument_error", "finite ranges", "`speed = c(0, Inf)`")
  two <- function(p) c(reward = p$speed, waste = 1)
  expect_remedy(maximize_bandit(two, line, 9, limits = ~ wast <= 2), "argument_error", "numbers named `reward`, `wast`",
                "`reward`, `waste`")
  expect_remedy(maximize_bandit(two, line, 9), "argument_error", "`outcomes = list(reward = to_maximize(), waste = ")
  expect_remedy(maximize_bandit(peak, line, 9, batch_size = 4), "argument_error", "Use `workers`", "`$suggest(n)`")
  expect_remedy(auto_bandit(line, batch_size = 4), "argument_error", "`$suggest(n)`")
  expect_remedy(maximize_bandit(peak, line, 9, warm_start = 1), "argument_error", "Use `data`")
  expect_remedy(maximize_bandit(peak, line, iters = 9), "argument_error", "Use `evaluations`")
  expect_remedy(gp_ucb(1:3, kernel_se(), noise_var = 0), "argument_error", "1e-6", "gp_model(noise = \"none\")")
  # (`n` is taken for `noise_var`, of which R may warn.)
  earlier <- options(warnPartialMatchArgs = FALSE)
  on.exit(options(earlier))
  expect_remedy(plan_experiments(line, n = 8), "argument_error", "needs `tolerance`", "$suggest(8)` to plan eight points")
  found <- maximize_bandit(peak, line, 3)
  expect_remedy(update(found, evaluations = 9), "argument_error", "data = found$history")
  expect_remedy(plot(found, "contour"), "argument_error", "Try \"map\"")
  journal <- tempfile()
  maximize_bandit(peak, line, 3, journal = journal)
  expect_remedy(maximize_bandit(peak, list(speed = c(1, 4)), 3, journal = journal), "data_error",
                "another `domain` (box domain: speed in [1, 3]; here box domain: speed in [1, 4])")
  empty <- as.environment(auto_bandit(line))
  expect_match(gpbandits:::plot_data_title(empty, list()), "after 0 queries, without results yet", fixed = TRUE)
  expect_remedy(maximize_bandit(peak, line, n_iter = 9), "argument_error", "Use `evaluations`")
  expect_remedy(maximize_bandit(peak, line, 7.5), "argument_error", "an integer >= 1")
  expect_remedy(maximize_bandit(peak, list(c(1, 3)), 9), "argument_error", "Try names for its entries: `list(x = c(0, 1))`")
  expect_remedy(maximize_bandit(peak, lower = 1, upper = 3, evaluations = 9), "argument_error", "needs `domain`",
                "Try `list(x = c(0, 1))`")
  expect_remedy(maximize_bandit(peak, line, 9, maximize = FALSE), "argument_error", "`direction = \"minimize\"`",
                "`minimize_bandit()`")
  expect_remedy(maximize_bandit(peak, line, 9, direction = "min"), "argument_error", "Try \"minimize\"")
  expect_remedy(maximize_bandit(peak, line, 9, data = data.frame(speed = 1:2)), "argument_error", "without `reward`")
  expect_remedy(maximize_bandit(peak, line, 9, data = data.frame(sped = 1, reward = 2)), "argument_error",
                "columns speed, reward", "without `speed`")
  expect_remedy(maximize_bandit(peak, line, 9, kernel = "matern"), "argument_error", "Use `model = gp_model(kernel = )`")
  expect_remedy(maximize_bandit(peak, line, 9, design = 4), "argument_error", "Use `n_initial` (a number)")
  expect_remedy(maximize_bandit(peak, line, 9, acquisition = "ei"), "argument_error", "Use `policy`")
  expect_remedy(maximize_bandit(peak, line, 9, n_trials = 3), "argument_error", "Use `evaluations`")
  expect_remedy(maximize_bandit(peak, line, 9, init_points = 3), "argument_error", "Use `n_initial`")
  expect_remedy(maximize_bandit(peak, line, 9, seed = 3), "argument_error", "Use `set.seed()`")
  expect_remedy(maximize_bandit(peak, bounds = line, evaluations = 9), "argument_error", "Use `domain`")
  expect_remedy(maximize_bandit(fn = peak, domain = line, evaluations = 9), "argument_error", "Use `objective`")
  for_workers <- if (requireNamespace("future", quietly = TRUE)) "future::plan(" else "install.packages(\"future\")"
  expect_remedy(maximize_bandit(peak, line, 9, workers = 2), "argument_error", paste0("Try `", for_workers))
  expect_remedy(maximize_bandit(peak, line, 9, stop_when = stop_gap()), "argument_error", "Try `tolerance = 0.1`")
  expect_remedy(maximize_bandit(peak, line, 9, stop_when = stop_gap(0.1)), "argument_error",
                "Try `stop_prb(tolerance)`", "width = width_constant(2)")
})

test_that("mistakes in an objective have helpful errors", {
  expect_remedy(maximize_bandit(function(p) "fast", line, 3), "evaluation_warning", "must return one finite number")
  expect_remedy(maximize_bandit(function(p) c(1, 2), line, 3), "evaluation_warning", "must return one finite number")
  expect_remedy(maximize_bandit(function(p) -p$speed^2, list(speed = c("low", "high")), 3), "evaluation_warning",
                "Call the objective at one point")
  expect_remedy(maximize_bandit(function(p) stop("no licence"), line, 12), "evaluation_warning", "no licence",
                "Call the objective at one point")
  expect_remedy(maximize_bandit(function(p) p$sped, line, 3), "evaluation_warning", "no input `sped`", "speed")
  expect_remedy(maximize_bandit(function(p) c(y = 1, z = 2), line, 3, outcomes = list(y = to_maximize())),
                "argument_error", "numbers named `y`, `z`", "`outcomes = list(y = to_maximize(), z = to_maximize())`")
  expect_remedy(maximize_bandit(function(p) 1, line, 3, outcomes = list(y = "max", z = at_most(1))), "argument_error",
                "`outcomes$y` must be one of", "Try \"maximize\"")
})

test_that("mistakes in a search space have helpful errors", {
  expect_remedy(search_space(x = param_real(0, 1, log = TRUE)), "argument_error", "`lower` must be > 0 if `log` is TRUE")
  expect_remedy(search_space(x = param_integer(0.5, 3)), "argument_error", "`lower` must be an integer")
  expect_remedy(search_space(x = param_real(0, 1), where = x_is_nowhere > 0.5), "argument_error", "with the tilde")
  expect_remedy(search_space(k = param_factor(c("a", "b")), y = param_real(0, 1, when = ~ k == "c")), "argument_error",
                "comparison with levels: a, b")
  expect_remedy(search_space(param_real(0, 1), param_real(0, 2)), "argument_error", "Try `search_space(x = param_real(0, 1))`")
  expect_remedy(auto_bandit(list(x = c(0, 1)), limits = y_is_nowhere <= 2), "argument_error", "with the tilde")
})

test_that("mistakes with a bandit have helpful errors", {
  expect_remedy(auto_bandit(list(x = c(0, 1)))$observe(1, 0.5), "state_error", "Use `$suggest()` first")
  expect_remedy(asked()$observe(1:2, 1), "argument_error", "one number for 2 ids")
  expect_remedy(asked()$observe(1:2, c(1, NA)), "argument_error", "Try `$fail(id)` for a failed evaluation")
  expect_remedy(asked()$observe(5, 1), "argument_error", "the id of an earlier query (1 to 2)")
  expect_remedy(asked()$observe(1), "argument_error", "`$observe()` needs `reward`")
  expect_remedy(two_rewards()$observe(1:2, c(1, 3)), "state_error", "Use `$amend()` to change it")
  expect_remedy(two_rewards()$tell(1, 1), "argument_error", "Use `$observe()`")
  expect_remedy(two_rewards()$ask(), "argument_error", "Use `$suggest()`")
  expect_remedy(two_rewards()$plot(), "argument_error", "Use `plot()` of the bandit")
  expect_remedy(two_rewards()$sugest(), "argument_error", "Did you mean `$suggest()`?")
  expect_remedy(two_rewards()$suggest(0), "argument_error", "an integer >= 1")
  expect_remedy(two_rewards()$suggest(batch = 3), "argument_error", "Use `n`")
  expect_remedy(two_rewards()$add(data.frame(speed = 0.5), 3), "argument_error", "use `reward = `")
  expect_message(two_rewards()$add(x = 2, reward = 3), "outside the search space (speed = 2)", fixed = TRUE)
  expect_remedy(predict(two_rewards(), data.frame(sped = 1)), "argument_error", "with the names \"speed\"")
  expect_remedy(predict(two_rewards()), "argument_error", "`predict()` needs `newdata`")
  expect_remedy(plot(two_rewards(), "contour"), "argument_error", "one of \"auto\"")
  expect_remedy(check_model(two_rewards()), "state_error", "needs at least 3 observed results; `object` has 2")
  expect_remedy(auto_bandit(list(x = c(0, 1)), data.frame(x = c(0.1, 0.2), y = 1:2)), "argument_error",
                "without `reward` (its columns: x, y)")
})

test_that("mistakes in the parts of an algorithm have helpful errors", {
  expect_remedy(gp_ucb(1:9, kernel_se(0.2)), "argument_error", "needs `noise_var`", "Try `noise_var = 0.01`")
  expect_remedy(gp_ucb(1:9, kernel_se(0.2), 0), "argument_error", "a number > 0")
  expect_remedy(gp_ucb(1:9, kernel_matern(0.2), 0.1), "argument_error", "Try `lengthscale = 0.2`")
  expect_remedy(gp_ucb(1:9, kernel_se(c(1, 2)), 0.1), "argument_error", "one number or one for each input")
  expect_remedy(gp_ucb(1:9, "rbf", 0.1), "argument_error", "Try \"se\"")
  expect_remedy(gp_ucb(1:9, kernel_se(1), 0.1, beta = 2), "argument_error", "Use `width`")
  expect_remedy(gp_bandit(1:9, kernel_se(1), 0.1), "argument_error", "needs `policy`", "Try `policy = \"ei\"`")
  expect_remedy(gp_bandit(1:9, kernel_se(1), 0.1, policy_ei), "argument_error", "with its parentheses")
  expect_remedy(gp_bandit(1:9, kernel_se(1), 0.1, acq = "ei"), "argument_error", "Use `policy`")
  expect_remedy(gp_bandit(1:9, kernel_se(1), 0.1, "ei", maximize = FALSE), "argument_error", "report the reward -y")
  expect_remedy(igp_ucb(1:9, kernel_se(1), 0.1), "argument_error", "needs `B`", "Try `B = 1`")
})

test_that("mistakes with files, stores and logs have helpful errors", {
  expect_remedy(open_bandit(tempfile()), "argument_error", "Try `gp_bandit(..., journal = )`")
  shop <- auto_bandit(list(x = letters[1:3]), contexts = list(device = c("phone", "tv"), new = param_logical(), hour = c(0, 23)))
  expect_remedy(shop$suggest(), "argument_error", "context = list(device = \"phone\", new = FALSE, hour = 0)")
  expect_remedy(shop$suggest(context = list(device = "tv", new = TRUE)), "argument_error", "without hour")
  expect_remedy(auto_bandit(letters[1:3]), "argument_error", "list(x = c(\"a\", \"b\"))")
  survey <- auto_bandit(list(east = c(0, 6), north = c(0, 4)), policy = policy_straddle(50))
  expect_remedy(survey$levels(), "argument_error", "expand.grid(east = ..., north = ...)")
  expect_output(print(survey), "straddle, level 50")
  expect_remedy(bandit_store(tempfile()), "argument_error", "Try `name = \"experiment\"`")
  expect_remedy(regret_bound("gp-ucb", 100), "argument_error", "Try \"igp_ucb\"")
  expect_remedy(evaluate_policy(data.frame(arm = 1:3, reward = 1:3), gp_ucb(1:3, kernel_se(1), 0.1)), "argument_error",
                "without `propensity`", "Try `$history(draws = 200)`")
})

test_that("calls in the style of other tools, with a clear meaning, work", {
  set.seed(2)
  expect_gt(maximize_bandit(function(x) -(x$x - 2)^2, list(x = c(1, 3)), 4)$value, -2)
  expect_gt(maximize_bandit(function(x, y) x + y, list(x = c(1, 3), y = c(0, 1)), 4)$value, 1)
  expect_s3_class(maximize_bandit(peak, line, 4, policy = "ucb"), "bandit_maximum")
  expect_s3_class(search_space(x = c(0, 1)), "search_domain")
  expect_s4_class(gp_bandit(1:9, kernel_se(1), 0.1, policy = policy_ucb()), "GPBandit")
  bandit <- asked()
  bandit$observe(bandit$history()["id"], c(1, 2))
  bandit$observe(1:2, c(1, 2))
  expect_identical(bandit$history()$reward, c(1, 2))
  expect_message(far <- auto_bandit(list(x = c(0, 1)), data.frame(x = c(0.1, 0.2, 5), reward = 1:3)), "Row 3")
  expect_identical(nrow(far$history()), 3L)
})
