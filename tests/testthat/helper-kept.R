# What is kept of each release (tools/keep_files.R writes it, test-compatibility.R reads it). A kind is never changed
# once a release has written it; new ones are added.

kept_kinds <- list(
  arms = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, ...)),
  labelled = list(make = function(...) {
    gp_ucb(data.frame(a = c(1, 2, 4), row.names = c("one", "two", "four")), kernel_matern(1.5, 2), 0.1, pending = pending_hallucinate(), ...)
  }),
  box = list(make = function(...) {
    gp_ucb(list(u = c(0, 2), v = c(-1, 1)), kernel_matern(2.5, c(0.5, 1)), 0.1, width = width_constant(2), ...)
  }),
  space = list(make = function(...) {
    space <- search_space(dose = param_real(0.01, 1, log = TRUE), n = param_integer(1, 4), rule = param_factor(c("a", "b")))
    gp_ucb(space, kernel_se(1, dims = "dose") + kernel_se(2, dims = "n") + kernel_categorical(0.5, dims = "rule"), 0.1,
           width = width_constant(2), ...)
  }),
  contexts = list(make = function(...) gp_ucb(1:4 / 4, kernel_se(c(0.3, 1)), 0.1, contexts = "age", ...), question = list(context = 0.5)),
  constraints = list(make = function(...) gp_ucb(1:4 / 4, kernel_se(0.3), 0.1, constraints = constraints_noisy(1, 3, 0.5), ...),
                     constraint = -0.25),
  thompson = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ts(width_constant(1)), ...)),
  drift = list(make = function(...) gp_ucb_drift(1:6 / 6, kernel_se(0.3), 0.1, forget = change_oracle(window = 4), ...)),
  scaled = list(make = function(...) gp_ei(1:6 / 6, kernel_se(0.3), 0.1, outputs = scale_outputs(direction = "minimize"), ...)),
  refits = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, refit = refit_every(3, mean = "fit"), ...)),
  replicates = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, ...), record = function(value) c(value, value + 0.5)),
  outcomes = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ei(), outcomes = list(yield = to_maximize(), impurity = at_most(1)), ...)
  }, record = function(value) c(yield = value, impurity = 0.5 + value / 4)),
  binary = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_ucb(width_constant(1)), rewards = rewards_binary(), ...),
                record = function(value) as.double(value > 0.5)),
  # ---- since 0.9.0. `live`: events of its own instead of those that all others have; `choice = FALSE`: its next choice
  # follows from a fit or a search, and may differ on other machines and in later versions.
  product = list(make = function(...) {
    gp_ucb(product_domain(data.frame(k = c(1, 2)), list(u = c(0, 1))), kernel_se(c(1, 0.5)), 0.1, width = width_constant(2), ...)
  }, choice = FALSE),
  conditional = list(make = function(...) {
    space <- search_space(a = param_real(0, 1), more = param_logical(), b = param_integer(1, 5, when = ~ more), where = ~ a + b / 10 <= 1.2)
    gp_ucb(space, kernel_se(0.3, dims = "a") + kernel_se(2, dims = "b") + kernel_categorical(0.5, dims = "more"), 0.1, width = width_constant(2), ...)
  }, choice = FALSE),
  mixture = list(make = function(...) {
    space <- search_space(mix = param_shares(c("p", "q", "r")), t = param_real(0, 10, step = 0.5))
    gp_ucb(space, kernel_se(0.5, dims = c("p", "q", "r")) + kernel_se(3, dims = "t"), 0.1, width = width_constant(2), ...)
  }, choice = FALSE),
  features = list(make = function(...) {
    space <- search_space(s = param_factor(c("a", "b", "c"), features = data.frame(x = c(0, 1, 3))), u = param_real(0, 1))
    auto_bandit(space, n_initial = 2, model = gp_model(refit = NULL), ...)
  }, choice = FALSE),
  kernels = list(make = function(...) {
    kernel <- kernel_rq(1, 0.5) * kernel_periodic(0.5) + kernel_linear(0.3) + kernel_matrix(diag(6) / 10)
    gp_ucb(1:6 / 6, kernel, 0.1, mean = 1:6 / 10, ...)
  }),
  counts = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_ucb(width_constant(1)), rewards = rewards_counts(), ...),
                record = function(value) round(3 + 2 * value)),
  ordinal = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_ts(), rewards = rewards_ordinal(c("bad", "fair", "good")), ...)
  }, record = function(value) pmin(pmax(round(2 + value), 1), 3)),
  robust = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ucb(width_constant(1)), rewards = rewards_robust(), ...)),
  clipped = list(make = function(...) gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ucb(width_constant(1)), rewards = rewards_robust(clip = 0.5), ...)),
  preferences = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_duel(width_constant(1)), rewards = rewards_preferences(ties = TRUE), ...)
  }, live = function(bandit) {
    for (k in 1:4) {
      query <- bandit$suggest(2)
      bandit$observe(query$id, prefer = if (k == 2) NA else query$id[1 + k %% 2])
    }
    bandit$amend(1:2, prefer = 1)
  }, goes_on = function(bandit) {
    query <- bandit$suggest(2)
    bandit$observe(query$id, prefer = query$id[1])
  }),
  rankings = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), policy = policy_ts(), rewards = rewards_preferences("rankings"), ...)
  }, live = function(bandit) {
    for (k in 1:3) bandit$rank(bandit$suggest(3)$id[(k + 0:2) %% 3 + 1])
  }, goes_on = function(bandit) bandit$rank(bandit$suggest(2)$id)),
  # Noise of single rewards, eligible arms, reasons, failures that count as the worst reward.
  details = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, failures = "avoid", ...), live = function(bandit) {
    bandit$observe(bandit$suggest()$id, 0.3, noise_var = 0.2)
    bandit$observe(bandit$suggest(arms = c(2, 4))$id, 0.1)
    bandit$fail(bandit$suggest()$id, reason = "the oven was \u00fcber 90\u00b0")
    bandit$withdraw(bandit$suggest(fixed = list(x1 = 0.5))$id, reason = "not needed")
    bandit$add(arm = 5, reward = -0.2)
    bandit$suggest()
  }),
  censored = list(make = function(...) gp_ucb_sdf(1:6 / 6, kernel_se(0.3), 0.1, m = 2, ...), live = function(bandit) {
    for (k in 1:5) bandit$suggest()
    bandit$observe(2, 0.5)
    bandit$observe(5, 0.25)
  }),
  design = list(make = function(...) {
    gp_bandit(list(u = c(0, 1)), kernel_se(0.3), 0.1, policy_ei(), initial_design = data.frame(u = c(0.2, 0.8, 0.5)),
              prior_optimum = prior_normal(u = c(0.4, 0.2)), ...)
  }, choice = FALSE),
  averaged = list(make = function(...) {
    auto_bandit(list(u = c(0, 1)), n_initial = 2, model = gp_model(refit = refit_every(3, minimum = 3, average = 3, starts = 1, smoothness = c(0.5, 2.5))), ...)
  }, choice = FALSE),
  transformed = list(make = function(...) {
    auto_bandit(1:6 / 6, n_initial = 2, direction = "minimize",
                model = gp_model(kernel = kernel_se(0.3), transform = "power", refit = refit_every(9, starts = 1)), ...)
  }, live = function(bandit) {
    for (k in 1:12) {
      query <- bandit$suggest()
      bandit$observe(query$id, exp(2 * sin(5 * query$x1) + k / 20))
    }
  }, choice = FALSE),
  varying = list(make = function(...) {
    gp_bandit(1:12 / 12, kernel_se(0.3), 0.1, policy_ucb(width_constant(1)), refit = refit_every(3, noise = "varying", starts = 1), ...)
  }, live = function(bandit) {
    bandit$add(arm = rep(1:12, 4), reward = sin(5 * 1:12 / 12) + rep(c(1, -1, 0.5, -0.5), each = 12) * rep(c(0.01, 1), each = 6))
    bandit$observe(bandit$suggest()$id, 0.5)
  }, choice = FALSE),
  transfer = list(make = function(...) {
    before <- data.frame(u = 0:5 / 5, reward = sin(0:5))
    auto_bandit(list(u = c(0, 1)), transfer = list(may = before), model = gp_model(refit = refit_every(4, starts = 1)), ...)
  }, choice = FALSE),
  several = list(make = function(...) {
    outcomes <- list(yield = to_maximize(), waste = to_minimize(), ph = in_range(-2, 3), hue = tracked())
    auto_bandit(list(u = c(0, 1)), n_initial = 2, outcomes = outcomes, model = gp_model(refit = NULL), ...)
  }, live = function(bandit) {
    for (k in 1:4) {
      query <- bandit$suggest()
      bandit$observe(query$id, list(yield = sin(5 * query$u), waste = query$u, ph = k / 4, hue = if (k == 2) NA_real_ else 1))
    }
    bandit$withdraw(2, outcome = "hue")
    bandit$amend(3, list(waste = 0.4))
  }, goes_on = function(bandit) bandit$observe(bandit$suggest()$id, list(yield = 1, waste = 0.2, ph = 1, hue = 2)), choice = FALSE),
  grown = list(make = function(...) gp_ucb(data.frame(a = c(1, 2, 4), row.names = c("one", "two", "four")), kernel_se(1), 0.1, ...),
               live = function(bandit) {
    bandit$observe(bandit$suggest()$id, 0.2)
    bandit$add_arms(data.frame(a = c(3, 5), row.names = c("three", "five")))
    bandit$observe(bandit$suggest(2)$id, c(0.1, 0.4))
  }),
  forgets = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ucb(width_constant(1)), changes = change_oracle(window = c(5, 15)), ...)
  }, live = function(bandit) {
    for (k in 1:27) {
      query <- bandit$suggest()
      bandit$observe(query$id, sin(query$x1 * 3 + k %/% 9 * 2))
    }
  }),
  event = list(make = function(...) {
    gp_bandit(1:6 / 6, kernel_se(0.3), 0.1, policy_ucb(width_constant(1)), changes = change_detect(delta = 0.1), ...)
  }, live = function(bandit) {
    for (k in 1:8) bandit$observe(bandit$suggest()$id, if (k < 5) 0.5 else -3)
  }),
  levels = list(make = function(...) gp_lse(1:6 / 6, kernel_se(0.3), 0.1, level = 0.5, accuracy = 0.1, width = width_constant(2), ...)),
  safe = list(make = function(...) safe_opt(1:6 / 6, kernel_se(0.3), 0.1, threshold = -2, seed = 3:4, width = width_constant(2), ...)),
  # A rule in R, whose memory is a part of the file.
  script = list(make = function(...) baseline_constrained("ckb", 1:6 / 6, kernel_se(0.3), 0.1, step = 0.5, bound = 1, ...), constraint = 0.1, store = FALSE),
  # A log that begins with sums of earlier rounds.
  compacted = list(make = function(...) gp_ucb(1:6 / 6, kernel_se(0.3), 0.1, ...), live = function(bandit) {
    for (k in 1:9) bandit$observe(bandit$suggest()$id, sin(k))
    bandit$compact(keep = 3)
    bandit$observe(bandit$suggest()$id, 0.5)
  }, store = FALSE)
)

