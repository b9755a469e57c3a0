# The Gaussian process of searches: one object for all of them.

line <- list(x = c(0, 1))
hill <- function(p) -(p[["x"]] - 0.3)^2

test_that("defaults are resolved when the model is used", {
  many <- box_domain(rep(0, 16), rep(1, 16))
  few <- auto_bandit(line)$config
  expect_identical(few$refit$rounds, 2)
  expect_identical(few$kernel$lengthscale, 0.4)
  expect_identical(auto_bandit(many)$config$refit$rounds, 4)
  expect_identical(auto_bandit(list(x = c(0, 10)))$config$kernel$lengthscale, 4)
  earlier <- data.frame(x = c(0.1, 0.5, 0.9), reward = c(1, 3, 2))
  expect_identical(auto_bandit(line, transfer = list(may = earlier))$config$refit$rounds, 1)
  expect_null(auto_bandit(line, model = gp_model(refit = NULL))$config$refit)
  expect_identical(auto_bandit(line, model = gp_model(refit = refit_every(7)))$config$refit$rounds, 7)
})

test_that("only the default kernel, in few inputs and without earlier campaigns, is averaged over smoothness", {
  smoothness <- function(...) auto_bandit(...)$config$refit$smoothness
  expect_identical(smoothness(line), c(2.5, 1.5, 0.5))
  expect_identical(auto_bandit(line)$config$refit$smoothness_prior, c(1, 0.1, 0.1))
  mixed <- search_space(x = c(0, 1), kind = param_factor(letters[1:3]))
  expect_identical(smoothness(mixed), c(2.5, 1.5, 0.5))
  expect_null(smoothness(search_space(kind = param_factor(letters[1:3]))))
  for (kernel in list("se", "matern", kernel_matern(1.5, 0.2))) {
    expect_null(smoothness(line, model = gp_model(kernel)))
  }
  expect_null(smoothness(box_domain(rep(0, 16), rep(1, 16))))
  earlier <- data.frame(x = c(0.1, 0.5, 0.9), reward = c(1, 3, 2))
  expect_null(smoothness(line, transfer = list(may = earlier)))
  expect_null(smoothness(line, model = gp_model(refit = refit_every(3, average = 5))))
})

test_that("the logarithm is a default of one objective in few inputs, without contexts", {
  transform_of <- function(...) auto_bandit(...)$config$outputs$transform
  expect_identical(transform_of(line), "log")
  expect_identical(transform_of(line, model = gp_model("se")), "log")
  expect_identical(transform_of(box_domain(rep(0, 14), rep(1, 14))), "log")
  expect_identical(transform_of(box_domain(rep(0, 15), rep(1, 15))), "auto")
  expect_identical(transform_of(line, contexts = "day"), "auto")
  expect_identical(transform_of(line, model = gp_model(refit = NULL)), "auto")
  expect_identical(transform_of(line, outcomes = list(a = to_maximize(), b = at_most(1))), "auto")
  for (transform in c("none", "power", "log")) {
    expect_identical(transform_of(line, model = gp_model(transform = transform)), transform)
  }
})

test_that("by default a smooth function has smooth models, and one with cliffs has rough ones", {
  weight_of <- function(f) {
    set.seed(6)
    found <- minimize_bandit(f, list(x = c(0, 1), y = c(0, 1)), 30, model = gp_model(transform = "none"))
    models <- config_now(found$bandit)$models
    weight <- vapply(models, function(model) model$weight, 0)
    nu <- vapply(models, function(model) model$kernel$nu, 0)
    expect_equal(sum(weight), 1)
    expect_true(all(nu %in% c(2.5, 1.5, 0.5)))
    sum(weight[nu == 2.5])
  }
  expect_gt(weight_of(function(p) (p[["x"]] - 0.3)^2 + p[["y"]] * p[["x"]]), 0.9)
  expect_lt(weight_of(function(p) sign(sin(9 * p[["x"]])) + abs(p[["y"]] - 0.4)^0.3), 0.5)
})

test_that("settings of a model reach the bandit of each search", {
  model <- gp_model("se", noise_var = 0.2, noise_prior = NULL, lengthscale_prior = c(0, 1), transform = "none",
                    refit = refit_every(3))
  set.seed(1)
  found <- list(auto_bandit(line, model = model), maximize_bandit(hill, line, 3, model = model)$bandit,
                minimize_bandit(hill, line, 3, model = model)$bandit,
                gpbandits:::tuning_bandit(search_space(x = param_real(0, 1)), policy_ei(), model, NULL))
  for (bandit in found) {
    expect_identical(bandit$config$kernel, kernel_se())
    expect_identical(bandit$config$noise_var, 0.2)
    expect_identical(bandit$config$refit$rounds, 3)
    expect_named(bandit$config$refit$settings$priors, "se.lengthscale")
    expect_identical(bandit$config$outputs$transform, "none")
  }
})

