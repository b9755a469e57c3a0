# The low-rank posterior and its certificate, through exports for tests, against the dense
# formulas of the reference.

skip_without_testing()

lowrank <- function(kernel, d, noise_var, accuracy = 1e-3, corrected = FALSE) {
  cpp_testing_lowrank_new(resolve_kernel(kernel, paste0("x", seq_len(d))), noise_var, accuracy, corrected)
}
state <- function(pointer) cpp_testing_lowrank_state(pointer)
predict_lowrank <- function(pointer, at, by_basis = FALSE) cpp_testing_lowrank_predict(pointer, at, by_basis)

# Points as a bandit plays them: spread at first, then around a few points, some of them twice.
played_points <- function(n, d) {
  x <- matrix(runif(n * d), n)
  close <- which(runif(n) < 0.5)
  centres <- matrix(runif(3 * d), 3)
  x[close, ] <- centres[sample(3, length(close), TRUE), ] + rnorm(length(close) * d, sd = 0.02)
  again <- which(runif(n) < 0.2)
  x[again, ] <- x[sample(n, length(again), TRUE), ]
  x
}

# What the reference says of a posterior that knows these observations.
dense_of <- function(case, known, at) {
  x <- case$x[known, , drop = FALSE]
  noise <- case$noise_var * case$scale[known]
  gram <- case$ref(x)
  out <- ref_posterior(gram, case$ref(at, x), diag(case$ref(at)), case$y[known], noise)
  out$log_det <- ref_logdet(gram, seq_along(known), noise)
  out$quadratic <- if (length(known)) sum(case$y[known] * solve(gram + diag(noise, length(noise)), case$y[known])) else 0
  out$log_likelihood <- if (length(known)) ref_log_likelihood(gram, case$y[known], noise) else 0
  out
}

# Errors in the units of the certificate; `slack` for the rounding of both sides.
expect_certified <- function(pointer, want, at, slack = 1e-6, info = NULL) {
  got <- predict_lowrank(pointer, at)
  bound <- state(pointer)
  sure <- want$sd > 1e-9
  expect_lte(max(abs(got$mean - want$mean)[sure] / want$sd[sure]), bound$mean + slack, label = paste("mean:", info))
  expect_lte(max(abs(log(got$sd / want$sd))[sure]), log1p(bound$sd) + slack, label = paste("sd:", info))
  expect_gte(want$log_det - bound$log_det, -slack, label = paste("log det:", info))
  expect_lte(want$log_det - bound$log_det, bound$information + slack, label = paste("log det:", info))
  # y'(Q + N)^-1 y exceeds y'(K + N)^-1 y by no more than the squared bound of the basis's mean.
  expect_gte(bound$quadratic - want$quadratic, -slack * (1 + want$quadratic), label = paste("quadratic:", info))
  expect_lte(bound$quadratic - want$quadratic, bound$basis_mean^2 + slack * (1 + want$quadratic), label = paste("quadratic:", info))
  for (i in which(sure)[seq_len(min(3, sum(sure)))]) {
    one <- cpp_testing_lowrank_at(pointer, at[i, ])
    expect_lte(abs(one$mean_alone - want$mean[i]) / want$sd[i], one$error_mean + slack)
    expect_lte(abs(log(one$sd_alone / want$sd[i])), log1p(one$error_sd) + slack)
    expect_lte(one$error_mean, bound$mean)
    expect_lte(one$error_sd, bound$sd)
  }
}

random_case <- function(seed, n) {
  set.seed(seed)
  kernels <- compare_kernels()
  kernel <- kernels[[1 + seed %% length(kernels)]]
  x <- played_points(n, kernel$d)
  weights <- 10^sample(c(0, 0, 0, -1, 1), n, TRUE)
  list(name = names(kernels)[1 + seed %% length(kernels)], core = kernel$core, ref = kernel$ref,
       d = kernel$d, noise_var = 10^runif(1, -3, 0), accuracy = 10^runif(1, -3, -1), x = x,
       scale = if (seed %% 3 == 0) weights else rep(1, n),
       y = sin(3 * rowSums(x)) + rnorm(n, sd = 0.3))
}

