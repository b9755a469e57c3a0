test_that("inputs of a point are selected by name over every domain, and numbers are one vector", {
  seen <- list()
  look <- function(p) {
    seen[[length(seen) + 1]] <<- list(named = p$b, picked = p[["b"]], numeric = is.numeric(p))
    1
  }
  domains <- list(data.frame(a = 1:4, b = 4:1), list(a = c(0, 1), b = c(0, 1)),
                  product_domain(data.frame(a = 1:3), list(b = c(0, 1))),
                  search_space(a = param_real(0, 1), b = param_integer(1, 5)),
                  search_space(a = param_factor(c("u", "v")), b = param_integer(1, 5)))
  kinds <- vapply(domains, function(domain) {
    seen <<- list()
    found <- maximize_bandit(look, domain, 3)
    expect_identical(lapply(seen, `[[`, "named"), lapply(seen, `[[`, "picked"))
    expect_identical(found$par$b, found$par[["b"]])
    unique(vapply(seen, `[[`, NA, "numeric"))
  }, NA)
  expect_identical(kinds, c(TRUE, TRUE, TRUE, TRUE, FALSE))
  expect_error(maximize_bandit(function(p) 1, list(x = c(0, 1)), 1)$par$y, "no input `y`")
})

test_that("a numeric point works like a named vector", {
  weights <- c(x = 1, y = 2)
  set.seed(1)
  found <- minimize_bandit(function(p) {
    plain <- c(x = p$x, y = p$y)
    stopifnot(identical(p["x"], plain["x"]), identical(sum(p^2), sum(plain^2)), identical(names(p), names(plain)),
              identical(crossprod(p), crossprod(plain)), identical(diag(2) %*% p, diag(2) %*% plain),
              identical(as.list(p), as.list(plain)), identical(vapply(p, sqrt, 0), vapply(plain, sqrt, 0)))
    sum(weights * p)
  }, list(x = c(0, 1), y = c(0, 1)), 6)
  expect_true(all(found$history$status == found$history$status[1]))
  expect_false(anyNA(found$history$reward))
  expect_equal(found$par, c(x = found$par$x, y = found$par$y))
  expect_output(print(found$par), "x +y")
  expect_equal(predict(found, as.data.frame(t(found$par)))$mean, found$value, tolerance = 0.1)
})

test_that("arguments named like the inputs get them, in searches, races and over fidelities", {
  domain <- list(x = c(0, 1), y = c(0, 1))
  play <- function(f, ...) {
    set.seed(2)
    maximize_bandit(f, domain, 9, ...)$history
  }
  expect_identical(play(function(y, x) x - 2 * y), play(function(p) p$x - 2 * p$y))
  race <- race_folds(3)
  expect_identical(play(function(x, y, fold) x - 2 * y + fold, race = race),
                   play(function(p, fold) p$x - 2 * p$y + fold, race = race))
  share <- list(0.2, 1, cost = identity)
  expect_identical(play(function(y, x, z) (x - 2 * y) * z, fidelity = share),
                   play(function(p, z) (p$x - 2 * p$y) * z, fidelity = share))
  mixed <- search_space(n = param_integer(1, 3), how = param_factor(c("a", "b")))
  expect_false(anyNA(maximize_bandit(function(n, how) n + (how == "b"), mixed, 3)$history$reward))
  one <- maximize_bandit(function(how) if (how == "b") 1 else 0, search_space(how = param_factor(c("a", "b"))), 3)
  expect_identical(one$par$how, "b")
})

test_that("`...` goes to the objective, and an unknown name is an error", {
  domain <- list(x = c(0, 1))
  set.seed(3)
  given <- minimize_bandit(function(p, at, scale = 1) scale * (p$x - at)^2, domain, 6, at = 0.4, scale = 10)
  set.seed(3)
  expect_identical(given$history, minimize_bandit(function(p) 10 * (p$x - 0.4)^2, domain, 6)$history)
  # An input's name that is given is no input.
  expect_false(anyNA(maximize_bandit(function(x, y) x$x * sum(y), list(x = c(0, 1)), 2, y = 1:3)$history$reward))
  # Arguments of the objective go to it, others to the bandit.
  through <- maximize_bandit(function(p, ...) p$x + list(...)$own, domain, 2, own = 1, engine = "dense")
  expect_gte(min(through$history$reward), 1)
  f <- function(p) p$x
  expect_error(maximize_bandit(f, domain, 2, maximise = TRUE),
               "Unknown argument `maximise`. Use `direction = \"minimize\"` or `minimize_bandit()`.",
               class = "gpbandits_error", fixed = TRUE)
  expect_error(minimize_bandit(f, domain, 2, polcy = policy_ei()), "Did you mean `policy`", class = "gpbandits_error")
  expect_error(maximize_bandit(f, domain, 2, n_trials = 5), "Use `evaluations`", class = "gpbandits_error")
  expect_error(maximize_bandit(f, domain, 2, shape = 5), "Unknown argument `shape`", class = "gpbandits_error")
})

test_that("objectives with the inputs' names work on workers and in stores", {
  skip_if_not_installed("future")
  skip_if_not_installed("RSQLite")
  skip_on_cran()
  old <- future::plan("multisession", workers = 2)
  on.exit(future::plan(old))
  domain <- list(x = c(0, 1), y = c(0, 1))
  on_workers <- maximize_bandit(function(p, weight) p$x + weight * p[["y"]], domain, 4, workers = 2, weight = 2)
  expect_equal(on_workers$history$reward, with(on_workers$history, x + 2 * y))
  file <- tempfile(fileext = ".db")
  store <- bandit_store(file, "objective", seed = 1)
  stored <- maximize_bandit(function(x, y, weight) x + weight * y, domain, 4, store = store, weight = 2)
  expect_equal(stored$history$reward, with(stored$history, x + 2 * y))
  gp_ucb(domain, kernel_se(0.2), noise_var = 0.01, width = 2,
         store = bandit_store(file, "work", seed = 1))
  work <- bandit_store(file, "work")
  work_on(work, function(x, y) x - y, until = function(bandit) nrow(bandit$history()) >= 2, heartbeat = FALSE)
  expect_equal(open_bandit(work)$history()$reward, with(open_bandit(work)$history(), x - y))
})
