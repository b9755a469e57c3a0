# Earlier campaigns: their posterior, the weights of correlations, and the results that stay the same.

inside <- function(b) as.environment(b)

# A bandit over the tiny example's arms that knows of one earlier campaign with this correlation.
tiny <- function(correlation, policy = policy_ei()) {
  arms <- data.frame(x = 0:4 / 4)
  b <- gp_bandit(arms, kernel_se(0.3), 0.01, policy, refit = refit_every(100))
  frame <- inside(b)
  frame$config$transfer <- list(name = "old", rows = 5, inputs = as.matrix(arms), campaign = rep(1L, 5),
                               values = c(-0.5, 0.9, 1.2, 0.4, -1), noise_var = rep(0.01, 5),
                               kernel = kernel_se(0.3), noise = 0.01, slope = 1, correlation = diag(1))
  frame$config$models <- list(list(kernel = kernel_se(0.3), noise_var = 0.01, mean = 0, weight = 1,
                                   campaigns = list(correlation = correlation, scale = 1, mean = 0)))
  gpbandits:::make_ready(frame)
  b$add(arm = c(1, 3, 5), reward = c(0.2, 1, -0.3))
  b
}

test_that("the numbers of the worked example come out", {
  wanted <- rbind(c(0.730445, 0.443594), c(0.914011, 0.365274), c(1.003886, 0.231731))
  evidence <- c(-9.054576, -7.993318, -8.142275)
  for (k in 1:3) {
    rho <- c(0, 0.6, 0.9)[k]
    b <- tiny(rho)
    expect_equal(unlist(b$posterior()[2, c("mean", "sd")], use.names = FALSE), wanted[k, ], tolerance = 1e-6)
    # (The weak prior of the old campaign's mean is left out here: its mean is 0.)
    transfer <- inside(b)$config$transfer
    K <- kernel_gram(kernel_se(0.3), transfer$inputs) + diag(0.01, 5)
    root <- chol(K)
    through <- backsolve(root, transfer$values, transpose = TRUE)
    known <- list(root = root, centred = through)
    found <- gpbandits:::predicted(transfer, kernel_se(0.3), known, transfer$inputs[c(1, 3, 5), , drop = FALSE],
                                  c(0.2, 1, -0.3),
                                  rep(0.01, 3), matrix(rho), 1, 0)[1, 1]
    expect_equal(found - sum(log(diag(root))) - 0.5 * sum(through^2) - 4 * log(2 * pi), evidence[k], tolerance = 1e-6)
  }
})

f <- function(x) -4 * (x[, 1] - 0.3)^2 - 3 * (x[, 2] - 0.6)^2
old_data <- function(n, seed, sign = 1, f = get("f", globalenv())) {
  set.seed(seed)
  x <- cbind(x = runif(n, -0.2, 1), y = runif(n))
  data.frame(x, reward = 100 + 5 * sign * f(x) + rnorm(n, sd = 0.2))
}
box <- list(x = c(0, 1), y = c(0, 1))
play <- function(b, rounds, f, sd = 0.02) {
  for (t in seq_len(rounds)) {
    q <- b$suggest()
    b$observe(q$id, f(as.matrix(q[c("x", "y")])) + rnorm(1, sd = sd))
  }
  b
}

test_that("noisy expected improvement draws its incumbent given the earlier campaign", {
  set.seed(5)
  K <- kernel_gram(kernel_se(0.3), 0:4 / 4)
  for (rho in few_of(c(-0.9, 0, 0.9), 2)) {
    b <- tiny(rho, policy_ei(incumbent = "draws"))
    transfer <- inside(b)$config$transfer
    p <- ref_posterior_at(rbind(cbind(K, rho * K), cbind(rho * K, K)), c(1, 3, 5, 6:10),
                          c(0.2, 1, -0.3, transfer$values), 0.01, test = 1:5)
    draws <- p$mean + t(chol(p$cov + diag(1e-12, 5))) %*% matrix(rnorm(5 * by_level(1e5, 1e5, quick = 3e4)), 5)
    value <- rowMeans(pmax(sweep(draws, 2, apply(draws[c(1, 3, 5), ], 2, max)), 0))
    expect_gt(abs(log(value[2] / value[4])), 0.2)
    expect_identical(b$suggest()$arm, which.max(value))
  }
  # On a box, where the search needs slopes.
  b <- auto_bandit(box, transfer = list(may = old_data(25, 3, f = f)), n_initial = 2,
                   policy = policy_ei(incumbent = "draws"))
  play(b, 6, f)
  h <- b$history()
  expect_identical(anyDuplicated(h[c("x", "y")]), 0L)
  expect_gt(max(f(as.matrix(h[c("x", "y")]))), -0.3)
})