# A life of asking and reporting, with every kind of event.
kept_live <- function(bandit, kind) {
  own <- kept_kinds[[kind]]$live
  if (!is.null(own)) {
    suppressWarnings(own(bandit))
    return(bandit)
  }
  for (k in 1:5) {
    query <- do.call(bandit$suggest, kept_question(kind))
    if (k != 3) kept_record(bandit, kind, query)
  }
  if (is.null(kept_kinds[[kind]]$record)) bandit$amend(2, 0.25)
  bandit$fail(3)
  do.call(bandit$suggest, kept_question(kind))
  bandit$withdraw(6)
  bandit
}

kept_record <- function(bandit, kind, query) {
  value <- kept_reward(kind, query)
  record <- kept_kinds[[kind]]$record
  bandit$observe(query$id, if (is.null(record)) value else record(value), constraints = kept_constraint(kind))
}

kept_question <- function(kind) as.list(kept_kinds[[kind]]$question)
kept_constraint <- function(kind) kept_kinds[[kind]]$constraint

# A reward that depends on the point and the round, in any domain.
kept_reward <- function(kind, query) {
  numbers <- Filter(is.numeric, query[setdiff(names(query), c("id", "arm", "token", "attempt"))])
  round(sin(3 * sum(unlist(numbers), na.rm = TRUE)), 3) + query$id / 100
}

