# Parts state their settings and traits (R/registry.R): nothing is made or taken that no table declares, and each setting of
# each part is checked.

x9 <- seq(0, 1, length.out = 9)
own_kernel <- function(X, Y) exp(-outer(X[, 1], Y[, 1], "-")^2)

# One of every kind that there is, by class. (A rule in R stands among policies.)
one_of_each <- function() {
  k <- kernel_se(0.3)
  list(
    bandit_width = list(
      width_constant(1), width_function(sqrt), width_srinivas_finite(), width_irgp(), width_srinivas_compact(0.1, 1, 1, 1, 1), width_srinivas_box(0.1, 1, 1, 1, 1),
      width_srinivas_rkhs(1), width_igp(1, 1), width_gp_ts(1, 1, gain = 2), width_realized(1, 1), width_amm(1, 1),
      width_fixed(1, 1, looks = 2),
      width_dmm(1, 1), width_sdf(1), width_ec(width_amm(1, 1), 0.1), width_corrupt(width_amm(1, 1), 0.1), width_corrupt(width_amm(1, 1), count = 2), width_realized(1, rewards_robust(moment = 1, rounds = 9)),
      width_cpd(1, 2.5, 1, 9), width_glm(1)),
    bandit_gain = list(width_igp(1, 1, gain = 2)$gain, width_igp(1, 1, gain = sqrt)$gain, width_igp(1, 1)$gain,
                       width_igp(1, 1, gain = "greedy")$gain, width_igp(1, 1, gain = "spectral")$gain, gain_rate()),
    bandit_kernel = list(k, kernel_matern(1.5, 0.3), kernel_rq(1, 0.3), kernel_periodic(1, 0.3), kernel_linear(),
                         kernel_categorical(), kernel_categorical(features = matrix(0:2 / 2)), kernel_matrix(diag(9)), kernel_function(own_kernel), k + kernel_linear(),
                         k * kernel_linear()),
    bandit_policy = c(
      list(policy_ucb(1), policy_ts(1), policy_ei(0, function(x) 1 + x[, 1]), policy_ei(0.1, incumbent = "draws"), policy_kg(), policy_pi(), policy_mes(),
           policy_pims(), policy_eims(), policy_straddle(0), policy_function(function(mean, sd, round) mean), policy_mean(),
           policy_variance(), policy_uniform(), policy_duel(1), policy_duel(1, "game"), policy_ehvi(), policy_hypervolume(1), gp_ucb_pe(x9, k, 0.1)$config$policy,
           baseline_constrained("epbo", x9, k, 0.1, penalty = 1, outcomes = list(y = to_maximize(), g = at_most(0)))$config$policy,
           gp_lse(x9, k, 0.1, 0, 0.1)$config$policy, stable_opt(x9, k, 0.1, 0.2)$config$policy,
           stable_opt(x9, k, 0.1, 0.2, risk = "cvar", share = 0.3)$config$policy,
           safe_opt(x9, k, 0.1, threshold = -2, seed = 4:5, width = 2)$config$policy),
      lapply(one_of_each_rule(), function(bandit) bandit$config$policy)),
    bandit_pending = list(pending_ignore(), pending_hallucinate(), pending_penalize(), pending_censor(3)),
    bandit_changes = list(change_detect(sqrt, sqrt), change_oracle(3), change_never(), change_oracle(every = 5), change_detect(delta = 0.1), change_detect(delta = 0.1, cover = 2),
                          change_function(function(history) FALSE), change_oracle(window = 5), change_oracle(rate = 0.1, by = "weights"), change_oracle(rate = 0.1), change_oracle(window = c(5, 9))),
    bandit_constraints = list(constraints_noiseless(epoch = 3), constraints_noiseless(epoch = 3, penalty = "polynomial"), constraints_noisy(epoch = 3, step = 1)),
    bandit_stop = list(stop_gap(1, at = c(2, 5)), stop_prb(1), stop_emsr(1), gpbandits:::new_stop("levels"), stop_stalled(3)),
    bandit_param = list(param_real(0, 1), param_integer(0, 3), param_factor(c("a", "b")), param_logical(),
                        param_shares(c("a", "b"), most = 1), search_space(m = param_shares(c("a", "b")))$params$a),
    bandit_rewards = list(rewards_robust(clip = 1), rewards_robust(plateau = 1), rewards_binary("probit"), rewards_counts("minimize"), rewards_ordinal(3), rewards_preferences(), rewards_preferences(ties = TRUE), rewards_preferences("rankings"), rewards_robust()),
    bandit_prior = list(prior_normal(x = c(1, 2), k = c(a = 2)), gpbandits:::as_prior_optimum(function(x) x[, 1])),
    bandit_refit = list(refit_every(3)),
    gp_model = list(gp_model(), gp_model("se", 0.1, c(0, 1), NULL, "none", refit_every(3)), gp_model(refit = NULL)),
    search_control = list(search_control(), search_control("ignore", 3, 1, TRUE, FALSE, TRUE)),
    bandit_race = list(race_folds(5)),
    bandit_outcome = list(to_maximize(), to_minimize(), at_most(1), at_least(0), in_range(0, 1), tracked()),
    bandit_outputs = list(scale_outputs()),
    bandit_noise = list(bandit_problem(1:2, 1:2, noise = 1)$noise),
    bandit_delay = list(bandit_problem(1:2, 1:2, delay = 1)$delay)
  )
}