test_that("in random problems errors are below the certificate, and the certificate is below the accuracy", {
  skip_on_cran()
  for (seed in seq_len(by_level(8, 200, quick = 4))) {
    n <- sample(c(3, 20, 60, 90), 1)
    case <- random_case(seed, n)
    at <- rbind(matrix(runif(20 * case$d, -0.5, 1.5), 20), case$x[seq_len(min(n, 5)), , drop = FALSE] + 1e-3)
    want <- dense_of(case, seq_len(n), at)
    for (way in list(c(FALSE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE), c(TRUE, TRUE))) {
      pointer <- lowrank(case$core, case$d, case$noise_var, case$accuracy, corrected = way[2])
      cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, at_once = way[1])
      now <- state(pointer)
      expect_true(now$accurate)
      expect_lte(max(now$mean, now$sd), case$accuracy)
      expect_lte(now$rank, now$rows)
      expect_identical(now$rows, as.numeric(nrow(unique(case$x))))
      expect_certified(pointer, want, at, info = paste(c(case$name, seed, way), collapse = " "))
    }
  }
})

test_that("after random changes of values, removals, changes of noise and copies the basis is correct", {
  skip_on_cran()
  for (seed in seq_len(by_level(4, 60, quick = 2))) {
    case <- random_case(100 + seed, 120)
    at <- rbind(matrix(runif(10 * case$d), 10), case$x[1:3, , drop = FALSE])
    pointer <- lowrank(case$core, case$d, case$noise_var, case$accuracy, corrected = seed %% 2 == 0)
    cache <- cpp_testing_lowrank_candidates(at, 4)
    known <- integer()
    reported <- 0
    for (event in seq_len(60)) {
      what <- sample(c("add", "many", "target", "drop", "scales", "copy"), 1, prob = c(10, 1, 3, 3, 0.3, 0.5))
      if (what == "add" || reported < 3) {
        reported <- reported + 1
        cpp_testing_lowrank_add(pointer, case$x[reported, , drop = FALSE], case$y[reported], case$scale[reported], FALSE)
        known <- c(known, reported)
      } else if (what == "many" && reported < 100) {
        rows <- reported + 1:10
        cpp_testing_lowrank_add(pointer, case$x[rows, , drop = FALSE], case$y[rows], case$scale[rows], TRUE)
        reported <- reported + 10
        known <- c(known, rows)
      } else if (what == "target") {
        i <- sample(reported, 1)
        case$y[i] <- rnorm(1)
        cpp_testing_lowrank_change(pointer, "target", i, case$y[i])
      } else if (what == "drop" && length(known) > 1) {
        i <- sample(known, 1)
        cpp_testing_lowrank_change(pointer, "drop", i, numeric())
        known <- setdiff(known, i)
      } else if (what == "scales") {
        case$scale[seq_len(reported)] <- case$scale[seq_len(reported)] * runif(reported, 1, 1.3)
        cpp_testing_lowrank_change(pointer, "noise_scales", 0, case$scale[seq_len(reported)])
      } else if (what == "copy") {
        other <- pointer
        pointer <- cpp_testing_lowrank_copy(pointer)
        cpp_testing_lowrank_change(other, "clear", 0, numeric())
      }
      followed <- cpp_testing_lowrank_follow(cache, pointer)
      expect_equal(followed[c("mean", "sd")], predict_lowrank(pointer, at, by_basis = TRUE), tolerance = 1e-6)
      joint <- cpp_testing_lowrank_covariance(pointer, at)
      if (seed %% 2) expect_lt(max(abs(followed$apart^2 - (diag(joint) + joint[4, 4] - 2 * joint[4, ]))), 1e-9 * max(diag(joint), 1))
      if (event %% 10 == 0) {
        expect_certified(pointer, dense_of(case, known, at), at, info = paste(case$name, seed, event))
        expect_true(state(pointer)$accurate)
      }
    }
    expect_identical(state(pointer)$size, as.numeric(reported))
    cpp_testing_lowrank_change(pointer, "clear", 0, numeric())
    prior <- predict_lowrank(pointer, at)
    expect_equal(prior, list(mean = rep(0, nrow(at)), sd = sqrt(diag(case$ref(at)))), tolerance = tol$identity)
    expect_identical(unlist(state(pointer)[c("size", "rank", "log_det", "quadratic")], use.names = FALSE), numeric(4))
  }
})

test_that("with every point in the basis the posterior equals the dense one", {
  set.seed(1)
  for (kernel in compare_kernels()[c("matern12", "matern32", "sum", "product")]) {
    case <- list(x = matrix(runif(60 * kernel$d), 60), y = rnorm(60), scale = runif(60, 0.5, 2), noise_var = 0.1,
                 ref = kernel$ref)
    at <- matrix(runif(20 * kernel$d, -0.2, 1.2), 20)
    pointer <- lowrank(kernel$core, kernel$d, 0.1, 1e-9)
    cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, FALSE)
    want <- dense_of(case, 1:60, at)
    expect_equal(predict_lowrank(pointer, at), want[c("mean", "sd")], tolerance = tol$engine)
    expect_equal(cpp_testing_lowrank_covariance(pointer, at),
                 ref_posterior(kernel$ref(case$x), kernel$ref(at, case$x), kernel$ref(at), case$y, 0.1 * case$scale)$cov,
                 tolerance = tol$engine)
    expect_equal(state(pointer)[c("log_det", "quadratic", "log_likelihood")],
                 want[c("log_det", "quadratic", "log_likelihood")], tolerance = tol$engine)
    expect_equal(cpp_testing_lowrank_means(pointer, at), want$mean, tolerance = tol$engine)
    expect_equal(cpp_testing_lowrank_means(pointer, at[0, , drop = FALSE]),
                 dense_of(case, 1:60, case$x)$mean, tolerance = tol$engine)
  }
})