# Plain data that can be compared: the log, the posterior at some points, the next choice.
kept_facts <- function(bandit, kind) {
  history <- as.list(bandit$history())
  inputs <- intersect(bandit$config$domain$names, names(history))
  points <- as.data.frame(history[inputs], optional = TRUE)
  points <- points[history$status == "observed", , drop = FALSE]
  row.names(points) <- NULL
  set.seed(9)
  copy <- if (is.null(bandit$journal) && !isFALSE(kept_kinds[[kind]]$choice)) bandit$copy() else NULL
  list(history = lapply(history, function(x) if (is.factor(x)) as.character(x) else x),
       posterior = as.list(do.call(bandit$posterior, c(list(points), kept_question(kind)))),
       next_choice = if (!is.null(copy)) as.list(do.call(copy$suggest, kept_question(kind))))
}

# ---- results of searches and fits, whose journals and stores are searches that can go on ------------------------------

kept_objective <- function(p) 1 - (p[["u"]] - 0.4)^2
kept_folds <- function(p, fold) 1 - (p[["u"]] - 0.4)^2 + sin(fold) / 50

# The same call as when the file was written, with `evaluations`.
kept_searches <- list(
  search = function(evaluations, ...) {
    maximize_bandit(kept_objective, list(u = c(0, 1)), evaluations, n_initial = 3, model = gp_model(kernel = kernel_se(0.3), refit = NULL), ...)
  },
  race = function(evaluations, ...) {
    maximize_bandit(kept_folds, list(u = c(0, 1)), evaluations, n_initial = 2, race = race_folds(3),
                    model = gp_model(kernel = kernel_se(0.3), refit = NULL), ...)
  }
)