one_of_each_rule <- function() {
  k <- kernel_se(0.3)
  list(ckb = baseline_constrained("ckb", x9, k, 0.1, step = 1, bound = 1),
       bandit_oco = baseline_constrained("oco", list(u = c(0, 1))),
       admmbo = baseline_constrained("admmbo", x9, k, 0.1), rpol = baseline_constrained("rpol", x9, k, 0.1),
       rpol_made = baseline_constrained("rpol", x9, k, 0.1, pending = pending_censor(2)),
       safe_opt = safe_opt(x9, k, 0.1, threshold = -2, seed = 4:5, by = "data", lipschitz = 3, noise_bound = 0.1),
       stage_opt = safe_opt(x9, k, 0.1, threshold = -2, seed = 4:5, by = "data", lipschitz = 3, noise_bound = 0.1,
                            method = "stageopt"),
       balanced_lengthscale = gp_ucb_lengthscale(x9, k, 0.1, B = 1, R = 0.1, method = "balanced"),
       adaptive_lengthscale = gp_ucb_lengthscale(x9, k, 0.1, B = 1, R = 0.1),
       bpe = bpe(x9, k, 0.1, rounds = 9, B = 1, R = 0.1), rahbo = rahbo(x9, k, 0.1, 1, k, 3),
       ei_cost = gp_ei(x9, k, 0.1, cost = "learned"))
}

family_of <- function(class) gpbandits:::families[[class]]

test_that("every part is declared, and one of each type is tested here", {
  parts <- one_of_each()
  declared <- ls(gpbandits:::families)
  results <- Filter(function(class) isTRUE(family_of(class)$open), declared)
  expect_setequal(names(parts), setdiff(declared, results))
  for (class in names(parts)) {
    family <- family_of(class)
    kinds <- vapply(parts[[class]], function(x) if (is.null(family$tag)) "" else x[[family$tag]], "")
    if (!is.null(family$tag)) expect_setequal(kinds, names(family$entries))
    for (x in parts[[class]]) {
      if (!is.null(gpbandits:::fault_of_part(x, class))) fail(paste(class, kinds))
      for (name in names(family$traits)) gpbandits:::trait(x, name)
      shown <- utils::capture.output(print(x))
      if (any(grepl("[$]|attr[(]", shown))) fail(paste(class, paste(shown, collapse = " ")))
    }
  }
  made <- function(class, kind) gpbandits:::new_part(class, kind, new.env())
  expect_error(made("bandit_width", "unheard_of"), "nothing is declared")
  expect_error(gpbandits:::trait(width_constant(1), "unheard_of"), "no trait")
  # No constructor makes an object past the table, and no name is taken twice.
  files <- list.files(test_path("..", "..", "R"), full.names = TRUE)
  skip_if(length(files) == 0)
  defined <- grep("^[A-Za-z_.0-9]+ <- ", unlist(lapply(files, readLines)), value = TRUE)
  expect_identical(anyDuplicated(sub(" <- .*", "", defined)), 0L)
  own <- sprintf("structure[(].*class = \"(%s)\"", paste(names(parts), collapse = "|"))
  expect_identical(grep(own, unlist(lapply(files, readLines)), value = TRUE), character())
})