test_that("gradients of mean and sd are those of finite differences", {
  set.seed(2)
  step <- 1e-5
  x <- played_points(60, 3)
  for (kernel in list(kernel_se(c(0.4, 0.7, 1)), kernel_matern(2.5, 0.6), kernel_se(0.6) * kernel_linear(1))) {
    for (n in c(0, 5, 60)) {
      pointer <- lowrank(kernel, 3, 0.1)
      cpp_testing_lowrank_add(pointer, x[seq_len(n), , drop = FALSE], rnorm(n), rep(1, n), FALSE)
      at <- runif(3)
      got <- cpp_testing_lowrank_at(pointer, at)
      expect_equal(got[c("mean", "sd")], predict_lowrank(pointer, matrix(at, 1)), tolerance = tol$identity)
      expect_equal(got[c("mean_alone", "sd_alone")], got[c("mean", "sd")], tolerance = tol$identity,
                   ignore_attr = TRUE)
      expect_equal(got$mean_on_points, got$mean, tolerance = 1e-6)
      expect_equal(got$slope, got$dmean, tolerance = tol$identity)
      around <- predict_lowrank(pointer, rbind(diag(step, 3), diag(-step, 3)) + rep(at, each = 6))
      expect_equal(got$dmean, (around$mean[1:3] - around$mean[4:6]) / (2 * step), tolerance = 1e-5)
      expect_equal(got$dsd, (around$sd[1:3] - around$sd[4:6]) / (2 * step), tolerance = 1e-5)
    }
  }
})

test_that("joint draws and sample paths have the posterior's mean and covariance", {
  skip_on_cran()
  set.seed(3)
  x <- played_points(80, 1)
  pointer <- lowrank(kernel_se(0.2), 1, 0.05)
  cpp_testing_lowrank_add(pointer, x, sin(6 * x[, 1]) + rnorm(80, sd = 0.2), rep(1, 80), FALSE)
  expect_lt(state(pointer)$rank, 40)
  at <- matrix(c(-0.3, 0.1, 0.45, 0.8, 1.2))
  mean <- predict_lowrank(pointer, at)$mean
  covariance <- cpp_testing_lowrank_covariance(pointer, at)
  root <- chol(covariance)
  for (features in c(0, 500)) {
    count <- 4000
    draws <- cpp_testing_lowrank_draws(pointer, at, count, features)
    whitened <- backsolve(root, draws - mean, transpose = TRUE)
    expect_gt(stats::pchisq(count * sum(rowMeans(whitened)^2), 5, lower.tail = FALSE), tol$p_value)
    # (Random features have the kernel's covariance up to 1 / sqrt(features) in one path, exactly on average.)
    expect_lt(max(abs(tcrossprod(whitened) / count - diag(5))), 0.12)
  }
})

test_that("the rank of a finite-rank kernel is not exceeded, whatever points are evaluated", {
  set.seed(4)
  x <- matrix(rnorm(300 * 6), 300)
  case <- list(x = x, y = rnorm(300), scale = rep(1, 300), noise_var = 0.1, ref = ref_kernel_linear(1.3))
  pointer <- lowrank(kernel_linear(1.3), 6, 0.1)
  cpp_testing_lowrank_add(pointer, x, case$y, case$scale, FALSE)
  expect_identical(state(pointer)$rank, 6)
  at <- matrix(rnorm(60), 10)
  expect_certified(pointer, dense_of(case, 1:300, at), at, slack = tol$engine)
  both <- lowrank(kernel_linear(1.3, dims = 1:3) + kernel_linear(2, dims = 4:5) * kernel_linear(dims = 6), 6, 0.1)
  cpp_testing_lowrank_add(both, x, case$y, case$scale, FALSE)
  expect_identical(state(both)$rank, 5)
})