kept_results <- function() {
  x <- 0:7 / 7
  y <- sin(5 * x)
  found <- kept_searches$search(6)
  problem <- bandit_problem(1:4 / 4, sin(1:4), noise = 0.1)
  list(maximum = found, regression = gp_regression(x, y, kernel_matern(2.5, 0.3), 0.01), fit = gp_fit(x, y, kernel_se(0.3), starts = 1),
       check = check_model(found), importance = input_importance(found, points = 64, draws = 0), model = gp_model(),
       space = search_space(a = param_real(0, 1), b = param_factor(c("x", "y")), where = ~ a <= 0.9),
       run = run_bandit(gp_ucb(1:4 / 4, kernel_se(0.3), 0.1), problem, 6),
       comparison = compare_bandits(list(ucb = function(p) gp_ucb(1:4 / 4, kernel_se(0.3), 0.1)), problem, 5, replications = 2, seed = 1))
}

# What a reader does with them: plain data that can be compared.
kept_result_facts <- function(results) {
  at <- data.frame(u = c(0.1, 0.5))
  list(maximum = list(par = as.list(results$maximum$par), value = results$maximum$value, history = as.list(results$maximum$history),
                      predicted = as.list(stats::predict(results$maximum, at)), coefficients = stats::coef(results$maximum)),
       regression = list(stats::predict(results$regression, c(0.1, 0.5)), as.numeric(stats::logLik(results$regression))),
       fit = list(stats::predict(results$fit, c(0.1, 0.5)), results$fit$parameters),
       check = as.list(as.data.frame(results$check)), importance = as.list(as.data.frame(results$importance)),
       run = as.list(as.data.frame(results$run)), comparison = as.list(as.data.frame(results$comparison)))
}

# Each prints, and is accepted where it is an argument.
use_kept_results <- function(results) {
  utils::capture.output(for (one in results) print(one))
  gp_bandit(results$space, kernel_se(0.3, dims = "a"), 0.1, policy_ei())
  auto_bandit(results$space, model = results$model)
  stats::update(results$regression, 1.5, 0.2)
}
