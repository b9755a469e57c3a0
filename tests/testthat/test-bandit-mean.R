# A prior mean that is a function of the inputs: the model of the residuals, plus the function.

physics <- function(x) 60 + 20 * sin(x$temp / 3) - (x$acid - 2)^2
truth <- function(temp, acid) 60 + 21 * sin(temp / 3) - (acid - 2)^2 + temp / 4
box <- list(temp = c(0, 10), acid = c(0, 5))
asked_at <- function(n) data.frame(temp = 10 * golden(n, 0.618), acid = 5 * golden(n, 0.383))
golden <- function(n, by) (seq_len(n) * by) %% 1

test_that("posteriors and fits are those of the residuals, plus the function", {
  x <- asked_at(7)
  y <- truth(x$temp, x$acid)
  at <- asked_at(20)
  for (domain in list(box, finite_domain(at), search_space(temp = c(0, 10), acid = param_real(0, 5)))) {
    arms <- inherits(domain, "finite_domain")
    if (arms) { x <- at[1:7, ]; y <- truth(x$temp, x$acid) }
    for (refit in list(NULL, refit_every(1, minimum = 3, mean = "fit"), refit_every(1, minimum = 3, average = 3))) {
      both <- lapply(list(physics, 0), function(mean) {
        b <- gp_bandit(domain, kernel_se(c(4, 2), 30), 0.1, policy_ei(), mean = mean, refit = refit)
        set.seed(1)
        b$add(x, reward = if (is.function(mean)) y else y - physics(x))
        q <- b$suggest()
        b$observe(q$id, if (is.function(mean)) 70 else 70 - physics(q))
        b$posterior(if (!arms) at)
      })
      if (is.null(refit)) {
        one <- gp_bandit(domain, kernel_se(c(4, 2), 30), 0.1, policy_ei(), mean = physics)
        other <- gp_bandit(domain, kernel_se(c(4, 2), 30), 0.1, policy_ei())
        one$add(x, reward = y)
        other$add(x, reward = y - physics(x))
        expect_equal(one$posterior(if (!arms) at)$mean, other$posterior(if (!arms) at)$mean + physics(at), tolerance = 1e-8)
        expect_equal(one$posterior(if (!arms) at)$sd, other$posterior(if (!arms) at)$sd, tolerance = 1e-8)
      }
      expect_true(all(is.finite(both[[1]]$mean)))
    }
    # Refits, with and without a scale of the rewards.
    for (model in list(gp_model(), gp_model(refit = refit_every(2, mean = "fit")))) {
      model$transform <- "none"
      other <- auto_bandit(domain, cbind(x, reward = y - physics(x)), model = model)
      model$mean <- physics
      one <- auto_bandit(domain, cbind(x, reward = y), model = model)
      expect_equal(one$posterior(if (!arms) at)$mean, other$posterior(if (!arms) at)$mean + physics(at), tolerance = 1e-6)
      expect_equal(one$posterior(if (!arms) at)$sd, other$posterior(if (!arms) at)$sd, tolerance = 1e-6)
    }
  }
})

test_that("searches climb the function: choices are as good as those of a fine grid", {
  b <- gp_bandit(box, kernel_se(c(4, 2), 30), 0.1, policy_mean(), mean = physics)
  x <- asked_at(6)
  b$add(x, reward = truth(x$temp, x$acid))
  grid <- expand.grid(temp = seq(0, 10, length.out = 101), acid = seq(0, 5, length.out = 101))
  for (policy in list(policy_mean(), policy_ucb(1), policy_ei())) {
    c <- update(b, policy = policy)
    q <- c$copy()$suggest()
    if (identical(policy$kind, "ei")) next
    width <- if (identical(policy$kind, "ucb")) 1 else 0
    at <- c$posterior(rbind(grid, q[c("temp", "acid")]))
    height <- at$mean + width * at$sd
    expect_gte(height[nrow(at)], max(height) - 1e-3)
  }
  slope <- function(...) gpbandits:::mean_at_point(b$config, gpbandits:::mean_reader(b$config))(rbind(c(...)))$slope
  expect_equal(slope(3, 1), c(20 / 3 * cos(1), 2), tolerance = 1e-6)
  expect_equal(slope(0, 5), c(20 / 3, -6), tolerance = 1e-3)
})

