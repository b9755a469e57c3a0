# Where there is one thing to try, the error says it; a column that is not there is named.

said_by <- function(code) tryCatch({
  code
  ""
}, gpbandits_error = conditionMessage)

test_that("errors state a remedy, and the missing column", {
  expect_match(said_by(gp_ucb(1:3)), "`auto_bandit()`, which", fixed = TRUE)
  expect_match(said_by(gp_bandit(1:3)), "needs `kernel`. Try .*`auto_bandit\\(\\)`, which")
  b <- gp_ucb(1:3, kernel_se(1), 0.1)
  b$suggest()
  expect_match(said_by(b$observe(data.frame(id = 1, yield = 2))), "without `reward` (its columns: id, yield)", fixed = TRUE)
  expect_identical(b$history()$status, "pending")
  expect_match(said_by(auto_bandit(list(x = c(0, 1), y = c(0, 1)), data.frame(x = 0.5, reward = 1))), "without `y`", fixed = TRUE)
  expect_match(said_by(gpbandits:::need_package("nopackagehere", "store")), "Try `install.packages(\"nopackagehere\")`.", fixed = TRUE)
  b$observe(1, 2)
  expect_match(said_by(b$observe(1, 3)), "$amend()", fixed = TRUE)
  expect_match(said_by(gp_ucb(1:3, kernel_se(1))), "`gp_ucb\\(\\)` needs `noise_var`.*`auto_bandit\\(\\)`")
  expect_match(said_by(gp_bandit(1:3, kernel_se(1), 0.1, policy_ucb)), "Try `policy_ucb(...)`, with its parentheses", fixed = TRUE)
  expect_match(said_by(auto_bandit(list(c(0, 1)))), "Try names for its entries", fixed = TRUE)
  expect_match(said_by(maximize_bandit(sum, list(x = c(0, 1)), evalutions = 5)), "Unknown argument `evalutions`. Use `evaluations`.", fixed = TRUE)
  expect_match(said_by(open_bandit(tempfile())), "Try `gp_bandit(..., journal = )` with this path", fixed = TRUE)
  expect_match(said_by(gp_ucb(1:3, kernel_se(1), 0.1, contexts = "age")$suggest()), "Try `context = c(age = 1)`", fixed = TRUE)
  expect_match(said_by(evaluate_policy(data.frame(arm = 1), b)), "without `reward`, `propensity`.*Try `.history\\(draws = 200\\)`")
  two <- function(u, v) u + v
  expect_match(said_by(maximize_bandit(two, list(x = c(0, 1), y = c(0, 1)), evaluations = 5)), "Try `function(point) f(point[[1]]", fixed = TRUE)
  several <- auto_bandit(list(x = c(0, 1)), outcomes = list(yield = to_maximize(), ph = at_most(7)))
  several$suggest()
  expect_match(said_by(several$observe(data.frame(id = 1, yeild = 2))), "without `yield`, `ph` (its columns: id, yeild)", fixed = TRUE)
  # An outcome's name is no argument, not even if it begins the name of one.
  expect_match(said_by(several$observe(1, ph = 1)), "Use `reward = c(ph = )`", fixed = TRUE)
  b_named <- auto_bandit(list(x = c(0, 1)), outcomes = list(a = to_maximize(), b = to_minimize()))
  expect_match(said_by(b_named$observe(1, b = 2)), "Use `reward = c(b = )`", fixed = TRUE)
})

test_that("a search without a successful evaluation reports the reason", {
  expect_warning(found <- maximize_bandit(function(p) stop("flask broken"), list(x = c(0, 1)), evaluations = 4),
                 "None of 4 evaluations.*flask broken", class = "gpbandits_no_success")
  expect_output(print(found), "error: flask broken")
  expect_warning(maximize_bandit(function(p) stop("flask broken"), list(x = c(0, 1)), evaluations = 30), "flask broken", class = "gpbandits_no_success")
})