test_that("the rank of a smooth kernel hardly grows, and a rough kernel recommends the dense engine", {
  set.seed(5)
  x <- matrix(runif(1600), 800)
  smooth <- lowrank(kernel_se(1), 2, 0.01)
  ranks <- vapply(1:4, function(part) {
    rows <- (part - 1) * 200 + 1:200
    cpp_testing_lowrank_add(smooth, x[rows, ], rnorm(200), rep(1, 200), FALSE)
    state(smooth)$rank
  }, 0)
  expect_lt(ranks[4], ranks[1] + 12)
  expect_lt(ranks[4], 60)
  expect_false(state(smooth)$should_be_dense)
  rough <- lowrank(kernel_matern(0.5, 0.1), 2, 0.01)
  cpp_testing_lowrank_add(rough, x[1:100, ], rnorm(100), rep(1, 100), FALSE)
  expect_true(state(rough)$should_be_dense)
})

# Each of these breaks a factorisation that trusts its pivots.
adversarial <- function() {
  base <- matrix(runif(20), 20)
  line <- matrix(seq(0, 1, length.out = 60))
  list(
    near_duplicates = list(x = rbind(base, base + 1e-9, base - 1e-9), kernel = "se", length = 0.3, noise_var = 1e-2),
    far = list(x = rbind(base, base + 1e6, matrix(1e150, 2)), kernel = "se", length = 0.3, noise_var = 1e-2),
    spikes = list(x = rbind(base, base), kernel = "matern", length = 1e-3, noise_var = 1e-2),
    ordered_line = list(x = line, kernel = "se", length = 2, noise_var = 1e-2),
    little_noise = list(x = line, kernel = "se", length = 0.5, noise_var = 1e-8),
    little_noise_rough = list(x = line, kernel = "matern", length = 0.5, noise_var = 1e-8),
    single_point = list(x = matrix(0.5, 60, 1), kernel = "se", length = 0.3, noise_var = 1e-8))
}

test_that("for adversarial points the error is below the certificate, or the engine reports that it is not accurate", {
  set.seed(6)
  for (name in names(adversarial())) {
    it <- adversarial()[[name]]
    n <- nrow(it$x)
    core <- if (it$kernel == "se") kernel_se(it$length) else kernel_matern(2.5, it$length)
    case <- list(x = it$x, y = sin(5 * it$x[, 1] * (abs(it$x[, 1]) < 10)) + sqrt(it$noise_var) * rnorm(n),
                 scale = rep(1, n), noise_var = it$noise_var,
                 ref = if (it$kernel == "se") ref_kernel_se(it$length) else ref_kernel_matern(2.5, it$length))
    at <- rbind(matrix(runif(20)), it$x[1:5, , drop = FALSE], matrix(c(-3, 1e6)))
    for (way in list(c(FALSE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE), c(TRUE, TRUE))) {
      pointer <- lowrank(core, 1, it$noise_var, corrected = way[2])
      cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, at_once = way[1])
      got <- predict_lowrank(pointer, at)
      expect_true(all(is.finite(got$mean)) && all(got$sd >= 0))
      # The reference itself is good to about eps / noise.
      expect_certified(pointer, dense_of(case, seq_len(n), at), at, slack = max(1e-6, 1e-13 * n / it$noise_var), info = name)
      if (it$noise_var >= 1e-2) expect_true(state(pointer)$accurate, info = name)
    }
  }
})

test_that("if no point can join the basis, the error of the mean is measured and the rank stays", {
  skip_on_cran()
  set.seed(8)
  n <- 700
  x <- matrix(runif(2 * n), n)
  x[201:n, ] <- x[sample(40, n - 200, TRUE), ]              # played again and again: rounding counts as often
  case <- list(x = x, y = sin(3 * rowSums(x)) + rnorm(n, sd = 0.1), noise_var = 0.01, scale = rep(1, n),
               ref = ref_kernel_se(0.9))
  pointer <- lowrank(kernel_se(0.9), 2, case$noise_var, accuracy = 1e-4)
  accurate <- vapply(split(seq_len(n), rep(1:35, each = 20)), function(some) {
    cpp_testing_lowrank_add(pointer, x[some, ], case$y[some], case$scale[some], FALSE)
    state(pointer)$accurate
  }, NA)
  expect_true(all(accurate))
  expect_lt(state(pointer)$rank, 60)
  at <- matrix(runif(60), 30)
  expect_certified(pointer, dense_of(case, seq_len(n), at), at)
})