# A part that passes its checks is played: an answer, or an error of ours.
works <- function(part, class) {
  k <- kernel_se(0.3)
  play <- function(...) {
    b <- suppressWarnings(gp_bandit(x9, ..., noise_var = 0.1))
    constrained <- gpbandits:::constraint_count(b$config) > 0
    for (t in 1:3) b$observe(b$suggest()$id, sin(t), constraints = if (constrained) 0.1)
    b$best()
  }
  width <- function(w) {
    play(kernel = k, policy = policy_ucb(w))
    if (w$type != "dmm") gp_ucb_pe(x9, k, 0.1, width = w)$suggest(2)
  }
  fate <- fate_of(switch(
    class,
    bandit_width = width(part), bandit_gain = width(width_igp(1, 1, gain = part)),
    bandit_kernel = play(kernel = part, policy = policy_ucb(1)), bandit_policy = play(kernel = k, policy = part),
    bandit_pending = play(kernel = k, policy = policy_ucb(1), pending = part),
    bandit_changes = play(kernel = k, policy = policy_ucb(1), changes = part),
    bandit_constraints = play(kernel = k, policy = policy_ucb(1), constraints = part),
    bandit_stop = gp_ucb(x9, k, 0.1)$certificate(part),
    bandit_param = gp_ucb(search_space(a = part, b = param_real(0, 1)), k, 0.1, width = 1)$suggest(),
    bandit_rewards = play(kernel = k, policy = policy_ucb(1), rewards = part),
    bandit_refit = play(kernel = k, policy = policy_ucb(1), refit = part),
    bandit_outputs = play(kernel = k, policy = policy_ucb(1), outputs = part),
    bandit_noise = run_bandit(gp_ucb(x9, k, 0.1), bandit_problem(x9, sin(x9), part), 2),
    bandit_delay = run_bandit(gp_ucb(x9, k, 0.1), bandit_problem(x9, sin(x9), delay = part), 2)
  ))
  fate %in% c("refused", "an answer")
}

# What a disk or an enemy may make of one setting.
invalid_settings <- list(NULL, NA, NaN, Inf, -1, 0, 1e308, "a", "", character(), numeric(), TRUE, list(), list(1), mean,
                         quote(x), new.env(), matrix(0, 0, 0), c(1, 2), 2^31, rep(1, 1000), structure(1, class = "odd"),
                         structure(list(), class = "bandit_width"), structure(list(type = "dmm"), class = "bandit_width"))

