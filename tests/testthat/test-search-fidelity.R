# Continuous fidelities: BOCA's rule, and searches whose budget is a cost.

test_that("the bound equals the worked example, and the cheapest fidelity above it is used", {
  k <- drop(kernel_gram(kernel_se(1), matrix(0.5), matrix(1)))
  expect_equal(gpbandits:::boca_bound(0.1, k), 0.148728, tolerance = 1e-5)
  expect_equal(gpbandits:::boca_bound(0.1, k), sqrt(0.1) * sqrt(1 - exp(-0.25)))
  pick <- gpbandits:::cheapest_informative
  expect_identical(pick(c(0.1, 0.2, 0.25), c(0.1, 0.2, 0.3), c(k, k, k), 1), NA_integer_)
  expect_identical(pick(c(0.1, 0.22, 0.25), c(0.1, 0.2, 0.3), c(k, k, k), 1), 2L)
  expect_identical(pick(c(0.1, 0.22, 0.25), c(0.1, 0.2, 0.3), c(k, k, k), 0.5), 1L)
  # A fidelity that costs nearly as much as the target is not used.
  expect_identical(pick(1, 0.95, 0.5, 1), NA_integer_)
})

# The cheaper, the more to the right it seems to be best.
biased <- function(p, z) -(p[["x"]] - 2.2)^2 + 0.5 * (1 - z) * p[["x"]] + rnorm(1, sd = 0.01)
share <- function(...) list(0.1, 1, cost = function(z) z, ...)

test_that("a search uses its budget in evaluations at the target, most of them cheap, and reports the target", {
  set.seed(1)
  calls <- list()
  found <- maximize_bandit(function(p, z) {
    calls <<- c(calls, list(z))
    biased(p, z)
  }, list(x = c(1, 3)), 8, fidelity = share())
  expect_equal(found$history$fidelity, unlist(calls))
  expect_equal(found$history$cost, found$history$fidelity)
  expect_equal(found$fidelity$spent, sum(found$history$cost))
  expect_lte(found$fidelity$spent, 8 + 1e-9)
  expect_gt(nrow(found$history), 9)
  expect_lt(abs(found$par[["x"]] - 2.2), 0.15)
  expect_equal(found$value, -(found$par[["x"]] - 2.2)^2, tolerance = 0.1)
  expect_identical(found$history$status == "cheap", found$history$fidelity < 1)
  if (!is.null(found$observed)) expect_identical(found$observed$fidelity, 1)
  expect_equal(predict(found, data.frame(x = 2))$mean, found$bandit$posterior(matrix(2), context = 1)$mean)
  expect_equal(found$bandit$copy()$posterior(matrix(2), context = 1), found$bandit$posterior(matrix(2), context = 1),
               tolerance = tol$replay)
  expect_output(print(found), "evaluations at the cost of [0-9.]+ at fidelity 1")
  expect_output(print(summary(found)), "best evaluations")
  expect_s3_class(as.data.frame(found), "data.frame")
  local_device()
  expect_named(plot(found), c("progress", "slices"))
  # The bandit has the evaluations, at their fidelities.
  reported <- found$bandit$history()
  reported <- reported[!is.na(reported$reward), ]
  expect_equal(reported$reward, found$history$reward)
  expect_equal(0.1 + 0.9 * reported$fidelity, found$history$fidelity)
})