test_that("a width of the dense posterior, widened by the factor, covers around the low-rank mean", {
  for (seed in seq_len(by_level(5, 60))) {
    case <- random_case(300 + seed, 60)
    case$accuracy <- 10^runif(1, -1, 2)  # so rough that the factor matters
    centres <- matrix(runif(5 * case$d), 5)
    f <- rnorm(5)
    norm <- sqrt(sum(f * (case$ref(centres) %*% f)))
    noise <- sqrt(case$noise_var * case$scale) * rnorm(60)
    pointer <- lowrank(case$core, case$d, case$noise_var, case$accuracy)
    cpp_testing_lowrank_add(pointer, case$x, as.vector(case$ref(case$x, centres) %*% f) + noise, case$scale, FALSE)
    at <- rbind(matrix(runif(40 * case$d, -0.2, 1.2), 40), centres, case$x)
    got <- predict_lowrank(pointer, at)
    # The noise's part of the dense width, exactly: e'K(K + N)^-1 N^-1 e.
    gram <- case$ref(case$x)
    n_var <- case$noise_var * case$scale
    part <- sqrt(sum(noise / n_var * (gram %*% solve(gram + diag(n_var), noise))))
    ratio <- abs(as.vector(case$ref(at, centres) %*% f) - got$mean) / pmax(got$sd, 1e-9)
    expect_lte(max(ratio), state(pointer)$width_factor * norm + part + 1e-6)
  }
})

# The score that a policy maximises, from the posterior at all arms.
scores_of <- function(policy, at, value) {
  gain <- at$mean - value
  switch(policy, ucb = , rising = at$mean + value * at$sd, variance = at$sd,
         ei = gain * stats::pnorm(gain / at$sd) + at$sd * stats::dnorm(gain / at$sd))
}

test_that("the first points of a basis bound the result of all of them, the tighter the more points", {
  for (seed in seq_len(by_level(5, 40))) {
    case <- random_case(400 + seed, 60)
    at <- rbind(matrix(runif(40 * case$d, -0.2, 1.2), 40), case$x[1:5, , drop = FALSE])
    pointer <- lowrank(case$core, case$d, case$noise_var, case$accuracy)
    cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, FALSE)
    got <- predict_lowrank(pointer, at)
    gaps <- vapply(round(seq(0, state(pointer)$rank, length.out = 6)), function(few) {
      bounds <- cpp_testing_lowrank_bounds(pointer, at, few)
      info <- paste(case$name, seed, few)
      expect_true(all(bounds$least_mean <= got$mean + 1e-9 & got$mean <= bounds$largest_mean + 1e-9), info = info)
      expect_true(all(bounds$least_sd <= got$sd + 1e-9 & got$sd <= bounds$largest_sd + 1e-9), info = info)
      max(bounds$largest_mean - bounds$least_mean)
    }, 0)
    expect_equal(gaps[length(gaps)], 0, tolerance = 1e-12)
    expect_gt(gaps[1], 0)
  }
})

test_that("the best of new points equals that of a full evaluation", {
  for (seed in seq_len(by_level(4, 30))) {
    case <- random_case(500 + seed, 90)
    at <- matrix(runif(300 * case$d), 300)
    at[sample(300, 60), ] <- at[sample(300, 60), ]  # ties: the first counts
    pointer <- lowrank(case$core, case$d, case$noise_var, case$accuracy, corrected = seed %% 3 > 0)
    cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, seed %% 2 == 0)
    prior <- if (seed %% 2) 0.3 else 0.2 * at[, 1]
    got <- predict_lowrank(pointer, at)
    got$mean <- got$mean + prior
    for (policy in c("ucb", "rising", "variance", "ei")) for (value in c(0, 1, 4)) {
      best <- cpp_testing_lowrank_best(pointer, at, prior, policy, value)
      score <- scores_of(policy, got, value)
      unit <- if (policy == "ei") max(score) else 1
      expect_gte(score[best], max(score) - 2e-9 * unit, label = paste(case$name, seed, policy, value))
      same <- which(rowSums(abs(sweep(at, 2, at[best, ]))) == 0)
      expect_identical(best, as.numeric(min(same)), info = paste(case$name, seed, policy, value))
    }
  }
})

# Points of a bandit that has made up its mind, and some that lie elsewhere: there a basis says little.
settled_case <- function(seed, n) {
  set.seed(seed)
  centres <- matrix(runif(8), 4)
  x <- rbind(matrix(runif(80), 40), centres[sample(4, n - 40, TRUE), ] + rnorm(2 * (n - 40), sd = 0.03))
  list(x = x, y = sin(5 * rowSums(x)) + rnorm(n, sd = 0.1), scale = rep(1, n), noise_var = 0.01,
       core = kernel_matern(2.5, 0.3), ref = ref_kernel_matern(2.5, 0.3))
}