test_that("each setting of each part, removed or changed, is an error or works", {
  skip_on_cran()
  set.seed(1)
  parts <- one_of_each()
  for (class in names(parts)) for (x in few_of(parts[[class]], 1)) {
    for (name in names(x)) {
      without <- x
      without[[name]] <- NULL
      # (A setting that came later is missing in objects of before: nothing is wrong with them.)
      entry <- gpbandits:::entry_of(family_of(class), x[[c(family_of(class)$tag, "")[1]]])
      if (name %in% entry$later) expect_null(gpbandits:::fault_of_part(without, class))
      else expect_match(gpbandits:::fault_of_part(without, class), "lacks|known kind", info = paste(class, name))
      for (value in sample(invalid_settings, by_level(2, length(invalid_settings)))) {
        changed <- unclass(x)
        changed[name] <- list(value)
        class(changed) <- class
        expect_true(is.character(gpbandits:::fault_of_part(changed, class)) || works(changed, class),
                    info = paste(class, name, deparse(value)[1]))
      }
    }
    odd <- x
    odd[["unheard_of"]] <- 1
    expect_match(gpbandits:::fault_of_part(odd, class), "unheard_of")
    for (forged in list(structure(list(), class = class), structure(new.env(), class = class), structure(1, class = class),
                        structure(unclass(x), class = c("odd", class)), structure(unname(unclass(x)), class = class))) {
      expect_type(gpbandits:::fault_of_part(forged, class), "character")
    }
  }
})

test_that("every response type declares a registered form, and each form has every method", {
  forms <- gpbandits:::reward_forms
  in_form <- function(form, name) get0(name, envir = forms[[form]])
  # What one form has, the basic form has, and so all others.
  for (form in ls(forms)) for (name in ls(forms[[form]])) {
    expect_true(exists(name, envir = forms$reward), info = paste(form, name))
    expect_identical(class(in_form(form, name)), class(in_form("reward", name)), info = paste(form, name))
  }
  for (rewards in one_of_each()$bandit_rewards) {
    config <- list(rewards = rewards)
    form <- gpbandits:::trait(rewards, "form")
    expect_true(form %in% ls(forms))
    expect_identical(gpbandits:::of_form(config, "gaussian"), is.null(gpbandits:::trait(rewards, "likelihood")))
    expect_identical(gpbandits:::of_form(config, "compares"), rewards$kind %in% c("pairs", "rankings"))
  }
  expect_identical(gpbandits:::of_form(list(outcomes = list(a = 1, b = 2)), "several"), TRUE)
  expect_identical(gpbandits:::of_form(NULL, "several"), FALSE)
})

test_that("a bandit restored from incomplete settings is reported as damaged", {
  skip_on_cran()
  baselines <- one_of_each_rule()
  for (rule in names(baselines)) {
    bandit <- baselines[[rule]]
    for (name in names(gpbandits:::script_of(rule)$settings)) {
      spoilt <- unserialize(serialize(bandit, NULL))
      frame <- as.environment(spoilt)
      frame$config[name] <- NULL
      if (name %in% gpbandits:::script_of(rule)$later) expect_no_error(spoilt$suggest())
      else expect_error(spoilt$suggest(), "lacks", class = "gpbandits_error", info = paste(rule, name))
    }
  }
  lse <- unserialize(serialize(gp_lse(x9, kernel_se(0.3), 0.1, 0, 0.1), NULL))
  frame <- as.environment(lse)
  frame$config$policy$width <- NULL
  expect_error(lse$suggest(), "lacks \"width\"", class = "gpbandits_error")
})

test_that("parts that need a width with one multiplier reject others in one place, when they are made", {
  several <- width_dmm(1, 0.1)
  k <- kernel_se(0.3)
  for (code in expression(gp_ucb_pe(x9, k, 0.1, width = several), gp_ts(x9, k, 0.1, width = several), policy_ts(several),
                          gp_lse(x9, k, 0.1, 0, 0.1, width = several), stable_opt(x9, k, 0.1, 0.2, width = several),
                          baseline_constrained("ckb", x9, k, 0.1, step = 1, bound = 1, width = several), stop_gap(1, several),
                          width_sdf(several), width_ec(several, 1), safe_opt(x9, k, 0.1, threshold = 0, seed = 1, width = several))) {
    expect_error(eval(code), "one multiplier of sd.*not width_dmm", class = "gpbandits_error")
  }
  drawn <- width_sdf(width_irgp())
  for (code in expression(gp_lse(x9, k, 0.1, 0, 0.1, width = drawn), stable_opt(x9, k, 0.1, 0.2, width = drawn),
                          baseline_constrained("ckb", x9, k, 0.1, step = 1, bound = 1, width = drawn), stop_gap(1, drawn))) {
    expect_error(eval(code), "not drawn at random", class = "gpbandits_error")
  }
  # A randomised width makes choices random, also within another width.
  b <- gp_ucb(x9, k, 0.1, width = drawn)
  b$observe(b$suggest()$id, 1)
  expect_true("propensity" %in% names(b$history()))
})