# Mean and sd from the settings alone, by the formulas.
by_hand <- function(config, x, y, newdata) {
  transfer <- config$transfer
  z <- map_outputs(config$output_map, y)
  parts <- lapply(config$models, function(model) {
    campaigns <- model$campaigns
    C <- rbind(c(campaigns$scale^2, campaigns$scale * campaigns$correlation),
               cbind(campaigns$scale * campaigns$correlation, transfer$correlation))
    X <- rbind(x, transfer$inputs)
    task <- c(rep(1, nrow(x)), transfer$campaign + 1)
    V <- kernel_gram(model$kernel, X) * C[task, task] + diag(c(rep(model$noise_var, nrow(x)), transfer$noise_var))
    k <- kernel_gram(model$kernel, X, newdata) * C[task, 1]
    mean <- model$mean + drop(t(k) %*% solve(V, c(z - model$mean, transfer$values - campaigns$mean[transfer$campaign])))
    list(mean = mean, var = C[1, 1] * diag(kernel_gram(model$kernel, newdata)) - colSums(k * solve(V, k)))
  })
  w <- vapply(config$models, `[[`, 0, "weight")
  means <- vapply(parts, `[[`, numeric(nrow(newdata)), "mean")
  mean <- drop(means %*% w)
  list(mean = mean, sd = sqrt(drop((vapply(parts, `[[`, numeric(nrow(newdata)), "var") + (means - mean)^2) %*% w)))
}

test_that("the posterior is that of all campaigns under each model, averaged", {
  may <- old_data(12, 1, f = f)
  may[13, ] <- may[1, ] + c(0, 0, 1)
  b <- auto_bandit(box, transfer = list(may = may, june = old_data(9, 2, f = f)), model = gp_model(transform = "none"))
  expect_lt(max(table(inside(b)$config$transfer$campaign)), 13)
  set.seed(3)
  play(b, 3, f)
  config <- config_now(b)
  h <- b$history()
  expect_identical(nrow(h), 3L)
  points <- cbind(x = c(0.1, 0.5, 0.9), y = c(0.2, 0.7, 0.4))
  hand <- by_hand(config, as.matrix(h[c("x", "y")]), h$reward, points)
  core <- gpbandits:::scaled_posterior_at(inside(b), gpbandits:::find_points(config$domain, points), NULL)
  expect_equal(core$mean, hand$mean, tolerance = 1e-7)
  expect_equal(core$sd, hand$sd, tolerance = 1e-7)
  # The same over arms, and over a search space.
  arms <- expand.grid(x = c(0, 0.3, 0.5, 1), y = c(0.2, 0.6))
  for (domain in list(arms, search_space(x = param_real(0, 1), y = param_real(0, 1)))) {
    b <- auto_bandit(domain, transfer = list(may = may), model = gp_model(transform = "none"))
    play(b, 3, f)
    config <- config_now(b)
    h <- b$history()
    hand <- by_hand(config, as.matrix(h[c("x", "y")]), h$reward, as.matrix(arms))
    points <- gpbandits:::find_points(config$domain, arms)
    if (!is.null(points$arm) && !anyNA(points$arm)) points <- list(arm = points$arm)
    core <- gpbandits:::scaled_posterior_at(inside(b), points, NULL)
    expect_equal(core$mean, hand$mean, tolerance = 1e-7)
    expect_equal(core$sd, hand$sd, tolerance = 1e-7)
  }
})