test_that("values are checked when the model is made, and errors name the argument", {
  blamed <- function(...) tryCatch(gp_model(...), gpbandits_error = function(e) e$argument)
  for (bad in list(0, -1, NULL, "a", NA)) expect_identical(blamed(noise_var = bad), "noise_var")
  for (bad in list(3, "often", list())) expect_identical(blamed(refit = bad), "refit")
  for (bad in list("default", 1, c(0, -1))) expect_identical(blamed(noise_prior = bad), "noise_prior")
  expect_identical(blamed(lengthscale_prior = "none"), "lengthscale_prior")
  expect_identical(blamed(kernel = 3), "kernel")
  expect_identical(blamed(transform = "root"), "transform")
  for (bad in list(kernel_se(), gp_model, NULL, list())) {
    expect_error(auto_bandit(line, model = bad), "`model` must be", class = "gpbandits_error")
  }
})

test_that("a model prints in words, defaults included", {
  shown <- capture.output(print(gp_model()))
  for (name in names(formals(gp_model))) expect_match(shown, paste0("^ +", name), all = FALSE)
  expect_match(shown, "Matern 5/2 with a lengthscale per input", all = FALSE)
  expect_match(shown, "every 2 rounds, averaging over up to 10 models", all = FALSE)
  own <- capture.output(print(gp_model(kernel_se(2), noise_prior = c(log(0.1), 1), lengthscale_prior = NULL,
                                       transform = "none", refit = NULL)))
  expect_match(own, "log-normal, median 0.1, sdlog 1", all = FALSE)
  expect_match(own, "refit +none", all = FALSE)
  expect_match(own, "kernel +squared exponential", all = FALSE)
  expect_false(any(grepl("\\$|attr\\(", c(shown, own))))
})

test_that("a search given arguments of the model raises an error that names gp_model()", {
  for (name in names(formals(gp_model))) {
    given <- stats::setNames(list(1), name)
    says <- sprintf("Unknown argument `%s`. Use `model = gp_model(%s = )`.", name, name)
    expect_error(do.call(maximize_bandit, c(list(hill, line, 3), given)), says, fixed = TRUE, class = "gpbandits_error")
    expect_error(do.call(minimize_bandit, c(list(hill, line, 3), given)), says, fixed = TRUE, class = "gpbandits_error")
    expect_error(do.call(auto_bandit, c(list(line), given)), says, fixed = TRUE, class = "gpbandits_error")
    expect_error(do.call(gpbandits:::check_tuning, list(10, NULL, 5, NULL, gp_model(), NULL, name)), says, fixed = TRUE,
                 class = "gpbandits_error")
  }
  # An objective's own argument of that name is the objective's.
  set.seed(1)
  expect_identical(maximize_bandit(function(p, kernel) kernel, line, 2, kernel = 5)$history$reward, c(5, 5))
})

# ---- no noise -------------------------------------------------------------------------------

rugged <- function(p) abs(p[["x"]] - 0.62) + 0.3 * cos(40 * p[["x"]])
exactly <- gp_model(noise = "none")

test_that("without noise the recommended point is the evaluated point with the best reward", {
  for (seed in 1:3) {
    set.seed(seed)
    found <- minimize_bandit(rugged, line, 14, model = exactly)
    expect_identical(found$par[["x"]], found$history$x[which.min(found$history$reward)])
    expect_equal(found$value, min(found$history$reward), tolerance = 1e-3)
    expect_lt(found$sd, 1e-3)
    expect_false(anyDuplicated(found$history$x) > 0)
  }
})

test_that("without noise no refit changes the noise variance", {
  set.seed(1)
  found <- minimize_bandit(rugged, line, 14, model = exactly)
  models <- config_now(found$bandit)$models
  noise <- vapply(models, function(model) model$noise_var, 0)
  expect_gt(length(noise), 1)
  expect_equal(unique(noise), 1e-8, tolerance = 1e-6)
})

