# as_json() and from_json(): the same bandit, to the bit, that chooses the same; text of anybody's is data.

json_x <- seq(0, 1, length.out = 25)

json_makers <- list(
  ucb = function() gp_ucb(json_x, kernel_se(0.2), 0.01),
  labels = function() {
    gp_ei(data.frame(a = c(0.1, 1 / 3, 0.7), row.names = c("caf\u00e9", "b", "c")), kernel_matern(1.5, 1 / 3), 0.01)
  },
  ts = function() gp_ts(json_x, kernel_se(0.2), 0.01, B = 1, R = 0.1),
  hallucinate = function() gp_bucb(json_x, kernel_se(0.2), 0.01),
  censor = function() gp_ucb_sdf(json_x, kernel_se(0.2), 0.01, m = 3),
  contexts = function() gp_ucb(json_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = cbind(z = c(0, 1))),
  open = function() gp_ucb(json_x, kernel_se(c(0.2, 0.5)), 0.01, contexts = "z"),
  box = function() gp_ts(list(u = c(0, 1)), kernel_se(0.2), 0.01, B = 1, R = 0.1, gain = 1),
  space = function() auto_bandit(search_space(a = param_real(0.01, 1, log = TRUE), b = param_factor(c("x", "y")),
                                              n = param_integer(1, 9, when = ~ b == "y"))),
  changes = function() gp_ucb(json_x, kernel_se(0.2), 0.01, changes = change_oracle(c(4, 9), explore = 1)),
  constraints = function() gp_ucb(json_x, kernel_se(0.2), 0.01, constraints = constraints_noisy(2, 3, 0.5)),
  refits = function() gp_ucb(json_x, kernel_se(0.2), 0.01, refit = refit_every(4, mean = "fit")),
  bandit = function() baseline_constrained("ckb", json_x, kernel_se(0.2), 0.01, step = 0.3, bound = 4)
)

json_step <- function(bandit) {
  count <- if (is.null(bandit$config$constraints)) 0 else bandit$config$constraints$count
  context <- if (length(bandit$config$context_names)) sample(0:1, 1)
  q <- bandit$suggest(1, context = context)
  g <- if (count > 0) matrix(stats::rnorm(count), 1)
  if (stats::runif(1) < 0.8) bandit$observe(q$id, stats::rnorm(1), constraints = g)
  q
}

test_that("a bandit restored from JSON is identical to the bit and makes the same choices", {
  for (name in names(json_makers)) {
    set.seed(81)
    bandit <- json_makers[[name]]()
    for (t in 1:9) json_step(bandit)
    known <- which(bandit$history()$status == "observed")
    pending <- which(bandit$history()$status == "pending")
    if (length(known)) try(bandit$amend(known[1], 0.25), silent = TRUE)
    if (length(pending)) bandit$fail(pending[1])
    text <- as_json(bandit)
    expect_true(validUTF8(text))
    again <- from_json(text)
    expect_identical(again$history(), bandit$history(), info = name)
    for (table in c("queries", "events")) {
      expect_identical(log_columns(again, table), log_columns(bandit, table),
                       info = name)
    }
    expect_identical(again$refits, bandit$refits, info = name)
    expect_identical(as_json(again), text, info = name)
    go_on <- function(b) {
      set.seed(82)
      lapply(1:4, function(t) json_step(b))
    }
    expect_identical(go_on(again), go_on(bandit), info = name)
  }
})

test_that("numbers that need a 16th digit keep their last bit", {
  x <- 0.41456699092029903
  b <- gp_bandit(list(u = c(0, 1)), kernel_se(0.3), 0.01, policy_mean())
  b$add(data.frame(u = x), reward = x)
  expect_identical(from_json(as_json(b))$history(), b$history())
})

test_that("spaces, outcomes, likelihoods, mixtures, priors and campaigns from JSON make the same choices", {
  arms <- seq(0, 1, length.out = 9)
  oils <- data.frame(fat = c(14, 7, 87), row.names = c("olive", "rape", "coconut"))
  makers <- list(
    product = function() {
      gp_ucb(product_domain(data.frame(k = 1:3), box_domain(0, 1, "u")), kernel_se(c(1, 0.3)), 0.01, width = width_constant(2))
    },
    shares = function() auto_bandit(search_space(s = param_shares(c("a", "b", "c"), upper = 0.8),
                                                 w = param_real(0.1, 0.4)), n_initial = 2),
    levels = function() {
      auto_bandit(search_space(oil = param_factor(row.names(oils), features = oils), n = param_integer(1, 4),
                               w = param_real(0, 1, when = ~ n > 2), where = ~ n <= 3 | oil == "rape"), n_initial = 2)
    },
    limit = function() auto_bandit(list(h = c(0, 1)), outcomes = list(yield = to_maximize(), waste = at_most(2)),
                                   n_initial = 2),
    front = function() auto_bandit(list(h = c(0, 1)), outcomes = list(yield = to_maximize(), waste = to_minimize()),
                                   n_initial = 2),
    prior_optimum = function() auto_bandit(list(h = c(0, 1)), prior_optimum = prior_normal(h = c(0.7, 0.1)),
                                           direction = "minimize",
                                    n_initial = 2),
    transfer = function() {
      earlier <- data.frame(h = c(0.1, 0.5, 0.9), reward = c(1, 2, 1))
      auto_bandit(list(h = c(0, 1)), transfer = list(before = earlier))
    },
    chances = function() gp_bandit(arms, kernel_se(0.3, 2), policy = policy_ucb(width_constant(2)), rewards = rewards_binary()),
    duels = function() gp_bandit(arms, kernel_se(0.3, 4), policy = policy_duel(2), rewards = rewards_preferences()),
    rankings = function() gp_bandit(arms, kernel_se(0.3, 4), policy = policy_ts(width_constant(1)), rewards = rewards_preferences("rankings"))
  )
  step <- function(b, name) {
    q <- suppressWarnings(b$suggest(2))
    value <- round(sin(5 * q$id) + 1.2, 2)
    if (name %in% c("limit", "front")) b$observe(data.frame(id = q$id, yield = value, waste = value^2))
    else if (name == "chances") b$observe(q$id, as.numeric(value > 1))
    else if (name == "duels" && q$arm[1] == q$arm[2]) b$withdraw(q$id)
    else if (name %in% c("duels", "rankings")) b$observe(q$id, prefer = q$id[2])
    else b$observe(q$id, value)
    q
  }
  for (name in few_of(names(makers), 4)) {
    set.seed(85)
    bandit <- makers[[name]]()
    for (t in 1:2) step(bandit, name)
    late <- suppressWarnings(bandit$suggest(2))
    again <- from_json(as_json(bandit))
    expect_identical(again$history(), bandit$history(), info = name)
    go_on <- function(b) {
      set.seed(86)
      if (name == "shares") b$observe(late$id[1], 0.3)             # a late one
      list(step(b, name), b$suggest(), if (name == "front") b$front() else suppressWarnings(b$best()))
    }
    expect_identical(go_on(again), go_on(bandit), info = name)
  }
})