test_that("the predictive score is the density of this campaign's rewards given the other rows", {
  set.seed(4)
  x <- cbind(x = runif(4), y = runif(4))
  transfer <- list(name = c("a", "b"), inputs = cbind(x = runif(7), y = runif(7)), campaign = rep(1:2, c(4L, 3L)),
                  values = rnorm(7),
                  noise_var = runif(7, 0.1, 0.2), correlation = matrix(c(1, 0.4, 0.4, 1), 2))
  kernel <- kernel_matern(2.5, c(0.4, 0.7))
  known <- gpbandits:::known_campaigns(transfer, kernel)
  y <- rnorm(4)
  rho <- rbind(c(0.5, 0.1), c(-0.6, 0.2))
  found <- gpbandits:::predicted(transfer, kernel, known, x, y, rep(0.05, 4), rho, c(1, 2), 0.3)
  for (k in 1:2) {
    C <- rbind(c(k^2, k * rho[k, ]), cbind(k * rho[k, ], transfer$correlation))
    task <- c(rep(1, 4), transfer$campaign + 1)
    V <- kernel_gram(kernel, rbind(x, transfer$inputs)) * C[task, task] + diag(c(rep(0.05, 4), transfer$noise_var))
    log_density <- function(V, r) -0.5 * (sum(r * solve(V, r)) + determinant(V)$modulus[[1]])
    r <- c(y - 0.3, transfer$values - known$mean[transfer$campaign])
    old <- 5:11
    expect_equal(found[k, 1], log_density(V, r) - log_density(V[old, old], r[old]), tolerance = 1e-9)
  }
})

test_that("the evidence for earlier campaigns is the Bayes factor of correlations against none", {
  set.seed(21)
  x <- cbind(x = runif(5))
  transfer <- list(name = "old", inputs = cbind(x = runif(6)), campaign = rep(1L, 6), values = rnorm(6),
                  noise_var = rep(0.1, 6), slope = 1, correlation = diag(1))
  kernel <- kernel_se(0.3)
  y <- rnorm(5)
  parts <- list(list(kernel = kernel, noise_var = 0.05, weight = 1))
  found <- gpbandits:::transfer_models(transfer, parts, x, y, rep(NA_real_, 5), 0, NULL)
  centred <- transfer$values - gpbandits:::known_campaigns(transfer, kernel)$mean
  K <- kernel_gram(kernel, rbind(x, transfer$inputs))
  density <- function(rho, s) {
    C <- rbind(c(s^2, s * rho), c(s * rho, 1))
    task <- rep(1:2, c(5, 6))
    V <- K * C[task, task] + diag(rep(c(0.05, 0.1), c(5, 6)))
    r <- c(y, centred)
    log_of <- function(V, r) -0.5 * (sum(r * solve(V, r)) + determinant(V)$modulus[[1]])
    exp(log_of(V, r) - log_of(V[6:11, 6:11], r[6:11]))
  }
  scales <- gpbandits:::tried_scales(transfer, NULL)
  rho <- seq(-14, 14, by = 2) / 15
  # A quarter of the weight is on the 7 that are negative, three quarters on the 8 others.
  prior <- ifelse(rho < 0, 0.25 / 7, 0.75 / 8)
  each <- vapply(rho, function(rho) sum(scales$prior * vapply(scales$scale, density, 0, rho = rho)), 0)
  reported <- rho != 0
  expect_equal(found$evidence, log(sum((prior * each)[reported]) / sum(prior[reported]) / each[!reported]), tolerance = 1e-8)
  # Half of the prior weight: the odds are the Bayes factor.
  alone <- list(list(weight = 1, campaigns = list(correlation = 0)))
  mixed <- gpbandits:::mixed_kinds(found$models, alone, found$evidence)
  expect_equal(mixed[[length(mixed)]]$weight, 1 / (1 + exp(found$evidence)), tolerance = 1e-8)
  weights <- function(models) vapply(models, `[[`, 0, "weight")
  expect_equal(sum(weights(mixed)), 1, tolerance = 1e-12)
  # Models with almost no weight are left out, and the others have all of it.
  some <- lapply(c(0.995, 0.0045, 0.0005), function(weight) list(weight = weight))
  reported <- stats::plogis(5) * c(0.995, 0.0045)
  wanted <- c(reported, stats::plogis(-5)) / sum(reported, stats::plogis(-5))
  expect_equal(weights(gpbandits:::mixed_kinds(some, alone, 5)), wanted, tolerance = 1e-12)
})

