# Levels that are described by numbers.

test_that("the kernel equals the worked example", {
  k <- kernel_categorical(features = matrix(c(0, 0.5, 0.5, 1)), lengthscale = 0.5, own = 0.2)
  K <- kernel_gram(k, matrix(1:4))
  expect_equal(K[1, 2], 0.419195, tolerance = 1e-6)
  expect_equal(K[2, 3], 0.8, tolerance = 1e-12)
  expect_equal(diag(K), rep(1, 4), tolerance = 1e-12)
})

test_that("with own = 0 it is a Matern kernel over a product's rows, with the same posterior and choices", {
  phi <- data.frame(size = c(0, 0.2, 0.7, 1), polar = c(0, 1, 0.3, 0.6))
  space <- search_space(k = param_factor(c("p", "q", "r", "s"), features = phi), x = c(0, 1))
  product <- product_domain(phi, list(x = c(0, 1)))
  core <- kernel_categorical(features = as.matrix(phi), lengthscale = c(0.5, 0.8), own = 1e-12, dims = "k") * kernel_se(0.3, dims = "x")
  theirs <- kernel_matern(2.5, c(0.5, 0.8), dims = c("size", "polar")) * kernel_se(0.3, dims = "x")
  a <- gp_bandit(space, core, 0.01, policy_ei())
  b <- gp_bandit(product, theirs, 0.01, policy_ei())
  set.seed(1)
  level <- c("p", "r", "s", "q", "p")
  x <- runif(5)
  y <- rnorm(5)
  a$add(data.frame(k = level, x = x), reward = y)
  b$add(cbind(phi[match(level, c("p", "q", "r", "s")), ], x = x), reward = y)
  at <- expand.grid(k = c("p", "q", "r", "s"), x = 0:10 / 10, stringsAsFactors = FALSE)
  expect_equal(a$posterior(at), b$posterior(cbind(phi[match(at$k, c("p", "q", "r", "s")), ], x = at$x)), tolerance = 1e-7)
  for (i in 1:4) {
    p <- a$suggest()
    q <- b$suggest()
    expect_identical(match(p$k, c("p", "q", "r", "s")), as.integer(q$arm))
    expect_equal(p$x, q$x, tolerance = 1e-3)
    a$observe(p$id, sin(9 * q$x) + q$size)
    b$observe(q$id, sin(9 * q$x) + q$size)
  }
})

test_that("in a fit the gradients are correct, and the parameters are found", {
  set.seed(2)
  phi <- matrix(runif(12), 6)
  x <- matrix(sample(1:6, 40, TRUE), dimnames = list(NULL, "k"))
  y <- drop(sample_gp(kernel_categorical(features = phi, lengthscale = c(0.4, 1), own = 0.1), x)) + rnorm(40, 0, 0.1)
  fit <- gp_fit(x, y, kernel_categorical(features = phi, lengthscale = c(0.5, 0.5), own = 0.3), noise_var = 0.01)
  at <- function(k) logLik(gp_regression(x, y, k, 0.01))
  before <- as.numeric(logLik(gp_regression(x, y, kernel_categorical(features = phi, lengthscale = c(0.5, 0.5), own = 0.3), 0.01)))
  expect_gte(as.numeric(logLik(fit)), before)
  best <- fit$kernel
  # With correct gradients the search ends where a step of 1% to either side loses (a few 1e-5 of the log likelihood).
  for (name in c("lengthscale", "own", "variance")) for (step in c(0.99, 1.01)) {
    moved <- best
    moved[[name]] <- moved[[name]] * step
    expect_lt(as.numeric(logLik(gp_regression(x, y, moved, fit$noise_var))), as.numeric(logLik(fit)))
  }
})

test_that("draws of Thompson sampling have the kernel's covariance", {
  phi <- matrix(c(0, 0.4, 1))
  space <- search_space(k = param_factor(c("a", "b", "c"), features = phi))
  b <- gp_bandit(space, kernel_categorical(features = phi, lengthscale = 0.5, own = 0.2), 0.01, policy_ts(width_constant(1)))
  set.seed(3)
  played <- suppressWarnings(b$suggest(300))$k
  expect_gt(min(table(played)), 40)
})