test_that("the chosen fidelity follows the rule, recomputed in plain R", {
  set.seed(2)
  bandit <- gpbandits:::scaled_bandit(box_domain(c(x = 1), c(x = 3)), "maximize",
                                      gp_model(kernel_se(0.5), transform = "none", refit = NULL), policy_ei(),
                                      pending_hallucinate(), contexts = "fidelity",
                                      context_sides = c(fidelity = 1))
  bandit$add(x = matrix(c(1.2, 1.9, 2.6)), reward = c(0, 1, 0.5), context = matrix(c(0, 0.5, 1)))
  fidelity <- gpbandits:::check_fidelity(share(threshold = 0.7))
  search <- list2env(list(bandit = bandit, fidelity = fidelity))
  config <- config_now(bandit)
  for (x in c(1.1, 1.9, 2.3, 2.9)) {
    s <- seq(0, 0.99, 0.01)
    z <- 0.1 + 0.9 * s
    X <- cbind(c(1.2, 1.9, 2.6), c(0, 0.5, 1))
    k <- kernel_gram(config$kernel, X, cbind(x, s))
    sd <- sqrt(1 - colSums(k * solve(kernel_gram(config$kernel, X) + config$noise_var * diag(3), k)))
    worth <- sd > 0.7 * sqrt(z) * sqrt(1 - exp(-(1 - s)^2 / 0.25)) & z < 0.9
    expected <- if (any(worth)) z[which(worth)[1]] else 1
    expect_equal(gpbandits:::worthwhile_fidelity(search, data.frame(x = x)), expected)
  }
  # Of two models: the moments and the covariance of their mixture.
  bandit <- gpbandits:::scaled_bandit(box_domain(c(x = 1), c(x = 3)), "maximize",
                                      gp_model(kernel_se(0.5), transform = "none", refit = NULL), policy_ei(),
                                      pending_hallucinate(), contexts = "fidelity",
                                      context_sides = c(fidelity = 1))
  inside <- as.environment(bandit)
  model <- function(lengthscale, weight) list(kernel = kernel_se(lengthscale), noise_var = 0.01, weight = weight)
  models <- list(model(0.5, 0.3), model(2, 0.7))
  inside$config$models <- models
  gpbandits:::make_ready(inside)
  bandit$add(x = matrix(c(1.2, 1.9, 2.6)), reward = c(0, 1, 0.5), context = matrix(c(0, 0.5, 1)))
  expect_length(config_now(inside)$models, 2)
  search <- list2env(list(bandit = bandit, fidelity = fidelity))
  y <- map_outputs(map_in_force(inside), c(0, 1, 0.5))
  s <- seq(0, 0.99, 0.01)
  z <- 0.1 + 0.9 * s
  for (x in c(1.1, 1.9, 2.3)) {
    X <- cbind(c(1.2, 1.9, 2.6), c(0, 0.5, 1))
    parts <- lapply(models, function(one) {
      k <- kernel_gram(one$kernel, X, cbind(x, s))
      back <- solve(kernel_gram(one$kernel, X) + 0.01 * diag(3), cbind(k, y))
      list(mean = drop(crossprod(k, back[, length(s) + 1])), var = 1 - colSums(k * back[, seq_along(s)]))
    })
    mean <- 0.3 * parts[[1]]$mean + 0.7 * parts[[2]]$mean
    var <- 0.3 * (parts[[1]]$var + (parts[[1]]$mean - mean)^2) + 0.7 * (parts[[2]]$var + (parts[[2]]$mean - mean)^2)
    xi <- sqrt(1 - (0.3 * exp(-(1 - s)^2 / 0.5) + 0.7 * exp(-(1 - s)^2 / 8))^2)
    worth <- sqrt(var) > 0.7 * sqrt(z) * xi & z < 0.9
    expected <- if (any(worth)) z[which(worth)[1]] else 1
    expect_equal(gpbandits:::worthwhile_fidelity(search, data.frame(x = x)), expected)
  }
})

test_that("costs are estimated from the objective's reports; integers and logarithms are kept", {
  set.seed(3)
  epochs <- list(2, 200, log = TRUE, integer = TRUE)
  found <- minimize_bandit(function(p, z) {
    stopifnot(z == round(z), z >= 2, z <= 200)
    list(value = (p[["x"]] - 2.2)^2 + 1 / z, cost = 3 * z^1.5)
  }, list(x = c(1, 3)), 8, fidelity = epochs)
  expect_equal(found$fidelity$cost_ratio(20), (20 / 200)^1.5, tolerance = 1e-6)
  expect_equal(found$history$cost, (found$history$fidelity / 200)^1.5, tolerance = 1e-6)
  expect_lt(abs(found$par[["x"]] - 2.2), 0.1)
  timed <- minimize_bandit(function(p, z) {
    Sys.sleep(0.004 * z)
    (p[["x"]] - 2)^2
  }, list(x = c(1, 3)), 4, fidelity = c(1, 10))
  expect_gt(timed$fidelity$cost_ratio(10), timed$fidelity$cost_ratio(2))
})