test_that("after every refit the weights of the models sum to 1, and a copy continues", {
  set.seed(4)
  old <- data.frame(x = runif(30), y = runif(30))
  old$reward <- 100 - 200 * (old$x - 0.6)^2 - 100 * (old$y - 0.3)^2 + rnorm(30, 0, 0.5)
  set.seed(1)
  b <- auto_bandit(box, transfer = list(may = old))
  expect_no_warning(for (i in 1:8) {
    q <- b$suggest()
    b$observe(q$id, -4 * (q$x - 0.6)^2 - 2 * (q$y - 0.3)^2 + rnorm(1, 0, 0.01))
  })
  fits <- inside(b)$refits
  expect_equal(vapply(fits, function(fit) sum(vapply(fit$models, `[[`, 0, "weight")), 0), rep(1, length(fits)),
               tolerance = 1e-12)
  copy <- b$copy()
  expect_identical(copy$best(), b$best())
})

test_that("a campaign without information changes no choice, to the bit", {
  same <- data.frame(x = runif(6), y = runif(6), reward = 3)
  play_with <- function(transfer) {
    set.seed(22)
    b <- auto_bandit(box, transfer = transfer, model = gp_model(refit = gpbandits:::default_refit()), n_initial = 6)
    play(b, 6, f)
    b$suggest(2)
    b$history()[c("id", "x", "y", "reward", "action")]
  }
  expect_identical(play_with(list(old = same, older = same[1, ])), play_with(NULL))
  search_with <- function(transfer) {
    set.seed(23)
    maximize_bandit(function(p) f(t(p)), box, 9, n_initial = 6, model = gp_model(refit = gpbandits:::default_refit()),
                    transfer = transfer)$history
  }
  expect_identical(search_with(list(old = same)), search_with(NULL))
})

test_that("if the evidence is against an earlier campaign, the models are those of this campaign alone", {
  set.seed(24)
  x <- cbind(x = runif(9), y = runif(9))
  y <- f(x) + rnorm(9, sd = 0.02)
  old <- data.frame(x = runif(30), y = runif(30))
  old$reward <- sin(20 * old$x) * cos(17 * old$y)
  models_of <- function(transfer) {
    b <- auto_bandit(box, transfer = transfer, n_initial = 0,
                     model = gp_model(transform = "none", refit = gpbandits:::default_refit()))
    b$add(x, reward = y)
    b$suggest()
    lapply(config_now(b)$models, function(model) model[c("kernel", "noise_var", "mean",
                                                                                 "weight")])
  }
  expect_equal(models_of(list(old = old)), models_of(NULL), tolerance = 1e-3)
})