test_that("the best observation has the largest mean, after additions, removals and changes", {
  set.seed(62)
  truth <- function(x) cos(4 * x[, 1]) * sin(5 * x[, 2])
  x <- rbind(matrix(runif(2000), ncol = 2), matrix(c(0.78, 0.3), 500, 2, byrow = TRUE) + rnorm(1000, sd = 0.01))
  pointer <- lowrank(kernel_matern(2.5, 0.15), 2, 0.01, corrected = TRUE)
  cpp_testing_lowrank_add(pointer, x, truth(x) + rnorm(1500, sd = 0.1), rep(1, 1500), TRUE)
  expect_gt(state(pointer)$rank, 128)  # below that, all means are computed
  known <- rep(TRUE, 1500)
  for (k in seq_len(by_level(30, 30, quick = 16))) {
    offset <- if (k %% 2) 0 else 3
    got <- cpp_testing_lowrank_best_observation(pointer, offset)
    expect_identical(got$best, as.numeric(which(known)[which.max(got$means[known] + offset)]), label = paste("step", k))
    one <- if (k %% 3) matrix(c(0.78, 0.3) + rnorm(2, sd = 0.05), 1) else matrix(runif(2), 1)
    if (k %% 10 == 5) one <- x[got$best %% 1500 + 1, , drop = FALSE]
    cpp_testing_lowrank_add(pointer, one, truth(one) + rnorm(1, sd = 0.1), 1, FALSE)
    known <- c(known, TRUE)
    if (k %% 10 == 7) {
      cpp_testing_lowrank_change(pointer, "drop", got$best, 0)
      known[got$best] <- FALSE
    }
    if (k %% 10 == 9) cpp_testing_lowrank_change(pointer, "target", sample(which(known), 1), 2)
    if (k == 20) cpp_testing_lowrank_change(pointer, "order", 0, 0)
    if (k == 25) cpp_testing_lowrank_change(pointer, "noise_scales", 0, runif(length(known), 0.5, 2))
  }
})

test_that("results are corrected where the basis is not accurate enough, with fewer points", {
  for (seed in 1:2) {
    case <- settled_case(seed, 400)
    at <- rbind(matrix(runif(200), 100), case$x[seq(1, 400, by = 10), ])
    want <- dense_of(case, 1:400, at)
    tight <- lowrank(case$core, 2, case$noise_var, 0.01)
    loose <- lowrank(case$core, 2, case$noise_var, 0.01, corrected = TRUE)
    for (pointer in list(tight, loose)) cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, FALSE)
    expect_lt(state(loose)$rank, 0.8 * state(tight)$rank)
    basis <- predict_lowrank(loose, at, by_basis = TRUE)
    answers <- predict_lowrank(loose, at)
    better <- answers$mean != basis$mean
    expect_gt(sum(better), 50)
    expect_lt(sum(better), 138)                                     # not where it has been evaluated often
    error_of_mean <- function(got) max(abs(got$mean - want$mean)[better] / want$sd[better])
    error_of_sd <- function(got) max(abs(log(got$sd / want$sd))[better])
    expect_lt(error_of_mean(answers), 0.6 * error_of_mean(basis))
    expect_lt(error_of_sd(answers), 0.6 * error_of_sd(basis))
    expect_certified(loose, want, at)
    some <- at[1:30, ]
    gram <- case$ref(case$x)
    dense <- ref_posterior(gram, case$ref(some, case$x), case$ref(some), case$y, rep(case$noise_var, 400))
    joint <- cpp_testing_lowrank_covariance(loose, some)
    expect_lt(max(abs(joint - dense$cov) / tcrossprod(dense$sd)), 3e-3)
    root <- predict_lowrank(loose, some)$sd
    expect_lt(max(abs(sqrt(diag(joint)) / root - 1)), 3e-3)
  }
})

test_that("the best point is that of the corrected results", {
  differs <- 0
  for (seed in 1:2) {
    case <- settled_case(10 + seed, 300)
    pointer <- lowrank(case$core, 2, case$noise_var, 0.2, corrected = TRUE)
    cpp_testing_lowrank_add(pointer, case$x, case$y, case$scale, FALSE)
    at <- matrix(runif(10000), 5000)
    at <- at[order(-scores_of("ucb", predict_lowrank(pointer, at, by_basis = TRUE), 2)), ]
    answers <- scores_of("ucb", predict_lowrank(pointer, at), 2)
    for (i in seq(1, 2000, by = 10)) {
      two <- i + 0:1                                                # next to each other by the basis, anywhere in space
      best <- cpp_testing_lowrank_best(pointer, at[two, ], 0, "ucb", 2)
      expect_identical(best, as.numeric(which.max(answers[two])))
      differs <- differs + (best == 2)
    }
  }
  expect_gt(differs, 10)
})

