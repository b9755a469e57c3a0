# Very many observations: a sparse basis (FITC) against its formula in plain R and against the dense engine, and the
# many observations of a refit, which enter together.

# FITC with the basis z. Repeats of a point share the variance that the basis does not explain.
plain_sparse <- function(gram, x, y, noise, z, at) {
  key <- apply(x, 1, paste, collapse = " ")
  point <- match(key, unique(key))
  weight <- as.numeric(rowsum(1 / noise, point))
  average <- as.numeric(rowsum(y / noise, point)) / weight
  x <- x[!duplicated(point), , drop = FALSE]
  cross <- gram(x, z)
  within <- gram(z, z)
  left <- 1 - rowSums((cross %*% solve(within)) * cross)
  noise <- 1 / weight + pmax(left, 0)
  inner <- within + crossprod(cross, cross / noise)
  here <- gram(at, z)
  list(mean = drop(here %*% solve(inner, crossprod(cross, average / noise))),
       variance = 1 - rowSums((here %*% solve(within)) * here) + rowSums((here %*% solve(inner)) * here))
}

test_that("a sparse basis gives mean and variance of FITC, with repeats and points that come later", {
  skip_without_testing()
  set.seed(3)
  x <- matrix(runif(200), 100)
  x <- rbind(x, x[c(1, 1, 7), ], x[c(2, 9), ] + 1e-3, x[5, ])
  y <- sin(5 * x[, 1]) + rnorm(106, sd = 0.2)
  scale <- c(rep(1, 104), 0.5, 2)
  at <- matrix(runif(20), 10)
  kernel <- kernel_matern(1.5, 0.3)
  gram <- function(a, b) {
    r <- sqrt(3) * sqrt(outer(a[, 1], b[, 1], "-")^2 + outer(a[, 2], b[, 2], "-")^2) / 0.3
    (1 + r) * exp(-r)
  }
  for (first in c(106, 103)) {
    resolved <- internal("resolve_kernel")(kernel, c("a", "b"))
    got <- internal("cpp_sparse_posterior")(resolved, 0.04, x, y, scale, 70, first, at)
    expect_lt(nrow(got$basis), 85)
    best <- x[which.max(y), ]
    expect_true(any(got$basis[, 1] == best[1] & got$basis[, 2] == best[2]))
    # (Points that join later do not change the unexplained variance of those before.)
    if (first == 106) {
      expect_equal(got[c("mean", "variance")], plain_sparse(gram, x, y, 0.04 * scale, got$basis, at), tolerance = 1e-8)
    } else {
      expect_equal(got$mean, plain_sparse(gram, x, y, 0.04 * scale, got$basis, at)$mean, tolerance = 0.02)
    }
  }
})

rough_bandit <- function(...) {
  gp_bandit(list(a = c(0, 1), b = c(0, 1), c = c(0, 1)), kernel_matern(1.5, c(0.3, 0.3, 0.3)), noise_var = 0.01,
            policy = policy_ei(), ...)
}

rough_rows <- function(n, seed = 4) {
  set.seed(seed)
  x <- matrix(runif(3 * n), n, dimnames = list(NULL, c("a", "b", "c")))
  list(x = as.data.frame(x), reward = sin(6 * x[, 1]) * cos(5 * x[, 2]) + x[, 3]^2 + rnorm(n, sd = 0.1))
}

test_that("with very many observations the engine is sparse, and its sds are not below those of the dense engine", {
  skip_on_cran()
  rows <- rough_rows(2600)
  never <- refit_every(1e6)
  filled <- function(...) {
    b <- rough_bandit(...)
    b$add(rows$x, reward = rows$reward)
    b
  }
  sparse <- filled(refit = never)
  facts <- internal("bandit_facts")(sparse)
  expect_identical(facts$engine, "sparse")
  expect_identical(facts$error_bound, NaN)
  expect_lte(facts$rank, 1250)
  exact <- filled(refit = never, engine = "dense")
  # (Width and regret theorems are about the exact one.)
  expect_true(internal("may_be_sparse")(sparse$config))
  for (b in list(exact, rough_bandit(), rough_bandit(refit = never, accuracy = 1e-4))) {
    expect_false(internal("may_be_sparse")(b$config))
  }
  set.seed(5)
  at <- matrix(runif(300), 100, dimnames = list(NULL, c("a", "b", "c")))
  truth <- sin(6 * at[, 1]) * cos(5 * at[, 2]) + at[, 3]^2
  got <- sparse$posterior(as.data.frame(at))
  wanted <- exact$posterior(as.data.frame(at))
  expect_true(all(got$sd > 0.95 * wanted$sd))
  expect_lt(mean(abs(got$mean - wanted$mean)), 0.5 * mean(wanted$sd))
  expect_gt(mean(abs(got$mean - truth) < 2 * got$sd), 0.85)
  # It takes further rewards.
  q <- sparse$suggest()
  sparse$observe(q$id, 1.5)
  at_q <- sparse$posterior(q[c("a", "b", "c")])
  expect_lt(at_q$sd, 0.1)
})

test_that("after a refit of many rewards reading results changes no choice, and copies make the same choices", {
  rows <- rough_rows(420)
  play <- function(reads) {
    b <- rough_bandit(refit = refit_every(3, starts = 1, iterations = 3))
    b$add(rows$x, reward = rows$reward)
    for (i in 1:5) {
      q <- b$suggest()
      if (reads) b$posterior(rows$x[1:3, ])
      b$observe(q$id, 0.1 * i)
      if (reads) b$posterior(rows$x[1:3, ])
    }
    b
  }
  plain <- play(FALSE)
  read <- play(TRUE)
  copy <- bandit_copy(plain)
  for (i in 1:3) {
    chosen <- plain$suggest()
    expect_identical(read$suggest(), chosen)
    expect_identical(copy$suggest(), chosen)
    for (b in list(plain, read, copy)) b$observe(chosen$id, 0.1 * i)
  }
  expect_identical(plain$posterior(rows$x[1:5, ]), read$posterior(rows$x[1:5, ]))
})

test_that("rows given together have the predictions of the prior, in whatever calls they are given", {
  rows <- rough_rows(400)
  b <- rough_bandit()
  b$add(rows$x, reward = rows$reward)
  said <- b$history()$sd
  # (The first 300 are predicted one by one.)
  expect_lt(max(said[290:300]), 0.99)
  expect_equal(said[303:400], rep(1, 98))
  in_parts <- rough_bandit()
  in_parts$add(rows$x[1:350, ], reward = rows$reward[1:350])
  in_parts$posterior(rows$x[1:2, ])
  in_parts$add(rows$x[351:400, ], reward = rows$reward[351:400])
  expect_identical(in_parts$history()$sd, said)
  file <- tempfile()
  saveRDS(b, file)
  journalled <- tempfile()
  rough_bandit(journal = journalled)$add(rows$x, reward = rows$reward)
  others <- list(json = from_json(as_json(b)), copy = b$copy(), rds = readRDS(file), journal = open_bandit(journalled))
  chosen <- b$suggest()
  expect_identical(in_parts$suggest(), chosen)
  for (name in names(others)) {
    expect_identical(others[[name]]$suggest(), chosen, info = name)
    expect_identical(others[[name]]$history(), b$history(), info = name)
  }
})

test_that("given rows are predicted one by one if a change rule needs the predictions", {
  skip_on_cran()
  rows <- rough_rows(400)
  b <- rough_bandit(changes = change_function(function(history) FALSE))
  b$add(rows$x, reward = rows$reward)
  expect_lt(max(b$history()$sd[310:400]), 0.99)
})