test_that("auto_bandit() uses the features, with refits, files and JSON", {
  space <- search_space(k = param_factor(c("water", "ethanol", "hexane"), features = data.frame(dipole = c(1.85, 1.69, 0.08),
                                                                                                weight = c(18, 46, 86))),
                        t = c(0, 1))
  expect_true("levels" %in% vapply(gpbandits:::default_kernel(space)$parts, `[[`, "", "type"))
  b <- auto_bandit(space)
  set.seed(4)
  for (i in 1:13) {
    q <- b$suggest()
    b$observe(q$id, (q$k == "ethanol") - (q$t - 0.4)^2)
  }
  expect_identical(b$best()$k, "ethanol")
  expect_identical(b$copy()$history(), b$history())
  expect_identical(from_json(as_json(b))$history(), b$history())
})

test_that("columns without information are left out, with a message; invalid features are errors", {
  phi <- data.frame(a = c(1, 2, 4), b = c(2, 4, 8), c = 5, d = c(1, 0, 1))
  expect_message(p <- param_factor(c("x", "y", "z"), features = phi), "c \\(does not vary\\), b \\(goes with a\\)")
  expect_identical(colnames(p$features), c("a", "d"))
  expect_silent(q <- param_factor(c("x", "y"), features = data.frame(u = c(3, 1), row.names = c("y", "x"))))
  expect_identical(unname(q$features[, 1]), c(0, 1))
  for (bad in list(1, "a", data.frame(u = 1), data.frame(u = c(1, NA)), data.frame(u = c("a", "b")), data.frame(u = c(1, 1)),
                   matrix(0, 2, 0), list(1, 2))) {
    err <- expect_error(param_factor(c("x", "y"), features = bad), class = "gpbandits_error")
    expect_identical(err$argument, "features")
  }
  expect_error(param_factor(c("x", "y"), ordered = TRUE, features = data.frame(u = 1:2)), class = "gpbandits_error")
})

test_that("a table of descriptors from a file is matched by its column of names, and many columns are reduced", {
  path <- tempfile(fileext = ".csv")
  write.csv(data.frame(ligand = c("d", "b", "a", "c"), cone = c(9, 3, 1, 4), pka = c(0, 0, 2, 1)), path, row.names = FALSE)
  phi <- read.csv(path)
  p <- param_factor(c("a", "b", "c"), features = phi)
  expect_equal(p$features, cbind(cone = c(0, 2, 3) / 3, pka = c(1, 0, 0.5)))
  table <- data.frame(ligand = c("c", "a", "b", "a"), t = 1:4)
  expect_equal(finite_domain(table, features = list(ligand = phi))$params$ligand$features, p$features[c(3, 1, 2), ])
  err <- expect_error(param_factor(c("a", "e"), features = phi), "without a row for .e.", class = "gpbandits_error")
  expect_identical(err$argument, "features")
  # 200 columns of two hidden numbers, in different units.
  set.seed(1)
  hidden <- matrix(rnorm(24), 12)
  many <- (hidden %*% matrix(rnorm(400), 2) + 0.01 * rnorm(2400)) %*% diag(10^runif(200, -3, 3))
  expect_message(q <- param_factor(letters[1:12], features = many), "200 features were replaced by 2 principal components")
  expect_identical(range(q$features), c(0, 1))
  expect_gt(min(summary(lm(hidden ~ q$features))[[1]]$r.squared, summary(lm(hidden ~ q$features))[[2]]$r.squared), 0.99)
  expect_identical(suppressMessages(search_space(s = param_factor(letters[1:12], features = many)))$params$s, q)
  b <- auto_bandit(search_space(s = q, t = c(0, 1)), n_initial = 2)
  b$observe(b$suggest(3)$id, 1:3)
  expect_identical(from_json(as_json(b))$suggest(), b$suggest())
})

test_that("a kernel of levels accepts the arguments for features, or those without", {
  refused <- function(code, arg) expect_identical(expect_error(code, class = "gpbandits_error")$argument, arg)
  refused(kernel_categorical(features = matrix(0:1), correlation = 0.3), "correlation")
  refused(kernel_categorical(lengthscale = 0.3), "lengthscale")
  refused(kernel_categorical(own = 0.3), "own")
  refused(kernel_categorical(features = matrix(0:1), own = 0), "own")
  refused(kernel_categorical(features = matrix(0:1), lengthscale = -1), "lengthscale")
  refused(kernel_categorical(features = "a"), "features")
})