test_that("a search asks for the value and the gradient at a point by one call, for all models", {
  asked <- list()
  counted <- function(x) {
    asked[[length(asked) + 1]] <<- x
    -(x$u - 0.3)^2
  }
  space <- search_space(u = c(0, 1), k = c("a", "b"))
  set.seed(1)
  rows <- data.frame(u = 1:9 / 10, k = c("a", "b", "b"), reward = sin(1:9))
  b <- auto_bandit(space, rows, model = gp_model(mean = counted), n_initial = 1)
  asked <- list()
  b$suggest()
  points <- Filter(function(x) nrow(x) <= 3, asked)
  expect_gt(length(points), 10)
  expect_false(any(vapply(points, nrow, 1L) %in% 1:2))
  expect_lt(sum(duplicated(points)) / length(points), 0.4)
})

test_that("with a right function few experiments are enough, in either direction and with levels", {
  space <- search_space(temp = c(0, 10), acid = param_integer(0, 5), solvent = c("water", "ethanol"))
  model <- gp_model(mean = function(x) 60 + 20 * sin(x$temp / 3) - (x$acid - 2)^2 - 5 * (x$solvent == "water"))
  f <- function(p) truth(p$temp, p$acid) - 5 * (p$solvent == "water")
  set.seed(3)
  model$refit <- refit_every(3, mean = "fit")
  found <- maximize_bandit(f, space, by_level(8, 8, quick = 5), model = model)
  expect_gt(f(found$par), 82)
  model$mean <- ~ -(60 + 20 * sin(temp / 3) - (acid - 2)^2 - 5 * (solvent == "water"))
  set.seed(3)
  down <- minimize_bandit(function(p) -f(p), space, by_level(8, 8, quick = 5), model = model)
  expect_gt(f(down$par), 82)
  expect_output(print(down$bandit), "mean .* sin\\(temp/3\\)")
})

test_that("a formula is data: it survives JSON, copies and stores; a function needs `trust`", {
  peak <- 70
  b <- auto_bandit(list(temp = c(40, 100)), data.frame(temp = c(50, 60, 80, 90, 95), reward = c(71, 78, 77, 72, 66)),
                   model = gp_model(mean = ~ 80 - (temp - peak)^2 / 50))
  rm(peak)
  at <- data.frame(temp = c(45, 70, 99))
  expect_equal(from_json(as_json(b))$posterior(at), b$posterior(at), tolerance = 1e-8)
  expect_equal(unserialize(serialize(b, NULL))$posterior(at), b$posterior(at))
  expect_equal(b$copy()$suggest(2), b$copy()$suggest(2))
  skip_if_not_installed("RSQLite")
  file <- tempfile(fileext = ".sqlite")
  stored <- auto_bandit(list(temp = c(40, 100)), store = bandit_store(file, "formula"), model = gp_model(mean = ~ 80 - temp / 50))
  q <- stored$suggest()
  stored$observe(q$id, 70)
  expect_identical(open_bandit(bandit_store(file, "formula"))$history()$reward, 70)
  coded <- gp_model(mean = function(x) 80 - x$temp / 50)
  expect_error(auto_bandit(list(temp = c(40, 100)), store = bandit_store(file, "code"), model = coded), "trust",
               class = "gpbandits_error")
})

test_that("invalid functions are errors that name the argument and leave everything as it was", {
  bad <- list(short = function(x) 1:2, text = function(x) "a", none = function(x) NULL, missing = function(x) x$temp * NA,
              stops = function(x) stop("no"))
  for (f in bad) expect_error(gp_bandit(box, kernel_se(1), 0.1, policy_ei(), mean = f), "`mean`", class = "gpbandits_error")
  expect_error(gp_model(mean = "a"), "`mean`", class = "gpbandits_argument_error")
  expect_error(gp_bandit(box, kernel_se(1), 0.1, policy_ei(), mean = ~ other + temp), "other", class = "gpbandits_error")
  expect_error(auto_bandit(box, model = gp_model(mean = physics, transform = "power")), "mean", class = "gpbandits_error")
  expect_error(auto_bandit(box, model = gp_model(mean = physics), rewards = "binary"), "mean", class = "gpbandits_error")
  expect_error(auto_bandit(box, model = gp_model(mean = physics), outcomes = list(a = to_maximize(), b = at_most(1))), "mean",
               class = "gpbandits_error")
  # One that fails later, during a search.
  calls <- 0
  late <- gp_bandit(box, kernel_se(1), 0.1, policy_ei(), mean = function(x) {
    calls <<- calls + 1
    if (calls > 3) rep(NaN, nrow(x)) else x$temp
  })
  late$add(data.frame(temp = 1, acid = 1), reward = 2)
  expect_error(for (k in 1:3) late$suggest(), "`mean`", class = "gpbandits_error")
})