test_that("models of this campaign alone are weighted by the leave-one-out densities of its rewards", {
  set.seed(5)
  own <- function(x) sin(7 * x[, 2])
  other <- function(x) sin(15 * x[, 1])
  x <- cbind(x = runif(16), y = runif(16))
  y <- own(x) + rnorm(16, sd = 0.05)
  fit_with <- function(old) {
    campaigns <- list(old = data.frame(x = runif(40), y = runif(40)))
    campaigns$old$reward <- old(as.matrix(campaigns$old)) + rnorm(40, sd = 0.05)
    b <- auto_bandit(box, transfer = campaigns, model = gp_model(transform = "none"), n_initial = 0)
    b$add(x, reward = y)
    b$suggest()
    config <- config_now(b)
    alone <- function(model) model$campaigns$correlation == 0 && model$campaigns$scale == 1
    list(transfer = config$transfer, values = map_outputs(config$output_map, y), models = config$models,
         alone = vapply(config$models, alone, NA))
  }
  weight <- function(models) vapply(models, `[[`, 0, "weight")
  # Here `y` matters, there `x`: a kernel for both is short in both.
  invalid <- fit_with(other)
  expect_gt(sum(weight(invalid$models)[invalid$alone]), 0.9)
  same <- fit_with(own)
  expect_lt(sum(weight(same$models)[same$alone]), 0.5)
  # Each value given all the others, one after the other.
  model <- invalid$models[[1]]
  model$campaigns[c("correlation", "scale")] <- list(0.4, 1.3)
  C <- rbind(c(1.69, 0.52), c(0.52, 1))
  task <- c(rep(1, 16), invalid$transfer$campaign + 1)
  noise <- c(rep(model$noise_var, 16), invalid$transfer$noise_var)
  V <- kernel_gram(model$kernel, rbind(x, invalid$transfer$inputs)) * C[task, task] + diag(noise)
  mean <- gpbandits:::known_campaigns(invalid$transfer, model$kernel)$mean
  r <- c(invalid$values - model$mean, invalid$transfer$values - mean)
  each <- vapply(1:16, function(i) {
    back <- solve(V[-i, -i], cbind(V[-i, i], r[-i]))
    dnorm(r[i], sum(V[-i, i] * back[, 2]), sqrt(V[i, i] - sum(V[-i, i] * back[, 1])), log = TRUE)
  }, 0)
  predicted <- gpbandits:::each_predicted(invalid$transfer, model, x, invalid$values, rep(NA_real_, 16))
  expect_equal(predicted, each, tolerance = 1e-8)
  # With several models the prediction is the mixture.
  other <- invalid$models[[2]]
  too <- gpbandits:::each_predicted(invalid$transfer, other, x, invalid$values, rep(NA_real_, 16))
  model$weight <- 0.3
  other$weight <- 0.7
  better <- gpbandits:::predicted_better(invalid$transfer, list(model, other), list(utils::modifyList(model,
                                                                                                   list(weight = 1))),
                                        x, invalid$values, rep(NA_real_, 16))
  expect_equal(better, sum(log(0.3 * exp(each) + 0.7 * exp(too))) - sum(each), tolerance = 1e-8)
})

test_that("the correlation is estimated from the data, also for the same function with reversed sign", {
  for (sign in by_level(c(1, -1), c(1, -1), quick = -1)) {
    set.seed(6)
    b <- auto_bandit(box, transfer = list(may = old_data(25, 5, sign, f = f)))
    play(b, if (sign > 0) 6 else 9, f)
    expect_gt(sign * summary(b)$transfer$correlation, 0.3)
    expect_equal(as.numeric(b$best()[c("x", "y")]), c(0.3, 0.6), tolerance = 0.15)
  }
  expect_output(print(b), "transfer   may \\(25 rows\\): correlation -0")
  expect_output(print(summary(b)), "transfer   may")
})

test_that("three points come first, the first where earlier rows predict the best reward; then as many as are needed", {
  set.seed(7)
  b <- auto_bandit(box, transfer = list(may = old_data(30, 8, f = f)))
  expect_identical(length(inside(b)$config$design$arm), 10L)
  expect_identical(inside(b)$config$transfer$optional, 7L)
  expect_equal(as.numeric(b$suggest()[c("x", "y")]), c(0.3, 0.6), tolerance = 0.2)
  found <- maximize_bandit(function(p) f(t(p)), box, 5, transfer = list(may = old_data(30, 8, f = f)))
  expect_identical(nrow(found$history), 5L)
  expect_equal(unname(unlist(found$history[1, c("x", "y")])), c(0.3, 0.6), tolerance = 0.2)
  expect_output(print(summary(found)), "transfer   may \\(30 rows\\)")
})

