# A string represents a constructor with its defaults wherever a component is expected.

strings_x <- seq(0, 1, length.out = 9)

# The same bandit, and the same choices.
expect_same_bandit <- function(by_string, by_object) {
  play <- function(bandit) {
    set.seed(1)
    for (t in 1:3) bandit$observe(bandit$suggest()$id, as.double(t %% 2))
    bandit$history()
  }
  expect_identical(by_string$config[c("kernel", "policy", "pending", "changes", "rewards")],
                   by_object$config[c("kernel", "policy", "pending", "changes", "rewards")])
  expect_identical(play(by_string), play(by_object))
}

test_that("a string is the constructor with its defaults", {
  expect_same_bandit(gp_bandit(strings_x, "matern", 0.1, "ei"), gp_bandit(strings_x, kernel_matern(), 0.1, policy_ei()))
  expect_same_bandit(gp_bandit(strings_x, "se", 0.1, "ucb"), gp_bandit(strings_x, kernel_se(), 0.1, policy_ucb(width_constant(2))))
  expect_same_bandit(gp_bandit(strings_x, "rq", 0.1, "ts"), gp_bandit(strings_x, kernel_rq(), 0.1, policy_ts(width_constant(1))))
  expect_same_bandit(gp_ucb(strings_x, "matern", 0.1, pending = "hallucinate"),
                     gp_ucb(strings_x, kernel_matern(), 0.1, pending = pending_hallucinate()))
  expect_same_bandit(gp_bandit(strings_x, "se", 0.1, "ei", changes = "never"),
                     gp_bandit(strings_x, kernel_se(), 0.1, policy_ei(), changes = change_never()))
  expect_same_bandit(gp_bandit(strings_x, "se", policy = "ucb", rewards = "binary"),
                     gp_bandit(strings_x, kernel_se(), policy = policy_ucb(), rewards = rewards_binary()))
})

test_that("strings work in every call that takes a component", {
  y <- sin(6 * strings_x)
  matern <- kernel_matern()
  expect_identical(gp_regression(strings_x, y, "matern", 0.1)$kernel, matern)
  expect_equal(gp_fit(strings_x, y, "matern")$kernel, gp_fit(strings_x, y, matern)$kernel)
  expect_identical(kernel_gram("matern", strings_x), kernel_gram(matern, strings_x))
  expect_identical(information_gain("matern", strings_x, 0.1), information_gain(matern, strings_x, 0.1))
  expect_identical(ridge_rate("matern", 10), ridge_rate(matern, 10))
  set.seed(1)
  drawn <- sample_gp("matern", strings_x)
  set.seed(1)
  expect_identical(drawn, sample_gp(matern, strings_x))
  expect_identical(policy_repeats("ei"), policy_repeats(policy_ei()))
  expect_identical(policy_ucb("irgp"), policy_ucb(width_irgp()))
  expect_identical(to_maximize(kernel = "se"), to_maximize(kernel = kernel_se()))
  two <- gp_bandit(strings_x, "se", 0.1, "ei", outcomes = list(yield = "maximize", cost = at_most(1)))
  by_object <- gp_bandit(strings_x, "se", 0.1, "ei", outcomes = list(yield = to_maximize(), cost = at_most(1)))
  expect_identical(two$config$outcomes, by_object$config$outcomes)
  followed <- gp_bandit(strings_x, "se", 0.1, "ei", outcomes = list(yield = "maximize", cost = "tracked"))
  by_object <- gp_bandit(strings_x, "se", 0.1, "ei", outcomes = list(yield = to_maximize(), cost = tracked()))
  expect_identical(followed$config$outcomes, by_object$config$outcomes)
  of_string <- function(role) gp_bandit(strings_x, "se", 0.1, "ei", outcomes = list(yield = "maximize", cost = role))
  expect_error(of_string("at_most"), "at_most(limit = )", fixed = TRUE)
  expect_error(of_string("watched"), "\"maximize\", \"minimize\", \"tracked\"", fixed = TRUE)
  expect_identical(width_igp(1, 1, 0.1, gain = "rate"), width_igp(1, 1, 0.1, gain = gain_rate()))
  expect_identical(safe_opt(strings_x, "se", 0.1, threshold = -2, seed = 4, width = 2, pending = "hallucinate")$config$pending,
                   pending_hallucinate())
  found <- maximize_bandit(function(p) sin(3 * p[["u"]]), list(u = c(0, 1)), evaluations = 5,
                           model = gp_model(kernel = "se"), policy = "ucb")
  expect_identical(found$bandit$config$policy$kind, "ucb")
  expect_identical(auto_bandit(list(u = c(0, 1)), policy = "ts")$config$policy, policy_ts())
})