test_that("without noise expected improvement is that over the best reward", {
  x <- seq(0, 1, 0.1)
  kernel <- kernel_matern(2.5, 0.2)
  known <- c(3, 6, 7, 10)
  y <- c(0, 2, 0, 2)
  # With a large noise variance, the largest mean and the best reward differ. (No arm is suggested again.)
  choice <- function(noise) {
    bandit <- auto_bandit(finite_domain(x), n_initial = 0,
                          model = gp_model(kernel, transform = "none", refit = NULL, noise = noise))
    inside <- as.environment(bandit)
    inside$config$outputs <- NULL
    inside$config$noise_var <- 4
    gpbandits:::make_ready(inside)
    bandit$add(arm = known, reward = y)
    bandit$suggest()$arm
  }
  cross <- kernel_gram(kernel, matrix(x), matrix(x[known]))
  A <- cross[known, ] + diag(4, 4)
  mean <- drop(cross %*% solve(A, y))
  sd <- sqrt(1 - rowSums(cross * t(solve(A, t(cross)))))
  improvement <- function(over) {
    found <- (mean - over) * pnorm((mean - over) / sd) + sd * dnorm((mean - over) / sd)
    replace(found, known, -Inf)
  }
  over_mean <- which.max(improvement(max(mean[known])))
  over_reward <- which.max(improvement(max(y)))
  expect_false(over_mean == over_reward)
  expect_identical(c(choice("fit"), choice("none")), c(over_mean, over_reward))
})

test_that("a reward that was reported with a noise variance is not recommended for its own sake", {
  bandit <- auto_bandit(finite_domain(seq(0, 1, 0.1)), n_initial = 0, model = exactly)
  bandit$add(arm = c(1, 4, 9), reward = c(1, 2, 1.5))
  bandit$add(arm = 6, reward = 3, noise_var = 100)
  expect_identical(bandit$best()$arm, 4L)
})

test_that("searches without noise resume unchanged from JSON, a journal and a copy", {
  set.seed(3)
  made <- auto_bandit(line, model = exactly, direction = "minimize", n_initial = 4)
  for (k in 1:7) {
    asked <- made$suggest()
    made$observe(asked$id, rugged(list(x = asked$x)))
  }
  again <- from_json(as_json(made))
  copies <- list(again, made$copy(), unserialize(serialize(made, NULL)))
  expect_identical(again$best(), made$best())
  set.seed(4)
  wanted <- made$suggest()
  for (one in copies) {
    set.seed(4)
    expect_identical(one$suggest(), wanted)
    expect_true(one$config$noiseless)
  }
})

test_that("settings that contradict a model without noise are errors", {
  blamed <- function(...) tryCatch(gp_model(..., noise = "none"), gpbandits_error = function(e) e$argument)
  expect_identical(blamed(noise_var = 0.1), "noise_var")
  expect_identical(blamed(noise_prior = c(0, 1)), "noise_prior")
  expect_identical(blamed(noise_prior = NULL), "noise_prior")
  expect_identical(blamed(refit = refit_every(5, noise = "varying")), "refit")
  expect_error(gp_model(noise = "some"), "`noise`", class = "gpbandits_error")
  expect_error(maximize_bandit(function(p, fold) 1, line, 20, race = race_folds(5), model = exactly), "race",
               class = "gpbandits_error")
  expect_error(gpbandits:::check_tuning(10, NULL, 5, NULL, exactly, race_folds(5), character()), "race",
               class = "gpbandits_error")
})

test_that("a model without noise works with outcomes, limits, earlier campaigns, fidelities, and without refits", {
  both <- function(p) c(loss = rugged(p), size = p[["x"]])
  set.seed(5)
  trade <- maximize_bandit(both, line, 9, outcomes = list(loss = to_minimize(), size = to_minimize()), model = exactly)
  expect_true(all(is.finite(trade$history$loss)))
  held <- minimize_bandit(function(p) c(loss = rugged(p), size = p[["x"]]), line, 9, limits = ~ size <= 0.5,
                          model = exactly)
  expect_lte(held$par[["x"]], 0.5 + 1e-6)
  earlier <- data.frame(x = c(0.1, 0.4, 0.7), reward = c(1, 0.5, 0.2))
  moved <- minimize_bandit(rugged, line, 8, transfer = list(may = earlier), model = exactly)
  expect_identical(moved$par[["x"]], moved$history$x[which.min(moved$history$reward)])
  models <- config_now(moved$bandit)$models
  expect_equal(unique(vapply(models, function(model) model$noise_var, 0)), 1e-8, tolerance = 1e-6)
  cheap <- minimize_bandit(function(p, s) rugged(p) + 0.1 * (1 - s), line, 4, fidelity = c(0.5, 1), model = exactly)
  expect_true(is.finite(cheap$value))
  plain <- minimize_bandit(rugged, line, 9, model = gp_model("se", refit = NULL, noise = "none"))
  expect_identical(plain$par[["x"]], plain$history$x[which.min(plain$history$reward)])
})