test_that("the error of the mean is measured block by block, and never underestimated", {
  skip_on_cran()
  case <- settled_case(3, by_level(4200, 9000))                     # more than a block
  n <- nrow(case$x)
  gram <- exp(-as.matrix(stats::dist(case$x / 0.15))^2 / 2)
  pointer <- lowrank(kernel_se(0.15), 2, case$noise_var, corrected = TRUE)
  first <- seq_len(n - 40)
  cpp_testing_lowrank_add(pointer, case$x[first, ], case$y[first], case$scale[first], TRUE)
  # |g|^2 = d'E d, d the residuals over the noise, E the kernel's matrix less that of the basis.
  length_of_g <- function(known) {
    means <- cpp_testing_lowrank_means(pointer, case$x[0, ])
    d <- (case$y[known] - means) / case$noise_var
    all <- replace(numeric(n), known, d)
    sqrt(max(0, sum(all * (gram %*% all)) - sum(d * means)))
  }
  g <- length_of_g(first)
  expect_gt(g, 1e-3)                                                # not accurate by the basis alone
  expect_gte(state(pointer)$basis_mean, 0.999 * g)
  expect_lte(state(pointer)$basis_mean, 4 * g)
  for (i in (n - 39):n) {
    cpp_testing_lowrank_add(pointer, case$x[i, , drop = FALSE], case$y[i], 1, FALSE)
    if (i %% 10 == 0) expect_gte(state(pointer)$basis_mean, 0.999 * length_of_g(seq_len(i)))
  }
  expect_true(state(pointer)$accurate)
})

test_that("a basis in a new order gives the same posterior with no more points", {
  set.seed(12)
  case <- list(x = matrix(runif(700), 350), y = rnorm(350), scale = rep(1, 350), noise_var = 0.1,
               ref = ref_kernel_matern(2.5, 1))
  at <- matrix(runif(60, -0.2, 1.2), 30)
  pointer <- lowrank(kernel_matern(2.5, 1), 2, 0.1)
  for (part in split(1:350, rep(1:5, each = 70))) {
    cpp_testing_lowrank_add(pointer, case$x[part, ], case$y[part], case$scale[part], FALSE)
    before <- state(pointer)
    few <- before$rank %/% 2
    gap <- function() with(cpp_testing_lowrank_bounds(pointer, at, few), max(largest_sd - least_sd))
    loose <- gap()
    cpp_testing_lowrank_change(pointer, "order", 0, numeric())
    expect_lte(state(pointer)$rank, before$rank)
    expect_lt(gap(), loose)
    expect_true(state(pointer)$accurate)
    expect_certified(pointer, dense_of(case, seq_len(max(part)), at), at, info = paste(max(part), "rewards"))
  }
  expect_gt(before$rank, 128)  # beyond, the mean's error is measured
  # The points of the basis may have no observation any more.
  for (i in 1:60) cpp_testing_lowrank_change(pointer, "drop", i, numeric())
  cpp_testing_lowrank_change(pointer, "noise_scales", 0, rep(1.2, 350))
  cpp_testing_lowrank_change(pointer, "order", 0, numeric())
  case$scale <- rep(1.2, 350)
  expect_certified(pointer, dense_of(case, 61:350, at), at)
})

test_that("no mean changes by more than its bound after new data, and some reach the bound", {
  largest <- 0
  for (seed in seq_len(by_level(4, 20))) {
    case <- random_case(300 + seed, 60)
    at <- rbind(matrix(runif(40 * case$d), 40), case$x)
    pointer <- lowrank(case$core, case$d, case$noise_var, case$accuracy)
    then <- list(predict_lowrank(pointer, at))
    for (i in 1:60) {
      cpp_testing_lowrank_add(pointer, case$x[i, , drop = FALSE], case$y[i], case$scale[i], FALSE)
      then[[i + 1]] <- predict_lowrank(pointer, at)
    }
    moves <- cpp_testing_lowrank_moves(pointer, 0)
    expect_equal(cpp_testing_lowrank_moves(pointer, 25), moves[26:61])
    # (Both means are off by the certificate at most.)
    slack <- 2 * max(unlist(state(pointer)[c("mean", "sd")]))
    for (since in 0:60) {
      old <- then[[since + 1]]
      moved <- max((abs(then[[61]]$mean - old$mean) / pmax(old$sd, 1e-9)))
      expect_lte(moved, (1 + slack) * moves[since + 1] + slack + 1e-6, label = paste(case$name, seed, since))
      if (since < 60) largest <- max(largest, moved / moves[since + 1])
    }
  }
  expect_gt(largest, 0.9)
})