test_that("the design continues in the proportion of rounds that earlier campaigns do not explain", {
  actions <- function(rho, n) {
    set.seed(25)
    b <- auto_bandit(box, transfer = list(may = old_data(8, 8, f = f)), model = gp_model(refit = refit_every(100)))
    frame <- inside(b)
    frame$config$models <- lapply(frame$config$models[1], function(model) {
      model$weight <- 1
      model$campaigns$correlation <- rho
      model
    })
    gpbandits:::make_ready(frame)
    b$suggest(n)
    expect_equal(gpbandits:::share_reported(frame$config), rho^2)
    substr(b$history()$action, 1, 1)
  }
  expect_identical(actions(0, 12), rep(c("e", "p"), c(10, 2)))
  # A fifth: half a point is behind after two.
  expect_identical(actions(sqrt(0.8), 12), strsplit("eeeppepppppp", "")[[1]])
  expect_identical(actions(sqrt(0.45), 8), strsplit("eeeepepe", "")[[1]])
  # A design that is asked for comes first.
  set.seed(26)
  b <- auto_bandit(box, transfer = list(may = old_data(8, 8, f = f)), n_initial = 5)
  b$suggest(6)
  expect_identical(b$history()$action, rep(c("explore", "policy"), c(5, 1)))
  # Several campaigns together explain the proportion by R^-1.
  two <- list(transfer = list(correlation = matrix(c(1, 0.5, 0.5, 1), 2)),
              models = list(list(weight = 1, campaigns = list(correlation = c(0.6, 0.3)))))
  expect_equal(gpbandits:::share_reported(two), (0.36 + 0.09 - 0.18) / 0.75, tolerance = 1e-12)
})

test_that("campaigns that contradict each other can be given together", {
  old <- function(seed, sign, noise = 0.5) {
    set.seed(seed)
    data <- data.frame(x = runif(30), y = runif(30))
    data$reward <- sign * (100 - 200 * (data$x - 0.6)^2 - 100 * (data$y - 0.3)^2) + rnorm(30, 0, noise)
    data
  }
  b <- auto_bandit(box, transfer = list(upside = old(1, -1), right = old(2, 1)))
  expect_lt(inside(b)$config$transfer$correlation[1, 2], 0)
  one <- old(4, 1)
  b <- auto_bandit(box, transfer = list(may = one, june = transform(one, reward = -reward)))
  set.seed(1)
  expect_no_warning(play(b, 5, function(x) -4 * (x[, 1] - 0.6)^2 - 2 * (x[, 2] - 0.3)^2))
  expect_true(all(summary(b)$transfer$correlation * c(1, -1) > 0))
})

test_that("of thousands of rows the most informative ones are kept", {
  many <- old_data(3000, 9, f = f)
  rows <- gpbandits:::pivot_rows(kernel_matern(2.5, 0.3), as.matrix(many[c("x", "y")]), rep(1, 3000), 0.1, 40)
  expect_identical(anyDuplicated(rows), 0L)
  # Each is the one with the largest posterior sd among all, given those before it.
  x <- as.matrix(many[c("x", "y")])
  for (k in c(2, 25)) {
    before <- rows[seq_len(k - 1)]
    K <- kernel_gram(kernel_matern(2.5, 0.3), x[before, , drop = FALSE])
    cross <- kernel_gram(kernel_matern(2.5, 0.3), x[before, , drop = FALSE], x)
    left <- 1 - colSums(cross * solve(K + diag(0.1, k - 1), cross))
    left[before] <- -Inf
    expect_identical(unname(which.max(left)), rows[k])
  }
})

test_that("saved, copied, replayed, from JSON or a journal, it is the same bandit", {
  path <- tempfile()
  set.seed(10)
  b <- auto_bandit(box, transfer = list(may = old_data(12, 11, f = f)), journal = path)
  play(b, 4, f)
  at <- data.frame(x = c(0.2, 0.6), y = c(0.5, 0.1))
  p <- b$posterior(at)
  model_state <- summary(b)$transfer
  others <- list(b$copy(), unserialize(serialize(b$copy(), NULL)), from_json(as_json(b)), open_bandit(path))
  set.seed(13)
  wanted <- others[[1]]$suggest()
  for (other in others[-1]) {
    expect_identical(other$posterior(at), p)
    expect_identical(summary(other)$transfer, model_state)
    set.seed(13)
    expect_identical(other$suggest(), wanted)
  }
  bad <- b$copy()
  frame <- inside(bad)
  frame$config$transfer$values <- 1
  expect_error(readRDS(local({ saveRDS(bad, path); path }))$posterior(at), class = "gpbandits_error")
})