test_that("a type that has only a string works wherever its component is expected, and is listed", {
  level <- gp_lse(strings_x, "se", 0.1, level = 0.5, accuracy = 0.5)
  problem <- bandit_problem(strings_x, sin(6 * strings_x), noise = 0.1)
  set.seed(1)
  rounds <- run_bandit(level, problem, 100, stop_when = "levels")$rounds
  expect_lt(rounds, 100)
  expect_false("unknown" %in% level$levels()$label)
  expect_true(level$certificate("levels")$certified)
  expect_error(run_bandit(level, problem, 2, stop_when = "labels"), "\"levels\"", class = "gpbandits_error")
})

test_that("an unknown string lists the choices, and a constructor that needs arguments names them", {
  complains <- function(code, ...) {
    said <- conditionMessage(expect_error(code, class = "gpbandits_error"))
    for (text in c(...)) expect_match(said, text)
  }
  complains(gp_bandit(strings_x, "gauss", 0.1, "ei"), "`kernel`", "not \"gauss\"", "\"matern\"", "\"se\"")
  complains(gp_bandit(strings_x, "se", 0.1, "expected"), "`policy`", "\"ei\"", "\"ucb\"", "\"ts\"")
  complains(gp_bandit(strings_x, "se", 0.1, "ei", pending = "wait"), "`pending`", "\"hallucinate\"", "\"ignore\"")
  complains(gp_bandit(strings_x, "se", 0.1, "ei", changes = "sometimes"), "`changes`", "\"never\"")
  complains(gp_bandit(strings_x, "se", 0.1, "ei", rewards = "yes"), "`rewards`", "\"binary\"", "\"counts\"")
  complains(gp_bandit(strings_x, "se", 0.1, "ei", pending = "censor"), "pending_censor\\(m = \\)")
  complains(gp_bandit(strings_x, "se", 0.1, "straddle"), "policy_straddle\\(level = \\)")
  complains(gp_bandit(strings_x, "gram", 0.1, "ei"), "`kernel`", "\"matern\"")
  complains(gp_bandit(strings_x, "", 0.1, "ei"), "`kernel`", "\"matern\"")
  complains(gp_bandit(strings_x, c("se", "rq"), 0.1, "ei"), "`kernel`")
})

test_that("each listed string works, and no stored part may be a string", {
  for (class in c("bandit_kernel", "bandit_policy", "bandit_pending", "bandit_changes", "bandit_rewards", "bandit_width",
                  "bandit_stop", "bandit_outcome")) {
    strings <- gpbandits:::strings_for(class)
    expect_gt(length(strings), 0)
    for (string in strings) expect_s3_class(gpbandits:::as_part(string, class), class, exact = TRUE)
  }
  expect_error(gpbandits:::check_class("ei", "bandit_policy"), class = "gpbandits_error")
})

test_that("a string where only objects are possible is an error that names them", {
  found <- tryCatch(gp_bandit(1:5, kernel_se(1), 0.1, policy_ei(), constraints = "a"), error = identity)
  expect_s3_class(found, "gpbandits_argument_error")
  expect_match(conditionMessage(found), "must be an object of class bandit_constraints", fixed = TRUE)
})