test_that("the lazy maximum over arms equals that of a full evaluation, with fewer evaluations", {
  skip_on_cran()
  for (seed in seq_len(by_level(3, 12, quick = 2))) {
    set.seed(seed)
    kernel <- list(kernel_se(0.15), kernel_matern(2.5, 0.4), kernel_se(c(0.1, 0.5), 2))[[1 + seed %% 3]]
    x <- matrix(runif(6000), 3000)
    x[sample(3000, 300), ] <- x[sample(3000, 300), ]  # ties: the first counts
    prior <- if (seed %% 2) 0.3 else 0.2 * x[, 1]
    resolved <- resolve_kernel(kernel, c("x1", "x2"))
    arms <- cpp_testing_lowrank_arms(resolved, x, prior)
    pointer <- cpp_testing_lowrank_new(resolved, 0.05, 1e-3, FALSE)
    looked <- numeric()
    for (round in 1:60) {
      policy <- if (round %% 3) sample(c("ucb", "rising"), 1) else sample(c("variance", "ei"), 1)
      value <- if (policy == "ei") 0.9 else runif(1, 1, 3)
      got <- cpp_testing_lowrank_choose(arms, pointer, policy, value)
      at <- predict_lowrank(pointer, x)
      at$mean <- at$mean + prior
      score <- scores_of(policy, at, value)
      unit <- if (policy == "ei") max(score) else max(1, sqrt(kernel_gram(kernel, x[1, , drop = FALSE])))
      tied <- which(score >= max(score) - 1e-9 * unit)
      expect_true(got[1] %in% tied, info = paste(seed, round, policy))
      # Which of them is the first may hang on rounding, but not among equal arms.
      same <- which(x[, 1] == x[got[1], 1] & x[, 2] == x[got[1], 2])
      expect_identical(got[1], as.numeric(min(same)), info = paste(seed, round, policy))
      looked <- c(looked, got[2])
      y <- sin(6 * x[got[1], 1]) + rnorm(1, sd = 0.2) - if (length(prior) > 1) prior[got[1]] else prior
      cpp_testing_lowrank_add(pointer, x[got[1], , drop = FALSE], y, 1, FALSE)
      if (round %% 7 == 0) cpp_testing_lowrank_change(pointer, "target", sample(round, 1), rnorm(1))
      if (round == 40) cpp_testing_lowrank_change(pointer, "drop", 3, numeric())
    }
    expect_lt(stats::median(looked), 2500)
  }
})

test_that("impossible calls of the lazy maximum are errors", {
  resolved <- resolve_kernel(kernel_se(), c("x1", "x2"))
  expect_error(cpp_testing_lowrank_arms(resolved, matrix(0, 0, 2), 0), "no arms")
  expect_error(cpp_testing_lowrank_arms(resolved, matrix(0, 3, 2), c(0, 1)), "one per arm")
})

test_that("inputs that only this class can detect are errors", {
  pointer <- lowrank(kernel_se(), 2, 1)
  expect_error(lowrank(kernel_se(), 2, 0), "positive")
  expect_error(lowrank(kernel_se(), 2, 1, 0), "accuracy")
  cpp_testing_lowrank_add(pointer, matrix(1:4, 2), 1:2, c(1, 1), FALSE)
  before <- state(pointer)
  expect_error(cpp_testing_lowrank_add(pointer, matrix(1, 1, 3), 1, 1, FALSE), "3 inputs, not 2")
  expect_error(cpp_testing_lowrank_add(pointer, matrix(1, 2, 2), 1, 1, TRUE), "differ in number")
  expect_error(cpp_testing_lowrank_change(pointer, "targets", 0, 1:3), "differ in number")
  expect_error(cpp_testing_lowrank_change(pointer, "noise_scales", 0, 1:3), "differ in number")
  expect_error(cpp_testing_lowrank_change(pointer, "drop", 3, 1), "no such observation")
  expect_error(cpp_testing_lowrank_change(pointer, "target", 0, 1), "no such observation")
  expect_identical(state(pointer), before)
})

test_that("kernels that are products over arms and contexts are recognised, and one factor is cached", {
  set.seed(21)
  arms <- matrix(runif(40), 20)
  played <- sample.int(20, 60, TRUE)
  x <- cbind(arms[played, ], matrix(runif(120), 60), played - 1)
  here <- cbind(arms, 0.3, 0.8, 0:19)
  for (one in split_kernels()) {
    engine <- lowrank(one[[1]], 4, 0.1)
    cpp_testing_lowrank_add(engine, x, rnorm(60), rep(1, 60), FALSE)
    found <- cpp_testing_lowrank_crosses(engine, here, 2, 12)
    expect_identical(length(found) > 0, one[[2]])
    if (one[[2]]) expect_equal(found[[1]], found[[2]], tolerance = 1e-9)
  }
})
