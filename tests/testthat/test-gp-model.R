# The Gaussian process of searches: one object for all of them.

line <- list(x = c(0, 1))
hill <- function(p) -(p[["x"]] - 0.3)^2

test_that("defaults are resolved where the model is used", {
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

test_that("what is given reaches the bandit of each search", {
  model <- gp_model("se", noise_var = 0.2, noise_prior = NULL, lengthscale_prior = c(0, 1), transform = "none",
                    refit = refit_every(3))
  set.seed(1)
  found <- list(auto_bandit(line, model = model), maximize_bandit(hill, line, 3, model = model)$bandit,
                minimize_bandit(hill, line, 3, model = model)$bandit,
                gpbandits:::tuning_bandit(search_space(x = param_real(0, 1)), policy_ei(), model))
  for (bandit in found) {
    expect_identical(bandit$config$kernel, kernel_se())
    expect_identical(bandit$config$noise_var, 0.2)
    expect_identical(bandit$config$refit$rounds, 3)
    expect_named(bandit$config$refit$settings$priors, "se.lengthscale")
    expect_identical(bandit$config$outputs$transform, "none")
  }
})

test_that("values are checked when the model is made, and the argument is named", {
  blamed <- function(...) tryCatch(gp_model(...), gpbandits_error = function(e) e$argument)
  for (bad in list(0, -1, NULL, "a", NA)) expect_identical(blamed(noise_var = bad), "noise_var")
  for (bad in list(3, "often", list())) expect_identical(blamed(refit = bad), "refit")
  for (bad in list("default", 1, c(0, -1))) expect_identical(blamed(noise_prior = bad), "noise_prior")
  expect_identical(blamed(lengthscale_prior = "none"), "lengthscale_prior")
  expect_identical(blamed(kernel = 3), "kernel")
  expect_identical(blamed(transform = "log"), "transform")
  for (bad in list(kernel_se(), gp_model, NULL, list())) {
    expect_error(auto_bandit(line, model = bad), "`model` must be", class = "gpbandits_error")
  }
})

test_that("it prints in words, defaults included", {
  shown <- capture.output(print(gp_model()))
  for (name in names(formals(gp_model))) expect_match(shown, paste0("^ +", name), all = FALSE)
  expect_match(shown, "Matern 5/2 with a lengthscale per input", all = FALSE)
  expect_match(shown, "every 2 rounds, averaging over up to 10 models", all = FALSE)
  own <- capture.output(print(gp_model(kernel_se(2), noise_prior = c(log(0.1), 1), lengthscale_prior = NULL,
                                       transform = "none", refit = NULL)))
  expect_match(own, "log-normal, median 0.1, sdlog 1", all = FALSE)
  expect_match(own, "refit +none", all = FALSE)
  expect_false(any(grepl("\\$|attr\\(", c(shown, own))))
})

test_that("a search says where its model's arguments are now", {
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