test_that("the text is JSON that other software reads, and its lines are one text", {
  skip_if_not_installed("jsonlite")
  b <- gp_ucb(json_x, kernel_se(0.2), 0.01)
  set.seed(83)
  for (t in 1:5) json_step(b)
  text <- as_json(b)
  found <- jsonlite::parse_json(text)
  expect_identical(found$format, "gpbandits bandit")
  expect_equal(unlist(found$queries$arm) + 1, b$history()$arm)
  expect_length(found$events$kind, log_size(b))
  pretty <- jsonlite::prettify(text)
  expect_identical(from_json(strsplit(pretty, "\n")[[1]])$history(), b$history())
})

test_that("settings with custom functions are an error that states the reason", {
  makers <- list(width = gp_ucb(json_x, kernel_se(0.2), 0.01, width = width_function(sqrt)),
                 kernel = gp_ei(json_x, kernel_function(function(X, Y) exp(-abs(outer(X[, 1], Y[, 1], "-")))), 0.01),
                 policy = gp_bandit(json_x, kernel_se(0.2), 0.01, policy_function(function(mean, sd, round) mean)),
                 changes = gp_ucb(json_x, kernel_se(0.2), 0.01, changes = change_function(function(...) FALSE)),
                 where = auto_bandit(search_space(a = param_real(0, 1), b = param_real(0, 1),
                                                  where = function(d) d$a < d$b)))
  for (b in makers) expect_error(as_json(b), "carries no code.*trust = TRUE", class = "gpbandits_error")
  expect_error(as_json(makers$policy), "`policy`", class = "gpbandits_error")
  own <- auto_bandit(box_domain(c(a = 0), c(a = 1)), prior_optimum = function(x) -(x[, 1] - 0.3)^2)
  expect_error(as_json(own), "`prior_optimum`", class = "gpbandits_error")
  expect_error(as_json(1), "`bandit`", class = "gpbandits_error")
})

test_that("untrusted text is checked as a whole, and never used as a path, an address or code", {
  set.seed(84)
  b <- gp_ucb(json_x, kernel_se(0.2), 0.01)
  for (t in 1:6) json_step(b)
  text <- as_json(b)
  file <- tempfile(fileext = ".json")
  writeLines(text, file)
  not_text <- list(1, NULL, NA_character_, character(), "", file, "http://127.0.0.1:1/x", "{}", "[]", "null", "1",
                   "{\"format\":\"gpbandits bandit\",\"version\":2}", substr(text, 1, nchar(text) - 1),
                   paste0(text, "x"), strrep("[", 1e5))
  for (x in not_text) expect_error(from_json(x), class = "gpbandits_error")
  # No part of the text is quoted.
  message <- tryCatch(from_json("{\"secret\": 1}"), error = conditionMessage)
  expect_false(grepl("secret", message))
  # Damaged at any position: an error, or another bandit that works (a reward may have changed).
  fates <- c(refused = 0, answered = 0)
  for (k in seq_len(by_level(400, 4000, quick = 120))) {
    at <- sample.int(nchar(text), 1)
    spoilt <- text
    substr(spoilt, at, at) <- sample(c(letters, 0:9, "{", "}", "[", "]", ",", "-", "\"", "e"), 1)
    fate <- tryCatch({
      from_json(spoilt)$posterior()
      "answered"
    }, gpbandits_error = function(e) "refused")
    fates[fate] <- fates[fate] + 1
  }
  expect_gt(fates[["refused"]], fates[["answered"]])
  expect_error(from_json(sub("\"kind\":[1", "\"kind\":[7", text, fixed = TRUE)), class = "gpbandits_error")
  expect_error(from_json(sub("\"reward\":", "\"gain\":", text, fixed = TRUE)), class = "gpbandits_error")
})