test_that("parts that draw functions from the prior reject kernels without draws, when they are made", {
  box <- list(u = c(0, 1))
  own <- kernel_se(0.3) + kernel_function(own_kernel)
  for (policy in list(policy_ts(1), policy_pims(), policy_eims())) {
    expect_error(gp_bandit(box, own, 0.1, policy), "drawn from the prior", class = "gpbandits_error")
    expect_no_error(gp_bandit(x9, own, 0.1, policy)$suggest())
  }
  b <- gp_bandit(box, own, 0.1, policy_mes())
  set.seed(1)
  for (t in 1:3) b$observe(b$suggest()$id, sin(t))
  expect_true(all(b$history()$status == "observed"))
})

test_that("values that were checked are checked again if they may have changed", {
  fault <- function(x) gpbandits:::fault_of_part(x, class(x))
  known <- function(x, class = attr(x, "class")) {
    any(vapply(gpbandits:::valid_parts[[class]], identical, NA, x, num.eq = FALSE, attrib.as.set = FALSE))
  }
  kernel <- kernel_se(0.2) * kernel_matern(1.5, 3)
  for (k in 1:2) expect_null(fault(kernel))
  expect_true(known(kernel))
  expect_false(known(kernel, "bandit_width"))
  expect_false(known(kernel_se(0.2 * (1 + 2^-52)) * kernel_matern(1.5, 3)))
  expect_false(known(structure(kernel, more = 1)))
  forged <- unserialize(serialize(kernel, NULL))
  forged[[which(vapply(forged, is.list, NA))[1]]][[1]]$lengthscale <- -0.2
  expect_match(fault(forged), "is not|must be|lengthscale|changed")
  expect_false(known(forged))
  for (x in list(width_function(function(t) 1), kernel_matrix(diag(200)))) {
    expect_null(fault(x))
    expect_false(known(x))
  }
  for (k in 1:50) expect_null(fault(kernel_se(k)))
  expect_lte(length(gpbandits:::valid_parts$bandit_kernel), gpbandits:::valid_parts_kept)
})

test_that("an engine is one that gp_bandit() lists", {
  expect_identical(gpbandits:::engine_names, eval(formals(gp_bandit)$engine))
})

test_that("format() and toString() of every part are the first line that it prints", {
  for (part in unlist(unname(one_of_each()), recursive = FALSE)) {
    line <- format(part)
    expect_identical(toString(part), line)
    expect_length(line, 1)
    expect_match(utils::capture.output(print(part))[1], line, fixed = TRUE)
  }
  b <- gp_ucb(1:3, kernel_se(1), 0.1)
  expect_identical(format(b), "Gaussian-process bandit over 3 arms with 1 input")
  expect_identical(toString(list(format(b$domain()))), "finite domain: 3 arms, 1 input: x1")
})

test_that("amounts have a singular and a plural", {
  expect_identical(gpbandits:::amount_of(1, "input"), "1 input")
  expect_identical(gpbandits:::amount_of(20000, "row"), "20000 rows")
  files <- list.files(test_path("..", "..", "R"), "[.]R$", full.names = TRUE)
  skip_if(length(files) == 0, "only in the repository")
  expect_identical(grep("%[dg] [a-z ]+[(]s[)]", unlist(lapply(files, readLines)), value = TRUE), character())
})