test_that("failures, rules, time and interrupts end it with the results so far; nonsense is an error", {
  set.seed(4)
  found <- maximize_bandit(function(p, z) if (p[["x"]] > 2.7) stop("too far") else biased(p, z), list(x = c(1, 3)), 8,
                           fidelity = share())
  failed <- is.na(found$history$reward)
  expect_true(all(grepl("too far", found$history$reason[failed])))
  expect_lt(abs(found$par[["x"]] - 2.2), 0.3)
  ruled <- maximize_bandit(biased, list(x = c(1, 3)), 50, fidelity = share(), n_initial = 4,
                           stop_when = function(search) nrow(search$history) >= 7)
  expect_true(ruled$stopped)
  expect_identical(nrow(ruled$history), 7L)
  calls <- 0
  cut <- maximize_bandit(function(p, z) {
    calls <<- calls + 1
    if (calls == 9) signalCondition(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
    biased(p, z)
  }, list(x = c(1, 3)), 50, fidelity = share())
  expect_true(cut$interrupted)
  expect_identical(nrow(cut$history), 8L)
  expect_warning(none <- maximize_bandit(function(p, z) stop("never"), list(x = c(1, 3)), 50, fidelity = share()),
                 class = "gpbandits_no_success")
  expect_null(none$par)
  for (bad in list(list(1, 1), list(0, 1, log = TRUE), list(0.5, 2, integer = TRUE), list(0, 1, cost = function(z) -z),
                   list(0, 1, cost = 3), list(0, 1, threshold = 0))) {
    expect_error(maximize_bandit(biased, list(x = c(1, 3)), 8, fidelity = bad), "fidelity[$]", class = "gpbandits_error")
  }
  # What is neither two numbers nor a list of known settings is the argument's fault as a whole.
  for (bad in list(1, "low", TRUE, list(0, 1, prize = 2), list(1), list(lower = 0, lower = 1), 1:7, mean, data.frame(a = 1, b = 2),
                   list(0, 1, cost = NULL, 2, 3, 4, 5, 6))) {
    expect_error(maximize_bandit(biased, list(x = c(1, 3)), 8, fidelity = bad), "`fidelity`", class = "gpbandits_error")
  }
  expect_error(maximize_bandit(biased, list(x = c(1, 3)), 8, fidelity = list(log = TRUE, cost = identity)), "fidelity[$]lower",
               class = "gpbandits_error")
  for (beside in list(list(workers = 2), list(race = race_folds(5)), list(journal = tempfile()),
                      list(data = data.frame(x = 1, reward = 2)))) {
    call <- c(list(biased, list(x = c(1, 3)), 8, fidelity = share()), beside)
    expect_error(do.call(maximize_bandit, call), names(beside), class = "gpbandits_error")
  }
  expect_error(maximize_bandit(function(p) 1, list(x = c(1, 3)), 8, fidelity = share()), "fidelity", class = "gpbandits_error")
  expect_error(maximize_bandit(biased, list(x = c(1, 3)), 8, fidelity = 1), "fidelity", class = "gpbandits_error")
})

test_that("at equal cost cheap evaluations give less regret than none", {
  skip_on_cran()
  f <- function(p, z) -20 * (p[["x"]] - 0.37)^2 * (1 + p[["y"]]) - 5 * (p[["y"]] - 0.62)^2 + 0.3 * (1 - z) * sin(9 * p[["x"]])
  regret <- vapply(few_of(1:4, 2), function(seed) {
    set.seed(seed)
    cheap <- maximize_bandit(f, list(x = c(0, 1), y = c(0, 1)), 8, fidelity = list(0.05, 1, cost = function(z) z))
    set.seed(seed)
    full <- maximize_bandit(function(p) f(p, 1), list(x = c(0, 1), y = c(0, 1)), 8)
    c(-f(as.list(cheap$par), 1), -f(as.list(full$par), 1))
  }, c(0, 0))
  expect_lt(mean(log(regret[1, ] + 1e-6)), mean(log(regret[2, ] + 1e-6)))
})

test_that("sources without order are levels: cheap ones are used, and the result is of the last", {
  shift <- c(simulation = 0.2, pilot = 0.1, plant = 0)
  f <- function(p, z) -(p$x - 2 - shift[[z]])^2 - 0.3 * (p$y - 1)^2 + 10 * shift[[z]]
  box <- list(x = c(0, 4), y = c(0, 2))
  fast <- gp_model(refit = refit_every(2, mean = "fit"))
  set.seed(1)
  sources <- list(names(shift), cost = c(plant = 20, simulation = 1, pilot = 5))
  found <- maximize_bandit(f, box, 6, fidelity = sources, model = fast)
  used <- found$history$fidelity
  expect_true(all(used %in% names(shift)))
  expect_gt(sum(used == "simulation"), 2)
  expect_equal(found$fidelity$spent, sum(c(simulation = 1, pilot = 5, plant = 20)[used]) / 20)
  expect_lte(found$fidelity$spent, 6)
  expect_identical(found$history$status == "cheap", used != "plant")
  expect_lt(abs(found$par[["x"]] - 2), 0.3)
  expect_output(print(found), "at fidelity plant")
  expect_equal(predict(found, as.data.frame(as.list(found$par)))$mean, found$value)
  # Costs that are reported, and minimising.
  set.seed(2)
  down <- minimize_bandit(function(p, z) list(value = -f(p, z), cost = if (z == "plant") 10 else 1), box, 4,
                          fidelity = c("simulation", "plant"), model = fast)
  expect_gt(nrow(down$history), 4)
  expect_lte(down$fidelity$spent, 4 + 1e-9)
  for (bad in list("a", c("a", "a"), list(c("a", "b"), cost = c(1, -1)), list(c("a", "b"), cost = c(a = 1, z = 1)),
                   list(c("a", "b"), costs = 1:2), list(c("a", "b"), 3))) {
    expect_error(maximize_bandit(f, box, 4, fidelity = bad), "`fidelity", class = "gpbandits_argument_error")
  }
})