test_that("an interrupted search resumes from its journal with the same design and choices", {
  transfer <- list(may = old_data(12, 11, f = f))
  search <- function(seed, path, stops = Inf, evaluations = 7) {
    set.seed(seed)
    calls <- 0
    maximize_bandit(function(p) {
      calls <<- calls + 1
      if (calls == stops) signalCondition(structure(class = c("interrupt", "condition"),
                                                    list(message = "", call = NULL)))
      f(t(p))
    }, box, evaluations, transfer = transfer, journal = path, model = gp_model(refit = refit_every(2, minimum = 2,
                                                                                                 mean = "fit")))
  }
  whole <- search(27, tempfile())
  expect_identical(whole$bandit$history()$action[1:4] == "given", c(TRUE, TRUE, TRUE, FALSE))
  path <- tempfile()
  expect_true(search(27, path, 5)$interrupted)
  # (Another seed draws another design, which is not the file's.)
  expect_identical(search(28, path)$history, whole$history)
  # Of more evaluations the design would be longer.
  expect_identical(search(29, path, evaluations = 9)$history[1:7, ], whole$history)
})

test_that("Thompson sampling and UCB use the earlier campaigns, also in batches", {
  for (policy in list(policy_ts(1), policy_ucb(2))) {
    set.seed(14)
    b <- auto_bandit(box, transfer = list(may = old_data(15, 15, f = f)), policy = policy)
    q <- b$suggest(5)
    b$observe(q$id, f(as.matrix(q[c("x", "y")])))
    expect_identical(nrow(b$suggest(2)), 2L)
  }
})

test_that("errors name the problem", {
  may <- old_data(5, 16, f = f)
  ask <- function(transfer, domain = box, ...) auto_bandit(domain, transfer = transfer, ...)
  for (bad in list(3, list(), may, list(may), list(may = 3), list(may = may[1:2]),
                   list(may = transform(may, reward = NA_real_)), list(may = transform(may, x = NA_real_)),
                   list(may = transform(may, reward = "a")), list(a = may, a = may))) {
    expect_error(ask(bad), "transfer", class = "gpbandits_error")
  }
  expect_error(ask(list(may = may), refit = NULL), "refit", class = "gpbandits_error")
  expect_error(ask(list(may = may), limits = ~ g <= 1), "transfer", class = "gpbandits_error")
  expect_error(ask(list(may = transform(may, x = -1)),
                   search_space(x = param_real(0.1, 1, log = TRUE), y = param_real(0, 1))), "> 0",
               class = "gpbandits_error")
  expect_error(maximize_bandit(function(p, fold) 1, box, 40, transfer = list(may = may), race = race_folds(4)),
               "transfer",
               class = "gpbandits_error")
})

test_that("on Hartmann's function in 3 inputs a similar campaign helps, and an unrelated one does no harm", {
  skip_if(Sys.getenv("GPBANDITS_TEST_LEVEL") != "2")
  hartmann <- benchmark_function("hartmann3")
  other <- function(x) sin(5 * x[, 1] + 1) + cos(4 * x[, 2]) * sin(6 * x[, 3])
  old <- list(none = NULL, near = function(x) hartmann$f(pmin(x + 0.05, 1)), inverted = function(x) -hartmann$f(x),
              unrelated = other)
  names <- c("x1", "x2", "x3")
  regret <- vapply(1:8, function(seed) vapply(names(old), function(case) {
    set.seed(seed)
    x <- matrix(runif(120), 40, dimnames = list(NULL, names))
    noise <- rnorm(60, sd = 0.1)
    campaigns <- if (case != "none") list(old = data.frame(x, reward = 100 + 5 * (old[[case]](x) + noise[1:40])))
    b <- auto_bandit(box_domain(c(x1 = 0, x2 = 0, x3 = 0), c(1, 1, 1)), transfer = campaigns)
    for (t in 1:8) {
      q <- b$suggest()
      b$observe(q$id, 60 + 3 * (hartmann$f(as.matrix(q[names])) + noise[40 + t]))
    }
    hartmann$optimum - hartmann$f(as.matrix(b$best()[names]))
  }, 0), numeric(4))
  ahead <- rowMeans(log10(regret))
  expect_lt(ahead[["near"]], ahead[["none"]] - 0.3)
  expect_lt(ahead[["inverted"]], ahead[["none"]])
  expect_lt(mean(regret["unrelated", ]), 1.1 * mean(regret["none", ]))
})
